"""Decide a whole batch at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comitia._labels import LabelArray
from comitia.measures._registry import MeasureLike, get_measure
from comitia.relevance import Relevance, get_pool
from comitia.relevance._pools import PoolLike


def decide_together(
    members: Iterable[Relevance] | Relevance | ArrayLike,
    measure: MeasureLike = "macro-f1",
    pool: PoolLike = "mean",
    weights: ArrayLike | None = None,
) -> LabelArray:
    """Return the answers of the largest expected measure for these instances together.

    The answer for an instance depends on the others in the batch: given again with other neighbours, it may differ.
    For answers that each instance gets for itself, minimise the loss that :meth:`Measure.resolve` gives.

    Parameters
    ----------
    members : iterable of Relevance, Relevance, or array-like of float, shape (n, K)
        What each member believes, what all of them believe, or their probabilities.
    measure : str, Measure or callable
        What to maximise: see :func:`comitia.measures.get_measure`.
    pool : str or Pool
        How the members' marginals are pooled.
    weights : array-like of float, shape (M,) or (M, n), optional
        Weight of each member.

    Returns
    -------
    ndarray of int8, shape (n, K)

    References
    ----------
    Ye, Chai, Lee and Chieu (2012), Optimizing F-measure: a tale of two approaches, ICML; Natarajan, Koyejo, Ravikumar
    and Dhillon (2016), Optimal classification with multivariate losses, ICML.

    Examples
    --------
    >>> from comitia.measures import decide_together
    >>> decide_together([[0.4, 0.1], [0.3, 0.2]], "macro-f1")
    array([[1, 0],
           [1, 1]], dtype=int8)
    """
    target = get_measure(measure)
    if isinstance(members, Relevance):
        return target.maximise(members.marginals())
    if isinstance(members, np.ndarray):
        return target.maximise(members)
    held: list[Any] = list(members)  # type: ignore[arg-type]  # what is array-like and no array is a sequence
    if held and all(isinstance(member, Relevance) for member in held):
        return target.maximise(get_pool(pool)(held, weights).marginals())
    return target.maximise(held)
