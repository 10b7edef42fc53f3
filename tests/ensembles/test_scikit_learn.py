"""The estimators keep scikit-learn's contract: every check, none skipped, none expected to fail."""

from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from comitia import (
    EBRClassifier,
    ECCClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
)

# Solved to the last digits: some checks compare probabilities of two fits to seven.
LOGISTIC = LogisticRegression(solver="newton-cholesky", tol=1e-10)
ESTIMATORS = [
    EBRClassifier(),
    ECCClassifier(),
    EMODTClassifier(),
    MultilabelBaggingClassifier(MultiOutputClassifier(LOGISTIC)),
    MultilabelVotingClassifier([("relevance", MultiOutputClassifier(LOGISTIC)), ("chain", ClassifierChain(LOGISTIC))]),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_check_passes(estimator, check):
    check(estimator)
