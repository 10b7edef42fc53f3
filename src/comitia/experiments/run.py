"""Run a plan: the cells that are not finished, in parallel, whatever happens to some of them."""

from __future__ import annotations

import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from comitia._errors import ComitiaError
from comitia.datasets import Dataset, MultilabelStratifiedKFold
from comitia.experiments.choose import choose
from comitia.experiments.estimate import Estimate
from comitia.experiments.parallel import CrashError, follow, outcomes
from comitia.experiments.plan import CHOSEN_BY_OOB, Cell, DataSource, Plan
from comitia.experiments.provenance import describe, machine, now, versions
from comitia.experiments.score import losses_of
from comitia.experiments.store import Store, StoreError


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
    """

    done: int
    failed: int
    total: int
    cell: Cell | None = None
    error: str | None = None
    seconds_left: float | None = None


@dataclass(frozen=True)
class Summary:
    """How a run ended.

    Attributes
    ----------
    store : Store
        Where the results are.
    total, kept, computed : int
        Cells that were asked for, that were finished before, and that this run finished.
    failures : tuple of dict
        Cell and error of those that failed.
    seconds : float
        Time that this run took.
    """

    store: Store
    total: int
    kept: int
    computed: int
    failures: tuple[dict[str, Any], ...]
    seconds: float


def run_plan(
    plan: Plan,
    folder: str | Path,
    *,
    cells: Iterable[Cell] | None = None,
    n_jobs: int | None = None,
    data_home: str | Path | None = None,
    command: str = "",
    on_progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Compute the cells of a plan that its folder does not have yet.

    A run that was killed goes on where it was: finished cells are never computed again, and the rows are those of a
    run that was left alone.  Cells that failed are tried again.

    Parameters
    ----------
    plan : Plan
        What to do.
    folder : path
        Where results are kept: a new folder, or one that the same plan has begun.
    cells : iterable of Cell, optional
        Some of the plan's cells, see `Plan.select`; all by default.
    n_jobs : int, optional
        Number of cores to use, never more than there are; all by default.  So many cells are computed at the same
        time, and where there are fewer cells, each uses several cores.
    data_home : path, optional
        Folder with the datasets of the catalogue, see `comitia.datasets.fetch_dataset`.
    command : str
        Kept with the results: what was typed to get them.
    on_progress : callable, optional
        Called at the start and whenever a cell has ended.

    Raises
    ------
    StoreError
        When the folder has results of another plan or of other data, or another process is running it.
    """
    started = time.monotonic()
    cores = _cores(n_jobs)
    store = Store.create(folder, plan)
    with store.locked():
        wanted = list(plan.cells() if cells is None else cells)
        pending = [cell for cell in wanted if not store.finished(cell)]
        kept = len(wanted) - len(pending)
        provenance = store.provenance() | {"digest": plan.digest(), "seed": plan.seed}
        session: dict[str, Any] = {
            "command": command,
            "started": now(),
            "seconds": 0.0,
            "cells": 0,
            "n_jobs": cores,
            "versions": versions(),
            "machine": machine(),
        }
        provenance["sessions"] = [*provenance["sessions"], session]
        estimate = Estimate(plan)
        failures: list[dict[str, Any]] = []
        report = on_progress or _quiet
        report(Progress(kept, 0, len(wanted)))
        for outcome in _compute(store, pending, estimate, cores, data_home):
            if outcome.error is None:
                session["cells"] += 1
            else:
                store.write_failure(outcome.cell, outcome.error)
                failures.append({"cell": outcome.cell.key, **outcome.error})
            session["seconds"] = round(time.monotonic() - started, 3)
            store.write_provenance(provenance)
            report(
                Progress(
                    kept + session["cells"],
                    len(failures),
                    len(wanted),
                    outcome.cell,
                    None if outcome.error is None else outcome.error["error"],
                    estimate.seconds_left(),
                )
            )
    return Summary(store, len(wanted), kept, session["cells"], tuple(failures), time.monotonic() - started)


@dataclass(frozen=True)
class Outcome:
    """How a cell ended: how long it took, or its error."""

    cell: Cell
    seconds: float = 0.0
    error: dict[str, Any] | None = None


def _compute(
    store: Store, pending: Sequence[Cell], estimate: Estimate, cores: int, data_home: str | Path | None
) -> Iterator[Outcome]:
    """Compute cells, the largest first so that none is waited for at the end; those without data fail at once."""
    missing: dict[str, dict[str, Any]] = {}
    checksums: dict[str, str] = {}
    for name in dict.fromkeys(cell.dataset for cell in pending):
        try:
            description = describe(store.plan.source(name).load(data_home), name)
        except Exception as error:
            missing[name] = _error(error)
        else:
            store.write_dataset(description)
            estimate.add_dataset(description)
            checksums[name] = description["checksum"]
    yield from (Outcome(cell, error=missing[cell.dataset]) for cell in pending if cell.dataset in missing)
    ready = estimate.largest_first([cell for cell in pending if cell.dataset not in missing])
    jobs = max(1, min(cores, len(ready)))
    work = partial(_work, store, checksums, data_home=data_home, threads=cores // jobs, runner=os.getpid())
    estimate.expect(ready, jobs)
    for cell, result in outcomes(work, ready, jobs, cores // jobs):
        outcome = Outcome(cell, error=_error(result)) if isinstance(result, CrashError) else result
        estimate.finished(cell, outcome.seconds)
        yield outcome


def _work(
    store: Store,
    checksums: Mapping[str, str],
    cell: Cell,
    *,
    data_home: str | Path | None,
    threads: int,
    runner: int,
) -> Outcome:
    """Compute one cell and keep its rows; runs in a process of its own."""
    follow(runner)
    started, clock = now(), time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = _load(store.plan.source(cell.dataset), data_home, checksums[cell.dataset])
            ensemble, test = fit_cell(store.plan, cell, data, n_jobs=threads)
            fitted = time.perf_counter() - clock
            rows = _rows(store.plan, cell, ensemble, _take(data.X, test), data.Y[test])
    except Exception as error:
        return Outcome(cell, time.perf_counter() - clock, _error(error))
    seconds = time.perf_counter() - clock
    provenance = {
        "cell": asdict(cell),
        "seed_of_folds": store.plan.seed_of_folds(cell),
        "seed_of_members": store.plan.seed_of_members(cell),
        "digest": store.plan.digest(),
        "started": started,
        "seconds": round(seconds, 3),
        "seconds_to_fit": round(fitted, 3),
        "threads": threads,
        "chosen": {name: ensemble.get_params()[name] for name in store.plan.setting(cell.ensemble).choose},
        "warnings": list(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught)),
        "versions": versions(),
    }
    store.write_cell(cell, rows, provenance)
    return Outcome(cell, seconds)


def fit_cell(plan: Plan, cell: Cell, data: Dataset, n_jobs: int | None = None) -> tuple[Any, NDArray[np.intp]]:
    """Fit the ensemble of a cell; return it and the positions of the instances to test it on."""
    folds = MultilabelStratifiedKFold if plan.stratified else KFold
    splits = folds(plan.folds, shuffle=True, random_state=plan.seed_of_folds(cell)).split(data.X, data.Y)
    train, test = next(split for fold, split in enumerate(splits) if fold == cell.fold)
    setting = plan.setting(cell.ensemble)
    ensemble = setting.build(
        random_state=plan.seed_of_members(cell),
        n_jobs=n_jobs,
        oob_score=CHOSEN_BY_OOB in plan.aggregations and setting.leaves_out,
    )
    X, Y = _take(data.X, train), data.Y[train]
    weight = None if data.sample_weight is None else data.sample_weight[train]
    ensemble.set_params(**choose(ensemble, setting.choose, X, Y, sample_weight=weight))
    return ensemble.fit(X, Y, sample_weight=weight), test


def _rows(plan: Plan, cell: Cell, ensemble: Any, X: Any, Y: NDArray[np.int8]) -> list[dict[str, Any]]:
    found = losses_of(
        ensemble,
        X,
        Y,
        losses=plan.losses,
        aggregations=plan.aggregations,
        pools=plan.pools,
        sizes=plan.sizes,
    )
    return [{**asdict(cell), **asdict(decision), "value": value, "n_test": len(Y)} for decision, value in found.items()]


@lru_cache(maxsize=1)
def _load(source: DataSource, data_home: str | Path | None, checksum: str) -> Dataset:
    """Read a dataset once for all cells that a process computes, and see that it is still the same."""
    data = source.load(data_home)
    if describe(data, source.name)["checksum"] != checksum:
        raise ComitiaError(f"dataset {source.name!r} changed while the run was going on")
    return data


def _take(X: Any, rows: NDArray[np.intp]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _error(error: BaseException) -> dict[str, Any]:
    """What is kept of an error: the words, and where it was raised, without the paths of this machine."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": f"{type(error).__name__}: {error}",
        "where": [f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in frames],
    }


def _quiet(progress: Progress) -> None:
    """Say nothing."""


def _cores(n_jobs: int | None) -> int:
    available = int(joblib.cpu_count())
    if n_jobs is None or n_jobs == -1:
        return available
    if n_jobs < 1:
        raise ComitiaError(f"n_jobs is {n_jobs}: expected a number of cores from 1, or None for all {available}")
    return min(n_jobs, available)


__all__ = ["Progress", "StoreError", "Summary", "fit_cell", "run_plan"]
