"""A fitted statsmodels model of the caller's: its mean or difference, and what else can be read off it."""

from __future__ import annotations

import dataclasses
import itertools
import re
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.crosscheck.scores import Scores, joint_codes, not_nested
from evalci_accessor.exceptions import MethodError, examples
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray

# Those whose coefficients are means or differences of means, up to a link and to the weights of the rows.
KINDS = ("OLS", "WLS", "GLM", "GEE", "Logit", "Probit", "Poisson", "MixedLM")
# Weights that their rows were given: those that a fit finds by itself, and leaves on the model, are none.
_WEIGHTS = {
    "OLS": ["weights"],
    "WLS": ["weights"],
    "GEE": ["weights"],
    "GLM": ["freq_weights", "var_weights"],
}
_CLUSTERED = ("cluster", "cluster-crv3", "cluster-jk")
_LEVEL = re.compile(r"(.*)\[([TS]\.)?(.*)\]", re.DOTALL)  # as patsy and formulaic name coefficients
_INTERCEPTS = ("Intercept", "const", "intercept", "(Intercept)")
_SAME = 1e-9  # sums of the same numbers in another order
_EFFECT = 1e-6  # of rounding in the solution of a design
_MAX_COLUMNS = 300
_LINK = "another estimand: on the scale of the model's link (such as a log odds ratio), and not a difference of means"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Influence:
    """An estimate, and by row how much it moves it (the squared sums by cluster add up to CR0), and its weight."""

    estimate: float
    rows: FloatArray
    weights: FloatArray


def of_scores(scores: Scores) -> Influence:
    """That of our side, from the scores alone."""
    y, mean = scores.mean_of, scores.average(scores.mean_of)
    weights = np.ones(len(y)) if scores.weights is None else scores.weights
    return Influence(estimate=mean, rows=weights * (y - mean) / weights.sum(), weights=weights)


def theirs_of(results: Any, contrast: Any, *, sides: tuple[str, str] | None) -> Theirs:
    """Find the intercept, or the coefficient of the difference between the two ``sides``, in fitted results."""
    if not all(hasattr(results, name) for name in ("params", "model", "cov_params", "t_test")):
        hint = " Call its .fit() first." if hasattr(results, "fit") else ""
        raise MethodError(
            f"against= must be the results of a fitted statsmodels model, got {type(results).__name__}.{hint}"
        )
    exog, endog = (getattr(results.model, name, None) for name in ("exog", "endog"))
    kind = type(results.model).__name__
    if exog is None and endog is None:
        raise MethodError(
            f"against= is a fitted {kind} whose data were removed, by remove_data() or save(remove_data=True), so its rows and "
            "clusters cannot be compared. Fit the model again, or load results that were saved with their data."
        )
    if exog is None or np.ndim(results.params) != 1:
        raise MethodError(
            f"against= is a {kind}, which has no coefficients that could be a mean or a difference."
        )
    return Theirs(results, contrast, sides)


@dataclasses.dataclass(frozen=True, eq=False)
class Theirs:
    """What is read off fitted results, in the units of the scores where that can be told.

    Parameters
    ----------
    results : fitted results of statsmodels
    contrast : object
        What was passed for it: None, the name of a coefficient, or what ``t_test`` takes.
    sides : tuple of str, or None
        The two systems of a difference.
    sign : int
        -1 to turn the difference.
    """

    results: Any
    contrast: Any
    sides: tuple[str, str] | None
    sign: int = 1

    # The model

    @cached_property
    def model(self) -> Any:
        return self.results.model

    @cached_property
    def kind(self) -> str:
        """Class of the model."""
        kind = type(self.model).__name__
        return "OLS" if kind == "GLS" and getattr(self.model, "sigma", None) is None else kind

    @cached_property
    def names(self) -> list[str]:
        return [str(name) for name in self.model.exog_names]

    @property
    def n_params(self) -> int:
        return len(self.names)

    @cached_property
    def design(self) -> FloatArray:
        return np.asarray(self.model.exog, dtype=np.float64).reshape(-1, self.n_params)

    @cached_property
    def params(self) -> FloatArray:
        """Its coefficients; mixed models and others keep further parameters behind them."""
        return np.asarray(self.results.params, dtype=np.float64)[: self.n_params]

    @cached_property
    def cov(self) -> FloatArray:
        try:
            cov = np.asarray(self.results.cov_params(), dtype=np.float64)
        except Exception as problem:
            raise MethodError(
                f"against= is a fitted {type(self.model).__name__} that has no covariance of its coefficients: its cov_params() "
                f"raises {type(problem).__name__}: {problem}"
            ) from problem
        return cov[: self.n_params, : self.n_params]

    @cached_property
    def intercept(self) -> int | None:
        flat = (self.design == self.design[:1]).all(axis=0) & (self.design[:1] != 0).all(axis=0)
        return next((i for i, name in enumerate(self.names) if flat[i] or name in _INTERCEPTS), None)

    @cached_property
    def link(self) -> Any:
        """None where the mean is the linear predictor itself."""
        link = getattr(self.model, "link", None) or getattr(getattr(self.model, "family", None), "link", None)
        return None if type(link).__name__.lower() == "identity" else link

    @cached_property
    def is_wide(self) -> bool:
        """Whether it has too many columns to look at its rows."""
        return self.n_params > _MAX_COLUMNS

    # Its coefficient

    @cached_property
    def coefficient(self) -> tuple[int | None, float, float]:
        """Place (None of what ``t_test`` makes), estimate and error, on the scale of the model."""
        cov = self.cov
        place = self._named if self.contrast is not None else self._likely
        if place is not None:
            return place, float(self.params[place]), float(np.sqrt(cov[place, place]))
        listed = examples(map(repr, self.names), 20)
        try:
            tested = self.results.t_test(self.contrast)
            effect, error = np.ravel(tested.effect), np.ravel(tested.sd)
        except Exception as problem:
            raise MethodError(
                f"contrast={self.contrast!r} is none of the coefficients of the model ({listed}), and its t_test does not take "
                f"it either ({type(problem).__name__}: {problem})."
            ) from problem
        if len(effect) != 1:
            raise MethodError(f"contrast={self.contrast!r} holds {len(effect)} contrasts; name one.")
        return None, float(effect[0]), float(error[0])

    @property
    def _named(self) -> int | None:
        known = isinstance(self.contrast, str) and self.contrast in self.names
        return self.names.index(self.contrast) if known else None

    @property
    def _likely(self) -> int:
        """The intercept; of a comparison the other of two coefficients, or the only one."""
        if self.n_params == 1:
            return 0
        if self.intercept is not None and (self.sides is None or self.n_params == 2):
            return self.intercept if self.sides is None else 1 - self.intercept
        what = "the mean" if self.sides is None else "the difference of the two systems"
        raise MethodError(
            f"Which coefficient of the model is {what} cannot be told; name it, or what its t_test takes, with contrast=. It has "
            f"{examples(map(repr, self.names), 20)}."
        )

    @property
    def place(self) -> int | None:
        return self.coefficient[0]

    @property
    def of(self) -> str:
        """Name of the coefficient, or the contrast."""
        return str(self.contrast) if self.place is None else self.names[self.place]

    @cached_property
    def combination(self) -> FloatArray | None:
        """How the coefficients are added up; None where the contrast cannot be read."""
        if self.place is not None:
            return np.asarray(np.arange(self.n_params) == self.place, dtype=np.float64)
        from patsy import DesignInfo

        try:
            found = np.ravel(DesignInfo(self.names).linear_constraint(self.contrast).coefs)
        except Exception:  # whatever the other tool takes, it is not read here
            return None
        return found if len(found) == self.n_params else None

    @cached_property
    def others(self) -> list[str]:
        """Regressors beside the intercept and the coefficient."""
        expected = {self.place, None if self.sides is None else self.intercept}
        return [] if self.place is None else [name for i, name in enumerate(self.names) if i not in expected]

    @cached_property
    def levels(self) -> FloatArray:
        """Values of the coefficient's column."""
        return np.zeros(0) if self.place is None else np.unique(self.design[:, self.place])

    @cached_property
    def width(self) -> float:
        """How many times its coefficient the difference is, as with codes -1 and 1, or the mean with another constant than 1."""
        if self.sides is not None:
            return float(np.ptp(self.levels)) if len(self.levels) == 2 else 1.0
        return float(self.levels[0]) if len(self.levels) == 1 else 1.0

    @cached_property
    def _scaled(self) -> tuple[float, float, str]:
        """Estimate and error on the scale of the scores, or words of why they are not."""
        with np.errstate(invalid="ignore"):  # a variance over crossed clusterings may be negative
            place, effect, error = self.coefficient
            if self.sides is None and len(self.levels) > 1 and self.intercept is None:
                return (
                    effect,
                    error,
                    f"another estimand: the coefficient of {self.of!r}, which is no constant",
                )
            if self.link is None or self.sides is None:
                effect, error = effect * self.width, error * abs(self.width)
            if self.link is None:
                return effect, error, ""
            mean, slope = self.link.inverse, self.link.inverse_deriv
            if self.sides is None:
                return float(mean(effect)), abs(float(slope(effect))) * error, ""
            if self.intercept is None or place is None or self.n_params != 2 or len(self.levels) != 2:
                return effect, error, _LINK
            at = self.params[self.intercept] + self.params[place] * self.levels
            slopes, gradient = slope(at), np.zeros(2)
            gradient[self.intercept] = slopes[1] - slopes[0]
            gradient[place] = slopes @ (self.levels * [-1.0, 1.0])
            return float(np.diff(mean(at))[0]), float(np.sqrt(gradient @ self.cov @ gradient)), ""

    @property
    def estimate(self) -> float:
        return self.sign * self._scaled[0]

    @property
    def std_error(self) -> float:
        """Its error; nan where its variance is negative."""
        return self._scaled[1]

    @property
    def scale(self) -> str:
        """Words where the coefficient could not be brought to the scale of the scores, or is against another level."""
        return self._scaled[2] or self._direction[1]

    @property
    def direction(self) -> int:
        """-1 where it is the second system minus the first, 1 the other way round; 0 where its name does not tell."""
        return self._direction[0]

    @cached_property
    def _direction(self) -> tuple[int, str]:
        levels = [_LEVEL.fullmatch(name) for name in self.names]
        if self.sides is None or self.combination is None:
            return 0, ""
        used = np.flatnonzero(self.combination).tolist()
        if self.place is None:
            both = [levels[k] for k in sorted(used, key=lambda k: -self.combination[k])]  # type: ignore[index]
            named = [one[3] for one in both if one is not None]
            known = sorted(self.combination[used]) == [-1, 1] and set(named) == set(self.sides)
            return (0 if not known else 1 if named[0] == self.sides[0] else -1), ""
        own = levels[self.place]
        if own is None or not own[2] or own[3] not in self.sides:
            return 0, ""
        other = self.sides[1 - self.sides.index(own[3])]
        if any(one is not None and one[2] and one[1] == own[1] and one[3] == other for one in levels):
            return 0, (
                f"another estimand: {self.of!r} is no difference from {other!r}, which has a coefficient of its own"
            )
        return (1 if own[3] == self.sides[0] else -1), ""

    @cached_property
    def is_level(self) -> bool:
        """Whether it, beside two systems, moves with the level of all scores, as a mean does and a difference does not."""
        if self.sides is None or self.combination is None or self.n_params < 2 or self.is_wide:
            return False
        of_ones = np.linalg.lstsq(self.design, np.ones(len(self.design)), rcond=None)[0]
        return bool(np.allclose(self.design @ of_ones, 1) and abs(self.combination @ of_ones) > _EFFECT)

    @cached_property
    def other_bse(self) -> str:
        """Words where the errors it shows are not those of its covariance."""
        with np.errstate(invalid="ignore"):
            shown = np.ravel(np.asarray(getattr(self.results, "bse", []), dtype=np.float64))
            place, _, root = self.coefficient
        if place is None or len(shown) <= place:
            return ""
        if not np.isfinite([root, shown[place]]).all() or abs(shown[place] - root) <= _SAME * abs(root):
            return ""
        return f"its bse {shown[place]:.6g} is not the root {root:.6g} of its cov_params()"

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of the t quantile; nan under the normal one."""
        if not getattr(self.results, "use_t", False):
            return np.nan
        found = getattr(self.results, "df_resid_inference", None)
        return float(self.results.df_resid if found is None else found)

    @property
    def rest(self) -> float:
        """Degrees of freedom that its rows leave to its coefficients."""
        return float(getattr(self.results, "df_resid", np.nan))

    # Its rows

    @cached_property
    def _weights(self) -> FloatArray:
        return self._times(_WEIGHTS.get(self.kind, []))

    def _times(self, names: list[str]) -> FloatArray:
        weights = np.ones(self.n_rows)
        for given in (getattr(self.model, name, None) for name in names):
            if given is not None and np.ndim(given) <= 1:
                weights = weights * np.asarray(given, dtype=np.float64)
        return weights

    @property
    def n_rows(self) -> int:
        """Its rows with those of weight 0."""
        return int(np.shape(self.model.endog)[0])

    @cached_property
    def used(self) -> BoolArray:
        """Rows that have a weight: one of weight 0 is absent."""
        used = self._weights > 0
        return used if used.any() else ~used

    @cached_property
    def n(self) -> int:
        """Rows that have a weight, or its passes and failures where it holds counts of these."""
        trials = np.asarray(getattr(self.model, "n_trials", 1))
        return int(trials.sum()) if trials.ndim else int(self.used.sum())

    @cached_property
    def weights(self) -> Any:
        """Weights of its rows; None where all are equal."""
        weights = self._weights[self.used]
        return weights if np.ptp(weights) > 0 else None

    @cached_property
    def endog(self) -> Any:
        return np.asarray(self.model.endog)[self.used]

    @property
    def dropped(self) -> int:
        """Rows that it left out as missing."""
        return len(getattr(getattr(self.model, "data", None), "missing_row_idx", None) or [])

    @cached_property
    def _influence(self) -> Influence | None:
        y = np.asarray(self.model.endog, dtype=np.float64)
        offsets = [getattr(self.model, name, None) for name in ("offset", "exposure")]
        if self.kind not in KINDS or self.weighs or self.scale or self.combination is None or self.is_wide:
            return None
        if y.ndim != 1 or not len(y) or any(one is not None and np.any(one) for one in offsets):
            return None
        # With as many coefficients as different rows of the design, a link moves no fitted mean.
        if not (self._linear and self.kind in _WEIGHTS) and (
            self.n_params > (1 if self.sides is None else 2)
            or len(np.unique(self.design, axis=0)) != self.n_params
        ):
            return None
        weights = self._weights * self._times(["n_trials"])
        root = np.sqrt(weights)
        inverse = np.linalg.pinv(root[:, None] * self.design)
        params = inverse @ (root * y)
        width = self.sign * self.width
        return Influence(
            estimate=float(width * (self.combination @ params)),
            rows=width * (self.combination @ inverse) * root * (y - self.design @ params),
            weights=weights,
        )

    @property
    def _linear(self) -> bool:
        return self.link is None and type(getattr(self.model, "family", None)).__name__ in (
            "NoneType",
            "Gaussian",
        )

    @cached_property
    def rows(self) -> Influence | None:
        """What its rows with a weight give, as if clusters were weighed by their rows; None where that cannot be told."""
        found, used = self._influence, self.used
        return found and Influence(
            estimate=found.estimate, rows=found.rows[used], weights=found.weights[used]
        )

    @cached_property
    def weighs(self) -> str:
        """Words for a model that weighs clusters in a way of its own; else empty."""
        structure = type(getattr(self.model, "cov_struct", None)).__name__
        mixed = "Mixed" in self.kind
        if (not mixed and structure in ("NoneType", "Independence")) or self._cancels(structure):
            return ""
        if mixed:
            return f"{self.kind} weighs clusters by m/(1+(m-1)r), with r its intracluster correlation, and not by their sizes"
        return f"the working correlation {structure} weighs clusters otherwise than by their sizes"

    def _cancels(self, structure: str) -> bool:
        """Whether a working correlation, or random effects, leave the estimate as that of the rows with equal weights.

        Of a mean where all clusters are equally large; of a difference where every cluster holds both systems equally often,
        and all are equally large, or on the scale of the scores no random effect tells the systems apart.
        """
        groups, mixed = self._all_groups, self.kind == "MixedLM"
        if groups is None or groups.ndim != 1 or np.ptp(self._weights * self._times(["n_trials"])) > 0:
            return False
        if not mixed and structure != "Exchangeable":
            return False
        codes = pd.factorize(groups, use_na_sentinel=False)[0]
        equal = bool(np.ptp(np.bincount(codes)) == 0)
        if self.n_params == 1:
            return equal and (not mixed or self._one_intercept)
        if self.sides is None or self.place is None:
            return False
        side = self.design[:, self.place] - self.design[:, self.place].mean()
        balanced = bool(np.abs(np.bincount(codes, weights=side)).max() <= _SAME)
        return balanced and (equal or (self._linear and (not mixed or self._no_slope(self.place))))

    @property
    def _one_intercept(self) -> bool:
        model = self.model
        return model.k_re == 1 and not len(model.exog_vc.names) and bool(np.ptp(model.exog_re) == 0)

    def _no_slope(self, place: int) -> bool:
        """Whether all random effects of a mixed model are the same for both systems."""
        if self._one_intercept:
            return bool(np.ptp(self.design[:, place]) > 0)
        for g, design in enumerate(self.model.exog_li):
            side = design[:, place] - design[:, place].mean()
            parts = [self.model.exog_re_li[g]] if self.model.k_re else []
            parts += [mats[g] for mats in self.model.exog_vc.mats]
            if any(np.abs(np.asarray(part).T @ side).max(initial=0.0) > _SAME for part in parts):
                return False
        return True

    @cached_property
    def no_slope(self) -> bool:
        """Whether it is a mixed model of a difference whose random effects are the same for both systems."""
        known = self.kind == "MixedLM" and self.sides is not None
        return known and self.place is not None and self._no_slope(self.place)

    # Its clusters

    @property
    def _kwds(self) -> dict[str, Any]:
        return getattr(self.results, "cov_kwds", None) or {}

    @cached_property
    def cov_type(self) -> str:
        return str(getattr(self.results, "cov_type", "nonrobust")).lower()

    @property
    def clustered(self) -> bool:
        """Whether its variance is one of clusters."""
        return self.cov_type in (("robust", "bias_reduced") if self.kind == "GEE" else _CLUSTERED)

    @property
    def small_sample(self) -> bool:
        """Whether a clustered variance has its small-sample factor."""
        return bool(self._kwds.get("use_correction", True))

    @property
    def scaling(self) -> float:
        """A further factor of the variance that was passed."""
        return float(self._kwds.get("scaling_factor") or 1)

    @cached_property
    def _all_groups(self) -> Any:
        groups = self._kwds.get("groups")
        groups = getattr(self.model, "groups", None) if groups is None else groups
        return None if groups is None else np.asarray(groups)

    @cached_property
    def groups(self) -> Any:
        """Cluster ids as they were given, of the rows that have a weight; or None."""
        groups = self._all_groups
        return groups if groups is None or len(groups) != self.n_rows else groups[self.used]

    @cached_property
    def n_clusters(self) -> int:
        """Clusters that it counts, of the clustering with the fewest; as many as rows without a clustering."""
        groups = self._all_groups
        if groups is None:
            return self.n_rows
        return min(int(pd.Series(one).nunique(dropna=False)) for one in groups.reshape(len(groups), -1).T)

    @cached_property
    def columns(self) -> list[Any]:
        """Its groups, one array a clustering that lies within no other; without any each row is one."""
        if not self.clustered or self.groups is None:
            return [np.arange(self.n if self.rows is None else len(self.rows.rows))]
        columns = list(self.groups.reshape(len(self.groups), -1).T)
        return [columns[k] for k in not_nested(joint_codes(columns))]

    @property
    def cluster(self) -> str:
        """Names of the groups, where a Series, the columns of a frame or a formula's string gave them; else empty."""
        groups = self._kwds.get("groups")
        if groups is None:
            name = getattr(self.model, "_groups_name", None)  # "Groups" where they came as an array
            return "" if name in (None, "Groups") else str(name)
        names = list(groups.columns) if hasattr(groups, "columns") else [getattr(groups, "name", None)]
        return "" if any(name is None for name in names) else " + ".join(map(str, names))

    @cached_property
    def empty(self) -> float:
        """Factor of the variance from clusters without a weight, which are counted there."""
        groups, every = self._all_groups, self._influence
        if (
            groups is None
            or len(groups) != self.n_rows
            or self.used.all()
            or every is None
            or self.rows is None
        ):
            return 1.0
        if self.cov_type != "cluster" or not self.small_sample:
            return 1.0
        whole, used = (
            sandwich(one, list(ids.reshape(len(ids), -1).T), small_sample=True)
            for one, ids in ((every, groups), (self.rows, self.groups))
        )
        return whole / (used or whole or 1.0)


def sandwich(rows: Influence, columns: list[Any], *, small_sample: bool) -> float:
    """The clustered variance CR1, or CR0, over one or two clusterings, by inclusion and exclusion."""
    total = 0.0
    for some, codes in joint_codes(columns).items():
        sums = np.bincount(codes, weights=rows.rows)
        factor = len(sums) / max(len(sums) - 1, 1) if small_sample else 1.0
        total -= (-1) ** len(some) * factor * float((sums**2).sum())
    return total


def same_clusters(theirs: Theirs, scores: Scores, *, shares: bool) -> bool:
    """Whether the clusters move both estimates alike, which makes their clustered variances equal.

    ``shares`` asks for equal shares of the weights too, on which CR2 and CR3 also depend.
    """
    rows, ours = theirs.rows, of_scores(scores)
    if rows is None or len(theirs.columns) != scores.ways:
        return False
    there, here = joint_codes(theirs.columns), joint_codes(list(scores.clusterings.T))
    pairs = [(rows.rows, ours.rows)]
    pairs += [(rows.weights / rows.weights.sum(), ours.weights / ours.weights.sum())] if shares else []

    def alike(codes: IntArray, own: IntArray) -> bool:
        return all(_alike(np.bincount(codes, one), np.bincount(own, other)) for one, other in pairs)

    return any(
        all(alike(there[tuple(sorted(order[k] for k in some))], codes) for some, codes in here.items())
        for order in itertools.permutations(range(scores.ways))
    )


def _alike(one: FloatArray, other: FloatArray) -> bool:
    """Whether two sets of sums are the same, up to order and rounding."""
    if len(one) != len(other):
        return False
    apart = np.abs(np.sort(one) - np.sort(other)).max(initial=0.0)
    return bool(apart <= _SAME * np.abs(other).max(initial=0.0))
