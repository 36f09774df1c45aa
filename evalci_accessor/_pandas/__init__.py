"""Accessors for DataFrame and Series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalci_accessor._pandas import methods as methods


def __getattr__(name: str) -> Any:
    # The statistics load at the first call, so that importing the package costs little over pandas.
    if name == "methods":
        import importlib

        return importlib.import_module("evalci_accessor._pandas.methods")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
