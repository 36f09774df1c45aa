"""Shim."""
from evalci_accessor.exceptions import examples, held, plain, warn, _held
