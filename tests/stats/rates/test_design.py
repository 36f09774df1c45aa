"""Design effects: the ICC goes to test_icc, here is what is made of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from evalci_accessor import stats
from evalci_accessor.exceptions import MethodError, ScoreRangeError
from evalci_accessor.stats.rates.design import design

from .. import slow
from ..golden import SETS, counts, fractional_rows, golden, totals


@pytest.mark.parametrize("name", SETS)
def test_formulas(name):
    s, m = counts(name, "icc")
    want = golden("icc")["data"][name]
    result = stats.design_effect(s, m)
    deff = 1 + ((m**2).sum() / m.sum() - 1) * max(want["icc_anova"], 0)
    assert_allclose(result.icc, want["icc_anova"], rtol=1e-8, atol=1e-12)
    assert_allclose(
        [result.design_effect, result.n_eff, result.width_ratio],
        [deff, m.sum() / deff, np.sqrt(deff)],
        rtol=1e-8,
    )
    assert_allclose(result.effective_clusters, m.sum() ** 2 / (m**2).sum(), rtol=1e-12)
    assert_allclose(
        [
            result.n,
            result.n_clusters,
            result.largest_share,
            result.size_min,
            result.size_median,
            result.size_max,
        ],
        [m.sum(), len(m), m.max() / m.sum(), m.min(), np.median(m), m.max()],
        rtol=1e-12,
    )


def test_negative_icc_counts_as_zero():
    result = stats.design_effect([2, 2, 2], [4, 4, 4])
    assert_allclose([result.icc, result.design_effect, result.n_eff], [-1 / 3, 1, 12], rtol=1e-12)


@pytest.mark.parametrize("name", ["A", "B", "D", "allfail20x5"])
def test_posterior_interval(name):
    s, m = counts(name, "icp_reference")
    rho = slow.arcsine_nodes(1024)
    weight = slow.posterior(s, m, rho)
    result = stats.design_effect(s, m, icc_method="posterior", confidence_level=0.9)
    assert_allclose(result.icc, weight @ rho, atol=1e-5)
    assert_allclose(
        [result.icc_low, result.icc_high], np.interp([0.05, 0.95], weight.cumsum(), rho), atol=2e-3
    )


def test_f_interval_on_an_open_scale():
    """Scores beyond [0, 1] get Searle's interval; shifting and scaling 0/1 scores does not move it."""
    want = golden("icc")["data"]["B"]
    s, m = counts("B", "icc")
    result = stats.design_effect(10 * s - m, m, ss=81 * s + (m - s))  # scores 9 and -1
    assert_allclose(result.icc, want["icc_anova"], rtol=1e-8)
    assert_allclose([result.icc_low, result.icc_high], want["icc_F_ci"], rtol=1e-8)
    with pytest.raises(ScoreRangeError, match="posterior"):
        stats.design_effect(10 * s - m, m, ss=81 * s + (m - s), icc_method="posterior")


def test_one_cluster_and_equal_scores_are_nan():
    result = stats.design_effect([[5, 0, 0], [2, 3, 0], [0, 0, 0]], [[7, 0, 0], [2, 3, 0], [0, 0, 0]])
    assert np.isnan(result.icc).all()
    assert np.isnan(result.design_effect).all()
    assert np.isnan(result.icc_low).all()
    posterior = stats.design_effect([2, 3], [2, 3], icc_method="posterior")
    assert (
        0 < posterior.icc_low < posterior.icc < posterior.icc_high < 1
    )  # equal scores still have a posterior
    assert_array_equal(result.n_clusters, [1, 2, 0])
    assert_array_equal(result.n, [7, 5, 0])
    assert_array_equal(result.size_max[:2], [7, 3])
    assert np.isnan(result.size_median[2])


def test_batch_equals_one_by_one():
    rng = np.random.default_rng(2)
    m = rng.integers(1, 9, size=(2, 3, 8))
    s = rng.binomial(m, 0.6)
    for method in ("anova", "fleiss_cuzick", "pairwise", "posterior"):
        batch = stats.design_effect(s, m, icc_method=method)
        for at in np.ndindex(2, 3):
            one = stats.design_effect(s[at], m[at], icc_method=method)
            for name in (
                "icc",
                "icc_low",
                "icc_high",
                "design_effect",
                "n_eff",
                "largest_share",
                "size_median",
            ):
                assert_allclose(getattr(batch, name)[at], getattr(one, name), rtol=1e-12)


def test_weights_use_kish_sizes():
    """Equal weights change nothing; unequal ones alone, without clustering, give Kish's 1 + cv^2."""
    y, g = fractional_rows(2, [4, 2, 5, 3])
    plain, same = design(totals(y, g)), design(totals(y, g, np.full(len(y), 2.5)))
    for name in ("icc", "icc_low", "icc_high", "design_effect", "n_eff"):
        assert_allclose(getattr(same, name), getattr(plain, name), rtol=1e-10)
    w = np.tile([1.0, 3.0], 6)
    balanced = totals(np.tile([0, 0, 1, 1], 3), np.repeat([0, 1, 2], 4), w)  # rate 1/2 in each cluster
    result = design(balanced)
    assert result.icc < 0
    assert_allclose([result.design_effect, result.n_eff], [1.25, 12 / 1.25], rtol=1e-12)


def test_options():
    with pytest.raises(MethodError, match="Did you mean 'anova'"):
        stats.design_effect([1, 2], [3, 3], icc_method="anovva")
    with pytest.raises(MethodError, match=r"0\.95"):
        stats.design_effect([1, 2], [3, 3], confidence_level=95)
