"""Pictures of scores: a method gives the numbers, `evalci_accessor.plot` draws them; a result is drawn as it is."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import evalci_accessor  # its plot is loaded with the first picture
from evalci_accessor.exceptions import DimensionError, MethodError, examples
from evalci_accessor.methods import rates
from evalci_accessor.options import RateOptions, Roles
from evalci_accessor.read.names import several
from evalci_accessor.read.tidy import cluster_rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def forest(accessor: Any, roles: Roles, options: RateOptions, naive: Any, look: dict[str, Any]) -> Axes:
    """Estimates with naive and honest intervals, of scores or of a result."""
    from evalci_accessor.plot._frame import RATE

    if _is_result(accessor, RATE, roles, options, "forest"):
        given = None if isinstance(naive, str) and naive == "auto" else naive
        return evalci_accessor.plot.forest(accessor._obj, naive=given, **look)
    honest = rates.cluster_ci(accessor._read.clustered(roles), options)
    beside = None if naive is None else rates.textbook(accessor._read, roles, naive, options)
    return evalci_accessor.plot.forest(honest, naive=beside, **look)


def clusters(accessor: Any, roles: Roles, options: RateOptions, overall: Any, look: dict[str, Any]) -> Axes:
    """Each cluster's rate and size, of scores or of a result."""
    from evalci_accessor.plot._clusters import NEEDED

    if _is_result(accessor, NEEDED, roles, options, "clusters"):
        return evalci_accessor.plot.clusters(accessor._obj, overall=overall, **look)
    if overall is not None:
        raise MethodError("overall= goes with a result; of scores the overall interval is computed.")
    if isinstance(roles.cluster, list) and len(several(roles.cluster)) > 1:
        raise MethodError(
            f"plot.clusters shows one clustering, and {len(roles.cluster)} were named; draw each on an Axes of its own."
        )
    read = accessor._read.clustered(roles)
    groups = read.found.totals.n_groups
    if groups != 1:
        labels = [read.found.group_label(h) for h in range(groups)]
        raise DimensionError(
            f"plot.clusters shows the clusters of one group, and {groups} would stay: {examples(labels, between='; ')}. "
            f"Pick one, as with .sel({labels[0]}), or pool them with dim=."
        )
    return evalci_accessor.plot.clusters(
        cluster_rates(read.found), overall=rates.cluster_ci(read, options), **look
    )


def _is_result(
    accessor: Any, needed: tuple[str, ...], roles: Roles, options: RateOptions, picture: str
) -> bool:
    """Whether the data are a result: they have its columns, and no score. What says how to compute one is then refused."""
    data = accessor._obj
    held = [*getattr(data, "data_vars", getattr(data, "columns", ()))]
    if held:  # a Series or a DataArray is its own score
        held += [*getattr(data, "coords", getattr(getattr(data, "index", None), "names", ()))]
    is_score = isinstance(roles.score, str) and roles.score in held
    if is_score or not all(name in held for name in needed):
        if roles.cluster is None:
            raise MethodError(
                f"plot.{picture} needs cluster= where it is called on scores. (A result is drawn without it, and is known "
                f"by its columns {', '.join(map(repr, needed))}, which are not all here.)"
            )
        return False
    chosen = [
        one.name
        for record in (roles, options)
        for one in dataclasses.fields(record)
        if not _same(getattr(record, one.name), one.default)
    ]
    if chosen:
        raise MethodError(
            f"plot.{picture} was called on a result, whose numbers it draws as they are; "
            f"{examples(f'{name}=' for name in chosen)} would compute them anew. Pass that to the method that gives the "
            "result, or call plot on the scores themselves."
        )
    return True


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (str, int, float)) and value == default)
