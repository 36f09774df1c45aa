"""Values of k samples of an item: against enumeration, exact fractions and published figures."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from evalci_accessor import stats
from evalci_accessor.exceptions import EvalCIError, MethodError, SamplesError, ScoreError

CASES = [(n, c) for n in range(1, 8) for c in range(n + 1)]


def enumerated(scores, k, of):
    """Mean over all subsets of k, and over all ordered pairs of disjoint ones the mean product (None if there are none)."""
    subsets = list(combinations(range(len(scores)), k))
    values = {s: Fraction(of(scores[i] for i in s)) for s in subsets}
    pairs = [values[a] * values[b] for a in subsets for b in subsets if not set(a) & set(b)]
    return sum(values.values()) / len(subsets), sum(pairs) / len(pairs) if pairs else None


@pytest.mark.parametrize(("function", "of"), [(stats.pass_at_k, max), (stats.pass_hat_k, min)])
def test_every_subset_of_small_cases(function, of):
    for n, c in CASES:
        ks = np.arange(1, n + 1)
        got = function(c, n, ks)
        for j, k in enumerate(ks):
            mean, square = enumerated([1] * c + [0] * (n - c), k, of)
            assert_allclose(got.value[j], float(mean), rtol=1e-13, atol=1e-15)
            assert np.isnan(got.variance[j]) == (square is None)
            if square is not None:
                assert_allclose(got.variance[j], float(mean**2 - square), atol=1e-14)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=7))  # ties are common
def test_every_subset_of_graded_scores(scores):
    ks = np.arange(1, len(scores) + 1)
    got = stats.best_of_k(scores, ks)
    for j, k in enumerate(ks):
        mean, square = enumerated(scores, k, max)
        assert_allclose(got.value[j], float(mean), rtol=1e-12, atol=1e-12)
        if square is not None:
            assert_allclose(got.variance[j], float(mean**2 - square), atol=1e-12)
    assert got.value[-1] == pytest.approx(max(scores))
    assert (np.diff(got.value) >= -1e-12).all()


@given(st.integers(1, 60), st.data())
def test_best_of_k_is_pass_at_k_for_passes(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    best, passed = stats.best_of_k([1.0] * c + [0.0] * (n - c), k), stats.pass_at_k(c, n, k)
    assert_allclose(best.value, passed.value, rtol=1e-10, atol=1e-14)
    assert_allclose(best.variance, passed.variance, atol=1e-12)
    least = stats.best_of_k([-1.0] * c + [-0.0] * (n - c), k)
    assert_allclose(-least.value, stats.pass_hat_k(c, n, k).value, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(
    ("c", "n", "k"),
    [
        (1, 10**6, 1), (1, 10**6, 100), (999_999, 10**6, 10), (3, 10**6, 10**5), (500_000, 10**6, 20), (2, 200, 199),
        (1, 5000, 2500), (7, 10**15, 3), (10**15 - 1, 10**15, 3),
    ],
)  # fmt: skip
def test_exact_for_many_samples(c, n, k):
    small = min(c, k)  # C(n-c, k) / C(n, k) as a product over the smaller of c and k
    missed = Fraction(1)
    for j in range(small):
        missed *= Fraction(n - (k if small == c else c) - j, n - j)
    assert_allclose(stats.pass_at_k(c, n, k).value, float(1 - missed), rtol=1e-12)
    if k <= c and k < 1000:
        hat = math.prod(Fraction(c - j, n - j) for j in range(k))
        assert_allclose(stats.pass_hat_k(c, n, k).value, float(hat), rtol=1e-12)
    elif k > c:
        assert stats.pass_hat_k(c, n, k).value == 0


def test_ends_are_exact():
    n = np.arange(1, 200)
    assert_array_equal(stats.pass_at_k(n, n, 1).value, 1)
    assert_array_equal(stats.pass_at_k(0, n, 1).value, 0)
    assert_array_equal(stats.pass_at_k(3, 10, [8, 9, 10]).value, 1)
    assert_array_equal(stats.pass_hat_k(3, 10, [4, 10]).value, 0)
    assert_array_equal(stats.pass_hat_k(10, 10, [1, 4, 10]).value, 1)
    assert_array_equal(stats.pass_at_k([0, 10], 10, [1, 5]).variance, 0)


def test_unbiased_for_items_of_known_rates():
    """Exact expectations over the binomial law of c: no simulation."""
    n, p, k = 12, 0.23, 4
    c = np.arange(n + 1)
    law = np.array([math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in c])
    for function, true in ((stats.pass_at_k, 1 - (1 - p) ** k), (stats.pass_hat_k, p**k)):
        got = function(c, n, k)
        assert_allclose(law @ got.value, true, rtol=1e-12)
        assert_allclose(law @ got.variance, law @ (got.value - true) ** 2, rtol=1e-10)


def test_shapes():
    got = stats.pass_at_k(np.ones((2, 3)), np.full((2, 3), 6), [[1, 2], [3, 4]])
    assert got.value.shape == got.variance.shape == (2, 3, 2, 2)
    assert (got.n.shape, got.k.shape, got.measure) == ((2, 3), (2, 2), "pass_at_k")
    assert stats.pass_at_k(1, 2, 1).value.shape == ()
    assert stats.best_of_k(np.zeros((4, 5)), 2).value.shape == (4,)
    assert stats.pass_at_k([], [], [1, 2]).value.shape == (0, 2)


def test_cruxeval_as_published(data_dir):
    rows = pd.read_csv(data_dir / "cruxeval_codellama7b.csv")
    want = {"input": ([1, 5], [0.3595, 0.449911]), "output": ([5], [0.402867])}
    for task, (ks, figures) in want.items():
        items = rows[rows["task"] == task].groupby("problem")["passed"].agg(["sum", "size"])
        assert len(items) == 800
        got = stats.pass_at_k(items["sum"], items["size"], ks).value
        assert_allclose(got.mean(axis=0), figures, atol=1e-6)
        if task == "input":
            assert_allclose(got.std(axis=0, ddof=1) / np.sqrt(800), [0.015525, 0.017019], atol=1e-6)


def test_taubench(data_dir):
    items = (
        pd.read_csv(data_dir / "taubench_airline.csv")
        .groupby("task_id")["reward"]
        .agg(["sum", "size"])
        .astype(int)
    )
    c, n = items["sum"].to_numpy(), items["size"].to_numpy()
    hat, at = (f(c, n, [1, 2, 3, 4]).value.mean(axis=0) for f in (stats.pass_hat_k, stats.pass_at_k))
    for j, k in enumerate([1, 2, 3, 4]):
        exact = sum(
            Fraction(math.comb(a, k), math.comb(b, k)) for a, b in zip(c.tolist(), n.tolist(), strict=True)
        ) / len(c)
        assert_allclose(hat[j], float(exact), rtol=0, atol=1e-12)
    assert_allclose(hat, [0.42, 0.273333, 0.22, 0.2], atol=6e-7)
    assert_allclose(at, [0.42, 0.566667, 0.66, 0.72], atol=6e-7)
    assert (
        (c / n).mean() ** 4 < hat[3] < ((c / n) ** 4).mean()
    )  # a power of the pooled rate, and of each item's


def test_too_few_samples_pk_01_02_04():
    with pytest.raises(
        SamplesError,
        match=r"k=5 needs at least 5 samples of an item, and all of 1 items have fewer: item 0 has 2",
    ):
        stats.pass_at_k(0, 2, 5)
    c, n = [4, 0, 0, 1], [10, 10, 3, 5]
    with pytest.raises(
        SamplesError, match=r"1 of 4 items have fewer: item 2 has 3\. Ask for a smaller k.*too_few='omit'"
    ):
        stats.pass_at_k(c, n, 5)
    got = stats.pass_at_k(c, n, 5, too_few="omit").value
    assert_allclose(got, [0.97619, 0, np.nan, 1], atol=5e-6)
    assert_allclose(np.nanmean(got), 0.65873, atol=5e-6)
    with pytest.raises(SamplesError, match="all of 164 items have fewer"):
        stats.pass_at_k([1] * 50 + [0] * 114, 1, [1, 10])
    graded = [[0.5, 0.2, np.nan], [0.5, 0.2, 0.1]]
    with pytest.raises(SamplesError, match=r"1 of 2 items have fewer: item 0 has 2"):
        stats.best_of_k(graded, 3)
    assert_allclose(stats.best_of_k(graded, [2, 3], too_few="omit").value, [[0.5, np.nan], [0.4, 0.5]])


@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_variances_of_scores_far_from_zero(offset):
    scores = np.random.default_rng(4).normal(size=(20, 8)).round(3)
    want, got = stats.best_of_k(scores, [1, 2, 4]), stats.best_of_k(scores + offset, [1, 2, 4])
    assert_allclose(got.variance, want.variance, rtol=1e-5, atol=1e-6)
    assert_allclose(got.value, want.value + offset, rtol=1e-14)


@pytest.mark.parametrize(
    "k", [2**53 + 1, 2**63, 0, -1, 2.0, [], [1, 0], [2, 2], True, None, "5", [[1], [2, 3]]]
)
def test_k_must_be_whole(k):
    with pytest.raises(MethodError, match=r"^k="):
        stats.pass_at_k(1, 5, k)


def test_counts_that_cannot_be():
    with pytest.raises(ScoreError, match=r"at most `n`.*1 of 2 item\(s\) have c=6, n=5"):
        stats.pass_at_k([1, 6], 5, 1)
    with pytest.raises(ScoreError, match="best_of_k takes scores on any scale"):
        stats.pass_hat_k([0.5], 5, 1)
    with pytest.raises(ScoreError, match="`n` must be whole"):
        stats.pass_at_k(0, -1, 1)
    with pytest.raises(ScoreError, match="`n` must be whole numbers from 0"):
        stats.pass_at_k(1, 1e19, 1)
    with pytest.raises(
        EvalCIError, match=r"`c` has shape \(2,\), `n` has shape \(3,\): these do not go together"
    ):
        stats.pass_at_k([1, 2], [3, 4, 5], 1)
    with pytest.raises(ScoreError, match=r"2e\+200 in size, whose square does not fit"):
        stats.best_of_k([1.0, 2e200, 3.0], 1)
    with pytest.raises(ScoreError, match="needs at least one axis"):
        stats.best_of_k(0.5, 1)
    with pytest.raises(ScoreError, match="1 infinite"):
        stats.best_of_k([0.5, np.inf], 1)
    with pytest.raises(EvalCIError, match="must be numbers"):
        stats.best_of_k([["a", "b"]], 1)
    with pytest.raises(MethodError, match="too_few='drop' is not known"):
        stats.pass_at_k(1, 5, 1, too_few="drop")
