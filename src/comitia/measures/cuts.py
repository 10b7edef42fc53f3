"""The cuts that maximise a function of confusion counts, all labels at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from comitia._labels import FloatArray

Score = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]

# Labels are swept together as long as they have no more cells than this.
_CELLS = 1 << 20


def best_cuts(p: FloatArray, target: FloatArray, weight: FloatArray, score: Score) -> tuple[FloatArray, FloatArray]:
    """Return, for each column, the cut τ whose answers ⟦p > τ⟧ score best, and that score.

    Parameters
    ----------
    p : array of float, shape (n, K)
        What is cut.
    target : array of float, shape (n, K)
        What stands for the labels: 0 and 1, or probabilities.
    weight : array of float, shape (n,)
        How much each instance counts.
    score : callable
        Function of tp, fp, fn, tn, element by element.

    Returns
    -------
    cuts, best : arrays of float, shape (K,)
        Each cut lies half-way between the probabilities it divides.  Equal scores go to the cut that predicts less.
    """
    n, K = p.shape
    cuts, best = np.empty(K), np.empty(K)
    width = max(1, _CELLS // n)
    for start in range(0, K, width):
        block = slice(start, min(start + width, K))
        cuts[block], best[block] = _sweep(p[:, block], target[:, block], weight, score)
    return cuts, best


def _sweep(p: FloatArray, target: FloatArray, weight: FloatArray, score: Score) -> tuple[FloatArray, FloatArray]:
    n, K = p.shape
    order = np.argsort(-p, axis=0, kind="stable")
    falling = np.take_along_axis(p, order, axis=0)
    mass = weight[order]
    tp, predicted = np.zeros((n + 1, K)), np.zeros((n + 1, K))
    np.cumsum(mass * np.take_along_axis(target, order, axis=0), axis=0, out=tp[1:])
    np.cumsum(mass, axis=0, out=predicted[1:])
    fp = np.maximum(predicted - tp, 0.0)
    scores = score(tp, fp, np.maximum(tp[-1] - tp, 0.0), np.maximum(fp[-1] - fp, 0.0))
    # What cannot be told apart by p cannot be cut apart, and nothing lies below zero.
    below = np.concatenate([falling, np.zeros((1, K))])
    above = np.concatenate([np.full((1, K), np.inf), falling])
    scores = np.where(above > below, scores, -np.inf)
    chosen = np.argmax(scores, axis=0)[None]
    low = np.take_along_axis(below, chosen, axis=0)[0]
    high = np.minimum(np.take_along_axis(above, chosen, axis=0)[0], 1.0)
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low), np.take_along_axis(scores, chosen, axis=0)[0]
