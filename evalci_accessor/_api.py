"""A typed way to the accessors, which type checkers and completion cannot see on the objects themselves."""

from __future__ import annotations

from typing import overload

import pandas as pd
import xarray as xr

from evalci_accessor._pandas.accessor import DataFrameAccessor
from evalci_accessor._pandas.series import SeriesAccessor
from evalci_accessor._xarray.accessor import DatasetAccessor
from evalci_accessor._xarray.dataarray import DataArrayAccessor


@overload
def evalci(obj: pd.DataFrame) -> DataFrameAccessor: ...
@overload
def evalci(obj: pd.Series) -> SeriesAccessor: ...
@overload
def evalci(obj: xr.DataArray) -> DataArrayAccessor: ...
@overload
def evalci(obj: xr.Dataset) -> DatasetAccessor: ...
def evalci(
    obj: pd.DataFrame | pd.Series | xr.DataArray | xr.Dataset,
) -> DataFrameAccessor | SeriesAccessor | DataArrayAccessor | DatasetAccessor:
    """The same as ``obj.evalci``, with types.

    Parameters
    ----------
    obj : DataFrame, Series, DataArray or Dataset
        What holds the scores.

    Returns
    -------
    DataFrameAccessor, SeriesAccessor, DataArrayAccessor or DatasetAccessor

    Raises
    ------
    TypeError
        Any other object.

    Examples
    --------
    >>> from evalci_accessor import datasets, evalci
    >>> evalci(datasets.load_rag_eval()).proportion_ci(by="model").shape
    (3, 14)
    """
    if isinstance(obj, pd.DataFrame):
        return DataFrameAccessor(obj)
    if isinstance(obj, pd.Series):
        return SeriesAccessor(obj)
    if isinstance(obj, xr.DataArray):
        return DataArrayAccessor(obj)
    if isinstance(obj, xr.Dataset):
        return DatasetAccessor(obj)
    raise TypeError(
        f"evalci() takes a pandas DataFrame or Series or an xarray DataArray or Dataset; got {type(obj).__name__}."
    )
