"""A block of logistic regressions on one weighted sample: their objectives, and a minimiser for all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack

from comitia.learners._logistic_kernels import (
    RUNNING,
    add_rows,
    advance,
    multiply_rows,
    residuals32,
    residuals64,
)

Array = NDArray[Any]

MEMORY = 20  # steps that limited-memory BFGS remembers, or fewer if each has many coefficients
MEMORY_ENTRIES = 24_000
SPARSE_TILE = 64  # problems whose coefficients fit the second-level cache beside a sparse design matrix
SPARSE_ROWS = 4096
LANES = 16  # loops over problems run over a multiple of this, so that none of it is left to a scalar loop


@dataclass(frozen=True)
class Objectives:
    """½ Σ_j λ_j w_j² + Σ_i s_i log(1 + exp(-(2 y_i - 1) x_i·w)) for P problems that share rows and weights.

    Attributes
    ----------
    design : array or CSR array of shape (n, D)
        float32 or float64: the precision of every product with it.
    weights : array of shape (n,)
        s, in the precision of the design.
    targets : int8 array of shape (n, at least P)
        y, 0 or 1, `padded`.
    penalty : array of shape (D,)
        λ: 1 for a coefficient, 0 for an intercept.
    free : bool array of shape (P, D) or None
        Coefficients that may differ from zero.
    """

    design: Any
    weights: Array
    targets: Array
    penalty: Array
    free: Array | None

    def only(self, problems: Array) -> Objectives:
        """Return the objectives of some of the problems."""
        free = None if self.free is None else self.free[problems]
        return replace(self, targets=padded(self.targets[:, problems]), free=free)

    def at(self, points: Array) -> tuple[Array, Array]:
        """Return the values (P,) and the gradients (P, D) at points (P, D), both in double precision."""
        values = 0.5 * (points * points) @ self.penalty
        gradients = points * self.penalty
        tile = SPARSE_TILE if sp.issparse(self.design) else len(points)
        for first in range(0, len(points), tile):
            self._add_losses(points, slice(first, min(first + tile, len(points))), values, gradients)
        if self.free is not None:
            gradients *= self.free
        return values, gradients

    def _add_losses(self, points: Array, problems: slice, values: Array, gradients: Array) -> None:
        n, dtype = len(self.weights), self.design.dtype
        D, P = points.shape[1], problems.stop - problems.start
        width = -(-P // LANES) * LANES
        coefficients = np.zeros((D, width), dtype=dtype)
        coefficients[:, :P] = points[problems].T
        residuals = residuals32 if dtype == np.float32 else residuals64
        # A chunk of rows stays in the second-level cache, and sums in single precision stay short.
        rows = SPARSE_ROWS if sp.issparse(self.design) else max(64, 2**19 // (dtype.itemsize * (width + D)))
        buffer = np.zeros((min(rows, n), width), dtype=dtype)
        for start in range(0, n, rows):
            chunk = slice(start, min(start + rows, n))
            targets, weights = self.targets[chunk], self.weights[chunk]
            scores = buffer[: len(weights)]
            losses = np.zeros(width, dtype=dtype)
            if sp.issparse(self.design):
                entries = self.design.indptr[start : chunk.stop + 1], self.design.indices, self.design.data
                multiply_rows(*entries, coefficients, scores)
                residuals(scores, targets, problems.start, weights, losses)
                total = np.zeros((D, width), dtype=dtype)
                add_rows(*entries, scores, total)
                gradients[problems] += total[:, :P].T
            else:
                np.matmul(self.design[chunk], coefficients[:, :P], out=scores[:, :P])
                residuals(scores, targets, problems.start, weights, losses)
                gradients[problems] += scores[:, :P].T @ self.design[chunk]
            values[problems] += losses[:P]

    def base_rates(self, P: int) -> tuple[Array, Array]:
        """Return the shares (P,) of positive targets and the points (P, D) that predict them for every row.

        Without an intercept the share is taken for 1/2 and the point is zero.
        """
        points = np.zeros((P, len(self.penalty)))
        rates = np.full(P, 0.5)
        if self.penalty[-1] == 0:
            weights = self.weights.astype(np.float64)
            positive, total = weights @ self.targets[:, :P], weights.sum()
            rates = positive / total
            points[:, -1] = np.log(positive / (total - positive))
        return rates, points

    def penalised(self, moments: Array) -> Array:
        """Return second moments plus the second derivatives of the penalty."""
        D = len(self.penalty)
        compact = moments.shape[-2] < D
        penalty = np.stack([self.penalty, np.zeros(D)]) if compact else np.diag(self.penalty)
        total: Array = moments + penalty
        return total

    def hessians(self, points: Array, diagonal: bool) -> Iterator[Array]:
        """Yield the second derivatives of each problem at its point: as a matrix or, compactly, a diagonal."""
        for point in points:
            shrunk = np.exp(-np.abs(self.design @ point.astype(self.design.dtype)))
            yield self.penalised(self.second_moments(self.weights * shrunk / (1 + shrunk) ** 2, diagonal))

    def second_moments(self, weights: Array, diagonal: bool) -> Array:
        """Return Xᵀ diag(weights) X (D, D) in double precision, or two rows of it.

        The two rows (2, D) are its diagonal and, if there is an intercept, the column of the intercept.
        """
        D = len(self.penalty)
        if diagonal:
            if sp.issparse(self.design):
                squares = self.design.multiply(self.design).T @ weights
            else:
                squares = np.einsum("ij,ij,i->j", self.design, self.design, weights)
            column = self.design.T @ weights if self.penalty[-1] == 0 else np.zeros(D)
            return np.stack([squares, column]).astype(np.float64)
        total = np.zeros((D, D))
        roots = np.sqrt(weights)[:, None]
        for start in range(0, len(weights), 2048):
            rows = self.design[start : start + 2048]
            scaled = (rows.toarray() if sp.issparse(rows) else rows) * roots[start : start + 2048]
            total += scaled.T @ scaled
        return total

    def metrics(self, hessians: Iterable[Array]) -> Array:
        """Return the metric of each problem's Hessian among its free coefficients."""
        if self.free is None:
            return np.stack([metric_of(hessian) for hessian in hessians])
        return np.stack([metric_of(hessian, free) for hessian, free in zip(hessians, self.free, strict=True)])


def padded(targets: Array) -> Array:
    """Return the columns, contiguous, with zeros appended up to a multiple of the lanes."""
    rows, columns = targets.shape
    result = np.zeros((rows, -(-columns // LANES) * LANES), dtype=np.int8)
    result[:, :columns] = targets
    return result


def metric_of(hessian: Array, free: Array | None = None) -> Array:
    """Return what `apply_metric` needs to multiply with the inverse of a Hessian, in single precision.

    For a matrix that is its Cholesky factor, which stays positive definite when it is rounded.  A compact
    Hessian (2, D), its diagonal h and the intercept's column c, is inverted as if the coefficients were
    independent of each other once the intercept b is replaced by b + c·w / h_b, which makes it independent of
    them: the result holds 1 / (h - c² / h_b) and the shear c / h_b.  Coordinates that are not free are left out.
    """
    D = hessian.shape[1]
    kept = np.arange(D) if free is None else np.flatnonzero(free)
    if len(hessian) < D:
        diagonal, column = hessian.astype(np.float64)
        shear = column / diagonal[-1]
        shear[-1] = 0
        compact = np.zeros((2, D), dtype=np.float32)
        schur = np.maximum(diagonal - shear * column, 1e-6 * diagonal)  # rounding must not make it negative
        compact[0, kept] = 1 / schur[kept]
        compact[1, kept] = shear[kept]
        return compact
    result = np.eye(D, dtype=np.float32)
    if len(kept):
        block = hessian[np.ix_(kept, kept)].astype(np.float64)
        factor, failed = lapack.dpotrf(block, lower=1)
        if failed:  # rounding made it indefinite: its diagonal still knows the scales
            factor = np.diag(np.sqrt(np.diagonal(block)))
        result[np.ix_(kept, kept)] = np.tril(factor)
    return result


class Solutions(NamedTuple):
    """Where the problems of a block ended; a row is a problem."""

    point: Array
    objective: Array
    status: Array
    iterations: Array

    @classmethod
    def empty(cls, P: int, D: int) -> Solutions:
        return cls(np.zeros((P, D)), np.zeros(P), np.zeros(P, dtype=np.int64), np.zeros(P, dtype=np.int64))

    def write_into(self, whole: Solutions, problems: Array) -> None:
        for into, field in zip(whole, self, strict=True):
            into[problems] = field


class State(NamedTuple):
    """What the minimiser knows of each problem of a block; a row is a problem."""

    point: Array
    gradient: Array
    objective: Array
    bound: Array
    status: Array
    iterations: Array
    attempts: Array
    trial: Array
    trial_gradient: Array
    trial_objective: Array
    direction: Array
    slope: Array
    step: Array
    low: Array
    high: Array
    steps: Array
    changes: Array
    curvature: Array
    stored: Array

    @classmethod
    def starting(cls, points: Array) -> State:
        P, D = points.shape
        memory = min(MEMORY, max(8, MEMORY_ENTRIES // D))
        shapes = {"steps": (P, memory, D), "changes": (P, memory, D), "curvature": (P, memory)}
        matrices = {"point", "gradient", "trial", "trial_gradient", "direction"}
        integers = {"status", "iterations", "attempts", "stored"}
        types = {"steps": np.float32, "changes": np.float32} | dict.fromkeys(integers, np.int64)
        state = cls._make(
            np.zeros(shapes.get(field, (P, D) if field in matrices else (P,)), dtype=types.get(field, np.float64))
            for field in cls._fields
        )
        state.trial[:] = points
        return state


def minimise(
    objectives: Objectives,
    start: Array,
    metric: Array,
    of: Array,
    tol: float,
    max_iter: int,
    steps: Array | int = 0,
) -> Solutions:
    """Minimise every objective from its row of ``start``; ``metric[of[p]]`` is the metric of problem p.

    A problem has converged when the bound of its gap, Σ_j g_j² / 2λ_j over the coefficients plus |g| of the
    intercept, is at most ``tol`` times its objective.  Problems that are done are no longer evaluated.
    ``max_iter`` limits the evaluations; ``steps`` were taken before and are counted in.
    """
    single = objectives.design.dtype == np.float32
    slack, attempts = (1e-6, 10) if single else (1e-12, 30)
    state = State.starting(start)
    problems = np.arange(len(start))
    for _ in range(max_iter):
        state.trial_objective[problems], state.trial_gradient[problems] = objectives.at(state.trial[problems])
        advance(state, metric, of, objectives.penalty, tol, slack, attempts)
        running = state.status[problems] == RUNNING
        if not running.any():
            break
        if running.mean() <= 0.75:
            objectives, problems = objectives.only(np.flatnonzero(running)), problems[running]
    # The evaluation at the start is no step.
    return Solutions(state.point, state.objective, state.status, state.iterations - 1 + steps)
