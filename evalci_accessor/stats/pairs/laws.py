"""How far each method lets a difference lie: its limits at any tail, and its tails at any null; Tango's score among them."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import Alternative
from evalci_accessor.stats import special
from evalci_accessor.stats.pairs.matched import PairTotals, PairVariance, pair_variance
from evalci_accessor.stats.pairs.posterior import PairPosterior, joined
from evalci_accessor.stats.rates.limits import wilson_limits
from evalci_accessor.stats.validate import BoolArray, FloatArray

Level: TypeAlias = float | FloatArray
_FEW_CLUSTERS = 6  # the least number that all side with one system by chance less than one time in twenty
_FAR = 38.0  # normal quantile beyond which a tail is 0 in float64


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Law(abc.ABC):
    """What a method says of the difference of each of P pairs."""

    std_error: FloatArray

    @abc.abstractmethod
    def limits(self, outside: Level) -> tuple[FloatArray, FloatArray]:
        """Limits that leave ``outside`` on either side; one number, or one for each pair."""

    @abc.abstractmethod
    def log_tail(self, null: float) -> FloatArray:
        """Log of the p-value of "the difference is greater than ``null``"; the other side has the negated law's."""

    @abc.abstractmethod
    def negated(self) -> Law:
        """The law of the difference taken the other way round."""

    def tails(self, null: float) -> tuple[FloatArray, FloatArray]:
        """P-values of "greater than ``null``" and of "less than ``null``"."""
        return np.exp(self.log_tail(null)), np.exp(self.negated().log_tail(-null))

    def score(self) -> FloatArray:
        """The standard normal value that has the one-sided p-value of no difference."""
        up, down = self.log_tail(0.0), self.negated().log_tail(0.0)
        # From the smaller tail in logs, since 1 - p would round to 1; equal tails are 0, which rounding would miss.
        value = np.where(up <= down, -special.ndtri_exp(up), special.ndtri_exp(down))
        return np.asarray(np.where(np.abs(up - down) < 1e-14, 0.0, value))


def sided(greater: FloatArray, less: FloatArray, alternative: Alternative) -> FloatArray:
    """The p-value on the side asked for; two-sided, twice the smaller tail."""
    # Equal tails are one half each, which rounding would miss.
    both = np.where(np.abs(greater - less) < 1e-14, 1.0, np.minimum(2 * np.minimum(greater, less), 1.0))
    return np.asarray({"two-sided": both, "greater": greater, "less": less}[alternative])


def _log_upper(z: FloatArray, df: FloatArray) -> FloatArray:
    """Log of the probability above z under the t law, the normal one for infinite df; z has an entry or a row a pair."""
    out = np.asarray(special.log_ndtr(-z), dtype=np.float64)
    few = np.isfinite(df)
    if few.any():
        with np.errstate(divide="ignore"):
            out[few] = np.log(special.stdtr(df[few].reshape(-1, *[1] * (z.ndim - 1)), -z[few]))
    return out


def _quantile(df: FloatArray, outside: Level) -> FloatArray:
    """The value above which the t law leaves ``outside``, by pair."""
    level, few = np.broadcast_to(outside, df.shape), np.isfinite(df)
    out = np.asarray(-special.ndtri(level), dtype=np.float64)
    out[few] = -special.stdtrit(df[few], level[few])
    return out


def score_df(n_clusters: float) -> float:
    """Degrees of freedom of the score statistic: G - 1 under six clusters, else infinite."""
    return n_clusters - 1.0 if n_clusters < _FEW_CLUSTERS else np.inf


def averaged_critical(share: FloatArray, weight: FloatArray, df: FloatArray, outside: Level) -> FloatArray:
    """The plain statistic beyond which its tail, averaged over the effective shares of the items, is less than ``outside``."""
    start = _quantile(df, outside)
    if share.shape[1] == 1:
        return start / np.sqrt(share[:, 0])
    from scipy.optimize import elementwise

    root, level = np.sqrt(share), np.broadcast_to(outside, len(share))

    def excess(z: FloatArray, i: FloatArray) -> FloatArray:
        at = i.astype(np.int64)
        tail = np.exp(_log_upper(z[:, None] * root[at], df[at]))
        return np.asarray((weight[at] * tail).sum(axis=1) - level[at])

    index = np.arange(len(root), dtype=np.float64)
    # A little wider than it must be, so that rounding leaves a change of sign.
    ends = (start / root.max(axis=1) * (1 - 1e-9) - 1e-9, start / root.min(axis=1) * (1 + 1e-9) + 1e-9)
    found = elementwise.find_root(excess, ends, args=(index,), tolerances={"xatol": 1e-14, "xrtol": 1e-14})
    return np.asarray(found.x)


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ScoreLaw(Law):
    """Tango's score statistic, averaged over the effective shares of the items; a single share of 1 is Tango's own.

    Under six clusters t on G - 1 degrees of freedom takes the place of the normal law (``df`` is infinite for the latter): all of
    them may side with one system by chance more than one time in twenty, which looks like no clustering at all.
    """

    b: FloatArray
    c: FloatArray
    n: FloatArray
    share: FloatArray
    weight: FloatArray
    df: FloatArray

    @classmethod
    def join(cls, laws: Sequence[ScoreLaw]) -> ScoreLaw:
        """The laws of several lots of pairs as one; shares without weight fill up the shorter ones."""
        width, padded = max(law.share.shape[1] for law in laws), []
        for law in laws:
            more = ((0, 0), (0, width - law.share.shape[1]))
            share, weight = np.pad(law.share, more, constant_values=1.0), np.pad(law.weight, more)
            padded.append(dataclasses.replace(law, share=share, weight=weight))
        return joined(padded)

    @classmethod
    def of(cls, t: PairTotals, posterior: PairPosterior | None) -> ScoreLaw:
        """The law of the totals."""
        one = np.ones((len(t.total), 1))
        share, weight, mean, df = one, one, one[:, 0], np.inf
        if posterior is not None:
            share, weight, mean = posterior.share, posterior.weight, posterior.mean_share
            df = score_df(t.n_clusters)
        full = np.ones(len(t.total))
        worth = t.worth
        variance = (t.square / t.mass - t.mean**2) / (worth * mean)
        error = np.sqrt(np.where(variance > 0, variance, np.nan))
        # Under weights the items that differ count by their share of what all are worth.
        b, c = t.only_a, t.only_b
        if t.weights is not None:
            b, c = worth * (b / t.mass), worth * (c / t.mass)
        return cls(std_error=error, b=b, c=c, n=worth, share=share, weight=weight, df=df * full)

    def negated(self) -> ScoreLaw:
        """The law with the systems exchanged."""
        return dataclasses.replace(self, b=self.c, c=self.b)

    def log_tail(self, null: float) -> FloatArray:
        """Log of the averaged normal tail."""
        z = tango_z(self.b, self.c, self.n, null)[:, None] * np.sqrt(self.share)
        with np.errstate(divide="ignore"):
            part = _log_upper(z, self.df) + np.log(self.weight)
        top = np.maximum(part.max(axis=1), np.finfo(np.float64).min)
        with np.errstate(divide="ignore"):
            return np.asarray(top + np.log(np.exp(part - top[:, None]).sum(axis=1)), dtype=np.float64)

    def critical(self, outside: Level) -> FloatArray:
        """The plain score statistic beyond which the averaged tail is less than ``outside``."""
        return averaged_critical(self.share, self.weight, self.df, outside)

    def limits(self, outside: Level) -> tuple[FloatArray, FloatArray]:
        """Tango's limits at the averaged critical value."""
        if np.max(outside) >= 0.5:
            return self.b / self.n - self.c / self.n, self.b / self.n - self.c / self.n
        return tango_limits(self.b, self.c, self.n, self.critical(outside))


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class PivotLaw(Law):
    """A centre, a standard error, and a t (or, with infinite df, normal) quantile."""

    centre: FloatArray
    df: FloatArray
    bound: float

    def negated(self) -> PivotLaw:
        """The law with the systems exchanged."""
        return dataclasses.replace(self, centre=-self.centre)

    def log_tail(self, null: float) -> FloatArray:
        """Log of the t tail."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (self.centre - null) / self.std_error
        return _log_upper(ratio, self.df)

    def limits(self, outside: Level) -> tuple[FloatArray, FloatArray]:
        """Centre minus and plus the quantile, cut to what a difference can be."""
        half = _quantile(self.df, outside) * self.std_error
        low, high = np.clip([self.centre - half, self.centre + half], -self.bound, self.bound)
        return low, high


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class NewcombeLaw(Law):
    """Newcombe's square-and-add of two Wilson limits, with the correlation of the systems (his method 10)."""

    first: FloatArray  # passes of the first system, by pair
    second: FloatArray
    n: FloatArray
    phi: FloatArray

    @classmethod
    def of(cls, t: PairTotals, both: FloatArray) -> NewcombeLaw:
        """The law of the totals, of which it needs the items that both passed, too."""
        n, first, second = np.full(len(t.total), float(t.n)), both + t.only_a, both + t.only_b
        cross = both * (n - both - t.only_a - t.only_b) - t.only_a * t.only_b
        scale = np.sqrt(first * (n - first) * second * (n - second))
        # A positive cross product is taken n/2 nearer to 0, but not beyond.
        corrected = np.where(cross > 0, np.maximum(cross - n / 2, 0.0), cross)
        with np.errstate(divide="ignore", invalid="ignore"):
            phi = np.where(scale > 0, corrected / scale, 0.0)
        variance = (t.square / n - t.mean**2) / n
        error = np.sqrt(np.where(variance > 0, variance, np.nan))
        return cls(std_error=error, first=first, second=second, n=n, phi=phi)

    def negated(self) -> NewcombeLaw:
        """The law with the systems exchanged."""
        return dataclasses.replace(self, first=self.second, second=self.first)

    def _lower(self, z: FloatArray) -> FloatArray:
        p1, p2 = self.first / self.n, self.second / self.n
        down, up = p1 - wilson_limits(p1, self.n, z)[0], wilson_limits(p2, self.n, z)[1] - p2
        return np.asarray(p1 - p2 - np.sqrt(np.maximum(down**2 - 2 * self.phi * down * up + up**2, 0.0)))

    def limits(self, outside: Level) -> tuple[FloatArray, FloatArray]:
        """Both limits."""
        z = np.asarray(-special.ndtri(np.broadcast_to(outside, self.first.shape)))
        return self._lower(z), -self.negated()._lower(z)

    def log_tail(self, null: float) -> FloatArray:
        """Log of the tail at which the limit nearer to the null just reaches it."""
        difference = (self.first - self.second) / self.n
        z, other = self._reach(null), self.negated()._reach(-null)
        normal = np.full(z.shape, np.inf)
        out = np.where(difference > null, _log_upper(z, normal), np.log(0.5))
        return np.where(difference < null, _log_upper(-other, normal), out)

    def _reach(self, null: float) -> FloatArray:
        """The z at which the lower limit is the null, by bisection: it falls as z grows."""
        low, high = np.zeros(self.first.shape), np.full(self.first.shape, _FAR)
        for _ in range(60):
            middle = (low + high) / 2
            above = self._lower(middle) > null
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return low


def _order_statistics(rows: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """The values of a rank from 1, from below and from above, in each row: only the tails that hold them are put in order."""
    some = rows[:, ::32]
    reach = -float(special.ndtri(min(1.25 * rank / rows.shape[1] + 0.01, 0.5))) * some.std(axis=1)
    centre = some.mean(axis=1)
    low, high = np.empty(len(rows)), np.empty(len(rows))
    for k, (row, left, right) in enumerate(zip(rows, centre - reach, centre + reach, strict=True)):
        below, above = row[row <= left], row[row >= right]
        low[k] = np.partition(below if len(below) >= rank else row, rank - 1)[rank - 1]
        high[k] = np.partition(above if len(above) >= rank else row, -rank)[-rank]
    return low, high


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ReplicateLaw(Law):
    """Bootstrap replicates of the difference, shape (P, B)."""

    replicates: FloatArray
    bound: float

    def negated(self) -> ReplicateLaw:
        """The law with the systems exchanged."""
        return dataclasses.replace(self, replicates=-self.replicates)

    def _rank(self, outside: Level) -> int:
        """Rank from 1 of the lower limit, 0 if it lies beyond all replicates; an interpolated quantile would not go with p."""
        # The pairs of a lot share their level.
        return int(float(np.max(outside)) * (self.replicates.shape[1] + 1) + 1e-9)

    def resolves(self, outside: Level) -> bool:
        """Whether there are replicates enough to see so far out."""
        return self._rank(outside) > 0

    def limits(self, outside: Level) -> tuple[FloatArray, FloatArray]:
        """The order statistics at which the p-value is just ``outside``."""
        rank = self._rank(outside)
        if not rank:
            raise MethodError(
                f"n_resamples={self.replicates.shape[1]} cannot tell limits that leave {np.max(outside):.2g} on either side. At "
                f"least n_resamples={int(np.ceil(1 / np.max(outside)))} are needed; or use the default method, which draws nothing."
            )
        low, high = _order_statistics(self.replicates, rank)
        return np.clip(low, -self.bound, self.bound), np.clip(high, -self.bound, self.bound)

    def log_tail(self, null: float) -> FloatArray:
        """Share of the replicates at or below the null; the estimate itself counts as one, so it is never 0."""
        rounding = 1e-12 * np.maximum(np.abs(self.replicates).max(axis=1, keepdims=True), abs(null))
        beyond = (self.replicates <= null + rounding).sum(axis=1)
        return np.asarray(np.log((1 + beyond) / (1 + self.replicates.shape[1])))


def cr_law(t: PairTotals, kind: str, found: PairVariance | None = None) -> tuple[PivotLaw, BoolArray]:
    r"""A t law on a cluster-robust variance of the mean difference, and where that was zero.

    ``"cr2"`` uses Bell and McCaffrey's degrees of freedom, the others G - 1. Where no difference varies, one pseudo-difference
    of the full span each way stands in: :math:`v_0 = 2/(n+2)` spans squared, on the effective number of clusters (with weights
    n is the effective number of items).
    """
    found = pair_variance(t, kind) if found is None else found
    # What the rounding of the scores themselves could make.
    flat = found.value <= (8 * np.finfo(np.float64).eps * t.scale) ** 2
    spare = 2 * t.span**2 / (t.effective_items + 2) / t.effective_clusters
    error = np.sqrt(np.where(flat, np.where(spare > 0, spare, np.nan), found.value))
    bound = 1.0 if t.bounded else np.inf
    return PivotLaw(std_error=error, centre=t.mean, df=np.full(len(t.total), found.df), bound=bound), flat


def adjusted_wald(t: PairTotals, pseudo: float) -> PivotLaw:
    """Wald's interval with pseudo-items: Bonett and Price add 1 to each discordant count, Agresti and Min .5 to all cells."""
    n = t.n + 2.0
    b, c = t.only_a + pseudo, t.only_b + pseudo
    centre = (b - c) / n
    error = np.sqrt(np.maximum((b + c) / n - centre**2, 0.0) / n)
    return PivotLaw(std_error=error, centre=centre, df=np.full(len(centre), np.inf), bound=1.0)


# Tango's score statistic for the difference of two paired proportions, and its limits.
#
# With :math:`b` and :math:`c` the items that only one of the two passed, of :math:`n`, the score statistic for a difference
# :math:`\delta` is :math:`z(\delta) = (b - c - n\delta) / \sqrt{n(2\tilde p_{21} + \delta(1-\delta))}`, where
# :math:`\tilde p_{21}` is the restricted maximum likelihood estimate, the larger root of a quadratic. At
# :math:`\delta = 0` it is McNemar's :math:`(b-c)/\sqrt{b+c}`. Scaling all counts by f multiplies it by :math:`\sqrt f`, which is
# all that an effective number of items does to it.

_END = 1 - 1e-12


def tango_z(b: FloatArray, c: FloatArray, n: FloatArray | float, delta: FloatArray | float) -> FloatArray:
    """Score statistic for the difference ``delta``, by pair; 0 where the data are as expected and do not vary."""
    b, c, n, delta = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (b, c, n, delta)))
    linear = (2 * n - b + c) * delta - b - c
    root = np.sqrt(np.maximum(linear**2 + 8 * n * c * delta * (1 - delta), 0.0))
    # The larger root, written so that nothing cancels.
    with np.errstate(divide="ignore", invalid="ignore"):
        p21 = np.where(linear > 0, 2 * c * delta * (1 - delta) / (root + linear), (root - linear) / (4 * n))
    p21 = np.where((linear > 0) & (root + linear == 0), 0.0, p21)
    variance = n * (2 * p21 + delta * (1 - delta))
    excess = b - c - n * delta
    with np.errstate(divide="ignore", invalid="ignore"):
        z = excess / np.sqrt(np.maximum(variance, 0.0))
    # Without variance any deviation is infinitely far off, and none is no deviation.
    sure = np.where(np.abs(excess) < 1e-12 * n, 0.0, np.copysign(np.inf, excess))
    return np.where(variance > 1e-14 * n, z, sure)


def _upper(b: FloatArray, c: FloatArray, n: FloatArray, z: FloatArray) -> FloatArray:
    """The difference at which the score statistic is -z."""
    from scipy.optimize import elementwise

    difference = (b - c) / n
    open_end = tango_z(b, c, n, np.full(len(b), _END)) > -z
    todo = np.flatnonzero(~open_end & (difference < _END))
    high = np.ones(len(b))
    if not len(todo):
        return high

    def excess(delta: FloatArray, i: FloatArray) -> FloatArray:
        at = i.astype(np.int64)
        return np.maximum(tango_z(b[at], c[at], n[at], delta), -1e6) + z[at]

    ends, index = (difference[todo], np.full(len(todo), _END)), todo.astype(np.float64)
    found = elementwise.find_root(excess, ends, args=(index,), tolerances={"xatol": 1e-14, "xrtol": 1e-14})
    high[todo] = found.x
    return high


def tango_limits(
    b: FloatArray, c: FloatArray, n: FloatArray | float, z: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Both limits at the critical value ``z``, which may differ between the pairs."""
    critical = np.broadcast_to(np.asarray(z, dtype=np.float64), b.shape)
    items = np.broadcast_to(np.asarray(n, dtype=np.float64), b.shape)
    return -_upper(c, b, items, critical), _upper(b, c, items, critical)
