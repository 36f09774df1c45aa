"""Pictures of frames and Series: the methods give the numbers, `evalci_accessor.plot` draws them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor import plot
from evalci_accessor._options import CompareOptions, PlanOptions, RateOptions
from evalci_accessor._pandas import methods, pairs, plan, repeated
from evalci_accessor._pandas.columns import Frame, clusterings_of, find
from evalci_accessor._pandas.plot_accessor import FramePlots
from evalci_accessor._pandas.reduce import add_up, read_rows
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
from evalci_accessor._warn import held
from evalci_accessor.exceptions import MethodError
from evalci_accessor.plot._clusters import NEEDED
from evalci_accessor.plot._frame import DIFFERENCE, RATE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def forest(
    data: Frame, cluster: Any, *, score: Any, by: Any, weights: Any, nan_policy: NanPolicy, naive: Any, options: RateOptions,
    look: dict[str, Any],
) -> Axes:  # fmt: skip
    """Estimates with naive and honest intervals, as the accessor's picture of that name."""
    if holds_result(data, RATE, score):
        given = {"cluster": cluster, "score": score, "by": by, "weights": weights, "nan_policy": nan_policy}
        refuse_options("forest", FramePlots.forest, given | given_options(options))
        return plot.forest(data, naive=None if isinstance(naive, str) and naive == "auto" else naive, **look)
    need("forest", "cluster", cluster, RATE)
    honest = methods.cluster_ci(
        data, cluster, score=score, by=by, weights=weights, nan_policy=nan_policy, options=options
    )  # fmt: skip
    beside = naive_intervals(data, score, by, weights, nan_policy, naive, options)
    return plot.forest(honest, naive=beside, **look)


def clusters(
    data: Frame, cluster: Any, *, score: Any, weights: Any, nan_policy: NanPolicy, overall: Any, options: RateOptions,
    look: dict[str, Any],
) -> Axes:  # fmt: skip
    """Each cluster's rate and size, as the accessor's picture of that name."""
    if holds_result(data, NEEDED, score):
        given = {"cluster": cluster, "score": score, "weights": weights, "nan_policy": nan_policy}
        refuse_options("clusters", FramePlots.clusters, given | given_options(options))
        return plot.clusters(data, overall=overall, **look)
    need("clusters", "cluster", cluster, NEEDED)
    if overall is not None:
        raise MethodError("overall= goes with a result; of scores the overall interval is computed.")
    columns = clusterings_of(data, cluster, score)
    refuse_several(columns)
    interval = methods.cluster_ci(
        data, cluster, score=score, by=None, weights=weights, nan_policy=nan_policy, options=options
    )  # fmt: skip
    sample = add_up(data, read_rows(data, score, None, weights, nan_policy), columns[0])
    return plot.clusters(of_sample(sample), overall=interval, **look)


def differences(
    data: Frame, factor: Any, *, item: Any, cluster: Any, sample: Any, score: Any, by: Any, weights: Any, baseline: Any,
    pair_list: Any, correction_within: Any, unmatched: Any, nan_policy: NanPolicy, options: CompareOptions, look: dict[str, Any],
) -> Axes:  # fmt: skip
    """Differences of all pairs, as the accessor's picture of that name."""
    if holds_result(data, DIFFERENCE, score):
        given = {
            "factor": factor, "item": item, "cluster": cluster, "sample": sample, "score": score, "by": by, "weights": weights,
            "baseline": baseline, "pairs": pair_list, "correction_within": correction_within, "unmatched": unmatched,
            "nan_policy": nan_policy,
        }  # fmt: skip
        refuse_options("differences", FramePlots.differences, given | given_options(options))
        return plot.differences(data, **look)
    for role, value in (("factor", factor), ("item", item)):
        need("differences", role, value, DIFFERENCE)
    result = pairs.compare(
        data, factor, item=item, cluster=cluster, sample=sample, score=score, by=by, weights=weights, baseline=baseline,
        pairs=pair_list, correction_within=correction_within, unmatched=unmatched, nan_policy=nan_policy, options=options,
    )  # fmt: skip
    return plot.differences(result, **look)


def pass_at_k(
    data: Frame, k: Any, *, measure: Any, item: Any, cluster: Any, sample: Any, score: Any, by: Any, weights: Any, nested: bool,
    too_few: TooFew, nan_policy: NanPolicy, options: RateOptions, look: dict[str, Any],
) -> Axes:  # fmt: skip
    """What k samples would score, as the accessor's picture of that name."""
    given = {
        "cluster": cluster, "sample": sample, "score": score, "by": by, "weights": weights, "nested": nested,
        "too_few": too_few, "nan_policy": nan_policy, "measure": measure,
    }  # fmt: skip
    required = {"k": k, "item": item}
    return over_k(data, FramePlots.pass_at_k, repeated.repeated, required=required, given=given, options=options, look=look)


def power(
    data: Frame, factor: Any, *, item: Any, cluster: Any, sample: Any, score: Any, by: Any, nested: bool, of_pair: dict[str, Any],
    nan_policy: NanPolicy, asked: dict[str, Any], options: PlanOptions, look: dict[str, Any],
) -> Axes:  # fmt: skip
    """What designs would reach, as the accessor's picture of that name."""
    given = {
        "item": item, "cluster": cluster, "sample": sample, "score": score, "by": by, "nan_policy": nan_policy,
    }  # fmt: skip
    return planned(
        data, factor, FramePlots.power, plan.half_width, plan.power, given=given, nested=nested, of_pair=of_pair, asked=asked,
        options=options, look=look,
    )  # fmt: skip


def coverage(data: pd.DataFrame, look: dict[str, Any]) -> Axes:
    """Coverage in a simulation, as the accessor's picture of that name."""
    return plot.coverage(data, **look)


def naive_intervals(
    data: Frame, score: Any, by: Any, weights: Any, nan_policy: NanPolicy, naive: NaiveMethod | None, options: RateOptions
) -> pd.DataFrame | None:
    """The textbook intervals: Wilson's of scores of 0 and 1, of others that of the mean, by Student's t."""
    if naive is None:
        return None
    refuse_no_method(naive)
    scores = find(data, score, "score")
    with held():  # the honest interval said it already
        if naive != "auto" or zero_or_one(to_float(scores.values, scores.name)):
            return methods.proportion_ci(
                data, score=score, by=by, weights=weights, method="wilson" if naive == "auto" else naive,
                alternative=options.alternative, confidence_level=options.confidence_level, nan_policy=nan_policy,
            )  # fmt: skip
        each = dataclasses.replace(options, method="cr1", df="clusters")
        rows = np.arange(len(data))
        alone = methods.cluster_ci(data, rows, score=score, by=by, weights=weights, nan_policy=nan_policy, options=each)
        return alone.assign(cluster="", method="t")  # the rows are no clusters that anyone named
