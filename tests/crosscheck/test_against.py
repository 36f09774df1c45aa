"""A fitted model of the caller's beside ours: its direction, what theory expects of it, its clusters, and what became of it."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from strategies import frame_of, paired_frames, quiet, score_frames

from evalci_accessor.crosscheck.estimators import Fit
from evalci_accessor.crosscheck.fitted import Theirs
from evalci_accessor.exceptions import MethodError, MissingClusterError
from evalci_accessor.methods import crosscheck as _crosscheck
from evalci_accessor.stats.pairs import difference
from evalci_accessor.stats.rates import moments

UNEVEN = frame_of([3, 9, 1, 4, 0, 6, 2, 7], [4, 10, 5, 4, 3, 6, 6, 9])
OLS = smf.ols("score ~ 1", UNEVEN)
OF = {"factor": "model", "item": "item"}


def made(seed=0, sizes=(3, 8, 2, 5, 6, 1, 9, 4, 7, 5), models=("A", "B"), slope=0.6):
    """Systems on the same items, in documents that they take differently."""
    rng = np.random.default_rng(seed)
    doc = np.repeat(np.arange(len(sizes)), sizes)
    level = rng.normal(size=(1, len(sizes))) + slope * rng.normal(size=(len(models), len(sizes)))
    latent = level[:, doc] + rng.normal(size=len(doc)) + rng.normal(size=(len(models), len(doc)))
    return pd.DataFrame(
        {
            "model": np.repeat(models, len(doc)), "doc": np.tile(doc, len(models)),
            "item": np.tile(np.arange(len(doc)), len(models)),
            "score": (latent > np.linspace(-0.6, 0.6, len(models))[:, None]).astype(float).ravel(),
        }
    )  # fmt: skip


ONE = np.array([0.0, 1.0])
TWO, THREE = made(), made(models=("A", "B", "C"))


def by(groups, **more):
    return {"cov_type": "cluster", "cov_kwds": {"groups": groups, **more}}


def jackknife(kind, **options):
    """Least squares with a jackknife of the clusters, which statsmodels has from 0.15."""
    try:
        return OLS.fit(cov_type=kind, **options)
    except ValueError:
        if sm.__version__ < "0.15":
            pytest.skip(f"statsmodels {sm.__version__} has no such variance")
        raise


def beside(results, frame=UNEVEN, cluster="cluster", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = frame.evalci.crosscheck(cluster, against=results, **options)
    return answer.set_index("estimator").loc["against"]


def of_pair(results, frame=TWO, pair=("A", "B"), **options):
    return beside(results, frame, "doc", pairs=[pair], **OF, **options)


def gee(formula, frame, **options):
    return smf.gee(formula, "doc", frame, **options).fit()


def exchangeable():
    return {"cov_struct": sm.cov_struct.Exchangeable()}


# Direction


NAMED = {
    "treatment": ("score ~ model", None), "wrapped": ("score ~ C(model)", None),
    "reference": ("score ~ C(model, Treatment('B'))", None), "sum": ("score ~ C(model, Sum)", None),
    "contrast": ("score ~ 0 + model", "model[A] - model[B]"), "reversed": ("score ~ 0 + model", "model[B] - model[A] = 0"),
}  # fmt: skip


@pytest.mark.parametrize("pair", [("A", "B"), ("B", "A")])
@pytest.mark.parametrize("name", NAMED)
def test_the_name_of_the_coefficient_tells_the_direction(name, pair):
    formula, contrast = NAMED[name]
    got = of_pair(gee(formula, TWO), pair=pair, contrast=contrast)
    assert got["status"] == "agrees"
    assert got["should_agree"]
    assert got["estimate_difference"] == pytest.approx(0, abs=1e-9)
    up = name in ("reference", "sum", "contrast")  # these are A minus B
    assert ("and was turned" in got["note"]) == (up != (pair == ("A", "B")))


@pytest.mark.parametrize("pair", [("A", "B"), ("B", "A")])
def test_estimates_that_differ_are_turned_too(pair):
    some = TWO.sample(frac=0.6, random_state=0)
    for results in (
        gee("score ~ model", some, **exchangeable()),
        smf.ols("score ~ model", some).fit(**by(some["doc"])),
    ):
        got, effect = of_pair(results, pair=pair), float(results.params["model[T.B]"])
        assert got["estimate"] == pytest.approx(effect if pair == ("B", "A") else -effect)
        assert ("'model[T.B]' is 'B' minus 'A', and was turned" in got["note"]) == (pair == ("A", "B"))
        assert got["status"] == "differs as expected"
        assert "dropped rows" in got["note"]


def test_the_name_wins_over_the_signs():
    # Of these rows B is better, of all of them A is.
    frame = TWO.assign(
        score=np.where(TWO["item"] < 40, TWO["model"] == "A", TWO["model"] == "B").astype(float)
    )
    some = frame[frame["item"] > 35]
    got = of_pair(smf.ols("score ~ model", some).fit(**by(some["doc"])), frame)
    assert got["estimate"] < 0 < got["estimate"] - got["estimate_difference"]


def test_without_a_name_the_sign_tells_the_direction():
    frame = TWO.assign(second=(TWO["model"] == "B").astype(float))
    for pair in (("A", "B"), ("B", "A")):
        got = of_pair(gee("score ~ second", frame), pair=pair)
        assert got["status"] == "agrees"
        assert ("by its sign the difference is the other way round there, and was turned" in got["note"]) == (
            pair == ("A", "B")
        )
    some = frame.sample(frac=0.6, random_state=0)
    got = of_pair(gee("score ~ second", some, **exchangeable()))
    assert got["estimate"] > 0
    assert "by its sign" in got["note"]


def test_a_mean_is_never_turned():
    got = beside(smf.ols("I(-score) ~ 1", UNEVEN).fit(**by(UNEVEN["cluster"])))
    assert got["estimate"] < 0
    assert "turned" not in got["note"]
    assert "other scores: their own mean is -0.68" in got["note"]
    assert got["status"] == "differs as expected"


def test_three_systems():
    for pair in (("A", "B"), ("B", "A")):
        got = of_pair(gee("score ~ model", THREE), THREE, pair, contrast="model[T.B]")
        assert (got["status"], got["n"], got["should_agree"]) == ("agrees", len(THREE), True)
    got = of_pair(gee("score ~ model", THREE), THREE, ("B", "C"), contrast="model[T.B]")
    assert (
        "another estimand: 'model[T.B]' is no difference from 'C', which has a coefficient of its own"
        in got["note"]
    )
    assert got["status"] == "differs as expected"
    assert (
        of_pair(gee("score ~ model", THREE), THREE, ("C", "B"), contrast="model[T.B] - model[T.C]")["status"]
        == "agrees"
    )


# What theory expects


def test_what_should_agree_and_does_not_is_the_alarm(monkeypatch):
    least, two = OLS.fit(use_t=True, **by(UNEVEN["cluster"])), gee("score ~ model", TWO)
    logit = smf.logit("score ~ 1", UNEVEN).fit(disp=0, **by(UNEVEN["cluster"]))
    plain = [beside(least), beside(logit), of_pair(two)]
    assert [got["status"] for got in plain] == ["agrees"] * 3
    rate, pair = moments.cr_variance, difference.pair_variance
    monkeypatch.setattr(moments, "cr_variance", lambda t, mo, kind: rate(t, mo, kind) * 1.01)
    monkeypatch.setattr(
        difference,
        "pair_variance",
        lambda t, which: dataclasses.replace(found := pair(t, which), value=found.value * 1.01),
    )
    for got in (beside(least), beside(logit), of_pair(two)):
        assert (got["agrees"], got["should_agree"], got["status"]) == (False, True, "differs")
    monkeypatch.undo()
    # Numbers of theirs that do not follow from what was fitted.
    least._results.cov_params_default = least.cov_params_default * 1.01
    assert beside(least)["status"] == "differs"


def test_a_wrong_estimate_of_ours_is_the_alarm(monkeypatch):
    whole = _crosscheck.rate

    def moved(*args, **kwargs):
        found = whole(*args, **kwargs)
        return dataclasses.replace(found, estimate=found.estimate + 1e-4)

    monkeypatch.setattr(_crosscheck, "rate", moved)
    assert beside(OLS.fit(use_t=True, **by(UNEVEN["cluster"])))["status"] == "differs"


def test_degrees_of_freedom_count():
    got = beside(OLS.fit(use_t=True, **by(UNEVEN["cluster"], df_correction=False)))
    assert got["relative_difference"] == 0
    assert (got["agrees"], got["should_agree"], got["status"]) == (False, False, "differs as expected")
    assert got["note"] == "t(46) of rows less coefficients (N-K), ours t(7)"
    assert beside(OLS.fit(use_t=True, **by(UNEVEN["cluster"])))["status"] == "agrees"
    odd = OLS.fit(use_t=True, **by(UNEVEN["cluster"]))
    odd.df_resid_inference = 6
    got = beside(odd)
    assert (got["status"], got["note"]) == ("differs", "t(6), ours t(7)")


@pytest.mark.parametrize("cov_type", ["HC0", "HC1", "HC2", "HC3", "nonrobust"])
def test_rows_that_are_clusters(cov_type):
    even = made(sizes=(4,) * 12).query("model == 'A'")
    means = even.groupby("doc", as_index=False)["score"].mean()
    results = smf.ols("score ~ 1", means).fit(cov_type=cov_type, use_t=False)
    got = beside(results, even, "doc")
    assert (got["status"], got["should_agree"], got["cluster"], got["n_clusters"]) == ("agrees", True, "", 12)
    assert got["compared_with"] == {"HC0": "cr0", "HC2": "cr2", "HC3": "cr3"}.get(cov_type, "cr1")
    # Weighted by their sizes the means of unequal clusters are the same too, but for the classical variance.
    table = UNEVEN.groupby("cluster", as_index=False)["score"].agg(["mean", "size"])
    got = beside(smf.wls("mean ~ 1", table, weights=table["size"]).fit(cov_type=cov_type, use_t=False))
    assert got["should_agree"] == got["agrees"] == (cov_type != "nonrobust")


FACTORS = {
    "stacked": (lambda: of_pair(smf.ols("score ~ model", TWO).fit(**by(TWO["doc"]))), "a further factor (N-1)/(N-K) = 1.01"),
    "scaled": (
        lambda: beside(smf.logit("score ~ 1", UNEVEN).fit(disp=0, **by(UNEVEN["cluster"], scaling_factor=1.5))),
        "a further factor scaling_factor = 1.5",
    ),
    "jackknife": (
        lambda: beside(jackknife("cluster-crv3", cov_kwds={"groups": UNEVEN["cluster"]})),
        "a further factor (G-1)/G = 0.875",
    ),
    "centred": (
        lambda: beside(jackknife("cluster-jk", cov_kwds={"groups": UNEVEN["cluster"], "use_correction": False})),
        "its jackknife is centred on the mean of its own estimates",
    ),
    "kind": (lambda: beside(smf.quantreg("score ~ 1", UNEVEN).fit()), "what a QuantReg estimates is not known here"),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTORS)
def test_another_variance_is_named(name):
    fit, words = FACTORS[name]
    got = fit()
    assert (got["agrees"], got["should_agree"], got["status"]) == (False, False, "differs as expected")
    assert words in got["note"]


def test_cr3_of_least_squares():
    got = beside(jackknife("cluster-crv3", cov_kwds={"groups": UNEVEN["cluster"], "use_correction": False}))
    assert (got["status"], got["compared_with"]) == ("agrees", "cr3")


def test_a_working_correlation_that_cancels():
    assert of_pair(gee("score ~ model", TWO, **exchangeable()))["status"] == "agrees"
    even = made(sizes=(4,) * 9)
    for frame, expected in ((even, True), (TWO, False)):
        results = gee("score ~ model", frame, family=sm.families.Binomial(), **exchangeable())
        assert of_pair(results, frame)["should_agree"] == expected
    assert beside(
        gee("score ~ 1", even.query("model == 'A'"), **exchangeable()), even.query("model == 'A'"), "doc"
    )["should_agree"]


def test_a_model_with_effects_of_the_items():
    got = of_pair(
        smf.ols("score ~ model + C(item)", TWO).fit(**by(TWO["doc"], use_correction=False)),
        contrast="model[T.B]",
    )
    assert (got["status"], got["should_agree"], got["compared_with"]) == ("agrees", True, "cr0")


@given(score_frames(groups=(1, 1), fractional=True), st.sampled_from([None, "w"]))
def test_the_same_fit_is_no_alarm(frame, weights):
    frame = frame.assign(w=1.0 + np.arange(len(frame)) % 3)
    results = smf.wls("score ~ 1", frame, weights=frame["w"] if weights else 1.0).fit(
        use_t=True, **by(frame["doc"])
    )
    assert beside(results, frame, "doc", weights=weights)["status"] in ("agrees", "skipped")


@given(paired_frames(systems=(2, 2), fractional=True), st.booleans())
def test_the_same_fit_of_a_difference_is_no_alarm(frame, stacked):
    if stacked:
        results = smf.ols("score ~ model", frame).fit(**by(frame["doc"], use_correction=False))
    else:
        wide = frame.pivot(index=["doc", "item"], columns="model", values="score").reset_index()
        results = sm.OLS(wide["m1"] - wide["m0"], np.ones(len(wide))).fit(use_t=True, **by(wide["doc"]))
    for pair in (("m0", "m1"), ("m1", "m0")):
        assert of_pair(results, frame, pair)["status"] in ("agrees", "skipped")


def test_a_contrast_that_is_no_difference():
    got = of_pair(gee("score ~ model", TWO), contrast="Intercept + model[T.B]")
    assert (
        "another estimand: 'Intercept + model[T.B]' is a mean, or a sum of them, and not a difference"
        in got["note"]
    )
    for formula, contrast in (("score ~ model", "Intercept"), ("score ~ 0 + model", "model[A]")):
        for pair in (("A", "B"), ("B", "A")):
            got = of_pair(gee(formula, TWO), pair=pair, contrast=contrast)
            assert (
                f"another estimand: {contrast!r} is a mean, or a sum of them, and not a difference"
                in got["note"]
            )
            assert "turned" not in got["note"]
            assert got["status"] == "differs as expected"
            assert got["estimate"] > 0


@pytest.mark.parametrize("family", [sm.families.Gaussian, sm.families.Binomial])
def test_the_influence_of_rows_is_the_sandwich(family):
    some = TWO.sample(frac=0.8, random_state=1)
    results = gee("score ~ model", some, family=family())
    found = Theirs(results, None, sides=("A", "B")).rows
    error = np.sqrt((np.bincount(some["doc"], weights=found.rows) ** 2).sum())
    got = of_pair(results, pair=("B", "A"))
    assert_allclose([got["estimate"], got["std_error"]], [found.estimate, error], rtol=1e-6)
    more = smf.wls("score ~ model + doc", some, weights=1.0 + some["item"] % 4).fit(
        **by(some["doc"], use_correction=False)
    )
    found = Theirs(more, "model[T.B]", sides=("A", "B")).rows
    error = np.sqrt((np.bincount(some["doc"], weights=found.rows) ** 2).sum())
    assert_allclose([more.params.iloc[1], more.bse.iloc[1]], [found.estimate, error], rtol=1e-9)


# Clusters

ORDER = UNEVEN.sample(frac=1, random_state=0)
ID = pd.Series(pd.factorize(UNEVEN["cluster"])[0], index=UNEVEN.index)
CROSSING = pd.Series(np.arange(len(UNEVEN)) % 5, name="topic")


def clusters_of(groups):
    return OLS.fit(**by(groups))


def test_the_cluster_column_names_the_fits_own():
    answer = quiet(UNEVEN.evalci.crosscheck, "cluster", against=clusters_of(CROSSING)).set_index("estimator")[
        "cluster"
    ]
    assert answer["against"] == "topic"
    assert set(answer.drop("against")) == {"cluster"}
    two = UNEVEN.assign(topic=CROSSING, code=ID)
    assert beside(clusters_of(two[["code", "topic"]]))["cluster"] == "code + topic"
    assert beside(clusters_of(two["cluster"].to_numpy()))["cluster"] == ""
    assert beside(smf.gee("score ~ 1", "topic", two).fit())["cluster"] == "topic"
    alone = beside(OLS.fit())
    assert (alone["cluster"], alone["n_clusters"]) == ("", len(UNEVEN))


def test_the_cluster_of_a_cube_lies_along_the_estimators(cube):
    one = cube.isel(model=0)
    frame = one["score"].to_dataframe().reset_index()
    got = quiet(
        one.evalci.crosscheck,
        "doc_id",
        against=smf.ols("score ~ 1", frame).fit(**by(frame["doc_id"].rename("d"))),
    )
    assert got["cluster"].dims == ("estimator",)
    assert got["cluster"].sel(estimator=["cr1", "against"]).values.tolist() == ["doc_id", "d"]
    assert got["status"].sel(estimator="against") == "agrees"


RELATIONS = {
    "crossing": (CROSSING, "5 there, 8 here (another clustering, which crosses yours: name both in a list)"),
    "coarser": (ID // 2, "4 there, 8 here (a coarser clustering, or ids merged, rounded or cut off)"),
    "finer": (ID * 2 + np.arange(47) % 2, "16 there, 8 here (a finer clustering)"),
    "as many": (pd.Series(np.arange(47) % 8), "as many, but of other sizes (another clustering, which crosses yours"),
    "shuffled": (ID.sample(frac=1, random_state=1), "as many, but with other rows (are its cluster ids in the order of its rows?)"),
}  # fmt: skip


@pytest.mark.parametrize("name", RELATIONS)
def test_clusters_are_laid_beside_ours_row_by_row(name):
    groups, words = RELATIONS[name]
    got = beside(clusters_of(groups.to_numpy()))
    assert f"other clusters: {words}" in got["note"]
    assert got["status"] == "differs as expected"


def test_rows_in_another_order():
    assert beside(smf.ols("score ~ 1", ORDER).fit(**by(ORDER["cluster"])))["status"] == "agrees"
    fit = smf.ols("score ~ 1", ORDER)
    assert "8 here (perhaps a coarser clustering" in beside(fit.fit(**by(ID[ORDER.index] // 2)))["note"]
    assert "8 here (perhaps a finer clustering)" in beside(fit.fit(**by(np.arange(47) // 2)))["note"]
    # The largest of ours holds 10 rows, so clusters of at most 8 are no unions of ours.
    assert (
        "6 there, 8 here (another clustering, which crosses yours"
        in beside(fit.fit(**by(np.arange(47) % 6)))["note"]
    )
    got = beside(fit.fit(**by(ID.to_numpy())))
    assert (
        "its clusters hold other rows than yours: are its cluster ids in the order of its rows?"
        in got["note"]
    )
    assert got["status"] == "differs as expected"


@pytest.mark.parametrize("shuffled", [False, True])
def test_clusters_of_two_systems_are_laid_beside_ours(shuffled):
    frame = TWO.sample(frac=1, random_state=2) if shuffled else TWO
    for groups, words in (
        (frame["item"] % 4, "another clustering, which"),
        (frame["doc"] // 2, "(a coarser"),
        (frame["item"], "(a finer"),
    ):
        got = of_pair(smf.ols("score ~ model", frame).fit(**by(groups, use_correction=False)), frame)
        assert words in got["note"]
        assert got["cluster"] == groups.name
        assert got["status"] == "differs as expected"
    wide = TWO.pivot(index=["doc", "item"], columns="model", values="score").reset_index()
    model = sm.OLS((wide["A"] - wide["B"]).to_numpy(), np.ones(len(wide)))
    assert of_pair(model.fit(**by(wide["doc"])), frame)["status"] == "agrees"


# Columns, status and the default


def test_a_narrow_print_shows_the_verdict(rag):
    answer = quiet(rag[rag["model"] == "atlas"].evalci.crosscheck, "doc_id")
    for shown in (answer, answer.assign(model="atlas")[["model", *answer]]):
        with pd.option_context("display.width", 80, "display.max_columns", 0):
            text = str(shown)
        assert max(map(len, text.splitlines())) <= 80
        head = text.splitlines()[0].split()
        assert head[0] in ("estimator", "model")
        assert "estimator" in head
        assert head[-2:] == ["agrees", "status"]
        assert "not compared" in text


def test_status():
    answer = quiet(UNEVEN.evalci.crosscheck, "cluster").set_index("estimator")["status"]
    assert set(answer[["cr0", "cr1", "cr2", "cr3", "default"]]) == {"not compared"}
    assert set(answer.drop(["cr0", "cr1", "cr2", "cr3", "default", "gee_exchangeable"])) == {"agrees"}
    assert answer["gee_exchangeable"] == "differs as expected"
    wide = quiet(UNEVEN.assign(score=UNEVEN["score"] * 7 - 2).evalci.crosscheck, "cluster").set_index(
        "estimator"
    )["status"]
    assert (wide["glm_binomial_cluster"], wide["default"]) == ("skipped", "agrees")
    flat = quiet(UNEVEN.assign(score=1).evalci.crosscheck, "cluster").set_index("estimator")["status"]
    assert set(flat.drop(["cr0", "cr1", "cr2", "cr3", "default"])) == {"skipped"}
    empty = UNEVEN.assign(score=np.nan, model="b")
    both = quiet(
        pd.concat([UNEVEN.assign(model="a"), empty]).evalci.crosscheck,
        "cluster",
        by="model",
        nan_policy="omit",
    )
    assert set(both[both["model"] == "b"]["status"]) == {"skipped"}


def test_a_model_of_scores_without_variance():
    frame = frame_of([2, 2, 2, 2], 4)
    got = beside(smf.ols("score ~ 1", frame).fit(**by(frame["cluster"])), frame)
    assert got["status"] == "skipped"
    assert got["note"].startswith("no variance")


def test_a_default_whose_estimate_is_wrong_differs(monkeypatch):
    whole = _crosscheck.estimate
    monkeypatch.setattr(
        _crosscheck,
        "estimate",
        lambda *args: dataclasses.replace(found := whole(*args), estimate=found.estimate + 1e-4),
    )
    default = quiet(UNEVEN.evalci.crosscheck, "cluster").set_index("estimator").loc["default"]
    assert (default["status"], default["agrees"]) == ("differs", False)
    assert "its estimate is not that of ols_cluster_t" in default["note"]


def note_of_default(frame, **options):
    row = quiet(frame.evalci.crosscheck, "cluster", **options).set_index("estimator")
    return row["note"]["default"], row["std_error"]["default"] / row["std_error"]["cr1"]


def test_an_error_of_the_default_far_from_that_of_cr1_is_told():
    note, ratio = note_of_default(frame_of([4, 4, 3, 4, 4, 3], 8))
    assert ratio > 1.3
    assert note.endswith(f"; its error is {ratio:.2g} times CR1's: few effective clusters (6)")
    note, ratio = note_of_default(frame_of([1, 2] * 40, 3))
    assert ratio > 1.3
    assert note.endswith("times CR1's: CR1's is below that of independent items")
    rng = np.random.default_rng(0)
    note, ratio = note_of_default(frame_of(rng.binomial(8, rng.beta(2, 2, 60)), 8))
    assert ratio < 1.3
    assert note == "method='icc_averaged', which statsmodels lacks: its estimate equals that of ols_cluster_t"


def test_rounding_is_no_difference():
    answer = quiet(UNEVEN.evalci.crosscheck, "cluster").set_index("estimator")["relative_difference"]
    assert answer["ols_cluster_t"] == answer["ols_cr2"] == 0
    theirs = Fit(estimate=0.5, std_error=0.1 * (1 + 3e-12))
    found = _crosscheck.compare(theirs, {"estimate": 0.5, "std_error": 0.1, "df": np.nan}, 1e-6)
    assert 0 < found["relative_difference"] < 1e-11


# Mixed models


def fit_mixed(frame, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return smf.mixedlm("score ~ model", frame, groups="doc", **options).fit()


def test_a_random_intercept_cancels_in_a_difference():
    frame = made(slope=1.5)
    results = fit_mixed(frame)
    got, n = of_pair(results, frame), frame["item"].nunique()
    # What is left is the scatter of single scores, as if the rows of a document were independent.
    assert_allclose(results.bse["model[T.B]"], np.sqrt(2 * results.scale / n), rtol=1e-6)
    assert "the random intercept cancels in a difference" in got["note"]
    assert "it needs a random slope of the system" in got["note"]
    assert "not clustered" not in got["note"]
    assert got["estimate_difference"] == pytest.approx(0, abs=1e-6)
    assert got["relative_difference"] < -0.2
    assert got["status"] == "differs as expected"
    items = of_pair(fit_mixed(frame, vc_formula={"item": "0 + C(item)"}), frame)
    assert "the random intercept cancels" in items["note"]
    slope = of_pair(fit_mixed(frame, re_formula="~model"), frame)
    assert "cancels" not in slope["note"]
    assert "its error is that of the mixed model" in slope["note"]
    assert abs(slope["relative_difference"]) < 0.2


@pytest.mark.slow
def test_only_a_random_slope_finds_what_documents_add():
    found = []
    for seed in range(60):
        frame = made(seed, sizes=(6,) * 20, slope=1.5)
        for options in ({}, {"re_formula": "~model"}):
            results = fit_mixed(frame, **options)
            found.append((results.params["model[T.B]"], results.bse["model[T.B]"]))
    effect, error = np.array(found).reshape(60, 2, 2).transpose(2, 1, 0)
    true = effect[0].std(ddof=1)
    assert np.nanmedian(error[0]) < 0.75 * true
    assert 0.8 * true < np.nanmedian(error[1]) < 1.25 * true


# What is refused


def test_removed_data_are_said():
    for results in (smf.ols("score ~ 1", UNEVEN).fit(), smf.logit("score ~ 1", UNEVEN).fit(disp=False)):
        results.remove_data()
        with pytest.raises(
            MethodError, match=r"whose data were removed, by remove_data\(\).*Fit the model again"
        ):
            beside(results)


@pytest.mark.parametrize("options", [{}, OF], ids=["rate", "difference"])
def test_missing_ids_beside_a_model(options):
    lacking = TWO.assign(doc=TWO["doc"].astype(float).where(TWO["item"] % 9 > 0))
    frame = lacking if options else lacking[lacking["model"] == "A"]
    results = smf.ols("score ~ 1", frame).fit(**by(frame["doc"]))
    words = "statsmodels takes the rows without an id as one more cluster"
    with pytest.raises(MissingClusterError, match=words):
        beside(results, frame, "doc", **options)
    with pytest.raises(MissingClusterError) as error:
        beside(None, frame, "doc", **options)
    assert words not in str(error.value)
    assert beside(results, frame.dropna(), "doc", **options)["n_clusters"] == frame["doc"].nunique() + 1


def test_missing_ids_of_a_cube_beside_a_model(cube):
    one = cube.isel(model=0).assign_coords(doc_id=("item", [None, *cube["doc_id"].values[1:]]))
    with pytest.raises(MissingClusterError, match="as one more cluster"):
        one.evalci.crosscheck("doc_id", against=OLS.fit())


def test_a_single_coefficient_that_is_no_intercept_is_no_mean():
    frame = UNEVEN.assign(length=np.arange(len(UNEVEN)) % 7)
    got = beside(smf.ols("score ~ length - 1", frame).fit(**by(frame["cluster"])), frame)
    assert got["status"] == "differs as expected"
    assert "the coefficient of 'length', which is no constant" in got["note"]
    for many, options in ((2.0, {}), (-0.5, {"use_t": True})):
        got = beside(
            sm.OLS(UNEVEN["score"], many * np.ones(len(UNEVEN))).fit(**by(UNEVEN["cluster"]), **options)
        )
        assert_allclose([got["estimate_difference"], got["relative_difference"]], 0, atol=1e-9)
    # Of these the normal quantile is the caller's, and t agrees in full.
    assert got["status"] == "agrees"
