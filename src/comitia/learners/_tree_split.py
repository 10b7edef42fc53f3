"""The best cut of one feature at one node, at a cost that follows the labels that the instances have.

Let T_k be the weight of label k in the node, L_k its weight among the instances moved to one side so far, W and w the
weights of all and of the moved instances.  With labels 0 or 1, the sum over labels of the Gini impurity (or of the
variance) falls the most where

    Σ_k L_k² / w + Σ_k (T_k − L_k)² / (W − w)

is largest.  Moving an instance of weight v changes Σ L_k² only at *its* labels, by v (2 L_k + v), and
Σ (T_k − L_k)² = Σ T_k² − 2 Σ T_k L_k + Σ L_k², where Σ T_k L_k grows by v Σ_{its k} T_k: a number per instance, the
same for all features.  All sums are exact in float64 as long as weights are counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from comitia._compiled import njit

LARGE_NODE = 4096
N_BINS = 256
"""A node with more instances than this is swept in at most so many bins of neighbouring values, others exactly."""

FEW = 64
"""Up to this many keys are sorted by counting the smaller ones, which has no branches."""

MISSING_FIRST = -1
"""Code of missing values where a sweep takes them for smaller than all others."""

_INDEX = 2**32 - 1


class Node(NamedTuple):
    """Room for what is known of one node; its instances are numbered from 0 on, and so are the labels they have.

    It is made once for a tree and filled again at every node.  Indices that are read from arrays are unsigned, which
    spares a test of their sign.
    """

    starts: Any
    labels: Any
    """The labels of instance i are ``labels[starts[i] : starts[i + 1]]``."""
    weight: Any
    overlap: Any
    """Weight of each instance, and its weight times the weight that its labels have in the node."""
    number: Any
    """Number within the node of each label, −1 if it does not occur."""
    present: Any
    totals: Any
    moved: Any
    """The labels that occur, their weight, and that of them which a sweep has moved."""
    code: Any
    chosen: Any
    """Code of each instance for the feature at hand, and for the one that is best so far."""
    pairs: Any
    swap: Any
    digits: Any
    """Instances and the keys they are sorted by, and room for sorting."""


def new_node(rows: Any, labels: Any) -> Node:
    """Make room for the instances ``rows``."""
    n, n_labels = len(rows), labels.n_labels
    n_entries = int((labels.starts[rows + 1] - labels.starts[rows]).sum())
    return Node(
        np.empty(n + 1, np.uint64),
        np.empty(n_entries, np.uint32),
        np.empty(n),
        np.empty(n),
        np.full(n_labels, -1, np.int64),
        np.empty(n_labels, np.int64),
        np.empty(n_labels),
        np.empty(n_labels),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(256, np.int64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def list_instances(codes, pairs, n, lowest, highest, missing, common, way):  # type: ignore[no-untyped-def]
    """List in ``pairs`` the instances that a sweep moves, with the keys that put them in order.

    There are four ways to sweep: upwards over the codes below the common one (0), downwards over those above it (1),
    where missing values are larger than all others, and the same (2, 3) where they are smaller.  The instances with
    the common code are not moved at all: a sparse feature costs its entries that are not zero.

    Returns
    -------
    m : int
        Number of instances listed.
    origin, shift : int
        The key of code c is |c − origin| without its last ``shift`` bits.
    highest_key : int
        Not smaller than any key.
    """
    if way >= 2:
        lowest = np.int64(MISSING_FIRST)
        highest = np.int64(missing - 1)
        for i in range(n):
            if codes[i] == missing:
                codes[i] = MISSING_FIRST
    upwards = way % 2 == 0
    above = common + 1 if common + 1 > lowest else lowest
    span = common - 1 - lowest if upwards else highest - above
    shift = 0
    while n > LARGE_NODE and span >> shift >= N_BINS:
        shift += 1
    m = 0
    if upwards and span >= 0:
        for i in range(n):
            pairs[m] = ((codes[i] - lowest) >> shift) << 32 | i
            m += codes[i] < common
    if not upwards and span >= 0:
        for i in range(n):
            pairs[m] = ((highest - codes[i]) >> shift) << 32 | i
            m += codes[i] > common
    return m, lowest if upwards else highest, shift, span >> shift


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(  # type: ignore[no-untyped-def]
    pairs, weights, overlaps, starts, labels, moved, n_labels, squares, total, m, n, min_leaf, best
):
    """Move the first m of ``pairs`` one by one; return the best score and the last key moved for it."""
    for k in range(n_labels):
        moved[k] = 0.0
    own, cross, moved_weight = 0.0, 0.0, 0.0
    last = 0
    next_key = pairs[0] >> 32
    for r in range(m if m < n - min_leaf else n - min_leaf):
        i = pairs[r] & _INDEX
        key = next_key
        v = weights[i]
        for t in range(starts[i], starts[i + 1]):
            k = labels[t]
            own += v * (2.0 * moved[k] + v)
            moved[k] += v
        cross += overlaps[i]
        moved_weight += v
        if r + 1 < m:
            next_key = pairs[r + 1] >> 32
            if next_key == key:
                continue
        if r + 1 < min_leaf:
            continue
        score = own / moved_weight + (squares - 2.0 * cross + own) / (total - moved_weight)
        if score > best:
            best = score
            last = key
    return best, last


@njit(cache=True, nogil=True, error_model="numpy")
def cut_at_random(node, n, lowest, highest, missing, random, totals, min_leaf, best):  # type: ignore[no-untyped-def]
    """Cut the feature whose codes are in ``node.code`` once, at a code drawn evenly from those between its values.

    Missing values go to the side where they score better.  If all values that are present are equal, the cut is between
    them and the missing ones.

    Returns
    -------
    best : float
        The score of the cut, or what was given if it is no better.
    cut : int
        The largest code that goes left.
    missing_first : bool
        Whether missing values go left.
    """
    some_missing = highest == missing
    if some_missing:
        highest = lowest
        for i in range(n):
            if node.code[i] < missing:
                highest = max(highest, node.code[i])
    if lowest == highest:
        return max(best, _score(node, n, highest, totals, min_leaf)), highest, False
    cut = lowest + np.int64(random % np.uint64(highest - lowest))
    score = _score(node, n, cut, totals, min_leaf)
    missing_first = False
    if some_missing:
        for i in range(n):
            if node.code[i] == missing:
                node.code[i] = MISSING_FIRST
        other = _score(node, n, cut, totals, min_leaf)
        missing_first = other > score
        score = max(score, other)
    return max(best, score), cut, missing_first


@njit(cache=True, nogil=True, error_model="numpy")
def _score(node, n, cut, totals, min_leaf):  # type: ignore[no-untyped-def]
    """Return the score of a cut, −1 if a side is too small; costs what the labels of the smaller side do."""
    m = 0
    for i in range(n):
        node.pairs[m] = i
        node.swap[i - m] = i
        m += node.code[i] <= cut
    if m < min_leaf or n - m < min_leaf:
        return -1.0
    moved, m = (node.pairs, m) if 2 * m <= n else (node.swap, n - m)
    for k in range(totals.n_labels):
        node.moved[k] = 0.0
    moved_weight = 0.0
    for j in range(m):
        instance = np.uint64(moved[j])
        v = node.weight[instance]
        moved_weight += v
        for t in range(node.starts[instance], node.starts[instance + np.uint64(1)]):
            node.moved[node.labels[t]] += v
    own, other = 0.0, 0.0
    for k in range(totals.n_labels):
        rest = node.totals[k] - node.moved[k]
        own += node.moved[k] * node.moved[k]
        other += rest * rest
    return own / moved_weight + other / (totals.weight - moved_weight)


@njit(cache=True, nogil=True, error_model="numpy")
def sort_few(pairs, swap, m):  # type: ignore[no-untyped-def]
    """Sort the first m pairs by counting how many are smaller: O(m²), but without branches."""
    for j in range(m):
        rank = 0
        for i in range(m):
            rank += pairs[i] < pairs[j]
        swap[rank] = pairs[j]
    for j in range(m):
        pairs[j] = swap[j]


@njit(cache=True, nogil=True, error_model="numpy")
def sort_many(pairs, swap, digits, m, highest_key):  # type: ignore[no-untyped-def]
    """Sort the first m pairs by the digits of their keys, the last digit first: O(m)."""
    shift = 32
    while highest_key >> (shift - 32):
        for digit in range(256):
            digits[digit] = 0
        for j in range(m):
            digits[(pairs[j] >> shift) & 255] += 1
        before = 0
        for digit in range(256):
            count = digits[digit]
            digits[digit] = before
            before += count
        for j in range(m):
            digit = (pairs[j] >> shift) & 255
            swap[np.uint64(digits[digit])] = pairs[j]
            digits[digit] += 1
        for j in range(m):
            pairs[j] = swap[j]
        shift += 8
