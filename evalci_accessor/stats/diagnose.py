"""What a reader of an interval should know about the clusters, told from the totals alone."""

from __future__ import annotations

import dataclasses

import numpy as np

from evalci_accessor.stats._results import RateResult
from evalci_accessor.stats._validate import BoolArray, FloatArray, IntArray
from evalci_accessor.stats.moments import Moments, moments, rare_outcomes, satterthwaite_df
from evalci_accessor.stats.proportion import beta_limits
from evalci_accessor.stats.totals import ClusterTotals

FEW_CLUSTERS, FEW_DF = 5.0, 4.0
DOMINANT_SHARE = 0.25
BOOTSTRAP_CLUSTERS, BOOTSTRAP_OUTCOMES = 30.0, 5.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnosis:
    """Which warnings apply to which group; every array has shape (H,).

    Parameters
    ----------
    few : ndarray of bool
        Fewer than 5 effective clusters, or under 4 Satterthwaite degrees of freedom.
    effective_clusters, df : ndarray of float
        The two figures.
    dominant : ndarray of bool
        A cluster holds over a quarter of the (weighted) scores.
    largest, largest_share : ndarray
        Which cluster id that is (-1 where none dominates), and its share.
    degenerate : ndarray of bool
        All scores, or all cluster rates, are equal.
    rare : ndarray of bool
        The rarer outcome has a rate of at most .1 and occurs in fewer than five clusters.
    rare_clusters : ndarray of int
        In how many.
    guard : ndarray of bool
        The default interval was widened by its guard.
    size_correlation : ndarray of float
        Correlation of cluster rate and cluster size; nan where the guard did not fire.
    singletons : ndarray of bool
        Every cluster holds one score.
    fallback : ndarray of bool
        The variance was zero and the effective number of clusters stood in.
    unreliable_bootstrap : ndarray of bool
        A bootstrap outside its rule of thumb.
    """

    few: BoolArray
    effective_clusters: FloatArray
    df: FloatArray
    dominant: BoolArray
    largest: IntArray
    largest_share: FloatArray
    degenerate: BoolArray
    rare: BoolArray
    rare_clusters: IntArray
    guard: BoolArray
    size_correlation: FloatArray
    singletons: BoolArray
    fallback: BoolArray
    unreliable_bootstrap: BoolArray


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
