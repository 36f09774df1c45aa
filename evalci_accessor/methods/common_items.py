"""Systems that have all of some items in common: one Gram matrix serves all their pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from evalci_accessor.exceptions import ClusterError, PairingError, examples
from evalci_accessor.read.matched import Matched, Subset, Table
from evalci_accessor.stats.pairs.matched import MatchedScores, PairTotals
from evalci_accessor.stats.rates.intersections import counted
from evalci_accessor.stats.validate import FloatArray, IntArray

_ENTRIES = 2**21  # pairs x clusters worked on at a time
_CACHED = 2**18  # pairs x resamples, which are gone over several times


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Block:
    """Some pairs of a group, on the items that all their systems have."""

    group: int
    place: IntArray  # (p,): which of the P pairs
    # a, b (p,): their columns in `scores`
    a: IntArray
    b: IntArray
    scores: MatchedScores
    gram: FloatArray | None  # (m, m): items that both of two systems passed; None where scores are not 0/1
    # (p,): sum of the squared differences: of 0/1 scores, how many items differ. Without weights.
    square: FloatArray
    items: IntArray  # (n,): codes of the items, for messages
    # By each of several crossed clusterings, of which `scores` is the first, and by their intersections.
    crossed: dict[Subset, MatchedScores] | None = None

    @property
    def margins(self) -> list[MatchedScores]:
        """The scores by each clustering alone."""
        if self.crossed is None:
            return [self.scores]
        return [scores for some, scores in self.crossed.items() if len(some) == 1]

    @property
    def counted(self) -> list[int]:
        """Places of the crossed clusterings that do not lie within another."""
        return counted({some: len(scores.sums) for some, scores in (self.crossed or {}).items()})

    @property
    def n_clusters(self) -> int:
        """Clusters, of the clustering with the fewest; items where each stands for itself."""
        return min(len(scores.sums) for scores in self.margins)

    @property
    def by_cluster(self) -> bool:
        """Whether a difference is known by cluster, or by item where they are weighted, and not only in all."""
        return self.scores.size is not None or self.scores.weights is not None

    def chunks(
        self, *, by_cluster: bool, width: int = 0, cells: bool = False
    ) -> Iterator[tuple[slice, PairTotals]]:
        """Totals of a few pairs at a time, so that the work fits in memory. ``width`` is what else a pair needs."""
        entries = _CACHED if width else _ENTRIES
        every = (self.crossed or {(0,): self.scores}).values()
        most = sum(len(one.sums) for one in every)
        step = max(entries // max(most if by_cluster else 1, width, 1), 1)
        for start in range(0, len(self.a), step):
            part = slice(start, start + step)
            a, b, square = self.a[part], self.b[part], self.square[part]
            t = self.scores.totals(a, b, square, by_cluster=by_cluster, cells=cells)
            if self.crossed is not None:
                crossed = self.crossed.items()
                alone = {some: one.totals(a, b, square, by_cluster=True) for some, one in crossed}
                t = dataclasses.replace(t, crossed=alone)
            yield part, t


def blocks_of(matched: Matched) -> list[Block]:
    """The blocks of every group; a pair without a common item is in none."""
    # Random numbers and sums go by the labels, so that the order of the rows moves no digit.
    labels = matched.systems
    taken = np.unique(matched.pairs).tolist()
    by_label = sorted(taken, key=lambda j: (type(labels[j]).__name__, str(labels[j])))
    systems, blocks = np.array(by_label, dtype=np.int64), list[Block]()
    for h, table in enumerate(matched.tables):
        blocks += _of_table(matched, h, table, systems)
    _refuse_single_clusters(matched, blocks)
    return blocks


def refuse_single_items(matched: Matched, blocks: list[Block]) -> None:
    """An interval needs two items at least."""
    single = [block for block in blocks if block.scores.n < 2]
    if not single:
        return
    first, second = (matched.systems[j] for j in matched.pairs[single[0].place[0]])
    group = matched.names.group_label(single[0].group)
    count = sum(len(block.place) for block in single)
    more = f" (and so have {count - 1} more pairs)" if count > 1 else ""
    raise PairingError(
        f"{first!r} and {second!r} have a single item of {matched.names.key!r} in common"
        f"{f' in {group}' if group else ''}{more}, from which no error can be told. At least two are "
        "needed: leave such groups out, or name other pairs with pairs=."
    )


def _of_table(matched: Matched, h: int, table: Table, systems: IntArray) -> Iterator[Block]:
    present = ~np.isnan(table.scores[:, systems])
    if present.all():
        if len(table.scores):
            yield _block(matched, h, table, systems, np.arange(len(matched.pairs)), None)
        return
    # Systems that lack the same items go together.
    patterns, pattern = np.unique(np.packbits(present, axis=0), axis=1, return_inverse=True)
    pattern = pattern.ravel()
    of_system = np.full(len(matched.systems), -1)
    of_system[systems] = pattern
    first, second = np.sort(of_system[matched.pairs], axis=1).T
    for key in np.unique(first * patterns.shape[1] + second):
        u, v = divmod(int(key), patterns.shape[1])
        items = np.flatnonzero(present[:, pattern == u][:, 0] & present[:, pattern == v][:, 0])
        if len(items):
            members = systems[(pattern == u) | (pattern == v)]
            yield _block(matched, h, table, members, np.flatnonzero((first == u) & (second == v)), items)


def _block(
    matched: Matched, h: int, table: Table, systems: IntArray, place: IntArray, items: IntArray | None
) -> Block:
    rows = table.scores if items is None else table.scores[items]
    clusters, weights, codes = table.clusters, table.weights, table.items
    if items is not None:
        clusters = {some: ids[items] for some, ids in clusters.items()}
        codes, weights = codes[items], None if weights is None else weights[items]
    everyone = len(systems) == rows.shape[1] and (np.diff(systems) == 1).all()
    rows = rows if everyone else np.take(rows, systems, axis=1)

    scale = {"binary": matched.binary, "bounded": matched.bounded}

    def added_up(ids: IntArray | None) -> MatchedScores:
        return MatchedScores.from_items(rows, ids, **scale, weights=weights)

    crossed = {some: added_up(ids) for some, ids in clusters.items()} if matched.crossed else None
    scores = added_up(clusters.get((0,))) if crossed is None else crossed[0,]
    column = np.full(len(matched.systems), -1)
    column[systems] = np.arange(len(systems))
    a, b = column[matched.pairs[place]].T
    gram = scores.gram() if matched.binary else None
    return Block(h, place, a, b, scores, gram, scores.squares(a, b, gram), codes, crossed)


def _refuse_single_clusters(matched: Matched, blocks: list[Block]) -> None:
    for d, clustering in enumerate(matched.clusterings):
        single = [block for block in blocks if len(block.margins[d].sums) == 1]
        if not single:
            continue
        groups = list(dict.fromkeys(block.group for block in single))
        labels = [matched.names.group_label(h) for h in groups]
        where = f"{len(groups)} of {len(matched.tables)} groups ({examples(labels, between='; ')}): "
        first = f" ({clustering.label(int(single[0].margins[d].cluster[0]))!r})" if len(groups) == 1 else ""
        a, b = (matched.systems[j] for j in matched.pairs[single[0].place[0]])
        raise ClusterError(
            f"{where if labels[0] else ''}all items of {a!r} and {b!r} lie in a single cluster of {clustering.name!r}{first}, "
            "from which no error between clusters can be told. At least two clusters are needed: use a finer clustering, "
            "leave such groups out, name other pairs with pairs=, or leave out cluster= if the items really are independent."
        )
