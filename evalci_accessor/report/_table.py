"""A result as a table for a notebook, on pandas' Styler."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import MissingExtraError
from evalci_accessor.plot import _frame
from evalci_accessor.plot._frame import DIFFERENCE, RATE, Result, Wanted, in_unit, tidy
from evalci_accessor.report._content import ICC, UNKNOWN, Row, Speech, check_nouns, pair_rows, ratio, rows

_LATEX = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}"}
    | {">": r"\textgreater{}", "\N{MINUS SIGN}": "$-$", "\N{INFINITY}": r"$\infty$"}
    | {"\N{MIDDLE DOT}": r"$\cdot$"}
)

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

_SOURCE = "cluster_ci, proportion_ci, pass_at_k, compare, diff_ci, mcnemar or design_effect"
_WANTED = Wanted("report.table", _SOURCE, RATE)
_TEST, _ICC = ("difference", "pvalue"), (*ICC, "design_effect")


def table(
    result: Result,
    *,
    nouns: tuple[str, str] | None = None,
    percent: bool | None = None,
    caption: str | None = None,
) -> Styler:
    """A result with its numbers put into words, as "73.9 % [65.7, 81.1]" and "6,511 items in 27 tasks".

    Parameters
    ----------
    result : DataFrame or Dataset
        Of `cluster_ci`, `proportion_ci`, `pass_at_k` and the like, `compare`, `diff_ci`, `mcnemar` or
        `design_effect`, as it is or concatenated.
    nouns : tuple of str, optional
        What items and clusters are called, as ``("items", "tasks")``. A result of `cluster_ci` counts rows:
        with repeated samples say so, as ``("samples", "tasks")``.
    percent : bool, optional
        Whether scores are written in per cent; by default if all numbers lie in [0, 1], and of differences in
        [-1, 1].
    caption : str, optional
        What stands above the table.

    Returns
    -------
    Styler
        Shows itself in a notebook. Its ``data`` are the texts, and text of yours is escaped in HTML and in
        ``to_latex()``.

    Raises
    ------
    ColumnNotFoundError, AmbiguousNameError
        A result that lacks the columns.
    MethodError
        A result without rows, or nouns that are not two words.
    MissingExtraError
        Jinja2, which pandas' Styler needs, is not installed.

    Examples
    --------
    >>> from evalci_accessor import datasets, report
    >>> df = datasets.load_rag_eval()
    >>> honest = df.evalci.cluster_ci("doc_id", by="model")
    >>> styled = report.table(honest, nouns=("questions", "documents"))
    >>> print(styled.data.iloc[:, :2].to_string())
            estimate [95 % interval]                       rests on
    atlas        69.5 % [58.9, 78.8]  200 questions in 40 documents
    boreal       75.5 % [65.9, 83.6]  200 questions in 40 documents
    cascade      62.0 % [53.2, 70.2]  200 questions in 40 documents
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "report.table needs Jinja2, as pandas' Styler does, which is not installed. Install it with: "
            "pip install 'evalci-accessor[report]'"
        ) from error
    names = check_nouns(nouns)
    needed = _needed({*getattr(result, "data_vars", getattr(result, "columns", ()))})
    paired = needed[0] == DIFFERENCE[0]
    frame, keys = tidy(result, _WANTED._replace(needed=needed))
    written = [name for name in needed if name != "pvalue"]
    values = [frame[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in written]
    rates = in_unit(*values, low=-1.0 if paired else 0.0) if percent is None else percent
    speech = Speech(percent=rates, nouns=names, each="item")
    if paired:
        own = [name for name in frame if name not in (*keys, "pair")]
        found = pair_rows(frame[[*keys, *own]], apart=True)
    else:
        found = rows(frame, [key for key in keys if key != "cluster"], apart=True)
    cells = {RATE: _rate, DIFFERENCE: _pair, _TEST: _test, _ICC: _clustering}[needed]
    texts = pd.DataFrame([cells(row, speech) for row in found])
    levels = {row.text("confidence_level") for row in found}
    if len(levels) == 1:  # one level for all is said above the numbers
        texts = texts.drop(columns="confidence_level", errors="ignore")
        if needed != _TEST:
            first = texts.columns[0]
            texts = texts.rename(columns={first: f"{first} [{_frame.level(levels.pop())}interval]"})
    texts.index = pd.Index([row.label for row in found])
    styler: Styler = _words_of(texts, caption).format(escape="html")
    styler = styler.format_index(escape="html").format_index(escape="html", axis="columns")
    left: list[tuple[str, str | float]] = [("text-align", "left")]
    cell = [*left, ("font-variant-numeric", "tabular-nums"), ("vertical-align", "top")]
    return styler.set_table_styles(
        [
            {"selector": "th, td", "props": cell},
            {"selector": "caption", "props": [*left, ("color", "inherit")]},
        ]
    )


def _needed(held: set[Hashable]) -> tuple[str, ...]:
    """The columns that a result is known by."""
    if "difference" in held and "estimate" not in held:
        return _TEST if "pvalue" in held and "ci_low" not in held else DIFFERENCE
    return _ICC if "estimate" not in held and held.issuperset(_ICC) else RATE


def _words_of(texts: pd.DataFrame, caption: str | None) -> Styler:
    """The texts as a Styler whose escapes are those of the language that is asked for."""
    import html

    from pandas.io.formats.style import Styler

    class Words(Styler):
        def to_latex(self, *args: Any, **kwargs: Any) -> Any:
            plain = texts.map(_latex).set_axis([*map(_latex, texts.index)])
            plain = plain.set_axis([*map(_latex, texts.columns)], axis=1)
            kwargs = ({} if caption is None else {"caption": _latex(caption)}) | kwargs
            return plain.style.to_latex(*args, **kwargs)

    styler = Words(texts)
    return styler if caption is None else styler.set_caption(html.escape(caption))


def _latex(text: str) -> str:
    """Text that LaTeX shows as it is."""
    safe = str(text).translate(_LATEX)
    return f"{{}}{safe}" if safe.startswith("[") else safe  # after the end of a row a bracket is an option


def _rate(row: Row, speech: Speech) -> dict[str, str]:
    return {"estimate": speech.score(row)} | _rests(row, speech) | _ran(row)


def _pair(row: Row, speech: Speech) -> dict[str, str]:
    cells = {"difference": speech.difference(row)} | _counts(row)
    if "simultaneous_low" in row.cells:
        cells["all pairs together"] = speech.limits(row, "simultaneous", signed=True)
    if "verdict" in row.cells:
        cells["verdict"] = row.verdict
    elif "pvalue_adj" in row.cells:
        cells["p, adjusted"] = row.pvalue()
    return cells | _rests(row, speech) | _ran(row)


def _test(row: Row, speech: Speech) -> dict[str, str]:
    size = speech.points(row.number("difference"), signed=True) if row.known("difference") else UNKNOWN
    cells = {"difference": size} | _counts(row) | {"p": row.pvalue("pvalue")}
    return cells | _rests(row, speech) | _ran(row)


def _clustering(row: Row, speech: Speech) -> dict[str, str]:
    as_many = f"{row.number('n_eff'):,.1f} independent {speech.items}" if row.known("n_eff") else UNKNOWN
    cells = {"ICC": row.icc, "design effect": ratio(row.number("design_effect")), "as many as": as_many}
    return cells | _rests(row, speech) | _held(row, "confidence_level")


def _counts(row: Row) -> dict[str, str]:
    """On how many items the two differ, if the result tells."""
    return {"only first, only second": row.apart} if row.known("only_a") else {}


def _rests(row: Row, speech: Speech) -> dict[str, str]:
    """What a number rests on, as far as the result tells."""
    counted = next((name for name in ("n", "n_items", "n_pairs") if name in row.cells), None)
    if counted is None:
        return {}
    if "cluster" not in row.cells:
        return {"rests on": f"{row.count(counted)} {speech.items}"}
    return {"rests on": speech.based_on(row, counted)}


def _ran(row: Row) -> dict[str, str]:
    """The method and the level, if the result has them."""
    return _held(row, "method", "confidence_level")


def _held(row: Row, *names: str) -> dict[str, str]:
    return {name: row.text(name) for name in names if name in row.cells}
