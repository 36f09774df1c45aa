"""Numbers as a reader sees them, the same in tables, sentences and the notebook."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from evalci_accessor.exceptions import MethodError
from evalci_accessor.plot import _words
from evalci_accessor.plot._words import BETWEEN

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """Per cent or not, and what items and clusters are called; a score is of an item or a sample, or nobody said of what."""

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
        return f"{_words.number(point, percent=self.percent)}{' %' if self.percent else ''}"

    def limits(self, low: float, high: float, *, signed: bool = False) -> str:
        """Limits in brackets."""
        first, second = (_words.number(value, percent=self.percent, signed=signed) for value in (low, high))
        return f"[{first}, {second}]"

    def difference(self, point: float, low: float, high: float) -> str:
        """A difference with its limits, as "+13.5 points [+3.2, +23.6]"."""
        if math.isnan(point):
            return "not known"
        unit = " points" if self.percent else ""
        return f"{_words.number(point, percent=self.percent, signed=True)}{unit} {self.limits(low, high, signed=True)}"

    def based_on(self, n: float, n_clusters: float, cluster: str, *, n_items: float | None = None) -> str:
        """What a number rests on, as "6,511 items in 27 tasks"; with ``n_items`` the n are the samples of so many items."""
        each = f"{count(n)} {self.scores}" if n_items is None else f"{count(n)} samples of {count(n_items)} {self.items}"
        if not cluster:
            return f"{each}, taken as independent"
        least = "at least " if BETWEEN in cluster else ""  # of each clustering that is crossed there are as many or more
        return f"{each} in {least}{count(n_clusters)} {self.clusters(cluster)}"

    def paired_on(self, n_pairs: float, n_clusters: float, cluster: str) -> str:
        """The same of a difference, whose pairs are items."""
        return dataclasses.replace(self, each="item").based_on(n_pairs, n_clusters, cluster)


def visible(text: str) -> str:
    """Text without what no page can hold: control characters and halves of a character."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def count(value: float) -> str:
    """A whole number with separators."""
    return _words.counts(np.array([value], dtype=np.float64))[0]


def pvalue(value: float) -> str:
    """A p-value, as ".034" or "< .001"."""
    return _words.pvalues(np.array([value], dtype=np.float64))[0]


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
            f"nouns= must be two words, for items and for clusters, as ('questions', 'documents'); got {nouns!r}."
        )
    first, second = (" ".join(word.split()) for word in nouns)
    return first, second
