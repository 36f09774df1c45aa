"""A report as Markdown: text of the user's is escaped, so that it shows as it is."""

from __future__ import annotations

import re

from evalci_accessor.report._cells import visible
from evalci_accessor.report._layout import Block, Entries, Figure, Para, Table, sections
from evalci_accessor.report._report import Report

# What Markdown reads as markup wherever it stands; an underscore within a word and a bracket that begins no link are none.
_MARKS = re.compile(r"[\\`*|~$]|(?<!\w)_|_(?!\w)|\](?=[(:\[])")


def markdown(report: Report) -> str:
    """The whole report but its pictures."""
    parts = [f"# {escape(report.title)}"]
    for section in sections(report):
        parts.append(f"## {escape(section.heading)}")
        parts += [text for block in section.blocks if (text := _block(block))]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text that Markdown, and the HTML it becomes, show as it is."""
    safe = visible(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\g<0>", safe)


def _block(block: Block) -> str:
    match block:
        case Para():
            return f"{'> ' if block.quoted else ''}{escape(block.text)}"
        case Table():
            rule = ["---"] * len(block.head)
            lines = [[*map(escape, block.head)], rule, *([*map(escape, row)] for row in block.cells)]
            return "\n".join([f"*{escape(block.caption)}*", "", *map(_row, lines)])
        case Entries():
            return "\n".join(
                f"- **{escape(one.term.rstrip('.'))}**: {escape(one.text)}"
                + "".join(f"\n  - {escape(source.text)}{f' <{source.url}>' if source.url else ''}" for source in one.sources)
                for one in block.entries
            )
        case Figure():
            return ""


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
