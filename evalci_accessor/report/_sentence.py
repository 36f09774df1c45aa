"""The findings in words, to be pasted where there is no room for a table."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from evalci_accessor.plot import _words
from evalci_accessor.report._content import (
    DIFFERENCES,
    SCORES,
    Content,
    Row,
    count,
    p_is,
    pair_rows,
    rests,
    score_rows,
    verdict,
)


def sentence(content: Content) -> str:
    """Each score with its numbers, each difference with its counts, the method, and what is not covered."""
    said = _scores(content, score_rows(content))
    if content.comparison is not None:
        said += _differences(content, pair_rows(content.comparison))
        said += [text for text in (unlike(content), verdict_level(content), correction(content)) if text]
    methods = _words.few([one.name for one in content.methods if one.role in (SCORES, DIFFERENCES)])
    said.append(f"Method {methods}, evalci-accessor {content.versions['evalci-accessor']}.")
    clusters = content.speech.clusters(str(content.rates["cluster"].iloc[0]))
    left_out = ", ".join(gap.name for gap in content.not_covered)
    said.append(f"The intervals cover which {clusters} were drawn; they do not cover {left_out}.")
    return " ".join(said)


def _scores(content: Content, found: list[Row]) -> list[str]:
    """Scores that rest on as many items and clusters share a sentence."""
    speech, said = content.speech, []
    level = _words.level(str(content.settings["confidence_level"]))

    weighed = weighing(content)
    for on, group in groupby(
        [row for row in found if row.known("estimate")], lambda row: rests(content, row)
    ):
        parts: list[str] = []
        for row in group:
            first = "" if parts else f"{level}interval "
            name = f"{row.label} " if content.keys else ""
            verb = "" if parts else "scored " if content.keys else "the score is "
            limits = _to(content, row.number("ci_low"), row.number("ci_high"))
            parts.append(f"{name}{verb}{speech.value(row.number('estimate'))} ({first}{limits})")
        said.append(f"On {on}{f' ({weighed})' if weighed else ''}, {_listing(parts)}.")
    unknown = [row.label for row in found if not row.known("estimate")]
    if unknown:
        said.append(f"No score is known of {_listing(unknown)}.")
    return said


def _differences(content: Content, found: list[Row]) -> list[str]:
    """Differences within one group that rest on as many items and clusters share a sentence."""
    speech, said = content.speech, []

    def where(row: Row) -> tuple[str, str]:
        return row.of, speech.paired_on(row.number("n_pairs"), row.number("n_clusters"), row.text("cluster"))

    for (of, on), group in groupby([row for row in found if row.known("difference")], where):
        pairs = "; ".join(_difference(content, row) for row in group)
        said.append(f"{f'{of}: ' if of else ''}Paired on {on}, {pairs}.")
    unknown = [row.label for row in found if not row.known("difference")]
    if unknown:
        said.append(f"No difference is known of {_listing(unknown)}.")
    return said


def _difference(content: Content, row: Row) -> str:
    """One pair with its interval, its counts and its p-value or verdict."""
    speech, (first, second) = content.speech, row.sides
    point, unit = row.number("difference"), " points" if content.speech.percent else ""
    size = _words.number(abs(point), percent=speech.percent)
    versus = (
        "scored the same as" if point == 0 else f"scored {size}{unit} {'above' if point > 0 else 'below'}"
    )
    limits = _to(content, row.number("ci_low"), row.number("ci_high"), signed=True)
    inside = [f"{_words.level(row.text('confidence_level'))}interval of the difference {limits}"]
    if row.known("only_a"):
        counts = ((first, "only_a"), (second, "only_b"))
        inside += [f"only {side} passed {count(row.number(name))}" for side, name in counts]
    if "verdict" in row.names:
        margin = _words.number(row.number("margin"), percent=speech.percent)
        inside.append(f"{row.text('claim')} at a margin of {margin}{unit}: {verdict(row)}")
    elif "pvalue_adj" in row.names:
        inside.append(p_is(row.number("pvalue_adj")))
    return f"{first} {versus} {second} ({', '.join(inside)})"


def weighing(content: Content) -> str:
    """How scores count, where they do not count alike."""
    weights, alike = content.settings["weights"], content.settings["items_count_alike"]
    if alike:
        how = f"weighted by {weights}" if weights else "counted alike"
        return f"{content.speech.items} {how}, however many samples each has"
    return f"weighted by {weights}" if weights else ""


def unlike(content: Content) -> str:
    """That differences are of other items than the scores, where they are."""
    assert content.comparison is not None
    alone = content.rates["estimate"].to_numpy(dtype=np.float64)
    paired = content.comparison[["estimate_a", "estimate_b"]].to_numpy(dtype=np.float64)
    paired = paired[~np.isnan(paired)]
    if np.isclose(paired[:, None], alone, rtol=1e-9, atol=1e-12).any(axis=1).all():
        return ""
    items = content.speech.items
    return f"Differences are of the {items} that both systems have, and so need not be those of the scores."


def verdict_level(content: Content) -> str:
    """At what level verdicts are given, since the interval has another; nothing where there are none."""
    assert content.comparison is not None
    if "verdict" not in content.comparison:
        return ""
    alpha = 1 - float(content.settings["confidence_level"])
    level, half = (_words.level(str(x)).strip() for x in (alpha, alpha / 2))
    claim, margin = content.comparison[["claim", "margin"]].iloc[0]
    if claim == "superiority" and margin == 0:
        return f"Superiority at a margin of 0 is tested at {level} for either direction, as by the interval."
    tests = (
        f"two one-sided tests at {level}, of whose p the larger is shown"
        if claim == "equivalence"
        else f"a one-sided test at {level}, whose p is shown"
    )
    return (
        f"{str(claim).capitalize()} is judged by {tests}; the interval leaves out {half} on each side, so it "
        "may reach past the "
        "margin where the claim is affirmed."
    )


def correction(content: Content, *, together: bool = False) -> str:
    """What several comparisons were corrected for; ``together``: limits for all pairs stand beside."""
    assert content.comparison is not None
    n_pairs = len(content.comparison)
    if n_pairs == 1:
        return ""
    if "verdict" in content.comparison:
        each = f"Each of the {n_pairs} verdicts is of its own pair alone"
        return f"{each}; there is no correction for their number."
    how = str(content.comparison["correction"].iloc[0])
    if how == "none" and together:
        only = "only the intervals for all pairs together are corrected for their number"
        return f"Of the {n_pairs} comparisons {only}."
    if how == "none":
        these = f"the p-values nor the intervals of the {n_pairs} comparisons"
        return f"Neither {these} are corrected for their number."
    corrected = f"The p-values are corrected for {n_pairs} comparisons ({how})"
    if not together:
        return f"{corrected}; each interval is of its own pair alone."
    return (
        f"{corrected}, and so, in another way, are the intervals for all pairs together: one may find a "
        "difference that the other "
        "does not. The interval beside the difference is of its own pair alone."
    )


def _to(content: Content, low: float, high: float, *, signed: bool = False) -> str:
    first, second = (
        _words.number(value, percent=content.speech.percent, signed=signed) for value in (low, high)
    )
    return f"{first} to {second}"


def _listing(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
