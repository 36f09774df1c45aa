"""The ICC's posterior of item differences against n x n matrices and tens of thousands of equal nodes."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from evalci_accessor.stats.pairs import posterior as paired_posterior
from evalci_accessor.stats.pairs.laws import ScoreLaw
from evalci_accessor.stats.pairs.matched import MatchedScores, PairTotals
from evalci_accessor.stats.pairs.posterior import (
    Evidence,
    crossed_evidence,
    crossed_posteriors,
    pair_posterior,
    pair_posteriors,
)

from .. import slow
from ..golden import golden

REFERENCE = golden("paired_reference")["data"]


def drawn(sizes, lean, icc=0.0, seed=0):
    """Discordant counts of clusters whose rates have a Dirichlet law with this ICC about a mean."""
    rng = np.random.default_rng(seed)
    sizes = np.asarray(sizes)
    rates = (
        np.tile(lean, (len(sizes), 1))
        if icc == 0
        else rng.dirichlet(np.array(lean) * (1 / icc - 1), size=len(sizes))
    )
    counts = rng.multinomial(sizes, rates)
    return counts[:, 0], counts[:, 1], sizes


def even(clusters, size, only_a, only_b):
    """Clusters that are all alike, so more even than chance would have them."""
    return np.full(clusters, only_a), np.full(clusters, only_b), np.full(clusters, size)


def lognormal(clusters, spread=1.0):
    return np.maximum(
        np.random.default_rng(clusters).lognormal(1.5, spread, size=clusters).round().astype(int), 1
    )


def agreeing(*, off):
    """Whole clusters with one answer, but for a few items."""
    b, c = np.repeat([30, 0, 0, 12, 0], 4), np.repeat([0, 30, 0, 0, 5], 4)
    b[0] -= off
    return b, c, np.repeat([30, 30, 30, 12, 5], 4)


NASTY = {
    "large clusters, none": drawn([3000] * 12, [0.2, 0.18, 0.62]),
    "large clusters, some": drawn([3000] * 12, [0.2, 0.18, 0.62], icc=0.002),
    "immense clusters": drawn([10**6] * 12, [0.2, 0.18, 0.62]),
    "many clusters, none": drawn([5] * 2000, [0.15, 0.1, 0.75]),
    "many clusters, some": drawn([5] * 2000, [0.15, 0.1, 0.75], icc=0.3),
    "log-normal sizes": drawn(lognormal(60), [0.2, 0.1, 0.7], icc=0.05),
    "log-normal, wide": drawn(lognormal(200, 2.0), [0.2, 0.1, 0.7], icc=0.3),
    "one dominates": drawn([5000, *[3] * 40], [0.2, 0.15, 0.65], icc=0.05),
    "agreeing": agreeing(off=0),
    "nearly agreeing": agreeing(off=1),
    "huge icc": drawn([40] * 25, [0.3, 0.2, 0.5], icc=0.95),
    "huge and large": drawn([2000] * 15, [0.3, 0.2, 0.5], icc=0.9),
    "negative icc": even(30, 10, 3, 2),
    "negative, large": even(8, 10_000, 3000, 2999),
    "one item": (np.eye(1, 40, dtype=int)[0], np.zeros(40, int), np.full(40, 6)),
    "one way, all": even(9, 4, 4, 0),
    "two of each": drawn(np.repeat([1, 2, 3], 100), [0.1, 0.1, 0.8]),
    "few clusters": drawn([3000] * 5, [0.2, 0.1, 0.7], icc=0.01),
    "two clusters": (np.array([5, 1]), np.array([0, 3]), np.array([9, 40])),
}


def limits(b, c, m, *, outside=0.025, **options):
    t = PairTotals.from_counts(np.atleast_2d(b), np.atleast_2d(c), m)
    post = pair_posterior(t, **options)
    low, high = ScoreLaw.of(t, post).limits(outside)
    return np.array([low[0], high[0]]), post


@pytest.mark.parametrize("name", REFERENCE)
def test_golden_mean_and_effective_items(name):
    want = REFERENCE[name]
    _, post = limits(want["b"], want["c"], want["m"])
    assert_allclose(post.icc, want["icc_post_mean"], rtol=1e-8)
    assert_allclose(np.sum(want["m"]) * post.mean_share, want["n_eff"], rtol=1e-8)


@pytest.mark.parametrize("sizes", [[1, 2, 3, 9, 4, 1, 17], [6] * 5, [2, 40]])
def test_likelihood_by_matrices(sizes):
    """Up to a constant, which no posterior sees."""
    b, c, m = drawn(sizes, [0.3, 0.2, 0.5], icc=0.2)
    phi = np.arcsin(np.sqrt([1e-9, 0.01, 0.2, 0.5, 0.9, 0.9999]))
    got = paired_posterior.Evidence.of(PairTotals.from_counts([b], [c], m)).log(phi[None])[0]
    items = [
        [1.0] * one + [-1.0] * other + [0.0] * (size - one - other)
        for one, other, size in zip(b, c, m, strict=True)
    ]
    y, g = np.concatenate(items), np.repeat(np.arange(len(m)), m)
    for other in (
        slow.reml_loglik(y, g, np.sin(phi) ** 2),
        slow.difference_loglik(b, c, m, np.sin(phi) ** 2),
    ):
        assert_allclose(got - got[2], other - other[2], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", [name for name in NASTY if name != "agreeing"])
def test_limits_by_tens_of_thousands_of_nodes(name):
    b, c, m = NASTY[name]
    want = slow.paired(b, c, m, df=len(m) - 1 if len(m) < 6 else np.inf)
    got, post = limits(b, c, m)
    assert_allclose(got, [want["low"], want["high"]], atol=1e-7 * (want["high"] - want["low"]))
    assert_allclose([post.icc[0], m.sum() * post.mean_share[0]], [want["icc"], want["n_eff"]], rtol=1e-6)


@pytest.mark.parametrize("outside", [0.025, 1e-6])
@pytest.mark.parametrize("name", NASTY)
def test_doubling_the_nodes_moves_nothing(name, outside):
    once, twice = (limits(*NASTY[name], outside=outside, n_nodes=n)[0] for n in (64, 128))
    assert_allclose(once, twice, atol=1e-8 * (twice[1] - twice[0]))


def test_whole_clusters_that_agree_count_once():
    """Their posterior is a point at 1, where the effective number of items is Kish's number of clusters."""
    b, c, m = NASTY["agreeing"]
    got, post = limits(b, c, m)
    kish = m.sum() ** 2 / (m**2).sum()
    assert_allclose([post.icc[0], m.sum() * post.mean_share[0]], [1, kish], rtol=1e-12)
    share = kish / m.sum()
    z = [slow.score_z(share * b.sum(), share * c.sum(), kish, delta) for delta in got]
    assert_allclose(z, [1.959963984540054, -1.959963984540054], rtol=1e-10)
    near = limits(*agreeing(off=1))[0]
    assert_allclose(near, got, atol=0.03)


@pytest.mark.parametrize("name", NASTY)
def test_nodes_are_a_posterior(name):
    post = limits(*NASTY[name])[1]
    assert_allclose(post.weight.sum(axis=1), 1, rtol=1e-12)
    assert ((post.weight >= 0) & (post.rho >= 0) & (post.rho <= 1)).all()
    m = NASTY[name][2]
    assert ((post.share <= 1) & (post.share >= m.sum() / (m**2).sum() * (1 - 1e-12))).all()


def test_without_discordant_items_the_prior_stays():
    zero, m = np.zeros(8, int), np.array([5, 5, 9, 2, 1, 5, 7, 3])
    post = limits(zero, zero, m)[1]
    for power, mean in ((1, 1 / 2), (2, 3 / 8), (3, 5 / 16)):  # of Beta(1/2, 1/2)
        assert_allclose(post.weight @ post.rho.T**power, mean, rtol=1e-12)


def test_singletons_have_nothing_to_average():
    post = limits([1, 0, 1, 0], [0, 1, 0, 0], [1, 1, 1, 1])[1]
    assert post.share.tolist() == [[1.0]]


def test_pairs_do_not_meet(monkeypatch):
    """Many pairs at once, in parts or not, answer as each alone; exchanged systems have the same posterior."""
    rng = np.random.default_rng(4)
    m = rng.integers(1, 30, size=12)
    b = rng.binomial(m, rng.beta(1, 3, size=(9, 12)))
    c = rng.binomial(m - b, 0.2)
    b[3], c[3] = 0, 0  # no discordant item
    b[4], c[4] = m, 0  # only discordant ones
    b[5], c[5] = m * (np.arange(12) % 2), 0  # a point at 1
    t = PairTotals.from_counts(b, c, m)
    together = pair_posterior(t)
    with monkeypatch.context() as patch:
        patch.setattr(paired_posterior, "_CELLS", 1)
        parts = pair_posterior(t)
    for k in range(9):
        alone = pair_posterior(PairTotals.from_counts(b[[k]], c[[k]], m))
        swapped = pair_posterior(PairTotals.from_counts(c[[k]], b[[k]], m))
        for other in (parts.icc[k], alone.icc[0], swapped.icc[0]):
            assert_allclose(other, together.icc[k], rtol=1e-10)
    assert_array_equal(together.icc[[3, 4, 5]].round(9), [0.5, 0.5, 1])


def test_what_three_clusterings_have_in_common_is_counted_once():
    """The mean variance inflation by a plain sum over the nodes: less the means of the pairs, plus that of all three."""
    rng = np.random.default_rng(3)
    ids = [axis.ravel() for axis in np.indices((5, 5, 4, 6))[:3]]
    effects = sum(rng.normal(size=n)[axis] for n, axis in zip((5, 5, 4), ids, strict=True))
    own = rng.normal(size=(5, 5, 4))[tuple(ids)]
    scores = np.stack(
        [effects + 2 * own + rng.normal(size=len(own)) > 0, rng.random(len(own)) < 0.5], axis=1
    ).astype(float)
    every = {}
    for size in (1, 2, 3):
        for some in itertools.combinations(range(3), size):
            codes = np.unique(np.stack([ids[d] for d in some]), axis=1, return_inverse=True)[1].reshape(-1)
            m = MatchedScores.from_items(scores, codes, binary=True, bounded=True)
            a, b = np.array([0]), np.array([1])
            every[some] = m.totals(a, b, m.squares(a, b), by_cluster=True)
    posts = {some: pair_posteriors([Evidence.of(t)])[0] for some, t in every.items()}
    excess = {some: len(own) / t.n_clusters - 1 for some, t in every.items()}  # all of a clustering are alike
    mean = {some: excess[some] * float(post.rho[0] @ post.weight[0]) for some, post in posts.items()}
    pairs = sum(value for some, value in mean.items() if len(some) == 2)
    e, f, g = (excess[d,] * posts[d,].rho[0] for d in range(3))
    e, f, g = e[:, None, None], f[:, None], g
    most = max(excess[d,] for d in range(3))

    def effect(three):
        joint = np.minimum(np.maximum(np.maximum(np.maximum(e + f + g - pairs + three, e), f), g), most)
        return 1 + np.einsum("i,j,k,ijk->", *(posts[d,].weight[0] for d in range(3)), joint)

    want, wrong = effect(mean[0, 1, 2]), effect(-mean[0, 1, 2])
    assert want > 1.02 * wrong
    found = crossed_posteriors([crossed_evidence(every)])[0].mean_share[0]
    assert 1 / found == pytest.approx(want, rel=2e-3)
