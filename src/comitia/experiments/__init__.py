"""Experiments: a plan in, rows of results out, resumable and the same however often they are interrupted."""

from comitia.experiments.plan import Cell, DataSource, EnsembleSetting, Plan, PlanError
from comitia.experiments.plan_file import paper_plans, parse_plan, read_plan, write_plan
from comitia.experiments.run import Progress, Summary, run_plan
from comitia.experiments.score import Way, losses_of
from comitia.experiments.store import Store, StoreError

__all__ = [
    "Cell",
    "DataSource",
    "EnsembleSetting",
    "Plan",
    "PlanError",
    "Progress",
    "Store",
    "StoreError",
    "Summary",
    "Way",
    "losses_of",
    "paper_plans",
    "parse_plan",
    "read_plan",
    "run_plan",
    "write_plan",
]
