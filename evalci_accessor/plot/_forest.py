"""Rows with intervals: estimates, the naive interval under the honest one; and differences of pairs."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from evalci_accessor.options import Labels
from evalci_accessor.plot import _frame
from evalci_accessor.plot._canvas import BLUE, VERMILLION, Look, Pen, draw, line, patch
from evalci_accessor.plot._frame import DIFFERENCE, RATE, Note, Part, Result, Rows, Wanted

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_FOREST = Wanted("plot.forest", "cluster_ci or proportion_ci", RATE)
_DIFFERENCES = Wanted("plot.differences", "compare or diff_ci", DIFFERENCE)
_HONEST = Pen(color=BLUE, width=2.4, cap=8, gid="interval")
_NAIVE = Pen(color=VERMILLION, width=1.3, style=(0, (2.5, 1.5)), cap=5, gid="naive")
_OWN = Pen(color=BLUE, width=4.5, cap=0, gid="interval", floor=-1.0)
_TOGETHER = Pen(color=BLUE, width=1.2, cap=8, gid="simultaneous", zorder=2.5, floor=-1.0)
_FULL: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 6}
_POINT: dict[str, Any] = _FULL | {"markersize": 7, "markeredgewidth": 1.6, "linestyle": "none"}
_FAINT = 0.3
_APART = 0.17  # of an honest and a naive interval from the middle of their row


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
    rows = _frame.read(result, _FOREST, label, group, sort_by, ascending)
    parts = [rows] if naive is None else [rows, _frame.beside(rows, naive, _FOREST)]
    limits = [[part.numbers(name) for name in RATE] for part in parts]
    rates = _frame.in_unit(*itertools.chain(*limits)) if percent is None else percent
    canvas = look.open(rows)
    ax = canvas.ax
    ax.set_xlim(*canvas.widen([*itertools.chain(*limits)]))
    levels = [part.levels for part in parts]
    level = levels[0] if len(set(levels)) == 1 else ""  # one for all is said above the lines
    kinds = ((_HONEST, _FULL, "estimate"), (_NAIVE, _diamond(ax), "naive estimate"))
    handles, arrows, y = [], False, rows.at if naive is None else rows.at - _APART
    for part, three, own, (pen, mark, gid) in zip(parts, limits, levels, kinds, strict=False):
        arrows |= draw(canvas, y, three, rates, pen)
        ax.plot(three[0], y, **mark, linestyle="none", zorder=4, gid=gid)
        said = f"{'' if level else own}{_said(part)}"
        handles.append(line(said, linewidth=pen.width, linestyle=pen.style, **mark))
        y = rows.at + _APART
    handles += [canvas.open_end] if arrows else []
    columns = [Note("%" if rates else "estimate", rows.intervals(RATE, percent=rates))]
    columns += rows.counted(("n", "scores"), ("n_items", "items"), ("n_clusters", "clusters"))
    unit, legend = " %" if rates else None, f"{level}intervals"
    return canvas.write_rows(
        rows, columns if notes else [], handles, unit=unit, below="estimate", legend=legend
    )


def _diamond(ax: Axes) -> dict[str, Any]:
    """The naive estimate's mark, open where the honest one's is full."""
    face = {"markerfacecolor": ax.get_facecolor(), "markeredgewidth": 1.2}
    return {"color": VERMILLION, "marker": "D", "markersize": 4, **face}


def _said(part: Part) -> str:
    """What an interval takes into account, and by which method."""
    clusters = part.clusterings
    kinds = [f"clustered by {_frame.few(clusters)}"] if any(clusters) else []
    if not all(clusters):
        kinds.append(f"{'scores' if 'n' in part.frame else 'items'} taken as independent")
    return ": ".join(filter(None, [" or ".join(kinds) or "interval", _frame.few(part.texts("method"))]))


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
    rows = _frame.read(result, _DIFFERENCES, label, group, sort_by, ascending)
    if label is None:  # the pair is named as a difference
        folded = _frame.folded(rows.frame, [key for key in rows.keys if key != group])
        rows = dataclasses.replace(rows, labels=_frame.names(*folded))
    point, low, high = (rows.numbers(name) for name in DIFFERENCE)
    wide = [rows.numbers(name) for name in ("simultaneous_low", "simultaneous_high")]
    margin = rows.numbers("margin")
    rates = _frame.in_unit(point, low, high, *wide, low=-1.0) if percent is None else percent
    canvas = look.open(rows)
    ax, y = canvas.ax, rows.at
    margins = _margins(rows, margin)
    ax.set_xlim(*canvas.widen([point, low, high, *wide, *margins], 0.0))
    banded = margin > 0
    band: dict[str, Any] = {"color": VERMILLION, "alpha": _FAINT}
    for row, first, last in zip(y[banded], *(side[banded] for side in margins), strict=True):
        ax.fill_betweenx([row - 0.5, row + 0.5], first, last, **band, linewidth=0, zorder=1, gid="margin")
    for side in margins:
        edge = banded & (side != 0)
        dotted: dict[str, Any] = {"colors": VERMILLION, "linewidth": 0.8, "linestyle": ":", "zorder": 1.2}
        ax.vlines(side[edge], y[edge] - 0.5, y[edge] + 0.5, **dotted)
    ax.vlines(0, 0.5, y[-1] + 0.5, colors=[canvas.ink], linewidth=1, zorder=1.5, gid="zero")
    level, clusters = rows.levels, _frame.few(rows.clusterings)
    said = f"{level}interval of each pair{f', clustered by {clusters}' if clusters else ''}"
    handles: list[Artist] = [line(said, color=BLUE, linewidth=_OWN.width)]
    arrows, which = draw(canvas, y, [point, low, high], rates, _OWN), ""
    # That of an only pair says no more for all pairs than its own.
    together = ~np.isnan(wide[0]) & ~((wide[0] == low) & (wide[1] == high))
    if together.any():
        arrows |= draw(canvas, y[together], [each[together] for each in (point, *wide)], rates, _TOGETHER)
        # With more keys the correction may have run within some of them, which the result does not say.
        family = "all pairs together" if len(rows.keys) <= 2 else "all pairs corrected together"
        handles.append(line(f"{level}interval for {family}", color=BLUE, linewidth=_TOGETHER.width))
        which = f" ({family})"
    claim, faces = _claims(rows, low, high, wide), (BLUE, ax.get_facecolor())
    for is_full, face, meaning in zip((True, False), faces, _meanings(rows, which), strict=True):
        at, looks = claim == is_full, _POINT | {"markerfacecolor": face}
        ax.plot(point[at], y[at], **looks, zorder=4, gid="difference")
        handles += [line(meaning, **looks)] if at.any() else []
    handles += [patch("margin", **band)] if banded.any() else []
    handles += [canvas.open_end] if arrows else []
    columns = _difference_notes(rows, percent=rates) if notes else []
    below = "difference, percentage points" if rates else "difference"
    return canvas.write_rows(rows, columns, handles, unit="" if rates else None, below=below)


def _claims(rows: Rows, low: np.ndarray, high: np.ndarray, wide: list[np.ndarray]) -> np.ndarray:
    """Rows of which something can be claimed: by their verdict, or else by their interval."""
    lower, upper = (np.where(np.isnan(each), own, each) for each, own in zip(wide, (low, high), strict=True))
    # There is no verdict for want of an interval, or because the row is of another method.
    verdicts = np.array(rows.known("verdict") or [""] * len(low))
    return np.where(verdicts == "", (lower > 0) | (upper < 0), verdicts != "inconclusive")


def _margins(rows: Rows, margin: np.ndarray) -> list[np.ndarray]:
    """Ends of the bands: to be no worse asks for less than to be alike, and nothing above zero."""
    below_only = np.array(rows.texts("claim") or [""] * len(margin)) == "noninferiority"
    return [-margin, np.where(below_only, 0.0, margin)]


def _meanings(rows: Rows, which: str) -> tuple[str, str]:
    """What full points say, and what open ones; ``which`` interval leaves out zero."""
    full, empty, verdicts = f"zero left out{which}", f"zero within{which}", rows.known("verdict")
    if not any(verdicts):
        return full, empty
    if all(verdicts):
        return "verdict", "inconclusive"
    return f"verdict, or {full}", f"inconclusive, or {empty}"


def _difference_notes(rows: Rows, *, percent: bool) -> list[Note]:
    said = rows.intervals(DIFFERENCE, percent=percent, signed=True)
    columns = [Note("points" if percent else "difference", said)]
    only = [rows.numbers(name) for name in ("only_a", "only_b")]
    if not np.isnan(only).all():
        sides = zip(*map(_frame.counts, only), strict=True)
        columns.append(Note("only 1st : 2nd", [" : ".join(pair) for pair in sides]))
    columns += rows.counted(("n_pairs", "items"), ("n_clusters", "clusters"))
    if "verdict" in rows.frame:
        columns.append(Note("verdict", rows.known("verdict")))
    if "pvalue_adj" in rows.frame:
        how = rows.only("correction")
        columns.append(
            Note(f"p ({how})" if how else "p, adjusted", _frame.pvalues(rows.numbers("pvalue_adj")))
        )
    return columns
