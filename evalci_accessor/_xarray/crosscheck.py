"""Our numbers beside statsmodels': cells to scores, and the answer along a dim ``estimator``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr

from evalci_accessor._crosscheck import (
    CROSSCHECK_COLUMNS,
    differences,
    missing_ids_with_words,
    rates,
    refuse_no_cluster,
    refuse_without_factor,
)
from evalci_accessor._ids import encode
from evalci_accessor._options import CrosscheckOptions
from evalci_accessor._xarray.dims import Cube, Dims, clusterings_of, find, named_dims, score_of
from evalci_accessor._xarray.match import read_pairs
from evalci_accessor._xarray.parts import find_parts
from evalci_accessor._xarray.reduce import add_up_crossed, codes_of, ids_of, read_cells
from evalci_accessor.exceptions import AmbiguousNameError
from evalci_accessor.options import NanPolicy, Unmatched
from evalci_accessor.stats.validate import FloatArray, IntArray


def crosscheck(
    data: Cube,
    cluster: Any,
    *,
    score: Any,
    dim: Dims,
    weights: Any,
    factor: Any,
    item: Any,
    sample: Any,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    options: CrosscheckOptions,
) -> xr.Dataset:
    """Estimators side by side, as the accessor's method of that name."""
    refuse_no_cluster(cluster, "a coordinate or variable, or a DataArray")
    if factor is None:
        refuse_without_factor(item, pairs, baseline, sample)
        with missing_ids_with_words(options.against):
            return _rates(data, cluster, score, dim, weights, nan_policy, options)
    parts = find_parts(data, factor, item, cluster, sample, score, dim, averages=True, weights=weights)
    with missing_ids_with_words(options.against):
        paired = read_pairs(parts, baseline, pairs, unmatched, nan_policy)
    sides = {f"{paired.factor}_{side}": paired.labels(paired.matched.pairs[:, k]) for k, side in enumerate("ab")}
    return _wrap(paired.score, paired.kept, paired.shape, differences(paired.matched, options), sides)


def _rates(
    data: Cube, cluster: Any, score: Any, dim: Dims, weights: Any, nan_policy: NanPolicy, options: CrosscheckOptions
) -> xr.Dataset:
    scores, clusterings = score_of(data, score), clusterings_of(data, cluster, score)
    along = [d for one in clusterings for d in one.array.dims]
    reduced = tuple(sorted(named_dims(scores.array, dim, along), key=lambda d: d not in along))
    weight = None if weights is None else find(data, weights, "weights")
    cells = read_cells(scores, reduced, weight, nan_policy)
    sample = add_up_crossed(cells, clusterings)
    counted = {one.cluster for one in sample.clusterings}  # without those that lie within another
    codes = [
        codes_of(cells, one, encode(ids_of(one.array), one.name, lookalikes=False).codes)
        for one in clusterings if one.name in counted
    ]  # fmt: skip

    def rows_of(h: int) -> tuple[FloatArray, list[IntArray], FloatArray | None]:
        values, own = cells.values[h].astype(np.float64), [one[h if len(one) > 1 else 0] for one in codes]
        keep = slice(None) if cells.keep is None else cells.keep[h]
        return values[keep], [one[keep] for one in own], None if cells.weights is None else cells.weights[h][keep]

    return _wrap(scores.array, cells.kept, cells.shape, rates(sample, rows_of, options), {})


def _wrap(
    score: xr.DataArray, kept: tuple[Hashable, ...], shape: tuple[int, ...], columns: dict[str, Any], sides: dict[str, Any]
) -> xr.Dataset:
    """Variables over the kept dims, the pairs if there are any, and the estimators."""
    dims: tuple[Hashable, ...] = (*kept, "pair", "estimator") if sides else (*kept, "estimator")
    pairs = tuple({len(labels) for labels in sides.values()})
    coords = {name: coord for name, coord in score.coords.items() if set(coord.dims) <= set(kept)}
    own = [*sides, *CROSSCHECK_COLUMNS, *(["pair"] if sides else [])]
    clash = [str(name) for name in (*coords, *kept) if name in own] + [name for name in sides if name in CROSSCHECK_COLUMNS]
    if clash:
        raise AmbiguousNameError(
            f"{clash[0]!r} would stand twice in the result, whose own variables and dims are {', '.join(own)}. Rename it first, as "
            f"with .rename({{{clash[0]!r}: {clash[0] + '_'!r}}})."
        )
    estimators = columns["estimator"]
    variables: dict[str, Any] = {}
    for name, value in columns.items():
        if name == "estimator":
            continue
        if np.ndim(value) == 2:
            variables[name] = (dims, value.reshape(*shape, *pairs, len(estimators)))
        else:
            variables[name] = ("estimator", value) if np.ndim(value) == 1 else ((), value)
    named = {"estimator": estimators.astype(str)} | {name: ("pair", labels) for name, labels in sides.items()}
    return score.coords.to_dataset()[list(coords)].assign_coords(named).assign(variables)
