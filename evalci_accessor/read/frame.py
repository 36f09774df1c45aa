"""A DataFrame, or a Series with its index levels: rows to samples, matched systems and items, and answers as tidy frames."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, plain
from evalci_accessor.options import Roles
from evalci_accessor.read import Clusterings, Read, Reader
from evalci_accessor.read.columns import Column, Frame, find, free_columns, listed
from evalci_accessor.read.ids import (
    Clustering,
    Codes,
    Groups,
    bare,
    by_appearance,
    encode,
    encode_ids,
    group_rows,
    item_key,
    join_key,
)
from evalci_accessor.read.items import Items, gather
from evalci_accessor.read.matched import Matched, match
from evalci_accessor.read.names import (
    check_clusterings,
    choose_pairs,
    refuse_ids,
    refuse_missing_factor,
    refuse_two_parts,
    taking_part,
)
from evalci_accessor.read.rows import Names, Pairing, Rows
from evalci_accessor.read.samples import Sample, Scores
from evalci_accessor.read.scores import checked_weights, refuse_weightless, screen, to_float, weights_to_float
from evalci_accessor.read.tidy import FrameWriter, as_series
from evalci_accessor.read.unnamed import ids_or_settings, usable
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Keys:
    """What the rows of the answer are: a group a distinct key.

    Parameters
    ----------
    columns : list of Column
    groups : Groups or None
        None where all rows are one group; ``first`` are places in the caller's data.
    n : int
        Number of rows that are grouped.
    """

    columns: list[Column]
    groups: Groups | None
    n: int

    @classmethod
    def of(cls, columns: list[Column], n: int, at: IntArray | None = None) -> Keys:
        """Group the rows, or those ``at`` some places."""
        if not columns:
            return cls(columns=columns, groups=None, n=n if at is None else len(at))
        groups = group_rows([_take(key.values, at) for key in columns], [key.name for key in columns])
        if at is not None:
            groups = dataclasses.replace(groups, first=at[groups.first])
        return cls(columns=columns, groups=groups, n=len(groups.codes))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return 1 if self.groups is None else self.groups.size

    @property
    def codes(self) -> IntArray:
        """The group of each row."""
        return np.zeros(self.n, dtype=np.int64) if self.groups is None else self.groups.codes

    def label(self, h: int) -> str:
        """Words for a group, as ``model='A', lang='en'``; empty for the only one."""
        if self.groups is None:
            return ""
        row = self.groups.first[h]
        return ", ".join(f"{key.name}={plain(_take(key.values, row))!r}" for key in self.columns)

    @property
    def values(self) -> dict[Hashable, pd.Series]:
        """The keys of the groups, with their dtypes."""
        if self.groups is None:
            return {}
        first = self.groups.first
        return {key.label: as_series(key.values).iloc[first].reset_index(drop=True) for key in self.columns}


def _take(values: Any, at: Any) -> Any:
    if at is None or values is None:
        return values
    return values.iloc[at] if isinstance(values, pd.Series) else values[at]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrameScores(Scores):
    """Checked scores of a frame and the keys of their groups."""

    data: Frame
    keys: Keys

    @property
    def groups(self) -> IntArray | None:
        """The group of each row; None where there is one."""
        return None if self.keys.groups is None else self.keys.groups.codes

    def clustering(self, column: Column, *, lookalikes: bool = True) -> Clustering:
        """The ids of a column, which no row that counts may lack."""
        coded = encode(column.values, column.name, lookalikes=lookalikes)
        lacking = coded.codes < 0
        if self.keep is not None:
            lacking &= self.keep  # a row without a score is left out anyway
        if lacking.any():
            at = np.flatnonzero(lacking)
            whole = "all" if len(at) == len(lacking) else str(len(at))
            raise ex.MissingClusterError(
                f"{whole} of {len(lacking)} rows have no cluster id in {column.name!r}: rows "
                f"{examples(repr(plain(self.data.index[int(row)])) for row in at)}. They are neither one cluster nor none. "
                f"Leave them out knowingly with dropna(subset=[{column.name!r}]), or give each an id of its own if they "
                "share nothing."
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
            raise ex.MethodError(
                f"score={_short(roles.score)} is given, and a Series is its own score; leave score= out, or call the "
                "method on a DataFrame."
            )
        return dataclasses.replace(roles, score=self.data)

    def _keys(self, roles: Roles, at: IntArray | None = None) -> Keys:
        columns = [find(self.data, spec, "by") for spec in listed(self.data, roles.by)]
        names = [key.label for key in columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ex.AmbiguousNameError(f"by={twice!r} would stand twice in the result; name each key once.")
        return Keys.of(columns, len(self.data), at)

    def _where(self, row: int) -> str:
        return f"row {plain(self.data.index[row])!r}"

    def _clusterings(self, roles: Roles) -> list[Column]:
        """The columns of the clusterings."""
        if roles.cluster is None:
            return []
        specs = listed(self.data, roles.cluster)
        refuse_ids(specs, "For ids by position pass an array, as numpy.asarray(ids).")
        columns = [find(self.data, spec, "cluster") for spec in specs]
        names = check_clusterings(specs, roles.score, [column.name for column in columns])
        return [
            one if one.name == name else Column(one.values, name)
            for one, name in zip(columns, names, strict=True)
        ]

    def _scores(self, roles: Roles) -> FrameScores:
        """Find and check scores, groups and weights."""
        column = find(self.data, roles.score, "score")
        scores = to_float(column.values, column.name)
        weight: FloatArray | None = None
        absent: BoolArray | None = None
        if roles.weights is not None:
            found = find(self.data, roles.weights, "weights")
            weight = checked_weights(weights_to_float(found.values, found.name), found.name, self._where)
            absent = weight == 0  # as if the row were not there, whatever its score
        keep, missing = screen(scores, absent, column.name, roles.nan_policy, self._where)
        keys = self._keys(roles)
        if weight is not None and keys.groups is not None:
            totals = np.bincount(keys.codes, weights=weight, minlength=keys.n_groups)
            refuse_weightless(totals.astype(float, copy=False), keys.label)
        used = scores if keep is None else scores[keep]
        return FrameScores(
            data=self.data,
            values=scores,
            keep=keep,
            missing=missing,
            keys=keys,
            n_groups=keys.n_groups,
            group_label=keys.label,
            weights=weight,
            score_range=(float(used.min()), float(used.max())) if used.size else (np.nan, np.nan),
            binary=bool(((used == 0) | (used == 1)).all()),
        )

    def _each(self) -> Column:
        """A clustering in which each row is a cluster."""
        return Column(np.arange(len(self.data)), "row")

    def scores(self, roles: Roles) -> Read[Sample, pd.DataFrame]:
        """Scores that stand for themselves; weighted ones each in a cluster of their own."""
        roles = self._own(roles)
        scores = self._scores(roles)
        sample = scores.summed(None if roles.weights is None else scores.clustering(self._each()))
        return Read(found=sample, write=FrameWriter(values=scores.keys.values, n_groups=scores.keys.n_groups))

    def each(self, roles: Roles) -> Read[Sample, pd.DataFrame]:
        """Scores, each in a cluster of its own."""
        scores = self._scores(self._own(roles))
        sample = dataclasses.replace(scores.summed(scores.clustering(self._each())), alone=True)
        return Read(found=sample, write=FrameWriter(values=scores.keys.values, n_groups=scores.keys.n_groups))

    def clustered(self, roles: Roles) -> Read[Sample, pd.DataFrame]:
        """Scores in clusters."""
        roles = self._own(roles)
        scores, columns = self._scores(roles), self._clusterings(roles)
        if not columns:
            check_clusterings([], roles.score, [])
        _refuse_keys(columns, scores.keys)
        sample = scores.added_up([scores.clustering(column) for column in columns])
        return Read(found=sample, write=FrameWriter(values=scores.keys.values, n_groups=scores.keys.n_groups))

    def clusterings(self, roles: Roles) -> Read[Clusterings, pd.DataFrame]:
        """Scores by each clustering that is named, or by all columns that could be one."""
        roles = self._own(roles)
        scores = self._scores(roles)
        columns = self._clusterings(roles) if roles.cluster is not None else self._candidates(roles, scores)
        _refuse_keys(columns if roles.cluster is not None else [], scores.keys)
        clusterings = [scores.clustering(column) for column in columns]
        samples = [scores.summed(one) for one in clusterings]
        if roles.cluster is not None and len(columns) > 1:
            samples = [*scores.together(clusterings), *samples]
        found = Clusterings(samples=samples, plain=scores.summed(None), named=roles.cluster is not None)
        return Read(found=found, write=FrameWriter(values=scores.keys.values, n_groups=scores.keys.n_groups))

    def _candidates(self, roles: Roles, scores: FrameScores) -> list[Column]:
        """Columns and index levels that repeat their values and have no other part in the call."""
        parts = [find(self.data, roles.score, "score"), *scores.keys.columns]
        parts += [] if roles.weights is None else [find(self.data, roles.weights, "weights")]
        named = list(free_columns(self.data, {one.label for one in parts}, "cluster"))
        keep = slice(None) if scores.keep is None else scores.keep
        kept = usable({one.name: one.values[keep] for one in named}, scores.values[keep])
        return [one for one in named if one.name in kept]

    def _parts(self, roles: Roles) -> dict[str, list[Column]]:
        """The columns of each role; none plays two parts."""
        data = self.data
        specs = {
            "factor": [] if roles.factor is None else [roles.factor],
            "item": listed(data, roles.item),
            "sample": listed(data, roles.sample),
            "score": [roles.score],
            "by": listed(data, roles.by),
            "weights": [] if roles.weights is None else [roles.weights],
        }
        clusterings = self._clusterings(roles)
        refuse_two_parts(specs | {"cluster": listed(data, roles.cluster)})
        return {role: [find(data, spec, role) for spec in named] for role, named in specs.items()} | {
            "cluster": clusterings
        }

    def _rows(self, parts: dict[str, list[Column]], at: IntArray | None, others: Any) -> dict[str, Any]:
        """What rows of matched systems and of items have in common."""
        score, taken = parts["score"][0], {one.label for named in parts.values() for one in named}
        samples = [encode_ids(_take(one.values, at), one.name) for one in parts["sample"]]
        weights = [weights_to_float(one.values, one.name) for one in parts["weights"]]
        return {
            "scores": to_float(_take(score.values, at), score.name),
            "clusterings": [
                Clustering(name=one.name, coded=encode(_take(one.values, at), one.name))
                for one in parts["cluster"]
            ],
            "samples": join_key(samples) if samples else None,
            "weights": _take(weights[0], at) if weights else None,
            "where": lambda row: self._where(row if at is None else int(at[row])),
            "others": lambda: others(taken, at),
        }

    def _names(self, parts: dict[str, list[Column]], keys: Keys, items: Codes) -> Names:
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

    def pairs(
        self, roles: Roles, *, averages: bool = True, samples: bool = False
    ) -> Read[Matched, pd.DataFrame]:
        """Leave out the systems that no pair names, and match the items of the others."""
        roles = self._own(roles)
        if isinstance(roles.factor, list):
            raise ex.MethodError(
                f"The factor must be one column, which says whose score each row is; got a list of {len(roles.factor)}. A "
                "wide frame, with one column a system, goes into a long one first: df.melt(id_vars=[...], "
                "value_vars=[...], var_name='model', value_name='score')."
            )
        if not listed(self.data, roles.item):
            raise ex.MethodError(
                f"item= {'is missing' if roles.item is None else 'names nothing'}: the column that tells the questions "
                "apart, the same for all systems, so that their scores pair up."
            )
        parts = self._parts(roles)
        factor = parts["factor"][0]
        coded, at = self._of_somebody(factor, parts["weights"])
        codes, labels, first = by_appearance(coded)
        first = first if at is None else at[first]
        taking, chosen = taking_part(choose_pairs(labels, factor.name, roles.baseline, roles.pairs))
        if len(taking) < len(labels):
            part = np.flatnonzero(np.isin(codes, taking))
            codes, at = np.searchsorted(taking, codes[part]), part if at is None else at[part]
        keys = self._keys(roles, at)
        items = self._item_key(parts, at, lookalikes=False)
        rows = Rows(
            groups=keys.codes,
            systems=codes,
            items=items.codes,
            n_items=items.size,
            **self._rows(parts, at, self._ids),
        )
        pairing = Pairing(
            systems=[labels[i] for i in taking],
            pairs=chosen,
            names=self._names(parts, keys, items),
            unmatched=roles.unmatched,
            averages=averages,
            samples=samples,
        )
        matched = match(rows, pairing, roles.nan_policy)
        matched = dataclasses.replace(matched, orders=lambda systems: self._orders(parts, matched, systems))
        sides = as_series(factor.values).iloc[first[taking]].reset_index(drop=True)
        write = FrameWriter(values=keys.values, n_groups=keys.n_groups, systems=sides, factor=factor.name)
        return Read(found=matched, write=write)

    def _of_somebody(self, factor: Column, weights: list[Column]) -> tuple[Codes, IntArray | None]:
        """Codes of the systems, and the rows that they are of: all (None), or without rows of weight 0 of nobody."""
        coded = encode(factor.values, factor.name)
        absent = np.zeros(len(coded.codes), dtype=bool)
        if weights:
            absent = weights_to_float(weights[0].values, weights[0].name) == 0
        bad = np.flatnonzero((coded.codes < 0) & ~absent)
        if len(bad):
            refuse_missing_factor(bad, len(coded.codes), factor.name, self._where)
        at = np.flatnonzero(coded.codes >= 0)
        if len(at) == len(coded.codes):
            return coded, None
        return dataclasses.replace(coded, codes=coded.codes[at]), at

    def _item_key(self, parts: dict[str, list[Column]], at: IntArray | None, *, lookalikes: bool) -> Codes:
        """Codes of the items; what by= names is the same within a row of the answer, so no items share it there."""
        keys = [key.label for key in parts["by"]]
        within = [one for one in parts["item"] if one.label not in keys]
        ids = [encode_ids(_take(one.values, at), one.name, lookalikes=lookalikes) for one in parts["item"]]
        warns = not parts["cluster"] and len(within) > 1
        return item_key(ids, [one.name for one in parts["item"]], warns=warns)

    def _ids(self, taken: set[Any], at: IntArray | None) -> Iterable[tuple[str, Codes]]:
        """Columns and index levels without a part in the call that hold ids rather than measurements."""
        for one in free_columns(self.data, taken):
            if not pd.api.types.is_float_dtype(one.values.dtype):
                with contextlib.suppress(ex.EvalCIError):  # lists or dicts, which are no ids
                    yield one.name, encode_ids(_take(one.values, at), one.name)

    def _settings(self, taken: set[Any], at: IntArray | None) -> Iterable[tuple[str, Codes]]:
        """Columns and index levels without a part in the call that could tell two samples apart."""
        for one in free_columns(self.data, taken):
            coded = ids_or_settings(_take(one.values, at), one.name)
            if coded is not None:
                yield one.name, coded

    def _orders(
        self, parts: dict[str, list[Column]], matched: Matched, systems: list[Any]
    ) -> list[tuple[FloatArray, list[IntArray]]]:
        """Scores and clusters in the order of the frame: of two systems, and of all."""
        names = [one.name for one in matched.clusterings]
        clusters = [
            encode(one.values, one.name, lookalikes=False).codes
            for one in parts["cluster"]
            if one.name in names
        ]
        scores = to_float(parts["score"][0].values, parts["score"][0].name)
        whole = ~np.isnan(scores)
        both = whole & np.asarray(pd.Series(bare(parts["factor"][0].values)).isin(systems))
        return [(scores[keep], [one[keep] for one in clusters]) for keep in (both, whole)]

    def items(self, roles: Roles) -> Read[Items, pd.DataFrame]:
        """Items with their samples."""
        roles = self._own(roles)
        if not listed(self.data, roles.item):
            given = "is missing" if roles.item is None else "names nothing"
            raise ex.MethodError(
                f"item= {given}: the column that tells the items apart, of whose samples each has a row."
            )
        parts = self._parts(roles)
        keys = self._keys(roles)
        ids = self._item_key(parts, None, lookalikes=True)
        rows = Rows(
            groups=keys.codes,
            systems=np.zeros(len(self.data), dtype=np.int64),
            items=ids.codes,
            n_items=ids.size,
            **self._rows(parts, None, self._settings),
        )
        found = gather(rows, self._names(parts, keys, ids), roles.nan_policy, nested=roles.nested)
        by = 1.0 if rows.weights is None else rows.weights
        found = dataclasses.replace(found, spread=lambda values: values * by)
        return Read(found=found, write=FrameWriter(values=keys.values, n_groups=keys.n_groups))

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
    others = (
        " Leave it out of by=, name what is shared within it as cluster=, or use proportion_ci if the items within it "
        "really are independent."
    )
    if len(clusterings) > 1:
        others = " Leave it out of cluster=: the others are what the scores of a row share."
    raise ex.ClusterError(
        f"cluster= and by= both name {both[0]!r}, so within each row of the answer all scores lie in a single cluster of "
        f"it.{others}"
    )


def _short(spec: Any) -> str:
    return repr(spec) if isinstance(spec, (str, int)) else type(spec).__name__
