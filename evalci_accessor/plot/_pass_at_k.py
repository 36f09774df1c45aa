"""What k samples of an item would score, over k; and the lines that pictures of plans have too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import MethodError, examples
from evalci_accessor.options import Labels
from evalci_accessor.plot import _frame, _words
from evalci_accessor.plot._canvas import (
    BLUE,
    GREEN,
    OCHRE,
    PURPLE,
    VERMILLION,
    Canvas,
    Look,
    Pen,
    draw,
    letter,
)
from evalci_accessor.plot._frame import APART, RATE, Result, called, distinct, numbers, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

SOURCE = "pass_at_k, pass_hat_k or best_of_k"
NEEDED = (*RATE, "k")
_TOGETHER = ("simultaneous_low", "simultaneous_high")
_BAR = 3.2  # points, of the interval of each k
_SIDE = 7.0  # points between lines at one k
_SAID = {"pass_at_k": "pass@k (any passes)", "pass_hat_k": "pass^k (all pass)", "best_of_k": "best of k"}
# Colour, mark and dash of each line; None is the ink of the Axes. No two share a mark or a dash.
LOOKS: tuple[tuple[str | None, str, Any], ...] = (
    (BLUE, "o", "-"),
    (VERMILLION, "s", (0, (5, 1.5))),
    (None, "^", (0, (1.2, 1.2))),
    (GREEN, "D", (0, (6, 1.5, 1.2, 1.5))),
    (PURPLE, "v", (0, (9, 2.5))),
    (OCHRE, ">", (0, (5, 1.5, 1.2, 1.5, 1.2, 1.5))),
)
BAND = 0.16  # opacity of one band


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """The rows of one line in the order of x, its name, and how it looks."""

    frame: pd.DataFrame
    name: str
    color: Any
    marker: str
    style: Any

    def numbers(self, column: str) -> np.ndarray:
        """A column as floats; nan throughout if the result lacks it."""
        return numbers(self.frame, column) if column in self.frame else np.full(len(self.frame), np.nan)

    @property
    def line(self) -> dict[str, Any]:
        """How its line and its marks are drawn, in the picture and in the legend."""
        return {
            "color": self.color,
            "linestyle": self.style,
            "linewidth": 1.8,
            "marker": self.marker,
            "markersize": 6.5,
        }

    def band(
        self, ax: Axes, x: np.ndarray, low: np.ndarray, high: np.ndarray, *, alpha: float, **more: Any
    ) -> None:
        """Fill between the limits, with an edge in the line's own dash, to tell overlapping bands apart."""
        ax.fill_between(
            x, low, high, color=self.color, alpha=alpha, linewidth=0, zorder=1.5, gid="band", **more
        )
        for edge in (low, high):
            ax.plot(
                x,
                edge,
                color=self.color,
                linestyle=self.style,
                linewidth=0.7,
                alpha=0.8,
                zorder=1.6,
                gid="edge",
                **more,
            )


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
        What `pass_at_k`, `pass_hat_k` or `best_of_k` gave, as it is or concatenated. ``k``, ``estimate``,
        ``ci_low`` and ``ci_high`` are needed; simultaneous limits and the numbers of items and clusters are
        shown if they are there.
    label : label or list of labels, optional
        The columns that name the lines; by default those before the result's own, and the index levels or
        dims.
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
    Nothing is computed. A bar is the interval of one k by itself, and the band holds for all k of a line
    together; one k has no band. Lines stand a little beside each other at the same k, and differ in mark and
    dash as in colour.

    Examples
    --------
    >>> from evalci_accessor import datasets, plot
    >>> df = datasets.load_code_eval()
    >>> ax = plot.pass_at_k(df.evalci.pass_at_k([1, 2, 5], item="item", cluster="repo_id", by="model", rng=1))
    >>> ax.get_xlabel(), ax.get_legend().get_title().get_text()
    ('k, samples of an item', '80 items in 20 clusters of repo_id')
    """
    look = Look(ax=ax, figsize=figsize, title=title)
    frame, keys = _frame.tidy(result, RATE, "plot.pass_at_k", SOURCE)
    _frame.refuse_lacking(list(frame.columns), NEEDED, "plot.pass_at_k", SOURCE)
    keys = _frame.chosen_keys(frame, [key for key in keys if key not in ("k", "measure")], label)
    every = [numbers(frame, name) for name in (*RATE, *_TOGETHER) if name in frame]
    rates = _words.in_unit(*every) if percent is None else percent
    apart = distinct(frame, [name for name in APART if name not in ("k", *keys)])
    by = [*keys, *apart]
    lines = split(
        frame,
        by,
        "k",
        lambda firsts: called(firsts.drop(columns="k"), keys) if by else [""],
        "plot.pass_at_k",
    )
    canvas = look.open()
    ax, curves = canvas.ax, dress(lines, canvas)
    ks = np.unique(numbers(frame, "k"))
    handles, title_of_legend = _handles(canvas, curves)
    frame_curves(canvas, len(handles) + 2)
    ax.set_xlim(*canvas.widen([ks]))
    side = _beside(canvas, ks, len(curves))
    left, right = ax.get_xlim()
    room = (right - left) / canvas.width * side * (len(curves) - 1) / 2
    ax.set_xlim(left - room, right + room)
    low, high = canvas.widen(every, upright=True)
    ax.set_ylim((max(low, -0.02), min(high, 1.02)) if rates else (low, high))
    arrows = False
    for i, curve in enumerate(curves):
        arrows |= _draw(canvas, curve, (i - (len(curves) - 1) / 2) * side, rates, opacity(len(curves)))
    set_counts(canvas, ks)
    canvas.set_units("y", percent=rates)
    measures = [words(value) for value in frame["measure"].unique()] if "measure" in frame else []
    ax.set_ylabel(_SAID.get(measures[0], "estimate") if len(measures) == 1 else "estimate", parse_math=False)
    handles += [canvas.open_end] if arrows else []
    return canvas.write(handles, below="k, samples of an item", legend=title_of_legend)


def _beside(canvas: Canvas, ks: np.ndarray, n_lines: int) -> float:
    """Points between lines at one k: less where the next k is near."""
    low, high = canvas.ax.get_xlim()
    apart = np.diff(ks).min(initial=high - low) / (high - low) * canvas.width
    return float(min(_SIDE, 0.8 * apart / n_lines))


def _together(curve: Curve) -> list[np.ndarray]:
    """The limits that hold for all k; nothing where there is one k, for which they are its own."""
    limits = [curve.numbers(name) for name in _TOGETHER]
    return limits if len(curve.frame) > 1 and not np.isnan(limits).all() else []


def _draw(canvas: Canvas, curve: Curve, shift: float, rates: bool, alpha: float) -> bool:
    """One line with its bars and its band, some points to the side; whether a bar has an arrow."""
    from matplotlib.transforms import ScaledTranslation

    ax = canvas.ax
    moved = ax.transData + ScaledTranslation(shift / 72, 0, canvas.figure.dpi_scale_trans)
    k = curve.numbers("k")
    point, low, high = (curve.numbers(name) for name in RATE)
    together = _together(curve)
    if together:
        floor, ceiling = ax.get_ylim()  # what has no limit ends with the picture
        lower, upper = (np.where(np.isinf(each), np.clip(each, floor, ceiling), each) for each in together)
        curve.band(ax, k, lower, upper, alpha=alpha, transform=moved)
    pen = Pen(color=curve.color, width=_BAR, cap=0, gid="interval", zorder=2.5, upright=True)
    arrows = draw(canvas, k, [point, low, high], rates, pen, moved)
    ax.plot(
        k, point, **curve.line, markeredgecolor=ax.get_facecolor(), zorder=3, gid="estimate", transform=moved
    )
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
            handles.append(
                Line2D([], [], **curve.line, markeredgecolor=face, label=": ".join(filter(None, said)))
            )
    color = canvas.ink if len(curves) > 1 else curves[0].color
    level = _words.levels(
        [words(value) for curve in curves for value in curve.frame.get("confidence_level", [])]
    )
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
        clusters = _frame.clusterings(curve.frame)
        if np.isnan(values).all() or (
            name == "n_clusters" and "cluster" in curve.frame and not any(clusters)
        ):
            continue
        of = f" of {_words.few(clusters)}" if name == "n_clusters" and any(clusters) else ""
        said.append(f"{_words.span(values, values)} {shown}{of}")
    return " in ".join(said)


def opacity(n_lines: int) -> float:
    """Opacity of each of several bands, which lie on each other."""
    return BAND * min(1.0, 2 / n_lines)


def split(
    frame: pd.DataFrame,
    by: Sequence[Hashable],
    x: str,
    called: Callable[[pd.DataFrame], list[str]],
    asked: str,
) -> list[tuple[str, pd.DataFrame]]:
    """The lines of a result as they came: the name that ``called`` gives to the first row, and the rows."""
    at: dict[tuple[str, ...], list[int]] = {}
    columns = [frame[name].map(words).tolist() for name in by]
    for i in range(len(frame)):
        at.setdefault(tuple(column[i] for column in columns), []).append(i)
    names = called(frame.iloc[[rows[0] for rows in at.values()]].reset_index(drop=True))
    if len(at) > len(LOOKS):
        raise MethodError(
            f"{asked} tells at most {len(LOOKS)} lines apart, and the result holds {len(at)}: "
            f"{examples(map(repr, names))}. Pick "
            "some of its rows; or draw several pictures, each of a part of the result on an Axes of its own "
            "(ax=), as a groupby "
            "of the result gives them."
        )
    lines = []
    for rows, name in zip(at.values(), names, strict=True):
        part = frame.iloc[rows].reset_index(drop=True)
        place = numbers(part, x)
        who = f" ({name})" if name else ""
        if not np.isfinite(place).all():
            raise MethodError(
                f"{asked} was given rows without a number {x!r}{who}; each needs one, since it is drawn "
                "there."
            )
        values, counts = np.unique(place, return_counts=True)
        if (counts > 1).any():
            raise MethodError(
                f"{asked} was given {counts.max()} rows with {x} = {values[np.argmax(counts)]:g}{who}, which "
                "nothing tells apart. "
                "Pass one of them, or put a column that names them before the result's own."
            )
        lines.append((name, part.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)))
    return lines


def dress(lines: Sequence[tuple[str, pd.DataFrame]], canvas: Canvas) -> list[Curve]:
    """Give each line its looks."""
    return [
        Curve(frame=part, name=name, color=canvas.ink if color is None else color, marker=marker, style=style)
        for (name, part), (color, marker, style) in zip(lines, LOOKS, strict=False)
    ]


def set_counts(canvas: Canvas, values: np.ndarray) -> None:
    """Ticks at the numbers that are there, as far as there is room; the x limits must be set."""
    ax = canvas.ax
    texts = _words.counts(values)
    low, high = ax.get_xlim()
    wide = 0.75 * letter(ax.xaxis)
    points = 0.9 * canvas.width * (values - low) / (high - low)
    kept = [0]
    for i in range(1, len(values)):
        if points[i] - points[kept[-1]] > wide * (len(texts[i]) + len(texts[kept[-1]]) + 2) / 2:
            kept.append(i)
    ax.set_xticks(values[kept], [texts[i] for i in kept])
    ax.minorticks_off()


def frame_curves(canvas: Canvas, lines: int) -> None:
    """Spines, and the size of a figure of ours with so many lines of legend."""
    ax = canvas.ax
    ax.spines[["top", "right"]].set_visible(False)
    if canvas.sizable:
        em = float(ax.xaxis.label.get_fontsize()) / 72
        canvas.set_size(46 * em, (27 + 1.5 * lines) * em)
