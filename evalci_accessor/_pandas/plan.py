"""Planning from a pilot in a frame: rows to pilots, and a row for each key, pair and point of the grid."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._options import PlanOptions
from evalci_accessor._pandas.columns import Column, Frame, clusterings_of, listed
from evalci_accessor._pandas.methods import refuse_keys
from evalci_accessor._pandas.pairs import Paired, find_columns, read_pairs, repeated_keys
from evalci_accessor._pandas.reduce import add_up, read_rows
from evalci_accessor._pandas.repeated import Roles, read_items
from evalci_accessor._pandas.tidy import key_columns, tidy
from evalci_accessor._pilots import (
    Pilots,
    check_goal,
    one_of,
    pilots_of_items,
    pilots_of_pairs,
    pilots_of_sample,
    refuse_lone_sample,
)
from evalci_accessor._plan import (
    MDE_COLUMNS,
    PAIR_CLUSTERS_COLUMNS,
    POWER_COLUMNS,
    RATE_CLUSTERS_COLUMNS,
    WIDTH_COLUMNS,
    Answer,
    clusters_columns,
    mde_columns,
    power_columns,
    width_columns,
)
from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import NanPolicy, Unmatched


def half_width(data: Frame, cluster: Any, *, asked: dict[str, Any], options: PlanOptions, **given: Any) -> pd.DataFrame:
    """How wide the interval of a rate would be, as the accessor's method of that name."""
    found, keys = _of_rate(data, cluster, method="half_width", reserved=WIDTH_COLUMNS, options=options, **given)
    return _tidy(keys, width_columns(found, asked, options))


def power(data: Frame, factor: Any, *, asked: dict[str, Any], options: PlanOptions, **given: Any) -> pd.DataFrame:
    """The power to show a difference, as the accessor's method of that name."""
    found, keys = _of_pairs(data, factor, method="power", reserved=POWER_COLUMNS, options=options, **given)
    return _tidy(keys, power_columns(found, asked, options))


def mde(data: Frame, factor: Any, *, asked: dict[str, Any], options: PlanOptions, **given: Any) -> pd.DataFrame:
    """The smallest difference that a design shows, as the accessor's method of that name."""
    found, keys = _of_pairs(data, factor, method="mde", reserved=MDE_COLUMNS, options=options, **given)
    return _tidy(keys, mde_columns(found, asked, options))


def required_clusters(
    data: Frame,
    factor: Any,
    *,
    cluster: Any,
    nested: bool,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    asked: dict[str, Any],
    options: PlanOptions,
    **given: Any,
) -> pd.DataFrame:
    """How many clusters a goal needs, as the accessor's method of that name."""
    check_goal(factor, asked, options, nested=nested, baseline=baseline, pairs=pairs, unmatched=unmatched)
    common: dict[str, Any] = {"method": "required_clusters", "options": options} | given
    if factor is None:
        found, keys = _of_rate(data, cluster, nested=nested, reserved=RATE_CLUSTERS_COLUMNS, **common)
    else:
        found, keys = _of_pairs(
            data, factor, cluster=cluster, baseline=baseline, pairs=pairs, unmatched=unmatched, reserved=PAIR_CLUSTERS_COLUMNS,
            **common,
        )  # fmt: skip
    return _tidy(keys, clusters_columns(found, asked, options))


def _of_rate(
    data: Frame,
    cluster: Any,
    *,
    item: Any,
    sample: Any,
    score: Any,
    by: Any,
    nested: bool,
    nan_policy: NanPolicy,
    options: PlanOptions,
    method: str,
    reserved: tuple[str, ...],
) -> tuple[Pilots, dict[Hashable, pd.Series]]:
    """A pilot for each key, from rows that are items, or samples of these."""
    if item is not None:
        one_of(listed(data, cluster), method)
        roles = Roles(item=item, cluster=cluster, sample=sample, score=score, by=by)
        _, groups, items = read_items(data, roles, reserved=reserved, nested=nested, nan_policy=nan_policy)
        return pilots_of_items(items, options.confidence_level), groups
    refuse_lone_sample(sample, nested=nested)
    clustering = one_of([] if cluster is None else clusterings_of(data, cluster, score), method)
    rows = read_rows(data, score, by, None, nan_policy)
    keys = key_columns(rows, reserved)
    refuse_keys([] if clustering is None else [clustering], rows)
    totals = add_up(data, rows, Column(np.arange(len(data)), "row") if clustering is None else clustering)
    return pilots_of_sample(totals, options.confidence_level, alone=clustering is None), keys


def _of_pairs(
    data: Frame,
    factor: Any,
    *,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    by: Any,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    options: PlanOptions,
    method: str,
    reserved: tuple[str, ...],
) -> tuple[Pilots, dict[Hashable, pd.Series]]:
    """A pilot for each key and pair."""
    if item is None:
        raise MethodError("item= is missing: what tells the items apart, the same for both systems, so that they pair up.")
    found = find_columns(data, factor, item, cluster, sample, score, by)
    one_of(found.clusters, method)
    paired: Paired = read_pairs(
        data, found, baseline, pairs, unmatched, nan_policy, reserved, averages=True, samples=sample is not None
    )
    return pilots_of_pairs(paired.matched, options.confidence_level), repeated_keys(paired)


def _tidy(keys: dict[Hashable, pd.Series], answer: Answer) -> pd.DataFrame:
    """Keys, then the columns: a row for each point of the grid, of one key (and pair) after the other."""
    size = answer.size
    held = len(next(iter(keys.values()))) if keys else 1
    repeats = np.repeat(np.arange(held), size // max(held, 1))
    return tidy({label: values.iloc[repeats].reset_index(drop=True) for label, values in keys.items()}, answer.columns, size)
