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
from evalci_accessor.stats._plan_design import Parts
from evalci_accessor.stats._validate import FloatArray
from evalci_accessor.stats.moments import bell_mccaffrey_df
from evalci_accessor.stats.paired_posterior import Evidence, pair_posteriors
from evalci_accessor.stats.tango import tango_z

_SEED = 5
_FEW_SIZES, _MANY_SIZES = 1, 24  # between which twice as many draws pay
_HALVINGS = 45  # of the span of all differences
_PROBES = 64


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

    def upward(self, difference: float) -> tuple[float, Goal]:
        """The same with the systems exchanged where only an upper limit is asked for, so that both sides have equal draws."""
        if self.above is not None or self.below is None:
            return difference, self
        return -difference, Goal(above=-self.below, below=None, outside=self.outside)

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
    def draw(cls, size: FloatArray, count: FloatArray, parts: Parts, *, robust: bool) -> Sums:
        """Draws for clusters with these parts of the variance of an item; many for the CR2 variance, which costs little."""
        n, kinds, between, item = float((size * count).sum()), len(size), parts.between, parts.item
        u = _uniforms(kinds, 4096 if robust else 512 if _FEW_SIZES < kinds <= _MANY_SIZES else 256)
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

    def part(self, n_draws: int) -> Sums:
        """The first draws."""
        names = ("first", "second", "within", "estimate")
        return dataclasses.replace(self, **{name: getattr(self, name)[:n_draws] for name in names})

    def residuals(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums of the residuals, and of their squares, where the estimate lies x above the truth; shape (R, C)."""
        shift = self.slope * x[:, None]
        return self.first + self.count * shift, self.second + 2 * shift * self.first + self.count * shift**2

    def robust_variance(self, x: FloatArray) -> FloatArray:
        """The CR2 variance where the estimate lies x above the truth."""
        h = self.size / self.n
        return np.asarray((self.residuals(x)[1] * (h**2 / (1 - h))).sum(axis=1))


@functools.lru_cache(maxsize=32)
def _uniforms(kinds: int, n_draws: int) -> FloatArray:
    """Points that fill the unit cube evenly, for so many distinct sizes, shape (n_draws, 2 kinds + 1)."""
    from scipy.stats import qmc  # noqa: TID251

    sobol = qmc.Sobol(2 * kinds + 1, scramble=True, rng=np.random.default_rng(_SEED))
    points = sobol.random(n_draws)
    points = np.clip(points, 1e-12, 1 - 1e-12)
    points.setflags(write=False)
    return np.asarray(points)


def robust_quantile(sums: Sums, outside: float) -> float:
    """The t quantile that goes with the CR2 variance."""
    share = np.repeat(sums.size / sums.n, sums.count.astype(np.int64))
    return float(-special.stdtrit(bell_mccaffrey_df(share), outside))


def robust_power(sums: Sums, difference: float, goal: Goal) -> float:
    """Power of the t test on the CR2 variance."""
    difference, goal = goal.upward(difference)
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


def score_power(sums: Sums, difference: float, goal: Goal) -> float:
    """Power of Tango's score test averaged over the posterior of the ICC; of Tango's own with single items."""
    difference, goal = goal.upward(difference)
    low, high = np.full(len(sums.within), -np.inf), np.full(len(sums.within), np.inf)
    if goal.above is not None:
        low = _threshold(sums, difference, goal.above, goal.outside, 1.0)
    if goal.below is not None:
        high = _threshold(sums, difference, goal.below, goal.outside, -1.0)
    return _probability(low, high, sums.variance)


def _threshold(sums: Sums, difference: float, null: float, outside: float, side: float) -> FloatArray:
    """How far above the truth the estimate must lie (``side`` 1), or may at most lie (-1), for the test to reject."""
    if len(sums.size) > 1:
        # The critical value goes with the estimate by way of unequal sizes: a few draws tell where about it must be.
        few = sums.part(_PROBES)
        found = _solved(few, _critical(few, np.zeros(_PROBES), outside), difference, null, side)
        about = float(np.median(np.clip(found, -1 - difference, 1 - difference)))
    else:
        about = 0.0
    critical = _critical(sums, np.full(len(sums.within), about), outside)
    return _solved(sums, critical, difference, null, side)


def _solved(sums: Sums, critical: FloatArray, difference: float, null: float, side: float) -> FloatArray:
    """Where the score statistic passes the critical value, as a distance from the true difference."""
    n = sums.n
    # The sum of squares about the mean, a quadratic of x.
    v0 = (sums.second * sums.size).sum(axis=1) + sums.within
    v1 = 2 * (sums.first * sums.size * sums.slope).sum(axis=1)
    v2 = (sums.count * sums.size * sums.slope**2).sum()
    low, high = np.full(len(v0), -1.0), np.full(len(v0), 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        x = middle - difference
        square = np.maximum((v0 + v1 * x + v2 * x**2) / n + middle**2, np.abs(middle))
        z = tango_z((square + middle) / 2 * n, (square - middle) / 2 * n, n, null)
        short = side * z <= critical
        moves_low = short if side > 0 else ~short
        low, high = np.where(moves_low, middle, low), np.where(moves_low, high, middle)
    edge = (low + high) / 2
    # At the end of the span nothing is ever shown.
    return np.where(np.abs(edge) > 1 - 1e-9, side * np.inf, edge - difference)


def _critical(sums: Sums, x: FloatArray, outside: float) -> FloatArray:
    """Score statistic that it takes where the estimate lies x above the truth."""
    df = np.full(len(x), score_df(float(sums.count.sum())))
    if sums.n == sums.count.sum():  # single items, which tell nothing of an ICC
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
