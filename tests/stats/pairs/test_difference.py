"""Intervals, p-values and verdicts of paired differences against R, clubSandwich, statsmodels, scipy and a slow reference."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as ss

from evalci_accessor import stats
from evalci_accessor.exceptions import ClusterError, EvalCIError, MethodError, ScoreError, ScoreRangeError
from evalci_accessor.stats.pairs.difference import (
    conclude,
    joint_law,
    prepare,
    resolve_claim,
    resolve_diff_method,
)
from evalci_accessor.stats.pairs.laws import ReplicateLaw, cr_law
from evalci_accessor.stats.pairs.matched import MatchedScores, PairTotals
from evalci_accessor.stats.rates.bootstrap import mean_replicates
from evalci_accessor.stats.rates.moments import bell_mccaffrey_df, moments, satterthwaite_df

from .. import slow
from ..golden import fractional_rows, golden, totals
from ..slow import score_z
from .test_tests import cell_tables

ALTERNATIVES = ("two-sided", "less", "greater")
KINDS = ("cr0", "cr1", "cr2", "cr3")
SCORE = ("tango", "newcombe", "bonett_price", "agresti_min")
RUNS = [
    *((method, True) for method in ("icc_averaged", *KINDS, "bootstrap_percentile")),
    *((method, False) for method in (*SCORE, *KINDS, "bootstrap_percentile")),
]
PLAIN = {"alternative": "two-sided", "confidence_level": 0.95, "margin": None, "claim": None}
REFERENCE = golden("paired_reference")["data"]


def run(cells, method, clustered, **options):
    """The difference of one or more pairs from the four cells, shape (4, ..., G)."""
    both, b, c, _ = cells = np.asarray(cells)
    size = cells.sum(axis=0).reshape(-1, cells.shape[-1])[0]
    if clustered:
        return stats.diff_ci(b, c, size, method=method, n_resamples=199, rng=5, **options)
    b, c, both = (x.sum(axis=-1) for x in (b, c, both))
    return stats.diff_ci(b, c, size.sum(), both=both, method=method, n_resamples=199, rng=5, **options)


def of_items(scores, clusters=None, *, binary=False, by_cluster=True, bounded=True):
    """Totals of the first two systems."""
    m = MatchedScores.from_items(scores, clusters, binary=binary, bounded=bounded)
    a, b = np.array([0]), np.array([1])
    return m.totals(a, b, m.squares(a, b), by_cluster=by_cluster)


def infer(t, method, *, margin, claim, replicates=None, **options):
    """Interval, p-value and verdict of one lot of pairs."""
    width, claimed = resolve_claim(margin, claim, bounded=t.bounded)
    lots = [prepare(t, method, replicates=replicates)]
    return conclude(lots, method, margin=width, claim=claimed, **options)


def interval(result):
    return [result.ci_low, result.ci_high]


@pytest.mark.parametrize("method", ["tango", "newcombe", "bonett_price", "agresti_min"])
@pytest.mark.parametrize("case", golden("paired_ci")["cases"])
def test_closed_forms_in_r(case, method):
    a, b, c, d = case["abcd"]
    result = stats.diff_ci(b, c, a + b + c + d, both=a, method=method)
    assert_allclose(result.difference, case["diff"], rtol=1e-12)
    assert_allclose(interval(result), case[method], atol=1e-8 if method == "tango" else 1e-12)
    assert result.method == method


def test_case_pair_01():
    result = stats.diff_ci(14, 3, 100, method="bonett_price")
    assert_allclose([result.difference, *interval(result)], [0.11, 0.026742, 0.188944], atol=5e-7)


@pytest.mark.parametrize("name", REFERENCE)
def test_golden_default(name):
    want = REFERENCE[name]
    result = stats.diff_ci(want["b"], want["c"], want["m"])
    got = [result.difference, result.ci_low, result.ci_high, result.pvalue]
    assert_allclose(got, [want[key] for key in ("diff", "low", "high", "p")], rtol=1e-8, atol=1e-8)
    assert (result.method, result.n_clusters, result.n_pairs) == (
        "icc_averaged",
        len(want["m"]),
        sum(want["m"]),
    )


@pytest.mark.parametrize("method", ["icc_averaged", "tango", "newcombe"])
def test_error_of_the_score_methods(method):
    """Wald's error on the effective number of items; none where no difference varies."""
    want = REFERENCE["psychiatry"]
    b, c, n = sum(want["b"]), sum(want["c"]), sum(want["m"])
    counts = (want["b"], want["c"], want["m"]) if method == "icc_averaged" else (b, c, n)
    result = stats.diff_ci(*counts, both=20 if method == "newcombe" else None, method=method)
    variance = ((b + c) / n - want["diff"] ** 2) / (want["n_eff"] if method == "icc_averaged" else n)
    assert_allclose(result.std_error, np.sqrt(variance), rtol=1e-8)
    same = stats.diff_ci(
        *([4, 4], [0, 0], [4, 4]) if method == "icc_averaged" else (8, 0, 8), both=0, method=method
    )
    assert np.isnan(same.std_error)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("name", ["psychiatry", "thyroids", "one_way", "swe"])
def test_default_at_other_levels(name, level):
    want = REFERENCE[name]
    b, c, m = want["b"], want["c"], want["m"]
    reference = slow.paired(b, c, m, outside=(1 - level) / 2)
    assert_allclose(
        interval(stats.diff_ci(b, c, m, confidence_level=level)),
        [reference["low"], reference["high"]],
        atol=1e-9,
    )
    one_sided = stats.diff_ci(b, c, m, confidence_level=(1 + level) / 2, alternative="greater")
    assert_allclose(interval(one_sided), [reference["low"], 1], atol=1e-9)


def test_singletons_give_tango():
    b, c = np.repeat([1, 0, 0], [9, 3, 8]), np.repeat([0, 1, 0], [9, 3, 8])
    for alternative in ALTERNATIVES:
        clustered = stats.diff_ci(b, c, np.ones(20), alternative=alternative, margin=0.1)
        plain = stats.diff_ci(9, 3, 20, alternative=alternative, margin=0.1)
        for field in (
            "difference",
            "std_error",
            "ci_low",
            "ci_high",
            "statistic",
            "pvalue",
            "pvalue_verdict",
            "verdict",
        ):
            assert getattr(clustered, field) == getattr(plain, field)


@pytest.mark.parametrize("clusters", [2, 3, 5, 6, 7])
def test_few_clusters_have_a_t_law(clusters):
    """Below six, all may side with one system by chance: t on G - 1 degrees of freedom, wider than the normal law."""
    b, c, m = np.full(clusters, 2), np.arange(clusters) % 2, np.full(clusters, 5)
    normal = slow.paired(b, c, m)
    want = slow.paired(b, c, m, df=clusters - 1) if clusters < 6 else normal
    result = stats.diff_ci(b, c, m)
    assert_allclose([*interval(result), result.pvalue], [want["low"], want["high"], want["p"]], atol=1e-9)
    if clusters < 6:
        assert result.ci_low < normal["low"] - 0.01
        assert result.ci_high > normal["high"] + 0.01
        assert result.pvalue > normal["p"]


def test_fewer_clusters_are_less_sure():
    """All items of all clusters side with one system: the p-value falls with every cluster, across the change of the law."""
    p = [stats.mcnemar(np.full(g, 5), np.zeros(g), np.full(g, 9)).pvalue for g in range(2, 9)]
    assert (np.diff(p) < 0).all()


def test_clubsandwich_on_differences():
    data = golden("clubsandwich")["paired"]
    d, g = np.array(data["d"], float), np.array(data["g"])
    b, c, m = (np.bincount(g, weights=x)[1:] for x in (d > 0, d < 0, d == d))
    for kind in KINDS:
        result, want = stats.diff_ci(b, c, m, method=kind), data[kind.upper()]
        assert_allclose([result.difference, result.std_error**2, result.statistic], [data["est"], want["var"], want["tstat"]],
                        rtol=1e-8)  # fmt: skip
        df = want["df_satt"] if kind == "cr2" else 8
        half = ss.t.isf(0.025, df) * np.sqrt(want["var"])
        assert_allclose(interval(result), [data["est"] - half, data["est"] + half], rtol=1e-7)
        assert_allclose(
            result.pvalue, want["p"] if kind == "cr2" else 2 * ss.t.sf(want["tstat"], df), rtol=1e-7
        )


@pytest.mark.parametrize("sizes", [[5] * 8, [40, 3, 8, 2, 9, 6], [1, 1], [500, 1, 1, 1]])
def test_bell_mccaffrey(sizes):
    g = np.repeat(np.arange(len(sizes)), sizes)
    df = bell_mccaffrey_df(np.array(sizes) / len(g))
    assert_allclose(df, slow.bell_mccaffrey(g, "cr2")[1], rtol=1e-9)
    t = totals(np.zeros(len(g)), g)
    assert_allclose(df, satterthwaite_df(t, moments(t), "cr2")[0], rtol=1e-12)


@pytest.mark.parametrize("fractional", [True, False])
def test_statsmodels_ols(fractional):
    y, g = fractional_rows(3, [4, 9, 2, 7, 5, 12, 3])
    x = fractional_rows(4, [4, 9, 2, 7, 5, 12, 3])[0]
    scores = np.stack([y, x], axis=1) if fractional else (np.stack([y, x], axis=1) > 0.4).astype(float)
    d = scores[:, 0] - scores[:, 1]
    fit = sm.OLS(d, np.ones(len(d))).fit(cov_type="cluster", cov_kwds={"groups": g}, use_t=True)
    result = infer(of_items(scores, g, binary=not fractional), "cr1", **PLAIN)
    assert_allclose([result.difference[0], result.std_error[0], result.statistic[0], result.pvalue[0]],
                    [fit.params[0], fit.bse[0], fit.tvalues[0], fit.pvalues[0]], rtol=1e-8)  # fmt: skip
    assert_allclose([result.ci_low[0], result.ci_high[0]], fit.conf_int()[0], rtol=1e-8)


@pytest.mark.parametrize("by_cluster", [True, False])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_paired_t_test_of_scipy(alternative, by_cluster):
    """Without clusters CR2 is the t test of the differences."""
    scores = np.random.default_rng(6).random((30, 2))
    want = ss.ttest_rel(*scores.T, alternative=alternative)
    options = PLAIN | {"alternative": alternative}
    for method in ("cr1", "cr2"):
        result = infer(of_items(scores, by_cluster=by_cluster), method, **options)
        assert_allclose([result.statistic[0], result.pvalue[0]], [want.statistic, want.pvalue], rtol=1e-10)
        low, high = want.confidence_interval(0.95)
        assert_allclose([result.ci_low[0], result.ci_high[0]], [max(low, -1), min(high, 1)], rtol=1e-10)


@pytest.mark.parametrize("by_cluster", [True, False])
@pytest.mark.parametrize("gap", [0.0, 0.1, 1 / 3, 1 / 7, 0.55])
@pytest.mark.parametrize("method", [*KINDS, "bootstrap_percentile"])
def test_differences_that_do_not_vary_are_no_certainty(method, gap, by_cluster):
    """One pseudo-difference of the span each way stands in; what rounding leaves is no variance."""
    scores = np.stack([np.full(30, 0.3 + gap), np.full(30, 0.3)], axis=1)
    gap = scores[0, 0] - scores[0, 1]
    t = of_items(scores, by_cluster=by_cluster)
    replicates = np.full((1, 999), gap)
    result = infer(t, method, **PLAIN, replicates=replicates)
    assert result.fallback.all()
    error = np.sqrt(2 / 32 / 30)
    half = ss.t.isf(0.025, 29) * error
    tolerance = 1e-3 if method == "bootstrap_percentile" else 1e-12  # its fallback is a grid of quantiles
    assert_allclose([result.ci_low[0], result.ci_high[0]], [gap - half, min(gap + half, 1)], atol=tolerance)
    assert_allclose(result.std_error, error, rtol=1e-12)


@pytest.mark.parametrize("clusters", [None, np.arange(30) // 5])
def test_small_spread_about_a_large_difference_is_data(clusters):
    noise = 1e-8 * np.random.default_rng(0).normal(size=30)
    scores = np.stack([0.8 + noise, np.full(30, 0.2)], axis=1)
    groups = np.arange(30) if clusters is None else clusters
    for by_cluster in (True, False) if clusters is None else (True,):
        result = infer(of_items(scores, clusters, by_cluster=by_cluster), "cr2", **PLAIN)
        variance = slow.bell_mccaffrey(groups, "cr2", scores[:, 0] - scores[:, 1])[0]
        assert not result.fallback.any()
        assert_allclose(result.std_error, np.sqrt(variance), rtol=1e-4)


def test_span_of_unbounded_scores():
    """The fallback is in the units of the scores, and nothing is cut to [-1, 1]."""
    scores = np.stack([np.full(12, 7.0), np.full(12, 3.0)], axis=1)
    t = of_items(scores, np.arange(12) // 3, bounded=False)
    law, flat = cr_law(t, "cr2")
    assert flat.all()
    assert_allclose(law.std_error, 4 * np.sqrt(2 / 14 / 4), rtol=1e-12)
    result = infer(t, "cr2", **PLAIN)
    assert_allclose([result.difference[0], result.ci_high[0] - 4, result.ci_low[0] - 4],
                    [4, *(np.array([1, -1]) * ss.t.isf(0.025, 3) * law.std_error)], rtol=1e-10)  # fmt: skip


@pytest.mark.parametrize(("method", "clustered"), RUNS)
def test_no_discordant_item_gives_a_symmetric_interval(method, clustered):
    zero = np.zeros(8, int)
    result = run([zero + 3, zero, zero, zero + 2], method, clustered)
    assert (result.difference, result.verdict) == (0, "inconclusive")
    assert_allclose(result.pvalue, 1, rtol=1e-12)
    assert result.ci_low < -0.02
    assert_allclose(result.ci_low, -result.ci_high, rtol=1e-10)
    assert result.fallback == (method in (*KINDS, "bootstrap_percentile"))


def test_no_discordant_item_in_the_default():
    zero = np.zeros(8)
    assert_allclose(
        interval(stats.diff_ci(zero, zero, zero + 5)), [-0.236087183706, 0.236087183706], atol=1e-11
    )


@pytest.mark.parametrize(("method", "clustered"), RUNS)
@settings(max_examples=12)
@given(cells=cell_tables, level=st.floats(0.51, 0.9999))
def test_interval_and_pvalue_agree(method, clustered, cells, level):
    """p <= 1 - level exactly where 0 lies outside; exchanged systems mirror everything; a side is half of both."""
    resampled = method == "bootstrap_percentile"
    if resampled:
        level = min(level, 0.98)  # 199 replicates see no further
    if resampled and not clustered:
        cells = np.minimum(cells, 4)  # a resample draws every item
    both = np.stack([cells, cells[[0, 2, 1, 3]]], axis=1)
    results = {
        side: run(both, method, clustered, alternative=side, confidence_level=level) for side in ALTERNATIVES
    }
    for side, result in results.items():
        low, high, p = result.ci_low, result.ci_high, result.pvalue
        outside = (low > 0) | (high < 0)
        edge = np.abs(p - (1 - level)) < 1e-9
        assert (outside == (p <= 1 - level))[~edge].all()
        assert ((low >= -1) & (low <= high) & (high <= 1)).all()
        assert ((p >= 0) & (p <= 1)).all()
        assert_allclose(
            result.difference, np.diff(both[[2, 1]].sum(axis=-1), axis=0)[0] / cells.sum(), atol=1e-12
        )
        if method not in ("bonett_price", "agresti_min", "bootstrap_percentile"):
            assert ((low <= result.difference + 1e-12) & (result.difference <= high + 1e-12)).all()
        if resampled and not clustered:
            continue  # each pair draws items of its own
        other = results[{"less": "greater", "greater": "less"}.get(side, side)]
        assert_allclose(np.stack(interval(other))[:, ::-1], -np.stack(interval(result))[::-1], atol=1e-10)
        assert_allclose(other.pvalue[::-1], p, rtol=1e-8)
        assert_allclose(other.statistic[::-1], -result.statistic, rtol=1e-8, atol=1e-8)
        assert_allclose(other.std_error[::-1], result.std_error, rtol=1e-8)
    assert (results["greater"].ci_high == 1).all()
    smaller = np.minimum(results["less"].pvalue, results["greater"].pvalue)
    assert_allclose(results["two-sided"].pvalue, np.minimum(1, 2 * smaller), rtol=1e-10)
    if not (
        resampled and abs((steps := 100 * (1 - level)) - round(steps)) < 1e-6
    ):  # order statistics step there
        halved = run(both, method, clustered, alternative="greater", confidence_level=(1 + level) / 2)
        assert_allclose(halved.ci_low, results["two-sided"].ci_low, atol=1e-10)


@pytest.mark.parametrize(("method", "clustered"), RUNS)
def test_wider_at_higher_levels(method, clustered):
    cells = np.array(
        [[4, 6, 1, 0, 8, 3, 2], [2, 1, 5, 0, 2, 4, 1], [1, 0, 1, 3, 0, 1, 0], [3, 2, 1, 5, 0, 2, 4]]
    )
    limits = np.array(
        [interval(run(cells, method, clustered, confidence_level=q)) for q in (0.5, 0.8, 0.9, 0.95, 0.99)]
    )
    assert (np.diff(limits[:, 0]) <= 0).all()
    assert (np.diff(limits[:, 1]) >= 0).all()


@pytest.mark.parametrize("above", [1e-15, 3.1622776601683795e-6, 3.1622776601683795e-5, 1e-3])
def test_one_sided_levels_a_little_above_one_half(above):
    """The limit is all but the difference."""
    for counts in (
        ([3, 0, 3, 0, 0, 3, 0], [0, 3, 0, 0, 0, 0, 0], [3] * 7),
        ([1, 0, 1], [0, 1, 1], [1, 1, 2]),
    ):
        result = stats.diff_ci(*counts, alternative="greater", confidence_level=0.5 + above)
        assert_allclose(result.ci_low, result.difference, atol=3 * above)


@pytest.mark.parametrize("method", ["icc_averaged", *KINDS, "bootstrap_percentile"])
def test_order_and_empty_clusters_are_nothing(method):
    swe = REFERENCE["swe"]
    b, c, m = (np.array(swe[key]) for key in "bcm")
    order = np.random.default_rng(0).permutation(len(m))
    options = {"method": method, "rng": 3, "n_resamples": 300, "margin": 0.05}
    one = stats.diff_ci(b, c, m, **options)
    padded = [np.insert(x[order], 4, 0) for x in (b, c, m)]
    for other in (stats.diff_ci(b[order], c[order], m[order], **options), stats.diff_ci(*padded, **options)):
        assert_allclose([*interval(other), other.pvalue], [*interval(one), one.pvalue], rtol=1e-10)
        assert other.n_clusters == 12


@pytest.mark.parametrize(("method", "clustered"), [run for run in RUNS if run[0] != "bootstrap_percentile"])
def test_pairs_do_not_meet(method, clustered):
    cells = np.moveaxis(np.random.default_rng(1).multinomial(9, [0.4, 0.3, 0.1, 0.2], size=(2, 3, 7)), -1, 0)
    cells[:, 1, 1] = np.array([9, 0, 0, 0])[:, None]
    result = run(cells, method, clustered, margin=0.1)
    assert result.ci_low.shape == result.verdict.shape == result.fallback.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        alone = run(cells[:, i, j], method, clustered, margin=0.1)
        assert_allclose([result.ci_low[i, j], result.ci_high[i, j], result.pvalue[i, j], result.pvalue_verdict[i, j]],
                        [*interval(alone), alone.pvalue, alone.pvalue_verdict], rtol=1e-9)  # fmt: skip


@pytest.mark.parametrize("clustered", [True, False])
def test_bootstrap_by_its_own_replicates(clustered):
    b, c, m = np.array([3, 0, 2, 1, 4]), np.array([0, 1, 0, 2, 0]), np.array([5, 4, 6, 3, 7])
    n, rng = 999, np.random.SeedSequence(8)
    if clustered:
        result = stats.diff_ci(b, c, m, method="bootstrap_percentile", n_resamples=n, rng=8)
        drawn = mean_replicates((b - c)[:, None].astype(float), m.astype(float), n, rng)[:, 0]
    else:
        result = stats.diff_ci(10, 3, 25, method="bootstrap_percentile", n_resamples=n, rng=8)
        drawn = mean_replicates(np.repeat([1.0, -1, 0], [10, 3, 12])[:, None], np.ones(25), n, rng)[:, 0]
    below = np.sum(drawn <= 1e-12)
    assert_allclose(result.pvalue, 2 * (1 + below) / (1 + n), rtol=1e-12)
    assert_allclose(result.std_error, drawn.std(ddof=1), rtol=1e-10)
    assert_allclose(
        interval(result), np.quantile(drawn, [0.025, 0.975]), atol=1.01 / 25
    )  # a step of the lattice


@pytest.mark.parametrize("method", ["tango", "newcombe"])
@pytest.mark.parametrize("counts", [(30, 21), (21, 30), (100_001, 100_000), (4000, 3500)])
def test_statistic_has_the_one_sided_pvalue(method, counts):
    result = stats.diff_ci(*counts, 300_000, both=50_000, method=method, alternative="greater")
    assert_allclose(ss.norm.sf(result.statistic), result.pvalue, rtol=1e-8)


def test_bootstrap_limits_are_where_its_pvalue_says():
    """25 of 999 replicates at or below 0 make p .052, so the limit may not be drawn above 0 by the 26th."""
    law = ReplicateLaw(std_error=np.ones(1), replicates=np.repeat([-1.0, 1.0], [25, 974])[None], bound=1.0)
    low, _ = law.limits(0.025)
    assert_allclose(2 * law.tails(0.0)[0], 0.052, rtol=1e-12)
    assert low <= 0


@pytest.mark.parametrize("method", ["tango", "newcombe", "bonett_price", "agresti_min", "cr2"])
@pytest.mark.parametrize(
    ("both", "b", "c", "n"),
    [(0, 10**7, 0, 10**7), (0, 0, 10**7, 10**7), (0, 10**7, 10**7, 3 * 10**7), (10**7, 0, 0, 10**7), (5, 1, 0, 10**7),
     (1, 0, 10**7 - 1, 10**7), (0, 2, 0, 2), (0, 1, 1, 2), (10**8, 3, 0, 10**9)],
)  # fmt: skip
def test_extreme_counts(method, both, b, c, n):
    result = stats.diff_ci(b, c, n, both=both, method=method, margin=0.02)
    assert_allclose(result.difference, (b - c) / n, rtol=1e-12)
    assert -1 <= result.ci_low < result.ci_high <= 1
    assert result.ci_low <= result.difference <= result.ci_high or method in ("bonett_price", "agresti_min")
    assert 0 <= result.pvalue <= 1
    assert 0 <= result.pvalue_verdict <= 1
    assert np.isfinite(result.statistic)
    if b == c:
        assert_allclose([result.pvalue, result.ci_low], [1, -result.ci_high], rtol=1e-8)


@pytest.mark.parametrize("method", ["icc_averaged", *KINDS, "bootstrap_percentile"])
@pytest.mark.parametrize(
    ("b", "c", "m"),
    [([10**7, 0], [0, 0], [10**7] * 2), ([10**7, 10**7], [0, 0], [10**7] * 2), ([5, 0], [0, 5], [5, 5]),
     ([1, 0], [0, 0], [1, 1]), ([1, 0], [0, 0], [1, 10**7]), ([10**6 + 3, 10**6], [10**6] * 2, [10**7] * 2),
     ([5, 5, 5, 0], [0, 0, 0, 4], [5] * 4), ([0, 0], [0, 0], [3, 10**7])],
)  # fmt: skip
def test_extreme_clusters(method, b, c, m):
    result = stats.diff_ci(b, c, m, method=method, margin=0.02, n_resamples=200, rng=0)
    assert -1 <= result.ci_low < result.ci_high <= 1
    assert 0 < result.pvalue <= 1
    assert 0 < result.pvalue_verdict <= 1
    assert np.isfinite(result.statistic)


def by_hand(b, c, n, margin, method):
    """One-sided p-values "above -margin", "below -margin", "above margin" and "below margin"."""
    if method == "tango":
        z = [score_z(b, c, n, delta) for delta in (-margin, margin)]
        tails = [(ss.norm.sf(value), ss.norm.cdf(value)) for value in z]
    else:
        d = np.repeat([1.0, -1, 0], [b, c, n - b - c])
        tails = [tuple(ss.ttest_1samp(d, delta, alternative=side).pvalue for side in ("greater", "less"))
                 for delta in (-margin, margin)]  # fmt: skip
    return dict(zip(("above_low", "below_low", "above_high", "below_high"), sum(tails, ()), strict=True))


TABLES = [(40, 25, 500), (40, 10, 200), (3, 3, 40), (30, 30, 2000), (2, 30, 100), (60, 5, 100), (0, 4, 300)]


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("margin", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("method", ["tango", "cr2"])
@pytest.mark.parametrize("table", TABLES)
def test_verdicts_by_hand(table, method, margin, level):
    """One-sided against a margin; equivalence is two one-sided tests (TOST)."""
    p = by_hand(*table, margin, method)
    alpha = 1 - level
    want = {
        "noninferiority": (p["above_low"], "noninferior", p["below_low"], "inferior"),
        "superiority": (p["above_high"], "superior", p["below_low"], "inferior"),
        "equivalence": (
            max(p["above_low"], p["below_high"]),
            "equivalent",
            min(p["below_low"], p["above_high"]),
            "different",
        ),
    }
    for claim, (pvalue, word, against, other) in want.items():
        result = stats.diff_ci(*table, method=method, margin=margin, claim=claim, confidence_level=level)
        assert result.margin == margin
        assert_allclose(result.pvalue_verdict, pvalue, rtol=1e-7, atol=1e-15)
        # The opposite, which nobody claimed, is one side of two.
        assert result.verdict == (
            word if pvalue <= alpha else other if 2 * against <= alpha else "inconclusive"
        )


@pytest.mark.parametrize(
    ("method", "clustered"), [run for run in RUNS if run[0] not in ("newcombe", "bootstrap_percentile")]
)
@settings(max_examples=15)
@given(cells=cell_tables, margin=st.floats(0.01, 0.6), level=st.floats(0.6, 0.999))
def test_verdicts_are_what_the_limits_say(method, clustered, cells, margin, level):
    """A claim is affirmed where the one-sided limits clear the margin, and denied where the two-sided ones do."""
    low = run(cells, method, clustered, alternative="greater", confidence_level=level).ci_low
    high = run(cells, method, clustered, alternative="less", confidence_level=level).ci_high
    far_low, far_high = interval(run(cells, method, clustered, confidence_level=level))
    assume(np.min(np.abs(np.abs([low, high, far_low, far_high]) - margin)) > 1e-9)
    affirmed = {
        "noninferiority": ("noninferior", low > -margin),
        "superiority": ("superior", low > margin),
        "equivalence": ("equivalent", low > -margin and high < margin),
    }
    behind = far_high < -margin
    denied = {"noninferior": behind, "superior": behind, "equivalent": behind or far_low > margin}
    for claim, (word, sure) in affirmed.items():
        result = run(cells, method, clustered, margin=margin, claim=claim, confidence_level=level)
        assert (result.verdict == word) == sure == (result.pvalue_verdict <= 1 - level)
        if not sure:
            assert (result.verdict != "inconclusive") == denied[word]


@pytest.mark.parametrize(("method", "clustered"), RUNS)
def test_open_verdicts_follow_the_pvalue(method, clustered):
    """Without a margin: is one better, either way?"""
    strong = np.array([[4] * 10, [5] * 10, [0] * 10, [1] * 10])
    weak = np.array([[4, 0] * 5, [1, 0, 0, 1, 1] * 2, [0, 1, 0, 1, 0] * 2, [4, 2] * 5])
    words = [run(cells, method, clustered).verdict for cells in (strong, strong[[0, 2, 1, 3]], weak)]
    assert words == ["superior", "inferior", "inconclusive"]
    assert run(strong, method, clustered, alternative="less").verdict == "inconclusive"
    result = run(strong, method, clustered)
    assert result.pvalue_verdict == result.pvalue
    assert result.margin == 0


def test_the_claim_of_a_margin_is_noninferiority():
    with_margin = stats.diff_ci(40, 25, 500, margin=0.03)
    named = stats.diff_ci(40, 25, 500, margin=0.03, claim="noninferiority")
    assert with_margin.verdict == named.verdict == "noninferior"
    assert with_margin.pvalue_verdict == named.pvalue_verdict
    assert_array_equal(interval(with_margin), interval(stats.diff_ci(40, 25, 500)))
    none, zero = stats.diff_ci(30, 1, 90), stats.diff_ci(30, 1, 90, margin=0, claim="superiority")
    assert none.verdict == zero.verdict == "superior"
    assert zero.pvalue_verdict == none.pvalue  # the same claim


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"margin": -0.1}, ">= 0"),
        ({"margin": np.nan}, ">= 0"),
        ({"margin": np.inf}, ">= 0"),
        ({"margin": True}, ">= 0"),
        ({"margin": "5%"}, ">= 0"),
        ({"margin": 1}, "as wide as the scores"),
        ({"margin": 5}, r"Did you mean 0\.05\?"),
        ({"margin": 0, "claim": "equivalence"}, "margin above 0"),
        ({"claim": "equivalence"}, "needs margin="),
        ({"claim": "noninferiority"}, "needs margin="),
        ({"margin": 0.1, "claim": "noninferior"}, "Did you mean 'noninferiority'"),
        ({"method": "tangoo"}, "Did you mean 'tango'"),
        ({"method": "icc_averaged"}, "needs cluster="),
        ({"method": "newcombe"}, "both"),
        ({"confidence_level": 95}, r"0\.95"),
        ({"alternative": "above"}, "alternative"),
        ({"method": "bootstrap_percentile", "n_resamples": 10}, "n_resamples"),
        (
            {"method": "bootstrap_percentile", "n_resamples": 999, "confidence_level": 0.9999},
            "cannot tell limits",
        ),
        ({"confidence_level": 0.4, "alternative": "less"}, "at least .5"),
    ],
)
def test_options_that_cannot_be(options, words):
    with pytest.raises(MethodError, match=words):
        stats.diff_ci(40, 25, 500, **options)


def test_margin_of_unbounded_scores_may_be_large():
    scores = np.stack([[70.0, 81, 64, 90], [71.0, 80, 66, 84]], axis=1)
    result = infer(of_items(scores, bounded=False), "cr2", **PLAIN | {"margin": 5})
    p = ss.ttest_1samp(scores[:, 0] - scores[:, 1], -5, alternative="greater").pvalue
    assert_allclose(result.pvalue_verdict, p, rtol=1e-10)


@pytest.mark.parametrize("method", ["tango", "newcombe", "bonett_price", "agresti_min"])
def test_independent_methods_do_not_ignore_clusters(method):
    with pytest.raises(MethodError, match="takes the items as independent"):
        stats.diff_ci([3, 1], [1, 0], [5, 5], method=method)
    with pytest.raises(ScoreRangeError, match="cr2"):
        resolve_diff_method(method, binary=False, clustered=False)


@pytest.mark.parametrize("method", ["auto", "cr2", "bootstrap_percentile"])
@pytest.mark.parametrize(
    "arguments", [([3], [1], [5]), ([3, 0], [1, 0], [5, 0]), (1, 0, 1), (0, 0, 0), ([0], [0], [0])]
)
def test_one_cluster_is_refused(arguments, method):
    with pytest.raises(ClusterError):
        stats.diff_ci(*arguments, method=method, rng=0)


@pytest.mark.parametrize("both", [6, -1, 1.5])
def test_items_that_both_passed_must_fit(both):
    """Five of ten items are discordant."""
    with pytest.raises(ScoreError, match="both"):
        stats.diff_ci(3, 2, 10, both=both, method="newcombe")


@pytest.mark.parametrize("arguments", [([3, 1, 0], [1, 0, 0], [5, 5]), ([[3, 1, 0]], [[1, 0, 0]], [5] * 6)])
def test_sizes_must_match_the_counts(arguments):
    with pytest.raises(EvalCIError, match="size"):
        stats.diff_ci(*arguments)


@pytest.mark.parametrize("clustered", [True, False])
def test_no_pair_at_all(clustered):
    empty = np.zeros((0, 3) if clustered else 0)
    result = stats.diff_ci(empty, empty, [4, 4, 4] if clustered else 12)
    assert result.ci_low.shape == (0,)


def test_the_default_method_is_told_by_the_data():
    for (binary, clustered), method in {(True, True): "icc_averaged", (True, False): "tango", (False, True): "cr2",
                                        (False, False): "cr2"}.items():  # fmt: skip
        assert resolve_diff_method("auto", binary=binary, clustered=clustered) == method


def test_simultaneous_limits_are_those_of_their_own_tail():
    swe = REFERENCE["swe"]
    t = PairTotals.from_counts([swe["b"]], [swe["c"]], swe["m"])
    result = infer(t, "icc_averaged", **PLAIN, simultaneous=0.0025)
    wider = infer(t, "icc_averaged", **PLAIN | {"confidence_level": 0.995})
    assert_allclose([result.simultaneous_low, result.simultaneous_high], interval(wider), rtol=1e-12)
    alone = infer(t, "icc_averaged", **PLAIN)
    assert_array_equal([alone.simultaneous_low, alone.simultaneous_high], interval(alone))
    law = joint_law([prepare(t, "icc_averaged")])
    assert_allclose(law.limits(0.025), interval(result), rtol=1e-12)


@pytest.mark.parametrize("method", ["icc_averaged", *KINDS])
def test_lots_concluded_together_answer_as_each_alone(method):
    """Lots of other sizes and numbers of clusters: many, fewer than six, singletons, one without a discordant item."""
    rng = np.random.default_rng(2)
    lots = []
    for sizes in ([5] * 12, [3000, 1, 7], rng.integers(1, 40, size=60), [1] * 9, [4] * 8):
        m = np.asarray(sizes)
        b = rng.binomial(m, 0.4, size=(3, len(m)))
        lots.append(PairTotals.from_counts(b, rng.binomial(m - b, 0.3), m))
    lots.append(PairTotals.from_counts(np.zeros((2, 8)), np.zeros((2, 8)), [4] * 8))
    outside = np.linspace(0.001, 0.02, sum(len(t.total) for t in lots))
    options = PLAIN | {"margin": 0.1, "claim": "noninferiority"}
    together = conclude([prepare(t, method) for t in lots], method, **options, simultaneous=outside)
    start = 0
    for t in lots:
        part = slice(start, start := start + len(t.total))
        alone = infer(t, method, **options, simultaneous=outside[part])
        for field in (
            "difference",
            "ci_low",
            "ci_high",
            "pvalue",
            "simultaneous_low",
            "simultaneous_high",
            "pvalue_verdict",
        ):
            assert_allclose(getattr(together, field)[part], getattr(alone, field), rtol=1e-9, atol=1e-12)
        for field in ("verdict", "fallback", "n_pairs", "n_clusters"):
            assert_array_equal(getattr(together, field)[part], getattr(alone, field))
