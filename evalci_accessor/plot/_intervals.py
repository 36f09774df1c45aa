"""Intervals as lines: a bar at each limit, and an arrow where there is none."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pen:
    """How the lines of one kind of interval look: they differ in more than their colour."""

    color: str
    width: float
    style: Any = "-"
    cap: float = 7.0
    gid: str = ""


def in_unit(*values: np.ndarray, low: float = 0.0) -> bool:
    """Whether all numbers lie between ``low`` and 1, as rates and their differences do."""
    every = np.concatenate(values)
    every = every[~np.isnan(every)]
    return bool(every.size and (every >= low).all() and (every <= 1).all())


def open_ends(point: np.ndarray, low: np.ndarray, high: np.ndarray, bounds: tuple[float, float]) -> tuple[Any, Any]:
    """Where a limit is no more than the end of the scale, so that it says nothing; a point there is its own limit."""
    return (low <= bounds[0]) & (point > bounds[0]), (high >= bounds[1]) & (point < bounds[1])


def draw(
    ax: Axes, place: np.ndarray, point: np.ndarray, low: np.ndarray, high: np.ndarray, bounds: tuple[float, float], pen: Pen,
    *, zorder: float, upright: bool = False, transform: Any = None,
) -> bool:  # fmt: skip
    """Draw the intervals; whether any has an arrow. The limits of the Axes must be set, since they end what is infinite."""
    first, last = ax.get_ylim() if upright else ax.get_xlim()
    room = 0.02 * (last - first)  # for an arrow
    moved: dict[str, Any] = {} if transform is None else {"transform": transform}
    open_low, open_high = open_ends(point, low, high, bounds)
    start, stop = np.where(np.isneginf(low), first + room, low), np.where(np.isposinf(high), last - room, high)

    def at(across: np.ndarray, along: np.ndarray, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (across[some], along[some]) if upright else (along[some], across[some])

    lines = ax.vlines if upright else ax.hlines
    lines(
        place, start, stop, colors=pen.color, linewidth=pen.width, linestyle=pen.style, zorder=zorder, gid=pen.gid, **moved
    )
    bar, heads = ("_", "v^") if upright else ("|", "<>")
    for ends, is_open, arrow in ((start, open_low, heads[0]), (stop, open_high, heads[1])):
        known = np.isfinite(ends) & np.isfinite(point)
        bars, arrows = known & ~is_open & (ends != point), known & is_open
        shared: dict[str, Any] = {"color": pen.color, "linestyle": "none", "zorder": zorder, "clip_on": False, **moved}
        if pen.cap and bars.any():
            thick = max(pen.width, 1.0) * 0.7
            ax.plot(*at(place, ends, bars), marker=bar, markersize=pen.cap, markeredgewidth=thick, **shared)
        if arrows.any():
            ax.plot(*at(place, ends, arrows), marker=arrow, markersize=4 + 1.5 * pen.width, gid="open end", **shared)
    return bool((open_low | open_high).any())
