"""Fit once, score many: every loss, aggregation, pool and size of one fitted ensemble."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comitia._labels import LabelArray
from comitia._titles import CHOSEN_BY_OOB, aggregation_and_pool
from comitia.aggregation import Beliefs, Decision, get_aggregation
from comitia.losses import Hamming, Loss
from comitia.measures import Measure, get_target
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
    losses: Sequence[str] | Mapping[str, Loss | Measure],
    aggregations: Sequence[str],
    pools: Sequence[str] = ("mean",),
    sizes: Sequence[int] = (),
    watch: Callable[[Beliefs, slice, Mapping[Way, LabelArray]], None] | None = None,
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
    losses : sequence of str, or mapping of str to Loss or Measure
        Names that are known, or one's own names and what they stand for.
    aggregations, pools : sequence of str
        Names.  Measures of a whole set need out-of-bag beliefs and are decided with the pool of these: others are
        left out.  Joint aggregations are left out where the ensemble gives no joint distributions.  The aggregation
        ``"oob"`` is the choice of the out-of-bag losses, which were found for all members: other sizes are left out,
        and so are ensembles whose aggregation is not ``"oob"``.
    sizes : sequence of int
        Numbers of members, ascending; all members by default.
    watch : callable, optional
        Is given, for each chunk of instances, the members' beliefs, which instances these are, and all answers.

    Returns
    -------
    dict of Way to float
        Mean losses, from 0 to 1; of measures, one minus the value of all instances.  The pool is empty for decisions
        that pool no marginals.

    Examples
    --------
    >>> from comitia import EMODTClassifier
    >>> from comitia.datasets import make_joint
    >>> data = make_joint(1000, 4, 3, dependence=0.8, random_state=0).dataset
    >>> forest = EMODTClassifier(10, random_state=0).fit(data.X[:700], data.Y[:700])
    >>> found = losses_of(forest, data.X[700:], data.Y[700:], losses=["subset01"], aggregations=["gmv", "ctp-joint"])
    >>> min(found, key=found.get).aggregation
    'ctp-joint'
    """
    truth = np.asarray(Y)
    targets = dict(losses) if isinstance(losses, Mapping) else {loss: get_target(loss) for loss in losses}
    ways = list(dict.fromkeys(_ways(ensemble, targets, aggregations, pools, sizes or [len(ensemble.members_)])))
    decisions = {way: _decision(ensemble, way, targets[way.loss]) for way in ways}
    values: dict[Way, list[Any]] = {way: [] for way in ways}
    done = 0
    for beliefs in ensemble.beliefs(X) if ways else ():
        labelings: dict[Way, LabelArray] = {}
        for way, decision in decisions.items():
            labeling = beliefs.decide(decision, None if way.size == len(ensemble.members_) else way.size)
            labelings[way] = labeling
            rows = slice(done, done + len(labeling))
            target = targets[way.loss]
            # A measure of a whole set is taken of all answers together.
            values[way].append(labeling if isinstance(target, Measure) else target.value(truth[rows], labeling))
        if watch is not None:
            watch(beliefs, rows, labelings)
        done = rows.stop
    return {way: _mean(targets[way.loss], truth, np.concatenate(parts)) for way, parts in values.items()}


def _mean(target: Loss | Measure, truth: Any, found: Any) -> float:
    return 1 - target.value(truth, found) if isinstance(target, Measure) else float(found.mean())


def _ways(
    ensemble: Any,
    targets: Mapping[str, Loss | Measure],
    aggregations: Sequence[str],
    pools: Sequence[str],
    sizes: Sequence[int],
) -> Iterator[Way]:
    for loss, aggregation, size in product(targets, aggregations, sizes):
        known = pools
        if isinstance(targets[loss], Measure):
            if not hasattr(ensemble, "oob_proba_"):
                continue
            known = [pool for pool in pools if get_pool(pool) == get_pool(ensemble.pool)]
        if aggregation == CHOSEN_BY_OOB:
            if ensemble.aggregation == CHOSEN_BY_OOB and size == len(ensemble.members_):
                yield Way(loss, aggregation, "", size)
        elif not ensemble.can_decide_by(aggregation):
            continue
        elif get_aggregation(aggregation, Hamming()).pools:
            yield from (Way(loss, aggregation, pool, size) for pool in known)
        else:
            own, pool = aggregation_and_pool(aggregation)
            if own == aggregation:
                yield Way(loss, aggregation, "", size)
            elif known is pools or pool in known:
                yield Way(loss, own, pool, size)


def _decision(ensemble: Any, way: Way, target: Loss | Measure) -> Decision:
    if way.aggregation == CHOSEN_BY_OOB:
        chosen: Decision = ensemble.decision(target)
        return chosen
    pool = get_pool(way.pool or ensemble.pool)
    reading = get_reading("independent" if isinstance(target, Measure) else ensemble.reading)
    decision = get_aggregation(way.aggregation, Hamming()).decision(ensemble._target(target), pool, reading)
    return decision.calibrated(ensemble.calibration_, get_pool(ensemble.pool))
