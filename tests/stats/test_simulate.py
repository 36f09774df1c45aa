"""Coverage by simulation, against the exact law of small designs, closed forms and published tables."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import textwrap
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special
from scipy import stats as distributions

from evalci_accessor import stats
from evalci_accessor.exceptions import ClusterError, EvalCIError, MethodError, StoppedEarlyWarning
from evalci_accessor.options import ClusterMethod, ClusterShape, ProportionMethod, SimulatedMethod
from evalci_accessor.stats import progress, simulate
from evalci_accessor.stats.simulate import cluster_rates, cluster_sums, logit_normal

SHAPES = get_args(ClusterShape)
NAIVE = [f"naive_{method}" for method in get_args(ProportionMethod)]
CLUSTERED = [method for method in get_args(ClusterMethod) if method not in ("auto", "bootstrap_pigeonhole")]
DRAWN = ["bootstrap_percentile", "bootstrap_bca", "bootstrap_t"]
SURE = [method for method in CLUSTERED if not method.startswith("bootstrap")]


def law(shape, m, icc, rate):
    """Probabilities of the sums 0..m of a cluster, by scipy's laws and quadrature."""
    s = np.arange(m + 1)
    if icc == 0:
        return distributions.binom.pmf(s, m, rate)
    if shape == "beta_binomial":
        t = (1 - icc) / icc
        return distributions.betabinom.pmf(s, m, rate * t, (1 - rate) * t)
    if shape == "all_or_nothing":
        ends = rate * (s == m) + (1 - rate) * (s == 0)
        return icc * ends + (1 - icc) * distributions.binom.pmf(s, m, rate)
    mean, sd = logit_normal(icc, rate)  # held to quadrature below

    z = np.linspace(-9, 9, 10_001)
    pmf = distributions.binom.pmf(s[:, None], m, special.expit(mean + sd * z))
    return integrate.simpson(pmf * np.exp(-z * z / 2) / (2 * np.pi) ** 0.5, x=z)


def answer(method, s, m, **options):
    if method.startswith("naive_"):
        return stats.proportion_ci(
            s.sum(axis=-1), m.sum(axis=-1), method=method.removeprefix("naive_"), **options
        )
    return stats.cluster_ci(s, m, method=method, **options)


def enumerated(method, sizes, shape, icc, rate, **options):
    """Exact coverage, misses to either side, and mean width, over every table that can occur."""
    tables = np.array([*itertools.product(*(range(m + 1) for m in sizes))])
    weight = np.prod([law(shape, m, icc, rate)[tables[:, g]] for g, m in enumerate(sizes)], axis=0)
    assert weight.sum() == pytest.approx(1, abs=1e-9)
    got = answer(method, tables, np.broadcast_to(sizes, tables.shape), **options)
    low, high = rate < got.ci_low - 1e-12, rate > got.ci_high + 1e-12
    width = got.ci_high - got.ci_low
    mean = weight @ width
    return {
        "coverage": weight @ ~(low | high), "miss_low": weight @ low, "miss_high": weight @ high,
        "mean_width": mean, "width_sd": (weight @ (width - mean) ** 2) ** 0.5,
    }  # fmt: skip


def assert_near(found, i, exact, error=4):
    """Every share and the width within so many standard errors."""
    for name in ("coverage", "miss_low", "miss_high"):
        p = min(exact[name], 1.0)
        assert abs(getattr(found, name)[i] - p) <= error * (p * (1 - p) / found.n_sims) ** 0.5 + 1e-9, (
            found.methods[i],
            name,
        )
    assert (
        abs(found.mean_width[i] - exact["mean_width"]) <= error * exact["width_sd"] / found.n_sims**0.5 + 1e-9
    )


# -- draws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("icc", "rate"), [(0.1, 0.5), (0.3, 0.9), (0.8, 0.97)])
def test_draws_follow_their_law(shape, icc, rate):
    m, n = 4, 40_000
    s = cluster_sums(np.full(5, m), icc, rate, n // 5, np.random.default_rng(11), shape=shape)
    seen, expected = np.bincount(s.ravel(), minlength=m + 1), n * law(shape, m, icc, rate)
    assert distributions.chisquare(seen, expected, sum_check=False).pvalue > 1e-3
    # Mean and ICC within three standard errors: over pairs of scores of a cluster, E[s(s-1)]/(m(m-1)) = p^2 + icc p(1-p).
    y, pairs = s.ravel() / m, (s * (s - 1.0)).ravel() / (m * (m - 1))
    assert abs(y.mean() - rate) < 3 * y.std() / n**0.5
    assert abs(pairs.mean() - rate**2 - icc * rate * (1 - rate)) < 3 * pairs.std() / n**0.5


@pytest.mark.parametrize("shape", SHAPES)
def test_unequal_sizes_share_the_law_of_the_rates(shape):
    sizes, n, icc, rate = np.array([1, 2, 7]), 20_000, 0.4, 0.7
    s = cluster_sums(sizes, icc, rate, n, np.random.default_rng(3), shape=shape)
    assert s.shape == (n, 3)
    for m, column in zip(sizes, s.T, strict=True):
        assert abs(column.mean() / m - rate) < 4 * column.std() / m / n**0.5
        variance = rate * (1 - rate) * m * (1 + (m - 1) * icc)
        spread = (column - m * rate) ** 2
        assert abs(spread.mean() - variance) < 4 * spread.std() / n**0.5
    assert np.abs(np.corrcoef(s.T) - np.eye(3)).max() < 4 / n**0.5, "clusters are independent"


@pytest.mark.parametrize("icc", [1e-6, 0.05, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("rate", [0.02, 0.5, 0.9, 0.999])
def test_logit_normal_is_calibrated(icc, rate):
    mean, sd = logit_normal(icc, rate)
    z = special.ndtri((np.arange(500_000) + 0.5) / 500_000)
    rates = special.expit(mean + sd * z)
    assert rates.mean() == pytest.approx(rate, rel=1e-5)
    assert ((rates - rate) ** 2).mean() == pytest.approx(icc * rate * (1 - rate), rel=2e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_draws_at_the_ends(shape):
    rng = np.random.default_rng(0)
    assert (cluster_rates(0.0, 0.3, (50,), rng, shape=shape) == 0.3).all()
    assert set(cluster_rates(1.0, 0.3, (50,), rng, shape=shape)) == {0.0, 1.0}
    for rate in (0.0, 1.0):
        assert (cluster_rates(0.5, rate, (50,), rng, shape=shape) == rate).all()
    for icc, rate in itertools.product(
        [1e-300, 1e-15, 2e-15, 1 - 2e-15, 1 - 1e-16], [1e-300, 1e-9, 0.5, 1 - 1e-16]
    ):
        found = cluster_rates(icc, rate, (20,), rng, shape=shape)
        assert ((found >= 0) & (found <= 1)).all()


# -- coverage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "sizes", "icc", "rate"),
    [
        *((shape, (2, 2, 2), 0.3, 0.8) for shape in SHAPES),
        ("logit_normal", (1, 9, 6), 0.3, 0.6),
        ("beta_binomial", (5, 1), 0.0, 0.9),  # at an ICC of 0 all shapes are the binomial law
    ],
)
def test_coverage_is_that_of_all_tables(shape, sizes, icc, rate):
    for methods, n in ((["icc_averaged"], 400), ([*SURE[1:], *NAIVE], 4000)):
        found = simulate.coverage(sizes, icc, rate, methods, n_sims=n, shape=shape, rng=5)
        for i, method in enumerate(methods):
            assert_near(found, i, enumerated(method, sizes, shape, icc, rate))
        np.testing.assert_allclose(found.coverage + found.miss_low + found.miss_high, 1, atol=1e-12)


@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_one_sided_coverage_is_that_of_all_tables(alternative):
    options = {"alternative": alternative, "confidence_level": 0.8}
    for methods, n in ((["icc_averaged"], 400), (["cr1", "naive_wilson"], 4000)):
        found = simulate.coverage([3, 2, 2], 0.2, 0.6, methods, n_sims=n, rng=6, **options)
        for i, method in enumerate(methods):
            assert_near(found, i, enumerated(method, (3, 2, 2), "beta_binomial", 0.2, 0.6, **options))
        assert ((found.miss_high if alternative == "greater" else found.miss_low) == 0).all()
        assert (found.confidence_level, found.alternative) == (0.8, alternative)


def test_bootstraps_are_those_of_all_tables():
    exact = enumerated("bootstrap_exact", (2, 2, 2, 2), "beta_binomial", 0.3, 0.7)
    assert_near(simulate.coverage([2, 2, 2, 2], 0.3, 0.7, "bootstrap_exact", n_sims=4000, rng=2), 0, exact)
    # Resampling, each sample with draws of its own, comes close.
    drawn = simulate.coverage(
        [2, 2, 2, 2], 0.3, 0.7, "bootstrap_percentile", n_sims=500, n_resamples=2000, rng=2
    )
    assert (
        abs(drawn.coverage[0] - exact["coverage"])
        < 4 * (exact["coverage"] * (1 - exact["coverage"]) / 500) ** 0.5
    )


def test_wilson_without_clusters_is_the_textbook_one():
    # Brown, Cai & DasGupta (2001): coverage of a binomial interval is a finite sum.
    n, p = 40, 0.9
    x = np.arange(n + 1)
    weight = distributions.binom.pmf(x, n, p)
    for method, low_high in {
        "naive_wilson": lambda x: distributions.binomtest(x, n).proportion_ci(method="wilson"),
        "naive_clopper_pearson": lambda x: distributions.binomtest(x, n).proportion_ci(method="exact"),
    }.items():
        limits = [low_high(int(k)) for k in x]
        exact = sum(w for w, ci in zip(weight, limits, strict=True) if ci.low <= p <= ci.high)
        # One score a cluster, so that the ICC plays no part.
        found = simulate.coverage([1] * n, 0.7, p, method, n_sims=10_000, rng=1)
        assert abs(found.coverage[0] - exact) < 4 * (exact * (1 - exact) / 10_000) ** 0.5


def test_ignored_clusters_cost_what_kish_says():
    # With many clusters an interval that ignores them is sqrt(deff) too narrow: coverage 2 Phi(z / sqrt(deff)) - 1.
    found = simulate.coverage([5] * 400, 0.5, 0.5, ["naive_wilson", "cr1"], n_sims=4000, rng=3)
    expected = np.array([2 * special.ndtr(special.ndtri(0.975) / 3**0.5) - 1, 0.95])
    assert (np.abs(found.coverage - expected) < 4 * np.sqrt(expected * (1 - expected) / 4000) + 0.003).all()


@pytest.mark.parametrize(("clusters", "published"), [(10, 0.925), (20, 0.938)])
def test_percentile_bootstrap_covers_as_published(clusters, published):
    # The table of "How many clusters does a cluster bootstrap need?", rate .5, where no sample is without variance: the mean of
    # 8 settings with some thousand data sets each of other code.
    settings = [*itertools.product((5, 20), (0.0, 0.1, 0.3, 0.8))]
    found = [
        simulate.coverage([m] * clusters, icc, 0.5, "bootstrap_exact", n_sims=400, rng=7 + i).coverage[0]
        for i, (m, icc) in enumerate(settings)
    ]
    assert abs(np.mean(found) - published) < 3.5 * (0.93 * 0.07 * (1 / 3200 + 1 / 6000)) ** 0.5


@pytest.mark.parametrize(
    ("method", "shape"),
    [
        *((method, "beta_binomial") for method in [*SURE, *NAIVE, "bootstrap_exact"]),
        *(("cr1", shape) for shape in SHAPES[1:]),
    ],
)
def test_summary_is_that_of_a_plain_loop(method, shape):
    sizes, icc, rate, n = np.full(6, 3), 0.4, 0.85, 130
    found = simulate.coverage(sizes, icc, rate, method, n_sims=n, shape=shape, rng=9)
    blocks = np.random.SeedSequence(9).spawn(2)
    s = np.concatenate(
        [
            cluster_sums(sizes, icc, rate, 100, np.random.default_rng(block.spawn(1)[0]), shape=shape)[:held]
            for block, held in zip(blocks, (100, 30), strict=True)
        ]
    )
    limits = np.array([[(got := answer(method, row, sizes)).ci_low, got.ci_high] for row in s])
    assert found.coverage[0] == pytest.approx(np.mean((limits[:, 0] <= rate) & (rate <= limits[:, 1])))
    width = limits[:, 1] - limits[:, 0]
    assert found.mean_width[0] == pytest.approx(width.mean(), rel=1e-9)
    assert found.median_width[0] == pytest.approx(np.median(width), rel=1e-9)
    # What the number of simulations leaves open is scipy's interval of the hits.
    hits = round(found.coverage[0] * n)
    ci = distributions.binomtest(hits, n).proportion_ci(method="exact")
    assert (found.coverage_low[0], found.coverage_high[0]) == pytest.approx((ci.low, ci.high), abs=1e-9)


@pytest.mark.parametrize("method", DRAWN)
def test_each_sample_has_resamples_of_its_own(method):
    sizes, n = np.full(4, 2), 40
    found = simulate.coverage(sizes, 0.5, 0.5, method, n_sims=n, n_resamples=100, rng=4)
    data, resampling = np.random.SeedSequence(4).spawn(1)[0].spawn(2)
    s = cluster_sums(sizes, 0.5, 0.5, 100, np.random.default_rng(data))[:n]
    got = [
        stats.cluster_ci(row, sizes, method=method, n_resamples=100, rng=child)
        for row, child in zip(s, resampling.spawn(n), strict=True)
    ]
    assert found.mean_width[0] == pytest.approx(np.nanmean([g.ci_high - g.ci_low for g in got]), rel=1e-12)
    assert found.n_refused[0] == sum(bool(np.isnan(g.ci_low) | np.isnan(g.ci_high)) for g in got)


def test_samples_without_an_answer_count_as_missed(monkeypatch):
    true = simulate.rate_ci

    def some(*asked):
        result = true(*asked)
        result.ci_low[:7] = np.nan
        return result

    whole = simulate.coverage([4] * 9, 0.1, 0.7, "cr1", n_sims=50, rng=1)
    monkeypatch.setattr(simulate, "rate_ci", some)
    found = simulate.coverage([4] * 9, 0.1, 0.7, "cr1", n_sims=50, rng=1)
    assert found.n_refused.tolist() == [7]
    np.testing.assert_allclose(found.coverage + found.miss_low + found.miss_high + found.n_refused / 50, 1)
    assert whole.coverage - 7 / 50 <= found.coverage
    assert np.isfinite(found.mean_width).all()
    one = simulate.coverage([4] * 9, 0.1, 0.7, "cr1", n_sims=5, rng=1)
    assert one.n_refused.tolist() == [5]
    assert one.coverage.tolist() == [0.0]
    assert np.isnan(one.mean_width).all()


# -- seeds -------------------------------------------------------------------------------------------------------------


def same(a, b):
    for x, y in zip(a.rows(), b.rows(), strict=True):
        assert x == y


def test_the_same_seed_gives_the_same_numbers():
    def run(rng, methods=("cr1", "bootstrap_percentile", "naive_wald")):
        return simulate.coverage([3, 4, 5, 2], 0.3, 0.8, methods, n_sims=110, n_resamples=100, rng=rng)

    first = run(8)
    same(first, run(8))
    same(first, run(np.random.SeedSequence(8)))
    assert first.rows()[1] == run(8, ["bootstrap_percentile"]).rows()[0], "the other methods play no part"
    assert first.mean_width[0] != run(9).mean_width[0]
    generator = np.random.default_rng(1)
    assert run(generator).mean_width[0] != run(generator).mean_width[0], "a generator moves on"
    same(run(np.random.default_rng(1)), run(np.random.default_rng(1)))


def test_a_longer_run_begins_with_the_samples_of_a_shorter_one(monkeypatch):
    seen = []
    result = simulate._Design.result
    monkeypatch.setattr(
        simulate._Design, "result", lambda self, limits, n: seen.append(limits) or result(self, limits, n)
    )
    for n in (70, 100, 260):
        simulate.coverage(
            [3, 4, 5], 0.3, 0.8, ["cr1", "bootstrap_percentile"], n_sims=n, n_resamples=100, rng=8
        )
    short, middle, long = seen
    np.testing.assert_array_equal(short, middle[..., :70])
    np.testing.assert_array_equal(middle, long[..., :100])
    assert not np.array_equal(long[..., :100], long[..., 100:200])


def test_large_designs_go_in_smaller_blocks():
    sizes = np.full(2**19, 1)
    found = simulate.coverage(sizes, 0.0, 0.5, "naive_wilson", n_sims=3, rng=1)
    assert found.n_sims == 3
    assert found.mean_width[0] == pytest.approx(2 * 1.96 * 0.5 / 2**9.5, rel=1e-3)


# -- stop and progress -------------------------------------------------------------------------------------------------


def test_a_stop_keeps_what_is_done(monkeypatch):
    limits, calls = simulate._Design.limits, []

    def stopped(self, seed, held):
        calls.append(held)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return limits(self, seed, held)

    monkeypatch.setattr(simulate._Design, "limits", stopped)
    with pytest.warns(StoppedEarlyWarning, match=r"after 200 of 1,000 simulations") as caught:
        found = simulate.coverage([4] * 8, 0.2, 0.7, ["cr1", "naive_wilson"], n_sims=1000, rng=3)
    assert caught[0].filename == __file__
    assert (found.n_sims, found.n_asked) == (200, 1000)
    monkeypatch.undo()
    whole = simulate.coverage([4] * 8, 0.2, 0.7, ["cr1", "naive_wilson"], n_sims=200, rng=3)
    assert [row | {"n_asked": 200} for row in found.rows()] == whole.rows()


def test_a_stop_before_the_first_block_passes_through(monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulate._Design, "limits", stopped)
    with pytest.raises(KeyboardInterrupt):
        simulate.coverage([4] * 8, 0.2, 0.7)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_control_c_in_a_terminal():
    code = """
        import signal, warnings
        from evalci_accessor import stats
        from evalci_accessor.stats import simulate
        signal.signal(signal.SIGINT, signal.default_int_handler)  # work in the background may have been told to ignore it
        limits = simulate._Design.limits
        def spoken(self, seed, held):
            found = limits(self, seed, held)
            print("block", flush=True)
            return found
        simulate._Design.limits = spoken
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = stats.simulate.coverage([5] * 30, 0.3, 0.8, n_sims=10**6, rng=1)
        print(found.n_sims, found.n_asked, [w.category.__name__ for w in caught], flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ran:
        try:
            for _ in range(2):
                assert ran.stdout.readline().strip() == "block"
            ran.send_signal(signal.SIGINT)
            out, err = ran.communicate(timeout=60)
        finally:
            ran.kill()
    assert ran.returncode == 0, err
    done, asked, caught = out.splitlines()[-1].split(maxsplit=2)
    assert 100 <= int(done) < 10**6, "the block that was at work may be lost"
    assert int(done) % 100 == 0
    assert int(asked) == 10**6
    assert caught == "['StoppedEarlyWarning']"


def test_one_bar_and_only_where_it_is_wanted(monkeypatch, capsys):
    tqdm = pytest.importorskip("tqdm")
    seen = []

    class Bar(tqdm.tqdm):
        def __init__(self, items, **options):
            seen.append((len(items), options))
            super().__init__(items, **options)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    call = {"sizes": [4] * 8, "icc": 0.2, "rate": 0.7, "methods": ["icc_averaged", "bootstrap_percentile"]}
    call |= {"n_sims": 201, "n_resamples": 100, "rng": 1}
    simulate.coverage(**call)
    assert [n for n, _ in seen] == [3], "the methods' own bars are a part of this one"
    assert seen[0][1]["disable"] is True, "no terminal"
    assert capsys.readouterr().err == ""
    simulate.coverage(**call, progress=True)
    assert seen[1][1]["disable"] is False
    assert "simulations" in capsys.readouterr().err
    simulate.coverage(**call, progress=False)
    assert len(seen) == 2
    stats.cluster_ci(
        np.ones((3, 4)), np.full((3, 4), 2), method="bootstrap_percentile", n_resamples=100, rng=1
    )
    assert len(seen) > 2, "outside of it they are back"


def test_a_bar_that_cannot_be_shown_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert simulate.coverage([4] * 8, 0.2, 0.7, "cr1", n_sims=200, rng=1).n_sims == 200
    with pytest.raises(MethodError, match=r"evalci-accessor\[progress\]"):
        simulate.coverage([4] * 8, 0.2, 0.7, "cr1", progress=True)


def test_bars_come_back_after_an_error():
    with pytest.raises(ZeroDivisionError), progress.within():
        raise ZeroDivisionError
    assert not progress._WITHIN.get()


# -- input and output --------------------------------------------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(1, 6), min_size=2, max_size=5),
    icc=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    rate=st.sampled_from([0.0, 1e-6, 0.5, 0.97, 1.0]),
    shape=st.sampled_from(SHAPES),
    alternative=st.sampled_from(["two-sided", "less", "greater"]),
)
def test_any_design_goes_through_every_method(sizes, icc, rate, shape, alternative):
    equal = (
        [*CLUSTERED, *NAIVE]
        if len(set(sizes)) == 1
        else [m for m in [*CLUSTERED, *NAIVE] if m != "bootstrap_exact"]
    )
    found = simulate.coverage(
        sizes, icc, rate, equal, n_sims=4, shape=shape, alternative=alternative, n_resamples=100, rng=0
    )
    np.testing.assert_allclose(found.coverage + found.miss_low + found.miss_high + found.n_refused / 4, 1)
    assert ((found.mean_width >= 0) & (found.mean_width <= 1) | (found.n_refused == 4)).all()
    assert ((found.coverage_low <= found.coverage) & (found.coverage <= found.coverage_high)).all()
    if rate in (0, 1):
        assert (found.coverage[~np.isin(equal, DRAWN)] == 1).all()


def test_the_list_of_methods_is_complete():
    assert set(get_args(SimulatedMethod)) == {"auto", "bootstrap_pigeonhole", *CLUSTERED, *NAIVE}


def test_rows_make_a_frame():
    sizes = pd.Series([2, 2, 4], index=["a", "b", "c"])
    before = sizes.copy()
    found = simulate.coverage(sizes, np.float64(0.2), 0.5, ("auto", "naive_wilson"), n_sims=20, rng=1)
    pd.testing.assert_series_equal(sizes, before)
    frame = pd.DataFrame(found.rows())
    assert frame["method"].tolist() == ["icc_averaged", "naive_wilson"] == list(found.methods)
    np.testing.assert_array_equal(frame["coverage"], found.coverage)
    assert frame["n_refused"].dtype == np.int64
    row = frame.iloc[0]
    assert (row["n"], row["n_clusters"], row["size_min"], row["size_median"], row["size_max"]) == (
        8,
        3,
        2,
        2,
        4,
    )
    assert row["effective_clusters"] == pytest.approx(64 / 24)
    assert (row["rate"], row["icc"], row["shape"], row["alternative"]) == (
        0.5,
        0.2,
        "beta_binomial",
        "two-sided",
    )
    assert not frame.isna().any().any()


def test_degrees_of_freedom_are_passed_on():
    sizes = [9, 2, 2, 1]
    plain, satterthwaite = (
        simulate.coverage(sizes, 0.2, 0.5, "cr1", df=df, n_sims=30, rng=1) for df in ("auto", "satterthwaite")
    )
    assert satterthwaite.mean_width > plain.mean_width


GOOD = {"sizes": [2, 3, 4], "icc": 0.1, "rate": 0.5}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"sizes": 5}, ClusterError, r"shape \(\).*\[5\] \* 40"),
        ({"sizes": []}, ClusterError, "shape"),
        ({"sizes": [[2, 3]]}, ClusterError, r"shape \(1, 2\)"),
        ({"sizes": [2, 0, 3, 1.5]}, ClusterError, "2 of 4 are not: 0, 1.5"),
        ({"sizes": [2, 2.0**62]}, ClusterError, r"from 1 to 2\*\*40; 1 of 2 are not"),
        ({"sizes": [2, np.nan]}, EvalCIError, "nan"),
        ({"sizes": ["a"]}, EvalCIError, "numbers"),
        ({"sizes": [7]}, ClusterError, "single cluster"),
        ({"icc": -0.1}, MethodError, "icc=-0.1 must lie between 0 and 1.*pass 0"),
        ({"icc": 1.1}, MethodError, "icc=1.1"),
        ({"icc": np.nan}, EvalCIError, "nan"),
        ({"icc": [0.1, 0.2]}, MethodError, "one number"),
        ({"rate": 70}, MethodError, "rate=70 must lie between 0 and 1"),
        ({"methods": "wilsen"}, MethodError, "Did you mean 'wilson'"),
        ({"methods": ["cr1", "naive_wilsen"]}, MethodError, "Did you mean 'naive_wilson'"),
        ({"methods": 3}, MethodError, "methods=3"),
        ({"methods": []}, MethodError, "empty"),
        ({"methods": ["auto", "icc_averaged"]}, MethodError, "'icc_averaged' twice"),
        ({"methods": "bootstrap_pigeonhole"}, MethodError, "crossed"),
        ({"methods": "bootstrap_exact"}, MethodError, "unequal sizes"),
        ({"n_sims": 0}, MethodError, "n_sims=0"),
        ({"n_sims": 1e3}, MethodError, "n_sims=1000.0"),
        ({"n_sims": True}, MethodError, "n_sims=True"),
        ({"shape": "beta"}, MethodError, "beta_binomial"),
        ({"df": "satterthwaite"}, MethodError, "would be ignored"),
        ({"df": "satterthwaite", "methods": "naive_wald"}, MethodError, "would be ignored"),
        ({"df": "none", "methods": "cr1"}, MethodError, "df='none'"),
        ({"alternative": "up"}, MethodError, "alternative"),
        ({"confidence_level": 95}, MethodError, "Did you mean 0.95"),
        ({"n_resamples": 10}, MethodError, "n_resamples=10"),
        ({"rng": -1}, MethodError, "rng=-1"),
    ],
)
def test_bad_input_says_what_to_do(change, error, words):
    with pytest.raises(error, match=words):
        simulate.coverage(**(GOOD | {"n_sims": 5} | change))


def test_one_cluster_is_enough_for_those_that_ignore_them():
    found = simulate.coverage([30], 0.5, 0.5, "naive_wilson", n_sims=2000, rng=1)
    assert_near(found, 0, enumerated("naive_wilson", (30,), "beta_binomial", 0.5, 0.5))
