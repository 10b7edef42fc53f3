"""Compiled loops for losses of counts and independent labels.

A loss of counts is a table: ``table[h, s, t]`` for h predicted labels, s relevant ones and t hits.  Where it is linear
in the hits, two smaller ones say the same: ``constant[h, s] + slope[h, s] · t``.
"""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

import numpy as np

from comitia._compiled import njit
from comitia.losses._joint import TIE


@njit(cache=True, nogil=True)
def count_relevant(p, counts):
    """Fill counts[j] with the probability that j of the labels are relevant; counts has one entry more than p."""
    counts[:] = 0.0
    counts[0] = 1.0
    for k in range(len(p)):
        for j in range(k + 1, 0, -1):
            counts[j] = (1.0 - p[k]) * counts[j] + p[k] * counts[j - 1]
        counts[0] *= 1.0 - p[k]


@njit(cache=True, nogil=True)
def leave_out(counts, p, rest):
    """Fill rest[j] with the probability that j labels are relevant besides one of probability p, which counts has.

    counts[j] = p rest[j − 1] + (1 − p) rest[j] is solved from the end from which errors shrink.
    """
    last = len(counts) - 1
    if p <= 0.5:
        before = 0.0
        for j in range(last):
            before = max((counts[j] - p * before) / (1.0 - p), 0.0)
            rest[j] = before
    else:
        after = 0.0
        for j in range(last, 0, -1):
            after = max((counts[j] - (1.0 - p) * after) / p, 0.0)
            rest[j - 1] = after


@njit(cache=True, nogil=True)
def fill_joint(p, counts, last, joint):
    """Fill joint[s, k] with P(y_k = 1, s labels are relevant) for s up to ``last``; counts has those of s labels.

    :func:`leave_out` for all labels together, which take a step at a time; p falls.
    """
    K = len(p)
    likely = 0
    while likely < K and p[likely] > 0.5:
        likely += 1
    above, below = p[:likely], p[likely:]
    rest = np.zeros(likely)
    for s in range(len(counts) - 1, 0, -1):
        count = counts[s]
        for k in range(likely):
            rest[k] = max((count - (1.0 - above[k]) * rest[k]) / above[k], 0.0)
        if s <= last:
            row = joint[s, :likely]
            for k in range(likely):
                row[k] = above[k] * rest[k]
    rest = np.zeros(K - likely)
    for s in range(1, last + 1):
        count, row = counts[s - 1], joint[s, likely:]
        for k in range(K - likely):
            rest[k] = max((count - below[k] * rest[k]) / (1.0 - below[k]), 0.0)
            row[k] = below[k] * rest[k]
    joint[0] = 0.0


@njit(cache=True, nogil=True)
def best_linear_sizes(ordered, lengths, constant, slope, at_least, at_most, sizes):
    """Find how many of the first labels have the smallest expected loss, which is linear in the hits.

    ``ordered`` holds each instance's probabilities, those that may be predicted first and falling, and ``lengths`` how
    many these are.  With A_h[s] = Σ_{i ≤ h} P(y_i = 1, |y| = s) the risk of the first h is
    Σ_s P(|y| = s) constant[h, s] + A_h[s] slope[h, s]: O(K²).  Of sizes that tie, the smallest.
    """
    n, K = ordered.shape
    counts = np.empty(K + 1)
    rest = np.empty(K)
    hits = np.empty(K + 1)
    for i in range(n):
        p = ordered[i]
        count_relevant(p, counts)
        hits[:] = 0.0
        best, best_risk = at_least, np.inf
        for h in range(min(at_most, lengths[i]) + 1):
            if h > 0 and p[h - 1] > 0.0:
                leave_out(counts, p[h - 1], rest)
                for s in range(1, K + 1):
                    hits[s] += p[h - 1] * rest[s - 1]
            if h >= at_least:
                risk = 0.0
                for s in range(K + 1):
                    risk += counts[s] * constant[h, s] + hits[s] * slope[h, s]
                if best_risk == np.inf or risk < best_risk - TIE * abs(best_risk):
                    best, best_risk = h, risk
        sizes[i] = best


@njit(cache=True, nogil=True)
def best_count_sizes(ordered, lengths, table, at_least, at_most, sizes):
    """Do as :func:`best_linear_sizes` does for any loss of counts: O(K³)."""
    n, K = ordered.shape
    after = np.zeros((K + 1, K + 1))
    before = np.empty(K + 1)
    for i in range(n):
        p = ordered[i]
        after[K, 0] = 1.0
        for k in range(K - 1, -1, -1):
            for j in range(K - k + 1):
                kept = after[k + 1, j] if j < K - k else 0.0
                after[k, j] = (1.0 - p[k]) * kept + (p[k] * after[k + 1, j - 1] if j > 0 else 0.0)
        before[:] = 0.0
        before[0] = 1.0
        best, best_risk = at_least, np.inf
        for h in range(min(at_most, lengths[i]) + 1):
            if h > 0:
                for j in range(h, 0, -1):
                    before[j] = (1.0 - p[h - 1]) * before[j] + p[h - 1] * before[j - 1]
                before[0] *= 1.0 - p[h - 1]
            if h >= at_least:
                risk = 0.0
                for t in range(h + 1):
                    inner = 0.0
                    for missed in range(K - h + 1):
                        inner += after[h, missed] * table[h, t + missed, t]
                    risk += before[t] * inner
                if best_risk == np.inf or risk < best_risk - TIE * abs(best_risk):
                    best, best_risk = h, risk
        sizes[i] = best


@njit(cache=True, nogil=True)
def expected_loss(p, h, linear, constant, slope, table, risk):
    """Fill risk[i] with the expected loss of predicting h[i]: O(K²)."""
    n, K = p.shape
    inside = np.empty(K)
    outside = np.empty(K)
    hit = np.empty(K + 1)
    miss = np.empty(K + 1)
    for i in range(n):
        size, others = 0, 0
        for k in range(K):
            if h[i, k]:
                inside[size] = p[i, k]
                size += 1
            else:
                outside[others] = p[i, k]
                others += 1
        count_relevant(inside[:size], hit[: size + 1])
        count_relevant(outside[:others], miss[: others + 1])
        total = 0.0
        for t in range(size + 1):
            inner = 0.0
            for m in range(others + 1):
                inner += miss[m] * (constant[size, t + m] + slope[size, t + m] * t if linear else table[size, t + m, t])
            total += hit[t] * inner
        risk[i] = total
