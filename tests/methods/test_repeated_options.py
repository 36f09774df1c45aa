"""pass@k, pass^k and best of k with weights of the items, and under crossed clusterings."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from evalci_accessor import stats
from evalci_accessor.exceptions import (
    ClusterError,
    CrossedVarianceWarning,
    DimensionError,
    InformativeSizeWarning,
    MethodError,
    NestedClustersWarning,
    WeightError,
)
from evalci_accessor.stats.pairs.multiplicity import Block, simultaneous_outside
from evalci_accessor.stats.rates import clustered
from evalci_accessor.stats.rates.averaged import averaged_posterior

pytestmark = pytest.mark.filterwarnings("ignore::evalci_accessor.exceptions.EvalCIWarning")

MEASURES = ["pass_at_k", "pass_hat_k", "best_of_k"]
LIMITS = ["estimate", "std_error", "ci_low", "ci_high", "df", "n_clusters", "icc", "design_effect", "n_eff"]


def made(seed=0, *, n_items=36, uneven=False):
    """Items of six or fewer samples, each of one document and one prompt that cross, with a weight."""
    rng = np.random.default_rng(seed)
    n = rng.integers(3, 7, n_items) if uneven else np.full(n_items, 6)
    items = pd.DataFrame(
        {
            "item": np.arange(n_items), "doc": np.arange(n_items) % 9,
            "prompt": np.array(list("pqrs"))[rng.integers(0, 4, n_items)],
            "weight": rng.integers(1, 6, n_items) / 2, "rate": rng.beta(1, 1, n_items),
        }
    )  # fmt: skip
    rows = items.loc[np.repeat(items.index, n)].reset_index(drop=True)
    rows["sample"] = np.concatenate([np.arange(i) for i in n])
    rows["score"] = (rng.random(len(rows)) < rows.pop("rate")).astype(int)
    rows["graded"] = rng.integers(0, 5, len(rows)) / 4
    return rows


def asked(measure):
    return "graded" if measure == "best_of_k" else "score"


def items_of(rows, measure, k):
    """A row an item, with its value and the unbiased variance of it, of those that have k samples."""
    out = []
    for item, part in rows.groupby("item"):
        if len(part) < k:
            continue
        if measure == "best_of_k":
            found = stats.best_of_k(part["graded"].to_numpy()[None], k)
        else:
            found = getattr(stats, measure)([part["score"].sum()], len(part), k)
        out.append(
            {
                "item": item,
                "score": found.value[0],
                "variance": found.variance[0],
                **part.iloc[0][["doc", "prompt", "weight"]],
            }
        )
    return pd.DataFrame(out)


def same_interval(row, want):
    # The default looks for the peak of a posterior, in which the rounding of sums grows.
    tolerance = 1e-10 if row.method == "icc_averaged" else 1e-12
    assert_allclose(
        [getattr(row, name) for name in LIMITS], want[LIMITS].astype(float), rtol=tolerance, atol=1e-12
    )
    assert (row.n_items, row.method, row.cluster) == (want["n"], want["method"], want["cluster"])


# Weights


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", ["auto", "cr1", "cr2", "logit"])
@pytest.mark.parametrize("cluster", [None, "doc"])
def test_weighted_interval_is_that_of_the_values(measure, method, cluster):
    rows = made(uneven=True)
    ask = {
        "item": "item",
        "cluster": cluster,
        "score": asked(measure),
        "weights": "weight",
        "too_few": "omit",
    }
    got = getattr(rows.evalci, measure)([1, 5], method=method, rng=1, **ask)
    assert got["n_omitted"].tolist()[1] > 0
    for row, k in zip(got.itertuples(), (1, 5), strict=True):
        want = (
            items_of(rows, measure, k)
            .evalci.cluster_ci(cluster or "item", weights="weight", method=method)
            .iloc[0]
        )
        same_interval(row, want if cluster else want.replace("item", ""))
    plain = getattr(rows.evalci, measure)([1, 5], rng=1, **(ask | {"weights": None}))
    assert abs(plain["estimate"] - got["estimate"]).min() > 1e-4


@pytest.mark.parametrize("cluster", [None, ["doc", "prompt"]])
def test_weighted_shares(cluster):
    rows = made(seed=2)
    got = rows.evalci.pass_at_k([1, 3], item="item", cluster=cluster, weights="weight", rng=1)
    for row, k in zip(got.itertuples(), (1, 3), strict=True):
        items = items_of(rows, "pass_at_k", k)
        total = (
            items.evalci.cluster_ci(cluster or "item", weights="weight", method="cr1")["std_error"].item()
            ** 2
        )
        sampled = (items["weight"] ** 2 * items["variance"]).sum() / items["weight"].sum() ** 2
        assert_allclose(
            [row.sample_share, row.item_share], [sampled / total, 1 - sampled / total], rtol=1e-10
        )


def test_shares_where_one_cluster_dominates():
    """About those of a law that is known; over CR1, which is too small there, they would be several times as large."""
    rng, sizes, n, law = np.random.default_rng(7), np.r_[60, np.full(40, 2)], 6, (1.5, 1.0)
    doc = np.repeat(np.arange(len(sizes)), sizes)
    shares = []
    for _ in range(30):
        centre = rng.beta(*law, len(sizes))[doc]
        p = rng.beta(4 * centre, 4 * (1 - centre))
        rows = pd.DataFrame(
            {"score": (rng.random((n, len(doc))) < p).ravel(), "item": np.tile(np.arange(len(doc)), n)}
        )
        rows["doc"] = doc[rows["item"]]
        shares.append(
            rows.evalci.pass_at_k(1, item="item", cluster="doc", method="cr1")["sample_share"].item()
        )
    mean = law[0] / sum(law)
    between = mean * (1 - mean) / (sum(law) + 1)
    items = (mean * (1 - mean) - between) / 5
    noise = (mean * (1 - mean) - between - items) / n
    total = between * (sizes**2).sum() / sizes.sum() ** 2 + (items + noise) / sizes.sum()
    assert np.mean(shares) == pytest.approx(noise / sizes.sum() / total, rel=0.5)


@settings(max_examples=6)
@given(st.integers(0, 2**31), st.sampled_from([None, "doc"]), st.floats(1e-6, 1e6))
def test_equal_weights_and_their_scale(seed, cluster, scale):
    rows = made(seed % 1000)
    ask = {"item": "item", "cluster": cluster, "rng": 1}
    want, got = (rows.evalci.pass_at_k([1, 3], **ask, weights=w) for w in (None, np.full(len(rows), scale)))
    pd.testing.assert_frame_equal(got, want, rtol=1e-7)
    want, got = (rows.evalci.pass_at_k([1, 3], **ask, weights=w * rows["weight"]) for w in (1.0, scale))
    pd.testing.assert_frame_equal(got, want, rtol=1e-7)
    turned = rows.sample(frac=1, random_state=seed % 2**31).evalci.pass_at_k([1, 3], **ask, weights="weight")
    pd.testing.assert_frame_equal(turned, rows.evalci.pass_at_k([1, 3], **ask, weights="weight"), rtol=1e-9)


def test_an_item_without_weight_is_absent():
    rows = made()
    rows["weight"] = rows["weight"].where(rows["item"] != 5, 0.0)
    gone = rows.assign(score=rows["score"].where(rows["item"] != 5))  # nor does a missing score of it matter
    ask = {"item": "item", "cluster": "doc", "weights": "weight", "rng": 1}
    got, want = gone.evalci.pass_at_k([1, 3], **ask), rows[rows["item"] != 5].evalci.pass_at_k([1, 3], **ask)
    pd.testing.assert_frame_equal(got, want)
    assert got["n_items"].tolist() == [35, 35]


def test_weights_that_cannot_be():
    rows = made()
    match = r"1 item\(s\) of 'item' have more than one weight in 'weight': 0 \(2 and 7\)\. .*The samples of an item count alike\.$"
    rows.loc[rows["item"] == 0, "weight"] = 2.0
    for value in (7.0, 0.0):  # weight 0 leaves an item out, not a sample
        odd = rows.copy()
        odd.loc[1, "weight"] = value
        with pytest.raises(WeightError, match=match if value else r": 0 \(0 and 2\)\."):
            odd.evalci.pass_at_k(2, item="item", weights="weight")
        with pytest.raises(WeightError, match="0 in model='a'"):
            odd.assign(model="a").evalci.pass_at_k(2, item="item", weights="weight", by="model")
    for value, what in ((np.nan, "missing"), (-1.0, "negative"), (np.inf, "infinite")):
        odd = rows.copy()
        odd.loc[0, "weight"] = value
        with pytest.raises(WeightError, match=f"1 of 216 weights in 'weight' are {what}, at row 0"):
            odd.evalci.pass_at_k(2, item="item", weights="weight")
    with pytest.raises(WeightError, match=r"All weights of 1 group\(s\) are 0: prompt='p'"):
        rows.assign(weight=(rows["prompt"] != "p").astype(float)).evalci.pass_at_k(
            2, item="item", weights="weight", by="prompt"
        )
    with pytest.raises(MethodError, match="'item' is given both as item and as weights"):
        rows.evalci.pass_at_k(2, item="item", weights="item")


# Crossed clusterings


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", ["auto", "cr1", "cr2", "logit"])
@pytest.mark.parametrize("weights", [None, "weight"])
def test_crossed_interval_is_that_of_the_values(measure, method, weights):
    rows = made(3, uneven=True)
    ask = {
        "item": "item",
        "cluster": ["doc", "prompt"],
        "score": asked(measure),
        "weights": weights,
        "too_few": "omit",
    }
    got = getattr(rows.evalci, measure)([1, 5], method=method, rng=1, **ask)
    for row, k in zip(got.itertuples(), (1, 5), strict=True):
        items = items_of(rows, measure, k)
        same_interval(row, items.evalci.cluster_ci(["doc", "prompt"], weights=weights, method=method).iloc[0])
    assert (got["cluster"] == "doc + prompt").all()
    assert (got["n_clusters"] == 4).all()


def pairs_covariance(values, clusters, weights):
    """Covariance of weighted means of several columns: the sum over all pairs of items that share any id."""
    share = weights / weights.sum()
    influence = share[:, None] * (values - share @ values)
    shared = np.any([ids[:, None] == ids for ids in clusters], axis=0)
    return influence.T @ shared @ influence


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_crossed_simultaneous_limits(weights, alternative):
    """The level is sup-t's on the covariance by brute force, and the limits are those of cluster_ci at that level."""
    rows, ks = made(4), [1, 2, 4]
    every = [items_of(rows, "pass_at_k", k) for k in ks]
    values = np.stack([items["score"] for items in every], axis=1)
    own = np.ones(len(values)) if weights is None else every[0]["weight"].to_numpy()
    covariance = pairs_covariance(values, [every[0][name].to_numpy() for name in ("doc", "prompt")], own)
    contrasts = np.array([[j, -1] for j in range(3)])
    df = every[0].evalci.cluster_ci(["doc", "prompt"], weights=weights, method="cr2")["df"].item()
    sides = 2 if alternative == "two-sided" else 1
    outside = simultaneous_outside(
        [Block.from_covariance(covariance, contrasts, np.full(3, df))], 2 * 0.05 / sides, n_draws=9999,
        seed=np.random.SeedSequence(5),
    )  # fmt: skip
    assert outside < 0.05 / sides
    ask = {"cluster": ["doc", "prompt"], "weights": weights, "alternative": alternative}
    got = rows.evalci.pass_at_k(ks, item="item", rng=np.random.SeedSequence(5), **ask)
    for row, items in zip(got.itertuples(), every, strict=True):
        want = items.evalci.cluster_ci(confidence_level=1 - sides * outside, **ask).iloc[0]
        assert_allclose(
            [row.simultaneous_low, row.simultaneous_high], [want["ci_low"], want["ci_high"]], rtol=1e-9
        )


def test_nested_clusterings():
    rows = made()
    rows["shelf"] = rows["doc"] % 3
    with pytest.warns(NestedClustersWarning, match="'doc' lies within one cluster of 'shelf'"):
        got = rows.evalci.pass_at_k([1, 3], item="item", cluster=["doc", "shelf"], rng=1)
    pd.testing.assert_frame_equal(got, rows.evalci.pass_at_k([1, 3], item="item", cluster="shelf", rng=1))


def test_groups_crossed_and_nested():
    """Of each group the clusterings that count there, as cluster_ci has it."""
    first, second = made(1).assign(model="a"), made(2).assign(model="b")
    second["prompt"] = second["doc"].map(lambda d: "pqrs"[d % 4])  # here documents lie within prompts
    rows = pd.concat([first, second], ignore_index=True)
    got = rows.evalci.pass_at_k(
        [1, 3], item="item", cluster=["doc", "prompt"], by="model", method="cr2", rng=1
    )
    for row, (model, k) in zip(got.itertuples(), itertools.product("ab", (1, 3)), strict=True):
        items = pd.concat(items_of(part, "pass_at_k", k).assign(model=m) for m, part in rows.groupby("model"))
        want = items.evalci.cluster_ci(["doc", "prompt"], by="model", method="cr2")
        same_interval(row, want[want["model"] == model].iloc[0])
    assert (got["simultaneous_low"] <= got["ci_low"]).all()
    assert (got["simultaneous_high"] >= got["ci_high"]).all()


@settings(max_examples=10)
@given(st.integers(0, 2**31), st.sampled_from(["auto", "cr2", "bootstrap_pigeonhole"]))
def test_neither_order_nor_names_of_crossed_clusters_matter(seed, method):
    rows = made(seed % 1000)
    ask = {"item": "item", "cluster": ["doc", "prompt"], "method": method, "n_resamples": 199, "rng": 3}
    want = rows.evalci.pass_at_k([1, 3], **ask)
    turned = rows.sample(frac=1, random_state=seed % 2**31)
    pd.testing.assert_frame_equal(turned.evalci.pass_at_k([1, 3], **ask), want, rtol=1e-7)
    if method != "bootstrap_pigeonhole":  # whose draws go by the ids
        named = rows.assign(
            prompt=rows["prompt"].map({"p": "z", "q": "x", "r": "y", "s": "w"}), doc=-rows["doc"]
        )
        pd.testing.assert_frame_equal(named.evalci.pass_at_k([1, 3], **ask), want, rtol=1e-7)
    assert (want["simultaneous_low"] <= want["ci_low"] + 1e-12).all()
    assert (want["simultaneous_high"] >= want["ci_high"] - 1e-12).all()


def test_an_item_in_two_of_the_prompts():
    """Where each item was asked under every prompt, that makes the item."""
    rows = made(uneven=False)
    rows["prompt"] = np.where(rows["sample"] < 3, "p", "q")
    match = r"36 of 36 items of 'item' .* one cluster of 'prompt': 0 in 'p' and 'q'.*say so: item=\['item', 'prompt'\]"
    with pytest.raises(ClusterError, match=match):
        rows.evalci.pass_at_k(2, item="item", cluster=["doc", "prompt"])
    got = rows.evalci.pass_at_k(2, item=["item", "prompt"], cluster=["doc", "prompt"])
    assert (got["n_items"].item(), got["n_samples_max"].item()) == (72, 3)
    with pytest.raises(MethodError, match="cluster= names 2, so it is not clear within which"):
        rows.evalci.pass_at_k(2, item="item", cluster=["doc", "prompt"], nested=True)


def test_a_variance_that_is_a_sum_may_be_negative():
    """Three documents crossed with three prompts, rates in a Latin square: the clusterings vary less than their cells."""
    square = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    cells = itertools.product(range(3), range(3), range(2))
    rows = pd.DataFrame(
        [(*cell, square[cell[:2]]) for cell in cells], columns=["doc", "prompt", "sample", "score"]
    )
    rows.loc[0, "score"] = 0
    with pytest.warns(CrossedVarianceWarning):
        got = rows.evalci.pass_at_k(
            [1, 2], item=["doc", "prompt"], cluster=["doc", "prompt"], method="cr1", rng=1
        )
    assert got[["ci_low", "simultaneous_low"]].notna().all(axis=None)


# The four accessors


def test_series_and_cubes_have_the_frames_answer():
    rows = made(5)
    options = {"item": "item", "cluster": ["doc", "prompt"], "weights": "weight", "rng": 1}
    for measure in MEASURES:
        score = asked(measure)
        want = getattr(rows.evalci, measure)([1, 3], score=score, **options)
        series = rows.set_index(["item", "doc", "prompt", "weight", "sample"])[score]
        pd.testing.assert_frame_equal(getattr(series.evalci, measure)([1, 3], **options), want)
        cube = rows.set_index(["item", "sample"])[[score]].to_xarray()
        once = rows.drop_duplicates("item")
        cube = cube.assign_coords(
            {name: ("item", once[name].to_numpy()) for name in ("doc", "prompt", "weight")}
        )
        got = getattr(cube.evalci, measure)([1, 3], sample="sample", score=score, **options)
        pd.testing.assert_frame_equal(
            got.to_dataframe().reset_index()[list(want)], want, check_dtype=False, rtol=1e-10, atol=1e-12
        )
        xr.testing.assert_identical(
            getattr(cube[score].evalci, measure)([1, 3], sample="sample", **options), got
        )
    given_as = cube.evalci.best_of_k(
        [1, 3], sample="sample", score=score, **(options | {"weights": cube["weight"]})
    )
    xr.testing.assert_identical(given_as, got)
    long = (
        xr.Dataset.from_dataframe(rows)
        .rename(index="row")
        .set_coords(["item", "doc", "prompt", "weight", "sample"])
    )
    again = long.evalci.best_of_k([1, 3], score=score, **options)
    xr.testing.assert_allclose(again, got)


def test_simultaneous_limits_without_a_covariance():
    """Rates that alternate over documents and prompts: by each alone nothing varies, and by both the sum is negative."""
    cells = itertools.product(range(12), range(12), range(4))
    rows = pd.DataFrame(cells, columns=["doc", "prompt", "sample"])
    rows["score"] = (rows["doc"] + rows["prompt"]) % 2 * (rows["sample"] < 2 + rows["doc"] % 2)
    got = rows.evalci.pass_at_k(
        [1, 2, 4], item=["doc", "prompt"], cluster=["doc", "prompt"], rng=np.random.SeedSequence(2)
    )
    unrelated = Block.from_covariance(np.eye(3), np.array([[j, -1] for j in range(3)]), df=11.0)
    outside = simultaneous_outside([unrelated], 0.05, seed=np.random.SeedSequence(2))
    assert outside < 0.05 / 2 / 2
    every = rows.groupby(["doc", "prompt"])["score"].sum().reset_index()
    for row, k in zip(got.itertuples(), (1, 2, 4), strict=True):
        items = every.assign(score=stats.pass_at_k(every["score"], 4, k).value)
        want = items.evalci.cluster_ci(["doc", "prompt"], confidence_level=1 - 2 * outside).iloc[0]
        assert_allclose(
            [row.simultaneous_low, row.simultaneous_high], [want["ci_low"], want["ci_high"]], rtol=1e-9
        )


def test_dims_that_are_crossed():
    """Documents and prompts as dims, of which each cell is an item."""
    rng = np.random.default_rng(8)
    scores = (rng.random((2, 9, 5, 6)) < rng.beta(1, 1, (2, 9, 5, 1))).astype(int)
    cube = xr.DataArray(
        scores, dims=("model", "doc", "prompt", "sample"), name="score",
        coords={"model": ["a", "b"], "doc": np.arange(9), "prompt": list("pqrst")},
    )  # fmt: skip
    ask = {"cluster": ["doc", "prompt"], "rng": 1}
    with pytest.raises(DimensionError, match=r"'doc', 'prompt' is left of .*item= \(several as a list\)"):
        cube.evalci.pass_at_k([1, 3], sample="sample", **ask)
    got = cube.evalci.pass_at_k([1, 3], item=["doc", "prompt"], sample="sample", **ask)
    rows = cube.to_dataframe().reset_index()
    want = rows.evalci.pass_at_k([1, 3], item=["doc", "prompt"], by="model", **ask)
    assert got["estimate"].dims == ("model", "k")
    for name in ("estimate", "ci_low", "ci_high", "simultaneous_low", "simultaneous_high", "sample_share"):
        assert_allclose(got[name].values.ravel(), want[name], rtol=1e-10)


def test_weights_of_a_cube():
    rows = pd.concat([made(s).assign(model=m) for s, m in enumerate("ab")])
    cube = rows.set_index(["model", "item", "sample"])[["score"]].to_xarray()
    by_model = xr.DataArray(np.arange(1.0, 73).reshape(2, 36), dims=("model", "item"))
    got = cube.evalci.pass_at_k(2, item="item", sample="sample", weights=by_model)
    rows["weight"] = by_model.data[(rows["model"] == "b").astype(int), rows["item"]]
    want = rows.evalci.pass_at_k(2, item="item", weights="weight", by="model")
    assert_allclose(got.ci_low, want["ci_low"], rtol=1e-10)
    with pytest.raises(
        WeightError,
        match=r"36 item\(s\) of 'item' have more than one weight.*0 in model='a' \(1 and 6\)|72 item",
    ):
        cube.evalci.pass_at_k(
            2, item="item", sample="sample", weights=xr.DataArray(np.arange(1.0, 7), dims="sample")
        )
    with pytest.raises(DimensionError, match="which the data lack"):
        cube.evalci.pass_at_k(2, item="item", sample="sample", weights=xr.DataArray([1.0], dims="other"))


def test_data_are_left_as_they_are():
    rows = made()
    before = rows.copy(deep=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows.evalci.pass_at_k([1, 3], item="item", cluster=["doc", "prompt"], weights="weight", rng=1)
    pd.testing.assert_frame_equal(rows, before)


# Several k at once, and several groups


def grouped(seed=0):
    """Groups that differ in rate and in size; in one of them the larger the document, the higher the rate."""
    rng, parts = np.random.default_rng(seed), []
    for model, (low, high) in {"a": (0.1, 0.2), "b": (0.5, 0.9), "guarded": (1, 1)}.items():
        sizes = np.repeat([30, 3], [12, 60]) if model == "guarded" else np.full(12, 4)
        doc = np.repeat(np.arange(len(sizes)), sizes)
        passed = rng.random((len(doc), 6)) < rng.uniform(low, high, (len(doc), 1))
        if (
            model == "guarded"
        ):  # large documents pass, but for a sample of one item; of small ones one item of three does
            passed[360:] = (np.arange(180) % 3 == 0)[:, None]
            passed[0, 0] = False
        item = np.repeat(np.arange(len(doc)), 6)
        parts.append(
            pd.DataFrame(
                {"model": model, "item": item, "doc": doc[item], "score": passed.ravel().astype(int)}
            )
        )
    return pd.concat(parts, ignore_index=True)


METHODS = [
    "auto",
    "cr1",
    "cr2",
    "wald",
    "wilson",
    "logit",
    "clopper_pearson",
    "korn_graubard",
    "bootstrap_percentile",
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_simultaneous_limits_of_groups(method, alternative):
    """Each group has its own level, by sup-t on its own clusters, and the limits of cluster_ci at that level."""
    rows, ks, seed = grouped(), [1, 3], np.random.SeedSequence(9)
    sides = 2 if alternative == "two-sided" else 1
    ask = {"method": method, "alternative": alternative, "n_resamples": 999}
    got = rows.evalci.pass_at_k(ks, item="item", cluster="doc", by="model", rng=seed, **ask)
    levels = []
    for model, part in rows.groupby("model"):
        totals = part.groupby("item").agg(c=("score", "sum"), doc=("doc", "first"))
        values = np.stack([stats.pass_at_k(totals["c"], 6, k).value for k in ks], axis=1)
        influence = (
            pd.DataFrame((values - values.mean(axis=0)) / len(values)).groupby(totals["doc"].to_numpy()).sum()
        )
        every = [pd.DataFrame({"score": v, "doc": totals["doc"].to_numpy()}).evalci for v in values.T]
        df = np.array([one.cluster_ci("doc", method="cr2")["df"].item() for one in every])
        block = Block(influence=influence.to_numpy(), contrasts=np.array([[0, -1], [1, -1]]), df=df)
        levels.append(simultaneous_outside([block], 2 * 0.05 / sides, n_draws=999, seed=seed))
        mine = got[got["model"] == model]
        for j, one in enumerate(every):
            if method == "bootstrap_percentile":  # whose draws are those of both columns
                continue
            want = one.cluster_ci("doc", confidence_level=1 - sides * levels[-1], **ask).iloc[0]
            limits = mine.iloc[j][["simultaneous_low", "simultaneous_high"]].astype(float)
            assert_allclose(limits, want[["ci_low", "ci_high"]].astype(float), rtol=1e-9, atol=1e-12)
    assert len(set(levels)) > 1
    assert (got["simultaneous_low"] <= got["ci_low"]).all()
    assert (got["simultaneous_high"] >= got["ci_high"]).all()


def test_the_guard_widens_simultaneous_limits_too():
    rows = grouped()
    with pytest.warns(InformativeSizeWarning):
        got = rows.evalci.pass_at_k([1, 3], item="item", cluster="doc", by="model", rng=1)
    alone = rows[rows["model"] == "guarded"].evalci.pass_at_k([1, 3], item="item", cluster="doc", rng=1)
    limits = ["ci_low", "ci_high", "simultaneous_low", "simultaneous_high"]
    assert_allclose(got.loc[got["model"] == "guarded", limits], alone[limits], rtol=1e-9)


def test_a_second_level_takes_no_second_posterior(monkeypatch):
    calls = []

    def counted(t, mo):
        calls.append(t.n_groups)
        return averaged_posterior(t, mo)

    monkeypatch.setattr(clustered, "averaged_posterior", counted)
    grouped().evalci.pass_at_k([1, 3], item="item", cluster="doc", by="model", rng=1)
    assert calls == [6]
