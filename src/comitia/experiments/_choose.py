"""Parameters chosen on the training part of a fold, before the ensemble is fitted to all of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state

from comitia.ensembles._out_of_bag import Judging
from comitia.losses import FLoss

MEMBERS = 10
"""Members that try a candidate: about one in three has not seen an instance, so that it gets three or four votes."""


def choose(
    ensemble: Any,
    candidates: Mapping[str, Sequence[Any]],
    X: Any,
    Y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> dict[str, Any]:
    """Choose parameters by the out-of-bag loss of a small ensemble.

    For each candidate the first ten members of the ensemble are fitted, and every instance is decided by those that
    have not seen it (Breiman, Out-of-bag estimation, 1996): none has to be set aside.  The loss is subset 0/1, decided
    by the mode of the votes; scikit-learn's searches score a multilabel classifier by it as well.  Hamming loss hardly
    tells learners of rare labels apart: predicting none is nearly as good.

    The candidate with the least loss is chosen if it beats the first by more than one standard error; otherwise the
    first: on small data the least is luck.  The standard error is that of the difference, instance by instance.
    Candidates share samples and orders of labels, so it is much smaller than that of either loss.  Of candidates that
    have as many instances wrong, the one with the larger F1-measure counts as the least.

    Parameters
    ----------
    ensemble : classifier
        One of `comitia.ENSEMBLES`, with members that leave instances out; it is left as it is.
    candidates : mapping of str to sequence
        Names of parameters, in scikit-learn's notation (``"estimator__C"``), and their values, the default first.
    X, Y, sample_weight
        The training instances; weights count in the fits and in the loss.

    Returns
    -------
    dict
        A value for every name; empty where there is nothing to choose.

    Examples
    --------
    >>> from comitia import EMODTClassifier
    >>> from comitia.datasets import make_joint
    >>> data = make_joint(300, 4, 3, dependence=0.8, random_state=0).dataset
    >>> choose(EMODTClassifier(random_state=0), {"min_samples_leaf": [100, 5]}, data.X, data.Y)
    {'min_samples_leaf': 5}
    """
    if not candidates:
        return {}
    seed = ensemble.random_state
    if not isinstance(seed, Integral):  # all candidates draw the same samples
        seed = check_random_state(seed).randint(2**31 - 1)
    trial = clone(ensemble).set_params(
        n_estimators=MEMBERS,
        oob_score=True,
        loss="subset01",
        aggregation="ptc-mode",
        # What is chosen is how members are fitted, so they are judged by their beliefs alone.
        reading="independent",
        calibration=None,
        random_state=seed,
    )
    grid: list[dict[str, Any]] = list(ParameterGrid({name: list(values) for name, values in candidates.items()}))
    with warnings.catch_warnings():
        # A few instances are in every sample: they count for no candidate.
        warnings.filterwarnings("ignore", message=".*have no out-of-bag decision")
        wrong, f1 = np.stack([_tried(trial, parameters, X, Y, sample_weight) for parameters in grid], axis=1)
    judged = ~np.isnan(wrong[0])
    weight = np.ones(judged.sum()) if sample_weight is None else np.asarray(sample_weight, np.float64)[judged]
    wrong, f1 = wrong[:, judged], f1[:, judged]
    # As many are as many: counts, which add up without rounding, are compared, and not shares.
    best = int(np.lexsort(((f1 * weight).sum(axis=1), (wrong * weight).sum(axis=1)))[0])
    gain, share = wrong[0] - wrong[best], weight / weight.sum()
    mean = gain @ share
    return grid[best if mean > np.sqrt(share**2 @ (gain - mean) ** 2) else 0]


def _tried(trial: Any, parameters: Mapping[str, Any], X: Any, Y: ArrayLike, sample_weight: ArrayLike | None) -> Any:
    """Return the out-of-bag losses of each instance, (2, n): subset 0/1 loss and one minus the F1-measure."""
    ensemble = clone(trial).set_params(**parameters)
    ensemble._judging = Judging(losses=(FLoss(),), all_ways=False)
    ensemble.fit(X, Y, sample_weight=sample_weight)
    return [ensemble.oob_losses_, ensemble.set_params(loss="f1").oob_losses_]
