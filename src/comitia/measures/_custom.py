"""A user's own measure of a set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray
from comitia.losses._counts import CountLoss, returned_of
from comitia.measures._base import Measure
from comitia.measures._cuts import best_cuts
from comitia.relevance import Marginals

_EXACT_CELLS = 100


@dataclass(frozen=True)
class CountMeasure(Measure):
    """Any function of confusion counts, of each label (macro) or of all labels together (micro); larger is better.

    The cuts are found by trying all of them.  A given batch of up to 100 instances (macro) or cells (micro) is decided
    exactly where the function does not fall when a miss becomes a hit; otherwise by the best cut with probabilities in
    the place of labels.

    Parameters
    ----------
    function : callable
        Takes arrays tp, fp, fn, tn of one shape and returns that many finite values, element by element.
    average : {"macro", "micro"}
        Whether the values of the labels are averaged or their counts added.
    estimate : {"calibrated", "expected", "smoothed", "empirical"}
        See :class:`Measure`.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.measures import CountMeasure
    >>> def g_mean(tp, fp, fn, tn):
    ...     return np.sqrt(tp / np.maximum(tp + fn, 1e-9) * tn / np.maximum(tn + fp, 1e-9))
    >>> CountMeasure(g_mean).value([[1], [0], [0]], [[1], [1], [0]])
    0.7071067811865476
    """

    function: Callable[..., Any]
    average: Literal["macro", "micro"] = "macro"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise ComitiaError(f"function must be a function of (tp, fp, fn, tn); got {self.function!r}.")
        if self.average not in ("macro", "micro"):
            raise ComitiaError(f"average must be 'macro' or 'micro'; got {self.average!r}.")

    def maximise(self, p: ArrayLike) -> LabelArray:
        belief = Marginals(np.asarray(p)).p
        columns = belief.reshape(-1, 1) if self.average == "micro" else belief
        if not len(columns):
            raise ComitiaError("p has no instances: there is nothing to decide.")
        if len(columns) <= _EXACT_CELLS:
            loss = CountLoss(self._loss)
            if loss.rewards_hits(len(columns)):
                return np.ascontiguousarray(loss.minimise(Marginals(columns.T)).T).reshape(belief.shape)
        cuts, _ = best_cuts(columns, columns, np.ones(len(columns)), self._of_counts)
        return (belief > cuts).view(np.int8)

    def _pools_labels(self) -> bool:
        return self.average == "micro"

    def _loss(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        return -self._of_counts(tp, fp, fn, tn)

    def _of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        return returned_of(self.function, (tp, fp, fn, tn), "values")
