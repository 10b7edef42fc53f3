"""Multi-objective decision trees whose cost follows the labels that instances have, not the labels that exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from numbers import Integral
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from comitia._threads import over_slices
from comitia.learners._tree_codes import FeatureCodes, encode
from comitia.learners._tree_growth import grow
from comitia.learners._tree_leaves import LeafCounts, add_proportions, count_in_leaves, walk

_ROWS_AT_ONCE = 1024
"""Instances that one tree sees before the next tree does: their features and marginals stay in the cache."""


@dataclass(frozen=True, eq=False)
class MultiObjectiveTree:
    """One decision tree for all labels, in plain arrays.

    Nodes are numbered in preorder: the root is 0 and the left child of a node is the next node.  An instance goes left
    if its value is at most the threshold.  Leaves are also numbered on their own, in the same order.

    Parameters
    ----------
    n_features, n_labels : int
        Shape of the data that the tree was grown on.
    feature : (n_nodes,) array of int32
        Feature that the node asks for; −1 in a leaf.
    threshold : (n_nodes,) array of float64
        NaN in a leaf.
    right : (n_nodes,) array of int32
        Right child; in a leaf the number of the leaf.
    missing_left : (n_nodes,) array of bool
        Where missing values go.
    impurity : (n_nodes,) array of float64
        Gini impurity, the mean over the labels of 2 p (1 − p).
    weight : (n_nodes,) array of float64
        Sum of the sample weights.
    n_samples : (n_nodes,) array of int32
        Number of instances with a positive weight.
    labels : LeafCounts
        Weight of the labels in each leaf.
    labelsets : LeafCounts or None
        Weight of the distinct labelsets in each leaf, if they were asked for.
    n_labelsets : int
        Number of columns of ``labelsets``.
    """

    n_features: int
    n_labels: int
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    impurity: NDArray[np.float64]
    weight: NDArray[np.float64]
    n_samples: NDArray[np.int32]
    labels: LeafCounts
    labelsets: LeafCounts | None = None
    n_labelsets: int = 0

    @property
    def n_nodes(self) -> int:
        """Number of nodes, inner ones and leaves."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.labels.starts) - 1

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return self.feature < 0

    @property
    def leaf_weight(self) -> NDArray[np.float64]:
        """Sum of the sample weights in each leaf."""
        return self.weight[self.is_leaf]

    @property
    def depth(self) -> int:
        """Number of questions on the longest way from the root to a leaf."""
        depth = np.zeros(self.n_nodes, np.int64)
        for node in np.flatnonzero(~self.is_leaf):
            depth[node + 1] = depth[self.right[node]] = depth[node] + 1
        return int(depth.max())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the decrease of impurity; zeros if the tree is a single leaf."""
        inner = np.flatnonzero(~self.is_leaf)
        total = self.weight * self.impurity
        decrease = total[inner] - total[inner + 1] - total[self.right[inner]]
        importances = np.bincount(self.feature[inner], decrease, minlength=self.n_features)
        return importances / importances.sum() if importances.sum() > 0 else importances

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the number of the leaf, 0 to ``n_leaves`` − 1, that each row of X falls into."""
        return apply_trees([self], X)[0]

    def leaf_marginals(self) -> sparse.csr_array:
        """Return the weighted proportion of each label in each leaf, (n_leaves, K)."""
        return self._proportions(self.labels, self.n_labels)

    def leaf_labelsets(self) -> sparse.csr_array:
        """Return the weighted proportion of each labelset in each leaf, (n_leaves, U); rows sum to 1."""
        if self.labelsets is None:
            raise ValueError("the leaves hold no labelsets: grow_trees(…, labelsets=…) keeps them")
        return self._proportions(self.labelsets, self.n_labelsets)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the marginals of the leaf that each row of X falls into, (n, K)."""
        return mean_marginals([self], self.apply(X)[np.newaxis])

    def _proportions(self, table: LeafCounts, n_columns: int) -> sparse.csr_array:
        proportions = table.counts / np.repeat(self.leaf_weight, np.diff(table.starts))
        return sparse.csr_array((proportions, table.indices, table.starts), shape=(self.n_leaves, n_columns))


def grow_trees(
    X: ArrayLike,
    Y: ArrayLike,
    seeds: Sequence[int] | NDArray[Any],
    *,
    sample_weight: ArrayLike | Iterable[ArrayLike] | None = None,
    labelsets: ArrayLike | None = None,
    max_features: Literal["sqrt"] | int | float | None = "sqrt",
    min_samples_leaf: int = 1,
    min_samples_split: int = 2,
    max_depth: int | None = None,
    min_impurity_decrease: float = 0.0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[MultiObjectiveTree]:
    """Grow one tree per seed."""
    X, n = _checked_features(X)
    starts, labels, n_labels = _sparse_labels(Y, n)
    M = len(seeds)
    codes = encode(X)
    number = _n_features_to_try(max_features, X.shape[1])
    which = None if labelsets is None else np.ascontiguousarray(labelsets, dtype=np.int32)
    depth = np.iinfo(np.int32).max if max_depth is None else max_depth

    def one(seed: int, weight: NDArray[np.float64]) -> MultiObjectiveTree:
        grown = grow(
            codes.codes, codes.n_values, codes.common, starts, labels, n_labels, weight, np.uint64(seed),
            number, min_samples_leaf, min_samples_split, depth, min_impurity_decrease,
        )  # fmt: skip
        feature, right, missing_left, impurity, node_weight, n_samples, low, high, rows, bounds = grown
        counts = LeafCounts(*count_in_leaves(rows, bounds, starts, labels, n_labels, weight))
        sets, n_sets = None, 0
        if which is not None:
            n_sets = int(which.max()) + 1
            each = np.arange(n + 1, dtype=np.int64)
            sets = LeafCounts(*count_in_leaves(rows, bounds, each, which, n_sets, weight))
        threshold = _thresholds(codes, feature, low, high)
        return MultiObjectiveTree(
            codes.codes.shape[0], n_labels, feature, threshold, right, missing_left, impurity, node_weight, n_samples,
            counts, sets, n_sets,
        )  # fmt: skip

    jobs = (delayed(one)(int(s), w) for s, w in zip(seeds, _weights(sample_weight, n, M), strict=True))
    return list(Parallel(n_jobs=n_jobs, require="sharedmem", verbose=verbose)(jobs))


def apply_trees(trees: Sequence[MultiObjectiveTree], X: ArrayLike) -> NDArray[np.int32]:
    """Return the leaf of each row of X in each tree, (M, n)."""
    X, n = _checked_features(X)
    leaves = np.empty((len(trees), n), np.int32)

    def go(rows: slice) -> None:
        for start in range(rows.start, rows.stop, _ROWS_AT_ONCE):
            chunk = slice(start, min(start + _ROWS_AT_ONCE, rows.stop))
            x = X[chunk].toarray() if sparse.issparse(X) else np.ascontiguousarray(X[chunk])
            for tree, out in zip(trees, leaves, strict=True):
                walk(x, tree.feature, tree.threshold, tree.right, tree.missing_left, out[chunk])

    over_slices(go, n)
    return leaves


def mean_marginals(trees: Sequence[MultiObjectiveTree], leaves: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the mean over the trees of the marginals of ``leaves``, (M, n), as an (n, K) array."""
    n = leaves.shape[1]
    mean = np.zeros((n, trees[0].n_labels))
    weights = [tree.leaf_weight for tree in trees]

    def go(rows: slice) -> None:
        for start in range(rows.start, rows.stop, _ROWS_AT_ONCE):
            chunk = slice(start, min(start + _ROWS_AT_ONCE, rows.stop))
            for tree, weight, its in zip(trees, weights, leaves, strict=True):
                t = tree.labels
                add_proportions(its[chunk], t.starts, t.indices, t.counts, weight, mean[chunk])
            mean[chunk] /= len(trees)

    over_slices(go, n)
    return mean


def _checked_features(X: Any) -> tuple[Any, int]:
    if sparse.issparse(X):
        X = sparse.csr_array(X)
    else:
        X = np.asarray(X)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, instances and features; it has shape {X.shape}")
    return X, X.shape[0]


def _sparse_labels(Y: Any, n: int) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    rows = sparse.csr_array(Y)
    rows.sort_indices()
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.shape[1]


def _weights(sample_weight: Any, n: int, M: int) -> Iterator[NDArray[np.float64]]:
    if sample_weight is None:
        sample_weight = np.ones((n, 1))
    if isinstance(sample_weight, np.ndarray):
        if sample_weight.ndim == 1:
            sample_weight = sample_weight[:, None]
        sample_weight = np.broadcast_to(sample_weight, (n, M)).T
    for w in sample_weight:
        yield np.ascontiguousarray(w, dtype=np.float64)


def _n_features_to_try(max_features: Any, d: int) -> int:
    if max_features is None:
        return d
    if max_features == "sqrt":
        return max(1, int(sqrt(d)))
    if isinstance(max_features, Integral):
        return int(max_features)
    return max(1, int(max_features * d))


def _thresholds(codes: FeatureCodes, feature: Any, low: Any, high: Any) -> NDArray[np.float64]:
    threshold = np.full(len(feature), np.nan)
    offsets = np.concatenate([[0], np.cumsum(codes.n_values)])
    values = np.concatenate(codes.values)
    inner = feature >= 0
    base = offsets[feature[inner]]
    a = np.where(low[inner] >= 0, values[np.maximum(base + low[inner], 0)], -np.inf)
    b = np.where(high[inner] >= 0, values[np.minimum(base + high[inner], len(values) - 1)], np.inf)
    with np.errstate(invalid="ignore"):
        middle = a / 2 + b / 2
    threshold[inner] = np.where((a <= middle) & (middle < b), middle, a)
    threshold[inner] = np.where(np.isinf(b), np.inf, threshold[inner])
    return threshold
