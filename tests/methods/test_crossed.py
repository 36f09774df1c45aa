"""Crossed clusterings through the accessors: frames against cubes, against the array function, and in words."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import quiet, told

from conftest import requires
from evalci_accessor import stats
from evalci_accessor.exceptions import (
    ClusterError,
    ClusterIdWarning,
    ColumnNotFoundError,
    CrossedVarianceWarning,
    DominantClusterWarning,
    FewClustersWarning,
    MethodError,
    MissingClusterError,
    NestedClustersWarning,
)

BOTH = ["doc", "prompt"]
METHODS = ("auto", "cr0", "cr1", "cr2", "cr3", "wilson", "logit", "korn_graubard", "bootstrap_pigeonhole")
SEEDED = {"n_resamples": 200, "rng": 1}


def made(seed=0, n_docs=8, n_prompts=6, models=("a", "b")):
    """A cube of 0/1 scores in which documents and prompts both matter."""
    rng = np.random.default_rng(seed)
    shape = (len(models), n_docs, n_prompts)
    effect = rng.normal(size=(1, n_docs, 1)) + rng.normal(size=(1, 1, n_prompts)) + rng.normal(size=shape)
    return xr.Dataset(
        {"score": (("model", "doc", "prompt"), (effect > -0.5).astype(np.int64))},
        coords={
            "model": list(models), "doc": [f"d{i}" for i in range(n_docs)], "prompt": np.arange(n_prompts),
            "topic": ("doc", np.arange(n_docs) // 2),
        },
    )  # fmt: skip


def rows_of(cube):
    return cube.to_dataframe().reset_index()


@pytest.fixture
def frame():
    return rows_of(made())


@pytest.mark.parametrize("method", METHODS)
def test_frame_cube_and_arrays_agree(method):
    cube = made()
    by_cube = quiet(cube.evalci.cluster_ci, BOTH, method=method, **SEEDED)
    by_array = quiet(cube["score"].evalci.cluster_ci, BOTH, method=method, **SEEDED)
    by_frame = quiet(rows_of(cube).evalci.cluster_ci, BOTH, by="model", method=method, **SEEDED)
    assert by_cube["estimate"].dims == ("model",)
    xr.testing.assert_identical(by_cube, by_array)
    pd.testing.assert_frame_equal(
        by_cube[[c for c in by_frame if c != "model"]].to_dataframe().reset_index()[list(by_frame)], by_frame, check_dtype=False,
    )  # fmt: skip
    for h, rows in enumerate(cube["score"].values.reshape(2, -1)):
        ids = [np.repeat(np.arange(8), 6), np.tile(np.arange(6), 8)]
        one = stats.crossed_ci(rows, ids, method=method, **SEEDED)
        for name in ("estimate", "std_error", "ci_low", "ci_high", "n_eff"):
            assert by_frame[name][h] == pytest.approx(float(getattr(one, name)), rel=1e-9), name
    assert set(by_frame["cluster"]) == {"doc + prompt"}
    assert (by_frame["n_clusters"] == 6).all()
    assert by_frame["icc"].isna().all()


def test_three_ways_with_weights_and_missing_scores(frame):
    rng = np.random.default_rng(3)
    frame = frame.assign(
        judge=rng.integers(0, 4, size=len(frame)),
        w=rng.lognormal(size=len(frame)),
        score=frame["score"].astype(float),
    )
    frame.loc[[3, 40], "score"] = np.nan
    frame.loc[7, "w"] = 0.0
    before = frame.copy(deep=True)
    answer = quiet(
        frame.evalci.cluster_ci, [*BOTH, "judge"], by="model", weights="w", nan_policy="omit", method="cr1"
    )
    pd.testing.assert_frame_equal(frame, before)
    for h, (_, rows) in enumerate(frame.groupby("model")):
        held = rows[rows["score"].notna()]
        one = stats.crossed_ci(
            held["score"], [held["doc"], held["prompt"], held["judge"]], weights=held["w"], method="cr1"
        )
        assert answer["std_error"][h] == pytest.approx(float(one.std_error), rel=1e-9)
        assert answer["n"][h] == one.n == (held["w"] > 0).sum()
    cube = frame.set_index(["model", "doc", "prompt"]).to_xarray()
    by_cube = quiet(
        cube.evalci.cluster_ci, [*BOTH, "judge"], dim=BOTH, weights="w", nan_policy="omit", method="cr1"
    )
    np.testing.assert_allclose(by_cube["std_error"], answer["std_error"], rtol=1e-9)


def test_clusters_that_differ_between_the_kept_dims():
    cube = made()
    judge = xr.DataArray(
        np.random.default_rng(1).integers(0, 4, size=(2, 8, 6)), dims=("model", "doc", "prompt")
    )
    cube = cube.assign_coords(judge=judge)
    by_cube = quiet(cube.evalci.cluster_ci, ["doc", "judge"], dim=BOTH)
    by_frame = quiet(rows_of(cube).evalci.cluster_ci, ["doc", "judge"], by="model")
    np.testing.assert_allclose(by_cube["ci_low"], by_frame["ci_low"], rtol=1e-9)


def test_chunks_do_not_matter():
    requires("dask.array")
    cube = made()
    lazy = cube.chunk({"doc": 3, "prompt": 2})
    for method in ("auto", "bootstrap_pigeonhole"):
        xr.testing.assert_allclose(
            quiet(lazy.evalci.cluster_ci, BOTH, method=method, **SEEDED),
            quiet(cube.evalci.cluster_ci, BOTH, method=method, **SEEDED), rtol=1e-12,
        )  # fmt: skip


def recoded(values, kind):
    values = pd.Series(values)
    codes = pd.Series(pd.factorize(values)[0])
    if kind == "category":
        return pd.Categorical(values, categories=["unused", *values.unique()[::-1]])
    if kind == "string[pyarrow]":
        requires("pyarrow")
    if kind in ("object", "string", "string[pyarrow]"):
        return values.astype(str).astype(kind)
    if kind == "big":
        return codes + 2**60
    return codes.astype(kind)


@pytest.mark.parametrize("kind", ["object", "string", "string[pyarrow]", "category", "Int64", "int8", "big"])
@pytest.mark.parametrize("method", ["auto", "cr2", "bootstrap_pigeonhole"])
def test_dtype_of_the_ids(frame, kind, method):
    other = frame.assign(doc=recoded(frame["doc"], kind), prompt=recoded(frame["prompt"], kind))
    answer, expected = (
        quiet(f.evalci.cluster_ci, BOTH, by="model", method=method, **SEEDED) for f in (other, frame)
    )
    pd.testing.assert_frame_equal(answer, expected, rtol=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.sampled_from(["auto", "cr1", "bootstrap_pigeonhole"]))
def test_order_of_the_rows(seed, method):
    frame = rows_of(made(seed=seed % 7, n_docs=5, n_prompts=4)).sample(frac=0.8, random_state=seed)
    turned = frame.sample(frac=1, random_state=seed % 100)
    answers = [
        quiet(f.evalci.cluster_ci, BOTH, by="model", method=method, **SEEDED).sort_values(
            "model", ignore_index=True
        )
        for f in (frame, turned)
    ]
    pd.testing.assert_frame_equal(*answers, rtol=1e-8)


def test_nested_names_are_said_and_the_coarsest_counts(frame):
    answer = told(
        NestedClustersWarning,
        r"Each of the 8 clusters of 'doc' lies within one cluster of 'topic'",
        frame.evalci.cluster_ci,
        ["doc", "topic"],
        by="model",
    )
    pd.testing.assert_frame_equal(answer, quiet(frame.evalci.cluster_ci, "topic", by="model"))
    three = told(
        NestedClustersWarning,
        "'doc' was left out",
        frame.evalci.cluster_ci,
        ["doc", "prompt", "topic"],
        by="model",
    )
    assert set(three["cluster"]) == {"prompt + topic"}
    same = told(
        NestedClustersWarning,
        "divide the scores alike into 8 clusters",
        frame.assign(copy=frame["doc"]).evalci.cluster_ci,
        ["doc", "copy"],
        by="model",
    )
    assert set(same["cluster"]) == {"doc"}
    cube = told(NestedClustersWarning, "nested", made().evalci.cluster_ci, ["doc", "topic"])
    assert cube["cluster"].item() == "topic"


def test_an_item_of_its_own_is_nested_in_everything(frame):
    answer = told(
        NestedClustersWarning,
        "'id' was left out",
        frame.assign(id=range(len(frame))).evalci.cluster_ci,
        ["id", "doc"],
        by="model",
    )
    assert set(answer["cluster"]) == {"doc"}


def test_groups_in_which_one_lies_within_another():
    other = rows_of(made(models=("b",), seed=5))
    matched = other[other["prompt"] == other["doc"].str[1:].astype("int64")]
    frame = pd.concat([rows_of(made(models=("a",))), matched])
    frame = pd.concat([frame, frame[frame["model"] == "b"].assign(doc=lambda d: d["doc"] + "x", score=1)])
    answer = quiet(frame.evalci.cluster_ci, BOTH, by="model")
    alone = quiet(frame[frame["model"] == "b"].evalci.cluster_ci, "prompt")
    assert answer["ci_low"][1] == pytest.approx(alone["ci_low"][0], rel=1e-3)


def test_design_effect_has_a_row_for_all_together(frame):
    answer = frame.evalci.design_effect(BOTH, by="model")
    for _, rows in answer.groupby("model"):
        effect = rows.set_index("cluster")["design_effect"]
        assert effect["doc + prompt"] == pytest.approx(effect["doc"] + effect["prompt"] - 1)
        assert rows["cluster"].iloc[0] == "doc + prompt"
    assert answer.loc[answer["cluster"] == "doc + prompt", "icc"].isna().all()
    by_cube = made().evalci.design_effect(BOTH)
    assert set(by_cube["cluster"].values) == {"doc", "prompt", "doc + prompt"}
    joint = by_cube.sel(cluster="doc + prompt")["design_effect"]
    np.testing.assert_allclose(joint, answer.loc[answer["cluster"] == "doc + prompt", "design_effect"])
    assert set(frame.evalci.design_effect(["doc", "topic"])["cluster"]) == {
        "doc",
        "topic",
    }  # nested: no row together


def test_no_clustering_counts_for_more_than_the_fewest_effective_clusters():
    """All pass in 100 documents by 5 prompts: no more than five independent chances are in doubt, and not fewer."""
    cube = xr.Dataset(
        {"score": (("doc", "prompt"), np.ones((100, 5), dtype=int))},
        coords={"prompt": range(5), "doc": range(100)},
    )
    both, alone = (quiet(cube.evalci.cluster_ci, name, dim=...) for name in (BOTH, "prompt"))
    assert 5 < both["n_eff"] < alone["n_eff"]
    assert stats.proportion_ci(5, 5, method="clopper_pearson").ci_low < both["ci_low"] < alone["ci_low"]


def test_together_comes_first_also_where_it_ties():
    frame = rows_of(made(seed=3)).assign(
        score=lambda d: (d["prompt"] < 3).astype(int)
    )  # documents tell nothing
    answer = quiet(frame.evalci.design_effect, BOTH, by="model")
    assert answer["cluster"].tolist() == ["doc + prompt", "prompt", "doc"] * 2
    weighted = quiet(
        frame.assign(w=np.where(frame["doc"] == "d0", 50, 1)).evalci.design_effect,
        BOTH,
        by="model",
        weights="w",
    )
    assert (weighted.loc[weighted["cluster"] == "doc + prompt", "n_clusters"] == 6).all()


def test_warnings_name_the_clustering(frame):
    few = frame[frame["prompt"] < 3]
    told(
        FewClustersWarning,
        r"2 of 2 groups .*fewer than 5 effective clusters of 'prompt'",
        few.evalci.cluster_ci,
        BOTH,
        by="model",
    )
    told(
        FewClustersWarning,
        r"few clusters of 'prompt' \(3, 2 degrees",
        few[few["model"] == "a"].evalci.cluster_ci,
        BOTH,
    )
    told(
        DominantClusterWarning,
        "largest cluster of 'prompt', 0, holds 33.3%",
        few[few["model"] == "a"].evalci.cluster_ci,
        BOTH,
    )


def test_a_crossed_variance_that_is_negative_or_too_small_is_said():
    y = [1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1]
    frame = pd.DataFrame({"score": y, "doc": np.repeat(list("abc"), 4), "prompt": np.tile(list("wxyz"), 3)})
    told(
        CrossedVarianceWarning,
        "is negative, as it can be with few clusters; the larger",
        frame.evalci.cluster_ci,
        BOTH,
        method="cr0",
    )
    case = pd.DataFrame(
        {"score": [1, 1, 0, 1, 1, 0, 0, 1, 0], "doc": list("aaabbbccc"), "prompt": list("xyzxyzxyz")}
    )
    answer = told(
        CrossedVarianceWarning,
        "is less than that of one of the clusterings alone",
        case.evalci.cluster_ci,
        BOTH,
        method="cr1",
    )  # str-01
    assert answer["std_error"][0] == pytest.approx(0.260579, abs=5e-7)


def test_open_scores_whose_default_is_a_sum_are_told_to_look_at_each():
    y = [1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1]
    frame = pd.DataFrame(
        {"score": np.multiply(y, 5), "doc": np.repeat(list("abc"), 4), "prompt": np.tile(list("wxyz"), 3)}
    )
    told(CrossedVarianceWarning, r"is negative.*report the widest interval\.$", frame.evalci.cluster_ci, BOTH)


@pytest.mark.parametrize("weights", ["w", None])
def test_the_scan_does_not_look_at_rows_that_do_not_count(weights):
    frame = rows_of(made(models=("a",))).assign(w=np.tile([0.0, 1.0], 24))
    frame["topic"] = frame["topic"].where(frame["w"] > 0).astype("Int64")
    frame["score"] = frame["score"].astype(float).where((frame["w"] > 0) | (weights == "w"))
    options = {"weights": weights} if weights else {"nan_policy": "omit"}
    answer = quiet(frame.drop(columns=[] if weights else "w").evalci.design_effect, **options)
    assert {"doc", "prompt", "topic"} <= set(answer["cluster"])
    cube = (
        frame.assign(topic=frame["topic"].astype(float))
        .set_index(["doc", "prompt"])[["score", "w", "topic"]]
        .to_xarray()
    )
    by_cube = quiet(cube.set_coords("topic").evalci.design_effect, dim=BOTH, **options)
    assert {"doc", "prompt", "topic"} <= set(by_cube["cluster"].values)


def test_errors(frame):
    with pytest.raises(MissingClusterError, match=r"1 of 96 rows have no cluster id in 'prompt': rows 5"):
        frame.assign(prompt=frame["prompt"].where(frame.index != 5)).evalci.cluster_ci(BOTH)
    with pytest.raises(ColumnNotFoundError, match=r"cluster='promt'.*Did you mean 'prompt'"):
        frame.evalci.cluster_ci(["doc", "promt"])
    for obj in (frame, made()):
        with pytest.raises(
            ColumnNotFoundError, match=r"Several clusterings go in a list: cluster=\['doc', 'prompt'\]\."
        ):
            obj.evalci.cluster_ci("doc + prompt")
    with pytest.raises(ClusterError, match=r"by= both name 'prompt'.*Leave it out of cluster="):
        frame.evalci.cluster_ci(BOTH, by="prompt")
    with pytest.raises(ClusterError, match=r"by= both name 'prompt'.*Leave it out of by="):
        frame.evalci.design_effect("prompt", by="prompt")
    with pytest.raises(ClusterError, match="all scores lie in a single cluster of 'half'"):
        quiet(frame.assign(half=1).evalci.cluster_ci, ["doc", "half"], by="model")
    with pytest.raises(MethodError, match="use method='bootstrap_pigeonhole', or the default"):
        frame.evalci.cluster_ci(BOTH, method="bootstrap_percentile")
    with pytest.raises(
        MethodError, match=r"there is one; name several, as cluster=\['doc_id', 'prompt_id'\]"
    ):
        frame.evalci.cluster_ci("doc", method="bootstrap_pigeonhole")
    rng = np.random.default_rng(1)
    many = frame.assign(**{f"x{k}": rng.integers(0, 6, len(frame)) for k in range(5)})
    with pytest.raises(MethodError, match="names 5 clusterings of which none lies within another; at most 4"):
        many.evalci.cluster_ci([f"x{k}" for k in range(5)])
    assert len(quiet(many.evalci.design_effect, [f"x{k}" for k in range(5)])) == 5


def test_a_tuple_names_several_unless_it_is_a_column(frame):
    listed = quiet(frame.evalci.cluster_ci, BOTH, by="model")
    pd.testing.assert_frame_equal(quiet(frame.evalci.cluster_ci, tuple(BOTH), by="model"), listed)
    named = frame.rename(columns={"doc": ("doc", "prompt")})
    assert quiet(named.evalci.cluster_ci, ("doc", "prompt"), by="model")["n_clusters"].tolist() == [8, 8]


def test_a_series_takes_levels_and_arrays():
    frame = rows_of(made())
    series = frame.set_index(["model", *BOTH])["score"]
    answer = quiet(series.evalci.cluster_ci, BOTH, by="model")
    pd.testing.assert_frame_equal(answer, quiet(frame.evalci.cluster_ci, BOTH, by="model"))
    arrays = quiet(frame.evalci.cluster_ci, [frame["doc"].to_numpy(), frame["prompt"]], by="model")
    assert set(arrays["cluster"]) == {"cluster + prompt"}
    np.testing.assert_allclose(arrays["ci_low"], answer["ci_low"])
    both = [frame["doc"].to_numpy(), frame["prompt"].to_numpy()]
    for specs, name in (
        (both, "cluster 1 + cluster 2"), ([frame["doc"].rename("x"), frame["prompt"].rename("x")], "x 1 + x 2"),
    ):  # fmt: skip
        unnamed = quiet(frame.evalci.cluster_ci, specs, by="model")
        assert set(unnamed["cluster"]) == {name}
        np.testing.assert_allclose(unnamed["ci_low"], answer["ci_low"])
    labels = quiet(frame.rename(columns={"doc": 1, "prompt": "1"}).evalci.cluster_ci, [1, "1"], by="model")
    np.testing.assert_allclose(labels["ci_low"], answer["ci_low"])


def test_a_frame_without_rows():
    empty = rows_of(made()).iloc[:0]
    for by in (None, "model"):
        answer = empty.evalci.cluster_ci(BOTH, by=by)  # and no word of nesting
        assert len(answer) == (by is None)
        assert set(answer["cluster"]) <= {"doc + prompt"}


def test_an_empty_group_is_a_row_of_nan():
    frame = rows_of(made()).astype({"score": float})
    frame.loc[frame["model"] == "b", "score"] = np.nan
    answer = quiet(frame.evalci.cluster_ci, BOTH, by="model", nan_policy="omit")
    assert answer["n"].tolist() == [48, 0]
    assert np.isnan(answer["ci_low"][1])
    assert not np.isnan(answer["ci_low"][0])


def test_ids_that_look_alike_are_told_of_once():
    frame = rows_of(made(models=("a",)))
    frame["topic"] = frame["topic"].map({0: "x", 1: "x ", 2: "y", 3: "z"})
    cube = frame.set_index(BOTH)[["score", "topic"]].to_xarray().set_coords("topic")
    for obj, options in ((frame, {}), (cube, {"dim": BOTH})):
        for ask, first in (("cluster_ci", "prompt"), ("cluster_ci", "doc"), ("design_effect", "doc")):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                getattr(obj.evalci, ask)([first, "topic"], **options)
            assert sum(one.category is ClusterIdWarning for one in caught) == 1
