"""What the accessor methods do: resolve, reduce, infer, present."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr

from evalci_accessor import _scan
from evalci_accessor._findings import warn_missing, warn_sentinel
from evalci_accessor._options import RateOptions
from evalci_accessor._present import (
    DESIGN_COLUMNS,
    design_columns,
    effect,
    estimate,
    naive,
    rate_columns,
    refuse_single_clusters,
    together,
)
from evalci_accessor._xarray.dims import Cube, Dims, Named, clusterings_of, find, named_dims, score_of
from evalci_accessor._xarray.reduce import Cells, add_up, add_up_crossed, flat_ids, read_cells
from evalci_accessor._xarray.wrap import wrap
from evalci_accessor.exceptions import DimensionError
from evalci_accessor.options import Alternative, IccMethod, NanPolicy, ProportionMethod


def proportion_ci(
    data: Cube,
    *,
    score: Any,
    dim: Dims,
    weights: Any,
    method: ProportionMethod,
    alternative: Alternative,
    confidence_level: float,
    nan_policy: NanPolicy,
) -> xr.Dataset:
    """Textbook intervals, as the accessor's method of that name."""
    scores = score_of(data, score)
    reduced = named_dims(scores.array, dim, None)
    if weights is None:
        sample = add_up(cells := read_cells(scores, reduced, None, nan_policy), None)
    else:  # a weighted cell must be seen by itself
        cells = read_cells(scores, reduced, find(data, weights, "weights"), nan_policy)
        shape = tuple(scores.array.sizes[d] for d in reduced)
        own = xr.DataArray(np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape), dims=reduced)
        sample = add_up(cells, Named(own, "cell"))
    result = naive(sample, method=method, alternative=alternative, confidence_level=confidence_level)
    return wrap(cells, rate_columns(result, None))


def cluster_ci(
    data: Cube, cluster: Any, *, score: Any, dim: Dims, weights: Any, nan_policy: NanPolicy, options: RateOptions
) -> xr.Dataset:
    """Intervals under clustering, as the accessor's method of that name."""
    scores = score_of(data, score)
    clusterings = clusterings_of(data, cluster, score)
    along = [d for one in clusterings for d in one.array.dims]
    reduced = named_dims(scores.array, dim, along)
    weight = None if weights is None else find(data, weights, "weights")
    # The clusters' own dims first, so that what repeats within an item lies together.
    reduced = tuple(sorted(reduced, key=lambda d: d not in along))
    cells = read_cells(scores, reduced, weight, nan_policy)
    sample = add_up_crossed(cells, clusterings)
    return wrap(cells, rate_columns(estimate(sample, options), sample.cluster))


def design_effect(
    data: Cube,
    cluster: Any,
    *,
    score: Any,
    dim: Dims,
    weights: Any,
    icc_method: IccMethod,
    confidence_level: float,
    nan_policy: NanPolicy,
) -> xr.Dataset:
    """Clusterings and their design effects, as the accessor's method of that name."""
    scores = score_of(data, score)
    weight = None if weights is None else find(data, weights, "weights")
    if cluster is None:
        reduced = named_dims(scores.array, dim, _dims_of_repeats(data, scores) if dim is None else None)
        cells = read_cells(scores, reduced, weight, nan_policy)
        clusterings = _candidates(data, cells, {scores.name, *([] if weight is None else [weight.name])})
    else:
        clusterings = clusterings_of(data, cluster, score)
        reduced = named_dims(scores.array, dim, [d for clustering in clusterings for d in clustering.array.dims])
        cells = read_cells(scores, reduced, weight, nan_policy)
    samples = [add_up(cells, one) for one in clusterings]
    if cluster is not None:
        for sample in samples:
            refuse_single_clusters(sample)
        samples = [*together(lambda: add_up_crossed(cells, clusterings, told=False), len(clusterings)), *samples]
    else:
        samples = [sample for sample in samples if _scan.informative(sample.totals)]
    parts = [
        wrap(cells, design_columns(effect(sample, icc_method, confidence_level), sample.cluster or "")) for sample in samples
    ]
    plain = add_up(cells, None)
    warn_missing(plain)
    warn_sentinel(plain.sentinel, plain.score_range[1])
    return _stack(cells, parts, [sample.crossing is not None for sample in samples], confidence_level, icc_method)


def _stack(
    cells: Cells, parts: list[xr.Dataset], together: list[bool], confidence_level: float, icc_method: str
) -> xr.Dataset:
    """One clustering after the other along a dim ``cluster``: all together, then the largest design effect first."""
    if not parts:
        nothing: dict[str, Any] = {name: np.full(cells.shape, np.nan) for name in DESIGN_COLUMNS}
        nothing |= {"cluster": "", "icc_method": icc_method, "confidence_level": confidence_level}
        empty = wrap(cells, nothing).set_coords("cluster").expand_dims("cluster")
        return empty.isel(cluster=slice(0))
    stacked = xr.concat(
        [part.set_coords("cluster").expand_dims("cluster") for part in parts], "cluster",
        data_vars="all", coords="minimal", compat="override", join="outer",
    )  # fmt: skip
    stacked = stacked.assign(icc_method=icc_method, confidence_level=confidence_level)
    if not stacked["design_effect"].size:
        return stacked[[name for name in DESIGN_COLUMNS if name != "cluster"]]
    worst = stacked["design_effect"].max([d for d in stacked["design_effect"].dims if d != "cluster"], skipna=True)
    order = _scan.worst_first(np.zeros(len(parts), dtype=np.int64), worst.to_numpy(), np.array(together))
    return stacked.isel(cluster=order)[[name for name in DESIGN_COLUMNS if name != "cluster"]]


def _lookups(data: Cube) -> dict[str, xr.DataArray]:
    arrays = dict(data.coords) | dict(getattr(data, "data_vars", {}))
    return {str(name): array for name, array in arrays.items() if array.ndim}


def _dims_of_repeats(data: Cube, scores: Named) -> tuple[Hashable, ...]:
    """The one dim along which coordinates repeat their values, if it is one."""
    if scores.array.ndim == 1:
        return tuple(scores.array.dims)
    dims: set[Hashable] = set()
    for name, array in _lookups(data).items():
        if name != scores.name and array.ndim == 1 and array.dims[0] in scores.array.dims and array.dims[0] != name:
            values = array.to_index() if array.variable.data is None else np.asarray(array.variable.data)
            if len(set(values.tolist())) < len(values):
                dims |= set(array.dims)
    if len(dims) != 1:
        raise DimensionError(
            f"Which dims hold the items is not told by the coordinates; name them with dim=, out of "
            f"{', '.join(map(repr, scores.array.dims))}."
        )
    return tuple(dims)


def _candidates(data: Cube, cells: Cells, taken: set[str]) -> list[Named]:
    """Coordinates, dims and variables along the reduced dims that repeat their values over the items."""
    arrays = {
        name: array for name, array in _lookups(data).items() if name not in taken and set(array.dims) <= set(cells.reduced)
    }
    for dim in cells.reduced:
        if str(dim) not in arrays and len(cells.reduced) > 1:
            arrays[str(dim)] = cells.score[dim]
    found = {name: Named(array, name) for name, array in arrays.items()}
    # What no cell of the answer counts, for want of a score or of weight, has no say.
    counts = slice(None) if cells.keep is None else cells.keep.any(axis=0)
    one_row = cells.values[0].astype(np.float64)[counts] if len(cells.values) == 1 else None
    kept = _scan.usable({name: flat_ids(cells, one)[counts] for name, one in found.items()}, one_row)
    return [one for name, one in found.items() if name in kept]
