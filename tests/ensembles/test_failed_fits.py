"""A fit that fails leaves nothing half fitted."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from comitia import (
    CommitteeClassifier,
    EBRClassifier,
    ECCClassifier,
    EMOBTClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
)
from comitia.ensembles import _binary_relevance, _boosting, _chains, _foreign, _trees

X, Y = make_multilabel_classification(n_samples=60, n_features=6, n_classes=4, random_state=1)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
ENSEMBLES = {
    "ebr": (EBRClassifier(n_estimators=4, C=1.0, scaling="none", oob_score=True), _binary_relevance, "fit_logistic"),
    "ecc": (ECCClassifier(n_estimators=4, C=1.0, scaling="none", random_state=0), _chains, "fit_chains"),
    "emodt": (EMODTClassifier(4, random_state=0, oob_score=True), _trees, "grow_trees"),
    "emobt": (EMOBTClassifier(2, max_rounds=3, random_state=0), _boosting, "boost_trees"),
    "bagging": (MultilabelBaggingClassifier(TREE, 4, random_state=0), _foreign, "_fit"),
    "voting": (MultilabelVotingClassifier([("tree", TREE)]), _foreign, "_fit"),
    "committee": (
        CommitteeClassifier([("trees", EMODTClassifier(9)), ("bag", TREE)], random_state=0), _foreign, "_fit",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*have no out-of-bag decision")
@pytest.mark.parametrize("kind", ENSEMBLES)
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_ensemble_whose_fit_fails_is_what_it_was_before(kind, error, monkeypatch):
    ensemble, module, learner = ENSEMBLES[kind]
    fitted, unfitted = clone(ensemble).fit(X, Y), clone(ensemble)
    before, known = fitted.predict_proba(X), set(vars(fitted))

    def fails(*_, **__):
        raise error

    monkeypatch.setattr(module, learner, fails)
    for one in (fitted, unfitted):
        with pytest.raises(error):
            one.fit(X[:, :3], Y[:, :2])
    assert set(vars(fitted)) == known
    assert len(fitted.label_names_) == 4
    np.testing.assert_array_equal(fitted.predict_proba(X), before)
    assert set(vars(unfitted)) == set(vars(clone(ensemble)))
    with pytest.raises(NotFittedError):
        unfitted.predict(X)
