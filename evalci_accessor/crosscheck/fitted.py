"""A fitted statsmodels model of the caller's: its mean or difference, and what else can be read off it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.crosscheck import rows as fit_rows
from evalci_accessor.exceptions import MethodError, examples
from evalci_accessor.stats import special
from evalci_accessor.stats.validate import FloatArray

_CLUSTERED = ("cluster", "cluster-crv3", "cluster-jk")
_LEVEL = re.compile(
    r"(.*)\[[TS]\.(.*)\]", re.DOTALL
)  # of treatment and sum codes, as patsy and formulaic name them
_MINUS = re.compile(
    r"[^\[\]]*\[(?:[TS]\.)?([^\[\]]*)\]\s*-\s*[^\[\]]*\[(?:[TS]\.)?([^\[\]]*)\]\s*(?:=\s*0\s*)?"
)
_SAME = 1e-9
_INTERCEPTS = ("Intercept", "const", "intercept", "(Intercept)")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Theirs:
    """What is read off fitted results.

    Parameters
    ----------
    kind : str
        Class of the model.
    direction : int
        -1 where its coefficient is the second system minus the first, 1 the other way round; 0 where its name does not tell.
    of : str
        Name of the coefficient, or the contrast.
    estimate, std_error : float
        On the scale of the scores where that can be told; the error is nan where its variance is negative.
    df : float
        Degrees of freedom of the t quantile; nan under the normal one.
    rest : float
        Degrees of freedom that its rows leave to its coefficients.
    n, n_clusters : int
        Rows of the model that have a weight, and its clusters; as many as rows without a clustering.
    n_rows : int
        Its rows with those of weight 0.
    others : list of str
        Regressors beside the intercept and the coefficient.
    cov_type : str
    clustered : bool
        Whether its variance is one of clusters.
    small_sample : bool
        Whether a clustered variance has its small-sample factor.
    scaling : float
        A further factor of the variance that was asked for.
    n_params : int
    groups : array or None
        Cluster ids as they were given, of the rows that have a weight.
    empty : float
        Factor of the variance from clusters without a weight, which are counted there.
    cluster : str
        What its groups are called; empty where there are none, or statsmodels does not know.
    rows : Influence or None
        What its rows give by themselves; None where that cannot be told.
    dropped : int
        Rows that the model left out as missing.
    weighs : str
        Words for a model that weighs clusters in a way of its own; else empty.
    weights : ndarray of float, or None
        Weights of its rows; None where all are equal.
    scale : str
        Words where the coefficient could not be brought to the scale of the scores, or is against another level.
    no_slope : bool
        Whether it is a mixed model of a difference whose random effects are the same for both systems.
    endog : ndarray
        The response, by row of the model that has a weight.
    other_bse : str
        Words where the errors it shows are not those of its covariance.
    is_level : bool
        Whether the coefficient, beside two systems, moves with the level of all scores, as no difference of theirs does.
    is_wide : bool
        Whether it has too many columns to look at its rows.
    """

    kind: str
    direction: int
    of: str
    estimate: float
    std_error: float
    df: float
    rest: float
    n: int
    n_clusters: int
    n_rows: int
    others: list[str]
    cov_type: str
    clustered: bool
    small_sample: bool
    scaling: float
    n_params: int
    groups: Any
    empty: float
    cluster: str
    rows: fit_rows.Influence | None
    dropped: int
    weighs: str
    weights: Any
    scale: str
    no_slope: bool
    endog: Any
    other_bse: str
    is_level: bool
    is_wide: bool


def theirs_of(results: Any, contrast: Any, *, sides: tuple[str, str] | None) -> Theirs:
    """Find the intercept, or the coefficient of the difference between the two ``sides``, in fitted results."""
    paired = sides is not None
    if not all(hasattr(results, name) for name in ("params", "model", "cov_params", "t_test")):
        hint = " Call its .fit() first." if hasattr(results, "fit") else ""
        raise MethodError(
            f"against= must be the results of a fitted statsmodels model, got {type(results).__name__}.{hint}"
        )
    model = results.model
    if getattr(model, "exog", None) is None and getattr(model, "endog", None) is None:
        raise MethodError(
            f"against= is a fitted {type(model).__name__} whose data were removed, by remove_data() or save(remove_data=True), "
            "so its rows and clusters cannot be compared. Fit the model again, or load results that were saved with their data."
        )
    if getattr(model, "exog", None) is None or np.ndim(results.params) != 1:
        raise MethodError(
            f"against= is a {type(model).__name__}, which has no coefficients that could be a mean or a difference."
        )
    found = _Coefficients(results)
    with np.errstate(
        invalid="ignore"
    ):  # a variance over crossed clusterings may be negative, and its root is nan
        place, effect, error = found.named(contrast) if contrast is not None else found.likely(paired=paired)
        estimate, std_error, scale = found.on_scale(place, effect, error, paired=paired)
    direction, level = (0, "") if sides is None else _direction(found, place, contrast, sides)
    rows, trials = int(np.asarray(model.endog).shape[0]), np.asarray(getattr(model, "n_trials", 1))
    groups, n_clusters = _groups(results, rows)
    weights = fit_rows.row_weights(model, rows, trials=False)
    used = weights > 0 if (weights > 0).any() else np.ones(rows, dtype=bool)  # a row of weight 0 is absent
    n = int(trials.sum()) if trials.ndim else int(used.sum())  # counts of passes and failures
    expected = {place, found.intercept} if paired else {place}
    cov_type, kwds = (
        str(getattr(results, "cov_type", "nonrobust")).lower(),
        getattr(results, "cov_kwds", None) or {},
    )
    flat = np.asarray(groups) if groups is not None and np.ndim(groups) == 1 else None
    family = type(getattr(model, "family", None)).__name__
    linear = _inverse_link(model)[0] is None and family in ("NoneType", "Gaussian")
    kind = type(model).__name__
    kind = "OLS" if kind == "GLS" and getattr(model, "sigma", None) is None else kind
    combination = found.combination(place, contrast)
    parts: dict[str, bool] = {"paired": paired, "linear": linear}
    weighs = "" if fit_rows.cancels(model, found.design, place, flat, **parts) else _weighs(model)
    known = kind in fit_rows.KINDS and not weighs and not scale
    influence = fit_rows.of_model(model, found.design, combination, **parts) if known else None
    small_sample, empty = bool(kwds.get("use_correction", True)), 1.0
    if groups is not None and len(groups) == rows and not used.all():
        if influence is not None and cov_type == "cluster" and small_sample:
            every = list(groups.reshape(rows, -1).T)
            empty = fit_rows.sandwich(influence, every, small_sample=True)
            empty /= (
                fit_rows.sandwich(influence.of(used), [one[used] for one in every], small_sample=True)
                or empty
                or 1.0
            )
        groups = groups[used]
    return Theirs(
        kind=kind,
        direction=direction,
        of=found.names[place] if place is not None else str(contrast),
        estimate=estimate,
        std_error=std_error,
        df=_df(results),
        rest=float(getattr(results, "df_resid", np.nan)),
        n=n,
        n_clusters=n_clusters,
        n_rows=rows,
        others=[] if place is None else [name for i, name in enumerate(found.names) if i not in expected],
        cov_type=cov_type,
        clustered=cov_type in (("robust", "bias_reduced") if kind == "GEE" else _CLUSTERED),
        small_sample=small_sample,
        scaling=float(kwds.get("scaling_factor") or 1),
        n_params=len(found.names),
        groups=groups,
        empty=empty,
        cluster=_cluster_name(results),
        rows=None if influence is None else influence.of(used),
        dropped=len(getattr(getattr(model, "data", None), "missing_row_idx", None) or []),
        weighs=weighs,
        weights=_weights(weights[used]),
        scale=scale or level,
        no_slope=kind == "MixedLM" and paired and place is not None and fit_rows.no_slope(model, place),
        endog=np.asarray(model.endog)[used],
        other_bse=_other_bse(results, found, place),
        is_level=paired and fit_rows.level(found.design, combination),
        is_wide=fit_rows.too_wide(found.design),
    )


def _direction(
    found: _Coefficients, place: int | None, contrast: Any, sides: tuple[str, str]
) -> tuple[int, str]:
    """Which way round its difference is, by its name, and words where it is against another system than ours."""
    if place is None:
        both = _MINUS.fullmatch(contrast) if isinstance(contrast, str) else None
        if both is None or {both[1], both[2]} != set(sides):
            return 0, ""
        return (1 if both[1] == sides[0] else -1), ""
    levels = [_LEVEL.fullmatch(name) for name in found.names]
    own = levels[place]
    if own is None or own[2] not in sides:
        return 0, ""
    other = sides[1 - sides.index(own[2])]
    if any(one is not None and one[1] == own[1] and one[2] == other for one in levels):
        return (
            0,
            f"another estimand: {found.names[place]!r} is no difference from {other!r}, which has a coefficient of its own",
        )
    return (1 if own[2] == sides[0] else -1), ""


class _Coefficients:
    """The coefficients of a fitted model, and which of them is meant."""

    def __init__(self, results: Any) -> None:
        model = results.model
        self.results, self.model = results, model
        self.names = [str(name) for name in model.exog_names]
        k = len(self.names)
        # Mixed models and others keep further parameters behind the coefficients.
        self.params = np.asarray(results.params, dtype=np.float64)[:k]
        try:
            self.cov = np.asarray(results.cov_params(), dtype=np.float64)[:k, :k]
        except Exception as problem:
            raise MethodError(
                f"against= is a fitted {type(model).__name__} that has no covariance of its coefficients: its cov_params() raises "
                f"{type(problem).__name__}: {problem}"
            ) from problem
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

    def combination(self, place: int | None, contrast: Any) -> FloatArray | None:
        """How the coefficients are added up; None where the contrast cannot be read."""
        k = len(self.names)
        if place is not None:
            return np.asarray(np.arange(k) == place, dtype=np.float64)
        if isinstance(contrast, str):
            return _terms(contrast, self.names)
        try:
            numbers = np.ravel(np.asarray(contrast, dtype=np.float64))
        except (TypeError, ValueError):
            return None
        return numbers if len(numbers) == k else None

    def on_scale(
        self, place: int | None, effect: float, error: float, *, paired: bool
    ) -> tuple[float, float, str]:
        """Estimate and error on the scale of the scores, or words of why they are not."""
        mean, slope = _inverse_link(self.model)
        if not paired and place is not None:
            column = self.design[:, place]
            if np.ptp(column) > 0 and self.intercept is None:
                return (
                    effect,
                    error,
                    f"another estimand: the coefficient of {self.names[place]!r}, which is no constant",
                )
            if np.ptp(column) == 0:  # a constant other than 1 is that many times the intercept
                effect, error = effect * float(column[0]), error * abs(float(column[0]))
        if mean is None or slope is None:
            levels = np.unique(self.design[:, place]) if place is not None else np.zeros(0)
            # Codes such as -1 and 1 make the difference twice the coefficient.
            width = float(np.ptp(levels)) if paired and len(levels) == 2 else 1.0
            return width * effect, width * error, ""
        if not paired:
            return float(mean(effect)), abs(float(slope(effect))) * error, ""
        levels = np.unique(self.design[:, place]) if place is not None else np.zeros(0)
        if self.intercept is None or place is None or len(self.names) != 2 or len(levels) != 2:
            return (
                effect,
                error,
                (
                    "another estimand: on the scale of the model's link (such as a log odds ratio), and not a difference of means"
                ),
            )
        at = self.params[self.intercept] + self.params[place] * levels
        gradient = np.zeros(2)
        slopes = np.asarray([float(slope(eta)) for eta in at])
        gradient[self.intercept], gradient[place] = slopes[1] - slopes[0], slopes @ (levels * [-1.0, 1.0])
        return float(mean(at[1])) - float(mean(at[0])), float(np.sqrt(gradient @ self.cov @ gradient)), ""

    def _at(self, place: int) -> tuple[int, float, float]:
        return place, float(self.params[place]), float(np.sqrt(self.cov[place, place]))

    def _listed(self) -> str:
        return examples(map(repr, self.names), 20)


def _terms(contrast: str, names: list[str]) -> FloatArray | None:
    """Read a sum of coefficients, each of which may be multiplied by a number, up to a sign of equality."""
    name = "|".join(re.escape(one) for one in sorted(names, key=len, reverse=True))
    number = r"\d+(?:\.\d*)?|\.\d+"
    term = re.compile(rf"\s*([+-])?\s*(?:({number})\s*\*\s*)?({name})\s*(?:([*/])\s*({number})\s*)?")
    found, at = np.zeros(len(names)), 0
    while at < len(contrast) and contrast[at] != "=":
        one = term.match(contrast, at)
        if one is None or one.end() == at or (at and not one[1]):
            return None
        size = (-1.0 if one[1] == "-" else 1.0) * float(one[2] or 1)
        if one[4] and float(one[5]) == 0:
            return None
        size *= 1.0 if not one[4] else float(one[5]) if one[4] == "*" else 1 / float(one[5])
        found[names.index(one[3])] += size
        at = one.end()
    is_number = "=" not in contrast[at:] or re.fullmatch(rf"=\s*[+-]?(?:{number})\s*", contrast[at:])
    return found if found.any() and is_number else None


def _inverse_link(model: Any) -> tuple[Callable[[float], Any], Callable[[float], Any]] | tuple[None, None]:
    """From the linear predictor to the mean, and its slope; None where they are the same."""
    link = getattr(getattr(model, "family", None), "link", None)
    if link is not None:
        return (
            (None, None) if type(link).__name__.lower() == "identity" else (link.inverse, link.inverse_deriv)
        )
    if type(model).__name__ == "Poisson":
        return np.exp, np.exp
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


def _cluster_name(results: Any) -> str:
    """Names of the groups, where a Series, the columns of a frame or a formula's string gave them."""
    groups = (getattr(results, "cov_kwds", None) or {}).get("groups")
    if groups is None:
        name = getattr(results.model, "_groups_name", None)  # "Groups" where they came as an array
        names = [] if name in (None, "Groups") else [name]
    else:
        names = list(groups.columns) if hasattr(groups, "columns") else [getattr(groups, "name", None)]
    return "" if any(name is None for name in names) else " + ".join(map(str, names))


def _weighs(model: Any) -> str:
    name, structure = type(model).__name__, type(getattr(model, "cov_struct", None)).__name__
    if "Mixed" in name:
        return f"{name} weighs clusters by m/(1+(m-1)r), with r its intracluster correlation, and not by their sizes"
    if structure not in ("NoneType", "Independence"):
        return f"the working correlation {structure} weighs clusters otherwise than by their sizes"
    return ""


def _weights(weights: FloatArray) -> Any:
    """Weights of the rows that have some; None where all are equal."""
    return weights if np.ptp(weights) > 0 else None


def _other_bse(results: Any, found: _Coefficients, place: int | None) -> str:
    """In words, that the errors shown with the results are not those of their covariance."""
    with np.errstate(invalid="ignore"):
        shown = np.ravel(np.asarray(getattr(results, "bse", []), dtype=np.float64))
    if place is None or len(shown) <= place:
        return ""
    root = float(np.sqrt(found.cov[place, place])) if found.cov[place, place] >= 0 else np.nan
    if not np.isfinite([root, shown[place]]).all() or abs(shown[place] - root) <= _SAME * abs(root):
        return ""
    return f"its bse {shown[place]:.6g} is not the root {root:.6g} of its cov_params()"
