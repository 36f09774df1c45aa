"""Estimators of the intracluster correlation against R, scipy and all pairs of rows."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats as ss

from evalci_accessor.stats import icc as ours

from .golden import SETS, counts, fractional_rows, golden, to_rows, totals

ROWS = {
    "B": to_rows(*counts("B")),
    "D": to_rows(*counts("D")),
    "fractions": fractional_rows(3, [2, 5, 3, 1, 9]),
    "wide": (100 * fractional_rows(4, [4, 4, 2, 8])[0] - 20, fractional_rows(4, [4, 4, 2, 8])[1]),
}


@pytest.mark.parametrize("name", SETS)
def test_anova_in_r(name):
    want = golden("icc")["data"][name]
    t = totals(*to_rows(*counts(name, "icc")))
    msb, msw, n0 = ours.anova_parts(t)
    assert_allclose([msb[0], msw[0], n0[0]], [want["MSB"], want["MSW"], want["n0"]], rtol=1e-8)
    assert_allclose(ours.icc_anova(t), want["icc_anova"], rtol=1e-8, atol=1e-12)
    assert_allclose(np.ravel(ours.icc_f_interval(t, 0.025)), want["icc_F_ci"], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", ROWS)
def test_anova_from_the_f_statistic(name):
    y, g = ROWS[name]
    parts = [y[g == c] for c in np.unique(g)]
    m = np.array([len(part) for part in parts])
    f = ss.f_oneway(*parts).statistic
    n0 = (m.sum() - (m**2).sum() / m.sum()) / (len(m) - 1)
    assert_allclose(ours.icc_anova(totals(y, g)), (f - 1) / (f + n0 - 1), rtol=1e-10)


@pytest.mark.parametrize("name", ROWS)
def test_pairwise_over_all_ordered_pairs(name):
    y, g = ROWS[name]
    pairs = np.array([(y[i], y[j]) for i, j in permutations(range(len(y)), 2) if g[i] == g[j]])
    assert_allclose(ours.icc_pairwise(totals(y, g)), np.corrcoef(pairs.T)[0, 1], rtol=1e-10)


@pytest.mark.parametrize("name", ["B", "D"])
def test_fleiss_cuzick_from_rows(name):
    y, g = ROWS[name]
    clusters, p = np.unique(g), y.mean()
    within = sum((g == c).sum() * y[g == c].mean() * (1 - y[g == c].mean()) for c in clusters)
    want = 1 - within / ((len(y) - len(clusters)) * p * (1 - p))
    assert_allclose(ours.icc_fleiss_cuzick(totals(y, g)), want, rtol=1e-10)


def test_fleiss_cuzick_of_fractions_uses_their_own_variances():
    y, g = ROWS["fractions"]
    within = sum(((y[g == c] - y[g == c].mean()) ** 2).sum() for c in np.unique(g))
    want = 1 - within / ((len(y) - 5) * y.var())
    assert_allclose(ours.icc_fleiss_cuzick(totals(y, g)), want, rtol=1e-10)


@pytest.mark.parametrize("estimator", [ours.icc_anova, ours.icc_fleiss_cuzick, ours.icc_pairwise])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 0.7])
def test_equal_scores_tell_nothing(estimator, value):
    assert np.isnan(estimator(totals(np.full(12, value), np.repeat([0, 1, 2], [3, 4, 5]))))


@pytest.mark.parametrize("estimator", [ours.icc_anova, ours.icc_fleiss_cuzick, ours.icc_pairwise])
def test_whole_clusters_have_icc_one_and_singletons_none(estimator):
    g = np.repeat(np.arange(6), 4)
    assert_allclose(estimator(totals((g % 2).astype(float), g)), 1, rtol=1e-12)
    assert np.isnan(estimator(totals([0, 1, 1, 0, 1], np.arange(5))))


def test_extreme_negative_correlation():
    """Half of each cluster right: the least possible ICC, -1/(m-1)."""
    t = totals(np.tile([0, 1, 0, 1], 5), np.repeat(np.arange(5), 4))
    assert_allclose(ours.icc_anova(t), -1 / 3, rtol=1e-12)
    assert_allclose(ours.icc_pairwise(t), -1 / 3, rtol=1e-12)


def test_f_interval_of_whole_clusters_is_one():
    y, g = np.repeat([1.0, 4.0, 9.0], 5), np.repeat([0, 1, 2], 5)
    assert_allclose(np.ravel(ours.icc_f_interval(totals(y, g), 0.025)), 1)


@pytest.mark.parametrize("method", ["fleiss_cuzick", "pairwise"])
@pytest.mark.parametrize("name", ["D", "wide"])
def test_jackknife_leaves_out_one_cluster_at_a_time(method, name):
    y, g = ROWS[name]
    estimate = getattr(ours, f"icc_{method}")
    left = np.array(
        [estimate(totals(y[g != c], np.unique(g[g != c], return_inverse=True)[1]))[0] for c in np.unique(g)]
    )
    n = len(left)
    error = np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    half = ss.t.ppf(0.9, n - 1) * error
    want = estimate(totals(y, g))[0] + np.array([-half, half])
    assert (np.abs(want) < 1).any()
    assert_allclose(
        np.ravel(ours.icc_jackknife_interval(totals(y, g), method, 0.1)), np.clip(want, -1, 1), rtol=1e-9
    )
