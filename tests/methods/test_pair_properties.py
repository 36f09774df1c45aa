"""What holds of two systems on the same items, whatever the data: how they are written down does not matter."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import (
    CLUSTERED_TESTS,
    CORRECTIONS,
    GRADED,
    QUESTIONS,
    TESTS,
    ask_pairs,
    paired_cubes,
    paired_frames,
    question_id,
    quiet,
)

from conftest import requires

each_question = pytest.mark.parametrize("question", QUESTIONS, ids=question_id)
questions = st.sampled_from(QUESTIONS)
graded = st.sampled_from(GRADED)
FEW = settings(max_examples=3, suppress_health_check=[HealthCheck.too_slow])
SOME = settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])

# Columns that change places, or sign, when the two systems do.
SWAPPED = {"model_a": "model_b", "estimate_a": "estimate_b", "only_a": "only_b"}
LIMITS = {"ci_low": "ci_high", "simultaneous_low": "simultaneous_high"}


def pairs_of(frame):
    """All pairs in an order that the order of the rows does not change."""
    return list(itertools.combinations(sorted(frame["model"].unique()), 2))


def ask(frame, question, **kwargs):
    return ask_pairs(frame, question, **{"pairs": pairs_of(frame)} | kwargs)


def by_pair(answer):
    keys = [name for name in ("prompt", "model_a", "model_b") if name in answer]
    return answer.sort_values(keys, ignore_index=True)


def assert_same(answer, expected, rtol=1e-9, **kwargs):
    """Equal but for the last digits."""
    pd.testing.assert_frame_equal(answer, expected, rtol=rtol, atol=1e-10, **kwargs)


def mirrored(answer):
    """The answer for the pairs the other way round."""
    swap = SWAPPED | {b: a for a, b in SWAPPED.items()} | LIMITS | {b: a for a, b in LIMITS.items()}
    out = answer.rename(columns=swap)[answer.columns].copy()
    for name in ("difference", *LIMITS, *LIMITS.values()):
        if name in out:
            out[name] = -out[name]
    return out


# How rows, ids and scores are written down


@each_question
@FEW
@given(frame=paired_frames(), random=st.randoms(use_true_random=False))
def test_order_of_the_rows_and_names_of_clusters_and_items(question, frame, random):
    docs, items = [f"doc {i}" for i in range(6)], [f"item {i}" for i in range(18)]
    random.shuffle(docs)
    random.shuffle(items)
    renamed = frame.assign(doc=[docs[g] for g in frame["doc"]], item=[items[i] for i in frame["item"]])
    assert_same(ask(renamed.sample(frac=1, random_state=1), question), ask(frame, question))


@SOME
@given(paired_frames(fractional=True), graded, st.integers(0, 99))
def test_order_of_the_rows_of_graded_scores(frame, question, seed):
    assert_same(ask(frame.sample(frac=1, random_state=seed), question), ask(frame, question))


@SOME
@given(paired_frames(), questions, st.randoms(use_true_random=False))
def test_names_of_the_systems(frame, question, random):
    """Resamples are drawn for the systems in the order of their names, so that these keep theirs there."""
    names = ["gpt", "llama", "qwen"]
    if "bootstrap_percentile" not in question[1].values():
        random.shuffle(names)
    names = dict(zip(["m0", "m1", "m2"], names, strict=True))
    pairs = [(names[a], names[b]) for a, b in pairs_of(frame)]
    answer = ask(frame.assign(model=frame["model"].map(names)), question, pairs=pairs)
    expected = ask(frame, question)
    expected[["model_a", "model_b"]] = expected[["model_a", "model_b"]].map(names.get)
    keys = ["model_a", "model_b"]  # ties may be in another order
    assert_same(answer.sort_values(keys, ignore_index=True), expected.sort_values(keys, ignore_index=True))


SCORE_DTYPES = [
    "bool",
    "float32",
    "boolean",
    "Int64",
    "Float64",
    "object",
    "category",
    "bool[pyarrow]",
    "double[pyarrow]",
]


@pytest.mark.parametrize("dtype", SCORE_DTYPES)
@settings(max_examples=5)
@given(frame=paired_frames(), question=questions)
def test_dtype_of_the_scores(dtype, frame, question):
    if "pyarrow" in dtype:
        requires("pyarrow")
    scores = frame["score"].astype(bool).astype(dtype) if "bool" in dtype else frame["score"].astype(dtype)
    pd.testing.assert_frame_equal(ask(frame.assign(score=scores), question), ask(frame, question))


ID_DTYPES = ["uint64", "float64", "str", "object", "Int64", "category", "int64[pyarrow]"]


@pytest.mark.parametrize("dtype", ID_DTYPES)
@settings(max_examples=5)
@given(frame=paired_frames(), question=questions)
def test_dtype_of_the_ids(dtype, frame, question):
    if "pyarrow" in dtype:
        requires("pyarrow")
    ids = frame[["doc", "item"]].astype(dtype)
    if dtype == "category":
        ids = ids.apply(lambda column: column.cat.add_categories([-1, 999]))
    assert_same(ask(frame.assign(doc=ids["doc"], item=ids["item"]), question), ask(frame, question))


@pytest.mark.parametrize(
    "dtype", ["category", "string", "Int64", "int64", "string[pyarrow]", "int64[pyarrow]"]
)
@settings(max_examples=5)
@given(frame=paired_frames(), question=questions)
def test_dtype_of_the_factor(dtype, frame, question):
    if "pyarrow" in dtype:
        requires("pyarrow")
    factor = frame["model"].str[1:].astype("int64") if "nt" in dtype else frame["model"]
    factor = factor.astype(dtype)
    if dtype == "category":
        factor = factor.cat.set_categories(["unused", "m2", "m1", "m0"])
    pairs = [(a, b) if "nt" not in dtype else (int(a[1:]), int(b[1:])) for a, b in pairs_of(frame)]
    answer, expected = ask(frame.assign(model=factor), question, pairs=pairs), ask(frame, question)
    assert answer["model_a"].dtype == answer["model_b"].dtype == factor.dtype
    sides = ["model_a", "model_b"]
    assert_same(answer.drop(columns=sides), expected.drop(columns=sides))
    assert [tuple(row) for row in answer[sides].astype(str).to_numpy()] == [
        tuple(text if "nt" not in dtype else text[1:] for text in row) for row in expected[sides].to_numpy()
    ]


@SOME
@given(paired_frames(), questions)
def test_series_index_levels_and_arrays(frame, question):
    expected = ask(frame, question)
    levels = frame.set_index(["model", "item", "doc"])["score"]
    pd.testing.assert_frame_equal(ask_pairs(levels, question, pairs=pairs_of(frame)), expected)
    given = {"item": frame["item"].to_numpy(), "score": frame["score"], "pairs": pairs_of(frame)}
    if "cluster" in question[1]:
        given["cluster"] = frame["doc"].sample(frac=1, random_state=1)  # by label
    pd.testing.assert_frame_equal(ask_pairs(frame[["model"]], question, **given), expected)


@SOME
@given(paired_frames(fractional=True, samples=2), graded, st.booleans())
def test_the_callers_object_is_not_changed(frame, question, as_categories):
    if as_categories:
        frame = frame.astype({"model": "category", "doc": "category"})
    before = frame.copy(deep=True)
    ask(frame, question, sample="sample")
    pd.testing.assert_frame_equal(frame, before, check_exact=True)


@SOME
@given(paired_cubes(), questions)
def test_the_callers_cube_is_not_changed(cube, question):
    before = cube.copy(deep=True)
    ask_pairs(cube, question)
    xr.testing.assert_identical(cube, before)


# Two containers, one answer


@SOME
@given(paired_cubes(), questions)
def test_frame_equals_cube(cube, question):
    frame = cube.to_dataframe().reset_index()
    expected = ask_pairs(frame, question, by="prompt")
    answer = ask_pairs(cube, question).to_dataframe().reset_index()
    assert_same(by_pair(answer[list(expected)]), by_pair(expected), rtol=1e-12, check_dtype=False)


@SOME
@given(paired_cubes(), questions)
def test_arrays_and_order_of_the_dims(cube, question):
    expected = ask_pairs(cube, question)
    for obj in (cube["score"], cube.transpose("item", "prompt", "model")["score"]):
        xr.testing.assert_allclose(ask_pairs(obj, question), expected, rtol=1e-12)


@SOME
@given(paired_cubes(), questions, st.sampled_from([{"baseline": "m1"}, {"pairs": [("m1", "m0")]}]))
def test_frame_equals_cube_for_some_pairs(cube, question, some):
    expected = ask_pairs(cube.to_dataframe().reset_index(), question, by="prompt", **some)
    answer = ask_pairs(cube, question, **some).to_dataframe().reset_index()
    assert_same(by_pair(answer[list(expected)]), by_pair(expected), rtol=1e-12, check_dtype=False)


@SOME
@given(paired_cubes(groups=(2, 3)), graded)
def test_frame_equals_cube_for_repeats(cube, question):
    """A dim of repeats is averaged, as the column of that name is."""
    expected = ask_pairs(cube.to_dataframe().reset_index(), question, sample="prompt")
    for options in ({"sample": "prompt"}, {"dim": ...}, {"dim": ["prompt", "item"]}):
        answer = ask_pairs(cube, question, **options).to_dataframe().reset_index()
        assert_same(by_pair(answer[list(expected)]), by_pair(expected), rtol=1e-9, check_dtype=False)


@SOME
@given(paired_cubes(), questions, st.data())
def test_frame_equals_cube_with_holes(cube, question, data):
    """Scores that were left out make holes; the common items are compared, and each pair has its own."""
    score = cube["score"].astype(float)
    hole = data.draw(st.integers(0, score.size - 1))
    score.data.ravel()[hole] = np.nan
    holes = {"nan_policy": "omit", "unmatched": "drop"}
    frame = score.to_dataframe().reset_index()
    answers = []
    for obj, options in ((frame, {"by": "prompt"}), (score, {})):
        try:
            answers.append(ask_pairs(obj, question, **holes, **options))
        except ValueError as error:  # too little is left for some
            answers.append((type(error), str(error)))
    expected, answer = answers
    if isinstance(expected, tuple):
        assert answer == expected
        return
    answer = answer.to_dataframe().reset_index()
    assert_same(by_pair(answer[list(expected)]), by_pair(expected), rtol=1e-12, check_dtype=False)


@SOME
@given(paired_cubes(systems=(2, 3), groups=(2, 2)), questions, st.integers(1, 3), st.integers(1, 7))
def test_chunks(cube, question, models, items):
    requires("dask.array")
    chunked = cube.chunk(model=models, item=items, prompt=1)
    xr.testing.assert_identical(ask_pairs(chunked, question), ask_pairs(cube, question))


# What a comparison is


@each_question
@FEW
@given(frame=paired_frames())
def test_exchanging_the_systems_mirrors_the_answer(question, frame):
    answer = ask(frame, question, pairs=[("m0", "m1")])
    expected = mirrored(ask(frame, question, pairs=[("m1", "m0")]))
    count = (
        "exact" in (question[1].get("method"), answer.get("test", pd.Series("")).iloc[0])
        or "midp" in question[1].values()
    )
    if count:
        expected["statistic"] = expected["only_a"].astype(float)
    elif question[0] != "mcnemar" or question[1]["method"] in (
        "icc_averaged",
        "sign_flip",
    ):  # the others are squares
        expected["statistic"] = -expected["statistic"]
    if "verdict" in expected:
        expected["verdict"] = expected["verdict"].replace({"superior": "inferior", "inferior": "superior"})
    assert_same(answer, expected, rtol=1e-6)


@SOME
@given(paired_frames(), questions, st.sampled_from(["less", "greater"]))
def test_one_side_mirrors_the_other(frame, question, side):
    if question[0] == "compare":
        return
    other = {"less": "greater", "greater": "less"}[side]
    answer = ask(frame, question, pairs=[("m0", "m1")], alternative=side)
    back = ask(frame, question, pairs=[("m1", "m0")], alternative=other)
    np.testing.assert_allclose(answer["pvalue"], back["pvalue"], rtol=1e-7, atol=1e-12)
    if "ci_low" in answer:
        np.testing.assert_allclose(answer["ci_low"], -back["ci_high"], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(answer["ci_high"], -back["ci_low"], rtol=1e-7, atol=1e-9)


@SOME
@given(paired_frames(systems=(3, 3)), questions)
def test_a_third_system_changes_nothing(frame, question):
    """A pair's row of mcnemar and diff_ci, whoever else is in the frame; percentiles share their draws with all systems."""
    if question[0] == "compare" or question[1]["method"] == "bootstrap_percentile":
        return
    alone = frame[frame["model"] != "m2"]
    together = ask(frame, question)
    pair = together[(together["model_a"] == "m0") & (together["model_b"] == "m1")].reset_index(drop=True)
    assert_same(ask(alone, question), pair, rtol=1e-12)
    pd.testing.assert_frame_equal(ask(alone, question), ask(frame, question, pairs=[("m0", "m1")]))


@SOME
@given(paired_frames(systems=(3, 3), clusters=(3, 6)), st.data())
def test_holes_of_a_third_system_change_nothing(frame, data):
    question = data.draw(
        questions.filter(lambda q: q[0] != "compare" and q[1]["method"] != "bootstrap_percentile")
    )
    third = np.flatnonzero(frame["model"] == "m2")
    gone = data.draw(st.sampled_from(third[: len(third) - 1].tolist() or [-1]))
    holes = frame.drop(index=[gone] if gone >= 0 else [])
    try:
        together = ask(holes, question, unmatched="drop")
    except ValueError:
        return  # too little is left for a pair with the third
    pair = together[(together["model_a"] == "m0") & (together["model_b"] == "m1")].reset_index(drop=True)
    assert_same(ask(frame[frame["model"] != "m2"], question), pair, rtol=1e-12)


@SOME
@given(paired_frames(), questions)
def test_the_same_rows_under_another_key_give_the_same_answer(frame, question):
    twice = pd.concat([frame.assign(prompt="x"), frame.assign(prompt="y")], ignore_index=True)
    answer = ask(twice, question, by="prompt")
    if question[0] == "compare":
        answer = ask(twice, question, by="prompt", correction_within="prompt")
    halves = [answer[answer["prompt"] == key].drop(columns="prompt").reset_index(drop=True) for key in "xy"]
    pd.testing.assert_frame_equal(*halves)
    assert_same(halves[0], ask(frame, question))


@SOME
@given(paired_frames(), questions)
def test_the_same_seed_gives_the_same_numbers(frame, question):
    one, two = (ask(frame, question, rng=np.random.SeedSequence(7)) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)


@given(paired_frames(), questions)
def test_what_any_answer_keeps_to(frame, question):
    answer = ask(frame, question)
    n = frame["item"].nunique()
    assert len(answer) == len(pairs_of(frame))
    assert (answer["n_pairs"] == n).all()
    assert (answer[["both_pass", "only_a", "only_b", "both_fail"]].sum(axis=1) == n).all()
    means = frame.groupby("model")["score"].mean()
    np.testing.assert_allclose(answer["estimate_a"], means[answer["model_a"]], rtol=1e-12)
    np.testing.assert_allclose(answer["difference"], answer["estimate_a"] - answer["estimate_b"], atol=1e-12)
    np.testing.assert_allclose(answer["difference"], (answer["only_a"] - answer["only_b"]) / n, atol=1e-12)
    assert answer["pvalue"].between(0, 1).all()
    if "ci_low" in answer:
        assert (answer["ci_low"] < answer["ci_high"]).all()
        assert (answer["ci_low"] >= -1).all()
        assert (answer["ci_high"] <= 1).all()
        if "bootstrap_percentile" not in question[1].values() and question[1].get("method") not in (
            "bonett_price",
            "agresti_min",
        ):
            assert (answer["ci_low"] <= answer["difference"] + 1e-12).all()
            assert (answer["ci_high"] >= answer["difference"] - 1e-12).all()


@SOME
@given(paired_frames(), st.sampled_from(["icc_averaged", "tango", "newcombe", "cr1", "cr2", "bonett_price"]))
def test_interval_and_p_value_agree(frame, method):
    """The interval leaves 0 out if and only if p is below the level's complement."""
    cluster = {"cluster": "doc"} if method == "icc_averaged" else {}
    for level in (0.5, 0.95):
        answer = ask(frame, ("diff_ci", {"method": method, **cluster}), confidence_level=level)
        out = (answer["ci_low"] > 1e-9) | (answer["ci_high"] < -1e-9)
        sure = answer["pvalue"] < 1 - level
        near = (answer["pvalue"] - (1 - level)).abs() < 1e-6
        assert ((out == sure) | near).all()


@SOME
@given(paired_frames(fractional=True), st.floats(0.1, 20), st.floats(-50, 50), st.booleans())
def test_unit_of_the_scores(frame, scale, shift, clustered):
    """Differences of scores on an open scale follow its unit, and do not see its zero."""
    first = frame.assign(score=frame["score"] * 3 + 100)
    second = frame.assign(score=(frame["score"] * 3) * scale + shift + 200)
    options = {"method": "cr2"} | ({"cluster": "doc"} if clustered else {})
    one, two = ask(first, ("diff_ci", options)), ask(second, ("diff_ci", options))
    for name in ("difference", "std_error", "ci_low", "ci_high"):
        np.testing.assert_allclose(two[name], one[name] * scale, rtol=1e-6, atol=1e-7 * scale)
    np.testing.assert_allclose(two["pvalue"], one["pvalue"], rtol=1e-5, atol=1e-9)


@SOME
@given(paired_frames(samples=2), graded)
def test_repeats_are_averaged_within_the_item(frame, question):
    means = frame.groupby(["model", "item", "doc"], as_index=False)["score"].mean()
    assert_same(ask(frame, question, sample="sample"), ask(means, question))
    # Numbered differently under each system, repeats are still repeats.
    renumbered = frame.assign(sample=frame["model"] + frame["sample"].astype(str))
    assert_same(ask(renumbered, question, sample="sample"), ask(means, question))


@SOME
@given(paired_frames(), st.sampled_from([*TESTS, *CLUSTERED_TESTS]))
def test_failures_instead_of_passes(frame, method):
    """A test of equal pass rates is one of equal failure rates."""
    question = ("mcnemar", {"method": method} | ({"cluster": "doc"} if method in CLUSTERED_TESTS else {}))
    passes, failures = ask(frame, question), ask(frame.assign(score=1 - frame["score"]), question)
    np.testing.assert_allclose(failures["pvalue"], passes["pvalue"], rtol=1e-9)
    np.testing.assert_allclose(failures["difference"], -passes["difference"], atol=1e-15)


# All pairs in one table


COMPARISONS = [question for question in QUESTIONS if question[0] == "compare"]


@pytest.mark.parametrize("question", COMPARISONS, ids=question_id)
@settings(max_examples=8)
@given(frame=paired_frames(systems=(2, 4)), correction=st.sampled_from(CORRECTIONS))
def test_what_a_table_of_comparisons_keeps_to(question, frame, correction):
    answer = ask(frame, question, correction=correction)
    assert answer["pvalue"].is_monotonic_increasing
    assert (answer["pvalue_adj"] >= answer["pvalue"] - 1e-15).all()
    assert (answer["pvalue_adj"] <= 1).all()
    assert answer["pvalue_adj"].is_monotonic_increasing
    assert (answer["simultaneous_low"] <= answer["ci_low"] + 1e-12).all()
    assert (answer["simultaneous_high"] >= answer["ci_high"] - 1e-12).all()
    assert (answer["correction"] == correction).all()


@pytest.mark.parametrize("question", COMPARISONS, ids=question_id)
@settings(max_examples=5)
@given(frame=paired_frames(systems=(2, 2)), correction=st.sampled_from(CORRECTIONS))
def test_a_single_comparison_needs_no_correction(question, frame, correction):
    answer = ask(frame, question, correction=correction)
    pd.testing.assert_series_equal(answer["pvalue_adj"], answer["pvalue"], check_names=False)
    for end in ("low", "high"):
        np.testing.assert_allclose(answer[f"simultaneous_{end}"], answer[f"ci_{end}"], rtol=1e-12)
    difference = ask(frame, ("diff_ci", {k: v for k, v in question[1].items() if k != "test"}))
    ours = ("pvalue", "statistic") if answer["test"].item() != "interval" else ()
    shared = [name for name in answer if name in difference and name not in ours]
    assert_same(answer[shared], difference[shared])
    if ours:
        test = ask(frame, ("mcnemar", {"method": answer["test"].item()}))
        assert_same(answer[[*ours]], test[[*ours]])


@pytest.mark.parametrize("question", COMPARISONS, ids=question_id)
@settings(max_examples=4)
@given(
    frames=st.lists(paired_frames(systems=(3, 3)), min_size=2, max_size=2),
    correction=st.sampled_from(CORRECTIONS),
)
def test_correction_within_a_key_is_a_call_for_each_key(question, frames, correction):
    both = pd.concat(
        [frame.assign(prompt=key) for key, frame in zip("xy", frames, strict=True)], ignore_index=True
    )
    within = ask(both, question, by="prompt", correction=correction, correction_within="prompt")
    over_all = ask(both, question, by="prompt", correction=correction)
    for key, frame in zip("xy", frames, strict=True):
        rows = within[within["prompt"] == key].drop(columns="prompt").reset_index(drop=True)
        # Ties may be in another order, since evidence is sorted over all rows.
        assert_same(by_pair(rows), by_pair(ask(frame, question, correction=correction)))
    same = ["prompt", "model_a", "model_b", "difference", "ci_low", "ci_high", "pvalue"]
    assert_same(by_pair(within)[same], by_pair(over_all)[same])
    if correction not in ("none",):
        assert (by_pair(over_all)["simultaneous_low"] <= by_pair(within)["simultaneous_low"] + 1e-12).all()


@SOME
@given(paired_frames(systems=(2, 4)), st.sampled_from(COMPARISONS), st.sampled_from(CORRECTIONS))
def test_corrections_are_those_of_statsmodels(frame, question, correction):
    from statsmodels.stats.multitest import multipletests

    names = {
        "holm": "holm",
        "hochberg": "simes-hochberg",
        "bonferroni": "bonferroni",
        "bh": "fdr_bh",
        "by": "fdr_by",
    }
    answer = ask(frame, question, correction=correction)
    expected = (
        answer["pvalue"]
        if correction == "none"
        else multipletests(answer["pvalue"], method=names[correction])[1]
    )
    np.testing.assert_allclose(answer["pvalue_adj"], expected, rtol=1e-12)


# Draws that are told by the labels and not by the place


@pytest.mark.parametrize("method", ["cr2", "bootstrap_percentile"])
@pytest.mark.parametrize("cluster", ["doc", None])
def test_simultaneous_limits_of_more_systems_than_clusters(method, cluster):
    """Draws then go by cluster, whose number must not be told by where a cluster stands or what it is called."""
    rng = np.random.default_rng(0)
    items = pd.DataFrame(
        {"item": np.arange(80), "doc": np.repeat(np.arange(40), 2)} if cluster else {"item": np.arange(40)}
    )
    frame = items.merge(pd.DataFrame({"model": [f"m{j:02}" for j in range(45)]}), how="cross")
    frame = frame.assign(score=rng.integers(0, 2, len(frame)))
    names = rng.permutation(80)
    changed = {
        "shuffled": frame,
        "as text": frame.assign(**{name: frame[name].astype(str) for name in items}),
        "renamed": frame.assign(**{name: names[frame[name]] for name in items}),
    }
    answers = {
        how: by_pair(ask_pairs(rows.sample(frac=1, random_state=3), ("compare", {}), cluster=cluster, method=method,
                               baseline="m00", n_resamples=2000))
        for how, rows in changed.items()
    }  # fmt: skip
    expected = by_pair(
        ask_pairs(frame, ("compare", {}), cluster=cluster, method=method, baseline="m00", n_resamples=2000)
    )
    assert (expected["simultaneous_low"] < expected["ci_low"]).all()
    for how, answer in answers.items():
        np.testing.assert_allclose(answer["ci_low"], expected["ci_low"], rtol=1e-6, err_msg=how)
        np.testing.assert_allclose(
            answer["simultaneous_low"], expected["simultaneous_low"], rtol=1e-5, err_msg=how
        )


def test_one_generator_moves_on_and_the_global_one_does_not(rag):
    question = ("diff_ci", {"method": "bootstrap_percentile", "cluster": "doc_id"})
    generator = np.random.default_rng(5)
    first, second = (ask_pairs(rag, question, rng=generator) for _ in range(2))
    assert not first.equals(second)
    again = np.random.default_rng(5)
    pd.testing.assert_frame_equal(ask_pairs(rag, question, rng=again), first)
    fresh = [ask_pairs(rag, question, rng=None) for _ in range(2)]
    assert not fresh[0].equals(fresh[1])


@pytest.mark.parametrize("first", [(0, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("second", [(0, 0), (0, 1), (1, 0)])
def test_the_smallest_frames(first, second):
    """Two items, two clusters: an answer from every method, with width, and without a warning of numpy's."""
    frame = pd.DataFrame(
        {"model": list("aabb"), "item": [0, 1] * 2, "doc": [0, 1] * 2, "score": [*first, *second]}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for question in QUESTIONS:
            if "newcombe" in question[1].values() and first == second:
                continue  # slow, and in the properties
            answer = quiet(ask_pairs, frame, question)
            assert answer["pvalue"].between(0, 1).all()
            assert "ci_low" not in answer or (answer["ci_low"] < answer["ci_high"]).all()
            assert first != second or answer["pvalue"].item() == 1
