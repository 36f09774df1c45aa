"""What statsmodels is given: scores of one system or of two, their clusters and their weights."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.stats.rates.intersections import counted
from evalci_accessor.stats.validate import FloatArray, IntArray


class Scores:
    """What is fitted: one score an item, or two of them, whose mean difference is the estimate.

    Parameters
    ----------
    first : ndarray of float, shape (n,)
        No score is missing.
    second : ndarray of float, shape (n,), or None
        Of the other system on the same items.
    clusters : ndarray of int, or a sequence of these
        Codes of any kind, of one clustering or several; all is brought into the order of the first.
    bounded : bool
        Whether all scores lie in [0, 1].
    weights : ndarray of float, shape (n,), or None
        Above 0; kept with a mean of 1, or as None where all are equal.
    """

    def __init__(
        self,
        first: FloatArray,
        second: FloatArray | None,
        clusters: IntArray | Sequence[IntArray],
        *,
        bounded: bool,
        weights: FloatArray | None = None,
    ) -> None:
        every = [clusters] if isinstance(clusters, np.ndarray) else clusters
        codes = [np.unique(one, return_inverse=True)[1].reshape(-1).astype(np.int64) for one in every]
        order = np.argsort(codes[0], kind="stable")
        self.bounded, self.first = bounded, first[order]
        self.second = None if second is None else second[order]
        self.sides = [self.first] if self.second is None else [self.first, self.second]
        self.mean_of = self.first if self.second is None else self.first - self.second
        even = weights is None or not len(weights) or np.ptp(weights) == 0
        self.weights = None if even or weights is None else weights[order] / weights.mean()
        self.clusterings = np.stack(codes, axis=1)[order]  # from 0 to G - 1, shape (n, D)
        self.ways, self.codes = len(codes), self.clusterings[:, 0]
        self.groups = self.codes if self.ways == 1 else self.clusterings  # as statsmodels takes them
        self.margins = [np.bincount(one) for one in codes]  # items in each cluster of each clustering
        self.sizes, self.n_clusters = self.margins[0], min(map(len, self.margins))

    def of(self, clusters: IntArray | Sequence[IntArray]) -> Scores:
        """The same by other clusterings."""
        return Scores(self.first, self.second, clusters, bounded=self.bounded, weights=self.weights)

    def parts(self) -> dict[tuple[int, ...], Scores]:
        """The same by each clustering alone and by each of their intersections, from their places."""
        return {some: self.of(codes) for some, codes in joint_codes(list(self.clusterings.T)).items()}

    @property
    def effective_clusters(self) -> float:
        """Kish's number of clusters, of the clustering with the fewest."""
        weights = np.ones(len(self.first)) if self.weights is None else self.weights
        sums = [np.bincount(codes, weights=weights) for codes in self.clusterings.T]
        return min(float(one.sum() ** 2 / (one**2).sum()) for one in sums)

    def average(self, values: FloatArray) -> float:
        """Weighted mean."""
        weights = self.weights
        return float(values.mean() if weights is None else weights @ values / weights.sum())

    @property
    def nearest_end(self) -> float:
        """Distance of a mean from the nearer end of [0, 1]."""
        return min(min(self.average(side), self.average(1 - side)) for side in self.sides)

    @property
    def constant(self) -> bool:
        """Whether what the mean is of never varies, by more than rounding."""
        y = self.mean_of
        scale = np.abs(self.sides).max(initial=0.0)
        return not len(y) or bool(np.ptp(y) <= 8 * np.finfo(np.float64).eps * scale)

    @property
    def flat(self) -> bool:
        """Whether the clusters do not vary beyond their sizes, by more than rounding: a clustered variance is then 0.

        Of several clusterings none may vary.
        """
        if self.constant:
            return True
        y = self.mean_of
        left = (y - self.average(y)) * (1.0 if self.weights is None else self.weights)
        residuals = [np.bincount(codes, weights=left) / len(y) for codes in self.clusterings.T]
        largest = max(float((residual**2).sum()) for residual in residuals)
        return bool(largest <= (8 * np.finfo(np.float64).eps * (float(np.abs(y).max()) or 1.0)) ** 2)

    def stacked(self) -> tuple[FloatArray, FloatArray, IntArray, FloatArray | None]:
        """Response, design, clusters and weights: a constant alone, or two rows an item and which is the first system's."""
        if self.second is None:
            return self.first, np.ones((len(self.first), 1)), self.groups, self.weights
        y = np.stack([self.first, self.second], axis=1).ravel()
        design = np.tile([[1.0, 1.0], [1.0, 0.0]], (len(self.first), 1))
        weights = None if self.weights is None else np.repeat(self.weights, 2)
        return y, design, np.repeat(self.groups, 2, axis=0), weights


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
