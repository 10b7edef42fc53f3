"""How many logistic regressions are cut into blocks, where each of them starts, and in which metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray

from comitia._jobs import local_threads, on_cluster
from comitia.learners._logistic_kernels import CONVERGED, apply_metric
from comitia.learners._logistic_solver import Objectives, Solutions, metric_of, minimise, padded

Array = NDArray[Any]

# The layout of the blocks decides the last bits of a result, so it does not depend on the number of threads.
BLOCK = 128  # problems solved together
SPARSE_BLOCK = 256
BLOCK_ENTRIES = 2**24  # of the metrics of a block, where masks give each problem its own
ANCHOR_BLOCK = 64
ANCHOR_LIMIT = 1000
MATRIX_FEATURES = 512  # up to here second derivatives are a matrix, beyond only its diagonal
MATRIX_ENTRIES = 2**26
PATIENCE = 60  # evaluations after which second derivatives of a problem's own are worth their cost


@dataclass(frozen=True)
class Problems:
    """B problems on one design matrix of D columns, the last of which is constant if there is an intercept.

    Attributes
    ----------
    single, double : arrays or CSR arrays of shape (n, D)
        The design matrix in both precisions.
    targets : int8 array of shape (n, L)
    weights : float64 array of shape (n, W)
        Sample weights times C.
    target_of, weight_of : int arrays of shape (B,)
        The columns that a problem uses.
    penalty : float64 array of shape (D,)
    free : bool array of shape (B, D) or None
        Coefficients that may differ from zero.
    """

    single: Any
    double: Any
    targets: Array
    weights: Array
    target_of: Array
    weight_of: Array
    penalty: Array
    free: Array | None

    def solve(self, tol: float, max_iter: int, n_jobs: int | None, verbose: int = 0) -> Solutions:
        """Solve every problem; a row is a problem."""
        solved = Solutions.empty(len(self.target_of), len(self.penalty))
        threads = local_threads(n_jobs)
        anchors = self._anchors(tol, threads)

        def solve_block(block: Array) -> None:
            self._solve_block(block, anchors, tol, max_iter).write_into(solved, block)

        order = np.argsort(self.weight_of, kind="stable")
        columns = np.split(order, np.flatnonzero(np.diff(self.weight_of[order])) + 1)
        size = SPARSE_BLOCK if sp.issparse(self.double) else BLOCK
        if self.free is not None and not anchors.diagonal:
            size = min(size, max(1, BLOCK_ENTRIES // anchors.matrices[0].size))
        blocks = [block for column in columns for block in _cut(column, size)]
        elsewhere = on_cluster(_solve_there, lambda: (self, anchors, tol, max_iter), blocks, n_jobs)
        if elsewhere is None:
            _each(solve_block, blocks, threads, verbose)
        else:
            for block, part in zip(blocks, elsewhere, strict=True):
                part.write_into(solved, block)
        return solved

    def _solve_block(self, block: Array, anchors: Anchors, tol: float, max_iter: int) -> Solutions:
        """Solve problems that share weights: in single precision, then checked or continued in double."""
        weights = self.weights[:, self.weight_of[block[0]]]
        targets = self.target_of[block]
        free = None if self.free is None else self.free[block]
        start, metric, of = anchors.for_problems(targets, free)
        limit = max_iter if anchors.diagonal else min(PATIENCE, max_iter)
        fast = self._objectives(self.single, weights, targets, free)
        solved = minimise(fast, start, metric, of, tol / 2, limit)
        exact = replace(fast, **self._rows(self.double, weights))
        _return_to_base(solved, exact)
        solved = minimise(exact, solved.point, metric, of, tol, limit, solved.iterations)
        for _ in range(0, max_iter, limit):
            left = np.flatnonzero(solved.status != CONVERGED)
            if len(left) == 0:
                break
            own = exact.only(left)
            metric = own.metrics(own.hessians(solved.point[left], anchors.diagonal))
            each = np.arange(len(left))
            more = minimise(own, solved.point[left], metric, each, tol, limit, solved.iterations[left])
            more.write_into(solved, left)
        return solved

    def _objectives(self, design: Any, weights: Array, targets: Array, free: Array | None) -> Objectives:
        columns = self.targets[np.ix_(np.flatnonzero(weights), targets)]
        return Objectives(**self._rows(design, weights), targets=padded(columns), penalty=self.penalty, free=free)

    def _rows(self, design: Any, weights: Array) -> dict[str, Any]:
        """Return the rows of positive weight, and their weights in the precision of the design matrix."""
        rows = np.flatnonzero(weights)
        return {
            "design": design if len(rows) == len(weights) else design[rows],
            "weights": weights[rows].astype(design.dtype),
        }

    def _anchors(self, tol: float, threads: int) -> Anchors:
        """Solve each target under the mean of the weights, unless too few problems share it to gain by that."""
        targets, position = np.unique(self.target_of, return_inverse=True)
        T, D = len(targets), len(self.penalty)
        diagonal = D > 2 and (D > MATRIX_FEATURES or T * D * D > MATRIX_ENTRIES)
        shared = len(position) > 2 * T
        free = None
        if self.free is not None:
            free = np.zeros((T, D), dtype=bool)
            np.logical_or.at(free, position, self.free)
        weights = self.weights[:, np.unique(self.weight_of)].mean(axis=1)
        everything = self._objectives(self.single, weights, targets[:0], None)
        moments = everything.second_moments(everything.weights, diagonal)
        matrices = np.zeros((T, 2 if diagonal else D, D), dtype=np.float32)
        anchors = Anchors(targets, np.zeros((T, D)), matrices, factored=free is None)

        def anchor(block: Array) -> None:
            part = None if free is None else free[block]
            objectives = self._objectives(self.single, weights, targets[block], part)
            rates, points = objectives.base_rates(len(block))
            base = objectives.penalised((rates * (1 - rates))[:, None, None] * moments)
            hessians = iter(base)
            if shared:
                metric = objectives.metrics(base)
                limit = ANCHOR_LIMIT if diagonal else PATIENCE
                points = minimise(objectives, points, metric, np.arange(len(block)), tol, limit).point
                hessians = objectives.hessians(points, diagonal)
            anchors.points[block] = points
            for at, hessian in zip(block, hessians, strict=True):
                anchors.matrices[at] = metric_of(hessian) if anchors.factored else hessian

        _each(anchor, _cut(np.arange(T), ANCHOR_BLOCK), threads)
        return anchors


@dataclass(frozen=True)
class Anchors:
    """A point for every target, and the second derivatives there.

    Attributes
    ----------
    targets : int array of shape (T,)
        Sorted.
    points : float64 array of shape (T, D)
    matrices : float32 array of shape (T, D, D), or (T, 2, D) for compact ones
    factored : bool
        Whether ``matrices`` are metrics, which serve every problem that has no mask.
    """

    targets: Array
    points: Array
    matrices: Array
    factored: bool

    @property
    def diagonal(self) -> bool:
        return bool(self.matrices.shape[1] < self.matrices.shape[2])

    def for_problems(self, targets: Array, free: Array | None) -> tuple[Array, Array, Array]:
        """Return starts (P, D), metrics, and which metric each problem uses.

        A problem whose mask removes coefficients starts at the minimum of its target's quadratic model under
        that mask: w_S + H_SS⁻¹ H_SR w_R, S the free and R the removed coefficients.
        """
        at = np.searchsorted(self.targets, targets)
        points = self.points[at]
        if free is None:
            return points, self.matrices, at
        metric = np.stack([metric_of(self.matrices[a], f) for a, f in zip(at, free, strict=True)])
        starts = np.where(free, points, 0.0)
        if not self.diagonal:
            shift = np.empty(points.shape[1])
            for p, a in enumerate(at):
                pull = self.matrices[a] @ np.where(free[p], 0.0, points[p])
                apply_metric(metric[p], np.where(free[p], pull, 0.0), shift)
                starts[p] += shift
        return starts, metric, np.arange(len(at))


def _solve_there(shared: tuple[Problems, Anchors, float, int], block: Array) -> Solutions:
    problems, anchors, tol, max_iter = shared
    return problems._solve_block(block, anchors, tol, max_iter)


def _return_to_base(solved: Solutions, objectives: Objectives) -> None:
    """Put problems that got lost, above the objective of predicting the base rate, back to that."""
    lost = np.flatnonzero(solved.status != CONVERGED)
    if len(lost) == 0:
        return
    own = objectives.only(lost)
    _, points = own.base_rates(len(lost))
    worse = ~(own.at(solved.point[lost])[0] < own.at(points)[0])
    solved.point[lost[worse]] = points[worse]


def _cut(items: Array, size: int) -> list[Array]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _each(work: Callable[[Array], None], blocks: Sequence[Array], threads: int, verbose: int = 0) -> None:
    Parallel(n_jobs=threads, require="sharedmem", verbose=verbose)(delayed(work)(block) for block in blocks)
