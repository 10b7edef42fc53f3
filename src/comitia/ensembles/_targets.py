"""Targets at the door: what users hold as labels, as an int8 matrix, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, column_or_1d

from comitia.relevance.base import FloatArray, LabelArray
from comitia.relevance.labelsets import check_labels


@dataclass(frozen=True)
class Targets:
    """The labels of n instances.

    Parameters
    ----------
    Y : int8 array, shape (n, K)
    names : array of K label names
    classes : array of the one or two classes of a one-dimensional target, or None
        A binary target is one label; its second class is the relevant one.
    """

    Y: LabelArray
    names: NDArray[Any]
    classes: NDArray[Any] | None = None


def check_targets(y: Any, estimator: str) -> Targets:
    """Return labels given as an array, a sparse matrix, a frame, nested lists, or a binary one-dimensional target."""
    if y is None:
        raise ValueError(f"This {estimator} estimator requires y to be passed, but the target y is None.")
    names = np.asarray([str(column) for column in y.columns], dtype=object) if hasattr(y, "columns") else None
    array = check_array(y, accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
    if issparse(array):
        array = array.toarray()
    if array.ndim == 1:
        return _binary_target(column_or_1d(array))
    check_classification_targets(array)
    Y = check_labels(array, "y")
    return Targets(Y, np.array([f"y{k}" for k in range(Y.shape[1])], dtype=object) if names is None else names)


def _binary_target(y: NDArray[Any]) -> Targets:
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}."
            " Several labels an instance are given as a 0/1 matrix of shape (n, K)."
        )
    Y = (y == classes[-1]).astype(np.int8)[:, None]
    return Targets(Y, np.array(["y0"], dtype=object), classes)


def in_classes(labeling: LabelArray, classes: NDArray[Any] | None) -> NDArray[Any]:
    """Return a labeling in the form that the target had."""
    if classes is None:
        return labeling
    return np.asarray(np.where(labeling[:, 0] == 1, classes[-1], classes[0]))


def of_classes(p: FloatArray, classes: NDArray[Any] | None) -> FloatArray:
    """Return marginals in the form that the target asks for: (n, K), or one column a class."""
    if classes is None:
        return p
    return np.hstack([1 - p, p]) if len(classes) == 2 else np.ones_like(p)


def encode(y: Any, classes: NDArray[Any] | None, n_labels: int, estimator: str) -> LabelArray:
    """Return the labels of new instances as the fitted ones were given."""
    if classes is None:
        Y = check_targets(y, estimator).Y
        if Y.shape[1] != n_labels:
            raise ValueError(f"y has {Y.shape[1]} labels; the ensemble was fitted with {n_labels}.")
        return Y
    array = column_or_1d(y)
    unknown = np.setdiff1d(array, classes)
    if unknown.size:
        raise ValueError(f"y holds {unknown[0]!r}; the ensemble was fitted with {classes.tolist()}.")
    return np.asarray(array == classes[-1], dtype=np.int8)[:, None]
