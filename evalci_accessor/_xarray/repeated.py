"""Repeated samples of items: which dims hold the items and which their samples, and the answer over k."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import xarray as xr

from evalci_accessor._crossing import Clustering, ordered
from evalci_accessor._entries import Entries
from evalci_accessor._ids import Codes, encode
from evalci_accessor._options import RateOptions
from evalci_accessor._pairing import encode_ids, item_key, join_key, refuse_same_part
from evalci_accessor._pooled import ids_or_settings
from evalci_accessor._repeated import REPEATED_COLUMNS, repeated_columns
from evalci_accessor._repeats import Items, Naming, gather
from evalci_accessor._scores import weights_to_float
from evalci_accessor._xarray.dims import Cube, Dims, Named, clusterings_of, find, named_dims, score_of
from evalci_accessor._xarray.reduce import Cells, codes_of, describe, ids_of, read_cells, spread_over
from evalci_accessor.exceptions import AmbiguousNameError, DimensionError, MethodError, examples
from evalci_accessor.options import NanPolicy, RepeatedMeasure, TooFew
from evalci_accessor.stats.repeated.values import check_ks


def repeated(
    data: Cube,
    k: Any,
    *,
    measure: RepeatedMeasure,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    dim: Dims,
    weights: Any,
    nested: bool,
    too_few: TooFew,
    nan_policy: NanPolicy,
    options: RateOptions,
) -> xr.Dataset:
    """What k samples of an item would score, as the accessor's methods of the measures' names."""
    ks = check_ks(k)
    roles = Roles(item=item, cluster=cluster, sample=sample, score=score, dim=dim, weights=weights)
    cells, items = read_items(data, roles, nested=nested, nan_policy=nan_policy)
    flat = np.atleast_1d(ks).ravel()
    columns = repeated_columns(items, measure, flat, too_few, options)
    answer = wrap_along(cells, "k", flat, columns, ("k", *REPEATED_COLUMNS))
    return answer if ks.ndim else answer.isel(k=0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Roles:
    """What the caller named: names, arrays, or lists of these."""

    item: Any
    cluster: Any
    sample: Any
    score: Any
    dim: Dims
    weights: Any = None


def read_items(data: Cube, roles: Roles, *, nested: bool, nan_policy: NanPolicy) -> tuple[Cells, Items]:
    """The cells, and the items with their samples."""
    cluster, score = roles.cluster, roles.score
    scores = score_of(data, score)
    given = {
        "item": _several(roles.item), "cluster": _several(cluster), "sample": _several(roles.sample), "score": [score]
    }  # fmt: skip
    parts: dict[str, list[Any]] = {"factor": [], "weights": [roles.weights], "by": []} | given
    refuse_same_part({part: [name for name in names if isinstance(name, str)] for part, names in parts.items()})
    clusters = [] if cluster is None else clusterings_of(data, cluster, score)
    weighing = None if roles.weights is None else find(data, roles.weights, "weights")
    samples = [_found(data, spec, "sample") for spec in given["sample"]]
    named = [_found(data, spec, "item") for spec in given["item"]]
    items, reduced = _item_dims(scores.array, named, clusters, samples, roles.dim)
    named = named or [Named(scores.array[items[0]], str(items[0]))]
    cells = read_cells(scores, reduced, None, "omit")  # gather() says what is missing
    entries, naming = _entries(data, cells, scores, named, samples, weighing, told=not clusters and len(named) > 1)
    clusterings = ordered([_clustering(cells, one) for one in clusters])
    return cells, gather(entries, naming, clusterings, nan_policy, nested=nested)


def _several(spec: Any) -> list[Any]:
    if spec is None:
        return []
    return list(spec) if isinstance(spec, (list, tuple)) else [spec]


def _found(data: Cube, spec: Any, role: str) -> Named:
    """What is named, whose dims the scores have too."""
    if isinstance(spec, (np.ndarray, set, dict)):
        raise MethodError(
            f"`{role}` must be the name of a dim, coordinate or variable, or a DataArray with dims; got {type(spec).__name__}."
        )
    return find(data, spec, role)


def _item_dims(
    array: xr.DataArray, named: list[Named], clusters: list[Named], samples: list[Named], dim: Dims
) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """Dims of the items, and all that are reduced: the items' first."""
    for one, role in (*((one, "item") for one in named), *((one, "sample") for one in samples)):
        if not one.array.ndim or not set(one.array.dims) <= set(array.dims):
            lies = f"lies along {examples(map(repr, one.array.dims))}" if one.array.ndim else "is a single value"
            raise DimensionError(
                f"{role}={one.name!r} must lie along dims of the scores, which have {examples(map(repr, array.dims))}; it {lies}."
            )
    sampled = {d for one in samples for d in one.array.dims}
    clustered = {d for one in clusters for d in one.array.dims if d in array.dims}
    along = {d for one in named for d in one.array.dims}
    given = None if dim is None else set(named_dims(array, dim, None))
    if not along:
        pool = set(array.dims) if given is None else given
        along = (clustered & pool) - sampled or pool - sampled
        if len(along) != 1:
            left = [d for d in array.dims if d in along]
            raise DimensionError(
                f"Which dim holds the items is not told: {examples(map(repr, left)) or 'none'} is left of "
                f"{examples(map(repr, array.dims))}. Name it with item= (several as a list), and that of the samples with "
                "sample=; all others are kept."
            )
    reduced = along | sampled | (clustered if given is None else set())
    if given is not None:
        lacking = [d for d in array.dims if d in reduced and d not in given]
        if lacking:
            raise DimensionError(
                f"Items and samples lie along {examples(map(repr, lacking))}, which dim= does not reduce. Add it, or leave out "
                "dim=: the dims of item= and sample= are reduced by themselves."
            )
        reduced = given
    first = tuple(d for d in array.dims if d in along)
    return first, (*first, *(d for d in array.dims if d in reduced and d not in along))


def _entries(
    data: Cube, cells: Cells, scores: Named, named: list[Named], samples: list[Named], weighing: Named | None, *, told: bool
) -> tuple[Entries, Naming]:  # fmt: skip
    """One entry a cell."""
    n_groups, n_cells = cells.values.shape
    ids = item_key([_coded(cells, one, lookalikes=True) for one in named], [one.name for one in named], told=told)
    numbers, weights = None, None
    if samples:
        joint = join_key([_coded(cells, one) for one in samples])
        numbers = dataclasses.replace(joint, codes=np.tile(joint.codes, n_groups))
    dims = (*cells.kept, *cells.reduced)
    sizes = tuple(cells.score.sizes[d] for d in dims)
    if weighing is not None:
        spread = spread_over(weighing.array, dict(zip(dims, sizes, strict=True)), weighing.name, "weights")
        weights = weights_to_float(np.ascontiguousarray(spread).ravel(), weighing.name)
    entries = Entries(
        scores=cells.values.astype(np.float64).ravel(), groups=np.repeat(np.arange(n_groups), n_cells),
        systems=np.zeros(n_groups * n_cells, dtype=np.int64), items=np.tile(ids.codes, n_groups), n_items=ids.size,
        clusters=None, samples=numbers, weights=weights, where=lambda i: describe(cells.score, dims, sizes, i),
        others=lambda: _others(data, cells, {scores.name, *(one.name for one in (*named, *samples))}),
    )  # fmt: skip
    naming = Naming(
        score=scores.name, item=[one.name for one in named], samples=[one.name for one in samples],
        entries="cells", n_groups=n_groups, item_label=ids.label, group_label=cells.group_label,
        weights=None if weighing is None else weighing.name, kept=tuple(map(str, cells.kept)),
    )  # fmt: skip
    return entries, naming


def _clustering(cells: Cells, cluster: Named) -> Clustering:
    coded = encode(ids_of(cluster.array), cluster.name)
    flat = np.broadcast_to(codes_of(cells, cluster, coded.codes), cells.values.shape).ravel()
    return Clustering(name=cluster.name, coded=dataclasses.replace(coded, codes=flat))


def _coded(cells: Cells, one: Named, *, lookalikes: bool = False) -> Codes:
    """Codes of the cells along the reduced dims, shape (N,)."""
    return _over_cells(cells, one, encode_ids(ids_of(one.array), one.name, lookalikes=lookalikes))


def _over_cells(cells: Cells, one: Named, coded: Codes) -> Codes:
    array = xr.DataArray(coded.codes.reshape(one.array.shape), dims=one.array.dims)
    sizes = {d: cells.score.sizes[d] for d in cells.reduced}
    return dataclasses.replace(coded, codes=np.ascontiguousarray(spread_over(array, sizes, one.name, "item")).ravel())


def _others(data: Cube, cells: Cells, taken: set[str]) -> Iterable[tuple[str, Codes]]:
    """Coordinates along the reduced dims, and these dims themselves, that could tell two cells apart."""
    bare = {dim: cells.score[dim] for dim in cells.reduced if dim not in data.coords}
    for name, coord in {**data.coords, **bare}.items():
        if str(name) not in taken and coord.ndim and set(coord.dims) <= set(cells.reduced):
            coded = ids_or_settings(ids_of(coord), str(name))
            if coded is not None:
                codes = _over_cells(cells, Named(coord, str(name)), coded).codes
                yield str(name), dataclasses.replace(coded, codes=np.tile(codes, len(cells.values)))


def wrap_along(cells: Cells, name: str, labels: Any, columns: dict[str, Any], reserved: tuple[str, ...]) -> xr.Dataset:
    """Variables over the kept dims and a new one, with the coordinates that lie along the kept dims.

    Columns are of shape (H, L), or (H, 1) where the labels share a value, which then has the kept dims only.
    """
    coords = {one: coord for one, coord in cells.score.coords.items() if set(coord.dims) <= set(cells.kept)}
    clash = [str(one) for one in (*coords, *cells.kept) if one in reserved]
    if clash:
        raise AmbiguousNameError(
            f"{clash[0]!r} would stand twice in the result, whose own dim and variables are "
            f"{', '.join(reserved)}. Rename it first, as with .rename({{{clash[0]!r}: {clash[0] + '_'!r}}})."
        )

    def variable(values: Any) -> Any:
        if not isinstance(values, np.ndarray):
            return (), values
        if values.shape[1] < len(labels):
            return cells.kept, values.reshape(cells.shape)
        return (*cells.kept, name), values.reshape(*cells.shape, len(labels))

    kept = cells.score.coords.to_dataset()[list(coords)]
    return kept.assign_coords({name: (name, labels)}).assign(
        {column: variable(values) for column, values in columns.items()}
    )
