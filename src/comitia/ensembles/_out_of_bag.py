"""How every aggregation does on the instances that members have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray
from comitia.aggregation import AGGREGATIONS, advised, get_aggregation
from comitia.ensembles._unseen import Unseen
from comitia.losses import LOSSES, Loss, SubsetZeroOne, get_loss
from comitia.measures import Measure, get_target
from comitia.relevance import Seen, get_pool, get_reading


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Losses of decisions that only members made which have not seen the instance.

    Parameters
    ----------
    weight : array of float, shape (n,)
        Weight of each training instance; zero where no member can judge it.
    proba : array of float, shape (n, K)
        Pooled marginals, NaN where no member can judge the instance.
    values : dict of loss to dict of way of deciding to array of float, shape (n,)
        Loss of each instance, NaN where no member can judge it.
    powers : dict of name to float
        Of the ways that are read over the labelsets that were seen, the power of their counts.
    pool, reading : str
        With what they were found.
    Y : array of 0/1, shape (n, K)
        The labels.
    limits : str
        The limits on answers with which the losses were found.
    """

    weight: FloatArray
    proba: FloatArray
    values: Mapping[str, Mapping[str, FloatArray]]
    powers: Mapping[str, float]
    pool: str
    reading: str
    Y: LabelArray
    limits: str = "None"

    @classmethod
    def of(cls, ensemble: Any, features: Any, Y: LabelArray, weight: FloatArray, unseen: NDArray[np.bool_]) -> OutOfBag:
        """Decide every instance by the members that have not seen it, in every way, for every loss."""
        judged = _judged(weight, unseen)
        losses: dict[str, Loss] = {}
        if ensemble._judges_decisions:
            losses = {name: make() for name, make in LOSSES.items()}
            for own in (get_target(ensemble.loss), *ensemble._also_judged):
                if not isinstance(own, Measure):
                    losses.setdefault(loss_name(own), own)
        pool, reading = get_pool(ensemble.pool), get_reading(ensemble.reading)
        ways = ensemble._ways()
        decisions = {
            loss: {name: ensemble._limited(how.decision(target, pool, read)) for name, (how, read) in ways.items()}
            for loss, target in losses.items()
        }
        values = {loss: {name: np.full(len(Y), np.nan) for name in row} for loss, row in decisions.items()}
        proba = np.full(Y.shape, np.nan)
        belief, done = ensemble._belief(pool), 0
        known = ensemble.observed_.leaving_out(Y[judged], weight[judged])
        for beliefs in ensemble._asked(features, judged, unseen[:, judged].astype(np.float64), known):
            p = beliefs.distribution(belief).marginals()
            rows = judged[done : done + len(p)]
            done += len(p)
            proba[rows] = p
            for loss, row in decisions.items():
                for name, decision in row.items():
                    values[loss][name][rows] = losses[loss]._value(Y[rows], beliefs.decide(decision))
        kept = np.zeros(len(Y))
        kept[judged] = weight[judged]
        powers = {name: read.power for name, (_, read) in ways.items() if isinstance(read, Seen) and read != reading}
        return cls(kept, proba, values, powers, repr(pool), repr(reading), Y, repr(ensemble.constraints))

    @property
    def unseen(self) -> Unseen:
        """What decisions are tuned on: the instances that could be judged."""
        if self not in _UNSEEN:
            judged = self.weight > 0
            rows = slice(None) if judged.all() else judged
            _UNSEEN[self] = Unseen(self.proba[rows], self.Y[rows], self.weight[rows], self.pool)
        return _UNSEEN[self]

    def table(self, pool: Any, reading: Any) -> dict[str, dict[str, float]]:
        """Return the mean loss of every way of deciding, for every loss that is known."""
        self._check(pool, reading)
        return {loss: {how: self.mean(values) for how, values in row.items()} for loss, row in self.values.items()}

    def losses(self, loss: Any, pool: Any, reading: Any) -> Mapping[str, FloatArray]:
        """Return the loss of each instance, (n,), by every way of deciding."""
        self._check(pool, reading)
        if loss_name(loss) not in self.values:
            raise ComitiaError(
                f"no out-of-bag losses are known for {loss!r}: fit with this loss, or choose one of"
                f" {', '.join(map(repr, self.values))}."
            )
        return self.values[loss_name(loss)]

    def choice(self, loss: Any, pool: Any, reading: Any) -> str:
        """Return the name of the way to decide for a loss.

        That is the usual one, unless the one of the smallest loss beats it by more than a standard error of their
        paired difference: on small data the smallest is luck.  The usual one is what the paper advises, and for subset
        0/1 loss the mode of the members' joint distributions where they have them: on no dataset of the paper was that
        worse for trees than the mode of their votes.
        """
        values = self.losses(loss, pool, reading)
        means = {name: self.mean(value) for name, value in values.items()}
        best, usual = min(means, key=means.__getitem__), _usual(get_loss(loss), means)
        gain = values[usual] - values[best]
        return best if self.mean(gain) > self.error(gain) else usual

    def errors(self, pool: Any, reading: Any) -> dict[str, dict[str, float]]:
        """Return the standard error of each way's difference to the advised one, for every loss that is known."""
        self._check(pool, reading)
        usual = {loss: _usual(LOSSES[loss](), row) if loss in LOSSES else "ctp" for loss, row in self.values.items()}
        return {
            loss: {name: self.error(values - row[usual[loss]]) for name, values in row.items()}
            for loss, row in self.values.items()
        }

    def mean(self, values: FloatArray) -> float:
        """Return the weighted mean over the instances that could be judged."""
        judged = self.weight > 0
        return float(np.average(values[judged], weights=self.weight[judged]))

    def error(self, values: FloatArray) -> float:
        """Return the standard error of the weighted mean over the instances that could be judged."""
        judged = self.weight > 0
        share = self.weight[judged] / self.weight[judged].sum()
        return float(np.sqrt(share**2 @ (values[judged] - share @ values[judged]) ** 2))

    def _check(self, pool: Any, reading: Any) -> None:
        for name, now, then in (
            ("pool", repr(get_pool(pool)), self.pool),
            ("reading", repr(get_reading(reading)), self.reading),
        ):
            if now != then:
                raise ComitiaError(
                    f"out-of-bag losses are known for {name} {then}, with which they were found; got {now}. Fit again"
                    " to have them."
                )


# Found once for each, and no part of what is saved.
_UNSEEN: WeakKeyDictionary[OutOfBag, Unseen] = WeakKeyDictionary()


def _usual(loss: Loss, names: Collection[str]) -> str:
    """Return how a loss is decided for without a choice."""
    return "ctp-joint" if isinstance(loss, SubsetZeroOne) and "ctp-joint" in names else advised(loss)


def aggregation_name(aggregation: Any) -> str:
    """Return the name that an aggregation goes by in the table."""
    how = get_aggregation(aggregation, get_loss("hamming"))
    return next((name for name, known in AGGREGATIONS.items() if known == how), repr(how))


def loss_name(loss: Any) -> str:
    """Return the name that a loss goes by in the table."""
    target = get_loss(loss)
    return next((name for name, make in LOSSES.items() if target == make()), repr(target))


def _judged(weight: FloatArray, unseen: NDArray[np.bool_]) -> IntArray:
    judged = np.flatnonzero((weight > 0) & unseen.any(axis=0))
    n_unjudged = np.count_nonzero(weight > 0) - len(judged)
    if n_unjudged:
        warnings.warn(
            f"{n_unjudged} of {len(judged) + n_unjudged} instances, or copies of them, are in the sample of every"
            " member and have no out-of-bag decision: use more members.",
            stacklevel=6,
        )
    if not len(judged):
        raise ComitiaError("no instance is out of bag for any member: use more members or a smaller max_samples.")
    return judged
