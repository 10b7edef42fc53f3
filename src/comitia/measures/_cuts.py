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
        columns = np.ascontiguousarray(p[:, block].T)
        of_columns = columns if target is p else np.ascontiguousarray(target[:, block].T)
        cuts[block], best[block] = _sweep(columns, of_columns, weight, score)
    return cuts, best


def _sweep(p: FloatArray, target: FloatArray, weight: FloatArray, score: Score) -> tuple[FloatArray, FloatArray]:
    """Try the cuts of all rows: p and target have shape (K, n)."""
    K, n = p.shape
    falling, hits, mass = _by_falling(p, target, weight)
    tp, predicted = np.zeros((K, n + 1)), np.zeros((K, n + 1))
    np.cumsum(hits, axis=1, out=tp[:, 1:])
    np.cumsum(np.broadcast_to(mass, p.shape), axis=1, out=predicted[:, 1:])
    fp = np.maximum(predicted - tp, 0.0)
    scores = score(tp, fp, np.maximum(tp[:, -1:] - tp, 0.0), np.maximum(fp[:, -1:] - fp, 0.0))
    # What cannot be told apart by p cannot be cut apart, and nothing lies below zero.
    below = np.concatenate([falling, np.zeros((K, 1))], axis=1)
    above = np.concatenate([np.full((K, 1), np.inf), falling], axis=1)
    scores = np.where(above > below, scores, -np.inf)
    chosen = np.argmax(scores, axis=1)[:, None]
    low = np.take_along_axis(below, chosen, axis=1)[:, 0]
    high = np.minimum(np.take_along_axis(above, chosen, axis=1)[:, 0], 1.0)
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low), np.take_along_axis(scores, chosen, axis=1)[:, 0]


def _by_falling(p: FloatArray, target: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return p falling along each row, and the targets, weighted, and the weights in that order."""
    if target is p and (weight == weight[0]).all():
        falling = np.sort(p, axis=1)[:, ::-1]
        return falling, falling * weight[0], weight
    order = np.argsort(-p, axis=1, kind="stable")
    mass = weight[order]
    return np.take_along_axis(p, order, axis=1), np.take_along_axis(target, order, axis=1) * mass, mass
