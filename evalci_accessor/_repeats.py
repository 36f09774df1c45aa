"""From scores with codes to items and their samples, with every way in which they can fail to be told apart said in full."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._crossing import Clustering
from evalci_accessor._entries import Entries
from evalci_accessor._ids import Codes, ranked
from evalci_accessor._item_weights import one_weight, refuse_unequal, refuse_weightless
from evalci_accessor._pooled import divided, needed, pooled_words
from evalci_accessor._scores import checked_weights, screen, sentinel_of
from evalci_accessor.exceptions import (
    ClusterError,
    MethodError,
    MissingClusterError,
    MissingScoreWarning,
    SamplesError,
    examples,
    plain,
    warn,
)
from evalci_accessor.options import NanPolicy
from evalci_accessor.stats.repeated.values import refuse_extremes
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Naming:
    """What things are called, for messages.

    Parameters
    ----------
    score : str
    item : list of str
        The columns or dims that make the item's id together.
    samples : list of str
        What numbers the samples together.
    weights : str or None
    entries : str
        What one score is, in the plural: "rows" or "cells".
    n_groups : int
    item_label : callable
        The id of a code.
    group_label : callable
        Words for a group, as "model='A'"; empty for the only one.
    kept : tuple of str
        Dims of a cube that are not reduced.
    """

    score: str
    item: list[str]
    samples: list[str]
    entries: str
    n_groups: int
    item_label: Callable[[int], Any]
    group_label: Callable[[int], str]
    weights: str | None = None
    kept: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The item's name, or names, as one."""
        return ", ".join(self.item)

    @property
    def sample(self) -> str | None:
        """The name of the samples' number, or names, as one."""
        return ", ".join(self.samples) or None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Items:
    """Items of all groups, one group after the other.

    Parameters
    ----------
    groups, n : ndarray of int, shape (I,)
        Group, ascending, and number of samples of each item.
    scores : ndarray of float, shape (S,)
        The samples of one item after the other.
    clusterings : list of Clustering
        With the cluster of each item; none where items count as independent.
    weights : ndarray of float, shape (I,), or None
        Weights above 0; None where all items count the same.
    label : callable
        The id of an item by its place.
    words : callable
        The same in words, as "'q7' in model='A'".
    naming : Naming
    per_entry : ndarray of int, shape (entries,)
        Samples of the item of each entry, in their order; 0 for one that does not count.
    pooled : str
        In words, that samples of several systems seem to count as those of one; empty if not.
    """

    groups: IntArray
    n: IntArray
    scores: FloatArray
    clusterings: list[Clustering]
    weights: FloatArray | None
    label: Callable[[int], Any]
    words: Callable[[int], str]
    naming: Naming
    per_entry: IntArray
    pooled: str = ""

    @property
    def sums(self) -> FloatArray:
        """Sum of the scores of each item."""
        return np.bincount(np.repeat(np.arange(len(self.n)), self.n), weights=self.scores, minlength=len(self.n)).astype(
            float
        )

    @property
    def sentinel(self) -> tuple[float, int] | None:
        """A lone negative value that looks like a mark."""
        return sentinel_of(self.scores) if self.scores.size and self.scores.min() < 0 else None


def gather(
    entries: Entries, naming: Naming, clusterings: Sequence[Clustering], nan_policy: NanPolicy, *, nested: bool
) -> Items:
    """Items with their samples, from scores in any order, with the cluster of each in ``clusterings``."""
    if nested and len(clusterings) != 1:
        found = f"cluster= names {len(clusterings)}, so within which is not told" if clusterings else "no cluster= is named"
        raise MethodError(
            f"nested=True says that the ids of items count within a cluster, and {found}. What makes an id together can be named "
            "as a list: item=[..., ...]."
        )
    outer = clusterings[0].coded if nested else None
    n_ids = max(entries.n_items, 1)
    size = n_ids if outer is None else n_ids * max(outer.size, 1)
    key = entries.groups * size + entries.items + (0 if outer is None else outer.codes * n_ids)

    def label_of(key: int) -> Any:
        own, code = plain(naming.item_label(key % n_ids)), key % size // n_ids
        return own if outer is None else (plain(outer.label(code)), own)

    def words_of(key: int) -> str:
        where = naming.group_label(key // size)
        return f"{label_of(key)!r}{f' in {where}' if where else ''}"

    weights = None
    if entries.weights is not None:
        told = (entries.items >= 0) & (True if outer is None else outer.codes >= 0)
        weights = _weights(entries, naming, key, told, size, words_of)
    absent = None if weights is None else weights == 0  # as if the row were not there, whatever its score
    keep, missing = screen(entries.scores, absent, naming.score, nan_policy, entries.where)
    kept = entries if keep is None else entries.take(keep)
    within = [one if keep is None else _taken(one, keep) for one in clusterings]
    _refuse_missing_ids(kept, naming, within)
    refuse_extremes(kept.scores, naming.score)
    slot, present = ranked(key if keep is None else key[keep], naming.n_groups * size)

    def words(i: int) -> str:
        return words_of(int(present[i]))

    own = [_one_cluster(kept, one, slot, len(present), naming, words, alone=len(within) == 1) for one in within]
    _refuse_copies(kept, slot, naming, words)
    if missing is not None:
        _warn_missing(entries.groups[missing], len(np.setdiff1d(entries.items[missing], kept.items)), naming)
    if weights is not None:
        weights = one_weight(weights if keep is None else weights[keep], slot, len(present))[0]
    n = np.bincount(slot, minlength=len(present))
    per_entry = np.zeros(len(entries.scores), dtype=np.int64)
    per_entry[slice(None) if keep is None else keep] = n[slot]
    return Items(
        groups=present // size, n=n, per_entry=per_entry,
        scores=kept.scores[np.argsort(slot, kind="stable")], clusterings=own, weights=weights,
        label=lambda i: label_of(int(present[i])), words=words, naming=naming, pooled=pooled_words(kept, slot, naming),
    )  # fmt: skip


def _weights(
    entries: Entries, naming: Naming, key: IntArray, told: BoolArray, size: int, words_of: Callable[[int], str]
) -> FloatArray:
    """The weight of each entry, after the checks; ``told`` marks entries whose item is known, by ``key``."""
    raw = np.asarray(entries.weights)
    weights = checked_weights(raw, str(naming.weights), entries.where)
    if naming.n_groups > 1:
        totals = np.bincount(entries.groups, weights=weights, minlength=naming.n_groups)
        held = np.bincount(entries.groups, minlength=naming.n_groups) > 0
        refuse_weightless(np.where(held, totals, np.nan), naming.group_label)
    slot, present = ranked(key[told], naming.n_groups * size)
    bad = one_weight(weights[told], slot, len(present))[1]
    refuse_unequal(
        np.flatnonzero(bad), lambda i: words_of(int(present[i])), lambda i: raw[told][slot == i], naming.key,
        str(naming.weights), "The samples of an item count alike.",
    )  # fmt: skip
    return weights


def _taken(one: Clustering, keep: BoolArray) -> Clustering:
    return dataclasses.replace(one, coded=dataclasses.replace(one.coded, codes=one.coded.codes[keep]))


def _refuse_missing_ids(kept: Entries, naming: Naming, clusterings: Sequence[Clustering]) -> None:
    n = len(kept.scores)
    for codes, name, what in (
        (kept.items, naming.key, "item"),
        (None if kept.samples is None else kept.samples.codes, naming.sample, "sample"),
    ):
        if codes is not None and (codes < 0).any():
            at = np.flatnonzero(codes < 0)
            raise SamplesError(
                f"{len(at)} of {n} {naming.entries} have no {what} id in {name!r}: {examples(at.tolist(), words=kept.where)}. "
                f"Without it nobody knows {'whose sample a score is' if what == 'item' else 'which samples are copies'}. Fill it "
                f"in, or leave these {naming.entries} out knowingly, as with dropna(subset=[...])."
            )
    for one in clusterings:
        at = np.flatnonzero(one.coded.codes < 0)
        if len(at):
            raise MissingClusterError(
                f"{'all' if len(at) == n else len(at)} of {n} {naming.entries} have no cluster id in {one.name!r}: "
                f"{examples(at.tolist(), words=kept.where)}. They are neither one cluster nor none. Leave them out knowingly with "
                f"dropna(subset=[{one.name!r}]), or give each item an id of its own if they share nothing."
            )


def _one_cluster(
    kept: Entries, one: Clustering, slot: IntArray, n_slots: int, naming: Naming, words: Callable[[int], str], *, alone: bool
) -> Clustering:  # fmt: skip
    """The cluster of each item, which must be one; ``alone`` says that no other clustering is named."""
    codes = one.coded.codes
    own = np.zeros(n_slots, dtype=np.int64)
    own[slot[::-1]] = codes[::-1]  # the first entry's
    other = np.flatnonzero(codes != own[slot])
    if not len(other):
        return dataclasses.replace(one, coded=dataclasses.replace(one.coded, codes=own))
    _, first = np.unique(slot[other], return_index=True)
    at = other[np.sort(first)]

    def both(i: int) -> str:
        labels = (plain(one.coded.label(int(code))) for code in (own[slot[i]], codes[i]))
        return f"{words(int(slot[i]))} in {' and '.join(map(repr, labels))}"

    local = (
        "If each cluster numbers its items anew, so that these are different items with one id, pass nested=True or "
        f"item={[one.name, *naming.item]!r}: ids then count within their cluster."
        if alone
        else f"If an item under each value of {one.name!r} is an item of its own, say so: item={[*naming.item, one.name]!r}."
    )
    spread = f"If they are samples of one item, correct the ids in {one.name!r}."
    ways = f"{local} {spread}"
    if kept.samples is not None:
        torn = np.isin(slot, slot[at])
        key = slot[torn] * kept.samples.size + kept.samples.codes[torn]
        if pd.Index(key).is_unique:
            ways = f"The numbers in {naming.sample!r} go on from one cluster to the other, as of one item. {spread} {local}"
        else:
            ways = f"The numbers in {naming.sample!r} begin anew in each cluster, as of different items. {local} {spread}"
    raise ClusterError(
        f"{len(at)} of {n_slots} items of {naming.key!r} have samples in more than one cluster of {one.name!r}: "
        f"{examples(at.tolist(), words=both, between='; ')}. An item lies in one cluster. {ways}"
    )


def _refuse_copies(kept: Entries, slot: IntArray, naming: Naming, words: Callable[[int], str]) -> None:
    """Two scores under one number of a sample."""
    if kept.samples is None:
        return
    key = slot * kept.samples.size + kept.samples.codes
    if pd.Index(key).is_unique:
        return
    codes, uniques = pd.factorize(key)
    repeated = np.flatnonzero(np.bincount(codes) > 1)

    def copies(code: int) -> str:
        rows = np.flatnonzero(codes == code)
        number = plain(kept.samples.label(int(kept.samples.codes[rows[0]]))) if kept.samples is not None else ""
        return f"{words(int(slot[rows[0]]))}, sample {number!r} ({examples((f'{kept.scores[i]:g}' for i in rows), 4)})"

    names = next(([name] for name, ids in kept.others() if _tells_apart(key, ids)), None)
    names = names or [one.name for one in needed(divided(kept, slot))]
    way = "If they are copies, remove them, as with drop_duplicates; else number the samples anew."
    if names:
        shown = repr(names[0]) if len(names) == 1 else repr(names)
        way = f"{' and '.join(map(repr, names))} {'tells' if len(names) == 1 else 'tell'} them apart"
        way += (
            f": keep its values apart with by={shown}" if naming.entries == "rows" else ": leave it out of what is reduced"
        )
        way += f", or pass item={[*naming.item, *names]!r} if it is part of the item's id."
    raise SamplesError(
        f"{len(repeated)} of {len(uniques)} combinations of {naming.key!r} and {naming.sample!r} have two scores or more: "
        f"{examples(repeated.tolist(), between='; ', words=copies)}. {way}"
    )


def _tells_apart(key: IntArray, ids: Codes) -> bool:
    if (ids.codes < 0).any() or not ids.size or isinstance(ids.label(0), float):  # these are measurements
        return False
    return bool(pd.Index(pd.factorize(key)[0] * ids.size + ids.codes).is_unique)


def _warn_missing(groups: IntArray, n_lost: int, naming: Naming) -> None:
    """Say how many samples were left out."""
    counts = np.bincount(groups, minlength=naming.n_groups)
    held = np.flatnonzero(counts).tolist()
    shown = examples(held, words=lambda h: f"{counts[h]}" + (f" in {w}" if (w := naming.group_label(h)) else ""))
    lost = f" {n_lost} item(s) lost all their samples." if n_lost else ""
    warn(
        f"Missing scores were left out: {shown}; their items have so many samples less.{lost} Where they stand for failed runs, "
        "give them the score of a failure instead.",
        MissingScoreWarning,
    )
