"""Predicting a single row, as a service does, once the first call is made."""

from __future__ import annotations

from sklearn.datasets import make_multilabel_classification

from benchmarks.case import Case, median_time
from comitia import ENSEMBLES

_AT_MOST = {8: 1.0, 101: 3.0}


def run(quick: bool = False) -> list[Case]:
    found = []
    for K, at_most in _AT_MOST.items():
        X, Y = make_multilabel_classification(n_samples=300, n_features=20, n_classes=K, random_state=0)
        for name in ("ebr", "ecc", "emodt", "emobt"):
            clf = ENSEMBLES[name](n_estimators=50, loss="f1", random_state=0).fit(X, Y)
            clf.predict(X[:1])
            seconds = median_time(lambda clf=clf, X=X: clf.predict(X[:1]), 20 if quick else 200)
            found.append(
                Case(
                    f"{name}: one row, 50 members, K = {K}", "nothing", 1e3 * seconds, at_most, unit="ms", at_most=True
                )
            )
        if quick:
            break
    return found
