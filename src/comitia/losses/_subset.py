"""Subset 0/1 loss: the whole labeling is right, or it is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from comitia._labels import FloatArray, IntArray, LabelArray
from comitia._threads import over_slices
from comitia._titles import Terms
from comitia.losses import _joint
from comitia.losses._base import Loss
from comitia.relevance import LabelSets, NonEmptyMarginals


@dataclass(frozen=True)
class SubsetZeroOne(Loss):
    """1 where any label is wrong, ℓ(y, h) = ⟦y ≠ h⟧.  Minimised by the mode of the joint distribution.

    From label sets the mode is the labeling of the largest weight.  Of several, the one whose labels collect the most
    agreement is taken, s(h) = Σ_k Σ_y P(y) ⟦h_k = y_k⟧ (the paper's rule), and of several still the one that occurs
    first.  From marginals, read as independent, the mode is that of each label; a probability of exactly one half is
    irrelevant.

    Examples
    --------
    The paper's example: the mode of the joint is not the mode of the marginals.

    >>> from comitia.losses import Hamming, SubsetZeroOne
    >>> from comitia.relevance import LabelSets, NonEmptyMarginals
    >>> table = [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> belief = LabelSets(table, [[1/4, 3/16, 3/16, 3/16, 3/16]])
    >>> SubsetZeroOne().minimise(belief)
    array([[0, 0, 0]], dtype=int8)
    >>> Hamming().minimise(belief)
    array([[1, 1, 1]], dtype=int8)
    """

    title: ClassVar[str] = "Subset 0/1 loss"
    terms: ClassVar[Terms] = Terms(
        "of {base} {things}, ", " get exactly the right set of labels", counts=True, complement=True
    )

    @property
    def keeps_zeros(self) -> bool:
        return True

    def _value_among(self, y: LabelArray, h: LabelArray, labels: IntArray, n_labels: int) -> FloatArray:  # noqa: ARG002
        return self._value(y, h)

    def _value(self, y: LabelArray, h: LabelArray) -> FloatArray:
        return np.asarray((y != h).any(axis=1), dtype=np.float64)

    def _minimise_marginals(self, p: FloatArray) -> LabelArray:
        return (p > 0.5).view(np.int8)

    def _minimise_nonempty(self, belief: NonEmptyMarginals) -> LabelArray:
        labeling = self._minimise_marginals(belief.q)
        # Where no label is more likely than not, one label costs the least, and it is the most probable one.
        empty = np.flatnonzero(~labeling.any(axis=1))
        labeling[empty, belief.q[empty].argmax(axis=1)] = 1
        return labeling

    def _risk_nonempty(self, belief: NonEmptyMarginals, h: LabelArray) -> FloatArray:
        hit = np.where(h, belief.q, 1 - belief.q).prod(axis=1)
        return np.where(h.any(axis=1), 1 - hit / belief.some(), 1.0)

    def _minimise_labelsets(self, sets: LabelSets) -> LabelArray:
        weights = sets.weights
        mode = np.empty(sets.n_instances, np.int64)

        def find(rows: slice) -> None:
            _joint.modes(weights.indptr, weights.indices, weights.data, sets.table, rows.start, rows.stop, mode)

        over_slices(find, sets.n_instances)
        return sets.table[mode]

    def _risk_marginals(self, p: FloatArray, h: LabelArray) -> FloatArray:
        return np.asarray(1 - np.where(h, p, 1 - p).prod(axis=1))
