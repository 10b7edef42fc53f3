"""What decisions are tuned on: beliefs about instances that the members have not learnt from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray, check_labels
from comitia.losses import Constraints, Hamming
from comitia.measures import Measure
from comitia.relevance import get_pool


@dataclass(frozen=True, eq=False)
class Unseen:
    """Pooled marginals of instances that those who hold them have not learnt from, and the labels of the instances.

    Parameters
    ----------
    p : array of float, shape (n, K)
    Y : array of 0/1, shape (n, K)
    weight : array of float, shape (n,)
        How much each instance counts.
    pool : str
        How the marginals were pooled: cuts that serve for one pool do not serve for another.
    """

    p: FloatArray
    Y: LabelArray
    weight: FloatArray
    pool: str

    def __post_init__(self) -> None:
        labels = check_labels(self.Y, "Y")
        if np.shape(self.p) != labels.shape or np.shape(self.weight) != labels.shape[:1]:
            raise ComitiaError("p, Y and weight must be of the same instances and labels.")

    def resolved(self, measure: Measure) -> Hamming:
        """Return the loss whose minimiser does best by a measure: found once, and looked up from then on."""
        known = _RESOLVED.setdefault(self, {})
        if measure not in known:
            known[measure] = measure.resolve(self.p, self.Y, self.weight)
        return known[measure]

    def cross_fitted(self, measure: Measure, constraints: Constraints | None) -> float:
        """Return an honest estimate of what the resolved loss reaches on new instances."""
        return measure.cross_fitted(self.p, self.Y, self.weight, constraints=constraints)

    def check(self, pool: Any) -> None:
        """Refuse another pool than the one that the marginals are of."""
        if repr(get_pool(pool)) != self.pool:
            raise ComitiaError(
                f"decisions are tuned on beliefs of pool {self.pool}; got {get_pool(pool)!r}. Fit, or tune, again."
            )


# What was found for whom, as long as there is somebody: no part of what is saved.
_RESOLVED: WeakKeyDictionary[Unseen, dict[Measure, Hamming]] = WeakKeyDictionary()
