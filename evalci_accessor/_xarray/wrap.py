"""Results as Datasets whose variables are the columns of the frame's answer."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr

from evalci_accessor._xarray.reduce import Cells
from evalci_accessor.exceptions import AmbiguousNameError, examples


def wrap(cells: Cells, columns: dict[str, Any]) -> xr.Dataset:
    """Variables over the kept dims, with the coordinates that lie along them."""
    return over(cells.score, cells.kept, columns, own={}, coords={}, reserved=tuple(columns))


def over(
    score: xr.DataArray,
    kept: tuple[Hashable, ...],
    columns: dict[str, Any],
    *,
    own: dict[str, int],
    coords: dict[str, Any],
    reserved: tuple[str, ...],
) -> xr.Dataset:
    """Variables over the kept dims and the answer's ``own`` with their ``coords``, and the coordinates along the kept dims.

    Arrays come in C order, with one entry for each cell of the kept and own dims.
    """
    stay = {name: coord for name, coord in score.coords.items() if set(coord.dims) <= set(kept)}
    names = list(dict.fromkeys([*own, *coords, *reserved]))
    clash = [str(name) for name in (*stay, *kept) if name in names]
    if clash:
        raise AmbiguousNameError(
            f"{clash[0]!r} would stand twice in the result, whose own variables and dims are {examples(names, len(names))}. Rename "
            f"it first, as with .rename({{{clash[0]!r}: {clash[0] + '_'!r}}})."
        )
    shape = (*(score.sizes[d] for d in kept), *own.values())
    variables = {
        name: ((*kept, *own), value.reshape(shape)) if isinstance(value, np.ndarray) and value.ndim else ((), value)
        for name, value in columns.items()
    }
    return score.coords.to_dataset()[list(stay)].assign_coords(coords).assign(variables)
