"""A decision, said in full: which loss is minimised over which distribution."""

from __future__ import annotations

from dataclasses import dataclass, replace

from comitia._errors import ComitiaError
from comitia.losses import Constraints, Loss, Within
from comitia.losses._constraints import check_constraints
from comitia.relevance import Calibration, Pool, Reading


@dataclass(frozen=True)
class Pooled:
    """The distribution that a pool makes of the members' beliefs.

    A pool of marginals is calibrated, where there is a calibration, and read once they are pooled; joint distributions
    are read, where that is needed, before.

    Examples
    --------
    >>> from comitia.aggregation import Pooled
    >>> from comitia.relevance import mean, mixture
    >>> Pooled(mean).joint, Pooled(mixture).joint
    (False, True)
    """

    pool: Pool
    calibration: Calibration | None = None

    @property
    def joint(self) -> bool:
        return self.pool.joint


@dataclass(frozen=True)
class Votes:
    """The distribution of the labelings that members decide on, each for this loss.

    With ``joint`` each decides by its joint distribution, otherwise by its marginals as they are read.

    Examples
    --------
    >>> from comitia import Hamming, get_aggregation, get_pool, get_reading
    >>> get_aggregation("bmv", Hamming()).decision(Hamming(), get_pool("mean"), get_reading("auto")).over
    Votes(loss=Hamming(false_positive=1.0, false_negative=1.0, ties='irrelevant'), joint=False)
    """

    loss: Loss
    joint: bool = False


@dataclass(frozen=True)
class Decision:
    """A loss to be minimised over a distribution, and the reading of marginals on the way to it.

    Parameters
    ----------
    loss : Loss
        What is minimised in the end.
    over : Pooled or Votes
        The distribution.
    reading : Reading
        How marginals, of the pool or of members that vote, are read as beliefs about whole labelings.

    Examples
    --------
    >>> from comitia import get_aggregation, get_loss, get_pool, get_reading
    >>> f1 = get_loss("f1")
    >>> get_aggregation("ctp", f1).decision(f1, get_pool("mean"), get_reading("auto"))
    Decision(loss=FLoss(beta=1.0, zero_division=1.0), over=Pooled(pool=Mean(), calibration=None), reading=Auto())
    """

    loss: Loss
    over: Pooled | Votes
    reading: Reading

    @property
    def needs_joint(self) -> bool:
        """Whether members have to give joint distributions: where those are used, and no reading makes them."""
        return self.over.joint and not self.reading.joint

    @property
    def keeps_zeros(self) -> bool:
        """Whether labels that have probability zero for every member change nothing, so that they can be left out.

        A belief without any label may be read otherwise: see :meth:`comitia.relevance.Reading.never_empty`.
        """
        if isinstance(self.over, Votes):
            made = self.over.loss.keeps_zeros
        else:
            made = self.over.pool.keeps_zeros and self.over.calibration is None
        return made and self.loss.keeps_zeros and self.reading.keeps_zeros

    def calibrated(self, calibration: Calibration | None, pool: Pool) -> Decision:
        """Return the decision over calibrated marginals, where it is over marginals that this pool makes.

        A calibration serves for the pool that it was fitted to.  Votes and joint distributions stay what they are.
        """
        if calibration is None or not self.pools_marginals(pool):
            return self
        return replace(self, over=Pooled(pool, calibration))

    def pools_marginals(self, pool: Pool) -> bool:
        """Whether it is over marginals that this pool makes."""
        return isinstance(self.over, Pooled) and self.over.pool == pool and not pool.joint

    def within(self, constraints: Constraints | None) -> Decision:
        """Return the decision whose answers keep limits: the loss is minimised among the labelings they allow.

        Where members vote they vote as they like, and their votes are combined within the limits.
        """
        if constraints is None:
            return self
        if isinstance(self.loss, Within):
            raise ComitiaError("the loss has limits of its own: give them all at once.")
        return replace(self, loss=Within(self.loss, check_constraints(constraints)))
