"""Folds that keep the proportion of every label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_random_state

from comitia._compiled import njit
from comitia._errors import ComitiaError

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MultilabelStratifiedKFold:
    """K-fold cross-validation in which every label is about as frequent in each fold as in all of the data.

    Iterative stratification: the label with the fewest instances left is dealt out first, each of its instances to
    the fold that still lacks most instances of that label; among those, to the one that lacks most instances; among
    those, to the first.  Rare labels, which plain folds may miss altogether, are thus spread while there is a choice.
    The folds differ a little in size.

    It has the interface of scikit-learn's splitters and can be given wherever those take a ``cv``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to deal out the instances in random order.  Otherwise they come in the order of the data, and the folds
        are always the same.
    random_state : int, RandomState or None, default=None
        Seed of the order; only where ``shuffle`` is true.

    Notes
    -----
    The cost is O(n · (n_splits + cardinality) + K²), the memory that of the relevant labels.

    References
    ----------
    K. Sechidis, G. Tsoumakas, I. Vlahavas: On the stratification of multi-label data. ECML PKDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.datasets import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [0, 1]])
    >>> for train, test in MultilabelStratifiedKFold(n_splits=2).split(Y, Y):
    ...     print(test, Y[test].mean(axis=0))
    [0 2 4] [0.66666667 0.66666667]
    [1 3 5] [0.66666667 0.66666667]
    """

    n_splits: int = 5
    shuffle: bool = False
    random_state: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.n_splits, Integral) or self.n_splits < 2:
            raise ComitiaError(f"n_splits must be a whole number of at least 2; got {self.n_splits!r}.")
        if self.random_state is not None and not self.shuffle:
            raise ComitiaError("random_state must be None where nothing is shuffled; got shuffle=False.")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Number of folds."""
        return int(self.n_splits)

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:  # noqa: ARG002
        """Pairs of training and test positions, one for each fold.

        Parameters
        ----------
        X : object
            Not used.
        y : array-like or sparse array of shape (n, K)
            Zeros and ones.
        groups : object
            Not used.
        """
        folds = self._folds(_indicator(y))
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def _folds(self, Y: Any) -> Ints:
        n, _ = Y.shape
        if n < self.n_splits:
            raise ComitiaError(f"y must have at least n_splits={self.n_splits} rows, one a fold; got {n}.")
        order, ranks = np.arange(n), np.arange(self.n_splits)
        if self.shuffle:
            random = check_random_state(self.random_state)
            order, ranks = random.permutation(n), random.permutation(self.n_splits)
        by_instance = Y[order]
        by_label = by_instance.tocsc()
        dealt = np.empty(n, dtype=np.int64)
        _deal(by_instance.indptr, by_instance.indices, by_label.indptr, by_label.indices, self.n_splits, dealt)
        folds = np.empty(n, dtype=np.int64)
        folds[order] = ranks[dealt]
        return folds


def _indicator(y: Any) -> Any:
    """The labels as a CSR array of ones."""
    Y: Any = csr_array(y) if issparse(y) else np.asarray(y)
    if Y.ndim != 2:
        raise ComitiaError(f"y must have a row for each instance and a column for each label; got {Y.ndim} dimensions.")
    values = np.asarray(Y.data if issparse(Y) else Y)
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise ComitiaError("y must hold 0 and 1 only; got other values.")
    return csr_array(Y != 0)


@njit(cache=True, nogil=True)
def _deal(row_starts: Ints, labels: Ints, label_starts: Ints, rows: Ints, n_splits: int, folds: Ints) -> None:
    """Assign every row to a fold; the labels of the rows come by row and by label."""
    n, K = len(row_starts) - 1, len(label_starts) - 1
    folds[:] = -1
    left = np.empty(K, dtype=np.int64)
    # What folds lack is counted in n_splits-ths of an instance, so that it is a whole number and ties are exact.
    lacking = np.full(n_splits, n, dtype=np.int64)
    lacking_label = np.empty((K, n_splits), dtype=np.int64)
    for k in range(K):
        left[k] = label_starts[k + 1] - label_starts[k]
        lacking_label[k] = left[k]
    while True:
        rarest = -1
        for k in range(K):
            if left[k] > 0 and (rarest < 0 or left[k] < left[rarest]):
                rarest = k
        if rarest < 0:
            break
        for i in rows[label_starts[rarest] : label_starts[rarest + 1]]:
            if folds[i] >= 0:
                continue
            best = 0
            for fold in range(1, n_splits):
                more = lacking_label[rarest, fold] - lacking_label[rarest, best]
                if more > 0 or (more == 0 and lacking[fold] > lacking[best]):
                    best = fold
            folds[i] = best
            lacking[best] -= n_splits
            for k in labels[row_starts[i] : row_starts[i + 1]]:
                left[k] -= 1
                lacking_label[k, best] -= n_splits
    for i in range(n):
        if folds[i] < 0:
            folds[i] = np.argmax(lacking)
            lacking[folds[i]] -= n_splits
