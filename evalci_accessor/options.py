"""The options of every method, in one place."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, TypeAlias

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]
NanPolicy: TypeAlias = Literal["raise", "omit"]
ProportionMethod: TypeAlias = Literal["wilson", "wald", "clopper_pearson", "jeffreys", "agresti_coull"]
NaiveMethod: TypeAlias = Literal["auto", "wilson", "wald", "clopper_pearson", "jeffreys", "agresti_coull"]
ClusterMethod: TypeAlias = Literal[
    "auto",
    "icc_averaged",
    "cr0",
    "cr1",
    "cr2",
    "cr3",
    "wald",
    "wilson",
    "logit",
    "clopper_pearson",
    "korn_graubard",
    "bootstrap_percentile",
    "bootstrap_bca",
    "bootstrap_t",
    "bootstrap_exact",
    "bootstrap_pigeonhole",
]
DegreesOfFreedom: TypeAlias = Literal["auto", "clusters", "satterthwaite"]
IccMethod: TypeAlias = Literal["anova", "fleiss_cuzick", "pairwise", "posterior"]
PairTestMethod: TypeAlias = Literal[
    "auto",
    "exact",
    "midp",
    "asymptotic",
    "corrected",
    "icc_averaged",
    "obuchowski",
    "durkalski",
    "yang",
    "eliasziw",
    "sign_flip",
]
DiffMethod: TypeAlias = Literal[
    "auto",
    "icc_averaged",
    "tango",
    "newcombe",
    "bonett_price",
    "agresti_min",
    "cr0",
    "cr1",
    "cr2",
    "cr3",
    "bootstrap_percentile",
    "bootstrap_pigeonhole",
]
PlanMethod: TypeAlias = Literal["auto", "icc_averaged", "tango", "cr2"]
CompareTest: TypeAlias = Literal["auto", "exact", "midp", "interval"]
Claim: TypeAlias = Literal["superiority", "noninferiority", "equivalence"]
Correction: TypeAlias = Literal["bonferroni", "holm", "hochberg", "bh", "by", "none"]
Unmatched: TypeAlias = Literal["raise", "drop"]
Layout: TypeAlias = Literal["pair", "square"]
TooFew: TypeAlias = Literal["raise", "omit"]
Labels: TypeAlias = Hashable | Sequence[Hashable]
RepeatedMeasure: TypeAlias = Literal["pass_at_k", "pass_hat_k", "best_of_k"]
SimulatedMethod: TypeAlias = Literal[
    ClusterMethod, "naive_wilson", "naive_wald", "naive_clopper_pearson", "naive_jeffreys", "naive_agresti_coull"
]
ClusterShape: TypeAlias = Literal["beta_binomial", "all_or_nothing", "logit_normal"]
PlanAxis: TypeAlias = Literal["n_clusters", "n_items", "items_per_cluster", "n_samples"]
