"""Targets at the door: what users hold as labels, as an int8 matrix, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_array, column_or_1d

from comitia._arrays import HEAVIEST, as_floats
from comitia._errors import ComitiaError
from comitia._frames import is_frame
from comitia._labels import (
    FloatArray,
    LabelArray,
    LabelRows,
    Labels,
    are_names,
    check_labels,
    dense,
    label_matrix,
)
from comitia._yes_and_no import labels_in_words
from comitia.ensembles._features import number_of_rows

_NUMBERS = frozenset(np.dtype(code).str[1:] for code in "?bhilqBHILQefdg")


@dataclass(frozen=True)
class Targets:
    """The labels of n instances.

    Parameters
    ----------
    Y : int8 array, shape (n, K), or LabelRows
        Lists of labels where a sparse matrix was given.
    names : array of K label names
    dtype : type of the labels as they were given
    classes : array of the one or two classes of a one-dimensional target, or None
        A binary target is one label; its second class is the relevant one.
    sparse : bool
        Whether a sparse matrix was given.
    """

    Y: Labels
    names: NDArray[Any]
    dtype: np.dtype[Any]
    classes: NDArray[Any] | None = None
    sparse: bool = False

    @property
    def form(self) -> Form:
        """What predictions look like."""
        return Form(self.dtype.str, self.classes, self.sparse)

    def as_array(self) -> Targets:
        """Return the same with an array of labels."""
        return replace(self, Y=dense(self.Y))

    def say_what_is_hard(self) -> None:
        """Print which labels can hardly be learnt."""
        from comitia.datasets import label_notes

        if isinstance(self.Y, np.ndarray):
            for note in label_notes(self.Y, list(map(str, self.names))):
                print(note)


@dataclass(frozen=True)
class Form:
    """The form in which labels were given, and are given back.

    Parameters
    ----------
    dtype : str
        Type of the labels, as NumPy writes it.
    classes : array or None
        The one or two classes of a one-dimensional target.
    sparse : bool
        Whether as a sparse matrix.
    """

    dtype: str
    classes: NDArray[Any] | None
    sparse: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.sparse, bool) or (self.sparse and self.classes is not None):
            raise ComitiaError(f"sparse must say whether labels are a sparse matrix; got {self.sparse!r}.")
        if not isinstance(self.dtype, str) or (self.classes is None and self.dtype[1:] not in _NUMBERS):
            raise ComitiaError(f"the type of labels must be a type of numbers; got {self.dtype!r}.")
        if self.classes is not None and (
            not isinstance(self.classes, np.ndarray) or self.classes.shape not in ((1,), (2,))
        ):
            raise ComitiaError("classes must be an array of one or two classes.")

    def labels(self, labeling: LabelArray | csr_array) -> Any:
        """Return a labeling (n, K) in the type of the target; or the classes (n,) of a binary target."""
        if self.classes is None:
            return labeling.astype(self.dtype, copy=False)
        return np.asarray(np.where(labeling[:, 0] == 1, self.classes[-1], self.classes[0]))

    def probabilities(self, p: Any) -> Any:
        """Return marginals (n, K); or one column for each class of a binary target."""
        if self.classes is None:
            return p
        return np.hstack([1 - p, p]) if len(self.classes) == 2 else np.ones_like(p)


def check_targets(y: Any, estimator: str) -> Targets:
    """Return labels given as an array, a sparse matrix, a frame, lists of numbers or of names, or a binary target."""
    if y is None:
        raise ComitiaError(f"This {estimator} estimator requires y to be passed, but the target y is None.")
    is_frame(y)  # one that does not have its data yet is refused
    if are_names(y):
        matrix, known = label_matrix(y)
        return Targets(matrix, np.array(known, dtype=object), np.dtype(np.int64))
    names = np.asarray([str(column) for column in y.columns], dtype=object) if hasattr(y, "columns") else None
    if _are_words(y):
        Y = labels_in_words(np.asarray(y, dtype=object), "y")
        return Targets(Y, _names(names, Y), np.dtype(np.int64))
    array = check_array(y, accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y")
    if array.ndim == 1:
        return _binary_target(column_or_1d(array))
    if issparse(array):
        rows = LabelRows.of(array, "y")
        return Targets(rows, _names(names, rows), array.dtype, sparse=True)
    check_classification_targets(array)
    Y = check_labels(array, "y")
    return Targets(Y, _names(names, Y), array.dtype)


def _names(names: NDArray[Any] | None, Y: Labels) -> NDArray[Any]:
    return np.array([f"y{k}" for k in range(Y.shape[1])], dtype=object) if names is None else names


def _are_words(y: Any) -> bool:
    """Whether y has a column for each label whose cells are no numbers: words for yes and no, or of several types."""
    if issparse(y) or not hasattr(y, "shape") or len(y.shape) != 2 or not y.shape[1]:
        return False
    return np.asarray(y[:0]).dtype.kind in "OUT"


def _binary_target(y: NDArray[Any]) -> Targets:
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:
        raise ComitiaError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}."
            " Several labels an instance are given as a 0/1 matrix of shape (n, K), or as lists of names."
        )
    Y = (y == classes[-1]).astype(np.int8)[:, None]
    return Targets(Y, np.array(["y0"], dtype=object), y.dtype, classes)


def encode(y: Any, classes: NDArray[Any] | None, names: NDArray[Any], estimator: str) -> Labels:
    """Return the labels of new instances as the fitted ones were given; ``names`` are those of all labels."""
    if classes is None:
        if are_names(y):
            return label_matrix(y, names.tolist())[0]
        Y = check_targets(y, estimator).Y
        if Y.shape[1] != len(names):
            raise ComitiaError(f"y has {Y.shape[1]} labels; the ensemble was fitted with {len(names)}.")
        return Y
    array = column_or_1d(y)
    unknown = np.setdiff1d(array, classes)
    if unknown.size:
        raise ComitiaError(f"y holds {unknown.tolist()[0]!r}; the ensemble was fitted with {classes.tolist()}.")
    return np.asarray(array == classes[-1], dtype=np.int8)[:, None]


def check_lengths(X: Any, targets: Targets) -> int:
    """Return the number of instances, of which X and y must have as many."""
    n = number_of_rows(X)
    if n != len(targets.Y):
        raise ComitiaError(
            f"Found input variables with inconsistent numbers of samples: X has {n} instances, y has {len(targets.Y)}."
        )
    return n


def check_weights(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    """Return sample weights of shape (n,), ones by default."""
    given = None if sample_weight is None else as_floats("sample_weight", sample_weight)
    if given is not None and given.ndim == 0:
        given = np.full(n, given)
    weight = _check_sample_weight(given, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ComitiaError("Sample weights must contain at least one non-zero number.")
    if not weight.max() <= HEAVIEST / n:
        raise ComitiaError(
            f"sample_weight must be at most {HEAVIEST:.0e} divided by the {n} instances, so that copies are counted"
            f" exactly; got {weight.max():g}. Divide all weights by the same number."
        )
    return np.asarray(weight)
