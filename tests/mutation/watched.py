"""What each test calls and how long it takes, noted once: the tests that a mutant meets are chosen by it."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import threading
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutation.places import COMPILES, Mutant

TWINS = "tests/test_references.py"
"""Compiled loops beside plain versions of themselves."""
PACKAGES = {
    "relevance": ["tests/relevance", "tests/test_aggregation.py", "tests/ensembles/test_calibration.py", TWINS],
    "losses": ["tests/losses", "tests/test_aggregation.py", TWINS],
    "aggregation": ["tests/test_aggregation.py", "tests/test_aggregation_names.py", "tests/ensembles"],
    "ensembles": ["tests/ensembles", "tests/test_model_file.py", TWINS],
    "experiments": ["tests/experiments", "tests/test_compare.py"],
    "datasets": ["tests/datasets"],
}
"""The tests of a package, beside its own examples.  To survive, a mutant of a function must pass those of all packages
that call it, and one of what is run on import those of its package and of who calls something of its file."""
HOUSE = ("tests/test_house.py", "tests/test_defaults.py", "tests/test_ends.py", "tests/test_refusals.py")
"""Tests of all packages."""
CLUSTERS = {"_dask.py": "tests/experiments/test_dask.py", "_ray.py": "tests/experiments/test_ray.py"}
"""Tests that start clusters, which takes minutes for each mutant: only those of the file that does so meet them."""


class Test(NamedTuple):
    """A test that passes: its name, how long it takes, and the functions that it calls."""

    name: str
    seconds: float
    calls: frozenset[str]


def files(tree: Path, package: str) -> list[str]:
    """The files of a package that hold tests or examples."""
    found = [
        file
        for name in (f"src/comitia/{package}", *PACKAGES[package], *HOUSE)
        for file in sorted((tree / name).rglob("*.py")) or [tree / name]
    ]
    return [
        file.relative_to(tree).as_posix()
        for file in found
        if file.relative_to(tree).as_posix() not in CLUSTERS.values()
        and (file.name.startswith("test_") or ">>> " in file.read_text(encoding="utf-8"))
    ]


class Notes:
    """What is known of the tests, kept in a file; those of a test file that has changed are forgotten."""

    def __init__(self, tree: Path, path: Path) -> None:
        self.tree, self.path = tree, path

    def digest(self, file: str) -> str:
        return hashlib.sha256((self.tree / file).read_bytes()).hexdigest()[:16]

    def unknown(self, package: str) -> list[str]:
        known = self._known()
        return [file for file in files(self.tree, package) if (file, self.digest(file)) not in known]

    def tests(self) -> list[Test]:
        """The tests of all packages that were watched."""
        known = self._known()
        return [
            Test(name, seconds, frozenset(calls))
            for file in dict.fromkeys(file for package in PACKAGES for file in files(self.tree, package))
            for name, (seconds, calls) in known.get((file, self.digest(file)), {}).items()
        ]

    def _known(self) -> dict[tuple[str, str], dict[str, Any]]:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return {(line["file"], line["digest"]): line["tests"] for line in map(json.loads, lines)}


class Watch:
    """A plugin of pytest that notes, for each test that passes, the functions of comitia that it calls."""

    def __init__(self, notes: Notes, asked: list[str]) -> None:
        self.notes, self.asked = notes, asked
        self.codes: set[Any] = set()
        self.found: dict[str, dict[str, Any]] = defaultdict(dict)
        self.seconds: dict[str, float] = defaultdict(float)
        self.source = str(notes.tree / "src") + "/"

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.codes.clear()
        add = self.codes.add

        def trace(frame: Any, event: str, argument: Any) -> None:
            add(frame.f_code)

        threading.settrace(trace)
        sys.settrace(trace)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.when == "call" and report.passed:
            self.found[report.nodeid.partition("::")[0]][report.nodeid] = [0.0, []]

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        sys.settrace(None)
        threading.settrace(None)
        file = nodeid.partition("::")[0]
        if nodeid in self.found[file]:
            calls = {
                f"{code.co_filename.removeprefix(self.source)}:{code.co_qualname.partition('.<locals>')[0]}"
                for code in list(self.codes)  # threads that a test has left behind may add to it
                if code.co_filename.startswith(self.source)
            }
            self.found[file][nodeid] = [round(self.seconds[nodeid], 3), sorted(calls)]

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        self.current = item.nodeid.partition("::")[0]
        for file in [name for name in self.found if name != self.current]:
            self._write(file)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        for file in list(self.asked) if exitstatus in (0, 1, 5) else ():  # otherwise it broke off before it met them
            self._write(file)

    def _write(self, file: str) -> None:
        if file not in self.asked:
            return
        self.asked.remove(file)
        line = {"file": file, "digest": self.notes.digest(file), "tests": self.found.pop(file, {})}
        with self.notes.path.open("a", encoding="utf-8") as notes:
            notes.write(json.dumps(line) + "\n")


class Functions:
    """The functions of comitia, the names that each uses, and the compiled ones among them."""

    def __init__(self, tree: Path) -> None:
        self.texts = {
            path.relative_to(tree).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted((tree / "src").rglob("*.py"))
        }

    def around(self, mutant: Mutant) -> tuple[str, bool]:
        """The outermost function in which a mutant stands, if any, and whether it is run when that is called.

        Otherwise it is run when the module is imported, as decorators and defaults are.
        """
        for name, node in self._functions(mutant.path):
            first = min(part.lineno for part in (node, *node.decorator_list))
            if first <= mutant.line <= node.end_lineno:
                return name, mutant.line >= node.body[0].lineno
        return "", False

    def is_compiled(self, path: str) -> bool:
        return COMPILES.search(self.texts[path]) is not None

    def callers(self, path: str, name: str) -> set[str]:
        """The functions that Python calls before it runs one of a file, which may be compiled into others."""
        found, left = set(), {f"{path.removeprefix('src/')}:{name}"}
        while left:
            found |= left
            names = {function.rpartition(":")[2] for function in left if function in self._compiled}
            left = {user for name in names for user in self._users[name]} - found
        return found

    @cached_property
    def _compiled(self) -> set[str]:
        return {
            f"{path.removeprefix('src/')}:{name}"
            for path in self.texts
            for name, node in self._functions(path)
            if any(COMPILES.match(f"@{ast.unparse(part)}") for part in node.decorator_list)
        }

    @cached_property
    def _users(self) -> dict[str, set[str]]:
        found = defaultdict(set)
        for path in self.texts:
            for name, node in self._functions(path):
                for used in re.findall(r"\w+", ast.unparse(node)):
                    found[used].add(f"{path.removeprefix('src/')}:{name}")
        return found

    def recompiled(self, path: str) -> list[str]:
        """The files whose compiled loops may hold some of a file's, by what they import."""
        found: list[str] = []
        left = [path]
        while left:
            found += left
            stems = "|".join(Path(file).stem for file in left)
            said = re.compile(rf"^(from|import) .*\b({stems})\b", re.MULTILINE)
            left = [
                file
                for file, text in self.texts.items()
                if file not in found and COMPILES.search(text) and said.search(text)
            ]
        return found

    def _functions(self, path: str) -> list[tuple[str, Any]]:
        return list(_within(ast.parse(self.texts[path]), ""))


def _within(node: Any, before: str) -> Any:
    for part in node.body:
        if isinstance(part, ast.FunctionDef):
            yield before + part.name, part
        elif isinstance(part, ast.ClassDef):
            yield from _within(part, f"{before}{part.name}.")
