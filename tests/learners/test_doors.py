"""What compiled loops follow is checked once, where it comes in: nothing leads out of bounds."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from comitia import ComitiaError, EBRClassifier, ECCClassifier, EMODTClassifier
from comitia.datasets import make_joint
from comitia.ensembles._logistic import FAST_C, FastLogistic
from comitia.learners import fit_chains, fit_logistic, grow_trees, predict_chains, predict_logistic
from comitia.learners._logistic import SOLVABLE
from comitia.learners._tree_apply import apply_trees, mean_marginals
from comitia.learners._tree_leaves import LeafCounts

DATA = make_joint(120, 4, 3, dependence=0.7, random_state=1).dataset


@pytest.fixture(scope="module")
def tree():
    return grow_trees(DATA.X, DATA.Y, [0], labelsets=np.arange(120) % 5, max_depth=3)[0]


@pytest.fixture(scope="module")
def chains():
    return fit_chains(DATA.X, DATA.Y, [[0, 1, 2], [2, 1, 0]])


def changed(array, place, value):
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("feature", lambda a: changed(a, 0, 99)),
        ("feature", lambda a: a.astype(np.int64)),
        ("feature", lambda a: a[:0]),
        ("right", lambda a: changed(a, 0, 10**6)),
        ("right", lambda a: changed(a, 0, 0)),
        ("right", lambda a: changed(a, -1, 10**6)),
        ("right", lambda a: a.astype(np.uint32)),
        ("threshold", lambda a: a[:1]),
        ("threshold", lambda a: a.astype(">f8")),
        ("missing_left", lambda a: a.astype(np.int8)),
        ("weight", lambda a: np.zeros_like(a)),
        ("weight", lambda a: a / 2),
        ("weight", lambda a: changed(a, -1, np.nan)),
        ("n_labels", lambda _: 2),
        ("n_labels", lambda _: "3"),
        ("n_features", lambda _: 0),
        ("n_labelsets", lambda _: 1),
        ("labels", lambda _: None),
        ("labelsets", lambda table: replace(table, counts=table.counts / 2)),
    ],
)
def test_arrays_that_are_no_tree_are_refused(name, change, tree):
    with pytest.raises(ComitiaError):
        replace(tree, **{name: change(getattr(tree, name))})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("starts", lambda a: changed(a, 1, 10**6)),
        ("starts", lambda a: changed(a, 1, -1)),
        ("starts", lambda a: changed(a, 0, 1)),
        ("starts", lambda a: changed(a.astype(np.uint64), 1, 2**63)),  # differences wrap
        ("starts", lambda a: a.astype(np.uint64)),
        ("starts", lambda a: a[:-1]),
        ("indices", lambda a: changed(a, 0, -1)),
        ("indices", lambda a: changed(a, 0, 10**6)),
        ("indices", lambda a: np.zeros_like(a)),
        ("indices", lambda a: a.astype(np.float64)),
        ("counts", lambda a: a[:-1]),
        ("counts", lambda a: changed(a, 0, np.inf)),
        ("counts", lambda a: changed(a, 0, -1.0)),
    ],
)
@pytest.mark.parametrize("table", ["labels", "labelsets"])
def test_counts_that_leave_their_leaf_or_their_columns_are_refused(table, name, change, tree):
    counts: LeafCounts = getattr(tree, table)
    with pytest.raises(ComitiaError):
        replace(tree, **{table: replace(counts, **{name: change(getattr(counts, name))})})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("orders", lambda a: changed(a, (0, 0), 9)),
        ("orders", lambda a: changed(a, (0, 0), a[0, 1])),
        ("orders", lambda a: a.astype(np.uint64)),
        ("orders", lambda a: a[:0]),
        ("coef", lambda a: a[:1]),
        ("coef", lambda a: a[:, :2]),  # too few rows of coefficients
        ("coef", lambda a: changed(a, (0, 0, 0), np.nan)),
        ("influence", lambda a: a[:, :1, :1]),
        ("influence", lambda a: a.astype(np.float32)),
        ("influence", lambda a: changed(a, (0, 0, 0), np.inf)),
        ("intercept", lambda a: changed(a, (0, 0), np.nan)),
        ("intercept", lambda a: a[0]),
        ("converged", lambda a: a.astype(int)),
    ],
)
def test_arrays_that_are_no_chains_are_refused(name, change, chains):
    with pytest.raises(ComitiaError):
        replace(chains, **{name: change(getattr(chains, name))})


@pytest.mark.parametrize(
    ("kind", "member"), [(EBRClassifier, "intercept"), (ECCClassifier, "scale"), (EMODTClassifier, "table")]
)
def test_members_of_other_shapes_or_types_are_refused(kind, member):
    crew = kind(n_estimators=2, random_state=0).fit(DATA.X, DATA.Y).members_
    array = getattr(crew, member)
    for wrong in (array[..., :1], array.astype(np.float32), array.tolist(), None):
        with pytest.raises(ComitiaError):
            replace(crew, **{member: wrong})


def out_of_range():
    return csr_array((np.ones(3), np.array([0, 7, 1], np.int32), np.array([0, 1, 2, 3], np.int32)), shape=(3, 2))


@pytest.mark.parametrize(
    "use",
    [
        lambda X: fit_logistic(X, np.eye(3)),
        lambda X: predict_logistic(X, np.ones((1, 2)), np.zeros(1)),
        lambda X: fit_chains(X, np.eye(3), [[0, 1, 2]]),
        lambda X: grow_trees(X, np.eye(3), [0]),
        lambda X: grow_trees(np.eye(3), X, [0]),
    ],
)
def test_sparse_matrices_with_indices_out_of_range_are_refused(use):
    with pytest.raises(ComitiaError, match=r"must be a sparse matrix whose indices exist: .*must be < 2"):
        use(out_of_range())


@pytest.mark.parametrize("kind", [EBRClassifier, ECCClassifier, EMODTClassifier])
def test_ensembles_refuse_sparse_matrices_that_lead_out_of_bounds(kind):
    for wrong in (out_of_range(), csr_array((np.ones(3), np.array([0, 1, 1]), np.array([0, 9, 1, 3])), shape=(3, 2))):
        with pytest.raises(ComitiaError, match="X must be a sparse matrix whose indices exist"):
            kind(n_estimators=2).fit(wrong, np.eye(3, dtype=int))
        with pytest.raises(ComitiaError, match="y must be a sparse matrix whose indices exist"):
            kind(n_estimators=2).fit(np.eye(3), wrong)


def test_no_instance_has_no_predictions(tree, chains):
    nobody = DATA.X[:0]
    assert apply_trees([tree], nobody).shape == (1, 0)
    assert mean_marginals([tree], apply_trees([tree], nobody)).shape == (0, 3)
    assert predict_logistic(nobody, np.ones((3, 4)), np.zeros(3)).shape == (0, 3)
    assert predict_chains(chains, nobody).shape == (2, 0, 3)
    assert predict_chains(chains, csr_array(nobody)).shape == (2, 0, 3)


@pytest.mark.parametrize("C", [np.inf, np.nan, 1e300, 1e19, 1e-31, 0, -1])
def test_penalties_that_cannot_be_solved_are_refused(C):
    with pytest.raises(ComitiaError, match=r"C (times|must)"):
        fit_logistic(DATA.X, DATA.Y, C=C)


def test_weights_count_towards_the_penalty():
    with pytest.raises(ComitiaError, match=r"got 1e\+20 \(C=1\.0\)"):
        fit_logistic(DATA.X, DATA.Y, sample_weight=np.full((120, 1), 1e20))


@pytest.mark.parametrize("C", [SOLVABLE[0], 1e-12, 1e-3, 1e3, 1e9, SOLVABLE[1]])
@pytest.mark.parametrize("labels", ["noisy", "separable", "constant"])
def test_what_is_taken_is_solved(C, labels):
    target = {"noisy": DATA.Y, "separable": DATA.X[:, :1] > 0, "constant": np.zeros((120, 1))}[labels]
    fit = fit_logistic(DATA.X, target, C=C)
    assert fit.converged.all()
    p = predict_logistic(DATA.X, fit.coef, fit.intercept)
    assert np.isfinite(p).all()
    if labels == "separable" and C >= 1e3:
        assert ((p > 0.5) == target).all()


@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 1e3, 1e6, 1e9, FAST_C[1], 1e300, np.inf])
def test_probabilities_are_those_of_scikit_learn_for_any_penalty(C):
    ensemble = EBRClassifier(LogisticRegression(C=C), n_estimators=1, bootstrap=False).fit(DATA.X, DATA.Y)
    peer = [
        LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(DATA.X, y).predict_proba(DATA.X)[:, 1] for y in DATA.Y.T
    ]
    assert np.abs(ensemble.predict_proba(DATA.X) - np.column_stack(peer)).max() < 1e-3


@pytest.mark.parametrize(("C", "fast"), [(1.0, True), (1e12, True), (1e13, False), (np.inf, False), (1e-40, False)])
def test_the_fast_path_takes_only_what_it_can_solve(C, fast):
    assert (FastLogistic.standing_in_for(LogisticRegression(C=C)) is not None) == fast


def test_scores_past_the_largest_number_are_refused():
    with pytest.raises(ComitiaError, match="scores are finite"):
        predict_logistic([[1e308]], [[1e10]], [-np.inf])


@pytest.mark.parametrize("n_jobs", [0, np.nan, 0.5, "2", True])
def test_a_number_of_threads_that_is_none_is_refused(n_jobs, chains):
    with pytest.raises(ComitiaError, match="n_jobs must be None or an integer other than 0"):
        predict_chains(chains, DATA.X, n_jobs=n_jobs)
    with pytest.raises(ComitiaError, match="n_jobs must be None or an integer other than 0"):
        fit_logistic(DATA.X, DATA.Y, n_jobs=n_jobs)
