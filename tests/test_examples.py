"""The example scripts run as they are: they print, draw, and write nothing that was not asked for."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from conftest import ROOT, requires

EXAMPLES = ROOT / "examples"
PNG = b"\x89PNG\r\n\x1a\n"

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not beside the tests")

# How many pictures each draws, and lines that must be in its output.
EXPECTED = {
    "quickstart": (0, [
        "A cube {'model': 3, 'item': 200} -> {'model': 3}", r"atlas +0\.695 +0\.628 +0\.755 +0\.589 +0\.788 +200 +40",
        r"doc_id +0\.300 .* 1\.483 +90\.883", r"boreal and cascade differ \(p = 0\.034, 40 documents\)",
        "atlas and boreal cannot be told apart",
    ]),
    "rag_by_document": (2, [
        r"doc_id +0\.300 +2\.201 +1\.483 +90\.883 +200 +40", r"boreal +0\.755 +0\.691 +0\.809 +200 +200",
        r"boreal +0\.755 +0\.659 +0\.836 +200 +40", r"atlas scored 69\.5 % \(95 % interval 58\.9 to 78\.8\)", "do not cover label",
    ]),
    "conversation_turns": (2, [
        r"537 turns in 43 conversations, the longest of \[140, ", r"DominantClusterWarning: .*'chat-00', holds 26\.1%",
        r"Of all turns, 76\.9% right \(95 % interval 57\.7% to 90\.4%\)",
        r"Of a typical conversation, 75\.9% right \(95 % interval 65\.7% to 84\.2%\)",
    ]),
    "paraphrases": (1, [
        r"question \+ wording", r"every score +0\.618 +0\.569 +0\.664 +400", r"both +0\.618 +0\.479 +0\.743 +59\.\d+ +400 +8",
        "400 scores tell as much as 59 independent ones",
    ]),
    "pass_at_k": (1, [
        r"1600 programs: \{'model': 2, 'repo_id': 20, 'item': 80, 'sample': 10\}", r"atlas +5 +0\.778 +0\.504 .* 80 +20",
        "All k work", r"boreal +cluster +0\.\d+", r"atlas: pass@5 50\.4%, .*, 80 tasks in 20 repositories",
    ]),
    "cube": (1, [
        r"\(model: 3, language: 3, item: 72, sample: 4\)", "288 answers tell as much as  92", r"lowest: \{'small': 'Swahili'",
        "large: Danish may be as good as English", "large: Swahili is worse than English",
    ]),
    "release_gate": (1, [
        r"contracts .* pass +noninferior +noninferior", r"invoices .* pass +noninferior +inconclusive", r"\nHOLD\n",
        r"invoices: -0\.5 points \(95 % interval -6\.8 to \+5\.8\)", "400 questions to 50 documents: only new was right on 30",
    ]),
    "few_clusters": (1, [
        r"no run failed +0\.0 +0\.0 +0\.0 +68 +9", r"two repositories +0\.7 +0\.1 +1\.3",
        "no run failed: 0% to 29%, from 68 runs in 9 clusters",
        "DegenerateRateWarning", "FewClustersWarning", "DominantClusterWarning",
    ]),
    "own_data": (1, [
        "2 of 540 scores in 'score' are missing", r"old +fr +0\.667 +0\.547 +0\.773 +90 +30", "de: new and old differ",
        "fr: new and old cannot be told apart", "columns: system, language, estimate",
    ]),
    "planning": (1, [
        "200 questions about 40 documents", "Naive: 436 questions", r"5\.0 +97 +138 +191 +690", "PlanWarning",
        "The pilot could find 15 points", r"16 +40 +160 ", r"5\.0 +160 +800 .* 0\.857",
    ]),
}  # fmt: skip


@pytest.fixture
def example(tmp_path, monkeypatch, capsys):
    """Run a script in this process, in an empty folder; its names, its output, and the numbers of its figures."""
    options = {
        name: pd.get_option(name) for name in ("display.width", "display.max_columns", "display.precision")
    }

    def run(name: str, *arguments: str):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
        if EXPECTED[name][0]:
            plt = requires("matplotlib.pyplot")
            monkeypatch.setattr(plt, "show", lambda: None)  # warns where there is a display and Agg draws
        names = runpy.run_path(str(EXAMPLES / f"{name}.py"))
        out, err = capsys.readouterr()
        assert err == ""
        return names, out, len(plt.get_fignums()) if EXPECTED[name][0] else 0

    yield run
    for name, value in options.items():
        pd.set_option(name, value)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_every_example_is_tried_and_has_a_place_in_the_gallery():
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == {f"{name}.py" for name in EXPECTED}
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    order = conf.split("sphinx_gallery_conf = ")[1]
    assert set(re.findall(r'"(\w+\.py)"', order)) == scripts


@pytest.mark.parametrize("name", EXPECTED)
def test_example(example, tmp_path, name):
    pictures, lines = EXPECTED[name]
    names, out, drawn = example(name, "picture.png")
    assert [words for words in lines if not re.search(words, out)] == []
    assert max(map(len, out.splitlines())) <= 100
    assert drawn == pictures
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"] * bool(pictures)
    assert all(path.read_bytes().startswith(PNG) for path in tmp_path.iterdir())
    if name in ("quickstart", "rag_by_document", "own_data", "few_clusters"):
        naive, honest = (
            (names[kind]["ci_high"] - names[kind]["ci_low"]).to_numpy() for kind in ("naive", "honest")
        )
        assert (honest > naive).all()


def test_pass_at_k_shows_the_naive_number_as_too_high_for_one_and_too_low_for_all(example):
    names, _, _ = example("pass_at_k")
    for frame, sign in ((names["answer"], 1), (names["every"], -1)):
        several = frame[frame["k"] > 1]
        assert (sign * (several["naive"] - several["estimate"]) > 0.03).all()
        assert frame.query("k == 1").eval("naive - estimate").abs().max() < 1e-12


def test_the_first_example_needs_no_more_than_the_package(tmp_path):
    """The README runs it after an install without extras."""
    block = "import sys, runpy; sys.modules['matplotlib'] = sys.modules['jinja2'] = None; "
    assert "A frame" in fresh(tmp_path, "-c", f"{block}runpy.run_path({str(EXAMPLES / 'quickstart.py')!r})")


def test_a_script_that_draws_needs_no_display_and_writes_nothing(tmp_path):
    requires("matplotlib")
    assert "HOLD" in fresh(tmp_path, str(EXAMPLES / "release_gate.py"))


def fresh(folder: Path, *arguments: str) -> str:
    """What is printed by a fresh interpreter without a display, which leaves nothing behind and complains of nothing."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND")
    }
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", *arguments],
        capture_output=True, text=True, timeout=120, check=False, encoding="utf-8", cwd=folder, env=env,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert list(folder.iterdir()) == []
    return done.stdout
