"""The one place where decisions are made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray, LabelArray
from comitia.aggregation._decision import Decision, Pooled, Votes
from comitia.relevance import Ballots, LabelSets, Members, Reading, Relevance
from comitia.relevance._base import SharedMembers

Value = TypeVar("Value")

_Read: TypeAlias = tuple[Relevance, IntArray | None, int]

_KEPT = 512
"""How many votes and answers are kept, which are others for each loss: those that were asked for last."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the members believe about some instances, and what is decided from it.

    Every decision minimises a loss over a distribution: what a pool makes of the beliefs, or the votes.  What several
    decisions have in common (the members' answers, a pooled belief, votes, the labeling itself) is found once; what is
    another for each loss is kept for some hundred of those that were asked for last.

    Parameters
    ----------
    ask : callable
        Returns the members' beliefs: joint distributions if its argument is true and they have them, else marginals.
    weights : array-like of float, shape (M,) or (M, n), optional
        Weight of each member, for all instances or for each.
    once : bool
        Whether one decision is all that will be asked for: members are then gone through one at a time, and not kept.
    joint_weights : array-like of float, shape (M,), optional
        Weight of each member where joint distributions are mixed; by default the same.

    Examples
    --------
    >>> from comitia import Beliefs, Marginals, get_aggregation, get_loss, get_pool, get_reading
    >>> members = [Marginals([[0.9, 0.4]]), Marginals([[0.6, 0.3]]), Marginals([[0.2, 0.45]])]
    >>> beliefs = Beliefs(lambda joint: members)
    >>> for loss in map(get_loss, ("hamming", "f1")):
    ...     ctp = get_aggregation("ctp", loss).decision(loss, get_pool("mean"), get_reading("auto"))
    ...     print(beliefs.decide(ctp))
    [[1 0]]
    [[1 1]]
    """

    ask: Callable[[bool], Iterable[Relevance]]
    weights: ArrayLike | None = None
    once: bool = False
    joint_weights: ArrayLike | None = None
    _known: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)
    _known_of_losses: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def decide(self, decision: Decision, size: int | None = None) -> LabelArray:
        """Return the labeling, (n, K), that the first ``size`` members, or all of them, decide on."""
        return self._found_for_loss((decision, size), lambda: decision.loss.minimise(self.distribution(decision, size)))

    def stages(self, decision: Decision, sizes: Sequence[int]) -> Iterator[LabelArray]:
        """Yield what the first m members decide on, for each m of the ascending ``sizes``."""
        if not sizes or list(sizes) != sorted(set(sizes)) or sizes[0] < 1:
            raise ComitiaError(f"sizes must be ascending numbers of members, from 1; got {list(sizes)}.")
        available = len(list(self._members(decision.over.joint)))
        if available < sizes[-1]:
            raise ComitiaError(f"sizes must not exceed the {available} members there are; got {sizes[-1]}.")
        for size in sizes:
            yield self.decide(decision, size)

    def forget(self) -> None:
        """Let go of what was found on the way; asked again, it is found again."""
        self._known.clear()
        self._known_of_losses.clear()

    def distribution(self, decision: Decision, size: int | None = None) -> Relevance:
        """Return the distribution over which a decision minimises its loss."""
        key = decision.over, decision.reading, size
        if isinstance(decision.over, Votes):
            return self._found_for_loss(key, lambda: self._ballots(decision, size))
        return self._found(key, lambda: self._pooled(decision, size))

    def _pooled(self, decision: Decision, size: int | None) -> Relevance:
        assert isinstance(decision.over, Pooled)
        pool, reading, calibration = decision.over.pool, decision.reading, decision.over.calibration
        if pool.joint:
            members = self._first(size, decision.over.joint)
            held = members.held.read_by(reading) if isinstance(members, SharedMembers) else None
            return pool(map(reading, members) if held is None else held, self._weights(size, joint=True))
        pooled: Relevance = self._found(
            ("pooled", pool, decision.over.joint, size),
            lambda: pool(self._first(size, decision.over.joint), self._weights(size)),
        )
        return reading(pooled if calibration is None else calibration(pooled))

    def _ballots(self, decision: Decision, size: int | None) -> Relevance:
        votes, reading = decision.over, decision.reading
        assert isinstance(votes, Votes)
        ballots: Ballots = self._found_for_loss(("cast", votes, reading), lambda: self._cast(votes, reading))
        return ballots.counted(self._weights(size), size)

    def _cast(self, votes: Votes, reading: Reading) -> Ballots:
        members = self._members(votes.joint)
        held = members.held.read_by(reading) if isinstance(members, SharedMembers) else None
        if held is None:
            return Ballots.cast(self._votes(votes, reading))
        weights = self._weights_of_instances()
        asked = None if weights is None else weights > 0
        cast = votes.loss.minimise_shared(held.where(asked))
        words = np.zeros((*held.index.shape, cast.shape[1]), np.uint64)
        words[... if asked is None else asked] = cast.reshape(words.shape) if asked is None else cast
        return Ballots(words, held.of.n_labels)

    def _votes(self, votes: Votes, reading: Reading) -> Iterator[LabelArray]:
        """Yield what each member votes for; about instances for which it has no weight it is not asked."""
        read: Iterable[_Read] = self._read(votes.joint, reading)
        if not self.once:
            read = self._found(("read", votes.joint, reading), lambda: list(self._read(votes.joint, reading)))
        for belief, rows, n in read:
            labeling = votes.loss.minimise(belief)
            if rows is not None:
                some, labeling = labeling, np.zeros((n, belief.n_labels), np.int8)
                labeling[rows] = some
            yield labeling

    def _read(self, joint: bool, reading: Reading) -> Iterator[_Read]:
        """Yield each member's beliefs as they are read, where it has weight: about which instances, of how many."""
        weights = self._weights_of_instances()
        for m, member in enumerate(self._members(joint)):
            rows = None if weights is None or m >= len(weights) else np.flatnonzero(weights[m])
            if rows is None or len(rows) == member.n_instances:
                yield reading(member), None, member.n_instances
            else:
                yield reading(member.take(rows)), rows, member.n_instances

    def _weights(self, size: int | None, joint: bool = False) -> FloatArray | None:
        weights = self.joint_weights if joint and self.joint_weights is not None else self.weights
        return None if weights is None else np.asarray(weights, dtype=np.float64)[:size]

    def _members(self, joint: bool) -> Iterable[Relevance]:
        if self.once:
            return self.ask(joint)

        def asked() -> Iterable[Relevance]:
            known = self._known.get(("members", not joint))
            if isinstance(known, SharedMembers):
                return known.asked(joint)
            if joint and isinstance(known, list) and all(isinstance(member, LabelSets) for member in known):
                return known  # chains give joint distributions unasked: once is enough
            members = self.ask(joint)
            return members if isinstance(members, Members) else self._with_weight(list(members))

        return self._found(("members", joint), asked)

    def _first(self, size: int | None, joint: bool) -> Iterable[Relevance]:
        """Return the first members, or all of them."""
        members = self._members(joint)
        return members if size is None else list(islice(members, size))

    def _with_weight(self, members: list[Relevance]) -> list[Relevance]:
        """Leave out the labelsets of instances for which a member has no weight."""
        weights = self._weights_of_instances()
        if weights is None or len(weights) != len(members):
            return members
        return [
            member.where(weight > 0) if isinstance(member, LabelSets) and member.n_instances == len(weight) else member
            for member, weight in zip(members, weights, strict=True)
        ]

    def _weights_of_instances(self) -> FloatArray | None:
        """Return the weights if members have their own for each instance, the same for all that is decided."""
        weights = self._weights(None)
        return None if weights is None or weights.ndim != 2 or self.joint_weights is not None else weights

    def _found_for_loss(self, key: Hashable, find: Callable[[], Value]) -> Value:
        """Look up what is another for each loss, as :meth:`_found` does; of these so many are kept."""
        known = self._known_of_losses
        value = self._found(key, find, known)
        if len(known) > _KEPT:
            del known[next(iter(known))]
        return value

    def _found(self, key: Hashable, find: Callable[[], Value], known: dict[Hashable, Any] | None = None) -> Value:
        """Look up what was found before, or find it; what somebody's own loss cannot be looked up by is found anew."""
        known = self._known if known is None else known
        try:
            if key in known:
                value: Value = known.pop(key)
                known[key] = value  # what was asked for last stands last
                return value
        except TypeError:
            return find()
        known[key] = value = find()
        return value
