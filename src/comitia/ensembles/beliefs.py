"""Many decisions from one asking: what the members believe about some instances, and all that was decided from it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from comitia._labels import FloatArray, LabelArray
from comitia.aggregation import Aggregation, CombineThenPredict, PredictThenCombine
from comitia.losses import Loss
from comitia.relevance import Pool, Relevance, mixture, votes

Value = TypeVar("Value")


@dataclass(frozen=True)
class Beliefs:
    """What the members believe about some instances, and all that was decided from it so far.

    Both aggregations minimise a loss over a distribution, the pooled one or that of the votes.  A decision is known
    by that loss and that distribution: graded voting is combining for Hamming loss, and is decided once.

    Parameters
    ----------
    ask : callable
        Returns the members' beliefs: their joint distributions if its argument is true, their marginals if not.
    weights : array of float, shape (M,) or (M, n), optional
        Weight of each member, for all instances or for each.
    known : dict
        Beliefs, votes and decisions by what they were made of.
    """

    ask: Callable[[bool], list[Relevance]]
    weights: FloatArray | None = None
    known: dict[Hashable, Any] = field(default_factory=dict)

    def decide(self, aggregation: Aggregation, loss: Loss, pool: Pool, size: int | None = None) -> LabelArray:
        """Return what the first ``size`` members, or all of them, decide on."""
        if isinstance(aggregation, CombineThenPredict):
            return self._minimised(aggregation.loss or loss, ("pooled", aggregation.pool or pool, size))
        if isinstance(aggregation, PredictThenCombine):
            first = aggregation.loss or loss
            return self._minimised(aggregation.combine or first, ("votes", first, size))
        return aggregation(self._members(False)[:size], loss, pool, self._weights(size))

    def pooled(self, pool: Pool) -> Relevance:
        """Return the pooled belief of all members."""
        return self._relevance("pooled", pool, None)

    def _minimised(self, loss: Loss, distribution: tuple[str, Any, int | None]) -> LabelArray:
        return self._once((loss, distribution), lambda: loss.minimise(self._relevance(*distribution)))

    def _relevance(self, kind: str, source: Any, size: int | None) -> Relevance:
        def combined() -> Any:
            if kind == "votes":
                return votes(self._labelings(source)[:size], self._weights(size))
            return source(self._members(source == mixture)[:size], self._weights(size))

        relevance: Relevance = self._once((kind, source, size), combined)
        return relevance

    def _weights(self, size: int | None) -> FloatArray | None:
        return None if self.weights is None else self.weights[:size]

    def _labelings(self, loss: Loss) -> LabelArray:
        return self._once(("labelings", loss), lambda: np.stack([loss.minimise(m) for m in self._members(False)]))

    def _members(self, joint: bool) -> list[Relevance]:
        return self._once(("members", joint), lambda: self.ask(joint))

    def _once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        if key not in self.known:
            self.known[key] = compute()
        value: Value = self.known[key]
        return value
