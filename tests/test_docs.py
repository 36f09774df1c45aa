"""The reference names all that is public, links are checked by a tool that can fail, and pages about logs read real ones."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import evalci_accessor
from conftest import requires
from evalci_accessor.exceptions import MissingScoreError

DOCS = Path(__file__).resolve().parent.parent / "docs"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the docs are not beside the tests")


# -- reference ---------------------------------------------------------------------------------------------------------


def listed() -> list[str]:
    """Full names of all entries of the reference, modules whose members are taken as a whole among them."""
    names = []
    for page in sorted((DOCS / "reference").glob("*.rst")):
        module, inside = "", False
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. (?:currentmodule|automodule):: (\S+)", line):
                module = found[1]
                names += [module] if "automodule" in line else []
            elif line.startswith(".. autosummary::"):
                inside = True
            elif inside and (found := re.match(r"   (\w[\w.]*)$", line)):
                names.append(f"{module}.{found[1]}")
            elif line and not line.startswith(" "):
                inside = False
    return names


def methods(accessor: type, prefix: str) -> set[str]:
    """Public methods of an accessor, and of what hangs on it."""
    found = set()
    for name in dir(accessor):
        if name.startswith("_"):
            continue
        value = getattr(accessor, name)
        if inspect.isfunction(value):
            found.add(f"{prefix}.{name}")
        else:
            found |= methods(value if inspect.isclass(value) else type(value), f"{prefix}.{name}")
    return found


def public_modules() -> list[str]:
    """Modules of the package without an underscore that say what is public in them."""
    found = [evalci_accessor.__name__]
    for one in pkgutil.walk_packages(evalci_accessor.__path__, "evalci_accessor."):
        if not any(part.startswith("_") or part == "conftest" for part in one.name.split(".")):
            found.append(one.name)
    return [name for name in found if hasattr(importlib.import_module(name), "__all__")]


def resolved(name: str) -> object:
    """What a full name stands for; a function comes before the module of its name."""
    parts = name.split(".")
    value: object = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], start=2):
        value = getattr(value, part, None) or importlib.import_module(".".join(parts[:i]))
    return value


def test_the_reference_lists_nothing_twice():
    names = listed()
    assert len(names) > 70
    assert sorted(names) == sorted(set(names))


def test_the_reference_lists_every_method_of_the_accessors_once():
    prefix = "pandas.DataFrame.evalci"
    expected = methods(pd.DataFrame.evalci, prefix)
    assert f"{prefix}.cluster_ci" in expected
    assert f"{prefix}.plot.forest" in expected
    assert {name for name in listed() if ".evalci." in name} == expected


@pytest.mark.parametrize("target", [pd.Series, xr.Dataset, xr.DataArray], ids=lambda target: target.__name__)
def test_all_objects_have_the_methods_of_the_reference(target):
    assert methods(target.evalci, "") == methods(pd.DataFrame.evalci, "")


def test_the_reference_lists_every_public_name():
    requires("jinja2")
    requires("matplotlib")
    found = {id(resolved(name)) for name in listed()}
    modules = public_modules()
    assert {"evalci_accessor.stats", "evalci_accessor.datasets", "evalci_accessor.exceptions"} <= set(modules)
    lacking = []
    for module in {importlib.import_module(name) for name in modules}:
        for name in module.__all__:
            value = getattr(module, name)
            whole = id(module) in found or inspect.ismodule(value) or name.startswith("__")
            if not whole and id(value) not in found:
                lacking.append(f"{module.__name__}.{name}")
    assert lacking == []


@pytest.mark.parametrize("folder", ["tutorial", "howto", "explanation"])
def test_every_page_is_introduced(folder):
    """A line about it in the overview, not only its place in the menu."""
    pages = {page.stem for page in (DOCS / folder).glob("*.md")} - {"index"}
    pages = {page for page in pages if not page.endswith("_table")}
    text = (DOCS / folder / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\((\w+)\.md\)", text)) == pages


def test_every_table_of_a_simulation_is_shown():
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    tables = [page.name for page in (DOCS / "explanation").glob("*_table.md")]
    assert tables
    assert [name for name in tables if not re.search(rf"^```\{{include\}} .*\b{name}$", text, re.M)] == []


# -- links -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def check_links():
    spec = importlib.util.spec_from_file_location("check_links", DOCS / "check_links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_that_lead_nowhere_are_found(check_links, tmp_path, capsys):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a b.html").write_text('<h1 id="top">b</h1><a name="old"></a>', encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"")
    good = [
        "sub/a%20b.html#top",
        "sub/a%20b.html#old",
        "#here",
        "#",
        "",
        "picture.png?v=1",
        "https://a.org/no",
        "mailto:a@b.c",
    ]
    body = "".join(f'<a href="{link}">x</a>' for link in good) + '<img src="picture.png"><p id="here">'
    page = tmp_path / "index.html"
    page.write_text(body, encoding="utf-8")
    assert check_links.main([str(tmp_path)]) == 0
    assert "7 internal links" in capsys.readouterr().out
    for bad, words in {
        '<a href="sub/a%20b.html#bottom">': "no such anchor", '<a href="#there">': "no such anchor",
        '<a href="sub/b.html">': "not there", '<img src="sub/picture.png">': "not there", '<a href="sub">': "not there",
    }.items():  # fmt: skip
        page.write_text(f"{body}\n{bad}", encoding="utf-8")
        assert check_links.main([str(tmp_path)]) == 1
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith("index.html:2: ")
        assert line.endswith(words)


def test_no_pages_are_no_success(check_links, tmp_path):
    assert check_links.main([str(tmp_path)]) == 1


# -- logs --------------------------------------------------------------------------------------------------------------


def function_of(page: str, name: str):
    """A function that a page defines, as it stands there."""
    text = (DOCS / page).read_text(encoding="utf-8")
    cells = re.findall(r"^```\{code-cell\} python\n(.*?)^```$", text, re.M | re.S)
    (cell,) = [cell for cell in cells if f"def {name}(" in cell]
    body = [
        node
        for node in ast.parse(cell).body
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef))
    ]
    namespace: dict[str, object] = {}
    exec(compile(ast.Module(body, type_ignores=[]), page, "exec"), namespace)
    return namespace[name]


def test_the_reader_of_lm_eval_reads_a_real_log(data_dir, tmp_path):
    (log,) = (data_dir / "logs" / "lm_eval").glob("samples_*.jsonl")
    copy = tmp_path / "org__model" / log.name
    copy.parent.mkdir()
    copy.write_bytes(log.read_bytes())
    found = function_of("howto/lm_eval.md", "read_samples")(copy)
    assert set(found["task"]) == {"math_perturbed_full"}
    assert set(found["model"]) == {"org__model"}
    assert found["doc_id"].tolist() == list(range(10))
    assert not found.duplicated(["task", "doc_id", "filter"]).any()
    assert found["doc_hash"].nunique() == 10
    assert found["doc.type"].notna().all()
    assert found["target"].map(type).eq(str).all()
    answer = found.evalci.proportion_ci(score="exact_match")
    assert answer["n"].item() == 10
    assert answer["estimate"].item() == found["exact_match"].mean()


def test_the_logs_of_the_page_have_the_columns_of_a_real_one(data_dir):
    """Every column of the real samples file stands in those that were made, with a value of the same type."""
    read = function_of("howto/lm_eval.md", "read_samples")
    (log,) = (data_dir / "logs" / "lm_eval").glob("samples_*.jsonl")
    real = read(log)
    made = pd.concat(map(read, (DOCS / "howto" / "logs" / "lm_eval").glob("*/*.jsonl")))
    own = [name for name in real if not name.startswith(("doc.", "arguments."))]
    assert {name: type(made[name].iloc[0]) for name in own} == {
        name: type(real[name].iloc[0]) for name in own
    }


def test_the_gate_stays_shut_on_an_error(tmp_path):
    """Run as it stands; what it says of scores that are all there is on the page."""
    requires("jinja2")
    requires("matplotlib")
    df = evalci_accessor.datasets.load_rag_eval()
    df.iloc[1:].to_csv(tmp_path / "scores.csv", index=False)
    command = [
        sys.executable,
        str(DOCS / "howto" / "gate.py"),
        "scores.csv",
        "--candidate",
        "boreal",
        "--current",
        "atlas",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "PairingError: " in done.stderr


def inspect_page():
    """The code of the page but for its tables, on columns of Arrow's types."""
    text = (DOCS / "howto" / "inspect.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```\{code-cell\} python\n(.*?)^```$", text, re.M | re.S)
    code = "\n".join(cell for cell in cells if "table(" not in cell)
    return code.replace('read_csv("logs/samples_df.csv")', "read_csv(path, dtype_backend='pyarrow')")


@pytest.mark.parametrize("error", ["", None])
def test_samples_that_were_not_scored_are_no_failures_on_the_page_on_inspect(tmp_path, error):
    """A log without this scorer in the folder: samples_df gives no score, and an empty text for the error."""
    requires("pyarrow")
    logs = pd.read_csv(DOCS / "howto" / "logs" / "samples_df.csv", dtype_backend="pyarrow")
    logs.loc[logs.index[:5], ["score_model_graded_qa", "error"]] = [None, error]
    logs.to_parquet(tmp_path / "logs.parquet")
    namespace: dict[str, object] = {"path": tmp_path / "logs.parquet"}
    with pytest.raises(MissingScoreError, match=r"^5 of "):
        exec(compile(inspect_page().replace("read_csv", "read_parquet"), "inspect.md", "exec"), namespace)
    assert namespace["logs"]["passed"].isna().sum() == 5


def test_the_page_on_inspect_runs_on_the_types_of_samples_df():
    """It gives columns of Arrow's types, which a CSV does not keep."""
    requires("pyarrow")
    code = inspect_page()
    answers = []
    for read in (code, code.replace(", dtype_backend='pyarrow'", "")):
        namespace: dict[str, object] = {"path": DOCS / "howto" / "logs" / "samples_df.csv"}
        exec(compile(read, "inspect.md", "exec"), namespace)
        logs = namespace["logs"]
        ask = {"item": "id", "sample": "epoch", "cluster": "metadata_manual", "rng": 1}
        answers.append([logs.evalci.compare("model", score=score, **ask) for score in ("score", "passed")])
        assert {"place_chapter", "place_page"} <= set(logs)
    for arrow, plain in zip(*answers, strict=True):
        assert arrow.loc[0, "difference"] == plain.loc[0, "difference"]
        assert arrow.loc[0, "ci_low"] == plain.loc[0, "ci_low"]
