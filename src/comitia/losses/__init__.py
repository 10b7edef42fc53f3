"""Losses: the value of a labeling, its expectation under a belief, and the labeling that minimises it.

Every loss answers three questions: ``value(truth, labeling)``, ``risk(relevance, labeling)`` and
``minimise(relevance)``.  A new loss is one small file and a line in :data:`LOSSES`.

Beside the losses that have a name, there are losses of counts (:class:`CountLoss`, :class:`Precision`, ...), of the k
best labels (:class:`TopK`), any loss within limits (:class:`Within`), and answers that leave labels open
(:class:`Abstaining`).
"""

from comitia.losses._abstention import Abstaining, rank_partially
from comitia.losses._base import Loss
from comitia.losses._constraints import Constraints, Within, minimise_within
from comitia.losses._counts import (
    CountLoss,
    FowlkesMallows,
    Informedness,
    LossOfCounts,
    Matthews,
    Precision,
    Recall,
)
from comitia.losses._coverage import RiskCoverage, cost_for_rate, risk_coverage
from comitia.losses._custom import CustomLoss
from comitia.losses._fmeasure import FLoss
from comitia.losses._hamming import Hamming
from comitia.losses._jaccard import JaccardLoss
from comitia.losses._registry import LOSSES, get_loss
from comitia.losses._subset import SubsetZeroOne
from comitia.losses._topk import PropensityScored, TopK, propensities, rank_by

__all__ = [
    "LOSSES",
    "Abstaining",
    "Constraints",
    "CountLoss",
    "CustomLoss",
    "FLoss",
    "FowlkesMallows",
    "Hamming",
    "Informedness",
    "JaccardLoss",
    "Loss",
    "LossOfCounts",
    "Matthews",
    "Precision",
    "PropensityScored",
    "Recall",
    "RiskCoverage",
    "SubsetZeroOne",
    "TopK",
    "Within",
    "cost_for_rate",
    "get_loss",
    "minimise_within",
    "propensities",
    "rank_by",
    "rank_partially",
    "risk_coverage",
]
