"""A plan can name the base learner of EBR and ECC, and have its parameters chosen."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score

from comitia import EBRClassifier, EMODTClassifier
from comitia.experiments.choose import choose
from comitia.experiments.plan import EnsembleSetting, PlanError
from comitia.experiments.plan_file import paper_plans, parse_plan, read_plan, write_plan
from comitia.experiments.run import run_plan
from comitia.experiments.store import Store
from tests.experiments.conftest import small_plan

PLAN = """
name = "learners"
datasets = ["seven-segment"]
[[ensembles]]
kind = "ebr"
estimator = { C = 0.5, fit_intercept = false }
"""


def test_a_table_stands_for_a_logistic_regression_and_survives_writing():
    plan = parse_plan(PLAN)
    for read in (plan, parse_plan(write_plan(plan))):
        estimator = read.ensembles[0].build().estimator
        assert isinstance(estimator, LogisticRegression)
        assert (estimator.C, estimator.fit_intercept) == (0.5, False)


def test_an_unknown_parameter_of_the_learner_is_refused():
    with pytest.raises(PlanError, match="'c'"):
        parse_plan(PLAN.replace("C = 0.5", "c = 0.5"))


def test_the_papers_plans_ship_and_name_fifty_and_a_hundred_members():
    plans = {name: read_plan(name) for name in paper_plans()}
    members = {name: {setting.n_members for setting in plan.ensembles} for name, plan in plans.items()}
    assert members == {"table2": {50}, "figure2": {100}}


CHOICE = PLAN + "choose = { estimator__C = [0.001, 1.0] }\n"


def test_what_to_choose_survives_writing_and_is_part_of_the_plan():
    plan = parse_plan(CHOICE)
    assert parse_plan(write_plan(plan)) == plan
    assert plan.digest() != parse_plan(PLAN).digest()
    assert plan.digest() != parse_plan(CHOICE.replace("0.001", "0.01")).digest()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("choose = { estimator__c = [1.0] }", "'estimator__c'.*estimator__C"),
        ("choose = { random_state = [1, 2] }", "'random_state' cannot be chosen"),
        ("choose = { n_estimators = [10, 50] }", "'n_estimators' cannot be chosen"),
        ("choose = { loss = ['f1'] }", "'loss' cannot be chosen"),
        ("choose = { estimator__C = [] }", r"estimator__C is \[\]: expected a list of candidates"),
        ("choose = { estimator__C = 1.0 }", "estimator__C is 1.0: expected a list of candidates"),
        ('choose = { estimator__C = "1.0" }', "estimator__C is '1.0': expected a list of candidates"),
        ("choose = [1.0]", r"choose is \[1.0\]: expected a table"),
    ],
)
def test_a_mistake_in_what_to_choose_is_named(given, message):
    with pytest.raises(PlanError, match=message):
        parse_plan(PLAN + given)


def by_hand(X, Y, weight, candidates):
    """Mean accuracies of the candidates and their standard errors over five folds."""
    one = EBRClassifier(LogisticRegression(), loss="subset01", n_estimators=1, bootstrap=False)
    how = {"cv": KFold(5, shuffle=True, random_state=3), "params": {"sample_weight": weight}}
    found = np.array([cross_val_score(one.set_params(estimator__C=C), X, Y, **how) for C in candidates])
    return found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(5)


@pytest.mark.parametrize("weight", [None, np.arange(150) % 3])
def test_the_choice_is_the_first_within_a_standard_error_of_the_best(weight):
    X, Y = make_multilabel_classification(150, 6, n_classes=4, random_state=0)
    candidates = [1e-4, 1e-2, 0.3, 1.0, 3.0]
    ensemble = EBRClassifier(LogisticRegression(), n_estimators=7, loss="f1", random_state=3)
    chosen = choose(ensemble, {"estimator__C": candidates}, X, Y, sample_weight=weight)["estimator__C"]
    assert (ensemble.n_estimators, ensemble.loss, ensemble.estimator.C) == (7, "f1", 1.0)
    means, errors = by_hand(X, Y, weight, candidates)
    near = means >= means.max() - errors[means.argmax()]
    assert not near[0]
    assert near.sum() > 1
    assert chosen == candidates[int(near.argmax())]


def test_nothing_to_choose_fits_nothing():
    assert choose(EMODTClassifier(), {}, None, None) == {}


def test_a_run_uses_what_it_chose_and_says_so(tmp_path, joint_csv):
    setting = EnsembleSetting("ebr", {"n_estimators": 5, "estimator": {"C": 1.0}}, choose={"estimator__C": [1e-6, 1.0]})
    fixed = EnsembleSetting("ebr", {"n_estimators": 5, "estimator": {"C": 1.0}})
    rows = {}
    for name, ensemble in (("chosen", setting), ("fixed", fixed)):
        plan = small_plan(joint_csv, ensembles=(ensemble,))
        run_plan(plan, tmp_path / name, n_jobs=1)
        store = Store.read(tmp_path / name)
        rows[name] = store.rows()
        chosen = [store.cell_provenance(cell)["chosen"] for cell in plan.cells()]
        assert chosen == [{"estimator__C": 1.0} if name == "chosen" else {}] * len(chosen)
    assert rows["chosen"] == rows["fixed"]


def test_an_ensemble_that_leaves_nobody_out_has_no_choice_out_of_bag(tmp_path, joint_csv):
    settings = EnsembleSetting("ecc", {"n_estimators": 5, "bootstrap": False}), EnsembleSetting("ebr")
    plan = small_plan(joint_csv, ensembles=settings, losses=("f1",), aggregations=("ctp", "oob"), folds=2)
    run_plan(plan, tmp_path, n_jobs=1)
    found = {(row["ensemble"], row["aggregation"]) for row in Store.read(tmp_path).rows()}
    assert found == {("ecc", "ctp"), ("ebr", "ctp"), ("ebr", "oob")}
    with pytest.raises(PlanError, match="'ecc' has no out-of-bag losses to choose by: set bootstrap = true"):
        small_plan(joint_csv, ensembles=settings, aggregations=("oob",))
