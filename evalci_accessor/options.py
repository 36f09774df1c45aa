"""The options of every method: what they may be, and the records in which an accessor passes them on."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import EllipsisType
from typing import Any, Literal, Self, TypeAlias

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]
NanPolicy: TypeAlias = Literal["raise", "omit"]
ProportionMethod: TypeAlias = Literal["wilson", "wald", "clopper_pearson", "jeffreys", "agresti_coull"]
NaiveMethod: TypeAlias = Literal["auto", ProportionMethod]
Robust: TypeAlias = Literal["cr0", "cr1", "cr2", "cr3"]
Binomial: TypeAlias = Literal["wald", "wilson", "logit", "clopper_pearson", "korn_graubard"]
Resampling: TypeAlias = Literal["bootstrap_percentile", "bootstrap_bca", "bootstrap_t", "bootstrap_exact"]
ClusterMethod: TypeAlias = Literal[
    "auto", "icc_averaged", Robust, Binomial, Resampling, "bootstrap_pigeonhole"
]
DegreesOfFreedom: TypeAlias = Literal["auto", "clusters", "satterthwaite"]
IccMethod: TypeAlias = Literal["anova", "fleiss_cuzick", "pairwise", "posterior"]
IndependentTest: TypeAlias = Literal["exact", "midp", "asymptotic", "corrected"]
ClusteredTest: TypeAlias = Literal["obuchowski", "durkalski", "yang", "eliasziw", "sign_flip"]
PairTestMethod: TypeAlias = Literal["auto", IndependentTest, "icc_averaged", ClusteredTest]
IndependentDifference: TypeAlias = Literal["tango", "newcombe", "bonett_price", "agresti_min"]
DiffMethod: TypeAlias = Literal[
    "auto", "icc_averaged", IndependentDifference, Robust, "bootstrap_percentile", "bootstrap_pigeonhole"
]
PlanMethod: TypeAlias = Literal["auto", "icc_averaged", "tango", "cr2"]
CompareTest: TypeAlias = Literal["auto", "exact", "midp", "interval"]
Claim: TypeAlias = Literal["superiority", "noninferiority", "equivalence"]
Correction: TypeAlias = Literal["bonferroni", "holm", "hochberg", "bh", "by", "none"]
Unmatched: TypeAlias = Literal["raise", "drop"]
TooFew: TypeAlias = Literal["raise", "omit"]
Labels: TypeAlias = Hashable | Sequence[Hashable]
RepeatedMeasure: TypeAlias = Literal["pass_at_k", "pass_hat_k", "best_of_k"]
NaiveSimulated: TypeAlias = Literal[
    "naive_wilson", "naive_wald", "naive_clopper_pearson", "naive_jeffreys", "naive_agresti_coull"
]
SimulatedMethod: TypeAlias = Literal[ClusterMethod, NaiveSimulated]
ClusterShape: TypeAlias = Literal["beta_binomial", "all_or_nothing", "logit_normal"]
PlanAxis: TypeAlias = Literal["n_clusters", "n_items", "items_per_cluster", "n_samples"]
BETWEEN = " + "  # the names of crossed clusterings
Name: TypeAlias = Any  # a label, or an array (Series, DataArray) of values
Names: TypeAlias = Any  # one of these, or a list of them
Dims: TypeAlias = str | Iterable[Hashable] | EllipsisType | None
PairList: TypeAlias = Sequence[tuple[Hashable, Hashable]]
Numbers: TypeAlias = float | Sequence[float]
Counts: TypeAlias = int | Sequence[int]
Ks: TypeAlias = int | Sequence[int]


class Record:
    """Base of the records: one is filled from the parameters of a method, whose names are those of its fields."""

    __slots__: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """What ``given``, the ``locals()`` of a method, holds of the fields; a test holds that no parameter is left over."""
        return cls(**{name: given[name] for name in cls.__slots__ if name in given})

    def fields(self) -> dict[str, Any]:
        """What it holds, by name: to fill another record."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Roles(Record):
    """What the caller named: the part that each column, level, coordinate, dim or array plays."""

    score: Any = "score"
    by: Any = None
    dim: Dims = None
    weights: Any = None
    n: Any = None
    cluster: Any = None
    item: Any = None
    factor: Any = None
    sample: Any = None
    nan_policy: NanPolicy = "raise"
    nested: bool = False
    baseline: Any = None
    pairs: Any = None
    unmatched: Unmatched = "raise"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RateOptions(Record):
    """The options of an interval of a rate or mean."""

    method: Any = "auto"
    df: DegreesOfFreedom = "auto"
    alternative: Alternative = "two-sided"
    confidence_level: float = 0.95
    n_resamples: int = 9999
    rng: object = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class IccOptions(Record):
    """The options of `design_effect`."""

    icc_method: IccMethod = "anova"
    confidence_level: float = 0.95


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RepeatedOptions(Record):
    """The options of `pass_at_k` and its kin."""

    measure: RepeatedMeasure
    too_few: TooFew
    rate: RateOptions


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SplitOptions(Record):
    """The options of `variance_components`."""

    costs: Mapping[str, float] | None
    confidence_level: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TestOptions(Record):
    """The options of `mcnemar`."""

    method: PairTestMethod
    alternative: Alternative
    n_resamples: int
    rng: object


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DiffOptions(Record):
    """The options of `diff_ci`."""

    method: DiffMethod = "auto"
    alternative: Alternative = "two-sided"
    margin: float | None = None
    claim: Claim | None = None
    confidence_level: float = 0.95
    n_resamples: int = 9999
    rng: object = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CompareOptions(Record):
    """The options of `compare`."""

    method: DiffMethod = "auto"
    correction: Correction = "holm"
    correction_within: Any = None
    confidence_level: float = 0.95
    n_resamples: int = 9999
    rng: object = None
    test: CompareTest = "auto"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PlanGrid(Record):
    """What is planned: goals and designs, each a number, or a list of numbers for a grid."""

    half_width: Any = None
    difference: Any = None
    margin: Any = None
    power: Any = None
    n_clusters: Any = None
    items_per_cluster: Any = None
    n_samples: Any = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PlanOptions(Record):
    """The options of the planning methods."""

    method: ClusterMethod | PlanMethod
    confidence_level: float
    claim: Claim | None = None
    alternative: Alternative = "two-sided"
    n_sims: int = 100
    rng: object = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CrosscheckOptions(Record):
    """The options of `crosscheck`."""

    against: Any
    contrast: Any
    confidence_level: float
    tolerance: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReportOptions(Record):
    """The options of `report`: those of the methods that it calls."""

    method: ClusterMethod
    diff_method: DiffMethod
    correction: Correction
    margin: float | None
    claim: Claim | None
    confidence_level: float
    n_resamples: int
    rng: object


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Wording(Record):
    """How a report speaks."""

    nouns: tuple[str, str] | None
    percent: bool | None
    title: str | None
    not_covered: Mapping[str, str] | None
