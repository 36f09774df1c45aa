"""Warnings that point at the caller's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from evalci_accessor.exceptions import EvalCIWarning

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


def examples(items: Iterable[Any], limit: int = 5, between: str = ", ", words: Callable[[Any], object] = str) -> str:
    """At most five examples, and how many more there are; only those that are shown are put into ``words``."""
    listed = list(items)
    more = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return between.join(str(words(item)) for item in listed[:limit]) + more
