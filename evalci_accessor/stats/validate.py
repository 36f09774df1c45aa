"""Checks at the boundary, so that the bodies of the statistics are mathematics only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from evalci_accessor.exceptions import EvalCIError, MethodError, examples
from evalci_accessor.options import Alternative

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def as_numbers(values: object, name: str, kind: type[EvalCIError] = EvalCIError) -> FloatArray:
    """Float64 array, or an error that says what ``name`` is."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise kind(f"{name} must be numbers; got {type(values).__name__}: {error}.") from error


def as_float(values: object, name: str) -> FloatArray:
    """Finite float64 array, or an error that says what is wrong with ``name``."""
    array = as_numbers(values, f"`{name}`")
    if not np.isfinite(array).all():
        bad = int((~np.isfinite(array)).sum())
        raise EvalCIError(
            f"`{name}` holds {bad} of {array.size} values that are nan or infinite; it must be finite."
        )
    return array


def together(**arrays: FloatArray) -> list[FloatArray]:
    """Arrays that broadcast against each other, or an error that gives their shapes."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"`{name}` has shape {array.shape}" for name, array in arrays.items())
        raise EvalCIError(
            f"{shapes}: these do not go together; give one number for all, or one for each."
        ) from None


def refuse(
    bad: Sequence[object] | FloatArray,
    of: int,
    text: str,
    verb: str = "are not",
    kind: type[EvalCIError] = EvalCIError,
    hint: str = "",
) -> None:
    """An error that says how many of all are ``bad`` and shows some of them, if there are any."""
    if len(bad):
        shown = examples(bad, words=lambda one: one if isinstance(one, str) else f"{one:g}")
        raise kind(f"{text}; {len(bad)} of {of} {verb}: {shown}.{hint}")


def scaled(weights: FloatArray) -> FloatArray:
    """Weights with a largest one between 1 and 2: squares of very large or small ones would not fit.

    A power of two moves no digit.
    """
    return np.ldexp(weights, 1 - int(np.frexp(weights.max())[1]))


def check_option(value: object, options: Any, name: str) -> None:
    """Refuse a value that is not one of the Literal's."""
    allowed = get_args(options)
    if value not in allowed:
        import difflib

        close = difflib.get_close_matches(str(value), [str(option) for option in allowed], n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise MethodError(
            f"{name}={value!r} is not known; it must be one of {', '.join(map(repr, allowed))}.{hint}"
        )


def is_number(value: object) -> bool:
    """Whether it is one real number."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def whole(value: object, name: str, least: int, default: str = "") -> int:
    """The value as an int that is not below ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise MethodError(f"{name}={value!r} must be a whole number of at least {least}{default}.")
    return int(value)


def check_level(confidence_level: float) -> float:
    """The level as a float strictly between 0 and 1."""
    if not is_number(confidence_level) or not 0 < confidence_level < 1:
        percent = is_number(confidence_level) and 1 < confidence_level < 100  # 95 for .95
        hint = f" Did you mean {confidence_level / 100:g}?" if percent else ""
        raise MethodError(
            f"confidence_level={confidence_level!r} must be a number strictly between 0 and 1.{hint}"
        )
    return float(confidence_level)


def tail(confidence_level: float, alternative: Alternative) -> float:
    """Probability that each limit in use may leave outside."""
    check_option(alternative, Alternative, "alternative")
    alpha = 1 - check_level(confidence_level)
    return alpha / 2 if alternative == "two-sided" else alpha


def check_resamples(n_resamples: int) -> int:
    """The number of resamples as an int that is large enough for a quantile to mean something."""
    return whole(n_resamples, "n_resamples", 100, " (the default is 9999)")
