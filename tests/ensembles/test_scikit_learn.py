"""The estimators keep scikit-learn's contract: every check, none skipped; one cannot hold where the loss is another."""

import sklearn
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
LOGISTIC = LogisticRegression(solver="newton-cg", tol=1e-10)
ESTIMATORS = [
    EBRClassifier(),
    ECCClassifier(),
    EMODTClassifier(),
    # Leaves of one instance or two can all agree, where a check wants no probability to be zero; and votes about a few
    # instances of a check are not for the class that is likelier on average.
    EMODTClassifier(splitter="random", min_samples_split=8),
    EBRClassifier(loss="f1"),
    ECCClassifier(loss="jaccard"),
    EMODTClassifier(loss="subset01", min_samples_split=8),
    EMODTClassifier(loss="f1", aggregation="ptc-mbr", min_samples_split=8),
    CommitteeClassifier([("trees", EMODTClassifier(10)), ("lines", EBRClassifier(n_estimators=10))], aggregation="gmv"),
    MultilabelBaggingClassifier(MultiOutputClassifier(LOGISTIC)),
    MultilabelVotingClassifier([("relevance", MultiOutputClassifier(LOGISTIC)), ("chain", ClassifierChain(LOGISTIC))]),
]


# Before 1.7 two classes are made of three by the first instance, and one of the two fits that are compared is shuffled.
COMPARES_OTHER_CLASSES = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7)


def expected_to_fail(estimator) -> dict[str, str]:
    """Return the checks that cannot hold, with the reason."""
    found = {}
    if isinstance(estimator, CommitteeClassifier):
        # Their data are copies of four instances, each of which is in nearly every sample.
        reason = "A committee needs instances that some of its members have not seen."
        found |= dict.fromkeys(["check_sample_weights_not_overwritten", "check_sample_weights_shape"], reason)
    elif estimator.loss != "hamming":
        found["check_classifier_multioutput"] = (
            "It wants probabilities cut at one half, best for the Hamming loss alone."
        )
    if COMPARES_OTHER_CLASSES:
        checks = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
        found |= dict.fromkeys(checks, "Before 1.7 it compares fits on different classes.")
    return found


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_scikit_learns_check_passes(estimator, check):
    check(estimator)
