"""Intervals of one clustered rate against R, statsmodels, slow implementations and invariances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats as ss
from statsmodels.stats.proportion import proportion_confint

from evalci_accessor import stats
from evalci_accessor.exceptions import ClusterError, MethodError, ScoreError, ScoreRangeError
from evalci_accessor.options import RateOptions
from evalci_accessor.stats.rates.clustered import rate

from .. import slow
from ..golden import SETS, counts, fractional_rows, golden, to_rows, totals

REFERENCE = golden("icp_reference")["data"]
EDGE = ("allpass4x5", "allpass12swe", "allfail20x5")  # see test_posterior
VARIANCE = ("cr0", "cr1", "cr2", "cr3")
BINOMIAL = ("icc_averaged", "wald", "wilson", "logit", "clopper_pearson", "korn_graubard")
BOOTSTRAP = ("bootstrap_percentile", "bootstrap_bca", "bootstrap_t")
ALL = (*VARIANCE, *BINOMIAL, *BOOTSTRAP)
NUMBERS = (
    "estimate",
    "std_error",
    "ci_low",
    "ci_high",
    "df",
    "n",
    "n_clusters",
    "icc",
    "design_effect",
    "n_eff",
)


def limits(result):
    return [float(result.ci_low), float(result.ci_high)]


def same(a, b, rtol=1e-12, names=NUMBERS):
    for name in names:
        assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-300, err_msg=name)


# The default


@pytest.mark.parametrize("name", [name for name in REFERENCE if name != "G1"])
def test_reference_limits(name):
    want = REFERENCE[name]["lam_0_5"]
    result = stats.cluster_ci(*counts(name, "icp_reference"))
    assert result.method == "icc_averaged"
    assert_allclose(result.estimate, want["estimate"], rtol=1e-12)
    assert_allclose(limits(result), [want["low"], want["high"]], atol=5e-5 if name in EDGE else 1e-8)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("name", ["A", "B", "D"])
def test_sides_and_levels(name, alternative):
    s, m = counts(name)
    result = stats.cluster_ci(s, m, alternative=alternative, confidence_level=0.9)
    low, high, _ = slow.guarded(s, m, outside=0.05 if alternative == "two-sided" else 0.1, n_nodes=256)
    want = [0 if alternative == "less" else low, 1 if alternative == "greater" else high]
    assert_allclose(limits(result), want, atol=1e-8)
    assert result.confidence_level == 0.9


SIZES_TELL = [  # rates that fall or rise with the sizes
    ([21, 9, 9, 0, 6, 4, 4, 2, 5, 7, 3, 2, 21, 1], [21, 13, 13, 1, 10, 8, 8, 5, 9, 11, 7, 6, 21, 4]),
    ([6, 3, 0, 6, 3, 1, 2, 4, 5, 4, 0, 2, 3, 3, 6, 3, 3, 1, 6, 6, 3],
     [14, 5, 36, 12, 5, 2, 3, 26, 8, 6, 47, 3, 5, 5, 15, 5, 5, 2, 18, 19, 5]),
    ([7, 8, 6, 8, 7, 8, 7, 6, 6, 4, 7, 4, 6, 8, 6, 9, 8, 7, 6, 6, 6, 5, 9, 9],
     [9, 19, 6, 10, 8, 10, 8, 7, 6, 25, 8, 4, 7, 11, 7, 13, 12, 8, 7, 6, 7, 5, 13, 15]),
]  # fmt: skip
SIZES_DO_NOT = [
    ([4, 4, 4, 4, 0, 0, 4, 4, 4, 0, 4, 4], [4] * 12),
    ([7, 3, 12, 5, 9, 2, 6, 11, 4, 8], [10, 4, 15, 8, 11, 5, 8, 16, 5, 12]),
]  # fmt: skip
TOO_FEW_DF = ([26, 1, 1, 2, 1, 0], [30, 3, 4, 6, 4, 3])


@pytest.mark.parametrize(("case", "fires"), [*((c, True) for c in SIZES_TELL), *((c, False) for c in SIZES_DO_NOT),
                                             (TOO_FEW_DF, False)])  # fmt: skip
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_guard(case, fires, alternative):
    s, m = case
    low, high, fired = slow.guarded(s, m, outside=0.025 if alternative == "two-sided" else 0.05, n_nodes=128)
    result = stats.cluster_ci(s, m, alternative=alternative)
    assert bool(result.guard) == fired == fires
    assert_allclose(limits(result), [low, 1 if alternative == "greater" else high], atol=1e-8)


@pytest.mark.parametrize("spread", [0.0, 0.6, 2.5])
def test_fractions(spread):
    """Quasi-counts, the smooth shape alone, and the guard, written out."""
    y, g = fractional_rows(6, [3, 8, 5, 12, 2, 7, 7, 4, 9, 6], spread)
    s, m = np.bincount(g, y), np.bincount(g).astype(float)
    inflation = slow.quasi_inflation(y)
    assert inflation > 1
    options = {"n_nodes": 128, "shape": "smooth", "inflation": inflation}
    low, high, _ = slow.guarded(s, m, **options)
    _, _, n_eff, icc = slow.averaged(s, m, **options)
    result = stats.cluster_ci(s, m, ss=np.bincount(g, y**2))
    assert result.method == "icc_averaged"
    assert_allclose(limits(result), [low, high], atol=1e-6 * (high - low))
    error = np.sqrt(y.mean() * (1 - y.mean()) / n_eff)
    assert_allclose([result.std_error, result.n_eff], [error, y.var(ddof=1) / error**2], rtol=1e-6)
    assert_allclose(result.icc, icc, rtol=1e-3)  # an ICC of at most 1 has a kink, over which nodes differ


@pytest.mark.parametrize(
    ("size", "icc", "precision"), [(4, 0.25, 3), (4, 0.25, 10), (10, 0.1, 3), (30, 0.25, 3)]
)
def test_icc_of_fractions(size, icc, precision):
    """That of the scores, which is known, and as the analysis of variance has it."""
    rng, n, p = np.random.default_rng(size), 1500, 0.6
    share = icc / (
        icc + (1 - icc) * (precision + 1)
    )  # of p(1-p), between clusters; scores vary about these by a beta law
    mean = rng.beta(p * (1 / share - 1), (1 - p) * (1 / share - 1), size=(n, 1))
    y = rng.beta(mean * precision, (1 - mean) * precision, size=(n, size))
    totals_ = {"s": y.sum(axis=1), "m": np.full(n, size), "ss": (y**2).sum(axis=1)}
    found = float(stats.cluster_ci(**totals_).icc)
    design = stats.design_effect(**totals_)
    assert found == pytest.approx(float(design.icc), abs=0.01)
    assert found == pytest.approx(icc, abs=0.025)
    assert design.icc_low < found < design.icc_high
    assert design.icc_low < icc < design.icc_high


# Design-based methods


@pytest.mark.parametrize("name", SETS)
def test_svyciprop(name):
    want = golden("svyciprop")["data"][name]
    s, m = counts(name)
    for ours, theirs in (("logit", "logit"), ("korn_graubard", "beta"), ("cr1", "mean")):
        result = stats.cluster_ci(s, m, method=ours)
        assert_allclose(limits(result), np.clip(want["ci"][theirs], 0, 1), rtol=1e-8)
        assert_allclose(
            [result.estimate, result.std_error, result.df], [want["mean"], want["se"], want["df"]], rtol=1e-8
        )
        assert_allclose(result.design_effect, want["deff"], rtol=1e-8)


@pytest.mark.parametrize("name", ["binary", "fractional"])
def test_weighted_svyciprop(name):
    file = golden("weights")
    want = file["data"][name]
    t = totals(want["y"], np.array(file["g"]) - 1, file["w"])
    assert_allclose(np.ravel(limits(rate(t, RateOptions(method="logit")))), want["logit"], rtol=1e-8)
    assert_allclose(np.ravel(limits(rate(t, RateOptions(method="korn_graubard")))), want["beta"], rtol=1e-8)
    result = rate(t, RateOptions(method="cr1"))
    assert_allclose([result.estimate, result.std_error, result.design_effect], [want["mean"], want["se"], want["deff"]],
                    rtol=1e-8)  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_score_intervals_on_the_effective_sample_size(name):
    """wald, wilson and clopper_pearson at n / deff, survey's design effect, with t in place of z."""
    s, m = counts(name)
    p, n_eff = s.sum() / m.sum(), m.sum() / golden("svyciprop")["data"][name]["deff"]
    t = ss.t.ppf(0.975, len(m) - 1)
    alpha = 2 * ss.norm.sf(t)
    for method, theirs in (("wald", "normal"), ("wilson", "wilson")):
        want = proportion_confint(p * n_eff, n_eff, alpha, theirs)
        assert_allclose(limits(stats.cluster_ci(s, m, method=method)), want, rtol=1e-8)
    n = n_eff * (ss.norm.ppf(0.975) / t) ** 2
    want = proportion_confint(p * n, n, 0.05, "beta")
    assert_allclose(limits(stats.cluster_ci(s, m, method="clopper_pearson")), want, rtol=1e-8)


@pytest.mark.parametrize("method", ["cr1", "wilson", "logit", "korn_graubard"])
def test_one_sided_is_two_sided_at_twice_alpha(method):
    s, m = counts("B")
    two = stats.cluster_ci(s, m, method=method, confidence_level=0.9)
    greater, less = (stats.cluster_ci(s, m, method=method, alternative=side) for side in ("greater", "less"))
    assert_allclose([*limits(greater), *limits(less)], [two.ci_low, 1, 0, two.ci_high], rtol=1e-12)


def test_degrees_of_freedom():
    s, m = counts("C")
    want = golden("clubsandwich")["data"]["C"]
    assert_allclose(stats.cluster_ci(s, m, method="cr1").df, 11)
    assert_allclose(stats.cluster_ci(s, m, method="cr2").df, want["CR2"]["df_satt"], rtol=1e-8)
    assert_allclose(stats.cluster_ci(s, m, method="cr2", df="clusters").df, 11)
    assert_allclose(
        stats.cluster_ci(s, m, method="cr3", df="satterthwaite").df, want["CR3"]["df_satt"], rtol=1e-8
    )


# All of them


HARD = {
    "none of 68 in 9 families": ([0] * 9, [8, 8, 8, 8, 8, 8, 8, 8, 4]),
    "all pass in 4 x 5": ([5] * 4, [5] * 4),
    "14 of 20 in two clusters": ([10, 4], [10, 10]),
    "7 of 10 in each of two": ([7, 7], [10, 10]),
    "one hit": ([1, 0, 0, 0, 0], [30, 3, 4, 5, 6]),
    "one miss": ([30, 3, 4, 5, 5], [30, 3, 4, 5, 6]),
    "a giant": ([700, 0, 1, 1], [1000, 1, 1, 1]),
}


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("case", HARD)
def test_inside_with_a_width(case, method):
    s, m = HARD[case]
    result = stats.cluster_ci(s, m, method=method, n_resamples=2000, rng=1)
    low, high = limits(result)
    assert 0 <= low <= result.estimate <= high <= 1
    if not (
        method.startswith("bootstrap")
        and case in ("14 of 20 in two clusters", "one hit", "one miss", "a giant")
    ):
        assert high > low


def test_nothing_passed():
    """0 of 68 runs in 9 families: [0, .44] where the usual interval is [0, 0]."""
    assert_allclose(limits(stats.cluster_ci(*HARD["none of 68 in 9 families"])), [0, 0.44], atol=0.2)
    s, m = HARD["none of 68 in 9 families"]
    low, high, *_ = slow.averaged(s, m, n_nodes=256)
    assert_allclose(limits(stats.cluster_ci(s, m)), [low, high], atol=1e-9)


@pytest.mark.parametrize(
    "method", [*VARIANCE, "logit", "korn_graubard", "clopper_pearson", "wilson", *BOOTSTRAP]
)
def test_zero_variance_counts_clusters(method):
    """G* in place of n, never n: 5 of 5 clusters pass as 5 of 5 items would."""
    s = m = np.array([4, 2, 2, 8, 4])
    effective = m.sum() ** 2 / (m**2).sum()
    result = stats.cluster_ci(s, m, method=method, n_resamples=200, rng=0)
    want = proportion_confint(effective, effective, 0.05, "wilson" if method == "wilson" else "beta")
    assert_allclose(limits(result), want, rtol=1e-9)
    assert_allclose(result.n_eff, effective, rtol=1e-12)
    assert result.fallback


@pytest.mark.parametrize("method", [*VARIANCE, *BOOTSTRAP])
def test_scale(method):
    """CI(100 x - 20) = 100 CI(x) - 20, and nothing is cut to [0, 1]."""
    y, g = fractional_rows(9, [3, 5, 2, 6, 4])
    wide = 100 * y - 20
    one = rate(totals(y, g), RateOptions(method=method, rng=3, n_resamples=999))
    other = rate(totals(wide, g), RateOptions(method=method, rng=3, n_resamples=999))
    assert 0 < one.ci_low < one.ci_high < 1  # so that nothing was cut
    assert_allclose(limits(other), 100 * np.array(limits(one)) - 20, rtol=1e-8)
    assert_allclose(other.std_error, 100 * one.std_error, rtol=1e-8)
    same(one, other, 1e-7, ("df", "n", "n_clusters", "icc", "design_effect", "n_eff"))


def test_open_scale():
    y, g = fractional_rows(9, [3, 5, 2, 6, 4])
    t = totals(100 * y, g)
    assert rate(t).method == "cr2"
    same(rate(t), rate(t, RateOptions(method="cr2")))
    greater = rate(t, RateOptions(alternative="greater"))
    assert greater.ci_high == np.inf
    assert np.isfinite(greater.ci_low)
    for method in BINOMIAL:
        with pytest.raises(ScoreRangeError, match="cr2"):
            rate(t, RateOptions(method=method))
    same_scores = rate(totals(np.full(6, 70.0), [0, 0, 1, 1, 2, 2]))
    assert np.isnan(limits(same_scores)).all()  # on an open scale nothing follows from equal scores


@pytest.mark.parametrize("method", [*VARIANCE, *BINOMIAL])
def test_weights(method):
    """Their scale does not matter, a row of weight 0 is absent, and equal weights are none."""
    y, g = to_rows(*counts("B"))
    w = np.random.default_rng(0).choice([0.5, 1, 2, 3], size=len(y))
    one = rate(totals(y, g, w), RateOptions(method=method))
    same(rate(totals(y, g, 7.3 * w), RateOptions(method=method)), one, 1e-8)
    w0 = np.where(np.arange(len(y)) % 5 == 0, 0, w)
    same(
        rate(totals(y, g, w0), RateOptions(method=method)),
        rate(totals(y[w0 > 0], g[w0 > 0], w0[w0 > 0]), RateOptions(method=method)),
    )
    same(
        rate(totals(y, g, np.full(len(y), 4.0)), RateOptions(method=method)),
        rate(totals(y, g), RateOptions(method=method)),
        1e-8,
    )


@pytest.mark.parametrize("method", [*ALL, "bootstrap_exact"])
def test_batch_equals_one_by_one(method):
    rng = np.random.default_rng(4)
    m = np.full((2, 3, 7), 4) if method == "bootstrap_exact" else rng.integers(1, 9, size=(2, 3, 7))
    s = rng.binomial(m, 0.7)
    s[0, 0], m[0, 0, 3] = m[0, 0], m[0, 0, 3]  # all pass in one
    batch = stats.cluster_ci(s, m, method=method, rng=5, n_resamples=300)
    for at in np.ndindex(2, 3):
        one = stats.cluster_ci(s[at], m[at], method=method, rng=5, n_resamples=300)
        for name in NUMBERS:
            assert_allclose(getattr(batch, name)[at], getattr(one, name), rtol=1e-10, err_msg=name)


@pytest.mark.parametrize("method", [*ALL, "bootstrap_exact"])
def test_cluster_of_size_zero_and_order_do_not_matter(method):
    s, m = (np.array([3, 5, 2, 4]), np.full(4, 5)) if method == "bootstrap_exact" else counts("B")
    one = stats.cluster_ci(s, m, method=method, rng=1, n_resamples=300)
    order = np.random.default_rng(0).permutation(len(s))
    other = stats.cluster_ci([*s[order], 0], [*m[order], 0], method=method, rng=1, n_resamples=300)
    same(one, other, 1e-9)


def test_empty_group_is_nan():
    result = stats.cluster_ci([[1, 2], [0, 0]], [[2, 2], [0, 0]])
    for name in ("estimate", "std_error", "ci_low", "ci_high", "icc"):
        assert np.isnan(getattr(result, name)[1])
    assert result.n[1] == result.n_clusters[1] == result.n_eff[1] == 0


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"s": [3], "m": [5]}, ClusterError, "single cluster"),
        ({"s": [3, 0], "m": [5, 0]}, ClusterError, "single cluster"),
        ({"method": "wilsn"}, MethodError, "Did you mean 'wilson'"),
        ({"method": "bootstrap"}, MethodError, "bootstrap_"),
        ({"df": "satterthwaite"}, MethodError, "no t quantile"),
        ({"df": "clusters", "method": "bootstrap_t"}, MethodError, "no t quantile"),
        ({"df": "normal", "method": "cr1"}, MethodError, "satterthwaite"),
        ({"confidence_level": 95}, MethodError, r"0\.95"),
        ({"confidence_level": 0.0}, MethodError, "strictly between"),
        ({"alternative": "upper"}, MethodError, "two-sided"),
        ({"n_resamples": 50}, MethodError, "100"),
        ({"n_resamples": 1e4}, MethodError, "whole number"),
        ({"rng": "seed", "method": "bootstrap_bca"}, MethodError, "rng"),
        ({"rng": -1, "method": "bootstrap_bca"}, MethodError, "rng"),
        ({"s": [3, 6]}, ScoreError, "`ss`"),
    ],
)
def test_errors(arguments, error, words):
    with pytest.raises(error, match=words):
        stats.cluster_ci(**{"s": [3, 4], "m": [5, 5], **arguments})
