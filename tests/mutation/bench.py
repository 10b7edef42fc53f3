"""A copy of the tree in which faults are put, and processes that run tests there."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.mutation.places import ROOT, Mutant
from tests.mutation.watched import CLUSTERS, HOUSE, Functions, Notes, Test, Watch, files

PYTEST = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"]
FAST, ALL = "not slow and not long and not browser", "not long and not browser"
SECONDS = 30
"""The processor's time that a test may take beyond ten times what it takes without a fault, or as much again where
loops are compiled; one that takes more has noticed it."""
QUICK, FIRST, LIMIT = 0.1, 8, 480
"""How many seconds a quick test takes, how many of tests are run first, and how many before a mutant is given up as one
that survived: they took so long when they were watched, and take a third of it by themselves."""


class Bench:
    """A copy of the tree, and processes that run tests in it.

    What is slow to import is imported once, here; a mutant's process is a fork, and imports comitia from the copy.
    """

    def __init__(self, folder: Path) -> None:
        self.tree, self.folder = folder / "tree", folder
        left_out = shutil.ignore_patterns("__pycache__", ".*", "_build", "api", "gallery")
        for name in ("src", "tests", "docs", "benchmarks"):
            shutil.copytree(ROOT / name, self.tree / name, ignore=left_out, dirs_exist_ok=True)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy2(ROOT / name, self.tree)
        os.environ |= {
            "NUMBA_CACHE_DIR": str(folder / "numba"),
            "MPLCONFIGDIR": str(folder / "matplotlib"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
            "PYTHONPATH": str(self.tree / "src"),
        }
        os.environ.pop("COMITIA_DATA", None)
        import hypothesis
        import matplotlib.pyplot  # noqa: F401
        import numba  # noqa: F401
        import pandas  # noqa: F401
        import polars  # noqa: F401
        import pyarrow.parquet  # noqa: F401
        import pytest  # noqa: F401
        import sklearn.ensemble
        import sklearn.utils.estimator_checks  # noqa: F401

        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]  # that it fails is enough
        hypothesis.settings.register_profile("mutants", phases=phases, deadline=None, derandomize=True)
        self.notes = Notes(self.tree, folder / "tests.jsonl")
        self.functions = Functions(self.tree)
        self.result, self.passed = folder / "result.json", folder / "passed.json"

    def watch(self, package: str) -> None:
        """Run the fast tests of a package that are not known, and note what each calls."""
        if unknown := self.notes.unknown(package):
            self._run(Watch(self.notes, list(unknown)), ["-m", FAST, *unknown])

    def judged(self, package: str, mutant: Mutant, with_slow: bool) -> dict[str, Any]:
        """Put a fault into the copy, run the tests, and take it out again."""
        before = (self.tree / mutant.path).read_text(encoding="utf-8")
        after = mutant.code()
        is_compiled = self.functions.is_compiled(mutant.path)
        path = self.tree / mutant.path
        stat = path.stat()
        sound: list[str] = []
        started = time.monotonic()
        while True:
            tests = self._chosen(package, mutant, sound)
            path.write_text(after, encoding="utf-8")
            cache = self._cache(mutant.path) if is_compiled else self.folder / "numba"
            try:
                if with_slow:
                    asked = ["-m", ALL, "-x", *files(self.tree, package), *(f"--deselect={name}" for name in sound)]
                    code, failed = self._run(Chosen(self.result, None, cache), asked)
                else:
                    code, failed = self._met(tests, cache)
                    if code in (0, 5) and (clusters := CLUSTERS.get(path.name)):
                        code, failed = self._run(Chosen(self.result, None, cache), ["-m", FAST, "-x", clusters])
            finally:
                path.write_text(before, encoding="utf-8")
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            if failed is None or self._passes(failed):
                break
            sound.append(failed)
        pairs = zip(before.splitlines(), after.splitlines(), strict=False)
        return {
            "mutant": mutant,
            "ending": {0: "survived", 5: "survived", -signal.SIGPROF: "timeout"}.get(code, "noticed"),
            "seconds": round(time.monotonic() - started, 1),
            "change": next((f"{old.strip()}  ->  {new.strip()}" for old, new in pairs if old != new), ""),
            "by": failed or ("importing it" if code not in (0, 5) else None),
            "left out": sound,
        }

    def _chosen(self, package: str, mutant: Mutant, left_out: list[str]) -> list[Test]:
        """The tests that may notice a fault: the quick of every file first, and of files that speak of its file."""
        text = self.functions.texts[mutant.path]
        defined = [node.name for node in ast.parse(text).body if hasattr(node, "name")]
        said = re.compile("|".join(rf"\b{name}\b" for name in [Path(mutant.path).stem, *defined]))
        tests = [test for test in self.notes.tests() if test.name not in left_out]
        speaks = {
            file: said.search((self.tree / file).read_text(encoding="utf-8")) is not None
            for file in {_file(test) for test in tests}
        }
        around, is_called = self.functions.around(mutant)
        callers = self.functions.callers(mutant.path, around)
        if is_called:
            is_compiled = self.functions.is_compiled(mutant.path)
            tests = [test for test in tests if test.calls & callers or (is_compiled and speaks[_file(test)])]
        else:
            own, calls = set(files(self.tree, package)), {call for test in tests for call in test.calls}
            of_file = {call for call in calls if call.startswith(mutant.path.removeprefix("src/") + ":")}
            tests = [test for test in tests if _file(test) in own or test.calls & of_file]
            callers = callers if around else of_file
        tests.sort(key=lambda test: test.seconds)
        files_of, place = Counter[str](), {}
        for test in tests:  # by turns, so that a file of many quick tests does not keep the others from being met
            place[test.name] = files_of[_file(test)]
            files_of[_file(test)] += 1
        return sorted(
            tests,
            key=lambda test: (
                _file(test) not in HOUSE and not test.calls & callers,
                test.seconds > QUICK,
                place[test.name],
                not speaks[_file(test)],
            ),
        )

    def _met(self, tests: list[Test], cache: Path) -> tuple[int, str | None]:
        """Run tests until one fails, in two parts, so that the first are not kept waiting for the files of the rest."""
        parts: list[list[Test]] = [[], []]
        total = 0.0
        for test in tests:
            total += test.seconds + 0.02
            if total <= LIMIT:
                parts[total > FIRST and bool(parts[0])].append(test)
        code, failed = 0, None
        for part in parts:
            if part and code in (0, 5):
                asked = ["-m", FAST, "-x", *dict.fromkeys(map(_file, part))]
                code, failed = self._run(Chosen(self.result, {test.name: test.seconds for test in part}, cache), asked)
        return code, failed

    def _passes(self, test: str) -> bool:
        """Whether a test passes without a fault when it is run alone; asked for once."""
        known = json.loads(self.passed.read_text()) if self.passed.exists() else {}
        if test not in known:
            chosen = Chosen(self.result, {test: 60.0}, self.folder / "numba")
            known[test] = self._run(chosen, ["-m", ALL, _file(test)])[0] == 0
            self.passed.write_text(json.dumps(known))
        return known[test]

    def _cache(self, mutated: str) -> Path:
        """What was compiled, in a folder of its own, without the loops that may hold some of a file's."""
        folder = self.folder / "numba-of-mutant"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder / "numba", folder)
        for file in map(Path, self.functions.recompiled(mutated)):
            for kept in folder.glob(f"{file.parent.name}_*/{file.stem}.*"):
                kept.unlink()
        return folder

    def _run(self, plugin: Any, asked: list[str]) -> tuple[int, str | None]:
        """Run tests in a process of their own; return how it ended, and the test that failed."""
        self.result.unlink(missing_ok=True)
        process = os.fork()
        if process == 0:
            self._child(plugin, asked)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)  # what a test may have left behind
        return code, json.loads(self.result.read_text()) if self.result.exists() else None

    def _child(self, plugin: Any, asked: list[str]) -> None:
        import hypothesis
        import numba
        import pytest

        code = 70
        try:
            os.setpgid(0, 0)
            signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where this runs in the background
            os.chdir(self.tree)
            file = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, 1)
            os.dup2(file, 2)
            sys.path[:] = [str(self.tree / "src"), *(name for name in sys.path if name not in ("", str(ROOT)))]
            for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
                del sys.modules[name]  # the copy's are meant
            if isinstance(plugin, Chosen):
                numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = str(plugin.cache)
            hypothesis.settings.load_profile("mutants")
            code = int(pytest.main([*PYTEST, *asked], plugins=[plugin]))
        finally:
            sys.stdout.flush()
            os._exit(code)


class Chosen:
    """A plugin of pytest that runs the chosen tests in their order and notes which fails or takes too long."""

    def __init__(self, result: Path, seconds: dict[str, float] | None, cache: Path) -> None:
        self.result, self.seconds, self.cache = result, seconds, cache

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.seconds is not None:
            order = {name: i for i, name in enumerate(self.seconds)}
            items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.result.write_text(json.dumps(nodeid))  # what is known should it not come back
        usual = 60.0 if self.seconds is None else self.seconds[nodeid]
        compiling = SECONDS * (self.cache.name != "numba")
        signal.setitimer(signal.ITIMER_PROF, SECONDS + compiling + 10 * usual)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.result.write_text(json.dumps(report.nodeid))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        if exitstatus in (0, 5):
            self.result.unlink(missing_ok=True)


def _file(test: Test | str) -> str:
    return (test if isinstance(test, str) else test.name).partition("::")[0]
