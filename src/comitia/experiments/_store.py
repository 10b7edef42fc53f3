"""A run's folder: rows, one file a cell, and how they came to be."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from comitia._files import is_temporary, remove_abandoned, write_text
from comitia.experiments._lock import LOCK, StoreError, only_runner
from comitia.experiments._plan import Cell, Plan, digest, file_name
from comitia.experiments._plan_file import parse_plan, write_plan

_SESSION = ("command", "started", "seconds", "cells", "n_jobs", "versions", "machine")


@dataclass(frozen=True)
class Store:
    """The folder of a run.

    =========================  ====================================================================
    ``plan.toml``              the plan, for people and for running it again
    ``identity.json``          all that decides the outcome: the plan, defaults, the version
    ``datasets/NAME.json``     size, labels and checksum of each dataset
    ``cells/KEY.jsonl``        the rows of a cell; it is there when the cell is finished
    ``cells/KEY.json``         seeds, times, warnings and versions of that cell; how many rows it has and their
                               checksum, and the digests of the plan and of the data that they belong to
    ``details/KEY.json``       what the report shows of a cell besides its rows: baselines, counts for each label,
                               instances on which decisions differ, how often probabilities were right
    ``failures/KEY.json``      the error of a cell that failed when it was last tried
    ``digits.json``            for the example of handwritten digits: what aggregations make of them
    ``provenance.json``        every start of the runner: command, machine, versions, time
    =========================  ====================================================================

    A cell whose rows are not whole, or belong to another plan or other data, is not finished: it is left out of
    ``rows()``, named in ``failures()``, and computed again by the next run.

    Parameters
    ----------
    folder : Path
        The folder.
    plan : Plan
        The plan whose rows it holds.

    Examples
    --------
    >>> from comitia.experiments import DataSource, EnsembleSetting, Plan, Store, run_plan
    >>> import tempfile
    >>> from comitia.datasets import make_joint
    >>> data = make_joint(60, 3, 2, dependence=0.5, random_state=0).dataset
    >>> trees = EnsembleSetting("emodt", {"n_estimators": 3})
    >>> plan = Plan("mine", (DataSource("joint"),), (trees,), losses=("f1",), aggregations=("ctp",), folds=2)
    >>> folder = tempfile.mkdtemp()
    >>> _ = run_plan(plan, folder, data={"joint": data}, n_jobs=1)
    >>> len(Store.read(folder).rows())
    2
    """

    folder: Path
    plan: Plan

    @classmethod
    @contextlib.contextmanager
    def taken(cls, folder: str | Path, plan: Plan) -> Iterator[Store]:
        """Make the folder of a run, or take up one that the same plan has begun, and keep other runners out.

        Raises
        ------
        StoreError
            When the folder holds something else, or the rows of a plan that is different; the message says in what.
            When another process is running it.
        """
        store = cls(Path(folder), plan)
        # Before anything is written, also the lock: a folder that is not ours stays as it is.
        store._check_identity()
        try:
            store.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritten(store.folder, error) from error
        with only_runner(store.folder):
            # Again: until now another plan may have made it its own.
            if not store._check_identity():
                store._write("identity.json", _json(plan.identity()))
            if not (store.folder / "plan.toml").is_file():
                store._write("plan.toml", write_plan(plan, store.folder))
            remove_abandoned(store.folder)
            yield store

    @classmethod
    def create(cls, folder: str | Path, plan: Plan) -> Store:
        """Make the folder of a run, or take up one that the same plan has begun; see `taken`."""
        with cls.taken(folder, plan) as store:
            return store

    @classmethod
    def read(cls, folder: str | Path) -> Store:
        """Open the folder of a run to look at it."""
        path = Path(folder) / "plan.toml"
        if not path.is_file():
            raise StoreError(f"{folder} is not the folder of a run: it has no plan.toml.")
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise StoreError(f"{path} cannot be read: {error}.") from error
        return cls(Path(folder), parse_plan(text, objects=True, folder=folder))

    def finished(self, cell: Cell) -> bool:
        """Whether the rows of a cell are there, whole, and those of this plan and this data."""
        try:
            return self._read_cell(cell) is not None
        except StoreError:
            return False

    def damaged(self) -> list[dict[str, Any]]:
        """Cell and error of those that were finished, but are not whole, or not of this plan and this data."""
        found = []
        for cell in self.plan.cells():
            try:
                self._read_cell(cell)
            except StoreError as error:
                found.append({"cell": cell.key, "error": str(error)})
        return found

    def write_cell(self, cell: Cell, rows: Sequence[Mapping[str, Any]], provenance: Mapping[str, Any]) -> None:
        """Keep the outcome of a cell.  The rows come last: with them the cell is finished."""
        text = "".join(json.dumps(row) + "\n" for row in rows)
        checks = {
            "digest": self._digest,
            "data": self._checksum_of_data(cell),
            "rows": len(rows),
            "checksum": _checksum(text),
        }
        self._write(f"cells/{cell.key}.json", _json({**provenance, **checks}))
        self._write(f"cells/{cell.key}.jsonl", text)
        self._failure_path(cell).unlink(missing_ok=True)

    def write_details(self, cell: Cell, details: Mapping[str, Any]) -> None:
        """Keep what the report shows of a cell besides its rows."""
        self._write(f"details/{cell.key}.json", json.dumps(details, allow_nan=False))

    def write_failure(self, cell: Cell, error: Mapping[str, Any]) -> None:
        """Keep the error of a cell."""
        self._write(f"failures/{cell.key}.json", _json({"cell": cell.key, **error}))

    def write_dataset(self, description: Mapping[str, Any]) -> None:
        """Keep what a dataset is, or make sure that it is what it was."""
        path = self._dataset_path(description["name"])
        if path.is_file():
            different = _differences(_read_json(path), json.loads(json.dumps(description)))
            if different:
                raise StoreError(
                    f"dataset {description['name']!r} is not what it was when this run began; results are not mixed. "
                    f"Different are:\n  " + "\n  ".join(different) + "\nChoose another folder for the new data."
                )
        else:
            self._write(f"datasets/{path.name}", _json(description))

    def write_provenance(self, provenance: Mapping[str, Any]) -> None:
        """Keep all starts of the runner."""
        self._write("provenance.json", _json(provenance))

    def write_digits(self, digits: Mapping[str, Any]) -> None:
        """Keep handwritten digits and the displays that aggregations light for them."""
        self._write("digits.json", json.dumps(digits))

    def provenance(self) -> dict[str, Any]:
        """Every start of the runner."""
        path = self.folder / "provenance.json"
        if not path.is_file():
            return {"plan": self.plan.name, "sessions": []}
        content = _read_json(path)
        sessions = content.get("sessions")
        if not isinstance(sessions, list) or not all(
            isinstance(session, dict) and set(_SESSION) <= session.keys() for session in sessions
        ):
            raise StoreError(
                f"{path} is damaged: expected 'sessions', a list, each with {', '.join(_SESSION)}. Results do not "
                "depend on it: without the file the run goes on."
            )
        return content

    def cell_provenance(self, cell: Cell) -> dict[str, Any]:
        """Seeds, times, warnings and versions of a finished cell."""
        return _read_json(self.folder / "cells" / f"{cell.key}.json")

    def details(self, cell: Cell) -> dict[str, Any] | None:
        """What the report shows of a cell besides its rows; None where none was kept, or it is damaged."""
        with contextlib.suppress(StoreError):
            return _read_json(self.folder / "details" / f"{cell.key}.json", "baselines", "labels", "disputed", "bins")
        return None

    def identity(self) -> dict[str, Any]:
        """All that decided the outcome when the run began; defaults may have changed since."""
        return _read_json(self.folder / "identity.json")

    def datasets(self) -> list[dict[str, Any]]:
        """What is known of each dataset, in the plan's order."""
        paths = [self._dataset_path(source.name) for source in self.plan.datasets]
        return [_read_json(path, "name", "checksum") for path in paths if path.is_file()]

    def failures(self) -> list[dict[str, Any]]:
        """Cell and error of those that failed when they were last tried, or are damaged, in the plan's order."""
        damaged = {failure["cell"]: failure for failure in self.damaged()}
        found = []
        for cell in self.plan.cells():
            path = self._failure_path(cell)
            if path.is_file():
                found.append(_read_json(path, "cell", "error"))
            elif cell.key in damaged:
                found.append(damaged[cell.key])
        return found

    def digits(self) -> dict[str, Any] | None:
        """Handwritten digits and the displays that aggregations light for them, where they are in the plan."""
        path = self.folder / "digits.json"
        return _read_json(path, "images", "truth", "labelings", "loss") if path.is_file() else None

    def rows(self) -> list[dict[str, Any]]:
        """The rows of all finished cells, in the plan's order."""
        found: list[dict[str, Any]] = []
        for cell in self.plan.cells():
            with contextlib.suppress(StoreError):
                found += self._read_cell(cell) or ()
        return found

    def _read_cell(self, cell: Cell) -> list[dict[str, Any]] | None:
        """The rows of a cell, or None where there are none yet.

        Raises
        ------
        StoreError
            Where the rows are not whole, or not those of this plan and this data.
        """
        path = self.folder / "cells" / f"{cell.key}.jsonl"
        if not path.is_file():
            return None
        again = "the same command computes it again"
        try:
            text = path.read_text(encoding="utf-8")
            rows = [json.loads(line) for line in text.splitlines()]
        except (OSError, ValueError, RecursionError) as error:
            raise StoreError(f"{path} is damaged: expected JSON lines, {error}; {again}.") from error
        kept = self.cell_provenance(cell)
        if kept.get("rows") != len(rows) or kept.get("checksum") != _checksum(text):
            raise StoreError(
                f"{path} is damaged: expected {kept.get('rows', 'its number of')} rows with the checksum of "
                f"{path.stem}.json; got {len(rows)} rows; {again}."
            )
        if kept.get("digest") != self._digest:
            raise StoreError(f"{path} has rows of another plan than {self.folder} has; {again}.")
        if kept.get("data") != self._checksum_of_data(cell):
            raise StoreError(f"{path} has rows of other data than {self.folder} has; {again}.")
        return rows

    @cached_property
    def _digest(self) -> str:
        return digest(self.identity())

    def _checksum_of_data(self, cell: Cell) -> str:
        path = self._dataset_path(cell.dataset)
        return str(_read_json(path).get("checksum", "")) if path.is_file() else ""

    def _check_identity(self) -> bool:
        """Whether the folder has been begun; refuse one that is not this plan's."""
        path = self.folder / "identity.json"
        if path.is_file():
            different = _differences(_read_json(path), json.loads(json.dumps(self.plan.identity())))
            if different:
                raise StoreError(
                    f"{self.folder} holds results of a different plan; they are not mixed. Different are:\n  "
                    + "\n  ".join(different)
                    + "\nChoose another folder, or run the plan that the folder has."
                )
            return True
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(f"{self.folder} must be a folder for the results; it is a file.")
        others = [entry for entry in self.folder.glob("*") if not is_temporary(entry) and entry.name != LOCK]
        if others and not path.is_file():
            raise StoreError(
                f"{self.folder} is not empty and holds no run ({others[0].name} is in it): choose another."
            )
        return False

    def _write(self, name: str, text: str) -> None:
        try:
            write_text(self.folder / name, text)
        except OSError as error:
            raise _unwritten(self.folder / name, error) from error

    def _dataset_path(self, name: str) -> Path:
        return self.folder / "datasets" / f"{file_name(name)}.json"

    def _failure_path(self, cell: Cell) -> Path:
        return self.folder / "failures" / f"{cell.key}.json"


def _unwritten(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be written: {error.strerror or error}. What is finished is kept.")


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _read_json(path: Path, *expected: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: expected JSON, {error}.") from error
    if not isinstance(content, dict):
        raise StoreError(f"{path} is damaged: expected a JSON object; got {_short(content)}.")
    for key in expected:
        if key not in content:
            raise StoreError(f"{path} is damaged: expected {key!r} in it; got {', '.join(content) or 'nothing'}.")
    return content


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
