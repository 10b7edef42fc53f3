"""What members of other packages say, in whatever form they say it."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from comitia import ComitiaError
from comitia.ensembles._foreign import _takes_several, marginals_of

X = np.zeros((3, 2))
P = np.array([[0.1, 0.8], [0.4, 0.5], [0.9, 0.0]])


def saying(proba, **more):
    return SimpleNamespace(predict_proba=lambda _: proba, **more)


FORMS = {
    "an array": saying(P),
    "a sparse array": saying(csr_array(P)),
    "a list": saying([np.stack([1 - p, p], 1) for p in P.T], classes_=[np.array([0, 1])] * 2),
    "a list, classes turned": saying(
        [np.stack([1 - P[:, 0], P[:, 0]], 1), np.stack([P[:, 1], 1 - P[:, 1]], 1)],
        classes_=[np.array([0, 1]), np.array([1, 0])],
    ),
    "predictions": SimpleNamespace(predict=lambda _: P),
    "sparse predictions": SimpleNamespace(predict=lambda _: csr_array(P)),
}


@pytest.mark.parametrize("form", FORMS)
def test_marginals_are_those_of_class_one_in_any_form(form):
    np.testing.assert_array_equal(marginals_of(FORMS[form], X, 2), P)


def test_a_label_that_had_one_class_is_certain():
    one, none = np.ones((3, 1)), np.ones((3, 1))
    found = marginals_of(saying([one, none], classes_=[np.array([1]), np.array([0])]), X, 2)
    np.testing.assert_array_equal(found, [[1, 0]] * 3)


@pytest.mark.parametrize(
    "classes", [np.array([0, 1]), [np.array([0, 1])]], ids=["an array of classes", "a list of them"]
)
def test_a_single_label_has_a_column_for_each_class_or_one(classes):
    both = np.stack([1 - P[:, 0], P[:, 0]], 1)
    np.testing.assert_array_equal(marginals_of(saying(both, classes_=classes), X, 1), P[:, :1])
    np.testing.assert_array_equal(marginals_of(saying(P[:, :1], classes_=classes), X, 1), P[:, :1])
    np.testing.assert_array_equal(marginals_of(saying(P[:, :1]), X, 1), P[:, :1])
    np.testing.assert_array_equal(marginals_of(saying(both[:, ::-1], classes_=np.array([1, 0])), X, 1), P[:, :1])
    certain = SimpleNamespace(predict=lambda _: np.array([1, 0, 1]))
    np.testing.assert_array_equal(marginals_of(certain, X, 1), [[1], [0], [1]])


@pytest.mark.parametrize("said", [P[:, 0], P[:, :1], P[None]])
def test_probabilities_of_another_shape_are_refused(said):
    with pytest.raises(ComitiaError, match=r"SimpleNamespace gives probabilities of shape .* for 2 labels"):
        marginals_of(saying(said), X, 2)


def test_who_says_nothing_of_several_labels_may_take_them():
    assert _takes_several(object())
