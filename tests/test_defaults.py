"""What holds where nothing is said: the defaults of everything public, which users rely on without naming them."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.test_house import doors

SAID = re.compile(r"^ *(\w+) : .*\bdefault=(.+)$", re.MULTILINE)
OTHERS = Path(__file__).with_name("defaults.txt")


def signatures() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The public functions, classes and methods: name, docstring, and the defaults that are not None."""
    for name, thing in doors():
        written = vars(thing).items() if inspect.isclass(thing) else ()
        found = {f".{key}": getattr(value, "__func__", value) for key, value in written if not key.startswith("_")}
        for key, one in {"": thing, **found}.items():
            if not inspect.isfunction(one) and one is not thing:
                continue
            try:
                given = inspect.signature(one).parameters.values()
            except ValueError:  # exceptions have none
                continue
            defaults = {each.name: each.default for each in given if each.default not in (each.empty, None)}
            yield name + key, inspect.getdoc(one) or "", defaults


def test_defaults_are_those_that_the_docstring_says():
    n = 0
    for name, docstring, defaults in signatures():
        for parameter, said in SAID.findall(docstring):
            assert defaults.get(parameter) == ast.literal_eval(said), f"{name}: {parameter}"
            n += 1
    assert n > 100


def test_defaults_that_no_docstring_says_as_a_value_are_those_that_were_written_down():
    """A default is a promise: who changes one changes the line in defaults.txt, and the changelog."""
    found = [
        f"{name} {parameter}={value!r}"
        for name, docstring, defaults in signatures()
        for parameter, value in defaults.items()
        if parameter not in dict(SAID.findall(docstring)) and "<" not in repr(value)
    ]
    assert found == OTHERS.read_text(encoding="utf-8").splitlines()
