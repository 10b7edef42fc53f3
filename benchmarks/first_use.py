"""What the first use costs: processor seconds of compiling, each entry in a process of its own with an empty cache."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from numba.core import event

from benchmarks.case import Case

_ENSEMBLES = ("ebr", "ecc", "emodt", "emobt")
_AT_MOST = {"compare": 12.0} | dict.fromkeys(_ENSEMBLES, 4.0)


def run(quick: bool = False) -> list[Case]:
    found = []
    for name in _ENSEMBLES:
        with tempfile.TemporaryDirectory() as cache:
            said = _process([sys.executable, "-m", "benchmarks.first_use", name], cache)
        kernels = Counter(json.loads(said.splitlines()[-1]))
        most = ", ".join(f"{kernel} {seconds:.1f}" for kernel, seconds in kernels.most_common(4))
        found.append(_case(f"{name}: fit and predict for F1", kernels.total(), _AT_MOST[name], most))
    if not quick:
        found.append(
            _case("comitia compare", _compare(), _AT_MOST["compare"], "README's first command, all its processes")
        )
    return found


def _case(name: str, seconds: float, target: float, note: str) -> Case:
    return Case(name, "a filled cache", seconds, target, note, at_most=True, unit="s of compiling")


def _compare() -> float:
    """How much more processor time the command takes the first time than the second."""
    used = []
    with tempfile.TemporaryDirectory() as cache:
        for attempt in range(2):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            output = str(Path(cache) / f"run-{attempt}")
            _process([sys.executable, "-c", "from comitia.cli import main; main()", "compare", "-o", output], cache)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return used[0] - used[1]


def _process(command: list[str], cache: str) -> str:
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


class Compiling(event.Listener):  # type: ignore[misc]
    """Processor seconds that each loop takes to compile, without those that it calls."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._here = threading.local()

    def on_start(self, found: event.Event) -> None:  # noqa: ARG002
        self._here.__dict__.setdefault("open", []).append([time.thread_time(), 0.0])

    def on_end(self, found: event.Event) -> None:
        started, of_others = self._here.open.pop()
        seconds = time.thread_time() - started
        function = found.data["dispatcher"].py_func
        self.seconds[f"{function.__module__.rpartition('.')[2]}.{function.__name__}"] += seconds - of_others
        if self._here.open:
            self._here.open[-1][1] += seconds


def _first_use(name: str) -> None:
    from sklearn.datasets import make_multilabel_classification

    import comitia

    X, Y = make_multilabel_classification(n_samples=300, random_state=0)
    compiling = Compiling()
    with event.install_listener("numba:compile", compiling):
        comitia.ENSEMBLES[name](n_estimators=10, loss="f1", random_state=0).fit(X, Y).predict(X)
    print(json.dumps(compiling.seconds))


if __name__ == "__main__":
    _first_use(sys.argv[1])
