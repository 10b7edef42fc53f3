"""What every relevance can say, and beliefs that many instances share."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray
from comitia.relevance._observed import Observed

Kept = TypeVar("Kept")


class Relevance(ABC):
    """A belief about the labels of each of n instances.

    Examples
    --------
    >>> from comitia.relevance import LabelSets, Relevance
    >>> belief = LabelSets([[1, 1], [0, 0]], [[0.75, 0.25]])
    >>> isinstance(belief, Relevance), belief.n_labels, belief.marginals()
    (True, 2, array([[0.75, 0.75]]))
    """

    observed: Observed | None = None
    """The labelsets of the training data that the belief comes from, where they are known."""

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
    def unchecked(cls, **fields: Any) -> Self:
        """Build from fields that are right by construction, without checking them."""
        relevance = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(relevance, name, value)
        return relevance


class Members(ABC):
    """What all members believe about some instances: a collection that can be gone through again.

    It knows the mean of their marginals at less cost than adding them up, and to the same bits.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.relevance import Marginals, Members, mean
    >>> class Two(Members):
    ...     def __iter__(self):
    ...         yield from (Marginals([[0.2]]), Marginals([[0.6]]))
    ...     def mean(self):
    ...         return np.mean([member.marginals() for member in self], axis=0)
    >>> mean(Two()).marginals()
    array([[0.4]])
    """

    @abstractmethod
    def __iter__(self) -> Iterator[Relevance]: ...

    @abstractmethod
    def mean(self) -> FloatArray:
        """Return the mean of the members' marginals, (n, K)."""

    @property
    def observed(self) -> Observed | None:
        """The labelsets that go with the members' beliefs."""
        return next(iter(self)).observed


class SharedMembers(Members):
    """Members that find their beliefs in one table, as trees do in that of their leaves."""

    @property
    @abstractmethod
    def held(self) -> Held:
        """The table, and which of its rows each member believes in."""

    @abstractmethod
    def asked(self, joint: bool) -> SharedMembers:
        """Return the joint distributions, or the marginals, of the same members about the same instances."""

    @abstractmethod
    def weighted_mean(self, mass: FloatArray) -> FloatArray:
        """Return the mean of the members' marginals, (n, K), weighted by ``mass``, (M, 1) or (M, n)."""

    def __iter__(self) -> Iterator[Relevance]:
        return iter(self.held)


@dataclass(frozen=True, eq=False)
class Held:
    """What members believe that share a table: m believes of instance i what row ``index[m, i]`` of ``of`` says.

    What concerns all of them is one step, not one for each: a row is decided once, and votes and mixtures look it up.

    Parameters
    ----------
    of : Relevance
    index : array of int, shape (M, n)
    memory : Memory
        What losses have decided for rows of ``of`` of late.
    about : Observed, optional
        What is known of these instances, where they were counted themselves.
    """

    of: Relevance
    index: IntArray
    memory: Memory
    about: Observed | None = None

    @property
    def observed(self) -> Observed | None:
        """The labelsets that go with the beliefs."""
        return self.about or self.of.observed

    def __iter__(self) -> Iterator[Shared]:
        for index in self.index:
            yield Shared.unchecked(of=self.of, index=index, memory=self.memory, about=self.about)

    def read_by(self, reading: Any) -> Held | None:
        """Return the same as a reading reads it; None where it reads what is known of the instances themselves."""
        if reading.joint and self.about is not None:
            return None
        return Held(_Read(self.of, reading), self.index, self.memory.of_reading(reading), self.about)

    def where(self, asked: NDArray[np.bool_] | None) -> Shared:
        """Return the beliefs of members about instances, (M, n), for which this is true, one after the other."""
        index = self.index.reshape(-1) if asked is None else self.index[asked]
        return Shared.unchecked(of=self.of, index=index, memory=self.memory, about=None)


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
    memory : Memory, optional
        What losses have decided for beliefs of ``of`` of late.  Given again with the same beliefs, nothing is decided
        twice.
    about : Observed, optional
        What is known of these instances, where they were counted themselves.

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
    memory: Memory = field(default_factory=lambda: Memory(), repr=False)
    about: Observed | None = field(default=None, repr=False)

    if TYPE_CHECKING:  # the fields are what becomes of these

        def __init__(
            self, of: Relevance, index: ArrayLike, memory: Memory = ..., about: Observed | None = None
        ) -> None: ...

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

    @property
    def observed(self) -> Observed | None:  # type: ignore[override]
        return self.about or self.of.observed

    def take(self, rows: IntArray) -> Shared:
        about = self.about and self.about.take(rows)
        return self.unchecked(of=self.of, index=self.index[rows], memory=self.memory, about=about)

    def spelled_out(self) -> Relevance:
        """Return the same beliefs with one row for each instance."""
        spelled = self.of.take(self.index)
        if self.about is not None:
            object.__setattr__(spelled, "observed", self.about)
        return spelled

    def read_by(self, reading: Any) -> Relevance:
        """Return the same beliefs as a reading reads them, with a memory of their own.

        What is known of the instances themselves cannot be shared.
        """
        if reading.joint and self.about is not None:
            spelled: Relevance = reading(self.spelled_out())
            return spelled
        return self.unchecked(of=_Read(self.of, reading), index=self.index, memory=self.memory.of_reading(reading))


@dataclass(frozen=True, eq=False)
class _Read(Relevance):
    """Beliefs that are read when they are asked for: those of leaves that no instance reaches never are."""

    of: Relevance
    reading: Any

    @property
    def n_instances(self) -> int:
        return self.of.n_instances

    @property
    def n_labels(self) -> int:
        return self.of.n_labels

    def marginals(self) -> FloatArray:
        return self.take(np.arange(self.n_instances)).marginals()

    def take(self, rows: IntArray) -> Relevance:
        read: Relevance = self.reading(self.of.take(rows))
        return read


class Memory:
    """What losses have decided for beliefs that many instances share, the latest few kept.

    A decision for each of B beliefs takes B × K bits; a model lives long and may be asked for any number of losses.
    """

    KEPT = 8

    def __init__(self) -> None:
        self._decided: OrderedDict[Any, tuple[NDArray[np.bool_], NDArray[np.uint64]]] = OrderedDict()
        self._readings: OrderedDict[Any, Memory] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._decided) + sum(map(len, self._readings.values()))

    def of_loss(self, loss: Any, shape: tuple[int, int]) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
        """Return which of the beliefs are decided for a loss, and the decisions in words, (B, W), to be filled in."""
        return self._recall(self._decided, loss, lambda: (np.zeros(shape[0], np.bool_), np.zeros(shape, np.uint64)))

    def of_reading(self, reading: Any) -> Memory:
        """Return what was decided for the beliefs as a reading reads them."""
        return self._recall(self._readings, reading, Memory)

    def _recall(self, kept: OrderedDict[Any, Kept], key: Any, make: Callable[[], Kept]) -> Kept:
        try:
            hash(key)
        except TypeError:  # somebody's own loss, which nothing can be remembered by
            return make()
        with self._lock:
            found = kept[key] if key in kept else make()
            kept[key] = found
            kept.move_to_end(key)
            while len(kept) > self.KEPT:
                kept.popitem(last=False)
            return found
