"""Whether probabilities mean what they say: how often labels are relevant, by how probable they were thought to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, check_labels
from comitia.report.figures._look import INK, MUTED, SMALL, TEXT, TITLE, quiet

_COLOUR = "#0072b2"


@dataclass(frozen=True, eq=False)
class Reliability:
    """Probabilities of one label, or of all of them, in bins of equal width; bins without any are left out.

    Parameters
    ----------
    name : str
        Whose.
    believed, observed : array of float, shape (B,)
        Mean probability of a bin, and the share of it that is relevant.
    share : array of float, shape (B,)
        Share of all probabilities that are in the bin.

    Examples
    --------
    >>> from comitia.report.figures import reliability
    >>> found = reliability([[1], [1], [0], [1]], [[0.8], [0.8], [0.8], [0.8]], worst=0)[0]
    >>> found.believed, found.observed
    (array([0.8]), array([0.75]))
    """

    name: str
    believed: FloatArray
    observed: FloatArray
    share: FloatArray

    @property
    def error(self) -> float:
        """Mean difference of the two over all probabilities, Σ_b share_b |believed_b − observed_b|."""
        return float(self.share @ np.abs(self.believed - self.observed))


def reliability(
    truth: ArrayLike, probabilities: ArrayLike, names: Sequence[str] = (), *, worst: int = 3, bins: int = 10
) -> list[Reliability]:
    """Return how reliable probabilities are: of all labels together, and of those for which they are the least so.

    Parameters
    ----------
    truth : array-like of 0/1, shape (n, K)
    probabilities : array-like of float, shape (n, K)
        Rows with NaN, such as those of instances that every member has seen, are passed over.
    names : sequence of str, optional
        Of the labels; their numbers by default.
    worst : int
        How many labels.
    bins : int
        Number of bins between 0 and 1.

    References
    ----------
    Niculescu-Mizil and Caruana (2005), Predicting good probabilities with supervised learning, ICML.

    Examples
    --------
    >>> from comitia.report.figures import reliability
    >>> found = reliability([[1, 0], [1, 1], [0, 0], [1, 0]], [[0.8, 0.1], [0.8, 0.2], [0.8, 0.2], [0.8, 0.1]], worst=1)
    >>> [(one.name, round(one.error, 3)) for one in found]
    [('all labels', 0.125), ('y1', 0.2)]
    """
    Y, p = check_labels(truth, "truth"), np.asarray(probabilities, dtype=np.float64)
    if p.shape != Y.shape:
        raise ComitiaError(f"truth and probabilities must have one shape; got {Y.shape} and {p.shape}.")
    known = ~np.isnan(p).any(axis=1)
    Y, p = Y[known], p[known]
    if not len(p) or not (p.min() >= 0 and p.max() <= 1):
        raise ComitiaError("probabilities must lie in [0, 1], for one instance or more.")
    labels = [str(name) for name in names] or [f"y{k}" for k in range(Y.shape[1])]
    if len(labels) != Y.shape[1]:
        raise ComitiaError(f"names must name each of {Y.shape[1]} labels; got {len(labels)}.")
    each = [_binned(name, Y[:, [k]], p[:, [k]], bins) for k, name in enumerate(labels)]
    each.sort(key=lambda one: -one.error)
    return [_binned("all labels", Y, p, bins), *each[:worst]]


def reliability_diagram(
    truth: ArrayLike, probabilities: ArrayLike, names: Sequence[str] = (), *, worst: int = 3, bins: int = 10
) -> Figure:
    """Draw what :func:`reliability` finds: on the diagonal, probabilities mean what they say.

    A circle is a bin, and its area the share of probabilities that are in it.  For a fitted ensemble with
    ``oob_score=True``, ``reliability_diagram(Y, ensemble.oob_proba_, ensemble.label_names_)`` shows beliefs about
    instances that members have not seen, as they are calibrated.

    Parameters
    ----------
    truth, probabilities, names, worst, bins
        As for :func:`reliability`.

    Returns
    -------
    Figure
        A panel for all labels, and one for each of the worst.

    Examples
    --------
    >>> from comitia.report.figures import reliability_diagram
    >>> figure = reliability_diagram([[1, 0], [1, 1], [0, 0]], [[0.8, 0.1], [0.8, 0.2], [0.8, 0.2]], worst=2)
    >>> len(figure.axes)
    3
    """
    found = reliability(truth, probabilities, names, worst=worst, bins=bins)
    figure = Figure(figsize=(0.6 + 2.0 * len(found), 2.6), layout="constrained")
    for axes, one in zip(figure.subplots(1, len(found), squeeze=False, sharey=True)[0], found, strict=True):
        quiet(axes)
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, zorder=1)
        axes.plot(one.believed, one.observed, color=_COLOUR, linewidth=1.2, zorder=2)
        axes.scatter(one.believed, one.observed, s=6 + 150 * one.share, color=_COLOUR, alpha=0.7, zorder=3)
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), aspect="equal")
        axes.set_title(one.name, fontsize=TITLE, color=INK, parse_math=False)
        axes.annotate(f"off by {100 * one.error:.1f} points", (0.02, 0.95), fontsize=SMALL, color=MUTED)
    figure.supxlabel("Probability", fontsize=TEXT, color=INK)
    figure.supylabel("Share that is relevant", fontsize=TEXT, color=INK)
    return figure


def _binned(name: str, Y: np.ndarray, p: FloatArray, bins: int) -> Reliability:
    place = np.minimum((p * bins).astype(np.intp), bins - 1).ravel()
    count = np.bincount(place, minlength=bins)
    some = count > 0
    believed, observed = (np.bincount(place, values.ravel(), bins)[some] / count[some] for values in (p, Y))
    return Reliability(name, believed, observed, count[some] / count.sum())
