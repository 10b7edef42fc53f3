"""Weights for beliefs that are pooled, learnt from what happened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from comitia._labels import FloatArray, LabelArray

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
    beliefs, truth, mass = p[:, ::every], Y[::every] == 1, weight[::every] / weight[::every].sum()
    alone = np.array([_log_loss(belief, truth, mass) for belief in beliefs])
    counts = np.full(len(p), _PICKS * _PRIOR_INSTANCES / (_PRIOR_INSTANCES + weight.sum()) / len(p))
    total = np.tensordot(counts, beliefs, axes=1)
    for _ in range(_PICKS):
        after = counts.sum() + 1
        losses = [_log_loss((total + belief) / after, truth, mass) for belief in beliefs]
        best = int(np.argmin(losses))
        counts[best] += 1
        total += beliefs[best]
    return Selection(counts / counts.sum(), alone, _log_loss(total / counts.sum(), truth, mass))


def _log_loss(p: FloatArray, truth: np.ndarray, mass: FloatArray) -> float:
    """Mean over labels, and weighted over instances, of −log of the probability that the truth had."""
    likelihood = np.clip(np.where(truth, p, 1 - p), _LEAST, 1.0)
    return float(-mass @ np.log(likelihood).mean(axis=1))
