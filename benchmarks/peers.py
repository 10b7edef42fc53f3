"""Quality beside what a user would pick instead: cross-validated losses and times of our ensembles and of peers.

Every classifier has its defaults, the same folds and one thread a fold.  Ours decide for each loss, by the choice of
their out-of-bag losses and, in a second row, as they come.  Peers cut at one half; in a second row at a cut for each
label that is tuned for F1 on a fifth of the training rows, before they are fitted to all of them; in a third their
probabilities are decided for the loss by ours.  BOOMER decides itself.

Each fold is a line of ``FOLDER/rows.jsonl`` as soon as it is there, and is not run again: a run can be stopped, go on,
and be split over datasets, methods and machines, whose files lie side by side in one folder.  ``--page`` writes
docs/results/peers.md from them.  Peers that are not installed are left out, with a word.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numba
import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold, train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.case import DATA
from benchmarks.peers_methods import LOSSES, Ours, Peer, asked, fit_peer, numbers, ours, peers, tuned_cuts
from benchmarks.peers_page import page, short_table
from comitia import Marginals, get_loss
from comitia.datasets import Dataset, fetch_dataset

DATASETS = ("flags", "emotions", "medical", "yeast", "scene", "cal500", "bibtex")
FOLDS = 10


@dataclass(frozen=True)
class Row:
    """What one method did on one fold: a line of the file."""

    found: dict[str, Any]

    def line(self) -> str:
        found = self.found
        ways = "  ".join(
            f"{way} {100 * h:.2f} {100 * s:.2f} {100 - 100 * f:.2f}" for way, (h, s, f) in found["losses"].items()
        )
        cell = f"{found['dataset']:9} {found['method']:27} fold {found['fold']}"
        return f"{cell}  {found['cpu']['fit'] + found['cpu']['predict']:8.2f} s  {ways}"


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("peers")
    group.add_argument("--folder", type=Path, help="where the rows of the folds are kept")
    group.add_argument(
        "--methods",
        default="all",
        help="all, ours, peers, fast (of these), or names between semicolons",
    )
    group.add_argument("--datasets", default=",".join(DATASETS), help="names between commas")
    group.add_argument("--folds", default=f"0-{FOLDS - 1}", help=f"which of the {FOLDS} folds, such as 0-2")
    group.add_argument("--jobs", type=int, default=-1, help="folds at a time, each with one thread")
    group.add_argument("--no-cuts", action="store_true", help="leave out the tuned cuts, which need a second fit")
    group.add_argument("--page", type=Path, help="run nothing; write the page of the folder's rows to this file")


def run(
    *,
    quick: bool = False,
    folder: Path | None = None,
    methods: str = "all",
    datasets: str = ",".join(DATASETS),
    folds: str = f"0-{FOLDS - 1}",
    jobs: int = -1,
    no_cuts: bool = False,
    page: Path | None = None,
) -> Iterator[Row]:
    if page is not None:
        write_page(folder, page)
        return
    if quick:
        datasets, folds = "flags", "0-1"
    folder = folder or Path(mkdtemp(prefix="peers-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"# rows go to {folder}", flush=True)
    there = {key(row) for row in read_rows(folder)}
    first, _, last = folds.partition("-")
    which = range(int(first), int(last or first) + 1)
    cells = product(datasets.split(","), [method.name for method in available(methods)], which)
    missing = [cell for cell in cells if cell not in there]
    work = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    with (folder / "rows.jsonl").open("a", encoding="utf-8") as file:
        for found in work(delayed(fit_cell)(*cell, cuts=not no_cuts) for cell in missing):
            file.write(json.dumps(found) + "\n")
            file.flush()
            yield Row(found)


def available(methods: str) -> list[Ours | Peer]:
    """Return the methods asked for, without the peers that are not installed; say which those are."""
    found = list(asked(methods))
    missing = sorted({method.distribution for method in found if isinstance(method, Peer) and not method.installed})
    if missing:
        print(f'# left out, not installed: {", ".join(missing)} (pip install "comitia[peers]")', flush=True)
    return [method for method in found if isinstance(method, Ours) or method.installed]


def key(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["dataset"], row["method"], row["fold"]


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """Read the rows of all files in a folder; of a fold that was run twice the last one counts."""
    lines = (line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines())
    rows = (json.loads(line) for line in lines if line.endswith("}"))  # a run that was killed may leave half a line
    return list({key(row): row for row in rows}.values())


def write_page(folder: Path | None, path: Path) -> None:
    if folder is None:
        raise SystemExit("--page needs --folder: the rows of which it is made")
    rows = read_rows(folder)
    order = [method.name for method in (*ours(), *peers())]
    path.write_text(page(rows, DATASETS, order), encoding="utf-8")
    print(f"# {path} has the results of {len(rows)} folds; for the README:\n")
    print(short_table(rows, DATASETS, order))


def fit_cell(dataset: str, name: str, fold: int, cuts: bool = True) -> dict[str, Any]:
    """Fit one method to one fold: its losses in each way that it is used, processor and clock seconds."""
    warnings.simplefilter("ignore")
    data = fetch_dataset(dataset, data_home=DATA)
    (method,) = asked(name)
    train, test = list(KFold(FOLDS, shuffle=True, random_state=1).split(data.Y))[fold]
    known, new = data.take(train), data.take(test)
    watch = Watch()
    numba.set_num_threads(1)
    with threadpool_limits(1):
        if isinstance(method, Ours):
            found = decide_ours(method, known, new, fold, watch)
            found["version"] = f"comitia, {platform.python_implementation()} {platform.python_version()}"
        else:
            found = {"losses": decide_peer(method, known, new, fold, watch, cuts), "version": method.version}
    shape = {"n": len(data.Y), "d": data.X.shape[1], "K": data.Y.shape[1]}
    times = {"cpu": watch.cpu, "wall": watch.wall, "machine": processor()}
    return {"dataset": dataset, "method": name, "fold": fold, "folds": FOLDS, **shape, **found, **times}


class Watch:
    """Seconds of the processor and of the clock since the last look, by what they were spent on."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = {}
        self.wall: dict[str, float] = {}
        self.start()

    def start(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def stop(self, what: str) -> None:
        self.cpu[what] = round(time.process_time() - self._cpu, 3)
        self.wall[what] = round(time.perf_counter() - self._wall, 3)
        self.start()


def decide_ours(method: Ours, known: Dataset, new: Dataset, seed: int, watch: Watch) -> dict[str, Any]:
    method.make(random_state=seed).fit(
        known.X[:60], known.Y[:60]
    )  # compiled functions are there before the clock starts
    watch.start()
    fitted = method.make(random_state=seed).fit(known.X, known.Y)
    watch.stop("fit")
    losses = {}
    for way, settings in method.ways.items():
        predicted = {loss: fitted.set_params(loss=loss, **settings).predict(new.X) for loss in LOSSES}
        losses[way] = losses_of(new.Y, predicted)
        if "predict" not in watch.cpu:
            watch.stop("predict")
    weights = getattr(fitted, "weights_", None)
    return {"losses": losses} | ({"weights": weights} if isinstance(weights, dict) else {})


def decide_peer(method: Peer, known: Dataset, new: Dataset, seed: int, watch: Watch, cuts: bool) -> dict[str, Any]:
    X, Y, X_new = numbers(known.X), known.Y, numbers(new.X)
    watch.start()
    fitted = fit_peer(method, X, Y, seed)
    watch.stop("fit")
    if fitted.decide is not None:
        found = {"half": losses_of(new.Y, {loss: fitted.decide(X_new, loss) for loss in LOSSES})}
        watch.stop("predict")
        return found
    p = fitted.probabilities(X_new)
    found = {"half": losses_of(new.Y, dict.fromkeys(LOSSES, p > 0.5))}
    watch.stop("predict")
    found["decided"] = losses_of(new.Y, {loss: get_loss(loss).minimise(Marginals(p)) for loss in LOSSES})
    if cuts:
        watch.start()
        inner, held = train_test_split(np.arange(len(Y)), test_size=0.2, random_state=seed)
        part = fit_peer(method, X[inner], Y[inner], seed)
        predicted = p > tuned_cuts(part.probabilities(X[held]), Y[held])
        watch.stop("cuts")
        found["cuts"] = losses_of(new.Y, dict.fromkeys(LOSSES, predicted))
    return found


def losses_of(truth: np.ndarray, predicted: dict[str, np.ndarray]) -> list[float]:
    labelings = {loss: np.asarray(labeling).astype(np.int8) for loss, labeling in predicted.items()}
    return [round(float(get_loss(loss).value(truth, labelings[loss]).mean()), 6) for loss in LOSSES]


def processor() -> str:
    """Name the processor, as Linux does."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"
