"""How clustered the scores are, and what a reader of an interval should know about the clusters."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from evalci_accessor.exceptions import ScoreRangeError
from evalci_accessor.options import IccMethod, IccOptions
from evalci_accessor.stats import icc as iccs
from evalci_accessor.stats.rates.averaged import averaged_posterior
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.rates.limits import beta_limits
from evalci_accessor.stats.rates.moments import Moments, moments, rare_outcomes, satterthwaite_df
from evalci_accessor.stats.results import DesignResult, RateResult, reshape
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, check_option, tail

_BY_CLUSTERING = ("n_clusters", "effective_clusters", "largest_share", "size_min", "size_median", "size_max")
_ESTIMATORS = {
    "anova": iccs.icc_anova,
    "fleiss_cuzick": iccs.icc_fleiss_cuzick,
    "pairwise": iccs.icc_pairwise,
}


def design_effect(
    s: object,
    m: object,
    *,
    ss: object = None,
    icc_method: IccMethod = "anova",
    confidence_level: float = 0.95,
) -> DesignResult:
    r"""Intracluster correlation, design effect and effective sample size.

    Parameters
    ----------
    s, m : array_like, shape (..., G)
        Sum of the scores and number of the scores of each cluster. A cluster of size 0 counts as absent.
    ss : array_like, shape (..., G), optional
        Sum of the squared scores; not needed for 0/1 scores.
    icc_method : {"anova", "fleiss_cuzick", "pairwise", "posterior"}
        Estimator of the ICC; ``"posterior"`` is the mean of the posterior that the default interval averages over.
    confidence_level : float
        Level of the ICC's interval.

    Returns
    -------
    DesignResult
        A group with fewer than two clusters, and the ICC of scores that are all equal, are nan.

    Raises
    ------
    ScoreError
        Totals that cannot be.
    ScoreRangeError
        ``icc_method="posterior"`` for scores outside [0, 1].
    MethodError
        An unknown option.

    Notes
    -----
    :math:`\mathrm{Deff} = 1 + (\sum m_g^2/M - 1)\max(\rho, 0)` [1]_; the mean size in place of :math:`\sum m_g^2/M` is too
    small whenever sizes differ. The ANOVA estimate comes with Searle's F interval, exact for equal sizes and normal scores;
    Fleiss and Cuzick's and the pairwise one with a delete-one-cluster jackknife; the posterior with its quantiles. All
    describe these data as they are; the default interval of `cluster_ci` averages over what the ICC could be instead, so its
    columns differ where the data say little.

    References
    ----------
    .. [1] Kish, L. (1965). Survey Sampling. Wiley.
    .. [2] Ridout, M. S., Demetrio, C. G. B. and Firth, D. (1999). Estimating intraclass correlation for binary data.
       Biometrics 55, 137-148. https://doi.org/10.1111/j.0006-341x.1999.00137.x

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> result = stats.design_effect([3, 5, 2, 4, 5, 1, 5, 3], [5] * 8)
    >>> print(f"ICC {result.icc:.3f}, Deff {result.design_effect:.2f}, n_eff {result.n_eff:.1f} of {result.n}")
    ICC 0.266, Deff 2.06, n_eff 19.4 of 40
    """
    return design(ClusterTotals.from_sums(s, m, ss), IccOptions.of(locals()))


def design(t: ClusterTotals, options: IccOptions = IccOptions()) -> DesignResult:
    """`design_effect` on ready `ClusterTotals`."""
    icc_method = options.icc_method
    check_option(icc_method, IccMethod, "icc_method")
    outside = tail(options.confidence_level, "two-sided")
    mo = moments(t)
    if icc_method == "posterior":
        if not t.bounded:
            raise ScoreRangeError(
                "icc_method='posterior' is for scores in [0, 1], and some lie outside. Use 'anova'."
            )
        posterior = averaged_posterior(t, mo)
        icc = np.where(mo.n > 0, posterior.icc, np.nan)
        low, high = posterior.quantile(outside), posterior.quantile(1 - outside)
    else:
        icc = _ESTIMATORS[icc_method](t)
        if icc_method == "anova":
            low, high = iccs.icc_f_interval(t, outside)
        else:
            low, high = iccs.icc_jackknife_interval(t, icc_method, outside)
    single = t.n_clusters < 2
    icc, low, high = (np.where(single, np.nan, value) for value in (icc, low, high))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Under weights Kish's effective rows stand in for the number of rows, as in the default interval.
        clustering = 1 + (mo.effective_rows / mo.effective_clusters - 1) * np.maximum(icc, 0)
        effect = clustering * mo.n / mo.effective_rows
        n_eff = mo.n / effect
    sizes = _size_summary(t)
    parts = {
        "icc": icc,
        "icc_low": low,
        "icc_high": high,
        "design_effect": effect,
        "n_eff": n_eff,
        "width_ratio": np.sqrt(effect),
        "n": mo.n.astype(np.int64),
        "n_clusters": t.n_clusters,
        "effective_clusters": mo.effective_clusters,
        "largest_share": t.max(mo.h),
        "size_min": sizes[0],
        "size_median": sizes[1],
        "size_max": sizes[2],
    }
    return _result(parts, t.shape, options)


def _result(parts: dict[str, Any], shape: tuple[int, ...], options: IccOptions) -> DesignResult:
    shaped = {name: reshape(values, shape) for name, values in parts.items()}
    level = float(options.confidence_level)
    return DesignResult(icc_method=str(options.icc_method), confidence_level=level, **shaped)


def crossed_design(crossed: Crossed, options: IccOptions = IccOptions()) -> DesignResult:
    r"""Design effect of crossed clusterings together.

    :math:`\mathrm{Deff} = 1 + \sum_a e_a \max(\rho_a, 0) - \sum_{a<b} e_{ab} \max(\rho_{ab}, 0) + \dots` with
    :math:`e = M/G^* - 1`, and at least the largest of the clusterings' own. There is no one ICC; the number of clusters is
    the fewest, and their sizes are those of the clustering with the fewest effective clusters.
    """
    every = [design(t, options) for t in crossed.margins]
    flat = [{name: np.ravel(getattr(one, name)) for name in _BY_CLUSTERING} for one in every]
    of_smallest = {name: np.choose(crossed.smallest, [one[name] for one in flat]) for name in _BY_CLUSTERING}
    finest = crossed.finest
    excess = crossed.excess(np.ones(finest.n_groups))
    parts = []
    for some, size in excess.items():
        if len(some) == 1:
            icc = np.where(crossed.nested[some[0]], 0.0, np.ravel(every[some[0]].icc))
        else:
            within = crossed.nested[list(some)].any(axis=0)
            alone = design(crossed.meets[some], options)
            icc = np.where(within | (size <= 1e-9), 0.0, np.ravel(alone.icc))
        parts.append(-((-1) ** len(some)) * size * np.maximum(icc, 0))
    own = parts[: len(every)]
    rows = crossed.moments.effective_rows
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = (1 + np.maximum(np.sum(parts, axis=0), np.max(own, axis=0))) * crossed.moments.n / rows
        n = crossed.moments.n
        unknown = np.full(finest.n_groups, np.nan)
        answer = {
            "icc": unknown,
            "icc_low": unknown,
            "icc_high": unknown,
            "design_effect": effect,
            "n_eff": n / effect,
            "width_ratio": np.sqrt(effect),
            "n": n.astype(np.int64),
            **of_smallest,
            "n_clusters": crossed.moments.clusters.astype(np.int64),
        }
    return _result(answer, finest.shape, options)


def _size_summary(t: ClusterTotals) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Least, median and greatest number of scores in a cluster, by group."""
    order = np.lexsort((t.n, t.group))
    sizes = t.n[order].astype(np.float64)
    out = np.full((3, t.n_groups), np.nan)
    filled = t.n_clusters > 0
    first, count = t.offsets[:-1][filled], t.n_clusters[filled]
    middle = first + (count - 1) // 2, first + count // 2
    out[:, filled] = sizes[first], (sizes[middle[0]] + sizes[middle[1]]) / 2, sizes[first + count - 1]
    return out[0], out[1], out[2]


FEW_CLUSTERS, FEW_DF = 5.0, 4.0
DOMINANT_SHARE = 0.25
BOOTSTRAP_CLUSTERS, BOOTSTRAP_OUTCOMES = 30.0, 5.0


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Diagnosis:
    """Which warnings apply to which group; every array has shape (H,)."""

    few: BoolArray  # fewer than 5 effective clusters, or under 4 Satterthwaite degrees of freedom
    # effective_clusters, df: the two figures
    effective_clusters: FloatArray
    df: FloatArray
    dominant: BoolArray  # a cluster holds over a quarter of the (weighted) scores
    # largest, largest_share: which cluster id that is (-1 where none dominates), and its share
    largest: IntArray
    largest_share: FloatArray
    degenerate: BoolArray  # all scores, or all cluster rates, are equal
    rare: BoolArray  # the rarer outcome has a rate of at most .1 and occurs in fewer than five clusters
    rare_clusters: IntArray  # in how many
    guard: BoolArray  # the default interval was widened by its guard
    # Correlation of cluster rate and cluster size; nan where the guard did not fire.
    size_correlation: FloatArray
    singletons: BoolArray  # every cluster holds one score
    fallback: BoolArray  # the variance was zero and the effective number of clusters stood in
    unreliable_bootstrap: BoolArray  # a bootstrap outside its rule of thumb


def diagnose(t: ClusterTotals, mo: Moments, result: RateResult) -> Diagnosis:
    """Look at the totals behind a result."""
    filled = t.n_clusters > 0
    df = satterthwaite_df(t, mo, "cr2")
    share = t.max(mo.h)
    singletons = filled & (t.max(t.n.astype(np.float64)) == 1)
    rate = t.s / t.m
    dominant = filled & (share > DOMINANT_SHARE * (1 + 1e-12))
    with np.errstate(invalid="ignore"):
        least, most = -t.max(-rate), t.max(rate)
        equal_rates = filled & (most - least <= 1e-12 * np.maximum(np.abs(most), 1)) & ~singletons
        rarer = np.minimum(mo.p, 1 - mo.p)
        rare, rare_clusters = rare_outcomes(t, mo)
        constant = filled & (mo.score_variance == 0) | (filled & t.bounded & (rarer <= 0))
        limits_met = (mo.effective_clusters >= BOOTSTRAP_CLUSTERS * (1 - 1e-9)) & (
            ~np.full(t.n_groups, t.bounded) | (mo.effective_clusters * rarer >= BOOTSTRAP_OUTCOMES)
        )
        few = filled & ((mo.effective_clusters < FEW_CLUSTERS * (1 - 1e-9)) | (df < FEW_DF * (1 - 1e-9)))
    return Diagnosis(
        few=few,
        effective_clusters=mo.effective_clusters,
        df=df,
        dominant=dominant,
        largest=_largest(t, mo.h) if dominant.any() else np.full(t.n_groups, -1, dtype=np.int64),
        largest_share=share,
        degenerate=equal_rates | constant,
        rare=rare,
        rare_clusters=rare_clusters,
        guard=np.ravel(result.guard),
        size_correlation=_correlation(t, rate) if np.any(result.guard) else np.full(t.n_groups, np.nan),
        singletons=singletons,
        fallback=np.ravel(result.fallback),
        unreliable_bootstrap=filled & result.method.startswith("bootstrap") & ~limits_met,
    )


def sensitivity(t: ClusterTotals, h: int, icc: float, outside: float) -> tuple[float, float]:
    """Clopper-Pearson limits of group ``h`` if the ICC were known to be ``icc``."""
    mo = moments(t.one(h))
    rows = mo.effective_rows
    n = rows / (1 + (rows / mo.effective_clusters - 1) * icc)
    low, high = beta_limits(mo.p, n, outside)
    return float(low[0]), float(high[0])


def _largest(t: ClusterTotals, h: FloatArray) -> IntArray:
    """Cluster id with the largest share, by group; -1 for a group without scores."""
    out = np.full(t.n_groups, -1, dtype=np.int64)
    order = np.lexsort((-t.cluster, h, t.group))
    filled = t.n_clusters > 0
    out[filled] = t.cluster[order[t.offsets[1:][filled] - 1]]
    return out


def _correlation(t: ClusterTotals, rate: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        x = t.m - t.spread(t.sum(t.m) / t.n_clusters)
        y = rate - t.spread(t.sum(rate) / t.n_clusters)
        return t.sum(x * y) / np.sqrt(t.sum(x * x) * t.sum(y * y))
