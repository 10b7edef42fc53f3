"""What the leaves of a tree hold: sparse counts, and the compiled loops that fill and read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from comitia._errors import ComitiaError


@dataclass(frozen=True, eq=False)
class LeafCounts:
    """Weights counted in each leaf, as the pieces of a CSR matrix: rows are leaves, columns labels or labelsets.

    Parameters
    ----------
    starts : (n_leaves + 1,) array of int64
        The entries of leaf l are those from ``starts[l]`` up to ``starts[l + 1]``.
    indices : array of int32
        Column of each entry, ascending within a leaf.
    counts : array of float64
        Weight of each entry, positive.
    """

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    counts: NDArray[np.float64]

    def check(self, n_columns: int) -> None:
        """Raise ValueError unless all entries are within bounds."""
        if not (
            len(self.starts) > 1
            and self.starts[0] == 0
            and self.starts[-1] == len(self.indices) == len(self.counts)
            and (np.diff(self.starts) >= 0).all()
            and ((self.indices >= 0) & (self.indices < n_columns)).all()
        ):
            raise ComitiaError(f"the counts of leaves must be rows of {n_columns} columns.")


@njit(cache=True, nogil=True)
def count_in_leaves(rows, bounds, starts, indices, n_columns, sample_weight):  # type: ignore[no-untyped-def]
    """Sum the weights of the columns that ``rows[bounds[l] : bounds[l + 1]]`` have, for every leaf l."""
    n_leaves = len(bounds) - 1
    most = 0
    for row in rows:
        most += starts[row + 1] - starts[row]
    leaf_starts = np.zeros(n_leaves + 1, np.int64)
    leaf_indices = np.empty(most, np.int32)
    leaf_counts = np.empty(most)
    sums = np.zeros(n_columns)
    for leaf in range(n_leaves):
        first = filled = leaf_starts[leaf]
        for row in rows[bounds[leaf] : bounds[leaf + 1]]:
            for t in range(starts[row], starts[row + 1]):
                k = indices[t]
                if sums[k] == 0.0:
                    leaf_indices[filled] = k
                    filled += 1
                sums[k] += sample_weight[row]
        leaf_indices[first:filled].sort()
        for t in range(first, filled):
            leaf_counts[t] = sums[leaf_indices[t]]
            sums[leaf_indices[t]] = 0.0
        leaf_starts[leaf + 1] = filled
    return leaf_starts, leaf_indices[:filled].copy(), leaf_counts[:filled].copy()


@njit(cache=True, nogil=True)
def walk(X, feature, threshold, right, missing_left, leaves):  # type: ignore[no-untyped-def]
    """Fill ``leaves`` with the number of the leaf that each row of X falls into."""
    for i in range(X.shape[0]):
        node = np.uint32(0)
        while feature[node] >= 0:
            x = X[i, np.uint32(feature[node])]
            if x <= threshold[node] or (missing_left[node] and np.isnan(x)):
                node += np.uint32(1)
            else:
                node = np.uint32(right[node])
        leaves[i] = right[node]


@njit(cache=True, nogil=True, error_model="numpy")
def add_proportions(leaves, starts, indices, counts, weight, out):  # type: ignore[no-untyped-def]
    """Add the proportions of the leaf of each instance to its row of ``out``."""
    for i in range(len(leaves)):
        leaf = np.uint32(leaves[i])
        for t in range(np.uint64(starts[leaf]), np.uint64(starts[leaf + 1])):
            out[i, np.uint32(indices[t])] += counts[t] / weight[leaf]
