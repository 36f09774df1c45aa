"""How often intervals held the truth in a simulation: a row a method, beside the level."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor.options import Labels
from evalci_accessor.plot import _frame
from evalci_accessor.plot._canvas import BLUE, VERMILLION, Look, line
from evalci_accessor.plot._frame import Note, Part, Result, Rows, Wanted, named, read, tidy
from evalci_accessor.stats import CoverageResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDED = ("coverage", "coverage_low", "coverage_high", "confidence_level")
_WANTED = Wanted("plot.coverage", "stats.simulate.coverage", NEEDED)
_SIZES = ("n", "n_clusters", "size_min", "size_median", "size_max")
_DESIGN = ("rate", "icc", "shape", *_SIZES, "alternative", "confidence_level")
_DESIGN_KEY = "\0design"  # no column of a result is called so
_FARTHEST = 4.0  # how far below the level the axis goes at most, in units of what the level leaves out
_BEYOND: dict[str, Any] = {"color": VERMILLION, "marker": "<", "markersize": 7, "linestyle": "none"}
_MISSED: dict[str, Any] = {"color": VERMILLION, "marker": "D", "markersize": 5.5, "markeredgewidth": 1.6}
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
    frame, keys = tidy(_as_frame(result), _WANTED)
    design = Part(frame).distinct([name for name in _DESIGN if name not in keys])
    own = [key for key in keys if key != "method"]
    if "method" in frame and (Part(frame).distinct(["method"]) or not design):
        own.append("method")
    if group is None and label is None and design:
        said = zip(*([named(name, value) for value in frame[name]] for name in design), strict=True)
        frame = frame.assign(**{_DESIGN_KEY: [", ".join(row) for row in said]})
        group, label = (_DESIGN_KEY, own) if "method" in own else (None, [*own, _DESIGN_KEY])
    rows = read(frame, _WANTED, own if label is None else label, group, sort_by, ascending)
    point, low, high, level = (rows.numbers(name) for name in NEEDED)
    canvas = look.open(rows)
    ax, y = canvas.ax, rows.at
    left, right = canvas.widen([point, low, high, level])
    ax.set_xlim(max(left, float(np.nanmin(level - _FARTHEST * (1 - level)))), min(right, 1.02))
    ax.hlines(y, low, high, colors=BLUE, linewidth=2.4, zorder=3, gid="interval")
    ax.vlines(level, y - 0.5, y + 0.5, colors=[canvas.ink], linewidth=1.2, zorder=1.5, gid="level")
    levels = {_frame.level(text).strip() for text in rows.texts("confidence_level")}
    one = f", {levels.pop()}" if len(levels) == 1 else ""
    handles = [line(f"level of the intervals{one}", color=canvas.ink, linewidth=1.2)]
    short, missed = high < level, _MISSED | {"markerfacecolor": ax.get_facecolor()}
    for some, looks, bar, meaning in (
        (~short, _REACHED, {"linewidth": 2.4}, "reaches the level, or may"),
        (short, missed, {"linestyle": "none"}, "falls short by more than chance"),
    ):
        ax.plot(point[some], y[some], **looks, linestyle="none", zorder=4, gid="coverage")
        handles += [line(meaning, **looks, **bar)] if some.any() else []
    first, last = ax.get_xlim()
    beyond = point < first
    if beyond.any():
        edge = np.full(beyond.sum(), first + 0.015 * (last - first))
        ax.plot(edge, y[beyond], **_BEYOND, clip_on=False, zorder=4, gid="beyond")
        handles.append(line("further left", **_BEYOND))
    columns, below = _notes(rows) if notes else [], "intervals that held the truth"
    return canvas.write_rows(rows, columns, handles, unit=" %", below=below, legend=_told(rows))


def _as_frame(result: Any) -> Any:
    """Results of simulations as one frame, a row a method; anything else as it is."""
    several = [result] if isinstance(result, CoverageResult) else result
    listed = isinstance(several, (list, tuple)) and several
    if listed and all(isinstance(one, CoverageResult) for one in several):
        return pd.DataFrame([row for one in several for row in one.rows()])
    return result


def _notes(rows: Rows) -> list[Note]:
    columns = [Note("%", rows.intervals(NEEDED[:3], percent=True))]
    width, *missed = (rows.numbers(name) for name in ("mean_width", "miss_low", "miss_high"))
    if not np.isnan(width).all():
        columns.append(Note("mean width", _percents(width)))
    if not np.isnan(missed).all():
        sides = zip(*map(_percents, missed), strict=True)
        columns.append(Note("truth below : above", [" : ".join(pair) for pair in sides]))
    return columns


def _percents(values: np.ndarray) -> list[str]:
    return [_frame.number(value, percent=True) for value in values.tolist()]


def _told(rows: Rows) -> str:
    """What all rows share: the simulations and the design."""
    parts, sims = [], rows.numbers("n_sims")
    if not np.isnan(sims).all():
        parts.append(f"{_frame.span(sims)} simulations{'' if rows.distinct(['n_sims']) else ' each'}")
    for name, shown in (("n", "items"), ("n_clusters", "clusters")):
        if name in rows.frame and not rows.distinct([name]):
            parts.append(f"{_frame.counts(rows.numbers(name)[:1])[0]} {shown}")
    for name, shown in (("icc", "ICC"), ("rate", "rate")):
        if name in rows.frame and not rows.distinct([name]):
            parts.append(f"{shown} {_frame.number(rows.numbers(name)[0], percent=False)}")
    return ", ".join(parts)
