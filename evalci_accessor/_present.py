"""From totals to the answer that a container shows: the checks, the statistic, and its columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor._findings import warn_findings, warn_missing, warn_mixed_scales, warn_percent, warn_sentinel, who
from evalci_accessor._options import RateOptions
from evalci_accessor._sample import Sample
from evalci_accessor.exceptions import examples, warn
from evalci_accessor.options import Alternative, IccMethod, ProportionMethod
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


def estimate(sample: Sample, options: RateOptions, posterior: Callable[[], AveragedPosterior] | None = None) -> RateResult:
    """Interval of each group, after the checks and with the warnings."""
    t = sample.totals
    if options.method in BINOMIAL_METHODS:
        refuse_open_scale(sample, options.method)
    outside = tail(options.confidence_level, options.alternative)
    refuse_single_clusters(sample)
    crossed = None if sample.crossing is None else sample.crossing.totals
    mo = moments(t) if crossed is None else crossed.moments
    result = rate(
        t, given=Given(mo=mo, crossed=crossed, posterior=posterior), method=options.method, df=options.df,
        alternative=options.alternative, confidence_level=options.confidence_level,
        n_resamples=options.n_resamples, rng=options.rng,
    )  # fmt: skip
    warn_missing(sample)
    warn_sentinel(sample.sentinel, sample.score_range[1])
    warn_mixed_scales(sample, options, result)
    if options.method == "auto":
        warn_percent(sample)
    warn_findings(sample, mo, result, options, outside)
    return result


def naive(sample: Sample, *, method: ProportionMethod, alternative: Alternative, confidence_level: float) -> RateResult:
    """Textbook interval of each group: every score counts for itself, and weighted ones are clusters of their own."""
    check_option(method, ProportionMethod, "method")
    refuse_open_scale(sample, method)
    result = proportion(sample.totals, method=method, alternative=alternative, confidence_level=confidence_level)
    warn_missing(dataclasses.replace(sample, n_lost=0))  # there are no clusters to lose
    if method == "wald":
        flat = np.flatnonzero(np.isin(np.ravel(result.estimate), (0, 1)))
        if len(flat):
            warn(
                f"{who(sample, flat)}all scores are equal, where the Wald interval has no width; that is no certainty. "
                "Use method='wilson'.",
                ex.DegenerateRateWarning,
            )
    return result


def effect(sample: Sample, icc_method: IccMethod, confidence_level: float) -> DesignResult:
    """Design effect of each group; nan where a group has a single cluster, which only a scan lets through."""
    if sample.crossing is not None:  # what there is to say was said of each clustering
        return crossed_design(sample.crossing.totals, icc_method=icc_method, confidence_level=confidence_level)
    result = design(sample.totals, icc_method=icc_method, confidence_level=confidence_level)
    unknown = np.isnan(np.ravel(result.icc)) & (sample.totals.n_clusters > 1)
    singletons = sample.totals.max(sample.totals.n.astype(float)) == 1
    lone = np.flatnonzero(unknown & singletons)
    if len(lone):
        warn(
            f"{who(sample, lone)}every cluster of {sample.cluster!r} holds one score, so it tells nothing about clustering. Is "
            "it the item's own id rather than what the items share?",
            ex.SingletonClusterWarning,
        )
    rare = rare_outcomes(sample.totals, moments(sample.totals))[0] & (sample.totals.n_clusters > 1) & ~unknown
    if rare.any():
        warn(
            f"{who(sample, np.flatnonzero(rare))}the rarer outcome occurs in fewer than {RARE_CLUSTERS} clusters of "
            f"{sample.cluster!r}, so the ICC and the design effect are little more than a guess.",
            ex.RareOutcomeWarning,
        )
    same = np.flatnonzero(unknown & ~singletons)
    if len(same):
        warn(
            f"{who(sample, same)}the ICC over {sample.cluster!r} cannot be estimated, since all scores are equal; the "
            "default interval of cluster_ci allows for any.",
            ex.DegenerateRateWarning,
        )
    return result


def together(crossed: Callable[[], Sample], clusterings: int) -> list[Sample]:
    """The one sample of all the clusterings that were named, if several of them are crossed, and no more than can be."""
    if clusterings < 2:
        return []
    try:
        sample = crossed()
    except ex.MethodError:  # too many to be crossed; each alone has a row all the same
        return []
    return [] if sample.crossing is None else [sample]


def rate_columns(result: RateResult, cluster: str | None) -> dict[str, Any]:
    """The fixed columns of an estimate, in their order."""
    return {name: cluster or "" if name == "cluster" else getattr(result, name) for name in ESTIMATE_COLUMNS}


def design_columns(result: DesignResult, cluster: str) -> dict[str, Any]:
    """The fixed columns of a design effect, in their order."""
    return {name: cluster if name == "cluster" else getattr(result, name) for name in DESIGN_COLUMNS}


def refuse_open_scale(sample: Sample, method: str) -> None:
    """Refuse scores beyond [0, 1] under a method for rates."""
    if sample.totals.bounded:
        return
    low, high = sample.score_range
    raise ex.ScoreRangeError(
        f"method={method!r} is for scores in [0, 1], and these run from {low:g} to {high:g}. Use cluster_ci with method='cr2' "
        "(its default for such scores), or bring the scores to [0, 1]; if some value marks a failed run (-1, say), set it to "
        "missing first."
    )


def refuse_single_clusters(sample: Sample) -> None:
    """Refuse groups whose scores all lie in one cluster, of any clustering."""
    for one in sample.clusterings:
        _refuse_single(one)


def _refuse_single(sample: Sample) -> None:
    single = np.flatnonzero(sample.totals.n_clusters == 1)
    if not len(single):
        return
    t = sample.totals
    first = sample.cluster_label(int(t.cluster[t.offsets[single[0]]]))
    where = "" if t.n_groups == 1 and not sample.group_label(0) else (
        f"{len(single)} of {t.n_groups} groups ({examples(map(sample.group_label, single.tolist()), between='; ')}): "
    )  # fmt: skip
    raise ex.ClusterError(
        f"{where}all scores lie in a single cluster of {sample.cluster!r}"
        f"{f' ({first!r})' if len(single) == 1 else ''}, from which no error between clusters can be told. "
        "At least two clusters are needed: use a finer clustering, leave such groups out, or use proportion_ci if the items "
        "really are independent."
    )
