"""Losses: the value of a labeling, its expectation under a belief, and the labeling that minimises it.

Every loss answers three questions: ``value(truth, labeling)``, ``risk(relevance, labeling)`` and
``minimise(relevance)``.  A new loss is one small file and a line in :data:`LOSSES`.
"""

from comitia.losses._base import Loss
from comitia.losses._custom import CustomLoss
from comitia.losses._fmeasure import FLoss
from comitia.losses._hamming import Hamming
from comitia.losses._jaccard import JaccardLoss
from comitia.losses._registry import LOSSES, get_loss
from comitia.losses._subset import SubsetZeroOne

__all__ = ["LOSSES", "CustomLoss", "FLoss", "Hamming", "Jaccard", "Loss", "SubsetZeroOne", "get_loss"]
