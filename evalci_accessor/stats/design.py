"""How clustered the scores are: ICC with its interval, design effect, effective sample size, cluster sizes."""

from __future__ import annotations

import numpy as np

from evalci_accessor._typing import IccMethod
from evalci_accessor.exceptions import ScoreRangeError
from evalci_accessor.stats._results import DesignResult, reshape
from evalci_accessor.stats._validate import FloatArray, check_level, check_option, tail
from evalci_accessor.stats.averaged import averaged_posterior
from evalci_accessor.stats.crossed import Crossed
from evalci_accessor.stats.icc import icc_anova, icc_f_interval, icc_fleiss_cuzick, icc_jackknife_interval, icc_pairwise
from evalci_accessor.stats.moments import moments
from evalci_accessor.stats.totals import ClusterTotals

_BY_CLUSTERING = ("n_clusters", "effective_clusters", "largest_share", "size_min", "size_median", "size_max")
_ESTIMATORS = {"anova": icc_anova, "fleiss_cuzick": icc_fleiss_cuzick, "pairwise": icc_pairwise}


def design_effect(
    s: object, m: object, *, ss: object = None, icc_method: IccMethod = "anova", confidence_level: float = 0.95
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
    return design(ClusterTotals.from_sums(s, m, ss), icc_method=icc_method, confidence_level=confidence_level)


def design(t: ClusterTotals, *, icc_method: IccMethod = "anova", confidence_level: float = 0.95) -> DesignResult:
    """`design_effect` on ready `ClusterTotals`."""
    check_option(icc_method, IccMethod, "icc_method")
    level, outside = check_level(confidence_level), tail(confidence_level, "two-sided")
    mo = moments(t)
    if icc_method == "posterior":
        if not t.bounded:
            raise ScoreRangeError("icc_method='posterior' is for scores in [0, 1], and some lie outside. Use 'anova'.")
        posterior = averaged_posterior(t, mo)
        icc = np.where(mo.n > 0, posterior.icc, np.nan)
        low, high = posterior.quantile(outside), posterior.quantile(1 - outside)
    else:
        icc = _ESTIMATORS[icc_method](t)
        low, high = icc_f_interval(t, outside) if icc_method == "anova" else icc_jackknife_interval(t, icc_method, outside)
    single = t.n_clusters < 2
    icc, low, high = (np.where(single, np.nan, value) for value in (icc, low, high))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Under weights Kish's effective rows stand in for the number of rows, as in the default interval.
        clustering = 1 + (mo.effective_rows / mo.effective_clusters - 1) * np.maximum(icc, 0)
        effect = clustering * mo.n / mo.effective_rows
        n_eff = mo.n / effect
    sizes = _size_summary(t)
    parts = {
        "icc": icc, "icc_low": low, "icc_high": high, "design_effect": effect, "n_eff": n_eff,
        "width_ratio": np.sqrt(effect), "n": mo.n.astype(np.int64), "n_clusters": t.n_clusters,
        "effective_clusters": mo.effective_clusters, "largest_share": t.max(mo.h),
        "size_min": sizes[0], "size_median": sizes[1], "size_max": sizes[2],
    }  # fmt: skip
    shaped = {name: reshape(values, t.shape) for name, values in parts.items()}
    return DesignResult(icc_method=str(icc_method), confidence_level=level, **shaped)


def crossed_design(crossed: Crossed, *, icc_method: IccMethod = "anova", confidence_level: float = 0.95) -> DesignResult:
    r"""Design effect of crossed clusterings together.

    :math:`\mathrm{Deff} = 1 + \sum_a e_a \max(\rho_a, 0) - \sum_{a<b} e_{ab} \max(\rho_{ab}, 0) + \dots` with
    :math:`e = M/G^* - 1`, and at least the largest of the clusterings' own. There is no one ICC; the number of clusters is
    the fewest, and their sizes are those of the clustering with the fewest effective clusters.
    """
    every = [design(t, icc_method=icc_method, confidence_level=confidence_level) for t in crossed.margins]
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
            alone = design(crossed.meets[some], icc_method=icc_method, confidence_level=confidence_level)
            icc = np.where(within | (size <= 1e-9), 0.0, np.ravel(alone.icc))
        parts.append(-((-1) ** len(some)) * size * np.maximum(icc, 0))
    own = parts[: len(every)]
    rows = crossed.moments.effective_rows
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = (1 + np.maximum(np.sum(parts, axis=0), np.max(own, axis=0))) * crossed.moments.n / rows
        n = crossed.moments.n
        unknown = np.full(finest.n_groups, np.nan)
        answer = {
            "icc": unknown, "icc_low": unknown, "icc_high": unknown, "design_effect": effect, "n_eff": n / effect,
            "width_ratio": np.sqrt(effect), "n": n.astype(np.int64), **of_smallest,
            "n_clusters": crossed.moments.clusters.astype(np.int64),
        }  # fmt: skip
    shaped = {name: reshape(values, finest.shape) for name, values in answer.items()}
    return DesignResult(icc_method=str(icc_method), confidence_level=check_level(confidence_level), **shaped)


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
