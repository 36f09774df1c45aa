"""Repeated samples of items: rows to items, and a row for each key and k of the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._entries import Entries
from evalci_accessor._ids import encode, group_rows
from evalci_accessor._options import RateOptions
from evalci_accessor._pairing import encode_ids, item_key, refuse_same_part
from evalci_accessor._pandas.columns import Column, Frame, clusterings_of, columns_of, find, listed
from evalci_accessor._pandas.reduce import Rows
from evalci_accessor._pandas.tidy import key_columns, tidy
from evalci_accessor._repeated import REPEATED_COLUMNS, one_clustering, repeated_columns
from evalci_accessor._repeats import Items, Naming, gather
from evalci_accessor._scores import to_float
from evalci_accessor._typing import NanPolicy, RepeatedMeasure, TooFew
from evalci_accessor._warn import plain
from evalci_accessor.exceptions import EvalCIError, MethodError
from evalci_accessor.stats._validate import IntArray
from evalci_accessor.stats.repeated import check_ks


def repeated(
    data: Frame,
    k: Any,
    *,
    measure: RepeatedMeasure,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    by: Any,
    nested: bool,
    too_few: TooFew,
    nan_policy: NanPolicy,
    options: RateOptions,
) -> pd.DataFrame:
    """What k samples of an item would score, as the accessor's methods of the measures' names."""
    ks = np.atleast_1d(check_ks(k)).ravel()
    roles = Roles(item=item, cluster=cluster, sample=sample, score=score, by=by)
    rows, key_values, items = read_items(
        data, roles, reserved=("k", *REPEATED_COLUMNS), nested=nested, nan_policy=nan_policy,
        check=lambda clusters: one_clustering(clusters, measure),
    )  # fmt: skip
    columns = repeated_columns(items, measure, ks, too_few, options)
    return tidy_along(rows, key_values, "k", ks, columns)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Roles:
    """What the caller named: labels, arrays, or lists of these."""

    item: Any
    cluster: Any
    sample: Any
    score: Any
    by: Any


def read_items(
    data: Frame,
    roles: Roles,
    *,
    reserved: tuple[str, ...],
    check: Callable[[list[Column]], object],
    nested: bool,
    nan_policy: NanPolicy,
) -> tuple[Rows, dict[Hashable, pd.Series], Items]:
    """The groups, their keys, and the items with their samples; ``check`` refuses clusterings that do not fit."""
    items, given = listed(data, roles.item), listed(data, roles.by)
    if not items:
        raise MethodError("item= names nothing; name what tells the items apart, whose samples repeat.")
    parts = {
        "factor": [],
        "weights": [],
        "item": items,
        "cluster": listed(data, roles.cluster),
        "sample": [roles.sample],
        "score": [roles.score],
    }
    parts["by"] = given
    refuse_same_part({part: [name for name in names if isinstance(name, (str, int))] for part, names in parts.items()})
    scores, named = find(data, roles.score, "score"), [find(data, spec, "item") for spec in items]
    keys = [find(data, spec, "by") for spec in given]
    clusterings = [] if roles.cluster is None else clusterings_of(data, roles.cluster, roles.score)
    check(clusterings)
    clusters = clusterings[0] if clusterings else None
    samples = None if roles.sample is None else find(data, roles.sample, "sample")
    rows = Rows(
        scores=np.zeros(0), keep=None, keys=keys, weights=None, score_range=(np.nan, np.nan), binary=True, missing=None,
        groups=group_rows([key.values for key in keys], [key.name for key in keys]) if keys else None,
    )  # fmt: skip
    key_values = key_columns(rows, reserved)
    # What by= names is the same within a row of the answer, so no items share it there.
    within = [one for one in named if one.label not in [key.label for key in keys]]
    ids = item_key(
        [encode_ids(one.values, one.name) for one in named], [one.name for one in named],
        told=clusters is None and len(within) > 1,
    )  # fmt: skip
    clustering = None if clusters is None else encode(clusters.values, clusters.name)
    naming = Naming(
        score=scores.name, item=[one.name for one in named], cluster=None if clusters is None else clusters.name,
        sample=None if samples is None else samples.name, entries="rows", n_groups=rows.n_groups, item_label=ids.label,
        cluster_label=str if clustering is None else clustering.label, group_label=rows.group_label,
    )  # fmt: skip
    n = len(data)
    taken = {one.label for one in (scores, *named, *keys, *([] if clusters is None else [clusters]))}
    taken |= set() if samples is None else {samples.label}
    entries = Entries(
        scores=to_float(scores.values, scores.name),
        groups=np.zeros(n, dtype=np.int64) if rows.groups is None else rows.groups.codes,
        systems=np.zeros(n, dtype=np.int64), items=ids.codes, n_items=ids.size, clusters=clustering, weights=None,
        samples=None if samples is None else encode_ids(samples.values, samples.name),
        where=lambda row: f"row {plain(data.index[row])!r}", others=lambda: _others(data, taken),
    )  # fmt: skip
    return rows, key_values, gather(entries, naming, nan_policy, nested=nested)


def tidy_along(rows: Rows, keys: dict[Hashable, pd.Series], name: str, labels: Any, columns: dict[str, Any]) -> pd.DataFrame:
    """A row for each key and label; columns are of shape (H, L), or (H, 1) where the labels share a value."""
    shape = (rows.n_groups, len(labels))
    repeats = np.repeat(np.arange(rows.n_groups), len(labels))
    spread = {label: values.iloc[repeats].reset_index(drop=True) for label, values in keys.items()}
    full = {
        column: np.broadcast_to(values, shape).ravel() if isinstance(values, np.ndarray) else values
        for column, values in columns.items()
    }
    return tidy(spread, {name: np.tile(labels, rows.n_groups)} | full, rows.n_groups * len(labels))


def _others(data: Frame, taken: set[Any]) -> Iterable[tuple[str, IntArray]]:
    """Columns and index levels without a part in the call that hold ids rather than measurements."""
    columns = columns_of(data)
    levels = [name for name in data.index.names if name is not None and name not in columns]
    for name in (*columns[~columns.duplicated(keep=False)], *levels):
        values = find(data, name, "by").values
        if name in taken or pd.api.types.is_float_dtype(values.dtype):
            continue
        try:
            yield str(name), encode_ids(values, str(name)).codes
        except EvalCIError:  # lists or dicts, which are no ids
            continue
