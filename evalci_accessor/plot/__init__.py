"""Pictures of results, drawn from their numbers. Needs matplotlib, which is imported when a picture is asked for."""

from __future__ import annotations

from evalci_accessor.plot._clusters import clusters
from evalci_accessor.plot._differences import differences
from evalci_accessor.plot._forest import forest

__all__ = ["clusters", "differences", "forest"]
