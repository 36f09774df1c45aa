"""One row a score, in codes: what matched systems and repeated samples are made from, whatever the container."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from evalci_accessor.exceptions import EvalCIError, MissingClusterError, examples, plain
from evalci_accessor.options import Unmatched
from evalci_accessor.read.ids import Clustering, Codes
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Names:
    """What things are called, for messages.

    Parameters
    ----------
    score : str
    item : list of str
        The columns or dims that make the item's id together.
    samples : list of str
        What numbers the samples of an item together.
    weights : str or None
    entries : str
        What one score is, in the plural: "rows" or "cells".
    n_groups : int
    item_label, group_label : callable
        The id of an item's code; words for a group, as "model='A'", empty for the only one.
    factor : str
        What tells the systems apart; empty where there is one.
    kept : tuple of str
        Dims of a cube that stay.
    """

    score: str
    item: list[str]
    samples: list[str]
    entries: str
    n_groups: int
    item_label: Callable[[int], Any]
    group_label: Callable[[int], str]
    weights: str | None = None
    factor: str = ""
    kept: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The item's name, or names, as one."""
        return ", ".join(self.item)

    @property
    def sample(self) -> str | None:
        """The name of the samples' number, or names, as one."""
        return ", ".join(self.samples) or None

    def words(self, item: int, group: int) -> str:
        """An item in a group."""
        where = self.group_label(group)
        return f"{plain(self.item_label(item))!r}{f' in {where}' if where else ''}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairing:
    """What is to be matched: the systems, the pairs, and what to do about items that do not pair up.

    ``averages`` says that several scores of an item may be averaged, ``samples`` asks how they vary.
    """

    systems: list[Any]
    pairs: IntArray
    names: Names
    unmatched: Unmatched
    averages: bool = True
    samples: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """How the samples of an item vary under each system.

    Parameters
    ----------
    counts : ndarray of int, shape (n, M)
        Number of samples, 0 where the system lacks the item.
    variances : ndarray of float, shape (n, M)
        Their variance (n - 1); nan of a single one.
    binary : bool
        Whether every one is 0 or 1.
    """

    counts: IntArray
    variances: FloatArray
    binary: bool

    @classmethod
    def of(cls, counts: IntArray, squares: FloatArray, *, binary: bool) -> Samples:
        """From the sums of the squared deviations from the item's mean."""
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = np.where(counts > 1, squares / (counts - 1), np.nan)
        return cls(counts=counts, variances=variances, binary=binary)

    def take(self, items: Any) -> Samples:
        """Those of some items."""
        return dataclasses.replace(self, counts=self.counts[items], variances=self.variances[items])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """One row a score.

    Parameters
    ----------
    scores : ndarray of float, shape (n,)
        nan where missing.
    groups, systems, items : ndarray of int, shape (n,)
        -1 for a missing item.
    n_items : int
    clusterings : list of Clustering
    samples : Codes or None
    weights : ndarray of float, shape (n,), or None
        As they came; the items of weight 0 are absent.
    where : callable
        Words for a row.
    others : callable
        Further columns by name that could tell two scores of an item apart; only for a message.
    held : Samples or None
        What each row is the mean of, one column; None where a row is a single score.
    """

    scores: FloatArray
    groups: IntArray
    systems: IntArray
    items: IntArray
    n_items: int
    clusterings: list[Clustering]
    samples: Codes | None
    weights: FloatArray | None
    where: Callable[[int], str]
    others: Callable[[], Iterable[tuple[str, Codes]]]
    held: Samples | None = None

    def take(self, keep: BoolArray | None) -> Rows:
        """Some of the rows; all for None."""
        if keep is None:
            return self
        at = np.flatnonzero(keep)

        def part(codes: Codes) -> Codes:
            return dataclasses.replace(codes, codes=codes.codes[at])

        return Rows(
            scores=self.scores[at],
            groups=self.groups[at],
            systems=self.systems[at],
            items=self.items[at],
            n_items=self.n_items,
            clusterings=[one.take(at) for one in self.clusterings],
            samples=None if self.samples is None else part(self.samples),
            weights=None if self.weights is None else self.weights[at],
            where=lambda i: self.where(int(at[i])),
            others=lambda: ((name, part(ids)) for name, ids in self.others()),
            held=None if self.held is None else self.held.take(at),
        )

    def refuse_missing_ids(self, names: Names, error: type[EvalCIError], why: dict[str, str]) -> None:
        """Refuse rows without the id of an item, a sample or a cluster; ``why`` an item and a sample need one."""
        numbers = None if self.samples is None else self.samples.codes
        for codes, name, what in ((self.items, names.key, "item"), (numbers, names.sample, "sample")):
            if codes is not None and (codes < 0).any():
                at = np.flatnonzero(codes < 0).tolist()
                raise error(
                    f"{len(at)} of {len(codes)} {names.entries} have no {what} id in {name!r}: "
                    f"{examples(at, words=self.where)}. {why[what]} Fill it in, or leave these {names.entries} out "
                    "knowingly, as with dropna(subset=[...])."
                )
        refuse_missing_clusters(self.clusterings, names.entries, self.where)


def refuse_missing_clusters(
    clusterings: Sequence[Clustering], entries: str, where: Callable[[int], str]
) -> None:
    """Refuse rows or cells without a cluster id."""
    for one in clusterings:
        at, n = np.flatnonzero(one.coded.codes < 0).tolist(), len(one.coded.codes)
        if at:
            raise MissingClusterError(
                f"{'all' if len(at) == n else len(at)} of {n} {entries} have no cluster id in {one.name!r}: "
                f"{examples(at, words=where)}. They are neither one cluster nor none. Leave them out knowingly with "
                f"dropna(subset=[{one.name!r}]), or give each item an id of its own if they share nothing."
            )
