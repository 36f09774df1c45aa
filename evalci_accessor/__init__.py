"""Honest intervals for eval scores: ``.evalci`` on DataFrame, Series, DataArray and Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalci_accessor import exceptions
from evalci_accessor._register import register as _register
from evalci_accessor.accessor import evalci

if TYPE_CHECKING:
    from evalci_accessor import datasets, plot, report, stats

__version__ = "0.1.0"
__all__ = ["__version__", "datasets", "evalci", "exceptions", "plot", "report", "stats"]

_register()


def __getattr__(name: str) -> Any:
    if name in ("datasets", "plot", "report", "stats"):
        import importlib

        return importlib.import_module(f"evalci_accessor.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
