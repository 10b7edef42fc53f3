"""The instance-wise F-measure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from comitia._labels import FloatArray, LabelArray
from comitia._titles import Terms
from comitia.losses import _independent, _joint
from comitia.losses._base import check_beta, check_zero_division, overlap
from comitia.losses._overlap import LabelLists, OverlapLoss
from comitia.relevance import LabelSets

# Beyond this many grid points a label, evaluating sizes one by one is cheaper.
_FINEST_GRID = 32


@dataclass(frozen=True)
class FLoss(OverlapLoss):
    """One minus the F-measure, ℓ(y, h) = 1 − (1 + β²) |y ∩ h| / (|h| + β² |y|).

    **From marginals**, read as independent, an optimal labeling takes the k most probable labels for some k.  With
    C_k[j] = P(j of the top k are relevant) and s_k[a] = E[1 / (a + L_k)], L_k the number of relevant labels after the
    k-th, the expected F1 of the top k is Σ_j 2 j C_k[j] s_k[k + j]; C and s have recurrences in k, O(K²) in all.  Here
    bounds on the expectation rule most k out first and negligible counts are left out of C and s, so that the cost is
    near O(K √K), and O(K²) at worst.  For β² = q/r the recurrence runs on an index stretched by q and r; where they
    are large the sizes that are left are evaluated one by one.

    **From label sets**, with Δ_h[k] = Σ_s P(y_k = 1, |y| = s) (1 + β²) / (h + β² s), the best labeling of size h takes
    the h largest Δ_h, and the best h is taken; instances with the same distribution are decided once.

    Parameters
    ----------
    beta : float
        Weight of recall against precision; 1 gives the F1-measure.
    zero_division : float
        The F-measure where both labelings are empty.

    References
    ----------
    Ye, Chai, Lee and Chieu (2012), Optimizing F-measure: a tale of two approaches, ICML.  Jansche (2007), A maximum
    expected utility framework for binary sequence labeling, ACL.  Waegeman, Dembczyński, Jachnik, Cheng and Hüllermeier
    (2014), On the Bayes-optimality of F-measure maximizers, JMLR 15.

    Examples
    --------
    >>> from comitia.losses import FLoss
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.4, 0.35, 0.3, 0.05]])
    >>> labeling = FLoss().minimise(belief)
    >>> labeling
    array([[1, 1, 1, 0]], dtype=int8)
    >>> FLoss().risk(belief, labeling).round(4)
    array([0.5479])
    """

    title: ClassVar[str] = "F1-measure"
    measure: ClassVar[bool] = True
    terms: ClassVar[Terms] = Terms("the set that is predicted and the right one agree to ", " on average")

    beta: float = 1.0
    zero_division: float = 1.0

    @property
    def beta_squared(self) -> float:
        """β² as a number of one kind: loops are compiled for it."""
        return float(self.beta) ** 2

    def __post_init__(self) -> None:
        check_beta(self.beta)
        check_zero_division(self.zero_division)

    def _value(self, y: LabelArray, h: LabelArray) -> FloatArray:
        common, true, predicted = overlap(y, h)
        denominator = predicted + self.beta_squared * true
        empty = denominator == 0
        measure = (1 + self.beta_squared) * common / np.where(empty, 1, denominator)
        return 1 - np.where(empty, self.zero_division, measure)

    def _terms(self) -> tuple[float, float, float]:
        return 1 + self.beta_squared, self.beta_squared, self.beta_squared

    def _best_sizes(self, ascending: FloatArray, sizes: Any) -> None:
        step, stride = _as_small_ratio(self.beta)
        one_by_one = True if step == 0 else None
        _independent.best_f_sizes(
            ascending, self.beta_squared, step, stride, one_by_one, float(self.zero_division), 0, len(ascending), sizes
        )

    def _best_labels(self, sets: LabelSets, lists: LabelLists, rows: slice, labeling: LabelArray) -> None:
        weights = sets.weights
        _joint.best_f_labels(
            weights.indptr, weights.indices, weights.data, *lists, sets.n_labels,
            self.beta_squared, float(self.zero_division), rows.start, rows.stop, labeling,
        )  # fmt: skip


def _as_small_ratio(beta: float) -> tuple[int, int]:
    """Return β² as a ratio of small integers, or (0, 1) where it is none."""
    ratio = Fraction(float(beta)).limit_denominator(_FINEST_GRID)
    if float(ratio) != beta or ratio.numerator**2 + ratio.denominator**2 > _FINEST_GRID:
        return 0, 1
    return ratio.numerator**2, ratio.denominator**2
