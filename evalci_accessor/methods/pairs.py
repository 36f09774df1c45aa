"""Two systems on the same items: `mcnemar`, `diff_ci` and `compare`, columns by group and pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from evalci_accessor.exceptions import BootstrapWarning, MethodError, WeightError, examples, warn
from evalci_accessor.methods.common_items import Block, blocks_of, refuse_single_items
from evalci_accessor.methods.pair_warnings import warn_pairs, warn_variances
from evalci_accessor.options import (
    Alternative,
    CompareOptions,
    CompareTest,
    Correction,
    DiffMethod,
    DiffOptions,
    Roles,
    TestOptions,
)
from evalci_accessor.read import Answer, Order, Read
from evalci_accessor.read.ids import first_places
from evalci_accessor.read.matched import Matched, refuse_graded
from evalci_accessor.stats.pairs import multiplicity as sup_t
from evalci_accessor.stats.pairs.difference import (
    INDEPENDENT,
    RESAMPLED,
    Prepared,
    check_tail,
    conclude,
    prepare,
    resolve_claim,
    resolve_diff_method,
)
from evalci_accessor.stats.pairs.laws import sided
from evalci_accessor.stats.pairs.multiplicity import adjust_pvalues, simultaneous_outside
from evalci_accessor.stats.pairs.tests import binomial_tails, pair_test, resolve_test_method, score_test
from evalci_accessor.stats.progress import progress
from evalci_accessor.stats.rates.bootstrap import differences, mean_replicates, pigeonhole_sums, seed_sequence
from evalci_accessor.stats.rates.moments import bell_mccaffrey_df
from evalci_accessor.stats.results import PairTestResult
from evalci_accessor.stats.validate import (
    FloatArray,
    IntArray,
    check_level,
    check_option,
    check_resamples,
    tail,
)

Places: TypeAlias = tuple[IntArray, IntArray]  # groups and pairs
_NUMBERS = (
    "std_error", "ci_low", "ci_high", "statistic", "pvalue", "simultaneous_low", "simultaneous_high", "pvalue_verdict"
)  # fmt: skip
_TOGETHER = 4096  # pairs whose limits are searched for at once
_COUNTS = ("both_pass", "only_a", "only_b", "both_fail")
MCNEMAR_COLUMNS = (
    "estimate_a", "estimate_b", "difference", "n_pairs", "n_clusters", "cluster", *_COUNTS, "statistic", "pvalue", "alternative",
    "null", "method",
)  # fmt: skip
DIFF_COLUMNS = (
    "estimate_a", "estimate_b", "difference", "std_error", "ci_low", "ci_high", "n_pairs", "n_clusters", "cluster", *_COUNTS,
    "statistic", "pvalue", "alternative", "margin", "claim", "verdict", "pvalue_verdict", "method", "confidence_level",
)  # fmt: skip
COMPARE_COLUMNS = (
    "estimate_a", "estimate_b", "difference", "std_error", "ci_low", "ci_high", "n_pairs", "n_clusters", "cluster", *_COUNTS,
    "statistic", "pvalue", "pvalue_adj", "simultaneous_low", "simultaneous_high", "test", "correction", "method",
    "confidence_level",
)  # fmt: skip


def mcnemar(read: Read[Matched, Answer], options: TestOptions) -> Answer:
    """Do two systems differ, as the accessor's method of that name."""
    read.write.refuse(*MCNEMAR_COLUMNS)
    refuse_graded(read.found)
    return _write(read, mcnemar_columns(read.found, options))


def diff_ci(read: Read[Matched, Answer], options: DiffOptions) -> Answer:
    """By how much two systems differ, as the accessor's method of that name."""
    read.write.refuse(*DIFF_COLUMNS)
    return _write(read, diff_columns(read.found, options))


def compare(read: Read[Matched, Answer], options: CompareOptions) -> Answer:
    """All pairs in one table, as the accessor's method of that name: most evidence first."""
    read.write.refuse(*COMPARE_COLUMNS)
    family = families(options.correction_within, read.write.keys, len(read.found.tables))
    columns, rows = compare_columns(read.found, options, family)
    rank = np.empty(len(rows), dtype=np.int64)
    rank[rows] = np.arange(len(rows))
    by_group = rank.reshape(len(read.found.tables), len(read.found.pairs))
    along = np.argsort(by_group.min(axis=0)) if len(by_group) else np.arange(by_group.shape[1])
    return _write(read, columns, Order(rows=rows, along=along))


def _write(read: Read[Matched, Answer], columns: dict[str, Any], order: Order | None = None) -> Answer:
    return read.write(columns, {"pair": read.write.sides(read.found.pairs)}, order)


def families(within: Any, keys: dict[Any, IntArray], n_groups: int) -> IntArray:
    """Which family of comparisons each group belongs to: one for all, or one for each key of ``within``."""
    joint = np.zeros(n_groups, dtype=np.int64)
    if within is None:
        return joint
    several = isinstance(within, list) or (isinstance(within, tuple) and within not in keys)
    for name in within if several else [within]:
        if name not in keys:
            known = f"which are {examples(map(repr, keys), 20)}" if keys else "of which there are none here"
            raise MethodError(
                f"correction_within={name!r} must be among by (of a cube: the dims that stay), {known}: the correction "
                "then runs within each of its values instead of over the whole table."
            )
        joint = joint * (int(keys[name].max(initial=0)) + 1) + keys[name]
    return np.unique(joint, return_inverse=True)[1].reshape(-1).astype(np.int64)


def mcnemar_columns(matched: Matched, options: TestOptions) -> dict[str, Any]:
    """The test of every pair in every group, arrays (H, P)."""
    method = resolve_test_method(options.method, **matched.has)
    check_option(options.alternative, Alternative, "alternative")
    check_resamples(options.n_resamples)
    seed = seed_sequence(options.rng)
    blocks = blocks_of(matched)
    out = _described(matched, blocks)
    out["statistic"], out["pvalue"] = (np.full(out["difference"].shape, np.nan) for _ in range(2))
    null = "equal rates"
    for at, n_differing, result in _tested(blocks, method, options, seed):
        out["statistic"][at], out["pvalue"][at] = result.statistic, result.pvalue
        out["n_differing"][at], null = n_differing, result.null
    warn_pairs(matched, blocks, method, out["n_differing"])
    out |= {"alternative": options.alternative, "null": null, "method": method}
    return {name: out[name] for name in MCNEMAR_COLUMNS}


def _tested(
    blocks: list[Block], method: str, options: TestOptions, seed: np.random.SeedSequence
) -> Iterator[tuple[Places, FloatArray, PairTestResult]]:
    """Tests of some pairs at a time, with their places and the clusters in which they differ."""
    if method == "icc_averaged":
        for lots, at in _lots(blocks, method, options.n_resamples, seed):
            yield at, np.concatenate([lot.n_differing for lot in lots]), score_test(lots, options.alternative)
        return
    for block in blocks:
        for part, t in block.chunks(by_cluster=block.by_cluster, cells=method == "eliasziw"):
            result = pair_test(
                t, method, alternative=options.alternative, n_resamples=options.n_resamples, seed=seed
            )
            yield (np.full(len(t.total), block.group), block.place[part]), t.n_differing, result


def _resolved(matched: Matched, options: DiffOptions) -> DiffOptions:
    """The options with the method, the margin and the claim that apply to these scores."""
    check_tail(options.confidence_level, options.alternative)
    margin, claim = resolve_claim(options.margin, options.claim, bounded=matched.bounded)
    method = resolve_diff_method(options.method, binary=matched.binary, **matched.has)
    return dataclasses.replace(
        options, method=cast(DiffMethod, method), margin=margin, claim=claim, rng=seed_sequence(options.rng)
    )


def diff_columns(matched: Matched, options: DiffOptions) -> dict[str, Any]:
    """The difference of every pair in every group, arrays (H, P)."""
    options = _resolved(matched, options)
    blocks = blocks_of(matched)
    refuse_single_items(matched, blocks)
    out = _described(matched, blocks)
    _infer(blocks, out, options)
    warn_pairs(matched, blocks, options.method, out["n_differing"], out["fallback"])
    warn_variances(matched, out["negative"], out["short"])
    out |= {name: getattr(options, name) for name in ("alternative", "margin", "claim", "method")}
    out["confidence_level"] = check_level(options.confidence_level)
    return {name: out[name] for name in DIFF_COLUMNS}


def diff_by_methods(
    matched: Matched, methods: Sequence[DiffMethod], confidence_level: float
) -> list[dict[str, Any]]:
    """`diff_columns` by several methods, with the warnings of the last alone."""
    blocks = blocks_of(matched)
    refuse_single_items(matched, blocks)
    described, found = _described(matched, blocks), []
    for method in methods:
        options = _resolved(matched, DiffOptions(method=method, confidence_level=confidence_level))
        out = described | {"method": options.method, "n_differing": described["n_differing"].copy()}
        _infer(blocks, out, options)
        found.append(out)
    if found:
        warn_pairs(matched, blocks, found[-1]["method"], found[-1]["n_differing"], found[-1]["fallback"])
        warn_variances(matched, found[-1]["negative"], found[-1]["short"])
    return found


def compare_columns(
    matched: Matched, options: CompareOptions, family: IntArray
) -> tuple[dict[str, Any], IntArray]:
    """All pairs with what their number asks for, arrays (H, P), and the order of the rows: most evidence first.

    ``family`` says, by group, which p-values are corrected and which intervals hold together.
    """
    check_option(options.correction, Correction, "correction")
    as_difference = options.fields() | {"margin": 0.0, "claim": "superiority"}
    own = _resolved(matched, DiffOptions.of(as_difference))
    method = own.method
    test = _resolve_compare_test(options.test, method, weighted=matched.weighted)
    outside = tail(options.confidence_level, "two-sided")
    blocks = blocks_of(matched)
    refuse_single_items(matched, blocks)
    out = _described(matched, blocks)
    n_draws = check_resamples(options.n_resamples)
    level = simultaneous_levels(blocks, family, outside, n_draws, seed_sequence(own.rng))
    _infer(blocks, out, own, level)
    evidence = np.abs(np.nan_to_num(out["statistic"].ravel(), nan=0.0))
    if test != "interval":
        greater, less = binomial_tails(out["only_a"], out["only_b"], half=test == "midp")
        held = out["n_pairs"] > 0
        out["pvalue"] = np.where(held, sided(greater, less, "two-sided"), np.nan)
        out["statistic"] = np.where(held, out["only_a"], np.nan).astype(np.float64)
    if method in RESAMPLED and level.min(initial=1.0) * (options.n_resamples + 1) < 1:
        warn(
            f"n_resamples={options.n_resamples} cannot tell limits that hold for all {out['pvalue'].size} rows at once, so they "
            f"are nan; at least n_resamples={int(np.ceil(1 / level.min()))} are needed. The default method draws nothing.",
            BootstrapWarning,
        )
    families = np.broadcast_to(family[:, None], out["pvalue"].shape)
    out["pvalue_adj"] = adjust_pvalues(out["pvalue"], options.correction, family=families)
    warn_pairs(matched, blocks, method, out["n_differing"], out["fallback"])
    warn_variances(matched, out["negative"], out["short"])
    out |= {"test": test, "correction": options.correction, "method": method}
    out["confidence_level"] = check_level(options.confidence_level)
    # Where p-values are equal, or too small to be told from 0, the interval's statistic decides.
    order = np.lexsort((-evidence, np.where(np.isnan(out["pvalue"]), np.inf, out["pvalue"]).ravel()))
    return {name: out[name] for name in COMPARE_COLUMNS}, order


def _resolve_compare_test(test: CompareTest, method: str, *, weighted: bool) -> str:
    """Where the p-values come from: the binomial law of the discordant items, or the law of the interval."""
    check_option(test, CompareTest, "test")
    if test == "auto":
        return "exact" if method in INDEPENDENT and not weighted else "interval"
    if test == "interval":
        return test
    if weighted:
        raise WeightError(
            f"test={test!r} counts items, and weighted ones have no count. Leave test out: with weights the p-values are those of "
            "the interval; or leave out weights=."
        )
    if method not in INDEPENDENT:
        raise MethodError(
            f"test={test!r} is McNemar's, for independent items and scores of 0 and 1, and would not go with "
            f"method={method!r}. Leave test out: the p-values are then those of the interval."
        )
    return str(test)


def simultaneous_levels(
    blocks: list[Block], family: IntArray, outside: float, n_draws: int, seed: np.random.SeedSequence
) -> FloatArray:
    """Tail probability of the simultaneous limits of each group's family, by group."""
    out = np.full(len(family), outside)
    for one in np.unique(family):
        members = [block for block in blocks if family[block.group] == one]
        level = simultaneous_outside(
            [_as_columns(block) for block in members], 2 * outside, n_draws=n_draws, seed=seed
        )
        out[family == one] = level
    return out


def _as_columns(block: Block) -> sup_t.Block:
    """Influences of the clusters on the systems' means, and which differences are asked for."""
    scores, contrasts = block.scores, np.stack([block.a, block.b], axis=1)
    if block.crossed is not None:
        # Blocks that share clusters count as independent of each other, which is the cautious side.
        covariance = np.sum(
            [-((-1) ** len(some)) * _outer(one.influence) for some, one in block.crossed.items()], axis=0
        )
        df = min(bell_mccaffrey_df(block.margins[d].shares) for d in block.counted)
        return sup_t.Block.from_covariance(covariance, contrasts, df)
    return sup_t.Block(
        influence=scores.influence,
        contrasts=contrasts,
        df=bell_mccaffrey_df(scores.shares),
        clusters=None if scores.size is None else scores.cluster,
    )


def _outer(influence: FloatArray) -> FloatArray:
    return np.asarray(influence.T @ influence)


def _described(matched: Matched, blocks: list[Block]) -> dict[str, Any]:
    """What the pairs are, before any inference: both estimates, the difference, and the four cells."""
    shape = (len(matched.tables), len(matched.pairs))
    whole = ("n_pairs", "n_clusters", *(_COUNTS if matched.binary else ()))
    numbers = ("estimate_a", "estimate_b", "difference", "n_differing", *_COUNTS)
    out: dict[str, Any] = {name: np.full(shape, np.nan) for name in numbers}
    out |= {name: np.zeros(shape, dtype=np.int64) for name in whole} | {"cluster": matched.cluster or ""}
    for block in blocks:
        at, scores = (block.group, block.place), block.scores
        mean = scores.mean
        out["estimate_a"][at], out["estimate_b"][at] = mean[block.a], mean[block.b]
        out["difference"][at] = scores.total(block.a, block.b) / scores.mass
        out["n_pairs"][at], out["n_clusters"][at] = scores.n, block.n_clusters
        if block.gram is not None:
            # Counts of items, whatever their weights.
            both, passed = block.gram[block.a, block.b], np.diagonal(block.gram)
            cells = (both, passed[block.a] - both, passed[block.b] - both, scores.n - both - block.square)
            for name, count in zip(_COUNTS, cells, strict=True):
                out[name][at] = count
    return out


def _infer(
    blocks: list[Block], out: dict[str, Any], options: DiffOptions, outside: FloatArray | None = None
) -> None:
    """Fill in interval, p-value and verdict of every pair; ``outside`` holds each group's simultaneous tail probability.

    The options are resolved: method, margin and claim are set.
    """
    assert options.margin is not None
    assert options.claim is not None
    shape, method = out["difference"].shape, options.method
    out |= {name: np.full(shape, np.nan) for name in (*_NUMBERS, "df")}
    out["verdict"] = np.full(shape, "", dtype=object)
    out |= {name: np.zeros(shape, dtype=bool) for name in ("fallback", "negative", "short")}
    check_resamples(options.n_resamples)
    for lots, at in _lots(blocks, method, options.n_resamples, seed_sequence(options.rng)):
        result = conclude(
            lots,
            method,
            alternative=options.alternative,
            confidence_level=options.confidence_level,
            margin=options.margin,
            claim=options.claim,
            simultaneous=None if outside is None else outside[at[0]],
        )
        for name in (*_NUMBERS, "verdict", "fallback"):
            out[name][at] = getattr(result, name)
        for name in ("n_differing", "negative", "short", "df"):
            out[name][at] = np.concatenate([getattr(lot, name) for lot in lots])


def _replicates(block: Block, n_resamples: int, seed: np.random.SeedSequence) -> FloatArray:
    """Means of the systems over resamples of the clusters, or of the clusters of each clustering, shape (n_resamples, C)."""
    if block.crossed is None:
        return mean_replicates(block.scores.sums, block.scores.sizes, n_resamples, seed)
    places = block.counted
    finest = block.crossed[tuple(places)]
    first = first_places(np.asarray(finest.codes), len(finest.sums))
    corners = [np.asarray(block.crossed[d,].codes)[first] for d in places]
    sums = pigeonhole_sums(np.column_stack([finest.sums, finest.sizes]), corners, n_resamples, seed)
    held = sums[:, -1] > 0  # where few ids meet, a resample may hold no item at all
    return sums[held, :-1] / sums[held, -1:]


def _lots(
    blocks: list[Block], method: str, n_resamples: int, seed: np.random.SeedSequence
) -> Iterator[tuple[list[Prepared], Places]]:
    """Lots of pairs to conclude together, with their groups and places: thousands at a time, but not of replicates."""
    lots: list[Prepared] = []
    places: list[IntArray] = []  # groups above places
    resampled = method in RESAMPLED
    for block in progress(blocks, label="groups", unit="group"):
        gram = block.gram
        means = _replicates(block, n_resamples, seed).T if resampled else None
        for part, t in block.chunks(by_cluster=block.by_cluster, width=n_resamples if resampled else 0):
            a, b = block.a[part], block.b[part]
            both = None if gram is None else gram[a, b]
            lots.append(
                prepare(t, method, both=both, replicates=None if means is None else differences(means, a, b))
            )
            places.append(np.stack([np.full(len(a), block.group), block.place[part]]))
            if resampled or sum(one.shape[1] for one in places) >= _TOGETHER:
                yield lots, tuple(np.concatenate(places, axis=1))
                lots, places = [], []
    if lots:
        yield lots, tuple(np.concatenate(places, axis=1))


def refuse_without_factor(roles: Roles) -> None:
    """Options that only make sense for a comparison of systems."""
    parts = {name: getattr(roles, name) for name in ("item", "pairs", "baseline", "sample")}
    given = [name for name, value in parts.items() if value is not None]
    if given:
        raise MethodError(
            f"{', '.join(f'{name}=' for name in given)} belong{'s' if len(given) == 1 else ''} to a comparison of systems; name "
            "what tells these apart with factor=, or leave it out for the mean score of all rows."
        )
