"""A progress bar for work that turns out to be long, where tqdm is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
_DELAY = 2.0  # seconds before a bar appears, so that quick work shows none


def progress(items: Sequence[T], *, label: str, unit: str) -> Iterable[T]:
    """The items, with a bar on stderr once two seconds have passed."""
    if len(items) < 2:
        return items
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    bar: Iterable[T] = tqdm(items, desc=label, unit=unit, delay=_DELAY, leave=False)
    return bar
