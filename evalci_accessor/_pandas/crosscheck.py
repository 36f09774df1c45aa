"""Our numbers beside statsmodels': rows to scores, and a row an estimator of the answer."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._crosscheck import (
    CROSSCHECK_COLUMNS,
    differences,
    missing_ids_with_words,
    rates,
    refuse_no_cluster,
    refuse_without_factor,
)
from evalci_accessor._ids import bare, encode
from evalci_accessor._options import CrosscheckOptions
from evalci_accessor._pairing import Matched
from evalci_accessor._pandas.columns import Frame, clusterings_of
from evalci_accessor._pandas.pairs import Found, find_columns, read_pairs
from evalci_accessor._pandas.reduce import add_up_crossed, read_rows
from evalci_accessor._pandas.tidy import key_columns, tidy
from evalci_accessor._scores import to_float
from evalci_accessor.options import NanPolicy, Unmatched
from evalci_accessor.stats.validate import FloatArray, IntArray


def crosscheck(
    data: Frame,
    cluster: Any,
    *,
    score: Any,
    by: Any,
    weights: Any,
    factor: Any,
    item: Any,
    sample: Any,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    options: CrosscheckOptions,
) -> pd.DataFrame:
    """Estimators side by side, as the accessor's method of that name."""
    refuse_no_cluster(cluster, "a column or index level, or an array")
    if factor is None:
        refuse_without_factor(item, pairs, baseline, sample)
        with missing_ids_with_words(options.against):
            return _rates(data, cluster, score, by, weights, nan_policy, options)
    found = find_columns(data, factor, item, cluster, sample, score, by, weights)
    with missing_ids_with_words(options.against):
        paired = read_pairs(data, found, baseline, pairs, unmatched, nan_policy, CROSSCHECK_COLUMNS, averages=True)
    matched = paired.matched
    columns = differences(matched, options, lambda systems: _orders(found, matched, systems))
    at = np.arange(len(matched.tables)), np.arange(len(matched.pairs))
    group, pair = (axis.ravel() for axis in np.meshgrid(*at, indexing="ij"))
    keys = {label: values.iloc[group] for label, values in paired.keys.items()}
    keys |= {f"{matched.factor}_{side}": paired.systems.iloc[matched.pairs[pair, k]] for k, side in enumerate("ab")}
    return _tall(keys, columns, len(group))


def _rates(
    data: Frame, cluster: Any, score: Any, by: Any, weights: Any, nan_policy: NanPolicy, options: CrosscheckOptions
) -> pd.DataFrame:
    rows = read_rows(data, score, by, weights, nan_policy)
    keys = key_columns(rows, CROSSCHECK_COLUMNS)
    columns = clusterings_of(data, cluster, score)
    sample = add_up_crossed(data, rows, columns)
    counted = {one.cluster for one in sample.clusterings}  # without those that lie within another
    encoded = [encode(column.values, column.name, lookalikes=False) for column in columns if column.name in counted]
    scores, codes = rows.kept(rows.scores), [rows.kept(one.codes) for one in encoded]
    weight = None if rows.weights is None else rows.kept(rows.weights)
    groups = np.zeros(len(scores), dtype=np.int64) if rows.groups is None else rows.kept(rows.groups.codes)
    order = np.argsort(groups, kind="stable")
    ends = np.searchsorted(groups[order], np.arange(rows.n_groups + 1))

    def rows_of(h: int) -> tuple[FloatArray, list[IntArray], FloatArray | None]:
        at = order[ends[h] : ends[h + 1]]
        return scores[at], [one[at] for one in codes], None if weight is None else weight[at]

    return _tall(dict(keys), rates(sample, rows_of, options), rows.n_groups)


def _orders(found: Found, matched: Matched, systems: list[Any]) -> list[tuple[FloatArray, list[IntArray]]]:
    """Scores and clusters in the order of the frame: of two systems, and of all."""
    names = [matched.cluster] if matched.crossing is None else [margin.name for margin in matched.crossing.margins]
    clusters = [encode(one.values, one.name, lookalikes=False).codes for one in found.clusters if one.name in names]
    scores = to_float(found.score.values, found.score.name)
    whole = ~np.isnan(scores)
    both = whole & np.asarray(pd.Series(bare(found.factor.values)).isin(systems))
    return [(scores[keep], [one[keep] for one in clusters]) for keep in (both, whole)]


def _tall(keys: dict[Hashable, pd.Series], columns: dict[str, Any], size: int) -> pd.DataFrame:
    """A row an estimator: the keys repeated, columns (N, E) one after the other, and (E,) repeated."""
    n_estimators = len(columns["estimator"])
    at = np.repeat(np.arange(size), n_estimators)
    tall = {name: np.tile(value, size) if np.ndim(value) == 1 else value for name, value in columns.items()}
    repeated = {label: values.iloc[at].reset_index(drop=True) for label, values in keys.items()}
    return tidy(repeated, tall, size * n_estimators)
