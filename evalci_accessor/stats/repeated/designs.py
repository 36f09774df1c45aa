r"""What other numbers of clusters, items and samples would make of the standard error, and what they cost.

The variance of a mean over items in clusters has a part that falls with the number of clusters, one that falls with the number of
items, and one that falls with the number of samples: of all there are, so more clusters lower all three.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from evalci_accessor.exceptions import MethodError, examples
from evalci_accessor.stats.repeated.components import ComponentsResult
from evalci_accessor.stats.validate import BoolArray, FloatArray, as_numbers, is_number, together

SOURCES = ("cluster", "item", "sample")
_TIED = 1 - 1e-9  # gains that differ by rounding only


def projected_error(
    found: ComponentsResult, *, samples: object = None, items: object = None, clusters: object = None
) -> FloatArray:
    r"""Standard error of the mean with other numbers of samples, items and clusters.

    Parameters
    ----------
    found : ComponentsResult
        From `variance_components`.
    samples : array_like, optional
        Samples of an item. By default as many as now; infinity gives the limit. Likewise of the others.
    items : array_like, optional
        Items of a cluster, on average; all items where there are no clusters, or each holds one.
    clusters : array_like, optional
        Clusters.

    Returns
    -------
    ndarray of float
        Of the shape to which the three broadcast.

    Raises
    ------
    MethodError
        A number below 1, or clusters where there are none.
    EvalCIError
        Shapes that do not broadcast.

    See Also
    --------
    variance_components, best_counts

    Notes
    -----
    With the variances :math:`\sigma_a^2` between clusters, :math:`\sigma_b^2` between items and :math:`\sigma_w^2` of samples,
    G clusters of m items with n samples have [1]_

    .. math:: \operatorname{Var}(\bar y) = \frac{\sigma_a^2}{G} + \frac{\sigma_b^2}{Gm} + \frac{\sigma_w^2}{Gmn}.

    Where sizes differ, their ratios are kept: with the shares of the three now (see `ComponentsResult`) and their numbers
    :math:`G_0, m_0, n_0` (m the mean, n the harmonic mean) it is

    .. math::

        \mathrm{SE}^2 \left(s_a \frac{G_0}{G} + s_b \frac{G_0 m_0}{Gm} + s_w \frac{G_0 m_0 n_0}{Gmn}\right),

    which is the same where sizes are equal and no component is negative, and for today's numbers always gives ``std_error``.
    Assumed is that what is added is of the kind of what there is. It is as uncertain as the components: see their intervals.

    References
    ----------
    .. [1] Cochran, W. G. (1977). Sampling Techniques, 3rd ed., sections 10.6 to 10.8. Wiley.

    Examples
    --------
    Four questions, five times each. Twenty samples of each would help less than eight questions.

    >>> from evalci_accessor import stats
    >>> found = stats.variance_components([4, 1, 5, 2], [5, 5, 5, 5])
    >>> stats.projected_error(found, samples=[5, 20, float("inf")]).round(3)
    array([0.183, 0.164, 0.157])
    >>> print(f"{stats.projected_error(found, items=8):.3f}")
    0.129
    """
    now = _counts_now(found)
    if not found.clustered and clusters is not None:
        raise MethodError(
            "there are no clusters of several items, so clusters= says nothing; items= are all items."
        )
    names = ("clusters", "items", "samples")
    ratios = {
        name: np.ones(()) if given is None else count / _count(given, name)
        for given, name, count in zip((clusters, items, samples), names, now, strict=True)
    }
    left = np.cumprod(together(**ratios), axis=0)  # of each source's variance
    shares = found.shares if found.std_error else np.zeros(3)
    return np.asarray(found.std_error * np.sqrt(np.tensordot(shares, left, axes=1)))


def best_counts(found: ComponentsResult, costs: Mapping[str, float] | None = None) -> tuple[float, float]:
    r"""Samples of an item and items of a cluster that give the least standard error for what they cost.

    Parameters
    ----------
    found : ComponentsResult
        From `variance_components`.
    costs : mapping, optional
        What a new ``"sample"``, ``"item"`` and ``"cluster"`` cost, in any unit; what is not named costs 1, 0 and 0: a sample is a
        call of the model.

    Returns
    -------
    samples, items : float
        At least 1 each, not rounded, and infinite where more of them always pays. ``items`` is nan where there are no clusters;
        the number of clusters (or of items there) goes with the budget.

    Raises
    ------
    MethodError
        Costs that are negative or of something else, or a sample that costs nothing.

    See Also
    --------
    variance_components, projected_error

    Notes
    -----
    A cluster of m items with n samples costs :math:`c_a + m c_b + mn c_w`. Variance times cost, and so the variance at any
    budget, is least [1]_ [2]_ at

    .. math::

        n = \sqrt{\frac{\sigma_w^2}{\sigma_b^2} \cdot \frac{c_b}{c_w}}, \qquad
        m = \sqrt{\frac{\sigma_b^2}{\sigma_a^2} \cdot \frac{c_a}{c_b}},

    and half or twice one of these makes the variance at the same budget larger by an eighth at most. Where one is below 1 it is 1,
    with its two stages taken as one. So with free items and clusters one sample of one item of each cluster is best, whatever the
    variances: a call then buys most where everything is new. Negative components count as 0. Where there are no clusters, or each
    holds one item, an item costs both.

    References
    ----------
    .. [1] Cochran, W. G. (1977). Sampling Techniques, 3rd ed., sections 10.6 and 10.8. Wiley.
    .. [2] Snijders, T. A. B. and Bosker, R. J. (1993). Standard errors and sample sizes for two-level research. Journal of
       Educational Statistics 18, 237-259. https://doi.org/10.3102/10769986018003237

    Examples
    --------
    If it costs as much to write a question as to ask a model ten times:

    >>> from evalci_accessor import stats
    >>> found = stats.variance_components([4, 1, 5, 2], [5, 5, 5, 5])
    >>> samples, items = stats.best_counts(found, {"item": 10})
    >>> print(f"{samples:.2f} samples an item")
    4.22 samples an item
    """
    one = check_costs(costs)
    if np.isnan(found.shares).any():
        return np.nan, np.nan
    now = np.array(_counts_now(found))
    each = np.cumprod(now) / now[0]  # of a cluster
    variances = found.shares * each
    prices = _spent(found, one) / each
    if not found.clustered:
        return float(_stages(variances[1:], prices[1:])[0]), np.nan
    items, samples = _stages(variances, prices)
    return float(samples), float(items)


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Levers:
    """What more of each source would do; arrays of shape (3,): clusters, items, samples."""

    share: FloatArray  # of the variance of the estimate
    # Clusters, items of a cluster, samples of an item. All items where there are no clusters, which are nan throughout.
    count: FloatArray
    # std_error_doubled, std_error_limit: with twice as many, and with any number, of this one alone
    std_error_doubled: FloatArray
    std_error_limit: FloatArray
    cost_doubled: FloatArray  # what twice as many would cost
    gain: FloatArray  # relative fall of the variance for a relative rise of the cost, at the margin
    best: BoolArray  # the largest gain; of equal ones the first
    count_best: FloatArray  # as `best_counts` has them; nan for what goes with the budget
    cost: float  # what all costs now


def levers(found: ComponentsResult, costs: Mapping[str, float] | None) -> Levers:
    """What more clusters, more items in each, and more samples of each would do and cost."""
    count = np.array(_counts_now(found))
    spent = _spent(found, check_costs(costs))
    # More clusters are more items, and more items more samples.
    cost, added = float(spent.sum()), spent[::-1].cumsum()[::-1]
    falls = found.shares[::-1].cumsum()[::-1]
    gain = falls / (added / cost)
    first = 0 if found.clustered else 1
    names = ("clusters", "items", "samples")[first:]

    def error(times: float) -> FloatArray:
        ahead = [projected_error(found, **{name: count[first + i] * times}) for i, name in enumerate(names)]
        return np.array([np.nan] * first + [float(one) for one in ahead])

    samples, items = best_counts(found, costs)
    no_clusters = np.array([True, False, False]) & (first == 1)
    best = np.zeros(3, dtype=bool)
    if not np.isnan(gain[first:]).any():
        best[first + int(np.argmax(gain[first:] >= gain[first:].max() * _TIED))] = True
    known = np.where(no_clusters, np.nan, 1.0)
    return Levers(
        share=known * found.shares,
        count=known * count,
        best=best,
        std_error_doubled=error(2.0),
        std_error_limit=error(np.inf),
        gain=known * gain,
        cost_doubled=known * (cost + added),
        count_best=np.array([np.nan, items, samples]),
        cost=cost,
    )


def check_costs(costs: Mapping[str, float] | None) -> FloatArray:
    """The costs of a cluster, an item and a sample."""
    given: dict[Any, Any] = {"cluster": 0.0, "item": 0.0, "sample": 1.0}
    costs = {} if costs is None else costs
    if not isinstance(costs, Mapping):
        raise MethodError(
            f"costs must be a mapping such as {{'sample': 1, 'item': 5, 'cluster': 50}}; got {type(costs).__name__}."
        )
    unknown = [name for name in costs if name not in given]
    if unknown:
        raise MethodError(
            f"costs are of {', '.join(map(repr, SOURCES))}, and these name {examples(map(repr, unknown))}. What is not named "
            "costs 0; a sample, which is a call of the model, costs 1."
        )
    given |= costs
    for name, cost in given.items():
        if not is_number(cost) or not 0 <= cost < np.inf:
            raise MethodError(f"the cost of one {name} must be a finite number of at least 0; got {cost!r}.")
    if given["sample"] == 0:
        raise MethodError(
            "the cost of a sample is 0, so any number of them would be best. Leave it out: costs are then in calls of the model."
        )
    return np.array([float(given[name]) for name in SOURCES])


def _counts_now(found: ComponentsResult) -> tuple[float, float, float]:
    """Clusters, items of each and samples of each; without clusters the items are one cluster's."""
    groups = found.n_clusters if found.clustered else 1
    return float(groups), found.n_items / groups, found.n_samples


def _spent(found: ComponentsResult, one: FloatArray) -> FloatArray:
    """What clusters, items and samples cost now; clusters of one item are part of it."""
    spent = one * [found.n_clusters, found.n_items, found.n_scores]
    return spent if found.clustered else np.array([0.0, spent[0] + spent[1], spent[2]])


def _stages(variances: FloatArray, prices: FloatArray) -> FloatArray:
    """How many of each stage but the first one of the stage before holds, at least 1, so that variance times price is least.

    The numbers of all stages solve a separable convex problem whose order is given, so pooling adjacent violators is exact.
    """
    pools: list[list[float]] = []
    for variance, price in zip(variances, prices, strict=True):
        pools.append([float(variance), float(price), 1])
        while len(pools) > 1 and _ratio(pools[-2]) >= _ratio(pools[-1]):
            last = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], last, strict=True)]
    numbers = np.repeat([np.sqrt(_ratio(pool)) for pool in pools], [int(pool[2]) for pool in pools])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numbers[1:] == numbers[:-1], 1.0, numbers[1:] / numbers[:-1])


def _ratio(pool: list[float]) -> float:
    return pool[0] / pool[1] if pool[1] else np.inf


def _count(given: object, name: str) -> FloatArray:
    numbers = as_numbers(given, f"{name}=", kind=MethodError)
    if not (numbers >= 1).all():
        raise MethodError(f"{name}= must be at least 1; got {examples(numbers[~(numbers >= 1)].tolist())}.")
    return numbers
