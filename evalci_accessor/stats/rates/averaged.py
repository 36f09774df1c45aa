r"""The default interval: Clopper-Pearson averaged over the posterior of the ICC."""

from __future__ import annotations

import dataclasses

import numpy as np

from evalci_accessor.stats import special
from evalci_accessor.stats.progress import progress
from evalci_accessor.stats.rates.limits import beta_limits, squared_ratio
from evalci_accessor.stats.rates.moments import Moments, Spread, rare_outcomes, rounded_sums
from evalci_accessor.stats.rates.posterior import N_NODES, IccPosterior, posterior_of
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray

_NOISE = 1e-12
_ALONE = 1e-9
_CHUNK = 2**14  # groups whose limits are found together
_GUARD_DF, _GUARD_RATIO, _GUARD_TAIL = 8.0, 1.3, 0.02


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class AveragedPosterior:
    """ICC posterior of every group on common-length nodes, and what follows from it."""

    single: tuple[IccPosterior | None, ...]  # each group's own; None without scores
    # rho, weight (H, R): nodes and their probabilities; padded with weight 0
    rho: FloatArray
    weight: FloatArray
    # (H,): quasi-counts per score: 1 for 0/1 scores, more for fractional ones, which vary less than 0/1 scores would
    inflation: FloatArray
    n_k: FloatArray  # (H, R): effective sample size at each node
    effective_size: FloatArray  # (H,): scores per effective cluster, M / G*

    def item_icc(self, rho: FloatArray) -> FloatArray:
        r"""ICC of the scores at an ICC of the quasi-counts, shape (H, R) as ``rho``.

        The one with the same design effect: :math:`1 + (m^* - 1)\rho_y = 1 + (\phi m^* - 1)\rho` with :math:`m^* = M/G^*`, at most
        1. For 0/1 scores it is :math:`\rho`, as where each cluster holds one score, which tell of neither.
        """
        phi, size = self.inflation[:, None], self.effective_size[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where((phi > 1) & (size > 1 + _ALONE), (phi * size - 1) / (size - 1), 1.0)
        return np.minimum(times * rho, 1.0)

    @property
    def quasi_icc(self) -> FloatArray:
        """Posterior mean of the ICC of the quasi-counts, by group."""
        return np.asarray((self.weight * self.rho).sum(axis=1))

    @property
    def icc(self) -> FloatArray:
        """Posterior mean of the ICC of the scores, by group."""
        mean: FloatArray = (self.weight * self.item_icc(self.rho)).sum(axis=1)
        return mean

    @property
    def n_eff(self) -> FloatArray:
        """Harmonic mean of the effective sample size, by group."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.reciprocal(np.sum(self.weight / self.n_k, axis=1, dtype=np.float64))

    def quantile(self, probability: float) -> FloatArray:
        """Quantile of the ICC, by group (nan without scores)."""
        out = np.full(len(self.single), np.nan)
        for h, one in enumerate(self.single):
            if one is not None:
                out[h] = one.quantile(probability)
        return self.item_icc(out[:, None])[:, 0]


def quasi_inflation(t: ClusterTotals, mo: Moments) -> FloatArray:
    r"""Quasi-counts per fractional score, :math:`\max(1, (M+1)v/((M-1)s^2 + 2v))` with :math:`v = p(1-p)`; 1 for 0/1."""
    rows = mo.effective_rows
    with np.errstate(divide="ignore", invalid="ignore"):
        v = mo.p * (1 - mo.p)
        squares = (mo.score_variance * (mo.n - 1) / mo.n) * rows  # (M - 1) s^2
        inflation = np.maximum((rows + 1) * v / (squares + 2 * v), 1.0)
    return np.where(t.binary | ~(v > 0), 1.0, inflation)


def is_crowded(t: ClusterTotals, mo: Moments) -> BoolArray:
    """Where fractional scores crowd at one end.

    They say nothing of how often, and in which clusters, the far end occurs: their small spread is no evidence.
    """
    return np.asarray(~t.binary & rare_outcomes(t, mo)[0])


def averaged_posterior(
    t: ClusterTotals, mo: Moments, *, n_nodes: int = N_NODES, crowded: BoolArray | None = None
) -> AveragedPosterior:
    """ICC posterior of each group. Under weights a cluster counts with Kish's size, (sum w)^2 / sum w^2.

    Where fractional scores are ``crowded``, as `is_crowded` has it, the posterior is that of the scores rounded to 0/1, and no
    score counts for more than one.
    """
    crowded = is_crowded(t, mo) if crowded is None else crowded
    inflation, binary = np.where(crowded, 1.0, quasi_inflation(t, mo)), t.binary | crowded
    size = t.m**2 / t.q if t.weighted else t.m
    # In this order a cluster that passes in full keeps s == m to the last bit.
    successes = size * np.where(t.spread(crowded), rounded_sums(t, mo) / t.m, t.s / t.m)
    single: list[IccPosterior | None] = []
    for h in progress(range(t.n_groups), label="intervals", unit="group"):
        part = slice(t.offsets[h], t.offsets[h + 1])
        if part.start == part.stop:
            single.append(None)
            continue
        phi = inflation[h]
        single.append(
            posterior_of(successes[part] * phi, size[part] * phi, mixture=bool(binary[h]), n_nodes=n_nodes)
        )
    width = max((len(one.rho) for one in single if one is not None), default=1)
    rho, weight = np.full((t.n_groups, width), 0.5), np.zeros((t.n_groups, width))
    for h, one in enumerate(single):
        if one is not None:
            rho[h, : len(one.rho)], weight[h, : len(one.rho)] = one.rho, one.weight
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = (inflation * mo.effective_rows)[:, None]
        n_k = rows / (1 + (rows / mo.effective_clusters[:, None] - 1) * rho)
        size = mo.effective_rows / mo.effective_clusters
    return AveragedPosterior(
        single=tuple(single), rho=rho, weight=weight, inflation=inflation, n_k=n_k, effective_size=size
    )


def averaged_limits(
    p: FloatArray, post: AveragedPosterior, outside: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Limits at which the Clopper-Pearson tail, averaged over the nodes, equals ``outside``, one for all or one each."""
    outside = np.broadcast_to(np.asarray(outside, dtype=np.float64), p.shape)
    low, high = np.where(p >= 0, 0.0, np.nan), np.where(p >= 0, 1.0, np.nan)
    for start in range(0, len(p), _CHUNK):
        for limit, target, todo in ((low, outside, p > 0), (high, 1 - outside, p < 1)):
            at = start + np.flatnonzero(todo[start : start + _CHUNK])
            if len(at):
                limit[at] = _solve(p, post, at, target[at], upper=limit is high)
    # Below the tolerance of the search there is no digit left.
    return np.where(low < _NOISE, 0.0, low), np.where(high > 1 - _NOISE, 1.0, high)


def _solve(
    p: FloatArray, post: AveragedPosterior, at: IntArray, target: FloatArray, *, upper: bool
) -> FloatArray:
    from scipy.optimize import elementwise

    up = float(upper)
    a = p[at, None] * post.n_k[at] + up
    b = (1 - p[at, None]) * post.n_k[at] + (1 - up)
    weight = post.weight[at]

    def excess(x: FloatArray, i: np.ndarray) -> FloatArray:
        below: FloatArray = (weight[i] * special.betainc(a[i], b[i], x[:, None])).sum(axis=1) - target[i]
        return below

    ends = (np.zeros(len(at)), np.ones(len(at)))
    answer = elementwise.find_root(
        excess, ends, args=(np.arange(len(at)),), tolerances={"xatol": 1e-14, "xrtol": 1e-13}
    )
    return np.asarray(answer.x)


def icc_averaged(
    mo: Moments, spread: Spread, outside: FloatArray, post: AveragedPosterior
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Limits, and the variance and degrees of freedom of the guard, nan where it did not fire.

    It widens to Korn-Graubard on CR2 where the data vary by more than the model can.
    """
    low, high = averaged_limits(mo.p, post, outside)
    variance, df = np.full(len(mo.p), np.nan), np.full(len(mo.p), np.nan)
    for check in spread.checks(post.n_eff):
        with np.errstate(divide="ignore", invalid="ignore"):
            # With few degrees of freedom CR2 scatters, and only a ratio that its own law makes unlikely counts.
            unlikely = special.chdtri(check.df, _GUARD_TAIL) / check.df
            ratio = np.where(check.df >= _GUARD_DF, _GUARD_RATIO, np.maximum(_GUARD_RATIO, unlikely))
            fires = (mo.p > 0) & (mo.p < 1) & (check.variance > ratio * mo.p * (1 - mo.p) / check.n_eff)
        if fires.any():
            p, rows = mo.p[fires], (post.inflation * mo.effective_rows)[fires]
            t_quantile = special.stdtrit(check.df[fires], outside[fires])
            shrink = squared_ratio(special.ndtri(outside[fires]), t_quantile)
            n = np.minimum(rows, p * (1 - p) / check.variance[fires] * shrink)
            wide = beta_limits(p, n, outside[fires])
            low[fires], high[fires] = np.minimum(low[fires], wide[0]), np.maximum(high[fires], wide[1])
        largest = fires & ~(check.variance <= variance)
        variance[largest], df[largest] = check.variance[largest], check.df[largest]
    return low, high, variance, df
