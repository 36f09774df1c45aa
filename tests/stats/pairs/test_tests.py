"""McNemar's test and its kin against R, statsmodels, scipy and enumeration."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as ss
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from evalci_accessor import stats
from evalci_accessor.exceptions import ClusterError, MethodError, ScoreError
from evalci_accessor.stats.pairs.matched import PairTotals

from ..golden import golden

ALTERNATIVES = ("two-sided", "less", "greater")
INDEPENDENT = ("exact", "midp", "asymptotic", "corrected")
CLUSTERED = ("icc_averaged", "obuchowski", "durkalski", "yang", "eliasziw", "sign_flip")
COUNTS = [(0, 0), (1, 0), (0, 1), (0, 6), (7, 1), (12, 5), (25, 25), (40, 25), (63, 21), (0, 900), (1000, 1100),
          (500_000, 502_000), (10**6, 10**6), (10**6, 1)]  # fmt: skip
EVEN, UNEVEN = (
    np.array([[2, 2, 2, 2], [3, 0, 2, 1], [0, 1, 0, 0], [0, 2, 1, 2]]),
    np.array([[40, 1], [9, 0], [3, 2], [0, 7]]),
)


def run(cells, method, **options):
    """A test of one or more pairs from the four cells, shape (4, ..., G)."""
    cells = np.asarray(cells)
    _, b, c, _ = cells
    if method in INDEPENDENT:
        return stats.mcnemar(b.sum(axis=-1), c.sum(axis=-1), method=method, **options)
    size = cells.sum(axis=0).reshape(-1, cells.shape[-1])[0]
    return stats.mcnemar(b, c, size, cells=cells if method == "eliasziw" else None, method=method, **options)


@pytest.mark.parametrize("method", ["obuchowski", "durkalski", "yang", "eliasziw"])
@pytest.mark.parametrize("name", ["psychiatry", "thyroids", "obfuscation"])
def test_clust_bin_pair(name, method):
    data = golden("clustered_mcnemar")[name]
    result = run([data[cell] for cell in "abcd"], method)
    want = data["tests"][method]
    assert_allclose([result.statistic, result.pvalue], [want["statistic"], want["p_value"]], rtol=1e-10)
    assert (result.method, result.null, result.alternative) == (method, "equal rates", "two-sided")


@pytest.mark.parametrize("name", ["psychiatry", "thyroids", "obfuscation"])
def test_mcnemar_in_r(name):
    data = golden("clustered_mcnemar")[name]
    result = stats.mcnemar(sum(data["b"]), sum(data["c"]), method="asymptotic")
    want = data["tests"]["mcnemar"]
    assert_allclose([result.statistic, result.pvalue], [want["statistic"], want["p_value"]], rtol=1e-10)


def test_base_r():
    exact, chi = golden("base_r")["mcnemar_exact"], golden("base_r")["mcnemar_chi"]
    assert_allclose(stats.mcnemar(exact["b"], exact["c"]).pvalue, exact["p"], rtol=1e-12)
    assert_allclose(stats.mcnemar(exact["b"], exact["c"], method="midp").pvalue, exact["midp"], rtol=1e-12)
    assert_allclose(stats.mcnemar(chi["b"], chi["c"], method="asymptotic").statistic, chi["stat"], rtol=1e-12)
    assert_allclose(
        stats.mcnemar(chi["b"], chi["c"], method="corrected").statistic, chi["stat_cc"], rtol=1e-12
    )


@pytest.mark.parametrize("case", golden("paired_ci")["cases"])
def test_fagerland_and_others(case):
    _, b, c, _ = case["abcd"]
    assert_allclose(stats.mcnemar(b, c).pvalue, case["mcnemar_exact"], rtol=1e-12)
    assert_allclose(stats.mcnemar(b, c, method="midp").pvalue, case["mcnemar_midp"], rtol=1e-12)


@pytest.mark.parametrize("name", golden("paired_reference")["data"])
def test_reference_of_the_default(name):
    want = golden("paired_reference")["data"][name]
    result = stats.mcnemar(want["b"], want["c"], want["m"])
    assert result.method == "icc_averaged"
    assert_allclose(result.pvalue, want["p"], rtol=1e-8)


@pytest.mark.parametrize(
    ("b", "c", "exact", "midp"),
    [(40, 25, 0.0817, None), (3, 14, 0.012726, 0.007538), (2, 9, 0.06543, 0.038574)],
)
def test_cases(b, c, exact, midp):
    assert_allclose(stats.mcnemar(b, c).pvalue, exact, atol=5e-5 if midp is None else 5e-7)
    if midp is not None:
        assert_allclose(stats.mcnemar(b, c, method="midp").pvalue, midp, atol=5e-7)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("b", "c"), COUNTS[1:])
def test_exact_by_scipy(b, c, alternative):
    result = stats.mcnemar(b, c, alternative=alternative)
    assert result.statistic == b
    assert_allclose(
        result.pvalue, ss.binomtest(b, b + c, alternative=alternative).pvalue, rtol=1e-10, atol=1e-300
    )


@pytest.mark.parametrize(("b", "c"), COUNTS)
def test_statsmodels(b, c):
    table = [[3, b], [c, 4]]
    exact = statsmodels_mcnemar(table, exact=True)
    assert_allclose(stats.mcnemar(b, c).pvalue, exact.pvalue if b + c else 1.0, atol=1e-12)
    if b + c == 0:
        return
    for method, corrected in (("asymptotic", False), ("corrected", True)):
        result, want = (
            stats.mcnemar(b, c, method=method),
            statsmodels_mcnemar(table, exact=False, correction=corrected),
        )
        if corrected and b == c:  # R corrects nothing where there is no difference, statsmodels from 0 to 1
            assert (result.statistic, result.pvalue) == (0, 1)
        else:
            assert_allclose([result.statistic, result.pvalue], [want.statistic, want.pvalue], rtol=1e-12)


@pytest.mark.parametrize(("b", "c"), COUNTS[1:])
def test_midp_by_direct_sums(b, c):
    """Half the probability of the observed count, and all of those beyond it."""
    law = ss.binom(b + c, 0.5)
    greater, less = law.sf(b) + law.pmf(b) / 2, law.cdf(b) - law.pmf(b) / 2
    want = {"greater": greater, "less": less, "two-sided": min(1, 2 * min(greater, less))}
    for alternative in ALTERNATIVES:
        got = stats.mcnemar(b, c, method="midp", alternative=alternative).pvalue
        assert_allclose(got, want[alternative], rtol=1e-7, atol=1e-300)
    assert want["two-sided"] <= stats.mcnemar(b, c).pvalue


@pytest.mark.parametrize("n", [1, 2, 5, 11])
def test_exact_by_enumeration(n):
    """All 2**n ways in which n discordant items can fall."""
    law = np.bincount([sum(sides) for sides in product([0, 1], repeat=n)]) / 2**n
    b = np.arange(n + 1)
    tails = {"greater": np.cumsum(law[::-1])[::-1], "less": np.cumsum(law)}
    tails["two-sided"] = np.minimum(1, 2 * np.minimum(tails["greater"], tails["less"]))
    for alternative in ALTERNATIVES:
        assert_allclose(
            stats.mcnemar(b, n - b, alternative=alternative).pvalue, tails[alternative], rtol=1e-13
        )


@pytest.mark.parametrize("b", [1, 2, 25, 1000, 10**6, 10**7])
@pytest.mark.parametrize("method", INDEPENDENT)
def test_even_discordant_counts_are_no_evidence(method, b):
    p = stats.mcnemar(b, b, method=method).pvalue
    assert p <= 1
    assert_allclose(p, 1, rtol=1e-8)


@pytest.mark.parametrize("method", CLUSTERED)
@pytest.mark.parametrize("counts", [([2, 0, 1], [0, 2, 1]), ([3, 3, 3], [3, 3, 3])])
def test_even_discordant_counts_in_clusters(method, counts):
    """b = c over all; Durkalski's test weighs the rates of clusters, so let them be of one size."""
    b, c = map(np.array, counts)
    p = run([b * 0 + 1, b, c, 6 - b - c], method).pvalue
    assert p <= 1
    assert_allclose(p, 1, rtol=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", INDEPENDENT + CLUSTERED)
def test_no_discordant_item_gives_one(method, alternative):
    zero = np.zeros(4, int)
    assert run([zero + 2, zero, zero, zero + 1], method, alternative=alternative).pvalue == 1


def test_exact_p_of_far_tails():
    """Twice 2**-n; and one too small for a double, but no nan."""
    assert_allclose(stats.mcnemar(500, 0).pvalue, 2.0**-499, rtol=1e-10)
    assert stats.mcnemar(10**7, 0).pvalue == 0
    assert stats.mcnemar(10**7, 0, alternative="less").pvalue == 1


@pytest.mark.parametrize("name", ["psychiatry", "obfuscation"])
def test_formulas_cluster_by_cluster(name):
    """One-sided p-values halve the two-sided on the side of the difference, and chi-squares by plain sums."""
    data = golden("clustered_mcnemar")[name]
    a, b, c, d = (data[cell] for cell in "abcd")
    sums = [x - y for x, y in zip(b, c, strict=True)]
    sizes = [w + x + y + z for w, x, y, z in zip(a, b, c, d, strict=True)]
    k, rate = len(sums), sum(sums) / sum(sizes)
    within = [(x - m * rate) ** 2 + x**2 for x, m in zip(sums, sizes, strict=True)]
    shares = [x / m for x, m in zip(sums, sizes, strict=True)]
    chi = {
        "obuchowski": (k - 1) / k * sum(sums) ** 2 / sum(x**2 for x in sums),
        "durkalski": sum(shares) ** 2 / sum(x**2 for x in shares),
        "yang": (k - 1) / k * sum(sums) ** 2 / (sum(within) / 2),
    }
    for method, want in chi.items():
        less, greater = (run([a, b, c, d], method, alternative=side) for side in ("less", "greater"))
        assert_allclose(less.statistic, want, rtol=1e-12)
        assert_allclose(less.pvalue, ss.norm.sf(math.sqrt(want)), rtol=1e-10)  # the first system is behind
        assert_allclose(greater.pvalue, ss.norm.cdf(math.sqrt(want)), rtol=1e-10)


@pytest.mark.parametrize(
    "cells",
    [
        [[4, 0, 3], [0, 3, 0], [0, 1, 0], [1, 1, 2]],  # one discordant cluster
        [[5, 0, 0, 5], [0, 5, 0, 0], [0, 0, 5, 0], [0, 0, 0, 0]],  # no cluster varies within
        [[5, 0, 0, 5], [0, 4, 5, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        [[0, 0], [5, 5], [0, 0], [0, 0]],  # all discordant
        [[1, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 0]],  # singletons
        [[2, 0], [1, 0], [0, 1], [1, 0]],  # a singleton beside others
        [[10**7, 10**7], [10**7, 10**6], [0, 3], [5, 10**7]],
    ],
)
def test_edges_of_eliasziw(cells):
    one, mirrored = (run(np.array(cells)[order], "eliasziw") for order in ([0, 1, 2, 3], [0, 2, 1, 3]))
    assert np.isfinite(one.statistic)
    assert 0 <= one.pvalue <= 1
    assert_allclose(one.pvalue, mirrored.pvalue, rtol=1e-12)


def test_eliasziw_without_correlation_is_mcnemar():
    """All clusters alike: the ICC is negative and taken as 0."""
    cells = np.repeat([[3], [2], [1], [4]], 8, axis=1)
    plain = stats.mcnemar(16, 8, method="asymptotic")
    result = run(cells, "eliasziw")
    assert_allclose([result.statistic, result.pvalue], [plain.statistic, plain.pvalue], rtol=1e-12)


cell_tables = st.tuples(
    st.lists(st.tuples(*[st.integers(0, 4)] * 4).filter(any), min_size=2, max_size=8),
    st.sampled_from([1, 1, 1000]),
).map(lambda x: np.array(x[0]).T * x[1])


@pytest.mark.parametrize("method", INDEPENDENT + CLUSTERED)
@settings(max_examples=25)
@given(cells=cell_tables, seed=st.integers(0, 99))
def test_sides_order_and_exchange(method, cells, seed):
    """Two-sided is twice the smaller side; exchanged systems exchange the sides; the order of the clusters is nothing."""
    if method == "sign_flip":
        cells = cells if cells.max() < 100 else cells // 1000
    both = np.stack([cells, cells[[0, 2, 1, 3]]], axis=1)
    p = {side: run(both, method, alternative=side).pvalue for side in ALTERNATIVES}
    assert all(((x >= 0) & (x <= 1)).all() for x in p.values())
    if cells[1:3].any():
        smaller = np.minimum(p["less"], p["greater"])
        if method == "sign_flip":
            assert (p["two-sided"] <= 2 * smaller * (1 + 1e-12)).all()
        else:
            assert_allclose(p["two-sided"], np.minimum(1, 2 * smaller), rtol=1e-10)
    for side, other in (("less", "greater"), ("greater", "less"), ("two-sided", "two-sided")):
        assert_allclose(p[side], p[other][::-1], rtol=1e-10)
    order = np.random.default_rng(seed).permutation(cells.shape[1])
    assert_allclose(run(cells[:, order], method).pvalue, p["two-sided"][0], rtol=1e-9)


@pytest.mark.parametrize("method", CLUSTERED)
def test_pairs_do_not_meet_and_empty_clusters_do_not_count(method):
    rng = np.random.default_rng(1)
    cells = np.moveaxis(rng.multinomial(9, [0.4, 0.3, 0.1, 0.2], size=(2, 3, 7)), -1, 0)
    cells = np.concatenate([cells, 0 * cells[..., :2]], axis=-1)
    result = run(cells, method)
    assert result.pvalue.shape == result.statistic.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        assert_allclose(run(cells[:, i, j, :7], method).pvalue, result.pvalue[i, j], rtol=1e-9)


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_shapes_without_clusters(method):
    b, c = np.array([[1, 5, 0], [7, 2, 3]]), np.array([4, 4, 4])
    result = stats.mcnemar(b, c, method=method)
    assert result.method == "exact"
    assert_array_equal(
        result.pvalue, [[stats.mcnemar(x, y).pvalue for x, y in zip(row, c, strict=True)] for row in b]
    )


def test_the_default_is_that_of_the_interval():
    for cells in (EVEN, UNEVEN):
        for alternative in ALTERNATIVES:
            test = run(cells, "auto", alternative=alternative)
            interval = stats.diff_ci(cells[1], cells[2], cells.sum(axis=0), alternative=alternative)
            assert_allclose([test.pvalue, test.statistic], [interval.pvalue, interval.statistic], rtol=1e-12)


def test_singletons_of_the_default_are_the_score_test():
    b, c = np.repeat([1, 0, 0], [9, 3, 8]), np.repeat([0, 1, 0], [9, 3, 8])
    plain = stats.mcnemar(9, 3, method="asymptotic")
    result = stats.mcnemar(b, c, np.ones(20))
    assert_allclose([result.statistic**2, result.pvalue], [plain.statistic, plain.pvalue], rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        (([1, 2], [0, 1], [5, 5]), {"method": "exact"}, MethodError, "takes the items as independent"),
        ((3, 1), {"method": "obuchowski"}, MethodError, "needs cluster="),
        ((3, 1), {"method": "macnemar"}, MethodError, "not known"),
        ((3, 1), {"alternative": "bigger"}, MethodError, "alternative"),
        (([3, 1], [1, 1], [5, 5]), {"method": "eliasziw"}, MethodError, "four cells"),
        (([3, 1], [1, 1], [5, 5]), {"method": "sign_flip", "n_resamples": 50}, MethodError, "n_resamples"),
        (([3], [1], [5]), {}, ClusterError, "single cluster"),
        (([3, 0], [1, 0], [5, 0]), {}, ClusterError, "single cluster"),
        ((-1, 1), {}, ScoreError, "`only_a`"),
        ((1, 1.5), {}, ScoreError, "`only_b`"),
        (([3, 1], [3, 1], [5, 5]), {}, ScoreError, "must not exceed"),
    ],
)
def test_errors(arguments, options, error, words):
    with pytest.raises(error, match=words):
        stats.mcnemar(*arguments, **options)


def test_totals_alone_serve_the_independent_tests():
    from evalci_accessor.stats.pairs.tests import pair_test

    t = PairTotals.from_counts([40, 7], [25, 1], 100)
    result = pair_test(t, "exact", alternative="two-sided", n_resamples=100, seed=np.random.SeedSequence(0))
    assert_allclose(result.pvalue, stats.mcnemar([40, 7], [25, 1]).pvalue, rtol=1e-15)
