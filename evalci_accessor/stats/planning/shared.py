"""What all planning functions share: the design, cluster sizes, the variance of an estimate, and the power of a difference."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from evalci_accessor.exceptions import ClusterError, EvalCIError, MethodError
from evalci_accessor.stats import progress, special
from evalci_accessor.stats.pairs.laws import averaged_critical, score_df, tango_z
from evalci_accessor.stats.pairs.posterior import Evidence, pair_posteriors
from evalci_accessor.stats.rates.moments import bell_mccaffrey_df
from evalci_accessor.stats.validate import FloatArray, as_float, refuse

Columns: TypeAlias = "dict[str, FloatArray]"  # what may be an array, by name
Point: TypeAlias = "dict[str, float]"  # one entry of each of these
T = TypeVar("T")
Found = TypeVar("Found")
MOST_CLUSTERS = 1_000_000
_LARGEST = 1e9  # items in a cluster: more do nothing, and sums of them must stay whole numbers
_MOST_ITEMS = 1e7
_FAR = 64.0  # times the number at hand that a guess may go
_UNBOUNDED = 1e-3  # what is left of the items' variance where there are so many that it no longer counts


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Pattern:
    """Sizes of clusters whatever their number."""

    # (K,): sizes in ascending order; those of G clusters are the means of G equal parts of this step function, rounded so
    # that the sums from the left are rounded. So K clusters have just these sizes, and any number has their mean.
    sizes: FloatArray

    @classmethod
    def of(cls, items_per_cluster: object) -> Pattern:
        """The pattern after the checks."""
        sizes = np.sort(np.atleast_1d(as_float(items_per_cluster, "items_per_cluster")))
        if sizes.ndim != 1 or not sizes.size:
            raise ClusterError(
                f"`items_per_cluster` must be a number, or a list of sizes as a pattern; got shape {sizes.shape}. A grid of "
                "several numbers takes a call for each."
            )
        text, left_out = "`items_per_cluster` must be at least 1", " Leave empty clusters out."
        refuse(sizes[sizes < 1], sizes.size, text, "are less", ClusterError, left_out)
        if sizes[-1] > _LARGEST:
            raise ClusterError(
                f"`items_per_cluster` must be at most {_LARGEST:,.0f}, beyond which no design changes; got {sizes[-1]:g}. "
                "`half_width_limit` and `power_limit` tell what items without number would reach."
            )
        return cls(sizes)

    def counts(self, n_clusters: int, times: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """Distinct sizes of so many clusters, and how many have each; all items ``times`` as many."""
        k = len(self.sizes)
        if k == 1 and self.sizes[0] * times == round(self.sizes[0] * times):
            return self.sizes * times, np.array([float(n_clusters)])
        edges = np.arange(n_clusters + 1) * (k / n_clusters)
        sums = np.interp(edges, np.arange(k + 1), np.concatenate([[0.0], np.cumsum(self.sizes)]))
        # The last bits must not decide about a rounding.
        ends = np.floor(np.round(sums * (n_clusters / k) * times, 6) + 0.5)
        size, count = np.unique(np.diff(ends), return_counts=True)
        return size, count.astype(np.float64)

    def scaled(self, mean: float) -> Pattern:
        """The pattern with this mean, of 1 or more, and no cluster empty: those that would be hold one item."""
        k = len(self.sizes)
        raised = np.arange(k)  # so many of the smallest hold one item, and the others share the rest
        times = (mean * k - raised) / np.cumsum(self.sizes[::-1])[::-1]
        first = np.argmax(self.sizes * times >= 1 - 1e-9)
        return Pattern(np.maximum(self.sizes * times[first], 1.0))

    def endless(self, parts: Parts) -> float:
        """How many times as many items make the variance of items negligible: beside that of clusters, or at all."""
        counts = parts.between > parts.item / _MOST_ITEMS
        needed = parts.item / (parts.between * _UNBOUNDED) if counts else _MOST_ITEMS
        return max(float(np.ceil(min(needed, _MOST_ITEMS) / self.sizes[0])), 1.0)


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Parts:
    """Variance of the value of an item, between clusters and within them."""

    between: float
    item: float

    @classmethod
    def of(cls, variance: float, icc: float, item_icc: float, n_samples: int) -> Parts:
        """Parts of a variance of single scores (or of their differences)."""
        return cls(between=variance * icc, item=variance * (item_icc - icc + (1 - item_icc) / n_samples))

    def std_error(self, size: FloatArray, count: FloatArray) -> float:
        """Standard error of the mean over clusters of these sizes."""
        n = (size * count).sum()
        return float(np.sqrt(self.between * (size**2 * count).sum() / n**2 + self.item / n))

    def design_effect(self, size: FloatArray, count: FloatArray) -> float:
        """Variance of the mean over what as many independent items would give."""
        total = self.between + self.item
        n = (size * count).sum()
        return float(self.std_error(size, count) ** 2 * n / total) if total > 0 else 1.0


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Design:
    """What every planning function asks about, as the caller gives it."""

    icc: object
    item_icc: object
    n_samples: object
    items_per_cluster: object
    method: Any
    confidence_level: float

    def correlations(self, n_samples: int) -> Columns:
        """ICC of the clusters and of the items after the checks; the latter counts only with several samples an item."""
        of_clusters = within(self.icc, "icc", 0, 1)
        if self.item_icc is None:
            if n_samples > 1:
                raise MethodError(
                    f"n_samples={n_samples} needs item_icc=, the correlation of two samples of the same item (1: samples agree, "
                    "and more of them buy nothing; equal to icc: items of a cluster are alike but for the sampling). "
                    "`variance_components` of a pilot tells it."
                )
            return {"icc": of_clusters, "item_icc": of_clusters}
        both = {"icc": of_clusters, "item_icc": within(self.item_icc, "item_icc", 0, 1)}
        _, points = spread_out(both)
        low = [f"{at['item_icc']:g} < {at['icc']:g}" for at in points if at["item_icc"] < at["icc"]]
        text = "`item_icc` must be at least `icc`, since two samples of an item share its cluster too"
        refuse(low, len(points), text, "are less")
        return both


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Checked:
    """What a checked question about a rate shares with one about a pair; the number of clusters is left open.

    ``columns`` are the correlations and how much scores, or their differences, vary: rate, std_dev, disagreement, or rate and
    correlation.
    """

    pattern: Pattern
    columns: Columns
    n_samples: int
    method: str
    level: float

    def points(self, **more: FloatArray) -> tuple[tuple[int, ...], list[Point]]:
        """Common shape of all that may be arrays, and what they say entry by entry."""
        return spread_out(self.columns | more)

    def parts_of(self, variance: float, at: Point) -> Parts:
        """Parts of the variance of an item's value, from that of single scores."""
        return Parts.of(variance, at["icc"], at["item_icc"], self.n_samples)


def within(values: object, name: str, low: float, high: float) -> FloatArray:
    """An array of numbers from ``low`` to ``high``."""
    array = as_float(values, name)
    bad, hint = array[(array < low) | (array > high)], ""
    if name == "icc" and (bad < 0).any():
        hint = " A negative estimate says that clustering was not seen: plan with 0, or with the upper limit of its interval."
    elif high == 1 and ((bad > 1) & (bad <= 100)).any():
        hint = f" Did you mean {float(bad[bad > 1][0]) / 100:g}?"
    refuse(bad, array.size, f"`{name}` must lie between {low:g} and {high:g}", "do not", hint=hint)
    return array


def positive(values: object, name: str, what: str) -> FloatArray:
    """An array of numbers above 0."""
    array = as_float(values, name)
    refuse(array[array <= 0], array.size, f"`{name}` must be above 0, {what}")
    return array


def whole_clusters(values: object) -> FloatArray:
    """Whole numbers of clusters, two or more."""
    array = as_float(values, "n_clusters")
    bad = array[(array < 2) | (array != np.round(array)) | (array > MOST_CLUSTERS)]
    text = f"`n_clusters` must be whole numbers from 2 to {MOST_CLUSTERS:,}, since from a single cluster no error between "
    refuse(bad, array.size, text + "clusters can be told", kind=ClusterError)
    return array


def spread_out(columns: Columns) -> tuple[tuple[int, ...], list[Point]]:
    """The common shape, and its points."""
    try:
        shape = np.broadcast_shapes(*(array.shape for array in columns.values()))
    except ValueError as error:
        shapes = ", ".join(f"`{name}` {array.shape}" for name, array in columns.items())
        raise EvalCIError(
            f"The shapes do not fit each other: {shapes}. Each must be one number, or broadcast with the others."
        ) from error
    rows = zip(*(np.broadcast_to(array, shape).ravel().tolist() for array in columns.values()), strict=True)
    return shape, [dict(zip(columns, row, strict=True)) for row in rows]


def each(items: Sequence[T], one: Callable[[T], Found], label: str) -> list[Found]:
    """The answers of every point or question."""
    found = []
    for item in progress.progress(items, label=label, unit="design"):
        with progress.within():
            found.append(one(item))
    return found


def arrays(plan: type, shape: tuple[int, ...], rows: list[tuple[float, ...]]) -> dict[str, Any]:
    """The arrays of a plan by name, from what it says of every point in the order of its fields."""
    fields = [field for field in dataclasses.fields(plan) if field.type in ("FloatArray", "IntArray")]
    columns = np.array(rows, dtype=np.float64).reshape(-1, len(fields)).T
    found = {field.name: column.reshape(shape) for field, column in zip(fields, columns, strict=True)}
    whole = [field.name for field in fields if field.type == "IntArray"]
    return found | {name: found[name].astype(np.int64) for name in whole}


def smallest(
    value: Callable[[int], float],
    reached: Callable[[float], bool],
    times: Callable[[float], float],
    start: float,
    most: int = MOST_CLUSTERS,
) -> tuple[int, float] | None:
    """The number of clusters at which ``reached(value)`` turns true: it holds there and not one below. None if nowhere.

    ``times`` of a value is a guess at how many times the number it takes.
    """
    least, known = 2, dict[int, float]()

    def at_goal(n: int) -> bool:
        if n not in known:
            known[n] = value(n)
        return reached(known[n])

    def clipped(n: float) -> int:
        return int(np.clip(np.ceil(n), least, most)) if np.isfinite(n) else most

    at = clipped(start)
    for _ in range(3):
        at_goal(at)
        guess = clipped(at * float(np.clip(times(known[at]), 1 / _FAR, _FAR)))
        near = abs(guess - at) <= max(1, 0.01 * at)
        at = guess
        if near:
            break
    low, high = least - 1, None  # not reached at the former, reached at the latter
    step = max(1, round(0.005 * at))
    while high is None or high - low > 1:
        if at_goal(at):
            high = at
        else:
            low = at
        if high is None:
            if low >= most:
                return None
            at, step = min(low + step, most), step * 2
        elif low == least - 1:
            at, step = max(high - step, least), step * 2
        else:
            at = (low + high) // 2
    return high, known[high]


# Power of the paired difference of a design that does not exist yet: the engine.
#
# Cluster means of the item differences are taken as normal. Given sizes :math:`m_g`, of which each value
# occurs many times, the test sees the data only through a few sums: of the means, of their squares, by
# size, and the sum of squares within the clusters. These sums are drawn (quasi-random, always the same
# ones), the real posterior and the real critical value are found for each draw, and the probability that
# the estimate lies beyond is a normal probability. So the answer has no noise, is smooth in the difference,
# and does not cost more for more clusters.
#
# With unequal sizes the residuals :math:`e_g = \bar d_g - \hat\delta` go with the estimate. Since
# :math:`\mathrm{cov}(e_g, \hat\delta) = h_g v_g - V`, they are :math:`e_g = u_g + \beta_g x` with :math:`x
# = \hat\delta - \delta`, :math:`\beta_g = h_g v_g / V - 1` and :math:`u_g` independent of the estimate.
# Here :math:`h_g` is the share of the items, :math:`v_g` the variance of a cluster mean, :math:`V = \sum
# h_g^2 v_g` that of the estimate.

_SEED = 5
_FEW_SIZES, _MANY_SIZES = 1, 24  # between which twice as many draws pay
_HALVINGS = 45  # of the span of all differences
_PROBES = 64


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Goal:
    """What has to be shown, as limits of the estimate's test."""

    # above, below: the difference must be shown to be greater than `above`, and less than `below`
    above: float | None
    below: float | None
    outside: float  # probability that each of these tests may err with

    def upward(self, difference: float) -> tuple[float, Goal]:
        """The same with the systems exchanged where only an upper limit is asked for, so that both sides have equal draws."""
        if self.above is not None or self.below is None:
            return difference, self
        return -difference, Goal(above=-self.below, below=None, outside=self.outside)

    def holds(self, difference: float) -> float:
        """Power without any error: 1 or 0, and the level itself at the edge."""
        nulls = ((self.above, 1.0), (self.below, -1.0))
        gap = min(side * (difference - null) for null, side in nulls if null is not None)
        return 1.0 if gap > 0 else 0.0 if gap < 0 else self.outside


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Sums:
    """Draws of what a test sees of a design, apart from the estimate."""

    # size, count (C,): distinct sizes, and the clusters of each
    size: FloatArray
    count: FloatArray
    # (C,): by how much a mean of that size goes with the estimate, beyond the estimate itself
    slope: FloatArray
    # first, second (R, C): sums of u and of its squares
    first: FloatArray
    second: FloatArray
    within: FloatArray  # (R,): sum of squares within the clusters
    variance: float  # variance of the estimate
    # (R,): draws of how far the estimate lies above the truth, independent of the others
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
        chi_square = 2 * special.gammaincinv(np.maximum((count - 1) / 2, 0.5), u[:, kinds:-1])
        spread = np.where(count > 1, chi_square, 0.0) * mean
        square = spread + total**2 / count
        x = (total * share).sum(axis=1, keepdims=True)
        lift = (1 + slope) * x
        free = n - float(count.sum())
        within = item * 2 * special.gammaincinv(free / 2, u[:, -1]) if free > 0 else np.zeros(len(u))
        second = np.maximum(square - 2 * lift * total + count * lift**2, 0.0)
        first, estimate = total - count * lift, x[:, 0]
        return cls(size, count, slope, first, second, within, variance, estimate)

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


def _beyond(
    distance: float, square: FloatArray, linear: FloatArray, constant: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Limits of the x with x + distance > sqrt(square x**2 + linear x + constant); equal ones where there is none."""
    a, b, c = 1 - square, 2 * distance - linear, distance**2 - constant
    a = np.where(np.abs(a) < 1e-12, 1e-12, a)
    disc = b**2 - 4 * a * c
    with np.errstate(invalid="ignore"):
        root = np.sqrt(disc)
    ends = (-b - root) / (2 * a), (-b + root) / (2 * a)
    r1, r2 = np.minimum(*ends), np.maximum(*ends)
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
    about = 0.0
    if len(sums.size) > 1:
        # The critical value goes with the estimate by way of unequal sizes: a few draws tell where about it must be.
        few = sums.part(_PROBES)
        found = _solved(few, _critical(few, np.zeros(_PROBES), outside), difference, null, side)
        about = float(np.median(np.clip(found, -1 - difference, 1 - difference)))
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
    sizes, counts = np.broadcast_to(sums.size, shape), np.broadcast_to(sums.count, shape)
    items, growth = np.full(len(x), n), np.full(len(x), n / effective - 1)
    evidence = Evidence(sizes, counts, first, second, sums.within, items, growth, independent=False)
    posterior = pair_posteriors([evidence])[0]
    return averaged_critical(posterior.share, posterior.weight, df, outside)


def _probability(low: FloatArray, high: FloatArray, variance: float) -> float:
    error = np.sqrt(variance)
    return float(np.maximum(special.ndtr(high / error) - special.ndtr(low / error), 0.0).mean())
