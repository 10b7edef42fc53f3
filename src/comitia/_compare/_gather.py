"""What a run has left, as results: the one place where experiments meet reports."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from sklearn.base import BaseEstimator

from comitia._compare._data import source_arguments, source_expression
from comitia._compare._details import baseline_rows, summed
from comitia._errors import ComitiaError
from comitia.experiments import Cell, EnsembleSetting, Plan, Store, write_plan
from comitia.experiments._agreement import computed_by
from comitia.experiments._calls import spelt
from comitia.experiments._imports import Absent, paths_in
from comitia.experiments._settings import FOLLOWS, KINDS
from comitia.report import Results, Setting, SevenSegments, read_paper

if TYPE_CHECKING:
    from comitia.experiments._memory import Memory

_TITLES = {"table2": "Table 2 of the paper, run again", "figure2": "Figure 2 of the paper, run again"}
_DISPLAYED_DIGITS = 10


def results_of(
    records: Store | Memory, *, paper: str | Path | None = None, source: Sequence[str] | None = None
) -> Results:
    """Gather the rows of a run, how they came to be, and the paper's values where they are given.

    Parameters
    ----------
    records : Store or Memory
        What is known of the run.
    paper : path, optional
        A folder with the paper's values, or the file.
    source : sequence of str, optional
        How the command line names the data; by default found from the plan, where it has one dataset.

    Raises
    ------
    ComitiaError
        When no cell of the run is finished, or ``paper`` has no file for its plan.
    """
    plan, rows = records.plan, records.rows()
    if not rows:
        where = getattr(records, "folder", plan.name)
        raise ComitiaError(f"{where} has no results yet: none of its cells is finished.")
    cells = [(cell, records.cell_provenance(cell)) for cell in plan.cells() if records.finished(cell)]
    kept = [(cell, found) for cell, _ in cells if (found := records.details(cell)) is not None]
    tested = {(row["dataset"], row["repeat"], row["fold"]): row["n_test"] for row in rows}
    alone = plan.datasets[0] if len(plan.datasets) == 1 else None
    if source is None:
        source = source_arguments(alone) if alone is not None else ()
    digits = records.digits()
    wrapped = {cell.ensemble for cell, provenance in cells if provenance.get("wrapped")}
    return Results(
        pd.DataFrame(rows),
        records.datasets(),
        _provenance(records, cells),
        records.failures(),
        _TITLES.get(plan.name, "Which aggregation for which loss?"),
        None if paper is None else read_paper(published_file(paper, plan)),
        None if digits is None else SevenSegments(**digits).most_disputed(_DISPLAYED_DIGITS),
        records.identity(),
        {
            one.name: replace(made, alone=one.name not in wrapped)
            for one in plan.ensembles
            if (made := setting(one)) is not None
        },
        source,
        _chosen([(cell.ensemble, cell.dataset, provenance.get("chosen", {})) for cell, provenance in cells]),
        source_expression(alone) if alone is not None and source else "",
        baseline_rows(kept, tested),
        summed(kept),
    )


def read_run(folder: str | Path, *, paper: str | Path | None = None) -> Results:
    """Gather the results of the folder of a run, finished or not."""
    return results_of(Store.read(folder), paper=paper)


def published_file(paper: str | Path, plan: Plan) -> Path:
    """Find the file with the paper's values in a folder, or take the file that is named."""
    path = Path(paper) / f"{plan.name}.csv" if Path(paper).is_dir() else Path(paper)
    if not path.is_file():
        raise ComitiaError(f"{paper} has no {plan.name}.csv with the paper's values.")
    return path


def setting(given: EnsembleSetting) -> Setting | None:
    """Write how an ensemble of a plan is made; None where it is not the same in every fold, or cannot be known.

    Examples
    --------
    >>> setting(EnsembleSetting("ecc", {"n_estimators": 20})).code("ecc", "f1", "ctp", "mean", 0)
    'ECCClassifier(n_estimators=20, loss="f1", aggregation="ctp", random_state=0)'
    """
    if given.choose:
        return None
    if given.kind:
        # As the plan has it, and nothing imported: reports are made of plans that nobody has consented to run.
        if given.kind not in KINDS and isinstance(given.estimator, Absent):
            return None
        table = given.in_classes()
        arguments = {name: source_text(value) for name, value in table.items() if name != "class"}
        options = None
        if given.kind in KINDS and set(arguments) <= {"n_estimators"}:
            members = arguments.get("n_estimators")
            options = ["--ensemble", given.kind, *(() if members is None else ("--members", members))]
        objects = [value for value in table.values() if isinstance(value, BaseEstimator)]
        statements = [
            f"from {module} import {name}" for module, _, name in (p.rpartition(".") for p in paths_in(table))
        ]
        statements += [line for one in objects for line in _imports(one)]
        head, ours = table["class"].rpartition(".")[2], given.kind in KINDS or not given.foreign
        return Setting(head, arguments, list(dict.fromkeys(statements)), ours, options=options)
    if not isinstance(given.estimator, BaseEstimator):
        return None
    return Setting(
        type(given.estimator).__name__,
        _changed(given.estimator, () if given.foreign else FOLLOWS),
        _imports(given.estimator),
        not given.foreign,
    )


def source_text(value: Any) -> str:
    """Write a parameter as Python does, an estimator on one line."""
    text = value.__repr__(N_CHAR_MAX=10**6) if isinstance(value, BaseEstimator) else spelt(value)
    return re.sub(r"\n\s*", " ", text)


def _changed(estimator: BaseEstimator, left_out: Sequence[str] | set[str]) -> dict[str, str]:
    """The parameters in which an estimator differs from the defaults of its class."""
    defaults = inspect.signature(type(estimator)).parameters
    texts = {name: source_text(value) for name, value in estimator.get_params(deep=False).items()}
    return {
        name: text
        for name, text in texts.items()
        if name not in left_out and not (name in defaults and text == source_text(defaults[name].default))
    }


def _imports(estimator: BaseEstimator) -> list[str]:
    """The statements that import an estimator's class and those of the estimators in it."""
    inner = [value for value in estimator.get_params().values() if isinstance(value, BaseEstimator)]
    kinds = dict.fromkeys(type(one) for one in (estimator, *inner))
    return [f"from {_module(kind)} import {kind.__name__}" for kind in kinds if kind.__module__ != "__main__"]


def _module(kind: type) -> str:
    """Where a class is imported from: the part of its module's name before what is private; ours all have one door."""
    parts = list(takewhile(lambda part: not part.startswith("_"), kind.__module__.split(".")))
    return "comitia" if parts[0] == "comitia" else ".".join(parts)


def _provenance(records: Store | Memory, cells: Sequence[tuple[Cell, Mapping[str, Any]]]) -> dict[str, Any]:
    """How the rows of a run came to be, over all of its starts."""
    known, plan = records.provenance(), records.plan
    sessions = [session for session in known["sessions"] if session["cells"]] or known["sessions"]
    if not sessions:
        return {"plan": write_plan(plan)}
    commands = list(dict.fromkeys(session["command"] for session in sessions if session["command"]))
    return {
        **({"commands": commands} if commands else {}),
        "started": sessions[0]["started"],
        "seconds": sum(session["seconds"] for session in sessions),
        "starts": len(sessions),
        "cells": f"{len(cells)} of {len(list(plan.cells()))}",
        "processor time in cells": f"{sum(kept['seconds'] * kept['threads'] for _, kept in cells):.0f} s",
        "cores": sessions[-1]["n_jobs"],
        "seed": plan.seed,
        "digest": known.get("digest", ""),
        "machine": sessions[-1]["machine"],
        **computed_by(cells),
        "versions": sessions[-1]["versions"],
        "plan": write_plan(plan),
    }


def _chosen(cells: Sequence[tuple[str, str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """For each ensemble, dataset and parameter the values chosen and in how many folds, most often first."""
    found: dict[tuple[str, str, str], Counter[Any]] = {}
    for ensemble, dataset, chosen in cells:
        for parameter, value in chosen.items():
            found.setdefault((ensemble, dataset, parameter), Counter())[value] += 1
    return [
        {"ensemble": ensemble, "dataset": dataset, "parameter": parameter, "value": value, "folds": folds}
        for (ensemble, dataset, parameter), counts in found.items()
        for value, folds in counts.most_common()
    ]
