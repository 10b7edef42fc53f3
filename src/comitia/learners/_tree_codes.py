"""Features as ranks: what the trees sort and compare instead of numbers.

The code of a value is its rank among the distinct values of its feature, so that codes are small integers, equal
where the values are equal and ordered as the values are.  They are computed once and shared by all trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from comitia._threads import over_slices

NO_COMMON = -2
"""Stands for the common code of a feature that has none; smaller than every code and than a missing one."""


@dataclass(frozen=True)
class FeatureCodes:
    """The ranks of every feature's values, a feature a row.

    Parameters
    ----------
    codes : (d, n) array of uint16 or uint32
        ``codes[f, i]`` is the rank of instance i among the distinct values of feature f; ``n_values[f]`` if missing.
    n_values : (d,) array of int32
        Number of distinct values that are present.
    common : (d,) array of int32
        The code that a tenth of the instances or more share (the most frequent one), or ``NO_COMMON``.
    values : list of d arrays of float64
        ``values[f][c]`` is the value whose code is c.
    """

    codes: NDArray[Any]
    n_values: NDArray[np.int32]
    common: NDArray[np.int32]
    values: list[NDArray[np.float64]]


def encode(X: NDArray[Any] | Any) -> FeatureCodes:
    """Rank the values of each feature of X, dense (with NaN for missing values) or sparse.

    Costs one sort a feature: O(d n log n).
    """
    n, d = X.shape
    columns = sparse.csc_array(X) if sparse.issparse(X) else X
    codes = np.empty((d, n), np.uint16 if n < 2**16 else np.uint32)
    n_values = np.empty(d, np.int32)
    common = np.empty(d, np.int32)
    values: list[NDArray[np.float64]] = [np.empty(0)] * d

    def encode_features(features: slice) -> None:
        for f in range(features.start, features.stop):
            column = _column(columns, f)
            order = np.argsort(column)
            present = np.empty(n)
            n_values[f], common[f] = _rank(column, order, codes[f], present)
            values[f] = present[: n_values[f]].copy()

    over_slices(encode_features, d, at_least=4)
    return FeatureCodes(codes, n_values, common, values)


def _column(columns: Any, f: int) -> NDArray[np.float64]:
    if not sparse.issparse(columns):
        return np.ascontiguousarray(columns[:, f], dtype=np.float64)
    dense = np.zeros(columns.shape[0])
    entries = slice(columns.indptr[f], columns.indptr[f + 1])
    np.add.at(dense, columns.indices[entries], columns.data[entries])
    return dense


@njit(cache=True, nogil=True)
def _rank(column, order, codes, present):  # type: ignore[no-untyped-def]
    """Fill ``codes`` and ``present`` from the sorted column; return the number of values and the common code."""
    n = len(column)
    n_values = 0
    common, most, first = NO_COMMON, max(n / 10, 1.0), 0
    for r in range(n):
        x = column[order[r]]
        if np.isnan(x):  # a sort puts them last
            codes[order[r]] = n_values
            continue
        if n_values == 0 or x != present[n_values - 1]:
            present[n_values] = x
            n_values += 1
            first = r
        codes[order[r]] = n_values - 1
        if r + 1 - first > most:
            most = r + 1 - first
            common = n_values - 1
    return n_values, common
