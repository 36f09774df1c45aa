r"""The cluster sign-flip test: a randomisation test of exchangeable systems.

If the labels of the two systems mean nothing, exchanging them within a cluster leaves the law of the data as it is, so the
observed sum of differences is one of :math:`2^G` equally likely sums :math:`\sum \pm d_g`. With whole numbers the law of the
sum is a convolution, which is exact for far more clusters than could be enumerated. Weighted sums are whole numbers of some
unit only where the weights are.
"""

from __future__ import annotations

import numpy as np

from evalci_accessor._progress import progress
from evalci_accessor._typing import Alternative
from evalci_accessor.stats._validate import BoolArray, FloatArray
from evalci_accessor.stats.matched import PairTotals

_ENUMERATED = 20  # clusters whose sign flips can always be gone through
_WORK = 2**24  # additions up to which a pair's exact law is worth its time
_TIE = 1e-9  # share of the largest possible sum by which rounding may part equal sums
_BLOCK, _CELLS = 256, 2**20  # flips that share a child seed, and signs drawn at a time: part of the result


def sign_flip(t: PairTotals, alternative: Alternative, n_resamples: int, seed: np.random.SeedSequence) -> FloatArray:
    """P-value of each pair: exact where its law is affordable, else from ``n_resamples`` random flips."""
    assert t.d is not None
    out = np.ones(len(t.d))
    for k in progress(range(len(t.d)), label="sign flips", unit="pair"):
        d, observed, whole = _whole(np.sort(np.abs(t.d[k][t.d[k] != 0])), float(t.total[k]))
        reach = d.sum()
        tie = 0.0 if whole else _TIE * reach
        if not len(d):
            continue
        if len(d) <= _ENUMERATED and (not whole or 2 ** len(d) < reach):
            upper = _enumerated_tail(d, observed, alternative, tie)
        elif whole and (len(d) <= _ENUMERATED or len(d) * reach <= _WORK):
            upper = _convolved_tail(d.astype(np.int64), int(observed), alternative)
        else:
            upper = _drawn_tail(d, observed, alternative, n_resamples, seed, tie)
        out[k] = min(upper, 1.0)
    return out


def _whole(d: FloatArray, observed: float) -> tuple[FloatArray, float, bool]:
    """Sums in units of which they are whole numbers, if there is one that leaves them small, and whether there is."""
    if (d == np.round(d)).all():
        return d, observed, True
    unit = 0.0
    for size in d:
        while size > _TIE * d[-1]:  # Euclid's algorithm, but for rounding
            unit, size = size, np.abs(unit - np.round(unit / size) * size)
        if unit < 1e-6 * d[-1]:
            return d, observed, False
    units = np.round(d / unit)
    unit = d.sum() / units.sum()
    if not np.allclose(d, units * unit, rtol=1e-11, atol=0):
        return d, observed, False
    return units, float(np.round(observed / unit)), True


def _enumerated_tail(d: np.ndarray, observed: float, alternative: Alternative, tie: float) -> float:
    """Tail of the law of the sum of +-d, gone through one by one: few clusters whose differences are large."""
    sums = np.zeros(1)
    for step in d:
        sums = np.concatenate([sums + step, sums - step])
    return float(_beyond(sums, observed, alternative, tie).mean())


def _convolved_tail(d: np.ndarray, observed: int, alternative: Alternative) -> float:
    """The same by one convolution a cluster."""
    reach = int(d.sum())
    law = np.zeros(2 * reach + 1)
    law[reach] = 1.0
    for step in d:
        shifted = np.zeros_like(law)
        shifted[step:] += law[:-step]
        shifted[:-step] += law[step:]
        law = shifted / 2
    return float(law[_beyond(np.arange(-reach, reach + 1), observed, alternative)].sum())


def _beyond(sums: np.ndarray, observed: float, alternative: Alternative, tie: float = 0.0) -> BoolArray:
    """Which sums are at least as far out as the observed one, or nearer to it than ``tie``."""
    if alternative == "two-sided":
        return np.asarray(np.abs(sums) >= abs(observed) - tie)
    return np.asarray(sums >= observed - tie if alternative == "greater" else sums <= observed + tie)


def _drawn_tail(
    d: FloatArray, observed: float, alternative: Alternative, n_resamples: int, seed: np.random.SeedSequence, tie: float
) -> float:
    """Share of random flips that reach the observed sum, which itself counts as one (Phipson and Smyth 2010)."""
    starts = range(0, n_resamples, _BLOCK)
    children = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key).spawn(len(starts))
    reached = 0
    for start, child in zip(starts, children, strict=True):
        generator = np.random.Generator(np.random.SFC64(child))
        rows = min(_BLOCK, n_resamples - start)
        step = max(_CELLS // len(d), 1)  # rows at a time, so that their flips stay small
        for first in range(0, rows, step):
            flips = generator.integers(0, 2, size=(min(step, rows - first), len(d)), dtype=np.int8)
            reached += int(_beyond(2 * (flips @ d) - d.sum(), observed, alternative, tie).sum())
    return (1 + reached) / (1 + n_resamples)
