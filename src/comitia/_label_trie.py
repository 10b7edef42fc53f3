"""Label sets as a trie: sets that begin alike share what is known of their beginning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from comitia._compiled import njit
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray, check_labels

Index = NDArray[np.int32]

ROOM = 1 << 20  # entries that arrays have room for before they grow; what is not used costs nothing
NONE = -2  # the row of an instance that has none: -1 is that of a node that is no set


@dataclass(frozen=True, eq=False)
class LabelTrie:
    """Label sets, each a list of its labels in one order, as a trie in preorder.

    Node 0 is the root, the empty beginning; every other node adds one label to its parent's list.  The nodes of a
    subtree lie together, so that a walk is one pass over the nodes and leaving a subtree out is a jump.

    Parameters
    ----------
    order : int array, shape (K,)
        The label at each position.
    position : int array, shape (N,)
        Position of the label that a node adds; -1 for the root.
    depth : int array, shape (N,)
        Number of labels in the node's list.
    parent : int array, shape (N,)
        -1 for the root.
    skip : int array, shape (N,)
        The node after the subtree.
    set_of : int array, shape (N,)
        Row of the table that is exactly the node's list, or -1.
    n_sets : int
        Number of label sets, U.
    """

    order: NDArray[np.int64]
    position: Index
    depth: Index
    parent: Index
    skip: Index
    set_of: Index
    n_sets: int

    @classmethod
    def of(cls, table: LabelArray, order: IntArray) -> LabelTrie:
        """Build the trie of the distinct rows of ``table`` (U, K) in this order of the labels.

        Costs O(U K log U); a trie has at most one node for each relevant label of the table, and one more.

        Examples
        --------
        >>> import numpy as np
        >>> trie = LabelTrie.of(np.array([[1, 1, 0], [1, 0, 1], [0, 0, 0]], np.int8), np.array([0, 1, 2]))
        >>> trie.position.tolist(), trie.set_of.tolist()
        ([-1, 0, 2, 1], [2, -1, 1, 0])
        """
        ordered = table[:, order]
        padded = np.zeros((len(table), -(-table.shape[1] // 64) * 64), np.int8)
        padded[:, : table.shape[1]] = ordered
        words = np.packbits(padded, axis=1).view(">u8")
        by = np.lexsort(words.T[::-1])
        rows, positions = np.nonzero(ordered[by])
        starts = np.searchsorted(rows, np.arange(len(table) + 1))
        nodes, path = np.full((5, len(positions) + 1), -1, np.int32), np.empty(table.shape[1] + 1, np.int32)
        position, depth, parent, skip, set_of = nodes[:, : _build(starts, positions, by, path, *nodes)].copy()
        return cls(np.asarray(order, np.int64), position, depth, parent, skip, set_of, len(table))

    @classmethod
    def frequent_first(cls, table: LabelArray) -> LabelTrie:
        """Build the trie in the order of falling frequency in the table, in which most beginnings are shared."""
        return cls.of(table, np.argsort(-table.sum(axis=0, dtype=np.int64), kind="stable"))

    def share(self) -> FloatArray:
        """Share of the label sets that each subtree holds, (N,)."""
        count = (self.set_of >= 0).astype(np.float64)
        _add_to_parents(self.parent, count)
        return count / self.n_sets

    def largest(self, values: FloatArray) -> FloatArray:
        """Return the largest of the values (U,) of the sets in each subtree, (N,)."""
        found = np.where(self.set_of >= 0, values[self.set_of], -np.inf)
        _raise_parents(self.parent, found)
        return found


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each label set was seen, raised to a power, and what is left of it without the instance itself.

    Parameters
    ----------
    log : float array, shape (U,)
        a log count(y); -inf where the count is zero.
    own : int array, shape (n,) or (0,)
        The row of the table that each instance has itself, ``NONE`` for none; empty where no instance was counted.
    own_log : float array, shape (n,) or (0,)
        a log (count(y) − weight) of that row; -inf where nothing is left.
    """

    log: FloatArray
    own: NDArray[np.int64]
    own_log: FloatArray

    @classmethod
    def of(
        cls, counts: ArrayLike, a: float, n: int, own: ArrayLike | None = None, own_weight: ArrayLike | None = None
    ) -> Counts:
        """Check and raise to the power ``a``: a set that nobody else has is out, whatever the power."""
        if not (np.isfinite(a) and a >= 0):
            raise ComitiaError(f"a must be finite and not negative; got {a}.")
        count = np.asarray(counts, dtype=np.float64)
        if count.ndim != 1 or not (np.isfinite(count).all() and (count >= 0).all()):
            raise ComitiaError("counts must be finite, not negative, and one for each row of table.")
        if own is None:
            return cls(_power_log(count, a), np.empty(0, np.int64), np.empty(0))
        row = np.asarray(own)
        if row.shape != (n,) or row.dtype.kind not in "iu":
            raise ComitiaError(f"own must hold a row of table for each of {n} instances; got shape {row.shape}.")
        if row.size and not (row.min() >= -1 and row.max() < len(count)):
            raise ComitiaError(f"own must lie in -1..{len(count) - 1}; it runs from {row.min()} to {row.max()}.")
        weight = np.ones(n) if own_weight is None else np.asarray(own_weight, dtype=np.float64)
        if weight.shape != (n,) or not (weight >= 0).all():
            raise ComitiaError(f"own_weight must hold a weight for each of {n} instances, none negative.")
        seen = count[row] if row.size else np.empty(0)
        left = seen - weight
        # What is left of a sum of weights after the only one is taken away may be rounding error.
        left[left <= 1e-9 * seen] = 0.0
        return cls(_power_log(count, a), np.where(row < 0, NONE, row).astype(np.int64), _power_log(left, a))

    def take(self, rows: NDArray[np.intp]) -> Counts:
        """Return the same for some of the instances."""
        return Counts(self.log, self.own[rows], self.own_log[rows]) if len(self.own) else self


def check_sets(table: ArrayLike, counts: ArrayLike) -> LabelArray:
    """Return the seen label sets as C-ordered int8, with a count for each."""
    sets = check_labels(table, "table")
    if np.shape(counts) != (len(sets),) or not len(sets):
        raise ComitiaError(f"counts must hold one for each of the {len(sets)} rows of table; got {np.shape(counts)}.")
    return sets


def check_missing(missing: float) -> None:
    if not 0 <= missing < 1:
        raise ComitiaError(f"missing must lie in [0, 1); got {missing}.")


def joined_rows(parts: dict[int, tuple[Any, Any, Any]], width: int) -> csr_array:
    """Return the CSR matrix of the rows (lengths, columns, data) of each slice."""
    lengths, columns, data = map(np.concatenate, zip(*(parts[start] for start in sorted(parts)), strict=True))
    if not lengths.all():
        raise ComitiaError(
            f"instance {np.flatnonzero(lengths == 0)[0]} has no label set left: all that were seen is its own."
        )
    return csr_array((data, columns, np.concatenate([[0], np.cumsum(lengths)])), shape=(len(lengths), width))


def _power_log(count: FloatArray, a: float) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.where(count > 0, a * np.log(np.where(count > 0, count, 1.0)), -np.inf)


@njit(cache=True, nogil=True)
def _build(
    starts: Any, positions: Any, by: Any, path: Any, position: Any, depth: Any, parent: Any, skip: Any, set_of: Any
) -> int:
    """Fill in the nodes from the sorted sets, set by[r] has positions[starts[r]:starts[r + 1]]; return how many."""
    U = len(by)
    path[0] = depth[0] = 0
    at, N = 0, 1
    for r in range(U):
        first, length = starts[r], starts[r + 1] - starts[r]
        common = 0
        while common < at and common < length and position[path[common + 1]] == positions[first + common]:
            common += 1
        for d in range(common + 1, at + 1):
            skip[path[d]] = N
        for d in range(common, length):
            position[N], depth[N], parent[N] = positions[first + d], d + 1, path[d]
            path[d + 1] = N
            N += 1
        at = length
        set_of[path[length]] = by[r]
    for d in range(at + 1):
        skip[path[d]] = N
    return N


@njit(cache=True, nogil=True)
def _add_to_parents(parent: Any, values: Any) -> None:
    for node in range(len(parent) - 1, 0, -1):
        values[parent[node]] += values[node]


@njit(cache=True, nogil=True)
def _raise_parents(parent: Any, values: Any) -> None:
    for node in range(len(parent) - 1, 0, -1):
        if values[node] > values[parent[node]]:
            values[parent[node]] = values[node]


@njit(cache=True, nogil=True)
def first_dropped(count: Any, missing: float, at_most: int) -> int:
    """Return the bin from which on entries are dropped: with at most ``missing`` of the mass of all, or to leave few.

    Bin b counts entries that have between 2^(-(b + 1) / 4) and 2^(-b / 4) times the weight of the heaviest, which
    is in bin 0; the last bin also has what is lighter.
    """
    least, left = 0.0, 0
    for b in range(len(count)):
        left += count[b]
        if count[b]:
            least += count[b] * 2.0 ** (-0.25 * (b + 1))
    allowed = missing * max(least, 1.0)
    tail, bin_ = 0.0, len(count)
    while bin_ > 1:
        if count[bin_ - 1]:
            tail += count[bin_ - 1] * 2.0 ** (-0.25 * (bin_ - 1))
            if tail > allowed and left <= at_most:
                break
            left -= count[bin_ - 1]
        bin_ -= 1
    return bin_


@njit(cache=True, nogil=True)
def appended(columns: Any, data: Any, filled: int, more_columns: Any, more: Any, kept: int) -> Any:
    """Append entries to growing arrays; return the arrays, which are others where there was no room."""
    if filled + kept > len(columns):
        room = max(2 * len(columns), filled + kept)
        longer_columns, longer = np.empty(room, np.int32), np.empty(room)
        for e in range(filled):  # slices would be checked, and the check costs two seconds to compile
            longer_columns[e], longer[e] = columns[e], data[e]
        columns, data = longer_columns, longer
    for e in range(kept):
        columns[filled + e], data[filled + e] = more_columns[e], more[e]
    return columns, data
