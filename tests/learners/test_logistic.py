import warnings

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from comitia.datasets import load_mulan
from comitia.learners import _logistic, _logistic_blocks
from comitia.learners._logistic import fit_logistic
from comitia.learners._logistic_kernels import (
    Design,
    Sample,
    add_products,
    add_rows,
    add_sparse_moments,
    evaluate,
    residuals,
    take_rows,
)
from comitia.learners._logistic_predict import predict_logistic
from comitia.learners._logistic_solver import MEMORY, Objectives, State, metric_of, padded
from comitia.learners._logistic_steps import advance, apply_metric


def bootstraps(n, members, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(members)], axis=1)


def objective(X, y, weights, coef, intercept, C=1.0):
    losses = np.logaddexp(0, -(2.0 * y - 1) * (X @ coef + intercept))
    return 0.5 * coef @ coef + C * weights @ losses


def best(X, y, weights, *, C=1.0, fit_intercept=True):
    """What scikit-learn reaches at a tolerance of 1e-8, and the probabilities there.

    It is given centred features, which changes only the intercept: far from zero they defeat its solvers.
    """
    if fit_intercept and not sp.issparse(X):
        X = X - X.mean(axis=0, dtype=np.float64)
    solver = "lbfgs" if sp.issparse(X) else "newton-cholesky"
    model = LogisticRegression(solver=solver, C=C, fit_intercept=fit_intercept, tol=1e-8, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=weights)
    intercept = model.intercept_[0] if fit_intercept else 0.0
    return objective(X, y, weights, model.coef_[0], intercept, C), model.predict_proba(X)[:, 1]


def labels(X, rates, rng, noise=1.0):
    scores = X @ rng.normal(size=(X.shape[1], len(rates))) / np.sqrt(X.shape[1])
    scores = scores + noise * rng.normal(size=scores.shape)
    thresholds = [np.quantile(column, 1 - rate) for column, rate in zip(scores.T, rates, strict=True)]
    return (scores > thresholds).astype(np.int8)


def hard_cases():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 12))
    rare = [0.5, 0.1, 0.02]
    Y = labels(X, rare, rng)
    yield "plain", X, Y
    yield "single precision", X.astype(np.float32), Y
    yield "separable", X, labels(X, [0.5, 0.1], rng, noise=0.0)
    yield "collinear and constant features", np.hstack([X, X[:, :4], X[:, :1] + X[:, 1:2], np.full((150, 2), 3.0)]), Y
    yield "features far from zero and of any scale", X * 10.0 ** np.linspace(-3, 4, 12) + 1e4, Y
    wide = rng.normal(size=(40, 90))
    yield "more features than rows", wide, labels(wide, rare, rng)
    yield "weights of a million", X, Y
    seldom = (rng.random((200, 40)) < 0.05).astype(float)
    usual = np.hstack([1 - seldom, 3.7 + 50 * seldom, rng.normal(size=(200, 3)), seldom * rng.normal(size=(200, 40))])
    yield "columns with a usual value", usual, labels(usual, rare, rng)
    sparse = sp.csr_array(rng.random((200, 60)) * (rng.random((200, 60)) < 0.05))
    yield "sparse", sparse, labels(sparse, rare, rng)


CASES = {name: (X, Y) for name, X, Y in hard_cases()}


@pytest.mark.parametrize("metric", ["matrix", "diagonal"])
@pytest.mark.parametrize("case", CASES)
def test_every_problem_reaches_the_objective_of_scikit_learn(case, metric, monkeypatch):
    if metric == "diagonal":
        monkeypatch.setattr(_logistic_blocks, "MATRIX_FEATURES", 0)
    X, Y = CASES[case]
    weights = bootstraps(X.shape[0], 3) * (1e6 if "million" in case else 1)
    fit = fit_logistic(X, Y, sample_weight=weights)
    for b in range(3 * Y.shape[1]):
        m, label = divmod(b, Y.shape[1])
        if len(set(Y[weights[:, m] > 0, label])) < 2:
            continue
        least, _ = best(X, Y[:, label], weights[:, m])
        reached = objective(X, Y[:, label], weights[:, m], fit.coef[b], fit.intercept[b])
        assert reached <= least * (1 + 1e-5), (m, label)
        assert fit.objective[b] == pytest.approx(reached, rel=1e-9)
    assert fit.converged.all()


@pytest.mark.parametrize("name", ["cal500", "medical"])
def test_the_rarest_labels_of_real_data_are_solved_too(shared_data, name):
    data = load_mulan(shared_data / name / f"{name}.arff", shared_data / name / f"{name}.xml")
    X = data.X if sp.issparse(data.X) else StandardScaler().fit_transform(data.X)
    Y = data.Y[:, np.argsort(data.Y.sum(axis=0), kind="stable")[:12]]
    weights = bootstraps(X.shape[0], 4)
    fit = fit_logistic(X, Y, sample_weight=weights)
    assert fit.converged.all()
    for b in np.flatnonzero(np.isfinite(fit.intercept))[::3]:
        y, s = Y[:, b % 12], weights[:, b // 12]
        least, _ = best(X, y, s)
        assert objective(X, y, s, fit.coef[b], fit.intercept[b]) <= least * (1 + 1e-5)


@pytest.mark.parametrize("C", [1e-3, 1e3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_regularisation_and_intercept_mean_what_they_mean_in_scikit_learn(C, fit_intercept):
    X, Y = CASES["plain"]
    weights = np.random.default_rng(1).random((len(X), 2))
    fit = fit_logistic(X, Y, sample_weight=weights, C=C, fit_intercept=fit_intercept)
    for b in range(len(fit.coef)):
        m, label = divmod(b, Y.shape[1])
        least, probabilities = best(X, Y[:, label], weights[:, m], C=C, fit_intercept=fit_intercept)
        assert fit.objective[b] <= least * (1 + 1e-5)
        ours = predict_logistic(X, fit.coef[[b]], fit.intercept[[b]])[:, 0]
        assert ours == pytest.approx(probabilities, abs=2e-3)


def test_coefficients_outside_the_mask_are_zero_and_the_others_optimal():
    X, Y = CASES["collinear and constant features"]
    rng = np.random.default_rng(2)
    mask = rng.random((12, X.shape[1])) < 0.5
    target_of, weight_of = np.arange(12) % 3, np.arange(12) // 6
    weights = bootstraps(len(X), 2)
    fit = fit_logistic(X, Y, sample_weight=weights, target_of=target_of, weight_of=weight_of, mask=mask)
    assert (fit.coef[~mask] == 0).all()
    for b in range(12):
        y, s = Y[:, target_of[b]], weights[:, weight_of[b]]
        least, _ = best(X[:, mask[b]], y, s)
        assert objective(X, y, s, fit.coef[b], fit.intercept[b]) <= least * (1 + 1e-5)


def test_a_problem_may_have_no_features_at_all():
    X, Y = CASES["plain"]
    fit = fit_logistic(X, Y, mask=np.zeros((3, X.shape[1]), dtype=bool))
    assert expit(fit.intercept) == pytest.approx(Y.mean(axis=0), rel=1e-4)


def test_constant_targets_have_probability_exactly_zero_or_one():
    X, Y = CASES["plain"]
    Y = np.column_stack([Y[:, 0], np.zeros(150), np.ones(150), np.arange(150) < 10])
    weights = np.column_stack([np.ones(150), np.arange(150) >= 10])
    fit = fit_logistic(X, Y, sample_weight=weights)
    assert fit.intercept[[1, 2, 5, 6, 7]].tolist() == [-np.inf, np.inf, -np.inf, np.inf, -np.inf]
    assert (fit.coef[[1, 2, 5, 6, 7]] == 0).all()
    assert np.isfinite(fit.intercept[[0, 3, 4]]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = predict_logistic(X, fit.coef, fit.intercept)
    assert (P[:, [1, 5, 7]] == 0).all()
    assert (P[:, [2, 6]] == 1).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_of_which_most_rows_have_one_value_are_sparse_less_that_value(form):
    X, _ = CASES["columns with a usual value"]
    design, order, centre = _logistic._design(form(X), True)
    thin = X.shape[1] + 1 - design.dense.shape[1]
    assert thin == 120
    assert (centre[:40] == 1).all()
    assert (centre[40:80] == 3.7).all()
    assert sorted(order[thin:]) == [80, 81, 82]
    sparse = sp.csr_array((design.data, design.indices, design.indptr), shape=(200, thin)).toarray()
    assert np.count_nonzero(sparse) == len(design.data) < 0.1 * sparse.size
    np.testing.assert_allclose(np.hstack([sparse, design.dense[:, :-1]]), X[:, order] - centre[order])
    assert (_logistic._design(form(X), False).centre == 0).all()


def test_a_dense_matrix_may_come_as_a_sparse_one():
    X, Y = CASES["plain"]
    assert (fit_logistic(sp.csr_array(X), Y).coef == fit_logistic(X, Y).coef).all()


def test_problems_are_ordered_by_weights_then_by_targets():
    X, Y = CASES["plain"]
    weights = bootstraps(len(X), 2)
    together = fit_logistic(X, Y[:, :2], sample_weight=weights)
    swapped = fit_logistic(X, Y[:, :2], sample_weight=weights, target_of=[0, 0, 1, 1], weight_of=[0, 1, 0, 1])
    assert together.coef == pytest.approx(swapped.coef[[0, 2, 1, 3]], abs=1e-3)


def test_rows_of_weight_zero_do_not_matter():
    X, Y = CASES["plain"]
    weights = bootstraps(len(X), 1)
    kept = weights[:, 0] > 0
    whole = fit_logistic(X, Y, sample_weight=weights, tol=1e-9)
    part = fit_logistic(X[kept], Y[kept], sample_weight=weights[kept], tol=1e-9)
    assert whole.coef == pytest.approx(part.coef, abs=1e-4)


@pytest.mark.parametrize("case", ["plain", "sparse"])
def test_results_have_the_same_bits_for_any_number_of_threads(case, monkeypatch):
    monkeypatch.setattr(_logistic_blocks, "BLOCK", 2)
    monkeypatch.setattr(_logistic_blocks, "ANCHOR_BLOCK", 1)
    X, Y = CASES[case]
    weights = bootstraps(X.shape[0], 4)
    one = fit_logistic(X, Y, sample_weight=weights, n_jobs=1)
    three = fit_logistic(X, Y, sample_weight=weights, n_jobs=3)
    assert (one.coef == three.coef).all()
    assert (one.intercept == three.intercept).all()


def test_a_problem_that_is_not_solved_is_named():
    X, Y = CASES["plain"]
    with pytest.warns(ConvergenceWarning, match=r"2 of 2 .* problems 0 \(target 1, weights 0\), 1 \(target 0"):
        fit = fit_logistic(X, Y, target_of=[1, 0], weight_of=[0, 0], max_iter=1)
    assert not fit.converged.any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"targets": np.full((150, 1), 2)}, "targets must hold 0 and 1 only; got 2"),
        ({"targets": np.zeros(150)}, r"targets must have shape .* got shape \(150,\)"),
        ({"sample_weight": -np.ones((150, 1))}, "not negative; got -1"),
        ({"sample_weight": np.ones((149, 1))}, r"sample_weight must have shape .* got shape \(149, 1\)"),
        ({"sample_weight": np.zeros((150, 2))}, r"got none in columns \[0, 1\]"),
        ({"target_of": [0]}, "given together"),
        ({"target_of": [3], "weight_of": [0]}, r"target_of must lie in \[0, 3\); it runs from 3 to 3"),
        ({"target_of": [0, 1], "weight_of": [0]}, "as many problems; got 2 and 1"),
        ({"target_of": [0.5], "weight_of": [0]}, "target_of must be a list of integers"),
        ({"mask": np.ones((3, 11), dtype=bool)}, r"mask must be boolean of shape \(3, 12\)"),
        ({"C": 0.0}, "C must be a positive number"),
        ({"X": np.full((150, 12), np.nan)}, "X contains NaN"),
    ],
)
def test_bad_input_is_refused_with_its_reason(given, message):
    X, Y = CASES["plain"]
    arguments = {"X": X, "targets": Y} | given
    with pytest.raises(ValueError, match=message):
        fit_logistic(**arguments)


def test_a_row_is_predicted_with_the_same_bits_in_any_company():
    rng = np.random.default_rng(3)
    X, coef, intercept = rng.normal(size=(700, 9)), rng.normal(size=(5, 9)), rng.normal(size=5)
    together = predict_logistic(X, coef, intercept)
    assert together == pytest.approx(expit(X @ coef.T + intercept), abs=1e-14)
    for rows in (slice(0, 1), slice(3, 500), slice(650, 700)):
        assert (predict_logistic(X[rows], coef, intercept) == together[rows]).all()
        assert predict_logistic(sp.csr_array(X[rows]), coef, intercept) == pytest.approx(together[rows], abs=1e-14)


def test_prediction_refuses_other_features():
    with pytest.raises(ValueError, match=r"coef must have shape \(B, 4\), as X has features; got shape \(2, 3\)"):
        predict_logistic(np.ones((1, 4)), np.ones((2, 3)), np.ones(2))
    with pytest.raises(ValueError, match=r"intercept must have shape \(2,\), .* got shape \(3,\)"):
        predict_logistic(np.ones((1, 4)), np.ones((2, 4)), np.ones(3))


@numba.njit
def residual_loop(scores, targets, weights, losses):
    residuals(scores, targets, weights, losses)


@pytest.mark.parametrize("loop", [residual_loop, residuals], ids=["compiled", "plain"])
@pytest.mark.parametrize(("dtype", "digits"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_the_residual_loop_is_sigmoid_and_softplus(loop, dtype, digits):
    rng = np.random.default_rng(4)
    scores = (5 * rng.normal(size=(40, 7))).astype(dtype)
    scores[0] = [0, 1e-4, -1e-4, 80, -80, 1e4, -1e4]
    targets = rng.integers(2, size=scores.shape).astype(np.int8)
    weights = rng.integers(3, size=40).astype(dtype)
    losses = np.ones(7, dtype=dtype)
    filled = scores.copy()
    loop(filled, targets, weights, losses)
    exact, sign, s = scores.astype(np.float64), 1.0 - 2 * targets, weights[:, None].astype(np.float64)
    np.testing.assert_allclose(filled, s * sign * expit(sign * exact), rtol=digits, atol=1e-37)
    np.testing.assert_allclose(losses, 1 + (s * np.logaddexp(0, sign * exact)).sum(axis=0), rtol=2 * digits)


def mixed_design(rng, n, thin, thick, dtype=np.float64):
    sparse = sp.csr_array((rng.random((n, thin)) * (rng.random((n, thin)) < 0.2)).astype(dtype))
    dense = rng.normal(size=(n, thick)).astype(dtype)
    design = Design(dense, sparse.indptr.astype(np.int64), sparse.indices.astype(np.uint32), sparse.data)
    return design, np.hstack([sparse.toarray(), dense])


def test_sparse_products_are_the_dense_ones():
    rng = np.random.default_rng(5)
    design, X = mixed_design(rng, 30, 20, 0)
    rows = np.arange(0, 30, 2)
    matrix, residues = rng.normal(size=(20, 3)), rng.normal(size=(15, 3))
    out, into, moments, weights = np.ones((15, 3)), np.ones((20, 3)), np.zeros((20, 20)), rng.random(15)
    add_products(design, rows, matrix, out)
    add_rows(design, rows, residues, into)
    add_sparse_moments(design, rows, weights, moments)
    np.testing.assert_allclose(out, 1 + X[rows] @ matrix)
    np.testing.assert_allclose(into, 1 + X[rows].T @ residues)
    np.testing.assert_allclose(moments, np.tril(X[rows].T @ (weights[:, None] * X[rows])))


@pytest.mark.parametrize(("thin", "thick"), [(6, 4), (0, 4), (6, 0)])
@pytest.mark.parametrize(("dtype", "digits"), [(np.float32, 1e-4), (np.float64, 1e-12)])
def test_values_and_gradients_are_those_of_the_formula(thin, thick, dtype, digits):
    rng = np.random.default_rng(8)
    n, P = 3000, 5
    design, X = mixed_design(rng, n, thin, thick, dtype)
    rows = np.sort(rng.choice(n, 2500, replace=False))
    X, penalty = X[rows].astype(np.float64), np.append(np.ones(thin + thick - 1), 0.0)
    Y, s, W = rng.integers(2, size=(2500, P)), rng.random(2500), rng.normal(size=(P, thin + thick))
    sign = 1.0 - 2 * Y
    losses = 0.5 * (W * W) @ penalty + s @ np.logaddexp(0, sign * (X @ W.T))
    slopes = W * penalty + (s[:, None] * sign * expit(sign * (X @ W.T))).T @ X
    labels = padded(Y)
    for given, places in ((design, rows), (take_rows(design, rows), np.arange(2500))):
        values, gradients = np.empty(P), np.empty(W.shape)
        evaluate(given, Sample(places, s, labels), penalty, W, values, gradients)
        np.testing.assert_allclose(values, losses, rtol=digits)
        np.testing.assert_allclose(gradients, slopes, rtol=digits, atol=100 * digits)


@pytest.mark.parametrize("compact", [False, True])
def test_a_metric_multiplies_with_the_inverse_of_the_hessian_among_free_coefficients(compact):
    rng = np.random.default_rng(6)
    roots, vector, free = rng.normal(size=(9, 5)), rng.normal(size=5), np.array([1, 0, 1, 1, 1], dtype=bool)
    hessian = roots.T @ roots
    given = np.stack([np.diagonal(hessian), hessian[-1]]) if compact else hessian
    expected, within = np.zeros(5), np.ix_(free, free)
    if compact:  # the coefficients are taken for independent of each other, not of the intercept
        shear = np.eye(5)
        shear[-1, :-1] = -hessian[-1, :-1] / hessian[-1, -1]
        sheared = np.diag(np.diagonal(shear.T @ hessian @ shear))
        expected[free] = (shear[within] @ np.linalg.inv(sheared)[within] @ shear[within].T) @ vector[free]
    else:
        expected[free] = np.linalg.solve(hessian[within], vector[free])
    out = np.where(free, vector, 0.0).astype(np.float32)
    apply_metric(metric_of(given, free), out)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-6)


def test_directions_are_those_of_bfgs_with_explicit_matrices():
    X, Y = CASES["plain"]
    design = np.hstack([X, np.ones((len(X), 1))])
    penalty = np.append(np.ones(X.shape[1]), 0.0)
    whole = Design(design, np.zeros(len(X) + 1, np.int64), np.zeros(0, np.uint32), np.zeros(0))
    sample = Sample(np.arange(len(X)), np.ones(len(X)), padded(Y))
    objectives = Objectives(whole, whole, sample, penalty, None)
    hessian = np.diag(penalty) + 0.1 * design.T @ design
    metric = metric_of(hessian)[None]
    state = State.starting(np.zeros((3, 13)))
    matrices = [np.linalg.inv(hessian)] * 3
    for _ in range(MEMORY):
        before = state.point.copy(), state.gradient.copy(), state.iterations.copy()
        state.trial_objective[:], state.trial_gradient[:] = objectives.at(state.trial)
        advance(state, metric, np.zeros(3, dtype=np.int64), penalty, 1e-12, 1e-12, 30)
        for p in range(3):
            if state.iterations[p] > max(before[2][p], 1):
                step, change = state.point[p] - before[0][p], state.gradient[p] - before[1][p]
                shear = np.eye(13) - np.outer(step, change) / (step @ change)
                matrices[p] = shear @ matrices[p] @ shear.T + np.outer(step, step) / (step @ change)
            np.testing.assert_allclose(state.direction[p], -matrices[p] @ state.gradient[p], rtol=1e-4, atol=1e-6)
    assert (state.iterations > 4).all()
