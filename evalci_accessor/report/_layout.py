"""What stands where in a report, before it is put into HTML or Markdown."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import pandas as pd

from evalci_accessor.options import BETWEEN
from evalci_accessor.plot import _frame
from evalci_accessor.report import _content
from evalci_accessor.report._content import (
    N_ITEMS,
    UNKNOWN,
    Content,
    Row,
    Speech,
    level,
    pair_rows,
    ratio,
    rows,
)
from evalci_accessor.stats.methods import Source

Picture: TypeAlias = Literal["forest", "differences"]


@dataclasses.dataclass(frozen=True, slots=True)
class Para:
    """A paragraph; ``quoted`` is meant to be copied."""

    text: str
    quoted: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names the rows."""

    caption: str
    head: list[str]
    cells: list[list[str]]


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A picture, what it shows, and what its lines mean."""

    picture: Picture
    alt: str
    caption: str


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A term, what is said of it, and where from."""

    term: str
    text: str
    sources: tuple[Source, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Entries:
    """Terms with their text."""

    entries: list[Entry]


Block: TypeAlias = Para | Table | Figure | Entries
Column: TypeAlias = tuple[str, Callable[[Row], str]]


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it."""

    heading: str
    blocks: Sequence[Block]


def sections(content: Content) -> list[Section]:
    """The whole content."""
    found = [Section("Scores", _scores(content))]
    if content.comparison is not None:
        found.append(Section("Comparisons", _comparisons(content, content.comparison)))
    return [
        *found,
        Section("In words", [Para(_content.sentence(content), quoted=True)]),
        Section("Clustering, and what ignoring it would have claimed", _clustering(content)),
        Section("Warnings", _warnings(content)),
        Section("What the intervals do not cover", _gaps(content)),
        Section("Methods", _methods(content)),
    ]


def _table(caption: str, first: str, found: list[Row], columns: list[Column]) -> Table:
    head = [first, *(name for name, _ in columns)]
    return Table(caption, head, [[row.label, *(cell(row) for _, cell in columns)] for row in found])


def _named(content: Content) -> str:
    return ", ".join(map(str, content.keys)) or "scores"


def _methods_of(frame: pd.DataFrame) -> str:
    return _frame.few([*frame["method"]])


def _scores(content: Content) -> list[Block]:
    speech, found = content.speech, _content.score_rows(content)
    cluster, weighed = found[0].text("cluster"), _content.weighing(content)
    columns: list[Column] = [(f"Estimate [{level(content)}interval]", speech.score)]
    if speech.each == "sample":
        columns += [(_capital(speech.items), lambda r: r.count(N_ITEMS)), ("Samples", lambda r: r.count("n"))]
    else:
        columns.append((_capital(speech.scores), lambda r: r.count("n")))
    least = ", at least" if BETWEEN in cluster else ""
    columns.append((f"{_capital(speech.clusters(cluster))}{least}", lambda r: r.count("n_clusters")))
    what = (
        f"Mean of {content.score}{f' ({weighed})' if weighed else ''} with its interval, and what it rests on"
    )
    lines = (
        f"Thick line and full circle: {level(content)}interval, clustered by {cluster} "
        f"({_methods_of(content.rates)}). Dashed line and open diamond: scores taken as independent "
        f"({_methods_of(content.naive)})."
    )
    picture = Figure("forest", _alt("Scores with their intervals", found), lines)
    return [_table(what, _named(content), found, columns), picture]


def _alt(what: str, found: list[Row]) -> str:
    return f"{what}, {len(found)} row{'' if len(found) == 1 else 's'}; the numbers are in the table above."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _comparisons(content: Content, comparison: pd.DataFrame) -> list[Block]:
    speech, found = content.speech, pair_rows(comparison)
    caption = "Differences, first minus second"
    columns: list[Column] = [(f"Difference [{level(content)}interval]", speech.difference)]
    if any(row.known("only_a") for row in found):
        caption += ", with the items on which the two differ"
        columns += [
            ("Only first, only second passed", lambda r: r.apart),
            ("Both passed, both failed", lambda r: f"{r.count('both_pass')}, {r.count('both_fail')}"),
        ]
    if "verdict" in comparison:
        columns += [
            ("Claim and margin", lambda r: f"{r.text('claim')}, {speech.points(r.number('margin'))}"),
            ("Verdict", lambda r: r.verdict),
        ]
        lines = (
            "Thick line: interval of each pair. Band: the margin. Full circle: a verdict; open circle: "
            "inconclusive."
        )
    elif len(found) == 1:
        columns.append(("p", Row.pvalue))
        lines = "Line: the interval. Full circle: it leaves out zero; open circle: zero lies within."
    else:
        how = comparison["correction"].iloc[0]
        columns += [
            ("Interval for all pairs together", lambda r: _together(speech, r)),
            (f"p ({how})" if how != "none" else "p", Row.pvalue),
        ]
        lines = (
            "Thick line: interval of each pair. Thin line: the one that holds for all pairs together. Full "
            "circle: the latter leaves out zero; open circle: zero lies within."
        )
    columns.append(("Rests on", lambda r: speech.based_on(r, "n_pairs")))
    said = " ".join(_content.remarks(content, comparison, together=True))
    return [
        _table(caption, "Pair", found, columns),
        *([Para(said)] if said else []),
        Figure("differences", _alt("Differences with their intervals", found), lines),
    ]


def _together(speech: Speech, row: Row) -> str:
    return speech.limits(row, "simultaneous", signed=True) if row.known("simultaneous_low") else UNKNOWN


def _clustering(content: Content) -> list[Block]:
    speech, named = content.speech, _named(content)
    columns: list[Column] = [
        ("Cluster", lambda r: r.text("cluster")),
        (f"ICC [{level(content)}interval]", lambda r: r.icc),
        ("Design effect", lambda r: ratio(r.number("design_effect"))),
        ("Effective scores", lambda r: f"{r.number('n_eff'):,.1f}" if r.known("n_eff") else UNKNOWN),
        ("Clusters", lambda r: r.count("n_clusters")),
        ("Scores in the least, middle, largest cluster", _sizes),
        ("Share of the largest", _share),
    ]
    averaged = ""
    if "icc_averaged" in set(content.rates["method"]):
        averaged = (
            " These take one estimate of the ICC. The intervals below average over all values that it could "
            "have, so they may be wider than the design effect says."
        )
    text = (
        "The intracluster correlation (ICC) says how alike the scores of one cluster are (0: as alike as any, 1: all "
        "equal, below 0: less alike than chance makes them), the design effect how many times as large that makes the "
        "variance, and the effective scores how many independent ones would tell as much."
    )
    found = rows(content.clustering, content.keys)
    cells = [
        [one.label, speech.limits(one), speech.limits(other), ratio(_times(one, other))]
        for one, other in zip(
            rows(content.rates, content.keys), rows(content.naive, content.keys), strict=True
        )
    ]
    head = [named, "Interval", "Ignoring the clusters", "Times as wide"]
    blocks: list[Block] = [
        Para(f"{text}{averaged}"),
        _table("How clustered the scores are", named, found, columns),
        Table(_beside("scores", content.rates, content.naive), head, cells),
    ]
    if content.comparison is not None and content.naive_comparison is not None:
        blocks += _ignored(content, content.comparison, content.naive_comparison)
    return blocks


def _beside(what: str, honest: pd.DataFrame, naive: pd.DataFrame) -> str:
    own, other = _methods_of(honest), _methods_of(naive)
    return f"Intervals of the {what}, with the clusters ({own}) and without ({other})"


def _sizes(row: Row) -> str:
    sizes = [row.count(name) for name in ("size_min", "size_median", "size_max")]
    return ", ".join(sizes) if row.known("size_min") else UNKNOWN


def _share(row: Row) -> str:
    return f"{100 * row.number('largest_share'):.1f} %" if row.known("largest_share") else UNKNOWN


def _times(one: Row, other: Row) -> float:
    own, naive = (row.number("ci_high") - row.number("ci_low") for row in (one, other))
    return own / naive if naive else float("nan")


def _ignored(content: Content, comparison: pd.DataFrame, beside: pd.DataFrame) -> list[Block]:
    """The comparisons beside those of independent items, and which findings part."""
    speech, alpha = content.speech, 1 - float(content.settings["confidence_level"])
    if "verdict" in comparison:
        last, what = "Verdict", "a verdict other than inconclusive"
    else:
        last, what = "p", f"a p of at most {f'{alpha:.4g}'.removeprefix('0')}"
    cells, gone, new = [], [], []
    for one, other in zip(pair_rows(comparison), pair_rows(beside), strict=True):
        limits = [speech.limits(row, signed=True) for row in (one, other)]
        said = [(r.text("verdict") or UNKNOWN) if "verdict" in r.cells else r.pvalue() for r in (one, other)]
        cells.append([one.label, *limits, *said])
        if _is_finding(other, alpha) and not _is_finding(one, alpha):
            gone.append(one.label)
        if _is_finding(one, alpha) and not _is_finding(other, alpha):
            new.append(one.label)
    texts = []
    if gone:
        texts.append(
            f"Ignoring the clusters, {_findings(gone)} would have been claimed that the data do not support "
            f"at this level: {'; '.join(gone)}."
        )
    if new:
        texts.append(f"Ignoring the clusters, {_findings(new)} would have been missed: {'; '.join(new)}.")
    if not texts:
        texts.append("Ignoring the clusters would have led to the same findings, with other intervals.")
    head = ["Pair", "Interval", "Ignoring the clusters", last, f"{last} ignoring the clusters"]
    return [
        Table(_beside("differences", comparison, beside), head, cells),
        Para(f"{' '.join(texts)} A finding is {what}."),
    ]


def _is_finding(row: Row, alpha: float) -> bool:
    if "verdict" in row.cells:
        return row.text("verdict") not in ("", "inconclusive")
    return row.number("pvalue_adj") <= alpha


def _findings(labels: list[str]) -> str:
    return "a finding" if len(labels) == 1 else f"{len(labels)} findings"


def _warnings(content: Content) -> list[Block]:
    entries = [Entry(one.meaning, f"{one.message} ({one.kind} of {one.about})") for one in content.warnings]
    return [Entries(entries)] if entries else [Para("None.")]


def _gaps(content: Content) -> list[Block]:
    entries = []
    for gap in content.not_covered:
        assessed = "Not assessed." if gap.answer is None else f"Assessed: {gap.answer}"
        entries.append(Entry(gap.name, f"{gap.why} {assessed}".strip()))
    answered = sum(gap.answer is not None for gap in content.not_covered)
    text = (
        "The intervals say how far the scores may move with the clusters that were drawn. "
        f"{len(entries)} other errors come on top, of which {answered or 'none'} "
        f"{'was' if answered == 1 else 'were'} assessed."
    )
    return [Para(text), Entries(entries)]


def _methods(content: Content) -> list[Block]:
    entries = [Entry(f"{one.role}: {one.name}", one.text, one.sources) for one in content.methods]
    versions = ", ".join(f"{name} {version}" for name, version in content.versions.items())
    run = [Entry("Versions", f"{versions}."), Entry("Randomness", _drawn(content))]
    return [Entries(entries), Entries(run)]


def _drawn(content: Content) -> str:
    """Whether any method drew random numbers, how many, and whether a second run draws the same."""
    names = {one.name for one in content.methods} - {"bootstrap_exact"}
    if not any(name == "sup_t" or name.startswith("bootstrap") for name in names):
        return "Nothing was drawn; a second run gives the same numbers."
    seed = content.settings["rng"]
    source = f"seed {seed}" if isinstance(seed, int) else f"drawn from a {seed} that was passed in"
    if seed is None:
        source = "no seed was given, so what is drawn differs a little from run to run"
    return f"{content.settings['n_resamples']:,} resamples where a method draws; {source}."
