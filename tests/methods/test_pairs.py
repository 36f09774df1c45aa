"""Two systems on the same items, through the accessors: numbers of other tools, one answer of both containers, and bad input."""

from __future__ import annotations

import functools
import io
import itertools
import math

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from scipy import stats as ss
from stats.golden import golden
from strategies import (
    CLUSTERED_TESTS,
    CORRECTIONS,
    GRADED,
    INDEPENDENT,
    QUESTIONS,
    ROBUST,
    TESTS,
    ask_pairs,
    pair_frame,
    question_id,
    quiet,
)

from evalci_accessor import exceptions as ex

NAMES = ("mcnemar", "diff_ci", "compare")
each_name = pytest.mark.parametrize("name", NAMES)
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=question_id)
package_warnings = pytest.mark.filterwarnings("ignore::evalci_accessor.exceptions.EvalCIWarning")


def cube_of(frame, *dims):
    """The frame's scores over model, item and further dims, with ``doc`` along item."""
    scores = frame.set_index(["model", "item", *dims])["score"].to_xarray()
    docs = frame.drop_duplicates("item").set_index("item")["doc"].to_xarray()
    return scores.to_dataset(name="score").assign_coords(doc=docs)


def both_containers(frame):
    return {"frame": frame, "cube": cube_of(frame), "array": cube_of(frame)["score"]}


def row_of(answer):
    """The only pair, as a Series, from either container."""
    table = answer if isinstance(answer, pd.DataFrame) else answer.to_dataframe().reset_index(drop=True)
    assert len(table) == 1
    return table.iloc[0]


@functools.cache
def simulated(n_systems=4, n_docs=30, per_doc=4, seed=0, fractional=False):
    """Systems of different strength on items of different difficulty; nothing to warn of. Not to be changed."""
    rng = np.random.default_rng(seed)
    n = n_docs * per_doc
    skill, hard = np.linspace(-0.5, 0.7, n_systems), rng.normal(size=n_docs).repeat(per_doc)
    chance = 1 / (1 + np.exp(-(skill[:, None] + hard + rng.normal(size=(n_systems, n)))))
    score = chance.round(2) if fractional else (rng.random((n_systems, n)) < chance).astype(np.int64)
    return pd.DataFrame(
        {
            "model": np.repeat([f"m{j}" for j in range(n_systems)], n),
            "item": np.tile(np.arange(n), n_systems),
            "doc": np.tile(np.repeat([f"d{g}" for g in range(n_docs)], per_doc), n_systems),
            "score": score.ravel(),
        }
    )


# Against other tools


@package_warnings
@pytest.mark.parametrize("kind", ["frame", "cube", "array"])
@pytest.mark.parametrize("name", ["psychiatry", "thyroids", "obfuscation"])
def test_clustered_tests_of_clust_bin_pair(name, kind):
    data = golden("clustered_mcnemar")[name]
    obj = both_containers(pair_frame(*(data[cell] for cell in "abcd")))[kind]
    for method, want in data["tests"].items():
        given = {"method": "asymptotic"} if method == "mcnemar" else {"method": method, "cluster": "doc"}
        got = row_of(obj.evalci.mcnemar("model", item="item", **given))
        statistic = got["statistic"] ** (2 if method == "mcnemar" and got["statistic"] < 0 else 1)
        assert_allclose([statistic, got["pvalue"]], list(want.values()), rtol=1e-8, err_msg=method)
        assert got["null"] == "equal rates"
        assert [got[x] for x in ("both_pass", "only_a", "only_b", "both_fail")] == [
            sum(data[cell]) for cell in "abcd"
        ]


@package_warnings
@pytest.mark.parametrize("kind", ["frame", "cube"])
@pytest.mark.parametrize("name", golden("paired_reference")["data"])
def test_the_default_with_clusters_is_the_reference(name, kind):
    want = golden("paired_reference")["data"][name]
    b, c, m = (np.array(want[x]) for x in "bcm")
    both = (m - b - c) // 2
    obj = both_containers(pair_frame(both, b, c, m - b - c - both))[kind]
    got = row_of(obj.evalci.diff_ci("model", item="item", cluster="doc"))
    assert_allclose(
        [got["difference"], got["ci_low"], got["ci_high"]],
        [want["diff"], want["low"], want["high"]],
        atol=1e-6,
    )
    assert_allclose(got["pvalue"], want["p"], atol=1e-6)
    assert got["method"] == "icc_averaged"
    assert (got["n_pairs"], got["n_clusters"]) == (m.sum(), len(m))
    assert_allclose(
        row_of(obj.evalci.mcnemar("model", item="item", cluster="doc"))["pvalue"], want["p"], atol=1e-6
    )


@package_warnings
@pytest.mark.parametrize(
    "case", golden("paired_ci")["cases"], ids=lambda case: "-".join(map(str, case["abcd"]))
)
def test_intervals_of_independent_items(case):
    frame = pair_frame(*case["abcd"])
    for method in INDEPENDENT:
        got = frame.evalci.diff_ci("model", item="item", method=method).iloc[0]
        assert_allclose([got["ci_low"], got["ci_high"]], case[method], atol=1e-8, err_msg=method)
    for method, name in (("exact", "mcnemar_exact"), ("midp", "mcnemar_midp")):
        assert_allclose(
            frame.evalci.mcnemar("model", item="item", method=method)["pvalue"], case[name], rtol=1e-12
        )


@package_warnings
@pytest.mark.parametrize("cells", [(70, 3, 14, 13), (5, 40, 25, 3), (0, 12, 30, 0), (7, 9, 9, 1)])
def test_tests_of_statsmodels(cells):
    from statsmodels.stats.contingency_tables import mcnemar

    both, b, c, neither = cells
    table, frame = [[both, b], [c, neither]], pair_frame(*cells)
    # Where b = c its correction goes beyond 0, and makes of no difference a p of .8.
    for method, options in (("exact", {"exact": True}), ("asymptotic", {"exact": False, "correction": False}),
                            ("corrected", {"exact": False, "correction": True}))[: 3 if b != c else 2]:  # fmt: skip
        got = frame.evalci.mcnemar("model", item="item", method=method)["pvalue"].item()
        assert_allclose(got, min(mcnemar(table, **options).pvalue, 1), rtol=1e-10, err_msg=method)


def test_forty_against_twenty_five():
    assert pair_frame(10, 40, 25, 3).evalci.mcnemar("model", item="item")["pvalue"].item() == pytest.approx(
        0.0817, abs=5e-5
    )


@pytest.mark.parametrize("method", [*TESTS, *CLUSTERED_TESTS])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@package_warnings
def test_equal_counts_never_give_p_above_one(method, alternative):
    frame = pair_frame([4, 1, 2], [0, 4, 1], [1, 1, 3], [4, 3, 3])
    cluster = {"cluster": "doc"} if method in CLUSTERED_TESTS else {}
    got = frame.evalci.mcnemar("model", item="item", method=method, alternative=alternative, **cluster)[
        "pvalue"
    ].item()
    assert 0.4 < got <= 1
    if alternative == "two-sided":
        assert got == pytest.approx(1)


def test_one_sided_p_values_are_binomial_tails():
    frame = pair_frame(10, 12, 5, 3)
    for alternative in ("less", "greater", "two-sided"):
        got = frame.evalci.mcnemar("model", item="item", alternative=alternative).iloc[0]
        assert_allclose(got["pvalue"], ss.binomtest(12, 17, alternative=alternative).pvalue, rtol=1e-12)
        assert got["alternative"] == alternative


@package_warnings
def test_sign_flip_goes_through_all_flips():
    frame = pair_frame([1, 2, 0, 3, 1, 1, 2], [3, 2, 1, 0, 2, 0, 4], [0, 1, 0, 2, 0, 0, 1], 1)
    d = np.array([3, 1, 1, -2, 2, 0, 3])
    sums = np.array([np.dot(signs, d) for signs in itertools.product([-1, 1], repeat=7)])
    for alternative, beyond in (
        ("two-sided", np.abs(sums) >= 8),
        ("greater", sums >= 8),
        ("less", sums <= 8),
    ):
        got = frame.evalci.mcnemar(
            "model", item="item", cluster="doc", method="sign_flip", alternative=alternative
        ).iloc[0]
        assert_allclose(got["pvalue"], beyond.mean(), rtol=1e-12)
        assert got["null"] == "exchangeable systems"


@pytest.mark.parametrize("clustered", [False, True])
def test_cr2_of_equal_clusters_is_a_t_test_of_their_means(clustered):
    frame = simulated(2, fractional=True)
    unit = "doc" if clustered else "item"
    means = frame.groupby([unit, "model"], sort=False)["score"].mean().unstack()
    want = ss.ttest_rel(means["m0"], means["m1"])
    options = {"cluster": "doc"} if clustered else {}
    got = frame.evalci.diff_ci("model", item="item", **options).iloc[0]
    assert got["method"] == "cr2"
    assert_allclose([got["statistic"], got["pvalue"]], [want.statistic, want.pvalue], rtol=1e-9)
    interval = want.confidence_interval()
    assert_allclose([got["ci_low"], got["ci_high"]], [interval.low, interval.high], rtol=1e-9)
    assert math.isnan(got["both_pass"])


def test_cr1_is_that_of_statsmodels():
    import statsmodels.api as sm

    frame = simulated(2, n_docs=35, fractional=True).query("item % 7 != 0")
    sides = frame.pivot(index=["doc", "item"], columns="model", values="score").reset_index()
    difference = sides["m0"] - sides["m1"]
    fit = sm.OLS(difference, np.ones(len(difference))).fit(
        cov_type="cluster", cov_kwds={"groups": sides["doc"].astype("category").cat.codes}, use_t=True
    )
    got = frame.evalci.diff_ci("model", item="item", cluster="doc", method="cr1").iloc[0]
    assert_allclose(got["std_error"], fit.bse.iloc[0], rtol=1e-9)
    assert_allclose(got["pvalue"], fit.pvalues.iloc[0], rtol=1e-7)


def test_percentiles_of_resampled_clusters():
    """Near those of a plain bootstrap of the clusters, to within the error of simulation."""
    frame = simulated(2, n_docs=40, fractional=True)
    got = frame.evalci.diff_ci(
        "model", item="item", cluster="doc", method="bootstrap_percentile", rng=1
    ).iloc[0]
    means = frame.groupby(["doc", "model"], sort=False)["score"].mean().unstack()
    d = (means["m0"] - means["m1"]).to_numpy()
    draws = np.random.default_rng(2).choice(d, (20_000, len(d))).mean(axis=1)
    spread = draws.std()
    assert_allclose([got["ci_low"], got["ci_high"]], np.quantile(draws, [0.025, 0.975]), atol=0.1 * spread)
    assert_allclose(got["std_error"], spread, rtol=0.04)


# Verdicts


def verdict(cells, **options):
    frame = pair_frame(*cells)
    given = {"method": "bonett_price"} | options
    return quiet(frame.evalci.diff_ci, "model", item="item", **given).iloc[0]


@pytest.mark.parametrize(
    ("cells", "options", "word"),
    [
        ((50, 30, 5, 15), {}, "superior"),
        ((50, 5, 30, 15), {}, "inferior"),
        ((50, 12, 10, 28), {}, "inconclusive"),
        ((50, 12, 10, 28), {"margin": 0.2}, "noninferior"),
        ((50, 5, 40, 5), {"margin": 0.02}, "inferior"),
        ((50, 12, 10, 28), {"margin": 0.01}, "inconclusive"),
        ((500, 12, 10, 478), {"margin": 0.02, "claim": "equivalence"}, "equivalent"),
        ((50, 40, 5, 5), {"margin": 0.02, "claim": "equivalence"}, "different"),
        ((50, 5, 40, 5), {"margin": 0.02, "claim": "equivalence"}, "different"),
        ((50, 12, 10, 28), {"margin": 0.02, "claim": "equivalence"}, "inconclusive"),
        ((50, 40, 5, 5), {"margin": 0.02, "claim": "superiority"}, "superior"),
        ((50, 30, 5, 15), {"margin": 0.2, "claim": "superiority"}, "inconclusive"),
        ((50, 0, 0, 50), {"margin": 0.1}, "noninferior"),
        ((50, 0, 0, 50), {}, "inconclusive"),
    ],
)
def test_words_of_the_verdict(cells, options, word):
    got = verdict(cells, **options)
    assert got["verdict"] == word
    assert got["claim"] == options.get("claim", "noninferiority" if "margin" in options else "superiority")
    assert got["margin"] == options.get("margin", 0)
    assert (got["pvalue_verdict"] <= 0.05) == (
        word in ("superior", "noninferior", "equivalent", "inferior", "different")
    ) or (word in ("inferior", "different") and "margin" in options)


@pytest.mark.parametrize("method", [*INDEPENDENT, *ROBUST])
def test_verdicts_go_with_one_sided_limits(method):
    """Non-inferiority is a lower limit above minus the margin, equivalence that and an upper one below it."""
    frame = pair_frame(50, 12, 10, 28)

    def asked(**options):
        return quiet(
            frame.evalci.diff_ci, "model", item="item", method=method, rng=1, n_resamples=999, **options
        ).iloc[0]

    low, high = asked(alternative="greater")["ci_low"], asked(alternative="less")["ci_high"]
    two_sided = asked(confidence_level=0.9)
    assert_allclose([low, high], [two_sided["ci_low"], two_sided["ci_high"]], rtol=1e-6)
    for margin in (0.005, 0.02, 0.05, 0.1):
        sure_above, sure_below = (
            low > -margin + 1e-9,
            high < margin - 1e-9,
        )  # a percentile may be the margin itself
        assert (asked(margin=margin)["verdict"] == "noninferior") == sure_above
        assert (asked(margin=margin, claim="equivalence")["verdict"] == "equivalent") == (
            sure_above and sure_below
        )
        assert (asked(margin=margin, claim="superiority")["verdict"] == "superior") == (low > margin)


def test_open_ends_are_those_of_the_scale():
    frame = pair_frame(50, 12, 10, 28)
    assert frame.evalci.diff_ci("model", item="item", alternative="greater")["ci_high"].item() == 1
    assert frame.evalci.diff_ci("model", item="item", alternative="less")["ci_low"].item() == -1
    rated = frame.assign(score=frame["score"] * 9 + 1)
    assert rated.evalci.diff_ci("model", item="item", alternative="greater")["ci_high"].item() == np.inf


# Columns


@each_question
def test_dtypes_of_the_columns(question):
    answer = ask_pairs(simulated(3), question)
    whole = ["n_pairs", "n_clusters", "both_pass", "only_a", "only_b", "both_fail"]
    assert (answer[whole].dtypes == np.int64).all()
    texts = [c for c in ("model_a", "model_b", "cluster", "alternative", "null", "claim", "verdict", "test", "correction", "method")
             if c in answer]  # fmt: skip
    assert all(pd.api.types.is_string_dtype(answer[column].dtype) for column in texts)
    assert all(answer[column].dtype == np.float64 for column in set(answer) - {*whole, *texts})
    assert answer.index.equals(pd.RangeIndex(3))
    assert (answer["cluster"] == question[1].get("cluster", "")).all()
    assert (answer["n_clusters"] == (30 if "cluster" in question[1] else 120)).all()


@pytest.mark.parametrize("question", GRADED, ids=question_id)
def test_graded_scores_have_no_cells(question):
    answer = ask_pairs(simulated(3, fractional=True), question)
    assert answer[["both_pass", "only_a", "only_b", "both_fail"]].isna().all(axis=None)
    assert (answer["n_pairs"] == 120).all()
    assert answer.drop(columns=["both_pass", "only_a", "only_b", "both_fail"]).notna().all(axis=None)


@each_question
def test_written_to_csv_and_read_back(question):
    answer = ask_pairs(simulated(3).assign(lang="en"), question, by="lang")
    text = answer.to_csv(index=False)
    back = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=["nan"])
    pd.testing.assert_frame_equal(back[answer.columns], answer, check_dtype=False)


@each_question
def test_tables_can_be_stacked(question):
    first, second = (ask_pairs(simulated(2, seed=seed), question) for seed in (0, 1))
    third = ask_pairs(simulated(2, fractional=True), question) if question in GRADED else second
    stacked = pd.concat([first, second, third], keys=["one", "two", "three"], names=["run"]).reset_index(
        "run"
    )
    assert len(stacked) == 3
    assert list(stacked.columns) == ["run", *first.columns]
    pd.testing.assert_frame_equal(
        stacked[stacked["run"] == "two"].drop(columns="run"), second, check_dtype=False
    )


# One answer of both containers, for every method


@functools.cache
def over_prompts(fractional=False):
    """A frame and the same as a cube; not to be changed."""
    frame = pd.concat(
        [
            simulated(3, n_docs=12, per_doc=2, seed=seed, fractional=fractional).assign(prompt=f"p{seed}")
            for seed in range(2)
        ],
        ignore_index=True,
    )
    return frame, cube_of(frame, "prompt")


def same(answer, expected, rtol=1e-12):
    keys = ["prompt", "model_a", "model_b"]
    answer = answer.to_dataframe().reset_index().dropna(subset="difference")
    pd.testing.assert_frame_equal(
        answer[list(expected)].sort_values(keys, ignore_index=True),
        expected.sort_values(keys, ignore_index=True),
        check_dtype=False,
        rtol=rtol,
    )


@each_question
def test_frame_equals_cube(question):
    frame, cube = over_prompts()
    expected = ask_pairs(frame, question, by="prompt")
    same(ask_pairs(cube, question), expected)
    same(ask_pairs(cube, question, by="prompt"), expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pairs", [{"baseline": "m1"}, {"pairs": [("m2", "m0"), ("m0", "m1")]}], ids=str)
def test_frame_equals_cube_for_some_pairs(name, pairs):
    frame, cube = over_prompts()
    same(ask_pairs(cube, (name, pairs)), ask_pairs(frame, (name, pairs), by="prompt"))


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("within", [None, ["prompt"]])
def test_frame_equals_cube_for_every_correction(correction, within):
    frame, cube = over_prompts()
    options = {"correction": correction, "correction_within": within, "method": "cr1"}
    expected = ask_pairs(frame, ("compare", options), by="prompt")
    answer = ask_pairs(cube, ("compare", options))
    same(answer, expected)
    assert (expected["pvalue_adj"] > expected["pvalue"]).any() == (correction != "none")


@pytest.mark.parametrize("question", GRADED, ids=question_id)
def test_frame_equals_cube_for_repeats(question):
    frame, cube = over_prompts(fractional=True)
    expected = ask_pairs(frame, question, sample="prompt")
    answer = ask_pairs(cube, question, sample="prompt").to_dataframe().reset_index()[list(expected)]
    keys = ["model_a", "model_b"]
    pd.testing.assert_frame_equal(
        answer.sort_values(keys, ignore_index=True), expected.sort_values(keys, ignore_index=True),
        check_dtype=False, rtol=1e-12,
    )  # fmt: skip


@each_question
def test_frame_equals_cube_with_holes(question):
    frame, cube = over_prompts()
    scores = cube["score"].astype(float)
    scores[{"model": 0, "item": 3, "prompt": 0}] = np.nan
    scores[{"model": 2, "item": [5, 8], "prompt": 1}] = np.nan
    frame = scores.to_dataframe().reset_index()
    options = {"nan_policy": "omit", "unmatched": "drop"}
    expected = ask_pairs(frame, question, by="prompt", **options)
    assert sorted(expected["n_pairs"]) == [22, 22, 23, 23, 24, 24]
    same(ask_pairs(scores, question, **options), expected)


def test_a_missing_score_left_out_is_as_no_row():
    frame = simulated(3).copy()
    frame["score"] = frame["score"].mask(frame.index % 50 == 3)
    for question in (("mcnemar", {}), ("diff_ci", {"cluster": "doc"}), ("compare", {"cluster": "doc"})):
        omitted = ask_pairs(frame, question, nan_policy="omit", unmatched="drop")
        pd.testing.assert_frame_equal(
            ask_pairs(frame.dropna(subset="score"), question, unmatched="drop"), omitted
        )


def test_by_groups_are_separate_calls():
    frame, _ = over_prompts()
    for question in QUESTIONS:
        if question[0] == "compare" or "newcombe" in question[1].values():
            continue  # the one corrects over the table, the other is slow; see the properties
        answer = ask_pairs(frame, question, by="prompt")
        for key, rows in frame.groupby("prompt"):
            got = answer[answer["prompt"] == key].drop(columns="prompt").reset_index(drop=True)
            pd.testing.assert_frame_equal(got, ask_pairs(rows, question), rtol=1e-12)


# Many comparisons


def test_the_whole_table_is_one_family():
    from statsmodels.stats.multitest import multipletests

    frame, _ = over_prompts()
    answer = ask_pairs(frame, ("compare", {}), by="prompt")
    assert_allclose(answer["pvalue_adj"], multipletests(answer["pvalue"], method="holm")[1], rtol=1e-12)
    within = ask_pairs(frame, ("compare", {}), by="prompt", correction_within="prompt")
    for _, rows in within.groupby("prompt"):
        assert_allclose(rows["pvalue_adj"], multipletests(rows["pvalue"], method="holm")[1], rtol=1e-12)
    by_two = frame.assign(half=frame["item"] % 2)
    for keys in ("half", ["prompt", "half"]):
        within = ask_pairs(
            by_two, ("compare", {"method": "bonett_price"}), by=["prompt", "half"], correction_within=keys
        )
        for _, rows in within.groupby(keys):
            assert_allclose(rows["pvalue_adj"], multipletests(rows["pvalue"], method="holm")[1], rtol=1e-12)


def test_most_evidence_first():
    answer = ask_pairs(simulated(5), ("compare", {"cluster": "doc"}))
    assert answer["pvalue"].is_monotonic_increasing
    # Where p cannot tell (too small for a float), the larger statistic comes first.
    rows = [(3000, 2000, 0, 1000), (3000, 2500, 0, 500)]
    frame = pd.concat(
        [pair_frame(*cells, lang=lang) for lang, cells in zip("xy", rows, strict=True)], ignore_index=True
    )
    answer = frame.evalci.compare("model", item="item", by="lang")
    assert answer["pvalue"].tolist() == [0, 0]
    assert answer["lang"].tolist() == ["y", "x"]


def test_simultaneous_limits_know_that_pairs_hang_together():
    frame = simulated(4, n_docs=120, per_doc=2)
    got = ask_pairs(frame, ("compare", {"cluster": "doc", "method": "cr2"}), n_resamples=4000)
    critical = (got["simultaneous_high"] - got["difference"]) / got["std_error"]
    pointwise, bonferroni = ss.t.ppf(0.975, 119), ss.t.ppf(1 - 0.025 / 6, 119)
    assert (critical > pointwise).all()
    assert (critical < bonferroni).all()


@pytest.mark.parametrize("cluster", [None, "doc"])
def test_copies_of_a_system_need_no_further_correction_of_the_limits(cluster):
    frame = simulated(2)
    twin = pd.concat([frame, frame[frame["model"] == "m1"].assign(model="m2")], ignore_index=True)
    options = {"cluster": cluster, "method": "cr2", "baseline": "m0"}
    one, two = (ask_pairs(rows, ("compare", options), n_resamples=2000) for rows in (frame, twin))
    assert_allclose(two["difference"], [one["difference"].item()] * 2)
    assert_allclose(two["simultaneous_low"], [one["simultaneous_low"].item()] * 2, atol=0.03)


def test_against_a_baseline_is_less_to_correct():
    frame = simulated(4)
    every, against = (ask_pairs(frame, ("compare", options)) for options in ({}, {"baseline": "m0"}))
    assert len(every) == 6
    assert against[["model_b"]].to_numpy().ravel().tolist() == ["m0"] * 3
    merged = against.merge(every, left_on="model_a", right_on="model_b", suffixes=("", "_all"))
    merged = merged[merged["model_a_all"] == "m0"]
    assert (merged["pvalue_adj"] <= merged["pvalue_adj_all"]).all()
    assert (merged["simultaneous_low"] >= -merged["simultaneous_high_all"]).all()


# Sizes at the edge


@package_warnings
@pytest.mark.parametrize("question", QUESTIONS, ids=question_id)
@pytest.mark.parametrize(
    "cells", [([2] * 6, 0, 0, [1] * 6), ([3] * 6, 0, 0, 0), (0, 0, 0, [3] * 6)], ids=["same", "pass", "fail"]
)
def test_no_discordant_item(question, cells):
    got = ask_pairs(pair_frame(*cells), question).iloc[0]
    assert got["pvalue"] == 1
    assert got["difference"] == 0
    assert (got["only_a"], got["only_b"], got["n_pairs"]) == (0, 0, 18)
    if "ci_low" in got:
        assert -1 <= got["ci_low"] < 0 < got["ci_high"] <= 1
        assert_allclose(
            got["ci_low"],
            -got["ci_high"],
            rtol=0.2 if "bootstrap_percentile" in question[1].values() else 1e-9,
        )
        assert str(got["statistic"]) == "0.0"
        if "verdict" in got:
            assert got["verdict"] == "inconclusive"


@package_warnings
@each_question
def test_all_pass_in_one_system(question):
    got = ask_pairs(pair_frame([2, 1, 3, 2, 0, 1, 3, 2], [1, 2, 0, 1, 3, 2, 0, 1]), question).iloc[0]
    assert got["estimate_a"] == 1
    assert got["pvalue"] < 0.2
    if "ci_low" in got:
        assert got["ci_low"] < got["difference"] < got["ci_high"] <= 1


@package_warnings
@each_question
def test_one_system_passes_what_the_other_fails(question):
    got = ask_pairs(pair_frame(0, [3, 2, 3, 2, 3, 2, 3]), question).iloc[0]
    assert (got["difference"], got["only_a"]) == (1, 18)
    assert got["pvalue"] < 0.05
    if "ci_low" in got:
        assert 0 < got["ci_low"] < 1
        assert got["ci_high"] == 1


@package_warnings
@pytest.mark.parametrize("kind", ["frame", "cube"])
def test_two_clusters(kind):
    obj = both_containers(pair_frame([5, 7], [6, 8], [1, 2], 3))[kind]
    for name in NAMES:
        got = row_of(getattr(obj.evalci, name)("model", item="item", cluster="doc"))
        assert got["n_clusters"] == 2
        assert 0.1 < got["pvalue"] <= 1
    assert (
        row_of(obj.evalci.mcnemar("model", item="item", cluster="doc", method="sign_flip"))["pvalue"] == 0.5
    )


@pytest.mark.parametrize("b_c", [(1, 0), (5, 0), (3, 2)])
def test_few_discordant_items_cannot_be_significant(b_c):
    frame = pair_frame(50, *b_c, 50)
    with pytest.warns(ex.FewDiscordantWarning, match=rf"differ on {sum(b_c)} of {100 + sum(b_c)} items"):
        assert frame.evalci.mcnemar("model", item="item")["pvalue"].item() > 0.05
    assert pair_frame(50, 6, 0, 50).evalci.mcnemar("model", item="item")["pvalue"].item() == 2 * 0.5**6


def test_a_single_item_has_a_test_and_no_interval():
    frame = pair_frame(0, 1, 0, 0)
    with pytest.warns(ex.FewDiscordantWarning):
        assert frame.evalci.mcnemar("model", item="item")["pvalue"].item() == 1
    for name in ("diff_ci", "compare"):
        for obj in both_containers(frame).values():
            with pytest.raises(
                ex.PairingError,
                match="'A' and 'B' have a single item of 'item' in common, from which no error can be told",
            ):
                getattr(obj.evalci, name)("model", item="item")


@package_warnings
@each_name
def test_a_group_without_common_items_is_a_row_of_nan(name):
    """It does not spoil the others, nor count among the comparisons."""
    frame, cube = over_prompts()
    lacking = frame[(frame["model"] != "m2") | (frame["prompt"] == "p0")]
    question = (name, {"cluster": "doc"})
    answer = ask_pairs(lacking, question, by="prompt", unmatched="drop")
    empty = answer[answer["n_pairs"] == 0]
    assert empty[["prompt", "model_b"]].to_numpy().tolist() == [["p1", "m2"]] * 2
    assert empty[["estimate_a", "difference", "statistic", "pvalue"]].isna().all(axis=None)
    assert (empty[["n_clusters", "both_pass", "only_a", "only_b", "both_fail"]] == 0).all(axis=None)
    assert list(empty.get("verdict", [])) == [""] * (2 * (name == "diff_ci"))
    holes = cube["score"].where((cube["model"] != "m2") | (cube["prompt"] == "p0"))
    got = ask_pairs(holes, question, unmatched="drop", nan_policy="omit").to_dataframe().reset_index()
    keys = ["prompt", "model_a", "model_b"]
    pd.testing.assert_frame_equal(
        got[list(answer)].sort_values(keys, ignore_index=True),
        answer.sort_values(keys, ignore_index=True),
        check_dtype=False,
    )
    if name == "compare":
        from statsmodels.stats.multitest import multipletests

        assert empty.index.tolist() == [4, 5]
        assert_allclose(
            answer["pvalue_adj"][:4], multipletests(answer["pvalue"][:4], method="holm")[1], rtol=1e-12
        )


@pytest.mark.parametrize("name", ["diff_ci", "compare"])
def test_ratings_that_are_all_the_same(name):
    """No range to go by: there is no interval, and none is spoken of; but there is no evidence either."""
    frame = pair_frame(3, 2, 1, 3).assign(score=3.0)
    with pytest.warns(ex.FewDiscordantWarning, match="same score on all 9 items") as seen:
        got = getattr(frame.evalci, name)("model", item="item").iloc[0]
    assert (got["difference"], got["pvalue"]) == (0, 1)
    assert math.isnan(got["ci_low"])
    assert "the interval rests on" not in str(seen[0].message)


def test_names_and_labels_of_any_kind():
    frame = simulated(2)
    expected = frame.evalci.diff_ci("model", item="item", cluster="doc")
    numbers = frame.rename(columns={"model": 0, "item": 1, "score": 2, "doc": 3})
    answer = numbers.evalci.diff_ci(0, item=1, score=2, cluster=3)
    assert list(answer.columns[:2]) == ["0_a", "0_b"]
    assert answer["ci_low"].equals(expected["ci_low"])
    flags = frame.assign(model=frame["model"] == "m0")
    answer = flags.evalci.mcnemar("model", item="item", baseline=True)
    assert answer[["model_a", "model_b"]].to_numpy().tolist() == [[False, True]]
    index = frame.set_axis([0] * len(frame))
    pd.testing.assert_frame_equal(index.evalci.diff_ci("model", item="item", cluster="doc"), expected)
    lacking = pd.concat([frame.assign(lang="en"), frame.assign(lang=None)], ignore_index=True)
    assert lacking.evalci.mcnemar("model", item="item", by="lang")["lang"].isna().tolist() == [False, True]


# Bad input


@pytest.fixture
def frame():
    """Two systems on 24 items in 8 documents; nothing wrong with it."""
    return pair_frame(
        [1, 1, 0, 1, 1, 1, 0, 2], [1, 0, 2, 1, 1, 1, 1, 0], [0, 1, 1, 0, 1, 0, 1, 1], [1, 1, 0, 1, 0, 1, 1, 0]
    )


def refused(frame, name, error, message, **options):
    options = {"item": "item"} | options
    with pytest.raises(error, match=message):
        getattr(frame.evalci, name)("model", **options)


@each_name
class TestBadInput:
    def test_no_system(self, frame, name):
        refused(frame[:0], name, ex.PairingError, "There is no system in 'model'; a comparison needs two")

    def test_one_system(self, frame, name):
        refused(frame[frame["model"] == "A"], name, ex.PairingError, r"only one system \('A'\) in 'model'")
        refused(cube_of(frame).isel(model=[0]), name, ex.PairingError, r"only one system \('A'\) in 'model'")

    def test_missing_name(self, frame, name):
        lacking = frame.assign(model=frame["model"].mask(frame.index < 2))
        refused(lacking, name, ex.PairingError, "2 of 48 entries of 'model' are missing, at row 0, row 1")

    def test_text_scores(self, frame, name):
        text = frame.assign(score=frame["score"].map({1: "C", 0: "I"}))
        refused(text, name, ex.ScoreTypeError, r"'score' is not numeric.*\{'C': 1, 'I': 0")
        refused(cube_of(text), name, ex.ScoreTypeError, r"'score' is not numeric")

    def test_missing_scores(self, frame, name):
        lacking = frame.assign(score=frame["score"].mask(frame.index < 3))
        refused(
            lacking,
            name,
            ex.MissingScoreError,
            "3 of 48 scores in 'score' are missing, at row 0, row 1, row 2",
        )
        refused(
            cube_of(lacking),
            name,
            ex.MissingScoreError,
            "3 of 48 scores in 'score' are missing, at model='A', item=0",
        )
        refused(
            lacking,
            name,
            ex.PairingError,
            r"3 of the 24 items of 'B'.*\(0, 1, 2\).*unmatched='drop'",
            nan_policy="omit",
        )
        with (
            pytest.warns(ex.MissingScoreWarning, match="3 of 'A'"),
            pytest.warns(ex.UnmatchedItemsWarning, match="3 of 24"),
        ):
            got = getattr(lacking.evalci, name)("model", item="item", nan_policy="omit", unmatched="drop")
        assert got["n_pairs"].item() == 21

    def test_infinite_scores(self, frame, name):
        refused(frame.assign(score=np.inf), name, ex.ScoreError, r"48 infinite score\(s\)")

    @pytest.mark.parametrize("option", ["nan_policy", "unmatched", "method"])
    def test_unknown_options(self, frame, name, option):
        refused(
            frame,
            name,
            ex.MethodError,
            f"{option}='never' is not known; it must be one of '",
            **{option: "never"},
        )

    def test_one_cluster(self, frame, name):
        refused(
            frame.assign(doc="d"),
            name,
            ex.ClusterError,
            r"single cluster of 'doc' \('d'\).*At least two",
            cluster="doc",
        )
        two = pd.concat([frame.assign(lang="en"), frame.assign(lang="da", doc=7)])
        message = r"1 of 2 groups \(lang='da'\): all items .*in a single cluster of 'doc' \(7\)"
        refused(two, name, ex.ClusterError, message, cluster="doc", by="lang")

    def test_missing_cluster_ids(self, frame, name):
        lacking = frame.assign(doc=frame["doc"].mask(frame.index == 30))
        refused(
            lacking,
            name,
            ex.MissingClusterError,
            "1 of 48 rows have no cluster id in 'doc': row 30",
            cluster="doc",
        )

    def test_an_item_in_two_clusters(self, frame, name):
        torn = frame.assign(doc=frame["doc"].mask(frame.index == 30, 7))
        message = r"1 item\(s\) of 'item' lie in more than one cluster of 'doc': 6 in 2 and 7.*item=\['doc', 'item'\]"
        refused(torn, name, ex.ClusterError, message, cluster="doc")

    def test_items_of_one_system(self, frame, name):
        fewer = frame.drop(index=[24, 25])
        message = r"2 of the 24 items of 'A' are not among those of 'B' \(0, 1\).*the 22 items that both have with unmatched='drop'"
        refused(fewer, name, ex.PairingError, message)
        with pytest.warns(ex.UnmatchedItemsWarning, match=r"'A' against 'B' 2 of 24.*only in 'A'.*0, 1"):
            got = getattr(fewer.evalci, name)("model", item="item", unmatched="drop")
        assert got["n_pairs"].item() == 22

    def test_nothing_in_common(self, frame, name):
        apart = frame.assign(item=frame["model"] + frame["item"].astype(str))
        for policy in ("raise", "drop"):
            refused(
                apart,
                name,
                ex.PairingError,
                "'A' and 'B' have no item of 'item' in common: the one has 24",
                unmatched=policy,
            )

    def test_ids_that_differ_by_spelling(self, frame, name):
        spelt = frame.assign(
            item=[
                f"Q {i}" if m == "A" else f"q  {i}"
                for m, i in zip(frame["model"], frame["item"], strict=True)
            ]
        )
        message = "24 item\\(s\\) of 'B' look like items of 'A' but for case or white space: 'q  0' and 'Q 0'"
        refused(spelt, name, ex.PairingError, message)

    def test_two_scores_for_an_item(self, frame, name):
        twice = pd.concat([frame, frame.iloc[[0]].assign(score=0)], ignore_index=True)
        message = r"1 of 48 combinations of 'item' and 'model' have two scores or more: 0 of 'A' \(1, 0\)"
        refused(twice, name, ex.PairingError, message)

    @pytest.mark.parametrize("key", ["n_pairs", "difference", "pvalue", "model_a", "cluster"])
    def test_keys_that_the_result_has(self, frame, name, key):
        refused(
            frame.assign(**{key: "x"}), name, ex.AmbiguousNameError, f"by='{key}' would stand twice", by=key
        )
        cube = cube_of(frame.assign(**{key: "x"}), key)
        refused(cube, name, ex.AmbiguousNameError, f"'{key}' would stand twice in the result")

    def test_the_factor_as_key(self, frame, name):
        refused(frame, name, ex.MethodError, "'model' is given both as factor and as by", by="model")

    def test_absent_columns(self, frame, name):
        refused(
            frame, name, ex.ColumnNotFoundError, r"item='itm' is neither.*Did you mean 'item'\?", item="itm"
        )
        with pytest.raises(
            ex.ColumnNotFoundError, match=r"factor='modell' is neither.*Did you mean 'model'\?"
        ):
            getattr(frame.evalci, name)("modell", item="item")
        with pytest.raises(ex.MethodError, match="item= is missing"):
            getattr(frame.evalci, name)("model")

    def test_levels_that_are_not_there(self, frame, name):
        message = r"baseline names 'a', which is not a level of 'model'.*Did you mean 'A'\?"
        refused(frame, name, ex.MethodError, message, baseline="a")
        refused(frame, name, ex.MethodError, "pairs names 'C'", pairs=[("A", "C")])
        refused(frame, name, ex.MethodError, "Both baseline= and pairs=", baseline="A", pairs=[("A", "B")])

    @pytest.mark.parametrize("value", [0, 99, 1.5, "many"])
    def test_numbers_of_resamples(self, frame, name, value):
        method = (
            {}
            if name == "compare"
            else {"method": "bootstrap_percentile"}
            if name == "diff_ci"
            else {"method": "exact"}
        )
        refused(
            frame,
            name,
            ex.MethodError,
            "n_resamples=.* must be a whole number of at least 100",
            n_resamples=value,
            **method,
        )


class TestMcnemar:
    @pytest.mark.parametrize(
        ("scores", "count", "shown"), [([0.5, 0.25], 2, "0.25, 0.5"), ([-1, 1], 1, "-1")]
    )
    def test_other_scores_than_0_and_1(self, frame, scores, count, shown):
        graded = frame.assign(score=[*scores, *frame["score"][2:]])
        message = rf"scores must be 0 or 1; {count} are neither, such as {shown}.*diff_ci and compare"
        refused(graded, "mcnemar", ex.ScoreRangeError, message)
        refused(cube_of(graded), "mcnemar", ex.ScoreRangeError, message)

    def test_repeats(self, frame):
        twice = pd.concat([frame.assign(sample=k) for k in range(2)], ignore_index=True)
        message = r"'sample' tells them apart.*mcnemar needs one score.*diff_ci or compare \(sample='sample'\).*majority vote"
        refused(twice, "mcnemar", ex.PairingError, message)
        message = r"mcnemar needs one score for each item.*majority vote"
        refused(cube_of(twice, "sample"), "mcnemar", ex.MethodError, message, dim=...)

    @pytest.mark.parametrize("method", TESTS)
    def test_methods_that_ignore_clusters(self, frame, method):
        refused(
            frame,
            "mcnemar",
            ex.MethodError,
            f"'{method}' takes the items as independent",
            method=method,
            cluster="doc",
        )

    @pytest.mark.parametrize("method", CLUSTERED_TESTS)
    def test_methods_that_need_clusters(self, frame, method):
        refused(frame, "mcnemar", ex.MethodError, f"method='{method}' needs cluster=", method=method)

    def test_methods_of_the_others(self, frame):
        refused(
            frame,
            "mcnemar",
            ex.MethodError,
            "method='tango' is not known; it must be one of 'auto', 'exact'",
            method="tango",
        )

    def test_alternative(self, frame):
        refused(frame, "mcnemar", ex.MethodError, "alternative='larger' is not known", alternative="larger")


class TestDiffCi:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"margin": 2},
                r"margin=2 is as wide as the scores, which lie in \[0, 1\]\. Did you mean 0\.02\?",
            ),
            ({"margin": 1}, "margin=1 is as wide as the scores"),
            ({"margin": -0.1}, "must be a number >= 0, in units of the scores"),
            ({"margin": np.nan}, "must be a number >= 0"),
            ({"margin": np.inf}, "must be a number >= 0"),
            ({"margin": "small"}, "margin='small' must be a number"),
            ({"margin": True}, "margin=True must be a number"),
            ({"claim": "equivalence"}, "claim='equivalence' needs margin="),
            ({"claim": "noninferiority"}, "claim='noninferiority' needs margin="),
            ({"claim": "equivalence", "margin": 0}, "needs a margin above 0"),
            ({"claim": "better", "margin": 0.1}, "claim='better' is not known"),
            (
                {"confidence_level": 95},
                r"confidence_level=95 must be .* between 0 and 1\. Did you mean 0\.95\?",
            ),
            ({"alternative": "larger"}, "alternative='larger' is not known"),
            (
                {"method": "icc_averaged"},
                "'icc_averaged' needs cluster=; without clusters it is method='tango'",
            ),
            ({"method": "tango", "cluster": "doc"}, "'tango' takes the items as independent.*'icc_averaged'"),
            ({"method": "midp"}, "method='midp' is not known"),
            ({"rng": "seed", "method": "bootstrap_percentile"}, "rng='seed' must be None, an int"),
        ],
    )
    def test_options(self, frame, options, message):
        refused(frame, "diff_ci", ex.MethodError, message, **options)
        refused(cube_of(frame), "diff_ci", ex.MethodError, message, **options)

    def test_wide_margins_of_wide_scores(self, frame):
        rated = frame.assign(score=frame["score"] * 9 + 1)
        assert rated.evalci.diff_ci("model", item="item", margin=2)["margin"].item() == 2

    @pytest.mark.parametrize("method", ["icc_averaged", *INDEPENDENT])
    def test_graded_scores(self, frame, method):
        graded, cluster = (
            frame.assign(score=frame["score"] / 2),
            {"cluster": "doc"} if method == "icc_averaged" else {},
        )
        for name in ("diff_ci", "compare"):
            message = rf"method='{method}' is for scores of 0 and 1.*method='cr2'"
            refused(graded, name, ex.ScoreRangeError, message, method=method, **cluster)


class TestCompare:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"correction": "tukey"},
                "correction='tukey' is not known; it must be one of 'bonferroni', 'holm'",
            ),
            ({"correction": None}, "correction=None is not known"),
            ({"test": "t"}, "test='t' is not known; it must be one of 'auto', 'exact', 'midp', 'interval'"),
            ({"test": "exact", "cluster": "doc"}, "test='exact' is McNemar's, for independent items"),
            ({"test": "midp", "method": "cr2"}, "would not go with method='cr2'"),
            (
                {"correction_within": "doc"},
                "correction_within='doc' must be among by .*, of which there are none here",
            ),
            ({"correction_within": "item", "by": "doc"}, "must be among by .*, which are 'doc'"),
            ({"confidence_level": 0}, "must be a number strictly between 0 and 1"),
        ],
    )
    def test_options(self, frame, options, message):
        refused(frame, "compare", ex.MethodError, message, **options)


class TestCubes:
    def test_items_are_named_where_they_cannot_be_told(self, frame):
        cube = cube_of(pd.concat([frame.assign(prompt=p) for p in "xy"], ignore_index=True), "prompt")
        for name in NAMES:
            with pytest.raises(
                ex.DimensionError, match=r"which of the dims 'item', 'prompt' holds the items.*item='item'"
            ):
                getattr(cube.evalci, name)("model")
            got = quiet(getattr(cube.evalci, name), "model", item="item")
            assert got["difference"].dims == ("prompt", "pair")

    def test_the_answer_can_be_stored(self, frame, tmp_path):
        cube = cube_of(frame)
        for name in NAMES:
            answer = getattr(cube.evalci, name)("model", item="item")
            back = xr.Dataset.from_dict(answer.to_dict())
            xr.testing.assert_equal(back, answer)

    def test_answers_can_be_joined(self, frame):
        cube = cube_of(frame)
        one, two = (
            cube.evalci.diff_ci("model", cluster="doc"),
            (1 - cube).evalci.diff_ci("model", cluster="doc"),
        )
        both = xr.concat([one, two], dim=pd.Index(["passes", "failures"], name="of"))
        assert_allclose(both["difference"].sel(of="passes"), -both["difference"].sel(of="failures"))
