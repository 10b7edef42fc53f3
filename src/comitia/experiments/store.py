"""A run's folder: rows, one file a cell, and how they came to be."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comitia._errors import ComitiaError
from comitia._files import is_temporary, remove_abandoned, write_text
from comitia.experiments.plan import Cell, Plan, file_name
from comitia.experiments.plan_file import parse_plan, write_plan

try:
    import fcntl
except ImportError:  # a system without it runs without the guard against a second runner
    fcntl = None  # type: ignore[assignment]


class StoreError(ComitiaError):
    """A folder cannot be used for a run."""


@dataclass(frozen=True)
class Store:
    """The folder of a run.

    =========================  ====================================================================
    ``plan.toml``              the plan, for people and for running it again
    ``identity.json``          all that decides the outcome: the plan, defaults, the version
    ``datasets/NAME.json``     size, labels and checksum of each dataset
    ``cells/KEY.jsonl``        the rows of a cell; it is there when the cell is finished, and whole
    ``cells/KEY.json``         seeds, times, warnings and versions of that cell
    ``failures/KEY.json``      the error of a cell that failed when it was last tried
    ``provenance.json``        every start of the runner: command, machine, versions, time
    =========================  ====================================================================

    Parameters
    ----------
    folder : Path
        The folder.
    plan : Plan
        The plan whose rows it holds.
    """

    folder: Path
    plan: Plan

    @classmethod
    def create(cls, folder: str | Path, plan: Plan) -> Store:
        """Make the folder of a run, or take up one that the same plan has begun.

        Raises
        ------
        StoreError
            When the folder holds something else, or the rows of a plan that is different; the message says in what.
        """
        store = cls(Path(folder), plan)
        identity = store.folder / "identity.json"
        if identity.is_file():
            different = _differences(_read_json(identity), plan.identity())
            if different:
                raise StoreError(
                    f"{folder} holds results of a different plan; they are not mixed. Different are:\n  "
                    + "\n  ".join(different)
                    + "\nChoose another folder, or run the plan that the folder has."
                )
        else:
            if store.folder.exists() and not store.folder.is_dir():
                raise StoreError(f"{folder} is a file: expected a folder for the results")
            others = [entry for entry in store.folder.glob("*") if not is_temporary(entry) and entry.name != ".lock"]
            if others:
                raise StoreError(f"{folder} is not empty and holds no run ({others[0].name} is in it): choose another")
            # The identity comes first: whatever else is there belongs to it.
            write_text(identity, _json(plan.identity()))
        if not (store.folder / "plan.toml").is_file():
            write_text(store.folder / "plan.toml", write_plan(plan))
        remove_abandoned(store.folder)
        return store

    @classmethod
    def read(cls, folder: str | Path) -> Store:
        """Open the folder of a run to look at it."""
        path = Path(folder) / "plan.toml"
        if not path.is_file():
            raise StoreError(f"{folder} is not the folder of a run: it has no plan.toml")
        return cls(Path(folder), parse_plan(path.read_text(encoding="utf-8")))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runners out; the lock ends with the process, however that ends."""
        with (self.folder / ".lock").open("w") as file:
            if fcntl is not None:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise StoreError(f"another process is writing to {self.folder}: wait for it to end") from error
            yield

    def finished(self, cell: Cell) -> bool:
        return self._rows_path(cell).is_file()

    def write_cell(self, cell: Cell, rows: Sequence[Mapping[str, Any]], provenance: Mapping[str, Any]) -> None:
        """Keep the outcome of a cell.  The rows come last: with them the cell is finished."""
        write_text(self._rows_path(cell).with_suffix(".json"), _json(provenance))
        write_text(self._rows_path(cell), "".join(json.dumps(row) + "\n" for row in rows))
        self._failure_path(cell).unlink(missing_ok=True)

    def write_failure(self, cell: Cell, error: Mapping[str, Any]) -> None:
        """Keep the error of a cell."""
        write_text(self._failure_path(cell), _json({"cell": cell.key, **error}))

    def write_dataset(self, description: Mapping[str, Any]) -> None:
        """Keep what a dataset is, or make sure that it is what it was."""
        path = self.folder / "datasets" / f"{file_name(description['name'])}.json"
        if path.is_file():
            different = _differences(_read_json(path), description)
            if different:
                raise StoreError(
                    f"dataset {description['name']!r} is not what it was when this run began; results are not mixed. "
                    f"Different are:\n  " + "\n  ".join(different) + "\nChoose another folder for the new data."
                )
        else:
            write_text(path, _json(description))

    def write_provenance(self, provenance: Mapping[str, Any]) -> None:
        write_text(self.folder / "provenance.json", _json(provenance))

    def provenance(self) -> dict[str, Any]:
        path = self.folder / "provenance.json"
        return _read_json(path) if path.is_file() else {"plan": self.plan.name, "sessions": []}

    def cell_provenance(self, cell: Cell) -> dict[str, Any]:
        """Seeds, times, warnings and versions of a finished cell."""
        return _read_json(self._rows_path(cell).with_suffix(".json"))

    def identity(self) -> dict[str, Any]:
        """All that decided the outcome when the run began; defaults may have changed since."""
        return _read_json(self.folder / "identity.json")

    def datasets(self) -> list[dict[str, Any]]:
        """What is known of each dataset, in the plan's order."""
        paths = [self.folder / "datasets" / f"{file_name(source.name)}.json" for source in self.plan.datasets]
        return [_read_json(path) for path in paths if path.is_file()]

    def failures(self) -> list[dict[str, Any]]:
        """The errors of the cells that failed when they were last tried, in the plan's order."""
        return [_read_json(path) for cell in self.plan.cells() if (path := self._failure_path(cell)).is_file()]

    def rows(self) -> list[dict[str, Any]]:
        """The rows of all finished cells, in the plan's order."""
        return [row for cell in self.plan.cells() if self.finished(cell) for row in _read_rows(self._rows_path(cell))]

    def _rows_path(self, cell: Cell) -> Path:
        return self.folder / "cells" / f"{cell.key}.jsonl"

    def _failure_path(self, cell: Cell) -> Path:
        return self.folder / "failures" / f"{cell.key}.json"


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StoreError(f"{path} is damaged: expected JSON, {error}") from error
    return content


def _read_rows(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        raise StoreError(f"{path} is damaged: expected JSON lines, {error}") from error


def _differences(before: Any, now: Any, place: str = "") -> list[str]:
    """Name every place in which two values of plain JSON differ."""
    if isinstance(before, dict) and isinstance(now, Mapping):
        found = []
        for key in dict.fromkeys([*before, *now]):
            inner = f"{place}.{key}" if place else str(key)
            if key not in before or key not in now:
                found.append(f"{inner}: {'only' if key in before else 'not'} in the folder")
            else:
                found += _differences(before[key], now[key], inner)
        return found
    return [] if before == now else [f"{place}: {_short(before)} in the folder, {_short(now)} now"]


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
