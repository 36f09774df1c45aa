"""``.evalci``: one family of accessors, which differ in how they read and in the type of their answers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, overload

import pandas as pd
import xarray as xr

from evalci_accessor.accessor.checks import Checks, Reports
from evalci_accessor.accessor.pairs import Pairs
from evalci_accessor.accessor.planning import Planning
from evalci_accessor.accessor.plots import Drawing, Plots
from evalci_accessor.accessor.rates import Rates
from evalci_accessor.accessor.repeated import Repeated
from evalci_accessor.read import Answer
from evalci_accessor.read.cube import CubeReader
from evalci_accessor.read.frame import FrameReader

# Words of other tools, and ours.
_OURS = {
    "alpha": "confidence_level= (which is 1 - alpha)",
    "level": "confidence_level=",
    "groupby": "by=",
    "group": "by=",
    "clusters": "cluster=",
    "metric": "score=",
}


class Evalci(
    Rates[Answer],
    Pairs[Answer],
    Repeated[Answer],
    Planning[Answer],
    Checks[Answer],
    Reports[Answer],
    Generic[Answer],
):
    """Honest intervals for eval scores; every public method stands here once, for all containers."""

    plot = Drawing()


class FrameAccessor(Evalci[pd.DataFrame]):
    """Honest intervals for a frame with one row a score, or for a Series of scores: ``df.evalci``."""

    def __init__(self, obj: pd.DataFrame | pd.Series) -> None:
        self._obj, self._read = obj, FrameReader(obj)


class CubeAccessor(Evalci[xr.Dataset]):
    """Honest intervals for a cube of scores, a Dataset or a DataArray: ``ds.evalci``."""

    def __init__(self, obj: xr.Dataset | xr.DataArray) -> None:
        self._obj, self._read = obj, CubeReader(obj)


def _answers_other_words(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which answers the words of other tools with ours."""
    known = inspect.signature(method).parameters

    @functools.wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        for word in options:
            if word in _OURS and word not in known:
                raise TypeError(f"{method.__name__}() has no {word}=. Here it is called {_OURS[word]}.")
        return method(*args, **options)

    return call


for _part in (Rates, Pairs, Repeated, Planning, Checks, Reports, Plots):
    for _name, _method in list(vars(_part).items()):
        if inspect.isfunction(_method) and not _name.startswith("_"):
            setattr(_part, _name, _answers_other_words(_method))


@overload
def evalci(obj: pd.DataFrame | pd.Series) -> FrameAccessor: ...
@overload
def evalci(obj: xr.DataArray | xr.Dataset) -> CubeAccessor: ...
def evalci(obj: Any) -> FrameAccessor | CubeAccessor:
    """The same as ``obj.evalci``, with types.

    Parameters
    ----------
    obj : DataFrame, Series, DataArray or Dataset
        What holds the scores.

    Returns
    -------
    FrameAccessor or CubeAccessor

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
    if isinstance(obj, (pd.DataFrame, pd.Series)):
        return FrameAccessor(obj)
    if isinstance(obj, (xr.DataArray, xr.Dataset)):
        return CubeAccessor(obj)
    raise TypeError(
        f"evalci() takes a pandas DataFrame or Series or an xarray DataArray or Dataset; got {type(obj).__name__}."
    )
