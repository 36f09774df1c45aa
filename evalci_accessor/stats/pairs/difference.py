"""The difference of two systems on the same items: interval, p-value, and the verdict against a margin."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evalci_accessor.exceptions import ClusterError, MethodError, ScoreError, ScoreRangeError, WeightError
from evalci_accessor.options import Alternative, Claim, DiffMethod
from evalci_accessor.stats import special, validate
from evalci_accessor.stats.methods import DIFFERENCE, needing
from evalci_accessor.stats.pairs import laws, posterior
from evalci_accessor.stats.pairs.laws import Law, Level, PivotLaw, ReplicateLaw, ScoreLaw
from evalci_accessor.stats.pairs.matched import PairTotals, pair_variance
from evalci_accessor.stats.pairs.posterior import CrossedEvidence, Evidence
from evalci_accessor.stats.rates.bootstrap import check_bootstrap, mean_replicates, seed_sequence
from evalci_accessor.stats.rates.limits import one_sided
from evalci_accessor.stats.results import DifferenceResult
from evalci_accessor.stats.validate import BoolArray, FloatArray, as_float, check_option

RESAMPLED = needing(DIFFERENCE, "resamples")
INDEPENDENT = needing(DIFFERENCE, "independent")
_PSEUDO = {"bonett_price": 1.0, "agresti_min": 0.5}  # items added to each discordant cell


def diff_ci(
    only_a: object,
    only_b: object,
    size: object,
    *,
    both: object = None,
    margin: float | None = None,
    claim: Claim | None = None,
    method: DiffMethod = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: object = None,
) -> DifferenceResult:
    r"""Difference of two pass rates on the same items, in clusters or independent.

    Parameters
    ----------
    only_a, only_b : array_like, shape (..., G), or (...) without clusters
        Items that only the first, and only the second system passed.
    size : array_like, shape (G,), or int without clusters
        Items in each cluster, or their number where each item stands for itself.
    both : array_like, shape (...), optional
        Items that both passed; only ``"newcombe"`` looks at it.
    margin : float, optional
        Margin >= 0 of the claim.
    claim : {"superiority", "noninferiority", "equivalence"}, optional
        What is to be shown of the first system: superiority by more than the margin, a difference above minus the margin, or
        one within the margin both ways. Without a margin superiority, two-sided; with one noninferiority.
    method : str, default "auto"
        ``"icc_averaged"`` with clusters and ``"tango"`` without. Further ``"cr0"`` to ``"cr3"`` and
        ``"bootstrap_percentile"``; without clusters ``"newcombe"``, ``"bonett_price"``, ``"agresti_min"``.
    alternative : {"two-sided", "less", "greater"}
        Side of the interval and of the p-value.
    confidence_level : float, default 0.95
        Nominal level.
    n_resamples : int, default 9999
        Resamples of the bootstrap.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Randomness of the bootstrap.

    Returns
    -------
    DifferenceResult

    Raises
    ------
    ClusterError
        A single cluster.
    MethodError
        An unknown option, a method that does not fit, a margin that cannot be.
    ScoreError
        Counts that cannot be.

    Notes
    -----
    The default is Tango's score statistic :math:`z(\delta)` on the effective number of items, averaged over the posterior
    :math:`w_k` of the ICC of the item differences: the lower limit solves
    :math:`\sum_k w_k \Phi(-\sqrt{f_k} z(\delta)) = \alpha/2` with :math:`f_k = 1/(1 + (n/G^* - 1)\rho_k)`. It assumes that clusters
    are exchangeable draws, and that their sizes say nothing of the difference.

    References
    ----------
    Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the paired-sample design.
    Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> result = stats.diff_ci([[1, 0, 2, 0, 1, 1]], [[0, 0, 0, 0, 0, 0]], [4, 4, 4, 4, 4, 4])
    >>> print(f"{result.difference[0]:.3f} [{result.ci_low[0]:.3f}, {result.ci_high[0]:.3f}], p = {result.pvalue[0]:.3f}")
    0.208 [-0.009, 0.441], p = 0.056
    """
    b, c, m = as_float(only_a, "only_a"), as_float(only_b, "only_b"), as_float(size, "size")
    t, shape = pair_totals(b, c, m)
    replicates = None
    if method == "bootstrap_percentile" and t.n_clusters > 1:
        d, sizes = (t.d, t.size) if t.d is not None and t.size is not None else _as_items(t)
        replicates = mean_replicates(d.T, sizes, validate.check_resamples(n_resamples), seed_sequence(rng)).T
    concordant = None if both is None else _concordant(as_float(both, "both"), t, shape)
    ran = resolve_diff_method(method, binary=True, clustered=t.size is not None)
    asked: Any = {"alternative": alternative, "confidence_level": confidence_level, "margin": margin}
    return infer(t, ran, claim=claim, both=concordant, replicates=replicates, **asked).shaped(shape)


def infer(
    t: PairTotals,
    method: str,
    *,
    margin: float | None,
    claim: Claim | None,
    both: FloatArray | None = None,
    replicates: FloatArray | None = None,
    **options: Any,
) -> DifferenceResult:
    """`diff_ci` on ready totals, by a resolved method; ``options`` are those of `conclude`."""
    width, claimed = resolve_claim(margin, claim, bounded=t.bounded)
    lots = [prepare(t, method, both=both, replicates=replicates)]
    return conclude(lots, method, margin=width, claim=claimed, **options)


def pair_totals(b: FloatArray, c: FloatArray, m: FloatArray) -> tuple[PairTotals, tuple[int, ...]]:
    """Totals of discordant counts of shape (..., G), or (...) without clusters, and the shape of the pairs."""
    try:
        b, c = np.broadcast_arrays(b, c)
    except ValueError as error:
        shapes = f"{b.shape} and {c.shape}"
        raise ScoreError(
            f"`only_a` and `only_b` have shapes {shapes}, which do not fit each other."
        ) from error
    if m.ndim > 1 or (m.ndim and b.shape[-1:] != m.shape):
        raise ScoreError(
            f"`size` has shape {m.shape} and the counts {b.shape}: it must be one number, of items, or one number for each cluster "
            "along the last axis of the counts."
        )
    shape = b.shape[:-1] if m.ndim else b.shape
    flat = (int(np.prod(shape)), *m.shape)
    return PairTotals.from_counts(b.reshape(flat), c.reshape(flat), m), shape


def _concordant(both: FloatArray, t: PairTotals, shape: tuple[int, ...]) -> FloatArray:
    """Items that both passed, one number a pair."""
    try:
        spread = np.broadcast_to(both, shape).ravel()
    except ValueError as error:
        raise ScoreError(
            f"`both` has shape {both.shape}, the pairs {shape}: one number a pair is needed."
        ) from error
    if (spread < 0).any() or (spread != np.round(spread)).any() or (spread + t.square > t.n).any():
        raise ScoreError("`both` must hold whole numbers >= 0 that leave room for the discordant items.")
    return spread


def _as_items(t: PairTotals) -> tuple[FloatArray, FloatArray]:
    """Differences of independent items, one a cluster."""
    place = np.arange(t.n)
    b, c = t.only_a[:, None], t.only_b[:, None]
    return np.where(place < b, 1.0, np.where(place < b + c, -1.0, 0.0)), np.ones(t.n)


def resolve_diff_method(
    method: DiffMethod, *, binary: bool, clustered: bool, weighted: bool = False, crossed: bool = False
) -> str:
    """The method that runs: ``"auto"`` is told by the scores and by whether there are clusters."""
    check_option(method, DiffMethod, "method")
    check_bootstrap(method, crossed=crossed)
    if method == "auto":
        return "cr2" if not binary else "icc_averaged" if clustered else "tango"
    needs = DIFFERENCE[method].needs
    if "binary" in needs and not binary:
        raise ScoreRangeError(
            f"method={method!r} is for scores of 0 and 1, and these hold others (or repeats of an item were averaged). Use "
            "method='cr2', the default for such scores, or 'bootstrap_percentile'."
        )
    if "independent" in needs and clustered:
        raise MethodError(
            f"method={method!r} takes the items as independent, so the clusters would be ignored. Use method='icc_averaged' (the "
            "default with clusters), which is Tango's score interval under clustering, or leave out cluster= if the items really "
            "are independent."
        )
    if "clusters" in needs and not clustered:
        raise MethodError("method='icc_averaged' needs cluster=; without clusters it is method='tango'.")
    if weighted and "counts" in needs:
        raise WeightError(
            f"method={method!r} counts items, and weighted ones have no count. With weights use method='tango' (the default "
            "without clusters, on the effective number of items), 'cr2' or 'bootstrap_percentile'; or leave out weights=."
        )
    return str(method)


def check_tail(confidence_level: float, alternative: Alternative) -> float:
    """Probability outside each limit in use, of which a one-sided one must not lie beyond the estimate."""
    outside = validate.tail(confidence_level, alternative)
    if outside > 0.5:
        raise MethodError(
            f"confidence_level={confidence_level!r} puts the one-sided limit beyond the estimate itself; it must be at least .5."
        )
    return outside


def resolve_claim(margin: float | None, claim: Claim | None, *, bounded: bool) -> tuple[float, Claim]:
    """Margin and claim after the checks."""
    if claim is not None:
        check_option(claim, Claim, "claim")
    if margin is None:
        if claim not in (None, "superiority"):
            raise MethodError(
                f"claim={claim!r} needs margin=, the largest difference that does not matter (in units of the scores)."
            )
        return 0.0, "superiority"
    if not validate.is_number(margin) or not 0 <= margin < np.inf:
        raise MethodError(
            f"margin={margin!r} must be a number >= 0, in units of the scores (.02: two points)."
        )
    if bounded and margin >= 1:
        hint = f" Did you mean {margin / 100:g}?" if margin < 100 else ""
        raise MethodError(f"margin={margin!r} is as wide as the scores, which lie in [0, 1].{hint}")
    if margin == 0 and claim == "equivalence":
        raise MethodError(
            "claim='equivalence' needs a margin above 0: no data can show that two rates are equal to the last digit."
        )
    return float(margin), claim or "noninferiority"


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Prepared:
    """What a method needs of a lot of pairs, so that several lots can be concluded together."""

    totals: PairTotals  # without what lies by cluster
    # The law of the method; of `"icc_averaged"` the evidence of the ICC, by each of crossed clusterings.
    basis: Law | Evidence | CrossedEvidence
    flat: BoolArray  # (P,): where no difference varied
    n_differing: FloatArray  # (P,): clusters in which the systems' sums differ
    # negative, short (P,): where a variance under crossed clusterings is negative, or less than that of one of them, as
    # `PairVariance` has it
    negative: BoolArray
    short: BoolArray

    @property
    def df(self) -> FloatArray:
        """Degrees of freedom of the t quantile, shape (P,); nan under any other law."""
        return self.basis.df if isinstance(self.basis, PivotLaw) else np.full(len(self.flat), np.nan)


def prepare(
    t: PairTotals, method: str, *, both: FloatArray | None = None, replicates: FloatArray | None = None
) -> Prepared:
    """What the method needs of the totals of some pairs."""
    if t.n_clusters < 2:
        raise ClusterError(
            "All items lie in a single cluster, from which no error between clusters can be told."
        )
    flat = negative = short = np.zeros(len(t.total), dtype=bool)
    basis: Law | Evidence | CrossedEvidence
    if method == "icc_averaged":
        basis = Evidence.of(t) if t.crossed is None else posterior.crossed_evidence(t.crossed)
    elif method == "tango":
        basis = ScoreLaw.of(t, None)
    elif method == "newcombe":
        if both is None:
            raise MethodError("method='newcombe' needs the items that both systems passed: pass `both`.")
        basis = laws.NewcombeLaw.of(t, both)
    elif method in _PSEUDO:
        basis = laws.adjusted_wald(t, _PSEUDO[method])
    elif method in RESAMPLED:
        assert replicates is not None
        basis, flat = _replicate_law(t, replicates)
    else:
        variance = pair_variance(t, method)
        basis, flat = laws.cr_law(t, method, variance)
        negative, short = variance.negative, variance.short
    kept, differing = _without_clusters(t), t.n_differing
    return Prepared(kept, basis, flat, differing, negative, short)


def _without_clusters(t: PairTotals) -> PairTotals:
    """The totals without what lies by cluster, which would fill the memory."""
    every = None if t.crossed is None else {some: _without_clusters(one) for some, one in t.crossed.items()}
    return dataclasses.replace(t, d=None, cells=None, crossed=every)


def _replicate_law(t: PairTotals, replicates: FloatArray) -> tuple[ReplicateLaw, BoolArray]:
    """The law of the replicates; where they do not vary, which is no certainty, the fallback's on a grid of its quantiles."""
    spare, flat = laws.cr_law(t, "cr2")
    error = np.where(flat, spare.std_error, replicates.std(axis=1, ddof=1))
    bound = 1.0 if t.bounded else np.inf
    if flat.any():
        grid = special.stdtrit(spare.df[0], (np.arange(replicates.shape[1]) + 0.5) / replicates.shape[1])
        spread = np.clip(spare.centre[flat, None] + grid * spare.std_error[flat, None], -bound, bound)
        replicates = replicates.copy()
        replicates[flat] = spread
    return ReplicateLaw(std_error=error, replicates=replicates, bound=bound), flat


def joint_law(lots: Sequence[Prepared]) -> Law:
    """The law of all pairs of several lots."""
    of_lots = [lot.basis for lot in lots]
    if isinstance(of_lots[0], Law):
        return posterior.joined([one for one in of_lots if isinstance(one, Law)])
    if isinstance(of_lots[0], Evidence):
        found = posterior.pair_posteriors([one for one in of_lots if isinstance(one, Evidence)])
    else:
        found = posterior.crossed_posteriors([one for one in of_lots if isinstance(one, Mapping)])
    return ScoreLaw.join([ScoreLaw.of(lot.totals, one) for lot, one in zip(lots, found, strict=True)])


def conclude(
    lots: Sequence[Prepared],
    method: str,
    *,
    alternative: Alternative,
    confidence_level: float,
    margin: float,
    claim: Claim,
    simultaneous: Level | None = None,
) -> DifferenceResult:
    """Interval, p-value and verdict of all pairs of several lots; ``simultaneous`` is the tail of the simultaneous limits.

    Margin and claim are as `resolve_claim` gives them.
    """
    totals = [lot.totals for lot in lots]
    outside, level = check_tail(confidence_level, alternative), validate.check_level(confidence_level)
    law, mean = joint_law(lots), np.concatenate([t.mean for t in totals])
    bounds = (-1.0, 1.0) if totals[0].bounded else (-np.inf, np.inf)
    low, high = one_sided(*law.limits(outside), alternative, bounds)
    wide = (low, high)
    if simultaneous is not None:
        none = np.full(mean.shape, np.nan)
        seen = not isinstance(law, ReplicateLaw) or law.resolves(simultaneous)
        wide = law.limits(simultaneous) if seen else (none, none)
    # Without any difference nothing speaks against none, also where no interval can be given.
    equal = np.concatenate([t.square == 0 for t in totals])
    pvalue = np.where(equal & (alternative == "two-sided"), 1.0, laws.sided(*law.tails(0.0), alternative))
    verdict, shown = _verdict(law, mean, pvalue, margin, claim, 1 - level)
    pairs = [len(t.total) for t in totals]
    return DifferenceResult(
        difference=mean,
        std_error=law.std_error,
        ci_low=low,
        ci_high=high,
        statistic=_statistic(law, mean),
        pvalue=pvalue,
        simultaneous_low=wide[0],
        simultaneous_high=wide[1],
        margin=margin,
        verdict=verdict,
        pvalue_verdict=shown,
        n_pairs=np.repeat([t.n for t in totals], pairs),
        n_clusters=np.repeat([t.n_clusters for t in totals], pairs),
        method=method,
        confidence_level=level,
        fallback=np.concatenate([lot.flat for lot in lots]),
    )


def _statistic(law: Law, mean: FloatArray) -> FloatArray:
    """The t ratio of a pivot; else the standard normal value that has the one-sided p-value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(law, PivotLaw):
            return np.asarray(law.centre / law.std_error) + 0.0  # -0.0 is 0.0
        if isinstance(law, ReplicateLaw):
            return np.asarray(mean / law.std_error) + 0.0
        return law.score() + 0.0


def _verdict(
    law: Law, mean: FloatArray, pvalue: FloatArray, margin: float, claim: Claim, alpha: float
) -> tuple[np.ndarray, FloatArray]:
    """One word, and the p-value of the claim: above a margin one-sided, equivalence the larger of two one-sided ones."""
    if claim == "superiority" and margin == 0:  # is one of them better, whichever it is?
        p = pvalue
        sure = p <= alpha
        worse = np.where(sure & (mean < 0), "inferior", "inconclusive")
        words = np.where(sure & (mean > 0), "superior", worse)
        return np.where(np.isnan(p), "", words), p
    above, below = law.tails(margin), law.tails(-margin)  # each: greater than, less than
    if claim == "equivalence":
        # The latter of either side.
        p, against = np.maximum(below[0], above[1]), np.minimum(above[0], below[1])
        word, other = "equivalent", "different"
    elif claim == "noninferiority":
        p, against, word, other = below[0], below[1], "noninferior", "inferior"
    else:
        p, against, word, other = above[0], below[1], "superior", "inferior"
    # The opposite was nobody's claim: it is said at half the level, as of one side of two.
    words = np.where(p <= alpha, word, np.where(2 * against <= alpha, other, "inconclusive"))
    return np.where(np.isnan(p), "", words), p
