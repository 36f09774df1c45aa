"""The cluster sign-flip test against all 2**G flips."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats as ss

from evalci_accessor import stats
from evalci_accessor.stats.pairs import tests as sign_flip

ALTERNATIVES = ("two-sided", "less", "greater")


def pvalue(d, alternative="two-sided", **options):
    d = np.asarray(d)
    result = stats.mcnemar(np.maximum(d, 0), np.maximum(-d, 0), np.full(d.shape[-1:], np.abs(d).max() + 1),
                           method="sign_flip", alternative=alternative, **options)  # fmt: skip
    return result.pvalue


def all_flips(d, alternative):
    sums, observed = np.array(list(product([-1, 1], repeat=len(d)))) @ d, np.sum(d)
    reached = {
        "two-sided": np.abs(sums) >= abs(observed),
        "greater": sums >= observed,
        "less": sums <= observed,
    }
    return reached[alternative].mean()


def forced_to_sample(monkeypatch):
    monkeypatch.setattr(sign_flip, "_ENUMERATED", 0)
    monkeypatch.setattr(sign_flip, "_WORK", 0)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("clusters", [2, 3, 5, 8, 12])
def test_enumeration(clusters, alternative):
    rng = np.random.default_rng(clusters)
    d = rng.integers(-4, 6, size=(5, clusters))
    want = [all_flips(one, alternative) for one in d]
    assert_allclose(pvalue(d, alternative), want, rtol=1e-12)


def test_case_pair_09():
    """Discordant items in 2 of 6 passages: the items alone would say .07."""
    b, c = [0, 4, 0, 3, 0, 0], [0, 0, 0, 0, 0, 1]
    result = stats.mcnemar(b, c, [4] * 6, method="sign_flip")
    assert_allclose(result.pvalue, 0.5, rtol=1e-12)
    assert (result.null, result.method, float(result.statistic)) == (
        "exchangeable systems",
        "sign_flip",
        0.25,
    )
    assert_allclose(stats.mcnemar(7, 1).pvalue, 0.070312, atol=5e-7)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("b", "c"), [(4, 1), (40, 25), (300, 351), (700, 300)])
def test_singletons_give_the_exact_mcnemar_test(b, c, alternative):
    d = np.concatenate([np.ones(b), -np.ones(c), np.zeros(7)]).astype(int)
    assert_allclose(pvalue(d, alternative), stats.mcnemar(b, c, alternative=alternative).pvalue, rtol=1e-9)


@pytest.mark.parametrize("clusters", [5, 6])
def test_nothing_is_significant_under_six_clusters(clusters):
    p = pvalue(np.full(clusters, 3))
    assert_allclose(p, 2.0 ** (1 - clusters), rtol=1e-12)
    assert (p <= 0.05) == (clusters == 6)


def test_memory_does_not_grow_with_the_counts():
    d = 500_000 + np.arange(12) * (-1) ** np.arange(12)
    tracemalloc.start()
    p = pvalue(d)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(p, all_flips(d, "two-sided"), rtol=1e-12)
    assert peak < 2**25


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sampled_flips_come_close(alternative, monkeypatch):
    d = np.array([3, 1, -2, 4, 1, 0, -1, 2, 5, -3, 1, 2])
    exact, n = all_flips(d, alternative), 20_000
    forced_to_sample(monkeypatch)
    drawn = pvalue(d, alternative, n_resamples=n, rng=1)
    assert abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / n)
    assert_allclose(drawn * (n + 1), np.round(drawn * (n + 1)), rtol=1e-12)  # the observed flip counts as one


def test_same_seed_same_pvalue(monkeypatch):
    forced_to_sample(monkeypatch)
    d = np.random.default_rng(0).integers(-3, 5, size=30)
    one = pvalue(d, rng=4)
    assert pvalue(d, rng=4) == one
    assert pvalue(d[::-1], rng=4) == one
    assert pvalue(d, rng=np.random.SeedSequence(4)) == one
    assert len({float(pvalue(d, rng=seed, n_resamples=200)) for seed in range(8)}) > 1
    assert pvalue([d, d], rng=4).tolist() == [one, one]


def test_sampled_flips_are_never_certain(monkeypatch):
    forced_to_sample(monkeypatch)
    assert_allclose(pvalue(np.full(60, 2), n_resamples=999, rng=0), 1 / 1000, rtol=1e-12)


def test_many_clusters_are_still_exact():
    """1,000 clusters of uneven differences: no draw, and close to the normal law."""
    d = np.random.default_rng(5).integers(-3, 4, size=1000)
    p = pvalue(d)
    assert p == pvalue(d, rng=1, n_resamples=100)
    # Sums move in steps of 2, so half of a step is cut off.
    assert_allclose(p, 2 * ss.norm.sf((abs(d.sum()) - 1) / np.sqrt((d**2).sum())), rtol=0.01)
