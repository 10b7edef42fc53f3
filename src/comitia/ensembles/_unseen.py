"""What decisions are tuned on: beliefs about instances that the members have not learnt from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray, check_labels
from comitia.losses import Constraints, Hamming
from comitia.measures import Measure
from comitia.relevance import Calibration, fit_calibration, get_pool
from comitia.relevance._calibration import Kind, cross_fitted


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
    calibrations : dict of kind to Calibration
        What was fitted to them: found once, and saved with them.
    """

    p: FloatArray
    Y: LabelArray
    weight: FloatArray
    pool: str
    calibrations: dict[str, Calibration] = field(default_factory=dict)

    def __post_init__(self) -> None:
        labels = check_labels(self.Y, "Y")
        if np.shape(self.p) != labels.shape or np.shape(self.weight) != labels.shape[:1]:
            raise ComitiaError("p, Y and weight must be of the same instances and labels.")

    def calibration(self, kind: Kind) -> Calibration:
        """Return what brings pooled marginals into line with the labels: found once, and looked up from then on."""
        if kind not in self.calibrations:
            self.calibrations[kind] = fit_calibration(self.p, self.Y, self.weight, kind)
        return self.calibrations[kind]

    def calibrated(self, kind: Kind) -> Unseen:
        """Return the instances with calibrated marginals, each by a calibration that others were fitted for."""
        known = _CALIBRATED.setdefault(self, {})
        if kind not in known:
            p = cross_fitted(self.p, self.Y, self.weight, kind)
            known[kind] = replace(self, p=p, calibrations={})
        return known[kind]

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
_CALIBRATED: WeakKeyDictionary[Unseen, dict[Kind, Unseen]] = WeakKeyDictionary()
