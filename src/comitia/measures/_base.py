"""What every measure of a set can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from comitia._arrays import as_weights
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray, LabelRows, check_labels, checked, listed
from comitia._titles import Terms
from comitia.losses import Constraints, Hamming, Loss, Within
from comitia.measures._cuts import best_cuts
from comitia.relevance import Calibration, Marginals, fit_calibration

Estimate = Literal["calibrated", "expected", "smoothed", "empirical"]

_HALVINGS = 60
# A label with this many relevant instances is judged half by what it is, half by what is believed of it.
_PRIOR = 10.0


@dataclass(frozen=True)
class Measure(ABC):
    """A function Ψ of the labels' confusion counts over a whole set, larger is better.

    Without a budget its best classifier cuts each marginal, h_k = ⟦p_k > τ_k⟧, with cuts that depend on the
    distribution (Koyejo, Natarajan, Ravikumar and Dhillon 2015, Consistent multilabel classification, NeurIPS).  A cut
    a label is Hamming loss with costs, so a measure *resolves to a loss*, on beliefs about instances that the members
    have not seen.

    Parameters
    ----------
    estimate : {"calibrated", "expected", "smoothed", "empirical"}
        What the counts are estimated from.  ``"calibrated"`` puts the probabilities in the place of the labels, once a
        sigmoid has brought them into line with these (:func:`comitia.relevance.fit_calibration`; labels with fewer
        than ten relevant instances as they are): little variance, and two parameters a label to be wrong about.
        ``"expected"`` takes them as they are, which is right where they are calibrated.  ``"empirical"`` takes the
        labels: right with many relevant instances, too sure of itself with few.  ``"smoothed"`` is between these two,
        label by label: with m relevant instances the labels weigh m / (m + 10).

    Examples
    --------
    >>> from comitia.measures import MacroF, Measure
    >>> isinstance(MacroF(), Measure)
    True
    """

    title: ClassVar[str] = ""
    """What people call it."""

    terms: ClassVar[Terms] = Terms()
    """How its value is told in plain words."""

    estimate: Estimate = field(default="calibrated", kw_only=True)
    micro: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.estimate not in get_args(Estimate):
            raise ComitiaError(
                f"estimate must be 'calibrated', 'expected', 'smoothed' or 'empirical'; got {self.estimate!r}."
            )

    def value(self, truth: ArrayLike | Any, labeling: ArrayLike | Any, weight: ArrayLike | None = None) -> float:
        """Return the measure of a whole set.

        Parameters
        ----------
        truth, labeling : array-like or sparse matrix of 0/1, shape (n, K)
            The true labels and the predicted ones.
        weight : array-like of float, shape (n,), optional
            How much each instance counts; equal by default.
        """
        counts = confusion(truth, labeling, weight)
        if self._pools_labels():
            counts = tuple(count.sum(keepdims=True) for count in counts)
        return float(np.mean(self._of_counts(*counts)))

    def resolve(self, p: ArrayLike, truth: ArrayLike, weight: ArrayLike | None = None) -> Hamming:
        """Return the loss whose minimiser does best by this measure: Hamming loss with a cut a label.

        Parameters
        ----------
        p : array-like of float, shape (n, K)
            Beliefs about instances that their holders have not learnt from, such as out-of-bag ones.
        truth : array-like of 0/1, shape (n, K)
            Their labels.  A label that none of them has is cut at one half: nothing is known about it.
        weight : array-like of float, shape (n,), optional
            How much each instance counts; equal by default.

        Notes
        -----
        O(nK log n), all labels at once.  Equal values go to the cut that predicts less.  Cuts are of the probabilities
        as they are given, whatever they were found on.
        """
        belief, y, mass = _judged(p, truth, weight)
        calibration = fit_calibration(belief, y, mass, "sigmoid") if self.estimate == "calibrated" else None
        if calibration is not None:
            belief = calibration.apply(belief)
        target = self._target(belief, y, mass)
        if self._pools_labels():
            cells = belief.reshape(-1, 1)
            of_cells = cells if target is belief else target.reshape(-1, 1)
            cut = float(self._cuts(cells, of_cells, np.repeat(mass, y.shape[1]))[0]) if y.any() else 0.5
            if calibration is None or set(calibration.kinds) == {"none"}:
                return Hamming(false_positive=cut, false_negative=1 - cut)
            cuts = np.full(y.shape[1], cut)
        else:
            cuts = np.where(y.any(axis=0), self._cuts(belief, target, mass), 0.5)
        if calibration is not None:
            cuts = _before(calibration, cuts)
        return Hamming(false_positive=tuple(cuts.tolist()), false_negative=tuple((1 - cuts).tolist()))

    def cross_fitted(
        self,
        p: ArrayLike,
        truth: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        constraints: Constraints | None = None,
        seed: int = 0,
    ) -> float:
        """Return an honest estimate of what :meth:`resolve` will reach on new instances.

        The instances are divided at random; each half is decided by the cuts that the other half resolved to, and the
        measure is taken of all of them.  The value of cuts on the instances they were tuned on is too good: the more
        so, the rarer the labels.  With ``constraints`` the answers keep these limits.
        """
        belief, y, mass = _judged(p, truth, weight)
        if len(y) < 2:
            raise ComitiaError(f"cross-fitting takes at least two instances; got {len(y)}.")
        order = np.random.default_rng(seed).permutation(len(y))
        halves = order[: len(y) // 2], order[len(y) // 2 :]
        labeling = np.empty_like(y)
        for tuned, judged in (halves, halves[::-1]):
            loss: Loss = self.resolve(belief[tuned], y[tuned], mass[tuned])
            if constraints is not None:
                loss = Within(loss, constraints)
            labeling[judged] = loss.minimise(Marginals(belief[judged]))
        return self.value(y, labeling, mass)

    @abstractmethod
    def maximise(self, p: ArrayLike) -> LabelArray:
        """Return the answers of the largest expected value for exactly these n instances, of shape (n, K).

        Parameters
        ----------
        p : array-like of float, shape (n, K)
            What is believed of the instances, which are independent of each other.
        """

    @abstractmethod
    def _of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        """Return the measure of each label's counts, or of their sum over labels, element by element."""

    def _pools_labels(self) -> bool:
        """Whether the counts of all labels are added before the measure is taken."""
        return self.micro

    def _cut_at(self, best: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return the cuts where the best values say what they are, for calibrated beliefs."""
        return None

    def _cuts(self, p: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
        cuts, best = best_cuts(p, target, weight, self._of_counts)
        known = self._cut_at(best) if self.estimate in ("calibrated", "expected") else None
        return cuts if known is None else known

    def _target(self, p: FloatArray, y: LabelArray, weight: FloatArray) -> FloatArray:
        """Return what stands for the labels when counts are taken."""
        if self.estimate in ("calibrated", "expected"):
            return p
        if self.estimate == "empirical":
            return y.astype(np.float64)
        relevant = (weight > 0) @ y.astype(np.float64)
        trust = relevant / (relevant + _PRIOR)
        return np.asarray(trust * y + (1 - trust) * p)


def _before(calibration: Calibration, cuts: FloatArray) -> FloatArray:
    """Return the cuts of uncalibrated probabilities that divide them as these divide calibrated ones."""
    low, high = np.zeros(len(cuts)), np.ones(len(cuts))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = calibration.apply(middle[None, :])[0] > cuts
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(np.array(calibration.kinds) == "none", cuts, low)


def confusion(
    truth: ArrayLike | Any, labeling: ArrayLike | Any, weight: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return each label's true positives, false positives, false negatives and true negatives, of shape (K,).

    Parameters
    ----------
    truth, labeling : array-like or sparse matrix of 0/1, shape (n, K)
        The true labels and the predicted ones.
    weight : array-like of float, shape (n,), optional
        How much each instance counts; equal by default.

    Examples
    --------
    >>> from comitia.measures import confusion
    >>> confusion([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    (array([1., 1.]), array([0., 1.]), array([1., 0.]), array([0., 0.]))
    """
    y, h = checked(truth, "truth"), checked(labeling, "labeling")
    if y.shape != h.shape:
        raise ComitiaError(f"truth and labeling must have one shape; got {y.shape} and {h.shape}.")
    mass = _weights(weight, len(y))
    if isinstance(y, LabelRows) or isinstance(h, LabelRows):
        some, found = listed(y).csr(np.float64), listed(h).csr(np.float64)
        tp, relevant, predicted = (np.asarray(cells.T @ mass) for cells in (some.multiply(found), some, found))
    elif (mass == 1).all():
        tp, relevant, predicted = (cells.sum(axis=0, dtype=np.float64) for cells in (y & h, y, h))
    else:
        tp, relevant, predicted = mass @ (y & h), mass @ y, mass @ h
    return tp, predicted - tp, relevant - tp, np.maximum(mass.sum() - relevant - predicted + tp, 0.0)


def _judged(p: ArrayLike, truth: ArrayLike, weight: ArrayLike | None) -> tuple[FloatArray, LabelArray, FloatArray]:
    belief, y = Marginals(np.asarray(p)).p, check_labels(truth, "truth")
    if belief.shape != y.shape:
        raise ComitiaError(f"p and truth must have one shape; got {belief.shape} and {y.shape}.")
    if not len(y):
        raise ComitiaError("p and truth have no instances: there is nothing to tune on.")
    return belief, y, _weights(weight, len(y))


def _weights(weight: ArrayLike | None, n: int) -> FloatArray:
    mass = as_weights("weight", weight, n)
    if n and not mass.any():
        raise ComitiaError("weight must hold some number other than zero.")
    return mass
