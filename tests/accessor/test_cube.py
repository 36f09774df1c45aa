"""The Dataset and DataArray accessors, held against the frame's answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from strategies import METHODS, quiet

from conftest import requires
from evalci_accessor.exceptions import (
    AlignmentError,
    AmbiguousNameError,
    ClusterError,
    ColumnNotFoundError,
    DimensionError,
    EvalCIError,
    MethodError,
    MissingClusterError,
    MissingScoreError,
    MissingScoreWarning,
    ScanWarning,
    ScoreRangeError,
    ScoreTypeError,
    WeightError,
)
from evalci_accessor.read import cells as reduce

SEEDED = {"n_resamples": 100, "rng": 1}
IDS = ["doc_id", "conversation_id", "template_id"]


@pytest.fixture
def grid():
    """Scores over model, prompt, item and sample; ids along item, along (prompt, item) and along (model, item)."""
    rng = np.random.default_rng(5)
    shape = {"model": 2, "prompt": 2, "item": 24, "sample": 3}
    ease = rng.beta(2, 1, size=(2, 1, 24, 1))
    return xr.Dataset(
        {"score": (tuple(shape), (rng.random(tuple(shape.values())) < ease).astype(np.int64))},
        coords={
            "model": ["a", "b"], "prompt": [10, 20], "item": np.arange(24), "sample": [0, 1, 2],
            "doc": ("item", np.repeat(np.arange(8), 3)),
            "chat": (("prompt", "item"), np.arange(48).reshape(2, 24) // 4),
            "judge": (("model", "item"), np.arange(48).reshape(2, 24) % 6),
            "thread": (("item", "sample"), np.arange(72).reshape(24, 3) // 6),
            "size": ("model", [7.0, 70.0]),
        },
    )  # fmt: skip


def to_frame(answer):
    """A frame with the kept dims as columns; a result without dims is one row."""
    if not answer.dims:
        return answer.expand_dims("row").to_dataframe().reset_index(drop=True)
    return answer.to_dataframe().reset_index()


def assert_same(answer, expected):
    """The Dataset's frame has the frame's columns and values, whatever the order of the rows."""
    found = to_frame(answer)
    assert set(expected) <= set(found)
    found = found[list(expected)]
    keys = [c for c in expected if c not in answer.data_vars]
    both = [f.sort_values(keys).reset_index(drop=True) if keys else f for f in (found, expected)]
    pd.testing.assert_frame_equal(*both, check_dtype=False, rtol=1e-12)


def rows_of(cube):
    return cube.to_dataframe().reset_index()


@pytest.mark.parametrize("pick", [lambda c: c, lambda c: c["score"]], ids=["Dataset", "DataArray"])
class TestSameAsFrame:
    @pytest.mark.parametrize("method", ["wilson", "wald", "jeffreys"])
    def test_proportion_ci(self, cube, pick, method):
        answer = pick(cube).evalci.proportion_ci(dim="item", method=method)
        assert_same(answer, rows_of(cube).evalci.proportion_ci(by="model", method=method))

    @pytest.mark.parametrize("method", METHODS)
    def test_cluster_ci(self, cube, pick, method):
        answer = quiet(pick(cube).evalci.cluster_ci, "doc_id", method=method, **SEEDED)
        assert_same(
            answer, quiet(rows_of(cube).evalci.cluster_ci, "doc_id", by="model", method=method, **SEEDED)
        )

    @pytest.mark.parametrize("method", METHODS)
    def test_two_kept_dims(self, grid, pick, method):
        answer = quiet(pick(grid).evalci.cluster_ci, "doc", dim=["item", "sample"], method=method, **SEEDED)
        assert answer["estimate"].dims == ("model", "prompt")
        frame = rows_of(grid)
        assert_same(
            answer, quiet(frame.evalci.cluster_ci, "doc", by=["model", "prompt"], method=method, **SEEDED)
        )

    @pytest.mark.parametrize("cluster", [*IDS, IDS])
    def test_design_effect(self, cube, pick, cluster):
        answer = pick(cube).evalci.design_effect(cluster)
        assert answer["icc"].dims == ("model", "cluster")
        assert_same(answer, rows_of(cube).evalci.design_effect(cluster, by="model"))

    def test_scan(self, cube, pick):
        answer = pick(cube).evalci.design_effect()
        listed = rows_of(cube).evalci.design_effect(IDS, by="model")
        assert_same(answer, listed[~listed["cluster"].str.contains("+", regex=False)])
        worst = answer["design_effect"].max("model").to_numpy()
        assert (np.diff(worst) <= 0).all()
        assert answer["cluster"].to_numpy()[0] == "doc_id"

    def test_one_group(self, cube, pick):
        answer = pick(cube).evalci.cluster_ci("doc_id", dim=...)
        assert not answer.dims
        assert_same(answer, rows_of(cube).evalci.cluster_ci("doc_id"))

    @pytest.mark.parametrize("dim", [None, ["item", "sample"], ...])
    def test_clusters_along_two_dims(self, grid, pick, dim):
        by = None if dim is ... else ["model", "prompt"]
        answer = quiet(pick(grid).evalci.cluster_ci, "thread", dim=dim)
        assert_same(answer, quiet(rows_of(grid).evalci.cluster_ci, "thread", by=by))

    @pytest.mark.parametrize(
        ("cluster", "dim", "by"),
        [
            ("chat", ["item", "sample"], ["model", "prompt"]),
            ("chat", "item", ["model", "prompt", "sample"]),
            ("judge", ["item", "prompt"], ["model", "sample"]),
            ("judge", "item", ["model", "prompt", "sample"]),
        ],
    )
    def test_clusters_that_differ_between_kept_cells(self, grid, pick, cluster, dim, by):
        answer = quiet(pick(grid).evalci.cluster_ci, cluster, dim=dim)
        assert_same(answer, quiet(rows_of(grid).evalci.cluster_ci, cluster, by=by))

    def test_weights(self, cube, pick):
        weights = xr.DataArray(np.random.default_rng(1).uniform(0.5, 2, 200), dims="item", name="w")
        answer = pick(cube).evalci.cluster_ci("doc_id", weights=weights)
        assert_same(
            answer, rows_of(cube.assign(w=weights)).evalci.cluster_ci("doc_id", by="model", weights="w")
        )

    def test_missing_scores(self, cube, pick):
        cube = cube.assign(score=cube["score"].astype(float))
        cube["score"] = cube["score"].where((cube["item"] > 2) | (cube["model"] != "boreal"))
        ask = pick(cube).evalci.cluster_ci
        with pytest.raises(MissingScoreError, match=r"3 of 600 scores.*model='boreal', item=0"):
            ask("doc_id")
        with pytest.warns(MissingScoreWarning, match=r"3 of 200 in model='boreal'"):
            answer = ask("doc_id", nan_policy="omit")
        assert answer["n"].values.tolist() == [200, 197, 200]
        assert_same(answer, quiet(rows_of(cube).evalci.cluster_ci, "doc_id", by="model", nan_policy="omit"))


def test_variables_have_the_frames_order(cube, rag):
    frame = rag.evalci.cluster_ci("doc_id", by="model")
    assert list(cube.evalci.cluster_ci("doc_id").data_vars) == list(frame)[1:]
    frame = rag.evalci.design_effect("doc_id")
    assert list(cube.evalci.design_effect("doc_id").data_vars) == list(frame)[1:]
    assert list(cube.evalci.design_effect(IDS).data_vars) == list(frame)[1:]


@pytest.mark.parametrize("dim", [None, "item", ["item"], ("item",)])
def test_ways_to_name_the_dim(cube, dim):
    xr.testing.assert_identical(
        cube.evalci.cluster_ci("doc_id", dim=dim), cube.evalci.cluster_ci("doc_id", dim="item")
    )


def test_the_other_dims_are_kept(grid):
    answer = quiet(grid.evalci.cluster_ci, "doc")
    assert answer["estimate"].dims == ("model", "prompt", "sample")
    assert dict(answer.sizes) == {"model": 2, "prompt": 2, "sample": 3}


def test_coordinates_along_kept_dims_are_kept(grid):
    answer = quiet(grid.evalci.cluster_ci, "doc", dim=["prompt", "item", "sample"])
    assert set(answer.coords) == {"model", "size"}
    xr.testing.assert_identical(answer["size"], grid["size"])
    alone = quiet(grid.sel(model="a").evalci.cluster_ci, "doc")
    assert alone["model"].item() == "a"


def test_dims_without_coordinates(grid):
    bare = grid.drop_vars(["model", "prompt", "item", "sample"])
    answer, expected = (quiet(d.evalci.cluster_ci, "doc", dim=["item", "sample"]) for d in (bare, grid))
    np.testing.assert_array_equal(answer["ci_low"], expected["ci_low"])


@pytest.mark.parametrize("name", ["estimate", "n"])
def test_a_name_that_would_stand_twice(grid, name):
    with pytest.raises(AmbiguousNameError, match=rf"'{name}' would stand twice.*\.rename"):
        quiet(grid.rename(prompt=name).evalci.cluster_ci, "doc")
    with pytest.raises(AmbiguousNameError, match=rf"'{name}' would stand twice"):
        quiet(grid.rename(size=name).evalci.cluster_ci, "doc")


def test_a_cell_without_runs_is_a_row_of_nan(grid):
    cube = grid.assign(
        score=grid["score"].astype(float).where((grid["model"] != "b") | (grid["prompt"] != 20))
    )
    with pytest.warns(
        MissingScoreWarning, match=r"72 of 72 in model='b', prompt=20.*1 group\(s\) are left without"
    ):
        answer = cube.evalci.cluster_ci("doc", dim=["item", "sample"], nan_policy="omit")
    empty = answer.sel(model="b", prompt=20)
    assert (empty["n"], empty["n_clusters"]) == (0, 0)
    assert np.isnan([empty[name] for name in ("estimate", "std_error", "ci_low", "ci_high")]).all()
    assert answer["n"].sum() == 3 * 72
    assert answer["ci_low"].isnull().sum() == 1


@pytest.mark.parametrize("cut", [{"model": slice(0)}, {"item": slice(0)}], ids=str)
def test_empty_cubes(cube, cut):
    empty = cube.isel(cut)
    for answer in (empty.evalci.proportion_ci(dim="item"), empty.evalci.cluster_ci("doc_id")):
        assert answer["estimate"].sizes == {"model": empty.sizes["model"]}
        assert answer["estimate"].isnull().all()
        assert (answer["n"] == 0).all()


@pytest.mark.parametrize("dtype", [bool, "int8", "uint8", "int64", "float16", "float32", "float64", object])
@pytest.mark.parametrize("chunks", [None, {"model": 1, "item": 70}], ids=["numpy", "dask"])
def test_dtype_and_chunks_of_the_scores(cube, dtype, chunks):
    expected = cube.evalci.cluster_ci("doc_id")
    cube["score"] = cube["score"].astype(dtype)
    if chunks:
        requires("dask.array")
        cube = cube.chunk(chunks)
    xr.testing.assert_identical(cube.evalci.cluster_ci("doc_id"), expected)
    if chunks:
        assert cube["score"].chunks, "the caller's array stays lazy"


def test_many_half_precision_scores_do_not_overflow():
    answer = xr.DataArray(np.ones(70_000, dtype=np.float16), dims="item").evalci.proportion_ci()
    assert answer["estimate"] == 1


def test_object_scores_with_none(cube):
    cube["score"] = cube["score"].astype(object)
    cube["score"][0, 0] = None
    with pytest.raises(MissingScoreError, match="1 of 600"):
        cube.evalci.cluster_ci("doc_id")


def test_lazy_ids_from_a_store(cube, tmp_path):
    requires("zarr")
    requires("dask.array")
    expected = cube.evalci.cluster_ci("doc_id")
    ids = cube["doc_id"].astype("U8").chunk(item=50)
    stored = cube[["score"]].drop_vars(IDS).chunk(item=50).assign_coords(doc_id=ids)
    stored.to_zarr(tmp_path / "cube.zarr", zarr_format=2, consolidated=False)
    for chunks in (None, {}):
        opened = xr.open_zarr(tmp_path / "cube.zarr", chunks=chunks, consolidated=False)
        assert not isinstance(opened["doc_id"].variable._data, np.ndarray), "the store is read lazily"
        xr.testing.assert_equal(opened.evalci.cluster_ci("doc_id"), expected)
        assert not isinstance(opened["doc_id"].variable._data, np.ndarray), "and the caller's stays lazy"
    chunked = cube.chunk(item=50).assign_coords(doc_id=cube["doc_id"].chunk(item=50))
    xr.testing.assert_identical(chunked.evalci.cluster_ci("doc_id"), expected)
    assert chunked["doc_id"].chunks, "the caller's coordinate stays lazy"


def test_other_variables_of_dask_are_never_computed(cube):
    """What the page about dask says of the methods that name their cluster."""
    delayed, array = requires("dask").delayed, requires("dask.array")

    def never():
        raise AssertionError("computed")

    column = ("item", array.from_delayed(delayed(never)(), shape=(200,), dtype=float))
    lazy = cube.chunk(model=1, item=100).assign(other=column).assign_coords(stranger=column)
    lazy.evalci.cluster_ci("doc_id")
    lazy.evalci.proportion_ci(dim="item")
    lazy.evalci.compare("model", cluster="doc_id", rng=1)
    lazy.evalci.mcnemar("model", cluster="doc_id")
    with pytest.raises(AssertionError, match="computed"):
        lazy.evalci.design_effect()


def test_level_of_a_multiindex_as_cluster(cube):
    index = pd.MultiIndex.from_arrays([cube["doc_id"].to_numpy(), np.arange(200)], names=["doc", "question"])
    nested = (
        cube[["score"]]
        .drop_vars(["item", *IDS])
        .assign_coords(xr.Coordinates.from_pandas_multiindex(index, "item"))
    )
    expected = cube.evalci.cluster_ci("doc_id")
    for obj in (nested, nested["score"]):
        np.testing.assert_array_equal(obj.evalci.cluster_ci("doc")["ci_low"], expected["ci_low"])
        assert obj.evalci.cluster_ci("doc", dim="item")["cluster"] == "doc"


@pytest.mark.parametrize("dtype", ["category", "string", "Int64", "datetime64[ns]"])
def test_dtype_of_the_ids(cube, dtype):
    codes = pd.Series(cube["doc_id"].to_numpy()).str[4:].astype(int)
    values = {
        "category": codes.astype("category"),
        "string": codes.astype("string"),
        "Int64": codes.astype("Int64"),
    }.get(dtype, pd.to_datetime(codes, unit="D"))
    with_ids = cube.assign_coords(ids=("item", values.array))
    expected = cube.evalci.cluster_ci("doc_id")
    np.testing.assert_array_equal(with_ids.evalci.cluster_ci("ids")["ci_low"], expected["ci_low"])


def test_cluster_may_be_an_array(cube):
    expected = cube.evalci.cluster_ci("doc_id")
    for array in (cube["doc_id"], cube["doc_id"].reset_coords(drop=True), cube["doc_id"].drop_vars("item")):
        xr.testing.assert_identical(cube.evalci.cluster_ci(array), expected)
    assert cube.evalci.cluster_ci(cube["doc_id"].rename(None))["cluster"] == "cluster"


@pytest.mark.parametrize("role", ["cluster", "weights"])
def test_arrays_with_other_labels(cube, role):
    given = {"cluster": "doc_id"}
    array = (
        cube["doc_id"]
        if role == "cluster"
        else xr.ones_like(cube["score"].isel(model=0, drop=True), dtype=float)
    )
    cases = {
        "different labels": array.assign_coords(item=np.arange(200) + 1),
        "another order": array.isel(item=slice(None, None, -1)),
        "100 entries": array.isel(item=slice(100)),
    }
    for message, wrong in cases.items():
        with pytest.raises(AlignmentError, match=message):
            cube.evalci.cluster_ci(**{**given, role: wrong})
    with pytest.raises(DimensionError, match="'question'"):
        cube.evalci.cluster_ci(**{**given, role: array.rename(item="question")})


@pytest.mark.parametrize("block", [1, 150, 201, 401])
@pytest.mark.parametrize("weights", [None, "latency_s"])
def test_blocks_change_nothing(cube, monkeypatch, block, weights):
    cube["score"] = cube["score"].astype(float)
    cube["score"][1, 5] = np.nan
    ask = {"nan_policy": "omit", "weights": weights}
    expected = quiet(cube.evalci.cluster_ci, "doc_id", **ask)
    monkeypatch.setattr(reduce, "_BLOCK", block)
    xr.testing.assert_identical(quiet(cube.evalci.cluster_ci, "doc_id", **ask), expected)


def test_blocks_change_nothing_where_clusters_differ_between_cells(grid, monkeypatch):
    expected = quiet(grid.evalci.cluster_ci, "judge", dim="item")
    monkeypatch.setattr(reduce, "_BLOCK", 50)
    xr.testing.assert_identical(quiet(grid.evalci.cluster_ci, "judge", dim="item"), expected)


def test_order_of_the_dims_changes_nothing(grid):
    expected = quiet(grid.evalci.cluster_ci, "thread")
    turned = quiet(grid.transpose("sample", "prompt", "item", "model").evalci.cluster_ci, "thread")
    xr.testing.assert_allclose(turned.transpose("model", "prompt"), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [xr.Dataset, xr.DataArray])
def test_the_callers_cube_is_not_changed(grid, kind):
    obj = grid if kind is xr.Dataset else grid["score"]
    before = obj.copy(deep=True)
    quiet(obj.evalci.proportion_ci, dim="item")
    quiet(obj.evalci.cluster_ci, "chat")
    quiet(obj.evalci.design_effect, ["doc", "thread"])
    quiet(obj.evalci.design_effect, dim=["item", "sample"])
    xr.testing.assert_identical(obj, before)
    assert list(obj.coords) == list(before.coords)


def test_scan_along_two_dims_looks_at_the_dims_too(grid):
    answer = quiet(grid.evalci.design_effect, dim=["item", "sample"])
    assert {"doc", "thread", "item"} <= set(answer["cluster"].to_numpy())
    assert not {"model", "prompt", "score"} & set(answer["cluster"].to_numpy())


def test_scan_without_candidates(cube):
    bare = cube[["score"]].drop_vars(IDS)
    with pytest.warns(ScanWarning, match="no clustering can be told"):
        answer = bare.evalci.design_effect(dim="item")
    assert answer.sizes == {"cluster": 0, "model": 3}
    assert {"icc", "design_effect", "n_eff"} <= set(answer.data_vars)


class TestErrors:
    def test_which_dim_is_not_told(self, grid):
        for obj in (grid, grid["score"]):
            with pytest.raises(DimensionError, match=r"4 dims.*dim=\('item', 'sample'\).*`by`"):
                obj.evalci.proportion_ci()

    @pytest.mark.parametrize("dim", ["items", ["item", "trial"]])
    def test_unknown_dim(self, cube, dim):
        with pytest.raises(DimensionError, match="not a dim of the scores; they have 'model', 'item'"):
            cube.evalci.cluster_ci("doc_id", dim=dim)

    def test_nothing_to_reduce(self, cube):
        with pytest.raises(DimensionError, match="No dim is left to reduce"):
            cube.evalci.proportion_ci(dim=[])
        with pytest.raises(DimensionError, match="single number"):
            cube["score"][0, 0].evalci.proportion_ci()

    def test_absent_names(self, cube):
        with pytest.raises(
            ColumnNotFoundError, match=r"cluster='doc'.*Did you mean 'doc_id'\?.*Available:.*'template_id'"
        ):
            cube.evalci.cluster_ci("doc")
        with pytest.raises(ColumnNotFoundError, match=r"score='scores'.*Did you mean 'score'\?"):
            cube.evalci.proportion_ci(score="scores", dim="item")

    @pytest.mark.parametrize("given", [np.zeros(200), ["a"] * 200])
    def test_arrays_without_dims(self, cube, given):
        with pytest.raises(MethodError, match=r"DataArray with dims.*xarray\.DataArray\(values"):
            cube.evalci.cluster_ci(given)

    def test_cluster_along_a_dim_that_the_scores_lack(self, grid):
        with pytest.raises(DimensionError, match="'sample'"):
            grid.assign(mean=grid["score"].mean("sample")).evalci.cluster_ci("thread", score="mean")

    def test_one_cluster(self, cube):
        one = cube.assign_coords(doc_id=("item", ["d"] * 200))
        with pytest.raises(ClusterError, match=r"3 of 3 groups \(model='atlas'.*single cluster of 'doc_id'"):
            one.evalci.cluster_ci("doc_id")

    @pytest.mark.parametrize("missing", [None, np.nan])
    def test_missing_ids(self, cube, missing):
        ids = cube["doc_id"].to_numpy().astype(object)
        ids[[3, 7]] = missing
        with pytest.raises(MissingClusterError, match=r"2 of 200 entries of 'doc_id'.*item=3, item=7"):
            cube.assign_coords(doc_id=("item", ids)).evalci.cluster_ci("doc_id")

    def test_text_scores(self, cube):
        with pytest.raises(ScoreTypeError, match=r"'True' \(414\).*'True': 1"):
            cube.assign(score=cube["score"].astype(bool).astype(str)).evalci.cluster_ci("doc_id")

    @pytest.mark.parametrize("dtype", ["complex128", "datetime64[ns]"])
    def test_other_scores(self, cube, dtype):
        with pytest.raises(ScoreTypeError, match=dtype.replace("[", r"\[")):
            cube.assign(score=cube["score"].astype(dtype)).evalci.cluster_ci("doc_id")

    def test_scores_out_of_range(self, cube):
        with pytest.raises(ScoreRangeError, match=r"from 0 to 2"):
            (cube * 2).assign_coords(cube.coords).evalci.cluster_ci("doc_id", method="wilson")

    @pytest.mark.parametrize("dims", ["model", ("model", "item")])
    def test_weights_of_a_group_are_all_zero(self, cube, dims):
        weights = xr.DataArray([1.0, 0.0, 2.0], dims="model")
        weights = weights if dims == "model" else weights.broadcast_like(cube["score"])
        with pytest.raises(WeightError, match="model='boreal'"):
            cube.evalci.cluster_ci("doc_id", weights=weights)

    def test_clusters_along_other_dims_than_the_reduced(self, cube):
        with pytest.raises(
            ClusterError, match=r"200 of 200 groups \(item=0; item=1;.*single cluster of 'doc_id'"
        ):
            cube.evalci.cluster_ci("doc_id", dim="model")
        with pytest.raises(DimensionError, match="No dim is left"):
            cube.assign_coords(run=1).evalci.cluster_ci("run")

    def test_missing_ids_where_the_scores_are_missing_too(self, cube):
        ids = cube["doc_id"].to_numpy().astype(object)
        ids[3] = None
        scores = cube["score"].astype(float).where(cube["item"] != 3)
        broken = cube.assign(score=scores).assign_coords(doc_id=("item", ids))
        with pytest.warns(MissingScoreWarning, match="1 of 200 in model='atlas'"):
            answer = broken.evalci.cluster_ci("doc_id", nan_policy="omit")
        assert_same(answer, quiet(rows_of(broken).evalci.cluster_ci, "doc_id", by="model", nan_policy="omit"))
        broken["score"] = scores.where(cube["model"] != "boreal", 1.0)
        with pytest.raises(MissingClusterError, match="item=3"):
            broken.evalci.cluster_ci("doc_id", nan_policy="omit")

    def test_weights(self, cube):
        with pytest.raises(WeightError, match="negative"):
            cube.assign(w=-cube["latency_s"]).evalci.cluster_ci("doc_id", weights="w")

    def test_all_are_of_the_package(self, cube):
        with pytest.raises(EvalCIError):
            cube.evalci.cluster_ci("doc_id", confidence_level=95)
