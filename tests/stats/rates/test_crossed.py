"""Crossed clusterings, against brute force, sandwich (R), statsmodels, and a plain integral over the posteriors."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special

from evalci_accessor import stats
from evalci_accessor.exceptions import ClusterError, MethodError, MissingClusterError, ScoreError, WeightError
from evalci_accessor.stats.rates.averaged import averaged_posterior
from evalci_accessor.stats.rates.bootstrap import pigeonhole_sums
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.rates.moments import bell_mccaffrey_df, cr_variance, moments

from ..golden import golden

SETS = golden("crossed")["data"]


def made(rng, shape=(9, 6), share=0.8, several=1, graded=False):
    """Scores of some cells of a grid, with effects of each of its axes."""
    at = np.indices(shape).reshape(len(shape), -1)
    at = np.repeat(at[:, rng.random(at.shape[1]) < share], several, axis=1)
    effect = sum(rng.normal(size=n)[axis] for n, axis in zip(shape, at, strict=True))
    y = special.expit(effect + rng.normal(size=at.shape[1]))
    return (y if graded else (y > 0.4).astype(float)), list(at)


def double_sum(y, clusters, w=None):
    """The variance of a weighted mean by all pairs of scores that share any id."""
    w = np.ones(len(y)) if w is None else w
    residual = w * (y - np.average(y, weights=w))
    share = np.zeros((len(y), len(y)), dtype=bool)
    for ids in clusters:
        share |= ids[:, None] == ids
    return (residual[:, None] * residual * share).sum() / w.sum() ** 2


def numbers(result, *names):
    return [float(getattr(result, name)) for name in names]


def one_way(crossed, kind):
    """The variances of each clustering alone."""
    return np.concatenate([cr_variance(t, moments(t), kind) for t in crossed.margins])


def totals(y, clusters, w=None):
    return Crossed.from_rows(
        y,
        clusters,
        weights=w,
        bounded=bool(((y >= 0) & (y <= 1)).all()),
        binary=bool(((y == 0) | (y == 1)).all()),
    )


@pytest.mark.parametrize("shape", [(9, 6), (5, 4, 3), (4, 3, 3, 2)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("graded", [False, True])
def test_variance_is_the_double_sum_over_pairs_that_share_an_id(shape, weighted, graded):
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(20):
        y, clusters = made(rng, shape, several=2, graded=graded)
        w = rng.lognormal(size=len(y)) if weighted else None
        crossed = totals(y, clusters, w)
        brute = double_sum(y, clusters, w)
        if not crossed.negative("cr0")[0]:
            assert crossed.variance("cr0")[0] == pytest.approx(brute, rel=1e-10, abs=1e-15)
            compared += 1
        else:
            assert brute < 1e-12
            assert crossed.variance("cr0")[0] == one_way(crossed, "cr0").max()
    assert compared > 10


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", ["cr0", "cr1"])
def test_variance_is_that_of_sandwich(name, kind):
    one = SETS[name]
    for ways, columns in (("two", "ab"), ("three", "abc")):
        if ways in one:
            result = stats.crossed_ci(one["y"], [one[c] for c in columns], method=kind)
            assert result.std_error**2 == pytest.approx(one[ways][kind], rel=1e-10)
            assert result.estimate == pytest.approx(one["mean"], rel=1e-12)


def test_cr1_is_that_of_statsmodels():
    from statsmodels.regression.linear_model import OLS

    rng = np.random.default_rng(2)
    for _ in range(10):
        y, (a, b) = made(rng, (12, 9), share=0.6)
        fit = OLS(y, np.ones(len(y))).fit(
            cov_type="cluster", cov_kwds={"groups": np.stack([a, b], axis=1)}, use_t=True
        )
        crossed = totals(y, [a, b])
        if not crossed.negative("cr1")[0]:
            assert np.sqrt(crossed.variance("cr1")[0]) == pytest.approx(fit.bse[0], rel=1e-10)
            assert stats.crossed_ci(y, [a, b], method="cr1").df == fit.df_resid_inference


def test_the_case_of_items_and_judges():  # str-01
    y, item, judge = [1, 1, 0, 1, 1, 0, 0, 1, 0], list("aaabbbccc"), list("xyzxyzxyz")
    result = stats.crossed_ci(y, [item, judge], method="cr1")
    assert result.std_error == pytest.approx(0.260579, abs=5e-7)
    crossed = totals(np.array(y, dtype=float), [np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)])
    assert one_way(crossed, "cr1") == pytest.approx([0.01234568, 0.08641975], abs=5e-9)
    again = stats.crossed_ci([1, 0, 0, 1], [list("aabb"), list("xyxy")], method="cr1")
    assert 0 < again.ci_low < 0.5 < again.ci_high < 1  # a variance of -.083
    assert again.fallback


def test_a_negative_variance_gives_way_to_the_largest_of_the_clusterings_own():
    y = np.array([1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1.0])
    a, b = np.repeat([0, 1, 2], 4), np.tile([0, 1, 2, 3], 3)
    assert double_sum(y, [a, b]) < -0.001
    result = stats.crossed_ci(y, [a, b], method="cr0")
    alone = [
        stats.cluster_ci(*(np.bincount(c, weights=w) for w in (y, np.ones(12))), method="cr0") for c in (a, b)
    ]
    assert result.negative
    assert result.std_error == max(one.std_error for one in alone) > 0
    assert not stats.crossed_ci(y, [a, b]).negative


@pytest.mark.parametrize(
    "method", ["icc_averaged", "cr0", "cr1", "cr2", "cr3", "wilson", "korn_graubard", "logit"]
)
@pytest.mark.parametrize("order", [1, -1])
def test_nested_clusterings_are_the_coarsest(method, order):
    rng = np.random.default_rng(3)
    inner = rng.integers(0, 40, size=300)
    outer = inner // 4
    y = (rng.random(300) < special.expit(rng.normal(size=10))[outer]).astype(float)
    crossed = stats.crossed_ci(y, [inner, outer][::order], method=method)
    alone = stats.cluster_ci(*(np.bincount(outer, weights=w) for w in (y, np.ones(300))), method=method)
    # The posterior's nodes are put into bins.
    near = 1e-4 if method == "icc_averaged" else 1e-12
    for name in ("estimate", "std_error", "ci_low", "ci_high", "n_eff"):
        assert getattr(crossed, name) == pytest.approx(float(getattr(alone, name)), rel=near), name
    assert crossed.n_clusters == alone.n_clusters == 10
    assert crossed.df == pytest.approx(float(alone.df), nan_ok=True)


def test_df_is_the_fewest_of_the_clusterings():
    y, clusters = made(np.random.default_rng(4), (12, 5))
    expected = min(bell_mccaffrey_df(np.bincount(c) / len(y)) for c in clusters)
    assert stats.crossed_ci(y, clusters, method="cr2").df == pytest.approx(expected)
    assert stats.crossed_ci(y, clusters, method="cr1").df == 4


def plain_limits(y, clusters, outside):
    """The default by a plain double sum over the nodes of the clusterings' posteriors, without bins."""
    crossed = totals(y, clusters)
    n, p = len(y), y.mean()
    most = n / min(moments(t).effective_clusters[0] for t in crossed.margins) - 1
    parts = []
    for t in crossed.margins:
        mo = moments(t)
        post = averaged_posterior(t, mo)
        parts.append(((n / mo.effective_clusters[0] - 1) * post.rho[0], post.weight[0]))
    t = crossed.finest
    mo = moments(t)
    common = (n / mo.effective_clusters[0] - 1) * (
        averaged_posterior(t, mo).weight[0] @ averaged_posterior(t, mo).rho[0]
    )
    effect, weight = [], []
    for (e, u), (f, v) in itertools.product(*(list(zip(*part, strict=True)) for part in parts)):
        effect.append(1 + min(max(e + f - common, e, f), most))
        weight.append(u * v)
    n_k, weight = n / np.array(effect), np.array(weight)

    def root(target, up):
        low, high = 0.0, 1.0
        for _ in range(60):
            x = (low + high) / 2
            below = weight @ special.betainc(p * n_k + up, (1 - p) * n_k + 1 - up, x)
            low, high = (x, high) if below < target else (low, x)
        return low

    return root(outside, 0), root(1 - outside, 1), 1 / (weight / n_k).sum()


@pytest.mark.parametrize("several", [1, 3])
def test_default_is_the_plain_average_over_the_posteriors(several):
    rng = np.random.default_rng(8)
    for shape in ((12, 9), (30, 4)):
        y, clusters = made(rng, shape, several=several)
        result = stats.crossed_ci(y, clusters)
        low, high, n_eff = plain_limits(y, clusters, 0.025)
        width = high - low
        if not result.guard:
            assert result.ci_low == pytest.approx(low, abs=1e-4 * width)
            assert result.ci_high == pytest.approx(high, abs=1e-4 * width)
        assert result.n_eff == pytest.approx(n_eff, rel=1e-4)


def test_default_is_as_wide_as_that_of_each_clustering_alone():
    rng = np.random.default_rng(9)
    for shape, several in (((12, 9), 1), ((8, 8), 2), ((5, 5, 5), 1)):
        y, clusters = made(rng, shape, several=several)
        result = stats.crossed_ci(y, clusters)
        for ids in clusters:
            alone = stats.cluster_ci(np.bincount(ids, weights=y), np.bincount(ids))
            assert result.n_eff <= alone.n_eff * (1 + 1e-6)
            assert result.std_error >= alone.std_error * (1 - 1e-6)


def test_all_pass_gives_an_interval():
    for method in ("icc_averaged", "cr1", "wilson", "bootstrap_pigeonhole"):
        result = stats.crossed_ci(
            np.ones(40), [np.repeat(np.arange(8), 5), np.tile(np.arange(5), 8)], method=method, rng=1
        )
        assert 0.2 < result.ci_low < 0.9, method
        assert result.ci_high == 1


def test_scores_beyond_the_unit_interval_and_graded_ones():
    rng = np.random.default_rng(10)
    y, clusters = made(rng, (10, 8), graded=True)
    wide = stats.crossed_ci(10 * y - 3, clusters)
    assert wide.method == "cr2"
    graded = stats.crossed_ci(y, clusters)
    assert graded.method == "icc_averaged"
    by_cr2 = stats.crossed_ci(y, clusters, method="cr2")
    assert wide.ci_low == pytest.approx(10 * float(by_cr2.ci_low) - 3)
    assert 0.7 < (graded.ci_high - graded.ci_low) / (by_cr2.ci_high - by_cr2.ci_low) < 2


def enumerated(columns, corners):
    """Mean and variance of s/m over all equally likely draws of both clusterings."""
    sizes = [int(c.max()) + 1 for c in corners]
    ratios = []
    for first in itertools.product(range(sizes[0]), repeat=sizes[0]):
        a = np.bincount(first, minlength=sizes[0])
        for second in itertools.product(range(sizes[1]), repeat=sizes[1]):
            weight = a[corners[0]] * np.bincount(second, minlength=sizes[1])[corners[1]]
            ratios.append(weight @ columns[:, 0] / (weight @ columns[:, 1]))
    return np.mean(ratios), np.std(ratios), np.quantile(ratios, [0.1, 0.9])


def test_pigeonhole_is_the_law_of_all_draws():
    y = np.array([1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1.0])
    a, b = np.repeat([0, 1, 2, 3], 3), np.tile([0, 1, 2], 4)
    mean, spread, quantiles = enumerated(np.stack([y, np.ones(12)], axis=1), [a, b])
    n = 40_000
    result = stats.crossed_ci(
        y, [a, b], method="bootstrap_pigeonhole", n_resamples=n, rng=7, confidence_level=0.8
    )
    assert result.std_error == pytest.approx(spread, rel=4 / np.sqrt(2 * n))
    assert [float(result.ci_low), float(result.ci_high)] == pytest.approx(quantiles, abs=0.02)
    sums = pigeonhole_sums(np.stack([y, np.ones(12)], axis=1), [a, b], n, np.random.SeedSequence(7))
    assert (sums[:, 0] / sums[:, 1]).mean() == pytest.approx(mean, abs=4 * spread / np.sqrt(n))
    assert (sums[:, 1] == 12).all()  # a full grid: each draw holds as many scores


def test_pigeonhole_variance_is_owens():
    """Of a full grid with independent effects the expected variance is that of both clusterings plus the cells' (Owen 2007)."""
    rng = np.random.default_rng(12)
    y, clusters = made(rng, (30, 25), share=2)
    crossed = totals(y, clusters)
    result = stats.crossed_ci(y, clusters, method="bootstrap_pigeonhole", rng=3)
    cells = ((y - y.mean()) ** 2).sum() / len(y) ** 2
    r = y - y.mean()
    alone = one_way(crossed, "cr0").sum()
    assert r.sum() == pytest.approx(0, abs=1e-9)
    assert result.std_error**2 == pytest.approx(alone + cells, rel=0.06)


def test_pigeonhole_where_ids_seldom_meet():
    """A resample may hold no score at all; it tells nothing."""
    result = stats.crossed_ci(
        [1, 0, 1, 1, 0], [[0, 1, 2, 3, 4], [0, 1, 2, 3, 3]], method="bootstrap_pigeonhole", rng=1
    )
    assert 0 <= result.ci_low < 0.6 < result.ci_high <= 1


@settings(max_examples=15, deadline=None)
@example(139, False)  # of some methods nan on both sides
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_order_of_rows_names_and_clusterings_do_not_matter(seed, graded):
    rng = np.random.default_rng(seed)
    y, clusters = made(rng, (6, 5, 3), graded=graded)
    if min(len(np.unique(c)) for c in clusters) < 2:
        return
    w = rng.lognormal(size=len(y))  # so that no two clusters are alike, whose draws would go by name
    order = rng.permutation(len(y))
    renamed = [rng.permutation(20)[c][order] for c in clusters]
    for method in ("auto", "cr1", "cr2", "bootstrap_pigeonhole"):
        kw = {"method": method, "weights": w, "rng": 1, "n_resamples": 200}
        plain = stats.crossed_ci(y, clusters, **kw)
        turned = stats.crossed_ci(y[order], renamed[::-1], **(kw | {"weights": 7.3 * w[order]}))
        for name in ("estimate", "std_error", "ci_low", "ci_high", "n_eff"):
            want = pytest.approx(float(getattr(turned, name)), rel=1e-6, abs=1e-9, nan_ok=True)
            assert getattr(plain, name) == want, (method, name)


def test_a_weight_of_zero_is_an_absent_score():
    rng = np.random.default_rng(6)
    y, clusters = made(rng, (8, 6))
    w = np.where(rng.random(len(y)) < 0.3, 0.0, rng.lognormal(size=len(y)))
    keep = w > 0
    for method in ("auto", "cr2"):
        all_ = stats.crossed_ci(y, clusters, weights=w, method=method)
        some = stats.crossed_ci(y[keep], [c[keep] for c in clusters], weights=w[keep], method=method)
        names = ("ci_low", "ci_high", "n", "n_eff")
        assert numbers(all_, *names) == pytest.approx(numbers(some, *names), rel=1e-9)


def test_groups_are_those_of_single_calls():
    rng = np.random.default_rng(14)
    parts = [made(rng, (7, 5)), made(rng, (6, 9))]
    y = np.concatenate([part[0] for part in parts])
    clusters = [np.concatenate([part[1][d] for part in parts]) for d in range(2)]
    groups = np.repeat([0, 1], [len(part[0]) for part in parts])
    crossed = Crossed.from_rows(y, clusters, groups=groups, n_groups=2, bounded=True, binary=True)
    from evalci_accessor.options import RateOptions
    from evalci_accessor.stats.rates.clustered import Given, rate

    both = rate(crossed.margins[0], RateOptions(), Given(crossed=crossed))
    for h, (scores, ids) in enumerate(parts):
        one = stats.crossed_ci(scores, ids)
        assert [both.ci_low[h], both.ci_high[h]] == pytest.approx(numbers(one, "ci_low", "ci_high"), rel=1e-9)
        part = crossed.one(h)
        assert rate(part.margins[0], RateOptions(), Given(crossed=part)).ci_low == pytest.approx(
            float(one.ci_low), rel=1e-9
        )


@pytest.mark.parametrize(
    ("scores", "clusters", "options", "error", "words"),
    [
        ([1, 0], [[0, 1]], {}, MethodError, "are 2 to 4; got 1"),
        ([1, 0, 1], [[0, 1], [0, 1], [1, 1]], {}, ClusterError, r"shape \(2,\)\. Turn it over, as with \.T"),
        ([1, 0], None, {}, ClusterError, "an id for each of the 2 scores; got NoneType"),
        ([1, 0], [[["a"], ["b"]], [0, 1]], {}, ClusterError, "cannot be told apart by hashing"),
        ([1, 0], [[pd.NA, "a"], [0, 1]], {}, MissingClusterError, "1 of 2 ids of clustering 0"),
        ([1, 0], ["ab", 5], {}, ClusterError, r"shape \(1,\)"),
        (
            [1, 0],
            [["a", None], ["a", "b"]],
            {},
            MissingClusterError,
            "1 of 2 ids of clustering 0 are missing",
        ),
        (
            [1, 0],
            [np.array(["a", "b"]), np.array([1, np.nan])],
            {},
            MissingClusterError,
            "1 of 2 ids of clustering 1",
        ),
        ([1, 0], [[0, 1]] * 5, {}, MethodError, "are 2 to 4; got 5"),
        ([1, 0], [[0, 0], [0, 1]], {}, ClusterError, "a single cluster"),
        ([1, 0], [[0, 1], [0, 1, 2]], {}, ClusterError, r"shape \(3,\)"),
        ([], [[], []], {}, ScoreError, "at least one score"),
        ([1, 0], [[0, 1], [0, 1]], {"method": "bootstrap_t"}, MethodError, "bootstrap_pigeonhole"),
        ([1, 0], [[0, 1], [0, 1]], {"weights": [0, 0]}, WeightError, "not all 0"),
        ([1, 0], [[0, 1], [0, 1]], {"weights": [1, -1]}, WeightError, ">= 0"),
    ],
)
def test_what_cannot_be_is_refused(scores, clusters, options, error, words):
    with pytest.raises(error, match=words):
        stats.crossed_ci(scores, clusters, **options)


def test_a_frame_of_ids_with_a_row_for_each_clustering():
    y, clusters = made(np.random.default_rng(2), (6, 5))
    frame = pd.DataFrame({"a": clusters[0].astype(str), "b": clusters[1]}).T
    assert numbers(stats.crossed_ci(y, frame), "ci_low", "ci_high") == numbers(
        stats.crossed_ci(y, clusters), "ci_low", "ci_high"
    )


def test_ids_of_several_types_stay_apart():
    y = np.array([1, 0, 1, 1, 0, 1, 0, 0.0])
    mixed, plain = [1, "1", 1, "1", 2, 2, "2", "2"], [0, 1, 0, 1, 2, 2, 3, 3]
    other = [0, 1, 2, 3, 0, 1, 2, 3]
    assert numbers(stats.crossed_ci(y, [mixed, other]), "ci_low", "n_clusters") == numbers(
        stats.crossed_ci(y, [plain, other]), "ci_low", "n_clusters"
    )


@pytest.mark.parametrize("scale", [1e-300, 1e-162, 1e160, 1e305])
def test_any_scale_of_the_weights(scale):
    y, clusters = made(np.random.default_rng(30), (8, 6))
    w = np.random.default_rng(1).choice([1.0, 2.0, 3.0], size=len(y))
    for method in ("auto", "cr2", "korn_graubard"):
        names = ("ci_low", "ci_high", "n_eff")
        plain, scaled = (
            numbers(stats.crossed_ci(y, clusters, weights=v, method=method), *names) for v in (w, w * scale)
        )
        assert scaled == pytest.approx(plain, rel=1e-9)


def test_a_further_clustering_does_not_undo_the_guard_of_the_first():
    """Rates that go with the sizes of documents; prompts that are noise."""
    fired = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        size = np.round(np.exp(rng.normal(1.2, 0.9, 30))).astype(int) + 1
        doc = np.repeat(np.arange(30), size)
        rate = special.expit(2.2 - 1.3 * np.log(size / 4) + 0.8 * rng.normal(size=30))
        y = (rng.random(len(doc)) < rate[doc]).astype(float)
        alone = stats.cluster_ci(np.bincount(doc, weights=y), np.bincount(doc))
        both = stats.crossed_ci(y, [doc, rng.integers(0, 12, len(doc))])
        assert both.guard >= alone.guard
        if alone.guard:
            assert both.ci_low <= alone.ci_low + 1e-9
            assert both.ci_high >= alone.ci_high - 1e-9
            fired += 1
    assert fired > 5


def test_one_clustering_has_no_pigeonholes():
    with pytest.raises(MethodError, match="there is one; name several"):
        stats.cluster_ci([1, 2], [3, 3], method="bootstrap_pigeonhole")


def test_design_effect_is_by_inclusion_and_exclusion():
    from evalci_accessor.stats.rates.design import crossed_design, design

    y, clusters = made(np.random.default_rng(21), (9, 7), several=3)
    crossed = totals(y, clusters)
    joint = crossed_design(crossed)
    every = [design(t) for t in (*crossed.margins, crossed.finest)]
    excess = [float(one.design_effect) - 1 for one in every]
    assert float(joint.design_effect) == pytest.approx(1 + excess[0] + excess[1] - excess[2], rel=1e-12)
    assert joint.n_clusters == 7
    assert np.isnan(joint.icc)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert crossed_design(totals(np.ones(12), [np.repeat([0, 1, 2], 4), np.tile([0, 1], 6)])).n == 12


@pytest.mark.parametrize("method", ["icc_averaged", "cr1", "cr2", "bootstrap_pigeonhole"])
def test_the_same_clustering_twice_is_one(method):
    y, (a, _) = made(np.random.default_rng(40), (9, 6))
    twice = stats.crossed_ci(y, [a, 100 - a], method=method, rng=1)
    alone = stats.cluster_ci(
        np.bincount(a, weights=y), np.bincount(a), method=method.replace("pigeonhole", "percentile"), rng=1
    )
    near = {"icc_averaged": 1e-4, "bootstrap_pigeonhole": 0.1}.get(method, 1e-12)
    assert numbers(twice, "std_error", "ci_low", "ci_high") == pytest.approx(
        numbers(alone, "std_error", "ci_low", "ci_high"), rel=near
    )
    assert twice.df == pytest.approx(float(alone.df), nan_ok=True)


def test_design_effect_leaves_out_what_is_nested_and_is_at_least_each_alone():
    from evalci_accessor.stats.rates.design import crossed_design, design

    y, (a, b) = made(np.random.default_rng(41), (12, 6), several=2)
    three, two = crossed_design(totals(y, [a, a // 3, b])), crossed_design(totals(y, [a // 3, b]))
    assert three.design_effect == pytest.approx(float(two.design_effect), rel=1e-12)
    bound = 0
    for seed in range(60):
        y, clusters = made(np.random.default_rng(seed), (5, 4), share=0.7, several=4)
        crossed = totals(y, clusters)
        own = max(float(design(t).design_effect) for t in crossed.margins)
        joint = float(crossed_design(crossed).design_effect)
        assert joint >= own * (1 - 1e-12)
        bound += joint == pytest.approx(own, rel=1e-12)
    assert bound > 3


def test_what_three_clusterings_have_in_common_is_counted_once():
    """The mean design effect by a plain sum over the nodes: less the means of the pairs, plus that of all three."""
    rng = np.random.default_rng(3)
    y, clusters = made(rng, (5, 5, 4), several=6)
    crossed = totals(y, clusters)
    n, posts, excess = len(y), {}, {}
    for some, (t, mo) in crossed.parts.items():
        posts[some] = averaged_posterior(t, mo)
        excess[some] = n / mo.effective_clusters[0] - 1
    mean = {some: excess[some] * float(post.quasi_icc[0]) for some, post in posts.items()}
    pairs = sum(value for some, value in mean.items() if len(some) == 2)
    e, f, g = (excess[d,] * posts[d,].rho[0] for d in range(3))
    e, f, g = e[:, None, None], f[:, None], g
    most = max(excess[d,] for d in range(3))

    def effect(three):
        joint = np.minimum(np.maximum(np.maximum(np.maximum(e + f + g - pairs + three, e), f), g), most)
        return 1 + np.einsum("i,j,k,ijk->", *(posts[d,].weight[0] for d in range(3)), joint)

    want, wrong = effect(mean[0, 1, 2]), effect(-mean[0, 1, 2])
    assert want > 1.01 * wrong
    assert n / crossed.posterior().n_eff[0] == pytest.approx(want, rel=2e-3)
