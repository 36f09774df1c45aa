"""Repeated samples: `pass_at_k` and its kin, the split of the variance, and the columns of their answers."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evalci_accessor import exceptions as ex
from evalci_accessor.exceptions import examples, warn
from evalci_accessor.methods.rate_warnings import tell, warn_sentinel, warn_units
from evalci_accessor.methods.rates import estimate, refuse_single_clusters
from evalci_accessor.options import RateOptions, RepeatedOptions, SplitOptions, TooFew
from evalci_accessor.read import Answer, Read
from evalci_accessor.read.items import Items, sample_of
from evalci_accessor.read.samples import Sample
from evalci_accessor.stats.icc import anova_variance
from evalci_accessor.stats.pairs.multiplicity import Block, simultaneous_outside
from evalci_accessor.stats.rates.averaged import AveragedPosterior
from evalci_accessor.stats.rates.bootstrap import seed_sequence
from evalci_accessor.stats.rates.clustered import Given, lazy_posterior, rate
from evalci_accessor.stats.rates.moments import Moments, cr_variance, moments, satterthwaite_df
from evalci_accessor.stats.repeated import components as splits
from evalci_accessor.stats.repeated.components import ComponentsResult
from evalci_accessor.stats.repeated.designs import SOURCES, check_costs, levers
from evalci_accessor.stats.repeated.values import best_values, check_ks, few_words, passed_values
from evalci_accessor.stats.results import RateResult
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import (
    FloatArray,
    IntArray,
    check_level,
    check_option,
    check_resamples,
    tail,
)

REPEATED_COLUMNS = (
    "measure", "estimate", "std_error", "ci_low", "ci_high", "simultaneous_low", "simultaneous_high", "df", "n_items", "n_omitted",
    "n_samples_min", "n_samples_median", "n_samples_max", "item_share", "sample_share", "n_clusters", "cluster", "icc",
    "design_effect", "n_eff", "method", "confidence_level",
)  # fmt: skip

_ROUNDING = 1e-12  # share of its parts below which a variance, a sum with signs, is none


def over_k(read: Read[Items, Answer], k: Any, options: RepeatedOptions) -> Answer:
    """What k samples of an item would score, as the accessor's methods of the measures' names."""
    ks = check_ks(k)
    read.write.refuse("k", *REPEATED_COLUMNS)
    flat = np.atleast_1d(ks).ravel()
    return read.write(repeated_columns(read.found, flat, options), {"k": {"k": flat}}, single=not ks.ndim)


def repeated_columns(items: Items, ks: IntArray, repeated: RepeatedOptions) -> dict[str, Any]:
    """The fixed columns of the answer, arrays of shape (H, K)."""
    measure, too_few, options = repeated.measure, repeated.too_few, repeated.rate
    check_option(too_few, TooFew, "too_few")
    tail(options.confidence_level, options.alternative)
    if measure != "best_of_k":
        _refuse_graded(items, measure)
    _refuse_few(items, ks, too_few)
    held = items.n[:, None] >= ks
    refuse_lone_items(items, held)
    options = dataclasses.replace(options, rng=seed_sequence(options.rng))
    if measure == "best_of_k":
        value, variance = best_values(items.scores, items.n, ks)
    else:
        value, variance = passed_values(measure, items.sums.astype(np.int64), items.n, ks)
    sample = sample_of(items, value, held, ks)
    if items.pooled:
        warn(items.pooled, ex.PooledSamplesWarning)
    _warn_few(items, held, ks)
    crossed = None if sample.crossing is None else sample.crossing.totals
    mo = moments(sample.totals) if crossed is None else crossed.moments
    posterior = lazy_posterior(sample.totals, mo, crossed)
    result = estimate(sample, options, posterior)
    low, high = _band(sample, mo, result, options, posterior)
    out: dict[str, Any] = {name: getattr(result, name) for name in REPEATED_COLUMNS if hasattr(result, name)}
    out |= sample_counts(items, held) | _shares(items, held, variance, sample, mo)
    out |= {
        "measure": measure,
        "simultaneous_low": low,
        "simultaneous_high": high,
        "n_items": result.n,
        "cluster": "" if sample.alone else sample.cluster,
    }
    return {name: out[name] for name in REPEATED_COLUMNS}


def _band(
    sample: Sample,
    mo: Moments,
    result: RateResult,
    options: RateOptions,
    posterior: Callable[[], AveragedPosterior],
) -> tuple[FloatArray, FloatArray]:
    """Limits that hold for all k of a group at once: sup-t over the items' or clusters' influences."""
    t, (n_groups, n_k) = sample.totals, sample.totals.shape
    crossed = None if sample.crossing is None else sample.crossing.totals
    if n_k < 2:
        return result.ci_low, result.ci_high
    n_draws, seed = check_resamples(options.n_resamples), seed_sequence(options.rng)
    outside = tail(options.confidence_level, options.alternative)
    df = (satterthwaite_df(t, mo, "cr2") if crossed is None else crossed.df("cr2")).reshape(n_groups, n_k)
    parts: dict[tuple[int, ...], tuple[ClusterTotals, Moments]] = (
        {(0,): (t, mo)} if crossed is None else crossed.parts
    )
    levels = np.array(
        [
            simultaneous_outside([_block(parts, g, df[g])], 2 * outside, n_draws=n_draws, seed=seed)
            for g in range(n_groups)
        ]
    )
    if not result.method.startswith("bootstrap"):
        given = Given(mo=mo, crossed=crossed, posterior=posterior, levels=np.repeat(levels, n_k))
        together = rate(t, options, given)
        return together.ci_low, together.ci_high
    low, high = result.ci_low.copy(), result.ci_high.copy()
    sides = 2 if options.alternative == "two-sided" else 1
    for g, level in enumerate(levels.tolist()):
        some = (g * n_k, (g + 1) * n_k)
        own = dataclasses.replace(options, confidence_level=1 - sides * level, rng=seed)
        one = rate(t.some(*some), own, Given(crossed=None if crossed is None else crossed.some(*some)))
        low[g], high[g] = one.ci_low, one.ci_high
    least = float(levels.min(initial=1.0))
    if least * (n_draws + 1) < 1:
        warn(
            f"n_resamples={n_draws} cannot tell limits that hold for all k at once; at least "
            f"n_resamples={int(np.ceil(1 / least))} are needed. The default method draws nothing for its limits.",
            ex.BootstrapWarning,
        )
    return low, high


def _block(parts: Mapping[tuple[int, ...], tuple[ClusterTotals, Moments]], g: int, df: FloatArray) -> Block:
    """The estimates of all k of a group, which share items and clusters; of crossed clusterings only the covariance is known."""
    n_k = len(df)
    contrasts = np.stack([np.arange(n_k), np.full(n_k, -1)], axis=1)
    influences = {}
    for some, (t, mo) in parts.items():
        part = slice(int(t.offsets[g * n_k]), int(t.offsets[(g + 1) * n_k]))
        clusters, row = np.unique(t.cluster[part], return_inverse=True)
        influences[some] = np.zeros((len(clusters), n_k))
        influences[some][row.reshape(-1), t.group[part] - g * n_k] = mo.r[part]
    if len(influences) == 1:
        return Block(influence=influences[0,], contrasts=contrasts, df=df)
    products = {some: own.T @ own for some, own in influences.items()}
    covariance = np.sum([-((-1) ** len(some)) * part for some, part in products.items()], axis=0)
    scale = np.sum([np.diag(part) for part in products.values()], axis=0)
    if (np.diag(covariance) <= _ROUNDING * scale).any():  # no covariance, as it can be with few clusters
        covariance = np.eye(n_k)
    return Block.from_covariance(covariance, contrasts, df)


def sample_counts(items: Items, held: Any) -> dict[str, Any]:
    """How many items were left out for each k, and how many samples the others have."""
    n_groups, n_k = items.names.n_groups, held.shape[1]
    summary: dict[str, Callable[[Any], Any]] = {
        "n_samples_min": np.min,
        "n_samples_median": np.median,
        "n_samples_max": np.max,
    }
    out: dict[str, Any] = {name: np.full((n_groups, n_k), np.nan) for name in summary}
    out["n_omitted"] = np.zeros((n_groups, n_k), dtype=np.int64)
    for g, (first, stop) in enumerate(itertools.pairwise(items.ends.tolist())):
        for j in range(n_k):
            n = items.n[first:stop][held[first:stop, j]]
            out["n_omitted"][g, j] = stop - first - len(n)
            for name, function in summary.items() if len(n) else ():
                out[name][g, j] = function(n)
    return out


def _shares(
    items: Items, held: Any, variance: FloatArray, sample: Sample, mo: Moments
) -> dict[str, FloatArray]:
    """How much of the variance of the estimate is due to which items there are, and how much to their samples."""
    t = sample.totals
    sampled, weights = np.zeros(t.shape), np.ones(len(items.n)) if items.weights is None else items.weights
    np.add.at(sampled, items.groups, np.where(held, variance, 0.0) * weights[:, None] ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        if sample.crossing is None:
            nested = anova_variance(t, mo)
            every = np.where(np.isnan(nested), cr_variance(t, mo, "cr1"), nested)
        else:
            every = sample.crossing.totals.variance("cr1")
        total = every.reshape(t.shape)
        share = np.clip(
            sampled / t.sum(t.m).reshape(t.shape) ** 2 / np.where(total > 0, total, np.nan), 0.0, 1.0
        )
    return {"item_share": 1 - share, "sample_share": share}


def _refuse_graded(items: Items, measure: str) -> None:
    odd = items.scores[(items.scores != 0) & (items.scores != 1)]
    if not odd.size:
        return
    shown = examples(f"{value:g}" for value in np.unique(odd)[:6])
    mark = ""
    if items.sentinel is not None:
        mark = f" Where {items.sentinel[0]:g} marks a failed run, set it to missing, or give it the score of a failure, first."
    raise ex.ScoreRangeError(
        f"{measure} counts the samples that pass, so scores in {items.names.score!r} must be 0 or 1; {odd.size} of "
        f"{items.scores.size} are neither, such as {shown}. best_of_k takes scores on any scale; or turn these into passes first, "
        f"as with >= a threshold.{mark}"
    )


def _refuse_few(items: Items, ks: IntArray, too_few: TooFew) -> None:
    k, names = int(ks.max()), items.names
    if k > 1 and len(items.n) and (items.n == 1).all():
        same = "" if names.sample is None else f", and {names.sample!r} tells none apart"
        where = "Is the number of the sample part of item= or by=?"
        if names.entries == "cells":
            kept = " and ".join(map(repr, names.kept)) or "no dims"
            where = f"Kept are {kept}: if samples lie along one, name it with sample=."
        raise ex.SamplesError(
            f"k={k} needs at least {k} samples of an item, and each of the {len(items.n)} items of {names.key!r} has "
            f"one{same}. What {k} samples of an item would give cannot be told from one each, nor from a power of the mean "
            f"score, since items differ. {where} Else draw more samples, or ask for k=1."
        )
    if too_few == "raise" and (items.n < k).any():
        least = int(items.n.min())
        raise ex.SamplesError(
            few_words(items.n, k, items.words, f" (of {names.key!r})")
            + f" Ask for k of at most {least}; or leave such items out with too_few='omit', which moves the estimate if they are "
            "harder or easier than others."
        )


def refuse_lone_items(items: Items, held: Any) -> None:
    """A single item, of which nobody named a cluster."""
    if items.clusterings:
        return
    counts = np.zeros((items.names.n_groups, held.shape[1]), dtype=np.int64)
    np.add.at(counts, items.groups, held)
    lone = np.flatnonzero((counts == 1).any(axis=1))
    if len(lone):
        which = examples((w for h in lone.tolist() if (w := items.names.group_label(h))), between="; ")
        raise ex.ClusterError(
            f"There is a single item of {items.names.key!r} with samples enough{f' in {which}' if which else ''}, from which no "
            "error over items can be told. At least two are needed; for one item as it is, proportion_ci takes its samples as "
            "independent."
        )


def _warn_few(items: Items, held: Any, ks: IntArray) -> None:
    left = (~held).sum(axis=0)
    short = np.flatnonzero(left).tolist()
    if short:
        shown = examples(short, words=lambda j: f"{left[j]} of {len(held)} at k={ks[j]}")
        some = examples(
            np.flatnonzero(~held[:, short[-1]]).tolist(), words=lambda i: f"{items.words(i)} has {items.n[i]}"
        )
        warn(
            f"Items with fewer than k samples were left out: {shown} ({some}). If they are harder or easier than others, the "
            "estimate is off, and the rows of different k are over different items.",
            ex.TooFewSamplesWarning,
        )


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
    found = splits.variance_components(
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
    result = rate(sample.totals, cr1, Given(mo=mo))
    if pooled:
        warn(pooled, ex.PooledSamplesWarning)
    warn_sentinel(sample.sentinel, sample.score_range[1])
    warn_units(sample, mo, result, cr1, tail(cr1.confidence_level, cr1.alternative))
    effective = np.ravel(mo.effective_clusters)
    few = (sample.totals.n_clusters > 0) & (effective < _FEW * (1 - 1e-9))
    unit = f"items of {sample.cluster!r}" if sample.alone else f"clusters of {sample.cluster!r}"
    count = f" ({effective[few][0]:.3g})" if few.sum() == 1 else ""
    text = (
        f"fewer than {_FEW} effective {unit}{count}, from which variances are told badly: their intervals hold less often than "
        "they say, and the shares and what is projected are as uncertain."
    )
    tell(sample, few, ex.FewClustersWarning, text)
