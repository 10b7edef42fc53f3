"""Compiled loops that fit a calibration of one label: arrays in, arrays out.  Rows of weight zero are passed over."""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

import numpy as np

from comitia._compiled import njit

STEPS = 50
HALVINGS = 30


@njit(cache=True, nogil=True)
def fit_sigmoid(z, y, w, slope, shift):
    """Return slope and shift of the log odds z of the largest likelihood, by Newton's method from those given.

    With Platt's targets (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2) in place of 1 and 0 there always is one.
    """
    positive, total = 0.0, 0.0
    for i in range(len(z)):
        positive += w[i] * y[i]
        total += w[i]
    high, low = (positive + 1) / (positive + 2), 1 / (total - positive + 2)
    now = _likelihood(z, y, w, high, low, slope, shift)
    for _ in range(STEPS):
        value, g0, g1, h00, h01, h11 = now
        ridge = 1e-12 * (h00 + h11) + 1e-300
        determinant = (h00 + ridge) * (h11 + ridge) - h01 * h01
        step0 = ((h11 + ridge) * g0 - h01 * g1) / determinant
        step1 = ((h00 + ridge) * g1 - h01 * g0) / determinant
        better = False
        for _ in range(HALVINGS):
            now = _likelihood(z, y, w, high, low, slope - step0, shift - step1)
            if now[0] <= value:
                better = True
                break
            step0 /= 2
            step1 /= 2
        if not better:
            break
        slope -= step0
        shift -= step1
        if value - now[0] <= 1e-12 * abs(value):
            break
    return slope, shift


@njit(cache=True, nogil=True)
def _likelihood(z, y, w, high, low, slope, shift):
    """Negative log likelihood, its gradient and its curvature."""
    value, g0, g1, h00, h01, h11 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(z)):
        if w[i] == 0.0:
            continue
        target = high if y[i] else low
        score = slope * z[i] + shift
        tail = np.exp(-abs(score))
        value += w[i] * (max(score, 0.0) + np.log1p(tail) - target * score)
        q = 1 / (1 + tail) if score >= 0 else tail / (1 + tail)
        error, curvature = w[i] * (q - target), w[i] * q * (1 - q)
        g0 += error * z[i]
        g1 += error
        h00 += curvature * z[i] * z[i]
        h01 += curvature * z[i]
        h11 += curvature
    return value, g0, g1, h00, h01, h11


@njit(cache=True, nogil=True)
def fit_isotonic(p, y, w, order):
    """Return the ends (2, m) of the steps of the rising function of p with the least squared error.

    Neighbours that fall are pooled (pool adjacent violators); ``order`` sorts p.
    """
    n = len(p)
    mean, mass = np.empty(n), np.empty(n)
    left, right = np.empty(n), np.empty(n)
    m, i = 0, 0
    while i < n:
        x, total, positive = p[order[i]], 0.0, 0.0
        while i < n and p[order[i]] == x:
            total += w[order[i]]
            positive += w[order[i]] * y[order[i]]
            i += 1
        if total == 0.0:
            continue
        mean[m], mass[m], left[m], right[m] = positive / total, total, x, x
        m += 1
        while m > 1 and mean[m - 2] >= mean[m - 1]:
            both = mass[m - 2] + mass[m - 1]
            mean[m - 2] = (mass[m - 2] * mean[m - 2] + mass[m - 1] * mean[m - 1]) / both
            mass[m - 2] = both
            right[m - 2] = right[m - 1]
            m -= 1
    knots = np.empty((2, 2 * m))
    filled = 0
    for b in range(m):
        knots[0, filled], knots[1, filled] = left[b], mean[b]
        filled += 1
        if right[b] > left[b]:
            knots[0, filled], knots[1, filled] = right[b], mean[b]
            filled += 1
    return knots[:, :filled]
