"""Quality beside what a user would pick instead: cross-validated losses of our ensembles and of peers.

Every classifier has its defaults, the same folds and one thread a fold.  Ours decide for each loss, by the choice of
their out-of-bag losses; peers cut at one half, and in a second row decide for the loss from their probabilities.
Peers that are not installed are left out, with a word: ``pip install "comitia[peers]"``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import MultiOutputClassifier

from benchmarks.case import DATA
from comitia import (
    CommitteeClassifier,
    EBRClassifier,
    ECCClassifier,
    EMOBTClassifier,
    EMODTClassifier,
    MultilabelVotingClassifier,
    get_loss,
)
from comitia.datasets import Dataset, fetch_dataset

DATASETS = ("emotions", "flags", "scene", "yeast", "medical")
LOSSES = ("hamming", "subset01", "f1")
BY_CHOICE: dict[str, Any] = {"oob_score": True, "aggregation": "oob"}


@dataclass(frozen=True)
class Line:
    """Mean losses of one classifier on one dataset, in percent with standard errors over the folds."""

    dataset: str
    name: str
    losses: np.ndarray
    seconds: float

    def line(self) -> str:
        folds = len(self.losses)
        means, errors = 100 * self.losses.mean(axis=0), 100 * self.losses.std(axis=0, ddof=1) / np.sqrt(folds)
        means[2] = 100 - means[2]
        shown = "  ".join(f"{mean:6.2f} ± {error:4.2f}" for mean, error in zip(means, errors, strict=True))
        return f"{self.dataset:9} {self.name:22} {shown}  {self.seconds:8.2f} s a fold"


def ours(seed: int) -> dict[str, Any]:
    return {
        "committee": CommitteeClassifier(random_state=seed),
        "EMOBT": EMOBTClassifier(random_state=seed, **BY_CHOICE),
        "EMODT": EMODTClassifier(random_state=seed, **BY_CHOICE),
        "ECC, joint": ECCClassifier(chain_method="joint", random_state=seed, **BY_CHOICE),
        "EBR": EBRClassifier(random_state=seed, **BY_CHOICE),
    }


def peers(seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "random forest": RandomForestClassifier(random_state=seed),
        "extra trees": ExtraTreesClassifier(random_state=seed),
        "logistic regression": MultiOutputClassifier(LogisticRegression(max_iter=1000)),
    }
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        found["LightGBM a label"] = MultiOutputClassifier(LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed))
    if find_spec("xgboost"):
        from xgboost import XGBClassifier

        found["XGBoost"] = XGBClassifier(n_jobs=1, random_state=seed)
    if find_spec("catboost"):
        from catboost import CatBoostClassifier

        found["CatBoost MultiLogloss"] = CatBoostClassifier(
            loss_function="MultiLogloss", verbose=0, thread_count=1, random_seed=seed
        )
    return found


def run(*, quick: bool = False) -> Iterator[Any]:
    missing = [name for name in ("lightgbm", "xgboost", "catboost") if not find_spec(name)]
    if missing:
        print(f"# left out, not installed: {', '.join(missing)}")
    print(f"{'':9} {'in percent':22} {'Hamming ↓':>13}  {'subset 0/1 ↓':>13}  {'F1 ↑':>13}")
    folds = 2 if quick else 10
    for name in DATASETS[:1] if quick else DATASETS:
        data = fetch_dataset(name, data_home=DATA)
        for kind in (*ours(0), *peers(0)):
            cells = Parallel(n_jobs=-1)(delayed(fold_of)(data, kind, fold, folds) for fold in range(folds))
            for row in cells[0][0]:
                losses = np.array([found[row] for found, _ in cells])
                yield Line(name, row, losses, float(np.mean([seconds for _, seconds in cells])))


def fold_of(data: Dataset, kind: str, fold: int, folds: int) -> tuple[dict[str, list[float]], float]:
    """Fit one classifier on one fold; return its losses, in each way that it is used, and the seconds it took."""
    warnings.simplefilter("ignore")
    train, test = list(KFold(folds, shuffle=True, random_state=1).split(data.Y))[fold]
    known, new = data.take(train), data.take(test)
    started = time.perf_counter()
    if kind in ours(fold):
        fitted = ours(fold)[kind].fit(known.X, known.Y)
        ways = {kind: {}}
    else:
        fitted = MultilabelVotingClassifier([("peer", peers(fold)[kind])]).fit(numbers(known.X), known.Y)
        half = {"aggregation": "gmv", "reading": "independent"}
        ways = {kind: half, f"{kind}, decided": {"aggregation": "ctp", "reading": "auto"}}
    found = {}
    for way, settings in ways.items():
        X = new.X if kind in ours(fold) else numbers(new.X)
        predicted = {loss: fitted.set_params(loss=loss, **settings).predict(X) for loss in LOSSES}
        found[way] = [float(get_loss(loss).value(new.Y, predicted[loss]).mean()) for loss in LOSSES]
    return found, time.perf_counter() - started


def numbers(X: Any) -> Any:
    """Nominal features as codes: peers take numbers."""
    if not hasattr(X, "columns"):
        return X
    return X.apply(lambda column: column.cat.codes if str(column.dtype) == "category" else column).to_numpy(float)
