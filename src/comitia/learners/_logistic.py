"""Many logistic regressions that share one design matrix."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from comitia._arrays import as_count, as_floats, check_finite, check_sparse, lies_in
from comitia._errors import ComitiaError
from comitia._jobs import one_blas_thread
from comitia.learners._device import get_device
from comitia.learners._logistic_blocks import Problems
from comitia.learners._logistic_kernels import Design
from comitia.learners._logistic_steps import CONVERGED

Array = NDArray[Any]

DENSE_FROM = 0.2  # share of entries from which a sparse column is slower than a dense one
SPREAD = 31  # rows by which the usual value of a column is guessed; a wrong guess leaves it dense
NAMED = 50  # unsolved problems that a warning names

SOLVABLE = (1e-30, 1e18)
"""What C times the largest sample weight may be.

On eight datasets, separable ones among them, every problem with C up to 1e20 was solved to the tolerance.  From 1e30
on rounding hides the gap, and in single precision weights above 4e38 are infinite and those below 1e-45 nothing.
"""


@dataclass(frozen=True)
class LogisticFit:
    """Solutions of B logistic regressions.

    Attributes
    ----------
    coef : float64 array of shape (B, d)
    intercept : float64 array of shape (B,)
        -inf or +inf where the target is constant: the probability is exactly 0 or 1.
    objective : float64 array of shape (B,)
        Values of the regularised objectives.
    converged : bool array of shape (B,)
        Whether the bound of the relative gap reached the tolerance.
    n_iter : int64 array of shape (B,)
        Quasi-Newton steps taken.

    Examples
    --------
    >>> from comitia.learners import fit_logistic
    >>> fit = fit_logistic([[0.0], [1.0], [2.0]], [[0, 1], [1, 0], [1, 1]])
    >>> fit.coef.shape, fit.intercept.shape
    ((2, 1), (2,))
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    objective: NDArray[np.float64]
    converged: NDArray[np.bool_]
    n_iter: NDArray[np.int64]


def fit_logistic(
    X: ArrayLike | sp.sparray,
    targets: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    target_of: ArrayLike | None = None,
    weight_of: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    C: float = 1.0,
    fit_intercept: bool = True,
    tol: float = 1e-5,
    max_iter: int = 1000,
    n_jobs: int | None = None,
    verbose: int = 0,
    device: str = "cpu",
) -> LogisticFit:
    r"""Solve B independent L2-regularised logistic regressions on one design matrix.

    Problem b minimises the objective of scikit-learn's ``LogisticRegression(C=C)``,

    .. math:: \tfrac12 \lVert w \rVert^2 + C \sum_i s_i \log(1 + \exp(-(2 y_i - 1)(x_i \cdot w + b))),

    with its own targets y, sample weights s and set of coefficients that may differ from zero.

    Each target is first solved once under the mean of the weights.  A problem starts there and takes
    limited-memory BFGS steps in the metric of that solution's second derivatives: a bootstrap moves an optimum
    little, so few are needed, and the memory corrects the metric where it moves far (rare labels).  Scores and
    gradients of a block of problems are two matrix products in single precision.  Every problem is then checked
    in double precision and, if need be, continued in it, in the end with second derivatives of its own.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        Columns of which four fifths are zero are kept sparse, whatever X is, and with an intercept those of which four
        fifths have any one value.
    targets : array of shape (n, L)
        0 or 1.
    sample_weight : array of shape (n, W), optional
        Columns of non-negative weights, each with a positive entry; one column of ones by default.
    target_of, weight_of : int arrays of shape (B,), optional
        Column of ``targets`` and of ``sample_weight`` that each problem uses.  By default B = W L and problem
        m L + l has weights m and target l: the problems of one ensemble member lie together.
    mask : bool array of shape (B, d), optional
        Coefficients that may differ from zero; all by default.
    C : float
        Inverse of the regularisation strength; times the largest sample weight it must lie within `SOLVABLE`.
    fit_intercept : bool
        Whether to add an intercept, which is not penalised.
    tol : float
        Relative gap at which a problem is solved: with gradient (g_w, g_b) the gap to the optimum is at most
        ½‖g_w‖² + |g_b| |b - b*|, because the objective is 1-strongly convex in w.  A problem is solved when
        ½‖g_w‖² + |g_b|, in double precision, is at most ``tol`` times its objective.  The true gap is commonly a
        hundredth of that.
    max_iter : int
        About as many steps in double precision a problem may take before it is given up.
    n_jobs : int, optional
        Threads, as in scikit-learn.  The result has the same bits for any number.
    verbose : int
        Shows the progress, as joblib does.
    device : {"cpu", "cuda", "cuda:N"}
        Where the problems are solved.  A GPU needs the extra ``gpu``; it gives the same optimum within ``tol``, other
        last bits, and the same bits again on the same device with the same versions.  The result is NumPy's.

    Returns
    -------
    LogisticFit

    Warns
    -----
    ConvergenceWarning
        Names the problems that did not reach the tolerance.

    Notes
    -----
    If all rows of positive weight have the same target, the objective has no minimum (the intercept diverges);
    its limit is returned: no coefficients and an infinite intercept.

    One evaluation of all problems costs 4 n d B operations, less the rows of weight zero (37 % of a bootstrap).
    Memory beyond the result follows the rows of one block a thread, never n B.

    References
    ----------
    Nocedal (1980), Updating quasi-Newton matrices with limited storage.
    Hager and Zhang (2005), A new conjugate gradient method with guaranteed descent and an efficient line search.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.learners import fit_logistic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> Y = X[:, :2] + rng.normal(size=(60, 2)) > 0
    >>> bootstraps = np.stack([np.bincount(rng.integers(60, size=60), minlength=60) for _ in range(5)], axis=1)
    >>> fit = fit_logistic(X, Y, sample_weight=bootstraps)
    >>> fit.coef.shape, bool(fit.converged.all())
    ((10, 3), True)
    """
    X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), input_name="X")
    if sp.issparse(X):
        check_sparse("X", X)
    return fit_with(
        X, None, targets, sample_weight=sample_weight, target_of=target_of, weight_of=weight_of, mask=mask, C=C,
        fit_intercept=fit_intercept, tol=tol, max_iter=max_iter, n_jobs=n_jobs, verbose=verbose, device=device,
    )  # fmt: skip


def fit_with(
    X: Any,
    more: sp.csr_array | None,
    targets: ArrayLike,
    *,
    sample_weight: ArrayLike | None,
    target_of: ArrayLike | None,
    weight_of: ArrayLike | None,
    mask: ArrayLike | None,
    C: float,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    n_jobs: int | None,
    verbose: int,
    device: str,
) -> LogisticFit:
    """Solve logistic regressions on the columns of X, which was checked, followed by ``more``; see `fit_logistic`."""
    place = get_device(device)
    Y = checked_targets(targets, X.shape[0])
    weights = _checked_weights(sample_weight, X.shape[0])
    target_of, weight_of = _checked_columns(target_of, weight_of, Y.shape[1], weights.shape[1])
    B, d = len(target_of), X.shape[1] + (0 if more is None else more.shape[1])
    free = _checked_mask(mask, (B, d))
    _check_positive(C=C, tol=tol)
    max_iter, fit_intercept = as_count("max_iter", max_iter, 1), bool(fit_intercept)
    _check_solvable(C, weights)

    limit = _limits(Y, weights)[weight_of, target_of] if fit_intercept else np.zeros(B)
    fit = LogisticFit(np.zeros((B, d)), limit, np.zeros(B), np.ones(B, dtype=bool), np.zeros(B, dtype=np.int64))
    finite = np.flatnonzero(limit == 0)
    if len(finite) == 0:
        return fit
    design, order, centre = _design(X, fit_intercept, more)
    single = Design(design.dense.astype(np.float32), *design[1:3], design.data.astype(np.float32))
    problems = Problems(
        single=single,
        double=design,
        targets=Y,
        weights=C * weights,
        target_of=target_of[finite],
        weight_of=weight_of[finite],
        penalty=np.repeat([1.0, 0.0], [d, fit_intercept]),
        free=None
        if free is None
        else np.pad(free[finite][:, order], ((0, 0), (0, int(fit_intercept))), constant_values=True),
    )
    if place is None:
        with one_blas_thread():
            solved = problems.solve(tol, max_iter, n_jobs, verbose)
    else:
        from comitia.learners._logistic_arrays import solve_on

        solved = solve_on(place, problems, tol, max_iter)
    fit.coef[finite[:, None], order] = solved.point[:, :d]
    fit.intercept[finite] = solved.point[:, d:].sum(axis=1)
    if centre.any():
        fit.intercept[finite] -= fit.coef[finite] @ centre
    check_finite("the coefficients of logistic regressions", fit.coef)
    check_finite("the intercepts of logistic regressions", fit.intercept, or_infinite=True)
    fit.objective[finite] = solved.objective
    fit.converged[finite] = solved.status == CONVERGED
    fit.n_iter[finite] = solved.iterations
    _warn_of_unsolved(fit, target_of, weight_of, tol)
    return fit


class Columns(NamedTuple):
    """How the columns of X lie in a design matrix."""

    design: Design
    order: Array
    centre: Array


def _design(X: Any, fit_intercept: bool, more: sp.csr_array | None = None) -> Columns:
    """Return the design matrix in double precision, the columns in its order, and what was taken from each.

    Columns with few entries are kept sparse, as they are.  The others are dense and, if there is an intercept, centred;
    or less their usual value, and sparse, where few rows have another: the indicator of what is common, or what is rare
    after it was standardised.  Taking a number from a column changes the problem's variables, not its solution; without
    it a feature far from zero would lose its digits in single precision.
    """
    n = X.shape[0]
    parts = [X] if more is None else [X, more]
    entries = [
        np.bincount(part.indices, minlength=part.shape[1]) if sp.issparse(part) else np.count_nonzero(part, axis=0)
        for part in parts
    ]
    full = [counts > DENSE_FROM * n for counts in entries]
    thick = np.flatnonzero(np.concatenate(full))
    thin = np.flatnonzero(~np.concatenate(full))
    dense = np.ones((n, len(thick) + fit_intercept))
    first = 0
    for part, kept in zip(parts, full, strict=True):
        last = first + int(kept.sum())
        if last > first:
            some = part if kept.all() else part[:, np.flatnonzero(kept)]
            dense[:, first:last] = some.toarray() if sp.issparse(some) else some
        first = last
    kept_sparse = [sp.csr_array(part[:, np.flatnonzero(~kept)]) for part, kept in zip(parts, full, strict=True)]
    centre = np.zeros(len(thin) + len(thick))
    if fit_intercept and first:
        taken, seldom = _usual(dense[:, :first])
        dense[:, :first] -= taken
        centre[thick] = taken
        if seldom.any():
            kept_sparse.append(sp.csr_array(dense[:, np.flatnonzero(seldom)]))
            thin, thick = np.append(thin, thick[seldom]), thick[~seldom]
            dense = np.ascontiguousarray(dense[:, np.append(np.flatnonzero(~seldom), first)])
    some_sparse = [part for part in kept_sparse if part.shape[1]] or kept_sparse[:1]
    sparse = some_sparse[0] if len(some_sparse) == 1 else sp.hstack(some_sparse, format="csr")
    types = np.int64, np.uint32, np.float64
    indptr, indices, data = (
        np.ascontiguousarray(part, dtype=kind)
        for part, kind in zip((sparse.indptr, sparse.indices, sparse.data), types, strict=True)
    )
    return Columns(Design(dense, indptr, indices, data), np.concatenate([thin, thick]), centre)


def _usual(dense: Array) -> tuple[Array, Array]:
    """Return what to take from each column, its usual value or its mean, and in which few rows have another value."""
    n = len(dense)
    usual = np.median(dense[np.linspace(0, n - 1, SPREAD).astype(np.intp)], axis=0)
    seldom = np.count_nonzero(dense != usual, axis=0) <= DENSE_FROM * n
    return np.where(seldom, usual, dense.mean(axis=0)), seldom


def _limits(Y: Array, weights: Array) -> Array:
    """Return the intercept's limit (W, L): -inf or inf where all weighted rows agree on a target, else 0."""
    counted = (weights > 0).astype(np.float64)
    positive = (sp.csr_array(Y).T @ counted).T
    limits = np.zeros(positive.shape)
    limits[positive == 0] = -np.inf
    limits[positive == counted.sum(axis=0)[:, None]] = np.inf
    return limits


def _warn_of_unsolved(fit: LogisticFit, target_of: Array, weight_of: Array, tol: float) -> None:
    unsolved = np.flatnonzero(~fit.converged)
    if len(unsolved) == 0:
        return
    names = [f"{b} (target {target_of[b]}, weights {weight_of[b]})" for b in unsolved[:NAMED]]
    if len(unsolved) > NAMED:
        names.append(f"and {len(unsolved) - NAMED} more")
    warnings.warn(
        f"{len(unsolved)} of {len(fit.converged)} logistic regressions did not reach the relative gap {tol:g}: "
        f"problems {', '.join(names)}. Raise max_iter or tol, lower C, or scale the features.",
        ConvergenceWarning,
        stacklevel=4,
    )


def checked_targets(targets: ArrayLike, n: int) -> NDArray[np.int8]:
    Y = np.asarray(targets)
    if Y.ndim != 2 or len(Y) != n:
        raise ComitiaError(f"targets must have shape ({n}, L), one row for each row of X; got shape {Y.shape}.")
    if not ((Y == 0) | (Y == 1)).all():
        raise ComitiaError(f"targets must hold 0 and 1 only; got {Y[~np.isin(Y, (0, 1))][0]}.")
    return np.ascontiguousarray(Y, dtype=np.int8)


def _checked_weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.ones((n, 1))
    weights = as_floats("sample_weight", sample_weight)
    if weights.ndim != 2 or len(weights) != n or not weights.shape[1]:
        raise ComitiaError(f"sample_weight must have shape ({n}, W), a row for each of X; got shape {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ComitiaError(f"sample_weight must be finite and not negative; got {wrong}.")
    if empty := [int(w) for w in np.flatnonzero(~weights.any(axis=0))]:
        raise ComitiaError(f"sample_weight must give a row a positive weight; got none in columns {empty}.")
    return weights


def _checked_columns(
    target_of: ArrayLike | None, weight_of: ArrayLike | None, L: int, W: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if target_of is None and weight_of is None:
        return np.tile(np.arange(L), W), np.repeat(np.arange(W), L)
    if target_of is None or weight_of is None:
        raise ComitiaError("target_of and weight_of must be given together, or neither.")
    columns = []
    for name, given, count in (("target_of", target_of, L), ("weight_of", weight_of, W)):
        index = np.asarray(given)
        if index.ndim != 1 or index.dtype.kind not in "iu":
            raise ComitiaError(f"{name} must be a list of integers; got shape {index.shape} and type {index.dtype}.")
        if index.size and not (index.min() >= 0 and index.max() < count):
            raise ComitiaError(f"{name} must lie in [0, {count}); it runs from {index.min()} to {index.max()}.")
        columns.append(index.astype(np.int64))
    if len(columns[0]) != len(columns[1]):
        raise ComitiaError(
            f"target_of and weight_of must name as many problems; got {len(columns[0])} and {len(columns[1])}."
        )
    return columns[0], columns[1]


def _checked_mask(mask: ArrayLike | None, shape: tuple[int, int]) -> NDArray[np.bool_] | None:
    if mask is None:
        return None
    free = np.asarray(mask)
    if free.shape != shape or free.dtype != bool:
        raise ComitiaError(f"mask must be boolean of shape {shape} (B, d); got {free.dtype} of shape {free.shape}.")
    return free


def _check_solvable(C: float, weights: Array) -> None:
    smallest, largest = SOLVABLE
    scale = float(as_floats("C", C)) * float(weights.max())
    if not smallest <= scale <= largest:
        raise ComitiaError(
            f"C times the largest sample weight must lie between {smallest:g} and {largest:g}; got {scale:g} (C={C!r})."
        )


def _check_positive(**parameters: float) -> None:
    for name, value in parameters.items():
        if not (lies_in(value, 0, np.inf) and value):
            raise ComitiaError(f"{name} must be a positive number; got {value!r}.")
