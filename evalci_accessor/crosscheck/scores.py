"""What statsmodels is given: scores of one system or of two, their clusters and their weights."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.stats.rates.crossed import counted
from evalci_accessor.stats.validate import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """What is fitted: one score an item, or two of them, whose mean difference is asked for.

    Parameters
    ----------
    first : ndarray of float, shape (n,)
        No score is missing.
    second : ndarray of float, shape (n,), or None
        Of the other system on the same items.
    clusterings : ndarray of int, shape (n, D)
        Cluster of each item in each clustering, from 0 to G - 1, in rising order of the first.
    weights : ndarray of float, shape (n,), or None
        Above 0, with a mean of 1; None where all are equal.
    bounded : bool
        Whether all scores lie in [0, 1].
    """

    first: FloatArray
    second: FloatArray | None
    clusterings: IntArray
    weights: FloatArray | None = None
    bounded: bool

    @classmethod
    def of(
        cls,
        first: FloatArray,
        second: FloatArray | None,
        clusters: IntArray | Sequence[IntArray],
        *,
        bounded: bool,
        weights: FloatArray | None = None,
    ) -> Scores:
        """Scores with cluster codes of any kind, of one clustering or several, brought into the order of the first."""
        every = [clusters] if isinstance(clusters, np.ndarray) else clusters
        codes = np.stack(
            [np.unique(one, return_inverse=True)[1].reshape(-1) for one in every], axis=1
        ).astype(np.int64)
        order = np.argsort(codes[:, 0], kind="stable")
        if weights is not None:
            weights = weights[order] / weights.mean() if len(weights) and np.ptp(weights) > 0 else None
        return cls(
            first=first[order],
            second=None if second is None else second[order],
            clusterings=codes[order],
            weights=weights,
            bounded=bounded,
        )

    @property
    def ways(self) -> int:
        """Number of clusterings."""
        return int(self.clusterings.shape[1])

    @property
    def codes(self) -> IntArray:
        """Clusters of the first clustering."""
        return self.clusterings[:, 0]

    @property
    def groups(self) -> IntArray:
        """Clusters as statsmodels takes them: (n,) of one clustering, (n, 2) of two."""
        return self.codes if self.ways == 1 else self.clusterings

    def parts(self) -> dict[tuple[int, ...], Scores]:
        """The same by each clustering alone and by each of their intersections, from their places."""
        return {
            some: Scores.of(self.first, self.second, codes, bounded=self.bounded, weights=self.weights)
            for some, codes in joint_codes(list(self.clusterings.T)).items()
        }

    @property
    def mean_of(self) -> FloatArray:
        """What the mean is of: the scores, or the differences of the items."""
        return self.first if self.second is None else self.first - self.second

    @property
    def margins(self) -> list[IntArray]:
        """Items in each cluster of each clustering."""
        return [np.bincount(codes) for codes in self.clusterings.T]

    @property
    def sizes(self) -> IntArray:
        """Items in each cluster of the first clustering."""
        return np.bincount(self.codes)

    @property
    def n_clusters(self) -> int:
        """Clusters, of the clustering with the fewest."""
        return min(map(len, self.margins))

    @property
    def effective_clusters(self) -> float:
        """Kish's number of clusters, of the clustering with the fewest."""
        weights = np.ones(len(self.first)) if self.weights is None else self.weights
        sums = [np.bincount(codes, weights=weights) for codes in self.clusterings.T]
        return min(float(one.sum() ** 2 / (one**2).sum()) for one in sums)

    def average(self, values: FloatArray) -> float:
        """Weighted mean."""
        return (
            float(values.mean())
            if self.weights is None
            else float(self.weights @ values / self.weights.sum())
        )

    @property
    def nearest_end(self) -> float:
        """Distance of a mean from the nearer end of [0, 1]."""
        sides = [self.first] if self.second is None else [self.first, self.second]
        return min(min(self.average(side), self.average(1 - side)) for side in sides)

    @property
    def constant(self) -> bool:
        """Whether what the mean is of never varies, by more than rounding."""
        y = self.mean_of
        scale = max(
            float(np.abs(one).max(initial=0.0))
            for one in (self.first, y if self.second is None else self.second)
        )
        return bool(np.ptp(y) <= 8 * np.finfo(np.float64).eps * scale) if len(y) else True

    @property
    def flat(self) -> bool:
        """Whether the clusters do not vary beyond their sizes, by more than rounding: a clustered variance is then 0.

        Of several clusterings none may vary.
        """
        if not len(self.first):
            return True
        y = self.mean_of
        left = y - self.average(y)
        weighted = left if self.weights is None else self.weights * left
        scale = float(np.abs(y).max()) or 1.0
        residuals = [np.bincount(codes, weights=weighted) / len(y) for codes in self.clusterings.T]
        largest = max(float((residual**2).sum()) for residual in residuals)
        return self.constant or bool(largest <= (8 * np.finfo(np.float64).eps * scale) ** 2)

    def stacked(self) -> tuple[FloatArray, FloatArray, IntArray, FloatArray | None]:
        """Response, design, clusters and weights: a constant alone, or two rows an item and which is the first system's."""
        if self.second is None:
            return self.first, np.ones((len(self.first), 1)), self.groups, self.weights
        n = len(self.first)
        y = np.stack([self.first, self.second], axis=1).ravel()
        system = np.tile([1.0, 0.0], n)
        design = np.stack([np.ones(2 * n), system], axis=1)
        return (
            y,
            design,
            np.repeat(self.groups, 2, axis=0),
            None if self.weights is None else np.repeat(self.weights, 2),
        )


def joint_codes(columns: Sequence[Any]) -> dict[tuple[int, ...], IntArray]:
    """Codes from 0 of each clustering, whatever its ids, and of each of their intersections, from their places."""
    codes = [np.asarray(pd.factorize(one, use_na_sentinel=False, sort=False)[0]) for one in columns]
    joint: dict[tuple[int, ...], IntArray] = {}
    for size in range(1, len(codes) + 1):
        for some in itertools.combinations(range(len(codes)), size):
            last = codes[some[-1]]
            both = last if size == 1 else joint[some[:-1]] * (last.max(initial=0) + 1) + last
            joint[some] = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return joint


def not_nested(joint: dict[tuple[int, ...], IntArray]) -> list[int]:
    """Places of the clusterings that do not lie within another."""
    return counted({some: int(codes.max(initial=-1)) + 1 for some, codes in joint.items()})
