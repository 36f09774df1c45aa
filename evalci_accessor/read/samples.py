"""Scores in clusters: the totals of each cluster, and the words to speak of them."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evalci_accessor.exceptions import MethodError, NestedClustersWarning, plain, warn
from evalci_accessor.read.ids import Codes, by_label
from evalci_accessor.read.names import joint_name
from evalci_accessor.stats.rates.crossed import MOST, Crossed
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clustering:
    """Ids of what the scores share, one a score."""

    name: str
    coded: Codes

    def take(self, at: Any) -> Clustering:
        """That of some of the scores."""
        return dataclasses.replace(self, coded=dataclasses.replace(self.coded, codes=self.coded.codes[at]))

    def label(self, code: int) -> Any:
        """The id of a cluster code, as the caller wrote it."""
        return plain(self.coded.label(code))


Rows = tuple[FloatArray, list[IntArray], FloatArray | None]  # scores, cluster codes by clustering, weights


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """The cluster totals of each group.

    Parameters
    ----------
    totals : ClusterTotals
    cluster : str or None
        Name of the clustering; None where each score stands for itself.
    cluster_label : callable
        The id of a cluster code.
    group_label : callable
        Words for a group, as "model='A'"; empty for the only one.
    n_missing : ndarray of int, shape (H,)
        Scores left out.
    n_lost : int
        Clusters that lost all their scores.
    score_range : tuple of float
        Least and greatest score; nan without scores.
    sentinel : tuple or None
        A negative value that looks like a mark rather than a score, and how often it occurs.
    hint : str
        What else could be meant where every cluster holds one score.
    crossing : Crossing or None
        The clusterings where there are several; the totals are those of the first, and the name is that of all.
    alone : bool
        Whether no clustering was named, so that each score is a cluster of its own: ``cluster`` names what a score is.
    rows : callable or None
        Scores, clusters and weights of a group, one by one.
    """

    totals: ClusterTotals
    cluster: str | None
    cluster_label: Callable[[int], Any]
    group_label: Callable[[int], str]
    n_missing: IntArray
    n_lost: int
    score_range: tuple[float, float]
    sentinel: tuple[float, int] | None
    hint: str = ""
    crossing: Crossing | None = None
    alone: bool = False
    rows: Callable[[int], Rows] | None = None

    @property
    def clusterings(self) -> tuple[Sample, ...]:
        """The same by each clustering alone."""
        return (self,) if self.crossing is None else self.crossing.samples


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crossing:
    """Several clusterings of the same scores: their totals together, and each with its own name and labels."""

    totals: Crossed
    samples: tuple[Sample, ...]


class Scores(abc.ABC):
    """Checked scores of a container, ready to be added up by any clustering."""

    @abc.abstractmethod
    def counted(self, codes: IntArray) -> IntArray:
        """Codes of the scores that count, one after the other."""

    @abc.abstractmethod
    def summed(self, clustering: Clustering | None) -> Sample:
        """Totals by one clustering; without one each group is a cluster."""

    @abc.abstractmethod
    def crossed(self, clusterings: list[Clustering], margins: list[ClusterTotals]) -> Crossed:
        """Totals of the intersections of several clusterings."""

    @abc.abstractmethod
    def rows(self, clusterings: list[Clustering], h: int) -> Rows:
        """Scores, clusters and weights of a group, one by one."""

    def added_up(self, clusterings: list[Clustering], *, warns: bool = True) -> Sample:
        """Totals by one clustering, or by several that cross, without those that lie within another."""
        counts = ordered(clusterings)
        if len(counts) > 1:
            kept = [
                Clustering(
                    name=one.name, coded=dataclasses.replace(one.coded, codes=self.counted(one.coded.codes))
                )
                for one in counts
            ]
            counts = [counts[k] for k in coarsest(kept, warns=warns)]
        samples = [self.summed(one) for one in counts]
        sample = samples[0]
        if len(samples) > 1:
            refuse_many([one.name for one in counts])
            sample = cross(samples, self.crossed(counts, [one.totals for one in samples]))
        return dataclasses.replace(sample, rows=lambda h: self.rows(counts, h))

    def together(self, clusterings: list[Clustering]) -> list[Sample]:
        """The one sample of all the clusterings, if several of them cross, and no more than can be."""
        try:
            sample = self.added_up(clusterings, warns=False)
        except MethodError:  # too many to be crossed; each alone has a row all the same
            return []
        return [] if sample.crossing is None else [sample]


def cross(samples: Sequence[Sample], totals: Crossed) -> Sample:
    """One sample of several clusterings."""
    return dataclasses.replace(
        samples[0],
        cluster=joint_name([str(sample.cluster) for sample in samples]),
        n_lost=sum(sample.n_lost for sample in samples),
        crossing=Crossing(totals=totals, samples=tuple(samples)),
    )


def ordered(clusterings: Sequence[Clustering]) -> list[Clustering]:
    """Several with their clusters numbered by label, so that no order of the rows moves a draw; one as it is."""
    if len(clusterings) < 2:
        return list(clusterings)
    return [dataclasses.replace(one, coded=by_label(one.coded)) for one in clusterings]


def refuse_many(names: Sequence[str]) -> None:
    """Refuse more clusterings than can be crossed."""
    if len(names) > MOST:
        raise MethodError(
            f"cluster= names {len(names)} clusterings of which none lies within another; at most {MOST} can be crossed, "
            "since each doubles the number of terms. Leave out those that matter least: design_effect(cluster=[...]) "
            "tells which."
        )


def coarsest(clusterings: Sequence[Clustering], *, warns: bool) -> list[int]:
    """Which clusterings count: not those whose clusters each lie in one cluster of another."""
    sizes = [len(np.unique(one.coded.codes)) for one in clusterings]
    counted = list(range(len(clusterings)))
    if max(sizes, default=0) < 2:  # no scores, or a single cluster of each, of which others speak
        return counted
    # The finest first, so that of a chain only the coarsest stays; of two that are the same the first does.
    for a in sorted(counted, key=lambda k: (-sizes[k], -k)):
        for b in counted:
            if b != a and _within(clusterings[a], clusterings[b], sizes[a]):
                if warns:
                    _warn_nested(
                        clusterings[a].name, clusterings[b].name, sizes[a], same=sizes[a] == sizes[b]
                    )
                counted = [k for k in counted if k != a]
                break
    return counted


def _within(inner: Clustering, outer: Clustering, size: int) -> bool:
    both = inner.coded.codes.astype(np.int64) * max(outer.coded.size, 1) + outer.coded.codes
    return len(np.unique(both)) == size


def _warn_nested(inner: str, outer: str, size: int, *, same: bool) -> None:
    if same:
        text = f"{inner!r} and {outer!r} divide the scores alike into {size} clusters, so {outer!r} alone counts."
    else:
        text = (
            f"Each of the {size} clusters of {inner!r} lies within one cluster of {outer!r}: they are nested, not "
            f"crossed, and the coarsest counts. {inner!r} was left out; name {outer!r} alone to say so."
        )
    warn(text, NestedClustersWarning)
