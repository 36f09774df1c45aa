"""What stands where in a report, before it is put into HTML or Markdown."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import pandas as pd

from evalci_accessor.options import BETWEEN
from evalci_accessor.plot import _frame
from evalci_accessor.report._content import (
    N_ITEMS,
    Content,
    Row,
    correction,
    count,
    icc,
    pair_rows,
    pvalue,
    ratio,
    rows,
    score_rows,
    sentence,
    unlike,
    verdict,
    verdict_level,
    weighing,
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
        found.append(Section("Comparisons", _comparisons(content)))
    return [
        *found,
        Section("In words", [Para(sentence(content), quoted=True)]),
        Section("Clustering, and what ignoring it would have claimed", _clustering(content)),
        Section("Warnings", _warnings(content)),
        Section("What the intervals do not cover", _gaps(content)),
        Section("Methods", _methods(content)),
    ]


def _table(caption: str, first: str, found: list[Row], columns: list[Column]) -> Table:
    head = [first, *(name for name, _ in columns)]
    return Table(caption, head, [[row.label, *(cell(row) for _, cell in columns)] for row in found])


def _level(content: Content) -> str:
    return _frame.level(str(content.settings["confidence_level"]))


def _named(content: Content) -> str:
    return ", ".join(map(str, content.keys)) or "scores"


def _scores(content: Content) -> list[Block]:
    speech, found = content.speech, score_rows(content)
    cluster, weighed = found[0].text("cluster"), weighing(content)
    least = ", at least" if BETWEEN in cluster else ""
    counts: list[Column] = [(_capital(speech.scores), lambda r: count(r.number("n")))]
    if speech.each == "sample":
        counts = [
            (_capital(speech.items), lambda r: count(r.number(N_ITEMS))),
            ("Samples", lambda r: count(r.number("n"))),
        ]
    columns: list[Column] = [
        (f"Estimate [{_level(content)}interval]", lambda r: speech.score(*_three(r, "estimate"))),
        *counts,
        (f"{_capital(speech.clusters(cluster))}{least}", lambda r: count(r.number("n_clusters"))),
    ]
    caption = (
        f"Thick line and full circle: {_level(content)}interval, clustered by {cluster} "
        f"({_frame.few([*content.rates['method']])}). Dashed line and open diamond: scores taken as "
        "independent "
        f"({_frame.few([*content.naive['method']])})."
    )
    return [
        _table(
            f"Mean of {content.score}{f' ({weighed})' if weighed else ''} with its interval, and what it "
            "rests on",
            _named(content),
            found,
            columns,
        ),
        Figure("forest", _alt("Scores with their intervals", found), caption),
    ]


def _three(row: Row, point: str) -> tuple[float, float, float]:
    return row.number(point), row.number("ci_low"), row.number("ci_high")


def _alt(what: str, found: list[Row]) -> str:
    return f"{what}, {len(found)} row{'' if len(found) == 1 else 's'}; the numbers are in the table above."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _comparisons(content: Content) -> list[Block]:
    assert content.comparison is not None
    speech, found = content.speech, pair_rows(content.comparison)
    rests: Callable[[Row], str] = lambda r: speech.paired_on(  # noqa: E731
        r.number("n_pairs"), r.number("n_clusters"), r.text("cluster")
    )
    caption, unit = "Differences, first minus second", " points" if speech.percent else ""
    columns: list[Column] = [
        (f"Difference [{_level(content)}interval]", lambda r: speech.difference(*_three(r, "difference")))
    ]
    if any(row.known("only_a") for row in found):
        caption += ", with the items on which the two differ"
        columns += [
            (
                "Only first, only second passed",
                lambda r: f"{count(r.number('only_a'))}, {count(r.number('only_b'))}",
            ),
            (
                "Both passed, both failed",
                lambda r: f"{count(r.number('both_pass'))}, {count(r.number('both_fail'))}",
            ),
        ]
    if "verdict" in content.comparison:
        columns += [
            (
                "Claim and margin",
                lambda r: (
                    f"{r.text('claim')}, {_frame.number(r.number('margin'), percent=speech.percent)}{unit}"
                ),
            ),
            ("Verdict", verdict),
        ]
        lines = (
            "Thick line: interval of each pair. Band: the margin. Full circle: a verdict; "
            "open circle: inconclusive."
        )
    elif len(found) == 1:
        columns.append(("p", lambda r: pvalue(r.number("pvalue_adj"))))
        lines = "Line: the interval. Full circle: it leaves out zero; open circle: zero lies within."
    else:
        how = content.comparison["correction"].iloc[0]
        columns += [
            ("Interval for all pairs together", lambda r: _together(content, r)),
            (f"p ({how})" if how != "none" else "p", lambda r: pvalue(r.number("pvalue_adj"))),
        ]
        lines = (
            "Thick line: interval of each pair. Thin line: the one that holds for all pairs together. Full "
            "circle: the latter "
            "leaves out zero; open circle: zero lies within."
        )
    columns.append(("Rests on", rests))
    said = " ".join(
        filter(None, [unlike(content), verdict_level(content), correction(content, together=True)])
    )
    return [
        _table(caption, "Pair", found, columns),
        *([Para(said)] if said else []),
        Figure("differences", _alt("Differences with their intervals", found), lines),
    ]


def _together(content: Content, row: Row) -> str:
    if not row.known("simultaneous_low"):
        return "not known"
    return content.speech.limits(row.number("simultaneous_low"), row.number("simultaneous_high"), signed=True)


def _clustering(content: Content) -> list[Block]:
    speech = content.speech
    found = rows(content.clustering, content.keys)
    columns: list[Column] = [
        ("Cluster", lambda r: r.text("cluster")),
        (f"ICC [{_level(content)}interval]", icc),
        ("Design effect", lambda r: ratio(r.number("design_effect"))),
        ("Effective scores", lambda r: f"{r.number('n_eff'):,.1f}" if r.known("n_eff") else "not known"),
        ("Clusters", lambda r: count(r.number("n_clusters"))),
        ("Scores in the least, middle, largest cluster", _sizes),
        ("Share of the largest", lambda r: _share(r.number("largest_share"))),
    ]
    averaged = ""
    if "icc_averaged" in set(content.rates["method"]):
        averaged = (
            " These take one estimate of the ICC. The intervals below average over all values that it could "
            "have, so they may be "
            "wider than the design effect says."
        )
    blocks: list[Block] = [
        Para(
            "Scores of one cluster tend to agree. The intracluster correlation (ICC) says how much, the "
            "design effect how many "
            "times as large it makes the variance, and the effective scores how many independent ones would "
            "tell as much."
            f"{averaged}"
        ),
        _table("How clustered the scores are", _named(content), found, columns),
    ]
    honest, naive = rows(content.rates, content.keys), rows(content.naive, content.keys)
    widths = [_times(one, other) for one, other in zip(honest, naive, strict=True)]
    cells = [
        [
            one.label,
            speech.limits(*_three(one, "estimate")[1:]),
            speech.limits(*_three(other, "estimate")[1:]),
            ratio(times),
        ]
        for one, other, times in zip(honest, naive, widths, strict=True)
    ]
    head = [_named(content), "Interval", "Ignoring the clusters", "Times as wide"]
    blocks.append(Table(_beside("scores", content.rates, content.naive), head, cells))
    if content.comparison is not None and content.naive_comparison is not None:
        blocks += _ignored(content, content.comparison, content.naive_comparison)
    return blocks


def _beside(what: str, honest: pd.DataFrame, naive: pd.DataFrame) -> str:
    own, other = (_frame.few([*frame["method"]]) for frame in (honest, naive))
    return f"Intervals of the {what}, with the clusters ({own}) and without ({other})"


def _sizes(row: Row) -> str:
    sizes = [row.number(name) for name in ("size_min", "size_median", "size_max")]
    return ", ".join(count(size) for size in sizes) if sizes[0] == sizes[0] else "not known"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if value == value else "not known"


def _times(one: Row, other: Row) -> float:
    own, naive = (row.number("ci_high") - row.number("ci_low") for row in (one, other))
    return own / naive if naive else float("nan")


def _ignored(content: Content, comparison: pd.DataFrame, beside: pd.DataFrame) -> list[Block]:
    """The comparisons beside those of independent items, and which findings part."""
    speech, verdicts = content.speech, "verdict" in comparison
    honest, naive = pair_rows(comparison), pair_rows(beside)
    last = "Verdict" if verdicts else "p"
    head = ["Pair", "Interval", "Ignoring the clusters", last, f"{last} ignoring the clusters"]
    said: Callable[[Row], str] = (
        (lambda r: r.text("verdict") or "not known")
        if verdicts
        else (lambda r: pvalue(r.number("pvalue_adj")))
    )
    cells = [
        [
            one.label,
            *(speech.limits(*_three(row, "difference")[1:], signed=True) for row in (one, other)),
            said(one),
            said(other),
        ]
        for one, other in zip(honest, naive, strict=True)
    ]
    alpha = 1 - float(content.settings["confidence_level"])
    found: Callable[[Row], bool] = (
        (lambda r: r.text("verdict") not in ("", "inconclusive"))
        if verdicts
        else (lambda r: r.number("pvalue_adj") <= alpha)
    )
    gone = [one.label for one, other in zip(honest, naive, strict=True) if found(other) and not found(one)]
    new = [one.label for one, other in zip(honest, naive, strict=True) if found(one) and not found(other)]
    words = []
    if gone:
        words.append(
            f"Ignoring the clusters, {_findings(len(gone))} would have been claimed that the data do not "
            "support at this level: "
            f"{'; '.join(gone)}."
        )
    if new:
        words.append(
            f"Ignoring the clusters, {_findings(len(new))} would have been missed: {'; '.join(new)}."
        )
    text = (
        " ".join(words) or "Ignoring the clusters would have led to the same findings, with other intervals."
    )
    what = (
        "a verdict other than inconclusive"
        if verdicts
        else f"a p of at most {f'{alpha:.4g}'.removeprefix('0')}"
    )
    return [
        Table(_beside("differences", comparison, beside), head, cells),
        Para(f"{text} A finding is {what}."),
    ]


def _findings(how_many: int) -> str:
    return "a finding" if how_many == 1 else f"{how_many} findings"


def _warnings(content: Content) -> list[Block]:
    if not content.warnings:
        return [Para("None.")]
    return [
        Entries(
            [Entry(one.meaning, f"{one.message} ({one.kind} of {one.about})") for one in content.warnings]
        )
    ]


def _gaps(content: Content) -> list[Block]:
    answered = sum(gap.answer is not None for gap in content.not_covered)
    entries = [
        Entry(
            gap.name,
            " ".join(
                filter(None, [gap.why, "Not assessed." if gap.answer is None else f"Assessed: {gap.answer}"])
            ),
        )
        for gap in content.not_covered
    ]
    return [
        Para(
            "The intervals say how far the scores may move with the clusters that were drawn. "
            f"{len(entries)} other errors come on "
            f"top, of which {answered or 'none'} {'was' if answered == 1 else 'were'} assessed."
        ),
        Entries(entries),
    ]


def _methods(content: Content) -> list[Block]:
    entries = [Entry(f"{one.role}: {one.name}", one.text, one.sources) for one in content.methods]
    versions = ", ".join(f"{name} {version}" for name, version in content.versions.items())
    return [
        Entries(entries),
        Entries([Entry("Versions", f"{versions}."), Entry("Randomness", _drawn(content))]),
    ]


def _drawn(content: Content) -> str:
    """Whether any method drew random numbers, how many, and whether a second run draws the same."""
    names = [one.name for one in content.methods]
    if not any(
        name == "sup_t" or (name.startswith("bootstrap") and name != "bootstrap_exact") for name in names
    ):
        return "Nothing was drawn; a second run gives the same numbers."
    seed = content.settings["rng"]
    if seed is None:
        source = "no seed was given, so what is drawn differs a little from run to run"
    else:
        source = f"seed {seed}" if isinstance(seed, int) else f"drawn from a {seed} that was passed in"
    return f"{content.settings['n_resamples']:,} resamples where a method draws; {source}."
