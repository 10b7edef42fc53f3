"""Answers do not depend on how many threads give them."""

import numba
import numpy as np
import pytest

from comitia import LOSSES, LabelSets, Marginals, decide, votes

RNG = np.random.default_rng(0)
MARGINALS = Marginals(RNG.random((3000, 11)) ** 2)
BALLOT = votes(RNG.random((9, 3000, 11)) < RNG.random((3000, 11)) ** 2)


@pytest.fixture
def threads():
    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)


@pytest.mark.parametrize("relevance", [MARGINALS, BALLOT], ids=["marginals", "label sets"])
@pytest.mark.parametrize("loss", LOSSES)
def test_minimise_and_risk_are_the_same_bits_for_one_thread_and_for_all(threads, loss, relevance):
    target = LOSSES[loss]()
    answers = []
    for count in (1, numba.config.NUMBA_NUM_THREADS):
        threads(count)
        chosen = target.minimise(relevance)
        answers.append((chosen, target.risk(relevance, chosen)))
    np.testing.assert_array_equal(answers[0][0], answers[1][0])
    np.testing.assert_array_equal(answers[0][1], answers[1][1])


def test_votes_are_counted_the_same_by_one_thread_and_by_all(threads):
    cast = RNG.random((7, 4000, 5)) < 0.5
    ballots = []
    for count in (1, numba.config.NUMBA_NUM_THREADS):
        threads(count)
        ballots.append(votes(cast))
    one, many = ballots
    np.testing.assert_array_equal(one.table, many.table)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one.weights, part), getattr(many.weights, part))


def test_a_part_of_the_instances_is_decided_as_within_the_whole():
    members = [Marginals(RNG.random((400, 6))) for _ in range(5)]
    sets = [LabelSets.from_rows([(np.eye(6, dtype=int), RNG.dirichlet(np.ones(6))) for _ in range(400)])] * 2
    rows = np.arange(100, 180)
    for loss in LOSSES:
        for group, aggregation in ((members, "ptc-mode"), (members, "ptc-mbr"), (members, "ctp"), (sets, "ctp-joint")):
            whole = decide(group, loss, aggregation)[rows]
            np.testing.assert_array_equal(decide([m.take(rows) for m in group], loss, aggregation), whole)
