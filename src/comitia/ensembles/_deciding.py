"""What the parameters of an ensemble come down to: which loss is minimised, over which belief, within which limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from comitia._errors import ComitiaError
from comitia.aggregation import Aggregation, Decision, Pooled, get_aggregation
from comitia.ensembles._parameters import CalibrationLike, HowLike, PoolLike, ReadingLike, TargetLike
from comitia.ensembles._unseen import Unseen
from comitia.losses import Constraints, Hamming, Loss, get_loss
from comitia.losses._constraints import check_constraints
from comitia.measures import Measure, get_target
from comitia.relevance import Calibration, Marginals, Observed, Pool, Relevance, get_pool, mixture
from comitia.relevance._calibration import check_kind
from comitia.relevance._readings import Reading, get_reading


class Deciding:
    """The part of an ensemble that knows how to decide, and of what."""

    loss: TargetLike
    aggregation: HowLike | None
    pool: PoolLike
    reading: ReadingLike
    calibration: CalibrationLike | None
    constraints: Constraints | None

    supports_joint: ClassVar[bool]
    label_names_: NDArray[Any]
    observed_: Observed

    def decision(self, loss: TargetLike | None = None) -> Decision:
        """Return what the parameters come down to for their loss, or for another.

        That is the loss which is minimised in the end, over which distribution, and how beliefs are read.
        """
        given = get_target(self.loss if loss is None else loss)
        return self._limited(self._decision(self._target(given), *self._way(given)))

    @property
    def calibration_(self) -> Calibration | None:
        """What brings pooled marginals into line with what was observed, or None.

        It is fitted to beliefs about instances that members have not seen when it is first asked for.
        """
        check_is_fitted(self, "members_")
        kind = check_kind(self.calibration)
        return None if kind is None else self._unseen().calibration(kind)

    def can_decide_by(self, aggregation: HowLike) -> bool:
        """Return whether members give what an aggregation needs: some pool joint distributions."""
        loss = instance_wise(self.loss)
        decision = get_aggregation(aggregation, loss).decision(loss, get_pool(self.pool), get_reading(self.reading))
        return self.supports_joint or not decision.needs_joint

    def _check_decision(self) -> None:
        """Refuse before a fit what could not be decided after it."""
        loss = instance_wise(self.loss)
        check_kind(self.calibration)
        self._decision(loss, *self._named_way(loss), None)

    def _decision(
        self, loss: Loss, aggregation: Aggregation, reading: Reading, calibration: Calibration | None
    ) -> Decision:
        pool = get_pool(self.pool)
        decision = aggregation.decision(loss, pool, reading).calibrated(calibration, pool)
        if decision.needs_joint and not self.supports_joint:
            raise ComitiaError(
                f"aggregation must do with marginals, which members of {type(self).__name__} give; got"
                f" {self.aggregation!r}, which pools joint distributions. Trees (EMODTClassifier) have them."
            )
        return decision

    def _target(self, loss: TargetLike) -> Loss:
        """Return the loss to minimise for a loss, or for a measure of a whole set."""
        target = get_target(loss)
        return self._tuned_on().resolved(target) if isinstance(target, Measure) else target

    def _way(self, loss: Loss | Measure) -> tuple[Aggregation, Reading, Calibration | None]:
        """Return how members decide for a loss, how they are read, and what pooled marginals are calibrated by."""
        return (*self._named_way(loss), self.calibration_)

    def _named_way(self, loss: Loss | Measure) -> tuple[Aggregation, Reading]:
        # The cuts of a measure were found on marginals as they are: they serve for no others.
        reading = "independent" if isinstance(loss, Measure) else self.reading
        how = get_aggregation(self.aggregation, instance_wise(loss))
        if how.calibrated and check_kind(self.calibration) is None:
            raise ComitiaError(
                f"aggregation={self.aggregation!r} decides by calibrated beliefs: set calibration to 'oob', 'sigmoid'"
                " or 'isotonic'."
            )
        return how, get_reading(reading)

    def _limits(self, names: Sequence[str] | NDArray[Any]) -> Constraints | None:
        """Return the limits on answers for labels of these names, or say what is wrong with them."""
        if self.constraints is None:
            return None
        return check_constraints(self.constraints).resolved([str(name) for name in names])

    def _limited(self, decision: Decision) -> Decision:
        """Return a decision whose answers keep the limits."""
        return decision.within(self._limits(self.label_names_))

    def _pooled_belief(self) -> Decision:
        """Return the ensemble's belief as it is read, the joint mixture where that decides."""
        aggregation, reading, calibration = self._way(get_target(self.loss))
        if self._decision(instance_wise(self.loss), aggregation, reading, calibration).needs_joint:
            return self._belief(mixture, get_reading(self.reading))
        return self._belief(get_pool(self.pool), get_reading(self.reading), calibration)

    def _belief(self, pool: Pool, reading: Reading | None = None, calibration: Calibration | None = None) -> Decision:
        """Return the pooled belief, as a decision whose distribution it is."""
        read = get_reading("independent") if reading is None else reading
        return Decision(get_loss("hamming"), Pooled(pool, calibration), read)

    def _unseen(self) -> Unseen:
        """Return beliefs about instances that members have not seen, or say how to have them."""
        raise ComitiaError(
            f"{type(self).__name__} knows nothing about instances that its members have not learnt from: use an"
            " ensemble with oob_score=True."
        )

    def _tuned_on(self) -> Unseen:
        """Return the same as decisions see it: where pooled marginals are calibrated, so is this, each by others."""
        held, kind = self._unseen(), check_kind(self.calibration)
        return held if kind is None else held.calibrated(kind)

    def _read_unseen(self) -> Relevance:
        """Return the same as a belief about whole labelings, as decisions for the loss in use read marginals."""
        held, (_, reading) = self._tuned_on(), self._named_way(get_target(self.loss))
        return reading(Marginals(held.p, self._known_beside(held)))

    def _known_beside(self, held: Unseen) -> Observed:
        """Return what the training data show of labelings, for a belief about instances that are among them."""
        return self.observed_.leaving_out(held.Y, held.weight)


def instance_wise(loss: Any) -> Loss:
    """Return a loss; a measure of a whole set is decided by cuts, as Hamming loss is."""
    target = get_target(loss)
    return Hamming() if isinstance(target, Measure) else target
