"""Options that travel together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from evalci_accessor.options import (
    Alternative,
    Claim,
    ClusterMethod,
    CompareTest,
    Correction,
    DegreesOfFreedom,
    DiffMethod,
    PairTestMethod,
    PlanMethod,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RateOptions:
    """The options of `cluster_ci` that all containers share."""

    method: ClusterMethod
    df: DegreesOfFreedom
    alternative: Alternative
    confidence_level: float
    n_resamples: int
    rng: object


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SplitOptions:
    """The options of `variance_components` that all containers share."""

    costs: Mapping[str, float] | None
    confidence_level: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestOptions:
    """The options of `mcnemar` that all containers share."""

    method: PairTestMethod
    alternative: Alternative
    n_resamples: int
    rng: object


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DiffOptions:
    """The options of `diff_ci` that all containers share."""

    method: DiffMethod
    alternative: Alternative
    margin: float | None
    claim: Claim | None
    confidence_level: float
    n_resamples: int
    rng: object


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompareOptions:
    """The options of `compare` that all containers share."""

    method: DiffMethod
    correction: Correction
    confidence_level: float
    n_resamples: int
    rng: object
    test: CompareTest = "auto"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrosscheckOptions:
    """The options of `crosscheck` that all containers share."""

    against: Any
    contrast: Any
    confidence_level: float
    tolerance: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportOptions:
    """The options of `report` that all containers share: those of the methods that it calls."""

    method: ClusterMethod
    diff_method: DiffMethod
    correction: Correction
    margin: float | None
    claim: Claim | None
    confidence_level: float
    n_resamples: int
    rng: object

    @property
    def rate(self) -> RateOptions:
        """Those of `cluster_ci`."""
        return RateOptions(
            method=self.method, df="auto", alternative="two-sided", confidence_level=self.confidence_level,
            n_resamples=self.n_resamples, rng=self.rng,
        )  # fmt: skip

    def compare(self, *, clustered: bool) -> CompareOptions:
        """Those of `compare`; without clusters its default method, and p-values of the intervals as with them."""
        return CompareOptions(
            method=self.diff_method if clustered else "auto", correction=self.correction, confidence_level=self.confidence_level,
            n_resamples=self.n_resamples, rng=self.rng, test="auto" if clustered else "interval",
        )  # fmt: skip

    def diff(self, *, clustered: bool) -> DiffOptions:
        """Those of `diff_ci`; without clusters its default method."""
        return DiffOptions(
            method=self.diff_method if clustered else "auto", alternative="two-sided", margin=self.margin, claim=self.claim,
            confidence_level=self.confidence_level, n_resamples=self.n_resamples, rng=self.rng,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wording:
    """How a report speaks."""

    nouns: tuple[str, str] | None
    percent: bool | None
    title: str | None
    not_covered: Mapping[str, str] | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanOptions:
    """The options of the planning methods that all containers share."""

    method: ClusterMethod | PlanMethod
    confidence_level: float
    claim: Claim | None = None
    alternative: Alternative = "two-sided"
    n_sims: int = 100
    rng: object = 0

    @property
    def of_rate(self) -> dict[str, Any]:
        """Those of one rate."""
        return {"method": self.method, "confidence_level": self.confidence_level, "n_sims": self.n_sims, "rng": self.rng}

    @property
    def of_pair(self) -> dict[str, Any]:
        """Those of a pair."""
        names = ("method", "confidence_level", "claim", "alternative")
        return {name: getattr(self, name) for name in names}
