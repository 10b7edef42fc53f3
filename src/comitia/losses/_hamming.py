"""Hamming loss: the share of labels that are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from comitia._arrays import as_floats
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray
from comitia._titles import Terms
from comitia.losses._base import LARGEST_COST, Loss
from comitia.relevance import LabelSets


@dataclass(frozen=True)
class Hamming(Loss):
    """Share of labels that are wrong, ℓ(y, h) = (1/K) Σ_k c_k ⟦y_k ≠ h_k⟧, with costs c_k = 1 unless said otherwise.

    It decomposes over labels, so the marginals suffice: label k is predicted when the expected cost of leaving it out
    exceeds that of predicting it, p_k · FN_k > (1 − p_k) · FP_k, that is p_k > FP_k / (FP_k + FN_k).

    Parameters
    ----------
    false_positive, false_negative : float or sequence of K floats
        Cost of predicting an irrelevant label, and of missing a relevant one.
    ties : {"irrelevant", "relevant"}
        What becomes of a label whose probability is exactly at the threshold.

    References
    ----------
    Dembczyński, Waegeman, Cheng and Hüllermeier (2012), On label dependence and loss minimization in multi-label
    classification, Machine Learning 88.

    Examples
    --------
    >>> from comitia.losses import Hamming
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.3, 0.5, 0.8]])
    >>> Hamming().minimise(belief)
    array([[0, 0, 1]], dtype=int8)
    >>> Hamming(false_negative=3).minimise(belief)
    array([[1, 1, 1]], dtype=int8)
    """

    title: ClassVar[str] = "Hamming loss"
    terms: ClassVar[Terms] = Terms(
        "of {base} yes-or-no answers, one for each label of {of_things}, ", " are wrong", counts=True
    )

    false_positive: float | tuple[float, ...] = 1.0
    false_negative: float | tuple[float, ...] = 1.0
    ties: Literal["irrelevant", "relevant"] = "irrelevant"

    def __post_init__(self) -> None:
        for name in ("false_positive", "false_negative"):
            cost = as_floats(name, getattr(self, name))
            if cost.ndim > 1 or not ((cost >= 0) & (cost <= LARGEST_COST)).all():
                raise ComitiaError(
                    f"{name} must be a cost from 0 to {LARGEST_COST:g}, or one for each label;"
                    f" got {getattr(self, name)!r}."
                )
            if cost.ndim == 1:
                object.__setattr__(self, name, tuple(cost.tolist()))
        if not (np.maximum(self.false_positive, self.false_negative) > 0).all():
            raise ComitiaError("a label for which both costs are zero has no threshold: give one of them a cost.")
        if self.ties not in ("irrelevant", "relevant"):
            raise ComitiaError(f"ties must be 'irrelevant' or 'relevant'; got {self.ties!r}.")

    @property
    def keeps_zeros(self) -> bool:
        alike = np.ndim(self.false_positive) == 0 and np.ndim(self.false_negative) == 0
        return alike and (self.ties == "irrelevant" or self.false_positive != 0)

    def _value_among(self, y: LabelArray, h: LabelArray, labels: IntArray, n_labels: int) -> FloatArray:
        if np.ndim(self.false_positive) or np.ndim(self.false_negative):
            return super()._value_among(y, h, labels, n_labels)
        return np.asarray(((h > y) * self.false_positive + (h < y) * self.false_negative).sum(axis=1) / n_labels)

    def _value(self, y: LabelArray, h: LabelArray) -> FloatArray:
        fp, fn = self._costs(y.shape[1])
        return np.asarray(((h > y) * fp + (h < y) * fn).mean(axis=1))

    def _minimise_marginals(self, p: FloatArray) -> LabelArray:
        fp, fn = self._costs(p.shape[1])
        threshold = fp / (fp + fn)
        relevant = p >= threshold if self.ties == "relevant" else p > threshold
        return relevant.view(np.int8)

    def _minimise_labelsets(self, sets: LabelSets) -> LabelArray:
        return self._minimise_marginals(sets.marginals())

    def _risk_marginals(self, p: FloatArray, h: LabelArray) -> FloatArray:
        fp, fn = self._costs(p.shape[1])
        return np.asarray(np.where(h, (1 - p) * fp, p * fn).mean(axis=1))

    def _costs(self, n_labels: int) -> tuple[FloatArray, FloatArray]:
        costs = np.asarray(self.false_positive, dtype=np.float64), np.asarray(self.false_negative, dtype=np.float64)
        for cost, name in zip(costs, ("false_positive", "false_negative"), strict=True):
            if cost.ndim and len(cost) != n_labels:
                raise ComitiaError(f"{name} has {len(cost)} costs for {n_labels} labels.")
        return costs
