"""Rows with intervals: estimates, the naive interval under the honest one; and differences of pairs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor.options import Labels
from evalci_accessor.plot import _frame, _words
from evalci_accessor.plot._canvas import BLUE, VERMILLION, Canvas, Look, Note, Pen, draw, places, row_ticks
from evalci_accessor.plot._frame import (
    DIFFERENCE,
    RATE,
    Result,
    Rows,
    clusterings,
    folded,
    names,
    numbers,
    read,
    words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

_HONEST = Pen(color=BLUE, width=2.4, cap=8, gid="interval")
_NAIVE = Pen(color=VERMILLION, width=1.3, style=(0, (2.5, 1.5)), cap=5, gid="naive")
SOURCE = "cluster_ci or proportion_ci"
_OWN = Pen(color=BLUE, width=4.5, cap=0, gid="interval", floor=-1.0)
_TOGETHER = Pen(color=BLUE, width=1.2, cap=8, gid="simultaneous", zorder=2.5, floor=-1.0)
_POINT: dict[str, Any] = {
    "marker": "o",
    "linestyle": "none",
    "markersize": 7,
    "markeredgewidth": 1.6,
    "color": BLUE,
}
_FAINT = 0.3
PAIRS_SOURCE = "compare or diff_ci"


def forest(
    result: Result,
    *,
    naive: Result | None = None,
    label: Labels | None = None,
    group: Hashable = None,
    sort_by: Hashable = "estimate",
    ascending: bool = False,
    notes: bool = True,
    percent: bool | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Estimates with their intervals, a row each.

    Parameters
    ----------
    result : DataFrame or Dataset
        What `cluster_ci` or `proportion_ci` gave, as it is or concatenated. ``estimate``, ``ci_low`` and
        ``ci_high`` are needed; ``n`` or ``n_items``, ``n_clusters``, ``cluster``, ``method`` and
        ``confidence_level`` are shown if they are there.
    naive : DataFrame or Dataset, optional
        Another result with the same keys, as of `proportion_ci`, whose intervals are drawn beneath for
        comparison.
    label : label or list of labels, optional
        The columns that name the rows; by default those before the result's own, and the index levels or
        dims.
    group : label, optional
        A column by which rows stand together under headings, in the order in which they came.
    sort_by : label, default "estimate"
        The column by which rows are sorted, within their group; None keeps their order.
    ascending : bool, default False
        Whether the least stands at the top.
    notes : bool, default True
        Whether numbers stand in the right margin.
    percent : bool, optional
        Whether the estimates are rates, written in per cent; by default if all numbers lie in [0, 1].
    title : str, optional
        Title of the picture.
    figsize : tuple of float, optional
        Size of the new figure in inches; by default it grows with the rows and their labels.
    ax : Axes, optional
        Where to draw; by default on a new figure. Letters shrink where rows have little room. The margin lies
        outside of the Axes, so give its figure ``layout="constrained"``, or leave the notes out.

    Returns
    -------
    Axes
        What was drawn on, in the units of the scores.

    Raises
    ------
    ColumnNotFoundError, AmbiguousNameError
        A result that lacks the columns, or a name that it does not have.
    ScoreTypeError
        Columns that hold text.
    MethodError
        A result without rows, naive ones with other keys, or an ``ax`` that is none, comes with ``figsize``,
        is polar or in 3-d, holds such a picture already, or shares its rows with one of others.
    MissingExtraError
        Matplotlib is not installed.

    Notes
    -----
    Nothing is computed: the lines end at the result's own numbers. A limit that is the end of the scale (0 or
    1 of a rate, or infinite), as one-sided intervals have, is an arrow.

    Examples
    --------
    >>> from evalci_accessor import datasets, plot
    >>> df = datasets.load_rag_eval()
    >>> honest = df.evalci.cluster_ci("doc_id", by="model")
    >>> ax = plot.forest(honest, naive=df.evalci.proportion_ci(by="model"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['boreal', 'atlas', 'cascade']
    """
    look = Look(ax=ax, figsize=figsize, title=title)
    rows = read(
        result, RATE, "plot.forest", SOURCE, label=label, group=group, sort_by=sort_by, ascending=ascending
    )
    point, low, high = (rows.numbers(name) for name in RATE)
    beside = None if naive is None else _frame.beside(rows, result, naive, SOURCE)
    other = (
        np.full((3, len(point)), np.nan)
        if beside is None
        else np.stack([numbers(beside, name) for name in RATE])
    )
    rates = _words.in_unit(point, low, high, *other) if percent is None else percent
    look.refuse_shared("y", row_ticks(rows.labels, rows.headings))
    canvas = look.open()
    ax = canvas.ax
    ax.set_xlim(*canvas.widen([point, low, high, *other]))
    y, _ = places(rows.headings)
    shift = 0.0 if naive is None else 0.17
    arrows = draw(canvas, y - shift, [point, low, high], rates, _HONEST)
    ax.plot(point, y - shift, "o", color=BLUE, markersize=6, zorder=4, gid="estimate")
    if naive is not None:
        arrows |= draw(canvas, y + shift, [*other], rates, _NAIVE)
        ax.plot(other[0], y + shift, **_diamond(ax), linestyle="none", zorder=4, gid="naive estimate")
    frames = [rows.frame, *([] if beside is None else [beside])]
    handles = _handles(frames, canvas, arrows=arrows)
    canvas.set_rows(
        rows.labels, rows.headings, _notes(rows, percent=rates) if notes else [], legend=len(handles) + 1
    )
    if rates:
        canvas.set_units("x", percent=True)
    canvas.space_ticks()
    levels = {_level(frame) for frame in frames}
    return canvas.write(
        handles, below="estimate", legend=f"{levels.pop() if len(levels) == 1 else ''}intervals"
    )


def _notes(rows: Rows, *, percent: bool) -> list[Note]:
    limits = zip(*(rows.numbers(name).tolist() for name in RATE), strict=True)
    heading = "%" if percent else "estimate"
    estimates = Note(heading=heading, texts=[_words.interval(*three, percent=percent) for three in limits])
    return [estimates, *rows.counted(("n", "scores"), ("n_items", "items"), ("n_clusters", "clusters"))]


def _handles(frames: list[pd.DataFrame], canvas: Canvas, *, arrows: bool) -> list[Line2D]:
    """What the legend says of each kind of line: of the result, and of the naive one if there is one."""
    from matplotlib.lines import Line2D

    looks: list[dict[str, Any]] = [
        {"color": BLUE, "linewidth": _HONEST.width, "marker": "o", "markersize": 6},
        {"linewidth": _NAIVE.width, "linestyle": _NAIVE.style, **_diamond(canvas.ax)},
    ]
    levels = [_level(frame) for frame in frames]
    each = levels if len(set(levels)) > 1 else [""] * len(levels)  # one level for all is the legend's title
    kinds = [
        Line2D([], [], **look, label=f"{level}{_said(frame)}")
        for look, frame, level in zip(looks, frames, each, strict=False)
    ]
    return [*kinds, *([canvas.open_end] if arrows else [])]


def _diamond(ax: Axes) -> dict[str, Any]:
    """The naive estimate's mark, open where the honest one's is full."""
    return {
        "color": VERMILLION,
        "marker": "D",
        "markersize": 4,
        "markerfacecolor": ax.get_facecolor(),
        "markeredgewidth": 1.2,
    }


def _said(frame: pd.DataFrame) -> str:
    """What an interval takes into account, and by which method."""
    clusters, methods = (
        clusterings(frame),
        [words(value) for value in frame["method"]] if "method" in frame else [],
    )
    kinds = [f"clustered by {_words.few(clusters)}"] if any(clusters) else []
    if not all(clusters):
        kinds.append(f"{'scores' if 'n' in frame else 'items'} taken as independent")
    return ": ".join(filter(None, [" or ".join(kinds) or "interval", _words.few(methods)]))


def _level(frame: pd.DataFrame) -> str:
    """The confidence levels of a result, before a word; nothing if it has none."""
    return _words.levels([words(value) for value in frame.get("confidence_level", [])])


def differences(
    result: Result,
    *,
    label: Labels | None = None,
    group: Hashable = None,
    sort_by: Hashable = None,
    ascending: bool = False,
    notes: bool = True,
    percent: bool | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Differences between systems with their intervals, a row a pair.

    Parameters
    ----------
    result : DataFrame or Dataset
        What `compare` or `diff_ci` gave. ``difference``, ``ci_low`` and ``ci_high`` are needed; simultaneous
        limits, the margin with its verdict, counts and p-values are shown if they are there.
    label, group
        As in `forest`. By default a row is called after its two systems, first minus second.
    sort_by : label, optional
        The column by which rows are sorted, within their group; by default they stay as they are, most
        evidence first in `compare`.
    ascending : bool, default False
        Whether the least stands at the top.
    notes : bool, default True
        Whether numbers stand in the right margin: the difference, how many items only the first and only the
        second passed, items and clusters, and the p-value or the verdict.
    percent : bool, optional
        Whether the scores are rates, whose differences are written in percentage points; by default if all
        numbers lie in [-1, 1].
    title, figsize, ax
        As in `forest`.

    Returns
    -------
    Axes
        What was drawn on, in the units of the scores.

    Raises
    ------
    EvalCIError
        As in `forest`, each a class of its own.

    Notes
    -----
    Nothing is computed. The thick line is each pair's own interval, the thin one that which holds for all
    pairs together. A full point says that a claim can be made: there is a verdict, as `diff_ci` gives it, or
    else the simultaneous interval leaves out zero (the pair's own, if there is no other). The margin is a
    band around zero, and below it for noninferiority, as far as the first system may be worse. A verdict is
    of a test on one side, so the line of a full point, which has two, may reach past it.

    Examples
    --------
    >>> from evalci_accessor import datasets, plot
    >>> df = datasets.load_rag_eval()
    >>> ax = plot.differences(df.evalci.compare("model", item="item", cluster="doc_id", rng=1))
    >>> ax.get_xlabel(), len(ax.get_yticklabels())
    ('difference, percentage points', 3)
    """
    look = Look(ax=ax, figsize=figsize, title=title)
    rows = read(
        result,
        DIFFERENCE,
        "plot.differences",
        PAIRS_SOURCE,
        label=label,
        group=group,
        sort_by=sort_by,
        ascending=ascending,
    )
    labels = rows.labels if label is not None else _pairs(rows, group)
    point, low, high = (rows.numbers(name) for name in DIFFERENCE)
    wide = [rows.numbers(name) for name in ("simultaneous_low", "simultaneous_high")]
    margin = rows.numbers("margin")
    rates = _words.in_unit(point, low, high, *wide, low=-1.0) if percent is None else percent
    look.refuse_shared("y", row_ticks(labels, rows.headings))
    canvas = look.open()
    ax = canvas.ax
    margins = _margins(rows, margin)
    ax.set_xlim(*canvas.widen([point, low, high, *wide, *margins], held=(0.0,)))
    y, _ = places(rows.headings)
    banded = margin > 0
    for row, first, last in zip(y[banded], *(side[banded] for side in margins), strict=True):
        ax.fill_betweenx(
            [row - 0.5, row + 0.5],
            first,
            last,
            color=VERMILLION,
            alpha=_FAINT,
            linewidth=0,
            zorder=1,
            gid="margin",
        )
    for side in margins:
        edge = banded & (side != 0)
        ax.vlines(
            side[edge],
            y[edge] - 0.5,
            y[edge] + 0.5,
            colors=VERMILLION,
            linewidth=0.8,
            linestyle=":",
            zorder=1.2,
        )
    ax.vlines(0, 0.5, y[-1] + 0.5, colors=[canvas.ink], linewidth=1, zorder=1.5, gid="zero")
    together = _together(low, high, wide)
    arrows = draw(canvas, y, [point, low, high], rates, _OWN)
    if together.any():
        arrows |= draw(canvas, y[together], [each[together] for each in (point, *wide)], rates, _TOGETHER)
    claim = _claims(rows, low, high, wide)
    for is_full, face in ((True, BLUE), (False, ax.get_facecolor())):
        at = claim == is_full
        ax.plot(point[at], y[at], **_POINT, markerfacecolor=face, zorder=4, gid="difference")
    handles = _difference_handles(
        rows, canvas, claims=claim, together=bool(together.any()), banded=bool(banded.any()), arrows=arrows
    )
    canvas.set_rows(
        labels, rows.headings, _difference_notes(rows, percent=rates) if notes else [], legend=len(handles)
    )
    if rates:
        canvas.set_units("x", percent=True, unit="")
    canvas.space_ticks()
    return canvas.write(handles, below="difference, percentage points" if rates else "difference")


def _pairs(rows: Rows, group: Hashable) -> list[str]:
    """Labels with the pair as a difference."""
    return names(*folded(rows.frame, [key for key in rows.keys if key != group]))


def _verdicts(rows: Rows) -> list[str]:
    """Empty where there is none: for want of an interval, or because the row is of another method."""
    return (
        ["" if pd.isna(value) else words(value) for value in rows.frame["verdict"]]
        if "verdict" in rows.frame
        else []
    )


def _claims(rows: Rows, low: np.ndarray, high: np.ndarray, wide: list[np.ndarray]) -> np.ndarray:
    """Rows of which something can be claimed: by their verdict, or else by their interval."""
    lower, upper = (np.where(np.isnan(each), own, each) for each, own in zip(wide, (low, high), strict=True))
    left_out = np.asarray((lower > 0) | (upper < 0))
    verdicts = np.array(_verdicts(rows) or [""] * len(low))
    return np.asarray(np.where(verdicts == "", left_out, verdicts != "inconclusive"))


def _margins(rows: Rows, margin: np.ndarray) -> list[np.ndarray]:
    """Ends of the bands: to be no worse asks for less than to be alike, and nothing above zero."""
    below_only = np.array(rows.texts("claim") or [""] * len(margin)) == "noninferiority"
    return [-margin, np.where(below_only, 0.0, margin)]


def _together(low: np.ndarray, high: np.ndarray, wide: list[np.ndarray]) -> np.ndarray:
    """Rows whose interval for all pairs says more than their own, as that of an only pair does not."""
    return np.asarray(~np.isnan(wide[0]) & ~((wide[0] == low) & (wide[1] == high)))


def _difference_notes(rows: Rows, *, percent: bool) -> list[Note]:
    limits = zip(*(rows.numbers(name).tolist() for name in DIFFERENCE), strict=True)
    heading = "points" if percent else "difference"
    columns = [
        Note(
            heading=heading, texts=[_words.interval(*three, percent=percent, signed=True) for three in limits]
        )
    ]
    only = [rows.numbers(name) for name in ("only_a", "only_b")]
    if not np.isnan(only).all():
        sides = zip(*map(_words.counts, only), strict=True)
        columns.append(Note(heading="only 1st : 2nd", texts=[" : ".join(pair) for pair in sides]))
    columns += rows.counted(("n_pairs", "items"), ("n_clusters", "clusters"))
    if "verdict" in rows.frame:
        columns.append(Note(heading="verdict", texts=_verdicts(rows)))
    if "pvalue_adj" in rows.frame:
        how = rows.only("correction")
        columns.append(
            Note(
                heading=f"p ({how})" if how else "p, adjusted",
                texts=_words.pvalues(rows.numbers("pvalue_adj")),
            )
        )
    return columns


def _difference_handles(
    rows: Rows, canvas: Canvas, *, claims: np.ndarray, together: bool, banded: bool, arrows: bool
) -> list[Line2D | Patch]:
    """What the legend says of each kind of line."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    level = _words.levels(rows.texts("confidence_level"))
    clusters = _words.few(clusterings(rows.frame))
    said = f", clustered by {clusters}" if clusters else ""
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=BLUE, linewidth=_OWN.width, label=f"{level}interval of each pair{said}")
    ]
    # With more keys the correction may have run within some of them, which the result does not say.
    family = "all pairs together" if len(rows.keys) <= 2 else "all pairs corrected together"
    if together:
        label = f"{level}interval for {family}"
        handles.append(Line2D([], [], color=BLUE, linewidth=_TOGETHER.width, label=label))
    which = f" ({family})" if together else ""
    said_full, said_empty = f"zero left out{which}", f"zero within{which}"
    if any(verdicts := _verdicts(rows)):
        mixed = (f"verdict, or {said_full}", f"inconclusive, or {said_empty}")
        said_full, said_empty = ("verdict", "inconclusive") if all(verdicts) else mixed
    for is_full, face, label in ((True, BLUE, said_full), (False, canvas.ax.get_facecolor(), said_empty)):
        if (claims == is_full).any():
            handles.append(Line2D([], [], **_POINT, markerfacecolor=face, label=label))
    if banded:
        handles.append(Patch(color=VERMILLION, alpha=_FAINT, label="margin"))
    return [*handles, *([canvas.open_end] if arrows else [])]
