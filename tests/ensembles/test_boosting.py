"""Ensembles of boosted trees keep the contracts that the other ensembles keep."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from comitia import ComitiaError, EMOBTClassifier
from comitia.ensembles._crews import BoostedCrew
from comitia.learners import predict_boosted
from tests.ensembles.test_scikit_learn import expected_to_fail
from tests.learners.tree_twins import make_data


@parametrize_with_checks(
    [EMOBTClassifier(3, max_rounds=60), EMOBTClassifier(3, max_rounds=60, loss="f1")],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learns_check_passes(estimator, check):
    check(estimator)


def fitted(X, Y, weight=None, **settings):
    settings = {"max_rounds": 40, "random_state": 0, "oob_score": True, **settings}
    return EMOBTClassifier(8, **settings).fit(X, Y, weight)


@pytest.mark.parametrize("kind", ["continuous", "mostly zero", "missing"])
def test_a_sparse_matrix_and_any_number_of_jobs_give_the_same_probabilities(kind):
    X, Y = make_data(150, 8, 4, kind=kind)
    one, two = fitted(X, Y, n_jobs=1), fitted(sparse.csr_array(X), Y, n_jobs=2)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.oob_proba_, two.oob_proba_)


def test_an_instance_of_weight_w_counts_as_w_copies_in_any_order():
    X, Y = make_data(100, 6, 3)
    copies = np.random.default_rng(0).integers(0, 4, 100)
    repeated = np.random.default_rng(1).permutation(np.repeat(np.arange(100), copies))
    one, two = fitted(X, Y, copies), fitted(X[repeated], Y[repeated])
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("bootstrap", [True, False])
def test_weights_that_are_shares_learn_like_weights_that_are_counts(bootstrap):
    X, Y = make_data(200, 6, 3)
    settings = {"bootstrap": bootstrap, "oob_score": False}
    share = fitted(X, Y, np.full(200, 1 / 256), **settings)
    np.testing.assert_array_equal(share.predict_proba(X), fitted(X, Y, np.ones(200), **settings).predict_proba(X))


def test_a_warm_start_adds_members_and_leaves_the_first_as_they_are():
    X, Y = make_data(100, 6, 3)
    grown = fitted(X, Y, warm_start=True).set_params(n_estimators=10).fit(X, Y)
    anew = fitted(X, Y).set_params(n_estimators=10).fit(X, Y)
    np.testing.assert_array_equal(grown.predict_proba(X), anew.predict_proba(X))
    np.testing.assert_array_equal(grown.oob_proba_, anew.oob_proba_)


def test_all_members_have_the_number_of_trees_that_is_best_on_average_over_what_each_has_not_seen():
    X, Y = make_data(200, 6, 3)
    ensemble = fitted(X, Y)
    models = ensemble.members_.models
    length = max(model.n_rounds for model in models) + 1
    mean = np.mean([[model.losses[min(t, model.n_rounds)] for t in range(length)] for model in models], axis=0)
    assert ensemble.n_rounds_ == mean.argmin()
    members = [belief.marginals() for belief in ensemble.predict_members(X[:5])]
    np.testing.assert_array_equal(members, list(predict_boosted(models, X[:5], ensemble.n_rounds_)))


def test_labels_depend_on_features_out_of_bag_as_well():
    X, Y = make_data(400, 6, 3)
    ensemble = fitted(X, Y)
    assert ensemble.oob_loss_ < 0.9 * min(Y.mean(), 1 - Y.mean())
    assert ensemble.feature_importances_.sum() == pytest.approx(1.0)


def test_a_joint_aggregation_is_refused():
    X, Y = make_data(60, 3, 2)
    with pytest.raises(ValueError, match="pools joint distributions"):
        fitted(X, Y, aggregation="ctp-joint")


def test_a_damaged_sequence_is_refused():
    ensemble = fitted(*make_data(60, 3, 2), oob_score=False)
    assert len(pickle.loads(pickle.dumps(ensemble)).members_) == 8
    model = ensemble.members_.models[0]
    right = model.right.copy()
    right[0] = 10**6
    with pytest.raises(ValueError, match="lead to later nodes"):
        replace(model, right=right)


def test_a_crew_of_nothing_or_of_something_else_is_refused():
    for models in ((), ("trees",), (None, None)):
        with pytest.raises(ComitiaError, match="at least one BoostedTrees"):
            BoostedCrew(models)
