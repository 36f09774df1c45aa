"""How many clusters it takes to reach a half-width or a power."""

from __future__ import annotations

import dataclasses

import numpy as np

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import Alternative, Claim, ClusterMethod, PlanMethod
from evalci_accessor.stats import special
from evalci_accessor.stats.planning.design import (
    MOST_CLUSTERS,
    Design,
    Flat,
    Parts,
    Pattern,
    each,
    positive,
    smallest,
)
from evalci_accessor.stats.planning.pair import PairDesign, check_power, check_spread, true_difference
from evalci_accessor.stats.planning.rate import RateDesign
from evalci_accessor.stats.validate import FloatArray, IntArray

_FAR = 64.0  # times the number at hand that a guess may go


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RequiredPlan:
    """The least number that reaches a goal. Every array has the shape that the arguments broadcast to.

    Parameters
    ----------
    n_clusters : ndarray of int
        Clusters: the answer.
    items_per_cluster : ndarray of float
        Mean number of items in a cluster.
    n_items, n_scores : ndarray of float
        Items, and scores (items times samples) of each system: the calls of a model.
    goal : ndarray of float
        Half-width or power asked for.
    reached : ndarray of float
        Half-width or power at the answer.
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
class _RateQuestion:
    """Half-widths of one rate; the number of clusters is open."""

    design: RateDesign
    flat: Flat
    measure = "half_width"

    def value(self, i: int, n_clusters: int) -> float:
        """Half-width of a design."""
        return self.design.half_width(self.flat, i, n_clusters)[0]

    def limit(self, i: int, n_clusters: int) -> float:
        """Half-width as the items grow without bound."""
        return self.design.limit(self.flat, i, n_clusters)

    def reached(self, i: int, value: float) -> bool:
        """Whether a half-width is small enough."""
        return bool(value <= self.flat["goal"][i])

    def parts(self, i: int) -> Parts:
        """Parts of the variance of an item's value."""
        return self.design.parts(self.flat, i)

    def wanted(self, i: int) -> float:
        """The variance that would reach the goal if the estimate were normal and its variance known."""
        return float((self.flat["goal"][i] / special.ndtri((1 + self.design.level) / 2)) ** 2)

    def times(self, i: int, value: float) -> float:
        """How many times the information it takes where this value was reached."""
        return float((value / self.flat["goal"][i]) ** 2)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _PairQuestion:
    """The same of the power to show a difference."""

    design: PairDesign
    flat: Flat
    measure = "power"

    def value(self, i: int, n_clusters: int) -> float:
        """Power of a design."""
        return self.design.power(self.flat, i, *self.effect(i), n_clusters)

    def limit(self, i: int, n_clusters: int) -> float:
        """Power as the items grow without bound."""
        return self.design.limit(self.flat, i, *self.effect(i), n_clusters)

    def effect(self, i: int) -> tuple[float, float]:
        """Difference and margin."""
        return float(self.flat["difference"][i]), float(self.flat["margin"][i])

    def reached(self, i: int, value: float) -> bool:
        """Whether a power is large enough."""
        return bool(value >= self.flat["goal"][i])

    def parts(self, i: int) -> Parts:
        """Parts of the variance of an item's value."""
        return self.design.parts(self.flat, i, self.effect(i)[0])

    def wanted(self, i: int) -> float:
        """The variance that would reach the goal if the estimate were normal and its variance known."""
        difference, margin = self.effect(i)
        test = self.design.goal(difference, margin)
        distance = min(abs(difference - null) for null in (test.above, test.below) if null is not None)
        return float((distance / (special.ndtri(self.flat["goal"][i]) - special.ndtri(test.outside))) ** 2)

    def times(self, i: int, value: float) -> float:
        """How many times the information it takes where this value was reached."""
        far = -special.ndtri(self.design.goal(*self.effect(i)).outside)
        have = max(far + special.ndtri(np.clip(value, 1e-9, 1 - 1e-9)), 0.1)
        return float(((far + special.ndtri(self.flat["goal"][i])) / have) ** 2)


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
    asked = Design.of(locals())
    Pattern.of(items_per_cluster)  # what is wrong with the sizes comes first
    question: _RateQuestion | _PairQuestion
    if half_width is None:
        question, shape = _of_pair(asked, difference, power)
    else:
        question, shape = _of_rate(asked, half_width, difference, power)
    design, goal = question.design, question.flat["goal"]

    def one(i: int) -> tuple[float, ...]:
        start = 1000 * question.parts(i).std_error(*design.pattern.counts(1000)) ** 2 / question.wanted(i)
        found = smallest(
            lambda n: question.value(i, n),
            lambda value: question.reached(i, value),
            lambda n, value: n * float(np.clip(question.times(i, value), 1 / _FAR, _FAR)),
            start,
        )
        if found is None:
            raise MethodError(
                f"{MOST_CLUSTERS:,} clusters do not reach {question.measure} {goal[i]:g}. Ask for less, or for a larger "
                "difference or margin."
            )
        n, reached = found
        size, count = design.pattern.counts(n)
        return n, (size * count).sum(), reached, question.limit(i, n)

    columns = each(len(goal), one, "clusters") or [np.empty(0)] * 4
    n, items, reached, limit, goals = (column.reshape(shape) for column in (*columns, goal))
    return RequiredPlan(
        n_clusters=n.astype(np.int64),
        items_per_cluster=items / n,
        n_items=items,
        n_scores=items * design.n_samples,
        goal=goals,
        reached=reached,
        limit=limit,
        measure=question.measure,
        n_samples=design.n_samples,
        method=design.method,
        confidence_level=design.level,
    )


def _of_rate(
    asked: Design, half_width: object, difference: object, power: float
) -> tuple[_RateQuestion, tuple[int, ...]]:
    """The question about one rate, and the shape of the answers, after the checks."""
    of_pairs = {
        "difference": difference,
        "margin": asked.margin,
        "disagreement": asked.disagreement,
        "correlation": asked.correlation,
        "claim": asked.claim,
    }
    given = [name for name, value in of_pairs.items() if value is not None]
    usual = {"alternative": asked.alternative == "two-sided", "power": np.array_equal(power, 0.8)}
    given += [name for name, is_so in usual.items() if not is_so]
    if given:
        raise MethodError(
            f"half_width= is for one rate, and {', '.join(f'{name}=' for name in given)} for two systems. "
            "Name one goal: half_width= with rate= (or std_dev=), or difference= (or margin=) with how much the systems differ."
        )
    design = RateDesign.of(asked)
    width = positive(half_width, "half_width", "half of the interval's width")
    if asked.std_dev is None and (width >= 0.5).any():
        large = float(width.max())
        hint = f" Did you mean {large / 100:g}?" if 1 <= large < 50 else ""
        raise MethodError(
            f"half_width={large:g}: every interval of a rate is as narrow as that; it must be below .5.{hint}"
        )
    shape, flat = design.flat(goal=width)
    return _RateQuestion(design=design, flat=flat), shape


def _of_pair(asked: Design, difference: object, power: float) -> tuple[_PairQuestion, tuple[int, ...]]:
    """The question about two systems, and the shape of the answers, after the checks."""
    if difference is None and asked.margin is None:
        raise MethodError(
            "Name the goal: half_width= for one rate, difference= for a paired difference, or margin= for non-inferiority or "
            "equivalence."
        )
    design, margin = PairDesign.of(asked)
    true = true_difference(design, 0.0 if difference is None else difference, margin)
    goal = np.asarray(check_power(power, design.goal(1.0, margin)))
    shape, flat = design.flat(difference=true, margin=np.asarray(margin), goal=goal)
    check_spread(design, flat, flat["difference"])
    return _PairQuestion(design=design, flat=flat), shape
