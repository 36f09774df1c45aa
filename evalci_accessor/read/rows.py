"""One row a score, in codes: what matched systems and repeated samples are made from, whatever the container."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import EvalCIError, WeightError, examples, plain
from evalci_accessor.options import NanPolicy, Unmatched
from evalci_accessor.read.ids import Clustering, Codes, ranked, refuse_missing_clusters
from evalci_accessor.read.scores import checked_weights, refuse_weightless, screen
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, scaled

Error: TypeAlias = type[EvalCIError]
# Ratio above which weights differ by rounding only, as after a division by sums in another order.
_EQUAL = 1 - 1e-9


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Names:
    """What things are called, for messages."""

    score: str
    item: list[str]  # the columns or dims that make the item's id together
    samples: list[str]  # what numbers the samples of an item together
    entries: str  # what one score is, in the plural: "rows" or "cells"
    n_groups: int
    item_label: Callable[[int], Any]  # the id of an item's code
    group_label: Callable[[int], str]  # words for a group, as "model='A'"; empty for the only one
    weights: str | None = None
    factor: str = ""  # what tells the systems apart; empty where there is one
    kept: tuple[str, ...] = ()  # dims of a cube that stay

    @property
    def key(self) -> str:
        """The item's name, or names, as one."""
        return ", ".join(self.item)

    @property
    def sample(self) -> str | None:
        """The name of the samples' number, or names, as one."""
        return ", ".join(self.samples) or None

    def within(self, group: int) -> str:
        """Words for a group, to stand behind those for what lies in it."""
        where = self.group_label(group)
        return f" in {where}" if where else ""

    def listed(self, groups: list[int]) -> str:
        """Words for several groups, to stand behind those for what lies in them."""
        if not self.group_label(groups[0]):
            return ""
        return f", in {len(groups)} group(s): {examples(groups, between='; ', words=self.group_label)}"


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Pairing:
    """What is to be matched: the systems, the pairs, and what to do about items that do not pair up.

    ``averages`` says that several scores of an item may be averaged, ``samples`` asks how they vary.
    """

    systems: list[Any]
    pairs: IntArray
    names: Names
    unmatched: Unmatched
    averages: bool
    samples: bool


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Samples:
    """How the samples of an item vary under each system."""

    counts: IntArray  # (n, M): number of samples, 0 where the system lacks the item
    variances: FloatArray  # (n, M): their variance (n - 1); nan of a single one
    binary: bool  # whether every one is 0 or 1

    @classmethod
    def of(cls, counts: IntArray, squares: FloatArray, *, binary: bool) -> Samples:
        """From the sums of the squared deviations from the item's mean."""
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = np.where(counts > 1, squares / (counts - 1), np.nan)
        return cls(counts, variances, binary)

    def each(self, change: Callable[[np.ndarray], Any]) -> Samples:
        """The same with both arrays changed alike."""
        return Samples(change(self.counts), change(self.variances), self.binary)

    def take(self, items: Any) -> Samples:
        """Those of some items."""
        return self.each(lambda values: values[items])


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Rows:
    """One row a score."""

    scores: FloatArray  # (n,): nan where missing
    groups: IntArray
    systems: IntArray
    items: IntArray  # -1 for a missing one
    n_items: int
    clusterings: list[Clustering]
    samples: Codes | None
    weights: FloatArray | None  # (n,): as they came; the items of weight 0 are absent
    where: Callable[[int], str]  # words for a row
    # Further columns by name that could tell two scores of an item apart; only for a message.
    others: Callable[[], Iterable[tuple[str, Codes]]]
    held: Samples | None = None  # what each row is the mean of; None where a row is a single score

    def take(self, keep: BoolArray | None) -> Rows:
        """Some of the rows; all for None."""
        if keep is None:
            return self
        at = np.flatnonzero(keep)
        return Rows(
            scores=self.scores[at],
            groups=self.groups[at],
            systems=self.systems[at],
            items=self.items[at],
            n_items=self.n_items,
            clusterings=[one.take(at) for one in self.clusterings],
            samples=None if self.samples is None else self.samples.recoded(self.samples.codes[at]),
            weights=None if self.weights is None else self.weights[at],
            where=lambda i: self.where(int(at[i])),
            others=lambda: ((name, ids.recoded(ids.codes[at])) for name, ids in self.others()),
            held=None if self.held is None else self.held.take(at),
        )

    def refuse_missing_ids(self, names: Names, error: Error, why: dict[str, str]) -> None:
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
        for one in self.clusterings:
            lacking, shown = one.coded.codes < 0, functools.partial(examples, words=self.where)
            refuse_missing_clusters(lacking, one.name, names.entries, shown, "each item")


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Keys:
    """The key of each row's item: its group, its id, and its cluster where ids count within it."""

    names: Names
    n_ids: int
    outer: Codes | None

    @property
    def size(self) -> int:
        """Keys of a group."""
        return self.n_ids if self.outer is None else self.n_ids * max(self.outer.size, 1)

    def of(self, rows: Rows) -> IntArray:
        """The key of each row; -1 where an id is missing."""
        key, lacking = rows.groups * self.size + rows.items, rows.items < 0
        if self.outer is not None:
            key, lacking = key + self.outer.codes * self.n_ids, lacking | (self.outer.codes < 0)
        return np.where(lacking, -1, key)

    def label(self, key: int) -> Any:
        """The id of a key."""
        own, code = plain(self.names.item_label(key % self.n_ids)), key % self.size // self.n_ids
        return own if self.outer is None else (plain(self.outer.label(code)), own)

    def words(self, key: int) -> str:
        """The id and the group of a key."""
        return f"{self.label(key)!r}{self.names.within(key // self.size)}"


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Kept:
    """The rows that count, and the item of each."""

    rows: Rows
    keep: BoolArray | None  # which of the caller's rows these are; None for all
    missing: BoolArray | None  # which of them have no score; None for none
    slot: IntArray  # the item of each row
    present: IntArray  # the key of each item
    weights: FloatArray | None  # the weight of each item
    keys: Keys

    def words(self, i: int) -> str:
        """The id and the group of an item."""
        return self.keys.words(int(self.present[i]))

    def clusters(
        self, torn: Callable[[Kept, Clustering, IntArray, Callable[[int], str]], EvalCIError]
    ) -> list[Clustering]:
        """The cluster of each item, by each clustering.

        Of items in several ``torn`` makes an error, from the first row of each that is not in the cluster of those before,
        and words for the two clusters.
        """
        return [self._one_cluster(one, torn) for one in self.rows.clusterings]

    def _one_cluster(self, one: Clustering, torn: Any) -> Clustering:
        codes, slot = one.coded.codes, self.slot
        own = np.zeros(len(self.present), dtype=np.int64)
        own[slot[::-1]] = codes[::-1]  # the first row's
        other = np.flatnonzero(codes != own[slot])
        if not len(other):
            return one.recoded(own)
        _, first = np.unique(slot[other], return_index=True)

        def both(i: int) -> str:
            return f" in {one.label(int(own[slot[i]]))!r} and {one.label(int(codes[i]))!r}"

        raise torn(self, one, other[np.sort(first)], both)

    def refuse_copies(
        self, key: IntArray, of: str, words: Callable[[int], str], way: Callable[[], str], error: Error
    ) -> None:
        """Refuse two rows of one key, which is made ``of`` some names; ``words`` are those for a row."""
        if pd.Index(key).is_unique:
            return
        codes, uniques = pd.factorize(key)
        repeated = np.flatnonzero(np.bincount(codes) > 1)

        def copies(code: int) -> str:
            at = np.flatnonzero(codes == code)
            return f"{words(int(at[0]))} ({examples((f'{self.rows.scores[i]:g}' for i in at), 4)})"

        raise error(
            f"{len(repeated)} of {len(uniques)} combinations of {of} have two scores or more: "
            f"{examples(repeated.tolist(), between='; ', words=copies)}. {way()}"
        )


def keep_rows(
    rows: Rows, names: Names, policy: NanPolicy, error: Error, why: dict[str, str], outer: Codes | None = None
) -> Kept:
    """Check the scores, weights and ids of rows, and leave out what does not count.

    ``outer`` are clusters within which the ids of items count; for ``error`` and ``why`` see `refuse_missing_ids`.
    """
    keys = Keys(names=names, n_ids=max(rows.n_items, 1), outer=outer)
    key, n_keys = keys.of(rows), names.n_groups * keys.size
    if rows.weights is not None:
        rows = dataclasses.replace(rows, weights=_weights(rows, keys, key, n_keys))
    keep, missing = screen(rows.scores, rows.weights, names.score, policy, rows.where)
    kept = rows.take(keep)
    kept.refuse_missing_ids(names, error, why)
    slot, present = ranked(key if keep is None else key[keep], n_keys)
    weights = None
    if kept.weights is not None:
        weights = np.empty(len(present))
        weights[slot] = kept.weights
    return Kept(kept, keep, missing, slot, present, weights, keys)


def _weights(rows: Rows, keys: Keys, key: IntArray, n_keys: int) -> FloatArray:
    """The weight of each row, after the checks: that of its item."""
    raw, names = np.array(rows.weights), keys.names
    weights = checked_weights(raw, str(names.weights), rows.where)
    if names.n_groups > 1:
        totals = np.bincount(rows.groups, weights=weights, minlength=names.n_groups)
        held = np.bincount(rows.groups, minlength=names.n_groups) > 0
        refuse_weightless(np.where(held, totals, np.nan), names.group_label)
    known = key >= 0
    slot, present = ranked(key[known], n_keys)
    own = item_weights(raw[known], slot, len(present), lambda k: keys.words(int(present[k])), names)
    raw[known] = own[slot]
    return scaled(raw) if raw.size else raw


def item_weights(
    weights: FloatArray, slot: IntArray, n_slots: int, label: Callable[[int], str], names: Names
) -> FloatArray:
    """The weight of each item, of whose entries none differs by more than rounding; ``slot`` is the item of each."""
    least, most = np.full(n_slots, np.inf), np.zeros(n_slots)
    np.minimum.at(least, slot, weights)
    np.maximum.at(most, slot, weights)
    bad = np.flatnonzero(least < most * _EQUAL).tolist()
    if not bad:
        return most

    def words(k: int) -> str:
        values = np.unique(weights[slot == k])
        return f"{label(k)} ({values[0]:g} and {values[-1]:g})"

    way = "The samples of an item count alike."
    if names.factor:
        way = "To weigh samples or systems, average them into one score an item first."
    raise WeightError(
        f"{len(bad)} item(s) of {names.key!r} have more than one weight in {names.weights!r}: "
        f"{examples(bad, words=words)}. A weight belongs to an item, whichever system answers it and however often: give "
        f"all its scores the same one (scale does not matter, so there is no need to normalise by system). {way}"
    )
