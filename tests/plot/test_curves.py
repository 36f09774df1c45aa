"""Pictures over k, of plans and of simulations show the numbers of the result, all of them and no others."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import requires
from evalci_accessor import datasets, plot, stats
from evalci_accessor import exceptions as ex

from .pictures import covered, heights, labels, marks, notes, over_k, plans, said, segments

matplotlib = requires("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")
LIMITS = ["ci_low", "ci_high"]
BAND = ["simultaneous_low", "simultaneous_high"]
AT_K = {"item": "item", "cluster": "repo_id", "sample": "sample", "rng": 1}
GRID = {"n_clusters": [40, 80, 160], "items_per_cluster": [5, 20], "method": "cr2", "n_sims": 10}
METHODS = ["icc_averaged", "cr1", "naive_wilson"]


@pytest.fixture(scope="module")
def code():
    return datasets.load_code_eval()


@pytest.fixture(scope="module")
def at_k(code):
    return code.evalci.pass_at_k([1, 2, 5], by="model", **AT_K)


@pytest.fixture(scope="module")
def pilot():
    return datasets.load_rag_eval().query("model == 'atlas'")


@pytest.fixture(scope="module")
def width(pilot):
    return pilot.evalci.half_width("doc_id", **GRID)


@pytest.fixture(scope="module")
def powers():
    return datasets.load_rag_eval().evalci.power(
        "model", item="item", cluster="doc_id", baseline="atlas", difference=0.1, n_clusters=[40, 160]
    )


@pytest.fixture(scope="module")
def simulated():
    return [
        stats.simulate.coverage([5] * n, icc=0.3, rate=0.9, methods=METHODS, n_sims=100, rng=1)
        for n in (12, 40)
    ]


def same(drawn, expected):
    """Lines of the picture and arrays, the first within rounding of how the latter were summed."""
    assert len(drawn) == len(expected)
    for line, values in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(line, values, rtol=1e-12)


def shows(ax, result, x="k", by="model", point="estimate", band=BAND):
    """Whether each line shows its rows."""
    parts = [part.sort_values(x) for _, part in result.groupby(by, sort=False)]
    same([line[:, 0] for line in split_marks(ax)], [part[x] for part in parts])
    same(heights(ax, "estimate"), [part[point] for part in parts])
    same(heights(ax, "edge"), [part[side] for part in parts for side in band])


def split_marks(ax):
    return [np.column_stack(line.get_data()) for line in ax.lines if line.get_gid() == "estimate"]


@settings(max_examples=10)
@given(
    numbers=st.lists(st.tuples(*[st.floats(0.01, 0.99)] * 5).map(sorted), min_size=2, max_size=6),
    seed=st.integers(0, 99),
)
def test_each_number_over_k_is_drawn_whatever_the_order_of_rows(numbers, seed):
    columns = [BAND[0], LIMITS[0], "estimate", LIMITS[1], BAND[1]]
    result = pd.DataFrame(numbers, columns=columns)[["estimate", *LIMITS, *BAND]]
    result.insert(0, "k", np.arange(1, len(numbers) + 1))
    shuffled = result.sample(frac=1, random_state=seed)
    before = shuffled.copy()
    ax = plot.pass_at_k(shuffled)
    assert np.array_equal(heights(ax, "estimate")[0], result["estimate"])
    assert np.array_equal(heights(ax, "interval")[0], result[LIMITS])
    assert np.array_equal(heights(ax, "edge"), result[BAND].T)
    pd.testing.assert_frame_equal(shuffled, before)
    plt.close(ax.get_figure())


def test_bands_are_filled_between_the_simultaneous_limits(at_k):
    ax = plot.pass_at_k(at_k)
    bands = [found for found in ax.collections if found.get_gid() == "band"]
    for band, (_, part) in zip(bands, at_k.groupby("model"), strict=True):
        corners = band.get_paths()[0].vertices[:, 1]
        assert set(part[BAND].to_numpy().ravel()) <= set(corners)
        assert (corners.min(), corners.max()) == (part[BAND[0]].min(), part[BAND[1]].max())


def test_every_container_draws_the_same_over_k(code, at_k):
    cube = datasets.load_code_eval_cube()
    series = code.set_index(["model", "item", "repo_id", "sample"])["score"]
    of_cube = {"cluster": "repo_id", "sample": "sample", "rng": 1}
    result = cube.evalci.pass_at_k([1, 2, 5], **of_cube)
    before = code.copy()
    for ax in (
        plot.pass_at_k(series.evalci.pass_at_k([1, 2, 5], by="model", **AT_K)),
        plot.pass_at_k(cube["score"].evalci.pass_at_k([1, 2, 5], **of_cube)),
        at_k.evalci.plot.pass_at_k(), at_k.set_index(["model", "k"]).evalci.plot.pass_at_k(), result.evalci.plot.pass_at_k(),
        plot.pass_at_k(at_k), plot.pass_at_k(result),
    ):  # fmt: skip
        shows(ax, at_k)
        same(heights(ax, "interval"), [part[LIMITS] for _, part in at_k.groupby("model")])
        assert said(ax) == [
            "atlas",
            "boreal",
            "95 % interval of each k",
            "95 % band for all k of a line together",
        ]
        assert ax.get_legend().get_title().get_text() == "80 items in 20 clusters of repo_id"
        assert (ax.get_ylabel(), ax.get_xticks().tolist()) == ("pass@k (any passes)", [1, 2, 5])
    pd.testing.assert_frame_equal(code, before)


@pytest.mark.parametrize(
    ("measure", "word"), [("pass_hat_k", "pass^k (all pass)"), ("best_of_k", "best of k")]
)
def test_the_measure_is_that_of_the_result(code, measure, word):
    score = "tests_passed" if measure == "best_of_k" else "score"
    result = getattr(code.evalci, measure)([1, 3], by="model", score=score, **AT_K)
    ax = result.evalci.plot.pass_at_k()
    shows(ax, result)
    assert ax.get_ylabel() == word


def test_measures_and_counts_that_differ_are_told(at_k):
    both = pd.concat([at_k, at_k.assign(measure="pass_hat_k", n_items=[70, 60, 80] * 2)], ignore_index=True)
    ax = plot.pass_at_k(both)
    assert said(ax)[:4] == [
        "atlas · pass_at_k: 80 items in 20 clusters of repo_id", "boreal · pass_at_k: 80 items in 20 clusters of repo_id",
        "atlas · pass_hat_k: 60\N{EN DASH}80 items in 20 clusters of repo_id",
        "boreal · pass_hat_k: 60\N{EN DASH}80 items in 20 clusters of repo_id",
    ]  # fmt: skip
    assert ax.get_ylabel() == "estimate"
    alone = plot.pass_at_k(at_k[at_k["model"] == "atlas"].assign(cluster="", n_clusters=80))
    assert alone.get_legend().get_title().get_text() == "atlas: 80 items"
    keyless = plot.pass_at_k(at_k[at_k["model"] == "atlas"].drop(columns="model"))
    assert keyless.get_legend().get_title().get_text() == "80 items in 20 clusters of repo_id"


def test_one_k_has_bars_and_no_band(at_k):
    ax = plot.pass_at_k(at_k[at_k["k"] == 2])
    assert len(heights(ax, "interval")) == 2
    assert heights(ax, "edge") == []
    assert said(ax) == ["atlas", "boreal", "95 % interval of each k"]
    scalar = datasets.load_code_eval_cube().evalci.pass_at_k(2, cluster="repo_id", sample="sample", rng=1)
    same(heights(scalar.evalci.plot.pass_at_k(), "interval"), heights(ax, "interval"))


def test_lines_stand_beside_each_other_without_a_change_of_their_data(at_k):
    ax = plot.pass_at_k(at_k)
    ax.get_figure().canvas.draw()
    first, second = (line for line in ax.lines if line.get_gid() == "estimate")
    assert first.get_xdata().tolist() == second.get_xdata().tolist() == [1, 2, 5]
    apart = second.get_transform().transform((2, 0.5)) - first.get_transform().transform((2, 0.5))
    assert 3 < apart[0] * 72 / ax.get_figure().dpi < 10
    assert apart[1] == 0


def test_open_limits_and_gaps_over_k():
    ax = plot.pass_at_k(over_k(2, one_sided=True))
    assert (marks(ax, "open end")[:, 1] == 1).all()
    assert said(ax)[-1] == "no limit here"
    gap = over_k(1)
    gap.loc[1, ["estimate", *LIMITS, *BAND]] = np.nan
    ax = plot.pass_at_k(gap)
    np.testing.assert_array_equal(heights(ax, "estimate")[0], gap["estimate"])
    assert ax.get_xticks().tolist() == [1, 2, 5, 10]
    wide = over_k(1).assign(
        estimate=[1.0, 2, 3, 4], ci_low=-np.inf, ci_high=5.0, simultaneous_low=-np.inf, simultaneous_high=6.0
    )
    ax = plot.pass_at_k(wide)
    assert heights(ax, "edge")[0].tolist() == [ax.get_ylim()[0]] * 4
    assert np.isfinite(heights(ax, "interval")[0]).all()


def test_a_half_width_is_drawn_for_each_design(pilot, width):
    cube = datasets.load_rag_eval_cube().sel(model="atlas")
    series = pilot.set_index("doc_id")["score"]
    result = cube.evalci.half_width("doc_id", **GRID)
    for ax in (
        plot.power(series.evalci.half_width("doc_id", **GRID)), plot.power(cube["score"].evalci.half_width("doc_id", **GRID)),
        width.evalci.plot.power(), width.set_index(["n_clusters", "items_per_cluster"]).evalci.plot.power(),
        result.evalci.plot.power(), plot.power(width.sample(frac=1, random_state=1).sort_values("items_per_cluster")),
    ):  # fmt: skip
        shows(
            ax, width, "n_clusters", "items_per_cluster", "half_width", ["half_width_low", "half_width_high"]
        )
        icc = f"{width['icc_low'][0]:.2f} to {width['icc_high'][0]:.2f}"
        assert said(ax) == [
            "5 items a cluster", "20 items a cluster", f"between the limits of the pilot's ICC, {icc}", "with items without number",
        ]  # fmt: skip
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("clusters of doc_id", "half-width, points")
        assert ax.get_legend().get_title().get_text() == "half-width of the 95 % interval"
        assert ax.get_ylim()[0] == 0
        first = width.groupby("n_clusters")["half_width_limit"].first()
        np.testing.assert_allclose(heights(ax, "limit")[0], first, rtol=0.01)
    own = plot.power(width.assign(half_width_limit=width["half_width"] * 0.9))  # a limit of each line
    assert heights(own, "limit") == []


def test_a_power_is_drawn_for_each_pair(powers):
    cube = datasets.load_rag_eval_cube()
    asked = {"cluster": "doc_id", "baseline": "atlas", "difference": 0.1, "n_clusters": [40, 160]}
    for ax in (powers.evalci.plot.power(), cube.evalci.power("model", **asked).evalci.plot.power()):
        shows(ax, powers, "n_clusters", "model_a", "power", ["power_low", "power_high"])
        assert [text.split(",")[0] for text in said(ax)[:2]] == [
            f"{a} \N{MINUS SIGN} atlas" for a in ("boreal", "cascade")
        ]
        assert said(ax)[-1] == "goal: 80 %"
        assert heights(ax, "goal")[0].tolist() == [0.8, 0.8]
        assert ax.get_legend().get_title().get_text() == "true difference 0.1"
    assert heights(plot.power(powers, goal=None), "goal") == []


@pytest.mark.parametrize(
    ("x", "by", "word"),
    [
        ("n_items", "items_per_cluster", "items"),
        ("items_per_cluster", "n_clusters", "items in each cluster of doc_id"),
    ],
)
def test_another_number_lies_along_the_axis(width, x, by, word):
    ax = plot.power(width, x=x, goal=0.05)
    shows(ax, width, x, by, "half_width", ["half_width_low", "half_width_high"])
    assert ax.get_xlabel() == word
    assert heights(ax, "limit") == []
    assert said(ax)[-1] == "goal: 5 points"


@pytest.mark.parametrize(
    ("kind", "goal"),
    [("power", 80), ("half_width", -0.05), ("power", float("nan")), ("half_width", float("inf"))],
)
def test_a_goal_beyond_the_scale_is_refused(kind, goal):
    with pytest.raises(ex.MethodError, match=f"goal={goal!r} is beyond"):
        plot.power(plans(kind, 2), goal=goal)


def test_samples_and_goals_of_which_there_are_several_make_lines(code):
    plan = code.evalci.power(
        "model",
        item="item",
        cluster="repo_id",
        sample="sample",
        difference=[0.05, 0.1],
        n_samples=[1, 4],
        n_clusters=[20, 40],
    )
    assert plan["method"].nunique() == 2  # which goes with the samples, and is no line of its own
    ax = plot.power(plan)
    shows(ax, plan, "n_clusters", ["difference", "n_samples"], "power", ["power_low", "power_high"])
    assert said(ax)[1] == "4 items a cluster, 4 samples an item, difference = 0.05"
    ax = plot.power(plan, x="n_samples")
    shows(ax, plan, "n_samples", ["difference", "n_clusters"], "power", ["power_low", "power_high"])
    assert said(ax)[1] == "40 clusters, 4 items a cluster, difference = 0.05"


def test_the_smallest_difference_is_an_answer_and_no_goal():
    plan = datasets.load_rag_eval().evalci.mde(
        "model", item="item", cluster="doc_id", pairs=[("boreal", "atlas")], n_clusters=[40, 160]
    )
    ax = plot.power(plan)
    shows(ax, plan, "n_clusters", "model_a", "mde", ["mde_low", "mde_high"])
    assert ax.get_legend().get_title().get_text() == "boreal \N{MINUS SIGN} atlas, with a power of 80 %"
    assert ax.get_ylabel() == "smallest difference, points"


def test_items_without_clusters_are_counted_as_items(pilot):
    ax = pilot.evalci.half_width(None, n_clusters=[100, 400], n_sims=10).evalci.plot.power()
    assert ax.get_xlabel() == "items"
    assert said(ax) == ["half-width"]
    assert heights(ax, "edge") == []


def test_plans_of_stats_are_drawn_as_they_are():
    plan = stats.half_width(0.8, icc=0.3, n_clusters=[20, 40, 80], items_per_cluster=5, n_sims=10)
    ax = plot.power(plan)
    same(heights(ax, "estimate"), [plan.half_width])
    same(heights(ax, "edge"), [plan.half_width_low, plan.half_width_high])
    assert said(ax)[:2] == ["5 items a cluster", "one sample in twenty lies below, and one above"]
    power = stats.power([[0.05], [0.1]], disagreement=0.2, icc=0.1, n_clusters=[40, 80], items_per_cluster=5)
    ax = plot.power(power)
    same(heights(ax, "estimate"), power.power)
    assert said(ax)[:2] == ["5 items a cluster, difference = 0.05", "5 items a cluster, difference = 0.1"]


def test_graded_scores_are_in_their_own_units(pilot):
    plan = pilot.evalci.half_width("doc_id", score="latency_s", n_clusters=[40, 80])
    assert plan["estimate"].isna().all()
    ax = plan.evalci.plot.power()
    assert ax.get_ylabel() == "half-width"
    assert plot.power(plan, percent=True).get_ylabel() == "half-width, points"


def test_coverage_is_drawn_from_the_result(simulated):
    rows = pd.DataFrame([row for one in simulated for row in one.rows()])
    cube = pd.DataFrame(simulated[0].rows()).set_index("method").to_xarray()
    for ax, expected in (
        (plot.coverage(simulated), rows), (plot.coverage(rows), rows), (rows.evalci.plot.coverage(), rows),
        (plot.coverage(simulated[0]), rows[:3]), (cube.evalci.plot.coverage(), rows[:3]),
    ):  # fmt: skip
        assert np.array_equal(segments(ax, "interval"), expected[["coverage_low", "coverage_high"]])
        assert sorted(marks(ax, "coverage")[:, 0]) == sorted(expected["coverage"])
        assert set(segments_upright(ax, "level")) == {0.95}
        assert [text for text in labels(ax) if text in METHODS] == expected["method"].tolist()
    assert labels(plot.coverage(simulated)) == [
        "n = 60, n_clusters = 12",
        *METHODS,
        "n = 200, n_clusters = 40",
        *METHODS,
    ]
    assert labels(plot.coverage([stats.simulate.coverage([5] * n, 0.3, 0.9, n_sims=100, rng=1) for n in (12, 40)])) == [
        "n = 60, n_clusters = 12", "n = 200, n_clusters = 40",
    ]  # fmt: skip
    told = plot.coverage(simulated[0]).get_legend().get_title().get_text()
    assert told == "100 simulations each, 60 items, 12 clusters, ICC 0.3, rate 0.9"


def segments_upright(ax, gid):
    found = next(found for found in ax.collections if found.get_gid() == gid)
    return [x for segment in found.get_segments() for x, _ in segment]


def test_what_falls_short_is_told_from_what_may_reach_the_level():
    result = covered(5)
    chance = covered(1).assign(coverage=0.94, coverage_low=0.92, coverage_high=0.955)
    reached, short = (line for line in plot.coverage(chance).lines if line.get_gid() == "coverage")
    assert (len(reached.get_xdata()), len(short.get_xdata())) == (1, 0)
    ax = plot.coverage(result)
    reached, short = (line for line in ax.lines if line.get_gid() == "coverage")
    assert reached.get_xdata().tolist() == result["coverage"][result["coverage_high"] >= 0.95].tolist()
    assert short.get_xdata().tolist() == result["coverage"][result["coverage_high"] < 0.95].tolist()
    assert said(ax) == [
        "level of the intervals, 95 %", "reaches the level, or may", "falls short by more than chance", "further left",
    ]  # fmt: skip
    # The axis leaves out what is far below, so that two points near the level are a sixth of an inch or more apart.
    low, high = ax.get_xlim()
    inches = ax.get_window_extent().width / ax.get_figure().dpi
    assert 0.02 / (high - low) * inches > 1 / 6
    beyond = [y for line in ax.lines if line.get_gid() == "beyond" for y in line.get_ydata()]
    assert beyond == [1.0 + i for i in np.flatnonzero(result["coverage"] < low)]
    assert len(beyond) == 2
    assert notes(ax)[:2] == ["%", "97.0 [95.5, 98.5]"]
    assert notes(ax)[-6:] == [
        "truth below : above",
        *(f"{100 * (1 - c):.1f} : 0.0" for c in result["coverage"]),
    ]


def test_an_unknown_coverage_has_no_mark():
    result = covered(3)
    result.loc[1, ["coverage", "coverage_low", "coverage_high"]] = np.nan
    ax = plot.coverage(result)
    assert notes(ax)[2] == "not known"
    assert ax.get_xlim()[0] > 0.5


def test_nothing_but_the_axes_changes(at_k, width):
    before = dict(matplotlib.rcParams)
    figure, axes = plt.subplots(1, 4)
    plt.sca(axes[3])
    plot.pass_at_k(at_k, ax=axes[0])
    plot.power(width, ax=axes[1])
    plot.coverage(covered(3), ax=axes[2])
    assert plt.get_fignums() == [figure.number]
    assert plt.gca() is axes[3]
    assert dict(matplotlib.rcParams) == before


def test_a_shared_scale_shows_both_pictures(at_k):
    _, axes = plt.subplots(1, 2, sharey=True)
    plot.pass_at_k(at_k, ax=axes[0])
    plot.pass_at_k(
        at_k.assign(**{name: at_k[name] / 10 for name in ("estimate", *LIMITS, *BAND)}), ax=axes[1]
    )
    assert axes[0].get_ylim()[0] < 0.03
    assert axes[0].get_ylim()[1] > at_k[BAND[1]].max()


ERRORS = [
    (
        lambda d: plot.pass_at_k(over_k(7)),
        ex.MethodError,
        "at most 6 lines apart, and the result holds 7.*groupby",
    ),
    (lambda d: plot.pass_at_k(pd.concat([over_k(1)] * 2)), ex.MethodError, "2 rows with k = 1"),
    (lambda d: plot.pass_at_k(over_k(1).assign(k=np.nan)), ex.MethodError, "without a number 'k'"),
    (lambda d: plot.pass_at_k(over_k(1).drop(columns="k")), ex.ColumnNotFoundError, "Not there: 'k'"),
    (lambda d: plot.pass_at_k(over_k(1), label="nope"), ex.ColumnNotFoundError, "label='nope'"),
    (lambda d: plot.pass_at_k(over_k(1).iloc[:0]), ex.MethodError, "without rows"),
    (lambda d: plot.power(plans("power", 7)), ex.MethodError, "at most 6 lines apart"),
    (lambda d: plot.power(over_k(1)), ex.ColumnNotFoundError, "half_width, power or mde"),
    (lambda d: plot.power(plans("power", 2), x="nope"), ex.MethodError, "x="),
    (lambda d: plot.power(plans("power", 2), goal="high"), ex.MethodError, "goal="),
    (
        lambda d: plot.power(plans("power", 2).drop(columns="n_items"), x="n_items"),
        ex.ColumnNotFoundError,
        "'n_items'",
    ),
    (
        lambda d: plot.power(plans("half_width", 2).assign(n_clusters_low=3)),
        ex.MethodError,
        "result of required_clusters",
    ),
    (lambda d: plot.coverage(over_k(1)), ex.ColumnNotFoundError, "stats.simulate.coverage"),
    (lambda d: plot.coverage([]), ex.MethodError, "got list"),
    (lambda d: plot.coverage(covered(2), group="nope"), ex.ColumnNotFoundError, "group='nope'"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_say_what_is_wanted_and_leave_no_figure(code, call, error, message):
    with pytest.raises(error, match=message):
        call(code)
    assert plt.get_fignums() == []


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    for draw, result in (
        (plot.pass_at_k, over_k(1)),
        (plot.power, plans("power", 2)),
        (plot.coverage, covered(2)),
    ):
        with pytest.raises(ex.MissingExtraError, match=r"pip install 'evalci-accessor\[plot\]'"):
            draw(result)


def test_real_data_are_drawn(data_dir):
    """Programs of CRUXEval, ten a problem, and a plan from a pilot of BIG-Bench Hard."""
    crux = pd.read_csv(data_dir / "cruxeval_codellama7b.csv")
    asked = {"item": "problem", "sample": "sample", "by": "task", "score": "passed", "rng": 1}
    result = crux.evalci.pass_at_k([1, 3, 10], **asked)
    ax = result.evalci.plot.pass_at_k()
    shows(ax, result, by="task")
    assert ax.get_legend().get_title().get_text() == "800 items"
    first = crux[crux["task"] == "input"].groupby("problem")["passed"].mean().mean()
    assert heights(ax, "estimate")[0][0] == pytest.approx(first, rel=1e-12)
    bbh = pd.read_csv(data_dir / "bbh_codex_cot_direct.csv")
    pair = {"item": ["task", "item"], "cluster": "task", "score": "correct", "difference": 0.05}
    ax = bbh.evalci.power("mode", n_clusters=[27, 54, 108], **pair).evalci.plot.power()
    assert (np.diff(heights(ax, "estimate")[0]) > 0).all()
    assert ax.get_xlabel() == "clusters of task"
