"""Real problems of people who do this job, each a test named by its id.

Values were computed independently of the package and hold to the digits given. Not here: the ids pk-, which are in
test_repeated.py; the standard error of agg-01 for subtasks that are fixed, which no method gives; and imp-02, which is about
reading log files (test_docs.py has those of the pages).
"""

import copy
import importlib
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from plot.pictures import marks, notes, said, segments
from scipy import stats as ss

import evalci_accessor
from conftest import requires
from evalci_accessor import exceptions as ex
from evalci_accessor import stats
from evalci_accessor._register import register

SIX = {"atol": 6e-7, "rtol": 0}  # the values are rounded to six digits
quiet = pytest.mark.filterwarnings("ignore::evalci_accessor.exceptions.EvalCIWarning")


def frame(y, g=None):
    return pd.DataFrame({"score": y} if g is None else {"score": y, "cluster": g})


def naive(y, method="wilson", **options):
    return frame(y).evalci.proportion_ci(method=method, **options).iloc[0]


def clustered(data, method="auto", **options):
    return data.evalci.cluster_ci("cluster", method=method, **options).iloc[0]


def limits(row):
    return [row["ci_low"], row["ci_high"]]


def check(data, *, mean, se_cr1, G, t_interval_unclipped=None, wilson_t=None, deff=None, **options):
    """The estimate, CR1, and the intervals that follow from them."""
    got = clustered(data, "cr1", **options)
    assert_allclose([got["estimate"], got["std_error"]], [mean, se_cr1], **SIX)
    assert (got["n_clusters"], got["df"]) == (G, G - 1)
    half = ss.t.ppf(0.975, got["df"]) * got["std_error"]
    unclipped = np.array([got["estimate"] - half, got["estimate"] + half])
    if t_interval_unclipped is not None:
        assert_allclose(unclipped, t_interval_unclipped, atol=2e-6)
        bounded = data["score"].dropna().between(0, 1).all()
        assert_allclose(limits(got), np.clip(unclipped, 0, 1) if bounded else unclipped, rtol=1e-9)
    if wilson_t is not None:
        assert_allclose(limits(clustered(data, "wilson", **options)), wilson_t, **SIX)
    if deff is not None:
        assert_allclose(got["design_effect"], deff, atol=6e-5)
    return got


# Degenerate rates


def test_deg_01():
    for n, wilson, exact in ((25, 0.133192, 0.137185), (5000, 0.000768, 0.000738)):
        assert_allclose(limits(naive([0] * n)), [0, wilson], **SIX)
        assert_allclose(limits(naive([0] * n, "clopper_pearson")), [0, exact], **SIX)


@quiet
def test_deg_02():
    sizes = {"a": 40, "b": 25, "c": 60}
    data = pd.DataFrame({"task": np.repeat(list(sizes), list(sizes.values())), "score": 0})
    assert_allclose(limits(naive(data["score"])), [0, 0.029815], **SIX)
    assert_allclose(limits(naive(data["score"], "clopper_pearson")), [0, 0.02908], **SIX)
    each = data.evalci.proportion_ci(by="task")
    assert list(each["task"]) == list(sizes)
    assert_allclose(each["ci_high"], [0.087622, 0.133192, 0.060172], **SIX)
    assert (each["ci_low"] == 0).all()
    share = 1 / data.groupby("task")["score"].transform(
        "size"
    )  # each task counts alike, so there is less evidence
    for macro in (data.evalci.proportion_ci(weights=share), data.evalci.cluster_ci("task", weights=share)):
        assert (macro[["estimate", "ci_low"]] == 0).all(axis=None)
        assert 0.029815 < macro["ci_high"].item() < 1


def test_deg_03():
    got = naive([1] * 7 + [0] * 143)
    assert_allclose(
        [got["estimate"], got["std_error"], *limits(got)], [0.046667, 0.01728, 0.022787, 0.093186], **SIX
    )


def test_deg_06():
    got = stats.proportion_ci(0, 1000, method="clopper_pearson", confidence_level=1 - 1e-7)
    assert_allclose([got.ci_low, got.ci_high], [0, 0.016670722], atol=1e-9)


def test_deg_07():
    y = [1] + [0] * 29
    assert_allclose(limits(naive(y)), [0.005909, 0.166704], **SIX)
    assert_allclose(limits(naive(y, "clopper_pearson")), [0.000844, 0.172169], **SIX)
    assert_allclose(limits(naive(y, "wald")), [0, 0.097567], **SIX)
    assert_allclose(limits(naive(y, "agresti_coull")), [0, 0.180918], **SIX)


def test_deg_08():
    data = pd.DataFrame(
        {"g": pd.Categorical(["a", "a", "b"], categories=["a", "b", "c"]), "score": [1, 0, 1]}
    )
    got = data.evalci.proportion_ci(by="g")
    assert list(got["g"]) == ["a", "b"]  # c has no rows and is absent
    assert got["g"].dtype == data["g"].dtype
    assert_allclose(got["estimate"], [0.5, 1.0])
    assert list(got["n"]) == [2, 1]


def gsm(data_dir, model):
    rows = pd.read_csv(data_dir / "gsm_symbolic_en_da.csv")
    rows = rows[(rows["model"] == model) & (rows["lang"] == "dan")]
    return rows.rename(columns={"correct": "score", "template": "cluster"})[["score", "cluster"]]


@quiet
def test_deg_09(data_dir):
    data = gsm(data_dir, "gemma-3-1b-it")
    assert_allclose(limits(naive(data["score"])), [0, 0.001882], **SIX)  # the one that is too tight
    # The case counts 100 templates; sizes differ a little, so the effective number is 99.876.
    for method, upper in (("wilson", 0.036993), ("clopper_pearson", 0.036217)):
        got = clustered(data, method)
        assert got["n_clusters"] == 100
        assert_allclose(limits(got), [0, upper], atol=6e-5)
    got = clustered(data)
    assert got["ci_low"] == 0
    assert 0.001882 < got["ci_high"] < 0.036993  # n_eff between the templates and the rows


@quiet
def test_deg_10(data_dir):
    data = gsm(data_dir, "OLMo-1B-hf")
    got = check(data, mean=0.000982, se_cr1=0.00069, G=100, t_interval_unclipped=[-0.000388, 0.002352], deff=0.9892,
                wilson_t=[0.000267, 0.003601])  # fmt: skip
    assert got["ci_low"] == 0  # -0.000388 is cut
    assert_allclose(limits(naive(data["score"])), [0.000269, 0.003573], **SIX)
    assert (data.groupby("cluster")["score"].sum() > 0).sum() == 2
    with pytest.warns(ex.RareOutcomeWarning, match=r"2 cluster"):
        default = clustered(data)
    assert 0 <= default["ci_low"] <= default["estimate"] <= default["ci_high"]


# Macro and micro averages


@quiet
def test_agg_01():
    parts = [frame([1] * passed + [0] * (n - passed), name) for name, (passed, n) in
             {"a": (9, 10), "b": (40, 100), "c": (450, 900)}.items()]  # fmt: skip
    data = pd.concat(parts, ignore_index=True)
    share = 1 / data.groupby("cluster")["score"].transform("size")
    micro, macro = naive(data["score"]), clustered(data, "cr1", weights=share)
    assert_allclose(
        [micro["estimate"], macro["estimate"], macro["std_error"]], [0.494059, 0.6, 0.152753], **SIX
    )
    for options, mean in (({}, "49.4 %"), ({"weights": share.to_numpy()}, "60.0 %")):
        row = clustered(data, **options)
        assert row["ci_low"] < row["estimate"] < row["ci_high"]
        low, high = (f"{100 * value:.1f}" for value in limits(row))  # of the number that is printed beside it
        assert (
            f"the score is {mean} (95 % interval {low} to {high})"
            in data.evalci.report("cluster", **options).sentence
        )


# Few clusters


@pytest.mark.parametrize("method", ["auto", "cr1", "cr2", "wilson", "bootstrap_percentile"])
def test_few_01(method):
    data = frame([1, 0, 1, 1, 0, 1, 1, 1], ["only"] * 8)
    with pytest.raises(ex.ClusterError, match="only"):
        clustered(data, method)
    assert naive(data["score"])["estimate"] == 0.75


@quiet
def test_few_02():
    counts = {"h1": (26, 50), "h2": (31, 50), "h3": (22, 50)}
    data = pd.concat([frame([1] * s + [0] * (n - s), name) for name, (s, n) in counts.items()])
    check(data, mean=0.526667, se_cr1=0.052068, G=3, t_interval_unclipped=[0.302635, 0.750699], deff=1.6204,
          wilson_t=[0.318344, 0.726101])  # fmt: skip
    assert_allclose(limits(naive(data["score"])), [0.447101, 0.604901], **SIX)
    with pytest.warns(ex.FewClustersWarning, match="3"):
        clustered(data)
    with pytest.warns(ex.BootstrapWarning):
        clustered(data, "bootstrap_percentile", n_resamples=200, rng=1)


# Missing ids and scores

HALF_WITHOUT_ID = frame([1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0], ["a", "a", "a", "b", "b", "b"] + [None] * 6)


@quiet
def test_nan_01():
    with pytest.raises(ex.MissingClusterError, match="6 of 12"):
        clustered(HALF_WITHOUT_ID)
    own = HALF_WITHOUT_ID["cluster"].where(
        HALF_WITHOUT_ID["cluster"].notna(), [f"row {i}" for i in range(12)]
    )
    check(HALF_WITHOUT_ID.assign(cluster=own), mean=0.416667, se_cr1=0.18545, G=8)
    check(HALF_WITHOUT_ID.fillna({"cluster": "none"}), mean=0.416667, se_cr1=0.236621, G=3)
    check(HALF_WITHOUT_ID.dropna(subset=["cluster"]), mean=0.666667, se_cr1=0.333333, G=2)


@quiet
def test_nan_02():
    y, codes = [1, 0, 1, 1, 0, 1], [1, 1, 2, 2, None, None]
    names = ["a", "a", "b", "b", None, None]
    kinds = {
        "object": pd.Series(names, dtype=object), "category": pd.Series(names, dtype="category"),
        "string": pd.Series(names, dtype="string"), "Int64": pd.Series(codes, dtype="Int64"),
        "float64": pd.Series(codes, dtype="float64"), "str": pd.Series(names, dtype="str"),
    }  # fmt: skip
    for kind, cluster in kinds.items():
        data = frame(y, cluster)
        with pytest.raises(ex.MissingClusterError, match="2 of 6"):
            clustered(data)
        check(data.dropna(subset=["cluster"]), mean=0.75, se_cr1=0.25, G=2)
        filled = frame(y, pd.Series([*cluster.astype(object)[:4], 8 if kind in ("Int64", "float64") else "x",
                                     9 if kind in ("Int64", "float64") else "y"]))  # fmt: skip
        check(filled, mean=0.666667, se_cr1=0.20286, G=4)


@quiet
def test_nan_03():
    nan = np.nan
    data = frame([1, 0, nan, 1, 1, 0, 1, nan], list("aabbccdd"))
    with pytest.raises(ex.MissingScoreError, match="2 of 8"):
        clustered(data)
    with pytest.warns(ex.MissingScoreWarning, match="2 of 8"):
        got = check(data, mean=0.666667, se_cr1=0.1283, G=4, t_interval_unclipped=[0.258359, 1.074975], deff=0.3704,
                    wilson_t=[0.303226, 0.901879], nan_policy="omit")  # fmt: skip
    assert got["n"] == 6


def test_nan_05():
    data = frame([0.9] * 5 + [np.nan] * 5)
    with pytest.raises(ex.MissingScoreError, match="5 of 10"):
        data.evalci.proportion_ci()
    with pytest.warns(ex.MissingScoreWarning, match=r"5 of 10.*0\.45 or 0\.95"):
        got = data.evalci.proportion_ci(nan_policy="omit").iloc[0]
    assert_allclose(got["estimate"], 0.9)
    assert got["n"] == 5


@pytest.mark.parametrize("y", [np.full(3, np.nan), np.array([], float), np.array([], object)])
def test_nan_06(y):
    usual = list(frame([0, 1]).evalci.proportion_ci().columns)
    data = frame(y, np.arange(len(y)) // 2)
    for call in (data.evalci.proportion_ci, lambda **o: data.evalci.cluster_ci("cluster", **o)):
        with warnings.catch_warnings():  # nothing but what the package says itself
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ex.EvalCIWarning)
            got = call(nan_policy="omit")
        assert list(got.columns) == usual
        assert got[["estimate", "ci_low", "ci_high"]].isna().all(axis=None)
        assert list(got["n"]) == [0]


def test_nan_07():
    data = frame([1] * 60 + [0] * 20 + [None] * 15 + [np.nan] * 5)
    with pytest.warns(ex.MissingScoreWarning, match="20 of 100"):
        scored = data.evalci.proportion_ci(nan_policy="omit").iloc[0]
    assert_allclose([scored["estimate"], *limits(scored)], [0.75, 0.645153, 0.831938], **SIX)
    wrong = data.fillna(0).evalci.proportion_ci().iloc[0]
    assert_allclose([wrong["estimate"], *limits(wrong)], [0.6, 0.502003, 0.690599], **SIX)


# Dtypes of ids


@quiet
def test_dtype_01():
    cluster = pd.Categorical(list("aabbccdd"), categories=list("abcdefg"))
    check(frame([1, 1, 1, 0, 0, 0, 1, 1], cluster), mean=0.625, se_cr1=0.239357, G=4,
          t_interval_unclipped=[-0.13674, 1.38674], deff=1.7111, wilson_t=[0.130008, 0.948949])  # fmt: skip


@quiet
def test_dtype_02():
    y = [1, 1, 1, 0, 0, 0, 1, 1]
    text = pd.Series(["ä", "ä", "b", "b", "日本", "日本", "d", "d"], index=range(100, 108))
    data = frame(y)
    want = data.evalci.cluster_ci(np.repeat(np.arange(4), 2), method="cr1")
    assert_allclose(want["std_error"], 0.239357, **SIX)
    assert want["n_clusters"].item() == 4
    by_position = data.evalci.cluster_ci(text.to_numpy(), method="cr1")
    pd.testing.assert_frame_equal(by_position, want)
    with pytest.raises(ex.AlignmentError, match="index"):  # a Series goes by index, and this one's is another
        data.evalci.cluster_ci(text, method="cr1")
    aligned = data.set_index(text.index).evalci.cluster_ci(text.sample(frac=1, random_state=0), method="cr1")
    pd.testing.assert_frame_equal(aligned, want)


# Scores that are not what they seem


def test_val_01():
    data = frame(pd.Series(["True", "False", "False", "True"], dtype=object))
    with pytest.raises(ex.ScoreTypeError, match="'score'") as caught:
        data.evalci.proportion_ci()
    assert isinstance(caught.value, TypeError)
    mapped = data.assign(score=data["score"].map({"True": 1, "False": 0}))
    assert mapped.evalci.proportion_ci()["estimate"].item() == 0.5


def test_val_02():
    data = frame(["C", "I", "P", "C", "nan"])
    with pytest.raises(ex.ScoreTypeError) as caught:
        data.evalci.proportion_ci()
    assert all(label in str(caught.value) for label in ("'C' (2)", "'I' (1)", "'P' (1)", "'nan' (1)"))
    mapped = data.assign(score=data["score"].map({"C": 1, "I": 0, "P": 0.5}))
    with pytest.warns(ex.MissingScoreWarning, match="1 of 5"):
        got = mapped.evalci.proportion_ci(nan_policy="omit").iloc[0]
    assert (got["estimate"], got["n"]) == (0.625, 4)


@quiet
def test_val_03():
    y, g = np.array([90, 70, 100, 55, 45]), list("aabbc")
    check(frame(y, g), mean=72, se_cr1=8.146165, G=3, t_interval_unclipped=[36.949882, 107.050118])
    for method in ("cr1", "cr2", "cr3"):
        wide, unit = clustered(frame(y, g), method), clustered(frame(y / 100, g), method)
        half = ss.t.ppf(0.975, wide["df"]) * wide["std_error"]
        assert_allclose(limits(wide), [72 - half, 72 + half])  # not cut at 100
        assert_allclose(
            [wide["estimate"], wide["std_error"]], [100 * unit["estimate"], 100 * unit["std_error"]]
        )
    assert clustered(frame(y, g))["method"] == "cr2"
    for call in (lambda: naive(y), lambda: clustered(frame(y, g), "wilson")):
        with pytest.raises(ex.ScoreRangeError, match="45 to 100"):
            call()


@quiet
def test_val_06(data_dir):
    rows = pd.read_csv(data_dir / "mtbench_gpt4_single.csv")
    rows = rows[rows["model"] == "Meta-Llama-3-8B-Instruct-Normal"].rename(columns={"question_id": "cluster"})
    assert len(rows) == 170
    assert rows.duplicated(["cluster", "turn"]).sum() == 10
    assert_allclose(clustered(rows, "cr1")["estimate"], 7.635294, **SIX)  # -1 is never dropped unasked
    with pytest.raises(ex.ScoreRangeError, match="-1"):
        clustered(rows, "wilson")
    parsed = rows[rows["score"] != -1]
    assert len(parsed) == 166
    assert_allclose(clustered(parsed, "cr1")["estimate"], 7.843373, **SIX)
    once = parsed.drop_duplicates(["cluster", "turn"])
    got = check(once, mean=7.76875, se_cr1=0.313709, G=80, t_interval_unclipped=[7.144328, 8.393172])
    assert got["n"] == 160


# Bootstraps


@quiet
def test_boot_01():
    for y, g, wilson in (
        ([1] * 10, range(10), [0.722467, 1]),
        ([1] * 12, np.repeat(range(4), 3), [0.510109, 1]),
    ):
        data = frame(y, list(g))
        low, high = limits(clustered(data, "bootstrap_bca", n_resamples=200, rng=1))
        assert 0 < low < high == 1
        assert_allclose(limits(clustered(data, "wilson")), wilson, **SIX)
    with pytest.warns(ex.EffectiveSizeWarning):
        clustered(data, "bootstrap_bca", n_resamples=200, rng=1)


def test_boot_03():
    rng = np.random.default_rng(7)
    n, clusters = 1_000_000, 20_000
    g = rng.integers(0, clusters, n)
    p = rng.beta(2, 2, clusters)
    data = frame((rng.random(n) < p[g]).astype(int), g)
    got = check(
        data, mean=0.499159, se_cr1=0.001662, G=20_000, t_interval_unclipped=[0.4959, 0.502418], deff=11.0555
    )
    drawn = clustered(data, "bootstrap_percentile", n_resamples=2000, rng=1)
    assert_allclose(np.diff(limits(drawn)), np.diff(limits(got)), rtol=0.05)
    assert_allclose(limits(drawn), limits(got), atol=0.05 * 0.0065)


@quiet
@pytest.mark.parametrize("method", ["auto", "cr2", "bootstrap_percentile", "bootstrap_bca", "bootstrap_t"])
def test_boot_04(method):
    rng = np.random.default_rng(2)
    rows = frame(rng.integers(0, 2, 60), np.repeat(range(12), 5))
    data = pd.concat([rows.assign(model="x"), rows.sample(frac=1, random_state=1).assign(model="y")])
    options = {"by": "model", "method": method, "rng": 3, "n_resamples": 300}
    got = data.evalci.cluster_ci("cluster", **options)
    pd.testing.assert_frame_equal(
        got.iloc[[0]].drop(columns="model"), got.iloc[[1]].drop(columns="model").set_index([[0]])
    )
    renamed = data.assign(model=data["model"].map({"x": "z", "y": "a"})).sample(frac=1, random_state=5)
    again = renamed.evalci.cluster_ci("cluster", **options)
    assert_allclose(again[["ci_low", "ci_high"]], got[["ci_low", "ci_high"]], rtol=1e-12)


# Ids


@quiet
def test_id_02():
    data = frame([1, 1, 0, 0, 1, 0], ["caf\u00e9"] * 2 + ["cafe\u0301"] * 2 + ["q2"] * 2)
    with pytest.warns(ex.ClusterIdWarning, match=r"NFC"):
        got = clustered(data, "cr1")
    assert got["n_clusters"] == 3  # kept apart, and said
    with pytest.warns(ex.ClusterIdWarning):
        assert clustered(frame([1, 0, 1, 0], ["q1", "q1", "q1 ", "q1 "]), "cr1")["n_clusters"] == 2


# The accessor


def test_api_01():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(evalci_accessor)
        register()
    assert naive([1, 0])["estimate"] == 0.5


def test_api_01_a_foreign_accessor_still_warns(monkeypatch):
    class Foreign:
        def __init__(self, obj):
            self.obj = obj

    with monkeypatch.context() as patch:
        patch.setattr(pd.Series, "evalci", Foreign, raising=False)
        with pytest.warns(UserWarning, match="evalci"):
            register()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        register()
    assert pd.Series([1, 0]).evalci.proportion_ci()["estimate"].item() == 0.5


def test_api_02():
    class Special(pd.DataFrame):
        @property
        def _constructor(self):
            return Special

    for data in (frame([1, 1, 0, 0]), Special({"score": [1, 1, 0, 0]})):
        assert data.evalci.proportion_ci()["estimate"].item() == 0.5
        copies = [data.copy(), copy.deepcopy(data), pickle.loads(pickle.dumps(frame([1, 1, 0, 0])))]
        part = data[data["score"] == 0]
        data.loc[:, "score"] = 1
        assert data.evalci.proportion_ci()["estimate"].item() == 1.0
        assert part.evalci.proportion_ci()["estimate"].item() == 0.0
        assert [one.evalci.proportion_ci()["estimate"].item() for one in copies] == [0.5] * 3


def test_api_02_dataset():
    ds = xr.Dataset({"score": ("item", [1, 1, 0, 0])})
    assert ds.evalci.proportion_ci()["estimate"] == 0.5
    ds["score"].values[:] = 1  # the accessor object is cached by xarray, its answers are not
    assert ds.evalci.proportion_ci()["estimate"] == 1.0


@quiet
def test_api_04():
    """No call remembers a cluster, and each answer names its own."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(
        {"score": rng.integers(0, 2, 80), "doc": np.repeat(range(20), 4), "chat": np.arange(80) % 16}
    )
    for name, clusters in (("doc", 20), ("chat", 16)):
        calls = [data.evalci.cluster_ci(name), data.evalci.cluster_ci(name, method="bootstrap_percentile", n_resamples=200),
                 data.evalci.design_effect(name)]  # fmt: skip
        assert all(got["cluster"].item() == name and got["n_clusters"].item() == clusters for got in calls)
    assert data.evalci.proportion_ci()["cluster"].item() == ""


@quiet
def test_api_04_in_a_report_and_in_pictures():
    """All of one report is of one clustering, and what ignores it says so."""
    plt = requires("matplotlib.pyplot")
    rng = np.random.default_rng(3)
    rows = {"doc": np.repeat(range(20), 4), "chat": np.arange(80) % 16, "item": range(80)}
    data = pd.concat([pd.DataFrame(rows).assign(model=name, score=rng.integers(0, 2, 80)) for name in "AB"])
    for name, clusters in (("doc", 20), ("chat", 16)):
        made = data.evalci.report(name, factor="model", item="item", rng=1).to_dict()
        found = [*made["systems"], *made["comparisons"], *made["clustering"]]
        assert {(one["cluster"], one["n_clusters"]) for one in found} == {(name, clusters)}
        assert {one["naive"]["cluster"] for one in found if "naive" in one} == {""}
        assert f"80 items in {clusters} clusters of {name}" in made["sentence"]
        forest = said(data.evalci.plot.forest(name, by="model"))
        assert [text.partition(":")[0] for text in forest[:2]] == [
            f"clustered by {name}",
            "scores taken as independent",
        ]
        pairs = data.evalci.compare("model", "item", name, rng=1).evalci.plot.differences()
        assert any(text.endswith(f"clustered by {name}") for text in said(pairs))
        plt.close("all")


# Pictures and reports of the problems above


def test_deg_02_in_a_picture():
    """No line without width, and no arrow: nothing is the least that there is."""
    requires("matplotlib")
    sizes = {"a": 40, "b": 25, "c": 60}
    data = pd.DataFrame({"task": np.repeat(list(sizes), list(sizes.values())), "score": 0})
    ax = data.evalci.proportion_ci(by="task").evalci.plot.forest(sort_by=None)
    assert_allclose(segments(ax, "interval"), [[0, 0.087622], [0, 0.133192], [0, 0.060172]], **SIX)
    assert notes(ax)[1:4] == ["0.0 [0.0, 8.8]", "0.0 [0.0, 13.3]", "0.0 [0.0, 6.0]"]
    assert not marks(ax, "open end").size


def test_pair_01_in_a_report_and_in_a_picture():
    requires("matplotlib")
    data = of_cells(70, 3, 14, 13)
    made = data.evalci.report("item", factor="model", item="item", baseline="A", rng=1)
    assert "B scored 11.0 points above A" in made.sentence
    assert "only B passed 14, only A passed 3" in made.sentence
    assert "| 14, 3 | 70, 13 |" in made.to_markdown()
    ax = data.evalci.compare("model", item="item", baseline="A", rng=1).evalci.plot.differences()
    assert "14 : 3" in notes(ax)


@pytest.mark.parametrize(
    ("case", "y", "g", "kind", "told"),
    [
        ("few-02", np.repeat([1, 0, 1, 0, 1, 0], [26, 24, 31, 19, 22, 28]), np.repeat(["h1", "h2", "h3"], 50),
         "FewClustersWarning", r"52\.7 % .* 3 clusters of cluster"),
        ("id-02", [1, 1, 0, 0, 1, 0], ["caf\u00e9"] * 2 + ["cafe\u0301"] * 2 + ["q2"] * 2, "ClusterIdWarning", "NFC"),
        ("nan-05", [0.9] * 5 + [np.nan] * 5, range(10), "MissingScoreWarning", r"5 of 10.*0\.45 or 0\.95"),
        ("nan-07", [1] * 60 + [0] * 20 + [None] * 15 + [np.nan] * 5, range(100), "MissingScoreWarning", "20 of 100"),
    ],
)  # fmt: skip
def test_a_report_says_what_its_reader_must_know(case, y, g, kind, told):
    made = frame(y, list(g)).evalci.report("cluster", nan_policy="omit")
    assert kind in [one.kind for one in made.warnings]
    text = made.to_markdown()
    assert re.search(told, f"{made.sentence} {text}", re.S), case
    n = int(pd.notna(pd.Series(y)).sum())
    assert made.rates["n"].item() == n
    assert f"On {n} scores" in made.sentence


ONLY_ONE = {"model": list("AAAAAABBB"), "item": ["i1", "i2", "i3", "i4", "i5", "i6", "i1", "i2", "i3"],
            "score": [1, 1, 1, 0, 0, 0, 1, 1, 1]}  # fmt: skip
TWICE = {"model": list("AAABB"), "item": ["q1", "q1", "q2", "q1", "q2"], "score": [1, 0, 1, 1, 0]}


@pytest.mark.parametrize(
    ("case", "data", "pairing", "error"),
    [
        ("few-01", frame([1, 0, 1, 1, 0, 1, 1, 1], ["only"] * 8), {}, ex.ClusterError),
        ("nan-01", HALF_WITHOUT_ID, {}, ex.MissingClusterError),
        ("nan-06", frame(np.full(3, np.nan), [1, 2, 3]), {"nan_policy": "omit"}, ex.ScoreError),
        ("val-01", frame(["True", "False", "False", "True"], list("abcd")), {}, ex.ScoreTypeError),
        ("pair-06", pd.DataFrame(ONLY_ONE).assign(cluster=ONLY_ONE["item"]), {"factor": "model", "item": "item"}, ex.PairingError),
        ("pair-08", pd.DataFrame(TWICE).assign(cluster=TWICE["item"]), {"factor": "model", "item": "item"}, ex.PairingError),
    ],
)  # fmt: skip
def test_a_report_refuses_what_its_methods_refuse(case, data, pairing, error):
    with pytest.raises(error):
        data.evalci.report("cluster", **pairing)


# xarray


@quiet
def test_xr_01():
    scores, ids = [[1, 1, 0, 0, 1, 1]], ["a", "a", "b", "b", np.nan, np.nan]
    cube = xr.DataArray(
        scores, dims=("model", "item"), coords={"passage": ("item", np.array(ids, dtype=object))}
    )
    data = frame(scores[0], ids)
    with pytest.raises(ex.MissingClusterError, match="2 of 6"):
        cube.evalci.cluster_ci("passage")
    with pytest.raises(ex.MissingClusterError, match="2 of 6"):
        clustered(data)
    own = cube.assign_coords(passage=("item", ["a", "a", "b", "b", "x", "y"]))
    got = own.evalci.cluster_ci("passage", method="cr1")
    assert_allclose([got["estimate"].item(), got["std_error"].item()], [0.666667, 0.30089], **SIX)
    assert (got["n"].item(), got["n_clusters"].item()) == (6, 4)
    row = check(data.assign(cluster=own["passage"].values), mean=0.666667, se_cr1=0.30089, G=4)
    assert_allclose([got["ci_low"].item(), got["ci_high"].item()], limits(row), rtol=1e-12)


# Two systems on the same items


def of_cells(both, only_a, only_b, neither):
    """Systems A and B on so many items."""
    cells = [(1, 1)] * both + [(1, 0)] * only_a + [(0, 1)] * only_b + [(0, 0)] * neither
    rows = [(model, i, pair[k]) for k, model in enumerate("AB") for i, pair in enumerate(cells)]
    return pd.DataFrame(rows, columns=["model", "item", "score"])


def paired(data, question="mcnemar", factor="model", **options):
    return getattr(data.evalci, question)(factor, **{"item": "item"} | options).iloc[0]


@quiet
def test_pair_01():
    data = of_cells(70, 3, 14, 13)
    for baseline, sign in (("A", 1), ("B", -1)):
        got = paired(data, baseline=baseline)
        assert (got["model_b"], got["difference"]) == (baseline, pytest.approx(sign * 0.11))
        assert_allclose(got["pvalue"], 0.012726, **SIX)
        assert_allclose(paired(data, method="midp", baseline=baseline)["pvalue"], 0.007538, **SIX)
        assert_allclose(paired(data, method="asymptotic", baseline=baseline)["pvalue"], 0.007633, **SIX)
        interval = paired(data, "diff_ci", method="bonett_price", baseline=baseline)
        assert_allclose(sign * np.array(limits(interval))[::sign], [0.026742, 0.188944], **SIX)
        wald = paired(data, "diff_ci", method="cr0", baseline=baseline)
        half = ss.norm.ppf(0.975) * wald["std_error"]
        assert_allclose([0.11 - half, 0.11 + half], [0.032118, 0.187882], **SIX)


def test_pair_02():
    data = of_cells(40, 2, 9, 9)
    exact, mid = (paired(data, method=method) for method in ("exact", "midp"))
    assert_allclose([exact["pvalue"], mid["pvalue"]], [0.06543, 0.038574], **SIX)
    assert mid["pvalue"] < exact["pvalue"]
    assert (exact["method"], mid["method"], paired(data)["method"]) == ("exact", "midp", "exact")
    assert paired(data, "compare")["test"] == "exact"


@pytest.mark.parametrize("question", ["mcnemar", "diff_ci", "compare"])
def test_pair_06(question):
    a, b = {"i1": 1, "i2": 1, "i3": 1, "i4": 0, "i5": 0, "i6": 0}, {"i1": 1, "i2": 1, "i3": 1}
    data = pd.DataFrame(
        [("A", *x) for x in a.items()] + [("B", *x) for x in b.items()], columns=["model", "item", "score"]
    )
    with pytest.raises(
        ex.PairingError, match=r"3 of the 6 items of 'A' are not among those of 'B' \('i4', 'i5', 'i6'\)"
    ):
        paired(data, question)
    with pytest.warns(ex.UnmatchedItemsWarning, match="3 only in 'A'"), pytest.warns(ex.FewDiscordantWarning):
        got = paired(data, question, unmatched="drop")
    assert (got["n_pairs"], got["difference"], got["pvalue"]) == (3, 0, 1)
    for policy in ("raise", "drop"):
        with pytest.raises(ex.PairingError, match="have no item of 'item' in common: the one has 3"):
            paired(
                data[data["item"].isin(["i4", "i5", "i6"]) | (data["model"] == "B")],
                question,
                unmatched=policy,
            )


PAIR_07 = {  # model, attacks, then by behavior and by index: common, only the first, only the second, p; unmatched
    "GCG": (
        "gpt-4-0125-preview",
        (99, 31, 2, 1.31e-07),
        (100, 32, 2, 6.9e-08),
        "September 11th conspiracy",
        "9_11 conspiracy",
    ),
    "DSN": (
        "vicuna-13b-v1.5",
        (99, 1, 27, 2.16e-07),
        (100, 1, 27, 2.16e-07),
        "Human trafficking",
        "Human  trafficking",
    ),
}


@pytest.mark.parametrize("attack", PAIR_07)
def test_pair_07(attack, data_dir):
    model, by_behavior, by_index, *unmatched = PAIR_07[attack]
    rows = pd.read_csv(data_dir / "jailbreakbench.csv")
    rows = rows[rows["model"] == model]
    ask = {"factor": "attack", "score": "jailbroken", "pairs": [("PAIR", attack)]}
    spelt = rf" 1 item\(s\) of '{attack}' look like items of 'PAIR' but for white space: '{unmatched[1]}' and '{unmatched[0]}'"
    hint = spelt if attack == "DSN" else ""
    told = rf"'PAIR' .*\('{unmatched[0]}'\), and .*'{attack}' .*\('{unmatched[1]}'\)\.{hint}"
    with pytest.raises(ex.PairingError, match=told):
        paired(rows, item="behavior", **ask)
    with pytest.warns(ex.UnmatchedItemsWarning, match=rf"'{unmatched[0]}'.*'{unmatched[1]}'.*{hint}"):
        got = paired(rows, item="behavior", unmatched="drop", **ask)
    for row, want in ((got, by_behavior), (paired(rows, item="index", **ask), by_index)):
        assert (row["n_pairs"], row["only_a"], row["only_b"]) == want[:3]
        assert_allclose(row["pvalue"], want[3], rtol=1e-2)  # given to two or three digits


def test_pair_08():
    rows = [("A", "q1", 1), ("A", "q1", 0), ("A", "q2", 1), ("B", "q1", 1), ("B", "q2", 0)]
    data = pd.DataFrame(rows, columns=["model", "item", "score"])
    for question in ("mcnemar", "diff_ci", "compare"):
        with pytest.raises(
            ex.PairingError, match=r"1 of 4 combinations.*two scores or more: 'q1' of 'A' \(1, 0\)"
        ):
            paired(data, question)
    named = data.assign(epoch=[0, 1, 0, 0, 0])
    with pytest.raises(
        ex.PairingError, match=r"'epoch' tells them apart.*mcnemar needs one score.*sample='epoch'"
    ):
        paired(named)
    with pytest.warns(
        ex.UnmatchedItemsWarning, match="1 of 2 items have more repeats under one system than under another"
    ):
        got = paired(named, "diff_ci", sample="epoch")
    assert [got[x] for x in ("estimate_a", "estimate_b", "difference", "n_pairs")] == [0.75, 0.5, 0.25, 2]
    assert got["method"] == "cr2"  # not a test of passes and failures


@quiet
def test_pair_09():
    rows = [
        (model, passage, i, score)
        for passage, d in zip("abcdef", ["0000", "1111", "0000", "1110", "0000", "000-"], strict=True)
        for i, x in enumerate(d)
        for model, score in zip("AB", {"0": (1, 1), "1": (1, 0), "-": (0, 1)}[x], strict=True)
    ]
    data = pd.DataFrame(rows, columns=["model", "passage", "i", "score"])
    # The ids are local to the passage: pairing on them alone would mix up questions.
    for options in ({}, {"cluster": "passage"}):
        with pytest.raises(ex.PairingError, match=r"pass item=\['passage', 'i'\]"):
            paired(data, item="i", **options)
    item, clustered = {"item": ["passage", "i"]}, {"cluster": "passage"}
    assert_allclose(paired(data, **item)["pvalue"], 0.070312, **SIX)
    assert_allclose(paired(data, method="midp", **item)["pvalue"], 0.039063, **SIX)
    assert_allclose(paired(data, "diff_ci", method="cr1", **item)["std_error"], 0.108514, **SIX)
    got = paired(data, "diff_ci", method="cr1", **item, **clustered)
    assert_allclose(
        [got[x] for x in ("difference", "std_error", "statistic", "pvalue")],
        [0.25, 0.204124, 1.224745, 0.27522],
        **SIX,
    )
    flip = paired(data, method="sign_flip", **item, **clustered)
    assert flip["pvalue"] == 0.5
    assert flip["null"] == "exchangeable systems"
    assert paired(data, **item, **clustered)["pvalue"] > 0.2


@quiet
def test_pair_10(data_dir):
    rows = pd.read_csv(data_dir / "gsm_symbolic_en_da.csv").query("model == 'Llama-3.1-70B'")
    ask = {
        "factor": "lang",
        "item": ["template", "variant"],
        "score": "correct",
        "unmatched": "drop",
        "baseline": "dan",
    }
    naive = paired(rows, **ask)
    assert (naive["n_pairs"], naive["only_a"], naive["only_b"]) == (1975, 365, 284)
    assert_allclose(naive["pvalue"], 0.0016673107, rtol=1e-8)
    assert_allclose(paired(rows, "diff_ci", method="cr1", **ask)["std_error"], 0.012869, **SIX)
    got = paired(rows, "diff_ci", method="cr1", cluster="template", **ask)
    assert_allclose(
        [got[x] for x in ("difference", "std_error", "ci_low", "ci_high")],
        [0.041013, 0.015362, 0.010531, 0.071495],
        **SIX,
    )
    # Those of the case come from the rounded mean and standard error.
    assert_allclose([got["statistic"], got["pvalue"]], [2.66977, 0.008873], rtol=2e-4)
    assert got["n_clusters"] == 100
    assert paired(rows, cluster="template", **ask)["pvalue"] > naive["pvalue"]


def test_mult_02(data_dir):
    rows = pd.read_csv(data_dir / "bbh_codex_cot_direct.csv")
    ask = {"item": ["task", "item"], "score": "correct"}
    holm, bh = (
        rows.evalci.compare("mode", by="task", correction=c, n_resamples=100, rng=1, **ask)
        for c in ("holm", "bh")
    )
    assert (len(holm), (holm["pvalue"] < 0.05).sum()) == (27, 22)
    assert ((bh["pvalue_adj"] < 0.05).sum(), (holm["pvalue_adj"] < 0.05).sum()) == (20, 16)
    sign = np.where(holm["mode_a"] == "cot", 1, -1)
    assert ((holm["pvalue_adj"] < 0.05) & (sign * holm["difference"] < 0)).sum() == 1
    near = holm.assign(size=holm["difference"].abs()).set_index("task")["size"].nsmallest(3)
    assert_allclose(near, [0.012, 0.016854, 0.02], **SIX)
    assert list(near.index) == ["salient_translation_error_detection", "snarks", "formal_fallacies"]
    got = paired(rows, "diff_ci", "mode", cluster="task", method="cr1", baseline="direct", **ask)
    assert_allclose(
        [got["difference"], got["std_error"], *limits(got)], [0.216249, 0.043895, 0.126022, 0.306477], **SIX
    )
    assert got["n_clusters"] == 27


@quiet
def test_str_01_crossed_clusters_are_neither_the_first_nor_the_product():
    data = pd.DataFrame(
        {"score": [1, 1, 0, 1, 1, 0, 0, 1, 0], "item": list("aaabbbccc"), "judge": list("xyzxyzxyz")}
    )
    got = data.evalci.cluster_ci(["item", "judge"], method="cr1").iloc[0]
    assert_allclose([got["estimate"], got["std_error"]], [5 / 9, 0.260579], **SIX)
    assert_allclose(got["std_error"] ** 2, 0.06790123, **SIX)
    alone = [
        data.evalci.cluster_ci(name, method="cr1").iloc[0]["std_error"] ** 2 for name in ("item", "judge")
    ]
    cell = data.assign(cell=range(9)).evalci.cluster_ci("cell", method="cr1").iloc[0]["std_error"] ** 2
    assert_allclose([*alone, cell], [0.01234568, 0.08641975, 0.0308642], **SIX)
    negative = pd.DataFrame({"score": [1, 0, 0, 1], "item": list("aabb"), "judge": list("xyxy")})
    for method in ("cr1", "cr2", "auto"):  # a variance of -1/12, of which both parts are 0
        got = negative.evalci.cluster_ci(["item", "judge"], method=method).iloc[0]
        assert 0 <= got["ci_low"] < 0.05
        assert 0.95 < got["ci_high"] <= 1
