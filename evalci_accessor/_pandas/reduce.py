"""Rows to cluster totals."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._crossing import Clustering, coarsest, refuse_many
from evalci_accessor._ids import Codes, Groups, by_label, encode, group_rows
from evalci_accessor._pandas.columns import Column, Frame, find, listed
from evalci_accessor._sample import Sample, cross
from evalci_accessor._scores import checked_weights, in_unit_interval, screen, sentinel_of, to_float, weights_to_float
from evalci_accessor.exceptions import MissingClusterError, WeightError, examples, plain
from evalci_accessor.options import NanPolicy
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Checked scores, groups and weights of a call, before any clustering.

    Parameters
    ----------
    scores : ndarray of float, shape (n,)
        nan where missing.
    keep : ndarray of bool, shape (n,), or None
        Rows that count: those with a score and a weight above 0; None for all.
    groups : Groups or None
    keys : list of Column
        What the groups were made of.
    weights : ndarray of float, shape (n,), or None
    score_range : tuple of float
        Least and greatest score.
    binary : bool
        Whether all scores are 0 or 1.
    missing : ndarray of bool, shape (n,), or None
        Rows without a score; None if there are none.
    """

    scores: FloatArray
    keep: BoolArray | None
    groups: Groups | None
    keys: list[Column]
    weights: FloatArray | None
    score_range: tuple[float, float]
    binary: bool
    missing: BoolArray | None

    @property
    def bounded(self) -> bool:
        """Whether all scores lie in [0, 1]; true without scores."""
        return in_unit_interval(self.score_range)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return 1 if self.groups is None else self.groups.size

    def group_label(self, h: int) -> str:
        """Words for a group, as ``model='A', lang='en'``."""
        return "" if self.groups is None else _label(self.keys, self.groups.first[h])

    def kept(self, values: Any) -> Any:
        """The values of the rows that count."""
        return values if self.keep is None else values[self.keep]


def _at(values: Any, row: int) -> Any:
    return values.iloc[row] if isinstance(values, pd.Series) else values[row]


def _label(keys: list[Column], row: int) -> str:
    return ", ".join(f"{key.name}={plain(_at(key.values, row))!r}" for key in keys)


def _refuse_weightless(weights: FloatArray, groups: Groups, keys: list[Column]) -> None:
    """A group whose weights are all zero has no estimate."""
    total = np.bincount(groups.codes, weights=weights, minlength=groups.size)
    bad = np.flatnonzero(total == 0)
    if len(bad):
        shown = examples((_label(keys, groups.first[h]) for h in bad), between="; ")
        raise WeightError(f"All weights of {len(bad)} group(s) are 0: {shown}. Leave their rows out first.")


def read_rows(data: Frame, score: Any, by: Any, weights: Any, nan_policy: NanPolicy) -> Rows:
    """Find and check scores, groups and weights."""
    column = find(data, score, "score")

    def where(row: int) -> str:
        return f"row {plain(data.index[row])!r}"

    scores = to_float(column.values, column.name)
    weight: FloatArray | None = None
    absent: BoolArray | None = None
    if weights is not None:
        found = find(data, weights, "weights")
        weight = checked_weights(weights_to_float(found.values, found.name), found.name, where)
        absent = weight == 0  # as if the row were not there, whatever its score
    keep, missing = screen(scores, absent, column.name, nan_policy, where)
    keys = [find(data, spec, "by") for spec in listed(data, by)]
    groups = group_rows([key.values for key in keys], [key.name for key in keys]) if keys else None
    if weight is not None and groups is not None:
        _refuse_weightless(weight, groups, keys)
    used = scores if keep is None else scores[keep]
    score_range = (float(used.min()), float(used.max())) if used.size else (np.nan, np.nan)
    binary = bool(((used == 0) | (used == 1)).all())
    return Rows(
        scores=scores,
        keep=keep,
        groups=groups,
        keys=keys,
        weights=weight,
        score_range=score_range,
        binary=binary,
        missing=missing,
    )


def add_up(data: Frame, rows: Rows, cluster: Column | None) -> Sample:
    """Totals of each cluster in each group; without a cluster each group is one."""
    if cluster is None:
        return _summed(rows, None, Codes(codes=np.zeros(len(rows.scores), dtype=np.int64), size=1, label=lambda code: code))
    return _summed(rows, cluster.name, _coded(data, rows, cluster))


def add_up_crossed(data: Frame, rows: Rows, columns: list[Column], *, told: bool = True) -> Sample:
    """Totals by each of several clusterings and by their intersections, without those that lie within another.

    ``told`` says so, and what else there is to say of the ids.
    """
    if len(columns) == 1:
        return add_up(data, rows, columns[0])
    every = [Clustering(name=column.name, coded=by_label(_coded(data, rows, column, told=told))) for column in columns]
    kept = [
        Clustering(name=one.name, coded=dataclasses.replace(one.coded, codes=rows.kept(one.coded.codes))) for one in every
    ]
    counted = coarsest(kept, told=told)
    samples = [_summed(rows, every[k].name, every[k].coded) for k in counted]
    if len(samples) == 1:
        return samples[0]
    refuse_many([every[k].name for k in counted])
    crossed = Crossed.from_rows(
        rows.kept(rows.scores), [kept[k].coded.codes for k in counted],
        groups=None if rows.groups is None else rows.kept(rows.groups.codes), n_groups=rows.n_groups,
        weights=None if rows.weights is None else rows.kept(rows.weights), bounded=rows.bounded, binary=rows.binary,
        margins=[sample.totals for sample in samples],
    )  # fmt: skip
    return cross(samples, crossed)


def _coded(data: Frame, rows: Rows, cluster: Column, *, told: bool = True) -> Codes:
    coded = encode(cluster.values, cluster.name, lookalikes=told)
    _refuse_missing(data, rows, coded.codes, cluster.name)
    return coded


def _summed(rows: Rows, name: str | None, coded: Codes) -> Sample:
    groups = None if rows.groups is None else rows.kept(rows.groups.codes)
    totals = ClusterTotals.from_rows(
        rows.kept(rows.scores), rows.kept(coded.codes), n_clusters=coded.size, groups=groups, n_groups=rows.n_groups,
        weights=None if rows.weights is None else rows.kept(rows.weights), bounded=rows.bounded, binary=rows.binary,
    )  # fmt: skip
    n_missing, n_lost = _count_missing(rows, coded.codes, totals)
    return Sample(
        totals=totals, cluster=name, cluster_label=lambda c: plain(coded.label(c)),
        group_label=rows.group_label, n_missing=n_missing, n_lost=n_lost,
        score_range=rows.score_range,
        sentinel=None if rows.bounded else sentinel_of(rows.kept(rows.scores)),
    )  # fmt: skip


def _refuse_missing(data: Frame, rows: Rows, codes: IntArray, name: str) -> None:
    lacking = codes < 0
    if rows.keep is not None:
        lacking &= rows.keep  # a row without a score is left out anyway
    if not lacking.any():
        return
    at = np.flatnonzero(lacking)
    whole = "all" if len(at) == len(codes) else str(len(at))
    raise MissingClusterError(
        f"{whole} of {len(codes)} rows have no cluster id in {name!r}: rows "
        f"{examples(repr(plain(data.index[int(row)])) for row in at)}. They are neither one cluster nor none. Leave them out "
        f"knowingly with dropna(subset=[{name!r}]), or give each an id of its own if they share nothing."
    )


def _count_missing(rows: Rows, codes: IntArray, totals: ClusterTotals) -> tuple[IntArray, int]:
    """Scores left out by group, and clusters that lost all their scores."""
    if rows.missing is None:
        return np.zeros(rows.n_groups, dtype=np.int64), 0
    gone = rows.missing
    groups = np.zeros(len(codes), dtype=np.int64) if rows.groups is None else rows.groups.codes
    lost = np.setdiff1d(codes[gone & (codes >= 0)], totals.cluster)
    return np.bincount(groups[gone], minlength=rows.n_groups), len(lost)
