"""Aggregations: the members' relevances and a loss in, one labeling out.

There are two, and both minimise an expected loss over a distribution:

- *combine then predict* pools what the members believe and minimises the loss over that;
- *predict then combine* lets every member minimise the loss and minimises a second loss over their votes.

The paper's names are settings of these two (:data:`AGGREGATIONS`).  Where the second loss is the first, votes are
combined as the distribution they are, ``ptc-mbr``: the answer to the question that the paper leaves open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comitia._errors import ComitiaError
from comitia._labels import LabelArray
from comitia.losses import Hamming, Loss, SubsetZeroOne, get_loss
from comitia.relevance import Pool, Relevance, get_pool, mean, mixture, votes


def decide(
    members: Iterable[Relevance],
    loss: str | Loss | Callable[..., Any] = "hamming",
    aggregation: str | Aggregation | None = None,
    pool: str | Pool = "mean",
    weights: ArrayLike | None = None,
) -> LabelArray:
    """Return the labeling that the members agree on, made for a loss.

    Parameters
    ----------
    members : iterable of Relevance
        What each member believes about the same n instances; a sequence, or an iterator, which is consumed once.
    loss : str, Loss or callable
        The loss to minimise: see :func:`comitia.losses.get_loss`.
    aggregation : str, Aggregation or None
        A name of :data:`AGGREGATIONS`.  None takes the paper's advice: the mode of the votes (``"ptc-mode"``) for
        subset 0/1 loss, ``"ctp"`` for all others.
    pool : str or Pool
        How ``"ctp"`` and ``"gmv"`` pool marginals: see :data:`comitia.relevance.POOLS`.
    weights : array-like of float, shape (M,) or (M, n), optional
        Weight of each member, for all instances or for each; equal by default.

    Returns
    -------
    ndarray of int8, shape (n, K)

    Examples
    --------
    >>> from comitia import Marginals, decide
    >>> members = [Marginals([[0.9, 0.4, 0.4]]), Marginals([[0.6, 0.4, 0.1]]), Marginals([[0.2, 0.45, 0.3]])]
    >>> decide(members)
    array([[1, 0, 0]], dtype=int8)
    >>> decide(members, loss="f1")
    array([[1, 1, 0]], dtype=int8)
    """
    target = get_loss(loss)
    return get_aggregation(aggregation, target)(members, target, get_pool(pool), weights)


class Aggregation(ABC):
    """How the members' relevances become one labeling."""

    @abstractmethod
    def __call__(
        self, members: Iterable[Relevance], loss: Loss, pool: Pool = mean, weights: ArrayLike | None = None
    ) -> LabelArray:
        """Return the labeling, of shape (n, K), that ``members`` decide on for ``loss``."""

    @abstractmethod
    def staged(
        self, members: Iterable[Relevance], loss: Loss, sizes: Sequence[int], pool: Pool = mean
    ) -> Iterator[LabelArray]:
        """Yield what the first m members decide on, for each m of the ascending ``sizes``."""


@dataclass(frozen=True)
class CombineThenPredict(Aggregation):
    """Pool what the members believe, then minimise the loss: ``loss.minimise(pool(members))``.

    Parameters
    ----------
    pool : Pool, optional
        Used in place of the user's pool: with a mixture this is combining joint distributions.
    loss : Loss, optional
        Minimised in place of the user's loss: with Hamming loss this is graded majority voting.
    """

    pool: Pool | None = None
    loss: Loss | None = None

    def __call__(
        self, members: Iterable[Relevance], loss: Loss, pool: Pool = mean, weights: ArrayLike | None = None
    ) -> LabelArray:
        return (self.loss or loss).minimise((self.pool or pool)(members, weights))

    def staged(
        self, members: Iterable[Relevance], loss: Loss, sizes: Sequence[int], pool: Pool = mean
    ) -> Iterator[LabelArray]:
        believed = _first(members, sizes)
        for size in sizes:
            yield self(believed[:size], loss, pool)


@dataclass(frozen=True)
class PredictThenCombine(Aggregation):
    """Let every member minimise the loss, then minimise a loss over their votes.

    Parameters
    ----------
    combine : Loss, optional
        Minimised over the votes: Hamming loss is voting label by label, subset 0/1 loss takes the mode; None is the
        loss that the members minimised.
    loss : Loss, optional
        Minimised by the members in place of the user's loss: with Hamming loss this is binary majority voting.
    """

    combine: Loss | None = None
    loss: Loss | None = None

    def __call__(
        self,
        members: Iterable[Relevance],
        loss: Loss,
        pool: Pool = mean,  # noqa: ARG002  votes are not pooled
        weights: ArrayLike | None = None,
    ) -> LabelArray:
        first = self.loss or loss
        return (self.combine or first).minimise(votes((first.minimise(member) for member in members), weights))

    def staged(
        self,
        members: Iterable[Relevance],
        loss: Loss,
        sizes: Sequence[int],
        pool: Pool = mean,  # noqa: ARG002  votes are not pooled
    ) -> Iterator[LabelArray]:
        first = self.loss or loss
        cast = np.stack(_first((first.minimise(member) for member in members), sizes))
        for size in sizes:
            yield (self.combine or first).minimise(votes(cast[:size]))


# A tied vote is relevant: in the paper's Figure 2 binary voting jumps at even ensemble sizes.
_MAJORITY = Hamming(ties="relevant")

AGGREGATIONS: dict[str, Aggregation] = {
    "gmv": CombineThenPredict(loss=Hamming()),
    "bmv": PredictThenCombine(_MAJORITY, loss=Hamming()),
    "ctp": CombineThenPredict(),
    "ptc-lw": PredictThenCombine(_MAJORITY),
    "ptc-mode": PredictThenCombine(SubsetZeroOne()),
    "ptc-mbr": PredictThenCombine(),
    "ctp-joint": CombineThenPredict(mixture),
}
"""The aggregations by name.

========= ==========================================================================================
gmv       graded majority voting: pool, then cut at one half
bmv       binary majority voting: every member cuts at one half, then the majority of each label
ctp       pool, then minimise the loss
ptc-lw    every member minimises the loss, then the majority of each label
ptc-mode  every member minimises the loss, then the most frequent labeling
ptc-mbr   every member minimises the loss, then the labeling that minimises it over their votes
ctp-joint mixture of the members' labelset distributions, then minimise the loss over it
========= ==========================================================================================
"""


def get_aggregation(aggregation: str | Aggregation | None, loss: Loss) -> Aggregation:
    """Return the aggregation of this name, the one the paper advises for the loss if None, or the one given."""
    if isinstance(aggregation, Aggregation):
        return aggregation
    name = advised(loss) if aggregation is None else aggregation
    if name not in AGGREGATIONS:
        raise ComitiaError(
            f"unknown aggregation {name!r}: expected an Aggregation, None"
            f" or one of {', '.join(map(repr, AGGREGATIONS))}."
        )
    return AGGREGATIONS[name]


def advised(loss: Loss) -> str:
    """Return the name of the aggregation that the paper advises for this loss."""
    return "ptc-mode" if isinstance(loss, SubsetZeroOne) else "ctp"


def _first(items: Iterable[Any], sizes: Sequence[int]) -> list[Any]:
    """As many items as the largest size asks for, or an error that says how many there are."""
    if not sizes or list(sizes) != sorted(set(sizes)) or sizes[0] < 1:
        raise ComitiaError(f"sizes must be ascending numbers of members, from 1; got {list(sizes)}.")
    found = list(islice(items, sizes[-1]))
    if len(found) < sizes[-1]:
        raise ComitiaError(f"sizes asks for {sizes[-1]} members; there are {len(found)}.")
    return found
