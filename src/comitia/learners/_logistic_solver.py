"""A block of logistic regressions on one weighted sample: their objectives, and a minimiser for all at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comitia.learners._logistic_kernels import (
    Design,
    Sample,
    add_diagonal_moments,
    add_products,
    add_sparse_moments,
    evaluate,
    fill_scaled,
    gather_labels,
    lanes,
    take_rows,
)
from comitia.learners._logistic_steps import descend, put_lower, take_lower

Array = NDArray[Any]

MEMORY = 20  # steps that limited-memory BFGS remembers, or fewer if each has many coefficients
MEMORY_ENTRIES = 24_000
MOMENT_ROWS = 2048


@dataclass(frozen=True)
class Objectives:
    """½ Σ_j λ_j w_j² + Σ_i s_i log(1 + exp(-(2 y_i - 1) x_i·w)) for P problems that share rows and weights.

    Attributes
    ----------
    single, double : Design
        The design matrix in both precisions.
    sample : Sample
        Rows, their weights s and the targets y.
    penalty : array of shape (D,)
        λ: 1 for a coefficient, 0 for an intercept.
    free : bool array of shape (P, D) or None
        Coefficients that may differ from zero.
    """

    single: Design
    double: Design
    sample: Sample
    penalty: Array
    free: Array | None

    def only(self, problems: Array) -> Objectives:
        """Return the objectives of some of the problems."""
        free = None if self.free is None else self.free[problems]
        return replace(self, sample=self.sample._replace(labels=padded(self.sample.labels[:, problems])), free=free)

    def at(self, points: Array) -> tuple[Array, Array]:
        """Return the values (P,) and the gradients (P, D) at points (P, D), all in double precision."""
        values, gradients = np.empty(len(points)), np.empty(points.shape)
        evaluate(self.double, self.sample, self.penalty, np.ascontiguousarray(points), values, gradients)
        if self.free is not None:
            gradients *= self.free
        return values, gradients

    def base_rates(self, P: int) -> tuple[Array, Array]:
        """Return the shares (P,) of positive targets and the points (P, D) that predict them for every row.

        Without an intercept the share is taken for 1/2 and the point is zero.
        """
        points = np.zeros((P, len(self.penalty)))
        rates = np.full(P, 0.5)
        if self.penalty[-1] == 0:
            weights = self.sample.weights
            positive, total = weights @ self.sample.labels[:, :P], weights.sum()
            rates = positive / total
            points[:, -1] = np.log(positive / (total - positive))
        return rates, points

    def curvatures(self, points: Array) -> Array:
        """Return the weights (P, n) of the rows in the second derivatives of each problem at its point."""
        design, rows = self.single, self.sample.rows
        thin = len(self.penalty) - design.dense.shape[1]
        coefficients = np.ascontiguousarray(points.T, dtype=np.float32)
        scores = design.dense.take(rows, axis=0) @ coefficients[thin:]
        if thin:
            add_products(design, rows, coefficients, scores)
        e = np.exp(-np.abs(scores))
        found = self.sample.weights[:, None] * e / ((1 + e) * (1 + e))
        return np.ascontiguousarray(found.T, dtype=np.float32)

    def hessian(self, weights: Array, diagonal: bool, kept: Array | slice = slice(None)) -> Array:
        """Return Xᵀ diag(weights) X plus the second derivatives of the penalty, in double precision.

        As a matrix (D, D) or, compactly, as two rows (2, D): the diagonal and, if there is an intercept, its column.
        ``kept`` are the rows that it is made from.
        """
        total = self.second_moments(weights[kept], diagonal, self.sample.rows[kept])
        if diagonal:
            total[0] += self.penalty
        else:
            np.einsum("jj->j", total)[:] += self.penalty
        return total

    def second_moments(self, weights: Array, diagonal: bool, rows: Array) -> Array:
        """Return Xᵀ diag(weights) X over these rows, as a matrix or compactly."""
        design, D = self.single, len(self.penalty)
        weights = weights.astype(np.float64, copy=False)
        if diagonal:
            compact = np.zeros((2, D))
            add_diagonal_moments(design, rows, weights, compact)
            if self.penalty[-1] != 0:
                compact[1] = 0
            return compact
        thin = D - design.dense.shape[1]
        # Pairs of a row's sparse entries, or the whole row as if it were dense?
        apart = thin > 0 and 16 * (len(design.data) / len(design.dense)) ** 2 < D**2
        total = np.zeros((D, D))
        first = thin if apart else 0
        if first < D:
            for start in range(0, len(rows), MOMENT_ROWS):
                chunk = slice(start, start + MOMENT_ROWS)
                scaled = np.empty((len(rows[chunk]), D - first), dtype=design.dense.dtype)
                fill_scaled(design, rows[chunk], weights[chunk], scaled)
                total[first:, first:] += scaled.T @ scaled
        if apart:
            add_sparse_moments(design, rows, weights, total)
            total[:] = np.tril(total) + np.tril(total, -1).T
        return total

    def metrics(self, hessians: Array) -> Array:
        """Return the metric of each problem's Hessian among its free coefficients."""
        result = np.empty(hessians.shape, dtype=np.float32)
        for p, hessian in enumerate(hessians):
            result[p] = metric_of(hessian, None if self.free is None else self.free[p])
        return result


def gathered(targets: Array, rows: Array, columns: Array) -> Array:
    """Return these columns of some rows, with zeros appended up to whole `lanes`."""
    result = np.zeros((len(rows), lanes(len(columns))), dtype=np.int8)
    gather_labels(targets, rows, columns, result)
    return result


def padded(targets: Array) -> Array:
    """Return the columns, contiguous, with zeros appended up to whole `lanes`."""
    rows, columns = targets.shape
    result = np.zeros((rows, lanes(columns)), dtype=np.int8)
    result[:, :columns] = targets
    return result


def metric_of(hessian: Array, free: Array | None = None) -> Array:
    """Return what `apply_metric` needs to multiply with the inverse of a Hessian, in single precision.

    For a matrix that is its Cholesky factor, which stays positive definite when it is rounded.  A compact
    Hessian (2, D), its diagonal h and the intercept's column c, is inverted as if the coefficients were
    independent of each other once the intercept b is replaced by b + c·w / h_b, which makes it independent of
    them: the result holds 1 / (h - c² / h_b) and the shear c / h_b.  Coordinates that are not free are left out.
    """
    if len(hessian) < len(hessian.T):
        diagonal, column = hessian.astype(np.float64)
        shear = column / diagonal[-1]
        shear[-1] = 0
        schur = np.maximum(diagonal - shear * column, 1e-6 * diagonal)  # rounding must not make it negative
        result = np.stack([1 / schur, shear]).astype(np.float32)
        return result if free is None else result * free
    if free is None:
        return _cholesky(hessian).astype(np.float32)
    kept = np.flatnonzero(free)
    block = np.zeros((len(kept), len(kept)))
    take_lower(hessian.astype(np.float32, copy=False), kept, block)
    result = np.zeros(hessian.shape, dtype=np.float32)
    put_lower(_cholesky(block), kept, result)
    return result


def _cholesky(lower: Array) -> Array:
    """Return the Cholesky factor of a matrix, of which the lower triangle is read."""
    try:
        return np.linalg.cholesky(lower)
    except np.linalg.LinAlgError:  # rounding made it indefinite: its diagonal still knows the scales
        return np.diag(np.sqrt(np.diagonal(lower)))


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
    """What the minimiser knows of each problem of a block; a row is a problem; the last three are for `_aim`."""

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
    aim: Array
    turned: Array
    weights: Array

    @classmethod
    def starting(cls, points: Array) -> State:
        P, D = points.shape
        memory = min(MEMORY, max(8, MEMORY_ENTRIES // D))
        shapes = {"steps": (P, memory, D), "changes": (P, memory, D), "curvature": (P, memory)}
        shapes |= {"aim": (D,), "turned": (D,), "weights": (memory,)}
        matrices = {"point", "gradient", "trial", "trial_gradient", "direction"}
        integers = {"status", "iterations", "attempts", "stored"}
        types = dict.fromkeys(("steps", "changes", "aim", "turned"), np.float32) | dict.fromkeys(integers, np.int64)
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
    *,
    precise: bool,
    steps: Array | int = 0,
) -> Solutions:
    """Minimise every objective from its row of ``start``; ``metric[of[p]]`` is the metric of problem p.

    A problem has converged when the bound of its gap, Σ_j g_j² / 2λ_j over the coefficients plus |g| of the
    intercept, is at most ``tol`` times its objective.  ``max_iter`` limits the evaluations, in double precision
    where ``precise`` is set; ``steps`` were taken before and are counted in.
    """
    state = State.starting(start)
    free = np.empty((0, start.shape[1]), dtype=bool) if objectives.free is None else objectives.free
    # Arrays that came from another process cannot be written to, and the loop replaces the sample by its own.
    sample = Sample(*(np.require(part, requirements="W") for part in objectives.sample))
    given = objectives.penalty, free, metric, of, state, tol, max_iter
    if precise:
        descend(objectives.double, sample, *given, 1e-12, 30)
    else:  # many evaluations: keep the rows together
        single = objectives.single
        if len(sample.rows) < len(single.dense):
            single = take_rows(single, sample.rows)
        descend(single, sample._replace(rows=np.arange(len(sample.rows))), *given, 1e-6, 10)
    # The evaluation at the start is no step.
    return Solutions(state.point, state.objective, state.status, state.iterations - 1 + steps)
