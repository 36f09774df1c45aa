"""Columns of a frame and levels of its index, by name or as arrays with an entry a row."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples
from evalci_accessor.read.names import did_you_mean
from evalci_accessor.read.scores import is_number

Frame: TypeAlias = pd.DataFrame | pd.Series
ArrayLike: TypeAlias = np.ndarray | pd.Series | pd.Index | ExtensionArray


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Column:
    """Values, one a row, and what to call them."""

    values: Any
    label: Hashable

    @property
    def name(self) -> str:
        """The label as text, for messages."""
        return str(self.label)

    def called(self, name: str) -> Column:
        """The same under another name."""
        return Column(self.values, name)


def columns_of(data: Frame) -> pd.Index:
    """Columns of a frame; none for a Series."""
    if isinstance(data, pd.Series):
        return pd.Index([])
    if isinstance(data.columns, pd.MultiIndex):
        raise ex.AmbiguousNameError(
            f"The frame has columns in {data.columns.nlevels} levels ({examples(map(repr, data.columns))}), of which a name "
            "cannot pick one. Flatten them first: df.columns = ['_'.join(map(str, c)) for c in df.columns]."
        )
    return data.columns


def find(data: Frame, spec: Any, role: str) -> Column:
    """Values of what ``spec`` names; ``role`` is the argument's name, for messages and for unnamed arrays."""
    if isinstance(spec, pd.Series):
        return Column(_aligned(data, spec, role), role if spec.name is None else spec.name)
    if isinstance(spec, (np.ndarray, pd.Index, ExtensionArray)):
        wrong = _wrong_with(spec, len(data))
        if wrong:
            raise ex.AlignmentError(f"`{role}` is {wrong}")
        name = getattr(spec, "name", None)
        return Column(spec, role if name is None else name)
    if isinstance(spec, pd.DataFrame) or not isinstance(spec, Hashable):
        way = "Turn a list of ids into an array with numpy.asarray(...)."
        if role == "weights":
            way = _BY_KIND if isinstance(spec, dict) else "Turn a list into an array with numpy.asarray(...)."
        columns = role == "score" and isinstance(spec, list) and len(spec) > 1
        if columns and pd.Index(spec).isin(columns_of(data)).all():
            way = (
                "Scores in several columns, as of repeated samples, go into one first: "
                f"df.melt(id_vars=[...], value_vars={spec!r}, var_name='sample', value_name='score'), with sample='sample'."
            )
        raise ex.MethodError(
            f"`{role}` must be one name, or an array or Series with an entry a row; got {type(spec).__name__}. {way}"
        )
    return Column(_by_name(data, spec, role), spec)


def _wrong_with(array: Any, n: int) -> str:
    """Why an array has no entry for each of n rows, in words; empty if it has."""
    if isinstance(array, pd.MultiIndex):
        return f"an index of {array.nlevels} levels; pass one of them, as .get_level_values(0)."
    if isinstance(array, np.ma.MaskedArray):
        return "a masked array, whose mask would be lost; pass .filled(...) with what stands for it."
    if getattr(array, "ndim", 1) != 1:
        return f"an array with {array.ndim} dimensions; it must have one, with an entry a row."
    if len(array) != n:
        return (
            f"an array of {len(array)} entries for {n} rows. An array goes by position and must have one entry a row; a "
            "Series with the frame's index goes by label."
        )
    return ""


def listed(data: Frame, specs: Any) -> list[Any]:
    """Several names or arrays as a list; a tuple that is itself a column's label is one."""
    if specs is None:
        return []
    is_several = isinstance(specs, list) or (isinstance(specs, tuple) and specs not in columns_of(data))
    return list(specs) if is_several else [specs]


def free_columns(data: Frame, taken: set[Any], role: str = "by") -> Iterator[Column]:
    """The columns and index levels that have no part in the call."""
    columns = columns_of(data)
    levels = [name for name in data.index.names if name is not None and name not in columns]
    for name in (*columns[~columns.duplicated(keep=False)], *levels):
        if name not in taken:
            yield find(data, name, role)


_BY_KIND = "To weigh by kind, give each row the weight of its own: df['kind'].map(weights)."


def _by_name(data: Frame, name: Hashable, role: str) -> Any:
    columns = columns_of(data)
    levels = [level for level in data.index.names if level is not None]
    in_columns, in_levels = name in columns, levels.count(name)
    if in_columns and in_levels:
        raise ex.AmbiguousNameError(
            f"{role}={name!r} is both a column and an index level; rename one of them."
        )
    if in_columns and not isinstance(columns.get_loc(name), int):
        count = int(np.sum(columns == name))
        raise ex.AmbiguousNameError(
            f"{role}={name!r} names {count} columns; column names must be unique to be picked by."
        )
    if in_levels > 1:
        raise ex.AmbiguousNameError(
            f"{role}={name!r} names {in_levels} index levels; level names must be unique."
        )
    if in_columns:
        return data[name]  # type: ignore[call-overload]
    if in_levels:
        return data.index.get_level_values(name)  # type: ignore[arg-type]
    raise ex.ColumnNotFoundError(_not_found(data, name, role, [*columns, *levels]))


def _not_found(data: Frame, name: Hashable, role: str, available: list[Any]) -> str:
    hint = did_you_mean(name, available, role)
    fits = f"Available: {examples(map(repr, available), 20)}."
    if role in ("score", "weights") and isinstance(data, pd.DataFrame):
        numeric = examples(repr(label) for label, dtype in data.dtypes.items() if is_number(dtype))
        fits = f"Columns that could be it: {numeric}." if numeric else "No column is numeric."
    elif not available:
        fits = "There are no columns or named levels."
    return f"{role}={name!r} is neither a column nor an index level.{hint} {fits} Pass {role}=<name>."


def _aligned(data: Frame, series: pd.Series, role: str) -> pd.Series:
    """The Series in the order of the rows; it must cover their index exactly."""
    if series.index.equals(data.index):
        return series
    if series.index.is_unique and data.index.is_unique and len(series) == len(data):
        order = series.index.get_indexer(data.index)
        if (order >= 0).all():
            return series.iloc[order]
    missing = data.index.difference(series.index)
    extra = series.index.difference(data.index)
    reason = "labels repeat, so rows cannot be told apart by them"
    if len(missing) or len(extra):
        reason = (
            f"{len(missing)} row label(s) are not in it ({examples(map(repr, missing))}), {len(extra)} of its labels are not "
            f"in the rows ({examples(map(repr, extra))})"
        )
    raise ex.AlignmentError(
        f"The Series passed as `{role}` does not cover the index of the data exactly: {reason}. A Series aligns by index; "
        f"pass .to_numpy() to go by position.{f' {_BY_KIND}' if role == 'weights' else ''}"
    )
