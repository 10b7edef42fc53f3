"""An explicit, sparse joint distribution over labelings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from comitia._arrays import as_floats
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray, check_labels, distinct_rows, index_patterns, pack
from comitia._threads import over_slices
from comitia.relevance import _kernels
from comitia.relevance._base import Relevance
from comitia.relevance._observed import Observed

_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class LabelSets(Relevance):
    """A weighted list of labelings for each instance.

    Parameters
    ----------
    table : array-like of 0/1, shape (U, K)
        The labelings that occur, each once.
    weights : CSR matrix of float, shape (n, U)
        ``weights[i, u] / total`` is the probability that instance i has exactly the labels of ``table[u]``.  The order
        in which a row stores its entries is kept: of labelings that tie in every other way, the first is chosen.
    total : float or array of shape (n,)
        What each row of ``weights`` sums to.  Votes keep their counts, with the number of votes as the total, so that
        a tie is a tie whatever the number of members.
    observed : Observed, optional
        The labelsets of the training data, for readings that make use of them.
    flat : bool
        Whether it has the labelings of ``observed``, taken as alike: how often they occurred is left to a reading.

    Examples
    --------
    The example of the paper: five labelings of three labels.

    >>> import numpy as np
    >>> from comitia.relevance import LabelSets
    >>> table = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> belief = LabelSets(table, [[1/4, 3/16, 3/16, 3/16, 3/16]])
    >>> belief.marginals()
    array([[0.5625, 0.5625, 0.5625]])
    """

    table: LabelArray
    weights: csr_array
    total: float | FloatArray = 1.0
    observed: Observed | None = field(default=None, repr=False)
    flat: bool = field(default=False, repr=False)

    if TYPE_CHECKING:  # the fields are what becomes of these

        def __init__(
            self,
            table: ArrayLike,
            weights: ArrayLike | csr_array,
            total: ArrayLike = 1.0,
            observed: Observed | None = None,
            flat: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        table = check_labels(self.table, "table")
        weights = _checked_weights(self.weights)
        if weights.shape[1] != len(table):
            raise ComitiaError(
                f"weights must have a column for each of the {len(table)} rows of table; got {weights.shape[1]}."
            )
        if len(np.unique(pack(table), axis=0)) < len(table):
            raise ComitiaError("table must hold each labeling once; some rows are equal.")
        if not (np.isfinite(weights.data).all() and (weights.data >= 0).all()):
            raise ComitiaError("weights must be finite and not negative.")
        total = as_floats("total", self.total)
        if total.ndim not in (0, 1) or (total.ndim == 1 and len(total) != weights.shape[0]):
            raise ComitiaError(
                f"total must be a number or hold one for each of {weights.shape[0]} instances; got shape {total.shape}."
            )
        if not (np.isfinite(total).all() and (total > 0).all()):
            raise ComitiaError("total must be finite and positive.")
        sums = weights.sum(axis=1)
        if not np.isfinite(sums).all():
            raise ComitiaError("the weights of an instance must have a finite sum; use smaller ones.")
        wrong = np.flatnonzero(np.abs(sums - total) > _SUM_TOLERANCE * total)
        if wrong.size:
            row = wrong[0]
            raise ComitiaError(
                f"the weights of an instance must sum to {np.broadcast_to(total, sums.shape)[row]:g};"
                f" those of instance {row} sum to {sums[row]:.12g}."
            )
        if weights.data.size and not weights.data.all():
            weights = weights.copy()
            weights.eliminate_zeros()
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "total", float(total) if total.ndim == 0 else total)

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[ArrayLike, ArrayLike]]) -> LabelSets:
        """Build from a pair (labelings, weights) for each instance.

        Parameters
        ----------
        rows : iterable of (array of shape (m_i, K), array of shape (m_i,))
            The labelings of each instance and their probabilities.  A labeling may be named more than once: its
            weights are added.

        Examples
        --------
        >>> from comitia.relevance import LabelSets
        >>> LabelSets.from_rows([([[1, 0], [0, 1], [1, 0]], [0.25, 0.5, 0.25])]).marginals()
        array([[0.5, 0.5]])
        """
        labelings, weights = [], []
        for i, (instance, mass) in enumerate(rows):
            labelings.append(check_labels(instance, f"the labelings of instance {i}"))
            weights.append(as_floats(f"the weights of instance {i}", mass))
            if weights[i].shape != (len(labelings[i]),):
                raise ComitiaError(
                    f"instance {i} has {len(labelings[i])} labelings and weights of shape {weights[i].shape}."
                )
            if labelings[i].shape[1] != labelings[0].shape[1]:
                raise ComitiaError(
                    f"instance {i} has {labelings[i].shape[1]} labels, instance 0 has {labelings[0].shape[1]}."
                )
        if not labelings:
            raise ComitiaError("rows is empty: the number of labels is not known.")
        stacked = np.concatenate(labelings)
        indptr = np.concatenate([[0], np.cumsum([len(w) for w in weights])])
        table, columns = distinct_rows(stacked)
        entries = merge_rows(indptr, columns, np.concatenate(weights), len(table))
        return cls(table, entries)

    @property
    def n_instances(self) -> int:
        return int(self.weights.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.table.shape[1])

    def marginals(self) -> FloatArray:
        p = np.zeros((self.n_instances, self.n_labels))
        _kernels.add_labelsets(self.weights.indptr, self.weights.indices, self.weights.data, self.table, p)
        p /= np.reshape(self.total, (-1, 1))
        # A sum of rounded weights may pass 1 by a few units in the last place.
        return np.minimum(p, 1.0, out=p)

    def distinct(self) -> tuple[LabelSets, IntArray]:
        """Return the distinct distributions and which of them each instance has.

        Votes repeat: where instances have the same labelings with the same weights, one decision serves them all.
        """
        first, place = distinct_entries(self.weights, self.total)
        return self if len(first) == self.n_instances else self.take(first), place

    def label_lists(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the table as lists: row u has the labels ``labels[starts[u]:starts[u + 1]]``."""
        set_cells = np.flatnonzero(self.table.view(np.bool_))
        starts = np.searchsorted(set_cells, np.arange(len(self.table) + 1) * self.n_labels)
        return starts, set_cells % self.n_labels

    def where(self, rows: ArrayLike) -> LabelSets:
        """Return the same distributions for these instances and nothing for the others, which nobody asks about.

        Examples
        --------
        >>> from comitia.relevance import LabelSets
        >>> LabelSets([[1, 0], [0, 1]], [[0.5, 0.5], [0.0, 1.0]]).where([True, False]).weights.toarray()
        array([[0.5, 0.5],
               [0. , 0. ]])
        """
        rows, held, lengths = np.asarray(rows, np.bool_), self.weights, np.diff(self.weights.indptr)
        if not lengths[~rows].any():
            return self
        kept = np.repeat(rows, lengths)
        starts = np.concatenate([[0], np.cumsum(np.where(rows, lengths, 0))]).astype(held.indptr.dtype)
        weights = csr_array((held.data[kept], held.indices[kept], starts), shape=held.shape)
        return self.unchecked(
            table=self.table, weights=weights, total=self.total, observed=self.observed, flat=self.flat
        )

    def take(self, rows: IntArray) -> LabelSets:
        total = self.total if np.ndim(self.total) == 0 else np.asarray(self.total)[rows]
        observed = self.observed and self.observed.take(rows)
        return self.unchecked(
            table=self.table, weights=self.weights[rows], total=total, observed=observed, flat=self.flat
        )


def _checked_weights(given: Any) -> csr_array:
    """Return weights as a CSR matrix whose inside compiled loops can follow, entries of a row in their order."""
    given = given if issparse(given) else as_floats("weights", given)
    if given.ndim != 2:
        raise ComitiaError(f"weights must have shape (n, U); got shape {given.shape}.")
    weights = csr_array(given, dtype=np.float64)
    try:
        weights.check_format(full_check=True)
    except ValueError as error:
        raise ComitiaError(f"weights must be a whole CSR matrix; got one that is damaged: {error}") from error
    merged = merge_rows(weights.indptr, weights.indices, weights.data, weights.shape[1])
    return merged if merged.nnz < weights.nnz else weights


def distinct_entries(weights: csr_array, total: float | FloatArray) -> tuple[IntArray, IntArray]:
    """Return the first of the rows of a CSR matrix that have the same entries, in their order, and the same total.

    And which of these each row is like.
    """
    n = weights.shape[0]
    fingerprints = np.empty((n, 2), np.uint64)
    totals = np.array(np.broadcast_to(total, n))  # writable: compiled once for all

    def fingerprint(rows: slice) -> None:
        indptr = weights.indptr[rows.start : rows.stop + 1]
        _kernels.fingerprint_rows(indptr, weights.indices, weights.data, totals[rows], fingerprints[rows])

    over_slices(fingerprint, n, at_least=8192)
    place = np.empty(n, np.int32)
    first = index_patterns(fingerprints, place)
    if not _kernels.rows_are_alike(weights.indptr, weights.indices, weights.data, totals, first[place]):
        # Fingerprints of different rows can be made to agree: then nothing is saved, and nothing is wrong.
        return np.arange(n), np.arange(n)
    return first, place.astype(np.intp)


def merge_rows(indptr: IntArray, columns: NDArray[np.int32], data: FloatArray, width: int) -> csr_array:
    """Return a CSR matrix in which repeated columns of a row are added and keep the place of their first."""
    indptr, columns, data = _kernels.merge_repeats(
        np.ascontiguousarray(indptr, np.int64), columns.astype(np.int32, copy=False), data, width
    )
    return csr_array((data, columns, indptr), shape=(len(indptr) - 1, width))
