"""What a container hands up to the statistics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from evalci_accessor._crossing import joint_name
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """What a container hands up: the totals, and the words to speak of them.

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
        Whether nobody named a clustering, so that each score is a cluster of its own: ``cluster`` then names what a score is.
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

    @property
    def clusterings(self) -> tuple[Sample, ...]:
        """The same by each clustering alone."""
        return (self,) if self.crossing is None else self.crossing.samples


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crossing:
    """Several clusterings of the same scores.

    Parameters
    ----------
    totals : Crossed
    samples : tuple of Sample
        Each clustering with its own name and labels.
    """

    totals: Crossed
    samples: tuple[Sample, ...]


def cross(samples: Sequence[Sample], totals: Crossed) -> Sample:
    """One sample of several clusterings."""
    first = samples[0]
    return dataclasses.replace(
        first, cluster=joint_name([str(sample.cluster) for sample in samples]), n_lost=sum(sample.n_lost for sample in samples),
        crossing=Crossing(totals=totals, samples=tuple(samples)),
    )  # fmt: skip
