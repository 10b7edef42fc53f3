"""What the leaves of a tree hold: sparse counts, and the compiled loops that fill and read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comitia._arrays import check_form
from comitia._compiled import njit
from comitia._errors import ComitiaError
from comitia._threads import over_slices

_ROWS_AT_ONCE = 8192
_CELLS_AT_ONCE = 2**22
"""Most instances that a tree sees before the next one does, and most numbers that they may have as a dense array."""

_ROUNDING = 1e-6
"""Share by which two sums of the same weights, in different orders, may differ."""


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

    def check(self, n_columns: int, leaf_weight: NDArray[np.float64]) -> None:
        """Raise ComitiaError unless these are counts in leaves of these weights, of columns that exist.

        Compiled loops follow ``starts`` and ``indices``, and what is read is taken for a proportion: every count is
        positive and at most the weight of its leaf.
        """
        check_form("the starts of leaves", self.starts, np.int64, (len(leaf_weight) + 1,))
        entries = self.indices.size if isinstance(self.indices, np.ndarray) else None
        check_form("the columns that leaves count", self.indices, np.int32, (entries,))
        check_form("the counts of leaves", self.counts, np.float64, (entries,))
        if self.starts[0] != 0 or self.starts[-1] != entries or (self.starts[1:] < self.starts[:-1]).any():
            raise ComitiaError(f"the starts of leaves must ascend from 0 to {entries}, the number of their counts.")
        if entries and not 0 <= self.indices.min() <= self.indices.max() < n_columns:
            raise ComitiaError(
                f"leaves must count columns from 0 to {n_columns - 1}; "
                f"got {self.indices.min()} to {self.indices.max()}."
            )
        first = np.zeros(len(self.indices) + 1, np.bool_)
        first[self.starts] = True
        if not (first[1:-1] | (self.indices[1:] > self.indices[:-1])).all():
            raise ComitiaError("the columns that a leaf counts must ascend.")
        most = np.repeat(leaf_weight, np.diff(self.starts)) * (1 + _ROUNDING)
        if not ((self.counts > 0) & (self.counts <= most)).all():
            raise ComitiaError("the counts of a leaf must be positive and at most its weight.")

    def check_complete(self, leaf_weight: NDArray[np.float64]) -> None:
        """Raise ComitiaError unless the counts of every leaf sum to its weight."""
        sums = np.bincount(np.repeat(np.arange(len(leaf_weight)), np.diff(self.starts)), self.counts, len(leaf_weight))
        if not (np.abs(sums - leaf_weight) <= _ROUNDING * leaf_weight).all():
            raise ComitiaError("the counts of labelsets must sum to the weight of their leaf.")


def over_blocks(work: Callable[[slice], None], n: int, width: int) -> None:
    """Call ``work``, in threads, on slices of n rows of the given width that are not too large together."""
    most = max(1, min(_ROWS_AT_ONCE, _CELLS_AT_ONCE // width))

    def in_blocks(rows: slice) -> None:
        for start in range(rows.start, rows.stop, most):
            work(slice(start, min(start + most, rows.stop)))

    over_slices(in_blocks, n)


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
