"""A decision of members that are at hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comitia._arrays import as_floats
from comitia._errors import ComitiaError
from comitia._labels import LabelArray
from comitia.aggregation._beliefs import Beliefs
from comitia.aggregation._kinds import AggregationLike, get_aggregation
from comitia.losses import Constraints, get_loss
from comitia.losses._registry import LossLike
from comitia.relevance import Calibration, Members, Relevance, get_pool, get_reading
from comitia.relevance._pools import PoolLike
from comitia.relevance._readings import ReadingLike


def decide(
    members: Iterable[Relevance],
    loss: LossLike = "hamming",
    aggregation: AggregationLike | None = None,
    pool: PoolLike = "mean",
    reading: ReadingLike = "auto",
    weights: ArrayLike | None = None,
    constraints: Constraints | None = None,
    calibration: Calibration | None = None,
) -> LabelArray:
    """Return the labeling that the members agree on, made for a loss.

    Parameters
    ----------
    members : iterable of Relevance
        What each member believes about the same n instances; a sequence, or an iterator, which is consumed once, one
        member in memory at a time.
    loss : str, Loss or callable, default="hamming"
        The loss to minimise: see :func:`comitia.get_loss`.
    aggregation : str, Aggregation or None, default=None
        A name of :data:`comitia.AGGREGATIONS`, also as tables print it (``"CTP · median"``).  None takes the paper's
        advice: the mode of the votes (``"ptc-mode"``) for subset 0/1 loss, ``"ctp"`` for all others.
    pool : str or Pool, default="mean"
        How ``"ctp"`` and ``"gmv"`` pool marginals: see :data:`comitia.POOLS`.
    reading : str or Reading, default="auto"
        How marginals are read as beliefs about whole labelings: see :data:`comitia.READINGS`.
    weights : array-like of float, shape (M,) or (M, n), optional
        Weight of each member, for all instances or for each; equal by default.
    constraints : Constraints, optional
        Limits that every answer keeps, labels by position: see :class:`comitia.Constraints`.
    calibration : Calibration, optional
        Brings pooled marginals into line with what was observed before they are read: ``calibration_`` of an ensemble,
        or what :func:`comitia.relevance.fit_calibration` makes.  Votes and joint distributions know nothing of it.

    Returns
    -------
    ndarray of int8, shape (n, K)

    Examples
    --------
    >>> from comitia import Constraints, Marginals, decide
    >>> members = [Marginals([[0.9, 0.4, 0.4]]), Marginals([[0.6, 0.4, 0.1]]), Marginals([[0.2, 0.45, 0.3]])]
    >>> decide(members)
    array([[1, 0, 0]], dtype=int8)
    >>> decide(members, loss="f1")
    array([[1, 1, 0]], dtype=int8)
    >>> decide(members, constraints=Constraints(at_least=3))
    array([[1, 1, 1]], dtype=int8)
    """
    if not isinstance(members, Iterable) or isinstance(members, Relevance):
        raise ComitiaError(f"members must be a list of beliefs, or an iterator; got {type(members).__name__}.")
    if not (calibration is None or isinstance(calibration, Calibration)):
        raise ComitiaError(f"calibration must be a Calibration, see fit_calibration, or None; got {calibration!r}.")
    target, pooled = get_loss(loss), get_pool(pool)
    how = get_aggregation(aggregation, target)
    if how.calibrated and calibration is None:
        raise ComitiaError(f"aggregation {aggregation!r} decides by calibrated beliefs: give a calibration.")
    decision = how.decision(target, pooled, get_reading(reading))
    decision = decision.calibrated(calibration, pooled).within(constraints)
    mass = None if weights is None else np.atleast_1d(as_floats("weights", weights))
    return Beliefs(lambda _: _checked(members), mass, once=True).decide(decision)


def _checked(members: Iterable[Relevance]) -> Iterable[Relevance]:
    """Return the members as they are, looked at one by one where they are no collection of ours."""
    return members if isinstance(members, Members) else map(_belief, members)


def _belief(member: Any) -> Relevance:
    if not isinstance(member, Relevance):
        raise ComitiaError(f"members must be beliefs, such as Marginals(p); got {type(member).__name__}.")
    return member
