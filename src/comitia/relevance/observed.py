"""What training data show of whole labelings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray, check_labels, distinct_rows


@dataclass(frozen=True, eq=False)
class Observed:
    """The labelsets of the training data, and how often each of them occurred.

    A belief carries it, so that a reading (:data:`comitia.READINGS`) can make use of it: a decision then depends on
    the beliefs alone, whoever makes it.

    Parameters
    ----------
    table : array of 0/1, shape (U, K)
        The labelsets that occurred, each once, in the order in which they first did.
    counts : array of float, shape (U,)
        How often, or the weight of the instances that had it.

    Examples
    --------
    >>> from comitia.relevance import Observed
    >>> seen = Observed.of([[1, 0], [1, 1], [1, 0]])
    >>> seen.table.tolist(), seen.counts.tolist(), seen.always_some
    ([[1, 0], [1, 1]], [2.0, 1.0], True)
    """

    table: LabelArray
    counts: FloatArray

    def __post_init__(self) -> None:
        table, counts = check_labels(self.table, "table"), np.asarray(self.counts, dtype=np.float64)
        if counts.shape != (len(table),) or not (np.isfinite(counts).all() and (counts > 0).all()):
            raise ComitiaError(f"counts must hold a positive number for each of {len(table)} labelsets.")
        if not len(table) or len(distinct_rows(table)[0]) < len(table):
            raise ComitiaError("table must hold at least one labelset, and each of them once.")
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(cls, Y: ArrayLike, weight: ArrayLike | None = None) -> Observed:
        """Count the labelsets of instances (n, K), those of weight zero left out."""
        labels = check_labels(Y, "Y")
        mass = np.ones(len(labels)) if weight is None else np.asarray(weight, dtype=np.float64)
        table, place = distinct_rows(labels[mass > 0])
        return cls.unchecked(table, np.bincount(place, mass[mass > 0], len(table)).astype(np.float64))

    @classmethod
    def unchecked(cls, table: LabelArray, counts: FloatArray) -> Observed:
        """Build from arrays that are right by construction."""
        observed = object.__new__(cls)
        observed.__dict__.update(table=table, counts=counts)
        return observed

    @property
    def always_some(self) -> bool:
        """Whether every instance had at least one label."""
        return bool(self.table.any(axis=1).all())
