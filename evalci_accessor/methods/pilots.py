"""From scores to pilots: one for each group, or for each pair in each group, with what would make a plan from them a guess."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, warn
from evalci_accessor.methods.common_items import blocks_of, refuse_single_items
from evalci_accessor.methods.pair_warnings import warn_scales
from evalci_accessor.methods.rate_warnings import warn_missing, warn_percent, warn_sentinel
from evalci_accessor.methods.rates import refuse_single_clusters
from evalci_accessor.options import PlanGrid, PlanOptions, Roles
from evalci_accessor.read import Answer, Read, Reader
from evalci_accessor.read.items import Items, sample_of
from evalci_accessor.read.matched import Matched
from evalci_accessor.read.names import several
from evalci_accessor.read.samples import Sample
from evalci_accessor.stats.planning.pilot import Pilot, Repeats, pair_pilot, rate_pilot, single_disagreement
from evalci_accessor.stats.rates import design as dg
from evalci_accessor.stats.rates.moments import bell_mccaffrey_df
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import IntArray, tail


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Pilots:
    """The pilots of the groups, shape (H,), or of the pairs (P, 2) in each, (H, P); and the words to speak of them.

    ``cluster`` is None where items stand for themselves; ``words`` are empty for the only pilot.
    """

    every: list[Pilot]
    shape: tuple[int, ...]
    cluster: str | None
    item: str
    words: Callable[[int], str]
    pairs: IntArray | None = None

    @property
    def paired(self) -> bool:
        """Whether these are of two systems each."""
        return len(self.shape) == 2

    def who(self, places: Sequence[int]) -> str:
        """The pilots that a message speaks of, as its first words."""
        if len(places) == 1:
            return f"{words}: " if (words := self.words(places[0])) else ""
        return f"{len(places)} of {len(self.every)} pilots ({examples(places, between='; ', words=self.words)}): "


def read_pilots(
    reader: Reader[Answer], roles: Roles, confidence_level: float, method: str
) -> Read[Pilots, Answer]:
    """Pilots of two systems, or else of items with samples, or of scores, by what the caller named."""
    _refuse_several(roles, method)
    found: Read[Any, Answer]
    if roles.factor is not None:
        if roles.item is None and reader.needs_item:
            raise ex.MethodError(
                "item= is missing: what tells the items apart, the same for both systems, so that they pair up."
            )
        found = reader.pairs(roles, samples=roles.sample is not None or not reader.needs_item)
        pilots = pilots_of_pairs(found.found, confidence_level)
    elif reader.has_items(roles):
        found = reader.items(roles)
        pilots = pilots_of_items(found.found, confidence_level)
    else:
        refuse_lone_sample(roles)
        found = reader.each(roles) if roles.cluster is None else reader.clustered(roles)
        pilots = pilots_of_sample(found.found, confidence_level)
    return Read(found=pilots, write=found.write)


def pilots_of_sample(sample: Sample, confidence_level: float) -> Pilots:
    """A pilot a group, from scores that are an item each."""
    alone = sample.alone
    refuse_single_clusters(sample)
    warn_missing(sample)
    warn_sentinel(sample.sentinel, sample.score_range[1])
    warn_percent(sample)
    t, outside = sample.totals, tail(confidence_level, "two-sided")
    _refuse_empty(t, sample.group_label)
    every = [rate_pilot(t.one(h), outside) for h in range(t.n_groups)]
    every = [_without_icc(one) for one in every] if alone else every
    cluster = None if alone else sample.cluster
    return _checked(Pilots(every, (t.n_groups,), cluster, "score", sample.group_label))


def pilots_of_items(items: Items, confidence_level: float) -> Pilots:
    """A pilot a group, from items with their samples."""
    names, alone = items.names, not items.clusterings
    if items.pooled:
        warn(items.pooled, ex.PooledSamplesWarning)
    means = items.sums / items.n
    off = items.scores - means[items.item]
    squares = np.bincount(items.item, weights=off**2, minlength=len(items.n))
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = np.where(items.n > 1, squares / (items.n - 1), np.nan)
    held = np.ones((len(items.n), 1), dtype=bool)
    sample = sample_of(items, means[:, None], held, np.ones(1, dtype=np.int64))
    totals = sample.totals
    refuse_single_clusters(sample)
    warn_sentinel(sample.sentinel, sample.score_range[1])
    _refuse_empty(totals, names.group_label)
    outside = tail(confidence_level, "two-sided")
    firsts, every = np.concatenate([[0], np.cumsum(items.n)]), []
    for h, (start, stop) in enumerate(itertools.pairwise(items.ends.tolist())):
        scores = items.scores[firsts[start] : firsts[stop]]
        repeats = Repeats.of(variances[start:stop, None], items.n[start:stop, None].astype(np.float64))
        graded = not bool(np.isin(scores, (0, 1)).all())
        found = rate_pilot(totals.one(h), outside, repeats=repeats, graded=graded)
        every.append(_without_icc(found) if alone else found)
    cluster = None if alone else sample.cluster
    return _checked(Pilots(every, (names.n_groups,), cluster, names.key, names.group_label))


def pilots_of_pairs(matched: Matched, confidence_level: float) -> Pilots:
    """A pilot for each pair in each group, from matched scores."""
    shape = (len(matched.tables), len(matched.pairs))
    blocks, outside = blocks_of(matched), tail(confidence_level, "two-sided")
    refuse_single_items(matched, blocks)
    warn_sentinel(matched.sentinel, matched.score_range[1])
    warn_scales(matched)
    found: dict[int, Pilot] = {}
    for block in blocks:
        for part, t in block.chunks(by_cluster=block.by_cluster):
            for k, place in enumerate(block.place[part].tolist()):
                repeats, disagreement = _repeats(matched, block.group, place)
                found[block.group * shape[1] + place] = pair_pilot(
                    t.one(k), outside, repeats=repeats, disagreement=disagreement
                )

    lacking = [k for k in range(shape[0] * shape[1]) if k not in found]
    if lacking:
        raise ex.PilotError(
            f"{len(lacking)} of {shape[0] * shape[1]} pairs have no item in common: "
            f"{examples(lacking, between='; ', words=matched.pair_words)}. A plan needs items that both systems "
            "answered: name other pairs with pairs=, or leave such groups out."
        )
    every, item = [found[k] for k in range(len(found))], matched.names.key
    return _checked(Pilots(every, shape, matched.cluster, item, matched.pair_words, matched.pairs))


def _repeats(matched: Matched, group: int, place: int) -> tuple[Repeats | None, float | None]:
    """How the samples behind the differences of a pair vary, and how often single ones disagree, of 0/1 scores."""
    table, systems = matched.tables[group], matched.pairs[place]
    if table.samples is None or matched.repeats < 2:
        return None, None
    scores = table.scores[:, systems]
    held = ~np.isnan(scores).any(axis=1)
    samples = table.samples.take(held)
    repeats = Repeats.of(samples.variances[:, systems], samples.counts[:, systems].astype(np.float64))
    if repeats is None or not samples.binary:
        return repeats, None
    return repeats, single_disagreement(scores[held, 0], scores[held, 1])


def _without_icc(pilot: Pilot) -> Pilot:
    """Where no clustering was named there is none."""
    return dataclasses.replace(pilot, icc=np.nan, icc_low=np.nan, icc_high=np.nan)


def _refuse_empty(t: ClusterTotals, words: Callable[[int], str]) -> None:
    empty = np.flatnonzero(t.n_clusters == 0).tolist()
    if empty:
        shown = examples((w for h in empty if (w := words(h))), between="; ")
        raise ex.PilotError(
            f"The pilot holds no score{f' in {shown}' if shown else ''}, so there is nothing to plan from. Leave such groups out; "
            "or give the numbers of a plan to the functions of stats, such as stats.required_clusters."
        )


def _checked(found: Pilots) -> Pilots:
    """Refuse pilots in which nothing varies, and warn of those that tell little of the ICC."""
    flat = [k for k, one in enumerate(found.every) if not one.varies]
    if flat:
        first = found.every[flat[0]]
        what = f"all scores are {first.rate:g}" if first.rate in (0, 1) else "all scores are equal"
        what = "the two systems never differ" if found.paired else what
        give = "a disagreement (or std_dev)" if found.paired else "a rate (or std_dev)"
        bound = "diff_ci" if found.paired else "cluster_ci"
        raise ex.PilotError(
            f"{found.who(flat)}{what}, so the pilot tells neither a variance nor how clustered it is, and any plan from it "
            f"would be made up. Give {give} and an icc that you would not rule out to the function of the same name in stats; "
            f"{bound} of this pilot shows how far the truth may be from what was seen. Leave such groups or pairs out of this call."
        )
    if found.cluster is None:
        return found
    lone = [k for k, one in enumerate(found.every) if (one.sizes == 1).all()]
    if lone:
        warn(
            f"{found.who(lone)}every cluster of {found.cluster!r} holds one item, which tells nothing of the ICC: its limits "
            f"are those of the prior. Is it the item's own id rather than what the items share?",
            ex.SingletonClusterWarning,
        )
    few = [k for k, one in enumerate(found.every) if k not in lone and _few(one)]
    if few:
        one = found.every[few[0]]
        shown = f"{len(one.sizes)}" if len(few) == 1 else f"the first {len(one.sizes)}"
        warn(
            f"{found.who(few)}few clusters of {found.cluster!r} in the pilot ({shown}), which hardly tell the ICC "
            f"({one.icc_low:.2g} to {one.icc_high:.2g}). Plan with the limits rather than with the number between them.",
            ex.FewClustersWarning,
        )
    return found


def _few(pilot: Pilot) -> bool:
    """Whether the clusters are as few as the intervals warn of."""
    share, near = pilot.sizes / pilot.sizes.sum(), 1 - 1e-9
    scarce = 1 / (share**2).sum() < dg.FEW_CLUSTERS * near
    return bool(scarce or bell_mccaffrey_df(share) < dg.FEW_DF * near)


def _refuse_several(roles: Roles, method: str) -> None:
    """A plan is for one clustering."""
    count = len(several(roles.cluster))
    if isinstance(roles.cluster, list) and count > 1:
        raise ex.MethodError(
            f"{method} plans for one clustering, and cluster= names {count}. Name the one that matters most, which "
            "design_effect(cluster=[...]) of the pilot shows; a number of clusters of one kind fixes nothing of the other."
        )


def refuse_lone_sample(roles: Roles) -> None:
    """Samples of nobody knows which item."""
    if roles.sample is not None or roles.nested:
        given = "sample=" if roles.sample is not None else "nested=True"
        raise ex.MethodError(
            f"{given} is given and item= is not. Name what tells the items apart, whose samples repeat; without it each "
            "score is an item of its own."
        )


def check_goal(roles: Roles, grid: PlanGrid, options: PlanOptions) -> None:
    """One goal: the half-width of a rate, or a power to show something of two systems; nothing of the other."""
    if (grid.half_width is None) == (grid.difference is None and grid.margin is None):
        raise ex.MethodError(
            "Name one goal: half_width= for the interval of one rate; or difference= (the smallest that is worth finding), "
            "margin= (not worse by more), or both, for two systems."
        )
    if grid.half_width is not None:
        usual: dict[str, Any] = {"power": 0.8, "alternative": "two-sided", "unmatched": "raise"}
        every = roles.fields() | grid.fields() | options.fields()
        of_pair = ("factor", "baseline", "pairs", "unmatched", "power", "claim", "alternative")
        given = [name for name in of_pair if every[name] is not None]
        stray = [name for name in given if not (name in usual and np.array_equal(every[name], usual[name]))]
        if stray:
            raise ex.MethodError(
                f"half_width= is the goal of one rate, and {stray[0]}= belongs to two systems. For a rate of each system "
                f"leave {stray[0]}= out and keep the systems apart with by= (or as a dim that stays); for their difference "
                "name difference= or margin=."
            )
        return
    if roles.factor is None:
        raise ex.MethodError(
            "A difference is between two systems: name the factor that tells them apart, as "
            "required_clusters('doc_id', factor='model', item='item', ...)."
        )
    if roles.nested:
        raise ex.MethodError(
            "nested=True is for one rate; for two systems pass item=[cluster, item] where ids are local to a cluster."
        )
