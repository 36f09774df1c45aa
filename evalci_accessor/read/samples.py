"""Scores in clusters: the totals of each cluster, and the words to speak of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from evalci_accessor.exceptions import MethodError, NestedClustersWarning, warn
from evalci_accessor.options import BETWEEN
from evalci_accessor.read.ids import Clustering, Codes, by_label
from evalci_accessor.read.scores import all_binary, in_unit_interval, range_of, sentinel_of
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.rates.intersections import MOST
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray

Rows = tuple[FloatArray, list[IntArray], FloatArray | None]  # scores, cluster codes by clustering, weights


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Sample:
    """The cluster totals of each group."""

    totals: ClusterTotals
    cluster: str | None  # name of the clustering; None where each score stands for itself
    cluster_label: Callable[[int], Any]  # the id of a cluster code
    group_label: Callable[[int], str]  # words for a group, as "model='A'"; empty for the only one
    n_missing: IntArray  # (H,): scores left out
    n_lost: int  # clusters that lost all their scores
    score_range: tuple[float, float]  # least and greatest score; nan without scores
    # A negative value that looks like a mark rather than a score, and how often it occurs.
    sentinel: tuple[float, int] | None
    hint: str = ""  # what else could be meant where every cluster holds one score
    # The clusterings where there are several; the totals are those of the first, and the name is that of all.
    crossing: Crossing | None = None
    # Whether no clustering was named, so that each score is a cluster: ``cluster`` names what a score is.
    alone: bool = False
    rows: Callable[[int], Rows] | None = None  # scores, clusters and weights of a group, one by one

    @property
    def clusterings(self) -> tuple[Sample, ...]:
        """The same by each clustering alone."""
        return (self,) if self.crossing is None else self.crossing.samples


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Crossing:
    """Several clusterings of the same scores: their totals together, and each with its own name and labels."""

    totals: Crossed
    samples: tuple[Sample, ...]


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Scores:
    """Checked scores and weights of a container, ready to be added up by any clustering."""

    entry: ClassVar[str] = "score"
    # Numbers or booleans, nan where missing; codes of groups and clusters have this shape, or one that fits it.
    values: np.ndarray
    # The scores that count: those that are there and have a weight above 0; None for all.
    keep: BoolArray | None
    missing: BoolArray | None  # where a score is missing; None if nowhere
    weights: FloatArray | None
    score_range: tuple[float, float]  # least and greatest score
    binary: bool  # whether all scores are 0 or 1
    # A negative value that looks like a mark rather than a score, and how often it occurs.
    sentinel: tuple[float, int] | None
    groups: IntArray | None  # the group of each score; None where there is one
    n_groups: int
    group_label: Callable[[int], str]  # words for a group, as "model='A'"; empty for the only one
    # Shape of the groups; None for a single axis, or none where there is one group.
    shape: tuple[int, ...] | None = None
    counts: FloatArray | None = None  # of how many scores each is the sum; None where each is one

    @property
    def hint(self) -> str:
        """What else could be meant where every cluster holds one score."""
        return ""

    def counted(self, codes: np.ndarray) -> np.ndarray:
        """What belongs to the scores that count, one after the other."""
        spread = codes  # numpy copies what is broadcast, since it cannot be written to
        if codes.shape != self.values.shape:
            spread = np.broadcast_to(codes, self.values.shape)
        return np.ascontiguousarray(spread).ravel() if self.keep is None else spread[self.keep]

    def each(self) -> Clustering:
        """Each score in a cluster of its own."""
        own = np.arange(self.values.shape[-1]).reshape((1,) * (self.values.ndim - 1) + (-1,))
        return Clustering(name=self.entry, coded=Codes(codes=own, size=own.size, label=int))

    @property
    def _floats(self) -> FloatArray:
        return self.counted(self.values).astype(np.float64, copy=False)

    def _parts(self) -> dict[str, Any]:
        """What totals of any clustering have in common."""
        return {
            "groups": None if self.groups is None else self.counted(self.groups),
            "n_groups": self.n_groups,
            "weights": None if self.weights is None else self.counted(self.weights),
            "counts": None if self.counts is None else self.counted(self.counts),
            "bounded": in_unit_interval(self.score_range),
            "binary": self.binary,
        }

    def totals(self, clustering: Clustering) -> ClusterTotals:
        """Totals by a clustering."""
        codes, size = self.counted(clustering.coded.codes), clustering.coded.size
        totals = ClusterTotals.from_rows(self._floats, codes, n_clusters=size, **self._parts())
        return totals if self.shape is None else dataclasses.replace(totals, shape=self.shape)

    def summed(self, clustering: Clustering | None, rows: Callable[[int], Rows] | None = None) -> Sample:
        """Totals by one clustering; without one each group is a cluster."""
        one = np.zeros((1,) * self.values.ndim, dtype=np.int64)
        by = clustering or Clustering(name="", coded=Codes(codes=one, size=1, label=int))
        totals = self.totals(by)
        n_missing, n_lost = np.zeros(self.n_groups, dtype=np.int64), 0
        if self.missing is not None:
            groups = np.broadcast_to(0 if self.groups is None else self.groups, self.values.shape)
            counts = None if self.counts is None else self.counts[self.missing]
            n_missing = np.bincount(groups[self.missing], counts, minlength=self.n_groups).astype(np.int64)
            gone = np.broadcast_to(by.coded.codes, self.values.shape)[self.missing]
            n_lost = len(np.setdiff1d(gone[gone >= 0], totals.cluster))
        return Sample(
            totals=totals,
            cluster=None if clustering is None else clustering.name,
            cluster_label=by.label,
            group_label=self.group_label,
            n_missing=n_missing,
            n_lost=n_lost,
            hint=self.hint,
            score_range=self.score_range,
            sentinel=self.sentinel,
            rows=rows,
        )

    def crossed(self, clusterings: list[Clustering], margins: list[ClusterTotals]) -> Crossed:
        """Totals of the intersections of several clusterings."""
        codes = [self.counted(one.coded.codes) for one in clusterings]
        crossed = Crossed.from_rows(self._floats, codes, margins=margins, **self._parts())
        return crossed if self.shape is None else crossed.shaped(self.shape)

    def rows(self, clusterings: list[Clustering], h: int) -> Rows:
        """Scores, clusters and weights of a group, one by one."""
        at = slice(None) if self.groups is None else np.flatnonzero(self.counted(self.groups) == h)
        codes = [self.counted(one.coded.codes)[at] for one in clusterings]
        return self._floats[at], codes, None if self.weights is None else self.counted(self.weights)[at]

    def added_up(self, clusterings: list[Clustering], *, warns: bool = True) -> Sample:
        """Totals by one clustering, or by several that cross, without those that lie within another."""
        counts = ordered(clusterings)
        if len(counts) > 1:
            kept = [one.recoded(self.counted(one.coded.codes)) for one in counts]
            counts = [counts[k] for k in coarsest(kept, warns=warns)]
        samples = [self.summed(one, lambda h: self.rows(counts, h)) for one in counts]
        if len(samples) == 1:
            return samples[0]
        crossed = self.crossed(counts, [one.totals for one in samples])
        return dataclasses.replace(
            samples[0],
            cluster=BETWEEN.join([one.name for one in counts]),
            n_lost=sum(sample.n_lost for sample in samples),
            crossing=Crossing(totals=crossed, samples=tuple(samples)),
        )

    def together(self, clusterings: list[Clustering]) -> list[Sample]:
        """The one sample of all the clusterings, if several of them cross, and no more than can be."""
        try:
            sample = self.added_up(clusterings, warns=False)
        except MethodError:  # too many to be crossed; each alone has a row all the same
            return []
        return [] if sample.crossing is None else [sample]


def told_of(scores: np.ndarray, counts: FloatArray | None) -> dict[str, Any]:
    """What is known of scores that count, as parameters of `Scores`; counts are of scores 0 and 1."""
    if counts is not None:
        return {"score_range": (0.0, 1.0), "binary": True, "sentinel": None}
    return {"score_range": range_of(scores), "binary": all_binary(scores), "sentinel": sentinel_of(scores)}


def ordered(clusterings: Sequence[Clustering]) -> list[Clustering]:
    """Several with their clusters numbered by label, so that no order of the rows moves a draw; one as it is."""
    if len(clusterings) < 2:
        return list(clusterings)
    return [dataclasses.replace(one, coded=by_label(one.coded)) for one in clusterings]


def coarsest(clusterings: Sequence[Clustering], *, warns: bool) -> list[int]:
    """Which clusterings count: not those whose clusters each lie in one cluster of another."""
    sizes = [len(np.unique(one.coded.codes)) for one in clusterings]
    counted = list(range(len(clusterings)))
    # The finest first, so that of a chain only the coarsest stays; of two that are the same the first does.
    order = sorted(counted, key=lambda k: (-sizes[k], -k))
    if max(sizes, default=0) < 2:  # no scores, or a single cluster of each, of which others speak
        order = []
    for a in order:
        for b in counted:
            if b != a and _within(clusterings[a], clusterings[b], sizes[a]):
                if warns:
                    _warn_nested(clusterings[a].name, clusterings[b].name, sizes[a], sizes[b])
                counted = [k for k in counted if k != a]
                break
    if len(counted) > MOST:
        raise MethodError(
            f"cluster= names {len(counted)} clusterings of which none lies within another; at most {MOST} can be crossed, "
            "since each doubles the number of terms. Leave out those that matter least: design_effect(cluster=[...]) "
            "tells which."
        )
    return counted


def _within(inner: Clustering, outer: Clustering, size: int) -> bool:
    both = inner.coded.codes.astype(np.int64) * max(outer.coded.size, 1) + outer.coded.codes
    return len(np.unique(both)) == size


def _warn_nested(inner: str, outer: str, size: int, of_outer: int) -> None:
    text = (
        f"Each of the {size} clusters of {inner!r} lies within one cluster of {outer!r}: they are nested, not "
        f"crossed, and the coarsest counts. {inner!r} was left out; name {outer!r} alone to say so."
    )
    if size == of_outer:
        text = f"{inner!r} and {outer!r} divide the scores alike into {size} clusters, so {outer!r} alone counts."
    warn(text, NestedClustersWarning)
