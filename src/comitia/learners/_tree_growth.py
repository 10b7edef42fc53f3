"""Growing one tree, depth first, on ranks of features and sparse labels."""

from __future__ import annotations

import numpy as np
from numba import njit

from comitia.learners._tree_split import best_cut, new_node

LEAF = -1


@njit(cache=True, nogil=True)
def grow(  # type: ignore[no-untyped-def]
    codes,
    n_values,
    common,
    starts,
    labels,
    n_labels,
    sample_weight,
    seed,
    max_features,
    min_samples_leaf,
    min_samples_split,
    max_depth,
    min_impurity_decrease,
):
    """Grow a tree; nodes are numbered in preorder, so the left child of a node is the next one.

    Returns
    -------
    feature, right, missing_left, impurity, weight, n_samples : arrays over the nodes
        ``feature`` is LEAF for a leaf, whose ``right`` is its number among the leaves.
    low, high : arrays over the nodes
        The largest code that went left and the smallest that went right; −1 if only missing values did.
    rows, bounds : arrays
        ``rows[bounds[l] : bounds[l + 1]]`` are the instances of leaf l.
    """
    d = codes.shape[0]
    rows = np.flatnonzero(sample_weight > 0).astype(np.int32)
    n_rows = len(rows)
    n_entries = 0
    for row in rows:
        n_entries += starts[row + 1] - starts[row]
    node = new_node(n_rows, n_entries, n_labels)
    swap = np.empty(n_rows, np.int32)
    number = np.full(n_labels, -1, np.int32)
    present = np.empty(n_labels, np.int32)
    features = np.arange(d).astype(np.int32)
    state = np.array([seed], np.uint64)
    total_weight = sample_weight[rows].sum()

    most = 2 * max(1, n_rows // min_samples_leaf) - 1
    feature = np.full(most, LEAF, np.int32)
    right = np.empty(most, np.int32)
    low = np.full(most, -1, np.int32)
    high = np.full(most, -1, np.int32)
    missing_left = np.zeros(most, np.bool_)
    impurity = np.empty(most)
    weight = np.empty(most)
    n_samples = np.empty(most, np.int32)
    bounds = np.zeros(most + 1, np.int32)

    # Waiting nodes: first and last row, depth, number of features known to be constant, parent if a right child.
    stack = np.empty((most + 1, 5), np.int64)
    _push(stack, 0, 0, n_rows, 0, 0, -1)
    waiting, n_nodes, n_leaves = 1, 0, 0
    while waiting:
        waiting -= 1
        start, end, depth, n_constant, parent = _pop(stack, waiting)
        this, n_nodes = n_nodes, n_nodes + 1
        if parent >= 0:
            right[parent] = this
        n = end - start
        here = rows[start:end]
        n_present, node_weight, label_weight, squares, pure = _enter(
            node, here, starts, labels, sample_weight, number, present
        )
        n_samples[this] = n
        weight[this] = node_weight
        impurity[this] = 2.0 / n_labels * (label_weight / node_weight - squares / node_weight**2)

        best, f, cut, to_left = -1.0, LEAF, 0, False
        if not pure and n >= max(min_samples_split, 2 * min_samples_leaf) and depth < max_depth:
            best, f, cut, to_left, n_constant = _search(
                codes, n_values, common, here, node, n_present, node_weight, squares,
                features, n_constant, max_features, min_samples_leaf, state,
            )  # fmt: skip
        decrease = 2.0 / n_labels * (best - squares / node_weight) / total_weight
        if f == LEAF or decrease + 1e-15 < min_impurity_decrease:
            right[this] = n_leaves
            n_leaves += 1
            bounds[n_leaves] = end
            continue
        n_left, low[this], high[this] = _partition(here, codes[f], cut, n_values[f], to_left, swap)
        feature[this] = f
        missing_left[this] = to_left
        if high[this] >= 0 and not _has_missing(here, codes[f], n_values[f]):
            missing_left[this] = n_left > n - n_left
        _push(stack, waiting, start + n_left, end, depth + 1, n_constant, this)
        _push(stack, waiting + 1, start, start + n_left, depth + 1, n_constant, -1)
        waiting += 2
    return (
        feature[:n_nodes].copy(),
        right[:n_nodes].copy(),
        missing_left[:n_nodes].copy(),
        impurity[:n_nodes].copy(),
        weight[:n_nodes].copy(),
        n_samples[:n_nodes].copy(),
        low[:n_nodes].copy(),
        high[:n_nodes].copy(),
        rows,
        bounds[: n_leaves + 1].copy(),
    )


@njit(cache=True, nogil=True)
def _push(stack, at, start, end, depth, n_constant, parent):  # type: ignore[no-untyped-def]
    stack[at, 0], stack[at, 1], stack[at, 2] = start, end, depth
    stack[at, 3], stack[at, 4] = n_constant, parent


@njit(cache=True, nogil=True)
def _pop(stack, at):  # type: ignore[no-untyped-def]
    return stack[at, 0], stack[at, 1], stack[at, 2], stack[at, 3], stack[at, 4]


@njit(cache=True, nogil=True)
def _enter(node, rows, starts, labels, sample_weight, number, present):  # type: ignore[no-untyped-def]
    """Copy the node's labels, numbered by first appearance, and sum their weights.

    Returns the number of labels present, the weight of the node, Σ T_k, Σ T_k² and whether all instances agree.
    """
    n = len(rows)
    n_present, filled, node_weight = 0, 0, 0.0
    counts = node.moved
    for i in range(n):
        row = rows[i]
        v = sample_weight[row]
        node.weight[i] = v
        node.starts[i] = filled
        node_weight += v
        for t in range(starts[row], starts[row + 1]):
            k = labels[t]
            if number[k] < 0:
                number[k] = n_present
                present[n_present] = k
                node.totals[n_present] = 0.0
                counts[n_present] = 0.0
                n_present += 1
            node.labels[filled] = number[k]
            node.totals[number[k]] += v
            counts[number[k]] += 1.0
            filled += 1
    node.starts[n] = filled
    label_weight, squares, pure = 0.0, 0.0, True
    for k in range(n_present):
        label_weight += node.totals[k]
        squares += node.totals[k] ** 2
        pure &= counts[k] == n
        number[present[k]] = -1
    for i in range(n):
        overlap = 0.0
        for t in range(node.starts[i], node.starts[i + 1]):
            overlap += node.totals[node.labels[t]]
        node.overlap[i] = node.weight[i] * overlap
    return n_present, node_weight, label_weight, squares, pure


@njit(cache=True, nogil=True)
def _search(  # type: ignore[no-untyped-def]
    codes, n_values, common, rows, node, n_labels, weight, squares,
    features, n_constant, max_features, min_samples_leaf, state,
):  # fmt: skip
    """Draw features without replacement and return the best cut among ``max_features`` that vary in the node.

    Features found constant are kept at the front, where the descendants of the node know them.
    """
    n = len(rows)
    best, best_feature, best_cut_, best_left = -1.0, LEAF, 0, False
    undrawn, seen = len(features), 0
    while undrawn > n_constant and (seen < max_features or best_feature == LEAF):
        j = n_constant + np.int64(_random(state) % np.uint64(undrawn - n_constant))
        f = features[j]
        column = codes[f]
        lowest, highest = np.int32(2**31 - 1), np.int32(-1)
        for i in range(n):
            c = np.int32(column[rows[i]])
            node.code[i] = c
            lowest, highest = min(lowest, c), max(highest, c)
        if lowest == highest:
            features[j], features[n_constant] = features[n_constant], f
            n_constant += 1
            continue
        undrawn -= 1
        features[j], features[undrawn] = features[undrawn], f
        seen += 1
        score, cut, to_left = best_cut(
            node, n, n_labels, weight, squares, n_values[f], common[f], min_samples_leaf, best
        )
        if score > best:
            best, best_feature, best_cut_, best_left = score, f, cut, to_left
    return best, best_feature, best_cut_, best_left, n_constant


@njit(cache=True, nogil=True)
def _partition(rows, column, cut, missing, missing_left, swap):  # type: ignore[no-untyped-def]
    """Put the rows that go left first, keeping their order; return their number and the codes next to the cut."""
    n_left, n_right, low, high = 0, 0, -1, missing
    for i in range(len(rows)):
        row = rows[i]
        c = np.int64(column[row])
        if missing_left if c == missing else c <= cut:
            rows[n_left] = row
            n_left += 1
            if c != missing:
                low = max(low, c)
        else:
            swap[n_right] = row
            n_right += 1
            high = min(high, c)
    rows[n_left:] = swap[:n_right]
    return n_left, low, high if high < missing else -1


@njit(cache=True, nogil=True)
def _has_missing(rows, column, missing):  # type: ignore[no-untyped-def]
    for row in rows:
        if column[row] == missing:
            return True
    return False


@njit(cache=True, nogil=True)
def _random(state):  # type: ignore[no-untyped-def]
    """The next number of the SplitMix64 generator (Steele, Lea and Flood, 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
