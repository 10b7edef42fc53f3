"""How long a run will still take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from comitia.ensembles._size import Size
from comitia.experiments._plan import Cell, Plan


class Estimate:
    """Learns from the cells that have ended how long the others will take.

    A cell is expected to take as long as others of its dataset and ensemble did.  Where none has ended, sizes tell:
    the work to expect is scaled by what a unit of it has taken so far.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._datasets: dict[str, Mapping[str, Any]] = {}
        self._left: list[Cell] = []
        self._jobs: Callable[[], int] = lambda: 1
        self._seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def add_dataset(self, description: Mapping[str, Any]) -> None:
        """Take note of the size of a dataset."""
        self._datasets[description["name"]] = description

    def largest_first(self, cells: Sequence[Cell]) -> list[Cell]:
        """Order cells by the work to expect."""
        return sorted(cells, key=self._work, reverse=True)

    def expect(self, cells: Sequence[Cell], jobs: Callable[[], int]) -> None:
        """Take note of what is to be done, and who knows how many cells are worked on at the same time."""
        self._left, self._jobs = list(cells), jobs

    def finished(self, cell: Cell, seconds: float) -> None:
        """Take note of a cell that has ended, and how long it took without compiling."""
        self._left.remove(cell)
        self._seconds[cell.dataset, cell.ensemble].append(seconds)

    def seconds_left(self) -> float | None:
        """How long the rest will take; None when nothing has ended yet."""
        if not self._seconds:
            return None
        # The median: the first cell in a process also waits for loops that another one compiles.
        usual = {group: median(seconds) for group, seconds in self._seconds.items()}
        rate = sum(usual.values()) / sum(self._work(Cell(*group, 0, 0)) for group in usual)
        left = sum(usual.get((cell.dataset, cell.ensemble), rate * self._work(cell)) for cell in self._left)
        return left / min(self._jobs(), max(1, len(self._left)))

    def _work(self, cell: Cell) -> float:
        """Work of a cell, in no unit: what its parts grow with."""
        data, setting = self._datasets[cell.dataset], self._plan.setting(cell.ensemble)
        members = setting.n_members
        size = Size(data["n"], data["values_per_instance"], data["K"], data["cardinality"], members)
        fit = setting.build()._work(size)
        return float(fit + 0.2 * members * data["n"] * data["K"] * len(self._plan.sizes))
