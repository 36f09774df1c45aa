"""Lines over numbers along x: which rows make one, how they are told apart, and their ticks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import MethodError, examples
from evalci_accessor.plot import _words
from evalci_accessor.plot._canvas import BLUE, GREEN, OCHRE, PURPLE, VERMILLION, Canvas, letter, set_size
from evalci_accessor.plot._frame import numbers, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        return {"color": self.color, "linestyle": self.style, "linewidth": 1.8, "marker": self.marker, "markersize": 6.5}

    def band(self, ax: Axes, x: np.ndarray, low: np.ndarray, high: np.ndarray, *, alpha: float, **more: Any) -> None:
        """Fill between the limits, with an edge in the line's own dash, so that bands that overlap can be told apart."""
        ax.fill_between(x, low, high, color=self.color, alpha=alpha, linewidth=0, zorder=1.5, gid="band", **more)
        for edge in (low, high):
            ax.plot(
                x, edge, color=self.color, linestyle=self.style, linewidth=0.7, alpha=0.8, zorder=1.6, gid="edge", **more
            )


def opacity(n_lines: int) -> float:
    """Opacity of each of several bands, which lie on each other."""
    return BAND * min(1.0, 2 / n_lines)


def distinct(frame: pd.DataFrame, columns: Sequence[Hashable]) -> list[Hashable]:
    """Those of the columns that hold more than one value."""
    return [name for name in columns if name in frame and frame[name].map(words).nunique() > 1]


def split(
    frame: pd.DataFrame, by: Sequence[Hashable], x: str, called: Callable[[pd.DataFrame], list[str]], asked: str
) -> list[tuple[str, pd.DataFrame]]:
    """The lines of a result, in the order in which they came: the names that ``called`` gives to their first rows, and rows."""
    at: dict[tuple[str, ...], list[int]] = {}
    columns = [frame[name].map(words).tolist() for name in by]
    for i in range(len(frame)):
        at.setdefault(tuple(column[i] for column in columns), []).append(i)
    names = called(frame.iloc[[rows[0] for rows in at.values()]].reset_index(drop=True))
    if len(at) > len(LOOKS):
        raise MethodError(
            f"{asked} tells at most {len(LOOKS)} lines apart, and the result holds {len(at)}: {examples(map(repr, names))}. Pick "
            "some of its rows; or draw several pictures, each of a part of the result on an Axes of its own (ax=), as a groupby "
            "of the result gives them."
        )
    lines = []
    for rows, name in zip(at.values(), names, strict=True):
        part = frame.iloc[rows].reset_index(drop=True)
        place = numbers(part, x)
        who = f" ({name})" if name else ""
        if not np.isfinite(place).all():
            raise MethodError(
                f"{asked} was given rows without a number {x!r}{who}; each needs one, since it is drawn there."
            )
        values, counts = np.unique(place, return_counts=True)
        if (counts > 1).any():
            raise MethodError(
                f"{asked} was given {counts.max()} rows with {x} = {values[np.argmax(counts)]:g}{who}, which nothing tells apart. "
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
    """Ticks at the numbers that are there, as far as their letters have room; the x limits must be set."""
    ax = canvas.ax
    texts = _words.counts(values)
    low, high = ax.get_xlim()
    wide = 0.75 * letter(ax.xaxis)
    points = 0.9 * points_wide(ax) * (values - low) / (high - low)
    kept = [0]
    for i in range(1, len(values)):
        if points[i] - points[kept[-1]] > wide * (len(texts[i]) + len(texts[kept[-1]]) + 2) / 2:
            kept.append(i)
    ax.set_xticks(values[kept], [texts[i] for i in kept])
    ax.minorticks_off()


def points_wide(ax: Axes) -> float:
    """Width of the Axes on paper, as far as it is known yet."""
    return float(ax.get_window_extent().width / ax.get_figure().dpi * 72)  # type: ignore[union-attr]


def span(low: np.ndarray, high: np.ndarray) -> str:
    """Counts as one number or as a range."""
    ends = _words.counts(np.array([np.nanmin(low), np.nanmax(high)]))
    return ends[0] if ends[0] == ends[1] else f"{ends[0]}\N{EN DASH}{ends[1]}"


def frame_curves(canvas: Canvas, lines: int) -> None:
    """Spines, and the size of a figure of ours with so many lines of legend."""
    ax = canvas.ax
    ax.spines[["top", "right"]].set_visible(False)
    if canvas.sizable:
        em = float(ax.xaxis.label.get_fontsize()) / 72
        set_size(canvas, 46 * em, (27 + 1.5 * lines) * em)
