"""From totals to the answer that a container shows: the checks, the statistic, and its warnings in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor._options import RateOptions
from evalci_accessor._typing import Alternative, IccMethod, ProportionMethod
from evalci_accessor._warn import examples, warn
from evalci_accessor.stats import diagnose as dg
from evalci_accessor.stats._results import DesignResult, RateResult
from evalci_accessor.stats._validate import IntArray, check_level, check_option, tail
from evalci_accessor.stats.clustered import BINOMIAL_METHODS, rate, resolve_method
from evalci_accessor.stats.design import design
from evalci_accessor.stats.moments import RARE_CLUSTERS, Moments, moments, rare_outcomes
from evalci_accessor.stats.proportion import independent_result, one_sided, proportion_limits
from evalci_accessor.stats.totals import ClusterTotals

ESTIMATE_COLUMNS = (
    "estimate", "std_error", "ci_low", "ci_high", "df", "n", "n_clusters", "cluster", "icc", "design_effect", "n_eff",
    "method", "confidence_level",
)  # fmt: skip
DESIGN_COLUMNS = (
    "cluster", "icc", "icc_low", "icc_high", "design_effect", "n_eff", "width_ratio", "n", "n_clusters",
    "effective_clusters", "largest_share", "size_min", "size_median", "size_max", "icc_method", "confidence_level",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """What a container hands up: the totals, and the words to speak of them.

    Parameters
    ----------
    totals : ClusterTotals
    cluster : str or None
        Name of the clustering; None where each score stands for itself.
    cluster_label : callable
        The id of a cluster code.
    group_label : callable
        Words for a group, as "model='A'"; empty for the only one.
    n_missing : ndarray of int, shape (H,)
        Scores left out.
    n_lost : int
        Clusters that lost all their scores.
    score_range : tuple of float
        Least and greatest score; nan without scores.
    sentinel : tuple or None
        A negative value that looks like a mark rather than a score, and how often it occurs.
    hint : str
        What else could be meant where every cluster holds one score.
    """

    totals: ClusterTotals
    cluster: str | None
    cluster_label: Callable[[int], Any]
    group_label: Callable[[int], str]
    n_missing: IntArray
    n_lost: int
    score_range: tuple[float, float]
    sentinel: tuple[float, int] | None
    hint: str = ""


def estimate(sample: Sample, options: RateOptions) -> RateResult:
    """Interval of each group, after the checks and with the warnings."""
    t = sample.totals
    if options.method in BINOMIAL_METHODS:
        _refuse_open_scale(sample, options.method)
    resolve_method(options.method, bounded=t.bounded)
    outside = tail(options.confidence_level, options.alternative)
    refuse_single_clusters(sample)
    mo = moments(t)
    result = rate(
        t, mo=mo, method=options.method, df=options.df, alternative=options.alternative,
        confidence_level=options.confidence_level, n_resamples=options.n_resamples, rng=options.rng,
    )  # fmt: skip
    warn_missing(sample)
    warn_sentinel(sample)
    _warn_mixed_scales(sample, options, result)
    _warn_of(sample, mo, result, options, outside)
    return result


def naive(sample: Sample, *, method: ProportionMethod, alternative: Alternative, confidence_level: float) -> RateResult:
    """Textbook interval of each group: the totals hold a single cluster a group, and every score counts for itself."""
    check_option(method, ProportionMethod, "method")
    outside, level = tail(confidence_level, alternative), check_level(confidence_level)
    t = sample.totals
    _refuse_open_scale(sample, method)
    mo = moments(t)
    limits = proportion_limits(mo.p, mo.n, method, outside)
    low, high = one_sided(*limits, alternative)
    with np.errstate(invalid="ignore"):
        std_error = np.where((mo.p > 0) & (mo.p < 1), np.sqrt(mo.srs_variance), np.nan)
    flat = independent_result(mo.p, std_error, low, high, mo.n, method=method, confidence_level=level)
    shaped: dict[str, Any] = {
        field.name: np.reshape(getattr(flat, field.name), t.shape)
        for field in dataclasses.fields(flat)
        if isinstance(getattr(flat, field.name), np.ndarray)
    }
    result = dataclasses.replace(flat, **shaped)
    warn_missing(sample)
    if method == "wald":
        empty = np.flatnonzero((mo.n > 0) & ((mo.p <= 0) | (mo.p >= 1)))
        if len(empty):
            warn(
                f"{_who(sample, empty)}all scores are equal, where the Wald interval has no width; that is no certainty. "
                "Use method='wilson'.",
                ex.DegenerateRateWarning,
            )
    return result


def effect(sample: Sample, icc_method: IccMethod, confidence_level: float) -> DesignResult:
    """Design effect of each group; nan where a group has a single cluster, which only a scan lets through."""
    result = design(sample.totals, icc_method=icc_method, confidence_level=confidence_level)
    unknown = np.isnan(np.ravel(result.icc)) & (sample.totals.n_clusters > 1)
    singletons = sample.totals.max(sample.totals.n.astype(float)) == 1
    lone = np.flatnonzero(unknown & singletons)
    if len(lone):
        warn(
            f"{_who(sample, lone)}every cluster of {sample.cluster!r} holds one score, so it tells nothing about clustering. Is "
            "it the item's own id rather than what the items share?",
            ex.SingletonClusterWarning,
        )
    rare = rare_outcomes(sample.totals, moments(sample.totals))[0] & (sample.totals.n_clusters > 1) & ~unknown
    if rare.any():
        warn(
            f"{_who(sample, np.flatnonzero(rare))}the rarer outcome occurs in fewer than {RARE_CLUSTERS} clusters of "
            f"{sample.cluster!r}, so the ICC and the design effect are little more than a guess.",
            ex.RareOutcomeWarning,
        )
    same = np.flatnonzero(unknown & ~singletons)
    if len(same):
        warn(
            f"{_who(sample, same)}the ICC over {sample.cluster!r} cannot be estimated, since all scores are equal; the "
            "default interval of cluster_ci allows for any.",
            ex.DegenerateRateWarning,
        )
    return result


def rate_columns(result: RateResult, cluster: str | None) -> dict[str, Any]:
    """The fixed columns of an estimate, in their order."""
    return {name: cluster or "" if name == "cluster" else getattr(result, name) for name in ESTIMATE_COLUMNS}


def design_columns(result: DesignResult, cluster: str) -> dict[str, Any]:
    """The fixed columns of a design effect, in their order."""
    return {name: cluster if name == "cluster" else getattr(result, name) for name in DESIGN_COLUMNS}


def _refuse_open_scale(sample: Sample, method: str) -> None:
    if sample.totals.bounded:
        return
    low, high = sample.score_range
    raise ex.ScoreRangeError(
        f"method={method!r} is for scores in [0, 1], and these run from {low:g} to {high:g}. Use cluster_ci with method='cr2' "
        "(its default for such scores), or bring the scores to [0, 1]; if some value marks a failed run (-1, say), set it to "
        "missing first."
    )


def refuse_single_clusters(sample: Sample) -> None:
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


def _who(sample: Sample, groups: Any) -> str:
    """The groups that a warning speaks of, as its first words."""
    groups = [int(h) for h in groups]
    if len(groups) == 1:
        label = sample.group_label(groups[0])
        return f"{label}: " if label else ""
    return f"{len(groups)} of {sample.totals.n_groups} groups ({examples(map(sample.group_label, groups), between='; ')}): "


def warn_missing(sample: Sample) -> None:
    """Say how many scores were left out, and what the estimate could have been."""
    total = int(sample.n_missing.sum())
    if not total:
        return
    t = sample.totals
    groups = np.flatnonzero(sample.n_missing)
    rows = t.sum(t.n.astype(float)).astype(int)
    parts = []
    for h in groups[:5].tolist():
        label, kept, gone = sample.group_label(h), rows[h], int(sample.n_missing[h])
        text = f"{gone} of {kept + gone}" + (f" in {label}" if label else "")
        if t.bounded and not t.weighted:
            passed = t.s[t.offsets[h] : t.offsets[h + 1]].sum()
            low, high = passed / (kept + gone), (passed + gone) / (kept + gone)
            text += f" (were they all 0 or all 1, the estimate would be {low:.4g} or {high:.4g})"
        parts.append(text)
    more = f", and {len(groups) - 5} more groups" if len(groups) > 5 else ""
    empty = int((rows == 0).sum())
    notes = f" {sample.n_lost} cluster(s) lost all their scores." if sample.n_lost else ""
    notes += f" {empty} group(s) are left without a score; their row is nan with n=0." if empty else ""
    warn(f"Missing scores were left out: {', '.join(parts)}{more}.{notes}", ex.MissingScoreWarning)


def _warn_mixed_scales(sample: Sample, options: RateOptions, result: RateResult) -> None:
    """Say that groups of rates share the method of a group on another scale."""
    t = sample.totals
    if options.method != "auto" or t.bounded or t.n_groups == 1:
        return
    # Sums can only show the groups that certainly reach outside; the others may be rates.
    beyond = t.sum(((t.s < 0) | (t.s > t.m) | (t.ss > t.s)).astype(np.float64)) > 0
    inside = (t.n_clusters > 0) & ~beyond
    if inside.any():
        warn(
            f"{_who(sample, np.flatnonzero(inside))}all scores lie in [0, 1], but others of this call run from "
            f"{sample.score_range[0]:g} to {sample.score_range[1]:g}, so {result.method} was used for all as for one open scale. "
            "Where these are rates, ask for them in a call of their own.",
            ex.MixedScaleWarning,
        )


def warn_sentinel(sample: Sample) -> None:
    """Say that a negative value may be a mark of a failed run."""
    if sample.sentinel is not None:
        value, count = sample.sentinel
        warn(
            f"{count} score(s) are {value:g} while all others are 0 or more. Where that marks a failed run or parse, it is no "
            f"score: set it to missing, as with .replace({value:g}, float('nan')), and choose a nan_policy.",
            ex.SentinelScoreWarning,
        )


def _warn_of(sample: Sample, mo: Moments, result: RateResult, options: RateOptions, outside: float) -> None:
    found = dg.diagnose(sample.totals, mo, result)
    two_sided = options.alternative == "two-sided"

    def tell(flags: np.ndarray, category: type[ex.EvalCIWarning], one: Callable[[int], str], many: str) -> None:
        groups = np.flatnonzero(flags)
        if len(groups):
            warn(_who(sample, groups) + (one(int(groups[0])) if len(groups) == 1 else many), category)

    def few(h: int) -> str:
        clusters, effective = int(sample.totals.n_clusters[h]), found.effective_clusters[h]
        text = (
            f"few clusters ({clusters}"
            if effective > 0.99 * clusters
            else f"few effective clusters ({effective:.2g} of {clusters}"
        )
        text += f", {found.df[h]:.2g} degree{'s' if found.df[h] > 1.05 else ''} of freedom)"
        if result.method != "icc_averaged":
            return text + ", where t and bootstrap intervals are unreliable; the default method is made for this."
        text += ", so the interval leans on the prior of the ICC."
        if two_sided:
            limits = [dg.sensitivity(sample.totals, h, icc, outside) for icc in (0.1, 1.0)]
            shown = [f"[{low:.3g}, {high:.3g}] at ICC {icc}" for (low, high), icc in zip(limits, (0.1, 1), strict=True)]
            text += f" Were the ICC known it would be {' and '.join(shown)}."
        return text

    tell(
        found.few, ex.FewClustersWarning, few,
        "fewer than 5 effective clusters of "
        f"{sample.cluster!r} (or under 4 degrees of freedom), so the intervals lean on assumptions more than on data.",
    )  # fmt: skip
    tell(
        found.dominant, ex.DominantClusterWarning,
        lambda h: f"the largest cluster of {sample.cluster!r}, {sample.cluster_label(int(found.largest[h]))!r}, holds "
        f"{found.largest_share[h]:.1%} of the items, so it weighs as much in the estimate.",
        f"one cluster of {sample.cluster!r} holds over 25% of the items.",
    )  # fmt: skip
    tell(
        found.degenerate, ex.DegenerateRateWarning,
        lambda h: _degenerate_text(sample, result, h),
        "all scores, or all cluster rates, are equal, so the data cannot tell how clustered they are.",
    )  # fmt: skip
    tell(
        found.rare & ~found.degenerate, ex.RareOutcomeWarning,
        lambda h: f"the rarer outcome occurs in {found.rare_clusters[h]} cluster(s) only; a cluster of the kind that was "
        "not seen could move the rate.",
        f"the rarer outcome occurs in fewer than 5 clusters of {sample.cluster!r}.",
    )  # fmt: skip
    tell(
        found.guard, ex.InformativeSizeWarning,
        lambda h: "the clusters vary by more than one ICC explains (correlation of rate and size "
        f"{found.size_correlation[h]:+.2f}), so the interval was widened to Korn and Graubard's on CR2.",
        "the clusters vary by more than one ICC explains, so the intervals were widened to Korn and Graubard's on CR2.",
    )  # fmt: skip
    tell(
        found.singletons, ex.SingletonClusterWarning,
        lambda _: f"every cluster of {sample.cluster!r} holds one score, so the scores count as independent. Is it the item's "
        f"own id rather than what the items share?{sample.hint}",
        f"every cluster of {sample.cluster!r} holds one score, so the scores count as independent.",
    )  # fmt: skip
    tell(
        found.fallback, ex.EffectiveSizeWarning,
        lambda h: f"the variance that {result.method} estimates is zero, which is no certainty: the interval counts each "
        f"cluster as one item (n_eff = {found.effective_clusters[h]:.4g}).",
        f"the variance that {result.method} estimates is zero, which is no certainty: each cluster counts as one item.",
    )  # fmt: skip
    tell(
        found.unreliable_bootstrap, ex.BootstrapWarning,
        lambda h: _bootstrap_text(sample, options, found, h),
        "a cluster bootstrap is known to be too narrow below 30 effective clusters, or where fewer than 5 of them would "
        "hold the rarer outcome. Compare with the default method.",
    )  # fmt: skip


def _degenerate_text(sample: Sample, result: RateResult, h: int) -> str:
    value = float(np.ravel(result.estimate)[h])
    spread = sample.totals.one(h)
    constant = bool(np.isclose(spread.ss.sum() * spread.m.sum(), spread.s.sum() ** 2, rtol=1e-12))
    what = f"all scores are {value:g}" if constant else f"every cluster has the rate {value:.4g}"
    if constant and not sample.totals.bounded:
        return f"{what}, and on an open scale no interval follows from that."
    if result.method == "icc_averaged":
        return f"{what}, so the data cannot tell how clustered they are; the interval leans on the prior of the ICC."
    return f"{what}, so the data cannot tell how clustered they are."


def _bootstrap_text(sample: Sample, options: RateOptions, found: dg.Diagnosis, h: int) -> str:
    default = rate(
        sample.totals.one(h), alternative=options.alternative, confidence_level=options.confidence_level
    )  # fmt: skip
    return (
        f"a cluster bootstrap with {found.effective_clusters[h]:.3g} effective clusters is known to be too narrow (it needs "
        "30, and 5 that would hold the rarer outcome). The default gives "
        f"[{float(default.ci_low):.4g}, {float(default.ci_high):.4g}]."
    )
