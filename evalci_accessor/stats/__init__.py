"""The statistics as functions of arrays: numpy and scipy, no container.

Kernels take cluster totals of shape ``(..., G)``, the clusters along the last axis, and return frozen dataclasses.
"""

from evalci_accessor.stats import simulate
from evalci_accessor.stats._plan_pair import PowerPlan
from evalci_accessor.stats._results import DesignResult, DifferenceResult, PairTestResult, RateResult
from evalci_accessor.stats.clustered import cluster_ci
from evalci_accessor.stats.components import ComponentsResult, variance_components
from evalci_accessor.stats.crossed_ci import crossed_ci
from evalci_accessor.stats.design import design_effect
from evalci_accessor.stats.designs import best_counts, projected_error
from evalci_accessor.stats.difference import diff_ci
from evalci_accessor.stats.multiplicity import adjust_pvalues
from evalci_accessor.stats.pair_tests import mcnemar
from evalci_accessor.stats.plan_pair import mde, power
from evalci_accessor.stats.plan_rate import WidthPlan, half_width
from evalci_accessor.stats.plan_required import RequiredPlan, required_clusters, required_items
from evalci_accessor.stats.posterior import IccPosterior, icc_posterior
from evalci_accessor.stats.proportion import proportion_ci
from evalci_accessor.stats.repeated import RepeatedResult, best_of_k, pass_at_k, pass_hat_k
from evalci_accessor.stats.simulate import CoverageResult
from evalci_accessor.stats.totals import ClusterTotals

__all__ = [
    "ClusterTotals",
    "ComponentsResult",
    "CoverageResult",
    "DesignResult",
    "DifferenceResult",
    "IccPosterior",
    "PairTestResult",
    "PowerPlan",
    "RateResult",
    "RepeatedResult",
    "RequiredPlan",
    "WidthPlan",
    "adjust_pvalues",
    "best_counts",
    "best_of_k",
    "cluster_ci",
    "crossed_ci",
    "design_effect",
    "diff_ci",
    "half_width",
    "icc_posterior",
    "mcnemar",
    "mde",
    "pass_at_k",
    "pass_hat_k",
    "power",
    "projected_error",
    "proportion_ci",
    "required_clusters",
    "required_items",
    "simulate",
    "variance_components",
]
