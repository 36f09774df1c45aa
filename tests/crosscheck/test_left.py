"""A fitted model whose numbers were changed: what a reason does not explain is an alarm."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from strategies import quiet

from evalci_accessor.crosscheck import estimators as crosscheck
from evalci_accessor.exceptions import MethodError

from .test_against import OF, OLS, THREE, TWO, UNEVEN, beside, by, gee, jackknife, of_pair


class Changed:
    """Results with another error, or another estimate."""

    def __init__(self, results, error=1.0, shift=0.0):
        self.kept, self.error, self.params = results, error, results.params + shift

    def __getattr__(self, name):
        return getattr(self.kept, name)

    def cov_params(self):
        return self.kept.cov_params() * self.error**2

    @property
    def bse(self):
        return self.kept.bse * self.error

    def t_test(self, contrast):
        tested = self.kept.t_test(contrast)
        shift = float(np.ravel(self.params)[0] - np.ravel(self.kept.params)[0])
        return type("Tested", (), {"effect": tested.effect + shift, "sd": tested.sd * self.error})


DOC, CLUSTER = by(TWO["doc"]), by(UNEVEN["cluster"])
CENTRED = UNEVEN.assign(x=np.arange(47.0) % 5 - (np.arange(47.0) % 5).mean())
EMPTY = UNEVEN.assign(w=(UNEVEN["cluster"] != UNEVEN["cluster"].iloc[0]).astype(float))
EXPLAINED = {
    "(N-1)/(N-K)": (lambda: smf.ols("score ~ model", TWO).fit(**DOC), of_pair, {}),
    "(G-1)/G": (lambda: jackknife("cluster-crv3", cov_kwds={"groups": UNEVEN["cluster"]}), beside, {}),
    "scaling_factor": (
        lambda: smf.logit("score ~ 1", UNEVEN).fit(disp=0, **by(UNEVEN["cluster"], scaling_factor=1.5)), beside, {},
    ),
    "CR0 against CR1": (lambda: OLS.fit(**by(UNEVEN["cluster"], use_correction=False)), beside, {}),
    "of rows less coefficients": (lambda: OLS.fit(use_t=True, **by(UNEVEN["cluster"], df_correction=False)), beside, {}),
    "so that its residuals": (lambda: smf.ols("score ~ x", CENTRED).fit(**CLUSTER), beside, {}),
    "other clusters": (lambda: OLS.fit(**by(np.arange(47) % 5)), beside, {}),
    "cov_type='hc1'": (lambda: smf.ols("score ~ model", TWO).fit(cov_type="HC1"), of_pair, {}),
    "cov_type='hc0'": (lambda: smf.logit("score ~ 1", UNEVEN).fit(disp=0, cov_type="HC0"), beside, {}),
    "is a mean": (lambda: smf.ols("score ~ model", TWO).fit(**DOC), of_pair, {"contrast": "Intercept"}),
    "with the clusters of weight 0": (
        lambda: smf.wls("score ~ 1", EMPTY, weights=EMPTY["w"] * 3).fit(**CLUSTER), beside, {"frame": EMPTY, "weights": "w"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("error", "shift"), [(1.0, 0.0), (1.01, 0.0), (3.0, 0.0), (0.1, 0.0), (1.0, 0.1)])
@pytest.mark.parametrize("name", EXPLAINED)
def test_what_a_reason_leaves_is_an_alarm(name, error, shift):
    fit, look, options = EXPLAINED[name]
    got = look(Changed(fit(), error, shift), **options)
    assert name in got["note"]
    if (error, shift) != (1.0, 0.0):
        assert (got["agrees"], got["status"]) == (False, "differs")
    else:
        assert got["status"] == ("agrees" if name.startswith("CR0") else "differs as expected")


def test_degrees_of_freedom_that_no_factor_explains():
    results = smf.ols("score ~ model", TWO).fit(use_t=True, **DOC)
    assert of_pair(results)["status"] == "differs as expected"
    results.df_resid_inference = 6
    got = of_pair(results)
    assert (got["status"], "t(6), ours t(9); which nothing here explains" in got["note"]) == ("differs", True)


@pytest.mark.parametrize("weights", ["freq_weights", "var_weights"])
def test_weights_of_a_generalized_linear_model_are_those_given(weights):
    frame = UNEVEN.assign(w=1.0 + np.arange(47) % 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = smf.glm("score ~ 1", frame, family=sm.families.Binomial(), **{weights: frame["w"]}).fit(
            **CLUSTER
        )
    assert beside(results, frame, weights="w")["status"] == "agrees"
    assert beside(Changed(results, 1.01), frame, weights="w")["status"] == "differs"
    assert "none are given here" in beside(results, frame)["note"]


def test_weights_that_a_fit_finds_are_none():
    for results in (
        smf.glm("score ~ x", CENTRED, family=sm.families.Binomial()).fit(**CLUSTER), smf.rlm("score ~ 1", UNEVEN).fit(),
    ):  # fmt: skip
        assert "weights" not in beside(results)["note"]


def test_a_clustering_in_another_leaves():
    frame = UNEVEN.assign(code=pd.factorize(UNEVEN["cluster"])[0], row=np.arange(47))
    frame["top"] = frame["code"] // 2
    for names, cluster in (
        (["code", "top"], ["code", "top"]),
        (["code", "top"], "top"),
        (["code", "row"], ["row", "code"]),
    ):
        results = OLS.fit(use_t=True, **by(frame[names].to_numpy()))
        got = beside(results, frame, cluster)
        assert (got["status"], got["should_agree"], got["note"]) == ("agrees", True, "")
        assert beside(Changed(results, 1.01), frame, cluster)["status"] == "differs"


def test_rows_without_weight_leave():
    results = smf.wls("score ~ 1", EMPTY, weights=EMPTY["w"]).fit(
        **by(EMPTY["cluster"], use_correction=False)
    )
    got = beside(results, EMPTY, weights="w")
    assert (got["status"], got["n"]) == ("agrees", int(EMPTY["w"].sum()))
    t = smf.wls("score ~ 1", EMPTY, weights=EMPTY["w"]).fit(
        use_t=True, **by(EMPTY["cluster"], use_correction=False)
    )
    assert "t(7) with the clusters of weight 0, ours t(6)" in beside(t, EMPTY, weights="w")["note"]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        without = smf.glm("score ~ 1", EMPTY, freq_weights=EMPTY["w"], family=sm.families.Binomial()).fit(
            **CLUSTER
        )
        got = beside(without, EMPTY, weights="w")
    assert "minus signs" not in got["note"]


CONTRASTS = {
    "model[A] - model[B]": 1, "-1 * model[B] + model[A] = 0": 1, "model[A]*1 - model[B] / 1 = 0.5": 1, "2*model[A] - 2*model[B]": 2,
}  # fmt: skip


@pytest.mark.parametrize("contrast", CONTRASTS)
def test_contrasts_of_three_systems(contrast):
    results = smf.ols("score ~ 0 + model", THREE).fit(**by(THREE["doc"], use_correction=False))
    got = of_pair(results, THREE, contrast=contrast)
    assert got["status"] == ("agrees" if CONTRASTS[contrast] == 1 else "differs as expected")
    assert of_pair(Changed(results, 1.01), THREE, contrast=contrast)["status"] == "differs"
    assert of_pair(results, THREE, contrast=[1, -1, 0])["status"] == "agrees"


def test_more_columns_than_are_looked_at(monkeypatch):
    monkeypatch.setattr("evalci_accessor.crosscheck.fitted._MAX_COLUMNS", 20)
    results = smf.ols("score ~ model + C(item)", TWO).fit(**by(TWO["doc"], use_correction=False))
    got = of_pair(results, contrast="model[T.B]")
    assert (
        "not checked: its 51 columns are too many to look at its rows; its estimate is the same"
        in got["note"]
    )
    assert "estimand" not in got["note"]


def test_models_that_are_means_by_another_name():
    for results in (
        smf.gls("score ~ 1", UNEVEN).fit(**CLUSTER),
        smf.poisson("score ~ 1", UNEVEN).fit(disp=0, **CLUSTER),
    ):
        got = beside(results)
        assert (got["status"], got["should_agree"]) == ("agrees", True)
        assert "not known" not in got["note"]


def test_errors_shown_that_are_not_those_of_the_covariance():
    results = Changed(gee("score ~ model", TWO))
    results.__class__ = type("Shown", (Changed,), {"bse": property(lambda self: self.kept.bse * 2)})
    got = of_pair(results)
    assert (got["agrees"], got["status"]) == (False, "differs")
    assert "of its cov_params()" in got["note"]


def test_results_without_a_covariance():
    results = Changed(OLS.fit())
    results.cov_params = lambda: (_ for _ in ()).throw(ValueError("need covariance of parameters"))
    with pytest.raises(
        MethodError,
        match=r"has no covariance of its coefficients: its cov_params\(\) raises ValueError: need",
    ):
        beside(results)


@pytest.mark.parametrize("error", [1.0, 1.01, 3.0])
def test_the_factor_of_a_made_model_excuses_itself_alone(error, monkeypatch):
    whole = crosscheck._from_logit

    def changed(results, level):
        fit = whole(results, level)
        return dataclasses.replace(fit, std_error=fit.std_error * error)

    monkeypatch.setattr(crosscheck, "_from_logit", changed)
    answer = quiet(TWO.evalci.crosscheck, "doc", **OF).set_index("estimator")["status"]
    assert answer["glm_binomial_cluster"] == ("differs as expected" if error == 1 else "differs")
