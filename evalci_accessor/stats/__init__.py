"""The statistics as functions of arrays: numpy and scipy, no container.

Kernels take cluster totals of shape ``(..., G)``, the clusters along the last axis, and return frozen dataclasses.
"""

from evalci_accessor.stats._results import DesignResult, RateResult
from evalci_accessor.stats.clustered import cluster_ci
from evalci_accessor.stats.design import design_effect
from evalci_accessor.stats.posterior import IccPosterior, icc_posterior
from evalci_accessor.stats.proportion import proportion_ci
from evalci_accessor.stats.totals import ClusterTotals

__all__ = [
    "ClusterTotals",
    "DesignResult",
    "IccPosterior",
    "RateResult",
    "cluster_ci",
    "design_effect",
    "icc_posterior",
    "proportion_ci",
]
