"""Compiled loops for losses of explicit joint distributions: weighted lists of labelings."""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

import numpy as np

from comitia._compiled import njit

# Weights that differ by no more than this share are a tie: sums of equal weights may differ in their last places.
TIE = 1e-12


@njit(cache=True, nogil=True)
def modes(indptr, indices, data, table, start, stop, mode):
    """Fill mode[i] with the row of ``table`` of the largest weight for instance i, ties broken as the paper does."""
    K = table.shape[1]
    share = np.empty(K)
    for i in range(start, stop):
        largest = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            largest = max(largest, data[e])
        enough = largest * (1.0 - TIE)
        found, ties = -1, 0
        for e in range(indptr[i], indptr[i + 1]):
            if data[e] >= enough:
                ties += 1
                if found < 0:
                    found = indices[e]
        if ties > 1:
            # Agreement, less what all labelings have in common: Σ_k (2 y_k − 1) (share of label k − 1/2).
            share[:] = 0.0
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                total += data[e]
                for k in range(K):
                    share[k] += data[e] * table[indices[e], k]
            best = -np.inf
            for e in range(indptr[i], indptr[i + 1]):
                if data[e] >= enough:
                    agreement = 0.0
                    for k in range(K):
                        agreement += share[k] if table[indices[e], k] else total - share[k]
                    if agreement > best * (1.0 + TIE) or best < 0.0:
                        best = agreement
                        found = indices[e]
        mode[i] = found


@njit(cache=True, nogil=True)
def best_f_labels(indptr, indices, data, set_starts, set_labels, K, beta2, zero_division, start, stop, labeling):
    """Set, for instances [start, stop), the labels that maximise the expected F-measure.

    With Δ_h[k] = Σ_s P(y_k = 1, |y| = s) (1 + β²) / (h + β² s), the best labeling of h labels takes the h largest Δ_h.
    Only labels that occur can help, and only the cardinalities s that occur matter.  A size h is passed over when
    Σ_s P(|y| = s) (1 + β²) min(h, s) / (h + β² s), which no labeling of that size can exceed, is not enough.
    """
    place = np.full(K, -1, np.int64)
    labels = np.empty(K, np.int64)
    slot = np.full(K + 1, -1, np.int64)
    cardinality = np.empty(K + 1, np.int64)
    mass = np.empty(K + 1)
    gain = np.empty(K + 1)
    order = np.empty(K, np.int64)
    delta = np.empty(K)
    chosen = np.empty(K, np.int64)
    for i in range(start, stop):
        n_labels, n_slots, empty, mean = 0, 0, 0.0, 0.0
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            first, last = set_starts[indices[e]], set_starts[indices[e] + 1]
            size = last - first
            total += data[e]
            if size == 0:
                empty += data[e]
                continue
            mean += data[e] * size
            if slot[size] < 0:
                slot[size] = n_slots
                cardinality[n_slots] = size
                mass[n_slots] = 0.0
                n_slots += 1
            mass[slot[size]] += data[e]
            for x in range(first, last):
                if place[set_labels[x]] < 0:
                    place[set_labels[x]] = n_labels
                    labels[n_labels] = set_labels[x]
                    n_labels += 1
        joint = np.zeros((n_labels, n_slots))
        for e in range(indptr[i], indptr[i + 1]):
            first, last = set_starts[indices[e]], set_starts[indices[e] + 1]
            for x in range(first, last):
                joint[place[set_labels[x]], slot[last - first]] += data[e]
        best, best_size = zero_division * empty, 0
        for k in range(n_labels):
            order[k] = k
        # The size nearest the mean cardinality first: it is rarely far off, and rules others out.
        middle = min(max(round(mean / total), 1), n_labels) if n_labels else 0
        for turn in range(n_labels):
            h = middle if turn == 0 else (turn if turn < middle else turn + 1)
            bound = 0.0
            for s in range(n_slots):
                gain[s] = (1.0 + beta2) / (h + beta2 * cardinality[s])
                bound += mass[s] * gain[s] * min(h, cardinality[s])
            if bound <= best:
                continue
            for k in range(n_labels):
                value = 0.0
                for s in range(n_slots):
                    value += joint[k, s] * gain[s]
                delta[k] = value
            _sort_by(order[:n_labels], delta, labels)
            value = 0.0
            for k in range(h):
                value += delta[order[k]]
            if value > best:
                best, best_size = value, h
                for k in range(h):
                    chosen[k] = labels[order[k]]
        for k in range(best_size):
            labeling[i, chosen[k]] = 1
        for k in range(n_labels):
            place[labels[k]] = -1
        for s in range(n_slots):
            slot[cardinality[s]] = -1


@njit(cache=True, nogil=True)
def _sort_by(order, key, label):
    """Insertion sort, largest key first, then smallest label: from one size to the next the order hardly changes."""
    for a in range(1, len(order)):
        item = order[a]
        b = a - 1
        while b >= 0 and (key[order[b]] < key[item] or (key[order[b]] == key[item] and label[order[b]] > label[item])):
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = item


@njit(cache=True, nogil=True)
def best_jaccard_labels(
    indptr, indices, data, set_starts, set_labels, K, zero_division, exact_labels, start, stop, labeling
):
    """Set, for instances [start, stop), the labels of the largest expected Jaccard index that the search finds.

    Where at most ``exact_labels`` labels occur all their subsets are tried; otherwise the labelings that occur and the
    top-k sets of the marginals, and from the best of these, one label is flipped at a time while that helps.
    """
    place = np.full(K, -1, np.int64)
    labels = np.empty(K, np.int64)
    for i in range(start, stop):
        support = indptr[i + 1] - indptr[i]
        n_labels = 0
        for e in range(indptr[i], indptr[i + 1]):
            for x in range(set_starts[indices[e]], set_starts[indices[e] + 1]):
                if place[set_labels[x]] < 0:
                    place[set_labels[x]] = n_labels
                    labels[n_labels] = set_labels[x]
                    n_labels += 1
        has = np.zeros((n_labels, support), np.int64)
        size = np.zeros(support, np.int64)
        for e in range(support):
            entry = indices[indptr[i] + e]
            size[e] = set_starts[entry + 1] - set_starts[entry]
            for x in range(set_starts[entry], set_starts[entry + 1]):
                has[place[set_labels[x]], e] = 1
        weight = data[indptr[i] : indptr[i + 1]]
        if n_labels <= exact_labels:
            best = _best_of_all(has, size, weight, zero_division)
        else:
            best = _best_found(has, size, weight, zero_division, labels)
        for k in range(n_labels):
            if best[k]:
                labeling[i, labels[k]] = 1
            place[labels[k]] = -1


@njit(cache=True, nogil=True)
def _expected_jaccard(common, size, weight, n_chosen, zero_division):
    value = 0.0
    for e in range(len(size)):
        union = size[e] + n_chosen - common[e]
        value += weight[e] * (zero_division if union == 0 else common[e] / union)
    return value


@njit(cache=True, nogil=True)
def _flip(chosen, common, row, k):
    """Flip label k of ``chosen`` and keep the sizes of its intersections; return the change of its size."""
    change = -1 if chosen[k] else 1
    chosen[k] = not chosen[k]
    for e in range(len(common)):
        common[e] += change * row[e]
    return change


@njit(cache=True, nogil=True)
def _copy(source, target):
    for k in range(len(source)):
        target[k] = source[k]


@njit(cache=True, nogil=True)
def _best_of_all(has, size, weight, zero_division):
    """Try every subset, in the order of a Gray code: each differs from the last by one label."""
    n_labels, support = has.shape
    chosen = np.zeros(n_labels, np.bool_)
    common = np.zeros(support, np.int64)
    best = chosen.copy()
    n_chosen = np.int64(0)
    best_value = _expected_jaccard(common, size, weight, n_chosen, zero_division)
    for code in range(1, 1 << n_labels):
        k = np.int64(0)
        while not (code >> k) & 1:
            k += 1
        n_chosen += _flip(chosen, common, has[k], k)
        value = _expected_jaccard(common, size, weight, n_chosen, zero_division)
        if value > best_value * (1.0 + TIE):
            best_value = value
            _copy(chosen, best)
    return best


@njit(cache=True, nogil=True)
def _best_found(has, size, weight, zero_division, labels):
    n_labels, support = has.shape
    chosen = np.zeros(n_labels, np.bool_)
    common = np.zeros(support, np.int64)
    best = chosen.copy()
    best_value = _expected_jaccard(common, size, weight, np.int64(0), zero_division)
    marginal = np.zeros(n_labels)
    for k in range(n_labels):
        for e in range(support):
            marginal[k] += weight[e] * has[k, e]
    order = np.empty(n_labels, np.int64)
    for k in range(n_labels):
        order[k] = k
    _sort_by(order, marginal, labels)
    for k in range(n_labels):
        _flip(chosen, common, has[order[k]], order[k])
        value = _expected_jaccard(common, size, weight, k + 1, zero_division)
        if value > best_value * (1.0 + TIE):
            best_value = value
            _copy(chosen, best)
    for candidate in range(support):
        common[:] = 0
        chosen[:] = False
        for k in range(n_labels):
            if has[k, candidate]:
                _flip(chosen, common, has[k], k)
        value = _expected_jaccard(common, size, weight, size[candidate], zero_division)
        if value > best_value * (1.0 + TIE):
            best_value = value
            _copy(chosen, best)
    return _climb(has, size, weight, zero_division, best, best_value)


@njit(cache=True, nogil=True)
def _climb(has, size, weight, zero_division, best, value):
    """Flip the label that helps most until none helps."""
    n_labels, support = has.shape
    chosen = np.zeros(n_labels, np.bool_)
    common = np.zeros(support, np.int64)
    n_chosen = 0
    for k in range(n_labels):
        if best[k]:
            n_chosen += _flip(chosen, common, has[k], k)
    while True:
        best_flip = -1
        best_value = value * (1.0 + TIE)
        for k in range(n_labels):
            n_flipped = n_chosen + _flip(chosen, common, has[k], k)
            flipped = _expected_jaccard(common, size, weight, n_flipped, zero_division)
            _flip(chosen, common, has[k], k)
            if flipped > best_value:
                best_flip, best_value = k, flipped
        if best_flip < 0:
            return chosen
        n_chosen += _flip(chosen, common, has[best_flip], best_flip)
        value = best_value
