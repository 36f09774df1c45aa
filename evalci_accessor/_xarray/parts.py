"""Which dims of a cube play which part when systems are compared: the factor, the items, the repeats, and those that stay."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from typing import Any

import xarray as xr

from evalci_accessor._crossing import JointIds, join_ids
from evalci_accessor._entries import Names
from evalci_accessor._ids import by_label, encode
from evalci_accessor._pairing import refuse_same_part
from evalci_accessor._xarray.dims import Cube, Dims, Named, clusterings_of, find, score_of
from evalci_accessor._xarray.reduce import ids_of
from evalci_accessor.exceptions import DimensionError, MethodError, examples


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """The dims of the scores by their part.

    Parameters
    ----------
    score : Named
    factor : Named
        Labels of the systems along ``systems``.
    item : list of Named
        What tells the items apart, along ``items``.
    cluster : Named or None
    systems : hashable
        The dim of the factor.
    items : tuple
        Dims of the items.
    repeats : tuple
        Dims that are averaged within the item.
    kept : tuple
        Dims that stay.
    sample : str or None
        What the caller called the repeats.
    averages : bool
    weights : Named or None
        Along some dims of the scores.
    clusters : list of Named
        The clusterings, one or several; ``cluster`` is what they make together.
    joint : JointIds or None
        Of several clusterings.
    """

    score: Named
    factor: Named
    item: list[Named]
    cluster: Named | None
    systems: Hashable
    items: tuple[Hashable, ...]
    repeats: tuple[Hashable, ...]
    kept: tuple[Hashable, ...]
    sample: str | None
    averages: bool
    weights: Named | None
    clusters: list[Named]
    joint: JointIds | None

    @property
    def names(self) -> Names:
        """Their names, for messages."""
        return Names(
            score=self.score.name, factor=self.factor.name, item=[one.name for one in self.item], averages=self.averages,
            cluster=None if self.cluster is None else self.cluster.name, sample=self.sample, entries="cells",
            weights=None if self.weights is None else self.weights.name, clusters=[one.name for one in self.clusters],
            lacking=[] if self.joint is None else self.joint.lacking,
        )  # fmt: skip


def find_parts(
    data: Cube,
    factor: Any,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    dim: Dims,
    *,
    averages: bool,
    weights: Any = None,
) -> Parts:
    """Find what the caller named, and what follows for the dims that were not named."""
    scores = score_of(data, score)
    array = scores.array
    item_specs, sample_specs = _several(item), _several(sample)
    parts = {
        "factor": [factor],
        "item": item_specs,
        "cluster": _several(cluster),
        "sample": sample_specs,
        "by": [],
        "weights": [weights],
    }
    refuse_same_part(
        {part: [n for n in given if isinstance(n, str)] for part, given in (parts | {"score": [score]}).items()}
    )
    systems = find(data, factor, "factor")
    along = _one_dim(systems, array, "factor")
    clusters = [] if cluster is None else clusterings_of(data, cluster, score)
    joint, clustering = None, clusters[0] if clusters else None
    if len(clusters) > 1:
        joint, clustering = _joined(clusters)
    sampled = tuple(dict.fromkeys(_one_dim(find(data, spec, "sample"), array, "sample") for spec in sample_specs))
    named = [find(data, spec, "item") for spec in item_specs]
    given = _given(array, dim, along)
    items = _item_dims(array, named, clustering, along, sampled, given)
    _check_parts(array, systems, along, named, items, clustering, sampled)
    reduced = {*items, *sampled, *(given or ())}
    repeats = tuple(d for d in array.dims if d in reduced and d not in items)
    _refuse_repeats(array, repeats, items, averages=averages)
    kept = tuple(d for d in array.dims if d not in reduced and d != along)
    if clustering is not None:
        _check_cluster(array, clustering, items, repeats)
    return Parts(
        score=scores, factor=systems, item=named or [Named(array[d], str(d)) for d in items], cluster=clustering, systems=along,
        items=items, repeats=repeats, kept=kept, sample=", ".join(map(str, sampled)) or None, averages=averages,
        weights=None if weights is None else find(data, weights, "weights"), clusters=clusters, joint=joint,
    )  # fmt: skip


def _joined(clusters: list[Named]) -> tuple[JointIds, Named]:
    """What several clusterings make together, along all their dims."""
    sizes = {d: size for one in clusters for d, size in one.array.sizes.items()}
    every = []
    for one in clusters:
        coded = by_label(encode(ids_of(one.array), one.name))
        codes = xr.DataArray(coded.codes.reshape(one.array.shape), dims=one.array.dims)
        absent = {d: size for d, size in sizes.items() if d not in one.array.dims}
        every.append(dataclasses.replace(coded, codes=codes.expand_dims(absent).transpose(*sizes).data))
    joint = join_ids([one.name for one in clusters], every)
    return joint, Named(xr.DataArray(joint.values, dims=tuple(sizes)), joint.name)


def _several(spec: Any) -> list[Any]:
    if spec is None:
        return []
    return list(spec) if isinstance(spec, (list, tuple)) else [spec]


def _one_dim(named: Named, array: xr.DataArray, role: str) -> Hashable:
    """The dim of the scores that a name stands for."""
    if named.array.ndim != 1 or named.array.dims[0] not in array.dims:
        along = f"lies along {examples(map(repr, named.array.dims))}" if named.array.ndim else "is a single value"
        raise DimensionError(
            f"{role}={named.name!r} must be a dim of the scores, or a coordinate along one of them; it {along}, and the scores "
            f"have {examples(map(repr, array.dims))}."
        )
    return named.array.dims[0]


def _given(array: xr.DataArray, dim: Dims, systems: Hashable) -> tuple[Hashable, ...] | None:
    """The dims that the caller wants reduced; ``...`` is all but the factor's."""
    if dim is None:
        return None
    if dim is ...:
        return tuple(d for d in array.dims if d != systems)
    wanted = [dim] if isinstance(dim, str) or not isinstance(dim, Iterable) else list(dim)
    unknown = [d for d in wanted if d not in array.dims]
    if unknown:
        raise DimensionError(
            f"dim={examples(map(repr, unknown))} is not a dim of the scores; they have {examples(map(repr, array.dims))}."
        )
    if systems in wanted:
        raise DimensionError(
            f"dim names {systems!r}, along which the systems lie that are compared; it cannot be reduced. Leave it out of dim=."
        )
    return tuple(wanted)


def _item_dims(
    array: xr.DataArray,
    named: list[Named],
    cluster: Named | None,
    systems: Hashable,
    sampled: tuple[Hashable, ...],
    given: tuple[Hashable, ...] | None,
) -> tuple[Hashable, ...]:
    """Dims of the items: those named, else those of the cluster, else the one that is left."""
    if named:
        along = {d for one in named for d in one.array.dims}
        foreign = along - set(array.dims)
        if foreign or not along:
            raise DimensionError(
                f"item={examples(repr(one.name) for one in named)} must lie along dims of the scores "
                f"({examples(map(repr, array.dims))}); it lies along {examples(map(repr, foreign)) or 'none'}."
            )
        split = [d for d in array.dims if d in along] if given is not None and along & set(given) else []
        torn = [d for d in split if d not in (given or ())]
        if torn:
            raise DimensionError(
                f"item={examples(repr(one.name) for one in named)} lies along {examples(map(repr, split))}, of which dim= does not "
                f"reduce {examples(map(repr, torn))}. Add it to dim=, or name as item= what tells the questions apart "
                "within one of its labels."
            )
        return tuple(d for d in array.dims if d in along)
    if cluster is not None:
        along = {d for d in cluster.array.dims if d in array.dims and d != systems and (given is None or d in given)}
        if along:
            return tuple(d for d in array.dims if d in along)
        if given is not None and set(cluster.array.dims) & set(array.dims) - {systems}:
            raise DimensionError(
                f"The cluster {cluster.name!r} lies along {examples(map(repr, cluster.array.dims))}, none of which is in "
                f"dim={examples(map(repr, given))}, so every comparison would be within one cluster. Add it to dim=."
            )
    left = [d for d in (array.dims if given is None else given) if d != systems and d not in sampled]
    if len(left) == 1:
        return (left[0],)
    if not left:
        raise DimensionError(
            f"No dim is left for the items beside the factor {systems!r}; the scores have {examples(map(repr, array.dims))}. "
            "Name theirs with item=."
        )
    longest = max(left, key=lambda d: array.sizes[d])
    raise DimensionError(
        f"Which of the dims {examples(map(repr, left))} holds the items is not told. Name it with item=, as item={longest!r}; "
        f"dims of repeats go in sample=, and all others are kept unless dim= names them too."
    )


def _check_parts(
    array: xr.DataArray,
    factor: Named,
    systems: Hashable,
    named: list[Named],
    items: tuple[Hashable, ...],
    cluster: Named | None,
    sampled: tuple[Hashable, ...],
) -> None:
    """No dim plays two parts."""
    if systems in items:
        name = ", ".join(repr(one.name) for one in named) or repr(systems)
        raise DimensionError(
            f"item={name} varies along {systems!r}, along which the systems lie, so no item would have the score of two "
            f"systems. The factor {factor.name!r} must be a dim of its own; where the scores lie in one long dim, go through "
            ".to_dataframe() and the frame's method of the same name."
        )
    if cluster is not None and systems in cluster.array.dims:
        raise DimensionError(
            f"The cluster {cluster.name!r} varies along {systems!r}, along which the systems lie; an item lies in one cluster, "
            f"whichever system answers it. Take it of one system, as with .isel({systems}=0), if it is the same for all."
        )
    for d in sampled:
        if d == systems or d in items:
            raise DimensionError(
                f"sample names {d!r}, along which the {'systems' if d == systems else 'items'} lie; it must be a dim of its own. "
                f"The scores have {examples(map(repr, array.dims))}."
            )


def _check_cluster(array: xr.DataArray, cluster: Named, items: tuple[Hashable, ...], repeats: tuple[Hashable, ...]) -> None:
    foreign = [d for d in cluster.array.dims if d not in array.dims]
    if foreign:
        raise DimensionError(
            f"The cluster {cluster.name!r} lies along {examples(map(repr, foreign))}, which the scores lack; theirs are "
            f"{examples(map(repr, array.dims))}."
        )
    torn = [d for d in cluster.array.dims if d in repeats]
    if torn:
        raise DimensionError(
            f"The cluster {cluster.name!r} varies along {torn[0]!r}, which is averaged within an item, so that an item would lie "
            f"in several clusters. If {torn[0]!r} belongs to the items, pass item={(*items, *torn)!r}."
        )
    if not set(cluster.array.dims) & set(items):
        raise DimensionError(
            f"The cluster {cluster.name!r} does not vary along the items ({examples(map(repr, items))}), so they all lie in one. "
            "Name what the items share, or leave out cluster= if they are independent."
        )


def _refuse_repeats(
    array: xr.DataArray, repeats: tuple[Hashable, ...], items: tuple[Hashable, ...], *, averages: bool
) -> None:
    """McNemar's test wants one score for each item."""
    several = [d for d in repeats if array.sizes[d] != 1]
    if averages or not several:
        return
    raise MethodError(
        f"mcnemar needs one score for each item, and {examples(map(repr, several))} would be reduced although it is no dim of "
        f"the items ({examples(map(repr, items))}). Leave it out of dim= for a test at each of its labels; average with diff_ci "
        f"or compare (sample={several[0]!r}); reduce to one score first, such as a majority vote; or pass "
        f"item={(*items, *several)!r} if each of its labels is a question of its own."
    )
