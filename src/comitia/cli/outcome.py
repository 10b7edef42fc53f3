"""What a run's folder holds, as reports take it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from comitia._errors import ComitiaError
from comitia._files import whole_file, write_text
from comitia.experiments import Cell, Plan, Store, write_plan
from comitia.experiments.plan import CHOSEN_BY_OOB
from comitia.experiments.run import fit_cell

if TYPE_CHECKING:
    from comitia.report import Run
    from comitia.report.figures import SevenSegments

_DIGITS = "seven-segment"
_TITLES = {"table2": "Table 2 of the paper, run again", "figure2": "Figure 2 of the paper, run again"}


def outcome(store: Store, paper: Path | None = None) -> Run:
    """Gather the rows of a run, how they came to be, and the paper's values where they are given.

    Raises
    ------
    ValueError
        When no cell of the run is finished, or ``paper`` has no file for its plan.
    """
    import pandas as pd

    from comitia.report import Run
    from comitia.report.paper import read_paper

    rows = pd.DataFrame(store.rows())
    if rows.empty:
        raise ComitiaError(f"{store.folder} has no results yet: none of its cells is finished")
    published = None if paper is None else read_paper(published_file(paper, store.plan))
    return Run(
        rows,
        store.datasets(),
        provenance(store),
        store.failures(),
        _TITLES.get(store.plan.name, "Which aggregation for which loss?"),
        published,
        _read_digits(store),
    )


def published_file(paper: Path, plan: Plan) -> Path:
    """Find the file with the paper's values in a folder, or take the file that is named."""
    path = paper / f"{plan.name}.csv" if paper.is_dir() else paper
    if not path.is_file():
        raise ComitiaError(f"{paper} has no {plan.name}.csv with the paper's values")
    return path


def provenance(store: Store) -> dict[str, Any]:
    """How the rows of a run came to be, over all of its starts."""
    kept = store.provenance()
    sessions = [session for session in kept["sessions"] if session["cells"]] or kept["sessions"]
    if not sessions:
        return {"plan": write_plan(store.plan)}
    cells = [store.cell_provenance(cell) for cell in store.plan.cells() if store.finished(cell)]
    return {
        "commands": list(dict.fromkeys(session["command"] for session in sessions)),
        "started": sessions[0]["started"],
        "seconds": sum(session["seconds"] for session in sessions),
        "starts": len(sessions),
        "cells": f"{len(cells)} of {len(list(store.plan.cells()))}",
        "processor time in cells": f"{sum(cell['seconds'] * cell['threads'] for cell in cells):.0f} s",
        "cores": sessions[-1]["n_jobs"],
        "seed": store.plan.seed,
        "digest": kept.get("digest", ""),
        "machine": sessions[-1]["machine"],
        "versions": sessions[-1]["versions"],
        "plan": write_plan(store.plan),
    }


def write_rows(store: Store, run: Run) -> None:
    """Write all rows into one file, for other programs."""
    with whole_file(store.folder / "rows.parquet") as file:
        run.rows.to_parquet(file, index=False)


def draw_digits(store: Store) -> None:
    """Keep the displays that the aggregations light for some handwritten digits, where the digits are in the plan."""
    path = store.folder / "digits.json"
    if _DIGITS not in [source.name for source in store.plan.datasets] or path.is_file():
        return
    from comitia.report.figures import SevenSegments

    plan = store.plan
    loss = "subset01" if "subset01" in plan.losses else plan.losses[0]
    data = plan.source(_DIGITS).load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cell itself has kept them
        ensemble, test = fit_cell(plan, Cell(_DIGITS, plan.ensembles[0].name, 0, 0), data, n_jobs=-1)
    lit = {
        name: ensemble.set_params(loss=loss, aggregation=name).predict(data.X[test])
        for name in _deciding(plan, joint=ensemble.supports_joint)
    }
    shown = SevenSegments(data.X[test].reshape(-1, 8, 8), data.Y[test], lit, loss).most_disputed(10)
    content = {
        "images": np.asarray(shown.images).tolist(),
        "truth": np.asarray(shown.truth).tolist(),
        "labelings": {name: np.asarray(labeling).tolist() for name, labeling in shown.labelings.items()},
        "loss": loss,
    }
    write_text(path, json.dumps(content))


def _deciding(plan: Plan, joint: bool) -> list[str]:
    return [name for name in plan.aggregations if name != CHOSEN_BY_OOB and (joint or name != "ctp-joint")]


def _read_digits(store: Store) -> SevenSegments | None:
    from comitia.report.figures import SevenSegments

    path = store.folder / "digits.json"
    if not path.is_file():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    return SevenSegments(content["images"], content["truth"], content["labelings"], content["loss"])
