"""Variance components of repeated samples: the checks, the split of each group, and a row for each source of the answer."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, warn
from evalci_accessor.methods.rate_warnings import warn_sentinel, warn_units, who
from evalci_accessor.methods.rates import refuse_single_clusters
from evalci_accessor.methods.repeated import refuse_lone_items, sample_counts
from evalci_accessor.options import RateOptions, SplitOptions
from evalci_accessor.read import Answer, Read
from evalci_accessor.read.items import Items, sample_of
from evalci_accessor.read.samples import Sample
from evalci_accessor.stats.rates.clustered import Given, rate
from evalci_accessor.stats.rates.moments import Moments, moments
from evalci_accessor.stats.repeated import components as parts_of
from evalci_accessor.stats.repeated.components import ComponentsResult
from evalci_accessor.stats.repeated.designs import SOURCES, check_costs, levers
from evalci_accessor.stats.validate import FloatArray, IntArray, check_level, tail

COMPONENT_COLUMNS = (
    "estimate", "std_error", "variance", "variance_low", "variance_high", "share", "count", "std_error_doubled",
    "std_error_limit", "cost", "cost_doubled", "gain", "best", "count_best", "n_items", "n_clusters", "n_samples_min",
    "n_samples_median", "n_samples_max", "cluster", "confidence_level",
)  # fmt: skip
_FEW = 20  # effective clusters, below which the intervals were measured to fall short of their level
_COMPONENTS = ("between_clusters", "between_items", "within_items")


def sources_of(items: Items) -> tuple[str, ...]:
    """What the rows of the answer are, from the coarsest."""
    return SOURCES if items.clusterings else SOURCES[1:]


def variance_components(read: Read[Items, Answer], options: SplitOptions) -> Answer:
    """Variance between clusters, items and samples, as the accessor's method of that name."""
    check_level(options.confidence_level)
    check_costs(options.costs)
    read.write.refuse("source", *COMPONENT_COLUMNS)
    columns = component_columns(read.found, options)
    return read.write(columns, {"source": {"source": np.array(sources_of(read.found))}})


def component_columns(items: Items, options: SplitOptions) -> dict[str, Any]:
    """The fixed columns of the answer: arrays of shape (H, S), or (H, 1) where all sources of a group share a value."""
    _refuse_clusterings(items, options)
    _refuse_single_samples(items)
    all_held = np.ones((len(items.n), 1), dtype=bool)
    refuse_lone_items(items, all_held)
    means = items.sums / np.maximum(items.n, 1)
    sample = sample_of(items, means[:, None], all_held, np.ones(1, dtype=np.int64))
    refuse_single_clusters(sample)
    n_groups = items.names.n_groups
    ends = np.concatenate([[0], np.cumsum(items.n)])
    rows = [_row(items, slice(int(a), int(b)), ends, options) for a, b in itertools.pairwise(items.ends)]
    mo = moments(sample.totals)
    _warn(sample, mo, options, items.pooled)
    first = len(SOURCES) - len(sources_of(items))
    out: dict[str, Any] = {}
    for name, value in _empty().items():
        shape = (n_groups, len(SOURCES) - first) if np.ndim(value) else (n_groups, 1)
        out[name] = np.array([row[name][first:] if np.ndim(value) else row[name] for row in rows]).reshape(
            shape
        )
    out |= {name: values for name, values in sample_counts(items, all_held).items() if name != "n_omitted"}
    out |= {
        "cluster": "" if sample.alone else sample.cluster,
        "confidence_level": float(options.confidence_level),
    }
    return {name: out[name] for name in COMPONENT_COLUMNS}


def _row(items: Items, part: slice, ends: IntArray, options: SplitOptions) -> dict[str, Any]:
    """What is told of one group: a value, or one for each of the three sources."""
    if part.stop == part.start:
        return _empty()
    scores = items.scores[ends[part.start] : ends[part.stop]]
    found, least = _split(items, part, scores, options.confidence_level)
    ahead = levers(found, options.costs)
    return {
        "estimate": least + found.estimate,
        "std_error": found.std_error,
        "variance": np.array([getattr(found, name) for name in _COMPONENTS]),
        "variance_low": np.array([getattr(found, f"{name}_low") for name in _COMPONENTS]),
        "variance_high": np.array([getattr(found, f"{name}_high") for name in _COMPONENTS]),
        "n_items": found.n_items,
        "n_clusters": found.n_clusters,
    } | {field.name: getattr(ahead, field.name) for field in dataclasses.fields(ahead)}


def _split(
    items: Items, part: slice, scores: FloatArray, confidence_level: float
) -> tuple[ComponentsResult, float]:
    """Components of the items of one group, and the least score, which was taken off all.

    Without it the squares of scores far from 0 would swamp their spread.
    """
    n, least = items.n[part], float(scores.min())
    item = np.repeat(np.arange(len(n)), n)
    s, ss = (np.bincount(item, weights=(scores - least) ** power) for power in (1, 2))
    found = parts_of.variance_components(
        s,
        n,
        ss,
        cluster=items.clusterings[0].coded.codes[part] if items.clusterings else None,
        confidence_level=confidence_level,
    )
    return found, least


def _empty() -> dict[str, Any]:
    """Of a group that is left without scores."""
    whole = {"n_items": 0, "n_clusters": 0, "best": np.zeros(3, dtype=bool)}
    single = dict.fromkeys(("estimate", "std_error", "cost"), np.nan)
    several = [name for name in COMPONENT_COLUMNS[2:14] if name not in ("cost", "best")]
    return whole | single | {name: np.full(3, np.nan) for name in several}


def _refuse_clusterings(items: Items, options: SplitOptions) -> None:
    names = [one.name for one in items.clusterings]
    if len(names) > 1:
        raise ex.MethodError(
            f"variance_components splits by one clustering, and cluster= names {len(names)}: {examples(map(repr, names))}. Ask "
            "for one at a time; which matters most is told by design_effect(cluster=[...])."
        )
    if check_costs(options.costs)[0] > 0 and not names:
        raise ex.MethodError(
            "costs name the cost of a cluster, and no cluster= is named; name what the items share."
        )


def _refuse_single_samples(items: Items) -> None:
    names = items.names
    most = np.zeros(names.n_groups, dtype=np.int64)
    np.maximum.at(most, items.groups, items.n)
    bad = np.flatnonzero(most == 1).tolist()
    if not bad:
        return
    sizes = np.bincount(items.groups, minlength=names.n_groups)
    shown = examples(
        bad,
        between="; ",
        words=lambda h: f"{sizes[h]}{f' of {w}' if (w := names.group_label(h)) else ' items'}",
    )
    same = "" if names.sample is None else f", and {names.sample!r} tells none apart"
    raise ex.SamplesError(
        f"all items of {names.key!r} have a single {names.entries[:-1]} ({shown}){same}, from which the variance of samples "
        "cannot be told from that of items. Is the number of the sample part of item=, by= or what is kept? Else draw a second "
        "sample of some items; cluster_ci holds both sources without telling them apart."
    )


def _warn(sample: Sample, mo: Moments, options: SplitOptions, pooled: str) -> None:
    cr1 = RateOptions(method="cr1", confidence_level=options.confidence_level)
    result = rate(sample.totals, given=Given(mo=mo), method=cr1.method, confidence_level=cr1.confidence_level)
    if pooled:
        warn(pooled, ex.PooledSamplesWarning)
    warn_sentinel(sample.sentinel, sample.score_range[1])
    warn_units(sample, mo, result, cr1, tail(cr1.confidence_level, cr1.alternative))
    effective = np.ravel(mo.effective_clusters)
    few = np.flatnonzero((sample.totals.n_clusters > 0) & (effective < _FEW * (1 - 1e-9)))
    if len(few):
        unit = f"items of {sample.cluster!r}" if sample.alone else f"clusters of {sample.cluster!r}"
        count = f" ({effective[few[0]]:.3g})" if len(few) == 1 else ""
        warn(
            f"{who(sample, few)}fewer than {_FEW} effective {unit}{count}, from which variances are told badly: their intervals "
            "hold less often than they say, and the shares and what is projected are as uncertain.",
            ex.FewClustersWarning,
        )
