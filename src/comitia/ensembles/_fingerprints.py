"""Instances that are the same: found by fingerprints, and then compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from comitia._compiled import njit
from comitia._frames import is_frame
from comitia._labels import IntArray, LabelRows, Labels, pack
from comitia.ensembles._features import nominal_columns


def fingerprints(X: Any, Y: Labels) -> NDArray[np.uint64] | None:
    """Return 128 bits for each instance that tell features and labels apart; None if X holds no numbers.

    They are sums over the entries that are not zero, so that dense and sparse features, and labels, have the same.
    """
    X = _numbers(X)
    prints = np.zeros((len(Y), 2), np.uint64)
    if isinstance(Y, LabelRows):
        _add_lists(Y.starts, Y.labels, prints)
    else:
        _add_dense(pack(Y), -1, -1, prints)
    if issparse(X):
        rows = csr_array(X, dtype=np.float64)
        _add_sparse(rows.indptr, rows.indices, rows.data.view(np.uint64), prints)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2:
        _add_dense(np.array(X, dtype=np.float64, order="C").view(np.uint64), 0, 1, prints)
    else:
        return None
    return prints


def alike(X: Any, Y: Labels, some: IntArray, others: IntArray) -> NDArray[np.bool_]:
    """Return whether each of some instances has the features and labels of another; a missing value is like one."""
    X = _numbers(X)
    same = _same_labels(Y, some, others)
    if issparse(X):
        rows = csr_array(X)
        difference = (rows[some] != rows[others]).sum(axis=1)
        missing = csr_array((np.isnan(rows.data), rows.indices, rows.indptr), shape=rows.shape)
        return np.asarray(same & (difference == missing[some].multiply(missing[others]).sum(axis=1)))
    equal = (X[some] == X[others]) | (np.isnan(X[some]) & np.isnan(X[others]))
    return np.asarray(same & equal.all(axis=1))


def _same_labels(Y: Labels, some: IntArray, others: IntArray) -> NDArray[np.bool_]:
    if isinstance(Y, LabelRows):
        one, other = Y[some].csr(np.int8), Y[others].csr(np.int8)
        return np.asarray(abs(one - other).sum(axis=1) == 0)
    return np.asarray((Y[some] == Y[others]).all(axis=1))


def _numbers(X: Any) -> Any:
    return np.asarray(X) if is_frame(X) and not nominal_columns(X) else X


@njit(cache=True, nogil=True)
def _add_dense(words: NDArray[Any], first: int, step: int, prints: NDArray[Any]) -> None:
    """Add the words (n, W) of each instance, at the places first, first + step and so on."""
    for i in range(len(words)):
        for k in range(words.shape[1]):
            _add(first + step * k, words[i, k], prints, i)


@njit(cache=True, nogil=True)
def _add_lists(starts: NDArray[Any], labels: NDArray[Any], prints: NDArray[Any]) -> None:
    """Add the labels of each instance as :func:`_add_dense` does when they are packed: 64 of them make a word."""
    for i in range(len(prints)):
        e = starts[i]
        while e < starts[i + 1]:
            k = labels[e] // 64
            word = np.uint64(0)
            while e < starts[i + 1] and labels[e] // 64 == k:
                word |= np.uint64(1) << np.uint64(labels[e] % 64)
                e += 1
            _add(-1 - k, word, prints, i)


@njit(cache=True, nogil=True)
def _add_sparse(indptr: NDArray[Any], indices: NDArray[Any], words: NDArray[Any], prints: NDArray[Any]) -> None:
    for i in range(len(prints)):
        for e in range(indptr[i], indptr[i + 1]):
            _add(indices[e], words[e], prints, i)


@njit(cache=True, nogil=True)
def _add(place: int, word: Any, prints: NDArray[Any], i: int) -> None:
    """Add a word at its place to a fingerprint; a zero, of either sign, adds nothing."""
    if word << np.uint64(1) == 0:
        return
    x = (np.uint64(np.int64(place)) * np.uint64(0x9E3779B97F4A7C15)) ^ word
    for half in range(2):
        x ^= x >> np.uint64(30)
        x *= np.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> np.uint64(27)
        x *= np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
        prints[i, half] += x
        x += np.uint64(0x243F6A8885A308D3)
