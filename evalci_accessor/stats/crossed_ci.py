"""Intervals of one rate (or mean score) under several crossed clusterings, from scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from evalci_accessor._typing import Alternative, ClusterMethod, DegreesOfFreedom
from evalci_accessor.exceptions import ClusterError, MissingClusterError, ScoreError, WeightError
from evalci_accessor.stats._results import RateResult
from evalci_accessor.stats._validate import FloatArray, IntArray, as_float, scaled
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
    ClusterError, MissingClusterError
        A clustering with a single cluster, or with too few or missing ids.
    MethodError
        An option that is unknown or that does not apply, one clustering, or more than four.
    EvalCIError
        Scores or weights that cannot be used: `ScoreError`, `WeightError`, or that are no finite numbers.

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
    0.56 [0.09, 0.95], n_eff 4.1 of 9
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
    form = f"`clusters` must hold, for each clustering, an id for each of the {len(scores)} scores"
    if isinstance(clusters, str) or not isinstance(clusters, Iterable):
        raise ClusterError(f"{form}; got {type(clusters).__name__}.")
    rows: Any = clusters.to_numpy() if hasattr(clusters, "to_numpy") else clusters  # of a frame the rows are meant
    every = [_ids(ids) for ids in rows]
    wrong = next((ids for ids in every if ids.shape != scores.shape), None)
    if wrong is not None:
        turn = " Turn it over, as with .T." if len(every) == len(scores) else ""
        raise ClusterError(f"{form}: an array of shape (D, {len(scores)}). One clustering has shape {wrong.shape}.{turn}")
    check_number(len(every))
    return [_coded(ids, d) for d, ids in enumerate(every)]


def _ids(ids: object) -> np.ndarray:
    """Ids as an array that does not turn numbers beside text into text."""
    if isinstance(ids, np.ndarray):
        return ids
    listed = list(ids) if isinstance(ids, Iterable) else [ids]
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def _coded(ids: np.ndarray, place: int) -> IntArray:
    if ids.dtype != object:
        missing = (
            np.isnan(ids) if ids.dtype.kind == "f" else np.isnat(ids) if ids.dtype.kind in "mM" else np.zeros(1, dtype=bool)
        )
        codes = np.unique(ids, return_inverse=True)[1]
    else:
        listed = ids.tolist()
        missing = np.array([one is None or not _equals_itself(one) for one in listed])
        seen: dict[tuple[type, object], int] = {}
        try:
            codes = np.array([seen.setdefault((type(one), one), len(seen)) for one in listed])
        except TypeError as error:
            raise ClusterError(
                f"Clustering {place} holds ids that cannot be told apart by hashing ({error}). Ids must be numbers, strings, "
                "dates or tuples."
            ) from error
        codes = _by_text(list(seen), codes)
    if missing.any():
        raise MissingClusterError(
            f"{int(missing.sum())} of {len(ids)} ids of clustering {place} are missing. They are neither one cluster nor none: "
            "leave these scores out, or give each an id of its own if they share nothing."
        )
    return np.asarray(codes, dtype=np.int64).reshape(-1)


def _equals_itself(one: object) -> bool:
    """As marks of a missing value do not: nan says no, and pandas' NA does not say."""
    same = one == one
    return isinstance(same, (bool, np.bool_)) and bool(same)


def _by_text(keys: list[tuple[type, object]], codes: IntArray) -> IntArray:
    """Codes in the order of the ids as text, which no order of the scores moves."""
    order = sorted(range(len(keys)), key=lambda k: (keys[k][0].__name__, str(keys[k][1])))
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys))
    return rank[codes]


def _checked(weights: object, scores: FloatArray) -> FloatArray:
    w = as_float(weights, "weights")
    if w.shape != scores.shape or (w < 0).any() or not w.any():
        raise WeightError(f"`weights` must be {len(scores)} numbers >= 0, not all 0; got shape {w.shape}.")
    return scaled(w)
