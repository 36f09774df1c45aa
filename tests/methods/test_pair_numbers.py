"""Numbers that once were wrong, or nearly so: large and tiny scores, outliers, many groups, odd ids and dims."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from strategies import quiet

from evalci_accessor import stats
from evalci_accessor.exceptions import (
    BootstrapWarning,
    DimensionError,
    MethodError,
    MixedScaleWarning,
    ScoreError,
)

SHORT = ["difference", "std_error", "ci_low", "ci_high", "pvalue"]


def graded(scale=1.0, offset=0.0, **others):
    """Two systems of 300 ratings in 30 clusters, and further ones by name."""
    rng = np.random.default_rng(0)
    base = rng.random(300)
    a, b = rng.integers(0, 5, 300) + base, rng.integers(0, 5, 300) + base
    b[:90] = np.maximum(a[:90] - 1, 0)
    systems = {"A": a * scale + offset, "B": b * scale + offset} | others
    item = np.arange(300)
    parts = [
        pd.DataFrame({"model": name, "item": item, "doc": item // 10, "score": s})
        for name, s in systems.items()
    ]
    return pd.concat(parts, ignore_index=True)


def ask(frame, **options):
    options = {
        "item": "item",
        "cluster": "doc",
        "pairs": [("A", "B")],
        "rng": 1,
        "n_resamples": 999,
    } | options
    return quiet(frame.evalci.diff_ci, "model", **options)[SHORT].to_numpy(float)[0]


@pytest.mark.parametrize("cluster", ["doc", None])
@pytest.mark.parametrize("method", ["cr2", "bootstrap_percentile"])
def test_neither_units_nor_a_common_offset_matter(method, cluster):
    plain = ask(graded(), method=method, cluster=cluster)
    tiny = ask(graded(1e-13), method=method, cluster=cluster)
    assert_allclose(tiny, plain * [1e-13, 1e-13, 1e-13, 1e-13, 1], rtol=1e-9)
    assert_allclose(ask(graded(offset=1e8), method=method, cluster=cluster), plain, rtol=1e-6)


@pytest.mark.parametrize("cluster", ["doc", None])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12])
def test_equal_differences_are_no_certainty(offset, cluster):
    base = np.round(np.random.default_rng(1).random(300), 3) + offset
    item = np.arange(300)
    frames = [
        pd.DataFrame({"model": m, "item": item, "doc": item // 10, "score": s})
        for m, s in (("A", base + 0.5), ("B", base))
    ]
    _, error, low, high, _ = ask(pd.concat(frames), method="cr2", cluster=cluster)
    assert error > 0.005
    assert low < 0.5 < high


@pytest.mark.parametrize("huge", [1e13, 1e15, 1e17])
@pytest.mark.parametrize("cluster", ["doc", None])
def test_an_outlier_of_a_third_system_is_its_own_business(cluster, huge):
    third = np.zeros(300)
    third[7] = huge
    assert_allclose(ask(graded(A0=third), cluster=cluster), ask(graded(), cluster=cluster), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_scores_whose_squares_do_not_fit(scale):
    with pytest.raises(ScoreError, match="rescale"):
        ask(graded(scale))


def test_methods_of_mixed_systems_are_told():
    frame = graded()
    frame["score"] = (frame["score"] > 2).astype(float)
    mixed = pd.concat([frame, frame[frame["model"] == "B"].assign(model="C", score=lambda f: f["score"] / 2)])
    with pytest.warns(
        MixedScaleWarning, match="The scores of 'A', 'B' are 0 or 1, and those of 1 other system"
    ):
        assert set(mixed.evalci.diff_ci("model", item="item", cluster="doc")["method"]) == {"cr2"}
    percent = pd.concat(
        [frame[frame["model"] == "A"], frame[frame["model"] == "B"].assign(score=lambda f: 100 * f["score"])]
    )
    with pytest.warns(
        MixedScaleWarning, match="'A', do not go above 1, and those of 1, such as 'B', go up to 100"
    ):
        percent.evalci.diff_ci("model", item="item", cluster="doc")


def test_the_opposite_of_a_claim_is_said_at_half_the_level():
    """p = .083 of no difference: not "different" by more than a hair."""
    answer = stats.diff_ci(30, 18, 200, margin=0.001, claim="equivalence")
    assert answer.ci_low < 0 < answer.ci_high
    assert answer.verdict == "inconclusive"
    assert (
        stats.diff_ci(30, 18, 200, margin=0.0, claim="superiority").verdict
        == stats.diff_ci(30, 18, 200).verdict
    )


def test_too_few_resamples_are_said_to_be():
    with pytest.raises(MethodError, match="n_resamples=100 cannot tell limits that leave 5e-05"):
        ask(graded(), method="bootstrap_percentile", n_resamples=100, confidence_level=0.9999)
    frame = graded(**{f"m{k}": np.random.default_rng(k).random(300) * 4 for k in range(6)})
    with pytest.warns(
        BootstrapWarning, match="n_resamples=200 cannot tell limits that hold for all 28 rows at once"
    ):
        answer = frame.evalci.compare(
            "model", item="item", cluster="doc", method="bootstrap_percentile", n_resamples=200, rng=1
        )
    assert answer["simultaneous_low"].isna().all()
    assert answer["ci_low"].notna().all()


def test_sign_flips_of_many_clusters_are_exact():
    """With differences of 1 the law is binomial."""
    from scipy.stats import binom

    b = np.array([1] * 700 + [0] * 500)
    got = stats.mcnemar(b, 1 - b, np.ones(1200), method="sign_flip").pvalue
    assert_allclose(got, 2 * binom.cdf(500, 1200, 0.5), rtol=1e-10)


def test_many_groups_are_as_one_by_one():
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 7, size=(60, 8))
    frames = []
    for h, size in enumerate(sizes[:, : 3 + 5]):
        doc = np.repeat(np.arange(8 - h % 4), size[: 8 - h % 4])
        item = np.arange(len(doc))
        common = {"lang": h, "item": item, "doc": doc}
        frames += [
            pd.DataFrame({**common, "model": model, "score": rng.integers(0, 2, len(doc))}) for model in "AB"
        ]
    frame = pd.concat(frames, ignore_index=True)
    together = quiet(frame.evalci.diff_ci, "model", item="item", cluster="doc", by="lang", margin=0.1)
    alone = [
        quiet(part.evalci.diff_ci, "model", item="item", cluster="doc", by="lang", margin=0.1)
        for _, part in frame.groupby("lang", sort=False)
    ]
    pd.testing.assert_frame_equal(together, pd.concat(alone, ignore_index=True), rtol=1e-9)


def test_stacked_dims():
    stacked = xr.DataArray(
        np.eye(2, 24).astype(int), dims=("model", "it"), name="score",
        coords={"model": ["A", "B"],
                **xr.Coordinates.from_pandas_multiindex(
                    pd.MultiIndex.from_arrays([np.arange(24) // 4, np.arange(24)], names=["doc", "q"]), "it")},
    )  # fmt: skip
    plain = stacked.reset_index("it").drop_vars(["q"])
    got, want = (quiet(x.evalci.mcnemar, "model", cluster="doc") for x in (stacked, plain))
    xr.testing.assert_identical(got, want)


def test_ids_along_a_dim_that_stays_are_refused():
    cube = xr.DataArray(
        np.random.default_rng(0).integers(0, 2, (2, 24, 3)), dims=("model", "item", "lang"),
        coords={"model": ["A", "B"], "qid": (("item", "lang"), np.arange(72).reshape(24, 3))},
    )  # fmt: skip
    with pytest.raises(
        DimensionError, match="item='qid' lies along 'item', 'lang', of which dim= does not reduce 'lang'"
    ):
        cube.evalci.mcnemar("model", item="qid", dim="item")
    assert dict(quiet(cube.evalci.mcnemar, "model", item="item").sizes) == {"lang": 3, "pair": 1}


@pytest.mark.parametrize("unit", ["ns", "us"])
def test_levels_by_numpy_dates(unit):
    frame = graded()
    frame["model"] = frame["model"].map({"A": pd.Timestamp("2024-01-01"), "B": pd.Timestamp("2024-02-01")})
    day = np.datetime64("2024-01-01", unit)
    answer = quiet(frame.evalci.diff_ci, "model", item="item", baseline=day)
    assert answer["model_b"].tolist() == [pd.Timestamp("2024-01-01")]
    numbered = graded().assign(model=lambda f: f["model"].map({"A": 1, "B": 2}))
    with pytest.raises(MethodError, match="baseline names True"):
        quiet(numbered.evalci.diff_ci, "model", item="item", baseline=True)
