"""The quasi-Newton method of the logistic learners on an accelerator: one step of every problem at a time."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from comitia.learners._device import Device
from comitia.learners._logistic_solver import MEMORY
from comitia.learners._logistic_steps import CONVERGED, RUNNING, STALLED

if TYPE_CHECKING:
    from comitia.learners._logistic_arrays import Evaluation

Array = NDArray[Any]


def minimise(
    objectives: Evaluation, start: Any, metric: Any, tol: float, max_iter: int
) -> tuple[Any, Any, Array, NDArray[np.int64]]:
    """Minimise every objective from its row of ``start``; return points, values, statuses and steps.

    Limited-memory BFGS as in `advance`, with its rules of acceptance and its bound of the gap.  ``metric`` holds the
    inverse (D, D) of each problem's second derivatives.  Problems that are done are no longer evaluated.
    """
    device = objectives.data.device
    search = Search.starting(objectives, start, metric)
    status, steps = np.full(start.shape[0], RUNNING), np.zeros(start.shape[0], dtype=np.int64)
    active = np.arange(start.shape[0])
    done: list[tuple[Array, Any, Any]] = []
    for _ in range(max_iter):
        search.advance(*search.objectives.at(search.trial), tol)
        status[active] = device.fetch(search.status)
        steps[active] = device.fetch(search.iterations) - 1
        going = status[active] == RUNNING
        if going.mean() <= 0.5:
            ended = np.flatnonzero(~going)
            done.append((active[ended], device.take(search.point, ended), device.take(search.value, ended)))
            active = active[going]
            if len(active) == 0:
                break
            search = search.only(np.flatnonzero(going))
    if len(active):
        done.append((active, search.point, search.value))
    numbers, points, values = zip(*done, strict=True)
    back = np.argsort(np.concatenate(numbers))
    point, value = (device.take(device.xp.concat(parts, axis=0), back) for parts in (points, values))
    return point, value, status, steps


def times(xp: Any, matrices: Any, vectors: Any) -> Any:
    """Return the product of each matrix (D, D), or of one that is given compactly (2, D), with its vector."""
    if matrices.shape[1] == matrices.shape[2]:
        return (matrices @ vectors[:, :, None])[:, :, 0]
    # A diagonal in coordinates in which the intercept is sheared off the coefficients; see `metric_of`.
    inverse, shear = matrices[:, 0, :], matrices[:, 1, :]
    scaled = inverse * (vectors - shear * vectors[:, -1:])
    return xp.concat([scaled[:, :-1], scaled[:, -1:] - xp.sum(shear * scaled, axis=1, keepdims=True)], axis=1)


@dataclass
class Search:
    """What the minimiser knows of each problem; the first axis of an array counts problems."""

    device: Device
    objectives: Evaluation
    metric: Any
    point: Any
    gradient: Any
    value: Any
    status: Any
    iterations: Any
    attempts: Any
    trial: Any
    direction: Any
    slope: Any
    step: Any
    low: Any
    high: Any
    # Steps, changes of the gradient and 1 / (step · change), zero where a problem has nothing to remember.
    memory: list[tuple[Any, Any, Any]] = field(default_factory=list)

    @classmethod
    def starting(cls, objectives: Evaluation, start: Any, metric: Any) -> Search:
        device, xp = objectives.data.device, objectives.data.device.xp
        nothing, none = xp.zeros_like(start), xp.zeros_like(start[:, 0])
        count = xp.zeros(start.shape[0], dtype=xp.int64, device=device.place)
        return cls(
            device, objectives, metric, point=nothing, gradient=nothing, value=none, status=count + RUNNING,
            iterations=count, attempts=count, trial=start, direction=nothing, slope=none, step=none + 1, low=none,
            high=none + np.inf,
        )  # fmt: skip

    def only(self, kept: Array) -> Search:
        """Return the search of some of the problems."""
        arrays = {
            item.name: self.device.take(getattr(self, item.name), kept)
            for item in fields(self)
            if item.name not in ("device", "objectives", "memory")
        }
        memory = [tuple(self.device.take(part, kept) for part in kept_step) for kept_step in self.memory]
        return Search(self.device, self.objectives.only(kept), **arrays, memory=memory)

    def advance(self, value: Any, gradient: Any, tol: float) -> None:
        """Take the values at the trial points in, and propose the next trial point of every running problem."""
        xp = self.device.xp
        accepted = self._judge(value, gradient)
        first = self.iterations == 0
        self._remember(accepted & ~first, gradient)
        self.point = xp.where(accepted[:, None], self.trial, self.point)
        self.gradient = xp.where(accepted[:, None], gradient, self.gradient)
        self.value = xp.where(accepted, value, self.value)
        self.iterations = self.iterations + xp.astype(accepted, xp.int64)
        penalty = self.objectives.penalty
        safe = xp.where(penalty > 0, 2 * penalty, penalty + 1)
        bounds = xp.where(penalty > 0, self.gradient * self.gradient / safe, xp.abs(self.gradient))
        reached = accepted & (xp.sum(bounds, axis=1) <= tol * self.value)
        self._aim(accepted)
        lost = accepted & ~reached & ~(self.slope < 0)
        self._end(reached, CONVERGED)
        self._end(lost, STALLED)
        self.trial = self.point + self.step[:, None] * self.direction

    def _end(self, problems: Any, status: int) -> None:
        self.status = self.device.xp.where(problems, self.device.xp.full_like(self.status, status), self.status)

    def _judge(self, value: Any, gradient: Any) -> Any:
        """Return which trial points are accepted; where one is refused, choose the next step along its direction."""
        xp = self.device.xp
        running, single = self.status == RUNNING, self.objectives.precision == "float32"
        slack, attempts = (1e-6, 10) if single else (1e-12, 30)
        at_start, step = -self.slope, self.step
        slope = xp.sum(gradient * self.direction, axis=1)
        rises = ~(value <= self.value * (1 + slack))
        good = ~rises & (-0.9 * at_start <= slope) & (slope <= 0.8 * at_start)
        accepted = running & (good | (self.iterations == 0))
        high = xp.where(rises | (slope > 0), step, self.high)
        low = xp.where(rises | (slope > 0), self.low, step)
        both = at_start + slope
        flattens = (both > 0) & ~(rises & (slope <= 0))
        zero = xp.zeros_like(step)
        proposal = xp.where(flattens, step * at_start / xp.where(flattens, both, zero + 1), zero)
        open_ended = xp.isinf(high)
        end = xp.where(open_ended, low, high)
        margin = 0.1 * (end - low)
        within = _between(xp, proposal, low + margin, end - margin)
        beyond = _between(xp, proposal, 2 * step, 10 * step)
        one = zero + 1
        self.step = xp.where(accepted, one, xp.where(open_ended, beyond, within))
        self.low, self.high = xp.where(accepted, zero, low), xp.where(accepted, zero + np.inf, high)
        refused = running & ~accepted
        self.attempts = xp.where(accepted, xp.zeros_like(self.attempts), self.attempts + xp.astype(refused, xp.int64))
        self._end(refused & (self.attempts > attempts), STALLED)
        return accepted

    def _remember(self, moved: Any, gradient: Any) -> None:
        xp = self.device.xp
        step, change = self.trial - self.point, gradient - self.gradient
        curvature = xp.sum(step * change, axis=1)
        useful = moved & (curvature > 0)
        inverse = xp.where(useful, 1 / xp.where(useful, curvature, curvature * 0 + 1), curvature * 0)
        self.memory = [*self.memory[-(MEMORY - 1) :], (step, change, inverse)]

    def _aim(self, accepted: Any) -> None:
        """Set the directions of problems that moved: the two-loop recursion, then without memory where it fails."""
        xp = self.device.xp
        aim = -self.gradient
        weights = []
        for step, change, inverse in reversed(self.memory):
            weights.append(inverse * xp.sum(step * aim, axis=1))
            aim = aim - weights[-1][:, None] * change
        direction = times(xp, self.metric, aim)
        if self.metric.shape[1] < self.metric.shape[2]:
            # The curvature met last along a step sets the scale of a metric.
            _, change, inverse = self.memory[-1]
            scale = inverse * xp.sum(change * times(xp, self.metric, change), axis=1)
            direction = direction / xp.where(scale > 0, scale, scale * 0 + 1)[:, None]
        for (step, change, inverse), weight in zip(self.memory, reversed(weights), strict=True):
            direction = direction + (weight - inverse * xp.sum(change * direction, axis=1))[:, None] * step
        plain = times(xp, self.metric, -self.gradient)
        falls = xp.sum(self.gradient * direction, axis=1) < 0
        direction = xp.where(falls[:, None], direction, plain)
        self.direction = xp.where(accepted[:, None], direction, self.direction)
        self.slope = xp.where(accepted, xp.sum(self.gradient * self.direction, axis=1), self.slope)
        zero = xp.zeros_like(self.slope)
        self.memory = [(s, c, xp.where(accepted & ~falls, zero, inverse)) for s, c, inverse in self.memory]


def _between(xp: Any, values: Any, low: Any, high: Any) -> Any:
    raised = xp.where(values < low, low, values)
    return xp.where(raised > high, high, raised)
