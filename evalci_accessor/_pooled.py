"""Columns that nobody named and that divide the samples of the items, as the model would whose ``by`` was forgotten."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import numpy as np

from evalci_accessor._entries import Entries
from evalci_accessor._ids import Codes, is_repeat, ranked
from evalci_accessor._warn import examples, plain
from evalci_accessor.stats import _special as special
from evalci_accessor.stats._validate import IntArray

if TYPE_CHECKING:
    from evalci_accessor._repeats import Naming

_MOST = 0.9  # share of the items that a column must divide, or divide evenly
_CHANCE = 1e-3  # probability with which a column that was not planned would be as even over the items
_FEW = 5  # items from which on even halves are no chance
_NAMED = 50  # values that could be the names of systems


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Divided:
    """A column that divides the samples of nearly every item.

    Parameters
    ----------
    name : str
    size : int
        Its number of values.
    shown : str
        The first of them.
    once : bool
        Whether an item has each value once, as a number of the sample would be.
    ids : ndarray of int
        The value of each score.
    """

    name: str
    size: int
    shown: str
    once: bool
    ids: IntArray


def pooled_words(kept: Entries, slot: IntArray, naming: Naming) -> str:
    """That samples of several systems seem to count as those of one; empty if not. ``slot`` is the item of each score."""
    rows = np.bincount(slot)
    if (rows < 2).all():
        return ""
    numbered = kept.samples is not None
    found = [one for name, ids in kept.others() if (one := _divided(name, ids, slot, rows, numbered=numbered))]
    if not found:
        return ""
    found.sort(key=lambda one: (one.once, is_repeat(one.name), one.size))
    first, *more = found
    own = "one sample" if first.once else "several samples"
    likewise = [repr(one.name) for one in more if not is_repeat(one.name)]
    as_well = f" Likewise {examples(likewise)}." if likewise else ""
    keep = f"by={first.name!r}" if naming.entries == "rows" else f"a dim {first.name!r} that is not reduced"
    return (
        f"{first.name!r} is not named in the call, and each of its {first.size} values ({first.shown}) has {own} of "
        f"{'nearly ' * (not first.once)}every item of {naming.key!r}, as a model or a prompt would.{as_well} All count as samples "
        f"of one system, so that the result is that of a mix. To keep them apart: {keep}. {_as_samples(first, more, slot, naming)}"
    )


def _as_samples(first: Divided, more: list[Divided], slot: IntArray, naming: Naming) -> str:
    """How to say that they are samples of one system all the same."""
    names = [first.name]
    if naming.sample is not None:
        names.append(naming.sample)
    elif not first.once:
        other = next((one.name for one in more if _numbers(slot, first.ids, one.ids)), None)
        if other is None:
            return f"If they are samples of one system all the same, leave {first.name!r} out of the data."
        names.append(other)
    way = repr(names[0]) if len(names) == 1 else f"[{', '.join(map(repr, names))}]"
    return f"If they number samples of one system all the same: sample={way}."


def _numbers(slot: IntArray, first: IntArray, second: IntArray) -> bool:
    """Whether two columns together tell the samples of each item apart."""
    return len(np.unique(np.stack([slot, first, second]), axis=1).T) == len(slot)


def _divided(name: str, ids: Codes, slot: IntArray, rows: IntArray, *, numbered: bool) -> Divided | None:
    """The column, if it is as even over the items as only a plan makes it."""
    value, held = ranked(np.where(ids.codes < 0, ids.size, ids.codes), ids.size + 1)
    size, several = len(held), rows > 1
    if size < 2 or 2 * size > len(slot):
        return None
    cell, cells = ranked(slot * size + value, len(rows) * size)
    count, item = np.bincount(cell), cells // size
    values = np.bincount(item, minlength=len(rows))
    if np.mean(values[several] > 1) < _MOST:
        return None
    least, most = np.full(len(rows), len(slot)), np.zeros(len(rows), dtype=np.int64)
    np.minimum.at(least, item, count)
    np.maximum.at(most, item, count)
    total = np.bincount(value)
    # Pearson's statistic for counts that do not depend on the item; chance leaves about its degrees of freedom.
    uneven = max(len(slot) * (float((count**2 / (rows[item] * total[cells % size])).sum()) - 1), 0.0)
    even = special.chdtrc((len(rows) - 1) * (size - 1), uneven) > 1 - _CHANCE
    labels = [plain(ids.label(int(code))) if code < ids.size else None for code in held[:_NAMED].tolist()]
    once = bool(np.mean(most[several] > 1) <= 1 / 2)
    if once:
        if numbered or not even or size > _NAMED or is_repeat(name) or not _are_names(labels):
            return None
    elif not even:
        halves = several & (least == most) & (least > 1) & (values > 1)
        if several.sum() < _FEW or halves.sum() < _MOST * several.sum():
            return None
    return Divided(name=name, size=size, shown=examples(map(repr, labels[:3]), 2), once=once, ids=value)


def _are_names(labels: list[object]) -> bool:
    """Whether labels are words that differ by more than a number, as no sample's do."""
    texts = [label for label in labels if isinstance(label, str)]
    return len(texts) == len(labels) and len({re.sub(r"\d+", "", text) for text in texts}) > 1
