"""Reports of cubes: each method is called once, `evalci_accessor.report` puts the answers together."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd
import xarray as xr

from evalci_accessor._options import ReportOptions, Wording
from evalci_accessor._pairs import COMPARE_COLUMNS, DIFF_COLUMNS
from evalci_accessor._present import DESIGN_COLUMNS, ESTIMATE_COLUMNS
from evalci_accessor._typing import NanPolicy, Unmatched
from evalci_accessor._warn import held
from evalci_accessor._xarray import methods, pairs
from evalci_accessor._xarray.dims import Cube, Dims, find, score_of
from evalci_accessor._xarray.parts import Parts, find_parts
from evalci_accessor._xarray.plots import naive_intervals
from evalci_accessor._xarray.reduce import Cells
from evalci_accessor._xarray.repeated import Roles, read_items
from evalci_accessor.report import Report, _collect
from evalci_accessor.report._collect import Findings, Sampled, build, check


def report(
    data: Cube, cluster: Any, *, factor: Any, item: Any, sample: Any, score: Any, dim: Dims, weights: Any, baseline: Any,
    pair_list: Any, unmatched: Unmatched, nan_policy: NanPolicy, options: ReportOptions, wording: Wording,
) -> Report:  # fmt: skip
    """All results in one place, as the accessor's method of that name."""
    check(cluster, factor, pair_list, baseline, options, wording)
    parts = None
    if factor is not None:
        parts = find_parts(data, factor, item, cluster, sample, score, dim, averages=True, weights=weights)
    items = None if parts is None else parts.items
    reduced = dim if parts is None else (*parts.items, *parts.repeats)
    findings, counted, each = Findings(), None, weights
    if (item is not None or sample is not None) if parts is None else parts.repeats:
        named = item if parts is None else [one.array for one in parts.item]
        roles = Roles(item=named, cluster=cluster, sample=sample, score=score, dim=reduced, weights=weights)

        def read() -> tuple[Cells, Sampled]:
            cells, items = read_items(data, roles, nested=False, nan_policy=nan_policy)
            return cells, Sampled(
                groups=items.groups, n=items.n, per_entry=items.per_entry, n_groups=items.naming.n_groups, pooled=items.pooled
            )

        cells, counted = findings.of_items(read)
        reduced = cells.reduced
        if counted.shares is not None:
            dims = (*cells.kept, *cells.reduced)
            shares = counted.shares.reshape([cells.score.sizes[d] for d in dims])
            each = xr.DataArray(shares, dims=dims, name="weights")
            if weights is not None:
                each = (each * find(data, weights, "weights").array).rename("weights")
    rates = findings.of(
        "cluster_ci",
        lambda: methods.cluster_ci(
            data, cluster, score=score, dim=reduced, weights=each, nan_policy=nan_policy, options=options.rate
        ),
    )
    clustering = findings.of(
        "design_effect",
        lambda: methods.design_effect(
            data, cluster, score=score, dim=reduced, weights=each, icc_method="anova",
            confidence_level=options.confidence_level, nan_policy=nan_policy,
        ),
    )  # fmt: skip
    naive = naive_intervals(data, rates, score, each, nan_policy, "auto", options.rate)
    assert naive is not None

    def differences(*, clustered: bool) -> pd.DataFrame:
        shared: dict[str, Any] = {
            "item": item if clustered or item is not None else items,  # without clusters the dims must be said
            "cluster": cluster if clustered else None, "sample": sample, "score": score,
            "dim": dim, "weights": weights, "baseline": baseline, "pairs": pair_list, "unmatched": unmatched,
            "nan_policy": nan_policy, "layout": "pair",
        }  # fmt: skip
        if options.margin is not None:
            answer = pairs.diff_ci(data, factor, options=options.diff(clustered=clustered), **shared)
            return _pairs(answer, parts, DIFF_COLUMNS)
        compared = pairs.compare(
            data, factor, correction_within=None, options=options.compare(clustered=clustered), **shared
        )  # fmt: skip
        return _pairs(compared, parts, COMPARE_COLUMNS)

    comparison = beside = None
    if parts is not None:
        comparison = findings.of("compare" if options.margin is None else "diff_ci", lambda: differences(clustered=True))
        with held():  # the same findings once more
            beside = differences(clustered=False)
    kept = list(rates["estimate"].dims)
    keys = [_name(d, parts) for d in kept]
    answers = _collect.Parts(
        score=score_of(data, score).name,
        keys=keys,
        rates=_frame(rates, kept, keys, ESTIMATE_COLUMNS, parts),
        naive=_frame(naive, kept, keys, ESTIMATE_COLUMNS, parts),
        clustering=_frame(clustering, [*kept, "cluster"], keys, DESIGN_COLUMNS, parts),
        comparison=comparison,
        beside=beside,
        findings=findings,
        counted=counted,
        weights=None if weights is None else find(data, weights, "weights").name,
    )
    return build(answers, options, wording)


def _name(dim: Hashable, parts: Parts | None) -> Hashable:
    """What a dim is called: along the systems by the factor, which may be a coordinate."""
    return parts.factor.name if parts is not None and dim == parts.systems else dim


def _frame(
    result: xr.Dataset, dims: list[Hashable], keys: list[Hashable], columns: tuple[str, ...], parts: Parts | None
) -> pd.DataFrame:
    """A result as a frame with its keys first, as the frame's method gives it."""
    if parts is not None and parts.systems in dims:
        name = parts.factor.name
        labels = parts.factor.array.to_numpy()
        result = result.drop_vars([c for c in (parts.systems, name) if c in result.coords])
        result = result.assign_coords({parts.systems: labels})
    if not dims:
        return pd.DataFrame({name: [result[name].item()] for name in columns})
    frame = result.to_dataframe(dim_order=dims).reset_index()
    if parts is not None and parts.systems in frame:
        frame = frame.rename(columns={parts.systems: parts.factor.name})
    return frame[[*keys, *columns]]


def _pairs(result: xr.Dataset, parts: Parts | None, columns: tuple[str, ...]) -> pd.DataFrame:
    """Comparisons as a frame, a row a pair of each group."""
    assert parts is not None
    sides = [f"{parts.factor.name}_a", f"{parts.factor.name}_b"]
    frame = result.to_dataframe(dim_order=[*parts.kept, "pair"]).reset_index()
    return frame[[*parts.kept, *sides, *columns]].reset_index(drop=True)
