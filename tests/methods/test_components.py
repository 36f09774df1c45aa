"""variance_components on the accessors: known components, identities, another tool, frame against cube, and bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from strategies import quiet, told

from evalci_accessor import datasets, stats
from evalci_accessor.exceptions import (
    AmbiguousNameError,
    ClusterError,
    ColumnNotFoundError,
    DegenerateRateWarning,
    DimensionError,
    DominantClusterWarning,
    EvalCIWarning,
    FewClustersWarning,
    MethodError,
    MissingClusterError,
    MissingScoreError,
    MissingScoreWarning,
    PooledSamplesWarning,
    SamplesError,
    ScoreTypeError,
    SentinelScoreWarning,
    SingletonClusterWarning,
)

COLUMNS = [
    "source", "estimate", "std_error", "variance", "variance_low", "variance_high", "share", "count", "std_error_doubled",
    "std_error_limit", "cost", "cost_doubled", "gain", "best", "count_best", "n_items", "n_clusters", "n_samples_min",
    "n_samples_median", "n_samples_max", "cluster", "confidence_level",
]  # fmt: skip
SOURCES = ["cluster", "item", "sample"]
ASK = {"item": "item", "cluster": "doc"}


def made(seed=0, *, n_clusters=24, n_items=3, n_samples=4, uneven=False, graded=False):
    """Rows of 0/1 scores, or of normal ones, from a nested model."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 2 * n_items, n_clusters) if uneven else np.full(n_clusters, n_items)
    doc = np.repeat(np.arange(n_clusters), size)
    n = rng.integers(1, 2 * n_samples, len(doc)) if uneven else np.full(len(doc), n_samples)
    n[0] = max(n[0], 2)
    item = np.repeat(np.arange(len(doc)), n)
    level = 0.5 + rng.uniform(-0.25, 0.25, n_clusters)[doc] + rng.uniform(-0.25, 0.25, len(doc))
    score = rng.normal(level[item], 0.4) if graded else (rng.random(len(item)) < level[item]).astype(int)
    sample = np.concatenate([np.arange(i) for i in n])
    return pd.DataFrame({"item": item, "doc": doc[item], "sample": sample, "score": score})


@pytest.fixture
def code():
    return datasets.load_code_eval()


def by_source(answer):
    return answer.set_index("source")


# Known components


@pytest.mark.parametrize("uneven", [False, True], ids=["equal", "unequal"])
@pytest.mark.parametrize("clustered", [True, False])
def test_known_components_are_recovered(uneven, clustered):
    runs = [made(seed, n_clusters=25, uneven=uneven).assign(run=seed) for seed in range(300)]
    if not clustered:  # one item of each cluster, so that the two are one
        runs = [rows[rows["item"].isin(rows.groupby("doc")["item"].first())] for rows in runs]
    got = quiet(
        pd.concat(runs).evalci.variance_components,
        item="item",
        cluster="doc" if clustered else None,
        by="run",
        score="score",
    )
    found = got.pivot(index="run", columns="source", values="variance")
    effect = 0.5**2 / 12
    want = {"cluster": effect, "item": effect, "sample": 0.25 - 2 * effect}
    if not clustered:
        want = {"item": 2 * effect, "sample": 0.25 - 2 * effect}
    error = found.std() / np.sqrt(len(found))
    assert list(found) == list(want)
    assert (np.abs(found.mean() - pd.Series(want)) < 3 * error).all()


# Identities


@pytest.mark.parametrize("clustered", [True, False])
def test_balanced_parts_add_up_to_cr1_of_the_item_means(code, clustered):
    rows = code.query("model == 'boreal'")
    got = by_source(rows.evalci.variance_components(item="item", cluster="repo_id" if clustered else None))
    means = rows.groupby(["repo_id", "item"], as_index=False)["score"].mean()
    cluster = "repo_id" if clustered else "item"
    cr1 = quiet(means.evalci.cluster_ci, cluster, method="cr1")
    assert_allclose(got["std_error"], cr1["std_error"].item(), rtol=1e-12)
    assert_allclose(got["estimate"], cr1["estimate"].item(), rtol=1e-12)
    parts = got["variance"] / [20, 80, 800][0 if clustered else 1 :]
    assert_allclose(parts.sum(), cr1["std_error"].item() ** 2, rtol=1e-12)
    assert_allclose(got["share"], parts / parts.sum(), rtol=1e-12)
    unmoved = [0, parts["cluster"], parts["cluster"] + parts["item"]] if clustered else [0, parts["item"]]
    assert_allclose(got["std_error_limit"], np.sqrt(unmoved), rtol=1e-12, atol=1e-15)
    assert_allclose(got["count"], [20, 4, 10] if clustered else [80, 10])


@pytest.mark.parametrize("uneven", [False, True])
def test_the_answer_is_that_of_the_array_function(uneven):
    rows = made(3, uneven=uneven)
    got = by_source(
        quiet(rows.evalci.variance_components, **ASK, confidence_level=0.9, costs={"item": 7, "cluster": 30})
    )
    items = rows.groupby("item").agg(s=("score", "sum"), n=("score", "size"), doc=("doc", "first"))
    want = stats.variance_components(
        items["s"], items["n"], cluster=items["doc"].to_numpy(), confidence_level=0.9
    )
    for name, source in zip(("between_clusters", "between_items", "within_items"), SOURCES, strict=True):
        for end in ("", "_low", "_high"):
            assert_allclose(got.loc[source, f"variance{end}"], getattr(want, name + end), rtol=1e-10)
    assert_allclose(got["share"], want.shares)
    mean_size = len(items) / rows["doc"].nunique()
    assert_allclose(got["count"], [rows["doc"].nunique(), mean_size, len(items) / (1 / items["n"]).sum()])
    assert_allclose(
        got.loc["sample", "std_error_doubled"], stats.projected_error(want, samples=2 * want.n_samples)
    )
    assert_allclose(got.loc["item", "std_error_doubled"], stats.projected_error(want, items=2 * mean_size))
    assert_allclose(got.loc["cluster", "std_error_doubled"], want.std_error / np.sqrt(2))
    cost = 30 * rows["doc"].nunique() + 7 * len(items) + len(rows)
    assert_allclose(got["cost"], cost)
    assert_allclose(got["cost_doubled"] - cost, [cost, 7 * len(items) + len(rows), len(rows)])
    samples, of_a_doc = stats.best_counts(want, {"item": 7, "cluster": 30})
    assert_allclose(got["count_best"], [np.nan, of_a_doc, samples])
    assert (got[["n_items", "n_clusters"]] == [len(items), rows["doc"].nunique()]).all(axis=None)
    assert_allclose(got["n_samples_median"], items["n"].median())


def test_balanced_normal_scores_are_restricted_maximum_likelihood():
    """Where all components are positive, the two are the same for balanced data (Searle et al. 1992, section 4.5)."""
    mixedlm = pytest.importorskip("statsmodels.formula.api").mixedlm
    rng = np.random.default_rng(2)
    y = rng.normal(0, 1, (12, 1, 1)) + rng.normal(0, 0.8, (12, 5, 1)) + rng.normal(0, 1.2, (12, 5, 4))
    rows = pd.DataFrame(
        {"doc": np.repeat(np.arange(12), 20), "item": np.repeat(np.arange(60), 4), "score": y.ravel()}
    )
    got = by_source(quiet(rows.evalci.variance_components, **ASK))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = mixedlm(
            "score ~ 1", rows, groups="doc", re_formula="1", vc_formula={"item": "0 + C(item)"}
        ).fit(reml=True)
    want = [fit.cov_re.iloc[0, 0], fit.vcomp[0], fit.scale]
    assert (got["variance"] > 0.3).all()
    assert_allclose(got["variance"], want, rtol=1e-4)
    assert_allclose(got["std_error"], fit.bse_fe["Intercept"], rtol=1e-4)


def test_negative_components_have_no_share():
    rows = pd.DataFrame(
        {"item": np.repeat(np.arange(40), 2), "score": [0, 1] * 39 + [1, 1]}
    )  # alike but for samples
    got = by_source(rows.evalci.variance_components(item="item"))
    assert got.loc["item", "variance"] < 0
    assert got.loc["item", "variance_low"] == 0
    assert got["share"].tolist() == [0, 1]
    assert np.isfinite(got["gain"]).all()
    assert got["best"].tolist() == [True, False]  # of equal ones the coarser
    dear = by_source(rows.evalci.variance_components(item="item", costs={"item": 1}))
    assert dear["best"].tolist() == [False, True]
    assert np.isinf(dear.loc["sample", "count_best"])


def test_scores_far_from_zero_lose_no_digits():
    rows = made(5, graded=True)
    want = quiet(rows.evalci.variance_components, **ASK)
    got = quiet(rows.assign(score=rows["score"] + 1e8).evalci.variance_components, **ASK)
    assert_allclose(got["variance"], want["variance"], rtol=1e-5)
    assert_allclose(got["estimate"], want["estimate"] + 1e8, rtol=1e-15)


# Real data, worked out anew from a table of items by samples


def split(table):
    """Item and sample variance, and the variance of the mean, of a full table without clusters."""
    within = table.var(axis=1, ddof=1).mean()
    return (
        table.mean(axis=1).var(ddof=1) - within / table.shape[1],
        within,
        table.mean(axis=1).var(ddof=1) / len(table),
    )


def test_cruxeval(data_dir):
    rows = pd.read_csv(data_dir / "cruxeval_codellama7b.csv")
    got = rows.evalci.variance_components(
        item="problem", sample="sample", score="passed", by="task"
    ).set_index("task")
    for task, part in rows.groupby("task"):
        between, within, total = split(
            part.pivot(index="problem", columns="sample", values="passed").to_numpy(float)
        )
        assert_allclose(got.loc[task, "variance"], [between, within], rtol=1e-10)
        assert_allclose(got.loc[task, "std_error"], np.sqrt(total), rtol=1e-10)
        assert_allclose(got.loc[task, "share"], [between / 800 / total, within / 8000 / total], rtol=1e-10)
    assert_allclose(got.loc["input", "std_error"], 0.015525, atol=1e-6)
    assert (got["share"][got["source"] == "sample"] < 0.03).all()  # ten samples were more than enough


def test_two_samples_foretell_ten(data_dir):
    rows = pd.read_csv(data_dir / "cruxeval_codellama7b.csv")
    for _, part in rows.groupby("task"):
        c = part.pivot(index="problem", columns="sample", values="passed").to_numpy()
        # The file has like samples of a problem side by side, so neighbours are no random pair.
        c = np.random.default_rng(0).permuted(c, axis=1)
        pairs = [stats.variance_components(c[:, j : j + 2].sum(axis=1), 2) for j in range(0, 10, 2)]
        ahead = [float(stats.projected_error(pair, samples=10)) for pair in pairs]
        came = c.mean(axis=1).std(ddof=1) / np.sqrt(len(c))
        assert_allclose(np.mean(ahead), came, rtol=0.005)
        assert np.mean([pair.std_error for pair in pairs]) > 1.025 * came  # what there was to foretell


def test_taubench(data_dir):
    rows = pd.read_csv(data_dir / "taubench_airline.csv")
    ask = {"item": "task_id", "sample": "trial", "score": "reward"}
    got = by_source(rows.evalci.variance_components(**ask))
    between, within, total = split(rows.pivot(index="task_id", columns="trial", values="reward").to_numpy())
    assert_allclose(got["variance"], [between, within], rtol=1e-10)
    assert_allclose(got["std_error"], np.sqrt(total), rtol=1e-10)
    users = by_source(
        rows.evalci.variance_components(cluster="user_id", costs={"item": 20, "cluster": 20}, **ask)
    )
    assert users["count"].tolist() == [34, 50 / 34, 4]
    assert_allclose(users.loc["sample", "variance"], within)
    assert users["best"].tolist() == [False, False, True]


# Frame and cube


def compare(frame, cube, keys):
    got = cube.to_dataframe().reset_index()[list(frame)]
    pd.testing.assert_frame_equal(
        got.sort_values(keys, ignore_index=True),
        frame.sort_values(keys, ignore_index=True),
        check_dtype=False,
        rtol=1e-10,
    )


@pytest.mark.parametrize("cluster", [None, "repo_id"])
@pytest.mark.parametrize("score", ["score", "tests_passed"])
def test_cube_has_the_frames_answer(code, cluster, score):
    cube = datasets.load_code_eval_cube()
    ask = {"cluster": cluster, "item": "item", "sample": "sample", "costs": {"item": 30}}
    want = code.evalci.variance_components(by="model", score=score, **ask)
    got = cube.evalci.variance_components(score=score, **ask)
    compare(want, got, ["model", "source"])
    assert got["variance"].dims == ("model", "source")
    assert got["std_error"].dims == got["cost"].dims == got["n_samples_min"].dims == ("model",)
    assert got["source"].to_numpy().tolist() == SOURCES[0 if cluster else 1 :]
    xr.testing.assert_identical(cube[score].evalci.variance_components(**ask), got)
    xr.testing.assert_allclose(cube.transpose().evalci.variance_components(score=score, **ask), got)
    one = cube.sel(model="atlas", drop=True).evalci.variance_components(score=score, **ask)
    assert one["std_error"].dims == ()
    compare(want[want["model"] == "atlas"].drop(columns="model"), one, ["source"])


@settings(max_examples=15)
@given(st.integers(0, 2**31), st.booleans(), st.sampled_from([None, "doc"]))
def test_cube_with_holes(seed, graded, cluster):
    rows = pd.concat(
        [made(seed + s, n_clusters=5, uneven=True, graded=graded).assign(model=m) for s, m in enumerate("ab")]
    )
    rows["item"] = rows["doc"] * 10 + rows.groupby(["model", "doc"])["item"].transform(lambda i: i - i.min())
    cube = rows.set_index(["model", "item", "sample"])[["score"]].to_xarray()
    cube = cube.assign_coords(doc=("item", cube["item"].to_numpy() // 10))
    ask = {"item": "item", "cluster": cluster, "sample": "sample"}
    want = quiet(rows.evalci.variance_components, by="model", **ask)
    compare(want, quiet(cube.evalci.variance_components, nan_policy="omit", **ask), ["model", "source"])


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.booleans(), st.sampled_from([None, "doc"]))
def test_order_and_labels_and_dtypes_do_not_matter(seed, graded, cluster):
    rows = made(seed, n_clusters=6, uneven=True, graded=graded)
    before = rows.copy()
    ask = {"item": "item", "cluster": cluster, "sample": "sample", "costs": {"item": 4}}
    want = quiet(rows.evalci.variance_components, **ask)
    pd.testing.assert_frame_equal(rows, before)
    turned = rows.sample(frac=1, random_state=seed % 1000)
    turned["item"] = [f"q{(7 * i + 3) % 101}" for i in turned["item"]]
    turned["doc"] = turned["doc"].map(lambda d: f"doc {d}").astype("category")
    turned["score"] = turned["score"].astype("Float64" if graded else "boolean")
    got = quiet(turned.evalci.variance_components, **ask)
    pd.testing.assert_frame_equal(got, want, rtol=1e-7, atol=1e-10)


def test_columns_and_keys(code):
    code["model"] = code["model"].astype("category")
    got = code.evalci.variance_components(item="item", cluster="repo_id", by="model")
    assert list(got) == ["model", *COLUMNS]
    assert got["model"].dtype == code["model"].dtype
    assert got["source"].tolist() == SOURCES * 2
    assert got["best"].dtype == bool
    assert got["n_items"].dtype == np.int64
    assert not got.drop(columns="count_best").isna().any(axis=None)
    series = code.set_index(["model", "item", "repo_id"])["score"]
    pd.testing.assert_frame_equal(
        series.evalci.variance_components(item="item", cluster="repo_id", by="model"), got
    )
    with pytest.raises(AmbiguousNameError, match="by='source' would stand twice"):
        code.rename(columns={"model": "source"}).evalci.variance_components(item="item", by="source")
    cube = datasets.load_code_eval_cube().rename(model="source")
    with pytest.raises(AmbiguousNameError, match="'source' would stand twice"):
        cube.evalci.variance_components(sample="sample", cluster="repo_id")


def test_ids_that_count_within_their_cluster(code):
    want = code.evalci.variance_components(item="item", cluster="repo_id", by="model")
    code["item"] %= 4
    got = code.evalci.variance_components(item="item", cluster="repo_id", by="model", nested=True)
    pd.testing.assert_frame_equal(got, want)
    with pytest.raises(ClusterError, match=r"more than one cluster.*nested=True"):
        code.evalci.variance_components(item="item", cluster="repo_id", by="model")


# What is said of the data


def test_few_clusters():
    rows = made(n_clusters=8)
    quietly = told(
        FewClustersWarning,
        r"fewer than 20 effective clusters of 'doc' \(8\)",
        rows.evalci.variance_components,
        **ASK,
    )
    assert len(quietly) == 3
    told(
        FewClustersWarning,
        r"items of 'item' \(9\)",
        made(n_clusters=3).evalci.variance_components,
        item="item",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(n_clusters=24).evalci.variance_components(**ASK)
        made(n_clusters=24).evalci.variance_components(item="item")


def test_each_cluster_holds_one_item():
    rows = made(n_clusters=40, n_items=1)
    got = by_source(
        told(
            SingletonClusterWarning,
            "one score",
            rows.evalci.variance_components,
            costs={"item": 2, "cluster": 3},
            **ASK,
        )
    )
    alone = by_source(rows.evalci.variance_components(item="item", costs={"item": 5}))
    told_of = [
        "variance",
        "variance_low",
        "share",
        "count",
        "std_error_doubled",
        "cost_doubled",
        "gain",
        "count_best",
    ]
    assert got.loc["cluster", told_of].isna().all()
    assert not got.loc["cluster", "best"]
    assert_allclose(got.loc[["item", "sample"], told_of].astype(float), alone[told_of])


def test_other_warnings():
    rows = made()
    same = told(
        DegenerateRateWarning, "all scores are 1", rows.assign(score=1).evalci.variance_components, **ASK
    )
    assert (same["std_error"] == 0).all()
    assert same[["share", "gain", "variance_low", "count_best"]].isna().all(axis=None)
    assert (same["estimate"] == 1).all()
    large = rows.assign(doc=rows["doc"].clip(lower=9))
    told(
        DominantClusterWarning,
        "the largest cluster of 'doc', 9, holds",
        large.evalci.variance_components,
        **ASK,
    )
    marked = rows.assign(score=rows["score"].where(rows.index != 3, -1))
    told(SentinelScoreWarning, r"1 score\(s\) are -1", marked.evalci.variance_components, **ASK)
    lost = rows.assign(score=rows["score"].where(rows.index != 3))
    got = told(MissingScoreWarning, "left out: 1", lost.evalci.variance_components, nan_policy="omit", **ASK)
    assert (got["n_samples_min"] == 3).all()
    with pytest.raises(MissingScoreError):
        lost.evalci.variance_components(**ASK)
    with pytest.warns(EvalCIWarning) as found:
        made(n_clusters=8).evalci.variance_components(**ASK)
    assert {one.filename for one in found} == {__file__}


def test_systems_that_are_pooled(code):
    told(PooledSamplesWarning, "model", code.evalci.variance_components, item="item", cluster="repo_id")


def test_a_group_without_scores():
    rows = pd.concat([made().assign(model="a"), made(1).assign(model="b", score=np.nan)])
    got = told(
        MissingScoreWarning,
        "in model='b'",
        rows.evalci.variance_components,
        by="model",
        nan_policy="omit",
        **ASK,
    )
    empty = got[got["model"] == "b"]
    assert empty["source"].tolist() == SOURCES
    assert (empty[["n_items", "n_clusters"]] == 0).all(axis=None)
    assert (
        empty[["estimate", "std_error", "variance", "share", "cost", "gain", "n_samples_min"]]
        .isna()
        .all(axis=None)
    )
    assert not empty["best"].any()
    pd.testing.assert_frame_equal(
        got[got["model"] == "a"].drop(columns="model"), made().evalci.variance_components(**ASK)
    )


# Bad input


def test_one_sample_an_item():
    rows = made(n_samples=1)[lambda d: d["item"] > 0]
    match = r"all items of 'item' have a single row \(71 items\), and 'sample' tells none apart"
    with pytest.raises(SamplesError, match=match):
        rows.evalci.variance_components(sample="sample", **ASK)
    both = pd.concat([rows.assign(model="a"), made().assign(model="b")])
    with pytest.raises(SamplesError, match=r"single row \(71 of model='a'\)"):
        both.evalci.variance_components(by="model", **ASK)
    cube = datasets.load_code_eval_cube()
    with pytest.raises(SamplesError, match=r"have a single cell \(.*what is kept"):
        cube.evalci.variance_components(item="item")
    twice = pd.concat([made(), made().iloc[:1]])
    with pytest.raises(SamplesError, match="two scores or more"):
        twice.evalci.variance_components(sample="sample", **ASK)


def test_other_bad_input(code):
    rows = made()
    with pytest.raises(ClusterError, match="a single item of 'item'"):
        rows[rows["item"] == 3].evalci.variance_components(item="item")
    with pytest.raises(ClusterError, match="single cluster of 'doc'"):
        rows[rows["doc"] == 3].evalci.variance_components(**ASK)
    with pytest.raises(MissingClusterError):
        rows.assign(doc=rows["doc"].where(rows["doc"] > 2)).evalci.variance_components(**ASK)
    with pytest.raises(ScoreTypeError):
        rows.assign(score="C").evalci.variance_components(**ASK)
    with pytest.raises(ColumnNotFoundError, match="Did you mean 'item'"):
        rows.evalci.variance_components(item="itm")
    code["language"] = code["item"] % 3
    with pytest.raises(
        MethodError, match=r"one clustering, and cluster= names 2: '.*', '.*'\. Ask for one at a time"
    ):
        code.evalci.variance_components(item="item", cluster=["repo_id", "language"], by="model")
    with pytest.raises(MethodError, match=r"the cost of a cluster, and no cluster= is named"):
        rows.evalci.variance_components(item="item", costs={"cluster": 5})
    with pytest.raises(MethodError, match=r"these name 'docs'"):
        rows.evalci.variance_components(costs={"docs": 5}, **ASK)
    with pytest.raises(MethodError, match=r"Did you mean 0\.95"):
        rows.evalci.variance_components(confidence_level=95, **ASK)
    with pytest.raises(MethodError, match="nan_policy='drop'"):
        rows.evalci.variance_components(nan_policy="drop", **ASK)
    with pytest.raises(DimensionError, match="not clear which dim holds the items"):
        datasets.load_code_eval_cube().evalci.variance_components(sample="sample")
