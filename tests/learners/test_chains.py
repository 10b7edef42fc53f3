import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain

from comitia.learners._chains import fit_chains, predict_chains, walk

METHODS = ["predict", "predict_proba"]


@pytest.fixture(scope="module")
def data():
    """Labels that depend on the features and on each other, three orders, and their bootstraps."""
    rng = np.random.default_rng(0)
    n, K = 200, 5
    X = rng.normal(size=(n, 6))
    Y = np.zeros((n, K), dtype=np.int8)
    for k in range(K):
        Y[:, k] = X[:, k] + Y[:, :k].sum(axis=1) - 0.7 * k + rng.normal(size=n) > 0.5
    orders = np.stack([rng.permutation(K) for _ in range(3)])
    weights = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(3)], axis=1)
    return X, Y, orders, weights


def chain_of_scikit_learn(X, Y, order, method, counts):
    base = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    chain = ClassifierChain(base, order=list(order), chain_method=method)
    return chain.fit(X.repeat(counts, axis=0), Y.repeat(counts, axis=0))


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("method", METHODS)
def test_chains_are_those_of_scikit_learn(data, method, as_given):
    X, Y, orders, weights = data
    fit = fit_chains(as_given(X), Y, orders, sample_weight=weights, tol=1e-7)
    P = predict_chains(fit, as_given(X), method=method)
    for m, order in enumerate(orders):
        chain = chain_of_scikit_learn(X, Y, order, method, weights[:, m])
        assert pytest.approx(chain.predict_proba(X), abs=1e-3) == P[m]
        assert ((P[m] > 0.5) == chain.predict(X)).all()


def test_chains_without_weights_see_every_row_once(data):
    X, Y, orders, _ = data
    plain = fit_chains(X, Y, orders, tol=1e-8)
    ones = fit_chains(X, Y, orders, sample_weight=np.ones((len(X), 3)), tol=1e-8)
    assert plain.coef == pytest.approx(ones.coef, abs=1e-3)


def test_a_link_reads_only_the_labels_before_it(data):
    X, Y, orders, weights = data
    fit = fit_chains(X, Y, orders, sample_weight=weights)
    later = np.triu(np.ones((5, 5), dtype=bool), k=1)
    assert (fit.influence[:, ~later] == 0).all()
    assert (fit.influence[:, later] != 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_predictions_have_the_same_bits_for_any_rows_and_threads(data, method):
    X, Y, orders, weights = data
    fit = fit_chains(X, Y, orders, sample_weight=weights)
    together = predict_chains(fit, np.vstack([X] * 9), method=method)
    some = predict_chains(fit, X[7:150], method=method, n_jobs=2)
    assert (some == together[:, 7:150]).all()


def test_a_constant_label_is_predicted_with_certainty_and_influences_nothing(data):
    X, Y, orders, weights = data
    Y = np.hstack([Y, np.ones((len(Y), 1), dtype=np.int8)])
    orders = np.insert(orders, 2, 5, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_chains(X, Y, orders, sample_weight=weights)
        P = predict_chains(fit, X)
    assert (P[:, :, 5] == 1).all()
    assert (fit.coef[:, 2] == 0).all()
    # The penalty leaves nothing to a feature that the intercept can replace.
    assert fit.influence[:, 2] == pytest.approx(0, abs=1e-3)


def test_the_compiled_walk_is_the_plain_one():
    rng = np.random.default_rng(1)
    scores, influence = rng.normal(size=(20, 4)), np.triu(rng.normal(size=(4, 4)), k=1)
    scores[0, 1], scores[1, 2] = np.inf, -np.inf
    for decide in (True, False):
        walked = scores.copy()
        walk(walked, influence, decide)
        expected = np.zeros_like(scores)
        passed = np.zeros_like(scores)
        for k in range(4):
            score = scores[:, k] + passed @ influence[:, k]
            expected[:, k] = expit(score)
            passed[:, k] = score > 0 if decide else expected[:, k]
        np.testing.assert_allclose(expit(walked), expected, rtol=1e-12)


def test_bad_input_is_refused_with_its_reason(data):
    X, Y, orders, weights = data
    with pytest.raises(ValueError, match=r"orders must hold permutations .* in row 1"):
        fit_chains(X, Y, [[0, 1, 2, 3, 4], [0, 1, 2, 3, 3]])
    with pytest.raises(ValueError, match=r"orders must have shape \(M, 5\).* got shape \(3, 4\)"):
        fit_chains(X, Y, orders[:, :4])
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(200, 3\).* got shape \(200, 2\)"):
        fit_chains(X, Y, orders, sample_weight=weights[:, :2])
    with pytest.raises(ValueError, match=r"Y must have shape .* got shape \(199, 5\)"):
        fit_chains(X, Y[1:], orders)
    fit = fit_chains(X, Y, orders)
    with pytest.raises(ValueError, match="X has 5 features, but the chains were fitted on 6"):
        predict_chains(fit, X[:, :5])
    with pytest.raises(ValueError, match="method must be"):
        predict_chains(fit, X, method="decide")
