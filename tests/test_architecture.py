"""The rules that keep the storeys apart, read off the source."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import evalci_accessor
from evalci_accessor import datasets, exceptions, plot, report, stats

PACKAGE = Path(evalci_accessor.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
HEAVY = {"scipy.stats", "scipy.optimize", "statsmodels", "matplotlib", "jinja2", "dask", "numba"}
ACCESSORS = tuple(
    type(obj.evalci) for obj in (pd.DataFrame(), pd.Series(dtype=float), xr.Dataset(), xr.DataArray())
)


PLOTS = tuple(accessor.plot for accessor in ACCESSORS)


def names(files):
    return [str(file.relative_to(PACKAGE)) for file in files]


def parse(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def imported(nodes):
    """Dotted names that import statements bring in, ``from a import b`` as ``a`` and ``a.b``."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def top_level(tree):
    """Statements that run on import: not those in functions, nor those for type checkers only."""
    todo = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        todo.extend(
            child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.stmt, ast.excepthandler))
        )


def under(found, modules):
    return {name for name in found if any(name == m or name.startswith(m + ".") for m in modules)}


@pytest.mark.parametrize("file", sorted((PACKAGE / "stats").rglob("*.py")), ids=lambda f: f.name)
def test_statistics_know_no_container(file):
    found = set(imported(ast.walk(parse(file))))
    assert not under(found, {"pandas", "xarray", "dask", "matplotlib", "statsmodels"})
    own = {name for name in found if name.startswith("evalci_accessor.")}
    assert own == under(
        own, {"evalci_accessor.stats", "evalci_accessor.options", "evalci_accessor.exceptions"}
    )


@pytest.mark.parametrize(("mine", "other"), [("_pandas", "_xarray"), ("_xarray", "_pandas")])
def test_containers_do_not_know_each_other(mine, other):
    for file in (PACKAGE / mine).rglob("*.py"):
        assert not under(imported(ast.walk(parse(file))), {f"evalci_accessor.{other}"}), file


@pytest.mark.parametrize("file", FILES, ids=names(FILES))
def test_heavy_modules_are_imported_where_they_are_called(file):
    assert not under(imported(top_level(parse(file))), HEAVY)


@pytest.mark.parametrize("file", FILES, ids=names(FILES))
def test_file_is_short_and_says_what_it_is(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 650
    assert ast.get_docstring(ast.parse(text))


def test_only_the_crosscheck_imports_statsmodels():
    importers = {file.name for file in FILES if under(imported(ast.walk(parse(file))), {"statsmodels"})}
    assert importers == {"crosscheck.py"}


def test_only_register_registers():
    callers = {
        file.name
        for file in FILES
        if re.search(r"register_\w+_accessor\b(?!`)", file.read_text(encoding="utf-8"))
    }
    assert callers <= {"_register.py"}


def test_importing_loads_nothing_heavy():
    code = (
        "import sys, pandas, xarray; before = set(sys.modules); import evalci_accessor;"
        f"print([m for m in {sorted(HEAVY | {'evalci_accessor.report'})} if m in set(sys.modules) - before])"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert ran.stdout.strip() == "[]", ran.stdout + ran.stderr


def accessor_methods():
    for accessor in (*ACCESSORS, *PLOTS):
        for base in accessor.__mro__[:-1]:  # what it inherits too
            tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(base))).body[0]
            for node in tree.body:
                if isinstance(node, ast.FunctionDef):
                    yield pytest.param(node, id=f"{accessor.__name__}.{node.name}")


@pytest.mark.parametrize("node", [*accessor_methods()])
def test_accessor_methods_are_thin(node):
    assert node.args.kwarg is None
    assert node.args.vararg is None
    if node.name == "__init__":
        assert [type(statement) for statement in node.body] == [ast.Assign]
        return
    docstring, call = node.body
    assert ast.get_docstring(node) == inspect.cleandoc(docstring.value.value)
    assert isinstance(call, ast.Return)
    assert isinstance(call.value, ast.Call)
    assert [arg.arg for arg in node.args.args[1:]] in ([], ["cluster"], ["factor"], ["k"]), (
        "options are keyword-only"
    )


def public():
    """Everything that a user reaches by a public name, with its name."""
    for accessor in (*ACCESSORS, *PLOTS):
        methods = inspect.getmembers(accessor, inspect.isfunction)
        yield from ((f"{accessor.__name__}.{n}", f) for n, f in methods if not n.startswith("_"))
    yield "evalci", evalci_accessor.evalci
    for module in (stats, stats.simulate, datasets, plot, report):
        listed = getattr(module, "__all__", None) or [n for n in vars(module) if n.startswith("load_")]
        yield from ((n, vars(module)[n]) for n in listed if inspect.isfunction(vars(module)[n]))


def sections(docstring):
    """Sections of a numpydoc docstring as a dict of their text."""
    parts = re.split(r"^(\w[\w ]+)\n-+\n", docstring, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(("name", "function"), [*public()], ids=lambda v: v if isinstance(v, str) else "")
def test_public_functions_have_numpydoc_docstrings(name, function):
    found = sections(inspect.getdoc(function))
    parameters = [p for p in inspect.signature(function).parameters if p != "self"]
    needed = {"Returns", "Examples"} | ({"Parameters", "Raises"} if parameters else set())
    assert needed <= set(found)
    listed = re.findall(r"^(\S.*?)(?: :.*)?$", found.get("Parameters", ""), flags=re.M)
    assert {p for line in listed for p in line.split(", ")} == set(parameters)
    assert ">>> " in found["Examples"]


@pytest.mark.parametrize("name", sorted({*stats.__all__, *exceptions.__all__}))
def test_public_classes_and_their_methods_are_documented(name):
    thing = getattr(stats, name, None) or getattr(exceptions, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing) and name in stats.__all__:
        assert "Parameters" in sections(inspect.getdoc(thing))
        for method, found in vars(thing).items():
            if not method.startswith("_") and (callable(found) or isinstance(found, (property, classmethod))):
                assert inspect.getdoc(found), method


def test_every_error_is_a_value_error_and_every_warning_a_user_warning():
    for name in exceptions.__all__:
        kind = getattr(exceptions, name)
        assert issubclass(
            kind, exceptions.EvalCIWarning if name.endswith("Warning") else exceptions.EvalCIError
        )
    assert issubclass(exceptions.EvalCIError, ValueError)
    assert issubclass(exceptions.EvalCIWarning, UserWarning)
    assert issubclass(exceptions.ColumnNotFoundError, KeyError)
    assert issubclass(exceptions.ScoreTypeError, TypeError)


def test_errors_show_their_message_as_written():
    assert str(exceptions.ColumnNotFoundError("a 'quoted' name")) == "a 'quoted' name"


REPEATED = ["pass_at_k", "pass_hat_k", "best_of_k", "variance_components"]
PLANNING = ["half_width", "power", "mde", "required_clusters"]
METHODS = [
    "proportion_ci",
    "cluster_ci",
    "design_effect",
    "mcnemar",
    "diff_ci",
    "compare",
    "crosscheck",
    "report",
]
METHODS += [*REPEATED, *PLANNING]


PICTURES = {
    "forest": ["cluster_ci"],
    "clusters": ["cluster_ci"],
    "differences": ["compare"],
    "pass_at_k": ["pass_at_k"],
    "power": ["half_width", "power"],
}
OF_ITS_OWN = {"naive", "overall", "measure"}


@pytest.mark.parametrize("picture", PICTURES)
def test_pictures_have_the_options_of_their_method(picture):
    """The data and options of the methods of which one is called, and those of the drawing, with the same defaults."""
    drawing = inspect.signature(getattr(plot, picture)).parameters
    for accessor, pictures in zip(ACCESSORS, PLOTS, strict=True):
        own = inspect.signature(getattr(pictures, picture)).parameters
        methods = [inspect.signature(getattr(accessor, method)).parameters for method in PICTURES[picture]]
        asked = {name: p for each in methods for name, p in each.items() if name != "layout"}
        without = {"by"} if picture == "clusters" else set()  # one picture is of one group
        assert set(own) - set(drawing) - OF_ITS_OWN | {"self"} == set(asked) - without
        for name, p in own.items():
            if name in drawing and name not in OF_ITS_OWN:
                assert p.default == drawing[name].default, (accessor, name)
            elif name in asked and asked[name].default is not inspect.Parameter.empty:
                assert p.default == asked[name].default, (accessor, name)


def test_coverage_has_the_options_of_its_drawing():
    drawing = inspect.signature(plot.coverage).parameters
    for pictures in (PLOTS[0], PLOTS[2]):  # a Series or a DataArray is no result
        own = inspect.signature(pictures.coverage).parameters
        assert {name: p.default for name, p in own.items() if name != "self"} == {
            name: p.default for name, p in drawing.items() if name != "result"
        }


@pytest.mark.parametrize("method", METHODS)
def test_options_have_the_same_defaults_everywhere(method):
    seen = {}
    for accessor in ACCESSORS:
        for p in inspect.signature(getattr(accessor, method)).parameters.values():
            if p.name == "item":
                continue  # a cube knows its dims, so it need not be told
            assert seen.setdefault(p.name, p.default) is p.default or seen[p.name] == p.default, (
                method,
                p.name,
            )


def test_methods_exist_everywhere():
    for accessor in ACCESSORS:
        assert set(METHODS) <= {name for name, _ in inspect.getmembers(accessor, inspect.isfunction)}
