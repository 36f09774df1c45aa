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
from evalci_accessor.plot._frame import MINUS, called, listed, words
from evalci_accessor.stats.methods import Source

SCORES, DIFFERENCES = "Intervals of the scores", "Intervals of the differences"  # roles of methods
_PAIR, N_ITEMS = "\0pair", "\0items"  # no column of a result is called so
UNKNOWN = "not known"
ICC = ("icc", "icc_low", "icc_high")

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
    """A warning of a method."""

    kind: str  # name of its class in `evalci_accessor.exceptions`
    meaning: str  # what the class stands for
    message: str  # what was found
    about: str  # the method that gave it


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method that ran."""

    role: str  # what it was used for
    name: str  # as the column of the result has it
    text: str  # what it does
    sources: tuple[Source, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """An error that the intervals do not cover."""

    name: str
    why: str  # what it does to a score; empty for one that the user added
    answer: str | None  # what the user says about it; None if nothing


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

    def number(self, value: float, *, signed: bool = False) -> str:
        """A score, a difference or a limit, without its unit."""
        return _frame.number(value, percent=self.percent, signed=signed)

    def value(self, point: float) -> str:
        """One score."""
        return f"{self.number(point)}{' %' if self.percent else ''}"

    def points(self, size: float, *, signed: bool = False) -> str:
        """How far two scores are apart."""
        return f"{self.number(size, signed=signed)}{' points' if self.percent else ''}"

    def ends(self, row: Row, which: str = "ci", *, signed: bool = False) -> list[str]:
        """The lower and the upper limit."""
        return [self.number(row.number(f"{which}_{end}"), signed=signed) for end in ("low", "high")]

    def limits(self, row: Row, which: str = "ci", *, signed: bool = False) -> str:
        """The same in brackets."""
        return f"[{', '.join(self.ends(row, which, signed=signed))}]"

    def score(self, row: Row) -> str:
        """An estimate with its limits, as "73.9 % [65.7, 81.1]"."""
        return (
            f"{self.value(row.number('estimate'))} {self.limits(row)}" if row.known("estimate") else UNKNOWN
        )

    def difference(self, row: Row) -> str:
        """A difference with its limits, as "+13.5 points [+3.2, +23.6]"."""
        if not row.known("difference"):
            return UNKNOWN
        return f"{self.points(row.number('difference'), signed=True)} {self.limits(row, signed=True)}"

    def based_on(self, row: Row, counted: str = "n") -> str:
        """What a number rests on, as "6,511 items in 27 tasks"; pairs are of items."""
        each = f"{row.count(counted)} {self.items if counted == 'n_pairs' else self.scores}"
        if row.known(N_ITEMS):
            each = f"{row.count(counted)} samples of {row.count(N_ITEMS)} {self.items}"
        cluster = row.text("cluster")
        if not cluster:
            return f"{each}, taken as independent"
        # Of each clustering that is crossed there are as many or more.
        least = "at least " if BETWEEN in cluster else ""
        return f"{each} in {least}{row.count('n_clusters')} {self.clusters(cluster)}"


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


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Row:
    """A row of a result."""

    label: str  # what it is called
    cells: pd.Series
    sides: tuple[str, str] = ("", "")  # the two systems of a comparison, else empty
    of: str = ""  # the group of a comparison, else empty

    def number(self, name: str) -> float:
        """A cell as a float, nan if it is none."""
        value = self.cells.get(name)
        return float("nan") if value is None or pd.isna(value) else float(value)

    def known(self, name: str) -> bool:
        """Whether a cell holds a number."""
        return not math.isnan(self.number(name))

    def text(self, name: str) -> str:
        """A cell as text, empty if the result lacks it."""
        return words(self.cells[name]) if name in self.cells else ""

    def count(self, name: str) -> str:
        """A whole number with separators."""
        return _frame.counts(np.array([self.number(name)]))[0]

    def pvalue(self, name: str = "pvalue_adj") -> str:
        """A p-value, as ".034" or "< .001"."""
        return _frame.pvalues(np.array([self.number(name)]))[0]

    def p_is(self, name: str = "pvalue_adj") -> str:
        """The same after a p."""
        text = self.pvalue(name)
        return f"p {text}" if text.startswith("<") else f"p = {text}"

    @property
    def icc(self) -> str:
        """The intracluster correlation with its limits."""
        if not self.known("icc"):
            return UNKNOWN
        point, low, high = (ratio(self.number(name)).replace("-", "\N{MINUS SIGN}") for name in ICC)
        return f"{point} [{low}, {high}]" if self.known("icc_low") else point

    @property
    def verdict(self) -> str:
        """The verdict on a claim, with the p-value of the claim."""
        verdict = self.text("verdict")
        return f"{verdict}, {self.p_is('pvalue_verdict')}" if verdict else UNKNOWN

    @property
    def apart(self) -> str:
        """How many items only the first of two systems passed, and only the second."""
        return f"{self.count('only_a')}, {self.count('only_b')}"


def rows(frame: pd.DataFrame, keys: list[Hashable], *, apart: bool = False) -> list[Row]:
    """The rows of scores; ``apart`` adds what tells rows of one key apart, such as the method."""
    labels = called(frame if apart else frame[keys], keys)
    return [Row(label=label, cells=frame.iloc[i].drop(keys)) for i, label in enumerate(labels)]


def score_rows(content: Content) -> list[Row]:
    """The rows of a report's scores; where items have several samples, with the number of items."""
    frame = content.rates
    if content.speech.each == "sample":
        frame = frame.assign(**{N_ITEMS: content.n_items})
    return rows(frame, content.keys)


def pair_rows(comparison: pd.DataFrame, *, apart: bool = False) -> list[Row]:
    """The rows of comparisons, called after their two systems, and their group if there is one."""
    keys = pair_keys(comparison)
    *by, first, second = keys
    factor = str(first).removesuffix("_a")  # a system that is a number is called after it
    a, b = (called(comparison[[side]].rename(columns={side: factor}), [factor]) for side in (first, second))
    groups = called(comparison[by], by) if by else [""] * len(comparison)
    labels = [f"{left}{MINUS}{right}" for left, right in zip(a, b, strict=True)]
    if by:
        labels = [f"{of} \N{MIDDLE DOT} {label}" for of, label in zip(groups, labels, strict=True)]
    if apart:
        labels = called(comparison.assign(**{_PAIR: labels}), [_PAIR])
    return [
        Row(label=label, sides=(a[i], b[i]), of=groups[i], cells=comparison.iloc[i].drop(keys))
        for i, label in enumerate(labels)
    ]


def pair_keys(comparison: pd.DataFrame) -> list[Hashable]:
    """The columns that name a comparison; they stand before its own."""
    names: list[Hashable] = list(comparison.columns)
    return names[: names.index("estimate_a")]


def visible(text: str) -> str:
    """Text without what no page can hold: control characters and halves of a character."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def ratio(value: float) -> str:
    """How many times as much."""
    return f"{value:.2f}" if math.isfinite(value) else UNKNOWN


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
            f"{type(given).__name__}. The errors that every report names are "
            f"{', '.join(map(repr, KNOWN))}; others may be added."
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
                f"mean {close[0]!r}? An error of your own needs a name that is less like it."
            )
    every = KNOWN | dict.fromkeys([name for name in given if name not in KNOWN], "")
    return tuple(
        Gap(name=name, why=why, answer=given.get(name, "").strip() or None) for name, why in every.items()
    )


def sentence(content: Content) -> str:
    """Each score with its numbers, each difference with its counts, the method, and what is not covered."""
    said = _scores(content, score_rows(content))
    if content.comparison is not None:
        said += _differences(content, pair_rows(content.comparison))
        said += remarks(content, content.comparison)
    methods = _frame.few([one.name for one in content.methods if one.role in (SCORES, DIFFERENCES)])
    said.append(f"Method {methods}, evalci-accessor {content.versions['evalci-accessor']}.")
    clusters = content.speech.clusters(str(content.rates["cluster"].iloc[0]))
    left_out = ", ".join(gap.name for gap in content.not_covered)
    said.append(f"The intervals cover which {clusters} were drawn; they do not cover {left_out}.")
    return " ".join(said)


def level(content: Content) -> str:
    """The confidence level before a word."""
    return _frame.level(str(content.settings["confidence_level"]))


def _scores(content: Content, found: list[Row]) -> list[str]:
    """Scores that rest on as many items and clusters share a sentence."""
    speech, said, weighed = content.speech, [], weighing(content)
    known = [row for row in found if row.known("estimate")]
    for on, group in groupby(known, speech.based_on):
        parts: list[str] = []
        for row in group:
            first = "" if parts else f"{level(content)}interval "
            name = f"{row.label} " if content.keys else ""
            verb = "" if parts else "scored " if content.keys else "the score is "
            score = speech.value(row.number("estimate"))
            parts.append(f"{name}{verb}{score} ({first}{' to '.join(speech.ends(row))})")
        said.append(f"On {on}{f' ({weighed})' if weighed else ''}, {listed(parts)}.")
    unknown = [row.label for row in found if not row.known("estimate")]
    if unknown:
        said.append(f"No score is known of {listed(unknown)}.")
    return said


def _differences(content: Content, found: list[Row]) -> list[str]:
    """Differences within one group that rest on as many items and clusters share a sentence."""
    speech, said = content.speech, []
    known = [row for row in found if row.known("difference")]
    for (of, on), group in groupby(known, lambda row: (row.of, speech.based_on(row, "n_pairs"))):
        pairs = "; ".join(_difference(speech, row) for row in group)
        said.append(f"{f'{of}: ' if of else ''}Paired on {on}, {pairs}.")
    unknown = [row.label for row in found if not row.known("difference")]
    if unknown:
        said.append(f"No difference is known of {listed(unknown)}.")
    return said


def _difference(speech: Speech, row: Row) -> str:
    """One pair with its interval, its counts and its p-value or verdict."""
    (first, second), point = row.sides, row.number("difference")
    versus = "scored the same as"
    if point:
        versus = f"scored {speech.points(abs(point))} {'above' if point > 0 else 'below'}"
    limits = " to ".join(speech.ends(row, signed=True))
    inside = [f"{_frame.level(row.text('confidence_level'))}interval of the difference {limits}"]
    if row.known("only_a"):
        inside += [
            f"only {first} passed {row.count('only_a')}",
            f"only {second} passed {row.count('only_b')}",
        ]
    if "verdict" in row.cells:
        margin = speech.points(row.number("margin"))
        inside.append(f"{row.text('claim')} at a margin of {margin}: {row.verdict}")
    elif "pvalue_adj" in row.cells:
        inside.append(row.p_is())
    return f"{first} {versus} {second} ({', '.join(inside)})"


def weighing(content: Content) -> str:
    """How scores count, where they do not count alike."""
    weights, alike = content.settings["weights"], content.settings["items_count_alike"]
    how = f"weighted by {weights}" if weights else ""
    if alike:
        return f"{content.speech.items} {how or 'counted alike'}, however many samples each has"
    return how


def remarks(content: Content, comparison: pd.DataFrame, *, together: bool = False) -> list[str]:
    """What is to be known of the differences; ``together``: limits for all pairs stand beside."""
    said = [
        _unlike(content, comparison),
        _verdict_level(content, comparison),
        _correction(comparison, together),
    ]
    return [text for text in said if text]


def _unlike(content: Content, comparison: pd.DataFrame) -> str:
    """That differences are of other items than the scores, where they are."""
    alone = content.rates["estimate"].to_numpy(dtype=np.float64)
    paired = comparison[["estimate_a", "estimate_b"]].to_numpy(dtype=np.float64)
    paired = paired[~np.isnan(paired)]
    if np.isclose(paired[:, None], alone, rtol=1e-9, atol=1e-12).any(axis=1).all():
        return ""
    items = content.speech.items
    return f"Differences are of the {items} that both systems have, and so need not be those of the scores."


def _verdict_level(content: Content, comparison: pd.DataFrame) -> str:
    """At what level verdicts are given, since the interval has another; nothing where there are none."""
    if "verdict" not in comparison:
        return ""
    alpha = 1 - float(content.settings["confidence_level"])
    whole, half = (_frame.level(str(x)).strip() for x in (alpha, alpha / 2))
    claim, margin = comparison[["claim", "margin"]].iloc[0]
    if claim == "superiority" and margin == 0:
        return f"Superiority at a margin of 0 is tested at {whole} for either direction, as by the interval."
    tests = f"a one-sided test at {whole}, whose p is shown"
    if claim == "equivalence":
        tests = f"two one-sided tests at {whole}, of whose p the larger is shown"
    return (
        f"{str(claim).capitalize()} is judged by {tests}; the interval leaves out {half} on each side, so it "
        "may reach past the margin where the claim is affirmed."
    )


def _correction(comparison: pd.DataFrame, together: bool) -> str:
    """What several comparisons were corrected for."""
    n_pairs = len(comparison)
    if n_pairs == 1:
        return ""
    if "verdict" in comparison:
        each = f"Each of the {n_pairs} verdicts is of its own pair alone"
        return f"{each}; there is no correction for their number."
    how = str(comparison["correction"].iloc[0])
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
        "difference that the other does not. The interval beside the difference is of its own pair alone."
    )
