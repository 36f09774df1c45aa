"""The statistics as functions of arrays: numpy and scipy, no container.

Kernels take cluster totals of shape ``(..., G)``, the clusters along the last axis, and return frozen dataclasses.
"""

from evalci_accessor.stats import simulate
from evalci_accessor.stats.pairs.difference import diff_ci
from evalci_accessor.stats.pairs.multiplicity import adjust_pvalues
from evalci_accessor.stats.pairs.tests import mcnemar
from evalci_accessor.stats.planning.pair import PowerPlan, mde, power
from evalci_accessor.stats.planning.rate import WidthPlan, half_width
from evalci_accessor.stats.planning.required import RequiredPlan, required_clusters
from evalci_accessor.stats.rates.clustered import cluster_ci, crossed_ci
from evalci_accessor.stats.rates.design import design_effect
from evalci_accessor.stats.rates.posterior import IccPosterior, icc_posterior
from evalci_accessor.stats.rates.proportion import proportion_ci
from evalci_accessor.stats.repeated.components import ComponentsResult, variance_components
from evalci_accessor.stats.repeated.designs import best_counts, projected_error
from evalci_accessor.stats.repeated.values import RepeatedResult, best_of_k, pass_at_k, pass_hat_k
from evalci_accessor.stats.results import DesignResult, DifferenceResult, PairTestResult, RateResult
from evalci_accessor.stats.simulate import CoverageResult
from evalci_accessor.stats.totals import ClusterTotals

__all__ = ["ClusterTotals", "ComponentsResult", "CoverageResult", "DesignResult", "DifferenceResult"]
__all__ += ["IccPosterior", "PairTestResult", "PowerPlan", "RateResult", "RepeatedResult", "RequiredPlan"]
__all__ += ["WidthPlan", "adjust_pvalues", "best_counts", "best_of_k", "cluster_ci", "crossed_ci"]
__all__ += ["design_effect", "diff_ci", "half_width", "icc_posterior", "mcnemar", "mde", "pass_at_k"]
__all__ += ["pass_hat_k", "power", "projected_error", "proportion_ci", "required_clusters", "simulate"]
__all__ += ["variance_components"]
