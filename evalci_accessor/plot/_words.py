"""Numbers in the margin: rates in per cent, their differences in points, other scores as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def interval(point: float, low: float, high: float, *, percent: bool, signed: bool = False) -> str:
    """An estimate and its limits, as "73.9 [65.7, 81.1]"."""
    if math.isnan(point):
        return "not known"
    first, *ends = (number(value, percent=percent, signed=signed) for value in (point, low, high))
    return f"{first} [{ends[0]}, {ends[1]}]"


def number(value: float, *, percent: bool, signed: bool = False) -> str:
    """One number."""
    if math.isnan(value):
        return "?"
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else "\N{MINUS SIGN}\N{INFINITY}"
    text = f"{100 * value:.1f}" if percent else f"{value:.4g}"
    if float(text) == 0:
        text = text.lstrip("-")  # no minus zero
    sign = "+" if signed and float(text) > 0 else ""
    return sign + text.replace("-", "\N{MINUS SIGN}")


def counts(values: np.ndarray) -> list[str]:
    """Whole numbers with separators; fractions, as weights, as they are."""
    return ["?" if math.isnan(v) else f"{v:,.0f}" if v == round(v) else f"{v:,.4g}" for v in values.tolist()]


def pvalues(values: np.ndarray) -> list[str]:
    """P-values as ".034", and "< .001"."""
    return [
        "?" if math.isnan(v) else "< .001" if v < 0.001 else f"{v:.3f}".removeprefix("0")
        for v in values.tolist()
    ]


def few(names: Sequence[Any], limit: int = 3) -> str:
    """Some distinct names in one line, without empty ones."""
    listed = list(dict.fromkeys(str(name) for name in names if name))
    return ", ".join(listed) if len(listed) <= limit else f"{', '.join(listed[:limit])} and others"


def levels(texts: Sequence[str]) -> str:
    """The confidence levels of rows before a word, as "80 % or 95 % "; nothing if unknown or many."""
    found = [level(text).strip() for text in sorted(set(texts))]
    return f"{' or '.join(found)} " if 0 < len(found) < 4 and all(found) else ""


def level(text: str) -> str:
    """A confidence level before a word, as "95 % "; nothing where it is not known."""
    try:
        return f"{100 * float(text):.4g} % "
    except ValueError:
        return ""


def in_unit(*values: np.ndarray, low: float = 0.0) -> bool:
    """Whether all numbers lie between ``low`` and 1, as rates and their differences do."""
    every = np.concatenate(values)
    every = every[~np.isnan(every)]
    return bool(every.size and (every >= low).all() and (every <= 1).all())


def span(low: np.ndarray, high: np.ndarray) -> str:
    """Counts as one number or as a range."""
    ends = counts(np.array([np.nanmin(low), np.nanmax(high)]))
    return ends[0] if ends[0] == ends[1] else f"{ends[0]}\N{EN DASH}{ends[1]}"
