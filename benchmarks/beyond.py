"""Beyond the paper: what the out-of-bag choice, with calibration, makes of Table 2's ensembles.

Folds, seeds and settings are those of the plan ``table2``, but chains have joint beliefs.  Each cell is fitted once and
decides in every way; the rows are kept in a file, so that a run that was interrupted goes on where it was.

    python -m benchmarks.beyond rows.jsonl                                      # most of it is bibtex
    python -m benchmarks.beyond rows.jsonl --write docs/results/beyond.md       # the page, from the rows
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from sklearn.base import clone

from benchmarks.case import DATA
from comitia.aggregation import advised
from comitia.ensembles._out_of_bag import CALIBRATED, best_way
from comitia.experiments import Cell, Plan, read_plan
from comitia.experiments._cell import fit_cell
from comitia.losses import LOSSES

NAMES = ("hamming", "subset01", "f1")
TITLES = {"hamming": "Hamming loss ↓", "subset01": "Subset 0/1 loss ↓", "f1": "F1-measure ↑"}
ENSEMBLES = {"emodt": "EMODT", "ecc": "ECC, joint chains", "ebr": "EBR"}
# The longest first, so that no core is left alone with them.
BY_COST = ("bibtex", "medical", "cal500", "yeast", "scene", "emotions", "flags")


def plan(device: str = "cpu") -> Plan:
    """Return Table 2's plan for the seven complete datasets, with joint chains and calibration."""
    paper = replace(read_plan("table2"), device=device)
    more = {"ecc": {"chain_method": "joint", "calibration": "oob"}}
    settings = [
        replace(one, parameters={**one.parameters, **more.get(one.name, {"calibration": "oob"})})
        for one in paper.ensembles
    ]
    complete = [source for name in BY_COST for source in paper.datasets if source.name == name]
    return replace(paper, datasets=tuple(complete), ensembles=tuple(settings), aggregations=("ctp", "oob"))


@dataclass(frozen=True)
class Scored:
    """One fold: of each loss and way of deciding, what it lost out of bag and on the test part.

    Ways have the out-of-bag mean, the standard error of its difference to the usual way, and the loss of the test part.
    """

    cell: dict[str, Any]
    ways: dict[str, dict[str, tuple[float, float, float]]]
    parameters: dict[str, Any]
    calibrated: float
    seconds: dict[str, float]

    def line(self) -> str:
        name = f"{self.cell['dataset']:9} {self.cell['ensemble']:6} fold {self.cell['fold']}"
        shown = "  ".join(f"{decided(self, loss, None):6.2f} → {decided(self, loss, 'oob'):6.2f}" for loss in NAMES)
        return f"{name}  {shown}  {self.seconds['all']:7.1f} s"


def chosen_way(scored: Scored, loss: str, calibration: str | None) -> str:
    """Return the way that the out-of-bag losses choose, among all or among those without a calibration."""
    ways = {n: way for n, way in scored.ways[loss].items() if calibration or not n.endswith(CALIBRATED)}
    means, errors = ({n: way[part] for n, way in ways.items()} for part in (0, 1))
    return best_way(LOSSES[loss](), means, errors)


def decided(scored: Scored, loss: str, how: str | None) -> float:
    """Return the test loss, in percent, as advised (None), by the choice ("oob") or by that without calibration."""
    name = advised(LOSSES[loss]()) if how is None else chosen_way(scored, loss, None if how == "uncalibrated" else how)
    return 100 * scored.ways[loss][name][2]


def run(*, quick: bool = False) -> Iterator[Scored]:
    cells = plan().select(datasets=["emotions"] if quick else None, folds=1 if quick else None)
    return scored_cells(cells, Path("beyond.jsonl"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beyond", description=__doc__)
    parser.add_argument("rows", type=Path, help="file of rows, one a cell, which is added to")
    parser.add_argument("--datasets", nargs="*", help="some of them")
    parser.add_argument("--ensembles", nargs="*", help="some of them")
    parser.add_argument("--folds", type=int, help="the first so many")
    parser.add_argument("--threads", type=int, default=1, help="threads of each cell")
    parser.add_argument("--device", default="cpu", help="cuda: what is large enough is fitted on a GPU")
    parser.add_argument("--write", type=Path, help="compute nothing, and write what there is as a page")
    given = parser.parse_args()
    if given.write:
        from benchmarks._beyond_page import page

        given.write.write_text(page(_rows(given.rows)), encoding="utf-8")
        return
    cells = plan().select(datasets=given.datasets, ensembles=given.ensembles, folds=given.folds)
    for one in scored_cells(cells, given.rows, given.threads, given.device):
        print(one.line(), flush=True)


def scored_cells(cells: list[Cell], file: Path, threads: int = 1, device: str = "cpu") -> Iterator[Scored]:
    """Compute the cells that the file lacks, as many at a time as there are cores for, and add them to it."""
    done = [row.cell for row in _rows(file)]
    todo = [cell for cell in cells if asdict(cell) not in done]
    work = (delayed(score)(cell, threads, device) for cell in todo)
    for one in Parallel(n_jobs=max(1, cpu_count() // threads), return_as="generator_unordered")(work):
        with file.open("a", encoding="utf-8") as rows:
            rows.write(json.dumps(asdict(one)) + "\n")
        yield one


def score(cell: Cell, threads: int, device: str) -> Scored:
    """Fit one cell, and decide its test part in every way that was judged out of bag."""
    warnings.simplefilter("ignore")
    started, everything = time.perf_counter(), plan(device)
    data = everything.source(cell.dataset).load(DATA)
    fitted, test = fit_cell(everything, cell, data, n_jobs=threads)
    X, Y = data.take(test).X, data.take(test).Y
    means, errors = fitted.oob_table_, fitted.oob_errors_
    ways: dict[str, dict[str, tuple[float, float, float]]] = {loss: {} for loss in NAMES}
    beliefs = list(fitted.beliefs(X))
    for loss in NAMES:
        target = LOSSES[loss]()
        for name in means[loss]:
            decision = fitted._decision(target, *fitted._way_of_name(name, target))
            found = target.value(Y, np.concatenate([part.decide(decision) for part in beliefs])).mean()
            ways[loss][name] = means[loss][name], errors[loss][name], float(found)
    seconds = {"all": round(time.perf_counter() - started, 3)}
    if cell.fold == 0 and cell.dataset != BY_COST[0]:
        seconds |= _seconds(fitted, data.take(np.setdiff1d(np.arange(data.n_instances), test)))
    chosen = {name: fitted.get_params()[name] for name in everything.setting(cell.ensemble).choose}
    share = float(np.mean([kind != "none" for kind in fitted.calibration_.kinds]))
    return Scored(asdict(cell), ways, chosen, share, seconds)


def _seconds(fitted: Any, part: Any) -> dict[str, float]:
    """Return the processor time of a fit that decides as advised, and of one with the choice: medians of three."""
    advice = {"oob_score": False, "aggregation": None, "calibration": None}
    seconds = {}
    for name, how in (("without", advice), ("with", {})):
        times = []
        for _ in range(3):
            started = time.process_time()
            clone(fitted).set_params(**how).fit(part.X, part.Y)
            times.append(time.process_time() - started)
        seconds[name] = round(float(np.median(times)), 3)
    return seconds


def _rows(file: Path) -> list[Scored]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Scored(**json.loads(line)) for line in lines]


if __name__ == "__main__":
    main()
