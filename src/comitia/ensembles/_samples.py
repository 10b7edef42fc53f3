"""Which instances each member learns from."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, Labels
from comitia.ensembles._fingerprints import alike, fingerprints

# A sample counts its draws in floating-point numbers.
_MOST_DRAWN = 2**53


@dataclass(frozen=True)
class Instances:
    """The distinct instances of a training set, in an order that depends on them alone.

    An instance of weight w is the same as w copies of it: both are one distinct instance of weight w, and because
    draws go by this order, the same members result, in whatever order the instances were given.

    Parameters
    ----------
    rows : array of int, shape (u,)
        Where each distinct instance stands in the training set.
    weight : array of float, shape (u,)
        Its weight: that of all its copies.
    distinct_of : array of int, shape (n,)
        Which distinct instance each given one is; -1 where its weight is zero.
    """

    rows: IntArray
    weight: FloatArray
    distinct_of: IntArray

    @classmethod
    def of(cls, X: Any, Y: Labels, weight: FloatArray) -> Instances:
        """Merge equal instances and order them by their fingerprints; frames of mixed kinds are left as they are.

        Instances that are merged are compared: fingerprints can be made to agree.
        """
        n = len(Y)
        weighty = np.flatnonzero(weight > 0)
        prints = fingerprints(X, Y)
        if prints is None:
            order, new = weighty, np.ones(len(weighty), bool)
        else:
            order = weighty[np.lexsort((prints[weighty, 1], prints[weighty, 0]))]
            ordered = prints[order]
            new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
            again = np.flatnonzero(~new)
            new[again] = ~alike(X, Y, order[again], order[again - 1])
        place = np.cumsum(new) - 1
        distinct_of = np.full(n, -1, np.intp)
        distinct_of[order] = place
        return cls(order[new], np.bincount(place, weight[order]).astype(np.float64), distinct_of)


@dataclass(frozen=True)
class TrainingSet:
    """What members are fitted on.

    Parameters
    ----------
    X : array, sparse matrix or frame of u instances
    Y : array of 0/1, shape (u, K), or LabelRows
    weight : array of float, shape (u,)
        Weight of each instance in the data.
    draws : array of float, shape (u, m), or None
        Weight of each instance in the sample of each of m members; None where all members see every instance once.
    """

    X: Any
    Y: Labels
    weight: FloatArray
    draws: FloatArray | None

    def sample(self, member: int) -> FloatArray | None:
        """Return the weights of one member's sample."""
        return None if self.draws is None else self.draws[:, member]


def draw(
    instances: Instances, seed: np.random.SeedSequence, bootstrap: bool, max_samples: int | float | None
) -> FloatArray:
    """Return how much each distinct instance weighs in one member's sample.

    With ``bootstrap`` as many instances are drawn, with replacement, as there are: the sum of the weights, but no
    fewer than the distinct instances (weights that sum to one are shares, not counts).  Without, all of them are
    taken, or, if ``max_samples`` is given, that many distinct ones.
    """
    weight = instances.weight
    total = max(round(float(weight.sum())), len(weight))
    if max_samples is None:
        size = total if bootstrap else len(weight)
    elif isinstance(max_samples, Integral):
        size = int(max_samples)
    else:
        size = max(1, round(float(max_samples) * (total if bootstrap else len(weight))))
    rng = np.random.default_rng(seed)
    if bootstrap:
        return rng.multinomial(size, weight / weight.sum()).astype(np.float64)
    if size == len(weight):
        return weight
    drawn = np.zeros(len(weight))
    drawn[rng.choice(len(weight), size, replace=False)] = 1
    return drawn * weight


def check_max_samples(max_samples: Any, n_instances: int, bootstrap: bool) -> None:
    """Refuse sample sizes that cannot be meant."""
    if max_samples is None:
        return
    if isinstance(max_samples, bool) or not isinstance(max_samples, (Integral, float, np.floating)):
        raise ComitiaError(f"max_samples must be None, a number of instances or a share of them; got {max_samples!r}.")
    if isinstance(max_samples, Integral):
        most = _MOST_DRAWN if bootstrap else n_instances
        if not 1 <= int(max_samples) <= most:
            raise ComitiaError(f"max_samples must lie in 1..{most}; got {max_samples}.")
    elif not 0 < max_samples <= 1:
        raise ComitiaError(f"max_samples as a share must lie in (0, 1]; got {max_samples}.")


def member_seed(entropy: int, member: int, purpose: int) -> np.random.SeedSequence:
    """Return the seed of one member's draws (0), chain order (1) or own randomness (2).

    It depends on the ensemble's entropy and the member's number alone: more members leave the first as they are.
    """
    return np.random.SeedSequence(entropy, spawn_key=(member, purpose))


def member_integers(entropy: int, members: range) -> NDArray[np.uint32]:
    """Return an integer seed of each member's own randomness."""
    return np.array([member_seed(entropy, m, 2).generate_state(1)[0] for m in members], dtype=np.uint32)
