r"""Crossed clusterings: their totals, variances by inclusion and exclusion, and their joint design effect.

By inclusion and exclusion over the clusterings and their intersections,
:math:`V = \sum_a V_a - \sum_{a<b} V_{ab} + \dots`, the sum over all pairs of scores that share any id counts each pair once.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evalci_accessor.stats.rates.averaged import (
    AveragedPosterior,
    averaged_posterior,
    is_crowded,
    quasi_inflation,
)
from evalci_accessor.stats.rates.intersections import Combined, check_number, combine, joint_effect, nested
from evalci_accessor.stats.rates.moments import Check, Moments, cr_variance, moments, satterthwaite_df
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray

_BINS = 256


@dataclasses.dataclass(eq=False, repr=False)
class Crossed:
    """Totals of the same scores by each of D clusterings and by their intersections."""

    margins: tuple[ClusterTotals, ...]  # by each clustering alone
    # By what several clusterings make together: from their places, as `(0, 1)`, to the totals.
    meets: dict[tuple[int, ...], ClusterTotals]
    # Cluster in each clustering of each entry of the finest intersection, that of all.
    corners: tuple[IntArray, ...]

    @classmethod
    def from_rows(
        cls,
        scores: FloatArray,
        codes: Sequence[IntArray],
        *,
        groups: IntArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        counts: FloatArray | None = None,
        bounded: bool,
        binary: bool,
        margins: Sequence[ClusterTotals] | None = None,
    ) -> Crossed:
        """Add up rows; ``codes`` holds the clusters of each clustering, from 0; ``margins`` are their totals where at hand."""
        check_number(len(codes))

        scale: dict[str, Any] = {"bounded": bounded, "binary": binary, "weights": weights, "counts": counts}

        def total(ids: IntArray) -> ClusterTotals:
            n_clusters = int(ids.max(initial=-1)) + 1
            return ClusterTotals.from_rows(
                scores, ids, n_clusters=n_clusters, groups=groups, n_groups=n_groups, **scale
            )

        places = range(len(codes))
        meets: dict[tuple[int, ...], ClusterTotals] = {}
        joint: dict[tuple[int, ...], IntArray] = {(d,): np.asarray(codes[d], dtype=np.int64) for d in places}
        for size in range(2, len(codes) + 1):
            for some in itertools.combinations(places, size):
                joint[some] = _together(joint[some[:-1]], joint[some[-1:]])
                meets[some] = total(joint[some])
        finest = joint[tuple(places)]
        first = np.zeros(int(finest.max(initial=-1)) + 1, dtype=np.int64)
        first[finest[::-1]] = np.arange(len(finest))[::-1]
        at = first[meets[tuple(places)].cluster]
        return cls(
            margins=tuple(total(joint[d,]) for d in places) if margins is None else tuple(margins),
            meets=meets,
            corners=tuple(np.asarray(codes[d])[at] for d in places),
        )

    @property
    def all(self) -> tuple[int, ...]:
        """The places of all clusterings: the key of the finest intersection."""
        return tuple(range(len(self.margins)))

    @property
    def finest(self) -> ClusterTotals:
        """By the intersection of all."""
        return self.meets[self.all]

    def one(self, h: int) -> Crossed:
        """The totals of group ``h`` alone."""
        return self.some(h, h + 1).shaped(())

    def some(self, first: int, stop: int) -> Crossed:
        """The totals of the groups from ``first`` to before ``stop``, in one row."""
        part = slice(int(self.finest.offsets[first]), int(self.finest.offsets[stop]))
        corners = tuple(corner[part] for corner in self.corners)
        return dataclasses.replace(self._each(lambda t: t.some(first, stop)), corners=corners)

    def shaped(self, shape: tuple[int, ...]) -> Crossed:
        """The same with the groups in that shape."""
        return self._each(lambda t: dataclasses.replace(t, shape=shape))

    def _each(self, change: Callable[[ClusterTotals], ClusterTotals]) -> Crossed:
        meets = {some: change(t) for some, t in self.meets.items()}
        return Crossed(tuple(map(change, self.margins)), meets, self.corners)

    @functools.cached_property
    def parts(self) -> dict[tuple[int, ...], tuple[ClusterTotals, Moments]]:
        """Totals and moments by each clustering, as ``(0,)``, and by each intersection."""
        every = {(d,): t for d, t in enumerate(self.margins)} | self.meets
        return {some: (t, moments(t)) for some, t in every.items()}

    @property
    def _own(self) -> list[tuple[ClusterTotals, Moments]]:
        """The same by each clustering alone."""
        return [self.parts[d,] for d in self.all]

    @functools.cached_property
    def nested(self) -> BoolArray:
        """Where the clusters of a clustering each lie in one cluster of another, so that the latter counts; shape (D, H).

        Of two clusterings that are the same the first counts.
        """
        margins = {(d,): t.n_clusters for d, t in enumerate(self.margins)}
        return nested(margins | {some: t.n_clusters for some, t in self.meets.items()})

    @functools.cached_property
    def moments(self) -> Moments:
        """Those of the first clustering, with the fewest clusters and effective clusters of all."""
        every = [mo for _, mo in self._own]
        return dataclasses.replace(
            every[0],
            clusters=np.min([mo.clusters for mo in every], axis=0),
            effective_clusters=np.min([mo.effective_clusters for mo in every], axis=0),
        )

    @functools.cached_property
    def smallest(self) -> IntArray:
        """Which clustering has the fewest effective clusters, by group."""
        effective = np.stack([mo.effective_clusters for _, mo in self._own])
        return np.asarray(effective.argmin(axis=0), dtype=np.int64)

    def combined(self, kind: str) -> Combined:
        """Variance of the mean by inclusion and exclusion, and where that is negative or too small."""
        return combine({some: cr_variance(t, mo, kind) for some, (t, mo) in self.parts.items()}, self.nested)

    def variance(self, kind: str) -> FloatArray:
        """Variance of the mean; where the sum is negative, the largest of the clusterings' own."""
        return self.combined(kind).value

    def negative(self, kind: str) -> BoolArray:
        """Where the sum is negative, or nothing but rounding."""
        return self.combined(kind).negative

    def df(self, kind: str) -> FloatArray:
        """The fewest degrees of freedom of any clustering that no other one contains."""
        every = np.stack([satterthwaite_df(t, mo, kind) for t, mo in self._own])
        return np.asarray(np.where(self.nested, np.inf, every).min(axis=0))

    def excess(self, inflation: FloatArray) -> dict[tuple[int, ...], FloatArray]:
        """What the variance grows by for an ICC of 1, by clustering and intersection: rows over effective clusters, less 1."""
        with np.errstate(invalid="ignore"):
            return {
                some: np.maximum(inflation * mo.effective_rows / mo.effective_clusters - 1, 0.0)
                for some, (_, mo) in self.parts.items()
            }

    def posterior(self) -> AveragedPosterior:
        r"""Effective sample sizes of all clusterings together, averaged over what each one's ICC could be.

        The design effect is :math:`1 + \sum_a e_a\rho_a - \sum_{a<b} e_{ab}\bar\rho_{ab} + \dots` with :math:`e = M/G^* - 1`, at
        least the largest of the clusterings' own and at most :math:`1 + \max e_a`. The :math:`\rho_a` have their own posteriors,
        the intersections the means of theirs.
        """
        finest, mo = self.parts[self.all]
        crowded, inflation, every = self._posteriors
        excess = self.excess(inflation)
        meets = {
            some: averaged_posterior(t, self.parts[some][1], crowded=crowded).quasi_icc
            for some, t in self.meets.items()
            if (excess[some] > 1e-9).any()
        }
        weight, effect = np.zeros((finest.n_groups, _BINS)), np.ones((finest.n_groups, _BINS))
        filled = finest.n_clusters > 0
        # Which clusterings count is mostly the same in all groups.
        for pattern in np.unique(self.nested[:, filled], axis=1).T:
            at = np.flatnonzero(filled & (self.nested == pattern[:, None]).all(axis=0))
            counted = np.flatnonzero(~pattern).tolist()
            common = np.zeros(len(at))
            for some, icc in meets.items():
                if set(some) <= set(counted):
                    common += (-1) ** len(some) * excess[some][at] * icc[at]
            parts = [(excess[d,][at, None] * every[d].rho[at], every[d].weight[at]) for d in counted]
            greatest = np.max([excess[d,][at] for d in counted], axis=0)
            effect[at], weight[at] = joint_effect(parts, common, greatest, _BINS)
        with np.errstate(invalid="ignore", divide="ignore"):
            n_k = (inflation * mo.effective_rows)[:, None] / effect
        return AveragedPosterior(
            single=(None,) * finest.n_groups,
            rho=np.full_like(effect, np.nan),
            weight=weight,
            inflation=inflation,
            n_k=n_k,
            effective_size=np.full(finest.n_groups, np.nan),
        )

    @functools.cached_property
    def _posteriors(self) -> tuple[BoolArray, FloatArray, list[AveragedPosterior]]:
        """Where scores crowd at an end, quasi-counts per score, and the posterior of each clustering alone."""
        crowded = np.any([is_crowded(t, mo) for t, mo in self._own], axis=0)
        inflation = np.where(crowded, 1.0, quasi_inflation(*self.parts[self.all]))
        return crowded, inflation, [averaged_posterior(t, mo, crowded=crowded) for t, mo in self._own]

    def checks(self, n_eff: FloatArray) -> list[Check]:
        """The joint CR2 against the joint model, and that of each clustering that counts against its own.

        So that to name a further clustering does not undo the guard of the first.
        """
        out = [Check(variance=self.variance("cr2"), df=self.df("cr2"), n_eff=n_eff)]
        for d, (post, (t, mo)) in enumerate(zip(self._posteriors[2], self._own, strict=True)):
            variance = np.where(self.nested[d], 0.0, cr_variance(t, mo, "cr2"))
            out.append(Check(variance=variance, df=satterthwaite_df(t, mo, "cr2"), n_eff=post.n_eff))
        return out


def _together(first: IntArray, second: IntArray) -> IntArray:
    """Codes of what two codes make together, as many as occur."""
    width = int(second.max(initial=-1)) + 1
    codes = np.unique(first * width + second, return_inverse=True)[1]
    return np.asarray(codes, dtype=np.int64).reshape(-1)
