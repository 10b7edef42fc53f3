"""The estimators keep scikit-learn's contract: every check, none skipped; one cannot hold where the loss is another."""

from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from comitia import (
    CommitteeClassifier,
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
    EMODTClassifier(splitter="random"),
    EBRClassifier(loss="f1"),
    ECCClassifier(loss="jaccard"),
    EMODTClassifier(loss="subset01"),
    EMODTClassifier(loss="f1", aggregation="ptc-mbr"),
    CommitteeClassifier([("trees", EMODTClassifier(10)), ("lines", EBRClassifier(n_estimators=10))], aggregation="gmv"),
    MultilabelBaggingClassifier(MultiOutputClassifier(LOGISTIC)),
    MultilabelVotingClassifier([("relevance", MultiOutputClassifier(LOGISTIC)), ("chain", ClassifierChain(LOGISTIC))]),
]


def expected_to_fail(estimator) -> dict[str, str]:
    """It wants predictions to be the probabilities cut at one half, which minimises the Hamming loss and no other."""
    if isinstance(estimator, CommitteeClassifier):
        # Their data are copies of four instances, each of which is in nearly every sample.
        reason = "A committee needs instances that some of its members have not seen."
        return dict.fromkeys(["check_sample_weights_not_overwritten", "check_sample_weights_shape"], reason)
    return {} if estimator.loss == "hamming" else {"check_classifier_multioutput": expected_to_fail.__doc__}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_scikit_learns_check_passes(estimator, check):
    check(estimator)
