"""Which given instances are the same one: those that are equal, and no others."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from comitia._labels import LabelRows
from comitia.ensembles import _samples
from comitia.ensembles._samples import Instances

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
