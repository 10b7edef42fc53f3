"""Features at the door: frames with nominal columns become numbers; identical rows are found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from comitia.relevance._kernels import fingerprint_rows
from comitia.relevance.base import LabelArray
from comitia.relevance.labelsets import pack


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def nominal_columns(X: Any) -> list[str]:
    """Return the columns of a frame that do not hold numbers."""
    return [column for column in X.columns if np.asarray(X[column][:0]).dtype.kind not in "biuf"]


def nominal_encoder(X: Any, columns: list[str], kind: Literal["one-hot", "ordinal"]) -> ColumnTransformer:
    """Return a fitted encoder of a frame's nominal columns; the others pass through.

    One-hot columns suit linear members, which would take an order for real; trees split codes well and stay small.
    A categorical column has the values its type declares, whether or not they occur.
    """
    categories = [_values(X[column]) for column in columns]
    encoder = (
        OneHotEncoder(categories=categories, sparse_output=False)
        if kind == "one-hot"
        else OrdinalEncoder(categories=categories, encoded_missing_value=np.nan)
    )
    return ColumnTransformer([("nominal", encoder, columns)], remainder="passthrough", sparse_threshold=0).fit(X)


def _values(column: Any) -> NDArray[Any]:
    declared = getattr(column.dtype, "categories", None)
    if isinstance(declared, Iterable):
        return np.asarray(list(declared), dtype=object)
    return np.asarray(sorted({value for value in column if value is not None and value == value}), dtype=object)


def fingerprints(X: Any, Y: LabelArray) -> NDArray[np.uint64] | None:
    """Return 128 bits for each instance that tell features and labels apart; None if X is no numeric array."""
    if issparse(X):
        rows = csr_array(X, dtype=np.float64)
        rows.sort_indices()
        words = np.empty((len(Y), 2), np.uint64)
        fingerprint_rows(rows.indptr, rows.indices, rows.data, np.zeros(len(Y)), words)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2:
        words = np.ascontiguousarray(X, dtype=np.float64).view(np.uint64)
    else:
        return None
    prints = np.empty((len(Y), 2), np.uint64)
    _fingerprint(words, pack(Y), prints)
    return prints


@njit(cache=True, nogil=True)
def _fingerprint(words: NDArray[Any], labels: NDArray[Any], prints: NDArray[Any]) -> None:
    for i in range(len(words)):
        a = np.uint64(0x243F6A8885A308D3)
        b = np.uint64(0x13198A2E03707344)
        for part in (words, labels):
            for k in range(part.shape[1]):
                a = (a ^ part[i, k]) * np.uint64(0x9E3779B97F4A7C15)
                a ^= a >> np.uint64(32)
                b = (b + part[i, k]) * np.uint64(0x94D049BB133111EB)
                b ^= b >> np.uint64(29)
        prints[i, 0] = a
        prints[i, 1] = b
