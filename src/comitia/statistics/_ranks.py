"""Methods compared over several datasets by their ranks: Friedman's and Nemenyi's tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from comitia._arrays import as_count, as_floats, lies_in
from comitia._errors import ComitiaError
from comitia.statistics._tests import TestResult

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Nemenyi:
    """All pairs of methods compared by their average ranks.

    Attributes
    ----------
    average_ranks : ndarray of shape (methods,)
        Average over the datasets; 1 is best.
    differences : ndarray of shape (methods, methods)
        ``average_ranks[i] - average_ranks[j]``: negative where method i is better than j.
    p_values : ndarray of shape (methods, methods)
        Chance of a difference at least as large when the methods are alike, corrected for all pairs.
    critical_distance : float
        Average ranks that differ by more than this differ significantly at ``alpha``.
    alpha : float
        Level of the critical distance.

    Examples
    --------
    >>> from comitia.statistics import nemenyi
    >>> nemenyi([[1, 2], [1, 3], [2, 4]]).average_ranks
    array([1., 2.])
    """

    average_ranks: Floats
    differences: Floats
    p_values: Floats
    critical_distance: float
    alpha: float


def ranks(table: ArrayLike, *, higher_is_better: bool = False) -> Floats:
    """Rank the methods on each dataset: 1 is best, ties share the average of their ranks.

    Parameters
    ----------
    table : array-like of shape (datasets, methods)
        One value for each dataset and method.
    higher_is_better : bool
        False for losses, True for measures such as F1.

    Returns
    -------
    ndarray of shape (datasets, methods)

    Examples
    --------
    >>> from comitia.statistics import ranks
    >>> ranks([[13.65, 13.75, 14.41], [1.27, 1.25, 1.25]])
    array([[1. , 2. , 3. ],
           [3. , 1.5, 1.5]])
    """
    values = _checked(table)
    return np.asarray(stats.rankdata(-values if higher_is_better else values, axis=1), dtype=np.float64)


def average_ranks(table: ArrayLike, *, higher_is_better: bool = False) -> Floats:
    """Average the ranks of each method over the datasets.

    Parameters
    ----------
    table : array-like of shape (datasets, methods)
        One value for each dataset and method.
    higher_is_better : bool
        False for losses, True for measures such as F1.

    Examples
    --------
    >>> from comitia.statistics import average_ranks
    >>> average_ranks([[70, 68, 64], [49, 46, 27], [79, 83, 79]])
    array([2.5       , 2.33333333, 1.16666667])
    """
    return np.asarray(ranks(table, higher_is_better=higher_is_better).mean(axis=0))


def friedman(table: ArrayLike) -> TestResult:
    """Test whether any of the methods differs from the others (Friedman's test, corrected for ties).

    The statistic is 12 N / (k (k + 1)) · Σ_j (R_j − (k + 1) / 2)² for N datasets, k methods and average ranks
    R_j, divided by the correction for ties, and is referred to χ² with k − 1 degrees of freedom.  A table in
    which all methods tie on every dataset has statistic 0 and p-value 1.

    Parameters
    ----------
    table : array-like of shape (datasets, methods)
        At least two datasets and three methods.

    Examples
    --------
    >>> from comitia.statistics import friedman
    >>> result = friedman([[70, 68, 64], [49, 46, 27], [85, 84, 74], [56, 57, 51]])
    >>> round(result.statistic, 3), round(result.p_value, 3)
    (6.5, 0.039)
    """
    values = _checked(table, datasets=2, methods=3)
    if (values == values[:, :1]).all():
        return TestResult(0.0, 1.0)
    result = stats.friedmanchisquare(*values.T)
    return TestResult(float(result.statistic), float(result.pvalue))


def critical_distance(methods: int, datasets: int, alpha: float = 0.05) -> float:
    """Find the difference of average ranks that is significant by Nemenyi's test.

    CD = q_α √(k (k + 1) / (6 N)), where q_α is the upper quantile of the studentised range of k methods with
    infinite degrees of freedom, divided by √2.

    Parameters
    ----------
    methods, datasets : int
        How many there are of each.
    alpha : float
        Level of the test, in (0, 1).

    Examples
    --------
    >>> from comitia.statistics import critical_distance
    >>> round(critical_distance(3, 7), 2), round(critical_distance(5, 8, alpha=0.1), 2)
    (1.25, 1.94)
    """
    if not (lies_in(alpha, 0, 1) and 0 < alpha < 1):
        raise ComitiaError(f"alpha must lie between 0 and 1, such as 0.05; got {alpha!r}.")
    as_count("methods", methods, 2, 10**6)
    as_count("datasets", datasets, 1)
    quantile = stats.studentized_range.isf(alpha, methods, np.inf) / np.sqrt(2)
    return float(quantile * _standard_error(methods, datasets))


def nemenyi(table: ArrayLike, *, higher_is_better: bool = False, alpha: float = 0.05) -> Nemenyi:
    """Compare every pair of methods by their average ranks.

    Parameters
    ----------
    table : array-like of shape (datasets, methods)
        One value for each dataset and method.
    higher_is_better : bool
        False for losses, True for measures such as F1.
    alpha : float
        Level of the critical distance.

    Examples
    --------
    >>> from comitia.statistics import nemenyi
    >>> losses = [[70, 68, 64], [49, 46, 27], [85, 84, 74], [56, 57, 51], [88, 87, 85], [85, 84, 79]]
    >>> result = nemenyi(losses)
    >>> result.p_values[2].round(3)
    array([0.004, 0.107, 1.   ])
    """
    mean = average_ranks(table, higher_is_better=higher_is_better)
    datasets, methods = np.shape(table)
    differences = mean[:, np.newaxis] - mean
    spread = np.abs(differences) / _standard_error(methods, datasets) * np.sqrt(2)
    p_values = np.asarray(stats.studentized_range.sf(spread, methods, np.inf)).clip(0.0, 1.0)
    return Nemenyi(mean, differences, p_values, critical_distance(methods, datasets, alpha), alpha)


def cliques(average_ranks: ArrayLike, distance: float) -> list[list[int]]:
    """Find the largest groups of methods no two of which differ by more than a critical distance.

    Groups of one are left out, as in the bars of a critical-difference diagram.

    Parameters
    ----------
    average_ranks : array-like of shape (methods,)
    distance : float
        The :func:`critical_distance`.

    Returns
    -------
    list of list of int
        Indices of the methods of each group, best first; groups in the order of their best method.

    Examples
    --------
    >>> from comitia.statistics import cliques
    >>> cliques([4.6, 1.1, 2.0, 2.9], distance=1.8)
    [[1, 2, 3], [3, 0]]
    """
    values = as_floats("average_ranks", average_ranks)
    if values.ndim != 1 or not lies_in(distance, 0, np.inf):
        raise ComitiaError(
            f"average_ranks must be a list and distance a number, not negative; got shape {values.shape}, {distance!r}."
        )
    order = np.argsort(values, kind="stable")
    groups: list[list[int]] = []
    reached = 0
    for start, best in enumerate(order):
        end = int(np.searchsorted(values[order], values[best] + distance, side="right"))
        if end > reached and end - start > 1:
            groups.append([int(index) for index in order[start:end]])
        reached = max(reached, end)
    return groups


def _standard_error(methods: int, datasets: int) -> float:
    return float(np.sqrt(methods * (methods + 1) / (6 * datasets)))


def _checked(table: ArrayLike, datasets: int = 1, methods: int = 2) -> Floats:
    values = as_floats("table", table)
    if values.ndim != 2 or values.shape[0] < datasets or values.shape[1] < methods:
        raise ComitiaError(
            f"table must have shape (datasets, methods), {datasets} or more datasets and {methods} or more methods; "
            f"got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ComitiaError(
            "table must hold a finite value for every method on every dataset; "
            f"got {values[row, column]} in row {row}, column {column}."
        )
    return values
