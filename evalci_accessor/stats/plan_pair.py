"""Planning the paired difference of two systems: power, and the smallest difference or margin that a design shows."""

from __future__ import annotations

import numpy as np

from evalci_accessor._typing import Alternative, Claim, PlanMethod
from evalci_accessor.exceptions import MethodError
from evalci_accessor.stats._plan_design import each, whole_clusters
from evalci_accessor.stats._plan_pair import PairDesign, PowerPlan, check_power, check_spread, true_difference
from evalci_accessor.stats._validate import as_float

_NEAR = 1e-9


def power(
    difference: object,
    *,
    icc: object,
    n_clusters: object,
    items_per_cluster: object,
    disagreement: object = None,
    rate: object = None,
    correlation: object = None,
    std_dev: object = None,
    n_samples: int = 1,
    item_icc: object = None,
    margin: float | None = None,
    claim: Claim | None = None,
    method: PlanMethod = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> PowerPlan:
    r"""Probability that a design shows a difference of two systems on the same items, or the claim about a margin.

    Parameters
    ----------
    difference : float or array_like
        True difference, first system minus second. Under noninferiority and equivalence 0 is the usual one.
    icc : float or array_like
        Intracluster correlation of the differences of single items (not of the scores), from 0 to 1.
    n_clusters : int or array_like
        Number of clusters, 2 or more.
    items_per_cluster : float or sequence of float
        Items in each cluster; a sequence is a pattern of sizes, as of a pilot, that any number of clusters follows.
    disagreement : float or array_like, optional
        Share of the items on which one system passes and the other does not. Give this, or ``rate`` and ``correlation``, or
        ``std_dev``.
    rate, correlation : float or array_like, optional
        Pass rate of the second system, and correlation of the two systems' scores of an item.
    std_dev : float or array_like, optional
        Standard deviation of the difference of an item, for graded scores.
    n_samples : int, default 1
        Samples of each item and system, whose mean is the item's score.
    item_icc : float or array_like, optional
        Correlation of the differences of two samples of the same item, at least ``icc``; needed with several samples.
    margin, claim, alternative, confidence_level
        As in `diff_ci`, whose verdict is planned.
    method : {"auto", "icc_averaged", "tango", "cr2"}
        Test; ``"auto"`` is what `diff_ci` runs: ``"icc_averaged"`` for 0/1 scores in clusters, ``"tango"`` for single items,
        ``"cr2"`` for graded scores and means of several samples.

    Returns
    -------
    PowerPlan

    Raises
    ------
    EvalCIError
        Numbers out of range, that cannot go together, or that do not broadcast; a difference for which the claim is false.
    ClusterError
        Fewer than two clusters, or sizes below 1.
    MethodError
        An unknown option, or one that does not fit; a spread that is said in no way or in several.

    See Also
    --------
    mde : The smallest difference with a given power.
    required_clusters : The number of clusters for it.

    Notes
    -----
    With shares :math:`h_g` of the items the difference has the variance

    .. math:: V = \sigma^2 \Big[\rho \sum_g h_g^2 + \frac{1}{n}\Big(\rho_i - \rho + \frac{1-\rho_i}{r}\Big)\Big]

    with :math:`\rho` the ICC, :math:`\rho_i` ``item_icc``, r samples, and :math:`\sigma^2` = ``disagreement`` -
    ``difference``\ :sup:`2`, or ``std_dev``\ :sup:`2`. With equal sizes and one sample that is
    :math:`\sigma^2 (1 + (m-1)\rho)/n` [1]_; unequal ones cost more [2]_. A rate and a correlation give the disagreement
    :math:`p_a + p_b - 2 p_{ab}` with :math:`p_{ab} = p_a p_b + \phi\sqrt{p_a q_a p_b q_b}` [3]_.

    The power is not the normal one of V: the ICC is unknown to the test, which pays for that, most with few clusters. So the real
    critical values are averaged over what the data may show of the ICC, with cluster means taken as normal. For ``"cr2"`` with
    equal sizes this is the noncentral t on G - 1 degrees of freedom. Only significance on the side of the truth counts.
    Simulated powers of 0/1 scores are within .03 of it in most designs, also under laws that are not the plan's (docs, "Plan an
    evaluation"). It is too careful by more where nearly all disagreements go one way (a difference next to the disagreement), and
    too hopeful where a few clusters hold most of the items and clusters are of two kinds. The ICC is taken as known and the
    clusters as exchangeable draws whose sizes say nothing of the difference.

    References
    ----------
    .. [1] Donner, A. and Klar, N. (2000). Design and Analysis of Cluster Randomization Trials in Health Research. Arnold.
       The design effect: Kish, L. (1965). Survey Sampling. Wiley.
    .. [2] Eldridge, S. M., Ashby, D. and Kerry, S. (2006). Sample size for cluster randomized trials: effect of coefficient of
       variation of cluster size and analysis method. International Journal of Epidemiology 35, 1292-1300.
       https://doi.org/10.1093/ije/dyl129
    .. [3] Connor, R. J. (1987). Sample size for testing differences in proportions for the paired-sample design. Biometrics 43,
       207-211. https://doi.org/10.2307/2531961

    Examples
    --------
    Forty documents of five questions; the systems disagree on one question in five, and one is ten points better.

    >>> from evalci_accessor import stats
    >>> plan = stats.power(0.1, disagreement=0.2, icc=0.1, n_clusters=[40, 80], items_per_cluster=5)
    >>> plan.power.round(2)
    array([0.77, 0.97])

    Is it at most five points worse, if it is just as good?

    >>> plan = stats.power(0, margin=0.05, disagreement=0.2, icc=0.1, n_clusters=80, items_per_cluster=5)
    >>> print(f"{plan.claim}: {plan.power:.2f}, with endless questions {plan.power_limit:.2f}")
    noninferiority: 0.59, with endless questions 0.93
    """
    design, width = PairDesign.of(
        icc=icc, items_per_cluster=items_per_cluster, disagreement=disagreement, rate=rate, correlation=correlation,
        std_dev=std_dev, n_samples=n_samples, item_icc=item_icc, margin=margin, claim=claim, method=method,
        alternative=alternative, confidence_level=confidence_level,
    )  # fmt: skip
    shape, flat = design.flat(
        difference=true_difference(design, difference, width),
        n_clusters=whole_clusters(n_clusters),
        margin=np.asarray(width),
    )
    check_spread(design, flat, flat["difference"])
    return design.plan(shape, flat)


def mde(
    *,
    power: float = 0.8,
    icc: object,
    n_clusters: object,
    items_per_cluster: object,
    difference: object = None,
    disagreement: object = None,
    rate: object = None,
    correlation: object = None,
    std_dev: object = None,
    n_samples: int = 1,
    item_icc: object = None,
    margin: float | None = None,
    claim: Claim | None = None,
    method: PlanMethod = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> PowerPlan:
    r"""Smallest true difference that a design shows with a given power; under a claim against a margin, the smallest margin.

    Parameters
    ----------
    power : float, default 0.8
        Power to reach.
    icc, n_clusters, items_per_cluster, disagreement, rate, correlation, std_dev, n_samples, item_icc, method
        As in `power`.
    difference : float or array_like, optional
        True difference at which a margin is sought, 0 by default. Not for superiority, where it is what is sought.
    margin : float, optional
        Margin that the difference must exceed, under superiority. The other claims seek it.
    claim : {"superiority", "noninferiority", "equivalence"}, optional
        What is to be shown: superiority, by default, seeks the difference, the others the margin.
    alternative, confidence_level
        As in `power`; under ``"less"`` the difference is below 0.

    Returns
    -------
    PowerPlan
        Its ``difference`` (or ``margin``) is the answer, nan where even the largest that can be is not shown with that power;
        a margin of 0 where a positive ``difference`` is shown with it anyhow.

    Raises
    ------
    EvalCIError, ClusterError, MethodError
        As in `power`; a power that is not between the error of the test and 1.

    Notes
    -----
    The inverse of `power`, to 1e-9. A disagreement stays what it is while the difference is sought.

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> plan = stats.mde(disagreement=0.2, icc=0.1, n_clusters=40, items_per_cluster=5)
    >>> print(f"{plan.difference:.3f}")
    0.104
    >>> plan = stats.mde(claim="noninferiority", disagreement=0.2, icc=0.1, n_clusters=40, items_per_cluster=5)
    >>> print(f"{plan.margin:.3f}")
    0.095
    """
    seeks_margin = claim in ("noninferiority", "equivalence")
    if seeks_margin and margin is not None:
        raise MethodError(
            f"claim={claim!r} seeks the margin; leave out margin={margin!r}, or use power() to see what it allows."
        )
    if not seeks_margin and claim is None and margin is not None:
        raise MethodError(
            "With margin= say what is to be shown: claim='superiority' seeks the smallest difference that is shown to exceed the "
            "margin; claim='noninferiority' and 'equivalence' seek the margin itself, without margin=."
        )
    if not seeks_margin and difference is not None:
        raise MethodError("difference= is what is sought; it goes with claim='noninferiority' or 'equivalence' only.")
    design, width = PairDesign.of(
        icc=icc, items_per_cluster=items_per_cluster, disagreement=disagreement, rate=rate, correlation=correlation,
        std_dev=std_dev, n_samples=n_samples, item_icc=item_icc, margin=0.5 if seeks_margin else margin,
        claim=claim, method=method, alternative=alternative, confidence_level=confidence_level,
    )  # fmt: skip
    goal = check_power(power, design.goal(1.0, width))
    true = as_float(0.0 if difference is None else difference, "difference")
    shape, flat = design.flat(difference=true, n_clusters=whole_clusters(n_clusters))
    check_spread(design, flat, flat["difference"])
    side = -1.0 if alternative == "less" else 1.0

    def one(i: int) -> tuple[float, ...]:
        clusters, at = int(flat["n_clusters"][i]), float(flat["difference"][i])
        error = design.parts(flat, i, at).std_error(*design.pattern.counts(clusters))
        if seeks_margin:
            low = abs(at) if claim == "equivalence" else max(0.0, -at)
            end = 1.0 if design.bounded else np.inf
            return (_root(lambda margin: design.power(flat, i, at, margin, clusters) - goal, low, end, error),)
        end = design.feasible(flat, i)[0 if side < 0 else 1]
        found = _root(lambda d: design.power(flat, i, side * d, width, clusters) - goal, width, abs(end), error)
        return (side * found,)

    (found,) = each(len(flat["icc"]), one, "differences") or [np.empty(0)]
    if seeks_margin:
        flat["margin"] = found
    else:
        flat["difference"], flat["margin"] = found, np.full(found.shape, width)
    return design.plan(shape, flat)


def _root(excess: object, low: float, end: float, error: float) -> float:
    """Where the excess turns positive between ``low`` and ``end``; ``low`` if it is so there already, nan if nowhere."""
    from scipy.optimize import brentq

    assert callable(excess)
    first, last = low + _NEAR * error, end * (1 - _NEAR)
    if first >= last:
        return float("nan")
    if excess(first) >= 0:
        return low
    low, high = first, min(low + 4 * error, last)
    while excess(high) < 0:
        if high >= last:
            return float("nan")
        low, high = high, min(high + 2 * (high - low), last)
    return float(brentq(excess, low, high, xtol=min(1e-12, 1e-9 * error), rtol=1e-12))
