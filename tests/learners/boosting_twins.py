"""What the boosted trees do, from the definitions and in plain NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from comitia.learners._boost_bins import bin_features
from comitia.learners._boosting import BoostedTrees
from comitia.learners._tree_codes import encode

Floats = NDArray[np.float64]


def gain_of(g: Floats, weight: Floats, left: NDArray[np.bool_], l2: float) -> float:
    """Return Σ G² / (w + λ) summed over both sides."""
    return float(
        sum(((weight[side] @ g[side]) ** 2).sum() / (weight[side].sum() + l2) for side in (left, ~left) if side.any())
    )


def binned(X: Floats, max_bins: int) -> Iterator[NDArray[np.bool_]]:
    """Yield who goes left for all cuts between bins, with missing values on either side.

    The bins are those of the library: how well values are spread over them is another matter.
    """
    bins = bin_features(encode(X), len(X), max_bins, listed_below=0.0)
    for b, n_bins in zip(bins.by_feature.reshape(X.shape[::-1]), bins.n_bins, strict=True):
        for cut in range(n_bins):
            yield b <= cut
            yield (b <= cut) | (b == n_bins)


def goes_left(model: BoostedTrees, node: int, X: Floats) -> NDArray[np.bool_]:
    x = X[:, model.feature[node]]
    return np.where(np.isnan(x), model.missing_left[node], x <= model.threshold[node])


def nodes_of_tree(model: BoostedTrees, tree: int, X: Floats) -> dict[int, NDArray[np.int64]]:
    """Return the rows of X in each leaf of one tree; leaves are numbered through the sequence."""
    first, end = model.tree_starts[tree : tree + 2]
    passing, leaves = {int(first): np.arange(len(X))}, {}
    for node in range(first, end):
        rows = passing[node]
        if model.feature[node] < 0:
            leaves[int(model.leaf_starts[tree] + model.right[node])] = rows
        else:
            left = goes_left(model, node, X[rows])
            passing[node + 1], passing[int(first + model.right[node])] = rows[left], rows[~left]
    return leaves


def scores_after(model: BoostedTrees, X: Floats, n_trees: int) -> Floats:
    """Return the log-odds that the first trees give."""
    scores = np.tile(model.base, (len(X), 1))
    for tree in range(n_trees):
        for leaf, rows in nodes_of_tree(model, tree, X).items():
            scores[rows] += model.values[leaf]
    return scores


def log_loss_of(scores: Floats, Y: NDArray[np.int8]) -> float:
    return float((np.logaddexp(0, scores) - Y * scores).mean())
