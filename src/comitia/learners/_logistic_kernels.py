"""Compiled loops of the logistic learners: arrays in, output arrays filled.

`residuals32` and `residuals64` are the element-wise part of a gradient, `multiply_rows` and `add_rows` the
products with a sparse design matrix; `advance` is one step of the quasi-Newton method for every problem of a
block.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

RUNNING, CONVERGED, STALLED = 0, 1, 2


def _residuals_for(
    real: type, integer: type, lowest: float, exponent: tuple[int, int], exp_terms: int, log_terms: int
) -> Any:
    """Build the residual loop of one precision: the compiler vectorises it; a call of ``exp`` would not be."""
    bias, shift = (integer(value) for value in exponent)
    least, zero, one, two, half = (real(value) for value in (lowest, 0, 1, 2, 0.5))
    log2_e = real(1 / np.log(2))
    # ln 2 in two parts, the first so short that its product with an exponent is exact.
    ln2_high = real(0.693359375)
    ln2_low = real(np.log(2) - 0.693359375)
    exp_series = tuple(real(1 / np.prod(np.arange(1.0, k + 1))) for k in range(exp_terms, -1, -1))
    log_series = tuple(real(2 / (2 * k + 1)) for k in range(log_terms, -1, -1))

    @numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
    def residuals(scores: Any, targets: Any, first: int, weights: Any, losses: Any) -> None:
        rows, problems = scores.shape
        for i in range(rows):
            weight = weights[i]
            target = targets[i, first : first + problems]
            for p in range(problems):
                sign = one - two * real(target[p])
                mistake = sign * scores[i, p]
                # e = exp(-|score|) = 2^k times a Taylor polynomial on [-ln 2 / 2, ln 2 / 2].
                argument = max(-abs(mistake), least)
                k = np.floor(argument * log2_e + half)
                rest = (argument - k * ln2_high) - k * ln2_low
                e = zero
                for term in exp_series:
                    e = e * rest + term
                e *= integer((integer(k) + bias) << shift).view(real)
                inverse = one / (one + e)
                # log(1 + e) = 2 artanh(t) with t = e / (2 + e) <= 1/3.
                t = e / (two + e)
                log1p = zero
                for term in log_series:
                    log1p = log1p * (t * t) + term
                losses[p] += weight * (max(mistake, zero) + t * log1p)
                scores[i, p] = weight * sign * (inverse if mistake >= zero else e * inverse)

    return residuals


# Turn scores f (n, P) into weighted residuals s (σ(f) - y) in place, and add s log(1 + exp(±f)) to losses (P,);
# their targets y are the columns from ``first`` on.
residuals32 = _residuals_for(np.float32, np.int32, -87.0, (127, 23), 6, 6)
residuals64 = _residuals_for(np.float64, np.int64, -708.0, (1023, 52), 12, 14)


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def multiply_rows(indptr: Any, indices: Any, data: Any, matrix: Any, out: Any) -> None:
    """Fill ``out`` (rows, P) with the product of the CSR rows and ``matrix`` (D, P)."""
    rows, problems = out.shape
    for i in range(rows):
        for p in range(problems):
            out[i, p] = 0
        at, end = indptr[i], indptr[i + 1]
        while at + 4 <= end:  # four entries at a time: fewer passes over the row of the result
            a, b, c, d = data[at], data[at + 1], data[at + 2], data[at + 3]
            ja, jb, jc, jd = indices[at], indices[at + 1], indices[at + 2], indices[at + 3]
            for p in range(problems):
                out[i, p] += a * matrix[ja, p] + b * matrix[jb, p] + c * matrix[jc, p] + d * matrix[jd, p]
            at += 4
        for last in range(at, end):
            a, ja = data[last], indices[last]
            for p in range(problems):
                out[i, p] += a * matrix[ja, p]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def add_rows(indptr: Any, indices: Any, data: Any, rows: Any, into: Any) -> None:
    """Add the product of the transposed CSR rows and ``rows`` (rows, P) to ``into`` (D, P)."""
    problems = rows.shape[1]
    for i in range(rows.shape[0]):
        for at in range(indptr[i], indptr[i + 1]):
            a, j = data[at], indices[at]
            for p in range(problems):
                into[j, p] += a * rows[i, p]


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def advance(state: Any, metric: Any, of: Any, penalty: Any, tol: float, slack: float, attempts: int) -> None:
    """Take the values at the trial points in, and propose the next trial point of every running problem.

    Limited-memory BFGS whose initial matrix is the metric ``metric[of[p]]``.  A step is accepted when the
    objective has not risen by more than the share ``slack`` (rounding) and the slope along the direction
    has shrunk (the approximate Wolfe conditions of Hager and Zhang, 2005); otherwise the zero of the slope,
    which increases along a line because the objective is convex, is bracketed.
    """
    for p in range(state.point.shape[0]):
        if state.status[p] != RUNNING:
            continue
        if state.iterations[p] > 0 and not _accepts(state, p, slack):
            state.attempts[p] += 1
            if state.attempts[p] > attempts:
                state.status[p] = STALLED
                continue
        else:
            _move(state, p, penalty)
            if state.bound[p] <= tol * state.objective[p]:
                state.status[p] = CONVERGED
                continue
            _aim(state, p, metric[of[p]])
            if not state.slope[p] < 0:
                state.stored[p] = 0
                _aim(state, p, metric[of[p]])
            if not state.slope[p] < 0:
                state.status[p] = STALLED
                continue
        for j in range(penalty.size):
            state.trial[p, j] = state.point[p, j] + state.step[p] * state.direction[p, j]


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _accepts(state: Any, p: int, slack: float) -> bool:
    """Judge the trial point of problem ``p``; if it is refused, choose the next step along the direction."""
    at_start, step = -state.slope[p], state.step[p]
    slope = 0.0
    for j in range(state.point.shape[1]):
        slope += state.trial_gradient[p, j] * state.direction[p, j]
    rises = not state.trial_objective[p] <= state.objective[p] * (1 + slack)
    if not rises and -0.9 * at_start <= slope <= 0.8 * at_start:
        return True
    if rises or slope > 0:
        state.high[p] = step
    else:
        state.low[p] = step
    low, high = state.low[p], state.high[p]
    flattens = at_start + slope > 0 and not (rises and slope <= 0)
    proposal = step * at_start / (at_start + slope) if flattens else 0.0
    if high == np.inf:
        state.step[p] = min(max(proposal, 2 * step), 10 * step)
    else:
        margin = 0.1 * (high - low)
        state.step[p] = min(max(proposal, low + margin), high - margin)
    return False


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _move(state: Any, p: int, penalty: Any) -> None:
    """Make the trial point the point, remember the step, and bound the gap to the optimum."""
    size = state.steps.shape[1]
    slot = state.stored[p] % size
    curvature = 0.0
    bound = 0.0
    for j in range(penalty.size):
        step = state.trial[p, j] - state.point[p, j]
        change = state.trial_gradient[p, j] - state.gradient[p, j]
        state.steps[p, slot, j] = step
        state.changes[p, slot, j] = change
        curvature += step * change
        state.point[p, j] = state.trial[p, j]
        gradient = state.trial_gradient[p, j]
        state.gradient[p, j] = gradient
        bound += gradient * gradient / (2 * penalty[j]) if penalty[j] > 0 else abs(gradient)
    if state.iterations[p] > 0 and curvature > 0:
        state.curvature[p, slot] = curvature
        state.stored[p] += 1
    state.bound[p] = bound
    state.objective[p] = state.trial_objective[p]
    state.iterations[p] += 1
    state.attempts[p] = 0
    state.step[p] = 1.0
    state.low[p] = 0.0
    state.high[p] = np.inf


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _aim(state: Any, p: int, metric: Any) -> None:
    """Set the direction of problem ``p``: the two-loop recursion of limited-memory BFGS (Nocedal, 1980)."""
    size, features = state.steps.shape[1:]
    stored = state.stored[p]
    kept = min(stored, size)
    weights = np.empty(kept)
    aim = -state.gradient[p]
    for back in range(kept):
        slot = (stored - 1 - back) % size
        weights[back] = _dot(state.steps[p, slot], aim) / state.curvature[p, slot]
        _add(aim, -weights[back], state.changes[p, slot])
    direction = state.direction[p]
    if kept > 0 and metric.shape[0] < features:
        # The curvature met last along a step sets the scale of a metric.
        slot = (stored - 1) % size
        change = state.changes[p, slot].astype(np.float64)
        apply_metric(metric, change, direction)
        scale = state.curvature[p, slot] / _dot(change, direction)
    else:
        scale = 1.0
    apply_metric(metric, aim, direction)
    for j in range(features):
        direction[j] *= scale
    for back in range(kept - 1, -1, -1):
        slot = (stored - 1 - back) % size
        weight = weights[back] - _dot(state.changes[p, slot], direction) / state.curvature[p, slot]
        _add(direction, weight, state.steps[p, slot])
    state.slope[p] = _dot(state.gradient[p], direction)


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def apply_metric(metric: Any, vector: Any, out: Any) -> None:
    """Fill ``out`` with H⁻¹ times a vector, where H is given by its Cholesky factor (D, D) or compactly (2, D)."""
    features = vector.size
    if metric.shape[0] == features:
        for i in range(features):
            out[i] = (vector[i] - _dot(metric[i, :i], out[:i])) / metric[i, i]
        for i in range(features - 1, -1, -1):
            out[i] /= metric[i, i]
            _add(out[:i], -out[i], metric[i, :i])
        return
    # A diagonal in coordinates in which the intercept is sheared off the coefficients.
    last = features - 1
    for j in range(last):
        out[j] = metric[0, j] * (vector[j] - metric[1, j] * vector[last])
    out[last] = metric[0, last] * vector[last]
    for j in range(last):
        out[last] -= metric[1, j] * out[j]


@numba.njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _add(into: Any, weight: float, vector: Any) -> None:
    for j in range(into.size):
        into[j] += weight * vector[j]
