"""What the statistics return: frozen dataclasses of arrays, one entry a group."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray


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
    negative : ndarray of bool
        Where the variance of crossed clusterings came out negative and the largest of their own stood in.
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
    negative: BoolArray


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


class _OfPairs:
    __slots__ = ()

    def shaped(self, shape: tuple[int, ...]) -> Self:
        """The same with the arrays in the shape of the pairs."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        arrays = {name: reshape(v, shape) for name, v in fields.items() if isinstance(v, np.ndarray)}
        return type(self)(**fields | arrays)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DifferenceResult(_OfPairs):
    """Difference of two systems on the same items, by pair. Every array has the shape of the pairs.

    Parameters
    ----------
    difference : ndarray of float
        Mean score of the first minus that of the second.
    std_error : ndarray of float
        Its standard error; nan where no difference varies and the method can name none.
    ci_low, ci_high : ndarray of float
        Limits, in the units of the scores.
    statistic : ndarray of float
        The t ratio of the ``cr`` methods, and of the bootstrap the difference over its error; else the standard normal value
        with the one-sided p-value. Above 0 where the first system is ahead.
    pvalue : ndarray of float
        P-value of no difference, on the side asked for.
    simultaneous_low, simultaneous_high : ndarray of float
        Limits that hold for all pairs of a family at once; the ordinary ones where none was asked for.
    margin : float
        The margin of the claim, 0 without one.
    verdict : ndarray of str
        ``"superior"``, ``"inferior"``, ``"noninferior"``, ``"equivalent"``, ``"different"`` or ``"inconclusive"``.
    pvalue_verdict : ndarray of float
        P-value of the claim; at or below 1 - confidence_level where the verdict affirms it.
    n_pairs, n_clusters : ndarray of int
        Items that both systems have, and clusters that hold them.
    method : str
        What ran.
    confidence_level : float
        Nominal level.
    fallback : ndarray of bool
        Where no difference varied, so that a pseudo-difference each way stood in for the variance.
    """

    difference: FloatArray
    std_error: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    statistic: FloatArray
    pvalue: FloatArray
    simultaneous_low: FloatArray
    simultaneous_high: FloatArray
    margin: float
    verdict: np.ndarray
    pvalue_verdict: FloatArray
    n_pairs: IntArray
    n_clusters: IntArray
    method: str
    confidence_level: float
    fallback: BoolArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTestResult(_OfPairs):
    """A test of whether two systems differ on the same items, by pair. Every array has the shape of the pairs.

    Parameters
    ----------
    statistic : ndarray of float
        ``exact``, ``midp``: the items that only the first passed, a binomial count; ``icc_averaged``: the standard normal value
        with the one-sided p-value; ``sign_flip``: the difference; the others: chi-square on one degree of freedom.
    pvalue : ndarray of float
        P-value on the side asked for.
    null : str
        The null hypothesis: ``"equal rates"``, or ``"exchangeable systems"`` of the sign-flip test.
    method : str
        What ran.
    alternative : str
        Its side.
    """

    statistic: FloatArray
    pvalue: FloatArray
    null: str
    method: str
    alternative: str
