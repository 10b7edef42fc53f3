"""Probabilities of many members for a few rows, at once: what a single row waits for is calls, not arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from comitia._jobs import one_blas_thread
from comitia.learners._chains import ChainFit, walk
from comitia.learners._logistic_predict import TILE, checked, sigmoid

FEW = 32
"""So many rows or fewer are predicted for all members in one call, without threads."""


def are_few(X: Any) -> bool:
    """Whether X, which was checked, is better predicted for all members at once."""
    return isinstance(X, np.ndarray) and not issparse(X) and 0 < len(X) <= FEW and X.dtype == np.float64


def logistic_for_few(
    X: NDArray[np.float64], coef: NDArray[np.float64], intercept: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probabilities (M, n, K) of M members with coefficients (M, K, d), as `predict_logistic` has each.

    To the bit: each member's product is the same product of a tile filled up with zeros.

    Examples
    --------
    >>> logistic_for_few(np.array([[0.0], [2.0]]), np.ones((2, 1, 1)), np.zeros((2, 1))).round(3).tolist()
    [[[0.5], [0.881]], [[0.5], [0.881]]]
    """
    return checked(_probabilities(_scores(X, coef, intercept)))


def chains_for_few(fit: ChainFit, X: NDArray[np.float64], decide: bool) -> NDArray[np.float64]:
    """Return the probabilities (M, n, K) that the chains give to the labels, as `predict_chains` has them."""
    scores = _scores(X, fit.coef, fit.intercept)
    for walked, influence in zip(scores, fit.influence, strict=True):
        walk(walked, influence, decide)
    probabilities = np.empty_like(scores)
    np.put_along_axis(probabilities, fit.orders[:, np.newaxis], checked(_probabilities(scores)), axis=2)
    return probabilities


def _scores(X: NDArray[np.float64], coef: NDArray[np.float64], intercept: NDArray[np.float64]) -> NDArray[np.float64]:
    tile = np.zeros((TILE, X.shape[1]))
    tile[: len(X)] = X
    room = np.empty((TILE, coef.shape[1]))
    scores = np.empty((len(coef), len(X), coef.shape[1]))
    with one_blas_thread():
        for its_coef, its_scores in zip(coef, scores, strict=True):
            its_scores[:] = np.matmul(tile, its_coef.T, out=room)[: len(X)]
    scores += intercept[:, np.newaxis]
    return scores


def _probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    probabilities: NDArray[np.float64] = sigmoid(scores.reshape(-1, scores.shape[2])).reshape(scores.shape)
    return probabilities
