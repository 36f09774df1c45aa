"""A checked design of a paired comparison, and its power; what `power`, `mde` and the required numbers share."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np

from evalci_accessor._typing import Alternative, Claim, PlanMethod
from evalci_accessor._warn import examples
from evalci_accessor.exceptions import EvalCIError, MethodError, ScoreRangeError
from evalci_accessor.stats._plan_design import (
    Parts,
    Pattern,
    correlations,
    each,
    positive,
    spread_out,
    whole,
    within,
)
from evalci_accessor.stats._planned_power import Goal, Sums, robust_power, score_power
from evalci_accessor.stats._validate import FloatArray, IntArray, as_float, check_level, check_option
from evalci_accessor.stats.difference import check_tail, resolve_claim

Flat: TypeAlias = "dict[str, FloatArray]"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PowerPlan:
    """What a design can show of the difference of two systems. Every array has the shape that the arguments broadcast to.

    Parameters
    ----------
    power : ndarray of float
        Probability that the claim is shown.
    difference : ndarray of float
        The true difference (of `mde`: the smallest that is shown with that power, nan where none is).
    margin : ndarray of float
        The margin of the claim, 0 without one (of `mde` for a claim against a margin: the smallest).
    std_error : ndarray of float
        Standard error of the estimated difference.
    design_effect : ndarray of float
        Its variance over that of as many independent items.
    power_limit : ndarray of float
        Power as the items of each cluster grow without bound, with the same clusters.
    n_clusters, n_items : ndarray of int
        Clusters, and items of each system.
    n_samples : int
        Samples of each item and system.
    claim, method, alternative : str
        What is to be shown, by which test.
    confidence_level : float
        Nominal level.
    """

    power: FloatArray
    difference: FloatArray
    margin: FloatArray
    std_error: FloatArray
    design_effect: FloatArray
    power_limit: FloatArray
    n_clusters: IntArray
    n_items: IntArray
    n_samples: int
    claim: str
    method: str
    alternative: str
    confidence_level: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairDesign:
    """A checked question about pairs but for the difference, the margin and the number of clusters."""

    pattern: Pattern
    icc: FloatArray
    item_icc: FloatArray
    spread: Flat  # one of: disagreement; rate and correlation; std_dev
    n_samples: int
    method: str
    bounded: bool
    claim: Claim
    alternative: Alternative
    level: float

    @classmethod
    def of(
        cls, *, icc: object, items_per_cluster: object, disagreement: object, rate: object, correlation: object, std_dev: object,
        n_samples: object, item_icc: object, margin: float | None, claim: Claim | None, method: PlanMethod,
        alternative: Alternative, confidence_level: float,
    ) -> tuple[PairDesign, float]:  # fmt: skip
        """The design and the margin after the checks."""
        samples = whole(n_samples, "n_samples", 1)
        check_tail(confidence_level, alternative)
        spread = _spread(disagreement, rate, correlation, std_dev)
        bounded = "std_dev" not in spread
        width, claimed = resolve_claim(margin, claim, bounded=bounded)
        if (width > 0 or claimed != "superiority") and alternative != "two-sided":
            raise MethodError(
                f"alternative={alternative!r} would be ignored: a verdict against a margin has the side of its claim. Leave "
                "alternative='two-sided'."
            )
        pattern = Pattern.of(items_per_cluster)
        of_clusters, of_items = correlations(icc, item_icc, samples)
        ran = resolve_plan_method(method, binary=bounded and samples == 1, single=bool((pattern.sizes == 1).all()))
        return cls(
            pattern=pattern, icc=of_clusters, item_icc=of_items, spread=spread, n_samples=samples, method=ran, bounded=bounded,
            claim=claimed, alternative=alternative, level=check_level(confidence_level),
        ), width  # fmt: skip

    def flat(self, **more: FloatArray) -> tuple[tuple[int, ...], Flat]:
        """Common shape and flat arrays of all that may be arrays."""
        return spread_out(icc=self.icc, item_icc=self.item_icc, **self.spread, **more)

    def variance(self, flat: Flat, i: int, difference: float) -> float:
        """Variance of the difference of single scores of an item, which must be above 0."""
        if "std_dev" in flat:
            return float(flat["std_dev"][i] ** 2)
        if "disagreement" in flat:
            share = flat["disagreement"][i]
        else:
            share = _disagreement(flat["rate"][i], difference, flat["correlation"][i])
        return float(share - difference**2)

    def feasible(self, flat: Flat, i: int) -> tuple[float, float]:
        """The least and the greatest difference that can be, without the ends."""
        if "std_dev" in flat:
            return -np.inf, np.inf
        if "disagreement" in flat:
            return -float(flat["disagreement"][i]), float(flat["disagreement"][i])
        return _feasible_difference(float(flat["rate"][i]), float(flat["correlation"][i]))

    def goal(self, difference: float, margin: float) -> Goal:
        """What the verdict of `diff_ci` asks for."""
        alpha = 1 - self.level
        if self.claim == "noninferiority":
            return Goal(above=-margin, below=None, outside=alpha)
        if self.claim == "equivalence":
            return Goal(above=-margin, below=margin, outside=alpha)
        if margin > 0:
            return Goal(above=margin, below=None, outside=alpha)
        outside = alpha / 2 if self.alternative == "two-sided" else alpha
        # Only significance on the side of the truth is a success.
        down = self.alternative == "less" or (self.alternative == "two-sided" and difference < 0)
        return Goal(above=None, below=0.0, outside=outside) if down else Goal(above=0.0, below=None, outside=outside)

    def parts(self, flat: Flat, i: int, difference: float) -> Parts:
        """Parts of the variance of an item's value."""
        variance = self.variance(flat, i, difference)
        return Parts.of(variance, float(flat["icc"][i]), float(flat["item_icc"][i]), self.n_samples)

    def power(self, flat: Flat, i: int, difference: float, margin: float, n_clusters: int, times: float = 1.0) -> float:
        """Power of one design, with ``times`` as many items."""
        size, count = self.pattern.counts(n_clusters, times)
        parts, goal = self.parts(flat, i, difference), self.goal(difference, margin)
        if parts.between + parts.item <= 0:
            return goal.holds(difference)
        robust = self.method == "cr2"
        sums = Sums.draw(size, count, parts, robust=robust)
        return robust_power(sums, difference, goal) if robust else score_power(sums, difference, goal)

    def limit(self, flat: Flat, i: int, difference: float, margin: float, n_clusters: int) -> float:
        """Power as the items grow without bound."""
        parts = self.parts(flat, i, difference)
        if parts.between <= 0:
            return self.goal(difference, margin).holds(difference)
        return self.power(flat, i, difference, margin, n_clusters, self.pattern.endless(parts))

    def plan(self, shape: tuple[int, ...], flat: Flat, power: FloatArray | None = None) -> PowerPlan:
        """The plan of these differences, margins and numbers of clusters; power is known where a search has found it."""

        def one(i: int) -> tuple[float, ...]:
            d, margin, clusters = float(flat["difference"][i]), float(flat["margin"][i]), int(flat["n_clusters"][i])
            size, count = self.pattern.counts(clusters)
            if not np.isfinite([d, margin]).all():
                return (np.nan, np.nan, np.nan, np.nan, (size * count).sum())
            parts = self.parts(flat, i, d)
            got = self.power(flat, i, d, margin, clusters) if power is None else power[i]
            return (
                got, parts.std_error(size, count), parts.design_effect(size, count), self.limit(flat, i, d, margin, clusters),
                (size * count).sum(),
            )  # fmt: skip

        found = [column.reshape(shape) for column in each(len(flat["icc"]), one, "power")] or [np.empty(shape)] * 5
        return PowerPlan(
            power=found[0], difference=flat["difference"].reshape(shape), margin=flat["margin"].reshape(shape),
            std_error=found[1], design_effect=found[2], power_limit=found[3],
            n_clusters=flat["n_clusters"].reshape(shape).astype(np.int64), n_items=found[4].astype(np.int64),
            n_samples=self.n_samples, claim=self.claim, method=self.method, alternative=self.alternative,
            confidence_level=self.level,
        )  # fmt: skip


def resolve_plan_method(method: PlanMethod, *, binary: bool, single: bool) -> str:
    """The test that is planned for: ``"auto"`` is what `diff_ci` runs on such scores."""
    check_option(method, PlanMethod, "method")
    if method == "auto":
        return "cr2" if not binary else "tango" if single else "icc_averaged"
    if method != "cr2" and not binary:
        raise ScoreRangeError(
            f"method={method!r} is for scores of 0 and 1; graded scores (std_dev=) and means of several samples (n_samples > 1) "
            "take method='cr2', the default for them."
        )
    if method == "tango" and not single:
        raise MethodError(
            "method='tango' takes the items as independent: it goes with items_per_cluster=1. In clusters plan for "
            "method='icc_averaged', the default."
        )
    return str(method)


def _spread(disagreement: object, rate: object, correlation: object, std_dev: object) -> Flat:
    """How much the differences of the items vary, said in exactly one way."""
    said = [disagreement is not None, rate is not None or correlation is not None, std_dev is not None]
    if sum(said) != 1:
        given = [n for n, v in zip(("disagreement", "rate/correlation", "std_dev"), said, strict=True) if v]
        raise MethodError(
            f"How much the two systems differ item by item must be said in exactly one way; got {' and '.join(given) or 'none'}. "
            "Give disagreement= (the share of items on which one passes and the other does not), or rate= (pass rate of the second "
            "system) with correlation= (of the two systems' scores of an item), or for graded scores std_dev= (of the item "
            "differences)."
        )
    if said[2]:
        return {"std_dev": positive(std_dev, "std_dev", "the standard deviation of the difference of an item")}
    if said[0]:
        share = within(disagreement, "disagreement", 0, 1)
        return {"disagreement": positive(share, "disagreement", "the share of items on which the two systems disagree")}
    if rate is None or correlation is None:
        missing = "rate" if rate is None else "correlation"
        raise MethodError(
            f"rate= and correlation= go together, and {missing}= is missing. Independent systems have correlation=0; two models on "
            "the same items rather .3 to .7."
        )
    return {"rate": within(rate, "rate", 0, 1), "correlation": within(correlation, "correlation", -1, 1)}


def _disagreement(rate: float, difference: float, correlation: float) -> float:
    """Share of items on which two systems disagree, of which the second passes ``rate``."""
    a, b = rate + difference, rate
    both = a * b + correlation * np.sqrt(max(a * (1 - a), 0.0) * max(b * (1 - b), 0.0))
    return float(a + b - 2 * both)


def _correlation_range(a: float, b: float) -> tuple[float, float]:
    """Correlations that two 0/1 scores with these rates can have."""
    scale = np.sqrt(a * (1 - a) * b * (1 - b))
    return (max(0.0, a + b - 1) - a * b) / scale, (min(a, b) - a * b) / scale


def _feasible_difference(rate: float, correlation: float) -> tuple[float, float]:
    """Differences at which two systems can have that correlation, about no difference."""

    def fits(difference: float) -> bool:
        a = rate + difference
        if not 0 < a < 1:
            return False
        low, high = _correlation_range(a, rate)
        return low - 1e-12 <= correlation <= high + 1e-12

    ends = []
    for far in (-rate, 1 - rate):
        near = 0.0
        if fits(0.0):
            for _ in range(60):
                middle = (near + far) / 2
                near, far = (middle, far) if fits(middle) else (near, middle)
        ends.append(near)
    return ends[0], ends[1]


def check_spread(design: PairDesign, flat: Flat, difference: FloatArray) -> None:
    """Refuse differences that cannot be, with what could."""
    if "disagreement" in flat:
        bad = np.flatnonzero((np.abs(difference) > flat["disagreement"]) | (flat["disagreement"] - difference**2 <= 0))
        if len(bad):
            shown = (f"difference {difference[i]:g} at disagreement {flat['disagreement'][i]:g}" for i in bad)
            raise EvalCIError(
                f"`difference` cannot be larger than `disagreement`, nor both 1: the systems differ only where they disagree; "
                f"{len(bad)} of {len(difference)} are: {examples(shown)}."
            )
    if "rate" in flat:
        for i, (d, rate, correlation) in enumerate(zip(difference, flat["rate"], flat["correlation"], strict=True)):
            if not (0 < rate < 1 and 0 < rate + d < 1):
                raise EvalCIError(
                    f"`rate` and `rate` + `difference`, the pass rates of the two systems, must lie strictly between 0 and 1 to "
                    f"have a correlation; got {rate:g} and {rate + d:g}. Give disagreement= in place of rate= and correlation=."
                )
            low, high = _correlation_range(rate + d, rate)
            if not low - 1e-12 <= correlation <= high + 1e-12 or design.variance(flat, i, d) <= 1e-12:
                raise EvalCIError(
                    f"correlation={correlation:g} cannot be: systems that pass {rate + d:g} and {rate:g} can correlate by "
                    f"{low:.3f} to {high:.3f}, and must not agree on every item."
                )


def true_difference(design: PairDesign, difference: object, margin: float) -> FloatArray:
    """The difference to plan for, which must not lie where the claim is false."""
    d = as_float(difference, "difference")
    goal = design.goal(1.0, margin)
    wrong = np.zeros(d.shape, dtype=bool)
    if design.claim == "superiority" and margin == 0:
        wrong = d == 0 if design.alternative == "two-sided" else d <= 0 if design.alternative == "greater" else d >= 0
    elif goal.above is not None:
        wrong = (d <= goal.above) | (False if goal.below is None else d >= goal.below)
    if wrong.any():
        against = f" with a margin of {margin:g}" if margin else ""
        raise EvalCIError(
            f"{int(wrong.sum())} of {d.size} values of `difference` make the claim ({design.claim}{against}, "
            f"alternative={design.alternative!r}) false: {examples(f'{v:g}' for v in d[wrong].flat)}. No design shows what is "
            "not so. Name a true difference for which the claim holds; to show that two systems are as good as equal give a "
            "margin=, with difference=0."
        )
    return d


def check_power(power: object, goal: Goal) -> float:
    """The power asked for."""
    value = as_float(power, "power")
    if value.ndim or not goal.outside < value < 1:
        shown = power if value.ndim else f"{float(value):g}"
        hint = f" Did you mean {float(value) / 100:g}?" if not value.ndim and 1 < value < 100 else ""
        raise MethodError(
            f"power={shown} must be one number between {goal.outside:g} (which the test has without any difference) and 1.{hint}"
        )
    return float(value)
