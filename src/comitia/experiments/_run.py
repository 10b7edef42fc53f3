"""Run a plan: the cells that are not finished, in parallel, whatever happens to some of them."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import joblib

from comitia._arrays import is_count
from comitia._errors import ComitiaError
from comitia._interrupts import one_interrupt
from comitia._names import unknown
from comitia.datasets import Dataset
from comitia.experiments._agreement import Agreement, about
from comitia.experiments._cell import Computed, compute_cell, plain_error
from comitia.experiments._engines import CrashError, Engine, cluster_engine, local_engine
from comitia.experiments._estimate import Estimate
from comitia.experiments._handing import Handing, compute_sent, named
from comitia.experiments._memory import Memory, Records
from comitia.experiments._plan import Cell, Plan
from comitia.experiments._provenance import describe, machine, now, versions, worker
from comitia.experiments._store import Store


@dataclass(frozen=True)
class Progress:
    """Where a run stands.

    Attributes
    ----------
    done, failed, total : int
        Cells that are finished (also in earlier runs), that failed, and that were asked for.
    cell : Cell or None
        The cell that has just ended.
    error : str or None
        Its error, if it failed.
    seconds_left : float or None
        How long the rest will take; None where nothing is known yet.

    Examples
    --------
    >>> from comitia.experiments import Progress
    >>> Progress(done=3, failed=0, total=4, seconds_left=2.5).seconds_left
    2.5
    """

    done: int
    failed: int
    total: int
    cell: Cell | None = None
    error: str | None = None
    seconds_left: float | None = None


@dataclass(frozen=True)
class Summary:
    """How a run ended, and what is known of it.

    Attributes
    ----------
    store : Store or Memory
        Where the results are: a folder, or memory.
    total, kept, computed : int
        Cells that were asked for, that were finished before, and that this run finished.
    failures : tuple of dict
        Cell and error of those that failed.
    seconds : float
        Time that this run took.

    Examples
    --------
    >>> from comitia.experiments import read_plan, run_plan
    >>> run_plan(read_plan("table2"), cells=[]).computed
    0
    """

    store: Any
    total: int
    kept: int
    computed: int
    failures: tuple[dict[str, Any], ...]
    seconds: float

    @property
    def plan(self) -> Plan:
        """What was run."""
        return self._records.plan

    @property
    def _records(self) -> Records:
        return self.store  # type: ignore[no-any-return]

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of all cells that are finished, also in earlier runs, in the plan's order; see `Row`."""
        return self._records.rows()

    @cached_property
    def datasets(self) -> list[dict[str, Any]]:
        """What is known of each dataset: its size, its labels, its checksum."""
        return self._records.datasets()

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that decided the outcome."""
        return self._records.identity()

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Every start of the runner: command, machine, versions, time."""
        return self._records.provenance()

    @cached_property
    def cells(self) -> dict[Cell, dict[str, Any]]:
        """Seeds, times, warnings and versions of each finished cell."""
        finished = filter(self._records.finished, self.plan.cells())
        return {cell: self._records.cell_provenance(cell) for cell in finished}

    @property
    def warnings(self) -> dict[Cell, list[str]]:
        """What finished cells were warned of; those that were not are left out."""
        return {cell: kept["warnings"] for cell, kept in self.cells.items() if kept["warnings"]}

    @property
    def roundings(self) -> dict[str, int]:
        """How many finished cells were computed by machines that round in each way, where it is known.

        More than one: the last digits of results depend on which machine computed a cell.
        """
        return dict(Counter(kept["rounding"] for kept in self.cells.values() if "rounding" in kept))

    @cached_property
    def digits(self) -> dict[str, Any] | None:
        """Handwritten digits and what the aggregations make of them, where the example is in the plan."""
        return self._records.digits()


def run_plan(
    plan: Plan,
    folder: str | Path | None = None,
    *,
    data: Mapping[str, Dataset] | None = None,
    cells: Iterable[Cell] | None = None,
    n_jobs: int | None = None,
    data_home: str | Path | None = None,
    command: str = "",
    on_progress: Callable[[Progress], None] | None = None,
    cluster: Any = None,
    same_bits: bool = False,
) -> Summary:
    """Compute the cells of a plan that its folder does not have yet.

    A run that was killed goes on where it was: finished cells are never computed again, and the rows are those of a
    run that was left alone.  Cells that failed are tried again, and so are those whose files are damaged.

    Parameters
    ----------
    plan : Plan
        What to do.
    folder : path, optional
        Where results are kept: a new folder, or one that the same plan has begun.  By default nothing is written.
    data : mapping of str to Dataset, optional
        Datasets of the plan that need not be read, by the names of their sources.
    cells : iterable of Cell, optional
        Some of the plan's cells, see `Plan.select`; all by default.
    n_jobs : int, optional
        Number of cores to use, never more than there are; all by default.  So many cells are computed at the same
        time, and where there are fewer cells, each uses several cores.  With a cluster, the number of cells at the
        same time; as many as it has room for by default.
    data_home : path, optional
        Folder with the datasets of the catalogue, see `comitia.datasets.fetch_dataset`.
    command : str
        Kept with the results: what was typed to get them.
    on_progress : callable, optional
        Called at the start and whenever a cell has ended.
    cluster : str, path or distributed.Client, optional
        Compute on other machines.  Of Dask an address (``tcp://``, ``tls://``), a scheduler file or a live client; of
        Ray an address (``ray://``), or ``"ray"`` for the cluster that this process has joined or ``RAY_ADDRESS`` names.
        This process alone writes results.  Workers need the same versions; data they read themselves where they have
        it by the same name or path, and otherwise get it from here, once each, checked by its checksum.  A cell whose
        worker dies is tried again elsewhere, three times at most.
    same_bits : bool
        Refuse to mix cells of machines that round differently; otherwise that is warned of, where there is a cluster,
        and every cell says how its machine rounds.

    Raises
    ------
    StoreError
        When the folder has results of another plan or of other data, or another process is running it.
    ClusterError
        When the cluster cannot be reached or was lost, or its workers have other versions.  What is finished is kept:
        the same call goes on from there.

    Examples
    --------
    >>> from comitia.datasets import make_joint
    >>> from comitia.experiments import DataSource, EnsembleSetting
    >>> from comitia.experiments import Plan, run_plan
    >>> plan = Plan("mine", (DataSource("mine"),), (EnsembleSetting("emodt", {"n_estimators": 20}),), folds=2)
    >>> found = run_plan(plan, data={"mine": make_joint(200, 4, 3, dependence=0.8, random_state=0).dataset}, n_jobs=1)
    >>> found.computed, found.rows[0]["loss"], found.rows[0]["n_test"]
    (2, 'hamming', 100)
    """
    cores = _cores(n_jobs, cluster)
    known = [source.name for source in plan.datasets]
    for name in data or ():
        if name not in known:
            raise ComitiaError(unknown(f"dataset of plan {plan.name!r}:", name, known))
    wanted = list(plan.cells() if cells is None else cells)
    where = contextlib.nullcontext(Memory(plan)) if folder is None else Store.taken(folder, plan)
    with one_interrupt(), where as store:
        run = _Run(store, wanted, cores, command, on_progress or _quiet, cluster, same_bits)
        return run.to_its_end(data or {}, data_home)


class _Run:
    """One start of the runner: it alone reads data and keeps what comes out."""

    def __init__(
        self,
        store: Records,
        wanted: list[Cell],
        cores: int | None,
        command: str,
        report: Callable[[Progress], None],
        cluster: Any,
        same_bits: bool,
    ) -> None:
        self.started = time.monotonic()
        self.cluster, self.same_bits = cluster, same_bits
        self.store, self.wanted, self.cores, self.report = store, wanted, cores, report
        self.estimate = Estimate(store.plan)
        self.failures: list[dict[str, Any]] = []
        self.session: dict[str, Any] = {
            "command": command,
            "started": now(),
            "seconds": 0.0,
            "cells": 0,
            "n_jobs": cores,
            "versions": versions(),
            "machine": machine(),
        }
        kept = store.provenance() | {"digest": store.plan.digest(), "seed": store.plan.seed}
        self.provenance = kept | {"sessions": [*kept["sessions"], self.session]}

    def to_its_end(self, given: Mapping[str, Dataset], data_home: str | Path | None) -> Summary:
        self.data_home = data_home
        for failure in self.store.damaged():
            warnings.warn(failure["error"], stacklevel=3)
        pending = [cell for cell in self.wanted if not self.store.finished(cell)]
        self.kept = len(self.wanted) - len(pending)
        self.report(Progress(self.kept, 0, len(self.wanted)))
        data, missing = self._read(given, data_home)
        for cell in pending:
            if cell.dataset in missing:
                self._ended(cell, Computed(0.0, error=missing[cell.dataset]))
        for cell, result in self._compute([cell for cell in pending if cell.dataset in data], data):
            self.estimate.finished(cell, result.seconds - result.compiling)
            self._ended(cell, result)
        return Summary(
            self.store,
            len(self.wanted),
            self.kept,
            self.session["cells"],
            tuple(self.failures),
            time.monotonic() - self.started,
        )

    def _read(
        self, given: Mapping[str, Dataset], data_home: str | Path | None
    ) -> tuple[dict[str, Dataset], dict[str, dict[str, Any]]]:
        """Read each dataset once, also where nothing is left to compute: results of other data are not shown."""
        data: dict[str, Dataset] = {}
        missing: dict[str, dict[str, Any]] = {}
        for name in dict.fromkeys(cell.dataset for cell in self.wanted):
            try:
                data[name] = given[name] if name in given else self.store.plan.source(name).load(data_home)
                description = describe(data[name], name)
            except Exception as error:
                missing[name] = plain_error(error)
                data.pop(name, None)
                if any(cell.dataset == name and self.store.finished(cell) for cell in self.wanted):
                    warnings.warn(
                        f"dataset {name!r} cannot be read now, so it is not known whether its results are still those "
                        f"of this data: {missing[name]['error']}",
                        stacklevel=4,
                    )
            else:
                self.store.write_dataset(description)
                self.estimate.add_dataset(description)
        return data, missing

    def _compute(self, cells: list[Cell], data: Mapping[str, Dataset]) -> Iterator[tuple[Cell, Computed]]:
        """Compute cells, the largest first so that none is waited for at the end."""
        if not cells:
            return
        engine = self._engine(len(cells))
        try:
            ready = self.estimate.largest_first(cells)
            self.estimate.expect(ready, lambda: engine.slots)  # workers come and go
            for cell, result in self._outcomes(engine, ready, data):
                yield cell, self._checked(result)
        finally:
            engine.close()

    def _engine(self, cells: int) -> Engine:
        """Find who computes; where it matters, make sure that they agree."""
        kept: Iterable[Cell] = ()
        if self.cluster is not None or self.same_bits:
            kept = filter(self.store.finished, self.wanted)
        rounded, paths = (self.store.cell_provenance(cell).get("rounding") for cell in kept), self.store.plan.paths
        self.agreement = Agreement(rounded, self.same_bits, paths)
        if self.cluster is None:
            if self.same_bits:
                self.agreement.check({"here": about()})
            return local_engine(self.cores or 1, cells)
        engine = cluster_engine(self.cluster, self.cores)
        try:
            self.session["workers"] = self.agreement.check(engine.everywhere(partial(about, paths)))
        except BaseException:
            engine.close()
            raise
        self.session["n_jobs"] = engine.slots
        return engine

    def _outcomes(
        self, engine: Any, cells: list[Cell], data: Mapping[str, Dataset]
    ) -> Iterator[tuple[Cell, Computed | CrashError]]:
        plan = self.store.plan
        if self.cluster is None:
            engine.start(data)
            yield from engine.outcomes(
                partial(compute_cell, plan, engine.threads), {cell: cell.dataset for cell in cells}
            )
            return
        checksums = {described["name"]: described["checksum"] for described in self.store.datasets()}
        known = {name: named(plan.source(name), checksums[name], self.data_home) for name in data}
        handing = Handing(data, {name: one for name, one in known.items() if one is not None}, checksums)
        yield from handing.outcomes(engine, partial(compute_sent, plan, engine.threads), cells)

    def _checked(self, result: Computed | CrashError) -> Computed:
        if isinstance(result, CrashError):
            return Computed(0.0, error=plain_error(result))
        if result.error is None and self.cluster is not None:
            # Again: a worker may have come after all were asked.
            self.agreement.note(result.provenance["rounding"])
            if result.provenance["versions"] != versions():
                self.agreement.check({result.provenance["worker"]: {**about(), **result.provenance}})
        elif result.error is None and self.same_bits:
            result = replace(result, provenance={**result.provenance, **worker()})
        return result

    def _ended(self, cell: Cell, result: Computed) -> None:
        """Keep what became of a cell, and tell."""
        if result.error is None:
            if result.details is not None:
                self.store.write_details(cell, result.details)
            self.store.write_cell(cell, result.rows, result.provenance)
            if result.digits is not None:
                self.store.write_digits(result.digits)
            self.session["cells"] += 1
        else:
            self.store.write_failure(cell, result.error)
            self.failures.append({"cell": cell.key, **result.error})
        self.session["seconds"] = round(time.monotonic() - self.started, 3)
        self.store.write_provenance(self.provenance)
        self.report(
            Progress(
                self.kept + self.session["cells"],
                len(self.failures),
                len(self.wanted),
                cell,
                None if result.error is None else result.error["error"],
                self.estimate.seconds_left(),
            )
        )


def _quiet(progress: Progress) -> None:
    """Say nothing."""


def _cores(n_jobs: int | None, cluster: Any) -> int | None:
    """How many cores may be used; None for all of a cluster."""
    available = None if cluster is not None else int(joblib.cpu_count())
    if n_jobs is None:
        return available
    if not is_count(n_jobs, -(2**63)) or n_jobs == 0:
        raise ComitiaError(f"n_jobs must be a number of cores, -1 or None for all, -2 for all but one; got {n_jobs!r}.")
    if n_jobs < 0:
        return None if available is None else max(1, available + 1 + int(n_jobs))
    return int(n_jobs) if available is None else min(int(n_jobs), available)
