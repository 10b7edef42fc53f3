"""The labelings around one that limits allow, in plain Python."""

import numpy as np
import pytest

from comitia.losses._rules import Rules, neighbours
from tests.oracle import labelings

K = 5
RULES = [
    Rules(K),
    Rules(K, at_least=2, at_most=3),
    Rules(K, at_least=2, exclusive=((0, 1, 2),)),
    Rules(K, at_least=2, at_most=4, implies=((0, 1), (1, 2))),
    Rules(K, at_least=2, implies=((0, 1), (2, 1), (3, 4))),
    Rules(K, at_most=2, exclusive=((0, 3),), implies=((0, 1), (3, 4))),
    Rules(K, at_least=3, at_most=3, implies=((4, 0),), exclusive=((1, 2), (2, 3))),
    Rules(K, at_least=1, exclusive=((0, 1),), implies=((2, 0), (2, 1))),
]


def plain(start, p, rules, k):
    """Flip label k and what that entails, then mend the size; None where that cannot be done."""
    above = [set(np.flatnonzero(row)) for row in rules.above]
    excluded = [set(np.flatnonzero(row)) for row in rules.excluded]
    on = k not in start
    if on:
        if k in excluded[k]:
            return None
        now = (start - excluded[k]) | above[k]
    else:
        now = {j for j in start if k not in above[j]}
    while len(now) > rules.at_most:
        free = [
            j
            for j in sorted(now)
            if not (on and j in above[k]) and not any(j in above[other] for other in now if other != j)
        ]
        if not free:
            return None
        now.remove(min(free, key=lambda j: p[j]))
    while len(now) < rules.at_least:
        free = [
            j for j in range(K) if j not in now and j != k and above[j] - {j} <= now and not excluded[j] & (now - {j})
        ]
        if not free:
            return None
        now.add(max(free, key=lambda j: p[j]))
    return now


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_flipping_a_label_gives_the_labeling_that_the_limits_leave(rules):
    start = np.array(labelings(K), np.int8)
    start = start[rules.allows(start)]
    p = np.random.default_rng(0).integers(0, 6, (len(start), K)) / 5
    near, valid = np.full((len(start), K, K), 9, np.int8), np.empty((len(start), K), np.bool_)
    neighbours(start, p, rules.above, rules.excluded, rules.at_least, rules.at_most, near, valid)
    assert valid.any()
    assert rules.allows(near[valid]).all()
    for i, row in enumerate(start):
        for k in range(K):
            expected = plain(set(np.flatnonzero(row)), p[i], rules, k)
            assert valid[i, k] == (expected is not None)
            if expected is not None:
                assert set(np.flatnonzero(near[i, k])) == expected
