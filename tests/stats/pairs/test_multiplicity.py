"""Adjusted p-values against statsmodels, R's p.adjust formulas written out, and what must hold for any p-values."""

import dataclasses
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as ss
from statsmodels.stats.multitest import multipletests

from evalci_accessor.exceptions import EvalCIError, MethodError
from evalci_accessor.stats.pairs import multiplicity as simultaneous
from evalci_accessor.stats.pairs.multiplicity import Block, adjust_pvalues, simultaneous_outside

STATSMODELS = {
    "bonferroni": "bonferroni",
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "bh": "fdr_bh",
    "by": "fdr_by",
}
METHODS = [*STATSMODELS, "none"]
probabilities = st.one_of(
    st.sampled_from([0.0, 1.0, 0.01, 0.05, 1e-300, 5e-324, 1 - 2**-53]), st.floats(0, 1)
)
methods = st.sampled_from(METHODS)


def by_definition(p, method):
    """Straight from the definitions, one p-value at a time."""
    m = len(p)
    order = sorted(range(m), key=lambda k: p[k])
    factor = {
        "bonferroni": lambda k: m, "holm": lambda k: m - k, "hochberg": lambda k: m - k, "bh": lambda k: m / (k + 1),
        "by": lambda k: m / (k + 1) * sum(1 / i for i in range(1, m + 1)), "none": lambda k: 1,
    }[method]  # fmt: skip
    scaled = [factor(k) * p[i] for k, i in enumerate(order)]
    out = np.empty(m)
    for j, i in enumerate(order):
        reach = {"holm": scaled[: j + 1], "hochberg": scaled[j:], "bh": scaled[j:], "by": scaled[j:]}.get(
            method, [scaled[j]]
        )
        out[i] = min(1, max(reach) if method == "holm" else min(reach))
    return out


def crowded(seed, size):
    """P-values with ties, zeros and ones."""
    rng = np.random.default_rng(seed)
    p = rng.choice([rng.random(size) ** 4, np.round(rng.random(size), 1)], axis=0)
    return np.where(rng.random(size) < 0.1, rng.choice([0.0, 1.0, 1e-200], size), p)


@pytest.mark.parametrize("size", [1, 2, 7, 200])
@pytest.mark.parametrize("method", STATSMODELS)
def test_statsmodels(method, size):
    for seed in range(5):
        p = crowded(seed, size)
        expected = multipletests(p, method=STATSMODELS[method])[1]
        assert_allclose(adjust_pvalues(p, method), expected, rtol=1e-12)
        missing = np.insert(p, [0, size // 2, size], np.nan)
        got = adjust_pvalues(missing, method)
        assert_allclose(got[~np.isnan(missing)], expected, rtol=1e-12)
        assert_array_equal(np.isnan(got), np.isnan(missing))


def test_worked_by_hand():
    p = [0.01, 0.04, 0.03, 0.005]
    assert_allclose(adjust_pvalues(p, "bonferroni"), [0.04, 0.16, 0.12, 0.02], rtol=1e-14)
    assert_allclose(adjust_pvalues(p), [0.03, 0.06, 0.06, 0.02], rtol=1e-14)
    assert_allclose(adjust_pvalues(p, "hochberg"), [0.03, 0.04, 0.04, 0.02], rtol=1e-14)
    assert_allclose(adjust_pvalues(p, "bh"), [0.02, 0.04, 0.04, 0.02], rtol=1e-14)
    assert_allclose(adjust_pvalues(p, "by"), np.array([0.02, 0.04, 0.04, 0.02]) * 25 / 12, rtol=1e-14)
    assert_array_equal(adjust_pvalues(p, "none"), p)


@given(st.lists(probabilities, min_size=1, max_size=12), methods)
def test_definition(p, method):
    assert_allclose(adjust_pvalues(p, method), by_definition(p, method), rtol=1e-12, atol=0)


@given(
    st.lists(
        st.tuples(st.one_of(probabilities, st.just(np.nan)), st.sampled_from([-7, 0, 3, 10**9])), max_size=30
    ),
    methods,
)
def test_families_are_separate_calls(rows, method):
    p, family = (
        np.array([row[0] for row in rows], dtype=float),
        np.array([row[1] for row in rows], dtype=np.int64),
    )
    got = adjust_pvalues(p, method, family=family)
    for one in np.unique(family):
        assert_array_equal(got[family == one], adjust_pvalues(p[family == one], method))


@given(st.lists(probabilities, min_size=1, max_size=20), methods, st.randoms(use_true_random=False))
def test_what_holds_for_any(p, method, random):
    adjusted = adjust_pvalues(p, method)
    assert ((adjusted >= p) & (adjusted <= 1)).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
    assert all(len({a for a, q in zip(adjusted, p, strict=True) if q == tie}) == 1 for tie in p)
    shuffle = random.sample(range(len(p)), len(p))
    assert_array_equal(adjust_pvalues(np.array(p)[shuffle], method), adjusted[shuffle])


@given(st.lists(probabilities, min_size=1, max_size=20))
def test_order_of_the_methods(p):
    by = {method: adjust_pvalues(p, method) for method in METHODS}
    for less, more in [
        ("none", "bh"),
        ("bh", "hochberg"),
        ("hochberg", "holm"),
        ("holm", "bonferroni"),
        ("bh", "by"),
    ]:
        assert (by[less] <= by[more] * (1 + 1e-15)).all()


@pytest.mark.parametrize("method", METHODS)
def test_shape_and_broadcast_families(method):
    p = crowded(3, 60).reshape(3, 4, 5)
    assert adjust_pvalues(p, method).shape == p.shape
    assert_array_equal(adjust_pvalues(p, method).ravel(), adjust_pvalues(p.ravel(), method))
    by_row = adjust_pvalues(p, method, family=np.arange(3)[:, None, None])
    assert_array_equal(by_row[1].ravel(), adjust_pvalues(p[1].ravel(), method))
    assert_array_equal(adjust_pvalues(p, method, family=7), adjust_pvalues(p, method))
    assert adjust_pvalues(0.3, method).shape == ()
    assert adjust_pvalues([], method).shape == (0,)
    assert adjust_pvalues(np.empty((0, 3)), method, family=np.empty((0, 1), dtype=int)).shape == (0, 3)


def test_input_stays_as_it_was():
    p = np.array([0.5, 0.2, np.nan])
    for method in METHODS:
        out = adjust_pvalues(p, method)
        out[:] = 0
        assert_array_equal(p, [0.5, 0.2, np.nan])


@pytest.mark.parametrize("method", METHODS)
def test_all_missing(method):
    assert np.isnan(adjust_pvalues([np.nan, np.nan], method)).all()


def test_tiny_pvalues_survive_among_many_families():
    """A running maximum over floats shifted by family would lose them to rounding."""
    p = np.full((10_000, 2), 1e-290)
    for method in STATSMODELS:
        got = adjust_pvalues(p, method, family=np.arange(10_000)[:, None])
        assert_allclose(got / 1e-290, adjust_pvalues([1e-290, 1e-290], method)[0] / 1e-290, rtol=1e-12)


def test_many_families_are_quick():
    p = np.random.default_rng(0).random(100_000)
    family = np.random.default_rng(1).integers(0, 10_000, p.size)
    for method in STATSMODELS:
        start = time.process_time()
        adjust_pvalues(p, method, family=family)
        assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("p", "options", "error", "words"),
    [
        ([0.1, 1.2, -0.3], {}, MethodError, "2 of 3 p-values lie outside .* 1.2, -0.3"),
        ([0.1, np.inf], {}, MethodError, "1 of 2 .* inf"),
        ([2.0] * 9, {"method": "none"}, MethodError, r"9 of 9 .* 2, \.\.\."),
        (["one"], {}, EvalCIError, "must be numbers; got list"),
        ([0.1], {"method": "holms"}, MethodError, "Did you mean 'holm'"),
        ([0.1, 0.2], {"family": [1, 2, 3]}, MethodError, "does not broadcast"),
        ([0.1], {"family": [1, 2]}, MethodError, "does not broadcast"),
        ([0.1, 0.2], {"family": [1.0, np.nan]}, MethodError, "whole numbers"),
        ([0.1, 0.2], {"family": ["a", "b"]}, MethodError, "whole numbers"),
    ],
)
def test_errors(p, options, error, words):
    with pytest.raises(error, match=words):
        adjust_pvalues(p, **options)


# -- simultaneous --


MANY = 1e6  # degrees of freedom at which no discount is left


def all_pairs(n):
    return np.stack(np.triu_indices(n, 1), axis=1)


def own(n):
    """Columns that are contrasts themselves."""
    return np.stack([np.arange(n), np.full(n, -1)], axis=1)


def level(*blocks, alpha=0.05, n_draws=9999, seed=1):
    return simultaneous_outside(blocks, alpha, n_draws=n_draws, seed=np.random.SeedSequence(seed))


def influence(rows, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, columns))


def near(outside, expected, alpha=0.05, n_draws=9999):
    """Whether the level is the expected one but for the draws: four standard errors of the share of draws beyond it."""
    rate = np.sqrt(alpha * (1 - alpha) / n_draws)
    # The share beyond c falls at least as steeply as the union bound does, so errors of the share carry over as a ratio.
    assert_allclose(outside, expected, rtol=4 * rate / alpha)


def covariance_of(block):
    return block.influence.T @ block.influence


class TestKnownLaws:
    @pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
    @pytest.mark.parametrize("contrasts", [[[0, 1]], [[1, 0]], [[1, -1]], [[0, 1], [1, 0], [0, 1]]])
    def test_a_single_contrast_needs_no_draws(self, contrasts, alpha):
        for df in (1.0, 3.0, MANY):
            block = Block(influence=influence(10, 2), contrasts=np.array(contrasts), df=df)
            assert simultaneous_outside([block], alpha, n_draws=1, seed=np.random.SeedSequence()) == alpha / 2

    @pytest.mark.parametrize("k", [2, 5, 40])
    def test_independent_contrasts_are_sidak(self, k):
        for blocks in (
            [Block.from_covariance(np.diag(np.arange(1.0, k + 1)), own(k), MANY)],
            [Block(influence=np.eye(k), contrasts=own(k), df=MANY)],
            [Block(influence=influence(7, 1, i), contrasts=own(1), df=MANY) for i in range(k)],
        ):
            near(level(*blocks), (1 - 0.95 ** (1 / k)) / 2)

    def test_copies_of_a_contrast_cost_nothing(self):
        column = influence(300, 1)
        block = Block(influence=np.repeat(column, 20, axis=1), contrasts=own(20), df=MANY)
        near(level(block), 0.025)
        linked = [
            Block(influence=column, contrasts=own(1), df=MANY, clusters=np.arange(300)) for _ in range(20)
        ]
        near(level(*linked), 0.025)

    @pytest.mark.parametrize("m", [3, 8, 50])
    def test_tukeys_range(self, m):
        """All pairs of independent systems with equal variances."""
        c = ss.studentized_range.ppf(0.95, m, np.inf) / np.sqrt(2)
        assert 0.05 / (m * (m - 1)) < ss.norm.sf(c)
        near(
            level(Block.from_covariance(np.full((m, m), 0.3) + np.eye(m), all_pairs(m), MANY)), ss.norm.sf(c)
        )

    def test_dunnetts_baseline(self):
        c = ss.multivariate_normal(
            np.zeros(4), np.full((4, 4), 0.5) + np.eye(4) / 2, seed=np.random.default_rng(0)
        )
        block = Block.from_covariance(np.eye(5), all_pairs(5)[:4], MANY)
        found = -ss.norm.ppf(level(block))
        share = c.cdf(np.full(4, found), lower_limit=np.full(4, -found))
        assert_allclose(1 - share, 0.05, atol=0.009)

    @pytest.mark.parametrize("seed", range(3))
    def test_multivariate_normal(self, seed):
        """Any covariance, pairs and single columns mixed."""
        block = Block(
            influence=influence(9, 4, seed), contrasts=np.array([[0, 1], [2, 3], [2, -1], [1, 3]]), df=MANY
        )
        design = np.array([[1, -1, 0, 0], [0, 0, 1, -1], [0, 0, 1, 0], [0, 1, 0, -1]])
        cov = design @ covariance_of(block) @ design.T
        sd = np.sqrt(np.diag(cov))
        law = ss.multivariate_normal(
            np.zeros(4), cov / np.outer(sd, sd), allow_singular=True, seed=np.random.default_rng(0)
        )
        c = -ss.norm.ppf(level(block))
        share = law.cdf(np.full(4, c), lower_limit=np.full(4, -c))
        assert_allclose(1 - share, 0.05, atol=0.009)


def test_covariance_without_full_rank():
    block = Block.from_covariance(np.full((4, 4), 0.7), all_pairs(4), MANY)
    assert_allclose(covariance_of(block), 0.7, rtol=1e-12)
    assert level(block) == 0.025


class TestTwoWaysToDraw:
    """A draw for each cluster, or from the covariance: the same law."""

    @pytest.mark.parametrize("linked", [False, True])
    def test_same_law(self, linked, monkeypatch):
        clusters = np.random.default_rng(5).permutation(900)
        blocks = [
            Block(influence=influence(600, 6, i) @ np.tril(np.ones((6, 6))), contrasts=all_pairs(6), df=MANY,
                  clusters=clusters[150 * i : 150 * i + 600] if linked else None)
            for i in range(3)
        ]  # fmt: skip
        condensed = level(*blocks)
        monkeypatch.setattr(simultaneous, "_DENSE", 0)
        assert_allclose(level(*blocks), condensed, rtol=0.2)
        assert level(*blocks) != condensed

    @pytest.mark.parametrize("dense", [0, 1536])
    def test_covariance_of_what_is_drawn(self, dense, monkeypatch):
        """Factors, multiplied out, have the covariance of the influences, shared clusters and rows out of order included."""
        monkeypatch.setattr(simultaneous, "_DENSE", dense)
        rng = np.random.default_rng(0)
        codes = [rng.permutation(40)[:30], rng.permutation(50)[:45] - 7, None, rng.permutation(10**4)[:20]]
        blocks = [
            Block(
                influence=influence(30 if c is None else len(c), 3, i), contrasts=own(3), df=1.0, clusters=c
            )
            for i, c in enumerate(codes)
        ]
        full = np.zeros((10**4 + 100, 12))
        for i, (block, c) in enumerate(zip(blocks, codes, strict=True)):
            full[10**4 + 50 + np.arange(30) if c is None else c, 3 * i : 3 * i + 3] = block.influence
        factors, n = simultaneous._factors(blocks, [True] * 4)
        drawn = np.zeros((n, 12))
        for factor in factors:
            rows, at = factor.rows(0, n)
            for index, columns in factor.columns:
                drawn[at, 3 * index : 3 * index + 3] = factor.influence[rows][:, columns]
        assert_allclose(drawn.T @ drawn, full.T @ full, atol=1e-8)
        linked = len(np.unique(np.concatenate([c for c in codes if c is not None])))
        assert n == (12 if dense else linked + 30)

    def test_draws_have_that_covariance(self):
        blocks = [
            Block(influence=influence(5, 8, i), contrasts=own(8), df=1.0, clusters=np.arange(5) + i)
            for i in range(2)
        ]
        factors, n = simultaneous._factors(blocks, [True, True])
        generator = np.random.default_rng(0)
        draws = np.concatenate(
            [np.vstack(simultaneous._draw(factors, n, generator)) for _ in range(200)], axis=1
        )
        full = np.zeros((6, 16))
        full[:5, :8], full[1:, 8:] = blocks[0].influence, blocks[1].influence
        expected = full.T @ full
        assert_allclose(np.cov(draws), expected, atol=0.03 * np.abs(expected).max())

    def test_clusters_in_chunks(self, monkeypatch):
        monkeypatch.setattr(simultaneous, "_DENSE", 0)
        blocks = [Block(influence=influence(100, 5, i), contrasts=all_pairs(5), df=MANY, clusters=np.arange(100)[::-1] + i)
                  for i in range(2)]  # fmt: skip
        whole = level(*blocks)
        monkeypatch.setattr(simultaneous, "_CHUNK", 16)
        assert_allclose(
            level(*blocks), whole, rtol=1e-4
        )  # the draws are the same, sums are rounded otherwise

    def test_largest_by_hand(self):
        block = Block(influence=influence(4, 4), contrasts=np.array([[0, 1], [3, 1], [2, -1]]), df=1.0)
        contrasts = simultaneous._contrasts(block)
        got = simultaneous._largest([block], [contrasts], 600, np.random.SeedSequence(3))
        rank = simultaneous._by_content([block], [0], np.arange(4), 4)
        for part, child in enumerate(np.random.SeedSequence(3).spawn(3)):
            xi = np.random.Generator(np.random.SFC64(child)).standard_normal((4, 256), dtype=np.float32)
            z = block.influence.T @ xi[rank]
            d = np.diag(c := covariance_of(block))
            t = np.stack([
                (z[0] - z[1]) / np.sqrt(d[0] + d[1] - 2 * c[0, 1]), (z[3] - z[1]) / np.sqrt(d[3] + d[1] - 2 * c[3, 1]),
                z[2] / np.sqrt(d[2]),
            ])  # fmt: skip
            want = np.abs(t).max(axis=0)[: len(got[256 * part : 256 * part + 256])]
            assert_allclose(got[256 * part : 256 * part + 256], want, rtol=1e-4)

    def test_variances_without_the_product_of_all_columns(self, monkeypatch):
        x = influence(50, 40)
        a, b = np.append(all_pairs(40), own(40), axis=0).T
        expected = simultaneous._variances(x, a, b)
        monkeypatch.setattr(simultaneous, "_DENSE", 0)
        assert_allclose(simultaneous._variances(x, a, b), expected, rtol=1e-10)


class TestFewClusters:
    def test_few_degrees_of_freedom_are_bonferroni(self):
        for df in (1.0, 4.0, 12.0, np.nan):
            block = Block(influence=influence(13, 20), contrasts=all_pairs(20), df=df)
            assert level(block) == 0.05 / 380
            assert level(block, seed=2) == 0.05 / 380

    def test_level_rises_with_the_degrees_of_freedom(self):
        block = Block.from_covariance(np.eye(6), all_pairs(6), 1.0)
        found = [level(dataclasses.replace(block, df=df)) for df in (2, 10, 15, 20, 50, 200, 1e9)]
        assert found == sorted(found)
        assert found[0] == 0.05 / 30
        z = ss.norm.ppf(0.05 / 30)
        assert_allclose(found[-2] / found[-1], np.exp(-(z**4) / 8 / 200), rtol=1e-6)

    def test_contrasts_with_few_are_charged_and_the_others_drawn(self):
        """Ten contrasts that move as one, and two with few clusters: like three to Bonferroni."""
        copies = np.repeat(influence(400, 1), 10, axis=1)
        many = Block(influence=copies, contrasts=own(10), df=MANY)
        few = Block(influence=influence(4, 2), contrasts=own(2), df=3.0)
        near(level(many, few), 0.05 / 6)
        mixed = Block(
            influence=np.hstack([copies, influence(400, 2, 1)]),
            contrasts=own(12),
            df=np.r_[np.full(10, MANY), 3, 3],
        )
        near(level(mixed), 0.05 / 6)

    def test_degrees_of_freedom_stay_with_their_contrast(self):
        copies = np.repeat(influence(400, 1), 10, axis=1)
        df = np.r_[3, 3, np.full(10, MANY)]
        mixed = Block(influence=np.hstack([copies, influence(400, 2, 1)]), contrasts=own(12)[::-1], df=df)
        near(level(mixed), 0.05 / 6)

    def test_discount_of_one_half_is_the_limit(self):
        """Copies gain the most there is to gain, so the discount shows."""
        limit = ss.norm.ppf(0.05 / 20) ** 4 / 8 / np.log(2)
        block = Block(
            influence=np.repeat(influence(400, 1), 10, axis=1), contrasts=own(10), df=limit * 1.0001
        )
        near(level(block), 0.025 / 2)
        assert level(dataclasses.replace(block, df=limit * 0.9999)) == 0.05 / 20

    def test_the_least_degrees_of_freedom_count(self):
        block = Block(influence=influence(2, 5), contrasts=own(5), df=np.array([50.0, 900, 70, 80, np.inf]))
        assert (
            level(block)
            == level(dataclasses.replace(block, df=50.0))
            < level(dataclasses.replace(block, df=70.0))
        )

    def test_level_of_drawn_and_charged(self):
        tails = np.arange(1, 100) / 1000  # a share u of 1000/100 draws below u
        assert_allclose(simultaneous._level(tails[::-1], 0, 0.05), 0.005)
        assert_allclose(
            simultaneous._level(tails, 5, 0.05), 0.002
        )  # .02 of draws and 10 x .002 charged; at .003 it were .06
        assert simultaneous._level(tails, 0, 0.001) == 0  # fewer draws than it takes


class TestDegenerate:
    def test_systems_that_agree_are_left_out(self):
        x = influence(300, 3)
        twins = Block(influence=np.hstack([x, x[:, :1], np.zeros((300, 1))]), contrasts=all_pairs(4), df=MANY)
        # 0 and 3 agree, so five contrasts are left of six, and two pairs of those are one.
        near(level(twins), level(Block(influence=x, contrasts=all_pairs(3), df=MANY)))
        assert len(simultaneous._contrasts(twins).a) == 5

    @pytest.mark.parametrize("value", [0.0, 0.1])
    def test_all_agree(self, value):
        block = Block(influence=np.full((6, 3), value), contrasts=all_pairs(3), df=5.0)
        assert level(block) == 0.025
        assert level() == 0.025
        assert level(Block(influence=np.empty((0, 2)), contrasts=all_pairs(2), df=np.nan)) == 0.025
        assert level(Block(influence=influence(5, 2), contrasts=np.empty((0, 2), dtype=int), df=4.0)) == 0.025

    def test_one_of_two_left(self):
        """One contrast that varies is a single one, whatever the others."""
        x = influence(5, 2)
        assert (
            level(Block(influence=np.hstack([x, x[:, 1:]]), contrasts=np.array([[0, 1], [1, 2]]), df=4.0))
            == 0.025
        )

    def test_a_rare_disagreement_is_no_rounding(self):
        """One item in 10^5 that two systems disagree on."""
        x = influence(1000, 2)
        x = np.hstack([x, x[:, :1]])
        x[0, 2] += 1e-4
        assert len(simultaneous._contrasts(Block(influence=x, contrasts=all_pairs(3), df=MANY)).a) == 3

    def test_empty_block_beside_others(self):
        block = Block(influence=influence(500, 4), contrasts=all_pairs(4), df=499.0)
        empty = Block(influence=np.zeros((4, 4)), contrasts=all_pairs(4), df=np.nan)
        assert level(block) == level(empty, block) == level(block, empty)


class TestReproducible:
    def test_seed(self):
        block = Block(influence=influence(200, 5), contrasts=all_pairs(5), df=199.0)
        seed = np.random.SeedSequence(7)
        first = simultaneous_outside([block], 0.05, seed=seed)
        assert simultaneous_outside([block], 0.05, seed=seed) == first, (
            "the caller's sequence must not move on"
        )
        assert level(block, seed=8) != first
        assert len({simultaneous_outside([block], 0.05, seed=child) for child in seed.spawn(3)}) == 3

    def test_more_draws_keep_the_first(self):
        block = Block(influence=influence(200, 5), contrasts=all_pairs(5), df=199.0)
        contrasts = [simultaneous._contrasts(block)]
        short, long = (
            simultaneous._largest([block], contrasts, n, np.random.SeedSequence(1)) for n in (700, 1500)
        )
        assert_allclose(short, long[:700], rtol=0)

    def test_scale_and_order_of_contrasts_do_not_matter(self):
        block = Block(influence=influence(200, 5), contrasts=all_pairs(5), df=199.0)
        expected = level(block)
        assert_allclose(
            level(dataclasses.replace(block, influence=block.influence * 1e-9)), expected, rtol=1e-4
        )
        assert level(dataclasses.replace(block, contrasts=block.contrasts[::-1, ::-1])) == expected

    def test_caller_keeps_the_influences(self):
        block = Block(
            influence=influence(200, 5), contrasts=all_pairs(5), df=199.0, clusters=np.arange(200)[::-1]
        )
        before = block.influence.copy()
        level(block)
        assert (block.influence == before).all()

    def test_memory(self):
        blocks = [Block(influence=influence(400, 40, i), contrasts=all_pairs(40), df=399.0, clusters=np.arange(400) + i)
                  for i in range(30)]  # fmt: skip
        wide = Block(influence=influence(1600, 1500), contrasts=own(1500), df=1599.0)
        for family in (blocks, [wide]):
            tracemalloc.start()
            level(*family, n_draws=512)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 64e6


@settings(max_examples=40)
@given(
    st.integers(1, 6), st.integers(1, 12), st.floats(0.5, 1e4), st.floats(0.001, 0.5), st.integers(1, 3), st.booleans(),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_bounds(columns, rows, df, alpha, n_blocks, linked, seed):
    """Never beyond a single interval's level, never below Bonferroni's; scores with ties, so that some agree."""
    rng = np.random.default_rng(seed)
    blocks = [
        Block(influence=rng.integers(-1, 2, (rows, columns)).astype(float), df=df, clusters=np.arange(rows) if linked else None,
              contrasts=np.append(all_pairs(columns), own(columns), axis=0))
        for _ in range(n_blocks)
    ]  # fmt: skip
    outside = level(*blocks, alpha=alpha, n_draws=300)
    k = sum(len(block.contrasts) for block in blocks)
    assert alpha / (2 * k) <= outside <= alpha / 2
