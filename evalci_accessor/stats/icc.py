r"""Estimators of the intracluster correlation from cluster totals, and the exact F interval of the ANOVA one.

Ridout, Demetrio and Firth (1999), https://doi.org/10.1111/j.0006-341x.1999.00137.x, compare twenty.
"""

from __future__ import annotations

import numpy as np

from evalci_accessor.stats import _special as special
from evalci_accessor.stats._validate import FloatArray
from evalci_accessor.stats.totals import ClusterTotals

# Rounding leaves sums of squares that should be zero at about this share of the sum of the squared scores.
_ROUNDING = 1e-13


def _counts(t: ClusterTotals) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sizes, sums and sums of squares of the clusters; under weights at Kish's sizes, which no scale of the weights moves."""
    if not t.weighted:
        return t.m, t.s, t.ss
    shrink = t.m / t.q
    return t.m * shrink, t.s * shrink, t.ss * shrink


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
        return between / (clusters - 1), within / (total - clusters), n0


def icc_anova(t: ClusterTotals) -> FloatArray:
    r"""ANOVA estimate, :math:`(MSB - MSW)/(MSB + (n_0 - 1) MSW)`; may be negative; nan where all scores are equal."""
    msb, msw, n0 = anova_parts(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (msb - msw) / (msb + (n0 - 1) * msw)


def icc_fleiss_cuzick(t: ClusterTotals) -> FloatArray:
    r"""Fleiss and Cuzick (1979): :math:`1 - \sum m_g q_g (1-q_g) / ((M-G)\,p(1-p))`, for 0/1 scores.

    For other scores the binomial variances are replaced by the empirical ones.
    """
    m, s, ss = _counts(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        total, squares = t.sum(m), t.sum(ss)
        within = t.sum(ss - s**2 / m)
        whole = squares - t.sum(s) ** 2 / total
        whole = np.where(whole > _ROUNDING * squares, whole, np.nan)
        return 1 - within * total / ((total - t.n_clusters) * whole)


def icc_pairwise(t: ClusterTotals) -> FloatArray:
    r"""Pearson correlation over all ordered pairs of items that share a cluster (Karlin, Cameron and Williams 1981)."""
    m, s, ss = _counts(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = t.sum(m * (m - 1))
        mean = t.sum((m - 1) * s) / pairs
        product = t.sum(s**2 - ss) / pairs
        square = t.sum((m - 1) * ss) / pairs
        spread = square - mean**2
        return (product - mean**2) / np.where(spread > _ROUNDING * square, spread, np.nan)


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
