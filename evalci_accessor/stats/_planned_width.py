"""How wide the interval of one rate, or of one mean score, will be on a design that does not exist yet: the engine.

A rate: samples of the design are drawn and the real interval is found for each. The mean of their widths would still be noisy, so
it is adjusted by regression on two quantities whose means are known exactly (control variates): p(1 - p) of the sample and its
variance between clusters. They explain nine tenths and more of the variance of the width. Equal seeds give equal draws of the
first clusters, whatever their number, so that two designs differ by the design alone.

A mean on an open scale: the CR2 variance of normal cluster means, from the quasi-random draws of `_planned_power`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from evalci_accessor.stats._draws import cluster_rates, item_rates
from evalci_accessor.stats._plan_design import Parts, Pattern
from evalci_accessor.stats._planned_power import Sums, robust_quantile
from evalci_accessor.stats._validate import FloatArray
from evalci_accessor.stats.clustered import rate as rate_ci
from evalci_accessor.stats.totals import ClusterTotals

_PLENTY = 40  # clusters from which on a width scatters so little that fewer samples are enough
_FEWEST = 25
_LIMIT_SIMS = 50
_LARGE = 1000  # items of a cluster from which on they are drawn as a whole
_CONSTANT = 1e-9
_OUTLYING = 30.0  # kurtosis
Answer = tuple[float, float, float]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rates:
    """A law of 0/1 scores in clusters, and how they are looked at."""

    pattern: Pattern
    rate: float
    icc: float
    item_icc: float
    n_samples: int
    method: str
    level: float
    n_sims: int
    seeds: Sequence[np.random.SeedSequence]

    @property
    def parts(self) -> Parts:
        """Parts of the variance of an item's value."""
        return Parts.of(self.rate * (1 - self.rate), self.icc, self.item_icc, self.n_samples)

    def half_width(self, n_clusters: int) -> Answer:
        """Mean, and 5 % and 95 % quantiles, of the half-widths of samples of the design."""
        sizes = self.sizes(n_clusters)
        n_sims = max(self.n_sims >> max(int(np.log2(n_clusters / _PLENTY)), 0), min(self.n_sims, _FEWEST))
        rates, rest = self.rates(n_clusters, n_sims)
        if self.n_samples == 1:
            s = rest.binomial(sizes[:, None], rates)
            return self.answer(sizes, s, s)
        sums, squares = np.empty((2, *rates.shape))
        large = sizes > _LARGE
        sums[large], squares[large] = self.many(sizes[large, None], rates[large], rest)
        if not large.all():
            small = sizes[~large]
            shares = item_rates(np.repeat(rates[~large], small, axis=0), self.within, rest)
            value = rest.binomial(self.n_samples, shares) / self.n_samples
            first = np.concatenate([[0], np.cumsum(small)[:-1]])
            sums[~large], squares[~large] = (np.add.reduceat(v, first, axis=0) for v in (value, value**2))
        return self.answer(sizes, sums, squares)

    @property
    def within(self) -> float:
        """Correlation of two samples of an item, given its cluster."""
        return (self.item_icc - self.icc) / (1 - self.icc) if self.icc < 1 else 1.0

    @property
    def share(self) -> float:
        """Variance of an item's value over that of a single score, given its cluster."""
        return self.within + (1 - self.within) / self.n_samples

    def many(self, size: np.ndarray, rates: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Sums of the values of so many items that they need not be drawn one by one, and of their squares.

        The sum is that of as many independent scores as have its variance: exact where the samples of an item all agree, and
        where they are independent. The squares are at their mean.
        """
        scores = np.round(size / self.share).astype(np.int64)
        return self.sums(rng.binomial(scores, rates) / scores, size)

    def sums(self, mean: FloatArray, size: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Sums of the values of items with these means, and of their squares."""
        return mean * size, (mean**2 + mean * (1 - mean) * self.share) * size

    def limit(self, n_clusters: int) -> float:
        """Mean half-width as the items grow without bound."""
        # Not 0 without an ICC: the default interval cannot rule out that a cluster now and then passes or fails as a whole.
        sizes = self.sizes(n_clusters, self.pattern.endless(self.parts))
        rates, rest = self.rates(n_clusters, min(self.n_sims, _LIMIT_SIMS))
        if self.n_samples == 1:
            s = rest.binomial(sizes[:, None], rates)
            return self.answer(sizes, s, s)[0]
        # So many items are at their mean, and so are their squares.
        return self.answer(sizes, *self.sums(rates, sizes[:, None]))[0]

    def sizes(self, n_clusters: int, times: float = 1.0) -> np.ndarray:
        """Sizes of the clusters."""
        size, count = self.pattern.counts(n_clusters, times)
        return np.repeat(size, count.astype(np.int64)).astype(np.int64)

    def rates(self, n_clusters: int, n_sims: int) -> tuple[FloatArray, np.random.Generator]:
        """Rates of the clusters, shape (G, n_sims), and the generator of the rest."""
        first, rest = (np.random.default_rng(seed) for seed in self.seeds)
        return cluster_rates(self.icc, self.rate, (n_clusters, n_sims), first), rest

    def answer(self, sizes: np.ndarray, s: np.ndarray, ss: np.ndarray) -> Answer:
        """Of totals of shape (G, n_sims)."""
        t = ClusterTotals.from_sums(s.T, np.broadcast_to(sizes, s.T.shape), ss.T)
        found = rate_ci(t, method=self.method, confidence_level=self.level)  # type: ignore[arg-type]
        half = (found.ci_high - found.ci_low) / 2
        low, high = np.quantile(half, [0.05, 0.95])
        return self.adjusted(sizes, s, half), float(low), float(high)

    def adjusted(self, sizes: np.ndarray, s: np.ndarray, half: FloatArray) -> float:
        """Mean half-width, given the true means of what goes with it."""
        parts, n = self.parts, sizes.sum()
        h = sizes[:, None] / n
        v = parts.between + parts.item / sizes[:, None]  # variance of a cluster mean
        total = (h**2 * v).sum()
        mean = s.sum(axis=0) / n
        spread = self.rate * (1 - self.rate) - total
        known = [mean * (1 - mean) - spread, (h**2 * (s / sizes[:, None] - mean) ** 2).sum(axis=0)]
        known[1] = known[1] - (h**2 * (v * (1 - 2 * h) + total)).sum()
        columns = [k / k.std() for k in known if k.std() > _CONSTANT * total]
        # A few samples that differ from all others, as of a rate near 0 or 1, are no ground for a slope.
        columns = [k for k in columns if ((k - k.mean()) ** 4).mean() < _OUTLYING]
        design = np.column_stack([np.ones(len(half)), *columns])
        if len(half) < 4 * design.shape[1]:
            return float(half.mean())
        return float(np.clip(np.linalg.lstsq(design, half, rcond=None)[0][0], half.min(), half.max()))


def open_half_width(parts: Parts, size: FloatArray, count: FloatArray, level: float) -> Answer:
    """Mean and quantiles of the half-width of CR2's t interval."""
    if parts.between + parts.item <= 0:
        return 0.0, 0.0, 0.0
    sums = Sums.draw(size, count, parts, robust=True)
    half = robust_quantile(sums, (1 - level) / 2) * np.sqrt(sums.robust_variance(sums.estimate))
    low, high = np.quantile(half, [0.05, 0.95])
    return float(half.mean()), float(low), float(high)
