"""Intervals of one clustered rate (or mean score): by group from cluster totals, and of crossed clusterings from scores."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, get_args

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor.options import Alternative, ClusterMethod, DegreesOfFreedom, RateOptions, Robust
from evalci_accessor.stats import special, validate
from evalci_accessor.stats.icc import icc_anova
from evalci_accessor.stats.methods import RATE, needing
from evalci_accessor.stats.rates import bootstrap, limits
from evalci_accessor.stats.rates.averaged import AveragedPosterior, averaged_posterior, icc_averaged
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.rates.intersections import check_number
from evalci_accessor.stats.rates.moments import Moments, OneWay, Spread, moments
from evalci_accessor.stats.results import RateResult, reshape
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, as_float

_Drawn: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]  # limits and standard error
_VARIANCES = get_args(Robust)
BINOMIAL_METHODS = needing(RATE, "bounded")


def cluster_ci(
    s: object,
    m: object,
    *,
    ss: object = None,
    method: ClusterMethod = "auto",
    df: DegreesOfFreedom = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: object = None,
) -> RateResult:
    r"""Interval of a rate (or mean score) whose items come in clusters.

    Parameters
    ----------
    s, m : array_like, shape (..., G)
        Sum of the scores and number of the scores of each cluster. A cluster of size 0 counts as absent.
    ss : array_like, shape (..., G), optional
        Sum of the squared scores; not needed for 0/1 scores.
    method : str
        ``"auto"`` is ``"icc_averaged"`` for scores in [0, 1] and ``"cr2"`` for others. Further: ``"cr0"``, ``"cr1"``,
        ``"cr2"``, ``"cr3"`` (t); ``"wald"``, ``"wilson"``, ``"clopper_pearson"`` on the effective sample size with t;
        ``"logit"``; ``"korn_graubard"``; ``"bootstrap_percentile"``, ``"bootstrap_bca"``, ``"bootstrap_t"``,
        ``"bootstrap_exact"``. (`crossed_ci` takes several clusterings.)
    df : {"auto", "clusters", "satterthwaite"}
        Degrees of freedom of the methods with a t quantile: G - 1 or Bell and McCaffrey's; ``"auto"`` takes the latter
        for ``"cr2"`` and the former elsewhere.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"`` gives a lower limit only, ``"less"`` an upper one.
    confidence_level : float
        Nominal level.
    n_resamples : int
        Resamples of the bootstrap methods that draw.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Randomness of these methods; the same seed gives the same numbers.

    Returns
    -------
    RateResult

    Raises
    ------
    ClusterError
        A group with a single cluster.
    ScoreRangeError
        Scores outside [0, 1] under a binomial method.
    MethodError
        An option that is unknown or that the method does not take.

    Notes
    -----
    The default solves :math:`\sum_k w_k I_L(p n_k, (1-p) n_k + 1) = \alpha/2` for its lower limit (and the mirror image
    for the upper): the tail of Clopper and Pearson at the effective sample size
    :math:`n_k = M/(1 + (M/G^* - 1)\rho_k)`, averaged over the posterior :math:`w_k` of the ICC :math:`\rho`. It rests on
    clusters that are exchangeable given their sizes. A guard widens it where the rates go with the sizes. The effective
    sample size follows [1]_, the guard [2]_.

    References
    ----------
    .. [1] Kish, L. (1965). Survey Sampling. Wiley. The averaging: docs, "How the default interval works".
    .. [2] Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
       positive counts estimated from survey data. Survey Methodology 24, 193-201.

    Examples
    --------
    Five documents of four questions; 14 of 20 answers are right.

    >>> from evalci_accessor import stats
    >>> result = stats.cluster_ci([4, 4, 3, 3, 0], [4, 4, 4, 4, 4])
    >>> print(f"{result.estimate:.2f} [{result.ci_low:.2f}, {result.ci_high:.2f}], n_eff {result.n_eff:.1f}")
    0.70 [0.30, 0.95], n_eff 8.4
    """
    return rate(ClusterTotals.from_sums(s, m, ss), RateOptions.of(locals()))


def resolve_method(method: ClusterMethod, *, bounded: bool) -> str:
    """The method that runs: ``"auto"`` is told by the scores alone."""
    validate.check_option(method, ClusterMethod, "method")
    if method == "auto":
        return "icc_averaged" if bounded else "cr2"
    if not bounded and method in BINOMIAL_METHODS:
        raise ex.ScoreRangeError(
            f"method={method!r} is for scores in [0, 1], and some lie outside. Use method='cr2' (the default for such "
            "scores), another cr or bootstrap method, or bring the scores to [0, 1]."
        )
    return str(method)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given:
    """What a caller of `rate` has at hand, or asks for by group."""

    mo: Moments | None = None  # the moments of the totals
    crossed: Crossed | None = None  # several clusterings; the totals are then those of the first
    # Gives the posterior of the default method, where it is used twice.
    posterior: Callable[[], AveragedPosterior] | None = None
    # (H,): what each limit of a group may leave outside, in place of the confidence level; for methods that draw nothing
    levels: FloatArray | None = None


def rate(t: ClusterTotals, options: RateOptions = RateOptions(), given: Given = Given()) -> RateResult:
    """`cluster_ci` on ready totals."""
    mo, crossed, df, n_resamples, rng = given.mo, given.crossed, options.df, options.n_resamples, options.rng
    ran = resolve_method(options.method, bounded=t.bounded)
    bootstrap.check_bootstrap(ran, crossed=crossed is not None)
    validate.check_option(df, DegreesOfFreedom, "df")
    if df != "auto" and (ran == "icc_averaged" or ran.startswith("bootstrap")):
        raise ex.MethodError(
            f"method={ran!r} uses no t quantile, so df={df!r} would be ignored; leave df='auto'."
        )
    one = validate.tail(options.confidence_level, options.alternative)
    outside = np.full(t.n_groups, one) if given.levels is None else given.levels
    validate.check_resamples(n_resamples)
    every = [t] if crossed is None else crossed.margins
    single = np.flatnonzero(np.any([one.n_clusters == 1 for one in every], axis=0))
    if len(single):
        raise ex.ClusterError(
            f"{len(single)} of {t.n_groups} group(s) hold a single cluster, from which no error between clusters can be "
            "told. Use a finer clustering, or proportion_ci if the items really are independent."
        )
    spread: Spread
    if crossed is None:
        mo = moments(t) if mo is None else mo
        spread, icc = OneWay(t, mo), np.zeros(0) if ran == "icc_averaged" else icc_anova(t)
    else:
        mo, spread, icc = crossed.moments, crossed, np.full(t.n_groups, np.nan)  # each clustering has its own
    if ran == "icc_averaged":
        answer = _averaged(t, mo, spread, (given.posterior or lazy_posterior(t, mo, crossed))(), outside)
    elif ran == "bootstrap_pigeonhole":
        assert crossed is not None
        resampled = bootstrap.pigeonhole_limits(crossed, one, n_resamples, rng)
        answer = _resampled(t, mo, resampled[2] == 0, ran, outside, resampled)
    elif ran.startswith("bootstrap"):
        resampled = bootstrap.bootstrap_limits(t, mo, ran, one, n_resamples, rng)
        answer = _resampled(t, mo, spread.variance("cr1") == 0, ran, outside, resampled)
    else:
        answer = _design_based(t, mo, spread, ran, df, outside)
    bounds = (0.0, 1.0) if t.bounded else (-np.inf, np.inf)
    low, high = limits.one_sided(answer.low, answer.high, options.alternative, bounds)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(np.isnan(answer.n_eff), np.nan, mo.n / answer.n_eff)
    no, unknown = np.zeros(t.n_groups, dtype=bool), np.full(t.n_groups, np.nan)
    parts = {
        "estimate": mo.p,
        "std_error": answer.std_error,
        "ci_low": low,
        "ci_high": high,
        "df": unknown if answer.df is None else answer.df,
        "n": mo.n.astype(np.int64),
        "n_clusters": mo.clusters.astype(np.int64),
        "icc": icc if answer.icc is None else answer.icc,
        "design_effect": effect,
        "n_eff": np.where(mo.n > 0, answer.n_eff, 0.0),
        "guard": no if answer.guard is None else answer.guard,
        "fallback": no if answer.fallback is None else answer.fallback,
        "negative": no if answer.negative is None else answer.negative,
    }
    shaped = {name: reshape(values, t.shape) for name, values in parts.items()}
    return RateResult(method=ran, confidence_level=float(options.confidence_level), **shaped)


def lazy_posterior(t: ClusterTotals, mo: Moments, crossed: Crossed | None) -> Callable[[], AveragedPosterior]:
    """What gives the posterior of the default method, computed when it is first asked for."""
    return functools.cache(lambda: averaged_posterior(t, mo) if crossed is None else crossed.posterior())


@dataclasses.dataclass(slots=True, eq=False)
class _Answer:
    """What differs from method to method; None where a method has no such thing."""

    low: FloatArray
    high: FloatArray
    std_error: FloatArray
    n_eff: FloatArray
    icc: FloatArray | None = None
    df: FloatArray | None = None
    guard: BoolArray | None = None
    fallback: BoolArray | None = None
    negative: BoolArray | None = None


def _averaged(
    t: ClusterTotals, mo: Moments, spread: Spread, post: AveragedPosterior, outside: FloatArray
) -> _Answer:
    low, high, variance, df = icc_averaged(mo, spread, outside, post)
    fired = ~np.isnan(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(fired, mo.p * (1 - mo.p) / variance, post.n_eff)
        std_error = np.sqrt(mo.p * (1 - mo.p) / worth)
        # Quasi-counts stand for scores that vary less than 0/1 scores: back to numbers of scores.
        graded = (post.inflation > 1) & (mo.srs_variance > 0)
        of_scores = np.maximum(mo.n * mo.srs_variance / std_error**2, mo.effective_clusters)
        n_eff = np.where(graded, of_scores, worth / post.inflation)
    told = t.sum((t.n > 1).astype(np.float64)) > 0  # singletons leave the prior as it was
    std_error, icc = np.where((mo.p > 0) & (mo.p < 1), std_error, np.nan), np.where(told, post.icc, np.nan)
    return _Answer(low, high, std_error, n_eff, icc=icc, df=df, guard=fired)


def _design_based(
    t: ClusterTotals, mo: Moments, spread: Spread, method: str, df: DegreesOfFreedom, outside: FloatArray
) -> _Answer:
    kind = method if method in _VARIANCES else "cr1"
    variance = spread.variance(kind)
    satterthwaite = df == "satterthwaite" or (df == "auto" and kind == "cr2")
    freedom = spread.df(kind) if satterthwaite else mo.clusters - 1
    freedom = np.where(mo.clusters > 1, freedom, np.nan)
    quantile = np.asarray(-special.stdtrit(freedom, outside), dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        n_eff = mo.n * mo.srs_variance / variance
    std_error = np.sqrt(variance)
    low, high = _design_limits(method, mo, std_error, quantile, outside)
    empty = mo.n == 0
    low, high = np.where(empty, np.nan, low), np.where(empty, np.nan, high)
    if t.bounded:
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    flat = variance == 0
    if flat.any():
        n_eff = np.where(flat, mo.effective_clusters, n_eff)
        spare = _fallback_limits(t, mo, method, quantile, outside)
        low, high = np.where(flat, spare[0], low), np.where(flat, spare[1], high)
        if t.bounded:
            freedom = np.where(flat, np.nan, freedom)
    negative = spread.negative(kind)
    return _Answer(low, high, std_error, n_eff, df=freedom, fallback=flat, negative=negative)


def _fallback_limits(
    t: ClusterTotals, mo: Moments, method: str, quantile: FloatArray, outside: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Limits where the variance between clusters is zero: each cluster counts as one item, whatever it holds."""
    n = mo.effective_clusters
    with np.errstate(divide="ignore", invalid="ignore"):
        if not t.bounded:
            half = quantile * np.sqrt(mo.score_variance / n)
            half = np.where(half > 0, half, np.nan)  # all scores equal on an open scale: nothing can be said
            return mo.p - half, mo.p + half
        if method == "wilson":
            return limits.wilson_limits(mo.p, n, -special.ndtri(outside))
        return limits.beta_limits(mo.p, n, outside)


def _design_limits(
    method: str, mo: Moments, std_error: FloatArray, quantile: FloatArray, outside: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Limits from a standard error and a t quantile, before anything is cut to [0, 1]."""
    p, variance = mo.p, std_error**2
    with np.errstate(divide="ignore", invalid="ignore"):
        if method in _VARIANCES:
            return p - quantile * std_error, p + quantile * std_error
        if method == "logit":
            half = quantile * std_error / (p * (1 - p))
            return special.expit(special.logit(p) - half), special.expit(special.logit(p) + half)
        if method == "korn_graubard":  # as survey::svyciprop(method="beta"), which does not cut n_eff at n
            rows = special.stdtrit(np.maximum(mo.n - 1, 1.0), outside)
            return limits.beta_limits(
                p, p * (1 - p) / variance * limits.squared_ratio(rows, -quantile), outside
            )
        n_eff = p * (1 - p) / variance * mo.n / (mo.n - 1)
        if method == "clopper_pearson":
            return limits.beta_limits(
                p, n_eff * limits.squared_ratio(special.ndtri(outside), -quantile), outside
            )
        if method == "wilson":
            return limits.wilson_limits(p, n_eff, quantile)
        return limits.wald_limits(p, n_eff, quantile)


def _resampled(
    t: ClusterTotals, mo: Moments, flat: BoolArray, method: str, outside: FloatArray, resampled: _Drawn
) -> _Answer:
    low, high, std_error = resampled
    flat = flat & (mo.n > 0)
    quantile = np.asarray(-special.stdtrit(np.maximum(mo.clusters - 1, 1), outside), dtype=np.float64)
    spare = _fallback_limits(t, mo, method, quantile, outside)
    low, high = np.where(flat, spare[0], low), np.where(flat, spare[1], high)
    if t.bounded:
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        n_eff = np.where(flat, mo.effective_clusters, mo.n * mo.srs_variance / std_error**2)
    return _Answer(low, high, std_error, n_eff, fallback=flat)


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
    bounded, binary = bool(((y >= 0) & (y <= 1)).all()), bool(((y == 0) | (y == 1)).all())
    crossed = Crossed.from_rows(y, codes, weights=w, bounded=bounded, binary=binary)
    return rate(crossed.margins[0], RateOptions.of(locals()), Given(crossed=crossed))


def _codes(clusters: object, scores: FloatArray) -> list[IntArray]:
    if scores.ndim != 1 or not len(scores):
        raise ex.ScoreError(
            f"`scores` must have one axis and at least one score; its shape is {scores.shape}."
        )
    form = f"`clusters` must hold, for each clustering, an id for each of the {len(scores)} scores"
    if isinstance(clusters, str) or not isinstance(clusters, Iterable):
        raise ex.ClusterError(f"{form}; got {type(clusters).__name__}.")
    rows: Any = clusters.to_numpy() if hasattr(clusters, "to_numpy") else clusters  # rows of a frame
    every = [_ids(ids) for ids in rows]
    wrong = next((ids for ids in every if ids.shape != scores.shape), None)
    if wrong is not None:
        turn = " Turn it over, as with .T." if len(every) == len(scores) else ""
        shape = f"(D, {len(scores)}). One clustering has shape {wrong.shape}"
        raise ex.ClusterError(f"{form}: an array of shape {shape}.{turn}")
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
        missing = ids != ids  # nan and nat
        codes = np.unique(ids, return_inverse=True)[1]
    else:
        listed = ids.tolist()
        missing = np.array([one is None or not _equals_itself(one) for one in listed])
        seen: dict[tuple[type, object], int] = {}
        try:
            codes = np.array([seen.setdefault((type(one), one), len(seen)) for one in listed])
        except TypeError as error:
            raise ex.ClusterError(
                f"Clustering {place} holds ids that cannot be told apart by hashing ({error}). Ids must be numbers, strings, "
                "dates or tuples."
            ) from error
        codes = _by_text(list(seen), codes)
    if missing.any():
        raise ex.MissingClusterError(
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
        raise ex.WeightError(f"`weights` must be {len(scores)} numbers >= 0, not all 0; got shape {w.shape}.")
    return validate.scaled(w)
