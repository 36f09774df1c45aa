"""How many clusters it takes to reach a half-width or a power."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import Alternative, Claim, ClusterMethod, PlanMethod
from evalci_accessor.stats.planning import shared
from evalci_accessor.stats.planning.pair import PairDesign, check_power, check_spread, true_difference
from evalci_accessor.stats.planning.rate import RateDesign
from evalci_accessor.stats.planning.shared import Point
from evalci_accessor.stats.validate import FloatArray, IntArray


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
    asked = shared.Design(icc, item_icc, n_samples, items_per_cluster, method, confidence_level)
    shared.Pattern.of(items_per_cluster)  # what is wrong with the sizes comes first
    design: RateDesign | PairDesign
    if half_width is not None:
        of_pairs = {
            "difference": difference is not None,
            "margin": margin is not None,
            "disagreement": disagreement is not None,
            "correlation": correlation is not None,
            "claim": claim is not None,
            "alternative": alternative != "two-sided",
            "power": not np.array_equal(power, 0.8),
        }
        _refuse_pair_options([f"{name}=" for name, is_given in of_pairs.items() if is_given])
        design = RateDesign.of(asked, rate, std_dev, n_sims, rng)
        shape, points = design.points(goal=_checked_width(half_width, graded=std_dev is not None))
    elif difference is None and margin is None:
        raise MethodError(
            "Name the goal: half_width= for one rate, difference= for a paired difference, or margin= for non-inferiority or "
            "equivalence."
        )
    else:
        spread = {"disagreement": disagreement, "rate": rate, "correlation": correlation, "std_dev": std_dev}
        design, width = PairDesign.of(asked, spread, margin, claim, alternative)
        true = true_difference(design, 0.0 if difference is None else difference, width)
        least = np.asarray(check_power(power, design.goal(1.0, width)))
        shape, points = design.points(difference=true, margin=np.asarray(width), goal=least)
        check_spread(design, points)

    def one(at: Point) -> tuple[float, ...]:
        pattern = design.pattern
        start = 1000 * design.parts(at).std_error(*pattern.counts(1000)) ** 2 / design.wanted(at)
        value, reached = partial(design.value, at), partial(design.reached, at)
        found = shared.smallest(value, reached, partial(design.times, at), start)
        if found is None:
            raise MethodError(
                f"{shared.MOST_CLUSTERS:,} clusters do not reach {design.measure} {at['goal']:g}. Ask for less, or for a larger "
                "difference or margin."
            )
        n, got = found
        size, count = pattern.counts(n)
        items = (size * count).sum()
        return n, items / n, items, items * design.n_samples, at["goal"], got, design.limit(at, n)

    return RequiredPlan(
        **shared.arrays(RequiredPlan, shape, shared.each(points, one, "clusters")),
        measure=design.measure,
        n_samples=design.n_samples,
        method=design.method,
        confidence_level=design.level,
    )


def _refuse_pair_options(given: list[str]) -> None:
    if given:
        raise MethodError(
            f"half_width= is for one rate, and {', '.join(given)} for two systems. "
            "Name one goal: half_width= with rate= (or std_dev=), or difference= (or margin=) with how much the systems differ."
        )


def _checked_width(half_width: object, *, graded: bool) -> FloatArray:
    width = shared.positive(half_width, "half_width", "half of the interval's width")
    if not graded and (width >= 0.5).any():
        large = float(width.max())
        hint = f" Did you mean {large / 100:g}?" if 1 <= large < 50 else ""
        raise MethodError(
            f"half_width={large:g}: every interval of a rate is as narrow as that; it must be below .5.{hint}"
        )
    return width
