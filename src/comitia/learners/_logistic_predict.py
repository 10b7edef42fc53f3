"""What logistic regressions predict, one of them or the members of an ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from comitia._arrays import check_sparse
from comitia._compiled import njit
from comitia._errors import ComitiaError
from comitia._jobs import local_threads, one_blas_thread
from comitia._threads import over_parts, slices

Array = NDArray[Any]

TILE = 128  # rows multiplied together
ROWS = 2048  # rows predicted together: what Python does for them is done by one thread at a time


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
    >>> from comitia.learners import predict_logistic
    >>> predict_logistic([[0.0], [2.0]], coef=[[1.0], [0.0]], intercept=[0.0, float("inf")]).round(3)
    array([[0.5  , 1.   ],
           [0.881, 1.   ]])
    """
    X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X", ensure_min_samples=0, order="C")
    if sp.issparse(X):
        check_sparse("X", X)
    coef = np.asarray(coef, dtype=np.float64)
    if coef.ndim != 2 or coef.shape[1] != X.shape[1]:
        raise ComitiaError(f"coef must have shape (B, {X.shape[1]}), as X has features; got shape {coef.shape}.")
    if np.shape(intercept) != coef.shape[:1]:
        raise ComitiaError(
            f"intercept must have shape {coef.shape[:1]}, the rows of coef; got shape {np.shape(intercept)}."
        )
    with one_blas_thread():
        return checked(sigmoid(linear_scores(X, coef, np.asarray(intercept, dtype=np.float64))))


class Predictor(Protocol):
    """Gives the probabilities of members for some rows."""

    def member(self, m: int, rows: slice) -> NDArray[np.float64]:
        """Return the probabilities (rows, K) of one member, NaN where scores were too large."""


@dataclass(frozen=True)
class LogisticPredictor:
    """Members with K logistic regressions each, whose probabilities are those of `predict_logistic` to the bit.

    Parameters
    ----------
    X : array or CSR array of shape (n, d)
    coef : array of shape (M, K, d)
    intercept : array of shape (M, K)
    """

    X: Any
    coef: Array
    intercept: Array

    @classmethod
    def of(cls, X: Any, coef: Array, intercept: Array) -> LogisticPredictor:
        """Check X, once for all members."""
        X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X", ensure_min_samples=0, order="C")
        return cls(X, coef, intercept)

    def member(self, m: int, rows: slice) -> NDArray[np.float64]:
        probabilities: NDArray[np.float64] = sigmoid(linear_scores(self.X[rows], self.coef[m], self.intercept[m]))
        return probabilities


def by_member(predictor: Predictor, shape: tuple[int, int, int], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the probabilities (M, n, K) of all members, with so many jobs in threads."""
    members, n, _ = shape
    probabilities = np.empty(shape)

    def fill(part: tuple[int, slice]) -> None:
        m, rows = part
        probabilities[m, rows] = checked(predictor.member(m, rows))

    with one_blas_thread():
        over_parts(fill, [(m, rows) for rows in slices(n, ROWS) for m in range(members)], local_threads(n_jobs))
    return probabilities


def averaged(predictor: Predictor, shape: tuple[int, int, int], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the mean (n, K) of the members' probabilities, added up in their order, with so many jobs in threads."""
    members, n, K = shape
    mean, threads = np.empty((n, K)), local_threads(n_jobs)

    def fill(rows: slice) -> None:
        total = predictor.member(0, rows)
        for m in range(1, members):
            total += predictor.member(m, rows)
        np.minimum(checked(total / members), 1.0, out=mean[rows])

    with one_blas_thread():
        rows = ROWS if threads == 1 else min(ROWS, TILE * max(1, n // (4 * TILE * threads)))
        over_parts(fill, slices(n, rows), threads)
    return mean


def linear_scores(X: Any, coef: Array, intercept: Array) -> Array:
    """Return X coefᵀ + intercept (n, B), each row independent of the others to the last bit.

    Rows are multiplied in tiles of one size, the last filled up with zeros: the kernel that multiplies matrices
    may add in another order for another shape.
    """
    n, d = X.shape
    scores = np.empty((n, len(coef)))
    with np.errstate(over="ignore", invalid="ignore"):  # `checked` says where scores are too large
        if sp.issparse(X):
            scores[:] = X @ coef.T
        else:
            tiles, coef = n // TILE, np.ascontiguousarray(coef)
            whole = tiles * TILE
            if tiles:
                np.matmul(X[:whole].reshape(tiles, TILE, d), coef.T, out=scores[:whole].reshape(tiles, TILE, len(coef)))
            if whole < n:
                tile = np.zeros((TILE, d))
                tile[: n - whole] = X[whole:]
                scores[whole:] = (tile @ coef.T)[: n - whole]
        scores += intercept
    return scores


# exp(r) = Σ_k r^k / k!, to the last bit or two for |r| <= ln 2 / 2
_EXP_SERIES = tuple(1 / float(np.prod(np.arange(1.0, k + 1))) for k in range(13, -1, -1))


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def sigmoid(scores: Any) -> Any:
    """Return 1 / (1 + exp(-scores)), in the memory of the scores: the compiler vectorises it, unlike a call of exp."""
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            score = scores[i, j]
            # exp(-|score|) is nothing beyond -708, and infinite scores are certain.
            argument = max(-abs(score), -708.0)
            k = np.floor(argument * 1.4426950408889634 + 0.5)
            rest = (argument - k * 0.693359375) + k * 2.1219444005469057e-4
            e = 0.0
            for term in _EXP_SERIES:
                e = e * rest + term
            e *= np.int64((np.int64(k) + np.int64(1023)) << np.int64(52)).view(np.float64)
            e = e if abs(score) < 708 else 0.0
            likely = 1 / (1 + e)
            found = likely if score >= 0 else e * likely
            scores[i, j] = found if score == score else score
    return scores


def checked(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities that are numbers; scores past the largest double may be infinite with either sign."""
    if np.isnan(probabilities.sum()):
        raise ComitiaError("X must hold values whose scores are finite; some are too large for the coefficients.")
    return probabilities
