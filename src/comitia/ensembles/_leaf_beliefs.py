"""What trees believe: what the leaf believes that an instance falls into."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from comitia._labels import FloatArray, IntArray
from comitia._once import once
from comitia.learners._tree_apply import mean_marginals
from comitia.relevance import Marginals, Observed, Relevance
from comitia.relevance._base import Held, SharedMembers

if TYPE_CHECKING:
    from comitia.ensembles._crews import TreeCrew


@dataclass(frozen=True)
class LeafBeliefs(SharedMembers):
    """What each tree believes about some instances: what the leaf believes that they fall into."""

    crew: TreeCrew
    leaves: NDArray[np.int32]
    known: Observed
    joint: bool

    @once
    def held(self) -> Held:
        of, place, memory = self.crew.leaves(self.joint, self.known)
        index = place[self.leaves + self.crew.first_leaves[:, None]]
        return Held(of, index, memory, self.known if self.known.own is not None else None)

    @property
    def observed(self) -> Observed:
        return self.known

    def asked(self, joint: bool) -> LeafBeliefs:
        return replace(self, joint=joint)

    def mean(self) -> FloatArray:
        """Return the mean of the leaves' marginals, added up from sparse counts."""
        return mean_marginals(self.crew.trees, self.leaves)

    def weighted_mean(self, mass: FloatArray) -> FloatArray:
        return mean_marginals(self.crew.trees, self.leaves, mass)


@dataclass(frozen=True, eq=False)
class LeafMarginals(Relevance):
    """Label proportions of a tree's leaves, kept sparse: memory follows the labels that occur."""

    proportions: csr_array
    observed: Observed | None = None

    @property
    def n_instances(self) -> int:
        return int(self.proportions.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.proportions.shape[1])

    def marginals(self) -> FloatArray:
        return np.asarray(self.proportions.toarray())

    def take(self, rows: IntArray) -> Marginals:
        some = (
            self.proportions
            if len(rows) == self.n_instances and (rows[1:] > rows[:-1]).all()
            else self.proportions[rows]
        )
        p = np.ascontiguousarray(some.toarray())
        return Marginals.unchecked(p=p, observed=self.observed)
