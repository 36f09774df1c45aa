"""The findings in words, to be pasted where there is no room for a table."""

from __future__ import annotations

from itertools import groupby

from evalci_accessor.plot import _words
from evalci_accessor.report._cells import count, p_is
from evalci_accessor.report._report import DIFFERENCES, SCORES, Report
from evalci_accessor.report._rows import Row, pair_rows, rests, score_rows


def sentence(report: Report) -> str:
    """Each score with its four numbers, each difference with its counts, the method, and what is not covered."""
    said = _scores(report, score_rows(report))
    if report.comparison is not None:
        said += _differences(report, pair_rows(report.comparison))
        said += [text for text in (correction(report),) if text]
    methods = _words.few([one.name for one in report.methods if one.role in (SCORES, DIFFERENCES)])
    said.append(f"Method {methods}, evalci-accessor {report.versions['evalci-accessor']}.")
    clusters = report.speech.clusters(str(report.rates["cluster"].iloc[0]))
    left_out = ", ".join(gap.name for gap in report.not_covered)
    said.append(f"The intervals cover which {clusters} were drawn; they do not cover {left_out}.")
    return " ".join(said)


def _scores(report: Report, found: list[Row]) -> list[str]:
    """Scores that rest on as many items and clusters share a sentence."""
    speech, said = report.speech, []
    level = _words.level(str(report.settings["confidence_level"]))

    weighed = weighing(report)
    for on, group in groupby([row for row in found if row.known("estimate")], lambda row: rests(report, row)):
        parts: list[str] = []
        for row in group:
            first = "" if parts else f"{level}interval "
            name = f"{row.label} " if report.keys else ""
            verb = "" if parts else "scored " if report.keys else "the score is "
            limits = _to(report, row.number("ci_low"), row.number("ci_high"))
            parts.append(f"{name}{verb}{speech.value(row.number('estimate'))} ({first}{limits})")
        said.append(f"On {on}{f' ({weighed})' if weighed else ''}, {_listing(parts)}.")
    unknown = [row.label for row in found if not row.known("estimate")]
    if unknown:
        said.append(f"No score is known of {_listing(unknown)}.")
    return said


def _differences(report: Report, found: list[Row]) -> list[str]:
    """Differences within one group that rest on as many items and clusters share a sentence."""
    speech, said = report.speech, []

    def where(row: Row) -> tuple[str, str]:
        return row.of, speech.paired_on(row.number("n_pairs"), row.number("n_clusters"), row.text("cluster"))

    for (of, on), group in groupby([row for row in found if row.known("difference")], where):
        pairs = "; ".join(_difference(report, row) for row in group)
        said.append(f"{f'{of}: ' if of else ''}Paired on {on}, {pairs}.")
    unknown = [row.label for row in found if not row.known("difference")]
    if unknown:
        said.append(f"No difference is known of {_listing(unknown)}.")
    return said


def _difference(report: Report, row: Row) -> str:
    """One pair with its interval, its counts and its p-value or verdict."""
    speech, (first, second) = report.speech, row.sides
    point, unit = row.number("difference"), " points" if report.speech.percent else ""
    size = _words.number(abs(point), percent=speech.percent)
    versus = "scored the same as" if point == 0 else f"scored {size}{unit} {'above' if point > 0 else 'below'}"
    limits = _to(report, row.number("ci_low"), row.number("ci_high"), signed=True)
    inside = [f"{_words.level(row.text('confidence_level'))}interval of the difference {limits}"]
    if row.known("only_a"):
        inside += [
            f"only {side} passed {count(row.number(name))}" for side, name in ((first, "only_a"), (second, "only_b"))
        ]  # fmt: skip
    if "verdict" in row.names:
        margin = _words.number(row.number("margin"), percent=speech.percent)
        inside.append(f"{row.text('claim')} at a margin of {margin}{unit}: {row.text('verdict')}")
        inside.append(p_is(row.number("pvalue_verdict")))
    elif "pvalue_adj" in row.names:
        inside.append(p_is(row.number("pvalue_adj")))
    return f"{first} {versus} {second} ({', '.join(inside)})"


def weighing(report: Report) -> str:
    """How scores count, where they do not count alike."""
    weights, alike = report.settings["weights"], report.settings["items_count_alike"]
    if alike:
        how = f"weighted by {weights}" if weights else "counted alike"
        return f"{report.speech.items} {how}, however many samples each has"
    return f"weighted by {weights}" if weights else ""


def correction(report: Report) -> str:
    """What several comparisons were corrected for; nothing where there is one."""
    assert report.comparison is not None
    n_pairs = len(report.comparison)
    if n_pairs == 1:
        return ""
    if "verdict" in report.comparison:
        return f"Each of the {n_pairs} verdicts is of its own pair alone; there is no correction for their number."
    how = str(report.comparison["correction"].iloc[0])
    if how == "none":
        return f"Neither the p-values nor the intervals of the {n_pairs} comparisons are corrected for their number."
    return f"The p-values are corrected for {n_pairs} comparisons ({how}); each interval is of its own pair alone."


def _to(report: Report, low: float, high: float, *, signed: bool = False) -> str:
    first, second = (_words.number(value, percent=report.speech.percent, signed=signed) for value in (low, high))
    return f"{first} to {second}"


def _listing(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
