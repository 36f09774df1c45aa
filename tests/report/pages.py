"""What a page of HTML shows, read without a browser."""

from __future__ import annotations

from html.parser import HTMLParser

EMPTY = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Its tables by caption, its tags with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: dict[str, list[list[str]]] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.headings: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in EMPTY:
            return
        self.open.append(tag)
        if tag == "table":
            self._rows: list[list[str]] = []
            self._caption = ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
        elif tag in ("h1", "h2", "h3"):
            self.headings.append((tag, ""))

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            self._rows[-1][-1] += data
        elif "caption" in self.open:
            self._caption += data
        elif self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings[-1] = (self.headings[-1][0], self.headings[-1][1] + data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def table(self, begins: str) -> list[list[str]]:
        """The one table whose caption begins so."""
        (rows,) = [rows for caption, rows in self.tables.items() if caption.startswith(begins)]
        return rows
