"""A progress bar for work that turns out to be long, where tqdm is installed."""

from __future__ import annotations

import contextlib
import contextvars
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from evalci_accessor.exceptions import MethodError

T = TypeVar("T")
_DELAY = 2.0  # seconds before a bar appears, so that quick work shows none
_WITHIN = contextvars.ContextVar("evalci_accessor_within", default=False)


def progress(items: Sequence[T], *, label: str, unit: str, show: bool | None = None) -> Iterable[T]:
    """The items, with a bar on stderr once two seconds have passed; ``show`` forces it, or forbids it."""
    if show is False or _WITHIN.get() or (show is None and len(items) < 2):
        return items
    try:
        from tqdm import tqdm
    except ImportError:
        if show:
            raise MethodError(
                "progress=True needs tqdm, which is not installed: pip install 'evalci-accessor[progress]', or leave it out."
            ) from None
        return items
    # Logs and pipes get no bar; a notebook's output is no terminal but shows one.
    hidden = not (show or sys.stderr.isatty() or "ipykernel" in sys.modules)
    delay = 0.0 if show else _DELAY
    bar: Iterable[T] = tqdm(items, desc=label, unit=unit, delay=delay, leave=False, disable=hidden)
    return bar


@contextlib.contextmanager
def within() -> Iterator[None]:
    """No bars for what is called in here: it is a part of work that has a bar of its own, or wants none."""
    token = _WITHIN.set(True)
    try:
        yield
    finally:
        _WITHIN.reset(token)
