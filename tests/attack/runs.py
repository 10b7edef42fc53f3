"""Runs of ``comitia compare`` that are killed and interrupted: resumed, they end with the rows of one left alone.

A case is one run: it is disturbed a few times, at random moments, and then left to finish.  Only what hit is counted: a
process that was there to be killed, a runner that was stopped before it had ended.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from comitia.datasets import make_joint
from comitia.experiments import Store
from tests.attack.run import Log

PATIENCE_SECONDS = 300
DISTURBED = 4
"""How often a run is hit before it is left to finish."""
TRIES = 12
"""How often it is tried to hit one; a case whose every signal came too late has shown nothing."""
SIGNALS = ("kill the runner", "kill all", "kill a worker", "interrupt", "interrupt impatiently")
STOPPED = "Stopped. What is finished is kept: the same command with --output {} goes on."


def prepare(folder: Path) -> None:
    """Write a small table and the rows of a run that nobody disturbs."""
    data = make_joint(120, 4, 3, dependence=0.7, random_state=3).dataset
    lines = [",".join([*map(repr, x), *map(str, y)]) for x, y in zip(data.X.tolist(), data.Y.tolist(), strict=True)]
    (folder / "data.csv").write_text("\n".join(["u,v,w,x,a,b,c", *lines]) + "\n")
    done = subprocess.run(_command(folder, folder / "undisturbed", 1), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)


def work(folder: Path, cases: range, seed: int, signals: tuple[str, ...] = SIGNALS) -> None:
    """Disturb one run for each case."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell started behind its back ignores interrupts
    log = Log(folder)
    expected = sorted(json.dumps(row, sort_keys=True) for row in Store.read(folder / "undisturbed").rows())
    for case in cases:
        rng = random.Random(f"{seed}/{case}")
        log.begin(case)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            log.end(case, _ending(case, folder, Path(place) / "run", rng, expected, signals))


def _ending(
    case: int, folder: Path, run: Path, rng: random.Random, expected: list[str], signals: tuple[str, ...]
) -> str:
    sent: list[str] = []
    hits: list[str] = []
    try:
        while len(hits) < DISTURBED and len(sent) < TRIES:
            kind = rng.choice(signals)
            before = _finished(run)
            sent.append(kind)
            is_hit, said = _disturbed(folder, run, kind, rng)
            hits += [kind] * is_hit
            if said:
                return f"WRONG: case {case}: after {sent}: {said}"
            if {path: state for path, state in _finished(run).items() if path in before} != before:
                return f"WRONG: case {case}: after {sent}: a finished cell was touched"
        done = subprocess.run(
            _command(folder, run, rng.choice([1, 2])),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except (subprocess.TimeoutExpired, TimeoutError) as error:
        return f"WRONG: case {case}: after {sent}: {error}"
    if done.returncode or "Traceback" in done.stderr:
        return f"WRONG: case {case}: after {sent}: ended with {done.returncode}: {done.stderr[-300:]}"
    store = Store.read(run)
    rows = sorted(json.dumps(row, sort_keys=True) for row in store.rows())
    if rows != expected or store.failures():
        return f"WRONG: case {case}: after {sent}: {len(rows)} rows, {len(expected)} expected, or other ones"
    if not hits:
        return f"WRONG: case {case}: nobody was hit by {sent}"
    kills = sum(kind.startswith("kill") for kind in hits)
    return f"{kills} kills and {len(hits) - kills} interrupts hit, then the rows of the undisturbed run"


def _command(folder: Path, run: Path, n_jobs: int) -> list[str]:
    asked = ["--labels", "a,b,c", "--ensembles", "emodt,ebr", "-m", "15", "--folds", "5", "--repeats", "3"]
    main = [sys.executable, "-c", "from _comitia_start import main; main()"]
    return [*main, "compare", str(folder / "data.csv"), *asked, "-j", str(n_jobs), "-o", str(run)]


def _disturbed(folder: Path, run: Path, kind: str, rng: random.Random) -> tuple[bool, str | None]:
    """Start the run, send it a signal and wait for its end; return whether that hit, and what went wrong."""
    n_jobs = 2 if kind == "kill a worker" else rng.choice([1, 2])
    before = _touched(run)
    wanted = len(_finished(run)) + rng.randrange(4)
    with subprocess.Popen(
        _command(folder, run, n_jobs), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            _until(lambda: process.poll() is not None or ((run / "plan.toml").exists() and _started(run, wanted)))
            time.sleep(rng.choice([0, 0, 0.01, 0.05, 0.2]))
            is_hit = _send(process, kind, rng)
            _, err = process.communicate(timeout=PATIENCE_SECONDS)
            _until(lambda: not processes_of(process.pid))
        finally:
            if processes_of(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
    is_hit &= kind == "kill a worker" or process.returncode != 0
    if kind.startswith("interrupt") and process.returncode:
        last = err.rstrip().splitlines()[-1] if err.strip() else ""
        if last in ("", "Stopped.", "KeyboardInterrupt") and "/comitia/" not in err and _touched(run) == before:
            return False, None  # too early to count: Python was starting or imported the package; nothing was begun
        if process.returncode != 1 or last != STOPPED.format(run):
            return is_hit, f"{kind}: ended with {process.returncode}, and last said {last!r}"
    if kind.startswith("interrupt") and "<frozen importlib._bootstrap>" in err and "/comitia/" not in err:
        return False, None  # Python was starting: its own import system said that it ignored the interrupt, and went on
    if "Traceback" in err:
        return is_hit, f"a traceback: {err[-300:]}"
    return is_hit, None


def _send(process: subprocess.Popen[str], kind: str, rng: random.Random) -> bool:
    """Send the signals, and return whether there was somebody to receive the first."""
    if process.poll() is not None:
        return False
    if kind == "kill the runner":
        process.kill()
    elif kind == "kill all":
        os.killpg(process.pid, signal.SIGKILL)
    elif kind == "kill a worker":
        workers = [pid for pid in processes_of(process.pid) if pid != process.pid and not _is_tracker(pid)]
        try:
            os.kill(rng.choice(workers), signal.SIGKILL)
        except (IndexError, ProcessLookupError):
            return False
    else:
        for number in range(1 if kind == "interrupt" else 3):
            try:
                os.killpg(process.pid, signal.SIGINT)
            except ProcessLookupError:
                return number > 0
            time.sleep(rng.choice([0.0, 0.02, 0.1]))
    return True


def _is_tracker(pid: int) -> bool:
    """Whether a process is the one by which joblib counts semaphores: it computes nothing, and its heir complains."""
    try:
        return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _finished(run: Path) -> dict[Path, tuple[int, int]]:
    """The finished cells; one that is computed again is a new file."""
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in run.glob("cells/*.jsonl")}


def _touched(run: Path) -> dict[Path, int]:
    """Whatever there is of a run, and when it was written last."""
    return {path: path.stat().st_mtime_ns for path in run.rglob("*")}


def _started(run: Path, wanted: int) -> bool:
    return len(_finished(run)) >= wanted


def processes_of(group: int) -> list[int]:
    """The processes of a group that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = status.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(status.parent.name))
    return found


def _until(reached) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        if time.monotonic() > end:
            raise TimeoutError(f"waited for {PATIENCE_SECONDS} s")
        time.sleep(0.005)
