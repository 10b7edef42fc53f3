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

MEMORY = 10  # steps that limited-memory BFGS remembers


@dataclass(frozen=True)
class Objectives:
    """½ Σ_j λ_j w_j² + Σ_i s_i log(1 + exp(-(2 y_i - 1) x_i·w)) for P problems that share rows and weights.

    Attributes
    ----------
    design : array or CSR array of shape (n, D)
        float32 or float64: the precision of every product with it.
    weights : array of shape (n,)
        s, in the precision of the design.
    targets : int8 array of shape (n, P)
        y, 0 or 1.
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
        return replace(self, targets=self.targets[:, problems], free=free)

    def at(self, points: Array) -> tuple[Array, Array]:
        """Return the values (P,) and the gradients (P, D) at points (P, D), both in double precision."""
        P, D = points.shape
        n, dtype = len(self.weights), self.design.dtype
        residuals = residuals32 if dtype == np.float32 else residuals64
        values = 0.5 * (points * points) @ self.penalty
        gradients = points * self.penalty
        coefficients = np.ascontiguousarray(points.T, dtype=dtype)
        # What a chunk of rows touches stays in the second-level cache, and sums of single precision stay short.
        rows = min(n, max(64, 2**19 // (dtype.itemsize * (P + D)))) if not sp.issparse(self.design) else 512
        buffer = np.empty((rows, P), dtype=dtype)
        for start in range(0, n, rows):
            chunk = slice(start, min(start + rows, n))
            scores = buffer[: chunk.stop - start]
            losses = np.zeros(P, dtype=dtype)
            self._multiply(chunk, coefficients, scores)
            residuals(scores, self.targets[chunk], self.weights[chunk], losses)
            values += losses
            gradients += self._transposed(chunk, scores, D)
        if self.free is not None:
            gradients *= self.free
        return values, gradients

    def _multiply(self, chunk: slice, coefficients: Array, out: Array) -> None:
        if sp.issparse(self.design):
            indptr = self.design.indptr[chunk.start : chunk.stop + 1]
            multiply_rows(indptr, self.design.indices, self.design.data, coefficients, out)
        else:
            np.matmul(self.design[chunk], coefficients, out=out)

    def _transposed(self, chunk: slice, residuals: Array, D: int) -> Array:
        if not sp.issparse(self.design):
            product: Array = residuals.T @ self.design[chunk]
            return product
        total = np.zeros((D, residuals.shape[1]), dtype=residuals.dtype)
        indptr = self.design.indptr[chunk.start : chunk.stop + 1]
        add_rows(indptr, self.design.indices, self.design.data, residuals, total)
        return total.T

    def at_base_rate(self, moments: Array) -> tuple[Array, Array]:
        """Return the points (P, D) without coefficients, the intercept at its best, and the Hessians there.

        ``moments`` are the second moments Xᵀ diag(s) X (D, D), or their diagonal (1, D).
        """
        points = np.zeros((self.targets.shape[1], len(self.penalty)))
        rate = np.full(len(points), 0.5)
        if self.penalty[-1] == 0:
            rate = self.weights @ self.targets / self.weights.sum(dtype=np.float64)
            points[:, -1] = np.log(rate / (1 - rate))
        hessians = (rate * (1 - rate))[:, None, None] * moments
        hessians += self.penalty if len(moments) < len(self.penalty) else np.diag(self.penalty)
        return points, hessians

    def hessians(self, points: Array, diagonal: bool) -> Iterator[Array]:
        """Yield the second derivatives (D, D) of each problem at its point, or their diagonal (1, D)."""
        for point in points:
            shrunk = np.exp(-np.abs(self.design @ point.astype(self.design.dtype)))
            moments = self.second_moments(self.weights * shrunk / (1 + shrunk) ** 2, diagonal)
            yield moments + (self.penalty if diagonal else np.diag(self.penalty))

    def metrics(self, hessians: Iterable[Array]) -> Array:
        """Return the inverse of each problem's Hessian among its free coefficients."""
        if self.free is None:
            return np.stack([inverse(hessian) for hessian in hessians])
        return np.stack([inverse(hessian, free) for hessian, free in zip(hessians, self.free, strict=True)])

    def second_moments(self, weights: Array, diagonal: bool) -> Array:
        """Return Xᵀ diag(weights) X (D, D) in double precision, or its diagonal (1, D)."""
        if diagonal:
            squares = self.design.multiply(self.design) if sp.issparse(self.design) else self.design**2
            return np.asarray(squares.T @ weights, dtype=np.float64)[None]
        D = len(self.penalty)
        total = np.zeros((D, D))
        roots = np.sqrt(weights)[:, None]
        for start in range(0, len(weights), 2048):
            rows = self.design[start : start + 2048]
            scaled = (rows.toarray() if sp.issparse(rows) else rows) * roots[start : start + 2048]
            total += scaled.T @ scaled
        return total


def inverse(hessian: Array, free: Array | None = None) -> Array:
    """Return the inverse (single precision) of a positive definite matrix, restricted to the free coordinates.

    A matrix (1, D) is a diagonal.  Rows and columns of other coordinates are zero.
    """
    D = hessian.shape[1]
    kept = np.arange(D) if free is None else np.flatnonzero(free)
    result = np.zeros(hessian.shape, dtype=np.float32)
    if len(hessian) == 1 and D > 1:
        result[0, kept] = 1 / hessian[0, kept]
        return result
    block = hessian[np.ix_(kept, kept)]
    factor, failed = lapack.dpotrf(block, lower=1)
    if failed:  # rounding made it indefinite: its diagonal still knows the scales
        result[kept, kept] = 1 / np.diagonal(block)
        return result
    lower, _ = lapack.dpotri(factor, lower=1)
    lower = np.tril(lower)
    result[np.ix_(kept, kept)] = lower + np.tril(lower, -1).T
    return result


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
    def starting(cls, points: Array, memory: int = MEMORY) -> State:
        P, D = points.shape
        shapes = {"steps": (P, memory, D), "changes": (P, memory, D), "curvature": (P, memory)}
        matrices = {"point", "gradient", "trial", "trial_gradient", "direction"}
        integers = {"status", "iterations", "attempts", "stored"}
        state = cls._make(
            np.zeros(
                shapes.get(field, (P, D) if field in matrices else (P,)),
                dtype=np.int64 if field in integers else np.float64,
            )
            for field in cls._fields
        )
        state.trial[:] = points
        return state

    def only(self, problems: Array) -> State:
        return State._make(field[problems] for field in self)

    def write_into(self, whole: State, problems: Array) -> None:
        for field in ("point", "objective", "bound", "status", "iterations"):
            getattr(whole, field)[problems] = getattr(self, field)


def minimise(
    objectives: Objectives,
    start: Array,
    metric: Array,
    metric_of: Array,
    tol: float,
    max_iter: int,
    steps: Array | int = 0,
) -> State:
    """Minimise every objective from its row of ``start``; ``metric[metric_of[p]]`` is about H⁻¹ of problem p.

    A problem has converged when the bound of its gap, Σ_j g_j² / 2λ_j over the coefficients plus |g| of the
    intercept, is at most ``tol`` times its objective.  Problems that are done leave the block.  ``max_iter``
    limits the evaluations; ``steps`` were taken before and are counted in.
    """
    single = objectives.design.dtype == np.float32
    slack, attempts = (1e-6, 4) if single else (1e-12, 30)
    whole = state = State.starting(start)
    problems = np.arange(len(start))
    for _ in range(max_iter):
        state.trial_objective[:], state.trial_gradient[:] = objectives.at(state.trial)
        advance(state, metric, metric_of, objectives.penalty, tol, slack, attempts)
        running = np.flatnonzero(state.status == RUNNING)
        if len(running) == 0:
            break
        if len(running) <= 0.75 * len(problems):
            state.write_into(whole, problems)
            problems, state = problems[running], state.only(running)
            objectives, metric_of = objectives.only(running), metric_of[running]
    state.write_into(whole, problems)
    whole.iterations[:] += steps - 1  # the evaluation at the start is no step
    return whole
