"""Figures of result rows, made with matplotlib; each function returns a figure and changes no global state."""

from comitia.report.figures.files import save
from comitia.report.figures.ranks import critical_difference, rank_heat_map
from comitia.report.figures.regret import regret
from comitia.report.figures.segments import seven_segments
from comitia.report.figures.sizes import ensemble_sizes

__all__ = [
    "critical_difference",
    "ensemble_sizes",
    "rank_heat_map",
    "regret",
    "save",
    "seven_segments",
]
