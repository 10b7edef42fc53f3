"""Scoring many decisions of one fitted ensemble: each is what deciding alone would give."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import comitia.ensembles._base
from comitia import ENSEMBLES
from comitia.aggregation import AGGREGATIONS
from comitia.experiments._score import Way, losses_of
from comitia.losses import get_loss

# A committee has ensembles in the place of a number of members.
OF_MEMBERS = [kind for kind in ENSEMBLES if kind != "committee"]

LOSSES = ("hamming", "subset01", "f1", "jaccard")


@pytest.fixture(scope="module", params=OF_MEMBERS)
def ensemble(request, joint):
    return ENSEMBLES[request.param](n_estimators=15, oob_score=True, aggregation="oob", random_state=0).fit(
        joint.X[:100], joint.Y[:100]
    )


@pytest.fixture(scope="module")
def held_out(joint):
    return joint.X[100:], joint.Y[100:]


def test_each_value_is_the_loss_of_what_the_ensemble_predicts(ensemble, held_out):
    X, Y = held_out
    found = losses_of(ensemble, X, Y, losses=LOSSES, aggregations=AGGREGATIONS, pools=["mean", "median"])
    for decision, value in found.items():
        ensemble.set_params(loss=decision.loss, aggregation=decision.aggregation, pool=decision.pool or "mean")
        assert value == get_loss(decision.loss).value(Y, ensemble.predict(X)).mean(), decision


def test_smaller_sizes_are_what_the_first_members_decide(ensemble, held_out):
    X, Y = held_out
    sizes = [1, 4, 15]
    found = losses_of(ensemble, X, Y, losses=["f1"], aggregations=AGGREGATIONS, sizes=sizes)
    for decision, value in found.items():
        ensemble.set_params(loss="f1", aggregation=decision.aggregation, pool="mean")
        staged = list(ensemble.staged_predict(X, sizes))
        assert value == get_loss("f1").value(Y, staged[sizes.index(decision.size)]).mean(), decision


def test_the_chunk_changes_no_bit(ensemble, held_out, monkeypatch):
    scored = []
    for instances in (10_000, 20, 7):
        size = instances * 15 * held_out[1].shape[1]
        monkeypatch.setattr(comitia.ensembles._asking, "BELIEFS_AT_ONCE", size)
        scored.append(losses_of(ensemble, *held_out, losses=["f1"], aggregations=[*AGGREGATIONS, "oob"], sizes=[2, 15]))
    assert scored[0] == scored[1] == scored[2]


def test_left_to_out_of_bag_it_is_what_the_ensemble_predicts_by_its_choice(ensemble, held_out):
    ensemble.set_params(aggregation="oob", pool="mean")
    found = losses_of(ensemble, *held_out, losses=LOSSES, aggregations=[*AGGREGATIONS, "oob"], sizes=[3, 15])
    for loss in LOSSES:
        predicted = ensemble.set_params(loss=loss, aggregation="oob").predict(held_out[0])
        assert found[Way(loss, "oob", "", 15)] == get_loss(loss).value(held_out[1], predicted).mean()
        # The table is about all members and says nothing of three.
        assert Way(loss, "oob", "", 3) not in found


def test_joint_decisions_are_there_exactly_where_members_have_joint_beliefs(ensemble, held_out):
    found = losses_of(ensemble, *held_out, losses=["f1"], aggregations=AGGREGATIONS)
    assert ("ctp-joint" in {decision.aggregation for decision in found}) == ensemble.supports_joint


def test_equal_decisions_have_rows_of_their_own(ensemble, held_out):
    found = losses_of(ensemble, *held_out, losses=["hamming"], aggregations=["gmv", "ctp", "bmv", "ptc-lw"])
    values = {decision.aggregation: value for decision, value in found.items()}
    assert values["gmv"] == values["ctp"]
    assert values["bmv"] == values["ptc-lw"]


def test_only_decisions_that_pool_marginals_are_repeated_for_each_pool(ensemble, held_out):
    found = losses_of(ensemble, *held_out, losses=["f1"], aggregations=["ctp", "ptc-mode"], pools=["mean", "log_odds"])
    assert {(decision.aggregation, decision.pool) for decision in found} == {
        ("ctp", "mean"),
        ("ctp", "log_odds"),
        ("ptc-mode", ""),
    }


def test_sparse_features_and_frames_are_scored_as_arrays_are(joint, held_out):
    pandas = pytest.importorskip("pandas")
    X, Y = held_out
    asked = {"losses": LOSSES, "aggregations": tuple(AGGREGATIONS)}
    forest = ENSEMBLES["emodt"](n_estimators=5, random_state=0).fit(joint.X[:100], joint.Y[:100])
    expected = losses_of(forest, X, Y, **asked)
    assert losses_of(forest, csr_array(X), Y, **asked) == expected
    named = ENSEMBLES["emodt"](n_estimators=5, random_state=0).fit(
        pandas.DataFrame(joint.X[:100]).add_prefix("x"), joint.Y[:100]
    )
    assert losses_of(named, pandas.DataFrame(X).add_prefix("x"), Y, **asked) == expected


def test_values_are_mean_losses_from_zero_to_one(ensemble, held_out):
    found = losses_of(ensemble, *held_out, losses=LOSSES, aggregations=AGGREGATIONS)
    assert all(0 <= value <= 1 for value in found.values())
    assert len(set(np.round(list(found.values()), 6))) > 4


def test_a_measure_is_taken_of_all_answers_together(joint, monkeypatch):
    forest = ENSEMBLES["emodt"](15, oob_score=True, aggregation="oob", random_state=0).fit(joint.X[:100], joint.Y[:100])
    X, Y = joint.X[100:], joint.Y[100:]
    monkeypatch.setattr(comitia.ensembles._asking, "BELIEFS_AT_ONCE", 200)  # several chunks
    ways = (*AGGREGATIONS, "oob")
    found = losses_of(forest, X, Y, losses=["macro-f1", "f1"], aggregations=ways, pools=["mean", "median"])
    measured = {way: value for way, value in found.items() if way.loss == "macro-f1"}
    assert {way.aggregation for way in measured} == {*ways}
    assert {way.pool for way in measured} == {"mean", ""}
    for way, value in measured.items():
        assert value == 1 - forest.set_params(loss=way.loss, aggregation=way.aggregation).score(X, Y), way
    unjudged = ENSEMBLES["emodt"](2, random_state=0).fit(joint.X, joint.Y)
    assert not losses_of(unjudged, X, Y, losses=["macro-f1"], aggregations=["ctp"])
