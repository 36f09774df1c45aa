"""Registers the accessors: the only caller of the ``register_*_accessor`` functions."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
import xarray as xr

from evalci_accessor.accessor import CubeAccessor, FrameAccessor

NAME = "evalci"


def register() -> None:
    """Register on all four; ours over ours (a reload, a second import) is silent, ours over another's warns."""
    for target, accessor, decorate in (
        (pd.DataFrame, FrameAccessor, pd.api.extensions.register_dataframe_accessor),
        (pd.Series, FrameAccessor, pd.api.extensions.register_series_accessor),
        (xr.DataArray, CubeAccessor, xr.register_dataarray_accessor),
        (xr.Dataset, CubeAccessor, xr.register_dataset_accessor),
    ):
        present = _registered(target)
        if present is accessor:
            continue
        with warnings.catch_warnings():
            if present is not None and getattr(present, "__module__", "").startswith("evalci_accessor."):
                warnings.simplefilter("ignore")
            decorate(NAME)(accessor)


def _registered(target: Any) -> Any:
    """The class behind ``target.evalci``, or None."""
    for base in target.__mro__:
        if NAME in vars(base):
            found = vars(base)[NAME]
            return getattr(found, "_accessor", found)
    return None
