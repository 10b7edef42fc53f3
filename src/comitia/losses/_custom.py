"""A user's own loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from comitia._arrays import is_count
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray, check_labels, distinct_rows
from comitia.losses._base import Loss
from comitia.relevance import LabelSets, NonEmptyMarginals

_ALL_UP_TO = 8


@dataclass(frozen=True)
class CustomLoss(Loss):
    """Any function of (truth, labeling), minimised over a stated set of candidates.

    Parameters
    ----------
    function : callable
        Takes truth and labeling, int8 arrays of shape (m, K), and returns m finite losses.  A function that is defined
        at the top of a module can be pickled with a model; a lambda cannot.
    candidates : {"auto", "all", "support", "top-k"} or array of 0/1, shape (C, K)
        Which labelings compete for an instance: all 2^K of them (up to 16 labels), those the belief gives weight to,
        or the K + 1 sets of its most probable labels; or the labelings given.  ``"auto"`` is all of them up to 8
        labels, and otherwise the support and the top-k sets together.
    outcomes : int
        Marginals stand for 2^K labelings.  Where that is no more than this number the expectation is exact; otherwise
        it is taken over this many labelings drawn from them, with a fixed seed.

    Examples
    --------
    A missed first label costs ten times as much as any other error.

    >>> import numpy as np
    >>> from comitia.losses import CustomLoss
    >>> from comitia.relevance import Marginals
    >>> def urgent(truth, labeling):
    ...     wrong = truth != labeling
    ...     return wrong.sum(axis=1) + 9.0 * (truth[:, 0] > labeling[:, 0])
    >>> CustomLoss(urgent).minimise(Marginals([[0.1, 0.4], [0.05, 0.9]]))
    array([[1, 0],
           [0, 1]], dtype=int8)
    """

    function: Callable[[LabelArray, LabelArray], ArrayLike]
    candidates: Literal["auto", "all", "support", "top-k"] | tuple[tuple[int, ...], ...] = "auto"
    outcomes: int = 1024

    if TYPE_CHECKING:  # the fields are what becomes of these

        def __init__(
            self,
            function: Callable[[LabelArray, LabelArray], ArrayLike],
            candidates: Literal["auto", "all", "support", "top-k"] | ArrayLike = "auto",
            outcomes: int = 1024,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ComitiaError(f"function must be a function of (truth, labeling); got {self.function!r}.")
        if not isinstance(self.candidates, str):
            rows = check_labels(self.candidates, "candidates")
            object.__setattr__(self, "candidates", tuple(map(tuple, rows.tolist())))
        elif self.candidates not in ("auto", "all", "support", "top-k"):
            raise ComitiaError(
                f"candidates must be 'auto', 'all', 'support', 'top-k' or labelings; got {self.candidates!r}."
            )
        if not is_count(self.outcomes, 1):
            raise ComitiaError(f"outcomes must be a positive number; got {self.outcomes!r}.")

    def _value(self, y: LabelArray, h: LabelArray) -> FloatArray:
        values = np.asarray(self.function(y, h), dtype=np.float64)
        if values.shape != (len(y),):
            raise ComitiaError(f"the loss function must return {len(y)} losses, one a row; got shape {values.shape}.")
        if not np.isfinite(values).all():
            raise ComitiaError("the loss function must return finite losses.")
        return values

    def _minimise_marginals(self, p: FloatArray) -> LabelArray:
        return self._minimise_labelsets(self._spelled_out(p))

    def _minimise_labelsets(self, sets: LabelSets) -> LabelArray:
        distinct, place = sets.distinct()
        labeling = np.empty((distinct.n_instances, distinct.n_labels), np.int8)
        weights = distinct.weights
        marginals = distinct.marginals()
        for i in range(distinct.n_instances):
            entries = slice(weights.indptr[i], weights.indptr[i + 1])
            support = distinct.table[weights.indices[entries]]
            compete = self._competing(support, marginals[i])
            y = np.tile(support, (len(compete), 1))
            h = np.repeat(compete, len(support), axis=0)
            risk = self._value(y, h).reshape(len(compete), -1) @ weights.data[entries]
            labeling[i] = compete[np.argmin(risk)]
        return labeling[place]

    def _risk_marginals(self, p: FloatArray, h: LabelArray) -> FloatArray:
        return self._risk_labelsets(self._spelled_out(p), h)

    def _minimise_nonempty(self, belief: NonEmptyMarginals) -> LabelArray:
        return self._minimise_labelsets(self._spelled_out(belief.q, some=True))

    def _risk_nonempty(self, belief: NonEmptyMarginals, h: LabelArray) -> FloatArray:
        return self._risk_labelsets(self._spelled_out(belief.q, some=True), h)

    def _competing(self, support: LabelArray, marginals: FloatArray) -> LabelArray:
        K = len(marginals)
        if not isinstance(self.candidates, str):
            given = np.array(self.candidates, np.int8)
            if given.shape[1] != K:
                raise ComitiaError(f"candidates have {given.shape[1]} labels, the belief has {K}.")
            return given
        if self.candidates == "all" or (self.candidates == "auto" and K <= _ALL_UP_TO):
            if K > 16:
                raise ComitiaError(f"candidates='all' takes at most 16 labels; got {K}. Use 'auto' or name them.")
            return all_labelings(K)
        rank = np.argsort(np.argsort(-marginals, kind="stable"), kind="stable")
        top = (rank < np.arange(K + 1)[:, None]).astype(np.int8)
        chosen = {"support": [support], "top-k": [top], "auto": [support, top]}[self.candidates]
        return distinct_rows(np.concatenate(chosen))[0]

    def _spelled_out(self, p: FloatArray, some: bool = False) -> LabelSets:
        """Marginals as an explicit distribution, without the empty labeling if ``some`` label is relevant.

        All labelings if they are few, otherwise a sample of them.
        """
        n, K = p.shape
        if self.outcomes >= 2**K:
            table = all_labelings(K)
            weights = np.where(table, p[:, None, :], 1 - p[:, None, :]).prod(axis=2)
            if some:
                weights[:, 0] = 0.0
            return LabelSets(table, weights / weights.sum(axis=1, keepdims=True))
        if not n:
            return LabelSets(np.zeros((1, K), np.int8), np.zeros((0, 1)))
        u = np.random.default_rng(0).random((self.outcomes, K + 1))
        drawn = (_drawn_given_some(row, u) if some else (u[:, :K] < row).astype(np.int8) for row in p)
        return LabelSets.from_rows((rows, np.full(self.outcomes, 1 / self.outcomes)) for rows in drawn)


def _drawn_given_some(p: FloatArray, u: FloatArray) -> LabelArray:
    """Draw labelings of independent labels of which one or more is relevant: the first of them, then those after it."""
    before = np.concatenate([[1.0], np.cumprod(1 - p)[:-1]])
    reach = np.cumsum(p * before)
    first = np.minimum(np.searchsorted(reach, u[:, -1] * reach[-1], side="right"), len(p) - 1)[:, None]
    labels = np.arange(len(p))
    drawn = (labels == first) | ((labels > first) & (u[:, :-1] < p))
    return np.asarray(drawn, dtype=np.int8)


def all_labelings(n_labels: int) -> LabelArray:
    """Return all 2^K labelings, the empty one first."""
    codes = np.arange(2**n_labels, dtype=np.uint32)
    return ((codes[:, None] >> np.arange(n_labels)) & 1).astype(np.int8)
