"""Rows that are counts, passed of total: the answer is that of a row a score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalci_accessor import exceptions as ex

quiet = pytest.mark.filterwarnings("ignore::evalci_accessor.exceptions.EvalCIWarning")
CALLS = [
    ("cluster_ci", ("doc",)),
    ("cluster_ci", (["doc", "prompt"],)),
    ("proportion_ci", ()),
    ("design_effect", ("doc",)),
]


def made(seed, n_docs=6):
    """Counts of two models by document and prompt, some of no scores."""
    rng = np.random.default_rng(seed)
    keys = pd.MultiIndex.from_product([["a", "b"], range(n_docs), range(3)], names=["model", "doc", "prompt"])
    total = rng.integers(0, 7, len(keys))
    return pd.DataFrame(
        {"passed": rng.binomial(total, rng.beta(2, 2, len(keys))), "total": total}, index=keys
    ).reset_index()


def spread(counts):
    """The same with a row a score."""
    rows = counts.loc[counts.index.repeat(counts["total"])]
    return rows.assign(passed=(rows.groupby(level=0).cumcount() < rows["passed"]).astype(int))


def cube_of(counts):
    """The same as a cube, with a coordinate for each clustering."""
    keyed = counts.assign(cell=counts.groupby("model").cumcount()).set_index(["model", "cell"])
    cube = keyed[["passed", "total"]].to_xarray()
    first = counts[counts["model"] == "a"]
    return cube.assign_coords({name: ("cell", first[name].to_numpy()) for name in ("doc", "prompt")})


@quiet
@settings(max_examples=8)
@given(st.integers(0, 2**31))
def test_counts_are_rows(seed):
    counts = made(seed)
    before, cube = counts.copy(deep=True), cube_of(counts)
    for method, args in CALLS:
        try:
            want = getattr(spread(counts).evalci, method)(*args, score="passed", by="model")
        except ex.ClusterError:
            continue
        got = getattr(counts.evalci, method)(*args, score="passed", n="total", by="model")
        pd.testing.assert_frame_equal(got, want, rtol=1e-9)
        of_cube = getattr(cube.evalci, method)(*args, score="passed", n="total", by="model")
        for name in ("design_effect", "n", "n_clusters"):
            np.testing.assert_allclose(np.ravel(of_cube[name]), want[name], rtol=1e-9)
    pd.testing.assert_frame_equal(counts, before)


@quiet
def test_a_scan_and_a_report_of_counts():
    counts = made(3)
    rows = spread(counts)
    want, got = (
        data.evalci.report("doc", score="passed", by="model", **ask)
        for data, ask in ((rows, {}), (counts, {"n": "total"}))
    )
    pd.testing.assert_frame_equal(got.rates, want.rates, rtol=1e-9)
    pd.testing.assert_frame_equal(got.naive, want.naive, rtol=1e-9)
    found = counts.evalci.design_effect(score="passed", n="total", by="model")
    assert "total" not in set(found["cluster"])
    assert {"doc", "prompt"} <= set(found["cluster"])


@quiet
def test_missing_counts_are_missing_scores():
    counts = made(5).astype({"passed": float})
    counts.loc[4, ["passed", "total"]] = [np.nan, 5]
    with pytest.raises(ex.MissingScoreError):
        counts.evalci.cluster_ci("doc", score="passed", n="total")
    got = counts.evalci.cluster_ci("doc", score="passed", n="total", nan_policy="omit")
    pd.testing.assert_frame_equal(
        got, counts.drop(index=4).evalci.cluster_ci("doc", score="passed", n="total")
    )


@pytest.mark.parametrize(
    "change", [{"passed": 8}, {"passed": 0.5}, {"passed": -1}, {"total": np.nan}, {"total": 2.5}]
)
def test_what_is_no_count_is_refused(change):
    counts = made(5).astype({"passed": float, "total": float})
    counts.loc[3, ["passed", "total"]] = [2, 5]
    counts.loc[3, list(change)] = list(change.values())
    with pytest.raises(ex.ScoreError, match=r"row 3 .* of "):
        counts.evalci.cluster_ci("doc", score="passed", n="total")


def test_what_does_not_go_with_counts_is_refused():
    counts = made(5).assign(item=range(36))
    with pytest.raises(ex.MethodError, match="both given"):
        counts.evalci.proportion_ci("passed", n="total", weights="total")
    with pytest.raises(ex.MethodError, match="a row a score"):
        counts.evalci.report("doc", "passed", n="total", factor="model", item="item")


@pytest.mark.parametrize("cube", [False, True])
def test_weights_that_look_like_counts(cube):
    counts = made(7)
    counts = counts[counts["total"] > 0].assign(
        rate=lambda d: d["passed"] / d["total"], other=lambda d: d["total"] + 0.5
    )
    data = counts.set_index(["model", "doc", "prompt"]).to_xarray().fillna(0) if cube else counts
    ask = (
        {"score": "rate", "method": "wilson"} if not cube else {"score": "rate", "method": "wilson", "by": []}
    )
    with pytest.warns(ex.CountWeightsWarning, match="n='total'"):
        data.evalci.proportion_ci(weights="total", **ask)
    data.evalci.proportion_ci(weights="other", **ask)
