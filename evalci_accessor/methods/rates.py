"""Rates: the intervals of `proportion_ci` and `cluster_ci`, and the clusterings of `design_effect`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, held
from evalci_accessor.methods import rate_warnings as rw
from evalci_accessor.options import IccOptions, NaiveMethod, ProportionMethod, RateOptions, Roles
from evalci_accessor.read import Answer, Clusterings, Order, Read, Reader
from evalci_accessor.read.samples import Sample
from evalci_accessor.stats.rates.averaged import AveragedPosterior
from evalci_accessor.stats.rates.clustered import BINOMIAL_METHODS, Given, rate
from evalci_accessor.stats.rates.design import crossed_design, design
from evalci_accessor.stats.rates.moments import RARE_CLUSTERS, moments, rare_outcomes
from evalci_accessor.stats.rates.proportion import proportion
from evalci_accessor.stats.results import DesignResult, RateResult
from evalci_accessor.stats.validate import check_option, tail

ESTIMATE_COLUMNS = (
    "estimate", "std_error", "ci_low", "ci_high", "df", "n", "n_clusters", "cluster", "icc", "design_effect", "n_eff",
    "method", "confidence_level",
)  # fmt: skip
DESIGN_COLUMNS = (
    "cluster", "icc", "icc_low", "icc_high", "design_effect", "n_eff", "width_ratio", "n", "n_clusters",
    "effective_clusters", "largest_share", "size_min", "size_median", "size_max", "icc_method", "confidence_level",
)  # fmt: skip


def proportion_ci(read: Read[Sample, Answer], options: RateOptions) -> Answer:
    """Textbook intervals, as the accessor's method of that name."""
    read.write.refuse(*ESTIMATE_COLUMNS)
    return read.write(rate_columns(naive(read.found, options), None))


def cluster_ci(read: Read[Sample, Answer], options: RateOptions) -> Answer:
    """Intervals under clustering, as the accessor's method of that name."""
    read.write.refuse(*ESTIMATE_COLUMNS)
    return read.write(rate_columns(estimate(read.found, options), read.found.cluster))


def textbook(reader: Reader[Answer], roles: Roles, method: NaiveMethod, options: RateOptions) -> Answer:
    """The interval for independent scores that stands beside an honest one: by default Wilson's, else Student's t."""
    if not isinstance(method, str):
        raise ex.MethodError(
            "naive= takes a result only where plot.forest is called on one; on scores it is the name of a method."
        )
    with held():  # the honest interval warned of it already
        read = reader.scores(roles)
        totals = read.found.totals
        if method != "auto" or (totals.bounded and np.array_equal(totals.s, totals.ss)):
            name = "wilson" if method == "auto" else method
            return proportion_ci(read, dataclasses.replace(options, method=name))
        read = reader.each(roles)
        result = estimate(read.found, dataclasses.replace(options, method="cr1", df="clusters"))
        return read.write(rate_columns(result, None) | {"method": "t"})


def design_effect(read: Read[Clusterings, Answer], options: IccOptions) -> Answer:
    """Clusterings and their design effects, as the accessor's method of that name: the worst first."""
    read.write.refuse(*DESIGN_COLUMNS)
    found, samples = read.found, read.found.samples
    if found.named:
        for sample in samples:
            if sample.crossing is None:
                refuse_single_clusters(sample)
    else:
        samples = [sample for sample in samples if _is_informative(sample)]
    results = [effect(sample, options) for sample in samples]
    rw.warn_missing(found.plain)
    rw.warn_sentinel(found.plain.sentinel, found.plain.score_range[1])
    shape = (found.plain.totals.n_groups, len(samples))
    columns: dict[str, Any] = {}
    for name in DESIGN_COLUMNS[1:]:
        if name in ("icc_method", "confidence_level"):
            columns[name] = getattr(options, name)
            continue
        values = [np.ravel(getattr(result, name)) for result in results]
        whole = np.int64 if name in ("n", "n_clusters") else np.float64
        columns[name] = np.stack(values, axis=1) if values else np.empty(shape, dtype=whole)
    axes = {"cluster": {"cluster": np.array([sample.cluster or "" for sample in samples], dtype=str)}}
    order = None
    if columns["design_effect"].size:
        crossed = np.array([sample.crossing is not None for sample in samples])
        order = _worst_first(columns["design_effect"], crossed)
    return read.write(columns, axes, order)


def _worst_first(effect: Any, crossed: Any) -> Order:
    """Within each group all crossed clusterings together, then that with the largest design effect; nan last."""
    worst = np.where(np.isnan(effect), np.inf, -np.round(effect, 9))
    group = np.repeat(np.arange(len(effect)), len(crossed))
    rows = np.lexsort((worst.ravel(), np.tile(~crossed, len(effect)), group))
    return Order(rows=rows, along=np.lexsort((worst.min(axis=0), ~crossed)))


def _is_informative(sample: Sample) -> bool:
    """Whether in some group there are two clusters or more, and one of them holds several scores."""
    t = sample.totals
    return bool(((t.n_clusters > 1) & (t.max(t.n.astype(np.float64)) > 1)).any())


def estimate(
    sample: Sample, options: RateOptions, posterior: Callable[[], AveragedPosterior] | None = None
) -> RateResult:
    """Interval of each group, after the checks and with the warnings."""
    t = sample.totals
    if options.method in BINOMIAL_METHODS:
        refuse_open_scale(sample, options.method)
    outside = tail(options.confidence_level, options.alternative)
    refuse_single_clusters(sample)
    crossed = None if sample.crossing is None else sample.crossing.totals
    mo = moments(t) if crossed is None else crossed.moments
    result = rate(t, options, Given(mo=mo, crossed=crossed, posterior=posterior))
    rw.warn_missing(sample)
    rw.warn_sentinel(sample.sentinel, sample.score_range[1])
    rw.warn_mixed_scales(sample, options, result)
    if options.method == "auto":
        rw.warn_percent(sample)
    rw.warn_findings(sample, mo, result, options, outside)
    return result


def naive(sample: Sample, options: RateOptions) -> RateResult:
    """Textbook interval of each group: every score counts for itself, and weighted ones are clusters of their own."""
    method = options.method
    check_option(method, ProportionMethod, "method")
    refuse_open_scale(sample, method)
    result = proportion(sample.totals, options)
    rw.warn_missing(dataclasses.replace(sample, n_lost=0))  # there are no clusters to lose
    if method == "wald":
        text = "all scores are equal, where the Wald interval has no width; that is no certainty. Use method='wilson'."
        rw.tell(sample, np.isin(np.ravel(result.estimate), (0, 1)), ex.DegenerateRateWarning, text)
    return result


def effect(sample: Sample, options: IccOptions) -> DesignResult:
    """Design effect of each group; nan where a group has a single cluster, which only a scan lets through."""
    if sample.crossing is not None:  # what there is to say was said of each clustering
        return crossed_design(sample.crossing.totals, options)
    result = design(sample.totals, options)
    t, name = sample.totals, repr(sample.cluster)
    unknown = np.isnan(np.ravel(result.icc)) & (t.n_clusters > 1)
    singletons = t.max(t.n.astype(float)) == 1
    rw.tell(
        sample,
        unknown & singletons,
        ex.SingletonClusterWarning,
        f"every cluster of {name} holds one score, so it tells nothing about clustering. Is it the item's own id rather than "
        "what the items share?",
    )
    rw.tell(
        sample,
        rare_outcomes(t, moments(t))[0] & (t.n_clusters > 1) & ~unknown,
        ex.RareOutcomeWarning,
        f"the rarer outcome occurs in fewer than {RARE_CLUSTERS} clusters of {name}, so the ICC and the design effect are "
        "little more than a guess.",
    )
    rw.tell(
        sample,
        unknown & ~singletons,
        ex.DegenerateRateWarning,
        f"the ICC over {name} cannot be estimated, since all scores are equal; the default interval of cluster_ci allows for any.",
    )
    return result


def rate_columns(result: RateResult, cluster: str | None) -> dict[str, Any]:
    """The fixed columns of an estimate, in their order."""
    return {name: cluster or "" if name == "cluster" else getattr(result, name) for name in ESTIMATE_COLUMNS}


def refuse_open_scale(sample: Sample, method: str) -> None:
    """Refuse scores beyond [0, 1] under a method for rates."""
    if sample.totals.bounded:
        return
    low, high = sample.score_range
    counts = "if each is a count of passes, name what it is of with n=; "
    raise ex.ScoreRangeError(
        f"method={method!r} is for scores in [0, 1], and these run from {low:g} to {high:g}. Use cluster_ci with method='cr2' "
        f"(its default for such scores), or bring the scores to [0, 1]; {counts if low >= 0 else ''}if some value marks a failed "
        "run (-1, say), set it to missing first."
    )


def refuse_single_clusters(sample: Sample) -> None:
    """Refuse groups whose scores all lie in one cluster, of any clustering."""
    for one in sample.clusterings:
        t = one.totals
        single = np.flatnonzero(t.n_clusters == 1)
        if not len(single):
            continue
        first = one.cluster_label(int(t.cluster[t.offsets[single[0]]]))
        where = ""
        if t.n_groups > 1 or one.group_label(0):
            shown = examples(map(one.group_label, single.tolist()), between="; ")
            where = f"{len(single)} of {t.n_groups} groups ({shown}): "
        raise ex.ClusterError(
            f"{where}all scores lie in a single cluster of {one.cluster!r}"
            f"{f' ({first!r})' if len(single) == 1 else ''}, from which no error between clusters can be told. "
            "At least two clusters are needed: use a finer clustering, leave such groups out, or use proportion_ci if the "
            "items really are independent."
        )
