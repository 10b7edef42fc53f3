"""How data reaches a worker: by name or path where the worker has it, otherwise from the runner; always checked."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from comitia._errors import ComitiaError
from comitia.datasets import Dataset, list_datasets
from comitia.datasets._text import STDIN
from comitia.experiments._cell import Computed, compute_cell, plain_error
from comitia.experiments._engines import Cluster, CrashError
from comitia.experiments._plan import EXAMPLES, Cell, DataSource, Plan
from comitia.experiments._provenance import checksum, worker

_HELD_AT_MOST = 4

_HELD: OrderedDict[str, Dataset] = OrderedDict()
"""Data that this process has read and checked, by checksum; those that were used last."""

_ARRIVED: set[str] = set()
"""Checksums of data that came to this process as it was sent: it is looked at once."""


@dataclass(frozen=True)
class Named:
    """Data that a worker may have itself.

    Parameters
    ----------
    source : DataSource
        Where it is read; the path is absolute.
    checksum : str
        What it must be.
    folder : str, optional
        The runner's folder with datasets of the catalogue; a worker may have one of its own in ``COMITIA_DATA``.
    """

    source: DataSource
    checksum: str
    folder: str | None = None

    @property
    def there(self) -> str | None:
        """The folder of the catalogue that has it here; empty where none is needed; None where it is not here."""
        if (path := self.source.path) is not None:
            return "" if Path(path).is_file() else None
        if self.source.name in EXAMPLES:
            return ""
        for folder in (self.folder, os.environ.get("COMITIA_DATA")):
            if folder and (Path(folder) / self.source.name / f"{self.source.name}.arff").is_file():
                return folder
        return None

    def found(self) -> Dataset | None:
        """The data, if this process can read it and it is what it must be."""
        if self.checksum not in _HELD:
            if (folder := self.there) is None:
                return None
            try:
                data = self.source.load(folder or None)
            except Exception:
                return None  # what is here is not what is meant
            if checksum(data) != self.checksum:
                return None
            _HELD[self.checksum] = data
        _HELD.move_to_end(self.checksum)
        while len(_HELD) > _HELD_AT_MOST:
            _HELD.popitem(last=False)
        return _HELD[self.checksum]


def named(source: DataSource, expected: str, data_home: str | Path | None) -> Named | None:
    """Say how a worker may find data by itself; None where only the runner has it."""
    if (location := source.location) is not None:
        absolute = str(Path(location).resolve())
        return None if location == str(STDIN) else Named(replace(source, path=absolute, folder=None), expected)
    if source.name not in (*EXAMPLES, *(entry.name for entry in list_datasets())):
        return None
    return Named(source, expected, None if data_home is None else str(Path(data_home).resolve()))


@dataclass(frozen=True)
class Handing:
    """The data of a run and how workers get it.

    Parameters
    ----------
    data : mapping of str to Dataset
        What the runner has.
    names : mapping of str to Named
        Of some of it, how workers may find it.
    checksums : mapping of str to str
        What all of it must be.
    """

    data: Mapping[str, Dataset]
    names: Mapping[str, Named]
    checksums: Mapping[str, str]

    def outcomes(
        self, engine: Cluster, work: Callable[[Cell, Any], Computed], cells: Sequence[Cell]
    ) -> Iterator[tuple[Cell, Computed | CrashError]]:
        """Compute cells; those whose worker turns out not to have the data are computed again with the runner's."""
        everywhere = self._everywhere(engine)
        engine.start({name: self.names[name] if name in everywhere else self._sent(name) for name in self.data})
        lacking = []
        for cell, result in engine.outcomes(work, {cell: cell.dataset for cell in cells}):
            if isinstance(result, Computed) and result.lacks_data:
                lacking.append(cell)
            else:
                yield cell, result
        if lacking:
            engine.start({name: self._sent(name) for name in {cell.dataset for cell in lacking}})
            yield from engine.outcomes(work, {cell: cell.dataset for cell in lacking})

    def _everywhere(self, engine: Cluster) -> set[str]:
        """Which data all workers of now seem to have."""
        if not self.names:
            return set()
        answers = engine.everywhere(partial(_seen, dict(self.names)))
        seen = [set(answer) for answer in answers.values() if not isinstance(answer, Exception)]
        return set.intersection(*seen) if seen and len(seen) == len(answers) else set()

    def _sent(self, name: str) -> tuple[Dataset, str]:
        return self.data[name], self.checksums[name]


def compute_sent(plan: Plan, threads: int, cell: Cell, sent: Named | tuple[Dataset, str]) -> Computed:
    """Compute a cell on another machine, from data that is checked there; say who computed it."""
    if isinstance(sent, Named):
        data, came = sent.found(), "by its name" if sent.source.path is None else "by its path"
        if data is None:
            return Computed(0.0, lacks_data=True)
    else:
        (data, expected), came = sent, "from the runner"
        if expected not in _ARRIVED:
            if (arrived := checksum(data)) != expected:
                changed = (
                    f"dataset {cell.dataset!r} was changed on its way: expected checksum {expected}; got {arrived}."
                )
                return Computed(0.0, error=plain_error(ComitiaError(changed)))
            _ARRIVED.add(expected)
    computed = compute_cell(plan, threads, cell, data)
    return replace(computed, provenance={**computed.provenance, **worker(), "data came": came})


def _seen(names: Mapping[str, Named]) -> list[str]:
    return [name for name, one in names.items() if one.there is not None]
