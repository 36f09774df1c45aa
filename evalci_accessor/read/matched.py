"""Scores of several systems on the same items: one table a group, a row an item and a column a system."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, plain, warn
from evalci_accessor.options import NanPolicy, Unmatched
from evalci_accessor.read.ids import Clustering, Codes, is_repeat, ranked
from evalci_accessor.read.names import joint_name
from evalci_accessor.read.rows import Names, Pairing, Rows, Samples
from evalci_accessor.read.samples import coarsest, ordered, refuse_many
from evalci_accessor.read.scores import (
    checked_weights,
    in_unit_interval,
    one_weight,
    refuse_unequal,
    refuse_weightless,
    screen,
    sentinel_of,
)
from evalci_accessor.read.unmatched import Presence, settle, warn_uneven
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, check_option

_GREATEST = 1e150  # squares of larger scores, or of smaller ones than its inverse, do not fit
_ALIKE = 0.75  # share of the systems that an item keeps under a longer id
Subset = tuple[int, ...]  # places of some clusterings, as (0,) or (0, 1)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """The items of one group.

    Parameters
    ----------
    scores : ndarray of float, shape (n, M)
        Mean score of an item under a system; nan where the system lacks the item.
    clusters : dict of ndarray of int, shape (n,)
        Cluster codes by each clustering, and by each of their intersections; empty without a clustering.
    items : ndarray of int, shape (n,)
        Codes of the items, for messages.
    weights : ndarray of float, shape (n,), or None
        Weights above 0; None where all items count the same.
    samples : Samples or None
        What the means are over; None unless it was asked for.
    """

    scores: FloatArray
    clusters: dict[Subset, IntArray]
    items: IntArray
    weights: FloatArray | None
    samples: Samples | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matched:
    """The tables of all groups, the pairs to compare, and the words to speak of them.

    Parameters
    ----------
    tables : list of Table
        One a group (H of them), in the order of the groups.
    systems : list
        The M labels in order of first appearance.
    pairs : ndarray of int, shape (P, 2)
        A difference is the first minus the second.
    names : Names
    clusterings : list of Clustering
        Those that count; their codes are in the tables.
    score_range : tuple of float
        Least and greatest item mean; nan without scores.
    binary : bool
        Whether all item means are 0 or 1.
    repeats : int
        Most scores that were averaged into one cell.
    sentinel : tuple or None
        A negative value that looks like a mark rather than a score, and how often it occurs.
    orders : callable or None
        Scores and clusters of two systems in further orders that rows of a fitted model may have.
    """

    tables: list[Table]
    systems: list[Any]
    pairs: IntArray
    names: Names
    clusterings: list[Clustering]
    score_range: tuple[float, float]
    binary: bool
    repeats: int
    sentinel: tuple[float, int] | None
    orders: Callable[[list[Any]], list[tuple[FloatArray, list[IntArray]]]] | None = None

    @property
    def cluster(self) -> str | None:
        """The clustering's name, or the names of crossed ones; None where items stand for themselves."""
        return joint_name([one.name for one in self.clusterings]) if self.clusterings else None

    @property
    def weighted(self) -> bool:
        """Whether items count differently."""
        return self.names.weights is not None

    @property
    def crossed(self) -> bool:
        """Whether there are several clusterings."""
        return len(self.clusterings) > 1

    @property
    def bounded(self) -> bool:
        """Whether all item means lie in [0, 1]; true without scores."""
        return in_unit_interval(self.score_range)

    @property
    def has(self) -> dict[str, bool]:
        """What the choice of a method depends on beside the scores."""
        return {"clustered": bool(self.clusterings), "weighted": self.weighted, "crossed": self.crossed}

    def pair_words(self, k: int) -> str:
        """Words for a pair in a group, by its place."""
        h, p = divmod(k, len(self.pairs))
        first, second = (self.systems[j] for j in self.pairs[p])
        group = self.names.group_label(h)
        return f"{first!r} against {second!r}" + (f" in {group}" if group else "")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """Means of the items of all groups, one group after the other.

    Parameters
    ----------
    means : ndarray of float, shape (S, M)
        nan where a system lacks the item.
    lost : ndarray of bool, shape (S, M), or None
        Where a missing score was left out.
    items, groups : ndarray of int, shape (S,)
        ``groups`` ascends.
    clusterings : list of Clustering
        The cluster of each item, S of them.
    weights : ndarray of float, shape (S,), or None
    counts : ndarray of int, shape (S, M), or None
        Scores that each mean is over; None where it is the same everywhere.
    repeats : int
    n_missing : ndarray of int, shape (H, M)
    sentinel : tuple or None
    samples : Samples or None
        Only if asked for.
    """

    means: FloatArray
    lost: BoolArray | None
    items: IntArray
    groups: IntArray
    clusterings: list[Clustering]
    weights: FloatArray | None
    counts: IntArray | None
    repeats: int
    n_missing: IntArray
    sentinel: tuple[float, int] | None
    samples: Samples | None = None


def match(rows: Rows, pairing: Pairing, nan_policy: NanPolicy) -> Matched:
    """Tables of all groups from scores in any order."""
    check_option(pairing.unmatched, Unmatched, "unmatched")
    names, m = pairing.names, len(pairing.systems)
    weights = None if rows.weights is None else _item_weights(rows, names)
    # As if the rows were not there, whatever they hold.
    absent = None if rows.weights is None else rows.weights == 0
    keep, missing = screen(rows.scores, absent, names.score, nan_policy, rows.where)
    kept = rows.take(keep)
    why = "Without it a score has no partner."
    kept.refuse_missing_ids(names, ex.PairingError, {"item": why, "sample": why})
    slot, present = ranked(kept.groups * rows.n_items + kept.items, names.n_groups * rows.n_items)
    cell = slot * m + kept.systems
    counts = np.bincount(cell, minlength=len(present) * m)
    _refuse_repeats(kept, slot, cell, counts, pairing)
    with np.errstate(invalid="ignore"):
        means = np.bincount(cell, weights=kept.scores, minlength=len(counts)) / counts
    lost, n_missing = None, np.zeros((names.n_groups, m), dtype=np.int64)
    if missing is not None:
        gone = rows.take(missing)
        lost = _places(gone, present, m)
        n_missing = np.bincount(gone.groups * m + gone.systems, minlength=n_missing.size).reshape(
            n_missing.shape
        )
    grid = Grid(
        means=means.reshape(-1, m),
        lost=lost,
        items=present % max(rows.n_items, 1),
        groups=present // max(rows.n_items, 1),
        clusterings=[_one_cluster(kept, one, slot, len(present), pairing) for one in kept.clusterings],
        weights=None if weights is None else weights(present),
        counts=counts.reshape(-1, m),
        repeats=int(counts.max(initial=1)),
        n_missing=n_missing,
        sentinel=find_sentinel(kept.scores),
        samples=_samples(kept, cell, counts, means, m) if pairing.samples else None,
    )
    return assemble(grid, pairing)


def _item_weights(rows: Rows, names: Names) -> Callable[[IntArray], FloatArray]:
    """What gives the weights of items by key, after the checks: one weight an item, whichever system answers it."""
    raw = np.asarray(rows.weights)
    weights = checked_weights(raw, str(names.weights), rows.where)
    totals = np.bincount(rows.groups, weights=weights, minlength=names.n_groups)
    held = np.bincount(rows.groups, minlength=names.n_groups) > 0
    if len(totals) > 1:
        refuse_weightless(np.where(held, totals, np.nan), names.group_label)
    at = np.flatnonzero(rows.items >= 0)  # without an id only what is absent passes the checks that follow
    slot, present = ranked((rows.groups * rows.n_items + rows.items)[at], names.n_groups * rows.n_items)
    found, bad = one_weight(weights[at], slot, len(present))

    def words(k: int) -> str:
        return names.words(int(present[k] % rows.n_items), int(present[k] // rows.n_items))

    refuse_unequal(np.flatnonzero(bad), words, lambda k: raw[at][slot == k], names.key, str(names.weights))
    return lambda keys: found[np.searchsorted(present, keys)]


def _samples(kept: Rows, cell: IntArray, counts: IntArray, means: FloatArray, m: int) -> Samples:
    """How the scores behind each mean vary."""
    if kept.held is None:
        squares = np.bincount(cell, (kept.scores - means[cell]) ** 2, len(counts)).astype(
            np.float64, copy=False
        )
        binary = bool(((kept.scores == 0) | (kept.scores == 1)).all())
        return Samples.of(counts.reshape(-1, m), squares.reshape(-1, m), binary=binary)
    inside, variances = np.zeros(len(counts), dtype=np.int64), np.full(len(counts), np.nan)
    inside[cell], variances[cell] = kept.held.counts[:, 0], kept.held.variances[:, 0]  # one row a cell
    return Samples(counts=inside.reshape(-1, m), variances=variances.reshape(-1, m), binary=kept.held.binary)


def find_sentinel(scores: FloatArray) -> tuple[float, int] | None:
    """A lone negative value, looked for only where there are any."""
    return sentinel_of(scores) if scores.size and scores.min() < 0 else None


def assemble(grid: Grid, pairing: Pairing) -> Matched:
    """Tables of the groups, once items without a partner are settled."""
    names, have = pairing.names, ~np.isnan(grid.means)
    presence = Presence(have=have, lost=grid.lost, items=grid.items, groups=grid.groups, pairing=pairing)
    settle(presence)
    if grid.counts is not None and grid.repeats > 1:
        warn_uneven(presence, grid.counts)
    _warn_missing(grid, pairing)
    found = grid.means if have.all() else grid.means[have]
    _refuse_extremes(found, names.score)
    clusterings, subsets = _crossed(grid.clusterings)
    ends = np.searchsorted(grid.groups, np.arange(names.n_groups + 1))
    tables = []
    for part in itertools.starmap(slice, itertools.pairwise(ends.tolist())):
        tables.append(
            Table(
                scores=grid.means[part],
                clusters={some: codes[part] for some, codes in subsets.items()},
                items=grid.items[part],
                weights=None if grid.weights is None else grid.weights[part],
                samples=None if grid.samples is None else grid.samples.take(part),
            )
        )
    return Matched(
        tables=tables,
        systems=pairing.systems,
        pairs=pairing.pairs,
        names=names,
        clusterings=clusterings,
        score_range=(float(found.min()), float(found.max())) if found.size else (np.nan, np.nan),
        binary=bool(((found == 0) | (found == 1)).all()),
        repeats=grid.repeats,
        sentinel=grid.sentinel,
    )


def _crossed(clusterings: list[Clustering]) -> tuple[list[Clustering], dict[Subset, IntArray]]:
    """Those that count, and the cluster of each item in each of them and in each of their intersections."""
    counts = ordered(clusterings)
    if len(counts) > 1:
        counts = [counts[k] for k in coarsest(counts, warns=True)]
        refuse_many([one.name for one in counts])
    subsets: dict[Subset, IntArray] = {}
    for size in range(1, len(counts) + 1):
        for some in itertools.combinations(range(len(counts)), size):
            codes = [counts[d].coded.codes for d in some]
            subsets[some] = (
                codes[0] if size == 1 else np.unique(codes, axis=1, return_inverse=True)[1].reshape(-1)
            )
    return counts, subsets


def _refuse_extremes(scores: FloatArray, name: str) -> None:
    """Scores whose squares do not fit a float."""
    largest = float(np.abs(scores).max(initial=0.0))
    if largest > _GREATEST or 0 < largest < 1 / _GREATEST:
        raise ex.ScoreError(
            f"The largest score in {name!r} is {largest:g} in size, whose square does not fit a float; rescale them."
        )


def refuse_graded(matched: Matched) -> None:
    """McNemar's tables count passes and failures; other scores have none."""
    if matched.binary:
        return
    found = np.concatenate([table.scores.ravel() for table in matched.tables])
    found = found[~np.isnan(found) & (found != 0) & (found != 1)]
    shown = examples(f"{value:g}" for value in np.unique(found)[:6])
    mark = ""
    if matched.sentinel is not None:
        mark = (
            f" Where {matched.sentinel[0]:g} marks a failed run, set it to missing, or give it the score of a failure, "
            "first."
        )
    raise ex.ScoreRangeError(
        f"mcnemar counts the items that one system passes and the other fails, so scores must be 0 or 1; {len(found)} "
        f"are neither, such as {shown}. diff_ci and compare take scores on any scale; or turn these into passes first, "
        f"as with >= a threshold.{mark}"
    )


def _places(gone: Rows, present: IntArray, m: int) -> BoolArray:
    """Where among the items that count a left-out score would have stood."""
    lost = np.zeros((len(present), m), dtype=bool)
    key = gone.groups * gone.n_items + gone.items
    at = np.searchsorted(present, key)
    known = (gone.items >= 0) & (at < len(present))
    known[known] = present[at[known]] == key[known]
    lost[at[known], gone.systems[known]] = True
    return lost


def _refuse_repeats(kept: Rows, slot: IntArray, cell: IntArray, counts: IntArray, pairing: Pairing) -> None:
    """Refuse two scores for one item and system, unless a sample tells them apart."""
    if counts.max(initial=0) < 2:
        return
    names, key = pairing.names, cell
    if kept.samples is not None:
        key = cell * kept.samples.size + kept.samples.codes
        if pd.Index(key).is_unique:
            return
    codes, uniques = pd.factorize(key)
    repeated = np.flatnonzero(np.bincount(codes) > 1)

    def words(k: int) -> str:
        return _repeated(kept, np.flatnonzero(codes == k), pairing)

    of = f"{names.key!r} and {names.factor!r}"
    if names.sample:
        of = f"{names.key!r}, {names.factor!r} and {names.sample!r}"
    raise ex.PairingError(
        f"{len(repeated)} of {len(uniques)} combinations of {of} have two scores or more: "
        f"{examples(repeated.tolist(), between='; ', words=words)}. {_way_out(kept, slot, cell, key, pairing)}"
    )


def _repeated(kept: Rows, rows: IntArray, pairing: Pairing) -> str:
    row, names = int(rows[0]), pairing.names
    group = names.group_label(int(kept.groups[row]))
    item, system = plain(names.item_label(int(kept.items[row]))), pairing.systems[kept.systems[row]]
    number = None if kept.samples is None else plain(kept.samples.label(int(kept.samples.codes[row])))
    sample = "" if kept.samples is None else f", sample {number!r}"
    scores = examples((f"{kept.scores[int(i)]:g}" for i in rows), 4)
    return f"{item!r} of {system!r}{sample}{f' in {group}' if group else ''} ({scores})"


def _way_out(kept: Rows, slot: IntArray, cell: IntArray, key: IntArray, pairing: Pairing) -> str:
    """What to do about repeated scores: a longer key where a column makes one, an average, or no copies."""
    names, average = pairing.names, "pass sample={}, which averages them within the item."
    if not pairing.averages:
        average = (
            "mcnemar needs one score for each item: average with diff_ci or compare (sample={}), or reduce to one score, "
            "such as a majority vote, first."
        )
    clusters = [one.name for one in kept.clusterings]
    if clusters and _completes(slot, cell, key, _joint([one.coded for one in kept.clusterings])):
        several = len(clusters) > 1
        apart = (
            f"cluster{'s' * several} {' and '.join(map(repr, clusters))} tell{'s' * (not several)} them apart"
        )
        return f"The {apart}. {_longer(clusters, names)}"
    for name, ids in kept.others():
        if name not in {*names.item, *names.samples} and _completes(slot, cell, key, ids.codes):
            local = _longer([name], names)
            repeats = f"If {name!r} numbers repeats of an item: {average.format(repr(name))}"
            if names.entries == "rows":
                local += f" To compare within each {name!r}, pass by={name!r}."
            both = (repeats, local) if is_repeat(name) else (local, repeats)
            return f"{name!r} tells them apart. {' '.join(both)}"
    local = "If the ids are local to something, pass item=[..., ...]."
    if names.sample:
        return f"Remove the copies, as with drop_duplicates, or number the samples anew. {local}"
    copies = "If they are copies, remove them, as with drop_duplicates."
    return f"{'If they are repeats: ' * pairing.averages}{average.format('...')} {copies} {local}"


def _longer(first: list[str], names: Names) -> str:
    item = list(dict.fromkeys([*first, *names.item]))
    return f"If the ids of {names.key!r} are local to {' and '.join(map(repr, first))}, pass item={item!r}."


def _joint(coded: list[Codes]) -> IntArray:
    """What several clusterings make together; -1 where an id is missing."""
    codes = np.stack([one.codes for one in coded])
    joint = np.unique(codes, axis=1, return_inverse=True)[1].reshape(-1)
    return np.where((codes < 0).any(axis=0), -1, joint)


def _completes(slot: IntArray, cell: IntArray, key: IntArray, codes: IntArray) -> bool:
    """Whether a column makes the key unique, and the longer ids still pair up about as well."""
    if (codes < 0).any():
        return False
    size = int(codes.max(initial=0)) + 1
    longer = pd.factorize(key)[0] * size + codes
    systems_before = len(pd.unique(cell)) / len(pd.unique(slot))
    systems_after = len(longer) / len(pd.unique(slot * size + codes))
    return pd.Index(longer).is_unique and systems_after >= _ALIKE * systems_before


def _one_cluster(kept: Rows, one: Clustering, slot: IntArray, n_slots: int, pairing: Pairing) -> Clustering:
    """The cluster of each item, which must be one."""
    codes, names = one.coded.codes, pairing.names
    own = np.zeros(n_slots, dtype=np.int64)
    own[slot[::-1]] = codes[::-1]  # the first row's
    other = codes != own[slot]
    if not other.any():
        return dataclasses.replace(one, coded=dataclasses.replace(one.coded, codes=own))
    _, first = np.unique(slot[other], return_index=True)
    at = np.flatnonzero(other)[np.sort(first)]

    def words(i: int) -> str:
        item = plain(names.item_label(int(kept.items[i])))
        return f"{item!r} in {one.label(int(own[slot[i]]))!r} and {one.label(int(codes[i]))!r}"

    longer = f"item={list(dict.fromkeys([*(c.name for c in kept.clusterings), *names.item]))!r}"
    raise ex.ClusterError(
        f"{len(at)} item(s) of {names.key!r} lie in more than one cluster of {one.name!r}: "
        f"{examples(at.tolist(), words=words)}. An item lies in one cluster, whichever system answers it. "
        f"Where the ids of {names.key!r} are local to a cluster, pass {longer}; else correct the ids."
    )


def _warn_missing(grid: Grid, pairing: Pairing) -> None:
    """Say how many scores were left out, of which systems and in which groups."""
    if not grid.n_missing.any():
        return
    by_system, label = grid.n_missing.sum(axis=0), pairing.names.group_label
    groups = np.flatnonzero(grid.n_missing.sum(axis=1)).tolist()
    where = ""
    if label(groups[0]):
        where = f", in {len(groups)} group(s): {examples(groups, between='; ', words=label)}"
    most = np.argsort(-by_system, kind="stable")[: np.count_nonzero(by_system)]
    shown = examples(most.tolist(), words=lambda i: f"{by_system[i]} of {pairing.systems[i]!r}")
    warn(
        f"Missing scores were left out: {shown}{where}. Where they stand for failed runs, give them the score of a "
        "failure instead.",
        ex.MissingScoreWarning,
    )
