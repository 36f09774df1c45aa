"""A result as the rows of a picture: its columns, the names of rows, their order, and numbers as words."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeAlias

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

Result: TypeAlias = pd.DataFrame | xr.Dataset
Ticks: TypeAlias = tuple[list[float], list[str]]

RATE = ("estimate", "ci_low", "ci_high")
DIFFERENCE = ("difference", "ci_low", "ci_high")
LINE = 60  # letters of a label before it is broken
MINUS = " \N{MINUS SIGN} "  # between the two systems of a pair
PAIR = "\0pair"  # no column of a result is called so
_UNNAMED = "row"  # what an index without a name is called
# What tells rows of one key apart, where results were concatenated.
APART = ("k", "measure", "method", "cluster", "confidence_level")


class Wanted(NamedTuple):
    """Who draws a result, which methods give such results, and the columns that are needed."""

    asked: str
    source: str
    needed: Sequence[str]


class Note(NamedTuple):
    """A column of the margin: what stands above it, and a text a row."""

    heading: str
    texts: Sequence[str]


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Part:
    """Rows of a result, in the order in which they are drawn."""

    frame: pd.DataFrame

    def numbers(self, name: str) -> np.ndarray:
        """A column as floats; nan throughout if the result lacks it."""
        if name not in self.frame:
            return np.full(len(self.frame), np.nan)
        try:
            return self.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            shown = examples(repr(plain(value)) for value in self.frame[name])
            raise ScoreTypeError(
                f"The column {name!r} of the result holds no numbers: {shown}. A picture is drawn from the "
                "result as the method gave it, before it is put into words."
            ) from error

    def texts(self, name: Hashable) -> list[str]:
        """A column as text; empty if the result lacks it."""
        return [words(value) for value in self.frame.get(name, [])]

    def known(self, name: str) -> list[str]:
        """The same with no text where a value is missing, as one of no text is after a file."""
        return ["" if pd.isna(value) else words(value) for value in self.frame.get(name, [])]

    def only(self, name: str) -> str:
        """The one text of a column, or nothing if the result lacks it or rows differ."""
        found = set(self.texts(name))
        return found.pop() if len(found) == 1 else ""

    def distinct(self, columns: Sequence[Hashable]) -> list[Hashable]:
        """Those of the columns that hold more than one value."""
        return [name for name in columns if name in self.frame and self.frame[name].map(words).nunique() > 1]

    def intervals(self, names: Sequence[str], *, percent: bool, signed: bool = False) -> list[str]:
        """Estimates and their limits, a text a row."""
        limits = zip(*(self.numbers(name).tolist() for name in names), strict=True)
        return [interval(*three, percent=percent, signed=signed) for three in limits]

    @property
    def clusterings(self) -> list[str]:
        """What the items of each row share; empty where they stand for themselves."""
        return self.known("cluster")

    @property
    def levels(self) -> str:
        """The confidence levels before a word, as "80 % or 95 % "; nothing if unknown or many."""
        found = [level(text).strip() for text in sorted(set(self.texts("confidence_level")))]
        return f"{' or '.join(found)} " if 0 < len(found) < 4 and all(found) else ""


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Rows(Part):
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
    own : list
        The columns that stand before the result's own, whatever names the rows.
    """

    labels: list[str]
    headings: list[str]
    keys: list[Hashable]
    own: list[Hashable]

    @property
    def at(self) -> np.ndarray:
        """Where rows stand, from the top, below the headings; row 0 is left to the headings of notes."""
        above = np.cumsum([bool(text) for text in self.headings], dtype=np.float64)
        return above + np.arange(1, 1 + len(above))

    @property
    def ticks(self) -> Ticks:
        """Where the names of rows and the headings above them stand, and these."""
        at = self.at.tolist()
        above = {place - 1: text for place, text in zip(at, self.headings, strict=True) if text}
        return [*at, *above], [*self.labels, *above.values()]

    def counted(self, *shown: tuple[str, str]) -> list[Note]:
        """Columns of the margin with whole numbers; no clusters where items stand for themselves."""
        clustered = any(self.clusterings or ["yes"])
        return [
            Note(heading, counts(self.numbers(name)))
            for name, heading in shown
            if name in self.frame and (name != "n_clusters" or clustered)
        ]


def tidy(result: Any, wanted: Wanted) -> tuple[pd.DataFrame, list[Hashable]]:
    """The result with its keys first, and their names."""
    if isinstance(result, xr.Dataset):
        frame, keys = _from_dataset(result, wanted)
    elif isinstance(result, pd.DataFrame):
        frame, keys = _from_frame(result, wanted)
    else:
        raise MethodError(
            f"{wanted.asked} takes a result, which is a DataFrame or a Dataset with "
            f"{listed([*map(repr, wanted.needed)])}; got {type(result).__name__}."
        )
    if not len(frame):
        raise MethodError(f"{wanted.asked} was given a result without rows, so there is nothing to draw.")
    return frame, keys


def read(
    result: Any,
    wanted: Wanted,
    label: Labels | None = None,
    group: Hashable = None,
    sort_by: Hashable = None,
    ascending: bool = True,
) -> Rows:
    """The rows of a result with their labels, in their order."""
    frame, own = tidy(result, wanted)
    keys = chosen_keys(frame, own, label)
    for option, name in (("group", group), ("sort_by", sort_by)):
        if name is not None:
            _refuse_unknown(frame, option, name)
    order = np.arange(len(frame))
    if sort_by is not None:
        order = frame[sort_by].sort_values(ascending=ascending, kind="stable").index.to_numpy()
    titles = [""] * len(frame)
    if group is not None:  # groups stay in the order in which they came
        order = order[np.argsort(pd.factorize(frame[group].map(words))[0][order], kind="stable")]
        titles = [words(value) for value in frame[group].iloc[order]]
    frame = frame.iloc[order].reset_index(drop=True)
    headings = [title if i == 0 or title != titles[i - 1] else "" for i, title in enumerate(titles)]
    naming = [key for key in keys if key != group]
    return Rows(frame, names(frame, naming), headings, keys, own)


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


def words(value: Any) -> str:
    """A key as text in one line."""
    if value is None or (np.ndim(value) == 0 and pd.isna(value)):
        return "missing"
    return " ".join(str(plain(value)).split())


def named(key: Hashable, value: Any) -> str:
    """A key's value; numbers and truth values say of what."""
    text = words(value)
    if not text:
        return f"{words(key)} empty"
    if text == "missing" or isinstance(plain(value), (bool, int, float)):
        return f"{words(key)} = {text}"
    return text


def names(frame: pd.DataFrame, keys: list[Hashable]) -> list[str]:
    """What the rows are called; if long, in lines, of which a pair's second system begins one after the minus."""
    return [
        name
        if len(name) <= LINE
        else f"{MINUS.rstrip()}\n".join(
            "\n".join(textwrap.wrap(part, LINE + 2)) for part in name.split(MINUS, 1)
        )
        for name in called(frame, keys)
    ]


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


def _from_frame(result: pd.DataFrame, wanted: Wanted) -> tuple[pd.DataFrame, list[Hashable]]:
    if isinstance(result.columns, pd.MultiIndex):
        raise AmbiguousNameError(
            f"{wanted.asked} was given a frame with columns in {result.columns.nlevels} levels; it takes a "
            "result as the method gave it."
        )
    # These are names whose own name was taken away.
    if result.index.names == [None] and result.index.dtype.kind not in "iu":
        result = result.rename_axis(_UNNAMED)
    levels = [level for level in result.index.names if level is not None]
    if levels:
        result = result.reset_index(level=levels)
    columns: list[Hashable] = list(result.columns)
    refuse_lacking(columns, wanted)
    # The keys of a result stand before its own columns.
    starts = min(map(columns.index, {*wanted.needed, *RATE, *DIFFERENCE, "estimate_a"}.intersection(columns)))
    return result.reset_index(drop=True), [name for name in columns[:starts] if name != "pair"]


def _from_dataset(result: xr.Dataset, wanted: Wanted) -> tuple[pd.DataFrame, list[Hashable]]:
    refuse_lacking(list(result.data_vars), wanted)
    dims, pairs = list(result[wanted.needed[0]].dims), []
    if wanted.needed[0] == DIFFERENCE[0] or "pair" in dims:
        pairs = [name for name in result.coords if str(name).endswith(("_a", "_b"))]
    own = {*dims, *pairs}.intersection(result.coords)
    kept = result.reset_coords([name for name in result.coords if name not in own | {*result.indexes}])
    if not dims:
        return pd.DataFrame({name: [kept[name].item()] for name in [*pairs, *kept.data_vars]}), pairs
    frame = kept.to_dataframe(dim_order=dims)
    # Older xarray has the levels of stacked dims as columns too.
    frame = frame.drop(columns=[name for name in frame.index.names if name in frame]).reset_index()
    # A dim that was stacked has several levels.
    keys = [name for dim in dims if dim in own for name in result.indexes[dim].names]
    keys += [name for name in pairs if name not in dims]
    return frame[[*keys, *(name for name in frame.columns if name not in keys)]].reset_index(drop=True), keys


def refuse_lacking(columns: list[Hashable], wanted: Wanted) -> None:
    """Refuse a result that lacks columns, or has one twice."""
    lacking = [repr(name) for name in wanted.needed if name not in columns]
    if lacking:
        raise ColumnNotFoundError(
            f"{wanted.asked} takes a result of {wanted.source}, which has the columns "
            f"{listed([*map(repr, wanted.needed)])}. Not there: {listed(lacking)}; the columns are "
            f"{examples(map(repr, columns), 20)}."
        )
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise AmbiguousNameError(
            f"{wanted.asked} was given a result with {columns.count(twice[0])} columns {twice[0]!r}."
        )


def listed(texts: Sequence[str]) -> str:
    """Texts as "one, two and three"."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def beside(rows: Rows, naive: Result, wanted: Wanted) -> Part:
    """The rows of the naive result that are drawn, in the order of those above them."""
    frame, keys = tidy(naive, wanted)
    if set(rows.own) != set(keys):
        raise MethodError(
            f"naive= must be a result with the same keys. Those drawn have {rows.own or 'none'}, and the "
            f"naive ones {keys or 'none'}."
        )

    def spelled(part: pd.DataFrame, spell: Callable[[Any], str]) -> list[tuple[str, ...]]:
        columns = [[spell(value) for value in part[key]] for key in rows.own]
        return list(zip(*columns, strict=True)) if columns else [()] * len(part)

    # 1 and "1" print alike.
    spell = words if len({*spelled(frame, words)}) == len(frame) else lambda value: repr(plain(value))
    at: dict[tuple[str, ...], int] = {}
    for i, key in enumerate(spelled(frame, spell)):
        if key in at:
            raise MethodError(
                f"naive= has two rows for {', '.join(map(repr, key)) or 'all'}; it must have one row a key."
            )
        at[key] = i
    drawn = spelled(rows.frame, spell)
    lacking = [key for key in drawn if key not in at]
    if lacking:
        raise MethodError(
            f"naive= has no row for {len(lacking)} of {len(drawn)} keys, such as "
            f"{', '.join(map(repr, lacking[0])) or 'all'}; it must be of the same scores."
        )
    return Part(frame.iloc[[at[key] for key in drawn]])


def interval(point: float, low: float, high: float, *, percent: bool, signed: bool = False) -> str:
    """An estimate and its limits, as "73.9 [65.7, 81.1]"."""
    if math.isnan(point):
        return "not known"
    first, *ends = (number(value, percent=percent, signed=signed) for value in (point, low, high))
    return f"{first} [{ends[0]}, {ends[1]}]"


def number(value: float, *, percent: bool, signed: bool = False) -> str:
    """One number."""
    if math.isnan(value):
        return "?"
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else "\N{MINUS SIGN}\N{INFINITY}"
    text = f"{100 * value:.1f}" if percent else f"{value:.4g}"
    if float(text) == 0:
        text = text.lstrip("-")  # no minus zero
    sign = "+" if signed and float(text) > 0 else ""
    return sign + text.replace("-", "\N{MINUS SIGN}")


def counts(values: np.ndarray) -> list[str]:
    """Whole numbers with separators; fractions, as weights, as they are."""
    return ["?" if math.isnan(v) else f"{v:,.0f}" if v == round(v) else f"{v:,.4g}" for v in values.tolist()]


def pvalues(values: np.ndarray) -> list[str]:
    """P-values as ".034", and "< .001"."""
    return [
        "?" if math.isnan(v) else "< .001" if v < 0.001 else f"{v:.3f}".removeprefix("0")
        for v in values.tolist()
    ]


def few(names: Sequence[Any], limit: int = 3) -> str:
    """Some distinct names in one line, without empty ones."""
    known = list(dict.fromkeys(str(name) for name in names if name))
    return ", ".join(known) if len(known) <= limit else f"{', '.join(known[:limit])} and others"


def level(text: str) -> str:
    """A confidence level before a word, as "95 % "; nothing where it is not known."""
    try:
        return f"{100 * float(text):.4g} % "
    except ValueError:
        return ""


def in_unit(*values: np.ndarray, low: float = 0.0) -> bool:
    """Whether all numbers lie between ``low`` and 1, as rates and their differences do."""
    every = np.concatenate(values)
    every = every[~np.isnan(every)]
    return bool(every.size and (every >= low).all() and (every <= 1).all())


def span(values: np.ndarray) -> str:
    """Counts as one number or as a range."""
    ends = counts(np.array([np.nanmin(values), np.nanmax(values)]))
    return ends[0] if ends[0] == ends[1] else f"{ends[0]}\N{EN DASH}{ends[1]}"
