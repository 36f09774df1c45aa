"""Likelihoods of cluster totals, given the rate and the intracluster correlation (ICC)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from evalci_accessor.stats import _special as special
from evalci_accessor.stats._validate import BoolArray, FloatArray

# log likelihood at rho (R, 1) and p, 1-p (R, P)
LogLik: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

HALF_PI = np.pi / 2
_CELLS = 64  # cells on which fractional sums of equal-sized clusters are interpolated when there are very many
_SIZES = 512  # sizes of all-pass or all-fail clusters that are told apart
_STIRLING = 1e3  # arguments of Gamma above which Stirling's series is exact to 1e-15
# Nanoseconds, measured: they only choose between two ways to the same number.
_GAMMALN_NS, _LOG_NS = 35.0, 9.0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Distinct (successes, size) pairs and how many clusters have them; real-valued for quasi-counts."""

    s: FloatArray
    m: FloatArray
    count: FloatArray

    def thin(self, size: int) -> Pairs:
        """Every so-manieth pair, about ``size`` of them."""
        step = -(-len(self.s) // size)
        return Pairs(self.s[::step], self.m[::step], self.count[::step])

    def collapse(self) -> Pairs:
        """Move the sums of equal-sized clusters onto a few common ones, where that saves work.

        Cubic interpolation on points that crowd towards 0 and m, where the logs of Gamma bend most: for a smooth f, the sum of
        f over the clusters equals the sum over the common points with (signed) interpolation weights as counts.
        """
        size, inverse = np.unique(self.m, return_inverse=True)
        if len(self.s) < 2 * _CELLS * len(size):
            return self
        angle = np.arcsin(np.sqrt(np.clip(self.s / self.m, 0.0, 1.0))) / HALF_PI
        x = np.arcsin(np.sqrt(angle)) / HALF_PI * _CELLS
        left = np.clip(np.floor(x).astype(np.int64) - 1, 0, _CELLS - 3)
        u = x - left
        weights = (
            (1 - u) * (2 - u) * (3 - u) / 6,
            u * (2 - u) * (3 - u) / 2,
            u * (u - 1) * (3 - u) / 2,
            u * (u - 1) * (u - 2) / 6,
        )
        table = np.zeros(len(size) * (_CELLS + 1))
        for shift, weight in enumerate(weights):
            table += np.bincount(inverse * (_CELLS + 1) + left + shift, self.count * weight, len(table))
        held = np.flatnonzero(table)
        which, cell = np.divmod(held, _CELLS + 1)
        share = np.sin(HALF_PI * np.sin(cell * (HALF_PI / _CELLS)) ** 2) ** 2
        return Pairs(size[which] * share, size[which], table[held])


def whole(s: FloatArray, m: FloatArray) -> bool:
    """Whether all sums and sizes are whole numbers."""
    return bool((s == np.round(s)).all() and (m == np.round(m)).all())


def distinct_pairs(s: FloatArray, m: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distinct (s, m) pairs in ascending order, and the number of clusters that have each."""
    if (
        whole(s, m)
        and len(s)
        and (top := int(m.max()) + 1) * top < max(2**16, 4 * len(s))
        and (s >= 0).all()
        and (s <= m).all()
    ):
        table = np.bincount(m.astype(np.int64) * top + s.astype(np.int64))
        key = np.flatnonzero(table)
        return (key % top).astype(np.float64), (key // top).astype(np.float64), table[key].astype(np.float64)
    pair, count = np.unique(m + 1j * s, return_counts=True)
    return np.ascontiguousarray(pair.imag), np.ascontiguousarray(pair.real), count.astype(np.float64)


def _rise(a: FloatArray, x: FloatArray) -> FloatArray:
    """Log Gamma(a + x) - log Gamma(a) for a above 1e3, by Stirling's series, in which nothing cancels."""
    out: FloatArray = (a - 0.5) * np.log1p(x / a) + x * (np.log(a + x) - 1) + (1 / (a + x) - 1 / a) / 12
    return out


def smooth(pairs: Pairs) -> tuple[LogLik, float]:
    """Beta-binomial log likelihood without binomial coefficients, and the cost of one value in ns."""
    s, m, count = pairs.s, pairs.m, pairs.count
    f = m - s
    by_gamma = 2 * _GAMMALN_NS * len(s)
    if whole(s, m) and (s.max() + f.max()) * _LOG_NS < by_gamma:
        # prod_{j<s} (p(1-rho) + j rho) over clusters: each factor is shared by all clusters with s > j, and nothing
        # cancels however small rho is.
        def steps(x: FloatArray) -> FloatArray:
            return np.bincount(x.astype(np.int64), weights=count)[::-1].cumsum()[::-1][1:]

        n_s, n_f, n_m = steps(s), steps(f), steps(m)

        def ladder(rho: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
            out = np.zeros_like(p)
            work = np.empty_like(p)
            for n_j, start in ((n_s, p * (1 - rho)), (n_f, q * (1 - rho))):
                for j, times in enumerate(n_j):
                    np.log(np.add(start, j * rho, out=work), out=work)
                    out += np.multiply(work, times, out=work)
            out -= np.log((1 - rho) + rho * np.arange(len(n_m))) @ n_m[:, None]
            return out

        return ladder, float(s.max() + f.max()) * _LOG_NS

    total = float(count.sum())
    size, inverse = np.unique(m, return_inverse=True)
    times = np.bincount(inverse, weights=count)

    def gamma(rho: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
        t = (1 - rho) / rho
        a, b = p * t, q * t
        value = np.empty_like(p)
        far = np.minimum(a, b).min(axis=1) > _STIRLING  # small ICC: logs of Gamma would cancel
        near = ~far
        if len(s) <= 512:
            value[far] = (_rise(a[far][..., None], s) + _rise(b[far][..., None], f)) @ count
            both = special.gammaln(a[near][..., None] + s) + special.gammaln(b[near][..., None] + f)
            value[near] = both @ count
        else:  # one value at a time keeps the work in cache and the memory small
            for at in np.ndindex(p.shape):
                if far[at[0]]:
                    value[at] = (_rise(a[at], s) + _rise(b[at], f)) @ count
                else:
                    value[at] = (special.gammaln(a[at] + s) + special.gammaln(b[at] + f)) @ count
        value[near] -= total * (special.gammaln(a[near]) + special.gammaln(b[near]))
        value[near] += ((special.gammaln(t[near]) - special.gammaln(t[near] + size)) @ times)[:, None]
        value[far] -= (_rise(t[far], size) @ times)[:, None]
        return value

    return gamma, by_gamma


def all_or_nothing(pairs: Pairs) -> LogLik:
    """Log likelihood of the mixture in which a cluster passes or fails as a whole with probability rho."""
    s, m, count = pairs.s, pairs.m, pairs.count
    passed, failed = s == m, s == 0
    mixed = ~(passed | failed)
    n_mixed, s_mixed, f_mixed = count[mixed].sum(), (count * s)[mixed].sum(), (count * (m - s))[mixed].sum()

    def by_size(which: BoolArray) -> tuple[FloatArray, FloatArray]:
        size, inverse = np.unique(m[which], return_inverse=True)
        times = np.bincount(inverse, weights=count[which], minlength=len(size)).astype(np.float64)
        if len(size) <= 2 * _SIZES:
            return size, times
        # Weights make every size its own; neighbours among thousands are as good as equal.
        bins = np.minimum((np.cumsum(times) - times / 2) / times.sum() * _SIZES, _SIZES - 1).astype(np.int64)
        total = np.bincount(bins, weights=times, minlength=_SIZES)
        mean = np.bincount(bins, weights=times * size, minlength=_SIZES)[total > 0] / total[total > 0]
        return mean, total[total > 0].astype(np.float64)

    pure = (by_size(passed), by_size(failed))

    def loglik(rho: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
        logs = (np.log(p), np.log(q))
        out: FloatArray = n_mixed * np.log1p(-rho) + s_mixed * logs[0] + f_mixed * logs[1]
        for (sizes, times), log_x in zip(pure, logs, strict=True):
            for size, c in zip(sizes, times, strict=True):
                # (1-rho) x^m + rho x = x ((1-rho) x^(m-1) + rho)
                out += c * (log_x + np.log((1 - rho) * np.exp((size - 1) * log_x) + rho))
        return out

    return loglik


def centre(pairs: Pairs, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rough place and width, in theta = arcsin(sqrt(p)), of the likelihood at each rho: weights 1/(1 + (m-1) rho)."""
    size, inverse = np.unique(pairs.m, return_inverse=True)
    clusters = np.bincount(inverse, weights=pairs.count)
    successes = np.bincount(inverse, weights=pairs.count * pairs.s)
    v = 1 / (1 + np.maximum(size - 1, 0) * rho[:, None])
    information = v @ (clusters * size)
    p = np.clip(v @ successes / information, 0.0, 1.0)
    return np.arcsin(np.sqrt(p)), 0.5 / np.sqrt(information)
