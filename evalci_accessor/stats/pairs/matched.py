"""Matched scores: several systems on the same items, the totals of their pairs, and the variances of these.

One Gram matrix gives the two-by-two table of every pair at once, and one pass the clusters' sums of every system; what a pair
adds is a difference of two columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from evalci_accessor.exceptions import EvalCIError, ScoreError
from evalci_accessor.stats.rates.intersections import combine, nested
from evalci_accessor.stats.rates.moments import bell_mccaffrey_df
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, as_float

_COUNTABLE = 2.0**53  # whole numbers from here on have gaps
_ITEMS = 2**13  # items packed into bits at a time, so that turning them over stays in cache


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class PairTotals:
    """Totals of the differences of P pairs of systems on the same n items."""

    n: int  # number of items
    # (G,): items in each cluster, or the sum of their weights; None where each item stands for itself
    size: FloatArray | None
    # (P, G): sum of the differences in each cluster; None where each item stands for itself and only the totals are known
    d: FloatArray | None
    # total, square (P,): sum of the differences of the items, and of their squares; weighted, as all sums are, if there
    # are weights
    total: FloatArray
    square: FloatArray
    spread: FloatArray  # (P,): sum of the squared deviations of the differences from their mean
    # binary, bounded: whether all scores are 0 or 1, and whether all lie in [0, 1]
    binary: bool
    bounded: bool
    # span, scale (P,): range of the scores of both systems, 1 where they are bounded, and the largest without its sign:
    # rounding goes by it
    span: FloatArray
    scale: FloatArray
    # (4, P, G): items that both passed, only the first, only the second, neither, by cluster
    cells: FloatArray | None = None
    weights: PairWeights | None = None  # what is known of the items' weights; None where all count the same
    # The same totals by each of several clusterings, of which these are the first, and by their intersections.
    crossed: Every | None = None

    def one(self, k: int) -> PairTotals:
        """The totals of one pair alone, without cells, weights and crossed clusterings."""
        by_pair = ("total", "square", "span", "scale", "spread", *(() if self.d is None else ("d",)))
        own = {name: getattr(self, name)[k : k + 1] for name in by_pair}
        return dataclasses.replace(self, cells=None, weights=None, crossed=None, **own)

    @property
    def only_a(self) -> FloatArray:
        """Items that only the first system passed (0/1 scores), or their weight."""
        return (self.square + self.total) / 2

    @property
    def only_b(self) -> FloatArray:
        """Items that only the second system passed (0/1 scores), or their weight."""
        return (self.square - self.total) / 2

    @property
    def mass(self) -> float:
        """Sum of the weights; the number of items without them."""
        return float(self.n) if self.weights is None else self.weights.total

    @property
    def mean(self) -> FloatArray:
        """The difference of the two mean scores."""
        return self.total / self.mass

    @property
    def worth(self) -> FloatArray:
        """Independent items of equal weight that the items are worth, were there no clustering."""
        return np.full(len(self.total), float(self.n)) if self.weights is None else self.weights.worth

    @property
    def effective_items(self) -> float:
        """Kish's effective number of items; their number without weights."""
        return float(self.n) if self.weights is None else self.weights.effective

    @property
    def n_clusters(self) -> int:
        """Number of clusters; of items where each stands for itself, and of crossed clusterings in that with the fewest."""
        if self.crossed is not None:
            return min(self.crossed[d,].n_clusters for d in clusterings(self.crossed))
        return self.n if self.size is None else len(self.size)

    @property
    def effective_clusters(self) -> float:
        """Kish's effective number of clusters; of crossed clusterings in that with the fewest."""
        if self.crossed is not None:
            return min(self.crossed[d,].effective_clusters for d in clusterings(self.crossed))
        return self.effective_items if self.size is None else float(self.mass**2 / (self.size**2).sum())

    @property
    def n_differing(self) -> FloatArray:
        """Number of clusters in which the systems' sums differ, by more than rounding; nan where these are not known.

        Of weighted items without clusters, Kish's effective number of those that differ; of crossed clusterings the fewest.
        """
        if self.crossed is not None:
            own = [self.crossed[d,].n_differing for d in clusterings(self.crossed)]
            return np.asarray(np.min(own, axis=0))
        if self.weights is not None and self.weights.kish is None:
            with np.errstate(invalid="ignore"):
                return np.where(self.square > 0, self.square**2 / self.weights.square, 0.0)
        if self.d is None:
            return np.full(len(self.total), np.nan)
        size = np.abs(self.d)
        return np.asarray((size > 1e-12 * size.max(axis=1, keepdims=True)).sum(axis=1), dtype=np.float64)

    @classmethod
    def from_counts(cls, only_a: object, only_b: object, size: object) -> PairTotals:
        """Take discordant counts: of shape (P,) with the number of items, or of shape (P, G) with the sizes (G,)."""
        b, c, m = as_float(only_a, "only_a"), as_float(only_b, "only_b"), as_float(size, "size")
        for values, name in ((b, "only_a"), (c, "only_b"), (m, "size")):
            if (values < 0).any() or (values != np.round(values)).any():
                raise ScoreError(f"`{name}` must hold whole numbers >= 0; they are counts of items.")
        if (m >= _COUNTABLE).any():
            raise ScoreError("`size` holds numbers of items of 2**53 or more, which no float can count.")
        if (b + c > m).any():
            raise ScoreError("`only_a` + `only_b` must not exceed the number of items.")
        n, total, square, d, sizes = int(m.sum()), b - c, b + c, None, None
        if m.ndim:
            held = m > 0
            b, c, sizes = b[:, held], c[:, held], m[held]
            # The split of the concordant items does not matter to a difference, but Eliasziw and Donner's test looks at it.
            d, total, square = b - c, (b - c).sum(axis=1), (b + c).sum(axis=1)
        ones, spread = np.ones(len(b)), _spread(total, square, n)
        return cls(n, sizes, d, total, square, spread, binary=True, bounded=True, span=ones, scale=ones)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class MatchedScores:
    """Scores of M systems on the same n items."""

    scores: FloatArray  # (n, M): no score is missing
    mean: FloatArray  # (M,): mean score of each system
    # (n,): cluster of each item, from 0 to G - 1; None where each item stands for itself
    codes: IntArray | None
    cluster: IntArray  # (G,): which of the caller's clusters a code is; empty without clusters
    size: FloatArray | None  # (G,): items in each cluster, or the sum of their weights
    # (G, M): sum of the (weighted) scores in each cluster, or these themselves without clusters. Where they are not 0 or
    # 1 the median of the item over the systems is taken off first: differences stay as they are, and large scores do not
    # drown them.
    sums: FloatArray
    binary: bool
    bounded: bool
    # low, high (M,): least and greatest score of each system
    low: FloatArray
    high: FloatArray
    weights: FloatArray | None = None  # (n,): weight of each item, above 0; None where all count the same

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.scores)

    @property
    def mass(self) -> float:
        """Sum of the weights; the number of items without them."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    @property
    def sizes(self) -> FloatArray:
        """Items in each cluster, or the sum of their weights; those of the item where each stands for itself."""
        if self.size is not None:
            return self.size
        return np.ones(self.n) if self.weights is None else self.weights

    @property
    def shares(self) -> FloatArray:
        """Share of each cluster in all of this."""
        return self.sizes / self.mass

    @property
    def influence(self) -> FloatArray:
        """What each cluster moves the mean of each system by, shape (G, M)."""
        return np.asarray((self.sums - self.sizes[:, None] * (self.sums.sum(axis=0) / self.mass)) / self.mass)

    @classmethod
    def from_items(
        cls,
        scores: object,
        clusters: IntArray | None = None,
        *,
        binary: bool,
        bounded: bool,
        weights: FloatArray | None = None,
    ) -> MatchedScores:
        """Add up items; ``clusters`` are the caller's codes and ``weights`` numbers above 0, one an item."""
        values = as_float(scores, "scores")
        if values.ndim != 2:
            raise EvalCIError(f"`scores` must have two axes, items and systems; got {values.ndim}.")
        columns = values.shape[1]
        mean, low, high = np.full(columns, np.nan), np.zeros(columns), np.ones(columns)
        if len(values):
            mean = values.mean(axis=0) if weights is None else weights @ values / weights.sum()
        if len(values) and not binary:
            low, high = values.min(axis=0), values.max(axis=0)
        moved = values if binary else values - np.median(values, axis=1, keepdims=True)
        if weights is not None:
            moved = weights[:, None] * moved
        cluster, codes, size, sums = np.zeros(0, dtype=np.int64), None, None, moved
        if clusters is not None:
            cluster, codes = np.unique(clusters, return_inverse=True)
            size = np.bincount(codes, weights=weights, minlength=len(cluster)).astype(np.float64)
            sums = _sum_by(moved, codes, len(cluster))
        return cls(values, mean, codes, cluster, size, sums, binary, bounded, low, high, weights)

    def gram(self) -> FloatArray:
        """Number of items that both of two systems passed, for all pairs at once, shape (M, M) (0/1 scores)."""
        # As bits, 64 items to a word, a pair is an "and" and a count.
        systems = self.scores.shape[1]
        words = np.zeros((systems, -(-self.n // 64)), dtype=np.uint64)
        for start in range(0, self.n, _ITEMS):
            bits = np.packbits(np.ascontiguousarray((self.scores[start : start + _ITEMS] != 0).T), axis=1)
            words.view(np.uint8)[:, start // 8 : start // 8 + bits.shape[1]] = bits
        out = np.empty((systems, systems))
        for a in range(systems):
            out[a, a:] = out[a:, a] = np.bitwise_count(words[a] & words[a:]).sum(axis=1, dtype=np.uint32)
        return out

    def squares(self, a: IntArray, b: IntArray, gram: FloatArray | None = None) -> FloatArray:
        """Sum over the items of the squared difference of two systems, for the pairs (a, b)."""
        if self.binary:
            both = self.gram() if gram is None else gram
            passed = np.diagonal(both)
            return np.asarray(passed[a] + passed[b] - 2 * both[a, b])
        # Directly: where two systems are nearly equal, sums of their squares would cancel.
        return self._of_differences(a, b, lambda d, _: (d**2).sum(axis=0))

    def _of_differences(
        self, a: IntArray, b: IntArray, number: Callable[[FloatArray, slice], FloatArray]
    ) -> FloatArray:
        """A number for each of the pairs, from their differences (n, some) and which pairs these are."""
        out = np.empty(len(a))
        for part in self._parts(len(a)):
            out[part] = number(self.scores[:, a[part]] - self.scores[:, b[part]], part)
        return out

    def totals(
        self, a: IntArray, b: IntArray, square: FloatArray, *, by_cluster: bool, cells: bool = False
    ) -> PairTotals:
        """Totals of the pairs (a, b); those of each cluster only if asked for. ``square`` is without weights."""
        if self.weights is not None:
            return self._weighted_totals(a, b)
        d = self._by_cluster(a, b) if by_cluster else None
        total = self.total(a, b) if d is None else d.sum(axis=1)
        if self.binary or by_cluster:
            spread = _spread(total, square, self.n)
        else:  # from deviations, of which nothing is left to cancel
            mean = total / self.n
            spread = self._of_differences(a, b, lambda d, part: ((d - mean[part]) ** 2).sum(axis=0))
        size, known = self.sizes if by_cluster else None, self._cells(a, b) if cells else None
        return PairTotals(self.n, size, d, total, square, spread, cells=known, **self._shared(a, b))

    def _shared(self, a: IntArray, b: IntArray) -> dict[str, Any]:
        """What the totals of pairs have whatever their weights."""
        low, high = np.minimum(self.low[a], self.low[b]), np.maximum(self.high[a], self.high[b])
        span, scale = np.ones(len(a)) if self.bounded else high - low, np.maximum(np.abs(low), np.abs(high))
        return {"binary": self.binary, "bounded": self.bounded, "span": span, "scale": scale}

    def total(self, a: IntArray, b: IntArray) -> FloatArray:
        """Sum of the (weighted) differences of the pairs (a, b)."""
        if self.binary and self.weights is None:
            sums = self.sums.sum(axis=0)
            return np.asarray(sums[a] - sums[b])
        w = self.weights
        return self._of_differences(a, b, lambda d, _: d.sum(axis=0) if w is None else w @ d)

    def _weighted_totals(self, a: IntArray, b: IntArray) -> PairTotals:
        """Totals of weighted items, always by cluster; from the differences themselves, so that equal scores leave exactly 0."""
        assert self.weights is not None
        w, codes, pairs = self.weights, self.codes, len(a)
        kish = None if codes is None else kish_sizes(w, codes, len(self.sums))
        d = np.empty((pairs, len(self.sums)))
        total, square, spread, heavy, within, value = (np.zeros(pairs) for _ in range(6))
        for part in self._parts(pairs):
            off = self.scores[:, a[part]] - self.scores[:, b[part]]
            weighted = w[:, None] * off
            d[part] = (weighted if codes is None else _sum_by(weighted, codes, len(self.sums))).T
            total[part] = weighted.sum(axis=0)
            square[part] = (np.abs(weighted) if self.binary else weighted * off).sum(axis=0)
            heavy[part] = (weighted**2).sum(axis=0)
            spread[part], value[part] = worth(off, total[part] / self.mass, w)
            if codes is not None and kish is not None:
                within[part] = within_sums(off, d[part] / self.sizes, w, codes, kish)
        weights = PairWeights(self.mass, kish_size(w), kish, heavy, within, value)
        return PairTotals(self.n, self.sizes, d, total, square, spread, weights=weights, **self._shared(a, b))

    def _by_cluster(self, a: IntArray, b: IntArray) -> FloatArray:
        """Sum of the differences in each cluster, shape (P, G); of graded scores one by one, since sums of theirs would cancel."""
        if self.binary:
            return np.ascontiguousarray((self.sums[:, a] - self.sums[:, b]).T)
        if self.codes is None:
            return np.ascontiguousarray((self.scores[:, a] - self.scores[:, b]).T)
        out = np.empty((len(a), len(self.sums)))
        for k in range(len(a)):
            difference = self.scores[:, a[k]] - self.scores[:, b[k]]
            out[k] = np.bincount(self.codes, weights=difference, minlength=len(self.sums))
        return out

    def _parts(self, pairs: int) -> Iterator[slice]:
        """A few pairs at a time, so that their differences stay in cache."""
        step = max(2**20 // max(self.n, 1), 1)
        return (slice(start, start + step) for start in range(0, pairs, step))

    def _cells(self, a: IntArray, b: IntArray) -> FloatArray:
        """Both, only a, only b, neither, by pair and cluster."""
        codes = np.arange(self.n) if self.codes is None else self.codes
        both = _sum_by(self.scores[:, a] * self.scores[:, b], codes, len(self.sums)).T
        first, second = self.sums[:, a].T, self.sums[:, b].T
        return np.stack([both, first - both, second - both, self.sizes - first - second + both])


def _spread(total: FloatArray, square: FloatArray, n: int) -> FloatArray:
    """Sum of the squared deviations from the mean, from whole numbers."""
    return np.asarray(np.maximum(square - total**2 / max(n, 1), 0.0))


def _sum_by(values: FloatArray, codes: IntArray, size: int) -> FloatArray:
    """Sums of the rows that share a code, shape (size, columns), a bincount a column."""
    return np.stack([np.bincount(codes, weights=column, minlength=size) for column in values.T], axis=1)


# By each clustering and each intersection, from their places.
Every: TypeAlias = "Mapping[tuple[int, ...], PairTotals]"


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class PairVariance:
    """The variance of each of P differences."""

    value: FloatArray  # (P,)
    # Degrees of freedom: Bell and McCaffrey's for CR2, G - 1 for the others; of crossed clusterings the fewest.
    df: float
    # negative, short (P,): where the sum over crossed clusterings is negative, so that the largest of their own stands
    # in; and where it is less than that
    negative: BoolArray
    short: BoolArray


def pair_variance(t: PairTotals, kind: str) -> PairVariance:
    """Variance ``"cr0"`` to ``"cr3"``."""
    if t.crossed is not None:
        return _crossed(t.crossed, kind)
    power = {"cr0": 0.0, "cr1": 0.0, "cr2": -1.0, "cr3": -2.0}[kind]
    clusters, nowhere = t.n_clusters, np.zeros(len(t.total), dtype=bool)
    df = float(clusters - 1)
    if t.size is None or t.d is None:
        value = t.spread / t.n**2 * (1 - 1 / t.n) ** power
    else:
        h = t.size / t.mass
        with np.errstate(divide="ignore", invalid="ignore"):
            value = ((t.d - t.mean[:, None] * t.size) ** 2 * (1 - h) ** power).sum(axis=1) / t.mass**2
        # Beside a weight that is all of their sum but for rounding nothing is known to vary.
        value = np.where(np.isfinite(value), value, 0.0)
        df = bell_mccaffrey_df(h) if kind == "cr2" else df
    if kind == "cr1":
        value = value * clusters / (clusters - 1)
    return PairVariance(value=value, df=df, negative=nowhere, short=nowhere)


def clusterings(every: Every) -> list[int]:
    """Places of the clusterings."""
    return [some[0] for some in every if len(some) == 1]


def _crossed(every: Every, kind: str) -> PairVariance:
    """By inclusion and exclusion (Cameron, Gelbach and Miller 2011)."""
    parts = {some: pair_variance(t, kind) for some, t in every.items()}
    within = nested({some: t.n_clusters for some, t in every.items()})
    found = combine({some: part.value for some, part in parts.items()}, within[:, None])
    df = min(parts[int(d),].df for d in np.flatnonzero(~within))
    return PairVariance(value=found.value, df=df, negative=found.negative, short=found.short)


# What weights of the items do to the totals of a difference.
#
# With weights :math:`w_i` the difference is :math:`D = \sum w_i d_i / \sum w_i`, and a cluster has the size
# :math:`m_g = \sum w_i` and the sum :math:`\sum w_i d_i`. Unequal weights cost effective size: n items count as Kish's
# :math:`M^* = (\sum w)^2 / \sum w^2`, and a cluster as :math:`k_g = m_g^2 / \sum w_i^2` items. Kish takes the weights as
# unrelated to the differences. Where heavy items differ more than others, the linearised variance
# :math:`V = \sum w_i^2 (d_i - D)^2 / M^2` is larger than :math:`V_0 = (\sum w_i d_i^2/M - D^2)/M^*`, and the items are worth only
# :math:`M^* \min(1, V_0/V)`: weights that go with disagreement widen an interval, and never narrow it.
#
# References
# ----------
# Kish, L. (1965). Survey Sampling. Wiley.

_ROUNDING = 1e-20  # share of a squared difference below which a squared deviation is rounding


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class PairWeights:
    """What the weights add to the totals of P pairs."""

    # total, effective: sum of the weights, and Kish's effective number of items
    total: float
    effective: float
    kish: FloatArray | None  # (G,): Kish's size of each cluster; None where each item stands for itself
    square: FloatArray  # (P,): sum of the squared differences times the squared weights
    # (P,): sum of squares within the clusters, each item counted by its share of its cluster's Kish size; 0 without
    # clusters
    within: FloatArray
    # (P,): how many independent items of equal weight the items are worth, were there no clustering
    worth: FloatArray


def kish_size(weights: FloatArray) -> float:
    """Kish's effective number of items."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def kish_sizes(weights: FloatArray, codes: IntArray, n_clusters: int) -> FloatArray:
    """Kish's size of each cluster, shape (G,); whole up to rounding where the weights of a cluster are equal."""
    own = _by_largest(weights, codes, n_clusters)
    sums, squares = (np.bincount(codes, weights=x, minlength=n_clusters) for x in (own, own**2))
    return np.round(sums**2 / squares, 10)


def _by_largest(weights: FloatArray, codes: IntArray, n_clusters: int) -> FloatArray:
    """Weights as a share of their cluster's largest one, so that squares of very small ones do not vanish."""
    largest = np.zeros(n_clusters)
    np.maximum.at(largest, codes, weights)
    return weights / largest[codes]


def within_sums(
    d: FloatArray, mean: FloatArray, weights: FloatArray, codes: IntArray, kish: FloatArray
) -> FloatArray:
    """Sum of squares within the clusters for each pair; ``d`` (n, P) are item differences, ``mean`` (P, G) cluster means."""
    own = _by_largest(weights, codes, len(kish))
    share = own * (kish / np.bincount(codes, weights=own, minlength=len(kish)))[codes]
    return np.asarray(share @ (d - mean.T[codes]) ** 2)


def worth(d: FloatArray, mean: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted sum of squared deviations of each pair, and how many independent items of equal weight the items are worth."""
    off = (d - mean) ** 2
    spread, linear = weights @ off, weights**2 @ off
    none = spread <= _ROUNDING * weights.sum()  # nothing varies
    ratio = spread * (weights**2).sum() / (weights.sum() * np.where(none, 1.0, linear))
    return np.where(none, 0.0, spread), kish_size(weights) * np.where(none, 1.0, np.minimum(ratio, 1.0))
