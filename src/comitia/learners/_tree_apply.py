"""What trees say of instances: which leaves they fall into, and the mean of what those hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from comitia._errors import ComitiaError
from comitia.learners._tree_input import check_features
from comitia.learners._tree_leaves import add_proportions, over_blocks, walk

if TYPE_CHECKING:
    from comitia.learners._tree import MultiObjectiveTree


def apply_trees(
    trees: Sequence[MultiObjectiveTree], X: ArrayLike | sparse.sparray, about: NDArray[np.bool_] | None = None
) -> NDArray[np.int32]:
    """Return the number of the leaf that each row of X falls into in each of M trees, (M, n).

    A sparse X is made dense a slice at a time.  ``about``, (M, n), says which trees are asked about which rows; where
    it is false a leaf is 0.
    """
    _check_trees(trees)
    X = check_features(X, least=0)
    n, d = X.shape
    if d != trees[0].n_features:
        raise ComitiaError(f"X has {d} features, but the trees were grown on {trees[0].n_features}.")
    leaves = np.empty((len(trees), n), np.int32)
    all_rows = np.ones(n, np.bool_)

    def walk_rows(rows: slice) -> None:
        x = X[rows].toarray() if sparse.issparse(X) else np.ascontiguousarray(X[rows])
        for m, tree in enumerate(trees):
            asked = all_rows if about is None else about[m]
            walk(x, tree.feature, tree.threshold, tree.right, tree.missing_left, asked[rows], leaves[m, rows])

    over_blocks(walk_rows, n, d)
    return leaves


def mean_marginals(
    trees: Sequence[MultiObjectiveTree],
    leaves: NDArray[np.integer[Any]],
    mass: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the mean marginals (n, K) of the leaves that n instances fall into in M trees, (M, n).

    Trees are summed in their order for every instance, so that the result does not depend on how instances are
    sliced.  Costs O(labels in the leaves).  ``mass``, (M, 1) or (M, n), weighs the trees; by default they are equal.
    """
    _check_trees(trees)
    for tree, its_leaves in zip(trees, leaves, strict=True):
        if its_leaves.size and not 0 <= its_leaves.min() <= its_leaves.max() < tree.n_leaves:
            raise ComitiaError(
                f"leaves must be numbers from 0 to {tree.n_leaves - 1} for a tree with {tree.n_leaves} leaves; "
                f"got {its_leaves.min()} to {its_leaves.max()}."
            )
    mean = np.zeros((leaves.shape[1], trees[0].n_labels))
    weights = [tree.leaf_weight for tree in trees]
    shares = np.ones((len(trees), 1)) if mass is None else mass
    total = shares.sum(axis=0)

    def average_rows(rows: slice) -> None:
        some = rows if len(total) > 1 else slice(None)
        for tree, weight, its_leaves, its_mass in zip(trees, weights, leaves, shares[:, some], strict=True):
            table = tree.labels
            add_proportions(its_leaves[rows], table.starts, table.indices, table.counts, weight, its_mass, mean[rows])
        mean[rows] /= total[some, None]
        np.minimum(mean[rows], 1.0, out=mean[rows])

    over_blocks(average_rows, *mean.shape)
    return mean


def _check_trees(trees: Sequence[MultiObjectiveTree]) -> None:
    if not trees:
        raise ComitiaError("at least one tree is needed; got none.")
    if len({(tree.n_features, tree.n_labels) for tree in trees}) > 1:
        raise ComitiaError("the trees were grown on different numbers of features or labels.")
