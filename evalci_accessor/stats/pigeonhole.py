"""Pigeonhole bootstrap: the clusters of each of several crossed clusterings are resampled, a score counts by the product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalci_accessor._progress import progress
from evalci_accessor.stats._validate import FloatArray, IntArray
from evalci_accessor.stats.bootstrap import seed_sequence, seeded_blocks

if TYPE_CHECKING:
    from evalci_accessor.stats.crossed import Crossed

_COUNTS = 2**18  # products of counts held at a time
_ROUNDS = 3  # times that clusters are told apart by what they meet


def pigeonhole_limits(
    crossed: Crossed, outside: float, n_resamples: int, rng: object
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Percentile limits and standard error of each group. Groups share the seed, so equal groups get equal answers."""
    t = crossed.finest
    low, high, error = (np.full(t.n_groups, np.nan) for _ in range(3))
    seed = seed_sequence(rng)
    for h in range(t.n_groups):
        part = slice(int(t.offsets[h]), int(t.offsets[h + 1]))
        if part.start == part.stop:
            continue
        counted = np.flatnonzero(~crossed.nested[:, h])
        corners = [crossed.corners[d][part] for d in counted]
        sums = pigeonhole_sums(np.stack([t.s[part], t.m[part]], axis=1), corners, n_resamples, seed)
        held = sums[:, 1] > 0  # where few ids meet, a resample may hold no score at all
        if held.sum() > 1:
            estimate = sums[held, 0] / sums[held, 1]
            low[h], high[h] = np.quantile(estimate, (outside, 1 - outside))
            spread = estimate.std(ddof=1)
            error[h] = spread if spread > 1e-12 * np.abs(estimate).max() else 0.0
    return low, high, error


def pigeonhole_sums(
    columns: FloatArray, corners: list[IntArray], n_resamples: int, seed: np.random.SeedSequence
) -> FloatArray:
    """Column sums over each resample.

    Parameters
    ----------
    columns : ndarray, shape (K, C)
        Totals of each cell, what one cluster of every clustering share.
    corners : list of ndarray of int, each of shape (K,)
        Which cluster of each clustering that is.
    n_resamples : int
        Number of resamples.
    seed : SeedSequence
        Randomness.

    Returns
    -------
    ndarray, shape (n_resamples, C)
    """
    places = _by_content(columns, corners)
    sizes = [int(place.max()) + 1 for place in places]
    out = np.empty((n_resamples, columns.shape[1]))
    step = max(_COUNTS // max(len(columns), *sizes), 1)
    for rows, generator in progress(seeded_blocks(n_resamples, sum(sizes), seed), label="resamples", unit="block"):
        size = rows.stop - rows.start
        counts = [generator.multinomial(g, np.full(g, 1 / g), size=size).astype(np.float64) for g in sizes]
        for start in range(0, size, step):
            part = slice(start, min(start + step, size))
            product = counts[0][part].take(places[0], axis=1)
            for count, place in zip(counts[1:], places[1:], strict=True):
                product *= count[part].take(place, axis=1)
            out[rows.start + part.start : rows.start + part.stop] = product @ columns
    return out


def _by_content(columns: FloatArray, corners: list[IntArray]) -> list[IntArray]:
    """Clusters numbered by their scores and by whom they meet: neither names nor the order of rows or clusterings move a draw.

    Clusters that this cannot tell apart keep the order of their codes.
    """
    codes = [np.unique(corner, return_inverse=True)[1].reshape(-1) for corner in corners]
    scale = np.abs(columns).max(axis=0)
    cell = np.round(columns / np.where(scale > 0, scale, 1.0), 12) @ np.cos(np.arange(1.0, columns.shape[1] + 1))
    # The clusterings themselves by their sizes and by what their clusters hold, so that their order does not matter either.
    codes.sort(key=lambda code: (int(code.max()), *np.sort(np.round(np.bincount(code, weights=cell), 9))))
    ranks = [np.zeros(int(code.max()) + 1) for code in codes]
    for _ in range(_ROUNDS):
        keys = []
        for d, code in enumerate(codes):
            others = [np.sin(rank[other] + k) for k, (rank, other) in enumerate(zip(ranks, codes, strict=True)) if k != d]
            mixed = np.cos(7 * cell + np.sum(others, axis=0))
            keys.append(np.round(np.bincount(code, weights=mixed), 9) + 0.0)
        ranks = [np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.float64) for key in keys]
    places = []
    for rank, code in zip(ranks, codes, strict=True):
        place = np.empty(len(rank), dtype=np.int64)
        place[np.argsort(rank, kind="stable")] = np.arange(len(rank))
        places.append(place[code])
    return places
