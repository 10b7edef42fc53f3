"""Sample weights so large that they cannot be counts are answered with a sentence."""

import numpy as np
import pytest

from comitia import ENSEMBLES, ComitiaError

# A committee has ensembles in the place of a number of members.
OF_MEMBERS = [kind for kind in ENSEMBLES if kind != "committee"]


@pytest.mark.parametrize("kind", OF_MEMBERS)
@pytest.mark.parametrize("weight", [1e20, 1e300, 1e308])
def test_weights_too_large_for_a_bootstrap_are_refused(kind, weight, joint):
    with pytest.raises(ComitiaError, match=r"sample_weight must be at most 1e\+15 divided by the 150"):
        ENSEMBLES[kind](n_estimators=2).fit(joint.X, joint.Y, np.full(len(joint.Y), weight))


@pytest.mark.parametrize("kind", OF_MEMBERS)
@pytest.mark.parametrize("weight", [1e-300, 1e-20, 1e12])
def test_other_weights_give_finite_probabilities(kind, weight, joint):
    ensemble = ENSEMBLES[kind](n_estimators=2, random_state=0)
    ensemble.fit(joint.X, joint.Y, np.full(len(joint.Y), weight))
    assert np.isfinite(ensemble.predict_proba(joint.X)).all()
