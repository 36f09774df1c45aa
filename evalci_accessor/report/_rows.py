"""A row of a result: what it is called, and its cells."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import pandas as pd

from evalci_accessor.plot._frame import MINUS, names, words
from evalci_accessor.report._report import pair_keys


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Row:
    """A row of a result.

    Parameters
    ----------
    label : str
        What it is called.
    sides : tuple of str
        The two systems of a comparison, else empty.
    of : str
        The group of a comparison, else empty.
    values : Series
    """

    label: str
    values: pd.Series
    sides: tuple[str, str] = ("", "")
    of: str = ""

    @property
    def names(self) -> list[Any]:
        """Of its columns."""
        return list(self.values.index)

    def number(self, name: str) -> float:
        """A cell as a float, nan if it is none."""
        value = self.values[name] if name in self.values.index else None
        return float("nan") if value is None or pd.isna(value) else float(value)

    def known(self, name: str) -> bool:
        """Whether a cell holds a number."""
        number = self.number(name)
        return number == number

    def text(self, name: str) -> str:
        """A cell as text, empty if the result lacks it."""
        return words(self.values[name]) if name in self.values.index else ""


def rows(frame: pd.DataFrame, keys: list[Hashable]) -> list[Row]:
    """The rows of scores."""
    return [
        Row(label=label, values=frame.iloc[i].drop(keys))
        for i, label in enumerate(one_line(names(frame[keys], keys) if keys else ["all"] * len(frame)))
    ]


def pair_rows(comparison: pd.DataFrame) -> list[Row]:
    """The rows of comparisons, called after their two systems, and their group if there is one."""
    keys = pair_keys(comparison)
    *by, first, second = keys
    a, b = (one_line(names(comparison[[side]], [side])) for side in (first, second))
    a, b = (_bare(side, labels) for side, labels in ((first, a), (second, b)))
    groups = one_line(names(comparison[by], by)) if by else [""] * len(comparison)
    return [
        Row(
            label=f"{group} · {left}{MINUS}{right}" if group else f"{left}{MINUS}{right}",
            sides=(left, right), of=group, values=comparison.iloc[i].drop(keys),
        )
        for i, (group, left, right) in enumerate(zip(groups, a, b, strict=True))
    ]  # fmt: skip


def _bare(side: Hashable, labels: list[str]) -> list[str]:
    """A system that is a number is called after the factor, not after its side of the pair."""
    factor = str(side).removesuffix("_a").removesuffix("_b")
    return [
        f"{factor}{label.removeprefix(str(side))}" if label.startswith((f"{side} = ", f"{side} empty")) else label
        for label in labels
    ]  # fmt: skip


def one_line(labels: list[str]) -> list[str]:
    """Labels that a picture would break into lines."""
    return [label.replace("\n", " ") for label in labels]
