"""Crossed clusterings of the differences of systems: against brute force, nested ones, cubes, and in words."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import quiet, told

from evalci_accessor import stats
from evalci_accessor.exceptions import (
    ClusterError,
    CrossedVarianceWarning,
    DominantClusterWarning,
    FewClustersWarning,
    MethodError,
    MissingClusterError,
    NestedClustersWarning,
    PairingError,
    SharedKeyWarning,
)
from evalci_accessor.methods import pairs as _pairs
from evalci_accessor.stats.pairs.matched import MatchedScores, pair_variance
from evalci_accessor.stats.pairs.posterior import (
    Evidence,
    crossed_evidence,
    crossed_posteriors,
    pair_posteriors,
)
from evalci_accessor.stats.rates.intersections import joint_effect

BOTH = ["doc", "prompt"]
QUESTIONS = [
    ("diff_ci", {"method": method}) for method in ("auto", "cr0", "cr1", "cr2", "cr3", "bootstrap_pigeonhole")
] + [("mcnemar", {}), ("compare", {}), ("compare", {"method": "cr2"}), ("compare", {"method": "bootstrap_pigeonhole"})]  # fmt: skip


def made(seed=0, n_docs=9, n_prompts=6, models="abc", graded=False):
    """A cube in which documents and prompts both matter to the differences."""
    rng = np.random.default_rng(seed)
    shape = (len(models), n_docs, n_prompts)
    effect = rng.normal(size=(1, n_docs, n_prompts)) + 0.7 * rng.normal(size=(shape[0], n_docs, 1))
    effect = effect + 0.7 * rng.normal(size=(shape[0], 1, n_prompts)) + 0.5 * rng.normal(size=shape)
    return xr.Dataset(
        {"score": (("model", "doc", "prompt"), np.round(effect, 2) if graded else (effect > 0).astype(np.int64))},
        coords={
            "model": list(models), "doc": [f"d{i}" for i in range(n_docs)], "prompt": np.arange(n_prompts),
            "topic": ("doc", np.arange(n_docs) // 3),
        },
    )  # fmt: skip


def rows_of(cube):
    frame = cube.to_dataframe().reset_index()
    return frame.assign(item=frame["doc"] + "-" + frame["prompt"].astype(str))


def ask(obj, question, **kwargs):
    name, options = question
    given_ = {"cluster": BOTH, "rng": 1, "n_resamples": 300} | options | kwargs
    return quiet(getattr(obj.evalci, name), "model", **given_)


def double_sum(d, clusters, w):
    """The variance of a weighted mean difference by all pairs of items that share any id."""
    residual = w * (d - np.average(d, weights=w))
    share = np.zeros((len(d), len(d)), dtype=bool)
    for ids in clusters:
        share |= ids[:, None] == ids
    return (residual[:, None] * residual * share).sum() / w.sum() ** 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("ways", [2, 3])
def test_variance_is_the_double_sum_over_pairs_that_share_an_id(weighted, graded, ways):
    compared = 0
    for seed in range(12):
        frame = rows_of(made(seed=seed, models="ab", graded=graded))
        rng = np.random.default_rng(seed)
        judge = dict(zip(frame["item"].unique(), rng.integers(0, 4, 54), strict=True))
        weight = dict(zip(frame["item"].unique(), rng.lognormal(size=54), strict=True))
        frame["judge"], frame["w"] = frame["item"].map(judge), frame["item"].map(weight)
        names = [*BOTH, "judge"][:ways]
        options = {"weights": "w"} if weighted else {}
        answer = quiet(frame.evalci.diff_ci, "model", item="item", cluster=names, method="cr0", **options)
        wide = frame.pivot(index="item", columns="model", values="score")
        ids = frame.drop_duplicates("item").set_index("item").loc[wide.index]
        w = ids["w"].to_numpy() if weighted else np.ones(len(ids))
        brute = double_sum((wide["a"] - wide["b"]).to_numpy(), [ids[name].to_numpy() for name in names], w)
        if brute > 1e-6:
            assert answer["std_error"][0] ** 2 == pytest.approx(brute, rel=1e-10)
            compared += 1
    assert compared >= 8


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: "-".join([q[0], *q[1].values()]))
@pytest.mark.parametrize("graded", [False, True])
def test_frame_and_cube_agree(question, graded):
    if graded and (question[0] == "mcnemar" or question[1].get("method") == "icc_averaged"):
        return
    cube = made(graded=graded)
    by_frame = ask(rows_of(cube), question, item="item")
    for obj in (cube, cube["score"]):
        by_cube = ask(obj, question).to_dataframe().reset_index(drop=True)
        pd.testing.assert_frame_equal(by_cube[list(by_frame)], by_frame, check_dtype=False, rtol=1e-9)
    assert set(by_frame["cluster"]) == {"doc + prompt"}
    assert (by_frame["n_clusters"] == 6).all()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: "-".join([q[0], *q[1].values()]))
def test_groups_and_order_of_rows(question):
    parts = [rows_of(made(seed=seed, models="ab")).assign(lang=lang) for seed, lang in ((0, "en"), (5, "de"))]
    frame = pd.concat(parts, ignore_index=True)
    answer = ask(frame, question, item="item", by="lang").sort_values("lang", ignore_index=True)
    turned = ask(frame.sample(frac=1, random_state=3), question, item="item", by="lang", pairs=[("a", "b")])
    pd.testing.assert_frame_equal(answer, turned.sort_values("lang", ignore_index=True), rtol=1e-8)
    own = [name for name in answer if not name.startswith(("pvalue_adj", "simultaneous"))]
    for lang, part in zip(("en", "de"), parts, strict=True):
        one = ask(part, question, item="item", by="lang")
        pd.testing.assert_frame_equal(
            answer.loc[answer["lang"] == lang, own].reset_index(drop=True), one[own], rtol=1e-8
        )


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_names_of_the_ids_and_order_of_the_list_do_not_matter(seed):
    frame = rows_of(made(seed=seed, n_docs=5, n_prompts=4))
    rng = np.random.default_rng(seed)
    docs = dict(zip(frame["doc"].unique(), rng.permutation(50)[:5], strict=True))
    renamed = frame.assign(doc=frame["doc"].map(docs), prompt=(-frame["prompt"]).astype("Int64"))
    for method in ("auto", "cr1", "cr2"):
        one = ask(frame, ("diff_ci", {"method": method}), item="item")
        other = ask(renamed, ("diff_ci", {"method": method}), item="item", cluster=BOTH[::-1])
        pd.testing.assert_frame_equal(
            one.drop(columns="cluster"), other.drop(columns="cluster"), rtol=1e-6, atol=1e-9
        )


def test_nested_names_are_said_and_the_coarsest_counts():
    frame = rows_of(made())
    for name in ("diff_ci", "mcnemar"):
        call = getattr(frame.evalci, name)
        answer = told(
            NestedClustersWarning, "'doc' was left out", call, "model", item="item", cluster=["doc", "topic"]
        )
        pd.testing.assert_frame_equal(answer, quiet(call, "model", item="item", cluster="topic"))
    cube = told(
        NestedClustersWarning, "nested", made().evalci.diff_ci, "model", cluster=["doc", "topic"], item=BOTH
    )
    assert cube["cluster"].item() == "topic"


def test_intersections_that_are_nested_are_the_coarsest_to_the_last_bin():
    """An item's own id as a second clustering, inside the statistic: the default is that of the first alone."""
    scores = made(models="ab")["score"].values.reshape(2, -1).T.astype(float)
    doc = np.repeat(np.arange(9), 6)
    topic = doc // 3
    every = _every(scores, {(0,): doc, (1,): topic, (0, 1): doc * 10 + topic})
    shares = crossed_posteriors([crossed_evidence(every)])[0]
    alone = pair_posteriors([Evidence.of(every[1,])])[0]
    assert shares.mean_share == pytest.approx(alone.mean_share, rel=1e-9)


def test_shares_are_those_of_the_plain_product():
    """Cells of several items, so that what the clusterings have in common counts."""
    scores = np.repeat(made(models="ab")["score"].values.reshape(2, -1), 3, axis=1).T.astype(float)
    scores[::3, 0] = 1 - scores[::3, 0]
    doc, prompt = (np.repeat(axis.ravel(), 3) for axis in np.indices((9, 6)))
    every = _every(scores, {(0,): doc, (1,): prompt, (0, 1): doc * 100 + prompt})
    share = crossed_posteriors([crossed_evidence(every)])[0].mean_share[0]
    posts = {some: pair_posteriors([Evidence.of(t)])[0] for some, t in every.items()}
    excess = {some: float(Evidence.of(t).growth[0]) * posts[some].rho[0] for some, t in every.items()}
    common = excess[0, 1] @ posts[0, 1].weight[0]
    assert common > 0.1
    total = 0.0
    for e, u in zip(excess[0,], posts[0,].weight[0], strict=True):
        joint = np.maximum(np.maximum(e + excess[1,] - common, e), excess[1,])
        greatest = max(float(Evidence.of(every[d,]).growth[0]) for d in (0, 1))
        total += u * (posts[1,].weight[0] @ (1 + np.minimum(joint, greatest)))
    assert share == pytest.approx(1 / total, rel=1e-6)


def test_pigeonhole_of_differences_is_that_of_one_mean():
    frame = rows_of(made(n_docs=12, models="ab"))
    wide = frame.pivot(index=BOTH, columns="model", values="score").reset_index()
    answer = ask(frame, ("diff_ci", {"method": "bootstrap_pigeonhole"}), item="item", n_resamples=8000)
    one = stats.crossed_ci(
        wide["a"] - wide["b"],
        [wide["doc"], wide["prompt"]],
        method="bootstrap_pigeonhole",
        n_resamples=8000,
        rng=5,
    )
    assert answer["std_error"][0] == pytest.approx(float(one.std_error), rel=0.04)
    assert answer["ci_low"][0] == pytest.approx(float(one.ci_low), abs=0.03)


def test_simultaneous_limits_go_by_the_fewest_degrees_of_freedom(monkeypatch):
    seen = []
    monkeypatch.setattr(
        _pairs, "simultaneous_outside", lambda blocks, alpha, **_: seen.extend(blocks) or alpha / 8
    )
    quiet(made().evalci.compare, "model", cluster=BOTH, rng=1)
    assert [block.df for block in seen] == [pytest.approx(5)]  # six prompts, nine documents


def test_joint_effect_is_the_plain_product():
    rng = np.random.default_rng(1)
    parts = [(rng.gamma(1, 2, size=(3, k)), rng.dirichlet(np.ones(k), size=3)) for k in (5, 7, 4)]
    common = np.array([0.3, 0.0, 1.5])
    greatest = np.array([9.0, 5.0, 30.0])
    effect, weight = joint_effect(parts, common, greatest, 4000)
    for h in range(3):
        values, chances = [], []
        for nodes in itertools.product(*(range(part[0].shape[1]) for part in parts)):
            each = [part[0][h, k] for part, k in zip(parts, nodes, strict=True)]
            values.append(1 + min(max(sum(each) - common[h], *each), greatest[h]))
            chances.append(np.prod([part[1][h, k] for part, k in zip(parts, nodes, strict=True)]))
        assert weight[h].sum() == pytest.approx(1)
        for power in (1, -1, 2):
            plain = np.dot(np.array(values) ** power, chances)
            assert (effect[h] ** power) @ weight[h] == pytest.approx(plain, rel=1e-5)
    coarse, mass = joint_effect(parts, common, greatest, 16)
    assert (coarse * mass).sum(axis=1) == pytest.approx((effect * weight).sum(axis=1))


def test_df_and_the_fallback():
    frame = rows_of(made(models="ab", n_prompts=4))
    cr1 = quiet(frame.evalci.diff_ci, "model", item="item", cluster=BOTH, method="cr1")
    half = (cr1["ci_high"] - cr1["ci_low"])[0] / 2
    from scipy.stats import t

    assert half / cr1["std_error"][0] == pytest.approx(t.ppf(0.975, 3))
    same = frame.assign(score=1)
    for method in ("auto", "cr2", "bootstrap_pigeonhole"):
        flat = quiet(same.evalci.diff_ci, "model", item="item", cluster=BOTH, method=method, rng=1)
        assert flat["ci_low"][0] < 0 < flat["ci_high"][0]
        assert flat["pvalue"][0] == 1


def test_a_negative_variance_is_said_and_the_largest_stands_in():
    seed = next(
        s for s in range(200)
        if _variance(made(seed=s, n_docs=4, n_prompts=4, models="ab"), "cr1").negative[0]
    )  # fmt: skip
    cube = made(seed=seed, n_docs=4, n_prompts=4, models="ab")
    answer = told(
        CrossedVarianceWarning, "'a' against 'b': the variance over 'doc \\+ prompt' by inclusion and exclusion is negative",
        rows_of(cube).evalci.diff_ci, "model", item="item", cluster=BOTH, method="cr1",
    )  # fmt: skip
    alone = [
        quiet(rows_of(cube).evalci.diff_ci, "model", item="item", cluster=name, method="cr1") for name in BOTH
    ]
    assert answer["std_error"][0] == pytest.approx(max(one["std_error"][0] for one in alone))


def _variance(cube, kind):
    scores = cube["score"].values.reshape(2, -1).T.astype(float)
    doc, prompt = (axis.ravel() for axis in np.indices(cube["score"].shape[1:]))
    every = _every(scores, {(0,): doc, (1,): prompt, (0, 1): doc * 100 + prompt})
    return pair_variance(dataclasses.replace(every[0,], crossed=every), kind)


def _every(scores, clusterings):
    """Totals of the first system less the second, by each clustering and intersection."""
    a, b = np.array([0]), np.array([1])
    matched = {
        some: MatchedScores.from_items(scores, ids, binary=True, bounded=True)
        for some, ids in clusterings.items()
    }
    return {some: one.totals(a, b, one.squares(a, b), by_cluster=True) for some, one in matched.items()}


def test_pairs_that_share_fewer_items():
    """Systems that lack items leave some clusters out, so each pair has its own clusterings."""
    frame = rows_of(made())
    frame = frame[~((frame["model"] == "c") & (frame["doc"] > "d5"))]
    answer = quiet(frame.evalci.diff_ci, "model", item="item", cluster=BOTH, unmatched="drop")
    short = quiet(frame[frame["doc"] <= "d5"].evalci.diff_ci, "model", item="item", cluster=BOTH)
    pair = answer[answer["model_b"] == "c"].reset_index(drop=True)
    pd.testing.assert_frame_equal(pair, short[short["model_b"] == "c"].reset_index(drop=True), rtol=1e-9)


def test_compare_holds_together():
    frame = rows_of(made())
    answer = quiet(frame.evalci.compare, "model", item="item", cluster=BOTH, rng=1)
    assert (answer["simultaneous_low"] <= answer["ci_low"]).all()
    assert (answer["simultaneous_high"] >= answer["ci_high"]).all()
    alone = quiet(frame.evalci.diff_ci, "model", item="item", cluster=BOTH)
    merged = answer.merge(alone, on=["model_a", "model_b"], suffixes=("", "_alone"))
    np.testing.assert_allclose(merged["ci_low"], merged["ci_low_alone"])


def test_errors_and_warnings_name_the_clustering():
    frame = rows_of(made())
    lacking = r"2 of 162 rows have no cluster id in 'prompt'.*subset=\['prompt'\]"
    with pytest.raises(MissingClusterError, match=lacking):
        frame.assign(prompt=frame["prompt"].where(frame.index > 1)).evalci.diff_ci(
            "model", item="item", cluster=BOTH
        )
    torn = r"more than one cluster of 'prompt': 'd0-0' in 3 and 0.*item=\['doc', 'prompt', 'item'\]"
    with pytest.raises(ClusterError, match=torn):
        frame.assign(prompt=frame["prompt"].where(frame.index > 0, 3)).evalci.diff_ci(
            "model", item="item", cluster=BOTH
        )
    with pytest.raises(ClusterError, match="lie in a single cluster of 'prompt'"):
        quiet(frame.query("prompt == 0").evalci.diff_ci, "model", item="item", cluster=["prompt", "topic"])
    clusters = r"The clusters 'doc' and 'prompt' tell them apart\..* pass item=\['doc', 'prompt'\]\."
    with pytest.raises(PairingError, match=clusters):
        frame.evalci.diff_ci("model", item="doc", cluster=BOTH)
    call = frame.evalci.diff_ci
    told(
        SharedKeyWarning,
        r"cluster='doc', if.*or all, as cluster=\['doc', 'prompt'\], if",
        call,
        "model",
        item=BOTH,
    )
    for method in ("obuchowski", "sign_flip"):
        with pytest.raises(MethodError, match="is for one clustering, so the others would be ignored"):
            frame.evalci.mcnemar("model", item="item", cluster=BOTH, method=method)
    with pytest.raises(MethodError, match="use method='bootstrap_pigeonhole', or the default"):
        frame.evalci.diff_ci("model", item="item", cluster=BOTH, method="bootstrap_percentile")
    with pytest.raises(MethodError, match="resamples crossed clusterings, and there is one"):
        frame.evalci.compare("model", item="item", cluster="doc", method="bootstrap_pigeonhole")
    with pytest.raises(MethodError, match="names 'doc' twice"):
        frame.evalci.diff_ci("model", item="item", cluster=["doc", "doc"])
    few = frame[frame["prompt"] < 3]
    call = few.evalci.diff_ci
    told(FewClustersWarning, r"few clusters of 'prompt' \(3\)", call, "model", item="item", cluster=BOTH)
    uneven = frame[(frame["prompt"] == 0) | (frame["doc"] < "d2")]
    call = uneven.evalci.diff_ci
    told(DominantClusterWarning, r"one cluster of 'prompt' holds over a quarter of the items \(0 with", call, "model", item="item",
         cluster=BOTH)  # fmt: skip


def test_one_name_in_a_list_is_that_name():
    frame = rows_of(made())
    for name in ("diff_ci", "compare", "mcnemar"):
        one, listed = (ask(frame, (name, {}), item="item", cluster=spec) for spec in ("doc", ["doc"]))
        pd.testing.assert_frame_equal(one, listed)
