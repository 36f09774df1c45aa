"""Two systems on the same items: rows to tables, and a row a pair of the answer."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._crossed_pairs import cluster_words, cross_matched
from evalci_accessor._crossing import JointIds, join_ids
from evalci_accessor._entries import Entries, Names, Request
from evalci_accessor._ids import Codes, Groups, by_label, encode, group_rows
from evalci_accessor._matching import match, refuse_graded
from evalci_accessor._options import CompareOptions, DiffOptions, TestOptions
from evalci_accessor._pairing import (
    Matched,
    by_appearance,
    choose_pairs,
    encode_ids,
    families,
    item_key,
    refuse_missing_factor,
    refuse_same_part,
    taking_part,
)
from evalci_accessor._pairs import (
    COMPARE_COLUMNS,
    DIFF_COLUMNS,
    MCNEMAR_COLUMNS,
    compare_columns,
    diff_columns,
    mcnemar_columns,
)
from evalci_accessor._pandas.columns import Column, Frame, clusterings_of, find, free_columns, listed
from evalci_accessor._pandas.reduce import Rows
from evalci_accessor._pandas.tidy import key_columns, tidy
from evalci_accessor._scores import to_float, weights_to_float
from evalci_accessor.exceptions import AmbiguousNameError, EvalCIError, MethodError, plain
from evalci_accessor.options import NanPolicy, Unmatched
from evalci_accessor.stats.validate import FloatArray, IntArray


def mcnemar(
    data: Frame,
    factor: Any,
    *,
    item: Any,
    cluster: Any,
    score: Any,
    by: Any,
    weights: Any,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    options: TestOptions,
) -> pd.DataFrame:
    """Do two systems differ, as the accessor's method of that name."""
    found = find_columns(data, factor, item, cluster, None, score, by, weights)
    paired = read_pairs(data, found, baseline, pairs, unmatched, nan_policy, MCNEMAR_COLUMNS, averages=False)
    refuse_graded(paired.matched)
    return _tidy(paired, mcnemar_columns(paired.matched, options))


def diff_ci(
    data: Frame,
    factor: Any,
    *,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    by: Any,
    weights: Any,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    options: DiffOptions,
) -> pd.DataFrame:
    """By how much two systems differ, as the accessor's method of that name."""
    found = find_columns(data, factor, item, cluster, sample, score, by, weights)
    paired = read_pairs(data, found, baseline, pairs, unmatched, nan_policy, DIFF_COLUMNS, averages=True)
    return _tidy(paired, diff_columns(paired.matched, options))


def compare(
    data: Frame,
    factor: Any,
    *,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    by: Any,
    weights: Any,
    baseline: Any,
    pairs: Any,
    correction_within: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    options: CompareOptions,
) -> pd.DataFrame:
    """All pairs in one table, as the accessor's method of that name."""
    found = find_columns(data, factor, item, cluster, sample, score, by, weights)
    paired = read_pairs(data, found, baseline, pairs, unmatched, nan_policy, COMPARE_COLUMNS, averages=True)
    codes = {label: group_rows([values], [str(label)]).codes for label, values in paired.keys.items()}
    family = families(correction_within, codes, len(paired.matched.tables), "by")
    columns, order = compare_columns(paired.matched, options, family)
    return _tidy(paired, columns).iloc[order].reset_index(drop=True)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """The columns that the caller named."""

    factor: Column
    items: list[Column]
    clusters: list[Column]
    joint: JointIds | None  # of several clusterings
    sample: Column | None
    score: Column
    keys: list[Column]
    weights: Column | None

    @property
    def cluster(self) -> Column | None:
        """The clustering, or what several make together."""
        if self.joint is not None:
            return Column(self.joint.values, self.joint.name)
        return self.clusters[0] if self.clusters else None

    def names(self, averages: bool) -> Names:
        """Their names, for messages."""
        return Names(
            score=self.score.name, factor=self.factor.name, item=[item.name for item in self.items], averages=averages,
            cluster=None if self.cluster is None else self.cluster.name, clusters=[one.name for one in self.clusters],
            lacking=[] if self.joint is None else self.joint.lacking,
            sample=None if self.sample is None else self.sample.name, entries="rows",
            weights=None if self.weights is None else self.weights.name,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paired:
    """Tables, and the columns that name the rows of the answer.

    Parameters
    ----------
    matched : Matched
    keys : dict of Series
        Of the groups, by label.
    systems : Series
        Labels of the systems, with their dtype.
    """

    matched: Matched
    keys: dict[Hashable, pd.Series]
    systems: pd.Series


def find_columns(
    data: Frame, factor: Any, item: Any, cluster: Any, sample: Any, score: Any, by: Any, weights: Any = None
) -> Found:
    """Find what the caller named; no name plays two parts."""
    if isinstance(factor, list):
        raise MethodError(
            f"The factor must be one column, which says whose score each row is; got a list of {len(factor)}. A wide frame, with "
            "one column a system, goes into a long one first: df.melt(id_vars=[...], value_vars=[...], var_name='model', "
            "value_name='score')."
        )
    items, keys = listed(data, item), listed(data, by)
    if not items:
        raise MethodError(
            f"item= {'is missing' if item is None else 'names nothing'}: the column that tells the questions apart, the same for "
            "all systems, so that their scores pair up."
        )
    clusters = [] if cluster is None else clusterings_of(data, cluster, score)
    joint = None
    if len(clusters) > 1:
        joint = join_ids([one.name for one in clusters], [by_label(encode(one.values, one.name)) for one in clusters])
    parts = {
        "factor": [factor],
        "item": items,
        "cluster": listed(data, cluster),
        "sample": [sample],
        "score": [score],
        "by": keys,
    }
    parts["weights"] = [weights]
    # Arrays and Series have no name to compare; the caller knows them apart.
    refuse_same_part({part: [name for name in names if isinstance(name, (str, int))] for part, names in parts.items()})
    return Found(
        factor=find(data, factor, "factor"),
        items=[find(data, spec, "item") for spec in items],
        clusters=clusters,
        joint=joint,
        sample=None if sample is None else find(data, sample, "sample"),
        score=find(data, score, "score"),
        keys=[find(data, spec, "by") for spec in keys],
        weights=None if weights is None else find(data, weights, "weights"),
    )


def read_pairs(
    data: Frame,
    found: Found,
    baseline: Any,
    pairs: Any,
    unmatched: Unmatched,
    nan_policy: NanPolicy,
    reserved: tuple[str, ...],
    *,
    averages: bool,
    samples: bool = False,
) -> Paired:
    """Leave out the systems that no pair names, and match the items of the others; ``samples`` says how these vary."""
    factor, names = found.factor, found.names(averages)
    weights = None if found.weights is None else weights_to_float(found.weights.values, found.weights.name)
    coded, at = _of_somebody(data, factor, weights)
    codes, labels, first = by_appearance(coded)
    first = first if at is None else at[first]
    taking, chosen = taking_part(choose_pairs(labels, factor.name, baseline, pairs))
    if len(taking) < len(labels):
        part = np.flatnonzero(np.isin(codes, taking))
        codes, at = np.searchsorted(taking, codes[part]), part if at is None else at[part]
    rows = _rows(found.keys, at)
    keys = key_columns(rows, (*_own_names(names.factor, reserved), *reserved))
    # What by= names is the same within a row of the answer, so no items share it there.
    within = [item for item in found.items if item.label not in [key.label for key in found.keys]]
    items = item_key(
        [encode_ids(_take(item.values, at), item.name) for item in found.items], names.item,
        told=found.cluster is None and len(within) > 1,
    )  # fmt: skip
    cluster = None if found.cluster is None else encode(_take(found.cluster.values, at), found.cluster.name)
    request = Request(
        systems=[labels[i] for i in taking], pairs=chosen, names=names, n_groups=rows.n_groups, item_label=items.label,
        cluster_label=cluster_words(cluster, found.joint),
        group_label=rows.group_label, unmatched=unmatched, samples=samples,
    )  # fmt: skip
    entries = Entries(
        scores=to_float(_take(found.score.values, at), names.score),
        groups=np.zeros(len(codes), dtype=np.int64) if rows.groups is None else rows.groups.codes,
        systems=codes, items=items.codes, n_items=items.size, clusters=cluster, weights=_take(weights, at),
        samples=None if found.sample is None else encode_ids(_take(found.sample.values, at), found.sample.name),
        where=lambda row: _row(data, row if at is None else int(at[row])), others=lambda: _others(data, found, at),
    )  # fmt: skip
    matched = match(entries, request, nan_policy)
    if found.joint is not None and cluster is not None:
        matched = cross_matched(matched, found.joint, cluster.label)
    systems = factor.values if isinstance(factor.values, pd.Series) else pd.Series(factor.values)
    return Paired(matched=matched, keys=keys, systems=systems.iloc[first[taking]].reset_index(drop=True))


def _of_somebody(data: Frame, factor: Column, weights: FloatArray | None) -> tuple[Codes, IntArray | None]:
    """Codes of the systems, and the rows that they are of: all (None), unless rows of weight 0 say not whose they are."""
    coded = encode(factor.values, factor.name)
    told = coded.codes if weights is None else np.where(weights == 0, 0, coded.codes)
    refuse_missing_factor(told, factor.name, lambda row: _row(data, row))
    at = np.flatnonzero(coded.codes >= 0)
    return (coded, None) if len(at) == len(told) else (dataclasses.replace(coded, codes=coded.codes[at]), at)


def _own_names(factor: str, reserved: tuple[str, ...]) -> tuple[str, str]:
    """The two columns that name a pair."""
    own = (f"{factor}_a", f"{factor}_b")
    if set(own) & set(reserved):
        raise AmbiguousNameError(
            f"A factor named {factor!r} would give the result {own[0]!r} and {own[1]!r}, of which one is there already: "
            f"{', '.join(reserved)}. Rename it first, as with df.rename(columns={{{factor!r}: {factor + '_'!r}}})."
        )
    return own


def _row(data: Frame, row: int) -> str:
    return f"row {plain(data.index[row])!r}"


def _take(values: Any, at: IntArray | None) -> Any:
    if at is None or values is None:
        return values
    return values.iloc[at] if isinstance(values, pd.Series) else values[at]


def _rows(keys: list[Column], at: IntArray | None) -> Rows:
    """The groups of the rows that take part, as the other methods have them."""
    groups = group_rows([_take(key.values, at) for key in keys], [key.name for key in keys]) if keys else None
    if groups is not None and at is not None:
        groups = Groups(codes=groups.codes, size=groups.size, first=at[groups.first])
    return Rows(
        scores=np.zeros(0), keep=None, groups=groups, keys=keys, weights=None, score_range=(np.nan, np.nan), binary=True,
        missing=None,
    )  # fmt: skip


def _others(data: Frame, found: Found, at: IntArray | None) -> Iterable[tuple[str, Codes]]:
    """Columns and index levels without a part in the call that hold ids rather than measurements."""
    taken = {c.label for c in (found.factor, *found.items, *found.clusters, found.sample, found.score, *found.keys) if c}
    taken |= {found.weights.label} if found.weights else set()
    for name, values in free_columns(data, taken):
        if not pd.api.types.is_float_dtype(values.dtype):
            with contextlib.suppress(EvalCIError):  # lists or dicts, which are no ids
                yield name, encode_ids(_take(values, at), name)


def _tidy(paired: Paired, columns: dict[str, Any]) -> pd.DataFrame:
    """Keys, the two systems, then the columns: groups one after the other, a row a pair."""
    return tidy(repeated_keys(paired), columns, len(paired.matched.tables) * len(paired.matched.pairs))


def repeated_keys(paired: Paired) -> dict[Hashable, pd.Series]:
    """Keys and the two systems, a row for each pair of each group in turn."""
    matched = paired.matched
    n_groups, n_pairs = len(matched.tables), len(matched.pairs)
    keys = {
        label: values.iloc[np.repeat(np.arange(n_groups), n_pairs)].reset_index(drop=True)
        for label, values in paired.keys.items()
    }
    sides: dict[Hashable, pd.Series] = {
        f"{matched.factor}_{side}": paired.systems.iloc[np.tile(matched.pairs[:, k], n_groups)].reset_index(drop=True)
        for k, side in enumerate("ab")
    }
    return keys | sides
