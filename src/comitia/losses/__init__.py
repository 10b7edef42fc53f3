"""Losses: the value of a labeling, its expectation under a belief, and the labeling that minimises it.

Every loss answers three questions: ``value(truth, labeling)``, ``risk(relevance, labeling)`` and
``minimise(relevance)``.  A new loss is one small file and a line in :data:`LOSSES`.
"""

from comitia.losses.base import Loss
from comitia.losses.custom import CustomLoss
from comitia.losses.fmeasure import FMeasure
from comitia.losses.hamming import Hamming
from comitia.losses.jaccard import Jaccard
from comitia.losses.registry import LOSSES, get_loss
from comitia.losses.subset import SubsetZeroOne

__all__ = ["LOSSES", "CustomLoss", "FMeasure", "Hamming", "Jaccard", "Loss", "SubsetZeroOne", "get_loss"]
