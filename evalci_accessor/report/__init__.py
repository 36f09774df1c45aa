"""Reports that can be audited, and results as tables for a notebook. Loaded when a report is asked for."""

from __future__ import annotations

from evalci_accessor.report._content import Finding, Gap, Method
from evalci_accessor.report._report import Report
from evalci_accessor.report._table import table
from evalci_accessor.stats.methods import Source

__all__ = ["Finding", "Gap", "Method", "Report", "Source", "table"]
