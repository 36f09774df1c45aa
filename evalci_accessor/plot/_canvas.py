"""The Axes that a picture is drawn on: where it comes from, its ink, its rows and the notes in its margin."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evalci_accessor.exceptions import MethodError, MissingExtraError
from evalci_accessor.plot._frame import Note, Rows, Ticks

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

# After Okabe and Ito, a little lighter or darker: at least 3 : 1 against white and against dark notebooks.
BLUE, VERMILLION, GREEN, PURPLE, OCHRE = "#1b7fc0", "#d55e00", "#009e73", "#c45a9b", "#b98300"
# Colour, mark and dash of each line; None is the ink of the Axes. No two share a mark or a dash.
LOOKS: tuple[tuple[str | None, str, Any], ...] = (
    (BLUE, "o", "-"),
    (VERMILLION, "s", (0, (5, 1.5))),
    (None, "^", (0, (1.2, 1.2))),
    (GREEN, "D", (0, (6, 1.5, 1.2, 1.5))),
    (PURPLE, "v", (0, (9, 2.5))),
    (OCHRE, ">", (0, (5, 1.5, 1.2, 1.5, 1.2, 1.5))),
)
_GAP = 10.0  # points between the columns of the margin
_PLOT_WIDTH, _PLOT_LETTERS = 3.6, 26  # inches or letters, whichever is more, left to the intervals themselves
_TICKS = 9  # along x, at most
_MARKS = ("estimate", "difference", "coverage", "rates")  # one of these lines is in each picture
LEGEND = 68  # letters of a line of the legend, where there is room
_FEWEST = 12  # letters of a line of the legend in a narrow Axes
_GAINED = 1.15  # what a layout gives an Axes and its labels, at least, of the width that the Axes has before
_EDGE = 0.3  # inches of a figure that a layout may leave empty
_PAD = 0.04  # inches between a legend and the Axes
_SMALLEST = 4.0  # points: the smallest letters to which crowded rows shrink


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Pen:
    """How the lines of one kind of interval look: they differ in more than their colour."""

    color: str
    width: float
    style: Any = "-"
    cap: float = 7.0
    gid: str = ""
    zorder: float = 3
    upright: bool = False
    floor: float = 0.0
    transform: Any = None


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Look:
    """What all pictures share: where they are drawn, how large, and under which title."""

    ax: Any = None
    figsize: tuple[float, float] | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn on, before anything is drawn."""
        try:
            from matplotlib.axes import Axes
        except ImportError as error:
            raise MissingExtraError(
                "Plots need matplotlib, which is not installed. Install it with: pip install "
                "'evalci-accessor[plot]'"
            ) from error
        if self.ax is None:
            return
        if not isinstance(self.ax, Axes):
            raise MethodError(
                f"ax= must be a matplotlib Axes; got {type(self.ax).__name__}. Of an array of them, as "
                "plt.subplots gives, pass one."
            )
        if self.ax.name != "rectilinear":
            raise MethodError(
                f"ax= is an Axes of projection {self.ax.name!r}, on which x and y mean something else; pass "
                "a plain one."
            )
        if _is_drawn(self.ax):
            raise MethodError(
                "ax= holds a picture of results already, whose rows and colours would be taken for those of "
                "this one. Give each an Axes of its own; or concatenate the results, to see them in one "
                "picture."
            )
        if self.figsize is not None:
            raise MethodError(
                "figsize= is the size of a new figure, and ax= is part of one that exists; leave one of them "
                "out."
            )

    def refuse_shared(self, ticks: Ticks | None = None) -> None:
        """Refuse an Axes that shares its ticks, on y those of rows, with a picture of others: names would be lost."""
        if self.ax is None:
            return
        along, others, instead = "x", "clusters", ""
        if ticks is not None:
            along, others = "y", "rows"
            instead = "; or give both the same rows in the same order, as with sort_by=None"
        for one in getattr(self.ax, f"get_shared_{along}_axes")().get_siblings(self.ax):
            axis = getattr(one, f"{along}axis")
            at = axis.get_majorticklocs()
            if _is_drawn(one) and (at.tolist(), axis.get_major_formatter().format_ticks(at)) != ticks:
                raise MethodError(
                    f"ax= shares its {along} axis with a picture of other {others}, which would be called "
                    f"after those of this one. Leave out share{along}=True{instead}."
                )

    def open(self, rows: Rows | None = None) -> Canvas:
        """The caller's Axes, or that of a new figure, as pandas and xarray have it."""
        if rows is not None:
            self.refuse_shared(rows.ticks)
        if self.ax is not None:
            return Canvas(ax=self.ax, sizable=False, title=self.title)
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=self.figsize, layout="constrained")
        return Canvas(ax=ax, sizable=self.figsize is None, title=self.title)


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Canvas:
    """An Axes, whether its figure is ours to size, and the title that it gets at last."""

    ax: Axes
    sizable: bool
    title: str | None

    @property
    def figure(self) -> Any:
        """The figure that it stands in."""
        return self.ax.get_figure()

    @property
    def ink(self) -> Any:
        """The colour in which this Axes writes, whatever style is in force by now."""
        return self.ax.xaxis.label.get_color()

    def write_rows(
        self,
        rows: Rows,
        notes: Sequence[Note],
        handles: Sequence[Artist],
        *,
        unit: str | None,
        below: str,
        legend: str | None = None,
    ) -> Axes:
        """The last steps of a picture of rows; its numbers are hundredths of a unit, or none is given."""
        self._set_rows(rows, notes, legend=len(handles) + (legend is not None))
        if unit is not None:
            self.set_units("x", percent=True, unit=unit)
        self._space_ticks()
        return self.write(handles, below=below, legend=legend)

    def _set_rows(self, rows: Rows, notes: Sequence[Note], *, legend: int) -> None:
        """Name the rows, write the margin, and give the figure the size that they need."""
        ax, at, labels = self.ax, rows.at, rows.labels
        last = at[-1]
        ax.set_yticks(*rows.ticks, parse_math=False)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(last + 0.6, 0.4 if not notes else -0.5)
        ax.spines[["top", "right", "left"]].set_visible(False)
        for row in at[::2]:  # stripes lead the eye from the label to the margin
            ax.axhspan(row - 0.5, row + 0.5, color=self.ink, alpha=0.05, linewidth=0, zorder=0)
        names = [tick.label1 for tick in ax.yaxis.get_major_ticks()]
        for name in names[len(labels) :]:
            name.set_fontweight("bold")
        columns = [self._column(note, at) for note in notes]
        lines = max(text.count("\n") + 1 for text in labels)
        if self.sizable:
            size = letter(ax.yaxis)
            pitch = size * max(1.9, 1.25 * lines + 0.5) / 72
            height = pitch * (last + 1.1) + 0.75 + legend * 1.45 * size / 72
            width = (
                _inches(names)
                + sum(_inches(column) + _GAP / 72 for column in columns)
                + max(_PLOT_WIDTH, _PLOT_LETTERS * size / 72)
                + 0.4
            )
            self.figure.set_size_inches(width, height)
        else:  # smaller letters where the caller's Axes has less room for a row than they are high
            room = ax.get_window_extent().height / self.figure.dpi * 72 / (last + 1.1)
            for text in itertools.chain(names, *columns):
                text.set_fontsize(min(text.get_fontsize(), max(room / (1.25 * lines), _SMALLEST)))
        offset = 0.0
        for column in columns:
            width = _inches(column) * 72
            for text in column:
                text.set_position((offset + _GAP + width, 0))
            offset += _GAP + width

    def _column(self, note: Note, at: np.ndarray) -> list[Text]:
        """The texts of a column of the margin, not yet side by side."""
        shared: dict[str, Any] = {
            "xycoords": ("axes fraction", "data"),
            "textcoords": "offset points",
            "ha": "right",
            "va": "center_baseline",
            "color": self.ink,
            "annotation_clip": False,
            "parse_math": False,
            "gid": "note",
            "fontsize": letter(self.ax.yaxis),
        }
        entries = [(0.0, note.heading), *zip(at, note.texts, strict=True)]
        return [self.ax.annotate(text, (1, y), xytext=(0, 0), **shared) for y, text in entries]

    def widen(self, values: Sequence[np.ndarray], *held: float, upright: bool = False) -> tuple[float, float]:
        """Limits that show all finite values, with a little room, and what is on the shared scale already."""
        every = np.concatenate([held, *map(np.ravel, values)])
        every = every[np.isfinite(every)]
        low, high = (every.min(), every.max()) if every.size else (0.0, 1.0)
        room = 0.05 * (high - low) or 0.05 * max(abs(high), 1.0)
        return self.shared_limits(low - room, high + room, upright=upright)

    def shared_limits(self, low: float, high: float, *, upright: bool) -> tuple[float, float]:
        """Limits that leave in sight what the Axes, or those that share its scale, show already."""
        shared = self.ax.get_shared_y_axes() if upright else self.ax.get_shared_x_axes()
        if any(one.has_data() for one in shared.get_siblings(self.ax)):
            before = sorted(self.ax.get_ylim() if upright else self.ax.get_xlim())
            low, high = min(low, before[0]), max(high, before[1])
        return float(low), float(high)

    def _space_ticks(self) -> None:
        """Fewer ticks along x where their numbers are long; the limits and the format must be set."""
        from matplotlib.ticker import MaxNLocator

        ax = self.ax
        low, high = ax.get_xlim()
        em = letter(ax.xaxis)
        wide = self.width
        if self.sizable:
            wide = max(_PLOT_WIDTH * 72, _PLOT_LETTERS * em)
        for most in range(_TICKS, 1, -1):
            locator = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])
            at = [value for value in locator.tick_values(low, high) if low <= value <= high]
            letters = max(map(len, ax.xaxis.get_major_formatter().format_ticks(at)), default=0)
            if len(at) < 2 or 0.62 * em * (letters + 1.5) <= wide * (at[1] - at[0]) / (high - low):
                break
        if most < _TICKS:
            ax.xaxis.set_major_locator(locator)

    def set_units(self, along: Literal["x", "y"], *, percent: bool, unit: str = " %") -> None:
        """Write the numbers of an axis in hundredths, or in full: an offset would lie under the legend."""
        # A partial pickles, as a function in a function does not.
        axis = self.ax.xaxis if along == "x" else self.ax.yaxis
        axis.set_major_formatter(
            functools.partial(_hundredths, unit) if percent else functools.partial(_full, axis)
        )

    def write(self, handles: Sequence[Artist], *, below: str, legend: str | None = None) -> Axes:
        """What lies along x, the legend and the title, as written: the last step of each picture."""
        left, room = self._room()
        _fill(self.ax.set_xlabel(below, parse_math=False), below, room - left)
        # Above the Axes no interval can lie under the legend.
        box = self.ax.legend(
            handles=list(handles),
            title=legend,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            borderaxespad=0.2,
            frameon=False,
            alignment="left",
            labelcolor=self.ink,
        )
        self._fit(box, room)
        if left:
            from matplotlib.transforms import ScaledTranslation

            shift = ScaledTranslation(-left, 0, self.figure.dpi_scale_trans)
            box.set_bbox_to_anchor((0, 1), transform=self.ax.transAxes + shift)
        if self.title is not None:
            pad = box.get_window_extent().height / self.figure.dpi * 72 + 8
            _fill(self.ax.set_title(self.title, pad=pad, parse_math=False), self.title, self._title_room())
        return self.ax

    def _fit(self, legend: Legend, room: float) -> None:
        """Break the texts of a legend into lines for which there is room."""
        legend.get_title().set_color(self.ink)
        texts = [legend.get_title(), *legend.get_texts()]
        written = [text.get_text() for text in texts]
        for text in texts:
            text.set_parse_math(False)
        letters = LEGEND
        while True:
            for text, words in zip(texts, written, strict=True):
                text.set_text(textwrap.fill(words, letters))
            wide = _inches([legend]) + _PAD
            if wide <= room or letters == _FEWEST:
                break
            letters = max(min(int(letters * room / wide), letters - 1), _FEWEST)
        if wide > room:  # so narrow that words would be torn
            share = 1 - (wide - room) / _inches(texts)  # the marks beside them keep their size
            for text in texts:
                text.set_fontsize(max(float(text.get_fontsize()) * share, _SMALLEST))

    def _title_room(self) -> float:
        """Inches that a title may be wide, which stands in the middle of the Axes and not of the figure."""
        room = self._room()[1]
        if not self.sizable:
            return room
        ax, figure = self.ax, self.figure
        frame = ax.get_window_extent()
        margin = max((note.get_window_extent().x1 - frame.x1 for note in ax.texts), default=0.0) / figure.dpi
        wide = figure.get_size_inches()[0]
        centre = (wide - room - _EDGE + wide - margin) / 2
        return float(2 * min(centre, wide - centre)) - _PAD

    def _room(self) -> tuple[float, float]:
        """Inches left of the Axes that are its own too, and how wide a text above or below may be with these.

        A layout makes room for labels within the place of an Axes, so there the legend may stand above them.
        """
        ax, figure = self.ax, self.figure
        dpi = figure.dpi
        frame, labels = ax.get_window_extent(), ax.yaxis.get_tightbbox()
        beside = 0.0 if labels is None else max(frame.x0 - labels.x0, 0.0) / dpi
        if self.sizable:
            return 0.0, figure.get_size_inches()[0] - beside - _EDGE
        if figure.get_layout_engine() is None:
            return 0.0, frame.width / dpi
        return beside, _GAINED * frame.width / dpi

    @property
    def width(self) -> float:
        """Width of the Axes on paper in points, as far as it is known yet."""
        return float(self.ax.get_window_extent().width / self.figure.dpi * 72)

    @property
    def open_end(self) -> Line2D:
        """What the legend says of an arrow, in the direction of the first that was drawn."""
        marker = next((drawn.get_marker() for drawn in self.ax.lines if drawn.get_gid() == "open end"), ">")
        return line("no limit here", color=self.ink, marker=marker, markersize=6, linestyle="none")


def line(label: str, **looks: Any) -> Line2D:
    """What the legend says of a line or a mark."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **looks)


def patch(label: str, **looks: Any) -> Patch:
    """What the legend says of an area."""
    from matplotlib.patches import Patch

    return Patch(label=label, **looks)


def letter(axis: Axis) -> float:
    """Height in points of the letters at the ticks, also where Axes that share them hide them."""
    return float(axis.get_major_ticks(1)[0].label1.get_fontsize())


def _is_drawn(ax: Axes) -> bool:
    """Whether an Axes holds one of these pictures."""
    return any(line.get_gid() in _MARKS for line in ax.lines)


def _inches(texts: Sequence[Any]) -> float:
    """Width of the widest."""
    return max((text.get_window_extent().width / text.get_figure().dpi for text in texts), default=0.0)


def _fill(text: Text, words: str, room: float) -> None:
    """Break a text into lines where it is wider than there is room."""
    letters = len(words)
    while (wide := _inches([text])) > room and letters > _FEWEST:
        letters = max(min(int(letters * room / wide), letters - 1), _FEWEST)
        text.set_text(textwrap.fill(words, letters))


def _hundredths(unit: str, value: float, _: Any) -> str:
    return f"{round(100 * value, 6):g}{unit}".replace("-", "\N{MINUS SIGN}")


def _full(axis: Axis, value: float, _: Any) -> str:
    low, high = axis.get_view_interval()
    text = f"{0.0 if abs(value) < 1e-9 * abs(high - low) else value:.10g}"
    return text.replace("-", "\N{MINUS SIGN}")


def draw(canvas: Canvas, place: np.ndarray, limits: Sequence[np.ndarray], rates: bool, pen: Pen) -> bool:
    """Draw intervals, given as points with lower and upper limits; whether any has an arrow.

    The limits of the Axes must be set, since they end what is infinite. Those of ``rates`` are open at 0 and
    1 too.
    """
    ax, (point, low, high) = canvas.ax, limits
    floor, ceiling = (pen.floor, 1.0) if rates else (-np.inf, np.inf)
    first, last = ax.get_ylim() if pen.upright else ax.get_xlim()
    room = 0.02 * (last - first)  # for an arrow
    # A limit that is no more than the end of the scale says nothing; a point there is its own limit.
    open_low, open_high = (low <= floor) & (point > floor), (high >= ceiling) & (point < ceiling)
    start = np.where(np.isneginf(low), first + room, low)
    stop = np.where(np.isposinf(high), last - room, high)

    def at(across: np.ndarray, along: np.ndarray, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (across[some], along[some]) if pen.upright else (along[some], across[some])

    lines = ax.vlines if pen.upright else ax.hlines
    shared: dict[str, Any] = {"zorder": pen.zorder, "transform": pen.transform or ax.transData}
    lines(place, start, stop, pen.color, pen.style, linewidth=pen.width, gid=pen.gid, **shared)
    shared |= {"color": pen.color, "linestyle": "none", "clip_on": False}
    bar, heads = ("_", "v^") if pen.upright else ("|", "<>")
    for ends, is_open, arrow in ((start, open_low, heads[0]), (stop, open_high, heads[1])):
        known = np.isfinite(ends) & np.isfinite(point)
        bars, arrows = known & ~is_open & (ends != point), known & is_open
        if pen.cap and bars.any():
            thick = max(pen.width, 1.0) * 0.7
            ax.plot(*at(place, ends, bars), marker=bar, markersize=pen.cap, markeredgewidth=thick, **shared)
        if arrows.any():
            size = 4 + 1.5 * pen.width
            ax.plot(*at(place, ends, arrows), marker=arrow, markersize=size, gid="open end", **shared)
    return bool((open_low | open_high).any())
