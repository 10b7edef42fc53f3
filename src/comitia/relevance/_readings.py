"""Readings: a belief about single labels, read as a belief about whole labelings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from comitia import _titles
from comitia._arrays import is_count, lies_in
from comitia._errors import ComitiaError
from comitia._names import looked_up
from comitia.relevance._base import Relevance, Shared
from comitia.relevance._labelsets import LabelSets
from comitia.relevance._marginals import Marginals, NonEmptyMarginals
from comitia.relevance._observed import Observed
from comitia.relevance._seen import by_count, seen_label_sets


class Reading(ABC):
    """Makes a belief about whole labelings of marginals: ``reading(belief)``.

    A joint distribution (:class:`LabelSets`) is one already, and stays what it is.

    Examples
    --------
    >>> from comitia import READINGS, Marginals, Observed
    >>> belief = Marginals([[0.4, 0.3]], Observed.of([[1, 0], [0, 1], [0, 0]]))
    >>> [type(reading(belief)).__name__ for reading in READINGS.values()]
    ['Marginals', 'Marginals', 'NonEmptyMarginals', 'LabelSets']
    """

    joint: ClassVar[bool] = False
    """Whether it makes explicit joint distributions, which a mixture can pool."""

    keeps_zeros: ClassVar[bool] = False
    """Whether labels of probability zero change nothing, but where all labels have it and some must be relevant."""

    about: ClassVar[str] = ""
    """What it takes for granted, in a line, for who meets its name in a report."""

    def never_empty(self, observed: Observed) -> bool:  # noqa: ARG002
        """Whether it takes for granted, with these labelsets in the training data, that some label is relevant."""
        return False

    def __call__(self, belief: Relevance) -> Relevance:
        """Return the belief as it is read."""
        if isinstance(belief, Shared):
            return belief.read_by(self)
        return self._read(belief) if isinstance(belief, Marginals) else belief

    @abstractmethod
    def _read(self, belief: Marginals) -> Relevance: ...


@dataclass(frozen=True)
class Independent(Reading):
    """Labels are independent, P(y) = Π p_k^{y_k} (1 − p_k)^{1 − y_k}.

    Examples
    --------
    >>> from comitia.relevance import Independent, Marginals
    >>> belief = Marginals([[0.7, 0.6]])
    >>> Independent()(belief) is belief
    True
    """

    keeps_zeros: ClassVar[bool] = True

    def _read(self, belief: Marginals) -> Relevance:
        return belief


@dataclass(frozen=True)
class NonEmpty(Reading):
    """At least one label is relevant, and nothing else is known: the distribution of the largest entropy.

    Labels that nearly exclude each other leave much room for the empty labeling when they are read as independent, and
    decisions for F-measures, Jaccard index and subset 0/1 loss then bet on it.  Among the distributions without the
    empty labeling that have marginals p, the one of the largest entropy is independent labels of probabilities
    q_k = c p_k, given that one of them is relevant, c the positive root of

        c = 1 − Π_k (1 − c p_k),

    which there is where Σ_k p_k > 1.  Marginals that sum to less cannot be those of an instance with a label; there
    labels exclude each other, with probabilities in proportion to p: the limit of small c.

    Examples
    --------
    >>> from comitia.losses import SubsetZeroOne
    >>> from comitia.relevance import Marginals, NonEmpty
    >>> belief = Marginals([[0.4, 0.4, 0.3]])
    >>> SubsetZeroOne().minimise(belief), SubsetZeroOne().minimise(NonEmpty()(belief))
    (array([[0, 0, 0]], dtype=int8), array([[1, 0, 0]], dtype=int8))
    """

    keeps_zeros: ClassVar[bool] = True

    def never_empty(self, observed: Observed) -> bool:  # noqa: ARG002
        return True

    def _read(self, belief: Marginals) -> Relevance:
        return NonEmptyMarginals.of(belief)


@dataclass(frozen=True)
class Auto(Reading):
    """Never empty where every instance that the members learnt from had a label; otherwise independent labels.

    Examples
    --------
    >>> from comitia.relevance import Auto, Marginals, Observed
    >>> type(Auto()(Marginals([[0.7, 0.6]], Observed.of([[1, 0], [1, 1]])))).__name__
    'NonEmptyMarginals'
    >>> type(Auto()(Marginals([[0.7, 0.6]], Observed.of([[0, 0], [1, 1]])))).__name__
    'Marginals'
    """

    keeps_zeros: ClassVar[bool] = True

    def never_empty(self, observed: Observed) -> bool:
        return observed.always_some

    def _read(self, belief: Marginals) -> Relevance:
        known = belief.observed
        return NonEmptyMarginals.of(belief) if known is not None and self.never_empty(known) else belief


@dataclass(frozen=True)
class Seen(Reading):
    """Only the labelsets of the training data are possible, the frequent ones more so.

        P(y) ∝ count(y)^a Π_k p_k^{y_k} (1 − p_k)^{1 − y_k}

    over the labelsets that occurred.  A belief that has these labelsets by itself, as chains do, is weighed by
    count(y)^a alone.  Time and memory follow the labelsets that can matter for an instance, not all of them; those that
    are left out have together a probability of at most 10⁻³, which is also the most that a decision for a loss in
    [0, 1] can lose by it, unless there are more than ``at_most`` left.

    Parameters
    ----------
    power : float, default=0.3
        The power a of the counts: 0 takes all labelsets as alike, 1 weighs them as they occurred.
    at_most : int, default=256
        Most labelsets that an instance keeps, the likeliest.

    Examples
    --------
    >>> from comitia.losses import SubsetZeroOne
    >>> from comitia.relevance import Marginals, Observed, Seen
    >>> belief = Marginals([[0.6, 0.6]], Observed.of([[1, 0], [1, 0], [0, 1]]))
    >>> SubsetZeroOne().minimise(belief), SubsetZeroOne().minimise(Seen()(belief))
    (array([[1, 1]], dtype=int8), array([[1, 0]], dtype=int8))
    """

    about: ClassVar[str] = (
        "only sets of labels that were seen in training are taken for possible, frequent ones for more so"
    )
    joint: ClassVar[bool] = True

    power: float = 0.3
    at_most: int = 256

    def __post_init__(self) -> None:
        if not lies_in(self.power, 0, 1):
            raise ComitiaError(f"power must lie in [0, 1]; got {self.power!r}.")
        if not is_count(self.at_most, 1):
            raise ComitiaError(f"at_most must be a positive number; got {self.at_most!r}.")

    def __call__(self, belief: Relevance) -> Relevance:
        if isinstance(belief, LabelSets) and belief.flat and belief.observed is not None:
            weights = by_count(belief.weights, belief.observed, self.power)
            return LabelSets.unchecked(table=belief.table, weights=weights, total=1.0, observed=belief.observed)
        return super().__call__(belief)

    def _read(self, belief: Marginals) -> Relevance:
        known = belief.observed
        if known is None:
            raise ComitiaError(
                "reading 'seen' needs beliefs that carry the labelsets of the training data, as those of ensembles do:"
                " Marginals(p, Observed.of(Y))."
            )
        weights = seen_label_sets(
            belief.p,
            known.array,
            known.counts,
            self.power,
            own=known.own,
            own_weight=known.own_weight,
            at_most=self.at_most,
            trie=known.trie,
        )
        return LabelSets.unchecked(table=known.array, weights=weights, total=1.0, observed=known)


ReadingName = Literal["auto", "independent", "nonempty", "seen"]
ReadingLike: TypeAlias = ReadingName | str | Reading

READINGS: dict[str, Reading] = {
    "auto": Auto(),
    "independent": Independent(),
    "nonempty": NonEmpty(),
    "seen": Seen(),
}
"""Readings by name.

=========== ==============================================================================================
auto        ``nonempty`` where every training instance had a label, ``independent`` otherwise
independent labels are independent of each other
nonempty    at least one label is relevant, and nothing else is known
seen        only the labelsets of the training data are possible, the frequent ones more so
=========== ==============================================================================================
"""

_titles.EXPLAINED.update({name: reading.about for name, reading in READINGS.items()})


def get_reading(reading: ReadingLike) -> Reading:
    """Return the reading of this name, in any letters, or the reading itself.

    Examples
    --------
    >>> from comitia.relevance import get_reading
    >>> get_reading("nonempty")
    NonEmpty()
    """
    return reading if isinstance(reading, Reading) else looked_up("reading", reading, READINGS)
