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
from numba import njit

from comitia.learners._tree_codes import NO_COMMON

LARGE_NODE = 4096
"""Nodes with more instances than this are swept in at most 256 bins of neighbouring ranks, others value by value."""

_SMALL_NODE = 64
"""Up to this many keys are sorted by counting the smaller ones, which has no branches."""

_MISSING_FIRST = -1


class Node(NamedTuple):
    """Room for the instances of one node, numbered from 0 on, and for the sweep over them.

    ``labels[starts[i] : starts[i + 1]]`` are the labels of instance i, numbered within the node; ``overlap[i]`` is its
    weight times the weight that its labels have in the node.
    """

    starts: Any
    labels: Any
    weight: Any
    overlap: Any
    totals: Any
    code: Any
    key: Any
    listed: Any
    order: Any
    swap: Any
    moved: Any
    digits: Any


@njit(cache=True, nogil=True)
def new_node(n, n_entries, n_labels):  # type: ignore[no-untyped-def]
    """Allocate room for n instances that have ``n_entries`` labels between them."""
    return Node(
        np.empty(n + 1, np.int32),
        np.empty(n_entries, np.int32),
        np.empty(n),
        np.empty(n),
        np.empty(n_labels),
        np.empty(n, np.int32),
        np.empty(n, np.uint32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n_labels),
        np.empty(256, np.int32),
    )


@njit(cache=True, nogil=True)
def best_cut(node, n, n_labels, weight, squares, missing, common, min_leaf, best):  # type: ignore[no-untyped-def]
    """Find the cut of the feature whose codes are in ``node.code`` that scores above ``best``.

    Returns
    -------
    score : float
        The best score, ``best`` itself if no cut is better.
    cut : int
        Codes up to it go to the left.
    missing_left : bool
        Whether missing values go to the left.
    """
    code = node.code
    score, cut = _sweep_both_ways(node, n, n_labels, weight, squares, common, min_leaf, best)
    n_missing = 0
    for i in range(n):
        if code[i] == missing:
            code[i] = _MISSING_FIRST
            n_missing += 1
    if n_missing == 0:
        return score, cut, False
    left_score, left_cut = _sweep_both_ways(node, n, n_labels, weight, squares, common, min_leaf, score)
    if left_score > score:
        return left_score, left_cut, True
    return score, cut, False


@njit(cache=True, nogil=True)
def _sweep_both_ways(node, n, n_labels, weight, squares, common, min_leaf, best):  # type: ignore[no-untyped-def]
    """Sweep upwards over the codes below the common one and downwards over those above it.

    The instances that have the common code are never moved: a sparse feature costs its entries that are not zero.
    """
    code, key, listed = node.code, node.key, node.listed
    cut = 0
    for upwards in (True, False):
        if upwards and common == NO_COMMON:
            continue
        m, lowest, highest = 0, 2**31 - 1, -1
        for i in range(n):
            c = code[i]
            listed[m] = i
            if (c < common) if upwards else (c > common):
                m += 1
                lowest, highest = min(lowest, c), max(highest, c)
        if m == 0:
            continue
        shift = np.uint32(0)
        if n > LARGE_NODE:
            while (highest - lowest) >> shift > 255:
                shift += np.uint32(1)
        for j in range(m):
            c = code[listed[j]]
            key[listed[j]] = np.uint32(c - lowest if upwards else highest - c) >> shift
        _sort(node, m, (highest - lowest) >> shift)
        score, last = _sweep(node, m, n, n_labels, weight, squares, min_leaf, best)
        if score > best:
            best = score
            span = (np.int64(last) + 1) << shift
            cut = lowest + span - 1 if upwards else highest - span
    return best, cut


@njit(cache=True, nogil=True)
def _sweep(node, m, n, n_labels, weight, squares, min_leaf, best):  # type: ignore[no-untyped-def]
    """Move the first m instances of ``node.order`` one by one; return the best score and the last key moved for it."""
    starts, labels, overlap, key, order, moved = (
        node.starts,
        node.labels,
        node.overlap,
        node.key,
        node.order,
        node.moved,
    )
    moved[:n_labels] = 0.0
    own, cross, moved_weight = 0.0, 0.0, 0.0
    last = np.uint32(0)
    for r in range(min(m, n - min_leaf)):
        i = order[r]
        v = node.weight[i]
        for t in range(starts[i], starts[i + 1]):
            k = labels[t]
            own += v * (2.0 * moved[k] + v)
            moved[k] += v
        cross += overlap[i]
        moved_weight += v
        if r + 1 < min_leaf or (r + 1 < m and key[order[r + 1]] == key[i]):
            continue
        score = own / moved_weight + (squares - 2.0 * cross + own) / (weight - moved_weight)
        if score > best:
            best = score
            last = key[i]
    return best, last


@njit(cache=True, nogil=True)
def _sort(node, m, highest):  # type: ignore[no-untyped-def]
    """Put the m listed instances into ``node.order`` by key (at most ``highest``), equal keys as listed."""
    key, listed, order, swap, digits = node.key, node.listed, node.order, node.swap, node.digits
    if m <= _SMALL_NODE:
        for j in range(m):
            k, rank = key[listed[j]], 0
            for i in range(m):
                rank += key[listed[i]] < k or (key[listed[i]] == k and i < j)
            order[rank] = listed[j]
        return
    order[:m] = listed[:m]
    for shift in range(0, 32, 8):
        if highest >> shift == 0:
            break
        swap[:m] = order[:m]
        digits[:] = 0
        for j in range(m):
            digits[(key[swap[j]] >> np.uint32(shift)) & np.uint32(255)] += 1
        before = 0
        for digit in range(256):
            before, digits[digit] = before + digits[digit], before
        for j in range(m):
            digit = (key[swap[j]] >> np.uint32(shift)) & np.uint32(255)
            order[digits[digit]] = swap[j]
            digits[digit] += 1
