"""The quasi-Newton method of the logistic learners, compiled: the whole loop of a block without the lock."""

from __future__ import annotations

from typing import Any

import numpy as np

from comitia._compiled import njit
from comitia.learners._logistic_kernels import SUMS, Sample, evaluate, lanes

RUNNING, CONVERGED, STALLED = 0, 1, 2

_FAST: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}


@njit(cache=True, **_FAST)
def descend(
    single: Any, double: Any, precise: bool, sample: Any, penalty: Any, free: Any, metric: Any, of: Any,
    state: Any, tol: float, max_iter: int,
) -> None:  # fmt: skip
    """Minimise a block of objectives from the trial points of ``state``; see `minimise`.

    Problems that are done are no longer evaluated.
    """
    slack, attempts = (1e-12, 30) if precise else (1e-6, 10)
    P, D = state.trial.shape
    active = np.arange(P)
    for _ in range(max_iter):
        points, values, gradients = state.trial, state.trial_objective, state.trial_gradient
        if active.size < P:
            points, values, gradients = state.trial[active], np.empty(active.size), np.empty((active.size, D))
        if precise:
            evaluate(double, sample, penalty, points, values, gradients)
        else:
            evaluate(single, sample, penalty, points, values, gradients)
        if active.size < P:
            for at in range(active.size):
                state.trial_objective[active[at]] = values[at]
                for j in range(D):
                    state.trial_gradient[active[at], j] = gradients[at, j]
        if free.shape[0]:
            for p in active:
                for j in range(D):
                    if not free[p, j]:
                        state.trial_gradient[p, j] = 0.0
        advance(state, metric, of, penalty, tol, slack, attempts)
        kept = np.flatnonzero(state.status[active] == RUNNING)
        if kept.size == 0:
            break
        if kept.size <= 0.75 * active.size:
            labels = np.zeros((sample.rows.size, lanes(kept.size)), dtype=np.int8)
            for i in range(sample.rows.size):
                for p in range(kept.size):
                    labels[i, p] = sample.labels[i, kept[p]]
            sample = Sample(sample.rows, sample.weights, labels)
            active = active[kept]


@njit(cache=True, **_FAST)
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
            for remembers in (True, False):
                if not remembers:
                    state.stored[p] = 0
                _aim(state, p, metric[of[p]])
                if state.slope[p] < 0:
                    break
            if not state.slope[p] < 0:
                state.status[p] = STALLED
                continue
        for j in range(penalty.size):
            state.trial[p, j] = state.point[p, j] + state.step[p] * state.direction[p, j]


@njit(cache=True, **SUMS)
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


@njit(cache=True, **SUMS)
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


@njit(cache=True, **SUMS)
def _aim(state: Any, p: int, metric: Any) -> None:
    """Set the direction of problem ``p``: the two-loop recursion of limited-memory BFGS (Nocedal, 1980).

    In single precision: a direction need not be exact, its slope is.
    """
    size, features = state.steps.shape[1:]
    stored = state.stored[p]
    kept = min(stored, size)
    steps, changes = state.steps[p], state.changes[p]
    weights = np.empty(kept)
    aim = np.empty(features, dtype=np.float32)
    gradient = state.gradient[p]
    for j in range(features):
        aim[j] = -gradient[j]
    for back in range(kept):
        slot = (stored - 1 - back) % size
        weights[back] = _dot(steps[slot], aim) / state.curvature[p, slot]
        _add(aim, -weights[back], changes[slot])
    scale = 1.0
    if kept > 0 and metric.shape[0] < features:
        # The curvature met last along a step sets the scale of a metric.
        slot = (stored - 1) % size
        direction = changes[slot].copy()
        apply_metric(metric, direction)
        scale = state.curvature[p, slot] / _dot(changes[slot], direction)
    apply_metric(metric, aim)
    _scale(aim, scale)
    for back in range(kept - 1, -1, -1):
        slot = (stored - 1 - back) % size
        _add(aim, weights[back] - _dot(changes[slot], aim) / state.curvature[p, slot], steps[slot])
    direction = state.direction[p]
    slope = 0.0
    for j in range(features):
        slope += gradient[j] * aim[j]
        direction[j] = aim[j]
    state.slope[p] = slope


@njit(cache=True, **SUMS)
def apply_metric(metric: Any, vector: Any) -> None:
    """Multiply a vector with H⁻¹ in place, where H is given by its Cholesky factor (D, D) or compactly (2, D)."""
    features = vector.size
    last = features - 1
    if metric.shape[0] == features:
        for i in range(features):
            vector[i] = (vector[i] - _dot(metric[i, :i], vector[:i])) / metric[i, i]
        for i in range(last, -1, -1):
            vector[i] /= metric[i, i]
            _add(vector[:i], -vector[i], metric[i, :i])
        return
    # A diagonal in coordinates in which the intercept is sheared off the coefficients.
    intercept = vector[last]
    shear = np.float32(0)
    for j in range(last):
        scaled = metric[0, j] * (vector[j] - metric[1, j] * intercept)
        shear += metric[1, j] * scaled
        vector[j] = scaled
    vector[last] = metric[0, last] * intercept - shear


@njit(cache=True, **SUMS)
def _dot(a: Any, b: Any) -> Any:
    total = np.float32(0)
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@njit(cache=True, **_FAST)
def _add(into: Any, weight: float, vector: Any) -> None:
    factor = np.float32(weight)
    for j in range(into.size):
        into[j] += factor * vector[j]


@njit(cache=True, **_FAST)
def _scale(vector: Any, weight: float) -> None:
    factor = np.float32(weight)
    for j in range(vector.size):
        vector[j] *= factor


@njit(cache=True, **_FAST)
def factor(hessian: Any, free: Any, out: Any) -> None:
    """Fill ``out`` with what `apply_metric` needs; see `metric_of`."""
    kept = np.flatnonzero(free)
    if out.shape[0] < out.shape[1]:
        _invert_compact(hessian, kept, out)
        return
    block = np.empty((kept.size, kept.size))
    for i in range(kept.size):
        for j in range(kept.size):
            block[i, j] = hessian[max(kept[i], kept[j]), min(kept[i], kept[j])]
    lower = _cholesky(block)
    out[:] = 0
    for j in range(out.shape[0]):
        out[j, j] = 1
    for i in range(kept.size):
        for j in range(i + 1):
            out[kept[i], kept[j]] = lower[i, j]


@njit(cache=True, **_FAST)
def _cholesky(block: Any) -> Any:
    try:
        return np.linalg.cholesky(block)
    except Exception:  # rounding made it indefinite: its diagonal still knows the scales
        lower = np.zeros(block.shape)
        for j in range(block.shape[0]):
            lower[j, j] = np.sqrt(block[j, j])
        return lower


@njit(cache=True, **_FAST)
def _invert_compact(hessian: Any, kept: Any, out: Any) -> None:
    last = out.shape[1] - 1
    out[:] = 0
    for j in kept:
        diagonal, column = float(hessian[0, j]), float(hessian[1, j])
        shear = column / hessian[0, last] if j < last else 0.0
        schur = max(diagonal - shear * column, 1e-6 * diagonal)  # rounding must not make it negative
        out[0, j] = 1 / schur
        out[1, j] = shear


@njit(cache=True, **_FAST)
def begin_masked(matrices: Any, points: Any, at: Any, free: Any, metric: Any, starts: Any) -> None:
    """Fill the metrics and starting points of problems with masks; see `Anchors.for_problems`."""
    D = points.shape[1]
    pull, removed = np.empty(D, dtype=np.float32), np.empty(D, dtype=np.float32)
    for p in range(at.size):
        hessian, point = matrices[at[p]], points[at[p]]
        factor(hessian, free[p], metric[p])
        for j in range(D):
            starts[p, j] = point[j] if free[p, j] else 0.0
            removed[j] = 0.0 if free[p, j] else point[j]
        if hessian.shape[0] < D:
            continue
        for i in range(D):
            pull[i] = _dot(hessian[i], removed) if free[p, i] else np.float32(0)
        apply_metric(metric[p], pull)
        for j in range(D):
            starts[p, j] += pull[j]
