"""A result as the rows of a picture: the columns that it needs, the names of rows, and their order."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import xarray as xr

from evalci_accessor.exceptions import (
    AmbiguousNameError,
    ColumnNotFoundError,
    MethodError,
    ScoreTypeError,
    examples,
    plain,
)
from evalci_accessor.options import Labels
from evalci_accessor.plot import _words
from evalci_accessor.plot._canvas import Note

Result: TypeAlias = pd.DataFrame | xr.Dataset

RATE = ("estimate", "ci_low", "ci_high")
DIFFERENCE = ("difference", "ci_low", "ci_high")
LINE = 60  # letters of a label before it is broken
MINUS = " \N{MINUS SIGN} "  # between the two systems of a pair
PAIR = "\0pair"  # no column of a result is called so
_UNNAMED = "row"  # what an index without a name is called
# What tells rows of one key apart, where results were concatenated.
APART = ("k", "measure", "method", "cluster", "confidence_level")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """The rows of a picture, from the top.

    Parameters
    ----------
    frame : DataFrame
        The result in the order in which it is drawn.
    labels : list of str
        What each row is called.
    headings : list of str
        What stands above a row, where a group begins; else empty.
    keys : list
        The columns that name the rows.
    """

    frame: pd.DataFrame
    labels: list[str]
    headings: list[str]
    keys: list[Hashable]

    def numbers(self, name: str) -> np.ndarray:
        """A column as floats; nan throughout if the result lacks it."""
        if name not in self.frame:
            return np.full(len(self.frame), np.nan)
        return numbers(self.frame, name)

    def counted(self, *shown: tuple[str, str]) -> list[Note]:
        """Columns of the margin with whole numbers; no clusters where items stand for themselves."""
        clustered = any(clusterings(self.frame) or ["yes"])
        return [
            Note(heading=heading, texts=_words.counts(self.numbers(name)))
            for name, heading in shown
            if name in self.frame and (name != "n_clusters" or clustered)
        ]

    def texts(self, name: Hashable) -> list[str]:
        """A column as text; empty if the result lacks it."""
        return [words(value) for value in self.frame[name]] if name in self.frame else []

    def only(self, name: str) -> str:
        """The one text of a column, or nothing if the result lacks it or rows differ."""
        found = set(self.texts(name))
        return found.pop() if len(found) == 1 else ""


def tidy(result: Any, needed: Sequence[str], asked: str, source: str) -> tuple[pd.DataFrame, list[Hashable]]:
    """The result with its keys first, and their names; ``asked`` draws it, ``source`` gives such results."""
    if isinstance(result, xr.Dataset):
        frame, keys = _from_dataset(result, needed, asked, source)
    elif isinstance(result, pd.DataFrame):
        frame, keys = _from_frame(result, needed, asked, source)
    else:
        raise MethodError(
            f"{asked} takes a result, which is a DataFrame or a Dataset with {_listing(needed)}; got "
            f"{type(result).__name__}."
        )
    if not len(frame):
        raise MethodError(f"{asked} was given a result without rows, so there is nothing to draw.")
    return frame, keys


def read(
    result: Any,
    needed: Sequence[str],
    asked: str,
    source: str,
    *,
    label: Labels | None,
    group: Hashable,
    sort_by: Hashable,
    ascending: bool,
) -> Rows:
    """The rows of a result with their labels, in their order."""
    frame, own = tidy(result, needed, asked, source)
    keys = chosen_keys(frame, own, label)
    for option, name in (("group", group), ("sort_by", sort_by)):
        if name is not None:
            _refuse_unknown(frame, option, name)
    order = np.arange(len(frame))
    if sort_by is not None:
        order = frame[sort_by].sort_values(ascending=ascending, kind="stable").index.to_numpy()
    if group is not None:  # groups stay in the order in which they came
        order = order[np.argsort(pd.factorize(frame[group].map(words))[0][order], kind="stable")]
    frame = frame.iloc[order].reset_index(drop=True)
    headings = [""] * len(frame)
    if group is not None:
        titles = [words(value) for value in frame[group]]
        headings = [title if i == 0 or title != titles[i - 1] else "" for i, title in enumerate(titles)]
    naming = [key for key in keys if key != group]
    return Rows(frame=frame, labels=names(frame, naming), headings=headings, keys=keys)


def chosen_keys(frame: pd.DataFrame, keys: list[Hashable], label: Labels | None) -> list[Hashable]:
    """The columns that name the rows: the caller's, or those before the result's own."""
    if label is None:
        return keys
    columns: list[Hashable] = list(frame.columns)
    chosen = list(label) if isinstance(label, (list, tuple)) and label not in columns else [label]
    for name in chosen:
        _refuse_unknown(frame, "label", name)
    return chosen


def _refuse_unknown(frame: pd.DataFrame, option: str, name: Hashable) -> None:
    if name not in frame.columns:
        raise ColumnNotFoundError(
            f"{option}={name!r} is not a column of the result, which has "
            f"{examples(map(repr, frame.columns), 30)}."
        )


def numbers(frame: pd.DataFrame, name: str) -> np.ndarray:
    """A column as floats."""
    try:
        return frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        shown = examples(repr(plain(value)) for value in frame[name])
        raise ScoreTypeError(
            f"The column {name!r} of the result holds no numbers: {shown}. A picture is drawn from the "
            "result as the method gave "
            "it, before it is put into words."
        ) from error


def words(value: Any) -> str:
    """A key as text in one line."""
    if value is None or (np.ndim(value) == 0 and pd.isna(value)):
        return "missing"
    return " ".join(str(plain(value)).split())


def distinct(frame: pd.DataFrame, columns: Sequence[Hashable]) -> list[Hashable]:
    """Those of the columns that hold more than one value."""
    return [name for name in columns if name in frame and frame[name].map(words).nunique() > 1]


def clusterings(frame: pd.DataFrame) -> list[str]:
    """What the items of each row share; empty, or missing after a file, where they stand for themselves."""
    return (
        ["" if pd.isna(value) else words(value) for value in frame["cluster"]] if "cluster" in frame else []
    )


def broken(text: str) -> str:
    """A long label in several lines; a pair's second system begins one, after the minus on the last."""
    if len(text) <= LINE:
        return text
    systems = ["\n".join(textwrap.wrap(part, LINE + 2)) for part in text.split(MINUS, 1)]
    return f"{MINUS.rstrip()}\n".join(systems)


def named(key: Hashable, value: Any) -> str:
    """A key's value; numbers and truth values say of what."""
    text = words(value)
    if not text:
        return f"{words(key)} empty"
    if text == "missing" or isinstance(plain(value), (bool, int, float)):
        return f"{words(key)} = {text}"
    return text


def names(frame: pd.DataFrame, keys: list[Hashable]) -> list[str]:
    """What the rows are called, in several lines where that is long."""
    return [broken(name) for name in called(frame, keys)]


def folded(frame: pd.DataFrame, keys: list[Hashable]) -> tuple[pd.DataFrame, list[Hashable]]:
    """The two systems of a pair as one key, first minus second, after the others."""
    for first in keys:
        second = f"{str(first).removesuffix('_a')}_b"
        if str(first).endswith("_a") and second in keys:
            systems = zip(*([words(value) for value in frame[side]] for side in (first, second)), strict=True)
            paired = frame.assign(**{PAIR: [MINUS.join(pair) for pair in systems]})
            return paired, [*(key for key in keys if key not in (first, second)), PAIR]
    return frame, keys


def called(frame: pd.DataFrame, keys: list[Hashable]) -> list[str]:
    """What the rows are called by their keys, and by what else tells them apart."""
    parts = [[named(key, value) for value in frame[key]] for key in keys]
    joined = [" · ".join(row) for row in zip(*parts, strict=True)] if parts else ["all"] * len(frame)
    for name in APART:
        if len(set(joined)) == len(joined) or name not in frame or name in keys:
            continue
        texts = [named(name, value) for value in frame[name]]
        if len(set(texts)) > 1:
            joined = [" · ".join(pair) for pair in zip(joined, texts, strict=True)]
    return joined


def _from_frame(
    result: pd.DataFrame, needed: Sequence[str], asked: str, source: str
) -> tuple[pd.DataFrame, list[Hashable]]:
    if isinstance(result.columns, pd.MultiIndex):
        raise AmbiguousNameError(
            f"{asked} was given a frame with columns in {result.columns.nlevels} levels; it takes a result "
            "as the method "
            "gave it."
        )
    if (
        result.index.names == [None] and result.index.dtype.kind not in "iu"
    ):  # names whose own name was taken away
        result = result.rename_axis(_UNNAMED)
    levels = [level for level in result.index.names if level is not None]
    if levels:
        result = result.reset_index(level=levels)
    refuse_lacking(list(result.columns), needed, asked, source)
    return result.reset_index(drop=True), _before(list(result.columns), needed)


def _from_dataset(
    result: xr.Dataset, needed: Sequence[str], asked: str, source: str
) -> tuple[pd.DataFrame, list[Hashable]]:
    refuse_lacking(list(result.data_vars), needed, asked, source)
    dims = list(result[needed[0]].dims)
    pairs = (
        [name for name in result.coords if str(name).endswith(("_a", "_b"))]
        if needed[0] == DIFFERENCE[0] or "pair" in dims
        else []
    )
    own = [name for name in result.coords if name in (*dims, *pairs)]
    kept = result.reset_coords(
        [name for name in result.coords if name not in own and name not in result.indexes]
    )
    if not dims:
        return pd.DataFrame({name: [kept[name].item()] for name in [*pairs, *kept.data_vars]}), pairs
    frame = kept.to_dataframe(dim_order=dims)
    twice = [
        name for name in frame.index.names if name in frame
    ]  # older xarray has the levels of stacked dims as columns too
    frame = frame.drop(columns=twice).reset_index()
    levels = [
        name for dim in dims if dim in own for name in result.indexes[dim].names
    ]  # several of dims that were stacked
    keys = [*levels, *(name for name in pairs if name not in dims)]
    return frame[[*keys, *(name for name in frame.columns if name not in keys)]].reset_index(drop=True), keys


def _before(columns: list[Hashable], needed: Sequence[str]) -> list[Hashable]:
    """The keys of a result stand before its own columns."""
    starts = [i for i, name in enumerate(columns) if name in (*needed, *RATE, *DIFFERENCE, "estimate_a")]
    return [name for name in columns[: min(starts)] if name != "pair"]


def refuse_lacking(columns: list[Hashable], needed: Sequence[str], asked: str, source: str) -> None:
    """Refuse a result that lacks columns, or has one twice."""
    lacking = [name for name in needed if name not in columns]
    if lacking:
        raise ColumnNotFoundError(
            f"{asked} takes a result of {source}, which has the columns {_listing(needed)}. Not there: "
            f"{_listing(lacking)}; the columns are {examples(map(repr, columns), 20)}."
        )
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise AmbiguousNameError(
            f"{asked} was given a result with {columns.count(twice[0])} columns {twice[0]!r}."
        )


def _listing(names: Sequence[Any]) -> str:
    listed = [repr(name) for name in names]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def beside(rows: Rows, result: Result, naive: Result, source: str) -> pd.DataFrame:
    """The rows of the naive result that are drawn, in the order of those above them."""
    own = tidy(result, RATE, "plot.forest", source)[1]
    frame, keys = tidy(naive, RATE, "plot.forest", source)
    if set(own) != set(keys):
        raise MethodError(
            f"naive= must be a result with the same keys. Those drawn have {own or 'none'}, and the naive "
            f"ones {keys or 'none'}."
        )
    spell = words if len({*_key(frame, own, words)}) == len(frame) else _exact  # 1 and "1" print alike
    at: dict[tuple[str, ...], int] = {}
    for i, key in enumerate(_key(frame, own, spell)):
        if key in at:
            raise MethodError(
                f"naive= has two rows for {', '.join(map(repr, key)) or 'all'}; it must have one row a key."
            )
        at[key] = i
    wanted = _key(rows.frame, own, spell)
    lacking = [key for key in wanted if key not in at]
    if lacking:
        first = ", ".join(map(repr, lacking[0])) or "all"
        raise MethodError(
            f"naive= has no row for {len(lacking)} of {len(wanted)} keys, such as {first}; it must be of the "
            "same scores."
        )
    return frame.iloc[[at[key] for key in wanted]]


def _exact(value: Any) -> str:
    return repr(plain(value))


def _key(frame: pd.DataFrame, keys: list[Hashable], spell: Callable[[Any], str]) -> list[tuple[str, ...]]:
    columns = [[spell(value) for value in frame[key]] for key in keys]
    return list(zip(*columns, strict=True)) if columns else [()] * len(frame)
