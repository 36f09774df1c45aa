"""Which dims of a cube play which part: what is reduced, what stays, and where systems, items and samples lie."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

from evalci_accessor.exceptions import (
    AlignmentError,
    ColumnNotFoundError,
    DimensionError,
    MethodError,
    examples,
)
from evalci_accessor.options import Dims, Roles
from evalci_accessor.read.names import (
    check_clusterings,
    did_you_mean,
    is_hashable,
    refuse_ids,
    refuse_two_parts,
    several,
)

Cube: TypeAlias = xr.DataArray | xr.Dataset
DimNames: TypeAlias = tuple[Hashable, ...]
_SENSE = "(`dim` names what is reduced; `by` names what stays.)"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Named:
    """An array of the cube, and what to call it."""

    array: xr.DataArray
    name: str

    @property
    def dims(self) -> DimNames:
        """Its dims."""
        return tuple(self.array.dims)


def score_of(data: Cube, score: Any) -> Named:
    """The scores: the DataArray itself, or a variable of the Dataset."""
    if isinstance(data, xr.DataArray):
        if not (score is None or (isinstance(score, str) and score == "score")):
            raise MethodError(
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
    if not is_hashable(spec):
        raise MethodError(
            f"`{role}` must be the name of a coordinate or variable, or a DataArray with dims; got "
            f"{type(spec).__name__}. Give an array its dims first, as with xarray.DataArray(values, dims='item')."
        )
    names = [name for name in (*data.coords, *getattr(data, "data_vars", ())) if isinstance(name, str)]
    if spec in data.coords or spec in getattr(data, "data_vars", ()) or spec in data.dims:
        return Named(data[spec], str(spec))
    raise ColumnNotFoundError(
        f"{role}={spec!r} is neither a coordinate nor a variable.{did_you_mean(spec, names, role)} Available: "
        f"{examples(map(repr, names), 20)}. Pass {role}=<name>."
    )


def clusterings_of(data: Cube, cluster: Any, score: Any) -> list[Named]:
    """The clustering, or the crossed ones, of which none is the score."""
    if cluster is None:
        return []
    specs = several(cluster)
    refuse_ids(
        specs, "Give ids their dims first, as a DataArray with dims: xarray.DataArray(values, dims='item')."
    )
    found = [find(data, spec, "cluster") for spec in specs]
    score = None if isinstance(data, xr.DataArray) else score
    names = check_clusterings(specs, score, [one.name for one in found])
    return [
        one if one.name == name else Named(one.array, name) for one, name in zip(found, names, strict=True)
    ]


def _check_alignment(data: Cube, array: xr.DataArray, role: str) -> None:
    for dim in array.dims:
        if dim not in data.sizes:
            raise DimensionError(
                f"`{role}` has the dim {dim!r}, which the data lack; theirs are {examples(map(repr, data.dims))}."
            )
        if array.sizes[dim] != data.sizes[dim]:
            raise AlignmentError(
                f"`{role}` has {array.sizes[dim]} entries along {dim!r} and the data {data.sizes[dim]}; they must cover "
                "each other."
            )
        if dim in array.indexes and dim in data.indexes and not array.indexes[dim].equals(data.indexes[dim]):
            extra = data.indexes[dim].difference(array.indexes[dim])
            raise AlignmentError(
                f"`{role}` and the data have different labels (or another order) along {dim!r}; {len(extra)} of the "
                f"data's are not in it ({examples(map(repr, extra))}). Use .reindex_like() first."
            )


def _unknown(array: xr.DataArray, role: str, wanted: Iterable[Hashable]) -> None:
    unknown = [d for d in wanted if d not in array.dims]
    if unknown:
        raise DimensionError(
            f"{role}={examples(map(repr, unknown))} is not a dim of the scores; they have "
            f"{examples(map(repr, array.dims))}."
        )


def _listed(dim: Dims) -> list[Hashable]:
    return [dim] if isinstance(dim, str) or not isinstance(dim, Iterable) else list(dim)


def staying(data: Cube, array: xr.DataArray, by: Any) -> list[Hashable]:
    """The dims that ``by`` names, by themselves or by a coordinate along one of them."""
    found: list[Hashable] = []
    for spec in several(by):
        if is_hashable(spec) and spec in array.dims:
            found.append(spec)
            continue
        named = find(data, spec, "by")
        if len(named.dims) != 1 or named.dims[0] not in array.dims:
            raise DimensionError(
                f"by={named.name!r} must be a dim of the scores, which stays, or a coordinate along one; it lies along "
                f"{examples(map(repr, named.dims)) or 'none'}, and the scores have {examples(map(repr, array.dims))}."
            )
        labels = named.array.to_series() if named.array.ndim else None
        if labels is not None and not labels.is_unique:
            raise DimensionError(
                f"by={named.name!r} gives one name to several labels along {named.dims[0]!r}, so it is no dim of the "
                f"answer. Group first, as with .groupby({named.name!r}), or go through .to_dataframe()."
            )
        found.append(named.dims[0])
    return found


def given_dims(data: Cube, array: xr.DataArray, roles: Roles, without: DimNames = ()) -> DimNames | None:
    """The dims that the caller wants reduced, by ``dim`` or as all that ``by`` does not name; None if neither is given."""
    if roles.by is not None:
        if roles.dim is not None:
            raise DimensionError(f"Both by= and dim= are given; pass one of them. {_SENSE}")
        kept = staying(data, array, roles.by)
        return tuple(d for d in array.dims if d not in kept and d not in without)
    if roles.dim is None:
        return None
    if roles.dim is ...:
        return tuple(d for d in array.dims if d not in without)
    wanted = _listed(roles.dim)
    _unknown(array, "dim", wanted)
    return tuple(wanted)


def reduced_dims(
    data: Cube, array: xr.DataArray, roles: Roles, default: Iterable[Hashable] | None
) -> DimNames:
    """Dims to reduce, in the score's order; ``default`` where the caller named none."""
    given = given_dims(data, array, roles)
    if given is None and default is None:
        return _only_dim(array)
    wanted = set(default or ()) if given is None else set(given)
    foreign = wanted - set(array.dims)
    if foreign:
        raise DimensionError(
            f"The cluster lies along {examples(map(repr, foreign))}, which the scores lack; theirs are "
            f"{examples(map(repr, array.dims))}."
        )
    if not wanted:
        raise DimensionError(
            f"No dim is left to reduce; name one or more of {examples(map(repr, array.dims))} with dim=. {_SENSE}"
        )
    return tuple(d for d in array.dims if d in wanted)


def _only_dim(array: xr.DataArray) -> DimNames:
    if array.ndim == 1:
        return tuple(array.dims)
    if array.ndim == 0:
        raise DimensionError("The scores are a single number; they need a dim along which the items lie.")
    raise DimensionError(
        f"The scores have {array.ndim} dims ({examples(map(repr, array.dims))}), and it is not clear which of them to "
        f"reduce. Name it with dim=, as dim={array.dims[-1]!r} or dim={tuple(array.dims[-2:])!r}; or with by= what stays. "
        f"{_SENSE}"
    )


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
        raise DimensionError(
            "The coordinates do not show which dims hold the items; name them with dim=, out of "
            f"{', '.join(map(repr, score.dims))}."
        )
    return tuple(dims)


def lookups(data: Cube) -> dict[str, xr.DataArray]:
    """Coordinates and variables that lie along a dim."""
    arrays = dict(data.coords) | dict(getattr(data, "data_vars", {}))
    return {str(name): array for name, array in arrays.items() if array.ndim}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """The dims of the scores by their part.

    Parameters
    ----------
    score : Named
    factor : Named or None
        Labels of the systems along ``systems``.
    item : list of Named
        What tells the items apart, along ``items``.
    clusters : list of Named
    samples : list of Named
        What numbers the samples of an item.
    weights : Named or None
    systems : hashable
        The dim of the factor; None where there is none.
    items : tuple
        Dims of the items.
    repeats : tuple
        Dims of the samples of an item.
    kept : tuple
        Dims that stay.
    """

    score: Named
    factor: Named | None
    item: list[Named]
    clusters: list[Named]
    samples: list[Named]
    weights: Named | None
    systems: Hashable
    items: DimNames
    repeats: DimNames
    kept: DimNames


def _found(data: Cube, roles: Roles) -> dict[str, Any]:
    """What the caller named; no name plays two parts."""
    score = score_of(data, roles.score)
    specs = {
        "factor": [] if roles.factor is None else [roles.factor],
        "item": several(roles.item),
        "sample": several(roles.sample),
        "weights": [] if roles.weights is None else [roles.weights],
    }
    own = [] if isinstance(data, xr.DataArray) else [roles.score]
    refuse_two_parts(specs | {"cluster": several(roles.cluster), "score": own, "by": several(roles.by)})
    return {
        "score": score,
        "factor": None if roles.factor is None else find(data, roles.factor, "factor"),
        "item": [find(data, spec, "item") for spec in specs["item"]],
        "samples": [find(data, spec, "sample") for spec in specs["sample"]],
        "clusters": clusterings_of(data, roles.cluster, roles.score),
        "weights": None if roles.weights is None else find(data, roles.weights, "weights"),
    }


def pair_parts(data: Cube, roles: Roles, *, averages: bool) -> Parts:
    """The parts of a comparison, and what follows for the dims that were not named."""
    found = _found(data, roles)
    array, factor = found["score"].array, found["factor"]
    systems = _one_dim(factor, array, "factor")
    sampled = tuple(dict.fromkeys(_one_dim(one, array, "sample") for one in found["samples"]))
    given = given_dims(data, array, roles, without=(systems,))
    if given is not None and systems in given:
        raise DimensionError(
            f"dim names {systems!r}, along which the systems lie that are compared; it cannot be reduced. Leave it out "
            "of dim=."
        )
    items = _items_of_pairs(found, systems, sampled, given)
    _refuse_shared_dims(found, systems, items, sampled)
    reduced = {*items, *sampled, *(given or ())}
    repeats = tuple(d for d in array.dims if d in reduced and d not in items)
    if not averages:
        _refuse_repeats(array, repeats, items)
    _check_clusters(array, found["clusters"], items, repeats)
    item = found["item"] or [Named(array[d], str(d)) for d in items]
    kept = tuple(d for d in array.dims if d not in reduced and d != systems)
    return Parts(**found | {"item": item}, systems=systems, items=items, repeats=repeats, kept=kept)


def item_parts(data: Cube, roles: Roles) -> Parts:
    """The parts of items with their samples."""
    found = _found(data, dataclasses.replace(roles, factor=None))
    array, named = found["score"].array, found["item"]
    for one, role in (*((one, "item") for one in named), *((one, "sample") for one in found["samples"])):
        if not one.dims or not set(one.dims) <= set(array.dims):
            lies = f"lies along {examples(map(repr, one.dims))}" if one.dims else "is a single value"
            raise DimensionError(
                f"{role}={one.name!r} must lie along dims of the scores, which have {examples(map(repr, array.dims))}; it "
                f"{lies}."
            )
    sampled = {d for one in found["samples"] for d in one.dims}
    clustered = {d for one in found["clusters"] for d in one.dims if d in array.dims}
    along = {d for one in named for d in one.dims}
    given = None
    if roles.dim is not None or roles.by is not None:
        given = set(reduced_dims(data, array, roles, None))
    if not along:
        pool = set(array.dims) if given is None else given
        along = (clustered & pool) - sampled or pool - sampled
        if len(along) != 1:
            left = [d for d in array.dims if d in along]
            raise DimensionError(
                f"It is not clear which dim holds the items: {examples(map(repr, left)) or 'none'} is left of "
                f"{examples(map(repr, array.dims))}. Name it with item= (several as a list), and that of the samples with "
                "sample=; all others are kept."
            )
    reduced = along | sampled | (clustered if given is None else set())
    if given is not None:
        lacking = [d for d in array.dims if d in reduced and d not in given]
        if lacking:
            raise DimensionError(
                f"Items and samples lie along {examples(map(repr, lacking))}, which dim= does not reduce. Add it, or "
                "leave out dim=: the dims of item= and sample= are reduced by themselves."
            )
        reduced = given
    items = tuple(d for d in array.dims if d in along)
    repeats = tuple(d for d in array.dims if d in reduced and d not in along)
    item = named or [Named(array[items[0]], str(items[0]))]
    kept = tuple(d for d in array.dims if d not in reduced)
    return Parts(**found | {"item": item}, systems=None, items=items, repeats=repeats, kept=kept)


def _one_dim(named: Named, array: xr.DataArray, role: str) -> Hashable:
    """The dim of the scores that a name stands for."""
    if len(named.dims) != 1 or named.dims[0] not in array.dims:
        along = f"lies along {examples(map(repr, named.dims))}" if named.dims else "is a single value"
        raise DimensionError(
            f"{role}={named.name!r} must be a dim of the scores, or a coordinate along one of them; it {along}, and the "
            f"scores have {examples(map(repr, array.dims))}."
        )
    return named.dims[0]


def _items_of_pairs(
    found: dict[str, Any], systems: Hashable, sampled: DimNames, given: DimNames | None
) -> DimNames:
    """Dims of the items: those named, else those of the clusters, else the one that is left."""
    array, named, clusters = found["score"].array, found["item"], found["clusters"]
    if named:
        along = {d for one in named for d in one.dims}
        foreign = along - set(array.dims)
        who = examples(repr(one.name) for one in named)
        if foreign or not along:
            raise DimensionError(
                f"item={who} must lie along dims of the scores ({examples(map(repr, array.dims))}); it lies along "
                f"{examples(map(repr, foreign)) or 'none'}."
            )
        split = [d for d in array.dims if d in along] if given is not None and along & set(given) else []
        torn = [d for d in split if d not in (given or ())]
        if torn:
            raise DimensionError(
                f"item={who} lies along {examples(map(repr, split))}, of which dim= does not reduce "
                f"{examples(map(repr, torn))}. Add it to dim=, or name as item= what tells the questions apart within one "
                "of its labels."
            )
        return tuple(d for d in array.dims if d in along)
    if clusters:
        every = {d for one in clusters for d in one.dims}
        along = {d for d in every if d in array.dims and d != systems and (given is None or d in given)}
        if along:
            return tuple(d for d in array.dims if d in along)
        if given is not None and every & set(array.dims) - {systems}:
            raise DimensionError(
                f"The cluster {clusters[0].name!r} lies along {examples(map(repr, clusters[0].dims))}, none of which is in "
                f"dim={examples(map(repr, given))}, so every comparison would be within one cluster. Add it to dim=."
            )
    left = [d for d in (array.dims if given is None else given) if d != systems and d not in sampled]
    if len(left) == 1:
        return (left[0],)
    if not left:
        raise DimensionError(
            f"No dim is left for the items beside the factor {systems!r}; the scores have "
            f"{examples(map(repr, array.dims))}. Name theirs with item=."
        )
    longest = max(left, key=lambda d: array.sizes[d])
    raise DimensionError(
        f"It is not clear which of the dims {examples(map(repr, left))} holds the items. Name it with item=, as "
        f"item={longest!r}; dims of repeats go in sample=, and all others are kept unless dim= names them too."
    )


def _refuse_shared_dims(found: dict[str, Any], systems: Hashable, items: DimNames, sampled: DimNames) -> None:
    """No dim plays two parts."""
    array, factor = found["score"].array, found["factor"]
    if systems in items:
        name = ", ".join(repr(one.name) for one in found["item"]) or repr(systems)
        raise DimensionError(
            f"item={name} varies along {systems!r}, along which the systems lie, so no item would have the score of two "
            f"systems. The factor {factor.name!r} must be a dim of its own; where the scores lie in one long dim, go "
            "through .to_dataframe() and the frame's method of the same name."
        )
    for cluster in found["clusters"]:
        if systems in cluster.dims:
            raise DimensionError(
                f"The cluster {cluster.name!r} varies along {systems!r}, along which the systems lie; an item lies in one "
                f"cluster, whichever system answers it. Take it of one system, as with .isel({systems}=0), if it is the "
                "same for all."
            )
    for d in sampled:
        if d == systems or d in items:
            raise DimensionError(
                f"sample names {d!r}, along which the {'systems' if d == systems else 'items'} lie; it must be a dim of "
                f"its own. The scores have {examples(map(repr, array.dims))}."
            )


def _check_clusters(array: xr.DataArray, clusters: list[Named], items: DimNames, repeats: DimNames) -> None:
    for cluster in clusters:
        foreign = [d for d in cluster.dims if d not in array.dims]
        if foreign:
            raise DimensionError(
                f"The cluster {cluster.name!r} lies along {examples(map(repr, foreign))}, which the scores lack; theirs "
                f"are {examples(map(repr, array.dims))}."
            )
        torn = [d for d in cluster.dims if d in repeats]
        if torn:
            raise DimensionError(
                f"The cluster {cluster.name!r} varies along {torn[0]!r}, which is averaged within an item, so that an "
                f"item would lie in several clusters. If {torn[0]!r} belongs to the items, pass "
                f"item={(*items, *torn)!r}."
            )
    if clusters and not {d for one in clusters for d in one.dims} & set(items):
        raise DimensionError(
            f"The cluster {clusters[0].name!r} does not vary along the items ({examples(map(repr, items))}), so they all "
            "lie in one. Name what the items share, or leave out cluster= if they are independent."
        )


def _refuse_repeats(array: xr.DataArray, repeats: DimNames, items: DimNames) -> None:
    """McNemar's test wants one score for each item."""
    many = [d for d in repeats if array.sizes[d] != 1]
    if many:
        raise MethodError(
            f"mcnemar needs one score for each item, and {examples(map(repr, many))} would be reduced although it is no "
            f"dim of the items ({examples(map(repr, items))}). Leave it out of dim= for a test at each of its labels; "
            f"average with diff_ci or compare (sample={many[0]!r}); reduce to one score first, such as a majority vote; "
            f"or pass item={(*items, *many)!r} if each of its labels is a question of its own."
        )
