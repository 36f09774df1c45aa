"""Cluster totals: the one thing that every statistic of the package is computed from.

For each cluster of each group: how many scores it holds, the sum of their weights, the weighted sum of the scores and of
their squares. Totals are additive and small, and the same whether they came from rows, a cube or another machine.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from evalci_accessor.exceptions import ScoreError
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, as_float

# A dense (group x cluster) table of counts is only worth it while it is small beside the rows it was counted from.
_DENSE_CELLS = 2**22


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ClusterTotals:
    """Totals of every cluster that holds at least one score, group after group.

    Parameters
    ----------
    shape : tuple of int
        Shape of the groups; ``()`` for a single group. Their number, in C order, is called H below.
    offsets : ndarray of int, shape (H + 1,)
        The clusters of group ``h`` are the entries ``offsets[h]:offsets[h + 1]`` of the arrays that follow.
    cluster : ndarray of int, shape (T,)
        Which of the caller's cluster ids an entry belongs to.
    n : ndarray of int, shape (T,)
        Number of scores.
    m, s, ss, q : ndarray of float, shape (T,)
        Sum of the weights, weighted sum of the scores, weighted sum of the squared scores, sum of the squared weights.
        Without weights ``m`` and ``q`` equal ``n``.
    bounded : bool
        Whether every score lies in [0, 1].
    weighted : bool
        Whether weights were given.

    Attributes
    ----------
    n_groups : int
        Number of groups, H.
    n_clusters : ndarray of int, shape (H,)
        Number of clusters that hold a score, by group.
    group : ndarray of int, shape (T,)
        Group of each entry.
    """

    shape: tuple[int, ...]
    offsets: IntArray
    cluster: IntArray
    n: IntArray
    m: FloatArray
    s: FloatArray
    ss: FloatArray
    q: FloatArray
    bounded: bool
    weighted: bool
    n_groups: int = dataclasses.field(init=False)
    n_clusters: IntArray = dataclasses.field(init=False)
    group: IntArray = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        n_clusters = np.diff(self.offsets)
        object.__setattr__(self, "n_groups", len(n_clusters))
        object.__setattr__(self, "n_clusters", n_clusters)
        object.__setattr__(self, "group", np.repeat(np.arange(len(n_clusters)), n_clusters))

    def sum(self, values: FloatArray) -> FloatArray:
        """Sum values of the entries within each group, shape (H,)."""
        if self.n_groups == 1:
            return np.array([np.add.reduce(values)], dtype=np.float64)
        return np.bincount(self.group, weights=values, minlength=self.n_groups).astype(np.float64, copy=False)

    def max(self, values: FloatArray) -> FloatArray:
        """Greatest value within each group, nan for a group without clusters, shape (H,)."""
        if self.n_groups == 1 and len(values):
            return np.array([values.max()], dtype=np.float64)
        out = np.full(self.n_groups, np.nan)
        filled = self.n_clusters > 0
        if filled.any():
            out[filled] = np.maximum.reduceat(values, self.offsets[:-1][filled])
        return out

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Repeat a value of each group for each of its entries, shape (T,)."""
        return np.asarray(values)[self.group]

    @property
    def binary(self) -> BoolArray:
        """Whether the scores of a group are all 0 or 1, shape (H,).

        A score in [0, 1] equals its square only at the ends, so the two sums agree exactly when all scores are 0 or 1.
        """
        if not self.bounded:
            return np.zeros(self.n_groups, dtype=bool)
        return np.equal(self.sum(self.s), self.sum(self.ss))

    def one(self, h: int) -> ClusterTotals:
        """The totals of group ``h`` alone."""
        return dataclasses.replace(self.some(h, h + 1), shape=())

    def some(self, first: int, stop: int) -> ClusterTotals:
        """The totals of the groups from ``first`` to before ``stop``, in one row."""
        part = slice(self.offsets[first], self.offsets[stop])
        return dataclasses.replace(
            self,
            shape=(stop - first,),
            offsets=self.offsets[first : stop + 1] - self.offsets[first],
            **{name: getattr(self, name)[part] for name in ("cluster", "n", "m", "s", "ss", "q")},
        )

    @classmethod
    def from_rows(
        cls,
        scores: FloatArray,
        codes: IntArray,
        *,
        n_clusters: int,
        groups: IntArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        counts: FloatArray | None = None,
        bounded: bool,
        binary: bool,
    ) -> ClusterTotals:
        """Add up rows. ``codes`` and ``groups`` count from 0; ``binary`` says that all scores are 0 or 1.

        Under ``counts`` each row is so many scores of 0 and 1, and the sum of these; there are no weights then.
        """
        if weights is not None and not weights.all():
            used = weights != 0  # a row of weight zero is an absent row
            scores, codes, weights = scores[used], codes[used], weights[used]
            groups = groups[used] if groups is not None else None
        key, size = codes, n_clusters
        present: IntArray | None = None
        if groups is not None and n_groups > 1:
            key, size = groups.astype(np.int64) * n_clusters + codes, n_groups * n_clusters
            if size > max(4 * len(scores), _DENSE_CELLS):
                present, key = np.unique(key, return_inverse=True)
                size = len(present)
        n = np.bincount(key, counts, minlength=size).astype(np.int64, copy=False)
        held = np.flatnonzero(n)
        if present is None:
            present = held

        def add(values: FloatArray) -> FloatArray:
            return np.bincount(key, weights=values, minlength=size)[held].astype(np.float64, copy=False)

        if weights is None:
            s = add(scores)
            m = q = n[held].astype(np.float64)
            ss = s if binary else add(scores * scores)
        else:
            s = add(weights * scores)
            m, q = add(weights), add(weights * weights)
            ss = s if binary else add(weights * scores * scores)
        cluster, offsets = present, np.array([0, len(present)])
        if n_groups != 1:
            group, cluster = np.divmod(present, max(n_clusters, 1))
            offsets = np.searchsorted(group, np.arange(n_groups + 1))
        shape = () if groups is None else (n_groups,)
        return cls(shape, offsets, cluster, n[held], m, s, ss, q, bounded, weighted=weights is not None)

    @classmethod
    def from_sums(cls, s: object, m: object, ss: object = None) -> ClusterTotals:
        """Take ready totals of shape (..., G): sums of scores, numbers of scores, sums of squares (0/1 scores: not needed).

        A cluster of size 0 counts as absent.
        """
        sums, sizes = np.broadcast_arrays(as_float(s, "s"), as_float(m, "m"))
        if sums.ndim == 0:
            raise ScoreError(
                "cluster totals need at least one axis, the last, along which the clusters lie; got a scalar."
            )
        if (sizes < 0).any() or (sizes != np.round(sizes)).any():
            raise ScoreError("cluster sizes must be whole numbers >= 0.")
        if ss is None:
            if (sums != np.round(sums)).any() or (sums < 0).any() or (sums > sizes).any():
                raise ScoreError(
                    "sums of scores that are not counts between 0 and the cluster's size need the sums of squares too: "
                    "pass `ss`."
                )
            squares, bounded = sums, True
        else:
            squares = np.broadcast_to(as_float(ss, "ss"), sums.shape)
            if (squares * sizes < sums**2 * (1 - 1e-9)).any():
                raise ScoreError(
                    "`ss` must be at least s**2 / m in every cluster; smaller sums of squares cannot be."
                )
            # Sums alone cannot prove that each score is in [0, 1]; these are the conditions that they can show.
            near = 1 + 1e-12
            bounded = bool(((squares <= sums * near) & (sums >= 0) & (sums <= sizes * near)).all())
        shape = sums.shape[:-1]
        n_groups = int(np.prod(shape, dtype=np.int64))
        flat_sizes = sizes.reshape(n_groups, -1)
        held = flat_sizes > 0
        _, cluster = np.nonzero(held)
        every = (a.reshape(n_groups, -1)[held] for a in (sums, sizes, squares))
        total, size, square = (np.ascontiguousarray(a) for a in every)
        offsets, n = np.concatenate([[0], np.cumsum(held.sum(axis=1))]), size.astype(np.int64)
        return cls(shape, offsets, cluster, n, size, total, square, size, bounded, weighted=False)

    @classmethod
    def concat(cls, parts: list[ClusterTotals], shape: tuple[int, ...]) -> ClusterTotals:
        """Put the groups of several totals one after the other, and give them ``shape``."""
        counts = np.concatenate([part.n_clusters for part in parts]) if parts else np.zeros(0, dtype=np.int64)
        names = ("cluster", "n", "m", "s", "ss", "q")
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        offsets = np.concatenate([[0], np.cumsum(counts)])
        bounded, weighted = all(part.bounded for part in parts), any(part.weighted for part in parts)
        return cls(shape, offsets, **joined, bounded=bounded, weighted=weighted)
