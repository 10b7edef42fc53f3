"""Compiled loops for losses of independent labels: sums over Poisson binomial distributions.

The number of relevant labels among independent ones has a Poisson binomial distribution.  It is built label by label,
q[j] ← (1 − p) q[j] + p q[j − 1], a sum of non-negative terms.  Only the window of counts that carries weight is kept:
what is dropped at its ends is below :data:`NEGLIGIBLE` times what is kept.
"""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

import numpy as np

from comitia._compiled import njit

NEGLIGIBLE = 1e-24


# A number that a loop counts up begins as np.int64(0): a literal is a type of its own to the compiler, and what is
# called with it would be compiled for both.
@njit(cache=True, nogil=True)
def best_f_sizes(ascending, beta2, step, stride, one_by_one, zero_division, start, stop, sizes):
    """Find, for instances [start, stop), how many of the most probable labels maximise the expected F-measure.

    ``ascending`` holds each instance's probabilities in ascending order.  Where β² = step / stride with small integers
    the candidates are evaluated together on one grid, otherwise one by one.  ``one_by_one`` is None where that is not
    wanted, so that it is not compiled.
    """
    K = ascending.shape[1]
    p = np.empty(K)
    prefix = np.empty(K + 1)
    squares = np.empty(K + 1)
    inverse = np.empty((stride + 2 * step) * (K + 1) + 1)
    for x in range(1, len(inverse)):
        inverse[x] = 1.0 / x
    for i in range(start, stop):
        positive = np.int64(0)
        empty = zero_division
        for k in range(K - 1, -1, -1):
            if ascending[i, k] == 0.0:
                break
            p[positive] = ascending[i, k]
            empty *= 1.0 - ascending[i, k]
            positive += 1
        if positive == 0:
            sizes[i] = 0
            continue
        low, high = sizes_worth_a_look(p[:positive], beta2, empty, np.int64(1), positive, prefix, squares)
        if high == 0:
            sizes[i] = 0
            continue
        rows, left, right = _prefix_counts(p, low, high)
        if one_by_one is not None:
            size, value = _one_by_one(p, positive, low, high, rows, left, right, beta2)
        else:
            size, value = _on_a_grid(p, positive, low, high, rows, left, right, beta2, step, stride, inverse)
        sizes[i] = 0 if empty >= value else size


@njit(cache=True, nogil=True)
def sizes_worth_a_look(p, beta2, empty, smallest, largest, prefix, squares):
    """Bound the expected F-measure of top-k sets; return the range of k in [smallest, largest] that may hold the best.

    That is (0, 0) where none is better than ``empty``, which is negative where an answer must have labels.  With
    independent labels E F(top k) = (1 + β²) Σ_{i ≤ k} p_i E[1 / (k + β² + β² S_i)], S_i the number of the other
    relevant labels, of mean μ − p_i and variance at most V.  Jensen bounds the expectation from below by
    1 / (A − β² p_i), A = k + β² + β² μ; from above it is bounded with
    1/(c + x) ≤ 1/(c + m) − (x − m)/(c + m)² + (x − m)²/((c + m)² c).
    """
    mean, second, variance, top = 0.0, 0.0, 0.0, 0.0
    for k in range(len(p)):
        prefix[k] = mean
        squares[k] = second
        mean += p[k]
        second += p[k] * p[k]
        variance += p[k] * (1.0 - p[k])
        top = p[k] if p[k] > top else top
    prefix[len(p)] = mean
    squares[len(p)] = second
    reach = empty
    for k in range(smallest, largest + 1):
        A = k + beta2 + beta2 * mean
        least = (1.0 + beta2) * (prefix[k] + beta2 * squares[k] / A) / A
        reach = least if least > reach else reach
    reach *= 1.0 - 1e-9
    low, high = 0, 0
    for k in range(smallest, largest + 1):
        c = k + beta2
        A = c + beta2 * mean
        B = A - beta2 * top
        upper = (prefix[k] + beta2 * squares[k] / B) / A + prefix[k] * beta2 * beta2 * variance / (B * B * c)
        other = prefix[k] / c
        if (1.0 + beta2) * (other if other < upper else upper) >= reach:
            if low == 0:
                low = k
            high = k
    if high == 0 and empty < 0.0:  # probabilities too small for bounds
        return smallest, largest
    return low, high


@njit(cache=True, nogil=True)
def add_label(old, low, high, p, least, new):
    """Write to ``new`` the counts ``old`` (window [low, high]) with one more label; return the window it needs.

    Counts below ``least`` at the upper end, and below NEGLIGIBLE at the lower end, are dropped.
    """
    # Slices with indices that start at zero are what the compiler can vectorise: an index may not be negative.
    source, target = old[low : high + 1], new[low : high + 2]
    last = high - low
    target[0] = (1.0 - p) * source[0]
    for j in range(1, last + 1):
        target[j] = (1.0 - p) * source[j] + p * source[j - 1]
    target[last + 1] = p * source[last]
    high += 1
    while high > low and new[high] < least:
        high -= 1
    while low < high and new[low] < NEGLIGIBLE:
        low += 1
    return low, high


@njit(cache=True, nogil=True)
def _prefix_counts(p, low, high):
    """Distribution of the number of relevant labels among the top k, for each k in [low, high], with its window."""
    a = np.empty(high + 2)
    b = np.empty(high + 2)
    rows = np.empty((high - low + 1, high + 2))
    left = np.empty(high - low + 1, np.int64)
    right = np.empty(high - low + 1, np.int64)
    a[0] = 1.0
    first, last = np.int64(0), np.int64(0)
    total = 0.0
    for k in range(1, high + 1):
        total += p[k - 1]
        target = b if k < low else rows[k - low]
        # What matters is the mean of the count, so the upper end is weighed against that.
        first, last = add_label(a, first, last, p[k - 1], NEGLIGIBLE * total, target)
        if k < low:
            a, b = b, a
        else:
            a = rows[k - low]
            left[k - low] = first
            right[k - low] = last
    return rows, left, right


@njit(cache=True, nogil=True)
def _suffix_counts(p, start, stop):
    """Distribution of the number of relevant labels among p[start:stop], and its window."""
    a = np.empty(stop - start + 2)
    b = np.empty(stop - start + 2)
    a[0] = 1.0
    first, last = np.int64(0), np.int64(0)
    for k in range(stop - 1, start - 1, -1):
        first, last = add_label(a, first, last, p[k], NEGLIGIBLE, b)
        a, b = b, a
    return a, b, first, last


@njit(cache=True, nogil=True)
def _on_a_grid(p, positive, low, high, rows, left, right, beta2, step, stride, inverse):
    """Evaluate E F of the top k for k from high down to low; return the best k and its value.

    s[a] = E[1 / (a + step · L)], L the number of relevant labels after the k-th, is swept downward in k by
    s[a] ← p_k s[a + step] + (1 − p_k) s[a], and E F = (1 + β²) stride Σ_j j P(j of the top k) s[stride k + step j].
    """
    rest, _, first, last = _suffix_counts(p, high, positive)
    a_low = stride * low + step * left[0]
    a_high = a_low
    for k in range(low, high + 1):
        first_of, last_of = stride * k + step * left[k - low], stride * k + step * right[k - low] + step * (high - k)
        a_low = first_of if first_of < a_low else a_low
        a_high = last_of if last_of > a_high else a_high
    s = np.empty(a_high - a_low + 1)
    spare = np.empty(a_high - a_low + 1)
    for a in range(len(s)):
        s[a] = 0.0
    for count in range(first, last + 1):
        weight = rest[count]
        quotient = inverse[a_low + step * count :]
        for a in range(len(s)):
            s[a] += weight * quotient[a]
    best, best_value = 0, -1.0
    length = len(s)
    for k in range(high, low - 1, -1):
        row = rows[k - low]
        base = stride * k - a_low
        value = 0.0
        for j in range(left[k - low], right[k - low] + 1):
            value += j * row[j] * s[base + step * j]
        value *= (1.0 + beta2) * stride
        if value >= best_value:
            best, best_value = k, value
        length -= step
        relevant = p[k - 1]
        ahead = s[step:]
        for a in range(length):
            spare[a] = relevant * ahead[a] + (1.0 - relevant) * s[a]
        s, spare = spare, s
    return best, best_value


@njit(cache=True, nogil=True)
def _one_by_one(p, positive, low, high, rows, left, right, beta2):
    """Do as :func:`_on_a_grid` does where β² is no ratio of small integers, at the cost of a convolution a size."""
    rest, _, first, last = _suffix_counts(p, high, positive)
    a = np.empty(positive + 2)
    b = np.empty(positive + 2)
    for j in range(len(rest)):
        a[j] = rest[j]
    best, best_value = 0, -1.0
    for k in range(high, low - 1, -1):
        value = 0.0
        for j in range(left[k - low], right[k - low] + 1):
            inner = 0.0
            for count in range(first, last + 1):
                inner += a[count] / (k + beta2 * (j + count))
            value += j * rows[k - low, j] * inner
        value *= 1.0 + beta2
        if value >= best_value:
            best, best_value = k, value
        first, last = add_label(a, first, last, p[k - 1], NEGLIGIBLE, b)
        a, b = b, a
    return best, best_value


@njit(cache=True, nogil=True)
def best_jaccard_sizes(ascending, zero_division, start, stop, sizes):
    """Find, for instances [start, stop), how many of the most probable labels maximise the expected Jaccard index.

    The hits among the top k and the misses L among the rest are independent and J = hits / (k + L), so
    E J = (Σ_{i ≤ k} p_i) E[1 / (k + L)].
    """
    K = ascending.shape[1]
    prefix = np.empty(K + 1)
    a = np.empty(K + 2)
    b = np.empty(K + 2)
    for i in range(start, stop):
        p = ascending[i]
        prefix[0] = 0.0
        for k in range(K):
            prefix[k + 1] = prefix[k] + p[K - 1 - k]
        first, last = np.int64(0), np.int64(0)
        a[0] = 1.0
        best, best_value = 0, -1.0
        for k in range(K, 0, -1):
            value = 0.0
            for count in range(first, last + 1):
                value += a[count] / (k + count)
            value *= prefix[k]
            if value >= best_value:
                best, best_value = k, value
            first, last = add_label(a, first, last, p[K - k], NEGLIGIBLE, b)
            a, b = b, a
        empty = zero_division
        for k in range(K):
            empty *= 1.0 - p[k]
        sizes[i] = 0 if empty >= best_value else best


@njit(cache=True, nogil=True)
def take_top(p, ascending, sizes, labeling):
    """Set the ``sizes[i]`` most probable labels of each instance; of equally probable ones, the first."""
    n, K = p.shape
    for i in range(n):
        size = sizes[i]
        if size == 0:
            continue
        threshold = ascending[i, K - size]
        above = 0
        for k in range(K):
            if p[i, k] > threshold:
                above += 1
        level = size - above
        for k in range(K):
            if p[i, k] > threshold:
                labeling[i, k] = 1
            elif p[i, k] == threshold and level > 0:
                labeling[i, k] = 1
                level -= 1


@njit(cache=True, nogil=True)
def expected_overlap(p, h, gain, on_hit, on_miss, zero_division, start, stop, value):
    """Fill value[i] with E[gain · hits / (|h| + on_hit · hits + on_miss · misses)] for independent labels.

    Hits are the relevant labels that h has, misses those it lacks.  Where y and h are both empty the quotient is
    ``zero_division``.
    """
    K = p.shape[1]
    hit = np.empty(K + 2)
    miss = np.empty(K + 2)
    spare = np.empty(K + 2)
    for i in range(start, stop):
        size = 0
        hit_first, hit_last, miss_first, miss_last = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        hit[0] = 1.0
        miss[0] = 1.0
        for k in range(K):
            if h[i, k]:
                size += 1
                hit_first, hit_last = add_label(hit, hit_first, hit_last, p[i, k], 0.0, spare)
                hit, spare = spare, hit
            elif p[i, k] > 0.0:
                miss_first, miss_last = add_label(miss, miss_first, miss_last, p[i, k], 0.0, spare)
                miss, spare = spare, miss
        if size == 0:
            value[i] = zero_division * (miss[0] if miss_first == 0 else 0.0)
            continue
        total = 0.0
        for j in range(max(hit_first, np.int64(1)), hit_last + 1):
            inner = 0.0
            for count in range(miss_first, miss_last + 1):
                inner += miss[count] / (size + on_hit * j + on_miss * count)
            total += j * hit[j] * inner
        value[i] = gain * total
