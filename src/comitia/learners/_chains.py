"""Classifier chains of logistic regressions: the links of all chains fitted at once, all chains walked together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from comitia._arrays import check_finite, check_form, check_sparse
from comitia._compiled import njit
from comitia._errors import ComitiaError
from comitia.learners._logistic import checked_targets, fit_with
from comitia.learners._logistic_predict import by_member, linear_scores, sigmoid


@dataclass(frozen=True)
class ChainFit:
    """M chains over K labels; the link at position k of chain m decides label ``orders[m, k]``.

    Attributes
    ----------
    orders : int64 array of shape (M, K)
    coef : float64 array of shape (M, K, d)
        Coefficients of the features, by position.
    influence : float64 array of shape (M, K, K)
        ``influence[m, j, k]`` is what the label at position j adds to the score of the link at position k > j.
    intercept, objective : float64 arrays of shape (M, K)
    converged : bool array of shape (M, K)
    n_iter : int64 array of shape (M, K)

    Examples
    --------
    >>> from comitia.learners import fit_chains
    >>> fit = fit_chains([[0.0], [1.0], [2.0]], [[0, 1], [1, 0], [1, 0]], [[0, 1], [1, 0]])
    >>> fit.coef.shape, fit.influence.shape
    ((2, 2, 1), (2, 2, 2))
    """

    orders: NDArray[np.int64]
    coef: NDArray[np.float64]
    influence: NDArray[np.float64]
    intercept: NDArray[np.float64]
    objective: NDArray[np.float64]
    converged: NDArray[np.bool_]
    n_iter: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Raise ComitiaError unless these are chains: the walk follows the arrays without looking again."""
        check_form("orders", self.orders, np.int64, (None, None))
        M, K = self.orders.shape
        if not M or not K:
            raise ComitiaError(f"orders must name at least one chain of one label; got shape {(M, K)}.")
        _checked_orders(self.orders, K)
        check_form("coef", self.coef, np.float64, (M, K, None))
        check_form("influence", self.influence, np.float64, (M, K, K))
        for name in ("intercept", "objective"):
            check_form(name, getattr(self, name), np.float64, (M, K))
        check_form("converged", self.converged, np.bool_, (M, K))
        check_form("n_iter", self.n_iter, np.int64, (M, K))
        check_finite("coef", self.coef)
        check_finite("influence", self.influence)
        check_finite("intercept", self.intercept, or_infinite=True)


def fit_chains(
    X: ArrayLike | sp.sparray,
    Y: ArrayLike,
    orders: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    C: float = 1.0,
    fit_intercept: bool = True,
    tol: float = 1e-5,
    max_iter: int = 1000,
    n_jobs: int | None = None,
    verbose: int = 0,
    device: str = "cpu",
) -> ChainFit:
    """Fit M classifier chains of logistic regressions.

    The link at position k of a chain is a logistic regression on the features and the labels at positions
    before k.  Every link of every chain is one problem of `fit_logistic` on [X, Y], whose mask removes the
    coefficients of the labels that come later.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    Y : array of shape (n, K)
        0 or 1.
    orders : int array of shape (M, K)
        Each row is a permutation of the labels.
    sample_weight : array of shape (n, M), optional
        A column of weights for each chain.
    C, fit_intercept, tol, max_iter, n_jobs, verbose, device
        As in `fit_logistic`.

    Returns
    -------
    ChainFit

    References
    ----------
    Read, Pfahringer, Holmes and Frank (2011), Classifier chains for multi-label classification.

    Examples
    --------
    >>> from comitia.learners import fit_chains, predict_chains
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> fit = fit_chains(X, Y, orders=[[0, 1], [1, 0]])
    >>> predict_chains(fit, X, method="predict").shape
    (2, 4, 2)
    """
    X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), input_name="X")
    if sp.issparse(X):
        check_sparse("X", X)
    Y = np.asarray(Y)
    if Y.ndim != 2 or len(Y) != X.shape[0]:
        raise ComitiaError(f"Y must have shape ({X.shape[0]}, K), one row for each row of X; got shape {Y.shape}.")
    d, K = X.shape[1], Y.shape[1]
    orders = _checked_orders(orders, K)
    M = len(orders)
    if sample_weight is not None and np.shape(sample_weight) != (X.shape[0], M):
        raise ComitiaError(
            f"sample_weight must have shape ({X.shape[0]}, {M}), a row for each row of X and a column for each chain; "
            f"got shape {np.shape(sample_weight)}."
        )
    position = np.argsort(orders, axis=1)
    earlier = position[:, None, :] < np.arange(K)[None, :, None]
    mask = np.concatenate([np.ones((M, K, d), dtype=bool), earlier], axis=2)
    fit = fit_with(
        X,
        sp.csr_array(checked_targets(Y, X.shape[0]), dtype=np.float64),
        Y,
        sample_weight=sample_weight,
        target_of=orders.ravel(),
        weight_of=np.zeros(M * K, dtype=int) if sample_weight is None else np.repeat(np.arange(M), K),
        mask=mask.reshape(M * K, d + K),
        C=C,
        fit_intercept=fit_intercept,
        tol=tol,
        max_iter=max_iter,
        n_jobs=n_jobs,
        verbose=verbose,
        device=device,
    )
    coef = fit.coef.reshape(M, K, d + K)
    by_position = np.take_along_axis(coef[:, :, d:], orders[:, None, :], axis=2)
    return ChainFit(
        orders=orders,
        coef=coef[:, :, :d].copy(),
        influence=np.ascontiguousarray(by_position.transpose(0, 2, 1)),
        **{name: getattr(fit, name).reshape(M, K) for name in ("intercept", "objective", "converged", "n_iter")},
    )


def predict_chains(
    fit: ChainFit,
    X: ArrayLike | sp.sparray,
    *,
    method: Literal["predict", "predict_proba"] = "predict",
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return the probabilities (M, n, K) that the links of each chain give to the labels.

    All chains walk a step a label.  The next links read what a link passes on: its decision (probability above
    1/2) with ``method="predict"``, its probability with ``"predict_proba"``; this is ``chain_method`` of
    scikit-learn's ``ClassifierChain``.

    Parameters
    ----------
    fit : ChainFit
    X : array or sparse array of shape (n, d)
    method : {"predict", "predict_proba"}
    n_jobs : int, optional
        Threads.  The result has the same bits for any number, and a row's bits do not depend on other rows.

    Notes
    -----
    The features' part of all scores is one matrix product a chain, n K d operations.  A label passed on as 0
    costs nothing, so with decisions the walk follows the number of relevant labels, not K².

    Examples
    --------
    >>> from comitia.learners import fit_chains, predict_chains
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> fit = fit_chains(X, Y, orders=[[0, 1], [1, 0]], C=10)
    >>> predict_chains(fit, [[0.5]]).round()[:, 0]
    array([[0., 1.],
           [0., 1.]])
    """
    M, K = fit.orders.shape
    return by_member(ChainPredictor.of(fit, X, method), (M, _num_samples(X), K), n_jobs)


@dataclass(frozen=True)
class ChainPredictor:
    """Chains that are walked for some rows at a time; see `predict_chains`."""

    fit: ChainFit
    X: Any
    decide: bool

    @classmethod
    def of(cls, fit: ChainFit, X: Any, method: str) -> ChainPredictor:
        """Check X, once for all chains."""
        if method not in ("predict", "predict_proba"):
            raise ComitiaError(f"method must be 'predict' or 'predict_proba'; got {method!r}.")
        X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X", ensure_min_samples=0, order="C")
        if sp.issparse(X):
            check_sparse("X", X)
        if X.shape[1] != fit.coef.shape[2]:
            raise ComitiaError(f"X has {X.shape[1]} features, but the chains were fitted on {fit.coef.shape[2]}.")
        return cls(fit, X, method == "predict")

    def member(self, m: int, rows: slice) -> NDArray[np.float64]:
        fit = self.fit
        scores = linear_scores(self.X[rows], fit.coef[m], fit.intercept[m])
        walk(scores, fit.influence[m], self.decide)
        found = np.zeros(scores.shape)
        add_by_label(sigmoid(scores), fit.orders[m], found)
        return found


def _checked_orders(orders: ArrayLike, K: int) -> NDArray[np.int64]:
    array = np.asarray(orders)
    if array.ndim != 2 or array.shape[1] != K:
        raise ComitiaError(f"orders must have shape (M, {K}), a permutation a row; got shape {array.shape}.")
    wrong = np.flatnonzero((np.sort(array, axis=1) != np.arange(K)).any(axis=1))
    if len(wrong):
        raise ComitiaError(
            f"orders must hold permutations of 0..{K - 1}; got {array[wrong[0]].tolist()} in row {wrong[0]}."
        )
    return array.astype(np.int64)


@njit(cache=True, nogil=True, fastmath={"contract"})
def walk(scores: Any, influence: Any, decide: bool) -> None:
    """Complete the scores (n, K) that the features give to the links, by position, with what links pass on."""
    n, K = scores.shape
    for i in range(n):
        for k in range(K):
            if not decide:
                passed = 1 / (1 + math.exp(-scores[i, k]))
            elif scores[i, k] > 0:
                passed = 1.0
            else:
                continue
            for later in range(k + 1, K):
                scores[i, later] += passed * influence[k, later]


@njit(cache=True, nogil=True)
def add_by_label(values: Any, order: Any, out: Any) -> None:
    """Add what is known by position where it is known by label."""
    for i in range(values.shape[0]):
        for k in range(order.size):
            out[i, order[k]] += values[i, k]
