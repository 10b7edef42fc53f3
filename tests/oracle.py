"""The truth by exhaustive search: every labeling, every loss written out in plain Python."""

from functools import lru_cache
from itertools import product

import numpy as np

from comitia.losses import CustomLoss, FLoss, Hamming, JaccardLoss, Loss, SubsetZeroOne
from comitia.relevance import LabelSets, Marginals, NonEmptyMarginals, Relevance


def labelings(n_labels: int) -> list[tuple[int, ...]]:
    return list(product((0, 1), repeat=n_labels))


def loss_value(loss: Loss, y: tuple[int, ...], h: tuple[int, ...]) -> float:
    """The definition of each loss, label by label."""
    common = sum(a and b for a, b in zip(y, h, strict=True))
    match loss:
        case Hamming():
            fp = np.broadcast_to(loss.false_positive, len(y))
            fn = np.broadcast_to(loss.false_negative, len(y))
            return sum(
                fp[k] if b > a else fn[k] if b < a else 0 for k, (a, b) in enumerate(zip(y, h, strict=True))
            ) / len(y)
        case SubsetZeroOne():
            return float(y != h)
        case FLoss():
            if not any(y) and not any(h):
                return 1 - loss.zero_division
            return 1 - (1 + loss.beta**2) * common / (sum(h) + loss.beta**2 * sum(y))
        case JaccardLoss():
            if not any(y) and not any(h):
                return 1 - loss.zero_division
            return 1 - common / (sum(y) + sum(h) - common)
        case CustomLoss():
            return float(np.asarray(loss.function(np.array([y], np.int8), np.array([h], np.int8)))[0])
    raise AssertionError(f"the oracle does not know {loss!r}: add its definition here")


@lru_cache
def loss_matrix(loss: Loss, n_labels: int) -> np.ndarray:
    """The loss of predicting the labeling of each column where that of the row is true."""
    every = labelings(n_labels)
    return np.array([[loss_value(loss, y, h) for h in every] for y in every])


def distribution(relevance: Relevance, i: int) -> np.ndarray:
    """P(y) of instance i for each labeling y, in the order of :func:`labelings`."""
    every = labelings(relevance.n_labels)
    if isinstance(relevance, Marginals):
        p = relevance.p[i]
        return np.array([np.prod([q if b else 1 - q for q, b in zip(p, y, strict=True)]) for y in every])
    if isinstance(relevance, NonEmptyMarginals):
        some = distribution(Marginals(relevance.q), i)
        some[every.index((0,) * relevance.n_labels)] = 0
        return some / some.sum()
    assert isinstance(relevance, LabelSets)
    row = relevance.weights.toarray()[i] / np.broadcast_to(relevance.total, relevance.n_instances)[i]
    belief = dict(zip(map(tuple, relevance.table.tolist()), row, strict=True))
    return np.array([belief.get(y, 0.0) for y in every])


def risks(loss: Loss, relevance: Relevance, i: int) -> dict[tuple[int, ...], float]:
    """The expected loss of every labeling for instance i."""
    expected = distribution(relevance, i) @ loss_matrix(loss, relevance.n_labels)
    return dict(zip(labelings(relevance.n_labels), expected.tolist(), strict=True))
