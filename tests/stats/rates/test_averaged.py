"""Fractional scores that crowd at one end: their small spread says nothing of how often the far end occurs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from evalci_accessor.stats import ClusterTotals
from evalci_accessor.stats.rates.clustered import rate
from evalci_accessor.stats.rates.design import diagnose
from evalci_accessor.stats.rates.moments import moments


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
