"""From the methods' answers to a report: warnings caught, answers put side by side, methods looked up."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, TypeVar

import pandas as pd

from evalci_accessor._crosscheck import refuse_without_factor
from evalci_accessor._options import ReportOptions, Wording
from evalci_accessor._warn import plain
from evalci_accessor.exceptions import EvalCIWarning, MethodError, ScoreError
from evalci_accessor.plot._intervals import in_unit
from evalci_accessor.report import _sources
from evalci_accessor.report._cells import Speech, check_nouns
from evalci_accessor.report._gaps import gaps
from evalci_accessor.report._report import Finding, Method, Report, pair_keys

T = TypeVar("T")
_PACKAGES = ("evalci-accessor", "numpy", "pandas", "scipy", "xarray")
_LIMITS = ("estimate", "ci_low", "ci_high")


class Findings:
    """What the methods warn of, in their order, each once."""

    def __init__(self) -> None:
        self._found: dict[str, Finding] = {}

    def of(self, about: str, call: Callable[[], T]) -> T:
        """The answer of a method, and its warnings kept."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = call()
        for one in caught:
            if issubclass(one.category, EvalCIWarning):
                meaning = (one.category.__doc__ or "").strip()
                finding = Finding(kind=one.category.__name__, meaning=meaning, message=str(one.message), about=about)
                self._found.setdefault(finding.message, finding)
            else:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno, source=one.source)
        return answer

    @property
    def all(self) -> tuple[Finding, ...]:
        """All of them."""
        return tuple(self._found.values())


@contextmanager
def unsaid() -> Iterator[None]:
    """Without the warnings of what ignores the clusters; the answers to report have said them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalCIWarning)
        yield


def check(factor: Any, item: Any, pairs: Any, baseline: Any, sample: Any, options: ReportOptions, wording: Wording) -> None:
    """Refuse what does not go together, before anything is computed."""
    if factor is None:
        refuse_without_factor(item, pairs, baseline, sample)
        if options.margin is not None or options.claim is not None:
            raise MethodError("margin= and claim= belong to a comparison; name what tells the systems apart with factor=.")
    if options.claim is not None and options.margin is None:
        raise MethodError(f"claim={options.claim!r} says what a margin is for; give it with margin=.")
    if wording.title is not None and not isinstance(wording.title, str):
        raise MethodError(f"title= must be text; got {type(wording.title).__name__}.")
    check_nouns(wording.nouns)
    gaps(wording.not_covered)


def build(
    score: str, keys: list[Hashable], rates: pd.DataFrame, naive: pd.DataFrame, clustering: pd.DataFrame,
    comparison: pd.DataFrame | None, naive_comparison: pd.DataFrame | None, findings: Findings, *, options: ReportOptions,
    wording: Wording, by_sample: bool,
) -> Report:  # fmt: skip
    """Put the answers together; ``by_sample`` says that a score is of a sample, not of an item."""
    if not rates["n"].sum():
        raise ScoreError(f"There is nothing to report on: none of the rows holds a score in {score!r} that counts.")
    limits = [frame[name].to_numpy(dtype=float) for frame in (rates, naive) for name in _LIMITS]
    nouns = check_nouns(wording.nouns)
    percent = in_unit(*limits) if wording.percent is None else wording.percent
    clusters = str(rates["cluster"].iloc[0])
    beside = None if comparison is None or naive_comparison is None else _beside(comparison, naive_comparison)
    return Report(
        title=wording.title or f"{score}, clustered by {clusters}", score=score, keys=keys, rates=rates, naive=naive,
        clustering=clustering, comparison=comparison, naive_comparison=beside, warnings=findings.all,
        not_covered=gaps(wording.not_covered), methods=_methods(rates, naive, clustering, comparison), versions=_versions(),
        settings={
            "confidence_level": options.confidence_level, "n_resamples": options.n_resamples,
            "rng": options.rng if isinstance(plain(options.rng), int) else None,
        },
        speech=Speech(percent=percent, nouns=nouns, by_sample=by_sample),
    )  # fmt: skip


def _beside(comparison: pd.DataFrame, naive: pd.DataFrame) -> pd.DataFrame:
    """The naive comparisons in the order of the others, which stand by their evidence."""
    keys = pair_keys(comparison)
    at = {_mark(naive, keys, i): i for i in range(len(naive))}
    order = [at[_mark(comparison, keys, i)] for i in range(len(comparison))]
    return naive.iloc[order].reset_index(drop=True)


def _mark(frame: pd.DataFrame, keys: list[Hashable], row: int) -> tuple[str, ...]:
    return tuple(repr(plain(frame[key].iloc[row])) for key in keys)


def _methods(
    rates: pd.DataFrame, naive: pd.DataFrame, clustering: pd.DataFrame, comparison: pd.DataFrame | None
) -> tuple[Method, ...]:
    """What ran, as the columns of the answers tell."""
    columns: list[tuple[str, pd.DataFrame | None, str, Mapping[str, _sources.About]]] = [
        ("Intervals of the scores", rates, "method", _sources.RATE),
        ("Intervals for independent scores", naive, "method", _sources.NAIVE),
        ("Clustering", clustering, "icc_method", _sources.ICC),
        ("Intervals of the differences", comparison, "method", _sources.DIFFERENCE),
        ("p-values", comparison, "test", _sources.TEST),
        ("Several comparisons", comparison, "correction", _sources.CORRECTION),
        ("Verdict against the margin", comparison, "claim", _sources.VERDICT),
    ]
    found = []
    for role, frame, column, texts in columns:
        if frame is None or column not in frame:
            continue
        for name in dict.fromkeys(frame[column].astype(str)):
            if name:
                about = texts[name]
                found.append(Method(role=role, name=name, text=about.text, sources=about.sources))
    if comparison is not None and "simultaneous_low" in comparison:
        about = _sources.SIMULTANEOUS["sup_t"]
        found.append(Method(role="Limits for all pairs together", name="sup_t", text=about.text, sources=about.sources))
    if rates["cluster"].astype(str).str.contains(" + ", regex=False).any():
        about = _sources.CROSSED["crossed"]
        found.append(Method(role="Crossed clusterings", name="crossed", text=about.text, sources=about.sources))
    return tuple(found)


def _versions() -> dict[str, str]:
    from evalci_accessor import __version__

    return {"python": platform.python_version(), "evalci-accessor": __version__} | {
        name: version(name) for name in _PACKAGES if name != "evalci-accessor"
    }
