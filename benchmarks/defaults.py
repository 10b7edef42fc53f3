"""Defaults beside what a user would write: EBR and ECC beside a loop of logistic regressions, EMODT beside a forest.

Five folds; every classifier as it comes, one thread a fold.  Ours are told the loss and nothing else; peers cut at one
half.  A difference is marked where ours are worse by more than one standard error of the paired difference over the
folds.  ``wide`` is made: 660 instances of rare binary features, each label told by a few of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils import _safe_indexing

from benchmarks.case import DATA
from benchmarks.peers import LOSSES, numbers
from comitia import EBRClassifier, ECCClassifier, EMODTClassifier, MultilabelVotingClassifier, get_loss
from comitia.datasets import fetch_dataset

DATASETS = ("emotions", "flags", "scene", "yeast", "medical", "cal500", "mediamill-2000", "bibtex", "wide")
PEERS = {"EBR": "logistic regression", "ECC": "logistic regression", "EMODT": "random forest"}
FOLDS = 5
MOST = 1500
"""Instances that are taken of a dataset with more than a hundred labels, whose chains would take long."""


@dataclass(frozen=True)
class Line:
    """One of ours beside its peer on one dataset: losses in percent, and the paired difference with its error."""

    dataset: str
    name: str
    ours: np.ndarray
    theirs: np.ndarray
    chosen: str

    def line(self) -> str:
        gain = 100 * (self.ours - self.theirs)
        error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        cells = []
        for at, (mine, peer) in enumerate(zip(self.ours.mean(axis=0), self.theirs.mean(axis=0), strict=True)):
            shown = [100 * (1 - mine), 100 * (1 - peer)] if LOSSES[at] == "f1" else [100 * mine, 100 * peer]
            worse = " **worse**" if gain[:, at].mean() > error[at] else ""
            cells.append(f"{shown[0]:.2f} | {shown[1]:.2f} | {error[at]:.2f}{worse}")
        return f"| {self.dataset} | {self.name} | {' | '.join(cells)} | {self.chosen} |"


def run(*, quick: bool = False) -> Iterator[Line]:
    print("| | | Hamming ↓ | peer | ± | subset 0/1 ↓ | peer | ± | F1 ↑ | peer | ± | chosen |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    for name in ("flags", "wide") if quick else DATASETS:
        kinds = (*PEERS, *dict.fromkeys(PEERS.values()))
        jobs = [(kind, fold) for kind in kinds for fold in range(FOLDS)]
        cells = dict(zip(jobs, Parallel(n_jobs=-1)(delayed(fold_of)(name, *job) for job in jobs), strict=True))
        yield from lines(name, cells)


def lines(dataset: str, cells: dict[tuple[str, int], tuple[list[float], str]]) -> Iterator[Line]:
    """Yield the lines of a dataset from its cells: losses and what was chosen, by kind and fold."""
    for kind, peer in PEERS.items():
        ours, theirs = (np.array([cells[name, fold][0] for fold in range(FOLDS)]) for name in (kind, peer))
        chosen = ", ".join(dict.fromkeys(cells[kind, fold][1] for fold in range(FOLDS)))
        yield Line(dataset, kind, ours, theirs, chosen)


def fold_of(dataset: str, kind: str, fold: int) -> tuple[list[float], str]:
    """Return the three losses of one classifier on one fold, and what it chose for itself."""
    warnings.simplefilter("ignore")
    X, Y = data_of(dataset)
    if kind not in PEERS:
        X = numbers(X)
    train, test = list(KFold(FOLDS, shuffle=True, random_state=1).split(Y))[fold]
    fitted = made(kind, fold).fit(_safe_indexing(X, train), Y[train])
    found = []
    for loss in LOSSES:
        predicted = fitted.set_params(loss=loss).predict(_safe_indexing(X, test))
        found.append(float(get_loss(loss).value(Y[test], predicted).mean()))
    names = ("scaling_", "C_", "chain_method_", "min_samples_split_", "max_features_")
    return found, " ".join(f"{getattr(fitted, name)}" for name in names if hasattr(fitted, name))


def made(kind: str, seed: int) -> Any:
    if kind in PEERS:
        return {"EBR": EBRClassifier, "ECC": ECCClassifier, "EMODT": EMODTClassifier}[kind](random_state=seed)
    loop = MultiOutputClassifier(LogisticRegression())
    peer = {"logistic regression": loop, "random forest": RandomForestClassifier(random_state=seed)}[kind]
    return MultilabelVotingClassifier([("peer", peer)], aggregation="gmv", reading="independent")


def data_of(name: str) -> tuple[Any, np.ndarray]:
    if name == "wide":
        return wide()
    data = fetch_dataset(name, data_home=DATA)
    if data.Y.shape[1] > 100:
        data = data.take(np.random.default_rng(0).permutation(len(data.Y))[:MOST])
    return data.X.tocsr() if sparse.issparse(data.X) else data.X, data.Y


def wide(n: int = 660, labels: int = 27, rare: int = 1100, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Binary features, one column for yes and one for no: a few that tell a label, and many that tell nothing."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(labels, 0.7)) + 1e-3
    Y = np.zeros((n, labels), np.int8)
    for row in Y:
        count = 1 + (rng.random() < 0.2) + (rng.random() < 0.05)
        row[rng.choice(labels, count, replace=False, p=share / share.sum())] = 1
    columns = [
        (Y[:, label] == 1) & (rng.random(n) < sure) | (rng.random(n) < 0.002)
        for label in range(labels)
        for sure in (0.99, *rng.choice([0.97, 0.6, 0.3], rng.integers(1, 4)))
    ]
    columns += [rng.random(n) < rng.choice([0.002, 0.004, 0.01]) for _ in range(rare)]
    yes = np.array(columns).T.astype(float)
    return np.hstack([yes, 1 - yes]), Y
