"""Intervals of one rate (or mean score) under several crossed clusterings, from scores."""

from __future__ import annotations

import numpy as np

from evalci_accessor._typing import Alternative, ClusterMethod, DegreesOfFreedom
from evalci_accessor.exceptions import ClusterError, ScoreError, WeightError
from evalci_accessor.stats._results import RateResult
from evalci_accessor.stats._validate import FloatArray, IntArray, as_float
from evalci_accessor.stats.clustered import rate
from evalci_accessor.stats.crossed import Crossed, check_number


def crossed_ci(
    scores: object,
    clusters: object,
    *,
    weights: object = None,
    method: ClusterMethod = "auto",
    df: DegreesOfFreedom = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: object = None,
) -> RateResult:
    r"""Interval of a rate (or mean score) whose items share ids of several kinds, such as a document and a prompt.

    Parameters
    ----------
    scores : array_like, shape (n,)
        The scores.
    clusters : array_like of int or str, shape (D, n)
        For each of 2 to 4 clusterings, the cluster of each score.
    weights : array_like, shape (n,), optional
        Weights >= 0; their scale does not matter.
    method : str
        ``"auto"`` is ``"icc_averaged"`` for scores in [0, 1] and ``"cr2"`` for others. Further as in `cluster_ci`, of the
        bootstraps only ``"bootstrap_pigeonhole"``.
    df : {"auto", "clusters", "satterthwaite"}
        Degrees of freedom of the methods with a t quantile: G - 1 or Bell and McCaffrey's, of the clustering that has the fewest.
    alternative, confidence_level, n_resamples, rng
        As in `cluster_ci`.

    Returns
    -------
    RateResult
        ``n_clusters`` is that of the clustering with the fewest, ``icc`` nan: there is one for each.

    Raises
    ------
    ClusterError
        A clustering with a single cluster.
    MethodError
        An option that is unknown or that does not apply, one clustering, or more than four.
    ScoreError, WeightError
        Scores or weights that cannot be used.

    Notes
    -----
    The variance is that of Cameron, Gelbach and Miller [1]_: :math:`V = V_a + V_b - V_{ab}`, with CR1's or CR2's factors in each
    term, and by inclusion and exclusion for more. Without factors it is
    :math:`\sum_{i,j} e_i e_j / M^2` over all pairs of scores that share any id. It may be negative; then the largest of the
    clusterings' own stands in, and ``negative`` tells. It rests on clusters that are independent within each clustering.

    The default averages the tail of Clopper and Pearson over the posteriors of all ICCs, at the effective sample size
    :math:`n = M/\mathrm{Deff}`, with :math:`\mathrm{Deff} = 1 + \sum_a e_a\rho_a - \sum_{a<b} e_{ab}\bar\rho_{ab} + \dots`,
    :math:`e = M/G^* - 1`, and Deff at least the largest of the clusterings' own and at most :math:`1 + \max e_a`: shares of a
    variance make up one at most.

    The pigeonhole bootstrap [2]_ resamples the clusters of each clustering, and a score counts by the product of how often its
    clusters were drawn. Its variance is mildly too large.

    References
    ----------
    .. [1] Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering. Journal of Business
       & Economic Statistics 29, 238-249. https://doi.org/10.1198/jbes.2010.07136
    .. [2] Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1, 386-411.
       https://doi.org/10.1214/07-AOAS122

    Examples
    --------
    Three documents under three prompts.

    >>> from evalci_accessor import stats
    >>> result = stats.crossed_ci([1, 1, 0, 1, 1, 0, 0, 1, 0], [list("aaabbbccc"), list("xyzxyzxyz")])
    >>> print(f"{result.estimate:.2f} [{result.ci_low:.2f}, {result.ci_high:.2f}], n_eff {result.n_eff:.1f} of {result.n}")
    0.56 [0.08, 0.96], n_eff 4.0 of 9
    """
    y = as_float(scores, "scores")
    codes = _codes(clusters, y)
    w = None if weights is None else _checked(weights, y)
    crossed = Crossed.from_rows(
        y, codes, weights=w, bounded=bool(((y >= 0) & (y <= 1)).all()), binary=bool(((y == 0) | (y == 1)).all())
    )
    return rate(
        crossed.margins[0], crossed=crossed, method=method, df=df, alternative=alternative, confidence_level=confidence_level,
        n_resamples=n_resamples, rng=rng,
    )  # fmt: skip


def _codes(clusters: object, scores: FloatArray) -> list[IntArray]:
    if scores.ndim != 1 or not len(scores):
        raise ScoreError(f"`scores` must have one axis and at least one score; its shape is {scores.shape}.")
    every = [np.asarray(ids) for ids in clusters]  # type: ignore[attr-defined]
    check_number(len(every))
    for ids in every:
        if ids.shape != scores.shape:
            raise ClusterError(
                f"Each clustering must have an id for each of {len(scores)} scores; one has shape {ids.shape}."
            )
    return [np.unique(ids, return_inverse=True)[1].reshape(-1).astype(np.int64) for ids in every]


def _checked(weights: object, scores: FloatArray) -> FloatArray:
    w = as_float(weights, "weights")
    if w.shape != scores.shape or (w < 0).any() or not w.any():
        raise WeightError(f"`weights` must be {len(scores)} numbers >= 0, not all 0; got shape {w.shape}.")
    return w
