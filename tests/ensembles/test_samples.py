"""Which given instances are the same one: those that are equal, and no others."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from comitia._labels import LabelRows
from comitia.ensembles import _samples
from comitia.ensembles._samples import Instances, draw, member_integers, member_seed

RNG = np.random.default_rng(5)
BOTH = RNG.integers(0, 2, (60, 5)).astype(float)
X, Y = BOTH[:, :3].copy(), BOTH[:, 3:].astype(np.int8)
X[X[:, 0] == 1, 1] = np.nan
WEIGHT = RNG.integers(0, 4, 60) / 2
KEYS = [(*np.nan_to_num(x, nan=9), *y) for x, y in zip(X, Y.tolist(), strict=True)]
FORMS = [
    (X, Y),
    (csr_array(X), Y),
    (csc_array(X), LabelRows.of(csr_array(Y), "Y")),
    (X, LabelRows.of(csr_array(Y), "Y")),
]


def check(found, merged):
    weights = {}
    for key, weight in zip(KEYS, WEIGHT, strict=True):
        if weight > 0:
            weights[key] = weights.get(key, 0) + weight
    for i, (key, weight) in enumerate(zip(KEYS, WEIGHT, strict=True)):
        assert (found.distinct_of[i] < 0) == (weight == 0)
        if weight > 0:
            assert KEYS[found.rows[found.distinct_of[i]]] == key
    sums = {}
    for row, weight in zip(found.rows, found.weight, strict=True):
        sums[KEYS[row]] = sums.get(KEYS[row], 0) + weight
    assert sums == weights
    assert not merged or len(found.rows) == len(weights)


@pytest.mark.parametrize("form", FORMS, ids=["dense", "csr", "csc and lists", "lists"])
def test_equal_instances_are_one_of_their_weights_together(form):
    check(Instances.of(*form, WEIGHT), merged=True)


@pytest.mark.parametrize("form", FORMS, ids=["dense", "csr", "csc and lists", "lists"])
def test_different_instances_stay_apart_where_their_fingerprints_agree(form, monkeypatch):
    monkeypatch.setattr(_samples, "fingerprints", lambda X, Y: np.zeros((len(Y), 2), np.uint64))
    check(Instances.of(*form, WEIGHT), merged=False)


ROWS = np.arange(6)


@pytest.mark.parametrize(
    ("weight", "max_samples", "drawn"),
    [
        (np.full(6, 2.0), None, 12),
        (np.full(6, 2.0), 5, 5),
        (np.full(6, 2.0), 0.5, 6),
        (np.full(6, 2.0), 1e-9, 1),
        (np.full(6, 1 / 6), None, 6),
        (np.full(6, 1 / 6), 0.5, 3),
        (np.array([0.5, 0, 0, 0, 0, 7]), None, 8),
    ],
)
def test_a_bootstrap_draws_as_many_as_there_are_or_were_asked_for(weight, max_samples, drawn):
    seed = member_seed(0, 1, 0)
    found = draw(Instances(ROWS, weight, ROWS), seed, True, max_samples)
    assert found.sum() == drawn
    assert (found[weight == 0] == 0).all()
    np.testing.assert_array_equal(found, np.random.default_rng(seed).multinomial(drawn, weight / weight.sum()))


@pytest.mark.parametrize(("max_samples", "drawn"), [(None, 6), (6, 6), (4, 4), (0.5, 3), (0.75, 4), (1e-9, 1)])
def test_without_a_bootstrap_instances_are_drawn_once_with_their_weights(max_samples, drawn):
    weight = np.arange(1.0, 7.0)
    found = draw(Instances(ROWS, weight, ROWS), member_seed(0, 1, 0), False, max_samples)
    assert np.count_nonzero(found) == drawn
    np.testing.assert_array_equal(found[found > 0], weight[found > 0])


def test_seeds_of_members_are_the_same_everywhere_and_differ_by_member_and_by_purpose():
    assert member_integers(7, range(3)).tolist() == [856967280, 2032283795, 1577427517]
    np.testing.assert_array_equal(member_integers(7, range(1, 3)), member_integers(7, range(3))[1:])
    found = {(member, purpose): tuple(member_seed(7, member, purpose).generate_state(2))
             for member in range(4) for purpose in range(4)}  # fmt: skip
    assert len(set(found.values())) == 16
