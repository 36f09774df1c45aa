"""Planning from a pilot: the numbers that it gives, frame against cube, goals out of reach, and pilots that tell nothing."""

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
    ClusterError,
    EvalCIError,
    EvalCIWarning,
    FewClustersWarning,
    MethodError,
    MissingScoreError,
    MissingScoreWarning,
    MixedScaleWarning,
    PairingError,
    PilotError,
    PlanWarning,
    SamplesError,
    SentinelScoreWarning,
    SingletonClusterWarning,
    UnmatchedItemsWarning,
)

quiet = pytest.mark.filterwarnings("ignore::evalci_accessor.exceptions.EvalCIWarning")
PAIR = {"item": "item", "cluster": "doc_id", "pairs": [("boreal", "atlas")]}
ICC = ["icc", "icc_low", "icc_high"]


def triple(plan, name):
    """Point, low and high of an answer, from its values at the ICC's mean and limits."""
    values = getattr(plan, name)
    return [values[0], values.min(), values.max()]


def named(name):
    return [name, f"{name}_low", f"{name}_high"]


def only(rows):
    assert len(rows) == 1
    return rows.iloc[0]


def grid_posterior(means, sizes, within, outside):
    """Mean and quantiles of the Gaussian one-way posterior under the arcsine prior, by brute force over a fine grid."""
    phi = (np.arange(40_000) + 0.5) / 40_000 * np.pi / 2
    rho = np.sin(phi)[:, None] ** 2
    growth = 1 + (sizes - 1) * rho
    w = sizes / growth
    mu = (w * means).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
    q = within / (1 - rho[:, 0]) + (w * (means - mu) ** 2).sum(axis=1)
    n = sizes.sum()
    log = -0.5 * (
        np.log(growth).sum(axis=1)
        + (n - len(sizes)) * np.log(1 - rho[:, 0])
        + np.log(w.sum(axis=1))
        + (n - 1) * np.log(q)
    )
    weight = np.exp(log - log.max())
    cdf = np.cumsum(weight) / weight.sum()
    low, high = (rho[np.searchsorted(cdf, at), 0] for at in (outside, 1 - outside))
    return [float(weight @ rho[:, 0] / weight.sum()), float(low), float(high)]


def of_differences(rows, cluster, outside=0.025):
    """The same of the differences of a wide frame's two columns, by cluster."""
    d = rows["a"] - rows["b"]
    by = d.groupby(rows[cluster])
    sizes, means = by.size().to_numpy(float), by.mean().to_numpy()
    return grid_posterior(means, sizes, float((d**2).sum() - (sizes * means**2).sum()), outside)


@pytest.fixture
def atlas(rag):
    return rag[rag["model"] == "atlas"]


@pytest.fixture
def wide(rag):
    both = rag.pivot(index=["doc_id", "item"], columns="model", values="score").reset_index()
    return both.rename(columns={"boreal": "a", "atlas": "b"})


@pytest.fixture
def uneven():
    """Graded scores on an open scale, in clusters of one to nine."""
    rng = np.random.default_rng(5)
    size = rng.integers(1, 10, 25)
    cluster = np.repeat(np.arange(25), size)
    frames = []
    for model in ("old", "new"):
        score = 5 + rng.normal(size=25)[cluster] + 2 * rng.normal(size=len(cluster))
        frames.append(
            pd.DataFrame(
                {"model": model, "item": np.arange(len(cluster)), "cluster": cluster, "score": score}
            )
        )
    return pd.concat(frames, ignore_index=True)


# The numbers that a pilot gives


def test_half_width_is_that_of_the_pilots_numbers(atlas):
    got = only(atlas.evalci.half_width("doc_id", n_sims=20))
    sums = atlas.groupby("doc_id")["score"].sum().to_numpy(float)
    posterior = stats.icc_posterior(sums, np.full(40, 5.0))
    icc = [posterior.mean, *posterior.quantile(np.array([0.025, 0.975]))]
    assert_allclose(got[ICC].astype(float), icc, rtol=1e-12)
    assert (got["estimate"], got["n_clusters_pilot"], got["items_per_cluster"]) == (0.695, 40, 5.0)
    assert_allclose(got["std_dev"], np.sqrt(0.695 * 0.305))
    plan = stats.half_width(0.695, icc=icc, n_clusters=40, items_per_cluster=5, n_sims=20)
    assert_allclose(got[named("half_width")].astype(float), triple(plan, "half_width"), rtol=1e-9)
    assert_allclose(got["half_width_limit"], plan.half_width_limit[0], rtol=1e-9)
    assert (got["n_clusters"], got["n_items"], got["n_samples"], got["method"]) == (
        40,
        200,
        1,
        "icc_averaged",
    )
    assert got["half_width_low"] < got["half_width"] < got["half_width_high"]


def test_pair_plans_are_those_of_the_pilots_numbers(rag, wide):
    icc = of_differences(wide, "doc_id")
    common = {"icc": icc, "items_per_cluster": 5, "disagreement": (wide["a"] != wide["b"]).mean()}
    got = only(rag.evalci.power("model", difference=0.12, n_clusters=60, **PAIR))
    assert_allclose(got[ICC].astype(float), icc, rtol=1e-3, atol=2e-5)
    assert got["disagreement"] == common["disagreement"]
    plan = stats.power(0.12, n_clusters=60, **common)
    assert_allclose(got[named("power")].astype(float), triple(plan, "power"), atol=1e-3)
    assert_allclose(got["power_limit"], plan.power_limit[0], atol=2e-3)
    assert (got["claim"], got["margin"], got["method"], got["alternative"]) == (
        "superiority",
        0,
        "icc_averaged",
        "two-sided",
    )

    got = only(rag.evalci.mde("model", n_clusters=60, power=0.9, **PAIR))
    assert_allclose(
        got[named("mde")].astype(float),
        triple(stats.mde(power=0.9, n_clusters=60, **common), "difference"),
        atol=3e-4,
    )
    assert got["mde"] == got["difference"]
    got = only(rag.evalci.mde("model", n_clusters=60, claim="equivalence", **PAIR))
    plan = stats.mde(claim="equivalence", n_clusters=60, **common)
    assert_allclose(got[named("mde")].astype(float), triple(plan, "margin"), atol=3e-4)
    assert (got["mde"], got["difference"]) == (got["margin"], 0)

    got = only(rag.evalci.required_clusters(factor="model", difference=0.13, **PAIR))
    plan = stats.required_clusters(difference=0.13, **common)
    assert_allclose(got[named("n_clusters")].astype(float), triple(plan, "n_clusters"), atol=1)
    assert got["n_items"] == 5 * got["n_clusters"]


def test_open_scale_is_planned_by_its_standard_deviation(uneven):
    one = uneven[uneven["model"] == "new"]
    got = only(one.evalci.half_width("cluster", n_clusters=50))
    by = one.groupby("cluster")["score"]
    sizes, means = by.size().to_numpy(float), by.mean().to_numpy()
    y = one["score"].to_numpy()
    centred = means - y.mean()
    within = ((y - y.mean()) ** 2).sum() - (sizes * centred**2).sum()
    assert_allclose(
        got[ICC].astype(float), grid_posterior(centred, sizes, within, 0.025), rtol=1e-3, atol=2e-5
    )
    assert_allclose(got["std_dev"], y.std(ddof=1))
    assert np.isnan(got["estimate"])
    plan = stats.half_width(
        std_dev=y.std(ddof=1), icc=got[ICC].tolist(), n_clusters=50, items_per_cluster=sizes
    )
    assert_allclose(got[named("half_width")].astype(float), triple(plan, "half_width"))
    assert got["method"] == "cr2"

    pair = {"item": "item", "cluster": "cluster"}
    got = only(uneven.evalci.power("model", difference=1.0, **pair))
    both = uneven.pivot(index=["cluster", "item"], columns="model", values="score").reset_index()
    both = both.rename(columns={"old": "a", "new": "b"})
    assert_allclose(got[ICC].astype(float), of_differences(both, "cluster"), rtol=1e-3, atol=2e-5)
    assert_allclose(got["std_dev"], (both["a"] - both["b"]).std())
    plan = stats.power(
        1.0, std_dev=got["std_dev"], icc=got[ICC].tolist(), n_clusters=25, items_per_cluster=sizes
    )
    assert_allclose(got[named("power")].astype(float), triple(plan, "power"))
    assert np.isnan(got["disagreement"])


def test_samples_are_told_from_items():
    """What single samples are like, from a pilot with several, by the moments that define it."""
    code = datasets.load_code_eval()
    one = code[code["model"] == "atlas"]
    got = only(one.evalci.half_width("repo_id", item="item", sample="sample", n_samples=3, n_sims=10))
    by = one.groupby("item")["score"]
    p, within = one["score"].mean(), by.var().mean()
    item_icc = 1 - within / (p * (1 - p))
    assert_allclose(got["item_icc"], item_icc)
    means = one.groupby(["repo_id", "item"], as_index=False)["score"].mean()
    ratio = item_icc + (1 - item_icc) / 10  # variance of a mean of ten over that of one
    ci = means.evalci.cluster_ci("repo_id").iloc[0]
    zero = means.rename(columns={"score": "a"}).assign(b=p)
    assert_allclose(
        got[ICC].astype(float), np.multiply(of_differences(zero, "repo_id"), ratio), rtol=1e-3, atol=1e-5
    )
    plan = stats.half_width(
        p,
        icc=got[ICC].tolist(),
        item_icc=item_icc,
        n_samples=3,
        n_clusters=20,
        items_per_cluster=4,
        n_sims=10,
    )
    assert_allclose(got[named("half_width")].astype(float), triple(plan, "half_width"))
    own = only(one.evalci.half_width("repo_id", item="item", sample="sample", n_sims=40))
    assert own["n_samples"] == 10
    assert_allclose(own["half_width"], (ci["ci_high"] - ci["ci_low"]) / 2, rtol=0.06)


def test_samples_of_pairs_are_told_from_items():
    code = datasets.load_code_eval()
    pair = {"item": "item", "cluster": "repo_id", "sample": "sample"}
    got = only(code.evalci.power("model", difference=0.1, n_samples=2, **pair))
    by = code.pivot_table(
        index=["repo_id", "item"], columns="model", values="score", aggfunc=["mean", "var"], sort=False
    )
    a, b = by["mean"]["atlas"], by["mean"]["boreal"]
    # By brute force over all pairs of a sample of the one and a sample of the other.
    scores = {
        m: s.pivot(index="item", columns="sample", values="score").to_numpy()
        for m, s in code.groupby("model")
    }
    disagree = (scores["atlas"][:, :, None] != scores["boreal"][:, None, :]).mean()
    assert_allclose(got["disagreement"], disagree)
    single = disagree - (a - b).mean() ** 2
    item_icc = 1 - by["var"].sum(axis=1).mean() / single
    assert_allclose([got["std_dev"], got["item_icc"]], [np.sqrt(single), item_icc])
    both = pd.DataFrame({"a": a, "b": b}).reset_index()
    ratio = item_icc + (1 - item_icc) / 10
    assert_allclose(
        got[ICC].astype(float), np.multiply(of_differences(both, "repo_id"), ratio), rtol=1e-3, atol=1e-5
    )
    icc = got[ICC].to_numpy(float)
    plan = stats.power(
        0.1,
        disagreement=disagree,
        icc=icc,
        item_icc=np.maximum(item_icc, icc),
        n_samples=2,
        n_clusters=20,
        items_per_cluster=4,
    )
    assert_allclose(got[named("power")].astype(float), triple(plan, "power"))
    assert got["method"] == "cr2"
    assert only(code.evalci.power("model", difference=0.1, n_samples=1, **pair))["method"] == "icc_averaged"


def test_known_correlations_are_found():
    """A large made pilot: items in clusters, unequal numbers of samples."""
    rng = np.random.default_rng(2)
    n_clusters, per, icc, item_icc, p = 1500, 4, 0.15, 0.5, 0.6
    cluster = rng.beta(p * (1 / icc - 1), (1 - p) * (1 / icc - 1), n_clusters)
    inner = (item_icc - icc) / (1 - icc)
    q = np.repeat(cluster, per)
    items = rng.beta(q * (1 / inner - 1), (1 - q) * (1 / inner - 1))
    n = rng.integers(1, 6, len(items))
    item = np.repeat(np.arange(len(items)), n)
    rows = pd.DataFrame(
        {"cluster": item // per, "item": item, "score": (rng.random(len(item)) < items[item]).astype(int)}
    )
    got = only(rows.evalci.half_width("cluster", item="item", n_clusters=10, n_sims=10))
    assert_allclose([got["icc"], got["item_icc"], got["estimate"]], [icc, item_icc, p], atol=0.025)
    assert got["n_samples"] == round(1 / (1 / n).mean())


def test_graded_scores_in_the_unit_interval_are_planned_for_the_interval_of_a_rate():
    code = datasets.load_code_eval().query("sample == 0")
    got = code.evalci.half_width("repo_id", score="tests_passed", by="model", n_sims=40)
    now = code.evalci.cluster_ci("repo_id", score="tests_passed", by="model")
    assert (got["method"] == "icc_averaged").all()
    assert_allclose(got["half_width"], (now["ci_high"] - now["ci_low"]) / 2, rtol=0.1)
    zero = [
        s.rename(columns={"tests_passed": "a"}).assign(b=s["tests_passed"].mean())
        for _, s in code.groupby("model", sort=False)
    ]
    assert_allclose(
        got[ICC].astype(float), [of_differences(one, "repo_id") for one in zero], rtol=1e-3, atol=1e-5
    )
    assert_allclose(got["std_dev"], code.groupby("model", sort=False)["tests_passed"].std())


def test_without_clusters_items_count():
    code = datasets.load_code_eval().query("sample == 0")
    got = only(code.evalci.power("model", item="item", difference=0.1, n_clusters=[80]))
    share = (code.groupby("item")["score"].nunique() == 2).mean()
    plan = stats.power(0.1, disagreement=share, icc=0, n_clusters=80, items_per_cluster=1)
    assert_allclose(got[named("power")].astype(float), float(plan.power))
    assert np.isnan(got[ICC].astype(float)).all()
    assert (got["cluster"], got["method"], got["n_items"], got["n_clusters_pilot"]) == ("", "tango", 80, 80)
    width = only(code.query("model == 'atlas'").evalci.half_width(None, n_clusters=200, n_sims=20))
    alone = stats.half_width(width["estimate"], icc=0, n_clusters=200, items_per_cluster=1, n_sims=20)
    assert_allclose(width["half_width"], float(alone.half_width))
    assert np.isnan(width["half_width_limit"])  # items do not grow


def test_sizes_keep_their_proportions(uneven):
    one = uneven[uneven["model"] == "new"]
    got = one.evalci.half_width("cluster", n_clusters=[25, 50], items_per_cluster=[5, 40])
    assert got["n_clusters"].tolist() == [25, 25, 50, 50]
    assert got["items_per_cluster"].tolist() == [5, 40, 5, 40]
    sizes = one.groupby("cluster").size().to_numpy()
    plan = stats.half_width(
        std_dev=got["std_dev"][0],
        icc=got["icc"][0],
        n_clusters=50,
        items_per_cluster=np.maximum(sizes * 40 / sizes.mean(), 1),
    )
    assert_allclose(got["half_width"][3], float(plan.half_width))
    assert got["n_items"][3] == 2000


def test_sizes_keep_their_mean_where_the_smallest_cannot_shrink():
    sizes = [1] * 9 + [51]
    rows = pd.DataFrame({"cluster": np.repeat(np.arange(10), sizes), "score": np.arange(60) % 3 > 0})
    with pytest.warns(FewClustersWarning):
        got = rows.evalci.half_width("cluster", items_per_cluster=[1, 2, 6], n_sims=10)
    assert got["n_items"].tolist() == [10, 20, 60]


# The table


def test_columns_and_their_types(rag):
    got = rag.evalci.required_clusters(
        cluster="doc_id", by="model", half_width=[0.1, 0.12], n_sims=10, method="cr2"
    )
    assert [*got] == [
        "model", "half_width", "n_clusters", "n_clusters_low", "n_clusters_high", "n_items", "n_samples", "items_per_cluster",
        "half_width_limit", "icc", "icc_low", "icc_high", "item_icc", "estimate", "std_dev", "n_clusters_pilot", "cluster",
        "method", "confidence_level",
    ]  # fmt: skip
    assert got["model"].tolist() == ["atlas", "atlas", "boreal", "boreal", "cascade", "cascade"]
    assert got["half_width"].tolist() == [0.1, 0.12] * 3
    whole = ["n_clusters", "n_clusters_low", "n_clusters_high", "n_items", "n_samples", "n_clusters_pilot"]
    assert all(pd.api.types.is_integer_dtype(got[name]) for name in whole)
    pairs = rag.evalci.required_clusters(
        factor="model",
        item="item",
        cluster="doc_id",
        baseline="atlas",
        margin=0.15,
        power=[0.7, 0.9],
        method="cr2",
    )
    assert [*pairs][:10] == [
        "model_a", "model_b", "difference", "margin", "claim", "power", "n_clusters", "n_clusters_low", "n_clusters_high",
        "n_items",
    ]  # fmt: skip
    assert pairs["model_a"].tolist() == ["boreal", "boreal", "cascade", "cascade"]
    assert (pairs["claim"] == "noninferiority").all()
    assert (pairs["n_clusters"][1::2].to_numpy() > pairs["n_clusters"][::2].to_numpy()).all()
    grid = rag.evalci.power(
        "model",
        item="item",
        cluster="doc_id",
        difference=[0.1, 0.2],
        n_clusters=[20, 40],
        items_per_cluster=[2, 4],
        method="cr2",
    )
    assert len(grid) == 3 * 8
    assert grid["difference"][:8].tolist() == [0.1] * 4 + [0.2] * 4
    assert grid["n_items"][:4].tolist() == [40, 80, 80, 160]
    assert (grid["power_low"] <= grid["power"]).all()
    assert (grid["power"] <= grid["power_high"]).all()


def test_required_clusters_reach_the_goal_and_one_less_does_not(rag):
    got = only(rag.evalci.required_clusters(factor="model", difference=0.13, **PAIR))
    n = int(got["n_clusters"])
    power = rag.evalci.power("model", difference=0.13, n_clusters=[n - 1, n], **PAIR)["power"]
    assert power[0] < 0.8 <= power[1]
    high = int(got["n_clusters_high"])
    least = rag.evalci.power("model", difference=0.13, n_clusters=[high - 1, high], **PAIR)["power_low"]
    assert least[0] < 0.8 <= least[1]


def same(frame, cube, axes=()):
    """A frame's answer and a cube's, in the order of the former's columns."""
    table = cube.to_dataframe().reset_index()
    keys = [name for name in frame if name in ("model", "task", *axes, "model_a", "model_b")]
    ordered = table.sort_values(keys, ignore_index=True)[[*frame]]
    pd.testing.assert_frame_equal(
        ordered,
        frame.sort_values(keys, ignore_index=True),
        check_dtype=False,
        check_index_type=False,
        rtol=1e-9,
    )


def test_cube_and_frame_agree_for_a_rate(rag, cube):
    rag, cube = rag[rag["model"] != "boreal"], cube.sel(model=["atlas", "cascade"])
    ask = {"n_clusters": [20, 30], "items_per_cluster": 2, "n_sims": 10, "method": "cr2"}
    frame = rag.evalci.half_width("doc_id", by="model", **ask)
    got = cube.evalci.half_width("doc_id", **ask)
    assert dict(got.sizes) == {"model": 2, "n_clusters": 2}
    same(frame, got, ["n_clusters"])
    xr.testing.assert_identical(cube["score"].evalci.half_width("doc_id", **ask), got)
    series = rag.set_index(["model", "doc_id"])["score"].evalci.half_width("doc_id", by="model", **ask)
    pd.testing.assert_frame_equal(series, frame)
    ask = {"cluster": "doc_id", "half_width": [0.1, 0.12], "n_sims": 10, "method": "cr2"}
    frame = rag.evalci.required_clusters(by="model", **ask)
    same(frame, cube.evalci.required_clusters(**ask), ["half_width"])


def test_cube_and_frame_agree_for_pairs(rag, cube):
    series = rag.set_index(["model", "item", "doc_id"])["score"]
    for method, ask, axes in (
        (
            "power",
            {"difference": [0.1, 0.15], "items_per_cluster": [4, 8], "method": "cr2"},
            ["difference", "items_per_cluster"],
        ),
        ("mde", {"n_clusters": [30], "method": "cr2"}, ["n_clusters"]),
        (
            "required_clusters",
            {"margin": 0.15, "items_per_cluster": [5, 8], "method": "cr2"},
            ["items_per_cluster"],
        ),
    ):
        frame = getattr(rag.evalci, method)(
            factor="model", item="item", cluster="doc_id", baseline="atlas", **ask
        )
        got = getattr(cube.evalci, method)(factor="model", cluster="doc_id", baseline="atlas", **ask)
        assert got.sizes["pair"] == 2
        same(frame, got.drop_vars("pair", errors="ignore"), axes)
    ask = {"difference": 0.1, "method": "cr2", "baseline": "atlas"}
    of_array = cube["score"].evalci.power("model", cluster="doc_id", **ask)
    xr.testing.assert_identical(of_array, cube.evalci.power("model", cluster="doc_id", **ask))
    of_series = series.evalci.power("model", "item", "doc_id", **ask)
    pd.testing.assert_frame_equal(of_series, rag.evalci.power("model", "item", "doc_id", **ask))


@pytest.mark.parametrize("hole", [False, True])
def test_cube_and_frame_agree_for_samples(hole):
    code, cube = datasets.load_code_eval(), datasets.load_code_eval_cube()
    if hole:
        code = code[~((code["model"] == "atlas") & (code["item"] < 30) & (code["sample"] > 6))]
        cube = cube.assign(
            score=cube["score"].where(~((cube.model == "atlas") & (cube.item < 30) & (cube["sample"] > 6)))
        )
    policy = {"nan_policy": "omit"} if hole else {}
    many = {"n_samples": [1, 5], "n_clusters": 20}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalCIWarning)
        frame = code.evalci.half_width("repo_id", item="item", sample="sample", by="model", n_sims=10, **many)
        got = cube.evalci.half_width("repo_id", sample="sample", n_sims=10, **many, **policy)
        same(frame, got, ["n_samples"])
        ask = {"cluster": "repo_id", "sample": "sample", "difference": 0.1, **many}
        frame = code.evalci.power("model", item="item", **ask)
        same(
            frame,
            cube.evalci.power("model", **ask, **policy).drop_vars("pair", errors="ignore"),
            ["n_samples"],
        )
    assert frame["method"].tolist() == ["icc_averaged", "cr2"]


def test_items_that_stand_twice_in_a_cube_keep_their_samples():
    """Labels that repeat along the items' dim, of which only one holds scores."""
    cube = datasets.load_code_eval_cube()
    empty = cube.isel(item=[0]).assign(score=cube["score"].isel(item=[0]) * np.nan)
    longer = xr.concat(
        [cube, empty], "item", data_vars="minimal", coords="minimal", compat="override", join="outer"
    )
    ask = {"cluster": "repo_id", "sample": "sample", "difference": 0.1, "n_samples": 3}
    want = cube.evalci.power("model", **ask)
    with pytest.warns(MissingScoreWarning):
        got = longer.evalci.power("model", nan_policy="omit", **ask)
    xr.testing.assert_allclose(got, want)


# Out of reach


def test_goal_that_items_cannot_reach_is_said_plainly(atlas):
    with pytest.warns(PlanWarning) as caught:
        got = only(atlas.evalci.required_clusters(cluster="doc_id", half_width=0.06, n_sims=20))
    text = str(caught[0].message)
    assert text.startswith(
        "with the 40 clusters of 'doc_id' in the pilot no number of items reaches a half-width of 0.06: "
    )
    assert f"stays at {got['half_width_limit']:.3g} (ICC 0.3)" in text
    low, n, high = got[["n_clusters_low", "n_clusters", "n_clusters_high"]]
    assert (
        f"{n} clusters of 5 item(s) are needed ({low} to {high} given what the pilot tells of the ICC)."
        in text
    )
    assert got["half_width_limit"] > 0.06
    wider = only(atlas.evalci.half_width("doc_id", items_per_cluster=5000, n_sims=20))
    assert_allclose(wider["half_width"], got["half_width_limit"], rtol=0.03)
    assert wider["half_width"] > 0.06


def test_power_that_items_cannot_reach_is_said_plainly(rag):
    words = r"'boreal' against 'atlas': .* a power of 0.8 for a difference of 0.05: without bound the power still stays at 0.2"
    with pytest.warns(PlanWarning, match=words):
        rag.evalci.required_clusters(factor="model", difference=0.05, **PAIR)
    with pytest.warns(
        PlanWarning, match=r"and a margin of 0.05.*1 more of the 2 plans: see n_clusters, and power_limit"
    ):
        rag.evalci.required_clusters(
            factor="model", item="item", cluster="doc_id", baseline="atlas", margin=0.05
        )


def test_goal_within_reach_of_more_items_warns_of_nothing(atlas):
    got = only(atlas.evalci.required_clusters(cluster="doc_id", half_width=0.09, n_sims=20))
    assert got["n_clusters"] > 40  # of five items; more items in the 40 would do too
    assert got["half_width_limit"] < 0.09


def test_goal_that_the_pilots_own_design_reaches_warns_of_nothing():
    """Of nearly equal scores the interval is no narrower with endless items than with five."""
    rows = pd.DataFrame({"cluster": np.repeat(np.arange(20), 5), "score": np.repeat([0.0] + [1.0] * 19, 5)})
    got = only(rows.evalci.required_clusters(cluster="cluster", half_width=0.1088, n_sims=20))
    assert got["n_clusters"] <= 20
    assert got["half_width_limit"] > 0.1088


# Pilots that tell little, or nothing


def test_few_clusters_hardly_tell_the_icc(atlas):
    few = atlas[atlas["doc_id"] < "doc-04"]
    with pytest.warns(
        FewClustersWarning, match=r"few clusters of 'doc_id' in the pilot \(4\), which hardly tell the ICC"
    ) as caught:
        got = only(few.evalci.half_width("doc_id", n_clusters=40, n_sims=20))
    assert f"({got['icc_low']:.2g} to {got['icc_high']:.2g})" in str(caught[0].message)
    assert got["icc_high"] - got["icc_low"] > 0.5
    assert got["half_width_high"] > 1.3 * got["half_width_low"]


def test_clusters_of_one_item_give_the_prior(atlas):
    with pytest.warns(SingletonClusterWarning, match="of the prior"):
        got = only(atlas.evalci.half_width("item", items_per_cluster=4, n_sims=10))
    assert_allclose(
        got[ICC].astype(float), [0.5, *np.sin(np.array([0.025, 0.975]) * np.pi / 2) ** 2], atol=1e-3
    )


def test_clusters_of_one_item_give_the_prior_for_pairs(rag):
    with pytest.warns(SingletonClusterWarning, match="tells nothing of the ICC"):
        got = only(
            rag.evalci.power(
                "model", item="item", cluster="item", difference=0.1, pairs=[("atlas", "boreal")]
            )
        )
    assert_allclose(got[ICC].astype(float), [0.5, *np.sin(np.array([0.025, 0.975]) * np.pi / 2) ** 2])


@pytest.mark.parametrize(
    ("score", "words"), [(0, "all scores are 0"), (1, "all scores are 1"), (3.5, "all scores are equal")]
)
def test_pilot_in_which_nothing_varies_is_refused(atlas, score, words):
    with pytest.raises(PilotError, match=f"{words}.*made up.*cluster_ci of this pilot"):
        atlas.assign(score=score).evalci.required_clusters(cluster="doc_id", half_width=0.05)


def test_group_in_which_nothing_varies_is_named(rag):
    rows = rag.assign(score=rag["score"].where(rag["model"] != "boreal", 1))
    with pytest.raises(PilotError, match="model='boreal': all scores are 1"):
        rows.evalci.half_width("doc_id", by="model")
    with pytest.raises(PilotError, match="'boreal' against 'echo': the two systems never differ"):
        pd.concat([rows, rows[rows["model"] == "boreal"].assign(model="echo")]).evalci.power(
            "model", item="item", cluster="doc_id", difference=0.1, baseline="echo"
        )


def test_difference_beyond_the_disagreement_is_refused(rag):
    with pytest.raises(
        PilotError, match=r"^'boreal' against 'atlas': A difference of 0.4 .* disagree on 0.36 of the items"
    ):
        rag.evalci.power("model", difference=0.4, **PAIR)


def test_percent_beside_fractions_are_told(rag):
    mixed = rag.assign(score=rag["score"] * np.where(rag["model"] == "boreal", 100.0, 1.0))
    with pytest.warns(
        MixedScaleWarning, match="'atlas', do not go above 1, and those of 1, such as 'boreal'"
    ):
        mixed.evalci.power("model", difference=0.1, **PAIR)


def test_empty_and_unpaired_pilots_are_refused(rag):
    with pytest.raises(PilotError, match="holds no score"):
        rag.iloc[:0].evalci.half_width("doc_id")
    half = rag.assign(half=np.where(rag["item"] < 100, "first", "second"))
    apart = half[(half["item"] < 100) | ((half["item"] % 2 == 0) == (half["model"] == "atlas"))]
    with (
        pytest.warns(UnmatchedItemsWarning),
        pytest.raises(
            PilotError, match="2 of 6 pairs have no item in common: 'atlas' against 'boreal' in half='second'"
        ),
    ):
        apart.evalci.power(
            "model", item="item", cluster="doc_id", difference=0.1, unmatched="drop", by="half"
        )


def test_pilots_difference_is_not_a_plan(rag):
    for method in ("power", "required_clusters"):
        with pytest.raises(MethodError, match=r"difference|one goal"):
            getattr(rag.evalci, method)(factor="model", **PAIR)
    with pytest.raises(MethodError, match=r"worth finding.*on average too large"):
        rag.evalci.power("model", **PAIR)
    # Nor is it used: the same disagreement with other signs gives nearly the same plan.
    flipped = rag.copy()
    swap = {"atlas": "boreal", "boreal": "atlas"}
    flipped["model"] = flipped["model"].replace(swap)
    ask = {"difference": 0.1} | PAIR
    assert_allclose(rag.evalci.power("model", **ask)["power"], flipped.evalci.power("model", **ask)["power"])


def test_samples_need_samples_in_the_pilot(rag):
    code = datasets.load_code_eval()
    for call in (
        lambda: rag.evalci.half_width("doc_id", by="model", n_samples=5),
        lambda: rag.evalci.power("model", difference=0.1, n_samples=[1, 5], **PAIR),
        lambda: code.query("sample == 0").evalci.half_width("repo_id", item="item", by="model", n_samples=2),
    ):
        with pytest.raises(MethodError, match="what more of them buy cannot be told"):
            call()
    with pytest.raises(MethodError, match="sample= is given and item= is not"):
        code.evalci.half_width("repo_id", sample="sample")
    assert only(rag.evalci.power("model", difference=0.1, n_samples=1, **PAIR))["n_samples"] == 1


def test_one_clustering_only(rag, cube):
    both = ["doc_id", "template_id"]
    for call in (
        lambda: rag.evalci.half_width(both, by="model"),
        lambda: cube.evalci.half_width(both),
        lambda: rag.evalci.power("model", item="item", cluster=both, difference=0.1),
        lambda: cube.evalci.mde("model", cluster=both),
        lambda: rag.evalci.required_clusters(cluster=both, half_width=0.1, by="model", item="item"),
    ):
        with pytest.raises(MethodError, match="plans for one clustering, and cluster= names 2"):
            call()


def test_goals_do_not_mix(rag, cube):
    ask = rag.evalci.required_clusters
    for goals in ({}, {"half_width": 0.1, "difference": 0.1}, {"half_width": 0.1, "margin": 0.1}):
        with pytest.raises(MethodError, match="Name one goal"):
            ask(cluster="doc_id", **goals)
    with pytest.raises(MethodError, match=r"factor= belongs to two systems.*by="):
        ask(factor="model", cluster="doc_id", item="item", half_width=0.1)
    with pytest.raises(MethodError, match="alternative= belongs to two systems"):
        ask(cluster="doc_id", half_width=0.1, alternative="less")
    with pytest.raises(MethodError, match="power= belongs to two systems"):
        ask(cluster="doc_id", half_width=0.1, power=0.9)
    with pytest.raises(MethodError, match="unmatched= belongs to two systems"):
        cube.evalci.required_clusters(cluster="doc_id", half_width=0.1, unmatched="drop")
    with pytest.raises(MethodError, match="name the factor"):
        ask(cluster="doc_id", difference=0.1)
    with pytest.raises(MethodError, match=r"item=\[cluster, item\]"):
        ask(factor="model", item="item", cluster="doc_id", difference=0.1, nested=True)
    with pytest.raises(MethodError, match="item= is missing"):
        ask(factor="model", cluster="doc_id", difference=0.1)
    with pytest.raises(MethodError, match="nested=True is given and item= is not"):
        cube.evalci.half_width("doc_id", nested=True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_clusters": 1}, "n_clusters must be whole numbers of at least 2; got 1"),
        ({"n_clusters": [20, 20.5]}, "got 20.5"),
        ({"items_per_cluster": 0.5}, "items_per_cluster must be numbers of at least 1"),
        ({"n_samples": 0}, "n_samples must be whole numbers of at least 1"),
        ({"n_clusters": "many"}, "must be a number, or a list"),
        ({"n_clusters": []}, "must be a number, or a list"),
        ({"n_clusters": True}, "must be a number, or a list"),
        ({"items_per_cluster": float("inf")}, "must be a number, or a list"),
        ({"method": "bootstrap_bca"}, "bootstrap"),
        ({"method": "no"}, "not known"),
        ({"confidence_level": 95}, "Did you mean 0.95"),
        ({"n_sims": 1}, "n_sims"),
    ],
)
def test_numbers_that_cannot_be(atlas, given, words):
    with pytest.raises(MethodError, match=words):
        atlas.evalci.half_width("doc_id", **given)


def test_errors_as_elsewhere(rag, atlas, cube):
    with pytest.raises(ClusterError, match="single cluster"):
        atlas[atlas["doc_id"] == "doc-00"].evalci.half_width("doc_id")
    with pytest.raises(ClusterError, match="both name 'doc_id'"):
        atlas.evalci.half_width("doc_id", by="doc_id")
    holed = rag.assign(score=rag["score"].where(rag.index != 3).astype(float))
    with pytest.raises(MissingScoreError):
        holed.evalci.half_width("doc_id", by="model")
    with pytest.warns(MissingScoreWarning):
        holed.evalci.half_width("doc_id", by="model", nan_policy="omit", method="cr2")
    with pytest.raises(PairingError):
        rag.iloc[1:].evalci.power("model", item="item", cluster="doc_id", difference=0.1)
    with pytest.raises(SamplesError, match="two scores or more"):
        pd.concat([atlas, atlas.iloc[:1]]).evalci.half_width("doc_id", item="item", sample="template_id")
    marked = atlas.assign(score=atlas["score"].where(atlas["item"] != 7, -1))
    with pytest.warns(SentinelScoreWarning):
        marked.evalci.half_width("doc_id", n_sims=10)
    with pytest.raises(AmbiguousNameError):
        rag.assign(power=1).evalci.power("model", item="item", cluster="doc_id", difference=0.1, by="power")
    with pytest.raises(AmbiguousNameError, match="'n_clusters' would stand twice"):
        cube.rename(model="n_clusters").evalci.half_width("doc_id", n_clusters=[40], method="cr2")
    with pytest.raises(AmbiguousNameError, match="'icc' would stand twice"):
        cube.rename(model="icc").evalci.half_width("doc_id", method="cr2")
    with pytest.raises(MethodError, match="n_clusters says how many there are"):
        rag.evalci.power(
            "model", item="item", difference=0.1, items_per_cluster=3, pairs=[("atlas", "boreal")]
        )


# Properties


pilots = st.builds(
    lambda seed, g, m: _pilot(np.random.default_rng(seed), g, m),
    st.integers(0, 10**6), st.integers(6, 14), st.integers(2, 5),
)  # fmt: skip


def _pilot(rng, n_clusters, most):
    size = rng.integers(1, most + 1, n_clusters)
    cluster = np.repeat(np.arange(n_clusters), size)
    ease = np.tile(rng.normal(size=n_clusters)[cluster], 2)
    rows = pd.DataFrame(
        {
            "model": np.repeat(["x", "y"], len(cluster)), "cluster": np.tile(cluster, 2),
            "item": np.tile(np.arange(len(cluster)), 2), "score": (ease + rng.normal(size=len(ease)) > 0).astype(int),
        }
    )  # fmt: skip
    # So that there is something to plan with.
    rows.loc[[0, len(cluster) + 1], "score"], rows.loc[[1, len(cluster)], "score"] = 1, 0
    return rows


def plans(rows, cluster="cluster", item="item"):
    pair = rows.evalci.power("model", item=item, cluster=cluster, difference=0.05, n_clusters=20)
    width = rows[rows["model"] == "x"].evalci.half_width(cluster, n_clusters=12, method="cr2", n_sims=10)
    return pd.concat(
        [pair.drop(columns=["model_a", "model_b", "cluster"]), width.drop(columns="cluster")]
    ).reset_index(drop=True)


@quiet
@settings(max_examples=2)
@given(rows=pilots, seed=st.integers(0, 1000))
def test_rows_names_and_dtypes_do_not_matter(rows, seed):
    before = rows.copy(deep=True)
    want = plans(rows)
    pd.testing.assert_frame_equal(rows, before)
    rng = np.random.default_rng(seed)
    mixed = rows.sample(frac=1, random_state=seed)
    mixed = pd.concat([mixed[mixed["model"] == m] for m in "xy"])  # the order of the systems names the pair
    pd.testing.assert_frame_equal(plans(mixed), want, rtol=1e-6)
    names = rng.permutation(1000)
    other = rows.assign(
        group=[f"c{names[c]}" for c in rows["cluster"]], question=[f"q{names[i]}" for i in rows["item"]]
    )
    pd.testing.assert_frame_equal(plans(other, "group", "question"), want, rtol=1e-6)
    for dtype in (bool, "Int64"):
        pd.testing.assert_frame_equal(plans(rows.assign(score=rows["score"].astype(dtype))), want)


@quiet
@settings(max_examples=2)
@given(rows=pilots)
def test_more_never_hurts(rows):
    power = rows.evalci.power("model", item="item", cluster="cluster", difference=0.05, n_clusters=[10, 30])[
        "power"
    ]
    assert (np.diff(power) > -1e-3).all()
    more = rows.evalci.power(
        "model", item="item", cluster="cluster", difference=[0.03, 0.06], items_per_cluster=[3, 6]
    )
    p = more["power"].to_numpy().reshape(2, 2)
    assert (np.diff(p, axis=0) > -1e-3).all()
    assert (p <= more["power_limit"].to_numpy().reshape(2, 2) + 0.02).all()


# How often the interval of the required number holds the true one


@pytest.mark.slow
def test_interval_of_the_required_number_holds_the_true_one():
    """Sixty pilots of normal scores with a known ICC; the pilot's spread is estimated too, so somewhat less than .95."""
    rng = np.random.default_rng(4)
    n_clusters, m, icc = 25, 8, 0.2
    true = float(
        stats.required_clusters(half_width=0.15, std_dev=1.0, icc=icc, items_per_cluster=m).n_clusters
    )
    held, above = 0, 0
    for _ in range(60):
        y = np.sqrt(icc) * rng.normal(size=n_clusters)[:, None] + np.sqrt(1 - icc) * rng.normal(
            size=(n_clusters, m)
        )
        rows = pd.DataFrame({"cluster": np.repeat(np.arange(n_clusters), m), "score": y.ravel()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvalCIWarning)
            got = only(rows.evalci.required_clusters(cluster="cluster", half_width=0.15))
        held += got["n_clusters_low"] <= true <= got["n_clusters_high"]
        above += got["n_clusters"] > true
    assert held >= 50  # 57 expected at .95; fewer than 50 has a chance below .001 even at .93
    assert 15 <= above <= 50


# Real data


@pytest.mark.parametrize(
    ("file", "cluster", "score", "keep"),
    [
        ("bbh_codex_cot_direct.csv", "task", "correct", "mode == 'cot'"),
        ("taubench_airline.csv", "task_id", "reward", "reward >= 0"),
        (
            "jailbreakbench.csv",
            "category",
            "jailbroken",
            "attack == 'PAIR' and model == 'gpt-3.5-turbo-1106'",
        ),
        ("mtbench_gpt4_single.csv", "category", "score", "score >= 0"),
    ],
)
def test_plan_at_the_pilots_own_design_is_what_its_interval_is(data_dir, file, cluster, score, keep):
    rows = pd.read_csv(data_dir / file).query(keep)
    got = only(rows.evalci.half_width(cluster, score=score, n_sims=20))
    now = only(rows.evalci.cluster_ci(cluster, score=score))
    assert_allclose(got["half_width"], (now["ci_high"] - now["ci_low"]) / 2, rtol=0.1)
    assert got["half_width_low"] < got["half_width"] < got["half_width_high"]
    assert (got["method"], got["n_items"]) == (now["method"], now["n"])


def test_detectable_difference_goes_with_the_interval_of_the_difference(data_dir):
    """With 80 % power it is some (1.96 + .84) / 1.96 half-widths, and more where the clusters are few."""
    rows = pd.read_csv(data_dir / "bbh_codex_cot_direct.csv")
    ask = {"item": ["task", "item"], "cluster": "task", "score": "correct"}
    got, now = only(rows.evalci.mde("mode", **ask)), only(rows.evalci.diff_ci("mode", **ask))
    ratio = got["mde"] / ((now["ci_high"] - now["ci_low"]) / 2)
    assert 1.43 < ratio < 1.65
    crux = pd.read_csv(data_dir / "cruxeval_codellama7b.csv")
    ask = {"item": "problem", "sample": "sample", "score": "passed"}
    got, now = only(crux.evalci.mde("task", **ask)), only(crux.evalci.diff_ci("task", **ask))
    assert_allclose(got["mde"], 1.43 * (now["ci_high"] - now["ci_low"]) / 2, rtol=0.03)
    once = only(crux.evalci.mde("task", n_samples=1, method="cr2", **ask))
    first = only(crux.query("sample == 0").evalci.mde("task", item="problem", score="passed", method="cr2"))
    assert_allclose(once["mde"], first["mde"], rtol=0.03)


def test_every_error_is_ours(rag):
    with pytest.raises(EvalCIError):
        rag.evalci.required_clusters(cluster="doc_id", half_width=0.9)
