"""Two systems on the same items: which dims play which part, and the answer over pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from evalci_accessor._matching import refuse_graded
from evalci_accessor._options import CompareOptions, DiffOptions, TestOptions
from evalci_accessor._pairing import families
from evalci_accessor._pairs import (
    COMPARE_COLUMNS,
    DIFF_COLUMNS,
    MCNEMAR_COLUMNS,
    compare_columns,
    diff_columns,
    mcnemar_columns,
)
from evalci_accessor._xarray.dims import Cube, Dims
from evalci_accessor._xarray.match import Paired, read_pairs
from evalci_accessor._xarray.parts import find_parts
from evalci_accessor._xarray.wrap import over
from evalci_accessor.exceptions import AmbiguousNameError
from evalci_accessor.options import Layout, NanPolicy, Unmatched
from evalci_accessor.stats.validate import IntArray, check_option

_SWAPPED = {"estimate_a": "estimate_b", "only_a": "only_b"}
_NEGATED = ("difference", "statistic")
_LIMITS = {"ci_low": "ci_high", "simultaneous_low": "simultaneous_high"}


def mcnemar(
    data: Cube,
    factor: Any,
    *,
    item: Any,
    cluster: Any,
    score: Any,
    dim: Dims,
    weights: Any,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    layout: Layout,
    options: TestOptions,
) -> xr.Dataset:
    """Do two systems differ, as the accessor's method of that name."""
    check_option(layout, Layout, "layout")
    parts = find_parts(data, factor, item, cluster, None, score, dim, averages=False, weights=weights)
    paired = read_pairs(parts, baseline, pairs, unmatched, nan_policy, ordered=layout == "square")
    refuse_graded(paired.matched)
    return _wrap(paired, mcnemar_columns(paired.matched, options), MCNEMAR_COLUMNS, layout)


def diff_ci(
    data: Cube,
    factor: Any,
    *,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    dim: Dims,
    weights: Any,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    layout: Layout,
    options: DiffOptions,
) -> xr.Dataset:
    """By how much two systems differ, as the accessor's method of that name."""
    check_option(layout, Layout, "layout")
    parts = find_parts(data, factor, item, cluster, sample, score, dim, averages=True, weights=weights)
    paired = read_pairs(parts, baseline, pairs, unmatched, nan_policy, ordered=layout == "square")
    return _wrap(paired, diff_columns(paired.matched, options), DIFF_COLUMNS, layout)


def compare(
    data: Cube,
    factor: Any,
    *,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    dim: Dims,
    weights: Any,
    baseline: Any,
    pairs: Any,
    correction_within: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    layout: Layout,
    options: CompareOptions,
) -> xr.Dataset:
    """All pairs in one table, as the accessor's method of that name."""
    check_option(layout, Layout, "layout")
    parts = find_parts(data, factor, item, cluster, sample, score, dim, averages=True, weights=weights)
    paired = read_pairs(parts, baseline, pairs, unmatched, nan_policy)
    n_groups, n_pairs = len(paired.matched.tables), len(paired.matched.pairs)
    at = np.unravel_index(np.arange(n_groups), paired.shape) if paired.shape else ()
    keys = {dim: np.asarray(codes, dtype=np.int64) for dim, codes in zip(paired.kept, at, strict=True)}
    family = families(correction_within, keys, n_groups, "the dims that stay")
    columns, order = compare_columns(paired.matched, options, family)
    if layout == "square":
        mirrored = baseline is None and pairs is None
        return _wrap(paired, columns, COMPARE_COLUMNS, layout, mirrored=mirrored)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    best = np.argsort(rank.reshape(n_groups, n_pairs).min(axis=0)) if n_groups else np.arange(n_pairs)
    sorted_columns = {
        name: value[:, best] if isinstance(value, np.ndarray) and value.ndim else value for name, value in columns.items()
    }
    return _wrap(paired, sorted_columns, COMPARE_COLUMNS, layout, pairs=paired.matched.pairs[best])


def _wrap(
    paired: Paired,
    columns: dict[str, Any],
    reserved: tuple[str, ...],
    layout: Layout,
    *,
    pairs: IntArray | None = None,
    mirrored: bool = False,
) -> xr.Dataset:
    """Variables over the kept dims and the pairs, with the coordinates that lie along the kept dims."""
    pairs = paired.matched.pairs if pairs is None else pairs
    own = first, second = (f"{paired.factor}_a", f"{paired.factor}_b")
    if layout == "square":
        left, right, columns = _square(columns, pairs, mirrored=mirrored)
        dims: tuple[str, ...] = own
        shape: tuple[int, ...] = (len(left), len(right))
        sides = {first: (first, paired.labels(left)), second: (second, paired.labels(right))}
    else:
        dims, shape = ("pair",), (len(pairs),)
        sides = {name: ("pair", paired.labels(pairs[:, k])) for k, name in enumerate(own)}
    refuse_own_names(paired, reserved)
    return over(paired.score, paired.kept, columns, own=dict(zip(dims, shape, strict=True)), coords=sides, reserved=reserved)


def refuse_own_names(paired: Paired, reserved: tuple[str, ...]) -> None:
    """A factor whose two sides are called as a variable of the answer."""
    clash = [name for name in (f"{paired.factor}_a", f"{paired.factor}_b") if name in reserved]
    if clash:
        raise AmbiguousNameError(
            f"{clash[0]!r} would stand twice in the result, whose own variables are {', '.join(reserved)}. Rename the factor "
            f"first, as with .rename({{{paired.factor!r}: {paired.factor + '_'!r}}})."
        )


def _square(columns: dict[str, Any], pairs: IntArray, *, mirrored: bool) -> tuple[IntArray, IntArray, dict[str, Any]]:
    """Columns (H, P) as (H, A, B): nan, or an empty text, where no pair is."""
    both = np.concatenate([pairs, pairs[:, ::-1]]) if mirrored else pairs
    (left, i), (right, j) = (np.unique(side, return_inverse=True) for side in both.T)
    out: dict[str, Any] = {}
    for name, value in columns.items():
        if not isinstance(value, np.ndarray) or not value.ndim:
            out[name] = value
            continue
        numeric = value.dtype.kind in "biuf"
        full = np.full(
            (len(value), len(left), len(right)), np.nan if numeric else "", dtype=np.float64 if numeric else object
        )
        full[:, i, j] = np.concatenate([value, _mirror(columns, name)], axis=1) if mirrored else value
        out[name] = full
    return left.astype(np.int64), right.astype(np.int64), out


def _mirror(columns: dict[str, Any], name: str) -> Any:
    """A column of the pairs the other way round."""
    swap = _SWAPPED | {b: a for a, b in _SWAPPED.items()}
    limits = _LIMITS | {b: a for a, b in _LIMITS.items()}
    if name in swap:
        return columns[swap[name]]
    if name in limits:
        return -columns[limits[name]]
    if name == "statistic" and columns["test"] != "interval":
        return columns["only_b"]  # a binomial count
    return -columns[name] if name in _NEGATED else columns[name]
