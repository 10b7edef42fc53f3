"""What losses share that compare |y ∩ h| with |y| and |h| by a ratio: the F-measure and the Jaccard index."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from comitia._labels import FloatArray, IntArray, LabelArray
from comitia._threads import over_slices, rows_at_once
from comitia.losses import _independent
from comitia.losses._base import Loss
from comitia.relevance import LabelSets, NonEmptyMarginals

LabelLists = tuple[NDArray[np.int64], NDArray[np.int64]]


class OverlapLoss(Loss):
    """One minus gain · |y ∩ h| / (|h| + on_hit · hits + on_miss · misses), ``zero_division`` where both are empty.

    Hits are the relevant labels that h has, misses those it lacks.  A subclass, a dataclass with a field
    ``zero_division``, gives the three numbers (:meth:`_terms`) and the loops that find the best answers.
    """

    zero_division: float
    _labelsets_at_least = 64  # how many instances of label sets are worth a thread

    @property
    def keeps_zeros(self) -> bool:
        return True

    def _value_among(self, y: LabelArray, h: LabelArray, labels: IntArray, n_labels: int) -> FloatArray:  # noqa: ARG002
        return self._value(y, h)

    @abstractmethod
    def _terms(self) -> tuple[float, float, float]:
        """Return gain, on_hit and on_miss."""

    @abstractmethod
    def _best_sizes(self, ascending: FloatArray, sizes: Any) -> None:
        """Fill in how many of the most probable labels to take, given each row's probabilities in ascending order."""

    @abstractmethod
    def _best_labels(self, sets: LabelSets, lists: LabelLists, rows: slice, labeling: LabelArray) -> None:
        """Fill in the best labeling of these rows; ``lists`` are the sets' ``label_lists()``."""

    def given_some(self) -> Self:
        # An empty truth has no weight, so that an empty answer earns nothing; all other terms are in proportion.
        return replace(self, zero_division=0.0)  # type: ignore[call-arg]  # a field of the subclasses

    def _minimise_marginals(self, p: FloatArray) -> LabelArray:
        sizes = np.empty(len(p), np.int64)
        labeling = np.zeros(p.shape, np.int8)

        def decide(rows: slice) -> None:
            ascending = np.sort(p[rows], axis=1)
            self._best_sizes(ascending, sizes[rows])
            _independent.take_top(p[rows], ascending, sizes[rows], labeling[rows])

        over_slices(decide, len(p), at_least=64, at_most=rows_at_once(p.shape[1]))
        return labeling

    def _minimise_labelsets(self, sets: LabelSets) -> LabelArray:
        distinct, place = sets.distinct()
        labeling = np.zeros((distinct.n_instances, distinct.n_labels), np.int8)
        lists = distinct.label_lists()

        def decide(rows: slice) -> None:
            self._best_labels(distinct, lists, rows, labeling)

        over_slices(decide, distinct.n_instances, at_least=self._labelsets_at_least)
        return labeling[place]

    def _risk_marginals(self, p: FloatArray, h: LabelArray) -> FloatArray:
        return 1 - self._expected(p, h)

    def _risk_nonempty(self, belief: NonEmptyMarginals, h: LabelArray) -> FloatArray:
        return 1 - self.given_some()._expected(belief.q, h) / belief.some()

    def _expected(self, p: FloatArray, h: LabelArray) -> FloatArray:
        """Return the expected measure of h, labels independent with probabilities p."""
        measure = np.empty(len(p))

        def expect(rows: slice) -> None:
            _independent.expected_overlap(
                p, h, *self._terms(), float(self.zero_division), rows.start, rows.stop, measure
            )

        over_slices(expect, len(p), at_least=64)
        return measure
