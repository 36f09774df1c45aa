"""A report: the results of the methods, what they warned of, and what no interval covers."""

from __future__ import annotations

import dataclasses
import math
import platform
from collections.abc import Callable, Hashable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from evalci_accessor.exceptions import (
    EvalCIWarning,
    MethodError,
    MissingScoreWarning,
    PooledSamplesWarning,
    ScoreError,
    held,
    plain,
)
from evalci_accessor.options import BETWEEN, ReportOptions, Wording
from evalci_accessor.plot._frame import RATE, in_unit
from evalci_accessor.report import _content, _render
from evalci_accessor.report._content import (
    DIFFERENCES,
    SCORES,
    Content,
    Finding,
    Method,
    Speech,
    pair_keys,
    sentence,
)
from evalci_accessor.stats import methods
from evalci_accessor.stats.validate import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Report(Content):
    """What ``df.evalci.report(...)`` gives: results in one place, to be read, pasted and audited.

    Parameters
    ----------
    title : str
    score : str
        Name of the scores.
    keys : list
        The columns that name the systems.
    rates : DataFrame
        The answer of `cluster_ci`, a row a system.
    naive : DataFrame
        The same for independent scores.
    n_items : list of int or None
        How many items the scores of each row of ``rates`` are of; None where no items were named.
    clustering : DataFrame
        The answer of `design_effect`.
    comparison : DataFrame or None
        The answer of `compare`, or of `diff_ci` where there is a margin.
    naive_comparison : DataFrame or None
        The same for independent items, in the same order; p-values are of its intervals, as those of
        ``comparison`` are.
    warnings : tuple of Finding
        What these said, each once.
    not_covered : tuple of Gap
        Errors that the intervals leave out, with your answers.
    methods : tuple of Method
        What ran.
    versions : dict
        Of the packages.
    settings : dict
        The options of the call that move a number.
    speech : Speech
        How numbers are written.

    Notes
    -----
    Numbers are those of the methods; nothing is computed but how many times an interval is as wide as
    another. In a notebook the report shows itself.
    """

    def __repr__(self) -> str:
        rows = {"row": self.rates, "comparison": self.comparison, "warning": self.warnings}
        numbers = {word: 0 if held is None else len(held) for word, held in rows.items()}
        counts = [f"{number} {word}{'' if number == 1 else 's'}" for word, number in numbers.items()]
        return f"<Report {self.title!r}: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        return _render.fragment(self)

    @property
    def sentence(self) -> str:
        """The findings in words, to be pasted."""
        return sentence(self)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The report as Markdown, without pictures.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well.

        Returns
        -------
        str
            The text.
        """
        return _written(_render.markdown(self), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """The report as one page of HTML, which loads nothing from anywhere.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well.

        Returns
        -------
        str
            The page. Its pictures need Matplotlib; without it the page says that there are none.
        """
        return _written(_render.page(self), path)

    def to_dict(self) -> dict[str, Any]:
        """The report as dicts, lists, text and numbers that JSON can hold.

        Returns
        -------
        dict
            All columns of the results, unrounded. What is not known or infinite is None; keys that JSON has
            no type for are text.
        """
        n_items = [None] * len(self.rates) if self.n_items is None else self.n_items
        systems, comparisons = _records(self.rates, self.keys, self.naive), []
        if self.comparison is not None:
            comparisons = _records(self.comparison, pair_keys(self.comparison), self.naive_comparison)
        return {
            "title": self.title,
            "score": self.score,
            "sentence": self.sentence,
            "systems": [one | {"n_items": n} for one, n in zip(systems, n_items, strict=True)],
            "comparisons": comparisons,
            "clustering": _records(self.clustering, self.keys),
            "warnings": [dataclasses.asdict(one) for one in self.warnings],
            "not_covered": [dataclasses.asdict(one) for one in self.not_covered],
            "methods": [
                dataclasses.asdict(one) | {"sources": [*map(dataclasses.asdict, one.sources)]}
                for one in self.methods
            ],
            "settings": {name: safe(value) for name, value in self.settings.items()},
            "versions": dict(self.versions),
        }


def _records(
    frame: pd.DataFrame, keys: list[Hashable], naive: pd.DataFrame | None = None
) -> list[dict[str, Any]]:
    """A dict a row: the keys, the result's own columns, and those of the naive answer."""
    rows = []
    for i in range(len(frame)):
        row = {"keys": {str(key): _key(frame[key].iloc[i]) for key in keys}} | _values(frame, keys, i)
        rows.append(row if naive is None else row | {"naive": _values(naive, keys, i)})
    return rows


def _values(frame: pd.DataFrame, keys: list[Hashable], row: int) -> dict[str, Any]:
    """The result's own columns."""
    return {str(name): safe(frame[name].iloc[row]) for name in frame.columns if name not in keys}


def safe(value: Any) -> Any:
    """A value as JSON has it."""
    value = plain(value)
    if value is None or (np.ndim(value) == 0 and pd.isna(value)):
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (bool, int, str)) else str(value)


def _key(value: Any) -> Any:
    """A key as JSON has it; infinite ones stay apart."""
    number = plain(value)
    return str(number) if isinstance(number, float) and math.isinf(number) else safe(value)


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


T = TypeVar("T")
_PACKAGES = ("numpy", "pandas", "scipy", "xarray")


class Sampled(NamedTuple):
    """Items: the group and the number of samples of each, and that number beside each score."""

    groups: IntArray
    n: IntArray
    per_entry: IntArray
    n_groups: int
    pooled: str  # what there is to warn of where samples of several systems may be pooled


class Findings:
    """What the methods warn of, in their order, each once."""

    def __init__(self) -> None:
        self._found: dict[str, Finding] = {}

    def of(self, about: str, call: Callable[[], T], *, but: type[EvalCIWarning] | None = None) -> T:
        """The answer of a method, and its warnings kept, but those of a kind."""
        with held() as said:
            answer = call()
        for message, category in said:
            if category is not but:
                self._add(about, message, category)
        return answer

    def of_items(self, read: Callable[[], tuple[T, Sampled]]) -> tuple[T, Counted]:
        """The items and their samples, and their warnings; `cluster_ci` says which scores are missing."""
        answer, sampled = self.of("report", read, but=MissingScoreWarning)
        if sampled.pooled:
            self._add("report", sampled.pooled, PooledSamplesWarning)
        return answer, _counted(sampled)

    def _add(self, about: str, message: str, category: type[EvalCIWarning]) -> None:
        meaning = (category.__doc__ or "").strip()
        found = Finding(kind=category.__name__, meaning=meaning, message=message, about=about)
        self._found.setdefault(message, found)

    @property
    def all(self) -> tuple[Finding, ...]:
        """All of them."""
        return tuple(self._found.values())


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Counted:
    """How many items the scores of each row are of."""

    n_items: list[int]  # of each row of the rates
    # (entries,): what makes items count alike: one by the samples that the item of a score has. None where all have as
    # many.
    shares: FloatArray | None


def _counted(sampled: Sampled) -> Counted:
    n_items = np.bincount(sampled.groups, minlength=sampled.n_groups)
    n = sampled.n.astype(float)
    sums, squares = (
        np.bincount(sampled.groups, weights=n**power, minlength=sampled.n_groups) for power in (1, 2)
    )
    even = bool((sums**2 == n_items * squares).all())
    return Counted(n_items=n_items.tolist(), shares=None if even else 1.0 / np.maximum(sampled.per_entry, 1))


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Parts:
    """The answers of the methods that a report puts together."""

    score: str
    keys: list[Hashable]  # the columns that name the systems
    rates: pd.DataFrame
    naive: pd.DataFrame
    clustering: pd.DataFrame
    # comparison, beside: comparisons, and those of independent items
    comparison: pd.DataFrame | None
    beside: pd.DataFrame | None
    findings: Findings
    counted: Counted | None  # the items, where each may have several samples
    weights: str | None  # their name


def check(cluster: Any, options: ReportOptions, wording: Wording) -> None:
    """Refuse what does not go together, before anything is computed."""
    if cluster is None:
        raise MethodError(
            "cluster= is None: name what the items share, or their own id if they really share nothing."
        )
    if options.claim is not None and options.margin is None:
        raise MethodError(f"claim={options.claim!r} says what a margin is for; give it with margin=.")
    if wording.title is not None and not isinstance(wording.title, str):
        raise MethodError(f"title= must be text; got {type(wording.title).__name__}.")
    _content.check_nouns(wording.nouns)
    _content.gaps(wording.not_covered)


def build(parts: Parts, options: ReportOptions, wording: Wording) -> Report:
    """Put the answers together."""
    rates, naive, comparison, counted = parts.rates, parts.naive, parts.comparison, parts.counted
    if not rates["n"].sum():
        raise ScoreError(
            f"There is nothing to report on: none of the rows holds a score in {parts.score!r} that counts."
        )
    limits = [frame[name].to_numpy(dtype=float) for frame in (rates, naive) for name in RATE]
    percent = in_unit(*limits) if wording.percent is None else wording.percent
    beside = None if comparison is None or parts.beside is None else _beside(comparison, parts.beside)
    n_items: list[int] | None = None
    each: Literal["item", "sample"] | None = None
    if counted is not None:
        n_items = counted.n_items
    elif comparison is not None:  # each item has one score
        n_items = rates["n"].tolist()
    if n_items is not None:
        each = "item" if n_items == rates["n"].tolist() else "sample"
    return Report(
        title=wording.title or f"{parts.score}, clustered by {rates['cluster'].iloc[0]}",
        score=parts.score,
        keys=parts.keys,
        rates=rates,
        naive=naive,
        n_items=n_items,
        clustering=parts.clustering,
        comparison=comparison,
        naive_comparison=beside,
        warnings=parts.findings.all,
        not_covered=_content.gaps(wording.not_covered),
        methods=_methods(parts, beside),
        versions=_versions(),
        settings={
            "confidence_level": options.confidence_level,
            "n_resamples": options.n_resamples,
            "rng": _seed(options.rng),
            "weights": parts.weights,
            "items_count_alike": counted is not None and counted.shares is not None,
        },
        speech=Speech(percent=percent, nouns=_content.check_nouns(wording.nouns), each=each),
    )


def _seed(rng: object) -> int | str | None:
    """A seed as it is; of a generator, whose state is not known, its kind."""
    seed = plain(rng)
    return seed if seed is None or isinstance(seed, int) else type(seed).__name__


def _beside(comparison: pd.DataFrame, naive: pd.DataFrame) -> pd.DataFrame:
    """The naive comparisons in the order of the others, which stand by their evidence."""
    keys = _content.pair_keys(comparison)
    at = {_mark(naive, keys, i): i for i in range(len(naive))}
    order = [at[_mark(comparison, keys, i)] for i in range(len(comparison))]
    return naive.iloc[order].reset_index(drop=True)


def _mark(frame: pd.DataFrame, keys: list[Hashable], row: int) -> tuple[str, ...]:
    return tuple(repr(plain(frame[key].iloc[row])) for key in keys)


def _methods(parts: Parts, beside: pd.DataFrame | None) -> tuple[Method, ...]:
    """What ran, as the columns of the answers tell."""
    rates, comparison = parts.rates, parts.comparison
    columns: list[tuple[str, pd.DataFrame | None, str, Mapping[str, methods.Method]]] = [
        (SCORES, rates, "method", methods.RATE),
        ("Intervals for independent scores", parts.naive, "method", methods.NAIVE),
        ("Clustering", parts.clustering, "icc_method", methods.ICC),
        (DIFFERENCES, comparison, "method", methods.DIFFERENCE),
        (f"{DIFFERENCES} for independent items", beside, "method", methods.NAIVE_DIFFERENCE),
        ("p-values", comparison, "test", methods.TEST),
        ("Several comparisons", comparison, "correction", methods.CORRECTION),
        ("Verdict against the margin", comparison, "claim", methods.VERDICT),
    ]
    found = [
        (role, name, texts[name])
        for role, frame, column, texts in columns
        if frame is not None and column in frame
        for name in dict.fromkeys(frame[column].astype(str))
        if name
    ]
    if comparison is not None and "simultaneous_low" in comparison and len(comparison) > 1:
        found.append(("Limits for all pairs together", "sup_t", methods.SIMULTANEOUS["sup_t"]))
    if rates["cluster"].astype(str).str.contains(BETWEEN, regex=False).any():
        found.append(("Crossed clusterings", "crossed", methods.CROSSED["crossed"]))
    return tuple(
        Method(role=role, name=name, text=about.sentence, sources=about.sources)
        for role, name, about in found
    )


def _versions() -> dict[str, str]:
    from evalci_accessor import __version__

    own = {"python": platform.python_version(), "evalci-accessor": __version__}
    return own | {name: version(name) for name in _PACKAGES}
