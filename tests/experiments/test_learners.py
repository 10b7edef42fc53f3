"""A plan can name the base learner of EBR and ECC."""

import pytest
from sklearn.linear_model import LogisticRegression

from comitia.experiments.plan import PlanError
from comitia.experiments.plan_file import paper_plans, parse_plan, read_plan, write_plan

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
