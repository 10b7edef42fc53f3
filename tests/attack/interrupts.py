"""Runs that are interrupted, once or impatiently, and never killed: the last word is how to go on."""

from __future__ import annotations

from pathlib import Path

from tests.attack import runs

prepare = runs.prepare


def work(folder: Path, cases: range, seed: int) -> None:
    """Interrupt one run for each case."""
    runs.work(folder, cases, seed, tuple(kind for kind in runs.SIGNALS if kind.startswith("interrupt")))
