r"""What a pilot tells for a plan: a rate or the spread of differences, the intracluster correlation, and the clusters' sizes.

The intracluster correlation (ICC) is the posterior mean, with posterior quantiles as limits. For 0/1 scores the posterior is
the one that the default interval of a rate averages over; for other scores, and for differences, it is that of Gaussian
scores, which the default interval of a difference averages over. It is that of single scores (or of differences of two of
them). What the means of several samples of an item tell is brought there: with :math:`V_1` the variance of a single score,
:math:`W` the mean variance of the samples of an item and :math:`n_i` their number, the item means vary by :math:`V = V_1 - W +
\overline{W_i/n_i}`, the correlation of two samples of an item is :math:`1 - W/V_1`, and an ICC :math:`\rho` of item means is
one of :math:`\rho V/V_1` of single scores.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from evalci_accessor.stats.pairs.matched import PairTotals
from evalci_accessor.stats.pairs.posterior import pair_posterior
from evalci_accessor.stats.rates.averaged import averaged_posterior
from evalci_accessor.stats.rates.moments import moments
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import FloatArray

_NODES = 256  # more than an average over them needs: quantiles are interpolated


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Pilot:
    """What the scores of a pilot, or the differences of two systems in it, tell for a plan."""

    rate: float  # mean score; nan of differences, and of scores beyond [0, 1]
    # Share of the items on which single scores of the two systems disagree (0/1 scores); nan else.
    disagreement: float
    std_dev: float  # standard deviation of a single score, or of a single difference
    # icc, icc_low, icc_high: posterior mean and limits; nan where no clustering was named
    icc: float
    icc_low: float
    icc_high: float
    # Correlation of two samples of an item, by itself: it may come out below `icc`, which in truth it cannot be. nan
    # where no item has two.
    item_icc: float
    n_samples: int  # samples an item (their harmonic mean, rounded)
    sizes: FloatArray  # (G,): items of each cluster; 1 each where no clustering was named
    graded: bool  # whether single scores are others than 0 and 1

    @property
    def varies(self) -> bool:
        """Whether there is any variance to plan with."""
        return self.std_dev > 0


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Repeats:
    """The samples behind the means of items."""

    # Mean variance of an item's value, had it been sampled once and were its true value known: W above.
    single: float
    noise: float  # variance that the samples add to an item's mean, mean over the items
    number: float  # harmonic mean of the numbers of samples

    @classmethod
    def of(cls, variances: FloatArray, counts: FloatArray) -> Repeats | None:
        """From the variance and number of the samples of each item, a column a system; None where no item has two.

        A variance that is not known, of a single sample, counts as the mean of the system's others.
        """
        known = ~np.isnan(variances)
        if not known.any(axis=0).all():
            return None
        mean = np.nansum(variances, axis=0) / known.sum(axis=0)
        filled = np.where(known, variances, mean)
        return cls(
            single=float(filled.sum(axis=1).mean()),
            noise=float((filled / counts).sum(axis=1).mean()),
            number=float(1 / (1 / counts).mean()),
        )


def rate_pilot(
    t: ClusterTotals, outside: float, *, repeats: Repeats | None = None, graded: bool | None = None
) -> Pilot:
    """The pilot of one rate, or mean score, from the totals of one group: of its scores, or of the means of its items.

    ``outside`` is the posterior probability beyond each limit of the ICC; ``graded`` says what single scores are if these are
    means.
    """
    mo = moments(t)
    p, variance = float(mo.p[0]), float(mo.score_variance[0])
    graded = not t.binary[0] if graded is None else graded
    if t.binary[0]:
        post = averaged_posterior(t, mo)
        limits = post.quantile(outside), post.quantile(1 - outside)
        icc, low, high = (float(value[0]) for value in (post.icc, *limits))
    else:
        icc, low, high = _gaussian(_about_mean(t, p), outside)
    found = _of_single(variance, None if graded else p * (1 - p), repeats, (icc, low, high))
    return Pilot(rate=p if t.bounded else np.nan, disagreement=np.nan, sizes=t.m, graded=graded, **found)


def pair_pilot(
    t: PairTotals, outside: float, *, repeats: Repeats | None = None, disagreement: float | None = None
) -> Pilot:
    """The pilot of a pair from the totals of its differences, or of those of the means of its items.

    ``disagreement`` is that of single scores where these are 0 or 1 and the totals are of means.
    """
    if t.binary:
        disagreement = float(t.square[0] / t.n)
    sizes = np.ones(t.n) if t.size is None else t.size
    icc, low, high = (np.nan, np.nan, np.nan) if t.size is None else _gaussian(t, outside)
    variance = float(t.spread[0] / (t.n - 1)) if t.square[0] > 0 else 0.0
    mean = float(t.mean[0])
    binomial = None if disagreement is None else disagreement - mean**2
    found = _of_single(variance, binomial, repeats, (icc, low, high))
    share = np.nan if disagreement is None else disagreement
    return Pilot(rate=np.nan, disagreement=share, sizes=sizes, graded=disagreement is None, **found)


def single_disagreement(a: FloatArray, b: FloatArray) -> float:
    """Share of items on which one sample of the first and one of the second system disagree, from their pass rates by item."""
    return float((a + b - 2 * a * b).mean())


def _of_single(
    variance: float, binomial: float | None, repeats: Repeats | None, icc: tuple[float, float, float]
) -> dict[str, Any]:
    """What a pilot says of single scores.

    ``variance`` and ``icc``, with its limits, are those of item means; ``binomial`` the variance of single scores where their mean
    gives it.
    """
    single = variance if binomial is None else max(binomial, 0.0)
    n_samples, item_icc, ratio = 1, np.nan, 1.0
    if repeats is not None:
        n_samples = max(round(repeats.number), 1)
        single = max(variance - repeats.noise, 0.0) + repeats.single if binomial is None else single
        if single > 0:
            item_icc = float(np.clip(1 - repeats.single / single, 0.0, 1.0))
            ratio = item_icc + repeats.noise / single
    iccs = {name: value * ratio for name, value in zip(("icc", "icc_low", "icc_high"), icc, strict=True)}
    return {"std_dev": float(np.sqrt(single)), "item_icc": item_icc, "n_samples": n_samples, **iccs}


def _about_mean(t: ClusterTotals, p: float) -> PairTotals:
    """Scores on an open scale as deviations from their mean, in the form of differences."""
    d = t.s - p * t.m
    square = np.array([max(float((t.ss - 2 * p * t.s + p**2 * t.m).sum()), 0.0)])
    n, total, one = int(t.n.sum()), np.array([d.sum()]), np.ones(1)
    return PairTotals(
        n, t.m, d[None, :], total, square, square, binary=False, bounded=False, span=one, scale=one
    )


def _gaussian(t: PairTotals, outside: float) -> tuple[float, float, float]:
    """Mean and limits of the Gaussian posterior of the ICC; of the prior where each cluster holds one item."""
    if t.size is not None and (t.size == 1).all():
        return 0.5, float(np.sin(outside * np.pi / 2) ** 2), float(np.cos(outside * np.pi / 2) ** 2)
    post = pair_posterior(t, n_nodes=_NODES)
    return float(post.icc[0]), float(post.quantile(outside)[0]), float(post.quantile(1 - outside)[0])
