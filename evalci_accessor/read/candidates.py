"""Columns and coordinates that could be a clustering which someone forgot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import ScanWarning, examples, warn
from evalci_accessor.stats.validate import FloatArray


def usable(candidates: dict[str, Any], scores: FloatArray | None) -> set[str]:
    """Names of the candidates that could be a clustering.

    A clustering has at least two ids and repeats at least one. Measurements (fractions), yes/no columns and copies of the
    scores are none. One with missing ids cannot be looked at; that is said.
    """
    kept, lacking = set(), []
    for name, values in candidates.items():
        series = values if isinstance(values, pd.Series) else pd.Series(values)
        if _is_measurement(series) or _equals(series, scores):
            continue
        try:
            codes, uniques = pd.factorize(series, use_na_sentinel=True)
        except (TypeError, NotImplementedError):  # lists and dicts, also Arrow's
            continue
        missing = int((codes < 0).sum())
        if len(uniques) < 2 or len(uniques) >= len(series) - missing:
            continue
        if missing:
            lacking.append(f"{name!r} ({missing} missing)")
        else:
            kept.add(name)
    if lacking:
        warn(
            f"Not looked at, since ids are missing: {examples(lacking)}. Fill or drop them, and name the column.",
            ScanWarning,
        )
    elif not kept:
        warn(
            "Nothing but the score and the keys repeats its values, so no clustering can be told from the data. If items share "
            "a document, a template or a conversation, that id is needed beside them.",
            ScanWarning,
        )
    return kept


def _equals(series: pd.Series, scores: FloatArray | None) -> bool:
    """Whether a column holds the scores themselves."""
    if scores is None or not pd.api.types.is_numeric_dtype(series.dtype):
        return False
    return np.array_equal(series.to_numpy(dtype=np.float64, na_value=np.nan), scores, equal_nan=True)


def _is_measurement(series: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(series.dtype):
        return True
    if pd.api.types.is_float_dtype(series.dtype):
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        finite = numbers[np.isfinite(numbers)]
        return bool((finite != np.round(finite)).any()) or not len(finite)
    return False
