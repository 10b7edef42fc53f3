"""The default base learner: logistic regression, all members and labels fitted at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression

from comitia._errors import ComitiaError
from comitia._labels import FloatArray
from comitia._names import unknown
from comitia._threads import over_slices

Scaling = Literal["none", "standard", "range"]

FAST_C = (1e-20, 1e12)
"""The values of C that the fast solver takes; `SOLVABLE` leaves room for sample weights on either side."""


@dataclass(frozen=True)
class FastLogistic:
    """What the fast solver needs to know of a logistic regression."""

    C: float = 1.0
    fit_intercept: bool = True
    scaling: Scaling = "standard"

    @classmethod
    def standing_in_for(cls, estimator: Any) -> FastLogistic | None:
        """Return the setting that gives the same model as ``estimator``, or None where scikit-learn has to fit it.

        A ``LogisticRegression`` is covered when nothing but C, fit_intercept and what leaves the optimum as it is was
        changed: a solver of the same objective (liblinear penalises the intercept), more iterations, n_jobs, verbose,
        random_state.  C must be one that the fast solver certifies: without a penalty (``C=np.inf``) the optimum of
        separable labels is not finite.
        """
        if type(estimator) is not LogisticRegression:
            return None
        given, default = estimator.get_params(), LogisticRegression().get_params()
        free = {"C", "fit_intercept", "n_jobs", "verbose", "random_state", "solver", "max_iter"}
        if any(given[name] != default[name] for name in default if name not in free):
            return None
        if given["solver"] == "liblinear" or given["max_iter"] < default["max_iter"]:
            return None
        if not isinstance(given["C"], int | float) or not FAST_C[0] <= given["C"] <= FAST_C[1]:
            return None
        return cls(C=given["C"], fit_intercept=given["fit_intercept"], scaling="none")

    def centre_and_scale(self, X: Any, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the centre and the scale of each feature; sparse features are scaled, not centred."""
        d = X.shape[1]
        if self.scaling == "none":
            return np.zeros(d), np.ones(d)
        if self.scaling == "range":
            return _by_range(X, weight)
        w = weight / weight.sum()
        if issparse(X):
            mean = X.T @ w
            variance = X.multiply(X).T @ w - mean**2
            centre = np.zeros(d)
        else:
            mean, variance = np.empty(d), np.empty(d)

            def fill(columns: slice) -> None:
                mean[columns] = w @ X[:, columns]
                variance[columns] = w @ (X[:, columns] - mean[columns]) ** 2

            _over_columns(fill, d)
            centre = mean
        # A feature whose spread is rounding error is constant.
        constant = variance <= (10 * np.finfo(np.float64).eps) * (mean**2 + variance)
        return centre, np.where(constant, 1.0, np.sqrt(np.maximum(variance, 0)))


def check_learner(estimator: Any, C: Any, scaling: Any) -> None:
    """Refuse what the default learner does not take, and what is said of it where another is given."""
    if estimator is not None:
        if C != "auto" or scaling != "auto":
            raise ComitiaError(
                f"C and scaling are of the default learner and must be 'auto' where estimator is given; got C={C!r},"
                f" scaling={scaling!r}. A LogisticRegression has a C of its own, a pipeline scales."
            )
        return
    if C != "auto" and not (isinstance(C, int | float) and not isinstance(C, bool) and FAST_C[0] <= C <= FAST_C[1]):
        raise ComitiaError(f"C must be 'auto' or a number from {FAST_C[0]:g} to {FAST_C[1]:g}; got {C!r}.")
    if scaling != "auto" and scaling not in get_args(Scaling):
        raise ComitiaError(unknown("scaling", scaling, ("auto", *get_args(Scaling))))


def _by_range(X: Any, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean, unless X is sparse, and the distance from the smallest to the largest value of each feature."""
    d = X.shape[1]
    centre, width = np.zeros(d), np.empty(d)
    if issparse(X):
        width[:] = X.max(axis=0).toarray().ravel() - X.min(axis=0).toarray().ravel()
    else:

        def fill(columns: slice) -> None:
            centre[columns] = weight @ X[:, columns] / weight.sum()
            width[columns] = X[:, columns].max(axis=0) - X[:, columns].min(axis=0)

        _over_columns(fill, d)
    return centre, np.where(width > 0, width, 1.0)


def _over_columns(fill: Callable[[slice], None], d: int) -> None:
    """Fill what is known of each feature, in threads; always so many at once, so that sums have the same bits."""

    def quietly(columns: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are refused by who asks for them
            fill(columns)

    over_slices(quietly, d, at_least=16, at_most=16)


def scaled(X: Any, centre: FloatArray, scale: FloatArray) -> Any:
    """Return (X - centre) / scale in double precision; sparse X stays sparse."""
    if issparse(X):
        return X.astype(np.float64).multiply(1 / scale).tocsr()
    found = np.empty(X.shape)

    def fill(rows: slice) -> None:
        np.subtract(X[rows], centre, out=found[rows])
        found[rows] /= scale

    over_slices(fill, len(found), at_least=2048)
    return found
