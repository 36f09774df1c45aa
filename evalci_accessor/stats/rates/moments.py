r"""Cluster-robust variances of a mean, from totals, and their Bell-McCaffrey degrees of freedom.

With :math:`h_g` the share of cluster g in the (weighted) items and :math:`r_g = (s_g - p\,m_g)/M`, every variance is
:math:`\sum c_g r_g^2`: CR0 has :math:`c_g = 1`, CR1 :math:`G/(G-1)`, CR2 :math:`1/(1-h_g)`, CR3 :math:`1/(1-h_g)^2`.
"""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np

from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray

RARE_RATE, RARE_CLUSTERS = 0.1, 5


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Moments:
    """What the intervals need of the totals; h and r have an entry a cluster, the others one a group."""

    p: FloatArray
    n: FloatArray
    clusters: FloatArray
    h: FloatArray
    r: FloatArray
    effective_clusters: FloatArray
    effective_rows: FloatArray  # Kish's n under weights, else n
    score_variance: FloatArray  # with n - 1

    @property
    def srs_variance(self) -> FloatArray:
        """Variance of the mean if the n scores were independent."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.score_variance / self.n


def rounded_sums(t: ClusterTotals, mo: Moments) -> FloatArray:
    """Sums as if each score near an end were at it, one entry a cluster; the sums themselves for 0/1 scores.

    Squares forget small distances from 0: the sum of y^2 counts the scores near 1 among scores near 0, and the sum of (1-y)^2
    the scores near 0 among scores near 1.
    """
    scale = t.n / t.m  # a weighted cluster is rounded in units of a mean weight
    low = np.minimum(np.round(t.ss * scale) / scale, t.m)
    high = t.m - np.clip(np.round((t.m - 2 * t.s + t.ss) * scale) / scale, 0.0, t.m)
    rounded = np.where(t.spread(mo.p <= 0.5), low, high)
    return np.where(t.spread(t.binary), t.s, rounded)


def rare_outcomes(t: ClusterTotals, mo: Moments) -> tuple[BoolArray, IntArray]:
    """Where the rarer outcome has a rate of at most .1 and occurs in fewer than five clusters, and in how many it does.

    A fractional score counts as the end that it is near.
    """
    with np.errstate(invalid="ignore"):
        sums = rounded_sums(t, mo) if t.bounded else t.s
        holds_it = np.where(t.spread(mo.p <= 0.5), sums > 0, sums < t.m)
        clusters = t.sum(holds_it.astype(np.float64)).astype(np.int64)
        rarer = np.minimum(mo.p, 1 - mo.p)
        return t.bounded & (rarer > 0) & (rarer <= RARE_RATE) & (clusters < RARE_CLUSTERS), clusters


def moments(t: ClusterTotals) -> Moments:
    """Moments of the totals, nan for a group without scores."""
    with np.errstate(divide="ignore", invalid="ignore"):
        total, n = t.sum(t.m), t.sum(t.n.astype(np.float64))
        p = t.sum(t.s) / total
        h = t.m / t.spread(total)
        spread = t.sum(t.ss) / total - p**2
        spread = np.where(spread > 1e-14 * (p**2 + spread), spread, 0.0)
        return Moments(
            p=p,
            n=n,
            clusters=t.n_clusters.astype(np.float64),
            h=h,
            r=(t.s - t.spread(p) * t.m) / t.spread(total),
            effective_clusters=np.where(n > 0, 1 / t.sum(h * h), np.nan),
            effective_rows=np.where(n > 0, total**2 / t.sum(t.q), np.nan),
            score_variance=np.where(n > 1, spread * n / (n - 1), np.nan),
        )


def _factor(t: ClusterTotals, mo: Moments, kind: str) -> FloatArray:
    if kind == "cr0":
        return np.ones_like(mo.h)
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "cr1":
            return t.spread(mo.clusters / (mo.clusters - 1))
        return (1 - mo.h) ** (-1.0 if kind == "cr2" else -2.0)


def cr_variance(t: ClusterTotals, mo: Moments, kind: str) -> FloatArray:
    """Cluster-robust variance ``"cr0"`` to ``"cr3"`` of the mean, by group; exactly 0 where only rounding is left."""
    variance = t.sum(_factor(t, mo, kind) * mo.r**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        rounding = 1e-24 * t.sum(t.ss) / t.sum(t.m)
    return np.where(mo.n > 0, np.where(variance > rounding, variance, 0.0), np.nan)


def satterthwaite_df(t: ClusterTotals, mo: Moments, kind: str) -> FloatArray:
    r"""Bell-McCaffrey degrees of freedom for working independence.

    :math:`E r_g r_k \propto h_g(\delta_{gk} - h_k)`, so the sum over all pairs has a closed form:
    :math:`(\sum c h(1-h))^2 / (\sum c^2h^2(1-h)^2 + (\sum c h^2)^2 - \sum c^2 h^4)`.
    """
    c, h = _factor(t, mo, kind), mo.h
    with np.errstate(divide="ignore", invalid="ignore"):
        trace = t.sum(c * h * (1 - h))
        df = trace**2 / (t.sum((c * h * (1 - h)) ** 2) + t.sum(c * h * h) ** 2 - t.sum((c * h * h) ** 2))
    return np.where(mo.clusters > 1, df, np.nan)


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Check:
    """A variance that the data show, by group, and the effective sample size of a model to hold it against."""

    # variance, df (H,): CR2 and its degrees of freedom
    variance: FloatArray
    df: FloatArray
    n_eff: FloatArray  # (H,)


class Spread(Protocol):
    """Where a variance and its degrees of freedom come from."""

    def variance(self, kind: str) -> FloatArray:
        """Cluster-robust variance ``"cr0"`` to ``"cr3"`` of the mean, by group."""

    def df(self, kind: str) -> FloatArray:
        """Bell and McCaffrey's degrees of freedom, by group."""

    def checks(self, n_eff: FloatArray) -> list[Check]:
        """What the guard of the default looks at, given the model's effective sample size."""

    def negative(self, kind: str) -> BoolArray:
        """Where the variance came out negative, which only a sum of several can, and another stands in."""


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class OneWay:
    """The spread of a single clustering."""

    t: ClusterTotals
    mo: Moments

    def variance(self, kind: str) -> FloatArray:
        """Cluster-robust variance of the mean, by group."""
        return cr_variance(self.t, self.mo, kind)

    def df(self, kind: str) -> FloatArray:
        """Bell and McCaffrey's degrees of freedom, by group."""
        return satterthwaite_df(self.t, self.mo, kind)

    def checks(self, n_eff: FloatArray) -> list[Check]:
        """CR2 against the model."""
        return [Check(variance=self.variance("cr2"), df=self.df("cr2"), n_eff=n_eff)]

    def negative(self, kind: str) -> BoolArray:  # noqa: ARG002
        """Nowhere: it is a sum of squares."""
        return np.zeros(self.t.n_groups, dtype=bool)


def bell_mccaffrey_df(share: FloatArray) -> float:
    r"""Degrees of freedom of CR2 from the clusters' shares h of the items: with :math:`a_g = h_g^2/(1-h_g)`,
    :math:`1/(\sum h_g^2 + (\sum a_g)^2 - \sum a_g^2)`.
    """
    if share.max(initial=0.0) >= 1:  # but for rounding, and the limit
        return 1.0
    a = share**2 / (1 - share)
    return float(1 / ((share**2).sum() + a.sum() ** 2 - (a * a).sum()))
