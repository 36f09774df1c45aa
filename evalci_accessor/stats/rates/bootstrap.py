r"""Cluster bootstrap of a ratio of totals, and the pigeonhole bootstrap of crossed clusterings.

The law of :math:`\sum s / \sum m` over the resamples depends only on how often each distinct (s, m) pair occurs, so drawing
G clusters is one multinomial draw over the distinct pairs. With few distinct pairs that is much cheaper than drawing
clusters; else clusters are gathered from a table. Both have the same distribution.

Resamples are made in fixed blocks, each with a child of one seed sequence, so the numbers do not depend on how the work is
cut or in which order the clusters came.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from evalci_accessor.exceptions import MethodError
from evalci_accessor.stats import special
from evalci_accessor.stats.methods import RATE
from evalci_accessor.stats.progress import progress
from evalci_accessor.stats.rates.moments import Moments
from evalci_accessor.stats.rates.posterior import distinct_pairs, whole
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from evalci_accessor.stats.rates.crossed import Crossed

# Least resamples, and about how many draws, that share a child seed: part of the result.
_BLOCK, _BLOCK_DRAWS = 256, 2**16
_DRAWS = 2**16  # indices drawn at a time
_EXACT = 2**53  # integers up to here are exact in float64
_TABLE = 2**16  # entries of a table that 16 random bits index
_COUNTS = 2**18  # counts of draws held at a time


def seed_sequence(rng: object) -> np.random.SeedSequence:
    """One seed sequence from whatever scipy's ``rng`` accepts; a Generator moves on by one draw."""
    if isinstance(rng, np.random.SeedSequence):
        return np.random.SeedSequence(entropy=rng.entropy, spawn_key=rng.spawn_key)
    if rng is None:
        return np.random.SeedSequence()
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool):
        if rng < 0:
            raise MethodError(f"rng={rng} must not be negative.")
        return np.random.SeedSequence(int(rng))
    if isinstance(rng, np.random.BitGenerator):
        rng = np.random.Generator(rng)
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(0, 2**32, size=4).tolist())
    kinds = "None, an int, or a numpy SeedSequence, BitGenerator or Generator"
    raise MethodError(f"rng={rng!r} must be {kinds}.")


def check_bootstrap(method: str, *, crossed: bool) -> None:
    """The pigeonhole bootstrap is for crossed clusterings, and the others resample one."""
    needs = RATE[method].needs if method in RATE else ()
    if not crossed and "crossed" in needs:
        raise MethodError(
            "method='bootstrap_pigeonhole' resamples crossed clusterings, and there is one; name several, as "
            "cluster=['doc_id', 'prompt_id'] (of nested ones only the coarsest counts), or use method='bootstrap_percentile'."
        )
    if crossed and "single" in needs:
        raise MethodError(
            f"method={method!r} resamples one clustering, so the others would be ignored; with crossed clusterings use "
            "method='bootstrap_pigeonhole', or the default."
        )


def bootstrap_limits(
    t: ClusterTotals, mo: Moments, method: str, outside: float, n_resamples: int, rng: object
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Limits and standard error of each group. Groups share the seed, so equal groups get equal answers."""
    low, high, error = (np.full(t.n_groups, np.nan) for _ in range(3))
    seed = seed_sequence(rng)
    for h in progress(range(t.n_groups), label="bootstrap", unit="group"):
        part = slice(t.offsets[h], t.offsets[h + 1])
        if part.start == part.stop:
            continue
        s, m = t.s[part], t.m[part]
        p = mo.p[h]
        if method == "bootstrap_exact":
            low[h], high[h], error[h] = _exact(*_counts(s, m, t.n[part]), outside)
            continue
        if method == "bootstrap_t":
            estimate, variance = _ratio_and_variance(s, m, n_resamples, seed)
            low[h], high[h] = _studentised(s, m, p, estimate, variance, outside)
        else:
            estimate = ratio_replicates(s, m, n_resamples, seed)
            probabilities = (outside, 1 - outside)
            if method == "bootstrap_bca":
                probabilities = _bca_probabilities(s, m, p, estimate, outside)
            if np.isfinite(probabilities).all():
                low[h], high[h] = np.quantile(estimate, probabilities)
        error[h] = estimate.std(ddof=1)
    return low, high, error


def _collapse_pays(n_pairs: int, n_clusters: int) -> bool:
    """Whether a multinomial draw over the pairs is cheaper than gathering clusters (measured)."""
    divisor = 25 if n_clusters <= 30_000 else 16 if n_clusters < 1_000_000 else 8
    return n_pairs * divisor < n_clusters or n_pairs == 1


def seeded_blocks(
    n_resamples: int, clusters: int, seed: np.random.SeedSequence
) -> list[tuple[slice, np.random.Generator]]:
    size = max(_BLOCK, _BLOCK_DRAWS // clusters)
    starts = range(0, n_resamples, size)
    children = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key).spawn(len(starts))
    return [
        (slice(start, min(start + size, n_resamples)), np.random.Generator(np.random.SFC64(child)))
        for start, child in zip(starts, children, strict=True)
    ]


def resample_sums(
    columns: FloatArray, count: np.ndarray, n_resamples: int, seed: np.random.SeedSequence
) -> FloatArray:
    """Column sums over each resample, shape (n_resamples, C).

    A row of ``columns`` is a kind of cluster, of which there are ``count``.
    """
    clusters = int(count.sum())
    out = np.empty((n_resamples, columns.shape[1]))
    blocks = seeded_blocks(n_resamples, clusters, seed)
    if _collapse_pays(len(count), clusters):
        share = count / clusters
        for rows, generator in progress(blocks, label="resamples", unit="block"):
            out[rows] = generator.multinomial(clusters, share, size=rows.stop - rows.start) @ columns
        return out
    table = np.repeat(columns, count.astype(np.int64), axis=0)
    packed, unpack = _pack(table)
    draw = _sixteen_bit_draw(packed, clusters) if clusters <= _TABLE // 2 else _integer_draw(packed, clusters)
    for rows, generator in progress(blocks, label="resamples", unit="block"):
        out[rows] = unpack(draw(generator, rows.stop - rows.start))
    return out


def _pack(table: FloatArray) -> tuple[list[np.ndarray], Any]:
    """Two whole-numbered columns travel as one float64 where their sums fit, so that each draw is looked up once."""
    clusters, width = table.shape
    if width == 2 and (table >= 0).all() and (table == np.round(table)).all():
        base = float(2 ** int(np.ceil(np.log2(clusters * table[:, 1].max() + 1))))
        if clusters * (table[:, 0].max() + 1) * base < _EXACT:

            def unpack(sums: list[FloatArray]) -> FloatArray:
                high = np.floor(sums[0] / base)
                return np.stack([high, sums[0] - high * base], axis=1)

            return [table[:, 0] * base + table[:, 1]], unpack
    return [np.ascontiguousarray(column) for column in table.T], lambda sums: np.stack(sums, axis=1)


def _integer_draw(columns: list[np.ndarray], clusters: int) -> Any:
    """Sums over resamples of many clusters, drawn a chunk at a time so that the work stays in cache."""

    def draw(generator: np.random.Generator, rows: int) -> list[FloatArray]:
        sums = [np.zeros(rows) for _ in columns]
        for row in range(rows):
            for start in range(0, clusters, _DRAWS):
                index = generator.integers(0, clusters, size=min(_DRAWS, clusters - start))
                for total, column in zip(sums, columns, strict=True):
                    total[row] += column.take(index, mode="clip").sum()
        return sums

    return draw


def _sixteen_bit_draw(columns: list[np.ndarray], clusters: int) -> Any:
    """Sums over resamples of up to 32,768 clusters: 16 random bits index a table that repeats the clusters.

    The entries left over at the table's end are drawn anew, so every cluster is equally likely.
    """
    whole = _TABLE // clusters * clusters
    tables = [np.resize(column, _TABLE) for column in columns]
    step = max(_DRAWS // clusters, 1)

    def draw(generator: np.random.Generator, rows: int) -> list[FloatArray]:
        sums = [np.empty(rows) for _ in columns]
        for start in range(0, rows, step):
            stop = min(start + step, rows)
            size = (stop - start) * clusters
            index = generator.bit_generator.random_raw(-(-size // 4)).view(np.uint16)[:size]
            if whole < _TABLE:
                spare = np.flatnonzero(index >= whole)
                index[spare] = generator.integers(0, clusters, size=len(spare))
            for total, table in zip(sums, tables, strict=True):
                part = total[start:stop]
                # What is drawn has no name, so that its memory serves the next table: three times as fast.
                table.take(index, mode="clip").reshape(len(part), clusters).sum(axis=1, out=part)
        return sums

    return draw


def _canonical(s: FloatArray, m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Totals up to scale and rounding, so that neither moves the order in which clusters are drawn."""
    if whole(s, m):
        return s, m
    scale = m.mean()
    return np.round(s / scale, 12), np.round(m / scale, 12)


def ratio_replicates(
    s: FloatArray, m: FloatArray, n_resamples: int, seed: np.random.SeedSequence
) -> FloatArray:
    """Sum of s over sum of m in each resample of the clusters, shape (n_resamples,)."""
    values, sizes, count = distinct_pairs(*_canonical(s, m))
    sums = resample_sums(np.stack([values, sizes], axis=1), count, n_resamples, seed)
    return sums[:, 0] / sums[:, 1]


def _ratio_and_variance(
    s: FloatArray, m: FloatArray, n_resamples: int, seed: np.random.SeedSequence
) -> tuple[FloatArray, FloatArray]:
    """Each resample's ratio and its CR1 variance; the variance needs three more sums."""
    values, sizes, count = distinct_pairs(*_canonical(s, m))
    columns = np.stack([values, sizes, values**2, values * sizes, sizes**2], axis=1)
    total, size, square, product, size_square = resample_sums(columns, count, n_resamples, seed).T
    p = total / size
    factor = len(s) / (len(s) - 1)
    variance = factor * (square - 2 * p * product + p * p * size_square) / size**2
    rounding = 1e-12 * square / size**2
    return p, np.where(variance > rounding, variance, 0.0)


def _studentised(
    s: FloatArray, m: FloatArray, p: float, estimate: FloatArray, variance: FloatArray, outside: float
) -> tuple[float, float]:
    """Bootstrap-t limits. A resample with no variance is infinitely far off, unless it hits the estimate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        pivot = (estimate - p) / np.sqrt(variance)
    pivot = np.where((variance == 0) & np.isclose(estimate, p, rtol=1e-9, atol=0), 0.0, pivot)
    error = np.sqrt(len(s) / (len(s) - 1) * (((s - p * m) / m.sum()) ** 2).sum())
    # "lower" and "higher" pick order statistics, so that an infinite one is not averaged into nan.
    top = np.quantile(pivot, 1 - outside, method="higher")
    bottom = np.quantile(pivot, outside, method="lower")
    return p - top * error, p - bottom * error


def _bca_probabilities(
    s: FloatArray, m: FloatArray, p: float, estimate: FloatArray, outside: float
) -> tuple[float, float]:
    """Efron's bias-corrected and accelerated levels, with the acceleration from the influence of each cluster."""
    tie = np.isclose(estimate, p, rtol=1e-9, atol=0)
    below = ((estimate < p) & ~tie).mean() + tie.mean() / 2
    influence = s - p * m
    square = (influence**2).sum()
    if square == 0 or not 0 < below < 1:
        return np.nan, np.nan
    bias, acceleration = special.ndtri(below), (influence**3).sum() / (6 * square**1.5)

    def level(z: float) -> float:
        shifted = bias + z
        return float(special.ndtr(bias + shifted / (1 - acceleration * shifted)))

    return level(special.ndtri(outside)), level(-special.ndtri(outside))


def _counts(s: FloatArray, m: FloatArray, n: IntArray) -> tuple[FloatArray, FloatArray]:
    """Totals without weights where these are all equal, whatever their scale."""
    weight = m / n
    if np.ptp(weight) > 1e-12 * weight[0]:
        return s, m
    counts = s / weight[0]
    whole = np.round(counts)
    near = np.abs(counts - whole) <= 1e-9 * np.maximum(whole, 1)
    return np.where(near, whole, counts), n.astype(np.float64)


def _exact(s: FloatArray, m: FloatArray, outside: float) -> tuple[float, float, float]:
    """Percentile limits of all G**G resamples at once: the G-fold convolution of the clusters' sums, by FFT."""
    unequal = (m != m[0]).any()
    if unequal or (s != np.round(s)).any():
        what = "clusters of unequal sizes" if unequal else "scores whose cluster sums are not whole numbers"
        raise MethodError(
            f"method='bootstrap_exact' is not available for {what}: the exact law has a usable form only for equal sizes "
            "and whole scores. Use method='bootstrap_percentile', or the default."
        )
    clusters, floor = len(s), s.min()
    probability = np.bincount((s - floor).astype(np.int64)) / clusters
    length = clusters * (len(probability) - 1) + 1
    if length > 2**25:
        raise MethodError(
            f"method='bootstrap_exact' would need {length:,} points for {clusters:,} clusters. "
            "Use method='bootstrap_percentile', or the default."
        )
    from scipy import fft

    padded = fft.next_fast_len(length, real=True)
    law = np.maximum(fft.irfft(fft.rfft(probability, padded) ** clusters, padded)[:length], 0.0)
    cdf = np.cumsum(law / law.sum())
    # Ties with the level are decided by the exact law, not by rounding.
    points = [np.searchsorted(cdf, level - 1e-12) for level in (outside, 1 - outside)]
    rates = (np.array(points) + clusters * floor) / m.sum()
    return float(rates[0]), float(rates[1]), float(s.std() / np.sqrt(clusters) / m[0])


def mean_replicates(
    sums: FloatArray, size: FloatArray, n_resamples: int, seed: np.random.SeedSequence
) -> FloatArray:
    """Means of several columns over the same resamples of the clusters, shape (n_resamples, C).

    One matrix of how often each cluster was drawn serves all columns, so that their replicates are matched and their
    differences those of the pairs.

    Parameters
    ----------
    sums : ndarray, shape (G, C)
        Sums of each cluster.
    size : ndarray, shape (G,)
        Items in each cluster.
    n_resamples : int
        Number of resamples.
    seed : SeedSequence
        Randomness.
    """
    clusters = len(size)
    scale = np.abs(sums).max(initial=0.0) or 1.0
    # An order of the clusters that neither the order of the rows nor rounding moves.
    order = np.lexsort((*np.round(sums / scale, 12).T[::-1], size))
    table = np.column_stack([sums, size])[order]
    # A column's replicates lie together, for differences of columns.
    out = np.empty((n_resamples, table.shape[1]), order="F")
    step = max(_COUNTS // clusters, 1)
    blocks = seeded_blocks(n_resamples, clusters, seed)
    for rows, generator in progress(blocks, label="resamples", unit="block"):
        for start in range(rows.start, rows.stop, step):
            stop = min(start + step, rows.stop)
            out[start:stop] = _draw_counts(generator, stop - start, clusters) @ table
    return out[:, :-1] / out[:, -1:]


def differences(means: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Differences of the replicates of some columns, a row a pair; ``means`` has a row a column."""
    out = np.empty((len(a), means.shape[1]))
    for row, i, j in zip(out, a, b, strict=True):
        np.subtract(means[i], means[j], out=row)
    return out


def _draw_counts(generator: np.random.Generator, rows: int, clusters: int) -> FloatArray:
    """How often each cluster is drawn in each of some resamples, shape (rows, G)."""
    if clusters <= _TABLE // 2:
        size = rows * clusters
        index = generator.bit_generator.random_raw(-(-size // 4)).view(np.uint16)[:size]
        spare = np.flatnonzero(index >= _TABLE // clusters * clusters)
        index[spare] = generator.integers(0, clusters, size=len(spare))
        drawn = _cycle(clusters).take(index, mode="clip")
    else:
        drawn = generator.integers(0, clusters, size=rows * clusters)
    drawn.reshape(rows, clusters)[...] += np.arange(rows)[:, None] * clusters
    return np.bincount(drawn, minlength=rows * clusters).reshape(rows, clusters).astype(np.float64)


@functools.lru_cache(maxsize=4)
def _cycle(clusters: int) -> np.ndarray:
    """A table that repeats the clusters, for 16 random bits to index."""
    return np.resize(np.arange(clusters, dtype=np.int64), _TABLE)


_BATCH_COUNTS = 2**18  # products of counts held at a time
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
    """Column sums over each resample, shape (n_resamples, C).

    A row of ``columns`` is a cell, what one cluster of every clustering share; ``corners`` says which cluster of each that is.
    """
    places = _by_content(columns, corners)
    sizes = [int(place.max()) + 1 for place in places]
    out = np.empty((n_resamples, columns.shape[1]))
    step = max(_BATCH_COUNTS // max(len(columns), *sizes), 1)
    blocks = seeded_blocks(n_resamples, sum(sizes), seed)
    for rows, generator in progress(blocks, label="resamples", unit="block"):
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
    mix = np.cos(np.arange(1.0, columns.shape[1] + 1))
    cell = np.round(columns / np.where(scale > 0, scale, 1.0), 12) @ mix
    # The clusterings themselves by their sizes and by what their clusters hold, so that their order does not matter either.
    codes.sort(key=lambda code: (int(code.max()), *np.sort(np.round(np.bincount(code, weights=cell), 9))))
    ranks = [np.zeros(int(code.max()) + 1) for code in codes]
    for _ in range(_ROUNDS):
        keys = []
        for d, code in enumerate(codes):
            pairs = enumerate(zip(ranks, codes, strict=True))
            others = [np.sin(rank[other] + k) for k, (rank, other) in pairs if k != d]
            mixed = np.cos(7 * cell + np.sum(others, axis=0))
            keys.append(np.round(np.bincount(code, weights=mixed), 9) + 0.0)
        ranks = [np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.float64) for key in keys]
    places = []
    for rank, code in zip(ranks, codes, strict=True):
        place = np.empty(len(rank), dtype=np.int64)
        place[np.argsort(rank, kind="stable")] = np.arange(len(rank))
        places.append(place[code])
    return places
