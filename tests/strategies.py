"""Frames of scores in clusters: crafted from counts, or drawn by hypothesis."""

from __future__ import annotations

import re
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


def told(category, match, call, *args, **kwargs):
    """The answer of a call that warns so, whatever else it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.filterwarnings("always", category=EvalCIWarning)
        answer = call(*args, **kwargs)
    seen = [str(one.message) for one in caught if issubclass(one.category, category)]
    assert any(re.search(match, text) for text in seen), seen
    return answer


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
        [frame_of(passes, sizes, model="A", **columns), frame_of(BENIGN, model="B", **columns)],
        ignore_index=True,
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
        np.arange(n := draw(st.integers(*clusters))),
        draw(st.lists(st.integers(*sizes), min_size=n, max_size=n)),
    )
    n_models = draw(st.integers(*models))
    flat = draw(st.lists(st.integers(0, 1), min_size=n_models * len(doc), max_size=n_models * len(doc)))
    return xr.Dataset(
        {"score": (("model", "item"), np.array(flat).reshape(n_models, len(doc)))},
        coords={
            "model": [f"m{h}" for h in range(n_models)],
            "item": np.arange(len(doc)),
            "doc": ("item", doc),
        },
    )


METHODS = ("auto", "cr1", "cr2", "wilson", "korn_graubard", "bootstrap_percentile")
methods = st.sampled_from(METHODS)


# Two systems on the same items

TESTS = ("exact", "midp", "asymptotic", "corrected")  # of independent items
CLUSTERED_TESTS = ("icc_averaged", "obuchowski", "durkalski", "yang", "eliasziw", "sign_flip")
INDEPENDENT = ("tango", "newcombe", "bonett_price", "agresti_min")  # intervals of independent items
ROBUST = ("cr0", "cr1", "cr2", "cr3", "bootstrap_percentile")  # intervals of any scores
CORRECTIONS = ("holm", "hochberg", "bonferroni", "bh", "by", "none")

# Every way to ask, as (name of the method of the accessor, options).
QUESTIONS = [
    *[("mcnemar", {"method": method}) for method in TESTS],
    *[("mcnemar", {"method": method, "cluster": "doc"}) for method in CLUSTERED_TESTS],
    *[("diff_ci", {"method": method}) for method in (*INDEPENDENT, *ROBUST)],
    *[("diff_ci", {"method": method, "cluster": "doc"}) for method in ("icc_averaged", *ROBUST)],
    ("compare", {}),
    ("compare", {"test": "midp", "method": "bonett_price"}),
    ("compare", {"cluster": "doc"}),
    ("compare", {"cluster": "doc", "method": "cr2"}),
    ("compare", {"cluster": "doc", "method": "bootstrap_percentile"}),
]
GRADED = [
    (name, options) for name, options in QUESTIONS if name != "mcnemar" and options.get("method") in ROBUST
]


def question_id(question):
    """A short name for the id of a test."""
    name, options = question
    return "-".join([name, *map(str, options.values())])


def ask_pairs(obj, question, **kwargs):
    """Ask of the models, seeded, with few resamples and without the package's warnings."""
    name, options = question
    given = {"item": "item", "rng": 1, "n_resamples": 400} | options | kwargs
    return quiet(getattr(obj.evalci, name), "model", **given)


def pair_frame(both=0, only_a=0, only_b=0, neither=0, **columns):
    """Systems A and B on items 0, 1, ... with so many in each of the four cells; arrays give the cells of each cluster."""
    cells = np.atleast_2d(np.transpose(np.broadcast_arrays(both, only_a, only_b, neither)))
    first, second = (
        np.concatenate([np.repeat(side, row) for row in cells]) for side in ([1, 1, 0, 0], [1, 0, 1, 0])
    )
    n = len(first)
    return pd.DataFrame(
        {
            **columns,
            "model": ["A"] * n + ["B"] * n,
            "item": np.tile(np.arange(n), 2),
            "doc": np.tile(np.repeat(np.arange(len(cells)), cells.sum(axis=1)), 2),
            "score": np.concatenate([first, second]).astype(np.int64),
        }
    )


@st.composite
def paired_frames(
    draw, *, systems=(2, 3), clusters=(2, 6), sizes=(1, 3), fractional=False, samples=1, shuffled=True
):
    """A frame of ``model``, ``item``, ``doc`` and ``score``: all systems on all items, rows shuffled."""
    size = draw(st.lists(st.integers(*sizes), min_size=clusters[0], max_size=clusters[1]))
    doc, n_systems = np.repeat(np.arange(len(size)), size), draw(st.integers(*systems))
    n = n_systems * len(doc) * samples
    values = st.sampled_from([0.0, 0.25, 0.5, 1.0]) if fractional else st.integers(0, 1)
    frame = pd.DataFrame(
        {
            "model": np.repeat([f"m{j}" for j in range(n_systems)], len(doc) * samples),
            "item": np.tile(np.repeat(np.arange(len(doc)), samples), n_systems),
            "doc": np.tile(np.repeat(doc, samples), n_systems),
            "score": draw(st.lists(values, min_size=n, max_size=n)),
        }
    )
    if samples > 1:
        frame["sample"] = np.arange(n) % samples
    if not shuffled:
        return frame
    return frame.sample(frac=1, random_state=draw(st.integers(0, 2**16))).reset_index(drop=True)


@st.composite
def weights_of(draw, items):
    """A weight above 0 for each item, the same in all of its rows."""
    known = sorted(set(items))
    some = draw(
        st.lists(st.sampled_from([0.25, 1.0, 1.7, 2.0, 6.5]), min_size=len(known), max_size=len(known))
    )
    return items.map(dict(zip(known, some, strict=True)))


@st.composite
def paired_cubes(draw, *, systems=(2, 3), clusters=(2, 5), sizes=(1, 3), groups=(1, 2)):
    """A Dataset of 0/1 scores over prompt, model and item, with ``doc`` along item."""
    import xarray as xr

    size = draw(st.lists(st.integers(*sizes), min_size=clusters[0], max_size=clusters[1]))
    doc = np.repeat(np.arange(len(size)), size)
    shape = (draw(st.integers(*groups)), draw(st.integers(*systems)), len(doc))
    flat = draw(st.lists(st.integers(0, 1), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    return xr.Dataset(
        {"score": (("prompt", "model", "item"), np.array(flat).reshape(shape))},
        coords={
            "prompt": [f"p{h}" for h in range(shape[0])],
            "model": [f"m{j}" for j in range(shape[1])],
            "item": np.arange(len(doc)),
            "doc": ("item", doc),
        },
    )
