"""Crossed clusterings beside those of statsmodels, which takes two: rates, differences, weights, fitted models."""

import dataclasses
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from strategies import quiet

from evalci_accessor.crosscheck import estimators as crosscheck
from evalci_accessor.exceptions import (
    CrossedVarianceWarning,
    EvalCIWarning,
    MethodError,
    MissingClusterError,
    NestedClustersWarning,
)
from evalci_accessor.methods import crosscheck as _crosscheck
from evalci_accessor.stats.pairs import matched as pair_variance
from evalci_accessor.stats.rates import crossed

SANDWICH = json.loads((Path(__file__).parents[1] / "reference" / "crossed.json").read_text(encoding="utf-8"))[
    "data"
]
PACKAGES = json.loads(
    (Path(__file__).parents[1] / "reference" / "other_packages.json").read_text(encoding="utf-8")
)
BOTH = ["doc", "prompt"]
TWO_WAY = ["ols_cluster", "ols_cluster_t", "ols_cr2", "glm_binomial_cluster"]
GEES = [name for name in crosscheck.ESTIMATORS if name.startswith("gee")]


def check(frame, cluster=None, **options):
    return quiet(frame.evalci.crosscheck, BOTH if cluster is None else cluster, **options)


def row(answer, estimator):
    found = answer[answer["estimator"] == estimator]
    assert len(found) == 1
    return found.iloc[0]


def told(category, frame, cluster, **options):
    """The answer of a call that warns so, whatever else it warns of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("error")
        warnings.filterwarnings("always", category=EvalCIWarning)
        answer = frame.evalci.crosscheck(cluster, **options)
    assert category in [one.category for one in seen]
    return answer


def made(seed=0, n_docs=9, n_prompts=6, models=("a", "b"), lost=0.2):
    """Rows of 0/1 scores in which documents and prompts both matter; some items lack, so that no cluster is like another."""
    rng = np.random.default_rng(seed)
    shape = (len(models), n_docs, n_prompts)
    effect = rng.normal(size=(1, n_docs, 1)) + rng.normal(size=(1, 1, n_prompts)) + rng.normal(size=shape)
    effect += 0.7 * rng.normal(size=(len(models), n_docs, 1)) + 0.7 * rng.normal(
        size=(len(models), 1, n_prompts)
    )
    model, doc, prompt = (axis.ravel() for axis in np.indices(shape))
    kept = (rng.random(n_docs * n_prompts) >= lost)[doc * n_prompts + prompt]
    weights = rng.lognormal(size=n_docs * n_prompts)[doc * n_prompts + prompt]
    frame = pd.DataFrame(
        {
            "model": np.array(models)[model], "doc": [f"d{i}" for i in doc], "prompt": prompt, "item": doc * n_prompts + prompt,
            "w": weights, "score": (effect.ravel() > -0.5).astype(np.int64),
        }
    )  # fmt: skip
    return frame[kept].sample(frac=1, random_state=seed).reset_index(drop=True)


PAIR = {"factor": "model", "item": "item"}
ONE = made().query("model == 'a'").reset_index(drop=True)


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("options", [{"by": "model"}, PAIR], ids=["rate", "difference"])
def test_two_ways_agree_on_made_data(options, weights):
    answer = pd.concat(check(made(seed), weights=weights, **options) for seed in range(8))
    assert (answer["agrees"] == answer["should_agree"]).all()
    least = answer[answer["estimator"].isin(["ols_cluster", "ols_cluster_t", "ols_cr2"])]
    positive = least[~least["note"].str.contains("is negative")]  # of one seed the differences' variance is
    assert len(positive) > 0.8 * len(least)
    assert positive["agrees"].all()
    assert positive["relative_difference"].abs().max() < 1e-10
    assert positive["estimate_difference"].abs().max() < 1e-10
    assert set(answer["cluster"]) == {"doc + prompt"}
    assert set(answer["n_clusters"]) == {6}
    assert (answer["df"][answer["estimator"] == "cr1"] == 5).all()
    assert (positive["df"][positive["estimator"] == "ols_cluster_t"] == 5).all()
    assert (
        answer["note"][answer["estimator"].isin(GEES)]
        .str.startswith("skipped: GEE takes one clustering")
        .all()
    )


def test_ours_are_those_of_the_methods_checked():
    frame = made()
    one = frame[frame["model"] == "a"]
    answer, pair = check(one), check(frame, **PAIR)
    for name in ("cr0", "cr1", "cr2", "cr3", "default"):
        method = "auto" if name == "default" else name
        want = quiet(one.evalci.cluster_ci, BOTH, method=method).iloc[0]
        columns = ["estimate", "std_error", "ci_low", "ci_high", "df", "n", "n_clusters", "cluster"]
        pd.testing.assert_series_equal(row(answer, name)[columns], want[columns], check_names=False)
        want = quiet(frame.evalci.diff_ci, cluster=BOTH, method=method, **PAIR).iloc[0]
        columns = ["estimate", "std_error", "ci_low", "ci_high"]
        assert_allclose(
            row(pair, name)[columns].astype(float),
            want[["difference", *columns[1:]]].astype(float),
            rtol=1e-12,
        )
    assert list(answer) == list(_crosscheck.CROSSCHECK_COLUMNS)


def test_theirs_are_what_statsmodels_gives():
    frame = made().query("model == 'a'")
    groups = np.stack([pd.factorize(frame[name])[0] for name in BOTH], axis=1)
    answer = check(frame, confidence_level=0.9)
    for name, use_t in (("ols_cluster", False), ("ols_cluster_t", True)):
        results = smf.ols("score ~ 1", frame).fit(
            cov_type="cluster", cov_kwds={"groups": groups}, use_t=use_t
        )
        assert_allclose(
            row(answer, name)[["ci_low", "ci_high"]].astype(float),
            results.conf_int(0.1).to_numpy()[0],
            rtol=1e-10,
        )
    results = sm.GLM(frame["score"], np.ones(len(frame)), family=sm.families.Binomial())
    results = results.fit(cov_type="cluster", cov_kwds={"groups": groups}, tol=1e-12)
    p = row(answer, "cr1")["estimate"]
    assert_allclose(
        row(answer, "glm_binomial_cluster")["std_error"], results.bse.iloc[0] * p * (1 - p), rtol=1e-8
    )


def test_two_ways_of_sandwich():
    data = PACKAGES["two_way"]
    frame = pd.DataFrame({"score": data["y"], "g": data["g"], "h": data["h"]})
    frame["both"] = frame["g"] * 100 + frame["h"]
    terms = [row(check(frame, name), "ols_cluster_t")["std_error"] ** 2 for name in ("g", "h", "both")]
    assert_allclose(terms, data["terms"], rtol=1e-10)
    answer = check(frame, ["g", "h"])
    for name in ("cr1", "ols_cluster_t"):
        assert_allclose(row(answer, name)["std_error"] ** 2, data["vcovCL"], rtol=1e-10)


@pytest.mark.parametrize("name", SANDWICH)
def test_two_and_three_ways_of_sandwich(name):
    data = SANDWICH[name]
    frame = pd.DataFrame({key: data[key] for key in "abc"} | {"score": data["y"]})
    for cluster, ways in ((["a", "b"], "two"), (["a", "b", "c"], "three")):
        if ways not in data:
            continue
        answer = check(frame, cluster)
        assert (answer["agrees"] == answer["should_agree"]).all()
        for estimator in ("cr0", "cr1", *(["ols_cluster_t"] if ways == "two" else [])):
            kind = _crosscheck.COUNTERPART.get(estimator, estimator)
            assert_allclose(row(answer, estimator)["std_error"] ** 2, data[ways][kind], rtol=1e-10)


@pytest.mark.parametrize(
    ("file", "cluster", "options"),
    [
        ("gsm_symbolic_en_da.csv", ["template", "variant"], {"score": "correct", "by": ["model", "lang"]}),
        ("jailbreakbench.csv", ["category", "attack"], {"score": "jailbroken", "by": "model"}),
        ("jailbreakbench.csv", ["behavior", "attack"], {"score": "jailbroken", "by": "model"}),
        (
            "gsm_symbolic_en_da.csv", ["template", "variant"],
            {"score": "correct", "by": "lang", "factor": "model", "item": ["template", "variant"], "unmatched": "drop"},
        ),
    ],
)  # fmt: skip
def test_real_data_agree_where_they_should(file, cluster, options, data_dir):
    frame = pd.read_csv(data_dir / file)
    if file.startswith("jailbreak"):
        frame = frame[frame["attack"] != "test-artifact"]  # of a single category
    answer = check(frame, cluster, **options)
    assert (answer["agrees"] == answer["should_agree"]).all()
    shown = answer[(answer["estimator"] == "ols_cluster_t") & answer["should_agree"]]
    assert len(shown)
    assert shown["relative_difference"].abs().max() < 1e-10


@pytest.mark.parametrize("options", [{"by": "model"}, PAIR], ids=["rate", "difference"])
def test_cubes_give_the_frames_answer(options):
    frame = made(lost=0).sort_values(["model", "item"])
    cube = frame.set_index(["model", "doc", "prompt"])[["score", "w"]].to_xarray()
    want = check(frame, weights="w", **options)
    asked = {} if "by" in options else {"factor": "model", "item": BOTH}
    for weights in ("w", cube["w"].isel(model=0)):
        got = quiet(cube.evalci.crosscheck, BOTH, weights=weights, **asked)
        flat = got.to_dataframe().reset_index()
        keys = ["model"] if "by" in options else ["pair"]
        flat = flat.sort_values(keys, kind="stable").reset_index(drop=True)
        pd.testing.assert_frame_equal(
            flat[list(want)].drop(columns="note"), want.drop(columns="note"), check_dtype=False, rtol=1e-9, atol=1e-12
        )  # fmt: skip
    array = quiet(cube["score"].evalci.crosscheck, BOTH, **asked)
    assert_allclose(array["std_error"], quiet(cube.evalci.crosscheck, BOTH, **asked)["std_error"])
    series = quiet(frame.set_index([*BOTH, "model"])["score"].evalci.crosscheck, BOTH, by="model")
    assert_allclose(series["std_error"], check(frame, by="model")["std_error"], rtol=1e-9)


def test_cubes_with_clusters_that_differ_and_missing_scores():
    frame = made(lost=0).assign(
        judge=lambda f: np.random.default_rng(1).integers(0, 4, len(f)), score=lambda f: f["score"] * 1.0
    )
    frame.loc[[3, 50], "score"] = np.nan
    cube = frame.set_index(["model", "doc", "prompt"])[["score", "judge"]].to_xarray().set_coords("judge")
    got = quiet(cube.evalci.crosscheck, ["doc", "judge"], dim=BOTH, nan_policy="omit")
    want = check(frame, ["doc", "judge"], by="model", nan_policy="omit").set_index(["model", "estimator"])
    got = got.to_dataframe().reorder_levels(["model", "estimator"]).loc[want.index]
    assert_allclose(got["std_error"], want["std_error"], rtol=1e-9)
    assert (got["agrees"] == got["should_agree"]).all()


# Three


@pytest.mark.parametrize("options", [{"by": "model"}, PAIR], ids=["rate", "difference"])
def test_three_ways_are_more_than_statsmodels_takes(options):
    frame = made(2, n_docs=12, n_prompts=8)
    frame["judge"] = frame["item"] * 7 % 5
    answer = check(frame, [*BOTH, "judge"], **options)
    assert set(answer["cluster"]) == {"doc + prompt + judge"}
    assert (answer["agrees"] == answer["should_agree"]).all()
    theirs = answer[answer["estimator"].isin(["ols_cluster", "ols_cluster_t", "glm_binomial_cluster"])]
    assert (theirs["note"] == "skipped: statsmodels takes 2 clusterings at most, and here are 3").all()
    assert theirs["estimate"].isna().all()
    made_here = answer[answer["estimator"] == "ols_cr2"]
    assert made_here["agrees"].all()
    assert made_here["relative_difference"].abs().max() < 1e-10
    default = answer[answer["estimator"] == "default"]
    assert (default["compared_with"] == "ols_cr2").all()
    assert default["agrees"].all()


# Nested


def test_nested_clusterings_are_the_coarsest_alone():
    frame = made().assign(topic=lambda f: f["doc"].str[1:].astype(int) // 2)
    for options in ({"by": "model"}, PAIR):
        got = told(NestedClustersWarning, frame, ["doc", "topic"], **options)
        pd.testing.assert_frame_equal(got, check(frame, "topic", **options))
        pd.testing.assert_frame_equal(check(frame, ["doc"], **options), check(frame, "doc", **options))
        got = check(frame, ["doc", "prompt", "topic"], **options)
        pd.testing.assert_frame_equal(got, check(frame, ["prompt", "topic"], **options))


# Negative variances

NEGATIVE = pd.DataFrame(
    {"score": [1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1], "doc": list("aaaabbbbcccc"), "prompt": list("wxyz" * 3)}
)


def is_negative(answer, names):
    for name in names:
        got = row(answer, name)
        assert not got["agrees"]
        assert not got["should_agree"]
        assert np.isfinite(got["estimate"])
        assert np.isnan(got["std_error"])
        assert got["note"].startswith("its variance over the crossed clusterings is negative (-")
    for name in ("cr0", "cr1", "cr2"):
        assert row(answer, name)["note"].startswith("the variance over the crossed clusterings is negative")


def test_a_negative_variance_is_said():
    answer = check(NEGATIVE)
    is_negative(answer, TWO_WAY)
    assert row(answer, "default")["agrees"]
    wide = check(NEGATIVE.assign(score=NEGATIVE["score"] * 7 - 2))
    default = row(wide, "default")
    assert default["agrees"]
    assert "stands in, so only the estimate is compared: its estimate equals" in default["note"]
    told(CrossedVarianceWarning, NEGATIVE.assign(score=NEGATIVE["score"] * 7 - 2), BOTH)


def test_a_negative_variance_of_a_difference_is_said():
    one = NEGATIVE.assign(item=np.arange(12), model="A")
    frame = pd.concat([one, one.assign(model="B", score=0)])
    answer = check(frame, **PAIR)
    is_negative(answer, ["ols_cluster", "ols_cluster_t", "ols_cr2"])
    graded = frame.assign(score=frame["score"] * 3)
    answer = told(CrossedVarianceWarning, graded, BOTH, **PAIR)
    assert "so only the estimate is compared: its estimate equals" in row(answer, "default")["note"]
    assert row(answer, "default")["agrees"]


def test_a_negative_variance_of_a_model_is_named():
    groups = np.stack([pd.factorize(NEGATIVE[name])[0] for name in BOTH], axis=1)
    results = smf.ols("score ~ 1", NEGATIVE).fit(cov_type="cluster", cov_kwds={"groups": groups})
    got = row(check(NEGATIVE, against=results), "against")
    assert not got["agrees"]
    assert not got["should_agree"]
    assert (
        "is negative, so that it has no error; ours over the crossed clusterings is negative" in got["note"]
    )


def test_groups_without_scores():
    frame = pd.concat([made(), made(models=["c"]).assign(score=np.nan)])
    answer = check(frame, by="model", nan_policy="omit")
    empty = answer[answer["model"] == "c"]
    assert (empty[["n", "n_clusters"]] == 0).all(axis=None)
    assert empty["estimate"].isna().all()
    assert not empty["agrees"].any()
    rest = answer[answer["model"] != "c"].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest, check(made(), by="model"), rtol=1e-9)


def test_ids_of_any_kind_and_missing_ones():
    want = check(ONE).drop(columns="note")
    days = pd.to_datetime("2026-01-01") + pd.to_timedelta(ONE["prompt"], unit="D")
    other = ONE.assign(doc=pd.Categorical(ONE["doc"]), prompt=days)
    pd.testing.assert_frame_equal(check(other).drop(columns="note"), want, rtol=1e-9)
    lacking = ONE.assign(
        prompt=ONE["prompt"].astype("Int64").where(ONE.index != 4), score=ONE["score"].astype(float)
    )
    with pytest.raises(MissingClusterError):
        check(lacking)
    lacking.loc[4, "score"] = np.nan
    pd.testing.assert_frame_equal(check(lacking, nan_policy="omit"), check(ONE.drop(index=4)), rtol=1e-9)


def test_nothing_that_varies():
    answer = check(NEGATIVE.assign(score=1))
    assert not answer["agrees"][answer["package"] == "statsmodels"].any()
    assert (
        answer["note"][answer["estimator"].isin(["ols_cluster", "ols_cr2"])]
        .str.startswith("no variance")
        .all()
    )
    # Documents and prompts all have the mean 1/2, their meetings have not.
    even = pd.DataFrame(
        {"score": [0, 1, 1, 0] * 4, "doc": np.repeat(range(4), 4), "prompt": [0, 1, 2, 3] * 4}
    )
    even["score"] = (even["doc"] + even["prompt"]) % 2
    for frame, options in (
        (even, {}),
        (pd.concat([even.assign(model="A"), even.assign(model="B", score=0)]), PAIR),
    ):
        answer = check(frame.assign(item=frame["doc"] * 4 + frame["prompt"]), **options)
        assert not answer["agrees"][answer["package"] == "statsmodels"].any()
        assert not answer["should_agree"][answer["package"] == "statsmodels"].any()
        assert row(answer, "ols_cluster_t")["note"].startswith("no variance")


@given(st.data())
def test_any_crossed_scores_agree_where_they_should(data):
    n = data.draw(st.integers(4, 25))
    frame = pd.DataFrame(
        {
            "score": data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=n, max_size=n)),
            "doc": [0, 1, *data.draw(st.lists(st.integers(0, 4), min_size=n - 2, max_size=n - 2))],
            "prompt": [0, 1, *data.draw(st.lists(st.integers(0, 3), min_size=n - 2, max_size=n - 2))],
            "item": np.arange(n), "model": "A",
        }
    )  # fmt: skip
    answer = check(frame)
    shown = answer[~answer["note"].str.contains("did not converge|not finite")]
    assert (shown["agrees"] == shown["should_agree"])[shown["estimator"] != "gee_exchangeable"].all()
    other = frame.assign(model="B", score=frame["score"].to_numpy()[::-1])
    answer = check(pd.concat([frame, other]), **PAIR)
    shown = answer[~answer["estimator"].isin(["gee_exchangeable", "glm_binomial_cluster"])]
    assert (shown["agrees"] == shown["should_agree"]).all()


# What it is for: a variance of ours that is wrong


def caught(answer):
    return set(answer["estimator"][answer["should_agree"] & ~answer["agrees"]])


@pytest.mark.parametrize("kind", ["cr1", "cr2"])
def test_a_broken_term_of_a_crossed_variance_is_found(kind, monkeypatch):
    frame = made()
    whole = crossed.cr_variance
    finest = frame["item"].nunique()
    monkeypatch.setattr(
        crossed, "cr_variance",
        lambda t, mo, k: whole(t, mo, k) * np.where((k == kind) & (t.n_clusters == finest), 1.0001, 1.0),
    )  # fmt: skip
    wrong = {name for name in TWO_WAY if _crosscheck.COUNTERPART[name] == kind}
    assert caught(check(frame, by="model")) == wrong
    monkeypatch.undo()
    assert not caught(check(frame, by="model"))
    one_way = pair_variance.pair_variance

    def broken(t, which):
        found = one_way(t, which)
        more = 1.0001 if which == kind and t.crossed is None and t.n_clusters == finest else 1.0
        return dataclasses.replace(found, value=found.value * more)

    monkeypatch.setattr(pair_variance, "pair_variance", broken)
    assert caught(check(frame, **PAIR)) == wrong - {"glm_binomial_cluster"}


def test_broken_crossed_degrees_of_freedom_are_found(monkeypatch):
    whole = crossed.satterthwaite_df
    monkeypatch.setattr(crossed, "satterthwaite_df", lambda t, mo, k: whole(t, mo, k) * 1.00001)
    assert caught(check(made(), by="model")) == {"ols_cr2"}
    of_shares = pair_variance.bell_mccaffrey_df
    monkeypatch.setattr(pair_variance, "bell_mccaffrey_df", lambda share: of_shares(share) * 1.00001)
    assert caught(check(made(), **PAIR)) == {"ols_cr2"}


# A model of the caller's

OLS = smf.ols("score ~ 1", ONE)


def codes(*names, frame=ONE):
    return np.stack([pd.factorize(frame[name])[0] for name in names], axis=1).squeeze()


def fitted(groups, **more):
    return OLS.fit(cov_type="cluster", cov_kwds={"groups": groups, **more}, use_t=True)


def against(results, cluster=None, frame=ONE, **options):
    return row(check(frame, cluster, against=results, **options), "against")


@pytest.mark.parametrize("order", [BOTH, BOTH[::-1]])
def test_a_two_way_model_agrees(order):
    got = against(fitted(codes(*BOTH)), order)
    assert got["agrees"]
    assert got["should_agree"]
    assert (got["compared_with"], got["note"], got["df"], got["n_clusters"]) == ("cr1", "", 5, 6)
    got = against(fitted(codes(*BOTH), use_correction=False), order)
    assert got["agrees"]
    assert got["compared_with"] == "cr0"
    assert "CR0 against CR1" in got["note"]


DIFFERENT = {
    "doc alone named": (lambda: fitted(codes(*BOTH)), "doc", "two ways, and 'doc' alone is named here; name both in a list"),
    "prompt alone named": (lambda: fitted(codes(*BOTH)), "prompt", "cluster=['prompt', ...]"),
    "one way of two": (lambda: fitted(codes("doc")), BOTH, "it is clustered by 'doc' alone, and here by 'doc + prompt'"),
    "another way": (lambda: fitted(np.arange(len(ONE)) % 5), BOTH, "it is clustered one way, and here by 'doc + prompt'"),
    "two of three": (lambda: fitted(codes(*BOTH)), [*BOTH, "judge"], "clustered two ways, and here by 'doc + prompt + judge'"),
    "merged": (
        lambda: fitted(np.stack([codes("prompt"), codes("doc") // 2], axis=1)), BOTH, "other clusters of 'doc': 5 there, 9 here",
    ),
    "sizes": (
        lambda: fitted(np.stack([codes("doc"), np.arange(len(ONE)) % 6], axis=1)), BOTH, "clusters of 'prompt': as many, but of",
    ),
    "none": (lambda: OLS.fit(), BOTH, "takes the items as independent"),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_the_reason_of_a_difference_is_named(name):
    fit, cluster, words = DIFFERENT[name]
    got = against(fit(), cluster, ONE.assign(judge=ONE["item"] * 7 % 5))
    assert not got["agrees"]
    assert not got["should_agree"]
    assert words in got["note"]


def test_a_two_way_model_of_a_difference():
    frame = made()
    of = PAIR | {"pairs": [("a", "b")], "frame": frame}
    wide = frame.pivot(index=["item", *BOTH], columns="model", values="score").reset_index()
    model = sm.OLS((wide["a"] - wide["b"]).to_numpy(float), np.ones(len(wide)))
    results = model.fit(cov_type="cluster", cov_kwds={"groups": codes(*BOTH, frame=wide)}, use_t=True)
    got = against(results, **of)
    assert got["agrees"]
    assert got["note"] == ""
    assert "'doc' alone is named here" in against(results, "doc", **of)["note"]
    results = smf.ols("score ~ model", frame).fit(
        cov_type="cluster", cov_kwds={"groups": codes(*BOTH, frame=frame)}
    )
    assert "further factor (N-1)/(N-K)" in against(results, **of)["note"]


def test_a_missing_id_of_a_two_way_model():
    lacking = codes(*BOTH).astype(float)
    lacking[::7, 1] = np.nan
    got = against(fitted(lacking), BOTH, ONE.drop(index=ONE.index[::7]))
    assert "clusters merged by missing ids: " in got["note"]


def test_what_is_refused():
    with pytest.raises(MethodError, match="names 'doc' twice"):
        check(ONE, ["doc", "doc"])
    more = {f"k{i}": np.random.default_rng(i).integers(0, 4, len(ONE)) for i in range(3)}
    with pytest.raises(MethodError, match="at most 4"):
        check(ONE.assign(**more), [*BOTH, *more])
