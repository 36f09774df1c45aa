"""pass@k, pass^k and best of k on the accessors: the interval over items, frame against cube, and bad input."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from evalci_accessor import datasets, stats
from evalci_accessor.exceptions import (
    AmbiguousNameError,
    BootstrapWarning,
    ClusterError,
    ClusterIdWarning,
    ColumnNotFoundError,
    DegenerateRateWarning,
    DimensionError,
    EvalCIWarning,
    FewClustersWarning,
    MethodError,
    MissingClusterError,
    MissingScoreError,
    MissingScoreWarning,
    RareOutcomeWarning,
    SamplesError,
    ScoreRangeError,
    SentinelScoreWarning,
    SharedKeyWarning,
    SingletonClusterWarning,
    TooFewSamplesWarning,
)

MEASURES = ["pass_at_k", "pass_hat_k", "best_of_k"]
LIMITS = ["estimate", "std_error", "ci_low", "ci_high", "df", "n_clusters", "icc", "design_effect", "n_eff"]
quiet = pytest.mark.filterwarnings("ignore::evalci_accessor.exceptions.EvalCIWarning")


@pytest.fixture
def code():
    return datasets.load_code_eval()


def made(n_items=30, seed=0, *, n_clusters=10, uneven=True):
    """Items of one to eight samples in clusters."""
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 9, n_items) if uneven else np.full(n_items, 6)
    item = np.repeat(np.arange(n_items), n)
    rate = rng.beta(1, 1, n_items)
    return pd.DataFrame(
        {
            "item": item, "cluster": item % n_clusters, "sample": np.concatenate([np.arange(i) for i in n]),
            "score": (rng.random(len(item)) < rate[item]).astype(int), "graded": rng.integers(0, 5, len(item)) / 4,
        }
    )  # fmt: skip


# Published figures


def test_cruxeval_as_published(data_dir):
    rows = pd.read_csv(data_dir / "cruxeval_codellama7b.csv")
    got = rows.evalci.pass_at_k([1, 5], item="problem", sample="sample", score="passed", by="task", rng=1)
    got = got.set_index(["task", "k"])
    assert_allclose(got.loc["input", "estimate"], [0.3595, 0.449911], atol=1e-6)
    assert_allclose(got.loc[("output", 5), "estimate"], 0.402867, atol=1e-6)
    assert (
        got[["n_items", "n_clusters", "n_samples_min", "n_samples_median", "n_samples_max"]]
        == [800, 800, 10, 10, 10]
    ).all(axis=None)
    assert (got["cluster"] == "").all()
    cr1 = rows.evalci.pass_at_k(
        [1, 5], item="problem", score="passed", by="task", method="cr1", rng=1
    ).set_index(["task", "k"])
    assert_allclose(cr1.loc["input", "std_error"], [0.015525, 0.017019], atol=1e-6)
    assert_allclose(got["std_error"], cr1["std_error"], rtol=0.03)
    assert ((got["sample_share"] > 0.01) & (got["sample_share"] < 0.05)).all()


def test_taubench_as_published(data_dir):
    rows = pd.read_csv(data_dir / "taubench_airline.csv")
    ask = {"item": "task_id", "cluster": "user_id", "sample": "trial", "score": "reward", "rng": 1}
    got = rows.evalci.pass_hat_k([1, 2, 3, 4], **ask)
    counts = rows.groupby("task_id")["reward"].sum().astype(int)
    want = [np.mean([math.comb(c, k) / math.comb(4, k) for c in counts]) for k in (1, 2, 3, 4)]
    assert_allclose(got["estimate"], want, rtol=0, atol=1e-12)
    assert_allclose(got["estimate"], [0.42, 0.273333, 0.22, 0.2], atol=6e-7)
    assert_allclose(
        rows.evalci.pass_at_k([1, 2, 3, 4], **ask)["estimate"], [0.42, 0.566667, 0.66, 0.72], atol=6e-7
    )
    assert (got["n_clusters"] == rows["user_id"].nunique()).all()
    assert got["sample_share"].notna().tolist() == [
        True,
        True,
        False,
        False,
    ]  # four samples are 2k for k up to 2
    assert_allclose((got["item_share"] + got["sample_share"])[:2], 1)


# The interval is that of the items' values


@pytest.mark.parametrize("method", ["auto", "cr1", "cr2", "logit"])
@pytest.mark.parametrize("measure", MEASURES)
@quiet
def test_interval_is_that_of_the_values(measure, method):
    rows = made(uneven=False)
    score = "graded" if measure == "best_of_k" else "score"
    got = getattr(rows.evalci, measure)(
        [1, 3], item="item", cluster="cluster", score=score, method=method, rng=1
    )
    samples = rows.pivot(index="item", columns="sample", values=score).to_numpy()
    for row, k in zip(got.itertuples(), (1, 3), strict=True):
        if measure == "best_of_k":
            value = stats.best_of_k(samples, k).value
        else:
            value = getattr(stats, measure)(samples.sum(axis=1), 6, k).value
        items = pd.DataFrame({"score": value, "cluster": np.arange(30) % 10})
        want = items.evalci.cluster_ci("cluster", method=method).iloc[0]
        assert_allclose([getattr(row, name) for name in LIMITS], want[LIMITS].astype(float), rtol=1e-10)
        assert (row.n_items, row.method, row.measure) == (want["n"], want["method"], measure)


@quiet
def test_without_clusters_each_item_is_its_own():
    rows = made(uneven=False)
    got = rows.evalci.pass_at_k([1, 2], item="item", rng=1)
    want = rows.evalci.pass_at_k([1, 2], item="item", cluster=rows["item"].to_numpy(), rng=1)
    pd.testing.assert_frame_equal(got.drop(columns="cluster"), want.drop(columns="cluster"))


def test_no_word_of_clusters_that_nobody_named():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(60, uneven=False).evalci.pass_at_k(2, item="item")
    few = pd.DataFrame({"item": [1, 1, 2, 2, 3, 3], "score": [0, 1, 1, 1, 0, 1]})
    with pytest.warns(FewClustersWarning, match=r"^few items \(3\), so the interval leans") as found:
        few.evalci.pass_at_k(1, item="item")
    with pytest.warns(
        DegenerateRateWarning, match="^all items have the value 1, so the data cannot tell how they vary"
    ):
        got = (
            pd.DataFrame({"item": np.repeat(np.arange(20), 2), "score": 1})
            .evalci.pass_at_k(2, item="item")
            .iloc[0]
        )
    assert got["ci_high"] == 1
    assert 0.8 < got["ci_low"] < 0.9
    assert not any("cluster" in str(one.message) for one in found)
    rare = pd.DataFrame({"item": np.repeat(np.arange(40), 2), "score": [1, 1] + [0] * 78})
    with pytest.warns(RareOutcomeWarning, match=r"in 1 item\(s\) only; an item of the kind"):
        rare.evalci.pass_at_k(2, item="item")


def test_items_weigh_equally_pk_07():
    rows = pd.DataFrame({"item": [1] * 10 + [2] * 2 + [3] * 3, "score": [1] * 8 + [0] * 4 + [1] * 3})
    with pytest.warns(FewClustersWarning):
        got = rows.evalci.pass_at_k(1, item="item", method="cr1").iloc[0]
    assert_allclose([got["estimate"], got["std_error"]], [0.6, 0.305505], atol=6e-7)
    assert (got["n_samples_min"], got["n_samples_median"], got["n_samples_max"]) == (2, 3, 10)


def test_epochs_are_not_items_pk_08():
    y = np.array([[1, 1, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 0]])
    cube = xr.DataArray(y, dims=("item", "epoch"))
    with pytest.warns(FewClustersWarning):
        got = cube.evalci.pass_at_k(1, sample="epoch", method="cr1")
    assert_allclose([got.estimate.item(), got.std_error.item()], [0.6, 0.182574], atol=6e-7)


@quiet
def test_shares_of_one_sample_are_the_components():
    rows = made(uneven=False)
    totals = rows.groupby("item")["score"].agg(["sum", "size"])
    want = stats.variance_components(totals["sum"], totals["size"], cluster=np.arange(30) % 10)
    got = rows.evalci.pass_at_k(1, item="item", cluster="cluster").iloc[0]
    assert_allclose(got["sample_share"], want.shares[2], rtol=1e-9)


# Several k at once


@quiet
@pytest.mark.parametrize("measure", ["pass_at_k", "pass_hat_k"])
def test_simultaneous_limits(code, measure):
    ask = {"item": "item", "cluster": "repo_id", "by": "model"}
    got = getattr(code.evalci, measure)([5, 1, 2], rng=3, **ask)
    assert got["k"].tolist() == [5, 1, 2] * 2
    assert (got["simultaneous_low"] <= got["ci_low"]).all()
    assert (got["simultaneous_high"] >= got["ci_high"]).all()
    bonferroni = getattr(code.evalci, measure)(5, confidence_level=1 - 0.05 / 3, **ask)
    wide = got[got["k"] == 5].reset_index()
    assert (wide["simultaneous_low"] >= bonferroni["ci_low"] - 1e-9).all()
    alone = getattr(code.evalci, measure)(5, **ask)
    assert_allclose(alone[["simultaneous_low", "ci_low", "ci_high"]], wide[["ci_low", "ci_low", "ci_high"]])
    again = getattr(code.evalci, measure)([5, 1, 2], rng=3, **ask)
    pd.testing.assert_frame_equal(got, again)
    lower = getattr(code.evalci, measure)([5, 1, 2], alternative="greater", rng=3, **ask)
    assert (lower["simultaneous_high"] == 1).all()
    assert (lower["simultaneous_low"] <= lower["ci_low"]).all()
    assert (lower["simultaneous_low"] >= got["simultaneous_low"]).all()


@quiet
def test_order_of_rows_does_not_matter(code):
    turned = code.sample(frac=1, random_state=1)
    ask = {"item": "item", "cluster": "repo_id", "by": "model", "rng": 5}
    got, want = (
        rows.evalci.pass_at_k([1, 4], **ask).sort_values(["model", "k"], ignore_index=True)
        for rows in (turned, code)
    )
    pd.testing.assert_frame_equal(got, want, rtol=1e-9)


@quiet
@settings(max_examples=10)
@given(st.integers(0, 2**31), st.sampled_from([None, "cluster"]))
def test_all_pass_is_the_mirror_of_none_fails(seed, cluster):
    rows = made(25, seed, n_clusters=6)
    ask = {"item": "item", "cluster": cluster, "too_few": "omit", "rng": 1}
    hat = rows.evalci.pass_hat_k([1, 2, 3], **ask)
    at = rows.assign(score=1 - rows["score"]).evalci.pass_at_k([1, 2, 3], **ask)
    for low, high in (
        ("estimate", "estimate"),
        ("ci_low", "ci_high"),
        ("simultaneous_low", "simultaneous_high"),
    ):
        assert_allclose(hat[low], 1 - at[high], atol=1e-9)
        assert_allclose(hat[high], 1 - at[low], atol=1e-9)
    for name in ("std_error", "sample_share", "icc", "n_eff"):
        assert_allclose(hat[name], at[name], rtol=1e-6, atol=1e-9)


@quiet
@settings(max_examples=10)
@given(st.integers(0, 2**31))
def test_more_samples_pass_sooner_and_fail_sooner(seed):
    rows = made(20, seed, uneven=False)
    ask = {"item": "item", "cluster": "cluster", "rng": 1}
    at, hat = rows.evalci.pass_at_k([1, 2, 4, 6], **ask), rows.evalci.pass_hat_k([1, 2, 4, 6], **ask)
    best = rows.evalci.best_of_k([1, 2, 4, 6], **ask)
    assert (np.diff(at["estimate"]) >= -1e-12).all()
    assert (np.diff(hat["estimate"]) <= 1e-12).all()
    assert_allclose(at["estimate"][0], rows["score"].mean())
    assert_allclose(hat["estimate"][0], rows["score"].mean())
    numbers = ["estimate", "ci_low", "ci_high", "simultaneous_low", "simultaneous_high", "sample_share"]
    assert_allclose(best[numbers], at[numbers], atol=1e-8)


def test_columns_and_keys(code):
    code["model"] = code["model"].astype("category")
    got = code.evalci.pass_at_k(np.array([1, 2]), item="item", by="model", rng=1)
    assert list(got)[:4] == ["model", "k", "measure", "estimate"]
    assert got["model"].dtype == code["model"].dtype
    assert got["k"].dtype == np.int64
    assert not got.isna().drop(columns=["df", "icc"]).any(axis=None)
    before = code.copy()
    code.evalci.pass_at_k(1, item="item", by="model")
    pd.testing.assert_frame_equal(code, before)
    with pytest.raises(AmbiguousNameError, match="by='k' would stand twice"):
        code.rename(columns={"model": "k"}).evalci.pass_at_k(1, item="item", by="k")
    series = code.set_index(["model", "item"])["score"].evalci.pass_at_k(
        [1, 2], item="item", by="model", rng=1
    )
    pd.testing.assert_frame_equal(series, got)


def test_bootstrap_of_too_few_draws(code):
    with pytest.warns(BootstrapWarning):
        code.query("model == 'atlas'").evalci.pass_at_k(
            [1, 2, 5], item="item", cluster="repo_id", method="bootstrap_percentile", n_resamples=100, rng=1
        )


# Frame and cube


def compare(frame, cube, keys):
    got = cube.to_dataframe().reset_index()[list(frame)]
    pd.testing.assert_frame_equal(
        got.sort_values(keys, ignore_index=True),
        frame.sort_values(keys, ignore_index=True),
        check_dtype=False,
        rtol=1e-10,
    )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("k", [2, [1, 4]])
@pytest.mark.parametrize("cluster", [None, "repo_id"])
def test_cube_has_the_frames_answer(code, measure, k, cluster):
    score = "tests_passed" if measure == "best_of_k" else "score"
    cube = datasets.load_code_eval_cube()
    options = {"cluster": cluster, "rng": 1}
    want = getattr(code.evalci, measure)(k, item="item", sample="sample", score=score, by="model", **options)
    got = getattr(cube.evalci, measure)(k, item="item", sample="sample", score=score, **options)
    compare(want, got, ["model", "k"])
    assert got.estimate.dims == (("model",) if k == 2 else ("model", "k"))
    array = getattr(cube[score].evalci, measure)(k, item="item", sample="sample", **options)
    xr.testing.assert_identical(array, got)
    if cluster:
        xr.testing.assert_identical(
            getattr(cube.evalci, measure)(k, sample="sample", score=score, **options), got
        )
    xr.testing.assert_identical(
        getattr(cube.evalci, measure)(k, item="item", dim=("sample", "item"), score=score, **options), got
    )
    turned = cube.transpose("sample", "item", "model")
    xr.testing.assert_allclose(
        getattr(turned.evalci, measure)(k, item="item", sample="sample", score=score, **options), got
    )


@quiet
@settings(max_examples=6)
@given(st.integers(0, 2**31))
def test_cube_with_holes(seed):
    rows = pd.concat([made(12, seed + s, n_clusters=4).assign(model=m) for s, m in enumerate("ab")])
    cube = rows.set_index(["model", "item", "sample"])[["score", "graded"]].to_xarray()
    cube = cube.assign_coords(cluster=("item", cube["item"].to_numpy() % 4))
    ask = {"item": "item", "cluster": "cluster", "sample": "sample", "too_few": "omit", "rng": 1}
    for measure, score in (("pass_at_k", "score"), ("pass_hat_k", "score"), ("best_of_k", "graded")):
        try:
            want = getattr(rows.evalci, measure)([1, 2], by="model", score=score, **ask)
        except ClusterError:  # items enough in one cluster only
            continue
        got = getattr(cube.evalci, measure)([1, 2], score=score, nan_policy="omit", **ask)
        compare(want, got, ["model", "k"])


@quiet
def test_long_cube():
    """One dim of rows, with coordinates for item, sample and cluster."""
    rows = made()
    cube = xr.Dataset.from_dataframe(rows).rename(index="row").set_coords(["item", "sample", "cluster"])
    ask = {"item": "item", "cluster": "cluster", "sample": "sample", "too_few": "omit", "rng": 1}
    got, want = cube.evalci.pass_at_k([1, 2], **ask), rows.evalci.pass_at_k([1, 2], **ask)
    compare(want, got, ["k"])


def test_dims_that_cannot_be_told(code):
    cube = datasets.load_code_eval_cube()
    with pytest.raises(
        DimensionError, match=r"It is not clear which dim holds the items: 'model', 'item' is left"
    ):
        cube.evalci.pass_at_k(2, sample="sample")
    with pytest.raises(
        DimensionError, match=r"Items and samples lie along 'sample', which dim= does not reduce"
    ):
        cube.evalci.pass_at_k(2, item="item", sample="sample", dim="item")
    with pytest.raises(
        SamplesError, match=r"each of the 1600 items of 'item' has one\..*Kept are 'model' and 'sample'"
    ):
        cube.evalci.pass_at_k(2, item="item")
    with pytest.raises(MethodError, match="'item' is given both as item and as sample"):
        cube.evalci.pass_at_k(2, item="item", sample="item")
    with pytest.raises(ColumnNotFoundError, match=r"sample='samples' is neither.*Did you mean 'sample'"):
        cube.evalci.pass_at_k(2, item="item", sample="samples")
    with pytest.raises(DimensionError, match=r"sample='one' must lie along dims of the scores.*single value"):
        cube.assign_coords(one=1).evalci.pass_at_k(2, item="item", sample="one")
    with pytest.raises(AmbiguousNameError, match="'k' would stand twice"):
        cube.rename(model="k").evalci.pass_at_k(2, item="item", sample="sample")
    with pytest.raises(MethodError, match=r"must be the name of a coordinate.*got ndarray"):
        cube.evalci.pass_at_k(2, item=np.arange(80), sample="sample")


# Bad input


def test_k_above_the_samples_pk_01_02():
    rows = pd.DataFrame(
        {"q": ["a"] * 10 + ["b"] * 10 + ["c"] * 3 + ["d"] * 5, "score": [1] * 4 + [0] * 19 + [1] + [0] * 4}
    )
    with pytest.raises(
        SamplesError,
        match=r"1 of 4 items have fewer \(of 'q'\): 'c' has 3\. Ask for k of at most 3; or .*omit",
    ):
        rows.evalci.pass_at_k([1, 5], item="q")
    with (
        pytest.warns(
            TooFewSamplesWarning, match=r"1 of 4 at k=5 \('c' has 3\)\. If they are harder or easier"
        ),
        pytest.warns(FewClustersWarning),
    ):
        got = rows.evalci.pass_at_k([1, 5], item="q", too_few="omit", rng=1)
    assert_allclose(got["estimate"], [(0.4 + 0 + 0 + 0.2) / 4, 0.65873], atol=5e-6)
    assert got[["n_items", "n_omitted"]].to_numpy().tolist() == [[4, 0], [3, 1]]
    assert got["n_samples_min"].tolist() == [3, 5]
    by = rows.assign(model="m", n=1)
    with pytest.raises(SamplesError, match=r"'c' in model='m' has 3"):
        by.evalci.pass_at_k(5, item="q", by="model")
    with pytest.raises(MethodError, match="too_few='drop' is not known"):
        rows.evalci.pass_at_k(5, item="q", too_few="drop")


@quiet
def test_no_item_has_enough():
    rows = made()
    got = rows.evalci.pass_at_k([1, 99], item="item", too_few="omit", rng=1).iloc[1]
    assert (got["n_items"], got["n_omitted"]) == (0, 30)
    assert (
        got[["estimate", "ci_low", "ci_high", "n_samples_min", "sample_share", "simultaneous_low"]]
        .isna()
        .all()
    )


def test_one_sample_an_item_pk_04():
    rows = pd.DataFrame({"q": np.arange(164), "sample": 0, "score": [1] * 50 + [0] * 114})
    with pytest.raises(
        SamplesError, match=r"k=10 needs.*each of the 164 items of 'q' has one, and 'sample' tells none apart"
    ):
        rows.evalci.pass_at_k(10, item="q", sample="sample")
    got = rows.evalci.pass_at_k(1, item="q").iloc[0]
    assert_allclose(got["estimate"], 0.304878, atol=6e-7)
    assert np.isnan(got["sample_share"])


def test_scores_that_are_no_passes():
    rows = made()
    rows.loc[:2, "graded"] = -1
    with pytest.raises(
        ScoreRangeError,
        match=r"pass_at_k counts the samples that pass.*'graded' must be 0 or 1; \d+ of \d+.*best_of_k",
    ):
        rows.evalci.pass_at_k(1, item="item", score="graded")
    with pytest.raises(ScoreRangeError, match="Where -1 marks a failed run"):
        rows.evalci.pass_hat_k(1, item="item", score="graded")
    with pytest.warns(SentinelScoreWarning):
        assert rows.evalci.best_of_k(1, item="item", score="graded")["method"].item() == "cr2"


def test_best_of_k_on_an_open_scale():
    rows = made(60, uneven=False)
    rows["graded"] = 10 * rows["graded"] + 3
    got = rows.evalci.best_of_k([1, 3], item="item", cluster="cluster", score="graded", rng=1)
    assert (got["method"] == "cr2").all()
    assert_allclose(got["estimate"][0], rows["graded"].mean())
    assert got["estimate"][1] > got["estimate"][0] + 1


def test_samples_of_an_item_in_two_clusters():
    rows = made(uneven=False)
    spread = rows.copy()
    spread.loc[(spread["item"] == 4) & (spread["sample"] > 3), "cluster"] = 7
    match = r"1 of 30 items of 'item' have samples in more than one cluster of 'cluster': 4 in 4 and 7.*'sample' go on.*correct"
    with pytest.raises(ClusterError, match=match):
        spread.evalci.pass_at_k(2, item="item", cluster="cluster", sample="sample")
    with pytest.raises(ClusterError, match=r"pass nested=True.*If they are samples of one item, correct"):
        spread.evalci.pass_at_k(2, item="item", cluster="cluster")
    cube = xr.Dataset.from_dataframe(spread).rename(index="row").set_coords(["item", "sample", "cluster"])
    with pytest.raises(ClusterError, match="4 in 4 and 7"):
        cube.evalci.pass_at_k(2, item="item", cluster="cluster")


def test_items_numbered_anew_in_each_cluster():
    rows = made(uneven=False)
    local = rows.assign(item=rows["item"] // 10)  # three in each of ten clusters
    match = r"3 of 3 items of 'item' have samples in more than one cluster.*begin anew in each cluster.*pass nested=True"
    with pytest.raises(ClusterError, match=match):
        local.evalci.pass_at_k(2, item="item", cluster="cluster", sample="sample")
    want = rows.evalci.pass_at_k([1, 2], item="item", cluster="cluster", rng=1)
    got = local.evalci.pass_at_k([1, 2], item="item", cluster="cluster", sample="sample", nested=True, rng=1)
    pd.testing.assert_frame_equal(got, want)
    pd.testing.assert_frame_equal(
        local.evalci.pass_at_k([1, 2], item=["cluster", "item"], cluster="cluster", rng=1), want
    )
    with pytest.raises(SamplesError, match=r"\(0, 0\) has 6"):
        local.evalci.pass_at_k(7, item="item", cluster="cluster", nested=True)
    with pytest.raises(MethodError, match=r"nested=True says.*no cluster= is named"):
        local.evalci.pass_at_k(2, item="item", nested=True)


def test_two_scores_under_one_number(code):
    match = r"800 of 800 combinations of 'item' and 'sample' have two scores or more: 0, sample 0 \(\d, \d\).*by='model'"
    with pytest.raises(SamplesError, match=match):
        code.evalci.pass_at_k(2, item="item", sample="sample")
    atlas = code.query("model == 'atlas'")
    with pytest.raises(SamplesError, match=r"1 of 800 combinations.*remove them, as with drop_duplicates"):
        pd.concat([atlas, atlas.iloc[:1]]).evalci.pass_at_k(2, item="item", sample="sample")


@quiet
@pytest.mark.parametrize("method", [*MEASURES, "variance_components"])
def test_ids_of_items_that_look_alike(method):
    """They split an item, which moves the numbers: said, and on a cube too."""
    rows = made(uneven=False)
    ask = {"item": "id"} | ({} if method == "variance_components" else {"k": 2})
    for id_of in (lambda i, j: f"q{i}" + " " * (j % 2), lambda i, j: i if j % 2 else str(i)):
        ids = [id_of(i, j) for i, j in zip(rows["item"], rows["sample"], strict=True)]
        split = rows.assign(id=pd.Series(ids, dtype=object))
        cube = xr.DataArray(
            split["score"], dims="row", coords={"id": ("row", split["id"].to_numpy(object))}, name="score"
        )
        for data in (split, cube):
            with pytest.warns(ClusterIdWarning, match=r"30 id\(s\) in 'id' .*kept apart"):
                getattr(data.evalci, method)(**ask)


def test_missing_scores_and_ids(code):
    atlas = (
        code.query("model == 'atlas'")
        .astype({"score": float, "item": object, "sample": object})
        .reset_index(drop=True)
    )
    gone = atlas.copy()
    gone.loc[[0, 1, 15], "score"] = np.nan
    with pytest.raises(MissingScoreError, match=r"3 of 800 scores in 'score' are missing"):
        gone.evalci.pass_at_k(2, item="item")
    with pytest.warns(MissingScoreWarning, match=r"left out: 3; their items have so many samples less"):
        got = gone.evalci.pass_at_k(2, item="item", nan_policy="omit").iloc[0]
    assert (got["n_samples_min"], got["n_items"]) == (8, 80)
    gone.loc[gone["item"] == 3, "score"] = np.nan
    with pytest.warns(
        MissingScoreWarning, match=r"left out: 13 in model='atlas';.* 1 item\(s\) lost all their samples"
    ):
        assert gone.evalci.pass_at_k(2, item="item", by="model", nan_policy="omit")["n_items"].item() == 79
    cube = datasets.load_code_eval_cube()
    cube["score"] = cube["score"].where(cube["item"] != 3)
    with pytest.raises(MissingScoreError, match=r"20 of 1600 scores .*model='atlas', item=3, sample=0"):
        cube.evalci.pass_at_k(2, item="item", sample="sample")
    for column, error, match in (
        ("item", SamplesError, r"1 of 800 rows have no item id in 'item': row 5"),
        ("sample", SamplesError, r"1 of 800 rows have no sample id in 'sample': row 5"),
        ("repo_id", MissingClusterError, r"1 of 800 rows have no cluster id in 'repo_id': row 5"),
    ):
        lacking = atlas.copy()
        lacking.loc[5, column] = None
        with pytest.raises(error, match=match):
            lacking.evalci.pass_at_k(2, item="item", sample="sample", cluster="repo_id")


def test_a_single_item_or_cluster(code):
    with pytest.raises(
        ClusterError,
        match=r"There is a single item of 'item' with samples enough in item=0; .*no error over items",
    ):
        code.evalci.pass_at_k(2, item="item", by="item")
    one = code.query("repo_id == 'repo-01' and model == 'atlas'")
    with pytest.raises(ClusterError, match="all scores lie in a single cluster of 'repo_id'"):
        one.evalci.pass_at_k(2, item="item", cluster="repo_id")


def test_names_that_do_not_fit(code):
    with pytest.raises(MethodError, match="k=0 must be a whole number"):
        code.evalci.pass_at_k(0, item="item")
    with pytest.raises(MethodError, match="item= names nothing"):
        code.evalci.pass_at_k(1, item=[])
    with pytest.raises(MethodError, match="'score' is given both as score and as item"):
        code.evalci.pass_at_k(1, item="score")
    with pytest.raises(ColumnNotFoundError, match="Did you mean 'item'"):
        code.evalci.pass_at_k(1, item="items")
    with pytest.warns(SharedKeyWarning):
        code.assign(item=code["item"] % 4).query("model == 'atlas'").evalci.pass_at_k(
            1, item=["repo_id", "item"]
        )
    with pytest.warns(SingletonClusterWarning):
        code.evalci.pass_at_k(1, item="item", cluster="item", by="model")


# What is promised


def draw(rng, n_clusters, n, rate):
    """Items of uneven clusters: logits of documents and of items; returns 0/1 scores and the true pass@k by item."""
    sizes = rng.integers(1, 8, n_clusters)
    cluster = np.repeat(np.arange(n_clusters), sizes)
    logit = (
        math.log(rate / (1 - rate))
        + rng.normal(0, 0.9, n_clusters)[cluster]
        + rng.normal(0, 1.2, len(cluster))
    )
    return rng.binomial(n, 1 / (1 + np.exp(-logit))), cluster


def truth(rate, k):
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    p = 1 / (1 + np.exp(-(math.log(rate / (1 - rate)) + math.sqrt(0.9**2 + 1.2**2) * nodes)))
    return np.array([weights @ (1 - (1 - p) ** j) for j in k]) / weights.sum()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::evalci_accessor.exceptions.EvalCIWarning")
@pytest.mark.parametrize("rate", [0.08, 0.85])
@pytest.mark.parametrize(("n", "ks"), [(5, [1, 3, 5]), (10, [1, 3, 5])])
def test_coverage(rate, n, ks):
    rng = np.random.default_rng(n)
    true, held, together = truth(rate, ks), [], []
    for _ in range(150):
        c, cluster = draw(rng, 25, n, rate)
        item = np.repeat(np.arange(len(c)), n)
        rows = pd.DataFrame(
            {
                "item": item,
                "cluster": cluster[item],
                "score": (np.tile(np.arange(n), len(c)) < c[item]).astype(int),
            }
        )
        got = rows.evalci.pass_at_k(ks, item="item", cluster="cluster", n_resamples=999, rng=1)
        held.append((got["ci_low"] <= true) & (true <= got["ci_high"]))
        together.append(((got["simultaneous_low"] <= true) & (true <= got["simultaneous_high"])).all())
    assert (
        np.mean(held, axis=0).min() >= 0.91
    )  # 150 draws: .93 less a standard error; benchmarks/repeated.py has more
    assert np.mean(together) >= 0.91


def test_warnings_point_at_the_callers_line():
    rows = pd.DataFrame({"item": [1, 1, 2, 2, 3, 3], "score": [0, 1, 1, 1, 0, 1]})
    with pytest.warns(EvalCIWarning) as found:
        rows.evalci.pass_at_k(1, item="item")
    assert {one.filename for one in found} == {__file__}
