"""Objects in plain values: the same for the same in every process, others for whatever differs."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from comitia.experiments._imports import described


@dataclass(frozen=True)
class Pair:
    left: object
    right: object = None


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (np.int64(3), 3),
        (np.float64(0.5), 0.5),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        ({1: (2, [np.bool_(True)])}, {"1": [2, [True]]}),
        (Pair(1), {"class": f"{__name__}.Pair", "left": 1, "right": None}),
        (Pair, f"{__name__}.Pair"),
        (np.mean, "numpy.mean"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),  # functions have an address in their text
)
def test_values_are_described_plainly(value, plain):
    assert described(value) == plain


def test_parameters_of_classifiers_are_described_in_order_and_to_the_bottom():
    found = described(Pair(DecisionTreeClassifier(max_depth=3), {"a": DecisionTreeClassifier()}))
    assert found["left"]["max_depth"] == 3
    assert list(found["left"])[1:] == sorted(list(found["left"])[1:])
    assert found["right"]["a"]["max_depth"] is None


def test_arrays_are_told_apart_by_kind_shape_and_values_and_not_by_how_they_lie():
    a = np.arange(6.0).reshape(2, 3)
    assert described(a) == described(np.asfortranarray(a)) == described(a.copy())
    others = (a + 1e-12, a.reshape(3, 2), a.astype(np.float32))
    assert len({described(one) for one in (a, *others)}) == 4


def test_addresses_are_left_out():
    assert described(functools.partial(np.mean)) == described(functools.partial(np.mean))
    assert " at 0x" not in str(described(object()))
    assert described(object()) == described(object())
