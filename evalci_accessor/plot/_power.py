"""What a design would reach: half-width, power or smallest difference, a line a design."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import Labels, PlanAxis
from evalci_accessor.plot import _frame
from evalci_accessor.plot._canvas import Look, line
from evalci_accessor.plot._frame import Part, Result, Wanted, called, named, words
from evalci_accessor.plot._pass_at_k import Curve, band_handle, dress, frame_curves, set_counts, split
from evalci_accessor.stats import PowerPlan, WidthPlan
from evalci_accessor.stats.validate import check_option

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_WANTED = Wanted("plot.power", "half_width, power or mde", ())
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
    plans = _read(result, label, x)
    kind, along, lines = plans.kind, plans.along, plans.lines()
    values = [plans.numbers(f"{kind}{end}") for end in ("", "_low", "_high", "_limit")]
    if percent is None:  # the mean of a pilot is known where its scores are in [0, 1]
        wider = "estimate" in plans.frame and np.isnan(plans.numbers("estimate")).all()
        percent = kind == "power" or (_frame.in_unit(*values) and not wider)
    if isinstance(goal, str):
        check_option(goal, Literal["auto"], "goal")
        goal = _POWER if kind == "power" else None
    said = kind.replace("_", "-")
    if goal is not None and not 0 <= goal <= (1 if kind == "power" else np.finfo(np.float64).max):
        which = f"a {said} is 0 or more" if kind != "power" else "a power is from 0 to 1, as .8"
        raise MethodError(
            f"goal={goal!r} is beyond what can be reached: {which}, in the units of the result."
        )
    canvas = look.open()
    ax, curves = canvas.ax, dress(lines, canvas)
    handles: list[Artist] = [line(curve.name or said, **curve.looks) for curve in curves]
    bands = [_band(curve, kind) for curve in curves]
    handles += [band_handle(canvas, curves, _band_words(curves))] if any(bands) else []
    limit = _shared_limit(curves, kind, along)
    if limit is not None:
        handles.append(line("with items without number", color=canvas.ink, **_LIMIT))
    if goal is not None:
        unit = "" if not percent else " %" if kind == "power" else " points"
        number = f"{(100 if percent else 1) * goal:.4g}"
        handles.append(line(f"goal: {number}{unit}", color=canvas.ink, **_GOAL))
    frame_curves(canvas, len(handles) + 1)
    at = np.unique(plans.numbers(along))
    ax.set_xlim(*canvas.widen([at]))
    low, high = canvas.widen(values, 0.0, *([] if goal is None else [goal]), upright=True)
    ax.set_ylim((min(low, -0.02), max(high, 1.02)) if kind == "power" else (0.0, high))
    for curve, band in zip(curves, bands, strict=True):
        if band:
            curve.band(ax, along, band, len(curves))
        curve.draw(ax, along, kind)
    if limit is not None:
        ax.plot(*limit, color=canvas.ink, **_LIMIT, zorder=2, gid="limit")
    if goal is not None:
        ax.axhline(goal, color=canvas.ink, **_GOAL, zorder=1.8, gid="goal")
    set_counts(canvas, at)
    canvas.set_units("y", percent=percent, unit=" %" if kind == "power" else "")
    ax.set_ylabel(plans.height_label + (", points" if percent and kind != "power" else ""))
    return canvas.write(handles, below=plans.axis_label, legend=plans.common() or None)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class _Plans(Part):
    """The rows of a result, which answer they hold, their keys, and what lies along the axis."""

    kind: str
    keys: list[Hashable]
    along: str

    def lines(self) -> list[tuple[str, pd.DataFrame]]:
        """The rows of each line with its name: its keys, its design and its goals, as far as lines differ."""
        # Along all items lie those of more clusters too.
        on_axis = ("n_items", "n_clusters") if self.along == "n_items" else (self.along,)
        design = [name for name in _DESIGN if name not in on_axis]
        several, differing = self.distinct(self.keys), self.distinct(design)
        own = {*self.answers, *self.keys} if self.kind == "mde" else {self.kind, *self.keys}
        goals = self.distinct([name for name in _GOALS if name not in own])
        if self.frame[[*several, *differing, *goals, self.along]].map(words).duplicated().any():
            # A method goes with the design, but may be all that tells two plans apart.
            goals += self.distinct(["method"])

        def names(firsts: pd.DataFrame) -> list[str]:
            parts = [called(firsts, several)] if several else []
            parts += [self._design_words(Part(firsts), name) for name in design]
            parts += [[named(name, value) for value in firsts[name]] for name in goals]
            return [", ".join(filter(None, row)) for row in zip(*parts, strict=True)]

        return split(self.frame, [*several, *differing, *goals], self.along, names, "plot.power")

    def _design_words(self, firsts: Part, name: str) -> list[str]:
        """What a part of the design is called on each line; an item that stands for itself is its own cluster."""
        no_clusters = name == "items_per_cluster" and not self.clustered
        no_samples = name == "n_samples" and (self.numbers(name) == 1).all()
        if name not in self.frame or no_clusters or no_samples:
            return [""] * len(firsts.frame)
        one, many = {
            "n_clusters": ("cluster", "clusters") if self.clustered else ("item", "items"),
            "items_per_cluster": ("item a cluster", "items a cluster"),
            "n_samples": ("sample an item", "samples an item"),
        }[name]
        counts = _frame.counts(firsts.numbers(name))
        return [f"{text} {one if text == '1' else many}" for text in counts]

    @property
    def answers(self) -> set[str]:
        """What a result of mde answers, and no goal: the difference, or the margin of a claim against one."""
        claims = set(self.texts("claim")) or {"superiority"}
        return {"difference" if claim == "superiority" else "margin" for claim in claims} | {"mde"}

    @property
    def clustered(self) -> bool:
        """Whether clusters are clusters, and not items that stand for themselves."""
        return "cluster" not in self.frame or any(self.clusterings)

    @property
    def axis_label(self) -> str:
        """What lies along x."""
        clusters = _frame.few(self.clusterings)
        of = f" of {clusters}" if clusters else ""
        return {
            "n_clusters": f"clusters{of}" if self.clustered else "items",
            "n_items": "items",
            "items_per_cluster": f"items in each cluster{of}",
            "n_samples": "samples of each item",
        }[self.along]

    @property
    def height_label(self) -> str:
        """What lies along y."""
        if self.kind == "mde":
            return f"smallest {' or '.join(sorted(self.answers - {'mde'}))}"
        return self.kind.replace("_", "-")

    def common(self) -> str:
        """What all lines share: their keys, and what is to be shown."""
        one = Part(self.frame.iloc[:1])
        same = [key for key in self.keys if key not in self.distinct(self.keys)]
        parts = called(one.frame, same) if same else []
        shared = [name for name in _GOALS if name in self.frame and not self.distinct([name])]
        goal = {name: one.numbers(name)[0] for name in ("difference", "margin", "power") if name in shared}
        claim = self.only("claim")
        if self.kind != "half_width" and claim not in ("", "superiority"):
            parts.append(claim)
        if self.kind == "power" and goal.get("margin", 0) > 0:
            parts.append(f"margin {_frame.number(goal['margin'], percent=False)}")
        if self.kind == "power" and "difference" in goal:
            parts.append(f"true difference {_frame.number(goal['difference'], percent=False)}")
        if self.kind == "half_width" and "confidence_level" in shared:
            parts.append(f"half-width of the {_frame.level(self.only('confidence_level'))}interval")
        if self.kind == "mde" and "power" in goal:
            parts.append(f"with a power of {100 * goal['power']:.4g} %")
        return ", ".join(parts)


def _read(result: Any, label: Labels | None, x: PlanAxis | None) -> _Plans:
    """Which answer the result holds, its rows and its keys, and what lies along the axis."""
    if isinstance(result, (WidthPlan, PowerPlan)):  # a row for each point of its arrays
        fields = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
        shape = np.shape(result.n_items)
        result = pd.DataFrame({name: np.broadcast_to(value, shape).ravel() for name, value in fields.items()})
        result["items_per_cluster"] = result["n_items"] / result["n_clusters"]
    held = [str(name) for name in getattr(result, "data_vars", getattr(result, "columns", ()))]
    kind = next((kind for kind in KINDS if kind in held), "half_width")
    frame, keys = _frame.tidy(result, _WANTED._replace(needed=(kind,)))
    _frame.refuse_lacking(list(frame.columns), _WANTED._replace(needed=(kind, "n_clusters")))
    if "n_clusters_low" in frame:
        raise MethodError(
            "plot.power draws what designs reach, and this is a result of required_clusters, which has one "
            "design a goal. Pass its n_clusters, n_clusters_low and n_clusters_high to half_width or power, "
            "and draw that."
        )
    own = {*KINDS, *_DESIGN, *_GOALS, "n_items", "method"}
    keys = _frame.chosen_keys(frame, [key for key in keys if key not in own], label)
    frame, keys = _frame.folded(frame, keys)
    if x is None:
        along = str(next(iter(Part(frame).distinct(_DESIGN)), "n_clusters"))
    else:
        check_option(x, PlanAxis, "x")
        _frame.refuse_lacking(list(frame.columns), Wanted(f"plot.power with x={x!r}", _WANTED.source, (x,)))
        along = x
    return _Plans(frame, kind, keys, along)


def _band(curve: Curve, kind: str) -> list[np.ndarray]:
    """The limits of a line; nothing where they say no more than the line."""
    limits = [curve.numbers(f"{kind}_low"), curve.numbers(f"{kind}_high")]
    same = all(np.array_equal(each, curve.numbers(kind), equal_nan=True) for each in limits)
    return [] if same or np.isnan(limits[0]).all() else limits


def _shared_limit(curves: list[Curve], kind: str, along: str) -> tuple[np.ndarray, np.ndarray] | None:
    """What items without number would reach along x, where that is one number for all lines."""
    x, y = (np.concatenate([curve.numbers(name) for curve in curves]) for name in (along, f"{kind}_limit"))
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    at, first, place = np.unique(x, return_index=True, return_inverse=True)
    agreed = np.allclose(y, y[first][place.reshape(-1)], rtol=_ALIKE, atol=0)
    return (at, y[first]) if along == "n_clusters" and len(at) and agreed else None


def _band_words(curves: list[Curve]) -> str:
    ends = [np.concatenate([curve.numbers(name) for curve in curves]) for name in ("icc_low", "icc_high")]
    if np.isnan(ends[0]).all():
        return "one sample in twenty lies below, and one above"
    low, high = ({f"{value:.2f}" for value in each.tolist()} for each in ends)
    if len(low) == len(high) == 1:
        return f"between the limits of the pilot's ICC, {low.pop()} to {high.pop()}"
    return "between the limits of each pilot's ICC"
