r"""Posterior of the intracluster correlation (ICC) of one group, and the likelihoods of cluster totals that it rests on.

Two shapes of clustering, both with mean :math:`p` and ICC :math:`\rho`, are averaged: the smooth beta-binomial and the
all-or-nothing mixture, in which a cluster passes or fails as a whole with probability :math:`\rho`. The prior is flat in
:math:`p` and Beta(1/2, 1/2) in :math:`\rho`, that is, flat in :math:`\varphi = \arcsin\sqrt\rho`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from evalci_accessor.exceptions import ScoreError
from evalci_accessor.stats import special
from evalci_accessor.stats.validate import BoolArray, FloatArray, as_float

N_NODES = 64  # rho nodes handed on; equal weights on them are the arcsine prior
_N_SEARCH = 24  # nodes of a coarse pass that only has to find where the integrand lives
_DROP = 40.0  # log units below the peak at which the integrand counts as zero (4e-18)

# Nanoseconds, measured: they only choose between two ways to the same number.
_DENSE_NS = 1_000.0  # cost of one likelihood value above which the sparse rule pays
_LAPLACE_NS = 400_000.0  # and above which one point in p must do
_BELL = 0.02  # log units by which Laplace and Gauss-Hermite may differ before neither is trusted
# Signs that equal stretches are too coarse: a bell fills a fifth of the window that the search leaves.
_PEAKED, _END, _ALONE = 8.0, 0.03, 3.0
_SUBSET = 4096  # distinct clusters that are enough to find the posterior's place roughly


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IccPosterior:
    """Posterior of the ICC on nodes.

    Parameters
    ----------
    rho : ndarray, shape (R,)
        Nodes in (0, 1), ascending.
    weight : ndarray, shape (R,)
        Their posterior probabilities, which add up to 1.
    edge : ndarray, shape (R + 1,)
        Ends of the stretches of arcsin(sqrt(rho)) that the nodes stand for.
    """

    rho: FloatArray
    weight: FloatArray
    edge: FloatArray

    @property
    def mean(self) -> float:
        """Posterior mean of the ICC."""
        return float(self.weight @ self.rho)

    def quantile(self, probability: FloatArray | float) -> FloatArray:
        """Quantiles of the ICC, interpolated in arcsin(sqrt(rho))."""
        cdf = np.concatenate([[0.0], np.cumsum(self.weight)])
        phi_at: FloatArray = np.asarray(np.interp(probability, cdf, self.edge), dtype=np.float64)
        return np.sin(phi_at) ** 2


@functools.cache
def legendre(size: int) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on [-1, 1], which take longer to find than to use."""
    return np.polynomial.legendre.leggauss(size)


@functools.cache
def _hermite() -> tuple[FloatArray, FloatArray]:
    """Gauss-Hermite nodes and weights for the weight function exp(-x^2 / 2)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    return nodes, weights


def _on_theta(loglik: LogLik, rho: FloatArray, theta: FloatArray) -> FloatArray:
    """Log of the integrand in theta: likelihood times dp/dtheta = sin(2 theta)."""
    p, q = np.sin(theta) ** 2, np.cos(theta) ** 2
    value: FloatArray = loglik(rho[:, None], p, q) + np.log(2 * np.sqrt(p * q))
    return value


def _log_sum(values: FloatArray, weights: FloatArray) -> FloatArray:
    top = values.max(axis=1)
    out: FloatArray = top + np.log((np.exp(values - top[:, None]) * weights).sum(axis=1))
    return out


def _marginal_dense(loglik: LogLik, rho: FloatArray, place: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Log marginal likelihood at each rho: find the window that holds the integrand, then Gauss-Legendre inside it."""
    theta, width = place
    low, high = np.maximum(theta - 12 * width, 0.0), np.minimum(theta + 12 * width, HALF_PI)
    grid = np.arange(_N_SEARCH) + 0.5
    for _ in range(40):
        step = (high - low) / _N_SEARCH
        value = _on_theta(loglik, rho, low[:, None] + grid * step[:, None])
        keep = value > value.max(axis=1, keepdims=True) - _DROP
        first, last = keep.argmax(axis=1), _N_SEARCH - 1 - keep[:, ::-1].argmax(axis=1)
        spill_low, spill_high = (first == 0) & (low > 0), (last == _N_SEARCH - 1) & (high < HALF_PI)
        start = np.where(spill_low, low - (high - low), low + (first - 1) * step)
        stop = np.where(spill_high, high + (high - low), low + (last + 2) * step)
        narrow = last - first + 1 < _N_SEARCH // 3
        low, high = np.maximum(start, 0.0), np.minimum(stop, HALF_PI)
        if not (spill_low | spill_high | narrow).any():
            break
    half = (high - low) / 2
    x, w = legendre(40)
    value = _on_theta(loglik, rho, (low + half)[:, None] + half[:, None] * x)
    return _log_sum(value, w) + np.log(half)


def _marginal_sparse(
    loglik: LogLik, rho: FloatArray, place: tuple[FloatArray, FloatArray], *, laplace: bool
) -> FloatArray:
    """The same with a few Gauss-Hermite points about the peak (or its height and width alone), for many clusters.

    Where the peak is at an end of the range, or is none, the answer is nan.
    """
    theta, width = place
    for _ in range(12):
        value = _on_theta(loglik, rho, _inside(theta[:, None] + width[:, None] * np.array([-1.0, 0.0, 1.0])))
        slope, bend = (value[:, 2] - value[:, 0]) / 2, value[:, 0] - 2 * value[:, 1] + value[:, 2]
        bend = np.where(bend < 0, bend, np.nan)
        shift, peak = -slope / bend, value[:, 1] - slope**2 / (2 * bend)
        theta, far = theta + np.clip(width * shift, -0.2, 0.2), np.abs(shift) > 1
        width = width / np.sqrt(np.clip(-bend, 0.04, 25))
        if not far.any():
            break
    margin = 8 if laplace else 5
    doubtful = (theta < margin * width) | (theta > HALF_PI - margin * width) | far
    out = peak + np.log(width) + 0.5 * np.log(2 * np.pi)
    if not laplace:
        x, w = _hermite()
        value = _on_theta(loglik, rho, _inside(theta[:, None] + width[:, None] * x)) + x * x / 2
        # Where the two rules disagree the peak is no bell: too few clusters, or too near an end.
        out, height = _log_sum(value, w) + np.log(width), out
        doubtful |= ~(np.abs(out - height) < _BELL)
    return np.where(doubtful, np.nan, out)


def _inside(theta: FloatArray) -> FloatArray:
    return np.clip(theta, 1e-6, HALF_PI - 1e-6)


def _log_marginal(pairs: Pairs, rho: FloatArray, *, mixture: bool, rule: str) -> FloatArray:
    loglik, _ = smooth(pairs)
    place = centre(pairs, rho)
    if rule == "dense":
        value = _marginal_dense(loglik, rho, place)
    else:
        value = _marginal_sparse(loglik, rho, place, laplace=rule == "laplace")
        rest = np.flatnonzero(np.isnan(value))
        if len(rest):
            value[rest] = _marginal_dense(loglik, rho[rest], (place[0][rest], place[1][rest]))
    if mixture:
        value = np.logaddexp(value, _marginal_dense(all_or_nothing(pairs), rho, place)) - np.log(2)
    return value


def log_marginal(s: FloatArray, m: FloatArray, rho: FloatArray, *, shape: str = "smooth") -> FloatArray:
    r"""Log marginal likelihood of cluster totals at given ICCs, with p integrated out under a flat prior.

    Binomial coefficients are left out. ``shape`` is ``"smooth"`` (beta-binomial), ``"all_or_nothing"``, or ``"both"``,
    their equal mixture.
    """
    pairs = Pairs(*distinct_pairs(s, m))
    if shape == "all_or_nothing":
        return _marginal_dense(all_or_nothing(pairs), rho, centre(pairs, rho))
    return _log_marginal(pairs, rho, mixture=shape == "both", rule="dense")


def _even(low: float, high: float, size: int) -> tuple[FloatArray, FloatArray]:
    """Midpoints of equal stretches of [low, high], in phi, and their lengths: exact for a bell that fits the window."""
    return low + (np.arange(size) + 0.5) * (high - low) / size, np.full(size, (high - low) / size)


def _graded(low: float, high: float, size: int, peak: float, width: float) -> tuple[FloatArray, FloatArray]:
    """Nodes close together about ``peak`` and ever further apart, for a sharp peak with a long tail.

    Gauss-Legendre in u, where phi = peak + width sinh(u).
    """
    ends = np.arcsinh((np.array([low, high]) - peak) / width)
    x, w = legendre(size)
    u = ends.mean() + (ends[1] - ends[0]) / 2 * x
    return peak + width * np.sinh(u), w * (ends[1] - ends[0]) / 2 * width * np.cosh(u)


def _too_coarse(weight: FloatArray, span: FloatArray) -> bool:
    """Whether the nodes may miss the shape: a peak narrow beside the window, at its end, or on a single node."""
    top = int(weight.argmax())
    beside = np.delete(weight[max(top - 1, 0) : top + 2], min(top, 1))
    narrow = span.sum() * float((weight**2 / span).sum()) > _PEAKED
    ends = max(weight[0], weight[-1]) > min(_END, 2 / len(weight))
    return narrow or ends or float(weight[top]) > _ALONE * float(beside.max())


def _nodes(low: float, high: float, size: int) -> FloatArray:
    return np.sin(_even(low, high, size)[0]) ** 2


def _window(
    pairs: Pairs, low: float, high: float, *, mixture: bool, rule: str, size: int, drop: float
) -> tuple[float, float]:
    """Part of [low, high], in phi, in which the posterior is within ``drop`` log units of its peak."""
    for _ in range(40):
        value = _log_marginal(pairs, _nodes(low, high, size), mixture=mixture, rule=rule)
        keep = np.flatnonzero(value > value.max() - drop)
        step = (high - low) / size
        spill_low, spill_high = keep[0] == 0 and low > 0, keep[-1] == size - 1 and high < HALF_PI
        start = low - (high - low) if spill_low else low + (keep[0] - 1) * step
        stop = high + (high - low) if spill_high else low + (keep[-1] + 2) * step
        low, high = max(start, 0.0), min(stop, HALF_PI)
        if len(keep) >= size / 3 and not (spill_low or spill_high):
            break
    return low, high


def icc_posterior(s: object, m: object, *, mixture: bool = True, n_nodes: int = N_NODES) -> IccPosterior:
    """Posterior of the ICC from cluster totals.

    Parameters
    ----------
    s, m : ndarray, shape (G,)
        Successes and sizes; real-valued quasi-counts for scores between 0 and 1.
    mixture : bool
        Whether the all-or-nothing shape takes part (it makes no sense for quasi-counts).
    n_nodes : int
        Number of nodes, laid where the posterior lives.

    Returns
    -------
    IccPosterior

    Raises
    ------
    ScoreError
        Totals that cannot be.

    Notes
    -----
    With singletons only the likelihood does not depend on the ICC, and the posterior is the prior.

    Examples
    --------
    >>> import numpy as np
    >>> from evalci_accessor import stats
    >>> posterior = stats.icc_posterior(np.array([5.0, 5, 0, 0, 5, 0]), np.full(6, 5.0))
    >>> round(posterior.mean, 2)
    0.92
    """
    sums, sizes = np.broadcast_arrays(as_float(s, "s"), as_float(m, "m"))
    if (
        sums.ndim != 1
        or not sums.size
        or (sizes <= 0).any()
        or (sums < 0).any()
        or (sums > sizes * (1 + 1e-12)).any()
    ):
        raise ScoreError(
            "`s` and `m` must be one-dimensional and not empty, with sizes above 0 and 0 <= s <= m."
        )
    return posterior_of(sums, sizes, mixture=mixture, n_nodes=n_nodes)


def posterior_of(s: FloatArray, m: FloatArray, *, mixture: bool, n_nodes: int) -> IccPosterior:
    """`icc_posterior` without the checks."""
    low, high = 0.0, HALF_PI
    if (m <= 1).all():
        phi, span = _even(low, high, n_nodes)
        return _posterior(phi, span, np.zeros(n_nodes), low)
    pairs = Pairs(*distinct_pairs(s, m))
    if not mixture and len(pairs.s) > 2 * _SUBSET:
        low, high = _window(
            pairs.thin(_SUBSET), low, high, mixture=False, rule="laplace", size=_N_SEARCH, drop=18.0
        )
        pairs = pairs.collapse()
    _, cost = smooth(pairs)
    # Each rule: nodes of the search, nodes of the answer, and how far below the peak they reach.
    rule, search, size, drop = "laplace", 12, max(n_nodes // 4, 8), 18.0
    if cost < _DENSE_NS:
        rule, search, size, drop = "dense", _N_SEARCH, n_nodes, _DROP
    elif cost < _LAPLACE_NS:
        rule, search, size, drop = "hermite", 12, max(n_nodes // 2, 8), 30.0
    low, high = _window(pairs, low, high, mixture=mixture, rule=rule, size=search, drop=drop)
    phi, span = _even(low, high, size)
    for _ in range(10):
        value = _log_marginal(pairs, np.sin(phi) ** 2, mixture=mixture, rule=rule)
        answer = _posterior(phi, span, value, low)
        if not _too_coarse(answer.weight, span):
            break
        top = int(answer.weight.argmax())
        peak = (low, high)[top > 0] if top in (0, len(phi) - 1) else float(phi[top])
        phi, span = _graded(low, high, max(size, 48), peak, float(span[top]))
    return answer


def _posterior(phi: FloatArray, span: FloatArray, value: FloatArray, low: float) -> IccPosterior:
    weight = np.exp(value - value.max()) * span
    edge = low + np.concatenate([[0.0], np.cumsum(span)])
    return IccPosterior(rho=np.sin(phi) ** 2, weight=weight / weight.sum(), edge=np.clip(edge, 0.0, HALF_PI))


# log likelihood at rho (R, 1) and p, 1-p (R, P)
LogLik: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

HALF_PI = np.pi / 2
# Cells on which fractional sums of equal-sized clusters are interpolated when there are very many.
_CELLS = 64
_SIZES = 512  # sizes of all-pass or all-fail clusters that are told apart
_STIRLING = 1e3  # arguments of Gamma above which Stirling's series is exact to 1e-15
# Nanoseconds, measured: they only choose between two ways to the same number.
_GAMMALN_NS, _LOG_NS = 35.0, 9.0


@dataclasses.dataclass(slots=True, eq=False, repr=False)
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
