"""What a tree would believe had it stopped earlier: one grown tree holds all those with larger nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from comitia.learners._tree import MultiObjectiveTree


def cut_back(tree: MultiObjectiveTree, min_samples_split: int) -> tuple[NDArray[np.intp], sparse.csr_array]:
    """Return the leaf that each leaf is part of if smaller nodes are not split, and the marginals of these leaves.

    A node of fewer than ``min_samples_split`` instances becomes a leaf.  Nodes only get smaller downwards, so that the
    tree which is left is one that could have been grown with this limit.  Costs O(nodes + counts in the leaves).

    Returns
    -------
    array of int, shape (n_leaves,)
    csr_array, shape (leaves that are left, K)

    Examples
    --------
    >>> from comitia.learners import grow_trees
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[1], [1], [1], [0]]
    >>> (tree,) = grow_trees(X, Y, seeds=[0])
    >>> part_of, marginals = cut_back(tree, 5)
    >>> part_of, marginals.toarray()
    (array([0, 0]), array([[0.75]]))
    """
    ends = tree.is_leaf | (tree.n_samples < min_samples_split)
    inner = np.flatnonzero(~tree.is_leaf)
    parent = np.zeros(tree.n_nodes, np.intp)
    parent[inner + 1] = parent[tree.right[inner]] = inner
    first = ends & ~ends[parent]
    first[0] = ends[0]
    # In preorder the leaves below a node follow it before any other node's do.
    part_of = (np.cumsum(first) - 1)[tree.is_leaf]
    n = int(first.sum())
    merge = sparse.csr_array((np.ones(len(part_of)), (part_of, np.arange(len(part_of)))), shape=(n, len(part_of)))
    counts = sparse.csr_array(
        (tree.labels.counts, tree.labels.indices, tree.labels.starts), shape=(tree.n_leaves, tree.n_labels)
    )
    weight = np.bincount(part_of, tree.leaf_weight, n)
    return part_of, sparse.csr_array((merge @ counts).multiply(1 / weight[:, None]))
