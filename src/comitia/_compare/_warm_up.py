"""Compiling ahead: every loop once, or those that a run will use."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import make_multilabel_classification

from comitia._compiled import is_kept
from comitia.aggregation import AGGREGATIONS
from comitia.datasets import Dataset
from comitia.ensembles import ENSEMBLES, CommitteeClassifier, EMODTClassifier
from comitia.experiments import Plan, run_plan
from comitia.learners._few_rows import FEW
from comitia.losses import LOSSES
from comitia.relevance import READINGS
from comitia.relevance._kernels import count_votes

_FEW = FEW + 8
"""Instances a fold that are enough to have all loops compiled: fewer are predicted by loops of their own."""


def are_compiled() -> bool:
    """Whether an earlier process has left loops for this one."""
    return is_kept(count_votes)


def compile_for(plan: Plan, data: Mapping[str, Dataset]) -> None:
    """Compute a cell of each ensemble on a few instances, so that not every process of the run compiles the same."""
    few = {name: known.take(np.arange(min(_FEW * plan.folds, known.n_instances))) for name, known in data.items()}
    cells = [cell for cell in plan.cells() if cell.fold == cell.repeat == 0 and cell.dataset in few]
    if cells:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of so few instances
            run_plan(plan, data=few, cells=cells, n_jobs=1)


def compile_all() -> None:
    """Compile all loops, by fitting small ensembles of all kinds and deciding in all ways."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of data that is made up
        for ensemble, X, Y in _ensembles():
            _decide(ensemble.fit(X, Y), X)


def _ensembles() -> Iterator[tuple[Any, Any, Any]]:
    """Yield small ensembles of all kinds, each with dense and with sparse data."""
    X, Y = make_multilabel_classification(n_samples=90, n_features=6, n_classes=4, random_state=0)
    Y = np.column_stack([Y, np.arange(90) % 15 == 0])  # chains keep what few instances have as a sparse column
    for features in (X, csr_array(X)):
        for kind, ensemble in ENSEMBLES.items():
            if ensemble is CommitteeClassifier:
                continue
            ways: list[dict[str, Any]] = [{}]
            if kind == "ecc":
                ways.append({"chain_method": "joint"})
            elif kind == "emodt":
                ways.append({"splitter": "random"})
            for way in ways:
                yield ensemble(n_estimators=3, random_state=0, oob_score=True, **way), features, Y
    yield EMODTClassifier(3, random_state=0), X, csr_array(Y)
    yield CommitteeClassifier(random_state=0), X[:60], Y[:60]


def _decide(ensemble: Any, X: Any) -> None:
    ensemble.predict_proba(X)
    if isinstance(ensemble, CommitteeClassifier):
        ensemble.predict(X)
        return
    for loss, aggregation, reading in product(LOSSES, AGGREGATIONS, READINGS):
        ensemble.set_params(loss=loss, aggregation=None, reading=reading)
        if ensemble.can_decide_by(AGGREGATIONS[aggregation]):
            ensemble.set_params(aggregation=aggregation).predict(X)
