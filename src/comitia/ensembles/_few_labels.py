"""What trees believe about some instances, for the labels alone that these instances may have.

Of very many labels an instance may have few: those in the leaves it falls into.  All others have probability zero for
every tree, and where that keeps them out of every answer, decisions are made without them: for a few instances at a
time, so that the labels they may have are few as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from comitia._labels import FloatArray, IntArray, LabelRows
from comitia.ensembles._crews import TreeCrew
from comitia.ensembles._leaf_beliefs import LeafMarginals
from comitia.learners._tree_apply import apply_trees
from comitia.learners._tree_leaves import add_proportions
from comitia.relevance import LabelSets, Observed, Relevance
from comitia.relevance._base import Held, Memory, SharedMembers

# Instances are looked at together as long as their labels, times them, and times their labelsets, may be no more.
_CELLS = 1 << 20
_CELLS_OF_SETS = 1 << 23


@dataclass(frozen=True)
class Foliage:
    """The leaves that some instances fall into.

    Parameters
    ----------
    crew : TreeCrew
    leaves : int array, shape (M, n)
        Their numbers among those of all trees.
    joint : bool
        Whether labelset distributions may be asked for.
    """

    crew: TreeCrew
    leaves: IntArray
    joint: bool

    @classmethod
    def of(cls, crew: TreeCrew, X: Any, joint: bool) -> Foliage:
        """Return the leaves that the rows of X fall into."""
        for kind in (False, True)[: 1 + joint]:
            crew.stacked(kind)  # found once, before threads ask for it
        return cls(crew, apply_trees(crew.trees, X) + crew.first_leaves[:, None], joint)

    def cuts(self) -> list[slice]:
        """Return slices of instances that together may have few labels."""
        labels, sets = self._entries(False), self._entries(True) if self.joint else np.zeros(self.leaves.shape[1], int)
        cuts, first, of_labels, of_sets = [], 0, 0, 0
        for i, (more, others) in enumerate(zip(labels.tolist(), sets.tolist(), strict=True)):
            of_labels, of_sets = of_labels + more, of_sets + others
            if i > first and (of_labels * (i + 1 - first) > _CELLS or of_labels * of_sets > _CELLS_OF_SETS):
                cuts.append(slice(first, i))
                first, of_labels, of_sets = i, more, others
        return [*cuts, slice(first, len(labels))]

    def _entries(self, joint: bool) -> NDArray[np.int64]:
        """Return how many labels, or labelsets, the leaves of each instance have, (n,)."""
        return np.asarray(np.diff(self.crew.stacked(joint).indptr)[self.leaves].sum(axis=0, dtype=np.int64))

    def few(self, rows: slice, observed: Observed, truth: LabelRows | None) -> FewLabels:
        """Return what is believed about some instances; its labels are theirs and those in ``truth``."""
        reached, place = np.unique(self.leaves[:, rows], return_inverse=True)
        held = self.crew.stacked(False)[reached]
        named = held.indices if truth is None else np.concatenate([held.indices, truth.labels])
        labels = np.unique(named) if named.size else np.zeros(1, np.int32)  # a belief is about some label
        place = place.reshape(len(self.leaves), -1).astype(np.intp)
        return FewLabels(self.crew, reached, place, _with_columns(held, labels), labels.astype(np.intp), observed)


@dataclass(frozen=True)
class FewLabels:
    """What trees believe about some instances, for some labels.

    Parameters
    ----------
    crew : TreeCrew
    reached : array of int
        The leaves, of all trees, that the instances fall into.
    place : array of int, shape (M, n)
        Which of them each instance falls into.
    marginals : CSR matrix, shape (reached leaves, labels)
    labels : array of int
        Ascending.
    observed : Observed
    """

    crew: TreeCrew
    reached: IntArray
    place: IntArray
    marginals: csr_array
    labels: IntArray
    observed: Observed

    @property
    def has_none(self) -> bool:
        """Whether some leaf has no label."""
        return bool((np.diff(self.marginals.indptr) == 0).any())

    def ask(self, joint: bool) -> FewLeaves:
        """Return the trees' beliefs."""
        known = self.observed.in_general()
        if not joint:
            return FewLeaves(self, LeafMarginals(self.marginals, known))
        held = self.crew.stacked(True)[self.reached]
        sets = np.unique(held.indices)
        table, weights = self.crew.lists[sets].among(self.labels), _with_columns(held, sets)
        return FewLeaves(self, LabelSets.unchecked(table=table, weights=weights, total=1.0, observed=known))


@dataclass(frozen=True)
class FewLeaves(SharedMembers):
    """The beliefs of the leaves that are reached, as the instances share them."""

    of: FewLabels
    leaves: Relevance
    memory: Memory = field(default_factory=Memory)

    @property
    def held(self) -> Held:
        about = self.of.observed if self.of.observed.own is not None else None
        return Held(self.leaves, self.of.place, self.memory, about)

    @property
    def observed(self) -> Observed:
        return self.of.observed

    def asked(self, joint: bool) -> FewLeaves:
        return self.of.ask(joint)

    def mean(self) -> FloatArray:
        """Return the mean of the leaves' marginals: the trees added up in their order."""
        return self.weighted_mean(np.ones((len(self.of.place), 1)))

    def weighted_mean(self, mass: FloatArray) -> FloatArray:
        held, p = self.of.marginals, np.zeros((self.of.place.shape[1], len(self.of.labels)))
        starts, columns = held.indptr.astype(np.int64), held.indices.astype(np.int32)
        for place, its_mass in zip(self.of.place.astype(np.int32), mass, strict=True):
            add_proportions(place, starts, columns, held.data, np.ones(len(starts) - 1), its_mass, p)
        p /= mass.sum(axis=0)[:, None]
        return np.minimum(p, 1.0, out=p)


def _with_columns(matrix: csr_array, columns: NDArray[Any]) -> csr_array:
    """Return the matrix with these columns alone, ascending; it has entries in no others."""
    shape = (matrix.shape[0], len(columns))
    return csr_array((matrix.data, np.searchsorted(columns, matrix.indices), matrix.indptr), shape=shape)
