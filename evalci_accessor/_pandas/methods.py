"""What the accessor methods do: resolve, reduce, infer, present."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor import _scan
from evalci_accessor._findings import warn_missing, warn_sentinel
from evalci_accessor._options import RateOptions
from evalci_accessor._pandas.columns import Column, Frame, clusterings_of, columns_of, find
from evalci_accessor._pandas.reduce import Rows, add_up, add_up_crossed, read_rows
from evalci_accessor._pandas.tidy import key_columns, tidy
from evalci_accessor._present import (
    DESIGN_COLUMNS,
    ESTIMATE_COLUMNS,
    design_columns,
    effect,
    estimate,
    naive,
    rate_columns,
    refuse_single_clusters,
    together,
)
from evalci_accessor._sample import Sample
from evalci_accessor.exceptions import ClusterError
from evalci_accessor.options import Alternative, IccMethod, NanPolicy, ProportionMethod


def proportion_ci(
    data: Frame,
    *,
    score: Any,
    by: Any,
    weights: Any,
    method: ProportionMethod,
    alternative: Alternative,
    confidence_level: float,
    nan_policy: NanPolicy,
) -> pd.DataFrame:
    """Textbook intervals, as the accessor's method of that name."""
    rows = read_rows(data, score, by, weights, nan_policy)
    keys = key_columns(rows, ESTIMATE_COLUMNS)
    # A weighted row must be seen by itself.
    sample = add_up(data, rows, None if weights is None else Column(np.arange(len(data)), "row"))
    result = naive(sample, method=method, alternative=alternative, confidence_level=confidence_level)
    return tidy(keys, rate_columns(result, None), rows.n_groups)


def cluster_ci(
    data: Frame, cluster: Any, *, score: Any, by: Any, weights: Any, nan_policy: NanPolicy, options: RateOptions
) -> pd.DataFrame:
    """Intervals under clustering, as the accessor's method of that name."""
    rows = read_rows(data, score, by, weights, nan_policy)
    keys = key_columns(rows, ESTIMATE_COLUMNS)
    clusterings = clusterings_of(data, cluster, score)
    refuse_keys(clusterings, rows)
    sample = add_up_crossed(data, rows, clusterings)
    return tidy(keys, rate_columns(estimate(sample, options), sample.cluster), rows.n_groups)


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
    """Clusterings and their design effects, as the accessor's method of that name."""
    rows = read_rows(data, score, by, weights, nan_policy)
    keys = key_columns(rows, DESIGN_COLUMNS)
    columns = _clusterings(data, rows, cluster, score, weights)
    samples = [add_up(data, rows, column) for column in columns]
    if cluster is not None:
        refuse_keys(columns, rows)
        for sample in samples:
            refuse_single_clusters(sample)
        samples = [*together(lambda: add_up_crossed(data, rows, columns, told=False), len(columns)), *samples]
    else:
        samples = [sample for sample in samples if _scan.informative(sample.totals)]
    parts = [
        tidy(keys, design_columns(effect(sample, icc_method, confidence_level), sample.cluster or ""), rows.n_groups)
        for sample in samples
    ]
    plain = add_up(data, rows, None)
    warn_missing(plain)
    warn_sentinel(plain.sentinel, plain.score_range[1])
    if not parts:
        nothing = {label: values.iloc[:0] for label, values in keys.items()}
        empty = tidy(nothing, {name: np.empty(0) for name in DESIGN_COLUMNS}, 0)
        return empty.astype({"cluster": object, "icc_method": object, "n": np.int64, "n_clusters": np.int64})
    return _worst_first(parts, samples, rows.n_groups)


def refuse_keys(clusterings: list[Column], rows: Rows) -> None:
    """A clustering that is also in by= is one cluster within each row of the answer."""
    keys = {key.name for key in rows.keys}
    both = [one.name for one in clusterings if one.name in keys]
    if both:
        others = " Leave it out of cluster=: the others are what the scores of a row share." if len(clusterings) > 1 else (
            " Leave it out of by=, name what is shared within it as cluster=, or use proportion_ci if the items within it really "
            "are independent."
        )  # fmt: skip
        raise ClusterError(
            f"cluster= and by= both name {both[0]!r}, so within each row of the answer all scores lie in a single cluster of it."
            f"{others}"
        )


def _worst_first(parts: list[pd.DataFrame], samples: list[Sample], n_groups: int) -> pd.DataFrame:
    """Within each group, all clusterings together and then that with the largest design effect first."""
    if len(parts) == 1:
        return parts[0]
    stacked = pd.concat(parts, ignore_index=True)
    group = np.tile(np.arange(n_groups), len(parts))
    joint = np.repeat([sample.crossing is not None for sample in samples], n_groups)
    order = _scan.worst_first(group, stacked["design_effect"].to_numpy(), joint)
    return stacked.iloc[order].reset_index(drop=True)


def _clusterings(data: Frame, rows: Rows, cluster: Any, score: Any, weights: Any) -> list[Column]:
    if cluster is None:
        return _candidates(
            data, rows, find(data, score, "score"), None if weights is None else find(data, weights, "weights")
        )
    return clusterings_of(data, cluster, score)


def _candidates(data: Frame, rows: Rows, score: Column, weights: Column | None) -> list[Column]:
    """Columns and index levels that repeat their values and have no other part in the call."""
    taken = {score.label, *(key.label for key in rows.keys), *([] if weights is None else [weights.label])}
    columns = columns_of(data)
    levels = [name for name in data.index.names if name is not None and name not in columns]
    unique = columns[~columns.duplicated(keep=False)]
    named = [find(data, name, "cluster") for name in (*unique, *levels) if name not in taken]
    kept = _scan.usable({column.name: rows.kept(column.values) for column in named}, rows.kept(rows.scores))
    return [column for column in named if column.name in kept]
