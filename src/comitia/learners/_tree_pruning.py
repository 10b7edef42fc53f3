"""What a tree would believe had it stopped earlier: one grown tree holds all those with larger nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from comitia.learners._tree import MultiObjectiveTree


def cut_back(tree: MultiObjectiveTree, min_samples_split: int, marginals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the marginals in each leaf if smaller nodes are not split, (n_leaves, L).

    A node of fewer than ``min_samples_split`` instances becomes a leaf.  Nodes only get smaller downwards, so that the
    tree which is left is one that could have been grown with this limit.  Costs O(nodes + leaves · L).

    Parameters
    ----------
    marginals : array of float, shape (n_leaves, L)
        Proportions of some labels in each leaf of the grown tree.

    Examples
    --------
    >>> from comitia.learners import grow_trees
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[1], [1], [1], [0]]
    >>> (tree,) = grow_trees(X, Y, seeds=[0])
    >>> cut_back(tree, 5, np.array([[1.0], [0.0]]))
    array([[0.75],
           [0.75]])
    """
    ends = tree.is_leaf | (tree.n_samples < min_samples_split)
    inner = np.flatnonzero(~tree.is_leaf)
    parent = np.zeros(tree.n_nodes, np.intp)
    parent[inner + 1] = parent[tree.right[inner]] = inner
    first = ends & ~ends[parent]
    first[0] = ends[0]
    # In preorder the leaves below a node follow it before any other node's do.
    part_of = (np.cumsum(first) - 1)[tree.is_leaf]
    starts = np.flatnonzero(np.diff(part_of, prepend=-1))
    weight = tree.leaf_weight[:, np.newaxis]
    mean = np.add.reduceat(weight * marginals, starts) / np.add.reduceat(weight, starts)
    return np.asarray(mean[part_of])
