"""How much to leave open: the price for a share of labels, and what that gains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from comitia._arrays import as_floats
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, check_labels
from comitia._threads import rows_at_once
from comitia.losses._abstention import Abstaining, Penalty
from comitia.losses._base import Loss
from comitia.losses._counts import check_share
from comitia.losses._hamming import Hamming
from comitia.losses._registry import get_loss
from comitia.relevance import Relevance

_HALVINGS = 40


class RiskCoverage(NamedTuple):
    """What is gained by leaving labels open: arrays of one length, from deciding everything to deciding little.

    Parameters
    ----------
    cost : array of float
        The price of deciding nothing, for each rate.
    coverage : array of float
        The share of labels that is decided.
    loss : array of float
        The mean loss of what is decided.

    Examples
    --------
    >>> from comitia.losses import risk_coverage
    >>> from comitia.relevance import Marginals
    >>> curve = risk_coverage(Marginals([[0.9, 0.45]]), [[1, 1]], "hamming", rates=[0, 0.5])
    >>> curve.coverage
    array([1. , 0.5])
    """

    cost: FloatArray
    coverage: FloatArray
    loss: FloatArray


def risk_coverage(
    belief: Relevance,
    truth: ArrayLike,
    loss: Loss | str,
    rates: ArrayLike = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    penalty: Penalty = "linear",
) -> RiskCoverage:
    """Return the loss on what is decided for growing shares of labels that are left open.

    For each rate the price that leaves no larger share open is found on the beliefs.  ``coverage`` is the share that
    is decided.  ``loss`` is the mean of ℓ(y_D, h_D); Hamming loss is taken over the decided labels.

    Parameters
    ----------
    belief : Relevance
        What is believed of n instances.
    truth : array-like of 0/1, shape (n, K)
        Their labels.
    loss, penalty
        As for :class:`Abstaining`.
    rates : array-like of float
        Shares of labels that may be left open, in [0, 1].

    Examples
    --------
    >>> from comitia.losses import risk_coverage
    >>> from comitia.relevance import Marginals
    >>> curve = risk_coverage(Marginals([[0.9, 0.45], [0.2, 0.6]]), [[1, 1], [0, 0]], "hamming", rates=[0, 0.5])
    >>> curve.coverage, curve.loss
    (array([1. , 0.5]), array([0.5, 0. ]))
    """
    y, target = check_labels(truth, "truth"), get_loss(loss)
    shares = np.atleast_1d(as_floats("rates", rates))
    found = RiskCoverage(*(np.empty(len(shares)) for _ in range(3)))
    for place, rate in enumerate(shares):
        cost = cost_for_rate(belief, target, float(rate), penalty)
        rule = Abstaining(target, cost, penalty)
        answer = rule.minimise(belief)
        coverage = float((answer >= 0).mean())
        mean = float(rule.decided_loss(y, answer).mean())
        if isinstance(target, Hamming) and coverage:
            mean /= coverage
        found.cost[place], found.coverage[place], found.loss[place] = cost, coverage, mean
    return found


def cost_for_rate(belief: Relevance, loss: Loss | str, rate: float, penalty: Penalty = "linear") -> float:
    """Return the price at which about this share of all labels is left open, and no more.

    The share falls as the price rises, so that bisection finds it; for Hamming loss with the linear penalty it is a
    quantile.  Found on beliefs about instances that were not learnt from, it serves for new ones.

    Parameters
    ----------
    belief : Relevance
        What is believed of instances like those to be decided.
    loss, penalty
        As for :class:`Abstaining`.
    rate : float
        Share of labels that may be left open, in [0, 1].

    Examples
    --------
    >>> from comitia.losses import cost_for_rate
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.9, 0.6, 0.3, 0.1]])
    >>> cost_for_rate(belief, "hamming", rate=0.25)
    0.3
    """
    check_share("rate", rate)
    target = get_loss(loss)
    Abstaining(target, 0.0, penalty)
    if not belief.n_instances:
        raise ComitiaError("there are no instances to find a price on.")
    if isinstance(target, Hamming) and penalty == "linear":
        p = belief.marginals()
        fp, fn = target._costs(p.shape[1])
        error, step = np.empty(p.size), rows_at_once(p.shape[1])
        for start in range(0, len(p), step):
            q = p[start : start + step]
            some = np.where(target._minimise_marginals(q), (1 - q) * fp, q * fn)
            error[start * p.shape[1] :][: some.size] = some.ravel()
        left = int(np.floor(rate * error.size + 1e-9))
        if left == error.size:
            return 0.0
        error.partition(error.size - 1 - left)
        return float(error[error.size - 1 - left])
    largest = 1.0
    if isinstance(target, Hamming):
        largest = float(max(np.max(target.false_positive), np.max(target.false_negative)))
    low, high = 0.0, 2.0 * belief.n_labels * largest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if float((Abstaining(target, middle, penalty).minimise(belief) < 0).mean()) > rate:
            low = middle
        else:
            high = middle
    return high
