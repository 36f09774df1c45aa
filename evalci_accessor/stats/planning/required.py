"""How many clusters, or how many items in each of a number of clusters, it takes to reach a half-width or a power."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import Alternative, Claim, ClusterMethod, PlanMethod
from evalci_accessor.stats import special
from evalci_accessor.stats.planning.design import (
    MOST_CLUSTERS,
    Pattern,
    each,
    positive,
    smallest,
    whole_clusters,
)
from evalci_accessor.stats.planning.pair import PairDesign, check_power, check_spread, true_difference
from evalci_accessor.stats.planning.rate import RateDesign
from evalci_accessor.stats.validate import FloatArray, IntArray

_MOST_ITEMS = 1_000_000
_NEARLY = 1.25  # times the information: a goal that endless items miss by no more may be reached by fewer
_FAR = 64.0  # times the number at hand that a guess may go


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RequiredPlan:
    """The least number that reaches a goal. Every array has the shape that the arguments broadcast to.

    Parameters
    ----------
    n_clusters : ndarray of int
        Clusters: the answer of `required_clusters`, as given to `required_items`.
    items_per_cluster : ndarray of float
        Mean number of items in a cluster: the answer of `required_items`, where it is infinite if no number reaches the goal.
    n_items, n_scores : ndarray of float
        Items, and scores (items times samples) of each system: the calls of a model.
    goal : ndarray of float
        Half-width or power asked for.
    reached : ndarray of float
        Half-width or power at the answer; nan without one.
    limit : ndarray of float
        Half-width or power at that number of clusters as their items grow without bound.
    measure : str
        ``"half_width"`` or ``"power"``.
    n_samples : int
        Samples of each item.
    method : str
        Interval or test that is planned.
    confidence_level : float
        Nominal level.
    """

    n_clusters: IntArray
    items_per_cluster: FloatArray
    n_items: FloatArray
    n_scores: FloatArray
    goal: FloatArray
    reached: FloatArray
    limit: FloatArray
    measure: str
    n_samples: int
    method: str
    confidence_level: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Question:
    """A goal, and what any design of a family reaches; ``pattern`` and the number of clusters are what varies."""

    design: RateDesign | PairDesign
    shape: tuple[int, ...]
    flat: dict[str, FloatArray]
    goal: FloatArray

    @property
    def measure(self) -> str:
        """What is looked at: a half-width or a power."""
        return "half_width" if isinstance(self.design, RateDesign) else "power"

    def value(self, i: int, n_clusters: int, pattern: Pattern) -> float:
        """Half-width or power of a design."""
        d = dataclasses.replace(self.design, pattern=pattern)
        if isinstance(d, RateDesign):
            return d.half_width(self.flat, i, n_clusters)[0]
        return d.power(self.flat, i, *self.effect(i), n_clusters)

    def limit(self, i: int, n_clusters: int, pattern: Pattern) -> float:
        """The same as the items grow without bound."""
        d = dataclasses.replace(self.design, pattern=pattern)
        if isinstance(d, RateDesign):
            return d.limit(self.flat, i, n_clusters)
        return d.limit(self.flat, i, *self.effect(i), n_clusters)

    def effect(self, i: int) -> tuple[float, float]:
        """Difference and margin."""
        return float(self.flat["difference"][i]), float(self.flat["margin"][i])

    def reached(self, i: int, value: float) -> bool:
        """Whether a value meets the goal."""
        return bool(value <= self.goal[i] if self.measure == "half_width" else value >= self.goal[i])

    def variance(self, i: int, n_clusters: int, pattern: Pattern) -> float:
        """Variance of the estimate."""
        if isinstance(self.design, RateDesign):
            parts = self.design.parts(self.flat, i)
        else:
            parts = self.design.parts(self.flat, i, self.effect(i)[0])
        return parts.std_error(*pattern.counts(n_clusters)) ** 2

    def wanted(self, i: int) -> float:
        """The variance that would reach the goal if the estimate were normal and its variance known."""
        if isinstance(self.design, RateDesign):
            return float((self.goal[i] / special.ndtri((1 + self.design.level) / 2)) ** 2)
        difference, margin = self.effect(i)
        test = self.design.goal(difference, margin)
        distance = min(abs(difference - null) for null in (test.above, test.below) if null is not None)
        return float((distance / (special.ndtri(self.goal[i]) - special.ndtri(test.outside))) ** 2)

    def times(self, i: int, value: float) -> float:
        """How many times the information it takes where this value was reached."""
        if self.measure == "half_width":
            ratio = (value / self.goal[i]) ** 2
        else:
            far = -special.ndtri(self.design.goal(*self.effect(i)).outside)  # type: ignore[union-attr]
            have = max(far + special.ndtri(np.clip(value, 1e-9, 1 - 1e-9)), 0.1)
            ratio = ((far + special.ndtri(self.goal[i])) / have) ** 2
        return float(np.clip(ratio, 1 / _FAR, _FAR))

    def plan(
        self, clusters: FloatArray, items: FloatArray, n_items: FloatArray, reached: FloatArray, limit: FloatArray
    ) -> RequiredPlan:
        """The answers in the shape of the question."""
        d = self.design

        def shaped(values: FloatArray) -> FloatArray:
            return values.reshape(self.shape)

        return RequiredPlan(
            n_clusters=shaped(clusters).astype(np.int64), items_per_cluster=shaped(items), n_items=shaped(n_items),
            n_scores=shaped(n_items * d.n_samples), goal=shaped(self.goal), reached=shaped(reached), limit=shaped(limit),
            measure=self.measure, n_samples=d.n_samples, method=d.method, confidence_level=d.level,
        )  # fmt: skip


def required_clusters(
    *,
    half_width: object = None,
    difference: object = None,
    margin: float | None = None,
    power: float = 0.8,
    icc: object,
    items_per_cluster: object,
    rate: object = None,
    disagreement: object = None,
    correlation: object = None,
    std_dev: object = None,
    n_samples: int = 1,
    item_icc: object = None,
    claim: Claim | None = None,
    method: ClusterMethod | PlanMethod = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    n_sims: int = 100,
    rng: object = 0,
) -> RequiredPlan:
    r"""Least number of clusters that brings one rate to a half-width, or a paired difference to a power.

    Parameters
    ----------
    half_width : float or array_like, optional
        Mean half-width of the interval of one rate (``rate``) or mean score (``std_dev``).
    difference : float or array_like, optional
        True difference of two systems; 0 by default where a ``margin`` is given. Give this or ``margin``, or ``half_width``.
    margin, claim, alternative
        As in `power`.
    power : float, default 0.8
        Power to reach.
    icc, items_per_cluster, disagreement, correlation, std_dev, n_samples, item_icc
        As in `power` for a difference, as in `half_width` for one rate.
    rate : float or array_like, optional
        The rate itself, or the pass rate of the second system.
    method, confidence_level
        As in `power` or `half_width`.
    n_sims, rng
        As in `half_width`, and only for it.

    Returns
    -------
    RequiredPlan

    Raises
    ------
    EvalCIError, ClusterError, MethodError
        As in `power` and `half_width`; more than a million clusters.

    See Also
    --------
    required_items : How many items in a given number of clusters, where that can do.

    Notes
    -----
    The answer reaches the goal and one cluster less does not, as `power` or `half_width` of both numbers show. The search starts
    from the normal approximation :math:`G = (z_{1-\alpha/2} + z_{1-\beta})^2 \, (G V) / \delta^2` with the variance V of `power`.
    The mean half-width is that of ``n_sims`` samples with the same seed, exact to some .3 %, and the number of clusters to
    twice that.

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> plan = stats.required_clusters(difference=0.1, disagreement=0.2, icc=0.1, items_per_cluster=5)
    >>> print(plan.n_clusters, plan.reached.round(3))
    43 0.801
    >>> plan = stats.required_clusters(half_width=0.05, rate=0.8, icc=0.3, items_per_cluster=5)
    >>> print(plan.n_clusters, f"{plan.limit:.3f}")
    117 0.041
    """
    pattern = Pattern.of(items_per_cluster)
    question = _question(
        pattern, half_width=half_width, difference=difference, margin=margin, power=power, icc=icc, rate=rate,
        disagreement=disagreement, correlation=correlation, std_dev=std_dev, n_samples=n_samples, item_icc=item_icc,
        claim=claim, method=method, alternative=alternative, confidence_level=confidence_level, n_sims=n_sims, rng=rng,
    )  # fmt: skip

    def one(i: int) -> tuple[float, ...]:
        per_cluster = 1000 * question.variance(i, 1000, pattern)
        found = smallest(
            lambda n: question.value(i, n, pattern), lambda value: question.reached(i, value),
            lambda n, value: n * question.times(i, value), per_cluster / question.wanted(i), 2, MOST_CLUSTERS,
        )  # fmt: skip
        if found is None:
            raise MethodError(
                f"{MOST_CLUSTERS:,} clusters do not reach {question.measure} {question.goal[i]:g}. Ask for less, or for a larger "
                "difference or margin."
            )
        n, reached = found
        size, count = pattern.counts(n)
        return n, (size * count).sum(), reached, question.limit(i, n, pattern)

    n, items, reached, limit = each(len(question.goal), one, "clusters") or [np.empty(0)] * 4
    return question.plan(n, items / n, items, reached, limit)


def required_items(
    *,
    n_clusters: object,
    half_width: object = None,
    difference: object = None,
    margin: float | None = None,
    power: float = 0.8,
    icc: object,
    pattern: object = 1.0,
    rate: object = None,
    disagreement: object = None,
    correlation: object = None,
    std_dev: object = None,
    n_samples: int = 1,
    item_icc: object = None,
    claim: Claim | None = None,
    method: ClusterMethod | PlanMethod = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    n_sims: int = 100,
    rng: object = 0,
) -> RequiredPlan:
    r"""Least number of items per cluster that reaches the goal in given clusters; infinite where no number does.

    Parameters
    ----------
    n_clusters : int or array_like
        Number of clusters, 2 or more.
    pattern : sequence of float, default 1
        Sizes that the clusters are in proportion to, as of a pilot; equal by default.
    half_width, difference, margin, power, icc, rate, disagreement, correlation, std_dev, n_samples, item_icc
        As in `required_clusters`.
    claim, method, alternative, confidence_level, n_sims, rng
        As in `required_clusters`.

    Returns
    -------
    RequiredPlan

    Raises
    ------
    EvalCIError, ClusterError, MethodError
        As in `required_clusters`.

    Notes
    -----
    The variance of an estimate does not fall below :math:`\sigma^2 \rho \sum_g h_g^2`, that is :math:`\sigma^2\rho/G` with equal
    sizes, however many items the clusters hold. Numbers up to a million are looked at.

    Examples
    --------
    A half-width of five points in 60 documents that are much alike, and in 160:

    >>> from evalci_accessor import stats
    >>> plan = stats.required_items(half_width=0.05, n_clusters=[60, 160], rate=0.8, icc=0.3)
    >>> plan.items_per_cluster
    array([inf,  3.])
    >>> plan.limit.round(2)
    array([0.06, 0.04])
    """
    shape = Pattern.of(pattern)
    question = _question(
        shape.scaled(2 * float(shape.sizes.mean())), half_width=half_width, difference=difference, margin=margin, power=power,
        icc=icc, rate=rate, disagreement=disagreement, correlation=correlation, std_dev=std_dev, n_samples=n_samples,
        item_icc=item_icc, claim=claim, method=method, alternative=alternative, confidence_level=confidence_level,
        n_sims=n_sims, rng=rng, n_clusters=whole_clusters(n_clusters),
    )  # fmt: skip

    def one(i: int) -> tuple[float, ...]:
        clusters = int(question.flat["n_clusters"][i])
        limit = question.limit(i, clusters, shape)
        none = clusters, np.inf, np.inf, np.nan, limit
        floor = question.variance(i, clusters, shape.scaled(1e9))
        most = _MOST_ITEMS
        if not question.reached(i, limit):
            fewer = few_enough(question, i, clusters, shape, limit, floor)
            if fewer is None:
                return none
            most = fewer

        def better(n: int, value: float) -> float:
            # What the items add to the variance must shrink until the whole is what it takes.
            now = question.variance(i, clusters, shape.scaled(n))
            room = now / question.times(i, value) - floor
            return n * (now - floor) / room if room > 0 else _FAR * n

        first = better_start(question, i, clusters, shape, floor)
        found = smallest(
            lambda n: question.value(i, clusters, shape.scaled(n)), lambda value: question.reached(i, value), better, first, 1,
            most,
        )  # fmt: skip
        if found is None:
            return none
        size, count = shape.scaled(found[0]).counts(clusters)
        total = (size * count).sum()
        return clusters, total / clusters, total, found[1], limit

    columns = each(len(question.goal), one, "items") or [np.empty(0)] * 5
    return question.plan(*columns)


def few_enough(question: _Question, i: int, clusters: int, shape: Pattern, limit: float, floor: float) -> int | None:
    """A number of items per cluster that reaches the goal where endless ones do not; None if there seems to be none.

    With rates near 0 or 1, and without an ICC, the default interval widens a little as the items grow in number. So do the
    intervals of sizes in proportion to a pattern, of which the least number of items makes equal ones.
    """
    numbers = [2**k for k in range(20)]
    least = min(question.variance(i, clusters, shape.scaled(n)) for n in numbers)
    if question.times(i, limit) > _NEARLY * max(1.0, floor / least):
        return None
    return next((n for n in numbers if question.reached(i, question.value(i, clusters, shape.scaled(n)))), None)


def better_start(question: _Question, i: int, clusters: int, shape: Pattern, floor: float) -> float:
    """Items per cluster by the normal approximation."""
    room = question.wanted(i) - floor
    return (question.variance(i, clusters, shape.scaled(1.0)) - floor) / room if room > 0 else 100.0


def _question(
    pattern: Pattern, *, half_width: object, difference: object, margin: float | None, power: float, icc: object, rate: object,
    disagreement: object, correlation: object, std_dev: object, n_samples: int, item_icc: object, claim: Claim | None, method: Any,
    alternative: Alternative, confidence_level: float, n_sims: int, rng: object, **more: FloatArray,
) -> _Question:  # fmt: skip
    """The question after the checks."""
    of_pairs = {
        "difference": difference, "margin": margin, "disagreement": disagreement, "correlation": correlation, "claim": claim,
    }  # fmt: skip
    given = [name for name, value in of_pairs.items() if value is not None]
    if half_width is not None:
        usual = {"alternative": alternative == "two-sided", "power": np.array_equal(power, 0.8)}
        given += [name for name, is_so in usual.items() if not is_so]
        if given:
            raise MethodError(
                f"half_width= is for one rate, and {', '.join(f'{name}=' for name in given)} for two systems. "
                "Name one goal: half_width= with rate= (or std_dev=), or difference= (or margin=) with how much the systems differ."
            )
        rates = RateDesign.of(
            rate=rate, icc=icc, items_per_cluster=pattern.sizes, n_samples=n_samples, item_icc=item_icc, std_dev=std_dev,
            method=method, confidence_level=confidence_level, n_sims=n_sims, rng=rng,
        )  # fmt: skip
        width = positive(half_width, "half_width", "half of the interval's width")
        if std_dev is None and (width >= 0.5).any():
            large = float(width.max())
            hint = f" Did you mean {large / 100:g}?" if 1 <= large < 50 else ""
            raise MethodError(
                f"half_width={large:g}: every interval of a rate is as narrow as that; it must be below .5.{hint}"
            )
        shape, flat = rates.flat(goal=width, **more)
        return _Question(design=rates, shape=shape, flat=flat, goal=flat["goal"])
    if difference is None and margin is None:
        raise MethodError(
            "Name the goal: half_width= for one rate, difference= for a paired difference, or margin= for non-inferiority or "
            "equivalence."
        )
    design, width_of = PairDesign.of(
        icc=icc, items_per_cluster=pattern.sizes, disagreement=disagreement, rate=rate, correlation=correlation,
        std_dev=std_dev, n_samples=n_samples, item_icc=item_icc, margin=margin, claim=claim,
        method=method, alternative=alternative, confidence_level=confidence_level,
    )  # fmt: skip
    true = true_difference(design, 0.0 if difference is None else difference, width_of)
    asked = np.asarray(check_power(power, design.goal(1.0, width_of)))
    shape, flat = design.flat(difference=true, margin=np.asarray(width_of), goal=asked, **more)
    check_spread(design, flat, flat["difference"])
    return _Question(design=design, shape=shape, flat=flat, goal=flat["goal"])
