"""Differences of pairs: a row a pair, its own interval thick, that which holds for all pairs together thin."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor.options import Labels
from evalci_accessor.plot import _words
from evalci_accessor.plot._canvas import (
    BLUE,
    VERMILLION,
    Look,
    Note,
    check_look,
    open_canvas,
    open_end,
    places,
    refuse_shared,
    row_ticks,
    set_below,
    set_legend,
    set_percent,
    set_rows,
    set_title,
    space_ticks,
    widen,
)
from evalci_accessor.plot._frame import DIFFERENCE, Result, Rows, clusterings, folded, names, read, words
from evalci_accessor.plot._intervals import Pen, draw, in_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

_OWN = Pen(color=BLUE, width=4.5, cap=0, gid="interval")
_TOGETHER = Pen(color=BLUE, width=1.2, cap=8, gid="simultaneous")
_POINT: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 7, "markeredgewidth": 1.6, "color": BLUE}
_FAINT = 0.3
SOURCE = "compare or diff_ci"


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
        What `compare` or `diff_ci` gave. ``difference``, ``ci_low`` and ``ci_high`` are needed; simultaneous limits, the margin
        with its verdict, counts and p-values are shown if they are there.
    label, group
        As in `forest`. By default a row is called after its two systems, first minus second.
    sort_by : label, optional
        The column by which rows are sorted, within their group; by default they stay as they are, most evidence first in `compare`.
    ascending : bool, default False
        Whether the least stands at the top.
    notes : bool, default True
        Whether numbers stand in the right margin: the difference, how many items only the first and only the second passed,
        items and clusters, and the p-value or the verdict.
    percent : bool, optional
        Whether the scores are rates, whose differences are written in percentage points; by default if all numbers lie in [-1, 1].
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
    Nothing is computed. The thick line is each pair's own interval, the thin one that which holds for all pairs together. A full
    point says that a claim can be made: there is a verdict, as `diff_ci` gives it, or else the simultaneous interval leaves out
    zero (the pair's own, if there is no other). The margin is a band around zero, and below it for noninferiority, as far as the
    first system may be worse. A verdict is of a test on one side, so the line of a full point, which has two, may reach past it.

    Examples
    --------
    >>> from evalci_accessor import datasets, plot
    >>> df = datasets.load_rag_eval()
    >>> ax = plot.differences(df.evalci.compare("model", item="item", cluster="doc_id", rng=1))
    >>> ax.get_xlabel(), len(ax.get_yticklabels())
    ('difference, percentage points', 3)
    """
    look = Look(ax=ax, figsize=figsize, title=title)
    check_look(look)
    rows = read(
        result, DIFFERENCE, "plot.differences", SOURCE, label=label, group=group, sort_by=sort_by, ascending=ascending
    )
    labels = rows.labels if label is not None else _pairs(rows, group)
    point, low, high = (rows.numbers(name) for name in DIFFERENCE)
    wide = [rows.numbers(name) for name in ("simultaneous_low", "simultaneous_high")]
    margin = rows.numbers("margin")
    rates = in_unit(point, low, high, *wide, low=-1.0) if percent is None else percent
    bounds = (-1.0, 1.0) if rates else (-np.inf, np.inf)
    refuse_shared(look, "y", row_ticks(labels, rows.headings))
    canvas = open_canvas(look)
    ax = canvas.ax
    margins = _margins(rows, margin)
    ax.set_xlim(*widen(ax, [point, low, high, *wide, *margins], held=(0.0,)))
    y, _ = places(rows.headings)
    banded = margin > 0
    for row, first, last in zip(y[banded], *(side[banded] for side in margins), strict=True):
        ax.fill_betweenx(
            [row - 0.5, row + 0.5], first, last, color=VERMILLION, alpha=_FAINT, linewidth=0, zorder=1, gid="margin"
        )
    for side in margins:
        edge = banded & (side != 0)
        ax.vlines(side[edge], y[edge] - 0.5, y[edge] + 0.5, colors=VERMILLION, linewidth=0.8, linestyle=":", zorder=1.2)
    ax.vlines(0, 0.5, y[-1] + 0.5, colors=[canvas.ink], linewidth=1, zorder=1.5, gid="zero")
    together = _together(low, high, wide)
    arrows = draw(ax, y, point, low, high, bounds, _OWN, zorder=3)
    if together.any():
        some_y, some_point, lower, upper = (each[together] for each in (y, point, *wide))
        arrows |= draw(ax, some_y, some_point, lower, upper, bounds, _TOGETHER, zorder=2.5)
    claim = _claims(rows, low, high, wide)
    for is_full, face in ((True, BLUE), (False, ax.get_facecolor())):
        at = claim == is_full
        ax.plot(point[at], y[at], **_POINT, markerfacecolor=face, zorder=4, gid="difference")
    handles = _handles(rows, ax, claims=claim, together=bool(together.any()), banded=bool(banded.any()), arrows=arrows)
    set_rows(canvas, labels, rows.headings, _notes(rows, percent=rates) if notes else [], legend=len(handles))
    set_legend(canvas, handles)
    set_title(canvas, title)
    if rates:
        set_percent(ax.xaxis, "")
    space_ticks(canvas)
    set_below(canvas, "difference, percentage points" if rates else "difference")
    return ax


def _pairs(rows: Rows, group: Hashable) -> list[str]:
    """Labels with the pair as a difference."""
    return names(*folded(rows.frame, [key for key in rows.keys if key != group]))


def _verdicts(rows: Rows) -> list[str]:
    """Empty where there is none: for want of an interval, or because the row is of another method."""
    return ["" if pd.isna(value) else words(value) for value in rows.frame["verdict"]] if "verdict" in rows.frame else []


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
    """Rows with an interval for all pairs that says more than their own, as it does not where the pair is the only one."""
    return np.asarray(~np.isnan(wide[0]) & ~((wide[0] == low) & (wide[1] == high)))


def _notes(rows: Rows, *, percent: bool) -> list[Note]:
    limits = zip(*(rows.numbers(name).tolist() for name in DIFFERENCE), strict=True)
    heading = "points" if percent else "difference"
    columns = [Note(heading=heading, texts=[_words.interval(*three, percent=percent, signed=True) for three in limits])]
    only = [rows.numbers(name) for name in ("only_a", "only_b")]
    if not np.isnan(only).all():
        sides = zip(*map(_words.counts, only), strict=True)
        columns.append(Note(heading="only 1st : 2nd", texts=[" : ".join(pair) for pair in sides]))
    for name, shown in (("n_pairs", "items"), ("n_clusters", "clusters")):
        clustered = name != "n_clusters" or any(clusterings(rows.frame) or ["yes"])
        if name in rows.frame and clustered:
            columns.append(Note(heading=shown, texts=_words.counts(rows.numbers(name))))
    if "verdict" in rows.frame:
        columns.append(Note(heading="verdict", texts=_verdicts(rows)))
    if "pvalue_adj" in rows.frame:
        how = rows.only("correction")
        columns.append(
            Note(heading=f"p ({how})" if how else "p, adjusted", texts=_words.pvalues(rows.numbers("pvalue_adj")))
        )
    return columns


def _handles(
    rows: Rows, ax: Axes, *, claims: np.ndarray, together: bool, banded: bool, arrows: bool
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
        said_full, said_empty = ("verdict", "inconclusive") if all(verdicts) else (
            f"verdict, or {said_full}", f"inconclusive, or {said_empty}"
        )  # fmt: skip
    for is_full, face, label in ((True, BLUE, said_full), (False, ax.get_facecolor(), said_empty)):
        if (claims == is_full).any():
            handles.append(Line2D([], [], **_POINT, markerfacecolor=face, label=label))
    if banded:
        handles.append(Patch(color=VERMILLION, alpha=_FAINT, label="margin"))
    return [*handles, *([open_end(ax)] if arrows else [])]
