"""Which dims of a cube play which part: what is reduced, what stays, and where systems, items and samples lie."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Hashable, Iterable
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples
from evalci_accessor.options import Roles
from evalci_accessor.read.names import did_you_mean, find_clusterings, named_parts, several

Cube: TypeAlias = xr.DataArray | xr.Dataset
DimNames: TypeAlias = tuple[Hashable, ...]
_SENSE = "(`dim` names what is reduced; `by` names what stays.)"


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Named:
    """An array of the cube, and what to call it."""

    array: xr.DataArray
    name: str

    @property
    def dims(self) -> DimNames:
        """Its dims."""
        return tuple(self.array.dims)

    @property
    def lies(self) -> str:
        """Along what it lies, in words."""
        return f"lies along {quoted(self.dims)}" if self.dims else "is a single value"

    def called(self, name: str) -> Named:
        """The same under another name."""
        return Named(self.array, name)


def quoted(dims: Iterable[Hashable]) -> str:
    """Dims as they are listed in a message."""
    return examples(map(repr, dims))


def in_order(array: xr.DataArray, dims: Collection[Hashable]) -> DimNames:
    """Those of some dims that an array has, in its order."""
    return tuple(d for d in array.dims if d in dims)


def score_of(data: Cube, score: Any) -> Named:
    """The scores: the DataArray itself, or a variable of the Dataset."""
    if isinstance(data, xr.DataArray):
        if not (score is None or (isinstance(score, str) and score == "score")):
            raise ex.MethodError(
                f"score={score if isinstance(score, str) else type(score).__name__!r} is given, and a DataArray is its own "
                "score; leave score= out, or call the method on a Dataset."
            )
        return Named(data, str(data.name) if data.name is not None else "score")
    return find(data, score, "score")


def find(data: Cube, spec: Any, role: str) -> Named:
    """The coordinate or variable that ``spec`` names, or a DataArray that fits the cube."""
    if isinstance(spec, xr.DataArray):
        _check_alignment(data, spec, role)
        return Named(spec, role if spec.name is None else str(spec.name))
    if not isinstance(spec, Hashable):
        raise ex.MethodError(
            f"`{role}` must be the name of a coordinate or variable, or a DataArray with dims; got "
            f"{type(spec).__name__}. Give an array its dims first, as with xarray.DataArray(values, dims='item')."
        )
    names = [name for name in (*data.coords, *getattr(data, "data_vars", ())) if isinstance(name, str)]
    if spec in data.coords or spec in getattr(data, "data_vars", ()) or spec in data.dims:
        return Named(data[spec], str(spec))
    raise ex.ColumnNotFoundError(
        f"{role}={spec!r} is neither a coordinate nor a variable.{did_you_mean(spec, names, role)} Available: "
        f"{examples(map(repr, names), 20)}. Pass {role}=<name>."
    )


def clusterings_of(data: Cube, roles: Roles) -> list[Named]:
    """The clustering, or the crossed ones, of which none is the score."""
    score = None if isinstance(data, xr.DataArray) else roles.score
    way = "Give ids their dims first, as a DataArray with dims: xarray.DataArray(values, dims='item')."
    return find_clusterings(several(roles.cluster), score, lambda spec: find(data, spec, "cluster"), way)


def _check_alignment(data: Cube, array: xr.DataArray, role: str) -> None:
    for dim in array.dims:
        if dim not in data.sizes:
            raise ex.DimensionError(
                f"`{role}` has the dim {dim!r}, which the data lack; theirs are {quoted(data.dims)}."
            )
        if array.sizes[dim] != data.sizes[dim]:
            raise ex.AlignmentError(
                f"`{role}` has {array.sizes[dim]} entries along {dim!r} and the data {data.sizes[dim]}; they must cover "
                "each other."
            )
        if dim in array.indexes and dim in data.indexes and not array.indexes[dim].equals(data.indexes[dim]):
            extra = data.indexes[dim].difference(array.indexes[dim])
            raise ex.AlignmentError(
                f"`{role}` and the data have different labels (or another order) along {dim!r}; {len(extra)} of the "
                f"data's are not in it ({quoted(extra)}). Use .reindex_like() first."
            )


def staying(data: Cube, array: xr.DataArray, by: Any) -> list[Hashable]:
    """The dims that ``by`` names, by themselves or by a coordinate along one of them."""
    found: list[Hashable] = []
    for spec in several(by):
        if isinstance(spec, Hashable) and spec in array.dims:
            found.append(spec)
            continue
        named = find(data, spec, "by")
        if len(named.dims) != 1 or named.dims[0] not in array.dims:
            raise ex.DimensionError(
                f"by={named.name!r} must be a dim of the scores, which stays, or a coordinate along one; it lies along "
                f"{quoted(named.dims) or 'none'}, and the scores have {quoted(array.dims)}."
            )
        if not named.array.to_series().is_unique:
            raise ex.DimensionError(
                f"by={named.name!r} gives one name to several labels along {named.dims[0]!r}, so it is no dim of the "
                f"answer. Group first, as with .groupby({named.name!r}), or go through .to_dataframe()."
            )
        found.append(named.dims[0])
    return found


def given_dims(data: Cube, array: xr.DataArray, roles: Roles, without: DimNames = ()) -> DimNames | None:
    """The dims that the caller wants reduced, by ``dim`` or as all that ``by`` does not name; None if neither is given."""
    if roles.by is not None:
        if roles.dim is not None:
            raise ex.DimensionError(f"Both by= and dim= are given; pass one of them. {_SENSE}")
        kept = staying(data, array, roles.by)
        return tuple(d for d in array.dims if d not in kept and d not in without)
    if roles.dim is None:
        return None
    if roles.dim is ...:
        return tuple(d for d in array.dims if d not in without)
    listed = isinstance(roles.dim, Iterable) and not isinstance(roles.dim, str)
    wanted: list[Any] = list(roles.dim) if listed else [roles.dim]
    unknown = [d for d in wanted if d not in array.dims]
    if unknown:
        raise ex.DimensionError(
            f"dim={quoted(unknown)} is not a dim of the scores; they have {quoted(array.dims)}."
        )
    return tuple(wanted)


def reduced_dims(data: Cube, array: xr.DataArray, roles: Roles, default: Iterable[Any] | None) -> DimNames:
    """Dims to reduce, in the score's order; ``default`` where the caller named none."""
    wanted = given_dims(data, array, roles)
    if wanted is None:
        wanted = _only_dim(array) if default is None else tuple(default)
    foreign = set(wanted) - set(array.dims)
    if foreign:
        raise ex.DimensionError(
            f"The cluster lies along {quoted(foreign)}, which the scores lack; theirs are {quoted(array.dims)}."
        )
    if not wanted:
        raise ex.DimensionError(
            f"No dim is left to reduce; name one or more of {quoted(array.dims)} with dim=. {_SENSE}"
        )
    return in_order(array, wanted)


def _only_dim(array: xr.DataArray) -> DimNames:
    if array.ndim == 0:
        raise ex.DimensionError("The scores are a single number; they need a dim along which the items lie.")
    if array.ndim > 1:
        raise ex.DimensionError(
            f"The scores have {array.ndim} dims ({quoted(array.dims)}), and it is not clear which of them to reduce. Name it "
            f"with dim=, as dim={array.dims[-1]!r} or dim={tuple(array.dims[-2:])!r}; or with by= what stays. {_SENSE}"
        )
    return tuple(array.dims)


def dims_of_repeats(data: Cube, score: Named) -> DimNames:
    """The one dim along which coordinates repeat their values, if it is one."""
    if score.array.ndim == 1:
        return score.dims
    dims: set[Hashable] = set()
    for name, array in lookups(data).items():
        if name != score.name and array.ndim == 1 and array.dims[0] in score.dims and array.dims[0] != name:
            values = array.to_index() if array.variable.data is None else np.asarray(array.variable.data)
            if len(set(values.tolist())) < len(values):
                dims |= set(array.dims)
    if len(dims) != 1:
        raise ex.DimensionError(
            "The coordinates do not show which dims hold the items; name them with dim=, out of "
            f"{', '.join(map(repr, score.dims))}."
        )
    return tuple(dims)


def lookups(data: Cube) -> dict[str, xr.DataArray]:
    """Coordinates and variables that lie along a dim."""
    arrays = dict(data.coords) | dict(getattr(data, "data_vars", {}))
    return {str(name): array for name, array in arrays.items() if array.ndim}


def dims_of(arrays: list[Named]) -> set[Hashable]:
    """All dims along which some arrays lie."""
    return {d for one in arrays for d in one.dims}


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Parts:
    """The dims of the scores by their part."""

    score: Named
    factor: Named | None  # labels of the systems along ``systems``
    item: list[Named]  # what tells the items apart, along ``items``
    clusters: list[Named]
    samples: list[Named]  # what numbers the samples of an item
    weights: Named | None
    systems: Hashable = None  # the dim of the factor; None where there is none
    items: DimNames = ()  # dims of the items
    repeats: DimNames = ()  # dims of the samples of an item
    kept: DimNames = ()  # dims that stay

    @property
    def array(self) -> xr.DataArray:
        """The scores."""
        return self.score.array


def _named(data: Cube, roles: Roles) -> Parts:
    """What the caller named; no name plays two parts."""
    score, own = score_of(data, roles.score), isinstance(data, xr.DataArray)
    specs = named_parts(dataclasses.replace(roles, score=None) if own else roles, several)
    factor, item, samples, weights = (
        [find(data, spec, role) for spec in specs[role]] for role in ("factor", "item", "sample", "weights")
    )
    return Parts(
        score=score,
        factor=factor[0] if factor else None,
        item=item,
        clusters=[] if roles.cluster is None else clusterings_of(data, roles),
        samples=samples,
        weights=weights[0] if weights else None,
    )


def _with_dims(parts: Parts, items: DimNames, reduced: set[Hashable], systems: Hashable = None) -> Parts:
    """The parts, once it is known which dims are those of the items, and which are reduced."""
    return dataclasses.replace(
        parts,
        item=parts.item or [Named(parts.array[d], str(d)) for d in items],
        systems=systems,
        items=items,
        repeats=in_order(parts.array, reduced - set(items)),
        kept=in_order(parts.array, set(parts.array.dims) - reduced - {systems}),
    )


def pair_parts(data: Cube, roles: Roles, *, averages: bool = True) -> Parts:
    """The parts of a comparison, and what follows for the dims that were not named."""
    named = _named(data, roles)
    assert named.factor is not None
    systems = _one_dim(named.factor, named.array, "factor")
    sampled = tuple(dict.fromkeys(_one_dim(one, named.array, "sample") for one in named.samples))
    given = given_dims(data, named.array, roles, without=(systems,))
    if given is not None and systems in given:
        raise ex.DimensionError(
            f"dim names {systems!r}, along which the systems lie that are compared; it cannot be reduced. Leave it out "
            "of dim=."
        )
    items = _items_of_pairs(named, systems, sampled, given)
    _refuse_shared_dims(named, systems, items, sampled)
    parts = _with_dims(named, items, {*items, *sampled, *(given or ())}, systems)
    if not averages:
        _refuse_repeats(parts)
    _check_clusters(parts)
    return parts


def item_parts(data: Cube, roles: Roles) -> Parts:
    """The parts of items with their samples."""
    named = _named(data, dataclasses.replace(roles, factor=None))
    array = named.array
    for role, arrays in (("item", named.item), ("sample", named.samples)):
        for one in arrays:
            if not one.dims or not set(one.dims) <= set(array.dims):
                raise ex.DimensionError(
                    f"{role}={one.name!r} must lie along dims of the scores, which have {quoted(array.dims)}; it {one.lies}."
                )
    sampled, along = dims_of(named.samples), dims_of(named.item)
    clustered = dims_of(named.clusters) & set(array.dims)
    free = roles.dim is None and roles.by is None
    given = None if free else set(reduced_dims(data, array, roles, None))
    if not along:
        pool = set(array.dims) if given is None else given
        along = (clustered & pool) - sampled or pool - sampled
        if len(along) != 1:
            raise ex.DimensionError(
                f"It is not clear which dim holds the items: {quoted(in_order(array, along)) or 'none'} is left of "
                f"{quoted(array.dims)}. Name it with item= (several as a list), and that of the samples with sample=; all "
                "others are kept."
            )
    reduced = along | sampled | (clustered if given is None else set())
    lacking = set() if given is None else reduced - given
    if lacking:
        raise ex.DimensionError(
            f"Items and samples lie along {quoted(in_order(array, lacking))}, which dim= does not reduce. Add it, or leave "
            "out dim=: the dims of item= and sample= are reduced by themselves."
        )
    return _with_dims(named, in_order(array, along), reduced if given is None else given)


def _one_dim(named: Named, array: xr.DataArray, role: str) -> Hashable:
    """The dim of the scores that a name stands for."""
    if len(named.dims) != 1 or named.dims[0] not in array.dims:
        raise ex.DimensionError(
            f"{role}={named.name!r} must be a dim of the scores, or a coordinate along one of them; it {named.lies}, and "
            f"the scores have {quoted(array.dims)}."
        )
    return named.dims[0]


def _items_of_pairs(named: Parts, systems: Hashable, sampled: DimNames, given: DimNames | None) -> DimNames:
    """Dims of the items: those named, else those of the clusters, else the one that is left."""
    array, clusters = named.array, named.clusters
    if named.item:
        along = dims_of(named.item)
        foreign = along - set(array.dims)
        who = examples(repr(one.name) for one in named.item)
        if foreign or not along:
            raise ex.DimensionError(
                f"item={who} must lie along dims of the scores ({quoted(array.dims)}); it lies along "
                f"{quoted(foreign) or 'none'}."
            )
        torn = along - set(given or ())
        if torn and torn < along and given is not None:
            raise ex.DimensionError(
                f"item={who} lies along {quoted(in_order(array, along))}, of which dim= does not reduce "
                f"{quoted(in_order(array, torn))}. Add it to dim=, or name as item= what tells the questions apart within "
                "one of its labels."
            )
        return in_order(array, along)
    pool = in_order(array, array.dims if given is None else given)
    along = dims_of(clusters) & set(pool) - {systems}
    if along:
        return in_order(array, along)
    if given is not None and dims_of(clusters) & set(array.dims) - {systems}:
        raise ex.DimensionError(
            f"The cluster {clusters[0].name!r} lies along {quoted(clusters[0].dims)}, none of which is in "
            f"dim={quoted(given)}, so every comparison would be within one cluster. Add it to dim=."
        )
    left = [d for d in (array.dims if given is None else given) if d != systems and d not in sampled]
    if len(left) == 1:
        return (left[0],)
    if not left:
        raise ex.DimensionError(
            f"No dim is left for the items beside the factor {systems!r}; the scores have {quoted(array.dims)}. Name theirs "
            "with item=."
        )
    longest = max(left, key=lambda d: array.sizes[d])
    raise ex.DimensionError(
        f"It is not clear which of the dims {quoted(left)} holds the items. Name it with item=, as item={longest!r}; dims of "
        "repeats go in sample=, and all others are kept unless dim= names them too."
    )


def _refuse_shared_dims(named: Parts, systems: Hashable, items: DimNames, sampled: DimNames) -> None:
    """No dim plays two parts."""
    assert named.factor is not None
    if systems in items:
        name = ", ".join(repr(one.name) for one in named.item) or repr(systems)
        raise ex.DimensionError(
            f"item={name} varies along {systems!r}, along which the systems lie, so no item would have the score of two "
            f"systems. The factor {named.factor.name!r} must be a dim of its own; where the scores lie in one long dim, go "
            "through .to_dataframe() and the frame's method of the same name."
        )
    for cluster in named.clusters:
        if systems in cluster.dims:
            raise ex.DimensionError(
                f"The cluster {cluster.name!r} varies along {systems!r}, along which the systems lie; an item lies in one "
                f"cluster, whichever system answers it. Take it of one system, as with .isel({systems}=0), if it is the "
                "same for all."
            )
    for d in sampled:
        if d == systems or d in items:
            raise ex.DimensionError(
                f"sample names {d!r}, along which the {'systems' if d == systems else 'items'} lie; it must be a dim of "
                f"its own. The scores have {quoted(named.array.dims)}."
            )


def _check_clusters(parts: Parts) -> None:
    array, clusters = parts.array, parts.clusters
    for cluster in clusters:
        foreign = [d for d in cluster.dims if d not in array.dims]
        if foreign:
            raise ex.DimensionError(
                f"The cluster {cluster.name!r} lies along {quoted(foreign)}, which the scores lack; theirs are "
                f"{quoted(array.dims)}."
            )
        torn = [d for d in cluster.dims if d in parts.repeats]
        if torn:
            raise ex.DimensionError(
                f"The cluster {cluster.name!r} varies along {torn[0]!r}, which is averaged within an item, so that an "
                f"item would lie in several clusters. If {torn[0]!r} belongs to the items, pass "
                f"item={(*parts.items, *torn)!r}."
            )
    if clusters and not dims_of(clusters) & set(parts.items):
        raise ex.DimensionError(
            f"The cluster {clusters[0].name!r} does not vary along the items ({quoted(parts.items)}), so they all lie in "
            "one. Name what the items share, or leave out cluster= if they are independent."
        )


def _refuse_repeats(parts: Parts) -> None:
    """McNemar's test wants one score for each item."""
    many = [d for d in parts.repeats if parts.array.sizes[d] != 1]
    if many:
        raise ex.MethodError(
            f"mcnemar needs one score for each item, and {quoted(many)} would be reduced although it is no dim of the items "
            f"({quoted(parts.items)}). Leave it out of dim= for a test at each of its labels; average with diff_ci or "
            f"compare (sample={many[0]!r}); reduce to one score first, such as a majority vote; or pass "
            f"item={(*parts.items, *many)!r} if each of its labels is a question of its own."
        )
