"""What the accessor methods do: resolve, reduce, infer, present."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor import _scan
from evalci_accessor._pandas.columns import Column, Frame, columns_of, find
from evalci_accessor._pandas.reduce import add_up, read_rows
from evalci_accessor._pandas.tidy import key_frame, tidy
from evalci_accessor._present import (
    DESIGN_COLUMNS,
    ESTIMATE_COLUMNS,
    RateOptions,
    design_columns,
    effect,
    estimate,
    naive,
    rate_columns,
    refuse_single_clusters,
    warn_missing,
)
from evalci_accessor._typing import Alternative, IccMethod, NanPolicy, ProportionMethod
from evalci_accessor.exceptions import ClusterError


def proportion_ci(
    data: Frame,
    *,
    score: Any,
    by: Any,
    method: ProportionMethod,
    alternative: Alternative,
    confidence_level: float,
    nan_policy: NanPolicy,
) -> pd.DataFrame:
    rows = read_rows(data, score, by, None, nan_policy)
    keys = key_frame(rows, ESTIMATE_COLUMNS)
    sample = add_up(data, rows, None)
    result = naive(sample, method=method, alternative=alternative, confidence_level=confidence_level)
    return tidy(keys, rate_columns(result, None))


def cluster_ci(
    data: Frame, cluster: Any, *, score: Any, by: Any, weights: Any, nan_policy: NanPolicy, options: RateOptions
) -> pd.DataFrame:
    rows = read_rows(data, score, by, weights, nan_policy)
    keys = key_frame(rows, ESTIMATE_COLUMNS)
    column = find(data, cluster, "cluster")
    result = estimate(add_up(data, rows, column), options)
    return tidy(keys, rate_columns(result, column.name))


def design_effect(
    data: Frame,
    cluster: Any,
    *,
    score: Any,
    by: Any,
    weights: Any,
    icc_method: IccMethod,
    confidence_level: float,
    nan_policy: NanPolicy,
) -> pd.DataFrame:
    rows = read_rows(data, score, by, weights, nan_policy)
    keys = key_frame(rows, DESIGN_COLUMNS)
    parts = []
    for column in _clusterings(data, cluster, score, by, weights):
        sample = add_up(data, rows, column)
        if cluster is not None:
            refuse_single_clusters(sample)
        elif not _scan.informative(sample.totals):
            continue
        parts.append(tidy(keys, design_columns(effect(sample, icc_method, confidence_level), column.name)))
    warn_missing(add_up(data, rows, None))
    if not parts:
        _scan.warn_nothing()
        empty = tidy(keys.iloc[:0], {name: np.empty(0) for name in DESIGN_COLUMNS})
        return empty.astype({"cluster": object, "icc_method": object, "n": np.int64, "n_clusters": np.int64})
    return _worst_first(parts, len(keys))


def _worst_first(parts: list[pd.DataFrame], n_groups: int) -> pd.DataFrame:
    """Within each group, the clustering with the largest design effect first."""
    if len(parts) == 1:
        return parts[0]
    stacked = pd.concat(parts, ignore_index=True)
    group = np.tile(np.arange(n_groups), len(parts))
    order = _scan.worst_first(group, stacked["design_effect"].to_numpy())
    return stacked.iloc[order].reset_index(drop=True)


def _clusterings(data: Frame, cluster: Any, score: Any, by: Any, weights: Any) -> list[Column]:
    if cluster is None:
        return _candidates(data, score, by, weights)
    if isinstance(cluster, (list, tuple)) and not (isinstance(cluster, tuple) and cluster in columns_of(data)):
        if not cluster:
            raise ClusterError(
                "The list of clusterings is empty; name at least one, or pass nothing to look at every column."
            )
        return [find(data, spec, "cluster") for spec in cluster]
    return [find(data, cluster, "cluster")]


def _candidates(data: Frame, score: Any, by: Any, weights: Any) -> list[Column]:
    """Columns and index levels that repeat their values and have no other part in the call."""
    taken = {id(spec) if isinstance(spec, (pd.Series, np.ndarray)) else spec for spec in _listed(score, by, weights)}
    named: list[Column] = []
    columns = columns_of(data)
    for name in columns:
        if name not in taken:
            named.append(Column(find(data, name, "cluster").values, str(name)))
    for level, name in enumerate(data.index.names):
        if name is not None and name not in taken and name not in columns:
            named.append(Column(data.index.get_level_values(level), str(name)))
    kept = _scan.usable({column.name: column.values for column in named})
    return [column for column in named if column.name in kept]


def _listed(*specs: Any) -> list[Any]:
    out: list[Any] = []
    for spec in specs:
        out.extend(spec) if isinstance(spec, (list, tuple)) else out.append(spec)
    return [spec for spec in out if spec is not None]
