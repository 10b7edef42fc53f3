"""Random limits, budgets, partial answers, orders and batches against all answers that there are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np

from comitia import ComitiaError, LabelSets, Marginals
from comitia.losses import (
    Abstaining,
    Constraints,
    CountLoss,
    FLoss,
    FowlkesMallows,
    Hamming,
    Informedness,
    JaccardLoss,
    Matthews,
    Precision,
    PropensityScored,
    Recall,
    SubsetZeroOne,
    TopK,
    minimise_within,
    rank_by,
)
from comitia.relevance import NonEmpty, votes
from tests import oracle
from tests.attack.decisions import DECIDED, ROUNDING, _probabilities, _sets
from tests.attack.run import Log
from tests.losses.test_abstention import partial_value
from tests.losses.test_counts import cells, f1, jaccard, steep
from tests.losses.test_topk import order_value
from tests.measures.test_measures import VARIANTS as MEASURES
from tests.measures.test_measures import soft_value

COUNTED = (
    *(Precision(recall_floor=floor, zero_division=z) for floor in (0, 0.3, 0.6) for z in (0, 0.5)),
    *(Recall(precision_floor=floor, zero_division=z) for floor in (0, 0.5, 1) for z in (0, 1)),
    *(kind(zero_division=z) for kind in (Matthews, FowlkesMallows) for z in (0, 1)),
    Informedness(),
    *(CountLoss(function) for function in (f1, jaccard, steep)),
    *(TopK(k, weight, exactly) for k in (1, 2, 9) for weight in ("precision", "recall", "ndcg") for exactly in (0, 1)),
)
PARTIAL = (
    Hamming(),
    Hamming(false_negative=3, false_positive=0.5),
    SubsetZeroOne(),
    *(FLoss(beta=beta, zero_division=z) for beta in (0.5, 0.7310585, 1, 2) for z in (0, 0.25, 1)),
    *(JaccardLoss(zero_division=z) for z in (0, 0.5, 1)),
)
ORDERS = ("rank", "label-ranking", "dcg", "recall", "ndcg")


def prepare(folder: Path) -> None:
    """Nothing is needed."""


def work(folder: Path, cases: range, seed: int) -> None:
    """Decide one instance, or one batch, for each case."""
    log = Log(folder)
    for case in cases:
        log.begin(case)
        rng = np.random.default_rng([seed, case])
        answer = KINDS[rng.integers(len(KINDS))]
        kind = answer.__name__.removeprefix("_")
        try:
            wrong = answer(rng)
        except ComitiaError as error:
            wrong = str(error)
        log.end(case, f"WRONG: case {case}: {kind}: {wrong}" if wrong else kind)


def _limits(rng: np.random.Generator) -> str | None:
    belief = _belief(rng, K := int(rng.integers(2, 7)))
    loss = (*DECIDED, *COUNTED)[rng.integers(len(DECIDED) + len(COUNTED))]
    shuffled = rng.permutation(K).tolist()
    pairs = [(a, b) for i, a in enumerate(shuffled) for b in shuffled[i + 1 :]]
    cuts = np.split(rng.permutation(K), sorted(rng.integers(0, K + 1, rng.integers(0, 4))))
    groups = [tuple(part.tolist()) for part in cuts if len(part) > 1]
    if rng.random() < 0.3:  # a group that may overlap with others
        groups.append(tuple(shuffled[: rng.integers(2, K + 1)]))
    least, most = int(rng.integers(0, K + 1)) * int(rng.integers(2)), int(rng.integers(0, K + 1))
    limits = Constraints(
        at_least=least,
        at_most=None if rng.random() < 0.5 else max(least, most),
        exclusive=tuple(groups) if rng.random() < 0.6 else (),
        implies=tuple(pairs[at] for at in rng.choice(len(pairs), min(len(pairs), int(rng.integers(0, 4))), False)),
    )
    every = oracle.labelings(K)
    allowed = np.array([_keeps(limits, h) for h in every])
    try:
        labeling = minimise_within(loss, belief, limits)[0]
    except ComitiaError as error:
        return None if "contradict" in str(error) and not allowed.any() else f"{loss}, {limits}: {error}"
    chosen = every.index(tuple(labeling.tolist()))
    if not allowed[chosen]:
        return f"{loss}, {limits}: {labeling} is not allowed"
    return _worse(_expected(loss, belief), chosen, allowed, f"{loss}, {limits}")


def _keeps(limits: Constraints, h: tuple[int, ...]) -> bool:
    most = len(h) if limits.at_most is None else limits.at_most
    return (
        limits.at_least <= sum(h) <= most
        and all(sum(h[k] for k in group) <= 1 for group in limits.exclusive)
        and all(h[child] <= h[parent] for child, parent in limits.implies)
    )


def _counts(rng: np.random.Generator) -> str | None:
    belief, loss = _belief(rng, K := int(rng.integers(1, 7))), COUNTED[rng.integers(len(COUNTED))]
    if rng.random() < 0.1:
        loss = PropensityScored(int(rng.integers(1, 4)), tuple(rng.choice([0.01, 0.3, 1.0], K).tolist()))
    chosen = oracle.labelings(K).index(tuple(loss.minimise(belief)[0].tolist()))
    return _worse(_expected(loss, belief), chosen, np.full(2**K, True), str(loss))


def _order(rng: np.random.Generator) -> str | None:
    K = int(rng.integers(1, 5))
    measure, k = ORDERS[rng.integers(len(ORDERS))], int(rng.integers(1, K + 1))
    # Other beliefs than label sets are ranked as independent labels.
    belief = Marginals([_probabilities(rng, K)]) if rng.random() < 0.3 else LabelSets.from_rows([_sets(rng, K)])
    costs = oracle.distribution(belief, 0) @ _costs_of_orders(measure, k, K)
    chosen = list(permutations(range(K))).index(tuple(rank_by(belief, measure, k)[0].tolist()))
    # Gains of labels are added up: how they compare is known to the rounding of the largest.
    return _worse(1 + costs, chosen, np.full(len(costs), True), f"{measure} at {k}")


@cache
def _costs_of_orders(measure: str, k: int, K: int) -> Any:
    return np.array(
        [[order_value(measure, k, y, order) for order in permutations(range(K))] for y in oracle.labelings(K)]
        if K > 1
        else np.zeros((2, 1))
    )


def _partial(rng: np.random.Generator) -> str | None:
    belief, loss = _belief(rng, K := int(rng.integers(1, 5))), PARTIAL[rng.integers(len(PARTIAL))]
    cost = float(rng.choice([0.0, 0.01, 0.05, 0.2, 0.3, 0.5, 1.0, 4.0]))
    rule = Abstaining(loss, cost, ("linear", "concave")[rng.integers(2)])
    answers = list(product((-1, 0, 1), repeat=K))
    risks = oracle.distribution(belief, 0) @ _partial_values(rule, K)
    found = rule.minimise(belief)
    chosen = answers.index(tuple(found[0].tolist()))
    if abs(rule.risk(belief, found)[0] - risks[chosen]) > 1e-9:
        return f"{rule}: risk {rule.risk(belief, found)[0]!r} is {risks[chosen]!r}"
    competing = np.full(len(answers), True)
    if isinstance(belief, LabelSets) and not isinstance(loss, Hamming):  # not promised to be the best of all
        competing[:] = False
        competing[[0, answers.index(tuple(loss.minimise(belief)[0].tolist()))]] = True
    return _worse(risks, chosen, competing, str(rule))


@cache
def _partial_values(rule: Abstaining, K: int) -> Any:
    answers = list(product((-1, 0, 1), repeat=K))
    return np.array([[partial_value(rule, y, answer) for answer in answers] for y in oracle.labelings(K)])


def _batch(rng: np.random.Generator) -> str | None:
    shape = ((1, 1), (3, 1), (5, 1), (2, 2), (3, 2), (1, 4))[rng.integers(6)]
    measure = MEASURES[rng.integers(len(MEASURES))]
    p = _probabilities(rng, shape[0] * shape[1]).reshape(shape)
    every = oracle.labelings(shape[0] * shape[1])
    probability = np.array([np.where(y, p.ravel(), 1 - p.ravel()).prod() for y in np.array(every, bool)])
    chosen = every.index(tuple(measure.maximise(p).ravel().tolist()))
    losses = probability @ (1 - _values(measure, shape))
    return _worse(losses, chosen, np.full(len(every), True), str(measure))


@cache
def _values(measure: Any, shape: tuple[int, int]) -> Any:
    every = np.array(oracle.labelings(shape[0] * shape[1])).reshape(-1, *shape)
    return np.array([[measure.value(y, h) for h in every] for y in every])


def _cuts(rng: np.random.Generator) -> str | None:
    n, K = int(rng.integers(1, 12)), int(rng.integers(1, 4))
    measure, estimate = MEASURES[rng.integers(len(MEASURES))], ("empirical", "expected")[rng.integers(2)]
    tuned = type(measure)(**{**vars(measure), "estimate": estimate})
    p = np.stack([_probabilities(rng, K) for _ in range(n)])
    y = (rng.random(p.shape) < p).astype(np.int8)
    y[rng.integers(n)] = 1  # a label that never occurs is cut at one half
    weight = rng.choice([1.0, 0.1, 7.0], n)
    answers = tuned.resolve(p, y, weight).minimise(Marginals(p))
    target = y if estimate == "empirical" else p
    for columns in [slice(None)] if tuned._pools_labels() else [slice(k, k + 1) for k in range(K)]:
        part = target[:, columns]
        best = max(soft_value(tuned, part, p[:, columns] > cut, weight) for cut in (0, *np.unique(p[:, columns])))
        reached = soft_value(tuned, part, answers[:, columns], weight)
        if not reached >= best - ROUNDING:
            return f"{tuned}: {reached!r}, a cut has {best!r}"
    return None


KINDS: tuple[Callable[[np.random.Generator], str | None], ...] = (
    _limits, _limits, _counts, _order, _partial, _partial, _batch, _cuts,
)  # fmt: skip


def _belief(rng: np.random.Generator, K: int) -> Any:
    """One instance: marginals, read as independent or never empty, label sets, or votes."""
    match rng.integers(4):
        case 0:
            return Marginals([_probabilities(rng, K)])
        case 1:
            return NonEmpty()(Marginals([_probabilities(rng, K)]))
        case 2:
            return LabelSets.from_rows([_sets(rng, K)])
        case _:
            sets, weights = _sets(rng, K)
            return votes(sets[:, None], weights)


def _expected(loss: Any, belief: Any) -> Any:
    """The expected loss of every labeling."""
    return oracle.distribution(belief, 0) @ _losses(loss, belief.n_labels)


@cache
def _losses(loss: Any, K: int) -> Any:
    if isinstance(loss, PropensityScored):
        every = oracle.labelings(K)
        return np.array([loss.value([y] * len(every), every) for y in every])
    return loss.of_counts(*cells(K)) if hasattr(loss, "of_counts") else oracle.loss_matrix(loss, K)


def _worse(risks: Any, chosen: int, competing: Any, what: str) -> str | None:
    best = risks[competing].min()
    if risks[chosen] <= best + ROUNDING * max(np.abs(risks).max(), 1e-300):
        return None
    return f"{what}: risk {risks[chosen]!r}, the best has {best!r}"
