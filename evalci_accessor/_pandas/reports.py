"""Reports of frames and Series: each method is called once, `evalci_accessor.report` puts the answers together."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from evalci_accessor._options import ReportOptions, Wording
from evalci_accessor._pandas import methods, pairs
from evalci_accessor._pandas.columns import Frame, find, listed
from evalci_accessor._pandas.plots import naive_intervals
from evalci_accessor._pandas.repeated import Roles, read_items
from evalci_accessor._present import ESTIMATE_COLUMNS
from evalci_accessor._scores import weights_to_float
from evalci_accessor._typing import NanPolicy, Unmatched
from evalci_accessor._warn import held
from evalci_accessor.exceptions import MethodError
from evalci_accessor.report import Report
from evalci_accessor.report._collect import Findings, Parts, Sampled, build, check


def report(
    data: Frame, cluster: Any, *, factor: Any, item: Any, sample: Any, score: Any, by: Any, weights: Any, baseline: Any,
    pair_list: Any, unmatched: Unmatched, nan_policy: NanPolicy, options: ReportOptions, wording: Wording,
) -> Report:  # fmt: skip
    """All results in one place, as the accessor's method of that name."""
    check(cluster, factor, pair_list, baseline, options, wording)
    if factor is not None and item is None:
        raise MethodError(
            "factor= names systems to compare, and item= must name what pairs their scores, the same for all of them. For scores "
            "without a comparison name the systems with by=."
        )
    if sample is not None and item is None:
        raise MethodError("sample= numbers the repeats of an item; name what tells the items apart with item=.")
    keys = [*listed(data, by), *([] if factor is None else [_key(data, factor)])] or None
    findings, counted, each = Findings(), None, weights
    if item is not None and (factor is None or sample is not None):
        roles = Roles(item=item, cluster=cluster, sample=sample, score=score, by=keys, weights=weights)

        def read() -> tuple[None, Sampled]:
            items = read_items(data, roles, reserved=(), nested=False, nan_policy=nan_policy)[2]
            return None, Sampled(
                groups=items.groups, n=items.n, per_entry=items.per_entry, n_groups=items.naming.n_groups, pooled=items.pooled
            )

        _, counted = findings.of_items(read)
        if counted.shares is not None:
            given = None if weights is None else find(data, weights, "weights")
            each = counted.shares * (1.0 if given is None else weights_to_float(given.values, given.name))
    rates = findings.of(
        "cluster_ci",
        lambda: methods.cluster_ci(
            data, cluster, score=score, by=keys, weights=each, nan_policy=nan_policy, options=options.rate
        ),
    )
    clustering = findings.of(
        "design_effect",
        lambda: methods.design_effect(
            data, cluster, score=score, by=keys, weights=each, icc_method="anova",
            confidence_level=options.confidence_level, nan_policy=nan_policy,
        ),
    )  # fmt: skip
    naive = naive_intervals(data, score, keys, each, nan_policy, "auto", options.rate)
    assert naive is not None

    def differences(*, clustered: bool) -> pd.DataFrame:
        shared: dict[str, Any] = {
            "item": item, "cluster": cluster if clustered else None, "sample": sample, "score": score, "by": by,
            "weights": weights, "baseline": baseline, "pairs": pair_list, "unmatched": unmatched, "nan_policy": nan_policy,
        }  # fmt: skip
        if options.margin is not None:
            return pairs.diff_ci(data, factor, options=options.diff(clustered=clustered), **shared)
        return pairs.compare(
            data, factor, correction_within=None, options=options.compare(clustered=clustered), **shared
        )  # fmt: skip

    comparison = beside = None
    if factor is not None:
        comparison = findings.of("compare" if options.margin is None else "diff_ci", lambda: differences(clustered=True))
        with held():  # the same findings once more
            beside = differences(clustered=False)
    own: list[Hashable] = [name for name in rates.columns if name not in ESTIMATE_COLUMNS]
    parts = Parts(
        score=find(data, score, "score").name,
        keys=own,
        rates=rates,
        naive=naive,
        clustering=clustering,
        comparison=comparison,
        beside=beside,
        findings=findings,
        counted=counted,
        weights=None if weights is None else find(data, weights, "weights").name,
    )
    return build(parts, options, wording)


def _key(data: Frame, factor: Any) -> Any:
    """The factor as a key of the scores, under the name that it has in comparisons."""
    if isinstance(factor, Hashable):
        return factor
    column = find(data, factor, "factor")
    return pd.Series(getattr(column.values, "array", column.values), index=data.index, name=column.label)
