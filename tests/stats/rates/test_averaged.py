"""Fractional scores that crowd at one end: their small spread says nothing of how often the far end occurs."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats as ss

from evalci_accessor.stats import ClusterTotals
from evalci_accessor.stats.rates.averaged import AveragedPosterior, averaged_posterior, icc_averaged
from evalci_accessor.stats.rates.clustered import rate
from evalci_accessor.stats.rates.design import diagnose
from evalci_accessor.stats.rates.moments import Check, moments


def totals(scores, codes, weights=None):
    binary = bool(np.isin(scores, (0, 1)).all())
    return ClusterTotals.from_rows(
        scores, codes, n_clusters=codes.max() + 1, bounded=True, binary=binary, weights=weights
    )  # fmt: skip


@pytest.mark.parametrize("hits", [0, 1, 2])
@pytest.mark.parametrize("mirror", [False, True])
def test_noise_that_vanishes_gives_the_interval_of_0_and_1(hits, mirror):
    rng = np.random.default_rng(11)
    codes = np.repeat(np.arange(30), 6)
    sharp = (codes < hits).astype(float)
    noise = rng.random(len(codes)) * 1e-7
    blurred = np.where(sharp == 1, 1 - noise, noise)
    if mirror:
        sharp, blurred = 1 - sharp, 1 - blurred
    expected, result = rate(totals(sharp, codes)), rate(totals(blurred, codes))
    assert_allclose([result.ci_low, result.ci_high], [expected.ci_low, expected.ci_high], atol=1e-5)
    if hits:
        t = totals(blurred, codes)
        assert diagnose(t, moments(t), rate(t)).rare.all()


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.001, 0.02, 0.1])
@pytest.mark.parametrize("share", [0.01, 0.03])
def test_covers_where_whole_clusters_are_rarely_at_the_far_end(noise, share):
    """300 draws: a coverage of .95 falls below .91 once in a thousand times; without the rule it was .27 to .73."""
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(40), 5)
    truth = share * (1 - noise / 2) + (1 - share) * noise / 2
    hits = 0
    for _ in range(300):
        blur = rng.random(200) * noise
        scores = np.where((rng.random(40) < share)[codes], 1 - blur, blur)
        result = rate(totals(scores, codes))
        hits += bool(result.ci_low <= truth <= result.ci_high)
    assert hits / 300 > 0.93


def test_n_eff_is_never_below_the_effective_clusters():
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(10), 5)
    result = rate(totals(0.4 + rng.random(50) * 1e-3, codes))
    assert result.n_eff >= 10 * (1 - 1e-9)


def test_a_row_of_weight_zero_is_no_row():
    codes, scores = np.repeat(np.arange(8), 5), np.tile([1.0, 0, 1, 1, 0], 8)
    scores[::7] = 1 - scores[::7]
    weights = np.ones(40)
    weights[::5] = 0
    kept = weights > 0
    expected, result = rate(totals(scores[kept], codes[kept])), rate(totals(scores, codes, weights))
    assert_allclose([result.ci_low, result.ci_high], [expected.ci_low, expected.ci_high], rtol=1e-12)


def test_guard_with_few_degrees_of_freedom():
    """One cluster of 46 % far from all others: CR2 says what the ICC's posterior cannot, and its own law rules out chance."""
    sizes = np.array([230, *[6] * 45])
    passes = np.array([230, *[2, 3] * 22, 3])
    result = rate(ClusterTotals.from_sums(passes, sizes))
    assert result.guard
    calm = rate(ClusterTotals.from_sums(np.array([115, *[3] * 45]) + np.arange(46) % 2, sizes))
    assert not calm.guard


@pytest.mark.parametrize("df", [2.0, 5.0, 7.99, 8.0, 20.0])
def test_guard_fires_beyond_what_the_law_of_the_variance_allows(df):
    """Under eight degrees of freedom beyond the upper 2 % point of chi-square over its df, from there on beyond 1.3."""
    t = ClusterTotals.from_sums([3, 2, 4, 1], [5, 5, 5, 5])
    mo = moments(t)
    post = averaged_posterior(t, mo)
    least = max(ss.chi2.ppf(0.98, df) / df, 1.3) if df < 8 else 1.3
    for times, fires in ((least * (1 - 1e-6), False), (least * (1 + 1e-6), True)):
        check = Check(variance=times * mo.p * (1 - mo.p) / 12, df=np.array([df]), n_eff=np.array([12.0]))
        spread = SimpleNamespace(checks=lambda n_eff, check=check: [check])
        assert np.isfinite(icc_averaged(mo, spread, np.array([0.025]), post)[2]) == [fires]


@pytest.mark.parametrize(("variance", "n"), [(1e-5, 40.0), (0.02, None)])
def test_guard_counts_no_more_rows_than_there_are(variance, n):
    """Clopper and Pearson's limits at Korn and Graubard's n, at most the quasi-counts, here two a score."""
    t = ClusterTotals.from_sums([3, 2, 4, 2], [5, 5, 5, 5])
    mo, one = moments(t), np.ones((1, 1))
    post = AveragedPosterior(
        single=(None,),
        rho=0 * one,
        weight=one,
        inflation=2 * one[0],
        n_k=1e9 * one,
        effective_size=5 * one[0],
    )
    check = Check(variance=np.array([variance]), df=np.array([10.0]), n_eff=np.array([1e9]))
    low, high, of_cr2, df = icc_averaged(
        mo, SimpleNamespace(checks=lambda n_eff: [check]), np.array([0.025]), post
    )
    p = 11 / 20
    n = n or p * (1 - p) / variance * (ss.norm.ppf(0.025) / ss.t.ppf(0.025, 10)) ** 2
    assert (of_cr2, df) == (variance, 10)
    assert_allclose(low, ss.beta.ppf(0.025, p * n, (1 - p) * n + 1), rtol=1e-10)
    assert_allclose(high, ss.beta.ppf(0.975, p * n + 1, (1 - p) * n), rtol=1e-10)


def test_weighted_rows_count_as_kish_has_it():
    rng = np.random.default_rng(4)
    codes, y, w = np.repeat(np.arange(8), 5), (rng.random(40) < 0.6).astype(float), rng.lognormal(size=40)
    t = totals(y, codes, w)
    post = averaged_posterior(t, moments(t))
    rows = w.sum() ** 2 / (w**2).sum()
    clusters = w.sum() ** 2 / (np.bincount(codes, weights=w) ** 2).sum()
    assert rows < 30
    assert_allclose(post.n_k, rows / (1 + (rows / clusters - 1) * post.rho), rtol=1e-12)
