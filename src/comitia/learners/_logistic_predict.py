"""What logistic regressions predict, one of them or the members of an ensemble."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from comitia._arrays import check_sparse
from comitia._errors import ComitiaError
from comitia._jobs import local_threads, one_blas_thread
from comitia._threads import over_parts

Array = NDArray[Any]

TILE = 128  # rows multiplied together
ROWS = 1024  # rows predicted together


def predict_logistic(X: ArrayLike | sp.sparray, coef: ArrayLike, intercept: ArrayLike) -> NDArray[np.float64]:
    """Return the probabilities (n, B) that B logistic regressions give to the rows of X.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    coef : array of shape (B, d)
    intercept : array of shape (B,)
        May be infinite: the probability is then 0 or 1.

    Notes
    -----
    A row's probabilities have the same bits whatever other rows are given with it.

    Examples
    --------
    >>> predict_logistic([[0.0], [2.0]], coef=[[1.0], [0.0]], intercept=[0.0, float("inf")]).round(3)
    array([[0.5  , 1.   ],
           [0.881, 1.   ]])
    """
    X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X", ensure_min_samples=0)
    if sp.issparse(X):
        check_sparse("X", X)
    coef = np.asarray(coef, dtype=np.float64)
    if coef.ndim != 2 or coef.shape[1] != X.shape[1]:
        raise ComitiaError(f"coef has shape {coef.shape}, but X has {X.shape[1]} features: expected (B, {X.shape[1]})")
    if np.shape(intercept) != coef.shape[:1]:
        raise ComitiaError(f"intercept has shape {np.shape(intercept)}, expected {coef.shape[:1]}, the rows of coef")
    with one_blas_thread():
        return checked(sigmoid(linear_scores(X, coef, np.asarray(intercept, dtype=np.float64))))


Predictor = Callable[[int, slice], NDArray[np.float64]]
"""Gives the probabilities (rows, K) of one member for some rows."""


def member_predictor(X: ArrayLike | sp.sparray, coef: Array, intercept: Array) -> Predictor:
    """Return what gives the probabilities of a member's logistic regressions, those of `predict_logistic` to the bit.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    coef : array of shape (M, K, d)
    intercept : array of shape (M, K)
    """
    X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X", ensure_min_samples=0)

    def predict(m: int, rows: slice) -> NDArray[np.float64]:
        return checked(sigmoid(linear_scores(X[rows], coef[m], intercept[m])))

    return predict


def by_member(predict: Predictor, shape: tuple[int, int, int], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the probabilities (M, n, K) of all members, with so many jobs in threads."""
    members, n, _ = shape
    probabilities = np.empty(shape)

    def fill(part: tuple[int, slice]) -> None:
        m, rows = part
        probabilities[m, rows] = predict(m, rows)

    with one_blas_thread():
        over_parts(fill, [(m, rows) for rows in _slices(n, ROWS) for m in range(members)], local_threads(n_jobs))
    return probabilities


def averaged(predict: Predictor, shape: tuple[int, int, int], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the mean (n, K) of the members' probabilities, added up one after another."""
    members, n, K = shape
    mean = np.zeros((n, K))

    def fill(rows: slice) -> None:
        some = mean[rows]
        for m in range(members):
            some += predict(m, rows)
        some /= members
        np.minimum(some, 1.0, out=some)

    with one_blas_thread():
        over_parts(fill, _slices(n, TILE), local_threads(n_jobs))
    return mean


def _slices(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def linear_scores(X: Any, coef: Array, intercept: Array) -> Array:
    """Return X coefᵀ + intercept (n, B), each row independent of the others to the last bit.

    Rows are multiplied in tiles of one size, the last filled up with zeros: the kernel that multiplies matrices
    may add in another order for another shape.
    """
    n = X.shape[0]
    scores = np.empty((n, len(coef)))
    if sp.issparse(X):
        scores[:] = X @ coef.T
    else:
        for start in range(0, n - n % TILE, TILE):
            np.matmul(X[start : start + TILE], coef.T, out=scores[start : start + TILE])
        if rest := n % TILE:
            last = np.zeros((TILE, X.shape[1]))
            last[:rest] = X[n - rest :]
            scores[n - rest :] = (last @ coef.T)[:rest]
    scores += intercept
    return scores


def sigmoid(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-scores)), in the memory of the scores."""
    np.negative(scores, out=scores)
    with np.errstate(over="ignore"):  # exp(-score) = inf stands for the probability 0
        np.exp(scores, out=scores)
    scores += 1
    return np.reciprocal(scores, out=scores)


def checked(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities that are numbers; scores past the largest double may be infinite with either sign."""
    if np.isnan(probabilities.sum()):
        raise ComitiaError("X must hold values whose scores are finite; some are too large for the coefficients.")
    return probabilities
