"""Forest plot: a row an estimate, its honest interval, and the naive one under it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import MethodError, plain
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
from evalci_accessor.plot._frame import RATE, Result, Rows, clusterings, numbers, read, tidy, words
from evalci_accessor.plot._intervals import Pen, draw, in_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_HONEST = Pen(color=BLUE, width=2.4, cap=8, gid="interval")
_NAIVE = Pen(color=VERMILLION, width=1.3, style=(0, (2.5, 1.5)), cap=5, gid="naive")
SOURCE = "cluster_ci or proportion_ci"


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
        What `cluster_ci` or `proportion_ci` gave, as it is or concatenated. ``estimate``, ``ci_low`` and ``ci_high`` are needed;
        ``n`` or ``n_items``, ``n_clusters``, ``cluster``, ``method`` and ``confidence_level`` are shown if they are there.
    naive : DataFrame or Dataset, optional
        Another result with the same keys, as of `proportion_ci`, whose intervals are drawn beneath for comparison.
    label : label or list of labels, optional
        The columns that name the rows; by default those before the result's own, and the index levels or dims.
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
        Where to draw; by default on a new figure. Letters shrink where rows have little room. The margin lies outside of the Axes,
        so give its figure ``layout="constrained"``, or leave the notes out.

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
        A result without rows, naive ones with other keys, or an ``ax`` that is none, comes with ``figsize``, is polar or in 3-d,
        holds such a picture already, or shares its rows with one of others.
    MissingExtraError
        Matplotlib is not installed.

    Notes
    -----
    Nothing is computed: the lines end at the result's own numbers. A limit that is the end of the scale (0 or 1 of a rate, or
    infinite), as one-sided intervals have, is an arrow.

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
    check_look(look)
    rows = read(result, RATE, "plot.forest", SOURCE, label=label, group=group, sort_by=sort_by, ascending=ascending)
    point, low, high = (rows.numbers(name) for name in RATE)
    beside = None if naive is None else _beside(rows, result, naive)
    other = np.full((3, len(point)), np.nan) if beside is None else np.stack([numbers(beside, name) for name in RATE])
    rates = in_unit(point, low, high, *other) if percent is None else percent
    bounds = (0.0, 1.0) if rates else (-np.inf, np.inf)
    refuse_shared(look, "y", row_ticks(rows.labels, rows.headings))
    canvas = open_canvas(look)
    ax = canvas.ax
    ax.set_xlim(*widen(ax, [point, low, high, *other]))
    y, _ = places(rows.headings)
    shift = 0.0 if naive is None else 0.17
    arrows = draw(ax, y - shift, point, low, high, bounds, _HONEST, zorder=3)
    ax.plot(point, y - shift, "o", color=BLUE, markersize=6, zorder=4, gid="estimate")
    if naive is not None:
        arrows |= draw(ax, y + shift, other[0], other[1], other[2], bounds, _NAIVE, zorder=3)
        ax.plot(other[0], y + shift, **_diamond(ax), linestyle="none", zorder=4, gid="naive estimate")
    frames = [rows.frame, *([] if beside is None else [beside])]
    handles = _handles(frames, arrows, ax)
    set_rows(canvas, rows.labels, rows.headings, _notes(rows, percent=rates) if notes else [], legend=len(handles) + 1)
    levels = {_level(frame) for frame in frames}
    set_legend(canvas, handles, f"{levels.pop() if len(levels) == 1 else ''}intervals")
    set_title(canvas, title)
    if rates:
        set_percent(ax.xaxis, " %")
    space_ticks(canvas)
    set_below(canvas, "estimate")
    return ax


def _beside(rows: Rows, result: Result, naive: Result) -> pd.DataFrame:
    """The rows of the naive result that are drawn, in the order of those above them."""
    own = tidy(result, RATE, "plot.forest", SOURCE)[1]
    frame, keys = tidy(naive, RATE, "plot.forest", SOURCE)
    if set(own) != set(keys):
        raise MethodError(
            f"naive= must be a result with the same keys. Those drawn have {own or 'none'}, and the naive ones {keys or 'none'}."
        )
    spell = words if len({*_key(frame, own, words)}) == len(frame) else _exact  # 1 and "1" print alike
    at: dict[tuple[str, ...], int] = {}
    for i, key in enumerate(_key(frame, own, spell)):
        if key in at:
            raise MethodError(f"naive= has two rows for {', '.join(map(repr, key)) or 'all'}; it must have one row a key.")
        at[key] = i
    wanted = _key(rows.frame, own, spell)
    lacking = [key for key in wanted if key not in at]
    if lacking:
        first = ", ".join(map(repr, lacking[0])) or "all"
        raise MethodError(
            f"naive= has no row for {len(lacking)} of {len(wanted)} keys, such as {first}; it must be of the same scores."
        )
    return frame.iloc[[at[key] for key in wanted]]


def _exact(value: Any) -> str:
    return repr(plain(value))


def _key(frame: pd.DataFrame, keys: list[Hashable], spell: Callable[[Any], str]) -> list[tuple[str, ...]]:
    columns = [[spell(value) for value in frame[key]] for key in keys]
    return list(zip(*columns, strict=True)) if columns else [()] * len(frame)


def _notes(rows: Rows, *, percent: bool) -> list[Note]:
    limits = zip(*(rows.numbers(name).tolist() for name in RATE), strict=True)
    heading = "%" if percent else "estimate"
    columns = [Note(heading=heading, texts=[_words.interval(*three, percent=percent) for three in limits])]
    for name, shown in (("n", "scores"), ("n_items", "items"), ("n_clusters", "clusters")):
        clustered = name != "n_clusters" or any(clusterings(rows.frame) or ["yes"])
        if name in rows.frame and clustered:
            columns.append(Note(heading=shown, texts=_words.counts(rows.numbers(name))))
    return columns


def _handles(frames: list[pd.DataFrame], arrows: bool, ax: Axes) -> list[Line2D]:
    """What the legend says of each kind of line: of the result, and of the naive one if there is one."""
    from matplotlib.lines import Line2D

    looks: list[dict[str, Any]] = [
        {"color": BLUE, "linewidth": _HONEST.width, "marker": "o", "markersize": 6},
        {"linewidth": _NAIVE.width, "linestyle": _NAIVE.style, **_diamond(ax)},
    ]
    levels = [_level(frame) for frame in frames]
    each = levels if len(set(levels)) > 1 else [""] * len(levels)  # one level for all is the legend's title
    kinds = [
        Line2D([], [], **look, label=f"{level}{_said(frame)}")
        for look, frame, level in zip(looks, frames, each, strict=False)
    ]
    return [*kinds, *([open_end(ax)] if arrows else [])]


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
    clusters, methods = clusterings(frame), [words(value) for value in frame["method"]] if "method" in frame else []
    kinds = [f"clustered by {_words.few(clusters)}"] if any(clusters) else []
    if not all(clusters):
        kinds.append(f"{'scores' if 'n' in frame else 'items'} taken as independent")
    return ": ".join(filter(None, [" or ".join(kinds) or "interval", _words.few(methods)]))


def _level(frame: pd.DataFrame) -> str:
    """The confidence levels of a result, before a word; nothing if it has none."""
    return _words.levels([words(value) for value in frame.get("confidence_level", [])])
