"""Published eval results: the default interval through a frame and through a Dataset, against the slow reference."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_allclose

import evalci_accessor  # noqa: F401
from evalci_accessor.exceptions import DegenerateRateWarning, EffectiveSizeWarning

GOLDEN = json.loads((Path(__file__).parent / "reference" / "real_data_rates.json").read_text(encoding="utf-8"))["data"]
NUMBERS = ("estimate", "std_error", "ci_low", "ci_high", "df", "n", "n_clusters", "icc", "design_effect", "n_eff")


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
    ds = xr.Dataset({"score": ("row", frame["score"].to_numpy())}, {"cluster": ("row", frame["cluster"].to_numpy())})
    with warned(want, DegenerateRateWarning, EffectiveSizeWarning):
        row, cube = one_row(frame, method=method), ds.evalci.cluster_ci("cluster", method=method)
    assert_allclose(np.array([float(cube[x]) for x in NUMBERS]), row[list(NUMBERS)].to_numpy(float), rtol=1e-12)
    assert str(cube["method"].item()) == row["method"]
