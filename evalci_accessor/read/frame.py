"""A DataFrame, or a Series with its index levels: rows to samples, matched systems and items, and answers as tidy frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, plain
from evalci_accessor.options import Roles
from evalci_accessor.read import Read, Reader, ids
from evalci_accessor.read.columns import Column, Frame, find, free_columns, listed
from evalci_accessor.read.ids import Clustering, Codes, bare, encode, encode_ids
from evalci_accessor.read.items import Items, gather
from evalci_accessor.read.matched import Matched, match
from evalci_accessor.read.names import choose_systems, find_clusterings, named_parts, refuse_missing_factor
from evalci_accessor.read.rows import Names, Pairing, Rows
from evalci_accessor.read.samples import Scores, told_of
from evalci_accessor.read.scores import (
    checked_counts,
    checked_weights,
    refuse_both,
    refuse_weightless,
    screen,
    to_float,
    warn_count_weights,
)
from evalci_accessor.read.tidy import FrameWriter, as_series
from evalci_accessor.read.unnamed import Coder, ids_only, ids_or_settings, usable
from evalci_accessor.stats.validate import FloatArray, IntArray

Columns: TypeAlias = dict[str, list[Column]]  # those of each part in a call


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Keys:
    """What the rows of the answer are: a group a distinct key."""

    columns: list[Column]  # empty where all rows are one group
    codes: IntArray  # the group of each row
    first: IntArray  # the first row of each group, as a place in the caller's data

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.first)

    def label(self, h: int) -> str:
        """Words for a group, as ``model='A', lang='en'``; empty for the only one."""
        row = self.first[h]
        return ", ".join(f"{key.name}={plain(_take(key.values, row))!r}" for key in self.columns)

    def writer(self, systems: Any = None, factor: str = "") -> FrameWriter:
        """The way back, with the dtypes of the keys."""
        keys = {one.label: _rows_of(one, self.first) for one in self.columns}
        return FrameWriter(values=keys, n_groups=self.n_groups, systems=systems, factor=factor)


def _rows_of(column: Column, at: IntArray) -> pd.Series:
    return as_series(column.values).iloc[at].reset_index(drop=True)


def _take(values: Any, at: Any) -> Any:
    if at is None:
        return values
    return values.iloc[at] if isinstance(values, pd.Series) else values[at]


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class FrameScores(Scores):
    """Checked scores of a frame and the keys of their groups."""

    entry: ClassVar[str] = "row"
    data: Frame
    keys: Keys

    def clustering(self, column: Column) -> Clustering:
        """The ids of a column, which no row that counts may lack."""
        coded = encode(column.values, column.name)
        lacking = coded.codes < 0
        if self.keep is not None:
            lacking &= self.keep  # a row without a score is left out anyway
        labels = self.data.index
        ids.refuse_missing_clusters(
            lacking,
            column.name,
            "rows",
            lambda at: f"rows {examples(repr(plain(labels[row])) for row in at)}",
        )
        return Clustering(name=column.name, coded=coded)


class FrameReader(Reader[pd.DataFrame]):
    """Reads a DataFrame with one row a score, or a Series of scores."""

    needs_item = True

    def __init__(self, data: Frame) -> None:
        self.data = data

    def _own(self, roles: Roles) -> Roles:
        """The roles of a frame: a Series is its own score, and there are no dims."""
        if roles.dim is not None:
            raise ex.MethodError(
                f"dim={roles.dim!r} is for cubes, which have dims to reduce. Of a frame name what the rows of the answer "
                "are, with by=."
            )
        if isinstance(self.data, pd.DataFrame):
            return roles
        if not (isinstance(roles.score, str) and roles.score == "score") and roles.score is not self.data:
            shown = repr(roles.score) if isinstance(roles.score, (str, int)) else type(roles.score).__name__
            raise ex.MethodError(
                f"score={shown} is given, and a Series is its own score; leave score= out, or call the "
                "method on a DataFrame."
            )
        return dataclasses.replace(roles, score=self.data)

    def _keys(self, roles: Roles, at: IntArray | None = None) -> Keys:
        columns = [find(self.data, spec, "by") for spec in listed(self.data, roles.by)]
        names = [key.label for key in columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ex.AmbiguousNameError(f"by={twice!r} would stand twice in the result; name each key once.")
        if not columns:
            n = len(self.data) if at is None else len(at)
            return Keys(columns=[], codes=np.zeros(n, dtype=np.int64), first=np.zeros(1, dtype=np.int64))
        codes, first = ids.group_rows([(_take(key.values, at), key.name) for key in columns])
        return Keys(columns=columns, codes=codes, first=first if at is None else at[first])

    def _where(self, row: int) -> str:
        return f"row {plain(self.data.index[row])!r}"

    def _clusterings(self, roles: Roles) -> list[Column]:
        """The columns of the clusterings."""
        way = "For ids by position pass an array, as numpy.asarray(ids)."
        specs = listed(self.data, roles.cluster)
        return find_clusterings(specs, roles.score, lambda spec: find(self.data, spec, "cluster"), way)

    def _scores(self, roles: Roles) -> FrameScores:
        """Find and check scores, groups and weights."""
        roles = self._own(roles)
        column = find(self.data, roles.score, "score")
        scores = to_float(column.values, column.name)
        weight: FloatArray | None = None
        counts: FloatArray | None = None
        refuse_both(roles)
        if roles.weights is not None:
            found = find(self.data, roles.weights, "weights")
            raw = to_float(found.values, found.name, "weights")
            weight = checked_weights(raw, found.name, self._where)
            warn_count_weights(scores, raw, str(found.name))
        if roles.n is not None:
            found = find(self.data, roles.n, "n")
            total = to_float(found.values, found.name, "counts")
            counts = checked_counts(scores, total, (column.name, found.name), self._where)
        absent = weight if counts is None else counts  # where it is 0
        keep, missing = screen(scores, absent, column.name, roles.nan_policy, self._where)
        keys = self._keys(roles)
        if weight is not None and keys.columns:
            totals = np.bincount(keys.codes, weights=weight, minlength=keys.n_groups)
            refuse_weightless(totals.astype(float, copy=False), keys.label)
        return FrameScores(
            data=self.data,
            values=scores,
            keep=keep,
            missing=missing,
            keys=keys,
            groups=keys.codes if keys.columns else None,
            n_groups=keys.n_groups,
            group_label=keys.label,
            weights=weight,
            counts=counts,
            **told_of(scores if keep is None else scores[keep], counts),
        )

    def _writer(self, scores: FrameScores) -> FrameWriter:
        return scores.keys.writer()

    def _clustered(self, roles: Roles) -> tuple[FrameScores, list[Clustering]]:
        scores, columns = self._scores(roles), self._clusterings(self._own(roles))
        _refuse_keys(columns, scores.keys)
        return scores, [scores.clustering(column) for column in columns]

    def _candidates(self, roles: Roles) -> tuple[FrameScores, list[Clustering]]:
        """Columns and index levels that repeat their values and have no other part in the call."""
        scores, roles = self._scores(roles), self._own(roles)
        parts = [find(self.data, roles.score, "score"), *scores.keys.columns]
        numbers = ((roles.weights, "weights"), (roles.n, "n"))
        parts += [find(self.data, spec, role) for spec, role in numbers if spec is not None]
        named = list(free_columns(self.data, {one.label for one in parts}, "cluster"))
        keep = slice(None) if scores.keep is None else scores.keep
        kept = usable({one.name: one.values[keep] for one in named}, scores.values[keep])
        return scores, [scores.clustering(one) for one in named if one.name in kept]

    def _parts(self, roles: Roles, apart: str) -> Columns:
        """The columns of each role; none plays two parts, and that of the item is needed, which tells ``apart``."""
        data = self.data
        if not listed(data, roles.item):
            given = "is missing" if roles.item is None else "names nothing"
            raise ex.MethodError(f"item= {given}: the column that tells the {apart}.")
        clusterings = [] if roles.cluster is None else self._clusterings(roles)
        specs = named_parts(roles, lambda named: listed(data, named)) | {"cluster": []}
        found = {role: [find(data, spec, role) for spec in named] for role, named in specs.items()}
        return found | {"cluster": clusterings}

    def _rows(
        self, parts: Columns, at: IntArray | None, keys: Keys, items: Codes, systems: IntArray, others: Coder
    ) -> Rows:
        """The rows ``at`` some places; ``others`` gives codes of columns without a part in the call."""
        score, columns = parts["score"][0], parts["cluster"]
        samples = [encode_ids(_take(one.values, at), one.name) for one in parts["sample"]]
        weights = [to_float(one.values, one.name, "weights") for one in parts["weights"]]
        return Rows(
            scores=to_float(_take(score.values, at), score.name),
            groups=keys.codes,
            items=items.codes,
            n_items=items.size,
            clusterings=[Clustering(one.name, encode(_take(one.values, at), one.name)) for one in columns],
            samples=ids.join_key(samples) if samples else None,
            weights=_take(weights[0], at) if weights else None,
            where=lambda row: self._where(row if at is None else int(at[row])),
            systems=systems,
            others=lambda: self._others(parts, at, others),
        )

    def _names(self, parts: Columns, keys: Keys, items: Codes) -> Names:
        called = {role: [one.name for one in named] for role, named in parts.items()}
        return Names(
            score=called["score"][0],
            item=called["item"],
            samples=called["sample"],
            entries="rows",
            n_groups=keys.n_groups,
            item_label=items.label,
            group_label=keys.label,
            weights=called["weights"][0] if called["weights"] else None,
            factor=called["factor"][0] if called["factor"] else "",
        )

    def pairs(self, roles: Roles, *, averages: bool = True, samples: bool = False) -> Read[Matched, Any]:
        """Leave out the systems that no pair names, and match the items of the others."""
        roles = self._own(roles)
        if isinstance(roles.factor, list):
            raise ex.MethodError(
                f"The factor must be one column, which says whose score each row is; got a list of {len(roles.factor)}. A "
                "wide frame, with one column a system, goes into a long one first: df.melt(id_vars=[...], "
                "value_vars=[...], var_name='model', value_name='score')."
            )
        parts = self._parts(roles, "questions apart, the same for all systems, so that their scores pair up")
        factor = parts["factor"][0]
        coded = encode(factor.values, factor.name)
        lacking = coded.codes < 0
        for one in parts["weights"]:  # a row of weight 0 may be nobody's
            lacking &= to_float(one.values, one.name, "weights") != 0
        refuse_missing_factor(lacking, factor.name, self._where)
        systems = choose_systems(coded, factor.name, roles)
        keys = self._keys(roles, systems.at)
        items = self._item_key(parts, systems.at, lookalikes=False)
        rows = self._rows(parts, systems.at, keys, items, systems.codes, ids_only)
        names = self._names(parts, keys, items)
        pairing = Pairing(systems.labels, systems.pairs, names, roles.unmatched, averages, samples)
        matched = match(rows, pairing, roles.nan_policy)
        matched = dataclasses.replace(matched, orders=lambda systems: self._orders(parts, matched, systems))
        return Read(found=matched, write=keys.writer(_rows_of(factor, systems.first), factor.name))

    def _item_key(self, parts: Columns, at: IntArray | None, *, lookalikes: bool) -> Codes:
        """Codes of the items; what by= names is the same within a row of the answer, so no items share it there."""
        keys = [key.label for key in parts["by"]]
        within = [one for one in parts["item"] if one.label not in keys]
        coded = [encode_ids(_take(one.values, at), one.name, lookalikes=lookalikes) for one in parts["item"]]
        warns = not parts["cluster"] and len(within) > 1
        return ids.item_key(coded, [one.name for one in parts["item"]], warns=warns)

    def _others(self, parts: Columns, at: IntArray | None, coded_as: Coder) -> Iterable[tuple[str, Codes]]:
        """Columns and index levels without a part in the call, as far as they are ids or settings."""
        for one in free_columns(self.data, {one.label for named in parts.values() for one in named}):
            coded = coded_as(_take(one.values, at), one.name)
            if coded is not None:
                yield one.name, coded

    def _orders(
        self, parts: Columns, matched: Matched, systems: list[Any]
    ) -> list[tuple[FloatArray, list[IntArray]]]:
        """Scores and clusters in the order of the frame: of two systems, and of all."""
        names = {one.name for one in matched.clusterings}
        counted = [one for one in parts["cluster"] if one.name in names]
        clusters = [encode(one.values, one.name, lookalikes=False).codes for one in counted]
        scores = to_float(parts["score"][0].values, parts["score"][0].name)
        whole = ~np.isnan(scores)
        both = whole & np.asarray(pd.Series(bare(parts["factor"][0].values)).isin(systems))
        return [(scores[keep], [one[keep] for one in clusters]) for keep in (both, whole)]

    def items(self, roles: Roles) -> Read[Items, pd.DataFrame]:
        """Items with their samples."""
        roles = self._own(roles)
        parts = self._parts(roles, "items apart, of whose samples each has a row")
        keys = self._keys(roles)
        items = self._item_key(parts, None, lookalikes=True)
        systems = np.zeros(len(self.data), dtype=np.int64)
        rows = self._rows(parts, None, keys, items, systems, ids_or_settings)
        found = gather(rows, self._names(parts, keys, items), roles.nan_policy, nested=roles.nested)
        by = 1.0 if rows.weights is None else rows.weights
        found = dataclasses.replace(found, spread=lambda values: values * by)
        return Read(found=found, write=keys.writer())

    def has_items(self, roles: Roles) -> bool:
        """Whether items are named; samples of no item are refused."""
        return roles.item is not None

    def tall(self, roles: Roles) -> FrameReader:  # noqa: ARG002
        """A frame's answers are tall already."""
        return self

    def of_systems(self, roles: Roles) -> Roles:
        """The factor is one more key, under the name that it has in comparisons."""
        if roles.factor is None:
            return roles
        factor = roles.factor
        if not isinstance(factor, Hashable):
            column = find(self.data, factor, "factor")
            values = getattr(column.values, "array", column.values)
            factor = pd.Series(values, index=self.data.index, name=column.label)
        return dataclasses.replace(roles, factor=None, by=[*listed(self.data, roles.by), factor])

    def name(self, spec: Any, role: str) -> str:
        """The label of the column."""
        own = role == "score" and isinstance(self.data, pd.Series)
        return find(self.data, self.data if own else spec, role).name


def _refuse_keys(clusterings: list[Column], keys: Keys) -> None:
    """A clustering that is also in by= is one cluster within each row of the answer."""
    names = {key.name for key in keys.columns}
    both = [one.name for one in clusterings if one.name in names]
    if not both:
        return
    others = "Leave it out of cluster=: the others are what the scores of a row share."
    if len(clusterings) == 1:
        others = (
            "Leave it out of by=, name what is shared within it as cluster=, or use proportion_ci if the items within it "
            "really are independent."
        )
    raise ex.ClusterError(
        f"cluster= and by= both name {both[0]!r}, so within each row of the answer all scores lie in a single cluster of "
        f"it. {others}"
    )
