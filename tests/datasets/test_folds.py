"""Stratified folds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from comitia.datasets import MultilabelStratifiedKFold, load_mulan, load_seven_segment
from comitia.datasets._folds import _deal

Labels = npt.NDArray[np.int8]


def random_labels(n: int, K: int, seed: int = 0) -> Labels:
    rng = np.random.default_rng(seed)
    return (rng.random((n, K)) < rng.random(K) ** 3).astype(np.int8)


def deviation(Y: Labels, splitter: MultilabelStratifiedKFold | KFold) -> float:
    """How far the proportions of the labels in the folds are from those in all of the data, on average."""
    tests = [test for _, test in splitter.split(Y, Y)]
    return float(np.mean([np.abs(Y[test].mean(axis=0) - Y.mean(axis=0)) for test in tests]))


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_instance_is_tested_once_and_trained_on_otherwise(shuffle: bool) -> None:
    Y = random_labels(103, 6)
    splitter = MultilabelStratifiedKFold(4, shuffle=shuffle, random_state=0 if shuffle else None)
    assert splitter.get_n_splits() == 4
    pairs = list(splitter.split(np.zeros(103), Y))
    assert sorted(np.concatenate([test for _, test in pairs])) == list(range(103))
    for train, test in pairs:
        assert sorted([*train, *test]) == list(range(103))
        assert abs(len(test) - 103 / 4) < 5


def test_rare_labels_are_spread_over_the_folds() -> None:
    Y = np.zeros((100, 2), dtype=np.int8)
    Y[:5, 0] = 1  # at the beginning, where plain folds put all of them into the first
    Y[10:60, 1] = 1
    for _, test in MultilabelStratifiedKFold(5).split(Y, Y):
        assert Y[test, 0].sum() == 1
        assert Y[test, 1].sum() == 10


def test_proportions_are_closer_than_in_plain_folds(shared_data: Path) -> None:
    for name, factor in [("yeast", 0.6), ("medical", 0.6), ("cal500", 0.9)]:
        Y = load_mulan(shared_data / name / f"{name}.arff", shared_data / name / f"{name}.xml").Y
        stratified = deviation(Y, MultilabelStratifiedKFold(10, shuffle=True, random_state=0))
        assert stratified < factor * deviation(Y, KFold(10, shuffle=True, random_state=0))


def test_the_folds_are_the_same_unless_shuffled_by_another_seed() -> None:
    Y = random_labels(80, 5)

    def folds(**parameters: object) -> list[list[int]]:
        return [test.tolist() for _, test in MultilabelStratifiedKFold(3, **parameters).split(Y, Y)]  # type: ignore[arg-type]

    assert folds() == folds()
    assert folds(shuffle=True, random_state=1) == folds(shuffle=True, random_state=1)
    assert folds(shuffle=True, random_state=1) != folds(shuffle=True, random_state=2)


def test_sparse_labels_frames_truth_values_and_a_single_label_are_taken() -> None:
    Y = random_labels(60, 4)
    expected = [test.tolist() for _, test in MultilabelStratifiedKFold(3).split(Y, Y)]
    for same in (csr_array(Y), pandas.DataFrame(Y), Y.astype(bool), Y.astype(float), Y.tolist()):
        assert [test.tolist() for _, test in MultilabelStratifiedKFold(3).split(None, same)] == expected
    assert deviation(Y[:, :1], MultilabelStratifiedKFold(3)) < 0.02


def test_scikit_learn_takes_it_for_cv() -> None:
    dataset = load_seven_segment()
    splitter = MultilabelStratifiedKFold(3, shuffle=True, random_state=0)
    assert len(cross_val_score(DecisionTreeClassifier(max_depth=3), dataset.X, dataset.Y, cv=splitter)) == 3
    search = clone(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 4]}, cv=splitter))
    assert search.fit(dataset.X, dataset.Y).n_splits_ == 3
    assert repr(splitter) == "MultilabelStratifiedKFold(n_splits=3, shuffle=True, random_state=0)"


def test_a_hundred_thousand_instances_of_a_hundred_labels_are_dealt() -> None:
    Y = (np.random.default_rng(0).random((100_000, 100)) < 0.03).astype(np.int8)
    assert deviation(Y, MultilabelStratifiedKFold(10)) < 0.1 * deviation(Y, KFold(10))


def test_the_compiled_loop_deals_as_the_algorithm_is_written() -> None:
    for seed in range(20):
        Y = random_labels(40, 5, seed)
        sparse = csr_array(Y != 0)
        by_label = sparse.tocsc()
        folds = np.empty(40, dtype=np.int64)
        _deal(sparse.indptr, sparse.indices, by_label.indptr, by_label.indices, 3, folds)
        np.testing.assert_array_equal(folds, plainly_dealt(Y, 3))


def plainly_dealt(Y: Labels, n_splits: int) -> list[int]:
    n = len(Y)
    folds = np.full(n, -1)

    def lacking(rows: npt.NDArray[np.bool_]) -> list[int]:
        """What each fold lacks of these rows, times n_splits."""
        return [int(rows.sum() - n_splits * (rows & (folds == fold)).sum()) for fold in range(n_splits)]

    while (folds < 0).any():
        left = Y[folds < 0].sum(axis=0)
        if left.any():
            rarest = min(np.flatnonzero(left), key=lambda k: left[k])
            rows = Y[:, rarest] == 1
        else:
            rows = np.zeros(n, dtype=bool)
        for i in np.flatnonzero((folds < 0) & (rows | ~left.any())):
            wants, rooms = lacking(rows), lacking(np.ones(n, dtype=bool))
            folds[i] = max(range(n_splits), key=lambda fold: (wants[fold], rooms[fold], -fold))
    return folds.tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(10), "1 dimensions"),
        (np.full((10, 2), 2), "0 and 1 only"),
        (np.full((10, 2), np.nan), "0 and 1 only"),
        (np.zeros((10, 2)).astype(str), "0 and 1 only"),
        (np.zeros((2, 2)), "y must have at least n_splits=3 rows, one a fold; got 2"),
    ],
)
def test_wrong_labels_are_refused(y: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(MultilabelStratifiedKFold(3).split(None, y))


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="n_splits"):
        MultilabelStratifiedKFold(1)
    with pytest.raises(ValueError, match="random_state must be None"):
        MultilabelStratifiedKFold(3, random_state=0)
