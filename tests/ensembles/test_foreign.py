"""What members of other packages say, in whatever form they say it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from comitia import ComitiaError, EBRClassifier
from comitia.ensembles._features import needs_numbers
from comitia.ensembles._foreign import AnyMultilabel, BinaryRelevance, Chain, _sample, _takes_several, marginals_of

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


def test_every_label_has_a_seed_of_its_own_unless_the_user_has_given_one():
    X, Y = np.arange(12.0).reshape(6, 2), np.array([[0, 1, 0], [1, 0, 1]] * 3, np.int8)

    def seeds(estimator, seed):
        relevance = BinaryRelevance.fitted(estimator, X, Y, None, seed)
        chain = Chain.fitted(estimator, X, Y, None, seed or 0, np.array([2, 0, 1]), "predict")
        return [[one.get_params() for one in each.estimators] for each in (relevance, chain)]

    open_, fixed = DecisionTreeClassifier(), DecisionTreeClassifier(random_state=3)
    for found in seeds(open_, 7):
        assert [one["random_state"] for one in found] == [7, 8, 9]
    for found in seeds(make_pipeline(open_), 7):
        assert [one["decisiontreeclassifier__random_state"] for one in found] == [7, 8, 9]
    for found in seeds(fixed, 7):
        assert [one["random_state"] for one in found] == [3, 3, 3]
    assert [one["random_state"] for one in seeds(open_, None)[0]] == [None] * 3
    assert [one["random_state"] for one in seeds(open_, 2**31 - 2)[0]] == [2**31 - 2, 0, 1]


def test_who_takes_no_weights_gets_copies_and_none_of_weight_zero():
    X, Y, weight = np.arange(4.0)[:, None], np.eye(4, dtype=np.int8), np.array([0.0, 2.0, 1.0, 3.0])
    rows, labels, left = _sample(GaussianNB(), X, Y, weight)
    assert (rows.ravel().tolist(), labels.tolist(), left.tolist()) == ([1, 2, 3], Y[1:].tolist(), [2, 1, 3])
    rows, labels, left = _sample(KNeighborsClassifier(), X, Y, weight)
    assert (rows.ravel().tolist(), left) == ([1, 1, 2, 3, 3, 3], None)
    np.testing.assert_array_equal(labels, Y[[1, 1, 2, 3, 3, 3]])
    with pytest.raises(ComitiaError, match=r"KNeighborsClassifier takes no sample weights.* holds fractions"):
        _sample(KNeighborsClassifier(), X, Y, weight / 2)
    with pytest.raises(ComitiaError, match="holds fractions"):
        EBRClassifier(KNeighborsClassifier(), 2, bootstrap=False).fit(X, Y, sample_weight=weight + 0.5)


@pytest.mark.parametrize("constant", [[], [1], [0, 2], [0, 1, 2]])
def test_labels_that_are_constant_are_left_out_for_who_refuses_them(constant):
    class Refusing(DecisionTreeClassifier):
        def fit(self, X, Y, sample_weight=None):
            if (Y[:1] == Y).all(axis=0).any():
                raise ValueError("constant")
            return super().fit(X, Y, sample_weight)

    X, Y = np.arange(8.0)[:, None], (np.arange(8)[:, None] >= [2, 4, 6]).astype(np.int8)
    Y[:, constant] = np.arange(3)[constant] % 2
    member = AnyMultilabel.fitted(Refusing(random_state=0), X, Y, None, 3)
    np.testing.assert_array_equal(member.marginals(X), Y)
    assert member.constant.tolist() == [k % 2 if k in constant else -1 for k in range(3)]
    assert not member.is_wrapped


class Boosted(GaussianNB):
    """Takes categories by a parameter of its fit."""

    def fit(self, X, y, sample_weight=None, categorical_feature="auto"):
        return self


NUMBERS = pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2], "c": [True, False]})
WORDS = NUMBERS.assign(d=["x", "y"])
CATEGORIES = NUMBERS.assign(d=pd.Categorical(["x", "y"]))


@pytest.mark.parametrize(
    ("estimator", "of_words", "of_categories"),
    [
        (GaussianNB(), True, True),
        (object(), True, True),
        (Boosted(), True, False),
        (HistGradientBoostingClassifier(), True, False),
        (EBRClassifier(), False, False),
        (make_pipeline(GaussianNB()), False, False),
        (ColumnTransformer([]), False, False),
        (MultiOutputClassifier(make_pipeline(GaussianNB())), False, False),
        (GridSearchCV(GaussianNB(), {}), True, True),
    ],
    ids=lambda value: "" if isinstance(value, bool) else type(value).__name__,
)
def test_columns_that_are_no_numbers_become_some_for_who_cannot_take_them(estimator, of_words, of_categories):
    assert needs_numbers(estimator, WORDS) is of_words
    assert needs_numbers(estimator, CATEGORIES) is of_categories
    assert needs_numbers(estimator, CATEGORIES.assign(e=["x", "y"])) is of_words
    for numbers in (NUMBERS, NUMBERS.to_numpy(float), ["x", "y"]):
        assert not needs_numbers(estimator, numbers)
