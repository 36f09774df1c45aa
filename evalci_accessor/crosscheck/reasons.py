"""Likely reasons why the mean or difference of a fitted statsmodels model is not ours."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from evalci_accessor.crosscheck import clusters as fit_clusters
from evalci_accessor.crosscheck import rows as fit_rows
from evalci_accessor.crosscheck.fitted import Theirs
from evalci_accessor.crosscheck.scores import Scores
from evalci_accessor.exceptions import examples
from evalci_accessor.stats import special
from evalci_accessor.stats.validate import FloatArray, IntArray

_NEAR = 1e-6


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """Our side.

    Parameters
    ----------
    scores : Scores
    names : list of str
        Of the clusterings.
    ours : dict
        By name of ours, the numbers by name of column.
    negative : dict
        By name of ours, whether the variance over crossed clusterings is negative, so that another stands in.
    confidence_level : float
    sides : tuple of str, or None
        The two systems of a difference.
    orders : sequence of tuples
        Scores or differences, and their clusters in each clustering, in orders that the rows of a model may have.
    """

    scores: Scores
    names: list[str]
    ours: dict[str, dict[str, float]]
    negative: dict[str, bool]
    confidence_level: float
    sides: tuple[str, str] | None = None
    orders: Sequence[tuple[FloatArray, list[IntArray]]] = ()

    @property
    def near(self) -> float:
        """How near our estimate is the same."""
        cr1 = self.ours["cr1"]
        return _NEAR * max(abs(cr1["estimate"]), float(np.nan_to_num(cr1["std_error"])))


def _other_weights(theirs: Any, scores: Scores) -> str:
    """In words, that the model weighs rows otherwise; empty where it weighs them alike, up to scale and order."""
    ours = scores.weights
    if ours is None:
        return (
            ""
            if theirs is None
            else "the model has weights, and none are given here; pass them with weights="
        )
    if theirs is None:
        return "weights are given here, and the model has none"
    used = theirs[theirs > 0]  # a row of weight 0 is absent
    rows = 2 if scores.second is not None and len(used) == 2 * len(ours) else 1  # of an item
    wanted = np.sort(np.repeat(ours, rows) / ours.mean())
    if len(used) != len(wanted) or not np.allclose(np.sort(used / used.mean()), wanted, rtol=1e-6):
        return "the model has other weights than those given here"
    return ""


def normal_words(df: float, confidence_level: float) -> str:
    """How much narrower an interval is with the normal quantile than with t's."""
    at = (1 + confidence_level) / 2
    narrower = 1 - float(special.ndtri(at)) / float(special.stdtrit(df, at))
    return f"normal quantile: {100 * narrower:.2g}% narrower than t({df:.4g})"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a number of theirs is not ours.

    Parameters
    ----------
    words : str
    of : {"all", "error", "df"}
        Which numbers it explains: all, as of another estimand, the error and its degrees of freedom, or these alone.
    factor : float
        By how much exactly it multiplies the variance; nan where that is not known.
    """

    words: str
    of: Literal["all", "error", "df"]
    factor: float = np.nan


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A fitted model beside ours.

    Parameters
    ----------
    theirs : Theirs
        With our sign.
    counterpart : str
        Which of ours it compares with.
    note : str
    should_agree : bool
        Whether the two should agree. That follows from what was fitted, and not from what came out: where the kind of
        variance, the rows, the clusters, the weights or the estimand are others, the words say which.
    is_left : bool
        Whether its numbers are neither ours nor what the reasons make of ours.
    """

    theirs: Theirs
    counterpart: str
    note: str
    should_agree: bool
    is_left: bool


def reasons(theirs: Theirs, known: Known, tolerance: float) -> Seen:
    """Lay a fitted model beside ours, and find what there is to say."""
    known = _without_nested(known)
    theirs, turned = _turn(theirs, known)
    counterpart, near = _counterpart(theirs), max(tolerance, _NEAR)
    why = [*_estimand(theirs, known, counterpart), *_variance(theirs, known, counterpart, near)]
    told = [turned, *(reason.words for reason in why)]
    df = known.ours[counterpart]["df"]
    if np.isfinite([theirs.df, df]).all() and abs(theirs.df - df) > near * df:
        is_rest = theirs.df == theirs.rest  # else of its clusters, of which there is more above
        there = min(fit_clusters.number(column) for column in columns_of(theirs))
        empty = there < theirs.n_clusters and theirs.df == theirs.n_clusters - 1
        words = f"t({theirs.df:.4g})"
        words += (
            " of rows less coefficients (N-K)"
            if is_rest
            else " with the clusters of weight 0"
            if empty
            else ""
        )
        told.append(f"{words}, ours t({df:.4g})")
        why += [Reason(words=words, of="df")] if is_rest or empty else []
    if not why:
        told.append("" if counterpart == "cr1" else _variance_words(counterpart, known))
    left = _left(theirs, known, counterpart, why, near) if why else []
    left += [theirs.other_bse] if theirs.other_bse else []
    told += left
    if np.isnan(theirs.df) and np.isfinite(df):
        told.append(normal_words(df, known.confidence_level))
    return Seen(
        theirs=theirs,
        counterpart=counterpart,
        note="; ".join(words for words in told if words),
        should_agree=not why,
        is_left=bool(left),
    )


def _left(theirs: Theirs, known: Known, counterpart: str, why: list[Reason], near: float) -> list[str]:
    """What the reasons do not explain of the estimate, the error and the degrees of freedom, each on its own."""
    ours, told = known.ours[counterpart], []
    every = {reason.of for reason in why}
    expected = (
        theirs.rows.estimate if theirs.rows is not None else np.nan if "all" in every else ours["estimate"]
    )
    if abs(theirs.estimate - expected) > near * max(abs(expected), float(np.nan_to_num(ours["std_error"]))):
        told.append(f"its estimate is not the {expected:.6g} of its rows")
    factors = [reason.factor for reason in why if reason.of != "df"]
    factor = float(np.prod(factors))
    if "all" not in every and np.isfinite(factor) and factor > 0 and ours["std_error"] > 0:
        rest = theirs.std_error / np.sqrt(factor) / ours["std_error"] - 1
        if not abs(rest) <= near:
            told.append(
                f"{'without it' if len(factors) == 1 else 'beyond that'} the relative difference is {rest:.2g}"
            )
        elif (
            np.isfinite([theirs.df, ours["df"]]).all()
            and "df" not in every
            and abs(theirs.df - ours["df"]) > near * ours["df"]
        ):
            told.append("which nothing here explains")
    own = _own_error(theirs, factors)
    if not told and abs(theirs.std_error - own) > near * own + near * known.near:
        told.append(f"its error is not the {own:.6g} of its rows")
    return told


def _own_error(theirs: Theirs, factors: list[float]) -> float:
    """The robust error that its rows and clusters give; nan where it is of another kind, or they are not known."""
    crossed = theirs.clustered and theirs.groups is not None and theirs.cov_type in ("cluster", "robust")
    least_squares = theirs.kind in ("OLS", "WLS")
    if theirs.rows is None or not (
        crossed or theirs.cov_type == "hc0" or (theirs.cov_type == "hc1" and least_squares)
    ):
        return np.nan
    small_sample = theirs.small_sample and theirs.cov_type == "cluster"
    variance = fit_rows.sandwich(theirs.rows, columns_of(theirs), small_sample=small_sample)
    variance *= float(np.nanprod(factors))
    variance *= theirs.n_rows / max(theirs.n_rows - theirs.n_params, 1) if theirs.cov_type == "hc1" else 1.0
    return float(np.sqrt(variance)) if variance >= 0 else np.nan


def _without_nested(known: Known) -> Known:
    """With the clusterings that lie within no other of ours: the variance is that of these."""
    kept = fit_rows.counted(list(known.scores.clusterings.T))
    if len(kept) == known.scores.ways:
        return known
    return dataclasses.replace(
        known,
        names=[known.names[k] for k in kept],
        scores=dataclasses.replace(known.scores, clusterings=known.scores.clusterings[:, kept]),
        orders=[(scores, [codes[k] for k in kept]) for scores, codes in known.orders],
    )


def _turn(theirs: Theirs, known: Known) -> tuple[Theirs, str]:
    """With the sign of ours, by the name of the coefficient, or else by the signs themselves."""
    if known.sides is None:
        return theirs, ""
    first, second = known.sides
    if _is_mean(theirs, known):
        return theirs, ""
    if theirs.direction < 0:
        words = f"{theirs.of!r} is {second!r} minus {first!r}, and was turned"
    elif not theirs.direction and theirs.estimate * known.ours["cr1"]["estimate"] < 0:
        words = "by its sign the difference is the other way round there, and was turned"
    else:
        return theirs, ""
    rows = theirs.rows
    if rows is not None:
        rows = dataclasses.replace(rows, estimate=-rows.estimate, rows=-rows.rows)
    return dataclasses.replace(theirs, estimate=-theirs.estimate, rows=rows), words


def _is_mean(theirs: Theirs, known: Known) -> bool:
    """Whether it is a mean beside a difference: where the rows are items, the level of all of them is the difference."""
    return theirs.is_level and theirs.n != len(known.scores.first)


def _close(one: float, other: float, near: float) -> bool:
    return bool(abs(one - other) <= near * abs(other))


def _counterpart(theirs: Theirs) -> str:
    """Which of ours its variance should be."""
    if theirs.cov_type in ("bias_reduced", "cluster-crv3", "cluster-jk"):
        return "cr3"
    if theirs.clustered:
        return "cr0" if theirs.cov_type == "robust" or not theirs.small_sample else "cr1"
    kind = theirs.cov_type.upper()
    # Each row is a cluster of its own; only least squares tells these apart, and elsewhere all are HC0.
    kinds = {"HC0": "cr0", "HC1": "cr1", "HC2": "cr2", "HC3": "cr3"}
    return kinds.get(kind, "cr1") if theirs.kind in ("OLS", "WLS") else "cr0" if kind in kinds else "cr1"


def _variance_words(counterpart: str, known: Known) -> str:
    if counterpart != "cr0":
        return f"its error is that of {counterpart.upper()}"
    larger = known.ours["cr1"]["std_error"] / known.ours["cr0"]["std_error"] - 1
    return f"CR0 against CR1: it lacks the factor G/(G-1), with which the error is {100 * larger:.2g}% larger"


def _estimand(theirs: Theirs, known: Known, counterpart: str) -> list[Reason]:
    """Why it estimates something else, or from other rows or clusters."""
    told = [theirs.scale] if theirs.scale else []
    ours, same, alike = fit_rows.of_scores(known.scores), False, False
    columns = columns_of(theirs)
    if theirs.weighs:
        told.append(f"another estimand: {theirs.weighs}")
    if _is_mean(theirs, known):
        told.append(f"another estimand: {theirs.of!r} is a mean, or a sum of them, and not a difference")
    if theirs.kind not in fit_rows.KINDS:
        told.append(
            f"a {theirs.kind} is none of the models whose rows are looked at here, and its estimate is the same"
            if abs(theirs.estimate - ours.estimate) <= known.near
            else f"another estimand: what a {theirs.kind} estimates is not known here to be a mean or a difference"
        )
    if theirs.rows is not None:
        same = abs(theirs.rows.estimate - ours.estimate) <= known.near
        shares = counterpart in ("cr2", "cr3")
        alike = fit_rows.same_clusters(theirs.rows, columns, ours, known.scores, shares=shares)
    if same and (alike or known.scores.flat):
        return [Reason(words=words, of="all") for words in told]
    if theirs.is_wide and abs(theirs.estimate - ours.estimate) <= known.near:
        told.append(
            f"not checked: its {theirs.n_params} columns are too many to look at its rows; its estimate is the same"
        )
        return [Reason(words=words, of="all") for words in told]
    rows = _other_rows(theirs, known)
    weights = _other_weights(theirs.weights, known.scores)
    told += [rows] if rows else []
    told += [f"another estimand: {weights}"] if weights else []
    if theirs.others and not same and not theirs.scale and not _is_mean(theirs, known):
        told.append(
            f"another estimand: the model also holds {examples(map(repr, theirs.others))}, given which its coefficient is"
        )
    clusters = _clusters(theirs, known, columns) if theirs.groups is not None else []
    if not told and not clusters and not same:
        told.append(
            "another estimand: that of its rows cannot be told"
            if theirs.rows is None
            else f"other scores: their own {'mean' if known.sides is None else 'difference'} is {theirs.rows.estimate:.6g}"
        )
    if not told and not clusters and theirs.others:
        clusters = [
            f"the model also holds {examples(map(repr, theirs.others))}, so that its residuals and its error are others"
        ]
    if not told and not clusters and theirs.clustered:
        clusters = ["its clusters hold other rows than yours: are its cluster ids in the order of its rows?"]
    return [Reason(words=words, of="all") for words in told] + [
        Reason(words=words, of="error") for words in clusters
    ]


def columns_of(theirs: Theirs) -> list[Any]:
    """Its groups, one array a clustering that lies within no other; without any each row is one."""
    if not theirs.clustered or theirs.groups is None:
        return [np.arange(len(theirs.rows.rows) if theirs.rows is not None else theirs.n)]
    groups = np.asarray(theirs.groups)
    columns = list(groups.reshape(len(groups), -1).T)
    return [columns[k] for k in fit_rows.counted(columns)]


def _other_rows(theirs: Theirs, known: Known) -> str:
    n = len(known.scores.first)
    if theirs.n in ([n] if known.scores.second is None else [n, 2 * n]):
        return ""
    nearest = n if known.scores.second is None or theirs.n_params == 1 else 2 * n
    what = "dropped" if theirs.n < nearest else "other"
    missing = f" (statsmodels left out {theirs.dropped:,} with something missing)" if theirs.dropped else ""
    return f"{what} rows: fitted on {theirs.n:,} rows, here {nearest:,}{missing}"


def _variance(theirs: Theirs, known: Known, counterpart: str, near: float) -> list[Reason]:
    """Why its variance is another."""
    told = []
    if np.isnan(theirs.std_error):
        crossed = theirs.clustered and theirs.groups is not None and np.ndim(theirs.groups) > 1
        told.append(
            "its variance, a sum with minus signs, is negative, so that it has no error"
            if crossed
            else "it has no error"
        )
    if known.scores.flat:
        told.append(
            "no variance: all clusters have the same mean, and an interval without width is no certainty"
        )
    elif known.negative[counterpart]:
        told.append("ours over the crossed clusterings is negative, and the largest of their own stands in")
    rows, k, factors = theirs.n_rows, theirs.n_params, []
    if theirs.clustered and theirs.kind != "GEE" and theirs.small_sample:
        if theirs.cov_type == "cluster" and k > 1:
            factors.append(("(N-1)/(N-K)", (rows - 1) / max(rows - k, 1)))
        if theirs.cov_type != "cluster":
            factors.append(("(G-1)/G", (theirs.n_clusters - 1) / theirs.n_clusters))
    if theirs.scaling != 1:
        factors.append(("scaling_factor", theirs.scaling))
    if theirs.empty != 1:
        factors.append(("G/(G-1) with the clusters of weight 0", theirs.empty))
    found = [Reason(words=words, of="error") for words in told]
    found += [
        Reason(words=f"its variance has a further factor {name} = {value:.6g}", of="error", factor=value)
        for name, value in factors
    ]
    if theirs.cov_type == "cluster-jk" and np.ptp(known.scores.sizes) > 0:
        words = "its jackknife is centred on the mean of its own estimates, and CR3 on the estimate"
        found.append(Reason(words=words, of="error"))
    if not theirs.clustered and not theirs.scale:
        found += [Reason(words=words, of="error") for words in _not_clustered(theirs, known, near)]
    return found


def _not_clustered(theirs: Theirs, known: Known, near: float) -> list[str]:
    """Why the error of a model without clusters is another; empty where its rows are our clusters."""
    if theirs.no_slope:
        return [
            "the random intercept cancels in a difference, so its error takes the rows of a cluster as independent; it needs a "
            "random slope of the system"
        ]
    if theirs.kind == "MixedLM":
        return ["its error is that of the mixed model, and not clustered"]
    least_squares = theirs.kind in ("OLS", "WLS")
    hc = theirs.cov_type.startswith("hc") and (
        theirs.n_params == 1 or theirs.cov_type == "hc0" or not least_squares
    )
    classical = theirs.kind == "OLS" and theirs.cov_type == "nonrobust" and theirs.n_params == 1
    shares, ours = theirs.cov_type in ("hc2", "hc3"), fit_rows.of_scores(known.scores)
    alike = theirs.rows is not None and fit_rows.same_clusters(
        theirs.rows, columns_of(theirs), ours, known.scores, shares=shares
    )
    return [] if (hc or classical) and alike else [_error_words(theirs, known, near)]


def _error_words(theirs: Theirs, known: Known, near: float) -> str:
    """What the standard error is instead, of the usual suspects."""
    scores = known.scores
    n, y, rows = len(scores.first), scores.mean_of, theirs.n
    weights = np.ones(n) if scores.weights is None else scores.weights
    factor = np.sqrt((rows - 1) / max(rows - theirs.n_params, 1))
    independent = "it takes the items as independent"
    share, left = weights / weights.sum(), (y - scores.average(y)) ** 2
    suspects = {
        # Heteroskedastic, of one variance, and heteroskedastic with each residual as if its item were left out.
        independent: [
            np.sqrt((share**2 * left).sum()),
            np.sqrt((share * left).sum() / (n - 1)),
            np.sqrt(((share / (1 - share)) ** 2 * left).sum()),
        ]
    }
    if scores.second is not None:
        suspects[independent].append(suspects[independent][1] * factor)
        apart = sum((side - scores.average(side)) ** 2 for side in (scores.first, scores.second))
        suspects[f"{independent}, and the two systems as measured on different ones"] = [
            np.sqrt((share**2 * apart).sum()),
            np.sqrt((share * apart).sum() / (n - 1)),
            np.sqrt(((share / (1 - share)) ** 2 * apart).sum()),
        ]
    for words, values in suspects.items():
        if any(_close(theirs.std_error, float(value), near) for value in values):
            return f"{words} (cov_type={theirs.cov_type!r})"
    return f"its error is not clustered (cov_type={theirs.cov_type!r})"


def _clusters(theirs: Theirs, known: Known, columns: list[Any]) -> list[str]:
    """In what its clusters are not ours."""
    if not theirs.clustered:
        return []
    here = known.scores.margins
    if len(columns) != len(here):
        return [words for column in columns for words in fit_clusters.merged(column, None)] + [
            _ways(columns, known)
        ]
    whole, beside = not _other_rows(theirs, known), _beside(theirs, known, columns)
    order = min(
        itertools.permutations(range(len(here))),
        key=lambda places: sum(
            not fit_clusters.same_sizes(column, here[k]) for column, k in zip(columns, places, strict=True)
        ),
    )
    told = []
    for column, place in zip(columns, order, strict=True):
        of = f" of {known.names[place]!r}" if len(here) > 1 else ""
        told += fit_clusters.merged(column, len(here[place])) or fit_clusters.others(
            column, here[place], of, beside=None if beside is None else beside[place], whole=whole
        )
    return told


def _beside(theirs: Theirs, known: Known, columns: list[Any]) -> list[IntArray] | None:
    """Our clusters row by row of the model; None where its rows are in no order that is known."""
    if theirs.endog.ndim != 1 or len(columns[0]) != len(theirs.endog):
        return None
    return next((codes for scores, codes in known.orders if np.array_equal(scores, theirs.endog)), None)


def _ways(columns: list[Any], known: Known) -> str:
    """In words, that it has more or fewer clusterings than are named here."""
    names, here = known.names, " + ".join(known.names)
    if len(names) == 1:
        return f"it is clustered two ways, and {here!r} alone is named here; name both in a list, as cluster=[{here!r}, ...]"
    if len(columns) > 1:
        return f"it is clustered two ways, and here by {here!r}"
    alike = [
        name
        for name, sizes in zip(names, known.scores.margins, strict=True)
        if fit_clusters.same_sizes(columns[0], sizes)
    ]
    return (
        f"it is clustered {f'by {alike[0]!r} alone' if len(alike) == 1 else 'one way'}, and here by {here!r}"
    )
