"""Weights for beliefs that are pooled, learnt from what happened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from comitia._labels import FloatArray, LabelArray, distinct_rows
from comitia.relevance import LabelSets

_PICKS = 60
_PRIOR_INSTANCES = 100.0
_MOST_CELLS = 1 << 22
# No belief is more certain than this: one instance that is believed impossible must not decide alone.
_LEAST = 1e-3


@dataclass(frozen=True)
class Selection:
    """What a selection found: weights that sum to one, and the log losses of each belief alone and of all together."""

    weights: FloatArray
    alone: FloatArray
    together: float


def forward_selection(p: FloatArray, Y: LabelArray, weight: FloatArray) -> Selection:
    """Find weights for beliefs by greedy forward selection with replacement, on the mean log loss of their pool.

    The pool starts with a part of every belief, and so often as there are picks, the belief is added that makes the
    log loss of the pooled mean the smallest: Frank and Wolfe's method for weights that sum to one.  The part that all
    have from the start stands for so many instances more: on small data weights stay near to equal.

    Parameters
    ----------
    p : array of float, shape (E, n, K)
        Marginals of E beliefs about instances that none of them was learnt from.
    Y : array of 0/1, shape (n, K)
    weight : array of float, shape (n,)

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes (2004), Ensemble selection from libraries of models, ICML.

    Examples
    --------
    >>> Y = np.array([[1], [0], [1], [0]] * 100, np.int8)
    >>> good, bad = np.where(Y, 0.8, 0.2), np.full(Y.shape, 0.5)
    >>> forward_selection(np.stack([good, bad]), Y, np.ones(400)).weights.round(1)
    array([0.9, 0.1])
    """
    every = max(1, p[0].size // _MOST_CELLS)
    beliefs, truth = p[:, ::every], Y[::every] == 1
    return likelihood_selection(np.where(truth, beliefs, 1 - beliefs), weight[::every], weight.sum())


def likelihood_selection(likelihood: FloatArray, weight: FloatArray, instances: float | None = None) -> Selection:
    """Find weights in the same way from the probability that each belief gave to what happened.

    Parameters
    ----------
    likelihood : array of float, shape (E, n, L)
        Of each label, or, with L = 1, of the whole labelset.
    weight : array of float, shape (n,)
    instances : float, optional
        How many instances there are, where these are only some of them.
    """
    mass, total_weight = weight / weight.sum(), float(weight.sum()) if instances is None else instances
    alone = np.array([_log_loss(of_one, mass) for of_one in likelihood])
    counts = np.full(len(likelihood), _PICKS * _PRIOR_INSTANCES / (_PRIOR_INSTANCES + total_weight) / len(likelihood))
    total = np.tensordot(counts, likelihood, axes=1)
    for _ in range(_PICKS):
        after = counts.sum() + 1
        losses = [_log_loss((total + of_one) / after, mass) for of_one in likelihood]
        best = int(np.argmin(losses))
        counts[best] += 1
        total += likelihood[best]
    return Selection(counts / counts.sum(), alone, _log_loss(total / counts.sum(), mass))


def labelset_likelihood(belief: LabelSets, Y: LabelArray) -> FloatArray:
    """Return the probability that a belief gave to the labelset of each instance, (n,); zero where it knows it not."""
    place = distinct_rows(np.concatenate([belief.table, Y]))[1][len(belief.table) :]
    known = np.flatnonzero(place < len(belief.table))
    found = np.zeros(len(Y))
    found[known] = np.asarray(belief.weights[known, place[known]]).ravel()
    return found / belief.total


def _log_loss(likelihood: FloatArray, mass: FloatArray) -> float:
    """Mean over labels, and weighted over instances, of −log of the probability that the truth had."""
    return float(-mass @ np.log(np.clip(likelihood, _LEAST, 1.0)).mean(axis=1))
