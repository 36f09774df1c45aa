"""What a report holds: results, settings, warnings, methods, gaps, and the sentence to paste."""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import BETWEEN
from evalci_accessor.plot import _frame
from evalci_accessor.plot._frame import MINUS, called, words
from evalci_accessor.stats.methods import Source

SCORES, DIFFERENCES = "Intervals of the scores", "Intervals of the differences"  # roles of methods
_PAIR, N_ITEMS = "\0pair", "\0items"  # no column of a result is called so

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# As docs/explanation/not_covered.md has them.
KNOWN = {
    "label error": "A judge that errs, or a reference answer that is wrong, moves the score itself.",
    "prompt choice": "The score belongs to the prompt, temperature, harness and version that were run.",
    "contamination": "Items seen in training are passed for another reason than new ones will be.",
    "other material": "Clusters are taken as a sample of those that the claim is about.",
    "best of many": "A system, prompt or checkpoint that was picked for its score has too high a score "
    "on average.",
    "other clusterings": "Scores that share a thing that was not named as a cluster are taken as independent "
    "in it.",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A warning of a method.

    Parameters
    ----------
    kind : str
        Name of its class in `evalci_accessor.exceptions`.
    meaning : str
        What the class stands for.
    message : str
        What was found.
    about : str
        The method that gave it.
    """

    kind: str
    meaning: str
    message: str
    about: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method that ran.

    Parameters
    ----------
    role : str
        What it was used for.
    name : str
        As the column of the result has it.
    text : str
        What it does.
    sources : tuple of Source
    """

    role: str
    name: str
    text: str
    sources: tuple[Source, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """An error that the intervals do not cover.

    Parameters
    ----------
    name : str
    why : str
        What it does to a score; empty for one that the user added.
    answer : str or None
        What the user says about it; None if nothing.
    """

    name: str
    why: str
    answer: str | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """Per cent or not, what items and clusters are called, and whether a score is of an item or a sample."""

    percent: bool
    nouns: tuple[str, str] | None
    each: Literal["item", "sample"] | None

    @property
    def items(self) -> str:
        """What is paired."""
        return self.nouns[0] if self.nouns else "items"

    @property
    def scores(self) -> str:
        """What is counted where a score stands for itself."""
        return self.items if self.nouns or self.each == "item" else "scores"

    def clusters(self, name: str) -> str:
        """What the clusters are called, or of what they are."""
        return self.nouns[1] if self.nouns else f"clusters of {name.replace(BETWEEN, ' and of ')}"

    def score(self, point: float, low: float, high: float) -> str:
        """An estimate with its limits, as "73.9 % [65.7, 81.1]"."""
        if math.isnan(point):
            return "not known"
        return f"{self.value(point)} {self.limits(low, high)}"

    def value(self, point: float) -> str:
        """One score."""
        return f"{_frame.number(point, percent=self.percent)}{' %' if self.percent else ''}"

    def limits(self, low: float, high: float, *, signed: bool = False) -> str:
        """Limits in brackets."""
        first, second = (_frame.number(value, percent=self.percent, signed=signed) for value in (low, high))
        return f"[{first}, {second}]"

    def difference(self, point: float, low: float, high: float) -> str:
        """A difference with its limits, as "+13.5 points [+3.2, +23.6]"."""
        if math.isnan(point):
            return "not known"
        unit = " points" if self.percent else ""
        size = _frame.number(point, percent=self.percent, signed=True)
        return f"{size}{unit} {self.limits(low, high, signed=True)}"

    def based_on(self, n: float, n_clusters: float, cluster: str, *, n_items: float | None = None) -> str:
        """What a number rests on, as "6,511 items in 27 tasks"; with ``n_items``, n are samples."""
        each = (
            f"{count(n)} {self.scores}"
            if n_items is None
            else f"{count(n)} samples of {count(n_items)} {self.items}"
        )
        if not cluster:
            return f"{each}, taken as independent"
        # Of each clustering that is crossed there are as many or more.
        least = "at least " if BETWEEN in cluster else ""
        return f"{each} in {least}{count(n_clusters)} {self.clusters(cluster)}"

    def paired_on(self, n_pairs: float, n_clusters: float, cluster: str) -> str:
        """The same of a difference, whose pairs are items."""
        return dataclasses.replace(self, each="item").based_on(n_pairs, n_clusters, cluster)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Content:
    """The fields of a `Report`, which documents them."""

    title: str
    score: str
    keys: list[Hashable]
    rates: pd.DataFrame
    naive: pd.DataFrame
    n_items: list[int] | None
    clustering: pd.DataFrame
    comparison: pd.DataFrame | None
    naive_comparison: pd.DataFrame | None
    warnings: tuple[Finding, ...]
    not_covered: tuple[Gap, ...]
    methods: tuple[Method, ...]
    versions: dict[str, str]
    settings: dict[str, Any]
    speech: Speech


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Row:
    """A row of a result.

    Parameters
    ----------
    label : str
        What it is called.
    sides : tuple of str
        The two systems of a comparison, else empty.
    of : str
        The group of a comparison, else empty.
    values : Series
    """

    label: str
    values: pd.Series
    sides: tuple[str, str] = ("", "")
    of: str = ""

    @property
    def names(self) -> list[Any]:
        """Of its columns."""
        return list(self.values.index)

    def number(self, name: str) -> float:
        """A cell as a float, nan if it is none."""
        value = self.values[name] if name in self.values.index else None
        return float("nan") if value is None or pd.isna(value) else float(value)

    def known(self, name: str) -> bool:
        """Whether a cell holds a number."""
        number = self.number(name)
        return number == number

    def text(self, name: str) -> str:
        """A cell as text, empty if the result lacks it."""
        return words(self.values[name]) if name in self.values.index else ""


def rows(frame: pd.DataFrame, keys: list[Hashable], *, apart: bool = False) -> list[Row]:
    """The rows of scores; ``apart`` adds what tells rows of one key apart, such as the method."""
    labels = called(frame if apart else frame[keys], keys)
    return [Row(label=label, values=frame.iloc[i].drop(keys)) for i, label in enumerate(labels)]


def score_rows(content: Content) -> list[Row]:
    """The rows of a report's scores; where items have several samples, with the number of items."""
    sampled = content.speech.each == "sample"
    return rows(
        content.rates.assign(**{N_ITEMS: content.n_items}) if sampled else content.rates, content.keys
    )


def rests(content: Content, row: Row) -> str:
    """What the score of a row rests on."""
    n_items = row.number(N_ITEMS) if row.known(N_ITEMS) else None
    return content.speech.based_on(
        row.number("n"), row.number("n_clusters"), row.text("cluster"), n_items=n_items
    )


def icc(row: Row) -> str:
    """The intracluster correlation with its limits."""
    if not row.known("icc"):
        return "not known"
    limits = (
        f" [{number(row.number('icc_low'))}, {number(row.number('icc_high'))}]"
        if row.known("icc_low")
        else ""
    )
    return f"{number(row.number('icc'))}{limits}"


def verdict(row: Row) -> str:
    """The verdict on a claim, with the p-value of the claim."""
    return (
        f"{row.text('verdict')}, {p_is(row.number('pvalue_verdict'))}" if row.text("verdict") else "not known"
    )


def pair_rows(comparison: pd.DataFrame, *, apart: bool = False) -> list[Row]:
    """The rows of comparisons, called after their two systems, and their group if there is one."""
    keys = pair_keys(comparison)
    *by, first, second = keys
    factor = str(first).removesuffix("_a")  # a system that is a number is called after it
    a, b = (called(comparison[[side]].rename(columns={side: factor}), [factor]) for side in (first, second))
    groups = called(comparison[by], by) if by else [""] * len(comparison)
    labels = [
        f"{group} \N{MIDDLE DOT} {left}{MINUS}{right}" if group else f"{left}{MINUS}{right}"
        for group, left, right in zip(groups, a, b, strict=True)
    ]
    if apart:
        labels = called(comparison.assign(**{_PAIR: labels}), [_PAIR])
    return [
        Row(label=label, sides=(a[i], b[i]), of=groups[i], values=comparison.iloc[i].drop(keys))
        for i, label in enumerate(labels)
    ]


def pair_keys(comparison: pd.DataFrame) -> list[Hashable]:
    """The columns that name a comparison; they stand before its own."""
    names: list[Hashable] = list(comparison.columns)
    return names[: names.index("estimate_a")]


def visible(text: str) -> str:
    """Text without what no page can hold: control characters and halves of a character."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def count(value: float) -> str:
    """A whole number with separators."""
    return _frame.counts(np.array([value], dtype=np.float64))[0]


def pvalue(value: float) -> str:
    """A p-value, as ".034" or "< .001"."""
    return _frame.pvalues(np.array([value], dtype=np.float64))[0]


def p_is(value: float) -> str:
    """The same after a p."""
    text = pvalue(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def ratio(value: float) -> str:
    """How many times as much."""
    return f"{value:.2f}" if math.isfinite(value) else "not known"


def number(value: float) -> str:
    """A number that is no score, such as an intracluster correlation."""
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}") if math.isfinite(value) else "not known"


def check_nouns(nouns: Any) -> tuple[str, str] | None:
    """Two words, of which the second is said of the clusters."""
    if nouns is None:
        return None
    good = isinstance(nouns, Sequence) and not isinstance(nouns, str) and len(nouns) == 2
    if not good or not all(isinstance(word, str) and word.strip() for word in nouns):
        raise MethodError(
            "nouns= must be two words, for items and for clusters, as ('questions', 'documents'); got "
            f"{nouns!r}."
        )
    first, second = (" ".join(word.split()) for word in nouns)
    return first, second


def gaps(not_covered: Mapping[str, str] | None) -> tuple[Gap, ...]:
    """The known ones, with the user's answers, and those that the user added."""
    given = {} if not_covered is None else not_covered
    if not isinstance(given, Mapping):
        raise MethodError(
            "not_covered= must be a dict from an error to what is known about it; got "
            f"{type(given).__name__}. The errors that "
            f"every report names are {', '.join(map(repr, KNOWN))}; others may be added."
        )
    for name, answer in given.items():
        if not (isinstance(name, str) and name.strip()) or not isinstance(answer, str):
            raise MethodError(
                f"not_covered= must be text throughout, as {{'label error': '2 of 100 checked by hand'}}; "
                f"got {name!r}: {answer!r}."
            )
        close = difflib.get_close_matches(name.strip().lower(), KNOWN, n=1, cutoff=0.8)
        if name not in KNOWN and close:
            raise MethodError(
                f"not_covered= has {name!r}, which would stand beside {close[0]!r} as another error. Did you "
                f"mean {close[0]!r}? An "
                "error of your own needs a name that is less like it."
            )
    answers = {name: answer.strip() or None for name, answer in given.items()}
    own = [Gap(name=name, why="", answer=answers[name]) for name in answers if name not in KNOWN]
    return (*(Gap(name=name, why=why, answer=answers.get(name)) for name, why in KNOWN.items()), *own)


def sentence(content: Content) -> str:
    """Each score with its numbers, each difference with its counts, the method, and what is not covered."""
    said = _scores(content, score_rows(content))
    if content.comparison is not None:
        said += _differences(content, pair_rows(content.comparison))
        said += [text for text in (unlike(content), verdict_level(content), correction(content)) if text]
    methods = _frame.few([one.name for one in content.methods if one.role in (SCORES, DIFFERENCES)])
    said.append(f"Method {methods}, evalci-accessor {content.versions['evalci-accessor']}.")
    clusters = content.speech.clusters(str(content.rates["cluster"].iloc[0]))
    left_out = ", ".join(gap.name for gap in content.not_covered)
    said.append(f"The intervals cover which {clusters} were drawn; they do not cover {left_out}.")
    return " ".join(said)


def _scores(content: Content, found: list[Row]) -> list[str]:
    """Scores that rest on as many items and clusters share a sentence."""
    speech, said = content.speech, []
    level = _frame.level(str(content.settings["confidence_level"]))

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
    size = _frame.number(abs(point), percent=speech.percent)
    versus = (
        "scored the same as" if point == 0 else f"scored {size}{unit} {'above' if point > 0 else 'below'}"
    )
    limits = _to(content, row.number("ci_low"), row.number("ci_high"), signed=True)
    inside = [f"{_frame.level(row.text('confidence_level'))}interval of the difference {limits}"]
    if row.known("only_a"):
        counts = ((first, "only_a"), (second, "only_b"))
        inside += [f"only {side} passed {count(row.number(name))}" for side, name in counts]
    if "verdict" in row.names:
        margin = _frame.number(row.number("margin"), percent=speech.percent)
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
    level, half = (_frame.level(str(x)).strip() for x in (alpha, alpha / 2))
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
        _frame.number(value, percent=content.speech.percent, signed=signed) for value in (low, high)
    )
    return f"{first} to {second}"


def _listing(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
