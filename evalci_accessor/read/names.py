"""What the caller named: checks that every kind of container shares."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import ClusterError, MethodError, PairingError, examples, plain
from evalci_accessor.options import BETWEEN, Roles
from evalci_accessor.read.ids import Codes, first_places
from evalci_accessor.stats.validate import BoolArray, IntArray

_NAMES = 16  # nobody names more clusterings than that


def did_you_mean(name: object, available: Iterable[object], role: str) -> str:
    """The nearest of the names that there are; several clusterings are named in a list."""
    parts = name.split(BETWEEN) if isinstance(name, str) and role == "cluster" else []
    if len(parts) > 1:
        return f" Several clusterings go in a list: cluster={parts!r}."
    close = difflib.get_close_matches(str(name), [str(one) for one in available], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def find_clusterings(specs: list[Any], score: Any, find: Callable[[Any], Any], way_out: str) -> list[Any]:
    """What each clustering names; none is the score, none is named twice, and there is one at least.

    A long list holds ids, one a score, where names of clusterings are meant; ``way_out`` says how to pass these.
    """
    if len(specs) > _NAMES:
        raise MethodError(
            f"cluster= is a list of {len(specs)}; a list names clusterings, as cluster=['doc_id', 'prompt_id']. "
            f"{way_out}"
        )
    found = [find(spec) for spec in specs]
    if not specs:
        raise ClusterError(
            "cluster= names no clustering; name what the items share, as cluster='doc_id'. Of a frame design_effect() "
            "tries every column that could be it."
        )
    named = [(type(spec), spec) for spec in specs if isinstance(spec, (str, int, tuple))]
    twice = next((spec for kind, spec in named if named.count((kind, spec)) > 1), None)
    if twice is not None:
        raise MethodError(f"cluster= names {twice!r} twice; name each clustering once.")
    if isinstance(score, str) and score in [spec for _, spec in named]:
        raise MethodError(
            f"cluster={score!r} is the score itself; name what the items share, such as a document's id."
        )
    # Arrays without a name, or with the same, are told apart by number.
    names = [one.name for one in found]
    return [
        one if names.count(one.name) == 1 else one.called(f"{one.name} {names[: k + 1].count(one.name)}")
        for k, one in enumerate(found)
    ]


_PARTS = {
    "factor": "The factor names the systems, whose scores of the same item are set against each other.",
    "item": "The item tells the questions apart, the same for all systems.",
    "cluster": "The cluster is what items share.",
    "sample": "The sample numbers the repeats of an item under one system.",
    "by": "Each row of the result compares systems within one key of by.",
    "score": "The score is what is compared.",
    "weights": "The weights say how much each item counts.",
}
_EXCLUSIVE = (
    ("item", "factor"), ("cluster", "factor"), ("sample", "factor"), ("by", "factor"), ("sample", "item"),
    ("factor", "score"), ("item", "score"), ("cluster", "score"), ("sample", "score"), ("weights", "factor"),
    ("weights", "item"), ("weights", "cluster"), ("weights", "sample"), ("weights", "score"),
)  # fmt: skip


def named_parts(roles: Roles, listed: Callable[[Any], list[Any]]) -> dict[str, list[Any]]:
    """What the caller named for each part, some as a list; no name plays two parts which exclude each other.

    Arrays have no name; the caller knows them apart.
    """
    parts: dict[str, list[Any]] = {}
    for role in ("factor", "item", "sample", "score", "by", "weights", "cluster"):
        named = getattr(roles, role)
        single = [] if named is None else [named]
        parts[role] = single if role in ("factor", "score", "weights") else listed(named)
    labels = {role: [name for name in named if isinstance(name, (str, int))] for role, named in parts.items()}
    for one, other in _EXCLUSIVE:
        both = [name for name in labels[one] if name in labels[other]]
        if both:
            raise MethodError(
                f"{both[0]!r} is given both as {other} and as {one}. {_PARTS[one]} {_PARTS[other]}"
            )
    return parts


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Systems:
    """The systems that some pair names, in order of first appearance, and what is theirs."""

    labels: list[Any]
    pairs: IntArray  # (P, 2): places among the labels
    codes: IntArray  # the system of each entry that is of one of them
    at: IntArray | None  # where these entries are; None for all
    first: IntArray  # where each system appears first


def choose_systems(coded: Codes, factor: str, roles: Roles) -> Systems:
    """The systems to compare, by whose score each entry is; nobody's entries are left out."""
    whole = np.flatnonzero(coded.codes >= 0)
    codes, present = pd.factorize(coded.codes[whole])
    labels = [plain(coded.label(int(code))) for code in present]
    pairs = choose_pairs(labels, factor, roles.baseline, roles.pairs)
    taking, places = np.unique(pairs, return_inverse=True)
    first, at = whole[first_places(codes, len(present))[taking]], whole
    if len(taking) < len(labels):
        part = np.isin(codes, taking)
        codes, at = np.searchsorted(taking, codes[part]), whole[part]
    pairs, codes = places.reshape(pairs.shape).astype(np.int64), codes.astype(np.int64, copy=False)
    some = at if len(at) < len(coded.codes) else None
    return Systems([labels[k] for k in taking], pairs, codes, some, first)


def choose_pairs(systems: list[Any], factor: str, baseline: Any, pairs: Any) -> IntArray:
    """Which systems are compared, as positions (P, 2): all pairs, all against a baseline, or those that are named."""
    if baseline is not None and pairs is not None:
        raise MethodError(
            "Both baseline= and pairs= are given; pass one of them, since each says which systems are compared."
        )
    if len(systems) < 2:
        found = f"only one system ({systems[0]!r})" if systems else "no system"
        raise PairingError(
            f"There is {found} in {factor!r}; a comparison needs two. Is it the right column, and were the others "
            "filtered away?"
        )
    if baseline is not None:
        base = _position(systems, factor, baseline, "baseline")
        return np.array([(i, base) for i in range(len(systems)) if i != base], dtype=np.int64)
    if pairs is not None:
        return _listed_pairs(systems, factor, pairs)
    return np.stack(np.triu_indices(len(systems), 1), axis=1).astype(np.int64)


def _listed_pairs(systems: list[Any], factor: str, pairs: Any) -> IntArray:
    a, b = systems[:2]
    form = f"pairs must be a list of two levels of {factor!r} each, as pairs=[({a!r}, {b!r})]"
    if isinstance(pairs, (str, bytes, dict, set)) or not isinstance(pairs, Iterable):
        raise MethodError(f"{form}; got {pairs!r}.")
    chosen: list[tuple[int, int]] = []
    for pair in pairs:
        several = isinstance(pair, Iterable) and not isinstance(pair, (str, bytes, dict, set))
        if not several or len(both := list(pair)) != 2:
            raise MethodError(f"{form}; one of them is {pair!r}.")
        i, j = (_position(systems, factor, label, "pairs") for label in both)
        if i == j:
            raise MethodError(f"pairs compares {systems[i]!r} with itself; {form}.")
        if (i, j) in chosen or (j, i) in chosen:
            raise MethodError(
                f"pairs holds {systems[i]!r} and {systems[j]!r} twice; the difference the other way round is its "
                "negative."
            )
        chosen.append((i, j))
    if not chosen:
        raise MethodError(f"pairs is empty; {form}, or leave it out for all pairs.")
    return np.array(chosen, dtype=np.int64)


def _position(systems: list[Any], factor: str, label: Any, role: str) -> int:
    if isinstance(label, (np.datetime64, np.timedelta64)):
        label = pd.Series([label]).iloc[0]  # as pandas gives the levels
    wanted = plain(label)
    for place, system in enumerate(systems):
        if system == wanted and isinstance(system, bool) == isinstance(wanted, bool):
            return place
    texts = [str(system) for system in systems]
    close = difflib.get_close_matches(str(label), texts, n=1) or difflib.get_close_matches(
        str(label).casefold(), [text.casefold() for text in texts], n=1
    )
    hint = ""
    if close:
        near = systems[next(i for i, text in enumerate(texts) if close[0] in (text, text.casefold()))]
        hint = f" Did you mean {near!r}" + (f" ({type(near).__name__})?" if str(near) == str(label) else "?")
    raise MethodError(
        f"{role} names {label!r}, which is not a level of {factor!r}; its levels are "
        f"{examples(map(repr, systems), 20)}.{hint}"
    )


def several(specs: Any) -> list[Any]:
    """Several names as a list; one is a list of one, and None is none."""
    if specs is None:
        return []
    return list(specs) if isinstance(specs, (list, tuple)) else [specs]


def refuse_missing_factor(lacking: BoolArray, name: str, where: Any) -> None:
    """A score of nobody's cannot be compared."""
    at = np.flatnonzero(lacking)
    if len(at):
        raise PairingError(
            f"{len(at)} of {len(lacking)} entries of {name!r} are missing, at {examples(where(int(i)) for i in at[:6])}. It "
            "says whose score it is; fill in the name, or leave these out first."
        )
