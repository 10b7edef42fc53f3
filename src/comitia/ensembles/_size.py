"""How large a fit is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """What the cost of a fit follows.

    Parameters
    ----------
    n : int
        Instances.
    values : float
        Values that are stored for an instance: features, or those that are not zero.
    labels : int
    cardinality : float
        Labels that an instance has.
    members : int
    """

    n: int
    values: float
    labels: int
    cardinality: float
    members: int
