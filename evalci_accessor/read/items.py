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
from evalci_accessor.read.ids import Clustering, Codes
from evalci_accessor.read.rows import Kept, Names, Rows, keep_rows
from evalci_accessor.read.samples import Sample, Scores, ordered
from evalci_accessor.read.scores import all_binary, range_of, sentinel_of
from evalci_accessor.read.unnamed import divided, needed, pooled_words
from evalci_accessor.stats.repeated.values import refuse_extremes
from evalci_accessor.stats.validate import FloatArray, IntArray


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Items:
    """Items of all groups, one group after the other."""

    groups: IntArray  # (I,): group of each item, ascending
    n: IntArray  # (I,): number of samples of each item
    scores: FloatArray  # (S,): the samples of one item after the other
    clusterings: list[Clustering]  # with the cluster of each item; none where items count as independent
    weights: FloatArray | None  # (I,): weights above 0; None where all items count the same
    label: Callable[[int], Any]  # the id of an item by its place
    words: Callable[[int], str]  # the same in words, as "'q7' in model='A'"
    names: Names
    # Samples of the item of each row or cell, in their order; 0 for one that does not count.
    per_entry: IntArray
    # Numbers, one a row or cell, times the caller's weights, as weights that the caller could pass.
    spread: Callable[[FloatArray], Any] = lambda values: values
    pooled: str = ""  # in words, that samples of several systems seem to count as those of one; empty if not

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
        return sentinel_of(self.scores)


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
    why = {
        "item": "Without it nobody knows whose sample a score is.",
        "sample": "Without it nobody knows which samples are copies.",
    }
    outer = rows.clusterings[0].coded if nested else None
    kept = keep_rows(rows, names, nan_policy, ex.SamplesError, why, outer=outer)
    refuse_extremes(kept.rows.scores, names.score)
    own = kept.clusters(_torn)
    _refuse_copies(kept)
    if kept.missing is not None:
        lost = np.setdiff1d(rows.items[kept.missing], kept.rows.items)
        _warn_missing(rows.groups[kept.missing], len(lost), names)
    n = np.bincount(kept.slot, minlength=len(kept.present))
    per_entry = np.zeros(len(rows.scores), dtype=np.int64)
    per_entry[slice(None) if kept.keep is None else kept.keep] = n[kept.slot]
    return Items(
        groups=kept.present // kept.keys.size,
        n=n,
        per_entry=per_entry,
        scores=kept.rows.scores[np.argsort(kept.slot, kind="stable")],
        clusterings=own,
        weights=kept.weights,
        label=lambda i: kept.keys.label(int(kept.present[i])),
        words=kept.words,
        names=names,
        pooled=pooled_words(kept.rows, kept.slot, names),
    )


def _torn(kept: Kept, one: Clustering, at: IntArray, both: Callable[[int], str]) -> ex.ClusterError:
    names, slot, numbers = kept.keys.names, kept.slot, kept.rows.samples
    local = (
        "If each cluster numbers its items anew, so that these are different items with one id, pass nested=True or "
        f"item={[one.name, *names.item]!r}: ids then count within their cluster."
    )
    if len(kept.rows.clusterings) > 1:
        local = (
            f"If an item under each value of {one.name!r} is an item of its own, say so: "
            f"item={[*names.item, one.name]!r}."
        )
    spread = f"If they are samples of one item, correct the ids in {one.name!r}."
    ways = f"{local} {spread}"
    if numbers is not None:
        torn = np.isin(slot, slot[at])
        if pd.Index(slot[torn] * numbers.size + numbers.codes[torn]).is_unique:
            ways = f"The numbers in {names.sample!r} go on from one cluster to the other, as of one item. {spread} {local}"
        else:
            ways = f"The numbers in {names.sample!r} begin anew in each cluster, as of different items. {local} {spread}"
    shown = examples(at.tolist(), words=lambda i: f"{kept.words(int(slot[i]))}{both(i)}", between="; ")
    return ex.ClusterError(
        f"{len(at)} of {len(kept.present)} items of {names.key!r} have samples in more than one cluster of {one.name!r}: "
        f"{shown}. An item lies in one cluster. {ways}"
    )


def _refuse_copies(kept: Kept) -> None:
    """Two scores under one number of a sample."""
    rows, names, numbers = kept.rows, kept.keys.names, kept.rows.samples
    if numbers is None:
        return
    key = kept.slot * numbers.size + numbers.codes

    def words(row: int) -> str:
        number = plain(numbers.label(int(numbers.codes[row])))
        return f"{kept.words(int(kept.slot[row]))}, sample {number!r}"

    def way() -> str:
        apart = next(([name] for name, ids in rows.others() if _tells_apart(key, ids)), None)
        apart = apart or [one.name for one in needed(divided(rows, kept.slot))]
        if not apart:
            return "If they are copies, remove them, as with drop_duplicates; else number the samples anew."
        keep = f"keep its values apart with by={(apart[0] if len(apart) == 1 else apart)!r}"
        return (
            f"{' and '.join(map(repr, apart))} {'tells' if len(apart) == 1 else 'tell'} them apart: "
            f"{keep if names.entries == 'rows' else 'leave it out of what is reduced'}, or pass "
            f"item={[*names.item, *apart]!r} if it is part of the item's id."
        )

    kept.refuse_copies(key, f"{names.key!r} and {names.sample!r}", words, way, ex.SamplesError)


def _tells_apart(key: IntArray, ids: Codes) -> bool:
    if (ids.codes < 0).any() or not ids.size or isinstance(ids.label(0), float):  # these are measurements
        return False
    return bool(pd.Index(pd.factorize(key)[0] * ids.size + ids.codes).is_unique)


def _warn_missing(groups: IntArray, n_lost: int, names: Names) -> None:
    """Say how many samples were left out."""
    counts = np.bincount(groups, minlength=names.n_groups)
    held = np.flatnonzero(counts).tolist()

    def words(h: int) -> str:
        return f"{counts[h]}{names.within(h)}"

    lost = f" {n_lost} item(s) lost all their samples." if n_lost else ""
    warn(
        f"Missing scores were left out: {examples(held, words=words)}; their items have so many samples less.{lost} "
        "Where they stand for failed runs, give them the score of a failure instead.",
        ex.MissingScoreWarning,
    )


def sample_of(items: Items, value: FloatArray, held: Any, ks: IntArray) -> Sample:
    """Each item's value as one score, in a group for each group and k."""
    names, n_k = items.names, len(ks)
    item, column = np.nonzero(held)
    low, high = range_of(items.scores)
    values = np.clip(value[held], low, high)  # but for rounding it is

    def group_label(h: int) -> str:
        group = names.group_label(h // n_k)
        one = f"k={int(ks[h % n_k])}" if n_k > 1 else ""
        return ", ".join(part for part in (group, one) if part)

    scores = Scores(
        values=values,
        keep=None,
        missing=None,
        weights=None if items.weights is None else items.weights[item],
        score_range=(low, high),
        binary=all_binary(values),
        sentinel=items.sentinel,
        groups=items.groups[item] * n_k + column,
        n_groups=names.n_groups * n_k,
        group_label=group_label,
        shape=(names.n_groups, n_k),
    )
    if items.clusterings:
        return scores.added_up([one.take(item) for one in items.clusterings])
    each = Clustering(name=names.key, coded=Codes(codes=item, size=len(items.n), label=items.label))
    return dataclasses.replace(scores.summed(each), alone=True)
