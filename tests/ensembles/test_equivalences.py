"""Ensembles against what scikit-learn's own meta-estimators say, and against themselves in another setting."""

from itertools import product

import numpy as np
import pytest
from joblib import parallel_backend
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import comitia.ensembles._base
from comitia import (
    AGGREGATIONS,
    ENSEMBLES,
    LOSSES,
    READINGS,
    CommitteeClassifier,
    Constraints,
    EBRClassifier,
    ECCClassifier,
    EMOBTClassifier,
    EMODTClassifier,
    FLoss,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
    Pooled,
    decide,
)

X, Y = make_multilabel_classification(n_samples=150, n_features=8, n_classes=5, random_state=3)
NEW = X[100:]
X, Y, TRUTH = X[:100], Y[:100], Y[100:]

SMALL = [
    EBRClassifier(n_estimators=7, random_state=0),
    ECCClassifier(n_estimators=7, random_state=0),
    EMODTClassifier(n_estimators=7, random_state=0),
    MultilabelBaggingClassifier(KNeighborsClassifier(), n_estimators=7, random_state=0),
    EBRClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=7, random_state=0),
    ECCClassifier(GaussianNB(), n_estimators=7, random_state=0),
]
small = pytest.mark.parametrize("ensemble", SMALL, ids=lambda e: f"{type(e).__name__}-{getattr(e, 'estimator', None)}")


@pytest.mark.parametrize("learner", [GaussianNB(), DecisionTreeClassifier(random_state=0)], ids=str)
def test_one_member_without_bootstrap_is_scikit_learns_meta_estimator(learner):
    one = {"n_estimators": 1, "bootstrap": False, "random_state": 0}
    relevance = MultiOutputClassifier(learner).fit(X, Y)
    ours = EBRClassifier(learner, **one).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(NEW), relevance.predict(NEW))
    np.testing.assert_allclose(ours.predict_proba(NEW), np.transpose([p[:, 1] for p in relevance.predict_proba(NEW)]))
    for method in ("predict", "predict_proba"):
        order = [3, 1, 4, 0, 2]
        chain = ClassifierChain(learner, order=order, chain_method=method).fit(X, Y)
        ours = ECCClassifier(learner, order=order, chain_method=method, **one).fit(X, Y)
        np.testing.assert_array_equal(ours.predict(NEW), chain.predict(NEW))
        np.testing.assert_allclose(ours.predict_proba(NEW), chain.predict_proba(NEW))


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_fast_logistic_regressions_are_scikit_learns(C, sparse):
    tight = LogisticRegression(C=C, tol=1e-10, max_iter=10_000)
    data, new = (csr_array(X), csr_array(NEW)) if sparse else (X, NEW)
    one = {"n_estimators": 1, "bootstrap": False}
    relevance = MultiOutputClassifier(tight).fit(data, Y)
    expected = np.transpose([p[:, 1] for p in relevance.predict_proba(new)])
    np.testing.assert_allclose(
        EBRClassifier(LogisticRegression(C=C), **one).fit(data, Y).predict_proba(new), expected, atol=2e-3
    )
    order = [3, 1, 4, 0, 2]
    chain = ClassifierChain(tight, order=order).fit(data, Y)
    ours = ECCClassifier(LogisticRegression(C=C), order=order, **one).fit(data, Y)
    np.testing.assert_allclose(ours.predict_proba(new), chain.predict_proba(new), atol=5e-3)


def test_the_default_learner_is_logistic_regression_on_features_that_may_be_standardised():
    tight = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10))
    given = {"C": 1.0, "scaling": "standard"}
    ours = EBRClassifier(n_estimators=1, bootstrap=False, **given).fit(X, Y).predict_proba(NEW)
    theirs = MultiOutputClassifier(tight).fit(X, Y).predict_proba(NEW)
    np.testing.assert_allclose(ours, np.transpose([p[:, 1] for p in theirs]), atol=2e-3)


@pytest.mark.parametrize(
    "setting", [{"class_weight": "balanced"}, {"solver": "liblinear"}, {"max_iter": 50}, {"tol": 1e-8}], ids=str
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_logistic_regression_that_the_fast_solver_does_not_cover_is_left_to_scikit_learn(setting):
    left = EBRClassifier(LogisticRegression(**setting), n_estimators=2).fit(X, Y)
    assert type(left.members_.members[0].estimators[0]) is LogisticRegression


@pytest.mark.parametrize("setting", [{"C": 3}, {"max_iter": 1000}, {"solver": "newton-cg"}, {"n_jobs": 2}], ids=str)
def test_settings_that_leave_the_optimum_where_it_is_keep_the_fast_solver(setting):
    kept = EBRClassifier(LogisticRegression(**setting), n_estimators=2).fit(X, Y)
    assert not hasattr(kept.members_, "members")


ONE = {"random_state": 0}
JUDGED = {"random_state": 0, "oob_score": True, "n_estimators": 7}
EVERY = {
    "ebr": EBRClassifier(**JUDGED),
    "ebr of any classifier": EBRClassifier(DecisionTreeClassifier(max_depth=3), **JUDGED),
    "ecc": ECCClassifier(**JUDGED),
    "ecc by its joint distribution": ECCClassifier(chain_method="joint", **JUDGED),
    "ecc of any classifier": ECCClassifier(GaussianNB(), **JUDGED),
    "emodt": EMODTClassifier(**JUDGED),
    "emobt": EMOBTClassifier(**JUDGED | {"n_estimators": 2}, max_rounds=4),
    "bagging": MultilabelBaggingClassifier(KNeighborsClassifier(), **JUDGED),
    "voting": MultilabelVotingClassifier(
        [("near", KNeighborsClassifier()), ("bayes", MultiOutputClassifier(GaussianNB()))], weights=[3, 1]
    ),
    "voting of ensembles": MultilabelVotingClassifier(
        [("trees", EMODTClassifier(4, random_state=0)), ("lines", EBRClassifier(n_estimators=3, random_state=0))]
    ),
    "committee": CommitteeClassifier([("trees", EMODTClassifier(7)), ("lines", EBRClassifier(n_estimators=7))], **ONE),
    "committee with joint distributions": CommitteeClassifier(
        [("trees", EMODTClassifier(7)), ("chains", ECCClassifier(n_estimators=7, chain_method="joint"))], **ONE
    ),
}


def weights_of(fitted, mixed):
    """What members weigh, by what is public."""
    if isinstance(fitted, CommitteeClassifier):
        return list((fitted.joint_weights_ if mixed else fitted.weights_).values())
    if isinstance(fitted, MultilabelVotingClassifier) and fitted.weights is None:
        sizes = [len(voter.members_) for voter in fitted.named_estimators_.values()]
        return [1 / size for size in sizes for _ in range(size)]
    return getattr(fitted, "weights", None)


def test_every_ensemble_is_among_those_that_are_compared_with_the_decisions_of_their_members():
    assert {type(ensemble) for ensemble in EVERY.values()} >= {*ENSEMBLES.values(), MultilabelVotingClassifier}


@pytest.mark.parametrize("calibration", [None, "sigmoid"])
@pytest.mark.parametrize("name", EVERY)
def test_predictions_are_the_decisions_of_the_members(name, calibration):
    fitted = clone(EVERY[name]).set_params(calibration=calibration).fit(X, Y)
    if isinstance(fitted, MultilabelVotingClassifier):
        fitted.tune(X, Y)
    members = {joint: list(fitted.predict_members(NEW, joint)) for joint in {False, fitted._some_joint}}

    def check(loss, aggregation, pool="mean", reading="auto", constraints=None):
        fitted.set_params(loss=loss, aggregation=aggregation, pool=pool, reading=reading, constraints=constraints)
        over = fitted.decision().over
        np.testing.assert_array_equal(
            fitted.predict(NEW),
            decide(
                members[fitted._some_joint and over.joint],
                loss,
                aggregation,
                pool,
                reading,
                weights_of(fitted, isinstance(over, Pooled) and over.joint),
                constraints,
                fitted.calibration_,
            ),
        )

    for loss, aggregation, reading in product(LOSSES, AGGREGATIONS, READINGS):
        if fitted.set_params(loss=loss, reading=reading).can_decide_by(aggregation):
            check(loss, aggregation, reading=reading)
            check(loss, aggregation, reading=reading, constraints=Constraints(at_least=1, at_most=3))
    for pool in ("median", "log_odds") if calibration is None else ():
        check("f1", "ctp", pool)


@small
def test_changing_the_decision_after_fit_equals_fitting_with_it(ensemble):
    fitted = clone(ensemble).fit(X, Y)
    fitted.set_params(loss="subset01", aggregation="ptc-mode")
    anew = clone(ensemble).set_params(loss="subset01", aggregation="ptc-mode").fit(X, Y)
    np.testing.assert_array_equal(fitted.predict(NEW), anew.predict(NEW))


@small
def test_stages_are_ensembles_of_the_first_members(ensemble):
    fitted = clone(ensemble).set_params(loss="f1").fit(X, Y)
    members = list(fitted.predict_members(NEW))
    for aggregation in ("ctp", "ptc-mode", "ptc-lw"):
        fitted.set_params(aggregation=aggregation)
        for size, stage in zip([1, 3, 7], fitted.staged_predict(NEW, [1, 3, 7]), strict=True):
            np.testing.assert_array_equal(stage, decide(members[:size], "f1", aggregation))
        np.testing.assert_array_equal(stage, fitted.predict(NEW))


@small
def test_results_do_not_depend_on_jobs_backends_or_chunks(ensemble, monkeypatch):
    expected = clone(ensemble).fit(X, Y)
    for backend in ("threading", "loky"):
        with parallel_backend(backend):
            other = clone(ensemble).set_params(n_jobs=2).fit(X, Y)
        np.testing.assert_array_equal(other.predict_proba(NEW), expected.predict_proba(NEW))
    for beliefs in (1, 35 * 9):
        monkeypatch.setattr(comitia.ensembles._asking, "BELIEFS_AT_ONCE", beliefs)
        for settings in ({"loss": "f1", "aggregation": "ptc-mbr"}, {"loss": "subset01"}, {"loss": "jaccard"}):
            parts = (
                expected.set_params(**settings).predict(NEW),
                expected.predict_proba(NEW),
                expected.expected_loss(NEW),
            )
            monkeypatch.undo()
            whole = expected.predict(NEW), expected.predict_proba(NEW), expected.expected_loss(NEW)
            monkeypatch.setattr(comitia.ensembles._asking, "BELIEFS_AT_ONCE", beliefs)
            for part, all_ in zip(parts, whole, strict=True):
                np.testing.assert_array_equal(part, all_)


@small
def test_a_warm_start_adds_the_members_that_a_larger_ensemble_has(ensemble):
    grown = clone(ensemble).set_params(n_estimators=3, warm_start=True).fit(X, Y)
    grown.set_params(n_estimators=7).fit(X, Y)
    # The fast solver starts from what all its problems share, so its answers agree to its tolerance.
    np.testing.assert_allclose(grown.predict_proba(NEW), clone(ensemble).fit(X, Y).predict_proba(NEW), atol=1e-3)
    with pytest.raises(ValueError, match="fewer than the 7 members"):
        grown.set_params(n_estimators=2).fit(X, Y)


@small
def test_the_order_of_instances_does_not_matter_and_weights_are_copies(ensemble):
    rng = np.random.default_rng(0)
    expected = clone(ensemble).fit(X, Y).predict_proba(NEW)
    shuffled = rng.permutation(len(X))
    np.testing.assert_array_equal(clone(ensemble).fit(X[shuffled], Y[shuffled]).predict_proba(NEW), expected)
    weight = rng.integers(0, 3, len(X))
    weighted = clone(ensemble).fit(X, Y, sample_weight=weight).predict_proba(NEW)
    copies = np.repeat(np.arange(len(X)), weight)
    np.testing.assert_array_equal(clone(ensemble).fit(X[copies], Y[copies]).predict_proba(NEW), weighted)


@pytest.mark.parametrize("make", [csr_array, csr_matrix], ids=["array", "matrix"])
def test_sparse_features_and_labels_are_taken_as_dense_ones(make):
    for ensemble in SMALL[:4]:
        dense = clone(ensemble).fit(X, Y)
        sparse = clone(ensemble).fit(make(X), make(Y))
        if isinstance(ensemble, EMODTClassifier):  # others scale without centring, or break ties of distances
            np.testing.assert_allclose(sparse.predict_proba(make(NEW)).toarray(), dense.predict_proba(NEW))
        assert sparse.predict(make(NEW)).shape == TRUTH.shape


@pytest.mark.parametrize(
    "member",
    [
        ClassifierChain(LogisticRegression()),
        MultiOutputClassifier(LogisticRegression()),
        MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=5, random_state=0)),
        RandomForestClassifier(n_estimators=5, random_state=0),
        KNeighborsClassifier(),
        MLPClassifier(max_iter=100, random_state=0),
        RidgeClassifier(),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_multilabel_classifier_can_be_bagged_and_can_vote(member):
    constant = np.column_stack([Y, np.zeros(len(Y), int), np.ones(len(Y), int)])
    for ensemble in (
        MultilabelBaggingClassifier(member, n_estimators=3, loss="f1", random_state=0),
        MultilabelVotingClassifier([("one", member), ("two", KNeighborsClassifier())], loss="f1"),
    ):
        p = ensemble.fit(X, constant).predict_proba(NEW)
        assert p.shape == (len(NEW), 7)
        assert ((p >= 0) & (p <= 1)).all()
        assert (p[:, 5] < 0.2).all()
        assert (p[:, 6] > 0.8).all()
        assert ensemble.predict(NEW).shape == (len(NEW), 7)


def test_prefit_members_vote_as_they_are():
    forest, neighbours = RandomForestClassifier(5, random_state=0).fit(X, Y), KNeighborsClassifier().fit(X, Y)
    before = forest.predict_proba(NEW)
    voting = MultilabelVotingClassifier([("forest", forest), ("neighbours", neighbours)], prefit=True, weights=[3, 1])
    p = voting.fit(X[:1], Y[:1]).predict_proba(NEW)
    expected = [(3 * a[:, 1] + b[:, 1]) / 4 for a, b in zip(before, neighbours.predict_proba(NEW), strict=True)]
    np.testing.assert_allclose(p, np.transpose(expected))
    assert voting.named_estimators_["forest"] is forest
    dropped = voting.set_params(forest="drop").fit(X[:1], Y[:1]).predict_proba(NEW)
    np.testing.assert_allclose(dropped, np.transpose([b[:, 1] for b in neighbours.predict_proba(NEW)]))


def test_expected_loss_is_the_risk_under_the_ensembles_belief():
    forest = EMODTClassifier(n_estimators=9, loss="f1", random_state=0).fit(X, Y)
    members = list(forest.predict_members(NEW))
    from comitia.relevance import mean, mixture

    np.testing.assert_allclose(forest.expected_loss(NEW), FLoss().risk(mean(members), forest.predict(NEW)))
    forest.set_params(aggregation="ctp-joint")
    joint = mixture(list(forest.predict_members(NEW, joint=True)))
    np.testing.assert_allclose(forest.expected_loss(NEW), FLoss().risk(joint, forest.predict(NEW)))


def test_score_is_one_minus_the_mean_loss():
    forest = EMODTClassifier(n_estimators=9, loss="jaccard", random_state=0).fit(X, Y)
    from sklearn.metrics import accuracy_score, jaccard_score

    predicted = forest.predict(NEW)
    expected = jaccard_score(TRUTH, predicted, average="samples", zero_division=1)
    assert forest.score(NEW, TRUTH) == pytest.approx(expected)
    forest.set_params(loss="subset01")
    assert forest.score(NEW, TRUTH) == pytest.approx(accuracy_score(TRUTH, forest.predict(NEW)))
