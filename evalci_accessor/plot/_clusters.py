"""Clusters side by side: as high as their rate and as wide as their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import Labels
from evalci_accessor.plot import _frame
from evalci_accessor.plot._canvas import BLUE, LEGEND, VERMILLION, Canvas, Look, letter, line, patch
from evalci_accessor.plot._frame import RATE, Result, Rows, Wanted, words

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

DOMINANT = 0.25  # share from which DominantClusterWarning speaks
NEEDED = ("estimate", "n")
_WANTED = Wanted("plot.clusters", "proportion_ci(by=cluster)", NEEDED)
_OVERALL = Wanted("plot.clusters", "cluster_ci", RATE)
_LETTERS = 32  # of a name under a bar
_BORDERED = 4.0  # points: the narrowest clusters that have a line between them
_MEAN: dict[str, Any] = {"linewidth": 1.4, "linestyle": (0, (5, 2))}
_LARGEST: dict[str, Any] = {"facecolor": "none", "edgecolor": VERMILLION, "hatch": "////"}


def clusters(
    rates: Result,
    *,
    overall: Result | None = None,
    label: Labels | None = None,
    percent: bool | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Each cluster's rate and size, least rate first.

    Parameters
    ----------
    rates : DataFrame or Dataset
        A row a cluster, with ``estimate`` and ``n``, as ``proportion_ci(by=cluster)`` gives them. A column
        ``weight`` stands in for ``n`` if it is there.
    overall : DataFrame or Dataset, optional
        A result of one row, as of `cluster_ci`: its estimate and its interval are drawn across the clusters.
    label : label or list of labels, optional
        The column that names the clusters; by default those before the result's own.
    percent : bool, optional
        Whether the scores are rates, written in per cent; by default if all numbers lie in [0, 1].
    title, figsize, ax
        As in `forest`.

    Returns
    -------
    Axes
        What was drawn on: numbers of scores along x, their means along y.

    Raises
    ------
    EvalCIError
        As in `forest`, each a class of its own.

    Notes
    -----
    A cluster is as wide as it has scores, so the mean height of the steps is the overall mean. Clusters are
    named where the name fits, and in the legend the largest is, which is said to dominate if it holds over a
    quarter of them.

    Examples
    --------
    >>> from evalci_accessor import datasets, plot
    >>> atlas = datasets.load_rag_eval().query("model == 'atlas'")
    >>> ax = plot.clusters(atlas.evalci.proportion_ci(by="doc_id"), overall=atlas.evalci.cluster_ci("doc_id"))
    >>> ax.get_xlabel()
    '200 scores in 40 clusters of doc_id, 5 each'
    """
    look = Look(ax=ax, figsize=figsize, title=title)
    look.refuse_shared()
    rows = _frame.read(rates, _WANTED, label, sort_by="estimate")
    across = None if overall is None else _frame.read(overall, _OVERALL)
    if across is not None and len(across.frame) != 1:
        raise MethodError(
            f"overall= must have one row, that of all clusters together; it has {len(across.frame)}."
        )
    weighed = "weight" in rows.frame
    rate, size = rows.numbers("estimate"), rows.numbers("weight" if weighed else "n")
    if np.isnan(rate).any() or not (size > 0).all():
        raise MethodError(
            "plot.clusters needs an estimate and a size above 0 of every cluster; some are missing or 0."
        )
    limits = [across.numbers(name) for name in RATE] if across is not None else []
    is_rate = _frame.in_unit(rate, *limits) if percent is None else percent
    canvas = look.open()
    ax = canvas.ax
    known = np.array([*rate, *np.ravel(limits)])
    known = known[np.isfinite(known)]
    bottom, top = min(0.0, known.min()), 1.0 if is_rate else known.max()
    room = 0.03 * (top - bottom) or 1.0
    ax.set_ylim(*canvas.shared_limits(bottom - room, top + room, upright=True))
    edges = np.concatenate([[0.0], np.cumsum(size)])
    steps = np.append(rate, rate[-1])
    ax.fill_between(edges, steps, step="post", color=BLUE, alpha=0.28, linewidth=0, zorder=2)
    ax.plot(edges, steps, drawstyle="steps-post", color=BLUE, linewidth=1.6, zorder=3, gid="rates")
    handles: list[Artist] = [patch("each cluster", facecolor=(BLUE, 0.28), edgecolor=BLUE)]
    if across is not None:
        # What has no limit ends with the picture.
        low, high = np.clip([limits[1][0], limits[2][0]], *ax.get_ylim())
        ax.axhspan(low, high, color=canvas.ink, alpha=0.12, linewidth=0, zorder=1, gid="interval")
        ax.axhline(limits[0][0], color=canvas.ink, **_MEAN, zorder=4, gid="estimate")
        handles.append(line(_overall(across, percent=is_rate), color=canvas.ink, **_MEAN))
    names = (
        rows.texts(rows.keys[0]) if len(rows.keys) == 1 else [name.replace("\n", " ") for name in rows.labels]
    )
    if size.max() > size.min():
        what = "weight" if weighed else "scores"
        handles.append(_draw_largest(ax, size, edges, rate, names, what, percent=is_rate))
    ax.set_xlim(0, edges[-1])
    ax.spines[["top", "right"]].set_visible(False)
    labels = [name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…" for name in names]
    if canvas.sizable:
        em = float(ax.xaxis.label.get_fontsize()) / 72
        width = em * min(max(50, 1.7 * len(size) + 10), 80)
        lines = sum(1.5 + 1.2 * (len(str(handle.get_label())) // LEGEND) for handle in handles)
        canvas.figure.set_size_inches(width, em * (24 + lines + 0.7 * max(map(len, labels))))
    wide = 0.95 * canvas.width * size / size.sum()  # points, or a little less: the layout is not known yet
    _name(canvas, labels, edges, wide)
    if wide.min() > _BORDERED:
        between: dict[str, Any] = {"colors": BLUE, "linewidth": 0.5, "alpha": 0.6, "zorder": 2.5}
        ax.vlines(edges[1:-1], 0, np.minimum(rate[:-1], rate[1:]), **between)
    canvas.set_units("y", percent=is_rate)
    ax.set_ylabel("rate" if is_rate else "mean score")
    return canvas.write(handles, below=_told(rows, size))


def _overall(across: Rows, *, percent: bool) -> str:
    """What the legend says of all clusters together."""
    level, method = _frame.level(across.only("confidence_level")), across.only("method")
    interval = across.intervals(RATE, percent=percent)[0] + (" %" if percent else "")
    return f"all clusters: {interval} ({level}interval{f', {method}' if method else ''})"


def _draw_largest(
    ax: Axes,
    size: np.ndarray,
    edges: np.ndarray,
    rate: np.ndarray,
    names: list[str],
    what: str,
    *,
    percent: bool,
) -> Patch:
    """Mark the largest cluster; what the legend says of it."""
    largest = int(np.argmax(size))
    at, high = edges[largest : largest + 2], [rate[largest]] * 2
    ax.fill_between(at, high, **_LARGEST, linewidth=0, zorder=2.6, gid="largest")
    ax.plot(at, high, color=VERMILLION, linewidth=3.5, solid_capstyle="butt", zorder=5)
    share, alike = size[largest] / size.sum(), int((size == size[largest]).sum()) - 1
    told = (
        f"{'dominates' if share > DOMINANT else 'largest'}: {names[largest]} with {100 * share:.1f} % of "
        f"the {what}, {'rate' if percent else 'mean'} "
        f"{_frame.number(float(rate[largest]), percent=percent)}{' %' if percent else ''}"
    )
    return patch(told + (f", and {alike:,} more as large" if alike else ""), **_LARGEST)


def _name(canvas: Canvas, labels: list[str], edges: np.ndarray, width: np.ndarray) -> None:
    """Name the clusters that are wide enough for it; if none is, the axis counts scores."""
    ax = canvas.ax
    high = letter(ax.xaxis)
    long = np.array([0.75 * high * len(label) for label in labels])
    fits = np.flatnonzero(width > 1.3 * high)
    if len(fits):
        centres = (edges[:-1] + edges[1:]) / 2
        upright = 0 if (long < width)[fits].all() else 90
        ax.set_xticks(centres[fits], [labels[i] for i in fits], rotation=upright, parse_math=False)
        ax.tick_params(axis="x", length=0)


def _told(rows: Rows, size: np.ndarray) -> str:
    """What lies along the axis."""
    scores = _frame.counts(np.array([rows.numbers("n").sum()]))[0]
    of = f" of {words(rows.keys[0])}" if len(rows.keys) == 1 else ""
    wide = "each as wide as its scores"
    if "weight" in rows.frame:
        wide = "each as wide as its weight"
    elif size.max() == size.min():
        wide = f"{_frame.counts(size[:1])[0]} each"
    return f"{scores} scores in {len(size):,} clusters{of}, {wide}"
