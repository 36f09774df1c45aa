"""Pictures of results, drawn from their numbers. Matplotlib is imported with the first of them."""

from __future__ import annotations

from evalci_accessor.plot._clusters import clusters
from evalci_accessor.plot._coverage import coverage
from evalci_accessor.plot._forest import differences, forest
from evalci_accessor.plot._pass_at_k import pass_at_k
from evalci_accessor.plot._power import power

__all__ = ["clusters", "coverage", "differences", "forest", "pass_at_k", "power"]
