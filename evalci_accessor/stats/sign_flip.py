r"""The cluster sign-flip test: a randomisation test of exchangeable systems.

If the labels of the two systems mean nothing, exchanging them within a cluster leaves the law of the data as it is, so the
observed sum of differences is one of :math:`2^G` equally likely sums :math:`\sum \pm d_g`. With whole numbers the law of the
sum is a convolution, which is exact for far more clusters than could be enumerated.
"""

from __future__ import annotations

import numpy as np

from evalci_accessor._progress import progress
from evalci_accessor._typing import Alternative
from evalci_accessor.stats._validate import BoolArray, FloatArray
from evalci_accessor.stats.matched import PairTotals

_ENUMERATED = 20  # clusters whose sign flips can always be gone through
_WORK = 2**24  # additions up to which a pair's exact law is worth its time
_BLOCK, _CELLS = 256, 2**20  # flips that share a child seed, and signs drawn at a time: part of the result


def sign_flip(t: PairTotals, alternative: Alternative, n_resamples: int, seed: np.random.SeedSequence) -> FloatArray:
    """P-value of each pair: exact where its law is affordable, else from ``n_resamples`` random flips."""
    assert t.d is not None
    out = np.ones(len(t.d))
    for k in progress(range(len(t.d)), label="sign flips", unit="pair"):
        d = np.sort(np.abs(t.d[k][t.d[k] != 0]))
        reach = d.sum()
        if not len(d):
            continue
        if len(d) <= _ENUMERATED or len(d) * reach <= _WORK:
            law = _enumerated_tail if len(d) <= _ENUMERATED and 2 ** len(d) < reach else _convolved_tail
            upper = law(d.astype(np.int64), int(t.total[k]), alternative)
        else:
            upper = _drawn_tail(d, float(t.total[k]), alternative, n_resamples, seed)
        out[k] = min(upper, 1.0)
    return out


def _enumerated_tail(d: np.ndarray, observed: int, alternative: Alternative) -> float:
    """Tail of the law of the sum of +-d, gone through one by one: few clusters whose differences are large."""
    sums = np.zeros(1, dtype=np.int64)
    for step in d:
        sums = np.concatenate([sums + step, sums - step])
    return float(_beyond(sums, observed, alternative).mean())


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


def _beyond(sums: np.ndarray, observed: float, alternative: Alternative) -> BoolArray:
    """Which sums are at least as far out as the observed one."""
    if alternative == "two-sided":
        return np.asarray(np.abs(sums) >= abs(observed))
    return np.asarray(sums >= observed if alternative == "greater" else sums <= observed)


def _drawn_tail(
    d: FloatArray, observed: float, alternative: Alternative, n_resamples: int, seed: np.random.SeedSequence
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
            reached += int(_beyond(2 * (flips @ d) - d.sum(), observed, alternative).sum())
    return (1 + reached) / (1 + n_resamples)
