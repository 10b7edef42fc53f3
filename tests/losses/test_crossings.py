"""An answer gives way to another where both cost the same, and nowhere else."""

import numpy as np
import pytest

from comitia.relevance import LabelSets, Marginals, NonEmpty
from tests.losses.test_abstention import LOSSES as PARTIAL
from tests.losses.test_abstention import Abstaining, partial_risks
from tests.losses.test_minimisers import IDS, VARIANTS
from tests.oracle import labelings, risks

rng = np.random.default_rng(7)
N, K = 24, 4
CORNERS = np.concatenate([np.zeros((2, K)), np.eye(K)[:2], rng.integers(0, 3, (8, K)) / 2, rng.random((12, K)) ** 3])
FROM, TO = rng.permutation(CORNERS), rng.permutation(CORNERS)
TABLE = labelings(K)


def independent(t):
    return Marginals((1 - t) * FROM + t * TO)


def never_empty(t):
    return NonEmpty()(independent(t))


def over_sets(t):
    p = independent(t).p[:, None]
    return LabelSets(TABLE, np.where(np.array(TABLE) == 1, p, 1 - p).prod(axis=2))


def crossings(decide, belief):
    """Beliefs on both sides of every change of an answer on the way from one belief to another, by bisection."""
    grid = np.linspace(0, 1, 12)
    answers = np.array([decide(belief(np.full((N, 1), t))) for t in grid])
    low, high = np.zeros((N, 1)), np.ones((N, 1))
    for before, after, one, other in zip(grid, grid[1:], answers, answers[1:], strict=False):
        changes = (one != other).any(axis=1)
        low[changes], high[changes] = before, after
    start = decide(belief(low))
    for _ in range(40):
        middle = (low + high) / 2
        stays = (decide(belief(middle)) == start).all(axis=1)[:, None]
        low, high = np.where(stays, middle, low), np.where(stays, high, middle)
    return belief(low), belief(high)


@pytest.mark.parametrize("belief", [independent, never_empty, over_sets])
@pytest.mark.parametrize("loss", VARIANTS, ids=IDS)
def test_no_answer_is_given_up_before_another_costs_as_little(loss, belief):
    for at in crossings(loss.minimise, belief):
        for i, chosen in enumerate(loss.minimise(at).tolist()):
            expected = risks(loss, at, i)
            assert expected[tuple(chosen)] <= min(expected.values()) + 1e-9


@pytest.mark.parametrize("loss", PARTIAL, ids=str)
def test_no_partial_answer_is_given_up_before_another_costs_as_little(loss):
    rule = Abstaining(loss, 0.3, "concave")
    for at in crossings(rule.minimise, independent):
        for i, chosen in enumerate(rule.minimise(at).tolist()):
            expected = partial_risks(rule, at, i)
            assert expected[tuple(chosen)] <= min(expected.values()) + 1e-9
