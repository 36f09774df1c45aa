"""What k samples of an item would score, over k; and the lines that pictures of plans have too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import MethodError, examples
from evalci_accessor.options import Labels
from evalci_accessor.plot import _frame
from evalci_accessor.plot._canvas import LOOKS, Canvas, Look, Pen, draw, letter, line, patch
from evalci_accessor.plot._frame import APART, RATE, Part, Result, Wanted, called, words

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

_WANTED = Wanted("plot.pass_at_k", "pass_at_k, pass_hat_k or best_of_k", RATE)
_TOGETHER = ("simultaneous_low", "simultaneous_high")
_BAR = 3.2  # points, of the interval of each k
_SIDE = 7.0  # points between lines at one k
_SAID = {"pass_at_k": "pass@k (any passes)", "pass_hat_k": "pass^k (all pass)", "best_of_k": "best of k"}
BAND = 0.16  # opacity of one band


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Curve(Part):
    """The rows of one line in the order of x, its name, and how the line and its marks are drawn."""

    name: str
    looks: dict[str, Any]

    def draw(self, ax: Axes, x: str, y: str, **moved: Any) -> None:
        """The line with its marks."""
        ax.plot(self.numbers(x), self.numbers(y), **self.looks, zorder=3, gid="estimate", **moved)

    def band(self, ax: Axes, x: str, limits: Sequence[np.ndarray], n_lines: int, **moved: Any) -> None:
        """Fill between the limits, with an edge in the line's own dash, to tell overlapping bands apart."""
        at, alpha = self.numbers(x), BAND * min(1.0, 2 / n_lines)
        look: dict[str, Any] = {"color": self.looks["color"], **moved}
        low, high = limits
        ax.fill_between(at, low, high, alpha=alpha, linewidth=0, zorder=1.5, gid="band", **look)
        look |= {"linestyle": self.looks["linestyle"], "linewidth": 0.7, "alpha": 0.8, "zorder": 1.6}
        for edge in limits:
            ax.plot(at, edge, **look, gid="edge")


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
    frame, keys = _frame.tidy(result, _WANTED)
    _frame.refuse_lacking(list(frame.columns), _WANTED._replace(needed=(*RATE, "k")))
    keys = _frame.chosen_keys(frame, [key for key in keys if key not in ("k", "measure")], label)
    whole = Part(frame)
    every = [whole.numbers(name) for name in (*RATE, *_TOGETHER) if name in frame]
    rates = _frame.in_unit(*every) if percent is None else percent
    by = [*keys, *whole.distinct([name for name in APART if name not in ("k", *keys)])]
    lines = split(
        frame,
        by,
        "k",
        lambda firsts: called(firsts.drop(columns="k"), keys) if by else [""],
        "plot.pass_at_k",
    )
    canvas = look.open()
    ax, curves = canvas.ax, dress(lines, canvas)
    ks = np.unique(whole.numbers("k"))
    handles, legend = _handles(canvas, curves, whole.levels)
    frame_curves(canvas, len(handles) + 2)
    ax.set_xlim(*canvas.widen([ks]))
    # Lines at one k stand side by side: less far where the next k is near.
    left, right = ax.get_xlim()
    apart = np.diff(ks).min(initial=right - left) / (right - left) * canvas.width
    side = float(min(_SIDE, 0.8 * apart / len(curves)))
    room = (right - left) / canvas.width * side * (len(curves) - 1) / 2
    ax.set_xlim(left - room, right + room)
    low, high = canvas.widen(every, upright=True)
    ax.set_ylim((max(low, -0.02), min(high, 1.02)) if rates else (low, high))
    arrows = False
    for i, curve in enumerate(curves):
        arrows |= _draw(canvas, curve, (i - (len(curves) - 1) / 2) * side, rates, len(curves))
    set_counts(canvas, ks)
    canvas.set_units("y", percent=rates)
    ax.set_ylabel(_SAID.get(whole.only("measure"), "estimate"), parse_math=False)
    handles += [canvas.open_end] if arrows else []
    return canvas.write(handles, below="k, samples of an item", legend=legend)


def _together(curve: Curve) -> list[np.ndarray]:
    """The limits that hold for all k; nothing where there is one k, for which they are its own."""
    limits = [curve.numbers(name) for name in _TOGETHER]
    return limits if len(curve.frame) > 1 and not np.isnan(limits).all() else []


def _draw(canvas: Canvas, curve: Curve, shift: float, rates: bool, n_lines: int) -> bool:
    """One line with its bars and its band, some points to the side; whether a bar has an arrow."""
    from matplotlib.transforms import ScaledTranslation

    ax = canvas.ax
    moved = ax.transData + ScaledTranslation(shift / 72, 0, canvas.figure.dpi_scale_trans)
    together = _together(curve)
    if together:
        floor, ceiling = ax.get_ylim()  # what has no limit ends with the picture
        limits = [np.where(np.isinf(each), np.clip(each, floor, ceiling), each) for each in together]
        curve.band(ax, "k", limits, n_lines, transform=moved)
    looks: dict[str, Any] = {"color": curve.looks["color"], "width": _BAR, "cap": 0, "gid": "interval"}
    pen = Pen(**looks, zorder=2.5, upright=True, transform=moved)
    arrows = draw(canvas, curve.numbers("k"), [curve.numbers(name) for name in RATE], rates, pen)
    curve.draw(ax, "k", "estimate", transform=moved)
    return arrows


def _handles(canvas: Canvas, curves: list[Curve], level: str) -> tuple[list[Artist], str | None]:
    """What the legend says of each line, bar and band; and of all, as its title."""
    counts = [_counts(curve) for curve in curves]
    shared = counts[0] if len(set(counts)) == 1 else ""
    names = [
        ": ".join(filter(None, [curve.name, "" if shared else told]))
        for curve, told in zip(curves, counts, strict=True)
    ]
    handles: list[Artist] = []
    if len(curves) > 1:
        handles += [line(name, **curve.looks) for name, curve in zip(names, curves, strict=True)]
    handles.append(line(f"{level}interval of each k", color=common_color(canvas, curves), linewidth=_BAR))
    if any(_together(curve) for curve in curves):
        alone = " of a line" if len(curves) > 1 else ""
        handles.append(band_handle(canvas, curves, f"{level}band for all k{alone} together"))
    title = ": ".join(filter(None, [curves[0].name if len(curves) == 1 else "", shared]))
    return handles, title or None


def _counts(curve: Curve) -> str:
    """Items and clusters of a line, as a range where they differ between its k."""
    said, clusters = [], curve.clusterings
    items, groups = curve.numbers("n_items"), curve.numbers("n_clusters")
    if not np.isnan(items).all():
        said.append(f"{_frame.span(items)} items")
    if not np.isnan(groups).all() and (any(clusters) or "cluster" not in curve.frame):
        said.append(f"{_frame.span(groups)} clusters{f' of {_frame.few(clusters)}' if any(clusters) else ''}")
    return " in ".join(said)


def common_color(canvas: Canvas, curves: list[Curve]) -> Any:
    """In what the legend shows that which all lines have."""
    return canvas.ink if len(curves) > 1 else curves[0].looks["color"]


def band_handle(canvas: Canvas, curves: list[Curve], label: str) -> Patch:
    """What the legend says of the bands of all lines."""
    color = common_color(canvas, curves)
    return patch(label, facecolor=(color, BAND), edgecolor=color, linewidth=0.7)


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
            f"{examples(map(repr, names))}. Pick some of its rows; or draw several pictures, each of a part of "
            "the result on an Axes of its own (ax=), as a groupby of the result gives them."
        )
    lines = []
    for rows, name in zip(at.values(), names, strict=True):
        part = frame.iloc[rows].reset_index(drop=True)
        place = Part(part).numbers(x)
        who = f" ({name})" if name else ""
        if not np.isfinite(place).all():
            raise MethodError(
                f"{asked} was given rows without a number {x!r}{who}; each needs one, since it is drawn there."
            )
        values, counts = np.unique(place, return_counts=True)
        if (counts > 1).any():
            raise MethodError(
                f"{asked} was given {counts.max()} rows with {x} = {values[np.argmax(counts)]:g}{who}, which "
                "nothing tells apart. Pass one of them, or put a column that names them before the result's "
                "own."
            )
        lines.append((name, part.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)))
    return lines


def dress(lines: Sequence[tuple[str, pd.DataFrame]], canvas: Canvas) -> list[Curve]:
    """Give each line its looks."""
    shared = {"linewidth": 1.8, "markersize": 6.5, "markeredgecolor": canvas.ax.get_facecolor()}
    return [
        Curve(part, name, {"color": color or canvas.ink, "marker": marker, "linestyle": style, **shared})
        for (name, part), (color, marker, style) in zip(lines, LOOKS, strict=False)
    ]


def set_counts(canvas: Canvas, values: np.ndarray) -> None:
    """Ticks at the numbers that are there, as far as there is room; the x limits must be set."""
    ax = canvas.ax
    texts = _frame.counts(values)
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
        canvas.figure.set_size_inches(46 * em, (27 + 1.5 * lines) * em)
