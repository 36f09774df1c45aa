"""Each warning: when it fires, whom it names, how often, where it points, and that benign data raise none."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from strategies import BENIGN, METHODS, frame_of, two_groups

from evalci_accessor import exceptions as ex

from .test_pair_warnings import CASES as PAIRED  # where the other warnings of pairs are, too

DESIGN_METHODS = ["cr0", "cr1", "cr2", "cr3", "wald", "wilson", "logit", "clopper_pearson", "korn_graubard"]


def caught(function, *args, **kwargs):
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function(*args, **kwargs)
    return seen


def only(seen, category):
    """The text of the one warning of a class."""
    (found,) = [w for w in seen if w.category is category]
    return str(found.message)


FEW = [5, 3, 4, 2], 5
DOMINANT = [60, *BENIGN], [90, *[5] * 40]
ALL_PASS = [5] * 40, 5
EQUAL_RATES = [3] * 40, 5
RARE = [5] * 38 + [4] * 2, 5
INFORMATIVE = [30] * 12 + [1] * 60, [30] * 12 + [3] * 60
BOOTSTRAP = {"method": "bootstrap_percentile", "n_resamples": 100}
SINGLE = [1] * 30 + [0] * 12, 1

CASES = {
    "few": (FEW, {}, ex.FewClustersWarning, r"few clusters \(4, 3 degrees of freedom\), so the interval leans on the prior"),
    "few, unequal": (([20, 3, 4, 2, 3, 4], [30] + [5] * 5), {}, ex.FewClustersWarning, r"few effective clusters \(3 of 6, "),
    "few, cr1": (FEW, {"method": "cr1"}, ex.FewClustersWarning, "the default method is made for this"),
    "few, interval at other ICCs": (FEW, {}, ex.FewClustersWarning, r"\[0\.\d+, 0\.\d+\] at ICC 0\.1 and \[.*\] at ICC 1\."),
    "dominant": (DOMINANT, {}, ex.DominantClusterWarning, r"the largest cluster of 'cluster', 'c0', holds 31\.0%"),
    "all pass": (ALL_PASS, {}, ex.DegenerateRateWarning, "all scores are 1, so the data cannot tell how clustered"),
    "all fail": (([0] * 40, 5), {}, ex.DegenerateRateWarning, "all scores are 0"),
    "equal rates": (EQUAL_RATES, {}, ex.DegenerateRateWarning, r"every cluster has the rate 0\.6"),
    "rare failures": (RARE, {}, ex.RareOutcomeWarning, r"the rarer outcome occurs in 2 cluster\(s\) only"),
    "rare passes": (([0] * 38 + [2] * 2, 5), {}, ex.RareOutcomeWarning, r"in 2 cluster\(s\) only"),
    "guard": (INFORMATIVE, {}, ex.InformativeSizeWarning, r"correlation of rate and size \+1\.00.*widened"),
    "single": (SINGLE, {}, ex.SingletonClusterWarning, "every cluster of 'cluster' holds one score.*item's own id"),
    "zero variance": (EQUAL_RATES, {"method": "cr1"}, ex.EffectiveSizeWarning,
                      r"the variance that cr1 estimates is zero.*n_eff = 40\)"),
    "bootstrap": (([4, 3, 5, 2, 3, 4, 1, 5, 3, 4], 5), BOOTSTRAP, ex.BootstrapWarning,
                  r"10 effective clusters is known to be too narrow.*The default gives \[0\.\d+, 0\.\d+\]"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_fires_and_names_the_group(case):
    (passes, sizes), options, category, text = CASES[case]
    seen = caught(two_groups(passes, sizes).evalci.cluster_ci, "cluster", by="model", **options)
    message = only(seen, category)
    assert message.startswith("model='A': ")
    with pytest.warns(category, match=text):
        warnings.warn(message, category, stacklevel=1)


@pytest.mark.parametrize("case", CASES)
def test_fires_without_groups(case):
    (passes, sizes), options, category, text = CASES[case]
    message = only(caught(frame_of(passes, sizes).evalci.cluster_ci, "cluster", **options), category)
    with pytest.warns(category, match=f"^[^=]*{text}"):
        warnings.warn(message, category, stacklevel=1)


@pytest.mark.parametrize("case", CASES)
def test_points_at_the_callers_line(case):
    (passes, sizes), options, category, _ = CASES[case]
    frame = frame_of(passes, sizes)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        frame.evalci.cluster_ci("cluster", **options)
    assert category in {w.category for w in seen}
    assert {w.filename for w in seen} == {__file__}
    assert len({w.lineno for w in seen}) == 1


@pytest.mark.parametrize("case", CASES)
def test_a_cube_says_the_same(case):
    (passes, sizes), options, category, _ = CASES[case]
    frame = frame_of(passes, sizes)
    alone = xr.DataArray(
        frame["score"].to_numpy(),
        dims="item",
        coords={"cluster_id": ("item", frame["cluster"])},
        name="score",
    )
    cube = alone.expand_dims(model=["A"])
    seen = caught(cube.evalci.cluster_ci, "cluster_id", **options)
    expected = only(
        caught(frame.assign(model="A").evalci.cluster_ci, "cluster", by="model", **options), category
    )
    said = only(seen, category).removesuffix(
        " If its scores lie along a dim that was kept, reduce that too, as with dim=('item', 'model')."
    )
    assert said == expected.replace("'cluster'", "'cluster_id'")
    assert {w.filename for w in seen} == {caught.__code__.co_filename}


@pytest.mark.parametrize(
    ("passes", "sizes", "category"),
    [
        ([3, 4, 5, 2, 3], 5, ex.FewClustersWarning),  # five effective clusters, four degrees of freedom
        ([40, *[4] * 24], [40] + [5] * 24, ex.DominantClusterWarning),  # exactly a quarter
        ([5] * 8 + [2] * 4, 5, ex.RareOutcomeWarning),  # in four clusters only, but not rare
        ([5] * 35 + [4] * 5, 5, ex.RareOutcomeWarning),  # rare, but in five clusters
        ([3] * 39 + [4], 5, ex.DegenerateRateWarning),
        ([1] * 30 + [0] * 11 + [1], [1] * 41 + [2], ex.SingletonClusterWarning),
    ],
)
def test_stays_quiet_just_short_of_the_threshold(passes, sizes, category):
    assert category not in {w.category for w in caught(frame_of(passes, sizes).evalci.cluster_ci, "cluster")}


@pytest.mark.parametrize(("clusters", "fires"), [(29, True), (30, False)])
def test_a_bootstrap_needs_thirty_clusters(clusters, fires):
    frame = frame_of(([4, 3, 5, 2, 3] * 6)[:clusters])
    seen = caught(frame.evalci.cluster_ci, "cluster", method="bootstrap_percentile", n_resamples=100, rng=1)
    assert (ex.BootstrapWarning in {w.category for w in seen}) is fires


def points_here(seen):
    return {w.filename for w in seen} == {__file__}


def test_missing_scores():
    frame = two_groups(BENIGN).astype({"score": float})
    frame.loc[:3, "score"] = np.nan
    with pytest.warns(
        ex.MissingScoreWarning, match=r"left out: 4 of 200 in model='A' \(were they all 0 or all 1"
    ) as seen:
        frame.evalci.cluster_ci("cluster", by="model", nan_policy="omit")
    assert points_here(seen)


def test_naive_wald_without_width():
    with pytest.warns(
        ex.DegenerateRateWarning, match=r"^model='A': .*no width; that is no certainty.*'wilson'"
    ) as seen:
        two_groups(*ALL_PASS).evalci.proportion_ci(by="model", method="wald")
    assert points_here(seen)


def test_ids_that_look_alike():
    frame = frame_of(BENIGN).replace({"cluster": {"c1": "c0 "}})
    with pytest.warns(ex.ClusterIdWarning, match="'c0' and 'c0 '") as seen:
        frame.evalci.cluster_ci("cluster")
    assert points_here(seen)


@pytest.mark.parametrize("ask", ["cluster_ci", "design_effect"])
def test_scores_that_mark_a_failed_run(ask):
    frame = frame_of(BENIGN).assign(score=lambda d: d["score"] * 9.5 + 0.5)
    assert not caught(getattr(frame.evalci, ask), "cluster")
    frame.loc[[5, 6, 7], "score"] = -1
    with pytest.warns(
        ex.SentinelScoreWarning, match=r"3 score\(s\) are -1 while all others are 0 or more.*nan_policy"
    ) as seen:
        getattr(frame.evalci, ask)("cluster")
    assert points_here(seen)


def test_negative_scores_among_others_mark_nothing():
    frame = frame_of(BENIGN).assign(score=np.linspace(-1, 1, 200))
    assert ex.SentinelScoreWarning not in {w.category for w in caught(frame.evalci.cluster_ci, "cluster")}


def test_nothing_to_scan():
    with pytest.warns(ex.ScanWarning) as seen:
        pd.DataFrame({"score": [0, 1, 1]}).evalci.design_effect()
    assert points_here(seen)


@pytest.mark.parametrize(
    ("case", "category", "text"),
    [
        (SINGLE, ex.SingletonClusterWarning, "every cluster of 'cluster' holds one score"),
        (ALL_PASS, ex.DegenerateRateWarning, "cannot be estimated, since all scores are equal"),
    ],
)
def test_design_effect(case, category, text):
    with pytest.warns(category, match=rf"^model='A': .*{text}") as seen:
        two_groups(*case).evalci.design_effect("cluster", by="model")
    assert points_here(seen)


def test_a_scan_stays_quiet_about_clusterings_that_tell_nothing(rag):
    assert not caught(rag.evalci.design_effect, by="model")


def test_rates_beside_ratings():
    rates, ratings = (
        frame_of([3, 5, 2, 4, 4, 3], 5, model="pass"),
        frame_of([3, 5, 2, 4, 4, 3], 5, model="rating"),
    )
    both = pd.concat([rates, ratings.assign(score=1 + 4 * ratings["score"])], ignore_index=True)
    seen = caught(both.evalci.cluster_ci, "cluster", by="model")
    assert "model='pass': all scores lie in [0, 1], but others of this call run from 0 to 5" in only(
        seen, ex.MixedScaleWarning
    )
    assert not caught(both.evalci.cluster_ci, "cluster", by="model", method="cr2")


@pytest.mark.parametrize("case", [BENIGN, ALL_PASS], ids=["some", "all"])
def test_rates_in_percent(case):
    rates = frame_of(*case if isinstance(case, tuple) else (case,))
    percent = rates.assign(score=100 * rates["score"])
    fewer = {"half_width": {"n_sims": 10}}
    for ask in ("cluster_ci", "half_width") if case is BENIGN else ("cluster_ci",):
        assert "Divide the scores by 100" in only(
            caught(getattr(percent.evalci, ask), "cluster", **fewer.get(ask, {})), ex.PercentScoreWarning
        )
        for other in (
            rates,
            percent.assign(score=percent["score"].clip(upper=99)),
            percent.assign(score=percent["score"] + 50),
        ):
            assert ex.PercentScoreWarning not in {
                w.category for w in caught(getattr(other.evalci, ask), "cluster", **fewer.get(ask, {}))
            }
    assert ex.PercentScoreWarning not in {
        w.category for w in caught(percent.evalci.cluster_ci, "cluster", method="cr2")
    }


def test_a_design_effect_of_few_outcomes():
    seen = caught(frame_of([0] * 38 + [2, 1], 5).evalci.design_effect, "cluster")
    assert "fewer than 5 clusters of 'cluster'" in only(seen, ex.RareOutcomeWarning)


def test_every_class_of_warning_has_a_test():
    tested = {category for _, _, category, _ in CASES.values()}
    tested |= {
        ex.MissingScoreWarning,
        ex.ClusterIdWarning,
        ex.ScanWarning,
        ex.SentinelScoreWarning,
        ex.MixedScaleWarning,
    }
    tested |= {ex.PercentScoreWarning, ex.CountWeightsWarning}  # the latter in test_counts.py
    tested |= {category for *_, category, _ in PAIRED.values()} | {
        ex.UnmatchedItemsWarning,
        ex.SharedKeyWarning,
    }
    tested |= {ex.NestedClustersWarning, ex.CrossedVarianceWarning}  # test_crossed.py
    tested |= {ex.TooFewSamplesWarning, ex.PooledSamplesWarning}  # test_repeated.py, test_repeated_pooled.py
    tested |= {ex.PlanWarning, ex.StoppedEarlyWarning}  # test_planning.py, test_simulate.py
    assert tested == {getattr(ex, name) for name in ex.__all__ if name.endswith("Warning")} - {
        ex.EvalCIWarning
    }


def test_many_groups_share_one_warning():
    few = pd.concat([frame_of([3, 1, 2], 3, model=f"m{h}") for h in range(500)], ignore_index=True)
    seen = caught(few.evalci.cluster_ci, "cluster", by="model", method="cr1")
    assert len({w.category for w in seen}) == len(seen)
    assert only(seen, ex.FewClustersWarning).startswith(
        "500 of 500 groups (model='m0'; model='m1'; model='m2'; model='m3'; model='m4' and 495 more): fewer than 5"
    )


@pytest.mark.parametrize("case", CASES)
def test_three_groups_share_one_warning(case):
    (passes, sizes), options, category, _ = CASES[case]
    frame = pd.concat([frame_of(passes, sizes, model=name) for name in "XYZ"], ignore_index=True)
    seen = caught(frame.evalci.cluster_ci, "cluster", by="model", **options)
    assert len({w.category for w in seen}) == len(seen)
    assert only(seen, category).startswith("3 of 3 groups (model='X'; model='Y'; model='Z'): ")


def test_missing_scores_of_many_groups_make_one_warning():
    frame = pd.concat([frame_of(BENIGN, model=f"m{h}") for h in range(8)], ignore_index=True).astype(
        {"score": float}
    )
    frame.loc[::200, "score"] = np.nan
    seen = caught(frame.evalci.cluster_ci, "cluster", by="model", nan_policy="omit", method="cr1")
    assert only(seen, ex.MissingScoreWarning).count("1 of 200 in") == 5
    assert "and 3 more groups" in only(seen, ex.MissingScoreWarning)


@pytest.mark.parametrize(
    "method", [*METHODS, *DESIGN_METHODS, "icc_averaged", "bootstrap_bca", "bootstrap_t", "bootstrap_exact"]
)
def test_benign_data_raise_none(method):
    frame = two_groups(BENIGN)
    assert not caught(frame.evalci.cluster_ci, "cluster", by="model", method=method, n_resamples=100, rng=1)


@pytest.mark.parametrize("method", ["wilson", "wald", "jeffreys", "clopper_pearson", "agresti_coull"])
def test_benign_data_raise_none_elsewhere(method):
    frame = two_groups(BENIGN)
    assert not caught(frame.evalci.proportion_ci, by="model", method=method)
    assert not caught(frame.evalci.design_effect, "cluster", by="model")
    assert not caught(frame.evalci.design_effect, by="model")


def test_the_text_fits_the_method():
    for method in ("cr1", "wilson", "korn_graubard"):
        message = only(
            caught(frame_of(*EQUAL_RATES).evalci.cluster_ci, "cluster", method=method),
            ex.DegenerateRateWarning,
        )
        assert "prior" not in message
    assert "prior" in only(
        caught(frame_of(*EQUAL_RATES).evalci.cluster_ci, "cluster"), ex.DegenerateRateWarning
    )


def test_all_warnings_can_be_turned_off_at_once():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.EvalCIWarning)
        for (passes, sizes), options, _, _ in CASES.values():
            frame_of(passes, sizes).evalci.cluster_ci("cluster", **options)
