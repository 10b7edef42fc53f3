"""Fit once, score many: every loss, aggregation, pool and size of one fitted ensemble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comitia.aggregation import AGGREGATIONS, Decision
from comitia.experiments._plan import CHOSEN_BY_OOB
from comitia.losses import get_loss
from comitia.relevance import get_pool, get_reading


@dataclass(frozen=True)
class Way:
    """One way of deciding: an aggregation for a loss, with a pool, by so many members."""

    loss: str
    aggregation: str
    pool: str
    size: int


def losses_of(
    ensemble: Any,
    X: Any,
    Y: ArrayLike,
    *,
    losses: Sequence[str],
    aggregations: Sequence[str],
    pools: Sequence[str] = ("mean",),
    sizes: Sequence[int] = (),
) -> dict[Way, float]:
    """Find the mean loss of every decision that a fitted ensemble can make.

    The members are asked once for each chunk of instances, each loss is minimised once for each member, and what
    several decisions have in common (a pooled belief, the votes, the decision itself) is computed once.

    Parameters
    ----------
    ensemble : classifier
        One of `comitia.ENSEMBLES`, fitted.
    X, Y : array, sparse array or frame of shape (n, d), and array of 0/1 of shape (n, K)
        The instances to score on.
    losses, aggregations, pools : sequence of str
        Names.  Joint aggregations are left out where the ensemble gives no joint distributions.  The aggregation
        ``"oob"`` is the choice of the out-of-bag losses, which were found for all members: other sizes are left out,
        and so are ensembles whose aggregation is not ``"oob"``.
    sizes : sequence of int
        Numbers of members, ascending; all members by default.

    Returns
    -------
    dict of Way to float
        Mean losses, from 0 to 1.  The pool is empty for decisions that pool no marginals.

    Examples
    --------
    >>> from comitia import EMODTClassifier
    >>> from comitia.datasets import make_joint
    >>> data = make_joint(300, 4, 3, dependence=0.8, random_state=0).dataset
    >>> forest = EMODTClassifier(10, random_state=0).fit(data.X[:200], data.Y[:200])
    >>> found = losses_of(forest, data.X[200:], data.Y[200:], losses=["subset01"], aggregations=["gmv", "ctp-joint"])
    >>> min(found, key=found.get).aggregation
    'ctp-joint'
    """
    truth = np.asarray(Y)
    ways = list(_ways(ensemble, losses, aggregations, pools, sizes or [len(ensemble.members_)]))
    decisions = {way: _decision(ensemble, way) for way in ways}
    values: dict[Way, list[Any]] = {way: [] for way in ways}
    done = 0
    for beliefs in ensemble.beliefs(X):
        for way, decision in decisions.items():
            labeling = beliefs.decide(decision, None if way.size == len(ensemble.members_) else way.size)
            rows = slice(done, done + len(labeling))
            values[way].append(get_loss(way.loss).value(truth[rows], labeling))
        done = rows.stop
    return {way: float(np.concatenate(parts).mean()) for way, parts in values.items()}


def _ways(
    ensemble: Any, losses: Sequence[str], aggregations: Sequence[str], pools: Sequence[str], sizes: Sequence[int]
) -> Iterator[Way]:
    for loss, aggregation, size in product(losses, aggregations, sizes):
        if aggregation == CHOSEN_BY_OOB:
            if ensemble.aggregation == CHOSEN_BY_OOB and size == len(ensemble.members_):
                yield Way(loss, aggregation, "", size)
        elif AGGREGATIONS[aggregation].pools:
            for pool in pools:
                yield Way(loss, aggregation, pool, size)
        elif ensemble.can_decide_by(aggregation):
            yield Way(loss, aggregation, "", size)


def _decision(ensemble: Any, way: Way) -> Decision:
    if way.aggregation == CHOSEN_BY_OOB:
        chosen: Decision = ensemble.decision(way.loss)
        return chosen
    pool, reading = get_pool(way.pool or ensemble.pool), get_reading(ensemble.reading)
    return AGGREGATIONS[way.aggregation].decision(get_loss(way.loss), pool, reading)
