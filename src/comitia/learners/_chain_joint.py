"""Compiled walks over the trie of the seen label sets, by the chain rule: arrays in, arrays out."""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

import numpy as np
from numba import njit

from comitia._label_trie import NONE, appended

LARGEST = 300.0  # scores and sums of influences up to this have odds that a double holds
CERTAIN = 1e160  # odds of a link that is certain
SMALLEST = 1e-100  # a set that contradicts a certain link has less; where none has more, logarithms tell them apart
NEGLIGIBLE = 1e-50  # share of the mass below which a set has none


@njit(cache=True, nogil=True)
def weigh_sets(scores, influence, grow, position, depth, skip, set_of, limit, weights, own, own_weights, missing):
    """Return how many sets each row keeps, and all of them one after another: their columns and their weights.

    ``scores`` (n, K) are what the features give to the links, by position, ``grow`` is exp(influence).
    """
    n, K = scores.shape
    U = len(weights)
    lengths = np.empty(n, np.int64)
    columns, data, filled = np.empty(1024, np.int32), np.empty(1024), 0
    sets, found_weights = np.empty(U + 1, np.int32), np.empty(U + 1)
    deepest = depth.max() + 1
    odds, reach = np.empty((deepest, K)), np.empty((deepest, K + 1))
    broken = np.empty((deepest, K + 1), np.int64)
    tame = np.abs(influence).sum(axis=0).max() <= LARGEST
    for i in range(n):
        mine, my_weight = (own[i], own_weights[i]) if len(own) else (NONE, 0.0)
        found, best = 0, 0.0
        if _odds(scores[i], odds[0]) and tame:
            found, best = _walk(
                odds, reach, grow, position, depth, skip, set_of, limit, weights, mine, my_weight, sets, found_weights
            )
        if best < SMALLEST:
            odds[0] = scores[i]
            found = _walk_logs(
                odds, reach, broken, influence, position, depth, set_of, weights, mine, my_weight, sets, found_weights
            )
        lengths[i] = _normalised(sets, found_weights, found, missing)
        columns, data = appended(columns, data, filled, sets, found_weights, lengths[i])
        filled += lengths[i]
    return lengths, columns[:filled].copy(), data[:filled].copy()


@njit(cache=True, nogil=True)
def _odds(scores, odds):
    """Fill the odds exp(score); return whether all of them are tame or certain."""
    tame = True
    for k in range(len(scores)):
        score = scores[k]
        if score == np.inf:
            odds[k] = CERTAIN
        else:
            odds[k] = np.exp(score)
            tame &= score == -np.inf or abs(score) <= LARGEST
    return tame


@njit(cache=True, nogil=True)
def _walk(odds, reach, grow, position, depth, skip, set_of, limit, weights, mine, my_weight, sets, found_weights):
    """Collect sets and their weights, P(y) count(y)^a; return their number and the largest weight.

    odds[d] are those of the links after the first d labels of the node's list; reach[d, k] is the probability of that
    beginning with no other label before position k.  A node whose label is at position j then has the probability
    reach[d - 1, j] σ_j, which all sets below it share.
    """
    K, N = odds.shape[1], len(position)
    reach[0, 0] = 1.0
    for k in range(K):
        reach[0, k + 1] = reach[0, k] * (1.0 / (1.0 + odds[0, k]))
    found, best, node = 0, 0.0, 0
    while node < N:
        d, j = depth[node], position[node]
        if node > 0:
            mass = reach[d - 1, j] * (odds[d - 1, j] / (1.0 + odds[d - 1, j]))
            if mass <= best * limit[node]:
                node = skip[node]
                continue
            if skip[node] == node + 1:
                for k in range(j + 1, K):
                    mass *= 1.0 / (1.0 + odds[d - 1, k] * grow[j, k])
            else:
                reach[d, j + 1] = mass
                for k in range(j + 1, K):
                    odds[d, k] = odds[d - 1, k] * grow[j, k]
                    mass *= 1.0 / (1.0 + odds[d, k])
                    reach[d, k + 1] = mass
        else:
            mass = reach[0, K]
        u = set_of[node]
        node += 1
        if u >= 0:
            weight = mass * (my_weight if u == mine else weights[u])
            if weight > 0.0:
                sets[found], found_weights[found] = u, weight
                best = max(best, weight)
                found += 1
    return found, best


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
        if weights[e] > least:
            sets[kept], weights[kept] = sets[e], weights[e]
            total += weights[e]
            kept += 1
    for e in range(kept):
        weights[e] /= total
    return kept
