"""A report holds the methods' own numbers, all that they warned of, and text as it was written."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import threading
import typing
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from conftest import requires
from evalci_accessor import datasets, options, report
from evalci_accessor import exceptions as ex
from evalci_accessor.report import _render
from evalci_accessor.report._content import KNOWN
from evalci_accessor.report._report import Findings
from evalci_accessor.stats import methods

from .pages import Page

MINUS = "\N{MINUS SIGN}"


def crossed_frame():
    return datasets.load_rag_eval().assign(half=lambda d: np.where(d["item"] % 2, "odd", "even"))


def few():
    frame = datasets.load_rag_eval()
    return frame[frame["doc_id"].isin(["doc-00", "doc-01", "doc-02"])].assign(score=1.0)


def weighted():
    return datasets.load_rag_eval().assign(w=lambda d: 1 + d["item"] % 3)


def uneven():
    """Items with one, two or four samples, the same for both systems; those with one are hard."""
    frame = datasets.load_code_eval()
    kept = frame[frame["sample"] < np.array([1, 2, 4])[frame["item"] % 3]]
    return kept.assign(score=kept["score"].where(kept["item"] % 3 > 0, 0))


# Data, clusters, what the rates are by, and options of the comparison and of all.
CASES = {
    "compare": (datasets.load_rag_eval, "doc_id", ["model"], {"factor": "model", "item": "item"}, {"rng": 3}),
    "one": (lambda: datasets.load_rag_eval().query("model == 'atlas'"), "doc_id", None, {}, {}),
    "grouped": (crossed_frame, "doc_id", ["half", "model"], {"factor": "model", "item": "item", "by": "half"}, {"rng": 3}),
    "margin": (
        datasets.load_rag_eval, "doc_id", ["model"], {"factor": "model", "item": "item", "margin": 0.05, "baseline": "atlas"}, {},
    ),
    "graded": (datasets.load_rag_eval, "doc_id", ["model"], {"factor": "model", "item": "item"}, {"rng": 3, "score": "latency_s"}),
    "crossed": (
        datasets.load_rag_eval, ["doc_id", "template_id"], ["model"], {"factor": "model", "item": "item"}, {"rng": 3},
    ),
    "samples": (datasets.load_code_eval, "repo_id", ["model"], {"factor": "model", "item": "item", "sample": "sample"}, {"rng": 3}),
    "weights": (weighted, "doc_id", ["model"], {"factor": "model", "item": "item", "weights": "w"}, {"rng": 3}),
    "few": (few, "doc_id", ["model"], {"factor": "model", "item": "item"}, {"rng": 3, "confidence_level": 0.9}),
}  # fmt: skip


@pytest.fixture(params=CASES, scope="module")
def case(request):
    load, cluster, keys, pairing, options = CASES[request.param]
    data = load()
    before = data.copy()
    made = data.evalci.report(cluster, **pairing, **options)
    pd.testing.assert_frame_equal(data, before)
    return data, cluster, keys, pairing, options, made


def without(options, *names):
    return {name: value for name, value in options.items() if name not in names}


def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.EvalCIWarning)
        return call()


def compared(data, cluster, pairing, options):
    method = data.evalci.diff_ci if "margin" in pairing else data.evalci.compare
    return quiet(lambda: method(cluster=cluster, **pairing, **options))


def test_results_are_those_of_the_methods(case):
    results_are_those_of_the_methods(case)


def results_are_those_of_the_methods(case):
    data, cluster, keys, pairing, options, made = case
    graded, options = is_graded(options), without(options, "graded")
    weights = pairing.get("weights")
    rates = quiet(lambda: data.evalci.cluster_ci(cluster, by=keys, weights=weights, **options))
    pd.testing.assert_frame_equal(made.rates, rates)
    scan = quiet(
        lambda: data.evalci.design_effect(
            cluster, by=keys, weights=weights, **without(options, "rng", "n_resamples")
        )
    )
    pd.testing.assert_frame_equal(made.clustering, scan)
    if not graded:
        naive = data.evalci.proportion_ci(by=keys, weights=weights, **without(options, "rng", "n_resamples"))
        pd.testing.assert_frame_equal(made.naive, naive)
    if not pairing:
        assert made.comparison is None
        assert made.naive_comparison is None
        return
    pd.testing.assert_frame_equal(made.comparison, compared(data, cluster, pairing, options))
    naive = compared(data, None, pairing, options | ({} if "margin" in pairing else {"test": "interval"}))
    sides = ["half", "model_a", "model_b"] if "by" in pairing else ["model_a", "model_b"]
    aligned = made.comparison[sides].merge(naive, on=sides, how="left", validate="1:1")
    pd.testing.assert_frame_equal(made.naive_comparison, aligned)


def test_naive_scores_beyond_one_have_students_interval(rag):
    made = rag.evalci.report("doc_id", by="model", score="latency_s")
    from scipy.stats import t

    for row in made.naive.itertuples():
        own = rag.loc[rag["model"] == row.model, "latency_s"]
        half = t.ppf(0.975, len(own) - 1) * own.std() / np.sqrt(len(own))
        assert (row.ci_low, row.ci_high) == pytest.approx((own.mean() - half, own.mean() + half), rel=1e-9)


def test_naive_scores_between_zero_and_one_have_students_interval_too(rag):
    """Wilson's takes the largest variance that there is, and would be wider than the honest one."""
    frame = rag.assign(score=0.6 + 0.1 * rag["score"])
    cube = frame.set_index(["model", "item"])["score"].to_xarray().to_dataset()
    cube = cube.assign_coords(
        doc_id=("item", frame.query("model == 'atlas'").set_index("item")["doc_id"].loc[cube["item"]])
    )
    for made in (frame.evalci.report("doc_id", by="model"), cube.evalci.report("doc_id", item="item")):
        for row in made.naive.itertuples():
            own = frame.loc[frame["model"] == row.model, "score"]
            low, high = ttest_1samp(own, 0).confidence_interval(0.95)
            assert (row.ci_low, row.ci_high) == pytest.approx((low, high), rel=1e-9)
        assert set(made.naive["method"]) == {"t"}
        assert (
            "Intervals of the scores, with the clusters (icc_averaged) and without (t)" in made.to_markdown()
        )
        width = [(one["ci_high"] - one["ci_low"]).to_numpy() for one in (made.rates, made.naive)]
        assert (width[0] > 1.2 * width[1]).all()  # these documents matter
        assert made.speech.percent


def is_graded(options):
    return options.get("graded", options.get("score") == "latency_s")


def said(value, percent, signed=False):
    """A number as the report must print it."""
    text = f"{100 * value:.1f}" if percent else f"{value:.4g}"
    text = "0.0" if text == "-0.0" else text
    return ("+" if signed and float(text) > 0 else "") + text.replace("-", MINUS)


def said_p(p):
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def limits(row, percent, signed=False):
    return f"[{said(row['ci_low'], percent, signed)}, {said(row['ci_high'], percent, signed)}]"


def test_printed_numbers_are_the_methods(case):
    printed_numbers_are_the_methods(case)


def printed_numbers_are_the_methods(case):
    made = case[-1]
    page, percent = Page(made.to_html()), not is_graded(case[4])
    unit = " %" if percent else ""
    level = f"[{100 * case[4].get('confidence_level', 0.95):.0f} % interval]"
    for caption, head in [
        ("Mean of", "Estimate"),
        ("How clustered", "ICC"),
        ("Differences, first", "Difference"),
    ]:
        if head != "Difference" or made.comparison is not None:
            assert f"{head} {level}" in page.table(caption)[0]
    cells = page.table("Mean of")
    items = ["80"] if "sample" in case[3] else []
    assert [row[1:] for row in cells[1:]] == [
        [
            f"{said(r['estimate'], percent)}{unit} {limits(r, percent)}",
            *items,
            f"{r['n']:,}",
            f"{r['n_clusters']:,}",
        ]
        for _, r in made.rates.iterrows()
    ]
    ignored = page.table("Intervals of the scores")[1:]
    widths = [(made.rates, 1), (made.naive, 2)]
    for frame, column in widths:
        assert [row[column] for row in ignored] == [limits(r, percent) for _, r in frame.iterrows()]
    times = (made.rates["ci_high"] - made.rates["ci_low"]) / (made.naive["ci_high"] - made.naive["ci_low"])
    assert [row[3] for row in ignored] == [f"{value:.2f}" for value in times]
    scan = page.table("How clustered")[1:]
    for row, (_, r) in zip(scan, made.clustering.iterrows(), strict=True):
        assert row[1] == r["cluster"]
        icc = (
            "not known" if np.isnan(r["icc"]) else f"{r['icc']:.2f} [{r['icc_low']:.2f}, {r['icc_high']:.2f}]"
        )
        assert row[2] == icc.replace("-", MINUS)
        assert row[4] == ("not known" if np.isnan(r["n_eff"]) else f"{r['n_eff']:,.1f}")
        assert row[3] == ("not known" if np.isnan(r["design_effect"]) else f"{r['design_effect']:.2f}")
        assert row[5] == f"{r['n_clusters']}"
        sizes, largest = [r[name] for name in ("size_min", "size_median", "size_max")], r["largest_share"]
        whole = [
            f"{size:,.0f}" if size == round(size) else f"{size:,.4g}" for size in sizes if not np.isnan(size)
        ]
        assert row[6] == (", ".join(whole) or "not known")
        assert row[7] == ("not known" if np.isnan(largest) else f"{100 * largest:.1f} %")
    if made.comparison is None:
        assert not [caption for caption in page.tables if caption.startswith("Differences")]
        return
    table = page.table("Differences, first minus second")
    points = " points" if percent else ""
    for row, (_, r) in zip(table[1:], made.comparison.iterrows(), strict=True):
        shown = dict(zip(table[0], row, strict=True))
        assert row[1] == f"{said(r['difference'], percent, True)}{points} {limits(r, percent, True)}"
        if not np.isnan(r["only_a"]):
            assert shown["Only first, only second passed"] == f"{r['only_a']:.0f}, {r['only_b']:.0f}"
            assert shown["Both passed, both failed"] == f"{r['both_pass']:.0f}, {r['both_fail']:.0f}"
        else:
            assert "Only first, only second passed" not in shown
        if "margin" in r:
            p = said_p(r["pvalue_verdict"])
            assert shown["Verdict"] == f"{r['verdict']}, p {p if p.startswith('<') else f'= {p}'}"
            assert shown["Claim and margin"] == f"{r['claim']}, {said(r['margin'], percent)}{points}"
        else:
            name = "p (holm)" if len(made.comparison) > 1 else "p"
            assert shown[name] == said_p(r["pvalue_adj"])
        least = "at least " if isinstance(case[1], list) else ""
        assert shown["Rests on"].startswith(
            f"{r['n_pairs']:,} items in {least}{r['n_clusters']:,} clusters of "
        )
        if "simultaneous_low" in r and len(made.comparison) > 1:
            both = {"ci_low": r["simultaneous_low"], "ci_high": r["simultaneous_high"]}
            assert shown["Interval for all pairs together"] == limits(both, percent, True)
    beside = page.table("Intervals of the differences")
    for row, (_, own), (_, other) in zip(
        beside[1:], made.comparison.iterrows(), made.naive_comparison.iterrows(), strict=True
    ):
        assert row[1:3] == [limits(own, percent, True), limits(other, percent, True)]
        if "margin" not in own:
            assert row[3:] == [said_p(own["pvalue_adj"]), said_p(other["pvalue_adj"])]


def test_markdown_and_html_say_the_same(case):
    says_the_same_in_markdown(case)


def says_the_same_in_markdown(case):
    made = case[-1]
    page, text = Page(made.to_html()), made.to_markdown()
    plain = re.sub(r"\\(.)", r"\1", text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    for rows in page.tables.values():
        for row in rows:
            assert f"| {' | '.join(row)} |" in plain
    assert [title for _, title in page.headings] == re.findall(r"^#+ (.*)$", plain, flags=re.M)
    assert f"> {made.sentence}" in plain
    assert made.sentence in page.text


def test_sentence_holds_the_four_numbers_and_the_counts(case):
    sentence_holds_the_numbers(case)


def sentence_holds_the_numbers(case):
    made, percent = case[-1], not is_graded(case[4])
    words = made.sentence
    unit = " %" if percent else ""
    level = f"{100 * case[4].get('confidence_level', 0.95):.0f} % interval "
    assert level in words
    for _, r in made.rates.iterrows():
        ends = f"{said(r['ci_low'], percent)} to {said(r['ci_high'], percent)})"
        assert f"{said(r['estimate'], percent)}{unit} (" in words
        assert ends in words
        scores = "samples of 80 items" if "sample" in case[3] else "items" if case[3] else "scores"
        least = "at least " if isinstance(case[1], list) else ""
        assert f"{r['n']:,} {scores} in {least}{r['n_clusters']} clusters" in words
    for _, r in (made.rates.iloc[:0] if made.comparison is None else made.comparison).iterrows():
        size = f"{said(abs(r['difference']), percent)}{' points' if percent else ''}"
        which = "above" if r["difference"] > 0 else "below"
        than = f"scored {size} {which}" if r["difference"] else "scored the same as"
        assert f"{r['model_a']} {than} {r['model_b']} (" in words
        if not np.isnan(r["only_a"]):
            assert (
                f"only {r['model_a']} passed {r['only_a']:.0f}, only {r['model_b']} passed {r['only_b']:.0f}"
                in words
            )
    ran = [made.rates["method"], *([] if made.comparison is None else [made.comparison["method"]])]
    assert (
        f"Method {', '.join(dict.fromkeys(pd.concat(ran)))}, evalci-accessor" in words
    )  # not those of independent items
    assert all(name in words for name in KNOWN)


def test_dict_survives_json_and_holds_every_number(case):
    dict_holds_every_number(case)


def dict_holds_every_number(case):
    made = case[-1]
    found = made.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    tables = [("systems", made.rates, made.keys), ("clustering", made.clustering, made.keys)]
    if made.comparison is not None:
        sides = [name for name in made.comparison if name in ("half", "model_a", "model_b")]
        tables.append(("comparisons", made.comparison, sides))
    for part, frame, keys in tables:
        assert len(found[part]) == len(frame)
        for one, (_, row) in zip(found[part], frame.iterrows(), strict=True):
            assert one["keys"] == {key: row[key] for key in keys}
            for name in frame.columns.difference(keys):
                expected = None if pd.isna(row[name]) or row[name] in (np.inf, -np.inf) else row[name]
                assert one[name] == expected, name
    assert [one["naive"]["ci_low"] for one in found["systems"]] == made.naive["ci_low"].tolist()
    beside = [] if made.naive_comparison is None else made.naive_comparison["ci_low"].tolist()
    assert [one["naive"]["ci_low"] for one in found["comparisons"]] == beside
    assert [one["message"] for one in found["warnings"]] == [one.message for one in made.warnings]
    assert found["sentence"] == made.sentence


def test_keys_of_any_type_go_into_json(rag):
    day = {"atlas": pd.Timestamp("2026-01-02"), "boreal": pd.NaT, "cascade": pd.Timestamp("2026-03-04")}
    made = rag.assign(day=rag["model"].map(day), run=np.where(rag["model"] == "atlas", 1, 2)).evalci.report(
        "doc_id", by=["day", "run"]
    )
    keys = [one["keys"] for one in made.to_dict()["systems"]]
    assert keys == [
        {"day": "2026-01-02 00:00:00", "run": 1}, {"day": None, "run": 2}, {"day": "2026-03-04 00:00:00", "run": 2},
    ]  # fmt: skip
    assert Page(made.to_html()).table("Mean of")[2][0] == "day = missing · run = 2"
    open_end = dataclasses.replace(made, rates=made.rates.assign(df=np.inf)).to_dict()
    assert [one["df"] for one in json.loads(json.dumps(open_end, allow_nan=False))["systems"]] == [None] * 3


def test_keys_of_any_type_of_every_container(rag, cube):
    values = [pd.Timestamp("2026-01-02"), np.float32(0.5), -np.inf]
    at = dict(zip(cube["model"].values, values, strict=True))
    frame = rag.assign(model=pd.Series([at[name] for name in rag["model"]], dtype=object))
    ds = cube.assign_coords(model=np.array(values, dtype=object))
    for data in (frame, frame.set_index(["model", "item", "doc_id"])["score"], ds, ds["score"]):
        given = {"item": "item"} if isinstance(data, (pd.DataFrame, pd.Series)) else {}
        made = data.evalci.report("doc_id", factor="model", rng=1, n_resamples=199, **given).to_dict()
        assert json.loads(json.dumps(made, allow_nan=False)) == made
        assert [one["keys"]["model"] for one in made["systems"]] == ["2026-01-02 00:00:00", 0.5, "-inf"]


def test_keys_that_print_alike_stay_apart(rag):
    """In JSON an infinite one is text, as it is no number there; in the pictures rows keep their own naive interval."""
    requires("matplotlib")
    alike = {"atlas": 1, "boreal": "1", "cascade": -np.inf}
    made = rag.assign(run=rag["model"].map(alike).astype(object)).evalci.report(
        "doc_id", factor="run", item="item", rng=1
    )
    found = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert [one["keys"]["run"] for one in found["systems"]] == [1, "1", "-inf"]
    assert {one["keys"]["run_b"] for one in found["comparisons"]} | {one["keys"]["run_a"] for one in found["comparisons"]} == {
        1, "1", "-inf",
    }  # fmt: skip
    page = made.to_html()
    assert [row[0] for row in Page(page).table("Mean of")[1:]] == ["run = 1", "1", "run = -inf"]
    dashed = [
        attributes["style"]
        for tag, attributes in Page(page).tags
        if "stroke-dasharray" in (attributes.get("style") or "")
    ]
    assert len([style for style in dashed if "#d55e00" in style]) == 3  # the naive intervals


def test_pictures_are_in_the_units_of_the_tables(rag):
    requires("matplotlib")
    made = rag.evalci.report("doc_id", by="model")
    shares = rag.evalci.report("doc_id", by="model", percent=False)
    assert "69.5 % [" in made.to_markdown()
    assert "| 0.695 [" in shares.to_markdown()
    assert _render.svg(made, "forest") != _render.svg(shares, "forest")


def test_a_picture_with_too_many_rows_is_not_drawn(rag, monkeypatch):
    requires("matplotlib")
    monkeypatch.setattr(_render, "MOST", 2)
    page = Page(rag.evalci.report("doc_id", by="model").to_html())
    assert "There is no picture here: it would have 3 rows, and can have 2." in page.text
    assert not [tag for tag, _ in page.tags if tag == "svg"]


def same(one, other):
    """Dicts with equal numbers, but for the last bit of a sum."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    return one == pytest.approx(other, rel=1e-9, abs=1e-12) if isinstance(one, float) else one == other


@pytest.mark.parametrize("margin", [None, 0.03])
def test_a_cube_gives_the_frames_report(rag, cube, margin):
    options = {"factor": "model", "margin": margin, "rng": 5, "not_covered": {"contamination": "none found"}}
    frame = rag.evalci.report("doc_id", item="item", **options)
    assert same(cube.evalci.report("doc_id", **options).to_dict(), frame.to_dict())
    assert same(cube["score"].evalci.report("doc_id", **options).to_dict(), frame.to_dict())
    series = rag.set_index(["model", "item", "doc_id"])["score"]
    assert same(series.evalci.report("doc_id", item="item", **options).to_dict(), frame.to_dict())
    alone = cube.evalci.report("doc_id")
    assert same(alone.to_dict(), rag.evalci.report("doc_id", by="model").to_dict())


def test_a_cube_with_samples_and_kept_dims():
    frame, cube = datasets.load_code_eval(), datasets.load_code_eval_cube()
    options = {"factor": "model", "sample": "sample", "rng": 5}
    made = cube.evalci.report("repo_id", **options).to_dict()
    assert same(made, frame.evalci.report("repo_id", item="item", **options).to_dict())
    first = cube.isel(sample=[0, 1])
    kept = first.evalci.report("repo_id", factor="model", rng=5)
    by = frame[frame["sample"] < 2].evalci.report("repo_id", factor="model", item="item", by="sample", rng=5)

    def numbers(made):
        return {tuple(sorted(one["keys"].items())): one["ci_low"] for one in made.to_dict()["systems"]}

    assert numbers(kept) == pytest.approx(numbers(by))
    assert [one["keys"] for one in kept.to_dict()["comparisons"]] == [
        one["keys"] for one in by.to_dict()["comparisons"]
    ]
    assert {one["keys"]["sample"] for one in kept.to_dict()["comparisons"]} == {0, 1}


@pytest.mark.parametrize("kind", ["array", "series", "array on one label"])
def test_arrays_stand_in_for_names(rag, kind):
    named = rag.evalci.report("doc_id", factor="model", item="item", rng=1).to_dict()
    values = [rag[name].rename(None) for name in ("doc_id", "model", "item")]
    ids, factor, item = values if kind == "series" else (one.to_numpy() for one in values)
    data = rag.set_index(np.zeros(len(rag), dtype=int)) if kind == "array on one label" else rag
    made = data.evalci.report(ids, factor=factor, item=item, rng=1).to_dict()
    assert [one["keys"] for one in made["systems"]] == [
        {"factor": one["keys"]["model"]} for one in named["systems"]
    ]
    assert [set(one["keys"]) for one in made["comparisons"]] == [{"factor_a", "factor_b"}] * 3
    for part in ("systems", "comparisons"):
        assert [one["ci_low"] for one in made[part]] == [one["ci_low"] for one in named[part]]


def test_systems_of_a_cube_may_be_named_by_a_coordinate(cube):
    runs = cube.rename(model="run").assign_coords(model=("run", cube["model"].values)).drop_vars("run")
    found = runs.evalci.report("doc_id", factor="model", rng=1).to_dict()
    assert [one["keys"] for one in found["systems"]] == [
        {"model": name} for name in ("atlas", "boreal", "cascade")
    ]
    assert found["comparisons"][0]["keys"] == {"model_a": "boreal", "model_b": "cascade"}


@st.composite
def any_results(draw):
    """A frame of two or three systems, and how to report on it: graded or not, weighted or not, one clustering or two."""
    seed, n_docs, n_systems = draw(st.integers(0, 10**6)), draw(st.integers(5, 9)), draw(st.integers(2, 3))
    rng = np.random.default_rng(seed)
    item = np.arange(n_docs * 3)
    frame = pd.concat(
        [
            pd.DataFrame({"model": name, "item": item, "doc": item // 3, "prompt": item % 4})
            for name in "ABC"[:n_systems]
        ],
        ignore_index=True,
    )
    graded = draw(st.booleans())
    rates = rng.beta(1, 1, n_docs)[frame["doc"]]
    frame["score"] = (
        rng.normal(50, 20, len(frame)) if graded else (rng.random(len(frame)) < rates).astype(int)
    )
    frame["w"] = rng.integers(1, 5, len(item))[frame["item"]]
    options = {"rng": 1, "n_resamples": 100, "confidence_level": draw(st.sampled_from([0.8, 0.95]))}
    pairing = {"factor": "model", "item": "item"} | draw(
        st.sampled_from([{}, {"weights": "w"}, {"baseline": "A"}])
    )
    pairing |= draw(st.sampled_from([{}, {"margin": 10.0 if graded else 0.1}]))
    cluster = draw(st.sampled_from(["doc", ["doc", "prompt"]]))
    return (
        frame,
        cluster,
        ["model"],
        pairing,
        options | ({"score": "score"} if draw(st.booleans()) else {}),
        graded,
    )


@given(any_results())
@settings(max_examples=6)
def test_all_of_a_report_prints_the_numbers_of_the_methods(drawn):
    """HTML, Markdown, the sentence and the table of a result, to the last printed digit, whatever the data."""
    requires("jinja2")
    data, cluster, keys, pairing, options, graded = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_render, "available", lambda: False)
        made = quiet(lambda: data.evalci.report(cluster, **pairing, **options))
        case = (data, cluster, keys, pairing, options | {"graded": graded}, made)
        results_are_those_of_the_methods(case)
        printed_numbers_are_the_methods(case)
        says_the_same_in_markdown(case)
        sentence_holds_the_numbers(case)
        dict_holds_every_number(case)
    rates, pairs = report.table(made.rates).data, report.table(made.comparison).data
    percent = made.speech.percent
    assert rates.iloc[:, 0].tolist() == [
        f"{said(r['estimate'], percent)}{' %' if percent else ''} {limits(r, percent)}"
        for _, r in made.rates.iterrows()
    ]
    assert pairs.iloc[:, 0].tolist() == [
        f"{said(r['difference'], percent, True)}{' points' if percent else ''} {limits(r, percent, True)}"
        for _, r in made.comparison.iterrows()
    ]


@given(st.randoms())
@settings(max_examples=5)
def test_the_order_of_the_rows_does_not_matter(random):
    frame = datasets.load_rag_eval()
    order = list(range(len(frame)))
    random.shuffle(order)
    options = {
        "factor": "model",
        "item": "item",
        "rng": 5,
        "pairs": [("boreal", "cascade")],
        "n_resamples": 199,
    }
    found, other = (f.evalci.report("doc_id", **options).to_dict() for f in (frame, frame.iloc[order]))
    by_name = [{one["keys"]["model"]: one for one in made["systems"]} for made in (found, other)]
    assert same(*by_name)
    assert same(found["comparisons"], other["comparisons"])


def test_warnings_are_all_there_once_and_not_raised():
    frame = few()
    made = frame.evalci.report("doc_id", factor="model", item="item", rng=1)  # warnings are errors here
    calls = {
        "cluster_ci": lambda: frame.evalci.cluster_ci("doc_id", by="model"),
        "design_effect": lambda: frame.evalci.design_effect("doc_id", by="model"),
        "compare": lambda: frame.evalci.compare("model", item="item", cluster="doc_id", rng=1),
    }
    expected = []
    for about, call in calls.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        expected += [(one.category.__name__, str(one.message), about) for one in caught]
    assert len(expected) > 3
    assert [(one.kind, one.message, one.about) for one in made.warnings] == expected
    page = Page(made.to_html()).text
    for one in made.warnings:
        assert one.message in page
        assert one.meaning == getattr(ex, one.kind).__doc__
        assert one.meaning in page


def test_a_warning_said_by_two_methods_stands_once(rag):
    gone = rag.assign(score=rag["score"].astype(float).where(rag.index != 7))
    made = gone.evalci.report("doc_id", by="model", nan_policy="omit")
    assert [(one.kind, one.about) for one in made.warnings] == [("MissingScoreWarning", "cluster_ci")]
    assert made.rates["n"].tolist() == [199, 200, 200]


def test_warnings_of_others_are_passed_on():
    findings = Findings()
    with pytest.warns(DeprecationWarning, match="of another"):
        assert (
            findings.of("cluster_ci", lambda: warnings.warn("of another", DeprecationWarning, stacklevel=1))
            is None
        )
    assert findings.all == ()


def torn(n_clusters=12, size=20):
    """Two systems that part by whole clusters: much evidence if these are ignored, little if not."""
    rows = []
    for g in range(n_clusters):
        for i in range(size):
            for name in ("a", "b"):
                score = 1 if name == "a" and g < 8 else 1 if name == "b" and g >= 8 else 0
                rows.append({"model": name, "doc": g, "item": g * size + i, "score": score})
    return pd.DataFrame(rows)


def test_says_which_findings_ignoring_the_clusters_makes_and_misses():
    made = torn().evalci.report("doc", factor="model", item="item", rng=1)
    assert made.naive_comparison["pvalue_adj"].item() < 0.001
    assert made.comparison["pvalue_adj"].item() > 0.1
    claim = f"Ignoring the clusters, a finding would have been claimed that the data do not support at this level: a {MINUS} b."
    assert claim in made.to_markdown()
    turned = dataclasses.replace(made, comparison=made.naive_comparison, naive_comparison=made.comparison)
    assert f"Ignoring the clusters, a finding would have been missed: a {MINUS} b." in turned.to_markdown()
    same_findings = "Ignoring the clusters would have led to the same findings"
    assert same_findings in dataclasses.replace(made, naive_comparison=made.comparison).to_markdown()
    assert (
        same_findings
        in dataclasses.replace(made, settings=made.settings | {"confidence_level": 0.01}).to_markdown()
    )
    gate = torn().evalci.report("doc", factor="model", item="item", margin=0.05)
    assert gate.comparison["verdict"].item() == "inconclusive"
    assert gate.naive_comparison["verdict"].item() == "noninferior"
    unknown = dataclasses.replace(gate, comparison=gate.comparison.assign(verdict="")).to_markdown()
    assert claim in unknown
    assert "| not known |" in unknown
    assert "noninferiority at a margin of 5.0 points: not known" in unknown
    assert claim in gate.to_markdown()


def test_an_interval_that_reaches_past_the_margin_beside_a_verdict_is_explained(rag):
    sides = "judged by a one-sided test at 10 %"
    shared = {"factor": "model", "item": "item", "pairs": [("boreal", "atlas")], "confidence_level": 0.9}
    made = rag.evalci.report("doc_id", margin=0.02, **shared)
    row = made.comparison.iloc[0]
    assert row["ci_low"] < -0.02
    assert row["verdict"] == "noninferior"
    assert sides in made.to_markdown()
    assert sides in made.to_html()
    two_sided = rag.evalci.report("doc_id", margin=0, claim="superiority", **shared)
    assert two_sided.comparison["pvalue_verdict"].item() == two_sided.comparison["pvalue"].item()
    for other in (two_sided, rag.evalci.report("doc_id", rng=1, **shared)):
        assert sides not in other.to_markdown()


def test_what_is_not_covered_has_a_place_for_each_answer(rag):
    said_so = {"label error": "2 of 100 wrong", "judge drift": "not seen", "prompt choice": " "}
    made = rag.evalci.report("doc_id", by="model", not_covered=said_so)
    answers = {gap.name: gap.answer for gap in made.not_covered}
    assert answers == dict.fromkeys(KNOWN) | {"label error": "2 of 100 wrong", "judge drift": "not seen"}
    page = Page(made.to_html()).text
    assert page.count("Not assessed.") == len(KNOWN) - 1
    assert "Assessed: 2 of 100 wrong" in page
    assert "Assessed: not seen" in page
    assert "7 other errors come on top, of which 2 were assessed" in " ".join(page.split())


def test_methods_that_ran_are_named_with_their_sources(case):
    made = case[-1]
    ran = {one.name for one in made.methods}
    assert set(made.rates["method"]) | set(made.naive["method"]) <= ran
    if made.comparison is not None:
        assert set(made.comparison["method"]) <= ran
    page = Page(made.to_html())
    for one in made.methods:
        for source in one.sources:
            assert source.text in page.text
    assert f"evalci-accessor {made.versions['evalci-accessor']}" in page.text
    modules = {"numpy": np, "pandas": pd, "scipy": __import__("scipy"), "xarray": __import__("xarray")}
    assert made.versions | {name: module.__version__ for name, module in modules.items()} == made.versions
    text = made.to_markdown()
    assert all(f"<{source.url}>" in text for one in made.methods for source in one.sources if source.url)
    assert ("Crossed clusterings" in {one.role for one in made.methods}) == isinstance(case[1], list)


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (methods.RATE, options.ClusterMethod), (methods.DIFFERENCE, options.DiffMethod), (methods.TEST, options.CompareTest),
        (methods.CORRECTION, options.Correction), (methods.VERDICT, options.Claim),
    ],
)  # fmt: skip
def test_every_method_has_its_words(texts, names):
    assert set(texts) == set(typing.get_args(names)) - {"auto"}
    for about in texts.values():
        assert about.sentence.endswith(".")
        for source in about.sources:
            assert re.search(r"\(\d{4}\)", source.text)
            addresses = (
                r"doi\.org/10\.\d{4,}/\S+|www\.jstor\.org/stable/\d+|pmc\.ncbi\.nlm\.nih\.gov/articles/PMC\d+"
            )
            assert re.fullmatch(rf"|https://({addresses})", source.url)


NASTY = ["<script>alert(1)</script>", "a|b `c` *d* [x](y) & \"q\" 'r' --> ]]>", "</svg></style>\x00 $x$"]
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "section", "h1", "h2", "h3", "p", "blockquote", "table", "caption",
    "thead", "tbody", "tr", "th", "td", "span", "figure", "div", "figcaption", "dl", "dt", "dd", "ul", "li", "a",
    "svg", "defs", "g", "path", "use", "clippath", "rect",
}  # fmt: skip


def harmless(page):
    """No tag that a report does not make, no handler, and no address but those of publications."""
    assert {tag for tag, _ in page.tags} <= ALLOWED
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
        assert "src" not in attributes
        href = attributes.get("href")
        if href is not None:
            assert href.startswith(
                "#"
                if tag == "use"
                else ("https://doi.org/10.", "https://www.jstor.org/", "https://pmc.ncbi.nlm.nih.gov/")
            )


def small(names):
    """Two or more systems on twelve items in six clusters."""
    rows = [(k, i, i // 2, (i * 7 + k) % 3 > 0) for k in range(len(names)) for i in range(12)]
    frame = pd.DataFrame(rows, columns=["model", "item", "doc", "score"])
    return frame.assign(model=np.array(names, dtype=object)[frame["model"]])


def test_text_shows_as_it_was_written(tmp_path):
    frame = small(NASTY).rename(columns={"doc": "<b>doc</b>", "score": "<s>right</s>", "model": "<em>m</em>"})
    made = frame.evalci.report(
        "<b>doc</b>", score="<s>right</s>", factor="<em>m</em>", item="item", rng=1,
        title="<i>T\ud800</i>", nouns=("<u>\"q\" onclick='x'</u>", "d & e"),
        not_covered={"label error": "<img src=x onerror=alert(1)>", "<u>own</u>": "1. * x"},
    )  # fmt: skip
    page = Page(made.to_html(tmp_path / "report.html"))
    harmless(page)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == made.to_html()
    shown = [*NASTY[:2], "</svg></style>\ufffd $x$"]
    assert [row[0] for row in page.table("Mean of")[1:]] == shown
    roles = {
        "table": "table",
        "tr": "row",
        "td": "cell",
    }  # said to browsers that forget them in a phone's layout
    assert {(tag, told["role"]) for tag, told in page.tags if tag in roles} == {*roles.items()}
    assert ("h1", "<i>T\ufffd</i>") in page.headings
    assert "Assessed: <img src=x onerror=alert(1)>" in page.text
    part = Page(made._repr_html_())
    harmless(part)
    assert {tag for tag, _ in part.headings} == {"h2", "h3"}  # a notebook has its own title
    assert part.tables == page.tables
    text = made.to_markdown(tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == text
    assert not re.search(r"<(?!https://)", text)
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (5, 8, 9, 6)


def test_names_are_whole_and_numbers_say_of_what():
    long = "x" * 150
    made = small([long, 7, True]).evalci.report("doc", factor="model", item="item", rng=1)
    page = Page(made.to_html())
    assert [row[0] for row in page.table("Mean of")[1:]] == [long, "model = 7", "model = True"]
    pairs = {row[0] for row in page.table("Differences, first")[1:]}
    assert pairs == {
        f"{long} {MINUS} model = 7",
        f"{long} {MINUS} model = True",
        f"model = 7 {MINUS} model = True",
    }
    assert long in made.to_markdown()


NAMES = st.text(min_size=1, max_size=80).filter(str.strip)


@given(st.lists(NAMES, min_size=2, max_size=3, unique_by=lambda name: " ".join(name.split())))
@settings(max_examples=6)
def test_any_name_stays_text(names):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_render, "available", lambda: False)
        made = quiet(lambda: small(names).evalci.report("doc", by="model"))
        page = Page(made.to_html())
    harmless(page)
    unseen = "[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
    expected = [re.sub(unseen, "\ufffd", " ".join(name.split())) for name in names]
    assert [row[0] for row in page.table("Mean of")[1:]] == expected


def test_without_matplotlib_the_page_says_so(rag, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.axes", None)
    made = rag.evalci.report("doc_id", factor="model", item="item", rng=1)
    page = Page(made.to_html())
    assert page.text.count("Matplotlib is not installed") == 2
    assert not [tag for tag, _ in page.tags if tag in ("svg", "figure")]
    assert len(page.tables) == 5
    assert "Matplotlib" not in made.to_markdown()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"baseline": "atlas"}, ex.MethodError, "baseline= belongs to a comparison"),
        ({"sample": "item"}, ex.MethodError, "name what tells the items apart with item="),
        ({"margin": 0.1}, ex.MethodError, "margin= and claim= belong to a comparison"),
        ({"factor": "model"}, ex.MethodError, "item= must name what pairs their scores"),
        ({"factor": "model", "item": "item", "claim": "superiority"}, ex.MethodError, "give it with margin="),
        ({"not_covered": ["label error"]}, ex.MethodError, "must be a dict .* got list"),
        ({"not_covered": {"Label errors": "2"}}, ex.MethodError, "'Label errors', which would .* Did you mean 'label error'"),
        ({"not_covered": {"label error": 2}}, ex.MethodError, "must be text throughout.*'label error': 2"),
        ({"nouns": "ab"}, ex.MethodError, "must be two words.*'ab'"),
        ({"nouns": ("a", "")}, ex.MethodError, "must be two words"),
        ({"title": 3}, ex.MethodError, "title= must be text; got int"),
        ({"by": "nobody"}, ex.ColumnNotFoundError, "nobody"),
    ],
)  # fmt: skip
def test_errors_say_what_is_allowed(rag, options, error, match):
    with pytest.raises(error, match=match):
        rag.evalci.report("doc_id", **options)


def test_nothing_to_report_is_an_error(rag):
    with pytest.raises(ex.ScoreError, match="nothing to report"):
        rag.iloc[:0].evalci.report("doc_id", by="model")


def test_options_reach_their_methods(rag):
    made = rag.evalci.report(
        "doc_id", factor="model", item="item", method="cr1", diff_method="cr2", correction="bh", confidence_level=0.8,
        n_resamples=199, rng=4, percent=False, baseline="atlas",
    )  # fmt: skip
    assert set(made.rates["method"]) == {"cr1"}
    assert set(made.comparison["method"]) == {"cr2"}
    assert set(made.comparison["correction"]) == {"bh"}
    assert set(made.comparison["model_b"]) == {"atlas"}
    for frame in (made.rates, made.naive, made.clustering, made.comparison, made.naive_comparison):
        assert set(frame["confidence_level"]) == {0.8}
    assert made.settings == {
        "confidence_level": 0.8, "n_resamples": 199, "rng": 4, "weights": None, "items_count_alike": False,
    }  # fmt: skip
    assert "80 % interval" in made.sentence
    assert "0.695 [" in Page(made.to_html()).table("Mean of")[1][1]


def test_weights_are_said(rag):
    frame = rag.assign(w=np.where(rag["item"] % 2, 1.0, 3.0))
    made = frame.evalci.report("doc_id", factor="model", item="item", weights="w", rng=4)
    expected = [
        np.average(own["score"], weights=np.where(own["item"] % 2, 1, 3))
        for _, own in rag.groupby("model", sort=False)
    ]
    assert made.rates["estimate"].tolist() == pytest.approx(expected)
    assert "On 200 items in 40 clusters of doc_id (weighted by w), atlas scored" in made.sentence
    assert "Mean of score (weighted by w)" in made.to_markdown()
    assert made.to_dict()["settings"]["weights"] == "w"


@pytest.mark.parametrize("options", [{"factor": "model"}, {"by": "model"}])
@pytest.mark.parametrize("weights", [None, "w"])
def test_items_count_alike_however_many_samples_they_have(options, weights):
    """So that a difference is that of the scores beside it, and a score is pass@1."""
    frame = uneven().assign(w=lambda d: 1.0 + d["item"] % 2)
    made = frame.evalci.report("repo_id", item="item", sample="sample", weights=weights, rng=1, **options)
    per_item = frame.groupby(["model", "item"])[["score", "w"]].mean().reset_index()
    expected = [
        np.average(own["score"], weights=None if weights is None else own["w"])
        for _, own in per_item.groupby("model", sort=False)
    ]
    assert made.rates["estimate"].tolist() == pytest.approx(expected)
    assert made.rates["estimate"].tolist() != pytest.approx(
        frame.groupby("model", sort=False)["score"].mean().tolist()
    )
    pass_at_1 = frame.evalci.pass_at_k(
        1, item="item", cluster="repo_id", sample="sample", by="model", weights=weights, rng=1
    )
    assert made.rates["estimate"].tolist() == pytest.approx(pass_at_1["estimate"].tolist())
    assert made.n_items == [80, 80]
    if options.get("factor"):
        (pair,) = made.to_dict()["comparisons"]
        assert pair["difference"] == pytest.approx(expected[0] - expected[1])
    how = "weighted by w" if weights else "counted alike"
    assert (
        f"samples of 80 items in 20 clusters of repo_id (items {how}, however many samples each has)"
        in made.sentence
    )


@pytest.mark.parametrize("cluster", ["repo_id", ["repo_id", "prompt"]])
@pytest.mark.parametrize("weights", [None, "w"])
def test_items_that_count_alike_have_the_interval_of_those_weights(cluster, weights):
    """One over the samples that are left of the item, times its weight, whatever was missing."""
    frame = uneven().assign(w=lambda d: 1.0 + d["item"] % 2, prompt=lambda d: d["item"] % 7)
    frame["score"] = frame["score"].astype(float).mask(np.random.default_rng(2).random(len(frame)) < 0.1)
    options = {"by": "model", "nan_policy": "omit"}
    made = quiet(
        lambda: frame.evalci.report(cluster, item="item", sample="sample", weights=weights, **options)
    )
    kept = frame.dropna(subset=["score"])
    share = kept["w"] if weights else 1.0
    kept = kept.assign(each=share / kept.groupby(["model", "item"])["score"].transform("size"))
    by_hand = quiet(lambda: kept.evalci.cluster_ci(cluster, by="model", weights="each"))
    naive = kept.evalci.proportion_ci(by="model", weights="each")
    for found, expected in ((made.rates, by_hand), (made.naive, naive)):
        for column in ("estimate", "ci_low", "ci_high", "n", "n_clusters"):
            assert found[column].tolist() == pytest.approx(expected[column].tolist(), rel=1e-9)


def test_samples_of_one_system_are_samples():
    """Rows of repeated samples are not called items; a cube says the same."""
    frame, cube = datasets.load_code_eval(), datasets.load_code_eval_cube()
    made = frame.evalci.report("repo_id", item="item", sample="sample", by="model")
    assert made.sentence.startswith("On 800 samples of 80 items in 20 clusters of repo_id, atlas scored")
    assert [one["n_items"] for one in made.to_dict()["systems"]] == [80, 80]
    for data in (cube, cube["score"]):
        assert same(data.evalci.report("repo_id", sample="sample").to_dict(), made.to_dict())
        assert same(data.evalci.report("repo_id", item="item", sample="sample").to_dict(), made.to_dict())
    unsaid = frame.evalci.report("repo_id", by="model")
    assert unsaid.sentence.startswith("On 800 scores in 20 clusters of repo_id")
    pd.testing.assert_frame_equal(unsaid.rates, made.rates)
    holes = cube.assign(score=cube["score"].where((cube["item"] % 3 > 0) | (cube["sample"] < 2)))
    rows = holes["score"].to_dataframe().reset_index().dropna()
    of_cube = holes.evalci.report("repo_id", factor="model", sample="sample", nan_policy="omit", rng=1)
    of_rows = rows.evalci.report("repo_id", factor="model", item="item", sample="sample", rng=1)
    assert of_cube.settings["items_count_alike"]
    for column in ("estimate", "ci_low"):
        assert of_cube.rates[column].tolist() == pytest.approx(of_rows.rates[column].tolist())


def test_items_without_a_factor_are_counted_and_checked():
    code = datasets.load_code_eval()
    pooled = code.evalci.report("repo_id", item="item", sample=None)
    assert [one.kind for one in pooled.warnings] == ["PooledSamplesWarning"]
    assert pooled.sentence.startswith("On 1,600 samples of 80 items")
    with pytest.raises(ex.SamplesError, match="have two scores or more"):
        code.evalci.report("repo_id", item="item", sample="sample")  # of two models
    local = datasets.load_rag_eval().assign(item=lambda d: d["item"] % 5)
    with pytest.raises(ex.ClusterError, match=r"item=\['doc_id', 'item'\]"):
        local.evalci.report("doc_id", item="item", by="model")


def test_clusters_of_one_item_change_no_finding(rag):
    """The p-values beside each other come from the same kind of test, so only the clusters can part them."""
    made = rag.evalci.report("item", factor="model", item="item", rng=1)
    assert made.naive_comparison["pvalue"].tolist() == pytest.approx(
        made.comparison["pvalue"].tolist(), rel=1e-6
    )
    assert "Ignoring the clusters would have led to the same findings" in made.to_markdown()


@pytest.mark.parametrize(
    ("claim", "margin", "said"),
    [
        (
            "noninferiority", 0.05,
            "Noninferiority is judged by a one-sided test at 5 %, whose p is shown; the interval leaves out 2.5 % on each side",
        ),
        ("superiority", 0.05, "Superiority is judged by a one-sided test at 5 %, whose p is shown;"),
        ("equivalence", 0.05, "Equivalence is judged by two one-sided tests at 5 %, of whose p the larger is shown;"),
        ("superiority", 0.0, "Superiority at a margin of 0 is tested at 5 % for either direction, as by the interval."),
    ],
)  # fmt: skip
def test_a_verdict_says_its_level_and_whose_p_it_is(claim, margin, said):
    """All for one system, four documents: noninferior at 5 % on one side, beside an interval that reaches past the margin."""
    frame = pd.DataFrame(
        {"model": ["a"] * 12 + ["b"] * 12, "item": [*range(12)] * 2, "score": [1] * 12 + [0] * 12}
    )
    made = frame.assign(doc=frame["item"] // 3).evalci.report(
        "doc", factor="model", item="item", margin=margin, claim=claim
    )
    row = made.comparison.iloc[0]
    if claim == "noninferiority":
        assert row["verdict"] == "noninferior"
        assert row["ci_low"] < -0.05
    assert said in made.sentence
    assert said in " ".join(made.to_markdown().split("## In words")[0].split())
    assert f"{row['verdict']}, p = {said_p(row['pvalue_verdict'])}" in made.sentence


def test_differences_of_other_items_than_the_scores_are_told(rag):
    words = "Differences are of the items that both systems have, and so need not be those of the scores."
    options = {"factor": "model", "item": "item", "pairs": [("atlas", "boreal")], "rng": 1}
    whole = rag.evalci.report("doc_id", **options)
    assert words not in whole.to_markdown()
    holes = rag.drop(rag.query("model == 'atlas' and item < 20").index)
    made = quiet(lambda: holes.evalci.report("doc_id", unmatched="drop", **options))
    shown = made.rates.set_index("model")["estimate"]
    assert made.comparison["difference"].item() != pytest.approx(shown["atlas"] - shown["boreal"])
    assert words in made.sentence
    assert words in made.to_markdown().split("## In words")[0]


def test_several_comparisons_say_what_was_corrected(rag):
    options = {"factor": "model", "item": "item", "rng": 1, "n_resamples": 199}
    report_of = lambda **more: rag.evalci.report("doc_id", **(options | more)).sentence  # noqa: E731
    assert (
        "The p-values are corrected for 3 comparisons (holm); each interval is of its own pair alone."
        in report_of()
    )
    assert "Neither the p-values nor the intervals of the 3 comparisons are corrected" in report_of(
        correction="none"
    )
    assert "Each of the 3 verdicts is of its own pair alone" in report_of(margin=0.05)
    assert "correct" not in report_of(pairs=[("atlas", "boreal")])

    def tables(**more):
        return rag.evalci.report("doc_id", **(options | more)).to_markdown().split("## In words")[0]

    assert (
        "(holm), and so, in another way, are the intervals for all pairs together: one may find a" in tables()
    )
    assert "Of the 3 comparisons only the intervals for all pairs together are corrected" in tables(
        correction="none"
    )


@pytest.mark.parametrize(
    ("rng", "method", "said"),
    [
        (None, "auto", "Nothing was drawn"), (7, "bootstrap_percentile", "199 resamples where a method draws; seed 7."),
        (None, "bootstrap_percentile", "no seed was given"),
        (np.random.default_rng(1), "bootstrap_percentile", "drawn from a Generator that was passed in"),
    ],
)  # fmt: skip
def test_randomness_is_told(rng, method, said):
    data = datasets.load_rag_eval()
    made = quiet(lambda: data.evalci.report("doc_id", by="model", rng=rng, method=method, n_resamples=199))
    assert said in made.to_markdown()
    json.dumps(made.to_dict(), allow_nan=False)


def test_each_thread_has_its_own_warnings():
    """Two reports whose methods run in turns: neither takes the other's warnings, nor mutes those of a third thread."""
    from evalci_accessor import exceptions as _warn

    inside, done = threading.Barrier(3, timeout=60), threading.Barrier(3, timeout=60)
    made = {}

    def run(name, call):
        with _warn.held() as said:
            inside.wait()
            call()
            done.wait()
        made[name] = [message for message, _ in said]

    frame = few()
    calls = {
        "few": lambda: frame.evalci.report("doc_id", by="model"),
        "loud": lambda: frame.evalci.cluster_ci("doc_id", by="model"),
    }
    threads = [threading.Thread(target=run, args=pair) for pair in calls.items()]
    for thread in threads:
        thread.start()
    inside.wait()  # both hold theirs back
    with pytest.warns(ex.EvalCIWarning) as own:
        frame.evalci.cluster_ci("doc_id", by="model")
    done.wait()
    for thread in threads:
        thread.join(60)
    assert made["few"] == []  # they are part of the report
    assert made["loud"] == [str(one.message) for one in own] != []


@pytest.mark.parametrize("method", ["cluster_ci", "compare", "diff_ci"])
def test_defaults_are_those_of_the_methods(rag, cube, method):
    for data in (rag, rag["score"], cube, cube["score"]):
        own = inspect.signature(data.evalci.report).parameters
        asked = inspect.signature(getattr(data.evalci, method)).parameters
        shared = (set(own) & set(asked)) - {
            "cluster",
            "factor",
            "item",
        }  # these may be left out, or are asked for
        assert {"confidence_level", "nan_policy", "n_resamples", "rng"} <= shared
        assert {name: own[name].default for name in shared} == {name: asked[name].default for name in shared}


def test_words_for_items_and_clusters(rag):
    made = rag.evalci.report("doc_id", by="model", nouns=("questions", "documents"))
    assert "On 200 questions in 40 documents, atlas scored 69.5 %" in made.sentence
    assert Page(made.to_html()).table("Mean of")[0][2:] == ["Questions", "Documents"]
    assert repr(made) == "<Report 'score, clustered by doc_id': 3 rows, 0 comparisons, 0 warnings>"


def test_the_module_is_reached_by_its_name():
    import evalci_accessor

    assert evalci_accessor.report is report
