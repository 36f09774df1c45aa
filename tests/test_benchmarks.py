"""The benchmark scripts run, tiny; their timings are never asserted."""

from __future__ import annotations

import importlib.util
import itertools
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from evalci_accessor import stats
from evalci_accessor.stats.pairs.matched import MatchedScores
from evalci_accessor.stats.planning.shared import Parts

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


def _load(name: str) -> Iterator[ModuleType]:
    """A script as a module; what it sets in the environment is undone."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TQDM_DISABLE"):
            patch.setenv(variable, "1")
        patch.syspath_prepend(BENCHMARKS)
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        yield module


@pytest.fixture(scope="module")
def coverage() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("coverage")


@pytest.fixture(scope="module")
def type_one() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("type_one")


@pytest.fixture(scope="module")
def planning() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("planning")


@pytest.fixture(scope="module")
def pilots() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("pilots")


@pytest.fixture(scope="module")
def weighted() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("weighted")


@pytest.fixture(scope="module")
def crossed() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("crossed")


@pytest.fixture(scope="module")
def repeated() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("repeated")


@pytest.fixture(scope="module")
def speed() -> Iterator[ModuleType]:
    yield from _load("speed")


# -- coverage ----------------------------------------------------------------------------------------------------------


def test_grid_has_no_cell_twice_and_can_be_drawn(coverage):
    cells = coverage.grid()
    assert len(set(cells)) == len(cells) > 300
    assert {cell.generator for cell in cells} == set(coverage.GENERATORS)
    assert {cell.sizes for cell in cells} == set(coverage.SIZES)
    assert {cell.p for cell in cells} == {0.5, 0.8, 0.9, 0.95, 0.98}
    assert {cell.n_clusters for cell in cells} >= {4, 6, 10, 20, 50, 100, 200}
    assert all((cell.icc == 0) == (cell.generator == "independent") for cell in cells)
    seeds = {tuple(cell.seed(1, stage).generate_state(2)) for cell in cells for stage in (0, 1)}
    assert len(seeds) == 2 * len(cells)


def test_dominated_sizes(coverage):
    rng = np.random.default_rng(0)
    sizes = coverage.cluster_sizes(coverage.Cell("independent", "dominated", 12, 0.5, 0.0), rng)
    assert tuple(sizes) == coverage.simulation.DOMINATED
    assert sizes.sum() == 500
    for clusters in (4, 6, 20, 200):
        sizes = coverage.cluster_sizes(coverage.Cell("independent", "dominated", clusters, 0.5, 0.0), rng)
        assert len(sizes) == clusters
        assert abs(sizes.max() / sizes.sum() - 0.46) < 0.005


@pytest.mark.parametrize("generator", ["beta-binomial", "logit-normal", "all-or-nothing", "independent"])
def test_draws_have_the_stated_mean_and_icc(coverage, generator):
    icc = 0.0 if generator == "independent" else 0.3
    cell = coverage.Cell(generator, "equal 5", 10, 0.8, icc)
    s = coverage.draw(cell, np.full(10, 5), 20_000, np.random.default_rng(5)) / 5
    assert s.mean() == pytest.approx(0.8, abs=0.005)
    assert s.var() / (0.8 * 0.2) == pytest.approx((1 + 4 * icc) / 5, abs=0.01)


def test_distinct_tables_ignore_the_order_of_clusters_only(coverage):
    m = np.array([2, 2, 3])
    s = np.array([[0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 1, 2], [0, 2, 1]])
    first, inverse = coverage.distinct_tables(s, m)
    assert len(first) == 3
    assert inverse[0] == inverse[1] == inverse[3]
    assert len({inverse[0], inverse[2], inverse[4]}) == 3


def test_coverage_is_what_a_plain_loop_gives(coverage):
    cell = coverage.Cell("beta-binomial", "log-normal", 5, 0.8, 0.3)
    records = {r["method"]: r for r in coverage.simulate(cell, 30)}
    size_seed, draw_seed, _ = cell.seed(coverage.SEED, 0).spawn(3)
    m = coverage.cluster_sizes(cell, np.random.default_rng(size_seed))
    s = coverage.draw(cell, m, 30, np.random.default_rng(draw_seed))
    for method in ("icc_averaged", "cr1"):
        results = [stats.cluster_ci(row, m, method=method) for row in s]
        covered = [bool(r.ci_low <= 0.8 <= r.ci_high) for r in results]
        assert records[method]["coverage"] == pytest.approx(np.mean(covered), abs=1e-12)
        assert records[method]["width"] == pytest.approx(
            np.mean([r.ci_high - r.ci_low for r in results]), rel=1e-9
        )


def test_simulation_is_sane_and_repeats(coverage):
    cells = coverage.grid(quick=True)
    records = list(itertools.chain.from_iterable(coverage.run(cells, 12, bar=False)))
    frame = coverage.collect(records, None)
    assert frame["coverage"].between(0, 1).all()
    np.testing.assert_allclose(frame["coverage"] + frame["too_high"] + frame["too_low"], 1)
    assert frame["width"].between(0, 1).all()
    assert (frame["replicates"] == 12).all()
    assert set(frame.groupby(["generator", "sizes", "n_clusters"])["method"].size()) == {6}
    exact = set(frame.loc[frame["method"] == "bootstrap_exact", "sizes"])
    assert exact == {"equal 5"}
    # One cell on its own, and the same cell with another seed or at another stage.
    cell = cells[-1]
    alone = coverage.collect(coverage.simulate(cell, 12), None)
    rows = (frame[list(coverage._KEYS)] == list(coverage.dataclasses.astuple(cell))).all(axis=1)
    pd.testing.assert_frame_equal(alone, frame[rows].reset_index(drop=True))
    for change in ({"seed": 2}, {"stage": 1}):
        other = coverage.collect(coverage.simulate(cell, 12, **change), None)
        assert not np.allclose(other["width"], alone["width"])
    text = coverage.summary(frame, "a command")
    assert "a command" in text
    assert text.count("\n|---") == 5
    assert len(coverage.verdict(frame)) == 2


def test_any_number_of_processes_writes_the_same_numbers_and_a_run_can_go_on(coverage, tmp_path):
    one, two, page = tmp_path / "one.csv", tmp_path / "two.csv", tmp_path / "page.md"
    options = [
        "--quick",
        "--replicates",
        "2",
        "--confirm",
        "1",
        "--confirm-replicates",
        "4",
        "--table",
        str(page),
    ]
    coverage.main([*options, "--output", str(one)])
    script = [
        sys.executable,
        str(BENCHMARKS / "coverage.py"),
        *options,
        "--output",
        str(two),
        "--processes",
        "2",
    ]
    subprocess.run(script, check=True, capture_output=True)
    assert one.read_bytes() == two.read_bytes()
    assert "again" in page.read_text(encoding="utf-8")
    whole = pd.read_csv(one)
    assert set(whole["stage"]) == {0, 1}
    whole[whole["generator"] != "logit-normal"].to_csv(two, index=False)
    coverage.main([*options, "--output", str(two), "--resume"])
    pd.testing.assert_frame_equal(pd.read_csv(two), whole, rtol=1e-8)


# -- type I error of pairs ---------------------------------------------------------------------------------------------


def test_grid_of_pairs_has_no_cell_twice(type_one):
    cells = type_one.grid()
    assert len(set(cells)) == len(cells) == len(type_one.SETTINGS) * 3 * 5 * 2
    assert {cell.setting for cell in cells} == set(type_one.NULLS) | set(type_one.SHIFTS)
    assert {cell.n_clusters for cell in cells} == {5, 8, 12, 20, 40}
    assert {cell.sizes for cell in cells} == set(type_one.SIZES)
    seeds = {tuple(cell.seed(1, stage).generate_state(2)) for cell in cells for stage in (0, 1)}
    assert len(seeds) == 2 * len(cells)
    assert set(type_one.grid(quick=True)) <= set(cells)


@pytest.mark.parametrize("sizes", ["equal 5", "log-normal", "dominated"])
@pytest.mark.parametrize("setting", [
    "no clustering", "exchangeable", "exchangeable, whole", "asymmetric", "one way", "half of the clusters", "against a tenth",
])  # fmt: skip
def test_draws_have_the_stated_difference(type_one, setting, sizes):
    cell = type_one.Cell(setting, sizes, 12, 0.3)
    rng = np.random.default_rng(8)
    m = type_one.cluster_sizes(cell, rng)
    assert len(m) == 12
    b, c = type_one.draw(cell, m, 20_000, rng)
    assert b.min() >= 0
    assert c.min() >= 0
    assert (b + c <= m).all()
    stated = {"one way": 0.3, "half of the clusters": 0.15, "against a tenth": 0.24}.get(setting, 0.0)
    assert cell.difference == pytest.approx(stated, abs=1e-12)
    for found, truth in (((b - c).sum(axis=1) / m.sum(), stated), ((b + c).sum(axis=1) / m.sum(), 0.3)):
        assert abs(found.mean() - truth) < 4 * found.std() / np.sqrt(len(found))


def test_sizes_of_a_dominated_set_of_pairs(type_one):
    for clusters in (5, 8, 12, 20, 40):
        sizes = type_one.cluster_sizes(
            type_one.Cell("asymmetric", "dominated", clusters, 0.3), np.random.default_rng(0)
        )
        assert len(sizes) == clusters
        assert abs(sizes.max() / sizes.sum() - 0.46) < 0.01


def test_error_rates_are_what_a_plain_loop_gives(type_one):
    cell = type_one.Cell("asymmetric", "log-normal", 8, 0.3)
    records = {r["method"]: r["missed"] for r in type_one.simulate(cell, 40, seed=3)}
    assert list(records) == list(type_one.WORDS)
    m = type_one.cluster_sizes(cell, np.random.default_rng(cell.seed(3, 0).spawn(1)[0]))
    b, c = type_one.draw(cell, m, 40, np.random.default_rng(cell.seed(3, 0).spawn(2)[1]))
    pairs = list(zip(b, c, strict=True))
    for method in ("icc_averaged", "obuchowski"):
        p = [stats.mcnemar(x, y, m, method=method).pvalue for x, y in pairs]
        assert records[method] == np.mean([one <= 0.05 for one in p])
    plain = [stats.mcnemar(x.sum(), y.sum(), method="asymptotic").pvalue for x, y in pairs]
    assert records["asymptotic"] == np.mean([one <= 0.05 for one in plain])
    cr1 = [stats.diff_ci(x, y, m, method="cr1") for x, y in pairs]
    assert records["cr1"] == np.mean([not r.ci_low <= 0 <= r.ci_high for r in cr1])


def test_pairs_are_simulated_alike_alone_and_again(type_one):
    cells = type_one.grid(quick=True)
    frame = type_one.collect(list(itertools.chain.from_iterable(type_one.run(cells, 30, bar=False))), None)
    assert frame["missed"].between(0, 1).all()
    shifted = frame["setting"].isin(list(type_one.SHIFTS))
    assert set(frame.loc[~shifted, "method"]) == set(type_one.WORDS)
    assert set(frame.loc[shifted, "method"]) == set(type_one.INTERVALS)
    cell = cells[1]
    alone = type_one.collect(type_one.simulate(cell, 30), None)
    rows = (frame[type_one._KEYS] == list(type_one.dataclasses.astuple(cell))).all(axis=1)
    pd.testing.assert_frame_equal(alone, frame[rows].reset_index(drop=True))
    for change in ({"seed": 2}, {"stage": 1}):
        other = type_one.collect(type_one.simulate(cell, 30, **change), None)
        assert not np.array_equal(other["missed"], alone["missed"])
        if "stage" in change:  # fresh draws of the same clusters
            assert other["effective_clusters"].equals(alone["effective_clusters"])


def test_pairs_in_any_number_of_processes_write_the_same_numbers(type_one, tmp_path, capsys):
    one, two, page = tmp_path / "one.csv", tmp_path / "two.csv", tmp_path / "page.md"
    options = ["--quick", "--confirm", "1", "--table", str(page)]
    type_one.main([*options, "--output", str(one), "--processes", "1"])
    text = page.read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() == text.strip()
    assert text.count("\n|---") == 4
    assert "again" in text
    script = [
        sys.executable,
        str(BENCHMARKS / "type_one.py"),
        *options,
        "--output",
        str(two),
        "--processes",
        "2",
    ]
    subprocess.run(script, check=True, capture_output=True)
    assert one.read_bytes() == two.read_bytes()
    assert page.read_text(encoding="utf-8") == text
    assert set(pd.read_csv(one)["stage"]) == {0, 1}


def test_cells_beyond_the_grid(type_one):
    assert all(abs(cell.difference) < 1e-12 for cell in type_one.beyond())
    lines = type_one.report_beyond(20).splitlines()
    assert len(lines) == 2 + len(type_one.beyond())
    committed = type_one.BEYOND.read_text(encoding="utf-8").splitlines()
    assert [line.split("|")[1:5] for line in committed[2:]] == [line.split("|")[1:5] for line in lines]
    # What the page says of them.
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in committed[4:]]
    whole = [row for row in rows if row[0] == "exchangeable, whole" and row[2] == "3"]
    assert [float(row[4]) < 0.005 for row in whole] == [True] * 2
    assert [0.17 < float(row[5]) < 0.25 for row in whole] == [True] * 2
    assert all(float(row[4]) > 0.05 for row in rows if row[0] == "coin")
    assert max(float(row[4]) for row in rows if row[0] == "asymmetric") == pytest.approx(1 / 6, abs=0.01)


def test_the_default_keeps_its_level_in_every_null_cell(type_one):
    """The committed run, which is of the grid as it stands."""
    frame = pd.read_csv(BENCHMARKS / "results" / "type_one.csv")
    own = frame[(frame["method"] == type_one.DEFAULT) & frame["setting"].isin(list(type_one.NULLS))]
    cells = [
        type_one.Cell(*row) for row in own.loc[own["stage"] == 0, type_one._KEYS].itertuples(index=False)
    ]
    assert sorted(cells) == [cell for cell in type_one.grid() if cell.setting in type_one.NULLS]
    assert (own["replicates"] >= 10_000).all()
    assert own["missed"].max() <= type_one.LIMIT == 0.075
    others = (
        frame[frame["setting"].isin(list(type_one.NULLS)) & (frame["stage"] == 0)]
        .groupby("method")["missed"]
        .max()
    )
    assert (others[["asymptotic", "bootstrap", "cr1"]] > type_one.LIMIT).all()  # what it is set against


# -- weighted pairs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["equal", "by item", "by cluster", "with disagreement"])
@pytest.mark.parametrize("setting", ["no clustering", "exchangeable", "asymmetric", "one way"])
def test_weighted_draws_have_the_stated_difference(weighted, setting, weights):
    cell = weighted.Cell(setting, weights, "log-normal", 12)
    rng = np.random.default_rng(8)
    items = weighted.items_of(cell, rng)
    d = weighted.draw(cell, items, 4_000, rng)
    assert set(np.unique(d)) == ({0, 1} if setting == "one way" else {-1, 0, 1})
    truth = items.difference(setting)
    assert (abs(truth) < 1e-12) == (setting != "one way")
    found = items.weights @ d / items.weights.sum()
    assert abs(found.mean() - truth) < 4 * found.std() / np.sqrt(len(found))
    differs = (d != 0).mean(axis=1)
    assert abs(differs - items.disagreement).max() < 0.05
    assert (np.ptp(items.weights) == 0) == (weights == "equal")
    assert (items.disagreement @ items.weights / items.weights.sum() > 0.4) == (
        weights == "with disagreement"
    )


def test_weighted_error_rates_are_those_of_the_accessor(weighted):
    cell = weighted.Cell("asymmetric", "by item", "equal 5", 8)
    records = {r["method"]: r["missed"] for r in weighted.simulate(cell, 12, seed=3)}
    assert list(records) == list(weighted.WORDS)
    for_items, for_scores = cell.seed(3).spawn(2)
    items = weighted.items_of(cell, np.random.default_rng(for_items))
    d = weighted.draw(cell, items, 12, np.random.default_rng(for_scores))
    n = len(items.codes)
    frame = pd.DataFrame({"model": ["a"] * n + ["b"] * n, "item": [*range(n)] * 2, "doc": [*items.codes] * 2})
    frame["w"] = [*items.weights] * 2
    for method, cluster in (("icc_averaged", "doc"), ("cr2", "doc"), ("tango", None)):
        missed = []
        for k in range(12):
            frame["score"] = [*(d[:, k] > 0) * 1, *(d[:, k] < 0) * 1]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one = frame.evalci.diff_ci(
                    "model", item="item", cluster=cluster, weights="w", method=method
                ).iloc[0]
            missed.append(not one.ci_low <= 0 <= one.ci_high)
        assert records[method] == np.mean(missed)


def test_weighted_pairs_in_any_number_of_processes(weighted, tmp_path, capsys):
    one, two, page = tmp_path / "one.csv", tmp_path / "two.csv", tmp_path / "page.md"
    options = ["--quick", "--table", str(page)]
    weighted.main([*options, "--output", str(one), "--processes", "1"])
    assert capsys.readouterr().out.strip() == page.read_text(encoding="utf-8").strip()
    script = [
        sys.executable,
        str(BENCHMARKS / "weighted.py"),
        *options,
        "--output",
        str(two),
        "--processes",
        "2",
    ]
    subprocess.run(script, check=True, capture_output=True)
    assert one.read_bytes() == two.read_bytes()


def test_weighted_cells_beyond_the_grid(weighted):
    lines = weighted.report_beyond(5).splitlines()
    committed = weighted.BEYOND.read_text(encoding="utf-8").splitlines()[2:]
    assert [line.split("|")[1] for line in committed] == [line.split("|")[1] for line in lines]
    assert len(lines) == 2 + len(weighted.CLUSTERS)
    assert all(float(line.split("|")[2]) > 0.05 for line in committed[2:])  # as the page says


def test_the_default_keeps_its_level_under_weights(weighted):
    """The committed run, which is of the grid as it stands."""
    frame = pd.read_csv(BENCHMARKS / "results" / "weighted.csv")
    own = frame[frame["method"] == weighted.DEFAULT]
    assert (
        sorted(weighted.Cell(*row) for row in own[weighted._KEYS].itertuples(index=False)) == weighted.grid()
    )
    assert (own["replicates"] >= 10_000).all()
    null = own["setting"] != "one way"
    assert own.loc[null, "missed"].max() <= weighted.LIMIT == 0.075
    page = weighted.summary(frame, "python benchmarks/weighted.py")
    assert page == weighted.TABLE.read_text(encoding="utf-8")


# -- crossed clusterings -----------------------------------------------------------------------------------------------


def test_crossed_draws_have_the_stated_rate_and_variance(crossed):
    cell = crossed.Cell("rate", "20 x 10, 3 each", "cells", 0.8)
    rng = np.random.default_rng(1)
    at = crossed.places(cell, rng)
    assert [len(np.unique(ids)) for ids in at] == [20, 10]
    z = crossed.latent(cell, at, 4_000, rng)
    assert z.var() == pytest.approx(1, abs=0.03)
    assert (z[:, 0] * z[:, 1]).mean() == pytest.approx(sum(crossed.EFFECTS["cells"]), abs=0.06)  # one cell
    assert (z[:, 0] * z[:, 3]).mean() == pytest.approx(crossed.EFFECTS["cells"][0], abs=0.06)  # one document


def test_crossed_coverage_is_that_of_the_accessor(crossed):
    cell = crossed.Cell("difference", "10 x 5", "both", 0.8)
    records = {r["method"]: r for r in crossed.simulate(cell, 6, seed=3)}
    rng = np.random.default_rng(cell.seed(3))
    at = crossed.places(cell, rng)
    shared = np.sqrt(crossed._SHARED) * rng.standard_normal((6, 50))
    own = [shared + np.sqrt(1 - crossed._SHARED) * crossed.latent(cell, at, 6, rng) for _ in range(2)]
    frame = pd.DataFrame(
        {
            "model": ["a"] * 50 + ["b"] * 50,
            "item": [*range(50)] * 2,
            "doc": [*at[0]] * 2,
            "prompt": [*at[1]] * 2,
        }
    )
    for method, name in (("auto", "default"), ("cr2", "cr2")):
        width = []
        for k in range(6):
            frame["score"] = (np.concatenate([own[0][k], own[1][k]]) < crossed.ndtri(0.8)).astype(int)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one = frame.evalci.diff_ci(
                    "model", item="item", cluster=["doc", "prompt"], method=method
                ).iloc[0]
            width.append(one.ci_high - one.ci_low)
        assert records[name]["width"] == pytest.approx(np.mean(width), rel=1e-9)


def test_crossed_runs_in_any_number_of_processes_and_in_parts(crossed, tmp_path, capsys):
    one, two, page = tmp_path / "one.csv", tmp_path / "two.csv", tmp_path / "page.md"
    options = ["--quick", "--table", str(page), "--processes", "1"]
    crossed.main([*options, "--output", str(one)])
    assert capsys.readouterr().out.strip() == page.read_text(encoding="utf-8").strip()
    for kind in ("rate", "difference"):
        crossed.main([*options, "--output", str(two), "--only", kind])
    pd.testing.assert_frame_equal(pd.read_csv(one), pd.read_csv(two))


def test_the_default_keeps_its_coverage_under_crossed_clusterings(crossed):
    """The committed run, which is of the grid as it stands."""
    frame = pd.read_csv(BENCHMARKS / "results" / "crossed.csv")
    own = frame[frame["method"] == "default"]
    cells = {crossed.Cell(*row) for row in own[["kind", "design", "effect", "p"]].itertuples(index=False)}
    assert cells == {cell for cell, _ in crossed.grid()}
    assert (own["simulations"] >= 1000).all()
    assert own["coverage"].min() >= 0.93
    assert frame.loc[frame["method"] == "cr1", "coverage"].min() < 0.85  # what it is set against
    assert crossed.summary(frame) == crossed.TABLE.read_text(encoding="utf-8")


# -- repeated samples --------------------------------------------------------------------------------------------------


def test_repeated_law_is_that_of_the_draws(repeated):
    cell = repeated.Cell("strong", "equal 5", 30, 5, 0.1)
    mean, true = repeated.law(cell)
    logit = mean + np.hypot(*repeated.WORLDS["strong"]) * np.random.default_rng(1).standard_normal(400_000)
    rate = 1 / (1 + np.exp(-logit))
    np.testing.assert_allclose(true, [(1 - (1 - rate) ** k).mean() for k in repeated.KS], atol=2e-3)
    assert true[0] == pytest.approx(0.1, abs=1e-9)


def test_repeated_intervals_are_those_of_the_accessor(repeated):
    c, codes = np.array([0, 3, 5, 1, 2, 2, 4, 0, 5, 5]), np.arange(10) // 2
    rows = pd.DataFrame(
        {"item": np.repeat(np.arange(10), 5), "score": (np.arange(5) < c[:, None]).astype(int).ravel()}
    )
    rows["cluster"] = codes[rows["item"]]
    options = repeated.pass_options(np.random.SeedSequence(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cluster, given in ((None, None), ("cluster", codes)):
            ask = {"item": "item", "cluster": cluster, "n_resamples": 999, "rng": np.random.SeedSequence(1)}
            want = rows.evalci.pass_at_k(repeated.KS, **ask)
            got = repeated.repeated_columns(repeated.items_of(c, 5, given), repeated.KS, options)
            for name in ("estimate", "ci_low", "ci_high", "simultaneous_low", "simultaneous_high"):
                np.testing.assert_array_equal(got[name][0], want[name])


def test_repeated_runs(repeated, tmp_path):
    table = tmp_path / "page.md"
    options = ["--confirm", "1", "--confirm-simulations", "8"]
    repeated.main(
        ["--quick", *options, "--processes", "1", "--output", str(tmp_path / "a.csv"), "--table", str(table)]
    )
    frame = pd.read_csv(tmp_path / "a.csv")
    assert frame["stage"].value_counts().to_dict() == {0: 6, 1: 3}
    assert len(counted := repeated.counted(frame)) == 6
    (again,) = repeated.lowest(frame, 1)
    least = frame[frame["stage"] == 0].groupby(repeated.KEYS)[["coverage", "all_k"]].min().min(axis=1)
    assert least[tuple(getattr(again, key) for key in repeated.KEYS)] == least.min()
    assert set(counted.loc[counted["world"] == again.world, "simulations"]) == {8}
    assert frame.groupby("stage")["seed"].unique().tolist() == [[repeated.SEED], [repeated.SEED + 1]]
    page = table.read_text(encoding="utf-8")
    assert "in clusters, much alike | 5" in page
    assert "the 1 cells with the lowest numbers above were" in page.replace("\n", " ")


def test_the_default_keeps_its_coverage_of_repeated_samples(repeated):
    """The committed run, which is of the grid as it stands."""
    frame = pd.read_csv(BENCHMARKS / "results" / "repeated.csv")
    assert {repeated.Cell(*row) for row in frame[repeated.KEYS].itertuples(index=False)} == {
        c for c, _ in repeated.grid()
    }
    again = frame[frame["stage"] == 1]
    cells = {repeated.Cell(*row) for row in again[repeated.KEYS].itertuples(index=False)}
    assert cells == set(repeated.lowest(frame, len(cells)))
    assert len(cells) >= 8
    assert (again["simulations"] >= 1000).all()
    counted = repeated.counted(frame)
    assert len(counted) == 3 * len(repeated.grid())
    assert counted["coverage"].min() >= 0.93
    assert counted["all_k"].min() >= 0.93
    assert frame.loc[frame["k"] == 1, "rows_by_item"].min() < 0.5  # what it is set against
    assert repeated.summary(frame) == repeated.TABLE.read_text(encoding="utf-8")


# -- planning ----------------------------------------------------------------------------------------------------------


def test_planning_draws_have_the_stated_moments(planning):
    """Mean, spread and correlations of what is drawn, cell by cell, are those that the plan is told."""
    seen = set()
    for cell in planning.grid():
        kind = (cell.generator, cell.samples > 1, cell.measure)
        if kind in seen:
            continue
        seen.add(kind)
        rng, sizes = np.random.default_rng(1), np.full(4_000, 3)
        y = planning.values(cell, sizes, 20, rng).reshape(20, 4_000, 3)
        assert y.mean() == pytest.approx(cell.effect, abs=0.01)
        if cell.generator == "graded":
            total = cell.spread**2
        else:
            total = (
                cell.spread - cell.effect**2 if cell.measure == "power" else cell.effect * (1 - cell.effect)
            )
        parts = Parts.of(total, cell.icc, cell.item_icc if cell.samples > 1 else cell.icc, cell.samples)
        off = y - cell.effect
        assert (off[..., 0] * off[..., 1]).mean() == pytest.approx(parts.between, abs=0.03 * total)
        assert y.var() == pytest.approx(parts.between + parts.item, rel=0.04)
    assert len(seen) == 8


@pytest.mark.parametrize(("place", "times"), [(2, 1), (12, 4), (14, 12), (16, 2), (18, 1)])
def test_planning_tests_are_those_of_the_accessor(planning, place, times):
    cell = planning.grid()[place]
    sizes = np.tile([3, 4, 2, 5, 6, 4, 7], times)
    d = planning.values(cell, sizes, 24, np.random.default_rng(8))
    got = planning.tested(cell, sizes, d)
    rows = pd.DataFrame(
        {"item": np.tile(np.arange(sizes.sum()), 2), "model": np.repeat(["a", "b"], sizes.sum())}
    )
    rows["doc"] = np.repeat(np.arange(len(sizes)), sizes)[rows["item"]]
    graded = cell.generator == "graded" or cell.samples > 1
    want = []
    for row in d:
        rows["score"] = np.concatenate([row, 0 * row] if graded else [row > 0, row < 0]).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = rows.evalci.diff_ci(
                "model",
                item="item",
                cluster="doc",
                margin=cell.margin or None,
                claim=cell.goal,
                method="cr2" if graded else "auto",
            )
        want.append(one["verdict"].item() in ("superior", "noninferior", "equivalent"))
    np.testing.assert_array_equal(got, want)
    assert 0 < np.mean(want) < 1


def test_planning_runs(planning, tmp_path):
    table = tmp_path / "page.md"
    planning.main(["--quick", "--processes", "1", "--output", str(tmp_path / "a.csv"), "--table", str(table)])
    assert len(pd.read_csv(tmp_path / "a.csv")) == 7
    assert "| cr2 | graded | 12 dominated |" in table.read_text(encoding="utf-8")


def test_a_plan_comes_true(planning):
    """Live, on one of the designs."""
    cell = planning.grid()[5]
    found = planning.simulate(cell, 3_000, seed=4)
    assert found["planned"] == pytest.approx(found["simulated"], abs=0.03 + 2 * found["error"])


@pytest.mark.slow
def test_plans_come_true(planning):
    """The committed run, which is of the designs and of the plans as they stand."""
    frame = pd.read_csv(BENCHMARKS / "results" / "planning.csv", keep_default_na=False)
    cells = planning.grid()
    assert len(frame) == len(cells)
    for cell in cells:
        own = (
            (frame["generator"] == cell.generator)
            & (frame["sizes"] == cell.sizes)
            & (frame["clusters"] == cell.clusters)
        )
        own &= (frame["icc"] - cell.icc).abs() < 1e-6
        own &= (
            (frame["effect"] == cell.effect)
            & (frame["goal"] == cell.goal)
            & (frame["measure"] == cell.measure)
        )
        (row,) = frame[own].itertuples()
        if cell.measure == "half-width" and cell.clusters >= 40:
            continue  # the dear ones
        plan, method = planning.planned(cell)
        assert method == row.method
        if cell.measure == "power":
            assert plan == pytest.approx(row.planned, abs=1e-3)
        else:
            assert plan == pytest.approx(row.planned, rel=2e-3)
    power, width = (frame[frame["measure"] == measure] for measure in ("power", "half-width"))
    assert (power["simulations"] >= 20_000).all()
    off = (power["planned"] - power["simulated"]).abs()
    assert off.max() <= 0.03
    assert (width["planned"] / width["simulated"] - 1).abs().max() <= 0.03
    assert planning.summary(frame) == planning.TABLE.read_text(encoding="utf-8")


# -- speed -------------------------------------------------------------------------------------------------------------

GROUPS = [
    "bootstrap_loop", "bootstrap_scale", "bootstrap_memory", "closed_form", "reduction", "groups", "many_groups",
    "text_clusters", "default_accuracy", "imports", "cube", "bootstrap_scipy", "bootstrap_arch",
    "pairs_tables", "pairs_bootstrap", "pairs_compare", "pairs_simultaneous", "pairs_accuracy",
]  # fmt: skip


def test_every_group_is_run(speed):
    assert list(speed.GROUPS) == GROUPS


def once(work, repeat=1, budget=0.0):
    start = time.process_time()
    work()
    return max(time.process_time() - start, 1e-9)


@pytest.mark.parametrize("group", GROUPS)
def test_group_runs_tiny(speed, group, monkeypatch):
    if group != "bootstrap_scale":  # which is timed as all are for the docs
        monkeypatch.setattr(speed, "cpu", once)
    if group == "bootstrap_arch":
        pytest.importorskip("arch")
    if group == "text_clusters" and not Path("/proc/self/clear_refs").exists():
        pytest.skip("peak memory is read from /proc")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = list(speed.GROUPS[group](True))
    assert table
    for row in table:
        assert row.what
        assert len(row.cells()) == len(speed.HEADER)
        if math.isnan(row.peer):
            assert math.isnan(row.ratio)
        else:
            assert row.ours > 0
            assert row.peer > 0
            assert row.ratio in (row.ours / row.peer, row.peer / row.ours)
    if group == "default_accuracy":  # numbers, not timings
        errors = [row.ours for row in table if "error of the limits" in row.what]
        assert len(errors) == 4
        assert max(errors) < 1e-3
    if group == "pairs_accuracy":
        assert max(row.ours for row in table) < 1e-6


def test_table_is_markdown_and_quick_runs_have_no_targets(speed):
    lines: list[str] = []
    table = speed.run("bootstrap_scale", quick=True, show=lines.append)
    assert len(lines) == len(table) + 1
    assert all(row.met is None for row in table)
    page = speed.markdown(table).splitlines()
    assert page[1] == "|---|---|---|---|---|"
    assert len(page) == len(table) + 2
    with pytest.raises(SystemExit, match="No group contains"):
        speed.run("nothing", quick=True)


@pytest.mark.parametrize(("fractional", "clusters", "nodes"), [(False, 60, 48), (True, 1_000, 192)])
def test_references_agree_with_each_other(speed, fractional, clusters, nodes):
    """Three ways to the default's limits that share no code."""
    s, m, ss = speed.totals(clusters, 8.0, fractional=fractional)
    slow = speed.reference_small(s, m, ss, nodes)
    other = speed.reference_large(s, m, ss) if fractional else speed.reference_dense(s, m)
    np.testing.assert_allclose(other, slow, atol=1e-3 * (slow[1] - slow[0]))
    result = stats.cluster_ci(s, m, ss=ss if fractional else None)
    assert not result.guard
    np.testing.assert_allclose([result.ci_low, result.ci_high], slow, atol=1e-4 * (slow[1] - slow[0]))


def test_pair_by_pair_is_the_same_bootstrap(speed):
    """What is timed gives the same limits, up to resampling error."""
    score, code = speed.systems(3, 400, 40)
    scores = MatchedScores.from_items(score.T, code, binary=True, bounded=True)
    low, high = speed._shared_bootstrap(scores, np.array([0]), np.array([2]), 4_000)
    d = scores.sums[:, 0] - scores.sums[:, 2]
    for one in (speed._one_pair, speed._one_pair_loop):
        np.testing.assert_allclose(
            [low[0], high[0]], one(d, scores.sizes, 4_000), atol=0.1 * (high[0] - low[0])
        )


def test_frame_and_cube_of_systems_hold_the_same(speed):
    score, code = speed.systems(3, 50, 6)
    frame = speed._score_rows(score, code)
    wide = frame.pivot(index="item", columns="system", values="score")
    np.testing.assert_array_equal(wide.to_numpy(), score.T)
    cube = speed._score_cube(score, code)
    np.testing.assert_array_equal(cube["score"], score)
    docs = frame.groupby("item")["doc"].unique().map(lambda one: one.item())
    assert list(cube["doc"].to_numpy()) == list(docs)


@pytest.mark.parametrize("clusters", [4, 30])
def test_reference_of_a_pair_has_nodes_enough(speed, clusters):
    for b, c in zip(*speed._discordant(4, clusters, "log-normal")[:2], strict=True):
        m = speed._discordant(4, clusters, "log-normal")[2]
        few, many = (speed.reference_pair(b, c, m, nodes) for nodes in (1_000, 4_000))
        np.testing.assert_allclose(few, many, atol=1e-9 * (many[1] - many[0]))


@pytest.mark.parametrize(
    ("ours", "peer", "at_least", "met"),
    [(1.0, 10.0, 5.0, True), (1.0, 4.0, 5.0, False), (1.0, 4.0, None, None)],
)
def test_rows_know_whether_the_target_is_met(speed, ours, peer, at_least, met):
    assert speed.faster("x", ours, peer, at_least).met is met
    assert speed.costs("x", ours, peer, None).met is None
    assert speed.within("x", ours, at_least).met is (None if at_least is None else True)


# -- pilots ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", ["half-width", "power"])
def test_pilots_have_the_stated_correlation(pilots, goal):
    cell = pilots.Cell(goal=goal, clusters=4_000, sizes="equal 5", icc=0.3)
    rows = pilots.pilot(cell, np.full(4_000, 5), np.random.default_rng(1))
    if goal == "power":
        a, b = (rows.loc[rows["system"] == system, "score"].to_numpy() for system in "ab")
        assert (a != b).mean() == pytest.approx(pilots.DISAGREEMENT, abs=0.015)
        y, mean = a - b, pilots.TRUE
    else:
        y, mean = rows["score"].to_numpy(), 0.0
    assert y.mean() == pytest.approx(mean, abs=0.02)
    off = y.reshape(-1, 5) - y.mean()
    pairs = (off.sum(axis=1) ** 2 - (off**2).sum(axis=1)).mean() / 20
    assert pairs / off.var() == pytest.approx(0.3, abs=0.025)


def test_pilots_are_judged_as_the_required_numbers_are(pilots):
    """Against the range itself, found by the search."""
    rng = np.random.default_rng(6)
    for goal, ask in (
        ("half-width", {"cluster": "cluster", "half_width": pilots.HALF_WIDTH}),
        (
            "power",
            {"factor": "system", "item": "item", "cluster": "cluster", "difference": pilots.DIFFERENCE},
        ),
    ):
        cell = pilots.Cell(goal=goal, clusters=12, sizes="equal 5", icc=0.2)
        rows = pilots.pilot(cell, np.full(12, 5), rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = rows.evalci.required_clusters(**ask)
        low, high = int(found["n_clusters_low"].iloc[0]), int(found["n_clusters_high"].iloc[0])
        seen = [pilots.look(cell, rows, number)[:2] for number in (low - 2, low + 2, high - 2, high + 2)]
        assert seen == [(True, False), (False, False), (False, False), (False, True)]


def test_pilots_run(pilots, tmp_path):
    table = tmp_path / "page.md"
    pilots.main(["--quick", "--processes", "1", "--output", str(tmp_path / "a.csv"), "--table", str(table)])
    found = pd.read_csv(tmp_path / "a.csv")
    assert found["goal"].tolist() == ["half-width", "power"]
    assert "| power | 10 | equal 5 | 0.20 |" in table.read_text(encoding="utf-8")


def test_pilots_ranges_hold_the_number():
    """The committed run: a range for the ICC alone holds the number somewhat less often than the ICC."""
    found = pd.read_csv(BENCHMARKS / "results" / "pilots.csv")
    assert len(found) == 12
    assert found["holds"].min() >= 0.7
    assert found["holds"].mean() > 0.8
    assert found["holds_icc"].mean() > 0.92


# -- bootstraps by number of clusters ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bootstrap_clusters() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("bootstrap_clusters")


def test_plain_bootstrap_is_all_resamples(bootstrap_clusters):
    """Against every resample written out, and a point where all clusters have the same rate."""
    m, p = np.full(4, 3), 0.7
    s = np.array([[3, 3, 3, 3], [0, 1, 2, 3], [2, 2, 3, 3], [1, 3, 3, 3], [2, 2, 2, 2]])
    covered = bootstrap_clusters.covers(s, m, p, "bootstrap_exact", np.random.SeedSequence(1))
    assert not covered[0]
    assert not covered[4]
    for row, found in zip(s[1:4], covered[1:4], strict=True):
        rates = np.sort([sum(pick) / 12 for pick in itertools.product(row, repeat=4)])
        low, high = np.quantile(rates, [0.025, 0.975], method="inverted_cdf")
        assert found == (low <= p <= high)


def test_bootstraps_run(bootstrap_clusters, tmp_path):
    table, csv = tmp_path / "page.md", tmp_path / "a.csv"
    bootstrap_clusters.main(["--quick", "--processes", "1", "--output", str(csv), "--table", str(table)])
    frame = pd.read_csv(csv)
    assert frame.loc[~frame["drawn"], "method"].tolist() == ["bootstrap_exact"] * 2
    assert set(frame.loc[frame["drawn"], "method"]) == set(bootstrap_clusters.DRAWN)
    assert table.read_text(encoding="utf-8") == bootstrap_clusters.summary(frame)


def test_rule_for_bootstraps_is_what_was_measured(bootstrap_clusters):
    """The committed run: inside of the rule no cell is far from the level, outside of it many are."""
    frame = pd.read_csv(bootstrap_clusters.CSV)
    assert len(frame) == len([c for c in bootstrap_clusters.grid() if not c.drawn]) + 3 * 9
    exact = frame[~frame["drawn"]]
    inside = exact[bootstrap_clusters.in_rule(exact)]
    outside = exact.drop(inside.index)
    assert inside["coverage"].min() > 0.91
    assert inside["coverage"].mean() > 0.94
    assert outside["coverage"].mean() < 0.85
    worst = exact.loc[exact.groupby(["n_clusters", "p"])["coverage"].idxmin()]
    low = worst[(worst["p"] > 0.5) & (worst["coverage"] < 0.9)]
    assert len(low) >= 15
    assert (low["icc"] == 0.8).all()  # as the page says
    drawn = frame[frame["drawn"] & (frame["p"] == 0.98)].pivot(
        index="n_clusters", columns="method", values="coverage"
    )
    assert (drawn.loc[[10, 30]] < 0.85).all(axis=None)
    middling = frame[frame["drawn"] & (frame["p"] == 0.8) & (frame["method"] == "bootstrap_t")]
    assert (middling["coverage"] > 0.97).all()
    assert bootstrap_clusters.summary(frame) == bootstrap_clusters.TABLE.read_text(encoding="utf-8")


# -- what other tools have ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def peers() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("peers")


@pytest.mark.parametrize(
    ("m", "s", "wilson", "t"),
    [
        (
            "457812",
            "145411",
            (0.35575502418333205, 0.7930195598544545),
            (0.373129602435087, 0.8120555827500981),
        ),
        (
            "117775",
            "106564",
            (0.5437487055517074, 0.9185736015821635),
            (0.6659414344420287, 0.9054871369865427),
        ),
        (
            "825317",
            "621105",
            (0.2946663746027598, 0.8165486511532314),
            (0.2710436250812543, 0.8828025287648995),
        ),
        ("836238", "836238", (0.8194954476222075, 1.0), (1.0, 1.0)),
    ],
)
def test_intervals_of_inspect_are_its_own(peers, m, s, wilson, t):
    """``ci_wilson(cluster=...)`` and ``ci(cluster=...)`` of inspect_ai 0.3.285."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = peers.intervals(
            np.array([list(map(int, s))]), np.array(list(map(int, m))), np.random.SeedSequence(1)
        )
    np.testing.assert_allclose([x.item() for x in found["wilson_effective"]], wilson, rtol=1e-12)
    np.testing.assert_allclose([x.item() for x in found["cr1_t"]], t, rtol=1e-12)


def test_intervals_of_others_are_those_that_the_package_offers(peers):
    m = np.array([4, 6, 9, 2, 5])
    s = np.array([[3, 6, 7, 1, 5], [1, 2, 9, 2, 0]])
    found = peers.intervals(s, m, np.random.SeedSequence(1))
    for method, name in (
        ("cr1", "cr1_t"),
        ("cr2", "cr2"),
        ("korn_graubard", "korn_graubard"),
        ("icc_averaged", "default"),
    ):
        result = stats.cluster_ci(s, np.broadcast_to(m, s.shape), method=method)
        # Other tools do not end their limits at 0 and 1.
        np.testing.assert_allclose(np.clip(found[name], 0, 1), [result.ci_low, result.ci_high], rtol=1e-9)
    naive = stats.proportion_ci(s.sum(axis=1), m.sum())
    np.testing.assert_allclose(found["naive"], [naive.ci_low, naive.ci_high], rtol=1e-9)


def test_peers_run_and_the_page_is_the_committed_run(peers, tmp_path):
    table = tmp_path / "page.md"
    peers.main(["--quick", "--processes", "1", "--output", str(tmp_path / "a.csv"), "--table", str(table)])
    assert "the default" in table.read_text(encoding="utf-8")
    frame = pd.read_csv(peers.CSV)
    assert len(frame) == len(peers.grid()) * len(peers.WORDS) == 48 * 8
    assert peers.summary(frame) == peers.TABLE.read_text(encoding="utf-8")
    worst = frame.groupby("method")["coverage"].min().drop("default").sort_values()
    assert worst.index[-1] == "wilson_effective"  # the best of the others, as the page says
    assert frame.groupby("method")["coverage"].mean().drop("default").idxmax() == "wilson_effective"
    many = frame[(frame["p"] == 0.5) & (frame["n_clusters"] == 40)].groupby("method")["coverage"].min()
    assert (many.drop("naive") > 0.93).all()
    assert many["naive"] < 0.7


# -- rates that go with sizes ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def informative() -> Iterator[ModuleType]:
    pytest.importorskip("tqdm")
    yield from _load("informative")


@pytest.mark.parametrize("dependence", ["none", "mild, falling", "strong, falling", "strong, rising"])
def test_truth_of_rates_that_go_with_sizes(informative, dependence):
    cell = informative.Cell(dependence, 15)
    m, rate = informative.clusters(cell, 500_000, np.random.default_rng(3))
    assert informative.truth(cell) == pytest.approx((m * rate).sum() / m.sum(), abs=1e-3)


def test_rates_that_go_with_sizes_run_and_the_page_is_the_committed_run(informative, tmp_path):
    table = tmp_path / "page.md"
    informative.main(
        ["--quick", "--processes", "1", "--output", str(tmp_path / "a.csv"), "--table", str(table)]
    )
    assert "| strong, rising | 15 |" in table.read_text(encoding="utf-8")
    frame = pd.read_csv(informative.CSV, keep_default_na=False)
    assert len(frame) == len(informative.grid()) * len(informative.METHODS)
    assert informative.summary(frame) == informative.TABLE.read_text(encoding="utf-8")
    strong = frame[frame["dependence"] == "strong, falling"]
    assert (strong["coverage"] < 0.92).all()  # no method does well there, as the page says
    by = strong.pivot(index="n_clusters", columns="method", values="coverage")
    assert (by.loc[100] > by.loc[15]).all()  # and many clusters mend it in part
    rest = frame[(frame["method"] == "icc_averaged") & (frame["dependence"] != "strong, falling")]
    assert (rest["coverage"] > 0.93).all()
