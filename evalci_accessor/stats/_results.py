"""What the statistics return: frozen dataclasses of arrays, one entry a group."""

from __future__ import annotations

import dataclasses

import numpy as np

from evalci_accessor.stats._validate import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RateResult:
    """A rate (or mean score) with its interval, by group.

    Every array has the shape of the groups, ``()`` for a single one. A group without scores holds nan.

    Parameters
    ----------
    estimate : ndarray of float
        Mean of the scores, weighted if weights were given. No method moves it.
    std_error : ndarray of float
        Its standard error; nan where the method can name none.
    ci_low, ci_high : ndarray of float
        Limits, in the units of the scores.
    df : ndarray of float
        Degrees of freedom of the t quantile, nan where none was used.
    n, n_clusters : ndarray of int
        Scores, and clusters that hold one.
    icc : ndarray of float
        Intracluster correlation: posterior mean under ``icc_averaged``, else the ANOVA estimate.
    design_effect : ndarray of float
        Variance of the estimate over the variance that n independent scores would give.
    n_eff : ndarray of float
        ``n / design_effect``.
    method : str
        What ran.
    confidence_level : float
        Nominal level.
    guard : ndarray of bool
        Where the default interval was widened because rates go with cluster sizes.
    fallback : ndarray of bool
        Where the estimated variance was zero and the effective number of clusters stood in for the sample size.
    """

    estimate: FloatArray
    std_error: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    df: FloatArray
    n: IntArray
    n_clusters: IntArray
    icc: FloatArray
    design_effect: FloatArray
    n_eff: FloatArray
    method: str
    confidence_level: float
    guard: BoolArray
    fallback: BoolArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DesignResult:
    """How clustered the scores are, by group. Every array has the shape of the groups.

    Parameters
    ----------
    icc, icc_low, icc_high : ndarray of float
        Intracluster correlation with its interval.
    design_effect : ndarray of float
        ``1 + (sum(m**2) / sum(m) - 1) * max(icc, 0)`` for cluster sizes m.
    n_eff : ndarray of float
        ``n / design_effect``.
    width_ratio : ndarray of float
        ``sqrt(design_effect)``: how many times too narrow an interval for independent items is.
    n, n_clusters : ndarray of int
        Scores, and clusters that hold one.
    effective_clusters : ndarray of float
        Kish's effective number of clusters, ``sum(m)**2 / sum(m**2)``.
    largest_share : ndarray of float
        Share of the scores that the largest cluster holds.
    size_min, size_median, size_max : ndarray of float
        Summary of the cluster sizes.
    icc_method : str
        Which estimator.
    confidence_level : float
        Nominal level of the ICC's interval.
    """

    icc: FloatArray
    icc_low: FloatArray
    icc_high: FloatArray
    design_effect: FloatArray
    n_eff: FloatArray
    width_ratio: FloatArray
    n: IntArray
    n_clusters: IntArray
    effective_clusters: FloatArray
    largest_share: FloatArray
    size_min: FloatArray
    size_median: FloatArray
    size_max: FloatArray
    icc_method: str
    confidence_level: float


def reshape(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Give the flat answers of H groups the shape of the groups."""
    return np.asarray(values).reshape(shape)
