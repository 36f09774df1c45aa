"""The warnings, in words: what a reader of an interval should know, each naming the group that it speaks of."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, warn
from evalci_accessor.options import RateOptions
from evalci_accessor.read.samples import Sample
from evalci_accessor.stats.rates import design as dg
from evalci_accessor.stats.rates.clustered import Given, rate
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.rates.moments import Moments, moments
from evalci_accessor.stats.results import RateResult
from evalci_accessor.stats.validate import BoolArray

NEGATIVE = (
    "is negative, as it can be with few clusters; the larger of the clusterings' own variances stands in"
)
SHORT = "is less than that of one of the clusterings alone, a chance of few clusters, so the interval may be too narrow"
_OF_CR2 = "std_error, df, n_eff and design_effect are CR2's too."
PERCENT = 100.0  # the score of a pass where logs write rates in percent


def who(sample: Sample, groups: Any) -> str:
    """The groups that a warning speaks of, as its first words."""
    return which(groups, sample.totals.n_groups, sample.group_label)


def tell(sample: Sample, groups: BoolArray, category: type[ex.EvalCIWarning], text: str) -> None:
    """Warn of those groups, if there are any."""
    if groups.any():
        warn(who(sample, np.flatnonzero(groups)) + text, category)


def which(groups: Any, n_groups: int, label: Callable[[int], str]) -> str:
    """The same of groups by number, out of so many."""
    numbers = [int(h) for h in groups]
    if len(numbers) == 1:
        return f"{label(numbers[0])}: " if label(numbers[0]) else ""
    return f"{len(numbers)} of {n_groups} groups ({examples(numbers, between='; ', words=label)}): "


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


def warn_mixed_scales(sample: Sample, options: RateOptions, result: RateResult) -> None:
    """Say that groups of rates share the method of a group on another scale."""
    t = sample.totals
    if options.method != "auto" or t.bounded or t.n_groups == 1:
        return
    # Sums can only show the groups that certainly reach outside; the others may be rates.
    beyond = t.sum(((t.s < 0) | (t.s > t.m) | (t.ss > t.s)).astype(np.float64)) > 0
    inside = (t.n_clusters > 0) & ~beyond
    low, high = sample.score_range
    text = (
        f"all scores lie in [0, 1], but others of this call run from {low:g} to {high:g}, so {result.method} was used for all "
        "as for one open scale. Where these are rates, ask for them in a call of their own."
    )
    tell(sample, inside, ex.MixedScaleWarning, text)


def warn_percent(sample: Sample) -> None:
    """Say that scores of 0 and 100 are a rate in percent."""
    least, greatest = sample.score_range
    if (
        greatest == PERCENT
        and least >= 0
        and np.allclose(sample.totals.ss, PERCENT * sample.totals.s, rtol=1e-12, atol=0)
    ):
        tell_percent()


def tell_percent() -> None:
    """The warning itself, for one system or several."""
    warn(
        "All scores are 0 or 100, as of a pass rate in percent. The default takes them for an open scale, whose limits may lie "
        "beyond what a rate can be, and are too close where nearly all passed or failed. Divide the scores by 100 for the method "
        "that is made for rates.",
        ex.PercentScoreWarning,
    )


def warn_sentinel(found: tuple[float, int] | None, greatest: float) -> None:
    """Say that a negative value may be a mark of a failed run."""
    if found is not None:
        value, count = found
        fine = (
            " Where these are differences of scores, they are right as they are."
            if greatest == -value
            else ""
        )
        warn(
            f"{count} score(s) are {value:g} while all others are 0 or more.{fine} Where that marks a failed run or parse, it is "
            f"no score: set it to missing, as with .replace({value:g}, float('nan')), and choose a nan_policy.",
            ex.SentinelScoreWarning,
        )


def warn_findings(
    sample: Sample, mo: Moments, result: RateResult, options: RateOptions, outside: float
) -> None:
    """Warn of everything that the totals show: of each clustering what is its own, and once what is of all."""
    words = _Words(sample, mo, result, options, outside)
    if sample.crossing is None:
        _tell_clustering(words, np.ones(sample.totals.n_groups, dtype=bool))
        _tell_singletons(words)
        _tell_answer(words, [words])
        return
    crossed = sample.crossing.totals
    every = [
        _Words(one, moments(one.totals), result, options, outside, crossed=True)
        for one in sample.crossing.samples
    ]
    for d, one in enumerate(every):
        _tell_clustering(one, ~crossed.nested[d])
    _tell_answer(words, every)
    _warn_variance(sample, crossed, result)


def warn_units(sample: Sample, mo: Moments, result: RateResult, options: RateOptions, outside: float) -> None:
    """Warn of what the clusters are like, whatever is estimated from them, but for their number."""
    words = _Words(sample, mo, result, options, outside)
    _tell_sizes(words, np.ones(sample.totals.n_groups, dtype=bool))
    _tell_singletons(words)
    _tell_degenerate(words, [words])


def _tell_clustering(words: _Words, counts: BoolArray) -> None:
    """What is of one clustering, in the groups where it counts."""
    found, name = words.found, repr(words.sample.cluster)
    unit = f"items of {name}" if words.sample.alone else f"clusters of {name}"
    words.tell(
        found.few & counts,
        ex.FewClustersWarning,
        words.few,
        f"fewer than 5 effective {unit} (or under 4 degrees of freedom), so the intervals lean on assumptions "
        "more than on data.",
    )
    _tell_sizes(words, counts)


def _tell_sizes(words: _Words, counts: BoolArray) -> None:
    """One cluster dominates, or few hold the rarer outcome."""
    found, name = words.found, repr(words.sample.cluster)
    unit = f"items of {name}" if words.sample.alone else f"clusters of {name}"
    words.tell(
        found.dominant & counts & (not words.sample.alone),
        ex.DominantClusterWarning,
        words.dominant,
        f"one cluster of {name} holds over 25% of the items.",
    )
    words.tell(
        found.rare & ~found.degenerate & counts,
        ex.RareOutcomeWarning,
        words.rare,
        f"the rarer outcome occurs in fewer than 5 {unit}; one of the kind that was not seen could move the rates.",
    )


def _tell_singletons(words: _Words) -> None:
    words.tell(
        words.found.singletons & (not words.sample.alone),
        ex.SingletonClusterWarning,
        words.singletons,
        f"every cluster of {words.sample.cluster!r} holds one score, so the scores count as independent.",
    )


def _tell_degenerate(words: _Words, clusterings: list[_Words]) -> None:
    prior = words.result.method == "icc_averaged" and not words.sample.alone
    words.tell(
        np.all([one.found.degenerate for one in clusterings], axis=0),
        ex.DegenerateRateWarning,
        words.degenerate,
        "all items have one value, so the data cannot tell how they vary."
        if words.sample.alone
        else "all scores, or all cluster rates, are equal, so the data cannot tell how clustered they are"
        + ("; the intervals lean on the prior of the ICC." if prior else "."),
    )


def _tell_answer(words: _Words, clusterings: list[_Words]) -> None:
    """What is of the answer, from all the clusterings."""
    found, result = words.found, words.result
    no_limits = np.isnan(np.ravel(result.ci_low))
    _tell_degenerate(words, clusterings)
    words.tell(
        found.guard,
        ex.InformativeSizeWarning,
        words.guard,
        "the clusters vary by more than their ICC explains, so the intervals were widened to Korn and Graubard's on CR2. "
        f"{_OF_CR2}",
    )
    words.tell(
        found.fallback & ~no_limits,
        ex.EffectiveSizeWarning,
        words.fallback,
        f"the variance that {result.method} estimates is zero, which is no certainty: each cluster counts as one item.",
    )
    words.tell(
        np.any([one.found.unreliable_bootstrap for one in clusterings], axis=0),
        ex.BootstrapWarning,
        words.bootstrap,
        f"a cluster bootstrap is known to be {bootstrap_fault(result.method)} below 30 effective clusters, or where fewer than 5 "
        "of them would hold the rarer outcome. Compare with the default method.",
    )


def _warn_variance(sample: Sample, crossed: Crossed, result: RateResult) -> None:
    """Where a crossed variance is negative, or less than that of one clustering alone, which in truth it cannot be."""
    if result.method == "icc_averaged" or result.method.startswith("bootstrap"):
        return
    kind = result.method if result.method in ("cr0", "cr1", "cr2", "cr3") else "cr1"
    found, default = crossed.combined(kind), not sample.totals.bounded
    for flags, what in ((found.negative, NEGATIVE), (found.short, SHORT)):
        text = variance_words(str(sample.cluster), what, default=default)
        tell(sample, flags, ex.CrossedVarianceWarning, text)


def variance_words(name: str, what: str, *, default: bool) -> str:
    """What is wrong with a variance over crossed clusterings that is ``NEGATIVE`` or ``SHORT``.

    ``default`` says that the default method of these scores is a sum itself.
    """
    way = "The default method has no such sums."
    if default:
        way = "Look at each clustering alone too, and report the widest interval."
    return f"the variance over {name!r} by inclusion and exclusion {what}. {way}"


def bootstrap_fault(method: str) -> str:
    """What a percentile bootstrap of few clusters is known to be; the pigeonhole's variance is too large to begin with."""
    return "unreliable" if method == "bootstrap_pigeonhole" else "too narrow"


class _Words:
    """What is said of a single group."""

    def __init__(
        self,
        sample: Sample,
        mo: Moments,
        result: RateResult,
        options: RateOptions,
        outside: float,
        *,
        crossed: bool = False,
    ) -> None:
        self.sample, self.result, self.options, self.outside = sample, result, options, outside
        self.crossed = crossed
        self.found = dg.diagnose(sample.totals, mo, result)

    def tell(
        self, flags: BoolArray, category: type[ex.EvalCIWarning], one: Callable[[int], str], many: str
    ) -> None:
        """One warning: in full of a single group, in short of several."""
        groups = np.flatnonzero(flags)
        if len(groups):
            warn(who(self.sample, groups) + (one(int(groups[0])) if len(groups) == 1 else many), category)

    def few(self, h: int) -> str:
        """Few clusters, and what the interval would be were the ICC known."""
        if self.sample.alone:
            return f"few items ({int(self.sample.totals.n_clusters[h])}), so the interval leans on assumptions more than on data."
        clusters, effective = int(self.sample.totals.n_clusters[h]), self.found.effective_clusters[h]
        of = f" of {self.sample.cluster!r}" if self.crossed else ""
        text = f"few clusters{of} ({clusters}"
        if effective < 0.99 * clusters:
            text = f"few effective clusters{of} ({effective:.2g} of {clusters}"
        df = self.found.df[h]
        text += f", {df:.2g} degree{'s' if df > 1.05 else ''} of freedom)"
        if self.result.method != "icc_averaged":
            text += ", where t and bootstrap intervals are unreliable; the default method is made for this."
            return text
        text += ", so the interval leans on the prior of the ICC."
        if self.options.alternative == "two-sided" and not self.crossed:
            limits = [(icc, *dg.sensitivity(self.sample.totals, h, icc, self.outside)) for icc in (0.1, 1)]
            shown = " and ".join(f"[{low:.3g}, {high:.3g}] at ICC {icc}" for icc, low, high in limits)
            text += f" Were the ICC known it would be {shown}."
        return text

    def dominant(self, h: int) -> str:
        """The largest cluster and its share."""
        largest = self.sample.cluster_label(int(self.found.largest[h]))
        return (
            f"the largest cluster of {self.sample.cluster!r}, {largest!r}, holds {self.found.largest_share[h]:.1%} of the "
            "items, so it weighs as much in the estimate."
        )

    def degenerate(self, h: int) -> str:
        """Equal scores or equal cluster rates."""
        value = float(np.ravel(self.result.estimate)[h])
        one = self.sample.totals.one(h)
        constant = bool(np.isclose(one.ss.sum() * one.m.sum(), one.s.sum() ** 2, rtol=1e-12))
        what = f"all scores are {value:g}" if constant else f"every cluster has the rate {value:.4g}"
        if constant and not self.sample.totals.bounded:
            return f"{what}, and on an open scale no interval follows from that."
        if self.sample.alone:
            return f"all items have the value {value:g}, so the data cannot tell how they vary."
        if self.result.method == "icc_averaged":
            return f"{what}, so the data cannot tell how clustered they are; the interval leans on the prior of the ICC."
        return f"{what}, so the data cannot tell how clustered they are."

    def rare(self, h: int) -> str:
        """Where the rarer outcome occurs."""
        count, unit = int(self.found.rare_clusters[h]), "item" if self.sample.alone else "cluster"
        what = f"the rarer outcome occurs in {count} {unit}(s) only"
        what = what if count else "no score lies near the far end of [0, 1]"
        return f"{what}; {'an' if self.sample.alone else 'a'} {unit} of the kind that was not seen could move the rate."

    def guard(self, h: int) -> str:
        """Why the guard widened the interval."""
        shows = f"one ICC explains (correlation of rate and size {self.found.size_correlation[h]:+.2f})"
        shows = shows if self.sample.crossing is None else "their ICCs explain"
        return f"the clusters vary by more than {shows}, so the interval was widened to Korn and Graubard's on CR2. {_OF_CR2}"

    def singletons(self, _: int) -> str:
        """Clusters of one score each."""
        return (
            f"every cluster of {self.sample.cluster!r} holds one score, so the scores count as independent. Is it the item's "
            f"own id rather than what the items share?{self.sample.hint}"
        )

    def fallback(self, h: int) -> str:
        """What stands in for a variance of zero."""
        return (
            f"the variance that {self.result.method} estimates is zero, which is no certainty: the interval counts each "
            f"cluster as one item (n_eff = {self.found.effective_clusters[h]:.4g})."
        )

    def bootstrap(self, h: int) -> str:
        """A bootstrap outside its rule, with the default beside it."""
        crossing = self.sample.crossing
        options = dataclasses.replace(self.options, method="auto", df="auto")
        given = Given(crossed=None if crossing is None else crossing.totals.one(h))
        default = rate(self.sample.totals.one(h), options, given)
        return (
            f"a cluster bootstrap with {self.found.effective_clusters[h]:.3g} effective clusters is known to be "
            f"{bootstrap_fault(self.result.method)} (it needs 30, and 5 that would hold the rarer outcome). The default gives "
            f"[{float(default.ci_low):.4g}, {float(default.ci_high):.4g}]."
        )
