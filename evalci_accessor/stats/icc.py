r"""Estimators of the intracluster correlation from cluster totals, and their intervals.

Ridout, Demetrio and Firth (1999), https://doi.org/10.1111/j.0006-341x.1999.00137.x, compare twenty.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evalci_accessor.stats import special
from evalci_accessor.stats.rates.moments import Moments
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import FloatArray, IntArray

# Rounding leaves sums of squares that should be zero at about this share of the sum of the squared scores.
_ROUNDING = 1e-13


def _counts(t: ClusterTotals) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sizes, sums and sums of squares of the clusters; under weights at Kish's sizes, which no scale of the weights moves."""
    if not t.weighted:
        return t.m, t.s, t.ss
    shrink = t.m / t.q
    return t.m * shrink, t.s * shrink, t.ss * shrink


def _inside(total: FloatArray, clusters: IntArray | FloatArray) -> FloatArray:
    """Degrees of freedom within clusters; exactly 0 where weighted sizes differ from 1 by rounding only."""
    rest = total - clusters
    return np.where(rest > 1e-9 * total, rest, 0.0)


def anova_parts(t: ClusterTotals) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean squares between and within clusters, and the average cluster size n0, by group (nan where undefined)."""
    m, s, ss = _counts(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        total, clusters, squares = t.sum(m), t.n_clusters, t.sum(ss)
        p = t.sum(s) / total
        between = t.sum(m * (s / m - t.spread(p)) ** 2)
        within = t.sum(ss - s**2 / m)
        between, within = (np.where(value > _ROUNDING * squares, value, 0.0) for value in (between, within))
        n0 = (total - t.sum(m**2) / total) / (clusters - 1)
        return between / (clusters - 1), within / _inside(total, clusters), n0


def anova_variance(t: ClusterTotals, mo: Moments) -> FloatArray:
    r"""Variance of the mean as the analysis of variance has it, :math:`\hat\sigma_a^2/G^* + MSW/M`, by group.

    With clusters of one size it is CR1, unless the ICC is negative, which counts as 0. Where one cluster holds many of the scores
    CR1 is too small, since the mean follows that cluster. nan where each cluster holds one score.
    """
    msb, msw, n0 = anova_parts(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum((msb - msw) / n0, 0.0) / mo.effective_clusters + msw / mo.effective_rows


def icc_anova(t: ClusterTotals) -> FloatArray:
    r"""ANOVA estimate, :math:`(MSB - MSW)/(MSB + (n_0 - 1) MSW)`; may be negative; nan where all scores are equal."""
    msb, msw, n0 = anova_parts(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (msb - msw) / (msb + (n0 - 1) * msw)


def icc_fleiss_cuzick(t: ClusterTotals) -> FloatArray:
    r"""Fleiss and Cuzick (1979): :math:`1 - \sum m_g q_g (1-q_g) / ((M-G)\,p(1-p))`, for 0/1 scores.

    For other scores the binomial variances are replaced by the empirical ones.
    """
    return _fleiss_cuzick(*map(t.sum, _fleiss_cuzick_parts(t)))


def icc_pairwise(t: ClusterTotals) -> FloatArray:
    r"""Pearson correlation over all ordered pairs of items that share a cluster (Karlin, Cameron and Williams 1981)."""
    return _pairwise(*map(t.sum, _pairwise_parts(t)))


def _fleiss_cuzick_parts(t: ClusterTotals) -> tuple[FloatArray, ...]:
    m, s, ss = _counts(t)
    return np.ones_like(m), m, s, ss, ss - s**2 / m


def _fleiss_cuzick(
    clusters: FloatArray, total: FloatArray, s: FloatArray, ss: FloatArray, within: FloatArray
) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = ss - s**2 / total
        whole = np.where(whole > _ROUNDING * ss, whole, np.nan)
        return 1 - within * total / (_inside(total, clusters) * whole)


def _pairwise_parts(t: ClusterTotals) -> tuple[FloatArray, ...]:
    m, s, ss = _counts(t)
    return m * (m - 1), (m - 1) * s, s**2 - ss, (m - 1) * ss


def _pairwise(pairs: FloatArray, first: FloatArray, product: FloatArray, square: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = first / pairs
        spread = square / pairs - mean**2
        return (product / pairs - mean**2) / np.where(spread > _ROUNDING * square / pairs, spread, np.nan)


def icc_jackknife_interval(t: ClusterTotals, method: str, outside: float) -> tuple[FloatArray, FloatArray]:
    """Interval of the Fleiss-Cuzick or the pairwise estimate: delete-one-cluster jackknife with t on G - 1, cut to [-1, 1]."""
    estimator: Callable[..., FloatArray] = _pairwise if method == "pairwise" else _fleiss_cuzick
    parts = _pairwise_parts(t) if method == "pairwise" else _fleiss_cuzick_parts(t)
    sums = [t.sum(part) for part in parts]
    estimate = estimator(*sums)
    without = estimator(*(t.spread(whole) - part for whole, part in zip(sums, parts, strict=True)))
    with np.errstate(divide="ignore", invalid="ignore"):
        clusters = t.n_clusters.astype(np.float64)
        centre = t.spread(t.sum(without) / clusters)
        error = np.sqrt((clusters - 1) / clusters * t.sum((without - centre) ** 2))
        half = -special.stdtrit(np.maximum(clusters - 1, 1), outside) * error
    return np.maximum(estimate - half, -1.0), np.minimum(estimate + half, 1.0)


def icc_f_interval(t: ClusterTotals, outside: float) -> tuple[FloatArray, FloatArray]:
    r"""Searle's interval of the ANOVA estimate, exact for equal sizes and normal scores.

    With :math:`F = MSB/MSW` and F quantiles on G-1 and M-G degrees of freedom,
    :math:`(F/F_{1-\alpha/2} - 1)/(F/F_{1-\alpha/2} + n_0 - 1)`, and the same with :math:`F_{\alpha/2}`.
    """
    msb, msw, n0 = anova_parts(t)
    df1, df2 = t.n_clusters - 1.0, t.sum(_counts(t)[0]) - t.n_clusters
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = msb / msw
        limits = [ratio / special.fdtri(df1, df2, 1 - outside), ratio / special.fdtri(df1, df2, outside)]
        low, high = [np.where(np.isinf(f), 1.0, (f - 1) / (f + n0 - 1)) for f in limits]
    return low, high
