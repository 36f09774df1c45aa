"""Check every internal link of the built pages: the file is there, and so is the anchor in it.

python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

POINTS = {"href", "src", "data-src", "poster"}


class Links(HTMLParser):
    """What a page points to, with the line, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.targets: list[tuple[int, str]] = []
        self.anchors: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name in POINTS:
                self.targets.append((self.getpos()[0], value))


def broken(root: Path) -> tuple[list[str], int]:
    """Links that lead nowhere, in words, and how many there were to look at."""
    files = [path for path in sorted(root.rglob("*.html")) if path.relative_to(root).parts[0] != "_static"]
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in files}
    found, looked_at = [], 0
    for page, links in pages.items():
        for line, target in links.targets:
            url, anchor = urldefrag(target)
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            looked_at += 1
            here = f"{page.relative_to(root)}:{line}"
            base = root if parts.path.startswith("/") else page.parent
            to = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else page.resolve()
            if to.is_dir():
                to = to / "index.html"
            if not to.is_file():
                found.append(f"{here}: {target} is not there")
            elif anchor and to in pages and unquote(anchor) not in pages[to].anchors:
                found.append(f"{here}: {target} has no such anchor")
    return found, looked_at


def main(arguments: list[str]) -> int:
    """Say what is broken; 1 if anything is, or if there is nothing to look at."""
    root = Path(arguments[0] if arguments else "docs/_build/html").resolve()
    found, looked_at = broken(root)
    print("\n".join(found) or f"{looked_at:,} internal links of {root.name}, none broken")
    return int(bool(found) or not looked_at)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
