"""Frames of scores in clusters: crafted from counts, or drawn by hypothesis."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from evalci_accessor.exceptions import EvalCIWarning

# Passes of 40 clusters of 5, about .7 of them: nothing to warn of.
BENIGN = [5] * 7 + [4] * 14 + [3] * 12 + [2] * 5 + [1] * 2


def quiet(function, *args, **kwargs):
    """Call with the package's own warnings off; numpy's and pandas' still count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalCIWarning)
        return function(*args, **kwargs)


def frame_of(passes, sizes=5, **columns):
    """A row a score, for clusters ``c0, c1, ...`` with so many passes of so many scores."""
    passes = np.asarray(passes)
    sizes = np.broadcast_to(sizes, passes.shape)
    cluster = [f"c{g}" for g in np.repeat(np.arange(len(passes)), sizes)]
    score = np.concatenate([[1] * int(s) + [0] * int(m - s) for s, m in zip(passes, sizes, strict=True)])
    return pd.DataFrame({**columns, "cluster": cluster, "score": score.astype(np.int64)})


def two_groups(passes, sizes=5, **columns):
    """Group ``A`` as crafted, beside a benign group ``B``."""
    return pd.concat(
        [frame_of(passes, sizes, model="A", **columns), frame_of(BENIGN, model="B", **columns)], ignore_index=True
    )


@st.composite
def score_frames(draw, *, groups=(1, 3), clusters=(2, 8), sizes=(1, 6), fractional=False):
    """A frame of ``model``, ``doc`` and ``score`` in [0, 1], two clusters or more in each model, rows shuffled."""
    values = st.sampled_from([0.0, 0.25, 0.5, 1.0]) if fractional else st.sampled_from([0, 1])
    rows = [
        (f"m{h}", g, score)
        for h in range(draw(st.integers(*groups)))
        for g in range(draw(st.integers(*clusters)))
        for score in draw(st.lists(values, min_size=sizes[0], max_size=sizes[1]))
    ]
    order = draw(st.permutations(range(len(rows)))) if len(rows) < 60 else range(len(rows))
    return pd.DataFrame([rows[i] for i in order], columns=["model", "doc", "score"])


@st.composite
def score_cubes(draw, *, models=(1, 3), clusters=(2, 5), sizes=(1, 4)):
    """A balanced Dataset of 0/1 scores over model and item, with ``doc`` along item."""
    import xarray as xr

    doc = np.repeat(
        np.arange(n := draw(st.integers(*clusters))), draw(st.lists(st.integers(*sizes), min_size=n, max_size=n))
    )
    n_models = draw(st.integers(*models))
    flat = draw(st.lists(st.integers(0, 1), min_size=n_models * len(doc), max_size=n_models * len(doc)))
    return xr.Dataset(
        {"score": (("model", "item"), np.array(flat).reshape(n_models, len(doc)))},
        coords={"model": [f"m{h}" for h in range(n_models)], "item": np.arange(len(doc)), "doc": ("item", doc)},
    )


METHODS = ("auto", "cr1", "cr2", "wilson", "korn_graubard", "bootstrap_percentile")
methods = st.sampled_from(METHODS)
