"""Accessors for DataArray and Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalci_accessor._xarray import components as components
    from evalci_accessor._xarray import crosscheck as crosscheck
    from evalci_accessor._xarray import methods as methods
    from evalci_accessor._xarray import pairs as pairs
    from evalci_accessor._xarray import plan as plan
    from evalci_accessor._xarray import plots as plots
    from evalci_accessor._xarray import repeated as repeated
    from evalci_accessor._xarray import reports as reports


def __getattr__(name: str) -> Any:
    # The statistics load at the first call, so that importing the package costs little over xarray.
    if name in ("methods", "pairs", "crosscheck", "repeated", "components", "plan", "plots", "reports"):
        import importlib

        return importlib.import_module(f"evalci_accessor._xarray.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
