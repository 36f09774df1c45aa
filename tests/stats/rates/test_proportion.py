"""Textbook intervals against R, statsmodels and scipy."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as ss
from statsmodels.stats.proportion import proportion_confint

from evalci_accessor import stats
from evalci_accessor.exceptions import EvalCIError, MethodError, ScoreError
from evalci_accessor.options import RateOptions
from evalci_accessor.stats import ClusterTotals
from evalci_accessor.stats.rates.proportion import proportion

from ..golden import golden

COUNTS = [(0, 10), (10, 10), (7, 20), (1, 30), (199, 200), (1, 1), (0, 1), (4321, 100_000)]
STATSMODELS = {
    "wilson": "wilson", "clopper_pearson": "beta", "jeffreys": "jeffreys", "agresti_coull": "agresti_coull", "wald": "normal",
}  # fmt: skip


def limits(result):
    return [float(result.ci_low), float(result.ci_high)]


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson"])
def test_base_r(method):
    for case in golden("base_r")[method]:
        assert_allclose(
            limits(stats.proportion_ci(case["x"], case["n"], method=method)), case["ci"], atol=1e-10
        )


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("method", STATSMODELS)
def test_statsmodels(method, level):
    count, nobs = np.array(COUNTS).T
    result = stats.proportion_ci(count, nobs, method=method, confidence_level=level)
    low, high = proportion_confint(count, nobs, alpha=1 - level, method=STATSMODELS[method])
    if method == "jeffreys":  # at the ends Brown, Cai and DasGupta (2001, eq. 10) put the limit at the end
        low, high = np.where(count == 0, 0, low), np.where(count == nobs, 1, high)
    assert_allclose(result.ci_low, low, rtol=1e-9, atol=1e-12)
    assert_allclose(result.ci_high, high, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("method", "name"), [("clopper_pearson", "exact"), ("wilson", "wilson")])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_sides_as_in_scipy(method, name, alternative):
    for x, n in COUNTS[:6]:
        ours = stats.proportion_ci(x, n, method=method, alternative=alternative, confidence_level=0.9)
        theirs = ss.binomtest(x, n, alternative=alternative).proportion_ci(0.9, method=name)
        assert_allclose(limits(ours), theirs, atol=1e-9)


@pytest.mark.parametrize("method", STATSMODELS)
def test_one_sided_limit_is_a_two_sided_one(method):
    two = stats.proportion_ci(7, 20, method=method, confidence_level=0.9)
    greater = stats.proportion_ci(7, 20, method=method, alternative="greater")
    less = stats.proportion_ci(7, 20, method=method, alternative="less")
    assert_allclose([*limits(greater), *limits(less)], [two.ci_low, 1, 0, two.ci_high], rtol=1e-12)


@pytest.mark.parametrize("n", [10, 1000])
@pytest.mark.parametrize("alpha", [1e-7, 1e-12])
def test_tiny_alpha(n, alpha):
    level = 1 - alpha
    result = stats.proportion_ci([0, n], n, method="clopper_pearson", confidence_level=level)
    upper = -np.expm1(
        np.log((1 - level) / 2) / n
    )  # 1 - (alpha/2)^(1/n), with the alpha that 1 - level is in floats
    assert_allclose(result.ci_high, [upper, 1], rtol=1e-9)
    assert_allclose(result.ci_low, [0, 1 - upper], rtol=1e-9)


def test_standard_error_is_that_of_the_mean():
    rng = np.random.default_rng(1)
    y = rng.random(37) < 0.3
    result = stats.proportion_ci(y.sum(), len(y))
    assert_allclose([result.estimate, result.std_error], [y.mean(), ss.sem(y.astype(float))], rtol=1e-12)


def test_no_scores():
    for method in STATSMODELS:
        result = stats.proportion_ci([0, 3], [0, 4], method=method)
        assert np.isnan([result.estimate[0], result.ci_low[0], result.ci_high[0], result.std_error[0]]).all()
        assert np.isfinite([result.ci_low[1], result.ci_high[1]]).all()
        assert_array_equal(result.n, [0, 4])


def test_sides_of_no_scores_are_nan():
    for alternative in ("less", "greater"):
        assert np.isnan(limits(stats.proportion_ci(0, 0, alternative=alternative))).all()


def test_shape_is_broadcast():
    result = stats.proportion_ci([[1], [2]], [5, 10, 20])
    assert result.estimate.shape == result.ci_low.shape == result.n.shape == (2, 3)
    assert_allclose(result.estimate, [[0.2, 0.1, 0.05], [0.4, 0.2, 0.1]])
    assert stats.proportion_ci(1, 2).estimate.shape == ()


@pytest.mark.parametrize(
    ("count", "nobs", "options", "error", "words"),
    [
        (5, 4, {}, ScoreError, "between 0 and"),
        (-1, 4, {}, ScoreError, "between 0 and"),
        (0, -4, {}, ScoreError, "negative"),
        (np.nan, 4, {}, EvalCIError, "count"),
        (1, np.inf, {}, EvalCIError, "nobs"),
        ("one", 4, {}, EvalCIError, "numbers"),
        (1, 4, {"method": "wilsn"}, MethodError, "Did you mean 'wilson'"),
        (1, 4, {"alternative": "bigger"}, MethodError, "two-sided"),
        (1, 4, {"confidence_level": 95}, MethodError, "0.95"),
        (1, 4, {"confidence_level": 1.0}, MethodError, "strictly between"),
        (1, 4, {"confidence_level": 0}, MethodError, "strictly between"),
        (1, 4, {"confidence_level": True}, MethodError, "strictly between"),
        (1, 4, {"confidence_level": np.nan}, MethodError, "strictly between"),
    ],
)
def test_errors(count, nobs, options, error, words):
    with pytest.raises(error, match=words) as caught:
        stats.proportion_ci(count, nobs, **options)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("count", [0, 10])
def test_equal_scores_have_no_standard_error(count):
    frame = pd.DataFrame({"score": [count / 10] * 10})
    assert np.isnan(stats.proportion_ci(count, 10).std_error)
    assert np.isnan(frame.evalci.proportion_ci()["std_error"].item())


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson", "wald"])
def test_weights_never_narrow_but_for_walds(method):
    """Heavy scores that agree: the variance alone would say more scores than Kish's number, which caps them."""
    y, w = np.array([1.0] * 12 + [0.0, 1.0] * 6), np.array([3.0] * 12 + [1.0] * 12)
    t = ClusterTotals.from_rows(y, np.arange(24), n_clusters=24, bounded=True, binary=True, weights=w)
    p, kish = (w @ y) / w.sum(), w.sum() ** 2 / (w**2).sum()
    linear = (w**2 @ (y - p) ** 2) / w.sum() ** 2
    assert p * (1 - p) / linear > 1.2 * kish
    found = proportion(t, RateOptions(method=method))
    z = ss.norm.ppf(0.975)
    if method == "wald":
        want = p - z * np.sqrt(linear), min(p + z * np.sqrt(linear), 1.0)
    elif method == "wilson":
        half = z * np.sqrt(p * (1 - p) / kish + z**2 / (4 * kish**2))
        want = (np.array([-half, half]) + p + z**2 / (2 * kish)) / (1 + z**2 / kish)
    else:
        want = ss.beta.ppf([0.025, 0.975], [p * kish, p * kish + 1], [(1 - p) * kish + 1, (1 - p) * kish])
    assert_allclose([found.ci_low, found.ci_high], want, rtol=1e-10)
