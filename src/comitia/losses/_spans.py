"""Compiled loops for partial answers: the most probable labels are relevant, the least probable are not."""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

import numpy as np

from comitia._compiled import njit
from comitia.losses._independent import NEGLIGIBLE


@njit(cache=True, nogil=True)
def best_spans(falling, some, overlap, beta2, step, stride, zero_division, penalty, ones, zeros):
    """Find how many of the most probable labels to predict and of the least probable to deny; the others are left.

    Labels are independent or, with ``some``, they are so given that one of them is relevant.  Values are then those
    without the condition, but for answers that predict nothing, which are right only where one of the labels that are
    left is relevant; they are in proportion to the conditional ones by the probability of some label, and prices too.

    With C_l the counts of relevant labels among the first l and s[a] = E[1 / (a + step · L)], L their number among the
    last r, the expected F-measure of (l, r) is (1 + β²) stride Σ_j j C_l[j] s[stride l + step j], and s is swept in r
    by s[a] ← p s[a + step] + (1 − p) s[a]: O(K³) at worst, near O(K²) as bounds rule most (l, r) out.  The Jaccard
    index (``overlap`` false) is (Σ_{i ≤ l} p_i) s[l]: O(K²).  Where β² is no ratio of small integers (step = 0) the
    expectation is written out.
    """
    n, K = falling.shape
    grid = (stride + 2 * step) * (K + 1) + 1
    s = np.empty(grid)
    counts = np.zeros((K + 1, K + 1))
    # Sums over the first l labels of p, p² and p (1 − p).
    sums = np.zeros((3, K + 1))
    rest = np.empty(K + 1)
    # The probability that one of the first l labels is relevant, and prices in units of the values.
    any_of, prices = np.zeros(K + 1), np.empty(K + 1)
    first, last = np.zeros(K + 1, np.int64), np.zeros(K + 1, np.int64)
    for i in range(n):
        p = falling[i]
        counts[0, 0] = 1.0
        for k in range(K):
            sums[0, k + 1] = sums[0, k] + p[k]
            sums[1, k + 1] = sums[1, k] + p[k] * p[k]
            sums[2, k + 1] = sums[2, k] + p[k] * (1.0 - p[k])
            any_of[k + 1] = any_of[k] + (1.0 - any_of[k]) * p[k]
            if overlap:
                counts[k + 1, 0] = (1.0 - p[k]) * counts[k, 0]
                for j in range(1, k + 2):
                    kept = counts[k, j] if j <= k else 0.0
                    counts[k + 1, j] = (1.0 - p[k]) * kept + p[k] * counts[k, j - 1]
                _set_window(counts[k + 1], k + 1, first, last)
        scale = any_of[K] if some else 1.0
        for a in range(K + 1):
            prices[a] = scale * penalty[a]
        s[0] = 0.0
        for a in range(1, grid):
            s[a] = 1.0 / a
        rest[:] = 0.0
        rest[0] = 1.0
        length = grid
        reach = _within_reach(p, sums, beta2, prices) if overlap else -np.inf
        best = -np.inf
        for r in range(K + 1):
            if r > 0:
                q = p[K - r]
                length -= step
                for a in range(length):
                    s[a] = q * s[a + step] + (1.0 - q) * s[a]
                for j in range(r, 0, -1):
                    rest[j] = (1.0 - q) * rest[j] + q * rest[j - 1]
                rest[0] *= 1.0 - q
            for top in range(K - r + 1):
                price = prices[K - top - r]
                if top == 0:
                    value = zero_division * rest[0] * (any_of[K - r] if some else 1.0)
                elif not overlap:
                    value = sums[0, top] * s[top]
                elif _at_most(p, sums, beta2, top, r) - price < reach:
                    continue
                else:
                    value = 0.0
                    for j in range(first[top], last[top] + 1):
                        if step > 0:
                            inner = stride * s[stride * top + step * j]
                        else:
                            inner = 0.0
                            for m in range(r + 1):
                                inner += rest[m] / (top + beta2 * (j + m))
                        value += j * counts[top, j] * inner
                    value *= 1.0 + beta2
                if value - price > best:
                    best = value - price
                    ones[i] = top
                    zeros[i] = r


@njit(cache=True, nogil=True)
def _within_reach(p, sums, beta2, penalty):
    """Return a value, less its price, that some (l, r) is sure to reach: Jensen's bound (see `_independent`)."""
    K = len(p)
    reach = -np.inf
    for r in range(K + 1):
        missed = sums[0, K] - sums[0, K - r]
        for top in range(1, K - r + 1):
            A = top + beta2 + beta2 * (sums[0, top] + missed)
            value = (1.0 + beta2) * (sums[0, top] + beta2 * sums[1, top] / A) / A
            reach = max(reach, value - penalty[K - top - r])
    return reach - 1e-9 * abs(reach)


@njit(cache=True, nogil=True)
def _at_most(p, sums, beta2, top, r):
    """Return a bound on the expected F-measure of (l, r) from above (see `_independent.sizes_worth_a_look`)."""
    K = len(p)
    c = top + beta2
    A = c + beta2 * (sums[0, top] + sums[0, K] - sums[0, K - r])
    B = A - beta2 * p[0]
    variance = sums[2, top] + sums[2, K] - sums[2, K - r]
    upper = (sums[0, top] + beta2 * sums[1, top] / B) / A + sums[0, top] * beta2 * beta2 * variance / (B * B * c)
    return (1.0 + beta2) * min(upper, sums[0, top] / c)


@njit(cache=True, nogil=True)
def _set_window(counts, size, first, last):
    """Note which counts from 1 to size weigh anything."""
    low, high = 1, size
    while low < high and counts[low] < NEGLIGIBLE:
        low += 1
    while high > low and counts[high] < NEGLIGIBLE * counts[low]:
        high -= 1
    first[size] = low
    last[size] = high


@njit(cache=True, nogil=True)
def best_spans_of_sets(
    indptr, indices, data, totals, table, order, overlap, beta2, zero_division, penalty, start, stop, ones, zeros
):
    """Do as :func:`best_spans` does for label sets, along a given order of labels: O(K² · support)."""
    K = table.shape[1]
    for i in range(start, stop):
        support = indptr[i + 1] - indptr[i]
        hits = np.zeros(support, np.int64)
        best = -np.inf
        for top in range(K + 1):
            if top > 0:
                for e in range(support):
                    hits[e] += table[indices[indptr[i] + e], order[i, top - 1]]
            missed = np.zeros(support, np.int64)
            for r in range(K - top + 1):
                value = 0.0
                for e in range(support):
                    if r > 0:
                        missed[e] += table[indices[indptr[i] + e], order[i, K - r]]
                    if top + missed[e] == 0:
                        share = zero_division
                    elif overlap:
                        share = (1.0 + beta2) * hits[e] / (top + beta2 * (hits[e] + missed[e]))
                    else:
                        share = hits[e] / (top + missed[e])
                    value += data[indptr[i] + e] * share
                value = value / totals[i] - penalty[K - top - r]
                if value > best:
                    best = value
                    ones[i] = top
                    zeros[i] = r


@njit(cache=True, nogil=True)
def best_agreements(indptr, indices, data, totals, table, labeling, order, penalty, start, stop, kept, risk):
    """Find how many labels of ``labeling``, kept in ``order``, make 1 − P(all of them are right) + penalty smallest."""
    K = table.shape[1]
    wrong_from = np.empty(K + 1)
    for i in range(start, stop):
        wrong_from[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            d = 0
            while d < K and table[indices[e], order[i, d]] == labeling[i, order[i, d]]:
                d += 1
            wrong_from[d] += data[e] / totals[i]
        wrong, best = 0.0, np.inf
        for d in range(K + 1):
            if wrong + penalty[K - d] < best:
                best = wrong + penalty[K - d]
                kept[i] = d
            wrong += wrong_from[d]
        risk[i] = best


@njit(cache=True, nogil=True)
def best_orders(falling, penalty, ones, zeros):
    """Find how many labels to rank from either end of the order of probabilities, for the number of wrong pairs.

    Greedy from both ends: the next label to join costs L p + (1 − p) R, L = Σ_left (1 − p), R = Σ_right p, which is
    linear in p, so that one of the two innermost is best.
    """
    n, K = falling.shape
    for i in range(n):
        p = falling[i]
        left, right, above, below, wrong = 0, 0, 0.0, 0.0, 0.0
        best = np.inf
        for d in range(K + 1):
            if wrong + penalty[K - d] < best:
                best = wrong + penalty[K - d]
                ones[i] = left
                zeros[i] = right
            if d == K:
                break
            high, low = p[left], p[K - 1 - right]
            cost_high = above * high + (1.0 - high) * below
            cost_low = above * low + (1.0 - low) * below
            if d == 0 or (d > 1 and cost_high < cost_low):
                wrong += cost_high
                above += 1.0 - high
                left += 1
            else:
                wrong += cost_low
                below += low
                right += 1
