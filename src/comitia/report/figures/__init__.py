"""Figures of result rows, made with matplotlib; each function returns a figure and changes no global state."""

from comitia.report.figures._ranks import critical_difference, rank_heat_map
from comitia.report.figures._regret import regret
from comitia.report.figures._reliability import Reliability, reliability, reliability_diagram
from comitia.report.figures._segments import seven_segments
from comitia.report.figures._sizes import ensemble_sizes

__all__ = [
    "Reliability",
    "critical_difference",
    "ensemble_sizes",
    "rank_heat_map",
    "regret",
    "reliability",
    "reliability_diagram",
    "seven_segments",
]
