"""Results as tables for a notebook: the numbers of the result in words, on pandas' Styler."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from conftest import requires
from evalci_accessor import datasets, report
from evalci_accessor import exceptions as ex

from .pages import Page

requires("jinja2")


def result(**columns):
    given = {
        "model": ["a", "b"], "estimate": [0.7391, 0.5], "ci_low": [0.6571, 0.0], "ci_high": [0.8114, 1.0], "n": [6511, 12],
        "n_clusters": [27, 3], "cluster": "task", "method": "icc_averaged", "confidence_level": 0.95,
    }  # fmt: skip
    return pd.DataFrame(given | columns)


def test_a_rate_reads_as_it_would_be_written():
    styled = report.table(result(), nouns=("items", "tasks"))
    assert styled.data.iloc[0].tolist() == [
        "73.9 % [65.7, 81.1]", "6,511 items in 27 tasks", "icc_averaged",
    ]  # fmt: skip
    assert report.table(result()).data["rests on"].tolist() == [
        "6,511 items in 27 clusters of task", "12 items in 3 clusters of task",
    ]  # fmt: skip
    assert styled.data.columns.tolist() == ["estimate [95 % interval]", "rests on", "method"]
    two = report.table(result(confidence_level=[0.95, 0.9])).data
    assert two["confidence_level"].tolist() == ["0.95", "0.9"]
    assert two.columns[0] == "estimate"
    bare = result()[["model", "estimate", "ci_low", "ci_high"]]
    assert report.table(bare).data.columns.tolist() == ["estimate [interval]"]
    assert report.table(bare.assign(n=1234)).data["rests on"].iloc[0] == "1,234 items"
    naive = report.table(result(cluster=""))
    assert naive.data["rests on"].iloc[0] == "6,511 items, taken as independent"
    crossed = report.table(result(cluster="task + prompt"))
    assert crossed.data["rests on"].iloc[0] == "6,511 items in at least 27 clusters of task and of prompt"


@pytest.mark.parametrize(
    ("point", "percent", "expected"),
    [
        (0.73949, None, "73.9 % [0.0, 100.0]"), (0.0, None, "0.0 % [0.0, 100.0]"), (0.73949, False, "0.7395 [0, 1]"),
        (np.nan, None, "not known"),
    ],
)  # fmt: skip
def test_estimates_are_rounded_for_reading_alone(point, percent, expected):
    frame = result(estimate=point, ci_low=0.0, ci_high=1.0)
    before = frame.copy()
    assert report.table(frame, percent=percent).data.iloc[0, 0] == expected
    pd.testing.assert_frame_equal(frame, before)


def test_results_of_all_methods_and_containers(rag, cube):
    honest = rag.evalci.cluster_ci("doc_id", by="model")
    of_frame = report.table(honest).data
    assert of_frame.index.tolist() == ["atlas", "boreal", "cascade"]
    for row, text in zip(honest.itertuples(), of_frame.iloc[:, 0], strict=True):
        assert text == f"{100 * row.estimate:.1f} % [{100 * row.ci_low:.1f}, {100 * row.ci_high:.1f}]"
    pd.testing.assert_frame_equal(report.table(cube.evalci.cluster_ci("doc_id")).data, of_frame)
    both = pd.concat([honest, rag.evalci.proportion_ci(by="model")], ignore_index=True)
    assert report.table(both).data.index.is_unique
    pairs = rag.evalci.compare("model", item="item", cluster="doc_id", rng=1)
    shown = report.table(pairs).data
    twice = pd.concat([pairs, rag.evalci.compare("model", item="item", rng=1)], ignore_index=True)
    assert report.table(twice).data.index.is_unique
    first = pairs.iloc[0]
    assert shown.index[0] == "boreal \N{MINUS SIGN} cascade"
    assert shown.iloc[0, :4].tolist() == [
        f"+{100 * first.difference:.1f} points [+{100 * first.ci_low:.1f}, +{100 * first.ci_high:.1f}]",
        f"{first.only_a:.0f}, {first.only_b:.0f}",
        f"[+{100 * first.simultaneous_low:.1f}, +{100 * first.simultaneous_high:.1f}]",
        f"{first.pvalue_adj:.3f}".removeprefix("0"),
    ]
    gate = rag.evalci.diff_ci("model", item="item", cluster="doc_id", baseline="atlas", margin=0.02)
    assert report.table(gate).data["verdict"].str.startswith("inconclusive, p = ").all()
    code = datasets.load_code_eval().evalci.pass_at_k(
        [1, 2], item="item", cluster="repo_id", by="model", rng=1
    )
    rows = report.table(code).data
    assert rows.index.is_unique
    assert rows["rests on"].iloc[0] == "80 items in 20 clusters of repo_id"


def test_tests_and_clusterings_have_words_too(rag, cube):
    pairs = rag.evalci.mcnemar("model", item="item", cluster="doc_id")
    shown = report.table(pairs, nouns=("questions", "documents")).data
    assert shown.columns.tolist() == ["difference", "only first, only second", "p", "rests on", "method"]
    assert shown.index[0] == f"{pairs['model_a'][0]} \N{MINUS SIGN} {pairs['model_b'][0]}"
    first = pairs.iloc[0]
    assert shown.iloc[0, :4].tolist() == [
        f"{100 * first.difference:+.1f} points".replace("-", "\N{MINUS SIGN}"), f"{first.only_a:.0f}, {first.only_b:.0f}",
        f"{first.pvalue:.3f}".removeprefix("0"), "200 questions in 40 documents",
    ]  # fmt: skip
    scan = rag.evalci.design_effect(["doc_id", "template_id"], by="model")
    shown = report.table(scan).data
    assert len(shown) == len(scan) == shown.index.nunique()
    for (_, row), text in zip(scan.iterrows(), shown.itertuples(index=False), strict=True):
        icc = "not known" if np.isnan(row.icc) else f"{row.icc:.2f} [{row.icc_low:.2f}, {row.icc_high:.2f}]"
        effective = f"{row.n_eff:,.1f} independent items"
        assert text[:3] == (icc.replace("-", "\N{MINUS SIGN}"), f"{row.design_effect:.2f}", effective)
    of_cube = report.table(cube.evalci.mcnemar("model", cluster="doc_id")).data
    pd.testing.assert_frame_equal(of_cube, report.table(pairs).data)
    difference = cube.evalci.diff_ci("model", cluster="doc_id", margin=0.02)
    of_frame = rag.evalci.diff_ci("model", item="item", cluster="doc_id", margin=0.02)
    pd.testing.assert_frame_equal(report.table(difference).data, report.table(of_frame).data)


def test_latex_has_escapes_of_its_own():
    frame = result(
        model=["[50%] a_b & c", "{$x$}~^\\#<b>"], ci_low=[-np.inf, -0.25], estimate=[-1.0, 0.5], method="m"
    )
    text = report.table(frame, caption="100 % of R&D").to_latex(hrules=True)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert rows[1].startswith(
        r"{}[50\%] a\_b \& c & $-$1 [$-$$\infty$, 0.8114] & 6,511 items in 27 clusters of task & m"
    )
    assert rows[2].startswith(
        r"\{\$x\$\}\textasciitilde{}\textasciicircum{}\textbackslash{}\#\textless{}b\textgreater{} & 0.5 ["
    )
    assert r"\caption{100 \% of R\&D}" in text
    assert text.isascii()
    assert "&amp;" not in text


def test_text_is_escaped_and_the_rows_have_headers():
    name = "<script>alert(1)</script>"
    styled = report.table(result(model=[name, "b"], cluster="<i>task</i>", method="<u>m</u>"), caption=name)
    page = Page(styled.to_html())
    assert not [tag for tag, _ in page.tags if tag in ("script", "i", "u")]
    (rows,) = page.tables.values()
    assert rows[1] == [
        name, "73.9 % [65.7, 81.1]", "6,511 items in 27 clusters of <i>task</i>", "<u>m</u>",
    ]  # fmt: skip
    assert list(page.tables) == [name]


def test_errors_say_what_is_wanted(rag):
    with pytest.raises(
        ex.ColumnNotFoundError, match=r"report\.table takes a result of cluster_ci.*'estimate'"
    ):
        report.table(rag)
    with pytest.raises(ex.MethodError, match=r"report\.table was given a result without rows"):
        report.table(result().iloc[:0])
    with pytest.raises(ex.MethodError, match="nouns= must be two words"):
        report.table(result(), nouns=("items",))
    parts = datasets.load_code_eval().evalci.variance_components(item="item", cluster="repo_id", by="model")
    with pytest.raises(
        ex.ColumnNotFoundError, match=r"takes a result of .*mcnemar or design_effect.*Not there: 'ci_low'"
    ):
        report.table(parts)
    with pytest.raises(ex.MethodError, match=r"report\.table takes a result.*got list"):
        report.table([1])


def test_without_jinja2_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ex.MissingExtraError, match=r"evalci-accessor\[report\]"):
        report.table(result())
