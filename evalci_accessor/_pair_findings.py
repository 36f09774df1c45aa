"""What a reader of a comparison should know, in words, each naming the pairs that it speaks of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor._blocks import Block
from evalci_accessor._findings import warn_sentinel
from evalci_accessor._pairing import Matched
from evalci_accessor._warn import examples, warn
from evalci_accessor.stats._validate import BoolArray
from evalci_accessor.stats.moments import RARE_CLUSTERS, bell_mccaffrey_df

_FEW_CLUSTERS, _FEW_DF, _DOMINANT, _BOOTSTRAP_CLUSTERS = 5.0, 4.0, 0.25, 30.0
_NORMAL_COUNT = 25  # discordant items below which McNemar's normal approximation is not trusted
_LEAST = 6  # discordant items (or clusters) below which no two-sided exact test can reach .05

_FLAT = "the differences do not vary, which is no certainty: one pseudo-difference each way stands in for their variance."


def warn_pairs(matched: Matched, blocks: list[Block], method: str, flat: BoolArray | None = None) -> None:
    """Warn of everything that the blocks show; ``flat`` marks pairs (H, P) whose variance was zero."""
    warn_sentinel(matched.sentinel, matched.score_range[1])
    _warn_scales(matched)
    _warn_clusters(matched, blocks, method)
    _warn_differences(matched, blocks, method, flat)


def _warn_scales(matched: Matched) -> None:
    """Say that some systems hold rates and others scores beyond [0, 1]: percent beside fractions, or a mark of failure."""
    if matched.binary:
        return
    tables = [table.scores for table in matched.tables if len(table.scores)]
    whole = np.all([((scores == 0) | (scores == 1) | np.isnan(scores)).all(axis=0) for scores in tables], axis=0)
    if whole.sum() > 1 and matched.repeats == 1:
        shown = examples(repr(matched.systems[k]) for k in np.flatnonzero(whole))
        warn(
            f"The scores of {shown} are 0 or 1, and those of {int((~whole).sum())} other system(s) are not, so one method for any "
            "scores was used for all pairs. Where the first are to be compared as rates, ask for them in a call of their own.",
            ex.MixedScaleWarning,
        )
    if matched.bounded:
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


def _warn_clusters(matched: Matched, blocks: list[Block], method: str) -> None:
    """Few clusters, a dominating one, and clusters of one item: once a group."""
    few, dominant, lone = {}, {}, []
    for block in blocks:
        size = block.scores.size
        if size is None:
            continue
        share = size / size.sum()
        effective = 1 / (share**2).sum()
        if effective < _FEW_CLUSTERS * (1 - 1e-9) or bell_mccaffrey_df(share) < _FEW_DF * (1 - 1e-9):
            uneven = effective < 0.99 * len(size)
            few[block.group] = f"{effective:.2g} effective of {len(size)}" if uneven else f"{len(size)}"
        if share.max() > max(_DOMINANT, 1.5 / len(size)):
            largest = matched.cluster_label(int(block.scores.cluster[share.argmax()]))
            dominant[block.group] = f"{largest!r} with {share.max():.1%} of the items"
        if len(size) > 1 and (size == 1).all():
            lone.append(block.group)
    name = repr(matched.cluster)
    if few:
        trust = (
            "so the answer leans on the prior of the ICC of the differences" if method == "icc_averaged"
            else "where this method is unreliable; the default is made for few clusters"
        )  # fmt: skip
        warn(f"{_groups(matched, few)}few clusters of {name} ({_first(few)}), {trust}.", ex.FewClustersWarning)
    if dominant:
        warn(
            f"{_groups(matched, dominant)}one cluster of {name} holds over a quarter of the items ({_first(dominant)}), and weighs "
            "as much in the difference.",
            ex.DominantClusterWarning,
        )
    if lone:
        warn(
            f"{_groups(matched, dict.fromkeys(lone, ''))}every cluster of {name} holds one item, so the items count as "
            "independent. Is it the item's own id rather than what the items share?",
            ex.SingletonClusterWarning,
        )


def _warn_differences(matched: Matched, blocks: list[Block], method: str, flat: BoolArray | None) -> None:
    """Systems that hardly differ, or differ in few clusters."""
    shape = (len(matched.tables), len(matched.pairs))
    square, items, held, effective = (np.full(shape, np.nan) for _ in range(4))
    for block in blocks:
        at = (block.group, block.place)
        square[at], items[at] = block.square, block.scores.n
        if block.scores.size is not None:
            held[at] = np.concatenate([t.n_differing for _, t in block.chunks(by_cluster=True)])
            effective[at] = 1 / ((block.scores.size / block.scores.n) ** 2).sum()
    tell = _Teller(matched)
    equal = square == 0
    clustered = matched.cluster is not None
    unit = f"clusters of {matched.cluster!r}"
    low, high = matched.score_range
    shows = "the interval rests on the number of items and on what is assumed of their clustering"
    if flat is None:
        shows = "p is 1"
    elif low == high and not matched.bounded:
        shows = "on an open scale no interval follows from that"
    tell(
        equal, ex.FewDiscordantWarning,
        lambda k: f"the systems have the same score on all {items.flat[k]:.0f} items: nothing speaks for a difference, and "
        f"{shows}.",
        f"the systems have the same score on every item: nothing speaks for a difference, and {shows}.",
    )  # fmt: skip
    some = ~equal & ~np.isnan(square)
    nothing = "the systems have no item in common, so the row is nan."
    tell(np.isnan(square), ex.UnmatchedItemsWarning, lambda _: nothing, nothing)
    if flat is not None:
        tell(
            flat & some, ex.EffectiveSizeWarning,
            lambda _: _FLAT,
            _FLAT,
        )  # fmt: skip
    if method == "bootstrap_percentile":
        units, counted = (effective, "effective clusters") if clustered else (items, "items")
        narrow = some & (units < _BOOTSTRAP_CLUSTERS)
        tell(
            narrow, ex.BootstrapWarning,
            lambda k: f"a percentile bootstrap of {units.flat[k]:.3g} {counted} is known to be too narrow (it needs 30). "
            "Compare with the default method.",
            f"a percentile bootstrap of fewer than 30 {counted} is known to be too narrow. Compare with the default method.",
        )  # fmt: skip
    if method == "sign_flip":
        tell(
            some & (held < _LEAST), ex.FewDiscordantWarning,
            lambda k: f"{held.flat[k]:.0f} {unit} favour one of the systems, and a sign-flip test cannot give a two-sided p below "
            f"{min(2.0 ** (1 - held.flat[k]), 1.0):.3g} there.",
            f"fewer than {_LEAST} {unit} favour one of the systems, where a sign-flip test cannot reach .05.",
        )  # fmt: skip
    elif clustered:
        tell(
            some & (held < RARE_CLUSTERS), ex.FewDiscordantWarning,
            lambda k: f"only {held.flat[k]:.0f} {unit} favour one of the systems, so one more could change the answer.",
            f"fewer than {RARE_CLUSTERS} {unit} favour one of the systems, so one more could change the answer.",
        )  # fmt: skip
    elif matched.binary:
        least = _NORMAL_COUNT if method in ("asymptotic", "corrected") else _LEAST
        advice = ", so hardly anything can be told"
        if least == _NORMAL_COUNT:
            advice = f", too few for a normal approximation (it wants {least}); use method='exact' or 'midp'"
        tell(
            some & (square < least), ex.FewDiscordantWarning,
            lambda k: f"the systems differ on {square.flat[k]:.0f} of {items.flat[k]:.0f} items{advice}.",
            f"the systems differ on fewer than {least} items{advice}.",
        )  # fmt: skip


class _Teller:
    """One warning a finding: in full of a single pair, in short of several."""

    def __init__(self, matched: Matched) -> None:
        self.matched = matched

    def __call__(self, flags: BoolArray, category: type[ex.EvalCIWarning], one: Callable[[int], str], many: str) -> None:
        at = np.flatnonzero(flags)
        if not len(at):
            return
        if len(at) == 1:
            warn(f"{self.label(int(at[0]))}: {one(int(at[0]))}", category)
        else:
            shown = examples(map(self.label, at.tolist()), between="; ")
            warn(f"{len(at)} of {flags.size} pairs ({shown}): {many}", category)

    def label(self, k: int) -> str:
        """Words for a pair in a group."""
        h, p = divmod(k, len(self.matched.pairs))
        first, second = (self.matched.systems[j] for j in self.matched.pairs[p])
        group = self.matched.group_label(h)
        return f"{first!r} against {second!r}" + (f" in {group}" if group else "")


def _groups(matched: Matched, found: dict[int, Any]) -> str:
    labels = [matched.group_label(h) for h in found]
    if len(found) == 1:
        return f"{labels[0]}: " if labels[0] else ""
    return f"{len(found)} of {len(matched.tables)} groups ({examples(labels, between='; ')}): "


def _first(found: dict[int, str]) -> str:
    """What was found in the first group, said to be so where there are others."""
    first = next(iter(found.values()))
    return first if len(found) == 1 else f"in the first: {first}"
