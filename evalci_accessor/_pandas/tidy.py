"""Results as tidy frames: a row a group, keys first."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._pandas.reduce import Rows
from evalci_accessor.exceptions import AmbiguousNameError


def key_columns(rows: Rows, reserved: tuple[str, ...]) -> dict[Hashable, pd.Series]:
    """Keys of the groups in order of first appearance, with their dtypes."""
    names = [key.label for key in rows.keys]
    clash = [name for name in names if name in reserved or names.count(name) > 1]
    if clash:
        raise AmbiguousNameError(
            f"by={clash[0]!r} would stand twice in the result, whose own columns are {', '.join(reserved)}. Rename the column "
            f"first, as with df.rename(columns={{{clash[0]!r}: {f'{clash[0]}_'!r}}})."
        )
    if rows.groups is None:
        return {}
    taken = {}
    for key in rows.keys:
        values = key.values if isinstance(key.values, pd.Series) else pd.Series(key.values)
        taken[key.label] = values.iloc[rows.groups.first].reset_index(drop=True)
    return taken


def _repeated(value: Any, size: int) -> Any:
    return np.full(size, value) if isinstance(value, float) else [value] * size


def tidy(keys: dict[Hashable, pd.Series], columns: dict[str, Any], size: int) -> pd.DataFrame:
    """Keys and fixed columns side by side, a row a group."""
    values = {
        name: value.reshape(size) if isinstance(value, np.ndarray) else _repeated(value, size)
        for name, value in columns.items()
    }
    return pd.DataFrame(keys | values, index=pd.RangeIndex(size))
