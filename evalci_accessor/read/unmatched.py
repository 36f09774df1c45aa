"""Items that only one system of a pair has: how many, which, and what they may be meant to be."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from evalci_accessor.exceptions import PairingError, UnmatchedItemsWarning, examples, plain, warn
from evalci_accessor.read.rows import Pairing
from evalci_accessor.stats.validate import BoolArray, IntArray

_EXACT = 2**24  # counts up to here are exact in float32
_ALIKE = 0.9  # share of the repeats under another system that an item must have
_LOOKED_AT = 20_000  # unmatched ids of a side that are searched for a near miss


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Presence:
    """Which item has a score under which system, over all groups.

    Parameters
    ----------
    have : ndarray of bool, shape (S, M)
    lost : ndarray of bool, shape (S, M), or None
        Where a score was there but missing and left out.
    items, groups : ndarray of int, shape (S,)
    pairing : Pairing
    """

    have: BoolArray
    lost: BoolArray | None
    items: IntArray
    groups: IntArray
    pairing: Pairing

    @property
    def systems(self) -> list[Any]:
        """Labels of the systems."""
        return self.pairing.systems

    @property
    def item(self) -> str:
        """What the items are called."""
        return self.pairing.names.key

    def item_label(self, code: int) -> Any:
        """The id of an item."""
        return plain(self.pairing.names.item_label(code))

    def group_label(self, h: int) -> str:
        """Words for a group."""
        return self.pairing.names.group_label(h)


def settle(presence: Presence) -> None:
    """Refuse items without a partner, or say how many fall out; a pair without a common item is always refused."""
    if presence.have.all() and len(presence.have):
        return
    one_way = _one_way(presence.pairing.pairs)
    held: Any = presence.have.astype(np.float32 if len(presence.have) < _EXACT else np.float64)
    common = np.rint(held.T @ held).astype(np.int64)
    total = np.diagonal(common)
    shared = common[one_way[:, 0], one_way[:, 1]]
    alone = total[one_way[:, 0]] + total[one_way[:, 1]] - 2 * shared
    if not shared.all():
        raise PairingError(_nothing_common(presence, one_way[shared == 0], total))
    if not alone.any():
        return
    concerned = np.flatnonzero(alone)
    if presence.pairing.unmatched == "raise":
        raise PairingError(_refusal(presence, one_way, concerned, int(np.argmax(alone)), common))
    parts = [_fallen_out(presence, one_way[k], common) for k in concerned[:5]]
    more = f" and {len(concerned) - 5} more pairs" if len(concerned) > 5 else ""
    hints = [hint for k in concerned[:5] if (hint := _Sides(presence, one_way[k]).hint())]
    warn(
        f"Items of {presence.item!r} that only one system of a pair has were left out: {'; '.join(parts)}{more}."
        f"{hints[0] if hints else ''} Rates of a system in different pairs may then be over different items.",
        UnmatchedItemsWarning,
    )


def warn_uneven(presence: Presence, counts: IntArray) -> None:
    """Say which items have more repeats under one system than under another; ``counts`` has shape (S, M)."""
    least = np.where(presence.have, counts, counts.max(initial=0)).min(axis=1)
    most = np.where(presence.have, counts, 0).max(axis=1)
    uneven = np.flatnonzero(least < _ALIKE * most)  # a run in twenty changes little
    if not len(uneven):
        return
    slot = int(uneven[0])
    label = presence.item_label(int(presence.items[slot]))
    held = np.flatnonzero(presence.have[slot]).tolist()
    found = examples((f"{counts[slot, k]} of {presence.systems[k]!r}" for k in held), 3)
    warn(
        f"{len(uneven)} of {len(counts)} items have more repeats under one system than under another, such as {label!r}: {found}. "
        "Their means are over different runs, which is fair only if all runs are alike; add what a run that was cut short lacks.",
        UnmatchedItemsWarning,
    )


def _one_way(pairs: IntArray) -> IntArray:
    """Pairs in their order, without those that are there the other way round: they have the same holes."""
    _, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    return pairs[np.sort(first)]


def _nothing_common(presence: Presence, pairs: IntArray, total: IntArray) -> str:
    i, j = pairs[0]
    a, b = presence.systems[i], presence.systems[j]
    if not total[i] or not total[j]:
        empty = a if not total[i] else b
        return f"{empty!r} has no score that counts, so {a!r} and {b!r} cannot be compared. Leave it out with pairs=."
    sides = _Sides(presence, pairs[0])
    more = f" (and so it is with {len(pairs) - 1} more pair(s))" if len(pairs) > 1 else ""
    return (
        f"{a!r} and {b!r} have no item of {presence.item!r} in common{more}: the one has {total[i]} such as "
        f"{sides.shown(0)}, the other {total[j]} such as {sides.shown(1)}.{sides.hint()} Are these the same questions, and "
        f"is {presence.item!r} what tells them apart? Systems on different items cannot be compared as pairs."
    )


def _refusal(presence: Presence, pairs: IntArray, concerned: IntArray, worst: int, common: IntArray) -> str:
    i, j = pairs[worst]
    a, b = presence.systems[i], presence.systems[j]
    sides = _Sides(presence, pairs[worst])
    texts = [
        f"{len(sides.alone[side])} of the {common[k, k]} items of {mine!r} {'is' if len(sides.alone[side]) == 1 else 'are'} not "
        f"among those of {other!r} ({sides.shown(side)})"
        for side, k, mine, other in ((0, i, a, b), (1, j, b, a))
        if len(sides.alone[side])
    ]
    others = (
        f"{len(concerned)} of {len(pairs)} pairs of {presence.pairing.names.factor!r} have items without a partner. The worst: "
        * (len(concerned) > 1)
    )
    return (
        f"{others}{', and '.join(texts)}{sides.where()}.{sides.hint()}{sides.omitted()} Each item of {presence.item!r} must have "
        "a score under both systems. Correct the ids or add the missing scores; or compare the "
        f"{common[i, j]} items that both have with unmatched='drop', which says what falls out."
    )


def _fallen_out(presence: Presence, pair: IntArray, common: IntArray) -> str:
    i, j = pair
    a, b = presence.systems[i], presence.systems[j]
    sides = _Sides(presence, pair)
    counts = [
        f"{len(sides.alone[side])} only in {label!r}: {sides.shown(side, 3)}"
        for side, label in ((0, a), (1, b))
        if len(sides.alone[side])
    ]
    out = len(sides.alone[0]) + len(sides.alone[1])
    return f"{a!r} against {b!r} {out} of {out + common[i, j]} ({'; '.join(counts)}{sides.omitted(short=True)}){sides.where()}"


class _Sides:
    """The items that only the first, and only the second system of a pair has."""

    def __init__(self, presence: Presence, pair: IntArray) -> None:
        self.presence, self.pair = presence, pair
        first, second = presence.have[:, pair[0]], presence.have[:, pair[1]]
        self.alone = (np.flatnonzero(first & ~second), np.flatnonzero(second & ~first))

    def _label(self, slot: int) -> Any:
        return self.presence.item_label(int(self.presence.items[slot]))

    def shown(self, side: int, limit: int = 5) -> str:
        """Up to five of the items, each once."""
        _, first = np.unique(self.presence.items[self.alone[side]], return_index=True)
        slots = self.alone[side][np.sort(first)]
        more = f" and {len(slots) - limit} more" if len(slots) > limit else ""
        return ", ".join(repr(self._label(slot)) for slot in slots[:limit].tolist()) + more

    def where(self) -> str:
        """The groups in which they lie."""
        groups = np.unique(self.presence.groups[np.concatenate(self.alone)]).tolist()
        if not self.presence.group_label(groups[0]):
            return ""
        return (
            f", in {len(groups)} group(s): {examples(map(self.presence.group_label, groups), between='; ')}"
        )

    def omitted(self, short: bool = False) -> str:
        """How many of the holes are scores that the caller's policy left out."""
        if self.presence.lost is None:
            return ""
        count = int(
            self.presence.lost[self.alone[0], self.pair[1]].sum()
            + self.presence.lost[self.alone[1], self.pair[0]].sum()
        )
        if not count:
            return ""
        if short:
            return f"; {count} of these because the other's score is missing"
        return (
            f" {count} of them would have a partner, whose score is missing and was left out (nan_policy='omit'); if it stands "
            "for a failed run, give it the score of a failure."
        )

    def hint(self) -> str:
        """Unmatched items of the one side that look like unmatched ones of the other."""
        near = list(self._near())
        if not near:
            return ""
        mine, other = self.presence.systems[self.pair[1]], self.presence.systems[self.pair[0]]
        reasons = sorted({reason for a, b in near for reason in _differences(a, b)})
        shown = examples((f"{b!a} and {a!a}" for a, b in near), between="; ")
        return f" {len(near)} item(s) of {mine!r} look like items of {other!r} but for {' or '.join(reasons)}: {shown}."

    def _near(self) -> Iterable[tuple[Any, Any]]:
        found: dict[tuple[int, Any], Any] = {}
        for slot in self.alone[0][:_LOOKED_AT].tolist():
            label = self._label(slot)
            found.setdefault((int(self.presence.groups[slot]), canonical(label)), label)
        seen = set()
        for slot in self.alone[1][:_LOOKED_AT].tolist():
            label = self._label(slot)
            key = canonical(label)
            group = int(self.presence.groups[slot])
            if (group, key) in found and key not in seen:
                seen.add(key)
                yield found[group, key], label


_STEPS: dict[str, Callable[[str], str]] = {
    "Unicode form": lambda text: unicodedata.normalize("NFC", text),
    "white space": lambda text: " ".join(text.split()),
    "case": str.casefold,
}


def canonical(label: Any, skip: str = "") -> Any:
    """What is left of an id without the ways in which the same id gets written differently."""
    if isinstance(label, tuple):
        return tuple(canonical(part, skip) for part in label)
    # A whole number in a float column is written as an int elsewhere.
    text = str(int(label) if isinstance(label, float) and label.is_integer() else label)
    for name, step in _STEPS.items():
        text = text if name == skip else step(text)
    return text


def _differences(a: Any, b: Any) -> set[str]:
    """The ways in which two ids with the same canonical form differ."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return {reason for x, y in zip(a, b, strict=True) if x != y for reason in _differences(x, y)}
    if isinstance(a, str) is not isinstance(b, str):
        return {f"type ({type(b).__name__} and {type(a).__name__})"}
    return {name for name in _STEPS if canonical(a, name) != canonical(b, name)} or {"spelling"}
