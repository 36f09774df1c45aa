"""Planning: against closed forms, enumeration, the covariance of every item, and itself the other way round."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, multinomial, nct, norm, t

from evalci_accessor import stats
from evalci_accessor.exceptions import ClusterError, EvalCIError, MethodError, ScoreRangeError
from evalci_accessor.stats.pairs.laws import tango_z
from evalci_accessor.stats.planning.shared import Pattern, smallest

DOMINATED = [231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1]
PAIR = {"icc": 0.1, "n_clusters": 40, "items_per_cluster": 5, "disagreement": 0.2}
WIDTH = {"icc": 0.3, "n_clusters": 40, "items_per_cluster": 5}
need_clusters = stats.required_clusters


def without(options, *names):
    return {name: value for name, value in options.items() if name not in names}


# -- closed forms ------------------------------------------------------------------------------------------------------


def covariance(sizes, variance, icc, item_icc, r):
    """Of every sample of every item."""
    cluster = np.repeat(np.arange(len(sizes)), np.array(sizes) * r)
    item = np.repeat(np.arange(sum(sizes)), r)
    same_cluster, same_item = cluster[:, None] == cluster, item[:, None] == item
    out = np.where(same_item, item_icc, np.where(same_cluster, icc, 0.0))
    np.fill_diagonal(out, 1.0)
    return variance * out


@pytest.mark.parametrize("sizes", [[5] * 6, [1, 2, 3, 10], DOMINATED])
@pytest.mark.parametrize(
    ("icc", "item_icc", "r"), [(0.3, 0.3, 1), (0.1, 0.4, 3), (0.0, 1.0, 2), (0.2, 0.2, 4)]
)
def test_standard_error_is_that_of_the_covariance_of_all_samples(sizes, icc, item_icc, r):
    sizes = sizes if sum(sizes) * r < 1200 else sizes[3:]
    full = covariance(sizes, 0.19, icc, item_icc, r)
    want = np.sqrt(full.mean())  # every sample counts the same
    more = {
        "icc": icc,
        "n_clusters": len(sizes),
        "items_per_cluster": sizes,
        "n_samples": r,
        "item_icc": item_icc,
    }
    pair = stats.power(0.1, disagreement=0.2, **more)
    assert pair.std_error == pytest.approx(want, rel=1e-12)
    width = stats.half_width(std_dev=np.sqrt(0.19), **more)
    assert width.std_error == pytest.approx(want, rel=1e-12)
    rate = stats.half_width((1 - np.sqrt(1 - 4 * 0.19)) / 2, **more, n_sims=10)
    assert rate.std_error == pytest.approx(want, rel=1e-9)
    assert pair.n_items == width.n_items == sum(sizes)
    alone = 0.19 * (item_icc + (1 - item_icc) / r) / sum(sizes)
    assert pair.design_effect == pytest.approx(want**2 / alone, rel=1e-12)


def test_design_effect_is_kishs():
    plan = stats.power(0.1, **PAIR)
    assert plan.design_effect == pytest.approx(1 + 4 * 0.1)
    sizes = np.array(DOMINATED)
    plan = stats.half_width(0.8, icc=0.2, n_clusters=12, items_per_cluster=DOMINATED, n_sims=10)
    assert plan.design_effect == pytest.approx(1 + ((sizes**2).sum() / sizes.sum() - 1) * 0.2)
    # Eldridge, Ashby and Kerry (2006): 1 + ((cv**2 + 1) m - 1) rho
    cv2 = sizes.var() / sizes.mean() ** 2
    assert plan.design_effect == pytest.approx(1 + ((cv2 + 1) * sizes.mean() - 1) * 0.2)


@pytest.mark.parametrize("clusters", [2, 3, 10, 60])
@pytest.mark.parametrize("difference", [0.05, 0.2, -0.4])
def test_cr2_of_equal_sizes_is_the_noncentral_t(clusters, difference):
    plan = stats.power(difference, icc=0.15, n_clusters=clusters, items_per_cluster=8, std_dev=0.7)
    error = 0.7 * np.sqrt((1 + 7 * 0.15) / (8 * clusters))
    df = clusters - 1
    want = nct.sf(t.isf(0.025, df), df, abs(difference) / error)
    assert plan.power == pytest.approx(want, abs=1e-3)
    assert plan.method == "cr2"


@pytest.mark.parametrize(("clusters", "power"), [(12, 0.8), (30, 0.9)])
def test_statsmodels_agrees_on_cluster_means(clusters, power):
    """A paired t test of the means of clusters, in units of their standard deviation."""
    from statsmodels.stats.power import TTestPower

    spread = 0.7 * np.sqrt((1 + 7 * 0.15) / 8)
    effect = TTestPower().solve_power(nobs=clusters, alpha=0.025, power=power, alternative="larger")
    ask = {"icc": 0.15, "items_per_cluster": 8, "std_dev": 0.7}
    plan = stats.mde(power=power, n_clusters=clusters, **ask)
    assert plan.difference == pytest.approx(effect * spread, rel=1e-3)
    n = TTestPower().solve_power(effect_size=0.2 / spread, alpha=0.025, power=power, alternative="larger")
    assert need_clusters(difference=0.2, power=power, **ask).n_clusters == math.ceil(n)


def test_noninferiority_of_equal_sizes_is_the_noncentral_t():
    plan = stats.power(-0.02, margin=0.2, icc=0.15, n_clusters=20, items_per_cluster=8, std_dev=0.7)
    error = 0.7 * np.sqrt((1 + 7 * 0.15) / 160)
    assert plan.power == pytest.approx(nct.sf(t.isf(0.05, 19), 19, 0.18 / error), abs=1e-3)


def test_equivalence_of_equal_sizes_is_the_integral_of_the_two_tests():
    """Schuirmann's two one-sided tests: Phillips (1990) integrates over the chi distribution of the standard deviation."""
    plan = stats.power(
        0.01, margin=0.15, claim="equivalence", icc=0.0, n_clusters=30, items_per_cluster=1, std_dev=0.3
    )
    error, df = 0.3 / np.sqrt(30), 29
    q = (np.arange(20_000) + 0.5) / 20_000
    from scipy.stats import chi2

    reach = (0.15 - t.isf(0.05, df) * error * np.sqrt(chi2.ppf(q, df) / df)) / error
    shift = 0.01 / error
    want = np.maximum(norm.cdf(reach - shift) - norm.cdf(-reach - shift), 0).mean()
    assert plan.power == pytest.approx(want, abs=1e-3)


@pytest.mark.parametrize(
    ("n", "disagreement", "difference"), [(100, 0.3, 0.15), (200, 0.2, 0.1), (400, 0.15, 0.05)]
)
def test_single_items_have_the_power_of_mcnemars_test(n, disagreement, difference):
    """Connor (1987), and Miettinen (1968): z = (sqrt(n) d - z_a sqrt(D)) / sqrt(D - d**2)."""
    plan = stats.power(difference, icc=0, n_clusters=n, items_per_cluster=1, disagreement=disagreement)
    z = (np.sqrt(n) * difference - norm.isf(0.025) * np.sqrt(disagreement)) / np.sqrt(
        disagreement - difference**2
    )
    assert plan.method == "tango"
    assert plan.power == pytest.approx(norm.cdf(z), abs=0.015)


@pytest.mark.parametrize(
    ("n", "difference", "margin", "alpha"),
    [(60, 0.2, None, 0.025), (100, 0.15, None, 0.025), (60, 0.0, 0.15, 0.05)],
)
def test_single_items_against_every_table(n, difference, margin, alpha):
    """All outcomes, with their probabilities."""
    disagreement = 0.3
    plan = stats.power(
        difference, icc=0, n_clusters=n, items_per_cluster=1, disagreement=disagreement, margin=margin
    )
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1))
    b, c = b[b + c <= n], c[b + c <= n]
    p = [(disagreement + difference) / 2, (disagreement - difference) / 2, 1 - disagreement]
    weight = multinomial.pmf(np.stack([b, c, n - b - c], axis=-1), n, p)
    z = tango_z(b.astype(float), c.astype(float), float(n), -(margin or 0.0))
    exact = weight[z >= norm.isf(alpha)].sum()
    assert plan.power == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize("sizes", [DOMINATED, [60, 3, 2, 1], [2, 2, 8, 8, 8, 30]])
@pytest.mark.parametrize(
    ("difference", "margin", "claim"), [(0.25, None, None), (-0.25, None, None), (0.02, 0.3, "equivalence")]
)
def test_cr2_of_unequal_sizes_is_that_of_normal_clusters(sizes, difference, margin, claim):
    """Drawn one by one: the estimate and the residuals depend on each other."""
    plan = stats.power(
        difference,
        margin=margin,
        claim=claim,
        icc=0.1,
        n_clusters=len(sizes),
        items_per_cluster=sizes,
        std_dev=0.4,
    )
    m = np.array(sizes, dtype=float)
    h = m / m.sum()
    means = difference + np.sqrt(0.16 * (0.1 + 0.9 / m)) * np.random.default_rng(3).normal(
        size=(200_000, len(m))
    )
    estimate = means @ h
    error = np.sqrt(((means - estimate[:, None]) ** 2 * h**2 / (1 - h)).sum(axis=1))
    # Bell and McCaffrey: the trace of the expected residual product, squared, over that of its square.
    hat = np.eye(len(m)) - np.tile(h, (len(m), 1))
    scaled = np.diag(h / np.sqrt(1 - h)) @ hat @ np.diag(1 / np.sqrt(m))
    product = scaled @ scaled.T
    df = np.trace(product) ** 2 / np.trace(product @ product)
    if margin is None:
        shown = np.sign(difference) * estimate / error > t.isf(0.025, df)
    else:
        reach = t.isf(0.05, df) * error
        shown = (estimate - reach > -margin) & (estimate + reach < margin)
    assert plan.power == pytest.approx(shown.mean(), abs=0.006)


def test_many_clusters_take_the_textbook_number():
    """Donner and Klar: n of independent pairs times the design effect."""
    plan = need_clusters(difference=0.02, std_dev=0.6, icc=0.1, items_per_cluster=5)
    n = (norm.isf(0.025) + norm.isf(0.2)) ** 2 * 0.36 / 0.02**2 * (1 + 4 * 0.1)
    assert plan.n_clusters == pytest.approx(n / 5, rel=0.002)
    assert plan.n_items == 5 * plan.n_clusters
    binary = need_clusters(difference=0.02, disagreement=0.2, icc=0.1, items_per_cluster=5)
    n = (norm.isf(0.025) + norm.isf(0.2)) ** 2 * (0.2 - 0.02**2) / 0.02**2 * (1 + 4 * 0.1)
    assert binary.n_clusters == pytest.approx(n / 5, rel=0.01)


@pytest.mark.slow
def test_half_width_of_many_clusters_is_the_normal_one():
    plan = stats.half_width(0.7, icc=0.1, n_clusters=4000, items_per_cluster=5)
    assert plan.half_width == pytest.approx(norm.isf(0.025) * plan.std_error, rel=0.01)
    graded = stats.half_width(std_dev=0.4, icc=0.1, n_clusters=4000, items_per_cluster=5)
    assert graded.half_width == pytest.approx(norm.isf(0.025) * graded.std_error, rel=0.002)


@pytest.mark.parametrize("clusters", [3, 10, 40])
def test_half_width_on_an_open_scale_is_the_mean_of_a_chi(clusters):
    plan = stats.half_width(std_dev=0.4, icc=0.2, n_clusters=clusters, items_per_cluster=6)
    df = clusters - 1
    c4 = np.sqrt(2 / df) * math.gamma((df + 1) / 2) / math.gamma(df / 2)
    assert plan.half_width == pytest.approx(t.isf(0.025, df) * plan.std_error * c4, rel=1e-3)
    assert plan.half_width_low < plan.half_width < plan.half_width_high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "icc", "clusters", "items"),
    [(0.001, 0.3, 5, 50), (0.001, 0.05, 12, [1] * 11 + [60]), (0.999, 0.6, 20, 5)],
)
def test_half_width_at_the_edge_is_the_mean_over_samples(rate, icc, clusters, items):
    """Few samples hold a fail (or a pass) there, so they must not decide about all others."""
    rng, sizes = np.random.default_rng(8), np.broadcast_to(items, clusters)
    strength = 1 / icc - 1
    passed = rng.binomial(sizes, rng.beta(rate * strength, (1 - rate) * strength, size=(1000, clusters)))
    found = stats.cluster_ci(passed, np.broadcast_to(sizes, passed.shape))
    mean = ((found.ci_high - found.ci_low) / 2).mean()
    for seed in range(3):
        plan = stats.half_width(rate, icc=icc, n_clusters=clusters, items_per_cluster=items, rng=seed)
        assert plan.half_width == pytest.approx(mean, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "icc", "item_icc"), [(0.8, 0.1, 0.5), (0.97, 0.002, 0.3), (0.6, 0.2, 0.2), (0.6, 0.2, 1.0)]
)
def test_large_clusters_need_not_be_drawn_item_by_item(rate, icc, item_icc):
    options = {"icc": icc, "item_icc": item_icc, "n_samples": 3, "n_clusters": 12, "n_sims": 400}
    one_by_one, whole = (stats.half_width(rate, **options, items_per_cluster=m) for m in (1000, 1001))
    for name in ("half_width", "half_width_low", "half_width_high"):
        assert getattr(whole, name) == pytest.approx(float(getattr(one_by_one, name)), rel=0.03)
    mixed = stats.half_width(rate, **options, items_per_cluster=[990] * 6 + [1010] * 6)
    assert mixed.half_width == pytest.approx(float(whole.half_width), rel=0.03)


def test_half_width_of_single_items_is_the_mean_over_the_binomial_law():
    """The default of single items is known for every count, so its mean width is a sum."""
    n = 60
    found = stats.cluster_ci(
        (np.arange(n) < np.arange(n + 1)[:, None]).astype(int), np.ones((n + 1, n), dtype=int)
    )
    want = (binom.pmf(np.arange(n + 1), n, 0.8) * (found.ci_high - found.ci_low) / 2).sum()
    plan = stats.half_width(0.8, icc=0.5, n_clusters=n, items_per_cluster=1)
    assert plan.half_width == pytest.approx(want, rel=0.005)


def test_four_times_the_items_and_four_times_the_clusters():
    base, items, clusters = (
        stats.half_width(0.8, icc=0.3, n_clusters=g, items_per_cluster=m)
        for g, m in ((40, 5), (40, 20), (160, 5))
    )
    assert items.std_error / base.std_error == pytest.approx(
        np.sqrt((1 + 19 * 0.3) / (4 * (1 + 4 * 0.3))), rel=1e-12
    )
    assert 1 - items.std_error / base.std_error == pytest.approx(0.13, abs=0.005)
    assert clusters.std_error / base.std_error == pytest.approx(0.5, rel=1e-12)
    assert 1 - items.half_width / base.half_width == pytest.approx(0.13, abs=0.015)
    assert clusters.half_width / base.half_width == pytest.approx(0.5, abs=0.02)


# -- one function undoes the other -------------------------------------------------------------------------------------

QUESTIONS = {
    "superiority": {"difference": 0.1, "disagreement": 0.2, "icc": 0.1, "items_per_cluster": 5},
    "few": {"difference": 0.35, "disagreement": 0.4, "icc": 0.2, "items_per_cluster": 10},
    "unequal": {"difference": -0.1, "disagreement": 0.2, "icc": 0.05, "items_per_cluster": [1, 2, 4, 20]},
    "single": {"difference": 0.1, "disagreement": 0.2, "icc": 0, "items_per_cluster": 1},
    "rates": {"difference": 0.05, "rate": 0.7, "correlation": 0.5, "icc": 0.1, "items_per_cluster": 8},
    "graded": {
        "difference": 0.1,
        "std_dev": 0.5,
        "icc": 0.1,
        "items_per_cluster": 5,
        "alternative": "greater",
    },
    "samples": {
        "difference": 0.1,
        "disagreement": 0.3,
        "icc": 0.1,
        "items_per_cluster": 5,
        "n_samples": 4,
        "item_icc": 0.5,
    },
    "noninferiority": {"margin": 0.05, "disagreement": 0.2, "icc": 0.1, "items_per_cluster": 5},
    "equivalence": {
        "margin": 0.08,
        "claim": "equivalence",
        "disagreement": 0.1,
        "icc": 0.1,
        "items_per_cluster": 5,
    },
    "by more": {
        "difference": 0.15,
        "margin": 0.05,
        "claim": "superiority",
        "disagreement": 0.2,
        "icc": 0,
        "items_per_cluster": 9,
    },
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_required_clusters_are_the_fewest(name):
    ask = QUESTIONS[name]
    plan = need_clusters(**ask, power=0.85)
    n = int(plan.n_clusters)
    both = stats.power(ask.get("difference", 0.0), **without(ask, "difference"), n_clusters=[n - 1, n])
    assert both.power[0] < 0.85 <= both.power[1]
    assert plan.reached == both.power[1]
    assert plan.limit == pytest.approx(both.power_limit[1], abs=1e-12)
    assert plan.n_items == both.n_items[1]
    assert plan.n_scores == plan.n_items * ask.get("n_samples", 1)
    assert plan.measure == "power"


@pytest.mark.parametrize(
    "ask",
    [
        {"half_width": 0.05, "rate": 0.8, "icc": 0.3, "items_per_cluster": 5},
        {"half_width": 0.2, "rate": 0.9, "icc": 0.3, "items_per_cluster": 5},
        {"half_width": 0.03, "rate": 0.6, "icc": 0.05, "items_per_cluster": [1, 3, 20]},
        {"half_width": 0.05, "std_dev": 0.4, "icc": 0.2, "items_per_cluster": 5},
        {
            "half_width": 0.08,
            "rate": 0.7,
            "icc": 0.1,
            "items_per_cluster": 4,
            "n_samples": 3,
            "item_icc": 0.5,
        },
    ],
)
def test_required_clusters_for_a_half_width_are_the_fewest(ask):
    ask = ask | {"n_sims": 15}
    plan = need_clusters(**ask)
    n = int(plan.n_clusters)
    both = stats.half_width(**without(ask, "half_width"), n_clusters=[n - 1, n])
    assert both.half_width[1] <= ask["half_width"] < both.half_width[0]
    assert plan.reached == both.half_width[1]
    assert plan.measure == "half_width"


def test_two_clusters_are_the_least():
    plan = need_clusters(half_width=0.49, rate=0.5, icc=0.0, items_per_cluster=500)
    assert plan.n_clusters == 2


def test_endless_items_are_the_limit_of_many():
    plan = stats.power(0.1, **PAIR)
    many = stats.power(0.1, **PAIR | {"items_per_cluster": 100_000})
    assert plan.power < many.power
    assert plan.power_limit == pytest.approx(many.power, abs=1e-3)
    rate = stats.half_width(0.8, **WIDTH)
    many = stats.half_width(0.8, **WIDTH | {"items_per_cluster": 5_000})
    assert rate.half_width_limit == pytest.approx(many.half_width, rel=0.01)
    sampled = {"n_samples": 3, "item_icc": 0.5}
    plan = stats.half_width(0.8, **WIDTH, **sampled)
    many = stats.half_width(0.8, **WIDTH | {"items_per_cluster": 400}, **sampled, n_sims=50)
    assert plan.half_width_limit == pytest.approx(many.half_width, rel=0.02)
    graded = stats.half_width(std_dev=0.4, **WIDTH)
    assert graded.half_width_limit / graded.half_width == pytest.approx(
        np.sqrt(0.3 / (0.3 + 0.7 / 5)), rel=2e-3
    )


@pytest.mark.parametrize("icc", [0, 5e-324, 1e-90, 1e-8])
def test_with_next_to_no_icc_endless_items_settle_everything(icc):
    assert stats.power(0.1, **PAIR | {"icc": icc}).power_limit == pytest.approx(1)
    assert stats.power(0, margin=0.05, **PAIR | {"icc": icc}).power_limit == pytest.approx(1)
    assert stats.half_width(std_dev=1, **WIDTH | {"icc": icc}).half_width_limit < 1e-3
    assert stats.half_width(0.8, **WIDTH | {"icc": icc}, method="cr2", n_sims=10).half_width_limit < 1e-3
    # What the default says of very many items that are not clustered at all.
    many = stats.cluster_ci(np.random.default_rng(1).binomial(100_000, 0.8, size=40), [100_000] * 40)
    plan = stats.half_width(0.8, **WIDTH | {"icc": icc}, n_sims=10)
    assert plan.half_width_limit == pytest.approx(float(many.ci_high - many.ci_low) / 2, rel=0.05)


@pytest.mark.parametrize(
    "ask",
    [
        {},
        {"alternative": "less"},
        {"margin": 0.05, "claim": "superiority"},
        {"disagreement": None, "rate": 0.6, "correlation": 0.3},
        {"disagreement": None, "std_dev": 0.4},
        {"items_per_cluster": DOMINATED, "disagreement": 0.4},
        {"n_samples": 2, "item_icc": 0.3},
    ],
)
def test_smallest_difference_has_the_power(ask):
    options = PAIR | ask
    plan = stats.mde(power=0.7, **options)
    assert (plan.difference < 0) == (ask.get("alternative") == "less")
    again = stats.power(plan.difference, **options)
    assert again.power == pytest.approx(0.7, abs=1e-6)
    assert plan.power == again.power
    assert plan.std_error == again.std_error


@pytest.mark.parametrize("claim", ["noninferiority", "equivalence"])
@pytest.mark.parametrize("difference", [None, 0.01, -0.02])
def test_smallest_margin_has_the_power(claim, difference):
    plan = stats.mde(power=0.9, difference=difference, claim=claim, **PAIR)
    again = stats.power(difference or 0.0, margin=float(plan.margin), claim=claim, **PAIR)
    assert again.power == pytest.approx(0.9, abs=1e-6)
    assert plan.difference == (difference or 0.0)


def test_smallest_margin_is_0_where_the_difference_is_shown_anyhow():
    options = PAIR | {"n_clusters": 400}
    plan = stats.mde(claim="noninferiority", difference=[0.15, 0.0], **options)
    assert plan.margin[0] == 0 < plan.margin[1]
    assert stats.power(0.15, margin=0, **options).power == plan.power[0] > 0.8
    assert plan.power[1] == pytest.approx(0.8)


@pytest.mark.parametrize("scale", [1e-10, 1e10])
def test_smallest_difference_has_the_unit_of_the_scores(scale):
    options = without(PAIR, "disagreement")
    plan, unit = (stats.mde(std_dev=s, **options) for s in (scale, 1))
    assert plan.difference == pytest.approx(float(unit.difference) * scale, rel=1e-6)


def test_no_difference_is_large_enough():
    plan = stats.mde(icc=0.1, n_clusters=[4, 400], items_per_cluster=5, disagreement=0.05)
    assert np.isnan(plan.difference[0])
    assert np.isnan(plan.power[0])
    assert 0 < plan.difference[1] < 0.05
    assert np.isnan(
        stats.mde(
            power=0.99, claim="noninferiority", icc=1, n_clusters=2, items_per_cluster=5, disagreement=0.9
        ).margin
    )


# -- properties --------------------------------------------------------------------------------------------------------


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=6),
    st.floats(0, 1),
    st.integers(2, 25),
    st.floats(0.05, 1),
    st.floats(0.01, 0.99),
)
def test_power_keeps_its_promises(sizes, icc, clusters, disagreement, part):
    difference = part * disagreement
    ask = {
        "icc": icc,
        "n_clusters": clusters,
        "items_per_cluster": np.array(sizes),
        "disagreement": disagreement,
    }
    plan = stats.power([difference, -difference], **ask)
    assert ((plan.power >= 0) & (plan.power <= 1)).all()
    assert plan.power[0] == pytest.approx(plan.power[1], abs=1e-9)  # exchanging the systems
    assert ask["items_per_cluster"].tolist() == sizes
    again = stats.power(difference, **ask | {"items_per_cluster": sizes[::-1]})
    assert again.power == plan.power[0]
    assert plan.n_items[0] == pytest.approx(np.mean(sizes) * clusters, abs=1)


@pytest.mark.parametrize("method", ["icc_averaged", "cr2"])
def test_more_is_better_and_correlation_costs(method):
    ask = PAIR | {"method": method}
    for name, values, sign in (
        ("n_clusters", [6, 10, 20, 40, 80, 160], 1),
        ("icc", [0, 0.05, 0.2, 0.5, 1], -1),
        ("disagreement", [0.12, 0.2, 0.4, 0.8], -1),
    ):
        assert (sign * np.diff(stats.power(0.1, **ask | {name: values}).power) > 0).all()
    assert (np.diff(stats.power([0.01, 0.05, 0.1, 0.15], **ask).power) > 0).all()
    many = [float(stats.power(0.1, **ask | {"items_per_cluster": m}).power) for m in (2, 5, 20, 100)]
    assert (np.diff([*many, float(stats.power(0.1, **ask).power_limit)]) > 0).all()
    levels = [float(stats.power(0.1, **ask, confidence_level=level).power) for level in (0.99, 0.95, 0.8)]
    assert (np.diff(levels) > 0).all()


def test_cr2_below_the_normal_law_and_the_default_too():
    """What the unknown variance costs is more with fewer clusters."""
    for method in ("icc_averaged", "cr2"):
        plan = stats.power(0.15, **PAIR | {"n_clusters": [8, 100], "method": method})
        normal = norm.sf(norm.isf(0.025) - 0.15 / plan.std_error)
        assert plan.power[0] < normal[0] - 0.02
        assert plan.power[1] == pytest.approx(normal[1], abs=0.01)


def test_arrays_are_single_answers_side_by_side():
    ask = {"items_per_cluster": 5, "disagreement": 0.2}
    grid = stats.power([[0.05], [0.1]], icc=[0, 0.2, 0.4], n_clusters=30, **ask)
    assert grid.power.shape == grid.n_clusters.shape == grid.std_error.shape == (2, 3)
    one = stats.power(0.1, icc=0.2, n_clusters=30, **ask)
    for field in dataclasses.fields(one):
        value = getattr(grid, field.name)
        if isinstance(value, np.ndarray):
            assert value[1, 1] == getattr(one, field.name)
            assert value.dtype == getattr(one, field.name).dtype
    ask_width = {"icc": 0.1, "items_per_cluster": 3, "n_sims": 10}
    widths = stats.half_width([0.5, 0.9], n_clusters=[[10], [20]], **ask_width)
    one = stats.half_width(0.9, n_clusters=10, **ask_width)
    assert widths.half_width[0, 1] == one.half_width
    counts = need_clusters(difference=0.1, icc=[0, 0.2], **ask)
    assert counts.n_clusters[1] == need_clusters(difference=0.1, icc=0.2, **ask).n_clusters
    assert stats.power(0.1, icc=[], n_clusters=30, **ask).power.shape == (0,)
    assert stats.half_width(0.8, icc=[], n_clusters=30, items_per_cluster=5).half_width.shape == (0,)
    assert need_clusters(difference=0.1, icc=[], **ask).n_clusters.shape == (0,)
    assert stats.mde(icc=[], n_clusters=30, **ask).difference.shape == (0,)


def test_same_seed_same_numbers_and_another_about_the_same():
    one, two, other = (
        stats.half_width(0.8, **WIDTH, rng=rng).half_width for rng in (0, np.random.SeedSequence(0), 7)
    )
    assert one == two
    assert one != other
    assert one == pytest.approx(other, rel=0.01)
    # Adjusted by what is known of the samples, a hundred do for what takes many thousands.
    assert one == pytest.approx(stats.half_width(0.8, **WIDTH, n_sims=200, rng=1).half_width, rel=0.01)


def test_samples_of_an_item():
    plain = stats.power(0.1, **PAIR, method="cr2")
    one = stats.power(0.1, **PAIR, item_icc=0.6, method="cr2")
    assert one.power == plain.power
    several = [float(stats.power(0.1, **PAIR, item_icc=0.6, n_samples=r).power) for r in (2, 4, 100)]
    assert (np.diff([float(plain.power), *several]) > 0).all()
    useless = stats.power(0.1, **PAIR, item_icc=1.0, n_samples=5)
    assert useless.power == pytest.approx(float(plain.power), abs=1e-9)
    assert useless.method == "cr2"
    alike = stats.half_width(0.8, **WIDTH, item_icc=1.0, n_samples=5)
    assert alike.half_width == pytest.approx(stats.half_width(0.8, **WIDTH).half_width, rel=0.02)


def test_rate_and_correlation_are_a_disagreement():
    rate, difference, correlation = 0.7, 0.1, 0.4
    both = 0.8 * 0.7 + correlation * np.sqrt(0.8 * 0.2 * 0.7 * 0.3)
    share = (0.8 - both) + (0.7 - both)
    options = without(PAIR, "disagreement")
    one = stats.power(difference, **options, rate=rate, correlation=correlation)
    assert one.power == stats.power(difference, **options, disagreement=share).power


def test_certain_outcomes():
    whole = stats.half_width(1.0, **WIDTH)
    exact = stats.cluster_ci([5] * 40, [5] * 40)
    assert whole.half_width == pytest.approx(float(exact.ci_high - exact.ci_low) / 2, rel=1e-9)
    assert whole.std_error == 0
    # Clusters that pass or fail as a whole are single items.
    alike = stats.power(0.2, **PAIR | {"icc": 1, "disagreement": 0.3})
    single = stats.power(0.2, **PAIR | {"icc": 0, "items_per_cluster": 1, "disagreement": 0.3})
    assert alike.power == pytest.approx(float(single.power), abs=0.03)
    assert alike.power_limit == pytest.approx(float(alike.power), abs=1e-3)


@given(st.lists(st.floats(1, 100), min_size=1, max_size=15), st.integers(2, 60), st.floats(1, 50))
def test_patterns_keep_their_mean(sizes, clusters, times):
    pattern = Pattern.of(sizes)
    size, count = pattern.counts(clusters, times)
    assert count.sum() == clusters
    assert (size >= 1).all()
    assert (size == np.round(size)).all()
    assert (size * count).sum() == pytest.approx(np.mean(sizes) * clusters * times, abs=1)


@given(st.lists(st.floats(1, 1000), min_size=1, max_size=15), st.floats(1, 50))
def test_scaled_patterns_have_the_mean_and_no_cluster_is_empty(sizes, mean):
    sizes = np.sort(sizes)
    found = Pattern.of(sizes).scaled(mean).sizes
    assert found.mean() == pytest.approx(mean)
    assert (found >= 1).all()
    more = found > 1 + 1e-6
    assert np.ptp(found[more] / sizes[more]) < 1e-6 if more.any() else mean == pytest.approx(1)


def test_a_pattern_comes_back():
    size, count = Pattern.of(DOMINATED).counts(12)
    assert np.repeat(size, count.astype(int)).tolist() == sorted(DOMINATED)
    size, count = Pattern.of(DOMINATED).counts(36)
    assert np.repeat(size, count.astype(int)).tolist() == sorted(DOMINATED * 3)
    size, count = Pattern.of([1, 3, 4, 4]).counts(2)
    assert np.repeat(size, count.astype(int)).tolist() == [2, 4]


@given(st.integers(3, 5000), st.floats(2, 1e4), st.floats(0.3, 3))
def test_search_finds_the_turn_from_anywhere(turn, start, skew):
    found = smallest(float, lambda value: value >= turn, lambda _: skew, start, 10_000)
    assert found == (turn, float(turn))
    assert smallest(float, lambda value: value >= turn, lambda _: skew, start, turn - 1) is None


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"difference": 0}, EvalCIError, "false.*margin="),
        ({"difference": [0.1, 0.3]}, EvalCIError, "1 of 2 are: difference 0.3 at disagreement 0.2"),
        ({"difference": -0.1, "margin": 0.05}, EvalCIError, "noninferiority with a margin of 0.05"),
        ({"difference": 0.05, "margin": 0.05, "claim": "equivalence"}, EvalCIError, "false"),
        ({"difference": 0.05, "margin": 0.1, "claim": "superiority"}, EvalCIError, "false"),
        ({"difference": -0.1, "alternative": "greater"}, EvalCIError, "alternative='greater'"),
        ({"difference": "much"}, EvalCIError, "must be numbers"),
        ({"icc": 1.2}, EvalCIError, "`icc` must lie between 0 and 1"),
        ({"icc": -0.01}, EvalCIError, "plan with 0"),
        ({"icc": [0.1, 0.2], "n_clusters": [10, 20, 30]}, EvalCIError, r"`icc` \(2,\)"),
        ({"icc": [0.1, 0.2], "item_icc": [0.1, 0.2, 0.3]}, EvalCIError, "do not fit"),
        ({"n_clusters": 1}, ClusterError, "single cluster"),
        ({"n_clusters": [10.5, 20]}, ClusterError, "1 of 2 are not: 10.5"),
        ({"items_per_cluster": 0}, ClusterError, "at least 1"),
        ({"items_per_cluster": [[1, 2]]}, ClusterError, r"shape \(1, 2\)"),
        ({"items_per_cluster": []}, ClusterError, "shape"),
        ({"disagreement": None}, MethodError, "got none"),
        ({"std_dev": 0.3}, MethodError, "got disagreement and std_dev"),
        ({"disagreement": 0}, EvalCIError, "above 0"),
        ({"disagreement": 20}, EvalCIError, "Did you mean 0.2"),
        ({"disagreement": None, "rate": 0.7}, MethodError, "correlation= is missing"),
        ({"disagreement": None, "rate": 0.95, "correlation": 0.5}, EvalCIError, "0.95 and 1.05"),
        ({"disagreement": None, "rate": 0.5, "correlation": 0.95}, EvalCIError, r"-0.816 to 0.816"),
        ({"disagreement": None, "std_dev": -1}, EvalCIError, "above 0"),
        ({"n_samples": 0}, MethodError, "at least 1"),
        ({"n_samples": 2}, MethodError, "needs item_icc="),
        ({"n_samples": 2, "item_icc": 0.05}, EvalCIError, "0.05 < 0.1"),
        ({"n_samples": 2, "item_icc": 0.5, "method": "icc_averaged"}, ScoreRangeError, "cr2"),
        ({"method": "tango"}, MethodError, "items_per_cluster=1"),
        ({"method": "cr1"}, MethodError, "'icc_averaged', 'tango', 'cr2'"),
        ({"margin": 0.1, "alternative": "greater"}, MethodError, "ignored"),
        ({"margin": 5}, MethodError, "Did you mean 0.05"),
        ({"claim": "noninferiority"}, MethodError, "needs margin="),
        ({"confidence_level": 95}, MethodError, "Did you mean 0.95"),
        ({"alternative": "up"}, MethodError, "alternative"),
    ],
)
def test_power_refuses(change, kind, words):
    options = PAIR | {"difference": 0.1} | change
    with pytest.raises(kind, match=words):
        stats.power(options.pop("difference"), **options)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"rate": 80}, EvalCIError, "Did you mean 0.8"),
        ({"rate": -0.1}, EvalCIError, "between 0 and 1"),
        ({"rate": None}, MethodError, "neither"),
        ({"std_dev": 0.4}, MethodError, "both"),
        ({"rate": None, "std_dev": 0}, EvalCIError, "above 0"),
        ({"rate": None, "std_dev": 1, "method": "wilson"}, MethodError, "cr2"),
        ({"method": "bootstrap_t"}, MethodError, "resamples"),
        ({"method": "best"}, MethodError, "is not known"),
        ({"n_sims": 5}, MethodError, "at least 10"),
        ({"n_samples": 2.5}, MethodError, "whole number"),
        ({"rng": -1}, MethodError, "negative"),
        ({"rate": [0.1, 0.2], "icc": [0.1, 0.2, 0.3]}, EvalCIError, "do not fit"),
        ({"n_clusters": 10**7}, ClusterError, "1,000,000"),
        ({"items_per_cluster": 1e18}, ClusterError, "at most 1,000,000,000"),
    ],
)
def test_half_width_refuses(change, kind, words):
    with pytest.raises(kind, match=words):
        stats.half_width(**WIDTH | {"rate": 0.8} | change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"power": 0.02}, "0.025"),
        ({"power": 80}, "Did you mean 0.8"),
        ({"power": [0.8, 0.9]}, "one number"),
        ({"difference": 0.1}, "is what is sought"),
        ({"margin": 0.1}, "say what is to be shown"),
        ({"margin": 0.1, "claim": "noninferiority"}, "leave out margin"),
    ],
)
def test_mde_refuses(change, words):
    with pytest.raises(MethodError, match=words):
        stats.mde(**PAIR | change)


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        ({}, MethodError, "Name the goal"),
        ({"half_width": 0, "rate": 0.8}, EvalCIError, "above 0"),
        ({"half_width": 3, "rate": 0.8}, MethodError, "Did you mean 0.03"),
        ({"half_width": 0.05, "rate": 0.8, "difference": 0.1}, MethodError, "difference= for two systems"),
        ({"half_width": 0.05, "rate": 0.8, "alternative": "less"}, MethodError, "alternative="),
        ({"half_width": 0.05, "rate": 0.8, "power": 0.9}, MethodError, "power= for two systems"),
        ({"half_width": 0.05}, MethodError, "neither"),
        ({"difference": 0.1}, MethodError, "got none"),
        ({"difference": 0.1, "disagreement": 0.2, "power": 1}, MethodError, "power=1"),
        ({"difference": 1e-5, "disagreement": 0.2}, MethodError, "1,000,000 clusters do not reach"),
    ],
)
def test_required_clusters_refuse(ask, kind, words):
    with pytest.raises(kind, match=words):
        need_clusters(icc=0.1, items_per_cluster=5, **ask)


def test_bar_and_stop(monkeypatch):
    """Several designs share one bar, which inner ones do not disturb."""
    from evalci_accessor.stats import progress

    seen = []

    def bar(items, *, label, unit, show=None):
        seen.append((label, unit, progress._WITHIN.get()))
        return items

    monkeypatch.setattr(progress, "progress", bar)
    stats.power([0.1, 0.2], **PAIR | {"disagreement": 0.3})
    assert seen == [("power", "design", False)]
