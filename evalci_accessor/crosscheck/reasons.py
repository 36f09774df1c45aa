"""Likely reasons why the mean or difference of a fitted statsmodels model is not ours."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from evalci_accessor.crosscheck.estimators import Fit, Scores, fit, joint_codes, not_nested
from evalci_accessor.crosscheck.fitted import KINDS, Theirs, number_of, of_scores, same_clusters, sandwich
from evalci_accessor.exceptions import examples
from evalci_accessor.stats import special
from evalci_accessor.stats.validate import FloatArray, IntArray

_NEAR = 1e-6
_JACKKNIFES = ("bias_reduced", "cluster-crv3", "cluster-jk")
_ROBUST = {"hc0": "cr0", "hc1": "cr1", "hc2": "cr2", "hc3": "cr3"}  # each row as a cluster of its own
_ORDER = "are its cluster ids in the order of its rows?"
_COARSER = "a coarser clustering, or ids merged, rounded or cut off"
FLAT = "no variance: all clusters have the same mean, and an interval without width is no certainty"
_NO_SLOPE = (
    "the random intercept cancels in a difference, so its error takes the rows of a cluster as independent; it needs a random "
    "slope of the system"
)
_LEAST_SQUARES = ("OLS", "WLS")


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class Unit:
    """One mean, or one difference: ours, and the scores that statsmodels is given."""

    scores: Scores
    method: str  # what the default was
    names: list[str]  # of the clusterings
    ours: dict[str, dict[str, float]]  # by name of ours, the five numbers by name of column
    negative: dict[
        str, bool
    ]  # by name of ours, whether the crossed variance is negative, so that another stands in
    sides: tuple[str, str] | None = None  # the two systems of a difference
    # Scores or differences, and their clusters in each clustering, in orders that the rows of a model may have.
    orders: Sequence[tuple[FloatArray, list[IntArray]]] = ()
    fits: dict[str, Fit] = dataclasses.field(
        default_factory=dict
    )  # what statsmodels gave so far, by estimator

    def fit(self, estimator: str, confidence_level: float) -> Fit:
        """By statsmodels, once."""
        if estimator not in self.fits:
            self.fits[estimator] = fit(estimator, self.scores, confidence_level)
        return self.fits[estimator]

    def without_nested(self) -> Unit:
        """With the clusterings that lie within no other of ours: the variance is that of these."""
        kept = not_nested(joint_codes(list(self.scores.clusterings.T)))
        return dataclasses.replace(
            self,
            names=[self.names[k] for k in kept],
            scores=self.scores.of(list(self.scores.clusterings.T[kept])),
            orders=[(scores, [codes[k] for k in kept]) for scores, codes in self.orders],
        )


class Reason(NamedTuple):
    """Why numbers of theirs are not ours: all of them, the error (and its degrees of freedom), or the latter alone.

    ``factor`` is by how much exactly it multiplies the variance; nan where that is not known.
    """

    words: str
    of: Literal["all", "error", "df"] = "error"
    factor: float = np.nan


class Seen(NamedTuple):
    """A fitted model with our sign, and which of ours it compares with.

    Whether the two should agree follows from what was fitted, and not from what came out: where the kind of variance, the
    rows, the clusters, the weights or the estimand are others, the words say which. ``is_left`` tells whether its numbers are
    neither ours nor what the reasons make of ours.
    """

    theirs: Theirs
    counterpart: str
    note: str
    should_agree: bool
    is_left: bool


class _Beside:
    """A fitted model beside our side."""

    def __init__(self, theirs: Theirs, known: Unit, near: float) -> None:
        self.theirs, self.known, self.near, self.ours = theirs, known, near, of_scores(known.scores)
        n, paired, cr1 = len(known.scores.first), known.scores.second is not None, known.ours["cr1"]
        kind = theirs.cov_type
        if kind in _JACKKNIFES:
            self.counterpart = "cr3"
        elif theirs.clustered:
            self.counterpart = "cr0" if kind == "robust" or not theirs.small_sample else "cr1"
        else:  # only least squares tells the robust kinds apart, and elsewhere all are HC0
            least = theirs.kind in _LEAST_SQUARES or kind not in _ROBUST
            self.counterpart = _ROBUST.get(kind, "cr1") if least else "cr0"
        df = known.ours[self.counterpart]["df"]
        self.other_df = bool(np.isfinite([theirs.df, df]).all() and abs(theirs.df - df) > near * df)
        # A mean beside a difference: where the rows are items, the level of all of them is the difference.
        self.is_mean = theirs.is_level and theirs.n != n
        self.slack = _NEAR * max(abs(cr1["estimate"]), float(np.nan_to_num(cr1["std_error"])))
        self.close = abs(theirs.estimate - self.ours.estimate) <= self.slack
        self.same = theirs.rows is not None and abs(theirs.rows.estimate - self.ours.estimate) <= self.slack
        self.alike = same_clusters(theirs, known.scores, shares=self.counterpart in ("cr2", "cr3"))
        self.rows = ""
        if theirs.n != n and not (paired and theirs.n == 2 * n):
            nearest = 2 * n if paired and theirs.n_params > 1 else n
            what = "dropped" if theirs.n < nearest else "other"
            self.rows = f"{what} rows: fitted on {theirs.n:,} rows, here {nearest:,}"
            if theirs.dropped:
                self.rows += f" (statsmodels left out {theirs.dropped:,} with something missing)"


def _other_weights(used: Any, scores: Scores) -> str:
    """In words, that the model weighs rows otherwise; empty where it weighs them alike, up to scale and order."""
    ours = scores.weights
    if used is None:
        return "weights are given here, and the model has none" if ours is not None else ""
    if ours is None:
        return "the model has weights, and none are given here; pass them with weights="
    rows = 2 if scores.second is not None and len(used) == 2 * len(ours) else 1  # of an item
    wanted = np.sort(np.repeat(ours, rows) / ours.mean())
    alike = len(used) == len(wanted) and np.allclose(np.sort(used / used.mean()), wanted, rtol=1e-6)
    return "" if alike else "the model has other weights than those given here"


def normal_words(df: float, confidence_level: float) -> str:
    """How much narrower an interval is with the normal quantile than with t's."""
    at = (1 + confidence_level) / 2
    narrower = 1 - float(special.ndtri(at)) / float(special.stdtrit(df, at))
    return f"normal quantile: {100 * narrower:.2g}% narrower than t({df:.4g})"


def reasons(theirs: Theirs, known: Unit, confidence_level: float, tolerance: float) -> Seen:
    """Lay a fitted model beside ours, and find what there is to say."""
    b = _Beside(theirs, known.without_nested(), max(tolerance, _NEAR))
    turned = "" if known.sides is None or b.is_mean else _turned(b)
    if turned:
        theirs = theirs.turned()
        b = _Beside(theirs, b.known, b.near)
    ours = known.ours[b.counterpart]
    why = [*_estimand(b), *_variance(b)]
    told = [turned, *(reason.words for reason in why)]
    if b.other_df:
        words, clusters = f"t({theirs.df:.4g})", theirs.n_clusters
        if theirs.df == theirs.rest:
            words += " of rows less coefficients (N-K)"
        elif clusters > min(map(number_of, theirs.columns)) and theirs.df == clusters - 1:
            words += " with the clusters of weight 0"
        told.append(f"{words}, ours t({ours['df']:.4g})")
        why += [Reason(words, "df")] if " " in words else []
    if not why and b.counterpart == "cr0":
        larger = f"{100 * (known.ours['cr1']['std_error'] / ours['std_error'] - 1):.2g}% larger"
        told.append(f"CR0 against CR1: it lacks the factor G/(G-1), with which the error is {larger}")
    elif not why and b.counterpart != "cr1":
        told.append(f"its error is that of {b.counterpart.upper()}")
    left = [words for words in (*(_left(b, why) if why else []), theirs.other_bse) if words]
    told += left
    if np.isnan(theirs.df) and np.isfinite(ours["df"]):
        told.append(normal_words(ours["df"], confidence_level))
    return Seen(theirs, b.counterpart, "; ".join(words for words in told if words), not why, bool(left))


def _turned(b: _Beside) -> str:
    """Why it has the other sign, by the name of the coefficient, or else by the signs themselves; else empty."""
    theirs = b.theirs
    if theirs.direction < 0 and b.known.sides is not None:
        return "{!r} is {!r} minus {!r}, and was turned".format(theirs.of, *b.known.sides[::-1])
    if not theirs.direction and theirs.estimate * b.known.ours["cr1"]["estimate"] < 0:
        return "by its sign the difference is the other way round there, and was turned"
    return ""


def _left(b: _Beside, why: list[Reason]) -> list[str]:
    """What the reasons do not explain of the estimate, the error and the degrees of freedom, each on its own."""
    theirs, ours, told = b.theirs, b.known.ours[b.counterpart], []
    every, near = {reason.of for reason in why}, b.near
    expected = np.nan if "all" in every else ours["estimate"]
    expected = expected if theirs.rows is None else theirs.rows.estimate
    if abs(theirs.estimate - expected) > near * max(abs(expected), float(np.nan_to_num(ours["std_error"]))):
        told.append(f"its estimate is not the {expected:.6g} of its rows")
    factors = [reason.factor for reason in why if reason.of != "df"]
    factor = float(np.prod(factors))
    if "all" not in every and np.isfinite(factor) and factor > 0 and ours["std_error"] > 0:
        rest = theirs.std_error / np.sqrt(factor) / ours["std_error"] - 1
        if not abs(rest) <= near:
            what = "without it" if len(factors) == 1 else "beyond that"
            told.append(f"{what} the relative difference is {rest:.2g}")
        elif b.other_df and "df" not in every:
            told.append("which nothing here explains")
    own = _own_error(theirs) * float(np.sqrt(np.nanprod(factors)))
    if not told and abs(theirs.std_error - own) > near * (own + b.slack):
        told.append(f"its error is not the {own:.6g} of its rows")
    return told


def _own_error(theirs: Theirs) -> float:
    """The robust error that its rows and clusters give; nan where it is of another kind, or they are not known."""
    hc1 = theirs.cov_type == "hc1" and theirs.kind in _LEAST_SQUARES
    crossed = theirs.clustered and theirs.groups is not None and theirs.cov_type in ("cluster", "robust")
    if theirs.rows is None or not (crossed or hc1 or theirs.cov_type == "hc0"):
        return np.nan
    small_sample = theirs.small_sample and theirs.cov_type == "cluster"
    variance = sandwich(theirs.rows, theirs.columns, small_sample=small_sample)
    variance *= theirs.n_rows / max(theirs.n_rows - theirs.n_params, 1) if hc1 else 1.0
    return float(np.sqrt(variance)) if variance >= 0 else np.nan


def _estimand(b: _Beside) -> list[Reason]:
    """Why it estimates something else, or from other rows or clusters."""
    theirs, clusters = b.theirs, list[str]()
    weights = _other_weights(theirs.weights, b.known.scores)
    told = [theirs.scale, theirs.weighs and f"another estimand: {theirs.weighs}"]
    if b.is_mean:
        told.append(f"another estimand: {theirs.of!r} is a mean, or a sum of them, and not a difference")
    if theirs.kind not in KINDS and b.close:
        told.append(
            f"a {theirs.kind} is none of the models whose rows are looked at here, and its estimate is the same"
        )
    elif theirs.kind not in KINDS:
        told.append(
            f"another estimand: what a {theirs.kind} estimates is not known here to be a mean or a difference"
        )
    if b.same and (b.alike or b.known.scores.flat):
        pass
    elif theirs.is_wide and b.close:
        columns = f"its {theirs.n_params} columns are too many to look at its rows"
        told.append(f"not checked: {columns}; its estimate is the same")
    else:
        told += [b.rows, weights and f"another estimand: {weights}"]
        also = f"the model also holds {examples(map(repr, theirs.others))}" if theirs.others else ""
        if also and not (b.same or theirs.scale or b.is_mean):
            told.append(f"another estimand: {also}, given which its coefficient is")
        clusters = _clusters(b) if theirs.clustered and theirs.groups is not None else []
        if any(told) or clusters:
            pass
        elif not b.same and theirs.rows is None:
            told.append("another estimand: that of its rows cannot be told")
        elif not b.same and theirs.rows is not None:
            what = "mean" if theirs.sides is None else "difference"
            told.append(f"other scores: their own {what} is {theirs.rows.estimate:.6g}")
        elif also:
            clusters = [f"{also}, so that its residuals and its error are others"]
        elif theirs.clustered:
            clusters = [f"its clusters hold other rows than yours: {_ORDER}"]
    return [*(Reason(words, "all") for words in told if words), *map(Reason, clusters)]


def _variance(b: _Beside) -> list[Reason]:
    """Why its variance is another."""
    theirs, scores, told = b.theirs, b.known.scores, []
    if np.isnan(theirs.std_error):
        crossed = theirs.clustered and theirs.groups is not None and np.ndim(theirs.groups) > 1
        negative = "its variance, a sum with minus signs, is negative, so that it has no error"
        told.append(negative if crossed else "it has no error")
    if scores.flat:
        told.append(FLAT)
    elif b.known.negative[b.counterpart]:
        told.append("ours over the crossed clusterings is negative, and the largest of their own stands in")
    rows, k, n_clusters, factors = theirs.n_rows, theirs.n_params, theirs.n_clusters, {}
    if theirs.clustered and theirs.kind != "GEE" and theirs.small_sample:
        if theirs.cov_type != "cluster":
            factors["(G-1)/G"] = (n_clusters - 1) / n_clusters
        elif k > 1:
            factors["(N-1)/(N-K)"] = (rows - 1) / max(rows - k, 1)
    factors |= {"scaling_factor": theirs.scaling} if theirs.scaling != 1 else {}
    factors |= {"G/(G-1) with the clusters of weight 0": theirs.empty} if theirs.empty != 1 else {}
    found = [*map(Reason, told)]
    for name, value in factors.items():
        found.append(Reason(f"its variance has a further factor {name} = {value:.6g}", factor=value))
    if theirs.cov_type == "cluster-jk" and np.ptp(scores.sizes) > 0:
        words = "its jackknife is centred on the mean of its own estimates, and CR3 on the estimate"
        found.append(Reason(words))
    if not theirs.clustered and not theirs.scale:
        found.append(Reason(_not_clustered(b)))
    return [reason for reason in found if reason.words]


def _not_clustered(b: _Beside) -> str:
    """Why the error of a model without clusters is another; empty where its rows are our clusters."""
    theirs, scores = b.theirs, b.known.scores
    if theirs.no_slope:
        return _NO_SLOPE
    if theirs.kind == "MixedLM":
        return "its error is that of the mixed model, and not clustered"
    plain = theirs.cov_type == "nonrobust" and theirs.kind == "OLS"
    if theirs.cov_type.startswith("hc") or plain:
        no_factor = not plain and (theirs.cov_type == "hc0" or theirs.kind not in _LEAST_SQUARES)
        if (theirs.n_params == 1 or no_factor) and b.alike:
            return ""
    # What the standard error is instead, of the usual suspects.
    share = b.ours.weights / b.ours.weights.sum()
    factor = (theirs.n - 1) / max(theirs.n - theirs.n_params, 1)
    independent = "it takes the items as independent"
    apart = f"{independent}, and the two systems as measured on different ones"
    for words, sides in ((independent, [scores.mean_of]), (apart, scores.sides)):
        left = np.sum([(side - scores.average(side)) ** 2 for side in sides], axis=0)
        # Heteroskedastic, with each residual as if its item were left out, and of one variance.
        one = (share * left).sum() / (len(left) - 1)
        values = [(share**2 * left).sum(), ((share / (1 - share)) ** 2 * left).sum(), one, one * factor]
        if any(abs(theirs.std_error - error) <= b.near * error for error in np.sqrt(values)):
            return f"{words} (cov_type={theirs.cov_type!r})"
    return f"its error is not clustered (cov_type={theirs.cov_type!r})"


# Clusters


def _clusters(b: _Beside) -> list[str]:
    """In what its clusters are not ours."""
    columns, names, here = b.theirs.columns, b.known.names, b.known.scores.margins
    if len(columns) != len(here):
        return [*(words for column in columns for words in _merged(column, None)), _ways(b)]
    # Ours row by row of the model, where its rows are in an order that is known.
    endog, beside = b.theirs.endog, list[IntArray | None]([None] * len(here))
    if endog.ndim == 1 and len(columns[0]) == len(endog):
        orders = (codes for scores, codes in b.known.orders if np.array_equal(scores, endog))
        beside = list(next(orders, beside))

    def unlike(order: Iterable[int]) -> int:
        return sum(not _same_sizes(columns[d], here[k]) for d, k in enumerate(order))

    told = []
    for d, k in enumerate(min(itertools.permutations(range(len(here))), key=unlike)):
        of = f" of {names[k]!r}" if len(here) > 1 else ""
        others = _others(columns[d], here[k], of, beside=beside[k], whole=not b.rows)
        told += _merged(columns[d], len(here[k])) or others
    return told


def _ways(b: _Beside) -> str:
    """In words, that it has more or fewer clusterings than are named here."""
    names, here, columns = b.known.names, " + ".join(b.known.names), b.theirs.columns
    if len(names) == 1:
        return f"it is clustered two ways, and {here!r} alone is named here; name both in a list, as cluster=[{here!r}, ...]"
    alike = [name for k, name in enumerate(names) if _same_sizes(columns[0], b.known.scores.margins[k])]
    one = f"by {alike[0]!r} alone" if len(alike) == 1 else "one way"
    return f"it is clustered {'two ways' if len(columns) > 1 else one}, and here by {here!r}"


def _sizes(column: Any) -> IntArray:
    return np.sort(pd.Series(column).value_counts(dropna=False).to_numpy())


def _same_sizes(column: Any, sizes: IntArray) -> bool:
    """Whether two clusterings have clusters of the same sizes, or of twice them where each item has two rows."""
    return any(np.array_equal(_sizes(column), np.sort(sizes) * rows) for rows in (1, 2))


def _merged(column: Any, here: int | None) -> list[str]:
    """Rows without a cluster id, which make one cluster; ``here`` is how many clusters are known."""
    missing, how = int(pd.isna(column).sum()), "have no cluster id"
    if here is not None and column.dtype.kind == "i" and (column == -1).any() and number_of(column) > here:
        missing, how = int((column == -1).sum()), "have the code -1, which stands for a missing id"
    words = f"clusters merged by missing ids: {missing:,} rows there {how}, and statsmodels takes them as one cluster"
    return [words] if missing else []


def _others(column: Any, sizes: IntArray, of: str, *, beside: IntArray | None, whole: bool) -> list[str]:
    """Other clusters, or clusters of other sizes; ``beside`` are ours row by row."""
    theirs, here, same = _sizes(column), len(sizes), _same_sizes(column, sizes)
    there = len(theirs)
    how = f"{there:,} there, {here:,} here" if there != here else "as many, but of other sizes"
    what = f"other clusters{of}: {'as many, but with other rows' if same and there == here else how}"
    crossing = "another clustering, which crosses yours" + ("" if of else ": name both in a list")
    if beside is not None:
        both = int(joint_codes([column, beside])[0, 1].max()) + 1
        if both == there == here:
            return []
        if both == here:
            crossing = _COARSER
        elif both == there:
            crossing = "a finer clustering"
        elif same:
            crossing = _ORDER
        return [f"{what} ({crossing})"]
    if same or (there == here and not whole):  # that sizes differ among other rows is no wonder
        return []
    ours = sizes * max(1, round(theirs.sum() / sizes.sum()))
    if there < here and _could_be_unions(theirs, ours):
        crossing = f"perhaps {_COARSER}"
    if there > here and _could_be_unions(ours, theirs):
        crossing = "perhaps a finer clustering"
    return [f"{what} ({crossing})" if whole else what]


def _could_be_unions(coarse: Any, fine: Any) -> bool:
    """Whether clusters of these sizes could be unions of those: the k largest of them then hold as many at least."""
    large, small = (np.cumsum(np.sort(one)[::-1]) for one in (coarse, fine))
    # Of other rows nothing can be told.
    return bool(large[-1] != small[-1] or (large >= small[: len(large)]).all())
