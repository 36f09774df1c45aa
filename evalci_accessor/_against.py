"""Likely reasons why the mean or difference of a fitted statsmodels model is not ours."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._fit_scores import Scores
from evalci_accessor._fitted import Theirs
from evalci_accessor._warn import examples
from evalci_accessor.stats import _special as special
from evalci_accessor.stats._validate import IntArray


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
    """

    scores: Scores
    names: list[str]
    ours: dict[str, dict[str, float]]
    negative: dict[str, bool]
    confidence_level: float


def _other_weights(theirs: Any, scores: Scores) -> str:
    """In words, that the model weighs rows otherwise; empty where it weighs them alike, up to scale and order."""
    ours = scores.weights
    if ours is None:
        return "" if theirs is None else "the model has weights, and none are given here; pass them with weights="
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
        if np.isnan(theirs.std_error):
            told.append("its variance, a sum with minus signs, is negative, so that it has no error")
        elif same and not theirs.scale:
            told.append(_error_words(theirs, known, near))
    told = [words for words in (*told, *_clusters(theirs, known, agrees=should)) if words]
    if not should and not told:
        told.append(
            "the error differs for a reason that the results do not show; are its cluster ids in the order of its rows?"
        )
    if known.negative[counterpart]:
        told.append("ours over the crossed clusterings is negative, and the largest of their own stands in")
    if np.isnan(theirs.df):
        told.append(normal_words(ours["df"], known.confidence_level))
    elif abs(theirs.df - known.ours[counterpart]["df"]) > 1e-6 * theirs.df:
        told.append(f"t({theirs.df:.4g}), ours t({known.ours[counterpart]['df']:.4g})")
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
    if words := _other_weights(theirs.weights, known.scores):
        told.append(f"another estimand: {words}")
    return told or ["the estimate differs for a reason that the results do not show; are the scores the same?"]


def _error_words(theirs: Theirs, known: Known, near: float) -> str:
    """What the standard error is instead, of the usual suspects."""
    scores, cr1 = known.scores, known.ours["cr1"]["std_error"]
    n, y, rows = len(scores.first), scores.mean_of, theirs.n
    weights = np.ones(n) if scores.weights is None else scores.weights
    factor = np.sqrt((rows - 1) / max(rows - theirs.n_params, 1))
    independent = "it takes the items as independent"
    share, left = weights / weights.sum(), (y - scores.average(y)) ** 2
    suspects = {
        f"it has a further factor (N-1)/(N-K) = {factor**2:.6g} in the variance": [cr1 * factor],
        # Heteroskedastic, of one variance, and heteroskedastic with each residual as if its item were left out.
        independent: [
            np.sqrt((share**2 * left).sum()),
            np.sqrt((share * left).sum() / (n - 1)),
            np.sqrt(((share / (1 - share)) ** 2 * left).sum()),
        ],
    }
    if scores.second is not None:
        suspects[independent].append(suspects[independent][1] * factor)
        apart = sum((side - scores.average(side)) ** 2 for side in (scores.first, scores.second))
        suspects[f"{independent}, and the two systems as measured on different ones"] = [
            np.sqrt((share**2 * apart).sum()), np.sqrt((share * apart).sum() / (n - 1)),
            np.sqrt(((share / (1 - share)) ** 2 * apart).sum()),
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
    columns, here = list(theirs.groups.reshape(len(theirs.groups), -1).T), known.scores.margins
    if len(columns) != len(here):
        merged = [words for column in columns for words in _merged(column, None)]
        return merged if agrees else [*merged, _ways(columns, known)]
    whole = theirs.n >= len(known.scores.first)
    order = min(
        itertools.permutations(range(len(here))),
        key=lambda places: sum(not _same_sizes(column, here[k]) for column, k in zip(columns, places, strict=True)),
    )
    told = []
    for column, place in zip(columns, order, strict=True):
        of = f" of {known.names[place]!r}" if len(here) > 1 else ""
        merged = _merged(column, len(here[place]))
        told += merged or ([] if agrees else _others(column, here[place], of, whole=whole))
    return told


def _ways(columns: list[Any], known: Known) -> str:
    """In words, that it has more or fewer clusterings than are named here."""
    names, here = known.names, " + ".join(known.names)
    if len(names) == 1:
        return f"it is clustered two ways, and {here!r} alone is named here; name both in a list, as cluster=[{here!r}, ...]"
    if len(columns) > 1:
        return f"it is clustered two ways, and here by {here!r}"
    alike = [name for name, sizes in zip(names, known.scores.margins, strict=True) if _same_sizes(columns[0], sizes)]
    return f"it is clustered {f'by {alike[0]!r} alone' if len(alike) == 1 else 'one way'}, and here by {here!r}"


def _number(column: Any) -> int:
    return int(pd.Series(column).nunique(dropna=False))


def _merged(column: Any, here: int | None) -> list[str]:
    """Rows without a cluster id, which make one cluster; ``here`` is how many clusters are known."""
    missing, how = int(pd.isna(column).sum()), "have no cluster id"
    if here is not None and column.dtype.kind == "i" and (column == -1).any() and _number(column) > here:
        missing, how = int((column == -1).sum()), "have the code -1, which stands for a missing id"
    if not missing:
        return []
    return [f"clusters merged by missing ids: {missing:,} rows there {how}, and statsmodels takes them as one cluster"]


def _others(column: Any, sizes: IntArray, of: str, *, whole: bool) -> list[str]:
    """Other clusters, or clusters of other sizes."""
    there, here = _number(column), len(sizes)
    if there != here:
        fewer = there < here and whole
        more = " (ids that were merged, rounded or cut off, or a coarser clustering)" if fewer else ""
        return [f"other clusters{of}: {there:,} there, {here:,} here{more}"]
    return [] if _same_sizes(column, sizes) else [f"other clusters{of}: as many, but of other sizes"]


def _same_sizes(groups: Any, sizes: IntArray) -> bool:
    """Whether two clusterings have clusters of the same sizes, or of twice them where each item has two rows."""
    there = np.sort(pd.Series(groups).value_counts(dropna=False).to_numpy())
    return any(np.array_equal(there, np.sort(sizes) * rows) for rows in (1, 2))
