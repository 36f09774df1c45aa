"""A report: each method is called once, and `evalci_accessor.report`, loaded here, puts the answers together."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from evalci_accessor import options as opt
from evalci_accessor.exceptions import MethodError, held
from evalci_accessor.methods import pairs, rates
from evalci_accessor.methods.pairs import refuse_without_factor
from evalci_accessor.read import Reader
from evalci_accessor.read.items import Items

if TYPE_CHECKING:
    import pandas as pd

    from evalci_accessor.report import Report


def report(reader: Reader[Any], roles: opt.Roles, options: opt.ReportOptions, wording: opt.Wording) -> Report:
    """All results in one place, as the accessor's method of that name."""
    from evalci_accessor.report._report import Findings, Parts, Sampled, build, check

    check(roles.cluster, options, wording)
    _check(reader, roles, options)
    tall, own = reader.tall(roles), reader.of_systems(roles)
    findings, counted = Findings(), None
    if reader.has_items(own) and (roles.factor is None or roles.sample is not None):

        def read() -> tuple[Items, Sampled]:
            items = tall.items(own).found
            return items, Sampled(items.groups, items.n, items.per_entry, items.names.n_groups, items.pooled)

        items, counted = findings.of_items(read)
        if counted.shares is not None:
            own = dataclasses.replace(own, weights=items.spread(counted.shares))
    of_rates = opt.RateOptions.of(options.fields())
    scored = findings.of("cluster_ci", lambda: rates.cluster_ci(tall.clustered(own), of_rates))
    of_icc = opt.IccOptions(confidence_level=options.confidence_level)
    clustering = findings.of("design_effect", lambda: rates.design_effect(tall.clusterings(own), of_icc))
    naive = rates.textbook(tall, own, "auto", of_rates)
    comparison = beside = None
    if roles.factor is not None:
        name = "compare" if options.margin is None else "diff_ci"
        comparison = findings.of(name, lambda: _differences(tall, roles, options))
        with held():  # the same findings once more
            alone = dataclasses.replace(roles, cluster=None, item=own.item)
            beside = _differences(tall, alone, options)
    parts = Parts(
        score=reader.name(roles.score, "score"),
        keys=[name for name in scored.columns if name not in rates.ESTIMATE_COLUMNS],
        rates=scored,
        naive=naive,
        clustering=clustering,
        comparison=comparison,
        beside=beside,
        findings=findings,
        counted=counted,
        weights=None if roles.weights is None else reader.name(roles.weights, "weights"),
    )
    return build(parts, options, wording)


def _check(reader: Reader[Any], roles: opt.Roles, options: opt.ReportOptions) -> None:
    """Refuse what does not go together, before anything is computed."""
    if roles.n is not None and not roles.factor is roles.item is roles.sample is None:
        raise MethodError(
            "n= makes each row a count of passes, and factor=, item= and sample= need a row a score. Leave n= out and repeat the "
            "rows, or leave these out for rates alone, with by= for the systems."
        )
    if roles.factor is None:
        refuse_without_factor(dataclasses.replace(roles, item=None, sample=None))
        if options.margin is not None or options.claim is not None:
            raise MethodError(
                "margin= and claim= belong to a comparison; name what tells the systems apart with factor=."
            )
    if not reader.needs_item or roles.item is not None:
        return
    if roles.factor is not None:
        raise MethodError(
            "factor= names systems to compare, and item= must name what pairs their scores, the same for all of them. For "
            "scores without a comparison name the systems with by=."
        )
    if roles.sample is not None:
        raise MethodError(
            "sample= numbers the repeats of an item; name what tells the items apart with item=."
        )


def _differences(reader: Reader[pd.DataFrame], roles: opt.Roles, options: opt.ReportOptions) -> pd.DataFrame:
    """The comparisons; without clusters by the default method, and with the p-values of the intervals as with them."""
    clustered = roles.cluster is not None
    own = options.fields() | {"method": options.diff_method if clustered else "auto"}
    if options.margin is not None:
        return pairs.diff_ci(reader.pairs(roles), opt.DiffOptions.of(own))
    own["test"] = "auto" if clustered else "interval"
    return pairs.compare(reader.pairs(roles), opt.CompareOptions.of(own))
