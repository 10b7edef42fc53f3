"""What every loss can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comitia._arrays import lies_in
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray, check_labels, checked, listed, pack, unpack
from comitia._threads import over_slices, rows_at_once, slices
from comitia._titles import Terms
from comitia.relevance import LabelSets, Marginals, NonEmptyMarginals, Relevance, Shared

# Expectations over label sets compare labelings pairwise; this many label comparisons are held in memory at a time.
_PAIRS_AT_ONCE = 1 << 20
# Decisions for beliefs that instances share are remembered up to this many bytes of all of them, a bit a label.
_REMEMBERED = 1 << 28
# All of them are decided where one in so many is asked for.
OFTEN = 8
# Rows of sparse matrices that are looked at together.
_ROWS_AT_ONCE = 64


@dataclass(frozen=True)
class Loss(ABC):
    """A loss ℓ(y, h) of predicting the labeling h where y is true.

    The one idea of this library is to minimise its expectation under a belief P,

        minimise(P) ∈ argmin_h  Σ_y P(y) ℓ(y, h).

    A subclass says what the loss is (:meth:`value`) and how it is minimised for each kind of belief.

    Examples
    --------
    >>> from comitia.losses import FLoss, Loss
    >>> isinstance(FLoss(), Loss)
    True
    """

    title: ClassVar[str] = ""
    """What people call it, or the measure that it is one minus of."""

    measure: ClassVar[bool] = False
    """Whether people read one minus the loss, a measure of which more is better."""

    terms: ClassVar[Terms] = Terms()
    """How its value is told in plain words."""

    @property
    def keeps_zeros(self) -> bool:
        """Whether no answer has a label of probability zero: such labels can be left out before it is looked for."""
        return False

    def value(self, truth: ArrayLike | Any, labeling: ArrayLike | Any) -> FloatArray:
        """Return the loss of each instance, of shape (n,).

        Parameters
        ----------
        truth, labeling : array-like or sparse matrix of 0/1, shape (n, K)
            The true labels and the predicted ones.  Of sparse matrices a few rows are looked at together, with the
            labels that occur in them.
        """
        y, h = checked(truth, "truth"), checked(labeling, "labeling")
        if y.shape != h.shape:
            raise ComitiaError(f"truth and labeling must have one shape; got {y.shape} and {h.shape}.")
        if isinstance(y, np.ndarray) and isinstance(h, np.ndarray):
            return self._value(y, h)
        value = np.empty(len(y))
        for rows in slices(len(y), _ROWS_AT_ONCE):
            some, found = listed(y[rows]), listed(h[rows])
            labels = np.union1d(some.labels, found.labels).astype(np.intp)
            value[rows] = self._value_among(some.among(labels), found.among(labels), labels, y.shape[1])
        return value

    def minimise(self, relevance: Relevance) -> LabelArray:
        """Return the labeling of the smallest expected loss for each instance, of shape (n, K)."""
        if isinstance(relevance, Shared):
            return unpack(self.minimise_shared(relevance), relevance.n_labels)
        if isinstance(relevance, LabelSets):
            return self._minimise_labelsets(relevance)
        if isinstance(relevance, NonEmptyMarginals):
            return self._minimise_nonempty(relevance)
        return self._minimise_marginals(_as_marginals(relevance).p)

    def risk(self, relevance: Relevance, labeling: ArrayLike) -> FloatArray:
        """Return the expected loss of predicting ``labeling`` under the belief, of shape (n,)."""
        h = check_labels(labeling, "labeling")
        if h.shape != (relevance.n_instances, relevance.n_labels):
            raise ComitiaError(
                f"labeling must have the relevance's shape {(relevance.n_instances, relevance.n_labels)};"
                f" got {h.shape}."
            )
        if isinstance(relevance, Shared):
            return self.risk(relevance.spelled_out(), h)
        if isinstance(relevance, LabelSets):
            return self._risk_labelsets(relevance, h)
        if isinstance(relevance, NonEmptyMarginals):
            return self._risk_nonempty(relevance, h)
        return self._risk_marginals(_as_marginals(relevance).p, h)

    def minimise_shared(self, shared: Shared) -> NDArray[np.uint64]:
        """Return the labelings in words of 64 labels, (n, W); each belief that occurs is decided once, and remembered.

        Beliefs are taken out of their table, and decided, a few at a time and in threads.
        """
        n_words = -(-shared.n_labels // 64)
        if 8 * shared.of.n_instances * n_words > _REMEMBERED:
            rows, place = np.unique(shared.index, return_inverse=True)
            decided = np.empty((len(rows), n_words), np.uint64)
            self._decide(shared.of, rows, decided)
            return decided[place]
        known, remembered = shared.memory.of_loss(self, (shared.of.n_instances, n_words))
        rows = np.unique(shared.index[~known[shared.index]])
        if rows.size:
            if rows.size * OFTEN > np.count_nonzero(~known):  # others will want the rest: at once is cheaper
                rows = np.flatnonzero(~known)
            decided = np.empty((len(rows), n_words), np.uint64)
            self._decide(shared.of, rows, decided)
            remembered[rows] = decided
            known[rows] = True
        return remembered[shared.index]

    def _decide(self, of: Relevance, rows: IntArray, decided: NDArray[np.uint64]) -> None:
        def some(part: slice) -> None:
            decided[part] = pack(self.minimise(of.take(rows[part])))

        over_slices(some, len(rows), at_most=rows_at_once(of.n_labels))

    @abstractmethod
    def _value(self, y: LabelArray, h: LabelArray) -> FloatArray: ...

    def _value_among(self, y: LabelArray, h: LabelArray, labels: IntArray, n_labels: int) -> FloatArray:
        """Return the loss where y and h are of these labels, out of ``n_labels``, and the others irrelevant in both."""
        both = np.zeros((2, len(y), n_labels), np.int8)
        both[:, :, labels] = y, h
        return self._value(*both)

    @abstractmethod
    def _minimise_marginals(self, p: FloatArray) -> LabelArray: ...

    @abstractmethod
    def _minimise_labelsets(self, sets: LabelSets) -> LabelArray: ...

    @abstractmethod
    def _risk_marginals(self, p: FloatArray, h: LabelArray) -> FloatArray: ...

    def given_some(self) -> Loss | None:
        """Return the loss to minimise over the independent labels q of a belief without the empty labeling.

        None where marginals are all that matters, as for losses that add up over labels.
        """
        return None

    def _minimise_nonempty(self, belief: NonEmptyMarginals) -> LabelArray:
        some = self.given_some()
        return self._minimise_marginals(belief.p) if some is None else some._minimise_marginals(belief.q)

    def _risk_nonempty(self, belief: NonEmptyMarginals, h: LabelArray) -> FloatArray:
        return self._risk_marginals(belief.p, h)

    def _risk_labelsets(self, sets: LabelSets, h: LabelArray) -> FloatArray:
        return expected(self._value, sets, h)


def expected(value: Callable[[LabelArray, LabelArray], FloatArray], sets: LabelSets, h: LabelArray) -> FloatArray:
    """Return the expectation, (n,), of a loss of answers h (n, K) over each instance's labelsets."""
    weights = sets.weights
    row = np.repeat(np.arange(sets.n_instances), np.diff(weights.indptr))
    values = np.empty(weights.nnz)
    for part in slices(weights.nnz, max(1, _PAIRS_AT_ONCE // sets.n_labels)):
        values[part] = value(sets.table[weights.indices[part]], h[row[part]])
    return np.asarray(np.bincount(row, weights.data * values, sets.n_instances) / sets.total)


def _as_marginals(relevance: Relevance) -> Marginals:
    if not isinstance(relevance, Marginals):
        raise ComitiaError(
            f"expected Marginals, NonEmptyMarginals, LabelSets or Shared; got {type(relevance).__name__}."
        )
    return relevance


def overlap(y: LabelArray, h: LabelArray) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return |y ∩ h|, |y| and |h| of each instance."""
    common = np.einsum("ik,ik->i", y, h, dtype=np.int64)
    return common, y.sum(axis=1, dtype=np.int64), h.sum(axis=1, dtype=np.int64)


LARGEST_COST = 1e290
"""Costs up to this have finite sums over any number of labels."""


def check_beta(value: float) -> None:
    """Hold the β of an F-measure to what can be computed: powers of it up to the sixth meet powers of K."""
    if not lies_in(value, 1e-40, 1e40):
        raise ComitiaError(f"beta must be from 1e-40 to 1e40; got {value!r}.")


def check_zero_division(value: float) -> None:
    """Hold a loss's ``zero_division`` to what scikit-learn means by it."""
    if not lies_in(value, 0, 1):
        raise ComitiaError(f"zero_division must lie in [0, 1]; got {value!r}.")
