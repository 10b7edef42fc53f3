"""Datasets that need no files: handwritten digits on a seven-segment display, and data whose distribution is known."""

from __future__ import annotations

from sys import float_info
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits
from sklearn.utils import check_random_state

from comitia._arrays import as_count, lies_in
from comitia._errors import ComitiaError
from comitia.datasets._dataset import Dataset

Floats = npt.NDArray[np.float64]

# The segments a (top), b, c, d, e, f (clockwise from there) and g (middle) that the digits 0 to 9 light.
_SEGMENTS = ("abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg")


def load_seven_segment() -> Dataset:
    """Handwritten digits whose labels are the seven segments of a digital display that the digit lights.

    The images are scikit-learn's 1,797 digits of 8 × 8 pixels.  Of the 128 labelsets only ten occur, one for each
    digit: labels depend strongly on each other, and a labeling made label by label is often no digit at all.

    Examples
    --------
    >>> from comitia.datasets import load_seven_segment
    >>> load_seven_segment()
    Dataset(name='seven-segment', n=1797, d=64, K=7, cardinality=4.890, density=0.699)
    """
    digits = load_digits()
    lit = np.array([[segment in segments for segment in "abcdefg"] for segments in _SEGMENTS], dtype=np.int8)
    return Dataset(
        X=np.asarray(digits.data, dtype=np.float64),
        Y=lit[digits.target],
        feature_names=tuple(digits.feature_names),
        label_names=tuple("abcdefg"),
        name="seven-segment",
    )


class JointSample(NamedTuple):
    """A dataset and the distribution from which its labels were drawn.

    Parameters
    ----------
    dataset : Dataset
    labelings : array of 0/1, shape (2^K, K)
        All labelings, one a row.
    probabilities : array of float, shape (n, 2^K)
        Of each labeling given each instance; rows sum to one.

    Examples
    --------
    >>> from comitia.datasets import make_joint
    >>> sample = make_joint(5, 3, 2, 0.5, random_state=0)
    >>> sample.labelings.shape, sample.probabilities.shape
    ((4, 2), (5, 4))
    """

    dataset: Dataset
    labelings: npt.NDArray[np.int8]
    probabilities: Floats


def make_joint(
    n: int,
    n_features: int,
    n_labels: int,
    dependence: float,
    *,
    signal: float = 2.0,
    prevalence: float = 0.3,
    random_state: Any = None,
) -> JointSample:
    r"""Draw data whose conditional joint distribution of the labels is known.

    The features are standard normal.  The marginals are logistic: :math:`p_k(x) = \sigma(a + s\, w_k^\top x)` with
    random unit vectors :math:`w_k`, the signal s, and an intercept a that gives the prevalence at :math:`x = 0`.  The
    joint mixes two distributions that both have these marginals,

    .. math::

        P(y \mid x) = (1 - \rho) \prod_k p_k(x)^{y_k} (1 - p_k(x))^{1 - y_k}
                      + \rho \, \Pr\bigl(y_k = [u_k < p_k(x)] \text{ for all } k\bigr),

    independent labels, and labels that all follow one uniform u: half of them by :math:`u_k = u`, the others, which
    exclude the first, by :math:`u_k = 1 - u`.  The dependence ρ thus changes nothing but the dependence: the best
    decision for the Hamming loss is the same for every ρ, that for the subset 0/1 loss or F1 is not.

    Parameters
    ----------
    n, n_features : int
        Number of instances and of features.
    n_labels : int
        Number of labels K, at most 16: the distribution is a table of n × 2^K.
    dependence : float
        ρ, from 0 (labels independent given x) to 1.
    signal : float
        Standard deviation of the logits; the larger, the more x tells.
    prevalence : float
        Probability of each label at x = 0.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    JointSample
        ``dataset``, ``labelings`` (2^K, K) and ``probabilities`` (n, 2^K).

    Examples
    --------
    The least risk that any method can have under the subset 0/1 loss:

    >>> from comitia.datasets import make_joint
    >>> dataset, labelings, probabilities = make_joint(1000, 5, 3, dependence=0.8, random_state=0)
    >>> float((1 - probabilities.max(axis=1)).mean().round(3))
    0.455
    """
    _check_joint(n, n_features, n_labels, dependence, signal, prevalence)
    random = check_random_state(random_state)
    X = random.standard_normal((n, n_features))
    directions = random.standard_normal((n_features, n_labels))
    directions /= np.linalg.norm(directions, axis=0)
    logits = signal * X @ directions + np.log(prevalence / (1 - prevalence))
    marginals = 1 / (1 + np.exp(-logits))
    labelings = (np.arange(2**n_labels)[:, None] >> np.arange(n_labels) & 1).astype(np.int8)
    probabilities = (1 - dependence) * _independent(marginals, labelings)
    if dependence > 0:
        probabilities += dependence * _following_one(marginals, labelings)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    below = random.random_sample((n, 1)) > probabilities.cumsum(axis=1)
    drawn = np.minimum(below.sum(axis=1), len(labelings) - 1)
    names = tuple(f"x{j}" for j in range(n_features)), tuple(f"y{k}" for k in range(n_labels))
    return JointSample(Dataset(X, labelings[drawn], *names, name="joint"), labelings, probabilities)


def _check_joint(n: int, n_features: int, n_labels: int, dependence: float, signal: float, prevalence: float) -> None:
    for name, number, most in (("n", n, 2**31 - 1), ("n_features", n_features, 2**31 - 1), ("n_labels", n_labels, 16)):
        as_count(name, number, 1, most)
    if not lies_in(dependence, 0, 1):
        raise ComitiaError(f"dependence must lie in [0, 1]; got {dependence!r}.")
    if not lies_in(signal, 0, float_info.max):
        raise ComitiaError(f"signal must be finite and not negative; got {signal!r}.")
    if not (lies_in(prevalence, 0, 1) and 0 < prevalence < 1):
        raise ComitiaError(f"prevalence must lie between 0 and 1; got {prevalence!r}.")


def _independent(marginals: Floats, labelings: npt.NDArray[np.int8]) -> Floats:
    probabilities = np.ones((len(marginals), len(labelings)))
    for k, p in enumerate(marginals.T):
        probabilities *= np.where(labelings[:, k] == 1, p[:, None], 1 - p[:, None])
    return probabilities


def _following_one(marginals: Floats, labelings: npt.NDArray[np.int8]) -> Floats:
    """Each labeling holds for u in an interval: above all lower bounds that its labels set and below all upper ones."""
    lower = np.zeros((len(marginals), len(labelings)))
    upper = np.ones_like(lower)
    for k, p in enumerate(marginals.T):
        relevant = labelings[:, k] == 1
        if k % 2 == 0:  # relevant where u < p
            upper[:, relevant] = np.minimum(upper[:, relevant], p[:, None])
            lower[:, ~relevant] = np.maximum(lower[:, ~relevant], p[:, None])
        else:  # relevant where 1 - u < p
            lower[:, relevant] = np.maximum(lower[:, relevant], 1 - p[:, None])
            upper[:, ~relevant] = np.minimum(upper[:, ~relevant], 1 - p[:, None])
    return np.maximum(upper - lower, 0.0)
