"""Cells of a cube: the scores with what is reduced last, and the ids that lie along its dims."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, plain
from evalci_accessor.read.dims import DimNames, Named
from evalci_accessor.read.ids import Clustering, Codes, encode, missing_clusters
from evalci_accessor.read.samples import Scores, told_of
from evalci_accessor.read.scores import (
    checked_counts,
    checked_weights,
    refuse_weightless,
    screen,
    to_float,
    warn_count_weights,
)
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import FloatArray, IntArray

_BLOCK = 2**20  # cells added up at a time


def describe(score: xr.DataArray, sizes: Mapping[Hashable, int], position: int) -> str:
    """Labels of a flat position along some dims."""
    index = np.unravel_index(position, tuple(sizes.values())) if sizes else ()
    places = {dim: int(i) for dim, i in zip(sizes, index, strict=True)}
    labels = {dim: score.indexes[dim][i] if dim in score.indexes else i for dim, i in places.items()}
    return ", ".join(f"{dim}={plain(label)!r}" for dim, label in labels.items())


def spread_over(array: xr.DataArray, sizes: dict[Hashable, int], name: str, role: str) -> np.ndarray:
    """The values along all of some dims, repeated along those that the array lacks."""
    foreign = [dim for dim in array.dims if dim not in sizes]
    if foreign:
        raise ex.DimensionError(
            f"{role} {name!r} lies along {examples(map(repr, foreign))}, which the scores lack; theirs are "
            f"{examples(map(repr, sizes))}."
        )
    loaded = xr.DataArray(np.asarray(array.variable.data), dims=array.dims)
    absent = {dim: size for dim, size in sizes.items() if dim not in array.dims}
    return np.asarray(loaded.expand_dims(absent).transpose(*sizes).data)


def ids_of(array: xr.DataArray) -> Any:
    """Ids in one dimension, through the index where there is one, since that keeps categories and extension types."""
    if array.ndim == 1 and array.dims[0] == array.name and array.name in array.indexes:
        index = array.indexes[array.name]
        # Of which an id is a tuple.
        return index.to_flat_index() if isinstance(index, pd.MultiIndex) else index
    data = array.variable.data
    if isinstance(data, np.ndarray) or hasattr(data, "compute"):
        return np.asarray(array.variable.data).ravel()
    inner = getattr(data, "array", data)  # an extension array in xarray's wrapper
    return inner if hasattr(inner, "dtype") and inner.ndim == 1 else np.asarray(inner).ravel()


def weights_over(weights: Named, sizes: dict[Hashable, int], what: str = "weights") -> FloatArray:
    """Weights (or counts) along all of some dims, one after the other."""
    return to_float(spread_over(weights.array, sizes, weights.name, what).ravel(), weights.name, what)


def codes_over(named: Named, coded: Codes, sizes: dict[Hashable, int], role: str) -> Codes:
    """Codes of an array's entries, along all of some dims, one after the other."""
    array = xr.DataArray(coded.codes.reshape(named.array.shape), dims=named.array.dims)
    return coded.recoded(spread_over(array, sizes, named.name, role).ravel())


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Cells(Scores):
    """Checked scores with the kept dims first, flattened to (H, N)."""

    entry: ClassVar[str] = "cell"
    score: xr.DataArray  # the scores as they came, for their dims, sizes and labels
    kept: DimNames  # dims that stay
    reduced: DimNames  # dims that are reduced
    shape: tuple[int, ...]

    def sizes(self, dims: Iterable[Hashable]) -> dict[Hashable, int]:
        """Sizes of some dims."""
        return {dim: self.score.sizes[dim] for dim in dims}

    def clustering(self, cluster: Named) -> Clustering:
        """Codes of the cells as (1, N), or (H, N) where the clusters differ between the kept dims."""
        array = cluster.array
        coded = encode(ids_of(array), cluster.name)
        varying = any(dim in array.dims for dim in self.kept)
        sizes = self.sizes((*self.kept, *self.reduced) if varying else self.reduced)
        spread = codes_over(cluster, coded, sizes, "cluster")
        codes = spread.codes.reshape(len(self.values) if varying else 1, self.values.shape[1])
        if ((codes < 0) & (True if self.keep is None else self.keep)).any():
            at = np.flatnonzero(coded.codes < 0)
            shown = examples(at.tolist(), words=lambda i: describe(array, array.sizes, i))
            raise missing_clusters(
                f"{len(at)} of {coded.codes.size} entries of {cluster.name!r} are missing, at {shown}",
                ".where(...).dropna or .isel",
            )
        inner = itertools.takewhile(lambda dim: dim not in array.dims, reversed(self.reduced))
        repeats = math.prod(self.score.sizes[dim] for dim in inner)
        return Clustering(name=cluster.name, coded=spread.recoded(codes), repeats=repeats)

    def totals(self, clustering: Clustering) -> ClusterTotals:
        """Totals by a clustering, added up in the way that suits the scores."""
        codes, n_cells = clustering.coded.codes, self.values.shape[1]
        plain_scores = self.binary and self.keep is None and self.weights is None and self.counts is None
        if plain_scores and len(codes) == 1 and n_cells:
            spread = np.broadcast_to(codes[0], n_cells)
            return self._even_totals(spread[:: clustering.repeats], clustering.coded.size, clustering.repeats)
        return self._uneven_totals(clustering)

    @property
    def hint(self) -> str:
        """What to do if the scores of a cluster lie along a dim that was kept."""
        if not self.kept:
            return ""
        both = ", ".join(map(repr, (*self.reduced, self.kept[-1])))
        return f" If its scores lie along a dim that was kept, reduce that too, as with dim=({both})."

    def _even_totals(self, codes: IntArray, size: int, repeats: int) -> ClusterTotals:
        """Totals of 0/1 scores where every cell of the answer has the same clusters: the sizes are counted once."""
        n_groups, n_items = len(self.values), len(codes)
        sizes = np.bincount(codes, minlength=size) * repeats
        held = np.flatnonzero(sizes)
        step = min(max(_BLOCK // (n_items * repeats), 1), max(n_groups, 1))
        keys = (np.arange(step)[:, None] * size + codes).ravel()
        sums = np.empty((n_groups, len(held)))
        values = self.values.view(np.uint8) if self.values.dtype.kind == "b" else self.values
        for start in range(0, n_groups, step):
            block = values[start : start + step].reshape(-1, repeats)
            # A short axis is summed faster by einsum than by sum.
            passes = (
                block[:, 0] if repeats == 1 else np.einsum("ij->i", block, dtype=np.float64, casting="unsafe")
            )
            added = np.bincount(keys[: len(passes)], weights=passes, minlength=len(passes) // n_items * size)
            sums[start : start + step] = added.reshape(-1, size)[:, held]
        whole = np.tile(sizes[held], n_groups)
        m, s = whole.astype(np.float64), sums.ravel()
        offsets, cluster = np.arange(n_groups + 1) * len(held), np.tile(held, n_groups)
        return ClusterTotals(self.shape, offsets, cluster, whole, m, s, s, m, bounded=True, weighted=False)

    def _uneven_totals(self, clustering: Clustering) -> ClusterTotals:
        """Totals in general, by blocks of cells of the answer."""
        n_groups, n_cells = self.values.shape
        step = max(_BLOCK // max(n_cells, 1), 1)
        everywhere = np.broadcast_to(clustering.coded.codes, self.values.shape)
        parts = []
        for start in range(0, max(n_groups, 1), step):
            rows = slice(start, start + step)
            values = self.values[rows]
            part = dataclasses.replace(
                self,
                values=values,
                keep=None if self.keep is None else self.keep[rows],
                weights=None if self.weights is None else self.weights[rows],
                counts=None if self.counts is None else self.counts[rows],
                groups=np.arange(len(values))[:, None],
                n_groups=len(values),
                shape=(len(values),),
            )
            parts.append(Scores.totals(part, clustering.recoded(everywhere[rows])))
        return ClusterTotals.concat(parts, self.shape)


def read_cells(
    score: Named, reduced: DimNames, weights: Named | None, nan_policy: Any, counts: Named | None = None
) -> Cells:
    """Check the scores and weights and bring the kept dims to the front."""
    array = score.array
    kept = tuple(dim for dim in array.dims if dim not in reduced)
    sizes = {dim: array.sizes[dim] for dim in (*kept, *reduced)}
    shape = tuple(array.sizes[dim] for dim in kept)
    n_groups = math.prod(shape)
    values = np.asarray(array.variable.transpose(*sizes).data)  # a lazy variable of the caller's stays lazy
    if values.dtype.kind not in "biuf":
        values = to_float(values.ravel(), score.name)
    values = values.reshape(n_groups, math.prod(array.sizes[dim] for dim in reduced))

    def where(position: int) -> str:
        return describe(array, sizes, position)

    def group_label(h: int) -> str:
        return describe(array, {dim: sizes[dim] for dim in kept}, h)

    weight: np.ndarray | None = None
    if weights is not None:
        raw = weights_over(weights, sizes)
        weight = checked_weights(raw, weights.name, where).reshape(values.shape)
        warn_count_weights(values.ravel(), raw, weights.name)
        refuse_weightless(np.where(values.shape[1] > 0, weight.sum(axis=1), np.nan), group_label)
    # Whole numbers and booleans cannot be missing; they are not turned into floats just to look.
    floats = values.ravel() if values.dtype.kind == "f" else np.zeros(0)
    total: FloatArray | None = None
    if counts is not None:
        names = (score.name, counts.name)
        total = checked_counts(
            values.ravel().astype(np.float64), weights_over(counts, sizes, "counts"), names, where
        )
    absent = total if weight is None else weight.ravel()  # where it is 0
    keep, missing = screen(floats, absent, score.name, nan_policy, where)
    return Cells(
        score=array,
        values=values,
        keep=None if keep is None else keep.reshape(values.shape),
        missing=None if missing is None else missing.reshape(values.shape),
        weights=weight,
        counts=None if total is None else total.reshape(values.shape),
        groups=np.arange(n_groups)[:, None],
        n_groups=n_groups,
        group_label=group_label,
        shape=shape,
        kept=kept,
        reduced=reduced,
        **told_of(values if keep is None else values.ravel()[keep], total),
    )
