"""The pictures of a report as SVG that can stand within a page: no ids that clash, no style of its own."""

from __future__ import annotations

import io
import warnings
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from evalci_accessor.exceptions import MissingExtraError
from evalci_accessor.plot import differences, forest
from evalci_accessor.plot._canvas import Look
from evalci_accessor.plot._frame import MINUS
from evalci_accessor.report._content import Content, Row, pair_rows, rows, visible
from evalci_accessor.report._layout import Picture

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
        n_rows = len(
            content.rates if picture == "forest" or content.comparison is None else content.comparison
        )
        figure = Figure(figsize=(_WIDTH, 0.34 * n_rows + 0.75), layout="constrained")
        look: dict[str, Any] = {
            "label": _LABEL,
            "sort_by": None,
            "notes": False,
            "percent": content.speech.percent,
        }
        ax = figure.subplots()
        if picture == "forest" or content.comparison is None:
            names = [_short(row.label, _LETTERS) for row in rows(content.rates, content.keys)]
            forest(_named(content.rates, names), naive=content.naive, ax=ax, **look)
        else:
            found = pair_rows(content.comparison)
            names = [_pair(row) for row in found]
            differences(_named(content.comparison, names), ax=ax, **look)
            if content.speech.percent:
                ax.set_xlabel("difference, points")  # shorter than the picture's own, for narrow ones
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()  # the caption says it, in letters that a phone can wrap
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None}, transparent=True)
    return _inline(out.getvalue())


def _named(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return frame.assign(**{_LABEL: names})


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
