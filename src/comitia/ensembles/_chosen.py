"""Parameters that choose themselves: by what a few members believe of instances which they have not seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from comitia._labels import FloatArray, IntArray, LabelArray, LabelRows, Labels
from comitia.ensembles._samples import Instances, TrainingSet, draw, member_seed

AUTO: Final = "auto"
"""The value of a parameter that is to choose itself."""

# Below so many instances nothing is chosen; no more than these, and no more labels, are looked at.
_FEWEST = 20
_MOST_ROWS = 2000
_MOST_LABELS = 48
# An ensemble of this size is what candidates are compared for: whatever the number of members, the choice is the same.
_OF_MEMBERS = 50
_PURPOSE = 3


@dataclass(frozen=True)
class Trial:
    r"""Some of the training data and a few draws from it, on which candidates for a parameter are compared.

    A candidate is judged by the Brier score that an ensemble of M members would have,

    .. math:: \tfrac1M\, E (p_a - y)^2 + (1 - \tfrac1M)\, E (p_a - y)(p_b - y),

    where a and b are two members that have not seen the instance: their product has in expectation no part of the
    variance that averaging takes away, so a few members tell what many would do.

    Parameters
    ----------
    rows : array of int, shape (u,)
        Which of the training data.
    labels : array of int, shape (L,)
        Which labels are compared: none that is constant.
    Y : array of 0/1, shape (u, L)
    weight : array of float, shape (u,)
    draws : array of float, shape (u, m)
        The sample of each member.
    """

    rows: IntArray
    labels: IntArray
    Y: LabelArray
    weight: FloatArray
    draws: FloatArray

    @classmethod
    def of(cls, data: TrainingSet, entropy: int, members: int) -> Trial | None:
        """Return a trial on the data, or None where there is too little to choose by."""
        n, _ = data.Y.shape
        if n < _FEWEST:
            return None
        rng = np.random.default_rng(member_seed(entropy, 0, _PURPOSE))
        rows = np.sort(rng.permutation(n)[:_MOST_ROWS])
        Y, weight = data.Y[rows], data.weight[rows]
        labels = np.sort(rng.permutation(_varying(Y))[:_MOST_LABELS])
        some = Instances(rows, weight, rows)
        draws = [draw(some, member_seed(entropy, m, _PURPOSE), True, None) for m in range(members)]
        trial = cls(rows, labels, _columns(Y, labels), weight, np.stack(draws, axis=1))
        return trial if len(labels) and trial._pairs.any() else None

    @cached_property
    def unseen(self) -> NDArray[np.bool_]:
        """Which instances each member has not seen, (m, u)."""
        return np.asarray(self.draws.T == 0)

    def judged(self, beliefs: Iterable[FloatArray]) -> FloatArray:
        """Return what each instance adds to the score, (u,): their sum is the Brier score of a whole ensemble.

        Parameters
        ----------
        beliefs : iterable of m arrays of float, shape (instances that the member has not seen, L)
        """
        total, squares = np.zeros(self.Y.shape), np.zeros(self.Y.shape)
        for p, unseen in zip(beliefs, self.unseen, strict=True):
            error = p - self.Y[unseen]
            total[unseen] += error
            squares[unseen] += error**2
        alone = self.weight * squares.mean(axis=1) / (self.weight @ self.unseen.sum(axis=0))
        together = self.weight * (total**2 - squares).mean(axis=1) / (self.weight @ self._pairs)
        return np.asarray(alone / _OF_MEMBERS + together * (1 - 1 / _OF_MEMBERS))

    @property
    def _pairs(self) -> IntArray:
        count = self.unseen.sum(axis=0)
        return np.asarray(count * (count - 1))


def _varying(Y: Labels) -> IntArray:
    """Return the labels that some instances have and others have not."""
    if isinstance(Y, LabelRows):
        count = np.bincount(Y.labels, minlength=Y.n_labels)
        return np.flatnonzero((count > 0) & (count < len(Y)))
    return np.flatnonzero(np.ptp(Y, axis=0))


def _columns(Y: Labels, labels: IntArray) -> LabelArray:
    return np.asarray(Y.csr(np.int8)[:, labels].toarray()) if isinstance(Y, LabelRows) else Y[:, labels]


def better(candidate: FloatArray, usual: FloatArray) -> bool:
    """Whether a candidate's score is smaller by more than two standard errors of the paired difference.

    Another draw of the few members would differ as well, which the errors over instances do not show: hence two.
    """
    gain = usual - candidate
    return bool(gain.sum() > 2 * np.sqrt(((gain - gain.mean()) ** 2).sum()))
