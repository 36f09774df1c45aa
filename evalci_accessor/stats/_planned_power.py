r"""Power of the paired difference of a design that does not exist yet: the engine.

Cluster means of the item differences are taken as normal. Given sizes :math:`m_g`, of which each value occurs many times, the test
sees the data only through a few sums: of the means, of their squares, by size, and the sum of squares within the clusters. These
sums are drawn (quasi-random, always the same ones), the real posterior and the real critical value are found for each draw, and
the probability that the estimate lies beyond is a normal probability. So the answer has no noise, is smooth in the difference, and
does not cost more for more clusters.

With unequal sizes the residuals :math:`e_g = \bar d_g - \hat\delta` go with the estimate. Since
:math:`\mathrm{cov}(e_g, \hat\delta) = h_g v_g - V`, they are :math:`e_g = u_g + \beta_g x` with :math:`x = \hat\delta - \delta`,
:math:`\beta_g = h_g v_g / V - 1` and :math:`u_g` independent of the estimate. Here :math:`h_g` is the share of the items,
:math:`v_g` the variance of a cluster mean, :math:`V = \sum h_g^2 v_g` that of the estimate.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from evalci_accessor.stats import _special as special
from evalci_accessor.stats._paired_laws import averaged_critical, score_df
from evalci_accessor.stats._validate import FloatArray
from evalci_accessor.stats.moments import bell_mccaffrey_df
from evalci_accessor.stats.paired_posterior import Evidence, pair_posteriors
from evalci_accessor.stats.tango import tango_z

_N_DRAWS = 512
_SEED = 5
_HALVINGS = 45  # of the span of all differences


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Goal:
    """What has to be shown, as limits of the estimate's test.

    Parameters
    ----------
    above, below : float or None
        The difference must be shown to be greater than ``above``, and less than ``below``.
    outside : float
        Probability that each of these tests may err with.
    """

    above: float | None
    below: float | None
    outside: float

    def holds(self, difference: float) -> float:
        """Power without any error: 1 or 0, and the level itself at the edge."""
        gaps = [g for g in (_gap(difference, self.above), _gap(self.below, difference)) if g is not None]
        return 1.0 if min(gaps) > 0 else 0.0 if min(gaps) < 0 else self.outside


def _gap(high: float | None, low: float | None) -> float | None:
    return None if high is None or low is None else high - low


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Draws of what a test sees of a design, apart from the estimate.

    Parameters
    ----------
    size, count : ndarray, shape (C,)
        Distinct sizes, and the clusters of each.
    slope : ndarray, shape (C,)
        By how much a mean of that size goes with the estimate, beyond the estimate itself.
    first, second : ndarray, shape (R, C)
        Sums of u and of its squares.
    within : ndarray, shape (R,)
        Sum of squares within the clusters.
    variance : float
        Variance of the estimate.
    estimate : ndarray, shape (R,)
        Draws of how far the estimate lies above the truth, independent of the others.
    """

    size: FloatArray
    count: FloatArray
    slope: FloatArray
    first: FloatArray
    second: FloatArray
    within: FloatArray
    variance: float
    estimate: FloatArray

    @classmethod
    def draw(cls, size: FloatArray, count: FloatArray, between: float, item: float) -> Sums:
        """Draws for clusters with these variances between them and, of one item, within them."""
        n, kinds = float((size * count).sum()), len(size)
        u = _uniforms(2 * kinds + 1)
        mean = between + item / size  # variance of a cluster mean
        share = size / n
        variance = float((count * share**2 * mean).sum())
        slope = share * mean / variance - 1
        # Sum of the means of a size, and of their squares about it.
        total = special.ndtri(u[:, :kinds]) * np.sqrt(count * mean)
        spread = np.where(count > 1, 2 * special.gammaincinv(np.maximum((count - 1) / 2, 0.5), u[:, kinds:-1]), 0.0) * mean
        square = spread + total**2 / count
        x = (total * share).sum(axis=1, keepdims=True)
        lift = (1 + slope) * x
        free = n - float(count.sum())
        within = item * 2 * special.gammaincinv(free / 2, u[:, -1]) if free > 0 else np.zeros(len(u))
        return cls(
            size=size, count=count, slope=slope, first=total - count * lift,
            second=np.maximum(square - 2 * lift * total + count * lift**2, 0.0), within=within, variance=variance,
            estimate=x[:, 0],
        )  # fmt: skip

    @property
    def n(self) -> float:
        """Items."""
        return float((self.size * self.count).sum())

    def residuals(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums of the residuals, and of their squares, where the estimate lies x above the truth; shape (R, C)."""
        shift = self.slope * x[:, None]
        return self.first + self.count * shift, self.second + 2 * shift * self.first + self.count * shift**2

    def robust_variance(self, x: FloatArray) -> FloatArray:
        """The CR2 variance where the estimate lies x above the truth."""
        h = self.size / self.n
        return np.asarray((self.residuals(x)[1] * (h**2 / (1 - h))).sum(axis=1))


@functools.lru_cache(maxsize=32)
def _uniforms(columns: int) -> FloatArray:
    """Points that fill the unit cube evenly, shape (R, columns)."""
    from scipy.stats import qmc  # noqa: TID251

    points = qmc.Sobol(columns, scramble=True, rng=np.random.default_rng(_SEED)).random(_N_DRAWS)
    points = np.clip(points, 1e-12, 1 - 1e-12)
    points.setflags(write=False)
    return np.asarray(points)


def robust_quantile(sums: Sums, outside: float) -> float:
    """The t quantile that goes with the CR2 variance."""
    share = np.repeat(sums.size / sums.n, sums.count.astype(np.int64))
    return float(-special.stdtrit(bell_mccaffrey_df(share), outside))


def robust_power(sums: Sums, difference: float, goal: Goal) -> float:
    """Power of the t test on the CR2 variance."""
    h = sums.size / sums.n
    weight = h**2 / (1 - h) * robust_quantile(sums, goal.outside) ** 2
    # The variance times the quantile squared, as a quadratic of x.
    square = np.array([(weight * sums.count * sums.slope**2).sum()])
    linear, constant = 2 * (sums.first * weight * sums.slope).sum(axis=1), (sums.second * weight).sum(axis=1)
    low, high = np.full(len(sums.within), -np.inf), np.full(len(sums.within), np.inf)
    if goal.above is not None:
        low, high = _beyond(difference - goal.above, square, linear, constant)
    if goal.below is not None:
        other = _beyond(goal.below - difference, square, -linear, constant)
        low, high = np.maximum(low, -other[1]), np.minimum(high, -other[0])
    return _probability(low, high, sums.variance)


def _beyond(distance: float, square: FloatArray, linear: FloatArray, constant: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits of the x with x + distance > sqrt(square x**2 + linear x + constant); equal ones where there is none."""
    a, b, c = 1 - square, 2 * distance - linear, distance**2 - constant
    a = np.where(np.abs(a) < 1e-12, 1e-12, a)
    disc = b**2 - 4 * a * c
    with np.errstate(invalid="ignore"):
        root = np.sqrt(disc)
    r1, r2 = (
        np.minimum((-b - root) / (2 * a), (-b + root) / (2 * a)),
        np.maximum((-b - root) / (2 * a), (-b + root) / (2 * a)),
    )
    # At x = -distance the quadratic is not above 0, so a positive leading term leaves the part beyond the larger root.
    inside = (a < 0) & (disc > 0) & (r1 >= -distance)
    low = np.where(a > 0, r2, np.where(inside, r1, 0.0))
    high = np.where(a > 0, np.inf, np.where(inside, r2, 0.0))
    return low, high


def score_power(sums: Sums, difference: float, goal: Goal, *, passes: int = 2) -> float:
    """Power of Tango's score test averaged over the posterior of the ICC; of Tango's own with single items."""
    low, high = np.full(len(sums.within), -np.inf), np.full(len(sums.within), np.inf)
    if goal.above is not None:
        low = _threshold(sums, difference, goal.above, goal.outside, 1.0, passes)
    if goal.below is not None:
        high = _threshold(sums, difference, goal.below, goal.outside, -1.0, passes)
    return _probability(low, high, sums.variance)


def _threshold(sums: Sums, difference: float, null: float, outside: float, side: float, passes: int) -> FloatArray:
    """How far above the truth the estimate must lie (``side`` 1), or may at most lie (-1), for the test to reject."""
    n, clusters = sums.n, float(sums.count.sum())
    x = np.zeros(len(sums.within))
    df = np.full(len(x), score_df(clusters))
    alone = n == clusters
    equal = len(sums.size) == 1
    for _ in range(1 if alone or equal else passes):
        critical = _critical(sums, x, outside, df, alone=alone)
        # The sum of squares about the mean, a quadratic of x.
        v0 = (sums.second * sums.size).sum(axis=1) + sums.within
        v1 = 2 * (sums.first * sums.size * sums.slope).sum(axis=1)
        v2 = (sums.count * sums.size * sums.slope**2).sum()
        low, high = np.full(len(x), -1.0), np.full(len(x), 1.0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            off = middle - difference
            square = np.maximum((v0 + v1 * off + v2 * off**2) / n + middle**2, np.abs(middle))
            z = tango_z((square + middle) / 2 * n, (square - middle) / 2 * n, n, null)
            beyond = side * z > critical
            if side > 0:
                low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
            else:
                low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
        edge = (low + high) / 2
        x = edge - difference
    # At the end of the span nothing is ever shown.
    return np.where(np.abs(edge) > 1 - 1e-9, side * np.inf, x)


def _critical(sums: Sums, x: FloatArray, outside: float, df: FloatArray, *, alone: bool) -> FloatArray:
    if alone:
        one = np.ones((len(x), 1))
        return averaged_critical(one, one, df, outside)
    first, second = sums.residuals(x)
    n, shape = sums.n, sums.first.shape
    effective = n**2 / (sums.size**2 * sums.count).sum()
    evidence = Evidence(
        size=np.broadcast_to(sums.size, shape), count=np.broadcast_to(sums.count, shape), first=first, second=second,
        within=sums.within, n=np.full(len(x), n), growth=np.full(len(x), n / effective - 1), independent=False,
    )  # fmt: skip
    posterior = pair_posteriors([evidence])[0]
    return averaged_critical(posterior.share, posterior.weight, df, outside)


def _probability(low: FloatArray, high: FloatArray, variance: float) -> float:
    error = np.sqrt(variance)
    return float(np.maximum(special.ndtr(high / error) - special.ndtr(low / error), 0.0).mean())
