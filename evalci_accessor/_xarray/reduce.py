"""Cells to cluster totals, by blocks of numpy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from evalci_accessor._crossing import Clustering, coarsest, refuse_many
from evalci_accessor._ids import Codes, by_label, encode
from evalci_accessor._sample import Sample, cross
from evalci_accessor._scores import checked_weights, in_unit_interval, screen, sentinel_of, to_float, weights_to_float
from evalci_accessor._xarray.dims import Named
from evalci_accessor.exceptions import DimensionError, MissingClusterError, WeightError, examples, plain
from evalci_accessor.options import NanPolicy
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, IntArray

_BLOCK = 2**20  # cells added up at a time


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Checked scores with the kept dims first, flattened to (H, N).

    Parameters
    ----------
    score : DataArray
        The scores as they came, for their dims, sizes and labels.
    values : ndarray, shape (H, N)
        Numbers or booleans, nan where missing.
    keep : ndarray of bool, shape (H, N), or None
        Cells that count: those with a score and a weight above 0; None for all.
    weights : ndarray of float, shape (H, N), or None
    kept, reduced : tuple
        Dims that stay, and dims that are reduced.
    score_range : tuple of float
    binary : bool
    missing : ndarray of bool, shape (H, N), or None
        Cells without a score; None if there are none.
    """

    score: xr.DataArray
    values: np.ndarray
    keep: BoolArray | None
    weights: np.ndarray | None
    kept: tuple[Hashable, ...]
    reduced: tuple[Hashable, ...]
    score_range: tuple[float, float]
    binary: bool
    missing: BoolArray | None

    @property
    def bounded(self) -> bool:
        """Whether all scores lie in [0, 1]; true without scores."""
        return in_unit_interval(self.score_range)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the answer."""
        return tuple(self.score.sizes[dim] for dim in self.kept)

    def group_label(self, h: int) -> str:
        """Words for a cell of the answer, as ``model='A', prompt='p1'``."""
        return describe(self.score, self.kept, self.shape, h)


def describe(score: xr.DataArray, dims: tuple[Hashable, ...], shape: tuple[int, ...], position: int) -> str:
    """Labels of a flat position along some dims."""
    index = np.unravel_index(position, shape) if shape else ()
    parts = []
    for dim, i in zip(dims, index, strict=True):
        value = score.indexes[dim][int(i)] if dim in score.indexes else int(i)
        parts.append(f"{dim}={plain(value)!r}")
    return ", ".join(parts)


def read_cells(score: Named, reduced: tuple[Hashable, ...], weights: Named | None, nan_policy: NanPolicy) -> Cells:
    """Check the scores and weights and bring the kept dims to the front."""
    array = score.array
    kept = tuple(dim for dim in array.dims if dim not in reduced)
    order = (*kept, *reduced)
    sizes = {dim: array.sizes[dim] for dim in order}
    n_groups = int(np.prod([sizes[dim] for dim in kept], dtype=np.int64))
    values = _loaded(array.variable.transpose(*order))
    if values.dtype.kind not in "biuf":
        values = to_float(values.ravel(), score.name)
    n_cells = int(np.prod([sizes[dim] for dim in reduced], dtype=np.int64))
    values = values.reshape(n_groups, n_cells)

    def where(position: int) -> str:
        return describe(array, order, tuple(sizes.values()), position)

    weight = None if weights is None else _read_weights(weights, array, sizes, kept, n_cells, where)
    absent = None if weight is None else (weight == 0).ravel()  # as if the cell were not there, whatever its score
    # Whole numbers and booleans cannot be missing; they are not turned into floats just to look.
    floats = values.ravel() if values.dtype.kind == "f" else np.zeros(0)
    keep, missing = screen(floats, absent, score.name, nan_policy, where)
    used = values if keep is None else values.ravel()[keep]
    low, high = (float(used.min()), float(used.max())) if used.size else (np.nan, np.nan)
    binary = values.dtype.kind == "b" or not used.size or bool(((used == 0) | (used == 1)).all())
    return Cells(
        score=array, values=values, keep=None if keep is None else keep.reshape(values.shape), weights=weight,
        kept=kept, reduced=reduced, score_range=(low, high), binary=binary,
        missing=None if missing is None else missing.reshape(values.shape),
    )  # fmt: skip


def _read_weights(
    weights: Named,
    array: xr.DataArray,
    sizes: dict[Hashable, int],
    kept: tuple[Hashable, ...],
    n_cells: int,
    where: Callable[[int], str],
) -> np.ndarray:
    """Checked weights, shape (H, N)."""
    spread = np.ascontiguousarray(spread_over(weights.array, sizes, weights.name, "weights")).ravel()
    shape = tuple(sizes[dim] for dim in kept)
    weight = checked_weights(weights_to_float(spread, weights.name), weights.name, where)
    weight = weight.reshape(int(np.prod(shape, dtype=np.int64)), n_cells)
    empty = np.flatnonzero((weight.sum(axis=1) == 0) & (n_cells > 0))
    if len(empty):
        shown = examples((describe(array, kept, shape, int(h)) for h in empty), between="; ")
        raise WeightError(f"All weights of {len(empty)} cell(s) of the answer are 0: {shown}. Leave them out first.")
    return weight


def _loaded(variable: xr.Variable) -> np.ndarray:
    """The values in memory; a lazy variable of the caller's stays lazy."""
    return np.asarray(variable.data)


def spread_over(array: xr.DataArray, sizes: dict[Hashable, int], name: str, role: str) -> np.ndarray:
    """The values along all of some dims, repeated along those that the array lacks."""
    foreign = [dim for dim in array.dims if dim not in sizes]
    if foreign:
        raise DimensionError(
            f"{role} {name!r} lies along {examples(map(repr, foreign))}, which the scores lack; theirs are "
            f"{examples(map(repr, sizes))}."
        )
    loaded = xr.DataArray(_loaded(array.variable), dims=array.dims)
    absent = {dim: size for dim, size in sizes.items() if dim not in array.dims}
    return np.asarray(loaded.expand_dims(absent).transpose(*sizes).data)


def flat_ids(cells: Cells, cluster: Named) -> np.ndarray:
    """Ids of the cells along the reduced dims, shape (N,)."""
    sizes = {dim: cells.score.sizes[dim] for dim in cells.reduced}
    return spread_over(cluster.array, sizes, cluster.name, "cluster").ravel()


def add_up(cells: Cells, cluster: Named | None) -> Sample:
    """Totals of each cluster in each cell of the answer."""
    if cluster is None:
        alone = Codes(codes=np.zeros((1, cells.values.shape[1]), dtype=np.int64), size=1, label=int)
        return _summed(cells, None, alone, repeats=1)
    return _summed(cells, cluster.name, _coded(cells, cluster), repeats=_repeats(cells, cluster))


def add_up_crossed(cells: Cells, clusters: list[Named], *, told: bool = True) -> Sample:
    """Totals by each of several clusterings and by their intersections, without those that lie within another.

    ``told`` says so, and what else there is to say of the ids.
    """
    if len(clusters) == 1:
        return add_up(cells, clusters[0])
    coded = [by_label(_coded(cells, cluster, told=told)) for cluster in clusters]
    shape = np.broadcast_shapes(*(one.codes.shape for one in coded))
    keep = cells.keep
    whole = shape if keep is None else cells.values.shape

    def flat(codes: IntArray) -> IntArray:
        spread = np.broadcast_to(codes, whole)
        return spread.ravel() if keep is None else spread[keep]

    kept = [
        Clustering(name=cluster.name, coded=dataclasses.replace(one, codes=flat(one.codes)))
        for cluster, one in zip(clusters, coded, strict=True)
    ]
    counted = coarsest(kept, told=told)
    if len(counted) == 1:
        only = counted[0]
        return _summed(cells, kept[only].name, coded[only], repeats=_repeats(cells, clusters[only]))
    refuse_many([kept[k].name for k in counted])
    samples = [_summed(cells, kept[k].name, coded[k], repeats=1) for k in counted]
    groups = np.broadcast_to(np.arange(len(cells.values))[:, None], cells.values.shape)

    def used(values: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(values).ravel() if keep is None else values[keep]

    crossed = Crossed.from_rows(
        used(cells.values).astype(np.float64), [used(np.broadcast_to(coded[k].codes, cells.values.shape)) for k in counted],
        groups=used(groups), n_groups=len(cells.values), weights=None if cells.weights is None else used(cells.weights),
        bounded=cells.bounded, binary=cells.binary, margins=[sample.totals for sample in samples],
    )  # fmt: skip
    return cross(samples, crossed.shaped(cells.shape))


def _coded(cells: Cells, cluster: Named, *, told: bool = True) -> Codes:
    """Codes of the cells as (1, N), or (H, N) where the clusters differ between the kept dims."""
    coded = encode(ids_of(cluster.array), cluster.name, lookalikes=told)
    return dataclasses.replace(coded, codes=codes_of(cells, cluster, coded.codes))


def _summed(cells: Cells, name: str | None, coded: Codes, *, repeats: int) -> Sample:
    n_groups, n_cells = cells.values.shape
    codes = coded.codes
    if cells.binary and cells.keep is None and cells.weights is None and len(codes) == 1 and n_cells:
        totals = _even_totals(cells, codes[0, ::repeats], coded.size, repeats)
    else:
        totals = _uneven_totals(cells, codes, coded.size)
    gone = np.zeros(n_groups, dtype=np.int64) if cells.missing is None else cells.missing.sum(axis=1)
    n_lost = 0
    if cells.missing is not None and gone.any():
        missing = np.broadcast_to(codes, cells.values.shape)[cells.missing]
        n_lost = len(np.setdiff1d(missing[missing >= 0], totals.cluster))
    return Sample(
        totals=totals, cluster=name, cluster_label=lambda c: plain(coded.label(c)), group_label=cells.group_label,
        n_missing=gone, n_lost=n_lost, hint=_hint(cells), score_range=cells.score_range,
        sentinel=None if cells.bounded else sentinel_of(cells.values if cells.keep is None else cells.values[cells.keep]),
    )  # fmt: skip


def _hint(cells: Cells) -> str:
    """What to do if the scores of a cluster lie along a dim that was kept."""
    if not cells.kept:
        return ""
    both = ", ".join(map(repr, (*cells.reduced, cells.kept[-1])))
    return f" If its scores lie along a dim that was kept, reduce that too, as with dim=({both})."


def ids_of(array: xr.DataArray) -> Any:
    """Ids in one dimension, through the index where there is one, since that keeps categories and extension types."""
    if array.ndim == 1 and array.dims[0] == array.name and array.name in array.indexes:
        index = array.indexes[array.name]
        return index.to_flat_index() if isinstance(index, pd.MultiIndex) else index  # of which an id is a tuple
    data = array.variable.data
    if isinstance(data, np.ndarray) or hasattr(data, "compute"):
        return _loaded(array.variable).ravel()
    inner = getattr(data, "array", data)  # an extension array in xarray's wrapper
    return inner if hasattr(inner, "dtype") and inner.ndim == 1 else np.asarray(inner).ravel()


def codes_of(cells: Cells, cluster: Named, codes: IntArray) -> IntArray:
    """Cluster codes as (1, N), or (H, N) where the clusters differ between the kept dims."""
    array = cluster.array
    varying = [dim for dim in cells.kept if dim in array.dims]
    dims = (*cells.kept, *cells.reduced) if varying else cells.reduced
    sizes = {dim: cells.score.sizes[dim] for dim in dims}
    coded = xr.DataArray(codes.reshape(array.shape), dims=array.dims)
    spread = spread_over(coded, sizes, cluster.name, "cluster")
    flat = np.ascontiguousarray(spread).reshape(len(cells.values) if varying else 1, cells.values.shape[1])
    lacking = flat < 0
    if lacking.any():
        if cells.keep is not None:
            lacking = lacking & cells.keep
        if lacking.any():
            n_bad = int((codes < 0).sum())
            at = np.flatnonzero(codes < 0)
            shown = examples(describe(array, array.dims, array.shape, int(i)) for i in at)
            raise MissingClusterError(
                f"{n_bad} of {codes.size} entries of {cluster.name!r} are missing, at {shown}. They are neither one cluster nor "
                "none. Leave them out knowingly with .where(...).dropna or .isel, or give each an id of its own if they share "
                "nothing."
            )
    return flat


def _repeats(cells: Cells, cluster: Named) -> int:
    """Cells in a row that belong to the same item: the trailing reduced dims that the cluster does not vary along."""
    repeats = 1
    for dim in reversed(cells.reduced):
        if dim in cluster.array.dims:
            break
        repeats *= cells.score.sizes[dim]
    return repeats


def _even_totals(cells: Cells, codes: IntArray, size: int, repeats: int) -> ClusterTotals:
    """Totals of 0/1 scores where every cell of the answer has the same clusters: the sizes are counted once."""
    n_groups, n_items = len(cells.values), len(codes)
    sizes = np.bincount(codes, minlength=size) * repeats
    held = np.flatnonzero(sizes)
    step = min(max(_BLOCK // (n_items * repeats), 1), max(n_groups, 1))
    keys = (np.arange(step)[:, None] * size + codes).ravel()
    sums = np.empty((n_groups, len(held)))
    values = cells.values.view(np.uint8) if cells.values.dtype.kind == "b" else cells.values
    for start in range(0, n_groups, step):
        block = values[start : start + step].reshape(-1, repeats)
        # A short axis is summed faster by einsum than by sum.
        passes = block[:, 0] if repeats == 1 else np.einsum("ij->i", block, dtype=np.float64, casting="unsafe")
        count = np.bincount(keys[: len(passes)], weights=passes, minlength=(len(passes) // n_items) * size)
        sums[start : start + step] = count.reshape(-1, size)[:, held]
    whole = np.tile(sizes[held], n_groups)
    m, s = whole.astype(np.float64), sums.ravel()
    return ClusterTotals(
        shape=cells.shape, offsets=np.arange(n_groups + 1) * len(held), cluster=np.tile(held, n_groups), n=whole, m=m, s=s,
        ss=s, q=m, bounded=True, weighted=False,
    )  # fmt: skip


def _uneven_totals(cells: Cells, codes: IntArray, size: int) -> ClusterTotals:
    """Totals in general, by blocks of cells of the answer."""
    n_groups, n_cells = cells.values.shape
    step = max(_BLOCK // max(n_cells, 1), 1)
    everywhere = np.broadcast_to(codes, cells.values.shape)
    starts = range(0, max(n_groups, 1), step)
    parts = [_block(cells, slice(start, start + step), everywhere[start : start + step], size) for start in starts]
    return ClusterTotals.concat(parts, cells.shape)


def _block(cells: Cells, rows: slice, codes: IntArray, size: int) -> ClusterTotals:
    """Totals of some cells of the answer."""
    values = cells.values[rows]
    keep = None if cells.keep is None else cells.keep[rows]
    weights = None if cells.weights is None else cells.weights[rows]
    groups = np.broadcast_to(np.arange(len(values))[:, None], values.shape)

    def flat(array: np.ndarray) -> np.ndarray:
        return array.ravel() if keep is None else array[keep]

    return ClusterTotals.from_rows(
        flat(values).astype(np.float64, copy=False), flat(codes), n_clusters=size, groups=flat(groups), n_groups=len(values),
        weights=None if weights is None else flat(weights), bounded=cells.bounded, binary=cells.binary,
    )  # fmt: skip
