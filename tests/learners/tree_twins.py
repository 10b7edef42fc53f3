"""What the trees do, from the definitions and in plain NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from comitia.learners._tree import MultiObjectiveTree

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


def make_data(n: int, d: int, K: int, seed: int = 0, *, kind: str = "continuous") -> tuple[Floats, Labels]:
    """Return labels that depend on features which are continuous, of few values, mostly zero, or partly missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "few values":
        X = rng.integers(-2, 3, (n, d)).astype(float)
    if kind == "mostly zero":
        X[rng.random((n, d)) < 0.8] = 0.0
    scores = X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K))
    if kind == "missing":
        X[rng.random((n, d)) < 0.2] = np.nan
    return X, (scores > np.quantile(scores, 0.7, axis=0)).astype(np.int8)


def score(Y: Labels, weight: Floats, left: NDArray[np.bool_]) -> float:
    """Return Σ L² / w + Σ R² / (W − w), which is largest where the impurity falls the most."""
    return float(sum(((weight[side] @ Y[side]) ** 2).sum() / weight[side].sum() for side in (left, ~left)))


def best_score(X: Floats, Y: Labels, weight: Floats, min_samples_leaf: int = 1) -> float:
    """Return the best score over all cuts of all features, with missing values on either side."""
    best = -1.0
    for x in X.T:
        missing = np.isnan(x)
        present = np.unique(x[~missing])
        sides = [x <= cut for cut in present[:-1]]
        sides += [side | missing for side in sides] + [missing]
        for left in sides:
            if min(left.sum(), (~left).sum()) >= min_samples_leaf:
                best = max(best, score(Y, weight, left))
    return best


def goes_left(tree: MultiObjectiveTree, node: int, X: Floats) -> NDArray[np.bool_]:
    x = X[:, tree.feature[node]]
    return np.where(np.isnan(x), tree.missing_left[node], x <= tree.threshold[node])


def nodes_of(tree: MultiObjectiveTree, X: Floats) -> dict[int, NDArray[np.int64]]:
    """Return the rows of X that pass through each node."""
    passing = {0: np.arange(len(X))}
    for node in range(tree.n_nodes):
        if tree.feature[node] >= 0:
            rows = passing[node]
            left = goes_left(tree, node, X[rows])
            passing[node + 1], passing[int(tree.right[node])] = rows[left], rows[~left]
    return passing


def leaves_of(tree: MultiObjectiveTree, X: Floats) -> NDArray[np.int64]:
    """Return the number of the leaf of each row of X."""
    leaves = np.empty(len(X), np.int64)
    for node, rows in nodes_of(tree, X).items():
        if tree.feature[node] < 0:
            leaves[rows] = tree.right[node]
    return leaves


def proportions(leaves: NDArray[np.int64], n_leaves: int, columns: NDArray[np.generic], weight: Floats) -> Floats:
    """Return the weighted mean of ``columns`` over the instances of each leaf."""
    member = (leaves[:, np.newaxis] == np.arange(n_leaves)) * weight[:, np.newaxis]
    return (member.T @ columns) / member.sum(axis=0)[:, np.newaxis]
