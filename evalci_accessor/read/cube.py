"""A cube of scores: cells to samples, matched systems and items, and answers as Datasets."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, plain
from evalci_accessor.options import Roles, Unmatched
from evalci_accessor.read import Axes, Order, Read, Reader, Writer, dims
from evalci_accessor.read.cells import (
    Cells,
    codes_over,
    describe,
    ids_of,
    read_cells,
    spread_over,
    weights_over,
)
from evalci_accessor.read.dims import Cube, DimNames, Named, Parts, find
from evalci_accessor.read.ids import Clustering, Codes, encode, encode_ids, item_key, join_key
from evalci_accessor.read.items import Items, gather
from evalci_accessor.read.matched import Grid, Matched, assemble, match
from evalci_accessor.read.names import choose_systems, refuse_missing_factor
from evalci_accessor.read.rows import Names, Pairing, Rows, Samples, item_weights
from evalci_accessor.read.scores import checked_weights, refuse_both, refuse_weightless
from evalci_accessor.read.tidy import FrameWriter
from evalci_accessor.read.unnamed import Coder, ids_only, ids_or_settings, usable
from evalci_accessor.stats.validate import FloatArray, IntArray, check_option


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class CubeWriter(Writer[xr.Dataset]):
    """Answers as Datasets over the dims that stay and the axes, with the coordinates along the dims that stay."""

    score: xr.DataArray
    kept: DimNames
    systems: Any = None
    factor: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dims that stay."""
        return tuple(self.score.sizes[d] for d in self.kept)

    @property
    def keys(self) -> dict[Any, IntArray]:
        """The place of each group along each dim that stays."""
        at = np.unravel_index(np.arange(math.prod(self.shape)), self.shape) if self.shape else ()
        return {dim: np.asarray(codes, dtype=np.int64) for dim, codes in zip(self.kept, at, strict=True)}

    @property
    def _coords(self) -> list[Hashable]:
        """Coordinates along the dims that stay."""
        return [name for name, coord in self.score.coords.items() if set(coord.dims) <= set(self.kept)]

    def refuse(self, *names: str) -> None:
        """Refuse dims and coordinates that stay, and the names of the two systems, called like a part of the answer."""
        own = ["pair", *(f"{self.factor}_{side}" for side in "ab")] if self.factor else []
        clash = next((name for name in own if name in names), None)
        if clash is not None:
            raise ex.AmbiguousNameError(
                f"{clash!r} would stand twice in the result, whose own variables are {', '.join(names)}. Rename the factor "
                f"first, as with .rename({{{self.factor!r}: {self.factor + '_'!r}}})."
            )
        taken = [*own, *names]
        clash = next((str(name) for name in (*self._coords, *self.kept) if name in taken), None)
        if clash is not None:
            raise ex.AmbiguousNameError(
                f"{clash!r} would stand twice in the result, whose own variables and dims are "
                f"{examples(taken, len(taken))}. Rename it first, as with .rename({{{clash!r}: {clash + '_'!r}}})."
            )

    def __call__(
        self,
        columns: dict[str, Any],
        axes: Axes | None = None,
        order: Order | None = None,
        *,
        single: bool = False,
    ) -> xr.Dataset:
        """Variables over the kept dims and the axes."""
        axes = axes or {}
        coords = {dim: {key: np.asarray(labels) for key, labels in one.items()} for dim, one in axes.items()}
        sizes = [len(next(iter(one.values()))) for one in coords.values()]
        size = math.prod([*self.shape, *sizes])
        given = {name for one in coords.values() for name in one}

        def placed(value: Any) -> Any:
            if not isinstance(value, np.ndarray) or not value.ndim:
                return (), value
            if sizes and value.ndim == 1:
                return list(coords)[-1], value
            if value.size < size and sizes and value.shape[-1] == 1:
                return (*self.kept, *list(coords)[:-1]), value.reshape((*self.shape, *sizes[:-1]))
            return (*self.kept, *coords), value.reshape((*self.shape, *sizes))

        answer = self.score.coords.to_dataset()[self._coords]
        answer = answer.assign_coords(
            {name: (dim, labels) for dim, one in coords.items() for name, labels in one.items()}
        )
        answer = answer.assign({name: placed(value) for name, value in columns.items() if name not in given})
        if order is not None:
            answer = answer.isel({next(iter(coords)): order.along})
        return answer.isel({next(iter(coords)): 0}) if single else answer


class CubeReader(Reader[Any]):
    """Reads a Dataset, or a DataArray of scores.

    With ``keys`` answers are frames with a row a cell of the answer; they hold what is called otherwise than its dim.
    """

    needs_item = False

    def __init__(self, data: Cube, keys: dict[Hashable, Named] | None = None) -> None:
        self.data, self.keys = data, keys

    def _write(self, score: xr.DataArray, kept: DimNames, systems: Any = None, factor: str = "") -> Any:
        write = CubeWriter(score=score, kept=kept, systems=systems, factor=factor)
        if self.keys is None:
            return write
        values: dict[Hashable, pd.Series] = {}
        for dim, places in write.keys.items():
            named = self.keys.get(dim, Named(score[dim], dim))
            values[named.name] = pd.Series(named.array.to_numpy()[places])
        return FrameWriter(values=values, n_groups=math.prod(write.shape), systems=systems, factor=factor)

    def _weights(self, roles: Roles) -> Named | None:
        return None if roles.weights is None else find(self.data, roles.weights, "weights")

    def _read_cells(self, score: Named, reduced: DimNames, roles: Roles) -> Cells:
        refuse_both(roles)
        counts = None if roles.n is None else find(self.data, roles.n, "n")
        return read_cells(score, reduced, self._weights(roles), roles.nan_policy, counts)

    def _writer(self, scores: Cells) -> Any:
        return self._write(scores.score, scores.kept)

    def _scores(self, roles: Roles) -> Cells:
        """The cells of scores that stand for themselves; a clustering only says which dims are reduced."""
        return self._cells(roles, [] if roles.cluster is None else dims.clusterings_of(self.data, roles))

    def _cells(self, roles: Roles, clusters: list[Named]) -> Cells:
        """The cells, with the dims of the clusters before the other dims that are reduced."""
        score = dims.score_of(self.data, roles.score)
        along = [d for one in clusters for d in one.dims]
        reduced = dims.reduced_dims(self.data, score.array, roles, along if clusters else None)
        # What repeats within an item lies together.
        reduced = tuple(sorted(reduced, key=lambda d: d not in along))
        return self._read_cells(score, reduced, roles)

    def _clustered(self, roles: Roles) -> tuple[Cells, list[Clustering]]:
        clusters = dims.clusterings_of(self.data, roles)
        cells = self._cells(roles, clusters)
        return cells, [cells.clustering(one) for one in clusters]

    def _candidates(self, roles: Roles) -> tuple[Cells, list[Clustering]]:
        """Coordinates, dims and variables along the reduced dims that repeat their values over the items."""
        score = dims.score_of(self.data, roles.score)
        free = roles.dim is None and roles.by is None
        default = dims.dims_of_repeats(self.data, score) if free else None
        reduced = dims.reduced_dims(self.data, score.array, roles, default)
        cells = self._read_cells(score, reduced, roles)
        numbers = ((roles.weights, "weights"), (roles.n, "n"))
        taken = {
            score.name,
            *(find(self.data, spec, role).name for spec, role in numbers if spec is not None),
        }
        arrays = {
            name: array
            for name, array in dims.lookups(self.data).items()
            if name not in taken and set(array.dims) <= set(cells.reduced)
        }
        for dim in cells.reduced:
            if str(dim) not in arrays and len(cells.reduced) > 1:
                arrays[str(dim)] = cells.score[dim]
        # What no cell of the answer counts, for want of a score or of weight, has no say.
        at = slice(None) if cells.keep is None else cells.keep.any(axis=0)
        one_row = cells.values[0].astype(np.float64)[at] if len(cells.values) == 1 else None
        sizes = cells.sizes(cells.reduced)
        ids = {name: spread_over(array, sizes, name, "cluster").ravel()[at] for name, array in arrays.items()}
        kept = usable(ids, one_row)
        return cells, [cells.clustering(Named(array, name)) for name, array in arrays.items() if name in kept]

    def items(self, roles: Roles) -> Read[Items, Any]:
        """Items with their samples."""
        parts = dims.item_parts(self.data, roles)
        # gather() says what is missing
        cells = read_cells(parts.score, (*parts.items, *parts.repeats), None, "omit")
        shape = n_groups, n_cells = cells.values.shape
        sizes, inner = cells.sizes((*cells.kept, *cells.reduced)), cells.sizes(cells.reduced)
        ids = _item_codes(parts, inner, lookalikes=True)
        numbers = join_key(_coded(parts.samples, inner)) if parts.samples else None
        taken = {one.name for one in (parts.score, *parts.item, *parts.samples)}
        bare = {dim: cells.score[dim] for dim in cells.reduced if dim not in self.data.coords}
        free = {name: one for name, one in {**self.data.coords, **bare}.items() if str(name) not in taken}
        clusterings = [cells.clustering(one) for one in parts.clusters]
        rows = Rows(
            scores=cells.values.astype(np.float64).ravel(),
            groups=np.repeat(np.arange(n_groups), n_cells),
            systems=np.zeros(n_groups * n_cells, dtype=np.int64),
            items=np.tile(ids.codes, n_groups),
            n_items=ids.size,
            clusterings=[one.recoded(np.broadcast_to(one.coded.codes, shape).ravel()) for one in clusterings],
            samples=None if numbers is None else numbers.recoded(np.tile(numbers.codes, n_groups)),
            weights=None if parts.weights is None else weights_over(parts.weights, sizes),
            where=lambda i: describe(cells.score, sizes, i),
            others=lambda: _others(free, inner, ids_or_settings, np.tile(np.arange(n_cells), n_groups)),
        )
        names = self._names(parts, n_groups, ids, cells.group_label)
        found = gather(rows, names, roles.nan_policy, nested=roles.nested)

        def spread_out(values: FloatArray) -> xr.DataArray:
            array = xr.DataArray(values.reshape(list(sizes.values())), dims=list(sizes), name="weights")
            return array if parts.weights is None else (array * parts.weights.array).rename("weights")

        found = dataclasses.replace(found, spread=spread_out)
        return Read(found=found, write=self._writer(cells))

    def _names(self, parts: Parts, n_groups: int, ids: Codes, group_label: Any) -> Names:
        repeats = [str(d) for d in parts.repeats]
        return Names(
            score=parts.score.name,
            item=[one.name for one in parts.item],
            samples=[one.name for one in parts.samples] if parts.factor is None else repeats,
            entries="cells",
            n_groups=n_groups,
            item_label=ids.label,
            group_label=group_label,
            weights=None if parts.weights is None else parts.weights.name,
            factor="" if parts.factor is None else parts.factor.name,
            kept=tuple(map(str, parts.kept)),
        )

    def has_items(self, roles: Roles) -> bool:
        """Whether items, or samples of items, are named."""
        return roles.item is not None or roles.sample is not None

    def pairs(self, roles: Roles, *, averages: bool = True, samples: bool = False) -> Read[Matched, Any]:
        """Leave out the systems that no pair names, and match the items of the others."""
        parts = dims.pair_parts(self.data, roles, averages=averages)
        check_option(roles.unmatched, Unmatched, "unmatched")
        assert parts.factor is not None
        array, name = parts.array, parts.factor.name
        coded = encode(ids_of(parts.factor.array), name)
        refuse_missing_factor(coded.codes < 0, name, lambda i: f"{parts.systems}={i}")
        systems = choose_systems(coded, name, roles)
        _refuse_shared_labels(name, parts.systems, systems.codes, systems.labels)
        if systems.at is not None:
            array = array.isel({parts.systems: systems.at})
        array = array.transpose(*parts.kept, parts.systems, *parts.items, *parts.repeats)
        items = _item_codes(parts, {d: array.sizes[d] for d in parts.items})
        kept = {d: array.sizes[d] for d in parts.kept}
        names = self._names(parts, math.prod(kept.values()), items, lambda h: describe(array, kept, h))
        weights = None
        if parts.weights is not None:
            weights = _item_weights(parts, array, systems.at, items, names)
        reduced = (*parts.items, *parts.repeats)
        cells = read_cells(Named(array, parts.score.name), reduced, weights, roles.nan_policy)
        pairing = Pairing(systems.labels, systems.pairs, names, roles.unmatched, averages, samples)
        shape = (names.n_groups, len(systems.codes), len(items.codes))
        block = Block(cells, parts, weights, shape)
        if (items.codes >= 0).all() and pd.Index(items.codes).is_unique:
            matched = assemble(block.grid(items.codes, samples=samples), pairing)
        else:
            rows = block.rows(systems.codes, items, samples=samples)
            matched = dataclasses.replace(match(rows, pairing, roles.nan_policy), repeats=block.repeats)
        sides = np.asarray(parts.factor.array.variable.data)[systems.first]
        return Read(found=matched, write=self._write(parts.array, parts.kept, sides, name))

    def tall(self, roles: Roles) -> CubeReader:
        """The same, with answers as frames, in which the dim of the systems is called by the factor."""
        factor = None if roles.factor is None else find(self.data, roles.factor, "factor")
        return CubeReader(self.data, {} if factor is None else {factor.dims[0]: factor})

    def of_systems(self, roles: Roles) -> Roles:
        """The dims that a comparison, or its items, reduce are those that their scores reduce."""
        if roles.factor is None and not self.has_items(roles):
            return roles
        parts = (dims.item_parts if roles.factor is None else dims.pair_parts)(self.data, roles)
        item = [one.array for one in parts.item]
        sample = roles.sample or list(parts.repeats) or None
        reduced = (*parts.items, *parts.repeats)
        return dataclasses.replace(roles, by=None, dim=reduced, item=item, sample=sample)

    def name(self, spec: Any, role: str) -> str:
        """What the variable or coordinate is called."""
        return dims.score_of(self.data, spec).name if role == "score" else find(self.data, spec, role).name


def _refuse_shared_labels(name: str, dim: Hashable, codes: IntArray, labels: list[Any]) -> None:
    """A coordinate that gives one name to several positions along the systems' dim."""
    shared = np.flatnonzero(np.bincount(codes) > 1)
    if len(shared):
        raise ex.PairingError(
            f"{name!r} gives one name to several positions along {dim!r}: "
            f"{examples(repr(labels[i]) for i in shared)}, so an item has several scores under it. Compare along "
            f"{dim!r} itself, or take one score first, as with .groupby({name!r}).mean()."
        )


class Block:
    """Means of the cells over their repeats, by group, label along the factor's dim, and item: (H, L, I)."""

    def __init__(
        self, cells: Cells, parts: Parts, weights: Named | None, shape: tuple[int, int, int]
    ) -> None:
        self.cells, self.parts, self.shape = cells, parts, shape
        repeats = math.prod(cells.score.sizes[d] for d in parts.repeats)
        values, self.keep = cells.values.reshape(*shape, repeats), cells.keep
        self.counts: Any = repeats  # cells that each mean is over: not those that are missing or of weight 0
        if self.keep is not None:
            self.keep = self.keep.reshape(values.shape)
            values, self.counts = np.where(self.keep, values, 0.0), self.keep.sum(axis=-1)
        self.values = values
        self.means = (
            values[..., 0].astype(np.float64) if repeats == 1 else values.sum(axis=-1, dtype=np.float64)
        )
        if repeats != 1 or self.keep is not None:
            with np.errstate(invalid="ignore"):
                self.means = np.where(self.counts > 0, self.means, np.nan) / self.counts
        self.repeats = int(np.max(self.counts, initial=1))
        self.clusterings = [self._of_items(cells.clustering(one)) for one in parts.clusters]
        self.weights = None if weights is None else weights.array.data.reshape(shape[0], shape[2])

    def _of_items(self, one: Clustering) -> Clustering:
        """Cluster of each item in each group, shape (H, I)."""
        (n_groups, _, n_items), spread = self.shape, one.coded.codes
        if len(spread) > 1:
            return one.recoded(spread.reshape(*self.shape, -1)[:, 0, :, 0])
        own = spread.reshape(n_items, -1)[:, 0] if n_items else spread.reshape(0)
        return one.recoded(np.broadcast_to(own, (n_groups, n_items)))

    def _samples(self) -> Samples:
        """How the cells behind each mean vary."""
        off = self.values - self.means[..., None]
        if self.keep is not None:
            off = np.where(self.keep, off, 0.0)
        inside = np.broadcast_to(np.asarray(self.counts, dtype=np.int64), self.shape)
        return Samples.of(inside, (off**2).sum(axis=-1), binary=self.cells.binary)

    def grid(self, items: IntArray, *, samples: bool) -> Grid:
        """Tables straight from the cells: labels and items occur once."""
        n_groups, n_labels, n_items = self.shape
        held: Any = np.ones((n_groups, n_items), dtype=np.bool_)
        if self.keep is not None:
            held = (~np.isnan(self.means)).any(axis=1)  # items that nobody has are no items
        groups, at = np.nonzero(held)

        def turned(values: np.ndarray) -> Any:
            return values.transpose(0, 2, 1)[held]

        lost, n_missing = None, np.zeros((n_groups, n_labels), dtype=np.int64)
        if self.cells.missing is not None:
            missing = self.cells.missing.reshape(self.values.shape).sum(axis=-1)
            lost, n_missing = turned(missing) > 0, missing.sum(axis=2)
        means = self.means.transpose(0, 2, 1)
        return Grid(
            means=means.reshape(len(at), n_labels) if held.all() else means[held],
            lost=lost,
            items=items[at],
            groups=groups,
            clusterings=[one.take(held) for one in self.clusterings],
            weights=None if self.weights is None else checked_weights(self.weights, "weights", str)[held],
            counts=None if self.keep is None else turned(self.counts),
            repeats=self.repeats,
            n_missing=n_missing,
            sentinel=self.cells.sentinel,
            samples=self._samples().each(turned) if samples else None,
        )

    def rows(self, systems: IntArray, items: Codes, *, samples: bool) -> Rows:
        """One row a mean: for items that occur twice, which are then refused unless only one of the two has a score."""
        group, label, item = (axis.ravel() for axis in np.indices(self.shape))
        parts, cells = self.parts, self.cells
        sizes = cells.sizes((*parts.kept, parts.systems, *parts.items))
        return Rows(
            scores=self.means.ravel(),
            groups=group,
            systems=systems[label],
            items=items.codes[item],
            n_items=items.size,
            clusterings=[one.take((group, item)) for one in self.clusterings],
            samples=None,
            weights=None if self.weights is None else self.weights[group, item],
            where=lambda i: describe(cells.score, sizes, i),
            others=lambda: _others(dict(parts.array.coords), cells.sizes(parts.items), ids_only, item),
            held=self._samples().each(np.ravel) if samples else None,
        )


def _coded(arrays: list[Named], sizes: dict[Hashable, int], *, lookalikes: bool = False) -> list[Codes]:
    """Codes of the ids in some arrays, along all of some dims."""
    coded = [encode_ids(ids_of(one.array), one.name, lookalikes=lookalikes) for one in arrays]
    return [codes_over(one, codes, sizes, "item") for one, codes in zip(arrays, coded, strict=True)]


def _item_codes(parts: Parts, sizes: dict[Hashable, int], *, lookalikes: bool = False) -> Codes:
    coded = _coded(parts.item, sizes, lookalikes=lookalikes)
    return item_key(coded, [one.name for one in parts.item], warns=not parts.clusters)


def _others(
    coords: dict[Hashable, Any], sizes: dict[Hashable, int], coded_as: Coder, at: IntArray
) -> Iterable[tuple[str, Codes]]:
    """Coordinates along some dims, as far as they are ids or settings; ``at`` is the place of each score along these."""
    for name, coord in coords.items():
        if coord.ndim and set(coord.dims) <= set(sizes):
            coded = coded_as(ids_of(coord), str(name))
            if coded is not None:
                coded = codes_over(Named(coord, str(name)), coded, sizes, "item")
                yield str(name), coded.recoded(coded.codes[at])


def _item_weights(parts: Parts, array: xr.DataArray, at: Any, items: Codes, names: Names) -> Named:
    """Weights, after the checks, along the kept dims and the items; ``array`` holds the scores of the systems ``at`` places."""
    assert parts.weights is not None
    given, name = parts.weights.array, parts.weights.name
    if at is not None and parts.systems in given.dims:
        given = given.isel({parts.systems: at})
    own = (*parts.kept, *parts.items)
    # Along these they must not vary.
    others = tuple(d for d in (parts.systems, *parts.repeats) if d in given.dims)
    sizes = {d: array.sizes[d] for d in (*own, *others)}
    raw = weights_over(Named(given, name), sizes)
    checked_weights(raw, name, lambda i: describe(array, sizes, i))
    shape, n_items = tuple(array.sizes[d] for d in own), len(items.codes)
    n_slots, n_inner = math.prod(shape), math.prod(array.sizes[d] for d in others)

    def label(k: int) -> str:
        return f"{plain(items.label(int(items.codes[k % n_items])))!r}{names.within(k // n_items)}"

    weights = item_weights(raw, np.repeat(np.arange(n_slots), n_inner), n_slots, label, names)
    if parts.kept and len(raw):
        refuse_weightless(weights.reshape(-1, n_items).sum(axis=1), names.group_label)
    return Named(xr.DataArray(weights.reshape(shape), dims=own), name)
