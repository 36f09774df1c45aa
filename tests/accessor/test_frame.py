"""The DataFrame and Series accessors: how things are named, what comes back, and agreement with statsmodels."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from strategies import BENIGN, METHODS, frame_of, quiet, two_groups

import evalci_accessor
from conftest import requires
from evalci_accessor.exceptions import ClusterError, MethodError, MissingScoreWarning, ScanWarning

ESTIMATES = [
    "estimate", "std_error", "ci_low", "ci_high", "df", "n", "n_clusters", "cluster", "icc", "design_effect", "n_eff",
    "method", "confidence_level",
]  # fmt: skip
DESIGNS = [
    "cluster", "icc", "icc_low", "icc_high", "design_effect", "n_eff", "width_ratio", "n", "n_clusters",
    "effective_clusters", "largest_share", "size_min", "size_median", "size_max", "icc_method", "confidence_level",
]  # fmt: skip
SEEDED = {"n_resamples": 100, "rng": 1}
same = pd.testing.assert_frame_equal


@pytest.fixture
def weighted(rag):
    return rag.assign(w=np.random.default_rng(3).uniform(0.5, 2, len(rag)))


def as_column(frame, name):
    return frame, name


def as_level(frame, name):
    return frame.set_index([name, "row"]), name


def as_series(frame, name):
    return frame.drop(columns=name), frame[name].sample(frac=1, random_state=1)


def as_array(frame, name):
    return frame.drop(columns=name), frame[name].to_numpy()


def as_extension_array(frame, name):
    return frame.drop(columns=name), frame[name].convert_dtypes().array


def as_index(frame, name):
    return frame.drop(columns=name), pd.Index(frame[name], name=name)


@pytest.mark.parametrize("give", [as_column, as_level, as_series, as_array, as_extension_array, as_index])
@pytest.mark.parametrize(
    ("role", "name"), [("cluster", "doc_id"), ("score", "score"), ("by", "model"), ("weights", "w")]
)
def test_every_argument_may_be_a_name_or_an_array(weighted, give, role, name):
    frame = weighted.assign(row=np.arange(len(weighted))[::-1])
    given = {"cluster": "doc_id", "score": "score", "by": "model", "weights": "w"}
    expected = frame.evalci.cluster_ci(**given)
    data, given[role] = give(frame, name)
    answer = data.evalci.cluster_ci(**given)
    if role == "by":
        answer = answer.rename(columns={"by": "model"}).astype({"model": expected["model"].dtype})
    same(answer.assign(cluster="doc_id"), expected)


def test_names_of_unnamed_arrays(rag):
    answer = rag.evalci.cluster_ci(rag["doc_id"].to_numpy(), by=rag["model"].to_numpy())
    assert next(iter(answer)) == "by"
    assert answer["cluster"].eq("cluster").all()


@pytest.mark.parametrize("by", [None, "model", ["model"], ["model", "template_id"]])
def test_columns_have_a_fixed_order(rag, by):
    keys = [] if by is None else [by] if isinstance(by, str) else by
    assert list(rag.evalci.proportion_ci(by=by)) == keys + ESTIMATES
    assert list(quiet(rag.evalci.cluster_ci, "conversation_id", by=by)) == keys + ESTIMATES
    assert list(quiet(rag.evalci.design_effect, "conversation_id", by=by)) == keys + DESIGNS


def test_without_by_there_is_one_row(rag):
    for answer in (
        rag.evalci.proportion_ci(),
        rag.evalci.cluster_ci("doc_id"),
        rag.evalci.design_effect("doc_id"),
    ):
        assert answer.index.equals(pd.RangeIndex(1))
        assert answer["n"].item() == 600


def test_values_of_the_textbook_columns(rag):
    answer = rag.evalci.proportion_ci(by="model")
    assert answer["estimate"].tolist() == rag.groupby("model", sort=False)["score"].mean().tolist()
    assert answer["n"].tolist() == answer["n_clusters"].tolist() == [200] * 3
    assert answer["design_effect"].tolist() == [1] * 3
    assert answer["cluster"].tolist() == [""] * 3
    assert answer["method"].tolist() == ["wilson"] * 3


def test_auto_is_told_by_the_scores_and_named(rag):
    assert rag.evalci.cluster_ci("doc_id")["method"].item() == "icc_averaged"
    assert rag.evalci.cluster_ci("doc_id", score="latency_s")["method"].item() == "cr2"


def test_by_as_list_follows_first_appearance(rag):
    shuffled = rag.sample(frac=1, random_state=2)
    answer = quiet(shuffled.evalci.cluster_ci, "conversation_id", by=["template_id", "model"])
    expected = shuffled[["template_id", "model"]].drop_duplicates().reset_index(drop=True)
    same(answer[["template_id", "model"]], expected)


def test_a_missing_key_is_a_group_of_its_own(rag):
    frame = rag.assign(lang=rag["model"].map({"atlas": "en", "boreal": None, "cascade": "da"}))
    answer = frame.evalci.cluster_ci("doc_id", by="lang")
    assert answer["lang"].isna().tolist() == [False, True, False]
    same(answer[ESTIMATES], frame.evalci.cluster_ci("doc_id", by="model")[ESTIMATES])


def test_unused_levels_of_a_categorical_key_make_no_rows(rag):
    levels = pd.CategoricalDtype(["cascade", "unused", "boreal", "atlas"], ordered=True)
    answer = rag.astype({"model": levels}).evalci.cluster_ci("doc_id", by="model")
    assert answer["model"].tolist() == ["atlas", "boreal", "cascade"]
    assert answer["model"].dtype == levels


@pytest.mark.parametrize(
    "keys",
    [
        pd.Series([3, 1], dtype="int8"), pd.Series([3, 1], dtype="Int64"), pd.Series([True, False]),
        pd.Series([2.5, np.nan]), pd.Series(["b", "a"], dtype="string"), pd.Series(["b", "a"], dtype="category"),
        pd.Series(["b", None], dtype=object), pd.to_datetime(pd.Series(["2025-01-02", "2025-01-01"])),
        pd.Series(["b", "a"], dtype="string[pyarrow]"), pd.Series(pd.period_range("2025-01", periods=2, freq="M")),
    ],
    ids=lambda keys: str(keys.dtype),
)  # fmt: skip
def test_dtype_of_the_keys_is_kept(keys):
    if "pyarrow" in str(keys.dtype):
        requires("pyarrow")
    frame = pd.concat([frame_of(BENIGN)] * 2, ignore_index=True)
    frame["key"] = keys.take(np.repeat([0, 1], 200)).set_axis(frame.index)
    assert frame["key"].dtype == keys.dtype
    answer = frame.evalci.cluster_ci("cluster", by="key")
    pd.testing.assert_series_equal(answer["key"], keys, check_names=False)


@pytest.mark.parametrize("method", METHODS)
def test_series_accessor_equals_the_frames(rag, method):
    frame = rag.set_index(["doc_id", "model"])
    expected = quiet(frame.evalci.cluster_ci, "doc_id", by="model", method=method, **SEEDED)
    same(quiet(frame["score"].evalci.cluster_ci, "doc_id", by="model", method=method, **SEEDED), expected)


def test_series_accessor_equals_the_frames_elsewhere(rag):
    frame, scores = rag, rag["score"].rename("anything")
    same(scores.evalci.proportion_ci(by=rag["model"]), frame.evalci.proportion_ci(by="model"))
    same(
        scores.evalci.design_effect(rag["doc_id"], by=rag["model"]),
        frame.evalci.design_effect("doc_id", by="model"),
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_group_is_answered_like_the_frame_of_its_rows(rag, method):
    together = quiet(rag.evalci.cluster_ci, "doc_id", by="model", method=method, **SEEDED)
    apart = [
        quiet(rows.evalci.cluster_ci, "doc_id", method=method, **SEEDED)
        for _, rows in rag.groupby("model", sort=False)
    ]
    same(together[ESTIMATES], pd.concat(apart, ignore_index=True))


def test_a_group_is_described_like_the_frame_of_its_rows(rag):
    together = rag.evalci.design_effect("doc_id", by="model")
    apart = [rows.evalci.design_effect("doc_id") for _, rows in rag.groupby("model", sort=False)]
    same(together[DESIGNS], pd.concat(apart, ignore_index=True))


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("score", ["score", "latency_s"])
def test_cr1_is_statsmodels_cluster_robust_error(weighted, weights, score):
    sm = requires("statsmodels.api")
    answer = weighted.evalci.cluster_ci("doc_id", score=score, by="model", weights=weights, method="cr1")
    for row, (_, rows) in zip(answer.itertuples(), weighted.groupby("model", sort=False), strict=True):
        weight = np.ones(len(rows)) if weights is None else rows["w"]
        groups = pd.factorize(rows["doc_id"])[0]
        fit = sm.WLS(rows[score].to_numpy(dtype=float), np.ones(len(rows)), weights=np.asarray(weight)).fit(
            cov_type="cluster",
            cov_kwds={"groups": groups, "use_correction": True, "df_correction": True},
            use_t=True,
        )
        low, high = fit.conf_int()[0]
        assert row.df == 39
        np.testing.assert_allclose(
            [row.estimate, row.std_error, row.ci_low, row.ci_high],
            [fit.params[0], fit.bse[0], low, high],
            rtol=1e-10,
        )


def test_cr1_on_real_answers(data_dir):
    frame = pd.read_csv(data_dir / "bbh_codex_cot_direct.csv")
    answer = frame.evalci.cluster_ci("task", score="correct", by="mode", method="cr1").set_index("mode")
    expected = pd.DataFrame({"ci_low": [0.662, 0.436], "ci_high": [0.817, 0.611]}, index=["cot", "direct"])
    np.testing.assert_allclose(answer.loc[expected.index, list(expected)], expected, atol=6e-4)
    assert answer["n_clusters"].tolist() == [27, 27]


def test_a_weight_of_zero_is_an_absent_row(weighted):
    half = weighted.assign(w=np.where(np.arange(len(weighted)) % 2, 1.0, 0.0))
    answer, expected = (
        f.evalci.cluster_ci("doc_id", weights="w", by="model") for f in (half, half[half.w > 0])
    )
    same(answer, expected)


def test_several_clusterings_worst_first(rag):
    listed = ["template_id", "conversation_id", "doc_id"]
    answer = rag.evalci.design_effect(listed, by="model")
    together = "template_id + conversation_id + doc_id"
    assert answer["model"].tolist() == list(np.repeat(["atlas", "boreal", "cascade"], 4))
    for _, rows in answer.groupby("model"):
        assert rows["design_effect"].is_monotonic_decreasing
        assert set(rows["cluster"]) == {*listed, together}
    alone = rag.evalci.design_effect("doc_id", by="model")
    same(answer[answer["cluster"] == "doc_id"].reset_index(drop=True), alone)


def test_scan_finds_what_could_be_a_clustering(rag):
    frame = rag[rag.model == "atlas"].assign(flagged=lambda d: d["latency_s"] > 1, constant="x")
    answer = frame.evalci.design_effect()
    assert set(answer["cluster"]) == {"doc_id", "conversation_id", "template_id"}
    assert answer["cluster"].iloc[0] == "doc_id"
    listed = frame.evalci.design_effect(["doc_id", "conversation_id", "template_id"])
    same(
        answer,
        listed[~listed["cluster"].str.contains("+", regex=False)].reset_index(drop=True),
        check_like=True,
    )


@pytest.mark.parametrize(
    "kwargs",
    [
        {"by": "model"}, {"by": ["model"]}, {"score": "latency_s", "by": "model"},
    ],
)  # fmt: skip
def test_scan_leaves_out_the_score_the_keys_and_the_weights(weighted, kwargs):
    answer = weighted.assign(w=1 + weighted["item"] % 3).evalci.design_effect(**kwargs, weights="w")
    assert not {"model", "w", kwargs.get("score", "score")} & set(answer["cluster"])


@pytest.mark.parametrize(
    "pick", [lambda s: s, lambda s: s.to_numpy(), lambda s: pd.Index(s), lambda s: s.array]
)
def test_scan_leaves_out_columns_that_came_as_arrays(rag, pick):
    answer = rag.drop(columns="item").evalci.design_effect(score=pick(rag["score"]), by=pick(rag["model"]))
    assert "score" not in set(answer["cluster"])


def test_scan_looks_at_index_levels_too(rag):
    assert "doc_id" in set(rag[["doc_id", "score"]].set_index("doc_id").evalci.design_effect()["cluster"])
    assert set(rag.set_index(["doc_id", "item"])["score"].evalci.design_effect()["cluster"]) == {
        "doc_id",
        "item",
    }


@pytest.mark.parametrize("by", [None, "model"])
def test_scan_without_candidates(by):
    frame = pd.DataFrame({"model": ["A"] * 4 + ["B"] * 4, "id": range(8), "score": [0, 1, 1, 0] * 2})
    if by is None:
        frame = frame.drop(columns="model")
    with pytest.warns(ScanWarning, match="no clustering can be told"):
        answer = frame.evalci.design_effect(by=by)
    assert answer.empty
    assert list(answer) == ([by] if by else []) + DESIGNS
    assert answer["n"].dtype == np.int64


def test_scan_says_which_columns_it_could_not_look_at(rag):
    frame = rag.assign(template_id=rag["template_id"].where(rag["item"] > 10))
    with pytest.warns(ScanWarning, match=r"'template_id' \(33 missing\)"):
        answer = frame.evalci.design_effect(by="model")
    assert "template_id" not in set(answer["cluster"])


def test_an_empty_list_of_clusterings_is_refused(rag):
    with pytest.raises(ClusterError, match="names no clustering"):
        rag.evalci.design_effect([])


@pytest.mark.parametrize("method", ["proportion_ci", "cluster_ci", "design_effect"])
def test_omitted_scores_are_counted(rag, method):
    frame = rag.astype({"score": float})
    frame.loc[[0, 1, 2, 599], "score"] = np.nan
    args = () if method == "proportion_ci" else ("doc_id",)
    with pytest.warns(MissingScoreWarning, match=r"3 of 200 in model='atlas'.*1 of 200 in model='cascade'"):
        answer = getattr(frame.evalci, method)(*args, by="model", nan_policy="omit")
    assert answer["n"].tolist() == [197, 200, 199]
    same(answer, getattr(frame.dropna().evalci, method)(*args, by="model"))


def test_omitting_says_what_the_estimate_could_have_been():
    frame = frame_of(BENIGN).astype({"score": float})
    frame.loc[:9, "score"] = np.nan
    low, high = frame["score"].sum() / 200, (frame["score"].sum() + 10) / 200
    with pytest.warns(MissingScoreWarning, match=f"10 of 200.*would be {low:.4g} or {high:.4g}.*2 cluster"):
        frame.evalci.cluster_ci("cluster", nan_policy="omit")


def test_results_can_be_stacked_written_and_read(rag):
    answers = pd.concat(
        [rag.evalci.proportion_ci(by="model"), rag.evalci.cluster_ci("doc_id", by="model")], ignore_index=True
    )
    assert len(answers) == 6
    assert list(answers) == ["model", *ESTIMATES]
    text = answers.to_csv(index=False)
    assert "[" not in text
    again = pd.read_csv(io.StringIO(text)).fillna({"cluster": ""})
    same(again, answers, check_dtype=False)


@pytest.mark.parametrize("score", ["score", "nullable", "passed"])
def test_the_callers_frame_is_not_changed(rag, score):
    frame = rag.assign(nullable=rag["score"].astype("Int64"), passed=rag["score"] == 1).astype(
        {"doc_id": "category"}
    )
    frame = frame.set_index(["template_id", "item"])
    frame.loc[frame.index[:3], "nullable"] = pd.NA
    before, index = frame.copy(deep=True), frame.index.copy(deep=True)
    quiet(frame.evalci.proportion_ci, score=score, by="model", nan_policy="omit")
    quiet(frame.evalci.cluster_ci, "doc_id", score=score, by="model", weights="latency_s", nan_policy="omit")
    quiet(frame.evalci.design_effect, score=score, by="model", nan_policy="omit")
    same(frame, before, check_exact=True)
    pd.testing.assert_index_equal(frame.index, index, exact=True)


def test_changing_the_answer_does_not_reach_the_frame():
    frame = two_groups(BENIGN)
    before = frame.copy(deep=True)
    answer = frame.evalci.cluster_ci("cluster", by="model")
    answer.loc[:, "model"] = "changed"
    same(frame, before)


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_frames_of_another_backend(rag, backend):
    if backend == "pyarrow":
        requires("pyarrow")
    frame = rag.convert_dtypes(dtype_backend=backend)
    for method, args in (
        ("proportion_ci", ()),
        ("cluster_ci", ("doc_id",)),
        ("design_effect", ("doc_id",)),
        ("design_effect", ()),
    ):
        answer, expected = (getattr(f.evalci, method)(*args, by="model") for f in (frame, rag))
        same(answer.astype({"model": str}), expected.astype({"model": str}))
        assert answer["model"].dtype == frame["model"].dtype


@pytest.mark.parametrize(
    "ids",
    [
        lambda doc: pd.arrays.SparseArray(doc),
        lambda doc: pd.cut(doc, 40),
        lambda doc: pd.Timestamp("2025-01-01", tz="UTC") + pd.to_timedelta(doc, "D"),
        lambda doc: pd.Series([(d, "x") for d in doc]),
    ],
    ids=["sparse", "interval", "time zone", "tuple"],
)
def test_ids_of_unusual_kinds(rag, ids):
    frame = rag.assign(doc_id=ids(rag["item"] // 5))
    same(frame.evalci.cluster_ci("doc_id", by="model"), rag.evalci.cluster_ci("doc_id", by="model"))


def test_sparse_scores_and_keys(rag):
    frame = rag.assign(
        score=pd.arrays.SparseArray(rag["score"]), half=pd.arrays.SparseArray(rag["item"] // 100)
    )
    expected = rag.assign(half=rag["item"] // 100).evalci.cluster_ci("doc_id", by="half")
    same(frame.evalci.cluster_ci("doc_id", by="half"), expected, check_dtype=False)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("score", [0.0, 0.25, 1.0])
def test_effective_size_of_equal_scores(method, score):
    frame = frame_of(BENIGN).assign(score=score)
    answer = quiet(frame.evalci.cluster_ci, "cluster", method=method, **SEEDED).iloc[0]
    assert not answer["n_eff"] <= 0
    assert not np.isinf(answer["design_effect"])
    assert 0 <= answer["ci_low"] <= score <= answer["ci_high"] <= 1
    assert answer["ci_low"] < answer["ci_high"]


def test_names_that_are_not_strings():
    frame = (
        frame_of(BENIGN)
        .rename(columns={"cluster": 1, "score": 0})
        .assign(**{"m": "A"})
        .rename(columns={"m": ("a", 2)})
    )
    answer = frame.evalci.cluster_ci(1, score=0, by=("a", 2))
    assert answer["n"].item() == 200
    assert answer["cluster"].item() == "1"


def test_duplicated_row_labels_are_fine():
    frame = frame_of(BENIGN)
    expected = frame.evalci.cluster_ci("cluster")
    frame.index = [0] * len(frame)
    same(frame.evalci.cluster_ci(frame["cluster"]), expected)


@pytest.mark.parametrize("alternative", ["less", "greater"])
@pytest.mark.parametrize("method", METHODS)
def test_one_sided_limits_are_the_two_sided_ones_at_twice_alpha(rag, method, alternative):
    def ask(**kwargs):
        return quiet(rag.evalci.cluster_ci, "doc_id", by="model", method=method, **SEEDED, **kwargs)

    one, two = ask(alternative=alternative), ask(confidence_level=0.9)
    used, open_end, bound = (
        ("ci_low", "ci_high", 1.0) if alternative == "greater" else ("ci_high", "ci_low", 0.0)
    )
    np.testing.assert_allclose(one[used], two[used], rtol=1e-9)
    assert one[open_end].eq(bound).all()


@pytest.mark.parametrize("alternative", ["less", "greater"])
@pytest.mark.parametrize("method", [*METHODS, "wald", "clopper_pearson", "logit"])
def test_one_sided_limits_at_even_odds_are_numbers(rag, method, alternative):
    options = {"alternative": alternative, "confidence_level": 0.5, **SEEDED}
    answer = quiet(rag.evalci.cluster_ci, "doc_id", by="model", method=method, **options)
    assert answer[["ci_low", "ci_high"]].notna().all(axis=None)


def test_one_sided_on_an_open_scale(rag):
    answer = rag.evalci.cluster_ci("doc_id", score="latency_s", alternative="greater")
    assert answer["ci_high"].item() == np.inf


@pytest.mark.parametrize("scale", [1e-170, 1e-3, 1.0, 1e160])
@pytest.mark.parametrize("method", ["auto", "cr2", "wilson"])
def test_any_scale_of_weights_will_do(scale, method):
    frame = evalci_accessor.datasets.load_rag_eval().query("model == 'atlas'").reset_index(drop=True)
    weights = np.linspace(0.5, 2, len(frame))
    expected = frame.evalci.cluster_ci("doc_id", weights=weights, method=method)
    result = frame.evalci.cluster_ci("doc_id", weights=weights * scale, method=method)
    pd.testing.assert_frame_equal(result, expected, rtol=1e-9)


@pytest.mark.parametrize("odd", [7.0, -1.0, np.nan, np.inf])
def test_a_row_of_weight_zero_is_absent_whatever_its_score(odd):
    frame = evalci_accessor.datasets.load_rag_eval().query("model == 'atlas'").reset_index(drop=True)
    frame["score"] = frame["score"].astype(float)
    weights = np.ones(len(frame))
    weights[:7] = 0
    expected = frame.iloc[7:].evalci.cluster_ci("doc_id", weights=weights[7:])
    frame.loc[:6, "score"] = odd
    pd.testing.assert_frame_equal(frame.evalci.cluster_ci("doc_id", weights=weights), expected)
    cube = frame.to_xarray().set_coords("doc_id")
    cube["w"] = ("index", weights)
    from_cube = cube.evalci.cluster_ci("doc_id", weights="w")
    assert float(from_cube["ci_low"]) == pytest.approx(expected["ci_low"].item(), rel=1e-12)


@pytest.mark.parametrize("weight", [7.0, 0.1, 1 / 3, 2.0])
def test_exact_bootstrap_takes_equal_weights_of_any_scale(weight):
    frame = pd.DataFrame(
        {"score": [1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 0], "doc": np.repeat(range(4), 3), "w": weight}
    )
    weighted, plain = (
        quiet(frame.evalci.cluster_ci, "doc", method="bootstrap_exact", weights=w) for w in ("w", None)
    )  # fmt: skip
    pd.testing.assert_frame_equal(weighted, plain)
    with pytest.raises(MethodError, match="not whole numbers"):
        quiet(frame.assign(w=[1, 2, 3] * 4).evalci.cluster_ci, "doc", method="bootstrap_exact", weights="w")
