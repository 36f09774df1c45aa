"""The findings in words, to be pasted where there is no room for a table."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from evalci_accessor.plot import _words
from evalci_accessor.report._cells import count, p_is
from evalci_accessor.report._report import DIFFERENCES, SCORES, Report
from evalci_accessor.report._rows import Row, pair_rows, rests, score_rows, verdict


def sentence(report: Report) -> str:
    """Each score with its four numbers, each difference with its counts, the method, and what is not covered."""
    said = _scores(report, score_rows(report))
    if report.comparison is not None:
        said += _differences(report, pair_rows(report.comparison))
        said += [text for text in (unlike(report), verdict_level(report), correction(report)) if text]
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
        inside.append(f"{row.text('claim')} at a margin of {margin}{unit}: {verdict(row)}")
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


def unlike(report: Report) -> str:
    """That differences are of other items than the scores, where they are."""
    assert report.comparison is not None
    alone = report.rates["estimate"].to_numpy(dtype=np.float64)
    paired = report.comparison[["estimate_a", "estimate_b"]].to_numpy(dtype=np.float64)
    paired = paired[~np.isnan(paired)]
    if np.isclose(paired[:, None], alone, rtol=1e-9, atol=1e-12).any(axis=1).all():
        return ""
    return f"Differences are of the {report.speech.items} that both systems have, and so need not be those of the scores."


def verdict_level(report: Report) -> str:
    """At what level verdicts are given, since the interval beside has another; nothing where there are none."""
    assert report.comparison is not None
    if "verdict" not in report.comparison:
        return ""
    alpha = 1 - float(report.settings["confidence_level"])
    level, half = (_words.level(str(x)).strip() for x in (alpha, alpha / 2))
    claim, margin = report.comparison[["claim", "margin"]].iloc[0]
    if claim == "superiority" and margin == 0:
        return f"Superiority at a margin of 0 is tested at {level} for either direction, as by the interval."
    tests = (
        f"two one-sided tests at {level}, of whose p the larger is shown"
        if claim == "equivalence"
        else f"a one-sided test at {level}, whose p is shown"
    )
    return (
        f"{str(claim).capitalize()} is judged by {tests}; the interval leaves out {half} on each side, so it may reach past the "
        "margin where the claim is affirmed."
    )


def correction(report: Report, *, together: bool = False) -> str:
    """What several comparisons were corrected for; nothing where there is one. ``together``: limits for all pairs stand beside."""
    assert report.comparison is not None
    n_pairs = len(report.comparison)
    if n_pairs == 1:
        return ""
    if "verdict" in report.comparison:
        return f"Each of the {n_pairs} verdicts is of its own pair alone; there is no correction for their number."
    how = str(report.comparison["correction"].iloc[0])
    if how == "none" and together:
        return f"Of the {n_pairs} comparisons only the intervals for all pairs together are corrected for their number."
    if how == "none":
        return f"Neither the p-values nor the intervals of the {n_pairs} comparisons are corrected for their number."
    corrected = f"The p-values are corrected for {n_pairs} comparisons ({how})"
    if not together:
        return f"{corrected}; each interval is of its own pair alone."
    return (
        f"{corrected}, and so, in another way, are the intervals for all pairs together: one may find a difference that the other "
        "does not. The interval beside the difference is of its own pair alone."
    )


def _to(report: Report, low: float, high: float, *, signed: bool = False) -> str:
    first, second = (_words.number(value, percent=report.speech.percent, signed=signed) for value in (low, high))
    return f"{first} to {second}"


def _listing(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
