"""What a reader of a comparison should know, in words, each naming the pairs that it speaks of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, plain, warn
from evalci_accessor.methods import rate_warnings as rw
from evalci_accessor.read.matched import Matched
from evalci_accessor.stats.pairs.difference import RESAMPLED
from evalci_accessor.stats.rates import design as dg
from evalci_accessor.stats.rates.moments import RARE_CLUSTERS, bell_mccaffrey_df
from evalci_accessor.stats.validate import BoolArray, FloatArray

if TYPE_CHECKING:
    from evalci_accessor.methods.common_items import Block

_NORMAL_COUNT = 25  # discordant items below which McNemar's normal approximation is not trusted
_LEAST = 6  # discordant items (or clusters) below which no two-sided exact test can reach .05

_FLAT = "the differences do not vary, which is no certainty: one pseudo-difference each way stands in for their variance."


def warn_pairs(
    matched: Matched, blocks: list[Block], method: str, n_differing: FloatArray, flat: BoolArray | None = None
) -> None:
    """Warn of everything that the blocks show.

    ``n_differing`` holds the clusters in which the systems' sums differ, by group and pair (H, P); ``flat``, of an interval, where
    the variance was zero.
    """
    rw.warn_sentinel(matched.sentinel, matched.score_range[1])
    warn_scales(matched)
    for d in range(max(len(matched.clusterings), 1)):
        _warn_clusters(matched, blocks, method, d)
    square, items, effective = (np.full(n_differing.shape, np.nan) for _ in range(3))
    for block in blocks:
        at = (block.group, block.place)
        square[at], items[at] = block.square, block.scores.n
        effective[at] = min(1 / (scores.shares**2).sum() for scores in block.margins)
    tell = _Teller(matched)
    _warn_equal(tell, square, items, flat)
    differ = square > 0
    if method in RESAMPLED:
        _warn_bootstrap(tell, differ, effective, method)
    if matched.clusterings:
        _warn_few_clusters_differ(tell, differ, n_differing, method)
    elif matched.binary:
        _warn_few_items_differ(tell, differ, square, items, method, n_differing if matched.weighted else None)


def warn_scales(matched: Matched) -> None:
    """Say that some systems hold rates and others scores beyond [0, 1]: percent beside fractions, or a mark of failure."""
    if matched.binary:
        return
    tables = [table.scores for table in matched.tables if len(table.scores)]
    whole = np.all([(np.isin(scores, (0, 1)) | np.isnan(scores)).all(axis=0) for scores in tables], axis=0)
    if whole.sum() > 1 and matched.repeats == 1:
        shown = examples(repr(matched.systems[k]) for k in np.flatnonzero(whole))
        warn(
            f"The scores of {shown} are 0 or 1, and those of {int((~whole).sum())} other system(s) are not, so one method for any "
            "scores was used for all pairs. Where the first are to be compared as rates, ask for them in a call of their own.",
            ex.MixedScaleWarning,
        )
    if matched.bounded:
        return
    if all(((scores == 0) | (scores == rw.PERCENT) | np.isnan(scores)).all() for scores in tables):
        rw.tell_percent()
        return
    greatest = np.max([np.nan_to_num(scores, nan=-np.inf).max(axis=0) for scores in tables], axis=0)
    rates, beyond = np.flatnonzero(greatest <= 1), np.flatnonzero(greatest > 1)
    if len(rates) and len(beyond):
        first, other = (matched.systems[int(k[0])] for k in (rates, beyond))
        warn(
            f"The scores of {len(rates)} system(s), such as {first!r}, do not go above 1, and those of {len(beyond)}, such as "
            f"{other!r}, go up to {greatest[beyond].max():g}. Is one in percent, or does a large value mark a failed run?",
            ex.MixedScaleWarning,
        )


def warn_variances(matched: Matched, negative: BoolArray, short: BoolArray) -> None:
    """Where a crossed variance is negative, or less than that of one clustering alone, which in truth it cannot be."""
    tell, name = _Teller(matched), str(matched.cluster)
    default = not matched.binary
    tell(negative, ex.CrossedVarianceWarning, rw.variance_words(name, rw.NEGATIVE, default=default))
    tell(short, ex.CrossedVarianceWarning, rw.variance_words(name, rw.SHORT, default=default))


def _warn_clusters(matched: Matched, blocks: list[Block], method: str, place: int) -> None:
    """Few clusters, a dominating one, and clusters of one item: once a group. Weighted items without clusters are clusters."""
    few, dominant, lone = {}, {}, []
    clustered, what = bool(matched.clusterings), "weight" if matched.weighted else "items"
    if not clustered and not matched.weighted:
        return
    for block in blocks:
        if matched.crossed and place not in block.counted:
            continue
        scores = block.margins[place]
        share = scores.shares
        if len(share) < 2:  # a single item
            continue
        effective = 1 / (share**2).sum()
        uneven = effective < 0.99 * len(share)
        scarce = effective < dg.FEW_CLUSTERS * (1 - 1e-9) or bell_mccaffrey_df(share) < dg.FEW_DF * (1 - 1e-9)
        if scarce and (clustered or uneven):
            few[block.group] = f"{effective:.2g} effective of {len(share)}" if uneven else f"{len(share)}"
        if share.max() > max(dg.DOMINANT_SHARE, 1.5 / len(share)):
            top = int(share.argmax())
            largest = plain(matched.names.item_label(int(block.items[top])))
            if clustered:
                largest = matched.clusterings[place].label(int(scores.cluster[top]))
            dominant[block.group] = f"{largest!r} with {share.max():.1%} of the {what}"
        if clustered and len(share) == block.scores.n:
            lone.append(block.group)
    name, unit = repr(matched.names.key), "item"
    if clustered:
        name, unit = repr(matched.clusterings[place].name), "cluster"
    if few:
        trust = "by their weights, so the answer hangs on a few of them"
        if method == "icc_averaged":
            trust = "so the answer leans on the prior of the ICC of the differences"
        elif clustered:
            trust = "where this method is unreliable; the default is made for few clusters"
        warn(f"{_groups(matched, few)}few {unit}s of {name} ({_first(few)}), {trust}.", ex.FewClustersWarning)
    if dominant:
        warn(
            f"{_groups(matched, dominant)}one {unit} of {name} holds over a quarter of the {what} ({_first(dominant)}), and weighs "
            "as much in the difference.",
            ex.DominantClusterWarning,
        )
    if lone:
        warn(
            f"{_groups(matched, lone)}every cluster of {name} holds one item, so the items count as "
            "independent. Is it the item's own id rather than what the items share?",
            ex.SingletonClusterWarning,
        )


def _warn_equal(tell: _Teller, square: FloatArray, items: FloatArray, flat: BoolArray | None) -> None:
    """Systems without a common item, with the same score on every item, or with the same difference."""
    tell(np.isnan(square), ex.UnmatchedItemsWarning, "the systems have no item in common, so the row is nan.")
    low, high = tell.matched.score_range
    shows = "the interval rests on the number of items and on what is assumed of their clustering"
    if flat is None:
        shows = "p is 1"
    elif low == high and not tell.matched.bounded:
        shows = "on an open scale no interval follows from that"
    shows = f"nothing speaks for a difference, and {shows}"
    tell(
        square == 0,
        ex.FewDiscordantWarning,
        f"the systems have the same score on every item: {shows}.",
        lambda k: f"the systems have the same score on all {items.flat[k]:.0f} items: {shows}.",
    )
    if flat is not None:
        tell(flat & (square > 0), ex.EffectiveSizeWarning, _FLAT)


def _warn_bootstrap(tell: _Teller, differ: BoolArray, effective: FloatArray, method: str) -> None:
    """Too few clusters (items, where there are none) for a percentile bootstrap."""
    counted = "effective clusters"
    if not tell.matched.clusterings:
        counted = "effective items" if tell.matched.weighted else "items"
    known, compare = f"is known to be {rw.bootstrap_fault(method)}", "Compare with the default method."
    tell(
        differ & (effective < dg.BOOTSTRAP_CLUSTERS),
        ex.BootstrapWarning,
        f"a percentile bootstrap of fewer than 30 {counted} {known}. {compare}",
        lambda k: (
            f"a percentile bootstrap of {effective.flat[k]:.3g} {counted} {known} (it needs 30). {compare}"
        ),
    )


def _warn_few_clusters_differ(tell: _Teller, differ: BoolArray, n_differing: FloatArray, method: str) -> None:
    """Few clusters that favour one of the systems."""
    unit = f"clusters of {tell.matched.cluster!r} favour one of the systems"
    if method == "sign_flip":
        tell(
            differ & (n_differing < _LEAST),
            ex.FewDiscordantWarning,
            f"fewer than {_LEAST} {unit}, where a sign-flip test cannot reach .05.",
            lambda k: (
                f"{n_differing.flat[k]:.0f} {unit}, and a sign-flip test cannot give a two-sided p below "
                f"{min(2.0 ** (1 - n_differing.flat[k]), 1.0):.3g} there."
            ),
        )
        return
    tell(
        differ & (n_differing < RARE_CLUSTERS),
        ex.FewDiscordantWarning,
        f"fewer than {RARE_CLUSTERS} {unit}, so one more could change the answer.",
        lambda k: f"only {n_differing.flat[k]:.0f} {unit}, so one more could change the answer.",
    )


def _warn_few_items_differ(
    tell: _Teller,
    differ: BoolArray,
    square: FloatArray,
    items: FloatArray,
    method: str,
    worth: FloatArray | None,
) -> None:
    """Few discordant items, without clusters; under weights by what they are ``worth``, Kish's effective number of them."""
    least, advice = _LEAST, ", so hardly anything can be told"
    if method in ("asymptotic", "corrected"):
        least = _NORMAL_COUNT
        advice = f", too few for a normal approximation (it wants {least})"
        advice += "; use method='exact' or 'midp'" if worth is None else ""
    counted = square if worth is None else worth
    by_weight = "" if worth is None else " by their weights"
    tell(
        differ & (counted < least * (1 - 1e-9)),
        ex.FewDiscordantWarning,
        f"the systems differ on fewer than {least} items{by_weight}{advice}.",
        lambda k: (
            f"the systems differ on {square.flat[k]:.0f} of {items.flat[k]:.0f} items"
            f"{'' if worth is None else f', which by their weights are worth {worth.flat[k]:.3g}'}{advice}."
        ),
    )


class _Teller:
    """One warning a finding: in full of a single pair, in short of several."""

    def __init__(self, matched: Matched) -> None:
        self.matched = matched

    def __call__(
        self,
        flags: BoolArray,
        category: type[ex.EvalCIWarning],
        many: str,
        one: Callable[[int], str] | None = None,
    ) -> None:
        at, words = np.flatnonzero(flags).tolist(), self.matched.pair_words
        if len(at) == 1:
            warn(f"{words(at[0])}: {many if one is None else one(at[0])}", category)
        elif at:
            warn(
                f"{len(at)} of {flags.size} pairs ({examples(at, between='; ', words=words)}): {many}",
                category,
            )


def _groups(matched: Matched, found: Iterable[int]) -> str:
    return rw.which(found, len(matched.tables), matched.names.group_label)


def _first(found: dict[int, str]) -> str:
    """What was found in the first group, said to be so where there are others."""
    first = next(iter(found.values()))
    return first if len(found) == 1 else f"in the first: {first}"
