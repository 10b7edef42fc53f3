"""Data of mediamill's size, made from 2,000 of its rows.

The paper trains on folds of the full dataset: 39,516 instances, 120 features, 101 labels.  Where only a
sample of the rows is at hand, these are drawn again with replacement and made to differ:

- every feature gets Gaussian noise of half its standard deviation, so that copies of a row do not coincide;
- every relevant label is, with probability 1/10, traded for another drawn by the labels' frequencies, so that
  copies of a row disagree as neighbours do and no learner separates them.  The frequencies are smoothed by 20
  occurrences a label, because five labels are absent from the sample and none is from the full data (where
  the rarest occurs 31 times).  The mean number of labels stays near 4.3.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from comitia.datasets import load_mulan

FEATURE_NOISE = 0.5
LABEL_NOISE = 0.1
SMOOTHING = 20


def mediamill_size(data_folder: Path, n: int = 39_516, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return (X, Y) of mediamill's size: X (n, 120) float64, Y (n, 101) int8."""
    folder = data_folder / "mediamill-2000"
    sample = load_mulan(folder / "mediamill-2000.arff", folder / "mediamill-2000.xml")
    X, Y = sample.X, sample.Y
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(X), size=n)
    noise = FEATURE_NOISE * X.std(axis=0) * rng.standard_normal((n, X.shape[1]))
    return X[rows] + noise, _trade_labels(Y[rows], Y.sum(axis=0) + SMOOTHING, rng)


def _trade_labels(Y: np.ndarray, frequency: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    traded = Y.copy()
    rows, labels = np.nonzero(Y)
    leaves = rng.random(len(rows)) < LABEL_NOISE
    traded[rows[leaves], labels[leaves]] = 0
    drawn = rng.choice(Y.shape[1], size=int(leaves.sum()), p=frequency / frequency.sum())
    traded[rows[leaves], drawn] = 1
    return traded
