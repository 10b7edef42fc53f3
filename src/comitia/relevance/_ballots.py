"""Votes are a distribution too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from comitia._arrays import as_floats
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, index_patterns, pack, unpack
from comitia._threads import over_slices
from comitia.relevance import _kernels
from comitia.relevance._labelsets import LabelSets


def votes(labelings: ArrayLike | Iterable[ArrayLike], weights: ArrayLike | None = None) -> LabelSets:
    """Return the labelings that members voted for, as a distribution.

    Each instance's distribution gives a labeling the share of the members that voted for it.  Minimising Hamming loss
    over it is majority voting label by label, minimising subset 0/1 loss is taking the mode, and minimising the loss
    that the members themselves minimised is the answer to the question which the paper leaves open.

    Parameters
    ----------
    labelings : array-like of 0/1, shape (M, n, K), or iterable of M arrays of shape (n, K)
        What each member predicts.  An iterable is consumed one member at a time and kept packed, a bit for a label.
    weights : array-like of float, shape (M,) or (M, n), optional
        Weight of each member's vote, for all instances or for each; equal by default.

    Returns
    -------
    LabelSets
        With the counts as weights and their sum as total.  A row stores the labelings in the order in which they were
        first cast.

    Examples
    --------
    >>> from comitia.relevance import votes
    >>> ballot = votes([[[1, 0]], [[1, 1]], [[1, 1]]])
    >>> ballot.table
    array([[1, 0],
           [1, 1]], dtype=int8)
    >>> ballot.weights.toarray(), ballot.total
    (array([[1., 2.]]), 3.0)
    """
    return Ballots.cast(labelings).counted(weights)


@dataclass(frozen=True, eq=False)
class Ballots:
    """The labelings that members voted for, a bit for a label, to be counted for all members or for the first ones.

    Parameters
    ----------
    words : array of uint64, shape (M, n, ceil(K / 64))
        The labelings, packed.
    n_labels : int
        K.

    Examples
    --------
    >>> from comitia.relevance import Ballots
    >>> ballots = Ballots.cast([[[1, 0]], [[1, 1]], [[1, 1]]])
    >>> ballots.counted().weights.toarray(), ballots.counted(size=2).weights.toarray()
    (array([[1., 2.]]), array([[1., 1.]]))
    """

    words: NDArray[np.uint64]
    n_labels: int

    @classmethod
    def cast(cls, labelings: ArrayLike | Iterable[ArrayLike]) -> Ballots:
        """Take the members' votes, one member at a time; see :func:`votes`."""
        if not isinstance(labelings, Iterable) or (isinstance(labelings, np.ndarray) and labelings.ndim != 3):
            raise ComitiaError(f"labelings must have shape (M, n, K); got shape {np.shape(labelings)}.")
        shape: tuple[int, ...] | None = None
        packed = []
        for m, labeling in enumerate(labelings):
            labels = np.asarray(labeling)
            shape = shape or labels.shape
            if labels.shape != shape:
                raise ComitiaError(f"member {m} has labelings of shape {labels.shape}, member 0 of shape {shape}.")
            packed.append(pack(labels, f"the labelings of member {m}"))
        if shape is None:
            raise ComitiaError("there are no votes: at least one member is needed.")
        return cls(np.stack(packed), shape[1])

    def counted(self, weights: ArrayLike | None = None, size: int | None = None) -> LabelSets:
        """Return the votes of the first ``size`` members, or of all, as a distribution."""
        words = self.words[:size]
        mass = check_member_weights(weights, len(words), words.shape[1])
        return _count(words, mass, self.n_labels)


def check_member_weights(weights: ArrayLike | None, n_members: int, n_instances: int) -> FloatArray:
    """Return member weights of shape (M, 1) or (M, n), ones by default, or say what is wrong with them."""
    if weights is None:
        return np.ones((n_members, 1))
    mass = as_floats("weights", weights)
    if not mass.size or mass.shape not in ((n_members,), (n_members, n_instances)):
        raise ComitiaError(
            f"weights must have one entry for each of {n_members} members, or for each member and each of"
            f" {n_instances} instances; got shape {mass.shape}."
        )
    mass = mass.reshape(n_members, -1)
    if not (np.isfinite(mass).all() and (mass >= 0).all() and _countable(mass.sum(axis=0))):
        raise ComitiaError("weights must be finite, also in sum, not negative, and not all zero for an instance.")
    return np.ascontiguousarray(mass)


def _countable(total: FloatArray) -> bool:
    return bool((np.isfinite(total) & (total > 0)).all())


def _count(packed: NDArray[np.uint64], mass: FloatArray, n_labels: int) -> LabelSets:
    n = packed.shape[1]
    parts: dict[int, tuple[NDArray[np.int64], NDArray[np.uint64], FloatArray]] = {}

    def group(rows: slice) -> None:
        parts[rows.start] = _kernels.count_votes(packed, mass, rows.start, rows.stop)

    over_slices(group, n)
    lengths, patterns, data = map(np.concatenate, zip(*(parts[start] for start in sorted(parts)), strict=True))
    columns = np.empty(len(patterns), np.int32)
    distinct = index_patterns(patterns, columns)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    weights = csr_array((data, columns, indptr), shape=(n, len(distinct)))
    total = mass.sum(axis=0)
    return LabelSets.unchecked(
        table=unpack(patterns[distinct], n_labels),
        weights=weights,
        total=total if mass.shape[1] > 1 else float(total[0]),
    )
