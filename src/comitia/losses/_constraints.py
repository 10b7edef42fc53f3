"""Limits on answers: how many labels, which exclude each other, which imply others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from comitia._arrays import is_count
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, LabelArray, check_labels
from comitia._names import unknown
from comitia._threads import over_slices, rows_at_once
from comitia.losses import _independent, _within
from comitia.losses._additive import least_hamming, most_probable
from comitia.losses._base import Loss
from comitia.losses._counts import LossOfCounts, minimise_linear, minimise_ordered, tables_of
from comitia.losses._fmeasure import FLoss, _as_small_ratio
from comitia.losses._hamming import Hamming
from comitia.losses._jaccard import JaccardLoss
from comitia.losses._rules import Rules, closed_in_cycles
from comitia.losses._search import best_found
from comitia.losses._subset import SubsetZeroOne
from comitia.relevance import LabelSets, Marginals, NonEmptyMarginals, Relevance, Shared

Label = int | str


@dataclass(frozen=True)
class Constraints:
    """What an answer must satisfy, whatever the beliefs.

    Parameters
    ----------
    at_least, at_most : int
        How many labels an answer has; None is no limit.
    exclusive : tuple of tuples of labels
        Of each group an answer has at most one.
    implies : tuple of pairs (child, parent)
        An answer with the child has the parent.

    Labels are positions, or names, which :meth:`resolved` makes positions.

    Examples
    --------
    >>> from comitia.losses import FLoss
    >>> from comitia.losses import Constraints, minimise_within
    >>> from comitia.relevance import Marginals
    >>> limits = Constraints(at_least=1, exclusive=(("day", "night"),), implies=(("beach", "sea"),))
    >>> rules = limits.resolved(["beach", "day", "night", "sea"])
    >>> rules
    Constraints(at_least=1, at_most=None, exclusive=((1, 2),), implies=((0, 3),))
    >>> minimise_within(FLoss(), Marginals([[0.6, 0.5, 0.6, 0.4]]), rules)
    array([[1, 0, 1, 1]], dtype=int8)
    """

    at_least: int = 0
    at_most: int | None = None
    exclusive: tuple[tuple[Label, ...], ...] = ()
    implies: tuple[tuple[Label, Label], ...] = ()

    def __post_init__(self) -> None:
        for name in ("exclusive", "implies"):
            given = getattr(self, name)
            groups: list[Any] = list(given) if isinstance(given, Iterable) else [None]
            if isinstance(given, str) or any(isinstance(one, str) or not isinstance(one, Iterable) for one in groups):
                raise ComitiaError(f"{name} must hold groups of labels, such as ((0, 1),); got {given!r}.")
            object.__setattr__(self, name, tuple(tuple(map(_label, group)) for group in groups))
        for limit in ("at_least", "at_most"):
            value = getattr(self, limit)
            if not is_count(value) and not (limit == "at_most" and value is None):
                raise ComitiaError(f"{limit} must be a number of labels, not negative; got {value!r}.")
        if self.at_most is not None and self.at_least > self.at_most:
            raise ComitiaError(
                f"the limits contradict each other: at_least is {self.at_least}, at_most is {self.at_most}."
            )
        for group in self.exclusive:
            if len(set(group)) < 2 or len(set(group)) < len(group):
                raise ComitiaError(f"a group of exclusive must name two labels or more, each once; got {group}.")
        for pair in self.implies:
            if len(pair) != 2 or pair[0] == pair[1]:
                raise ComitiaError(f"implies must hold pairs (child, parent) of different labels; got {pair}.")
        if closed_in_cycles(self.implies):
            raise ComitiaError(f"implies must not lead from a label back to itself; got {self.implies}.")

    def resolved(self, label_names: Sequence[str]) -> Constraints:
        """Return the same limits with positions in the place of names, or say which name is not known."""
        position = {str(name): k for k, name in enumerate(label_names)}

        def at(label: Label) -> int:
            if isinstance(label, str):
                if label not in position:
                    raise ComitiaError(unknown("label", label, position))
                return position[label]
            return label

        resolved = replace(
            self,
            exclusive=tuple(tuple(map(at, group)) for group in self.exclusive),
            implies=tuple((at(child), at(parent)) for child, parent in self.implies),
        )
        rules_of(resolved, len(position))
        return resolved

    def allows(self, labeling: ArrayLike) -> NDArray[np.bool_]:
        """Return, for each labeling of shape (n, K), whether it keeps the limits."""
        h = check_labels(labeling, "labeling")
        return rules_of(self, h.shape[1]).allows(h)


@dataclass(frozen=True)
class Within(Loss):
    """A loss whose minimiser keeps limits: value and risk are the loss's own.

    Parameters
    ----------
    loss : Loss
        What is minimised.
    constraints : Constraints
        What an answer must satisfy; labels by position.

    Examples
    --------
    >>> from comitia.losses import Hamming
    >>> from comitia.losses import Constraints, Within
    >>> from comitia.relevance import Marginals
    >>> Within(Hamming(), Constraints(at_least=1)).minimise(Marginals([[0.2, 0.4], [0.1, 0.7]]))
    array([[0, 1],
           [0, 1]], dtype=int8)
    """

    loss: Loss
    constraints: Constraints

    def _value(self, y: LabelArray, h: LabelArray) -> FloatArray:
        return self.loss._value(y, h)

    def _minimise_marginals(self, p: FloatArray) -> LabelArray:
        return minimise_within(self.loss, Marginals.unchecked(p=p), self.constraints)

    def _minimise_labelsets(self, sets: LabelSets) -> LabelArray:
        return minimise_within(self.loss, sets, self.constraints)

    def _minimise_nonempty(self, belief: NonEmptyMarginals) -> LabelArray:
        return minimise_within(self.loss, belief, self.constraints)

    def _risk_nonempty(self, belief: NonEmptyMarginals, h: LabelArray) -> FloatArray:
        return self.loss._risk_nonempty(belief, h)

    def _risk_marginals(self, p: FloatArray, h: LabelArray) -> FloatArray:
        return self.loss._risk_marginals(p, h)

    def _risk_labelsets(self, sets: LabelSets, h: LabelArray) -> FloatArray:
        return self.loss._risk_labelsets(sets, h)


def minimise_within(loss: Loss, belief: Relevance, constraints: Constraints, *, exact_labels: int = 8) -> LabelArray:
    """Return, for each instance, the labeling of the smallest expected loss among those that the limits allow.

    ================== ============================= =====================================================
    loss               limits                        how
    ================== ============================= =====================================================
    Hamming            sizes, disjoint groups        exact: largest gains of the best of each group
    Hamming            and trees of implications     exact: dynamic programming
    subset 0/1         as Hamming                    exact, from marginals; from label sets, any limits
    F, linear in hits  sizes, disjoint groups        exact: greedy for each size
    F, linear in hits  and trees of implications     exact: dynamic programming for sizes in reach, O(K³)
    Jaccard, of counts sizes, disjoint groups        exact from marginals: top sets of the best of groups
    all others         any                           exact up to ``exact_labels`` labels, otherwise a search
    ================== ============================= =====================================================

    Sizes and disjoint groups are a matroid, so that greedy is exact where gains add, which they do at a given size
    where the loss is linear in the hits.  From marginals the order of Δ_h is that of the probabilities.  Trees may have
    groups whose labels have the same parent, or none.  The search starts from the allowed labelings that the belief
    names and from the sets that grow by the most probable label that fits, and flips one label with what that entails.

    Parameters
    ----------
    loss : Loss
        What is minimised.
    belief : Relevance
        What is believed of each instance.
    constraints : Constraints
        What an answer must satisfy; labels by position.
    exact_labels : int
        Up to how many labels a search tries every labeling that is allowed.

    Returns
    -------
    ndarray of int8, shape (n, K)

    Examples
    --------
    >>> from comitia.losses import Constraints, FLoss, minimise_within
    >>> from comitia.relevance import Marginals
    >>> belief = Marginals([[0.9, 0.6, 0.3, 0.1]])
    >>> minimise_within(FLoss(), belief, Constraints(exclusive=((0, 1),)))
    array([[1, 0, 0, 0]], dtype=int8)
    """
    rules = rules_of(check_constraints(constraints), belief.n_labels)
    if isinstance(loss, Within):
        raise ComitiaError("the loss has limits of its own: give them all at once.")
    if rules.free:
        return loss.minimise(belief)
    if isinstance(belief, Shared):
        return Within(loss, constraints).minimise(belief)
    if isinstance(loss, Hamming):
        if rules.greedy or rules.walk:
            return least_hamming(loss, belief.marginals(), rules)
        belief = Marginals(belief.marginals())
    if isinstance(belief, LabelSets):
        return _from_labelsets(loss, belief, rules, exact_labels)
    if isinstance(belief, NonEmptyMarginals):
        some = loss.given_some()
        if some is not None:
            loss, belief = some, Marginals.unchecked(p=belief.q)
        elif isinstance(loss, SubsetZeroOne) and rules.at_most:
            rules, belief = replace(rules, at_least=max(1, rules.at_least)), Marginals.unchecked(p=belief.q)
    return _from_marginals(loss, belief, rules, exact_labels)


def check_constraints(given: Any) -> Constraints:
    """Return limits as they are, or say what is none."""
    if not isinstance(given, Constraints):
        raise ComitiaError(f"constraints must be Constraints(...) or None; got {given!r}.")
    return given


@lru_cache(maxsize=16)
def rules_of(constraints: Constraints, n_labels: int) -> Rules:
    """Return the limits on labelings of so many labels, ready for the loops, or say what is wrong with them."""
    for label in (label for group in (*constraints.exclusive, *constraints.implies) for label in group):
        if isinstance(label, str):
            raise ComitiaError(f"label {label!r} is a name: Constraints.resolved(label_names) makes it a position.")
        if not 0 <= label < n_labels:
            raise ComitiaError(f"labels must lie in 0..{n_labels - 1}; the limits name {label}.")
    return Rules(
        n_labels,
        constraints.at_least,
        -1 if constraints.at_most is None else constraints.at_most,
        constraints.exclusive,  # type: ignore[arg-type]  # no names are left
        constraints.implies,  # type: ignore[arg-type]
    )


def _label(label: object) -> Label:
    if isinstance(label, str):
        return label
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return int(label)
    raise ComitiaError(f"a label must be a name or a position; got {label!r}.")


def _from_marginals(loss: Loss, belief: Relevance, rules: Rules, exact_labels: int) -> LabelArray:
    p = belief.marginals()
    if isinstance(loss, SubsetZeroOne) and (rules.greedy or rules.walk):
        return most_probable(p, rules)
    if rules.greedy and isinstance(loss, FLoss | JaccardLoss | LossOfCounts):
        # Groups take a copy of the probabilities.
        step = 2 * rows_at_once(p.shape[1]) if rules.exclusive else max(1, len(p))
        parts = [_top_of_groups(loss, p[start : start + step], rules) for start in range(0, max(1, len(p)), step)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    linear = _linear_tables(loss, p.shape[1])
    if rules.walk and linear:
        if isinstance(loss, FLoss):
            return _mended(loss, belief, rules, lambda broken: _best_of_tree(broken.marginals(), linear, rules))
        return _best_of_tree(p, linear, rules)
    if isinstance(loss, Hamming | SubsetZeroOne | FLoss | JaccardLoss):
        return _mended(loss, belief, rules, lambda broken: best_found(loss.risk, broken, rules, exact_labels))
    return best_found(loss.risk, belief, rules, exact_labels)


def _mended(loss: Loss, belief: Relevance, rules: Rules, decide: Callable[[Any], LabelArray]) -> LabelArray:
    """Keep the answers of an exact minimiser that the rules allow, which are the best, and decide the others."""
    labeling = loss.minimise(belief)
    broken = np.flatnonzero(~rules.allows(labeling))
    if broken.size:
        labeling[broken] = decide(belief.take(broken))
    return labeling


def _best_of_tree(p: FloatArray, linear: tuple[FloatArray, FloatArray], rules: Rules) -> LabelArray:
    assert rules.walk
    walk, labeling = rules.walk, np.zeros(p.shape, np.int8)

    def decide(rows: slice) -> None:
        _within.best_linear_tree(p[rows], *linear, *walk, rules.at_least, rules.at_most, labeling[rows])

    over_slices(decide, len(p), at_least=16)
    return labeling


def _from_labelsets(loss: Loss, sets: LabelSets, rules: Rules, exact_labels: int) -> LabelArray:
    if isinstance(loss, SubsetZeroOne):
        return _mode_within(loss, sets, rules)
    if rules.greedy or rules.walk:
        if isinstance(loss, FLoss) and not rules.implies:
            # More labels than occur at all gain nothing.
            sizes = min(rules.at_most, max(rules.at_least, int(sets.table.any(axis=0).sum())))
            constant, slope = _f_tables(loss, sizes, int(sets.table.sum(axis=1, dtype=np.int64).max(initial=0)))
            return minimise_linear(sets, constant, slope, replace(rules, at_most=sizes), fill=False)
        linear = _linear_tables(loss, sets.n_labels)
        if linear and isinstance(loss, FLoss):
            return _mended(loss, sets, rules, lambda broken: minimise_linear(broken, *linear, rules, fill=True))
        if linear:
            return minimise_linear(sets, *linear, rules, fill=True)
    distinct, place = sets.distinct()
    return best_found(loss.risk, distinct, rules, exact_labels)[place]


def _linear_tables(loss: Loss, n_labels: int) -> tuple[FloatArray, FloatArray] | None:
    """Return the loss as constant[|h|, |y|] + slope[|h|, |y|] · |y ∩ h|, or None where it is not."""
    if isinstance(loss, FLoss):
        return _f_tables(loss, n_labels, n_labels)
    if isinstance(loss, LossOfCounts):
        tables = tables_of(loss, n_labels)
        return (tables.constant, tables.slope) if tables.linear else None
    return None


def _f_tables(loss: FLoss, largest_answer: int, largest_truth: int) -> tuple[FloatArray, FloatArray]:
    h, s = np.ogrid[: largest_answer + 1.0, : largest_truth + 1.0]
    constant = np.ones((largest_answer + 1, largest_truth + 1))
    constant[0, 0] = 1 - loss.zero_division
    whole = h + loss.beta_squared * s
    whole[0, 0] = np.inf
    return constant, -(1 + loss.beta_squared) / whole


def _top_of_groups(loss: FLoss | JaccardLoss | LossOfCounts, p: FloatArray, rules: Rules) -> LabelArray:
    key, lengths = _best_of_groups(p, rules)
    if isinstance(loss, LossOfCounts):
        return minimise_ordered(loss, key, lengths, rules)
    return _best_top(loss, key, lengths, rules)


def _best_of_groups(p: FloatArray, rules: Rules) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return probabilities, negative where another label of the group is more probable, and how many are not."""
    if not rules.exclusive:
        return p, np.full(len(p), p.shape[1])
    key = p.copy()
    for group in rules.exclusive:
        columns = np.array(group)
        best = columns[np.argmax(p[:, columns], axis=1)]
        beaten = columns != best[:, None]
        key[:, columns] = np.where(beaten, np.minimum(-p[:, columns], -5e-324), p[:, columns])
    lost = sum(len(group) - 1 for group in rules.exclusive)
    return key, np.full(len(p), p.shape[1] - lost)


def _best_top(loss: FLoss | JaccardLoss, key: FloatArray, lengths: NDArray[np.int64], rules: Rules) -> LabelArray:
    sizes = np.empty(len(key), np.int64)
    labeling = np.zeros(key.shape, np.int8)

    def decide(rows: slice) -> None:
        ascending = np.sort(key[rows], axis=1)
        ordered = np.abs(ascending[:, ::-1])
        if isinstance(loss, FLoss):
            _within.best_f_sizes_within(
                ordered, lengths[rows], loss.beta_squared, *_as_small_ratio(loss.beta), float(loss.zero_division),
                rules.at_least, rules.at_most, sizes[rows],
            )  # fmt: skip
        else:
            _within.best_jaccard_sizes_within(
                ordered, lengths[rows], float(loss.zero_division), rules.at_least, rules.at_most, sizes[rows]
            )
        _independent.take_top(key[rows], ascending, sizes[rows], labeling[rows])

    over_slices(decide, len(key), at_least=64, at_most=rows_at_once(key.shape[1]))
    return labeling


def _mode_within(loss: SubsetZeroOne, sets: LabelSets, rules: Rules) -> LabelArray:
    """Return the allowed labeling of the largest weight; where there is none all are as bad, and agreement decides."""
    allowed = rules.allows(sets.table)
    weights = sets.weights
    keep = allowed[weights.indices]
    ends = np.concatenate([[0], np.cumsum(keep)])[weights.indptr]
    kept = csr_array((weights.data[keep], weights.indices[keep], ends), shape=weights.shape)
    named = np.flatnonzero(np.diff(ends))
    others = np.flatnonzero(np.diff(ends) == 0)
    labeling = np.empty((sets.n_instances, sets.n_labels), np.int8)
    if named.size:
        part = LabelSets.unchecked(table=sets.table, weights=kept[named], total=1.0)
        labeling[named] = loss._minimise_labelsets(part)
    if others.size:
        p = sets.take(others).marginals()
        if rules.greedy or rules.walk:
            labeling[others] = least_hamming(Hamming(), p, rules)
        else:
            labeling[others] = best_found(Hamming().risk, Marginals(p), rules, exact_labels=8)
    return labeling
