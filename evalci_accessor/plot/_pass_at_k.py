"""What k samples of an item would score, over k: a bar for each k by itself, a band for all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalci_accessor.options import Labels
from evalci_accessor.plot import _words
from evalci_accessor.plot._canvas import (
    Canvas,
    Look,
    check_look,
    open_canvas,
    open_end,
    set_below,
    set_legend,
    set_percent,
    set_plain,
    set_title,
    widen,
)
from evalci_accessor.plot._curves import (
    BAND,
    Curve,
    distinct,
    dress,
    frame_curves,
    opacity,
    points_wide,
    set_counts,
    span,
    split,
)
from evalci_accessor.plot._frame import (
    APART,
    RATE,
    Result,
    called,
    chosen_keys,
    clusterings,
    numbers,
    refuse_lacking,
    tidy,
    words,
)
from evalci_accessor.plot._intervals import Pen, draw, in_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

SOURCE = "pass_at_k, pass_hat_k or best_of_k"
NEEDED = (*RATE, "k")
_TOGETHER = ("simultaneous_low", "simultaneous_high")
_BAR = 3.2  # points, of the interval of each k
_SIDE = 7.0  # points between lines at one k
_SAID = {
    "pass_at_k": "pass@k (any passes)",
    "pass_hat_k": "pass^k (all pass)",
    "best_of_k": "best of k",
}


def pass_at_k(
    result: Result,
    *,
    label: Labels | None = None,
    percent: bool | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """What k samples of an item would score, over k, a line a system.

    Parameters
    ----------
    result : DataFrame or Dataset
        What `pass_at_k`, `pass_hat_k` or `best_of_k` gave, as it is or concatenated. ``k``, ``estimate``, ``ci_low`` and
        ``ci_high`` are needed; simultaneous limits and the numbers of items and clusters are shown if they are there.
    label : label or list of labels, optional
        The columns that name the lines; by default those before the result's own, and the index levels or dims.
    percent : bool, optional
        Whether the estimates are rates, written in per cent; by default if all numbers lie in [0, 1].
    title, figsize, ax
        As in `forest`.

    Returns
    -------
    Axes
        What was drawn on: k along x, scores along y.

    Raises
    ------
    MethodError
        More than six lines, which could not be told apart: draw parts of the result, or several pictures.
    EvalCIError
        As in `forest`, each a class of its own.

    Notes
    -----
    Nothing is computed. A bar is the interval of one k by itself, and the band holds for all k of a line together; one k has no
    band. Lines stand a little beside each other at the same k, and differ in mark and dash as in colour.

    Examples
    --------
    >>> from evalci_accessor import datasets, plot
    >>> df = datasets.load_code_eval()
    >>> ax = plot.pass_at_k(df.evalci.pass_at_k([1, 2, 5], item="item", cluster="repo_id", by="model", rng=1))
    >>> ax.get_xlabel(), ax.get_legend().get_title().get_text()
    ('k, samples of an item', '80 items in 20 clusters of repo_id')
    """
    look = Look(ax=ax, figsize=figsize, title=title)
    check_look(look)
    frame, keys = tidy(result, RATE, "plot.pass_at_k", SOURCE)
    refuse_lacking(list(frame.columns), NEEDED, "plot.pass_at_k", SOURCE)
    keys = chosen_keys(frame, [key for key in keys if key not in ("k", "measure")], label)
    every = [numbers(frame, name) for name in (*RATE, *_TOGETHER) if name in frame]
    rates = in_unit(*every) if percent is None else percent
    apart = distinct(frame, [name for name in APART if name not in ("k", *keys)])
    by = [*keys, *apart]
    lines = split(frame, by, "k", lambda firsts: called(firsts.drop(columns="k"), keys) if by else [""], "plot.pass_at_k")
    canvas = open_canvas(look)
    ax, curves = canvas.ax, dress(lines, canvas)
    ks = np.unique(numbers(frame, "k"))
    handles, title_of_legend = _handles(canvas, curves)
    frame_curves(canvas, len(handles) + 2)
    ax.set_xlim(*widen(ax, [ks]))
    side = _beside(canvas, ks, len(curves))
    left, right = ax.get_xlim()
    room = (right - left) / points_wide(ax) * side * (len(curves) - 1) / 2
    ax.set_xlim(left - room, right + room)
    low, high = widen(ax, every, upright=True)
    ax.set_ylim((max(low, -0.02), min(high, 1.02)) if rates else (low, high))
    bounds = (0.0, 1.0) if rates else (-np.inf, np.inf)
    arrows = False
    for i, curve in enumerate(curves):
        arrows |= _draw(canvas, curve, (i - (len(curves) - 1) / 2) * side, bounds, opacity(len(curves)))
    set_counts(canvas, ks)
    if rates:
        set_percent(ax.yaxis, " %")
    else:
        set_plain(ax.yaxis)
    measures = [words(value) for value in frame["measure"].unique()] if "measure" in frame else []
    ax.set_ylabel(_SAID.get(measures[0], "estimate") if len(measures) == 1 else "estimate", parse_math=False)
    set_below(canvas, "k, samples of an item")
    set_legend(canvas, [*handles, *([open_end(ax)] if arrows else [])], title_of_legend)
    set_title(canvas, title)
    return ax


def _beside(canvas: Canvas, ks: np.ndarray, n_lines: int) -> float:
    """Points between lines at one k: less where the next k is near."""
    low, high = canvas.ax.get_xlim()
    apart = np.diff(ks).min(initial=high - low) / (high - low) * points_wide(canvas.ax)
    return float(min(_SIDE, 0.8 * apart / n_lines))


def _together(curve: Curve) -> list[np.ndarray]:
    """The limits that hold for all k; nothing where there is one k, for which they are its own."""
    limits = [curve.numbers(name) for name in _TOGETHER]
    return limits if len(curve.frame) > 1 and not np.isnan(limits).all() else []


def _draw(canvas: Canvas, curve: Curve, shift: float, bounds: tuple[float, float], alpha: float) -> bool:
    """One line with its bars and its band, some points to the side; whether a bar has an arrow."""
    from matplotlib.transforms import ScaledTranslation

    ax = canvas.ax
    moved = ax.transData + ScaledTranslation(shift / 72, 0, ax.get_figure().dpi_scale_trans)  # type: ignore[union-attr]
    k = curve.numbers("k")
    point, low, high = (curve.numbers(name) for name in RATE)
    together = _together(curve)
    if together:
        floor, ceiling = ax.get_ylim()  # what has no limit ends with the picture
        lower, upper = (np.where(np.isinf(each), np.clip(each, floor, ceiling), each) for each in together)
        curve.band(ax, k, lower, upper, alpha=alpha, transform=moved)
    pen = Pen(color=curve.color, width=_BAR, cap=0, gid="interval")
    arrows = draw(ax, k, point, low, high, bounds, pen, zorder=2.5, upright=True, transform=moved)
    ax.plot(k, point, **curve.line, markeredgecolor=ax.get_facecolor(), zorder=3, gid="estimate", transform=moved)
    return arrows


def _handles(canvas: Canvas, curves: list[Curve]) -> tuple[list[Line2D | Patch], str | None]:
    """What the legend says of each line, bar and band; and of all, as its title."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    counts = [_counts(curve) for curve in curves]
    shared, face = len(set(counts)) == 1, canvas.ax.get_facecolor()
    handles: list[Line2D | Patch] = []
    for curve, told in zip(curves, counts, strict=True):
        said = [curve.name, *([] if shared else [told])]
        if len(curves) > 1:
            handles.append(Line2D([], [], **curve.line, markeredgecolor=face, label=": ".join(filter(None, said))))
    color = canvas.ink if len(curves) > 1 else curves[0].color
    level = _words.levels([words(value) for curve in curves for value in curve.frame.get("confidence_level", [])])
    handles.append(Line2D([], [], color=color, linewidth=_BAR, label=f"{level}interval of each k"))
    if any(_together(curve) for curve in curves):
        alone = " of a line" if len(curves) > 1 else ""
        label = f"{level}band for all k{alone} together"
        handles.append(Patch(facecolor=(color, BAND), edgecolor=color, linewidth=0.7, label=label))
    title = ": ".join(filter(None, [curves[0].name if len(curves) == 1 else "", counts[0]])) if shared else ""
    return handles, title or None


def _counts(curve: Curve) -> str:
    """Items and clusters of a line, as a range where they differ between its k."""
    said = []
    for name, shown in (("n_items", "items"), ("n_clusters", "clusters")):
        values = curve.numbers(name)
        clusters = clusterings(curve.frame)
        if np.isnan(values).all() or (name == "n_clusters" and "cluster" in curve.frame and not any(clusters)):
            continue
        of = f" of {_words.few(clusters)}" if name == "n_clusters" and any(clusters) else ""
        said.append(f"{span(values, values)} {shown}{of}")
    return " in ".join(said)
