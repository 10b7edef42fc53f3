"""The default base learner: logistic regression, all members and labels fitted at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression

from comitia._errors import ComitiaError
from comitia._labels import FloatArray
from comitia.learners.chains import ChainFit, predict_chains
from comitia.learners.logistic import predict_logistic
from comitia.relevance import Marginals, Relevance

_NO_JOINT = (
    "members of this ensemble give marginals, not labelset distributions: 'ctp-joint' needs an ensemble of trees"
    " (EMODTClassifier)."
)


@dataclass(frozen=True)
class FastLogistic:
    """What the fast solver needs to know of a logistic regression."""

    C: float = 1.0
    fit_intercept: bool = True
    standardise: bool = True

    @classmethod
    def standing_in_for(cls, estimator: Any) -> FastLogistic | None:
        """Return the setting that gives the same model as ``estimator``, or None where scikit-learn has to fit it.

        None is logistic regression on standardised features.  A ``LogisticRegression`` is covered when nothing but C,
        fit_intercept and what leaves the optimum as it is was changed: a solver of the same objective (liblinear
        penalises the intercept), more iterations, n_jobs, verbose, random_state.
        """
        if estimator is None:
            return cls()
        if type(estimator) is not LogisticRegression:
            return None
        given, default = estimator.get_params(), LogisticRegression().get_params()
        free = {"C", "fit_intercept", "n_jobs", "verbose", "random_state", "solver", "max_iter"}
        if any(given[name] != default[name] for name in default if name not in free):
            return None
        if given["solver"] == "liblinear" or given["max_iter"] < default["max_iter"]:
            return None
        return cls(C=given["C"], fit_intercept=given["fit_intercept"], standardise=False)

    def scaling(self, X: Any, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the centre and the scale of each feature; sparse features are scaled, not centred."""
        d = X.shape[1]
        if not self.standardise:
            return np.zeros(d), np.ones(d)
        w = weight / weight.sum()
        if issparse(X):
            mean = X.T @ w
            variance = X.multiply(X).T @ w - mean**2
            centre = np.zeros(d)
        else:
            centre = mean = w @ X
            variance = w @ (X - mean) ** 2
        # A feature whose spread is rounding error is constant.
        constant = variance <= (10 * np.finfo(np.float64).eps) * (mean**2 + variance)
        return centre, np.where(constant, 1.0, np.sqrt(np.maximum(variance, 0)))


def scaled(X: Any, centre: FloatArray, scale: FloatArray) -> Any:
    """Return (X - centre) / scale in double precision; sparse X stays sparse."""
    if issparse(X):
        return X.astype(np.float64).multiply(1 / scale).tocsr()
    return (X - centre) / scale


@dataclass(frozen=True)
class LogisticCrew:
    """Members with a logistic regression for each label.

    Parameters
    ----------
    coef : array, shape (M, K, d)
        For the features as they are given: scaling is folded in.
    intercept : array, shape (M, K)
    """

    coef: FloatArray
    intercept: FloatArray

    def __len__(self) -> int:
        return len(self.coef)

    def relevances(self, X: Any, joint: bool = False) -> Iterator[Relevance]:
        if joint:
            raise ComitiaError(_NO_JOINT)
        return (
            Marginals._trusted(p=predict_logistic(X, coef, intercept))
            for coef, intercept in zip(self.coef, self.intercept, strict=True)
        )

    def repeated(self, times: int) -> LogisticCrew:
        """Return so many copies of the one member that all of them are."""
        return LogisticCrew(np.tile(self.coef, (times, 1, 1)), np.tile(self.intercept, (times, 1)))

    def joined(self, other: LogisticCrew) -> LogisticCrew:
        return LogisticCrew(np.concatenate([self.coef, other.coef]), np.concatenate([self.intercept, other.intercept]))


@dataclass(frozen=True)
class ChainCrew:
    """Members that are chains of logistic regressions, walked together."""

    fit: ChainFit
    centre: FloatArray
    scale: FloatArray
    method: Literal["predict", "predict_proba"]
    n_jobs: int | None = None

    def __len__(self) -> int:
        return len(self.fit.orders)

    def relevances(self, X: Any, joint: bool = False) -> Iterator[Relevance]:
        if joint:
            raise ComitiaError(_NO_JOINT)
        if X.shape[0] == 0:
            empty = np.empty((0, self.fit.orders.shape[1]))
            return (Marginals._trusted(p=empty) for _ in range(len(self)))
        features = scaled(X, self.centre, self.scale)
        walked = predict_chains(self.fit, features, method=self.method, n_jobs=self.n_jobs)
        return (Marginals._trusted(p=p) for p in walked)

    def joined(self, other: ChainCrew) -> ChainCrew:
        both = {
            name: np.concatenate([getattr(self.fit, name), getattr(other.fit, name)])
            for name in ChainFit.__dataclass_fields__
        }
        return ChainCrew(ChainFit(**both), self.centre, self.scale, self.method, self.n_jobs)
