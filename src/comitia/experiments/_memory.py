"""A run that is kept nowhere: what a folder would hold, as long as somebody looks at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from comitia.experiments._plan import Cell, Plan


class Records(Protocol):
    """What is known of a run, in memory or in a folder."""

    @property
    def plan(self) -> Plan: ...

    def finished(self, cell: Cell) -> bool:
        """Whether the rows of a cell are there, whole, and those of this plan and this data."""

    def damaged(self) -> list[dict[str, Any]]:
        """Cell and error of those that were finished, but are not whole, or not of this plan and this data."""

    def write_cell(self, cell: Cell, rows: Sequence[Mapping[str, Any]], provenance: Mapping[str, Any]) -> None:
        """Keep the outcome of a cell."""

    def write_details(self, cell: Cell, details: Mapping[str, Any]) -> None:
        """Keep what the report shows of a cell besides its rows."""

    def write_failure(self, cell: Cell, error: Mapping[str, Any]) -> None:
        """Keep the error of a cell."""

    def write_dataset(self, description: Mapping[str, Any]) -> None:
        """Keep what a dataset is, or make sure that it is what it was."""

    def write_provenance(self, provenance: Mapping[str, Any]) -> None:
        """Keep all starts of the runner."""

    def write_digits(self, digits: Mapping[str, Any]) -> None:
        """Keep handwritten digits and the displays that aggregations light for them."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows of all finished cells, in the plan's order."""

    def datasets(self) -> list[dict[str, Any]]:
        """What is known of each dataset, in the plan's order."""

    def failures(self) -> list[dict[str, Any]]:
        """Cell and error of those that failed when they were last tried, or are damaged, in the plan's order."""

    def provenance(self) -> dict[str, Any]:
        """Every start of the runner."""

    def cell_provenance(self, cell: Cell) -> dict[str, Any]:
        """Seeds, times, warnings and versions of a finished cell."""

    def details(self, cell: Cell) -> dict[str, Any] | None:
        """What the report shows of a cell besides its rows, where that was kept."""

    def identity(self) -> dict[str, Any]:
        """All that decided the outcome when the run began."""

    def digits(self) -> dict[str, Any] | None:
        """Handwritten digits and the displays that aggregations light for them, where they are in the plan."""


@dataclass(frozen=True)
class Memory:
    """A run in memory.

    Parameters
    ----------
    plan : Plan
        The plan whose rows it holds.
    """

    plan: Plan
    _cells: dict[Cell, tuple[list[dict[str, Any]], dict[str, Any]]] = field(default_factory=dict, repr=False)
    _details: dict[Cell, dict[str, Any]] = field(default_factory=dict, repr=False)
    _failures: dict[Cell, dict[str, Any]] = field(default_factory=dict, repr=False)
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)
    _datasets: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    def finished(self, cell: Cell) -> bool:
        return cell in self._cells

    def damaged(self) -> list[dict[str, Any]]:
        return []

    def write_cell(self, cell: Cell, rows: Sequence[Mapping[str, Any]], provenance: Mapping[str, Any]) -> None:
        self._cells[cell] = [dict(row) for row in rows], dict(provenance)

    def write_details(self, cell: Cell, details: Mapping[str, Any]) -> None:
        self._details[cell] = dict(details)

    def write_failure(self, cell: Cell, error: Mapping[str, Any]) -> None:
        self._failures[cell] = {"cell": cell.key, **error}

    def write_dataset(self, description: Mapping[str, Any]) -> None:
        self._datasets[description["name"]] = dict(description)

    def write_provenance(self, provenance: Mapping[str, Any]) -> None:
        self._kept["provenance"] = dict(provenance)

    def write_digits(self, digits: Mapping[str, Any]) -> None:
        self._kept["digits"] = dict(digits)

    def rows(self) -> list[dict[str, Any]]:
        return [row for cell in self.plan.cells() if cell in self._cells for row in self._cells[cell][0]]

    def datasets(self) -> list[dict[str, Any]]:
        return [self._datasets[source.name] for source in self.plan.datasets if source.name in self._datasets]

    def failures(self) -> list[dict[str, Any]]:
        return [self._failures[cell] for cell in self.plan.cells() if cell in self._failures]

    def provenance(self) -> dict[str, Any]:
        found: dict[str, Any] = self._kept.get("provenance", {"plan": self.plan.name, "sessions": []})
        return found

    def cell_provenance(self, cell: Cell) -> dict[str, Any]:
        return self._cells[cell][1]

    def details(self, cell: Cell) -> dict[str, Any] | None:
        return self._details.get(cell)

    def identity(self) -> dict[str, Any]:
        return self.plan.identity()

    def digits(self) -> dict[str, Any] | None:
        return self._kept.get("digits")
