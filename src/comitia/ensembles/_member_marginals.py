"""Marginals of members that are asked together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from comitia._labels import FloatArray
from comitia._once import once
from comitia.learners._logistic_predict import Predictor, averaged, by_member
from comitia.relevance import Marginals, Members, Observed, Relevance


@dataclass(frozen=True)
class MemberMarginals(Members):
    """What members believe about some instances, computed by as many jobs as were asked for.

    Parameters
    ----------
    predictor : Predictor
        Gives marginals for some rows.
    shape : (members, instances, labels)
    known : Observed
        The labelsets of the training data, which go with every belief.
    n_jobs : int or None
    """

    predictor: Predictor
    shape: tuple[int, int, int]
    known: Observed
    n_jobs: int | None

    def __iter__(self) -> Iterator[Relevance]:
        return (Marginals.unchecked(p=p, observed=self.known) for p in self._of_each)

    @once
    def _of_each(self) -> FloatArray:
        """Found once, however often members are gone through."""
        return by_member(self.predictor, self.shape, self.n_jobs)

    @property
    def observed(self) -> Observed:
        return self.known

    def mean(self) -> FloatArray:
        """Return the mean of the members' marginals, without keeping those."""
        return averaged(self.predictor, self.shape, self.n_jobs)


@dataclass(frozen=True)
class StackedMarginals(Members):
    """What members believe about a few instances, at hand.

    Parameters
    ----------
    p : array of float, shape (M, n, K)
    known : Observed
        The labelsets of the training data, which go with every belief.
    """

    p: FloatArray
    known: Observed

    def __iter__(self) -> Iterator[Relevance]:
        return (Marginals.unchecked(p=p, observed=self.known) for p in self.p)

    @property
    def observed(self) -> Observed:
        return self.known

    def mean(self) -> FloatArray:
        """Return the mean of the members' marginals, added up in their order."""
        total = np.zeros(self.p.shape[1:])
        for p in self.p:
            total += p
        total /= len(self.p)
        return np.minimum(total, 1.0, out=total)
