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
from evalci_accessor.options import BETWEEN, NanPolicy, Unmatched
from evalci_accessor.read.ids import Clustering, is_repeat, join_key
from evalci_accessor.read.rows import Kept, Names, Pairing, Rows, Samples, keep_rows
from evalci_accessor.read.samples import coarsest, ordered
from evalci_accessor.read.scores import all_binary, in_unit_interval, range_of, sentinel_of
from evalci_accessor.read.unmatched import Presence, settle, warn_uneven
from evalci_accessor.stats.repeated.values import refuse_extremes
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, check_option

_ALIKE = 0.75  # share of the systems that an item keeps under a longer id
Subset = tuple[int, ...]  # places of some clusterings, as (0,) or (0, 1)


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Table:
    """The items of one group."""

    scores: FloatArray  # (n, M): mean score of an item under a system; nan where the system lacks the item
    # (n,): cluster codes by each clustering, and by each of their intersections; empty without a clustering.
    clusters: dict[Subset, IntArray]
    items: IntArray  # (n,): codes of the items, for messages
    weights: FloatArray | None  # (n,): weights above 0; None where all items count the same
    samples: Samples | None = None  # what the means are over; None unless it was asked for


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Matched:
    """The tables of all groups, the pairs to compare, and the words to speak of them."""

    tables: list[Table]  # one a group (H of them), in the order of the groups
    systems: list[Any]  # the M labels in order of first appearance
    pairs: IntArray  # (P, 2): a difference is the first minus the second
    names: Names
    clusterings: list[Clustering]  # those that count; their codes are in the tables
    score_range: tuple[float, float]  # least and greatest item mean; nan without scores
    binary: bool  # whether all item means are 0 or 1
    repeats: int  # most scores that were averaged into one cell
    # A negative value that looks like a mark rather than a score, and how often it occurs.
    sentinel: tuple[float, int] | None
    # Scores and clusters of two systems in further orders that rows of a fitted model may have.
    orders: Callable[[list[Any]], list[tuple[FloatArray, list[IntArray]]]] | None = None

    @property
    def cluster(self) -> str | None:
        """The clustering's name, or the names of crossed ones; None where items stand for themselves."""
        return BETWEEN.join([one.name for one in self.clusterings]) if self.clusterings else None

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
        return f"{first!r} against {second!r}{self.names.within(h)}"


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Grid:
    """Means of the items of all groups, one group after the other."""

    means: FloatArray  # (S, M): nan where a system lacks the item
    lost: BoolArray | None  # (S, M): where a missing score was left out
    items: IntArray  # (S,)
    groups: IntArray  # (S,), ascending
    clusterings: list[Clustering]  # the cluster of each item, S of them
    weights: FloatArray | None  # (S,)
    counts: IntArray | None  # (S, M): scores that each mean is over; None where it is the same everywhere
    repeats: int
    n_missing: IntArray  # (H, M)
    sentinel: tuple[float, int] | None
    samples: Samples | None = None  # only if asked for


def match(rows: Rows, pairing: Pairing, nan_policy: NanPolicy) -> Matched:
    """Tables of all groups from scores in any order."""
    check_option(pairing.unmatched, Unmatched, "unmatched")
    names, m = pairing.names, len(pairing.systems)
    why = "Without it a score has no partner."
    kept = keep_rows(rows, names, nan_policy, ex.PairingError, {"item": why, "sample": why})
    cell = kept.slot * m + kept.rows.systems
    counts = np.bincount(cell, minlength=len(kept.present) * m)
    _refuse_repeats(kept, cell, counts, pairing)
    with np.errstate(invalid="ignore"):
        means = np.bincount(cell, weights=kept.rows.scores, minlength=len(counts)) / counts
    lost, n_missing = None, np.zeros((names.n_groups, m), dtype=np.int64)
    if kept.missing is not None:
        gone = rows.take(kept.missing)
        lost = _places(gone, kept, m)
        n_missing = np.bincount(gone.groups * m + gone.systems, minlength=n_missing.size)
    grid = Grid(
        means=means.reshape(-1, m),
        lost=lost,
        items=kept.present % kept.keys.size,
        groups=kept.present // kept.keys.size,
        clusterings=kept.clusters(_torn),
        weights=kept.weights,
        counts=counts.reshape(-1, m),
        repeats=int(counts.max(initial=1)),
        n_missing=n_missing.reshape(-1, m),
        sentinel=sentinel_of(kept.rows.scores),
        samples=_samples(kept.rows, cell, counts, means, m) if pairing.samples else None,
    )
    return assemble(grid, pairing)


def _samples(kept: Rows, cell: IntArray, counts: IntArray, means: FloatArray, m: int) -> Samples:
    """How the scores behind each mean vary."""
    if kept.held is None:
        squares: Any = np.bincount(cell, (kept.scores - means[cell]) ** 2, len(counts))
        return Samples.of(counts.reshape(-1, m), squares.reshape(-1, m), binary=all_binary(kept.scores))
    inside, variances = np.zeros(len(counts), dtype=np.int64), np.full(len(counts), np.nan)
    inside[cell], variances[cell] = kept.held.counts, kept.held.variances  # one row a cell
    return Samples(counts=inside.reshape(-1, m), variances=variances.reshape(-1, m), binary=kept.held.binary)


def assemble(grid: Grid, pairing: Pairing) -> Matched:
    """Tables of the groups, once items without a partner are settled."""
    names, have = pairing.names, ~np.isnan(grid.means)
    presence = Presence(have=have, lost=grid.lost, items=grid.items, groups=grid.groups, pairing=pairing)
    settle(presence)
    if grid.counts is not None and grid.repeats > 1:
        warn_uneven(presence, grid.counts)
    _warn_missing(grid, pairing)
    found = grid.means if have.all() else grid.means[have]
    refuse_extremes(found, names.score)
    clusterings, subsets = _crossed(grid.clusterings)
    ends = np.searchsorted(grid.groups, np.arange(names.n_groups + 1))
    tables = [
        Table(
            scores=grid.means[part],
            clusters={some: codes[part] for some, codes in subsets.items()},
            items=grid.items[part],
            weights=None if grid.weights is None else grid.weights[part],
            samples=None if grid.samples is None else grid.samples.take(part),
        )
        for part in itertools.starmap(slice, itertools.pairwise(ends.tolist()))
    ]
    return Matched(
        tables=tables,
        systems=pairing.systems,
        pairs=pairing.pairs,
        names=names,
        clusterings=clusterings,
        score_range=range_of(found),
        binary=all_binary(found),
        repeats=grid.repeats,
        sentinel=grid.sentinel,
    )


def _crossed(clusterings: list[Clustering]) -> tuple[list[Clustering], dict[Subset, IntArray]]:
    """Those that count, and the cluster of each item in each of them and in each of their intersections."""
    counts = ordered(clusterings)
    if len(counts) > 1:
        counts = [counts[k] for k in coarsest(counts, warns=True)]
    subsets: dict[Subset, IntArray] = {}
    for size in range(1, len(counts) + 1):
        for some in itertools.combinations(range(len(counts)), size):
            codes = [counts[d].coded.codes for d in some]
            subsets[some] = (
                codes[0] if size == 1 else np.unique(codes, axis=1, return_inverse=True)[1].reshape(-1)
            )
    return counts, subsets


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


def _places(gone: Rows, kept: Kept, m: int) -> BoolArray:
    """Where among the items that count a left-out score would have stood."""
    present, key = kept.present, kept.keys.of(gone)
    lost = np.zeros((len(present), m), dtype=bool)
    at = np.searchsorted(present, key)
    known = (key >= 0) & (at < len(present))
    known[known] = present[at[known]] == key[known]
    lost[at[known], gone.systems[known]] = True
    return lost


def _refuse_repeats(kept: Kept, cell: IntArray, counts: IntArray, pairing: Pairing) -> None:
    """Refuse two scores for one item and system, unless a sample tells them apart."""
    if counts.max(initial=0) < 2:
        return
    names, rows, key = pairing.names, kept.rows, cell
    of = f"{names.key!r} and {names.factor!r}"
    if rows.samples is not None:
        key = cell * rows.samples.size + rows.samples.codes
    if names.sample:
        of = f"{names.key!r}, {names.factor!r} and {names.sample!r}"

    def words(row: int) -> str:
        item, system = plain(names.item_label(int(rows.items[row]))), pairing.systems[rows.systems[row]]
        sample = ""
        if rows.samples is not None:
            sample = f", sample {plain(rows.samples.label(int(rows.samples.codes[row])))!r}"
        return f"{item!r} of {system!r}{sample}{names.within(int(rows.groups[row]))}"

    kept.refuse_copies(key, of, words, lambda: _way_out(kept, cell, key, pairing), ex.PairingError)


def _way_out(kept: Kept, cell: IntArray, key: IntArray, pairing: Pairing) -> str:
    """What to do about repeated scores: a longer key where a column makes one, an average, or no copies."""
    names, average = pairing.names, "pass sample={}, which averages them within the item."
    if not pairing.averages:
        average = (
            "mcnemar needs one score for each item: average with diff_ci or compare (sample={}), or reduce to one score, "
            "such as a majority vote, first."
        )
    clusterings = kept.rows.clusterings
    clusters = [one.name for one in clusterings]
    if clusters and _completes(kept.slot, cell, key, join_key([one.coded for one in clusterings]).codes):
        told = f"{' and '.join(map(repr, clusters))} {'tells' if len(clusters) == 1 else 'tell'} them apart"
        return f"The cluster{'s' * (len(clusters) > 1)} {told}. {_longer(clusters, names)}"
    for name, ids in kept.rows.others():
        if name not in {*names.item, *names.samples} and _completes(kept.slot, cell, key, ids.codes):
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


def _completes(slot: IntArray, cell: IntArray, key: IntArray, codes: IntArray) -> bool:
    """Whether a column makes the key unique, and the longer ids still pair up about as well."""
    if (codes < 0).any():
        return False
    size = int(codes.max(initial=0)) + 1
    longer = pd.factorize(key)[0] * size + codes
    systems_before = len(pd.unique(cell)) / len(pd.unique(slot))
    systems_after = len(longer) / len(pd.unique(slot * size + codes))
    return pd.Index(longer).is_unique and systems_after >= _ALIKE * systems_before


def _torn(kept: Kept, one: Clustering, at: IntArray, both: Callable[[int], str]) -> ex.ClusterError:
    names, rows = kept.keys.names, kept.rows

    def words(i: int) -> str:
        return f"{plain(names.item_label(int(rows.items[i])))!r}{both(i)}"

    longer = f"item={list(dict.fromkeys([*(c.name for c in rows.clusterings), *names.item]))!r}"
    return ex.ClusterError(
        f"{len(at)} item(s) of {names.key!r} lie in more than one cluster of {one.name!r}: "
        f"{examples(at.tolist(), words=words)}. An item lies in one cluster, whichever system answers it. "
        f"Where the ids of {names.key!r} are local to a cluster, pass {longer}; else correct the ids."
    )


def _warn_missing(grid: Grid, pairing: Pairing) -> None:
    """Say how many scores were left out, of which systems and in which groups."""
    if not grid.n_missing.any():
        return
    by_system = grid.n_missing.sum(axis=0)
    where = pairing.names.listed(np.flatnonzero(grid.n_missing.sum(axis=1)).tolist())
    most = np.argsort(-by_system, kind="stable")[: np.count_nonzero(by_system)]
    shown = examples(most.tolist(), words=lambda i: f"{by_system[i]} of {pairing.systems[i]!r}")
    warn(
        f"Missing scores were left out: {shown}{where}. Where they stand for failed runs, give them the score of a "
        "failure instead.",
        ex.MissingScoreWarning,
    )
