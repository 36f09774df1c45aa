"""Cluster bootstraps against R's boot, full enumeration, closed-form moments and plain loops."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as ss

from evalci_accessor import stats
from evalci_accessor.exceptions import MethodError
from evalci_accessor.stats.rates import bootstrap

from ..golden import counts, fractional_rows, golden, totals

B = counts("B")
DRAWS = ("multinomial", "sixteen bits", "integers")


def seed(value=0):
    return np.random.SeedSequence(value)


def force(draw, monkeypatch):
    """Make one of the three ways to draw clusters run."""
    monkeypatch.setattr(bootstrap, "_collapse_pays", lambda n_pairs, n_clusters: draw == "multinomial")
    if draw == "integers":
        monkeypatch.setattr(bootstrap, "_TABLE", 0)


def limits(s, m, method, **options):
    result = stats.cluster_ci(s, m, method=method, **options)
    return [float(result.ci_low), float(result.ci_high)]


@pytest.mark.parametrize(("method", "name"), [("bootstrap_percentile", "perc"), ("bootstrap_bca", "bca")])
def test_boot_in_r(method, name):
    """R drew 20,000 resamples; its BCa takes the acceleration from a regression, ours from the influence function."""
    want = golden("boot")
    result = stats.cluster_ci(want["s"], want["m"], method=method, n_resamples=200_000, rng=1)
    assert_allclose([result.ci_low, result.ci_high], want[name], atol=5e-3)
    assert_allclose(result.std_error, want["se"], atol=2e-3)


@pytest.mark.parametrize("draw", DRAWS)
def test_law_of_the_resamples(draw, monkeypatch):
    """Frequencies of the ratio in 20,000 resamples against all 4**4 of them."""
    force(draw, monkeypatch)
    s, m = np.array([0.0, 1, 3, 6]), np.array([2.0, 3, 3, 7])
    law = Counter()
    for picked in product(range(4), repeat=4):
        law[round(s[list(picked)].sum() / m[list(picked)].sum(), 9)] += 4.0**-4
    drawn = Counter(np.round(bootstrap.ratio_replicates(s, m, 20_000, seed(3)), 9).tolist())
    assert set(drawn) <= set(law)
    assert min(law.values()) * 20_000 > 50
    assert (
        ss.chisquare([drawn[value] for value in law], [20_000 * share for share in law.values()]).pvalue
        > 1e-3
    )


@pytest.mark.parametrize(("draw", "clusters"), [("multinomial", 3000), ("sixteen bits", 3000), ("integers", 3000),
                                                ("sixteen bits", 32_768), ("integers", 100_000)])  # fmt: skip
def test_moments_of_the_resamples(draw, clusters, monkeypatch):
    """Sums over a resample have mean G mu and variance G sigma^2, whatever the column; packing loses nothing."""
    force(draw, monkeypatch)
    rng = np.random.default_rng(0)
    m = rng.integers(1, 9, size=clusters).astype(float)
    columns = np.stack([rng.binomial(m.astype(int), 0.3), m], axis=1)
    n = 1500
    sums = bootstrap.resample_sums(columns, np.ones(clusters, dtype=np.int64), n, seed(5))
    z = (sums.mean(axis=0) / clusters - columns.mean(axis=0)) / (columns.std(axis=0) / np.sqrt(clusters * n))
    assert (np.abs(z) < 4).all()
    ratio = sums.var(axis=0, ddof=1) / (clusters * columns.var(axis=0))
    assert (
        (ratio > ss.chi2.ppf(1e-4, n - 1) / (n - 1)) & (ratio < ss.chi2.ppf(1 - 1e-4, n - 1) / (n - 1))
    ).all()
    assert ss.kstest((sums[:, 0] - sums[:, 0].mean()) / sums[:, 0].std(), "norm").pvalue > 1e-3


def test_every_cluster_is_equally_likely(monkeypatch):
    """65,536 is no multiple of 3,000: without a second draw the first 2,536 clusters would come 22/21 times too often."""
    force("sixteen bits", monkeypatch)
    first = (np.arange(3000) < 65_536 % 3000).astype(float)[:, None]
    drawn = bootstrap.resample_sums(first, np.ones(3000, dtype=np.int64), 1000, seed(1)).sum()
    share = first.mean()
    assert abs(drawn - 3e6 * share) < 4 * np.sqrt(3e6 * share * (1 - share))


@pytest.mark.parametrize("fractions", [False, True])
def test_packed_and_plain_columns_agree(fractions, monkeypatch):
    """Same seed, same draws: a third column keeps two whole ones from being packed into one number."""
    force("sixteen bits", monkeypatch)
    s, m = B
    columns = np.stack([s / 3 if fractions else s, m, m], axis=1)
    once = np.ones(len(s), dtype=np.int64)
    assert_allclose(
        bootstrap.resample_sums(columns[:, :2], once, 300, seed(2)), bootstrap.resample_sums(columns, once, 300, seed(2))[:, :2],
        rtol=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("s", [[0, 1], [3, 1, 0], [2, 2, 3, 0], [4, 4, 1, 0, 3]])
def test_exact_against_enumeration(s, level):
    """All G**G resamples, and the quantile that inverts their distribution function."""
    s = np.array(s)
    m = np.full(len(s), 4)
    rates = np.array([s[list(picked)].sum() for picked in product(range(len(s)), repeat=len(s))]) / m.sum()
    want = np.quantile(rates, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    result = stats.cluster_ci(s, m, method="bootstrap_exact", confidence_level=level)
    assert_allclose([result.ci_low, result.ci_high], want, atol=1e-12)
    assert_allclose(result.std_error, rates.std(), rtol=1e-9)


def test_exact_is_the_limit_of_percentile():
    s, m = np.array([5, 3, 4, 2, 5, 1, 0, 5, 4, 4, 3, 5]), np.full(12, 5)
    exact = limits(s, m, "bootstrap_exact")
    drawn = limits(s, m, "bootstrap_percentile", n_resamples=60_000, rng=2)
    assert_allclose(drawn, exact, atol=1.01 / 60)  # one step of the lattice


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"s": [1, 2, 3], "m": [4, 4, 5]}, "unequal sizes"),
        ({"s": [1.5, 2, 3], "m": [4, 4, 4], "ss": [1, 1.5, 2.5]}, "whole numbers"),
    ],
)
def test_exact_needs_equal_sizes_and_whole_sums(arguments, words):
    with pytest.raises(MethodError, match=words):
        stats.cluster_ci(**arguments, method="bootstrap_exact")


def resamples_one_by_one(s, m, n_resamples, start):
    """The very resamples that the package draws, as lists of clusters: sums over an identity tell the counts."""
    values, sizes, count = bootstrap.distinct_pairs(s, m)
    picked = bootstrap.resample_sums(np.eye(len(values)), count, n_resamples, start)
    for row in picked.round().astype(int):
        yield np.repeat(values, row), np.repeat(sizes, row)


def cr1_variance(s, m):
    p = s.sum() / m.sum()
    return len(s) / (len(s) - 1) * (((s - p * m) / m.sum()) ** 2).sum()


@pytest.mark.parametrize("data", [B, (np.repeat([0.0, 1, 2, 4], 30), np.full(120, 4.0))])
def test_plain_loops(data):
    """Percentile, BCa and studentised limits from the same resamples, one at a time."""
    s, m = data
    n = 400
    p = s.sum() / m.sum()
    drawn = list(resamples_one_by_one(s, m, n, seed(7)))
    rates = np.array([x.sum() / y.sum() for x, y in drawn])
    options = {"n_resamples": n, "rng": 7}
    assert_allclose(
        limits(s, m, "bootstrap_percentile", **options), np.quantile(rates, [0.025, 0.975]), rtol=1e-10
    )

    with np.errstate(divide="ignore", invalid="ignore"):
        pivots = [(rate - p) / np.sqrt(cr1_variance(x, y)) for rate, (x, y) in zip(rates, drawn, strict=True)]
    ordered, error = np.sort(pivots), np.sqrt(cr1_variance(s, m))
    top, bottom = ordered[int(np.ceil(0.975 * (n - 1)))], ordered[int(np.floor(0.025 * (n - 1)))]
    assert_allclose(
        limits(s, m, "bootstrap_t", **options),
        np.clip([p - top * error, p - bottom * error], 0, 1),
        rtol=1e-8,
    )

    influence = []  # how the ratio moves with the weight of a cluster
    for g in range(len(s)):
        w = np.ones(len(s))
        w[g] += 1e-4
        influence.append(((w * s).sum() / (w * m).sum() - p) / 1e-4)
    influence = np.array(influence)
    a = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    z0 = ss.norm.ppf((rates < p - 1e-12).mean() + (np.abs(rates - p) <= 1e-12).mean() / 2)
    z = z0 + ss.norm.ppf([0.025, 0.975])
    want = np.quantile(rates, ss.norm.cdf(z0 + z / (1 - a * z)))
    assert_allclose(limits(s, m, "bootstrap_bca", **options), want, atol=1e-5)


@pytest.mark.parametrize("method", ["bootstrap_percentile", "bootstrap_bca", "bootstrap_t"])
def test_same_seed_same_numbers(method):
    s, m = B
    order = np.random.default_rng(1).permutation(len(s))
    one = limits(s, m, method, rng=4, n_resamples=500)
    assert limits(s, m, method, rng=4, n_resamples=500) == one
    assert limits(s[order], m[order], method, rng=4, n_resamples=500) == one
    assert limits(s, m, method, rng=np.random.SeedSequence(4), n_resamples=500) == one
    assert limits(s, m, method, rng=np.int64(4), n_resamples=500) == one
    assert limits(s, m, method, rng=5, n_resamples=500) != one


def test_rows_in_any_order():
    y, g = fractional_rows(1, [3, 5, 2, 6, 4, 8])
    order = np.random.default_rng(2).permutation(len(y))
    from evalci_accessor.options import RateOptions
    from evalci_accessor.stats.rates.clustered import rate

    one, other = (
        rate(totals(y[at], g[at]), RateOptions(method="bootstrap_percentile", rng=1))
        for at in (slice(None), order)
    )
    assert_allclose([one.ci_low, one.ci_high], [other.ci_low, other.ci_high], rtol=1e-9)


def test_more_resamples_extend_the_fewer():
    """Blocks have their own seeds, so the first resamples do not depend on how many follow."""
    few, many = (bootstrap.ratio_replicates(*B, n, seed(9)) for n in (256, 1000))
    assert_array_equal(few, many[:256])
    assert len(np.unique(many)) > 500


def test_a_generator_moves_on_and_is_reproducible():
    one, two = np.random.default_rng(3), np.random.default_rng(3)
    first = [limits(*B, "bootstrap_percentile", rng=rng, n_resamples=300) for rng in (one, one)]
    second = [limits(*B, "bootstrap_percentile", rng=rng, n_resamples=300) for rng in (two, two)]
    assert first == second
    assert first[0] != first[1]


def test_a_seed_sequence_is_not_used_up():
    start = seed(11)
    one = limits(*B, "bootstrap_percentile", rng=start, n_resamples=300)
    assert limits(*B, "bootstrap_percentile", rng=start, n_resamples=300) == one
    assert start.n_children_spawned == 0


def test_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    limits(*B, "bootstrap_percentile", n_resamples=300)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize(
    "method", ["bootstrap_percentile", "bootstrap_bca", "bootstrap_t", "bootstrap_exact"]
)
@pytest.mark.parametrize("passed", [0, 3])
def test_degenerate(method, passed):
    """All pass or all fail: Clopper and Pearson for as many items as there are clusters."""
    result = stats.cluster_ci([passed] * 4, [3] * 4, method=method, n_resamples=200, rng=1)
    want = ss.binomtest(4 if passed else 0, 4).proportion_ci(method="exact")
    assert_allclose([result.ci_low, result.ci_high], want, rtol=1e-9, atol=1e-12)
    assert result.fallback


def test_resamples_without_variance():
    """Two clusters: half of the resamples hold one of them twice. The studentised limits are then the range's ends."""
    low, high = limits([9, 4], [10, 10], "bootstrap_t", rng=0, n_resamples=500)
    assert [low, high] == [0, 1]
