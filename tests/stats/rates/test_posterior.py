"""The ICC's posterior against adaptive quadrature, and its fast rules against the careful one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats as ss

from evalci_accessor import stats
from evalci_accessor.stats.rates import posterior
from evalci_accessor.stats.rates.averaged import averaged_posterior, icc_averaged
from evalci_accessor.stats.rates.moments import OneWay, moments

from .. import slow
from ..golden import counts, golden, totals

REFERENCE = golden("icp_reference")["data"]
# Everything passes or fails: the 120-point midpoint rule behind the golden values is off at the end of the range.
EDGE = ("allpass4x5", "allpass12swe", "allfail20x5")
NEAR_EDGE = "E"  # 23 of 24 pass: the same error, four orders smaller
WITH_MARGINALS = [name for name in REFERENCE if name != "singletons"]
RHO = np.array([1e-6, 1e-3, 0.05, 0.3, 0.8, 0.999])


@pytest.mark.parametrize("name", WITH_MARGINALS)
def test_golden_log_marginals(name):
    want = REFERENCE[name]
    s, m = counts(name, "icp_reference")
    rho = np.array(want["rho_check"])
    tolerance = {"atol": 7e-3} if name in EDGE else {"atol": 1e-6} if name == NEAR_EDGE else {"rtol": 1e-9}
    assert_allclose(posterior.log_marginal(s, m, rho), want["log_marginal_bb"], **tolerance)
    assert_allclose(
        posterior.log_marginal(s, m, rho, shape="all_or_nothing"), want["log_marginal_mix"], **tolerance
    )


@pytest.mark.parametrize("shape", ["smooth", "all_or_nothing", "both"])
@pytest.mark.parametrize("name", WITH_MARGINALS)
def test_log_marginals_by_adaptive_quadrature(name, shape):
    s, m = counts(name, "icp_reference")
    assert_allclose(
        posterior.log_marginal(s, m, RHO, shape=shape), slow.log_marginal(s, m, RHO, shape), rtol=1e-9
    )


def test_log_marginal_of_quasi_counts():
    rng = np.random.default_rng(5)
    m = 2.7 * rng.integers(1, 12, size=15)
    s = m * rng.beta(2, 3, size=15)
    assert_allclose(posterior.log_marginal(s, m, RHO[1:]), slow.log_marginal(s, m, RHO[1:]), rtol=1e-8)


def test_log_marginal_in_closed_form():
    """Whole passes of one cluster: the smooth integral is that of a Polya urn, prod (p + j r)/(1 + j r)."""
    rho = np.array([0.1, 0.5])
    r = rho / (1 - rho)
    want = np.log((1 / 3 + r / 2) / (1 + r))  # int p (p + r) dp / (1 + r)
    assert_allclose(posterior.log_marginal(np.array([2.0]), np.array([2.0]), rho), want, rtol=1e-12)
    mixture = np.log((1 - rho) / 3 + rho / 2)  # int (1 - rho) p^2 + rho p dp
    got = posterior.log_marginal(np.array([2.0]), np.array([2.0]), rho, shape="all_or_nothing")
    assert_allclose(got, mixture, rtol=1e-12)


@pytest.mark.parametrize("name", [*EDGE, "A", "D", "G2"])
def test_limits_by_adaptive_quadrature(name):
    s, m = counts(name, "icp_reference")
    low, high, n_eff, icc = slow.averaged(s, m, n_nodes=256)
    result = stats.cluster_ci(s, m)
    assert_allclose([result.ci_low, result.ci_high], [low, high], atol=1e-9)
    assert_allclose([result.n_eff, result.icc], [n_eff, icc], rtol=1e-8)


@pytest.mark.parametrize("name", REFERENCE)
def test_posterior_mean_and_n_eff(name):
    s, m = counts(name, "icp_reference")
    tolerance = 2e-3 if name in EDGE else 1e-6 if name == NEAR_EDGE else 1e-8
    want = REFERENCE[name]["lam_0_5"]
    assert_allclose(posterior.icc_posterior(s, m).mean, want["icc_post_mean"], rtol=tolerance)
    if name != "G1":
        assert_allclose(stats.cluster_ci(s, m).n_eff, want["n_eff"], rtol=tolerance)


def limits_with(t, n_nodes):
    mo = moments(t)
    low, high, *_ = icc_averaged(mo, OneWay(t, mo), 0.025, averaged_posterior(t, mo, n_nodes=n_nodes))
    return np.array([low[0], high[0]])


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("clusters", [10, 1_000, 100_000])
def test_doubling_the_nodes_moves_nothing(clusters, binary):
    rng = np.random.default_rng(clusters)
    m = rng.integers(2, 12, size=clusters)
    p = rng.beta(1.4, 0.6, size=clusters)
    if binary:
        t = stats.ClusterTotals.from_sums(rng.binomial(m, p), m)
    else:
        g = np.repeat(np.arange(clusters), m)
        t = totals(np.clip(p[g] + 0.2 * rng.normal(size=len(g)), 0, 1), g)
    assert bool(t.binary[0]) == binary
    once, twice = limits_with(t, posterior.N_NODES), limits_with(t, 2 * posterior.N_NODES)
    assert np.abs(once - twice).max() < 1e-4 * (once[1] - once[0])


@pytest.mark.parametrize("icc", [0.0, 0.05, 0.3, 0.9])
@pytest.mark.parametrize("clusters", [400, 3_000])
def test_narrow_posteriors_against_many_fixed_nodes(clusters, icc):
    """Where 64 fixed nodes miss the posterior, 1,024 do not."""
    rng = np.random.default_rng(clusters)
    m = np.full(clusters, 5.0)
    p = (
        np.full(clusters, 0.7)
        if icc == 0
        else rng.beta(0.7 * (1 / icc - 1), 0.3 * (1 / icc - 1), size=clusters)
    )
    s = rng.binomial(5, p).astype(float)
    low, high, *_ = slow.averaged(s, m, n_nodes=1024)
    result = stats.cluster_ci(s, m)
    assert not result.guard
    assert_allclose([result.ci_low, result.ci_high], [low, high], atol=1e-4 * (high - low))


def many_pairs(kind):
    rng = np.random.default_rng(8)
    if kind == "binary":
        m = rng.integers(20, 400, size=800).astype(float)
        return rng.binomial(m.astype(int), rng.beta(4, 2, size=800)).astype(float), m, True
    m = np.full(800, 7.0) if kind == "equal sizes" else rng.integers(2, 30, size=800).astype(float)
    return m * np.clip(rng.beta(4, 2, size=800), 0.01, 0.99), m, False


def limits_of(rule, s, m, mixture, monkeypatch):
    """Limits under a rule that the costs are made to choose."""
    dense, laplace, subset = {
        "dense": (np.inf, np.inf, 10**9),
        "hermite": (0, np.inf, 10**9),
        "laplace": (0, 0, 10**9),
        "collapse": (np.inf, np.inf, 100),
    }[rule]
    with monkeypatch.context() as patch:
        patch.setattr(posterior, "_DENSE_NS", dense)
        patch.setattr(posterior, "_LAPLACE_NS", laplace)
        patch.setattr(posterior, "_SUBSET", subset)
        one = posterior.icc_posterior(s, m, mixture=mixture)
    return np.array(slow.limits(s, m, one.rho, one.weight)[:2]), one.mean


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("binary", "hermite"),
        ("binary", "laplace"),
        ("sizes", "hermite"),
        ("sizes", "laplace"),
        ("equal sizes", "collapse"),
    ],
)
def test_fast_rules(kind, rule, monkeypatch):
    s, m, mixture = many_pairs(kind)
    careful, icc = limits_of("dense", s, m, mixture, monkeypatch)
    fast, fast_icc = limits_of(rule, s, m, mixture, monkeypatch)
    assert np.abs(fast - careful).max() < 1e-3 * (careful[1] - careful[0])
    assert abs(fast_icc - icc) < 1e-3


@pytest.mark.parametrize("hits", ["none", "all", "one", "one cluster"])
def test_sparse_rule_at_the_end_of_the_range(hits, monkeypatch):
    """The peak sits at an end, where Gauss-Hermite would be wrong; such nodes go to the careful rule."""
    m = np.arange(100.0, 160)
    s = {"none": 0 * m, "all": m, "one": (m == 159) * 1.0, "one cluster": (m == 159) * m}[hits]
    careful, _ = limits_of("dense", s, m, True, monkeypatch)
    fast, _ = limits_of("hermite", s, m, True, monkeypatch)
    assert np.abs(fast - careful).max() < 1e-3 * (careful[1] - careful[0])


@pytest.mark.parametrize("scores", [{-1: 0.9}, {0: 0.5, -1: 0.5}, {0: 0.7, 1: 1.9, -1: 0.4}])
@pytest.mark.parametrize(("smallest", "clusters"), [(5, 60), (200, 40), (30, 120)])
def test_rare_fractions(smallest, clusters, scores, monkeypatch):
    """Hardly anything passed: the likelihood in p is no bell, which the fast rules take it for."""
    m, s = np.arange(smallest, smallest + clusters).astype(float), np.zeros(clusters)
    for at, value in scores.items():
        s[at] = value
    t = stats.ClusterTotals.from_sums(s, m, 0.8 * s)
    fast = limits_with(t, posterior.N_NODES)
    monkeypatch.setattr(posterior, "_DENSE_NS", np.inf)
    careful = limits_with(t, 4 * posterior.N_NODES)
    assert np.abs(fast - careful).max() < 1e-3 * (careful[1] - careful[0])


PEAKED = {  # hardly any clustering in big clusters: a sharp peak at ICC 0 with a long tail
    "independent, 12 x 3000": lambda m, rng: (rng.binomial(m, 0.3), None),
    "independent, 40 x 200": lambda m, rng: (rng.binomial(m, 0.3), None),
    "half of each, 12 x 3000": lambda m, rng: (m // 2, None),
    "one of each, 40 x 200": lambda m, rng: (m // m, None),
    "some fractions, 40 x 200": lambda m, rng: (
        0.3 * (np.arange(len(m)) % 5 == 0),
        0.09 * (np.arange(len(m)) % 5 == 0),
    ),
    "same mean, 12 x 3000": lambda m, rng: (0.5 * m, 0.3 * m),
}


@pytest.mark.parametrize("name", PEAKED)
def test_peaked_posteriors_have_nodes_enough(name):
    clusters, size = (int(x) for x in name.split(", ")[1].split(" x "))
    m = np.arange(size, size + clusters)
    s, squares = PEAKED[name](m, np.random.default_rng(0))
    t = stats.ClusterTotals.from_sums(s, m, squares)
    once, many = limits_with(t, posterior.N_NODES), limits_with(t, 16 * posterior.N_NODES)
    assert np.abs(once - many).max() < 1e-4 * (many[1] - many[0])


def test_collapse_keeps_the_likelihood():
    s, m, _ = many_pairs("equal sizes")
    pairs = posterior.Pairs(*posterior.distinct_pairs(s, m))
    small = pairs.collapse()
    assert len(small.s) < len(pairs.s) / 2
    assert_allclose(
        [small.count.sum(), small.count @ small.s], [pairs.count.sum(), pairs.count @ pairs.s], rtol=1e-6
    )
    rho = np.array([0.05, 0.1, 0.2])
    value = [slow.smooth_loglik(x.s, x.m, x.count, rho, 0.65) for x in (pairs, small)]
    assert_allclose(*(np.diff(v) for v in value), atol=0.02)


@pytest.mark.parametrize("name", ["A", "B", "D", "allfail20x5"])
def test_quantiles(name):
    """Against the posterior on 1,024 nodes."""
    s, m = counts(name, "icp_reference")
    rho = slow.arcsine_nodes(1024)
    cdf = np.cumsum(slow.posterior(s, m, rho))
    probability = np.array([0.025, 0.25, 0.5, 0.75, 0.975])
    want = np.arcsin(np.sqrt(np.interp(probability, cdf, rho)))
    got = np.arcsin(np.sqrt(posterior.icc_posterior(s, m).quantile(probability)))
    assert_allclose(got, want, atol=2e-3)


def test_singletons_give_the_prior_and_clopper_pearson():
    s, m = counts("singletons", "icp_reference")
    one = posterior.icc_posterior(s, m)
    probability = np.linspace(0.01, 0.99, 25)
    assert_allclose(one.quantile(probability), ss.beta.ppf(probability, 0.5, 0.5), atol=1e-12)
    result = stats.cluster_ci(s, m)
    exact = ss.binomtest(37, 50).proportion_ci(method="exact")
    assert_allclose([result.ci_low, result.ci_high], exact, atol=1e-11)
    assert_allclose([result.n_eff, result.design_effect], [50, 1], rtol=1e-12)


def test_weights_add_up_and_nodes_ascend():
    for name in REFERENCE:
        one = posterior.icc_posterior(*counts(name, "icp_reference"))
        assert_allclose(one.weight.sum(), 1, rtol=1e-12)
        assert (np.diff(one.rho) > 0).all()
        assert ((one.rho > 0) & (one.rho < 1)).all()


@pytest.mark.parametrize("whole", [True, False])
def test_distinct_pairs(whole):
    rng = np.random.default_rng(1)
    m = rng.integers(1, 6, size=500).astype(float)
    s = np.floor(rng.random(500) * (m + 1))
    if not whole:
        s, m = s / 3, m / 3
    values, sizes, count = posterior.distinct_pairs(s, m)
    want, times = np.unique(np.stack([m, s]), axis=1, return_counts=True)
    assert_allclose([sizes, values], want)
    assert (count == times).all()


@pytest.mark.parametrize("sizes", [(1e5, 1e5), (3000.0,) * 12, (100.0,) * 3])
def test_more_nodes_are_never_worse(sizes):
    """A spike at an ICC of 0 beside a plateau: twice the nodes must look as closely as the default does."""
    m = np.array(sizes)
    s = np.round(m / 2) + np.arange(len(m))
    limits = [
        slow.limits(s, m, one.rho, one.weight)[:2]
        for one in (posterior.icc_posterior(s, m, n_nodes=n) for n in (64, 128))
    ]
    assert_allclose(limits[1], limits[0], atol=1e-7 * (limits[0][1] - limits[0][0]))
