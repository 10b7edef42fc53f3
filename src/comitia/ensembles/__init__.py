"""Ensembles of multilabel classifiers that decide for a loss, as scikit-learn classifiers."""

from comitia.ensembles._bagging import MultilabelBaggingClassifier
from comitia.ensembles._base import MultilabelEnsemble
from comitia.ensembles._binary_relevance import EBRClassifier
from comitia.ensembles._boosting import EMOBTClassifier
from comitia.ensembles._chains import ECCClassifier
from comitia.ensembles._trees import EMODTClassifier
from comitia.ensembles._voting import MultilabelVotingClassifier

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
