"""Scores and weights of any dtype as float64, with what is wrong said in full."""

from __future__ import annotations

import decimal
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples
from evalci_accessor.options import NanPolicy, Roles
from evalci_accessor.read.ids import bare
from evalci_accessor.stats.validate import BoolArray, FloatArray, check_option, scaled

_NOT_NUMBERS: dict[str, type[ex.EvalCIError]] = {
    "scores": ex.ScoreTypeError,
    "weights": ex.WeightError,
    "counts": ex.ScoreTypeError,
}
_KINDS = {"scores": "numbers or booleans", "weights": "numbers >= 0", "counts": "whole numbers"}
_WORTHS: tuple[dict[str, float], ...] = (
    {"true": 1, "false": 0},
    {"c": 1, "i": 0, "p": 0.5, "n": 0},
    {"pass": 1, "fail": 0},
    {"passed": 1, "failed": 0},
    {"yes": 1, "no": 0},
    {"correct": 1, "incorrect": 0},
)


def is_number(dtype: Any) -> bool:
    """Whether a column of that dtype holds numbers or booleans."""
    return pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)


def to_float(values: Any, name: str, what: str = "scores") -> FloatArray:
    """Scores (or weights, or counts) as float64, nan where missing. The caller's array is not changed."""
    values = bare(values)
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        category = pd.Categorical(values)
        if pd.api.types.is_numeric_dtype(category.categories.dtype):
            levels = np.append(to_float(category.categories, name, what), np.nan)
            return np.take(levels, category.codes)
        objects = True
    elif isinstance(dtype, np.dtype):
        if dtype.kind in "biuf":
            return np.asarray(values, dtype=np.float64)
        objects = dtype.kind in "USO"
    elif is_number(dtype):
        return np.asarray(pd.Series(values).to_numpy(dtype=np.float64, na_value=np.nan))
    else:
        objects = pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype)
        if pd.isna(values).all():  # a typed column of nothing but nulls
            return np.full(len(values), np.nan)
    if not objects:
        raise _NOT_NUMBERS[what](f"{name!r} has dtype {dtype}; {what} must be {_KINDS[what]}.")
    return _objects_to_float(np.asarray(values, dtype=object), name, what)


def _objects_to_float(values: np.ndarray, name: str, what: str) -> FloatArray:
    flat = values.ravel()
    missing = np.asarray(pd.isna(flat), dtype=bool)
    kinds = {type(value) for value in flat[~missing]}
    wrong = [kind for kind in kinds if not issubclass(kind, (numbers.Real, decimal.Decimal, np.bool_))]
    if wrong:
        shown = pd.Series(flat[~missing]).map(repr).value_counts(sort=True)
        found = examples(f"{value} ({count})" for value, count in shown.items())
        texts = {str(value).strip("'\"") for value in shown.index}
        raise _NOT_NUMBERS[what](
            f"{name!r} is not numeric: found {found}. {what.capitalize()} must be {_KINDS[what]}; text is never guessed at. "
            f"{_way_out(name, texts)}"
        )
    out = np.full(flat.shape, np.nan)
    try:
        out[~missing] = flat[~missing].astype(np.float64)
    except (OverflowError, ValueError) as error:
        raise _NOT_NUMBERS[what](
            f"{name!r} holds numbers that do not fit a float ({error}); rescale or correct them."
        ) from error
    return out.reshape(values.shape)


def _way_out(name: str, texts: set[str]) -> str:
    """How to bring text scores to numbers."""
    numeric = pd.to_numeric(pd.Series(sorted(texts)), errors="coerce").notna()
    if numeric.all():
        return f"They look like numbers: pd.to_numeric(df[{name!r}])."
    if numeric.any():
        return f"Correct the text, or make it missing: pd.to_numeric(df[{name!r}], errors='coerce'), then choose a nan_policy."
    return f"Map every label, as with df[{name!r}].map({_mapping(texts)}); labels that the map leaves out become missing."


def _mapping(texts: set[str]) -> str:
    """What the labels may be worth, spelled as they were found: a map of other spellings would make them all missing."""
    found = {text.lower(): text for text in sorted(texts)}
    for worths in _WORTHS:
        if known := [found[label] for label in worths if label in found]:
            alike = next((case for case in (str.upper, str.title) if case(known[0]) == known[0]), str.lower)
            return repr({found.get(label, alike(label)): worth for label, worth in worths.items()})
    return "{'label': number, ...}"


def screen(
    scores: FloatArray, weights: FloatArray | None, name: str, nan_policy: NanPolicy, where: Any
) -> tuple[BoolArray | None, BoolArray | None]:
    """Masks of the scores that count and of those that are missing, None for all and for none.

    One of weight 0 is absent, as if it were not there, whatever it is. ``scores`` may be empty where none can be missing,
    and ``where`` gives words for a position.
    """
    check_option(nan_policy, NanPolicy, "nan_policy")
    absent = None if weights is None else weights == 0
    seen = scores if absent is None or not scores.size else np.where(absent, 0.0, scores)
    missing = _missing(seen, name, nan_policy, where)
    keep = None if missing is None else ~missing
    if absent is not None and absent.any():
        keep = ~absent if keep is None else keep & ~absent
    return keep, missing


def _missing(scores: FloatArray, name: str, nan_policy: NanPolicy, where: Any) -> BoolArray | None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = scores.sum(dtype=np.float64)
    if np.isfinite(total):
        return None
    infinite, missing = np.isinf(scores), np.isnan(scores)
    if infinite.any():
        at = np.flatnonzero(infinite)
        raise ex.ScoreError(
            f"{name!r} holds {len(at)} infinite score(s) among {scores.size}, at {examples(map(where, at[:6]))}. Scores must "
            "be finite; find out what wrote them, then correct or remove these rows."
        )
    if not missing.any():
        raise ex.ScoreError(
            f"{name!r} holds scores so large ({np.abs(scores).max():g}) that their sum overflows; rescale them."
        )
    if nan_policy == "raise":
        at = np.flatnonzero(missing)
        raise ex.MissingScoreError(
            f"{len(at)} of {scores.size} scores in {name!r} are missing, at {examples(map(where, at))}. A run that failed is "
            "not a run that never was, and dropping it raises the score unseen. Leave out what was never run with "
            "nan_policy='omit'; give what failed the score of a failure, as with fillna(0) for 0/1 scores."
        )
    return missing


def range_of(scores: np.ndarray) -> tuple[float, float]:
    """Least and greatest score; nan without scores."""
    return (float(scores.min()), float(scores.max())) if scores.size else (np.nan, np.nan)


def all_binary(scores: np.ndarray) -> bool:
    """Whether every score is 0 or 1."""
    return scores.dtype.kind == "b" or bool(((scores == 0) | (scores == 1)).all())


def in_unit_interval(score_range: tuple[float, float]) -> bool:
    """Whether the range lies in [0, 1]; so does that of no scores, which is nan."""
    return not (score_range[0] < 0 or score_range[1] > 1)


def sentinel_of(scores: FloatArray) -> tuple[float, int] | None:
    """A lone negative value that fewer than half of the scores have, all others being 0 or more, and its count."""
    if not scores.size or scores.min() >= 0:
        return None
    negative = scores[scores < 0]
    if 2 * negative.size >= scores.size or (negative != negative[0]).any():
        return None
    if negative.size == 1 and negative[0] != np.round(negative[0]):
        return None  # one odd fraction is a score
    return float(negative[0]), int(negative.size)


def checked_weights(weights: FloatArray, name: str, where: Any) -> FloatArray:
    """Weights brought to a largest one between 1 and 2; refused if missing, infinite, negative, or all zero."""
    bad = {"missing": np.isnan(weights), "infinite": np.isinf(weights), "negative": weights < 0}
    for what, found in bad.items():
        at = np.flatnonzero(found)
        if len(at):
            raise ex.WeightError(
                f"{len(at)} of {weights.size} weights in {name!r} are {what}, at {examples(map(where, at))}. Weights must be "
                "finite and >= 0; a weight of 0 leaves the row out."
            )
    if not weights.size:
        return weights
    if not weights.any():
        raise ex.WeightError(f"All {weights.size} weights in {name!r} are 0; at least one must be positive.")
    return scaled(weights)


def checked_counts(
    passed: FloatArray, total: FloatArray, names: tuple[str, str], where: Callable[[int], str]
) -> FloatArray:
    """How many scores each count of passes is of: whole numbers, and at least as many as passed."""
    with np.errstate(invalid="ignore"):
        whole = (total >= 0) & (total == np.round(total)) & np.isfinite(total)
        fits = np.isnan(passed) | ((passed >= 0) & (passed <= total) & (passed == np.round(passed)))
    bad = np.flatnonzero(~(whole & fits)).tolist()
    if bad:
        shown = examples(bad, words=lambda i: f"{where(i)} ({passed.flat[i]:g} of {total.flat[i]:g})")
        raise ex.ScoreError(
            f"{len(bad)} of {total.size} entries are no counts: {shown}. With n={names[1]!r} each {names[0]!r} is how many of so "
            "many scores passed, so both are whole numbers, and none passes more than there are. Rates of totals become counts "
            "by (rate * total).round(); leave out entries without a total."
        )
    return total


def warn_count_weights(scores: FloatArray, weights: FloatArray, name: str) -> None:
    """Say that fractions under weights look like rates of so many scores each."""
    with np.errstate(invalid="ignore", over="ignore"):
        passed = scores * weights
    if not len(scores) or not np.isfinite(passed).all() or (weights != np.round(weights)).any():
        return
    whole = np.abs(passed - np.round(passed)) <= 1e-6 * np.maximum(weights, 1)
    odd = scores != np.round(scores)
    unlikely = np.log(np.maximum(weights[odd], 1)).sum() > np.log(1000)  # to be whole by chance
    if whole.all() and unlikely and ((scores >= 0) & (scores <= 1)).all():
        ex.warn(
            f"All {len(scores)} scores times their weights in {name!r} are whole numbers, as of rates with the number of scores "
            f"behind each. Weights do not count scores. If {name!r} holds these numbers, give the passes and name it with n=: "
            f"score=(score * {name}).round(), n={name!r}.",
            ex.CountWeightsWarning,
        )


def refuse_both(roles: Roles) -> None:
    """Refuse numbers of scores beside weights."""
    if roles.n is not None and roles.weights is not None:
        raise ex.MethodError(
            "n= and weights= are both given. n= says how many scores a row is the sum of, weights= how much a score counts; pass "
            "one of them, or a row a score with weights."
        )


def refuse_weightless(totals: FloatArray, label: Callable[[int], str]) -> None:
    """Groups whose weights are all 0; nan marks a group without items."""
    bad = np.flatnonzero(totals == 0).tolist()
    if bad:
        shown = examples(bad, between="; ", words=label)
        raise ex.WeightError(f"All weights of {len(bad)} group(s) are 0: {shown}. Leave them out first.")
