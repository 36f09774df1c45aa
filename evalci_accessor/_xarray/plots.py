"""Pictures of cubes: the methods give the numbers, `evalci_accessor.plot` draws them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from evalci_accessor import plot
from evalci_accessor._options import CompareOptions, PlanOptions, RateOptions
from evalci_accessor._plots import (
    given_options,
    holds_result,
    need,
    of_sample,
    over_k,
    planned,
    refuse_no_method,
    refuse_options,
    refuse_several,
)
from evalci_accessor._scores import to_float, zero_or_one
from evalci_accessor._typing import NaiveMethod, NanPolicy, TooFew
from evalci_accessor._warn import examples, held
from evalci_accessor._xarray import methods, pairs, plan, repeated
from evalci_accessor._xarray.dims import Cube, Dims, clusterings_of, find, named_dims, score_of
from evalci_accessor._xarray.plot_accessor import DatasetPlots
from evalci_accessor._xarray.reduce import add_up, read_cells
from evalci_accessor.exceptions import DimensionError, MethodError
from evalci_accessor.plot._clusters import NEEDED
from evalci_accessor.plot._frame import DIFFERENCE, RATE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def forest(
    data: Cube, cluster: Any, *, score: Any, dim: Dims, weights: Any, nan_policy: NanPolicy, naive: Any, options: RateOptions,
    look: dict[str, Any],
) -> Axes:  # fmt: skip
    """Estimates with naive and honest intervals, as the accessor's picture of that name."""
    if holds_result(data, RATE, score):
        given = {"cluster": cluster, "score": score, "dim": dim, "weights": weights, "nan_policy": nan_policy}
        refuse_options("forest", DatasetPlots.forest, given | given_options(options))
        return plot.forest(data, naive=None if isinstance(naive, str) and naive == "auto" else naive, **look)
    need("forest", "cluster", cluster, RATE)
    honest = methods.cluster_ci(
        data, cluster, score=score, dim=dim, weights=weights, nan_policy=nan_policy, options=options
    )  # fmt: skip
    beside = naive_intervals(data, honest, score, weights, nan_policy, naive, options)
    return plot.forest(honest, naive=beside, **look)


def clusters(
    data: Cube, cluster: Any, *, score: Any, dim: Dims, weights: Any, nan_policy: NanPolicy, overall: Any, options: RateOptions,
    look: dict[str, Any],
) -> Axes:  # fmt: skip
    """Each cluster's rate and size, as the accessor's picture of that name."""
    if holds_result(data, NEEDED, score):
        given = {"cluster": cluster, "score": score, "dim": dim, "weights": weights, "nan_policy": nan_policy}
        refuse_options("clusters", DatasetPlots.clusters, given | given_options(options))
        return plot.clusters(data, overall=overall, **look)
    need("clusters", "cluster", cluster, NEEDED)
    if overall is not None:
        raise MethodError("overall= goes with a result; of scores the overall interval is computed.")
    scores = score_of(data, score)
    clusterings = clusterings_of(data, cluster, score)
    refuse_several(clusterings)
    reduced = named_dims(scores.array, dim, clusterings[0].array.dims)
    kept = [d for d in scores.array.dims if d not in reduced]
    if any(scores.array.sizes[d] != 1 for d in kept):
        raise DimensionError(
            f"plot.clusters shows the clusters of one group, and {examples(map(repr, kept))} would stay. Pick one, as with "
            f".sel({kept[0]}=...), or pool them with dim=."
        )
    interval = methods.cluster_ci(
        data, cluster, score=score, dim=dim, weights=weights, nan_policy=nan_policy, options=options
    )  # fmt: skip
    cells = read_cells(scores, reduced, None if weights is None else find(data, weights, "weights"), nan_policy)
    return plot.clusters(of_sample(add_up(cells, clusterings[0])), overall=interval, **look)


def differences(
    data: Cube, factor: Any, *, item: Any, cluster: Any, sample: Any, score: Any, dim: Dims, weights: Any, baseline: Any,
    pair_list: Any, correction_within: Any, unmatched: Any, nan_policy: NanPolicy, options: CompareOptions, look: dict[str, Any],
) -> Axes:  # fmt: skip
    """Differences of all pairs, as the accessor's picture of that name."""
    if holds_result(data, DIFFERENCE, score):
        given = {
            "factor": factor, "item": item, "cluster": cluster, "sample": sample, "score": score, "dim": dim, "weights": weights,
            "baseline": baseline, "pairs": pair_list, "correction_within": correction_within, "unmatched": unmatched,
            "nan_policy": nan_policy,
        }  # fmt: skip
        refuse_options("differences", DatasetPlots.differences, given | given_options(options))
        return plot.differences(data, **look)
    need("differences", "factor", factor, DIFFERENCE)
    result = pairs.compare(
        data, factor, item=item, cluster=cluster, sample=sample, score=score, dim=dim, weights=weights, baseline=baseline,
        pairs=pair_list, correction_within=correction_within, unmatched=unmatched, nan_policy=nan_policy, layout="pair",
        options=options,
    )  # fmt: skip
    return plot.differences(result, **look)


def pass_at_k(
    data: Cube, k: Any, *, measure: Any, item: Any, cluster: Any, sample: Any, score: Any, dim: Dims, weights: Any, nested: bool,
    too_few: TooFew, nan_policy: NanPolicy, options: RateOptions, look: dict[str, Any],
) -> Axes:  # fmt: skip
    """What k samples would score, as the accessor's picture of that name."""
    given = {
        "item": item, "cluster": cluster, "sample": sample, "score": score, "dim": dim, "weights": weights, "nested": nested,
        "too_few": too_few, "nan_policy": nan_policy, "measure": measure,
    }  # fmt: skip
    required = {"k": k}
    return over_k(
        data, DatasetPlots.pass_at_k, repeated.repeated, required=required, given=given, options=options, look=look
    )


def power(
    data: Cube, factor: Any, *, item: Any, cluster: Any, sample: Any, score: Any, dim: Dims, nested: bool, of_pair: dict[str, Any],
    nan_policy: NanPolicy, asked: dict[str, Any], options: PlanOptions, look: dict[str, Any],
) -> Axes:  # fmt: skip
    """What designs would reach, as the accessor's picture of that name."""
    given = {
        "item": item, "cluster": cluster, "sample": sample, "score": score, "dim": dim, "nan_policy": nan_policy,
    }  # fmt: skip
    return planned(
        data, factor, DatasetPlots.power, plan.half_width, plan.power, given=given, nested=nested, of_pair=of_pair, asked=asked,
        options=options, look=look,
    )  # fmt: skip


def coverage(data: xr.Dataset, look: dict[str, Any]) -> Axes:
    """Coverage in a simulation, as the accessor's picture of that name."""
    return plot.coverage(data, **look)


def naive_intervals(
    data: Cube, honest: xr.Dataset, score: Any, weights: Any, nan_policy: NanPolicy, naive: NaiveMethod | None,
    options: RateOptions,
) -> xr.Dataset | None:  # fmt: skip
    """The textbook intervals over the same dims: Wilson's of scores of 0 and 1, of others that of the mean, by Student's t."""
    if naive is None:
        return None
    refuse_no_method(naive)
    scores = score_of(data, score)
    array = scores.array
    reduced = [d for d in array.dims if d not in honest["estimate"].dims]
    with held():  # the honest interval said it already
        if naive != "auto" or zero_or_one(to_float(array.values.ravel(), scores.name)):
            return methods.proportion_ci(
                data, score=score, dim=reduced, weights=weights, method="wilson" if naive == "auto" else naive,
                alternative=options.alternative, confidence_level=options.confidence_level, nan_policy=nan_policy,
            )  # fmt: skip
        each = dataclasses.replace(options, method="cr1", df="clusters")
        shape = [array.sizes[d] for d in reduced]
        cells = xr.DataArray(np.arange(int(np.prod(shape))).reshape(shape), dims=reduced)
        alone = methods.cluster_ci(
            data, cells, score=score, dim=reduced, weights=weights, nan_policy=nan_policy, options=each
        )  # fmt: skip
        return alone.assign(cluster=((), ""), method=((), "t"))  # the cells are no clusters that anyone named
