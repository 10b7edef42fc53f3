"""Pools: one relevance made of the members' relevances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from comitia import _titles
from comitia._arrays import as_floats, lies_in
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, distinct_rows
from comitia._names import looked_up
from comitia.relevance._ballots import check_member_weights
from comitia.relevance._base import Held, Members, Relevance, Shared, SharedMembers
from comitia.relevance._kernels import put_held, put_rows
from comitia.relevance._labelsets import LabelSets, merge_rows
from comitia.relevance._marginals import Marginals

_NO_LABELSETS = (
    "a mixture needs members that give label sets; member {} gives {}. Use an aggregation that works on marginals."
)


class Pool(ABC):
    """Makes one relevance of many: ``pool(members, weights=None)``.

    ``members`` are consumed one at a time; a pool that must see them all at once says so.  ``weights`` are of members,
    (M,), or of members for each instance, (M, n).

    Examples
    --------
    >>> from comitia.relevance import Marginals, Pool
    >>> class Boldest(Pool):
    ...     def __call__(self, members, weights=None):
    ...         return max(members, key=lambda member: abs(member.marginals() - 0.5).sum())
    >>> Boldest()([Marginals([[0.6, 0.4]]), Marginals([[0.9, 0.2]])]).marginals()
    array([[0.9, 0.2]])
    """

    joint: ClassVar[bool] = False
    """Whether it pools joint distributions, not marginals."""

    keeps_zeros: ClassVar[bool] = False
    """Whether a label that has probability zero for every member has it for all together."""

    about: ClassVar[str] = ""
    """What it makes of the members' probabilities, in a line, for who meets its name in a report."""

    @abstractmethod
    def __call__(self, members: Iterable[Relevance], weights: ArrayLike | None = None) -> Relevance:
        """Return the pooled relevance of ``members``, a sequence or an iterator."""


@dataclass(frozen=True)
class Mean(Pool):
    """Arithmetic mean of the marginals, p_k = Σ_j w_j p_jk / Σ_j w_j: the paper's pool.

    Examples
    --------
    >>> from comitia.relevance import Marginals, mean
    >>> mean([Marginals([[0.2, 1.0]]), Marginals([[0.4, 0.0]])]).marginals()
    array([[0.3, 0.5]])
    """

    keeps_zeros: ClassVar[bool] = True

    def __call__(self, members: Iterable[Relevance], weights: ArrayLike | None = None) -> Marginals:
        if weights is None and isinstance(members, Members):
            return Marginals.unchecked(p=members.mean(), observed=members.observed)
        if isinstance(members, SharedMembers):
            mass = check_member_weights(weights, *members.held.index.shape)
            return Marginals.unchecked(p=members.weighted_mean(mass), observed=members.observed)
        first, weighted = _weighted(members, weights)
        total, p = np.zeros((1, 1)), np.zeros((first.n_instances, first.n_labels))
        for member, weight in weighted:
            p += member.marginals() if weights is None else weight * member.marginals()
            total = total + weight
        p /= total
        return Marginals.unchecked(p=np.minimum(p, 1.0, out=p), observed=first.observed)


@dataclass(frozen=True)
class LogOdds(Pool):
    """Mean of the log-odds, the normalised geometric mean: p_k ∝ Π_j p_jk^{w_j}.

    A member that is certain would overrule all others, and two that are certain of opposite things leave 0/0.  So
    each probability is first moved towards one half, p ← ε + (1 − 2ε) p.

    Parameters
    ----------
    epsilon : float in (0, 1/2)
        How far: no member's odds count for more than (1 − ε) / ε.

    Examples
    --------
    >>> from comitia.relevance import Marginals, log_odds
    >>> log_odds([Marginals([[0.5]]), Marginals([[0.9]])]).p.round(2)
    array([[0.75]])
    """

    about: ClassVar[str] = "the mean of the members' log-odds, in which those that are sure count for more"
    epsilon: float = 1e-3

    def __post_init__(self) -> None:
        if not lies_in(self.epsilon, 0, 0.5) or self.epsilon in (0, 0.5):
            raise ComitiaError(f"epsilon must lie between 0 and 1/2; got {self.epsilon!r}.")

    def __call__(self, members: Iterable[Relevance], weights: ArrayLike | None = None) -> Marginals:
        first, weighted = _weighted(members, weights)
        total, odds = np.zeros((1, 1)), np.zeros((first.n_instances, first.n_labels))
        for member, weight in weighted:
            odds += weight * logit(self.epsilon + (1 - 2 * self.epsilon) * member.marginals())
            total = total + weight
        return Marginals.unchecked(p=expit(odds / total), observed=first.observed)


@dataclass(frozen=True)
class Median(Pool):
    """Median of the marginals: robust against members that are far off.  Keeps all members in memory.

    With weights, the midpoint of the probabilities that have at most half the weight below and above them.

    Examples
    --------
    >>> from comitia.relevance import Marginals, median
    >>> median([Marginals([[0.1]]), Marginals([[0.2]]), Marginals([[0.9]])]).p
    array([[0.2]])
    """

    about: ClassVar[str] = "of the members' probabilities the middle one, in place of the mean"
    keeps_zeros: ClassVar[bool] = True

    def __call__(self, members: Iterable[Relevance], weights: ArrayLike | None = None) -> Marginals:
        first, stack, mass = _stacked(members, weights)
        if weights is None:
            return Marginals.unchecked(p=np.median(stack, axis=0), observed=first.observed)
        order = np.argsort(stack, axis=0)
        ordered = np.take_along_axis(stack, order, axis=0)
        below = np.cumsum(np.take_along_axis(np.broadcast_to(mass, stack.shape), order, axis=0), axis=0)
        half = below[-1] / 2
        low = np.take_along_axis(ordered, (below < half).sum(axis=0)[None], axis=0)[0]
        # Members of no weight may stand between the two middle ones: skip to the next that adds weight.
        high = np.take_along_axis(ordered, (below <= half).sum(axis=0)[None], axis=0)[0]
        return Marginals.unchecked(p=(low + high) / 2, observed=first.observed)


@dataclass(frozen=True)
class TrimmedMean(Pool):
    """Mean of the marginals without the largest and the smallest.  Keeps all members in memory; takes no weights.

    Parameters
    ----------
    share : float in [0, 1/2)
        Share of the members that is left out at either end, rounded down to whole members.

    Examples
    --------
    >>> from comitia.relevance import Marginals, TrimmedMean
    >>> TrimmedMean(0.25)([Marginals([[p]]) for p in (0.0, 0.2, 0.4, 1.0)]).p
    array([[0.3]])
    """

    about: ClassVar[str] = "the mean of the members' probabilities without the largest and the smallest"
    keeps_zeros: ClassVar[bool] = True

    share: float = 0.1

    def __post_init__(self) -> None:
        if not lies_in(self.share, 0, 0.5) or self.share == 0.5:
            raise ComitiaError(f"share must lie in [0, 1/2); got {self.share!r}.")

    def __call__(self, members: Iterable[Relevance], weights: ArrayLike | None = None) -> Marginals:
        if weights is not None:
            raise ComitiaError("a trimmed mean takes no member weights: use the pool 'mean' or 'log_odds'.")
        first, stack, _ = _stacked(members, None)
        left_out = int(self.share * len(stack))
        stack.sort(axis=0)
        trimmed = stack[left_out : len(stack) - left_out].mean(axis=0)
        return Marginals.unchecked(p=trimmed, observed=first.observed)


@dataclass(frozen=True)
class Mixture(Pool):
    """Mixture of joint distributions, P(y) = Σ_j w_j P_j(y) / Σ_j w_j: pools label sets into label sets.

    Examples
    --------
    >>> from comitia.relevance import LabelSets, mixture
    >>> one = LabelSets([[1, 0], [0, 1]], [[0.5, 0.5]])
    >>> two = LabelSets([[0, 1]], [[1.0]])
    >>> pooled = mixture([one, two])
    >>> pooled.table.tolist(), (pooled.weights.toarray() / pooled.total).tolist()
    ([[1, 0], [0, 1]], [[0.25, 0.75]])
    """

    joint: ClassVar[bool] = True
    keeps_zeros: ClassVar[bool] = True

    def __call__(self, members: Iterable[Relevance], weights: ArrayLike | None = None) -> LabelSets:
        if isinstance(members, Held):
            return _looked_up(members, check_member_weights(weights, *members.index.shape))
        _, weighted = _weighted(members, weights)
        parts: list[LabelSets] = []
        masses: list[FloatArray] = []
        for member, weight in weighted:
            sets = member.spelled_out() if isinstance(member, Shared) else member
            if not isinstance(sets, LabelSets):
                raise ComitiaError(_NO_LABELSETS.format(len(parts), type(sets).__name__))
            parts.append(sets if len(weight) == 1 else sets.where(weight[:, 0] > 0))
            masses.append(weight[:, 0])
        table, places = _common_table(parts)
        n = parts[0].n_instances
        lengths = np.stack([np.diff(part.weights.indptr) for part in parts], axis=1)
        indptr = np.concatenate([[0], np.cumsum(lengths.sum(axis=1))])
        columns = np.empty(indptr[-1], np.int32)
        data = np.empty(indptr[-1])
        # Row i holds the entries of the first member, then the second's: the order in which labelings occur.
        start = indptr[:-1].copy()
        for part, mass, place in zip(parts, masses, places, strict=True):
            held = part.weights
            scale = np.array(np.broadcast_to(mass / part.total, n))  # writable: compiled once for all
            put_rows(held.indptr.astype(np.int64), held.indices.astype(np.int32, copy=False), held.data, scale, place,
                     start, columns, data)  # fmt: skip
        merged = merge_rows(indptr, columns, data, len(table))
        merged.eliminate_zeros()
        total = np.sum(masses, axis=0)
        return LabelSets.unchecked(
            table=table,
            weights=merged,
            total=float(total[0]) if len(total) == 1 else total,
            observed=parts[0].observed,
            flat=all(part.flat for part in parts) and table is parts[0].table,
        )


def _looked_up(members: Held, mass: FloatArray) -> LabelSets:
    """Return the mixture of members that share a table: the entries of its rows are put one after the other."""
    reached, place = np.unique(members.index, return_inverse=True)
    sets = members.of.take(reached)
    if not isinstance(sets, LabelSets):
        raise ComitiaError(_NO_LABELSETS.format(0, type(sets).__name__))
    held, index = sets.weights, place.reshape(members.index.shape)
    starts = held.indptr.astype(np.int64)
    put = mass > 0 if mass.shape[1] > 1 else True
    lengths = (np.diff(starts)[index] * put).sum(axis=0)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    columns, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    total = np.array(np.broadcast_to(sets.total, len(reached)))  # writable: compiled once for all
    put_held(index, mass, starts, held.indices.astype(np.int32, copy=False), held.data, total, columns, data)
    merged = merge_rows(indptr, columns, data, len(sets.table))
    merged.eliminate_zeros()
    weight = mass.sum(axis=0)
    return LabelSets.unchecked(
        table=sets.table,
        weights=merged,
        total=float(weight[0]) if len(weight) == 1 else weight,
        observed=members.observed,
        flat=sets.flat,
    )


def _common_table(parts: list[LabelSets]) -> tuple[np.ndarray, list[np.ndarray]]:
    """One table for all parts, and where each part's rows are in it.  Members of a forest share one already."""
    if all(part.table is parts[0].table for part in parts):
        return parts[0].table, [np.arange(len(parts[0].table), dtype=np.int32)] * len(parts)
    table, place = distinct_rows(np.concatenate([part.table for part in parts]))
    return table, np.split(place, np.cumsum([len(part.table) for part in parts])[:-1])


def _weighted(
    members: Iterable[Relevance], weights: ArrayLike | None
) -> tuple[Relevance, Iterator[tuple[Relevance, FloatArray]]]:
    """Return the first member and an iterator of all of them, each with its weight as a column (1 or n rows)."""
    rest = iter(members)
    first = next(rest, None)
    if first is None:
        raise ComitiaError("there is nothing to pool: at least one member is needed.")
    shape = (first.n_instances, first.n_labels)
    mass = None
    if weights is not None:
        given = np.atleast_1d(as_floats("weights", weights))
        mass = check_member_weights(given, len(given), shape[0])

    def pairs() -> Iterator[tuple[Relevance, FloatArray]]:
        count = 0
        for weight, member in zip(repeat(np.ones(1)) if mass is None else mass, chain([first], rest), strict=False):
            if (member.n_instances, member.n_labels) != shape:
                raise ComitiaError(
                    f"members must agree in shape: member 0 has (n, K) = {shape},"
                    f" member {count} has {(member.n_instances, member.n_labels)}."
                )
            count += 1
            yield member, weight[:, None]
        if mass is not None and (count < len(mass) or next(rest, None) is not None):
            raise ComitiaError(f"weights must have one entry for each member; got {len(mass)} for another number.")

    return first, pairs()


def _stacked(members: Iterable[Relevance], weights: ArrayLike | None) -> tuple[Relevance, FloatArray, FloatArray]:
    """Return the first member, the marginals of all, (M, n, K), and their weights, (M, 1 or n, 1)."""
    first, weighted = _weighted(members, weights)
    stack, mass = zip(*((member.marginals(), weight) for member, weight in weighted), strict=True)
    return first, np.stack(stack), np.stack(mass)


mean = Mean()
median = Median()
trimmed_mean = TrimmedMean()
log_odds = LogOdds()
mixture = Mixture()

PoolName = Literal["mean", "median", "trimmed_mean", "log_odds"]
PoolLike: TypeAlias = PoolName | str | Pool

POOLS: dict[str, Pool] = {
    "mean": mean,
    "median": median,
    "trimmed_mean": trimmed_mean,
    "log_odds": log_odds,
}
"""Pools of marginals by name."""

_titles.POOLS.extend(POOLS)
_titles.EXPLAINED.update({name: pool.about for name, pool in POOLS.items()})


def get_pool(pool: PoolLike) -> Pool:
    """Return the pool of this name, in any letters, or the pool itself.

    Examples
    --------
    >>> from comitia.relevance import get_pool
    >>> get_pool("Median")
    Median()
    """
    return pool if isinstance(pool, Pool) else looked_up("pool", pool, POOLS)
