"""A probability for every label, read as independent or as never all irrelevant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from comitia._compiled import njit
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray
from comitia._once import once
from comitia._threads import over_slices, rows_at_once
from comitia.relevance._base import Relevance
from comitia.relevance._observed import Observed


@dataclass(frozen=True, eq=False)
class Marginals(Relevance):
    """Marginal probabilities of relevance.

    A loss that needs more than marginals reads them as independent labels, P(y) = Π p_k^{y_k} (1 − p_k)^{1 − y_k}.

    Parameters
    ----------
    p : array-like of float, shape (n, K)
        Probability that label k is relevant for instance i, in [0, 1].
    observed : Observed, optional
        The labelsets of the training data, for readings that make use of them.

    Examples
    --------
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.2, 0.7, 0.5]])
    >>> belief.n_instances, belief.n_labels
    (1, 3)
    """

    p: FloatArray
    observed: Observed | None = field(default=None, repr=False)

    if TYPE_CHECKING:  # the fields are what becomes of these

        def __init__(self, p: ArrayLike, observed: Observed | None = None) -> None: ...

    def __post_init__(self) -> None:
        p = np.asarray(self.p)
        if p.ndim != 2 or p.shape[1] == 0:
            raise ComitiaError(f"p must have shape (n, K) with K ≥ 1; got shape {p.shape}.")
        if p.dtype.kind not in "fiub":
            raise ComitiaError(f"p must hold real numbers; got an array of {p.dtype}.")
        p = np.ascontiguousarray(p, dtype=np.float64)
        if not _are_probabilities(p):
            row, column = np.argwhere(~((p >= 0) & (p <= 1)))[0]
            raise ComitiaError(
                f"p must hold probabilities in [0, 1]; got {p[row, column]} for instance {row}, label {column}."
            )
        object.__setattr__(self, "p", p)

    @property
    def n_instances(self) -> int:
        return len(self.p)

    @property
    def n_labels(self) -> int:
        return int(self.p.shape[1])

    def marginals(self) -> FloatArray:
        return self.p

    def take(self, rows: IntArray) -> Marginals:
        return self.unchecked(p=self.p[rows], observed=self.observed and self.observed.take(rows))


def _are_probabilities(p: FloatArray) -> bool:
    """Whether all numbers lie in [0, 1]; NaN does not."""
    found: list[bool] = []

    def look(rows: slice) -> None:
        some = p[rows]
        found.append(not some.size or bool(some.min() >= 0 and some.max() <= 1))

    over_slices(look, len(p), at_least=rows_at_once(p.shape[1]))
    return all(found)


# Where marginals sum to one or less, no distribution without the empty labeling has them.  With c this small,
# labelings of one label have nearly all the probability, in proportion to the marginals.
_LEAST_FACTOR = 1e-6
_LEAST_TOTAL = 1e-290
# Where they sum to more than this, c is larger than that.
_SURE_TOTAL = 1 + 1e-5
# From here on 1 − Π (1 − c p_k) is c to a rounding error of the product a label, and no logarithms are needed.
_NO_LOGARITHMS = 0.1


@dataclass(frozen=True, eq=False)
class NonEmptyMarginals(Relevance):
    """Independent labels of which at least one is relevant.

    With probabilities q_k of the independent labels, P(y) = Π q_k^{y_k} (1 − q_k)^{1 − y_k} / s for y ≠ ∅, with
    s = 1 − Π (1 − q_k), and the marginals are q / s.  Both are found when they are asked for: who needs marginals alone
    pays nothing for the rest.

    Parameters
    ----------
    given : array of float, shape (n, K)
        Marginals of a belief that did not know that some label is relevant.

    See Also
    --------
    comitia.relevance.NonEmpty : the reading that makes it.

    Examples
    --------
    >>> from comitia import SubsetZeroOne
    >>> from comitia.relevance import Marginals, NonEmptyMarginals
    >>> belief = NonEmptyMarginals.of(Marginals([[0.4, 0.45]]))
    >>> SubsetZeroOne().minimise(belief)
    array([[0, 1]], dtype=int8)
    """

    given: FloatArray

    @classmethod
    def of(cls, belief: Marginals) -> NonEmptyMarginals:
        """Return the distribution of the largest entropy that has these marginals and no empty labeling.

        No such distribution has marginals that sum to one or less: there it is the limit in which labels exclude each
        other, with marginals that are in proportion to the given ones and sum to one.
        """
        return cls.unchecked(given=belief.p)

    @property
    def n_instances(self) -> int:
        return len(self.given)

    @property
    def n_labels(self) -> int:
        return int(self.given.shape[1])

    @once
    def q(self) -> FloatArray:
        """Probabilities of the independent labels, of shape (n, K)."""
        return self._found(_independent)

    @once
    def p(self) -> FloatArray:
        """The marginals, of shape (n, K)."""
        return self._found(_conditioned)

    def _found(self, find: Callable[[FloatArray, int, int, FloatArray], None]) -> FloatArray:
        found = np.empty_like(self.given)
        over_slices(lambda rows: find(self.given, rows.start, rows.stop, found), len(found))
        return found

    def marginals(self) -> FloatArray:
        return self.p

    def some(self) -> FloatArray:
        """Return s = 1 − Π (1 − q_k), the weight of all labelings but the empty one, of shape (n,)."""
        return some_label(self.q)

    def take(self, rows: IntArray) -> NonEmptyMarginals:
        return self.unchecked(given=self.given[rows])


def some_label(q: FloatArray) -> FloatArray:
    """Return the probability that some of each row's independent labels is relevant, of shape (n,)."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(np.log1p(-q).sum(axis=1)))


@njit(cache=True, nogil=True)
def _independent(p: Any, start: int, stop: int, q: Any) -> None:
    """Fill q = c p, c the positive root of c = 1 − Π (1 − c p_k)."""
    positive = np.empty(p.shape[1])
    for i in range(start, stop):
        count, total, largest = _positive(p, i, positive)
        if total < _LEAST_TOTAL:  # nothing is believed in: every label alone is as good as any other
            for k in range(p.shape[1]):
                q[i, k] = _LEAST_FACTOR / p.shape[1]
            continue
        c = _factor(positive, count, total, largest)
        for k in range(p.shape[1]):
            q[i, k] = c * p[i, k]


@njit(cache=True, nogil=True)
def _conditioned(p: Any, start: int, stop: int, conditioned: Any) -> None:
    """Fill the marginals q / s of the distribution: where there is a root s is c, and they are p to the bit."""
    positive = np.empty(p.shape[1])
    for i in range(start, stop):
        count, total, largest = _positive(p, i, positive)
        if total < _LEAST_TOTAL:
            least = _LEAST_FACTOR / p.shape[1]
            for k in range(p.shape[1]):
                conditioned[i, k] = least / -np.expm1(p.shape[1] * np.log1p(-least))
            continue
        c = 1.0 if total > _SURE_TOTAL else _factor(positive, count, total, largest)
        s = c
        if total <= 1.0 or c == _LEAST_FACTOR:
            log_empty = 0.0
            for k in range(count):
                log_empty += np.log1p(-c * positive[k])
            s = -np.expm1(log_empty)
        for k in range(p.shape[1]):
            conditioned[i, k] = p[i, k] * (c / s)


@njit(cache=True, nogil=True)
def _positive(p: Any, i: int, positive: Any) -> Any:
    """Collect what is not zero, as zeros add nothing and trees have many: how many, their sum, and the largest."""
    count, total, largest = 0, 0.0, 0.0
    for k in range(p.shape[1]):
        if p[i, k] > 0.0:
            positive[count] = p[i, k]
            count += 1
            total += p[i, k]
            largest = max(largest, p[i, k])
    return count, total, largest


@njit(cache=True, nogil=True)
def _factor(p: Any, count: int, total: float, largest: float) -> float:
    """Return c, for ``count`` positive marginals.

    1 − Π (1 − c p_k) − c is concave, zero at c = 0 and not positive at c = 1: from there Newton's steps fall towards
    the root.  Close to zero the product is taken by logarithms, which keep its distance to one.
    """
    if total <= 1.0:
        return _LEAST_FACTOR / total
    c = 1.0
    while c > _LEAST_FACTOR and largest < 1.0:
        slope = 0.0
        if c > _NO_LOGARITHMS:
            empty = 1.0
            for k in range(count):
                other = 1.0 - c * p[k]
                empty *= other
                slope += p[k] / other
            some = 1.0 - empty
        else:
            log_empty = 0.0
            for k in range(count):
                log_empty += np.log1p(-c * p[k])
                slope += p[k] / (1.0 - c * p[k])
            empty, some = np.exp(log_empty), -np.expm1(log_empty)
        excess = some - c
        step = excess / (slope * empty - 1.0)
        if not (excess < 0.0 and step > 1e-15 * c):
            break
        c = max(c - step, _LEAST_FACTOR)
    return c
