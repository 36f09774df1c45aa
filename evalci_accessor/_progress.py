"""Shim."""
from evalci_accessor.stats.progress import progress, within
from evalci_accessor.stats import progress as _p
