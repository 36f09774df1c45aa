"""Pictures show the numbers of the result, all of them and no others."""

from __future__ import annotations

import itertools
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import requires
from evalci_accessor import exceptions as ex
from evalci_accessor import plot

from .pictures import labels, many_clusters, marks, notes, pairs, rates, said, segments, steps

matplotlib = requires("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")
LIMITS = ["ci_low", "ci_high"]


def full(ax, gid="difference"):
    """Rows whose mark is full."""
    return {
        float(y) for line in ax.lines if line.get_gid() == gid and line.get_markerfacecolor() == line.get_color()
        for y in line.get_ydata()
    }  # fmt: skip


@given(
    numbers=st.lists(st.tuples(*[st.floats(0.01, 0.99)] * 3).map(sorted), min_size=1, max_size=8),
    ascending=st.booleans(), sort_by=st.sampled_from([None, "estimate", "ci_low"]),
)  # fmt: skip
def test_forest_draws_each_number_of_the_result(numbers, ascending, sort_by):
    low, point, high = np.array(numbers).T
    honest = pd.DataFrame({"model": np.arange(len(point)), "estimate": point, "ci_low": low, "ci_high": high})
    before = honest.copy()
    ax = plot.forest(honest, sort_by=sort_by, ascending=ascending)
    shown = honest if sort_by is None else honest.sort_values(sort_by, ascending=ascending, kind="stable")
    assert np.array_equal(segments(ax, "interval"), shown[LIMITS])
    assert np.array_equal(marks(ax, "estimate")[:, 0], shown["estimate"])
    assert labels(ax) == [f"model = {i}" for i in shown["model"]]
    pd.testing.assert_frame_equal(honest, before)
    plt.close(ax.get_figure())


def test_naive_intervals_follow_their_rows_whatever_their_order():
    honest, naive = rates(7)
    ax = plot.forest(honest, naive=naive.sample(frac=1, random_state=3))
    assert np.array_equal(segments(ax, "naive"), naive[LIMITS][::-1])
    assert np.array_equal(segments(ax, "interval"), honest[LIMITS][::-1])


def test_margin_tells_the_numbers_the_items_and_the_clusters():
    honest, _ = rates(2)
    assert notes(plot.forest(honest)) == [
        "%", "95.0 [75.0, 99.9]", "5.0 [0.1, 25.0]", "scores", "12,345", "12,345", "clusters", "40", "40",
    ]  # fmt: skip
    assert notes(plot.forest(honest, notes=False)) == []
    scaled = honest.assign(estimate=[3.14159, -2.0], ci_low=-np.inf, ci_high=[12345.678, 0.0])
    assert notes(plot.forest(scaled, sort_by=None))[:3] == [
        "estimate", "3.142 [\N{MINUS SIGN}\N{INFINITY}, 1.235e+04]", "\N{MINUS SIGN}2 [\N{MINUS SIGN}\N{INFINITY}, 0]",
    ]  # fmt: skip


def test_the_legend_says_what_each_interval_takes_into_account():
    honest, naive = rates(3)
    assert said(plot.forest(honest, naive=naive)) == [
        "clustered by doc_id: cr2",
        "scores taken as independent: wilson",
    ]
    ax = plot.forest(honest, naive=honest.assign(confidence_level=0.8, method="cr0"))
    assert said(ax) == ["95 % clustered by doc_id: cr2", "80 % clustered by doc_id: cr0"]
    assert ax.get_legend().get_title().get_text() == "intervals"
    assert plot.forest(honest).get_legend().get_title().get_text() == "95 % intervals"
    assert said(plot.forest(naive)) == ["scores taken as independent: wilson"]
    both = pd.concat([honest, naive], ignore_index=True)
    assert said(plot.forest(both)) == ["clustered by doc_id or scores taken as independent: cr2, wilson"]
    assert said(plot.forest(honest[["model", "estimate", "ci_low", "ci_high"]])) == ["interval"]
    assert notes(plot.forest(naive))[-1] == "12,345"  # no clusters where none were named


def test_several_levels_are_all_said():
    mixed = [0.8, 0.95, 0.95]
    assert (
        plot.forest(rates(3)[0].assign(confidence_level=mixed)).get_legend().get_title().get_text()
        == "80 % or 95 % intervals"
    )
    assert said(plot.differences(pairs(3).assign(confidence_level=mixed)))[0].startswith(
        "80 % or 95 % interval of each pair"
    )
    assert said(plot.differences(pairs(3).assign(confidence_level=[0.8, 0.95, np.nan])))[0].startswith(
        "interval of each pair"
    )


def test_groups_stand_under_headings_as_they_came():
    honest, _ = rates(6)
    ax = plot.forest(honest, group="family")
    first = honest["model"].tolist()
    assert labels(ax) == [
        "family 0", first[3], first[0], "family 1", first[4], first[1], "family 2", first[5], first[2],
    ]  # fmt: skip
    assert [text.get_text() for text in ax.get_yticklabels() if text.get_fontweight() == "bold"] == [
        "family 0", "family 1", "family 2",
    ]  # fmt: skip


def test_rows_of_one_key_are_told_apart():
    honest, naive = rates(2)
    ax = plot.forest(pd.concat([honest, naive], ignore_index=True), sort_by=None, label="model")
    assert [label.split(" · ")[1] for label in labels(ax)] == ["cr2", "cr2", "wilson", "wilson"]
    same = pd.concat([honest, honest.assign(confidence_level=0.9)], ignore_index=True)
    assert labels(plot.forest(same, sort_by=None, label="model"))[-1].endswith(" · confidence_level = 0.9")


def test_one_sided_limits_end_in_arrows_at_the_bound():
    honest, naive = rates(4, one_sided=True)
    ax = plot.forest(honest, naive=naive)
    assert (marks(ax, "open end")[:, 0] == 1).all()
    assert len(marks(ax, "open end")) == 8
    assert "no limit here" in said(ax)
    bars = [line for line in ax.lines if line.get_marker() == "|"]
    assert sorted(x for line in bars for x in line.get_xdata()) == sorted(
        [*honest["ci_low"], *naive["ci_low"]]
    )
    low, high = ax.get_xlim()
    assert low < honest["ci_low"].min()
    assert high > 1


def test_ticks_say_where_they_stand():
    close = rates(2)[0].assign(estimate=[0.9012, 0.9031], ci_low=0.9, ci_high=0.9045)
    ax = plot.forest(close)
    ax.figure.canvas.draw()
    written = [float(text.get_text().removesuffix(" %")) for text in ax.get_xticklabels()]
    np.testing.assert_allclose(written, 100 * ax.get_xticks())
    assert len({*written}) == len(written) > 3


def test_two_sided_limits_have_bars_and_no_arrows():
    honest, _ = rates(4, zero=True)
    ax = plot.forest(honest)
    assert len(marks(ax, "open end")) == 0
    assert "no limit here" not in said(ax)
    bars = sorted(x for line in ax.lines if line.get_marker() == "|" for x in line.get_xdata())
    inner = [*honest["ci_low"][1:], *honest["ci_high"][:-1]]  # at 0 of n the point itself is the lower limit
    assert bars == sorted(inner)
    assert ax.get_xlim()[0] < 0
    assert ax.get_xlim()[1] > 1


def test_infinite_limits_end_at_the_edge():
    honest = rates(3)[0].assign(ci_high=np.inf)
    ax = plot.forest(honest)
    left, right = ax.get_xlim()
    arrows = marks(ax, "open end")[:, 0]
    assert len(arrows) == 3
    assert ((arrows > honest["estimate"].max()) & (arrows < right)).all()
    assert np.array_equal(segments(ax, "interval")[:, 0], honest["ci_low"][::-1])
    assert right - left < 2


def test_an_open_scale_has_no_bound_at_one():
    honest = rates(3)[0].assign(estimate=[0.5, 0.6, 0.7], ci_high=1.0)
    assert len(marks(plot.forest(honest), "open end")) == 3
    ax = plot.forest(honest, percent=False)
    assert len(marks(ax, "open end")) == 0
    assert notes(ax)[0] == "estimate"


def test_differences_draw_both_intervals():
    result = pairs(9)
    ax = plot.differences(result)
    assert np.array_equal(segments(ax, "interval"), result[LIMITS])
    assert np.array_equal(segments(ax, "simultaneous"), result[["simultaneous_low", "simultaneous_high"]])
    claimed = (result["simultaneous_low"] > 0) | (result["simultaneous_high"] < 0)
    assert 0 < claimed.sum() < 9
    assert full(ax) == {1.0 + i for i in np.flatnonzero(claimed)}
    assert segments(ax, "zero").tolist() == [[0, 0]]
    assert [text for text in labels(ax) if "\N{MINUS SIGN}" in text] == labels(ax)


def test_a_margin_is_a_band_and_the_verdict_fills_the_point():
    result = pairs(4, margin=0.15)
    ax = plot.differences(result)
    bands = [found.get_paths()[0].get_extents() for found in ax.collections if found.get_gid() == "margin"]
    assert [(box.x0, box.x1) for box in bands] == [(-0.15, 0.15)] * 4
    assert full(ax) == {1.0 + i for i in np.flatnonzero(result["verdict"] == "noninferior")}
    assert notes(ax)[-4:] == result["verdict"].tolist()
    unknown = result.assign(verdict="", ci_low=np.nan, ci_high=np.nan)
    assert not full(unknown.evalci.plot.differences())  # neither verdict nor interval is no claim
    assert not [found for found in ax.collections if found.get_gid() == "simultaneous"]
    assert not [
        found for found in plot.differences(pairs(4, margin=0)).collections if found.get_gid() == "margin"
    ]


def test_to_be_no_worse_has_a_band_below_zero_alone():
    result = pairs(3, margin=0.15).assign(claim=["noninferiority", "equivalence", "superiority"])
    bands = [
        found.get_paths()[0].get_extents()
        for found in plot.differences(result).collections
        if found.get_gid() == "margin"
    ]
    assert [(box.x0, box.x1) for box in bands] == [(-0.15, 0), (-0.15, 0.15), (-0.15, 0.15)]


def test_a_row_without_a_verdict_is_judged_by_its_interval():
    drawn = pairs(4, margin=0.15).assign(
        verdict=["", "noninferior", "", "inconclusive"], ci_low=[0.1, 0.1, -1, 0.1]
    )
    ax = plot.differences(drawn.assign(ci_high=1.0, difference=0.2))
    assert full(ax) == {1.0, 2.0}
    assert said(ax)[1:3] == ["verdict, or zero left out", "inconclusive, or zero within"]
    unknown = drawn.iloc[[0]].assign(ci_low=np.nan, ci_high=np.nan)
    assert full(plot.differences(unknown)) == set()
    both = pd.concat([pairs(2), pairs(2, margin=0.15).assign(verdict="inconclusive")], ignore_index=True)
    assert full(plot.differences(both)) == full(plot.differences(pairs(2)))
    assert notes(plot.differences(both))[-10:] == [
        "verdict", "", "", "inconclusive", "inconclusive", "p, adjusted", "< .001", "< .001", "?", "?",
    ]  # fmt: skip


def test_no_more_is_claimed_for_all_pairs_than_is_known(rag):
    single = rag.evalci.compare("model", item="item", cluster="doc_id", pairs=[("boreal", "atlas")], rng=1)
    ax = plot.differences(single)
    assert said(ax) == ["95 % interval of each pair, clustered by doc_id", "zero within"]
    assert not [found for found in ax.collections if found.get_gid() == "simultaneous"]
    assert (
        said(plot.differences(pairs(3)))[1] == "95 % interval for all pairs corrected together"
    )  # perhaps in each family
    assert (
        said(plot.differences(pairs(3).drop(columns="family")))[1] == "95 % interval for all pairs together"
    )


def test_the_legend_is_that_of_the_rows_that_are_drawn():
    honest, naive = rates(3)
    more = pd.concat(
        [naive, naive.assign(model="another", method="wald", confidence_level=0.5)], ignore_index=True
    )
    more = more.drop_duplicates(["family", "model"])
    ax = plot.forest(honest, naive=more)
    assert said(ax)[1] == "scores taken as independent: wilson"
    assert ax.get_legend().get_title().get_text() == "95 % intervals"


def test_items_for_themselves_stay_so_after_a_file(tmp_path, rag):
    for name, result in {
        "forest": rag.evalci.proportion_ci(by="model"),
        "differences": rag.evalci.diff_ci("model", item="item"),
        "pass_at_k": rag.evalci.pass_at_k([1], item="item", by="model"),
        "power": rag.evalci.power(
            "model", item="item", baseline="atlas", difference=0.1, n_clusters=[100, 400]
        ),
    }.items():
        result.to_csv(tmp_path / "kept.csv", index=False)
        axes = [getattr(plot, name)(each) for each in (result, pd.read_csv(tmp_path / "kept.csv"))]
        assert said(axes[1]) == said(axes[0])
        assert notes(axes[1]) == notes(axes[0])
        assert axes[1].get_xlabel() == axes[0].get_xlabel()


def test_names_in_an_index_without_a_name_are_names_still():
    honest = rates(3)[0].drop(columns="family")
    bare = honest.set_index("model").rename_axis(None)
    assert labels(plot.forest(bare)) == labels(plot.forest(honest))
    assert labels(plot.forest(honest.set_axis([7, 7, 9]).drop(columns="model"), notes=False)) == ["all"] * 3


def test_parts_of_a_cube_of_results_keep_their_names(cube):
    two = cube.expand_dims(language=["en", "de"])
    honest, naive = two.evalci.cluster_ci("doc_id"), two.evalci.proportion_ci(dim="item")
    ax = plot.forest(honest, naive=naive, sort_by=None)
    stacked = [each.stack(row=["language", "model"]) for each in (honest, naive)]
    again = plot.forest(stacked[0], naive=stacked[1], sort_by=None)
    assert sorted(labels(again)) == sorted(
        " · ".join(pair) for pair in itertools.product(["en", "de"], honest["model"].values)
    )
    assert sorted(notes(again)) == sorted(notes(ax))


def test_largest_clusters_of_one_size_are_counted():
    assert said(plot.clusters(many_clusters([4, 4, 3, 4, 4, 4, 4])[0]))[-1] == (
        "largest: doc-000- with 14.8 % of the scores, rate 0.0 %, and 5 more as large"
    )


@pytest.mark.parametrize("name", ["n", "weight", "estimate"])
def test_a_clustering_may_be_called_as_a_column_of_results(rag, name):
    one = rag[rag["model"] == "atlas"]
    ax = one.rename(columns={"doc_id": name}).evalci.plot.clusters(name)
    expected = one.evalci.plot.clusters("doc_id")
    np.testing.assert_array_equal(np.concatenate(steps(ax)), np.concatenate(steps(expected)))
    assert labels_below(ax) == labels_below(expected)
    assert ax.get_xlabel() == f"200 scores in 40 clusters of {name}, 5 each"


def labels_below(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def test_differences_tell_counts_and_pvalues():
    shown = notes(plot.differences(pairs(1).assign(difference=0.1234)))
    assert shown == [
        "points", "+12.3 [\N{MINUS SIGN}40.0, \N{MINUS SIGN}20.0]", "only 1st : 2nd", "77 : 66", "items", "500", "clusters", "40",
        "p (holm)", "< .001",
    ]  # fmt: skip
    graded = pairs(1).assign(only_a=np.nan, only_b=np.nan, pvalue_adj=0.0312)
    assert "only 1st : 2nd" not in notes(plot.differences(graded))
    assert notes(plot.differences(graded))[-1] == ".031"


def test_clusters_are_as_wide_as_their_size_and_cover_the_mean():
    rows, overall = many_clusters([3, 1, 7, 2])
    ax = plot.clusters(rows.sample(frac=1, random_state=1), overall=overall)
    values, edges = steps(ax)
    assert np.array_equal(values, rows["estimate"])
    assert np.array_equal(np.diff(edges), rows["n"])
    assert (values * np.diff(edges)).sum() / edges[-1] == pytest.approx(overall["estimate"].item(), rel=1e-12)
    line = next(line for line in ax.lines if line.get_gid() == "estimate")
    assert set(line.get_ydata()) == {overall["estimate"].item()}
    band = (
        next(p for p in ax.patches if p.get_gid() == "interval")
        .get_extents()
        .transformed(ax.transData.inverted())
    )
    assert (band.y0, band.y1) == pytest.approx((overall["ci_low"].item(), overall["ci_high"].item()))


def test_clusters_of_an_open_scale_with_an_open_limit(rag):
    one = rag[rag["model"] == "atlas"]
    rates = one.groupby("doc_id")["latency_s"].agg(estimate="mean", n="size").reset_index()
    overall = one.evalci.cluster_ci("doc_id", score="latency_s", alternative="greater")
    ax = plot.clusters(rates, overall=overall)
    band = (
        next(p for p in ax.patches if p.get_gid() == "interval")
        .get_extents()
        .transformed(ax.transData.inverted())
    )
    low = overall["ci_low"].item()
    assert (band.y0, band.y1) == pytest.approx((low, ax.get_ylim()[1]))
    assert said(ax)[1].endswith("\N{INFINITY}] (95 % interval, cr2)")
    flat = plot.clusters(many_clusters([2, 3])[0].assign(estimate=0.0), percent=False)
    assert flat.get_ylim() == (-1, 1)


def test_what_is_not_known_is_said():
    honest, _ = rates(3)
    honest.loc[1, ["estimate", "ci_low", "ci_high"]] = np.nan
    ax = plot.forest(honest)
    assert notes(ax)[1:4] == ["95.0 [75.0, 99.9]", "5.0 [0.1, 25.0]", "not known"]
    honest.loc[2, "ci_high"] = np.nan
    assert notes(plot.forest(honest))[1] == "95.0 [75.0, ?]"


def test_coordinates_along_a_dim_can_group_the_rows(cube):
    cube = cube.assign_coords(family=("model", ["north", "south", "north"]), run=7)
    ax = cube.evalci.plot.forest("doc_id", group="family")
    assert labels(ax) == ["north", "atlas", "cascade", "south", "boreal"]
    assert (
        labels(cube.evalci.plot.forest("doc_id", label=["family", "model"], notes=False))[0]
        == "south · boreal"
    )


def test_the_dominating_cluster_is_named():
    rows, overall = many_clusters([4, 90, 6])
    assert (
        said(plot.clusters(rows, overall=overall))[-1]
        == "dominates: doc-001- with 90.0 % of the scores, rate 25.0 %"
    )
    rows, overall = many_clusters([4, 4, 4, 5, 4])
    assert (
        said(plot.clusters(rows, overall=overall))[-1]
        == "largest: doc-003- with 23.8 % of the scores, rate 56.2 %"
    )
    ax = plot.clusters(many_clusters([4, 4])[0])
    assert said(ax) == ["each cluster"]
    assert ax.get_xlabel() == "8 scores in 2 clusters of doc_id, 4 each"


def test_the_dominating_one_is_that_of_the_warning(rag):
    one = rag[rag["model"] == "atlas"].assign(doc_id=lambda d: np.where(d["item"] < 60, "big", d["doc_id"]))
    with pytest.warns(ex.DominantClusterWarning, match="big"):
        ax = one.evalci.plot.clusters("doc_id")
    assert said(ax)[-1].startswith("dominates: big with 30.0 % of the scores")
    smaller = one.assign(doc_id=np.where(one["item"] < 45, "big", one["item"] // 3 + 1000))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ex.DominantClusterWarning)
        warnings.simplefilter("ignore", ex.ClusterIdWarning)
        assert said(smaller.evalci.plot.clusters("doc_id"))[-1].startswith("largest: big with 22.5 %")


def test_accessors_draw_what_the_methods_give(rag, cube):
    honest = rag.evalci.cluster_ci("doc_id", by="model").sort_values("estimate", ascending=False)
    naive = rag.evalci.proportion_ci(by="model").sort_values("estimate", ascending=False)
    series = rag.set_index(["model", "doc_id"])["score"]
    drawn = [
        rag.evalci.plot.forest("doc_id", by="model"),
        series.evalci.plot.forest("doc_id", by="model"),
        cube.evalci.plot.forest("doc_id"),
        cube["score"].evalci.plot.forest("doc_id"),
    ]
    for ax in drawn:
        np.testing.assert_allclose(segments(ax, "interval"), honest[LIMITS], rtol=1e-12)
        np.testing.assert_allclose(segments(ax, "naive"), naive[LIMITS], rtol=1e-12)
        assert labels(ax) == honest["model"].tolist()
        assert notes(ax) == notes(drawn[0])
        assert said(ax) == ["clustered by doc_id: icc_averaged", "scores taken as independent: wilson"]


def test_all_pairs_of_every_container_are_drawn(rag, cube):
    result = rag.evalci.compare("model", item="item", cluster="doc_id", rng=1)
    series = rag.set_index(["model", "item", "doc_id"])["score"]
    for ax in (
        result.evalci.plot.differences(),
        plot.differences(series.evalci.compare("model", item="item", cluster="doc_id", rng=1)),
        cube.evalci.compare("model", cluster="doc_id", rng=1).evalci.plot.differences(),
        plot.differences(cube["score"].evalci.compare("model", cluster="doc_id", rng=1)),
    ):
        np.testing.assert_allclose(segments(ax, "interval"), result[LIMITS], rtol=1e-12)
        np.testing.assert_allclose(
            segments(ax, "simultaneous"), result[["simultaneous_low", "simultaneous_high"]], rtol=1e-12
        )
        assert labels(ax) == [
            f"{a} \N{MINUS SIGN} {b}" for a, b in zip(result["model_a"], result["model_b"], strict=True)
        ]


@pytest.mark.parametrize("weighted", [False, True])
def test_accessors_draw_the_clusters(rag, cube, weighted):
    frame, one = rag[rag["model"] == "atlas"], cube.sel(model="atlas")
    weights = np.linspace(0.5, 2, 200) if weighted else np.ones(200)
    total = frame.assign(w=weights, p=frame["score"] * weights).groupby("doc_id")[["w", "p"]].sum()
    wide = total["w"] * 200 / total["w"].sum()
    expected = sorted(zip((total["p"] / total["w"]).round(9), wide.round(9), strict=True))
    given_weights = {"weights": weights} if weighted else {}
    cube_weights = {"weights": one["score"].copy(data=weights)} if weighted else {}
    mean = np.average(frame["score"], weights=weights)
    for ax in (
        frame.evalci.plot.clusters("doc_id", **given_weights),
        frame["score"].evalci.plot.clusters(frame["doc_id"], **given_weights),
        one.evalci.plot.clusters("doc_id", **cube_weights),
        one["score"].evalci.plot.clusters("doc_id", **cube_weights),
    ):
        values, edges = steps(ax)
        assert (np.diff(values) >= 0).all()
        np.testing.assert_allclose(
            sorted(zip(values.round(9), np.diff(edges).round(9), strict=True)), expected, atol=2e-9
        )
        line = next(line for line in ax.lines if line.get_gid() == "estimate")
        np.testing.assert_allclose(line.get_ydata(), mean, rtol=1e-12)


def test_results_draw_themselves_on_frames_and_datasets(rag, cube):
    honest, naive = rag.evalci.cluster_ci("doc_id", by="model"), rag.evalci.proportion_ci(by="model")
    cubes = cube.evalci.cluster_ci("doc_id"), cube.evalci.proportion_ci(dim="item")
    expected = plot.forest(honest, naive=naive)
    for ax in (
        honest.evalci.plot.forest(naive=naive), honest.set_index("model").evalci.plot.forest(naive=naive.set_index("model")),
        cubes[0].evalci.plot.forest(naive=cubes[1]), plot.forest(cubes[0], naive=naive), plot.forest(honest, naive=cubes[1]),
        plot.forest(cubes[0].to_dataframe(), naive=naive),
    ):  # fmt: skip
        np.testing.assert_allclose(segments(ax, "interval"), segments(expected, "interval"), rtol=1e-12)
        np.testing.assert_allclose(segments(ax, "naive"), segments(expected, "naive"), rtol=1e-12)
        assert labels(ax) == labels(expected)
        assert notes(ax) == notes(expected)
    alone = plot.forest(honest.iloc[[0]].drop(columns="model"))
    assert labels(alone) == ["all"]
    assert labels(cube.sel(model="atlas").evalci.cluster_ci("doc_id").evalci.plot.forest()) == ["all"]


def test_differences_of_a_cube_are_drawn_once_each(cube):
    result = cube.evalci.compare("model", cluster="doc_id", rng=1)
    ax = result.evalci.plot.differences(sort_by="difference")
    made = {
        tuple(text.split(" \N{MINUS SIGN} ")): row
        for text, row in zip(labels(ax), segments(ax, "interval"), strict=True)
    }
    assert len(made) == 3
    plain = cube.evalci.compare("model", cluster="doc_id", rng=1).to_dataframe()
    for row in plain.itertuples():
        here, back = (row.model_a, row.model_b), (row.model_b, row.model_a)
        if here in made:
            np.testing.assert_allclose(made[here], [row.ci_low, row.ci_high], rtol=1e-12)
        else:
            np.testing.assert_allclose(made[back], [-row.ci_high, -row.ci_low], rtol=1e-12)


def test_pairs_by_key_say_of_which(rag):
    by = rag.assign(half=np.where(rag["item"] < 100, "first", "second"))
    result = by.evalci.compare(
        "model", item="item", cluster="doc_id", by="half", rng=1, pairs=[("boreal", "atlas")]
    )
    minus = "boreal \N{MINUS SIGN} atlas"
    assert sorted(labels(result.evalci.plot.differences())) == [f"first · {minus}", f"second · {minus}"]
    assert set(labels(result.evalci.plot.differences(group="half"))) == {"first", "second", minus}


def test_scores_beyond_the_unit_interval_have_students_interval_beneath(rag):
    from scipy.stats import t

    ax = rag.evalci.plot.forest("doc_id", by="model", score="latency_s", sort_by=None)
    assert said(ax) == ["clustered by doc_id: cr2", "scores taken as independent: t"]
    for (low, high), (_, own) in zip(
        segments(ax, "naive"), rag.groupby("model", sort=False)["latency_s"], strict=True
    ):
        expected = t.interval(0.95, len(own) - 1, own.mean(), own.sem())
        np.testing.assert_allclose([low, high], expected, rtol=1e-12)
    assert not marks(rag.evalci.plot.forest("doc_id", by="model", naive=None), "naive estimate").size


def test_students_interval_of_a_cube(rag, cube):
    frame = rag.evalci.plot.forest("doc_id", by="model", score="latency_s")
    array = cube.evalci.plot.forest("doc_id", score="latency_s")
    assert said(array) == said(frame) == ["clustered by doc_id: cr2", "scores taken as independent: t"]
    np.testing.assert_allclose(segments(array, "naive"), segments(frame, "naive"), rtol=1e-12)


def test_missing_scores_are_told_once(rag):
    rag["score"] = rag["score"].astype(float).where(rag["item"] != 3)
    with pytest.warns(ex.MissingScoreWarning) as caught:
        rag.evalci.plot.forest("doc_id", by="model", nan_policy="omit")
    assert [warning.category for warning in caught] == [ex.MissingScoreWarning]
    assert caught[0].filename == __file__


def test_nothing_but_the_axes_changes(rag):
    before = dict(matplotlib.rcParams)
    figure, axes = plt.subplots(1, 2)
    plt.sca(axes[1])
    frame = rag.copy()
    assert rag.evalci.plot.forest("doc_id", by="model", ax=axes[0]) is axes[0]
    assert plt.get_fignums() == [figure.number]
    assert plt.gca() is axes[1]
    assert dict(matplotlib.rcParams) == before
    pd.testing.assert_frame_equal(rag, frame)
    own = rag.evalci.plot.forest("doc_id", by="model")
    assert own.get_figure() is plt.gcf()
    assert len(plt.get_fignums()) == 2
    assert dict(matplotlib.rcParams) == before


def test_axes_with_a_shared_scale_show_both_pictures():
    honest, _ = rates(3)
    _, axes = plt.subplots(2, 1, sharex=True)
    plot.forest(honest.assign(estimate=0.9, ci_low=0.8, ci_high=0.95), ax=axes[0])
    plot.forest(honest.assign(estimate=0.1, ci_low=0.05, ci_high=0.2), ax=axes[1])
    assert axes[0].get_xlim()[0] < 0.05
    assert axes[0].get_xlim()[1] > 0.95


ERRORS = [
    (lambda d: d.evalci.plot.forest(), ex.MethodError, "needs cluster=.*'estimate', 'ci_low', 'ci_high'"),
    (lambda d: d.evalci.plot.clusters(), ex.MethodError, "needs cluster="),
    (lambda d: d.evalci.plot.forest("nope"), ex.ColumnNotFoundError, "nope"),
    (lambda d: d.evalci.plot.clusters(["doc_id", "template_id"]), ex.MethodError, "one clustering, and 2"),
    (lambda d: d.evalci.plot.clusters("doc_id", overall=d), ex.MethodError, "overall= goes with a result"),
    (lambda d: d.evalci.plot.forest("doc_id", naive=d), ex.MethodError, "name of a method"),
    (
        lambda d: d.evalci.cluster_ci("doc_id").evalci.plot.forest("doc_id"),
        ex.MethodError,
        "called on a result.*cluster=",
    ),
    (
        lambda d: d.evalci.cluster_ci("doc_id").evalci.plot.forest(confidence_level=0.9, by="model"),
        ex.MethodError,
        "by=, confidence_level=",
    ),
    (lambda d: plot.forest(d), ex.ColumnNotFoundError, "Not there: 'estimate', 'ci_low' and 'ci_high'"),
    (lambda d: plot.differences(d.evalci.cluster_ci("doc_id")), ex.ColumnNotFoundError, "compare or diff_ci"),
    (lambda d: plot.forest(rates(3)[0], naive=rates(2)[1]), ex.MethodError, "no row for 1 of 3"),
    (
        lambda d: plot.forest(rates(3)[0], naive=rates(3)[1].drop(columns="family")),
        ex.MethodError,
        "same keys",
    ),
    (lambda d: plot.forest(rates(2)[0], naive=pd.concat([rates(2)[1]] * 2)), ex.MethodError, "two rows for"),
    (lambda d: plot.forest(rates(3)[0], sort_by="nope"), ex.ColumnNotFoundError, "sort_by='nope'"),
    (lambda d: plot.forest(rates(3)[0], group="nope"), ex.ColumnNotFoundError, "group='nope'"),
    (lambda d: plot.forest(rates(3)[0], label=["model", "nope"]), ex.ColumnNotFoundError, "label='nope'"),
    (
        lambda d: plot.forest(rates(3)[0].astype({"ci_low": str}).assign(ci_low="5 %")),
        ex.ScoreTypeError,
        "no numbers: '5 %'",
    ),
    (lambda d: plot.forest(rates(3)[0].iloc[:0]), ex.MethodError, "without rows"),
    *(
        (
            lambda d, n=name: plot.forest(pd.concat([rates(3)[0], rates(3)[0][[n]]], axis=1)),
            ex.AmbiguousNameError,
            name,
        )
        for name in ("model", "n", "ci_low")
    ),
    (lambda d: plot.forest({"estimate": 1}), ex.MethodError, "got dict"),
    (lambda d: plot.forest(rates(3)[0], ax=3), ex.MethodError, "got int"),
    (lambda d: plot.forest(rates(3)[0], ax=plt.subplots(2)[1]), ex.MethodError, "ndarray.*pass one"),
    (lambda d: plot.forest(rates(3)[0], ax=plt.subplots()[1], figsize=(3, 3)), ex.MethodError, "figsize="),
    (
        lambda d: plot.clusters(many_clusters([1, 2])[0], overall=rates(3)[0]),
        ex.MethodError,
        "one row.*has 3",
    ),
    (lambda d: plot.clusters(many_clusters([1, 2])[0].assign(n=0)), ex.MethodError, "size above 0"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_say_what_is_wanted_and_leave_no_figure(rag, call, error, message):
    with pytest.raises(error, match=message):
        call(rag)
    assert [
        number
        for number in plt.get_fignums()
        if not plt.figure(number).axes or plt.figure(number).axes[0].lines
    ] == []


def test_a_cube_with_a_dim_left_is_refused(cube):
    with pytest.raises(ex.DimensionError, match=r"3 would stay: model='atlas'.*\.sel\(model='atlas'\)"):
        cube.evalci.plot.clusters("doc_id")
    pooled = cube.evalci.plot.clusters("doc_id", dim=["item", "model"])
    assert pooled.get_xlabel() == "600 scores in 40 clusters of doc_id, 15 each"


def test_without_matplotlib_the_error_says_how_to_get_it(rag, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(ex.MissingExtraError, match=r"pip install 'evalci-accessor\[plot\]'"):
        rag.evalci.plot.forest("doc_id", by="model")
    with pytest.raises(ImportError):
        plot.differences(pairs(3))


def test_matplotlib_loads_with_the_first_picture_and_not_before():
    import subprocess

    code = (
        "import sys; from evalci_accessor import datasets, plot; df = datasets.load_rag_eval();"
        "df.evalci.plot; df.evalci.cluster_ci('doc_id'); plot.forest; print('matplotlib' in sys.modules);"
        "df.evalci.plot.forest('doc_id', by='model'); print('matplotlib' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True"]
