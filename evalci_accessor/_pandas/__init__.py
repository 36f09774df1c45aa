"""Accessors for DataFrame and Series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalci_accessor._pandas import components as components
    from evalci_accessor._pandas import crosscheck as crosscheck
    from evalci_accessor._pandas import methods as methods
    from evalci_accessor._pandas import pairs as pairs
    from evalci_accessor._pandas import plan as plan
    from evalci_accessor._pandas import plots as plots
    from evalci_accessor._pandas import repeated as repeated
    from evalci_accessor._pandas import reports as reports


def __getattr__(name: str) -> Any:
    # The statistics load at the first call, so that importing the package costs little over pandas.
    if name in ("methods", "pairs", "crosscheck", "repeated", "components", "plan", "plots", "reports"):
        import importlib

        return importlib.import_module(f"evalci_accessor._pandas.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
