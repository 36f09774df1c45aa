"""A progress bar for work that turns out to be long, where tqdm is installed."""

from __future__ import annotations

import sys
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
    # Logs and pipes get no bar; a notebook's output is no terminal but shows one.
    hidden = not (sys.stderr.isatty() or "ipykernel" in sys.modules)
    bar: Iterable[T] = tqdm(items, desc=label, unit=unit, delay=_DELAY, leave=False, disable=hidden)
    return bar
