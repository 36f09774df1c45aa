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


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Presence:
    """Which item has a score under which system, over all groups."""

    have: BoolArray  # (S, M)
    lost: BoolArray | None  # (S, M): where a score was there but missing and left out
    items: IntArray  # (S,)
    groups: IntArray  # (S,)
    pairing: Pairing

    def label(self, slot: int) -> Any:
        """The id of an item."""
        return plain(self.pairing.names.item_label(int(self.items[slot])))


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
    concerned, names = np.flatnonzero(alone), presence.pairing.names
    if presence.pairing.unmatched == "raise":
        text = _refusal(_Sides(presence, one_way[np.argmax(alone)]), common)
        if len(concerned) > 1:
            many = (
                f"{len(concerned)} of {len(one_way)} pairs of {names.factor!r} have items without a partner."
            )
            text = f"{many} The worst: {text}"
        raise PairingError(text)
    shown = [_Sides(presence, one_way[k]) for k in concerned[:5]]
    more = f" and {len(concerned) - 5} more pairs" if len(concerned) > 5 else ""
    hint = next((hint for sides in shown if (hint := sides.hint())), "")
    warn(
        f"Items of {names.key!r} that only one system of a pair has were left out: "
        f"{'; '.join(_fallen_out(sides, common) for sides in shown)}{more}.{hint} Rates of a system in different pairs may "
        "then be over different items.",
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
    label = presence.label(slot)
    systems, held = presence.pairing.systems, np.flatnonzero(presence.have[slot]).tolist()
    found = examples((f"{counts[slot, k]} of {systems[k]!r}" for k in held), 3)
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
    sides, item = _Sides(presence, pairs[0]), presence.pairing.names.key
    (a, b), (of_a, of_b) = sides.labels, total[pairs[0]]
    if not of_a or not of_b:
        empty = b if of_a else a
        return f"{empty!r} has no score that counts, so {a!r} and {b!r} cannot be compared. Leave it out with pairs=."
    more = f" (and so it is with {len(pairs) - 1} more pair(s))" if len(pairs) > 1 else ""
    return (
        f"{a!r} and {b!r} have no item of {item!r} in common{more}: the one has {of_a} such as {sides.shown(0)}, the other "
        f"{of_b} such as {sides.shown(1)}.{sides.hint()} Are these the same questions, and is {item!r} what tells them apart? "
        "Systems on different items cannot be compared as pairs."
    )


def _refusal(sides: _Sides, common: IntArray) -> str:
    texts = [
        f"{len(sides.alone[side])} of the {common[k, k]} items of {sides.labels[side]!r} "
        f"{'is' if len(sides.alone[side]) == 1 else 'are'} not among those of {sides.labels[1 - side]!r} ({sides.shown(side)})"
        for side, k in enumerate(sides.pair)
        if len(sides.alone[side])
    ]
    return (
        f"{', and '.join(texts)}{sides.where()}.{sides.hint()}{sides.omitted()} Each item of "
        f"{sides.presence.pairing.names.key!r} must have a score under both systems. Correct the ids or add the missing "
        f"scores; or compare the {common[tuple(sides.pair)]} items that both have with unmatched='drop', which says what "
        "falls out."
    )


def _fallen_out(sides: _Sides, common: IntArray) -> str:
    a, b = sides.labels
    counts = [
        f"{len(alone)} only in {sides.labels[side]!r}: {sides.shown(side, 3)}"
        for side, alone in enumerate(sides.alone)
        if len(alone)
    ]
    out = sum(map(len, sides.alone))
    every = out + common[tuple(sides.pair)]
    return f"{a!r} against {b!r} {out} of {every} ({'; '.join(counts)}{sides.omitted(short=True)}){sides.where()}"


class _Sides:
    """The items that only the first, and only the second system of a pair has."""

    def __init__(self, presence: Presence, pair: IntArray) -> None:
        self.presence, self.pair = presence, pair
        self.labels = [presence.pairing.systems[k] for k in pair]
        first, second = presence.have[:, pair[0]], presence.have[:, pair[1]]
        self.alone = (np.flatnonzero(first & ~second), np.flatnonzero(second & ~first))

    def shown(self, side: int, limit: int = 5) -> str:
        """Up to five of the items, each once."""
        _, first = np.unique(self.presence.items[self.alone[side]], return_index=True)
        slots = self.alone[side][np.sort(first)].tolist()
        return examples(slots, limit, words=lambda slot: repr(self.presence.label(slot)))

    def where(self) -> str:
        """The groups in which they lie."""
        groups = np.unique(self.presence.groups[np.concatenate(self.alone)]).tolist()
        return self.presence.pairing.names.listed(groups)

    def omitted(self, short: bool = False) -> str:
        """How many of the holes are scores that the caller's policy left out."""
        if self.presence.lost is None:
            return ""
        (a, b), (first, second) = self.alone, self.pair
        count = int(self.presence.lost[a, second].sum() + self.presence.lost[b, first].sum())
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
        other, mine = self.labels
        reasons = sorted({reason for a, b in near for reason in _differences(a, b)})
        shown = examples((f"{b!a} and {a!a}" for a, b in near), between="; ")
        return f" {len(near)} item(s) of {mine!r} look like items of {other!r} but for {' or '.join(reasons)}: {shown}."

    def _near(self) -> Iterable[tuple[Any, Any]]:
        found: dict[tuple[int, Any], Any] = {}
        for slot in self.alone[0][:_LOOKED_AT].tolist():
            label = self.presence.label(slot)
            found.setdefault((int(self.presence.groups[slot]), canonical(label)), label)
        seen = set()
        for slot in self.alone[1][:_LOOKED_AT].tolist():
            label = self.presence.label(slot)
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
