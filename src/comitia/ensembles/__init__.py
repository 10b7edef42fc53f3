"""Ensembles of multilabel classifiers that decide for a loss, as scikit-learn classifiers."""

from comitia import _titles
from comitia.ensembles._bagging import MultilabelBaggingClassifier
from comitia.ensembles._base import MultilabelEnsemble
from comitia.ensembles._binary_relevance import EBRClassifier
from comitia.ensembles._boosting import EMOBTClassifier
from comitia.ensembles._chains import ECCClassifier
from comitia.ensembles._committee import CommitteeClassifier
from comitia.ensembles._trees import EMODTClassifier
from comitia.ensembles._voting import MultilabelVotingClassifier

ENSEMBLES: dict[str, type[MultilabelEnsemble]] = {
    "ebr": EBRClassifier,
    "ecc": ECCClassifier,
    "emodt": EMODTClassifier,
    "emobt": EMOBTClassifier,
    "committee": CommitteeClassifier,
}
"""The ensembles by name: the paper's three, boosted trees, and all of them in a committee."""

_titles.ENSEMBLES.update({name: ensemble.title for name, ensemble in ENSEMBLES.items()})
_titles.EXPLAINED.update({name: ensemble.about for name, ensemble in ENSEMBLES.items()})

__all__ = [
    "ENSEMBLES",
    "CommitteeClassifier",
    "EBRClassifier",
    "ECCClassifier",
    "EMOBTClassifier",
    "EMODTClassifier",
    "MultilabelBaggingClassifier",
    "MultilabelEnsemble",
    "MultilabelVotingClassifier",
]
