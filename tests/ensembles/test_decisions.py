"""Decisions for measures of a whole set, within limits, and with labels left open, on every ensemble."""

import pickle
from copy import deepcopy
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from comitia import (
    AGGREGATIONS,
    LOSSES,
    MEASURES,
    READINGS,
    Beliefs,
    ComitiaError,
    Constraints,
    EBRClassifier,
    ECCClassifier,
    EMOBTClassifier,
    EMODTClassifier,
    Marginals,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
    decide,
    get_loss,
    get_measure,
    get_pool,
    get_reading,
    load,
    save,
)
from comitia.aggregation import Decision, Pooled
from comitia.datasets import make_joint
from comitia.ensembles._crews import Asked
from comitia.losses import Abstaining, FLoss, Within, cost_for_rate, rank_by
from comitia.measures import CountMeasure, MacroF, RecallAtLeast

X, Y = make_multilabel_classification(n_samples=200, n_features=6, n_classes=4, random_state=1)
NEW = X[:40] + 0.5
LIMITS = Constraints(at_least=1, at_most=2, exclusive=((0, 1),), implies=((2, 3),))
ENSEMBLES = {
    "ebr": EBRClassifier(n_estimators=9, random_state=0),
    "ecc": ECCClassifier(n_estimators=9, random_state=0),
    "emodt": EMODTClassifier(n_estimators=9, random_state=0),
    "emobt": EMOBTClassifier(n_estimators=5, max_rounds=20, random_state=0),
    "bagging": MultilabelBaggingClassifier(KNeighborsClassifier(), 9, random_state=0),
}
pytestmark = pytest.mark.filterwarnings("ignore:.*out-of-bag")


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_what_a_forest_looks_up_is_what_its_trees_say_one_by_one(reading, weighted, own):
    forest = EMODTClassifier(n_estimators=9, min_samples_split=4, random_state=0).fit(X, Y)
    crew, known = forest.members_, forest.observed_
    known = known.leaving_out(Y, np.ones(len(Y))) if own else known
    weights = np.random.default_rng(0).integers(0, 3, (9, len(X))) * 0.5 if weighted else None
    if weighted:
        weights[0] += 1.0
    together = Beliefs(lambda joint: crew.relevances(X, Asked(joint, known)), weights)
    one_by_one = Beliefs(lambda joint: list(crew.relevances(X, Asked(joint, known))), weights)
    for loss in map(get_loss, LOSSES):
        for aggregation in AGGREGATIONS.values():
            decision = aggregation.decision(loss, get_pool("mean"), get_reading(reading))
            np.testing.assert_array_equal(together.decide(decision), one_by_one.decide(decision))
    belief = Decision(get_loss("hamming"), Pooled(get_pool("mean")), get_reading("independent"))
    np.testing.assert_array_equal(
        together.distribution(belief).marginals(), one_by_one.distribution(belief).marginals()
    )


@pytest.fixture(scope="module")
def fitted():
    known = {}

    def fit(kind):
        if kind not in known:
            known[kind] = clone(ENSEMBLES[kind]).set_params(oob_score=True).fit(X, Y)
        return pickle.loads(pickle.dumps(known[kind]))

    return fit


@pytest.fixture
def forest(fitted):
    return fitted("emodt")


def voting(**parameters):
    members = [("a", KNeighborsClassifier().fit(X[:80], Y[:80])), ("b", KNeighborsClassifier(9).fit(X[:80], Y[:80]))]
    return MultilabelVotingClassifier(members, prefit=True, weights=[2, 1], **parameters).fit(X[:80], Y[:80])


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("kind", ENSEMBLES)
def test_a_measure_is_decided_by_the_cuts_that_it_resolves_to_out_of_bag(kind, name, fitted):
    ensemble, measure = fitted(kind), get_measure(name)
    judged = ~np.isnan(ensemble.oob_proba_[:, 0])
    loss = measure.resolve(ensemble.oob_proba_[judged], Y[judged], np.ones(judged.sum()))
    members = ensemble.members_
    answers = ensemble.set_params(loss=name).predict(NEW)
    assert (answers == loss.minimise(Marginals(ensemble.predict_proba(NEW)))).all()
    assert ensemble.members_ is members
    assert ensemble.score(NEW, Y[:40]) == measure.value(Y[:40], answers)
    honest = measure.cross_fitted(ensemble.oob_proba_[judged], Y[judged])
    assert (ensemble.oob_score_, ensemble.oob_loss_) == (honest, 1 - honest)
    assert (ensemble.set_params(loss="hamming").predict(NEW) == (ensemble.predict_proba(NEW) > 0.5)).all()


def test_a_measure_may_be_there_from_the_start(forest):
    at_fit = clone(ENSEMBLES["emodt"]).set_params(oob_score=True, loss=MacroF(beta=2), aggregation="oob").fit(X, Y)
    assert (at_fit.predict(NEW) == forest.set_params(loss=MacroF(beta=2)).predict(NEW)).all()
    assert at_fit.oob_table_.keys() == LOSSES.keys()
    assert (at_fit.oob_choice_, at_fit.oob_aggregation_) == ("ctp", "ctp")
    assert at_fit.set_params(loss="f1").oob_choice_ in at_fit.oob_table_["f1"]


def test_weights_count_in_cuts_and_scores():
    weight = np.random.default_rng(0).integers(1, 4, 200)
    forest = EMODTClassifier(9, oob_score=True, loss="macro-f1", random_state=0).fit(X, Y, sample_weight=weight)
    judged = ~np.isnan(forest.oob_proba_[:, 0])
    loss = MacroF().resolve(forest.oob_proba_[judged], Y[judged], weight[judged])
    assert forest.decision().loss == loss
    assert forest.score(X, Y, weight) == pytest.approx(
        f1_score(Y, forest.predict(X), average="macro", sample_weight=weight)
    )


@pytest.mark.parametrize("reading", ["seen", "nonempty"])
def test_cuts_are_applied_to_the_beliefs_on_which_they_were_found(reading, forest):
    expected = forest.set_params(loss="macro-f1").predict(NEW)
    assert (forest.set_params(reading=reading).predict(NEW) == expected).all()


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_every_aggregation_decides_for_a_measure(aggregation, forest):
    forest.set_params(loss="micro-f1", aggregation=aggregation)
    members = list(forest.predict_members(NEW, joint=aggregation == "ctp-joint"))
    resolved = forest.set_params(aggregation=None).decision().loss
    expected = decide(members, resolved, aggregation, reading="independent")
    assert (forest.set_params(aggregation=aggregation).predict(NEW) == expected).all()


def test_macro_f1_pays_where_labels_are_rare():
    features, labels = make_multilabel_classification(1200, 12, n_classes=8, n_labels=1, random_state=3)
    forest = EMODTClassifier(30, oob_score=True, random_state=0).fit(features[:600], labels[:600])
    cut_at_half = f1_score(labels[600:], forest.predict(features[600:]), average="macro")
    forest.set_params(loss="macro-f1")
    reached = forest.score(features[600:], labels[600:])
    assert reached > cut_at_half + 0.05
    assert abs(forest.oob_score_ - reached) < 0.05


def test_voting_resolves_on_what_it_is_given():
    ensemble = voting(loss="macro-f1")
    with pytest.raises(ComitiaError, match=r"tune\(X, y\) first"):
        ensemble.predict(NEW)
    assert ensemble.tune(X[80:], Y[80:]) is ensemble
    loss = MacroF().resolve(ensemble.predict_proba(X[80:]), Y[80:])
    assert (ensemble.predict(NEW) == loss.minimise(Marginals(ensemble.predict_proba(NEW)))).all()
    open_ = ensemble.predict_partial(NEW, guarantee=0.8)
    cuts = RecallAtLeast(0.8).resolve_partial(ensemble.predict_proba(X[80:]), Y[80:])
    assert (open_ == cuts.minimise(Marginals(ensemble.predict_proba(NEW)))).all()
    with pytest.raises(ComitiaError, match="tuned on beliefs of pool"):
        ensemble.set_params(pool="median").predict(NEW)
    ensemble.set_params(pool="mean").fit(X[:80], Y[:80])
    with pytest.raises(ComitiaError, match="tune"):
        ensemble.predict(NEW)


def allowed(constraints, n_labels):
    every = np.array(list(product((0, 1), repeat=n_labels)), np.int8)
    return every[constraints.allows(every)]


@pytest.mark.parametrize("loss", [*LOSSES, "macro-f1"])
@pytest.mark.parametrize("kind", ENSEMBLES)
def test_predictions_are_the_best_that_limits_allow(kind, loss, fitted):
    ensemble = fitted(kind).set_params(loss=loss, aggregation="ctp", reading="independent", constraints=LIMITS)
    target = ensemble.decision().loss.loss
    belief = Marginals(ensemble.predict_proba(NEW))
    candidates = allowed(LIMITS, 4)
    risks = np.stack([target.risk(belief, np.tile(h, (40, 1))) for h in candidates], axis=1)
    answers = ensemble.predict(NEW)
    assert LIMITS.allows(answers).all()
    assert target.risk(belief, answers) == pytest.approx(risks.min(axis=1), abs=1e-12)
    assert ensemble.expected_loss(NEW) == pytest.approx(risks.min(axis=1), abs=1e-12)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("loss", [*LOSSES, "balanced-accuracy"])
def test_every_aggregation_keeps_the_limits(aggregation, loss, forest):
    unlimited = forest.set_params(loss=loss, aggregation=aggregation, reading="nonempty")
    decision = unlimited.decision()
    beliefs = next(unlimited.beliefs(NEW))
    expected = Within(decision.loss, LIMITS).minimise(beliefs.distribution(decision))
    answers = unlimited.set_params(constraints=LIMITS).predict(NEW)
    assert LIMITS.allows(answers).all()
    assert (answers == expected).all()
    for stage in unlimited.staged_predict(NEW, [1, 4]):
        assert LIMITS.allows(stage).all()
    if loss in LOSSES:
        members = list(forest.predict_members(NEW, joint=aggregation == "ctp-joint"))
        assert (decide(members, loss, aggregation, reading="nonempty", constraints=LIMITS) == answers).all()


def test_limits_name_labels_and_are_changed_after_the_fit():
    frame = pd.DataFrame(Y, columns=["sea", "beach", "day", "night"])
    rules = Constraints(implies=(("beach", "sea"),), exclusive=(("day", "night"),))
    forest = EMODTClassifier(9, loss="f1", constraints=rules, random_state=0).fit(X, frame)
    positions = Constraints(implies=((1, 0),), exclusive=((2, 3),))
    assert positions.allows(forest.predict(NEW)).all()
    free = clone(forest).set_params(constraints=None).fit(X, frame)
    assert (forest.predict(NEW) == free.set_params(constraints=positions).predict(NEW)).all()
    assert not positions.allows(free.set_params(constraints=None).predict(NEW)).all()


def test_out_of_bag_losses_are_those_of_answers_within_limits(forest):
    limited = clone(ENSEMBLES["emodt"]).set_params(oob_score=True, loss="f1", constraints=LIMITS).fit(X, Y)
    assert limited.oob_loss_ > forest.set_params(loss="f1").oob_loss_
    with pytest.raises(ComitiaError, match="out-of-bag losses are known for constraints Constraints"):
        _ = limited.set_params(constraints=None).oob_loss_
    macro = limited.set_params(loss="macro-f1", constraints=Constraints(at_most=1)).oob_score_
    assert macro < limited.set_params(constraints=None).oob_score_


@pytest.mark.parametrize(
    ("constraints", "complaint"),
    [
        (Constraints(at_least=5), "at least 5 labels are wanted"),
        (Constraints(exclusive=(("y0", "y9"),)), "y9"),
        (Constraints(at_least=4, exclusive=((0, 1),)), "contradict|no labeling|allow"),
        ({"at_most": 2}, "constraints must be Constraints"),
    ],
)
def test_limits_that_no_answer_can_keep_are_refused_before_and_after_the_fit(constraints, complaint, forest):
    with pytest.raises(ComitiaError, match=complaint):
        forest.set_params(constraints=constraints).predict(NEW)
    with pytest.raises(ComitiaError, match=complaint):
        EMODTClassifier(2, constraints=constraints).fit(X, Y)


@pytest.mark.parametrize("loss", [*LOSSES, "macro-f1"])
@pytest.mark.parametrize("kind", ENSEMBLES)
def test_labels_are_left_open_as_the_loss_of_partial_answers_says(kind, loss, fitted):
    ensemble = fitted(kind).set_params(loss=loss, reading="independent", aggregation="ctp")
    target, belief = ensemble.decision().loss, Marginals(ensemble.predict_proba(NEW))
    unseen = Marginals(ensemble.oob_proba_[~np.isnan(ensemble.oob_proba_[:, 0])])
    answers = ensemble.predict_partial(NEW, cost=0.3)
    assert answers.dtype == np.int8
    assert (answers == Abstaining(target, 0.3).minimise(belief)).all()
    cost = cost_for_rate(unseen, target, 0.25)
    assert (ensemble.predict_partial(NEW, rate=0.25) == Abstaining(target, cost).minimise(belief)).all()
    assert (ensemble.predict_partial(NEW, rate=0.0) >= 0).mean() > 0.95


@pytest.fixture(scope="module")
def of_some():
    """A forest that saw a label on every instance, and new instances."""
    data = make_joint(900, 4, 5, dependence=0.7, random_state=3).dataset
    some = data.take(np.flatnonzero(data.Y.any(axis=1)))
    known, new = some.take(np.arange(400)), some.take(np.arange(400, some.n_instances))
    return EMODTClassifier(60, min_samples_split=6, oob_score=True, random_state=0).fit(known.X, known.Y), new.X


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("loss", LOSSES)
def test_partial_answers_come_from_the_belief_that_decides(loss, reading, of_some):
    forest = deepcopy(of_some[0]).set_params(loss=loss, reading=reading, aggregation="ctp")
    new = of_some[1]
    # Nothing is left open where that costs more than any error.
    assert (forest.predict_partial(new, cost=100.0) == forest.predict(new)).all()
    left = (forest.predict_partial(new, rate=0.2) < 0).mean()
    assert 0.1 < left < 0.25


def test_a_vote_leaves_open_about_as_much_of_what_it_was_tuned_on_as_was_asked_for():
    data = make_joint(500, 4, 5, dependence=0.7, random_state=3).dataset
    vote = MultilabelVotingClassifier([("trees", EMODTClassifier(30, random_state=0))], loss="f1", reading="seen")
    vote.fit(data.X[:250], data.Y[:250]).tune(data.X[250:], data.Y[250:])
    left = (vote.predict_partial(data.X[250:], rate=0.2) < 0).mean()
    assert 0.15 < left <= 0.2


def test_a_guarantee_denies_few_labels_and_is_asked_of_the_labels_not_seen(forest):
    judged = ~np.isnan(forest.oob_proba_[:, 0])
    cuts = RecallAtLeast(0.95).resolve_partial(forest.oob_proba_[judged], Y[judged])
    answers = forest.predict_partial(NEW, guarantee=0.95)
    assert (answers == cuts.minimise(Marginals(forest.predict_proba(NEW)))).all()
    more = forest.predict_partial(NEW, guarantee=0.8)
    assert (answers == -1).sum() > (more == -1).sum()


def test_partial_answers_say_what_they_lack(forest):
    for wrong in ({}, {"cost": 0.1, "rate": 0.1}):
        with pytest.raises(ComitiaError, match="exactly one of cost, rate and guarantee"):
            forest.predict_partial(NEW, **wrong)
    with pytest.raises(ComitiaError, match="cannot keep limits"):
        forest.set_params(constraints=LIMITS).predict_partial(NEW, cost=0.1)
    unjudged = EMODTClassifier(2, random_state=0).fit(X, Y)
    assert unjudged.predict_partial(NEW, cost=0.1).shape == (40, 4)
    for wish in ({"rate": 0.1}, {"guarantee": 0.9}):
        with pytest.raises(ComitiaError, match="oob_score=True"):
            unjudged.predict_partial(NEW, **wish)
    with pytest.raises(ComitiaError, match="oob_score=True"):
        unjudged.set_params(loss="macro-f1").predict(NEW)
    with pytest.raises(ComitiaError, match="set oob_score=True"):
        EMODTClassifier(2, loss="macro-f1").fit(X, Y)
    with pytest.raises(ComitiaError, match="did you mean 'macro-f1'"):
        EMODTClassifier(2, loss="macrof1").fit(X, Y)


def test_a_measure_has_no_losses_of_instances_and_one_out_of_bag_value(forest):
    forest.set_params(loss="macro-f1")
    with pytest.raises(ComitiaError, match="instances have no losses"):
        _ = forest.oob_losses_
    with pytest.raises(ComitiaError, match="known for aggregation 'ctp'"):
        _ = forest.set_params(aggregation="ptc-mbr").oob_score_
    with pytest.raises(ComitiaError, match="tuned on beliefs of pool"):
        forest.set_params(aggregation=None, pool="median").predict(NEW)


def test_orders_are_those_of_the_belief_that_decides(forest):
    assert (forest.rank(NEW) == np.argsort(-forest.predict_proba(NEW), axis=1, kind="stable")).all()
    forest.set_params(aggregation="ctp-joint")
    joint = next(forest.beliefs(NEW)).distribution(forest.decision("f1"))
    assert (forest.rank(NEW, "recall") == rank_by(joint, "recall")).all()


def test_scikit_learn_scores_by_the_measure():
    forest = EMODTClassifier(5, oob_score=True, loss="micro-f1", random_state=0)
    assert cross_val_score(forest, X, Y, cv=2).shape == (2,)
    binary = clone(forest).set_params(constraints=Constraints(at_least=1)).fit(X, np.array(["no", "yes"])[Y[:, 0]])
    assert set(binary.predict(NEW)) == {"yes"}
    assert binary.set_params(constraints=None).predict_partial(NEW, rate=0.2).shape == (40, 1)


@pytest.mark.parametrize("loss", ["macro-f1", MacroF(beta=2, estimate="smoothed"), "f1"])
def test_what_is_saved_decides_the_same(loss, forest, tmp_path):
    path = tmp_path / "model.skops"
    forest.set_params(loss=loss, constraints=Constraints(at_most=2, exclusive=(("y0", "y1"),)))
    answers = forest.predict(NEW)
    save(forest, path)
    opened = load(path)
    assert (opened.predict(NEW) == answers).all()
    assert (opened.set_params(loss="micro-f1", constraints=None).predict(NEW)
            == forest.set_params(loss="micro-f1", constraints=None).predict(NEW)).all()  # fmt: skip
    assert (opened.predict_partial(NEW, rate=0.2) == forest.predict_partial(NEW, rate=0.2)).all()


def test_a_tuned_vote_is_saved_with_what_it_was_tuned_on(tmp_path):
    members = [("a", MultiOutputClassifier(LogisticRegression())), ("b", MultiOutputClassifier(GaussianNB()))]
    ensemble = MultilabelVotingClassifier(members, loss="macro-f1").fit(X[:80], Y[:80]).tune(X[80:], Y[80:])
    save(ensemble, tmp_path / "model.skops", trusted=["sklearn"])
    assert (load(tmp_path / "model.skops", trusted=["sklearn"]).predict(NEW) == ensemble.predict(NEW)).all()


def test_ones_own_measure_works_like_a_named_one(forest):
    own = CountMeasure(lambda tp, fp, fn, _: 2 * tp / np.maximum(2 * tp + fp + fn, 1e-12))
    forest.set_params(loss=own)
    assert forest.score(X, Y) == own.value(Y, forest.predict(X))


def test_a_loss_that_has_limits_gets_no_others(forest):
    own = Within(FLoss(), Constraints(at_most=1))
    assert forest.set_params(loss=own).predict(NEW).sum(axis=1).max() == 1
    with pytest.raises(ComitiaError, match="limits of its own"):
        forest.set_params(constraints=LIMITS).predict(NEW)
    assert get_loss(own) is own


@pytest.mark.parametrize("power", [0.0, 0.6, 1.0])
def test_joint_chains_are_read_by_multiplying_each_with_the_counts_of_the_labelsets(power):
    X, Y = make_multilabel_classification(120, 5, n_classes=4, random_state=2)
    chains = ECCClassifier(n_estimators=3, chain_method="joint", random_state=0).fit(X, Y)
    target = LOSSES["subset01"]()
    decision = chains.set_params(loss=target, aggregation=f"ctp-joint · seen {power}").decision()
    (beliefs,) = chains.beliefs(X)
    found = beliefs.distribution(decision).weights.toarray()
    counts = chains.observed_.counts**power
    members = [member.weights.toarray() * counts for member in chains.predict_members(X, joint=True)]
    expected = np.mean([weights / weights.sum(axis=1, keepdims=True) for weights in members], axis=0)
    np.testing.assert_allclose(found / found.sum(axis=1, keepdims=True), expected, atol=2e-3)
