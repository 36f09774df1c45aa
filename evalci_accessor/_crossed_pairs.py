"""Crossed clusterings of matched items: which of them count, and their clusters and intersections by item."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from evalci_accessor._crossing import Clustering, JointIds, coarsest, joint_name, refuse_many
from evalci_accessor._ids import Codes
from evalci_accessor._pairing import Crossing, Margin, Matched
from evalci_accessor.exceptions import plain
from evalci_accessor.stats.validate import IntArray


def cross_matched(matched: Matched, joint: JointIds, number: Callable[[int], float]) -> Matched:
    """From items in joint clusters to items in several; ``number`` gives a cluster code's joint number."""
    codes = [np.zeros(0, dtype=np.int64) if table.clusters is None else table.clusters for table in matched.tables]
    held, place = np.unique(np.concatenate(codes) if codes else np.zeros(0, dtype=np.int64), return_inverse=True)
    numbers = np.array([number(int(code)) for code in held], dtype=np.int64)
    used = numbers[place.reshape(-1)]
    every = [
        Clustering(name=name, coded=Codes(codes=corner[used], size=one.size, label=one.label))
        for name, one, corner in zip(joint.names, joint.coded, joint.corners, strict=True)
    ]
    counted = coarsest(every, told=True)
    own = joint.corners[counted[0]]  # of the only one, or the first
    parts = np.split(used, np.cumsum([len(part) for part in codes])[:-1])
    if len(counted) == 1:
        tables = [dataclasses.replace(table, clusters=own[part]) for table, part in zip(matched.tables, parts, strict=True)]
        only = every[counted[0]]
        return dataclasses.replace(matched, tables=tables, cluster=only.name, cluster_label=_words(only.coded))
    refuse_many([joint.names[k] for k in counted])
    margins = [Margin(name=every[k].name, label=_words(every[k].coded)) for k in counted]
    subsets: dict[tuple[int, ...], IntArray] = {}
    for size in range(1, len(counted) + 1):
        for some in itertools.combinations(range(len(counted)), size):
            corners = np.stack([joint.corners[counted[d]] for d in some])
            subsets[some] = corners[0] if size == 1 else np.unique(corners, axis=1, return_inverse=True)[1].reshape(-1)
    return dataclasses.replace(
        matched, tables=[dataclasses.replace(table, clusters=part) for table, part in zip(matched.tables, parts, strict=True)],
        cluster=joint_name([margin.name for margin in margins]), cluster_label=joint.label,
        crossing=Crossing(margins=margins, subsets=subsets),
    )  # fmt: skip


def cluster_words(coded: Codes | None, joint: JointIds | None) -> Callable[[int], Any]:
    """The id of a cluster code for messages: of several clusterings all ids."""
    if coded is None:
        return lambda code: code
    if joint is not None:
        return lambda code: joint.label(coded.label(code))
    return _words(coded)


def _words(coded: Codes) -> Callable[[int], object]:
    return lambda code: plain(coded.label(code))
