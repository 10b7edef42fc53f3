"""Compiled loops of the logistic learners that pass over the rows: arrays in, output arrays filled.

`evaluate` gives the values and gradients of a block of problems: products with the dense columns of the design
matrix by BLAS, those with its sparse columns by `add_products` and `add_rows`, and between them `residuals`.
`add_sparse_moments`, `add_diagonal_moments` and `fill_scaled` are for second derivatives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from comitia._compiled import njit

Array = NDArray[Any]

LANES = 16  # loops over many problems run over a multiple of this, so that none of it is left to a scalar loop
CACHED = 2**19  # bytes of a chunk of rows that stay in the second-level cache
SPARSE_ROWS = 4096  # rows whose part of a gradient is added up in single precision

TILE = 16  # rows of a transposed copy written together: they stay in the first-level cache

_FAST: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}
# Sums in any order, so that the compiler adds up whole vectors; the order it takes is the same in every run.
SUMS: dict[str, Any] = _FAST | {"fastmath": {"contract", "reassoc"}}


class Design(NamedTuple):
    """A matrix (n, D) whose first columns are sparse and whose last are dense; an intercept's ones come last.

    Attributes
    ----------
    dense : array of shape (n, number of dense columns)
        float32 or float64: the precision of every product with it.
    indptr, indices, data : arrays
        The sparse columns in CSR format: int64, uint32 (no index counts from the end, which need not be asked) and the
        precision of the dense ones.
    """

    dense: Array
    indptr: Array
    indices: Array
    data: Array


class Sample(NamedTuple):
    """The rows of a design matrix that problems learn from, of positive weight.

    Attributes
    ----------
    rows : int64 array of shape (n,)
    weights : float64 array of shape (n,)
    labels : int8 array of shape (n, at least P)
        Targets, 0 or 1, a column a problem, with zeros appended up to whole `lanes`.
    """

    rows: Array
    weights: Array
    labels: Array


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

    def residuals(scores: Any, targets: Any, weights: Any, losses: Any) -> None:
        rows, problems = scores.shape
        for i in range(rows):
            weight = weights[i]
            for p in range(problems):
                sign = one - two * real(targets[i, p])
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


_RESIDUALS = {
    "float32": _residuals_for(np.float32, np.int32, -87.0, (127, 23), 6, 6),
    "float64": _residuals_for(np.float64, np.int64, -708.0, (1023, 52), 12, 14),
}


def residuals(scores: Any, targets: Any, weights: Any, losses: Any) -> None:
    """Turn scores f (n, P) into weighted residuals s (σ(f) - y) in place; add s log(1 + exp(±f)) to losses (P,)."""
    _RESIDUALS[str(scores.dtype)](scores, targets, weights, losses)


@overload(residuals, jit_options=_FAST)
def _residuals_of_precision(scores: Any, targets: Any, weights: Any, losses: Any) -> Any:  # noqa: ARG001
    return _RESIDUALS[str(scores.dtype)]


class Room(NamedTuple):
    """Arrays that `evaluate` writes to: NumPy makes them, so that none of that is compiled."""

    coefficients: Array
    scores: Array
    block: Array
    part: Array
    total: Array
    weights: Array
    losses: Array

    @classmethod
    def to_evaluate(cls, design: Design, sample: Sample, D: int) -> Room:
        """Make room for a chunk of rows, and for as many problems as the sample has columns."""
        dense, (n, width) = design.dense, sample.labels.shape
        thick, real = dense.shape[1], dense.dtype
        step = max(64, CACHED // (dense.itemsize * (width + thick)))
        return cls(
            coefficients=np.zeros((D, width), dtype=real),
            scores=np.zeros((step, width), dtype=real),
            block=np.empty((step if len(dense) > n else 0, thick), dtype=real),
            part=np.empty((width, thick), dtype=real),
            total=np.zeros((D - thick, width), dtype=real),
            weights=np.empty(step, dtype=real),
            losses=np.empty(width, dtype=real),
        )


def evaluate(
    design: Any, sample: Any, penalty: Any, points: Any, values: Any, gradients: Any, room: Room | None = None
) -> None:  # fmt: skip
    """Fill values (P,) and gradients (P, D), in double precision, at points (P, D).

    Sums are in the precision of the design matrix within a chunk of rows, beyond it in double precision.  Rows are
    copied a chunk at a time, unless the sample has all of them in their order.
    """
    P, D = points.shape
    room = Room.to_evaluate(design, sample, D) if room is None else room
    room.coefficients[:, :P] = points.T
    sparse = design if design.dense.shape[1] < D else None
    _evaluate(design.dense, sparse, sample, penalty, points, room, values, gradients)


@njit(cache=True, **_FAST)
def _evaluate(
    dense: Any, sparse: Any, sample: Any, penalty: Any, points: Any, room: Any, values: Any, gradients: Any
) -> None:  # fmt: skip
    """Do as `evaluate` does; ``sparse`` is None where no column is, so that loops over those are not compiled."""
    P = points.shape[0]
    n = sample.labels.shape[0]
    thick = dense.shape[1]
    thin = points.shape[1] - thick
    coefficients, scores, part, total = room.coefficients, room.scores, room.part, room.total
    weights, losses = room.weights, room.losses
    step = weights.size
    apart = room.block.shape[0] > 0
    for p in range(P):
        values[p] = _penalise(penalty, points[p], gradients[p])
    pending = 0
    for start in range(0, n, step):
        size = step if start + step <= n else n - start
        rows = sample.rows[start : start + size]
        some = scores[:size]
        for i in range(size):
            weights[i] = sample.weights[start + i]
        block = dense[start : start + size]
        if apart:
            block = room.block[:size]
            for i in range(size):
                row = rows[i]
                for j in range(thick):
                    block[i, j] = dense[row, j]
        if thick:
            np.dot(block, coefficients[thin:], some)
        else:
            some[:] = 0
        if sparse is not None:
            add_products(sparse, rows, coefficients, some)
        losses[:] = 0
        residuals(some, sample.labels[start : start + size], weights, losses)
        for p in range(P):
            values[p] += losses[p]
        if thick:
            np.dot(some.T, block, part)
            for p in range(P):
                for j in range(thick):
                    gradients[p, thin + j] += part[p, j]
        if sparse is not None:
            add_rows(sparse, rows, some, total)
            pending += size
            if pending >= SPARSE_ROWS or start + size == n:
                _add_transposed(total, gradients)
                total[:] = 0
                pending = 0


@njit(cache=True, **SUMS)
def _penalise(penalty: Any, point: Any, gradient: Any) -> float:
    """Return the penalty of a point, and fill in its gradient."""
    value = 0.0
    for j in range(penalty.size):
        gradient[j] = penalty[j] * point[j]
        value += gradient[j] * point[j]
    return 0.5 * value


@njit(cache=True, **_FAST)
def _add_transposed(matrix: Any, out: Any) -> None:
    """Add the first columns of a matrix, transposed, to the first columns of ``out`` (P, D)."""
    for start in range(0, matrix.shape[0], TILE):
        for p in range(out.shape[0]):
            for j in range(start, min(start + TILE, matrix.shape[0])):
                out[p, j] += matrix[j, p]


@njit(cache=True, **_FAST)
def add_products(design: Any, rows: Any, matrix: Any, out: Any) -> None:
    """Add the product of rows of the sparse columns and ``matrix`` (at least as many rows, P) to ``out``."""
    problems = out.shape[1]
    indices, data = design.indices, design.data
    for i in range(rows.size):
        at, end = design.indptr[rows[i]], design.indptr[rows[i] + 1]
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


@njit(cache=True, **_FAST)
def add_rows(design: Any, rows: Any, residues: Any, into: Any) -> None:
    """Add the product of the transposed rows of the sparse columns and ``residues`` (rows, P) to ``into``."""
    problems = residues.shape[1]
    for i in range(rows.size):
        for at in range(design.indptr[rows[i]], design.indptr[rows[i] + 1]):
            a, j = design.data[at], design.indices[at]
            for p in range(problems):
                into[j, p] += a * residues[i, p]


@njit(cache=True, **_FAST)
def add_sparse_moments(design: Any, rows: Any, weights: Any, total: Any) -> None:
    """Add Σ_i s_i x_i x_iᵀ to ``total`` (D, D), less the product of the dense columns; lower triangle only."""
    thick = design.dense.shape[1]
    thin = total.shape[0] - thick
    for i in range(rows.size):
        row = rows[i]
        for at in range(design.indptr[row], design.indptr[row + 1]):
            a, j = weights[i] * design.data[at], design.indices[at]
            for other in range(design.indptr[row], at + 1):
                total[j, design.indices[other]] += a * design.data[other]
            for k in range(thick):
                total[thin + k, j] += a * design.dense[row, k]


@njit(cache=True, **_FAST)
def add_diagonal_moments(design: Any, rows: Any, weights: Any, total: Any) -> None:
    """Add to ``total`` (2, D) the diagonal of Σ_i s_i x_i x_iᵀ and Σ_i s_i x_i."""
    thick = design.dense.shape[1]
    thin = total.shape[1] - thick
    for i in range(rows.size):
        row = rows[i]
        for at in range(design.indptr[row], design.indptr[row + 1]):
            a, j = weights[i] * design.data[at], design.indices[at]
            total[0, j] += a * design.data[at]
            total[1, j] += a
        for k in range(thick):
            a = weights[i] * design.dense[row, k]
            total[0, thin + k] += a * design.dense[row, k]
            total[1, thin + k] += a


@njit(cache=True, **_FAST)
def fill_scaled(design: Any, rows: Any, weights: Any, out: Any) -> None:
    """Fill ``out`` (n, D or the dense columns alone) with √s_i x_i."""
    thick = design.dense.shape[1]
    thin = out.shape[1] - thick
    for i in range(rows.size):
        row, root = rows[i], np.sqrt(weights[i])
        for j in range(thin):
            out[i, j] = 0
        if thin:
            for at in range(design.indptr[row], design.indptr[row + 1]):
                out[i, design.indices[at]] = root * design.data[at]
        for k in range(thick):
            out[i, thin + k] = root * design.dense[row, k]


def take_rows(design: Any, rows: Any) -> Design:
    """Return some rows of a design matrix, contiguous."""
    lengths = np.diff(design.indptr)[rows]
    indptr = np.append(0, np.cumsum(lengths))
    indices, data = np.empty(indptr[-1], dtype=np.uint32), np.empty(indptr[-1], dtype=design.data.dtype)
    if indptr[-1]:
        _copy_entries(design, rows, indptr, indices, data)
    return Design(design.dense.take(rows, axis=0), indptr, indices, data)


@njit(cache=True, **_FAST)
def _copy_entries(design: Any, rows: Any, indptr: Any, indices: Any, data: Any) -> None:
    for i in range(rows.size):
        first = design.indptr[rows[i]]
        for at in range(indptr[i + 1] - indptr[i]):
            indices[indptr[i] + at] = design.indices[first + at]
            data[indptr[i] + at] = design.data[first + at]


def lanes(problems: int) -> int:
    """Return how many columns hold so many problems: loops over them are cut into whole vectors."""
    return problems if problems <= 8 else -(-problems // LANES) * LANES


@njit(cache=True, **_FAST)
def gather_labels(targets: Any, rows: Any, columns: Any, out: Any) -> None:
    """Fill the first columns of ``out`` with these columns of some rows of the targets."""
    for i in range(rows.size):
        for p in range(columns.size):
            out[i, p] = targets[rows[i], columns[p]]
