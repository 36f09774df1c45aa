"""``plot`` on an accessor: pictures of raw scores, or of a result that a method gave."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeGuard, TypeVar, overload

import pandas as pd
import xarray as xr

from evalci_accessor import plot
from evalci_accessor._options import CompareOptions, PlanOptions, RateOptions
from evalci_accessor._sample import Sample
from evalci_accessor._typing import RepeatedMeasure
from evalci_accessor._warn import examples
from evalci_accessor.exceptions import MethodError
from evalci_accessor.plot._pass_at_k import NEEDED as OVER_K
from evalci_accessor.plot._power import KINDS
from evalci_accessor.stats._validate import check_option

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _HasObject(Protocol):
    _obj: Any


P = TypeVar("P")


class Plots(Generic[P]):
    """Makes ``accessor.plot`` the pictures of the accessor's object, and of the class the class, as pandas' own ``plot`` is."""

    def __init__(self, pictures: Callable[[Any], P]) -> None:
        self._pictures = pictures

    @overload
    def __get__(self, accessor: None, owner: Any) -> Callable[[Any], P]: ...
    @overload
    def __get__(self, accessor: _HasObject, owner: Any) -> P: ...
    def __get__(self, accessor: _HasObject | None, owner: Any) -> Callable[[Any], P] | P:
        return self._pictures if accessor is None else self._pictures(accessor._obj)


def holds_result(data: Any, needed: Sequence[str], score: Any) -> TypeGuard[pd.DataFrame | xr.Dataset]:
    """Whether the data are a result: they have its columns, and no score."""
    if isinstance(data, xr.Dataset):
        held = [*data.data_vars, *data.coords]
    elif isinstance(data, pd.DataFrame):
        held = [*data.columns, *data.index.names]
    else:
        return False
    return all(name in held for name in needed) and not (isinstance(score, str) and score in held)


def refuse_options(asked: str, method: Callable[..., Any], given: dict[str, Any]) -> None:
    """A result is drawn as it is: what says how to compute one has no say any more."""
    chosen = _chosen(method, given)
    if chosen:
        raise MethodError(
            f"plot.{asked} was called on a result, whose numbers it draws as they are; {examples(f'{name}=' for name in chosen)} "
            "would compute them anew. Pass that to the method that gives the result, or call plot on the scores themselves."
        )


def refuse_other_goal(
    factor: Any,
    method: Callable[..., Any],
    *,
    nested: bool,
    of_pair: dict[str, Any],
    asked: dict[str, Any],
    options: PlanOptions,
) -> None:
    """A half-width is planned for one rate, a power for two systems: what belongs to the other would be ignored."""
    pair_only = of_pair | {name: asked[name] for name in ("difference", "margin")}
    pair_only |= {name: getattr(options, name) for name in ("claim", "alternative")}
    rate_only = {"nested": nested, "n_sims": options.n_sims, "rng": options.rng}
    chosen = _chosen(method, pair_only if factor is None else rate_only)
    if not chosen:
        return
    listed = examples(f"{name}=" for name in chosen)
    if factor is None:
        raise MethodError(
            f"plot.power shows the half-width of one rate where no factor is named, and {listed} plans for two systems. Name the "
            "factor that tells them apart first, as plot.power('model', ...)."
        )
    raise MethodError(
        f"plot.power shows the power for two systems where a factor is named, as {factor!r} is, and {listed} plans for one rate. "
        "Leave the factor out for the half-width of a rate."
    )


def refuse_several(clusterings: Sequence[Any]) -> None:
    """Clusters stand side by side in one way."""
    if len(clusterings) > 1:
        raise MethodError(
            f"plot.clusters shows one clustering, and {len(clusterings)} were named; draw each on an Axes of its own."
        )


def refuse_no_method(naive: Any) -> None:
    """What is not the name of a method."""
    if not isinstance(naive, str):
        raise MethodError(
            "naive= takes a result only where plot.forest is called on one; on scores it is the name of a method."
        )


def over_k(
    data: Any, method: Callable[..., Any], repeated: Callable[..., Any], *, required: dict[str, Any], given: dict[str, Any],
    options: RateOptions, look: dict[str, Any],
) -> Axes:  # fmt: skip
    """The picture ``method`` of a result, or of what ``repeated`` answers; ``required`` has k and what scores need besides."""
    asked = required | given
    if holds_result(data, OVER_K, asked["score"]):
        refuse_options("pass_at_k", method, asked | given_options(options))
        return plot.pass_at_k(data, **look)
    for role, value in required.items():
        need("pass_at_k", role, value, OVER_K)
    check_option(asked["measure"], RepeatedMeasure, "measure")
    return plot.pass_at_k(repeated(data, **asked, options=options), **look)


def planned(
    data: Any, factor: Any, method: Callable[..., Any], half_width: Callable[..., Any], power: Callable[..., Any], *,
    given: dict[str, Any], nested: bool, of_pair: dict[str, Any], asked: dict[str, Any], options: PlanOptions, look: dict[str, Any],
) -> Axes:  # fmt: skip
    """The picture ``method`` of a result; else of what ``half_width`` answers, or ``power`` where there is a factor."""
    if any(holds_result(data, (kind, "n_clusters"), given["score"]) for kind in KINDS):
        chosen = {"factor": factor, "nested": nested} | given | of_pair | asked | given_options(options)
        refuse_options("power", method, chosen)
        return plot.power(data, **look)
    refuse_other_goal(factor, method, nested=nested, of_pair=of_pair, asked=asked, options=options)
    if factor is None:
        widths = {name: value for name, value in asked.items() if name not in ("difference", "margin")}
        return plot.power(half_width(data, asked=widths, options=options, nested=nested, **given), **look)
    return plot.power(power(data, factor, asked=asked, options=options, **given, **of_pair), **look)


def given_options(options: RateOptions | CompareOptions | PlanOptions) -> dict[str, Any]:
    """The options by their names."""
    return {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}


def need(asked: str, role: str, value: Any, needed: Sequence[str]) -> None:
    """Refuse raw scores for which the call does not say enough."""
    if value is None:
        raise MethodError(
            f"plot.{asked} needs {role}= where it is called on scores. (A result is drawn without it, and is told by its columns "
            f"{', '.join(map(repr, needed))}, which are not all here.)"
        )


def _chosen(method: Callable[..., Any], given: dict[str, Any]) -> list[str]:
    """Options that are not left at their defaults."""
    defaults = {name: one.default for name, one in inspect.signature(method).parameters.items()}
    return [name for name, value in given.items() if not _same(value, defaults[name])]


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (str, int, float)) and value == default)


def of_sample(sample: Sample) -> pd.DataFrame:
    """The clusters of one group as the result that `plot.clusters` draws."""
    t = sample.totals
    names = pd.Series([sample.cluster_label(int(code)) for code in t.cluster], dtype=object)
    # Weights have any scale; here they add up to the scores.
    weight = {"weight": t.m * (t.n.sum() / t.m.sum())} if t.weighted else {}
    name = str(sample.cluster)
    if name in ("estimate", "n", "weight"):  # as a column of its own; words leave the blank out
        name += " "
    return pd.DataFrame({name: names, "estimate": t.s / t.m, "n": t.n, **weight})
