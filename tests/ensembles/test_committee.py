"""A committee: ensembles of different kinds, weighed by what they are worth on what they have not seen."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

from comitia import (
    ComitiaError,
    CommitteeClassifier,
    EBRClassifier,
    ECCClassifier,
    EMODTClassifier,
    LabelSets,
    Seen,
    SubsetZeroOne,
    decide,
    load,
    mixture,
    save,
)
from comitia.ensembles._ensemble_crew import EnsembleCrew
from comitia.ensembles._weights import forward_selection, labelset_likelihood, likelihood_selection

X, Y = make_multilabel_classification(n_samples=220, n_features=8, n_classes=4, random_state=3)
NEW, TRUTH = X[160:], Y[160:]
X, Y = X[:160], Y[:160]
MEMBERS = [
    ("trees", EMODTClassifier(12)),
    ("lines", EBRClassifier(n_estimators=9)),
    ("chains", ECCClassifier(n_estimators=9, chain_method="joint")),
]


@pytest.fixture(scope="module")
def committee():
    return CommitteeClassifier(MEMBERS, random_state=0).fit(X, Y)


def test_the_belief_is_the_weighted_mean_of_what_the_ensembles_believe(committee):
    assert list(committee.weights_) == ["trees", "lines", "chains"]
    assert sum(committee.weights_.values()) == pytest.approx(1)
    members = committee.named_members_
    pooled = sum(weight * members[name].predict_proba(NEW) for name, weight in committee.weights_.items())
    np.testing.assert_allclose(committee.predict_proba(NEW), pooled, atol=1e-12)


def test_members_are_fitted_on_the_same_draws_and_each_as_it_would_be_alone(committee):
    masks = [member.oob_mask_ for member in committee.named_members_.values()]
    np.testing.assert_array_equal(masks[0][:9], masks[1])
    np.testing.assert_array_equal(masks[1], masks[2])
    seed = committee.named_members_["trees"].random_state
    alone = EMODTClassifier(12, random_state=seed).fit(X, Y)
    np.testing.assert_array_equal(committee.named_members_["trees"].predict_proba(NEW), alone.predict_proba(NEW))


def test_predictions_are_the_decisions_of_its_members(committee):
    weights = list(committee.weights_.values())
    for loss in ("hamming", "subset01", "f1"):
        for aggregation in ("gmv", "ctp", "ptc-mode", "ptc-mbr"):
            committee.set_params(loss=loss, aggregation=aggregation)
            expected = decide(list(committee.predict_members(NEW)), loss, aggregation, weights=weights)
            np.testing.assert_array_equal(committee.predict(NEW), expected)
    committee.set_params(loss="hamming", aggregation="oob")


def test_joint_beliefs_are_mixed_and_marginals_are_read_over_what_was_seen(committee):
    trees, lines, chains = committee.named_members_.values()
    reading = Seen(0.5)
    beliefs = [
        mixture(list(trees.predict_members(NEW, joint=True))),
        reading(next(iter(committee.members_.relevances(NEW, _asked(committee)[1])))),
    ]
    assert beliefs[0].n_labels == 4
    committee.set_params(loss="subset01", aggregation="ctp-joint", reading=reading)
    asked = [reading(belief) for belief in committee.members_.relevances(NEW, _asked(committee)[0])]
    expected = SubsetZeroOne().minimise(mixture(asked, list(committee.joint_weights_.values())))
    np.testing.assert_array_equal(committee.predict(NEW), expected)
    committee.set_params(loss="hamming", aggregation="oob", reading="auto")
    assert lines.supports_joint is False
    assert chains.supports_joint


def _asked(committee):
    from comitia.ensembles._crews import Asked

    return Asked(True, committee.observed_), Asked(False, committee.observed_)


def test_what_is_out_of_bag_is_judged_by_members_that_have_not_seen_it(committee):
    members = committee.named_members_
    pooled = sum(weight * members[name].oob_proba_ for name, weight in committee.weights_.items())
    judged = np.isfinite(pooled).all(axis=1)
    np.testing.assert_allclose(committee.oob_proba_[judged], pooled[judged], atol=1e-12)
    assert set(committee.oob_table_) == {"hamming", "subset01", "f1", "jaccard"}
    assert "ctp-joint · seen 0.3" in committee.oob_table_["f1"]
    graded = ((committee.oob_proba_[judged] > 0.5) != Y[judged]).mean()
    assert committee.oob_table_["hamming"]["gmv"] == pytest.approx(graded)
    assert committee.oob_log_losses_["committee"] <= min(committee.oob_log_losses_.values()) + 1e-9


def test_any_loss_works_without_a_refit_and_jobs_change_nothing(committee):
    other = clone(committee).set_params(n_jobs=2).fit(X, Y)
    assert other.weights_ == committee.weights_
    for loss in ("subset01", "f1", "jaccard", "hamming"):
        predicted = committee.set_params(loss=loss).predict(NEW)
        np.testing.assert_array_equal(other.set_params(loss=loss).predict(NEW), predicted)


def test_any_classifier_can_be_a_member_and_is_bagged():
    members = [("bayes", MultiOutputClassifier(GaussianNB())), ("trees", EMODTClassifier(10))]
    fitted = CommitteeClassifier(members, loss="f1", random_state=0).fit(X, Y)
    assert len(fitted.named_members_["bayes"].members_) == 10
    assert fitted.predict(NEW).shape == TRUTH.shape
    assert fitted.set_params(trees__n_estimators=11).get_params()["trees__n_estimators"] == 11


def test_a_committee_chooses_its_members_by_the_size_and_kind_of_the_data():
    names = [name for name, _ in CommitteeClassifier().default_members(X, Y)]
    assert names == ["trees", "random trees", "boosted trees", "lines", "chains"]
    wide = csr_array((3, 30_000))
    assert [name for name, _ in CommitteeClassifier().default_members(wide, Y)] == ["lines", "chains"]
    many = np.zeros((3, 500), np.int8)
    assert "chains" not in [name for name, _ in CommitteeClassifier().default_members(X, many)]


def test_a_saved_committee_predicts_what_it_did(committee, tmp_path):
    pytest.importorskip("skops")
    save(committee, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict(NEW), committee.predict(NEW))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ("best", "members must be 'auto' or a list"),
        ([], "at least one"),
        ([("a", CommitteeClassifier())], "out-of-bag beliefs"),
        ([("a", EMODTClassifier()), ("a", EMODTClassifier())], "not unique"),
    ],
)
def test_members_that_cannot_be_are_refused(members, message):
    with pytest.raises(ValueError, match=message):
        CommitteeClassifier(members).fit(X, Y)


def test_labelsets_have_the_probability_that_a_belief_gives_them_and_weights_follow_it():
    belief = LabelSets([[1, 0], [1, 1]], [[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    truth = np.array([[1, 1], [0, 1], [1, 0]], np.int8)
    np.testing.assert_array_equal(labelset_likelihood(belief, truth), [0.75, 0.0, 1.0])
    likelihood = np.stack([np.full((500, 1), 0.4), np.full((500, 1), 0.1)])
    assert likelihood_selection(likelihood, np.ones(500)).weights[0] > 0.9


def test_out_of_bag_losses_are_those_of_what_the_ensembles_say_of_each_instance_they_have_not_seen(committee):
    weights = np.array(list(committee.weights_.values()))
    p = np.tensordot(weights, [ensemble.oob_proba_ for ensemble in committee.members_.ensembles], 1)
    known = committee.oob_mask_.all(axis=0)
    assert 100 < known.sum() < len(X)
    wrong = ((p[known] > 0.5) != Y[known]).mean(axis=1)
    np.testing.assert_allclose(committee.oob_table_["hamming"]["gmv"], wrong.mean(), atol=1e-12)
    np.testing.assert_allclose(committee.oob_proba_[known], p[known], atol=1e-12)
    gmv = clone(committee).set_params(aggregation="gmv").fit(X, Y)
    np.testing.assert_allclose(gmv.oob_losses_[known], wrong, atol=1e-12)


def test_whoever_knows_whole_labelsets_better_has_more_weight_in_mixtures():
    # Exactly one label is relevant, and one cut cannot tell which.
    rng = np.random.default_rng(0)
    known = rng.integers(0, 4, 200)
    told, one = known[:, None] + 0.1 * rng.random((200, 1)), np.eye(4, dtype=int)[known]
    few = EMODTClassifier(20, max_features=None, min_samples_split=2)
    members = [("stumps", EMODTClassifier(20, max_depth=1)), ("trees", few)]
    for order in (members, members[::-1]):
        weights = CommitteeClassifier(order, random_state=0).fit(told, one).joint_weights_
        assert weights["trees"] > 0.8


def test_joint_weights_are_learnt_for_whole_labelsets(committee):
    assert list(committee.joint_weights_) == list(committee.weights_)
    assert sum(committee.joint_weights_.values()) == pytest.approx(1)
    assert committee.joint_weights_ != committee.weights_


def test_weights_favour_what_is_right_and_stay_near_to_equal_on_little_data():
    rng = np.random.default_rng(0)
    truth = (rng.random((2000, 3)) < 0.4).astype(np.int8)
    good, noise = np.where(truth, 0.85, 0.15), rng.random(truth.shape)
    many = forward_selection(np.stack([good, noise]), truth, np.ones(2000))
    few = forward_selection(np.stack([good, noise])[:, :20], truth[:20], np.ones(20))
    assert many.weights[0] > 0.9
    assert 0.5 < few.weights[0] < many.weights[0]
    assert many.together < many.alone[1]
    weighted = forward_selection(np.stack([good, noise]), truth, np.arange(2000.0))
    assert weighted.weights.sum() == pytest.approx(1)


def test_ensembles_that_cannot_sit_together_are_refused():
    three, two = (EMODTClassifier(2, random_state=0).fit(X, labels) for labels in (Y[:, :3], Y[:, :2]))
    assert len(EnsembleCrew((three,)).joined(EnsembleCrew((three,)))) == 2
    with pytest.raises(ComitiaError, match="must know the same labels"):
        EnsembleCrew((three,)).joined(EnsembleCrew((two,)))
    for nobody in ((), (three, "two")):
        with pytest.raises(ComitiaError, match="must hold at least one ensemble"):
            EnsembleCrew(nobody)
