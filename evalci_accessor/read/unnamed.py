"""Columns that nobody named: those that could be a clustering, and those that divide the samples of the items."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import EvalCIError, ScanWarning, examples, plain, warn
from evalci_accessor.read.ids import Codes, encode_ids, is_repeat, ranked
from evalci_accessor.read.rows import Names, Rows
from evalci_accessor.stats import special
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray

Coder: TypeAlias = Callable[[Any, str], Codes | None]  # codes of values by name, if they may be ids
_MOST = 0.9  # share of the items that a column must divide, or divide evenly
_CHANCE = 1e-3  # probability with which a column that was not planned would be as even over the items
_FEW = 5  # items below which each must be divided into equal parts
_NAMED = 50  # values that could be the names of systems
_SETTINGS = 20  # values of a temperature, say; measurements have more
_LOOKED_AT = 2000  # entries that tell


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Divided:
    """A column that divides the samples of nearly every item."""

    name: str
    size: int  # its number of values
    shown: str  # the first of them
    once: bool  # whether an item has each value once, as a number of the sample would be
    ids: IntArray  # the value of each score


def ids_or_settings(values: Any, name: str) -> Codes | None:
    """Codes of what nobody named, if it may hold ids or settings rather than measurements or texts; else None."""
    # Lists and dicts are no ids, and there are arrays that cannot be hashed at all.
    with contextlib.suppress(EvalCIError, TypeError, ValueError, NotImplementedError):
        first = pd.Series(values[:_LOOKED_AT]).nunique()
        measured = pd.api.types.is_float_dtype(values.dtype) and first > _SETTINGS
        long = len(values) > _LOOKED_AT and 2 * first > _LOOKED_AT  # texts of answers are long to hash
        if not measured and not long:
            return encode_ids(values, name)
    return None


def ids_only(values: Any, name: str) -> Codes | None:
    """Codes of what nobody named, if it holds ids rather than measurements; else None."""
    if not pd.api.types.is_float_dtype(values.dtype):
        with contextlib.suppress(EvalCIError):  # lists or dicts, which are no ids
            return encode_ids(values, name)
    return None


def pooled_words(kept: Rows, slot: IntArray, names: Names) -> str:
    """In words, that samples of several systems seem to count as those of one; empty if not.

    ``slot`` is the item of each score.
    """
    found = divided(kept, slot)
    systems = needed(found)
    if not found:
        return ""
    if not systems:
        # All that count repeats may do so together, as an epoch and a sample within it.
        if _numbers(
            slot, [ids.codes for name, ids in kept.others() if is_repeat(name) and ids.codes.min() >= 0]
        ):
            return ""
        return (
            f"{found[0].name!r} is not named in the call, and each of its {found[0].size} values has several samples of "
            f"nearly every item of {names.key!r}. If it numbers the samples, they may be those of several systems: pass "
            f"sample={found[0].name!r} to see which share a number."
        )
    columns = [one.name for one in systems]
    several = len(columns) > 1
    are, they = ("are", "they are") if several else ("is", "it is")
    values = "; ".join(f"{one.size} values, as {one.shown}" for one in systems)
    keep = f"by={_listed(columns)}"
    if names.entries == "cells":
        keep = f"{'dims' if several else 'a dim'} {' and '.join(map(repr, columns))} that {are} not reduced"
    return (
        f"{' and '.join(map(repr, columns))} {are} not named in the call and divide{'' if several else 's'} the samples of "
        f"nearly every item of {names.key!r} evenly ({values}), as a model or a prompt would. All count as samples of one "
        f"system, so that the result is that of a mix. To keep them apart: {keep}, or "
        f"item={[*names.item, *columns]!r} if {they} part of the item's id. "
        f"{_as_samples(systems, found, slot, names)}"
    )


def _listed(columns: list[str]) -> str:
    return repr(columns[0] if len(columns) == 1 else columns)


def _as_samples(systems: list[Divided], found: list[Divided], slot: IntArray, names: Names) -> str:
    """How to say that they are samples of one system all the same."""
    columns = [one.name for one in systems]
    if names.samples:
        columns += names.samples
    elif not _numbers(slot, ids := [one.ids for one in systems]):
        others = [one for one in found if one not in systems]
        number = next((one for one in others if _numbers(slot, [*ids, one.ids])), None)
        if number is None:
            shown = " and ".join(map(repr, columns))
            return f"If they are samples of one system all the same, leave {shown} out of the data."
        columns.append(number.name)
    return f"If they number samples of one system all the same: sample={_listed(columns)}."


def _numbers(slot: IntArray, columns: list[IntArray]) -> bool:
    """Whether columns together tell the samples of each item apart."""
    return _joint([slot, *columns])[1] == len(slot)


def _joint(columns: list[IntArray]) -> tuple[IntArray, int]:
    """Codes of what columns make together, and how many there are."""
    codes, size = columns[0], int(columns[0].max(initial=-1)) + 1
    for one in columns[1:]:
        width = int(one.max(initial=-1)) + 1
        codes, held = ranked(codes * width + one, size * width)
        size = len(held)
    return codes, size


def needed(found: list[Divided]) -> list[Divided]:
    """Columns that name systems, without those that follow from others, in the order of the data."""
    named = [one for one in found if not is_repeat(one.name)]
    named = [one for one in named if not one.once] or named
    chosen: list[Divided] = []
    joint, size = np.zeros(0, dtype=np.int64), 1
    for one in sorted(named, key=lambda one: -one.size):
        codes, more = _joint([joint, one.ids]) if chosen else (one.ids, one.size)
        if more > size:
            chosen.append(one)
            joint, size = codes, more
    return [one for one in found if one in chosen]


def divided(kept: Rows, slot: IntArray) -> list[Divided]:
    """Columns that nobody named and that divide the samples of nearly every item, as only a plan does."""
    rows = np.bincount(slot)
    if (rows < 2).all():
        return []
    several = np.bincount(kept.groups[np.unique(slot, return_index=True)[1]], weights=rows > 1)
    found = []
    for name, ids in kept.others():
        if (ids.codes < 0).any():  # systems have names
            continue
        # Another prompt for one model only: the groups of the others tell nothing of whether it was planned.
        at = ~((several >= _FEW) & _single(ids.codes, kept.groups, len(several)))[kept.groups]
        part = ids.recoded(ids.codes[at])
        one = _divided(name, part, ranked(slot[at], len(rows))[0], numbered=kept.samples is not None)
        if one is not None:
            found.append(dataclasses.replace(one, ids=ranked(ids.codes, ids.size)[0]))
    return found


def _single(codes: IntArray, groups: IntArray, n_groups: int) -> BoolArray:
    """Groups with a single value."""
    least, most = np.full(n_groups, codes.max(initial=0)), np.full(n_groups, -1)
    np.minimum.at(least, groups, codes)
    np.maximum.at(most, groups, codes)
    return np.asarray(least == most)


def _divided(name: str, ids: Codes, slot: IntArray, *, numbered: bool) -> Divided | None:
    """The column, if it is as even over the items as only a plan makes it."""
    rows = np.bincount(slot)
    value, held = ranked(ids.codes, ids.size)
    size, several = len(held), rows > 1
    if size < 2 or 2 * size > len(slot) or not several.any():
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
    labels = [plain(ids.label(code)) for code in held[:_NAMED].tolist()]
    once = bool(np.mean(most[several] > 1) <= 1 / 2)
    if once:
        if numbered or not even or size > _NAMED or is_repeat(name) or not _are_names(labels):
            return None
    else:
        # Items divided into equal parts.
        alike = np.mean(((least == most) & (least > 1) & (values > 1))[several])
        if alike < (1 if several.sum() < _FEW else _MOST) and not (even and several.sum() >= _FEW):
            return None
    return Divided(name=name, size=size, shown=" and ".join(map(repr, labels[:2])), once=once, ids=value)


def _are_names(labels: list[object]) -> bool:
    """Whether labels are words that differ by more than a number, as no sample's do."""
    texts = [label for label in labels if isinstance(label, str)]
    return len(texts) == len(labels) and len({re.sub(r"\d+", "", text) for text in texts}) > 1


def usable(candidates: dict[str, Any], scores: FloatArray | None) -> set[str]:
    """Names of the candidates that could be a clustering.

    A clustering has at least two ids and repeats at least one. Measurements (fractions), yes/no columns and copies of the
    scores are none. One with missing ids cannot be looked at; that is said.
    """
    kept, lacking = set(), []
    for name, values in candidates.items():
        series = values if isinstance(values, pd.Series) else pd.Series(values)
        if _is_measurement(series) or _equals(series, scores):
            continue
        try:
            codes, uniques = pd.factorize(series, use_na_sentinel=True)
        except (TypeError, NotImplementedError):  # lists and dicts, also Arrow's
            continue
        missing = int((codes < 0).sum())
        if len(uniques) < 2 or len(uniques) >= len(series) - missing:
            continue
        if missing:
            lacking.append(f"{name!r} ({missing} missing)")
        else:
            kept.add(name)
    if lacking:
        warn(
            f"Not looked at, since ids are missing: {examples(lacking)}. Fill or drop them, and name the column.",
            ScanWarning,
        )
    elif not kept:
        warn(
            "Nothing but the score and the keys repeats its values, so no clustering can be told from the data. If items share "
            "a document, a template or a conversation, that id is needed beside them.",
            ScanWarning,
        )
    return kept


def _equals(series: pd.Series, scores: FloatArray | None) -> bool:
    """Whether a column holds the scores themselves."""
    if scores is None or not pd.api.types.is_numeric_dtype(series.dtype):
        return False
    return np.array_equal(series.to_numpy(dtype=np.float64, na_value=np.nan), scores, equal_nan=True)


def _is_measurement(series: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(series.dtype):
        return True
    if pd.api.types.is_float_dtype(series.dtype):
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        finite = numbers[np.isfinite(numbers)]
        return bool((finite != np.round(finite)).any()) or not len(finite)
    return False
