"""Adjusted p-values against statsmodels, R's p.adjust formulas written out, and what must hold for any p-values."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from statsmodels.stats.multitest import multipletests

from evalci_accessor.exceptions import EvalCIError, MethodError
from evalci_accessor.stats.pairs.multiplicity import adjust_pvalues

STATSMODELS = {"bonferroni": "bonferroni", "holm": "holm", "hochberg": "simes-hochberg", "bh": "fdr_bh", "by": "fdr_by"}
METHODS = [*STATSMODELS, "none"]
probabilities = st.one_of(st.sampled_from([0.0, 1.0, 0.01, 0.05, 1e-300, 5e-324, 1 - 2**-53]), st.floats(0, 1))
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
    st.lists(st.tuples(st.one_of(probabilities, st.just(np.nan)), st.sampled_from([-7, 0, 3, 10**9])), max_size=30), methods
)
def test_families_are_separate_calls(rows, method):
    p, family = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows], dtype=np.int64)
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
    for less, more in [("none", "bh"), ("bh", "hochberg"), ("hochberg", "holm"), ("holm", "bonferroni"), ("bh", "by")]:
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
