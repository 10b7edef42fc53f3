"""Budgets: the k labels to show, and the order to show them in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from comitia._arrays import as_floats, is_count
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray, check_labels
from comitia._threads import over_slices, rows_at_once
from comitia.losses import _independent
from comitia.losses._base import Loss, check_zero_division
from comitia.losses._counts import LossOfCounts, ratio
from comitia.relevance import LabelSets, Marginals, NonEmptyMarginals, Relevance, Shared

Weight = Literal["precision", "recall", "ndcg"]
Order = Literal["precision", "dcg", "recall", "ndcg", "rank", "label-ranking"]


@dataclass(frozen=True)
class TopK(LossOfCounts):
    """One minus a measure of k labels that are shown: precision@k, recall@k or nDCG@k.

    A gain that is linear in the labels given a weight, Σ_{j ∈ h} w(|y|) y_j, is largest for the k largest
    Δ_j = E[w(|y|) y_j] (Menon, Rawat, Reddi and Kumar 2019, Multilabel reductions: what is my loss optimising?
    NeurIPS): w = 1/k for precision, 1/|y| for recall, 1/IDCG_k(|y|) for nDCG.  Independent labels have the order of
    their probabilities for all of them.  O(K log K) after Δ.

    Of more than k labels, k are taken at random: the value is the mean.  A labeling has no order either: its nDCG is
    the mean over all orders, and :func:`rank_by` gives the best one.

    Parameters
    ----------
    k : int
        How many labels are shown.
    weight : {"precision", "recall", "ndcg"}
        What is measured.
    exactly : bool
        Whether k labels are shown even where some of them cannot be relevant.
    zero_division : float
        The recall or nDCG of an instance without labels.

    Examples
    --------
    Whoever has the last label has no other: for recall it comes first.

    >>> from comitia.losses import TopK
    >>> from comitia.relevance import LabelSets
    >>> belief = LabelSets([[1, 1, 0], [0, 0, 1]], [[0.6, 0.4]])
    >>> TopK(1).minimise(belief)
    array([[1, 0, 0]], dtype=int8)
    >>> TopK(1, weight="recall").minimise(belief)
    array([[0, 0, 1]], dtype=int8)
    """

    k: int
    weight: Weight = "precision"
    exactly: bool = True
    zero_division: float = 1.0

    def __post_init__(self) -> None:
        _check_k(self.k)
        if self.weight not in ("precision", "recall", "ndcg"):
            raise ComitiaError(f"weight must be 'precision', 'recall' or 'ndcg'; got {self.weight!r}.")
        check_zero_division(self.zero_division)

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:  # noqa: ARG002
        relevant = tp + fn
        shown = tp * self.k / np.maximum(tp + fp, self.k)
        if self.weight == "precision":
            return 1 - shown / self.k
        if self.weight == "recall":
            return 1 - ratio(shown, relevant, self.zero_division)
        mean_discount = _ideal(self.k)[self.k] / self.k
        ideal = _ideal(self.k)[np.minimum(relevant, self.k).astype(np.int64)]
        return 1 - ratio(shown * mean_discount, ideal, self.zero_division)

    def _minimise_marginals(self, p: FloatArray) -> LabelArray:
        return _largest(p, self.k, self.exactly)

    def _minimise_nonempty(self, belief: NonEmptyMarginals) -> LabelArray:
        return self._minimise_marginals(belief.q)

    def _minimise_labelsets(self, sets: LabelSets) -> LabelArray:
        return _largest(weighted_marginals(sets, self.weight, self.k), self.k, self.exactly)


@dataclass(frozen=True)
class PropensityScored(Loss):
    """One minus propensity-scored precision@k, ℓ = 1 − (1/k) Σ_{j ∈ h} y_j / π_j.

    Labels that are often missing from the truth where they belong count more: π_j is the chance that label j is named
    where it is relevant.  Minimised by the k largest p_j / π_j, for any joint distribution.  Of more than k labels, k
    are taken at random.  The value may be below zero.

    Parameters
    ----------
    k : int
        How many labels are shown.
    propensities : tuple of K floats
        In (0, 1]; :func:`propensities` estimates them from how frequent labels are.

    References
    ----------
    Jain, Prabhu and Varma (2016), Extreme multi-label loss functions for recommendation, tagging, ranking & other
    missing label applications, KDD.

    Examples
    --------
    >>> from comitia.losses import PropensityScored
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.9, 0.6, 0.3, 0.1]])
    >>> PropensityScored(1, (1.0, 0.5, 0.2, 0.1)).minimise(belief)
    array([[0, 0, 1, 0]], dtype=int8)
    """

    k: int
    propensities: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_k(self.k)
        values = as_floats("propensities", self.propensities)
        if values.ndim != 1 or not ((values > 0) & (values <= 1)).all():
            raise ComitiaError(f"propensities must hold a number in (0, 1] for each label; got {self.propensities!r}.")
        object.__setattr__(self, "propensities", tuple(values.tolist()))

    def _value(self, y: LabelArray, h: LabelArray) -> FloatArray:
        return self._risk_marginals(y.astype(np.float64), h)

    def _minimise_marginals(self, p: FloatArray) -> LabelArray:
        return _largest(p, self.k, exactly=True, gains=self._gains)

    def _minimise_labelsets(self, sets: LabelSets) -> LabelArray:
        return self._minimise_marginals(sets.marginals())

    def _risk_marginals(self, p: FloatArray, h: LabelArray) -> FloatArray:
        shown = np.maximum(h.sum(axis=1, dtype=np.int64), self.k)
        return np.asarray(1 - np.einsum("ik,ik->i", self._gains(p), h) / shown)

    def _risk_labelsets(self, sets: LabelSets, h: LabelArray) -> FloatArray:
        return self._risk_marginals(sets.marginals(), h)

    def _gains(self, p: FloatArray) -> FloatArray:
        if len(self.propensities) != p.shape[1]:
            raise ComitiaError(f"propensities has {len(self.propensities)} numbers for {p.shape[1]} labels.")
        return np.asarray(p / np.array(self.propensities))


def propensities(truth: ArrayLike, a: float = 0.55, b: float = 1.5) -> tuple[float, ...]:
    """Return the chance that each label is named where it is relevant, from how frequent labels are.

    π_j = 1 / (1 + C (N_j + b)^−a), C = (ln n − 1) (b + 1)^a, N_j of n instances having label j (Jain, Prabhu and Varma
    2016); a and b depend on the domain.

    Parameters
    ----------
    truth : array-like of 0/1, shape (n, K)
        The labels of at least three instances.
    a, b : float
        How propensities grow with the frequency of a label.

    Examples
    --------
    >>> from comitia.losses import propensities
    >>> [round(pi, 2) for pi in propensities([[1, 0]] * 50 + [[1, 1]] * 50)]
    [0.68, 0.59]
    """
    y = check_labels(truth, "truth")
    if len(y) < 3:
        raise ComitiaError(f"propensities are estimated from three instances or more; got {len(y)}.")
    scale = (np.log(len(y)) - 1) * (b + 1) ** a
    values: list[float] = (1 / (1 + scale * (y.sum(axis=0, dtype=np.float64) + b) ** -a)).tolist()
    return tuple(values)


def rank_by(belief: Relevance, measure: Order = "rank", k: int | None = None) -> IntArray:
    """Return each instance's labels in the order that is best for a measure of orders, of shape (n, K).

    ============= ======================================================== ==================
    measure       what                                                     labels by
    ============= ======================================================== ==================
    rank          pairs of a relevant label below an irrelevant one        E[y_j]
    label-ranking the same as a share of an instance's pairs               E[y_j / (|y| (K − |y|))]
    precision     precision@k, discounted or not (``"dcg"``)               E[y_j]
    recall        recall@k                                                 E[y_j / |y|]
    ndcg          nDCG@k                                                   E[y_j / IDCG_k(|y|)]
    ============= ======================================================== ==================

    All are sorted by E[w(|y|) y_j], the first of equals first; with independent labels that is the order of the
    probabilities.  O(K log K) after the expectations.

    Parameters
    ----------
    belief : Relevance
        What is believed of each instance.
    measure : str
        What the order is for.
    k : int, optional
        How many labels nDCG looks at; all of them by default.

    References
    ----------
    Dembczyński, Kotłowski and Hüllermeier (2012), Consistent multilabel ranking through univariate losses, ICML.

    Examples
    --------
    >>> from comitia.losses import rank_by
    >>> from comitia.relevance import LabelSets
    >>> belief = LabelSets([[1, 1, 0, 0], [0, 0, 1, 0]], [[0.55, 0.45]])
    >>> rank_by(belief), rank_by(belief, "recall")
    (array([[0, 1, 2, 3]]), array([[2, 0, 1, 3]]))
    """
    if k is not None:
        _check_k(k)
    if not isinstance(measure, str) or measure not in ("precision", "dcg", "recall", "ndcg", "rank", "label-ranking"):
        raise ComitiaError(
            f"measure must be 'precision', 'dcg', 'recall', 'ndcg', 'rank' or 'label-ranking'; got {measure!r}."
        )
    if isinstance(belief, Shared):
        return rank_by(belief.of, measure, k)[belief.index]
    delta = belief.marginals() if isinstance(belief, Marginals) else weighted_marginals(belief, measure, k)
    order = np.empty(delta.shape, np.intp)

    def sort(rows: slice) -> None:
        order[rows] = np.argsort(-delta[rows], axis=1, kind="stable")

    over_slices(sort, len(delta), at_most=rows_at_once(belief.n_labels))
    return order


def weighted_marginals(belief: Relevance, measure: Order, k: int | None = None) -> FloatArray:
    """Return E[w(|y|) y_j] for each label, of shape (n, K): what to sort by where labels depend on each other."""
    if not isinstance(belief, LabelSets) or measure in ("precision", "dcg", "rank"):
        return belief.marginals()
    K = belief.n_labels
    size = belief.table.sum(axis=1, dtype=np.int64)
    if measure == "recall":
        weight = 1 / np.maximum(size, 1)
    elif measure == "ndcg":
        depth = min(k or K, K)
        weight = 1 / np.maximum(_ideal(depth)[np.minimum(size, depth)], 1.0)
    else:
        weight = 1 / np.maximum(size * (K - size), 1) * (size < K)
    scaled = LabelSets.unchecked(
        table=belief.table,
        weights=belief.weights.multiply(weight[None, :]).tocsr(),
        total=belief.total,
    )
    marginals: FloatArray = scaled.marginals()
    return marginals


def _ideal(k: int) -> FloatArray:
    """Return the largest DCG@k of 0, 1, …, k relevant labels."""
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])


def _largest(
    delta: FloatArray, k: int, exactly: bool, gains: Callable[[FloatArray], FloatArray] | None = None
) -> LabelArray:
    """Set the k largest of each row, or of what ``gains`` makes of it, the first of equals."""
    K = delta.shape[1]
    labeling = np.zeros(delta.shape, np.int8)

    def take(rows: slice) -> None:
        part = delta[rows] if gains is None else gains(delta[rows])
        sizes = np.full(len(part), min(k, K))
        if not exactly:
            sizes = np.minimum(sizes, (part > 0).sum(axis=1))
        _independent.take_top(part, np.sort(part, axis=1), sizes, labeling[rows])

    over_slices(take, len(delta), at_most=rows_at_once(K))
    return labeling


def _check_k(k: int) -> None:
    if not is_count(k, 1):
        raise ComitiaError(f"k must be a positive number of labels; got {k!r}.")
