"""Weights in `mcnemar`, `diff_ci`, `compare` and `proportion_ci`: other tools, both containers, what holds, bad input."""

from __future__ import annotations

import decimal
import functools
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from stats.golden import golden
from strategies import QUESTIONS, ask_pairs, paired_cubes, paired_frames, quiet, score_frames, weights_of

from conftest import requires
from evalci_accessor import exceptions as ex
from evalci_accessor import stats

NO_WEIGHTS = ("exact", "midp", "corrected", "eliasziw", "newcombe", "bonett_price", "agresti_min")
# Every way to ask of weighted items.
WEIGHTED = [
    (name, options) for name, options in QUESTIONS
    if options.get("method") not in NO_WEIGHTS and options.get("test") != "midp"
]  # fmt: skip
PROPORTIONS = ("wilson", "wald", "clopper_pearson", "jeffreys", "agresti_coull")
SOME = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
questions = st.sampled_from(WEIGHTED)
each_name = pytest.mark.parametrize("name", ["mcnemar", "diff_ci", "compare"])


def ask(obj, question, **kwargs):
    kwargs = {"weights": "w", "pairs": [("m0", "m1")]} | kwargs
    return ask_pairs(obj, question, **kwargs)


def assert_same(answer, expected, rtol=1e-8, **kwargs):
    pd.testing.assert_frame_equal(answer, expected, rtol=rtol, atol=1e-9, **kwargs)


@functools.cache
def made():
    """Three systems on 120 items in 30 documents, with a weight an item. Not to be changed."""
    rng = np.random.default_rng(0)
    item = np.arange(120)
    hard, weight = rng.normal(size=30)[item // 4], rng.lognormal(size=120)
    parts = [
        pd.DataFrame(
            {
                "model": m,
                "item": item,
                "doc": item // 4,
                "w": weight,
                "score": (rng.normal(size=120) + skill > hard) * 1,
            }
        )
        for m, skill in (("m0", 0.4), ("m1", 0.0), ("m2", -0.2))
    ]
    return pd.concat(parts, ignore_index=True)


# Other tools


@pytest.mark.parametrize("kind", ["binary", "fractional"])
def test_survey(kind):
    """Means of independent rows and of differences, linearised, as R's survey has them."""
    file = golden("pair_weights")
    data = file["data"][kind]
    n = len(file["w"])
    frame = pd.DataFrame(
        {
            "model": ["a"] * n + ["b"] * n, "item": [*range(n)] * 2, "g": file["g"] * 2, "w": file["w"] * 2,
            "score": data["a"] + data["b"],
        }
    )  # fmt: skip
    rate = quiet(frame[frame["model"] == "a"].evalci.proportion_ci, weights="w").iloc[0]
    assert_allclose([rate.estimate, rate.std_error], [*data["rate"].values()])
    for cluster, expected in ((None, data["difference"]), ("g", data["clustered"])):
        one = quiet(
            frame.evalci.diff_ci, "model", item="item", cluster=cluster, weights="w", method="cr1"
        ).iloc[0]
        assert_allclose([one.difference, one.std_error], [*expected.values()])
    # svyglm takes the clusters less one again, for its coefficient, so only the estimate and its error are the same.
    assert_allclose([one.difference, one.std_error], [data["glm"]["estimate"], data["glm"]["se"]])


@pytest.mark.parametrize("cluster", ["doc", None])
def test_weighted_least_squares(cluster):
    frame = made()
    wide = frame.pivot(index="item", columns="model", values="score")
    of_item = frame.drop_duplicates("item")
    groups = of_item["doc"] if cluster else of_item["item"]
    d = (wide["m0"] - wide["m1"]).to_numpy(float)
    fit = sm.WLS(d, np.ones(len(d)), weights=of_item["w"].to_numpy()).fit(
        cov_type="cluster", cov_kwds={"groups": groups.to_numpy()}, use_t=True
    )
    one = quiet(
        frame.evalci.diff_ci,
        "model",
        item="item",
        cluster=cluster,
        weights="w",
        method="cr1",
        pairs=[("m0", "m1")],
    ).iloc[0]
    assert_allclose(
        one[["difference", "std_error", "pvalue"]].astype(float), [fit.params[0], fit.bse[0], fit.pvalues[0]]
    )
    assert_allclose(one[["ci_low", "ci_high"]].astype(float), fit.conf_int()[0])


@pytest.mark.parametrize("method", PROPORTIONS)
def test_proportions_are_those_of_an_effective_number(method):
    """Wilson and his kin on n_eff, from sums over rows."""
    frame = made()[lambda f: f["model"] == "m0"]
    w, y = frame["w"].to_numpy(), frame["score"].to_numpy()
    p = (w * y).sum() / w.sum()
    linear = sum((a * (b - p)) ** 2 for a, b in zip(w, y, strict=True)) / w.sum() ** 2
    n_eff = p * (1 - p) / linear
    if method != "wald":
        n_eff = min(w.sum() ** 2 / (w**2).sum(), n_eff)
    one = frame.evalci.proportion_ci(weights="w", method=method).iloc[0]
    assert_allclose([one.estimate, one.n_eff, one.design_effect], [p, n_eff, len(w) / n_eff])
    assert_allclose(one.std_error, np.sqrt(linear * 120 / 119))
    assert one["n"] == 120
    # The same interval of about as many plain scores, scaled up so that rounding does not matter.
    if method == "wald":
        half = 1.959963984540054 * np.sqrt(linear)
        assert_allclose([one.ci_low, one.ci_high], [p - half, p + half])
    expected = stats.proportion_ci(p * n_eff, n_eff, method=method)
    assert_allclose([one.ci_low, one.ci_high], [float(expected.ci_low), float(expected.ci_high)])


def test_a_bootstrap_of_weighted_clusters():
    """Resampled weighted sums over resampled weights, drawn by a plain loop."""
    frame = made()
    wide = frame.pivot(index="item", columns="model", values="score")
    w = frame.drop_duplicates("item")["w"].to_numpy()
    d = np.bincount(np.arange(120) // 4, weights=w * (wide["m0"] - wide["m1"]).to_numpy())
    m = np.bincount(np.arange(120) // 4, weights=w)
    rng = np.random.default_rng(3)
    drawn = [d[at].sum() / m[at].sum() for at in rng.integers(0, 30, size=(20_000, 30))]
    one = quiet(
        frame.evalci.diff_ci, "model", item="item", cluster="doc", weights="w", method="bootstrap_percentile",
        pairs=[("m0", "m1")], rng=1, n_resamples=20_000,
    ).iloc[0]  # fmt: skip
    assert_allclose([one.ci_low, one.ci_high], np.quantile(drawn, [0.025, 0.975]), atol=0.006)


# What holds, whatever the data


@SOME
@given(paired_frames(), questions, st.data(), st.sampled_from([1.0, 7.3, 0.01]))
def test_equal_weights_are_none(frame, question, data, scale):
    name, options = question
    if name == "compare":
        question = (name, options | {"test": "interval"})
    if question == ("mcnemar", {"method": "auto"}):
        return
    expected = ask_pairs(frame, question, pairs=[("m0", "m1")])
    assert_same(ask(frame.assign(w=scale), question), expected, rtol=1e-9)


@SOME
@given(paired_frames(), questions, st.data(), st.sampled_from([7.3, 2.0**-40, 1e12]))
def test_the_scale_of_the_weights(frame, question, data, scale):
    frame = frame.assign(w=data.draw(weights_of(frame["item"])))
    assert_same(ask(frame.assign(w=frame["w"] * scale), question), ask(frame, question))


@SOME
@given(paired_frames(clusters=(4, 6)), questions, st.data())
def test_items_of_weight_zero_are_absent(frame, question, data):
    """With their missing scores, ids and names, and the cluster that they alone make up."""
    frame = frame.assign(w=data.draw(weights_of(frame["item"])))
    gone = (frame["item"] % 3 == 1) | (frame["doc"] == 0)
    expected = ask(frame[~gone], question)
    for column, value in ((None, None), ("score", np.nan), ("doc", None), ("item", None), ("model", None)):
        marked = frame.assign(w=frame["w"].mask(gone, 0.0))
        if column is not None:
            marked[column] = marked[column].astype(object if column != "score" else float)
            marked.loc[gone & (frame["model"] == "m0"), column] = value
        assert_same(ask(marked, question), expected, check_dtype=False)


@SOME
@given(paired_frames(), questions, st.data(), st.randoms(use_true_random=False))
def test_order_and_names(frame, question, data, random):
    frame = frame.assign(w=data.draw(weights_of(frame["item"])))
    items, docs = [f"i{k}" for k in range(18)], [f"d{k}" for k in range(6)]
    random.shuffle(items)
    random.shuffle(docs)
    other = frame.assign(item=[items[k] for k in frame["item"]], doc=[docs[k] for k in frame["doc"]])
    assert_same(ask(other.sample(frac=1, random_state=1), question), ask(frame, question))


DTYPES = [
    "float64",
    "float32",
    "int64",
    "uint8",
    "Int64",
    "Float64",
    "object",
    "category",
    "int64[pyarrow]",
    "decimal",
]


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
@given(frame=paired_frames(), question=questions)
def test_dtype_of_the_weights(dtype, frame, question):
    if "pyarrow" in dtype:
        requires("pyarrow")
    whole = frame["item"] % 4 + 1
    weights = whole.map(decimal.Decimal) if dtype == "decimal" else whole.astype(dtype)
    assert_same(ask(frame.assign(w=weights), question), ask(frame.assign(w=whole.astype(float)), question))


@SOME
@given(paired_cubes(), questions, st.data())
def test_frame_equals_cube(cube, question, data):
    """Weights along the items, along items and prompts, or along all dims."""
    flat = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.5]), min_size=cube.sizes["prompt"] * cube.sizes["item"],
                              max_size=cube.sizes["prompt"] * cube.sizes["item"]))  # fmt: skip
    both = xr.DataArray(np.reshape(flat, (cube.sizes["prompt"], -1)), dims=("prompt", "item"))
    for weights in (both.isel(prompt=0), both, both.broadcast_like(cube["score"])):
        weighted = cube.assign(w=weights)
        frame = weighted.to_dataframe().reset_index()
        expected = ask(frame, question, by="prompt")
        answer = ask(weighted, question).to_dataframe().reset_index()[list(expected)]
        answer, expected = (
            one.sort_values(["prompt", "model_a"], ignore_index=True)
            for one in (answer[list(expected)], expected)
        )
        assert_same(answer, expected, check_dtype=False)
        xr.testing.assert_allclose(
            ask(cube["score"], question, weights=weights.rename("w")), ask(weighted, question)
        )


@SOME
@given(paired_cubes(groups=(2, 3)), questions, st.data())
def test_a_cube_with_weights_of_zero(cube, question, data):
    n = cube.sizes["item"]
    weights = np.array(data.draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=n, max_size=n)))
    weights[0] = 0
    score = cube["score"].astype(float)
    score[:, 0, 0] = np.nan
    weighted = cube.assign(score=score, w=("item", weights))
    try:
        expected = ask(weighted.isel(item=slice(1, None)), question)
    except ex.EvalCIError as error:  # too little is left
        with pytest.raises(type(error)):
            ask(weighted, question)
        return
    xr.testing.assert_allclose(ask(weighted, question), expected)


@SOME
@given(paired_frames(fractional=True, samples=2), st.data())
def test_repeats_share_the_weight_of_their_item(frame, data):
    frame = frame.assign(w=data.draw(weights_of(frame["item"])))
    question = ("diff_ci", {"method": "cr2", "cluster": "doc"})
    means = frame.groupby(["model", "item", "doc", "w"], as_index=False)["score"].mean()
    assert_same(ask(frame, question, sample="sample"), ask(means, question))


@SOME
@given(paired_frames(), questions, st.data())
def test_the_callers_object_is_not_changed(frame, question, data):
    frame = frame.assign(w=data.draw(weights_of(frame["item"])))
    before = frame.copy(deep=True)
    ask(frame, question)
    pd.testing.assert_frame_equal(frame, before, check_exact=True)


@SOME
@given(paired_frames(), questions, st.data())
def test_series_and_arrays(frame, question, data):
    frame = frame.assign(w=data.draw(weights_of(frame["item"])))
    expected = ask(frame, question)
    assert_same(ask(frame, question, weights=frame["w"].to_numpy()), expected)
    assert_same(ask(frame, question, weights=frame["w"].sample(frac=1, random_state=0)), expected)
    levels = frame.set_index(["model", "item", "doc", "w"])["score"]
    assert_same(ask(levels, question), expected)


@SOME
@given(score_frames(fractional=True), st.sampled_from(PROPORTIONS), st.sampled_from([1, 7.3]))
def test_equal_weights_of_rows_are_none(frame, method, scale):
    plain = quiet(frame.evalci.proportion_ci, by="model", method=method)
    assert_same(
        quiet(frame.assign(w=scale).evalci.proportion_ci, by="model", weights="w", method=method),
        plain,
        rtol=1e-11,
    )


@SOME
@given(score_frames(), st.sampled_from(PROPORTIONS), st.data())
def test_rows_of_weight_zero_and_order(frame, method, data):
    n = len(frame)
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    weights[frame.drop_duplicates("model").index] = 1  # none without any, and the same order of the groups
    frame = frame.assign(w=weights)
    expected = quiet(frame[frame["w"] > 0].evalci.proportion_ci, by="model", weights="w", method=method)
    missing = frame.assign(score=frame["score"].astype(float).mask(frame["w"] == 0))
    assert_same(quiet(missing.evalci.proportion_ci, by="model", weights="w", method=method), expected)
    back = quiet(frame[::-1].evalci.proportion_ci, by="model", weights="w", method=method)
    assert_same(
        back.sort_values("model", ignore_index=True), expected.sort_values("model", ignore_index=True)
    )


def test_proportions_of_a_cube(cube):
    weights = xr.DataArray(np.random.default_rng(0).lognormal(size=200), dims="item", name="w")
    frame = cube.assign(w=weights).to_dataframe().reset_index()
    expected = frame.evalci.proportion_ci(by="model", weights="w")
    for obj, given_weights in ((cube.assign(w=weights), "w"), (cube["score"], weights)):
        answer = obj.evalci.proportion_ci(dim="item", weights=given_weights).to_dataframe().reset_index()
        assert_same(answer[list(expected)], expected, check_dtype=False)
    both = cube.evalci.proportion_ci(dim=["model", "item"], weights=weights)
    assert_allclose(both.n_eff, frame.evalci.proportion_ci(weights="w").n_eff)


def test_missing_scores_of_weighted_rows_lose_no_clusters():
    frame = made().assign(score=lambda f: f["score"].astype(float).mask(f.index == 5))
    with pytest.warns(ex.MissingScoreWarning) as seen:
        frame.evalci.proportion_ci(weights="w", nan_policy="omit")
    assert "cluster" not in str(seen[0].message)


# Which method runs, and what the columns say


def test_methods_that_run():
    frame = made()
    how = {"item": "item", "weights": "w"}
    ran = [
        quiet(getattr(frame.evalci, name), "model", **how, cluster=cluster)["method"].iloc[0]
        for name in ("mcnemar", "diff_ci", "compare")
        for cluster in (None, "doc")
    ]
    assert ran == ["asymptotic", "icc_averaged", "tango", "icc_averaged", "tango", "icc_averaged"]
    assert set(quiet(frame.evalci.compare, "model", **how)["test"]) == {"interval"}


@pytest.mark.parametrize("cluster", [None, "doc"])
def test_counts_are_of_items_and_estimates_of_weights(cluster):
    frame = made()
    plain, weighted = (
        quiet(frame.evalci.diff_ci, "model", item="item", cluster=cluster, **more)
        for more in ({}, {"weights": "w"})
    )
    same = ["n_pairs", "n_clusters", "both_pass", "only_a", "only_b", "both_fail"]
    pd.testing.assert_frame_equal(weighted[same], plain[same])
    rates = {m: np.average(part["score"], weights=part["w"]) for m, part in frame.groupby("model")}
    assert_allclose(weighted["estimate_a"], weighted["model_a"].map(rates))
    assert_allclose(weighted["estimate_b"], weighted["model_b"].map(rates))
    assert_allclose(weighted["difference"], weighted["estimate_a"] - weighted["estimate_b"], atol=1e-14)


def test_simultaneous_limits_go_by_the_weights():
    """Where the weight lies on few clusters the union bound holds, however many there are; where it does not, less is asked."""
    spare = []
    for power in (0, 3):
        frame = made().assign(w=lambda f, power=power: f["w"] ** power)
        how = {"item": "item", "cluster": "doc", "weights": "w", "method": "cr2"}
        answer = quiet(frame.evalci.compare, "model", **how, rng=1).sort_values(
            ["model_a", "model_b"], ignore_index=True
        )
        bonferroni = quiet(frame.evalci.diff_ci, "model", **how, confidence_level=1 - 0.05 / 3)
        bonferroni = bonferroni.sort_values(["model_a", "model_b"], ignore_index=True)
        spare.append(np.abs(answer["simultaneous_low"] - bonferroni["ci_low"]).max())
    assert spare[0] > 1e-4
    assert spare[1] < 1e-12


def test_items_without_a_partner_take_their_weight_along():
    frame = made().drop(index=[3, 130])  # items 3 of m0 and 10 of m1
    one = quiet(
        frame.evalci.diff_ci, "model", item="item", weights="w", unmatched="drop", pairs=[("m0", "m1")]
    )
    common = made()[lambda f: ~f["item"].isin([3, 10])]
    assert_same(one, quiet(common.evalci.diff_ci, "model", item="item", weights="w", pairs=[("m0", "m1")]))


# Bad input


@pytest.mark.parametrize("method", NO_WEIGHTS)
def test_methods_that_count_refuse_weights(method):
    name, cluster = (
        "mcnemar" if method in NO_WEIGHTS[:4] else "diff_ci",
        "doc" if method == "eliasziw" else None,
    )
    with pytest.raises(
        ex.WeightError,
        match=rf"method='{method}' counts items.*(asymptotic|obuchowski|tango).*leave out weights=",
    ):
        getattr(made().evalci, name)("model", item="item", cluster=cluster, weights="w", method=method)


@pytest.mark.parametrize("test", ["exact", "midp"])
def test_tests_that_count_refuse_weights(test):
    with pytest.raises(ex.WeightError, match=f"test='{test}' counts items"):
        made().evalci.compare("model", item="item", weights="w", test=test)


@each_name
@pytest.mark.parametrize("kind", ["frame", "cube"])
def test_an_item_has_one_weight(name, kind):
    frame = made().assign(w=lambda f: f["w"].round(2))
    for row in (3, 124, 245, 366 - 120, 7, 8, 9):
        frame.loc[row, "w"] += 1
    obj, cluster = frame, "doc"
    if kind == "cube":
        obj, cluster = frame.set_index(["model", "item"])[["score", "w"]].to_xarray(), None
    with pytest.raises(
        ex.WeightError,
        match=r"7 item\(s\) of 'item' have more than one weight in 'w': 3 \(.* and .*\).* and 2 more",
    ):
        getattr(obj.evalci, name)("model", item="item", cluster=cluster, weights="w")


def test_the_group_of_an_item_with_two_weights():
    frame = pd.concat([made().assign(lang="en"), made().assign(lang="de")], ignore_index=True)
    frame.loc[frame["lang"] == "de", "w"] *= 3  # a weight for each group is fine
    quiet(frame.evalci.diff_ci, "model", item="item", by="lang", weights="w")
    frame.loc[365, "w"] = 100
    with pytest.raises(ex.WeightError, match=r"1 item\(s\) of 'item'.*5 in lang='de' \(.* and 100\)"):
        frame.evalci.diff_ci("model", item="item", by="lang", weights="w")


def test_rounding_is_no_second_weight():
    frame = made()
    normalised = frame["w"] / frame.groupby("model")["w"].transform("sum") * (1 + 1e-15 * frame.index)
    assert_same(
        quiet(frame.assign(w=normalised).evalci.diff_ci, "model", item="item", weights="w"),
        quiet(frame.evalci.diff_ci, "model", item="item", weights="w"),
    )


@each_name
@pytest.mark.parametrize(("value", "what"), [(-1.0, "negative"), (np.nan, "missing"), (np.inf, "infinite")])
def test_bad_weights(name, value, what):
    frame = made().copy()
    frame.loc[[3, 9], "w"] = value
    with pytest.raises(ex.WeightError, match=f"2 of 360 weights in 'w' are {what}, at row 3, row 9"):
        getattr(frame.evalci, name)("model", item="item", weights="w")
    cube = frame.set_index(["model", "item"])[["score", "w"]].to_xarray()
    with pytest.raises(ex.WeightError, match=f"2 of 360 weights in 'w' are {what}"):
        getattr(cube.evalci, name)("model", weights="w")


@each_name
def test_weights_of_a_group_that_are_all_zero(name):
    frame = pd.concat([made().assign(lang="en"), made().assign(lang="de")], ignore_index=True)
    frame.loc[frame["lang"] == "de", "w"] = 0
    with pytest.raises(ex.WeightError, match=r"All weights of 1 group\(s\) are 0: lang='de'"):
        getattr(frame.evalci, name)("model", item="item", by="lang", weights="w")
    cube = frame.set_index(["lang", "model", "item"])[["score", "w"]].to_xarray()
    with pytest.raises(ex.WeightError, match=r"All weights of 1 group\(s\) are 0: lang='de'"):
        getattr(cube.evalci, name)("model", item="item", weights="w")
    with pytest.raises(ex.WeightError, match="All 360 weights in 'w' are 0"):
        getattr(made().assign(w=0).evalci, name)("model", item="item", weights="w")


def test_a_system_whose_items_all_weigh_nothing_is_no_system(rag):
    with pytest.raises(ex.WeightError, match="more than one weight"):
        rag.assign(w=(rag["model"] != "atlas") * 1).evalci.compare("model", item="item", weights="w")


@each_name
def test_names_with_two_parts(name):
    for weights in ("model", "item", "doc", "score"):
        with pytest.raises(ex.MethodError, match="The weights say how much each item counts"):
            getattr(made().evalci, name)("model", item="item", cluster="doc", weights=weights)


@each_name
def test_weights_that_are_not_there(name):
    with pytest.raises(ex.ColumnNotFoundError, match=r"weights='weight'.*'w'"):
        getattr(made().evalci, name)("model", item="item", weights="weight")
    cube = made().set_index(["model", "item"])[["score", "w"]].to_xarray()
    with pytest.raises(ex.DimensionError, match="the dim 'lang'"):
        getattr(cube.evalci, name)("model", weights=xr.DataArray([1.0, 2.0], dims="lang"))


def test_ids_that_repeat_along_an_unsplit_dim():
    """Positions that share an item must share its weight, too, and those of weight 0 are no copies."""
    cube = made().set_index(["model", "item"])[["score", "w"]].to_xarray().isel(model=[0, 1])
    cube = cube.assign(w=("item", np.where(np.arange(120) < 110, 2.0, 0.0)))
    cube = cube.assign_coords(q=("item", np.arange(120) % 110))
    with pytest.raises(
        ex.WeightError, match=r"10 item\(s\) of 'q' have more than one weight in 'w': 0 \(0 and 2\)"
    ):
        cube.evalci.diff_ci("model", item="q", weights="w")
    with pytest.raises(ex.PairingError, match="two scores or more"):
        cube.assign(w=("item", np.ones(120))).evalci.diff_ci("model", item="q", weights="w")


# Warnings


def told(frame, name="diff_ci", **options):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        getattr(frame.evalci, name)("model", item="item", weights="w", pairs=[("m0", "m1")], **options)
    return {w.category: str(w.message) for w in seen}


def test_a_dominating_item_or_cluster_is_named():
    frame = made().assign(w=lambda f: np.where(f["item"] == 17, 80.0, 1.0))
    assert (
        "one item of 'item' holds over a quarter of the weight (17 with 40.2% of the weight)"
        in told(frame)[ex.DominantClusterWarning]
    )
    found = told(frame, cluster="doc")[ex.DominantClusterWarning]
    assert "one cluster of 'doc' holds over a quarter of the weight (4 with 41.7% of the weight)" in found
    few = told(frame.assign(w=lambda f: f["w"] ** 3))
    assert "few items of 'item' (1 effective of 120), by their weights" in few[ex.FewClustersWarning]
    assert not told(made(), cluster="doc")
    assert not told(made())


def test_few_differing_items_by_their_weights():
    """Many items differ, but those that weigh something are few."""
    frame = made()
    wide = frame.pivot(index="item", columns="model", values="score")
    differs = wide.index[wide["m0"] != wide["m1"]]
    assert len(differs) >= 30
    frame = frame.assign(w=frame["item"].map(lambda i: 1e-3 if i in differs[10:] else 1.0))
    found = told(frame, "mcnemar")[ex.FewDiscordantWarning]
    assert f"the systems differ on {len(differs)} of 120 items, which by their weights are worth 10" in found
    assert "exact" not in found


def test_a_bootstrap_of_few_effective_items():
    frame = made().assign(w=lambda f: np.where(f["item"] < 10, 1.0, 1e-3))
    found = told(frame, method="bootstrap_percentile", rng=1)[ex.BootstrapWarning]
    assert "effective items" in found


def test_no_warning_of_numpy_where_one_item_is_all():
    """An item beside which the others vanish."""
    frame = made().assign(w=lambda f: np.where(f["item"] == 17, 1.0, 1e-20))
    for method in ("tango", "cr0", "cr2", "cr3"):
        quiet(frame.evalci.diff_ci, "model", item="item", weights="w", method=method)
    for method in ("icc_averaged", "cr2"):
        quiet(frame.evalci.compare, "model", item="item", cluster="doc", weights="w", method=method, rng=1)
