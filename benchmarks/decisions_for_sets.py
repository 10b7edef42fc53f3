"""Macro- and micro-F1 on ten folds: cut at one half, tuned out of bag, and by scikit-learn's tuned thresholds.

Ours are ``EMODTClassifier`` and ``ECCClassifier`` as they come, with what is out of bag; one half and both measures are
decided by one fit.  scikit-learn's are ``MultiOutputClassifier(TunedThresholdClassifierCV(learner, scoring="f1"))``,
which fits six times for every label.  Beside trees the learner is ``RandomForestClassifier`` with as many trees; beside
chains ``LogisticRegression``, on standardised features where these are dense.  It cannot be fitted on labels that fewer
than five training instances have, or lack; these are predicted as most instances have them.  Scores are found with a
function in the place of ``"f1"`` that gives the same numbers without its checks; methods "as written" have ``"f1"``.

Each fold is a line of a file as soon as it is there, and is not run again; cheap cells come first.

    python -m benchmarks.decisions_for_sets rows.jsonl                                       # hours, on one core
    python -m benchmarks.decisions_for_sets rows.jsonl --page docs/results/decisions.md      # the page, from the rows
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import KFold, TunedThresholdClassifierCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.case import DATA
from benchmarks.peers_methods import numbers
from comitia import ECCClassifier, EMODTClassifier
from comitia.datasets import Dataset, fetch_dataset

# The cheap ones first.
DATASETS = ("flags", "emotions", "scene", "yeast", "medical", "cal500", "bibtex")
OURS = {"EMODT": EMODTClassifier, "ECC": ECCClassifier}
MEMBERS = 50
PEERS = {"EMODT": "random forest", "ECC": "logistic regression"}
AS_WRITTEN = ", as written"
FOLDS = 10
FEWEST = 5
TIMED = 4
"""Labels on which a peer is timed where all of them would take hours; its time is scaled, and it has no scores."""
AVERAGES = ("macro", "micro")


@dataclass(frozen=True)
class Scored:
    """One method on one fold: F1 of both averages by the way of deciding, and seconds of one processor."""

    dataset: str
    method: str
    fold: int
    scores: dict[str, dict[str, float]]
    seconds: float
    labels: int
    timed: int

    @property
    def cell(self) -> tuple[str, str, int]:
        return self.dataset, self.method, self.fold

    def line(self) -> str:
        shown = "  ".join(
            f"{way} {' '.join(f'{100 * one[average]:.1f}' for average in AVERAGES)}" for way, one in self.scores.items()
        )
        return f"{self.dataset:9} {self.method:20} fold {self.fold}  {self.seconds:8.1f} s  {shown}"


def run(*, quick: bool = False) -> Iterator[Scored]:
    cells = [(name, method, fold) for name in DATASETS for method in (*OURS, *PEERS.values()) for fold in range(FOLDS)]
    if quick:
        cells = [("flags", method, 0) for method in (*OURS, *PEERS.values())]
    return scored_cells(cells, Path("decisions_for_sets.jsonl"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions_for_sets", description=__doc__)
    parser.add_argument("rows", type=Path, help="file of rows, one a cell, which is added to")
    parser.add_argument("--datasets", nargs="*", default=DATASETS, help="some of them")
    parser.add_argument("--methods", nargs="*", default=(*OURS, *PEERS.values()), help="some of them")
    parser.add_argument("--folds", type=int, default=FOLDS, help="the first so many")
    parser.add_argument("--timed", type=int, help="time the peer on so many labels, and scale")
    parser.add_argument("--guarantees", type=Path, help="rows of benchmarks.guarantees, for the page")
    parser.add_argument("--page", type=Path, help="compute nothing, and write what there is as a page")
    given = parser.parse_args()
    if given.page:
        from benchmarks._decisions_page import page
        from benchmarks.guarantees import read_kept

        kept = read_kept(given.guarantees) if given.guarantees else []
        given.page.write_text(page(read_rows(given.rows), kept), encoding="utf-8")
        return
    cells = [(name, method, fold) for name in given.datasets for method in given.methods for fold in range(given.folds)]
    for one in scored_cells(cells, given.rows, given.timed):
        print(one.line(), flush=True)


def scored_cells(cells: list[tuple[str, str, int]], file: Path, timed: int | None = None) -> Iterator[Scored]:
    """Compute the cells that the file lacks, one after the other, and add them to it."""
    warnings.simplefilter("ignore")
    done = {row.cell for row in read_rows(file)}
    for cell in cells:
        if cell in done:
            continue
        one = score(*cell, timed)
        with file.open("a", encoding="utf-8") as rows:
            rows.write(json.dumps(asdict(one)) + "\n")
        yield one


def score(name: str, method: str, fold: int, timed: int | None = None) -> Scored:
    """Fit one method to one fold, in one thread."""
    data = fetch_dataset(name, data_home=DATA)
    train, test = list(KFold(FOLDS, shuffle=True, random_state=1).split(data.Y))[fold]
    known, new, K = data.take(train), data.take(test), data.Y.shape[1]
    numba.set_num_threads(1)
    with threadpool_limits(1):
        if method in OURS:
            # Compiled functions are there before the clock starts.
            decided(OURS[method](n_estimators=5, oob_score=True, random_state=fold), known.take(np.arange(60)), new)
            start = time.process_time()
            found = decided(OURS[method](n_estimators=MEMBERS, oob_score=True, random_state=fold), known, new)
            seconds, timed = time.process_time() - start, K
        else:
            start = time.process_time()
            labeling, timed = thresholds(method, known, new, fold, timed)
            found = {"tuned": labeling} if timed == K else {}
            # Labels that cannot be tuned take no time, and are not among those that are timed.
            seconds = (time.process_time() - start) * (1 if timed == K else able(known.Y).sum() / timed)
    scores = {
        way: {average: float(f1_score(new.Y, labeling, average=average, zero_division=0)) for average in AVERAGES}
        for way, labeling in found.items()
    }
    return Scored(name, method, fold, scores, round(float(seconds), 3), K, int(timed))


def decided(ensemble: Any, known: Dataset, new: Dataset) -> dict[str, np.ndarray]:
    """Fit once, and decide in three ways."""
    fitted = ensemble.set_params(loss="macro-f1").fit(known.X, known.Y)
    found = {"half": (fitted.predict_proba(new.X) > 0.5).astype(np.int8)}
    return found | {average: fitted.set_params(loss=f"{average}-f1").predict(new.X) for average in AVERAGES}


def able(Y: np.ndarray) -> np.ndarray:
    """Which labels scikit-learn can tune."""
    counts = Y.sum(axis=0)
    return (counts >= FEWEST) & (len(Y) - counts >= FEWEST)


def thresholds(
    method: str, known: Dataset, new: Dataset, seed: int, timed: int | None = None
) -> tuple[np.ndarray, int]:
    """Return the answers by thresholds that scikit-learn tunes, for all labels or for some, and how many these are."""
    X, X_new, Y = numbers(known.X), numbers(new.X), known.Y
    base: Any = RandomForestClassifier(MEMBERS, random_state=seed)
    if method.removesuffix(AS_WRITTEN) == PEERS["ECC"]:
        base = LogisticRegression() if issparse(X) else make_pipeline(StandardScaler(), LogisticRegression())
    places = np.flatnonzero(able(Y))
    if timed is not None and timed < len(places):
        places = np.random.default_rng(seed).choice(places, timed, replace=False)
    found = np.tile((2 * Y.sum(axis=0) > len(Y)).astype(int), (X_new.shape[0], 1))
    scoring = "f1" if method.endswith(AS_WRITTEN) else make_scorer(quick_f1)
    tuner = MultiOutputClassifier(TunedThresholdClassifierCV(base, scoring=scoring))
    found[:, places] = tuner.fit(X, Y[:, places]).predict(X_new)
    return found, len(places) if timed is not None and timed == len(places) else Y.shape[1]


def quick_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """``f1_score`` of 0 and 1 without its checks, which are most of the tuner's time where data are small."""
    found = np.count_nonzero(truth & predicted)
    return 2 * found / max(1, np.count_nonzero(truth) + np.count_nonzero(predicted))


def read_rows(file: Path) -> list[Scored]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Scored(**json.loads(line)) for line in lines if line.endswith("}")]


if __name__ == "__main__":
    main()
