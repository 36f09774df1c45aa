"""Find what the caller named in a cube, and which dims are reduced."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

from evalci_accessor._crossing import check_listed, list_hint, refuse_ids
from evalci_accessor.exceptions import AlignmentError, ColumnNotFoundError, DimensionError, MethodError, examples

Cube: TypeAlias = xr.DataArray | xr.Dataset
Dims: TypeAlias = str | Iterable[Hashable] | EllipsisType | None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Named:
    """An array of the cube, and what to call it."""

    array: xr.DataArray
    name: str


def score_of(data: Cube, score: Any) -> Named:
    """The scores: the DataArray itself, or a variable of the Dataset."""
    if isinstance(data, xr.DataArray):
        return Named(data, str(data.name) if data.name is not None else "score")
    return find(data, score, "score")


def find(data: Cube, spec: Any, role: str) -> Named:
    """The coordinate or variable that ``spec`` names, or a DataArray that fits the cube."""
    if isinstance(spec, xr.DataArray):
        _check_alignment(data, spec, role)
        return Named(spec, role if spec.name is None else str(spec.name))
    if isinstance(spec, (np.ndarray, list, set, dict)) or not isinstance(spec, Hashable):
        raise MethodError(
            f"`{role}` must be the name of a coordinate or variable, or a DataArray with dims; got {type(spec).__name__}. "
            "Give an array its dims first, as with xarray.DataArray(values, dims='item')."
        )
    names = [name for name in (*data.coords, *getattr(data, "data_vars", ())) if isinstance(name, str)]
    if spec in data.coords or spec in getattr(data, "data_vars", ()) or spec in data.dims:
        return Named(data[spec], str(spec))
    import difflib

    close = difflib.get_close_matches(str(spec), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    hint = (list_hint(spec) if role == "cluster" else "") or hint
    raise ColumnNotFoundError(
        f"{role}={spec!r} is neither a coordinate nor a variable.{hint} Available: {examples(map(repr, names), 20)}. "
        f"Pass {role}=<name>."
    )


def clusterings_of(data: Cube, cluster: Any, score: Any) -> list[Named]:
    """The clustering, or the crossed ones, of which none is the score."""
    specs = list(cluster) if isinstance(cluster, (list, tuple)) else [cluster]
    refuse_ids(specs, "Give ids their dims first, as a DataArray with dims: xarray.DataArray(values, dims='item').")
    found = [find(data, spec, "cluster") for spec in specs]
    names = check_listed(specs, [one.name for one in found])
    if isinstance(score, str) and score in [spec for spec in specs if isinstance(spec, str)]:
        raise MethodError(f"cluster={score!r} is the score itself; name what the items share, such as a document's id.")
    return [one if one.name == name else Named(one.array, name) for one, name in zip(found, names, strict=True)]


def _check_alignment(data: Cube, array: xr.DataArray, role: str) -> None:
    for dim in array.dims:
        if dim not in data.sizes:
            raise DimensionError(
                f"`{role}` has the dim {dim!r}, which the data lack; theirs are {examples(map(repr, data.dims))}."
            )
        if array.sizes[dim] != data.sizes[dim]:
            raise AlignmentError(
                f"`{role}` has {array.sizes[dim]} entries along {dim!r} and the data {data.sizes[dim]}; they must cover each other."
            )
        if dim in array.indexes and dim in data.indexes and not array.indexes[dim].equals(data.indexes[dim]):
            extra = data.indexes[dim].difference(array.indexes[dim])
            raise AlignmentError(
                f"`{role}` and the data have different labels (or another order) along {dim!r}; {len(extra)} of the data's are "
                f"not in it ({examples(map(repr, extra))}). Use .reindex_like() first."
            )


def named_dims(score: xr.DataArray, dim: Dims, default: Iterable[Hashable] | None) -> tuple[Hashable, ...]:
    """Dims to reduce, in the score's order; ``default`` where the caller named none."""
    if dim is ...:
        return tuple(score.dims)
    if dim is None:
        if default is None:
            return _only_dim(score)
        wanted = set(default)
        foreign = wanted - set(score.dims)
        if foreign:
            raise DimensionError(
                f"The cluster lies along {examples(map(repr, foreign))}, which the scores lack; theirs are "
                f"{examples(map(repr, score.dims))}."
            )
    else:
        wanted = {dim} if isinstance(dim, str) or not isinstance(dim, Iterable) else set(dim)
        unknown = wanted - set(score.dims)
        if unknown:
            raise DimensionError(
                f"dim={examples(map(repr, unknown))} is not a dim of the scores; they have {examples(map(repr, score.dims))}."
            )
    if not wanted:
        raise DimensionError(
            f"No dim is left to reduce; name one or more of {examples(map(repr, score.dims))} with dim=. (`dim` names what is "
            "reduced, unlike the frame's `by`, which names what is kept.)"
        )
    return tuple(d for d in score.dims if d in wanted)


def _only_dim(score: xr.DataArray) -> tuple[Hashable, ...]:
    if score.ndim == 1:
        return tuple(score.dims)
    if score.ndim == 0:
        raise DimensionError("The scores are a single number; they need a dim along which the items lie.")
    raise DimensionError(
        f"The scores have {score.ndim} dims ({examples(map(repr, score.dims))}), and which of them to reduce is not told. Name "
        f"it with dim=, as dim={score.dims[-1]!r} or dim={tuple(score.dims[-2:])!r}. (`dim` names what is reduced, unlike the "
        "frame's `by`, which names what is kept.)"
    )
