"""What the leaves of a tree hold: sparse counts, and the compiled loops that fill and read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


def count_in_leaves(
    rows: Any, bounds: Any, starts: Any, indices: Any, n_columns: int, sample_weight: Any
) -> LeafCounts:
    """Sum the weights of the columns that ``rows[bounds[l] : bounds[l + 1]]`` have, for every leaf l."""
    most = int((starts[rows + 1] - starts[rows]).sum())
    found, counts = np.empty(most, np.int32), np.empty(most)
    leaf_starts = np.zeros(len(bounds), np.int64)
    _count(rows, bounds, starts, indices, sample_weight, np.zeros(n_columns), leaf_starts, found, counts)
    m = leaf_starts[-1]
    ascending, in_order = np.empty(m, np.int32), np.empty(m)
    _put_in_order(
        leaf_starts, found[:m], counts[:m], np.zeros(n_columns + 1, np.int64), np.empty(m, np.int64),
        np.empty(m, np.int64), leaf_starts.copy(), ascending, in_order,
    )  # fmt: skip
    return LeafCounts(leaf_starts, ascending, in_order)


@njit(cache=True, nogil=True)
def _count(rows, bounds, starts, indices, sample_weight, sums, leaf_starts, found, counts):  # type: ignore[no-untyped-def]
    """Fill in the columns of each leaf, in the order in which they are met, and their weights; ``sums`` holds zeros."""
    filled = 0
    for leaf in range(len(bounds) - 1):
        first = filled
        for r in range(bounds[leaf], bounds[leaf + 1]):
            row = rows[r]
            for t in range(starts[row], starts[row + 1]):
                k = indices[t]
                if sums[k] == 0.0:
                    found[filled] = k
                    filled += 1
                sums[k] += sample_weight[row]
        for t in range(first, filled):
            counts[t] = sums[found[t]]
            sums[found[t]] = 0.0
        leaf_starts[leaf + 1] = filled


@njit(cache=True, nogil=True)
def _put_in_order(  # type: ignore[no-untyped-def]
    starts, indices, counts, firsts, by_column, leaf_of, following, ascending, in_order
):
    """Sort the entries of each leaf by their columns: all entries by columns, and then again by leaves.

    ``firsts`` holds zeros, ``following`` the starts; the two before it are room to sort in.
    """
    m = len(indices)
    for t in range(m):
        firsts[indices[t] + 1] += 1
    for k in range(len(firsts) - 1):
        firsts[k + 1] += firsts[k]
    for leaf in range(len(starts) - 1):
        for t in range(starts[leaf], starts[leaf + 1]):
            k = indices[t]
            by_column[firsts[k]] = t
            leaf_of[t] = leaf
            firsts[k] += 1
    for r in range(m):
        t = by_column[r]
        at = following[leaf_of[t]]
        ascending[at] = indices[t]
        in_order[at] = counts[t]
        following[leaf_of[t]] = at + 1


@njit(cache=True, nogil=True)
def walk(X, feature, threshold, right, missing_left, asked, leaves):  # type: ignore[no-untyped-def]
    """Fill ``leaves`` with the number of the leaf that each row of X falls into, zero for rows nobody asks about."""
    for i in range(X.shape[0]):
        if not asked[i]:
            leaves[i] = 0
            continue
        node = np.uint32(0)
        while feature[node] >= 0:
            x = X[i, np.uint32(feature[node])]
            if x <= threshold[node] or (missing_left[node] and np.isnan(x)):
                node += np.uint32(1)
            else:
                node = np.uint32(right[node])
        leaves[i] = right[node]


@njit(cache=True, nogil=True, error_model="numpy")
def add_proportions(leaves, starts, indices, counts, weight, mass, out):  # type: ignore[no-untyped-def]
    """Add the proportions of the leaf of each instance, times the mass (1,) of all or (n,) of each, to ``out``."""
    each = len(mass) > 1
    for i in range(len(leaves)):
        leaf, scale = np.uint32(leaves[i]), mass[i if each else 0]
        if scale == 0.0:
            continue
        for t in range(np.uint64(starts[leaf]), np.uint64(starts[leaf + 1])):
            out[i, np.uint32(indices[t])] += scale * (counts[t] / weight[leaf])
