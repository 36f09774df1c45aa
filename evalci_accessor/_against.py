"""A fitted statsmodels model of the caller's: its mean or difference, and the likely reasons why it is not ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._warn import examples
from evalci_accessor.crosscheck import Scores
from evalci_accessor.exceptions import MethodError
from evalci_accessor.stats import _special as special
from evalci_accessor.stats._validate import IntArray

_INTERCEPTS = ("Intercept", "const", "intercept", "(Intercept)")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Theirs:
    """What is read off fitted results.

    Parameters
    ----------
    kind : str
        Class of the model.
    estimate, std_error : float
        On the scale of the scores where that can be told.
    df : float
        Degrees of freedom of the t quantile; nan under the normal one.
    n, n_clusters : int
        Rows of the model, and its clusters; as many as rows without a clustering.
    others : list of str
        Regressors beside the intercept and the coefficient.
    cov_type : str
    small_sample : bool
        Whether a clustered variance has its small-sample factor.
    n_params : int
    groups : array or None
        Cluster ids as they were given.
    dropped : int
        Rows that the model left out as missing.
    weighs : str
        Words for a model that weighs clusters in a way of its own; else empty.
    scale : str
        Words where the coefficient could not be brought to the scale of the scores.
    """

    kind: str
    estimate: float
    std_error: float
    df: float
    n: int
    n_clusters: int
    others: list[str]
    cov_type: str
    small_sample: bool
    n_params: int
    groups: Any
    dropped: int
    weighs: str
    scale: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """Our side.

    Parameters
    ----------
    scores : Scores
    ours : dict
        By name of ours, the numbers by name of column.
    confidence_level : float
    """

    scores: Scores
    ours: dict[str, dict[str, float]]
    confidence_level: float


def theirs_of(results: Any, contrast: Any, *, paired: bool) -> Theirs:
    """Find the intercept, or the coefficient of the difference, in fitted results."""
    if not all(hasattr(results, name) for name in ("params", "model", "cov_params", "t_test")):
        hint = " Call its .fit() first." if hasattr(results, "fit") else ""
        raise MethodError(f"against= must be the results of a fitted statsmodels model, got {type(results).__name__}.{hint}")
    model = results.model
    if getattr(model, "exog", None) is None or np.ndim(results.params) != 1:
        raise MethodError(
            f"against= is a {type(model).__name__}, which has no coefficients that could be a mean or a difference."
        )
    found = _Coefficients(results)
    place, effect, error = found.named(contrast) if contrast is not None else found.likely(paired=paired)
    estimate, std_error, scale = found.on_scale(place, effect, error, paired=paired)
    rows, trials = int(np.asarray(model.endog).shape[0]), np.asarray(getattr(model, "n_trials", 1))
    groups, n_clusters = _groups(results, rows)
    n = int(trials.sum()) if trials.ndim else rows  # counts of passes and failures
    expected = {place, found.intercept} if paired else {place}
    return Theirs(
        kind=type(model).__name__, estimate=estimate, std_error=std_error, df=_df(results), n=n, n_clusters=n_clusters,
        others=[] if place is None else [name for i, name in enumerate(found.names) if i not in expected],
        cov_type=str(getattr(results, "cov_type", "nonrobust")).lower(),
        small_sample=bool((getattr(results, "cov_kwds", None) or {}).get("use_correction", True)), n_params=len(found.names),
        groups=groups, dropped=len(getattr(getattr(model, "data", None), "missing_row_idx", None) or []),
        weighs=_weighs(model), scale=scale,
    )  # fmt: skip


class _Coefficients:
    """The coefficients of a fitted model, and which of them is meant."""

    def __init__(self, results: Any) -> None:
        model = results.model
        self.results, self.model = results, model
        self.names = [str(name) for name in model.exog_names]
        k = len(self.names)
        # Mixed models and others keep further parameters behind the coefficients.
        self.params = np.asarray(results.params, dtype=np.float64)[:k]
        self.cov = np.asarray(results.cov_params(), dtype=np.float64)[:k, :k]
        self.design = np.asarray(model.exog, dtype=np.float64).reshape(-1, k)
        flat = (self.design == self.design[:1]).all(axis=0) & (self.design[:1] != 0).all(axis=0)
        self.intercept = next((i for i in range(k) if flat[i] or self.names[i] in _INTERCEPTS), None)

    def named(self, contrast: Any) -> tuple[int | None, float, float]:
        """The coefficient of that name, or what ``t_test`` makes of it."""
        if isinstance(contrast, str) and contrast in self.names:
            return self._at(self.names.index(contrast))
        try:
            tested = self.results.t_test(contrast)
            effect, error = np.ravel(tested.effect), np.ravel(tested.sd)
        except Exception as problem:
            raise MethodError(
                f"contrast={contrast!r} is none of the coefficients of the model ({self._listed()}), and its t_test does not take "
                f"it either ({type(problem).__name__}: {problem})."
            ) from problem
        if len(effect) != 1:
            raise MethodError(f"contrast={contrast!r} holds {len(effect)} contrasts; name one.")
        return None, float(effect[0]), float(error[0])

    def likely(self, *, paired: bool) -> tuple[int | None, float, float]:
        """The intercept; of a comparison the other of two coefficients, or the only one."""
        if len(self.names) == 1:
            return self._at(0)
        if not paired and self.intercept is not None:
            return self._at(self.intercept)
        if paired and self.intercept is not None and len(self.names) == 2:
            return self._at(1 - self.intercept)
        what = "the difference of the two systems" if paired else "the mean"
        raise MethodError(
            f"Which coefficient of the model is {what} cannot be told; name it, or what its t_test takes, with contrast=. It has "
            f"{self._listed()}."
        )

    def on_scale(self, place: int | None, effect: float, error: float, *, paired: bool) -> tuple[float, float, str]:
        """Estimate and error on the scale of the scores, or words of why they are not."""
        mean, slope = _inverse_link(self.model)
        if mean is None or slope is None:
            levels = np.unique(self.design[:, place]) if place is not None else np.zeros(0)
            # Codes such as -1 and 1 make the difference twice the coefficient.
            width = float(np.ptp(levels)) if paired and len(levels) == 2 else 1.0
            return width * effect, width * error, ""
        if not paired:
            return float(mean(effect)), abs(float(slope(effect))) * error, ""
        levels = np.unique(self.design[:, place]) if place is not None else np.zeros(0)
        if self.intercept is None or place is None or len(self.names) != 2 or len(levels) != 2:
            return effect, error, (
                "another estimand: on the scale of the model's link (such as a log odds ratio), and not a difference of means"
            )  # fmt: skip
        at = self.params[self.intercept] + self.params[place] * levels
        gradient = np.zeros(2)
        slopes = np.asarray([float(slope(eta)) for eta in at])
        gradient[self.intercept], gradient[place] = slopes[1] - slopes[0], slopes @ (levels * [-1.0, 1.0])
        return float(mean(at[1])) - float(mean(at[0])), float(np.sqrt(gradient @ self.cov @ gradient)), ""

    def _at(self, place: int) -> tuple[int, float, float]:
        return place, float(self.params[place]), float(np.sqrt(self.cov[place, place]))

    def _listed(self) -> str:
        return examples(map(repr, self.names), 20)


def _inverse_link(model: Any) -> tuple[Callable[[float], Any], Callable[[float], Any]] | tuple[None, None]:
    """From the linear predictor to the mean, and its slope; None where they are the same."""
    link = getattr(getattr(model, "family", None), "link", None)
    if link is not None:
        return (None, None) if type(link).__name__.lower() == "identity" else (link.inverse, link.inverse_deriv)
    if type(model).__name__ == "Logit":
        return special.expit, lambda eta: special.expit(eta) * special.expit(-eta)
    if type(model).__name__ == "Probit":
        return special.ndtr, lambda eta: np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi)
    return None, None


def _df(results: Any) -> float:
    if not getattr(results, "use_t", False):
        return np.nan
    found = getattr(results, "df_resid_inference", None)
    return float(results.df_resid if found is None else found)


def _groups(results: Any, n: int) -> tuple[Any, int]:
    """Cluster ids of the model, and how many clusters it takes them for."""
    groups = (getattr(results, "cov_kwds", None) or {}).get("groups")
    if groups is None:
        groups = getattr(results.model, "groups", None)
    if groups is None:
        return None, n
    groups = np.asarray(groups)
    if groups.ndim != 1:
        return groups, min(len(pd.unique(pd.Series(column))) for column in groups.T)
    return groups, int(pd.Series(groups).nunique(dropna=False))


def _weighs(model: Any) -> str:
    name, structure = type(model).__name__, type(getattr(model, "cov_struct", None)).__name__
    if "Mixed" in name:
        return f"{name} weighs clusters by m/(1+(m-1)r), with r its intracluster correlation, and not by their sizes"
    if structure not in ("NoneType", "Independence"):
        return f"the working correlation {structure} weighs clusters otherwise than by their sizes"
    for attribute in ("weights", "freq_weights", "var_weights"):
        weights = getattr(model, attribute, None)
        if weights is not None and np.ndim(weights) and np.ptp(np.asarray(weights, dtype=np.float64)) > 0:
            return f"the model has {attribute}"
    return ""


def normal_words(df: float, confidence_level: float) -> str:
    """How much narrower an interval is with the normal quantile than with t's."""
    at = (1 + confidence_level) / 2
    narrower = 1 - float(special.ndtri(at)) / float(special.stdtrit(df, at))
    return f"normal quantile: {100 * narrower:.2g}% narrower than with t on {df:.4g} degrees of freedom"


def reasons(theirs: Theirs, known: Known, tolerance: float) -> tuple[Theirs, str, str, bool]:
    """Their estimate with our sign, which of ours it compares with, why it differs, and whether it should not."""
    ours, near = known.ours["cr1"], max(tolerance, 1e-6)
    scale = near * max(abs(ours["estimate"]), ours["std_error"])
    told = []
    if known.scores.second is not None and abs(theirs.estimate + ours["estimate"]) <= scale < abs(ours["estimate"]):
        theirs = dataclasses.replace(theirs, estimate=-theirs.estimate)
        told.append("the difference is the other way round there, and was turned")
    same = abs(theirs.estimate - ours["estimate"]) <= scale
    counterpart = _counterpart(theirs)
    matching = [
        name for name in _by_preference(counterpart) if _close(theirs.std_error, known.ours[name]["std_error"], near)
    ]
    if same and matching:
        counterpart = matching[0]
        told.append(_variance_words(counterpart, known))
        should = True
    else:
        should = False
        told += _estimand(theirs, known, same=same)
        if same and not theirs.scale:
            told.append(_error_words(theirs, known, near))
    told = [words for words in (*told, *_clusters(theirs, known, agrees=should)) if words]
    if not should and not told:
        told.append(
            "the error differs for a reason that the results do not show; are its cluster ids in the order of its rows?"
        )
    if np.isnan(theirs.df):
        told.append(normal_words(ours["df"], known.confidence_level))
    elif abs(theirs.df - known.ours[counterpart]["df"]) > 1e-6 * theirs.df:
        told.append(f"t on {theirs.df:.4g} degrees of freedom, ours on {known.ours[counterpart]['df']:.4g}")
    return theirs, counterpart, "; ".join(told), should


def _close(one: float, other: float, near: float) -> bool:
    return bool(abs(one - other) <= near * abs(other))


def _counterpart(theirs: Theirs) -> str:
    """Which of ours its variance should be."""
    if theirs.cov_type == "robust":
        return "cr0"
    if theirs.cov_type in ("bias_reduced", "cluster-crv3", "cluster-jk"):
        return "cr3"
    return "cr0" if theirs.cov_type == "cluster" and not theirs.small_sample else "cr1"


def _by_preference(first: str) -> list[str]:
    return [first, *(name for name in ("cr1", "cr0", "cr2", "cr3") if name != first)]


def _variance_words(counterpart: str, known: Known) -> str:
    if counterpart != "cr0":
        return "" if counterpart == "cr1" else f"its error is that of {counterpart.upper()}"
    larger = known.ours["cr1"]["std_error"] / known.ours["cr0"]["std_error"] - 1
    return f"CR0 against CR1: it lacks the factor G/(G-1), with which the error is {100 * larger:.2g}% larger"


def _estimand(theirs: Theirs, known: Known, *, same: bool) -> list[str]:
    """Why it estimates something else."""
    told = [theirs.scale] if theirs.scale else []
    n = len(known.scores.first)
    expected = [n] if known.scores.second is None else [n, 2 * n]
    if theirs.n not in expected:
        nearest = min(expected, key=lambda rows: abs(theirs.n - rows))
        more = theirs.n - nearest
        told.append(f"dropped rows: fitted on {theirs.n:,} rows, here {nearest:,}" if more < 0 else (
            f"other rows: fitted on {theirs.n:,} rows, here {nearest:,}"
        ))  # fmt: skip
        if theirs.dropped:
            told[-1] += f" (statsmodels left out {theirs.dropped:,} with something missing)"
    if same:
        return told
    if theirs.others:
        told.append(
            f"another estimand: the model also holds {examples(map(repr, theirs.others))}, given which its coefficient is"
        )
    if theirs.weighs:
        told.append(f"another estimand: {theirs.weighs}")
    return told or ["the estimate differs for a reason that the results do not show; are the scores the same?"]


def _error_words(theirs: Theirs, known: Known, near: float) -> str:
    """What the standard error is instead, of the usual suspects."""
    scores, cr1 = known.scores, known.ours["cr1"]["std_error"]
    n, y = len(scores.first), scores.mean_of
    rows, squares = theirs.n, float(((y - y.mean()) ** 2).sum())
    factor = np.sqrt((rows - 1) / max(rows - theirs.n_params, 1))
    independent = "it takes the items as independent"
    suspects = {
        f"it has a further factor (N-1)/(N-K) = {factor**2:.6g} in the variance": [cr1 * factor],
        independent: [np.sqrt(squares) / n, np.sqrt(squares / n / (n - 1)), np.sqrt(squares) / (n - 1)],
    }
    if scores.second is not None:
        suspects[independent].append(suspects[independent][1] * factor)
        apart = sum(float(((side - side.mean()) ** 2).sum()) for side in (scores.first, scores.second))
        suspects[f"{independent}, and the two systems as measured on different ones"] = [
            np.sqrt(apart) / n, np.sqrt(apart / n / (n - 1)), np.sqrt(apart) / (n - 1)
        ]  # fmt: skip
    for words, values in suspects.items():
        if any(_close(theirs.std_error, float(value), near) for value in values):
            return f"{words} (cov_type={theirs.cov_type!r})" if words.startswith(independent) else words
    if theirs.cov_type not in ("cluster", "robust", "bias_reduced", "cluster-crv3", "cluster-jk"):
        return f"its error is not clustered (cov_type={theirs.cov_type!r})"
    return ""


def _clusters(theirs: Theirs, known: Known, *, agrees: bool) -> list[str]:
    """Whether its clusters are ours."""
    if theirs.groups is None or not len(theirs.groups):
        return []
    if theirs.groups.ndim != 1:
        return ["it is clustered two ways"]
    told, here = [], len(known.scores.sizes)
    whole = theirs.n >= len(known.scores.first)
    missing = int(pd.isna(theirs.groups).sum())
    unknown = theirs.groups.dtype.kind == "i" and theirs.n_clusters > here and (theirs.groups == -1).any()
    if unknown:
        missing = int((theirs.groups == -1).sum())
    if missing:
        how = "have the code -1, which stands for a missing id" if unknown else "have no cluster id"
        told.append(
            f"clusters merged by missing ids: {missing:,} rows there {how}, and statsmodels takes them as one cluster"
        )
    if agrees:
        return told
    if theirs.n_clusters != here and not missing:
        told.append(
            f"other clusters: {theirs.n_clusters:,} there, {here:,} here"
            + (
                " (ids that were merged, rounded or cut off, or a coarser clustering)"
                if theirs.n_clusters < here and whole
                else ""
            )
        )
    elif not missing and not _same_sizes(theirs.groups, known.scores.sizes):
        told.append("other clusters: as many, but of other sizes")
    return told


def _same_sizes(groups: Any, sizes: IntArray) -> bool:
    """Whether two clusterings have clusters of the same sizes, or of twice them where each item has two rows."""
    there = np.sort(pd.Series(groups).value_counts(dropna=False).to_numpy())
    return any(np.array_equal(there, np.sort(sizes) * rows) for rows in (1, 2))
