"""What every relevance can say, and beliefs that many instances share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray


class Relevance(ABC):
    """A belief about the labels of each of n instances."""

    @property
    @abstractmethod
    def n_instances(self) -> int:
        """Number of instances."""

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """Number of labels, K."""

    @abstractmethod
    def marginals(self) -> FloatArray:
        """Probability of relevance of each label, of shape (n, K)."""

    @abstractmethod
    def take(self, rows: IntArray) -> Relevance:
        """Return the belief about these instances alone, in this order."""

    @classmethod
    def _trusted(cls, **fields: Any) -> Self:
        """Build from fields that are right by construction, without checking them again."""
        relevance = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(relevance, name, value)
        return relevance


@dataclass(frozen=True, eq=False)
class Shared(Relevance):
    """Beliefs that many instances share: instance i believes what row ``index[i]`` of ``of`` says.

    A tree has as many beliefs as leaves.  A loss decides each of them once.

    Parameters
    ----------
    of : Relevance
        The distinct beliefs.
    index : array of int, shape (n,)
        Which belief each instance holds.
    memory : dict, optional
        What losses have decided for beliefs of ``of`` so far.  Given again with the same beliefs, nothing is decided
        twice.

    Examples
    --------
    >>> from comitia.relevance import Marginals, Shared
    >>> leaves = Marginals([[0.1, 0.9], [0.7, 0.2]])
    >>> Shared(leaves, [1, 1, 0]).marginals()
    array([[0.7, 0.2],
           [0.7, 0.2],
           [0.1, 0.9]])
    """

    of: Relevance
    index: IntArray
    memory: dict[Any, tuple[NDArray[np.bool_], LabelArray]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        index = np.asarray(self.index)
        if index.ndim != 1 or (index.size and not np.issubdtype(index.dtype, np.integer)):
            raise ComitiaError(
                f"index must be a one-dimensional array of integers; got {index.dtype}, shape {index.shape}."
            )
        if index.size and not (index.min() >= 0 and index.max() < self.of.n_instances):
            raise ComitiaError(
                f"index must lie in 0..{self.of.n_instances - 1}; it runs from {index.min()} to {index.max()}."
            )
        object.__setattr__(self, "index", index.astype(np.intp, copy=False))

    @property
    def n_instances(self) -> int:
        return len(self.index)

    @property
    def n_labels(self) -> int:
        return self.of.n_labels

    def marginals(self) -> FloatArray:
        return self.of.take(self.index).marginals()

    def take(self, rows: IntArray) -> Shared:
        return self._trusted(of=self.of, index=self.index[rows], memory=self.memory)

    def spelled_out(self) -> Relevance:
        """Return the same beliefs with one row for each instance."""
        return self.of.take(self.index)
