"""What the trees accept: checks at the door, and the forms that the compiled loops take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite, sqrt
from numbers import Integral
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from comitia._arrays import as_floats, as_limit, check_sparse, is_count, lies_in
from comitia._errors import ComitiaError
from comitia._labels import checked, listed
from comitia.learners._tree_growth import Limits, SparseLabels


def check_features(X: Any, least: int = 1) -> Any:
    """Return X as an array of floats, or as a CSR array if it is sparse; NaN is a missing value.

    The inside of a sparse matrix is checked as well: SciPy takes indices that are out of range.
    """
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        check_sparse("X", X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        values = X.data
    else:
        X = np.asarray(X)
        X = X if X.dtype in (np.float32, np.float64) else as_floats("X", X)
        values = X
    if X.ndim != 2 or X.shape[0] < least or X.shape[1] < 1:
        raise ComitiaError(f"X must have shape (n, d) with n ≥ {least} and d ≥ 1; got shape {X.shape}.")
    if np.isinf(values).any():
        raise ComitiaError("X must not hold infinite values; NaN stands for a missing one.")
    return X


def check_sparse_labels(Y: Any, n: int) -> SparseLabels:
    """Return the labels of n instances, given as a dense or sparse 0/1 matrix or as lists."""
    rows = listed(checked(Y, "Y"))
    if len(rows) != n:
        raise ComitiaError(f"X and Y must have the same number of rows; got {n} and {len(rows)}.")
    return SparseLabels(rows.starts, rows.labels, rows.n_labels)


def check_labelsets(labelsets: ArrayLike, n: int) -> NDArray[np.int32]:
    """Return the labelset of each of n instances, as its row in some table."""
    array = np.asarray(labelsets)
    if array.shape != (n,) or array.dtype.kind not in "iu" or array.min() < 0:
        raise ComitiaError(
            f"labelsets must hold a row number, 0 or more, for each of {n} instances; "
            f"got an array of {array.dtype} of shape {array.shape}."
        )
    return array.astype(np.int32)


def check_seeds(seeds: Iterable[int]) -> list[int]:
    """Return the seeds as integers of 64 bits without a sign."""
    try:
        given = list(seeds)
    except TypeError:
        given = []
    if not given or not all(is_count(seed) and seed < 2**64 for seed in given):
        raise ComitiaError(f"seeds must be one or more integers from 0 to 2⁶⁴ − 1; got {seeds!r}.")
    return [int(seed) for seed in given]


def weight_columns(
    sample_weight: NDArray[Any] | Iterable[ArrayLike] | None, n: int, n_trees: int
) -> Iterator[NDArray[np.float64]]:
    """Yield the weights of the n instances for each tree."""
    if sample_weight is None:
        sample_weight = np.ones(n)
    if isinstance(sample_weight, np.ndarray):
        if sample_weight.shape not in ((n,), (n, n_trees)):
            raise ComitiaError(
                f"sample_weight must have shape ({n},) or ({n}, {n_trees}); got shape {sample_weight.shape}."
            )
        sample_weight = np.broadcast_to(sample_weight.reshape(n, -1), (n, n_trees)).T
    columns = iter(sample_weight)
    for tree in range(n_trees):
        column = next(columns, None)
        if column is None:
            raise ComitiaError(f"sample_weight must give weights for {n_trees} trees; got them for {tree}.")
        yield _checked_weights(column, n, tree)


def _checked_weights(column: ArrayLike, n: int, tree: int) -> NDArray[np.float64]:
    weight = np.ascontiguousarray(as_floats(f"the weights of tree {tree}", column))
    if weight.shape != (n,):
        raise ComitiaError(f"the weights of tree {tree} must have shape ({n},); got shape {weight.shape}.")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise ComitiaError(f"the weights of tree {tree} must be finite, not negative and not all zero.")
    return weight


def check_limits(
    n_features: int,
    *,
    max_features: str | float | None,
    min_samples_leaf: int,
    min_samples_split: int,
    max_depth: int | None,
    min_impurity_decrease: float,
) -> Limits:
    """Return what stops a tree, as the compiled loops take it."""
    leaf = as_limit("min_samples_leaf", min_samples_leaf, 1)
    split = as_limit("min_samples_split", min_samples_split, 2)
    depth = as_limit("max_depth", 2**31 if max_depth is None else max_depth, 1)
    if not lies_in(min_impurity_decrease, 0, float_info.max):
        raise ComitiaError(f"min_impurity_decrease must be a number, at least 0; got {min_impurity_decrease!r}.")
    return Limits(
        _n_features_to_try(max_features, n_features),
        leaf,
        max(split, 2 * leaf),
        depth,
        float(min_impurity_decrease),
    )


def _n_features_to_try(max_features: str | float | None, d: int) -> int:
    if max_features is None:
        return d
    if max_features == "sqrt":
        return max(1, int(sqrt(d)))
    if isinstance(max_features, Integral) and 1 <= max_features <= d:
        return int(max_features)
    if isinstance(max_features, float) and isfinite(max_features) and 0 < max_features <= 1:
        return max(1, int(max_features * d))
    raise ComitiaError(
        f"max_features must be 'sqrt', None, an integer from 1 to {d} or a share in (0, 1]; got {max_features!r}."
    )
