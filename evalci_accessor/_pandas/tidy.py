"""Results as tidy frames: a row a group, keys first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._pandas.reduce import Rows
from evalci_accessor.exceptions import AmbiguousNameError


def key_frame(rows: Rows, reserved: tuple[str, ...]) -> pd.DataFrame:
    """Keys of the groups in order of first appearance, with their dtypes."""
    names = [key.label for key in rows.keys]
    clash = [name for name in names if name in reserved or names.count(name) > 1]
    if clash:
        raise AmbiguousNameError(
            f"by={clash[0]!r} would stand twice in the result, whose own columns are {', '.join(reserved)}. Rename the column "
            f"first, as with df.rename(columns={{{clash[0]!r}: {f'{clash[0]}_'!r}}})."
        )
    if rows.groups is None:
        return pd.DataFrame(index=pd.RangeIndex(1))
    taken = {}
    for key in rows.keys:
        values = key.values if isinstance(key.values, pd.Series) else pd.Series(key.values)
        taken[key.label] = values.iloc[rows.groups.first].reset_index(drop=True)
    return pd.DataFrame(taken, index=pd.RangeIndex(rows.groups.size))


def tidy(keys: pd.DataFrame, columns: dict[str, Any]) -> pd.DataFrame:
    """Keys and fixed columns side by side. The keys' frame is not changed."""
    size = len(keys)
    values = {name: _column(value, size) for name, value in columns.items()}
    return pd.concat([keys, pd.DataFrame(values, index=keys.index)], axis=1)


def _column(value: Any, size: int) -> Any:
    if isinstance(value, np.ndarray):
        return value.reshape(size)
    return [value] * size
