"""Partial answers: a label that is not worth deciding is left open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comitia._arrays import lies_in
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray, check_labels
from comitia._threads import over_slices, rows_at_once
from comitia.losses import _spans
from comitia.losses._base import LARGEST_COST, Loss, expected
from comitia.losses._fmeasure import FLoss, _as_small_ratio
from comitia.losses._hamming import Hamming
from comitia.losses._jaccard import JaccardLoss
from comitia.losses._overlap import OverlapLoss
from comitia.losses._registry import LossLike, get_loss
from comitia.losses._subset import SubsetZeroOne
from comitia.relevance import LabelSets, NonEmptyMarginals, Relevance, Shared
from comitia.relevance._marginals import some_label

Penalty = Literal["linear", "concave"]


@dataclass(frozen=True)
class Abstaining:
    """A loss of partial answers: the loss of what is decided, and a price for what is not.

    With D the labels that are decided and a = K − |D| the number of those that are not, the loss is
    ℓ(y_D, h_D) + g(a), g(a) = c · a / K (linear) or c · 2a / (K + a) (concave): c is the price of deciding nothing.
    Undecided labels are −1.

    ============== ========================================================= ================================
    loss           best answer                                               cost, exactness
    ============== ========================================================= ================================
    Hamming        leave what is more uncertain than the price               O(K log K), exact for any belief
    subset 0/1     leave the most uncertain, best number of them             O(K log K), exact from marginals
    F-measure      top l are relevant, bottom r are not, the rest is left    O(K³), exact from marginals
    Jaccard index  the same                                                  O(K²), exact from marginals
    ============== ========================================================= ================================

    Marginals are read as independent labels, given that one of them is relevant where the belief says so
    (:class:`comitia.relevance.NonEmptyMarginals`).  From label sets, losses other than Hamming loss take the best of
    the same kind of answer in the order of the marginals, and never one that is worse than deciding everything.

    Parameters
    ----------
    loss : Loss or str
        Hamming loss (with costs), subset 0/1 loss, the F-measure or the Jaccard index.
    cost : float
        The price of deciding nothing, in units of the loss.
    penalty : {"linear", "concave"}
        How the price grows with the number of labels that are left.

    References
    ----------
    Nguyen and Hüllermeier (2020), Reliable multilabel classification: prediction with partial abstention, AAAI;
    Nguyen and Hüllermeier (2021), Multilabel classification with partial abstention: Bayes-optimal prediction under
    label independence, JAIR 72.

    Examples
    --------
    >>> from comitia.losses import Abstaining
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.95, 0.6, 0.3, 0.02]])
    >>> Abstaining("hamming", cost=0.25).minimise(belief)
    array([[ 1, -1, -1,  0]], dtype=int8)
    >>> Abstaining("f1", cost=0.5).minimise(belief)
    array([[1, 1, 0, 0]], dtype=int8)
    """

    loss: Loss
    cost: float
    penalty: Penalty = "linear"

    if TYPE_CHECKING:  # the field is what becomes of a name

        def __init__(self, loss: LossLike, cost: float, penalty: Penalty = "linear") -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", get_loss(self.loss))
        if not isinstance(self.loss, Hamming | SubsetZeroOne | OverlapLoss):
            raise ComitiaError(
                "labels can be left open for Hamming loss, subset 0/1 loss, the F-measure and the Jaccard index;"
                f" got {self.loss!r}."
            )
        _check_price(self.cost, self.penalty)

    def value(self, truth: ArrayLike, partial: ArrayLike) -> FloatArray:
        """Return the loss of each partial answer (1, 0, and −1 where undecided), of shape (n,)."""
        y, answer = check_labels(truth, "truth"), check_partial(partial)
        if y.shape != answer.shape:
            raise ComitiaError(f"truth and partial must have one shape; got {y.shape} and {answer.shape}.")
        return self.decided_loss(y, answer) + self._price(answer)

    def decided_loss(self, truth: ArrayLike, partial: ArrayLike) -> FloatArray:
        """Return the loss of what is decided alone, ℓ(y_D, h_D), of shape (n,)."""
        y, answer = check_labels(truth, "truth"), check_partial(partial)
        return self.loss._value(np.where(answer < 0, np.int8(0), y), (answer == 1).view(np.int8))

    def risk(self, relevance: Relevance, partial: ArrayLike) -> FloatArray:
        """Return the expected loss of each partial answer under the belief, of shape (n,)."""
        answer = check_partial(partial)
        if answer.shape != (relevance.n_instances, relevance.n_labels):
            raise ComitiaError(
                f"partial must have the relevance's shape {(relevance.n_instances, relevance.n_labels)};"
                f" got {answer.shape}."
            )
        if isinstance(relevance, Shared):
            return self.risk(relevance.spelled_out(), answer)
        price = self._price(answer)
        if isinstance(relevance, NonEmptyMarginals) and not isinstance(self.loss, Hamming):
            return self._risk_nonempty(relevance, answer) + price
        if not isinstance(relevance, LabelSets):
            p = np.where(answer < 0, 0.0, relevance.marginals())
            return self.loss._risk_marginals(p, (answer == 1).view(np.int8)) + price
        return expected(self.decided_loss, relevance, answer) + price

    def minimise(self, relevance: Relevance) -> LabelArray:
        """Return the partial answer of the smallest expected loss, 1, 0, or −1 where undecided, of shape (n, K)."""
        if isinstance(relevance, Shared):
            return self.minimise(relevance.of)[relevance.index]
        if isinstance(relevance, LabelSets) and not isinstance(self.loss, Hamming):
            return self._from_labelsets(relevance)
        if isinstance(relevance, NonEmptyMarginals) and not isinstance(self.loss, Hamming):
            p, some = relevance.q, True
        else:
            p, some = relevance.marginals(), False
        answer = np.empty(p.shape, np.int8)

        def decide(rows: slice) -> None:
            answer[rows] = self._from_independent(p[rows], some)

        over_slices(decide, len(p), at_least=32, at_most=rows_at_once(8 * p.shape[1]))
        return answer

    def _risk_nonempty(self, belief: NonEmptyMarginals, answer: LabelArray) -> FloatArray:
        """Return the expected loss of what is decided, labels independent given that one of them is relevant."""
        asserted = (answer == 1).view(np.int8)
        decided = np.where(answer < 0, 0.0, belief.q)
        if isinstance(self.loss, OverlapLoss):
            right, nothing = self.loss.given_some()._expected(decided, asserted), self.loss.zero_division
        else:
            right, nothing = np.where(asserted, decided, 1 - decided).prod(axis=1), 1.0
        # Where nothing is asserted, one of the labels that are left must be relevant and none of the others.
        elsewhere = nothing * (1 - decided).prod(axis=1) * some_label(belief.q - decided)
        return np.asarray(1 - np.where(asserted.any(axis=1), right, elsewhere) / belief.some())

    def _from_independent(self, p: FloatArray, some: bool) -> LabelArray:
        """Return the best answers for independent labels, given that one of them is relevant if ``some``."""
        if isinstance(self.loss, Hamming):
            return self._leave_uncertain(p, self.loss)
        if isinstance(self.loss, SubsetZeroOne):
            return self._leave_unsure_of_some(p) if some else self._leave_unsure(p)
        order = np.argsort(-p, axis=1, kind="stable")
        falling = np.take_along_axis(p, order, axis=1)
        ones, zeros = np.zeros(len(p), np.int64), np.zeros(len(p), np.int64)
        _spans.best_spans(falling, some, *self._setting(), self._penalties(p.shape[1]), ones, zeros)
        return _spanned(order, ones, zeros)

    def _leave_unsure(self, p: FloatArray) -> LabelArray:
        right = np.maximum(p, 1 - p)
        order = np.argsort(-right, axis=1, kind="stable")
        wrong = 1 - np.cumprod(np.take_along_axis(right, order, axis=1), axis=1)
        return self._keep((p > 0.5).view(np.int8), order, wrong)[0]

    def _leave_unsure_of_some(self, q: FloatArray) -> LabelArray:
        """Return the better of the best answer that asserts the most probable label and the best that only denies.

        An answer that asserts others and not the most probable label is no better than with one of them exchanged.
        """
        some, likeliest = some_label(q)[:, None], q.argmax(axis=1)[:, None]
        labeling, doubt = (q > 0.5).view(np.int8), np.minimum(q, 1 - q)
        np.put_along_axis(labeling, likeliest, np.int8(1), axis=1)
        np.put_along_axis(doubt, likeliest, -1.0, axis=1)
        order = np.argsort(doubt, axis=1, kind="stable")
        right = np.take_along_axis(np.where(labeling, q, 1 - q), order, axis=1)
        asserting, risk = self._keep(labeling, order, 1 - np.cumprod(right, axis=1) / some)
        rising = np.argsort(q, axis=1, kind="stable")
        with np.errstate(divide="ignore"):
            absent = np.log1p(-np.take_along_axis(q, rising, axis=1))
        # All that is denied is right where none of it is relevant and some of the others is.
        left = np.cumsum(np.pad(absent[:, 1:], ((0, 0), (0, 1)))[:, ::-1], axis=1)[:, ::-1]
        wrong = 1 + np.exp(np.cumsum(absent, axis=1)) * np.expm1(left) / some
        denying, other = self._keep(np.zeros_like(labeling), rising, wrong)
        return np.where((other < risk)[:, None], denying, asserting)

    def _leave_uncertain(self, p: FloatArray, loss: Hamming) -> LabelArray:
        fp, fn = loss._costs(p.shape[1])
        labeling = loss._minimise_marginals(p)
        error = np.where(labeling, (1 - p) * fp, p * fn)
        if self.penalty == "linear":
            return np.where(error > self.cost, np.int8(-1), labeling)
        order = np.argsort(error, axis=1, kind="stable")
        wrong = np.cumsum(np.take_along_axis(error, order, axis=1), axis=1) / p.shape[1]
        return self._keep(labeling, order, wrong)[0]

    def _keep(self, labeling: LabelArray, order: IntArray, wrong: FloatArray) -> tuple[LabelArray, FloatArray]:
        """Leave all labels but the first d of each order, with the best d; return the answers and what they cost.

        ``wrong[:, d − 1]`` is the expected loss of deciding the first d.
        """
        n, K = labeling.shape
        risks = np.concatenate([np.zeros((n, 1)), wrong], axis=1) + self._penalties(K)[::-1]
        # Of equal risks the answer that decides more.
        decided = K - np.argmin(risks[:, ::-1], axis=1)
        return _kept(labeling, order, decided), risks.min(axis=1)

    def _from_labelsets(self, sets: LabelSets) -> LabelArray:
        distinct, place = sets.distinct()
        weights = distinct.weights
        totals = np.array(np.broadcast_to(distinct.total, distinct.n_instances), np.float64)
        joint = (weights.indptr, weights.indices, weights.data, totals, distinct.table)
        n, K = distinct.n_instances, distinct.n_labels
        plain, p, penalties = self.loss.minimise(distinct), distinct.marginals(), self._penalties(K)
        if isinstance(self.loss, SubsetZeroOne):
            answers = [self._agreeing(joint, v, p) for v in (plain, (p > 0.5).view(np.int8))]
        else:
            order = np.argsort(-p, axis=1, kind="stable")
            overlap, beta2, _, _, zero_division = self._setting()
            ones, zeros = np.zeros(n, np.int64), np.zeros(n, np.int64)

            def decide(rows: slice) -> None:
                _spans.best_spans_of_sets(
                    *joint, order, overlap, beta2, zero_division, penalties, rows.start, rows.stop, ones, zeros
                )

            over_slices(decide, n, at_least=32)
            answers = [_spanned(order, ones, zeros), plain]
        first, second = (self.risk(distinct, answer) for answer in answers)
        return np.where((second < first)[:, None], answers[1], answers[0])[place]

    def _agreeing(self, joint: tuple[NDArray[np.generic], ...], labeling: LabelArray, p: FloatArray) -> LabelArray:
        order = np.argsort(np.where(labeling, 1 - p, p), axis=1, kind="stable")
        kept, risk = np.zeros(len(p), np.int64), np.empty(len(p))
        penalties = self._penalties(p.shape[1])

        def decide(rows: slice) -> None:
            _spans.best_agreements(*joint, labeling, order, penalties, rows.start, rows.stop, kept, risk)

        over_slices(decide, len(p))
        return _kept(labeling, order, kept)

    def _setting(self) -> tuple[bool, float, int, int, float]:
        if isinstance(self.loss, FLoss):
            return True, self.loss.beta_squared, *_as_small_ratio(self.loss.beta), float(self.loss.zero_division)
        assert isinstance(self.loss, JaccardLoss)
        return False, 1.0, 1, 1, float(self.loss.zero_division)

    def _price(self, answer: LabelArray) -> FloatArray:
        return np.asarray(self._penalties(answer.shape[1])[(answer < 0).sum(axis=1)], np.float64)

    def _penalties(self, n_labels: int) -> FloatArray:
        return _penalties(self.cost, self.penalty, n_labels)


def rank_partially(belief: Relevance, cost: float, penalty: Penalty = "linear") -> IntArray:
    """Return each label's rank, 0 first, or −1 for labels that are left out of the order, of shape (n, K).

    The loss is the number of pairs of a relevant label below an irrelevant one among those that are ranked, and
    c · a (linear) or c · 2aK / (K + a) (concave) for the a labels that are left out.  With independent labels those in
    the middle are left out, and taking labels greedily from both ends is exact (Nguyen and Hüllermeier 2021):
    O(K log K).  Label sets are read by their marginals.

    Parameters
    ----------
    belief : Relevance
        What is believed of each instance.
    cost : float
        The price of a label that is left out, in pairs.
    penalty : {"linear", "concave"}
        How the price grows with the number of labels that are left out.

    Examples
    --------
    >>> from comitia.losses import rank_partially
    >>> from comitia.relevance import Marginals
    >>> rank_partially(Marginals([[0.1, 0.5, 0.9, 0.6]]), cost=0.2)
    array([[ 2,  1,  0, -1]])
    """
    _check_price(cost, penalty)
    p = belief.marginals()
    K = p.shape[1]
    place, penalties, result = np.arange(K), _penalties(cost * K, penalty, K), np.empty(p.shape, np.intp)

    def decide(rows: slice) -> None:
        order = np.argsort(-p[rows], axis=1, kind="stable")
        ones, zeros = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
        _spans.best_orders(np.take_along_axis(p[rows], order, axis=1), penalties, ones, zeros)
        late = place >= (K - zeros)[:, None]
        ranks = np.where(place < ones[:, None], place, np.where(late, place - (K - ones - zeros)[:, None], -1))
        np.put_along_axis(result[rows], order, ranks, axis=1)

    over_slices(decide, len(p), at_most=rows_at_once(8 * K))
    return result


def check_partial(partial: ArrayLike) -> LabelArray:
    """Return an array of 1, 0 and −1 of shape (n, K) as int8, or say what is wrong with it."""
    array = np.asarray(partial)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ComitiaError(f"partial must have shape (n, K) with K ≥ 1; got shape {array.shape}.")
    if array.dtype.kind not in "fiub" or not np.isin(array, (-1, 0, 1)).all():
        raise ComitiaError("partial must hold 1, 0 and -1 only.")
    return np.ascontiguousarray(array, dtype=np.int8)


def _check_price(cost: float, penalty: str) -> None:
    if not lies_in(cost, 0, LARGEST_COST):
        raise ComitiaError(f"cost must be from 0 to {LARGEST_COST:g}; got {cost!r}.")
    if penalty not in ("linear", "concave"):
        raise ComitiaError(f"penalty must be 'linear' or 'concave'; got {penalty!r}.")


def _penalties(cost: float, penalty: str, n_labels: int) -> FloatArray:
    """Return what it costs to leave 0, 1, …, K labels."""
    left = np.arange(n_labels + 1.0)
    return cost * (left / n_labels if penalty == "linear" else 2 * left / (n_labels + left))


def _kept(labeling: LabelArray, order: IntArray, decided: NDArray[np.int64]) -> LabelArray:
    answer = np.empty_like(labeling)
    keep = np.arange(labeling.shape[1]) < decided[:, None]
    np.put_along_axis(answer, order, np.where(keep, np.take_along_axis(labeling, order, axis=1), np.int8(-1)), axis=1)
    return answer


def _spanned(order: IntArray, ones: NDArray[np.int64], zeros: NDArray[np.int64]) -> LabelArray:
    n, K = order.shape
    place = np.arange(K)
    values = np.where(place < ones[:, None], 1, np.where(place >= (K - zeros)[:, None], 0, -1))
    answer = np.empty((n, K), np.int8)
    np.put_along_axis(answer, order, values.astype(np.int8), axis=1)
    return answer
