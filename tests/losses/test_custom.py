"""A loss of one's own: which labelings compete, and over which outcomes they are judged."""

import numpy as np
import pytest

from comitia.losses import Constraints, CustomLoss, FLoss, Hamming, SubsetZeroOne, Within
from comitia.losses._custom import _drawn_given_some
from comitia.relevance import LabelSets, Marginals, NonEmpty
from tests.losses.test_minimisers import severity
from tests.oracle import labelings

RNG = np.random.default_rng(8)
SETS = LabelSets.from_rows([(RNG.random((4, 9)) < 0.4, RNG.dirichlet(np.ones(4))) for _ in range(20)])


def best_of(loss, sets, candidates):
    """The first of the candidates with the smallest expected loss, for each instance."""
    risks = np.array([loss.risk(sets, np.tile(one, (sets.n_instances, 1))) for one in candidates])
    return np.array(candidates)[np.argmin(risks, axis=0)]


def support(i):
    return SETS.table[SETS.weights[[i]].indices].tolist()


def tops(i):
    order = np.argsort(-SETS.marginals()[i], kind="stable")
    return [[int(k in order[:size]) for k in range(9)] for size in range(10)]


GIVEN = [[0] * 9, [1] * 9, [1, 0] * 4 + [1]]


@pytest.mark.parametrize(
    ("candidates", "competing"),
    [
        (GIVEN, lambda i: GIVEN),
        ("support", support),
        ("top-k", tops),
        ("auto", lambda i: support(i) + tops(i)),
        ("all", lambda i: labelings(9)),
    ],
    ids=["given", "support", "top-k", "auto", "all"],
)
def test_the_best_of_those_that_compete_is_chosen(candidates, competing):
    loss = CustomLoss(severity, candidates=candidates)
    reached = loss.risk(SETS, loss.minimise(SETS))
    for i in range(SETS.n_instances):
        one = SETS.take([i])
        assert reached[i] == pytest.approx(loss.risk(one, best_of(loss, one, competing(i)))[0], abs=1e-12)
    assert set(map(tuple, CustomLoss(severity, candidates=GIVEN).minimise(SETS).tolist())) <= set(map(tuple, GIVEN))


@pytest.mark.parametrize("outcomes", [511, 512])
def test_outcomes_are_drawn_where_all_would_be_more_and_agree_with_all_of_them(outcomes):
    p = Marginals(RNG.random((6, 9)))
    h = (p.p > 0.5).astype(np.int8)
    for belief, exact in ((p, FLoss().risk(p, h)), (NonEmpty()(p), FLoss().risk(NonEmpty()(p), h))):
        found = CustomLoss(FLoss().value, outcomes=outcomes).risk(belief, h)
        np.testing.assert_allclose(found, exact, atol=1e-12 if outcomes == 512 else 0.05)
        assert (outcomes == 512) == np.allclose(found, exact, atol=1e-12)
    assert CustomLoss(FLoss().value, outcomes=outcomes).minimise(p.take([])).shape == (0, 9)


def test_drawn_labelings_with_some_label_are_as_frequent_as_they_are_probable():
    p = np.array([0.1, 0.0, 0.3, 0.02])
    drawn = _drawn_given_some(p, np.random.default_rng(1).random((200_000, 5)))
    assert drawn.dtype == np.int8
    assert drawn.any(axis=1).all()
    every = np.array(labelings(4))
    probable = np.where(every, p, 1 - p).prod(axis=1) * every.any(axis=1)
    found = [(drawn == row).all(axis=1).mean() for row in every]
    np.testing.assert_allclose(found, probable / probable.sum(), atol=0.004)
    certain = _drawn_given_some(np.array([0.0, 1.0]), np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 1.0]]))
    np.testing.assert_array_equal(certain, [[0, 1], [0, 1]])


def test_limits_change_what_is_chosen_and_not_what_it_costs():
    p = Marginals(RNG.random((5, 3)))
    h = (RNG.random((5, 3)) < 0.5).astype(np.int8)
    for loss in (Hamming(), SubsetZeroOne(), FLoss()):
        within = Within(loss, Constraints(at_least=1))
        np.testing.assert_array_equal(within.value(h, h[::-1]), loss.value(h, h[::-1]))
        for belief in (p, NonEmpty()(p), SETS.take(range(5))):
            labeling = h if belief is p or belief.n_labels == 3 else SETS.table[:5]
            np.testing.assert_array_equal(within.risk(belief, labeling), loss.risk(belief, labeling))
