"""What trees believe: what the leaf believes that an instance falls into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from comitia._labels import FloatArray, IntArray
from comitia.learners._tree import mean_marginals
from comitia.relevance import Marginals, Members, Observed, Relevance, Shared

if TYPE_CHECKING:
    from comitia.ensembles._crews import Asked, TreeCrew


@dataclass(frozen=True)
class LeafBeliefs(Members):
    """What each tree believes about some instances: what the leaf believes that they fall into."""

    crew: TreeCrew
    leaves: NDArray[np.int32]
    asked: Asked

    def __iter__(self) -> Iterator[Relevance]:
        about = self.asked.observed if self.asked.observed.own is not None else None
        for (belief, memory), leaves in zip(self.crew.leaves(self.asked), self.leaves, strict=True):
            yield Shared.unchecked(of=belief, index=leaves.astype(np.intp), memory=memory, about=about)

    def mean(self) -> FloatArray:
        """Return the mean of the leaves' marginals, added up from sparse counts."""
        return mean_marginals(self.crew.trees, self.leaves)


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
