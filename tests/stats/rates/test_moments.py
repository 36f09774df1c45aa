"""Cluster-robust variances and their degrees of freedom against clubSandwich, statsmodels, survey and n x n matrices."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose

from evalci_accessor import stats
from evalci_accessor.stats import ClusterTotals
from evalci_accessor.stats.rates.moments import (
    cr_variance,
    moments,
    rare_outcomes,
    rounded_sums,
    satterthwaite_df,
)

from ..golden import SETS, counts, fractional_rows, golden, to_rows, totals
from ..slow import bell_mccaffrey

KINDS = ("cr0", "cr1", "cr2", "cr3")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETS)
def test_clubsandwich(name, kind):
    want = golden("clubsandwich")["data"][name][kind.upper()]
    t = totals(*to_rows(*counts(name)))
    mo = moments(t)
    assert_allclose(cr_variance(t, mo, kind), want["var"], rtol=1e-8)
    assert_allclose(satterthwaite_df(t, mo, kind), want["df_satt"], rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETS)
def test_clubsandwich_intervals(name, kind):
    want = golden("clubsandwich")["data"][name][kind.upper()]
    result = stats.cluster_ci(*counts(name), method=kind, df="satterthwaite")
    assert_allclose([result.std_error, result.df], [want["se"], want["df_satt"]], rtol=1e-8)
    assert_allclose([result.ci_low, result.ci_high], np.clip(want["ci"], 0, 1), rtol=1e-8)


def test_clubsandwich_on_differences():
    data = golden("clubsandwich")["paired"]
    t = totals(data["d"], np.array(data["g"]) - 1)
    mo = moments(t)
    assert not t.bounded
    assert_allclose(mo.p, data["est"], rtol=1e-10)
    for kind in KINDS:
        want = data[kind.upper()]
        assert_allclose([cr_variance(t, mo, kind)[0], satterthwaite_df(t, mo, kind)[0]], [want["var"], want["df_satt"]],
                        rtol=1e-8)  # fmt: skip


def test_swe_bench_sizes():
    t = totals(*to_rows(*counts("C")))
    mo = moments(t)
    assert_allclose(satterthwaite_df(t, mo, "cr2"), 3.3308003161, atol=5e-11)
    assert_allclose(mo.effective_clusters, 3.870, atol=5e-4)
    m = counts("C")[1]
    assert_allclose(mo.effective_clusters, m.sum() ** 2 / (m**2).sum(), rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_matrices(seed, kind):
    y, g = fractional_rows(seed, [1, 2, 3, 9, 4, 1, 17])
    t = totals(y, g)
    mo = moments(t)
    variance, df = bell_mccaffrey(g, kind, y)
    assert_allclose(
        [cr_variance(t, mo, kind)[0], satterthwaite_df(t, mo, kind)[0]], [variance, df], rtol=1e-9
    )


def test_matrices_agree_with_clubsandwich():
    y, g = to_rows(*counts("B"))
    for kind in KINDS:
        want = golden("clubsandwich")["data"]["B"][kind.upper()]
        assert_allclose(bell_mccaffrey(g, kind, y), [want["var"], want["df_satt"]], rtol=1e-8)


def test_equal_sizes_have_g_minus_one_degrees_of_freedom():
    t = totals(*to_rows(np.array([3, 5, 2, 4]), np.full(4, 5)))
    for kind in KINDS:
        assert_allclose(satterthwaite_df(t, moments(t), kind), 3, rtol=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_statsmodels_ols(name):
    y, g = to_rows(*counts(name))
    fit = sm.OLS(y, np.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": g}, use_t=True)
    result = stats.cluster_ci(*counts(name), method="cr1")
    assert_allclose([result.estimate, result.std_error], [fit.params[0], fit.bse[0]], rtol=1e-9)
    assert_allclose([result.ci_low, result.ci_high], np.clip(fit.conf_int()[0], 0, 1), rtol=1e-9)


@pytest.mark.parametrize("name", golden("weights")["data"])
def test_weights(name):
    """survey's linearised variance is CR1."""
    file = golden("weights")
    want = file["data"][name]
    t = totals(want["y"], np.array(file["g"]) - 1, file["w"])
    mo = moments(t)
    assert_allclose(mo.p, want["mean"], rtol=1e-10)
    assert_allclose(np.sqrt(cr_variance(t, mo, "cr1")), want["se"], rtol=1e-10)
    assert_allclose(cr_variance(t, mo, "cr1") / mo.srs_variance, want["deff"], rtol=1e-10)


@pytest.mark.parametrize("fit", ["lm", "scaled", "by_cluster"])
@pytest.mark.parametrize("name", golden("weights")["data"])
def test_weights_in_clubsandwich(name, fit):
    """With the working variance 1/w, h_g is the cluster's share of the weight."""
    file = golden("weights")
    want = file["data"][name][fit]
    g = np.array(file["g"]) - 1
    t = totals(file["data"][name]["y"], g, np.array(file["w_g"])[g] if fit == "by_cluster" else file["w"])
    for kind in KINDS:
        if (fit, kind) == ("lm", "cr2"):
            continue  # where weights differ within clusters Pustejovsky and Tipton's root of the matrix is another one
        r = want[kind.upper()]
        assert_allclose(cr_variance(t, moments(t), kind), r["var"], rtol=1e-8)
        assert_allclose(satterthwaite_df(t, moments(t), kind), r["df_satt"], rtol=1e-8)


def test_weighted_mean_against_wls():
    file = golden("weights")
    y, g, w = file["data"]["wide"]["y"], np.array(file["g"]) - 1, np.array(file["w"])
    fit = sm.WLS(y, np.ones(len(y)), weights=w).fit(cov_type="cluster", cov_kwds={"groups": g})
    t = totals(y, g, w)
    mo = moments(t)
    assert_allclose([mo.p[0], np.sqrt(cr_variance(t, mo, "cr1"))[0]], [fit.params[0], fit.bse[0]], rtol=1e-9)
    assert_allclose(mo.effective_rows, w.sum() ** 2 / (w**2).sum(), rtol=1e-12)


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3, 1e6 + 0.1])
def test_equal_scores_have_no_variance_at_all(value):
    """Rounding must not leave 1e-33, which would look like a very sure answer."""
    sizes = [3, 7, 4, 11]
    t = totals(np.full(sum(sizes), value), np.repeat(np.arange(4), sizes))
    mo = moments(t)
    for kind in KINDS:
        assert cr_variance(t, mo, kind)[0] == 0
    assert mo.score_variance[0] == 0


def test_small_variances_survive():
    """1e-6 about a large mean is data, not rounding."""
    y = 100 + 1e-6 * np.array([1.0, -1, 2, 0, -2, 0])
    t = totals(y, np.array([0, 0, 1, 1, 2, 2]))
    assert_allclose(np.sqrt(cr_variance(t, moments(t), "cr1")), 1e-6 * np.sqrt(1.5 * 8) / 6, rtol=1e-5)


@pytest.mark.parametrize("mirror", [False, True])
def test_scores_near_an_end_are_rounded_to_it(mirror):
    """The sums of clusters are the numbers of scores above one half, also where most scores are near 1."""
    rng = np.random.default_rng(6)
    g = np.repeat(np.arange(6), 20)
    near = rng.random(len(g)) < 0.15
    y = np.abs(near - 0.1 * rng.random(len(g)))
    y = 1 - y if mirror else y
    t = totals(y, g)
    assert (moments(t).p > 0.5) == mirror
    assert_allclose(rounded_sums(t, moments(t)), np.bincount(g, weights=y > 0.5), atol=1e-9)


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize(
    ("clusters", "passed", "rare"),
    [(10, 4, True), (11, 4, True), (9, 4, False), (13, 5, False), (40, 1, True), (40, 0, False)],
)
def test_an_outcome_is_rare_up_to_a_tenth_of_the_scores_and_in_fewer_than_five_clusters(
    clusters, passed, rare, mirror
):
    """Clusters of four, in ``passed`` of which one score passes: 4 of 40 is a tenth."""
    s = (np.arange(clusters) < passed).astype(float)
    t = ClusterTotals.from_sums(4 - s if mirror else s, np.full(clusters, 4))
    found, holding = rare_outcomes(t, moments(t))
    assert (found[0], holding[0]) == (rare, passed)
