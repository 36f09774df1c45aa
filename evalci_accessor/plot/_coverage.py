"""How often intervals held the truth in a simulation: a row a method, beside the level."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor.options import Labels
from evalci_accessor.plot import _words
from evalci_accessor.plot._canvas import BLUE, VERMILLION, Canvas, Look, Note, places, row_ticks
from evalci_accessor.plot._frame import Result, Rows, distinct, named, read, tidy
from evalci_accessor.stats import CoverageResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

NEEDED = ("coverage", "coverage_low", "coverage_high", "confidence_level")
SOURCE = "stats.simulate.coverage"
_DESIGN = (
    "rate",
    "icc",
    "shape",
    "n",
    "n_clusters",
    "size_min",
    "size_median",
    "size_max",
    "alternative",
    "confidence_level",
)
_DESIGN_KEY = "\0design"  # no column of a result is called so
_FARTHEST = 4.0  # how far below the level the axis goes at most, in units of what the level leaves out
_BEYOND: dict[str, Any] = {"color": VERMILLION, "marker": "<", "markersize": 7, "linestyle": "none"}
_REACHED: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 6.5}


def coverage(
    result: Result | CoverageResult | Sequence[CoverageResult],
    *,
    label: Labels | None = None,
    group: Hashable = None,
    sort_by: Hashable = None,
    ascending: bool = False,
    notes: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Coverage of methods in a simulation with what the number of simulations leaves open, a row each.

    Parameters
    ----------
    result : CoverageResult, several of them, DataFrame or Dataset
        What `stats.simulate.coverage` gave, or its ``rows()`` as a frame. ``coverage``, ``coverage_low``,
        ``coverage_high`` and ``confidence_level`` are needed; widths, misses and numbers of simulations are
        shown if they are there.
    label, group
        As in `forest`. By default a row is called after its method, under its design where there are several.
    sort_by : label, optional
        The column by which rows are sorted, within their group; by default they stay as they are.
    ascending : bool, default False
        Whether the least stands at the top.
    notes : bool, default True
        Whether numbers stand in the right margin: the coverage, the mean width, and in which share of the
        simulations the truth lay below and above the interval.
    title, figsize, ax
        As in `forest`.

    Returns
    -------
    Axes
        What was drawn on, as shares along x.

    Raises
    ------
    EvalCIError
        As in `forest`, each a class of its own.

    Notes
    -----
    Nothing is computed. The line of a row is the result's own interval of the coverage, Clopper and Pearson's
    at 95 %. A full point says that the level is not ruled out or is exceeded, an open one that this interval
    lies below it, as chance alone does to one method in forty at most. The axis ends where differences of a
    point or two near the level can be seen: what lies further left is an arrow at its end.

    Examples
    --------
    >>> from evalci_accessor import plot, stats
    >>> methods = ["auto", "naive_wilson"]
    >>> found = stats.simulate.coverage([5] * 12, icc=0.3, rate=0.9, methods=methods, n_sims=200, rng=1)
    >>> ax = plot.coverage(found)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['icc_averaged', 'naive_wilson']
    """
    look = Look(ax=ax, figsize=figsize, title=title)
    frame, keys = tidy(_as_frame(result), NEEDED, "plot.coverage", SOURCE)
    design = distinct(frame, [name for name in _DESIGN if name not in keys])
    own = [key for key in keys if key != "method"]
    named_by = ["method"] if "method" in frame and (distinct(frame, ["method"]) or not design) else []
    if group is None and label is None and design:
        frame = frame.assign(
            **{_DESIGN_KEY: [", ".join(row) for row in zip(*map(_said(frame), design), strict=True)]}
        )
        group, label = (_DESIGN_KEY, [*own, *named_by]) if named_by else (None, [*own, _DESIGN_KEY])
    label = [*own, *named_by] if label is None else label
    order: dict[str, Any] = {"sort_by": sort_by, "ascending": ascending}
    rows = read(frame, NEEDED, "plot.coverage", SOURCE, label=label, group=group, **order)
    point, low, high, level = (rows.numbers(name) for name in NEEDED)
    look.refuse_shared("y", row_ticks(rows.labels, rows.headings))
    canvas = look.open()
    ax = canvas.ax
    ax.set_xlim(*_limits(canvas, [point, low, high, level], level))
    y, _ = places(rows.headings)
    ax.hlines(y, low, high, colors=BLUE, linewidth=2.4, zorder=3, gid="interval")
    ax.vlines(level, y - 0.5, y + 0.5, colors=[canvas.ink], linewidth=1.2, zorder=1.5, gid="level")
    short = high < level
    for some, looks in ((~short, _REACHED), (short, _short(ax))):
        ax.plot(point[some], y[some], **looks, linestyle="none", zorder=4, gid="coverage")
    beyond = point < ax.get_xlim()[0]
    handles = _handles(rows, canvas, short=short, beyond=bool(beyond.any()))
    if beyond.any():
        first, last = ax.get_xlim()
        edge = np.full(beyond.sum(), first + 0.015 * (last - first))
        ax.plot(edge, y[beyond], **_BEYOND, clip_on=False, zorder=4, gid="beyond")
    canvas.set_rows(rows.labels, rows.headings, _notes(rows) if notes else [], legend=len(handles) + 1)
    canvas.set_units("x", percent=True)
    canvas.space_ticks()
    return canvas.write(handles, below="intervals that held the truth", legend=_told(rows))


def _short(ax: Axes) -> dict[str, Any]:
    face = ax.get_facecolor()
    return {
        "color": VERMILLION,
        "marker": "D",
        "markersize": 5.5,
        "markerfacecolor": face,
        "markeredgewidth": 1.6,
    }


def _as_frame(result: Any) -> Any:
    """Results of simulations as one frame, a row a method; anything else as it is."""
    several = [result] if isinstance(result, CoverageResult) else result
    if (
        isinstance(several, (list, tuple))
        and several
        and all(isinstance(one, CoverageResult) for one in several)
    ):
        return pd.DataFrame([row for one in several for row in one.rows()])
    return result


def _said(frame: pd.DataFrame) -> Any:
    return lambda name: [named(name, value) for value in frame[name]]


def _limits(canvas: Canvas, values: list[np.ndarray], level: np.ndarray) -> tuple[float, float]:
    low, high = canvas.widen(values)
    farthest = float(np.nanmin(level - _FARTHEST * (1 - level)))
    return max(low, farthest), min(high, 1.02)


def _notes(rows: Rows) -> list[Note]:
    limits = zip(*(rows.numbers(name).tolist() for name in NEEDED[:3]), strict=True)
    columns = [Note(heading="%", texts=[_words.interval(*three, percent=True) for three in limits])]
    width = rows.numbers("mean_width")
    if not np.isnan(width).all():
        columns.append(
            Note(heading="mean width", texts=[_words.number(value, percent=True) for value in width.tolist()])
        )
    missed = [rows.numbers(name) for name in ("miss_low", "miss_high")]
    if not np.isnan(missed).all():
        sides = zip(
            *([_words.number(value, percent=True) for value in each.tolist()] for each in missed), strict=True
        )
        columns.append(Note(heading="truth below : above", texts=[" : ".join(pair) for pair in sides]))
    return columns


def _handles(rows: Rows, canvas: Canvas, *, short: np.ndarray, beyond: bool) -> list[Line2D]:
    """What the legend says of the points and of the line that they should reach."""
    from matplotlib.lines import Line2D

    levels = {_words.level(text).strip() for text in rows.texts("confidence_level")}
    one = f", {levels.pop()}" if len(levels) == 1 else ""
    handles = [Line2D([], [], color=canvas.ink, linewidth=1.2, label=f"level of the intervals{one}")]
    if not short.all():
        handles.append(Line2D([], [], linewidth=2.4, **_REACHED, label="reaches the level, or may"))
    if short.any():
        handles.append(
            Line2D([], [], **_short(canvas.ax), linestyle="none", label="falls short by more than chance")
        )
    if beyond:
        handles.append(Line2D([], [], **_BEYOND, label="further left"))
    return handles


def _told(rows: Rows) -> str | None:
    """What all rows share: the simulations and the design."""
    parts = []
    sims = rows.numbers("n_sims")
    if not np.isnan(sims).all():
        parts.append(
            f"{_words.span(sims, sims)} simulations" + ("" if distinct(rows.frame, ["n_sims"]) else " each")
        )
    for name, shown in (("n", "items"), ("n_clusters", "clusters")):
        if name in rows.frame and not distinct(rows.frame, [name]):
            parts.append(f"{_words.counts(rows.numbers(name)[:1])[0]} {shown}")
    for name, shown in (("icc", "ICC"), ("rate", "rate")):
        if name in rows.frame and not distinct(rows.frame, [name]):
            parts.append(f"{shown} {_words.number(rows.numbers(name)[0], percent=False)}")
    return ", ".join(parts) or None
