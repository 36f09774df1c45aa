"""What all planning functions share: checks of plain numbers, cluster sizes from a pattern, and the variance of an estimate."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from evalci_accessor import _progress
from evalci_accessor._warn import examples
from evalci_accessor.exceptions import ClusterError, EvalCIError, MethodError
from evalci_accessor.stats._validate import FloatArray, as_float

MOST_CLUSTERS = 1_000_000
_LARGEST = 1e9  # items in a cluster: more do nothing, and sums of them must stay whole numbers
_MOST_ITEMS = 1e7
_UNBOUNDED = 1e-3  # what is left of the variance of the items where there are so many that it no longer counts


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Sizes of clusters whatever their number.

    Parameters
    ----------
    sizes : ndarray of float, shape (K,)
        Sizes in ascending order; those of G clusters are the means of G equal parts of this step function, rounded so that the sums
        from the left are rounded. So K clusters have just these sizes, and any number has their mean.
    """

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
        low = sizes[sizes < 1]
        if len(low):
            raise ClusterError(
                f"`items_per_cluster` must be at least 1; {len(low)} of {sizes.size} are less: "
                f"{examples(f'{s:g}' for s in low)}. Leave empty clusters out."
            )
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
        needed = parts.item / (parts.between * _UNBOUNDED) if parts.between > parts.item / _MOST_ITEMS else _MOST_ITEMS
        return max(float(np.ceil(min(needed, _MOST_ITEMS) / self.sizes[0])), 1.0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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


def within(values: object, name: str, low: float, high: float) -> FloatArray:
    """An array of numbers from ``low`` to ``high``."""
    array = as_float(values, name)
    bad = array[(array < low) | (array > high)]
    if bad.size:
        hint = ""
        if name == "icc" and (bad < 0).any():
            hint = " A negative estimate says that clustering was not seen: plan with 0, or with the upper limit of its interval."
        elif high == 1 and ((bad > 1) & (bad <= 100)).any():
            hint = f" Did you mean {float(bad[bad > 1].flat[0]) / 100:g}?"
        raise EvalCIError(
            f"`{name}` must lie between {low:g} and {high:g}; {bad.size} of {array.size} do not: "
            f"{examples(f'{b:g}' for b in bad.flat)}.{hint}"
        )
    return array


def positive(values: object, name: str, what: str) -> FloatArray:
    """An array of numbers above 0."""
    array = as_float(values, name)
    bad = array[array <= 0]
    if bad.size:
        raise EvalCIError(
            f"`{name}` must be above 0, {what}; {bad.size} of {array.size} are not: {examples(f'{b:g}' for b in bad.flat)}."
        )
    return array


def whole_clusters(values: object) -> FloatArray:
    """Whole numbers of clusters, two or more."""
    array = as_float(values, "n_clusters")
    bad = array[(array < 2) | (array != np.round(array)) | (array > MOST_CLUSTERS)]
    if bad.size:
        raise ClusterError(
            f"`n_clusters` must be whole numbers from 2 to {MOST_CLUSTERS:,}, since from a single cluster no error between "
            f"clusters can be told; {bad.size} of {array.size} are not: {examples(f'{b:g}' for b in bad.flat)}."
        )
    return array


def whole(value: object, name: str, least: int) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise MethodError(f"{name}={value!r} must be a whole number of at least {least}.")
    return int(value)


def correlations(icc: object, item_icc: object, n_samples: int) -> tuple[FloatArray, FloatArray]:
    """ICC of the clusters and of the items after the checks; the latter counts only with several samples an item."""
    of_clusters = within(icc, "icc", 0, 1)
    if item_icc is None:
        if n_samples > 1:
            raise MethodError(
                f"n_samples={n_samples} needs item_icc=, the correlation of two samples of the same item (1: samples agree, "
                "and more of them buy nothing; equal to icc: items of a cluster are alike but for the sampling). "
                "`variance_components` of a pilot tells it."
            )
        return of_clusters, of_clusters
    of_items = within(item_icc, "item_icc", 0, 1)
    try:
        low = of_items < of_clusters
    except ValueError as error:
        raise broken(icc=of_clusters, item_icc=of_items) from error
    if low.any():
        raise EvalCIError(
            f"`item_icc` must be at least `icc`, since two samples of an item share its cluster too; {int(low.sum())} of "
            f"{low.size} are less: {examples(f'{a:g} < {b:g}' for a, b in zip(*_pairs(of_items, of_clusters, low), strict=True))}."
        )
    return of_clusters, of_items


def _pairs(a: FloatArray, b: FloatArray, at: np.ndarray) -> tuple[FloatArray, FloatArray]:
    return np.broadcast_to(a, at.shape)[at], np.broadcast_to(b, at.shape)[at]


def broken(**arrays: FloatArray) -> EvalCIError:
    """The error of arrays that do not fit each other."""
    shapes = ", ".join(f"`{name}` {array.shape}" for name, array in arrays.items())
    return EvalCIError(f"The shapes do not fit each other: {shapes}. Each must be one number, or broadcast with the others.")


def spread_out(**arrays: FloatArray) -> tuple[tuple[int, ...], dict[str, FloatArray]]:
    """The common shape, and the arrays as flat ones of that shape."""
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError as error:
        raise broken(**arrays) from error
    return shape, {name: np.broadcast_to(array, shape).ravel() for name, array in arrays.items()}


def each(n: int, one: Callable[[int], tuple[float, ...]], label: str) -> list[FloatArray]:
    """The answers of n designs, an array each."""
    rows = []
    for i in _progress.progress(range(n), label=label, unit="design"):
        with _progress.within():
            rows.append(one(i))
    return [np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)] if rows else []


def smallest(
    value: Callable[[int], float], reached: Callable[[float], bool], better: Callable[[int, float], float], start: float,
    least: int, most: int,
) -> tuple[int, float] | None:  # fmt: skip
    """The whole number at which ``reached(value)`` turns true: it holds there and not one below. None if nowhere up to ``most``.

    ``better`` of a number and its value is a guess at the number that it takes.
    """
    known: dict[int, float] = {}

    def at_goal(n: int) -> bool:
        if n not in known:
            known[n] = value(n)
        return reached(known[n])

    def clipped(n: float) -> int:
        return int(np.clip(np.ceil(n), least, most)) if np.isfinite(n) else most

    at = clipped(start)
    for _ in range(3):
        at_goal(at)
        guess = clipped(better(at, known[at]))
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
