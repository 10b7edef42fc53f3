"""The two kinds of aggregation, and the paper's names for their settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from comitia import _titles
from comitia._errors import ComitiaError
from comitia._names import as_known, unknown
from comitia.aggregation._decision import Decision, Pooled, Votes
from comitia.losses import Hamming, Loss, SubsetZeroOne
from comitia.relevance import POOLS, READINGS, Independent, Pool, Reading, Seen, mixture


@dataclass(frozen=True)
class Aggregation(ABC):
    """How members decide together: a value that says which loss is minimised over which distribution.

    One's own subclass says it in :meth:`decision`, and then works wherever a name does.

    Parameters
    ----------
    title : str
        How it is printed.
    calibrated : bool
        Whether its name asks for calibrated beliefs: it is refused where there is no calibration.
    about : str
        What its title stands for, in a line, for who meets it in a report.

    Examples
    --------
    Every member decides for subset 0/1 loss, and their votes for the user's loss:

    >>> from dataclasses import dataclass
    >>> from comitia import Aggregation, Marginals, SubsetZeroOne, decide
    >>> from comitia.aggregation import Decision, Votes
    >>> @dataclass(frozen=True)
    ... class ModesThenLoss(Aggregation):
    ...     def decision(self, loss, pool, reading):
    ...         return Decision(loss, Votes(SubsetZeroOne()), reading)
    >>> decide([Marginals([[0.9, 0.4]]), Marginals([[0.8, 0.6]])], loss="f1", aggregation=ModesThenLoss())
    array([[1, 1]], dtype=int8)
    """

    title: str = field(default="", kw_only=True, compare=False)
    calibrated: bool = field(default=False, kw_only=True, repr=False)
    about: str = field(default="", kw_only=True, compare=False, repr=False)

    @abstractmethod
    def decision(self, loss: Loss, pool: Pool, reading: Reading) -> Decision:
        """Return what is to be done for the user's loss, pool and reading."""

    @property
    def pools(self) -> bool:
        """Whether the user's pool makes a difference."""
        return False


@dataclass(frozen=True)
class CombineThenPredict(Aggregation):
    """Pool what the members believe, then minimise the loss: ``loss.minimise(reading(pool(members)))``.

    Parameters
    ----------
    pool : Pool, optional
        Used in place of the user's pool: with a mixture this is combining joint distributions.
    loss : Loss, optional
        Minimised in place of the user's loss: with Hamming loss this is graded majority voting.
    reading : Reading, optional
        Used in place of the user's reading.
    title, calibrated, about
        As for :class:`Aggregation`.

    Examples
    --------
    >>> from comitia import CombineThenPredict, Marginals, decide
    >>> from comitia.relevance import median
    >>> members = [Marginals([[0.9, 0.3]]), Marginals([[0.8, 0.6]]), Marginals([[0.1, 0.7]])]
    >>> decide(members, "hamming", CombineThenPredict()), decide(members, "hamming", CombineThenPredict(median))
    (array([[1, 1]], dtype=int8), array([[1, 1]], dtype=int8))
    """

    pool: Pool | None = None
    loss: Loss | None = None
    reading: Reading | None = None

    def decision(self, loss: Loss, pool: Pool, reading: Reading) -> Decision:
        return Decision(self.loss or loss, Pooled(self.pool or pool), self.reading or reading)

    @property
    def pools(self) -> bool:
        return self.pool is None


@dataclass(frozen=True)
class PredictThenCombine(Aggregation):
    """Let every member minimise the loss, then minimise a loss over their votes.

    Parameters
    ----------
    combine : Loss, optional
        Minimised over the votes: Hamming loss is voting label by label, subset 0/1 loss takes the mode; None is the
        loss that the members minimised.
    loss : Loss, optional
        Minimised by the members in place of the user's loss: with Hamming loss this is binary majority voting.
    reading : Reading, optional
        Used in place of the user's reading.
    title, calibrated, about
        As for :class:`Aggregation`.

    Examples
    --------
    >>> from comitia import Marginals, PredictThenCombine, SubsetZeroOne, decide
    >>> members = [Marginals([[0.9, 0.1]]), Marginals([[0.1, 0.9]]), Marginals([[0.9, 0.9]]), Marginals([[0.1, 0.9]])]
    >>> decide(members, "hamming", PredictThenCombine(SubsetZeroOne())), decide(members, "hamming", "bmv")
    (array([[0, 1]], dtype=int8), array([[1, 1]], dtype=int8))
    """

    combine: Loss | None = None
    loss: Loss | None = None
    reading: Reading | None = None

    def decision(self, loss: Loss, pool: Pool, reading: Reading) -> Decision:  # noqa: ARG002  votes are not pooled
        cast = self.loss or loss
        return Decision(self.combine or cast, Votes(cast), self.reading or reading)


# A tied vote is relevant: in the paper's Figure 2 binary voting jumps at even ensemble sizes.
_MAJORITY = Hamming(ties="relevant")

AggregationName = Literal["gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr", "ctp-joint"]
AggregationLike: TypeAlias = AggregationName | str | Aggregation

# The two votes cut at one half, whatever else is known.
AGGREGATIONS: dict[str, Aggregation] = {
    "gmv": CombineThenPredict(
        loss=Hamming(),
        reading=Independent(),
        title="GMV",
        about="graded majority vote: the members' probabilities are averaged and cut at one half; the usual vote",
    ),
    "bmv": PredictThenCombine(
        _MAJORITY,
        loss=Hamming(),
        reading=Independent(),
        title="BMV",
        about="binary majority vote: each member cuts at one half, and for each label the majority wins",
    ),
    "ctp": CombineThenPredict(
        title="CTP",
        about="combine then predict: probabilities are averaged, then the set is chosen that is best for the loss",
    ),
    "ptc-lw": PredictThenCombine(
        _MAJORITY,
        title="PTC-lw",
        about="predict then combine, label-wise: each member chooses for the loss, for each label the majority wins",
    ),
    "ptc-mode": PredictThenCombine(
        SubsetZeroOne(),
        title="PTC-mode",
        about="predict then combine, mode: each member chooses for the loss, the most frequent set wins",
    ),
    "ptc-mbr": PredictThenCombine(
        title="PTC-mbr",
        about="predict then combine, minimum Bayes risk: the set that is best for the loss over the members' votes",
    ),
    "ctp-joint": CombineThenPredict(
        mixture,
        title="CTP-joint",
        about="combine then predict, with probabilities of whole sets of labels instead of single ones",
    ),
}
"""The aggregations by name.

========= ==========================================================================================
gmv       graded majority voting: pool, then cut at one half
bmv       binary majority voting: every member cuts at one half, then the majority of each label
ctp       pool, then minimise the loss
ptc-lw    every member minimises the loss, then the majority of each label
ptc-mode  every member minimises the loss, then the most frequent labeling
ptc-mbr   every member minimises the loss, then the labeling that minimises it over their votes
ctp-joint mixture of the members' labelset distributions, then minimise the loss over it
========= ==========================================================================================
"""

_titles.AGGREGATIONS.update({name: aggregation.title for name, aggregation in AGGREGATIONS.items()})
_titles.EXPLAINED.update({name: aggregation.about for name, aggregation in AGGREGATIONS.items()})


CALIBRATED = "calibrated"
"""In a name: pooled marginals are calibrated."""


def get_aggregation(aggregation: AggregationLike | None, loss: Loss) -> Aggregation:
    """Return the aggregation of this name, the one the paper advises for the loss if None, or the one given.

    A name is taken as tables print it, also with a pool, a reading or a calibration behind it: ``"CTP · median"``,
    ``"ctp · seen 0.3 · calibrated"``.

    Examples
    --------
    >>> from comitia import SubsetZeroOne, get_aggregation
    >>> get_aggregation(None, SubsetZeroOne()).title, get_aggregation("gmv", SubsetZeroOne()).title
    ('PTC-mode', 'GMV')
    >>> get_aggregation("CTP · median", SubsetZeroOne())
    CombineThenPredict(title='CTP · median', pool=Median(), loss=None, reading=None)
    """
    if isinstance(aggregation, Aggregation):
        return aggregation
    name = advised(loss) if aggregation is None else aggregation
    first, *more = (part.strip() for part in name.split(_titles.BETWEEN.strip())) if isinstance(name, str) else ("",)
    known = as_known(first, AGGREGATIONS, _titles.AGGREGATIONS)
    if known not in AGGREGATIONS:
        raise ComitiaError(unknown("aggregation", name, AGGREGATIONS))
    found = AGGREGATIONS[known]
    for said in more:
        found = _with(found, said.casefold(), name)
    return found


def aggregation_name(how: Aggregation) -> str:
    """Return the name of an aggregation, as :func:`get_aggregation` takes it; of one that has none, how it is written.

    Examples
    --------
    >>> from comitia.relevance import median
    >>> aggregation_name(CombineThenPredict(median)), aggregation_name(PredictThenCombine())
    ('ctp · median', 'ptc-mbr')
    """
    for name, usual in AGGREGATIONS.items():
        for full in (name, _titles.BETWEEN.join([name, *_said(how, usual)])):
            try:
                if get_aggregation(full, Hamming()) == how:
                    return full
            except ComitiaError:
                continue
    return repr(how)


def _with(how: Aggregation, said: str, name: str) -> Aggregation:
    """Return an aggregation with what its name says besides."""
    power = said.removeprefix("seen ")
    changed: Aggregation | None = None
    if isinstance(how, CombineThenPredict):
        if said in POOLS and how.pools and not how.calibrated:
            changed = replace(how, pool=POOLS[said])
        elif said == CALIBRATED and how.pools and not how.calibrated:
            changed = replace(how, calibrated=True)
    if isinstance(how, CombineThenPredict | PredictThenCombine) and how.reading is None:
        if said in READINGS:
            changed = replace(how, reading=READINGS[said])
        elif power != said and power.replace(".", "", 1).isdecimal():
            changed = replace(how, reading=Seen(float(power)))
    if changed is None:
        raise ComitiaError(
            f"aggregation must be one of {', '.join(AGGREGATIONS)}; gmv and ctp may be followed by a pool ('ctp · "
            f"median'), those that follow the loss by a reading ('ctp · seen 0.3'); got {name!r}."
        )
    return replace(changed, title=f"{how.title}{_titles.BETWEEN}{said}")


def _said(how: Aggregation, usual: Aggregation) -> Iterator[str]:
    """Give what a name says besides what it means by itself."""
    if isinstance(how, CombineThenPredict):
        yield from (name for name, pool in POOLS.items() if pool == how.pool)
    if isinstance(how, CombineThenPredict | PredictThenCombine) and how.reading != getattr(usual, "reading", None):
        if isinstance(how.reading, Seen):
            yield f"seen {how.reading.power:g}"
        elif how.reading is not None:
            yield from (name for name, reading in READINGS.items() if reading == how.reading)
    if how.calibrated:
        yield CALIBRATED


def advised(loss: Loss) -> str:
    """Return the name of the aggregation that the paper advises for this loss.

    Examples
    --------
    >>> from comitia import get_loss
    >>> from comitia.aggregation import advised
    >>> advised(get_loss("subset01")), advised(get_loss("f1"))
    ('ptc-mode', 'ctp')
    """
    return "ptc-mode" if isinstance(loss, SubsetZeroOne) else "ctp"


def advised_among(names: Collection[str], loss: Loss) -> str:
    """Return the advised one; the mode of joint distributions is it in place of the mode of votes, if they are known.

    Examples
    --------
    >>> advised_among(["gmv", "ctp-joint"], SubsetZeroOne()), advised_among(["gmv", "ctp-joint"], Hamming())
    ('ctp-joint', 'ctp')
    """
    return "ctp-joint" if isinstance(loss, SubsetZeroOne) and "ctp-joint" in names else advised(loss)
