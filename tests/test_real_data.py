"""Published eval results through a frame and through a Dataset: rates against the slow reference, pairs against other tools."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from scipy import stats as ss

import evalci_accessor  # noqa: F401
from evalci_accessor.exceptions import (
    DegenerateRateWarning,
    EffectiveSizeWarning,
    PairingError,
    SentinelScoreWarning,
    SharedKeyWarning,
)

GOLDEN = json.loads(
    (Path(__file__).parent / "reference" / "real_data_rates.json").read_text(encoding="utf-8")
)["data"]
NUMBERS = (
    "estimate",
    "std_error",
    "ci_low",
    "ci_high",
    "df",
    "n",
    "n_clusters",
    "icc",
    "design_effect",
    "n_eff",
)


def load(name, data_dir):
    """Rows of 'file.csv model=x, cluster=y, score=z' as score and cluster."""
    file, rest = name.split(" ", 1)
    parts = dict(part.split("=", 1) for part in rest.split(", "))
    cluster, score = parts.pop("cluster"), parts.pop("score")
    rows = pd.read_csv(data_dir / file)
    for column, value in parts.items():
        rows = rows[rows[column] == value]
    return pd.DataFrame({"score": rows[score], "cluster": rows[cluster]})


def one_row(frame, **options):
    answer = frame.evalci.cluster_ci("cluster", **options)
    assert len(answer) == 1
    return answer.iloc[0]


def warned(want, *classes):
    return pytest.warns(classes) if want["estimate"] in (0, 1) else nullcontext()


@pytest.mark.parametrize("name", GOLDEN)
def test_default(name, data_dir):
    want, frame = GOLDEN[name], load(name, data_dir)
    with warned(want, DegenerateRateWarning):
        got = one_row(frame)
    # The reference's midpoint rule over p is off where all fail (see reference/README.md).
    limits, rest = (1e-5, 1e-3) if want["estimate"] == 0 else (1e-6, 1e-6)
    assert got["method"] == "icc_averaged"
    assert (got["n"], got["n_clusters"]) == (want["n"], want["n_clusters"])
    assert_allclose(got["estimate"], want["estimate"], atol=1e-12)
    assert_allclose([got["ci_low"], got["ci_high"]], want["icc_averaged"], atol=limits)
    assert_allclose([got["icc"], got["n_eff"]], [want["icc_posterior_mean"], want["n_eff"]], rtol=rest)


@pytest.mark.parametrize("name", GOLDEN)
def test_cluster_robust(name, data_dir):
    want, frame = GOLDEN[name], load(name, data_dir)
    for method in ("cr1", "cr2"):
        with warned(want, DegenerateRateWarning, EffectiveSizeWarning):
            got = one_row(frame, method=method)
        assert_allclose(got["std_error"], want[f"{method}_std_error"], rtol=1e-6)
        if want["estimate"]:
            df = want["satterthwaite_df"] if method == "cr2" else want["n_clusters"] - 1
            assert_allclose(got["df"], df, rtol=1e-6)


@pytest.mark.parametrize("name", GOLDEN)
def test_effective_clusters(name, data_dir):
    want, frame = GOLDEN[name], load(name, data_dir)
    with warned(want, DegenerateRateWarning):
        got = frame.evalci.design_effect("cluster").iloc[0]
    assert_allclose(got["effective_clusters"], want["effective_clusters"], rtol=1e-6)


@pytest.mark.parametrize("method", ["auto", "cr1", "cr2"])
@pytest.mark.parametrize("name", GOLDEN)
def test_dataset_has_the_same_digits(name, method, data_dir):
    want, frame = GOLDEN[name], load(name, data_dir)
    ds = xr.Dataset(
        {"score": ("row", frame["score"].to_numpy())}, {"cluster": ("row", frame["cluster"].to_numpy())}
    )
    with warned(want, DegenerateRateWarning, EffectiveSizeWarning):
        row, cube = one_row(frame, method=method), ds.evalci.cluster_ci("cluster", method=method)
    assert_allclose(
        np.array([float(cube[x]) for x in NUMBERS]), row[list(NUMBERS)].to_numpy(float), rtol=1e-12
    )
    assert str(cube["method"].item()) == row["method"]


# Two systems on the same items


@pytest.fixture
def bbh(data_dir):
    """27 tasks, each answered with a chain of thought and directly."""
    return pd.read_csv(data_dir / "bbh_codex_cot_direct.csv")


def test_27_tasks_have_the_p_values_of_statsmodels(bbh):
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests

    ask = {"item": "item", "score": "correct", "by": "task", "baseline": "direct"}
    sides = bbh.pivot(index=["task", "item"], columns="mode", values="correct")
    want = pd.Series(
        {
            task: min(float(mcnemar(pd.crosstab(rows["cot"], rows["direct"]), exact=True).pvalue), 1.0)
            for task, rows in sides.groupby("task")
        }
    )
    got = bbh.evalci.mcnemar("mode", **ask).set_index("task")
    assert len(got) == 27
    assert_allclose(got["pvalue"], want[got.index], rtol=1e-12)
    for correction, name in (("holm", "holm"), ("bh", "fdr_bh")):
        table = bbh.evalci.compare("mode", correction=correction, n_resamples=100, rng=1, **ask).set_index(
            "task"
        )
        assert_allclose(table["pvalue"], want[table.index], rtol=1e-12)
        assert_allclose(table["pvalue_adj"], multipletests(want[table.index], method=name)[1], rtol=1e-12)
        assert table["pvalue"].is_monotonic_increasing


@pytest.mark.parametrize("question", ["mcnemar", "diff_ci", "compare"])
def test_27_tasks_as_a_cube(bbh, question):
    """Items of a task that another lacks are holes of both systems, so they are no items of that task."""
    cube = bbh.set_index(["task", "mode", "item"])["correct"].to_xarray()
    options = {"n_resamples": 100, "rng": 1} if question == "compare" else {}
    want = getattr(bbh.evalci, question)(
        "mode", item="item", by="task", score="correct", baseline="direct", **options
    )
    with pytest.warns(UserWarning, match="Missing scores were left out"):
        got = getattr(cube.evalci, question)(
            "mode", item="item", baseline="direct", nan_policy="omit", **options
        )
    keys = ["task", "mode_a"]
    pd.testing.assert_frame_equal(
        got.to_dataframe().reset_index()[list(want)].sort_values(keys, ignore_index=True),
        want.sort_values(keys, ignore_index=True), check_dtype=False, rtol=1e-12,
    )  # fmt: skip


def test_all_tasks_together_by_task(bbh):
    ask = {"item": ["task", "item"], "cluster": "task", "score": "correct", "baseline": "direct"}
    got = bbh.evalci.diff_ci("mode", **ask).iloc[0]
    assert (got["method"], got["n_pairs"], got["n_clusters"], got["verdict"]) == (
        "icc_averaged",
        6511,
        27,
        "superior",
    )
    assert 0.1 < got["ci_low"] < 0.216249 < got["ci_high"] < 0.33
    with pytest.warns(
        SharedKeyWarning,
        match="The 6511 items are told apart by 'task' .27 values. and 'item'.*cluster='task'",
    ):
        naive = bbh.evalci.diff_ci("mode", **ask | {"cluster": None}).iloc[0]
    assert naive["ci_high"] - naive["ci_low"] < 0.2 * (got["ci_high"] - got["ci_low"])
    series = bbh.set_index(["mode", "task", "item"])["correct"]
    del ask["score"]
    assert series.evalci.diff_ci("mode", **ask).iloc[0].equals(got)


@pytest.mark.filterwarnings("ignore:.* have more repeats under one system")  # 20 variants and 19, say
@pytest.mark.parametrize("model", ["Llama-3.1-70B", "Llama-3.1-8B-Instruct"])
def test_templates_in_two_languages(data_dir, model):
    """Variants are separate draws, so that the template is what is paired: a t test of the differences of their means."""
    rows = pd.read_csv(data_dir / "gsm_symbolic_en_da.csv").query("model == @model")
    means = rows.groupby(["template", "lang"])["correct"].mean().unstack()
    want = ss.ttest_rel(means["eng"], means["dan"])
    for options in ({}, {"cluster": "template"}):
        with (
            nullcontext()
            if not options
            else pytest.warns(UserWarning, match="every cluster of 'template' holds one item")
        ):
            got = rows.evalci.diff_ci(
                "lang", item="template", sample="variant", score="correct", baseline="dan", **options
            ).iloc[0]
        interval = want.confidence_interval()
        assert (got["method"], got["n_pairs"], got["n_clusters"]) == ("cr2", 100, 100)
        assert_allclose([got["statistic"], got["pvalue"]], [want.statistic, want.pvalue], rtol=1e-9)
        assert_allclose([got["ci_low"], got["ci_high"]], [interval.low, interval.high], rtol=1e-9)
        assert_allclose([got["estimate_a"], got["estimate_b"]], means[["eng", "dan"]].mean(), rtol=1e-12)


def test_two_tasks_of_the_same_programs(data_dir):
    """Ten samples a program and task, averaged; as a cube the samples are a dim."""
    rows = pd.read_csv(data_dir / "cruxeval_codellama7b.csv")
    means = rows.groupby(["problem", "task"])["passed"].mean().unstack()
    want = ss.ttest_rel(means["input"], means["output"])
    got = rows.evalci.diff_ci("task", item="problem", sample="sample", score="passed").iloc[0]
    assert_allclose(
        [got["difference"], got["pvalue"]],
        [(means["input"] - means["output"]).mean(), want.pvalue],
        rtol=1e-9,
    )
    cube = rows.set_index(["task", "problem", "sample"])["passed"].to_xarray()
    answer = cube.evalci.diff_ci("task", item="problem", sample="sample")
    assert_allclose(
        [answer[x].item() for x in NUMBERS_OF_PAIRS], got[list(NUMBERS_OF_PAIRS)].astype(float), rtol=1e-12
    )
    table = rows.evalci.compare(
        "task", item="problem", sample="sample", score="passed", n_resamples=100, rng=1
    ).iloc[0]
    assert table["pvalue_adj"] == table["pvalue"]
    assert_allclose(table["pvalue"], want.pvalue, rtol=1e-9)
    with pytest.raises(
        PairingError, match=r"1600 of 1600 combinations.*'sample' tells them apart.*sample='sample'"
    ):
        rows.evalci.mcnemar("task", item="problem", score="passed")


NUMBERS_OF_PAIRS = (
    "estimate_a",
    "estimate_b",
    "difference",
    "std_error",
    "ci_low",
    "ci_high",
    "n_pairs",
    "statistic",
    "pvalue",
)


def test_trials_of_one_agent_do_not_differ(data_dir):
    """All six pairs of four trials of the same agent on the same tasks: the null hypothesis, in real data."""
    rows = pd.read_csv(data_dir / "taubench_airline.csv")
    got = rows.evalci.compare(
        "trial", item="task_id", cluster="user_id", score="reward", n_resamples=999, rng=1
    )
    assert len(got) == 6
    assert (got["n_pairs"] == 50).all()
    assert (got["n_clusters"] == rows["user_id"].nunique()).all()
    assert (got["pvalue_adj"] > 0.05).all()
    assert ((got["simultaneous_low"] < 0) & (got["simultaneous_high"] > 0)).all()
    assert (got["trial_a"] < got["trial_b"]).all()
    assert got["trial_a"].dtype == rows["trial"].dtype


def test_failed_parses_of_a_judge(data_dir):
    """MT-bench: ten questions twice, and -1 where the judge's answer could not be read."""
    rows = pd.read_csv(data_dir / "mtbench_gpt4_single.csv").query("source == 'dreaming-panda/MTBench'")
    ask = {"item": ["question_id", "turn"], "cluster": "category"}
    with pytest.raises(
        PairingError, match=r"10 of 320 combinations.*\(81, 1\) of .*\(-1, 10\).*drop_duplicates"
    ):
        rows.evalci.diff_ci("model", **ask)
    first = rows.drop_duplicates(["model", "question_id", "turn"])
    bad = int((first["score"] == -1).sum())
    assert bad
    with pytest.warns(SentinelScoreWarning, match=rf"{bad} score\(s\) are -1 while all others are 0 or more"):
        first.evalci.diff_ci("model", **ask)
    last = rows.drop_duplicates(["model", "question_id", "turn"], keep="last")
    got = last.evalci.diff_ci("model", **ask).iloc[0]
    assert (got["method"], got["n_pairs"], got["n_clusters"]) == ("cr2", 160, 8)
    means = last.groupby(["category", "model"], sort=False)["score"].mean().unstack()
    want = ss.ttest_rel(means[got["model_a"]], means[got["model_b"]])  # categories are of one size
    assert_allclose([got["statistic"], got["pvalue"]], [want.statistic, want.pvalue], rtol=1e-9)
