"""Totals of pairs against plain loops over items, and bootstrap replicates that the systems share."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as ss

from evalci_accessor.exceptions import EvalCIError, ScoreError
from evalci_accessor.stats.pairs.matched import MatchedScores, PairTotals
from evalci_accessor.stats.rates.bootstrap import mean_replicates

SEED = np.random.SeedSequence(7)


def items(*, binary, n=60, systems=4, seed=0):
    """Scores and clusters, whose codes have gaps."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 2, size=(n, systems)).astype(float) if binary else rng.random((n, systems))
    return scores, rng.choice([2, 3, 5, 11, 12], size=n)


def totals_of(scores, clusters, *, binary, **options):
    m = MatchedScores.from_items(scores, clusters, binary=binary, bounded=True)
    a, b = np.array(list(combinations(range(scores.shape[1]), 2))).T
    return m, m.totals(a, b, m.squares(a, b), **options), list(zip(a, b, strict=True))


@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("binary", [True, False])
def test_totals_by_plain_loops(binary, clustered):
    scores, clusters = items(binary=binary)
    groups = clusters if clustered else np.arange(len(scores))
    m, t, pairs = totals_of(
        scores, clusters if clustered else None, binary=binary, by_cluster=True, cells=binary
    )
    assert (t.n, t.n_clusters) == (60, len(set(groups)))
    assert_array_equal(t.size, [np.sum(groups == g) for g in np.unique(groups)])
    assert_allclose(t.effective_clusters, 60**2 / (t.size**2).sum(), rtol=1e-14)
    for k, (a, b) in enumerate(pairs):
        d = scores[:, a] - scores[:, b]
        assert_allclose(t.d[k], [d[groups == g].sum() for g in np.unique(groups)], atol=1e-12)
        want = [d.sum(), (d**2).sum(), ((d - d.mean()) ** 2).sum(), d.mean()]
        assert_allclose([t.total[k], t.square[k], t.spread[k], t.mean[k]], want, atol=1e-12)
        if binary:
            assert (t.only_a[k], t.only_b[k]) == ((d == 1).sum(), (d == -1).sum())
            for cell, (x, y) in zip(t.cells, ((1, 1), (1, 0), (0, 1), (0, 0)), strict=True):
                held = (scores[:, a] == x) & (scores[:, b] == y)
                assert_array_equal(cell[k], [held[groups == g].sum() for g in np.unique(groups)])
    mean = scores.mean(axis=0)
    want = [(scores[groups == g] - mean).sum(axis=0) / 60 for g in np.unique(groups)]
    want = np.array(want)
    # Graded scores are told up to what all systems share, which no difference sees.
    got = m.influence
    assert_allclose(got - got[:, :1], want - want[:, :1], atol=1e-14)
    assert_allclose(m.mean, mean, rtol=1e-14)


def test_totals_alone_match_totals_by_cluster():
    scores, clusters = items(binary=False)
    fine, coarse = (totals_of(scores, clusters, binary=False, by_cluster=by)[1] for by in (True, False))
    assert coarse.d is None
    assert coarse.size is None
    assert_allclose(
        [coarse.total, coarse.square, coarse.spread], [fine.total, fine.square, fine.spread], atol=1e-12
    )


def test_order_of_the_rows_and_names_of_the_clusters():
    scores, clusters = items(binary=True)
    order = np.random.default_rng(1).permutation(60)
    one = totals_of(scores, clusters, binary=True, by_cluster=True)[1]
    other = totals_of(scores[order], 100 - clusters[order], binary=True, by_cluster=True)[1]
    assert_array_equal(other.d[:, ::-1], one.d)
    assert_array_equal(other.square, one.square)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 8191, 8193])
def test_gram_by_counting_bits(n):
    scores, _ = items(binary=True, n=n, systems=7)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        assert_array_equal(
            MatchedScores.from_items(layout(scores), binary=True, bounded=True).gram(), scores.T @ scores
        )


def test_squares_of_fractional_scores_in_parts():
    """More pairs than fit in one part, and two systems that nearly agree, where sums of squares would cancel."""
    scores, _ = items(binary=False, n=4000, systems=25)
    scores[:, 1] = scores[:, 0] + 1e-9
    _, t, pairs = totals_of(scores, None, binary=False, by_cluster=False)
    assert len(pairs) * 4000 > 2**20
    assert_allclose(t.square, [((scores[:, a] - scores[:, b]) ** 2).sum() for a, b in pairs], rtol=1e-12)
    assert_allclose(t.square[0], 4000e-18, rtol=1e-6)


def test_from_counts():
    t = PairTotals.from_counts([[3, 9, 0], [0, 0, 1]], [[1, 9, 2], [2, 0, 0]], [4, 18, 5])
    assert_array_equal([t.total, t.square, t.only_a, t.only_b], [[0, -1], [24, 3], [12, 1], [12, 2]])
    empty = PairTotals.from_counts([[3, 0, 1]], [[1, 0, 0]], [4, 0, 2])
    assert_array_equal(empty.size, [4, 2])
    assert_array_equal(empty.d, [[2, 1]])
    assert (empty.n, empty.n_clusters) == (6, 2)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (([-1], [0], 5), "`only_a`"),
        (([1], [0.5], 5), "`only_b`"),
        (([1], [0], 4.5), "`size`"),
        (([3], [3], 5), "must not exceed"),
        (([[3, 0]], [[3, 0]], [5, 50]), "must not exceed"),
    ],
)
def test_counts_that_cannot_be(counts, words):
    with pytest.raises(ScoreError, match=words):
        PairTotals.from_counts(*counts)


@pytest.mark.parametrize("scores", [np.zeros(3), np.zeros((2, 2, 2)), [[0, np.nan]]])
def test_scores_that_cannot_be(scores):
    with pytest.raises(EvalCIError, match="`scores`"):
        MatchedScores.from_items(scores, binary=True, bounded=True)


def test_replicates_have_the_law_of_all_resamples():
    """Both columns at once, against the 27 resamples of three clusters."""
    sums, size = np.array([[0.0, 2], [3, 1], [1, 1]]), np.array([2.0, 3, 4])
    law = Counter()
    for picked in map(list, product(range(3), repeat=3)):
        law[tuple(np.round(sums[picked].sum(axis=0) / size[picked].sum(), 9))] += 1 / 27
    drawn = Counter(map(tuple, np.round(mean_replicates(sums, size, 20_000, SEED), 9)))
    assert set(drawn) == set(law)
    assert (
        ss.chisquare([drawn[value] for value in law], [20_000 * share for share in law.values()]).pvalue
        > 1e-3
    )


@pytest.mark.parametrize(("clusters", "n"), [(50, 4000), (3000, 2000), (33_000, 400)])
def test_mean_and_covariance_of_the_replicates(clusters, n):
    """Of equal sizes the means have the columns' covariance over G; above 32,768 clusters they are drawn another way."""
    rng = np.random.default_rng(clusters)
    columns = rng.normal(size=(clusters, 3)) @ np.array([[1, 0.8, 0], [0, 0.6, 0.5], [0, 0, 1]])
    drawn = mean_replicates(5 * columns, np.full(clusters, 5.0), n, SEED)
    cov = np.cov(columns.T, bias=True) / clusters
    root = np.linalg.cholesky(cov)
    white = np.linalg.solve(root, (drawn - columns.mean(axis=0)).T)
    assert (np.abs(white.mean(axis=1)) < 4 / np.sqrt(n)).all()
    assert (np.abs(np.cov(white) - np.eye(3)) < 5 * np.sqrt((1 + np.eye(3)) / n)).all()


@pytest.mark.parametrize("clusters", [3000, 40_000])
def test_every_cluster_is_drawn_equally_often(clusters):
    """65,536 is no multiple of 3,000: the first 2,536 clusters must not come more often than the others."""
    first = (np.arange(clusters) < 65_536 % clusters).astype(float)
    # Clusters are drawn in the order of their sums.
    drawn = mean_replicates(-first[:, None], np.ones(clusters), 600, SEED).mean()
    share = first.mean()
    assert abs(drawn + share) < 4 * np.sqrt(share * (1 - share) / (clusters * 600))


def test_columns_share_their_resamples():
    rng = np.random.default_rng(2)
    size = rng.integers(1, 9, size=40).astype(float)
    a, b = rng.binomial(size.astype(int), [[0.6], [0.5]])
    drawn = mean_replicates(np.stack([a, b, a - b, b - a], axis=1), size, 300, SEED)
    assert_allclose(drawn[:, 2], drawn[:, 0] - drawn[:, 1], atol=1e-14)
    assert_array_equal(drawn[:, 3], -drawn[:, 2])


@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize("clusters", [40, 33_000])
def test_replicates_do_not_depend_on_the_order(clusters, fractions):
    rng = np.random.default_rng(3)
    size = rng.integers(1, 9, size=clusters).astype(float)
    sums = rng.binomial(size.astype(int), 0.5, size=(2, clusters)).T / (3.0 if fractions else 1.0)
    order = rng.permutation(clusters)
    one = mean_replicates(sums, size, 100, SEED)
    assert_array_equal(mean_replicates(sums[order], size[order], 100, SEED), one)
    assert_array_equal(mean_replicates(sums, size, 100, SEED), one)
    assert (mean_replicates(sums, size, 100, np.random.SeedSequence(8)) != one).any()
    assert SEED.n_children_spawned == 0


def test_more_replicates_extend_the_fewer():
    sums, size = np.arange(12.0)[:, None], np.full(12, 11.0)
    few, many = (mean_replicates(sums, size, n, SEED) for n in (65_536 // 12, 8000))
    assert_array_equal(few, many[: len(few)])
