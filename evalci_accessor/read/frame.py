"""A DataFrame, or a Series with its index levels: rows to samples, matched systems and items, and answers as tidy frames."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from evalci_accessor.exceptions import (
    AlignmentError,
    AmbiguousNameError,
    ClusterError,
    ColumnNotFoundError,
    EvalCIError,
    MethodError,
    MissingClusterError,
    PairingError,
    examples,
    plain,
)
from evalci_accessor.options import Roles
from evalci_accessor.read import Clusterings, Read, Reader
from evalci_accessor.read.candidates import usable
from evalci_accessor.read.ids import (
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
    did_you_mean,
    refuse_ids,
    refuse_two_parts,
    taking_part,
)
from evalci_accessor.read.pooled import ids_or_settings
from evalci_accessor.read.rows import Names, Pairing, Rows
from evalci_accessor.read.samples import Clustering, Sample, Scores
from evalci_accessor.read.samples import Rows as SampleRows
from evalci_accessor.read.scores import (
    checked_weights,
    in_unit_interval,
    refuse_weightless,
    screen,
    sentinel_of,
    to_float,
    weights_to_float,
)
from evalci_accessor.read.tidy import FrameWriter, as_series
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray

Frame: TypeAlias = pd.DataFrame | pd.Series
ArrayLike: TypeAlias = np.ndarray | pd.Series | pd.Index | ExtensionArray


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Values, one a row, and what to call them."""

    values: Any
    label: Hashable

    @property
    def name(self) -> str:
        """The label as text, for messages."""
        return str(self.label)


def columns_of(data: Frame) -> pd.Index:
    """Columns of a frame; none for a Series."""
    if isinstance(data, pd.Series):
        return pd.Index([])
    if isinstance(data.columns, pd.MultiIndex):
        shown = examples(map(repr, data.columns))
        raise AmbiguousNameError(
            f"The frame has columns in {data.columns.nlevels} levels ({shown}), of which a name cannot pick one. Flatten them "
            "first: df.columns = ['_'.join(map(str, c)) for c in df.columns]."
        )
    return data.columns


def find(data: Frame, spec: Any, role: str) -> Column:
    """Values of what ``spec`` names; ``role`` is the argument's name, for messages and for unnamed arrays."""
    if isinstance(spec, pd.MultiIndex):
        raise AlignmentError(
            f"`{role}` is an index of {spec.nlevels} levels; pass one of them, as .get_level_values(0)."
        )
    if isinstance(spec, np.ma.MaskedArray):
        raise AlignmentError(
            f"`{role}` is a masked array, whose mask would be lost; pass .filled(...) with what stands for it."
        )
    if isinstance(spec, pd.Series):
        return Column(_aligned(data, spec, role), role if spec.name is None else spec.name)
    if isinstance(spec, (np.ndarray, pd.Index, ExtensionArray)):
        if getattr(spec, "ndim", 1) != 1:
            raise AlignmentError(
                f"`{role}` is an array with {spec.ndim} dimensions; it must have one, with an entry a row."
            )
        if len(spec) != len(data):
            raise AlignmentError(
                f"`{role}` is an array of {len(spec)} entries for {len(data)} rows. An array goes by position and must have "
                "one entry a row; a Series with the frame's index goes by label."
            )
        name = getattr(spec, "name", None)
        return Column(spec, role if name is None else name)
    if isinstance(spec, (list, set, dict, pd.DataFrame)) or not isinstance(spec, Hashable):
        way = "Turn a list of ids into an array with numpy.asarray(...)."
        if (
            role == "score"
            and isinstance(spec, list)
            and len(spec) > 1
            and pd.Index(spec).isin(columns_of(data)).all()
        ):
            way = (
                "Scores in several columns, as of repeated samples, go into one first: "
                f"df.melt(id_vars=[...], value_vars={spec!r}, var_name='sample', value_name='score'), with sample='sample'."
            )
        if role == "weights":
            way = _BY_KIND if isinstance(spec, dict) else "Turn a list into an array with numpy.asarray(...)."
        raise MethodError(
            f"`{role}` must be one name, or an array or Series with an entry a row; got {type(spec).__name__}. {way}"
        )
    return Column(_by_name(data, spec, role), spec)


def listed(data: Frame, specs: Any) -> list[Any]:
    """Several names or arrays as a list; a tuple that is itself a column's label is one."""
    if specs is None:
        return []
    is_several = isinstance(specs, list) or (isinstance(specs, tuple) and specs not in columns_of(data))
    return list(specs) if is_several else [specs]


def free_columns(data: Frame, taken: set[Any], role: str = "by") -> Iterator[Column]:
    """The columns and index levels that have no part in the call."""
    columns = columns_of(data)
    levels = [name for name in data.index.names if name is not None and name not in columns]
    for name in (*columns[~columns.duplicated(keep=False)], *levels):
        if name not in taken:
            yield find(data, name, role)


_BY_KIND = "To weigh by kind, give each row the weight of its own: df['kind'].map(weights)."


def _by_name(data: Frame, name: Hashable, role: str) -> Any:
    columns = columns_of(data)
    levels = [level for level in data.index.names if level is not None]
    in_columns, in_levels = name in columns, levels.count(name)
    if in_columns and in_levels:
        raise AmbiguousNameError(f"{role}={name!r} is both a column and an index level; rename one of them.")
    if in_columns:
        place = columns.get_loc(name)
        if not isinstance(place, int):
            count = int(np.sum(columns == name))
            raise AmbiguousNameError(
                f"{role}={name!r} names {count} columns; column names must be unique to be picked by."
            )
        return data[name]  # type: ignore[call-overload]
    if in_levels > 1:
        raise AmbiguousNameError(
            f"{role}={name!r} names {in_levels} index levels; level names must be unique."
        )
    if in_levels:
        return data.index.get_level_values(name)  # type: ignore[arg-type]
    raise ColumnNotFoundError(_not_found(data, name, role, levels))


def _not_found(data: Frame, name: Hashable, role: str, levels: list[Any]) -> str:
    columns = columns_of(data)
    available = [*columns, *levels]
    hint = did_you_mean(name, available, role)
    if role in ("score", "weights") and isinstance(data, pd.DataFrame):
        numeric = [
            c
            for c, dtype in zip(columns, data.dtypes, strict=True)
            if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)
        ]
        fits = (
            f"Columns that could be it: {examples(map(repr, numeric))}."
            if numeric
            else "No column is numeric."
        )
    else:
        fits = (
            f"Available: {examples(map(repr, available), 20)}."
            if available
            else "There are no columns or named levels."
        )
    return f"{role}={name!r} is neither a column nor an index level.{hint} {fits} Pass {role}=<name>."


def _aligned(data: Frame, series: pd.Series, role: str) -> pd.Series:
    """The Series in the order of the rows; it must cover their index exactly."""
    if series.index.equals(data.index):
        return series
    unique = series.index.is_unique and data.index.is_unique
    if unique and len(series) == len(data):
        order = series.index.get_indexer(data.index)
        if (order >= 0).all():
            return series.iloc[order]
    missing = data.index.difference(series.index)
    extra = series.index.difference(data.index)
    reason = (
        f"{len(missing)} row label(s) are not in it ({examples(map(repr, missing))}), {len(extra)} of its labels are not in "
        f"the rows ({examples(map(repr, extra))})"
        if len(missing) or len(extra)
        else "labels repeat, so rows cannot be told apart by them"
    )
    raise AlignmentError(
        f"The Series passed as `{role}` does not cover the index of the data exactly: {reason}. A Series aligns by index; "
        f"pass .to_numpy() to go by position.{f' {_BY_KIND}' if role == 'weights' else ''}"
    )


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
    """Checked scores, groups and weights of a frame, before any clustering.

    Parameters
    ----------
    data : DataFrame or Series
    scores : ndarray of float, shape (n,)
        nan where missing.
    keep : ndarray of bool, shape (n,), or None
        Rows that count: those with a score and a weight above 0; None for all.
    missing : ndarray of bool, shape (n,), or None
        Rows without a score; None if there are none.
    keys : Keys
    weights : ndarray of float, shape (n,), or None
    score_range : tuple of float
        Least and greatest score.
    binary : bool
        Whether all scores are 0 or 1.
    """

    data: Frame
    scores: FloatArray
    keep: BoolArray | None
    missing: BoolArray | None
    keys: Keys
    weights: FloatArray | None
    score_range: tuple[float, float]
    binary: bool

    @property
    def _parts(self) -> dict[str, Any]:
        """What totals of any clustering have in common."""
        return {
            "groups": None if self.keys.groups is None else self.counted(self.keys.codes),
            "n_groups": self.keys.n_groups,
            "weights": None if self.weights is None else self.counted(self.weights),
            "bounded": in_unit_interval(self.score_range),
            "binary": self.binary,
        }

    def counted(self, codes: Any) -> Any:
        """The values of the rows that count."""
        return codes if self.keep is None else codes[self.keep]

    def clustering(self, column: Column, *, lookalikes: bool = True) -> Clustering:
        """The ids of a column, which no row that counts may lack."""
        coded = encode(column.values, column.name, lookalikes=lookalikes)
        lacking = coded.codes < 0
        if self.keep is not None:
            lacking &= self.keep  # a row without a score is left out anyway
        if lacking.any():
            at = np.flatnonzero(lacking)
            whole = "all" if len(at) == len(lacking) else str(len(at))
            raise MissingClusterError(
                f"{whole} of {len(lacking)} rows have no cluster id in {column.name!r}: rows "
                f"{examples(repr(plain(self.data.index[int(row)])) for row in at)}. They are neither one cluster nor none. "
                f"Leave them out knowingly with dropna(subset=[{column.name!r}]), or give each an id of its own if they "
                "share nothing."
            )
        return Clustering(name=column.name, coded=coded)

    def summed(self, clustering: Clustering | None) -> Sample:
        """Totals by one clustering; without one each group is a cluster."""
        if clustering is None:
            alone = Codes(codes=np.zeros(len(self.scores), dtype=np.int64), size=1, label=lambda code: code)
            return dataclasses.replace(self.summed(Clustering(name="", coded=alone)), cluster=None)
        codes, size = clustering.coded.codes, clustering.coded.size
        totals = ClusterTotals.from_rows(
            self.counted(self.scores), self.counted(codes), n_clusters=size, **self._parts
        )
        n_missing, n_lost = np.zeros(self.keys.n_groups, dtype=np.int64), 0
        if self.missing is not None:
            n_missing = np.bincount(self.keys.codes[self.missing], minlength=self.keys.n_groups)
            n_lost = len(np.setdiff1d(codes[self.missing & (codes >= 0)], totals.cluster))
        return Sample(
            totals=totals,
            cluster=clustering.name,
            cluster_label=clustering.label,
            group_label=self.keys.label,
            n_missing=n_missing,
            n_lost=n_lost,
            score_range=self.score_range,
            sentinel=None if in_unit_interval(self.score_range) else sentinel_of(self.counted(self.scores)),
        )

    def crossed(self, clusterings: list[Clustering], margins: list[ClusterTotals]) -> Crossed:
        """Totals of the intersections of several clusterings."""
        codes = [self.counted(one.coded.codes) for one in clusterings]
        return Crossed.from_rows(self.counted(self.scores), codes, margins=margins, **self._parts)

    def rows(self, clusterings: list[Clustering], h: int) -> SampleRows:
        """Scores, clusters and weights of a group, one by one."""
        at = np.flatnonzero(self.counted(self.keys.codes) == h)
        codes = [self.counted(one.coded.codes)[at] for one in clusterings]
        weights = None if self.weights is None else self.counted(self.weights)[at]
        return self.counted(self.scores)[at], codes, weights


class FrameReader(Reader[pd.DataFrame]):
    """Reads a DataFrame with one row a score, or a Series of scores."""

    needs_item = True

    def __init__(self, data: Frame) -> None:
        self.data = data

    def _own(self, roles: Roles) -> Roles:
        """The roles of a frame: a Series is its own score, and there are no dims."""
        if roles.dim is not None:
            raise MethodError(
                f"dim={roles.dim!r} is for cubes, which have dims to reduce. Of a frame name what the rows of the answer "
                "are, with by=."
            )
        if isinstance(self.data, pd.DataFrame):
            return roles
        if not (isinstance(roles.score, str) and roles.score == "score") and roles.score is not self.data:
            raise MethodError(
                f"score={_short(roles.score)} is given, and a Series is its own score; leave score= out, or call the "
                "method on a DataFrame."
            )
        return dataclasses.replace(roles, score=self.data)

    def _keys(self, roles: Roles, at: IntArray | None = None) -> Keys:
        columns = [find(self.data, spec, "by") for spec in listed(self.data, roles.by)]
        names = [key.label for key in columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise AmbiguousNameError(f"by={twice!r} would stand twice in the result; name each key once.")
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
            refuse_weightless(np.bincount(keys.codes, weights=weight, minlength=keys.n_groups), keys.label)
        used = scores if keep is None else scores[keep]
        return FrameScores(
            data=self.data,
            scores=scores,
            keep=keep,
            missing=missing,
            keys=keys,
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
        kept = usable({one.name: scores.counted(one.values) for one in named}, scores.counted(scores.scores))
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
            raise MethodError(
                f"The factor must be one column, which says whose score each row is; got a list of {len(roles.factor)}. A "
                "wide frame, with one column a system, goes into a long one first: df.melt(id_vars=[...], "
                "value_vars=[...], var_name='model', value_name='score')."
            )
        if not listed(self.data, roles.item):
            raise MethodError(
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
                with contextlib.suppress(EvalCIError):  # lists or dicts, which are no ids
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
            raise MethodError(
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
        given = rows.weights
        found = dataclasses.replace(found, spread=lambda values: values if given is None else values * given)
        return Read(found=found, write=FrameWriter(values=keys.values, n_groups=keys.n_groups))

    def has_items(self, roles: Roles) -> bool:
        """Whether items are named; samples of no item are refused."""
        return roles.item is not None

    def tall(self, roles: Roles) -> FrameReader:
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
    raise ClusterError(
        f"cluster= and by= both name {both[0]!r}, so within each row of the answer all scores lie in a single cluster of "
        f"it.{others}"
    )


def refuse_missing_factor(at: IntArray, n: int, name: str, where: Any) -> None:
    """A score of nobody's cannot be compared."""
    raise PairingError(
        f"{len(at)} of {n} entries of {name!r} are missing, at {examples(where(int(i)) for i in at[:6])}. It says whose "
        "score it is; fill in the name, or leave these out first."
    )


def _short(spec: Any) -> str:
    return repr(spec) if isinstance(spec, (str, int)) else type(spec).__name__
