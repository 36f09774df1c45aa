"""Repeated samples of items: rows to items, and a row for each key and k of the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._crossing import Clustering, ordered
from evalci_accessor._entries import Entries
from evalci_accessor._ids import Codes, encode, group_rows
from evalci_accessor._options import RateOptions
from evalci_accessor._pairing import encode_ids, item_key, join_key, refuse_same_part
from evalci_accessor._pandas.columns import Frame, clusterings_of, find, free_columns, listed
from evalci_accessor._pandas.reduce import Rows
from evalci_accessor._pandas.tidy import key_columns, tidy
from evalci_accessor._pooled import ids_or_settings
from evalci_accessor._repeated import REPEATED_COLUMNS, repeated_columns
from evalci_accessor._repeats import Items, Naming, gather
from evalci_accessor._scores import to_float, weights_to_float
from evalci_accessor.exceptions import MethodError, plain
from evalci_accessor.options import NanPolicy, RepeatedMeasure, TooFew
from evalci_accessor.stats.repeated.values import check_ks


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
    weights: Any,
    nested: bool,
    too_few: TooFew,
    nan_policy: NanPolicy,
    options: RateOptions,
) -> pd.DataFrame:
    """What k samples of an item would score, as the accessor's methods of the measures' names."""
    ks = np.atleast_1d(check_ks(k)).ravel()
    roles = Roles(item=item, cluster=cluster, sample=sample, score=score, by=by, weights=weights)
    rows, key_values, items = read_items(
        data, roles, reserved=("k", *REPEATED_COLUMNS), nested=nested, nan_policy=nan_policy
    )
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
    weights: Any = None


def read_items(
    data: Frame, roles: Roles, *, reserved: tuple[str, ...], nested: bool, nan_policy: NanPolicy
) -> tuple[Rows, dict[Hashable, pd.Series], Items]:
    """The groups, their keys, and the items with their samples."""
    items, by = listed(data, roles.item), listed(data, roles.by)
    if not items:
        given = "is missing" if roles.item is None else "names nothing"
        raise MethodError(f"item= {given}: the column that tells the items apart, of whose samples each has a row.")
    parts = {
        "factor": [],
        "weights": [roles.weights],
        "item": items,
        "cluster": listed(data, roles.cluster),
        "sample": listed(data, roles.sample),
        "score": [roles.score],
    }
    parts["by"] = by
    refuse_same_part({part: [name for name in names if isinstance(name, (str, int))] for part, names in parts.items()})
    scores, named = find(data, roles.score, "score"), [find(data, spec, "item") for spec in items]
    keys = [find(data, spec, "by") for spec in by]
    clusters = [] if roles.cluster is None else clusterings_of(data, roles.cluster, roles.score)
    samples = [find(data, spec, "sample") for spec in listed(data, roles.sample)]
    weighing = None if roles.weights is None else find(data, roles.weights, "weights")
    rows = Rows(
        scores=np.zeros(0), keep=None, keys=keys, weights=None, score_range=(np.nan, np.nan), binary=True, missing=None,
        groups=group_rows([key.values for key in keys], [key.name for key in keys]) if keys else None,
    )  # fmt: skip
    key_values = key_columns(rows, reserved)
    # What by= names is the same within a row of the answer, so no items share it there.
    within = [one for one in named if one.label not in [key.label for key in keys]]
    ids = item_key(
        [encode_ids(one.values, one.name, lookalikes=True) for one in named], [one.name for one in named],
        told=not clusters and len(within) > 1,
    )  # fmt: skip
    clusterings = [Clustering(name=one.name, coded=encode(one.values, one.name)) for one in clusters]
    naming = Naming(
        score=scores.name, item=[one.name for one in named], samples=[one.name for one in samples],
        entries="rows", n_groups=rows.n_groups, item_label=ids.label, group_label=rows.group_label,
        weights=None if weighing is None else weighing.name,
    )  # fmt: skip
    n = len(data)
    taken = {one.label for one in (scores, *named, *keys, *clusters, *samples, *([weighing] if weighing else []))}
    entries = Entries(
        scores=to_float(scores.values, scores.name),
        groups=np.zeros(n, dtype=np.int64) if rows.groups is None else rows.groups.codes,
        systems=np.zeros(n, dtype=np.int64), items=ids.codes, n_items=ids.size, clusters=None,
        weights=None if weighing is None else weights_to_float(weighing.values, weighing.name),
        samples=join_key([encode_ids(one.values, one.name) for one in samples]) if samples else None,
        where=lambda row: f"row {plain(data.index[row])!r}", others=lambda: _others(data, taken),
    )  # fmt: skip
    return rows, key_values, gather(entries, naming, ordered(clusterings), nan_policy, nested=nested)


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


def _others(data: Frame, taken: set[Any]) -> Iterable[tuple[str, Codes]]:
    """Columns and index levels without a part in the call that could tell two samples apart."""
    for name, values in free_columns(data, taken):
        coded = ids_or_settings(values, name)
        if coded is not None:
            yield name, coded
