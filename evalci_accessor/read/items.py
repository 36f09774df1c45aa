"""Repeated samples of items: which scores are samples of one item, with every way in which that can be unclear."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, plain, warn
from evalci_accessor.options import NanPolicy
from evalci_accessor.read.ids import Clustering, Codes, ranked
from evalci_accessor.read.rows import Names, Rows
from evalci_accessor.read.samples import Sample, coarsest, cross, ordered, refuse_many
from evalci_accessor.read.scores import (
    checked_weights,
    in_unit_interval,
    one_weight,
    refuse_unequal,
    refuse_weightless,
    screen,
    sentinel_of,
)
from evalci_accessor.read.unnamed import divided, needed, pooled_words
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.repeated.values import refuse_extremes
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray


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
    names : Names
    per_entry : ndarray of int, shape (entries,)
        Samples of the item of each row or cell, in their order; 0 for one that does not count.
    spread : callable
        Numbers, one a row or cell in their order, times the caller's weights, as weights that the caller could pass.
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
    names: Names
    per_entry: IntArray
    spread: Callable[[FloatArray], Any] = lambda values: values
    pooled: str = ""

    @property
    def item(self) -> IntArray:
        """The item of each sample."""
        return np.repeat(np.arange(len(self.n)), self.n)

    @property
    def sums(self) -> FloatArray:
        """Sum of the scores of each item."""
        return np.bincount(self.item, weights=self.scores, minlength=len(self.n)).astype(float)

    @property
    def ends(self) -> IntArray:
        """Where the items of each group begin, and the last end."""
        return np.searchsorted(self.groups, np.arange(self.names.n_groups + 1))

    @property
    def sentinel(self) -> tuple[float, int] | None:
        """A lone negative value that looks like a mark."""
        return sentinel_of(self.scores) if self.scores.size and self.scores.min() < 0 else None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Keys:
    """The key of each row's item: its group, its id, and its cluster where ids count within it."""

    names: Names
    n_ids: int
    outer: Codes | None

    @property
    def size(self) -> int:
        """Keys of a group."""
        return self.n_ids if self.outer is None else self.n_ids * max(self.outer.size, 1)

    def of(self, rows: Rows) -> IntArray:
        """The key of each row."""
        return (
            rows.groups * self.size
            + rows.items
            + (0 if self.outer is None else self.outer.codes * self.n_ids)
        )

    def label(self, key: int) -> Any:
        """The id of a key."""
        own, code = plain(self.names.item_label(key % self.n_ids)), key % self.size // self.n_ids
        return own if self.outer is None else (plain(self.outer.label(code)), own)

    def words(self, key: int) -> str:
        """The id and the group of a key."""
        where = self.names.group_label(key // self.size)
        return f"{self.label(key)!r}{f' in {where}' if where else ''}"


def gather(rows: Rows, names: Names, nan_policy: NanPolicy, *, nested: bool) -> Items:
    """Items with their samples, from scores in any order."""
    rows = dataclasses.replace(rows, clusterings=ordered(rows.clusterings))
    if nested and len(rows.clusterings) != 1:
        found = "no cluster= is named"
        if rows.clusterings:
            found = f"cluster= names {len(rows.clusterings)}, so it is not clear within which"
        raise ex.MethodError(
            f"nested=True says that the ids of items count within a cluster, and {found}. What makes an id together can "
            "be named as a list: item=[..., ...]."
        )
    keys = _Keys(names=names, n_ids=max(rows.n_items, 1), outer=rows.clusterings[0].coded if nested else None)
    key = keys.of(rows)
    weights = None if rows.weights is None else _weights(rows, names, keys, key)
    absent = None if weights is None else weights == 0  # as if the row were not there, whatever its score
    keep, missing = screen(rows.scores, absent, names.score, nan_policy, rows.where)
    kept = rows.take(keep)
    kept.refuse_missing_ids(
        names,
        ex.SamplesError,
        {
            "item": "Without it nobody knows whose sample a score is.",
            "sample": "Without it nobody knows which samples are copies.",
        },
    )
    refuse_extremes(kept.scores, names.score)
    slot, present = ranked(key if keep is None else key[keep], names.n_groups * keys.size)

    def words(i: int) -> str:
        return keys.words(int(present[i]))

    own = [_one_cluster(kept, one, slot, len(present), names, words) for one in kept.clusterings]
    _refuse_copies(kept, slot, names, words)
    if missing is not None:
        _warn_missing(rows.groups[missing], len(np.setdiff1d(rows.items[missing], kept.items)), names)
    if weights is not None:
        weights = one_weight(weights if keep is None else weights[keep], slot, len(present))[0]
    n = np.bincount(slot, minlength=len(present))
    per_entry = np.zeros(len(rows.scores), dtype=np.int64)
    per_entry[slice(None) if keep is None else keep] = n[slot]
    return Items(
        groups=present // keys.size,
        n=n,
        per_entry=per_entry,
        scores=kept.scores[np.argsort(slot, kind="stable")],
        clusterings=own,
        weights=weights,
        label=lambda i: keys.label(int(present[i])),
        words=words,
        names=names,
        pooled=pooled_words(kept, slot, names),
    )


def _weights(rows: Rows, names: Names, keys: _Keys, key: IntArray) -> FloatArray:
    """The weight of each row, after the checks."""
    raw = np.asarray(rows.weights)
    weights = checked_weights(raw, str(names.weights), rows.where)
    if names.n_groups > 1:
        totals = np.bincount(rows.groups, weights=weights, minlength=names.n_groups)
        held = np.bincount(rows.groups, minlength=names.n_groups) > 0
        refuse_weightless(np.where(held, totals, np.nan), names.group_label)
    known: BoolArray = (rows.items >= 0) & (True if keys.outer is None else keys.outer.codes >= 0)
    slot, present = ranked(key[known], names.n_groups * keys.size)
    bad = one_weight(weights[known], slot, len(present))[1]

    def words(i: int) -> str:
        return keys.words(int(present[i]))

    way = "The samples of an item count alike."
    refuse_unequal(
        np.flatnonzero(bad), words, lambda i: raw[known][slot == i], names.key, str(names.weights), way
    )
    return weights


def _one_cluster(
    kept: Rows, one: Clustering, slot: IntArray, n_slots: int, names: Names, words: Callable[[int], str]
) -> Clustering:
    """The cluster of each item, which must be one."""
    codes = one.coded.codes
    own = np.zeros(n_slots, dtype=np.int64)
    own[slot[::-1]] = codes[::-1]  # the first row's
    other = np.flatnonzero(codes != own[slot])
    if not len(other):
        return dataclasses.replace(one, coded=dataclasses.replace(one.coded, codes=own))
    _, first = np.unique(slot[other], return_index=True)
    at = other[np.sort(first)]

    def both(i: int) -> str:
        labels = (one.label(int(code)) for code in (own[slot[i]], codes[i]))
        return f"{words(int(slot[i]))} in {' and '.join(map(repr, labels))}"

    local = (
        "If each cluster numbers its items anew, so that these are different items with one id, pass nested=True or "
        f"item={[one.name, *names.item]!r}: ids then count within their cluster."
    )
    if len(kept.clusterings) > 1:
        local = (
            f"If an item under each value of {one.name!r} is an item of its own, say so: "
            f"item={[*names.item, one.name]!r}."
        )
    spread = f"If they are samples of one item, correct the ids in {one.name!r}."
    ways = f"{local} {spread}"
    if kept.samples is not None:
        torn = np.isin(slot, slot[at])
        key = slot[torn] * kept.samples.size + kept.samples.codes[torn]
        if pd.Index(key).is_unique:
            ways = f"The numbers in {names.sample!r} go on from one cluster to the other, as of one item. {spread} {local}"
        else:
            ways = f"The numbers in {names.sample!r} begin anew in each cluster, as of different items. {local} {spread}"
    raise ex.ClusterError(
        f"{len(at)} of {n_slots} items of {names.key!r} have samples in more than one cluster of {one.name!r}: "
        f"{examples(at.tolist(), words=both, between='; ')}. An item lies in one cluster. {ways}"
    )


def _refuse_copies(kept: Rows, slot: IntArray, names: Names, words: Callable[[int], str]) -> None:
    """Two scores under one number of a sample."""
    numbers = kept.samples
    if numbers is None:
        return
    key = slot * numbers.size + numbers.codes
    if pd.Index(key).is_unique:
        return
    codes, uniques = pd.factorize(key)
    repeated = np.flatnonzero(np.bincount(codes) > 1)

    def copies(code: int) -> str:
        rows = np.flatnonzero(codes == code)
        number = plain(numbers.label(int(numbers.codes[rows[0]])))
        scores = examples((f"{kept.scores[i]:g}" for i in rows), 4)
        return f"{words(int(slot[rows[0]]))}, sample {number!r} ({scores})"

    apart = next(([name] for name, ids in kept.others() if _tells_apart(key, ids)), None)
    apart = apart or [one.name for one in needed(divided(kept, slot))]
    way = "If they are copies, remove them, as with drop_duplicates; else number the samples anew."
    if apart:
        way = f"{' and '.join(map(repr, apart))} {'tells' if len(apart) == 1 else 'tell'} them apart"
        keep = f"keep its values apart with by={(apart[0] if len(apart) == 1 else apart)!r}"
        way += f": {keep if names.entries == 'rows' else 'leave it out of what is reduced'}"
        way += f", or pass item={[*names.item, *apart]!r} if it is part of the item's id."
    raise ex.SamplesError(
        f"{len(repeated)} of {len(uniques)} combinations of {names.key!r} and {names.sample!r} have two scores or more: "
        f"{examples(repeated.tolist(), between='; ', words=copies)}. {way}"
    )


def _tells_apart(key: IntArray, ids: Codes) -> bool:
    if (ids.codes < 0).any() or not ids.size or isinstance(ids.label(0), float):  # these are measurements
        return False
    return bool(pd.Index(pd.factorize(key)[0] * ids.size + ids.codes).is_unique)


def _warn_missing(groups: IntArray, n_lost: int, names: Names) -> None:
    """Say how many samples were left out."""
    counts = np.bincount(groups, minlength=names.n_groups)
    held = np.flatnonzero(counts).tolist()

    def words(h: int) -> str:
        where = names.group_label(h)
        return f"{counts[h]}{f' in {where}' if where else ''}"

    lost = f" {n_lost} item(s) lost all their samples." if n_lost else ""
    warn(
        f"Missing scores were left out: {examples(held, words=words)}; their items have so many samples less.{lost} "
        "Where they stand for failed runs, give them the score of a failure instead.",
        ex.MissingScoreWarning,
    )


def sample_of(items: Items, value: FloatArray, held: Any, ks: IntArray) -> Sample:
    """Each item's value as one score, in a group for each group and k."""
    names, n_k = items.names, len(ks)
    shape = (names.n_groups, n_k)
    item, column = np.nonzero(held)
    scores = value[held]
    low, high = (
        (float(items.scores.min()), float(items.scores.max())) if items.scores.size else (np.nan, np.nan)
    )
    scores = np.clip(scores, low, high)  # but for rounding it is
    rows: dict[str, Any] = {
        "groups": items.groups[item] * n_k + column,
        "n_groups": names.n_groups * n_k,
        "weights": None if items.weights is None else items.weights[item],
        "bounded": in_unit_interval((low, high)),
        "binary": bool(((scores == 0) | (scores == 1)).all()),
    }

    def group_label(h: int) -> str:
        group = names.group_label(h // n_k)
        one = f"k={int(ks[h % n_k])}" if n_k > 1 else ""
        return ", ".join(part for part in (group, one) if part)

    def summed(one: Clustering, *, alone: bool = False) -> Sample:
        totals = ClusterTotals.from_rows(scores, one.coded.codes, n_clusters=one.coded.size, **rows)
        return Sample(
            totals=dataclasses.replace(totals, shape=shape),
            cluster=one.name,
            cluster_label=one.label,
            group_label=group_label,
            n_missing=np.zeros(shape[0] * n_k, dtype=np.int64),
            n_lost=0,
            score_range=(low, high),
            sentinel=items.sentinel,
            alone=alone,
        )

    if not items.clusterings:
        return summed(
            Clustering(name=names.key, coded=Codes(codes=item, size=len(items.n), label=items.label)),
            alone=True,
        )
    every = [one.take(item) for one in items.clusterings]
    counted = coarsest(every, warns=True) if len(every) > 1 else [0]
    samples = [summed(every[d]) for d in counted]
    if len(samples) == 1:
        return samples[0]
    refuse_many([every[d].name for d in counted])
    margins = [one.totals for one in samples]
    crossed = Crossed.from_rows(scores, [every[d].coded.codes for d in counted], margins=margins, **rows)
    return cross(samples, crossed.shaped(shape))
