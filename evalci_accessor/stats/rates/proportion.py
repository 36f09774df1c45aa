"""The textbook intervals of a binomial proportion; they take every item as independent."""

from __future__ import annotations

import numpy as np

from evalci_accessor.exceptions import ScoreError
from evalci_accessor.options import Alternative, ProportionMethod, RateOptions
from evalci_accessor.stats.rates.limits import one_sided, proportion_limits
from evalci_accessor.stats.rates.moments import Moments, cr_variance, moments
from evalci_accessor.stats.results import RateResult, reshape
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import FloatArray, as_float, check_level, check_option, tail


def proportion_ci(
    count: object,
    nobs: object,
    *,
    method: ProportionMethod = "wilson",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> RateResult:
    r"""Interval of a proportion whose items are independent.

    Parameters
    ----------
    count, nobs : array_like of float, broadcastable
        Sum of the scores, each in [0, 1], and number of the scores. ``nobs`` of 0 gives nan.
    method : {"wilson", "wald", "clopper_pearson", "jeffreys", "agresti_coull"}
        Which interval.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"`` gives a lower limit (the upper is 1), ``"less"`` an upper one (the lower is 0), as in scipy.
    confidence_level : float
        Nominal level.

    Returns
    -------
    RateResult
        ``std_error`` is the standard error of the mean of 0/1 scores, :math:`\sqrt{p(1-p)/(n-1)}`;
        nan where all scores are equal.

    Raises
    ------
    ScoreError
        A count below 0 or above ``nobs``.
    MethodError
        An unknown option.

    Notes
    -----
    Wilson: :math:`(p + z^2/2n \pm z\sqrt{p(1-p)/n + z^2/4n^2})/(1 + z^2/n)`. All five assume that the items are
    independent; where they come in clusters every one of them is too narrow. See [1]_ for their coverage.

    References
    ----------
    .. [1] Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial proportion.
       Statistical Science 16, 101-133. https://doi.org/10.1214/ss/1009213286

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> result = stats.proportion_ci(7, 20)
    >>> print(f"{result.ci_low:.4f} {result.ci_high:.4f}")
    0.1812 0.5671
    """
    check_option(method, ProportionMethod, "method")
    outside = tail(confidence_level, alternative)
    x, n = np.broadcast_arrays(as_float(count, "count"), as_float(nobs, "nobs"))
    if (n < 0).any() or (x < 0).any() or (x > n).any():
        raise ScoreError("`count` must lie between 0 and `nobs`, and `nobs` must not be negative.")
    with np.errstate(divide="ignore", invalid="ignore"):
        p = x / n
        std_error = np.sqrt(p * (1 - p) / (n - 1))
    std_error = _known(p, np.where(n > 1, std_error, np.nan))
    low, high = one_sided(*proportion_limits(p, n, method, outside), alternative)
    level = check_level(confidence_level)
    return _independent(p, std_error, low, high, n, method=method, confidence_level=level)


def proportion(t: ClusterTotals, options: RateOptions) -> RateResult:
    """`proportion_ci` on ready totals, in which each score counts for itself whatever its cluster.

    Weighted scores must be clusters of their own.
    """
    method, mo = options.method, moments(t)
    outside = tail(options.confidence_level, options.alternative)
    n, variance = _weighted(t, mo, method) if t.weighted else (mo.n, mo.srs_variance)
    low, high = one_sided(*proportion_limits(mo.p, n, method, outside), options.alternative)
    parts = (mo.p, _known(mo.p, np.sqrt(variance)), low, high, mo.n, n)
    shaped, level = (reshape(part, t.shape) for part in parts), float(options.confidence_level)
    return _independent(*shaped, method=method, confidence_level=level)


def _weighted(t: ClusterTotals, mo: Moments, method: ProportionMethod) -> tuple[FloatArray, FloatArray]:
    """Scores of equal weight that the scores are worth, and the linearised variance of their mean.

    Kish's effective number takes the weights as unrelated to the scores; where these vary more under heavy weights the variance
    says so, and counts. Wald's interval is that of the variance itself, as long as it is one of 0/1 scores.
    """
    linear = cr_variance(t, mo, "cr0")
    with np.errstate(divide="ignore", invalid="ignore"):
        told = np.where(linear > 0, mo.p * (1 - mo.p) / linear, mo.effective_rows)
        cap = np.where(t.binary & (method == "wald"), np.inf, mo.effective_rows)
        n = np.where(mo.n > 0, np.minimum(told, cap), 0.0)
        return n, np.where(mo.n > 1, linear * mo.n / (mo.n - 1), np.nan)


def _known(p: FloatArray, std_error: FloatArray) -> FloatArray:
    """The standard error, but nan where all scores are equal and none can be told."""
    return np.where((p > 0) & (p < 1), std_error, np.nan)


def _independent(
    p: FloatArray,
    std_error: FloatArray,
    low: FloatArray,
    high: FloatArray,
    n: FloatArray,
    n_eff: FloatArray | None = None,
    *,
    method: str,
    confidence_level: float,
) -> RateResult:
    """Fill a result in which each of the n scores counts as its own cluster; ``n_eff`` is n without weights."""
    worth = np.asarray(n if n_eff is None else n_eff, dtype=np.float64)
    nothing = np.full(np.shape(p), np.nan)
    no = np.zeros(np.shape(p), dtype=bool)
    whole = np.asarray(n).astype(np.int64)
    return RateResult(
        estimate=p,
        std_error=std_error,
        ci_low=low,
        ci_high=high,
        df=nothing,
        n=whole,
        n_clusters=whole,
        icc=nothing,
        design_effect=np.divide(n, worth, out=np.full(whole.shape, np.nan), where=whole > 0),
        n_eff=worth,
        method=method,
        confidence_level=confidence_level,
        guard=no,
        fallback=no,
        negative=no,
    )
