"""How many logistic regressions are cut into blocks, where each of them starts, and in which metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from comitia._clusters import Common, on_cluster
from comitia._jobs import local_threads
from comitia.learners._logistic_kernels import Design, Sample
from comitia.learners._logistic_solver import Objectives, Solutions, gathered, metric_of, minimise
from comitia.learners._logistic_steps import CONVERGED, apply_metric

Array = NDArray[Any]

# The layout of the blocks decides the last bits of a result, so it does not depend on the number of threads.
BLOCK = 64  # problems solved together; the coefficients of as many fit the second-level cache beside sparse columns
BLOCK_ENTRIES = 2**24  # of the metrics of a block, where masks give each problem its own
ANCHOR_BLOCK = 32
ANCHOR_LIMIT = 1000
ANCHOR_TOL = 1e-3  # a bootstrap moves an optimum farther than this
MATRIX_FEATURES = 512  # up to here second derivatives are a matrix, beyond only its diagonal
SPARSE_MATRIX_FEATURES = 128  # the same where most columns are sparse: those are less entangled, and cheap to multiply
MATRIX_ENTRIES = 2**26  # of the matrices that are kept at a time
NEGLIGIBLE = 0.02  # share of a mean curvature below which a row is left out of an anchor's second derivatives
PATIENCE = 60  # evaluations after which second derivatives of a problem's own are worth their cost


@dataclass(frozen=True)
class Problems:
    """B problems on one design matrix of D columns, the last of which is constant if there is an intercept.

    Attributes
    ----------
    single, double : Design
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

    single: Design
    double: Design
    targets: Array
    weights: Array
    target_of: Array
    weight_of: Array
    penalty: Array
    free: Array | None

    @property
    def diagonal(self) -> bool:
        """Whether second derivatives are a diagonal, not a matrix."""
        D, thick = len(self.penalty), self.single.dense.shape[1]
        return max(2, min(MATRIX_FEATURES, SPARSE_MATRIX_FEATURES if 2 * thick < D else D)) < D

    def solve(self, tol: float, max_iter: int, n_jobs: int | None, verbose: int = 0) -> Solutions:
        """Solve every problem; a row is a problem."""
        solved = Solutions.empty(len(self.target_of), len(self.penalty))
        threads, everywhere = local_threads(n_jobs), Common(lambda: self)
        for group in self._groups():
            anchors = self._anchors(group, tol, threads)

            def solve_block(block: Array, anchors: Anchors = anchors) -> None:
                self._solve_block(block, anchors, tol, max_iter).write_into(solved, block)

            blocks = self._blocks(group, anchors)
            elsewhere = on_cluster(partial(_solve_there, anchors, tol, max_iter), everywhere, blocks, n_jobs)
            if elsewhere is None:
                _each(solve_block, blocks, threads, verbose)
            else:
                for block, part in zip(blocks, elsewhere, strict=True):
                    part.write_into(solved, block)
        return solved

    def _groups(self) -> Iterator[Array]:
        """Yield problems whose targets' matrices are kept at the same time."""
        targets, position = np.unique(self.target_of, return_inverse=True)
        size = len(targets) if self.diagonal else max(1, MATRIX_ENTRIES // len(self.penalty) ** 2)
        for start in range(0, len(targets), size):
            yield np.flatnonzero((position >= start) & (position < start + size))

    def _blocks(self, group: Array, anchors: Anchors) -> list[Array]:
        """Cut problems into blocks that share weights and begin as far from zero: they take about as many steps."""
        length = (anchors.points**2 @ self.penalty)[np.searchsorted(anchors.targets, self.target_of[group])]
        order = group[np.lexsort((-length, self.weight_of[group]))]
        columns = np.split(order, np.flatnonzero(np.diff(self.weight_of[order])) + 1)
        size = BLOCK
        if self.free is not None and not self.diagonal:
            size = min(size, max(1, BLOCK_ENTRIES // len(self.penalty) ** 2))
        blocks = [block for column in columns for block in _cut(column, size)]
        return sorted(blocks, key=len, reverse=True)  # the last to end should be short

    def _solve_block(self, block: Array, anchors: Anchors, tol: float, max_iter: int) -> Solutions:
        """Solve problems that share weights: in single precision, then checked or continued in double."""
        targets = self.target_of[block]
        free = None if self.free is None else self.free[block]
        objectives = self._objectives(self.weights[:, self.weight_of[block[0]]], targets, free)
        start, metric, of = anchors.for_problems(targets, free)
        limit = max_iter if self.diagonal else min(PATIENCE, max_iter)
        solved = minimise(objectives, start, metric, of, tol / 2, limit, precise=False)
        _return_to_base(solved, objectives)
        solved = minimise(objectives, solved.point, metric, of, tol, limit, precise=True, steps=solved.iterations)
        for _ in range(0, max_iter, limit):
            left = np.flatnonzero(solved.status != CONVERGED)
            if len(left) == 0:
                break
            own = objectives.only(left)
            hessians = [own.hessian(weights, self.diagonal) for weights in own.curvatures(solved.point[left])]
            metric = own.metrics(np.stack(hessians))
            each = np.arange(len(left))
            steps = solved.iterations[left]
            more = minimise(own, solved.point[left], metric, each, tol, limit, precise=True, steps=steps)
            more.write_into(solved, left)
        return solved

    def _objectives(self, weights: Array, targets: Array, free: Array | None) -> Objectives:
        rows = np.flatnonzero(weights)
        sample = Sample(rows, weights[rows], gathered(self.targets, rows, targets))
        return Objectives(self.single, self.double, sample, self.penalty, free)

    def _anchors(self, group: Array, tol: float, threads: int) -> Anchors:
        """Solve each target under the mean of the weights, unless too few problems share it to gain by that."""
        targets, position = np.unique(self.target_of[group], return_inverse=True)
        T, D = len(targets), len(self.penalty)
        shared = len(position) > 2 * T
        free = None
        if self.free is not None:
            free = np.zeros((T, D), dtype=bool)
            np.logical_or.at(free, position, self.free[group])
        weights = self.weights[:, np.unique(self.weight_of)].mean(axis=1)
        everything = self._objectives(weights, targets[:0], None)
        moments = everything.second_moments(everything.sample.weights, self.diagonal, everything.sample.rows)
        matrices = np.zeros((T, *moments.shape), dtype=np.float32)
        anchors = Anchors(targets, np.zeros((T, D)), matrices, factored=free is None)
        curvatures = np.empty((T, len(everything.sample.rows)) if shared else (0, 0), dtype=np.float32)

        def anchor(block: Array) -> None:
            part = None if free is None else free[block]
            objectives = self._objectives(weights, targets[block], part)
            rates, points = objectives.base_rates(len(block))
            hessians = (rates * (1 - rates))[:, None, None] * moments
            hessians[:, 0] += self.penalty if self.diagonal else 0
            if not self.diagonal:
                hessians += np.diag(self.penalty)
            if shared:
                metric = objectives.metrics(hessians)
                limit = ANCHOR_LIMIT if self.diagonal else PATIENCE
                of = np.arange(len(block))
                points = minimise(objectives, points, metric, of, max(tol, ANCHOR_TOL), limit, precise=False).point
                curvatures[block] = objectives.curvatures(points)
            else:
                matrices[block] = objectives.metrics(hessians) if anchors.factored else hessians
            anchors.points[block] = points

        def measure(block: Array) -> None:
            for target in block:
                weights = curvatures[target]
                hessian = everything.hessian(weights, self.diagonal, weights > NEGLIGIBLE * weights.mean())
                matrices[target] = metric_of(hessian) if anchors.factored else hessian

        _each(anchor, _cut(np.arange(T), ANCHOR_BLOCK), threads)
        if shared:
            _each(measure, _cut(np.arange(T), 1), threads)
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

    def for_problems(self, targets: Array, free: Array | None) -> tuple[Array, Array, Array]:
        """Return starts (P, D), metrics, and which metric each problem uses.

        A problem whose mask removes coefficients starts at the minimum of its target's quadratic model under
        that mask: w_S + H_SS⁻¹ H_SR w_R, S the free and R the removed coefficients.
        """
        at = np.searchsorted(self.targets, targets)
        if free is None:
            return self.points[at], self.matrices, at
        metric = np.empty((len(at), *self.matrices.shape[1:]), dtype=np.float32)
        starts = np.where(free, self.points[at], 0.0)
        compact = metric.shape[1] < metric.shape[2]
        for p, target in enumerate(at):
            metric[p] = metric_of(self.matrices[target], free[p])
            if not compact:
                removed = np.where(free[p], 0.0, self.points[target]).astype(np.float32)
                pull = np.where(free[p], self.matrices[target] @ removed, np.float32(0))
                apply_metric(metric[p], pull)
                starts[p] += pull
        return starts, metric, np.arange(len(at))


def _solve_there(anchors: Anchors, tol: float, max_iter: int, problems: Problems, block: Array) -> Solutions:
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
    threads = max(1, min(threads, len(blocks)))
    parallel = Parallel(threads, require="sharedmem", verbose=verbose, batch_size=1, pre_dispatch="all")
    parallel(delayed(work)(block) for block in blocks)
