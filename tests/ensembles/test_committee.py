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
from comitia.ensembles import _asking, _bootstrap, _committee, _weights
from comitia.ensembles._chosen_logistic import choose_logistic
from comitia.ensembles._ensemble_crew import EnsembleCrew, believed_together
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
    given = [
        {key: value for key, value in one.get_params().items() if value != type(one)().get_params()[key]}
        for _, one in CommitteeClassifier().default_members(X, Y)
    ]
    assert given == [{}, {"splitter": "random", "max_features": 0.2}, {}, {}, {"chain_method": "joint"}]

    def left_out(X, Y):
        return set(names) - {name for name, _ in CommitteeClassifier().default_members(X, Y)}

    for d, trees in ((5000, set()), (5001, {"trees", "random trees", "boosted trees"})):
        assert left_out(csr_array((3, d)), Y) == trees
        assert left_out(np.zeros((3, d)), Y) == set(), "where it is dense, a split is worth a look"
    (random,) = (
        one for name, one in CommitteeClassifier().default_members(csr_array((3, 9)), Y) if name[:6] == "random"
    )
    assert random.max_features == "auto", "of features that are nearly always zero a fifth is many"
    for K, chains in ((100, set()), (101, {"chains"})):
        assert left_out(X, np.zeros((3, K), np.int8)) == chains


def test_members_keep_what_they_say_and_the_committee_gives_them_the_rest():
    members = [("own", EMODTClassifier(4, random_state=5, n_jobs=1)), ("open", EMODTClassifier(4, calibration="oob"))]
    found = CommitteeClassifier(members, random_state=0).fit(X, Y).named_members_
    assert (found["own"].random_state, found["own"].n_jobs, found["open"].n_jobs) == (5, 1, None)
    assert found["open"].random_state not in (None, 5)
    for member in found.values():
        assert (member.oob_score, member.aggregation, member.calibration) == (True, None, None)
        assert member.oob_table_ == {}, "it is the committee that decides"
    both = CommitteeClassifier(members, random_state=0, n_jobs=2).fit(X, Y).named_members_
    assert [member.n_jobs for member in both.values()] == [2, 2]
    assert both["open"].random_state == found["open"].random_state
    assert members[1][1].calibration == "oob", "those that were given are left as they are"


def test_what_ensembles_choose_on_the_same_draws_is_chosen_once(monkeypatch):
    calls = []

    def spy(data, entropy, **asked):
        calls.append((asked["C"], asked["scaling"]))
        return choose_logistic(data, entropy, **asked)

    monkeypatch.setattr(_bootstrap, "choose_logistic", spy)
    members = [
        ("lines", EBRClassifier(n_estimators=5)),
        ("chains", ECCClassifier(n_estimators=5, chain_method="predict")),
        ("as they are", EBRClassifier(n_estimators=5, scaling="none")),
        ("other draws", EBRClassifier(n_estimators=5, random_state=7)),
    ]
    fitted = CommitteeClassifier(members, random_state=0).fit(X, Y)
    assert calls == [("auto", "auto"), ("auto", "none"), ("auto", "auto")]
    for one in fitted.named_members_.values():
        alone = clone(one).set_params(oob_score=False).fit(X, Y)
        assert (alone.C_, alone.scaling_) == (one.C_, one.scaling_)
        np.testing.assert_array_equal(alone.predict_proba(NEW), one.predict_proba(NEW))
        assert not hasattr(one, "_choices"), "nothing of it is saved"


def test_two_instances_are_enough_for_a_committee():
    fitted = CommitteeClassifier([("trees", EMODTClassifier(20))], random_state=0).fit(X[:2], Y[:2])
    assert fitted.predict(X[:2]).shape == (2, 4)
    assert fitted.joint_weights_ == {"trees": 1.0}


@pytest.mark.parametrize("beliefs", [700, 1 << 23])
def test_a_weight_counts_as_copies_for_what_a_committee_learns_and_parts_change_nothing(beliefs, monkeypatch):
    weight = np.random.default_rng(0).integers(0, 3, 60)
    copies = np.repeat(np.arange(60), weight)
    # What was seen is counted without an instance itself: one of weight two has no copy that is still there, so that
    # beliefs over what was seen, as those of joint chains, are others.
    whole = CommitteeClassifier(MEMBERS[:2], random_state=0).fit(X[copies], Y[copies])
    monkeypatch.setattr(_asking, "BELIEFS_AT_ONCE", beliefs)
    weighed = CommitteeClassifier(MEMBERS[:2], random_state=0).fit(X[:60], Y[:60], sample_weight=weight)
    np.testing.assert_array_equal(weighed.predict_proba(NEW), whole.predict_proba(NEW))
    for name in ("weights_", "oob_log_losses_"):
        assert getattr(weighed, name) == pytest.approx(getattr(whole, name), abs=1e-9)
    for loss, row in whole.oob_table_.items():
        known = {way: value for way, value in row.items() if "seen" not in way and "joint" not in way}
        assert {way: weighed.oob_table_[loss][way] for way in known} == pytest.approx(known, abs=1e-9)
    assert np.isnan(weighed.oob_proba_[weight == 0]).all()


def test_nobody_is_asked_twice_about_what_it_has_not_seen(monkeypatch):
    asked = []

    def listening(ensemble, features, how, *given):
        asked.append((type(ensemble).__name__, how.joint))
        return believed_together(ensemble, features, how, *given)

    monkeypatch.setattr(_committee, "believed_together", listening)
    whole = CommitteeClassifier(MEMBERS, random_state=0).fit(X, Y)
    assert asked == [("EMODTClassifier", True), ("ECCClassifier", True)], "the others have said it before"
    asked.clear()
    monkeypatch.setattr(_committee, "_HEARD", 0)
    forgetful = CommitteeClassifier(MEMBERS, random_state=0).fit(X, Y)
    assert len(asked) > 2
    assert forgetful.oob_table_ == whole.oob_table_
    assert not hasattr(whole, "_heard")


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


def plain_selection(likelihood, weight, instances):
    """Sixty picks, each of the belief that makes the log loss of the pool the smallest, after a part of every one."""
    n_beliefs = len(likelihood)

    def log_loss(counts):
        pooled = sum(count * one for count, one in zip(counts, likelihood, strict=True)) / sum(counts)
        return -np.average(np.log(np.clip(pooled, 1e-3, 1)).mean(axis=1), weights=weight)

    counts = [60 * 100 / (100 + instances) / n_beliefs] * n_beliefs
    for _ in range(60):
        more = [[count + (e == one) for e, count in enumerate(counts)] for one in range(n_beliefs)]
        counts = min(more, key=log_loss)
    alone = [log_loss([e == one for e in range(n_beliefs)]) for one in range(n_beliefs)]
    return np.array(counts) / sum(counts), alone, log_loss(counts)


@pytest.mark.parametrize("every", [1, 2])
def test_weights_are_those_of_plain_forward_selection(every, monkeypatch):
    rng = np.random.default_rng(4)
    truth, weight = rng.integers(0, 2, (31, 2)).astype(np.int8), rng.random(31)
    p = np.clip(np.where(truth, 0.8, 0.2) + rng.normal(0, 0.5, (3, 31, 2)), 0, 1)
    likelihood = np.where(truth == 1, p, 1 - p)[:, ::every]
    monkeypatch.setattr(_weights, "_MOST_CELLS", 62 // every)
    for found, instances in (
        (forward_selection(p, truth, weight), weight.sum()),
        (likelihood_selection(likelihood, weight[::every]), weight[::every].sum()),
        (likelihood_selection(likelihood, weight[::every], 1000.0), 1000.0),
    ):
        weights, alone, together = plain_selection(likelihood, weight[::every], instances)
        np.testing.assert_allclose(found.weights, weights, atol=1e-12)
        np.testing.assert_allclose(found.alone, alone, atol=1e-12)
        assert found.together == pytest.approx(together, abs=1e-12)


def test_ensembles_that_cannot_sit_together_are_refused():
    three, two = (EMODTClassifier(2, random_state=0).fit(X, labels) for labels in (Y[:, :3], Y[:, :2]))
    assert len(EnsembleCrew((three,)).joined(EnsembleCrew((three,)))) == 2
    with pytest.raises(ComitiaError, match="must know the same labels"):
        EnsembleCrew((three,)).joined(EnsembleCrew((two,)))
    for nobody in ((), (three, "two")):
        with pytest.raises(ComitiaError, match="must hold at least one ensemble"):
            EnsembleCrew(nobody)
