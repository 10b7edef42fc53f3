"""Cases in a process of their own, whose death is an ending like any other."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ATTACKS = ("models", "decisions", "answers", "data", "runs", "interrupts", "names")
IN_PROCESS = ("models", "decisions", "answers", "data")
"""Those that run compiled code in their own process; the others start commands as a user does."""
ROOT = Path(__file__).parents[2]
LOG = "endings.jsonl"


def run(attack: str, cases: range, seed: int = 0, cache: Path | None = None) -> Counter[str]:
    """Attack in another process with numba's bounds checks, and count how the cases ended.

    Code that was compiled without the checks must not be used: the cache is another one.
    """
    endings: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        import_module(f"tests.attack.{attack}").prepare(Path(folder))
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path}
        if attack in IN_PROCESS:
            environment |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache or Path(folder) / "numba")}
        first = cases.start
        while first < cases.stop:
            asked = ["--cases", str(cases.stop - first), "--first", str(first), "--seed", str(seed), "--within", folder]
            done = subprocess.run(
                [sys.executable, "-m", "tests.attack", attack, *asked],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
            )
            log = Path(folder) / LOG
            lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
            log.unlink(missing_ok=True)
            endings.update(ending for _, ending in lines if ending != "begun")
            if done.returncode == 0:
                break
            begun = [case for case, ending in lines if ending == "begun"]
            if not begun:
                raise RuntimeError(f"the attack did not begin:\n{done.stderr[-4000:]}")
            endings[f"WRONG: case {begun[-1]} ended the process with {done.returncode}: {done.stderr[-300:]}"] += 1
            first = begun[-1] + 1
    return endings


class Log:
    """What a process has to say of its cases, written before it can die of the next."""

    def __init__(self, folder: Path) -> None:
        self.file = (folder / LOG).open("a", buffering=1)

    def begin(self, case: int) -> None:
        self.file.write(json.dumps([case, "begun"]) + "\n")

    def end(self, case: int, ending: str) -> None:
        self.file.write(json.dumps([case, ending]) + "\n")


@contextlib.contextmanager
def clock(seconds: int) -> Iterator[None]:
    """End a case that takes too long, and with it the process."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
