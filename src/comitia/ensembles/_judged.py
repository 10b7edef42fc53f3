"""Ensembles that are judged, and that choose, by instances which their members have not seen."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia._labels import FloatArray
from comitia._titles import BETWEEN
from comitia.aggregation import AGGREGATIONS, Aggregation, get_aggregation
from comitia.aggregation._kinds import aggregation_name
from comitia.ensembles._base import MultilabelEnsemble
from comitia.ensembles._deciding import instance_wise
from comitia.ensembles._out_of_bag import CALIBRATED, Judging, OutOfBag, SparseMarginals
from comitia.ensembles._parameters import chosen_out_of_bag
from comitia.ensembles._unseen import Unseen
from comitia.losses import Loss, get_loss
from comitia.measures import Measure, get_target
from comitia.relevance import Calibration, Reading, get_pool, get_reading
from comitia.relevance._calibration import check_kind

# Powers of the counts with which labelsets that were seen are tried.
_POWERS = (0.0, 0.3, 0.6, 1.0)
_LACKS_OUT_OF_BAG = (
    "aggregation='oob' chooses by the out-of-bag loss: fit with oob_score=True (comitia train --aggregation oob)."
)


class JudgedEnsemble(MultilabelEnsemble):
    """Base of ensembles with out-of-bag losses, by which ``aggregation="oob"`` chooses how to decide."""

    oob_score: bool
    oob_mask_: NDArray[np.bool_]
    _oob: OutOfBag

    # Whether decisions are judged out of bag; in a committee only beliefs are, and it judges the decisions itself.
    _judges_decisions = True
    # Who knows what will be asked for says so here, and the rest takes no time.
    _judging = Judging()

    def _way(self, loss: Loss | Measure) -> tuple[Aggregation, Reading, Calibration | None]:
        if not chosen_out_of_bag(self.aggregation):
            return super()._way(loss)
        if isinstance(loss, Measure):
            return AGGREGATIONS["ctp"], get_reading("independent"), self.calibration_
        if not hasattr(self, "_oob"):
            raise ComitiaError(_LACKS_OUT_OF_BAG)
        return self._way_of_name(self._oob.choice(loss, self.pool, self.reading, self.calibration), loss)

    def _way_of_name(self, way: str, loss: Loss) -> tuple[Aggregation, Reading, Calibration | None]:
        """Return what a way of deciding that was judged out of bag stands for."""
        how = get_aggregation(way, loss)
        return how, get_reading(self.reading), self.calibration_ if how.calibrated else None

    def set_params(self, **params: Any) -> Self:
        """Set parameters; refuse at once a choice by out-of-bag losses that a fitted ensemble does not have."""
        chosen, judges = params.get("aggregation", self.aggregation), params.get("oob_score", self.oob_score)
        lacks = hasattr(self, "members_") and not hasattr(self, "_oob") and not judges
        if lacks and chosen_out_of_bag(chosen):
            raise ComitiaError(_LACKS_OUT_OF_BAG)
        super().set_params(**params)
        return self

    def _check_decision(self) -> None:
        if not self.oob_score and isinstance(get_target(self.loss), Measure):
            raise ComitiaError(f"loss={self.loss!r} has its cuts from what is out of bag: set oob_score=True.")
        if not self.oob_score and check_kind(self.calibration):
            raise ComitiaError(f"calibration={self.calibration!r} is fitted to what is out of bag: set oob_score=True.")
        if not chosen_out_of_bag(self.aggregation):
            super()._check_decision()
        elif not self.oob_score:
            raise ComitiaError("aggregation='oob' chooses by the out-of-bag loss: set oob_score=True.")

    def _unseen(self) -> Unseen:
        if not hasattr(self, "_oob"):
            raise ComitiaError(
                "what members have not seen is known out of bag: fit with oob_score=True (comitia train --oob)."
            )
        self._oob.unseen.check(self.pool)
        return self._oob.unseen

    @classmethod
    def _made_of(cls) -> tuple[type, ...]:
        return (*super()._made_of(), OutOfBag, SparseMarginals)

    def _ways(self) -> dict[str, tuple[Aggregation, Reading]]:
        """Return the ways of deciding that are judged out of bag, by name.

        All aggregations that have a name, and the user's own.  Where the choice is left to the out-of-bag losses, and
        so is the reading, also what is decided over the labelsets that were seen, by several powers of their counts.
        """
        reading = get_reading(self.reading)
        if not self._judging.all_ways:
            name, how = self._asked_for()
            return {name: (how, reading)}
        ways = {name: (how, reading) for name, how in AGGREGATIONS.items() if self.can_decide_by(how)}
        if not chosen_out_of_bag(self.aggregation):
            name, how = self._asked_for()
            ways.setdefault(name, (how, reading))
        elif reading == get_reading("auto"):
            over_seen = ("ctp", "ctp-joint") if self._believes_in_seen else ("ctp",)
            for power, name in product(_POWERS, over_seen):
                way = f"{name}{BETWEEN}seen {power:g}"
                ways[way] = (get_aggregation(way, get_loss("hamming")), reading)
        return ways

    def _asked_for(self) -> tuple[str, Aggregation]:
        """Return the aggregation that was asked for, before a calibration, and its name in the table."""
        how, _ = self._named_way(get_target(self.loss))
        how = replace(how, calibrated=False) if how.calibrated else how
        return aggregation_name(how), how

    @property
    def _believes_in_seen(self) -> bool:
        """Whether members' joint distributions are over the labelsets that were seen."""
        return False

    @property
    def oob_table_(self) -> dict[str, dict[str, float]]:
        """For each loss that is known, the out-of-bag loss of each way of deciding."""
        return self._judged_within_limits().table(self.pool, self.reading, self.calibration)

    @property
    def oob_errors_(self) -> dict[str, dict[str, float]]:
        """The standard errors of the differences of the table's losses to those of the advised aggregation."""
        return self._judged_within_limits().errors(self.pool, self.reading, self.calibration)

    @property
    def oob_choice_(self) -> str:
        """The way of deciding that the out-of-bag losses choose for the loss in use."""
        judged = self._judged()
        # A measure of a whole set has no losses of instances to choose by.
        if self._measure():
            return "ctp"
        return judged.choice(self.loss, self.pool, self.reading, self.calibration)

    @property
    def oob_aggregation_(self) -> str:
        """The way of deciding in use, by its name in the table."""
        if chosen_out_of_bag(self.aggregation):
            return self.oob_choice_
        self._judged()
        (name, how), pool = self._asked_for(), get_pool(self.pool)
        decision = how.decision(instance_wise(self.loss), pool, get_reading(self.reading))
        return name + CALIBRATED if self.calibration is not None and decision.pools_marginals(pool) else name

    @property
    def oob_losses_(self) -> FloatArray:
        """The out-of-bag loss of each instance, NaN where every member has seen it."""
        if self._measure():
            raise ComitiaError(f"{self.loss!r} is a measure of a whole set: instances have no losses by it.")
        known = self._judged_within_limits().losses(self.loss, self.pool, self.reading, self.calibration)
        name = self.oob_aggregation_
        if name not in known:
            raise ComitiaError(f"no out-of-bag losses are known for {name}: fit with this aggregation.")
        return known[name]

    @property
    def oob_loss_(self) -> float:
        """The out-of-bag loss of the aggregation in use; for a measure of a whole set, one minus its value."""
        if self._measure():
            return 1 - self.oob_score_
        return self._judged().mean(self.oob_losses_)

    @property
    def oob_score_(self) -> float:
        """One minus the out-of-bag loss; for a measure of a whole set, its cross-fitted out-of-bag value."""
        if measure := self._measure():
            self._judged()
            if self.oob_aggregation_.removesuffix(CALIBRATED) != "ctp":
                raise ComitiaError(
                    f"the out-of-bag value of a measure is known for aggregation 'ctp'; got {self.aggregation!r}."
                )
            return self._tuned_on().cross_fitted(measure, self._limits(self.label_names_))
        return 1 - self.oob_loss_

    @property
    def oob_proba_(self) -> Any:
        """Pooled out-of-bag marginals, NaN for an instance that every member has seen.

        With trees and sparse targets they are a CSR matrix, and such an instance has none.
        Where they are calibrated, each is by a calibration that was fitted to other instances.
        """
        return self._judged().calibrated(self.calibration)

    def _judged(self) -> OutOfBag:
        if not hasattr(self, "_oob"):
            raise AttributeError(f"{type(self).__name__} has no out-of-bag losses: fit with oob_score=True.")
        return self._oob

    def _judged_within_limits(self) -> OutOfBag:
        judged = self._judged()
        if repr(self.constraints) != judged.limits:
            raise ComitiaError(
                f"out-of-bag losses are known for constraints {judged.limits}, with which they were found; got"
                f" {self.constraints!r}. Fit again to have them."
            )
        return judged

    def _measure(self) -> Measure | None:
        target = get_target(self.loss)
        return target if isinstance(target, Measure) else None
