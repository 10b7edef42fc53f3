"""The instance-wise Jaccard index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from comitia._arrays import is_count
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray
from comitia._titles import Terms
from comitia.losses import _independent, _joint
from comitia.losses._base import check_zero_division, overlap
from comitia.losses._overlap import LabelLists, OverlapLoss
from comitia.relevance import LabelSets


@dataclass(frozen=True)
class JaccardLoss(OverlapLoss):
    """One minus the Jaccard index, ℓ(y, h) = 1 − |y ∩ h| / |y ∪ h|.

    **From marginals**, read as independent, an optimal labeling takes the k most probable labels for some k: exchanging
    a label for a more probable one gains hits and loses misses.  Hits among the top k and misses L_k among the rest are
    independent, so E J = (Σ_{i ≤ k} p_i) · E[1 / (k + L_k)]; O(K²) at worst.  Exact.

    **From label sets** the problem is hard in general (Chierichetti, Kumar, Pandey and Vassilvitskii 2010, Finding the
    Jaccard median, SODA).  Where at most ``exact_labels`` labels occur for an instance all their subsets are tried,
    which is exact.  Otherwise the answer is the best of the labelings that occur and of the top-k sets of the
    marginals, improved by flipping one label at a time while that helps.

    Parameters
    ----------
    zero_division : float
        The Jaccard index where both labelings are empty.
    exact_labels : int
        Up to how many labels that occur for an instance all subsets are tried; the cost doubles with each.

    Examples
    --------
    >>> from comitia.losses import JaccardLoss
    >>> from comitia.relevance import Marginals
    >>> JaccardLoss().minimise(Marginals([[0.7, 0.45, 0.1]]))
    array([[1, 1, 0]], dtype=int8)
    """

    title: ClassVar[str] = "Jaccard index"
    measure: ClassVar[bool] = True
    terms: ClassVar[Terms] = Terms("of the labels that are predicted or right, ", " are both, on average")
    _labelsets_at_least = 16

    zero_division: float = 1.0
    exact_labels: int = 8

    def __post_init__(self) -> None:
        check_zero_division(self.zero_division)
        if not (is_count(self.exact_labels) and self.exact_labels <= 24):
            raise ComitiaError(f"exact_labels must lie in 0..24; got {self.exact_labels!r}.")

    def _value(self, y: LabelArray, h: LabelArray) -> FloatArray:
        common, true, predicted = overlap(y, h)
        union = true + predicted - common
        return 1 - np.where(union == 0, self.zero_division, common / np.maximum(union, 1))

    def _terms(self) -> tuple[float, float, float]:
        return 1.0, 0.0, 1.0

    def _best_sizes(self, ascending: FloatArray, sizes: Any) -> None:
        _independent.best_jaccard_sizes(ascending, float(self.zero_division), 0, len(ascending), sizes)

    def _best_labels(self, sets: LabelSets, lists: LabelLists, rows: slice, labeling: LabelArray) -> None:
        weights = sets.weights
        _joint.best_jaccard_labels(
            weights.indptr, weights.indices, weights.data, *lists, sets.n_labels,
            float(self.zero_division), self.exact_labels, rows.start, rows.stop, labeling,
        )  # fmt: skip
