"""Pooled beliefs that are brought into line with what was observed out of bag."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.neighbors import KNeighborsClassifier

import comitia
from comitia import (
    AGGREGATIONS,
    LOSSES,
    CommitteeClassifier,
    EBRClassifier,
    ECCClassifier,
    EMOBTClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
    decide,
)
from comitia._errors import ComitiaError
from comitia.aggregation import Decision, Pooled
from comitia.relevance import Calibration, Marginals, fit_calibration, get_reading, log_odds, mean
from comitia.relevance._calibration import KINDS, _log_loss, cross_fitted

X, Y = make_multilabel_classification(n_samples=400, n_features=8, n_classes=5, random_state=3)
NEW, TRUTH, X, Y = X[300:], Y[300:], X[:300], Y[:300]

JUDGED = {"oob_score": True, "random_state": 0}
ENSEMBLES = [
    EBRClassifier(n_estimators=12, **JUDGED),
    ECCClassifier(n_estimators=12, chain_method="joint", **JUDGED),
    EMODTClassifier(12, **JUDGED),
    EMOBTClassifier(3, max_rounds=10, **JUDGED),
    MultilabelBaggingClassifier(KNeighborsClassifier(), 12, **JUDGED),
    CommitteeClassifier([("trees", EMODTClassifier(12)), ("lines", EBRClassifier(n_estimators=12))], random_state=0),
]
every = pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda ensemble: type(ensemble).__name__)
pytestmark = pytest.mark.filterwarnings("ignore:.*have no out-of-bag decision")


@every
@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_the_pooled_ones_calibrated_and_change_without_a_refit(ensemble, kind):
    fitted = clone(ensemble).fit(X, Y)
    raw = fitted.predict_proba(NEW)
    calibrated = fitted.set_params(calibration=kind).predict_proba(NEW)
    np.testing.assert_array_equal(calibrated, fitted.calibration_.apply(raw))
    anew = clone(ensemble).set_params(calibration=kind).fit(X, Y)
    np.testing.assert_array_equal(anew.predict_proba(NEW), calibrated)
    np.testing.assert_array_equal(anew.set_params(calibration=None).predict_proba(NEW), raw)


@every
def test_predictions_are_the_decisions_of_the_members_by_the_calibration(ensemble):
    fitted = clone(ensemble).set_params(calibration="sigmoid", aggregation="ctp").fit(X, Y)
    weights = fitted._weights()
    for loss in LOSSES:
        for name, how in AGGREGATIONS.items():
            if not fitted.set_params(loss=loss).can_decide_by(name):
                continue
            fitted.set_params(aggregation=name)
            members = list(fitted.predict_members(NEW, joint=fitted.decision().over.joint and fitted.supports_joint))
            decided = decide(members, loss, how, weights=weights, calibration=fitted.calibration_)
            np.testing.assert_array_equal(fitted.predict(NEW), decided)


def test_votes_joint_beliefs_and_other_pools_know_nothing_of_a_calibration():
    calibration = fit_calibration(np.random.default_rng(0).random((50, 5)), Y[:50], kind="sigmoid")
    for name, how in AGGREGATIONS.items():
        decision = how.decision(LOSSES["f1"](), mean, get_reading("auto"))
        touched = decision.calibrated(calibration, mean)
        assert (touched != decision) == (name in ("gmv", "ctp"))
        assert decision.calibrated(None, mean) is decision
    assert Decision(LOSSES["f1"](), Pooled(log_odds), get_reading("auto")).calibrated(calibration, mean).over == Pooled(
        log_odds
    )


def test_each_out_of_bag_probability_is_calibrated_by_other_instances():
    fitted = EMODTClassifier(20, calibration="isotonic", **JUDGED).fit(X, Y)
    proba = fitted.oob_proba_
    held = fitted._unseen()
    np.testing.assert_array_equal(cross_fitted(held.p, Y, held.weight, "isotonic"), proba)
    in_sample = fitted.calibration_.apply(held.p)
    assert _log_loss(in_sample, Y).mean() < _log_loss(proba, Y).mean()


@pytest.mark.parametrize("kind", KINDS)
def test_an_instances_own_labels_do_not_touch_its_cross_fitted_probability(kind):
    rng = np.random.default_rng(1)
    p = np.round(rng.random((120, 3)), 2)
    labels = (rng.random((120, 3)) < p**2).astype(np.int8)
    folds = np.arange(120) % 5
    before = _with_folds(p, labels, kind, folds)
    changed = labels.copy()
    changed[folds == 2] = 1 - changed[folds == 2]
    after = _with_folds(p, changed, kind, folds)
    np.testing.assert_array_equal(before[folds == 2], after[folds == 2])
    assert (before != after).any()


def _with_folds(p, labels, kind, folds):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("comitia.relevance._calibration._dealt", lambda *_: folds)
        return cross_fitted(p, labels, np.ones(len(p)), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_calibrations_depend_neither_on_the_order_nor_on_how_copies_are_counted(kind):
    rng = np.random.default_rng(2)
    p = rng.random((200, 3))
    labels = (rng.random((200, 3)) < p**3).astype(np.int8)
    weight = rng.integers(1, 3, 200).astype(float)
    order = rng.permutation(200)
    crossed = cross_fitted(p, labels, weight, kind)
    np.testing.assert_allclose(cross_fitted(p[order], labels[order], weight[order], kind), crossed[order], atol=1e-9)
    copies = np.repeat(np.arange(200), weight.astype(int))
    ones = np.ones(len(copies))
    if kind == "oob":  # a standard error takes copies for independent, and weights not
        return
    np.testing.assert_allclose(cross_fitted(p[copies], labels[copies], ones, kind), crossed[copies], atol=5e-3)


def test_the_choice_is_among_calibrated_decisions_and_others_only_where_it_is_left_open():
    fitted = EMODTClassifier(20, aggregation="oob", calibration="oob", **JUDGED).fit(X, Y)
    assert {"ctp", "ctp · calibrated", "ctp · seen 0.3 · calibrated"} <= set(fitted.oob_table_["f1"])
    assert "ptc-mode · calibrated" not in fitted.oob_table_["f1"]
    for loss in ("hamming", "subset01", "f1"):
        decision = fitted.set_params(loss=loss).decision()
        calibrated = isinstance(decision.over, Pooled) and decision.over.calibration is not None
        assert calibrated == fitted.oob_choice_.endswith("calibrated")
    plain = EMODTClassifier(20, aggregation="oob", **JUDGED).fit(X, Y)
    assert fitted.set_params(calibration=None).oob_table_["f1"] == plain.oob_table_["f1"]
    np.testing.assert_array_equal(fitted.predict(NEW), plain.set_params(loss=fitted.loss).predict(NEW))
    named = EMODTClassifier(20, aggregation="ctp", calibration="sigmoid", **JUDGED).fit(X, Y)
    assert named.oob_aggregation_ == "ctp · calibrated"
    assert "ctp" not in named.oob_table_["f1"]
    with pytest.raises(ComitiaError, match="known for calibration 'sigmoid'"):
        _ = named.set_params(calibration="isotonic").oob_table_


def test_timid_trees_gain_by_calibration_on_instances_that_nobody_has_seen():
    timid = EMODTClassifier(30, min_samples_leaf=40, **JUDGED).fit(X, Y)
    before = _log_loss(timid.predict_proba(NEW), TRUTH).mean()
    for kind in KINDS:
        assert _log_loss(timid.set_params(calibration=kind).predict_proba(NEW), TRUTH).mean() < before


def test_measures_are_cut_on_calibrated_beliefs_once():
    fitted = EBRClassifier(n_estimators=20, loss="macro-f1", calibration="sigmoid", **JUDGED).fit(X, Y)
    assert fitted.decision().over.calibration is fitted.calibration_
    calibrated = Marginals(fitted.predict_proba(NEW))
    np.testing.assert_array_equal(fitted.predict(NEW), fitted.decision().loss.minimise(calibrated))
    assert 0 < fitted.oob_score_ < 1
    assert fitted.predict_partial(NEW, guarantee=0.8).shape == NEW.shape[:1] + Y.shape[1:]


def test_a_saved_model_keeps_its_calibration(tmp_path):
    pytest.importorskip("skops")
    fitted = EMODTClassifier(12, calibration="isotonic", **JUDGED).fit(X, Y)
    comitia.save(fitted, tmp_path / "model")
    opened = comitia.load(tmp_path / "model")
    assert opened._oob.calibrations.keys() == {"isotonic"}
    np.testing.assert_array_equal(opened.predict_proba(NEW), fitted.predict_proba(NEW))


def test_a_vote_is_calibrated_by_what_it_is_tuned_on():
    members = [("neighbours", KNeighborsClassifier()), ("trees", EMODTClassifier(5, random_state=0))]
    vote = MultilabelVotingClassifier(members, calibration="sigmoid").fit(X[:200], Y[:200])
    with pytest.raises(ComitiaError, match="tune"):
        vote.predict(NEW)
    raw = vote.set_params(calibration=None).predict_proba(NEW)
    vote.tune(X[200:], Y[200:]).set_params(calibration="sigmoid")
    np.testing.assert_array_equal(vote.predict_proba(NEW), vote.calibration_.apply(raw))


def test_what_cannot_be_calibrated_is_refused_before_the_fit():
    with pytest.raises(ComitiaError, match="oob_score=True"):
        EBRClassifier(calibration="sigmoid").fit(X, Y)
    with pytest.raises(ComitiaError, match="sigmoid"):
        EBRClassifier(calibration="sigmod", oob_score=True).fit(X, Y)
    fitted = EMODTClassifier(12, calibration="sigmoid", **JUDGED).fit(X, Y)
    with pytest.raises(ComitiaError, match="pool"):
        fitted.set_params(pool="median").predict_proba(NEW)


def test_a_calibration_that_is_none_is_refused():
    fit = fit_calibration(np.random.default_rng(0).random((60, 5)), Y[:60], kind="isotonic")
    given = dict(vars(fit))
    for name, value in {
        "kinds": ("guess", *fit.kinds[1:]),
        "slope": -fit.slope,
        "shift": np.full(5, np.nan),
        "starts": fit.starts + 1,
        "y": fit.y[::-1],
    }.items():
        with pytest.raises(ComitiaError):
            Calibration(**{**given, name: value})
