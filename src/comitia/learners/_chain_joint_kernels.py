"""Compiled walks over the trie of the seen label sets, by the chain rule: arrays in, arrays out."""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from comitia._compiled import njit
from comitia._label_trie import NONE, appended

LANES = 8  # rows that walk side by side: as many as fit a few vector registers
LARGEST = 300.0  # scores and sums of influences up to this have odds that a double holds
CERTAIN = 1e160  # odds of a link that is certain
SMALLEST = 1e-100  # a set that contradicts a certain link has less; where none has more, logarithms tell them apart
NEGLIGIBLE = 1e-50  # share of the mass below which a set has none


class Room(NamedTuple):
    """Arrays that `weigh_sets` writes to: NumPy makes them, so that none of that is compiled."""

    odds: Any
    none: Any
    mass: Any
    product: Any
    mine: Any
    my_weight: Any
    best: Any
    tame: Any
    least: Any
    scale: Any
    """Of each lane, the first three after each label of a list."""
    sets: Any
    side: Any
    row_sets: Any
    row_weights: Any
    """The sets that were found, with their weights in all lanes and in one."""

    @classmethod
    def to_walk(cls, K: int, U: int, deepest: int) -> Room:
        D = deepest + 1
        shapes = {"odds": (D, K, LANES), "none": (D, K + 1, LANES), "mass": (D, LANES)}
        shapes |= {"sets": (U,), "side": (U, LANES), "row_sets": (U + 1,), "row_weights": (U + 1,)}
        types = {"mine": np.int64, "tame": np.bool_, "sets": np.int32, "row_sets": np.int32}
        return cls._make(np.empty(shapes.get(f, (LANES,)), types.get(f, np.float64)) for f in cls._fields)


class Logs(NamedTuple):
    """What a walk in logarithms writes to, after each label of a list."""

    scores: Any
    reach: Any
    broken: Any

    @classmethod
    def to_walk(cls, K: int, deepest: int) -> Logs:
        D = deepest + 1
        return cls(np.empty((D, K)), np.empty((D, K + 1)), np.empty((D, K + 1), np.int64))


@njit(cache=True, nogil=True)
def weigh_sets(
    scores, influence, is_tame, grow, position, depth, skip, set_of, limit, weights, own, own_weights, missing, room,
    logs, lengths, columns, data,
):  # fmt: skip
    """Fill in how many sets each row keeps, and all of them one after another: their columns and their weights.

    ``scores`` (n, K) are what the features give to the links, by position, ``grow`` is exp(influence), no sum of
    influences is beyond `LARGEST` where ``is_tame``.  Rows walk ``LANES`` at a time, side by side, and none looks at
    another: its bits are its own.

    Returns
    -------
    filled : int
        How many sets were written; −1 if a row needs logarithms and ``logs`` is None, with which that is not compiled.
    columns, data : arrays
        Those given, or longer ones where there was no room.
    """
    n, K = scores.shape
    odds, mine, my_weight, best = room.odds, room.mine, room.my_weight, room.best
    sets, side, row_sets, row_weights = room.sets, room.side, room.row_sets, room.row_weights
    tame, least, scale = room.tame, room.least, room.scale
    filled = np.int64(0)  # no literal, which would be a type of its own: what is called is compiled once
    for r in range(LANES):
        mine[r], my_weight[r] = NONE, 0.0
    for start in range(0, n, LANES):
        for r in range(LANES):
            i = start + r if start + r < n else n - 1
            tame[r] = _odds(scores[i], odds[0, :, r]) and is_tame
            if len(own):
                mine[r], my_weight[r] = own[i], own_weights[i]
        found = _walk(
            odds, room.none, room.mass, room.product, grow, position, depth, skip, set_of, limit, weights, mine,
            my_weight, sets, side, best,
        )  # fmt: skip
        _share_out(side, found, missing, least, scale)
        for r in range(LANES if start + LANES <= n else n - start):
            if tame[r] and best[r] >= SMALLEST:
                kept = _row_of(sets, side, r, found, least[r], scale[r], row_sets, row_weights)
            elif logs is None:
                return np.int64(-1), columns, data
            else:
                for k in range(K):
                    logs.scores[0, k] = scores[start + r, k]
                row_found = _walk_logs(
                    logs.scores, logs.reach, logs.broken, influence, position, depth, set_of, weights,
                    mine[r], my_weight[r], row_sets, row_weights,
                )  # fmt: skip
                kept = _normalised(row_sets, row_weights, row_found, missing)
            columns, data = appended(columns, data, filled, row_sets, row_weights, kept)
            lengths[start + r] = kept
            filled += kept
    return filled, columns, data


@njit(cache=True, nogil=True)
def _odds(scores, odds):
    """Fill the odds exp(score); return whether all of them are tame or certain."""
    tame = True
    for k in range(len(scores)):
        score = scores[k]
        certain = score == np.inf
        tame &= np.isinf(score) or abs(score) <= LARGEST
        odds[k] = CERTAIN if certain else np.exp(LARGEST if score > LARGEST else score)
    return tame


@njit(cache=True, nogil=True)
def _walk(
    odds, none, mass, product, grow, position, depth, skip, set_of, limit, weights, mine, my_weight, sets, side, best
):
    """Collect sets and, side by side, their weights P(y) count(y)^a in each lane; return how many.

    odds[d] are those of the links after the first d labels of the node's list, and mass[d] is the probability of that
    beginning; none[d, k] = Π (1 + odds) divides it by the probability that no label follows before position k.  A node
    whose label is at position j has the mass mass[d - 1] · odds[j] / none[d - 1, j + 1], which all sets below it share.
    A lane for which that is too little is out of the subtree with mass zero.
    """
    K, N = odds.shape[1], len(position)
    for r in range(LANES):
        mass[0, r], product[r], none[0, 0, r], best[r] = 1.0, 1.0, 1.0, 0.0
    for k in range(K):
        for r in range(LANES):
            product[r] *= 1.0 + odds[0, k, r]
            none[0, k + 1, r] = product[r]
    found, node = 0, 0
    while node < N:
        d, j = depth[node], position[node]
        if node > 0:
            alive, least = 0, limit[node]
            for r in range(LANES):
                value = mass[d - 1, r] * odds[d - 1, j, r] / none[d - 1, j + 1, r]
                enough = value > best[r] * least
                mass[d, r] = value if enough else 0.0
                product[r] = 1.0
                alive += enough
            if alive == 0:
                node = skip[node]
                continue
            if skip[node] == node + 1:
                for k in range(j + 1, K):
                    factor = grow[j, k]
                    for r in range(LANES):
                        product[r] *= 1.0 + odds[d - 1, k, r] * factor
            else:
                for k in range(j + 1, K):
                    factor = grow[j, k]
                    for r in range(LANES):
                        value = odds[d - 1, k, r] * factor
                        odds[d, k, r] = value
                        product[r] *= 1.0 + value
                        none[d, k + 1, r] = product[r]
        u = set_of[node]
        node += 1
        if u >= 0:
            sets[found], count = u, weights[u]
            for r in range(LANES):
                value = mass[d, r] / product[r] * (my_weight[r] if u == mine[r] else count)
                side[found, r] = value
                best[r] = value if value > best[r] else best[r]
            found += 1
    return found


@njit(cache=True, nogil=True)
def _share_out(side, found, missing, least, scale):
    """Fill, for each lane, the weight that a set must exceed to be kept and what makes the kept ones sum to 1."""
    for r in range(LANES):
        scale[r], least[r] = 0.0, 0.0
    for e in range(found):
        for r in range(LANES):
            scale[r] += side[e, r]
            least[r] += side[e, r] > 0.0  # how many sets a lane has does not depend on its neighbours
    for r in range(LANES):
        share = missing / least[r] if least[r] > 1.0 else missing
        least[r] = (share if share > NEGLIGIBLE else NEGLIGIBLE) * scale[r]
        scale[r] = 0.0
    for e in range(found):
        for r in range(LANES):
            scale[r] += side[e, r] if side[e, r] > least[r] else 0.0
    for r in range(LANES):
        scale[r] = 1.0 / scale[r] if scale[r] > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _row_of(sets, side, r, found, least, scale, row_sets, row_weights):
    """Copy the sets that lane r keeps; return how many."""
    kept = 0
    for e in range(found):
        row_sets[kept], row_weights[kept] = sets[e], side[e, r] * scale
        kept += side[e, r] > least
    return kept


@njit(cache=True, nogil=True)
def _walk_logs(
    scores, reach, broken, influence, position, depth, set_of, weights, mine, my_weight, sets, found_weights
):
    """Collect the sets that contradict the fewest certain links, with their weights relative to the best.

    The same walk in logarithms, over all nodes: for scores whose odds no double holds, and for chains that give
    every seen set the probability zero.  Certain links are counted, the others weighed.
    """
    K = scores.shape[1]
    reach[0, 0], broken[0, 0] = 0.0, 0
    found, best, fewest = 0, -np.inf, K + 1
    for node in range(len(position)):
        d, j = depth[node], position[node]
        if node > 0:
            score = scores[d - 1, j]
            reach[d, j + 1] = reach[d - 1, j] + _log_sigmoid(score)
            broken[d, j + 1] = broken[d - 1, j] + int(score == -np.inf)
            for k in range(j + 1, K):
                scores[d, k] = scores[d - 1, k] + influence[j, k]
        for k in range(j + 1, K):
            reach[d, k + 1] = reach[d, k] + _log_sigmoid(-scores[d, k])
            broken[d, k + 1] = broken[d, k] + int(scores[d, k] == np.inf)
        u = set_of[node]
        if u < 0 or broken[d, K] > fewest:
            continue
        weight = my_weight if u == mine else weights[u]
        if weight <= 0.0:
            continue
        if broken[d, K] < fewest:
            found, best, fewest = 0, -np.inf, broken[d, K]
        sets[found], found_weights[found] = u, reach[d, K] + np.log(weight)
        best = max(best, found_weights[found])
        found += 1
    for e in range(found):
        found_weights[e] = np.exp(found_weights[e] - best)
    return found


@njit(cache=True, nogil=True)
def _log_sigmoid(score):
    """Return log σ(score), and 0 where a link is certain of either."""
    if np.isinf(score):
        return 0.0
    return min(score, 0.0) - np.log1p(np.exp(-abs(score)))


@njit(cache=True, nogil=True)
def _normalised(sets, weights, found, missing):
    """Drop sets that have no more than their share of the missing mass, scale the others to sum to 1; count them."""
    total = 0.0
    for e in range(found):
        total += weights[e]
    kept, least, total = 0, max(missing / max(found, 1), NEGLIGIBLE) * total, 0.0
    for e in range(found):
        enough = weights[e] > least
        total += weights[e] if enough else 0.0
        sets[kept], weights[kept] = sets[e], weights[e]
        kept += enough
    scale = 1.0 / total if kept else 0.0
    for e in range(kept):
        weights[e] *= scale
    return kept
