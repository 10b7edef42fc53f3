"""The quasi-Newton method of the logistic learners, a block of problems at a time; its steps are compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from comitia._compiled import njit
from comitia.learners._logistic_kernels import SUMS, Room, Sample, evaluate, gather_labels, lanes

RUNNING, CONVERGED, STALLED = 0, 1, 2

_FAST: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}


def descend(
    design: Any, sample: Any, penalty: Any, free: Any, metric: Any, of: Any, state: Any, tol: float, max_iter: int,
    slack: float, attempts: int,
) -> None:  # fmt: skip
    """Minimise a block of objectives from the trial points of ``state``; see `minimise`.

    Problems that are done are no longer evaluated.
    """
    P, D = state.trial.shape
    active, held = np.arange(P), ~free
    points, values, gradients = state.trial, state.trial_objective, state.trial_gradient
    room = Room.to_evaluate(design, sample, D)
    for _ in range(max_iter):
        if active.size < P:
            points = state.trial[active]
        evaluate(design, sample, penalty, points, values, gradients, room)
        if active.size < P:
            state.trial_objective[active], state.trial_gradient[active] = values, gradients
        if len(free):
            np.copyto(state.trial_gradient, 0.0, where=held)
        running = advance(state, metric, of, penalty, tol, slack, attempts)
        if running == 0:
            break
        if running <= 0.75 * active.size:
            kept = np.flatnonzero(state.status[active] == RUNNING)
            labels = np.zeros((sample.rows.size, lanes(kept.size)), dtype=np.int8)
            gather_labels(sample.labels, np.arange(sample.rows.size), kept, labels)
            sample = Sample(sample.rows, sample.weights, labels)
            active = active[kept]
            values, gradients = np.empty(active.size), np.empty((active.size, D))
            room = Room.to_evaluate(design, sample, D)


@njit(cache=True, **_FAST)
def advance(state: Any, metric: Any, of: Any, penalty: Any, tol: float, slack: float, attempts: int) -> int:
    """Take the values at the trial points in, and propose the next trial point of every problem that runs; count these.

    Limited-memory BFGS whose initial matrix is the metric ``metric[of[p]]``.  A step is accepted when the
    objective has not risen by more than the share ``slack`` (rounding) and the slope along the direction
    has shrunk (the approximate Wolfe conditions of Hager and Zhang, 2005); otherwise the zero of the slope,
    which increases along a line because the objective is convex, is bracketed.
    """
    running = 0
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
            while not state.slope[p] < 0 and state.stored[p] > 0:
                state.stored[p] = 0
                _aim(state, p, metric[of[p]])
            if not state.slope[p] < 0:
                state.status[p] = STALLED
                continue
        for j in range(penalty.size):
            state.trial[p, j] = state.point[p, j] + state.step[p] * state.direction[p, j]
        running += 1
    return running


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
    aim, weights = state.aim, state.weights
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
        for j in range(features):
            state.turned[j] = changes[slot, j]
        apply_metric(metric, state.turned)
        scale = state.curvature[p, slot] / _dot(changes[slot], state.turned)
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
            _add(vector[:i], float(-vector[i]), metric[i, :i])
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
def take_lower(matrix: Any, kept: Any, out: Any) -> None:
    """Fill the lower triangle of ``out`` with that of these rows and columns of a matrix."""
    for i in range(kept.size):
        for j in range(i + 1):
            out[i, j] = matrix[kept[i], kept[j]]


@njit(cache=True, **_FAST)
def put_lower(matrix: Any, kept: Any, out: Any) -> None:
    """Fill these rows and columns of a unit matrix ``out`` with the lower triangle of a matrix."""
    for j in range(out.shape[0]):
        for k in range(j):
            out[j, k] = 0.0
        out[j, j] = 1.0
    for i in range(kept.size):
        for j in range(i + 1):
            out[kept[i], kept[j]] = matrix[i, j]
