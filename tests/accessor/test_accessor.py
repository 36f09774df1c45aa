"""The way in: the accessors, the typed function, registration, copies and the example data."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from strategies import BENIGN, frame_of, quiet

import evalci_accessor
from evalci_accessor import datasets, evalci, stats
from evalci_accessor._register import register
from evalci_accessor.exceptions import DimensionError, MethodError


@pytest.mark.parametrize(
    ("pick", "kwargs"), [(lambda f, c: f, {"by": "model"}), (lambda f, c: f.set_index("doc_id")["score"], {})]
)
def test_evalci_of_pandas(rag, cube, pick, kwargs):
    obj = pick(rag, cube)
    assert type(evalci(obj)) is type(obj.evalci)
    expected = obj.evalci.cluster_ci("doc_id", **kwargs)
    pd.testing.assert_frame_equal(evalci(obj).cluster_ci("doc_id", **kwargs), expected)


@pytest.mark.parametrize("pick", [lambda c: c, lambda c: c["score"]], ids=["Dataset", "DataArray"])
def test_evalci_of_xarray(cube, pick):
    obj = pick(cube)
    assert type(evalci(obj)) is type(obj.evalci)
    xr.testing.assert_identical(evalci(obj).cluster_ci("doc_id"), obj.evalci.cluster_ci("doc_id"))


@pytest.mark.parametrize("obj", [[0, 1], np.zeros(3), None, {"score": [1]}])
def test_evalci_of_anything_else(obj):
    with pytest.raises(TypeError, match=rf"DataFrame or Series.*got {type(obj).__name__}"):
        evalci(obj)


def test_registering_again_and_reloading_is_silent():
    code = (
        "import importlib, sys, pandas as pd, evalci_accessor; importlib.reload(evalci_accessor);"
        "[sys.modules.pop(m) for m in list(sys.modules) if m.startswith('evalci_accessor')];"
        "import evalci_accessor as again; print(type(pd.DataFrame().evalci).__module__, pd.DataFrame().evalci is not None)"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["evalci_accessor.accessor", "True"]
    register()
    importlib.reload(evalci_accessor)


def test_a_foreign_accessor_still_warns():
    code = (
        "import pandas as pd, warnings\n"
        "@pd.api.extensions.register_dataframe_accessor('evalci')\n"
        "class Foreign:\n"
        "    def __init__(self, obj): pass\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    import evalci_accessor\n"
        "print(sum('evalci' in str(w.message) and w.category is UserWarning for w in seen))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "1", ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "obj", [pd.DataFrame({"a": ["x"]}), pd.Series(["x"]), xr.Dataset(), xr.DataArray(["x"])], ids=type
)
def test_objects_without_scores_keep_working(obj):
    assert "evalci" in dir(obj)
    assert {"proportion_ci", "cluster_ci", "design_effect"} <= set(dir(obj.evalci))
    repr(obj)


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))],
    ids=["copy", "deep", "pickle"],
)
def test_copies_of_a_frame_whose_accessor_was_used(again):
    frame = frame_of(BENIGN)
    before = frame.evalci.cluster_ci("cluster")
    pd.testing.assert_frame_equal(again(frame).evalci.cluster_ci("cluster"), before)


def test_subclass_of_a_frame():
    class Runs(pd.DataFrame):
        @property
        def _constructor(self):
            return Runs

    frame = frame_of(BENIGN)
    pd.testing.assert_frame_equal(
        Runs(frame).evalci.cluster_ci("cluster"), frame.evalci.cluster_ci("cluster")
    )


def test_a_frame_changed_in_place_is_seen_anew():
    frame = frame_of(BENIGN)
    accessor, first = frame.evalci, frame.evalci.proportion_ci().estimate.item()
    frame.loc[frame.index[:50], "score"] = 0
    assert (
        accessor.proportion_ci().estimate.item()
        == frame.evalci.proportion_ci().estimate.item()
        == frame.score.mean()
        < first
    )


def test_a_cube_changed_in_place_is_seen_anew(cube):
    first = cube.evalci.proportion_ci(dim="item").estimate
    cube["score"][0, :] = 0
    assert quiet(cube.evalci.proportion_ci, dim="item").estimate[0] == 0 < first[0]


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))], ids=["deep", "pickle"]
)
def test_copies_of_a_cube_whose_accessor_was_used(cube, again):
    before = cube.evalci.cluster_ci("doc_id")
    other = again(cube)
    xr.testing.assert_identical(other.evalci.cluster_ci("doc_id"), before)
    other["score"][:] = 1 - other["score"]
    np.testing.assert_allclose(other.evalci.cluster_ci("doc_id").estimate, 1 - before.estimate)


@pytest.mark.parametrize("method", ["proportion_ci", "cluster_ci", "design_effect"])
def test_a_misspelt_keyword_is_refused(rag, cube, method):
    for obj in (rag, rag["score"], cube, cube["score"]):
        with pytest.raises(TypeError, match="confidense_level"):
            getattr(obj.evalci, method)(confidense_level=0.9)


@pytest.mark.parametrize(
    ("method", "data"), [("proportion_ci", ["score"]), ("design_effect", ["doc_id", "score"])]
)
def test_options_are_keyword_only(rag, method, data):
    getattr(rag[rag.model == "atlas"].evalci, method)(*data)
    with pytest.raises(TypeError, match="positional"):
        getattr(rag.evalci, method)(*data, "model")


WORDS = [("alpha", 0.1, "confidence_level="), ("level", 0.9, "confidence_level="), ("groupby", "model", "by="),
         ("group", "model", "by="), ("clusters", "doc_id", "cluster="), ("metric", "score", "score=")]  # fmt: skip


@pytest.mark.parametrize(("word", "value", "ours"), WORDS)
@pytest.mark.parametrize(
    "pick", [lambda f, c: f, lambda f, c: f["score"], lambda f, c: c, lambda f, c: c["score"]]
)
def test_words_of_other_tools_are_answered_with_ours(rag, cube, pick, word, value, ours):
    accessor = pick(rag, cube).evalci
    for method in ("cluster_ci", "compare", "report"):
        with pytest.raises(TypeError, match=f"has no {word}=. Here it is called {ours}"):
            getattr(accessor, method)("doc_id", **{word: value})
        assert word not in inspect.signature(getattr(accessor, method)).parameters
    assert [*inspect.signature(accessor.cluster_ci).parameters][:3] == ["cluster", "score", "by"]


def test_a_series_and_an_array_are_their_own_score(rag, cube):
    for obj in (rag["score"], cube["score"]):
        with pytest.raises(MethodError, match="its own score; leave score= out"):
            obj.evalci.proportion_ci("latency_s")
    levels = rag.rename(columns={"doc_id": "score", "score": "passed"}).set_index(["model", "score"])[
        "passed"
    ]
    want = rag.evalci.cluster_ci("doc_id", by="model")
    got = levels.evalci.cluster_ci("score", by="model")
    pd.testing.assert_frame_equal(got.drop(columns="cluster"), want.drop(columns="cluster"))


def test_dims_are_for_cubes_and_by_is_for_both(rag, cube):
    with pytest.raises(MethodError, match=r"dim='item' is for cubes.*with by="):
        rag.evalci.proportion_ci(dim="item")
    with pytest.raises(DimensionError, match="Both by= and dim="):
        cube.evalci.proportion_ci(by="model", dim="item")
    xr.testing.assert_identical(cube.evalci.proportion_ci(by="model"), cube.evalci.proportion_ci(dim="item"))
    xr.testing.assert_identical(
        cube.evalci.cluster_ci("doc_id", by="model"), cube.evalci.cluster_ci("doc_id")
    )
    whole = cube.evalci.cluster_ci("doc_id", by=[])
    assert whole["estimate"].dims == () == cube.evalci.cluster_ci("doc_id", dim=...)["estimate"].dims
    assert whole["ci_low"].item() == rag.evalci.cluster_ci("doc_id")["ci_low"].item()


def test_rag_eval_is_the_textbook_case(rag):
    assert rag.shape == (600, 7)
    assert list(rag) == ["model", "item", "doc_id", "conversation_id", "template_id", "score", "latency_s"]
    assert rag.groupby("model", sort=False)["doc_id"].nunique().to_dict() == dict.fromkeys(
        ["atlas", "boreal", "cascade"], 40
    )
    effect = rag[rag.model == "atlas"].evalci.design_effect("doc_id").iloc[0]
    assert effect.icc == pytest.approx(0.3, abs=0.002)
    assert effect.design_effect == pytest.approx(2.2, abs=0.005)
    assert effect.n_eff == pytest.approx(91, abs=0.2)
    assert effect.width_ratio == pytest.approx(1.48, abs=0.005)


def test_rag_eval_is_the_same_each_time_and_as_a_cube(rag, cube):
    pd.testing.assert_frame_equal(rag, datasets.load_rag_eval())
    names = ["score", "latency_s", "doc_id", "conversation_id", "template_id"]
    from_cube = cube.to_dataframe()[names].reset_index()
    pd.testing.assert_frame_equal(from_cube[list(rag)], rag, check_dtype=False)


def test_the_callers_generator_moves_only_where_randomness_is_used(rag):
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    rag.evalci.cluster_ci("doc_id", by="model", rng=rng)
    rag.evalci.design_effect("doc_id", by="model")
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    "make",
    [
        lambda: 5,
        lambda: np.random.SeedSequence(5),
        lambda: np.random.PCG64(5),
        lambda: np.random.default_rng(5),
    ],
)
def test_the_same_seed_gives_the_same_numbers(make):
    frame = frame_of(BENIGN)
    ask = frame.evalci.cluster_ci
    first, second = (
        ask("cluster", method="bootstrap_percentile", n_resamples=100, rng=make()) for _ in range(2)
    )
    pd.testing.assert_frame_equal(first, second)


def test_a_seed_sequence_is_not_spent():
    seed, frame = np.random.SeedSequence(5), frame_of(BENIGN)
    ask = frame.evalci.cluster_ci
    first, second = (
        ask("cluster", method="bootstrap_percentile", n_resamples=100, rng=seed) for _ in range(2)
    )
    pd.testing.assert_frame_equal(first, second)
    assert seed.n_children_spawned == 0


def test_bootstraps_leave_the_global_generator_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame_of(BENIGN).evalci.cluster_ci("cluster", method="bootstrap_t", n_resamples=100)


def test_statistics_and_accessor_agree(rag):
    one = rag[rag.model == "atlas"]
    totals = one.groupby("doc_id")["score"].agg(["sum", "size"])
    kernel = stats.cluster_ci(totals["sum"].to_numpy(), totals["size"].to_numpy())
    answer = one.evalci.cluster_ci("doc_id").iloc[0]
    assert (answer.ci_low, answer.ci_high) == (
        pytest.approx(kernel.ci_low, rel=1e-12),
        pytest.approx(kernel.ci_high, rel=1e-12),
    )
