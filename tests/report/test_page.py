"""The page in headless Chromium: it asks for nothing, complains of nothing, fits a phone, and can be heard.

``EVALCI_CHROMIUM`` names the program and ``EVALCI_AXE`` the file axe.min.js, where they are not found.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from conftest import _skip, requires
from evalci_accessor import datasets

from . import browser
from .test_report import NASTY, few, quiet, small

matplotlib = requires("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")

AXE = "axe-core@4.14.1"
WIDTHS = [360, 600, 700, 940, 1280]
WIDE = "W" * 40
LONG = "a-system-with-a-name-of-sixty-letters-that-has-no-space-in-it"


@pytest.fixture(scope="module")
def chromium():
    program = browser.find()
    if program is None:
        _skip(
            "Chromium is not installed (Debian's package is chromium); or set EVALCI_CHROMIUM",
            "EVALCI_REQUIRE_ALL_DEPS",
        )
    tab = browser.Browser(program)
    yield tab
    tab.close()


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The source of axe-core: a file that is named, or else the package from the npm registry."""
    named = os.environ.get("EVALCI_AXE")
    if named:
        return Path(named).read_text(encoding="utf-8")
    folder = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        _skip("axe-core comes from npm, which is not installed; or set EVALCI_AXE", "EVALCI_REQUIRE_ALL_DEPS")
    packed = subprocess.run(
        ["npm", "pack", AXE, "--silent"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip
    if packed.returncode:
        _skip(
            f"npm pack {AXE} failed: {packed.stderr.strip()[-200:]}; or set EVALCI_AXE",
            "EVALCI_REQUIRE_ALL_DEPS",
        )
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        return archive.extractfile("package/axe.min.js").read().decode("utf-8")


def plain():
    return datasets.load_rag_eval().evalci.report("doc_id", factor="model", item="item", rng=1)


def nasty():
    names = [*NASTY, LONG, WIDE]
    return small(names).evalci.report(
        "doc", factor="model", item="item", rng=1, title=f"{NASTY[0]} {LONG}", nouns=(f"<i>{LONG}", LONG),
        not_covered={"label error": f"<img src=https://example.org/x onerror=alert(1)> {LONG}"},
    )  # fmt: skip


def warned():
    return few().evalci.report("doc_id", factor="model", item="item", margin=0.05)


def many():
    frame = datasets.load_rag_eval().assign(slice=lambda d: [f"{LONG}-{i % 13}" for i in d["item"]])
    return quiet(lambda: frame.evalci.report("doc_id", by=["slice", "model"]))


PAGES = {"plain": plain, "nasty": nasty, "warned": warned, "many": many}


@pytest.fixture(scope="module", params=PAGES)
def made(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    report = PAGES[request.param]()
    report.to_html(path)
    return report, path


def test_a_browser_that_hangs_fails_once_and_leaves_nothing(tmp_path, monkeypatch):
    """It is ended with all that it began, its last words are told, and no later call waits."""
    program, child = tmp_path / "chromium", tmp_path / "child"
    program.write_text(f"#!/bin/sh\nsleep 300 &\necho $! > {child}\necho no display >&2\nwait\n")
    program.chmod(0o755)
    monkeypatch.setattr(browser, "PATIENCE", 1.0)
    with pytest.raises(
        RuntimeError, match=r"has not answered for 1 seconds, so it was ended; it said: no display"
    ):
        browser.Browser(str(program))
    status = Path(f"/proc/{child.read_text().strip()}/stat")
    for _ in range(100):
        if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.02)
    else:
        pytest.fail("its child is still there")
    program.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(RuntimeError, match="Chromium is gone"):
        browser.Browser(str(program))


OVERFLOWS = """[...document.querySelectorAll('main *')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width && !e.closest('thead') && !e.closest('svg') && (box.right > innerWidth + 0.5 || box.left < -0.5);
}).map(e => e.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("width", WIDTHS)
def test_page_fits_is_silent_and_asks_for_nothing(chromium, made, width):
    report, path = made
    chromium.open(path, width)
    assert chromium.complaints() == []
    assert chromium.requests() == [path.resolve().as_uri()]
    assert chromium.evaluate("innerWidth") == width
    assert chromium.evaluate("document.documentElement.scrollWidth") <= width
    assert chromium.evaluate(OVERFLOWS) == []
    tables, figures = (5, 2) if report.comparison is not None else (3, 1)
    assert (
        chromium.evaluate(
            "[...document.querySelectorAll('table')].filter(t => t.getClientRects().length).length"
        )
        == tables
    )
    sizes = chromium.evaluate(
        "[...document.querySelectorAll('figure svg')].map(s => [s.clientWidth, s.clientHeight])"
    )
    assert len(sizes) == figures
    assert all(min(360, width) - 40 <= wide <= width and high > 50 for wide, high in sizes)
    assert chromium.evaluate("document.scripts.length + document.images.length") == 0
    lines = chromium.evaluate(
        "[...document.querySelectorAll('td .limits')].map(s => s.getClientRects().length)"
    )
    assert set(lines) == {1}  # no interval is torn apart


DARK = """<style>body { margin: 0; background: #111; color: #eee; color-scheme: dark; } .host table { color: #ddd; }
.host tbody tr:nth-child(odd) { background: #222; } .host tbody tr:nth-child(even) { background: #181818; }
.host td, .host th { color: #eee; text-align: right; } .host p, .host blockquote p, .host li, .host dd, .host h3 { color: #eee; }
.host caption, .host figcaption { color: #eee; text-align: center; }</style>"""


@pytest.mark.parametrize("column", [320, 700, 1100])
def test_a_notebook_may_be_narrower_than_its_window_and_dark(chromium, made, tmp_path, column):
    report, path = made[0], tmp_path / "notebook.html"
    host = f"{DARK}<main class=host style='width:{column}px'>"
    path.write_text(
        f"<!DOCTYPE html><meta charset=utf-8>{host}{report._repr_html_()}</main>", encoding="utf-8"
    )
    chromium.open(path, 1280)
    assert chromium.evaluate(OVERFLOWS.replace("innerWidth", str(column))) == []
    computed = (
        "(names, shown) => [...new Set([...document.querySelectorAll(names)].map(e => getComputedStyle(e)).map(s => "
        "shown.map(name => s[name]).join(' ')))]"
    )
    cells = chromium.evaluate(f"({computed})('table, tr, th, td', ['color', 'backgroundColor', 'textAlign'])")
    assert cells == ["rgb(26, 26, 26) rgba(0, 0, 0, 0) left"]
    assert chromium.evaluate(f"({computed})('p, h2, h3, dt, dd, li, blockquote', ['color'])") == [
        "rgb(26, 26, 26)"
    ]
    assert chromium.evaluate(f"({computed})('caption, figcaption', ['color', 'textAlign'])") == [
        "rgb(68, 68, 68) left"
    ]


def test_scripts_in_names_show_as_text(chromium, tmp_path):
    path = tmp_path / "report.html"
    nasty().to_html(path)
    chromium.open(path, 360)
    shown = chromium.evaluate(
        "[...document.querySelector('table').querySelectorAll('tbody th')].map(t => t.textContent)"
    )
    assert shown == [*NASTY[:2], "</svg></style>\ufffd $x$", LONG, WIDE]
    assert "<script>alert(1)</script>" in chromium.evaluate("document.body.innerText")
    assert not [one for one in chromium.events if one.get("method") == "Page.javascriptDialogOpening"]


def test_a_script_would_not_run_even_if_it_got_in(chromium, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(
        plain().to_html().replace("</main>", "<script>document.title = 'ran'</script></main>"),
        encoding="utf-8",
    )
    chromium.open(path, 360)
    assert chromium.evaluate("document.title") == "score, clustered by doc_id"
    assert "Content Security Policy" in " ".join(chromium.complaints())


@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing(chromium, axe, made, width):
    _, path = made
    chromium.open(path, width)
    chromium.evaluate(f"{axe};0")
    found = json.loads(
        chromium.evaluate("axe.run().then(r => JSON.stringify([r.violations, r.passes.length]))")
    )
    assert found[1] > 10  # it looked at something
    assert [(one["impact"], one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found[0]] == []


def test_screen_reader_hears_tables_as_tables_on_a_phone(chromium, made):
    report, path = made
    chromium.open(path, 360)
    nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
    roles = pd.Series([node["role"]["value"] for node in nodes if not node.get("ignored")]).value_counts()
    rows = (
        len(report.rates) * 2
        + len(report.clustering)
        + 2 * (0 if report.comparison is None else len(report.comparison))
    )
    n_tables = 3 if report.comparison is None else 5
    assert roles["table"] == n_tables
    assert roles["row"] == rows + n_tables
    assert roles["rowheader"] == rows
    names = [
        node["name"]["value"]
        for node in nodes
        if node["role"]["value"] == "image" and not node.get("ignored")
    ]
    assert len(names) == (1 if report.comparison is None else 2)
    assert all("the numbers are in the table above" in name for name in names)


def test_pictures_on_a_page_share_no_id(chromium, made):
    _, path = made
    chromium.open(path, 1280)
    ids = chromium.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids)) > 0
    dangling = "[...document.querySelectorAll('use')].filter(u => !document.querySelector(u.getAttribute('href'))).length"
    assert chromium.evaluate(dangling) == 0


def test_pictures_show_the_intervals_where_they_are(chromium, tmp_path):
    """The right end of the widest line of each row goes with the upper limit of the table."""
    report, path = plain(), tmp_path / "report.html"
    report.to_html(path)
    chromium.open(path, 1280)
    found = chromium.evaluate(
        "[...document.querySelector('figure svg').querySelectorAll('path')].filter(p => /stroke-width: 2.4/.test("
        "p.getAttribute('style')) && /#1b7fc0/.test(p.getAttribute('style'))).map(p => {const b = p.getBoundingClientRect();"
        "return [b.top, b.left, b.right]})"
    )
    ends = np.array(sorted(found))
    assert ends.shape == (3, 3)
    limits = report.rates[["ci_low", "ci_high"]].to_numpy()
    slope, start = np.polyfit(limits.ravel(), ends[:, 1:].ravel(), 1)
    assert slope > 0
    assert np.abs(start + slope * limits - ends[:, 1:]).max() < 0.5  # pixels


def test_the_style_of_the_user_stays_and_has_no_say():
    before = plain().to_html()
    with matplotlib.rc_context({"lines.linewidth": 9, "axes.facecolor": "black", "font.size": 30}):
        settings = dict(matplotlib.rcParams.copy())
        assert plain().to_html() == before
        assert dict(matplotlib.rcParams.copy()) == settings
    assert not plt.get_fignums()


def test_print_fits_on_paper(chromium, made, tmp_path):
    _, path = made
    chromium.open(path, 1280)
    chromium.send("Emulation.setEmulatedMedia", media="print")
    chromium.send(
        "Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False
    )  # A4
    try:
        assert chromium.evaluate("document.documentElement.scrollWidth") <= 718
        chromium.pdf(tmp_path / "report.pdf")
    finally:
        chromium.send("Emulation.setEmulatedMedia", media="")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
