"""The cuts that maximise a function of confusion counts, all labels at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from comitia._labels import FloatArray

Score = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]

# So many cells are swept at a time: labels together, and a long one in parts.
_CELLS = 1 << 18


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
    hits, mass = np.cumsum(hits, axis=1, out=hits), np.atleast_2d(np.cumsum(mass, axis=-1))
    relevant, irrelevant = hits[:, -1:], np.maximum(mass[:, -1:] - hits[:, -1:], 0.0)
    cuts, best = np.zeros(K), np.full(K, -np.inf)
    width = max(1, _CELLS // K)
    for start in range(0, n + 1, width):
        stop = min(start + width, n + 1)
        # Predicted are the first start, start + 1, …
        tp, above = _before_each(hits, 0.0, start, stop), _before_each(falling, np.inf, start, stop)
        fp = np.maximum(_before_each(mass, 0.0, start, stop) - tp, 0.0)
        scores = score(tp, fp, np.maximum(relevant - tp, 0.0), np.maximum(irrelevant - fp, 0.0))
        # What cannot be told apart by p cannot be cut apart, and nothing lies below zero.
        below = falling[:, start:stop] if stop <= n else np.pad(falling[:, start:], ((0, 0), (0, 1)))
        scores = np.where(above > below, scores, -np.inf)
        chosen = np.argmax(scores, axis=1)[:, None]
        low, high, found = (np.take_along_axis(each, chosen, axis=1)[:, 0] for each in (below, above, scores))
        middle = low + (np.minimum(high, 1.0) - low) / 2
        better = (found > best) | (start == 0)
        cuts = np.where(better, np.where(middle < np.minimum(high, 1.0), middle, low), cuts)
        best = np.where(better, found, best)
    return cuts, best


def _before_each(rows: FloatArray, first: float, start: int, stop: int) -> FloatArray:
    """Return what stands before each of the places [start, stop): ``first`` before all."""
    if start:
        return rows[:, start - 1 : stop - 1]
    return np.pad(rows[:, : stop - 1], ((0, 0), (1, 0)), constant_values=first)


def _by_falling(p: FloatArray, target: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return p falling along each row, and the targets, weighted, and the weights in that order."""
    if target is p and (weight == weight[0]).all():
        falling = np.sort(p, axis=1)[:, ::-1]
        return falling, falling * weight[0], weight
    order = np.argsort(-p, axis=1, kind="stable")
    mass = weight[order]
    return np.take_along_axis(p, order, axis=1), np.take_along_axis(target, order, axis=1) * mass, mass
