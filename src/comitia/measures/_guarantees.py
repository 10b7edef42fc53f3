"""Answers that miss no more than was promised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from comitia._arrays import lies_in
from comitia._errors import ComitiaError
from comitia._labels import LabelArray, check_labels
from comitia.losses import Hamming
from comitia.relevance import Marginals, Relevance


def recall_threshold(p: ArrayLike, truth: ArrayLike, guarantee: float) -> float:
    """Return the largest λ for which predicting p ≥ λ misses no more than promised, in expectation.

    Conformal risk control: with R(λ) the mean over n instances of the share of their labels below λ, λ is the largest
    with (n R(λ) + 1) / (n + 1) ≤ 1 − guarantee.  Then the expected share of labels that a new, exchangeable instance
    loses is at most 1 − guarantee.  R changes only at probabilities of true labels: these are sorted once, each with
    weight 1 / |y|, and no grid is needed.  O(N log N) for N true labels.  An instance without labels misses none.

    Parameters
    ----------
    p : array-like of float, shape (n, K)
        Beliefs about instances that their holders have not learnt from.  Out-of-bag beliefs keep the promise
        approximately: they are exchangeable with each other, and held by fewer members than beliefs about new
        instances.
    truth : array-like of 0/1, shape (n, K)
        Their labels.
    guarantee : float
        The expected share of labels to be found, in (0, 1).

    Returns
    -------
    float
        0 where there are too few instances to promise anything but all labels; 1 where any cut keeps the promise.

    References
    ----------
    Angelopoulos, Bates, Fisch, Lei and Schuster (2024), Conformal risk control, ICLR; Johansson, Boström, Löfström
    and Linusson (2014), Regression conformal prediction with random forests, Machine Learning 97 (out of bag).

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.measures import recall_threshold
    >>> p = np.linspace(0.1, 0.9, 9)[:, None]
    >>> recall_threshold(p, np.ones((9, 1), int), 0.6)
    0.4
    """
    belief, y = Marginals(np.asarray(p)).p, check_labels(truth, "truth")
    if belief.shape != y.shape:
        raise ComitiaError(f"p and truth must have one shape; got {belief.shape} and {y.shape}.")
    _check_guarantee(guarantee)
    spare = (1 - guarantee) * (len(y) + 1) - 1
    if spare < 0:
        return 0.0
    instance, label = np.nonzero(y)
    found = belief[instance, label]
    order = np.argsort(found, kind="stable")
    lost = np.cumsum((1 / np.bincount(instance, minlength=len(y))[instance])[order]) if found.size else np.zeros(0)
    over = np.flatnonzero(lost > spare + 1e-9)
    return float(found[order[over[0]]]) if over.size else 1.0


@dataclass(frozen=True)
class RecallAtLeast:
    """A promise about recall, which becomes a loss or a rule for partial answers on beliefs that were not learnt from.

    Parameters
    ----------
    guarantee : float
        The expected share of an instance's labels to be found, in (0, 1).

    Examples
    --------
    >>> from comitia.measures import RecallAtLeast
    >>> p, truth = [[0.9, 0.3], [0.7, 0.2], [0.4, 0.6]] * 5, [[1, 0], [1, 0], [0, 1]] * 5
    >>> RecallAtLeast(0.6).resolve(p, truth).false_positive
    0.7
    >>> RecallAtLeast(0.9).resolve_partial(p, truth)
    TwoCuts(lower=0.6, upper=0.5)
    """

    guarantee: float

    def __post_init__(self) -> None:
        _check_guarantee(self.guarantee)

    def value(self, truth: ArrayLike, labeling: ArrayLike) -> float:
        """Return the mean share of labels that are found; −1, undecided, counts as found."""
        y, h = check_labels(truth, "truth"), np.asarray(labeling)
        missed = ((y == 1) & (h == 0)).sum(axis=1) / np.maximum(y.sum(axis=1), 1)
        return float(1 - missed.mean())

    def resolve(self, p: ArrayLike, truth: ArrayLike) -> Hamming:
        """Return the loss whose minimiser keeps the promise: Hamming loss with one cut, :func:`recall_threshold`."""
        cut = recall_threshold(p, truth, self.guarantee)
        return Hamming(false_positive=cut, false_negative=1 - cut, ties="relevant")

    def resolve_partial(self, p: ArrayLike, truth: ArrayLike, upper: float = 0.5) -> TwoCuts:
        """Return the rule that denies no more labels than promised and leaves open what is then in doubt."""
        return TwoCuts(recall_threshold(p, truth, self.guarantee), upper)


@dataclass(frozen=True)
class TwoCuts:
    """Partial answers by two cuts: 1 where p > upper, 0 where p < lower and p ≤ upper, otherwise −1, undecided.

    Parameters
    ----------
    lower, upper : float
        In [0, 1].

    Examples
    --------
    >>> from comitia.measures import TwoCuts
    >>> from comitia.relevance import Marginals
    >>> TwoCuts(0.2, 0.5).minimise(Marginals([[0.1, 0.3, 0.7]]))
    array([[ 0, -1,  1]], dtype=int8)
    """

    lower: float
    upper: float = 0.5

    def __post_init__(self) -> None:
        if not (lies_in(self.lower, 0, 1) and lies_in(self.upper, 0, 1)):
            raise ComitiaError(f"lower and upper must lie in [0, 1]; got {self.lower!r} and {self.upper!r}.")

    def minimise(self, relevance: Relevance) -> LabelArray:
        """Return 1, 0 and −1 for each label, of shape (n, K)."""
        p = relevance.marginals()
        return np.where(p > self.upper, np.int8(1), np.where(p < self.lower, np.int8(0), np.int8(-1)))


def _check_guarantee(value: float) -> None:
    if not lies_in(value, 0, 1) or value in (0, 1):
        raise ComitiaError(f"guarantee must lie between 0 and 1; got {value!r}.")
