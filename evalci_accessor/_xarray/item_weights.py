"""The weights of a cube's items, which must be the same for all systems and repeats."""

from __future__ import annotations

import numpy as np
import xarray as xr

from evalci_accessor._ids import Codes
from evalci_accessor._item_weights import refuse_unequal, refuse_weightless, unequal
from evalci_accessor._scores import checked_weights, weights_to_float
from evalci_accessor._xarray.dims import Named
from evalci_accessor._xarray.parts import Parts
from evalci_accessor._xarray.reduce import describe, spread_over
from evalci_accessor.exceptions import plain
from evalci_accessor.stats.validate import IntArray


def item_weights(parts: Parts, array: xr.DataArray, systems: IntArray, items: Codes) -> Named:
    """Weights, after the checks, along the kept dims and the items; ``array`` holds the scores of the ``systems`` in question."""
    assert parts.weights is not None
    given, name = parts.weights.array, parts.weights.name
    if parts.systems in given.dims:
        given = given.isel({parts.systems: systems})
    own = (*parts.kept, *parts.items)
    others = tuple(d for d in (parts.systems, *parts.repeats) if d in given.dims)  # along which they must not vary
    shape, inner = tuple(array.sizes[d] for d in own), tuple(array.sizes[d] for d in others)
    sizes = dict(zip((*own, *others), (*shape, *inner), strict=True))
    raw = weights_to_float(np.ascontiguousarray(spread_over(given, sizes, name, "weights")).ravel(), name)
    checked = checked_weights(raw, name, lambda i: describe(array, tuple(sizes), (*shape, *inner), i))
    n_items, n_inner = (int(np.prod([array.sizes[d] for d in dims], dtype=np.int64)) for dims in (parts.items, others))
    if not len(raw):
        return Named(xr.DataArray(np.zeros(shape), dims=own), name)
    table, found = checked.reshape(-1, n_inner), raw.reshape(-1, n_inner)
    weights = found.max(axis=1)
    kept = shape[: len(parts.kept)]

    def group(h: int) -> str:
        return describe(array, parts.kept, kept, h)

    def label(k: int) -> str:
        item = plain(items.label(int(items.codes[k % n_items])))
        return f"{item!r}{f' in {group(k // n_items)}' if parts.kept else ''}"

    refuse_unequal(
        np.flatnonzero(unequal(table.min(axis=1), table.max(axis=1))), label, lambda k: found[k],
        parts.names.key, name,
    )  # fmt: skip
    if parts.kept:
        refuse_weightless(table.max(axis=1).reshape(-1, n_items).sum(axis=1), group)
    return Named(xr.DataArray(weights.reshape(shape), dims=own), name)
