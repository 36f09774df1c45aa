"""Answers as tidy frames: keys first, a row a group, or a row a group and label of each axis."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import AmbiguousNameError
from evalci_accessor.read import Axes, Order, Writer
from evalci_accessor.read.ids import group_rows
from evalci_accessor.read.samples import Sample
from evalci_accessor.stats.validate import IntArray


def as_series(values: Any) -> pd.Series:
    """A Series of values, with their dtype."""
    return values if isinstance(values, pd.Series) else pd.Series(values)


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class FrameWriter(Writer[pd.DataFrame]):
    """Answers as tidy frames: keys first, a row a group, or a row a group and label of each axis."""

    values: dict[Hashable, pd.Series]
    n_groups: int
    systems: Any = None
    factor: str = ""

    @property
    def keys(self) -> dict[Any, IntArray]:
        """Codes of each key, by group."""
        return {label: group_rows([(values, str(label))])[0] for label, values in self.values.items()}

    def refuse(self, *names: str) -> None:
        """Refuse keys, and the names of the two systems, that are called like a column of the answer."""
        sides = [f"{self.factor}_{side}" for side in "ab"] if self.factor else []
        if set(sides) & set(names):
            raise AmbiguousNameError(
                f"A factor named {self.factor!r} would give the result {sides[0]!r} and {sides[1]!r}, of which one is "
                f"there already: {', '.join(names)}. Rename it first, as with "
                f"df.rename(columns={{{self.factor!r}: {self.factor + '_'!r}}})."
            )
        names, labels = (*sides, *names), list(self.values)
        clash = [label for label in labels if label in names]
        if clash:
            raise AmbiguousNameError(
                f"by={clash[0]!r} would stand twice in the result, whose own columns are {', '.join(names)}. Rename the "
                f"column first, as with df.rename(columns={{{clash[0]!r}: {f'{clash[0]}_'!r}}})."
            )

    def __call__(
        self,
        columns: dict[str, Any],
        axes: Axes | None = None,
        order: Order | None = None,
        *,
        single: bool = False,  # noqa: ARG002
    ) -> pd.DataFrame:
        """Keys, labels of the axes, and columns side by side."""
        coords = list((axes or {}).values())
        sizes = [len(next(iter(one.values()))) for one in coords]
        shape = (self.n_groups, *sizes)
        size = int(np.prod(shape, dtype=np.int64)) if sizes else self.n_groups
        out: dict[Hashable, Any] = {}
        if self.values or coords:
            places = np.unravel_index(np.arange(size), shape) if size else [np.arange(0)] * len(shape)
            for label, values in self.values.items():
                out[label] = values.iloc[places[0]].reset_index(drop=True)
            for one, place in zip(coords, places[1:], strict=True):
                for name, labels in one.items():
                    if name not in columns:
                        out[name] = as_series(labels).iloc[place].reset_index(drop=True)
        for name, value in columns.items():
            if isinstance(value, np.ndarray) and not value.ndim:
                value = np.full(size, value)
            if not isinstance(value, np.ndarray):
                out[name] = value if isinstance(value, float) else [value] * size
            elif sizes and value.ndim == 1:
                out[name] = np.tile(value, size // max(len(value), 1))
            else:
                out[name] = (value if value.size == size else np.broadcast_to(value, shape)).reshape(size)
        frame = pd.DataFrame(out, index=pd.RangeIndex(size))
        return frame if order is None else frame.iloc[order.rows].reset_index(drop=True)


def cluster_rates(sample: Sample) -> pd.DataFrame:
    """A row a cluster of one group, with its mean and its size, as `proportion_ci(by=cluster)` would have it."""
    t, name = sample.totals, str(sample.cluster)
    if name in ("estimate", "n", "weight"):  # as a column of its own; words leave the blank out
        name += " "
    names = pd.Series([sample.cluster_label(int(code)) for code in t.cluster], dtype=object)
    # Weights have any scale; here they add up to the scores.
    weight = {"weight": t.m * (t.n.sum() / t.m.sum())} if t.weighted else {}
    return pd.DataFrame({name: names, "estimate": t.s / t.m, "n": t.n, **weight})
