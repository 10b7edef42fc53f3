"""Fit once, score many: every loss, aggregation, pool and size of one fitted ensemble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comitia.aggregation import AGGREGATIONS, CombineThenPredict
from comitia.ensembles.base import BELIEFS_AT_ONCE, is_joint
from comitia.ensembles.beliefs import Beliefs
from comitia.experiments.plan import CHOSEN_BY_OOB
from comitia.losses import get_loss
from comitia.relevance import Relevance, get_pool


@dataclass(frozen=True)
class Decision:
    """One way of deciding: an aggregation for a loss, with a pool, by so many members."""

    loss: str
    aggregation: str
    pool: str
    size: int


def score(
    ensemble: Any,
    X: Any,
    Y: ArrayLike,
    *,
    losses: Sequence[str],
    aggregations: Sequence[str],
    pools: Sequence[str] = ("mean",),
    sizes: Sequence[int] = (),
    chunk: int | None = None,
) -> dict[Decision, float]:
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
        ``"oob"`` is the one of the smallest out-of-bag loss, which was found for all members: other sizes are left
        out, and so are ensembles that were fitted without ``oob_score=True``.
    sizes : sequence of int
        Numbers of members, ascending; all members by default.
    chunk : int, optional
        Number of instances to look at together; by default as many as fit in the ensemble's own limit.  It changes
        no value.

    Returns
    -------
    dict of Decision to float
        Mean losses, from 0 to 1.  The pool is empty for decisions that pool no marginals.

    Examples
    --------
    >>> from comitia import EMODTClassifier
    >>> from comitia.datasets import make_joint
    >>> data = make_joint(300, 4, 3, dependence=0.8, random_state=0).dataset
    >>> forest = EMODTClassifier(10, random_state=0).fit(data.X[:200], data.Y[:200])
    >>> found = score(forest, data.X[200:], data.Y[200:], losses=["subset01"], aggregations=["gmv", "ctp-joint"])
    >>> min(found, key=found.get).aggregation
    'ctp-joint'
    """
    truth = np.asarray(Y)
    decisions = list(_decisions(ensemble, losses, aggregations, pools, sizes or [len(ensemble.members_)]))
    targets = {name: get_loss(name) for name in losses}
    step = chunk or max(1, BELIEFS_AT_ONCE // (len(ensemble.members_) * truth.shape[1]))
    values: dict[Decision, list[Any]] = {decision: [] for decision in decisions}
    for start in range(0, len(truth), step):
        rows = slice(start, start + step)
        beliefs = Beliefs(partial(_members, ensemble, X.iloc[rows] if hasattr(X, "iloc") else X[rows]))
        for decision in decisions:
            labeling = beliefs.decide(
                AGGREGATIONS[_chosen(ensemble, decision)],
                ensemble.decisive(decision.loss),
                get_pool(decision.pool or ensemble.pool),
                decision.size,
            )
            values[decision].append(targets[decision.loss].value(truth[rows], labeling))
    return {decision: float(np.concatenate(parts).mean()) for decision, parts in values.items()}


def _decisions(
    ensemble: Any, losses: Sequence[str], aggregations: Sequence[str], pools: Sequence[str], sizes: Sequence[int]
) -> Iterator[Decision]:
    for loss, aggregation, size in product(losses, aggregations, sizes):
        if aggregation == CHOSEN_BY_OOB:
            if ensemble.oob_score and size == len(ensemble.members_):
                yield Decision(loss, aggregation, "", size)
            continue
        how = AGGREGATIONS[aggregation]
        if isinstance(how, CombineThenPredict) and how.pool is None:
            for pool in pools:
                yield Decision(loss, aggregation, pool, size)
        elif not is_joint(how) or ensemble.supports_joint:
            yield Decision(loss, aggregation, "", size)


def _chosen(ensemble: Any, decision: Decision) -> str:
    """The aggregation to use; where it is left to the out-of-bag losses, the one they choose."""
    if decision.aggregation != CHOSEN_BY_OOB:
        return decision.aggregation
    row: dict[str, float] = ensemble.oob_table_[decision.loss]
    return min(row, key=row.__getitem__)


def _members(ensemble: Any, X: Any, joint: bool) -> list[Relevance]:
    return list(ensemble.predict_members(X, joint=joint))
