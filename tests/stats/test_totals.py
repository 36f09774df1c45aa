"""Rows to cluster totals against a loop over a dict."""

from collections import defaultdict

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from evalci_accessor.exceptions import EvalCIError, ScoreError
from evalci_accessor.stats import ClusterTotals
from evalci_accessor.stats import totals as module

FIELDS = ("n", "m", "s", "ss", "q")


def loop(y, codes, groups, w):
    sums = defaultdict(lambda: np.zeros(5))
    for score, c, h, weight in zip(y, codes, groups, w, strict=True):
        if weight:
            sums[int(h), int(c)] += (1, weight, weight * score, weight * score**2, weight**2)
    return dict(sorted(sums.items()))


def rows(seed=0, n=400, n_groups=5, n_clusters=30):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, n_groups, size=n)
    groups[groups == 2] = 3  # a group without rows
    return rng.random(n), rng.integers(0, n_clusters, size=n), groups, rng.integers(0, 4, size=n) / 2


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("binary", [False, True])
def test_from_rows(binary, weighted, sparse, monkeypatch):
    y, codes, groups, w = rows()
    if binary:
        y = (y < 0.4).astype(float)
    n_clusters = 30
    if sparse:  # few rows in a wide table
        monkeypatch.setattr(module, "_DENSE_CELLS", 0)
        codes, n_clusters = codes * 1000, 30_000
    t = ClusterTotals.from_rows(
        y,
        codes,
        n_clusters=n_clusters,
        groups=groups,
        n_groups=5,
        weights=w if weighted else None,
        bounded=True,
        binary=binary,
    )
    want = loop(y, codes, groups, w if weighted else np.ones(len(y)))
    assert_array_equal(np.stack([t.group, t.cluster], axis=1), list(want))
    assert_allclose([getattr(t, name) for name in FIELDS], np.array(list(want.values())).T, rtol=1e-12)
    assert t.shape == (5,)
    assert t.weighted == weighted
    assert_array_equal(t.n_clusters, [sum(h == group for group, _ in want) for h in range(5)])
    assert (t.binary == (binary | (t.n_clusters == 0))).all()


def test_from_rows_without_groups():
    y, codes, _, _ = rows()
    t = ClusterTotals.from_rows(y, codes, n_clusters=40, bounded=True, binary=False)
    want = loop(y, codes, np.zeros(len(y)), np.ones(len(y)))
    assert t.shape == ()
    assert_array_equal(t.cluster, [c for _, c in want])
    assert_allclose([getattr(t, name) for name in FIELDS], np.array(list(want.values())).T, rtol=1e-12)


def test_no_rows():
    nothing = np.zeros(0)
    t = ClusterTotals.from_rows(nothing, nothing.astype(int), n_clusters=0, bounded=True, binary=True)
    assert t.n_groups == 1
    assert t.n_clusters[0] == 0
    assert np.isnan(t.max(t.m)[0])


def test_sum_max_spread_one():
    y, codes, groups, _ = rows(1)
    t = ClusterTotals.from_rows(
        y, codes, n_clusters=30, groups=groups, n_groups=5, bounded=True, binary=False
    )
    for h in range(5):
        part = t.one(h)
        assert part.shape == ()
        assert_allclose(t.sum(t.s)[h], y[groups == h].sum(), rtol=1e-12)
        assert_allclose(part.sum(part.s)[0], y[groups == h].sum(), rtol=1e-12)
        if h == 2:
            assert np.isnan(t.max(t.s)[h])
        else:
            assert_allclose(
                t.max(t.s)[h], max(y[(groups == h) & (codes == c)].sum() for c in range(30)), rtol=1e-12
            )
    assert_array_equal(t.spread(np.arange(5)), t.group)


def test_concat_of_parts_is_the_whole():
    y, codes, groups, w = rows(2)
    options = {"n_clusters": 30, "bounded": True, "binary": False}
    whole = ClusterTotals.from_rows(y, codes, groups=groups, n_groups=5, weights=w, **options)
    parts = []
    for chosen in ([0, 1], [2], [3, 4]):
        at = np.isin(groups, chosen)
        parts.append(
            ClusterTotals.from_rows(
                y[at],
                codes[at],
                groups=groups[at] - chosen[0],
                n_groups=len(chosen),
                weights=w[at],
                **options,
            )
        )
    joined = ClusterTotals.concat(parts, (5,))
    for name in ("offsets", "cluster", *FIELDS):
        assert_allclose(getattr(joined, name), getattr(whole, name), rtol=1e-12)
    assert (joined.shape, joined.bounded, joined.weighted) == (whole.shape, whole.bounded, whole.weighted)


def test_from_sums():
    s, m = np.array([[1, 2, 0], [0, 3, 4]]), np.array([[2, 2, 0], [1, 5, 4]])
    t = ClusterTotals.from_sums(s, m)
    assert t.shape == (2,)
    assert_array_equal(t.offsets, [0, 2, 5])  # a cluster of size 0 is absent
    assert_array_equal(t.cluster, [0, 1, 0, 1, 2])
    assert_array_equal(t.s, [1, 2, 0, 3, 4])
    assert_array_equal(t.ss, t.s)
    assert t.bounded
    assert t.binary.all()


def test_from_sums_with_squares():
    t = ClusterTotals.from_sums([1.2, 0.5], [2, 1], [0.9, 0.25])
    assert t.bounded
    assert not t.binary[0]
    assert not ClusterTotals.from_sums([12.0, 5], [2, 1], [80, 25]).bounded
    assert not ClusterTotals.from_sums([-0.5, 1], [1, 1], [0.25, 1]).bounded


@pytest.mark.parametrize(
    ("s", "m", "ss", "error", "words"),
    [
        (1, 2, None, ScoreError, "at least one axis"),
        ([1, 2], [2, 1.5], None, ScoreError, "whole numbers"),
        ([1, 2], [2, -3], None, ScoreError, "whole numbers"),
        ([1, 5], [2, 3], None, ScoreError, "`ss`"),
        ([1, -1], [2, 3], None, ScoreError, "`ss`"),
        ([0.5, 1], [2, 3], None, ScoreError, "`ss`"),
        ([1, np.nan], [2, 3], None, EvalCIError, "nan or infinite"),
        ([1, 1], [2, np.inf], None, EvalCIError, "nan or infinite"),
        (["a", "b"], [2, 3], None, EvalCIError, "must be numbers"),
        ([1, 1], [2, 3], [1, np.inf], EvalCIError, "nan or infinite"),
    ],
)
def test_from_sums_errors(s, m, ss, error, words):
    with pytest.raises(error, match=words):
        ClusterTotals.from_sums(s, m, ss)


def test_callers_arrays_are_not_changed():
    y, codes, groups, w = rows(3)
    copies = [a.copy() for a in (y, codes, groups, w)]
    ClusterTotals.from_rows(
        y, codes, n_clusters=30, groups=groups, n_groups=5, weights=w, bounded=True, binary=False
    )
    for a, copy in zip((y, codes, groups, w), copies, strict=True):
        assert_array_equal(a, copy)


def test_some_groups_are_those_groups():
    t = ClusterTotals.from_sums([[1, 0], [2, 3], [0, 1], [1, 1]], [[2, 0], [3, 3], [1, 1], [4, 5]])
    part = t.some(1, 3)
    assert (part.shape, part.n_groups, part.n_clusters.tolist()) == ((2,), 2, [2, 2])
    assert part.s.tolist() == [2, 3, 0, 1]
    assert part.one(1).s.tolist() == t.one(2).s.tolist() == [0, 1]
    assert t.some(0, 1).m.tolist() == [2]
