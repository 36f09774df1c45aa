"""What the rows of a fitted model say by themselves: its estimate anew, and what each row adds to its clustered variance."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.crosscheck.scores import Scores
from evalci_accessor.stats.validate import FloatArray, IntArray

# Those whose coefficients are means or differences of means, up to a link and to the weights of the rows.
KINDS = ("OLS", "WLS", "GLM", "GEE", "Logit", "Probit", "Poisson", "MixedLM")
_LINEAR = ("OLS", "WLS", "GLM", "GEE")
_WEIGHTS = {
    "OLS": ("weights",), "WLS": ("weights",), "GEE": ("weights",), "GLM": ("freq_weights", "var_weights"),
}  # fmt: skip
_SAME = 1e-9  # sums of the same numbers in another order
_EFFECT = 1e-6  # of rounding in the solution of a design
_MAX_COLUMNS = 300


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Influence:
    """An estimate, and how much each row moves it: summed by cluster and squared, that is the clustered variance CR0.

    Parameters
    ----------
    estimate : float
    rows : ndarray of float, shape (N,)
    weights : ndarray of float, shape (N,)
    """

    estimate: float
    rows: FloatArray
    weights: FloatArray

    def of(self, used: Any) -> Influence:
        """That of some rows, which are all that have a weight."""
        return dataclasses.replace(self, rows=self.rows[used], weights=self.weights[used])


def of_scores(scores: Scores) -> Influence:
    """That of our side, from the scores alone."""
    y, n = scores.mean_of, len(scores.first)
    weights = np.ones(n) if scores.weights is None else scores.weights
    mean = scores.average(y)
    return Influence(estimate=mean, rows=weights * (y - mean) / weights.sum(), weights=weights)


def of_model(
    model: Any, design: FloatArray, combination: FloatArray | None, *, paired: bool, linear: bool
) -> Influence | None:
    """That of a fitted model on the scale of its scores, as if its clusters were weighed by their rows; None where unknown.

    ``combination`` is that of the coefficients which is asked for, None where it is not known.
    """
    y = np.asarray(model.endog, dtype=np.float64)
    offsets = (getattr(model, name, None) for name in ("offset", "exposure"))
    if y.ndim != 1 or not len(y) or any(one is not None and np.any(one) for one in offsets):
        return None
    weights = row_weights(model, len(y))
    k = design.shape[1]
    if k == 1 and np.ptp(design) == 0 and (design[0, 0] == 1 or (design[0, 0] and not paired)):
        return _of_means(y, weights, np.zeros(len(y), dtype=np.int64), [1.0])
    if combination is None:
        return None
    used = np.flatnonzero(combination)
    place = int(used[0]) if len(used) == 1 and combination[used[0]] == 1 else None
    if k == 2 and paired and place is not None and not level(design, combination):
        kinds = np.asarray(pd.DataFrame(design).groupby([0, 1], sort=False).ngroup(), dtype=np.int64)
        first, second = (design[np.argmax(kinds == kind)] for kind in (0, 1))
        if kinds.max() == 1 and first[place] != second[place]:
            return _of_means(y, weights, kinds, [1.0, -1.0] if first[place] > second[place] else [-1.0, 1.0])
    if not linear or type(model).__name__ not in _LINEAR or too_wide(design):
        return None
    root = np.sqrt(weights)
    inverse = np.linalg.pinv(root[:, None] * design)
    params, along = inverse @ (root * y), combination @ inverse
    width = 1.0
    if place is not None:
        levels = np.unique(design[:, place])
        width = float(np.ptp(levels)) if paired and len(levels) == 2 else 1.0
        width = float(levels[0]) if not paired and len(levels) == 1 else width
    return Influence(
        estimate=width * float(combination @ params),
        rows=width * along * root * (y - design @ params),
        weights=weights,
    )


def too_wide(design: FloatArray) -> bool:
    """Whether a model has too many columns to look at its rows."""
    return bool(design.shape[1] > _MAX_COLUMNS)


def level(design: FloatArray, combination: FloatArray | None) -> bool:
    """Whether a combination of coefficients moves with the level of all scores, as a mean does and a difference does not."""
    if combination is None or design.shape[1] < 2 or too_wide(design):
        return False
    ones = np.ones(len(design))
    of_ones = np.linalg.lstsq(design, ones, rcond=None)[0]
    return bool(np.allclose(design @ of_ones, ones) and abs(combination @ of_ones) > _EFFECT)


def _of_means(y: FloatArray, weights: FloatArray, kinds: IntArray, signs: list[float]) -> Influence:
    """A mean, or the difference of two."""
    total = np.bincount(kinds, weights=weights)
    means, sign = np.bincount(kinds, weights=weights * y) / total, np.asarray(signs)
    return Influence(
        estimate=float(sign @ means),
        rows=sign[kinds] * weights * (y - means[kinds]) / total[kinds],
        weights=weights,
    )


def row_weights(model: Any, n: int, *, trials: bool = True) -> FloatArray:
    """Weights that the rows of a model were given; those that a fit finds by itself, and leaves on the model, are none."""
    weights = np.ones(n)
    for name in (*_WEIGHTS.get(type(model).__name__, ()), *(["n_trials"] if trials else [])):
        given = getattr(model, name, None)
        if given is not None and np.ndim(given) <= 1:
            weights = weights * np.asarray(given, dtype=np.float64)
    return weights


def sandwich(rows: Influence, columns: list[Any], *, small_sample: bool) -> float:
    """The clustered variance CR1, or CR0, over one or two clusterings, by inclusion and exclusion."""
    codes = [pd.factorize(one, use_na_sentinel=False)[0].astype(np.int64) for one in columns]
    total = 0.0
    for size in range(1, len(codes) + 1):
        for some in itertools.combinations(codes, size):
            sums = _sums(_joint(list(some)), rows.rows)
            factor = len(sums) / max(len(sums) - 1, 1) if small_sample else 1.0
            total -= (-1) ** size * factor * float((sums**2).sum())
    return total


def counted(columns: list[Any]) -> list[int]:
    """Places of the clusterings that lie within no other; of two that are the same the first counts."""
    codes = [pd.factorize(one, use_na_sentinel=False)[0].astype(np.int64) for one in columns]
    kept: list[int] = []
    for k in sorted(range(len(codes)), key=lambda k: int(codes[k].max(initial=0))):  # the coarsest first
        if all(_joint([codes[k], codes[other]]).max(initial=0) > codes[k].max(initial=0) for other in kept):
            kept.append(k)
    return sorted(kept)


def same_clusters(
    model: Influence, groups: list[Any], ours: Influence, scores: Scores, *, shares: bool
) -> bool:
    """Whether the clusters move both estimates alike, which makes their clustered variances equal.

    ``shares`` asks for equal shares of the weights too, on which CR2 and CR3 also depend.
    """
    here = scores.margins
    if len(groups) != len(here):
        return False
    theirs = [pd.factorize(one, use_na_sentinel=False)[0].astype(np.int64) for one in groups]
    mine = list(scores.clusterings.T)

    def alike(there: IntArray, here: IntArray) -> bool:
        pairs = [(model.rows, ours.rows)]
        if shares:
            pairs.append((model.weights / model.weights.sum(), ours.weights / ours.weights.sum()))
        return all(_alike(_sums(there, one), _sums(here, other)) for one, other in pairs)

    return any(
        all(alike(theirs[k], mine[place]) for k, place in enumerate(places))
        and (len(places) == 1 or alike(_joint(theirs), _joint(mine)))
        for places in itertools.permutations(range(len(here)))
    )


def _sums(codes: IntArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(codes, weights=values), dtype=np.float64)


def _alike(one: FloatArray, other: FloatArray) -> bool:
    """Whether two sets of sums are the same, up to order and rounding."""
    if len(one) != len(other):
        return False
    return bool(
        np.abs(np.sort(one) - np.sort(other)).max(initial=0.0) <= _SAME * np.abs(other).max(initial=0.0)
    )


def _joint(codes: list[IntArray]) -> IntArray:
    """Codes of the meetings of several clusterings."""
    joint = codes[0]
    for one in codes[1:]:
        joint = np.unique(joint * (int(one.max()) + 1) + one, return_inverse=True)[1].reshape(-1)
    return joint


def cancels(
    model: Any, design: FloatArray, place: int | None, groups: Any, *, paired: bool, linear: bool
) -> bool:
    """Whether a working correlation, or the random effects, leave the estimate as that of the rows with equal weights.

    Of a mean where all clusters are equally large; of a difference where every cluster holds both systems equally often, and
    all are equally large, or on the scale of the scores no random effect tells the systems apart.
    """
    if groups is None or np.ndim(groups) != 1 or np.ptp(row_weights(model, len(design))) > 0:
        return False
    mixed = type(model).__name__ == "MixedLM"
    if not mixed and type(getattr(model, "cov_struct", None)).__name__ != "Exchangeable":
        return False
    codes = pd.factorize(groups, use_na_sentinel=False)[0]
    sizes = np.bincount(codes)
    if design.shape[1] == 1:
        alone = not mixed or (model.k_re == 1 and not len(model.exog_vc.names) and np.ptp(model.exog_re) == 0)
        return bool(np.ptp(sizes) == 0) and alone
    if not paired or place is None:
        return False
    side = design[:, place] - design[:, place].mean()
    balanced = bool(np.abs(np.bincount(codes, weights=side)).max() <= _SAME)
    return balanced and (bool(np.ptp(sizes) == 0) or (linear and (not mixed or no_slope(model, place))))


def no_slope(model: Any, place: int) -> bool:
    """Whether all random effects of a mixed model are the same for both systems."""
    if model.k_re == 1 and not model.exog_vc.names and np.ptp(model.exog_re) == 0:
        return bool(np.ptp(np.asarray(model.exog)[:, place]) > 0)
    for g, design in enumerate(model.exog_li):
        side = design[:, place] - design[:, place].mean()
        parts = [model.exog_re_li[g]] if model.k_re else []
        parts += [mats[g] for mats in model.exog_vc.mats]
        if any(np.abs(np.asarray(part).T @ side).max(initial=0.0) > _SAME for part in parts):
            return False
    return True
