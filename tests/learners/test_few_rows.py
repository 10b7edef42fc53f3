import threading

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification

from comitia import ENSEMBLES
from comitia.learners._few_rows import FEW

X, Y = make_multilabel_classification(n_samples=200, n_features=9, n_classes=5, random_state=3)


@pytest.mark.parametrize("name", ["ebr", "ecc", "emodt", "emobt"])
@pytest.mark.parametrize("n", [1, 3, FEW])
def test_a_few_rows_are_believed_to_the_bit_as_among_many(name, n):
    clf = ENSEMBLES[name](n_estimators=3, random_state=0).fit(X, Y)
    among_many = [member.marginals()[5 : 5 + n] for member in clf.predict_members(X)]
    alone = [member.marginals() for member in clf.predict_members(X[5 : 5 + n])]
    assert np.array_equal(among_many, alone)
    assert np.array_equal(clf.predict_proba(X)[5 : 5 + n], clf.predict_proba(X[5 : 5 + n]))


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_chains_of_either_kind_walk_a_few_rows_as_many(method):
    clf = ENSEMBLES["ecc"](n_estimators=4, chain_method=method, random_state=0).fit(X, Y)
    assert np.array_equal(clf.predict_proba(X)[:2], clf.predict_proba(X[:2]))


@pytest.mark.parametrize("name", ["ebr", "ecc", "emodt", "emobt"])
def test_predicting_one_row_starts_no_thread(name, monkeypatch):
    clf = ENSEMBLES[name](n_estimators=3, random_state=0, n_jobs=2).fit(X, Y)
    clf.predict(X[:1])
    started = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started.append(thread.name), start(thread)))
    clf.predict(X[:1])
    assert not started
