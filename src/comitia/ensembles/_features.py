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

from comitia._labels import LabelArray, pack


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
    """Return 128 bits for each instance that tell features and labels apart; None if X holds no numbers.

    They are sums over the entries that are not zero, so that dense and sparse features have the same.
    """
    if is_frame(X) and not nominal_columns(X):
        X = np.asarray(X)
    labels = pack(Y)
    prints = np.empty((len(Y), 2), np.uint64)
    if issparse(X):
        rows = csr_array(X, dtype=np.float64)
        _sparse_fingerprints(rows.indptr, rows.indices, rows.data.view(np.uint64), labels, prints)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2:
        _dense_fingerprints(np.array(X, dtype=np.float64, order="C").view(np.uint64), labels, prints)
    else:
        return None
    return prints


@njit(cache=True, nogil=True)
def _dense_fingerprints(words: NDArray[Any], labels: NDArray[Any], prints: NDArray[Any]) -> None:
    for i in range(len(words)):
        _start(labels[i], prints[i])
        for k in range(words.shape[1]):
            _add(k, words[i, k], prints[i])


@njit(cache=True, nogil=True)
def _sparse_fingerprints(
    indptr: NDArray[Any], indices: NDArray[Any], words: NDArray[Any], labels: NDArray[Any], prints: NDArray[Any]
) -> None:
    for i in range(len(prints)):
        _start(labels[i], prints[i])
        for e in range(indptr[i], indptr[i + 1]):
            _add(indices[e], words[e], prints[i])


@njit(cache=True, nogil=True)
def _start(labels: NDArray[Any], prints: NDArray[Any]) -> None:
    prints[:] = 0
    for w in range(len(labels)):
        _add(-1 - w, labels[w], prints)


@njit(cache=True, nogil=True)
def _add(place: int, word: Any, prints: NDArray[Any]) -> None:
    """Add a word at its place to a fingerprint; a zero, of either sign, adds nothing."""
    if word << np.uint64(1) == 0:
        return
    x = (np.uint64(place) * np.uint64(0x9E3779B97F4A7C15)) ^ word
    for half in range(2):
        x ^= x >> np.uint64(30)
        x *= np.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> np.uint64(27)
        x *= np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
        prints[half] += x
        x += np.uint64(0x243F6A8885A308D3)
