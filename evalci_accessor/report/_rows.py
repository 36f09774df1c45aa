"""A row of a result: what it is called, and its cells."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import pandas as pd

from evalci_accessor.plot._frame import MINUS, called, words
from evalci_accessor.report._cells import number, p_is
from evalci_accessor.report._report import Report, pair_keys

_PAIR, N_ITEMS = "\0pair", "\0items"  # no column of a result is called so


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


def rows(frame: pd.DataFrame, keys: list[Hashable], *, apart: bool = False) -> list[Row]:
    """The rows of scores; ``apart`` adds what tells rows of one key apart, such as the method."""
    labels = called(frame if apart else frame[keys], keys)
    return [Row(label=label, values=frame.iloc[i].drop(keys)) for i, label in enumerate(labels)]


def score_rows(report: Report) -> list[Row]:
    """The rows of a report's scores; where items have several samples, with the number of items."""
    sampled = report.speech.each == "sample"
    return rows(report.rates.assign(**{N_ITEMS: report.n_items}) if sampled else report.rates, report.keys)


def rests(report: Report, row: Row) -> str:
    """What the score of a row rests on."""
    n_items = row.number(N_ITEMS) if row.known(N_ITEMS) else None
    return report.speech.based_on(row.number("n"), row.number("n_clusters"), row.text("cluster"), n_items=n_items)


def icc(row: Row) -> str:
    """The intracluster correlation with its limits."""
    if not row.known("icc"):
        return "not known"
    limits = f" [{number(row.number('icc_low'))}, {number(row.number('icc_high'))}]" if row.known("icc_low") else ""
    return f"{number(row.number('icc'))}{limits}"


def verdict(row: Row) -> str:
    """The verdict on a claim, with the p-value of the claim."""
    return f"{row.text('verdict')}, {p_is(row.number('pvalue_verdict'))}" if row.text("verdict") else "not known"


def pair_rows(comparison: pd.DataFrame, *, apart: bool = False) -> list[Row]:
    """The rows of comparisons, called after their two systems, and their group if there is one."""
    keys = pair_keys(comparison)
    *by, first, second = keys
    factor = str(first).removesuffix("_a")  # a system that is a number is called after it
    a, b = (called(comparison[[side]].rename(columns={side: factor}), [factor]) for side in (first, second))
    groups = called(comparison[by], by) if by else [""] * len(comparison)
    labels = [
        f"{group} \N{MIDDLE DOT} {left}{MINUS}{right}" if group else f"{left}{MINUS}{right}"
        for group, left, right in zip(groups, a, b, strict=True)
    ]
    if apart:
        labels = called(comparison.assign(**{_PAIR: labels}), [_PAIR])
    return [
        Row(label=label, sides=(a[i], b[i]), of=groups[i], values=comparison.iloc[i].drop(keys))
        for i, label in enumerate(labels)
    ]
