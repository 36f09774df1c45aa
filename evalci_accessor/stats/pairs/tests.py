"""Do two systems differ on the same items? McNemar's test, its kin for items in clusters, and the sign-flip test."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from evalci_accessor.exceptions import ClusterError, MethodError, ScoreError, WeightError
from evalci_accessor.options import Alternative, PairTestMethod
from evalci_accessor.stats import special
from evalci_accessor.stats.methods import MCNEMAR
from evalci_accessor.stats.pairs.difference import Prepared, joint_law, pair_totals, prepare
from evalci_accessor.stats.pairs.laws import sided
from evalci_accessor.stats.pairs.matched import PairTotals
from evalci_accessor.stats.pairs.multiplicity import chunks, seeded_chunks
from evalci_accessor.stats.progress import progress
from evalci_accessor.stats.rates.bootstrap import seed_sequence
from evalci_accessor.stats.results import PairTestResult
from evalci_accessor.stats.validate import BoolArray, FloatArray, as_float, check_option, check_resamples

_EQUAL = "equal rates"


def mcnemar(
    only_a: object,
    only_b: object,
    size: object = None,
    *,
    cells: object = None,
    method: PairTestMethod = "auto",
    alternative: Alternative = "two-sided",
    n_resamples: int = 9999,
    rng: object = None,
) -> PairTestResult:
    r"""Test whether two systems pass the same items equally often, from the items on which they disagree.

    Parameters
    ----------
    only_a, only_b : array_like, shape (..., G), or (...) without clusters
        Items that only the first, and only the second system passed.
    size : array_like, shape (G,), optional
        Items in each cluster; without it each item stands for itself.
    cells : array_like, shape (4, ..., G), optional
        Items that both, only the first, only the second, and neither passed, by cluster; only ``"eliasziw"`` looks at it.
    method : str, default "auto"
        Without clusters ``"exact"`` (the default), ``"midp"``, ``"asymptotic"``, ``"corrected"``. With clusters ``"icc_averaged"``
        (the default), ``"obuchowski"``, ``"durkalski"``, ``"yang"``, ``"eliasziw"``, ``"sign_flip"``.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"``: the first system passes more.
    n_resamples : int, default 9999
        Sign flips of ``"sign_flip"`` where all are too many.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Randomness of these.

    Returns
    -------
    PairTestResult

    Raises
    ------
    ClusterError
        A single cluster.
    MethodError
        An unknown option, or a method that does not fit.
    ScoreError
        Counts that cannot be.

    Notes
    -----
    With :math:`b` and :math:`c` the discordant items: exact, :math:`b` is binomial with :math:`b + c` trials and probability
    1/2, and the two-sided p is twice the smaller tail, at most 1; mid-p, half the probability of the observed count less in each
    tail; asymptotic, :math:`(b-c)^2/(b+c)`; corrected, :math:`(|b-c|-1)^2/(b+c)`. They assume independent items.

    With :math:`d_g = b_g - c_g` over the clusters: Obuchowski's chi-square is
    :math:`\frac{K-1}{K} (\sum d_g)^2 / \sum d_g^2`, Durkalski's :math:`(\sum d_g/m_g)^2 / \sum (d_g/m_g)^2` (which weighs
    clusters equally, another estimand), Yang's has :math:`\frac12 \sum [(d_g - m_g \hat d)^2 + d_g^2]` in place of Obuchowski's
    sum, and Eliasziw and Donner's divides McNemar's by an inflation from an ICC (here as clust.bin.pair has it, with a negative
    ICC taken as 0).
    Where no item is discordant p is 1 under every method.

    References
    ----------
    Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary matched-pairs data. BMC Medical Research
    Methodology 13, 91. https://doi.org/10.1186/1471-2288-13-91

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> round(float(stats.mcnemar(40, 25).pvalue), 4)
    0.0817
    >>> clustered = stats.mcnemar([3, 0, 2, 1], [0, 1, 0, 0], [5, 5, 5, 5])
    >>> clustered.method, round(float(clustered.pvalue), 2)
    ('icc_averaged', 0.27)
    """
    b, c = as_float(only_a, "only_a"), as_float(only_b, "only_b")
    clustered = size is not None
    # Without clusters only the discordant items matter.
    m = as_float(size, "size") if clustered else np.asarray(b.max(initial=0.0) + c.max(initial=0.0))
    if clustered and m.ndim != 1:
        raise ScoreError(f"`size` must have one number for each cluster; it has shape {m.shape}.")
    t, shape = pair_totals(b, c, m)
    if cells is not None:
        t = dataclasses.replace(t, cells=_checked_cells(as_float(cells, "cells"), b, c, m)[..., m > 0])
    ran = resolve_test_method(method, clustered=clustered)
    seed = seed_sequence(rng)
    return pair_test(t, ran, alternative=alternative, n_resamples=n_resamples, seed=seed).shaped(shape)


def _checked_cells(cells: FloatArray, b: FloatArray, c: FloatArray, m: FloatArray) -> FloatArray:
    """The four cells of each pair and cluster, shape (4, P, G), which must add up."""
    b, c = np.broadcast_arrays(b, c)
    if cells.shape != (4, *b.shape) or not m.ndim:
        raise ScoreError(f"`cells` has shape {cells.shape}; it must be {(4, *b.shape)}, with `size` given.")
    if (cells < 0).any() or (cells[1] != b).any() or (cells[2] != c).any() or (cells.sum(axis=0) != m).any():
        raise ScoreError(
            "`cells` must hold `only_a` and `only_b` in its second and third place, and add up to `size`."
        )
    return cells.reshape(4, -1, len(m))


def resolve_test_method(
    method: PairTestMethod, *, clustered: bool, weighted: bool = False, crossed: bool = False
) -> str:
    """The test that runs: ``"auto"`` is told by whether there are clusters, and weights."""
    check_option(method, PairTestMethod, "method")
    if method == "auto":
        return "icc_averaged" if clustered else "asymptotic" if weighted else "exact"
    needs = MCNEMAR[method]
    if clustered and "independent" in needs:
        raise MethodError(
            f"method={method!r} takes the items as independent, so the clusters would be ignored. Leave method out for the "
            "test that allows for them, or leave out cluster= if the items really are independent."
        )
    if not clustered and "clusters" in needs:
        without = "use 'asymptotic'" if weighted else "use 'exact' or 'midp'"
        raise MethodError(f"method={method!r} needs cluster=, what the items share. Without one, {without}.")
    if crossed and "single" in needs:
        raise MethodError(
            f"method={method!r} is for one clustering, so the others would be ignored. With crossed clusterings mcnemar takes "
            "'icc_averaged', its default; leave method out, or name one clustering."
        )
    if weighted and "counts" in needs:
        ways = "without clusters mcnemar takes 'asymptotic' (the default)"
        if clustered:
            ways = "clusters mcnemar takes 'icc_averaged' (the default), 'obuchowski', 'durkalski', 'yang' and 'sign_flip'"
        raise WeightError(
            f"method={method!r} counts items, and weighted ones have no count. With weights and {ways}; leave method out, or leave "
            "out weights=."
        )
    return str(method)


def pair_test(
    t: PairTotals, method: str, *, alternative: Alternative, n_resamples: int, seed: np.random.SeedSequence
) -> PairTestResult:
    """`mcnemar` on ready totals, by a resolved method."""
    check_option(alternative, Alternative, "alternative")
    check_resamples(n_resamples)
    if "clusters" in MCNEMAR[method] and t.n_clusters < 2:
        raise ClusterError(
            "All items lie in a single cluster, from which no error between clusters can be told."
        )
    if method == "icc_averaged":
        return score_test([prepare(t, method)], alternative)
    null = _EQUAL
    if method == "sign_flip":
        null, statistic = "exchangeable systems", t.mean
        pvalue = sign_flip(t, alternative, n_resamples, seed)
    elif method in ("exact", "midp"):
        statistic, tails = t.only_a, binomial_tails(t.only_a, t.only_b, half=method == "midp")
        pvalue = sided(*tails, alternative)
    else:
        root = _signed_root(t, method)
        statistic, pvalue = root**2, sided(special.ndtr(-root), special.ndtr(root), alternative)
    pvalue = np.where(t.square == 0, 1.0, pvalue)
    return PairTestResult(
        statistic=statistic, pvalue=pvalue, null=null, method=method, alternative=alternative
    )


def score_test(lots: Sequence[Prepared], alternative: Alternative) -> PairTestResult:
    """The ICC-averaged score test of all pairs of several lots."""
    law = joint_law(lots)
    equal = np.concatenate([lot.totals.square == 0 for lot in lots])
    pvalue = np.where(equal, 1.0, sided(*law.tails(0.0), alternative))
    kind = {"null": _EQUAL, "method": "icc_averaged", "alternative": alternative}
    return PairTestResult(statistic=law.score(), pvalue=pvalue, **kind)


def binomial_tails(only_a: FloatArray, only_b: FloatArray, *, half: bool) -> tuple[FloatArray, FloatArray]:
    """Upper and lower tail of the law of the first's share of the discordant items, a fair coin each; 1 where there is none.

    Mid-p counts half of the observed count's probability.
    """
    b, c = np.asarray(only_a, dtype=np.float64), np.asarray(only_b, dtype=np.float64)
    n = b + c
    with np.errstate(invalid="ignore"):
        # P(X >= b) is P(X <= c) by symmetry.
        greater, less = (np.asarray(special.betainc(n - x, x + 1, 0.5)) for x in (c, b))
    greater, less = np.where(b == 0, 1.0, greater), np.where(c == 0, 1.0, less)
    if half:
        logs = special.gammaln(n + 1) - special.gammaln(b + 1) - special.gammaln(c + 1)
        point = np.exp(logs - n * np.log(2))
        greater, less = (np.where(n > 0, side - point / 2, 1.0) for side in (greater, less))
    return greater, less


def _signed_root(t: PairTotals, method: str) -> FloatArray:
    """The root of a chi-square, with the sign of the difference; 0 where nothing varies."""
    d, excess = t.d, t.total
    if method in ("asymptotic", "corrected"):
        variance = t.square if t.weights is None else t.weights.square
        if method == "corrected":
            excess = np.sign(excess) * np.maximum(np.abs(excess) - 1, 0.0)
    elif method == "eliasziw":
        variance = t.square * _eliasziw_inflation(t)
    else:
        assert d is not None
        assert t.size is not None
        clusters, variance = len(t.size), (d**2).sum(axis=1)
        if method == "yang":
            variance = (variance + ((d - t.mean[:, None] * t.size) ** 2).sum(axis=1)) / 2
        variance = variance * clusters / (clusters - 1)
        if method == "durkalski":
            rate = d / t.size
            excess, variance = rate.sum(axis=1), (rate**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        root: FloatArray = np.where(variance > 0, excess / np.sqrt(variance), 0.0)
    return root


def _eliasziw_inflation(t: PairTotals) -> FloatArray:
    """Variance inflation from the ICC of the four cells, as clust.bin.pair computes it."""
    if t.cells is None:
        raise MethodError("method='eliasziw' needs the four cells of each cluster: pass `cells`.")
    m, cells = np.asarray(t.size), t.cells
    clusters, mean_size = len(m), t.n / len(m)
    n0 = mean_size - ((m - mean_size) ** 2).sum() / (clusters * (clusters - 1) * mean_size)
    rate = cells.sum(axis=2) / t.n
    between = ((cells - rate[..., None] * m) ** 2 / m).sum(axis=(0, 2)) / clusters
    discordant = cells[1] + cells[2]
    holding = (discordant > 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (cells * (m - cells) / m).sum(axis=(0, 2)) / (clusters * (mean_size - 1))
        rho = (between - within) / (between + (n0 - 1) * within)
        rho = np.where(rho > 0, rho, 0.0)
        rho = np.where(rho > 0, 1 / (1 + (rate[1] + rate[2]) * (1 - rho) / rho), 0.0)
        mean = t.square / holding
        spread = (discordant**2).sum(axis=1) - holding * mean**2
        base = mean - np.where(holding > 1, spread / (holding * (holding - 1) * mean), 0.0)
        inflation = 1 + (base + holding * (mean - base) - 1) * rho
    return np.where(t.square > 0, inflation, 1.0)


# The cluster sign-flip test: a randomisation test of exchangeable systems.
#
# If the labels of the two systems mean nothing, exchanging them within a cluster leaves the law of the data as it is, so the
# observed sum of differences is one of :math:`2^G` equally likely sums :math:`\sum \pm d_g`. With whole numbers the law of the
# sum is a convolution, which is exact for far more clusters than could be enumerated. Weighted sums are whole numbers of some
# unit only where the weights are.

_ENUMERATED = 20  # clusters whose sign flips can always be gone through
_WORK = 2**24  # additions up to which a pair's exact law is worth its time
_ROUNDING = 1e-12  # share of the largest difference of a cluster below which one is none
_TIE = 1e-9  # share of the largest possible sum by which rounding may part equal sums
_BLOCK, _CELLS = 256, 2**20  # flips that share a child seed, and signs drawn at a time: part of the result


def sign_flip(
    t: PairTotals, alternative: Alternative, n_resamples: int, seed: np.random.SeedSequence
) -> FloatArray:
    """P-value of each pair: exact where its law is affordable, else from ``n_resamples`` random flips."""
    assert t.d is not None
    out = np.ones(len(t.d))
    for k in progress(range(len(t.d)), label="sign flips", unit="pair"):
        size = np.sort(np.abs(t.d[k]))
        d = size[size > _ROUNDING * size.max(initial=0.0)]  # weights that cancel leave a last bit
        d, observed, whole = _whole(d, float(t.total[k]))
        if not len(d):
            continue
        reach = d.sum()
        flips = _Flips(d, observed, alternative, 0.0 if whole else _TIE * reach)
        if len(d) <= _ENUMERATED and (not whole or 2 ** len(d) < reach):
            upper = flips.enumerated()
        elif whole and (len(d) <= _ENUMERATED or len(d) * reach <= _WORK):
            upper = flips.convolved()
        else:
            upper = flips.drawn(n_resamples, seed)
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


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class _Flips:
    """The law of the sum of +-d, and its tail from the observed sum on."""

    d: FloatArray
    observed: float
    alternative: Alternative
    tie: float

    def beyond(self, sums: np.ndarray) -> BoolArray:
        """Which sums are at least as far out as the observed one, or nearer to it than ``tie``."""
        if self.alternative == "two-sided":
            return np.asarray(np.abs(sums) >= abs(self.observed) - self.tie)
        if self.alternative == "greater":
            return np.asarray(sums >= self.observed - self.tie)
        return np.asarray(sums <= self.observed + self.tie)

    def enumerated(self) -> float:
        """The tail by going through all sums: few clusters whose differences are large."""
        sums = np.zeros(1)
        for step in self.d:
            sums = np.concatenate([sums + step, sums - step])
        return float(self.beyond(sums).mean())

    def convolved(self) -> float:
        """The same of whole numbers by one convolution a cluster."""
        steps = self.d.astype(np.int64)
        reach = int(steps.sum())
        law = np.zeros(2 * reach + 1)
        law[reach] = 1.0
        for step in steps:
            shifted = np.zeros_like(law)
            shifted[step:] += law[:-step]
            shifted[:-step] += law[step:]
            law = shifted / 2
        return float(law[self.beyond(np.arange(-reach, reach + 1))].sum())

    def drawn(self, n_resamples: int, seed: np.random.SeedSequence) -> float:
        """Share of random flips that reach the observed sum, which itself counts as one (Phipson and Smyth 2010)."""
        reached, step = 0, max(_CELLS // len(self.d), 1)  # rows at a time, so that their flips stay small
        for part, generator in seeded_chunks(n_resamples, _BLOCK, seed):
            for rows in chunks(part.stop - part.start, step):
                size = (rows.stop - rows.start, len(self.d))
                flips = generator.integers(0, 2, size=size, dtype=np.int8)
                reached += int(self.beyond(2 * (flips @ self.d) - self.d.sum()).sum())
        return (1 + reached) / (1 + n_resamples)
