"""Faults put into the code by cosmic-ray's operators, one at a time: how many do the tests notice?

    python -m pip install --group mutation
    python tests/mutation.py --sample 20 --seed 1 --log mutants.jsonl

A place is drawn at random from each package, and one of the mutations that its operators know for it; every place is as
likely as any other.  Left out are annotations, which are never evaluated, and decorators that compile a loop, without
which it is only slower.  Each mutant stands in a copy of the tree from which no real data are found; the tests of its
package run there until one fails, the quick files first, and that one must pass without the fault.  Files with compiled
loops are tested uncompiled, since what other files have compiled of them would be kept.  A log that is there already is
continued.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import math
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "relevance": ["tests/relevance", "tests/test_aggregation.py", "tests/ensembles/test_calibration.py"],
    "losses": ["tests/losses", "tests/test_aggregation.py"],
    "aggregation": ["tests/test_aggregation.py", "tests/ensembles"],
    "ensembles": ["tests/ensembles", "tests/test_model_file.py"],
    "experiments": ["tests/experiments", "tests/test_compare.py"],
    "datasets": ["tests/datasets"],
}
"""The tests that a mutant of a package must pass to survive; the examples of the package itself come before them."""
PYTEST = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist"]
FAST, ALL = "not slow and not long and not browser", "not long and not browser"
SECONDS = 60
"""The processor's time that a test may take; one that takes more has noticed the fault, if it takes less without it."""
COMPILES = re.compile(r"@(njit|compiled|inlined)\b")


class Mutant(NamedTuple):
    """One mutation at one place."""

    path: str
    operator: str
    occurrence: int
    line: int

    def code(self) -> str:
        """The file with the fault in it."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        return mutate_code(
            (ROOT / self.path).read_text(encoding="utf-8"), get_operator(self.operator)(), self.occurrence
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=20, help="mutants a package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packages", nargs="+", choices=PACKAGES, default=list(PACKAGES))
    parser.add_argument("--log", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--folder", type=Path, help="keep the copy, and what was compiled for it, there")
    parser.add_argument("--again", action="store_true", help="test the survivors of the log again, by slow tests too")
    asked = parser.parse_args()
    known = {}
    if asked.log.exists():
        lines = map(json.loads, asked.log.read_text(encoding="utf-8").splitlines())
        known = {Mutant(*line["mutant"]): line for line in lines}
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(asked.folder.resolve() if asked.folder else Path(temporary))
        for package in asked.packages:
            for mutant in drawn(package, asked.sample, asked.seed):
                if mutant in known and not (asked.again and known[mutant]["ending"] == "survived"):
                    continue
                line = bench.judged(package, mutant, ALL if asked.again else FAST)
                known[mutant] = line
                with asked.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(
                    f"{line['ending']:9} {line['seconds']:6.1f} s  {mutant.path}:{mutant.line}  {line['change']}",
                    flush=True,
                )
        summarise(
            asked.packages, {package: drawn(package, asked.sample, asked.seed) for package in asked.packages}, known
        )


def summarise(packages: list[str], samples: dict[str, list[Mutant]], known: dict[Mutant, dict[str, Any]]) -> None:
    """Print how many were noticed, with Wilson's interval of 95 percent."""
    total: Counter[str] = Counter()
    for package in packages:
        found = Counter(known[mutant]["ending"] for mutant in samples[package])
        total += found
        print(f"{package:12} {_score(found)}")
    print(f"{'all':12} {_score(total)}")


def _score(found: Counter[str]) -> str:
    n, noticed, z = sum(found.values()), sum(found.values()) - found["survived"], 1.96
    middle, half = noticed + z * z / 2, z * math.sqrt(noticed * (n - noticed) / n + z * z / 4)
    low, high = (100 * (middle + sign * half) / (n + z * z) for sign in (-1, 1))
    return f"{noticed:4} of {n:4} noticed ({100 * noticed / n:.1f} %, from {low:.1f} to {high:.1f} %)"


def drawn(package: str, sample: int, seed: int) -> list[Mutant]:
    """Draw places of a package, and a mutation at each; a larger sample begins with a smaller one."""
    rng = random.Random(f"{seed}/{package}")
    places = list(mutations(package).values())
    rng.shuffle(places)
    return [random.Random(f"{seed}/{place[0]}").choice(place) for place in places[:sample]]


def mutations(package: str) -> dict[tuple[Any, ...], list[Mutant]]:
    """Every mutation of a package, by its place."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    operators = {name: get_operator(name) for name in operator_names()}
    found: dict[tuple[Any, ...], list[Mutant]] = defaultdict(list)
    for path in sorted((ROOT / "src/comitia" / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        nodes, idle = list(ast_nodes(get_ast(text))), _idle(text)
        for name, operator in operators.items():
            if operator.arguments():
                continue
            asked = operator()
            places = (place for node in nodes for place in asked.mutation_positions(node))
            for occurrence, (start, end) in enumerate(places):
                if not any(a <= start and end <= b for a, b in idle):
                    mutant = Mutant(path.relative_to(ROOT).as_posix(), name, occurrence, start[0])
                    found[mutant.path, start, end].append(mutant)
    return found


def _idle(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where a mutation cannot be noticed: annotations, since all modules put off their evaluation, and ``@njit``."""
    nodes = list(ast.walk(ast.parse(text)))
    written = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
    compiles = [
        part
        for node in nodes
        for part in getattr(node, "decorator_list", [])
        if COMPILES.match(f"@{ast.unparse(part)}")
    ]
    return [
        *(((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)) for part in written if part),
        *(((part.lineno, 0), (part.end_lineno + 1, 0)) for part in compiles),
    ]


class Bench:
    """A copy of the tree, and processes that run tests in it.

    What is slow to import is imported once, here; a mutant's process is a fork, and imports comitia from the copy.
    """

    def __init__(self, folder: Path) -> None:
        self.tree, self.folder = folder / "tree", folder
        left_out = shutil.ignore_patterns("__pycache__", ".*", "_build", "api", "gallery")
        for name in ("src", "tests", "docs"):
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
        self.result, self.times = folder / "result.json", folder / "seconds.json"
        self.sound: dict[tuple[str, bool], bool] = {}

    def judged(self, package: str, mutant: Mutant, marked: str) -> dict[str, Any]:
        """Put a fault into the copy, run the tests, and take it out again."""
        before = (ROOT / mutant.path).read_text(encoding="utf-8")
        after = mutant.code()
        is_compiled = COMPILES.search(before) is not None
        path = self.tree / mutant.path
        stat = path.stat()
        left_out: list[str] = []
        started = time.monotonic()
        while True:
            path.write_text(after, encoding="utf-8")
            try:
                code, failed = self._tested(
                    [mutant.path, *self._files(package, mutant.path)], marked, is_compiled, left_out
                )
            finally:
                path.write_text(before, encoding="utf-8")
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            if failed is None or self._passes(failed, marked, is_compiled):
                break
            left_out.append(failed)
        pairs = zip(before.splitlines(), after.splitlines(), strict=False)
        return {
            "mutant": mutant,
            "ending": {0: "survived", -signal.SIGPROF: "timeout"}.get(code, "noticed"),
            "seconds": round(time.monotonic() - started, 1),
            "change": next((f"{old.strip()}  ->  {new.strip()}" for old, new in pairs if old != new), ""),
            "by": failed,
            "left out": left_out,
        }

    def _passes(self, test: str, marked: str, is_compiled: bool) -> bool:
        """Whether a test passes without a fault; asked for once."""
        if (test, is_compiled) not in self.sound:
            self.sound[test, is_compiled] = self._tested([test], marked, is_compiled)[0] == 0
        return self.sound[test, is_compiled]

    def _files(self, package: str, mutated: str) -> list[str]:
        """The files with tests of a package: first those that speak of what the mutated one defines, then the quick."""
        names = [f"src/comitia/{package}", *PACKAGES[package], "tests/test_house.py"]
        files = [file for name in names for file in sorted((self.tree / name).rglob("*.py")) or [self.tree / name]]
        texts = {str(file.relative_to(self.tree)): file.read_text(encoding="utf-8") for file in files}
        defined = [node.name for node in ast.parse(texts[mutated]).body if hasattr(node, "name")]
        said = re.compile("|".join(rf"\b{name}\b" for name in [Path(mutated).stem, *defined]))
        seconds = json.loads(self.times.read_text()) if self.times.exists() else {}
        order = {
            name: (said.search(text) is None, seconds.get(name, len(text) / 1000))
            for name, text in texts.items()
            if ">>> " in text or Path(name).name.startswith("test_")
        }
        return sorted(order, key=order.get)

    def _tested(
        self, asked: list[str], marked: str, is_compiled: bool, left_out: list[str] | None = None
    ) -> tuple[int, str | None]:
        """Run tests in a process of their own; return how it ended, and the test that failed."""
        self.result.unlink(missing_ok=True)
        process = os.fork()
        if process == 0:
            self._test(list(dict.fromkeys(asked)), marked, is_compiled, left_out or [])
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)  # what a test may have left behind
        return code, json.loads(self.result.read_text()) if self.result.exists() else None

    def _test(self, asked: list[str], marked: str, is_compiled: bool, left_out: list[str]) -> None:
        import hypothesis
        import numba
        import pytest

        code = 70
        try:
            os.setpgid(0, 0)
            os.chdir(self.tree)
            file = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, 1)
            os.dup2(file, 2)
            sys.path[0] = str(self.tree / "src")
            if is_compiled:
                os.environ["NUMBA_DISABLE_JIT"] = "1"
                numba.config.DISABLE_JIT = True
            hypothesis.settings.load_profile("mutants")
            clock = Clock(self.result)
            skipped = [f"--deselect={name}" for name in left_out]
            code = int(pytest.main([*PYTEST, "-m", marked, *skipped, *asked], plugins=[clock]))
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.result.write_text(json.dumps(clock.failed))
            known = json.loads(self.times.read_text()) if self.times.exists() else {}
            clock.seconds.pop(asked[0], None)  # it may be the one with the fault
            self.times.write_text(json.dumps(clock.seconds | known))
        finally:
            sys.stdout.flush()
            os._exit(code)


class Clock:
    """How long the tests of each file take, and which fails or takes too long."""

    def __init__(self, result: Path) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: str | None = None
        self.result = result

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.result.write_text(json.dumps(nodeid))  # what is known should it not come back
        signal.setitimer(signal.ITIMER_PROF, SECONDS)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid.partition("::")[0]] += report.duration
        if report.failed:
            self.failed = report.nodeid


if __name__ == "__main__":
    main()
