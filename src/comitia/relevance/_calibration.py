"""Marginals brought into line with what was observed, label by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray, check_labels
from comitia._names import unknown
from comitia.relevance._base import Relevance
from comitia.relevance._marginals import Marginals

Kind = Literal["sigmoid", "isotonic", "oob"]
KINDS: tuple[Kind, ...] = ("sigmoid", "isotonic", "oob")

EPSILON = 1e-6  # how far probabilities are drawn in from 0 and 1 before logarithms
TILT = 1e-3  # share of the uncalibrated probability in an isotonic one: its steps keep the order of what they level
FOLDS = 5
STEPS = 50


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
    >>> from comitia.relevance import Marginals
    >>> from comitia.relevance._calibration import fit_calibration
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

    def __call__(self, relevance: Relevance) -> Marginals:
        """Return the calibrated marginals of a belief."""
        return Marginals.unchecked(p=self.apply(relevance.marginals()))

    def apply(self, p: FloatArray) -> FloatArray:
        """Return calibrated probabilities of shape (n, K)."""
        if p.ndim != 2 or p.shape[1] != len(self.kinds):
            raise ComitiaError(f"p must have shape (n, {len(self.kinds)}), as was calibrated; got {p.shape}.")
        calibrated = p.copy()
        curved = [k for k, kind in enumerate(self.kinds) if kind == "sigmoid"]
        calibrated[:, curved] = _sigmoid(p[:, curved], self.slope[curved], self.shift[curved])
        for k, kind in enumerate(self.kinds):
            if kind == "isotonic":
                knots = slice(self.starts[k], self.starts[k + 1])
                calibrated[:, k] = np.interp(p[:, k], self.x[knots], self.y[knots])
        return calibrated


def fit_calibration(
    p: ArrayLike,
    Y: ArrayLike,
    weight: ArrayLike | None = None,
    kind: Kind = "oob",
    *,
    min_positives: int = 10,
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
    """
    belief, truth = Marginals(np.asarray(p)).p, check_labels(Y, "Y")
    if belief.shape != truth.shape:
        raise ComitiaError(f"p and Y must have one shape; got {belief.shape} and {truth.shape}.")
    if kind not in KINDS:
        raise ComitiaError(unknown("calibration", kind, KINDS))
    w = np.ones(len(belief)) if weight is None else np.asarray(weight, dtype=np.float64)
    if w.shape != (len(belief),) or not (np.isfinite(w).all() and (w >= 0).all()):
        raise ComitiaError(f"weight must hold a finite weight for each of {len(belief)} instances, none negative.")
    belief, truth, w = belief[w > 0], truth[w > 0], w[w > 0]
    positives = truth.sum(axis=0, dtype=np.int64)
    enough = np.minimum(positives, len(truth) - positives) >= max(min_positives, 1)
    wanted = ["none"] * belief.shape[1]
    chosen = _chosen(belief[:, enough], truth[:, enough], w, random_state) if kind == "oob" else [kind] * enough.sum()
    for k, name in zip(np.flatnonzero(enough), chosen, strict=True):
        wanted[k] = name
    return _fitted(belief, truth, w, wanted)


def _chosen(p: FloatArray, Y: LabelArray, w: FloatArray, random_state: int) -> list[str]:
    """Return what is best for each label on instances held out in turn, if it is clearly better than nothing."""
    fold = np.random.default_rng(random_state).permutation(len(p)) % FOLDS
    gain = {name: np.empty(p.shape) for name in ("sigmoid", "isotonic")}
    for f in range(FOLDS):
        held, rest = fold == f, fold != f
        for name, gained in gain.items():
            calibration = _fitted(p[rest], Y[rest], w[rest], [name] * p.shape[1])
            gained[held] = _log_loss(p[held], Y[held]) - _log_loss(calibration.apply(p[held]), Y[held])
    share = (w / w.sum())[:, None]
    chosen, most = ["none"] * p.shape[1], np.zeros(p.shape[1])
    for name, gained in gain.items():
        mean = (share * gained).sum(axis=0)
        error = np.sqrt((share**2 * (gained - mean) ** 2).sum(axis=0))
        for k in np.flatnonzero((mean > error) & (mean > most)):
            chosen[k], most[k] = name, mean[k]
    return chosen


def _log_loss(p: FloatArray, Y: LabelArray) -> FloatArray:
    q = EPSILON + (1 - 2 * EPSILON) * p
    return -np.log(np.where(Y == 1, q, 1 - q))


def _fitted(p: FloatArray, Y: LabelArray, w: FloatArray, wanted: list[str]) -> Calibration:
    K = len(wanted)
    slope, shift = np.ones(K), np.zeros(K)
    curved = np.array([k for k, kind in enumerate(wanted) if kind == "sigmoid"], dtype=np.intp)
    slope[curved], shift[curved] = _fit_sigmoids(p[:, curved], Y[:, curved], w)
    falls = ~(np.isfinite(slope) & np.isfinite(shift) & (slope > EPSILON))
    slope[falls], shift[falls] = 1.0, 0.0
    knots = [_fit_isotonic(p[:, k], Y[:, k], w) if wanted[k] == "isotonic" else np.empty((2, 0)) for k in range(K)]
    x, y = np.concatenate([*knots, np.empty((2, 0))], axis=1)
    return Calibration(
        kinds=tuple("none" if falls[k] else kind for k, kind in enumerate(wanted)),
        slope=slope,
        shift=shift,
        starts=np.cumsum([0, *(part.shape[1] for part in knots)]).astype(np.int64),
        x=x,
        y=y,
    )


def _sigmoid(p: FloatArray, slope: FloatArray, shift: FloatArray) -> FloatArray:
    curve: FloatArray = expit(slope * logit(EPSILON + (1 - 2 * EPSILON) * p) + shift)
    # Where the curve has reached 0 or 1 to the last digit, a millionth of the given probability still rises.
    return (1 - EPSILON) * (EPSILON + (1 - 2 * EPSILON) * curve) + EPSILON * p


def _fit_sigmoids(p: FloatArray, Y: LabelArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Newton's method for slope and shift of all labels at once, each with a step length of its own."""
    z = logit(EPSILON + (1 - 2 * EPSILON) * p)
    positive = w @ Y
    target = np.where(Y == 1, (positive + 1) / (positive + 2), 1 / (w.sum() - positive + 2))

    def objective(slope: FloatArray, shift: FloatArray) -> FloatArray:
        score = slope * z + shift
        value: FloatArray = w @ (np.logaddexp(0, score) - target * score)
        return value

    slope, shift = np.ones(p.shape[1]), np.zeros(p.shape[1])
    value = objective(slope, shift)
    for _ in range(STEPS):
        q = expit(slope * z + shift)
        error, curvature = w[:, None] * (q - target), w[:, None] * q * (1 - q)
        g0, g1 = (error * z).sum(axis=0), error.sum(axis=0)
        h00, h01, h11 = (curvature * z * z).sum(axis=0), (curvature * z).sum(axis=0), curvature.sum(axis=0)
        ridge = 1e-12 * (h00 + h11) + 1e-300
        determinant = (h00 + ridge) * (h11 + ridge) - h01**2
        step0 = ((h11 + ridge) * g0 - h01 * g1) / determinant
        step1 = ((h00 + ridge) * g1 - h01 * g0) / determinant
        length = np.ones(len(slope))
        for _ in range(30):
            trial = objective(slope - length * step0, shift - length * step1)
            worse = ~(trial <= value)
            if not worse.any():
                break
            length[worse] /= 2
        length[worse] = 0.0
        slope, shift = slope - length * step0, shift - length * step1
        settled = value - np.where(worse, value, trial) <= 1e-12 * np.abs(value)
        value = np.where(worse, value, trial)
        if settled.all():
            break
    return slope, shift


def _fit_isotonic(p: FloatArray, y: NDArray[np.int8], w: FloatArray) -> FloatArray:
    """Return knots (2, m) from 0 to 1 of a strictly rising function."""
    fit = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p, y, sample_weight=w)
    x = np.union1d(fit.X_thresholds_, [0.0, 1.0])
    inner = 1 / (len(p) + 2)
    return np.stack([x, (1 - TILT) * (inner + (1 - 2 * inner) * fit.predict(x)) + TILT * x])
