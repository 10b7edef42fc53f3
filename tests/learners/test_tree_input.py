"""What the trees refuse, and how they say so."""

import numpy as np
import pytest
from scipy import sparse

from comitia.learners._tree import grow_trees

X = np.arange(12.0).reshape(6, 2)
Y = np.array([[0, 1], [1, 1]] * 3)


def replaced(array: np.ndarray, value: float) -> np.ndarray:
    copy = array.astype(float)
    copy[1, 1] = value
    return copy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": X[:, 0]}, r"X must have shape \(n, d\)"),
        ({"X": np.empty((6, 0))}, r"X must have shape \(n, d\)"),
        ({"X": replaced(X, np.inf)}, "X must not hold infinite values"),
        ({"X": sparse.csr_array(replaced(X, -np.inf))}, "X must not hold infinite values"),
        ({"X": X[:5]}, "same number of rows; got 5 and 6"),
        ({"Y": Y[:, 0]}, r"Y must have shape"),
        ({"Y": replaced(Y, 2)}, "Y must hold 0 and 1 only; got 2"),
        ({"Y": replaced(Y, np.nan)}, "Y must hold 0 and 1 only; got nan"),
        ({"Y": sparse.csr_array(replaced(Y, -1))}, "Y must hold 0 and 1 only; got -1"),
        ({"Y": sparse.csr_array((6, 0))}, "K ≥ 1"),
        ({"seeds": []}, "seeds must be one or more integers"),
        ({"seeds": [0, -1]}, "seeds must be one or more integers"),
        ({"seeds": [2**64]}, "seeds must be one or more integers"),
        ({"sample_weight": np.ones(5)}, r"shape \(6,\) or \(6, 2\); got shape \(5,\)"),
        ({"sample_weight": np.ones((6, 3))}, r"shape \(6,\) or \(6, 2\); got shape \(6, 3\)"),
        ({"sample_weight": [np.ones(6)]}, "weights for 2 trees; got them for 1"),
        ({"sample_weight": [np.ones(6), np.ones(5)]}, r"the weights of tree 1 must have shape \(6,\)"),
        ({"sample_weight": [np.ones(6), -np.ones(6)]}, "the weights of tree 1 must be finite, not negative"),
        ({"sample_weight": np.full(6, np.nan)}, "the weights of tree 0 must be finite"),
        ({"sample_weight": np.zeros(6)}, "the weights of tree 0 must be finite, not negative and not all zero"),
        ({"labelsets": np.zeros(5, int)}, "labelsets must hold a row number"),
        ({"labelsets": np.zeros(6)}, "labelsets must hold a row number"),
        ({"labelsets": np.full(6, -1)}, "labelsets must hold a row number"),
        ({"max_features": 0}, "max_features must be"),
        ({"max_features": 3}, "an integer from 1 to 2"),
        ({"max_features": 1.5}, "max_features must be"),
        ({"max_features": "log3"}, "max_features must be"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be an integer, at least 1; got 0"),
        ({"min_samples_leaf": 0.5}, "min_samples_leaf must be an integer, at least 1; got 0.5"),
        ({"min_samples_split": 1}, "min_samples_split must be an integer, at least 2; got 1"),
        ({"max_depth": 0}, "max_depth must be an integer, at least 1; got 0"),
        ({"min_impurity_decrease": -0.1}, "min_impurity_decrease must be a number, at least 0; got -0.1"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(change, message):
    arguments = {"X": X, "Y": Y, "seeds": [0, 1]} | change
    with pytest.raises(ValueError, match=message):
        grow_trees(**arguments)


def test_every_way_to_say_how_many_features_to_try_is_understood():
    for max_features in ("sqrt", None, 1, 2, 0.5, 1.0, np.int64(2)):
        assert len(grow_trees(X, Y, [0], max_features=max_features)) == 1


def test_input_is_left_as_it_was():
    x, y = sparse.csr_array(replaced(X, np.nan)), sparse.csr_array(Y)
    before = x.copy(), y.copy()
    grow_trees(x, y, [0])
    for array, copy in zip((x, y), before, strict=True):
        np.testing.assert_array_equal(array.toarray(), copy.toarray())
        np.testing.assert_array_equal(array.indptr, copy.indptr)


def test_entries_that_a_sparse_matrix_repeats_are_added():
    starts, columns = np.arange(0, 25, 4), np.tile([0, 1, 0, 1], 6)
    repeated = sparse.csr_array((np.hstack([X - 1, np.ones_like(X)]).ravel(), columns, starts), shape=X.shape)
    twice = sparse.csr_array((np.hstack([Y / 2, Y / 2]).ravel(), columns, starts), shape=Y.shape)
    assert not repeated.has_canonical_format
    (one,), (two,) = grow_trees(X, Y, [0]), grow_trees(repeated, twice, [0])
    np.testing.assert_array_equal(one.threshold, two.threshold)
    np.testing.assert_array_equal(one.apply(X), two.apply(repeated))


def test_integers_and_lists_are_taken_as_numbers():
    (one,), (two,) = grow_trees(X, Y, [0]), grow_trees(X.astype(int).tolist(), Y.tolist(), [0])
    np.testing.assert_array_equal(one.threshold, two.threshold)
