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
from evalci_accessor.report._cells import Speech
from evalci_accessor.report._gaps import Gap
from evalci_accessor.stats.methods import Source

SCORES, DIFFERENCES = "Intervals of the scores", "Intervals of the differences"  # roles of methods

__all__ = ["Finding", "Gap", "Method", "Report", "Source"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A warning of a method.

    Parameters
    ----------
    kind : str
        Name of its class in `evalci_accessor.exceptions`.
    meaning : str
        What the class stands for.
    message : str
        What was found.
    about : str
        The method that gave it.
    """

    kind: str
    meaning: str
    message: str
    about: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method that ran.

    Parameters
    ----------
    role : str
        What it was used for.
    name : str
        As the column of the result has it.
    text : str
        What it does.
    sources : tuple of Source
    """

    role: str
    name: str
    text: str
    sources: tuple[Source, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Report:
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
        The same for independent items, in the same order; p-values are of its intervals, as those of ``comparison`` are.
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
    Numbers are those of the methods; nothing is computed but how many times an interval is as wide as another. In a notebook the
    report shows itself.
    """

    title: str
    score: str
    keys: list[Hashable]
    rates: pd.DataFrame
    naive: pd.DataFrame
    n_items: list[int] | None
    clustering: pd.DataFrame
    comparison: pd.DataFrame | None
    naive_comparison: pd.DataFrame | None
    warnings: tuple[Finding, ...]
    not_covered: tuple[Gap, ...]
    methods: tuple[Method, ...]
    versions: dict[str, str]
    settings: dict[str, Any]
    speech: Speech

    def __repr__(self) -> str:
        counts = [
            f"{number} {word}{'' if number == 1 else 's'}"
            for number, word in (
                (len(self.rates), "row"), (0 if self.comparison is None else len(self.comparison), "comparison"),
                (len(self.warnings), "warning"),
            )
        ]  # fmt: skip
        return f"<Report {self.title!r}: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        from evalci_accessor.report._html import fragment

        return fragment(self)

    @property
    def sentence(self) -> str:
        """The findings in words, to be pasted."""
        from evalci_accessor.report._sentence import sentence

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
        from evalci_accessor.report._markdown import markdown

        return _written(markdown(self), path)

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
        from evalci_accessor.report._html import page

        return _written(page(self), path)

    def to_dict(self) -> dict[str, Any]:
        """The report as dicts, lists, text and numbers that JSON can hold.

        Returns
        -------
        dict
            All columns of the results, unrounded. What is not known or infinite is None; keys that JSON has no type for are text.
        """
        n_items = [None] * len(self.rates) if self.n_items is None else self.n_items
        systems = _records(self.rates, self.keys, self.naive)
        return {
            "title": self.title,
            "score": self.score,
            "sentence": self.sentence,
            "systems": [one | {"n_items": n} for one, n in zip(systems, n_items, strict=True)],
            "comparisons": []
            if self.comparison is None
            else _records(self.comparison, pair_keys(self.comparison), self.naive_comparison),
            "clustering": _records(self.clustering, self.keys),
            "warnings": [dataclasses.asdict(one) for one in self.warnings],
            "not_covered": [dataclasses.asdict(one) for one in self.not_covered],
            "methods": [
                dataclasses.asdict(one) | {"sources": [*map(dataclasses.asdict, one.sources)]} for one in self.methods
            ],
            "settings": {name: safe(value) for name, value in self.settings.items()},
            "versions": dict(self.versions),
        }


def pair_keys(comparison: pd.DataFrame) -> list[Hashable]:
    """The columns that name a comparison; they stand before its own."""
    names: list[Hashable] = list(comparison.columns)
    return names[: names.index("estimate_a")]


def _records(frame: pd.DataFrame, keys: list[Hashable], naive: pd.DataFrame | None = None) -> list[dict[str, Any]]:
    """A dict a row: the keys, the result's own columns, and those of the naive answer."""
    named = [{str(key): _key(frame[key].iloc[i]) for key in keys} for i in range(len(frame))]
    rows = [{"keys": key} | values for key, values in zip(named, _values(frame, keys), strict=True)]
    if naive is not None:
        rows = [row | {"naive": beside} for row, beside in zip(rows, _values(naive, keys), strict=True)]
    return rows


def _values(frame: pd.DataFrame, keys: list[Hashable]) -> list[dict[str, Any]]:
    """The result's own columns, a dict a row."""
    own = [name for name in frame.columns if name not in keys]
    return [{str(name): safe(frame[name].iloc[i]) for name in own} for i in range(len(frame))]


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
