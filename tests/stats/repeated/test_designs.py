"""What other numbers would do: against the formula, brute force over designs, and data drawn anew from designs of those numbers."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from evalci_accessor import stats
from evalci_accessor.exceptions import EvalCIError, MethodError
from evalci_accessor.stats.repeated.designs import levers


def balanced(components, n_clusters, n_items, n_samples):
    """A result with these components; what the design makes of them is written out here once more."""
    a, b, w = components
    parts = (a / n_clusters, b / (n_clusters * n_items), w / (n_clusters * n_items * n_samples))
    some = stats.variance_components([1, 2, 0, 2], 2, cluster=[0, 0, 1, 1])
    return dataclasses.replace(
        some, between_clusters=a, between_items=b, within_items=w, cluster_variance=parts[0], item_variance=parts[1],
        sample_variance=parts[2], std_error=sum(parts) ** 0.5, n_items=n_clusters * n_items, n_clusters=n_clusters,
        n_samples=float(n_samples), n_scores=n_clusters * n_items * n_samples,
    )  # fmt: skip


sizes = st.integers(2, 12)
component = st.floats(0.001, 3)


@given(st.tuples(component, component, component), sizes, sizes, sizes, sizes, sizes, sizes)
def test_projection_is_the_textbook_variance(components, g, m, n, new_g, new_m, new_n):
    a, b, w = components
    got = stats.projected_error(balanced(components, g, m, n), clusters=new_g, items=new_m, samples=new_n)
    assert_allclose(got, np.sqrt(a / new_g + b / (new_g * new_m) + w / (new_g * new_m * new_n)), rtol=1e-9)


def test_limits_and_broadcasting():
    found = balanced((0.3, 0.5, 2.0), 10, 4, 5)
    assert_allclose(stats.projected_error(found), found.std_error)
    assert_allclose(stats.projected_error(found, samples=np.inf), np.sqrt(0.3 / 10 + 0.5 / 40))
    assert_allclose(stats.projected_error(found, items=np.inf), np.sqrt(0.3 / 10))
    assert stats.projected_error(found, clusters=np.inf) == 0
    grid = stats.projected_error(found, samples=[[1], [5]], items=[2, 4, 8])
    assert grid.shape == (2, 3)
    assert_allclose(grid[1, 1], found.std_error)
    assert (np.diff(grid, axis=0) < 0).all()
    assert (np.diff(grid, axis=1) < 0).all()


def test_unequal_sizes_keep_their_ratios():
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 9, 12)
    cluster = np.repeat(np.arange(12), sizes)
    n = rng.integers(2, 9, len(cluster))
    s = rng.binomial(n, rng.beta(2, 2, 12)[cluster])
    found = stats.variance_components(s, n, cluster=cluster)
    assert_allclose(found.n_samples, 1 / np.mean(1 / n))
    assert found.n_scores == n.sum()
    assert_allclose(
        stats.projected_error(found, samples=found.n_samples, items=sizes.mean(), clusters=12),
        found.std_error,
    )
    parts = np.maximum([found.cluster_variance, found.item_variance, found.sample_variance], 0)
    assert_allclose(found.shares, parts / parts.sum())
    assert_allclose(stats.projected_error(found, clusters=48), found.std_error / 2)


def draw(rng, sizes, samples, n_sims):
    """Means over items of 0/1 scores from a nested model, and the totals of the first simulation's items."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    effect = rng.uniform(-0.25, 0.25, (n_sims, len(sizes)))[:, cluster]
    rate = 0.5 + effect + rng.uniform(-0.25, 0.25, (n_sims, len(cluster)))
    return rng.binomial(samples, rate), cluster


@pytest.mark.parametrize("sizes", [[4] * 12, [1, 2, 3, 8, 2, 4, 6, 1, 9, 4, 5, 3]], ids=["equal", "unequal"])
@pytest.mark.parametrize(
    ("name", "times"),
    [("samples", (1, 1, 2)), ("items", (1, 2, 1)), ("clusters", (2, 1, 1)), ("all", (2, 2, 2))],
)
def test_means_of_the_doubled_design_vary_as_projected(sizes, name, times):
    rng = np.random.default_rng(11)
    pilots, cluster = draw(rng, np.array(sizes), 3, 500)
    asked = {"samples": 3 * times[2], "items": np.mean(sizes) * times[1], "clusters": len(sizes) * times[0]}
    found = [stats.variance_components(s, 3, cluster=cluster) for s in pilots]
    projected = np.array([stats.projected_error(one, **asked) for one in found]) ** 2
    means = (
        draw(rng, np.tile(np.array(sizes) * times[1], times[0]), 3 * times[2], 4000)[0] / (3 * times[2])
    ).mean(axis=1)
    # The variance of 4,000 means has a relative standard error of sqrt(2 / 4000) = .022, the mean of 500 projections less.
    assert_allclose(projected.mean(), means.var(ddof=1), rtol=0.1)


@settings(max_examples=60)
@given(
    st.tuples(*[st.sampled_from([0.0, 0.01, 0.1, 0.4, 2.0])] * 3).filter(any),
    st.tuples(
        st.sampled_from([0.0, 1.0, 7.0, 90.0]), st.sampled_from([0.0, 0.5, 8.0]), st.sampled_from([0.3, 1.0])
    ),
)
def test_no_design_of_a_grid_is_better_than_the_best(components, costs):
    found = balanced(components, 10, 4, 5)
    samples, items = stats.best_counts(found, dict(zip(("cluster", "item", "sample"), costs, strict=True)))
    (a, b, w), (ca, cb, cw) = components, costs

    def waste(m, n):
        """Variance of a cluster's mean times what a cluster costs."""
        return (a + b / m + w / (m * n)) * (ca + m * cb + m * n * cw)

    numbers = np.concatenate([np.geomspace(1, 3000, 120), np.arange(2, 40)])
    least = min(waste(m, n) for m, n in itertools.product(numbers, numbers))
    assert samples >= 1
    assert items >= 1
    best = waste(min(items, 1e12), min(samples, 1e12))
    assert best <= least * (1 + 1e-9)


def test_the_best_counts_of_the_textbook():
    found = balanced((0.02, 0.05, 0.2), 10, 4, 5)
    samples, items = stats.best_counts(found, {"sample": 1, "item": 9, "cluster": 360})
    assert_allclose([samples, items], [np.sqrt(0.2 / 0.05 * 9), np.sqrt(0.05 / 0.02 * 360 / 9)])
    assert stats.best_counts(found) == (1, 1)
    assert stats.best_counts(found, {"item": 9}) == (np.sqrt(0.2 / 0.07 * 9), 1)
    assert_allclose(stats.best_counts(found, {"cluster": 100}), (1, np.sqrt(0.25 / 0.02 * 100)))
    assert stats.best_counts(balanced((0.0, 0.05, 0.2), 10, 4, 5), {"cluster": 1}) == (1, np.inf)
    alone = stats.variance_components([4, 1, 5, 2], 5)
    w, b = alone.within_items, alone.between_items
    assert_allclose(stats.best_counts(alone, {"item": 10}), [np.sqrt(w / b * 10), np.nan])
    # Each item is its own cluster, so it costs both.
    assert_allclose(stats.best_counts(alone, {"item": 4, "cluster": 6})[0], np.sqrt(w / b * 10))


@given(st.tuples(component, component, component), st.floats(1, 100), st.floats(1, 100))
def test_half_or_twice_the_best_wastes_an_eighth_at_most(components, item, cluster):
    found = balanced(components, 10, 4, 5)
    n, m = stats.best_counts(found, {"item": item, "cluster": cluster})
    if min(n, m) == 1:
        return
    a, b, w = components
    waste = lambda m, n: (a + b / m + w / (m * n)) * (cluster + m * item + m * n)  # noqa: E731
    for ratio in (0.5, 2):
        assert max(waste(m * ratio, n), waste(m, n * ratio)) <= 1.125 * waste(m, n) * (1 + 1e-9)


@given(st.tuples(component, component, component), st.floats(0, 50), st.floats(0, 500))
def test_gain_is_the_derivative(components, item, cluster):
    found = balanced(components, 10, 4, 5)
    costs = {"item": item, "cluster": cluster}
    got = levers(found, costs)
    step = 1e-6
    cost = lambda g, m, n: g * cluster + g * m * item + g * m * n  # noqa: E731
    assert_allclose(got.cost, cost(10, 4, 5))
    for i, name in enumerate(("clusters", "items", "samples")):
        now = [10.0, 4.0, 5.0]
        then = [value * (1 + step if j == i else 1) for j, value in enumerate(now)]
        fall = 1 - (stats.projected_error(found, **{name: then[i]}) / found.std_error) ** 2
        assert_allclose(got.gain[i], fall / (cost(*then) / cost(*now) - 1), rtol=1e-4)
        twice = [value * (2 if j == i else 1) for j, value in enumerate(now)]
        assert_allclose(got.cost_doubled[i], cost(*twice))
        assert_allclose(got.std_error_doubled[i], stats.projected_error(found, **{name: twice[i]}))
        assert_allclose(got.std_error_limit[i], stats.projected_error(found, **{name: np.inf}))
    assert_allclose(got.gain[0], 1)
    assert got.best.sum() == 1
    assert got.gain[got.best] >= got.gain.max() * (1 - 1e-8)


def test_while_only_calls_cost_nothing_beats_new_clusters():
    got = levers(balanced((0.02, 0.05, 0.2), 10, 4, 5), None)
    assert got.best.tolist() == [True, False, False]
    assert_allclose(got.gain, [1, got.share[1] + got.share[2], got.share[2]])
    tied = levers(balanced((0.0, 0.05, 0.2), 10, 4, 5), None)  # as good as new items, as far as is known
    assert tied.best.tolist() == [True, False, False]


def test_nothing_varies():
    found = stats.variance_components([5, 5, 5], 5)
    assert np.isnan(found.shares).all()
    assert stats.projected_error(found, samples=[1, 2]).tolist() == [0, 0]
    assert isinstance(stats.projected_error(found), np.ndarray)
    assert np.isnan(stats.best_counts(found)).all()
    got = levers(found, None)
    assert not got.best.any()
    assert np.isnan(got.gain).all()


@pytest.mark.parametrize(
    ("costs", "match"),
    [
        ({"samples": 1}, r"costs are of 'cluster', 'item', 'sample', and these name 'samples'"),
        ({"item": -1}, r"cost of one item must be a finite number of at least 0; got -1"),
        ({"cluster": np.inf}, r"got inf"),
        ({"cluster": np.nan}, r"got nan"),
        ({"item": "5"}, r"got '5'"),
        ({"item": True}, r"got True"),
        ({"sample": 0, "item": 2}, r"cost of a sample is 0, so any number"),
        ([1, 2, 3], r"mapping such as .* got list"),
    ],
)
def test_costs_that_cannot_be(costs, match):
    with pytest.raises(MethodError, match=match):
        stats.best_counts(balanced((0.1, 0.1, 0.1), 5, 4, 3), costs)


def test_designs_that_cannot_be():
    found = balanced((0.1, 0.1, 0.1), 5, 4, 3)
    with pytest.raises(MethodError, match=r"samples= must be at least 1; got 0\.5"):
        stats.projected_error(found, samples=[0.5, 2])
    with pytest.raises(MethodError, match=r"items= must be at least 1; got nan"):
        stats.projected_error(found, items=np.nan)
    with pytest.raises(MethodError, match=r"clusters= must be numbers; got str"):
        stats.projected_error(found, clusters="many")
    with pytest.raises(
        EvalCIError, match=r"`clusters` has shape \(\), `items` has shape \(2,\), `samples` has shape \(3,\)"
    ):
        stats.projected_error(found, items=[1, 2], samples=[1, 2, 3])
    with pytest.raises(MethodError, match=r"no clusters of several items"):
        stats.projected_error(stats.variance_components([4, 1, 5, 2], 5), clusters=3)
