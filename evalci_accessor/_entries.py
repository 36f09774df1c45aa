"""What matching works on: scores with codes, what things are called, and what is asked of the tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from evalci_accessor._ids import Codes
from evalci_accessor._pairing import Samples
from evalci_accessor.options import Unmatched
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Names:
    """What things are called, for messages.

    Parameters
    ----------
    score, factor : str
    item : list of str
        The columns or dims that make the key together.
    cluster, sample, weights : str or None
        Of several clusterings the name of all, and each in ``clusters``; those that lack ids in ``lacking``.
    averages : bool
        Whether the question takes the mean of an item's scores.
    entries : str
        What one score is, in the plural: "rows" or "cells".
    """

    score: str
    factor: str
    item: list[str]
    cluster: str | None
    sample: str | None
    averages: bool
    entries: str
    weights: str | None = None
    clusters: list[str] = dataclasses.field(default_factory=list)
    lacking: list[str] = dataclasses.field(default_factory=list)

    @property
    def key(self) -> str:
        """The item's name, or names, as one."""
        return ", ".join(self.item)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Request:
    """What is asked of the tables.

    Parameters
    ----------
    systems : list
        Labels of the system codes.
    pairs : ndarray of int, shape (P, 2)
    names : Names
    n_groups : int
    item_label, cluster_label, group_label : callable
    unmatched : {"raise", "drop"}
    samples : bool
        Whether to tell how the samples of an item vary, and not only their mean.
    """

    systems: list[Any]
    pairs: IntArray
    names: Names
    n_groups: int
    item_label: Callable[[int], Any]
    cluster_label: Callable[[int], Any]
    group_label: Callable[[int], str]
    unmatched: Unmatched
    samples: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entries:
    """One entry a score, in codes.

    Parameters
    ----------
    scores : ndarray of float, shape (n,)
        nan where missing.
    groups, systems, items : ndarray of int, shape (n,)
        -1 for a missing item.
    n_items : int
    clusters, samples : Codes or None
    weights : ndarray of float, shape (n,), or None
        As they came; the items of weight 0 are absent.
    where : callable
        Words for an entry.
    others : callable
        Further columns by name that could tell two scores of an item apart; only asked for a message.
    held : Samples or None
        What each entry is the mean of, one column; None where an entry is a single score.
    """

    scores: FloatArray
    groups: IntArray
    systems: IntArray
    items: IntArray
    n_items: int
    clusters: Codes | None
    samples: Codes | None
    weights: FloatArray | None
    where: Callable[[int], str]
    others: Callable[[], Iterable[tuple[str, Codes]]]
    held: Samples | None = None

    def take(self, keep: BoolArray) -> Entries:
        """Some of the entries."""
        at = np.flatnonzero(keep)

        def part(codes: Codes | None) -> Codes | None:
            return None if codes is None else dataclasses.replace(codes, codes=codes.codes[at])

        return Entries(
            scores=self.scores[at], groups=self.groups[at], systems=self.systems[at], items=self.items[at],
            n_items=self.n_items, clusters=part(self.clusters), samples=part(self.samples),
            weights=None if self.weights is None else self.weights[at],
            where=lambda i: self.where(int(at[i])),
            others=lambda: ((name, dataclasses.replace(ids, codes=ids.codes[at])) for name, ids in self.others()),
            held=None if self.held is None else self.held.take(at),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """Means of the items of all groups, one group after the other.

    Parameters
    ----------
    means : ndarray of float, shape (S, M)
        nan where a system lacks the item.
    lost : ndarray of bool, shape (S, M), or None
        Where a missing score was left out.
    items, groups : ndarray of int, shape (S,)
        ``groups`` ascends.
    clusters : ndarray of int, shape (S,), or None
    weights : ndarray of float, shape (S,), or None
    repeats : int
    counts : ndarray of int, shape (S, M), or None
        Scores that each mean is over; None where it is the same everywhere.
    n_missing : ndarray of int, shape (H, M)
    sentinel : tuple or None
    samples : Samples or None
        Only if asked for.
    """

    means: FloatArray
    lost: BoolArray | None
    items: IntArray
    groups: IntArray
    clusters: IntArray | None
    weights: FloatArray | None
    repeats: int
    counts: IntArray | None
    n_missing: IntArray
    sentinel: tuple[float, int] | None
    samples: Samples | None = None
