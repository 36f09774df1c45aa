"""A fitted statsmodels model of the caller's: its mean or difference, and what else can be read off it."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.crosscheck.estimators import Scores, joint_codes, not_nested
from evalci_accessor.exceptions import MethodError, examples
from evalci_accessor.stats.validate import FloatArray, IntArray

# Those whose coefficients are means or differences of means, up to a link and to the weights of the rows.
KINDS = ("OLS", "WLS", "GLM", "GEE", "Logit", "Probit", "Poisson", "MixedLM")
# Weights that their rows were given: those that a fit finds by itself, and leaves on the model, are none.
_WEIGHTS = dict.fromkeys(("OLS", "WLS", "GEE"), ("weights",)) | {"GLM": ("freq_weights", "var_weights")}
_CLUSTERED = ("cluster", "cluster-crv3", "cluster-jk")
_LEVEL = re.compile(r"(.*)\[([TS]\.)?(.*)\]", re.DOTALL)  # as patsy and formulaic name coefficients
_INTERCEPTS = ("Intercept", "const", "intercept", "(Intercept)")
_SAME = 1e-9  # sums of the same numbers in another order
_EFFECT = 1e-6  # of rounding in the solution of a design
_MAX_COLUMNS = 300
_LINK = "another estimand: on the scale of the model's link (such as a log odds ratio), and not a difference of means"


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Influence:
    """An estimate, and by row how much it moves it (the squared sums by cluster add up to CR0), and its weight."""

    estimate: float
    rows: FloatArray
    weights: FloatArray


def of_scores(scores: Scores) -> Influence:
    """That of our side, from the scores alone."""
    y, mean = scores.mean_of, scores.average(scores.mean_of)
    weights = np.ones(len(y)) if scores.weights is None else scores.weights
    return Influence(mean, weights * (y - mean) / weights.sum(), weights)


class Theirs:
    """What is read off fitted results: the mean, or the difference of the two ``sides``, in the units of the scores if possible.

    Parameters
    ----------
    results : fitted results of statsmodels
    contrast : object
        What was passed for it: None, the name of a coefficient, or what ``t_test`` takes.
    sides : tuple of str, or None
        The two systems of a difference.
    """

    def __init__(self, results: Any, contrast: Any, sides: tuple[str, str] | None) -> None:
        _check(results)
        self.results, self.contrast, self.sides = results, contrast, sides
        self.model = model = results.model
        kind = type(model).__name__
        self.kind = "OLS" if kind == "GLS" and getattr(model, "sigma", None) is None else kind
        self.names = [str(name) for name in model.exog_names]
        self.n_params = k = len(self.names)
        self.is_wide = k > _MAX_COLUMNS  # to look at its rows
        self.design = np.asarray(model.exog, dtype=np.float64).reshape(-1, k)
        self.cov = _covariance(results)[:k, :k]  # mixed models and others keep further parameters behind
        family = getattr(model, "family", None)
        link = getattr(model, "link", None) or getattr(family, "link", None)
        self.link = None if type(link).__name__.lower() == "identity" else link
        self.linear = self.link is None and type(family).__name__ in ("NoneType", "Gaussian")

        # Its rows; one of weight 0 is absent.
        self.n_rows = len(self.design)
        self._weights = self._times(_WEIGHTS.get(self.kind, ()))
        self.used = self._weights > 0 if (self._weights > 0).any() else np.ones(self.n_rows, dtype=bool)
        trials = np.asarray(getattr(model, "n_trials", 1))  # where it holds counts of passes and failures
        self.n = int(trials.sum()) if trials.ndim else int(self.used.sum())
        self.weights = self._weights[self.used] if np.ptp(self._weights[self.used]) > 0 else None
        self.endog = np.asarray(model.endog)[self.used]
        self.dropped = len(getattr(getattr(model, "data", None), "missing_row_idx", None) or [])

        # Its coefficient.
        flat = (self.design == self.design[:1]).all(axis=0) & (self.design[:1] != 0).all(axis=0)
        self.intercept = next((i for i in range(k) if flat[i] or self.names[i] in _INTERCEPTS), None)
        with np.errstate(invalid="ignore"):  # the variance may be negative, and its root is then nan
            self.place, effect, error = self._coefficient()
            self.of = str(contrast) if self.place is None else self.names[self.place]
            self.levels = np.zeros(0) if self.place is None else np.unique(self.design[:, self.place])
            # As with codes -1 and 1, or with another constant than 1.
            levels, number = self.levels, 1 if sides is None else 2
            self.width = float(levels[-1] - levels[0] * (number - 1)) if len(levels) == number else 1.0
            self.estimate, self.std_error, self.scale = self._scaled(effect, error)
            self.other_bse = self._other_bse(error)
        self.combination = self._combination()
        self.direction, level = self._direction()
        self.scale = self.scale or level
        expected = range(k) if self.place is None else {self.place, sides and self.intercept}
        self.others = [name for i, name in enumerate(self.names) if i not in expected]
        df = getattr(results, "df_resid_inference", None)
        self.rest = float(getattr(results, "df_resid", np.nan))  # what its rows leave to its coefficients
        self.df = np.nan if not getattr(results, "use_t", False) else self.rest if df is None else float(df)

        # Its variance and its clusters.
        kwds = getattr(results, "cov_kwds", None) or {}
        self.cov_type = str(getattr(results, "cov_type", "nonrobust")).lower()
        self.clustered = self.cov_type in (("robust", "bias_reduced") if kind == "GEE" else _CLUSTERED)
        self.small_sample = bool(kwds.get("use_correction", True))
        self.scaling = float(kwds.get("scaling_factor") or 1)
        named = kwds.get("groups")
        given = getattr(model, "groups", None) if named is None else named
        every = None if given is None else np.asarray(given)
        self.cluster = _names(named, getattr(model, "_groups_name", None))
        self.n_clusters = self.n_rows if every is None else min(map(number_of, _columns(every)))
        self.groups = every if every is None or len(every) != self.n_rows else every[self.used]

        # What its rows say by themselves.
        self.no_slope = self.kind == "MixedLM" and sides is not None and self._no_slope()
        self.weighs = self._weighs(every)
        influence = self._influence()
        self.rows, used = influence, self.used
        if influence is not None and not used.all():
            self.rows = Influence(influence.estimate, influence.rows[used], influence.weights[used])
        self.is_level = self._is_level()
        self.columns = [np.arange(self.n if self.rows is None else len(self.rows.rows))]
        if self.clustered and self.groups is not None:
            columns = _columns(self.groups)
            self.columns = [columns[place] for place in not_nested(joint_codes(columns))]
        self.empty = 1.0  # factor of the variance from clusters without a weight, which are counted there
        known = self.cov_type == "cluster" and self.small_sample and not self.used.all() and self.rows
        if known and influence and every is not None and len(every) == self.n_rows:
            whole = sandwich(influence, _columns(every), small_sample=True)
            self.empty = whole / (sandwich(known, _columns(self.groups), small_sample=True) or whole or 1.0)

    def turned(self) -> Theirs:
        """With the other sign."""
        found = copy.copy(self)
        found.estimate = -self.estimate
        if self.rows:
            found.rows = Influence(-self.rows.estimate, -self.rows.rows, self.rows.weights)
        return found

    def _times(self, names: Sequence[str]) -> FloatArray:
        weights = np.ones(self.n_rows)
        for given in (getattr(self.model, name, None) for name in names):
            if given is not None and np.ndim(given) <= 1:
                weights = weights * np.asarray(given, dtype=np.float64)
        return weights

    def _coefficient(self) -> tuple[int | None, float, float]:
        """Place (None of what ``t_test`` makes), estimate and error, on the scale of the model."""
        listed, place = examples(map(repr, self.names), 20), None
        if self.contrast is None:
            place = 0 if self.n_params == 1 else self.intercept
            if self.sides is not None and self.n_params > 1:
                place = None if self.intercept is None or self.n_params != 2 else 1 - self.intercept
            if place is None:
                what = "the mean" if self.sides is None else "the difference of the two systems"
                raise MethodError(
                    f"Which coefficient of the model is {what} cannot be told; name it, or what its t_test takes, with contrast=. "
                    f"It has {listed}."
                )
        elif isinstance(self.contrast, str) and self.contrast in self.names:
            place = self.names.index(self.contrast)
        if place is not None:
            effect = float(np.asarray(self.results.params)[place])
            return place, effect, float(np.sqrt(self.cov[place, place]))
        try:
            tested = self.results.t_test(self.contrast)
            effects, errors = np.ravel(tested.effect), np.ravel(tested.sd)
        except Exception as problem:
            raise MethodError(
                f"contrast={self.contrast!r} is none of the coefficients of the model ({listed}), and its t_test does not take "
                f"it either ({type(problem).__name__}: {problem})."
            ) from problem
        if len(effects) != 1:
            raise MethodError(f"contrast={self.contrast!r} holds {len(effects)} contrasts; name one.")
        return None, float(effects[0]), float(errors[0])

    def _combination(self) -> FloatArray | None:
        """How the coefficients are added up; None where the contrast cannot be read."""
        if self.place is not None:
            return np.asarray(np.arange(self.n_params) == self.place, dtype=np.float64)
        from patsy import DesignInfo  # type: ignore[import-untyped]

        try:
            found = np.ravel(DesignInfo(self.names).linear_constraint(self.contrast).coefs)
        except Exception:  # whatever the other tool takes, it is not read here
            return None
        return found if len(found) == self.n_params else None

    def _scaled(self, effect: float, error: float) -> tuple[float, float, str]:
        """Estimate and error on the scale of the scores, or words of why they are not."""
        if self.sides is None and len(self.levels) > 1 and self.intercept is None:
            return effect, error, f"another estimand: the coefficient of {self.of!r}, which is no constant"
        if self.link is None or self.sides is None:
            effect, error = effect * self.width, error * abs(self.width)
        if self.link is None:
            return effect, error, ""
        mean, slope = self.link.inverse, self.link.inverse_deriv
        if self.sides is None:
            return float(mean(effect)), abs(float(slope(effect))) * error, ""
        if None in (self.intercept, self.place) or self.n_params != 2 or len(self.levels) != 2:
            return effect, error, _LINK
        rows = np.ones((2, 2))
        rows[:, self.place] = self.levels
        at = rows @ np.asarray(self.results.params)[:2]
        gradient = np.diff(slope(at)[:, None] * rows, axis=0)[0]
        return float(np.diff(mean(at))[0]), float(np.sqrt(gradient @ self.cov @ gradient)), ""

    def _direction(self) -> tuple[int, str]:
        """-1 where it is the second system minus the first, 1 the other way round, else 0; and words of another level."""
        if self.sides is None or self.combination is None:
            return 0, ""
        levels = [_LEVEL.fullmatch(name) for name in self.names]
        if self.place is None:
            used = sorted(np.flatnonzero(self.combination), key=self.combination.__getitem__)
            named = [one[3] for one in (levels[k] for k in used) if one]
            known = self.combination[used].tolist() == [-1, 1] and set(named) == set(self.sides)
            return (0 if not known else 1 if named[1] == self.sides[0] else -1), ""
        own = levels[self.place]
        if not own or not own[2] or own[3] not in self.sides:
            return 0, ""
        other = self.sides[1 - self.sides.index(own[3])]
        if any(one and one[2] and one[1] == own[1] and one[3] == other for one in levels):
            words = f"{self.of!r} is no difference from {other!r}, which has a coefficient of its own"
            return 0, f"another estimand: {words}"
        return (1 if own[3] == self.sides[0] else -1), ""

    def _is_level(self) -> bool:
        """Whether it, beside two systems, moves with the level of all scores, as a mean does and a difference does not."""
        if self.sides is None or self.combination is None or self.n_params < 2 or self.is_wide:
            return False
        of_ones = np.linalg.lstsq(self.design, np.ones(self.n_rows), rcond=None)[0]
        return bool(np.allclose(self.design @ of_ones, 1) and abs(self.combination @ of_ones) > _EFFECT)

    def _other_bse(self, root: float) -> str:
        """Words where the errors it shows are not those of its covariance."""
        bse = np.ravel(np.asarray(getattr(self.results, "bse", []), dtype=np.float64))
        shown = np.nan if self.place is None or len(bse) <= self.place else bse[self.place]
        is_other = np.isfinite([root, shown]).all() and abs(shown - root) > _SAME * abs(root)
        return f"its bse {shown:.6g} is not the root {root:.6g} of its cov_params()" if is_other else ""

    def _influence(self) -> Influence | None:
        """What its rows give, as if clusters were weighed by their rows; None where that cannot be told."""
        y = np.asarray(self.model.endog, dtype=np.float64)
        offsets = [getattr(self.model, name, None) for name in ("offset", "exposure")]
        if self.kind not in KINDS or self.weighs or self.scale or self.combination is None or self.is_wide:
            return None
        if y.ndim != 1 or not len(y) or any(one is not None and np.any(one) for one in offsets):
            return None
        if not (self.linear and self.kind in _WEIGHTS):
            # With as many coefficients as different rows of the design, a link moves no fitted mean.
            few = self.n_params <= (1 if self.sides is None else 2)
            if not few or len(np.unique(self.design, axis=0)) != self.n_params:
                return None
        weights = self._weights * self._times(["n_trials"])
        root = np.sqrt(weights)
        inverse = np.linalg.pinv(root[:, None] * self.design)
        params, along = inverse @ (root * y), self.width * self.combination
        if self.place is None and self.n_params == 1 and np.ptp(self.design) == 0:
            along = self.design[0]  # of a constant alone the rows say its mean, whatever is made of it
        moves = (along @ inverse) * root * (y - self.design @ params)
        return Influence(float(along @ params), moves, weights)

    def _weighs(self, groups: Any) -> str:
        """Words for a model that weighs clusters in a way of its own, unless that leaves the estimate of equal weights.

        A mean where all clusters are equally large; a difference where every cluster holds both systems equally often, and
        all are equally large, or on the scale of the scores no random effect tells the systems apart.
        """
        structure = type(getattr(self.model, "cov_struct", None)).__name__
        mixed, weights = "Mixed" in self.kind, self._weights * self._times(["n_trials"])
        if not mixed and structure in ("NoneType", "Independence"):
            return ""
        known = self.kind == "MixedLM" or structure == "Exchangeable"
        if known and np.ndim(groups) == 1 and not np.ptp(weights):
            codes = joint_codes([groups])[0,]
            even, cancels = not np.ptp(np.bincount(codes)), False
            if self.n_params == 1:
                cancels = even and (not mixed or self._one_intercept())
            elif self.sides is not None and self.place is not None:
                side = self.design[:, self.place] - self.design[:, self.place].mean()
                balanced = bool(np.abs(np.bincount(codes, weights=side)).max() <= _SAME)
                cancels = balanced and (even or (self.linear and (not mixed or self._no_slope())))
            if cancels:
                return ""
        if mixed:
            return f"{self.kind} weighs clusters by m/(1+(m-1)r), with r its intracluster correlation, and not by their sizes"
        return f"the working correlation {structure} weighs clusters otherwise than by their sizes"

    def _one_intercept(self) -> bool:
        model = self.model
        return model.k_re == 1 and not len(model.exog_vc.names) and bool(np.ptp(model.exog_re) == 0)

    def _no_slope(self) -> bool:
        """Whether all random effects of a mixed model are the same for both systems."""
        if self.place is None or self._one_intercept():
            return len(self.levels) > 1
        for g, design in enumerate(self.model.exog_li):
            side = design[:, self.place] - design[:, self.place].mean()
            parts = [self.model.exog_re_li[g]] if self.model.k_re else []
            parts += [mats[g] for mats in self.model.exog_vc.mats]
            if any(np.abs(np.asarray(part).T @ side).max(initial=0.0) > _SAME for part in parts):
                return False
        return True


def _check(results: Any) -> None:
    """Refuse what is no fitted model with coefficients and data."""
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


def _covariance(results: Any) -> FloatArray:
    try:
        return np.asarray(results.cov_params(), dtype=np.float64)
    except Exception as problem:
        raise MethodError(
            f"against= is a fitted {type(results.model).__name__} that has no covariance of its coefficients: its cov_params() "
            f"raises {type(problem).__name__}: {problem}"
        ) from problem


def _columns(groups: Any) -> list[Any]:
    return list(groups.reshape(len(groups), -1).T)


def number_of(column: Any) -> int:
    """How many clusters a column of ids holds; those that are missing make one."""
    return int(pd.Series(column).nunique(dropna=False))


def _names(groups: Any, name: Any) -> str:
    """Names of the groups, where a Series, the columns of a frame or a formula's string gave them; else empty."""
    if groups is None:
        return "" if name in (None, "Groups") else str(name)  # "Groups" where they came as an array
    names = list(groups.columns) if hasattr(groups, "columns") else [getattr(groups, "name", None)]
    return "" if any(name is None for name in names) else " + ".join(map(str, names))


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
        sums = [(np.sort(np.bincount(codes, a)), np.sort(np.bincount(own, b))) for a, b in pairs]
        return all(len(a) == len(b) and _near(a, b) for a, b in sums)

    return any(
        all(alike(there[tuple(sorted(order[k] for k in some))], codes) for some, codes in here.items())
        for order in itertools.permutations(range(scores.ways))
    )


def _near(one: Any, other: Any) -> bool:
    return bool((abs(one - other) <= _SAME * abs(other).max(initial=0.0)).all())
