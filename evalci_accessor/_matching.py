"""From scores with codes to tables of items, with every way in which they can fail to pair up said in full."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalci_accessor._entries import Entries, Grid, Names, Request
from evalci_accessor._ids import is_repeat, ranked
from evalci_accessor._item_weights import item_weights
from evalci_accessor._pairing import Matched, Samples, Table
from evalci_accessor._scores import screen, sentinel_of
from evalci_accessor._unmatched import Presence, settle, warn_uneven
from evalci_accessor.exceptions import (
    ClusterError,
    MissingClusterError,
    MissingScoreWarning,
    PairingError,
    ScoreError,
    ScoreRangeError,
    examples,
    plain,
    warn,
)
from evalci_accessor.options import NanPolicy, Unmatched
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, check_option

_GREATEST = 1e150  # squares of larger scores, or of smaller ones than its inverse, do not fit


def match(entries: Entries, request: Request, nan_policy: NanPolicy) -> Matched:
    """Tables of all groups from scores in any order."""
    check_option(request.unmatched, Unmatched, "unmatched")
    names, m = request.names, len(request.systems)
    weights = None if entries.weights is None else item_weights(entries, request)
    absent = None if entries.weights is None else entries.weights == 0  # as if the rows were not there, whatever they hold
    keep, missing = screen(entries.scores, absent, names.score, nan_policy, entries.where)
    kept = entries if keep is None else entries.take(keep)
    _refuse_missing_ids(kept, request)
    key = kept.groups * entries.n_items + kept.items
    slot, present = ranked(key, request.n_groups * entries.n_items)
    cell = slot * m + kept.systems
    counts = np.bincount(cell, minlength=len(present) * m)
    _refuse_repeats(kept, slot, cell, counts, request)
    with np.errstate(invalid="ignore"):
        means = np.bincount(cell, weights=kept.scores, minlength=len(counts)) / counts
    samples = _samples(kept, cell, counts, means, m) if request.samples else None
    lost, n_missing = None, np.zeros((request.n_groups, m), dtype=np.int64)
    if missing is not None:
        gone = entries.take(missing)
        lost = _places(gone, present, m)
        n_missing = np.bincount(gone.groups * m + gone.systems, minlength=n_missing.size).reshape(n_missing.shape)
    return assemble(
        Grid(
            means=means.reshape(-1, m), lost=lost, items=present % max(entries.n_items, 1),
            groups=present // max(entries.n_items, 1), clusters=_one_cluster(kept, slot, len(present), request),
            weights=None if weights is None else weights(present),
            repeats=int(counts.max(initial=1)), counts=counts.reshape(-1, m), n_missing=n_missing,
            sentinel=find_sentinel(kept.scores), samples=samples,
        ),
        request,
    )  # fmt: skip


def _samples(kept: Entries, cell: IntArray, counts: IntArray, means: FloatArray, m: int) -> Samples:
    """How the scores behind each mean vary."""
    if kept.held is None:
        squares = np.bincount(cell, (kept.scores - means[cell]) ** 2, len(counts)).astype(np.float64, copy=False)
        binary = bool(((kept.scores == 0) | (kept.scores == 1)).all())
        return Samples.of(counts.reshape(-1, m), squares.reshape(-1, m), binary=binary)
    inside, variances = np.zeros(len(counts), dtype=np.int64), np.full(len(counts), np.nan)
    inside[cell], variances[cell] = kept.held.counts[:, 0], kept.held.variances[:, 0]  # one entry a cell
    return Samples(counts=inside.reshape(-1, m), variances=variances.reshape(-1, m), binary=kept.held.binary)


def find_sentinel(scores: FloatArray) -> tuple[float, int] | None:
    """A lone negative value, looked for only where there are any."""
    return sentinel_of(scores) if scores.size and scores.min() < 0 else None


def assemble(grid: Grid, request: Request) -> Matched:
    """Tables of the groups, once items without a partner are settled."""
    names, have = request.names, ~np.isnan(grid.means)
    presence = Presence(
        have=have, lost=grid.lost, items=grid.items, groups=grid.groups, systems=request.systems,
        item_label=request.item_label, group_label=request.group_label, factor=names.factor, item=names.key,
    )  # fmt: skip
    settle(presence, request.pairs, request.unmatched)
    if grid.counts is not None and grid.repeats > 1:
        warn_uneven(presence, grid.counts)
    _warn_missing(grid, request)
    ends = np.searchsorted(grid.groups, np.arange(request.n_groups + 1))
    parts = [slice(int(ends[h]), int(ends[h + 1])) for h in range(request.n_groups)]
    found = grid.means if have.all() else grid.means[have]
    _refuse_extremes(found, names.score)
    return Matched(
        tables=[
            Table(
                scores=grid.means[part], clusters=None if grid.clusters is None else grid.clusters[part], items=grid.items[part],
                weights=None if grid.weights is None else grid.weights[part],
                samples=None if grid.samples is None else grid.samples.take(part),
            )
            for part in parts
        ],
        systems=request.systems, pairs=request.pairs, factor=names.factor, item=names.key, cluster=names.cluster,
        weights=names.weights, item_label=request.item_label, cluster_label=request.cluster_label, group_label=request.group_label,
        score_range=(float(found.min()), float(found.max())) if found.size else (np.nan, np.nan),
        binary=bool(((found == 0) | (found == 1)).all()), repeats=grid.repeats,
        sentinel=grid.sentinel,
    )  # fmt: skip


def _refuse_extremes(scores: FloatArray, name: str) -> None:
    """Scores whose squares do not fit a float."""
    largest = float(np.abs(scores).max(initial=0.0))
    if largest > _GREATEST or 0 < largest < 1 / _GREATEST:
        raise ScoreError(
            f"The largest score in {name!r} is {largest:g} in size, whose square does not fit a float; rescale them."
        )


def refuse_graded(matched: Matched) -> None:
    """McNemar's tables count passes and failures; other scores have none."""
    if matched.binary:
        return
    found = np.concatenate([table.scores.ravel() for table in matched.tables])
    found = found[~np.isnan(found) & (found != 0) & (found != 1)]
    shown = examples(f"{value:g}" for value in np.unique(found)[:6])
    mark = "" if matched.sentinel is None else (
        f" Where {matched.sentinel[0]:g} marks a failed run, set it to missing, or give it the score of a failure, first."
    )  # fmt: skip
    raise ScoreRangeError(
        f"mcnemar counts the items that one system passes and the other fails, so scores must be 0 or 1; {len(found)} are "
        f"neither, such as {shown}. diff_ci and compare take scores on any scale; or turn these into passes first, as with "
        f">= a threshold.{mark}"
    )


def _places(gone: Entries, present: IntArray, m: int) -> BoolArray:
    """Where among the items that count a left-out score would have stood."""
    lost = np.zeros((len(present), m), dtype=bool)
    key = gone.groups * gone.n_items + gone.items
    at = np.searchsorted(present, key)
    known = (gone.items >= 0) & (at < len(present))
    known[known] = present[at[known]] == key[known]
    lost[at[known], gone.systems[known]] = True
    return lost


def _refuse_missing_ids(kept: Entries, request: Request) -> None:
    names, n = request.names, len(kept.scores)
    for codes, name, what in (
        (kept.items, names.key, "item"),
        (None if kept.samples is None else kept.samples.codes, names.sample, "sample"),
    ):
        if codes is not None and (codes < 0).any():
            at = np.flatnonzero(codes < 0)
            raise PairingError(
                f"{len(at)} of {n} {names.entries} have no {what} id in {name!r}: "
                f"{examples(at.tolist(), words=kept.where)}. Without it a score has no partner. Fill it in, or leave "
                f"these {names.entries} out knowingly, as with dropna(subset=[...])."
            )
    if kept.clusters is not None and (kept.clusters.codes < 0).any():
        at = np.flatnonzero(kept.clusters.codes < 0)
        lacking = names.lacking or names.clusters
        raise MissingClusterError(
            f"{'all' if len(at) == n else len(at)} of {n} {names.entries} have no cluster id in {' or '.join(map(repr, lacking))}: "
            f"{examples(at.tolist(), words=kept.where)}. They are neither one cluster nor none. Leave them out knowingly with "
            f"dropna(subset={lacking!r}), or give each item an id of its own if they share nothing."
        )


def _refuse_repeats(kept: Entries, slot: IntArray, cell: IntArray, counts: IntArray, request: Request) -> None:
    """Refuse two scores for one item and system, unless a sample tells them apart."""
    if counts.max(initial=0) < 2:
        return
    names, key = request.names, cell
    if kept.samples is not None:
        key = cell * kept.samples.size + kept.samples.codes
        if pd.Index(key).is_unique:
            return
    codes, uniques = pd.factorize(key)
    repeated = np.flatnonzero(np.bincount(codes) > 1)
    shown = examples(repeated.tolist(), between="; ", words=lambda k: _repeated(kept, np.flatnonzero(codes == k), request))
    of = f"{names.key!r}, {names.factor!r} and {names.sample!r}" if names.sample else f"{names.key!r} and {names.factor!r}"
    raise PairingError(
        f"{len(repeated)} of {len(uniques)} combinations of {of} have two scores or more: {shown}. "
        f"{_way_out(kept, slot, cell, key, names)}"
    )


def _repeated(kept: Entries, rows: IntArray, request: Request) -> str:
    row = int(rows[0])
    group = request.group_label(int(kept.groups[row]))
    item, system = plain(request.item_label(int(kept.items[row]))), request.systems[kept.systems[row]]
    sample = "" if kept.samples is None else f", sample {plain(kept.samples.label(int(kept.samples.codes[row])))!r}"
    scores = examples((f"{kept.scores[int(i)]:g}" for i in rows), 4)
    return f"{item!r} of {system!r}{sample}{f' in {group}' if group else ''} ({scores})"


def _way_out(kept: Entries, slot: IntArray, cell: IntArray, key: IntArray, names: Names) -> str:
    """What to do about repeated scores: a longer key where a column makes one, an average, or no copies."""
    vote = (
        "mcnemar needs one score for each item: average with diff_ci or compare (sample={}), or reduce to one score, such as a "
        "majority vote, first."
    )
    average = "pass sample={}, which averages them within the item." if names.averages else vote
    found = _telling_apart(kept, slot, cell, key, names)
    if found is not None:
        first = names.clusters if found == names.cluster else [found]
        longer = f"item={list(dict.fromkeys([*first, *names.item]))!r}"
        local = f"If the ids of {names.key!r} are local to {' and '.join(map(repr, first))}, pass {longer}."
        if found == names.cluster:
            several = len(first) > 1
            told = f"cluster{'s' * several} {' and '.join(map(repr, first))} tell{'s' * (not several)} them apart"
            return f"The {told}. {local}"
        repeats = f"If {found!r} numbers repeats of an item: {average.format(repr(found))}"
        if names.entries == "rows":
            local += f" To compare within each {found!r}, pass by={found!r}."
        both = (repeats, local) if is_repeat(found) else (local, repeats)
        return f"{found!r} tells them apart. {' '.join(both)}"
    local = "If the ids are local to something, pass item=[..., ...]."
    if names.sample:
        return f"Remove the copies, as with drop_duplicates, or number the samples anew. {local}"
    copies = "If they are copies, remove them, as with drop_duplicates."
    return f"{'If they are repeats: ' * names.averages}{average.format('...')} {copies} {local}"


def _telling_apart(kept: Entries, slot: IntArray, cell: IntArray, key: IntArray, names: Names) -> str | None:
    """A column that makes the scores unique, the cluster first."""
    cluster = [] if kept.clusters is None or names.cluster is None else [(names.cluster, kept.clusters)]
    taken = {*names.item, names.sample}
    for name, ids in (*cluster, *kept.others()):
        if name not in taken and _completes(slot, cell, key, ids.codes):
            return name
    return None


def _completes(slot: IntArray, cell: IntArray, key: IntArray, codes: IntArray) -> bool:
    """Whether a column makes the key unique, and the longer ids still pair up about as well."""
    if (codes < 0).any():
        return False
    size = int(codes.max(initial=0)) + 1
    longer = pd.factorize(key)[0] * size + codes
    systems_before = len(pd.unique(cell)) / len(pd.unique(slot))
    systems_after = len(longer) / len(pd.unique(slot * size + codes))
    return pd.Index(longer).is_unique and systems_after >= 0.75 * systems_before


def _one_cluster(kept: Entries, slot: IntArray, n_slots: int, request: Request) -> IntArray | None:
    """The cluster of each item, which must be one."""
    if kept.clusters is None:
        return None
    codes = kept.clusters.codes
    own = np.zeros(n_slots, dtype=np.int64)
    own[slot[::-1]] = codes[::-1]  # the first entry's
    other = codes != own[slot]
    if not other.any():
        return own
    _, first = np.unique(slot[other], return_index=True)
    at = np.flatnonzero(other)[np.sort(first)]
    names, label = request.names, request.cluster_label

    def words(i: int) -> str:
        item = plain(request.item_label(int(kept.items[i])))
        return f"{item!r} in {label(int(own[slot[i]]))!r} and {label(int(codes[i]))!r}"

    longer = f"item={list(dict.fromkeys([*names.clusters, *names.item]))!r}"
    raise ClusterError(
        f"{len(at)} item(s) of {names.key!r} lie in more than one cluster of {names.cluster!r}: "
        f"{examples(at.tolist(), words=words)}. An item lies in one cluster, whichever system answers it. "
        f"Where the ids of {names.key!r} are local to a cluster, pass {longer}; else correct the ids."
    )


def _warn_missing(grid: Grid, request: Request) -> None:
    """Say how many scores were left out, of which systems and in which groups."""
    total = int(grid.n_missing.sum())
    if not total:
        return
    by_system = grid.n_missing.sum(axis=0)
    groups = np.flatnonzero(grid.n_missing.sum(axis=1))
    where = ""
    if request.group_label(int(groups[0])):
        where = f", in {len(groups)} group(s): {examples(groups.tolist(), between='; ', words=request.group_label)}"
    most = np.argsort(-by_system, kind="stable")[: np.count_nonzero(by_system)]
    shown = examples(most.tolist(), words=lambda i: f"{by_system[i]} of {request.systems[i]!r}")
    warn(
        f"Missing scores were left out: {shown}{where}. Where they "
        "stand for failed runs, give them the score of a failure instead.",
        MissingScoreWarning,
    )
