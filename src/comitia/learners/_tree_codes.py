"""Features as ranks: what the trees sort and compare instead of numbers.

The code of a value is its rank among the distinct values of its feature, so that codes are small integers, equal
where the values are equal and ordered as the values are.  They are computed once and shared by all trees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from comitia._compiled import njit
from comitia._threads import over_slices

NO_COMMON = -2
"""Stands for the common code of a feature that has none; smaller than every code, and than a missing one."""

DENSE_CODES = 2**27
"""A sparse X with more cells than this keeps its codes sparse: 256 MiB are spent on faster look-ups, no more."""

_DIGIT = 11
"""Bits that one pass of the radix sort orders by: six passes for 64 bits, none for bits that do not differ."""

_MASK = np.uint64(2**_DIGIT - 1)  # a power within a loop would be compiled


class FeatureCodes(NamedTuple):
    """The ranks of every feature's values, feature after feature.

    The codes of feature f are ``codes[starts[f] : starts[f + 1]]``: those of all n instances in their order or, if X is
    sparse and too large to be otherwise, those of the instances ``rows[starts[f] : starts[f + 1]]``.
    """

    codes: NDArray[Any]
    """uint16 or uint32; a missing value has the code ``n_values[f]``."""
    by_row: NDArray[Any]
    """The same codes, instance after instance, unless they are listed: those of a small node stay in the cache."""
    starts: NDArray[np.int64]
    listed: bool
    """Whether ``rows`` lists the instances that have codes, in ascending order."""
    rows: NDArray[np.uint32]
    implicit: NDArray[np.int32]
    """Code of the instances that are not listed."""
    row_starts: NDArray[np.int64]
    row_features: NDArray[np.int32]
    """``row_features[row_starts[i] : row_starts[i + 1]]`` are the features that list instance i."""
    n_values: NDArray[np.int32]
    """Number of distinct values that are present."""
    common: NDArray[np.int32]
    """The most frequent code if more than a tenth of the instances have it, otherwise ``NO_COMMON``."""
    values: NDArray[np.float64]
    value_starts: NDArray[np.int64]
    """``values[value_starts[f] + c]`` is the value of feature f whose code is c."""


def encode(X: Any, *, dense_codes: int = DENSE_CODES) -> FeatureCodes:
    """Rank the values of each feature of X, dense or sparse, where NaN is a missing value.

    Costs a radix sort a feature, O(d n); features are shared out to threads.
    """
    n, d = X.shape
    columns = sparse.csc_array(X) if sparse.issparse(X) else X
    listed = sparse.issparse(X) and n * d > dense_codes
    starts = columns.indptr.astype(np.int64) if listed else np.arange(d + 1) * np.int64(n)
    rows = columns.indices.astype(np.uint32) if listed else np.empty(0, np.uint32)
    row_starts = X.indptr.astype(np.int64) if listed else np.zeros(1, np.int64)
    row_features = X.indices.astype(np.int32) if listed else np.empty(0, np.int32)
    codes = np.empty(starts[-1], np.uint16 if n < 2**16 else np.uint32)
    implicit, n_values, common = (np.zeros(d, np.int32) for _ in range(3))
    values: list[NDArray[np.float64]] = [np.empty(0)] * d

    def encode_features(features: slice) -> None:
        for f in range(features.start, features.stop):
            column = _entries(columns, f) if listed else _column(columns, f)
            ranks, distinct, common[f] = rank(column, n - len(column))
            values[f] = distinct.copy()
            codes[starts[f] : starts[f + 1]] = ranks[: len(column)]
            implicit[f] = ranks[-1]
            n_values[f] = len(values[f])

    over_slices(encode_features, d, at_least=4)
    if codes.dtype == np.uint32 and n_values.max(initial=0) < 2**16:
        codes = codes.astype(np.uint16)
    value_starts = np.concatenate([[0], np.cumsum(n_values, dtype=np.int64)])
    return FeatureCodes(
        codes=codes,
        by_row=codes[:0] if listed else _by_row(codes.reshape(d, n)),
        starts=starts,
        listed=listed,
        rows=rows,
        implicit=implicit,
        row_starts=row_starts,
        row_features=row_features,
        n_values=n_values,
        common=common,
        values=np.concatenate(values),
        value_starts=value_starts,
    )


def _by_row(codes: NDArray[Any]) -> NDArray[Any]:
    found = np.empty(codes.shape[::-1], codes.dtype)

    def turn(rows: slice) -> None:
        found[rows] = codes[:, rows].T

    over_slices(turn, len(found), at_least=1024)
    return found.ravel()


def _entries(columns: Any, f: int) -> NDArray[np.float64]:
    return columns.data[columns.indptr[f] : columns.indptr[f + 1]].astype(np.float64)  # type: ignore[no-any-return]


def _column(columns: Any, f: int) -> NDArray[np.float64]:
    if not sparse.issparse(columns):
        return np.ascontiguousarray(columns[:, f], dtype=np.float64)
    column = np.zeros(columns.shape[0])
    column[columns.indices[columns.indptr[f] : columns.indptr[f + 1]]] = _entries(columns, f)
    return column


def rank(column: NDArray[np.float64], n_zeros: int) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    """Rank the values of a column and of ``n_zeros`` zeros that it leaves out.

    Returns the ranks (one more than values if zeros were left out: theirs is the last), the distinct values and the
    most frequent rank.
    """
    x = (np.append(column, 0.0) if n_zeros else column) + 0.0  # there is one zero only, not a negative one as well
    n = len(x)
    ranks, values = np.empty(n, np.int64), np.empty(n)
    # Room for sorting is made here: each type of an array that a loop makes has a function of its own compiled.
    n_values, common = _rank(
        x, x.view(np.uint64), n_zeros, np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.uint32),
        np.empty(n, np.uint32), np.empty(2**_DIGIT, np.uint32), ranks, values,
    )  # fmt: skip
    return ranks, values[:n_values], common


@njit(cache=True, nogil=True)
def _rank(  # type: ignore[no-untyped-def]
    x, bits, n_zeros, keys, other_keys, order, other_order, first, ranks, values
):
    order = _argsort(x, bits, keys, other_keys, order, other_order, first)
    n = len(x) - (n_zeros > 0)
    n_values, common, most, count = 0, NO_COMMON, (n + n_zeros) / 10, 0
    for r in range(len(x)):
        i = order[r]
        if np.isnan(x[i]):
            ranks[i] = n_values
            continue
        if n_values == 0 or x[i] != values[n_values - 1]:
            values[n_values] = x[i]
            n_values += 1
            count = 0
        ranks[i] = n_values - 1
        count += 1 if i < n else n_zeros
        if count > most:
            most = count
            common = n_values - 1
    return n_values, common


@njit(cache=True, nogil=True)
def _argsort(x, bits, keys, other_keys, order, other_order, first):  # type: ignore[no-untyped-def]
    """Sort by the digits of the bits of the numbers, the last digit first; NaNs come last."""
    n = len(x)
    for i in range(n):
        keys[i], order[i] = bits[i], i
        if np.isnan(x[i]):
            keys[i] = ~np.uint64(0)
        elif keys[i] >> np.uint64(63):
            keys[i] = ~keys[i]
        else:
            keys[i] |= np.uint64(2**63)
    for position in range(0, 64, _DIGIT):
        shift = np.uint64(position)
        for digit in range(len(first)):
            first[digit] = 0
        for i in range(n):
            first[(keys[i] >> shift) & _MASK] += 1
        if n == 0 or first[(keys[0] >> shift) & _MASK] == n:
            continue
        before = 0
        for digit in range(len(first)):
            count = first[digit]
            first[digit] = before
            before += count
        for i in range(n):
            digit = (keys[i] >> shift) & _MASK
            other_keys[first[digit]] = keys[i]
            other_order[first[digit]] = order[i]
            first[digit] += 1
        keys, other_keys = other_keys, keys
        order, other_order = other_order, order
    return order


@njit(cache=True, nogil=True, error_model="numpy")
def gather(codes, first, step, rows, code):  # type: ignore[no-untyped-def]
    """Fill ``code`` with the codes of the rows, ``codes[first + step * row]``; return the lowest and the highest."""
    lowest, highest = np.int64(2**31 - 1), np.int64(-1)
    for i in range(len(rows)):
        c = np.int64(codes[np.uint64(first + step * np.int64(rows[i]))])
        code[i] = c
        lowest = c if c < lowest else lowest
        highest = c if c > highest else highest
    return lowest, highest


@njit(cache=True, nogil=True, error_model="numpy")
def gather_listed(features, f, rows, start, place, code):  # type: ignore[no-untyped-def]
    """Do the same where codes are listed; ``place`` puts the rows, which ascend, at ``start`` and after.

    Costs O(n + entries of the feature), or O(n log entries) at a small node.
    """
    n, n_found = len(rows), 0
    lowest, highest = np.int64(2**31 - 1), np.int64(-1)
    first, end = features.starts[f], features.starts[f + 1]
    for i in range(n):
        code[i] = features.implicit[f]
    if 16 * n < end - first:
        for i in range(n):
            t, above = first, end
            while t < above:
                middle = (t + above) // 2
                if features.rows[middle] < rows[i]:
                    t = middle + 1
                else:
                    above = middle
            if t < end and features.rows[t] == rows[i]:
                c = np.int64(features.codes[t])
                code[i] = c
                lowest, highest, n_found = min(lowest, c), max(highest, c), n_found + 1
    else:
        for t in range(first, end):
            i = place[features.rows[t]] - start
            if 0 <= i < n:
                c = np.int64(features.codes[t])
                code[i] = c
                lowest, highest, n_found = min(lowest, c), max(highest, c), n_found + 1
    if n_found < n:
        c = np.int64(features.implicit[f])
        lowest, highest = min(lowest, c), max(highest, c)
    return lowest, highest


@njit(cache=True, nogil=True, error_model="numpy")
def set_absent_aside(features, rows, undrawn, n_constant, mark):  # type: ignore[no-untyped-def]
    """Put the features that list none of the rows, and so are constant, to the others at the front of ``undrawn``.

    Returns how many are there then.  Does nothing where the rows have more entries than there are features to look at:
    then few features are absent, and those are found when they are drawn.
    """
    n_entries = 0
    for row in rows:
        n_entries += features.row_starts[row + 1] - features.row_starts[row]
    if n_entries < len(undrawn) - n_constant:
        for row in rows:
            for t in range(features.row_starts[row], features.row_starts[row + 1]):
                mark[features.row_features[t]] = True
        for j in range(n_constant, len(undrawn)):
            f = undrawn[j]
            if not mark[f]:
                undrawn[j], undrawn[n_constant] = undrawn[n_constant], f
                n_constant += 1
        for row in rows:
            for t in range(features.row_starts[row], features.row_starts[row + 1]):
                mark[features.row_features[t]] = False
    return n_constant


def thresholds(
    features: FeatureCodes, feature: NDArray[np.int32], low: NDArray[np.int32], high: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the numbers halfway between the values whose codes are ``low`` and ``high``; NaN where ``feature`` < 0.

    A code of −1 means that only missing values are on that side, and that no number shall go there.
    """
    inner = np.flatnonzero(feature >= 0)
    first = features.value_starts[feature[inner]]

    def values(code: NDArray[np.int32], if_none: float) -> NDArray[np.float64]:
        known = code >= 0
        numbers = np.full(len(code), if_none)
        numbers[known] = features.values[first[known] + code[known]]
        return numbers

    below, above = values(low[inner], -np.inf), values(high[inner], np.inf)
    middle = below / 2 + above / 2
    # Rounding must not lift a threshold to the value above it, which goes to the right.
    rounded = np.isfinite(below) & np.isfinite(above) & (middle >= above)
    threshold = np.full(len(feature), np.nan)
    threshold[inner] = np.where(rounded, below, middle)
    return threshold
