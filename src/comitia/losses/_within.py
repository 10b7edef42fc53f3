"""Compiled loops that decide within rules: sizes, exclusive groups, and trees of implications.

Rules come as arrays.  ``group_of[k]`` is the group of which label k excludes the others, −1 if it is in none.  Trees
come as a walk over the labels, parents before children: ``order`` lists them, and place i goes on at ``take_to[i]`` if
its label is taken and at ``skip_to[i]`` if not, in which case none below it is.  Every allowed labeling is one walk.
"""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

import numpy as np

from comitia._compiled import njit
from comitia.losses._count_kernels import count_relevant, fill_joint
from comitia.losses._independent import (
    NEGLIGIBLE,
    _on_a_grid,
    _one_by_one,
    _prefix_counts,
    add_label,
    sizes_worth_a_look,
)
from comitia.losses._joint import _sort_by


@njit(cache=True, nogil=True)
def best_gains(gain, cut, take_level, group_of, n_groups, at_least, at_most, labeling):
    """Set the labels whose gain exceeds ``cut``, the best of each group, as many as sizes allow, first of equals."""
    n, K = gain.shape
    winner = np.empty(n_groups, np.int64)
    eligible = np.empty(K, np.int64)
    loss = np.empty(K)
    for i in range(n):
        g = gain[i]
        winner[:] = -1
        if n_groups:
            for k in range(K):
                group = group_of[k]
                if group >= 0 and (winner[group] < 0 or g[k] > g[winner[group]]):
                    winner[group] = k
        n_eligible, taken = 0, 0
        for k in range(K):
            if group_of[k] < 0 or winner[group_of[k]] == k:
                eligible[n_eligible] = k
                loss[n_eligible] = -g[k]
                n_eligible += 1
                if g[k] > cut or (take_level and g[k] == cut):
                    labeling[i, k] = 1
                    taken += 1
        if at_least <= taken <= at_most:
            continue
        size = at_most if taken > at_most else at_least
        labeling[i] = 0
        if size == 0:
            continue
        last = np.partition(loss[:n_eligible], size - 1)[size - 1]
        level = size
        for e in range(n_eligible):
            if loss[e] < last:
                labeling[i, eligible[e]] = 1
                level -= 1
        for e in range(n_eligible):
            if loss[e] == last and level > 0:
                labeling[i, eligible[e]] = 1
                level -= 1


@njit(cache=True, nogil=True)
def best_walks(gain, order, take_to, skip_to, at_least, at_most, labeling):
    """Set the labels of the largest total gain that a walk allows, for each instance."""
    n, K = gain.shape
    free = at_least == 0 and at_most == K
    best = np.empty((K + 1, 1 if free else at_most + 1))
    for i in range(n):
        if free:
            _best_walk(gain[i], order, take_to, skip_to, best[:, 0], labeling[i])
            continue
        _fill_walks(gain[i], order, take_to, skip_to, at_most, best)
        size = at_least
        for m in range(at_least, at_most + 1):
            if best[0, m] > best[0, size]:
                size = m
        _follow_walk(gain[i], order, take_to, skip_to, size, best, labeling[i])


@njit(cache=True, nogil=True)
def _best_walk(g, order, take_to, skip_to, best, row):
    K = len(order)
    best[K] = 0.0
    for i in range(K - 1, -1, -1):
        best[i] = max(g[order[i]] + best[take_to[i]], best[skip_to[i]])
    i = 0
    while i < K:
        if g[order[i]] + best[take_to[i]] > best[skip_to[i]]:
            row[order[i]] = 1
            i = take_to[i]
        else:
            i = skip_to[i]


@njit(cache=True, nogil=True)
def _fill_walks(g, order, take_to, skip_to, largest, best):
    """Fill best[i, m] with the largest gain of m labels on a walk from place i on: O(K · largest)."""
    K = len(order)
    best[K, 0] = 0.0
    for m in range(1, largest + 1):
        best[K, m] = -np.inf
    for i in range(K - 1, -1, -1):
        here, taken, skipped = best[i], best[take_to[i]], best[skip_to[i]]
        worth = g[order[i]]
        here[0] = 0.0
        for m in range(1, largest + 1):
            here[m] = max(worth + taken[m - 1], skipped[m])


@njit(cache=True, nogil=True)
def _follow_walk(g, order, take_to, skip_to, size, best, row):
    i, m = 0, size
    while m > 0:
        if g[order[i]] + best[take_to[i], m - 1] > best[skip_to[i], m]:
            row[order[i]] = 1
            i = take_to[i]
            m -= 1
        else:
            i = skip_to[i]


@njit(cache=True, nogil=True)
def best_linear_labels(
    indptr, indices, data, set_starts, set_labels, totals, K, constant, slope, fill,
    group_of, n_groups, tree, order, take_to, skip_to, at_least, at_most, start, stop, labeling,
):  # fmt: skip
    """Set the labels of the smallest expected loss that the rules allow, for a loss linear in hits and label sets.

    With Δ_h[k] = −Σ_s P(y_k = 1, |y| = s) slope[h, s] the gain of h labels is the sum of their Δ_h, whatever they are:
    the best h that the rules allow are found greedily (groups) or by dynamic programming (trees).  Labels that occur
    for no labeling of an instance are candidates if ``fill`` says so or ``at_least`` or a tree may need them.
    """
    place = np.full(K, -1, np.int64)
    labels = np.empty(K, np.int64)
    slot = np.full(K + 1, -1, np.int64)
    cardinality = np.empty(K + 1, np.int64)
    mass = np.empty(K + 1)
    seen = np.full(n_groups, -1, np.int64)
    best = np.empty((K + 1, at_most + 1)) if tree else np.empty((1, 1))
    for i in range(start, stop):
        n_labels, n_slots, able = 0, 0, 0
        seen[:] = -1
        for e in range(indptr[i], indptr[i + 1]):
            first, last = set_starts[indices[e]], set_starts[indices[e] + 1]
            size = last - first
            if slot[size] < 0:
                slot[size] = n_slots
                cardinality[n_slots] = size
                mass[n_slots] = 0.0
                n_slots += 1
            mass[slot[size]] += data[e] / totals[i]
            for x in range(first, last):
                k = set_labels[x]
                if place[k] < 0:
                    place[k] = n_labels
                    labels[n_labels] = k
                    n_labels += 1
                    if group_of[k] < 0 or seen[group_of[k]] < 0:
                        able += 1
                        if group_of[k] >= 0:
                            seen[group_of[k]] = i
        if fill or tree or able < at_least:
            for k in range(K):
                if place[k] < 0:
                    place[k] = n_labels
                    labels[n_labels] = k
                    n_labels += 1
        joint = np.zeros((n_labels, n_slots))
        for e in range(indptr[i], indptr[i + 1]):
            first, last = set_starts[indices[e]], set_starts[indices[e] + 1]
            for x in range(first, last):
                joint[place[set_labels[x]], slot[last - first]] += data[e] / totals[i]
        _best_of_sizes(
            joint, labels[:n_labels], cardinality[:n_slots], mass[:n_slots], K, constant, slope,
            group_of, seen, tree, order, take_to, skip_to, at_least, at_most, best, labeling[i],
        )  # fmt: skip
        for k in range(n_labels):
            place[labels[k]] = -1
        for s in range(n_slots):
            slot[cardinality[s]] = -1


@njit(cache=True, nogil=True)
def best_linear_tree(p, constant, slope, order, take_to, skip_to, at_least, at_most, labeling):
    """Do as :func:`best_linear_labels` does for independent labels and trees of implications.

    No h labels have more hits than the h most probable, and none fewer than the h least probable: O(K²) for all h,
    which bounds the loss that a walk of h labels can have.  Sizes are tried by rising bounds, O(K²) each, until none is
    left that can be better: a few as a rule, all of them at worst.
    """
    n, K = p.shape
    fixed, each_hit = np.ascontiguousarray(constant.T), np.ascontiguousarray(slope.T)
    rounding = 1e-13 * (np.abs(constant).max() + K * np.abs(slope).max())
    counts = np.empty(K + 1)
    joint = np.empty((K + 1, K))
    top = np.zeros(K + 1)
    bound = np.empty(K + 1)
    delta, worth = np.empty(K), np.empty(K)
    best = np.empty((K + 1, at_most + 1))
    for i in range(n):
        labels = np.argsort(-p[i])
        falling = p[i][labels]
        count_relevant(falling, counts)
        first, last = 0, K
        while counts[first] < NEGLIGIBLE:
            first += 1
        while counts[last] < NEGLIGIBLE:
            last -= 1
        fill_joint(falling, counts, last, joint)
        bound[:] = 0.0
        for s in range(first, last + 1):
            mass, anyway, a_hit, row = counts[s], fixed[s], each_hit[s], joint[s]
            for k in range(K):
                top[k + 1] = top[k] + row[k]
            for h in range(at_least, at_most + 1):
                hits = top[h] if a_hit[h] < 0.0 else top[K] - top[K - h]
                bound[h] += mass * anyway[h] + a_hit[h] * hits
        smallest = np.inf
        for h in at_least + np.argsort(bound[at_least : at_most + 1]):
            if bound[h] - rounding > smallest:
                break
            risk = 0.0
            delta[:] = 0.0
            for s in range(first, last + 1):
                risk += counts[s] * constant[h, s]
                gain, row = -slope[h, s], joint[s]
                for k in range(K):
                    delta[k] += gain * row[k]
            for k in range(K):
                worth[labels[k]] = delta[k]
            _fill_walks(worth, order, take_to, skip_to, h, best)
            if risk - best[0, h] < smallest:
                smallest = risk - best[0, h]
                labeling[i] = 0
                _follow_walk(worth, order, take_to, skip_to, h, best, labeling[i])


@njit(cache=True, nogil=True)
def _best_of_sizes(
    joint, labels, cardinality, mass, K, constant, slope,
    group_of, seen, tree, order, take_to, skip_to, at_least, at_most, best, row,
):  # fmt: skip
    """Set in ``row`` the best labels of the best size; a size that cannot reach the best found is passed over."""
    n_labels, n_slots = joint.shape
    ranked = np.arange(n_labels)
    delta = np.empty(n_labels)
    worth = np.zeros(K)
    chosen = np.zeros(K, np.bool_)
    trial = np.zeros(K, np.int8)
    weight = np.empty(n_slots)
    seen[:] = -1
    largest = at_most if tree else min(at_most, n_labels)
    mean = 0.0
    for s in range(n_slots):
        mean += mass[s] * cardinality[s]
    middle = min(max(round(mean), at_least), largest)
    smallest_risk = np.inf
    for turn in range(at_least, largest + 1):
        # The size nearest the mean cardinality first: it is rarely far off, and rules others out.
        h = middle if turn == at_least else (turn - 1 if turn <= middle else turn)
        base, bound = 0.0, 0.0
        for s in range(n_slots):
            weight[s] = -slope[h, cardinality[s]]
            base += mass[s] * constant[h, cardinality[s]]
            most = min(h, cardinality[s]) if weight[s] > 0.0 else max(0, h + cardinality[s] - K)
            bound += mass[s] * weight[s] * most
        if base - bound >= smallest_risk:
            continue
        for k in range(n_labels):
            value = 0.0
            for s in range(n_slots):
                value += joint[k, s] * weight[s]
            delta[k] = value
        total, taken = 0.0, 0
        trial[:] = 0
        if tree:
            for k in range(n_labels):
                worth[labels[k]] = delta[k]
            _fill_walks(worth, order, take_to, skip_to, h, best)
            if best[0, h] == -np.inf:
                continue
            total, taken = best[0, h], h
        else:
            _sort_by(ranked, delta, labels)
            for r in range(n_labels):
                if taken == h:
                    break
                k = labels[ranked[r]]
                if group_of[k] >= 0:
                    if seen[group_of[k]] == turn:
                        continue
                    seen[group_of[k]] = turn
                trial[k] = 1
                total += delta[ranked[r]]
                taken += 1
        if taken == h and base - total < smallest_risk:
            smallest_risk = base - total
            if tree:
                _follow_walk(worth, order, take_to, skip_to, h, best, trial)
            for k in range(K):
                chosen[k] = trial[k]
    for k in range(K):
        row[k] = chosen[k]


@njit(cache=True, nogil=True)
def best_f_sizes_within(ordered, lengths, beta2, step, stride, zero_division, at_least, at_most, sizes):
    """Find how many of the first labels maximise the expected F-measure, as `_independent.best_f_sizes` does.

    ``ordered`` holds each instance's probabilities, those that may be predicted first and falling, and ``lengths`` how
    many these are.
    """
    n, K = ordered.shape
    prefix = np.empty(K + 1)
    squares = np.empty(K + 1)
    inverse = np.empty((stride + 2 * step) * (K + 1) + 1)
    for x in range(1, len(inverse)):
        inverse[x] = 1.0 / x
    for i in range(n):
        p = ordered[i]
        largest = min(at_most, lengths[i])
        while largest > max(at_least, 0) and p[largest - 1] == 0.0:
            largest -= 1
        empty = -1.0
        if at_least == 0:
            empty = zero_division
            for k in range(K):
                empty *= 1.0 - p[k]
        low, high = 0, 0
        if largest > 0:
            low, high = sizes_worth_a_look(p, beta2, empty, max(at_least, 1), largest, prefix, squares)
        if high == 0:
            sizes[i] = 0
            continue
        rows, left, right = _prefix_counts(p, low, high)
        if step > 0:
            size, value = _on_a_grid(p, K, low, high, rows, left, right, beta2, step, stride, inverse)
        else:
            size, value = _one_by_one(p, K, low, high, rows, left, right, beta2)
        sizes[i] = 0 if empty >= value else size


@njit(cache=True, nogil=True)
def best_jaccard_sizes_within(ordered, lengths, zero_division, at_least, at_most, sizes):
    """Find how many of the first labels maximise the expected Jaccard index; arrays as in the loop above."""
    n, K = ordered.shape
    prefix = np.empty(K + 1)
    a = np.empty(K + 2)
    b = np.empty(K + 2)
    for i in range(n):
        p = ordered[i]
        largest = min(at_most, lengths[i])
        prefix[0] = 0.0
        empty = zero_division if at_least == 0 else -1.0
        for k in range(K):
            prefix[k + 1] = prefix[k] + p[k]
            if at_least == 0:
                empty *= 1.0 - p[k]
        first, last = 0, 0
        a[0] = 1.0
        best, best_value = 0, -1.0
        for k in range(K, 0, -1):
            if at_least <= k <= largest:
                value = 0.0
                for count in range(first, last + 1):
                    value += a[count] / (k + count)
                value *= prefix[k]
                if value >= best_value:
                    best, best_value = k, value
            first, last = add_label(a, first, last, p[k - 1], NEGLIGIBLE, b)
            a, b = b, a
        sizes[i] = 0 if empty >= best_value else best
