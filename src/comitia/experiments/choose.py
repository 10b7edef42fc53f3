"""Parameters chosen on the training part of a fold, before the ensemble is fitted to all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from comitia.relevance.base import FloatArray

FOLDS = 5
"""Parts of the training instances; each candidate is tried on every part."""


def choose(
    ensemble: Any,
    candidates: Mapping[str, Sequence[Any]],
    X: Any,
    Y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> dict[str, Any]:
    """Choose parameters by cross-validating a single member for its subset 0/1 loss.

    That is what scikit-learn's ``GridSearchCV`` does with a multilabel classifier of its own, which scores by the share
    of labelings that are right.  Hamming loss hardly tells learners of rare labels apart: predicting none is nearly as
    good.  A single member is tried, fitted to all instances of the training parts: the choice is about the learner,
    and costs a fraction of the ensemble.

    Candidates are given from the simplest on, and chosen is the first whose mean loss is within one standard error of
    the smallest (the rule of Breiman et al., Classification and Regression Trees, 1984, for pruning): on small data the
    smallest is luck.

    Parameters
    ----------
    ensemble : classifier
        One of `comitia.ENSEMBLES`; it is left as it is.
    candidates : mapping of str to sequence
        Names of parameters, in scikit-learn's notation (``"estimator__C"``), and their values, the simplest first.
    X, Y, sample_weight
        The training instances; weights count in the fits.

    Returns
    -------
    dict
        A value for every name; empty where there is nothing to choose.

    Examples
    --------
    >>> from comitia import EMODTClassifier
    >>> from comitia.datasets import make_joint
    >>> data = make_joint(300, 4, 3, dependence=0.8, random_state=0).dataset
    >>> choose(EMODTClassifier(random_state=0), {"min_samples_leaf": [100, 5]}, data.X, data.Y)
    {'min_samples_leaf': 5}
    """
    if not candidates:
        return {}
    member = clone(ensemble).set_params(
        n_estimators=1, bootstrap=False, oob_score=False, loss="subset01", aggregation=None
    )
    folds = KFold(FOLDS, shuffle=True, random_state=ensemble.random_state)
    search = GridSearchCV(member, {name: list(values) for name, values in candidates.items()}, cv=folds, refit=False)
    fit_parameters = {} if sample_weight is None else {"sample_weight": sample_weight}
    results = search.fit(X, Y, **fit_parameters).cv_results_
    return dict(results["params"][_first_near_the_best(results["mean_test_score"], results["std_test_score"])])


def _first_near_the_best(scores: FloatArray, spreads: FloatArray) -> int:
    """The first candidate that is within one standard error of the best."""
    best = int(np.argmax(scores))
    return int(np.argmax(scores >= scores[best] - spreads[best] / np.sqrt(FOLDS - 1)))
