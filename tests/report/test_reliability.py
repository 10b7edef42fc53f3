"""How often labels are relevant, by how probable they were thought to be."""

import numpy as np
import pytest

from comitia._errors import ComitiaError
from comitia.experiments._details import BINS
from comitia.losses import Abstaining
from comitia.relevance import Marginals
from comitia.report._beneath import coverage
from comitia.report.figures import reliability, reliability_diagram


def drawn(n=20_000):
    rng = np.random.default_rng(0)
    p = rng.random((n, 3))
    return p, (rng.random(p.shape) < p).astype(np.int8)


def test_probabilities_that_mean_what_they_say_lie_on_the_diagonal():
    p, Y = drawn()
    for one in reliability(Y, p):
        np.testing.assert_allclose(one.believed, one.observed, atol=0.04)
        assert one.share.sum() == pytest.approx(1)
        assert one.error < 0.02


def test_bins_are_means_over_what_falls_in_them():
    p, Y = drawn(500)
    pooled = reliability(Y, p, bins=4)[0]
    for b in range(4):
        inside = (p >= b / 4) & (p < (b + 1) / 4)
        assert pooled.believed[b] == pytest.approx(p[inside].mean())
        assert pooled.observed[b] == pytest.approx(Y[inside].mean())
        assert pooled.share[b] == pytest.approx(inside.mean())


def test_the_worst_labels_come_after_all_and_unjudged_instances_are_passed_over():
    p, Y = drawn()
    wrong = p.copy()
    wrong[:, 2] = p[:, 2] ** 3
    wrong[:, 0] = np.sqrt(p[:, 0])
    wrong[:7] = np.nan
    found = reliability(Y, wrong, ["a", "b", "c"], worst=2)
    assert [one.name for one in found] == ["all labels", "c", "a"]
    assert len(reliability_diagram(Y, wrong, ["a", "$b", "c"], worst=2).axes) == 3


def test_what_is_no_probability_is_refused():
    p, Y = drawn(10)
    for truth, given in ((Y, p[:5]), (Y, p + 1), (Y, np.full(p.shape, np.nan))):
        with pytest.raises(ComitiaError):
            reliability(truth, given)
    with pytest.raises(ComitiaError, match="names"):
        reliability(Y, p, ["a"])


def test_the_risk_coverage_curve_is_what_is_wrong_among_the_answers_that_are_given_at_each_cost():
    p, Y = drawn(500)
    p = p**2  # surer of what does not hold
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    counts = [np.bincount(place.ravel(), weights, BINS) for weights in (None, p.ravel(), Y.ravel())]
    curve = coverage(np.array(counts, dtype=float))
    assert len(curve) == BINS // 2
    for k, (kept, wrong) in enumerate(curve, start=1):
        # Answers as doubtful as one bin more are left open: what is wrong with less than k bins' probability is said.
        answer = Abstaining("hamming", cost=min(k / BINS, 0.5)).minimise(Marginals(p))
        given = answer >= 0
        assert kept == pytest.approx(given.mean())
        assert wrong == pytest.approx((answer != Y)[given].mean())
    assert curve[-1] == pytest.approx((1.0, ((p > 0.5) != Y).mean()))
