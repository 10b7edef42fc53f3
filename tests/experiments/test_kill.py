"""A runner that is killed again and again ends with the rows of one that was left alone."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from comitia.experiments import EnsembleSetting, Store, run_plan, write_plan
from tests.experiments.conftest import small_plan

RUNNER = """
import sys
from comitia.experiments import read_plan, run_plan
summary = run_plan(read_plan(sys.argv[1]), sys.argv[2], n_jobs=int(sys.argv[3]))
print(summary.kept, summary.computed, len(summary.failures))
"""
KILLS = 10
PATIENCE_SECONDS = 120


@pytest.mark.slow
def test_a_runner_killed_at_random_moments_ends_with_the_rows_of_one_left_alone(joint_csv, tmp_path):
    settings = (EnsembleSetting("emodt", {"n_estimators": 30}), EnsembleSetting("ebr", {"n_estimators": 30}))
    plan = small_plan(joint_csv, ensembles=settings, folds=4, repeats=4)
    undisturbed = run_plan(plan, tmp_path / "undisturbed", n_jobs=1).store.rows()
    file, folder = tmp_path / "plan.toml", tmp_path / "killed"
    file.write_text(write_plan(plan))

    moments = random.Random(3)
    jobs = moments.sample([1] * (KILLS - 2) + [2] * 2, KILLS)
    finished: dict[Path, tuple[int, int]] = {}
    for n_jobs in jobs:
        with subprocess.Popen([sys.executable, "-c", RUNNER, file, folder, str(n_jobs)]) as runner:
            wait_for_cells(runner, folder, at_least=len(finished) + moments.randrange(3))
            wait_for_changes(runner, folder, moments.randrange(6))
            runner.send_signal(signal.SIGKILL)
        assert runner.returncode == -signal.SIGKILL, "it ended before it was killed: give the plan more cells"
        assert_untouched(finished)
        finished = fingerprints(folder)

    assert len(finished) < len(list(plan.cells())), "nothing was left to go on with"
    last = subprocess.run([sys.executable, "-c", RUNNER, file, folder, "2"], check=True, capture_output=True, text=True)
    assert_untouched(finished)
    kept, computed, failed = map(int, last.stdout.split())
    assert (kept + computed, failed) == (len(list(plan.cells())), 0)
    assert kept >= len(finished)
    assert Store.read(folder).rows() == undisturbed
    assert Store.read(folder).failures() == []
    assert len(Store.read(folder).provenance()["sessions"]) <= KILLS + 1


def wait_for_cells(runner: subprocess.Popen, folder: Path, at_least: int) -> None:
    watch(runner, lambda: sum(name.endswith(".jsonl") for name in names(folder)) >= at_least)


def wait_for_changes(runner: subprocess.Popen, folder: Path, count: int) -> None:
    """Wait until files have appeared, gone or got their names so many times: also in the middle of writing one."""
    state, left = names(folder), count

    def changed() -> bool:
        nonlocal state, left
        before, state = state, names(folder)
        left -= state != before
        return left <= 0

    watch(runner, changed)


def watch(runner: subprocess.Popen, reached) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not reached() and runner.poll() is None:
        assert time.monotonic() < end, "the runner writes nothing"
        time.sleep(0.001)


def names(folder: Path) -> set[str]:
    return {entry.name for part in ("", "cells") if (folder / part).is_dir() for entry in os.scandir(folder / part)}


def fingerprints(folder: Path) -> dict[Path, tuple[int, int]]:
    """The finished cells, each of them whole; a cell that is computed again is a new file."""
    found = {}
    for path in folder.glob("cells/*.jsonl"):
        assert all(0 <= json.loads(line)["value"] <= 1 for line in path.read_text().splitlines())
        found[path] = (path.stat().st_ino, path.stat().st_mtime_ns)
    return found


def assert_untouched(finished: dict[Path, tuple[int, int]]) -> None:
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in finished} == finished
