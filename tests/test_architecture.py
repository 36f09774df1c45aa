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
from evalci_accessor import datasets, exceptions, options, plot, report, stats
from evalci_accessor.accessor import plots

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


GROUND = {"exceptions", "options"}
BELOW = {  # what each room may import beside itself
    "exceptions": set(),
    "options": set(),
    "stats": GROUND,
    "read": {"stats", *GROUND},
    "plot": {"stats", *GROUND},
    "report": {"plot", "stats", *GROUND},
    "crosscheck": {"stats", *GROUND},
    "methods": {"read", "stats", "plot", "report", "crosscheck", *GROUND},
    "accessor": {"methods", "read", "plot", "report", *GROUND},
    "datasets": set(),
    "_register": {"accessor"},
}
LONGEST = 12  # files in a chain of imports, packages aside


def module(file):
    dotted = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
    return dotted.removesuffix(".__init__")


MODULES = {module(file): file for file in FILES}


def room(name):
    return name.split(".")[1] if "." in name else ""


def owner(name):
    """The module that a dotted name is or lies in."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def graph(walk):
    """What each module imports of the package, without the packages that only gather names."""
    plain = {name: file for name, file in MODULES.items() if file.name != "__init__.py"}
    found = {name: {owner(one) for one in imported(walk(parse(file)))} for name, file in plain.items()}
    return {name: (others & set(plain)) - {name} for name, others in found.items()}


def longest(edges):
    """The longest chain of imports; a circle is an error."""
    chains = {}

    def chain(name, path):
        assert name not in path, f"circle: {' > '.join([*path[path.index(name) :], name])}"
        if name not in chains:
            below = [chain(one, [*path, name]) for one in sorted(edges[name])]
            chains[name] = [name, *max(below, key=len, default=[])]
        return chains[name]

    return max((chain(name, []) for name in edges), key=len)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_room_imports_only_what_lies_below_it(name):
    found = {owner(one) for one in imported(ast.walk(parse(MODULES[name])))}
    rooms = {room(one) for one in found if one not in ("", "evalci_accessor")}
    if room(name):
        assert rooms <= {room(name), *BELOW[room(name)]}


@pytest.mark.parametrize("file", sorted((PACKAGE / "stats").rglob("*.py")), ids=lambda f: f.name)
def test_statistics_know_no_container(file):
    assert not under(
        imported(ast.walk(parse(file))), {"pandas", "xarray", "dask", "matplotlib", "statsmodels"}
    )


@pytest.mark.parametrize(("mine", "other"), [("frame", "cube"), ("cube", "frame")])
def test_containers_do_not_know_each_other(mine, other):
    found = set(imported(ast.walk(parse(PACKAGE / "read" / f"{mine}.py"))))
    assert not under(found, {f"evalci_accessor.read.{other}"})


def test_imports_run_in_no_circle():
    longest(graph(ast.walk))


def test_no_number_is_far_from_its_accessor():
    found = longest(graph(top_level))
    assert len(found) <= LONGEST, " > ".join(found)


def test_nothing_is_found_by_getattr_between_rooms():
    for file in PACKAGE.glob("*/**/__init__.py"):  # the package itself loads its rooms when they are named
        assert not [
            n for n in parse(file).body if isinstance(n, ast.FunctionDef) and n.name == "__getattr__"
        ], file


def test_the_root_holds_only_what_users_import():
    assert {file.name for file in PACKAGE.glob("*.py")} == {
        "__init__.py", "_register.py", "datasets.py", "exceptions.py", "options.py",
    }  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=names(FILES))
def test_heavy_modules_are_imported_where_they_are_called(file):
    assert not under(imported(top_level(parse(file))), HEAVY)


@pytest.mark.parametrize("file", FILES, ids=names(FILES))
def test_file_is_short_and_says_what_it_is(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 650
    assert ast.get_docstring(ast.parse(text))


def test_only_the_crosscheck_imports_statsmodels():
    importers = {
        room(module(file)) for file in FILES if under(imported(ast.walk(parse(file))), {"statsmodels"})
    }
    assert importers == {"crosscheck"}


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


ORDER = {
    "mcnemar": ["factor", "item", "cluster", "score"],
    "diff_ci": ["factor", "item", "cluster", "score"],
    "compare": ["factor", "item", "cluster", "score"],
    "power": ["factor", "item", "cluster", "score"],
    "mde": ["factor", "item", "cluster", "score"],
    "proportion_ci": ["score"],
    "variance_components": ["item", "cluster", "score"],
}  # all others name the cluster first


def accessor_methods():
    for file in sorted((PACKAGE / "accessor").glob("*.py")):
        for kind in ast.walk(parse(file)):
            if isinstance(kind, ast.ClassDef):
                for node in kind.body:
                    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                        yield pytest.param(node, id=f"{kind.name}.{node.name}")


METHODS_OF_ACCESSORS = [*accessor_methods()]


@pytest.mark.parametrize("node", METHODS_OF_ACCESSORS)
def test_accessor_methods_are_thin(node):
    """A docstring and one call; only the data are positional."""
    assert node.args.kwarg is None
    assert node.args.vararg is None
    docstring, call = node.body
    assert ast.get_docstring(node) == inspect.cleandoc(docstring.value.value)
    assert isinstance(call, ast.Return)
    assert isinstance(call.value, ast.Call)
    positional = [arg.arg for arg in node.args.args[1:]]
    first = ["k"] if positional[:1] == ["k"] else []
    rest = positional[len(first) :]
    assert rest in (
        [],
        ["score"],
        ["cluster"],
        ["cluster", "score"],
        ["item", "cluster", "score"],
        ORDER.get(node.name),
    )


RECORDS = {record.__name__: record for record in options.Record.__subclasses__()}


def of_locals():
    """Functions that fill a record from their parameters, with the names of what they fill."""
    for file in FILES:
        for node in ast.walk(parse(file)):
            if isinstance(node, ast.FunctionDef):
                body = "".join(ast.unparse(statement) for statement in node.body)
                filled = re.findall(r"(\w+)(?:\.of)?\(locals\(\)\)", body)
                if filled:
                    yield pytest.param(node, filled, id=f"{file.stem}.{node.name}")


@pytest.mark.parametrize(("node", "filled"), [*of_locals()])
def test_no_parameter_is_left_over(node, filled):
    """Each is a field of a record that is filled from the parameters, or is used by its name."""
    taken = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} | {"self"}
    for name in filled:
        taken |= set(plots._LOOK if name == "_look" else RECORDS[name].__slots__)
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    assert {arg.arg for arg in every} <= taken


def test_a_parameter_that_no_record_holds_is_found():
    node = ast.parse("def f(self, cluster, colour): return g(Roles.of(locals()))").body[0]
    with pytest.raises(AssertionError):
        test_no_parameter_is_left_over(node, ["Roles", "RateOptions"])


@pytest.mark.parametrize("accessor", ACCESSORS[::2])
def test_accessors_are_made_by_one_assignment(accessor):
    made = ast.parse(inspect.cleandoc("\n" + inspect.getsource(accessor))).body[0].body[-1]
    assert [type(statement) for statement in made.body] == [ast.Assign]


def test_every_signature_stands_once():
    ids = [one.id.partition(".")[2] for one in METHODS_OF_ACCESSORS if not one.id.startswith("Plots.")]
    assert sorted(ids) == sorted(METHODS)


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
    assert not re.search(r"\w -{4,}", inspect.getdoc(function)), "a heading that lost its line"


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


OF_SCORES = {
    "forest": {"by"},
    "clusters": set(),
}  # what a picture of scores takes beside the data and the interval
DATA = {"cluster", "score", "dim", "weights", "n", "confidence_level", "nan_policy"}


@pytest.mark.parametrize("picture", sorted(plot.__all__))
def test_pictures_have_the_options_of_their_drawing(picture):
    """And of the scores where one method gives what is drawn, with the same defaults."""
    drawing = {
        name: p
        for name, p in inspect.signature(getattr(plot, picture)).parameters.items()
        if name != "result"
    }
    own = {
        name: p
        for name, p in inspect.signature(getattr(PLOTS[0], picture)).parameters.items()
        if name != "self"
    }
    of_scores = DATA | OF_SCORES[picture] if picture in OF_SCORES else set()
    assert set(own) - set(drawing) == of_scores - set(drawing)
    method = inspect.signature(ACCESSORS[0].cluster_ci).parameters
    for name, p in own.items():
        same = drawing.get(name) or method.get(name)
        if name not in ("naive", "cluster", "method"):
            assert p.default == same.default, name


@pytest.mark.parametrize("method", METHODS)
def test_methods_exist_everywhere_and_once(method):
    assert len({getattr(accessor, method) for accessor in ACCESSORS}) == 1


@pytest.mark.parametrize("method", METHODS)
def test_options_mean_the_same_in_all_methods(method):
    """An option has the default of `compare`, or of `cluster_ci`, unless the method is of another kind."""
    own = inspect.signature(getattr(ACCESSORS[0], method)).parameters
    shared = {
        **inspect.signature(ACCESSORS[0].compare).parameters,
        **inspect.signature(ACCESSORS[0].cluster_ci).parameters,
    }
    for name in ("score", "by", "dim", "weights", "nan_policy", "confidence_level", "n_resamples"):
        if name in own and own[name].default is not inspect.Parameter.empty:
            assert own[name].default == shared[name].default, name
