"""Losses with the fast learners beside the same ensembles on scikit-learn's: seven datasets, three losses, 10 folds.

EBR and ECC have the same bootstraps and orders on both sides, so that nothing but the solver differs.  EMODT stands
beside the trees of a RandomForestRegressor on the 0/1 matrix, which choose their splits by the same criterion.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from benchmarks.case import DATA, Case
from comitia import EBRClassifier, ECCClassifier, EMODTClassifier, decide
from comitia.datasets import Dataset, fetch_dataset
from comitia.losses import get_loss
from comitia.relevance import Marginals, Observed

DATASETS = ("cal500", "emotions", "scene", "yeast", "flags", "medical", "bibtex")
LOSSES = ("hamming", "subset01", "f1")
M = 20
FEWER = {"cal500": 5, "bibtex": 2}  # members where 174 and 159 labels take scikit-learn minutes
N_JOBS = 2
FAST = LogisticRegression()
SLOW = LogisticRegression(tol=5e-5, max_iter=1_000)  # a tolerance that the fast solver leaves to scikit-learn


def run(quick: bool = False) -> Iterator[Case]:
    for kind in ("ebr", "ecc", "emodt"):
        names = ("emotions", "flags") if quick else DATASETS
        gaps = {name: standard_errors(kind, name, folds=3 if quick else 10) for name in names}
        for position, loss in enumerate(LOSSES):
            column = {name: gap[position] for name, gap in gaps.items()}
            listed = ", ".join(f"{name} {gap:+.2f}" for name, gap in column.items())
            worst = max(column, key=column.__getitem__)
            for what, value, most, note in (
                ("worse on average by", float(np.mean(list(column.values()))), 1, listed),
                ("worse at most by", column[worst], 2, f"on {worst}"),
            ):
                name = f"{kind} {loss}, {what}"
                yield Case(name, "scikit-learn's learners", value, most, note, at_most=True, unit="SE")


def standard_errors(kind: str, name: str, folds: int) -> np.ndarray:
    """How much larger the three mean losses are, in standard errors over the folds of the peer's."""
    data = fetch_dataset(name, data_home=DATA)
    members = FEWER.get(name, M)
    splits = KFold(10, shuffle=True, random_state=0).split(data.Y)
    tasks = [joblib.delayed(one_fold)(kind, data, members, fold, split) for fold, split in enumerate(splits)][:folds]
    ours, theirs = np.transpose(joblib.Parallel(N_JOBS)(tasks), (1, 2, 0))  # (loss, fold) each
    spread = theirs.std(axis=1, ddof=1) / np.sqrt(folds)
    gap = ours.mean(axis=1) - theirs.mean(axis=1)
    return np.divide(gap, spread, out=np.zeros_like(gap), where=gap != 0)


def one_fold(kind: str, data: Dataset, members: int, seed: int, split: Any) -> tuple[list[float], list[float]]:
    train, test = split
    known, new, truth = rows(data.X, train), rows(data.X, test), data.Y[test]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if kind == "emodt":
            ours = EMODTClassifier(members, random_state=seed).fit(known, data.Y[train])
            return losses(ours, new, truth), forest_losses(ours, members, seed, known, data.Y[train], new, truth)
        known, new = numbers(known), numbers(new)
        scaler = StandardScaler(with_mean=not issparse(known)).fit(known)
        known, new = scaler.transform(known), scaler.transform(new)
        ensemble = {"ebr": EBRClassifier, "ecc": ECCClassifier}[kind]
        fast, slow = (ensemble(learner, members, random_state=seed) for learner in (FAST, SLOW))
        fast, slow = (side.fit(known, data.Y[train]) for side in (fast, slow))
    assert [hasattr(side.members_, "members") for side in (fast, slow)] == [False, True]  # who is solved by whom
    return losses(fast, new, truth), losses(slow, new, truth)


def losses(ensemble: Any, X: Any, truth: np.ndarray) -> list[float]:
    """The three losses, each with the aggregation that the paper advises for it."""
    return [1 - ensemble.set_params(loss=loss).score(X, truth) for loss in LOSSES]


def forest_losses(
    ours: EMODTClassifier, members: int, seed: int, known: Any, Y: np.ndarray, new: Any, truth: np.ndarray
) -> list[float]:
    known, new = (X.toarray() if issparse(X) else X for X in map(numbers, (known, new)))
    settings = {name: getattr(ours, name) for name in ("max_features", "min_samples_leaf")}
    forest = RandomForestRegressor(members, random_state=seed, **settings).fit(known, Y)
    observed = Observed.of(Y)
    beliefs = [Marginals(np.clip(tree.predict(new), 0, 1), observed) for tree in forest.estimators_]
    found = []
    for name in LOSSES:
        labeling = decide(beliefs, name)
        found.append(float(get_loss(name).value(truth, labeling).mean()))
    return found


def numbers(X: Any) -> Any:
    """Nominal features as codes, as EMODT has them."""
    if not hasattr(X, "columns"):
        return X
    return X.apply(lambda column: column.cat.codes if column.dtype == "category" else column).to_numpy(float)


def rows(X: Any, which: np.ndarray) -> Any:
    return X.iloc[which] if hasattr(X, "iloc") else X[which]
