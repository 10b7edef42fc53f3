"""Marginals brought into line with what was observed, label by label."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from comitia._arrays import as_count, as_weights
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray, check_labels
from comitia._names import unknown
from comitia.relevance._base import Relevance
from comitia.relevance._calibration_kernels import fit_isotonic, fit_sigmoid
from comitia.relevance._marginals import Marginals

Kind = Literal["sigmoid", "isotonic", "oob"]
KINDS: tuple[Kind, ...] = ("sigmoid", "isotonic", "oob")

EPSILON = 1e-6  # how far probabilities are drawn in from 0 and 1 before logarithms
TILT = 1e-3  # share of the uncalibrated probability in an isotonic one: its steps keep the order of what they level
FOLDS = 5
MIN_POSITIVES = 10
_FITS = ("sigmoid", "isotonic")


@dataclass(frozen=True, eq=False)
class Calibration:
    """A strictly rising map of the marginals of each label: marginals in, marginals out.

    Label k is left alone, or becomes σ(slope_k logit(p) + shift_k), or is interpolated between knots.

    Parameters
    ----------
    kinds : tuple of {"none", "sigmoid", "isotonic"}, of length K
        What is done to each label.
    slope, shift : float arrays, shape (K,)
        Of the labels of kind "sigmoid"; 1 and 0 elsewhere.
    starts : int array, shape (K + 1,)
        Label k has the knots ``starts[k]:starts[k + 1]``; none but of kind "isotonic".
    x, y : float arrays
        The knots of all labels, from 0 to 1 each.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.relevance import Marginals, fit_calibration
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((500, 1))
    >>> Y = rng.random((500, 1)) < truth
    >>> timid = fit_calibration(0.4 + 0.2 * truth, Y, kind="sigmoid")
    >>> timid(Marginals([[0.42], [0.5], [0.58]])).p.round(1).tolist()
    [[0.1], [0.5], [0.9]]
    """

    kinds: tuple[str, ...]
    slope: FloatArray
    shift: FloatArray
    starts: NDArray[np.int64]
    x: FloatArray
    y: FloatArray

    def __post_init__(self) -> None:
        K = len(self.kinds)
        if not set(self.kinds) <= {"none", "sigmoid", "isotonic"} or np.shape(self.starts) != (K + 1,):
            raise ComitiaError("kinds must say what is done to each label, and starts where its knots are.")
        for name, values in (("slope", self.slope), ("shift", self.shift), ("x", self.x), ("y", self.y)):
            if not np.isfinite(values).all():
                raise ComitiaError(f"{name} must hold finite numbers.")
        if np.shape(self.slope) != (K,) or np.shape(self.shift) != (K,) or not (self.slope > 0).all():
            raise ComitiaError(f"slope and shift must hold a number for each of {K} labels, no slope below zero.")
        ends = self.starts[0], self.starts[-1]
        if ends != (0, len(self.x)) or np.shape(self.x) != np.shape(self.y) or np.any(np.diff(self.starts) < 0):
            raise ComitiaError("starts must divide the knots among the labels.")
        for k, kind in enumerate(self.kinds):
            x, y = self._knots(k)
            if bool(len(x)) != (kind == "isotonic"):
                raise ComitiaError(f"label {k} must have knots if it is calibrated by them, and none otherwise.")
            if len(x) and not ((np.diff(x) > 0).all() and (np.diff(y) >= 0).all() and y[0] >= 0 and y[-1] <= 1):
                raise ComitiaError(f"the knots of label {k} must rise, between 0 and 1.")

    def __call__(self, relevance: Relevance) -> Marginals:
        """Return the calibrated marginals of a belief, with the labelsets that it carries."""
        return Marginals.unchecked(p=self.apply(relevance.marginals()), observed=relevance.observed)

    def apply(self, p: FloatArray) -> FloatArray:
        """Return calibrated probabilities of shape (n, K)."""
        if p.ndim != 2 or p.shape[1] != len(self.kinds):
            raise ComitiaError(f"p must have shape (n, {len(self.kinds)}), as was calibrated; got {p.shape}.")
        calibrated = p.copy()
        curved = [k for k, kind in enumerate(self.kinds) if kind == "sigmoid"]
        calibrated[:, curved] = _sigmoid(p[:, curved], self.slope[curved], self.shift[curved])
        for k, kind in enumerate(self.kinds):
            if kind == "isotonic":
                calibrated[:, k] = np.interp(p[:, k], *self._knots(k))
        return calibrated

    def _knots(self, k: int) -> tuple[FloatArray, FloatArray]:
        knots = slice(self.starts[k], self.starts[k + 1])
        return self.x[knots], self.y[knots]


def fit_calibration(
    p: ArrayLike,
    Y: ArrayLike,
    weight: ArrayLike | None = None,
    kind: Kind = "oob",
    *,
    min_positives: int = MIN_POSITIVES,
    random_state: int = 0,
) -> Calibration:
    """Fit a calibration to beliefs about instances that nobody who held them was fitted on.

    Parameters
    ----------
    p : array-like of float, shape (n, K)
        Marginals of such instances: pooled out-of-bag beliefs, say.
    Y : array-like of 0/1, shape (n, K)
        Their labels.
    weight : array-like of float, shape (n,), optional
        An instance of weight w counts as w copies of it.
    kind : {"sigmoid", "isotonic", "oob"}
        ``"sigmoid"`` fits slope and shift of the log odds by maximum likelihood, with Platt's targets
        (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2) in place of 1 and 0; ``"isotonic"`` fits the rising function of the least
        squared error; ``"oob"`` tries both and nothing on instances held out in turn, label by label: the better is
        kept if its log loss is lower than that of doing nothing by more than one standard error of their difference.
    min_positives : int
        A label with fewer instances that have it, or fewer that lack it, is left alone.
    random_state : int
        Deals the instances to the folds of ``"oob"``.

    Returns
    -------
    Calibration

    Notes
    -----
    All maps rise strictly: the order of instances by a label's probability, and ties, stay what they were.  A sigmoid
    that would fall leaves the label alone.  An isotonic fit is drawn in from 0 and 1 by 1 / (n + 2), and a thousandth
    of it is the probability that was given.  Costs O(n K log n) for ``"isotonic"``, a few passes over n K for
    ``"sigmoid"``, and six times both for ``"oob"``.

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines.  Zadrozny and Elkan (2002), Transforming classifier
    scores into accurate multiclass probability estimates, KDD.  Boström (2008), Calibrating random forests, ICMLA: for
    bagged members out-of-bag beliefs calibrate better than a held-out part.

    Examples
    --------
    >>> from comitia.relevance import fit_calibration
    >>> p = [[0.2], [0.3], [0.4], [0.5], [0.6], [0.7]]
    >>> Y = [[0], [0], [0], [1], [1], [1]]
    >>> fit_calibration(p, Y, kind="sigmoid", min_positives=3).kinds, fit_calibration(p, Y).kinds
    (('sigmoid',), ('none',))
    """
    belief, truth = Marginals(np.asarray(p)).p, check_labels(Y, "Y")
    if belief.shape != truth.shape:
        raise ComitiaError(f"p and Y must have one shape; got {belief.shape} and {truth.shape}.")
    check_kind(kind)
    as_count("min_positives", min_positives, 0, 2**53)
    as_count("random_state", random_state, 0, 2**63 - 1)
    w = as_weights("weight", weight, len(belief))
    belief, truth, w = belief[w > 0], truth[w > 0], w[w > 0]
    rows = _Rows.of(belief, truth, min_positives)
    return rows.fitted(w, rows.chosen(w, kind, _dealt(belief, truth, random_state)))


def check_kind(kind: str | None) -> Kind | None:
    """Return the kind of a calibration, None for none, or say which there are."""
    if kind is None:
        return None
    for known in KINDS:
        if isinstance(kind, str) and kind == known:
            return known
    raise ComitiaError(unknown("calibration", kind, KINDS))


def cross_fitted(p: FloatArray, Y: LabelArray, weight: FloatArray, kind: Kind, *, random_state: int = 0) -> FloatArray:
    """Return calibrated probabilities of shape (n, K), each by what other instances alone have chosen and fitted."""
    rows, fold = _Rows.of(p, Y), _dealt(p, Y, random_state)
    calibrated = p.copy()
    for f, wanted in rows.chosen_without_each(weight, kind, fold).items():
        held = fold == f
        calibrated[held] = rows.fitted(weight * ~held, wanted).apply(p[held])
    return calibrated


@dataclass(frozen=True, eq=False)
class _Rows:
    """What is fitted to.  Fits are given weights: an instance of weight zero is not there."""

    p: FloatArray
    Y: LabelArray
    least: int
    # The same, label by label: probabilities, their log odds, labels, and what sorts the probabilities.
    of_label: tuple[tuple[FloatArray, FloatArray, FloatArray, NDArray[np.int64]], ...]

    @classmethod
    def of(cls, p: FloatArray, Y: LabelArray, min_positives: int = MIN_POSITIVES) -> _Rows:
        beliefs, labels = np.ascontiguousarray(p.T), np.ascontiguousarray(Y.T, dtype=np.float64)
        odds, order = logit(EPSILON + (1 - 2 * EPSILON) * beliefs), np.argsort(beliefs, axis=1, kind="stable")
        return cls(p, Y, max(min_positives, 1), tuple(zip(beliefs, odds, labels, order, strict=True)))

    def chosen(self, w: FloatArray, kind: Kind, fold: NDArray[np.int64]) -> list[str]:
        """Return what is done to each label, for ``"oob"`` what is best on instances held out in turn."""
        if kind != "oob":
            return self._where_enough(w, [kind] * len(self.of_label))
        return self._best(w, [self._gains(w, fold == f, [fold == f])[0] for f in np.unique(fold)])

    def chosen_without_each(self, w: FloatArray, kind: Kind, fold: NDArray[np.int64]) -> dict[int, list[str]]:
        """Return the same for each fold that is left out.

        What is fitted without two folds says of either what it is worth to those who do not know the other.
        """
        folds: list[int] = np.unique(fold).tolist()
        if kind != "oob":
            return {f: self.chosen(w * (fold != f), kind, fold) for f in folds}
        gains: dict[int, list[FloatArray]] = {f: [] for f in folds}
        for f, g in combinations(folds, 2):
            on_g, on_f = self._gains(w, (fold == f) | (fold == g), [fold == g, fold == f])
            gains[f].append(on_g)
            gains[g].append(on_f)
        return {f: self._best(w * (fold != f), gains[f]) for f in folds}

    def fitted(self, w: FloatArray, wanted: list[str]) -> Calibration:
        """Fit what is wanted of each label."""
        slope, shift = np.ones(len(wanted)), np.zeros(len(wanted))
        knots = [np.empty((2, 0))] * len(wanted)
        for k, (p, odds, y, order) in enumerate(self.of_label):
            if wanted[k] == "sigmoid":
                slope[k], shift[k] = fit_sigmoid(odds, y, w, 1.0, 0.0)
            elif wanted[k] == "isotonic":
                knots[k] = _drawn_in(fit_isotonic(p, y, w, order), int(np.count_nonzero(w)))
        falls = ~(np.isfinite(slope) & np.isfinite(shift) & (slope > EPSILON))
        slope[falls], shift[falls] = 1.0, 0.0
        x, y = np.concatenate([*knots, np.empty((2, 0))], axis=1)
        kinds = tuple("none" if falls[k] else kind for k, kind in enumerate(wanted))
        starts = np.cumsum([0, *(part.shape[1] for part in knots)]).astype(np.int64)
        return Calibration(kinds, slope, shift, starts, x, y)

    def _gains(self, w: FloatArray, held: NDArray[np.bool_], parts: list[NDArray[np.bool_]]) -> list[FloatArray]:
        """Return, for parts of what is held out, Σ w g, Σ w² g and Σ w² g² of the log loss g that each fit saves."""
        fits = [self.fitted(w * ~held, self._where_enough(w * ~held, [name] * len(self.of_label))) for name in _FITS]
        found = []
        for part in parts:
            p, Y, mass = self.p[part], self.Y[part], w[part]
            saved = (_log_loss(p, Y) - _log_loss(fit.apply(p), Y) for fit in fits)
            found.append(np.stack([[mass @ gain, mass**2 @ gain, mass**2 @ gain**2] for gain in saved]))
        return found

    def _best(self, w: FloatArray, gains: list[FloatArray]) -> list[str]:
        """Return the fit that saves the most log loss, where that is more than its standard error."""
        chosen, most = ["none"] * len(self.of_label), np.zeros(len(self.of_label))
        if gains:
            for name, (first, second, square) in zip(_FITS, np.sum(gains, axis=0), strict=True):
                mean = first / w.sum()
                error = np.sqrt(np.maximum(square - 2 * mean * second + mean**2 * (w @ w), 0)) / w.sum()
                for k in np.flatnonzero((mean > error) & (mean > most)):
                    chosen[k], most[k] = name, mean[k]
        return self._where_enough(w, chosen)

    def _where_enough(self, w: FloatArray, wanted: list[str]) -> list[str]:
        there = (w > 0).astype(np.float64)
        positives = there @ self.Y
        enough = np.minimum(positives, there.sum() - positives) >= self.least
        return [kind if enough[k] else "none" for k, kind in enumerate(wanted)]


def _dealt(p: FloatArray, Y: LabelArray, random_state: int) -> NDArray[np.int64]:
    """Deal instances to folds by what they are: copies of one are together, in whatever order they are given."""
    key = random_state.to_bytes(8, "little")
    rows = (
        row.tobytes() + labels.tobytes() for row, labels in zip(np.round(p, 9) + 0.0, Y.astype(np.int8), strict=True)
    )
    prints = [int.from_bytes(blake2b(row, digest_size=8, key=key).digest(), "little") for row in rows]
    return np.unique(np.array(prints, np.uint64), return_inverse=True)[1].ravel() % FOLDS


def _log_loss(p: FloatArray, Y: LabelArray) -> FloatArray:
    q = EPSILON + (1 - 2 * EPSILON) * p
    return -np.log(np.where(Y == 1, q, 1 - q))


def _sigmoid(p: FloatArray, slope: FloatArray, shift: FloatArray) -> FloatArray:
    curve: FloatArray = expit(slope * logit(EPSILON + (1 - 2 * EPSILON) * p) + shift)
    # Where the curve has reached 0 or 1 to the last digit, a millionth of the given probability still rises.
    return (1 - EPSILON) * (EPSILON + (1 - 2 * EPSILON) * curve) + EPSILON * p


def _drawn_in(steps: FloatArray, n: int) -> FloatArray:
    """Return knots (2, m) from 0 to 1 of a strictly rising function that follows these steps."""
    x = np.union1d(steps[0], [0.0, 1.0])
    inner = 1 / (n + 2)
    return np.stack([x, (1 - TILT) * (inner + (1 - 2 * inner) * np.interp(x, *steps)) + TILT * x])
