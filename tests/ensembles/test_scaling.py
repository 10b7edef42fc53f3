"""How features are centred and scaled for logistic regressions, and for whom those of the library stand in."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.linear_model import LogisticRegression

from comitia.ensembles._logistic import FAST_C, FastLogistic, scaled

RNG = np.random.default_rng(3)
X = RNG.normal(size=(50, 40)) * np.geomspace(1e-3, 1e3, 40) * (RNG.random((50, 40)) < 0.6)
X[:, 5], X[:, 6], X[:, 7] = 0.0, 0.1, 1 + 1e-6 * RNG.integers(0, 2, 50)
WEIGHT = RNG.random(50)


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scaling", ["none", "standard", "range"])
def test_features_are_scaled_by_their_weighted_spread_or_range_and_centred_unless_sparse(scaling, form):
    mean = np.average(X, axis=0, weights=WEIGHT)
    expected = {
        "none": np.ones(40),
        "standard": np.sqrt(np.average((X - mean) ** 2, axis=0, weights=WEIGHT)),
        "range": np.ptp(X, axis=0),
    }[scaling].copy()
    expected[[5, 6]] = 1.0  # constant, but for rounding
    centre, scale = FastLogistic(scaling=scaling).centre_and_scale(form(X), WEIGHT)
    np.testing.assert_allclose(scale, expected, rtol=1e-3 if form is csr_array else 1e-9)
    assert scale[[5, 6]].tolist() == [1.0, 1.0]
    centred = scaling != "none" and form is np.asarray
    np.testing.assert_allclose(centre, mean if centred else np.zeros(40), atol=1e-12)
    found = scaled(form(X), centre, scale)
    np.testing.assert_allclose(found.toarray() if issparse(found) else found, (X - centre) / scale, atol=1e-12)


class Another(LogisticRegression):
    pass


@pytest.mark.parametrize(
    ("estimator", "stands_in"),
    [
        (LogisticRegression(C=3), FastLogistic(C=3, scaling="none")),
        (LogisticRegression(fit_intercept=False), FastLogistic(fit_intercept=False, scaling="none")),
        (LogisticRegression(max_iter=100, random_state=3), FastLogistic(scaling="none")),
        (LogisticRegression(max_iter=99), None),
        (LogisticRegression(C=FAST_C[0]), FastLogistic(C=1e-20, scaling="none")),
        (LogisticRegression(C=FAST_C[1]), FastLogistic(C=1e12, scaling="none")),
        (LogisticRegression(C=0.99e-20), None),
        (LogisticRegression(C=1.01e12), None),
        (LogisticRegression(C=np.inf), None),
        (LogisticRegression(C="1"), None),
        (LogisticRegression(solver="liblinear"), None),
        (LogisticRegression(solver="saga"), FastLogistic(scaling="none")),
        (LogisticRegression(warm_start=True), None),
        (Another(), None),
    ],
    ids=str,
)
def test_the_fast_solver_stands_in_where_the_optimum_is_that_of_scikit_learn(estimator, stands_in):
    assert FastLogistic.standing_in_for(estimator) == stands_in
