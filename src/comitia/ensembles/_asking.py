"""How members are asked: about so many instances at a time as fit in memory, and about the labels that can matter."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.utils import _safe_indexing

from comitia._jobs import limited_to, local_threads
from comitia._labels import FloatArray, IntArray, LabelRows
from comitia._threads import over_parts, slices
from comitia.aggregation import Beliefs, Decision
from comitia.ensembles._crews import Asked, TreeCrew
from comitia.ensembles._features import number_of_rows
from comitia.ensembles._few_labels import Foliage
from comitia.relevance import LabelSets, Marginals, Observed, Relevance

# Predictions stream over instances: a thread has this many member × instance × label beliefs in memory at a time.
BELIEFS_AT_ONCE = 1 << 23
# Fewer instances are not worth a thread of their own: what Python does for a part is done by one thread at a time.
_ROWS_OF_A_PART = 2048
# From so many labels on, those that no tree holds for possible are left out before anything is decided.
MANY_LABELS = 4000

Found = TypeVar("Found")


@dataclass(frozen=True)
class Part:
    """What members believe about some of the instances that they are asked about.

    Parameters
    ----------
    beliefs : Beliefs
    rows : slice
        Which of the instances.
    labels : array of int or None
        The labels that the beliefs are about, ascending; None is all of them.  All others have probability zero.
    """

    beliefs: Beliefs
    rows: slice
    labels: IntArray | None = None

    def in_full(self, found: NDArray[Any], n_labels: int, sparse: bool) -> Any:
        """Return what was found for these labels, (rows, labels), for all of them, as a CSR matrix if it is sparse."""
        if not sparse and self.labels is None:
            return found
        if not sparse:
            full = np.zeros((len(found), n_labels), found.dtype)
            full[:, self.labels] = found
            return full
        few = csr_array(found)
        columns = few.indices if self.labels is None else self.labels[few.indices]
        return csr_array((few.data, columns.astype(np.int32), few.indptr), shape=(len(found), n_labels))


class Asking:
    """The part of an ensemble that asks its members."""

    members_: Any
    label_names_: NDArray[Any]
    observed_: Observed

    @abstractmethod
    def _features(self, X: Any) -> Any:
        """Check new instances and bring them to the form that the members know."""

    def _weights(self) -> FloatArray | None:
        """Weights of the members in a decision."""
        return None

    def _gathered(self, X: Any, decide: Callable[[Beliefs], NDArray[Any]], *, once: bool = True) -> NDArray[Any]:
        """Return what is decided about X, with a row for each instance."""
        with limited_to(getattr(self, "n_jobs", None)):
            parts = self._over_parts(lambda part: decide(part.beliefs), self._features(X), once=once)
        return np.asarray(joined(parts, sparse=False))

    def _labelings(self, X: Any, find: Callable[[Beliefs], NDArray[Any]], by: Decision, sparse: bool) -> Any:
        """Return labels or marginals of X, (n, K), as a CSR matrix if it is sparse.

        ``by`` is the decision they come from: what cannot matter for it is left out on the way.
        """
        K = len(self.label_names_)

        def found(part: Part) -> Any:
            return part.in_full(find(part.beliefs), K, sparse)

        with limited_to(getattr(self, "n_jobs", None)):
            return joined(self._over_parts(found, self._features(X), [by], once=True), sparse)

    def _over_parts(
        self,
        work: Callable[[Part], Found],
        features: Any,
        decisions: Sequence[Decision] = (),
        rows: IntArray | None = None,
        weights: FloatArray | None = None,
        observed: Observed | None = None,
        once: bool = False,
        truth: LabelRows | None = None,
    ) -> list[Found]:
        """Return what ``work`` makes of the members' beliefs about all instances, or these rows, a part at a time.

        Where there are many labels and all of the ``decisions`` allow it, beliefs are about the labels that some tree
        holds for possible for one of a part's instances, and those that they have in ``truth``.
        """
        if self._leaves_labels_out() and decisions and all(decision.keeps_zeros for decision in decisions):
            return self._over_few_labels(work, features, decisions, rows, weights, observed, once, truth)
        n = number_of_rows(features) if rows is None else len(rows)
        if isinstance(self.members_, TreeCrew):
            self.members_.get_ready(decisions, self.observed_ if observed is None else observed, n)
        asked = self._asked(features, rows, weights, observed, once)
        parts = (Part(beliefs, part) for part, beliefs in zip(self._chunks(n), asked, strict=True))
        threads = self._threads_over_parts()

        def done(part: Part) -> Found:
            found = work(part)
            part.beliefs.forget()
            return found

        found: list[Found] = []
        while some := list(islice(parts, 2 * threads)):
            found += over_parts(done, some, threads)
        return found

    def _leaves_labels_out(self) -> bool:
        """Whether there are many labels, of which members hold few for possible."""
        return len(self.label_names_) >= MANY_LABELS and isinstance(self.members_, TreeCrew)

    def _over_few_labels(
        self,
        work: Callable[[Part], Found],
        features: Any,
        decisions: Sequence[Decision],
        rows: IntArray | None,
        weights: FloatArray | None,
        observed: Observed | None,
        once: bool,
        truth: LabelRows | None,
    ) -> list[Found]:
        n = number_of_rows(features) if rows is None else len(rows)
        known = self.observed_ if observed is None else observed
        joint = any(decision.over.joint for decision in decisions)
        never_empty = any(decision.reading.never_empty(known) for decision in decisions)
        size = max(1, BELIEFS_AT_ONCE // len(self.members_))
        found: list[Found] = []
        for part in slices(max(n, 1), size):
            some = _taken(features, rows, part, n)
            foliage = Foliage.of(self.members_, some, joint)
            ask = partial(self._few_labels, foliage, some, part.start, known, weights, truth, once, never_empty)
            found += over_parts(partial(_asked_and_done, work, ask), foliage.cuts(), self._threads_over_parts())
        return found

    def _few_labels(
        self,
        foliage: Foliage,
        features: Any,
        start: int,
        known: Observed,
        weights: FloatArray | None,
        truth: LabelRows | None,
        once: bool,
        never_empty: bool,
        cut: slice,
    ) -> Part:
        """Return what is believed about some of the features, which begin at row ``start``, and the labels it is of."""
        rows = slice(start + cut.start, start + cut.stop)
        mass = self._weights() if weights is None else weights[:, rows]
        few = foliage.few(cut, known.take(rows), None if truth is None else truth[rows])
        if never_empty and few.has_none:  # some label must be relevant, and all are as good as any other
            return Part(Beliefs(partial(self._believed, features[cut], known.take(rows)), mass, once), rows)
        return Part(Beliefs(few.ask, mass, once), rows, few.labels)

    def _asked(
        self,
        features: Any,
        rows: IntArray | None = None,
        weights: FloatArray | None = None,
        observed: Observed | None = None,
        once: bool = False,
    ) -> Iterator[Beliefs]:
        """Yield the members' beliefs about all instances, or these rows, a chunk at a time.

        Memory follows the chunk and not the input.  ``weights`` (M, rows) weigh the members for each instance; by
        default they have the ensemble's.  ``observed`` is what is known for these rows.
        """
        n = number_of_rows(features) if rows is None else len(rows)
        known = self.observed_ if observed is None else observed
        for part in self._chunks(n):
            some = _taken(features, rows, part, n)
            mass = self._weights() if weights is None else weights[:, part]
            about = None if mass is None or np.ndim(mass) < 2 else np.asarray(mass) > 0
            yield Beliefs(partial(self._believed, some, known.take(part), about=about), mass, once)

    def _chunks(self, n: int) -> list[slice]:
        """Which of n instances are asked about together; members are asked about none, too, once."""
        return slices(max(n, 1), self._chunk(n))

    def _chunk(self, n: int) -> int:
        """How many of n instances are asked about together: what fits in memory, and leaves as much to each thread."""
        most = max(1, BELIEFS_AT_ONCE // (len(self.members_) * self._values_per_belief()))
        if (threads := self._threads_over_parts()) == 1 or n <= (least := min(most, _ROWS_OF_A_PART)):
            return most
        parts = max(-(-n // most), min(2 * threads, -(-n // least)))
        return -(-n // (-(-parts // threads) * threads))

    def _threads_over_parts(self) -> int:
        """How many parts are worked on at a time: members that are asked in Python are asked by one thread."""
        return local_threads(getattr(self, "n_jobs", None)) if getattr(self.members_, "is_compiled", False) else 1

    def _values_per_belief(self) -> int:
        """How many numbers a member's belief about an instance has."""
        return len(self.label_names_)

    def _believed(self, features: Any, observed: Observed, joint: bool, about: NDArray[np.bool_] | None = None) -> Any:
        """What each member believes about these instances; nobody has to be asked about none."""
        if number_of_rows(features):
            return self.members_.relevances(features, Asked(joint, observed, getattr(self, "n_jobs", None), about))
        none: Relevance = (
            LabelSets(self.observed_.array, np.empty((0, len(self.observed_.table))), observed=self.observed_)
            if joint
            else Marginals(np.empty((0, len(self.label_names_))), self.observed_)
        )
        return [none] * len(self.members_)


def joined(parts: Sequence[Any], sparse: bool) -> Any:
    """Return parts one below the other, as a CSR matrix if they are sparse."""
    if sparse:
        return csr_array(vstack(parts, format="csr"))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _taken(features: Any, rows: IntArray | None, part: slice, n: int) -> Any:
    """Return a part of n instances: all of the features, or these rows of them."""
    if rows is not None:
        return _safe_indexing(features, rows[part])
    return features[part] if n > part.stop - part.start else features


def _asked_and_done(work: Callable[[Part], Found], ask: Callable[[slice], Part], cut: slice) -> Found:
    return work(ask(cut))
