"""What a report shows besides mean losses, counted while a cell decides: nothing is fitted or decided again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comitia._baselines import constant_answers
from comitia._labels import LabelArray
from comitia.aggregation import AGGREGATIONS, Beliefs
from comitia.experiments._score import Way
from comitia.losses import Loss, get_loss
from comitia.measures import Measure, confusion
from comitia.measures._registry import loss_of
from comitia.relevance import get_pool, get_reading

BINS = 50
"""Into so many parts of equal width are probabilities counted."""

_DISPUTED = 3
_TIMED = 500


class Details:
    """What a cell keeps for its report.

    Parameters
    ----------
    ensemble : classifier
        It is fitted.
    truth : ndarray of shape (n, K)
        Labels of the instances that were held out.
    places : ndarray of shape (n,)
        Where these stand in the dataset.
    """

    def __init__(self, ensemble: Any, truth: LabelArray, places: NDArray[np.intp]) -> None:
        self._ensemble, self._truth, self._places = ensemble, truth, places
        self._labels: dict[Way, NDArray[np.float64]] = {}
        self._disputed: dict[str, list[tuple[float, int, dict[Way, LabelArray]]]] = {}
        self._bins = np.zeros((3, BINS))
        # What graded voting cuts at one half: the pooled marginals, which are found for it anyway.
        pool, reading = get_pool(ensemble.pool), get_reading("independent")
        self._marginals = AGGREGATIONS["gmv"].decision(get_loss("hamming"), pool, reading)

    def watch(self, beliefs: Beliefs, rows: slice, labelings: Mapping[Way, LabelArray]) -> None:
        """Count what was decided for some of the instances."""
        full = {way: labeling for way, labeling in labelings.items() if way.size == len(self._ensemble.members_)}
        for way, labeling in full.items():
            self.count(way, labeling, rows)
        for loss in dict.fromkeys(way.loss for way in full):
            self._dispute(loss, {way: labeling for way, labeling in full.items() if way.loss == loss}, rows)
        p = beliefs.distribution(self._marginals).marginals().ravel()
        places = np.minimum((p * BINS).astype(np.intp), BINS - 1)
        for row, mass in enumerate((None, p, self._truth[rows].ravel())):
            self._bins[row] += np.bincount(places, mass, BINS)

    def count(self, way: Way, labeling: LabelArray, rows: slice = slice(None)) -> None:
        """Count for each label how often an answer was right and how often not."""
        found = np.stack(confusion(self._truth[rows], labeling)[:3])
        self._labels[way] = self._labels.get(way, 0) + found

    def _dispute(self, loss: str, labelings: Mapping[Way, LabelArray], rows: slice) -> None:
        """Keep the instances on which decisions for a loss differ most."""
        share = np.mean(list(labelings.values()), axis=0)
        doubt = (share * (1 - share)).sum(axis=1)
        known = self._disputed.setdefault(loss, [])
        for place in np.argsort(-doubt, kind="stable")[:_DISPUTED]:
            if doubt[place] > 0:
                answers = {way: labeling[place].copy() for way, labeling in labelings.items()}
                known.append((float(doubt[place]), int(rows.start + place), answers))
        self._disputed[loss] = sorted(known, key=lambda one: -one[0])[:_DISPUTED]

    def found(
        self, learnt_from: LabelArray, targets: Mapping[str, Loss | Measure], X: Any, seconds_to_fit: float
    ) -> dict[str, Any]:
        """Return all of it as plain values: with baselines that saw the same labels, and how long things took."""
        answers = constant_answers(learnt_from)
        return {
            "baselines": {
                loss: {
                    name: loss_of(target, self._truth, np.tile(row, (len(self._truth), 1)))
                    for name, row in answers.items()
                }
                for loss, target in targets.items()
            },
            "labels": [
                {"loss": way.loss, **_how(way), "counts": counts.astype(int).tolist()}
                for way, counts in self._labels.items()
            ],
            "disputed": [
                {
                    "loss": loss,
                    "instance": int(self._places[place]),
                    "doubt": doubt,
                    "truth": np.flatnonzero(self._truth[place]).tolist(),
                    "answers": [{**_how(way), "labels": np.flatnonzero(row).tolist()} for way, row in given.items()],
                }
                for loss, kept in self._disputed.items()
                for doubt, place, given in kept
            ],
            "bins": self._bins.round(9).tolist(),
            "seconds": {"fit": seconds_to_fit, **self._timed(X)},
        }

    def _timed(self, X: Any) -> dict[str, float]:
        """How long one prediction takes, which is not what all decisions of a cell take."""
        part = X.iloc[:_TIMED] if hasattr(X, "iloc") else X[:_TIMED]
        clock = time.perf_counter()
        self._ensemble.predict(part)
        return {"predict": time.perf_counter() - clock, "predicted": part.shape[0]}


def _how(way: Way) -> dict[str, str]:
    return {"aggregation": way.aggregation, "pool": way.pool}
