"""One line of a benchmark, a ratio against a peer timed in the same run on the same cores; and what they share."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DATA = Path(os.environ.get("COMITIA_DATA", Path(__file__).parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Case:
    """How many times as fast as its peer something is (or, where ``at_most`` is set, how much it takes)."""

    name: str
    peer: str
    ratio: float
    target: float | None
    note: str = ""
    at_most: bool = False
    unit: str = "x"

    @property
    def reached(self) -> bool:
        if self.target is None:
            return True
        return self.ratio <= self.target if self.at_most else self.ratio >= self.target

    def line(self) -> str:
        sign = "≤" if self.at_most else "≥"
        target = "" if self.target is None else f"  target {sign} {self.target:g}: {'yes' if self.reached else 'NO'}"
        note = f"  ({self.note})" if self.note else ""
        return (
            f"{self.name:<52} {self.ratio:9.{2 if self.at_most else 1}f} {self.unit}  against {self.peer}{target}{note}"
        )


def median_time(function: Callable[[], object], repeats: int = 3) -> float:
    """Return the median of ``repeats`` wall-clock times of ``function``, in seconds."""
    return statistics.median(timed(function, repeats))


def timed(function: Callable[[], object], repeats: int) -> list[float]:
    """Return so many wall-clock times of ``function``, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return times


def peak_memory() -> int:
    """Return the most memory that this process has had, in bytes (Linux).

    Not ``getrusage``: what it gives starts at the peak of the process that started this one.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
