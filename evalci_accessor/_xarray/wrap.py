"""Results as Datasets whose variables are the columns of the frame's answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from evalci_accessor._warn import examples
from evalci_accessor._xarray.reduce import Cells
from evalci_accessor.exceptions import AmbiguousNameError


def wrap(cells: Cells, columns: dict[str, Any]) -> xr.Dataset:
    """Variables over the kept dims, with the coordinates that lie along them."""
    coords = {name: coord for name, coord in cells.score.coords.items() if set(coord.dims) <= set(cells.kept)}
    clash = [str(name) for name in (*coords, *cells.kept) if name in columns]
    if clash:
        raise AmbiguousNameError(
            f"The coordinate {clash[0]!r} would stand twice in the result, whose own variables are "
            f"{examples(columns, len(columns))}. Rename it first, as with .rename({{{clash[0]!r}: {clash[0] + '_'!r}}})."
        )
    variables = {
        name: (cells.kept, value) if isinstance(value, np.ndarray) and value.ndim else ((), value)
        for name, value in columns.items()
    }
    kept = cells.score.coords.to_dataset()[list(coords)]
    return kept.assign(variables)
