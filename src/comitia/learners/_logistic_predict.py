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
        intercept = np.asarray(intercept, dtype=np.float64)
        return LogisticPredictor(X, coef[None], intercept[None]).member(0, slice(0, X.shape[0]))


class Predictor(Protocol):
    """Gives the probabilities of members for some rows."""

    def member(self, m: int, rows: slice) -> NDArray[np.float64]:
        """Return the probabilities (rows, K) of one member."""

    def mean(self, rows: slice) -> NDArray[np.float64]:
        """Return the mean (rows, K) over the members, added up one after another."""


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
        if sp.issparse(self.X):
            return checked(sigmoid(linear_scores(self.X[rows], self.coef[m], self.intercept[m])))
        return checked(self._sum(slice(m, m + 1), rows))

    def mean(self, rows: slice) -> NDArray[np.float64]:
        if sp.issparse(self.X):
            return mean_of(self, len(self.coef), rows)
        return checked(self._sum(slice(None), rows) / len(self.coef))

    def _sum(self, members: slice, rows: slice) -> NDArray[np.float64]:
        """Add up what members say; one of them too, so that a single loop is compiled."""
        total = np.zeros((rows.stop - rows.start, self.coef.shape[1]))
        coef, intercept = (np.ascontiguousarray(part[members]) for part in (self.coef, self.intercept))
        add_members(self.X[rows], coef, intercept, total)
        return total


def mean_of(predictor: Predictor, members: int, rows: slice) -> NDArray[np.float64]:
    """Return the mean of the members' probabilities, added up one after another."""
    total = predictor.member(0, rows)
    for m in range(1, members):
        total += predictor.member(m, rows)
    return total / members


def by_member(predictor: Predictor, shape: tuple[int, int, int], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the probabilities (M, n, K) of all members, with so many jobs in threads."""
    members, n, _ = shape
    probabilities = np.empty(shape)

    def fill(part: tuple[int, slice]) -> None:
        m, rows = part
        probabilities[m, rows] = predictor.member(m, rows)

    with one_blas_thread():
        over_parts(fill, [(m, rows) for rows in slices(n, ROWS) for m in range(members)], local_threads(n_jobs))
    return probabilities


def averaged(predictor: Predictor, shape: tuple[int, int, int], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the mean (n, K) of the members' probabilities, with so many jobs in threads."""
    _, n, K = shape
    mean = np.empty((n, K))

    def fill(rows: slice) -> None:
        np.minimum(predictor.mean(rows), 1.0, out=mean[rows])

    with one_blas_thread():
        over_parts(fill, slices(n, TILE), local_threads(n_jobs))
    return mean


def linear_scores(X: Any, coef: Array, intercept: Array) -> Array:
    """Return X coefᵀ + intercept (n, B), each row independent of the others to the last bit.

    Rows are multiplied in tiles of one size, the last filled up with zeros: the kernel that multiplies matrices
    may add in another order for another shape.
    """
    scores = np.empty((X.shape[0], len(coef)))
    if sp.issparse(X):
        scores[:] = X @ coef.T
        scores += intercept
    else:
        fill_scores(np.ascontiguousarray(X), np.ascontiguousarray(coef), intercept, scores)
    return scores


@njit(cache=True, nogil=True)
def fill_scores(X: Any, coef: Any, intercept: Any, scores: Any) -> None:
    """Fill ``scores`` (n, B) with X coefᵀ + intercept; see `linear_scores`."""
    n, d = X.shape
    B = coef.shape[0]
    tile = np.zeros((TILE, d))
    result = np.empty((TILE, B))
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        for i in range(TILE):
            for j in range(d):
                tile[i, j] = X[start + i, j] if i < size else 0.0
        np.dot(tile, coef.T, result)
        for i in range(size):
            for b in range(B):
                scores[start + i, b] = result[i, b] + intercept[b]


@njit(cache=True, nogil=True)
def add_members(X: Any, coef: Any, intercept: Any, total: Any) -> None:
    """Add the probabilities of every member, (M, K) logistic regressions, to ``total`` (n, K)."""
    scores = np.empty(total.shape)
    for m in range(coef.shape[0]):
        fill_scores(X, coef[m], intercept[m], scores)
        sigmoid(scores)
        for i in range(scores.shape[0]):
            for k in range(scores.shape[1]):
                total[i, k] += scores[i, k]


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
