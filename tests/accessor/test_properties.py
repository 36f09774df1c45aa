"""What holds whatever the data: the answers do not depend on how scores and ids are written down."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import METHODS, methods, quiet, score_cubes, score_frames

from conftest import requires

LIMITS = ["estimate", "ci_low", "ci_high"]
ANALYTIC = [method for method in METHODS if "bootstrap" not in method]
alternatives = st.sampled_from(["two-sided", "less", "greater"])
FEWER = settings(max_examples=15)
NUMBERS = [*LIMITS, "std_error", "df", "n", "n_clusters", "icc", "design_effect", "n_eff"]


def ask(obj, method="auto", **kwargs):
    """Interval by model, seeded, with few resamples."""
    kwargs = {"by": "model", "n_resamples": 100, "rng": 1} | kwargs
    return quiet(obj.evalci.cluster_ci, "doc", method=method, **kwargs)


def assert_close(answer, expected, columns=NUMBERS, rtol=1e-8):
    np.testing.assert_allclose(
        answer[columns].to_numpy(dtype=float), expected[columns].to_numpy(dtype=float), rtol=rtol, atol=1e-10
    )


def by_model(answer):
    return answer.sort_values("model", ignore_index=True)


@given(score_frames(fractional=True), methods, st.randoms(use_true_random=False))
def test_order_of_the_rows(frame, method, random):
    order = list(range(len(frame)))
    random.shuffle(order)
    answer = ask(frame.iloc[order], method)
    assert answer["model"].tolist() == frame.iloc[order]["model"].unique().tolist()
    assert_close(by_model(answer), by_model(ask(frame, method)))


@given(score_frames(), methods, st.randoms(use_true_random=False))
def test_names_of_the_clusters(frame, method, random):
    labels = [f"id {i}" for i in range(20)]
    random.shuffle(labels)
    assert_close(ask(frame.assign(doc=[labels[g] for g in frame["doc"]]), method), ask(frame, method))


SCORE_DTYPES = [
    "bool", "int8", "uint8", "float32", "boolean", "Int64", "Float64", "object", "category",
    "bool[pyarrow]", "int64[pyarrow]", "double[pyarrow]",
]  # fmt: skip


@pytest.mark.parametrize("dtype", SCORE_DTYPES)
@FEWER
@given(frame=score_frames(), method=methods)
def test_dtype_of_the_scores(dtype, frame, method):
    if "pyarrow" in dtype:
        requires("pyarrow")
    scores = frame["score"].astype(bool).astype(dtype) if "bool" in dtype else frame["score"].astype(dtype)
    pd.testing.assert_frame_equal(ask(frame.assign(score=scores), method), ask(frame, method))


ID_DTYPES = [
    "int8",
    "uint64",
    "float64",
    "str",
    "object",
    "string",
    "Int64",
    "Float64",
    "category",
    "int64[pyarrow]",
]


@pytest.mark.parametrize("dtype", ID_DTYPES)
@FEWER
@given(frame=score_frames(), method=methods)
def test_dtype_of_the_ids(dtype, frame, method):
    if "pyarrow" in dtype:
        requires("pyarrow")
    ids = frame["doc"].astype(dtype)
    if dtype == "category":
        ids = ids.cat.add_categories(["unused", "also unused"])
    assert_close(ask(frame.assign(doc=ids), method), ask(frame, method), rtol=1e-12)


@settings(max_examples=25)
@given(score_frames(fractional=True), methods)
def test_series_and_frame(frame, method):
    scores = frame.set_index(["model", "doc"])["score"]
    pd.testing.assert_frame_equal(ask(scores, method), ask(frame, method))
    pd.testing.assert_frame_equal(
        quiet(scores.evalci.design_effect, "doc", by="model"),
        quiet(frame.evalci.design_effect, "doc", by="model"),
    )


@settings(max_examples=25)
@given(score_cubes(), methods)
def test_cube_and_frame(cube, method):
    frame = cube.to_dataframe().reset_index()
    expected = ask(frame, method)
    for obj in (cube, cube["score"]):
        answer = quiet(obj.evalci.cluster_ci, "doc", method=method, n_resamples=100, rng=1)
        pd.testing.assert_frame_equal(
            answer.to_dataframe().reset_index()[list(expected)], expected, check_dtype=False
        )
        naive = obj.evalci.proportion_ci(dim="item").to_dataframe().reset_index()
        pd.testing.assert_frame_equal(naive, frame.evalci.proportion_ci(by="model"), check_dtype=False)
        effect = quiet(obj.evalci.design_effect, "doc").to_dataframe().reset_index()
        expected_effect = quiet(frame.evalci.design_effect, "doc", by="model")
        pd.testing.assert_frame_equal(effect[list(expected_effect)], expected_effect, check_dtype=False)


@settings(max_examples=25)
@given(score_cubes(models=(2, 3)), methods, st.integers(1, 4), st.integers(1, 7))
def test_chunks(cube, method, models, items):
    requires("dask.array")
    options = {"method": method, "n_resamples": 100, "rng": 1}
    chunked = cube.chunk(model=models, item=items)
    answer, expected = (quiet(obj.evalci.cluster_ci, "doc", **options) for obj in (chunked, cube))
    xr.testing.assert_identical(answer, expected)


@given(score_frames(fractional=True), methods)
def test_the_callers_object_is_not_changed(frame, method):
    before = frame.copy(deep=True)
    ask(frame, method)
    quiet(frame.evalci.proportion_ci, by="model")
    quiet(frame.evalci.design_effect, by="model")
    pd.testing.assert_frame_equal(frame, before, check_exact=True)


@given(score_frames(fractional=True), methods, alternatives, st.sampled_from([0.8, 0.95, 0.999]))
def test_limits_are_ordered_have_width_and_stay_on_the_scale(frame, method, alternative, level):
    answer = ask(frame, method, alternative=alternative, confidence_level=level)
    low, mean, high = (answer[name] for name in ("ci_low", "estimate", "ci_high"))
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low < high).all()
    if method != "bootstrap_percentile":
        assert (low <= mean).all()
        assert (mean <= high).all()
    assert not (answer["n_eff"] <= 0).any()


@given(score_frames(fractional=True), alternatives)
def test_textbook_limits_are_ordered_and_have_width(frame, alternative):
    for method in ("wilson", "clopper_pearson", "jeffreys", "agresti_coull"):
        answer = frame.evalci.proportion_ci(by="model", method=method, alternative=alternative)
        low, mean, high = (answer[name] for name in ("ci_low", "estimate", "ci_high"))
        assert (
            (low >= 0) & (low <= mean + 1e-12) & (mean <= high + 1e-12) & (high <= 1) & (low < high)
        ).all()


@given(score_frames(fractional=True), st.sampled_from(ANALYTIC))
def test_failing_mirrors_passing(frame, method):
    passing, failing = ask(frame, method), ask(frame.assign(score=1 - frame["score"]), method)
    mirrored = failing.assign(
        estimate=1 - failing["estimate"], ci_low=1 - failing["ci_high"], ci_high=1 - failing["ci_low"]
    )
    assert_close(mirrored, passing)


@settings(max_examples=25)
@given(score_frames(groups=(2, 4), fractional=True), methods)
def test_a_group_does_not_depend_on_the_others(frame, method):
    together = ask(frame, method)
    for row, (_, rows) in zip(together.index, frame.groupby("model", sort=False), strict=True):
        assert_close(ask(rows, method), together.loc[[row]], rtol=1e-10)


@given(score_frames(), methods, st.floats(1e-3, 1e3), st.randoms(use_true_random=False))
def test_scale_of_the_weights(frame, method, scale, random):
    weighted = frame.assign(w=[random.choice([0.5, 1.0, 3.0]) for _ in range(len(frame))])
    expected = ask(weighted, method, weights="w")
    assert_close(ask(weighted.assign(w=weighted["w"] * scale), method, weights="w"), expected, rtol=1e-6)


@given(score_frames(), methods)
def test_equal_weights_are_no_weights(frame, method):
    assert_close(ask(frame.assign(w=1.0), method, weights="w"), ask(frame, method))


@settings(max_examples=25)
@given(score_frames(), methods)
def test_a_higher_level_nests_a_lower_one(frame, method):
    answers = [ask(frame, method, confidence_level=level) for level in (0.5, 0.8, 0.95, 0.99)]
    for narrow, wide in itertools.pairwise(answers):
        assert (wide["ci_low"] <= narrow["ci_low"] + 1e-10).all()
        assert (wide["ci_high"] >= narrow["ci_high"] - 1e-10).all()


@given(score_frames(clusters=(3, 8), fractional=True), st.floats(-50, 50), st.floats(0.1, 20))
def test_unit_of_open_scores(frame, shift, scale):
    frame = frame.assign(score=frame["score"] * 3 + 2)
    assume(frame.groupby(["model"])["score"].nunique().min() > 1)
    first, second = ask(frame, "cr2"), ask(frame.assign(score=frame["score"] * scale + shift + 100), "cr2")
    for name in LIMITS:
        np.testing.assert_allclose((second[name] - shift - 100) / scale, first[name], rtol=1e-6, atol=1e-6)


@given(score_frames(groups=(1, 1)), st.sampled_from(["cr1", "cr2", "bootstrap_percentile"]))
def test_doubling_every_row_tells_nothing_new(frame, method):
    twice = pd.concat([frame, frame], ignore_index=True)
    assert_close(ask(twice, method), ask(frame, method), ["estimate", "n_clusters", "ci_low", "ci_high"])
