"""Our numbers beside those of statsmodels, on published results and on made ones, and reasons for what differs."""

import dataclasses
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
import xarray as xr
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import BENIGN, frame_of, pair_frame, paired_frames, quiet, score_frames

from evalci_accessor.crosscheck import estimators as crosscheck
from evalci_accessor.exceptions import (
    AmbiguousNameError,
    ClusterError,
    MethodError,
    MissingClusterError,
    MissingScoreError,
    MissingScoreWarning,
    PairingError,
)
from evalci_accessor.methods import crosscheck as _crosscheck
from evalci_accessor.stats.pairs import difference
from evalci_accessor.stats.rates import clustered, moments

COLUMNS = list(_crosscheck.CROSSCHECK_COLUMNS)
OURS, THEIRS = list(_crosscheck.OURS), list(crosscheck.ESTIMATORS)
UNEVEN = frame_of([3, 9, 1, 4, 0, 6, 2, 7], [4, 10, 5, 4, 3, 6, 6, 9])
PAIR = pair_frame(
    both=[2, 5, 0, 3, 1], only_a=[1, 2, 0, 2, 1], only_b=[1, 0, 1, 1, 0], neither=[0, 1, 2, 0, 2]
)


def check(frame, cluster="cluster", **options):
    return quiet(frame.evalci.crosscheck, cluster, **options)


def row(answer, estimator):
    found = answer[answer["estimator"] == estimator]
    assert len(found) == 1
    return found.iloc[0]


def against(frame, results, cluster="cluster", **options):
    return row(check(frame, cluster, against=results, **options), "against")


def clustered_by(groups, **more):
    return {"cov_type": "cluster", "cov_kwds": {"groups": np.asarray(groups), **more}}


def codes(frame, cluster="cluster"):
    return frame.assign(code=pd.factorize(frame[cluster])[0])


# Published results

REAL = {
    "gsm_symbolic_en_da.csv": {"score": "correct", "cluster": "template", "by": ["model", "lang"]},
    "bbh_codex_cot_direct.csv": {"score": "correct", "cluster": "task", "by": "mode"},
    "cruxeval_codellama7b.csv": {"score": "passed", "cluster": "problem", "by": "task"},
    "taubench_airline.csv": {"score": "reward", "cluster": "task_id"},
    "jailbreakbench.csv": {"score": "jailbroken", "cluster": "category", "by": ["attack", "model"]},
    "mtbench_gpt4_single.csv": {"score": "score", "cluster": "question_id", "by": "model"},
}


@pytest.mark.parametrize("file", REAL)
def test_real_data_agree_where_they_should(file, data_dir):
    frame, options = pd.read_csv(data_dir / file), dict(REAL[file])
    if file.startswith("jailbreak"):
        frame = frame[frame["attack"] != "test-artifact"]  # of a single category
    answer = check(frame, options.pop("cluster"), **options)
    assert (answer["agrees"] == answer["should_agree"]).all()
    largest = answer.groupby("estimator")["relative_difference"].agg(lambda d: d.abs().max())
    assert largest["ols_cluster_t"] < 1e-10
    assert largest["ols_cr2"] < 1e-10
    assert largest["gee_independence"] < 1e-6
    assert largest["gee_independence_bias_reduced"] < 1e-6
    ols, cr1 = (answer[answer["estimator"] == name].reset_index() for name in ("ols_cluster_t", "cr1"))
    varies = ~ols["note"].str.contains("no variance")
    assert varies.any()
    assert_allclose(ols["estimate"][varies], cr1["estimate"][varies], rtol=1e-10)
    assert (ols["df"] == ols["n_clusters"] - 1).all()


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("bbh_codex_cot_direct.csv", {"cluster": "task", "score": "correct", "factor": "mode", "item": ["task", "item"]}),
        (
            "cruxeval_codellama7b.csv",
            {"cluster": "problem", "score": "passed", "factor": "task", "item": "problem", "sample": "sample"},
        ),
    ],
    ids=["bbh", "cruxeval"],
)  # fmt: skip
def test_real_pairs_agree_where_they_should(file, options, data_dir):
    answer = check(pd.read_csv(data_dir / file), **options)
    assert (answer["agrees"] == answer["should_agree"]).all()
    assert abs(row(answer, "ols_cluster_t")["relative_difference"]) < 1e-10
    assert abs(row(answer, "gee_independence")["relative_difference"]) < 1e-10
    assert abs(row(answer, "gee_exchangeable")["relative_difference"]) < 1e-10


# The answer


def test_columns_and_rows():
    answer = check(UNEVEN)
    assert list(answer) == COLUMNS
    assert answer["estimator"].tolist() == OURS + THEIRS
    assert answer["package"].tolist() == ["evalci_accessor"] * len(OURS) + ["statsmodels"] * len(THEIRS)
    assert answer["agrees"].dtype == answer["should_agree"].dtype == bool
    assert answer["n"].dtype == answer["n_clusters"].dtype == np.int64
    assert (
        not answer[["agrees", "should_agree", "tolerance", "note", "compared_with", "cluster"]]
        .isna()
        .any(axis=None)
    )
    for name in ("cr0", "cr1", "cr2", "cr3"):
        want = quiet(UNEVEN.evalci.cluster_ci, "cluster", method=name).iloc[0]
        columns = ["estimate", "std_error", "ci_low", "ci_high", "df", "n", "n_clusters"]
        assert row(answer, name)[columns].tolist() == want[columns].tolist()
    want, got = quiet(UNEVEN.evalci.cluster_ci, "cluster").iloc[0], row(answer, "default")
    assert (got["ci_low"], got["ci_high"]) == (want["ci_low"], want["ci_high"])
    assert want["method"] in got["note"]


def test_theirs_are_what_statsmodels_gives():
    frame = codes(UNEVEN)
    answer = check(UNEVEN, confidence_level=0.9)
    for name, use_t in (("ols_cluster", False), ("ols_cluster_t", True)):
        results = smf.ols("score ~ 1", frame).fit(use_t=use_t, **clustered_by(frame["code"]))
        got = row(answer, name)
        assert_allclose(
            got[["ci_low", "ci_high"]].astype(float), results.conf_int(0.1).to_numpy()[0], rtol=1e-10
        )
    results = smf.gee(
        "score ~ 1", "code", frame, family=sm.families.Binomial(), cov_struct=sm.cov_struct.Exchangeable()
    )
    results = results.fit(ctol=1e-12)
    got, p = row(answer, "gee_exchangeable"), 1 / (1 + np.exp(-results.params.iloc[0]))
    assert_allclose([got["estimate"], got["std_error"]], [p, results.bse.iloc[0] * p * (1 - p)], rtol=1e-10)


def test_the_normal_quantile_is_said_with_how_much_it_matters():
    answer = check(UNEVEN)
    normal, t = row(answer, "ols_cluster"), row(answer, "ols_cluster_t")
    ratio = (normal["ci_high"] - normal["ci_low"]) / (t["ci_high"] - t["ci_low"])
    assert f"{100 * (1 - ratio):.2g}% narrower than t(7)" in normal["note"]
    assert np.isnan(normal["df"])
    assert t["df"] == 7
    assert "narrower" not in t["note"]


def test_exchangeable_estimates_another_mean_unless_sizes_are_equal():
    got = row(check(UNEVEN), "gee_exchangeable")
    assert not got["should_agree"]
    assert not got["agrees"]
    assert got["estimate_difference"] != 0
    assert "so it estimates another mean" in got["note"]
    got = row(check(frame_of(BENIGN)), "gee_exchangeable")
    assert got["should_agree"]
    assert got["agrees"]


def test_by_keeps_keys_and_agrees_with_single_calls():
    frame = pd.concat(
        [UNEVEN.assign(model=pd.Categorical(["A"] * len(UNEVEN), ["B", "A"])), frame_of(BENIGN, model="B")]
    )
    frame["model"] = frame["model"].astype(pd.CategoricalDtype(["B", "A"]))
    answer = check(frame.sample(frac=1, random_state=1), by="model")
    assert list(answer) == ["model", *COLUMNS]
    assert answer["model"].dtype == frame["model"].dtype
    one = check(UNEVEN).drop(columns="note")
    both = answer[answer["model"] == "A"].drop(columns=["model", "note"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(both, one, rtol=1e-9)


def test_order_of_rows_and_series_do_not_matter():
    shuffled = UNEVEN.sample(frac=1, random_state=3)
    want = check(UNEVEN).drop(columns="note")
    pd.testing.assert_frame_equal(check(shuffled).drop(columns="note"), want, rtol=1e-9)
    series = quiet(shuffled.set_index("cluster")["score"].evalci.crosscheck, "cluster")
    pd.testing.assert_frame_equal(series.drop(columns="note"), want, rtol=1e-9)


@pytest.mark.parametrize(
    "options", [{}, {"factor": "model"}, {"factor": "model", "pairs": [("boreal", "atlas")]}], ids=str
)
def test_cubes_give_the_frames_answer(rag, cube, options):
    keys = ["model_a", "model_b"] if "factor" in options else ["model"]
    want = check(rag, "doc_id", **options, **({"item": "item"} if "factor" in options else {"by": "model"}))
    for obj in (cube, cube["score"]):
        got = quiet(obj.evalci.crosscheck, "doc_id", **options)
        assert got.sizes["estimator"] == len(OURS + THEIRS)
        assert list(got.data_vars) == [name for name in COLUMNS if name != "estimator"]
        flat = got.to_dataframe().reset_index()[list(want)].sort_values(keys, kind="stable")
        other = want.sort_values(keys, kind="stable")
        pd.testing.assert_frame_equal(
            flat.reset_index(drop=True).drop(columns="note"), other.reset_index(drop=True).drop(columns="note"),
            check_dtype=False, rtol=1e-9, atol=1e-12,
        )  # fmt: skip


def test_a_cube_with_all_dims_reduced_and_clusters_that_differ():
    scores = xr.DataArray(
        np.array([[1, 0, 1, 1, 0, 1, np.nan, 0], [0, 1, 1, 0, 1, 1, 1, 0.0]]), dims=("model", "item"), name="score",
        coords={"doc": (("model", "item"), [[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 1, 2, 2, 3, 3, 4]])},
    )  # fmt: skip
    got = quiet(scores.evalci.crosscheck, "doc", dim=["item"], nan_policy="omit")
    flat = scores.to_dataframe().reset_index()
    want = check(flat, "doc", by="model", nan_policy="omit")
    assert_allclose(got["std_error"].to_numpy().ravel(), want["std_error"].to_numpy())
    whole = quiet(scores.evalci.crosscheck, "doc", dim=..., nan_policy="omit")
    assert_allclose(
        whole["std_error"].to_numpy(), check(flat, "doc", nan_policy="omit")["std_error"].to_numpy()
    )


@given(score_frames(fractional=True))
def test_any_scores_agree_where_they_should(frame):
    answer = check(frame, "doc", by="model")
    shown = answer[~answer["note"].str.contains("cannot be in a cluster|did not converge|not finite")]
    assert (shown["agrees"] == shown["should_agree"])[shown["estimator"] != "gee_exchangeable"].all()


@given(paired_frames(fractional=True))
def test_any_differences_agree_where_they_should(frame):
    answer = check(frame, "doc", factor="model", item="item")
    shown = answer[~answer["estimator"].isin(["gee_exchangeable", "glm_binomial_cluster"])]
    assert (shown["agrees"] == shown["should_agree"]).all()


def test_scores_beyond_the_unit_interval():
    frame = UNEVEN.assign(score=UNEVEN["score"] * 7e9 - 2e9 + np.arange(len(UNEVEN)))
    answer = check(frame)
    glm = row(answer, "glm_binomial_cluster")
    assert glm["note"].startswith("skipped: a binomial model")
    assert np.isnan(glm["estimate"])
    rest = answer[~answer["estimator"].isin(["glm_binomial_cluster", "gee_exchangeable"])]
    assert rest["agrees"].all()
    default = row(answer, "default")
    assert default["note"] == "method='cr2'"
    assert default["compared_with"] == "ols_cr2"
    assert default["relative_difference"] < 1e-10


@pytest.mark.parametrize(("size", "skipped"), [(1e-3, False), (1e-6, False), (1e-12, True)])
def test_tiny_scores_raise_no_false_alarm(size, skipped):
    frame = UNEVEN.assign(score=(1 + np.arange(len(UNEVEN)) * 7 % 11) * size)
    answer = check(frame)
    assert (answer["agrees"] == answer["should_agree"]).all()
    assert answer["note"].str.contains("too near for the logit").any() == skipped


# Two systems


def test_a_comparison_is_that_of_diff_ci():
    answer = check(PAIR, "doc", factor="model", item="item", pairs=[("A", "B")])
    assert list(answer) == ["model_a", "model_b", *COLUMNS]
    for name in ("cr0", "cr1", "cr2", "cr3", "auto"):
        want = quiet(PAIR.evalci.diff_ci, "model", item="item", cluster="doc", method=name).iloc[0]
        got = row(answer, "default" if name == "auto" else name)
        assert_allclose(
            got[["estimate", "std_error", "ci_low", "ci_high"]].astype(float),
            want[["difference", "std_error", "ci_low", "ci_high"]].astype(float),
            rtol=1e-12,
        )
    assert (answer["agrees"] == answer["should_agree"]).all()
    glm = row(answer, "glm_binomial_cluster")
    n = int(glm["n"])
    assert_allclose((1 + glm["relative_difference"]) ** 2, (2 * n - 1) / (2 * n - 2), rtol=1e-9)
    assert "(N-1)/(N-K)" in glm["note"]
    assert row(answer, "cr2")["df"] == pytest.approx(3.66, abs=0.2)


def test_a_comparison_reaches_every_pair_key_and_unmatched_items(rag):
    frame = rag[~((rag["model"] == "cascade") & (rag["item"] < 20))].assign(half=rag["item"] // 5 % 2)
    with pytest.raises(PairingError, match="unmatched='drop'"):
        check(frame, "doc_id", factor="model", item="item", by="half")
    answer = check(frame, "doc_id", factor="model", item="item", by="half", unmatched="drop")
    assert len(answer) == 2 * 3 * len(OURS + THEIRS)
    assert (answer["agrees"] == answer["should_agree"]).all()
    assert set(answer["n"]) == {100, 90}
    base = check(frame, "doc_id", factor="model", item="item", baseline="atlas", unmatched="drop")
    assert len(base) == 2 * len(OURS + THEIRS)


@pytest.mark.parametrize(
    "given_", [{"item": "item"}, {"pairs": [("A", "B")]}, {"baseline": "A"}, {"sample": "item"}], ids=str
)
def test_parts_of_a_comparison_need_a_factor(given_):
    with pytest.raises(MethodError, match=f"{next(iter(given_))}= belongs to a comparison.*factor="):
        check(PAIR, "doc", **given_)
    cube = (
        PAIR.set_index(["model", "item"])["score"]
        .to_xarray()
        .assign_coords(doc=("item", PAIR["doc"][: len(PAIR) // 2]))
    )
    with pytest.raises(MethodError, match="belongs to a comparison"):
        cube.evalci.crosscheck("doc", **given_)


# Nothing that varies


@pytest.mark.parametrize("value", [0, 1])
def test_all_pass_or_all_fail_shows_no_numbers_of_gee(value):
    frame = frame_of([4 * value, 3 * value, 5 * value], [4, 3, 5])
    answer = check(frame)
    for name in THEIRS:
        got = row(answer, name)
        assert not got["agrees"]
        assert not got["should_agree"]
        if name.startswith("ols"):
            assert "no variance" in got["note"]
            assert got["ci_low"] == pytest.approx(got["ci_high"]) == pytest.approx(value)
        else:
            assert f"did not converge: all scores are {value}" in got["note"]
            assert got[["estimate", "std_error", "ci_low", "ci_high"]].isna().all()
    assert row(answer, "default")["ci_low"] < row(answer, "default")["ci_high"]


def test_equal_cluster_rates_and_equal_differences_have_no_variance():
    answer = check(frame_of([2, 2, 2, 2], 4))
    assert not answer["agrees"][answer["package"] == "statsmodels"].any()
    assert answer["note"][answer["package"] == "statsmodels"].str.startswith("no variance").all()
    half = check(frame_of([2, 2, 2], 4).assign(score=0.5))
    assert half["note"][half["package"] == "statsmodels"].str.startswith("no variance").all()
    same = check(pair_frame(both=[2, 3, 1], neither=[1, 2, 2]), "doc", factor="model", item="item")
    assert not same["agrees"][same["package"] == "statsmodels"].any()
    assert same["note"][same["package"] == "statsmodels"].str.startswith("no variance").all()


def test_one_system_that_passes_all():
    frame = pair_frame(both=[2, 3, 1, 2], only_a=[1, 2, 2, 0])
    answer = check(frame, "doc", factor="model", item="item")
    assert row(answer, "glm_binomial_cluster")["note"].startswith(
        "did not converge: all scores of one system are 1"
    )
    assert (answer["agrees"] == answer["should_agree"]).all()


def test_a_fit_that_does_not_converge_shows_no_numbers(monkeypatch):
    monkeypatch.setattr(sm.GEE, "fit", _stopped(sm.GEE.fit))
    answer = check(UNEVEN)
    for name in ("gee_independence", "gee_exchangeable"):
        assert row(answer, name)["note"].startswith("did not converge")
        assert np.isnan(row(answer, name)["std_error"])
        assert not row(answer, name)["agrees"]


def _stopped(fit):
    def stopped(self, *args, **kwargs):
        results = fit(self, *args, **kwargs)
        results.converged = False
        return results

    return stopped


def test_a_failure_of_statsmodels_becomes_words(monkeypatch):
    def broken(self, *args, **kwargs):
        raise np.linalg.LinAlgError("broken on purpose")

    monkeypatch.setattr(sm.GLM, "fit", broken)
    assert "LinAlgError: broken on purpose" in row(check(UNEVEN), "glm_binomial_cluster")["note"]


def test_clusters_of_one_score_have_no_correlation():
    frame = frame_of([1, 0, 1, 1, 0, 1], 1)
    answer = check(frame)
    assert row(answer, "gee_exchangeable")["note"].startswith("skipped: every cluster holds one score")
    assert (answer["agrees"] == answer["should_agree"]).all()


def test_groups_without_scores():
    frame = pd.concat([UNEVEN.assign(model="A"), UNEVEN.assign(model="B", score=np.nan)])
    with pytest.warns(MissingScoreWarning):
        answer = frame.evalci.crosscheck("cluster", by="model", nan_policy="omit")
    empty = answer[answer["model"] == "B"]
    assert empty["estimate"].isna().all()
    assert not empty["agrees"].any()
    assert (empty["n"] == 0).all()
    assert empty["note"].str.contains("no scores").all()


# Ids and missing values


IDS = {
    "strings": lambda c: [f"日本 {i}" for i in c],
    "categorical": lambda c: pd.Categorical([f"c{i}" for i in c], [f"c{i}" for i in range(20)][::-1]),
    "Int64": lambda c: pd.array(c, dtype="Int64"),
    "64-bit": lambda c: np.array(c, dtype=np.int64) + 2**62,
    "unsigned": lambda c: np.array(c, dtype=np.uint64) * np.uint64(2**55) + np.uint64(2**63),
    "negative": lambda c: -np.array(c, dtype=np.int64) * 10**15,
    "dates": lambda c: pd.to_datetime("2026-01-01") + pd.to_timedelta(c, unit="D"),
    "pyarrow": lambda c: pd.array([f"c{i}" for i in c], dtype="string[pyarrow]"),
    "Arrow integers": lambda c: pd.array(np.array(c, dtype=np.int64) + 2**53, dtype="int64[pyarrow]"),
    "objects": lambda c: np.array([2**53 + int(i) for i in c], dtype=object),
    "tuples": lambda c: pd.Series([("a", int(i)) for i in c]),
    "floats": lambda c: np.array(c) + 0.5,
}


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_any_dtype(kind):
    plain = codes(UNEVEN)
    want = check(plain, "code").drop(columns=["note", "cluster"])
    answer = check(UNEVEN.assign(cluster=IDS[kind](plain["code"])))
    pd.testing.assert_frame_equal(answer.drop(columns=["note", "cluster"]), want, rtol=1e-9)
    pair = codes(PAIR, "doc")
    want = check(pair, "code", factor="model", item="item").drop(columns=["note", "cluster"])
    got = check(PAIR.assign(doc=IDS[kind](pair["code"])), "doc", factor="model", item="item").drop(
        columns=["note", "cluster"]
    )
    pd.testing.assert_frame_equal(got, want, rtol=1e-9)


def test_string_clusters_of_the_case():  # dtype-02
    frame = pd.DataFrame(
        {"score": [1, 1, 1, 0, 0, 0, 1, 1], "cluster": ["ä", "ä", "b", "b", "日本", "日本", "d", "d"]}
    )
    assert row(check(frame), "ols_cluster_t")["std_error"] == pytest.approx(0.239357, abs=1e-6)


def test_missing_scores_of_the_case():  # nan-03
    frame = pd.DataFrame({"score": [1, 0, np.nan, 1, 1, 0, 1, np.nan], "cluster": list("aabbccdd")})
    with pytest.raises(MissingScoreError):
        check(frame)
    answer = check(frame, nan_policy="omit")
    assert set(answer["n"]) == {6}
    assert row(answer, "ols_cluster_t")["std_error"] == pytest.approx(0.1283, abs=1e-6)
    assert (answer["agrees"] == answer["should_agree"])[answer["estimator"] != "gee_exchangeable"].all()


def test_missing_ids_are_refused_and_go_with_a_missing_score():
    frame = UNEVEN.assign(cluster=pd.array(pd.factorize(UNEVEN["cluster"])[0], dtype="Int64"))
    frame.loc[frame.index[3], "cluster"] = pd.NA
    with pytest.raises(MissingClusterError):
        check(frame)
    frame["score"] = frame["score"].astype(float)
    frame.loc[frame.index[3], "score"] = np.nan
    answer = check(frame, nan_policy="omit")
    pd.testing.assert_frame_equal(answer, check(UNEVEN.drop(index=UNEVEN.index[3])), rtol=1e-9)


def test_the_callers_data_stay_as_they_are():
    before = UNEVEN.copy(deep=True)
    check(UNEVEN)
    pd.testing.assert_frame_equal(UNEVEN, before)


# What it is for: a variance of ours that is wrong


def break_rates(monkeypatch, kind, more=1.00001):
    """A variance of a mean that is a little too large."""
    whole = moments.cr_variance
    monkeypatch.setattr(
        moments, "cr_variance", lambda t, mo, k: whole(t, mo, k) * (more if k == kind else 1.0)
    )


def break_differences(monkeypatch, kind, **more):
    """A variance of a difference, or its degrees of freedom, that is a little too large."""
    whole = difference.pair_variance

    def broken(t, which):
        found = whole(t, which)
        if which != kind:
            return found
        return dataclasses.replace(
            found, **{name: getattr(found, name) * factor for name, factor in more.items()}
        )

    monkeypatch.setattr(difference, "pair_variance", broken)


def caught(answer):
    return answer["estimator"][answer["should_agree"] & ~answer["agrees"]].tolist()


@pytest.mark.parametrize("kind", ["cr0", "cr1", "cr2", "cr3"])
def test_a_broken_variance_is_found(kind, monkeypatch):
    break_rates(monkeypatch, kind)
    answer = check(UNEVEN)
    assert set(caught(answer)) == {
        name for name, ours in _crosscheck.COUNTERPART.items() if ours == kind and name != "gee_exchangeable"
    }
    assert not check(UNEVEN, tolerance=1e-3)["agrees"][answer["should_agree"]].eq(False).any()


def test_broken_degrees_of_freedom_are_found(monkeypatch):
    whole = moments.satterthwaite_df
    monkeypatch.setattr(moments, "satterthwaite_df", lambda t, mo, k: whole(t, mo, k) * 1.00001)
    assert caught(check(UNEVEN)) == ["ols_cr2"]
    break_differences(monkeypatch, "cr2", df=1.00001)
    assert caught(check(PAIR, "doc", factor="model", item="item")) == ["ols_cr2"]


def test_a_broken_default_of_wide_scores_is_found(monkeypatch):
    frame = UNEVEN.assign(score=UNEVEN["score"] * 7 - 2)
    assert row(check(frame), "default")["agrees"]
    break_rates(monkeypatch, "cr2")
    assert caught(check(frame)) == ["default", "ols_cr2"]


@pytest.mark.parametrize("kind", ["cr0", "cr1", "cr2", "cr3"])
def test_a_broken_variance_of_a_difference_is_found(kind, monkeypatch):
    break_differences(monkeypatch, kind, value=1.00001)
    answer = check(PAIR, "doc", factor="model", item="item")
    assert set(caught(answer)) == {
        name
        for name, ours in _crosscheck.COUNTERPART.items()
        if ours == kind and name != "glm_binomial_cluster"
    }


def test_a_broken_estimate_is_found(monkeypatch):
    def moved(function):
        def broken(*args, **kwargs):
            result = function(*args, **kwargs)
            return dataclasses.replace(result, estimate=result.estimate + 1e-4)

        return broken

    monkeypatch.setattr(_crosscheck, "rate", moved(clustered.rate))
    answer = check(UNEVEN)
    assert not answer["agrees"][answer["package"] == "statsmodels"].any()
    assert row(answer, "default")["agrees"]
    monkeypatch.setattr(_crosscheck, "estimate", moved(_crosscheck.estimate))
    default = row(check(UNEVEN), "default")
    assert not default["agrees"]
    assert default["estimate_difference"] == pytest.approx(-1e-4)


# Large data


def test_a_hundred_thousand_rows_take_seconds():
    rng = np.random.default_rng(0)
    doc = np.repeat(np.arange(5000), 20)
    frame = pd.DataFrame(
        {
            "score": (rng.random(len(doc)) < rng.beta(2, 1, 5000)[doc]).astype(int),
            "doc": [f"d{i}" for i in doc],
        }
    )
    start = time.process_time()
    answer = check(frame, "doc")
    assert time.process_time() - start < 20
    assert (answer["agrees"] == answer["should_agree"]).all()
    assert answer["estimate"].notna().all()


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [("MAX_ROWS", 30, "47 rows are more than 30"), ("MAX_CLUSTERS", 7, "8 clusters are more than 7"), ("MAX_CUBES", 100, "cubes")],
)  # fmt: skip
def test_gee_is_skipped_above_a_size(limit, value, reason, monkeypatch):
    monkeypatch.setattr(crosscheck, limit, value)
    answer = check(UNEVEN)
    skipped = answer[answer["note"].str.startswith("skipped")]
    assert skipped["note"].str.contains(reason).all()
    gees = [name for name in THEIRS if name.startswith("gee")]
    assert skipped["estimator"].tolist() == (
        ["gee_independence_bias_reduced"] if limit == "MAX_CUBES" else gees
    )
    assert skipped["estimate"].isna().all()


def test_the_sizes_are_those_of_the_docstring(rag, cube):
    for obj in (rag, cube):
        text = " ".join(type(obj.evalci).crosscheck.__doc__.split())
        assert f"{crosscheck.MAX_ROWS:,} rows or {crosscheck.MAX_CLUSTERS:,} clusters" in text
        assert "1e11" in text
        assert crosscheck.MAX_CUBES == 1e11


def test_progress_is_shown(monkeypatch):
    seen = []
    monkeypatch.setattr(
        _crosscheck, "progress", lambda items, **words: seen.append((len(items), words)) or items
    )
    check(UNEVEN)
    assert seen == [(len(OURS + THEIRS), {"label": "crosscheck", "unit": "fit"})]


# A model of the caller's

CODED = codes(UNEVEN)
OLS, BINOMIAL = smf.ols("score ~ 1", CODED), sm.families.Binomial  # whose instances keep a state
MODELS = {
    "cluster": (lambda: OLS.fit(**clustered_by(CODED["code"])), "cr1", "normal quantile"),
    "t": (lambda: OLS.fit(use_t=True, **clustered_by(CODED["code"])), "cr1", ""),
    "no factor": (
        lambda: OLS.fit(**clustered_by(CODED["code"], use_correction=False)),
        "cr0",
        "CR0 against CR1",
    ),
    "logit": (
        lambda: smf.logit("score ~ 1", CODED).fit(disp=0, **clustered_by(CODED["code"])),
        "cr1",
        "normal quantile",
    ),
    "probit": (
        lambda: smf.probit("score ~ 1", CODED).fit(disp=0, **clustered_by(CODED["code"])),
        "cr1",
        "normal quantile",
    ),
    "glm": (
        lambda: smf.glm("score ~ 1", CODED, family=BINOMIAL()).fit(**clustered_by(CODED["code"])),
        "cr1",
        "normal quantile",
    ),
    "gee": (lambda: smf.gee("score ~ 1", "code", CODED, family=BINOMIAL()).fit(), "cr0", "CR0 against CR1"),
    "bias reduced": (
        lambda: smf.gee("score ~ 1", "code", CODED, family=BINOMIAL()).fit(cov_type="bias_reduced"),
        "cr3",
        "CR3",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_agrees(name):
    fit, counterpart, words = MODELS[name]
    got = against(UNEVEN, fit())
    assert got["agrees"]
    assert got["should_agree"]
    assert got["compared_with"] == counterpart
    assert words in got["note"]
    assert (got["n"], got["n_clusters"]) == (47, 8)


def counts_of_clusters():
    table = UNEVEN.groupby("cluster")["score"].agg(["sum", "size"])
    both = np.stack([table["sum"], table["size"] - table["sum"]], axis=1)
    return sm.GLM(both, np.ones((len(both), 1)), family=BINOMIAL()).fit(cov_type="HC0")


def test_counts_of_passes_and_failures():
    got = against(UNEVEN, counts_of_clusters())
    assert got["agrees"]
    assert (got["compared_with"], got["n"]) == ("cr0", 47)


DIFFERENT = {
    "classical": (lambda: OLS.fit(), "takes the items as independent"),
    "HC1": (lambda: OLS.fit(cov_type="HC1"), "independent (cov_type='hc1')"),
    "HC3": (lambda: OLS.fit(cov_type="HC3"), "independent (cov_type='hc3')"),
    "binomial": (lambda: smf.logit("score ~ 1", CODED).fit(disp=0), "takes the items as independent"),
    "naive": (lambda: smf.gee("score ~ 1", "code", CODED, family=BINOMIAL()).fit(cov_type="naive"), "independent"),
    "HAC": (lambda: OLS.fit(cov_type="HAC", cov_kwds={"maxlags": 2}), "its error is not clustered"),
    "exchangeable": (
        lambda: smf.gee("score ~ 1", "code", CODED, family=BINOMIAL(), cov_struct=sm.cov_struct.Exchangeable()).fit(),
        "another estimand: the working correlation Exchangeable",
    ),
    "regressor": (
        lambda: smf.ols("score ~ code", CODED).fit(**clustered_by(CODED["code"])), "another estimand: the model also holds 'code'",
    ),
    "weights": (
        lambda: smf.wls("score ~ 1", CODED, weights=1.0 + CODED["code"]).fit(**clustered_by(CODED["code"])),
        "has weights, and none are given here; pass them with weights=",
    ),
    "rows": (lambda: smf.ols("score ~ 1", CODED[5:]).fit(**clustered_by(CODED["code"][5:])), "dropped rows: fitted on 42 rows"),
    "merged": (
        lambda: OLS.fit(**clustered_by(CODED["code"] // 2)),
        "other clusters: 4 there, 8 here (a coarser clustering, or ids merged, rounded or cut off)",
    ),
    "items": (lambda: OLS.fit(**clustered_by(np.arange(47))), "other clusters: 47 there, 8 here"),
    "sizes": (lambda: OLS.fit(**clustered_by(np.arange(47) % 8)), "as many, but of other sizes"),
    "order": (lambda: OLS.fit(**clustered_by(CODED["code"].sample(frac=1, random_state=1))), "in the order of its rows"),
    "two ways": (
        lambda: OLS.fit(**clustered_by(np.stack([CODED["code"], np.arange(47) % 3], axis=1))),
        "it is clustered two ways, and 'cluster' alone is named here; name both in a list, as cluster=['cluster', ...]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_the_reason_of_a_difference_is_named(name):
    fit, words = DIFFERENT[name]
    got = against(UNEVEN, fit())
    assert not got["agrees"]
    assert not got["should_agree"]
    assert words in got["note"]


def test_a_model_with_weights():
    frame = CODED.assign(w=1.0 + np.arange(len(CODED)) % 4)
    results = smf.wls("score ~ 1", frame, weights=10 * frame["w"]).fit(
        use_t=True, **clustered_by(frame["code"])
    )
    got = against(frame, results, weights="w")
    assert got["agrees"]
    assert got["note"] == ""
    other = smf.wls("score ~ 1", frame, weights=frame["w"] ** 2).fit(**clustered_by(frame["code"]))
    assert "other weights than those given here" in against(frame, other, weights="w")["note"]
    none = OLS.fit(**clustered_by(frame["code"]))
    assert "weights are given here, and the model has none" in against(frame, none, weights="w")["note"]
    plain = smf.wls("score ~ 1", frame, weights=frame["w"])
    for cov_type in ("nonrobust", "HC0", "HC3"):
        assert (
            "takes the items as independent"
            in against(frame, plain.fit(cov_type=cov_type), weights="w")["note"]
        )


def test_a_mixed_model_is_another_estimand():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = smf.mixedlm("score ~ 1", CODED, groups="code").fit()
        got = against(UNEVEN, results)
    assert "another estimand: MixedLM" in got["note"]


def test_clusters_merged_by_missing_ids():
    lacking = CODED.assign(code=CODED["code"].astype(float).where(np.arange(47) % 6 > 0))
    results = smf.ols("score ~ 1", lacking).fit(**clustered_by(lacking["code"]))
    with pytest.raises(MissingClusterError):
        check(lacking, "code", against=results)
    got = against(lacking.dropna(), results, "code")
    assert "clusters merged by missing ids: 8 rows there have no cluster id" in got["note"]
    assert "fitted on 47 rows, here 39" in got["note"]
    marked = lacking.assign(code=lacking["code"].fillna(-1).astype(int))
    results = smf.gee("score ~ 1", "code", marked, family=BINOMIAL()).fit()
    assert "8 rows there have the code -1" in against(lacking.dropna(), results, "code")["note"]


def test_rows_that_statsmodels_left_out():
    lacking = CODED.assign(score=CODED["score"].astype(float).where(np.arange(47) != 3))
    results = smf.ols("score ~ 1", lacking).fit(**clustered_by(lacking["code"].drop(index=lacking.index[3])))
    got = against(lacking.fillna(0), results, "code")
    assert "fitted on 46 rows, here 47 (statsmodels left out 1 with something missing)" in got["note"]


TWO = codes(PAIR, "doc")
OF = {"cluster": "doc", "factor": "model", "item": "item", "pairs": [("A", "B")]}


@pytest.mark.parametrize(
    ("formula", "contrast"),
    [("score ~ model", None), ("score ~ C(model, Sum)", None), ("score ~ 0 + model", "model[A] - model[B]")],
)
def test_the_difference_is_found(formula, contrast):
    results = smf.gee(formula, "code", TWO).fit()
    got = against(PAIR, results, contrast=contrast, **OF)
    assert got["agrees"]
    assert got["compared_with"] == "cr0"
    results = smf.ols(formula, TWO).fit(**clustered_by(TWO["code"]))
    got = against(PAIR, results, contrast=contrast, **OF)
    assert not got["agrees"]
    assert "further factor (N-1)/(N-K)" in got["note"]


def test_differences_of_items_the_other_way_round():
    wide = PAIR.pivot(index="item", columns="model", values="score").assign(
        doc=PAIR["doc"][: len(PAIR) // 2].to_numpy()
    )
    results = sm.OLS(wide["B"] - wide["A"], np.ones(len(wide))).fit(use_t=True, **clustered_by(wide["doc"]))
    got = against(PAIR, results, **OF)
    assert got["agrees"]
    assert got["estimate"] > 0
    assert "the other way round" in got["note"]


def test_the_logit_of_two_systems_by_the_delta_method():
    results = smf.gee("score ~ model", "code", TWO, family=BINOMIAL()).fit()
    assert against(PAIR, results, **OF)["agrees"]
    more = smf.logit("score ~ model + code", TWO).fit(disp=0)
    got = against(PAIR, more, contrast="model[T.B]", **OF)
    assert "another estimand: on the scale of the model's link" in got["note"]
    apart = smf.ols("score ~ model", TWO).fit()
    assert "as measured on different ones" in against(PAIR, apart, **OF)["note"]


@pytest.mark.parametrize(
    ("results", "options", "words"),
    [
        (lambda: OLS, {}, "Call its .fit() first"),
        (lambda: "model", {}, "got str"),
        (lambda: OLS.fit(), {"contrast": "nope"}, "none of the coefficients of the model ('Intercept')"),
        (lambda: smf.ols("score ~ 0 + cluster", CODED).fit(), {}, "cannot be told"),
        (lambda: OLS.fit(), {"by": "cluster_kind"}, "2 estimates are asked for"),
        (lambda: None, {"contrast": "Intercept"}, "pass it with against="),
        (lambda: None, {"tolerance": -1}, "tolerance=-1"),
        (lambda: None, {"confidence_level": 95}, "Did you mean 0.95"),
    ],
)
def test_what_cannot_be_compared_is_refused(results, options, words):
    frame = UNEVEN.assign(cluster_kind=np.arange(len(UNEVEN)) % 2)
    with pytest.raises(MethodError) as error:
        check(frame, against=results(), **options)
    assert words in str(error.value)


def test_other_refusals(cube):
    for obj in (UNEVEN, cube):
        with pytest.raises(MethodError, match="needs a clustering"):
            obj.evalci.crosscheck(None)
        with pytest.raises(ClusterError, match="names no clustering"):
            obj.evalci.crosscheck([])
    with pytest.raises(ClusterError, match="single cluster"):
        check(UNEVEN.assign(cluster="only"))
    with pytest.raises(AmbiguousNameError, match="'estimator'"):
        check(UNEVEN.assign(estimator=1), by="estimator")
    with pytest.raises(AmbiguousNameError, match="'note'"):
        cube.assign_coords(note=("model", [1, 2, 3])).evalci.crosscheck("doc_id")
    with pytest.raises(MethodError, match="3 estimates are asked for"):
        cube.evalci.crosscheck("doc_id", against=OLS.fit())
