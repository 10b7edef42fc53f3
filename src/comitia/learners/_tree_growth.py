"""Growing one tree, depth first, on ranks of features and sparse labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comitia._compiled import njit
from comitia.learners._tree_codes import FeatureCodes, gather, gather_listed, set_absent_aside
from comitia.learners._tree_split import (
    FEW,
    LARGE_NODE,
    MISSING_FIRST,
    cut_at_random,
    list_instances,
    new_node,
    sort_few,
    sort_many,
    sweep,
)

LEAF = -1


class SparseLabels(NamedTuple):
    """The labels of instance i are ``indices[starts[i] : starts[i + 1]]``."""

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    n_labels: int


class Totals(NamedTuple):
    """Sums over one node; T_k is the weight of label k in it."""

    n_labels: Any
    """Number of labels that occur."""
    weight: Any
    label_weight: Any
    """Σ T_k, the score of a cut whose sides are both pure."""
    squares: Any
    """Σ T_k²."""
    pure: Any
    """Whether all instances have the same labels."""


class Limits(NamedTuple):
    """What stops a tree from growing, and how many features a split may choose from."""

    max_features: int
    min_samples_leaf: int
    min_samples_split: int
    max_depth: int
    min_impurity_decrease: float
    random_cuts: bool = False
    """Whether a feature is cut once, at a code drawn from those between its smallest and largest in the node."""


class Grown(NamedTuple):
    """A tree in terms of codes: arrays over its nodes in preorder, so that a left child is the next node."""

    feature: Any
    """LEAF for a leaf."""
    right: Any
    """Right child; of a leaf, its number among the leaves."""
    low: Any
    high: Any
    """The largest code that went left and the smallest that went right; −1 if only missing values did."""
    missing_left: Any
    impurity: Any
    weight: Any
    n_samples: Any
    rows: Any
    bounds: Any
    """``rows[bounds[l] : bounds[l + 1]]`` are the instances of leaf l."""


def grow(
    features: FeatureCodes, labels: SparseLabels, sample_weight: NDArray[np.float64], limits: Limits, seed: int
) -> Grown:
    """Grow a tree on the instances that have a positive weight; costs O(labels of the instances) a feature tried."""
    rows = np.flatnonzero(sample_weight > 0).astype(np.uint32)
    tree = _new_tree(rows, limits.min_samples_leaf)
    place = np.full(len(sample_weight), -1, np.int64)
    place[rows] = np.arange(len(rows))
    undrawn = np.arange(len(features.n_values))
    # None rather than False: what a tree does not need is not compiled for it.
    n_nodes, n_leaves = _grow(
        features, labels, sample_weight, limits, np.array([seed], np.uint64), tree, new_node(rows, labels),
        place, undrawn, np.zeros(len(undrawn), np.bool_), np.empty((len(tree.feature) + 1, 5), np.int64),
        features.listed or None, limits.random_cuts or None,
    )  # fmt: skip
    return _trimmed(tree, n_nodes, n_leaves)


def _new_tree(rows: NDArray[np.uint32], min_samples_leaf: int) -> Grown:
    n = 2 * max(1, len(rows) // min_samples_leaf) - 1
    return Grown(
        feature=np.full(n, LEAF, np.int32),
        right=np.empty(n, np.int32),
        low=np.full(n, -1, np.int32),
        high=np.full(n, -1, np.int32),
        missing_left=np.zeros(n, np.bool_),
        impurity=np.empty(n),
        weight=np.empty(n),
        n_samples=np.empty(n, np.int32),
        rows=rows,
        bounds=np.zeros(n + 1, np.int64),
    )


def _trimmed(tree: Grown, n_nodes: int, n_leaves: int) -> Grown:
    of_nodes = {name: getattr(tree, name)[:n_nodes].copy() for name in tree._fields[:-2]}
    return tree._replace(**of_nodes, bounds=tree.bounds[: n_leaves + 1].copy())


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(  # type: ignore[no-untyped-def]
    features, labels, sample_weight, limits, state, tree, node, place, undrawn, mark, stack, listed, random_cuts
):
    rows = tree.rows
    total_weight = 0.0
    for i in range(len(rows)):
        total_weight += sample_weight[rows[i]]
    scale = 2.0 / labels.n_labels

    # Nodes to visit: first row, end of the rows, depth, number of constant features, parent of a right child.
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, len(rows), 0, 0, -1
    n_waiting, n_nodes, n_leaves = 1, 0, 0
    while n_waiting:
        n_waiting -= 1
        start, end, depth = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        n_constant, parent = stack[n_waiting, 3], stack[n_waiting, 4]
        this, n_nodes = n_nodes, n_nodes + 1
        if parent >= 0:
            tree.right[parent] = this
        n = end - start
        here = rows[start:end]
        if random_cuts is None:
            totals = _enter(node, here, labels, sample_weight)
            _sum_overlaps(node.starts, node.labels, node.totals, node.weight, n, node.overlap)
        elif n > labels.n_labels:
            totals = _enter_all(node, here, labels, sample_weight)
        else:
            totals = _enter(node, here, labels, sample_weight)
        tree.n_samples[this] = n
        tree.weight[this] = totals.weight
        spread = totals.label_weight - totals.squares / totals.weight
        tree.impurity[this] = scale * (spread if spread > 0.0 else 0.0) / totals.weight

        best, f, cut, missing_left = -1.0, LEAF, 0, False
        if not totals.pure and n >= limits.min_samples_split and depth < limits.max_depth:
            best, f, cut, missing_left, n_constant = _search(
                features, here, start, place, node, totals, limits, undrawn, n_constant, mark, state, listed,
                random_cuts,
            )  # fmt: skip
        decrease = scale * (best - totals.squares / totals.weight) / total_weight
        if f == LEAF or decrease + 1e-15 < limits.min_impurity_decrease:
            tree.right[this] = n_leaves
            n_leaves += 1
            tree.bounds[n_leaves] = end
            continue
        n_left, tree.low[this], tree.high[this], seen = _partition(
            here, node.chosen, cut, features.n_values[f], node.swap
        )
        if listed is not None:
            for i in range(start, end):
                place[rows[i]] = i
        if random_cuts is not None and tree.high[this] >= 0:
            tree.low[this], tree.high[this] = cut, cut + 1
        tree.feature[this] = f
        tree.missing_left[this] = missing_left if seen else n_left > n - n_left
        for child in range(2):
            at = n_waiting + child
            stack[at, 0] = start if child else start + n_left
            stack[at, 1] = start + n_left if child else end
            stack[at, 2], stack[at, 3] = depth + 1, n_constant
            stack[at, 4] = -1 if child else this
        n_waiting += 2
    return n_nodes, n_leaves


@njit(cache=True, nogil=True, error_model="numpy")
def _enter(node, rows, labels, sample_weight):  # type: ignore[no-untyped-def]
    """Copy the labels of the node's instances, numbered by first appearance, and sum their weights."""
    n, n_present, filled, node_weight = len(rows), 0, 0, 0.0
    for i in range(n):
        row = rows[i]
        v = sample_weight[row]
        node.weight[i] = v
        node.starts[i] = filled
        node_weight += v
        for t in range(labels.starts[row], labels.starts[row + 1]):
            label = labels.indices[t]
            k = node.number[label]
            if k < 0:
                k = n_present
                node.number[label] = k
                node.present[k] = label
                node.totals[k] = 0.0
                node.moved[k] = 0.0
                n_present += 1
            node.labels[filled] = k
            node.totals[k] += v
            node.moved[k] += 1.0
            filled += 1
    node.starts[n] = filled
    label_weight, squares, pure = 0.0, 0.0, True
    for k in range(n_present):
        label_weight += node.totals[k]
        squares += node.totals[k] * node.totals[k]
        pure &= node.moved[k] == n
        node.number[node.present[k]] = -1
    return Totals(n_present, node_weight, label_weight, squares, pure)


@njit(cache=True, nogil=True, error_model="numpy")
def _enter_all(node, rows, labels, sample_weight):  # type: ignore[no-untyped-def]
    """Do the same with labels numbered as they are: no branches, but a cost for labels that do not occur."""
    n, filled, node_weight = len(rows), 0, 0.0
    for k in range(labels.n_labels):
        node.totals[k] = 0.0
        node.moved[k] = 0.0
    for i in range(n):
        row = rows[i]
        v = sample_weight[row]
        node.weight[i] = v
        node.starts[i] = filled
        node_weight += v
        for t in range(np.uint64(labels.starts[row]), np.uint64(labels.starts[row + 1])):
            label = np.uint32(labels.indices[t])
            node.labels[filled] = label
            node.totals[label] += v
            node.moved[label] += 1.0
            filled += 1
    node.starts[n] = filled
    label_weight, squares, pure = 0.0, 0.0, True
    for k in range(labels.n_labels):
        label_weight += node.totals[k]
        squares += node.totals[k] * node.totals[k]
        pure &= node.moved[k] == n or node.moved[k] == 0.0
    return Totals(labels.n_labels, node_weight, label_weight, squares, pure)


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_overlaps(starts, labels, totals, weights, n, overlaps):  # type: ignore[no-untyped-def]
    for i in range(n):
        overlap = 0.0
        for t in range(starts[i], starts[i + 1]):
            overlap += totals[labels[t]]
        overlaps[i] = weights[i] * overlap


@njit(cache=True, nogil=True, error_model="numpy")
def _search(  # type: ignore[no-untyped-def]
    features, rows, start, place, node, totals, limits, undrawn, n_constant, mark, state, listed, random_cuts
):
    """Draw features until ``max_features`` that vary in the node were tried and one of them can be cut.

    Features found constant are kept at the front of ``undrawn``, where the descendants of the node leave them.
    """
    n = len(rows)
    best, best_feature, cut, missing_left = -1.0, LEAF, 0, False
    n_undrawn, n_tried = len(undrawn), 0
    if listed is not None:
        n_constant = set_absent_aside(features, rows, undrawn, n_constant, mark)
    while (
        n_undrawn > n_constant
        and (n_tried < limits.max_features or best_feature == LEAF)
        and best < totals.label_weight  # otherwise both sides are pure: no cut is better
    ):
        j = n_constant + np.int64(_random(state) % np.uint64(n_undrawn - n_constant))
        f = undrawn[j]
        if listed is not None:
            lowest, highest = gather_listed(features, f, rows, start, place, node.code)
        elif n > LARGE_NODE:
            lowest, highest = gather(features.codes, features.starts[f], np.int64(1), rows, node.code)
        else:
            lowest, highest = gather(features.by_row, f, np.int64(len(undrawn)), rows, node.code)
        if lowest == highest:
            undrawn[j], undrawn[n_constant] = undrawn[n_constant], f
            n_constant += 1
        else:
            n_undrawn -= 1
            n_tried += 1
            undrawn[j], undrawn[n_undrawn] = undrawn[n_undrawn], f
            missing, common = features.n_values[f], features.common[f]
            if random_cuts is None:
                for way in range(4 if highest == missing else 2):
                    m, origin, shift, highest_key = list_instances(
                        node.code, node.pairs, n, lowest, highest, missing, common, way
                    )
                    if m == 0:
                        continue
                    if m > FEW:
                        sort_many(node.pairs, node.swap, node.digits, m, highest_key)
                    elif highest_key > 0:  # where all keys are alike they are in order
                        sort_few(node.pairs, node.swap, m)
                    score, last = sweep(
                        node.pairs, node.weight, node.overlap, node.starts, node.labels, node.moved,
                        totals.n_labels, totals.squares, totals.weight, m, n, limits.min_samples_leaf, best,
                    )  # fmt: skip
                    if score > best:
                        best, best_feature, missing_left = score, f, way >= 2
                        step = (last + 1) << shift
                        cut = origin - step if way % 2 else origin + step - 1
                        for i in range(n):
                            node.chosen[i] = node.code[i]
            else:
                score, its_cut, first = cut_at_random(
                    node, n, lowest, highest, missing, _random(state), totals, limits.min_samples_leaf, best
                )
                if score > best:
                    best, best_feature, cut, missing_left = score, f, its_cut, first
                    for i in range(n):
                        code = node.code[i]
                        node.chosen[i] = missing if code == MISSING_FIRST and not first else code
    return best, best_feature, cut, missing_left, n_constant


@njit(cache=True, nogil=True, error_model="numpy")
def _partition(rows, code, cut, missing, swap):  # type: ignore[no-untyped-def]
    """Put the rows whose codes are at most ``cut`` first, keeping their order.

    Returns their number, the codes next to the cut and whether a value is missing.
    """
    n_left, n_right, low, high, seen = 0, 0, np.int64(-1), np.int64(missing), False
    for i in range(len(rows)):
        seen |= code[i] == missing or code[i] == MISSING_FIRST
        if code[i] <= cut:
            low = code[i] if code[i] > low else low
            rows[n_left] = rows[i]
            n_left += 1
        else:
            high = code[i] if code[i] < high else high
            swap[n_right] = rows[i]
            n_right += 1
    for i in range(n_right):
        rows[n_left + i] = swap[i]
    return n_left, low, high if high < missing else np.int64(-1), seen


@njit(cache=True, nogil=True, error_model="numpy")
def _random(state):  # type: ignore[no-untyped-def]
    """Return the next number of the SplitMix64 generator (Steele, Lea and Flood, 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
