"""One line of a benchmark: a ratio against a peer that was timed in the same run on the same cores."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


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
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
