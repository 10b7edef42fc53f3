"""Measures of a whole test set: macro- and micro-averaged, where a loss is of one instance.

A measure says what a set of answers is worth (:meth:`Measure.value`), which loss to minimise for it instance by
instance (:meth:`Measure.resolve`: one cut a label, found on beliefs about instances that were not learnt from), and
which answers are best for a given batch (:meth:`Measure.maximise`, :func:`decide_together`).
"""

from comitia.measures._averages import BalancedAccuracy, MacroF, MacroJaccard, MicroF
from comitia.measures._base import Measure, confusion
from comitia.measures._custom import CountMeasure
from comitia.measures._guarantees import RecallAtLeast, TwoCuts, recall_threshold
from comitia.measures._registry import MEASURES, get_measure, get_target
from comitia.measures._together import decide_together

__all__ = [
    "MEASURES",
    "BalancedAccuracy",
    "CountMeasure",
    "MacroF",
    "MacroJaccard",
    "Measure",
    "MicroF",
    "RecallAtLeast",
    "TwoCuts",
    "confusion",
    "decide_together",
    "get_measure",
    "get_target",
    "recall_threshold",
]
