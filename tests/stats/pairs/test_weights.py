"""Weighted differences against loops over items, and against equal weights."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as ss

from evalci_accessor.stats.pairs.difference import infer
from evalci_accessor.stats.pairs.matched import MatchedScores, kish_sizes, pair_variance
from evalci_accessor.stats.pairs.posterior import Evidence
from evalci_accessor.stats.pairs.tests import _whole, pair_test

from .. import slow

SEED = np.random.SeedSequence(1)
TWO_SIDED = {"alternative": "two-sided", "confidence_level": 0.95, "margin": None, "claim": None}


def made(seed=0, n=60, clusters=12, binary=True, spread=1.0):
    """Scores of two systems, weights and clusters; some clusters hold one item."""
    rng = np.random.default_rng(seed)
    g = np.concatenate([np.arange(clusters), rng.integers(0, clusters, n - clusters)])
    scores = rng.random((n, 2)) < [0.7, 0.45] if binary else rng.normal(size=(n, 2))
    return scores.astype(float), rng.lognormal(sigma=spread, size=n), g


def totals(scores, w, g=None, *, binary=True):
    a, b = np.array([0]), np.array([1])
    m = MatchedScores.from_items(scores, g, weights=w, binary=binary, bounded=binary)
    return m.totals(a, b, m.squares(a, b), by_cluster=g is not None or w is not None)


def outcome(t, method, alternative="two-sided", n_resamples=999):
    return pair_test(t, method, alternative=alternative, n_resamples=n_resamples, seed=SEED)


@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("binary", [True, False])
def test_totals_are_sums_over_items(binary, clustered):
    scores, w, g = made(binary=binary)
    t = totals(scores, w, g if clustered else None, binary=binary)
    d = scores[:, 0] - scores[:, 1]
    units = g if clustered else np.arange(len(d))
    size, sums = (
        [sum(x[i] for i in range(len(d)) if units[i] == u) for u in np.unique(units)] for x in (w, w * d)
    )
    assert_allclose(t.size, size)
    assert_allclose(t.d[0], sums, atol=1e-12)
    mean = sum(w * d) / sum(w)
    assert_allclose([t.mass, t.mean[0], t.square[0]], [sum(w), mean, sum(w * d * d)])
    assert_allclose(t.weights.square[0], sum(w * w * d * d))
    assert_allclose(t.effective_items, sum(w) ** 2 / sum(w * w))
    assert_allclose(t.effective_clusters, sum(w) ** 2 / sum(x * x for x in size))
    assert t.n == len(d)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("kind", ["cr0", "cr1", "cr2", "cr3"])
def test_cluster_robust_variances_are_double_sums(kind, clustered, binary):
    scores, w, g = made(seed=3, binary=binary)
    d, units = scores[:, 0] - scores[:, 1], g if clustered else np.arange(len(g))
    mean, total, n = np.average(d, weights=w), w.sum(), len(d)
    h = {u: w[units == u].sum() / total for u in units}
    factor = {
        "cr0": lambda _: 1,
        "cr1": lambda _: len(h) / (len(h) - 1),
        "cr2": lambda x: 1 / (1 - x),
        "cr3": lambda x: (1 - x) ** -2,
    }
    variance = sum(
        factor[kind](h[units[i]]) * w[i] * w[j] * (d[i] - mean) * (d[j] - mean) / total**2
        for i in range(n)
        for j in range(n)
        if units[i] == units[j]
    )
    df = len(h) - 1
    if kind == "cr2":  # Bell and McCaffrey's by matrices, errors with variance 1 / w
        same = (units[:, None] == np.unique(units)).astype(float)
        annihilator = np.eye(n) - np.outer(np.ones(n), w) / total
        v = annihilator.T @ (w[:, None] * same) / np.sqrt(1 - np.array([h[u] for u in np.unique(units)]))
        law = v.T @ (v / w[:, None])
        df = np.trace(law) ** 2 / (law**2).sum()
    result = infer(totals(scores, w, g if clustered else None, binary=binary), kind, **TWO_SIDED)
    assert_allclose(result.std_error[0] ** 2, variance)
    assert_allclose(result.pvalue[0], 2 * ss.t.sf(abs(mean) / np.sqrt(variance), df), rtol=1e-9)
    half = ss.t.isf(0.025, df) * np.sqrt(variance)
    bound = 1 if binary else np.inf
    assert_allclose(
        [result.ci_low[0], result.ci_high[0]], np.clip([mean - half, mean + half], -bound, bound), rtol=1e-9
    )


@pytest.mark.parametrize("method", ["icc_averaged", "tango"])
@pytest.mark.parametrize(
    ("seed", "clusters", "spread"), [(0, 12, 1.0), (1, 4, 0.5), (2, 25, 1.5), (5, 8, 0.2)]
)
def test_default_against_a_slow_one(method, seed, clusters, spread):
    scores, w, g = made(seed=seed, clusters=clusters, spread=spread)
    g = g if method == "icc_averaged" else None
    t = totals(scores, w, g)
    expected = slow.weighted_paired(scores[:, 0] - scores[:, 1], w, g)
    result = infer(t, method, **TWO_SIDED)
    assert_allclose(t.worth[0], expected["worth"])
    got = [result.ci_low[0], result.ci_high[0], result.pvalue[0], result.std_error[0]]
    assert_allclose(
        got, [expected["low"], expected["high"], expected["p"], expected["se"]], rtol=2e-5, atol=2e-6
    )


def test_weights_that_go_with_disagreement_widen_and_no_others_narrow():
    scores, w, _ = made(seed=4, n=400)
    differs = scores[:, 0] != scores[:, 1]
    heavy, light = np.where(differs, 4.0, 1.0), np.where(differs, 1.0, 4.0)
    for weights, at_most in ((heavy, 0.9), (light, 1.0), (w, 1.0)):
        t = totals(scores, weights)
        assert t.worth[0] <= at_most * t.effective_items * (1 + 1e-12)
    assert totals(scores, light).worth[0] == totals(scores, light).effective_items


def test_tests_are_sums():
    scores, w, g = made(seed=6)
    d = scores[:, 0] - scores[:, 1]
    assert_allclose(outcome(totals(scores, w), "asymptotic").statistic, sum(w * d) ** 2 / sum(w**2 * d**2))
    t = totals(scores, w, g)
    sums, size = (np.bincount(g, weights=x) for x in (w * d, w))
    n = len(size)
    around = ((sums - d @ w / w.sum() * size) ** 2).sum()
    assert_allclose(outcome(t, "obuchowski").statistic, sums.sum() ** 2 / ((sums**2).sum() * n / (n - 1)))
    assert_allclose(
        outcome(t, "yang").statistic, sums.sum() ** 2 / (((sums**2).sum() + around) / 2 * n / (n - 1))
    )
    assert_allclose(outcome(t, "durkalski").statistic, (sums / size).sum() ** 2 / ((sums / size) ** 2).sum())


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("weights", ["log-normal", "thirds", "whole"])
def test_sign_flips_gone_through(weights, alternative):
    scores, w, g = made(seed=8, clusters=10)
    rng = np.random.default_rng(2)
    w = {
        "log-normal": w,
        "thirds": rng.integers(1, 9, len(w)) / 3,
        "whole": rng.integers(1, 9, len(w)).astype(float),
    }[weights]
    sums = np.bincount(g, weights=w * (scores[:, 0] - scores[:, 1]))
    flipped = np.array([np.dot(signs, sums) for signs in itertools.product([1, -1], repeat=len(sums))])
    seen, near = sums.sum(), 1e-9
    beyond = {
        "two-sided": np.abs(flipped) >= abs(seen) - near, "less": flipped <= seen + near, "greater": flipped >= seen - near
    }[alternative]  # fmt: skip
    assert_allclose(outcome(totals(scores, w, g), "sign_flip", alternative).pvalue, beyond.mean(), rtol=1e-12)


def test_sign_flips_of_many_weighted_clusters():
    scores, w, g = made(seed=9, n=240, clusters=60)
    whole = np.random.default_rng(0).integers(1, 4, len(w)).astype(float)
    exact = outcome(totals(scores, whole, g), "sign_flip").pvalue  # by convolution, whatever the unit
    for unit in (7.3, 1 / 3, 1e-5):
        assert_array_equal(outcome(totals(scores, whole * unit, g), "sign_flip").pvalue, exact)
    drawn = float(outcome(totals(scores, w, g), "sign_flip", n_resamples=20_000).pvalue[0])
    sums = np.bincount(g, weights=w * (scores[:, 0] - scores[:, 1]))
    flips = np.random.default_rng(7).choice([-1.0, 1.0], size=(100_000, len(sums)))
    plain = (np.abs(flips @ sums) >= abs(sums.sum())).mean()
    assert abs(drawn - plain) < 5 * np.sqrt(plain * (1 / 20_000 + 1 / 100_000))


@pytest.mark.parametrize("unit", [0.1, 0.3, 1 / 3])
def test_sign_flips_under_equal_weights_are_those_without(unit):
    rng, g = np.random.default_rng(4), np.repeat(np.arange(40), 6)
    # Wins before losses: three of each cancel, but for the last bit.
    first = np.concatenate([np.arange(6) < rng.integers(1, 4) for _ in range(40)])
    second = np.concatenate([np.arange(6) >= rng.integers(3, 6) for _ in range(40)])
    scores = np.stack([first, second], axis=1).astype(float)
    want = outcome(totals(scores, None, g), "sign_flip").pvalue
    assert_array_equal(outcome(totals(scores, np.full(240, unit), g), "sign_flip").pvalue, want)


def test_units_of_sums():
    for unit in (0.3, 1.825, 1e-7):
        d, seen, whole = _whole(np.sort(np.array([2.0, 3, 7, 12]) * unit), 10 * unit)
        assert whole
        assert_allclose([*d, seen], [2, 3, 7, 12, 10])
    assert not _whole(np.array([1.0, np.sqrt(2), np.pi]), 1.0)[2]
    assert _whole(np.zeros(0), 0.0)[2]


def test_kish_sizes():
    w = np.array([1, 2, 3, 5, 5, 5, 1e-200, 1e-200, 3e-300])
    g = np.repeat([0, 1, 2], 3)
    assert_allclose(kish_sizes(w, g, 3), [36 / 14, 3, 2])
    assert (kish_sizes(np.full(9, 0.3), np.arange(9), 9) == 1).all()


@pytest.mark.parametrize("scale", [1.0, 7.3, 1e-3])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("clustered", [True, False])
def test_equal_weights_are_none(clustered, binary, scale):
    scores, _, g = made(seed=11, n=90, binary=binary)
    g = g if clustered else None
    plain, equal = (
        totals(scores, None, g, binary=binary),
        totals(scores, np.full(90, scale), g, binary=binary),
    )
    methods = [*("icc_averaged" if clustered else "tango",) * binary, "cr0", "cr1", "cr2", "cr3"]
    for method in methods:
        one, other = (infer(t, method, **TWO_SIDED) for t in (plain, equal))
        for name in (
            "difference",
            "std_error",
            "ci_low",
            "ci_high",
            "statistic",
            "pvalue",
            "n_pairs",
            "n_clusters",
        ):
            assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-12, err_msg=f"{method} {name}")
    tests = ["icc_averaged", "obuchowski", "durkalski", "yang", "sign_flip"] if clustered else ["asymptotic"]
    for method in tests if binary else []:
        one, other = (outcome(t, method) for t in (plain, equal))
        assert_allclose([other.statistic, other.pvalue], [one.statistic, one.pvalue], rtol=1e-12)


def test_whole_weights_are_no_counts():
    """An item of weight 3 is one item that matters more, not three that agree."""
    scores, _, g = made(seed=12)
    w = np.random.default_rng(1).integers(1, 6, len(g))
    weighted = infer(totals(scores, w.astype(float), g), "icc_averaged", **TWO_SIDED)
    copied = infer(totals(np.repeat(scores, w, axis=0), None, np.repeat(g, w)), "icc_averaged", **TWO_SIDED)
    assert_allclose(weighted.difference, copied.difference)
    alone = infer(totals(scores, w.astype(float)), "tango", **TWO_SIDED)
    independent = infer(totals(np.repeat(scores, w, axis=0), None), "tango", **TWO_SIDED)
    assert alone.ci_high - alone.ci_low > 1.5 * (independent.ci_high - independent.ci_low)


def test_equal_differences_and_none():
    """Where no difference varies, the items are worth Kish's number, and one pseudo-difference each way stands in."""
    w = np.random.default_rng(0).lognormal(size=30)
    g = np.arange(30) // 3
    ahead = np.stack([np.ones(30), np.zeros(30)], axis=1)
    for scores in (ahead, np.ones((30, 2))):
        t = totals(scores, w, g)
        assert t.worth[0] == t.effective_items
        result = infer(t, "cr2", **TWO_SIDED)
        assert result.fallback.all()
        assert_allclose(result.std_error**2, 2 / (t.effective_items + 2) / t.effective_clusters)
        assert result.ci_low < result.difference + 1e-9
    assert_allclose(infer(totals(ahead, w, g), "icc_averaged", **TWO_SIDED).ci_high, 1, atol=1e-9)
    for method in ("obuchowski", "sign_flip", "icc_averaged", "yang"):
        assert outcome(totals(np.ones((30, 2)), w, g), method).pvalue == 1
    assert outcome(totals(np.ones((30, 2)), w), "asymptotic").pvalue == 1


def test_influences_make_the_variance():
    scores, w, g = made(seed=13)
    for clusters in (g, None):
        m = MatchedScores.from_items(scores, clusters, weights=w, binary=True, bounded=True)
        variance = infer(totals(scores, w, clusters), "cr0", **TWO_SIDED).std_error ** 2
        assert_allclose(((m.influence[:, 0] - m.influence[:, 1]) ** 2).sum(), variance)
        assert_allclose(m.shares.sum(), 1)
        assert_allclose(m.mean, np.average(scores, axis=0, weights=w))


def test_tiny_weights_beside_large_ones():
    """Their squares vanish, and nothing else does."""
    scores, w, g = made(seed=14)
    w[g == 3] = 1e-200
    t = totals(scores, w, g)
    assert np.isfinite(Evidence.of(t).within).all()
    for method in ("icc_averaged", "cr2"):
        result = infer(t, method, **TWO_SIDED)
        assert np.isfinite([result.ci_low, result.ci_high, result.pvalue]).all()


def test_many_pairs_at_a_time(monkeypatch):
    rng = np.random.default_rng(0)
    scores, g, w = (rng.random((80, 6)) < 0.5).astype(float), np.arange(80) // 4, rng.lognormal(size=80)
    a, b = np.triu_indices(6, 1)
    m = MatchedScores.from_items(scores, g, weights=w, binary=True, bounded=True)
    whole = m.totals(a, b, m.squares(a, b), by_cluster=True)
    monkeypatch.setattr(
        MatchedScores, "_parts", lambda self, pairs: (slice(k, k + 2) for k in range(0, pairs, 2))
    )
    parts = m.totals(a, b, m.squares(a, b), by_cluster=True)
    for name in ("d", "total", "square", "spread", "worth"):
        assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)
    assert_allclose(parts.weights.within, whole.weights.within)


@pytest.mark.parametrize("kind", ["cr2", "cr3"])
def test_beside_a_weight_that_is_nearly_all_nothing_varies(kind):
    """CR2 falls as one over a dominating weight; where that is all of the sum but for rounding, to 0."""
    d, w = np.array([1.0, 0.0, -1.0, 1.0]), np.ones(4)

    def variance(weight):
        w[0] = weight
        t = totals(np.stack([np.maximum(d, 0), np.maximum(-d, 0)], axis=1), w.copy(), np.arange(4))
        return pair_variance(t, kind).value[0]

    for weight in (10.0, 1e3, 1e5):
        exact = [Fraction(x) for x in (weight, 1, 1, 1)]
        mean = sum(x * Fraction(y) for x, y in zip(exact, d, strict=True)) / sum(exact)
        power = {"cr2": 1, "cr3": 2}[kind]
        want = sum(
            (x * (Fraction(y) - mean)) ** 2 / (1 - x / sum(exact)) ** power
            for x, y in zip(exact, d, strict=True)
        )
        assert_allclose(variance(weight), float(want / sum(exact) ** 2), rtol=1e-6)
    assert variance(1e18) == 0
