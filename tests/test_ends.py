"""Where what is allowed ends: the last value within is taken, the first one beyond is refused by its name."""

from dataclasses import replace

import numpy as np
import pytest

from comitia import ComitiaError, EBRClassifier, EMODTClassifier, Observed, decide
from comitia.aggregation import Beliefs, get_aggregation
from comitia.datasets import MultilabelStratifiedKFold, make_joint
from comitia.experiments import DataSource, EnsembleSetting, Plan, run_plan
from comitia.losses import (
    Abstaining,
    Constraints,
    CustomLoss,
    FLoss,
    FowlkesMallows,
    Hamming,
    JaccardLoss,
    Matthews,
    Precision,
    Recall,
    TopK,
    cost_for_rate,
    propensities,
    rank_by,
    rank_partially,
)
from comitia.measures import MacroF, MacroJaccard, MicroF, RecallAtLeast, TwoCuts
from comitia.relevance import LabelSets, LogOdds, Marginals, Seen, Shared, TrimmedMean, mean

JUST = 2.0**-52
P = Marginals([[0.2, 0.6], [0.7, 0.4], [0.1, 0.9]])
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 3)
X = np.arange(24.0).reshape(12, 2) % 7
PLAN = Plan("p", (DataSource("seven-segment"),), (EnsembleSetting("emodt", {"n_estimators": 4}),), folds=3, repeats=2)


def fitted(**parameters):
    return EMODTClassifier(**{"n_estimators": 2, "random_state": 0} | parameters).fit(X, Y)


def staged(*sizes):
    decision = get_aggregation("ctp", Hamming()).decision(Hamming(), mean, Seen())
    return list(Beliefs(lambda _: [with_sets(P)] * 3).stages(decision, sizes))


def with_sets(belief):
    return Marginals(belief.p, Observed.of([[1, 0], [0, 1]]))


ENDS = {
    "power": (Seen, [0, 1], [-JUST, 1 + JUST, np.nan]),
    "at_most": (lambda n: Seen(at_most=n)(with_sets(P)), [1], [0]),
    "epsilon": (LogOdds, [JUST, 0.5 - JUST], [0, 0.5, np.nan]),
    "share": (TrimmedMean, [0, 0.5 - JUST], [-JUST, 0.5, np.nan]),
    "index": (lambda i: Shared(P, np.array([i])), [0, 2], [-1, 3]),
    "total": (lambda total: LabelSets([[1]], [[1.0]], total), [1], [0.0, -1.0, np.inf, np.nan]),
    "beta": (FLoss, [1e-40, 1e40], [0.99e-40, 1.01e40, np.nan]),
    "beta of a macro measure": (MacroF, [1e-40, 1e40], [0.99e-40, 1.01e40]),
    "beta of a micro measure": (MicroF, [1e-40, 1e40], [0.99e-40, 1.01e40]),
    "zero_division": (lambda z: FLoss(zero_division=z), [0, 1], [-JUST, 1 + JUST]),
    "zero_division of Jaccard": (lambda z: JaccardLoss(zero_division=z), [0, 1], [-JUST, 1 + JUST]),
    "zero_division of Fowlkes": (lambda z: FowlkesMallows(zero_division=z), [0, 1], [-JUST, 1 + JUST]),
    "zero_division of Matthews": (lambda z: Matthews(zero_division=z), [-1, 1], [-1 - JUST, 1 + JUST]),
    "zero_division of the best": (lambda z: TopK(1, zero_division=z), [0, 1], [-JUST, 1 + JUST]),
    "zero_division of macro Jaccard": (lambda z: MacroJaccard(zero_division=z), [0, 1], [-JUST, 1 + JUST]),
    "zero_division of macro F": (lambda z: MacroF(zero_division=z), [0, 1], [-JUST, 1 + JUST]),
    "recall_floor": (lambda r: Precision(recall_floor=r), [0, 1], [-JUST, 1 + JUST]),
    "precision_floor": (lambda r: Recall(precision_floor=r), [0, 1], [-JUST, 1 + JUST]),
    "exact_labels": (lambda n: JaccardLoss(exact_labels=n), [0, 24], [-1, 25]),
    "outcomes": (lambda n: CustomLoss(Hamming().value, outcomes=n), [1], [0]),
    "cost": (lambda c: Abstaining("f1", c), [0, 1e290], [-JUST, 1.1e290, np.nan]),
    "cost of orders": (lambda c: rank_partially(P, c), [0, 1e290], [-JUST, 1.1e290]),
    "rate": (lambda r: cost_for_rate(P, "f1", r), [0, 1], [-JUST, 1 + JUST]),
    "false_positive": (Hamming, [0, 1e290], [-JUST, 1.1e290, np.nan]),
    "false_negative": (lambda c: Hamming(false_negative=(1, c)), [0, 1e290], [-JUST, 1.1e290, np.nan]),
    "k": (TopK, [1, 2], [0, 1.5, 2.0, True]),
    "k of ranks": (lambda k: rank_by(P, "ndcg", k=k), [1], [0, 1.5, True]),
    "propensities": (lambda n: propensities(Y[:n]), [3], [2]),
    "at_least": (lambda n: decide([P], constraints=Constraints(at_least=n)), [0, 2], [-1, 0.5, True]),
    "at least": (lambda n: decide([P], constraints=Constraints(at_least=n)), [2], [3]),
    "at_most of limits": (lambda n: decide([P], constraints=Constraints(at_most=n)), [0, 5], [-1, 0.5, True]),
    "limits": (lambda n: Constraints(at_least=2, at_most=n), [2], [1]),
    "exclusive": (lambda n: Constraints(exclusive=(range(n),)), [2], [0, 1]),
    "labels": (lambda k: decide([P], constraints=Constraints(exclusive=((0, k),))), [1], [-1, 2]),
    "implies": (lambda n: Constraints(implies=(range(n),)), [2], [1, 3]),
    "guarantee": (RecallAtLeast, [JUST, 1 - JUST], [0, 1, np.nan]),
    "lower": (TwoCuts, [0, 1], [-JUST, 1 + JUST]),
    "upper": (lambda u: TwoCuts(0.1, u), [0, 1], [-JUST, 1 + JUST]),
    "sizes": (staged, [1, 3], [0, 4]),
    "n_estimators": (lambda n: fitted(n_estimators=n), [1], [0, -1, 1.0]),
    "max_samples": (lambda n: fitted(max_samples=n), [1, 12, 13, JUST, 1.0], [0, -1, 0.0, 1 + JUST, True]),
    "max_samples, each once": (lambda n: fitted(max_samples=n, bootstrap=False), [1, 12, 1.0], [0, 13, 1 + JUST]),
    "n": (lambda n: make_joint(n, 2, 2, 0.5), [1], [0]),
    "n_features": (lambda n: make_joint(5, n, 2, 0.5), [1], [0]),
    "n_labels": (lambda n: make_joint(5, 2, n, 0.5), [1, 16], [0, 17]),
    "dependence": (lambda d: make_joint(5, 2, 2, d), [0, 1], [-JUST, 1 + JUST]),
    "signal": (lambda s: make_joint(5, 2, 2, 0.5, signal=s), [0], [-JUST, np.inf]),
    "prevalence": (lambda p: make_joint(5, 2, 2, 0.5, prevalence=p), [JUST, 1 - JUST], [0, 1]),
    "n_splits": (MultilabelStratifiedKFold, [2], [1, 2.5]),
    "n_splits of y": (lambda n: list(MultilabelStratifiedKFold(n).split(X, Y)), [12], [13]),
    "folds": (lambda n: replace(PLAN, folds=n), [2], [1]),
    "repeats": (lambda n: replace(PLAN, repeats=n), [1], [0]),
    "sizes of plans": (lambda n: replace(PLAN, sizes=(n, 4)), [1, 3], [0, 4, 5]),
    "sizes of plans and members": (lambda n: replace(PLAN, sizes=(n,)), [1, 4], [0, 5]),
    "folds of plans": (lambda n: PLAN.select(folds=n), [1, 3], [0, 4]),
    "repeats of plans": (lambda n: PLAN.select(repeats=n), [1, 2], [0, 3]),
    "C": (lambda c: EBRClassifier(C=c, n_estimators=2).fit(X, Y), [1e-20, 1e12], [0.0, -1.0, np.nan]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, (_, taken, _) in ENDS.items() for value in taken])
def test_the_last_values_that_are_allowed_are_taken(name, value):
    ENDS[name][0](value)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, (*_, beyond) in ENDS.items() for value in beyond])
def test_the_first_values_beyond_are_refused_by_their_name(name, value):
    with pytest.raises(ComitiaError, match=name.split(" of ")[0].split(",")[0]):
        ENDS[name][0](value)


@pytest.mark.parametrize("n_jobs", [0, 0.5, "all"])
def test_a_number_of_cores_is_none_of_these(n_jobs):
    with pytest.raises(ComitiaError, match=f"number of cores, -1 or None for all, .*; got {n_jobs!r}"):
        run_plan(PLAN, n_jobs=n_jobs)
