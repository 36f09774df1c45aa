"""A report as one page of HTML that loads nothing, its pictures within it, and as Markdown."""

from __future__ import annotations

import html
import io
import re
import warnings
from hashlib import sha256
from string import Template
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from evalci_accessor.exceptions import MissingExtraError
from evalci_accessor.plot import differences, forest
from evalci_accessor.plot._canvas import Look
from evalci_accessor.plot._frame import MINUS
from evalci_accessor.report._content import Content, Row, pair_rows, rows, visible
from evalci_accessor.report._layout import (
    Block,
    Entries,
    Entry,
    Figure,
    Para,
    Picture,
    Section,
    Table,
    sections,
)

# What notebooks say of tables, such as bands for a dark page, is overruled.
_BASE = """
.evalci-report { box-sizing: border-box; max-width: 62rem; margin: 0 auto; padding: 1rem; background: #fff; color: #1a1a1a;
  font: 1rem/1.5 system-ui, sans-serif; text-align: left; overflow-wrap: anywhere; color-scheme: light; }
.evalci-report * { box-sizing: border-box; }
.evalci-report :is(h1, h2, h3) { margin: 1.6em 0 .5em; line-height: 1.25; }
.evalci-report h1 { font-size: 1.6em; } .evalci-report h2 { font-size: 1.25em; } .evalci-report h3 { font-size: 1.1em; }
.evalci-report > :is(h1, h2):first-child { margin-top: 0; }
.evalci-report blockquote { margin: 0; padding: .1rem 1rem; border-left: .25rem solid #1b7fc0; background: #f2f6fa; }
.evalci-report table { width: 100%; margin: 0 0 1.2rem; border-collapse: collapse; font-size: .95em; }
.evalci-report caption { padding: .3rem 0; caption-side: top; }
.evalci-report :is(th, td) { padding: .35rem .6rem; border-bottom: 1px solid #ccc; text-align: left; vertical-align: top;
  white-space: normal; font-variant-numeric: tabular-nums; }
.evalci-report :is(table, thead, tbody, tr, th, td) { background: none !important; }
.evalci-report :is(h1, h2, h3, p, blockquote, dt, dd, li, table, thead, tbody, tr, th, td) { color: inherit !important; }
.evalci-report :is(thead, tbody) th { min-width: 7em; }
.evalci-report thead th { border-bottom: 2px solid #1a1a1a; vertical-align: bottom; }
.evalci-report .limits { white-space: nowrap; }
.evalci-report figure { margin: 0 0 1.2rem; }
.evalci-report figure svg { display: block; width: 100%; max-width: 36rem; height: auto; }
.evalci-report :is(caption, figcaption) { color: #444 !important; font-weight: 400; text-align: left !important; }
.evalci-report figcaption { max-width: 40rem; font-size: .9em; }
.evalci-report dt { margin-top: .7rem; font-weight: 600; } .evalci-report dd { margin: 0 0 0 1rem; }
.evalci-report ul { margin: .2rem 0; padding-left: 1.2rem; font-size: .9em; } .evalci-report a { color: #0b5a8f; }
@media print {
  .evalci-report { max-width: none; padding: 0; font-size: 9pt; }
  .evalci-report :is(thead, tbody) th { min-width: 6.8em; } .evalci-report :is(th, td) { padding: .3em .4em; }
  .evalci-report :is(tr, figure, blockquote, dd) { break-inside: avoid; }
  .evalci-report :is(h1, h2, h3, dt, caption) { break-after: avoid; }
}
"""
# Where the report has little room, whatever the width of its window, each row of a table becomes a block.
_BLOCKS = """
@media screen { @container (max-width: $room) {
  .evalci-report $table thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .evalci-report :is($table, $table :is(tbody, tr, th[scope=row], td, caption)) { display: block; width: 100%; }
  .evalci-report $table tbody tr { padding: .4rem 0; border-bottom: 1px solid #999; }
  .evalci-report $table :is(tbody th, td) { padding: .1rem 0; border: 0; }
  .evalci-report $table td::before { content: attr(data-label) ": "; color: #444; }
} }
"""
_STYLE = (
    _BASE
    + "@media screen { .evalci-report { container-type: inline-size; } }"
    + Template(_BLOCKS).substitute(table="table", room="40rem")
    + Template(_BLOCKS).substitute(table="table.wide", room="56rem")
)

# The policy forbids scripts and every request, should anything ever get past the escaping.
_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>body { margin: 0; background: #fff; }$style</style>
</head>
<body>
<main class="evalci-report">
$body
</main>
</body>
</html>
""")
_FRAGMENT = Template("""<style>$style</style>
<div class="evalci-report">
$body
</div>
""")

# What Markdown reads as markup; an underscore within a word and a bracket that begins no link are none.
_MARKS = re.compile(r"[\\`*|~$]|(?<!\w)_|_(?!\w)|\](?=[(:\[])")


def escape(text: str) -> str:
    """Text that shows as it is, also within an attribute."""
    return html.escape(visible(text))


def page(content: Content) -> str:
    """A whole page."""
    return _PAGE.substitute(title=escape(content.title), style=_STYLE, body=_body(content, 1))


def fragment(content: Content) -> str:
    """A part of another page, such as a notebook."""
    return _FRAGMENT.substitute(style=_STYLE, body=_body(content, 2))


def _body(content: Content, level: int) -> str:
    parts = [f"<h{level}>{escape(content.title)}</h{level}>"]
    parts += [_section(content, section, level + 1) for section in sections(content)]
    return "\n".join(parts)


def _section(content: Content, section: Section, level: int) -> str:
    blocks = "\n".join(_block(content, block) for block in section.blocks)
    return f"<section>\n<h{level}>{escape(section.heading)}</h{level}>\n{blocks}\n</section>"


def _block(content: Content, block: Block) -> str:
    match block:
        case Para():
            text = f"<p>{escape(block.text)}</p>"
            return f"<blockquote>{text}</blockquote>" if block.quoted else text
        case Table():
            return _table(block)
        case Entries():
            return f"<dl>\n{''.join(map(_entry, block.entries))}</dl>"
        case Figure():
            return _figure(content, block)


def _table(table: Table) -> str:
    # Roles are written out, since browsers forget them where a phone's layout makes blocks of rows.
    head = "".join(f'<th scope="col" role="columnheader">{escape(name)}</th>' for name in table.head)
    rows = "\n".join(
        f'<tr role="row"><th scope="row" role="rowheader">{escape(first)}</th>'
        + "".join(
            f'<td role="cell" data-label="{escape(name)}">{_cell(cell)}</td>'
            for name, cell in zip(table.head[1:], cells, strict=True)
        )
        + "</tr>"
        for first, *cells in table.cells
    )
    kind = ' class="wide"' if len(table.head) > 5 else ""
    return (
        f'<table role="table"{kind}>\n<caption>{escape(table.caption)}</caption>\n'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>\n<tbody '
        f'role="rowgroup">\n{rows}\n</tbody>\n</table>'
    )


def _cell(text: str) -> str:
    """A cell, whose limits stay in one line."""
    return re.sub(r"\[[^\s\[\]]+, [^\s\[\]]+\]", r'<span class="limits">\g<0></span>', escape(text))


def _entry(entry: Entry) -> str:
    sources = "".join(
        f"<li>{escape(source.text)}"
        + (f' <a href="{escape(source.url)}" rel="noreferrer">{escape(source.url)}</a>' if source.url else "")
        + "</li>"
        for source in entry.sources
    )
    listed = f"<ul>{sources}</ul>" if sources else ""
    return f"<dt>{escape(entry.term)}</dt>\n<dd>{escape(entry.text)}{listed}</dd>\n"


def _figure(content: Content, figure: Figure) -> str:
    if not available():
        return (
            "<p>There is no picture here, since Matplotlib is not installed. Install it with: "
            "pip install &#x27;evalci-accessor[report]&#x27;</p>"
        )
    rows = len(_drawn(content, figure.picture))
    if rows > MOST:
        return f"<p>There is no picture here: it would have {rows} rows, and can have {MOST}.</p>"
    return (
        '<figure>\n<div role="img" '
        f'aria-label="{escape(figure.alt)}">{svg(content, figure.picture)}</div>\n'
        f"<figcaption>{escape(figure.caption)}</figcaption>\n</figure>"
    )


def markdown(content: Content) -> str:
    """The whole report but its pictures."""
    parts = [f"# {_escape_marks(content.title)}"]
    for section in sections(content):
        parts.append(f"## {_escape_marks(section.heading)}")
        parts += [text for block in section.blocks if (text := _marked(block))]
    return "\n\n".join(parts) + "\n"


def _escape_marks(text: str) -> str:
    """Text that Markdown, and the HTML it becomes, show as it is."""
    safe = visible(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\g<0>", safe)


def _marked(block: Block) -> str:
    match block:
        case Para():
            return f"{'> ' if block.quoted else ''}{_escape_marks(block.text)}"
        case Table():
            lines = [block.head, ["---"] * len(block.head), *block.cells]
            return "\n".join([f"*{_escape_marks(block.caption)}*", "", *map(_marked_row, lines)])
        case Entries():
            return "\n".join(
                f"- **{_escape_marks(one.term.rstrip('.'))}**: {_escape_marks(one.text)}"
                + "".join(
                    f"\n  - {_escape_marks(source.text)}{f' <{source.url}>' if source.url else ''}"
                    for source in one.sources
                )
                for one in block.entries
            )
        case Figure():
            return ""


def _marked_row(cells: list[str]) -> str:
    return f"| {' | '.join(map(_escape_marks, cells))} |"


MOST = 100  # rows that a picture can have
_SVG, _XLINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
_LABEL = "\0label"  # no column of a result is called so
_WIDTH = 4.6  # inches; on a phone letters shrink to three quarters
_LETTERS = 26


def available() -> bool:
    """Whether pictures can be drawn at all."""
    try:
        Look()
    except MissingExtraError:
        return False
    return True


def svg(content: Content, picture: Picture) -> str:
    """A picture as an ``<svg>`` element; its numbers are those of the report's tables, row for row."""
    import matplotlib as mpl
    from matplotlib import style
    from matplotlib.figure import Figure

    with warnings.catch_warnings(), style.context("default"):
        mpl.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "evalci"})
        # A box stands for what the font lacks; the table has the name.
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        frame = _drawn(content, picture)
        figure = Figure(figsize=(_WIDTH, 0.34 * len(frame) + 0.75), layout="constrained")
        ax, percent = figure.subplots(), content.speech.percent
        look: dict[str, Any] = {
            "label": _LABEL,
            "sort_by": None,
            "notes": False,
            "percent": percent,
            "ax": ax,
        }
        if frame is content.rates:
            names = [_short(row.label, _LETTERS) for row in rows(frame, content.keys)]
            forest(frame.assign(**{_LABEL: names}), naive=content.naive, **look)
        else:
            names = [_pair(row) for row in pair_rows(frame)]
            differences(frame.assign(**{_LABEL: names}), **look)
            if percent:
                ax.set_xlabel("difference, points")  # shorter than the picture's own, for narrow ones
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()  # the caption says it, in letters that a phone can wrap
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None}, transparent=True)
    return _inline(out.getvalue())


def _drawn(content: Content, picture: Picture) -> pd.DataFrame:
    """The result that a picture shows."""
    return content.rates if picture == "forest" or content.comparison is None else content.comparison


def _pair(row: Row) -> str:
    """The two systems of a comparison, and its group if there is one."""
    if not row.of:
        return MINUS.join(_short(side, _LETTERS // 2) for side in row.sides)
    of, *sides = (_short(text, _LETTERS // 3) for text in (row.of, *row.sides))
    return f"{of} \N{MIDDLE DOT} {MINUS.join(sides)}"


def _short(text: str, letters: int) -> str:
    """A label whose middle is left out where it is long; the table has all of it."""
    text = visible(text)
    if len(text) <= letters:
        return text
    half = (letters - 1) // 2
    return f"{text[:half]}\N{HORIZONTAL ELLIPSIS}{text[-half:]}"


def _inline(document: bytes) -> str:
    """The drawing alone, with ids that no other drawing on the page has."""
    root = ElementTree.fromstring(document)
    mark = f"e{sha256(document).hexdigest()[:10]}"
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    used = set()
    for node in root.iter():
        if _XLINK in node.attrib:
            target = node.attrib.pop(_XLINK)
            used.add(target.removeprefix("#"))
            node.set("href", f"#{mark}-{target.removeprefix('#')}")
        clip = node.get("clip-path", "")
        if clip.startswith("url(#"):
            used.add(clip[5:-1])
            node.set("clip-path", f"url(#{mark}-{clip[5:-1]})")
    for node in root.iter():
        name = node.attrib.pop("id", None)
        if name in used:
            node.set("id", f"{mark}-{name}")
        node.tag = node.tag.removeprefix(f"{{{_SVG}}}")
    root.attrib = {
        "xmlns": _SVG,
        "viewBox": root.attrib["viewBox"],
        "style": "stroke-linejoin:round;stroke-linecap:butt",
        "aria-hidden": "true",
        "focusable": "false",
    }
    return ElementTree.tostring(root, encoding="unicode")
