"""What training data show of whole labelings."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comitia._arrays import as_weights
from comitia._errors import ComitiaError
from comitia._label_trie import LabelTrie
from comitia._labels import FloatArray, IntArray, LabelArray, LabelRows, Labels, checked, dense, distinct_rows, stacked


@dataclass(frozen=True, eq=False)
class Observed:
    """The labelsets of the training data, and how often each of them occurred.

    A belief carries it, so that a reading (:data:`comitia.READINGS`) can make use of it: a decision then depends on
    the beliefs alone, whoever makes it.

    Parameters
    ----------
    table : array of 0/1, shape (U, K), or LabelRows
        The labelsets that occurred, each once, in the order in which they first did: lists of their labels where a
        sparse matrix was given.
    counts : array of float, shape (U,)
        How often, or the weight of the instances that had it.
    own, own_weight : arrays of shape (n,), optional
        Where a belief is about instances that were counted themselves: which labelset each has, and its weight in the
        count; see :meth:`leaving_out`.

    Examples
    --------
    >>> from comitia.relevance import Observed
    >>> seen = Observed.of([[1, 0], [1, 1], [1, 0]])
    >>> len(seen.table), seen.counts.tolist(), seen.always_some
    (2, [2.0, 1.0], True)
    """

    table: Labels
    counts: FloatArray
    own: IntArray | None = field(default=None, repr=False)
    own_weight: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        table, counts = checked(self.table, "table"), np.asarray(self.counts, dtype=np.float64)
        if counts.shape != (len(table),) or not (np.isfinite(counts).all() and (counts > 0).all()):
            raise ComitiaError(f"counts must hold a positive number for each of {len(table)} labelsets.")
        if not len(table) or len(distinct_rows(table)[0]) < len(table):
            raise ComitiaError("table must hold at least one labelset, and each of them once.")
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(cls, Y: ArrayLike | LabelRows, weight: ArrayLike | None = None) -> Observed:
        """Count the labelsets of instances (n, K), those of weight zero left out."""
        labels = checked(Y, "Y")
        mass = as_weights("weight", weight, len(labels))
        table, place = distinct_rows(labels[mass > 0])
        return cls.unchecked(table, np.bincount(place, mass[mass > 0], len(table)).astype(np.float64))

    @classmethod
    def unchecked(cls, table: Labels, counts: FloatArray) -> Observed:
        """Build from arrays that are right by construction."""
        observed = object.__new__(cls)
        observed.__dict__.update(table=table, counts=counts, own=None, own_weight=None)
        return observed

    def leaving_out(self, Y: Labels, weight: FloatArray) -> Observed:
        """Return the same for a belief about instances that were counted: each must do without its own labelset.

        What an instance is judged by must not come from itself: its labelset is known only if others have it too.
        """
        place = distinct_rows(stacked(self.table, Y))[1][len(self.table) :]
        return self._about(place.astype(np.intp), weight)

    def in_general(self) -> Observed:
        """Return the same for beliefs about no instance that was counted."""
        return self if self.own is None else self._about(None, None)

    def take(self, rows: IntArray | slice) -> Observed:
        """Return the same for a belief about these instances alone."""
        if self.own is None or self.own_weight is None:
            return self
        return self._about(self.own[rows], self.own_weight[rows])

    def _about(self, own: IntArray | None, weight: FloatArray | None) -> Observed:
        about = object.__new__(type(self))
        about.__dict__.update({**self.__dict__, "own": own, "own_weight": weight})
        return about

    @cached_property
    def array(self) -> LabelArray:
        """The labelsets as an array of 0/1."""
        return dense(self.table)

    @cached_property
    def trie(self) -> LabelTrie:
        """The labelsets as a tree of shared beginnings, frequent labels first."""
        return LabelTrie.frequent_first(self.array)

    def __getstate__(self) -> dict[str, Any]:
        return {"table": self.table, "counts": self.counts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(vars(Observed(state["table"], state["counts"])))

    @cached_property
    def always_some(self) -> bool:
        """Whether every instance had at least one label."""
        if isinstance(self.table, LabelRows):
            return bool((np.diff(self.table.starts) > 0).all())
        return bool(self.table.any(axis=1).all())
