"""The estimators of `crosscheck` against R's packages, the general formula of CR2, and weights."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import xarray as xr
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import frame_of, pair_frame, paired_frames, quiet, score_frames

from evalci_accessor.crosscheck import estimators as crosscheck
from evalci_accessor.exceptions import WeightError

REFERENCE = Path(__file__).parents[1] / "reference"
GEEPACK = json.loads((REFERENCE / "geepack.json").read_text(encoding="utf-8"))["data"]
PACKAGES = json.loads((REFERENCE / "other_packages.json").read_text(encoding="utf-8"))
CLUBSANDWICH = json.loads((REFERENCE / "clubsandwich.json").read_text(encoding="utf-8"))["data"]
WEIGHTS = json.loads((REFERENCE / "weights.json").read_text(encoding="utf-8"))
SURVEY = json.loads((REFERENCE / "pair_weights.json").read_text(encoding="utf-8"))
UNEVEN = frame_of([3, 9, 1, 4, 0, 6, 2, 7], [4, 10, 5, 4, 3, 6, 6, 9])


def check(frame, cluster="cluster", **options):
    return quiet(frame.evalci.crosscheck, cluster, **options)


def row(answer, estimator):
    found = answer[answer["estimator"] == estimator]
    assert len(found) == 1
    return found.iloc[0]


# R's packages


@pytest.mark.parametrize("name", GEEPACK)
def test_independence_is_geepacks(name):
    data = GEEPACK[name]
    want, p = data["fits"]["independence_san.se"], sum(data["s"]) / sum(data["m"])
    answer = check(frame_of(data["s"], data["m"]))
    for estimator in ("gee_independence", "cr0"):
        got = row(answer, estimator)
        assert_allclose(got["std_error"] / (p * (1 - p)), want["se"], rtol=1e-6)
        assert_allclose(np.log(got["estimate"] / (1 - got["estimate"])), want["beta"], rtol=1e-6)


def fit_exchangeable(data):
    """Coefficient, standard error and correlation, with moments as geepack takes them."""
    frame = frame_of(data["s"], data["m"])
    codes = pd.factorize(frame["cluster"])[0]
    scores = crosscheck.Scores(frame["score"].to_numpy(float), None, codes, bounded=True)
    got = crosscheck.gee(scores, 0.95, exchangeable=True, cov_type="robust", ddof_scale=0)
    p = got.estimate
    return [np.log(p / (1 - p)), got.std_error / (p * (1 - p)), got.correlation]


def geepack_steps(s, m, epsilon):
    """geepack's iteration for a constant: the coefficient, then the scale, then the correlation, until none moves more."""
    s, m = np.array(s, dtype=float), np.array(m, dtype=float)
    beta, alpha, scale, step = np.log(s.sum() / (m - s).sum()), 0.0, 1.0, np.inf
    while step > epsilon:
        before = np.array([beta, alpha, scale])
        p, weight = 1 / (1 + np.exp(-beta)), 1 / (1 + (m - 1) * alpha)
        beta += (weight @ (s - m * p)) / (weight @ m) / (p * (1 - p))
        p = 1 / (1 + np.exp(-beta))
        squares = (s * (1 - p) / p + (m - s) * p / (1 - p)).sum()
        scale = squares / m.sum()
        alpha = (((s - m * p) ** 2).sum() / (p * (1 - p)) - squares) / (m * (m - 1)).sum() / scale
        step = np.abs(before - [beta, alpha, scale]).max()
    weight = 1 / (1 + (m - 1) * alpha)
    return [beta, np.sqrt(((weight * (s - m * p)) ** 2).sum()) / abs(weight @ m) / (p * (1 - p)), alpha]


@pytest.mark.parametrize("name", GEEPACK)
def test_exchangeable_is_geepacks(name):
    data = GEEPACK[name]
    got, by_default = (
        fit_exchangeable(data),
        [data["fits"]["exchangeable_san.se"][key] for key in ("beta", "se", "alpha")],
    )
    converged = [PACKAGES["data"][name]["gee_exchangeable"][key] for key in ("beta", "se", "alpha")]
    assert_allclose(got, converged, rtol=1e-8)
    assert_allclose(got, geepack_steps(data["s"], data["m"], 1e-13), rtol=1e-8)
    # By default geepack stops where steps are below 1e-4. For C, whose negative correlation cannot be in a cluster of 231, steps
    # shrink slowly, and it has not arrived; its iteration, stopped there, has all its digits.
    assert_allclose(geepack_steps(data["s"], data["m"], 1e-4), by_default, rtol=1e-10)
    if name != "C":
        assert_allclose(got, by_default, rtol=1e-6)
    note = row(check(frame_of(data["s"], data["m"])), "gee_exchangeable")["note"]
    assert ("cannot be in a cluster of 231" in note) == (name == "C")


@pytest.mark.parametrize("name", GEEPACK)
def test_geepacks_jackknife_errors(name):
    data = GEEPACK[name]
    s, m, n_clusters = np.array(data["s"]), np.array(data["m"]), len(data["m"])
    fits, p = data["fits"], s.sum() / m.sum()
    cr3 = row(check(frame_of(s, m)), "cr3")["std_error"] / (p * (1 - p))
    # CR3 on the scale of the logit, times (G - k)/G with one k for the coefficient and one for the scale.
    for kind in ("jack", "j1s"):
        assert_allclose(
            fits[f"independence_{kind}"]["se"], cr3 * np.sqrt((n_clusters - 2) / n_clusters), rtol=1e-9
        )
    rest = (s.sum() - s) / (m.sum() - m)
    if (
        rest < 1
    ).all():  # "fij" fits anew without each cluster, so it is a jackknife of the logit, and none of ours
        moved = np.log(rest / (1 - rest)) - np.log(p / (1 - p))
        assert_allclose(
            fits["independence_fij"]["se"],
            np.sqrt((n_clusters - 2) / n_clusters * (moved**2).sum()),
            rtol=1e-4,
        )


@pytest.mark.parametrize("name", GEEPACK)
def test_sandwich_survey_and_lme4(name):
    data = PACKAGES["data"][name]
    s, m = np.array(data["s"]), np.array(data["m"])
    answer, n_clusters = check(frame_of(s, m)), len(m)
    assert_allclose(row(answer, "cr1")["std_error"] ** 2, data["vcovCL"], rtol=1e-10)
    assert_allclose(
        row(answer, "cr3")["std_error"] * np.sqrt((n_clusters - 1) / n_clusters), data["jk1_se"], rtol=1e-6
    )
    # A mixed model weighs the clusters' means.
    weight = 1 / (data["lmer"]["var_g"] + data["lmer"]["var_e"] / m)
    assert_allclose(weight @ (s / m) / weight.sum(), data["lmer"]["mu"], rtol=1e-6)
    assert_allclose(weight.sum() ** -0.5, data["lmer"]["se"], rtol=1e-5)


# CR2, which statsmodels lacks


@pytest.mark.parametrize("name", CLUBSANDWICH)
def test_cr2_from_least_squares_is_clubsandwichs(name):
    data = CLUBSANDWICH[name]
    got = row(check(frame_of(data["s"], data["m"])), "ols_cr2")
    assert_allclose(
        [got["std_error"] ** 2, got["df"]], [data["CR2"]["var"], data["CR2"]["df_satt"]], rtol=1e-6
    )


@pytest.mark.parametrize("kind", WEIGHTS["data"])
def test_weights_are_those_of_survey_and_clubsandwich(kind):
    data, group = WEIGHTS["data"][kind], np.array(WEIGHTS["g"])
    frame = pd.DataFrame(
        {"score": data["y"], "cluster": group, "w": WEIGHTS["w"], "u": np.array(WEIGHTS["w_g"])[group - 1]}
    )
    for weights, fit in (("w", "scaled"), ("u", "by_cluster")):
        got, want = row(check(frame, weights=weights), "ols_cr2"), data[fit]["CR2"]
        assert_allclose([got["std_error"] ** 2, got["df"]], [want["var"], want["df_satt"]], rtol=1e-6)
    got = row(check(frame, weights="w"), "ols_cluster_t")
    assert_allclose([got["estimate"], got["std_error"]], [data["mean"], data["se"]], rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_cr2_from_least_squares_by_the_general_formula(weighted):
    rng = np.random.default_rng(5)
    codes, y = np.repeat(np.arange(6), [1, 2, 3, 5, 8, 13]), rng.random(32)
    w = rng.random(32) + 0.1 if weighted else np.ones(32)
    x = np.sqrt(w)[:, None]
    hat = x @ x.T / w.sum()
    left, vectors = (np.eye(32) - hat) @ (np.sqrt(w) * y), np.zeros((32, 6))
    for g in range(6):
        at = np.flatnonzero(codes == g)
        values, axes = np.linalg.eigh(np.eye(len(at)) - hat[np.ix_(at, at)])
        vectors[at, g] = axes @ np.diag(values**-0.5) @ axes.T @ x[at, 0] / w.sum()
    products = vectors.T @ (np.eye(32) - hat) @ vectors
    got = crosscheck.fit("ols_cr2", crosscheck.Scores(y, None, codes, bounded=True, weights=w), 0.95)
    assert_allclose(got.std_error, np.sqrt(((vectors.T @ left) ** 2).sum()), rtol=1e-10)
    assert_allclose(got.df, np.trace(products) ** 2 / (products**2).sum(), rtol=1e-10)


# Weights


WEIGHTED = UNEVEN.assign(w=np.random.default_rng(1).integers(0, 5, len(UNEVEN)) * 3.0)


def test_weights_agree_where_they_should():
    answer = check(WEIGHTED, weights="w")
    assert (answer["agrees"] == answer["should_agree"]).all()
    assert set(answer["n"]) == {(WEIGHTED["w"] > 0).sum()}
    skipped = answer["note"].str.startswith("skipped")
    assert answer["estimator"][skipped].tolist() == ["gee_independence_bias_reduced", "gee_exchangeable"]
    rest = answer[~skipped & (answer["estimator"] != "default")]
    assert rest["relative_difference"].abs().max() < 1e-8
    assert rest["agrees"].all()
    for name in ("cr0", "cr1", "cr2", "default"):
        want = quiet(
            WEIGHTED.evalci.cluster_ci, "cluster", weights="w", method="auto" if name == "default" else name
        ).iloc[0]
        columns = ["estimate", "std_error", "ci_low", "ci_high", "n", "n_clusters"]
        assert row(answer, name)[columns].tolist() == want[columns].tolist()


def test_rows_of_weight_0_are_absent_and_the_scale_of_weights_does_not_matter():
    want, there = check(WEIGHTED, weights="w").drop(columns="note"), WEIGHTED["w"] > 0
    fewer = WEIGHTED[there].assign(w=WEIGHTED["w"][there] * 1e6)
    lacking = WEIGHTED.assign(score=WEIGHTED["score"].astype(float).where(there))
    for frame in (fewer, lacking):
        pd.testing.assert_frame_equal(
            check(frame, weights="w").drop(columns="note"), want, rtol=1e-9, atol=1e-12
        )
    equal, plain = (
        check(UNEVEN.assign(w=3.0), **options).drop(columns="note") for options in ({"weights": "w"}, {})
    )
    pd.testing.assert_frame_equal(equal, plain, rtol=1e-9, atol=1e-12)


def test_weights_by_key_and_on_cubes(cube):
    traffic = xr.DataArray(np.arange(cube.sizes["item"]) % 4, dims="item")
    flat = cube["score"].assign_coords(traffic=traffic).to_dataframe().reset_index()
    want = check(flat, "doc_id", by="model", weights="traffic")
    assert (want["agrees"] == want["should_agree"]).all()
    got = quiet(cube.assign(traffic=traffic).evalci.crosscheck, "doc_id", weights="traffic").to_dataframe()
    got = got.loc[list(zip(want["model"], want["estimator"], strict=True))].reset_index()
    pd.testing.assert_frame_equal(
        got[list(want)].drop(columns="note"), want.drop(columns="note"), check_dtype=False, rtol=1e-9, atol=1e-12
    )  # fmt: skip


def test_bad_weights_are_refused():
    with pytest.raises(WeightError):
        check(UNEVEN.assign(w=-1.0), weights="w")
    pair = pair_frame(both=[2, 5], only_a=[1, 2], only_b=[1, 0], neither=[0, 1])
    with pytest.raises(WeightError, match="more than one weight"):
        check(pair.assign(w=1.0 + np.arange(len(pair))), "doc", factor="model", item="item", weights="w")


@given(score_frames(fractional=True))
def test_any_weights_agree_where_they_should(frame):
    answer = check(frame.assign(w=1.0 + np.arange(len(frame)) % 7), "doc", by="model", weights="w")
    shown = answer[~answer["note"].str.contains("cannot be in a cluster|did not converge|not finite")]
    assert (shown["agrees"] == shown["should_agree"])[shown["estimator"] != "gee_exchangeable"].all()


# Weights of a comparison


PAIR = pair_frame(
    both=[2, 5, 0, 3, 1, 6], only_a=[1, 2, 0, 2, 1, 0], only_b=[1, 0, 1, 1, 0, 3], neither=[0, 1, 2, 0, 2, 1]
)
OF = {"cluster": "doc", "factor": "model", "item": "item", "weights": "w", "pairs": [("A", "B")]}


def weighted_pair(seed=0):
    weights = np.random.default_rng(seed).lognormal(size=PAIR["item"].nunique())
    return PAIR.assign(w=weights[PAIR["item"]])


def test_weighted_differences_agree_where_they_should():
    frame = weighted_pair()
    answer = check(frame, **OF)
    assert (answer["agrees"] == answer["should_agree"]).all()
    skipped = answer["note"].str.startswith("skipped")
    assert answer["estimator"][skipped].tolist() == ["gee_independence_bias_reduced", "gee_exchangeable"]
    for name in ("ols_cluster", "ols_cluster_t", "ols_cr2", "gee_independence"):
        assert abs(row(answer, name)["relative_difference"]) < 1e-10
        assert abs(row(answer, name)["estimate_difference"]) < 1e-10
    n, glm = frame["item"].nunique(), row(answer, "glm_binomial_cluster")
    assert_allclose((1 + glm["relative_difference"]) ** 2, (2 * n - 1) / (2 * n - 2), rtol=1e-8)
    for name in ("cr0", "cr1", "cr2", "cr3", "default"):
        method = "auto" if name == "default" else name
        want = quiet(frame.evalci.diff_ci, **(OF | {"factor": "model"}), method=method).iloc[0]
        ours = row(answer, name)[["estimate", "std_error", "ci_low", "ci_high"]].astype(float)
        assert_allclose(
            ours, want[["difference", "std_error", "ci_low", "ci_high"]].astype(float), rtol=1e-12
        )


@pytest.mark.parametrize("kind", SURVEY["data"])
def test_weighted_differences_are_those_of_survey(kind):
    data = SURVEY["data"][kind]
    frame = pd.concat(
        pd.DataFrame(
            {
                "score": data[name.lower()],
                "model": name,
                "doc": SURVEY["g"],
                "item": range(30),
                "w": SURVEY["w"],
            }
        )
        for name in "AB"
    )
    answer = check(frame, **OF)
    assert (answer["agrees"] == answer["should_agree"]).all()
    for name in ("cr1", "ols_cluster_t"):
        got = row(answer, name)
        assert_allclose(
            [got["estimate"], got["std_error"]],
            [data["clustered"][key] for key in ("estimate", "se")],
            rtol=1e-8,
        )
        assert_allclose([got["ci_low"], got["ci_high"]], data["glm"]["ci"], rtol=1e-8)


def test_weighted_differences_by_least_squares_of_the_items():
    frame = weighted_pair()
    wide = frame.pivot(index=["item", "doc", "w"], columns="model", values="score").reset_index()
    model = sm.WLS((wide["A"] - wide["B"]).to_numpy(float), np.ones(len(wide)), weights=wide["w"])
    results = model.fit(cov_type="cluster", cov_kwds={"groups": wide["doc"].to_numpy()}, use_t=True)
    answer = check(frame, against=results, **OF)
    ours, theirs = row(answer, "cr1"), row(answer, "against")
    assert_allclose(
        [ours["estimate"], ours["std_error"], ours["df"]], [results.params[0], results.bse[0], 5], rtol=1e-10
    )
    assert theirs["agrees"]
    assert theirs["note"] == ""
    plain = model.fit(cov_type="HC0")
    assert "takes the items as independent" in row(check(frame, against=plain, **OF), "against")["note"]


def test_a_weighted_model_of_two_rows_an_item():
    frame = weighted_pair()
    exog = np.stack([np.ones(len(frame)), frame["model"] == "A"], axis=1).astype(float)
    model = sm.WLS(frame["score"].to_numpy(float), exog, weights=frame["w"])
    got = row(
        check(
            frame, against=model.fit(cov_type="cluster", cov_kwds={"groups": frame["doc"].to_numpy()}), **OF
        ),
        "against",
    )
    assert "further factor (N-1)/(N-K)" in got["note"]
    for cov_type in ("nonrobust", "HC0", "HC3"):
        assert (
            "as measured on different ones"
            in row(check(frame, against=model.fit(cov_type=cov_type), **OF), "against")["note"]
        )
    other = sm.WLS(frame["score"].to_numpy(float), exog, weights=frame["w"] ** 2).fit()
    assert "other weights than those given here" in row(check(frame, against=other, **OF), "against")["note"]


def test_items_of_weight_0_are_absent_and_the_scale_of_item_weights_does_not_matter():
    frame = weighted_pair()
    frame["w"] = frame["w"].where(frame["item"] % 4 > 0, 0.0)
    want, there = check(frame, **OF).drop(columns="note"), frame["w"] > 0
    got = check(frame[there].assign(w=frame["w"][there] * 1e6), **OF).drop(columns="note")
    pd.testing.assert_frame_equal(got, want, rtol=1e-9, atol=1e-12)
    equal = check(PAIR.assign(w=3.0), **OF)
    assert (equal["agrees"] == equal["should_agree"]).all()
    assert row(equal, "gee_exchangeable")["agrees"]  # equal weights are none


def test_weighted_differences_on_cubes(cube):
    traffic = xr.DataArray(np.arange(cube.sizes["item"]) % 4, dims="item")
    flat = cube["score"].assign_coords(traffic=traffic).to_dataframe().reset_index()
    want = check(flat, "doc_id", factor="model", item="item", weights="traffic")
    assert (want["agrees"] == want["should_agree"]).all()
    got = quiet(cube.assign(traffic=traffic).evalci.crosscheck, "doc_id", factor="model", weights="traffic")
    got = got.to_dataframe().reset_index().sort_values("pair", kind="stable").reset_index(drop=True)
    pd.testing.assert_frame_equal(
        got[list(want)].drop(columns="note"), want.drop(columns="note"), check_dtype=False, rtol=1e-9, atol=1e-12
    )  # fmt: skip


@given(paired_frames(fractional=True))
def test_any_weighted_differences_agree_where_they_should(frame):
    answer = check(frame.assign(w=1.0 + frame["item"] % 3), "doc", factor="model", item="item", weights="w")
    assert (answer["agrees"] == answer["should_agree"])[answer["estimator"] != "glm_binomial_cluster"].all()


def test_what_statsmodels_makes_of_weights():
    frame = WEIGHTED[WEIGHTED["w"] > 0]
    y, w, g, binomial = (
        *(frame[name].to_numpy() for name in ("score", "w", "cluster")),
        sm.families.Binomial,
    )
    g, ones = pd.factorize(g)[0], np.ones((len(y), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        errors = [
            sm.GLM(y, ones, family=binomial(), **{name: w})
            .fit(tol=1e-12, cov_type="cluster", cov_kwds={"groups": g})
            .bse
            for name in ("var_weights", "freq_weights")
        ]
    assert_allclose(*errors, rtol=1e-8)  # of one coefficient, so that the factor (N-1)/(N-K) is 1
    # Once one of these two fails, that kind of GEE need no longer be skipped under weights.
    correlations = []
    for order in (slice(None), slice(None, None, -1)):
        model = sm.GEE(
            y[order],
            ones,
            groups=g[order],
            weights=w[order],
            family=binomial(),
            cov_struct=sm.cov_struct.Exchangeable(),
        )
        correlations.append(model.fit().cov_struct.dep_params)
    assert abs(correlations[0] - correlations[1]) > 1e-3
    with pytest.raises(ValueError, match="broadcast"):
        sm.GEE(y, ones, groups=g, weights=w, family=binomial()).fit(cov_type="bias_reduced")
