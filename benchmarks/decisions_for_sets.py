"""Macro- and micro-F1 of trees cut at one half, tuned out of bag, and beside scikit-learn's thresholds: three folds.

scikit-learn's are those of ``MultiOutputClassifier(TunedThresholdClassifierCV(forest, cv=3, scoring="f1"))``: for every
label a forest of as many trees, fitted four times.  It cannot be fitted on labels that fewer than five training
instances have, or lack; these are predicted as most instances have them.  Both sides have one core.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, TunedThresholdClassifierCV
from sklearn.multioutput import MultiOutputClassifier

from benchmarks.case import DATA, Case
from benchmarks.quality import numbers, rows
from comitia import EMODTClassifier
from comitia.datasets import fetch_dataset

DATASETS = ("emotions", "scene", "yeast", "medical")
M = 20
FEWEST = 5
AVERAGES = ("macro", "micro")


def run(quick: bool = False) -> Iterator[Case]:
    for name in DATASETS[:1] if quick else DATASETS:
        yield from of_dataset(name)


def of_dataset(name: str) -> Iterator[Case]:
    data = fetch_dataset(name, data_home=DATA)
    folds = [one_fold(data, *split) for split in KFold(3, shuffle=True, random_state=0).split(data.Y)]
    for average in AVERAGES:
        half, tuned, peer = (100 * np.array([fold[side][average] for fold in folds]) for side in range(3))
        note = ", ".join(
            f"{what} {values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"
            for what, values in (("one half", half), ("tuned", tuned), ("scikit-learn", peer))
        )
        gain = float(np.mean(tuned - half))
        yield Case(f"{name}, {average}-F1 gained", "the cut at one half", gain, 0, note, unit="points")
    ours, theirs = (sum(fold[side]["seconds"] for fold in folds) for side in (1, 2))
    note = f"{ours:.1f} s and {theirs:.1f} s"
    yield Case(f"{name}, time", "TunedThresholdClassifierCV", theirs / ours, 10, note)


def one_fold(data: Any, train: np.ndarray, test: np.ndarray) -> list[dict[str, float]]:
    """Return scores and seconds of the cut at one half, of what is tuned out of bag, and of scikit-learn's."""
    known, new, Y, truth = rows(data.X, train), rows(data.X, test), data.Y[train], data.Y[test]
    start = time.perf_counter()
    forest = EMODTClassifier(M, oob_score=True, random_state=0).fit(known, Y)
    half = dict.fromkeys(AVERAGES, forest.predict(new))
    tuned = {average: forest.set_params(loss=f"{average}-f1").predict(new) for average in AVERAGES}
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    peer = dict.fromkeys(AVERAGES, thresholds(numbers(known), Y, numbers(new)))
    return [
        {average: f1_score(truth, found[average], average=average, zero_division=0) for average in AVERAGES}
        | {"seconds": taken}
        for found, taken in ((half, seconds), (tuned, seconds), (peer, time.perf_counter() - start))
    ]


def thresholds(X: Any, Y: np.ndarray, new: Any) -> np.ndarray:
    base = RandomForestClassifier(M, max_features="sqrt", min_samples_leaf=4, random_state=0)
    counts = Y.sum(axis=0)
    able = (counts >= FEWEST) & (len(Y) - counts >= FEWEST)
    found = np.tile((2 * counts > len(Y)).astype(int), (new.shape[0], 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tuner = MultiOutputClassifier(TunedThresholdClassifierCV(base, cv=3, scoring="f1"))
        found[:, able] = tuner.fit(X, Y[:, able]).predict(new)
    return found
