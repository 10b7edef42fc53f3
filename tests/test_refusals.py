"""What cannot be meant is refused in a sentence that says what was expected and what was given."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.naive_bayes import GaussianNB

from comitia import (
    ComitiaError,
    CommitteeClassifier,
    EBRClassifier,
    ECCClassifier,
    EMOBTClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
    Observed,
    decide,
    get_loss,
)
from comitia._labels import LabelRows
from comitia.datasets import Dataset, load_table
from comitia.ensembles._crews import BoostedCrew, ChainCrew, LogisticCrew, TreeCrew
from comitia.ensembles._out_of_bag import OutOfBag, SparseMarginals
from comitia.ensembles._targets import Form
from comitia.ensembles._unseen import Unseen
from comitia.experiments import LossSetting
from comitia.experiments._calls import read_call
from comitia.losses import (
    Abstaining,
    Constraints,
    CountLoss,
    CustomLoss,
    FLoss,
    FowlkesMallows,
    Hamming,
    JaccardLoss,
    Matthews,
    Precision,
    PropensityScored,
    Recall,
    TopK,
    Within,
    cost_for_rate,
    minimise_within,
)
from comitia.measures import BalancedAccuracy, MacroF, MacroJaccard, MicroF, RecallAtLeast, TwoCuts
from comitia.relevance import LabelSets, LogOdds, Marginals, Seen, Shared, TrimmedMean, votes

RNG = np.random.default_rng(0)
X = RNG.random((20, 3))
Y = (RNG.random((20, 2)) < 0.5).astype(int)
P = Marginals([[0.2, 0.6], [0.7, 0.4]])
TREES = EMODTClassifier(3, random_state=0).fit(X, Y)
CREW = TREES.members_
CHAINS = ECCClassifier(n_estimators=1, C=1.0, scaling="none", random_state=0).fit(X, Y).members_
LABELS = np.eye(2, dtype=np.int8)
LISTS = LabelRows(np.array([0, 1, 1]), np.array([2], np.int32), 3)
OTHERS = EMODTClassifier(2, random_state=0).fit(X[:, :2], Y).members_.trees
DATA = Dataset(X, Y.astype(np.int8), ("a", "b", "c"), ("y", "z"), "mine")


def warm(**changes):
    return EMODTClassifier(3, warm_start=True, random_state=0).fit(X, Y).set_params(**changes)


REFUSED = {
    "joint=True asks for joint .* EBRClassifier": lambda: list(
        EBRClassifier(n_estimators=2).fit(X, Y).predict_members(X, joint=True)
    ),
    r"fewer than the 3 members": lambda: warm(n_estimators=2).fit(X, Y),
    r"labels": lambda: warm(n_estimators=4).fit(X, Y[:, :1].repeat(3, 1)),
    r"oob_score=True cannot be turned on by a warm start": lambda: warm(oob_score=True, n_estimators=4).fit(X, Y),
    r"aggregation='oob' chooses": lambda: TREES.set_params(aggregation="oob").predict(X),
    r"no instance is out of bag for any member": lambda: EMODTClassifier(
        1, oob_score=True, bootstrap=False, max_samples=20
    ).fit(X, Y),
    r"members must be 'auto' or a list .* got 'some'": lambda: CommitteeClassifier("some").fit(X, Y),
    r"members must name at least one": lambda: CommitteeClassifier([]).fit(X, Y),
    r"members must be 'auto' or a list .* got \[\('a',\)\]": lambda: CommitteeClassifier([("a",)]).fit(X, Y),
    r"not seen; got n_samples=1": lambda: CommitteeClassifier([("a", EMODTClassifier(2))]).fit(X[:1], Y[:1]),
    r"estimators must name at least one": lambda: MultilabelVotingClassifier([]).fit(X, Y),
    r"estimators must be a list of \(name, .*got 'tree'": lambda: MultilabelVotingClassifier("tree").fit(X, Y),
    r"estimators must have texts for names; got 3": lambda: MultilabelVotingClassifier([(3, GaussianNB())]).fit(X, Y),
    r"'a' of estimators must be a classifier .*got 'b'": lambda: MultilabelVotingClassifier([("a", "b")]).fit(X, Y),
    r"'a' of members must be a classifier .*got 'drop'": lambda: CommitteeClassifier([("a", "drop")]).fit(X, Y),
    r"weights must hold numbers; got 'equal'": lambda: (
        MultilabelVotingClassifier([("a", GaussianNB())]).fit(X, Y).set_params(weights="equal").predict(X)
    ),
    r"got the class GaussianNB: call it, GaussianNB\(\)": lambda: MultilabelBaggingClassifier(GaussianNB).fit(X, Y),
    r"estimator must be a classifier of .*; got None": lambda: MultilabelBaggingClassifier(None).fit(X, Y),
    r"all estimators are dropped": lambda: MultilabelVotingClassifier([("a", "drop")]).fit(X, Y),
    r"weights must have one entry for each of 1 ": lambda: MultilabelVotingClassifier(
        [("a", GaussianNB())], weights=[1, 2]
    ).fit(X, Y),
    r"X has 20, y has 19": lambda: MultilabelVotingClassifier([("a", EMODTClassifier(2))]).fit(X, Y).tune(X, Y[:19]),
    r"fit must be a ChainFit; got str": lambda: ChainCrew("x", np.zeros(3), np.ones(3), "predict"),
    r"centre must hold finite numbers; got nan": lambda: replace(CHAINS, centre=np.array([0.0, np.nan, 0.0])),
    r"scale must hold finite numbers; got inf": lambda: replace(CHAINS, scale=np.array([1.0, np.inf, 1.0])),
    r"scale must be positive; got 0\.0": lambda: replace(CHAINS, scale=np.array([1.0, 0.0, 1.0])),
    r"scale must be an array of float64 of shape \(3,\)": lambda: replace(CHAINS, scale=np.ones(2)),
    r"method must be .*got 'proba'": lambda: replace(CHAINS, method="proba"),
    r"coef must be .*shape \(any, any, any\)": lambda: LogisticCrew(np.zeros((2, 3)), np.zeros((2, 3))),
    r"coef must hold finite numbers; got inf": lambda: LogisticCrew(np.full((1, 1, 1), np.inf), np.zeros((1, 1))),
    r"intercept must be an array of float64 of shape \(1, 2\)": lambda: LogisticCrew(
        np.zeros((1, 2, 3)), np.zeros((1, 3))
    ),
    r"intercept must hold numbers; got nan": lambda: LogisticCrew(np.zeros((1, 1, 1)), np.full((1, 1), np.nan)),
    r"p, Y and weight must be of the same instances": lambda: Unseen(P.p, np.eye(3), np.ones(2), "Mean()"),
    r"p, Y and weight must be of the same .* labels": lambda: Unseen(P.p, np.eye(2), np.ones(3), "Mean()"),
    r"weight must be .*of shape \(2,\)": lambda: OutOfBag(np.ones(3), P.p, {}, "", "", LABELS),
    r"proba must be .*of shape \(2, 2\)": lambda: OutOfBag(np.ones(2), P.p[:1], {}, "", "", LABELS),
    r"f1 by ctp must be .*of shape \(2,\)": lambda: OutOfBag(
        np.ones(2), P.p, {"f1": {"ctp": np.ones(3)}}, "", "", LABELS
    ),
    r"proba must have the shape \(2, 2\) of Y; got \(2, 3\)": lambda: OutOfBag(
        np.ones(2), SparseMarginals(LISTS, np.ones(1)), {}, "", "", LABELS
    ),
    r"p must be .*of shape \(1,\)": lambda: SparseMarginals(LISTS, np.ones(2)),
    r"requires y to be passed": lambda: EMODTClassifier(2).fit(X, None),
    r"X has 19 instances, y has 20": lambda: EMODTClassifier(2).fit(X[:19], Y),
    r"Only binary classification": lambda: EMODTClassifier(2).fit(X, np.arange(20) % 3),
    r"y holds 2; the ensemble was fitted with \[0, 1\]": lambda: (
        EMODTClassifier(2).fit(X, Y[:, 0]).score(X, Y[:, 0] + 1)
    ),
    r"trees must hold at least one": lambda: TreeCrew([], CREW.table),
    r"trees must hold at least one Multi": lambda: TreeCrew([CREW.trees[0], "tree"], CREW.table),
    r"table must be an array of int8 of shape \(any, 2\); got int8 of shape \(3, 3\)": lambda: TreeCrew(
        CREW.trees, np.eye(3, dtype=np.int8)
    ),
    r"table must hold each labelset once": lambda: TreeCrew(CREW.trees, np.array([[0, 1], [0, 1]], np.int8)),
    r"grown on the same features": lambda: TreeCrew([*CREW.trees, OTHERS[0]], CREW.table),
    r"labelsets": lambda: TreeCrew(CREW.trees, np.array([[0, 1]], np.int8)),
    r"models must hold at least one": lambda: BoostedCrew([]),
    r"models must have been grown on the same": lambda: BoostedCrew(
        [
            *EMOBTClassifier(1, max_rounds=2).fit(X, Y).members_.models,
            *EMOBTClassifier(1, max_rounds=2).fit(X[:, :2], Y).members_.models,
        ]
    ),
    r"sparse must say whether .*got 1": lambda: Form("<i8", None, 1),
    r"type of numbers; got 5": lambda: Form(5, None, False),
    r"type of numbers; got '<U1'": lambda: Form("<U1", None, False),
    r"one or two classes": lambda: Form("<i8", np.arange(3), False),
    r"truth and labeling must have one shape; got \(1, 2\) and \(1, 3\)": lambda: FLoss().value([[0, 1]], [[0, 1, 1]]),
    r"shape \(2, 2\)": lambda: FLoss().risk(P, [[0, 1]]),
    r"got shape \(1, 2\)|got \(1, 2\)": lambda: Abstaining("f1", 1).risk(P, [[0, 1]]),
    r"expected Marginals.*got int": lambda: FLoss().minimise(5),
    r"no instances to find a price on": lambda: cost_for_rate(Marginals(np.zeros((0, 2))), "f1", 0.1),
    r"K ≥ 1; got shape \(2,\)": lambda: Abstaining("f1", 1).risk(P, [0, 1]),
    r"the loss has limits of its own": lambda: minimise_within(
        Within(Hamming(), Constraints(at_least=1)), P, Constraints(at_most=1)
    ),
    r"function of \(tp, fp, fn, tn\); got 3": lambda: CountLoss(3),
    r"losses of shape": lambda: CountLoss(lambda tp, fp, fn, tn: np.zeros(3)).value([[0, 1]], [[0, 1]]),
    r"function of \(truth, labeling\); got 3": lambda: CustomLoss(3),
    r"candidates must be 'auto'.*got 'most'": lambda: CustomLoss(Hamming().value, candidates="most"),
    r"must return 1 losses, one a row; got shape \(\)": lambda: CustomLoss(lambda y, h: 0.0).value([[0, 1]], [[0, 1]]),
    r"must return finite losses": lambda: CustomLoss(lambda y, h: np.full(1, np.nan)).value([[0, 1]], [[0, 1]]),
    r"candidates have 3 labels, the belief has 2": lambda: CustomLoss(Hamming().value, candidates=[[0, 1, 1]]).minimise(
        P
    ),
    r"at most 16 labels; got 17": lambda: CustomLoss(Hamming().value, candidates="all").minimise(
        Marginals(np.full((1, 17), 0.5))
    ),
    r"ties must be .*got 'both'": lambda: Hamming(ties="both"),
    r"false_positive has 3 costs for 2 labels": lambda: Hamming((1, 2, 3)).minimise(P),
    r"parameters go with a name.*\['beta'\]": lambda: get_loss(FLoss(), beta=2),
    r"each of 2 members, .* each of 1 instances; got shape \(3,\)": lambda: votes([[[1, 0]], [[0, 1]]], [1, 2, 3]),
    r"finite sum": lambda: LabelSets([[1], [0]], [[1.7e308, 1.7e308]], 1.0),
    r"reading 'seen' needs beliefs": lambda: Seen()(P),
    r"index must be a one-dimensional array of integers; got float64": lambda: Shared(P, [0.5]),
    r"must be a name or a call": lambda: read_call("f1(beta=2"),
    r"is no call as Python writes them": lambda: read_call("f1(beta=)"),
    r"must be one call": lambda: read_call("f1(beta=2)(zero_division=0)"),
    r"2\) \+ \(3\)' must be one call": lambda: read_call("f1(beta=2) + (3)"),
    r"must name its parameters": lambda: read_call("f1(2)"),
    r"must name its parameters.*": lambda: read_call("f1(**two)"),
    r"plain values and calls; got x \+ y": lambda: read_call("f1(beta=x + y)"),
    r"loss must stand alone; got kind='f1' and \{\} beside it": lambda: LossSetting("f1", loss=FLoss()),
    r"a loss must have a kind": lambda: LossSetting(),
    r"mine must have a feature that is used; got none of 3": lambda: DATA.with_columns(ignore=["a", "b", "c"]),
    r"categories.*'d'": lambda: DATA.with_columns(categories=["d"]),
    r"text.*'d'": lambda: DATA.with_columns(text=["d"]),
    r"x\.arff must be a table; it is an ARFF file": lambda: load_table("x.arff", ["a"]),
    r"counts must hold a positive number for each of 1": lambda: Observed(np.array([[1, 0]]), np.array([0.0])),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_meant_is_refused_in_a_sentence(message):
    with pytest.raises(ComitiaError, match=message):
        REFUSED[message]()


VALUES = {
    "FLoss": FLoss(),
    "JaccardLoss": JaccardLoss(),
    "Hamming": Hamming(),
    "CustomLoss": CustomLoss(lambda y, h: (y != h).any(axis=1)),
    "Precision": Precision(),
    "Recall": Recall(),
    "Matthews": Matthews(),
    "FowlkesMallows": FowlkesMallows(),
    "TopK": TopK(1),
    "PropensityScored": PropensityScored(1, (0.5, 0.5)),
    "Abstaining": Abstaining("f1", 0.1),
    "Constraints": Constraints(),
    "MacroF": MacroF(),
    "MicroF": MicroF(),
    "MacroJaccard": MacroJaccard(),
    "BalancedAccuracy": BalancedAccuracy(),
    "RecallAtLeast": RecallAtLeast(0.9),
    "TwoCuts": TwoCuts(0.1),
    "LogOdds": LogOdds(),
    "TrimmedMean": TrimmedMean(),
    "Seen": Seen(),
}
OTHER_KINDS = ["a word", object(), float("nan"), {"a": 1}, -2, b"a"]


@pytest.mark.parametrize("name", VALUES)
def test_fields_of_another_kind_are_refused_by_their_name(name):
    fields = [field.name for field in dataclasses.fields(VALUES[name]) if field.init and field.type != "bool"]
    for field in fields:
        for other in OTHER_KINDS:
            with pytest.raises(ComitiaError, match=rf"{field.split('_')[0]}|exclusive|implies|loss"):
                dataclasses.replace(VALUES[name], **{field: other})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"members": [[[0.2, 0.6]]]}, r"members must be beliefs, such as Marginals\(p\); got list"),
        ({"members": P}, "members must be a list of beliefs, or an iterator; got Marginals"),
        ({"members": None}, "members must be a list of beliefs"),
        ({"weights": "equal"}, "weights must hold numbers; got 'equal'"),
        ({"weights": 2.0}, "weights must have one entry for each"),
        ({"weights": []}, "weights must have one entry for each"),
        ({"constraints": {"at_most": 1}}, r"constraints must be Constraints\(...\) or None; got {'at_most': 1}"),
        ({"calibration": "sigmoid"}, "calibration must be a Calibration, see fit_calibration, or None; got 'sigmoid'"),
    ],
)
@pytest.mark.parametrize("aggregation", ["ctp", "ptc-lw"])
def test_decisions_say_what_they_need(given, message, aggregation):
    with pytest.raises(ComitiaError, match=message):
        decide(**{"members": [P, P], "loss": "f1", "aggregation": aggregation, **given})


@pytest.mark.parametrize("groups", [3, "ab", (0, 1), [None], ((0, 1), 2)])
def test_groups_of_labels_are_groups(groups):
    for name in ("exclusive", "implies"):
        with pytest.raises(ComitiaError, match=rf"{name} must hold groups of labels, such as"):
            Constraints(**{name: groups})


def test_a_sparse_array_of_features_keeps_the_columns_that_are_used():
    sparse = Dataset(csr_array(X), Y.astype(np.int8), ("a", "b", "c"), ("y", "z"), "mine")
    some = sparse.with_columns(features=["c", "a", "b"], ignore=["b"])
    np.testing.assert_array_equal(some.X.toarray(), X[:, [0, 2]])
    assert some.feature_names == ("a", "c")
    for data in (sparse, DATA):
        frame = data.with_columns(ignore=["b"], categories=["c"]).X
        assert (list(frame.columns), frame.attrs) == (["a", "c"], {"source": "mine", "columns": {"categories": ["c"]}})
        np.testing.assert_array_equal(frame.to_numpy(), X[:, [0, 2]])
