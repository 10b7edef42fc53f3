"""Random beliefs, decided by every loss and aggregation, against the risk of every labeling there is."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from comitia import ComitiaError, LabelSets, Marginals, decide, votes
from comitia.losses import LOSSES, CustomLoss, FLoss, Hamming, JaccardLoss, Loss
from tests import oracle
from tests.attack.run import Log

LARGEST = 6
ROUNDING = 1e-9
"""Most labels, and how much of the largest risk two sums of the same terms may differ by."""


def severity(truth: Any, labeling: Any) -> Any:
    """A loss that does not decompose and is not symmetric."""
    missed, added = (truth > labeling).sum(axis=1), (truth < labeling).sum(axis=1)
    return missed**2 + 0.5 * added + (missed * added > 0)


DECIDED: tuple[Loss, ...] = (
    *dict.fromkeys(make() for make in LOSSES.values()),
    *(FLoss(beta=beta) for beta in (1e-6, 0.1, 0.5, 0.7310585, 1.5, 2, 3, 10, 1e6)),
    *(FLoss(beta=beta, zero_division=z) for beta in (1, 2) for z in (0, 0.25)),
    *(JaccardLoss(zero_division=z) for z in (0, 0.5)),
    *(Hamming(false_negative=cost) for cost in (1e-9, 0.3, 3, 1e9)),
    Hamming(ties="relevant"),
    Hamming(ties="relevant", false_positive=0.25),
    CustomLoss(severity, candidates="all"),
)
AGGREGATIONS = ("gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr", "ctp-joint")
POINTS = (0.0, 1.0, 0.5, 0.25, 0.75, 1 / 3, 0.1, 1e-300, 5e-324, 1e-17, 1e-9, 1 - 1e-9, 1 - 2**-53)


def prepare(folder: Path) -> None:
    """Nothing is needed."""


def work(folder: Path, cases: range, seed: int) -> None:
    """Decide one instance for each case."""
    log = Log(folder)
    for case in cases:
        log.begin(case)
        log.end(case, _ending(case, np.random.default_rng([seed, case])))


def _ending(case: int, rng: np.random.Generator) -> str:
    K = int(rng.integers(1, LARGEST + 1))
    loss = DECIDED[rng.integers(len(DECIDED))]
    kind = ("marginals", "label sets", "votes", *AGGREGATIONS)[rng.integers(3 + len(AGGREGATIONS))]
    try:
        minimised, belief, labeling = _decision(kind, K, loss, rng)
    except ComitiaError as error:
        return f"WRONG: case {case}: {kind}, {loss}: {error}"
    expected = belief @ _losses(minimised, K)
    chosen = oracle.labelings(K).index(tuple(labeling.tolist()))
    if not expected[chosen] <= expected.min() + ROUNDING * max(expected.max(), 1e-300):
        return f"WRONG: case {case}: {kind}, {loss}: risk {expected[chosen]!r}, the best has {expected.min()!r}"
    return kind


def _decision(kind: str, K: int, loss: Loss, rng: np.random.Generator) -> tuple[Loss, Any, Any]:
    """Return the loss that is minimised, the distribution over all labelings, and what was decided."""
    if kind == "marginals":
        p = _probabilities(rng, K)
        return loss, _independent(p), loss.minimise(Marginals(p[None]))[0]
    if kind in ("label sets", "votes"):
        sets, weights = _sets(rng, K)
        belief = votes(sets[:, None], weights) if kind == "votes" else LabelSets.from_rows([(sets, weights)])
        return loss, _explicit(sets, weights), loss.minimise(belief)[0]
    M = int(rng.integers(1, 7))
    weights = None if rng.random() < 0.5 else rng.choice([0.25, 1.0, 2.0, 1e-9, 1e9, 3.7], M)
    share = np.full(M, 1 / M) if weights is None else weights / weights.sum()
    if kind == "ctp-joint":
        rows = [_sets(rng, K) for _ in range(M)]
        members: list[Any] = [LabelSets.from_rows([row]) for row in rows]
        belief = share @ np.array([_explicit(*row) for row in rows])
        return loss, belief, decide(members, loss, kind, weights=weights)[0]
    ps = np.array([_probabilities(rng, K) for _ in range(M)])
    members = [Marginals(p[None]) for p in ps]
    decided = decide(members, loss, kind, weights=weights)[0]
    if kind in ("gmv", "ctp"):
        return (Hamming() if kind == "gmv" else loss), _independent(share @ ps), decided
    cast = np.array([(Hamming() if kind == "bmv" else loss).minimise(member)[0] for member in members])
    second = {"bmv": Hamming(), "ptc-lw": Hamming(), "ptc-mode": LOSSES["subset01"](), "ptc-mbr": loss}[kind]
    return second, _explicit(cast, share), decided


def _probabilities(rng: np.random.Generator, K: int) -> Any:
    p = rng.random(K) ** rng.choice([1, 4])
    chosen = rng.random(K) < rng.choice([0, 0.5, 1])
    return np.where(chosen, rng.choice(POINTS, K), p)


def _sets(rng: np.random.Generator, K: int) -> tuple[Any, Any]:
    """Labelings, some of them more than once, and weights that sum to one, equal and very small ones among them."""
    m = int(rng.integers(1, 9))
    sets = (rng.random((m, K)) < rng.choice([0.1, 0.5, 0.9])).astype(np.int8)
    weights = rng.random(m) if rng.random() < 0.5 else rng.choice([1.0, 1.0, 2.0, 1e-12, 1e-150], m)
    return sets, weights / weights.sum()


def _independent(p: Any) -> Any:
    return np.array([np.prod(np.where(y, p, 1 - p)) for y in np.array(oracle.labelings(len(p)), dtype=bool)])


def _explicit(sets: Any, weights: Any) -> Any:
    mass: dict[tuple[int, ...], float] = defaultdict(float)
    for labeling, weight in zip(sets.tolist(), weights, strict=True):
        mass[tuple(labeling)] += weight
    return np.array([mass[y] for y in oracle.labelings(sets.shape[1])])


@cache
def _losses(loss: Loss, K: int) -> Any:
    return oracle.loss_matrix(loss, K)
