"""The best labeling that a search finds, for losses and rules that no exact algorithm covers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from comitia._labels import FloatArray, IntArray, LabelArray
from comitia.losses._rules import Rules, greedy_steps, neighbours
from comitia.relevance import LabelSets, Relevance

# Candidates are judged together as long as they have no more cells than this.
_CELLS = 1 << 18

Risk = Callable[[Relevance, LabelArray], FloatArray]


def best_found(risk: Risk, belief: Relevance, rules: Rules, exact_labels: int) -> LabelArray:
    """Return an allowed labeling of small risk for each instance.

    Up to ``exact_labels`` labels every allowed labeling is tried, which is exact.  Beyond that the candidates are the
    allowed labelings that the belief names and the sets that grow by taking the most probable label that fits; the
    best of them is improved by flipping one label, with what that entails, while that helps.
    """
    n, K = belief.n_instances, belief.n_labels
    every = _every(rules) if exact_labels >= K else None
    size = max(1, _CELLS // (K if every is None else every.size))
    labeling = np.empty((n, K), np.int8)
    for start in range(0, n, size):
        some = belief.take(np.arange(start, min(start + size, n)))
        labeling[start : start + size] = _searched(risk, some, rules) if every is None else _tried(risk, some, every)
    return labeling


def _every(rules: Rules) -> LabelArray:
    """Return all labelings that are allowed."""
    codes = np.arange(2**rules.n_labels)
    every = ((codes[:, None] >> np.arange(rules.n_labels)) & 1).astype(np.int8)
    return np.asarray(every[rules.allows(every)])


def _tried(risk: Risk, belief: Relevance, every: LabelArray) -> LabelArray:
    rows = np.repeat(np.arange(belief.n_instances), len(every))
    return _best_of(risk, belief, rows, lambda part: every[part % len(every)], len(rows))[0]


def _searched(risk: Risk, belief: Relevance, rules: Rules) -> LabelArray:
    p = belief.marginals()
    labeling, reached = _grown(risk, belief, rules, p)
    if isinstance(belief, LabelSets):
        labeling, reached = _or_named(risk, belief, rules, labeling, reached)
    return _climbed(risk, belief, rules, p, labeling, reached)


def _best_of(
    risk: Risk, belief: Relevance, rows: IntArray, candidate: Callable[[IntArray], LabelArray], n: int
) -> tuple[LabelArray, FloatArray]:
    """Return each instance's candidate of the smallest risk: ``rows`` (ascending) says whose candidate each is."""
    labeling = np.zeros((belief.n_instances, belief.n_labels), np.int8)
    reached = np.full(belief.n_instances, np.inf)
    step = max(1, _CELLS // belief.n_labels)
    for start in range(0, n, step):
        part = np.arange(start, min(start + step, n))
        h = candidate(part)
        risks = risk(belief.take(rows[part]), h)
        firsts = np.lexsort((part, risks, rows[part]))
        firsts = firsts[np.unique(rows[part][firsts], return_index=True)[1]]
        better = firsts[risks[firsts] < reached[rows[part][firsts]]]
        labeling[rows[part][better]] = h[better]
        reached[rows[part][better]] = risks[better]
    return labeling, reached


def _grown(risk: Risk, belief: Relevance, rules: Rules, p: FloatArray) -> tuple[LabelArray, FloatArray]:
    steps = np.empty(p.shape, np.int64)
    order = np.argsort(-p, axis=1, kind="stable")
    greedy_steps(order, rules.above, rules.excluded, rules.at_most, steps)
    lengths = steps.max(axis=1, initial=0) + 2
    ends = np.cumsum(lengths)
    rows = np.repeat(np.arange(len(p)), lengths)
    # The last candidate of each instance is the largest labeling there is, cut to size: greed may fall short of it.
    spare = _cut_to_size(rules)

    def candidate(part: IntArray) -> LabelArray:
        step = part - (ends - lengths)[rows[part]]
        own = steps[rows[part]]
        h: LabelArray = ((own > 0) & (own <= step[:, None])).astype(np.int8)
        sizes = h.sum(axis=1)
        h[(step == lengths[rows[part]] - 1) | (sizes < rules.at_least)] = spare
        return h

    return _best_of(risk, belief, rows, candidate, len(rows))


def _cut_to_size(rules: Rules) -> LabelArray:
    """Return some allowed labeling of at most ``at_most`` labels, as large as can be."""
    labeling = rules.largest.copy()
    needed_by = rules.above.sum(axis=1)
    while labeling.sum() > rules.at_most:
        # Of the labels taken, the one that implies most is implied by none of the others.
        labeling[max(np.flatnonzero(labeling), key=lambda k: needed_by[k])] = 0
    return np.asarray(labeling, np.int8)


def _or_named(
    risk: Risk, belief: LabelSets, rules: Rules, labeling: LabelArray, reached: FloatArray
) -> tuple[LabelArray, FloatArray]:
    weights: csr_array = belief.weights
    entries = np.flatnonzero(rules.allows(belief.table)[weights.indices])
    rows = np.repeat(np.arange(belief.n_instances), np.diff(weights.indptr))[entries]
    named, named_risk = _best_of(
        risk, belief, rows, lambda part: belief.table[weights.indices[entries[part]]], len(entries)
    )
    better = named_risk < reached
    return np.where(better[:, None], named, labeling), np.where(better, named_risk, reached)


def _climbed(
    risk: Risk, belief: Relevance, rules: Rules, p: FloatArray, labeling: LabelArray, reached: FloatArray
) -> LabelArray:
    K = rules.n_labels
    active = np.arange(len(p))
    block = max(1, _CELLS // (K * K))
    while active.size:
        moved = []
        for start in range(0, len(active), block):
            rows = active[start : start + block]
            near, valid = np.empty((len(rows), K, K), np.int8), np.empty((len(rows), K), np.bool_)
            neighbours(labeling[rows], p[rows], rules.above, rules.excluded, rules.at_least, rules.at_most, near, valid)
            risks = np.full((len(rows), K), np.inf)
            at, label = np.nonzero(valid)
            risks[at, label] = risk(belief.take(rows[at]), near[at, label])
            best = np.argmin(risks, axis=1)
            least = risks[np.arange(len(rows)), best]
            better = least < reached[rows] - 1e-12 * np.abs(reached[rows])
            labeling[rows[better]] = near[np.flatnonzero(better), best[better]]
            reached[rows[better]] = least[better]
            moved.append(rows[better])
        active = np.concatenate(moved)
    return labeling
