"""Experiments: a plan in, rows of results out, resumable and the same however often they are interrupted."""

from comitia._rows import Row
from comitia.experiments._engines import ClusterError
from comitia.experiments._lock import StoreError
from comitia.experiments._losses import LossSetting
from comitia.experiments._plan import Cell, DataSource, EnsembleSetting, Plan, PlanError
from comitia.experiments._plan_file import paper_plans, parse_plan, read_plan, write_plan
from comitia.experiments._run import Progress, Summary, run_plan
from comitia.experiments._store import Store

__all__ = [
    "Cell",
    "ClusterError",
    "DataSource",
    "EnsembleSetting",
    "LossSetting",
    "Plan",
    "PlanError",
    "Progress",
    "Row",
    "Store",
    "StoreError",
    "Summary",
    "paper_plans",
    "parse_plan",
    "read_plan",
    "run_plan",
    "write_plan",
]
