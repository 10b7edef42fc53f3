"""Label matrices, which every layer holds: how they are checked, packed into bits and told apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from comitia._arrays import as_count, check_form, check_sparse
from comitia._compiled import njit
from comitia._errors import ComitiaError
from comitia._threads import over_slices

FloatArray = NDArray[np.float64]
LabelArray = NDArray[np.int8]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class LabelRows:
    """The labels of m instances, listed: memory follows the labels that they have, not those that exist.

    Row i has the labels ``labels[starts[i] : starts[i + 1]]``, ascending.  It is indexed by rows as an array is.

    Parameters
    ----------
    starts : int64 array, shape (m + 1,)
    labels : int32 array
    n_labels : int
        K.

    Examples
    --------
    >>> rows = LabelRows.of(csr_array([[0, 1, 1], [0, 0, 0], [1, 0, 0]]), "y")
    >>> rows.labels, rows[[2, 0]].toarray()
    (array([1, 2, 0], dtype=int32), array([[1, 0, 0],
           [0, 1, 1]], dtype=int8))
    """

    starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    n_labels: int

    def __post_init__(self) -> None:
        as_count("the number of labels", self.n_labels, least=1)
        check_form("starts", self.starts, np.int64, (None,))
        check_form("labels", self.labels, np.int32, (None,))
        if not len(self.starts) or self.starts[0] != 0 or self.starts[-1] != len(self.labels):
            raise ComitiaError(f"starts must ascend from 0 to {len(self.labels)}, the number of labels listed.")
        first = np.zeros(len(self.labels) + 1, np.bool_)
        if (np.diff(self.starts) < 0).any():
            raise ComitiaError("starts must ascend.")
        first[self.starts] = True
        if self.labels.size and not (
            self.labels.min() >= 0
            and self.labels.max() < self.n_labels
            and (first[1:-1] | (self.labels[1:] > self.labels[:-1])).all()
        ):
            raise ComitiaError(f"the labels of a row must ascend, from 0 to at most {self.n_labels - 1}.")

    @classmethod
    def of(cls, matrix: Any, name: str) -> LabelRows:
        """Return a sparse matrix of 0/1, of any format, as lists, or say what is wrong with it."""
        if len(matrix.shape) != 2 or matrix.shape[1] == 0:
            raise ComitiaError(f"{name} must have shape (m, K) with K ≥ 1; got shape {matrix.shape}.")
        rows = csr_array(matrix, copy=True)
        check_sparse(name, rows)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        if rows.dtype.kind not in "fiub":
            raise ComitiaError(f"{name} must hold 0 and 1 only; got an array of {rows.dtype}.")
        if not (rows.data == 1).all():
            raise ComitiaError(f"{name} must hold 0 and 1 only; got {rows.data[rows.data != 1][0]}.")
        return cls._unchecked(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), int(rows.shape[1]))

    @classmethod
    def _unchecked(cls, starts: NDArray[np.int64], labels: NDArray[np.int32], n_labels: int) -> Self:
        rows = object.__new__(cls)
        rows.__dict__.update(starts=starts, labels=labels, n_labels=n_labels)
        return rows

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.n_labels

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: Any) -> LabelRows:
        rows = np.arange(len(self))[rows]
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        return self._unchecked(starts, self.labels[at], self.n_labels)

    def toarray(self) -> LabelArray:
        """Return them as an array of 0/1, (m, K)."""
        return np.asarray(self.csr(np.int8).toarray())

    def csr(self, dtype: Any) -> csr_array:
        """Return them as a CSR matrix of 0/1."""
        return csr_array((np.ones(len(self.labels), dtype), self.labels, self.starts), shape=self.shape)

    def among(self, labels: IntArray) -> LabelArray:
        """Return an array of 0/1 with columns for these labels alone, ascending; the rows have no others."""
        found = np.zeros((len(self), len(labels)), np.int8)
        row = np.repeat(np.arange(len(self)), np.diff(self.starts))
        found[row, np.searchsorted(labels, self.labels)] = 1
        return found


Labels: TypeAlias = LabelArray | LabelRows
"""A matrix of labels (m, K) as an array or, where it was given sparse, as lists: rows of both are taken alike."""

Rows = TypeVar("Rows", LabelArray, LabelRows, Labels)


def dense(labels: Labels) -> LabelArray:
    """Return labels as an array of 0/1."""
    return labels.toarray() if isinstance(labels, LabelRows) else labels


def checked(labels: Any, name: str) -> Labels:
    """Return labels that are given as an array, a sparse matrix or lists, the last two as lists."""
    if isinstance(labels, LabelRows):
        labels.__post_init__()  # it may come from a file, and compiled loops follow it
        return labels
    return LabelRows.of(labels, name) if issparse(labels) else check_labels(labels, name)


def stacked(above: Labels, below: Labels) -> Labels:
    """Return the rows of two matrices, one below the other: lists if one of them is lists."""
    if isinstance(above, LabelRows) or isinstance(below, LabelRows):
        first, second = listed(above), listed(below)
        starts = np.concatenate([first.starts, second.starts[1:] + first.starts[-1]])
        return LabelRows._unchecked(starts, np.concatenate([first.labels, second.labels]), first.n_labels)
    return np.concatenate([above, below])


def listed(labels: Labels) -> LabelRows:
    """Return labels as lists."""
    return labels if isinstance(labels, LabelRows) else LabelRows.of(csr_array(labels), "labels")


def check_labels(labels: ArrayLike, name: str) -> LabelArray:
    """Return a 0/1 array of shape (m, K) as C-ordered int8, or say what is wrong with it."""
    array = np.asarray(labels)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ComitiaError(f"{name} must have shape (m, K) with K ≥ 1; got shape {array.shape}.")
    if array.dtype == np.int8:
        binary = not array.size or bool(array.view(np.uint8).max() <= 1)
    else:
        binary = array.dtype.kind in "fiub" and bool(np.isin(array, (0, 1)).all())
    if not binary:
        raise ComitiaError(f"{name} must hold 0 and 1 only; got {_first_other(array)}.")
    return np.ascontiguousarray(array, dtype=np.int8)


def _first_other(array: NDArray[np.generic]) -> str:
    if array.dtype.kind not in "fiub":
        return f"an array of {array.dtype}"
    row, column = np.argwhere(~np.isin(array, (0, 1)))[0]
    return f"{array[row, column]} in row {row}, column {column}"


def pack(labels: ArrayLike, name: str = "labels") -> NDArray[np.uint64]:
    """Return labelings of shape (m, K) as 64-bit words of shape (m, ceil(K / 64)), checked on the way."""
    array = np.asarray(labels)
    if array.dtype != np.int8 or array.ndim != 2 or array.shape[1] == 0 or not array.flags.c_contiguous:
        array = check_labels(array, name)
    words = np.empty((len(array), -(-array.shape[1] // 64)), np.uint64)
    binary = []

    def fill(rows: slice) -> None:
        binary.append(pack_rows(array[rows].view(np.uint8), words[rows]))

    over_slices(fill, len(array), at_least=16384)
    if not all(binary):
        check_labels(array, name)
    return words


def unpack(words: NDArray[np.uint64], n_labels: int) -> LabelArray:
    """Return the labelings that :func:`pack` packed."""
    bits = np.unpackbits(words.astype("<u8", copy=False).view(np.uint8), axis=1, count=n_labels, bitorder="little")
    return bits.view(np.int8)


def distinct_rows(labels: Rows) -> tuple[Rows, NDArray[np.int32]]:
    """Return the distinct labelings, in the order in which they first occur, and the place of each row among them."""
    place = np.empty(len(labels), np.int32)
    if isinstance(labels, LabelRows):
        first = index_lists(labels.starts, labels.labels.astype(np.uint64), place)
    else:
        first = index_patterns(pack(labels), place)
    return labels[first], place


@njit(cache=True, nogil=True)
def pack_rows(labels: Any, words: Any) -> bool:
    """Pack rows of 0/1 bytes (m, K) into words (m, ceil(K / 64)), label k as bit k; return whether all were 0 or 1.

    Eight bytes at a time: multiplied by the magic number, byte b of a word of 0/1 bytes arrives at bit 56 + b.
    """
    m, K = labels.shape
    others = np.uint64(0)
    for r in range(m):
        row = labels[r]
        for w in range(words.shape[1]):
            word = np.uint64(0)
            for start in range(64 * w, min(64 * w + 64, K), 8):
                eight = np.uint64(0)
                if start + 8 <= K:
                    for b in range(8):
                        eight |= np.uint64(row[start + b]) << np.uint64(8 * b)
                else:
                    for b in range(K - start):
                        eight |= np.uint64(row[start + b]) << np.uint64(8 * b)
                others |= eight
                word |= ((eight * np.uint64(0x0102040810204080)) >> np.uint64(56)) << np.uint64(start - 64 * w)
            words[r, w] = word
    binary: bool = (others & ~np.uint64(0x0101010101010101)) == 0
    return binary


def index_patterns(words: NDArray[np.uint64], place: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the distinct rows of ``words`` (m, W): see :func:`index_lists`."""
    m, W = words.shape
    return index_lists(np.arange(m + 1) * W, np.ascontiguousarray(words).reshape(-1), place)


def index_lists(starts: NDArray[np.int64], words: NDArray[np.uint64], place: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the distinct lists ``words[starts[r] : starts[r + 1]]`` in the order of their first occurrence.

    ``place[r]`` becomes the number of list r; the lists where each number first occurs are returned.  Open addressing
    with linear probing; the numbering does not depend on the hash.
    """
    m = len(starts) - 1
    bits = max(4, (2 * m - 1).bit_length())
    first = np.empty(m, np.int64)
    found = _index(starts, words, place, np.full(1 << bits, -1, np.int32), bits, first)
    return first[:found].copy()


@njit(cache=True, nogil=True)
def _index(starts: Any, words: Any, place: Any, slots: Any, bits: int, first: Any) -> int:
    mask = (1 << bits) - 1
    found = 0
    for r in range(len(first)):
        h = np.uint64(0)
        for w in range(starts[r], starts[r + 1]):
            h = (h ^ words[w]) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        slot = np.int64(h >> np.uint64(64 - bits)) & mask
        while True:
            number = slots[slot]
            if number < 0:
                slots[slot] = found
                first[found] = r
                place[r] = found
                found += 1
                break
            other = starts[first[number]]
            same = starts[first[number] + 1] - other == starts[r + 1] - starts[r]
            if same:
                for w in range(starts[r + 1] - starts[r]):
                    if words[other + w] != words[starts[r] + w]:
                        same = False
                        break
            if same:
                place[r] = number
                break
            slot = (slot + 1) & mask
    return found


def are_names(y: Any) -> bool:
    """Whether y holds, for each instance, a list or a set of the names of its labels."""
    # A column of pandas or polars holds lists as objects, or in a type of its own, which has no kind or O for one.
    column = hasattr(y, "dtype") and len(y.shape) == 1 and getattr(y.dtype, "kind", "O") == "O"
    if not (isinstance(y, list | tuple) or column):
        return False
    found = False
    for row in y.to_list() if hasattr(y, "to_list") else y:
        if isinstance(row, set | frozenset):
            found = True
        elif row is None or (isinstance(row, list | tuple | np.ndarray) and len(row) == 0):
            continue
        elif isinstance(row, list | tuple | np.ndarray) and all(isinstance(name, str) for name in row):
            found = True
        else:
            return False
    return found


def label_matrix(y: Iterable[Iterable[Any]], names: Sequence[str] | None = None) -> tuple[LabelArray, tuple[str, ...]]:
    """Return lists of names of labels as a matrix of zeros and ones, and the names of its columns.

    Parameters
    ----------
    y : iterable of n lists, sets or tuples of names
        The labels that are relevant for each instance; a list may be empty, or None.
    names : sequence of str, optional
        The labels there are, in the order of the columns; those that occur, sorted, by default.

    Returns
    -------
    Y : int8 ndarray of shape (n, K)
    names : tuple of str

    Examples
    --------
    >>> from comitia.datasets import label_matrix
    >>> Y, names = label_matrix([["rock", "live"], [], ["jazz"]])
    >>> names
    ('jazz', 'live', 'rock')
    >>> Y
    array([[0, 1, 1],
           [0, 0, 0],
           [1, 0, 0]], dtype=int8)
    """
    rows = [names_in(row, i) for i, row in enumerate(y)]
    known = sorted({name for row in rows for name in row}) if names is None else list(names)
    if not known or len(set(known)) < len(known):
        raise ComitiaError(f"y must hold names of labels, and names different ones; got {known[:20]!r}.")
    places = {name: k for k, name in enumerate(known)}
    Y = np.zeros((len(rows), len(known)), dtype=np.int8)
    for i, row in enumerate(rows):
        for name in row:
            if name not in places:
                raise ComitiaError(f"row {i + 1} of y must hold labels out of {known[:20]}; got {name!r}.")
            Y[i, places[name]] = 1
    return Y, tuple(known)


def names_in(row: Any, i: int) -> tuple[str, ...]:
    """Return the names of labels that a row of lists holds, each once; ``i`` is its place, for messages."""
    if row is None or (isinstance(row, float) and row != row):
        return ()
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise ComitiaError(f"row {i + 1} of y must be a list of names; got {str(row)[:40]!r}.")
    names = []
    for name in row:
        if name is None or not isinstance(name, (str, int, np.integer)):
            raise ComitiaError(f"row {i + 1} of y must be a list of names; got {str(name)[:40]!r} in it.")
        names.append(str(name))
    return tuple(dict.fromkeys(names))
