"""Honest intervals for eval scores: ``.evalci`` on DataFrame, Series, DataArray and Dataset."""

from evalci_accessor import datasets, exceptions, stats
from evalci_accessor._api import evalci
from evalci_accessor._register import register

__version__ = "0.1.0"
__all__ = ["__version__", "datasets", "evalci", "exceptions", "stats"]

register()
