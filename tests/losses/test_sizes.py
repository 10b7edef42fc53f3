"""Answers of losses that add up over labels are brought to an allowed size as plain Python would, and cheaply."""

import tracemalloc
from functools import partial

import numpy as np
import pytest

from comitia import LOSSES, Marginals, NonEmptyMarginals, votes
from comitia._threads import over_slices, rows_at_once
from comitia.losses import (
    Abstaining,
    Constraints,
    FLoss,
    Hamming,
    JaccardLoss,
    Matthews,
    PropensityScored,
    SubsetZeroOne,
    TopK,
    minimise_within,
    rank_by,
    rank_partially,
)
from comitia.losses._sizes import FEW

RNG = np.random.default_rng(3)
COSTS = Hamming(false_positive=tuple(RNG.random(40)), false_negative=tuple(RNG.random(40) + 0.1))
BELIEFS = {
    "random": RNG.random((60, 40)),
    "rare": RNG.beta(0.05, 1.1, (60, 40)),
    "with many equals": RNG.integers(0, 4, (60, 40)) / 4,
    "all equal": np.full((3, 40), 0.5),
    "certain": RNG.integers(0, 2, (60, 40)).astype(float),
    "zeros of either sign": np.where(RNG.random((20, 40)) < 0.5, 0.0, -0.0),
}


def brought_to_size(worth, free, limits):
    """Keep what is decided without limits where its size is allowed, or else take the largest, the first of equals."""
    most = len(worth[0]) if limits.at_most is None else limits.at_most
    answers = free.copy()
    for gain, answer in zip(worth, answers, strict=True):
        size = min(max(int(answer.sum()), limits.at_least), most)
        if size != answer.sum():
            answer[:] = 0
            answer[sorted(range(len(gain)), key=lambda k: (-gain[k], k))[:size]] = 1
    return answers


@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.parametrize("loss", [Hamming(), Hamming(1.0, 3.0, ties="relevant"), SubsetZeroOne(), COSTS])
@pytest.mark.parametrize(
    "limits",
    [(0, 0), (1, None), (0, 3), (3, 3), (0, FEW), (0, FEW + 1), (FEW + 1, None), (12, 20), (40, None), (39, None)],
    ids=str,
)
def test_answers_out_of_size_get_the_largest_gains_and_others_stay(belief, loss, limits):
    p, limits = BELIEFS[belief], Constraints(*limits)
    free = loss.minimise(Marginals(p))
    found = minimise_within(loss, Marginals(p), limits)
    if loss is COSTS:
        worth = p * np.array(loss.false_negative) - (1 - p) * np.array(loss.false_positive)
        # Zeros of either sign are one, and gains that differ by rounding may come in either order.
        np.testing.assert_array_equal(found.sum(axis=1), brought_to_size(worth, free, limits).sum(axis=1))
        best = np.where(brought_to_size(worth, free, limits), worth, 0).sum(axis=1)
        np.testing.assert_allclose(np.where(found, worth, 0).sum(axis=1), best, atol=1e-12)
    elif belief == "zeros of either sign":
        np.testing.assert_array_equal(found.sum(axis=1), brought_to_size(p, free, limits).sum(axis=1))
    else:
        np.testing.assert_array_equal(found, brought_to_size(p, free, limits))


def test_slices_are_no_longer_than_was_asked_for_and_cover_all():
    for n in (0, 1, 63, 64, 65, 1000):
        slices = []
        over_slices(slices.append, n, at_least=16, at_most=64)
        covered = sorted(row for part in slices for row in range(part.start, part.stop))
        assert covered == list(range(n))
        assert all(part.stop - part.start <= 64 for part in slices)
    assert rows_at_once(10**9) == 64


LIMITS = {
    "without limits": None,
    "at most": Constraints(at_most=3),
    "at least": Constraints(at_least=1),
    "many": Constraints(at_least=12, at_most=14),
    "groups": Constraints(at_most=3, exclusive=((0, 1), (2, 3, 4))),
    "a tree": Constraints(implies=((0, 1), (2, 3))),
}


def peak(decide):
    """Return the most memory that Python and NumPy have had at once while something was decided."""
    tracemalloc.start()
    try:
        decide()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def within(loss, limits):
    return loss.minimise if limits is None else lambda belief: minimise_within(loss, belief, limits)


DECISIONS = {
    f"{name}, {kind}": within(made(), limits) for name, made in LOSSES.items() for kind, limits in LIMITS.items()
}
# A search among labelings holds so many candidates at a time, however few the instances are.
del DECISIONS["jaccard, a tree"]
DECISIONS |= {f"{weight}@3": TopK(3, weight).minimise for weight in ("precision", "recall", "ndcg")}
DECISIONS["propensity scored"] = PropensityScored(3, tuple(np.linspace(0.2, 1, 60))).minimise
DECISIONS |= {f"matthews, {kind}": within(Matthews(), limits) for kind, limits in LIMITS.items()}
DECISIONS |= {f"{name}, partly": Abstaining(made(), 0.2).minimise for name, made in LOSSES.items() if name != "f1"}
DECISIONS["f1, partly"] = Abstaining(FLoss(), 0.9).minimise


@pytest.mark.parametrize("decision", DECISIONS)
def test_no_decision_allocates_more_than_the_beliefs_that_it_is_about(decision):
    """What is worked on beside the answer is a slice of the beliefs, however many they are."""
    decide = DECISIONS[decision]
    slow = "a tree" in decision and decision[:2] in ("f1", "ma")
    n, K = (4_000, 40) if slow else (30_000, 20) if decision == "f1, partly" else (30_000, 60)
    p = RNG.beta(0.2, 8.0, (n, K))
    never_empty = NonEmptyMarginals.of(Marginals(p))
    for belief, size in ((Marginals(p), p.nbytes), (never_empty, never_empty.q.nbytes + never_empty.p.nbytes)):
        decide(belief.take(np.arange(70)))  # what is compiled is compiled
        taken = peak(lambda: decide(belief))  # noqa: B023
        assert taken <= size, f"{taken / size:.2f} of the beliefs"


@pytest.mark.parametrize("order", [rank_by, partial(rank_partially, cost=0.1)], ids=["all", "some"])
def test_orders_take_as_much_as_themselves_and_half_of_it(order):
    belief = Marginals(RNG.random((30_000, 60)))
    order(belief.take(np.arange(70)))
    assert peak(lambda: order(belief)) <= 1.6 * belief.p.nbytes


@pytest.mark.parametrize("loss", [JaccardLoss(), FLoss(), Matthews(), SubsetZeroOne()], ids=str)
def test_a_search_for_many_instances_holds_no_more_candidates_than_for_few(loss):
    p, limits = RNG.random((9_000, 8)), Constraints(exclusive=((0, 1), (1, 2)))
    few, many = (peak(lambda: minimise_within(loss, Marginals(p[:n]), limits)) for n in (3_000, 9_000))  # noqa: B023
    assert many - few <= 2 * p[3_000:].nbytes


def test_partial_answers_over_votes_allocate_less_than_the_beliefs_of_those_who_cast_them():
    cast = (RNG.random((50, 3000, 40)) < RNG.beta(0.2, 2.0, (3000, 40))).astype(np.int8)
    ballot = votes(cast)
    for name, made in LOSSES.items():
        decide = Abstaining(made(), 0.3).minimise
        decide(ballot.take(np.arange(70)))
        assert peak(lambda: decide(ballot)) <= 8 * cast.size, name  # noqa: B023


def test_decisions_over_votes_allocate_less_than_the_beliefs_of_those_who_cast_them():
    cast = (RNG.random((50, 3000, 40)) < RNG.beta(0.2, 2.0, (3000, 40))).astype(np.int8)
    ballot = votes(cast)
    for name, made in LOSSES.items():
        for limits in (None, Constraints(at_most=3), Constraints(at_least=1)):
            decide = within(made(), limits)
            decide(ballot.take(np.arange(70)))
            assert peak(lambda: decide(ballot)) <= 8 * cast.size, (name, limits)  # noqa: B023
