"""Ensembles of multilabel classifiers that decide for a loss, as scikit-learn classifiers."""

from comitia.ensembles.bagging import MultilabelBaggingClassifier
from comitia.ensembles.base import MultilabelEnsemble
from comitia.ensembles.binary_relevance import EBRClassifier
from comitia.ensembles.boosting import EMOBTClassifier
from comitia.ensembles.chains import ECCClassifier
from comitia.ensembles.trees import EMODTClassifier
from comitia.ensembles.voting import MultilabelVotingClassifier

ENSEMBLES: dict[str, type[MultilabelEnsemble]] = {
    "ebr": EBRClassifier,
    "ecc": ECCClassifier,
    "emodt": EMODTClassifier,
    "emobt": EMOBTClassifier,
}
"""The ensembles by name: the paper's three, and boosted trees."""

__all__ = [
    "ENSEMBLES",
    "EBRClassifier",
    "ECCClassifier",
    "EMOBTClassifier",
    "EMODTClassifier",
    "MultilabelBaggingClassifier",
    "MultilabelEnsemble",
    "MultilabelVotingClassifier",
]
