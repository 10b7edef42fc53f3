"""Rules for answers, by position and ready for the loops: sizes, exclusive groups, implications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from comitia._compiled import njit
from comitia._errors import ComitiaError
from comitia._labels import LabelArray
from comitia.losses._sizes import allowed

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rules:
    """What a labeling of ``n_labels`` labels must satisfy; labels are positions."""

    n_labels: int
    at_least: int = 0
    at_most: int = -1
    exclusive: tuple[tuple[int, ...], ...] = ()
    implies: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        limit = self.n_labels if self.at_most < 0 else min(self.at_most, self.n_labels)
        object.__setattr__(self, "at_most", limit)
        if self.at_least > limit or self.at_least > self.largest.sum():
            raise ComitiaError(
                f"the limits contradict each other: at least {self.at_least} labels are wanted, and no labeling of"
                f" {self.n_labels} that is allowed has more than {min(int(self.largest.sum()), limit)}."
            )

    @property
    def free(self) -> bool:
        """Whether every labeling is allowed."""
        return self.any_size and not self.exclusive and not self.implies

    @cached_property
    def group_of(self) -> Index:
        """The group of each label, −1 if it is in none; the last of several."""
        group_of = np.full(self.n_labels, -1, np.int64)
        for number, group in enumerate(self.exclusive):
            group_of[list(group)] = number
        return group_of

    @cached_property
    def groups(self) -> tuple[Index, Index]:
        """The exclusive groups as lists: group g has the labels ``members[starts[g]:starts[g + 1]]``."""
        members = [label for group in self.exclusive for label in group]
        return np.cumsum([0, *map(len, self.exclusive)]), np.array(members, np.int64)

    @cached_property
    def pairs(self) -> tuple[Index, Index]:
        """Children and their parents."""
        return np.array([child for child, _ in self.implies], np.int64), np.array(
            [up for _, up in self.implies], np.int64
        )

    @property
    def any_size(self) -> bool:
        """Whether answers may have any number of labels."""
        return self.at_least == 0 and self.at_most >= self.n_labels

    @cached_property
    def of_some(self) -> tuple[Index, Rules]:
        """The labels that groups and implications name, and the same rules for these alone, sizes left aside."""
        named = sorted({label for labels in (*self.exclusive, *self.implies) for label in labels})
        place = {label: at for at, label in enumerate(named)}
        exclusive = tuple(tuple(place[label] for label in group) for group in self.exclusive)
        implies = tuple((place[child], place[parent]) for child, parent in self.implies)
        return np.array(named, np.int64), Rules(len(named), exclusive=exclusive, implies=implies)

    @cached_property
    def disjoint(self) -> bool:
        """Whether no label is in two groups: then groups and sizes are a matroid, and greedy is exact."""
        members = [label for group in self.exclusive for label in group]
        return len(members) == len(set(members))

    @property
    def greedy(self) -> bool:
        """Whether there are sizes and disjoint groups alone."""
        return self.disjoint and not self.implies

    @cached_property
    def walk(self) -> tuple[Index, Index, Index] | None:
        """The labels as a walk (see `_within`), or None where the rules are no forest with groups of siblings."""
        parent = dict(self.implies)
        if len(parent) < len(self.implies) or not self.disjoint:
            return None
        if any(len({parent.get(label, -1) for label in group}) > 1 for group in self.exclusive):
            return None
        return _walk(self.n_labels, parent, self.group_of)

    @cached_property
    def above(self) -> NDArray[np.bool_]:
        """above[k, j]: taking label k takes label j, itself included."""
        reach = np.eye(self.n_labels, dtype=np.bool_)
        for child, parent in self.implies:
            reach[child, parent] = True
        for middle in range(self.n_labels):
            reach |= reach[:, middle : middle + 1] & reach[middle]
        return reach

    @cached_property
    def excluded(self) -> NDArray[np.bool_]:
        """excluded[k, j]: taking label k rules label j out, because it or what it implies excludes what j implies."""
        conflict = np.zeros((self.n_labels, self.n_labels), np.bool_)
        for group in self.exclusive:
            conflict[np.ix_(group, group)] = True
        np.fill_diagonal(conflict, False)
        return np.asarray(self.above @ conflict @ self.above.T)

    @cached_property
    def largest(self) -> LabelArray:
        """Return an allowed labeling of as many labels as any, sizes left aside."""
        if not self.exclusive:
            return np.ones(self.n_labels, np.int8)
        if self.greedy:
            labeling = np.ones(self.n_labels, np.int8)
            labeling[[label for group in self.exclusive for label in group[1:]]] = 0
            return labeling
        rows = [[-1.0 if j in group else 0.0 for j in range(self.n_labels)] for group in self.exclusive]
        bounds = [-1.0] * len(rows)
        for child, parent in self.implies:
            rows.append([(j == parent) - (j == child) * 1.0 for j in range(self.n_labels)])
            bounds.append(0.0)
        found = milp(
            -np.ones(self.n_labels), integrality=np.ones(self.n_labels), bounds=Bounds(0, 1),
            constraints=LinearConstraint(np.array(rows), lb=np.array(bounds)),
        )  # fmt: skip
        return np.asarray(np.round(found.x), np.int8)

    def allows(self, labeling: LabelArray) -> NDArray[np.bool_]:
        """Return which rows are allowed."""
        found = np.empty(len(labeling), np.bool_)
        allowed(np.ascontiguousarray(labeling), self.at_least, self.at_most, *self.groups, *self.pairs, found)
        return found


def _walk(n_labels: int, parent: dict[int, int], group_of: Index) -> tuple[Index, Index, Index]:
    """List the labels with parents first and the siblings of a group together; say where each place goes on."""
    children: dict[int, list[int]] = {}
    for label in range(n_labels):
        children.setdefault(parent.get(label, -1), []).append(label)
    for siblings in children.values():
        first = {int(group_of[label]): label for label in reversed(siblings)}
        siblings.sort(key=lambda label: (first[int(group_of[label])] if group_of[label] >= 0 else label, label))
    order: list[int] = []
    place: dict[int, int] = {}
    pending = list(reversed(children.get(-1, ())))
    while pending:
        label = pending.pop()
        place[label] = len(order)
        order.append(label)
        pending.extend(reversed(children.get(label, ())))
    # Where the walk goes on when all below a label is settled, it taken or not.
    done: dict[int, int] = {-1: n_labels}
    take_to, skip_to = np.empty(n_labels, np.int64), np.empty(n_labels, np.int64)
    for label in order:
        siblings = children[parent.get(label, -1)]
        later = siblings[siblings.index(label) + 1 :]
        up = done[parent.get(label, -1)]
        skip_to[place[label]] = place[later[0]] if later else up
        apart = [other for other in later if group_of[label] < 0 or group_of[other] != group_of[label]]
        done[label] = place[apart[0]] if apart else up
    for label in order:
        below = children.get(label, ())
        take_to[place[label]] = place[below[0]] if below else done[label]
    return np.array(order, np.int64), take_to, skip_to


def closed_in_cycles(implies: Sequence[tuple[object, object]]) -> bool:
    """Whether some label implies itself by way of others."""
    remaining = set(implies)
    while remaining:
        ends = {child for child, _ in remaining}
        leaves = {edge for edge in remaining if edge[1] not in ends}
        if not leaves:
            return True
        remaining -= leaves
    return False


@njit(cache=True, nogil=True)
def greedy_steps(order, above, excluded, at_most, steps):  # type: ignore[no-untyped-def]
    """Fill steps[i, k] with the step at which label k joins when labels are taken in ``order``, −1 if it never does.

    A label joins with all that it implies, if none of them is excluded and the size allows it.
    """
    n, K = order.shape
    for i in range(n):
        steps[i] = -1
        size, step = 0, 0
        for r in range(K):
            k = order[i, r]
            if steps[i, k] >= 0:
                continue
            extra, fits = 0, True
            for j in range(K):
                if above[k, j] and excluded[k, j]:
                    fits = False
                if steps[i, j] >= 0:
                    if excluded[k, j]:
                        fits = False
                elif above[k, j]:
                    extra += 1
            if fits and size + extra <= at_most:
                step += 1
                for j in range(K):
                    if above[k, j] and steps[i, j] < 0:
                        steps[i, j] = step
                size += extra


@njit(cache=True, nogil=True)
def neighbours(labeling, p, above, excluded, at_least, at_most, near, valid):  # type: ignore[no-untyped-def]
    """Fill near[i, k] with labeling i after label k is flipped and what that entails, valid[i, k] if that is allowed.

    Switching a label on takes what it implies along and drops what it excludes; switching it off drops what implies
    it.  A size that is then out of bounds is mended by the least probable labels that nothing needs, or the most
    probable ones that fit.
    """
    n, K = labeling.shape
    for i in range(n):
        for k in range(K):
            row = near[i, k]
            size = 0
            on = labeling[i, k] == 0
            valid[i, k] = not (on and excluded[k, k])
            for j in range(K):
                if on:
                    row[j] = 1 if above[k, j] else (0 if excluded[k, j] else labeling[i, j])
                else:
                    row[j] = 0 if above[j, k] else labeling[i, j]
                size += row[j]
            while valid[i, k] and size > at_most:
                worst = -1
                for j in range(K):
                    if row[j] and not (on and above[k, j]) and (worst < 0 or p[i, j] < p[i, worst]):
                        needed = False
                        for other in range(K):
                            if other != j and row[other] and above[other, j]:
                                needed = True
                        if not needed:
                            worst = j
                if worst < 0:
                    valid[i, k] = False
                else:
                    row[worst] = 0
                    size -= 1
            while valid[i, k] and size < at_least:
                best = -1
                for j in range(K):
                    if not row[j] and j != k and (best < 0 or p[i, j] > p[i, best]):
                        fits = True
                        for other in range(K):
                            if other != j and (
                                (above[j, other] and not row[other]) or (row[other] and excluded[j, other])
                            ):
                                fits = False
                        if fits:
                            best = j
                if best < 0:
                    valid[i, k] = False
                else:
                    row[best] = 1
                    size += 1
