"""Options that travel together."""

from __future__ import annotations

import dataclasses

from evalci_accessor._typing import Alternative, ClusterMethod, DegreesOfFreedom


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RateOptions:
    """The options of `cluster_ci` that all containers share."""

    method: ClusterMethod
    df: DegreesOfFreedom
    alternative: Alternative
    confidence_level: float
    n_resamples: int
    rng: object
