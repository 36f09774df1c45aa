"""Cells to tables of items."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from evalci_accessor._crossed_pairs import cluster_words, cross_matched
from evalci_accessor._entries import Entries, Grid, Request
from evalci_accessor._ids import Codes, encode
from evalci_accessor._matching import assemble, find_sentinel, match
from evalci_accessor._pairing import (
    Matched,
    Samples,
    by_appearance,
    choose_pairs,
    encode_ids,
    item_key,
    refuse_missing_factor,
    taking_part,
)
from evalci_accessor._scores import checked_weights
from evalci_accessor._xarray.dims import Named
from evalci_accessor._xarray.item_weights import item_weights
from evalci_accessor._xarray.parts import Parts
from evalci_accessor._xarray.reduce import Cells, codes_of, describe, ids_of, read_cells
from evalci_accessor.exceptions import PairingError, examples
from evalci_accessor.options import NanPolicy, Unmatched
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, check_option


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paired:
    """Tables, and what names the answer's dims.

    Parameters
    ----------
    matched : Matched
    score : DataArray
        The scores as they came, for their coordinates.
    factor : str
    systems : ndarray
        Labels of the systems, with their dtype.
    kept : tuple
    shape : tuple of int
        Sizes of the kept dims.
    """

    matched: Matched
    score: xr.DataArray
    factor: str
    systems: Any
    kept: tuple[Hashable, ...]
    shape: tuple[int, ...]

    def labels(self, systems: IntArray) -> Any:
        """Labels of systems by position."""
        return self.systems[systems]


def read_pairs(
    parts: Parts,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    *,
    ordered: bool = False,
    samples: bool = False,
) -> Paired:
    """Leave out the systems that no pair names, and match the items of the others; ``samples`` says how these vary."""
    check_option(unmatched, Unmatched, "unmatched")
    array, names = parts.score.array, parts.names
    coded = encode(ids_of(parts.factor.array), names.factor)
    refuse_missing_factor(coded.codes, names.factor, lambda i: f"{parts.systems}={i}")
    codes, labels, first = by_appearance(coded)
    taking, chosen = taking_part(choose_pairs(labels, names.factor, baseline, pairs, ordered=ordered))
    at = np.flatnonzero(np.isin(codes, taking))
    _refuse_shared_labels(parts, codes[at], labels)
    if len(at) < len(codes):
        array = array.isel({parts.systems: at})
    array = array.transpose(*parts.kept, parts.systems, *parts.items, *parts.repeats)
    shape = tuple(array.sizes[d] for d in parts.kept)
    items, clustering = _item_codes(parts), None
    weights = None if parts.weights is None else item_weights(parts, array, at, items)
    cells = read_cells(Named(array, names.score), (*parts.items, *parts.repeats), weights, nan_policy)
    if parts.cluster is not None:
        clustering = encode(ids_of(parts.cluster.array), parts.cluster.name)
    request = Request(
        systems=[labels[i] for i in taking], pairs=chosen, names=names, n_groups=int(np.prod(shape, dtype=np.int64)),
        item_label=items.label, group_label=lambda h: describe(array, parts.kept, shape, h), unmatched=unmatched,
        cluster_label=cluster_words(clustering, parts.joint), samples=samples,
    )  # fmt: skip
    block = _block(cells, parts, request.n_groups, len(at), len(items.codes), samples=samples)
    clusters = (
        None if clustering is None or parts.cluster is None else _cluster_codes(cells, parts.cluster, clustering, block)
    )
    systems = np.searchsorted(taking, codes[at])
    if (items.codes >= 0).all() and pd.Index(items.codes).is_unique:
        matched = assemble(_dense(block, items.codes, clusters, weights), request)
    else:
        matched = match(_entries(parts, array, block, systems, items, clusters, clustering, weights), request, nan_policy)
        matched = dataclasses.replace(matched, repeats=block.repeats)
    if parts.joint is not None and clustering is not None:
        matched = cross_matched(matched, parts.joint, clustering.label)
    return Paired(
        matched=matched, score=parts.score.array, factor=names.factor, kept=parts.kept, shape=shape,
        systems=np.asarray(parts.factor.array.variable.data)[first[taking]],
    )  # fmt: skip


def _refuse_shared_labels(parts: Parts, codes: IntArray, labels: list[Any]) -> None:
    """A coordinate that gives one name to several positions along the systems' dim."""
    shared = np.flatnonzero(np.bincount(codes) > 1)
    if len(shared):
        raise PairingError(
            f"{parts.factor.name!r} gives one name to several positions along {parts.systems!r}: "
            f"{examples(repr(labels[i]) for i in shared)}, so an item has several scores under it. Compare along "
            f"{parts.systems!r} itself, or take one score first, as with .groupby({parts.factor.name!r}).mean()."
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Means of the cells over their repeats.

    Parameters
    ----------
    means : ndarray of float, shape (H, L, I)
        nan where there is no score; L are the labels along the factor's dim.
    missing : ndarray of int, shape (H, L, I), or None
        Scores that were missing and left out.
    counts : ndarray of int, shape (H, L, I), or None
        Cells that each mean is over; None where it is the same everywhere.
    repeats : int
        Most cells that a mean is over.
    sentinel : tuple or None
    samples : Samples or None
        What the means are over, flat; only if asked for.
    """

    means: FloatArray
    missing: IntArray | None
    counts: IntArray | None
    repeats: int
    sentinel: tuple[float, int] | None
    samples: Samples | None


def _block(cells: Cells, parts: Parts, n_groups: int, n_labels: int, n_items: int, *, samples: bool) -> Block:
    repeats = int(np.prod([cells.score.sizes[d] for d in parts.repeats], dtype=np.int64))
    shape = (n_groups, n_labels, n_items)
    values = cells.values.reshape(*shape, repeats)
    missing = None if cells.missing is None else cells.missing.reshape(values.shape)
    counts: Any = repeats
    if cells.keep is not None:  # not those of weight 0 either
        keep = cells.keep.reshape(values.shape)
        values, counts = np.where(keep, values, 0.0), keep.sum(axis=-1)
    sums = values[..., 0].astype(np.float64) if repeats == 1 else values.sum(axis=-1, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        means = sums if repeats == 1 and cells.keep is None else np.where(counts > 0, sums, np.nan) / counts
    sentinel = None
    if cells.score_range[0] < 0:
        sentinel = find_sentinel(cells.values.ravel() if cells.keep is None else cells.values[cells.keep])
    return Block(
        means=means, missing=None if missing is None else missing.sum(axis=-1), sentinel=sentinel,
        repeats=int(np.max(counts, initial=1)), counts=None if cells.keep is None else counts,
        samples=_samples(cells, values, means, counts) if samples else None,
    )  # fmt: skip


def _samples(cells: Cells, values: np.ndarray, means: FloatArray, counts: Any) -> Samples:
    """How the cells behind each mean vary, flat in the order of the means."""
    off = values - means[..., None]
    if cells.keep is not None:
        off = np.where(cells.keep.reshape(values.shape), off, 0.0)
    inside = np.broadcast_to(np.asarray(counts, dtype=np.int64), means.shape)
    return Samples.of(inside.reshape(-1, 1), (off**2).sum(axis=-1).reshape(-1, 1), binary=cells.binary)


def _spread(codes: IntArray, array: xr.DataArray, parts: Parts) -> IntArray:
    """Codes of an array's entries, one for each item."""
    coded = xr.DataArray(codes.reshape(array.shape), dims=array.dims)
    absent = {d: parts.score.array.sizes[d] for d in parts.items if d not in array.dims}
    return np.ascontiguousarray(coded.expand_dims(absent).transpose(*parts.items).data).ravel()


def _item_codes(parts: Parts) -> Codes:
    coded = []
    for one in parts.item:
        codes = encode_ids(ids_of(one.array), one.name)
        coded.append(dataclasses.replace(codes, codes=_spread(codes.codes, one.array, parts)))
    return item_key(coded, parts.names.item, told=parts.cluster is None)


def _cluster_codes(cells: Cells, cluster: Named, coded: Codes, block: Block) -> IntArray:
    """Cluster of each item in each group, shape (H, I)."""
    n_groups, n_labels, n_items = block.means.shape
    spread = codes_of(cells, cluster, coded.codes)
    if len(spread) == 1:
        own = spread.reshape(n_items, -1)[:, 0] if n_items else spread.reshape(0)
        return np.broadcast_to(own, (n_groups, n_items))
    return spread.reshape(n_groups, n_labels, n_items, -1)[:, 0, :, 0]


def _dense(block: Block, items: IntArray, clusters: IntArray | None, weights: Named | None) -> Grid:
    """Tables straight from the cells: labels and items occur once."""
    means = block.means.transpose(0, 2, 1)
    shape = (means.shape[0], means.shape[1])
    held = np.ones(shape, dtype=np.bool_)
    if block.counts is not None:
        held[...] = (~np.isnan(means)).any(axis=2)  # items that nobody has are no items
    groups, at = np.nonzero(held)
    lost, n_missing = None, np.zeros(block.means.shape[:2], dtype=np.int64)
    if block.missing is not None:
        lost, n_missing = block.missing.transpose(0, 2, 1)[held] > 0, block.missing.sum(axis=2)
    return Grid(
        means=means.reshape(len(at), means.shape[2]) if held.all() else means[held], lost=lost, items=items[at], groups=groups,
        clusters=None if clusters is None else clusters[held],
        weights=None if weights is None else checked_weights(weights.array.data.ravel(), weights.name, str).reshape(shape)[held],
        repeats=block.repeats, n_missing=n_missing,
        sentinel=block.sentinel, counts=None if block.counts is None else block.counts.transpose(0, 2, 1)[held],
        samples=None if block.samples is None else _of_tables(block.samples, block.means.shape, held),
    )  # fmt: skip


def _of_tables(samples: Samples, shape: tuple[int, ...], held: BoolArray) -> Samples:
    """A row an item and a column a system, from what is flat over groups, systems and items."""

    def turned(values: np.ndarray) -> Any:
        return values.reshape(shape).transpose(0, 2, 1)[held]

    return Samples(counts=turned(samples.counts), variances=turned(samples.variances), binary=samples.binary)


def _entries(
    parts: Parts,
    array: xr.DataArray,
    block: Block,
    systems: IntArray,
    items: Codes,
    clusters: IntArray | None,
    clustering: Codes | None,
    weights: Named | None,
) -> Entries:
    """One entry a cell: for items that occur twice, which then are refused unless only one of the two has a score."""
    shape = block.means.shape
    group, label, item = (axis.ravel() for axis in np.indices(shape))
    dims = (*parts.kept, parts.systems, *parts.items)
    sizes = tuple(array.sizes[d] for d in dims)
    return Entries(
        scores=block.means.ravel(), groups=group, systems=systems[label], items=items.codes[item],
        n_items=items.size, samples=None,
        weights=None if weights is None else weights.array.data.reshape(shape[0], shape[2])[group, item],
        clusters=None if clusters is None or clustering is None
        else dataclasses.replace(clustering, codes=clusters[group, item]),
        where=lambda i: describe(array, dims, sizes, i),
        others=lambda: _others(parts, item), held=block.samples,
    )  # fmt: skip


def _others(parts: Parts, item: IntArray) -> Iterable[tuple[str, Codes]]:
    """Coordinates along the items that could tell two of them apart, an entry a score."""
    for name, coord in parts.score.array.coords.items():
        if coord.ndim and set(coord.dims) <= set(parts.items) and coord.dtype.kind != "f":
            coded = encode_ids(ids_of(coord), str(name))
            yield str(name), dataclasses.replace(coded, codes=_spread(coded.codes, coord, parts)[item])
