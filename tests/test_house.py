"""The rules of the house that no linter knows."""

import ast
import builtins
import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import comitia

SOURCES = sorted(Path(comitia.__file__).parent.rglob("*.py"))


def test_files_of_tests_and_benchmarks_have_at_most_400_lines():
    folders = [Path(__file__).parent, Path(__file__).parents[1] / "benchmarks"]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for at in folders for path in at.rglob("*.py")}
    assert lengths
    assert {path: length for path, length in lengths.items() if length > 400} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(SOURCES[0].parent)))
def test_files_have_at_most_400_lines_and_functions_at_most_70_beside_their_docstring(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            docstring = (ast.get_docstring(node, clean=False) or "").splitlines()
            assert node.end_lineno - node.lineno + 1 - len(docstring) <= 70, node.name


def test_init_files_are_the_doors_and_every_other_module_has_an_underscore():
    for path in SOURCES:
        assert path.name.startswith("_"), path
        assert path.name == "__init__.py" or "__all__ = " not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(SOURCES[0].parent)))
def test_no_file_is_compiled_with_a_warning(path):
    """Python warns of literals that are compared as objects, which may be equal and still be others."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(path.read_text(encoding="utf-8"), path, "exec")


SENTENCES = ("ComitiaError", "PlanError", "StoreError", "ClusterError", "DeviceError")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(SOURCES[0].parent)))
def test_errors_are_sentences_that_end_with_a_stop(path):
    """Those of cells of ARFF files are parts of one, which names the file and the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _called(node.exc) in SENTENCES:
            said = node.exc.args[0].values[-1] if isinstance(node.exc.args[0], ast.JoinedStr) else node.exc.args[0]
            if isinstance(said, ast.Constant) and not path.name.startswith("_arff"):
                assert said.value.endswith("."), f"line {node.lineno}"


def doors() -> Iterator[tuple[str, object]]:
    """Everything public that can be called, once, by the first door that has it, and the methods of its classes."""
    modules = [module.name for module in pkgutil.iter_modules(comitia.__path__) if not module.name.startswith("_")]
    seen = set()
    for name in ["comitia", *(f"comitia.{name}" for name in modules), "comitia.report.figures"]:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            thing = getattr(module, public)
            if callable(thing) and id(thing) not in seen:
                seen.add(id(thing))
                yield f"{name}.{public}", thing


def methods() -> Iterator[tuple[str, object]]:
    """What is written in the classes that are public."""
    for name, thing in doors():
        for public, method in vars(thing).items() if inspect.isclass(thing) else ():
            if not public.startswith("_") and inspect.getdoc(method):
                yield f"{name}.{public}", method


def unknown_names(source: str) -> set[str]:
    """The names that a program uses and does not make or import."""
    nodes = list(ast.walk(ast.parse(source)))
    made = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    made |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    made |= {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            made |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return used - made - set(dir(builtins))


@pytest.mark.parametrize(("name", "thing"), list(doors()), ids=lambda value: value if isinstance(value, str) else "")
def test_what_a_public_object_keeps_for_itself_is_neither_asked_for_nor_shown(name, thing):
    private = [field for field in getattr(thing, "__dataclass_fields__", {}).values() if field.name.startswith("_")]
    assert not [field.name for field in private if field.init or field.repr], name


@pytest.mark.parametrize(("name", "thing"), list(doors()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_public_object_has_an_example(name, thing):
    assert ">>>" in (inspect.getdoc(thing) or ""), name


@pytest.mark.parametrize(("name", "thing"), list(doors()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_parameter_of_what_is_public_is_named_in_its_docstring(name, thing):
    if inspect.isfunction(thing) or (inspect.isclass(thing) and not issubclass(thing, Exception)):
        told = inspect.getdoc(thing).partition(">>>")[0]
        unsaid = [one for one in inspect.signature(thing).parameters if not re.search(rf"\b{one}\b", told)]
        assert set(unsaid) <= {"args", "kwargs"}, name


def test_examples_can_be_pasted_and_import_what_they_use_from_public_doors():
    parser = doctest.DocTestParser()
    for name, thing in [*doors(), *methods()]:
        source = "".join(example.source for example in parser.get_examples(inspect.getdoc(thing) or ""))
        assert not unknown_names(source), name
        assert "comitia._" not in source.replace("comitia._errors.", ""), name
        assert "._" not in "".join(line for line in source.splitlines() if "import" in line), name


def test_what_public_docstrings_mention_of_ours_is_public():
    for name, thing in [*doors(), *methods()]:
        for said in re.findall(r"`~?comitia\.(\w[\w.]*)", inspect.getdoc(thing) or ""):
            found = comitia
            for part in said.rstrip(".").split("."):
                at_door = not inspect.ismodule(found) or part in found.__all__ or inspect.ismodule(getattr(found, part))
                assert at_door, f"{name}: comitia.{said}"
                assert not part.startswith("_"), f"{name}: comitia.{said}"
                found = getattr(found, part)


# What is called otherwise where it is installed from.
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "arff": "liac-arff", "mlrl": "mlrl-boomer", "xgboost": "xgboost-cpu"}
_TOOLS = {"comitia", "build", "import-linter", "pytest-xdist", "ruff", "myst-parser", "numpydoc", "pydata-sphinx-theme"}


def imported(folder: Path, ways: tuple[str, ...] = ("require", "import_module")) -> set[str]:
    """The distributions that the files of a folder import, wherever in a file; those of Python itself left out."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            if isinstance(node, ast.Call) and _called(node) in ways:
                names = [node.args[0].value] if isinstance(node.args[0], ast.Constant) else []
            found |= {name.partition(".")[0] for name in names}
    own = {"comitia", "tests", "benchmarks", "look_at_site", *sys.stdlib_module_names}
    return {_DISTRIBUTIONS.get(name, name).replace("_", "-") for name in found - own}


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def test_all_that_is_imported_is_declared_and_nothing_that_is_not():
    root = Path(__file__).parents[1]
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project, mutation = declared["project"], declared["dependency-groups"]["mutation"]
    extras = {
        name: {re.match(r"[\w-]+", entry)[0] for entry in entries}
        for name, entries in {
            "": project["dependencies"],
            "mutation": mutation,
            **project["optional-dependencies"],
        }.items()
    }
    library = extras[""] | extras["cli"] | extras["dask"] | extras["ray"] | extras["excel"] | extras["gpu"]
    assert imported(root / "src") <= library | {"polars"}, "polars is imported for who passes its frames"
    assert library - _TOOLS <= imported(root / "src")
    assert imported(root / "tests") <= library | extras["test"] | extras["peers"] | extras["mutation"]
    assert imported(root / "docs") | imported(root / "examples") <= library | extras["docs"]
    assert imported(root / "benchmarks") <= library | extras["peers"] | extras["test"]
    used = set().union(*(imported(root / name) for name in ("src", "docs", "examples", "benchmarks")))
    used |= imported(root / "tests", ("import_module", "importorskip"))
    assert set().union(*extras.values()) - _TOOLS <= used


ENGINES = ("Processes", "ThisProcess")
"""They hold processes, and are no values."""
VALUES = {
    name: kind
    for name, thing in doors()
    for kind in [thing if inspect.isclass(thing) else type(thing)]
    if dataclasses.is_dataclass(kind) and not inspect.isabstract(kind) and kind.__name__ not in ENGINES
}


STATES = ("_boost_rounds.py", "_engines.py", "_logistic_lockstep.py")
"""Files with what is worked on while it lasts."""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(SOURCES[0].parent)))
def test_values_cannot_be_changed_unless_they_are_worked_on(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        made = [ast.unparse(part) for part in getattr(node, "decorator_list", [])]
        values = [one for one in made if one.startswith("dataclass")]
        assert path.name in STATES or all("frozen=True" in one for one in values), node.name


@pytest.mark.parametrize("name", VALUES)
def test_public_values_cannot_be_changed(name):
    value = object.__new__(VALUES[name])
    for field in ["anything", *(field.name for field in dataclasses.fields(value))]:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field, 1)


LEFT_TO_OTHERS = {
    "Aggregation": {"decision"},
    "BootstrapEnsemble": {"_fit_members"},
    "Asking": {"_features"},
    "Loss": {"_value", "_minimise_marginals", "_minimise_labelsets", "_risk_marginals"},
    "LossOfCounts": {"of_counts"},
    "Measure": {"_of_counts", "maximise"},
    "Members": {"__iter__", "mean"},
    "MultilabelEnsemble": {"_fit"},
    "OverlapLoss": {"_best_labels", "_best_sizes", "_terms"},
    "Pool": {"__call__"},
    "Reading": {"_read"},
    "Relevance": {"marginals", "n_instances", "n_labels", "take"},
    "SharedMembers": {"asked", "held", "weighted_mean"},
}
"""What each abstract class itself leaves to those that are made of it."""


def test_what_is_left_to_subclasses_is_abstract():
    for extra in ("distributed", "ray"):
        pytest.importorskip(extra, reason="needs comitia[dask] and comitia[ray]")
    found = {}
    for module in pkgutil.walk_packages(comitia.__path__, "comitia."):
        if module.name.endswith("__main__"):
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(kind) and kind.__module__ == module.name:
                own = {name for name, value in vars(kind).items() if getattr(value, "__isabstractmethod__", False)}
                if own:
                    found[kind.__name__] = own
    assert found == LEFT_TO_OTHERS
