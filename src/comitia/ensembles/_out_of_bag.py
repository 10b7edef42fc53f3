"""How every aggregation does on the instances that members have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from comitia._arrays import check_form
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelRows, Labels, dense, listed
from comitia._threads import slices
from comitia._titles import BETWEEN
from comitia.aggregation import Beliefs, Decision, Pooled, Votes
from comitia.aggregation._kinds import CALIBRATED as _CALIBRATED
from comitia.aggregation._kinds import advised_among
from comitia.ensembles._asking import Part, joined
from comitia.ensembles._parameters import chosen_out_of_bag
from comitia.ensembles._unseen import Unseen
from comitia.losses import LOSSES, Hamming, JaccardLoss, Loss, get_loss
from comitia.measures import Measure, get_target
from comitia.relevance import Calibration, Marginals, Observed, Pool, Reading, get_pool, get_reading, mean
from comitia.relevance._calibration import Kind, check_kind

CALIBRATED = f"{BETWEEN}{_CALIBRATED}"
"""Ends the name of a way of deciding whose pooled marginals are calibrated."""

# Calibrated marginals are decided about this many labels, or labelsets, at a time.
_CELLS_AT_ONCE = 1 << 22
_SETS_OF_A_ROW = 256


@dataclass(frozen=True)
class Judging:
    """What is judged out of bag, beside the loss and the way of deciding in use.

    Parameters
    ----------
    losses : tuple of Loss or Measure, or None
        None for all that have a name, so that any of them may be asked for after a fit; but none where a measure of a
        whole set is decided by an aggregation that was named: its cuts come from beliefs alone.
    all_ways : bool
        Whether every way of deciding is; without them there is nothing to choose from.
    """

    losses: tuple[Loss | Measure, ...] | None = None
    all_ways: bool = True


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Losses of decisions that only members made which have not seen the instance.

    Parameters
    ----------
    weight : array of float, shape (n,)
        Weight of each training instance; zero where no member can judge it.
    proba : array of float, shape (n, K), or SparseMarginals
        Pooled marginals, NaN where no member can judge the instance; sparse where labels are lists, and zero there.
    values : dict of loss to dict of way of deciding to array of float, shape (n,)
        Loss of each instance, NaN where no member can judge it.
    pool, reading : str
        With what they were found.
    Y : array of 0/1, shape (n, K), or LabelRows
        The labels.
    limits : str
        The limits on answers with which the losses were found.
    calibration : str or None
        The calibration that ways with names that end so are of.
    calibrations : dict of kind to Calibration
        What was fitted to the marginals: found once, and saved with them.
    """

    weight: FloatArray
    proba: FloatArray | SparseMarginals
    values: Mapping[str, dict[str, FloatArray]]
    pool: str
    reading: str
    Y: Labels
    limits: str = "None"
    calibration: Kind | None = None
    calibrations: dict[str, Calibration] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.Y, LabelRows):
            check_form("Y", self.Y, np.int8, (None, None))
        check_form("weight", self.weight, np.float64, self.Y.shape[:1])
        if not isinstance(self.proba, SparseMarginals):
            check_form("proba", self.proba, np.float64, self.Y.shape)
        elif self.proba.rows.shape != self.Y.shape:
            raise ComitiaError(f"proba must have the shape {self.Y.shape} of Y; got {self.proba.rows.shape}.")
        for loss, row in self.values.items():
            for way, value in row.items():
                check_form(f"{loss} by {way}", value, np.float64, self.Y.shape[:1])

    @classmethod
    def of(cls, ensemble: Any, features: Any, Y: Labels, weight: FloatArray, unseen: NDArray[np.bool_]) -> OutOfBag:
        """Decide every instance by the members that have not seen it, in every way, for every loss."""
        judged = _judged(weight, unseen)
        losses: dict[str, Loss] = {}
        asked = (get_target(ensemble.loss), *(ensemble._judging.losses or ()))
        chooses = chosen_out_of_bag(ensemble.aggregation)
        if ensemble._judges_decisions:
            if ensemble._judging.losses is None and (chooses or not isinstance(asked[0], Measure)):
                losses = {name: make() for name, make in LOSSES.items()}
            for target in asked:
                if not isinstance(target, Measure):
                    losses.setdefault(loss_name(target), target)
        pool, reading = get_pool(ensemble.pool), get_reading(ensemble.reading)
        ways = ensemble._ways()
        decisions: dict[str, dict[str, Decision]] = {
            loss: {name: ensemble._limited(how.decision(target, pool, read)) for name, (how, read) in ways.items()}
            for loss, target in losses.items()
        }
        if not any(isinstance(target, JaccardLoss) for target in asked):
            over_seen = ensemble._believes_in_seen
            decisions = {loss: _without_searches(row, reading, over_seen) for loss, row in decisions.items()}
        values: dict[str, dict[str, FloatArray]] = {
            loss: {name: np.full(len(Y), np.nan) for name in row} for loss, row in decisions.items()
        }
        known = ensemble.observed_.leaving_out(Y[judged], weight[judged])
        proba = _judge(ensemble, features, Y, judged, unseen, known, decisions, losses, values)
        kept = np.zeros(len(Y))
        kept[judged] = weight[judged]
        names = repr(pool), repr(reading)
        found = cls(kept, proba, values, *names, Y, repr(ensemble.constraints), check_kind(ensemble.calibration))
        if found.calibration is not None:
            found.unseen.calibration(found.calibration)
            found._judge_calibrated(decisions, losses, pool, known)
        return found

    @property
    def unseen(self) -> Unseen:
        """What decisions are tuned on: the instances that could be judged."""
        if self not in _UNSEEN:
            judged = self.weight > 0
            rows = slice(None) if judged.all() else judged
            p = self.proba.csr().toarray() if isinstance(self.proba, SparseMarginals) else self.proba
            _UNSEEN[self] = Unseen(
                p[rows], dense(self.Y[rows]), self.weight[rows], self.pool, calibrations=self.calibrations
            )
        return _UNSEEN[self]

    def calibrated(self, calibration: str | None) -> Any:
        """Return the pooled marginals of all instances, each calibrated by what was fitted to others.

        As they are, and where labels are lists, they are a CSR matrix.
        """
        kind = check_kind(calibration)
        if kind is None:
            return self.proba.csr() if isinstance(self.proba, SparseMarginals) else self.proba
        p = np.full(self.Y.shape, np.nan)
        p[self.weight > 0] = self.unseen.calibrated(kind).p
        return p

    def table(self, pool: Any, reading: Any, calibration: str | None) -> dict[str, dict[str, float]]:
        """Return the mean loss of every way of deciding, for every loss that is known."""
        self._check(pool, reading, calibration)
        known = {loss: self._ways(row, calibration) for loss, row in self.values.items()}
        return {loss: {how: self.mean(values) for how, values in row.items()} for loss, row in known.items()}

    def losses(self, loss: Any, pool: Any, reading: Any, calibration: str | None) -> Mapping[str, FloatArray]:
        """Return the loss of each instance, (n,), by every way of deciding."""
        self._check(pool, reading, calibration)
        if loss_name(loss) not in self.values:
            known = f", or choose one of {', '.join(map(repr, self.values))}" if self.values else ""
            raise ComitiaError(f"no out-of-bag losses are known for {loss!r}: fit with this loss{known}.")
        return self._ways(self.values[loss_name(loss)], calibration)

    def choice(self, loss: Any, pool: Any, reading: Any, calibration: str | None) -> str:
        """Return the name of the way to decide for a loss.

        That is the usual one, unless the one of the smallest loss beats it by more than a standard error of their
        paired difference: on small data the smallest is luck.  Where that is so and the usual one is as good, within
        this error, once it is calibrated, that is taken.  The usual one is what the paper advises, and for subset 0/1
        loss the mode of the members' joint distributions where they have them: on no dataset of the paper was that
        worse for trees than the mode of their votes.
        """
        values = self.losses(loss, pool, reading, calibration)
        usual = values[_usual(get_loss(loss), values)]
        means = {name: self.mean(value) for name, value in values.items()}
        return best_way(get_loss(loss), means, {name: self.error(value - usual) for name, value in values.items()})

    def errors(self, pool: Any, reading: Any, calibration: str | None) -> dict[str, dict[str, float]]:
        """Return the standard error of each way's difference to the advised one, for every loss that is known."""
        self._check(pool, reading, calibration)
        known = {loss: self._ways(row, calibration) for loss, row in self.values.items()}
        usual = {loss: _usual(LOSSES[loss]() if loss in LOSSES else Hamming(), row) for loss, row in known.items()}
        return {
            loss: {name: self.error(values - row[usual[loss]]) for name, values in row.items()}
            for loss, row in known.items()
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

    def _ways(self, row: Mapping[str, FloatArray], calibration: str | None) -> dict[str, FloatArray]:
        """Return the ways of deciding that a calibration leaves: with ``"oob"`` both are there to choose from."""
        if calibration == "oob":
            return dict(row)
        if calibration is None:
            return {name: values for name, values in row.items() if not name.endswith(CALIBRATED)}
        return {name: values for name, values in row.items() if name + CALIBRATED not in row}

    def _judge_calibrated(
        self, decisions: Mapping[str, Mapping[str, Decision]], losses: Mapping[str, Loss], pool: Pool, known: Observed
    ) -> None:
        """Decide by calibrated marginals wherever marginals are pooled, each instance by what was fitted to others."""
        p, judged = self.calibrated(self.calibration), np.flatnonzero(self.weight > 0)
        # They are pooled already: the mean of one belief is that belief.
        twins = {
            (loss, name): replace(decision, over=Pooled(mean))
            for loss, row in decisions.items()
            for name, decision in row.items()
            if decision.pools_marginals(pool)
        }
        for loss, name in twins:
            self.values[loss][name + CALIBRATED] = np.full(len(self.Y), np.nan)
        size = max(1, _CELLS_AT_ONCE // max(_SETS_OF_A_ROW, p.shape[1]))
        for part in slices(len(judged), size):
            rows = judged[part]
            belief = Marginals.unchecked(p=p[rows], observed=known.take(part))
            beliefs = Beliefs(partial(_itself, belief))
            for (loss, name), decision in twins.items():
                found = losses[loss]._value(dense(self.Y[rows]), beliefs.decide(decision))
                self.values[loss][name + CALIBRATED][rows] = found

    def _check(self, pool: Any, reading: Any, calibration: str | None) -> None:
        # Decisions without a calibration are always judged.
        kind = check_kind(calibration) or self.calibration
        for name, now, then in (
            ("calibration", repr(kind), repr(self.calibration)),
            ("pool", repr(get_pool(pool)), self.pool),
            ("reading", repr(get_reading(reading)), self.reading),
        ):
            if now != then:
                raise ComitiaError(
                    f"out-of-bag losses are known for {name} {then}, with which they were found; got {now}. Fit again"
                    " to have them."
                )


@dataclass(frozen=True, eq=False)
class SparseMarginals:
    """Marginals of which most are zero: those of the labels that each of n rows lists.

    Parameters
    ----------
    rows : LabelRows
    p : array of float
        As many as there are labels in the lists.
    """

    rows: LabelRows
    p: FloatArray

    def __post_init__(self) -> None:
        check_form("p", self.p, np.float64, self.rows.labels.shape)

    @classmethod
    def of(cls, some: csr_array, rows: IntArray, n: int) -> SparseMarginals:
        """Return the marginals of n instances, of which these rows have some and the others none."""
        some.sort_indices()
        lengths = np.zeros(n, np.int64)
        lengths[rows] = np.diff(some.indptr)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return cls(LabelRows(starts, some.indices.astype(np.int32), int(some.shape[1])), some.data)

    def csr(self) -> csr_array:
        """Return them as a CSR matrix."""
        return csr_array((self.p, self.rows.labels, self.rows.starts), shape=self.rows.shape)


def _judge(
    ensemble: Any,
    features: Any,
    Y: Labels,
    judged: IntArray,
    unseen: NDArray[np.bool_],
    known: Observed,
    decisions: Mapping[str, Mapping[str, Decision]],
    losses: Mapping[str, Loss],
    values: Mapping[str, dict[str, FloatArray]],
) -> FloatArray | SparseMarginals:
    """Fill in the losses of all decisions about the instances that can be judged, and return their marginals.

    Where labels that cannot matter are left out, decisions that need all of them are made by themselves.
    """
    belief = ensemble._belief(get_pool(ensemble.pool))
    named = [(loss, name, decision) for loss, row in decisions.items() for name, decision in row.items()]
    if ensemble._leaves_labels_out() and belief.keeps_zeros:
        groups = [[one for one in named if one[2].keeps_zeros is keeps] for keeps in (True, False)]
    else:
        groups = [named]
    K, sparse, weights = Y.shape[1], isinstance(Y, LabelRows), unseen[:, judged].astype(np.float64)
    truth = listed(Y[judged]) if ensemble._leaves_labels_out() else None
    proba = np.full((0, K) if sparse else Y.shape, np.nan)

    def decide(group: list[tuple[str, str, Decision]], believe: bool, part: Part) -> Any:
        rows, labels = judged[part.rows], part.labels
        y = dense(Y[rows]) if labels is None else listed(Y[rows]).among(labels)
        for loss, name, decision in group:
            found, target = part.beliefs.decide(decision), losses[loss]
            value = target._value(y, found) if labels is None else target._value_among(y, found, labels, K)
            values[loss][name][rows] = value
        if not believe:
            return None
        p = part.in_full(part.beliefs.distribution(belief).marginals(), K, sparse)
        if not sparse:
            proba[rows] = p
        return p if sparse else None

    parts: list[Any] = []
    for at, group in enumerate(groups):
        if group or at == 0:
            of_group = [decision for _, _, decision in group] + [belief] * (at == 0)
            work = partial(decide, group, at == 0)
            found = ensemble._over_parts(work, features, of_group, judged, weights, known, truth=truth)
            parts = found if at == 0 else parts
    return SparseMarginals.of(joined(parts, sparse), judged, len(Y)) if sparse else proba


# Found once for each, and no part of what is saved.
_UNSEEN: WeakKeyDictionary[OutOfBag, Unseen] = WeakKeyDictionary()


def best_way(loss: Loss, means: Mapping[str, float], errors: Mapping[str, float]) -> str:
    """Return the simplest way whose mean loss is within a standard error of the smallest.

    The usual way is the simplest, then comes the same with a calibration; the others are alike.  The error is that of
    the difference between the best and the usual way.
    """
    best, usual = min(means, key=means.__getitem__), _usual(loss, means)
    for name in (usual, usual + CALIBRATED):
        if name in means and means[name] - means[best] <= errors[best]:
            return name
    return best


def _itself(belief: Marginals, joint: bool) -> list[Marginals]:  # noqa: ARG001  there is nothing joint in it
    return [belief]


def _without_searches(row: dict[str, Decision], usual: Reading, over_seen: bool) -> dict[str, Decision]:
    """Leave out the search for the best Jaccard index over seen labelsets: it takes longer than all else together.

    ``over_seen`` says that each member has a joint distribution over them, and would search it for its vote.
    """

    def searches(decision: Decision) -> bool:
        minimised = decision.over.loss if isinstance(decision.over, Votes) else decision.loss
        over_labelsets = decision.reading == usual and isinstance(decision.over, Votes) and over_seen
        return isinstance(minimised, JaccardLoss) and (decision.reading != usual or over_labelsets)

    return {name: decision for name, decision in row.items() if not searches(decision)}


def _usual(loss: Loss, names: Collection[str]) -> str:
    """Return how a loss is decided for without a choice."""
    usual = advised_among(names, loss)
    return usual if usual in names else usual + CALIBRATED


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
            stacklevel=5,
        )
    if not len(judged):
        raise ComitiaError("no instance is out of bag for any member: use more members or a smaller max_samples.")
    return judged
