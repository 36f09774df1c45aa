"""Scores of several systems on the same items: one table a group, a row an item and a column a system."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._ids import Codes, encode, first_places
from evalci_accessor._scores import in_unit_interval
from evalci_accessor.exceptions import ClusterError, MethodError, PairingError, SharedKeyWarning, examples, plain, warn
from evalci_accessor.stats.validate import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """How the samples of an item vary under each system.

    Parameters
    ----------
    counts : ndarray of int, shape (n, M)
        Number of samples, 0 where the system lacks the item.
    variances : ndarray of float, shape (n, M)
        Their variance (n - 1); nan of a single one.
    binary : bool
        Whether every one is 0 or 1.
    """

    counts: IntArray
    variances: FloatArray
    binary: bool

    @classmethod
    def of(cls, counts: IntArray, squares: FloatArray, *, binary: bool) -> Samples:
        """From the sums of the squared deviations from the item's mean."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls(counts=counts, variances=np.where(counts > 1, squares / (counts - 1), np.nan), binary=binary)

    def take(self, items: Any) -> Samples:
        """Those of some items."""
        return dataclasses.replace(self, counts=self.counts[items], variances=self.variances[items])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """The items of one group.

    Parameters
    ----------
    scores : ndarray of float, shape (n, M)
        Mean score of an item under a system; nan where the system lacks the item.
    clusters : ndarray of int, shape (n,), or None
        Cluster codes; None without a clustering.
    items : ndarray of int, shape (n,)
        Codes of the items, for messages.
    weights : ndarray of float, shape (n,), or None
        Weights above 0; None where all items count the same.
    samples : Samples or None
        What the means are over; None unless it was asked for.
    """

    scores: FloatArray
    clusters: IntArray | None
    items: IntArray
    weights: FloatArray | None
    samples: Samples | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Margin:
    """One of several crossed clusterings.

    Parameters
    ----------
    name : str
    label : callable
        The id of a cluster code.
    """

    name: str
    label: Callable[[int], Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crossing:
    """Crossed clusterings, of which the tables' cluster codes are the intersections.

    Parameters
    ----------
    margins : list of Margin
    subsets : dict of ndarray of int
        From the places of some clusterings, as (0,) or (0, 1), to the cluster that they make of each of the tables' codes.
    """

    margins: list[Margin]
    subsets: dict[tuple[int, ...], IntArray]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matched:
    """What a container hands up: the tables, the pairs to compare, and the words to speak of them.

    Parameters
    ----------
    tables : list of Table
        One a group (H of them), in the order of the groups.
    systems : list
        The M labels in order of first appearance.
    pairs : ndarray of int, shape (P, 2)
        A difference is the first minus the second.
    factor, item : str
    cluster, weights : str or None
    item_label, cluster_label : callable
        The id of an item's or a cluster's code.
    group_label : callable
        Words for a group, as "lang='en'"; empty for the only one.
    score_range : tuple of float
        Least and greatest item mean; nan without scores.
    binary : bool
        Whether all item means are 0 or 1.
    repeats : int
        Most scores that were averaged into one cell.
    sentinel : tuple or None
        A negative value that looks like a mark rather than a score, and how often it occurs.
    crossing : Crossing or None
        Where the items lie in several crossed clusterings; ``cluster`` then names them all.
    """

    tables: list[Table]
    systems: list[Any]
    pairs: IntArray
    factor: str
    item: str
    cluster: str | None
    weights: str | None
    item_label: Callable[[int], Any]
    cluster_label: Callable[[int], Any]
    group_label: Callable[[int], str]
    score_range: tuple[float, float]
    binary: bool
    repeats: int
    sentinel: tuple[float, int] | None
    crossing: Crossing | None = None

    @property
    def bounded(self) -> bool:
        """Whether all item means lie in [0, 1]; true without scores."""
        return in_unit_interval(self.score_range)

    @property
    def asked(self) -> dict[str, bool]:
        """What the choice of a method depends on beside the scores."""
        return {
            "clustered": self.cluster is not None, "weighted": self.weights is not None, "crossed": self.crossing is not None,
        }  # fmt: skip


def choose_pairs(systems: list[Any], factor: str, baseline: Any, pairs: Any, *, ordered: bool = False) -> IntArray:
    """Which systems are compared, as positions (P, 2): all pairs, all against a baseline, or those asked for."""
    if baseline is not None and pairs is not None:
        raise MethodError(
            "Both baseline= and pairs= are given; pass one of them, since each says which systems are compared."
        )
    if len(systems) < 2:
        found = f"only one system ({systems[0]!r})" if systems else "no system"
        raise PairingError(
            f"There is {found} in {factor!r}; a comparison needs two. Is it the right column, and were the others filtered away?"
        )
    if baseline is not None:
        base = _position(systems, factor, baseline, "baseline")
        return np.array([(i, base) for i in range(len(systems)) if i != base], dtype=np.int64)
    if pairs is not None:
        return _listed_pairs(systems, factor, pairs)
    first, second = np.nonzero(~np.eye(len(systems), dtype=bool)) if ordered else np.triu_indices(len(systems), 1)
    return np.stack([first, second], axis=1).astype(np.int64)


def _listed_pairs(systems: list[Any], factor: str, pairs: Any) -> IntArray:
    form = f"pairs must be a list of two levels of {factor!r} each, as pairs=[({systems[0]!r}, {systems[1]!r})]"
    if isinstance(pairs, (str, bytes, dict, set)) or not isinstance(pairs, Iterable):
        raise MethodError(f"{form}; got {pairs!r}.")
    chosen: list[tuple[int, int]] = []
    for pair in pairs:
        if isinstance(pair, (str, bytes, dict, set)) or not isinstance(pair, Iterable) or len(both := list(pair)) != 2:
            raise MethodError(f"{form}; one of them is {pair!r}.")
        a, b = (_position(systems, factor, label, "pairs") for label in both)
        if a == b:
            raise MethodError(f"pairs compares {systems[a]!r} with itself; {form}.")
        if (a, b) in chosen or (b, a) in chosen:
            raise MethodError(
                f"pairs holds {systems[a]!r} and {systems[b]!r} twice; the difference the other way round is its negative."
            )
        chosen.append((a, b))
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
    import difflib

    texts = [str(system) for system in systems]
    close = difflib.get_close_matches(str(label), texts, n=1) or difflib.get_close_matches(
        str(label).casefold(), [text.casefold() for text in texts], n=1
    )
    hint = ""
    if close:
        near = systems[next(i for i, text in enumerate(texts) if close[0] in (text, text.casefold()))]
        hint = f" Did you mean {near!r}" + (f" ({type(near).__name__})?" if str(near) == str(label) else "?")
    raise MethodError(
        f"{role} names {label!r}, which is not a level of {factor!r}; its levels are {examples(map(repr, systems), 20)}.{hint}"
    )


def taking_part(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Systems that some pair names, ascending, and the pairs as positions among them."""
    taking, places = np.unique(pairs, return_inverse=True)
    return taking, places.reshape(pairs.shape).astype(np.int64)


def by_appearance(coded: Codes) -> tuple[IntArray, list[Any], IntArray]:
    """Codes by order of first appearance, their labels, and where each appears first; no code may be missing."""
    codes, present = pd.factorize(coded.codes)
    labels = [plain(coded.label(int(code))) for code in present]
    return codes.astype(np.int64), labels, first_places(codes, len(present))


def item_key(coded: list[Codes], names: list[str], *, told: bool) -> Codes:
    """Codes of the ids of items; where ``told``, warns if several columns make them, so that items share values."""
    key = join_key(coded)
    if len(coded) == 1 or not told:
        return key
    n_items = len(np.unique(key.codes))
    sizes = [len(np.unique(part.codes)) for part in coded]
    if max(sizes) < n_items:
        parts = " and ".join(f"{name!r} ({size} values)" for name, size in zip(names, sizes, strict=True))
        warn(
            f"The {n_items} items are told apart by {parts}, so many share a value of one of them, but no cluster= is named and "
            f"they count as independent. Name what they share: cluster={names[0]!r}, if the rest only counts within it, or all, as "
            f"cluster={names!r}, if a value of each means the same everywhere; repeats of an item go in sample= instead.",
            SharedKeyWarning,
        )
    return key


def encode_ids(values: Any, name: str, *, lookalikes: bool = False) -> Codes:
    """Codes of ids of items or samples; of pairs, near misses are told where they matter: when they do not pair up."""
    try:
        return encode(values, name, lookalikes=lookalikes)
    except ClusterError as error:  # written for clusters, which these are not
        raise PairingError(str(error).replace("so clusters may", "so ids may")) from error


def join_key(coded: list[Codes]) -> Codes:
    """Codes of what several ids make together, whose label is a tuple; one alone stays as it is."""
    if len(coded) == 1:
        return coded[0]
    joint = coded[0].codes
    lacking = joint < 0
    for part in coded[1:]:
        joint = pd.factorize(joint)[0].astype(np.int64) * (part.size + 1) + part.codes + 1
        lacking = lacking | (part.codes < 0)
    codes, present = pd.factorize(joint)
    first = first_places(codes, len(present))

    def label(code: int) -> tuple[Any, ...]:
        return tuple(plain(part.label(int(part.codes[first[code]]))) for part in coded)

    return Codes(codes=np.where(lacking, -1, codes).astype(np.int64), size=len(present), label=label)


def refuse_missing_factor(codes: IntArray, name: str, where: Callable[[int], str]) -> None:
    """A score of nobody's cannot be compared."""
    at = np.flatnonzero(codes < 0)
    if len(at):
        raise PairingError(
            f"{len(at)} of {len(codes)} entries of {name!r} are missing, at {examples(where(int(i)) for i in at[:6])}. It says "
            "whose score it is; fill in the name, or leave these out first."
        )


def refuse_same_part(parts: dict[str, list[Any]]) -> None:
    """Names that play two parts that exclude each other, in words of the caller's arguments."""
    for one, other in (
        ("item", "factor"), ("cluster", "factor"), ("sample", "factor"), ("by", "factor"), ("sample", "item"),
        ("factor", "score"), ("item", "score"), ("cluster", "score"), ("sample", "score"), ("weights", "factor"),
        ("weights", "item"), ("weights", "cluster"), ("weights", "sample"), ("weights", "score"),
    ):  # fmt: skip
        both = [name for name in parts.get(one, []) if name in parts[other]]
        if both:
            raise MethodError(f"{both[0]!r} is given both as {other} and as {one}. {_PARTS[one]} {_PARTS[other]}")


_PARTS = {
    "factor": "The factor names the systems, whose scores of the same item are set against each other.",
    "item": "The item tells the questions apart, the same for all systems.",
    "cluster": "The cluster is what items share.",
    "sample": "The sample numbers the repeats of an item under one system.",
    "by": "Each row of the result compares systems within one key of by.",
    "score": "The score is what is compared.",
    "weights": "The weights say how much each item counts.",
}


def families(within: Any, keys: dict[Any, IntArray], n_groups: int, role: str) -> IntArray:
    """Which family of comparisons each group belongs to: one for all, or one for each key of ``within``."""
    joint = np.zeros(n_groups, dtype=np.int64)
    if within is None:
        return joint
    several = list(within) if isinstance(within, list) or (isinstance(within, tuple) and within not in keys) else [within]
    for name in several:
        if name not in keys:
            known = f"which are {examples(map(repr, keys), 20)}" if keys else "of which there are none here"
            raise MethodError(
                f"correction_within={name!r} must be among {role}, {known}: the correction then runs within each of its values "
                "instead of over the whole table."
            )
        joint = joint * (int(keys[name].max(initial=0)) + 1) + keys[name]
    return pd.factorize(joint)[0].astype(np.int64)
