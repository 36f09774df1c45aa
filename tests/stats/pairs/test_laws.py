"""Tango's score statistic and limits against R, a numerical maximum of the likelihood and complete enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as ss
from scipy.optimize import brentq

from evalci_accessor import stats
from evalci_accessor.stats.pairs.laws import tango_limits, tango_z

from ..golden import golden
from ..slow import score_z

CASES = [
    (1, 7, 21), (12, 5, 50), (0, 0, 30), (6, 0, 50), (0, 6, 50), (5, 5, 10), (10, 0, 10), (3, 4, 7), (1, 0, 2), (2, 0, 2),
    (400, 380, 1000), (3, 1, 10**7), (2_000_000, 1_999_000, 10**7), (0, 1, 10**5), (9_999_999, 0, 10**7), (10**6, 0, 10**6),
]  # fmt: skip
DELTAS = np.array([-0.999, -0.6, -0.05, -1e-3, 0, 1e-6, 0.02, 0.3, 0.95])


def limits(b, c, n, outside=0.025):
    low, high = tango_limits(np.array([float(b)]), np.array([float(c)]), float(n), -ss.norm.ppf(outside))
    return float(low[0]), float(high[0])


@pytest.mark.parametrize("case", golden("paired_ci")["cases"])
def test_r(case):
    a, b, c, d = case["abcd"]
    assert_allclose(limits(b, c, a + b + c + d), case["tango"], atol=1e-8)


@pytest.mark.parametrize(("b", "c", "n"), CASES)
def test_statistic_by_numerical_likelihood(b, c, n):
    want = [score_z(b, c, n, delta) for delta in DELTAS]
    assert_allclose(tango_z(b, c, n, DELTAS), want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("outside", [0.25, 0.025, 1e-6])
@pytest.mark.parametrize(("b", "c", "n"), CASES)
def test_limits_by_root_search(b, c, n, outside):
    """The difference at which the statistic with the numerical maximum is the quantile."""
    z, end, estimate = ss.norm.isf(outside), 1 - 1e-12, (b - c) / n

    def root(sign):
        if sign * estimate >= end or sign * score_z(b, c, n, sign * end) > -z:
            return float(sign)
        return brentq(lambda x: score_z(b, c, n, x) + sign * z, estimate, sign * end, xtol=1e-16, rtol=1e-14)

    low, high = limits(b, c, n, outside)
    want = [root(-1), root(1)]
    assert_allclose([low, high], want, rtol=1e-9, atol=1e-9 * (want[1] - want[0]))
    assert -1 <= low <= estimate <= high <= 1


@pytest.mark.parametrize("case", CASES)
def test_exchanged_systems_mirror_the_limits(case):
    b, c, n = case
    low, high = limits(b, c, n)
    assert limits(c, b, n) == (-high, -low)


def test_at_no_difference_it_is_mcnemar():
    b, c = np.array([3.0, 40, 0, 7]), np.array([1.0, 25, 5, 7])
    assert_allclose(tango_z(b, c, 100.0, 0.0), (b - c) / np.sqrt(b + c), rtol=1e-14)
    assert tango_z(0, 0, 10, 0.0) == 0


@given(
    counts=st.tuples(*[st.integers(0, 30)] * 3).filter(lambda x: sum(x) > 0),
    deltas=st.lists(st.floats(-0.999, 0.999), min_size=2, max_size=6).map(sorted),
    factor=st.floats(0.01, 100),
)
def test_monotone_odd_and_scaled_by_the_root(counts, deltas, factor):
    b, c, rest = counts
    n, deltas = b + c + rest, np.array(deltas)
    z = tango_z(b, c, n, deltas)
    assert not np.isnan(z).any()
    assert (np.diff(z) <= 1e-9 * (1 + np.abs(z[1:]))).all()
    assert_allclose(tango_z(c, b, n, -deltas), -z, rtol=1e-8, atol=1e-8)
    scaled = tango_z(factor * b, factor * c, factor * n, deltas)
    assert_allclose(scaled, np.sqrt(factor) * z, rtol=1e-8, atol=1e-8)


def test_each_pair_has_its_own_critical_value():
    b, c = np.array([5.0, 9, 0, 20]), np.array([2.0, 9, 0, 0])
    z = np.array([0.5, 1, 2, 3])
    together = np.array(tango_limits(b, c, 20.0, z))
    alone = [tango_limits(b[[k]], c[[k]], 20.0, z[k]) for k in range(4)]
    assert_array_equal(together, np.array(alone)[:, :, 0].T)


def test_coverage_by_complete_enumeration():
    """All 286 tables of 10 items, and 55 laws: as often right as promised, on the mean, and never far from it."""
    n = 10
    b, c = np.array([(i, j) for i in range(n + 1) for j in range(n + 1 - i)]).T
    result = stats.diff_ci(b, c, n)
    coverage = []
    for first in np.arange(0.02, 1, 0.1):
        for second in np.arange(0.02, 1 - first, 0.1):
            law = ss.multinomial.pmf(
                np.stack([b, c, n - b - c], axis=1), n, [first, second, 1 - first - second]
            )
            delta = first - second
            coverage.append(law @ ((result.ci_low <= delta + 1e-12) & (delta <= result.ci_high + 1e-12)))
    assert 0.95 < np.mean(coverage) < 0.975
    assert min(coverage) > 0.9
