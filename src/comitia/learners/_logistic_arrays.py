"""Many logistic regressions on an accelerator, written to the array API: all problems in lock step.

The method and its certificate are those of the compiled solver; what differs is that a block has thousands of problems
and that a design matrix is dense there.  The layout is fixed, so that the same device and versions give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comitia.learners._device import Device, in_use
from comitia.learners._logistic_blocks import ANCHOR_TOL, PATIENCE, Problems
from comitia.learners._logistic_kernels import fill_scaled
from comitia.learners._logistic_lockstep import minimise, times
from comitia.learners._logistic_solver import MEMORY, Solutions
from comitia.learners._logistic_steps import CONVERGED

Array = NDArray[Any]

ROWS = 8192  # of a chunk; sums within it are in the working precision, beyond it in double
PROBLEMS = 8192  # solved together
ENTRIES = 2**28  # of the metrics, or of the steps remembered, that are kept at a time
RESIDENT = 2**33  # bytes of data that stay on the device; what is larger is sent again for every evaluation
HESSIANS = 16  # of which as many weighted copies of a chunk are made at a time


def solve_on(device: Device, problems: Problems, tol: float, max_iter: int) -> Solutions:
    """Solve every problem on a device; a row is a problem, and the result is NumPy's."""
    B, D = len(problems.target_of), len(problems.penalty)
    solved = Solutions.empty(B, D)
    size = max(1, min(PROBLEMS, ENTRIES // (MEMORY * D if problems.diagonal else D**2)))
    with in_use(device):
        data = Data(device, problems)
        single, double = data.in_precision("float32"), data.in_precision("float64")
        targets, position = np.unique(problems.target_of, return_inverse=True)
        shared = len(position) > 2 * len(targets)
        for start in range(0, len(targets), size):
            group = np.flatnonzero((position >= start) & (position < start + size))
            some = targets[start : start + size]
            points, hessians = _anchors(single, some, shared, tol)
            if problems.free is None:
                hessians = double.metric(hessians)
            for first in range(0, len(group), size):
                block = group[first : first + size]
                begin, own = (device.take(part, position[block] - start) for part in (points, hessians))
                _solve_block(single, double, block, begin, own, tol, max_iter).write_into(solved, block)
    return solved


def _anchors(objectives: Evaluation, targets: Array, shared: bool, tol: float) -> tuple[Any, Any]:
    """Return a point and the second derivatives there for each target, under the mean of the weights."""
    device, given = objectives.data.device, objectives.data.problems
    free = None
    if given.free is not None:
        known = np.isin(given.target_of, targets)
        free = np.zeros((len(targets), len(given.penalty)), dtype=bool)
        np.logical_or.at(free, np.searchsorted(targets, given.target_of[known]), given.free[known])
    mean = replace(objectives, target_of=targets, weight_of=None, free=None if free is None else device.send(free))
    rates, points = mean.base_rates()
    hessians = mean.base_hessians(rates)
    if shared:
        points, *_ = minimise(mean, points, mean.metric(hessians), max(tol, ANCHOR_TOL), PATIENCE)
        hessians = mean.hessians(points)
    return points, hessians


def _solve_block(
    single: Evaluation, double: Evaluation, block: Array, start: Any, own: Any, tol: float, max_iter: int
) -> Solutions:
    """Solve some problems in single precision, then check or continue them in double.

    ``own`` are second derivatives, or their inverses where nothing is masked.
    """
    exact, device = double.of(block), double.data.device
    xp = device.xp
    metric = own if exact.free is None else exact.metric(own)
    if exact.free is not None:
        # What is not free is left out, and what is free moves to where that leaves the minimum, if that is known.
        removed = xp.where(exact.free, xp.zeros_like(start), start)
        start = start - removed
        if not double.data.problems.diagonal:
            pull = xp.where(exact.free, times(xp, own, removed), xp.zeros_like(start))
            start = start + times(xp, metric, pull)
    limit = min(PATIENCE, max_iter)
    point, *_, steps = minimise(single.of(block), start, metric, tol / 2, limit)
    point, objective, status, more = minimise(exact, point, metric, tol, limit)
    steps = steps + more
    solved = Solutions(device.fetch(point), device.fetch(objective), status, steps)
    for _ in range(0, max_iter, limit):
        left = np.flatnonzero(solved.status != CONVERGED)
        if len(left) == 0:
            break
        rest = double.of(block[left])
        point = device.send(solved.point[left])
        metric = rest.metric(rest.hessians(point))
        point, objective, status, more = minimise(rest, point, metric, tol, limit)
        more = more + solved.iterations[left]
        Solutions(device.fetch(point), device.fetch(objective), status, more).write_into(solved, left)
    return solved


class Data:
    """The rows of problems in chunks, on the device if they fit and otherwise on their way to it."""

    def __init__(self, device: Device, problems: Problems) -> None:
        self.device, self.problems = device, problems
        n, D = len(problems.targets), len(problems.penalty)
        self.resident = n * (12 * D + problems.targets.shape[1] + 8 * problems.weights.shape[1]) <= RESIDENT
        self.mean = problems.weights[:, np.unique(problems.weight_of)].mean(axis=1)
        self._kept: dict[tuple[str, int], tuple[Any, ...]] = {}

    def in_precision(self, precision: str) -> Evaluation:
        given = self.problems
        return Evaluation(self, precision, given.target_of, given.weight_of, given.free)

    def chunks(self, precision: str) -> Iterator[tuple[Any, ...]]:
        """Yield rows of the design matrix, of the signs 1 - 2 y and of the weights, and their mean weights."""
        for start in range(0, len(self.problems.targets), ROWS):
            at = precision, start
            chunk = self._kept.get(at) or self._chunk(*at)
            if self.resident:
                self._kept[at] = chunk
            yield chunk

    def _chunk(self, precision: str, start: int) -> tuple[Any, ...]:
        given, dtype = self.problems, getattr(self.device.xp, precision)
        design = given.double if precision == "float64" else given.single
        rows = np.arange(start, min(start + ROWS, len(given.targets)))
        dense = np.empty((len(rows), len(given.penalty)), dtype=design.dense.dtype)
        fill_scaled(design, rows, np.ones(len(rows)), dense)
        parts = dense, 1 - 2 * given.targets[rows], given.weights[rows], self.mean[rows]
        return tuple(self.device.send(part, dtype) for part in parts)


@dataclass(frozen=True)
class Evaluation:
    """The objectives of problems in one precision; ``weight_of`` None stands for the mean of the weights."""

    data: Data
    precision: str
    target_of: Array
    weight_of: Array | None
    free: Any

    def of(self, problems: Array) -> Evaluation:
        """Return the objectives of some of the problems that were given, their masks on the device."""
        assert self.weight_of is not None
        free = None if self.free is None else self.data.device.send(self.free[problems])
        return replace(self, target_of=self.target_of[problems], weight_of=self.weight_of[problems], free=free)

    def only(self, kept: Array) -> Evaluation:
        free = None if self.free is None else self.data.device.take(self.free, kept)
        weight_of = None if self.weight_of is None else self.weight_of[kept]
        return replace(self, target_of=self.target_of[kept], weight_of=weight_of, free=free)

    @property
    def penalty(self) -> Any:
        return self.data.device.send(self.data.problems.penalty)

    def at(self, points: Any) -> tuple[Any, Any]:
        """Return values (P,) and gradients (P, D), in double precision, at points (P, D)."""
        device, xp = self.data.device, self.data.device.xp
        penalty = self.penalty
        values = 0.5 * xp.sum(points * points * penalty, axis=1)
        gradients = points * penalty
        for rows, signs, weights, mean in self.data.chunks(self.precision):
            sign = device.take(signs, self.target_of, axis=1)
            weight = mean[:, None] if self.weight_of is None else device.take(weights, self.weight_of, axis=1)
            mistake = sign * (rows @ xp.astype(points, rows.dtype).T)
            e = xp.exp(-xp.abs(mistake))
            zero = xp.zeros((), dtype=rows.dtype, device=device.place)
            losses = weight * (xp.where(mistake > 0, mistake, zero) + xp.log1p(e))
            values = values + xp.sum(losses, axis=0, dtype=xp.float64)
            residuals = weight * sign * xp.where(mistake >= 0, zero + 1, e) / (1 + e)
            gradients = gradients + xp.astype(residuals.T @ rows, xp.float64)
        if self.free is not None:
            gradients = xp.where(self.free, gradients, xp.zeros_like(gradients))
        return values, gradients

    def base_rates(self) -> tuple[Array, Any]:
        """Return the shares of positive targets, and the points that predict them for every row."""
        problems = self.data.problems
        points = np.zeros((len(self.target_of), len(problems.penalty)))
        rates = np.full(len(points), 0.5)
        if problems.penalty[-1] == 0:
            positive, total = self.data.mean @ problems.targets[:, self.target_of], self.data.mean.sum()
            rates = positive / total
            points[:, -1] = np.log(positive / (total - positive))
        return rates, self.data.device.send(points)

    def base_hessians(self, rates: Array) -> Any:
        """Return the second derivatives at the points that predict base rates: all have one shape."""
        device = self.data.device
        one = replace(self, target_of=self.target_of[:1])
        at_zero = one.hessians(device.xp.zeros((1, len(self.data.problems.penalty)), **self._exact))
        scale = device.send(4 * rates * (1 - rates))[:, None, None]  # at zero every row has the curvature 1/4
        return scale * (at_zero - self._penalties()) + self._penalties()

    @property
    def _exact(self) -> dict[str, Any]:
        return {"dtype": self.data.device.xp.float64, "device": self.data.device.place}

    def _penalties(self) -> Any:
        """Return the second derivatives of the penalty, as `hessians` has them."""
        xp, penalty = self.data.device.xp, self.penalty
        if self.data.problems.diagonal:
            return xp.stack([penalty, xp.zeros_like(penalty)])
        return xp.eye(penalty.shape[0], **self._exact) * penalty

    def hessians(self, points: Any) -> Any:
        """Return the second derivatives (P, D, D), or their diagonals and the intercept's columns (P, 2, D)."""
        device, xp = self.data.device, self.data.device.xp
        P, D = points.shape
        compact = self.data.problems.diagonal
        size = P if compact else HESSIANS
        parts = []
        for first in range(0, P, size):
            some = np.arange(first, min(first + size, P))
            total = xp.zeros((len(some), 2 if compact else D, D), **self._exact)
            few = xp.astype(device.take(points, some).T, getattr(xp, self.precision))
            for rows, _, weights, mean in self.data.chunks(self.precision):
                weight = mean[:, None] if self.weight_of is None else device.take(weights, self.weight_of[some], axis=1)
                e = xp.exp(-xp.abs(rows @ few))
                curvature = (weight * e / ((1 + e) * (1 + e))).T
                if compact:
                    moments = xp.stack([curvature @ (rows * rows), curvature @ rows], axis=1)
                else:
                    moments = rows.T @ (curvature[:, :, None] * rows[None, :, :])
                total = total + xp.astype(moments, xp.float64)
            parts.append(total)
        return xp.concat(parts, axis=0) + self._penalties()

    def metric(self, hessians: Any) -> Any:
        """Return the inverses of second derivatives among the free coefficients; see `metric_of`."""
        device, xp = self.data.device, self.data.device.xp
        D = hessians.shape[-1]
        if hessians.shape[1] < D:
            diagonal, column = hessians[:, 0, :], hessians[:, 1, :]
            shear = column / diagonal[:, -1:]
            shear = shear * device.send(
                np.arange(D) < (D - 1 if self.data.problems.penalty[-1] == 0 else 0), xp.float64
            )
            schur = diagonal - shear * column
            inverse = 1 / xp.where(schur > 1e-6 * diagonal, schur, 1e-6 * diagonal)
            if self.free is not None:
                inverse, shear = (xp.where(self.free, part, xp.zeros_like(part)) for part in (inverse, shear))
            return xp.stack([inverse, shear], axis=1)
        if self.free is None:
            return xp.linalg.inv(hessians)
        unit = xp.eye(D, dtype=hessians.dtype, device=device.place)
        both = xp.logical_and(self.free[:, :, None], self.free[:, None, :])
        return xp.linalg.inv(xp.where(both, hessians, xp.broadcast_to(unit, hessians.shape)))
