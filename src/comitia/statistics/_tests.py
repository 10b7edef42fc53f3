"""Two methods compared by their differences, and what several such comparisons are worth together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from comitia._arrays import as_floats, lies_in
from comitia._errors import ComitiaError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TestResult:
    """The statistic of a test and the chance of one as extreme when nothing differs.

    Parameters
    ----------
    statistic : float
    p_value : float
        The chance.

    Examples
    --------
    >>> from comitia.statistics import wilcoxon
    >>> wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0])
    TestResult(statistic=0.0, p_value=0.0625)
    """

    __test__ = False  # a result, not a test case, whatever pytest makes of its name

    statistic: float
    p_value: float


def corrected_t_test(differences: ArrayLike, test_share: float) -> TestResult:
    """Test whether two methods differ on one dataset, from their differences in each fold.

    Training sets of a cross-validation overlap, so folds are not independent and the usual t-test finds
    differences that are not there.  The corrected resampled t-test widens the variance:
    t = mean(d) / √((1/J + n_test/n_train) · var(d)) with J − 1 degrees of freedom, for J folds over all
    repeats.

    Parameters
    ----------
    differences : array-like of shape (folds,)
        Value of one method minus value of the other, a fold of every repeat each; at least two.
    test_share : float
        Share of the instances that a fold tests on, between 0 and 1: 0.1 for ten folds.

    Examples
    --------
    >>> from comitia.statistics import corrected_t_test
    >>> points = [-2.0, -1.5, -2.5, -1.0, -3.0, -2.0, -1.0, -2.0, -2.5, -1.5]
    >>> result = corrected_t_test(points, test_share=0.1)
    >>> round(result.statistic, 2), round(result.p_value, 4)
    (-6.28, 0.0001)
    """
    values = as_floats("differences", differences)
    _check_differences(values, "folds")
    if not (lies_in(test_share, 0, 1) and 0 < test_share < 1):
        raise ComitiaError(f"test_share must lie between 0 and 1, such as 0.1 for ten folds; got {test_share!r}.")
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    if variance == 0:
        return TestResult(0.0, 1.0) if mean == 0 else TestResult(float(np.copysign(np.inf, mean)), 0.0)
    statistic = mean / np.sqrt((1 / len(values) + test_share / (1 - test_share)) * variance)
    return TestResult(float(statistic), float(2 * stats.t.sf(abs(statistic), len(values) - 1)))


def wilcoxon(differences: ArrayLike) -> TestResult:
    """Test whether two methods differ over several datasets, from their difference on each (the signed-rank test).

    The statistic is the smaller sum of the ranks of |d|, of those datasets on which one method is better and of those
    on which the other is; datasets without a difference are left out.  Without ties and up to 50 datasets the p-value
    is exact, so that 5 datasets can never tell two methods apart at 0.05: it is at least 2 / 2⁵.

    Parameters
    ----------
    differences : array-like of shape (datasets,)
        Value of one method minus value of the other; at least two.

    Examples
    --------
    >>> from comitia.statistics import wilcoxon
    >>> wilcoxon([-2.0, -1.5, -2.5, -1.0, -3.0, 0.5]).p_value
    0.0625
    >>> wilcoxon([0.0, 0.0]).p_value
    1.0
    """
    values = as_floats("differences", differences)
    _check_differences(values, "datasets")
    if not values.any():
        return TestResult(0.0, 1.0)
    result = stats.wilcoxon(values)
    return TestResult(float(result.statistic), float(result.pvalue))


def holm(p_values: ArrayLike) -> Floats:
    """Adjust the p-values of several comparisons so that any false finding at all stays below the level.

    Parameters
    ----------
    p_values : array-like of shape (comparisons,)

    Examples
    --------
    >>> from comitia.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = as_floats("p_values", p_values)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ComitiaError(f"p_values must be a list of numbers from 0 to 1; got {p_values!r}.")
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)).clip(max=1.0)
    return adjusted


def _check_differences(values: Floats, what: str) -> None:
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise ComitiaError(f"differences must be finite numbers, one for each of two {what} or more; got {values}.")
