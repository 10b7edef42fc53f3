"""Experiments: a plan in, rows of results out, resumable and the same however often they are interrupted."""

from comitia._rows import Row
from comitia.experiments._engines import ClusterError
from comitia.experiments._lock import StoreError
from comitia.experiments._losses import LossSetting
from comitia.experiments._memory import Memory
from comitia.experiments._plan import (
    CHOSEN_BY_OOB,
    EXAMPLES,
    LOSS_NAMES,
    Cell,
    DataSource,
    EnsembleSetting,
    Plan,
    PlanError,
    file_name,
)
from comitia.experiments._plan_file import paper_plans, parse_plan, read_plan, write_plan
from comitia.experiments._run import Progress, Summary, run_plan
from comitia.experiments._score import Way, loss_of, losses_of
from comitia.experiments._store import Store

__all__ = [
    "CHOSEN_BY_OOB",
    "EXAMPLES",
    "LOSS_NAMES",
    "Cell",
    "ClusterError",
    "DataSource",
    "EnsembleSetting",
    "LossSetting",
    "Memory",
    "Plan",
    "PlanError",
    "Progress",
    "Row",
    "Store",
    "StoreError",
    "Summary",
    "Way",
    "file_name",
    "loss_of",
    "losses_of",
    "paper_plans",
    "parse_plan",
    "read_plan",
    "run_plan",
    "write_plan",
]
