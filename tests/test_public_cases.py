"""Questions and reports of the public, each a test named by its id; the values were computed independently of the package."""

import numpy as np
import pandas as pd
import pytest

from evalci_accessor import exceptions as ex

SIX = {"abs": 6e-7}  # the values are rounded to six digits


def test_pub_guard_01():
    passed, asked = [4] * 18 + [33, 8, 11, 35], [6] * 18 + [42] * 4
    frame = pd.DataFrame({"doc": np.repeat(range(22), asked)})
    frame["score"] = (frame.groupby("doc").cumcount() < np.repeat(passed, asked)).astype(int)
    cr2 = frame.evalci.cluster_ci("doc", method="cr2").iloc[0]
    assert cr2["std_error"] == pytest.approx(0.099179, **SIX)
    with pytest.warns(
        ex.InformativeSizeWarning, match="std_error, df, n_eff and design_effect are CR2's too"
    ):
        got = frame.evalci.cluster_ci("doc").iloc[0]
    assert got["estimate"] == pytest.approx(0.576087, **SIX)
    assert got["std_error"] == pytest.approx(cr2["std_error"], rel=1e-12)
    assert got["df"] == cr2["df"]
    assert got["n_eff"] == pytest.approx(24.827, abs=6e-4)
    assert got["design_effect"] == pytest.approx(276 / got["n_eff"])


def test_pub_count_01():
    frame = pd.DataFrame({"model": ["atlas", "boreal"], "passed": [18, 23], "total": [45, 45]})
    frame["rate"] = frame["passed"] / frame["total"]
    got = frame.evalci.proportion_ci("passed", n="total", by="model")
    assert got["estimate"].tolist() == [pytest.approx(0.4), pytest.approx(0.511111, **SIX)]
    assert got["n"].tolist() == [45, 45]
    want = [[0.270249, 0.545481], [0.370045, 0.65043]]
    np.testing.assert_allclose(got[["ci_low", "ci_high"]], want, atol=6e-7)
    with pytest.raises(ex.ScoreRangeError, match="name what it is of with n="):
        frame.evalci.proportion_ci("passed", by="model")
    with pytest.warns(ex.CountWeightsWarning, match="n='total'"):
        frame.evalci.proportion_ci("rate", by="model", weights="total")
