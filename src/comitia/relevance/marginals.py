"""A probability for every label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray
from comitia.relevance.base import Relevance


@dataclass(frozen=True, eq=False)
class Marginals(Relevance):
    """Marginal probabilities of relevance.

    A loss that needs more than marginals reads them as independent labels, P(y) = Π p_k^{y_k} (1 − p_k)^{1 − y_k}.

    Parameters
    ----------
    p : array-like of float, shape (n, K)
        Probability that label k is relevant for instance i, in [0, 1].

    Examples
    --------
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.2, 0.7, 0.5]])
    >>> belief.n_instances, belief.n_labels
    (1, 3)
    """

    p: FloatArray

    def __post_init__(self) -> None:
        p = np.asarray(self.p)
        if p.ndim != 2 or p.shape[1] == 0:
            raise ComitiaError(f"p must have shape (n, K) with K ≥ 1; got shape {p.shape}.")
        if p.dtype.kind not in "fiub":
            raise ComitiaError(f"p must hold real numbers; got an array of {p.dtype}.")
        p = np.ascontiguousarray(p, dtype=np.float64)
        if p.size and not (p.min() >= 0 and p.max() <= 1):
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
        return self._trusted(p=self.p[rows])
