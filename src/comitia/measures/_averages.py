"""Macro- and micro-averaged measures that have names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray
from comitia._titles import Terms
from comitia.losses import FLoss, JaccardLoss
from comitia.losses._base import check_beta, check_zero_division
from comitia.losses._counts import CountLoss
from comitia.measures._base import Measure
from comitia.measures._cuts import best_cuts
from comitia.relevance import Marginals

# Up to how many cells a batch is decided exactly where that costs more than a sort.
_EXACT_CELLS = 1 << 14
_EXACT_INSTANCES = 200


@dataclass(frozen=True)
class _F(Measure):
    beta: float = 1.0
    zero_division: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.beta)
        check_zero_division(self.zero_division)

    def _of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:  # noqa: ARG002
        gain = (1 + self.beta**2) * tp
        whole = gain + self.beta**2 * fn + fp
        return np.where(whole > 0, gain / np.where(whole > 0, whole, 1.0), self.zero_division)

    def _cut_at(self, best: FloatArray) -> FloatArray:
        return np.asarray(best / (1 + self.beta**2))


@dataclass(frozen=True)
class MacroF(_F):
    """The mean over labels of F_β = (1 + β²) TP / ((1 + β²) TP + β² FN + FP), as scikit-learn's ``average="macro"``.

    **On new instances** label k is cut at τ_k = F*_k / (1 + β²), F*_k its best value: half of it for β = 1 (Lipton,
    Elkan and Narayanaswamy 2014, Optimal thresholding of classifiers to maximize F1 measure).  **For a given batch**
    the columns part, and each is the instance-wise problem with instances in the place of labels, which has an exact
    solution: near O(n √n) a label, O(n²) at worst.

    Parameters
    ----------
    beta : float
        How much recall counts in comparison with precision.
    zero_division : float
        The value of a label that is neither true nor predicted for any instance.
    estimate : {"calibrated", "expected", "smoothed", "empirical"}
        See :class:`Measure`.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.measures import MacroF
    >>> p, truth = [[0.9, 0.2], [0.6, 0.1], [0.2, 0.4]], [[1, 0], [0, 0], [0, 1]]
    >>> MacroF().value(truth, [[1, 0], [1, 0], [0, 1]])
    0.8333333333333333
    >>> loss = MacroF().resolve(p, truth)
    >>> np.round(loss.false_positive, 3)
    array([0.405, 0.235])
    >>> MacroF().maximise(p)
    array([[1, 1],
           [1, 0],
           [0, 1]], dtype=int8)
    """

    title: ClassVar[str] = "Macro-F1"
    terms: ClassVar[Terms] = Terms("a label's F1-measure is ", " on average over the labels")

    def maximise(self, p: ArrayLike) -> LabelArray:
        loss = FLoss(beta=self.beta, zero_division=self.zero_division)
        return np.ascontiguousarray(loss.minimise(_columns(p)).T)


@dataclass(frozen=True)
class MicroF(_F):
    """F_β of the counts of all labels together, as scikit-learn's ``average="micro"``.

    One cut serves all labels, τ = F* / (1 + β²).  A batch of up to 16384 cells is decided exactly, labels read as
    independent; a larger one by the ratio of expectations, which is off by O(1 / nK): all cells sorted once.

    Parameters
    ----------
    beta, zero_division, estimate
        As for :class:`MacroF`.

    Examples
    --------
    >>> from comitia.measures import MicroF
    >>> MicroF().value([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.8
    """

    title: ClassVar[str] = "Micro-F1"
    terms: ClassVar[Terms] = Terms("over all labels and {things} together, the F1-measure is ")

    micro = True

    def maximise(self, p: ArrayLike) -> LabelArray:
        belief = Marginals(np.asarray(p)).p
        if belief.size <= _EXACT_CELLS:
            loss = FLoss(beta=self.beta, zero_division=self.zero_division)
            return loss.minimise(Marginals(belief.reshape(1, -1))).reshape(belief.shape)
        flat = belief.reshape(-1, 1)
        _, best = best_cuts(flat, flat, np.ones(len(flat)), self._of_counts)
        return (belief > self._cut_at(best)).view(np.int8)


@dataclass(frozen=True)
class MacroJaccard(Measure):
    """The mean over labels of J = TP / (TP + FP + FN), as scikit-learn's ``jaccard_score(average="macro")``.

    J grows with F1, so the cuts on new instances are those of macro-F1, τ_k = J*_k / (1 + J*_k); in a given batch the
    expectations differ, and the instance-wise solution is exact with instances in the place of labels, O(n²) a label.

    Parameters
    ----------
    zero_division : float
        The value of a label that is neither true nor predicted for any instance.
    estimate : {"calibrated", "expected", "smoothed", "empirical"}
        See :class:`Measure`.

    Examples
    --------
    >>> from comitia.measures import MacroJaccard
    >>> MacroJaccard().value([[1, 0], [0, 0], [0, 1]], [[1, 0], [1, 0], [0, 1]])
    0.75
    """

    title: ClassVar[str] = "Macro-Jaccard"
    terms: ClassVar[Terms] = Terms(
        "of the {things} that have a label or are given it, ", " are both, on average over the labels"
    )

    zero_division: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_zero_division(self.zero_division)

    def maximise(self, p: ArrayLike) -> LabelArray:
        return np.ascontiguousarray(JaccardLoss(zero_division=self.zero_division).minimise(_columns(p)).T)

    def _of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:  # noqa: ARG002
        union = tp + fp + fn
        return np.where(union > 0, tp / np.where(union > 0, union, 1.0), self.zero_division)

    def _cut_at(self, best: FloatArray) -> FloatArray:
        return np.asarray(best / (1 + best))


@dataclass(frozen=True)
class BalancedAccuracy(Measure):
    """The mean over labels of (TP / (TP + FN) + TN / (TN + FP)) / 2.

    Where a label has no relevant or no irrelevant instance the other rate stands alone, as in scikit-learn's
    ``balanced_accuracy_score`` of each label.  On new instances a label is cut at its prevalence: nothing is tuned.
    A given batch of up to 200 instances is decided exactly, O(n²) a label; a larger one is cut at its mean belief.

    Parameters
    ----------
    estimate : {"calibrated", "expected", "smoothed", "empirical"}
        See :class:`Measure`.

    Examples
    --------
    >>> from comitia.measures import BalancedAccuracy
    >>> BalancedAccuracy().value([[1, 0], [0, 0], [0, 1]], [[1, 0], [1, 0], [0, 1]])
    0.875
    """

    title: ClassVar[str] = "Balanced accuracy"
    terms: ClassVar[Terms] = Terms("of the {things} with a label and of those without it, ", " are right, on average")

    def maximise(self, p: ArrayLike) -> LabelArray:
        belief = Marginals(np.asarray(p)).p
        if 0 < len(belief) <= _EXACT_INSTANCES:
            return np.ascontiguousarray(CountLoss(_balanced_error).minimise(_columns(belief)).T)
        return (belief > (belief.mean(axis=0) if len(belief) else 0.5)).view(np.int8)

    def _of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        return 1 - _balanced_error(tp, fp, fn, tn)


def _balanced_error(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    relevant, irrelevant = tp + fn, tn + fp
    missed = fn / np.where(relevant > 0, relevant, 1.0)
    added = fp / np.where(irrelevant > 0, irrelevant, 1.0)
    return np.asarray((missed + added) / np.where((relevant > 0) & (irrelevant > 0), 2, 1))


def _columns(p: ArrayLike) -> Marginals:
    """The labels in the place of instances; a batch without instances has no columns to decide."""
    belief = Marginals(np.asarray(p)).p
    if not len(belief):
        raise ComitiaError("p has no instances: there is nothing to decide.")
    return Marginals(belief.T)
