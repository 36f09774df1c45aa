"""From ids of any dtype to integer codes, hashed once and never passed through float."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, plain, warn
from evalci_accessor.stats.validate import BoolArray, IntArray

_FLOAT_EXACT = 2**53
_REPEATS = re.compile("(?i)(sample|epoch|trial|run|seed|repeat|replicate|variant|attempt|try|draw|rep)(_id)?")
_BLANKS = {"", "nan", "none", "null", "na", "n/a", "<na>", "nat"}


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Codes:
    """Ids as codes 0..size-1, -1 where the id is missing; not every code need occur."""

    codes: IntArray  # (n,)
    size: int
    label: Callable[[int], Any]  # the id of a code

    def recoded(self, codes: IntArray) -> Codes:
        """The same ids, of other scores."""
        return dataclasses.replace(self, codes=codes)


def bare(values: Any) -> Any:
    """The array inside a Series or an Index: numpy's own where it is one, so that its dtype can be told."""
    if isinstance(values, (pd.Series, pd.Index)):
        values = values.array
    return values.to_numpy() if isinstance(values, pd.arrays.NumpyExtensionArray) else values


def encode(values: Any, name: str, *, lookalikes: bool = True) -> Codes:
    """Codes of a one-dimensional array, Index, Series or extension array; ``lookalikes`` warns of ids that look alike."""
    values = bare(values)
    kind = values.dtype.kind if isinstance(values.dtype, np.dtype) else "not of numpy"
    if isinstance(values.dtype, pd.CategoricalDtype):
        category = pd.Categorical(values)
        labels = category.categories
        codes = np.asarray(category.codes, dtype=np.int64)
        if lookalikes:
            _warn_lookalikes(labels[np.unique(codes[codes >= 0])], name)
        return Codes(codes=codes, size=len(labels), label=labels.__getitem__)
    if kind in "iu" and len(values):
        numbers = np.asarray(values)
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < 2 * len(numbers) + 1024:  # dense integers are their own codes
            # Narrow integers would wrap around, and 64-bit unsigned ones do not fit int64 before the subtraction.
            wide = numbers if numbers.dtype.itemsize == 8 else numbers.astype(np.int64)
            codes = (wide - wide.dtype.type(low)).astype(np.int64)
            return Codes(codes=codes, size=high - low + 1, label=lambda code: low + int(code))
    if kind == "f":
        _refuse_rounded(np.asarray(values), name)
    if kind in "US":  # numpy's own strings: pandas hashes objects
        values = np.asarray(values).astype(object)
    try:
        codes, uniques = pd.factorize(values, use_na_sentinel=True)
    except (TypeError, NotImplementedError) as error:  # the latter from Arrow lists
        raise ex.ClusterError(
            f"{name!r} holds values that cannot be told apart by hashing ({error}). Ids must be numbers, strings, dates or "
            "tuples; turn lists or dicts into strings first."
        ) from error
    if lookalikes:
        _warn_lookalikes(uniques, name)
    return Codes(codes=np.asarray(codes, dtype=np.int64), size=len(uniques), label=uniques.__getitem__)


def is_repeat(name: str) -> bool:
    """Whether a column's name says that it numbers repeats."""
    return _REPEATS.fullmatch(name) is not None


def by_label(coded: Codes) -> Codes:
    """The same with codes in the order of the labels, written as text, which no order of the rows moves."""
    labels = [plain(coded.label(code)) for code in range(coded.size)]
    order = sorted(range(coded.size), key=lambda code: (type(labels[code]).__name__, str(labels[code])))
    rank = np.empty(coded.size + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(coded.size), -1  # a missing id stays one
    return Codes(codes=rank[coded.codes], size=coded.size, label=lambda code: labels[order[code]])


def _refuse_rounded(values: np.ndarray, name: str) -> None:
    with np.errstate(invalid="ignore"):
        big = np.isfinite(values) & (np.abs(values) >= _FLOAT_EXACT)
    if big.any():
        raise ex.ClusterError(
            f"{name!r} holds {int(big.sum())} ids as floating point numbers of {_FLOAT_EXACT} (2**53) or more, where "
            "neighbouring whole numbers are rounded into one, so clusters may already have merged. Read the column as "
            "'Int64' or as strings instead (a missing id turns int64 into float64)."
        )


def _warn_lookalikes(labels: Any, name: str) -> None:
    """Warn of ids that differ only in Unicode form or in white space; they stay apart."""
    dtype = getattr(labels, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufbmM":
        return
    texts = [label for label in labels if isinstance(label, str)]
    if not texts:
        return
    if len(texts) < len(labels):
        _warn_mixed(labels, set(texts), name)
    blanks = [text for text in texts if text.strip().lower() in _BLANKS]
    if blanks:
        warn(
            f"{name!r} holds the id(s) {examples(map(repr, blanks))}, which look like missing ids written as text; all their rows "
            "count as one. If they are missing, set them to missing first.",
            ex.ClusterIdWarning,
        )
    joined = "\x00".join(["", *texts, ""])
    if joined.isascii() and not any(mark in joined for mark in ("  ", " \x00", "\x00 ", "\t", "\n", "\r")):
        return
    seen: dict[str, str] = {}
    pairs = []
    for text in texts:
        other = seen.setdefault(" ".join(unicodedata.normalize("NFC", text).split()), text)
        if other != text:
            pairs.append((other, text))
    if pairs:
        shown = "; ".join(f"{a!a} and {b!a}" for a, b in pairs[:5])
        warn(
            f"{len(pairs)} id(s) in {name!r} look like another one but for Unicode form or white space and were kept apart: "
            f"{shown}. If they mean the same, normalise them first, as with .str.normalize('NFC').str.split().str.join(' ').",
            ex.ClusterIdWarning,
        )


def _warn_mixed(labels: Any, texts: set[str], name: str) -> None:
    """Warn of ids that are a number in one row and the same number as text in another; they stay apart."""
    both = [label for label in labels if not isinstance(label, str) and str(label) in texts]
    if both:
        warn(
            f"{len(both)} id(s) in {name!r} occur both as text and as {type(both[0]).__name__} and were kept apart: "
            f"{examples(map(repr, both))}. Bring the column to one type first, as with .astype(str).",
            ex.ClusterIdWarning,
        )


def group_rows(keys: list[tuple[Any, str]]) -> tuple[IntArray, IntArray]:
    """Groups of rows by one or several keys with their names, in order of first appearance, and the first row of each.

    A missing key is a group of its own.
    """
    joint: IntArray | None = None
    for values, name in keys:
        coded = encode(values, name)
        codes = np.where(coded.codes < 0, coded.size, coded.codes)
        joint = codes if joint is None else pd.factorize(joint)[0].astype(np.int64) * (coded.size + 1) + codes
    assert joint is not None
    codes, uniques = pd.factorize(joint)
    return codes.astype(np.int64), first_places(codes, len(uniques))


def first_places(codes: IntArray, size: int) -> IntArray:
    """Where each of the codes 0..size-1 stands first; all of them occur."""
    first = np.empty(size, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def ranked(key: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Ranks of keys among those that occur, and these."""
    if size <= 4 * len(key) + 2**16:
        held = np.bincount(key, minlength=size) > 0
        return (np.cumsum(held) - 1)[key], np.flatnonzero(held)
    codes, uniques = pd.factorize(key, sort=True)
    return codes.astype(np.int64), np.asarray(uniques, dtype=np.int64)


def item_key(coded: list[Codes], names: list[str], *, warns: bool) -> Codes:
    """Codes of the ids of items; where it ``warns``, if several columns make them, so that items share values."""
    key = join_key(coded)
    if len(coded) == 1 or not warns:
        return key
    n_items = len(np.unique(key.codes))
    sizes = [len(np.unique(part.codes)) for part in coded]
    if max(sizes) < n_items:
        parts = " and ".join(f"{name!r} ({size} values)" for name, size in zip(names, sizes, strict=True))
        warn(
            f"The {n_items} items are told apart by {parts}, so many share a value of one of them, but no cluster= is named and "
            f"they count as independent. Name what they share: cluster={names[0]!r}, if the rest only counts within it, or all, as "
            f"cluster={names!r}, if a value of each means the same everywhere; repeats of an item go in sample= instead.",
            ex.SharedKeyWarning,
        )
    return key


def encode_ids(values: Any, name: str, *, lookalikes: bool = False) -> Codes:
    """Codes of ids of items or samples; of pairs, near misses matter only: when they do not pair up."""
    try:
        return encode(values, name, lookalikes=lookalikes)
    except ex.ClusterError as error:  # written for clusters, which these are not
        raise ex.PairingError(str(error).replace("so clusters may", "so ids may")) from error


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


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Clustering:
    """Ids of what the scores share, one a score; of cells so many ``repeats`` in a row are of one item."""

    name: str
    coded: Codes
    repeats: int = 1

    def recoded(self, codes: IntArray) -> Clustering:
        """The same ids, of other scores."""
        return dataclasses.replace(self, coded=self.coded.recoded(codes))

    def take(self, at: Any) -> Clustering:
        """That of some of the scores."""
        return self.recoded(self.coded.codes[at])

    def label(self, code: int) -> Any:
        """The id of a cluster code, as the caller wrote it."""
        return plain(self.coded.label(code))


def refuse_missing_clusters(
    lacking: BoolArray, name: str, entries: str, shown: Callable[[list[int]], str], each: str = "each"
) -> None:
    """Refuse rows or cells without a cluster id."""
    at = np.flatnonzero(lacking).tolist()
    if at:
        count = "all" if len(at) == len(lacking) else len(at)
        raise missing_clusters(
            f"{count} of {len(lacking)} {entries} have no cluster id in {name!r}: {shown(at)}",
            f"dropna(subset=[{name!r}])",
            each,
        )


def missing_clusters(found: str, way: str, each: str = "each") -> ex.MissingClusterError:
    """The error of scores without a cluster id, with the way to leave them out."""
    return ex.MissingClusterError(
        f"{found}. They are neither one cluster nor none. Leave them out knowingly with {way}, or give {each} an id of its "
        "own if they share nothing."
    )
