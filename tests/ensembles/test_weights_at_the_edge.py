"""Weights so large that sums or products of them are none are answered with a sentence."""

import numpy as np
import pytest

from comitia import (
    ENSEMBLES,
    ComitiaError,
    EMOBTClassifier,
    EMODTClassifier,
    LabelSets,
    Marginals,
    decide,
    votes,
)
from comitia.learners import fit_logistic
from comitia.measures import MacroF
from comitia.relevance import fit_calibration

# A committee has ensembles in the place of a number of members.
OF_MEMBERS = [kind for kind in ENSEMBLES if kind != "committee"]


@pytest.mark.parametrize("kind", OF_MEMBERS)
@pytest.mark.parametrize("weight", [1e20, 1e300, 1e308])
def test_weights_too_large_for_a_bootstrap_are_refused(kind, weight, joint):
    with pytest.raises(ComitiaError, match=r"sample_weight must be at most 1e\+15 divided by the 150"):
        ENSEMBLES[kind](n_estimators=2).fit(joint.X, joint.Y, np.full(len(joint.Y), weight))


@pytest.mark.parametrize("kind", OF_MEMBERS)
def test_weights_whose_products_overflow_are_refused_without_a_bootstrap_too(kind, joint):
    with pytest.raises(ComitiaError, match=r"sample_weight must be at most 1e\+15 divided by the 150"):
        ENSEMBLES[kind](n_estimators=2, bootstrap=False).fit(joint.X, joint.Y, np.full(len(joint.Y), 1e300))


@pytest.mark.parametrize("weight", [1e308, 10**400, "a"])
def test_nothing_is_measured_with_weights_that_cannot_be_added(weight, joint):
    ensemble, weights = EMODTClassifier(2, random_state=0).fit(joint.X, joint.Y), [weight] * len(joint.Y)
    p = ensemble.predict_proba(joint.X)
    for measured in (
        lambda: ensemble.fit(joint.X, joint.Y, weights),
        lambda: ensemble.score(joint.X, joint.Y, weights),
        lambda: MacroF().value(joint.Y, joint.Y, weights),
        lambda: MacroF().resolve(p, joint.Y, weights),
        lambda: fit_calibration(p, joint.Y, weights),
    ):
        with pytest.raises(ComitiaError, match=r"weight must (be at most|hold)"):
            measured()


@pytest.mark.parametrize(
    "make",
    [
        lambda: LabelSets([[1, 0]], [[10**400]]),
        lambda: LabelSets([[1, 0]], [[1.0]], total=10**400),
        lambda: LabelSets.from_rows([([[1, 0]], [10**400])]),
        lambda: votes([[[1, 0]], [[0, 1]]], [10**400, 1]),
        lambda: decide([Marginals([[0.5]])] * 2, "f1", weights=[10**400, 1]),
        lambda: EMOBTClassifier(2, learning_rate=10**400).fit(np.eye(4), np.eye(4)),
        lambda: fit_logistic(np.eye(4), np.eye(4), C=10**400),
    ],
)
def test_integers_larger_than_any_float_are_refused(make):
    with pytest.raises(ComitiaError, match=r"up to 1\.8e\+308|must be a (positive )?number"):
        make()


@pytest.mark.parametrize("kind", OF_MEMBERS)
@pytest.mark.parametrize("weight", [1e-300, 1e-20, 1e12])
def test_other_weights_give_finite_probabilities(kind, weight, joint):
    ensemble = ENSEMBLES[kind](n_estimators=2, random_state=0)
    ensemble.fit(joint.X, joint.Y, np.full(len(joint.Y), weight))
    assert np.isfinite(ensemble.predict_proba(joint.X)).all()
