"""What goes wrong, as classes to catch: every error is an `EvalCIError` and also the builtin that it resembles."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np


class EvalCIError(ValueError):
    """Base of all errors of the package: says what was found, what is allowed, and what to do next."""

    def __str__(self) -> str:
        # KeyError would show the message as a quoted literal with escapes.
        return str(self.args[0]) if self.args else ""


class ColumnNotFoundError(EvalCIError, KeyError):
    """A name is neither a column, an index level, a coordinate nor a variable."""


class AmbiguousNameError(EvalCIError):
    """A name fits more than one column, or would stand twice in the result."""


class AlignmentError(EvalCIError):
    """A Series or an array does not fit the rows of the object."""


class DimensionError(EvalCIError):
    """The dims to reduce cannot be told, or do not exist."""


class ScoreError(EvalCIError):
    """The scores cannot be used."""


class ScoreTypeError(ScoreError, TypeError):
    """The scores are not numbers."""


class ScoreRangeError(ScoreError):
    """The scores lie outside the range that the method is made for."""


class MissingScoreError(ScoreError):
    """Scores are missing and the policy is to raise."""


class WeightError(EvalCIError):
    """Weights are missing, negative, infinite, all zero, not the same for an item, or not for this method."""


class ClusterError(EvalCIError):
    """The clusters do not allow the question: there is only one, say."""


class MissingClusterError(ClusterError):
    """Rows without a cluster id."""


class PairingError(EvalCIError):
    """The scores do not pair up: items without a partner, or more than one score for an item and a system."""


class PilotError(EvalCIError):
    """The pilot does not tell what a plan needs: nothing varies in it, say."""


class SamplesError(EvalCIError):
    """The samples of an item do not allow the question: fewer than k, say, or two under one number."""


class MethodError(EvalCIError):
    """An option is unknown, or does not apply to these data."""


class MissingExtraError(EvalCIError, ImportError):
    """An optional package that the call needs is not installed."""


class EvalCIWarning(UserWarning):
    """Base of all warnings of the package."""


class FewClustersWarning(EvalCIWarning):
    """So few effective clusters that intervals lean on the prior of the ICC, or variances between them are told badly."""


class DominantClusterWarning(EvalCIWarning):
    """One cluster holds over a quarter of the items."""


class DegenerateRateWarning(EvalCIWarning):
    """All scores, or all cluster rates, are equal: the data cannot tell the ICC."""


class RareOutcomeWarning(EvalCIWarning):
    """The rarer outcome occurs in fewer than five clusters."""


class InformativeSizeWarning(EvalCIWarning):
    """Rates go with cluster sizes, so the interval was widened by its guard."""


class BootstrapWarning(EvalCIWarning):
    """A cluster bootstrap where cluster bootstraps are known to undercover."""


class EffectiveSizeWarning(EvalCIWarning):
    """The estimated variance is zero, so the effective number of clusters stands in for the sample size."""


class SingletonClusterWarning(EvalCIWarning):
    """Every cluster holds one item, so clustering by it changes nothing."""


class NestedClustersWarning(EvalCIWarning):
    """Clusterings that were named as crossed are nested, so the coarsest counts alone."""


class CrossedVarianceWarning(EvalCIWarning):
    """The variance of crossed clusterings is negative, or less than that of one of them alone: their clusters are too few."""


class MissingScoreWarning(EvalCIWarning):
    """Scores were left out at the caller's request."""


class SentinelScoreWarning(EvalCIWarning):
    """A single negative value among scores of 0 or more, as logs write for a failed parse."""


class MixedScaleWarning(EvalCIWarning):
    """Groups of rates stand beside groups on another scale, so none has an interval made for rates."""


class CountWeightsWarning(EvalCIWarning):
    """Fractions under weights that look like rates of so many scores each: weights do not count scores."""


class PercentScoreWarning(EvalCIWarning):
    """Scores that are all 0 or 100: rates in percent, which the default takes for an open scale."""


class ClusterIdWarning(EvalCIWarning):
    """Ids of clusters, or of items with repeated samples, that look alike are kept apart."""


class ScanWarning(EvalCIWarning):
    """A column that could be a clustering could not be looked at."""


class UnmatchedItemsWarning(EvalCIWarning):
    """Items that only one system of a pair has were left out at the caller's request, or items have unequal repeats."""


class SharedKeyWarning(EvalCIWarning):
    """Several columns make the item's key, so items share their values, and no cluster was named."""


class FewDiscordantWarning(EvalCIWarning):
    """So few items on which the systems differ that the data say little about which is better."""


class PooledSamplesWarning(EvalCIWarning):
    """A column that the call does not name divides the samples of the items, as a model would that by= forgot."""


class TooFewSamplesWarning(EvalCIWarning):
    """Items with fewer samples than asked for were left out at the caller's request."""


class PlanWarning(EvalCIWarning):
    """More items in the pilot's clusters cannot reach the goal, however many: more clusters are needed."""


class StoppedEarlyWarning(EvalCIWarning):
    """A simulation was stopped before it was done, and the answer is that of the part that was."""


__all__ = [
    name
    for name, thing in list(globals().items())
    if isinstance(thing, type) and issubclass(thing, (EvalCIError, EvalCIWarning))
]

_PACKAGE = str(Path(__file__).parent)
Held: TypeAlias = list[tuple[str, type[EvalCIWarning]]]
_held: ContextVar[Held | None] = ContextVar("held", default=None)


@contextmanager
def held() -> Iterator[Held]:
    """Keep what the package warns of within, instead of giving it; other threads go on as they were."""
    kept: Held = []
    token = _held.set(kept)
    try:
        yield kept
    finally:
        _held.reset(token)


def warn(message: str, category: type[EvalCIWarning]) -> None:
    """Warn as if from the first frame outside the package."""
    kept = _held.get()
    if kept is not None:
        kept.append((message, category))
        return
    level = 1
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level += 1
        frame = frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)


def plain(value: object) -> object:
    """A numpy scalar as Python's own, so that it prints as the user wrote it."""
    return value.item() if isinstance(value, np.generic) else value


def examples(
    items: Iterable[Any], limit: int = 5, between: str = ", ", words: Callable[[Any], object] = str
) -> str:
    """At most five examples, and how many more there are; only those that are shown are put into ``words``."""
    listed = list(items)
    more = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return between.join(str(words(item)) for item in listed[:limit]) + more
