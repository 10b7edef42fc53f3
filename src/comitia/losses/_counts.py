"""Losses of counts: how many labels are hit, added, missed and rightly left out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from comitia._arrays import lies_in
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray
from comitia._threads import over_slices, rows_at_once
from comitia.losses import _count_kernels, _independent, _within
from comitia.losses._base import Loss, check_zero_division, overlap
from comitia.losses._rules import Rules
from comitia.losses._search import best_found
from comitia.relevance import LabelSets, NonEmptyMarginals

# Beyond this many labels a table of all counts, O(K³), is too large.
_TABLED_LABELS = 200


@dataclass(frozen=True)
class LossOfCounts(Loss):
    """A loss ℓ(y, h) that depends on true and false positives and negatives alone; subclasses say how.

    **From marginals**, read as independent, the k most probable labels are best for some k whenever the loss does not
    grow when a miss becomes a hit (Natarajan, Koyejo, Ravikumar and Dhillon 2016): all k are tried, O(K³), and O(K²)
    where the loss is linear in the hits given |h| and |y|.  Exact.

    **From label sets** a loss linear in the hits, ℓ = c(|h|, |y|) + w(|h|, |y|) · |y ∩ h|, is minimised exactly: for
    each size h the labels of the h smallest Σ_s P(y_k = 1, |y| = s) w(h, s).  Others are searched for: exactly up to
    8 labels, and otherwise among the labelings that occur and the top-k sets of the marginals, improved by flips.

    Whether a loss is linear, and whether it rewards hits, is read off the table of its values.

    Examples
    --------
    >>> from comitia.losses import LossOfCounts, Matthews
    >>> issubclass(Matthews, LossOfCounts), Matthews().rewards_hits(4)
    (True, True)
    """

    @abstractmethod
    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        """Return the losses of these counts, element by element."""

    def rewards_hits(self, n_labels: int) -> bool:
        """Whether the loss never grows when a miss becomes a hit and the numbers of labels stay the same."""
        return tables_of(self, n_labels).rewarding

    def _value(self, y: LabelArray, h: LabelArray) -> FloatArray:
        common, true, predicted = (count.astype(np.float64) for count in overlap(y, h))
        return self.of_counts(common, predicted - common, true - common, y.shape[1] - true - predicted + common)

    def _minimise_marginals(self, p: FloatArray) -> LabelArray:
        lengths = np.full(len(p), p.shape[1])
        return minimise_ordered(self, p, lengths, Rules(p.shape[1]))

    def _minimise_labelsets(self, sets: LabelSets) -> LabelArray:
        rules = Rules(sets.n_labels)
        tables = tables_of(self, sets.n_labels)
        if tables.linear:
            return minimise_linear(sets, tables.constant, tables.slope, rules, fill=True)
        distinct, place = sets.distinct()
        return best_found(self.risk, distinct, rules, exact_labels=8)[place]

    def _risk_marginals(self, p: FloatArray, h: LabelArray) -> FloatArray:
        tables = tables_of(self, p.shape[1])
        risk = np.empty(len(p))

        def expect(rows: slice) -> None:
            _count_kernels.expected_loss(
                p[rows], h[rows], tables.linear, tables.constant, tables.slope, tables.full, risk[rows]
            )

        over_slices(expect, len(p), at_least=64)
        return risk

    def given_some(self) -> LossOfCounts:
        return _GivenSome(self)

    def _risk_nonempty(self, belief: NonEmptyMarginals, h: LabelArray) -> FloatArray:
        return self.given_some()._risk_marginals(belief.q, h) / belief.some()


@dataclass(frozen=True)
class _GivenSome(LossOfCounts):
    """A loss of counts that is nothing where the truth is empty, which is as good as the truth never being so."""

    loss: LossOfCounts

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        return np.where(tp + fn == 0, 0.0, self.loss.of_counts(tp, fp, fn, tn))


@dataclass(frozen=True)
class CountLoss(LossOfCounts):
    """Any function of the counts, minimised exactly where :class:`CustomLoss` would search.

    Parameters
    ----------
    function : callable
        Takes float arrays tp, fp, fn, tn of one shape and returns that many finite losses, element by element.  A
        function that is defined at the top of a module can be pickled with a model; a lambda cannot.

    Examples
    --------
    Every false positive costs one, two or more misses cost three at once.

    >>> from comitia.losses import CountLoss
    >>> from comitia.relevance import Marginals
    >>> def brittle(tp, fp, fn, tn):
    ...     return fp + 3.0 * (fn >= 2)
    >>> CountLoss(brittle).minimise(Marginals([[0.9, 0.6, 0.5], [0.3, 0.2, 0.1]]))
    array([[1, 1, 0],
           [0, 0, 0]], dtype=int8)
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ComitiaError(f"function must be a function of (tp, fp, fn, tn); got {self.function!r}.")

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        return returned_of(self.function, (tp, fp, fn, tn), "losses")


def returned_of(function: Callable[..., Any], counts: tuple[FloatArray, ...], what: str) -> FloatArray:
    """Return what a user's function makes of tp, fp, fn and tn, a finite number for each of them."""
    values, shape = np.asarray(function(*counts), dtype=np.float64), counts[0].shape
    if values.shape != shape:
        raise ComitiaError(f"the function must return {what} of shape {shape}; got shape {values.shape}.")
    if not np.isfinite(values).all():
        at = tuple(np.argwhere(~np.isfinite(values))[0])
        given = ", ".join(f"{name}={count[at]:g}" for name, count in zip(("tp", "fp", "fn", "tn"), counts, strict=True))
        raise ComitiaError(f"the function must return finite {what}; for {given} it returned {values[at]}.")
    return values


@dataclass(frozen=True)
class Precision(LossOfCounts):
    """One minus precision, ℓ = 1 − |y ∩ h| / |h|, where recall reaches a floor, and 1 where it does not.

    Without a floor the most probable label alone is best, or none where ``zero_division`` is worth more.

    Parameters
    ----------
    recall_floor : float
        Below this recall the answer is worth nothing.  An empty truth has recall 1.
    zero_division : float
        The precision of an empty answer.

    Examples
    --------
    >>> from comitia.losses import Precision
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.9, 0.6, 0.3, 0.1]])
    >>> Precision().minimise(belief)
    array([[1, 0, 0, 0]], dtype=int8)
    >>> Precision(recall_floor=0.6).minimise(belief)
    array([[1, 1, 0, 0]], dtype=int8)
    """

    recall_floor: float = 0.0
    zero_division: float = 0.0

    def __post_init__(self) -> None:
        check_share("recall_floor", self.recall_floor)
        check_zero_division(self.zero_division)

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:  # noqa: ARG002
        precision = ratio(tp, tp + fp, self.zero_division)
        return np.where(tp >= self.recall_floor * (tp + fn), 1 - precision, 1.0)


@dataclass(frozen=True)
class Recall(LossOfCounts):
    """One minus recall, ℓ = 1 − |y ∩ h| / |y|, where precision reaches a floor, and 1 where it does not.

    Without a floor predicting every label is best.

    Parameters
    ----------
    precision_floor : float
        Below this precision the answer is worth nothing.  An empty answer has precision 1.
    zero_division : float
        The recall of an empty truth.

    Examples
    --------
    >>> from comitia.losses import Recall
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.9, 0.6, 0.3, 0.1]])
    >>> Recall().minimise(belief)
    array([[1, 1, 1, 1]], dtype=int8)
    >>> Recall(precision_floor=0.5).minimise(belief)
    array([[1, 1, 0, 0]], dtype=int8)
    """

    precision_floor: float = 0.0
    zero_division: float = 1.0

    def __post_init__(self) -> None:
        check_share("precision_floor", self.precision_floor)
        check_zero_division(self.zero_division)

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:  # noqa: ARG002
        recall = ratio(tp, tp + fn, self.zero_division)
        return np.where(tp >= self.precision_floor * (tp + fp), 1 - recall, 1.0)


@dataclass(frozen=True)
class Informedness(LossOfCounts):
    """ℓ = (miss rate + false alarm rate) / 2, one half minus half of Youden's J: the balanced error of an instance.

    A rate of nothing, where no label or every label is relevant, is 0.

    Examples
    --------
    >>> from comitia.losses import Informedness
    >>> Informedness().value([[1, 1, 0, 0]], [[1, 0, 0, 0]])
    array([0.25])
    """

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        return (ratio(fn, tp + fn, 0.0) + ratio(fp, tn + fp, 0.0)) / 2


@dataclass(frozen=True)
class Matthews(LossOfCounts):
    """ℓ = (1 − MCC) / 2 with Matthews' correlation (TP TN − FP FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN)).

    Parameters
    ----------
    zero_division : float
        The correlation where truth or answer is the same for all labels, in [−1, 1]; 0 as in scikit-learn.

    Examples
    --------
    >>> from comitia.losses import Matthews
    >>> Matthews().value([[1, 1, 0, 0]], [[1, 0, 0, 0]]).round(3)
    array([0.211])
    """

    zero_division: float = 0.0

    def __post_init__(self) -> None:
        if not lies_in(self.zero_division, -1, 1):
            raise ComitiaError(f"zero_division must lie in [-1, 1]; got {self.zero_division!r}.")

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        scale = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return (1 - ratio(tp * tn - fp * fn, scale, self.zero_division)) / 2


@dataclass(frozen=True)
class FowlkesMallows(LossOfCounts):
    """ℓ = 1 − |y ∩ h| / √(|y| |h|): one minus the geometric mean of precision and recall (the cosine of y and h).

    Parameters
    ----------
    zero_division : float
        The value where both are empty; where one is, it is 0.

    Examples
    --------
    >>> from comitia.losses import FowlkesMallows
    >>> FowlkesMallows().value([[1, 1, 0, 0]], [[1, 0, 0, 0]]).round(3)
    array([0.293])
    """

    zero_division: float = 1.0

    def __post_init__(self) -> None:
        check_zero_division(self.zero_division)

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:  # noqa: ARG002
        both_empty = tp + fp + fn == 0
        return 1 - np.where(both_empty, self.zero_division, ratio(tp, np.sqrt((tp + fp) * (tp + fn)), 0.0))


class Tables(NamedTuple):
    """A loss of counts as numbers: by size of the answer, size of the truth and, in full, hits."""

    linear: bool
    rewarding: bool
    constant: FloatArray
    slope: FloatArray
    full: FloatArray


@lru_cache(maxsize=16)
def tables_of(loss: LossOfCounts, n_labels: int) -> Tables:
    """Return the values of a loss for every combination of counts, and what they show of it."""
    K = n_labels
    h, s = np.meshgrid(np.arange(K + 1.0), np.arange(K + 1.0), indexing="ij")
    low, high = np.maximum(0, h + s - K), np.minimum(h, s)

    def at(t: FloatArray) -> FloatArray:
        return loss.of_counts(t, h - t, s - t, K - h - s + t)

    first, last = at(low), at(high)
    slope = np.where(high > low, last - first, 0.0) / np.maximum(high - low, 1)
    constant = first - slope * low
    nearly = 1e-11 * (1 + np.abs(first) + np.abs(last))
    full = np.zeros((K + 1, K + 1, K + 1 if K <= _TABLED_LABELS else 1))
    linear, rewarding, before = True, True, first
    # All numbers of hits where the table is kept, otherwise the first, the middle and the last.
    for t in range(K + 1) if K <= _TABLED_LABELS else (np.floor((low + high) / 2), high):
        hits = np.clip(t, low, high)
        values = at(hits)
        linear &= bool((np.abs(values - constant - slope * hits) <= nearly).all())
        rewarding &= bool((values <= before + nearly).all())
        before = values
        if K <= _TABLED_LABELS:
            full[:, :, t] = values
    if not linear and K > _TABLED_LABELS:
        raise ComitiaError(
            f"{type(loss).__name__} is not linear in the hits: it takes up to {_TABLED_LABELS} labels; got {K}."
        )
    return Tables(linear, rewarding, constant, slope, np.zeros((1, 1, 1)) if linear else full)


def minimise_ordered(loss: LossOfCounts, key: FloatArray, lengths: Any, rules: Rules) -> LabelArray:
    """Return the best of the sets that take the largest keys, for independent labels.

    ``key`` holds probabilities; those of labels that may not be predicted are given as negative numbers, and
    ``lengths`` says how many may.
    """
    tables = tables_of(loss, key.shape[1])
    if not tables.rewarding:
        raise ComitiaError(
            f"{loss!r} grows when a miss becomes a hit: the most probable labels need not be best. Use a CustomLoss."
        )
    sizes = np.empty(len(key), np.int64)
    labeling = np.zeros(key.shape, np.int8)

    def decide(rows: slice) -> None:
        ascending = np.sort(key[rows], axis=1)
        ordered = np.abs(ascending[:, ::-1])
        if tables.linear:
            _count_kernels.best_linear_sizes(
                ordered, lengths[rows], tables.constant, tables.slope, rules.at_least, rules.at_most, sizes[rows]
            )
        else:
            _count_kernels.best_count_sizes(
                ordered, lengths[rows], tables.full, rules.at_least, rules.at_most, sizes[rows]
            )
        _independent.take_top(key[rows], ascending, sizes[rows], labeling[rows])

    over_slices(decide, len(key), at_least=64, at_most=rows_at_once(key.shape[1]))
    return labeling


def minimise_linear(sets: LabelSets, constant: FloatArray, slope: FloatArray, rules: Rules, fill: bool) -> LabelArray:
    """Return the labels of the smallest expected constant[|h|, |y|] + slope[|h|, |y|] · |y ∩ h| that rules allow."""
    distinct, place = sets.distinct()
    starts, labels = distinct.label_lists()
    weights = distinct.weights
    totals = np.array(np.broadcast_to(distinct.total, distinct.n_instances), np.float64)
    labeling = np.zeros((distinct.n_instances, distinct.n_labels), np.int8)
    tree = bool(rules.implies)
    nothing = np.zeros(0, np.int64)
    order, take_to, skip_to = (rules.walk or (nothing,) * 3) if tree else (nothing,) * 3

    def decide(rows: slice) -> None:
        _within.best_linear_labels(
            weights.indptr, weights.indices, weights.data, starts, labels, totals, distinct.n_labels,
            constant, slope, fill, rules.group_of, len(rules.exclusive), tree, order, take_to, skip_to,
            rules.at_least, rules.at_most, rows.start, rows.stop, labeling,
        )  # fmt: skip

    over_slices(decide, distinct.n_instances, at_least=64)
    return labeling[place]


def ratio(part: FloatArray, whole: FloatArray, zero_division: float) -> FloatArray:
    """Return part / whole, ``zero_division`` where the whole is nothing."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), zero_division)


def check_share(name: str, value: float) -> None:
    """Hold a parameter to [0, 1]."""
    if not lies_in(value, 0, 1):
        raise ComitiaError(f"{name} must lie in [0, 1]; got {value!r}.")
