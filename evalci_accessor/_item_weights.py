"""One weight an item: whichever system answers it, and however often."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evalci_accessor._entries import Entries, Request
from evalci_accessor._ids import ranked
from evalci_accessor._scores import checked_weights
from evalci_accessor.exceptions import WeightError, examples, plain
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray

_EQUAL = 1 - 1e-9  # ratio above which weights differ by rounding only, as after a division by sums in another order


def item_weights(entries: Entries, request: Request) -> Callable[[IntArray], FloatArray]:
    """What gives the weights of items by key, after the checks."""
    names, raw = request.names, np.asarray(entries.weights)
    weights = checked_weights(raw, str(names.weights), entries.where)
    totals = np.bincount(entries.groups, weights=weights, minlength=request.n_groups)
    held = np.bincount(entries.groups, minlength=request.n_groups) > 0
    if len(totals) > 1:
        refuse_weightless(np.where(held, totals, np.nan), request.group_label)
    at = np.flatnonzero(entries.items >= 0)  # without an id only what is absent passes the checks that follow
    key = (entries.groups * entries.n_items + entries.items)[at]
    slot, present = ranked(key, request.n_groups * entries.n_items)
    found, bad = one_weight(weights[at], slot, len(present))

    def label(k: int) -> str:
        group = request.group_label(int(present[k] // entries.n_items))
        return f"{plain(request.item_label(int(present[k] % entries.n_items)))!r}{f' in {group}' if group else ''}"

    refuse_unequal(np.flatnonzero(bad), label, lambda k: raw[at][slot == k], names.key, str(names.weights))
    return lambda keys: found[np.searchsorted(present, keys)]


def one_weight(weights: FloatArray, slot: IntArray, n_slots: int) -> tuple[FloatArray, BoolArray]:
    """The weight of each item, and where its entries differ; ``slot`` is the item of each entry."""
    least, most = np.full(n_slots, np.inf), np.zeros(n_slots)
    np.minimum.at(least, slot, weights)
    np.maximum.at(most, slot, weights)
    return most, unequal(least, most)


def unequal(least: FloatArray, most: FloatArray) -> BoolArray:
    """Where the weights of an item differ by more than rounding."""
    return np.asarray(least < most * _EQUAL)


_WAY = "To weigh samples or systems, average them into one score an item first."


def refuse_unequal(
    bad: IntArray, label: Callable[[int], str], found: Callable[[int], FloatArray], key: str, name: str, way: str = _WAY
) -> None:
    """Items with several weights; ``label`` and ``found`` give words for one of ``bad``, and its weights."""
    if not len(bad):
        return

    def words(k: int) -> str:
        values = np.unique(found(k))
        return f"{label(k)} ({values[0]:g} and {values[-1]:g})"

    raise WeightError(
        f"{len(bad)} item(s) of {key!r} have more than one weight in {name!r}: "
        f"{examples(bad.tolist(), words=words)}. A weight belongs to an item, whichever system answers it and however often: give "
        f"all its scores the same one (scale does not matter, so there is no need to normalise by system). {way}"
    )


def refuse_weightless(totals: FloatArray, label: Callable[[int], str]) -> None:
    """Groups whose weights are all 0; nan marks a group without items."""
    bad = np.flatnonzero(totals == 0).tolist()
    if bad:
        shown = examples(bad, between="; ", words=label)
        raise WeightError(f"All weights of {len(bad)} group(s) are 0: {shown}. Leave them out first.")
