"""What a design would reach: half-width, power or smallest difference, a line a design."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import Labels, PlanAxis
from evalci_accessor.plot import _frame, _words
from evalci_accessor.plot._canvas import Canvas, Look
from evalci_accessor.plot._frame import Result, called, clusterings, distinct, named, numbers, words
from evalci_accessor.plot._pass_at_k import BAND, Curve, dress, frame_curves, opacity, set_counts, split
from evalci_accessor.stats import PowerPlan, WidthPlan
from evalci_accessor.stats.validate import check_option

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

SOURCE = "half_width, power or mde"
KINDS = ("mde", "half_width", "power")  # a result of mde has a power too, as its goal
_DESIGN = ("n_clusters", "items_per_cluster", "n_samples")
_GOALS = ("difference", "margin", "claim", "power", "alternative", "confidence_level", "cluster")
_POWER = 0.8
_ALIKE = 0.01  # the limits of half-widths are simulated
_LIMIT: dict[str, Any] = {"linestyle": (0, (1, 3.5)), "linewidth": 1.6}
_GOAL: dict[str, Any] = {"linestyle": "-", "linewidth": 0.9}


def power(
    result: Result | WidthPlan | PowerPlan,
    *,
    x: PlanAxis | None = None,
    goal: float | Literal["auto"] | None = "auto",
    label: Labels | None = None,
    percent: bool | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """What planned evals would reach, a line a design.

    Parameters
    ----------
    result : DataFrame, Dataset, WidthPlan or PowerPlan
        What the accessors' `half_width`, `power` or `mde` gave, as it is or concatenated; or what
        `stats.half_width` and `stats.power` gave.
    x : {"n_clusters", "n_items", "items_per_cluster", "n_samples"}, optional
        What lies along the axis; by default the first of clusters, items in each and samples of each item of
        which the result has several. The others, and keys and goals of which there are several, make a line
        each.
    goal : float, "auto" or None
        Where a line is drawn across; ``"auto"`` is .8 for a power, and none otherwise.
    label : label or list of labels, optional
        The columns of keys that name the lines; by default those before the result's own, and the index
        levels or dims.
    percent : bool, optional
        Whether half-widths and differences are those of rates, written in percentage points; by default if
        all lie in [0, 1]. A power is in per cent.
    title, figsize, ax
        As in `forest`.

    Returns
    -------
    Axes
        What was drawn on.

    Raises
    ------
    MethodError
        More than six lines, which could not be told apart; an ``x`` that is none of these; a ``goal`` beyond
        the scale.
    EvalCIError
        As in `forest`, each a class of its own.

    Notes
    -----
    Nothing is computed but the mean size of the clusters of a `WidthPlan` or `PowerPlan`, items over
    clusters. The band ends at the result's ``_low`` and ``_high``: from a pilot what the limits of its ICC
    give; of `stats.half_width` half-widths that one sample in twenty stays below or exceeds. The dotted line
    is what items without number would reach in as many clusters, where that is the same for all lines but for
    the last per cent.

    Examples
    --------
    >>> from evalci_accessor import datasets, plot
    >>> pilot = datasets.load_rag_eval().query("model == 'atlas'")
    >>> plan = pilot.evalci.half_width("doc_id", n_clusters=[40, 80], items_per_cluster=[5, 20], n_sims=20)
    >>> ax = plot.power(plan, goal=0.05)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('clusters of doc_id', 'half-width, points')
    """
    look = Look(ax=ax, figsize=figsize, title=title)
    kind, frame, keys = _read(result, label)
    along = _along(frame, x)
    lines = _lines(frame, keys, kind, along)
    values = [
        numbers(frame, name)
        for name in (kind, f"{kind}_low", f"{kind}_high", f"{kind}_limit")
        if name in frame
    ]
    is_rate = kind == "power" or _of_rates(frame, values) if percent is None else percent
    if isinstance(goal, str):
        check_option(goal, Literal["auto"], "goal")
    across = (_POWER if kind == "power" else None) if isinstance(goal, str) else goal
    if across is not None and not 0 <= across <= (1 if kind == "power" else np.finfo(np.float64).max):
        wanted = (
            "a power is from 0 to 1, as .8" if kind == "power" else f"a {kind.replace('_', '-')} is 0 or more"
        )
        raise MethodError(
            f"goal={goal!r} is beyond what can be reached: {wanted}, in the units of the result."
        )
    canvas = look.open()
    ax, curves = canvas.ax, dress(lines, canvas)
    limit = _shared_limit(curves, kind, along)
    handles = _handles(canvas, curves, kind, across, limited=limit is not None, percent=is_rate)
    frame_curves(canvas, len(handles) + 1)
    at = np.unique(numbers(frame, along))
    ax.set_xlim(*canvas.widen([at]))
    ax.set_ylim(*_height(canvas, values, kind, across))
    for curve in curves:
        limits = _band(curve, kind)
        if limits is not None:
            curve.band(ax, curve.numbers(along), *limits, alpha=opacity(len(curves)))
        looks = curve.line | {"markeredgecolor": ax.get_facecolor(), "zorder": 3, "gid": "estimate"}
        ax.plot(curve.numbers(along), curve.numbers(kind), **looks)
    if limit is not None:
        ax.plot(*limit, color=canvas.ink, **_LIMIT, zorder=2, gid="limit")
    if across is not None:
        ax.axhline(across, color=canvas.ink, **_GOAL, zorder=1.8, gid="goal")
    set_counts(canvas, at)
    canvas.set_units("y", percent=is_rate, unit=" %" if kind == "power" else "")
    ax.set_ylabel(_height_label(frame, kind, percent=is_rate))
    return canvas.write(handles, below=_axis_label(frame, along), legend=_common(frame, kind, keys) or None)


def _read(result: Any, label: Labels | None) -> tuple[str, pd.DataFrame, list[Hashable]]:
    """Which answer the result holds, its rows and its keys."""
    if isinstance(result, (WidthPlan, PowerPlan)):
        result = _of_plan(result)
    held = [str(name) for name in getattr(result, "data_vars", getattr(result, "columns", ()))]
    kind = next((kind for kind in KINDS if kind in held), "half_width")
    frame, keys = _frame.tidy(result, (kind,), "plot.power", SOURCE)
    _frame.refuse_lacking(list(frame.columns), (kind, "n_clusters"), "plot.power", SOURCE)
    if "n_clusters_low" in frame:
        raise MethodError(
            "plot.power draws what designs reach, and this is a result of required_clusters, which has one "
            "design a goal. Pass its "
            "n_clusters, n_clusters_low and n_clusters_high to half_width or power, and draw that."
        )
    own = {*KINDS, *_DESIGN, *_GOALS, "n_items", "method"}
    return kind, *_frame.folded(
        frame, _frame.chosen_keys(frame, [key for key in keys if key not in own], label)
    )


def _of_plan(plan: WidthPlan | PowerPlan) -> pd.DataFrame:
    """A plan of `stats` as a frame, a row for each point of its arrays."""
    fields = {field.name: getattr(plan, field.name) for field in dataclasses.fields(plan)}
    shape = np.shape(plan.n_items)
    frame = pd.DataFrame({name: np.broadcast_to(value, shape).ravel() for name, value in fields.items()})
    return frame.assign(items_per_cluster=frame["n_items"] / frame["n_clusters"])


def _along(frame: pd.DataFrame, x: PlanAxis | None) -> str:
    if x is None:
        return str(next(iter(distinct(frame, _DESIGN)), "n_clusters"))
    check_option(x, PlanAxis, "x")
    _frame.refuse_lacking(list(frame.columns), (x,), f"plot.power with x={x!r}", SOURCE)
    return x


def _lines(
    frame: pd.DataFrame, keys: list[Hashable], kind: str, along: str
) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each line with its name: its keys, its design and its goals, as far as lines differ."""
    design = [name for name in _DESIGN if name != along and not (along == "n_items" and name == "n_clusters")]
    several: list[Hashable] = distinct(frame, keys)
    answer = _answers(frame) if kind == "mde" else {kind}
    goals = distinct(frame, [name for name in _GOALS if name not in {*answer, *keys}])
    by = [*several, *distinct(frame, design), *goals]
    if (
        frame[[*by, along]].map(words).duplicated().any()
    ):  # a method goes with the design, but may be all that tells two plans apart
        goals += distinct(frame, ["method"])

    def names(firsts: pd.DataFrame) -> list[str]:
        parts = [called(firsts, several)] if several else []
        parts += [_design_words(frame, firsts, name) for name in design]
        parts += [[named(name, value) for value in firsts[name]] for name in goals]
        return [", ".join(filter(None, row)) for row in zip(*parts, strict=True)]

    return split(frame, [*several, *distinct(frame, design), *goals], along, names, "plot.power")


def _answers(frame: pd.DataFrame) -> set[str]:
    """What a result of mde answers, and no goal: the difference, or the margin of a claim against one."""
    claims = {words(value) for value in frame["claim"]} if "claim" in frame else {"superiority"}
    return {"difference" if claim == "superiority" else "margin" for claim in claims} | {"mde"}


def _design_words(frame: pd.DataFrame, firsts: pd.DataFrame, name: str) -> list[str]:
    """What a part of the design is called on each line; an item that stands for itself is its own cluster."""
    if name not in frame or (name == "items_per_cluster" and not _clustered(frame)):
        return [""] * len(firsts)
    values = numbers(firsts, name)
    if name == "n_samples" and (numbers(frame, name) == 1).all():
        return [""] * len(firsts)
    one, many = {
        "n_clusters": ("cluster", "clusters") if _clustered(frame) else ("item", "items"),
        "items_per_cluster": ("item a cluster", "items a cluster"),
        "n_samples": ("sample an item", "samples an item"),
    }[name]
    return [f"{text} {one if text == '1' else many}" for text in _words.counts(values)]


def _clustered(frame: pd.DataFrame) -> bool:
    """Whether clusters are clusters, and not items that stand for themselves."""
    return "cluster" not in frame or any(clusterings(frame))


def _of_rates(frame: pd.DataFrame, values: list[np.ndarray]) -> bool:
    """Whether the scores are rates: all in [0, 1], and the pilot's mean known, as that of others is not."""
    wider = "estimate" in frame and np.isnan(numbers(frame, "estimate")).all()
    return _words.in_unit(*values) and not wider


def _band(curve: Curve, kind: str) -> tuple[np.ndarray, np.ndarray] | None:
    """The limits of a line; nothing where they say no more than the line."""
    low, high = curve.numbers(f"{kind}_low"), curve.numbers(f"{kind}_high")
    same = np.isnan(low).all() or all(
        np.array_equal(each, curve.numbers(kind), equal_nan=True) for each in (low, high)
    )
    return None if same else (low, high)


def _shared_limit(curves: list[Curve], kind: str, along: str) -> tuple[np.ndarray, np.ndarray] | None:
    """What items without number would reach along x, where that is one number for all lines."""
    x, y = (np.concatenate([curve.numbers(name) for curve in curves]) for name in (along, f"{kind}_limit"))
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    at, first, place = np.unique(x, return_index=True, return_inverse=True)
    agreed = np.allclose(y, y[first][place.reshape(-1)], rtol=_ALIKE, atol=0)
    return (at, y[first]) if along == "n_clusters" and len(at) and agreed else None


def _height(canvas: Canvas, values: list[np.ndarray], kind: str, across: float | None) -> tuple[float, float]:
    low, high = canvas.widen(values, held=(0.0, *([] if across is None else [across])), upright=True)
    return (min(low, -0.02), max(high, 1.02)) if kind == "power" else (0.0, high)


def _handles(
    canvas: Canvas, curves: list[Curve], kind: str, across: float | None, *, limited: bool, percent: bool
) -> list[Line2D | Patch]:
    """What the legend says of each line, of the bands and of the lines across."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    face = canvas.ax.get_facecolor()
    handles: list[Line2D | Patch] = [
        Line2D([], [], **curve.line, markeredgecolor=face, label=curve.name or kind.replace("_", "-"))
        for curve in curves
    ]
    if any(_band(curve, kind) is not None for curve in curves):
        color = canvas.ink if len(curves) > 1 else curves[0].color
        handles.append(
            Patch(facecolor=(color, BAND), edgecolor=color, linewidth=0.7, label=_band_words(curves))
        )
    if limited:
        handles.append(Line2D([], [], color=canvas.ink, **_LIMIT, label="with items without number"))
    if across is not None:
        unit = "" if not percent else " %" if kind == "power" else " points"
        handles.append(
            Line2D(
                [], [], color=canvas.ink, **_GOAL, label=f"goal: {(100 if percent else 1) * across:.4g}{unit}"
            )
        )
    return handles


def _band_words(curves: list[Curve]) -> str:
    limits = [np.concatenate([curve.numbers(name) for curve in curves]) for name in ("icc_low", "icc_high")]
    if np.isnan(limits[0]).all():
        return "one sample in twenty lies below, and one above"
    ends = [sorted({f"{value:.2f}" for value in each.tolist()}) for each in limits]
    if all(len(each) == 1 for each in ends):
        return f"between the limits of the pilot's ICC, {ends[0][0]} to {ends[1][0]}"
    return "between the limits of each pilot's ICC"


def _common(frame: pd.DataFrame, kind: str, keys: list[Hashable]) -> str:
    """What all lines share: their keys, and what is to be shown."""
    one = frame.iloc[:1]
    same = [key for key in keys if key not in distinct(frame, keys)]
    parts = called(one, same) if same else []
    shared = [name for name in _GOALS if name in frame and not distinct(frame, [name])]
    goal = {name: numbers(one, name)[0] for name in ("difference", "margin", "power") if name in shared}
    claim = words(one["claim"].iloc[0]) if "claim" in shared else ""
    if kind != "half_width" and claim not in ("", "superiority"):
        parts.append(claim)
    if kind == "power" and goal.get("margin", 0) > 0:
        parts.append(f"margin {_words.number(goal['margin'], percent=False)}")
    if kind == "power" and "difference" in goal:
        parts.append(f"true difference {_words.number(goal['difference'], percent=False)}")
    if kind == "half_width" and "confidence_level" in shared:
        parts.append(f"half-width of the {_words.level(words(one['confidence_level'].iloc[0]))}interval")
    if kind == "mde" and "power" in goal:
        parts.append(f"with a power of {100 * goal['power']:.4g} %")
    return ", ".join(parts)


def _axis_label(frame: pd.DataFrame, along: str) -> str:
    clusters = _words.few(clusterings(frame))
    of = f" of {clusters}" if clusters else ""
    return {
        "n_clusters": f"clusters{of}" if _clustered(frame) else "items",
        "n_items": "items",
        "items_per_cluster": f"items in each cluster{of}",
        "n_samples": "samples of each item",
    }[along]


def _height_label(frame: pd.DataFrame, kind: str, *, percent: bool) -> str:
    unit = ", points" if percent else ""
    if kind == "power":
        return "power"
    if kind == "mde":
        return f"smallest {' or '.join(sorted(_answers(frame) - {'mde'}))}{unit}"
    return f"half-width{unit}"
