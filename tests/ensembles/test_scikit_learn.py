"""The estimators keep scikit-learn's contract: every check, none skipped, none expected to fail."""

from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from comitia import (
    EBRClassifier,
    ECCClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
)

ESTIMATORS = [
    EBRClassifier(),
    ECCClassifier(),
    EMODTClassifier(),
    MultilabelBaggingClassifier(DecisionTreeClassifier()),
    MultilabelVotingClassifier(
        [("tree", DecisionTreeClassifier()), ("forest", RandomForestClassifier(n_estimators=5))]
    ),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_check_passes(estimator, check):
    check(estimator)
