"""Growing one boosted tree, best leaf first, on histograms of sums of integers.

Each instance has a few channels: sketched gradients and, last, its weight, all as integers of 32 bits whose sums over
any instances fit into 32 bits.  So sums are exact: the histogram of a child is that of its parent less that of its
sibling, and no result depends on the order of adding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from comitia._compiled import njit
from comitia.learners._boost_bins import Bins, bin_at, worth_a_look
from comitia.learners._boost_histograms import BLOCK, fill_histogram, subtract, sum_channels

KEPT_CELLS = 2**26
"""Histograms of all leaves are kept if they have fewer sums than this together; otherwise each is made anew."""

LEAF = -1


class TreeLimits(NamedTuple):
    """What stops a boosted tree from growing."""

    max_leaves: int
    max_depth: int
    min_leaf_weight: float
    """In the unit of the last channel."""
    l2: float
    """Added to the weight of either side, in the same unit."""


class Leaves(NamedTuple):
    """Nodes while a tree grows, in the order of their making."""

    start: Any
    end: Any
    depth: Any
    slot: Any
    """Where the node's histogram is, −1 if it has none."""
    gain: Any
    feature: Any
    cut: Any
    """Largest bin that goes left."""
    missing_left: Any
    left: Any
    """Left child, the right one is the next; 0 in a leaf."""
    totals: Any
    """Sums of the channels."""


class Room(NamedTuple):
    """What is written again and again while a tree grows."""

    histograms: Any
    in_blocks: Any
    flat: Any
    """Of all leaves where they are kept, otherwise of one; with the channels in blocks, and each in one piece."""
    ordered: Any
    """The channels of the rows of a node."""
    swap: Any
    prefix: Any
    stack: Any


class Grown(NamedTuple):
    """A tree: arrays over its nodes in preorder, so that a left child is the next node."""

    feature: Any
    """LEAF for a leaf."""
    cut: Any
    missing_left: Any
    right: Any
    """Right child; of a leaf, its number among the leaves."""
    gain: Any


def grow_boosted(bins: Bins, channels: Any, rows: Any, chosen: Any, limits: TreeLimits) -> Grown:
    """Grow a tree on ``rows``, which are put into another order, and the ``chosen`` features."""
    n_channels, most = channels.shape[1], 2 * limits.max_leaves - 1
    chosen = worth_a_look(bins, channels, rows, chosen, limits.min_leaf_weight)
    widths = (bins.starts[1:] - bins.starts[:-1])[chosen]
    wanted = np.full(len(bins.n_bins), -1, np.int64)
    wanted[chosen] = np.cumsum(widths) - widths
    width = int(widths.sum())
    keep = width * n_channels * limits.max_leaves <= KEPT_CELLS
    histograms = np.empty((limits.max_leaves if keep else 1, width, n_channels), np.int32)
    blocks = n_channels // BLOCK, BLOCK
    room = Room(
        histograms,
        histograms.reshape(len(histograms), width, *blocks),
        histograms.reshape(len(histograms), width * n_channels),
        np.empty((len(rows), *blocks), np.int32),
        np.empty(len(rows), np.uint32),
        np.empty(n_channels),
        np.empty((most + 1, 2), np.int64),
    )
    grown = Grown(
        np.full(most, LEAF, np.int32),
        np.zeros(most, np.int32),
        np.zeros(most, np.bool_),
        np.zeros(most, np.int32),
        np.zeros(most),
    )
    nodes = _new_nodes(most, n_channels)
    # None rather than False: what a tree does not need is not compiled for it.
    listed = channels.reshape(len(channels), *blocks) if bins.listed else None
    n_nodes = _grow(bins, channels, rows, chosen, wanted, limits, nodes, room, grown, listed)
    return Grown(*(array[:n_nodes] for array in grown))


def _new_nodes(n: int, n_channels: int) -> Leaves:
    return Leaves(
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(n),
        np.full(n, LEAF, np.int32),
        np.zeros(n, np.int32),
        np.zeros(n, np.bool_),
        np.zeros(n, np.int64),
        np.zeros((n, n_channels), np.int32),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(bins, channels, rows, chosen, wanted, limits, nodes, room, grown, listed):  # type: ignore[no-untyped-def]
    """Fill in the nodes, and then the tree; return how many there are."""
    histograms, in_blocks, ordered, prefix = room.histograms, room.in_blocks, room.ordered, room.prefix
    keep = len(histograms) == limits.max_leaves
    nodes.end[0] = len(rows)
    sum_channels(channels, rows, nodes.totals[0])
    root = np.int64(0)  # no literal, which would be a type of its own: what is called is compiled once
    if _may_split(nodes, root, limits):
        nodes.slot[0] = 0
        fill_histogram(
            bins, channels, rows, chosen, wanted, ordered, nodes.totals[0], histograms[0], in_blocks[0], listed
        )
        _search(bins, chosen, wanted, histograms[0], nodes, root, limits, prefix)
    n_nodes, n_leaves, n_slots = np.int64(1), 1, 1
    while n_leaves < limits.max_leaves:
        parent, most = np.int64(-1), 0.0
        for node in range(n_nodes):
            if nodes.left[node] == 0 and nodes.gain[node] > most:
                parent, most = np.int64(node), nodes.gain[node]
        if parent < 0:
            break
        left = n_nodes
        small, large = _split(bins, channels, rows, nodes, parent, left, room.swap, listed)
        n_nodes += 2
        n_leaves += 1
        if n_leaves == limits.max_leaves:
            break
        try_small, try_large = _may_split(nodes, small, limits), _may_split(nodes, large, limits)
        if not (try_small or try_large):
            continue
        if keep:
            of_parent = nodes.slot[parent]
            ours, theirs = histograms[n_slots], histograms[of_parent]
            few = rows[nodes.start[small] : nodes.end[small]]
            fill_histogram(
                bins, channels, few, chosen, wanted, ordered, nodes.totals[small], ours, in_blocks[n_slots], listed
            )
            if try_small:
                _search(bins, chosen, wanted, ours, nodes, small, limits, prefix)
            if try_large:
                subtract(room.flat[of_parent], room.flat[n_slots])
                _search(bins, chosen, wanted, theirs, nodes, large, limits, prefix)
            nodes.slot[small], nodes.slot[large] = n_slots, of_parent
            n_slots += 1
        else:
            for child in (left, left + 1):
                if _may_split(nodes, child, limits):
                    its = rows[nodes.start[child] : nodes.end[child]]
                    fill_histogram(
                        bins, channels, its, chosen, wanted, ordered, nodes.totals[child], histograms[0],
                        in_blocks[0], listed,
                    )  # fmt: skip
                    _search(bins, chosen, wanted, histograms[0], nodes, child, limits, prefix)
    _put_in_preorder(nodes, room.stack, grown)
    return n_nodes


@njit(cache=True, nogil=True, error_model="numpy")
def _may_split(nodes, node, limits):  # type: ignore[no-untyped-def]
    weight = nodes.totals[node, -1]
    n = nodes.end[node] - nodes.start[node]
    return n >= 2 and weight >= 2 * limits.min_leaf_weight and nodes.depth[node] < limits.max_depth


@njit(cache=True, nogil=True, error_model="numpy")
def _split(bins, channels, rows, nodes, parent, left, swap, listed):  # type: ignore[no-untyped-def]
    """Share out the rows of a node to two children, ``left`` and the next; return the smaller and the larger one."""
    here = rows[nodes.start[parent] : nodes.end[parent]]
    n_left = _divide(bins, here, nodes.feature[parent], nodes.cut[parent], nodes.missing_left[parent], swap, listed)
    right = left + 1
    nodes.left[parent] = left
    nodes.start[left], nodes.end[left] = nodes.start[parent], nodes.start[parent] + n_left
    nodes.start[right], nodes.end[right] = nodes.end[left], nodes.end[parent]
    nodes.depth[left] = nodes.depth[right] = nodes.depth[parent] + 1
    small, large = (left, right) if 2 * n_left <= len(here) else (right, left)
    sum_channels(channels, rows[nodes.start[small] : nodes.end[small]], nodes.totals[small])
    for c in range(channels.shape[1]):
        nodes.totals[large, c] = nodes.totals[parent, c] - nodes.totals[small, c]
    return small, large


@njit(cache=True, nogil=True, error_model="numpy")
def _search(bins, chosen, wanted, histogram, nodes, node, limits, prefix):  # type: ignore[no-untyped-def]
    """Find the cut that gains the most: Σ G_L² / (w_L + λ) + Σ G_R² / (w_R + λ) less the same of the whole node."""
    totals = nodes.totals[node]
    last = len(totals) - 1
    weight = np.float64(totals[last])
    whole = 0.0
    for c in range(last):
        total = np.float64(totals[c])
        whole += total * total
    whole /= weight + limits.l2
    best = whole * (1.0 + 1e-9)
    for f in chosen:
        n_bins = bins.n_bins[f]
        of_feature = histogram[wanted[f] : wanted[f] + bins.starts[f + 1] - bins.starts[f]]
        some_missing = len(of_feature) > n_bins and of_feature[n_bins, last] > 0
        for way in range(2 if some_missing else 1):
            moved, missing_left = 0.0, way == 1
            prefix[:] = 0.0
            if missing_left:
                moved = np.float64(of_feature[n_bins, last])
                for c in range(last):
                    prefix[c] = of_feature[n_bins, c]
            previous, pending = -1, -1.0
            for b in range(n_bins):
                if of_feature[b, last] == 0:
                    continue
                if pending > best:
                    best = pending
                    nodes.feature[node], nodes.missing_left[node], nodes.cut[node] = (
                        f,
                        missing_left,
                        (previous + b) // 2,
                    )
                previous, pending = b, -1.0
                moved += of_feature[b, last]
                rest = weight - moved
                if rest < limits.min_leaf_weight or rest == 0.0:  # and so is what any further bin leaves
                    break
                own, other = _squares(of_feature[b], totals, prefix)
                if moved >= limits.min_leaf_weight:
                    pending = own / (moved + limits.l2) + other / (rest + limits.l2)
            # All that is present on the left, all that is missing on the right.
            if pending > best:
                best = pending
                nodes.feature[node], nodes.missing_left[node], nodes.cut[node] = f, False, n_bins - 1
    if nodes.feature[node] >= 0:
        nodes.gain[node] = best - whole
        _send_missing(bins, wanted, histogram, nodes, node)


@njit(cache=True, nogil=True, error_model="numpy")
def _squares(added, totals, prefix):  # type: ignore[no-untyped-def]
    """Move a bin to the left; return Σ G_L² and Σ G_R²."""
    own, other = 0.0, 0.0
    for c in range(len(totals) - 1):
        left = prefix[c] + added[c]
        right = totals[c] - left
        prefix[c] = left
        own += left * left
        other += right * right
    return own, other


@njit(cache=True, nogil=True, error_model="numpy")
def _send_missing(bins, wanted, histogram, nodes, node):  # type: ignore[no-untyped-def]
    """Send missing values to the heavier side if the node has none for its feature."""
    f = nodes.feature[node]
    first, n_bins = wanted[f], bins.n_bins[f]
    if bins.starts[f + 1] - bins.starts[f] > n_bins and histogram[first + n_bins, -1] > 0:
        return
    left = np.int64(0)
    for b in range(nodes.cut[node] + 1):
        left += histogram[first + b, -1]
    nodes.missing_left[node] = 2 * left > nodes.totals[node, -1]


@njit(cache=True, nogil=True, error_model="numpy")
def _divide(bins, rows, f, cut, missing_left, swap, listed):  # type: ignore[no-untyped-def]
    """Put the rows that go left first, keeping their order; return how many do."""
    n_left, n_right, missing = 0, 0, bins.n_bins[f]
    column = bins.by_feature[f * bins.n : (f + 1) * bins.n]
    for i in range(len(rows)):
        row = rows[i]
        b = bin_at(bins, row, f) if listed is not None else np.int32(column[row])
        left = missing_left if b == missing else b <= cut
        rows[n_left] = row
        swap[n_right] = row
        n_left += left
        n_right += not left
    for i in range(n_right):
        rows[n_left + i] = swap[i]
    return n_left


@njit(cache=True, nogil=True, error_model="numpy")
def _put_in_preorder(nodes, stack, grown):  # type: ignore[no-untyped-def]
    # Nodes to visit, and of which each is the right child.
    stack[0, 0], stack[0, 1] = 0, -1
    n_waiting, this, leaf = 1, 0, 0
    while n_waiting:
        n_waiting -= 1
        node, parent = stack[n_waiting, 0], stack[n_waiting, 1]
        if parent >= 0:
            grown.right[parent] = this
        left = nodes.left[node]
        if left:
            grown.feature[this], grown.cut[this] = nodes.feature[node], nodes.cut[node]
            grown.missing_left[this], grown.gain[this] = nodes.missing_left[node], nodes.gain[node]
            stack[n_waiting, 0], stack[n_waiting, 1] = left + 1, this
            stack[n_waiting + 1, 0], stack[n_waiting + 1, 1] = left, -1
            n_waiting += 2
        else:
            grown.right[this] = leaf
            leaf += 1
        this += 1


@njit(cache=True, nogil=True, error_model="numpy")
def find_leaves(bins, rows, feature, cut, missing_left, right, leaves):  # type: ignore[no-untyped-def]
    """Fill ``leaves[row]`` with the number of the leaf of each of the rows."""
    for row in rows:
        node = 0
        while feature[node] >= 0:
            f = feature[node]
            b = bin_at(bins, row, f)
            left = missing_left[node] if b == bins.n_bins[f] else b <= cut[node]
            node = node + 1 if left else right[node]
        leaves[row] = right[node]
