"""Samples of several systems that count as those of one, and other calls that no accessor may answer, on all four of them."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from evalci_accessor import datasets
from evalci_accessor.exceptions import (
    ClusterError,
    MethodError,
    PooledSamplesWarning,
    SamplesError,
    ScoreRangeError,
    SharedKeyWarning,
    WeightError,
)

quiet = pytest.mark.filterwarnings("ignore::evalci_accessor.exceptions.EvalCIWarning")


def rows_of(n_items=30, n=6, systems=("a", "b"), seed=0):
    """Items that each system samples n times."""
    index = pd.MultiIndex.from_product([systems, range(n_items), range(n)], names=["model", "item", "sample"])
    rows = index.to_frame(index=False)
    rate = np.random.default_rng(seed).beta(1, 1, (len(systems), n_items)).ravel()
    rows["score"] = (np.random.default_rng(seed + 1).random(len(rows)) < np.repeat(rate, n)).astype(int)
    return rows


def told(rows, **ask):
    """What is said of pooled samples; empty if nothing is."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        rows.evalci.pass_at_k(1, **({"item": "item"} | ask))
    return "".join(str(one.message) for one in found if one.category is PooledSamplesWarning)


# A forgotten by=


def test_forgotten_by_is_told_with_both_ways_out():
    rows = rows_of()
    match = (
        r"^'model' is not named in the call and divides the samples of nearly every item of 'item' evenly \(2 values, as 'a' and "
        r"'b'\).* result is that of a mix\. To keep them apart: by='model', or "
        r"item=\['item', 'model'\] if it is part of the item's id\. .*: sample=\['model', 'sample'\]\.$"
    )
    with pytest.warns(PooledSamplesWarning, match=match) as found:
        pooled = rows.evalci.pass_at_k(2, item="item")
    assert {one.filename for one in found} == {__file__}
    # Each way out silences it; the first gives other numbers, the second the same.
    apart = rows.evalci.pass_at_k(2, item="item", by="model")
    assert apart["n_samples_max"].tolist() == [6, 6]
    same = rows.evalci.pass_at_k(2, item="item", sample=["model", "sample"])
    pd.testing.assert_frame_equal(same, pooled)
    without = rows.drop(columns=["model", "sample"]).evalci.pass_at_k(2, item="item")
    pd.testing.assert_frame_equal(without, pooled)


def test_samples_that_go_on_from_one_system_to_the_next():
    rows = rows_of()
    rows["sample"] += 6 * (rows["model"] == "b")
    match = r"by='model', .* sample=\['model', 'sample'\]"
    with pytest.warns(PooledSamplesWarning, match=match):
        rows.evalci.pass_at_k(2, item="item", sample="sample")
    assert not told(rows, sample=["model", "sample"])
    assert not told(rows, sample="sample", by="model")


@settings(max_examples=25)
@given(
    st.sampled_from(["category", "string", "object", "int", "float", "bool"]), st.integers(2, 4), st.integers(0, 2**31),
    st.sampled_from([0.0, 0.1]),
)  # fmt: skip
def test_every_way_to_write_a_system_is_seen(dtype, size, seed, lost):
    """Whatever its dtype, in any order of the rows, and where some rows are missing."""
    size = 2 if dtype == "bool" else size
    rows = rows_of(systems=range(size), seed=seed % 1000)
    names = {
        "int": 7 * np.arange(size),
        "float": 0.2 * np.arange(size),
        "bool": np.array([False, True])[: min(size, 2)],
    }
    labels = pd.Series(names.get(dtype, np.array([f"m{i}" for i in range(size)], dtype=object)))
    rows["setting"] = labels.astype(dtype)[rows["model"]].to_numpy() if dtype in names else labels.astype(dtype).take(
        rows["model"]
    ).array  # fmt: skip
    rows = rows.drop(columns="model").sample(frac=1 - lost, random_state=seed % 2**31)
    assert told(rows).startswith("'setting' is not named in the call")
    assert not told(rows, by="setting")


def test_several_columns_are_named_only_where_each_is_needed():
    rows = pd.concat([rows_of(seed=s).assign(lang=lang) for s, lang in enumerate(["da", "en", "fi"])])
    rows["version"] = rows["model"].map({"a": "v1", "b": "v2"})  # follows from the model
    assert "by=['model', 'lang']" in told(rows)
    assert "'version'" not in told(rows)
    assert "To keep them apart: by='lang'" in told(rows, by="model")
    assert not told(rows, by=["model", "lang"])
    with pytest.raises(
        SamplesError,
        match=r"'model' and 'lang' tell them apart: keep its values apart with by=\['model', 'lang'\]",
    ):
        rows.evalci.pass_at_k(1, item="item", sample="sample")


def test_unequal_samples_of_the_systems():
    rows = rows_of()
    few = rows[(rows["model"] == "a") | (rows["sample"] < 2)]  # six of one, two of the other
    assert "by='model'" in told(few)
    # Systems that share items with one other only: halves of each item, though not of all.
    first, second = rows_of(10, systems=["a", "b"]), rows_of(10, systems=["c", "d"], seed=3)
    assert "by='model'" in told(pd.concat([first, second.assign(item=second["item"] + 10)]))


def test_two_prompts_of_one_model_only():
    rows = rows_of(systems=["a", "b", "c"])
    rows["prompt"] = np.where((rows["model"] == "b") & (rows["sample"] >= 3), "cot", "direct")
    for order in (rows, rows.sample(frac=1, random_state=2), rows.sample(frac=0.9, random_state=3)):
        assert told(order, by="model").startswith(
            "'prompt' is not named in the call and divides the samples of nearly every"
        )
        assert not told(order, by=["model", "prompt"])
    rng = np.random.default_rng(1)
    rows["prompt"] = np.where(
        rows["model"] == "b", rng.choice(["stop", "length"], len(rows)), "stop"
    )  # an outcome
    assert not told(rows, by="model")


def test_few_items():
    """Equal parts of each of them are told; that two items have as many of something is a chance."""
    assert "by='model'" in told(rows_of(3))
    rows = rows_of(2, 8, ["a"]).drop(columns=["model", "sample"])
    rows["reason"] = ["x"] * 3 + ["y"] * 5 + ["x", "y"] * 2 + ["x"] + ["y"] * 3
    assert rows.groupby("item")["reason"].value_counts().unstack().to_numpy().tolist() == [[3, 5], [3, 5]]
    assert not told(rows)


def test_prompts_of_each_system():
    """Where a text tells the samples apart, once each, the system is still what is named."""
    rows = rows_of(n=2)
    rows["prompt"] = rows["model"] + rows["sample"].map({0: " briefly", 1: " at length"})
    assert told(rows).startswith("'model' is not named")
    assert "sample=['model', 'sample']" in told(rows)
    assert "sample=['model', 'prompt', 'sample']" in told(rows, sample=["prompt", "sample"])


def test_one_sample_of_each_system():
    """It could be the number of the sample; that it is none is told by names that differ by more than a number."""
    rows = rows_of(n=1).drop(columns="sample")
    match = r"\(2 values, as 'a' and 'b'\).* by='model', .* If they number samples of one system all the same: sample='model'\."
    with pytest.warns(PooledSamplesWarning, match=match):
        rows.evalci.pass_at_k(2, item="item")
    assert not told(rows, sample="model")
    assert not told(rows.assign(model=rows["model"].map({"a": "run-1", "b": "run-2"})))
    assert not told(rows.rename(columns={"model": "trial"}))
    assert not told(rows.assign(model=rows["model"].map({"a": 0, "b": 1})))


def test_the_number_alone_shows_that_systems_are_pooled():
    rows = rows_of().drop(columns="model")
    assert "pass sample='sample' to see which share a number" in told(rows)


# What is no system


def test_samples_epochs_and_seeds_are_none():
    rows = rows_of(systems=["a"]).drop(columns="model")
    rng = np.random.default_rng(1)
    rows["epoch"] = [f"epoch {i}" for i in rows["sample"]]
    rows["seed"] = rng.integers(0, 2**31, len(rows))
    rows["time"] = pd.date_range("2026-01-01", periods=len(rows), freq="min")
    rows["uuid"] = [f"{i:032x}" for i in rng.integers(0, 2**62, len(rows))]
    rows["answer"] = [["x"]] * len(rows)  # no ids at all
    rows["doc"], rows["lang"] = "d" + (rows["item"] // 3).astype(str), "en"
    rows["kind"] = rows["item"].map(lambda i: "ab"[i % 2])
    assert not told(rows)
    assert not told(rows, cluster="doc", sample="epoch")


def test_samples_that_begin_anew_in_each_epoch_are_none():
    rows = rows_of(systems=["a"]).drop(columns="model")
    rows["epoch"], rows["sample"] = rows["sample"] // 3, rows["sample"] % 3
    assert not told(rows)
    assert not told(rows, sample=["epoch", "sample"])
    two = pd.concat([rows, rows], ignore_index=True)  # of two systems, whose names are lost
    assert "to see which share a number" in told(two)


@quiet
def test_outcomes_are_none():
    """What differs between the samples of an item by chance, at any rate and with any number of values."""
    rng, seen = np.random.default_rng(7), 0
    for _ in range(80):
        n_items, n = int(rng.integers(6, 40)), int(rng.integers(2, 12))
        rows = rows_of(n_items, n, ["a"]).drop(columns=["model", "sample"])
        values = int(rng.integers(2, 5))
        law = rng.dirichlet(np.full(values, rng.choice([0.5, 5, 1e6])), n_items if rng.random() < 0.5 else 1)
        law = np.broadcast_to(law, (n_items, values))
        rows["reason"] = [f"{'xyzuv'[rng.choice(values, p=law[i])]}" for i in rows["item"]]
        rows["tokens"], rows["rating"] = (
            rng.integers(10, 5000, len(rows)),
            rng.integers(1, 6, len(rows)).astype(float),
        )
        seen += bool(told(rows))
    assert seen <= 1


def test_many_rows():
    """Texts and measurements are not looked at beyond the first rows; what has few values is."""
    rows = rows_of(150, 10)
    rng = np.random.default_rng(3)
    rows["answer"], rows["seconds"] = [f"It is {i}." for i in range(len(rows))], rng.random(len(rows))
    rows["temperature"] = rows["model"].map({"a": 0.2, "b": 0.8})
    for order in (rows, rows.sample(frac=1, random_state=1)):
        assert "by='model'" in told(order)
        assert "by='temperature'" in told(order.drop(columns="model"))
        assert not told(order, by="model")


def test_columns_with_missing_ids_are_none():
    rows = rows_of()
    rows["guard"] = np.where(rows["model"] == "a", None, "flagged")
    assert "guard" not in told(rows, by="model")
    assert told(rows.drop(columns="model")).startswith("'sample' is not named")


def test_real_data(data_dir):
    crux = pd.read_csv(data_dir / "cruxeval_codellama7b.csv")
    assert "by='task'" in told(crux, item="problem", score="passed")
    assert not told(crux, item="problem", score="passed", by="task")
    tau = pd.read_csv(data_dir / "taubench_airline.csv")
    assert not told(tau, item="task_id", score="reward")
    bbh = pd.read_csv(data_dir / "bbh_codex_cot_direct.csv")  # two modes, one answer each
    assert "by='mode'" in told(bbh, item=["task", "item"], cluster="task", score="correct")
    assert "item=['item', 'task'] if it is part of the item's id" in told(bbh, by="mode", score="correct")
    gsm = pd.read_csv(data_dir / "gsm_symbolic_en_da.csv")
    assert "by=['model', 'lang']" in told(gsm, item="template", score="correct")
    assert not told(gsm, item="template", score="correct", by=["model", "lang"])


def test_coordinates_that_are_no_ids():
    """Lists, texts and measurements beside the scores of a cube, as in a frame's columns, are not looked at."""
    cube = rows_of(systems=["a"]).drop(columns="model").set_index(["item", "sample"])["score"].to_xarray()
    lists = np.empty(cube.shape, dtype=object)
    lists.fill([1])
    extra = {
        "answer": lists,
        "logit": np.full(cube.shape, 1e20),
        "text": np.full(cube.shape, {}, dtype=object),
    }
    cube = cube.assign_coords({name: (cube.dims, values) for name, values in extra.items()})
    assert not told(cube, sample="sample")
    assert not told(cube.to_dataframe().reset_index(), sample="sample")


# Series and cubes


def test_series_and_cubes():
    rows = rows_of()
    assert "by='model'" in told(rows.set_index(["model", "item", "sample"])["score"])
    cube = rows.set_index(["model", "item", "sample"]).to_xarray()
    assert not told(cube, sample="sample")  # the other dims are kept
    for one in (cube, cube["score"]):
        assert "To keep them apart: a dim 'model' that is not reduced" in told(one, dim=...)
        assert "sample=['model', 'sample']" in told(one, dim=...)
        assert not told(one, sample=["model", "sample"])
        with pytest.raises(SamplesError, match="'model' tells them apart: leave it out of what is reduced"):
            one.evalci.pass_at_k(2, item="item", sample="sample", dim=...)
    assert "'model'" in told(cube.drop_vars("model"), dim=...)  # a dim without labels
    assert "'model'" in told(cube.assign_coords(model=[0.2, 0.8]), dim=...)  # a temperature, say
    long = xr.Dataset.from_dataframe(rows).rename(index="row").set_coords(["model", "item", "sample"])
    assert "'model'" in told(long)
    assert not told(long, sample=["model", "sample"])


# Calls that nobody may answer, on each accessor


def spread(n=(4,) * 9, **columns):
    """Items of so many samples, three in each document."""
    item = np.repeat(np.arange(len(n)), n)
    rows = pd.DataFrame({"item": item, "sample": np.concatenate([np.arange(i) for i in n]), "doc": item // 3})
    return rows.assign(score=(rows["sample"] * rows["item"] % 3 == 0).astype(int), **columns)


def on_all(rows):
    """The rows behind each of the four accessors, the cubes with one dim of rows."""
    ids = [name for name in rows if name != "score"]
    cube = xr.Dataset.from_dataframe(rows).rename(index="row").set_coords(ids)
    return {
        "frame": rows,
        "series": rows.set_index(ids)["score"],
        "dataset": cube,
        "dataarray": cube["score"],
    }


@pytest.fixture(params=["frame", "series", "dataset", "dataarray"])
def behind(request):
    return lambda rows: on_all(rows)[request.param].evalci


def test_k_above_the_samples(behind):
    with pytest.raises(
        SamplesError, match=r"1 of 9 items have fewer \(of 'item'\): 8 has 2\. Ask for k of at most 2"
    ):
        behind(spread((4,) * 8 + (2,))).pass_at_k([1, 3], item="item")


@quiet
def test_unequal_samples(behind):
    got = behind(spread((4,) * 8 + (2,))).pass_at_k([1, 3], item="item", too_few="omit", rng=1)
    for name, want in {
        "n_items": [9, 8],
        "n_omitted": [0, 1],
        "n_samples_min": [2, 4],
        "n_samples_max": [4, 4],
    }.items():
        np.testing.assert_array_equal(np.asarray(got[name]), want)
    assert np.isfinite(np.asarray(got["sample_share"])).tolist() == [True, False]  # 2k of four are two


def test_one_sample_an_item(behind):
    with pytest.raises(
        SamplesError,
        match=r"k=3 needs at least 3 samples of an item, and each of the 9 items of 'item' has one\.",
    ):
        behind(spread((1,) * 9)).pass_at_k([1, 3], item="item")


def test_graded_scores(behind):
    rows = spread()
    with pytest.raises(
        ScoreRangeError, match=r"must be 0 or 1; \d+ of 36 are neither, such as 0\.5\. best_of_k takes scores"
    ):
        behind(rows.assign(score=rows["score"] / 2)).pass_at_k(2, item="item")


def test_an_item_in_two_clusters(behind):
    rows = spread()
    rows.loc[2, "doc"] = 2
    with pytest.raises(
        ClusterError,
        match=r"1 of 9 items of 'item' have samples in more than one cluster of 'doc': 0 in 0 and 2",
    ):
        behind(rows).pass_at_k(2, item="item", cluster="doc")


@quiet
def test_an_id_in_two_clusters(behind):
    rows = spread()
    local = rows.assign(item=rows["item"] % 3)
    match = (
        r"3 of 3 items of 'item'.*0 in 0 and 1; 1 in 0 and 1;.* begin anew in each cluster.*pass nested=True"
    )
    with pytest.raises(ClusterError, match=match):
        behind(local).pass_at_k(2, item="item", cluster="doc", sample="sample")
    got = behind(local).pass_at_k(2, item="item", cluster="doc", sample="sample", nested=True)
    want = behind(rows).pass_at_k(2, item="item", cluster="doc")
    for name in ("estimate", "ci_low", "ci_high", "n_items"):
        np.testing.assert_array_equal(np.asarray(got[name]), np.asarray(want[name]))
    with pytest.raises(MethodError, match=r"nested=True says .*no cluster= is named"):
        behind(local).pass_at_k(2, item="item", nested=True)


def test_weights_within_an_item(behind):
    with pytest.raises(
        WeightError, match=r"9 item\(s\) of 'item' have more than one weight in 'sample'.*0 \(0 and 3\)"
    ):
        behind(spread()).pass_at_k(2, item="item", weights="sample")


def test_a_dim_of_samples_that_nobody_named():
    cube = datasets.load_code_eval_cube()
    for one in (cube, cube["score"]):
        with pytest.raises(
            SamplesError,
            match=r"has one\..* Kept are 'model' and 'sample': if samples lie along one, name it",
        ):
            one.evalci.pass_at_k(2, item="item")
        assert one.evalci.pass_at_k(1, item="item").estimate.dims == (
            "model",
            "sample",
        )  # one answer each, and no mix
        with (
            pytest.raises(SamplesError, match=r"each of the 1600 items of 'item, sample' has one"),
            pytest.warns(SharedKeyWarning, match="repeats of an item go in sample="),
        ):
            one.evalci.pass_at_k(2, item=["item", "sample"])


def test_a_column_of_groups_without_repeats_divides_nothing():
    """Copies in one group only: the source of each group's rows is the same, and no item of the others has two."""
    rows = rows_of(n=1, systems=("a", "b", "c"))
    again = rows[rows["model"] == "a"].head(10)
    both = pd.concat([rows, again], ignore_index=True).drop(columns="sample")
    source = both["model"].map({"a": "one", "b": "one", "c": "two"})
    assert told(both.assign(source=source), by="model") == ""
