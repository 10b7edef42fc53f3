"""Ensembles of multilabel classifiers whose predictions are made for the loss that matters."""

from comitia._errors import ComitiaError
from comitia.aggregation import AGGREGATIONS, decide
from comitia.ensembles import (
    ENSEMBLES,
    EBRClassifier,
    ECCClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
)
from comitia.losses import LOSSES, CustomLoss, FMeasure, Hamming, Jaccard, Loss, SubsetZeroOne, get_loss
from comitia.relevance import POOLS, LabelSets, Marginals, votes

__version__ = "0.1.0.dev0"

__all__ = [
    "AGGREGATIONS",
    "ENSEMBLES",
    "LOSSES",
    "POOLS",
    "ComitiaError",
    "CustomLoss",
    "EBRClassifier",
    "ECCClassifier",
    "EMODTClassifier",
    "FMeasure",
    "Hamming",
    "Jaccard",
    "LabelSets",
    "Loss",
    "Marginals",
    "MultilabelBaggingClassifier",
    "MultilabelVotingClassifier",
    "SubsetZeroOne",
    "decide",
    "get_loss",
    "votes",
]
