"""From pilots to plans: a grid of designs for each pilot, each at the ICC's posterior mean and at its limits."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from evalci_accessor import stats
from evalci_accessor.exceptions import MethodError, PilotError, PlanWarning, examples, warn
from evalci_accessor.methods.pilots import Pilots, check_goal, read_pilots
from evalci_accessor.options import PlanGrid, PlanOptions, Roles
from evalci_accessor.read import Answer, Read, Reader
from evalci_accessor.stats.planning.pilot import Pilot
from evalci_accessor.stats.planning.shared import Pattern
from evalci_accessor.stats.progress import progress, within
from evalci_accessor.stats.validate import check_level

_DESIGN = ("n_items", "n_samples", "items_per_cluster")
_ICC = ("icc", "icc_low", "icc_high", "item_icc")
_OF_RATE = ("estimate", "std_dev", "n_clusters_pilot", "cluster", "method", "confidence_level")
_OF_PAIR = (
    "disagreement", "std_dev", "n_clusters_pilot", "cluster", "alternative", "method", "confidence_level",
)  # fmt: skip
WIDTH_COLUMNS = (
    "half_width", "half_width_low", "half_width_high", "half_width_limit", "n_clusters", *_DESIGN, *_ICC, *_OF_RATE,
)  # fmt: skip
POWER_COLUMNS = (
    "power", "power_low", "power_high", "power_limit", "difference", "margin", "claim", "n_clusters", *_DESIGN, *_ICC, *_OF_PAIR,
)  # fmt: skip
MDE_COLUMNS = (
    "mde", "mde_low", "mde_high", "difference", "margin", "claim", "power", "n_clusters", *_DESIGN, *_ICC, *_OF_PAIR,
)  # fmt: skip
_CLUSTERS = ("n_clusters", "n_clusters_low", "n_clusters_high")
RATE_CLUSTERS_COLUMNS = ("half_width", *_CLUSTERS, *_DESIGN, "half_width_limit", *_ICC, *_OF_RATE)
PAIR_CLUSTERS_COLUMNS = (
    "difference", "margin", "claim", "power", *_CLUSTERS, *_DESIGN, "power_limit", *_ICC, *_OF_PAIR,
)  # fmt: skip

_ENDLESS = 1_000_000  # samples, of which there are so many that they add no variance
Row: TypeAlias = dict[str, Any]
Point: TypeAlias = dict[str, Any]


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Plans:
    """Columns of shape (H, ...) or (H, P, ...), or single values; and what is planned for several numbers, by axis."""

    columns: dict[str, Any]
    axes: dict[str, np.ndarray]


def half_width(reader: Reader[Answer], roles: Roles, grid: PlanGrid, options: PlanOptions) -> Answer:
    """How wide the interval of a rate would be, as the accessor's method of that name."""

    def one(pilot: Pilot, at: Point) -> Row:
        plan = stats.half_width(**_scores(pilot, at), **_design(pilot, at), **_of_rate(options))
        return _row("half_width", plan.half_width, plan, plan)

    read = read_pilots(reader, roles, options.confidence_level, "half_width")
    return _write(read, _run(read.found, grid, ("n_clusters",), WIDTH_COLUMNS, options, one))


def power(reader: Reader[Answer], roles: Roles, grid: PlanGrid, options: PlanOptions) -> Answer:
    """The power to show a difference, as the accessor's method of that name."""

    def one(pilot: Pilot, at: Point) -> Row:
        design, goal = _design(pilot, at), _goal(at)
        plan = stats.power(**_differences(pilot, at), **design, **goal, **_of_pair(options))
        return _row("power", plan.power, plan, plan, goal["difference"])

    read = read_pilots(reader, roles, options.confidence_level, "power")
    _refuse_no_difference(grid)
    goals = ("difference", "margin", "n_clusters")
    return _write(read, _run(read.found, grid, goals, POWER_COLUMNS, options, one))


def mde(reader: Reader[Answer], roles: Roles, grid: PlanGrid, options: PlanOptions) -> Answer:
    """The smallest difference that a design shows, as the accessor's method of that name."""

    def one(pilot: Pilot, at: Point) -> Row:
        design, goal = _design(pilot, at), {name: at[name] for name in ("difference", "margin", "power")}
        plan = stats.mde(**_differences(pilot, at), **design, **goal, **_of_pair(options))
        answer = plan.difference if plan.claim == "superiority" else plan.margin
        return _row("mde", answer, plan, plan, float(plan.difference[0]))

    read = read_pilots(reader, roles, options.confidence_level, "mde")
    goals = ("difference", "margin", "power", "n_clusters")
    return _write(read, _run(read.found, grid, goals, MDE_COLUMNS, options, one))


def required_clusters(reader: Reader[Answer], roles: Roles, grid: PlanGrid, options: PlanOptions) -> Answer:
    """How many clusters a goal needs, as the accessor's method of that name."""

    def pair(pilot: Pilot, at: Point) -> Row:
        goal, design, spread = _goal(at), _design(pilot, at), _differences(pilot, at)
        own = design.pop("n_clusters")
        plan = stats.required_clusters(**spread, **design, **goal, power=at["power"], **_of_pair(options))
        now = stats.power(**_at_mean(spread), **design, **goal, n_clusters=own, **_of_pair(options))
        return _row("n_clusters", plan.n_clusters, plan, now, goal["difference"])

    def rate(pilot: Pilot, at: Point) -> Row:
        design, scores = _design(pilot, at), _scores(pilot, at)
        own = design.pop("n_clusters")
        plan = stats.required_clusters(half_width=at["half_width"], **scores, **design, **_of_rate(options))
        now = stats.half_width(**_at_mean(scores), **design, n_clusters=own, **_of_rate(options))
        return _row("n_clusters", plan.n_clusters, plan, now)

    check_goal(roles, grid, options)
    read = read_pilots(reader, roles, options.confidence_level, "required_clusters")
    if read.found.paired:
        _refuse_no_difference(grid)
        goals = ("difference", "margin", "power")
        plans = _run(read.found, grid, goals, PAIR_CLUSTERS_COLUMNS, options, pair)
        short = plans.columns["power_limit"] < plans.columns["power"]
    else:
        plans = _run(read.found, grid, ("half_width",), RATE_CLUSTERS_COLUMNS, options, rate)
        short = plans.columns["half_width_limit"] > plans.columns["half_width"]
    _warn_items(read.found, plans, short)
    return _write(read, plans)


def _write(read: Read[Pilots, Answer], plans: Plans) -> Answer:
    read.write.refuse(*plans.columns)
    axes: dict[str, dict[str, Any]] = {name: {name: values} for name, values in plans.axes.items()}
    if read.found.pairs is not None:
        axes = {"pair": read.write.sides(read.found.pairs)} | axes
    return read.write(plans.columns, axes)


def _of_rate(options: PlanOptions) -> dict[str, Any]:
    """The options of a plan for one rate."""
    return {name: getattr(options, name) for name in ("method", "confidence_level", "n_sims", "rng")}


def _of_pair(options: PlanOptions) -> dict[str, Any]:
    """The options of a plan for two systems."""
    return {name: getattr(options, name) for name in ("method", "confidence_level", "claim", "alternative")}


def _row(name: str, answer: Any, plan: Any, now: Any, difference: float | None = None) -> Row:
    """The answer at the ICC's mean, the least and greatest at that and its limits, and what was resolved."""
    values = np.asarray(answer)
    if name == "n_clusters":
        values = values.astype(np.int64)
    row = {name: values[0].item(), f"{name}_low": values.min().item(), f"{name}_high": values.max().item()}
    row |= {"n_items": int(plan.n_items.flat[0]), "method": now.method}
    for limit in ("half_width_limit", "power_limit"):
        if hasattr(now, limit):
            row[limit] = float(getattr(now, limit)[0])
    if difference is not None:
        row |= {"difference": difference, "margin": float(now.margin.flat[0]), "claim": now.claim}
    return row


def _run(
    found: Pilots,
    grid: PlanGrid,
    goals: tuple[str, ...],
    columns: tuple[str, ...],
    options: PlanOptions,
    one: Callable[[Pilot, Point], Row],
) -> Plans:
    """One plan after the other, as columns."""
    values, axes = _grid({name: getattr(grid, name) for name in (*goals, "items_per_cluster", "n_samples")})
    _refuse_samples(found, values["n_samples"])
    if found.cluster is None and any(size not in (None, 1) for size in values["items_per_cluster"]):
        raise MethodError(
            f"items_per_cluster= is given but no cluster=, so each {found.item} counts for itself and n_clusters says how many "
            f"there are. Name what the items share."
        )
    rows = []
    for k in progress(range(len(found.every)), label="plans", unit="pilot"):
        for point in itertools.product(*values.values()):
            at = dict(zip(values, point, strict=True))
            at["n_samples"] = found.every[k].n_samples if at["n_samples"] is None else at["n_samples"]
            try:
                with within():
                    rows.append(_known(found.every[k], at) | one(found.every[k], at))
            except PilotError as error:
                raise PilotError(f"{found.who([k])}{error}") from error
    shape = (*found.shape, *map(len, axes.values()))
    out: dict[str, Any] = {
        name: _column([row[name] for row in rows], shape) for name in columns if name in (rows or [{}])[0]
    }
    if found.cluster is None:  # an item that stands for itself does not hold more of them
        out |= {name: np.full(shape, np.nan) for name in ("half_width_limit", "power_limit") if name in out}
    out |= {"cluster": found.cluster or "", "alternative": options.alternative}
    out["confidence_level"] = check_level(options.confidence_level)
    return Plans(columns={name: out.get(name, np.empty(shape)) for name in columns}, axes=axes)


def _known(pilot: Pilot, at: Point) -> Row:
    """What comes from the pilot, and what was asked."""
    mean, clusters = at["items_per_cluster"], at.get("n_clusters")
    names = ("icc", "icc_low", "icc_high", "item_icc", "disagreement", "std_dev")
    known: Row = {name: getattr(pilot, name) for name in names}
    known |= {name: at[name] for name in ("n_samples", "half_width", "power") if name in at}
    return known | {
        "items_per_cluster": float(pilot.sizes.mean() if mean is None else mean),
        "estimate": pilot.rate,
        "n_clusters_pilot": len(pilot.sizes),
        "n_clusters": len(pilot.sizes) if clusters is None else clusters,
    }


def _column(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Values in the shape of the answer; texts that are all the same as one."""
    if values and isinstance(values[0], str):
        return values[0] if len(set(values)) == 1 else np.array(values, dtype=object).reshape(shape)
    return np.array(values).reshape(shape)


def _grid(asked: dict[str, Any]) -> tuple[dict[str, list[Any]], dict[str, np.ndarray]]:
    """All numbers by name, and as axes those of which several were asked for; None is the pilot's own."""
    values: dict[str, list[Any]] = {}
    axes: dict[str, np.ndarray] = {}
    for name, given in asked.items():
        if given is None:
            values[name] = [None]
            continue
        array = np.asarray(given)
        if array.ndim > 1 or array.dtype.kind not in "iuf" or not array.size or not np.isfinite(array).all():
            raise MethodError(f"{name}={given!r} must be a number, or a list of numbers for a grid of plans.")
        whole = name in ("n_clusters", "n_samples")
        least = {"n_clusters": 2, "n_samples": 1, "items_per_cluster": 1}.get(name, -np.inf)
        bad = [v for v in array.ravel().tolist() if v < least or (whole and v != round(v))]
        if bad:
            raise MethodError(
                f"{name} must be {'whole ' if whole else ''}numbers of at least {least}; got {examples(f'{v:g}' for v in bad)}."
            )
        array = array.astype(np.int64) if whole else array.astype(np.float64)
        values[name] = array.ravel().tolist()
        if array.ndim:
            axes[name] = array
    return values, axes


def _design(pilot: Pilot, at: Point) -> Row:
    """Clusters and their sizes: those of the pilot, or sizes with its proportions and another mean."""
    mean, sizes = at["items_per_cluster"], pilot.sizes
    if mean is not None:
        sizes = Pattern.of(sizes).scaled(mean).sizes
    clusters = at.get("n_clusters")
    return {
        "n_clusters": len(pilot.sizes) if clusters is None else clusters,
        "items_per_cluster": float(sizes[0]) if (sizes == sizes[0]).all() else sizes,
    }


def _correlations(pilot: Pilot, at: Point) -> Row:
    """The ICC's mean and limits, zero where items stand for themselves, and what several samples need."""
    icc = np.zeros(1) if np.isnan(pilot.icc) else np.array([pilot.icc, pilot.icc_low, pilot.icc_high])
    # Two samples of an item share its cluster too, so whatever the ICC is they are no less alike.
    more = {} if at["n_samples"] == 1 else {"item_icc": np.maximum(pilot.item_icc, icc)}
    return {"icc": icc, "n_samples": at["n_samples"]} | more


def _at_mean(found: Row) -> Row:
    """The same at the ICC's mean alone."""
    return {name: value[:1] if isinstance(value, np.ndarray) else value for name, value in found.items()}


def _scores(pilot: Pilot, at: Point) -> Row:
    """How scores vary, as the functions of one rate take it."""
    found = _correlations(pilot, at)
    if not pilot.graded:
        return {"rate": pilot.rate} | found
    if np.isnan(pilot.rate):
        return {"std_dev": pilot.std_dev} | found
    # Scores between 0 and 1 are like the pass rates of items that were sampled without end: their interval is that of a rate.
    alike = found.get("item_icc", 1.0)
    share = pilot.std_dev**2 / (pilot.rate * (1 - pilot.rate))
    item_icc = np.minimum(share * (alike + (1 - alike) / at["n_samples"]), 1.0)
    return {
        "rate": pilot.rate,
        "icc": np.minimum(found["icc"] * share, item_icc),
        "item_icc": item_icc,
        "n_samples": _ENDLESS,
    }


def _differences(pilot: Pilot, at: Point) -> Row:
    """How differences vary, as the functions of two systems take it."""
    if pilot.graded:
        return {"std_dev": pilot.std_dev} | _correlations(pilot, at)
    difference = at["difference"] or 0.0
    if abs(difference) >= pilot.disagreement:
        if 1 <= abs(difference) < 100:
            raise PilotError(
                f"A difference of {difference:g} is more than rates can have, which lie in [0, 1]. "
                f"Did you mean {difference / 100:g}?"
            )
        raise PilotError(
            f"A difference of {difference:g} cannot be planned from a pilot in which the systems disagree on "
            f"{pilot.disagreement:.3g} of the items: they differ only where they disagree. Plan for a smaller difference, or "
            f"give a larger disagreement to the function of the same name in stats."
        )
    return {"disagreement": pilot.disagreement} | _correlations(pilot, at)


def _goal(at: Point) -> Row:
    """The difference and the margin; against a margin there is no difference unless it was named."""
    return {"difference": 0.0 if at["difference"] is None else at["difference"], "margin": at["margin"]}


def _refuse_no_difference(grid: PlanGrid) -> None:
    if grid.difference is None and grid.margin is None:
        raise MethodError(
            "difference= is missing: the smallest true difference that is worth finding (.03 for three points of a rate), "
            "which is for you to say. The pilot's own is no plan: it is mostly chance, and a difference that made one plan for "
            "it is on average too large, so the eval would be too small. mde tells which difference a design can show; margin= "
            "plans for not being worse."
        )


def _refuse_samples(found: Pilots, asked: list[Any]) -> None:
    if all(number in (None, 1) for number in asked):
        return
    unknown = [k for k, one in enumerate(found.every) if np.isnan(one.item_icc)]
    if unknown:
        both = "under both systems " if found.paired else ""
        raise MethodError(
            f"{found.who(unknown)}n_samples= asks for several samples an item, and no item of the pilot has two {both}that are "
            f"known as samples, so what more of them buy cannot be told: how alike two samples of an item are is not in single "
            "scores. Sample the pilot's items twice at least and name sample= (with item=); or give item_icc= to the function "
            "of the same name in stats."
        )


def _warn_items(found: Pilots, answer: Plans, short: np.ndarray) -> None:
    """Say where more items in the pilot's clusters do not reach the goal, however many."""
    # In as many clusters as the pilot has or fewer the goal is reached by the items that were asked for.
    short = short & (answer.columns["n_clusters"] > answer.columns["n_clusters_pilot"])
    if found.cluster is None or not short.any():
        return
    at, per = np.flatnonzero(short).tolist(), short.size // len(found.every)
    first = {n: v.ravel()[at[0]] if isinstance(v, np.ndarray) else v for n, v in answer.columns.items()}
    goal = "power" if found.paired else "half_width"
    what = f"a half-width of {first[goal]:g}"
    if found.paired:
        what = f"a power of {first[goal]:g} for a difference of {first['difference']:g}"
        what += f" and a margin of {first['margin']:g}" if first["margin"] else ""
    who = words + ": " if (words := found.words(at[0] // per)) else ""
    more = ""
    if len(at) > 1:
        more = f" The same goes for {len(at) - 1} more of the {short.size} plans: see n_clusters, and {goal}_limit for what "
        more += "items alone would reach."
    warn(
        f"{who}with the {first['n_clusters_pilot']} clusters of {found.cluster!r} in the pilot no number of items reaches {what}: "
        f"without bound the {goal.replace('_', '-')} still stays at {first[f'{goal}_limit']:.3g} (ICC {first['icc']:.2g}). "
        f"{first['n_clusters']} clusters of {first['items_per_cluster']:.3g} item(s) are needed "
        f"({first['n_clusters_low']} to {first['n_clusters_high']} given what "
        f"the pilot tells of the ICC).{more}",
        PlanWarning,
    )
