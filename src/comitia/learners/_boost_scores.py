"""The logistic loss of boosted scores: gradients, what is sketched of them, the values of leaves."""

from __future__ import annotations

import numpy as np

from comitia._compiled import njit

BLOCK_OF_ROWS = 16
"""Probabilities of so many instances are multiplied before a logarithm is taken."""

LONGEST_STEP = 4.0
"""Log-odds that a leaf can change before it is shrunk: where the curvature vanishes, Newton's step has no bound."""

HIGHEST_SUM = 2**30
"""Sums of channels stay within this."""


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def sigmoid(x):  # type: ignore[no-untyped-def]
    """Return 1 / (1 + exp(−x)) to about nine digits, without branches.

    exp(x) is the 256th power of exp(x / 256), which six terms of its series give.
    """
    z = -min(max(x, -20.0), 20.0) / 256.0
    e = 1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0 * (1.0 + z / 5.0 * (1.0 + z / 6.0)))))
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    return 1.0 / (1.0 + e)


@njit(cache=True, nogil=True, error_model="numpy")
def step(rows, leaves, values, Y, scores, gradient):  # type: ignore[no-untyped-def]
    """Add the values of their leaves to the scores of the rows, and renew their gradients, p − y."""
    for row in rows:
        value, score, y, g = values[leaves[row]], scores[row], Y[row], gradient[row]
        for k in range(len(value)):
            s = score[k] + value[k]
            score[k] = s
            g[k] = sigmoid(np.float64(s)) - y[k]


@njit(cache=True, nogil=True, error_model="numpy")
def log_loss(rows, weight, uniform, gradient, first_label, end, product, losses):  # type: ignore[no-untyped-def]
    """Fill ``losses`` with −Σ w log P(y) of each label, up to ``end``, over the rows, where P(y) = 1 − |gradient|."""
    losses, product = losses[first_label:end], product[first_label:end]
    losses[:] = 0.0
    if not uniform:
        for row in rows:
            g = gradient[row, first_label:end]
            for k in range(len(losses)):
                losses[k] -= weight[row] * np.log(max(1.0 - abs(np.float64(g[k])), 1e-12))
        return
    for first in range(0, len(rows), BLOCK_OF_ROWS):
        product[:] = 1.0
        for row in rows[first : first + BLOCK_OF_ROWS]:
            g = gradient[row, first_label:end]
            for k in range(len(product)):
                product[k] *= max(1.0 - abs(np.float64(g[k])), 1e-12)
        for k in range(len(losses)):
            losses[k] -= np.log(product[k])


@njit(cache=True, nogil=True, error_model="numpy")
def curvature(rows, weight, gradient, first_label, end, sums):  # type: ignore[no-untyped-def]
    """Fill ``sums`` with Σ w p (1 − p) of each label up to ``end``; p (1 − p) = |g| (1 − |g|)."""
    sums = sums[first_label:end]
    sums[:] = 0.0
    for row in rows:
        w, g = weight[row], gradient[row, first_label:end]
        for k in range(len(sums)):
            a = abs(np.float64(g[k]))
            sums[k] += w * a * (1.0 - a)


@njit(cache=True, nogil=True, error_model="numpy")
def project(rows, gradient, projection, sketch):  # type: ignore[no-untyped-def]
    """Fill the rows of ``sketch`` with gradient @ projection."""
    n_labels, n_outputs = projection.shape
    for row in rows:
        g, out = gradient[row], sketch[row]
        out[:] = 0.0
        for k in range(n_labels):
            v = g[k]
            p = projection[k]
            for s in range(n_outputs):
                out[s] += v * p[s]


@njit(cache=True, nogil=True, error_model="numpy")
def quantise(rows, sketch, scale, weight, weight_unit, sums, channels):  # type: ignore[no-untyped-def]
    """Write weight × scale × sketch, and the weight, as integers whose sums cannot overflow; return their unit.

    ``sums`` holds a zero for each output.
    """
    n_outputs = len(scale)
    for row in rows:
        for s in range(n_outputs):
            sums[s] += weight[row] * abs(np.float64(sketch[row, s]))
    largest = 0.0
    for s in range(n_outputs):
        total = scale[s] * sums[s]
        largest = total if total > largest else largest
    # Rounding adds at most a half for each row.
    unit = (HIGHEST_SUM - len(rows)) / largest if largest > 0 else 1.0
    last = channels.shape[1] - 1
    for row in rows:
        w = weight[row] * unit
        for s in range(n_outputs):
            channels[row, s] = np.int32(np.rint(w * scale[s] * sketch[row, s]))
        channels[row, last] = np.int32(np.rint(weight[row] * weight_unit))
    return unit


@njit(cache=True, nogil=True, error_model="numpy")
def newton_values(  # type: ignore[no-untyped-def]
    rows, leaves, weight, gradient, l2, learning_rate, first_label, end, sums, values
):
    """Fill in −η Σ w g / (Σ w p (1 − p) + λ) of every leaf and each label up to ``end``, (n_leaves, K).

    ``sums`` holds zeros for both sums of each of them, (2, n_leaves, K).
    """
    n_leaves = len(values)
    G, H = sums[0], sums[1]
    for row in rows:
        w, g = weight[row], gradient[row, first_label:end]
        G_leaf, H_leaf = G[leaves[row]], H[leaves[row]]
        for k in range(len(g)):
            v = np.float64(g[k])
            a = abs(v)
            G_leaf[k] += w * v
            H_leaf[k] += w * a * (1.0 - a)
    for leaf in range(n_leaves):
        for k in range(G.shape[1]):
            h = H[leaf, k] + l2
            newton = -G[leaf, k] / h if h > 0 else 0.0
            values[leaf, first_label + k] = learning_rate * min(max(newton, -LONGEST_STEP), LONGEST_STEP)


@njit(cache=True, nogil=True, error_model="numpy")
def add_values(  # type: ignore[no-untyped-def]
    X, feature, threshold, right, missing_left, tree_starts, values, leaf_starts, scores
):
    """Add the values of the leaves that each row of X falls into, tree after tree, to its scores."""
    n_labels = scores.shape[1]
    for tree in range(len(tree_starts) - 1):
        first, first_leaf = tree_starts[tree], leaf_starts[tree]
        for i in range(X.shape[0]):
            node = first
            while feature[node] >= 0:
                x = X[i, feature[node]]
                if x <= threshold[node] or (missing_left[node] and np.isnan(x)):
                    node += 1
                else:
                    node = first + right[node]
            value, score = values[first_leaf + right[node]], scores[i]
            for k in range(n_labels):
                score[k] += value[k]
