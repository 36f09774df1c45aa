"""Planning from a pilot in a cube: cells to pilots, and a Dataset over the kept dims, the pairs and the grid."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import xarray as xr

from evalci_accessor._options import PlanOptions
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
    Answer,
    clusters_columns,
    mde_columns,
    power_columns,
    width_columns,
)
from evalci_accessor._xarray.dims import Cube, Dims, Named, clusterings_of, named_dims, score_of
from evalci_accessor._xarray.match import read_pairs
from evalci_accessor._xarray.pairs import refuse_own_names
from evalci_accessor._xarray.parts import find_parts
from evalci_accessor._xarray.reduce import add_up, read_cells
from evalci_accessor._xarray.repeated import Roles, read_items
from evalci_accessor._xarray.wrap import over
from evalci_accessor.options import NanPolicy, Unmatched


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """Pilots, and what names the answer's dims.

    Parameters
    ----------
    pilots : Pilots
    score : DataArray
        The scores as they came, for their coordinates.
    kept : tuple
    own : dict
        Size of the dim of the pairs, if there is one.
    coords : dict
        Its coordinates.
    """

    pilots: Pilots
    score: xr.DataArray
    kept: tuple[Any, ...]
    own: dict[str, int]
    coords: dict[str, Any]


def half_width(data: Cube, cluster: Any, *, asked: dict[str, Any], options: PlanOptions, **given: Any) -> xr.Dataset:
    """How wide the interval of a rate would be, as the accessor's method of that name."""
    found = _of_rate(data, cluster, method="half_width", options=options, **given)
    return _wrap(found, width_columns(found.pilots, asked, options))


def power(data: Cube, factor: Any, *, asked: dict[str, Any], options: PlanOptions, **given: Any) -> xr.Dataset:
    """The power to show a difference, as the accessor's method of that name."""
    found = _of_pairs(data, factor, method="power", reserved=POWER_COLUMNS, options=options, **given)
    return _wrap(found, power_columns(found.pilots, asked, options))


def mde(data: Cube, factor: Any, *, asked: dict[str, Any], options: PlanOptions, **given: Any) -> xr.Dataset:
    """The smallest difference that a design shows, as the accessor's method of that name."""
    found = _of_pairs(data, factor, method="mde", reserved=MDE_COLUMNS, options=options, **given)
    return _wrap(found, mde_columns(found.pilots, asked, options))


def required_clusters(
    data: Cube,
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
) -> xr.Dataset:
    """How many clusters a goal needs, as the accessor's method of that name."""
    check_goal(factor, asked, options, nested=nested, baseline=baseline, pairs=pairs, unmatched=unmatched)
    common: dict[str, Any] = {"method": "required_clusters", "options": options} | given
    if factor is None:
        found = _of_rate(data, cluster, nested=nested, **common)
    else:
        found = _of_pairs(
            data, factor, cluster=cluster, baseline=baseline, pairs=pairs, unmatched=unmatched, reserved=PAIR_CLUSTERS_COLUMNS,
            **common,
        )  # fmt: skip
    return _wrap(found, clusters_columns(found.pilots, asked, options))


def _of_rate(
    data: Cube,
    cluster: Any,
    *,
    item: Any,
    sample: Any,
    score: Any,
    dim: Dims,
    nested: bool,
    nan_policy: NanPolicy,
    options: PlanOptions,
    method: str,
) -> Found:
    """A pilot for each cell of the kept dims, from cells that are items, or samples of these."""
    if item is not None or sample is not None:
        one_of([] if cluster is None else clusterings_of(data, cluster, score), method)
        roles = Roles(item=item, cluster=cluster, sample=sample, score=score, dim=dim)
        cells, items = read_items(data, roles, nested=nested, nan_policy=nan_policy)
        pilots = pilots_of_items(items, options.confidence_level)
        return Found(pilots=pilots, score=cells.score, kept=cells.kept, own={}, coords={})
    refuse_lone_sample(None, nested=nested)
    scores = score_of(data, score)
    clustering: Named | None = one_of([] if cluster is None else clusterings_of(data, cluster, score), method)
    along = None if clustering is None else clustering.array.dims
    cells = read_cells(scores, named_dims(scores.array, dim, along), None, nan_policy)
    own = clustering
    if own is None:  # each cell stands for itself
        shape = tuple(scores.array.sizes[d] for d in cells.reduced)
        numbers = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
        own = Named(xr.DataArray(numbers, dims=cells.reduced), "cell")
    pilots = pilots_of_sample(add_up(cells, own), options.confidence_level, alone=clustering is None)
    return Found(pilots=pilots, score=cells.score, kept=cells.kept, own={}, coords={})


def _of_pairs(
    data: Cube,
    factor: Any,
    *,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    dim: Dims,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    options: PlanOptions,
    method: str,
    reserved: tuple[str, ...],
) -> Found:
    """A pilot for each cell of the kept dims and each pair."""
    parts = find_parts(data, factor, item, cluster, sample, score, dim, averages=True)
    one_of(parts.clusters, method)
    paired = read_pairs(parts, baseline, pairs, unmatched, nan_policy, samples=True)
    refuse_own_names(paired, reserved)
    chosen = paired.matched.pairs
    sides = {f"{paired.factor}_{side}": ("pair", paired.labels(chosen[:, k])) for k, side in enumerate("ab")}
    return Found(
        pilots=pilots_of_pairs(paired.matched, options.confidence_level), score=paired.score, kept=paired.kept,
        own={"pair": len(chosen)}, coords=sides,
    )  # fmt: skip


def _wrap(found: Found, answer: Answer) -> xr.Dataset:
    """Variables over the kept dims, the pairs, and what was asked for in several numbers."""
    columns = {name: value for name, value in answer.columns.items() if name not in answer.axes}
    return over(
        found.score, found.kept, columns, own=found.own | {name: len(values) for name, values in answer.axes.items()},
        coords=found.coords | {name: (name, values) for name, values in answer.axes.items()}, reserved=tuple(answer.columns),
    )  # fmt: skip
