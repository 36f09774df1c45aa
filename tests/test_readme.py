"""The README's code runs and prints what the README shows. ``python tests/test_readme.py`` writes the outputs anew."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path

import pytest

import evalci_accessor
from evalci_accessor import exceptions

README = Path(__file__).resolve().parent.parent / "README.md"
PYTHON = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n```text\n(?P<output>.*?)^```$)?", re.M | re.S)
COMMAND = re.compile(r"<!-- command: (\w+) -->\n```sh\n(.*?)\n```", re.S)

pytestmark = pytest.mark.skipif(not README.exists(), reason="the README is not beside the tests")


def clean(output: str) -> str:
    return "\n".join(line.rstrip() for line in output.strip("\n").splitlines())


def run(text: str) -> list[tuple[str, str | None, str]]:
    """Code, shown output and printed output of each block, run in order in one namespace with warnings as errors."""
    namespace: dict[str, object] = {}
    results = []
    for block in PYTHON.finditer(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(block["code"], "<README>", "exec"), namespace)
        results.append((block["code"], block["output"], printed.getvalue()))
    return results


def test_readme_code_prints_what_is_shown():
    results = run(README.read_text(encoding="utf-8"))
    assert len(results) >= 7
    for code, shown, printed in results:
        assert clean(printed) == clean(shown or ""), (
            f"run python tests/test_readme.py if this is meant:\n{code}"
        )


def test_readme_has_the_two_commands():
    commands = dict(COMMAND.findall(README.read_text(encoding="utf-8")))
    assert set(commands) == {"quickstart", "tests"}
    for line in commands.values():
        assert "\n" not in line
        assert line.startswith("python3 -m venv ")
    script = commands["quickstart"].split()[-1]
    assert (README.parent / script).exists()


def test_readme_names_only_classes_that_exist():
    named = set(re.findall(r"`(\w+(?:Error|Warning))`", README.read_text(encoding="utf-8"))) - {"ValueError"}
    assert named <= set(exceptions.__all__)


def test_docs_explain_every_warning():
    page = README.parent / "docs" / "explanation" / "warnings.md"
    explained = set(re.findall(r"^\| `(\w+Warning)`", page.read_text(encoding="utf-8"), re.M))
    assert explained == {name for name in exceptions.__all__ if name.endswith("Warning")} - {"EvalCIWarning"}


def test_readme_links_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []


def test_readme_methods_are_those_that_exist():
    from typing import get_args

    from evalci_accessor.options import (
        ClusterMethod,
        Correction,
        DiffMethod,
        PairTestMethod,
        ProportionMethod,
    )

    text = README.read_text(encoding="utf-8").split("## Methods")[1]
    named = set(re.findall(r'`"(\w+)"`', text))
    options = (ClusterMethod, ProportionMethod, PairTestMethod, DiffMethod, Correction)
    assert named == {name for option in options for name in get_args(option)}


def test_readme_and_changelog_agree_on_the_version():
    changelog = (README.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {evalci_accessor.__version__}" in changelog


def rewrite() -> None:
    """Put what the blocks print today into the README."""
    text = README.read_text(encoding="utf-8")
    outputs = iter(run(text))

    def put(block: re.Match[str]) -> str:
        code, shown, printed = next(outputs)
        return f"```python\n{code}```" + (f"\n```text\n{clean(printed)}\n```" if shown is not None else "")

    README.write_text(PYTHON.sub(put, text), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
    sys.exit(0)
