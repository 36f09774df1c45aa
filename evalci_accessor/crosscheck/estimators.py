"""Means and differences as statsmodels has them: the only module that imports it, and only when called."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.stats import special
from evalci_accessor.stats.rates.intersections import counted
from evalci_accessor.stats.validate import FloatArray, IntArray

ESTIMATORS = (
    "ols_cluster", "ols_cluster_t", "ols_cr2", "glm_binomial_cluster", "gee_independence", "gee_independence_bias_reduced",
    "gee_exchangeable",
)  # fmt: skip
# Above these GEE is skipped: it goes through the clusters one by one, and the bias-reduced variance solves a dense system in each.
MAX_ROWS, MAX_CLUSTERS, MAX_CUBES = 1_000_000, 100_000, 1e11
NEAREST_END = 1e-8  # where statsmodels' logit has no digits left
_CTOL, _MAXITER = 1e-10, 500  # statsmodels' own are 1e-6 and 60
_WAYS = 2  # clusterings that statsmodels takes
_NO_WEIGHTS = {
    "gee_independence_bias_reduced": "' bias-reduced variance is not made for weights of rows",
    "gee_exchangeable": " takes the weights of the first rows for those of the clusters in this correlation",
}


class Scores:
    """What is fitted: one score an item, or two of them, whose mean difference is the estimate.

    Parameters
    ----------
    first : ndarray of float, shape (n,)
        No score is missing.
    second : ndarray of float, shape (n,), or None
        Of the other system on the same items.
    clusters : ndarray of int, or a sequence of these
        Codes of any kind, of one clustering or several; all is brought into the order of the first.
    bounded : bool
        Whether all scores lie in [0, 1].
    weights : ndarray of float, shape (n,), or None
        Above 0; kept with a mean of 1, or as None where all are equal.
    """

    def __init__(
        self,
        first: FloatArray,
        second: FloatArray | None,
        clusters: IntArray | Sequence[IntArray],
        *,
        bounded: bool,
        weights: FloatArray | None = None,
    ) -> None:
        every = [clusters] if isinstance(clusters, np.ndarray) else clusters
        codes = [np.unique(one, return_inverse=True)[1].reshape(-1).astype(np.int64) for one in every]
        order = np.argsort(codes[0], kind="stable")
        self.bounded, self.first = bounded, first[order]
        self.second = None if second is None else second[order]
        self.sides = [self.first] if self.second is None else [self.first, self.second]
        self.mean_of = self.first if self.second is None else self.first - self.second
        even = weights is None or not len(weights) or np.ptp(weights) == 0
        self.weights = None if even or weights is None else weights[order] / weights.mean()
        self.clusterings = np.stack(codes, axis=1)[order]  # from 0 to G - 1, shape (n, D)
        self.ways, self.codes = len(codes), self.clusterings[:, 0]
        self.groups = self.codes if self.ways == 1 else self.clusterings  # as statsmodels takes them
        self.margins = [np.bincount(one) for one in codes]  # items in each cluster of each clustering
        self.sizes, self.n_clusters = self.margins[0], min(map(len, self.margins))

    def of(self, clusters: IntArray | Sequence[IntArray]) -> Scores:
        """The same by other clusterings."""
        return Scores(self.first, self.second, clusters, bounded=self.bounded, weights=self.weights)

    def parts(self) -> dict[tuple[int, ...], Scores]:
        """The same by each clustering alone and by each of their intersections, from their places."""
        return {some: self.of(codes) for some, codes in joint_codes(list(self.clusterings.T)).items()}

    @property
    def effective_clusters(self) -> float:
        """Kish's number of clusters, of the clustering with the fewest."""
        weights = np.ones(len(self.first)) if self.weights is None else self.weights
        sums = [np.bincount(codes, weights=weights) for codes in self.clusterings.T]
        return min(float(one.sum() ** 2 / (one**2).sum()) for one in sums)

    def average(self, values: FloatArray) -> float:
        """Weighted mean."""
        weights = self.weights
        return float(values.mean() if weights is None else weights @ values / weights.sum())

    @property
    def nearest_end(self) -> float:
        """Distance of a mean from the nearer end of [0, 1]."""
        return min(min(self.average(side), self.average(1 - side)) for side in self.sides)

    @property
    def constant(self) -> bool:
        """Whether what the mean is of never varies, by more than rounding."""
        y = self.mean_of
        scale = np.abs(self.sides).max(initial=0.0)
        return not len(y) or bool(np.ptp(y) <= 8 * np.finfo(np.float64).eps * scale)

    @property
    def flat(self) -> bool:
        """Whether the clusters do not vary beyond their sizes, by more than rounding: a clustered variance is then 0.

        Of several clusterings none may vary.
        """
        if self.constant:
            return True
        y = self.mean_of
        left = (y - self.average(y)) * (1.0 if self.weights is None else self.weights)
        residuals = [np.bincount(codes, weights=left) / len(y) for codes in self.clusterings.T]
        largest = max(float((residual**2).sum()) for residual in residuals)
        return bool(largest <= (8 * np.finfo(np.float64).eps * (float(np.abs(y).max()) or 1.0)) ** 2)

    def stacked(self) -> tuple[FloatArray, FloatArray, IntArray, FloatArray | None]:
        """Response, design, clusters and weights: a constant alone, or two rows an item and which is the first system's."""
        if self.second is None:
            return self.first, np.ones((len(self.first), 1)), self.groups, self.weights
        y = np.stack([self.first, self.second], axis=1).ravel()
        design = np.tile([[1.0, 1.0], [1.0, 0.0]], (len(self.first), 1))
        weights = None if self.weights is None else np.repeat(self.weights, 2)
        return y, design, np.repeat(self.groups, 2, axis=0), weights


def joint_codes(columns: Sequence[Any]) -> dict[tuple[int, ...], IntArray]:
    """Codes from 0 of each clustering, whatever its ids, and of each of their intersections, from their places."""
    codes = [np.asarray(pd.factorize(one, use_na_sentinel=False, sort=False)[0]) for one in columns]
    joint: dict[tuple[int, ...], IntArray] = {}
    for size in range(1, len(codes) + 1):
        for some in itertools.combinations(range(len(codes)), size):
            last = codes[some[-1]]
            both = last if size == 1 else joint[some[:-1]] * (last.max(initial=0) + 1) + last
            joint[some] = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return joint


def not_nested(joint: dict[tuple[int, ...], IntArray]) -> list[int]:
    """Places of the clusterings that do not lie within another."""
    return counted({some: int(codes.max(initial=-1)) + 1 for some, codes in joint.items()})


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Fit:
    """A mean or difference as statsmodels has it, in the units of the scores; nan where it has none."""

    estimate: float = np.nan
    std_error: float = np.nan
    low: float = np.nan
    high: float = np.nan
    df: float = np.nan  # degrees of freedom of its t quantile; nan under the normal one
    correlation: float = np.nan  # the exchangeable working correlation; nan elsewhere
    # The variance where, over crossed clusterings, it is negative, so that there is no error; else nan.
    negative: float = np.nan
    problem: str = ""  # why the numbers are no good, or are none; empty where they are


def fit(estimator: str, scores: Scores, confidence_level: float) -> Fit:
    """One of the `ESTIMATORS` by statsmodels; its warnings and errors become words."""
    problem = why_not(estimator, scores)
    if problem.startswith("skipped") or (problem and not estimator.startswith("ols")):
        return Fit(problem=problem)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = _FITTERS[estimator](scores, confidence_level)
        except Exception as error:  # whatever the other tool does must not take the comparison with it
            return Fit(problem=f"statsmodels failed: {type(error).__name__}: {error}")
    broken = not np.isfinite([found.estimate, found.std_error]).all()
    if broken and not (problem or found.problem or found.negative < 0):
        return Fit(problem="did not converge: the numbers are not finite")
    return dataclasses.replace(found, problem=problem or found.problem)


def why_not(estimator: str, scores: Scores) -> str:
    """Why an estimator cannot say anything of these scores; empty where it can."""
    kind, paired = estimator[:3], scores.second is not None
    if not len(scores.first):
        return "skipped: no scores"
    if scores.ways > 1 and kind == "gee":
        return "skipped: GEE takes one clustering; name one of them alone for its rows"
    if scores.ways > _WAYS and estimator != "ols_cr2":
        return f"skipped: statsmodels takes {_WAYS} clusterings at most, and here are {scores.ways}"
    all_are = [f"{side[0]:g}" for side in scores.sides if np.ptp(side) == 0 and side[0] in (0.0, 1.0)]
    if scores.constant and (paired or kind == "ols"):
        what = "every item has the same difference" if paired else f"all scores are {scores.first[0]:g}"
        more = ", and an interval without width is no certainty" if kind == "ols" else ""
        return f"no variance: {what}{more}"
    if kind == "ols":
        return ""
    if kind == "glm" and not scores.bounded:
        return "skipped: a binomial model is for scores in [0, 1]"
    if scores.constant and not (scores.bounded and all_are):
        return f"no variance: all scores are {scores.first[0]:g}"
    if scores.constant:
        return (
            f"did not converge: all scores are {all_are[0]}, whose logit is infinite (statsmodels stops at a large number, may "
            "call that converged, and shows an error with it)"
        )
    if kind == "glm" and all_are:
        return f"did not converge: all scores of one system are {all_are[0]}, whose logit is infinite"
    nearest = scores.nearest_end
    if scores.bounded and nearest < NEAREST_END and (kind == "glm" or not paired):
        return f"skipped: a mean {nearest:.1g} from the end of the scale is too near for the logit in statsmodels"
    if scores.weights is not None and estimator in _NO_WEIGHTS:
        return f"skipped: statsmodels{_NO_WEIGHTS[estimator]}"
    return _too_large(estimator, scores) if kind == "gee" else ""


def _too_large(estimator: str, scores: Scores) -> str:
    sizes = len(scores.sides) * scores.sizes.astype(np.float64)
    rows, cubes = int(sizes.sum()), float((sizes**3).sum())
    if rows > MAX_ROWS:
        return f"skipped: {rows:,} rows are more than {MAX_ROWS:,}"
    if len(sizes) > MAX_CLUSTERS:
        return f"skipped: {len(sizes):,} clusters are more than {MAX_CLUSTERS:,}"
    if estimator.endswith("bias_reduced") and cubes > MAX_CUBES:
        return f"skipped: the cubes of the cluster sizes add up to {cubes:.1g}, more than {MAX_CUBES:.1g}"
    if estimator.endswith("exchangeable") and sizes.max() == 1:
        return "skipped: every cluster holds one score, so there is no correlation to estimate"
    return ""


def _least_squares(scores: Scores) -> Any:
    """The model of a constant, by ordinary or by weighted least squares."""
    from statsmodels.regression.linear_model import OLS, WLS

    y = scores.mean_of
    constant = np.ones((len(y), 1))
    return OLS(y, constant) if scores.weights is None else WLS(y, constant, weights=scores.weights)


def _ols(scores: Scores, confidence_level: float, *, use_t: bool) -> Fit:
    # Always with t's degrees of freedom asked for, so that a later version's default does not matter.
    results = _least_squares(scores).fit(cov_type="cluster", cov_kwds={"groups": scores.groups}, use_t=use_t)
    estimate, variance = float(results.params[0]), float(np.asarray(results.cov_params())[0, 0])
    if variance < 0:
        return Fit(estimate=estimate, negative=variance)
    low, high = np.ravel(results.conf_int(alpha=1 - confidence_level)).tolist()
    df = float(results.df_resid_inference) if use_t else np.nan
    return Fit(estimate=estimate, std_error=float(results.bse[0]), low=low, high=high, df=df)


def _ols_cr2_by_parts(scores: Scores, confidence_level: float) -> Fit:
    """CR2 of one clustering, or of several by inclusion and exclusion, with the fewest degrees of freedom of any."""
    if scores.ways == 1:
        return _ols_cr2(scores, confidence_level)
    parts = scores.parts()
    fits = {some: _ols_cr2(part, confidence_level) for some, part in parts.items()}
    variance = sum(-((-1) ** len(some)) * fit.std_error**2 for some, fit in fits.items())
    estimate, kept = fits[0,].estimate, not_nested(joint_codes(list(scores.clusterings.T)))
    if variance < 0:
        return Fit(estimate=estimate, negative=variance)
    return with_quantile(estimate, float(np.sqrt(variance)), confidence_level, min(fits[k,].df for k in kept))


def _ols_cr2(scores: Scores, confidence_level: float) -> Fit:
    r"""CR2 and its degrees of freedom as Bell and McCaffrey define them, from what the fit holds: design, residuals, bread.

    With x the (weighted) design and b the bread, the block of a cluster in the hat matrix is :math:`b\,xx'`, whose one
    eigenvalue is :math:`h = b\,x'x`, so that :math:`x'(I-bxx')^{-1/2}e = x'e/\sqrt{1-h}`. The variance is then a quadratic form
    in :math:`(I-H)y`, with the vectors :math:`u_g = b\,x_g/\sqrt{1-h_g}` of the clusters; for independent errors the matrix
    of its products is :math:`U'(I-H)U = U'U - b\,U'xx'U`, and the degrees of freedom are its squared trace over the sum of
    its squares.
    """
    results = _least_squares(scores).fit()
    x, bread = np.asarray(results.model.wexog)[:, 0], float(np.asarray(results.normalized_cov_params)[0, 0])
    starts = np.flatnonzero(np.diff(scores.codes, prepend=-1))
    square = np.add.reduceat(x * x, starts)
    moment = np.add.reduceat(x * np.asarray(results.wresid), starts)
    root = np.sqrt(1 - bread * square)
    error = float(np.sqrt(((bread * moment / root) ** 2).sum()))
    norm, along = bread**2 * square / root**2, bread * square / root  # u'u and x'u
    # Of U'(I-H)U: the diagonal, and what it is made of off it.
    own, beside = norm - bread * along**2, bread * along
    trace = float(own.sum())
    squares = float((own**2).sum() + ((beside**2).sum() ** 2 - (beside**4).sum()) / bread**2)
    df = trace**2 / squares if squares > 0 else np.nan
    return with_quantile(float(results.params[0]), error, confidence_level, df)


def _glm(scores: Scores, confidence_level: float) -> Fit:
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    y, design, groups, weights = scores.stacked()
    # With one coefficient frequency weights give the same: they differ in the factor (N-1)/(N-K) alone, which is then 1.
    model = GLM(y, design, family=Binomial(), var_weights=weights)
    results = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, tol=1e-12)
    if not results.converged:
        return Fit(problem="did not converge")
    return _from_logit(results, confidence_level)


def _from_logit(results: Any, confidence_level: float) -> Fit:
    """The mean, or the difference of two, by the delta method."""
    params, cov = np.asarray(results.params), np.asarray(results.cov_params())
    p = special.expit(np.cumsum(params))  # with two: of the second system, then of the first
    slope = p * (1 - p)
    gradient = slope if len(params) == 1 else np.array([slope[1] - slope[0], slope[1]])
    estimate, variance = float(p[0] if len(params) == 1 else p[1] - p[0]), float(gradient @ cov @ gradient)
    if variance < 0:
        return Fit(estimate=estimate, negative=variance)
    return with_quantile(estimate, float(np.sqrt(variance)), confidence_level)


def with_quantile(estimate: float, std_error: float, confidence_level: float, df: float = np.nan) -> Fit:
    """A fit with t's quantile, or where ``df`` is nan with the normal one."""
    at = (1 + confidence_level) / 2
    half = float(special.ndtri(at) if np.isnan(df) else special.stdtrit(df, at)) * std_error
    return Fit(estimate=estimate, std_error=std_error, low=estimate - half, high=estimate + half, df=df)


def gee(
    scores: Scores, confidence_level: float, *, exchangeable: bool, cov_type: str, ddof_scale: Any = None
) -> Fit:
    """GEE of the logit of a rate, or on the scale of the scores; a system indicator for a difference.

    ``ddof_scale=0`` estimates the working correlation as R's geepack does.
    """
    from statsmodels.genmod.cov_struct import Exchangeable, Independence
    from statsmodels.genmod.families import Binomial, Gaussian
    from statsmodels.genmod.generalized_estimating_equations import GEE

    y, design, codes, weights = scores.stacked()
    binomial = scores.bounded and scores.second is None
    # Convergence is judged by the size of the score function, so large scores are brought down by a power of two.
    unit = 1.0 if scores.bounded else float(np.ldexp(1.0, int(np.frexp(np.abs(y).max())[1])))
    family, structure = (Binomial if binomial else Gaussian), (Exchangeable if exchangeable else Independence)
    model = GEE(y / unit, design, groups=codes, family=family(), cov_struct=structure(), weights=weights)
    # The score function is a sum over all rows: near an end it is small everywhere, and it is never free of rounding.
    n, rounding = len(scores.first), float(np.finfo(np.float64).eps)
    ctol = max(_CTOL * (min(1.0, n * scores.nearest_end) if binomial else 1.0), 2 * rounding * n)
    results = model.fit(cov_type=cov_type, ddof_scale=ddof_scale, ctol=ctol, maxiter=_MAXITER)
    if results is None:
        return Fit(problem="did not converge: the working covariance is singular")
    if not results.converged:
        return Fit(problem=f"did not converge within {_MAXITER} iterations")
    if binomial:
        found = _from_logit(results, confidence_level)
    else:
        found = with_quantile(
            unit * float(results.params[-1]), unit * float(results.bse[-1]), confidence_level
        )
    correlation = float(results.cov_struct.dep_params) if exchangeable else np.nan
    return dataclasses.replace(found, correlation=correlation)


_FITTERS: dict[str, Callable[[Scores, float], Fit]] = {
    "ols_cluster": partial(_ols, use_t=False),
    "ols_cluster_t": partial(_ols, use_t=True),
    "ols_cr2": _ols_cr2_by_parts,
    "glm_binomial_cluster": _glm,
    "gee_independence": partial(gee, exchangeable=False, cov_type="robust"),
    "gee_independence_bias_reduced": partial(gee, exchangeable=False, cov_type="bias_reduced"),
    "gee_exchangeable": partial(gee, exchangeable=True, cov_type="robust"),
}
