"""Variance components of repeated samples: identities, known components in simulation, and the coverage of their intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from evalci_accessor import stats
from evalci_accessor.exceptions import ClusterError, EvalCIError, MethodError, SamplesError, ScoreError
from evalci_accessor.stats.icc import anova_parts

COMPONENTS = ("between_clusters", "between_items", "within_items")


def drawn(rng, kind, n_clusters, *, uneven=False, items=5, samples=4):
    """Totals of items with known components: normal ones, or rates that are a sum of two uniform effects."""
    sizes = rng.integers(1, 2 * items, n_clusters) if uneven else np.full(n_clusters, items)
    cluster = np.repeat(np.arange(n_clusters), sizes)
    n = rng.integers(1, 2 * samples, len(cluster)) if uneven else np.full(len(cluster), samples)
    if kind == "normal":
        truth = (0.3, 0.5, 1.0)
        level = rng.normal(0, np.sqrt(0.3), n_clusters)[cluster] + rng.normal(0, np.sqrt(0.5), len(cluster))
        item = np.repeat(np.arange(len(n)), n)
        y = level[item] + rng.normal(size=len(item))
        return np.bincount(item, y), n, np.bincount(item, y * y), cluster, truth
    effect = 0.5**2 / 12
    rate = 0.5 + rng.uniform(-0.25, 0.25, n_clusters)[cluster] + rng.uniform(-0.25, 0.25, len(cluster))
    return rng.binomial(n, rate), n, None, cluster, (effect, effect, 0.25 - 2 * effect)


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("kind", ["normal", "passes"])
@pytest.mark.parametrize("clustered", [False, True])
def test_known_components_are_recovered(kind, uneven, clustered):
    rng = np.random.default_rng(20)
    found = []
    for _ in range(400):
        s, n, ss, cluster, truth = drawn(rng, kind, 25, uneven=uneven)
        if not clustered:  # one item of each cluster, so that the two are one
            _, first = np.unique(cluster, return_index=True)
            s, n, ss = s[first], n[first], None if ss is None else ss[first]
        got = stats.variance_components(s, n, ss, cluster=cluster if clustered else None)
        found.append([getattr(got, name) for name in COMPONENTS])
    found = np.array(found)
    if not clustered:
        assert np.isnan(found[:, 0]).all()
        found, truth = found[:, 1:], (truth[0] + truth[1], truth[2])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - truth) < 3 * error).all()


@pytest.mark.slow
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("kind", ["normal", "passes"])
@pytest.mark.parametrize(("n_clusters", "least"), [(10, 0.85), (50, 0.91), (200, 0.92)])
def test_coverage_of_the_intervals(kind, uneven, n_clusters, least):
    rng = np.random.default_rng(n_clusters)
    held = []
    for _ in range(1000):
        s, n, ss, cluster, truth = drawn(rng, kind, n_clusters, uneven=uneven)
        got = stats.variance_components(s, n, ss, cluster=cluster)
        limits = [(getattr(got, f"{name}_low"), getattr(got, f"{name}_high")) for name in COMPONENTS]
        held.append([low <= true <= high for (low, high), true in zip(limits, truth, strict=True)])
    covered = np.mean(held, axis=0)
    assert covered[0] >= least
    assert covered[1] >= 0.9
    assert covered[2] >= 0.93


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**31))
def test_cr1_of_item_means_is_the_total(n_clusters, size, seed):
    """Clusters of one size, items of any number of samples."""
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 6, n_clusters * size)
    s = rng.binomial(n, 0.5)
    cluster = np.repeat(np.arange(n_clusters), size)
    got = stats.variance_components(s, n, cluster=cluster)
    sums, squares = (np.bincount(cluster, weights=w) for w in (s / n, (s / n) ** 2))
    cr1 = (
        stats.cluster_ci(sums, np.full(n_clusters, size), ss=squares, method="cr1") if (s / n).std() else None
    )
    if cr1 is not None and cr1.std_error > 0:
        assert_allclose(got.std_error, cr1.std_error, rtol=1e-10)
    total = got.cluster_variance + got.item_variance + got.sample_variance
    assert_allclose(total, got.std_error**2, rtol=1e-9, atol=1e-15)
    assert got.estimate == pytest.approx((s / n).mean())


def test_without_clusters_the_total_is_the_variance_of_item_means_pk_08():
    y = np.array([[1, 1, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 0]])
    got = stats.variance_components(y.sum(axis=1), 5)
    assert_allclose([got.estimate, got.std_error], [0.6, 0.182574], atol=6e-7)
    assert_allclose(got.item_variance + got.sample_variance, got.std_error**2, rtol=1e-12)
    assert got.cluster_variance == 0
    assert_allclose(got.within_items, y.var(axis=1, ddof=1).mean())
    alone = stats.variance_components(y.sum(axis=1), 5, cluster=["a", "b", "c", "d"])
    assert_allclose([alone.between_items, alone.std_error], [got.between_items, got.std_error])
    assert np.isnan(alone.between_clusters)


def test_items_weigh_equally_pk_07():
    got = stats.variance_components([8, 0, 3], [10, 2, 3])
    assert_allclose([got.estimate, got.std_error], [0.6, 0.305505], atol=6e-7)


def test_balanced_data_are_the_nested_analysis_of_variance():
    rng = np.random.default_rng(3)
    y = rng.normal(size=(6, 1, 1)) + rng.normal(size=(6, 4, 1)) + rng.normal(size=(6, 4, 3))
    got = stats.variance_components(
        y.sum(-1).ravel(), 3, (y**2).sum(-1).ravel(), cluster=np.repeat(np.arange(6), 4)
    )
    means = y.mean(-1)
    msb, msw, n0 = (
        v.item() for v in anova_parts(stats.ClusterTotals.from_sums(means.sum(1), [4] * 6, (means**2).sum(1)))
    )
    within = y.var(axis=-1, ddof=1).mean()
    assert_allclose(
        [getattr(got, name) for name in COMPONENTS], [(msb - msw) / n0, msw - within / 3, within], rtol=1e-9
    )


def test_the_jackknife_leaves_out_one_cluster():
    rng = np.random.default_rng(5)
    s, n, ss, cluster, _ = drawn(rng, "normal", 8, uneven=True)
    got = stats.variance_components(s, n, ss, cluster=cluster, confidence_level=0.9)
    without = [
        stats.variance_components(s[c], n[c], ss[c], cluster=cluster[c])
        for c in (cluster != g for g in range(8))
    ]
    half = 1.894578605 * np.sqrt(7 / 8 * 8 * np.var([r.between_items for r in without]))
    assert_allclose(got.between_items_high, got.between_items + half, rtol=1e-8)
    logs = np.log([r.within_items for r in without])
    assert_allclose(
        got.within_items_low, got.within_items / np.exp(1.894578605 * np.sqrt(7 * np.var(logs))), rtol=1e-8
    )


def test_scale_and_order_do_not_matter():
    s, n, ss, cluster, _ = drawn(np.random.default_rng(9), "normal", 7, uneven=True)
    got = stats.variance_components(s, n, ss, cluster=cluster)
    turned = np.random.default_rng(1).permutation(len(s))
    other = stats.variance_components(
        3 * s[turned], n[turned], 9 * ss[turned], cluster=cluster[turned].astype(str)
    )
    for name in COMPONENTS:
        for end in ("", "_low", "_high"):
            assert_allclose(getattr(other, name + end), 9 * getattr(got, name + end), rtol=1e-9, atol=1e-12)


def test_items_with_one_sample_take_the_variance_of_the_others():
    some = stats.variance_components([3, 1, 1], [4, 4, 1])
    assert_allclose(some.within_items, 0.25)
    assert_allclose(some.sample_variance, (0.25 / 4 + 0.25 / 4 + 0.25) / 9)


def test_all_the_same():
    got = stats.variance_components([5, 5, 5], 5)
    assert (got.std_error, got.between_items, got.within_items) == (0, 0, 0)
    assert np.isnan(
        [got.within_items_low, got.within_items_high, got.between_items_low, got.between_items_high]
    ).all()


@pytest.mark.parametrize("n_items", [3, 7, 30])
def test_clusters_that_are_alike_tell_nothing_of_their_differences(n_items):
    """Whatever the rounding: with one value in each cluster nothing is known of how far it could vary."""
    got = stats.variance_components([1] * n_items, 3)
    assert got.between_items < 0
    assert got.within_items > 0
    assert np.isnan(
        [got.within_items_low, got.within_items_high, got.between_items_low, got.between_items_high]
    ).all()
    pairs = stats.variance_components([1, 2] * n_items, 3, cluster=np.repeat(np.arange(n_items), 2))
    assert np.isnan([pairs.between_clusters_low, pairs.between_clusters_high, pairs.between_items_high]).all()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "match"),
    [
        (([1, 0], [1, 1]), {}, SamplesError, "all 2 items have a single sample"),
        (([1, 0], [1, 0]), {}, SamplesError, "1 of 2 items have a number of samples"),
        (([1], [5]), {}, ClusterError, r"1 item\(s\) cannot tell"),
        (([1, 2, 3], 5), {"cluster": [0, 0, 0]}, ClusterError, "single cluster"),
        (
            ([1, 2, 3], 5),
            {"cluster": [0, 1]},
            ClusterError,
            r"each of the 3 items; got an array of shape \(2,\)",
        ),
        (([1, 2, 3], 5), {"cluster": [0.0, 1.0, np.nan]}, ClusterError, "float64"),
        (([1.5, 2, 3], 5), {}, ScoreError, "pass `ss`"),
        (([1, 6, 3], 5), {}, ScoreError, "pass `ss`"),
        (([10, 2, 3], 5, [1, 1, 2]), {}, ScoreError, "at least s"),
        (
            ([10, 2, 3], 5, [20, 4]),
            {},
            ScoreError,
            r"one sum of squares for each of the 3 items; got shape \(2,\)",
        ),
        (([1, 2, 3], [5, 5]), {}, EvalCIError, r"`s` has shape \(3,\), `n` has shape \(2,\)"),
        (([[1, 2, 3]], 5), {}, ScoreError, "got 2 axes"),
        (([1, np.nan, 3], 5), {}, EvalCIError, "finite"),
        (([1, 2, 3], 5), {"confidence_level": 95}, MethodError, r"Did you mean 0\.95"),
    ],
)
def test_totals_that_cannot_be(arguments, options, error, match):
    with pytest.raises(error, match=match):
        stats.variance_components(*arguments, **options)


def test_ids_of_a_series():
    s, n = [3, 1, 2, 2, 0, 3], [4] * 6
    ids = ["a", "a", "b", "b", "c", "c"]
    want = stats.variance_components(s, n, cluster=ids)
    got = stats.variance_components(s, n, cluster=np.array(ids, dtype=object))
    assert [getattr(got, name) for name in COMPONENTS] == [getattr(want, name) for name in COMPONENTS]
    with pytest.raises(ClusterError, match="type object"):
        stats.variance_components(s, n, cluster=np.array([*ids[:5], None], dtype=object))


def test_correlations():
    """Those of the one-way and of the nested law, by brute force over pairs of scores."""
    rng = np.random.default_rng(11)
    cluster, item = np.repeat(np.arange(400), 15), np.repeat(np.arange(2000), 3)
    y = rng.normal(size=400)[cluster] + 1.5 * rng.normal(size=2000)[item] + rng.normal(size=6000)
    found = stats.variance_components(
        np.bincount(item, y), np.full(2000, 3), np.bincount(item, y**2), cluster=np.repeat(np.arange(400), 5)
    )
    z = ((y - y.mean()) / y.std()).reshape(400, 5, 3)
    same_item = np.mean([(z[:, :, a] * z[:, :, b]).mean() for a in range(3) for b in range(a)])
    pairs = ((i, j, a, b) for i in range(5) for j in range(i) for a in range(3) for b in range(3))
    same_cluster = np.mean([(z[:, i, a] * z[:, j, b]).mean() for i, j, a, b in pairs])
    assert_allclose([found.icc, found.item_icc], [same_cluster, same_item], atol=0.005)
    assert_allclose([found.icc, found.item_icc], [1 / 4.25, 3.25 / 4.25], atol=0.05)
    lone = stats.variance_components([4, 1, 5, 2], [5, 5, 5, 5])
    assert np.isnan(lone.icc)
    assert 0 < lone.item_icc < 1
