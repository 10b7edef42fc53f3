"""The rules of the house that no linter knows."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import comitia

SOURCES = sorted(Path(comitia.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(SOURCES[0].parent)))
def test_files_have_at_most_400_lines_and_functions_at_most_70_beside_their_docstring(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            docstring = (ast.get_docstring(node, clean=False) or "").splitlines()
            assert node.end_lineno - node.lineno + 1 - len(docstring) <= 70, node.name


def doors() -> Iterator[tuple[str, object]]:
    """Everything public that can be called, once, by the first door that has it."""
    modules = [module.name for module in pkgutil.iter_modules(comitia.__path__) if not module.name.startswith("_")]
    seen = set()
    for name in ["comitia", *(f"comitia.{name}" for name in modules)]:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            thing = getattr(module, public)
            if callable(thing) and id(thing) not in seen:
                seen.add(id(thing))
                yield f"{name}.{public}", thing


@pytest.mark.parametrize(("name", "thing"), list(doors()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_public_object_has_an_example(name, thing):
    assert ">>>" in (inspect.getdoc(thing) or ""), name
