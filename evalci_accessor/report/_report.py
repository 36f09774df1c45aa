"""A report: the results of the methods, what they warned of, and what no interval covers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import plain
from evalci_accessor.report import _render
from evalci_accessor.report._content import Content, pair_keys, sentence


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Report(Content):
    """What ``df.evalci.report(...)`` gives: results in one place, to be read, pasted and audited.

    Parameters
    ----------
    title : str
    score : str
        Name of the scores.
    keys : list
        The columns that name the systems.
    rates : DataFrame
        The answer of `cluster_ci`, a row a system.
    naive : DataFrame
        The same for independent scores.
    n_items : list of int or None
        How many items the scores of each row of ``rates`` are of; None where no items were named.
    clustering : DataFrame
        The answer of `design_effect`.
    comparison : DataFrame or None
        The answer of `compare`, or of `diff_ci` where there is a margin.
    naive_comparison : DataFrame or None
        The same for independent items, in the same order; p-values are of its intervals, as those of
        ``comparison`` are.
    warnings : tuple of Finding
        What these said, each once.
    not_covered : tuple of Gap
        Errors that the intervals leave out, with your answers.
    methods : tuple of Method
        What ran.
    versions : dict
        Of the packages.
    settings : dict
        The options of the call that move a number.
    speech : Speech
        How numbers are written.

    Notes
    -----
    Numbers are those of the methods; nothing is computed but how many times an interval is as wide as
    another. In a notebook the report shows itself.
    """

    def __repr__(self) -> str:
        rows = {"row": self.rates, "comparison": self.comparison, "warning": self.warnings}
        numbers = {word: 0 if held is None else len(held) for word, held in rows.items()}
        counts = [f"{number} {word}{'' if number == 1 else 's'}" for word, number in numbers.items()]
        return f"<Report {self.title!r}: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        return _render.fragment(self)

    @property
    def sentence(self) -> str:
        """The findings in words, to be pasted."""
        return sentence(self)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The report as Markdown, without pictures.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well.

        Returns
        -------
        str
            The text.
        """
        return _written(_render.markdown(self), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """The report as one page of HTML, which loads nothing from anywhere.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well.

        Returns
        -------
        str
            The page. Its pictures need Matplotlib; without it the page says that there are none.
        """
        return _written(_render.page(self), path)

    def to_dict(self) -> dict[str, Any]:
        """The report as dicts, lists, text and numbers that JSON can hold.

        Returns
        -------
        dict
            All columns of the results, unrounded. What is not known or infinite is None; keys that JSON has
            no type for are text.
        """
        n_items = [None] * len(self.rates) if self.n_items is None else self.n_items
        systems, comparisons = _records(self.rates, self.keys, self.naive), []
        if self.comparison is not None:
            comparisons = _records(self.comparison, pair_keys(self.comparison), self.naive_comparison)
        return {
            "title": self.title,
            "score": self.score,
            "sentence": self.sentence,
            "systems": [one | {"n_items": n} for one, n in zip(systems, n_items, strict=True)],
            "comparisons": comparisons,
            "clustering": _records(self.clustering, self.keys),
            "warnings": [dataclasses.asdict(one) for one in self.warnings],
            "not_covered": [dataclasses.asdict(one) for one in self.not_covered],
            "methods": [
                dataclasses.asdict(one) | {"sources": [*map(dataclasses.asdict, one.sources)]}
                for one in self.methods
            ],
            "settings": {name: safe(value) for name, value in self.settings.items()},
            "versions": dict(self.versions),
        }


def _records(
    frame: pd.DataFrame, keys: list[Hashable], naive: pd.DataFrame | None = None
) -> list[dict[str, Any]]:
    """A dict a row: the keys, the result's own columns, and those of the naive answer."""
    rows = []
    for i in range(len(frame)):
        row = {"keys": {str(key): _key(frame[key].iloc[i]) for key in keys}} | _values(frame, keys, i)
        rows.append(row if naive is None else row | {"naive": _values(naive, keys, i)})
    return rows


def _values(frame: pd.DataFrame, keys: list[Hashable], row: int) -> dict[str, Any]:
    """The result's own columns."""
    return {str(name): safe(frame[name].iloc[row]) for name in frame.columns if name not in keys}


def safe(value: Any) -> Any:
    """A value as JSON has it."""
    value = plain(value)
    if value is None or (np.ndim(value) == 0 and pd.isna(value)):
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (bool, int, str)) else str(value)


def _key(value: Any) -> Any:
    """A key as JSON has it; infinite ones stay apart."""
    number = plain(value)
    return str(number) if isinstance(number, float) and math.isinf(number) else safe(value)


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
