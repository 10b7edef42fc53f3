"""Decisions from beliefs and votes, against plain NumPy, one row at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.case import Case, median_time, timed
from comitia import Constraints, FLoss, Hamming, JaccardLoss, LabelSets, Marginals, SubsetZeroOne, decide, votes
from comitia.losses import minimise_within

SAMPLE = 200


def run(quick: bool = False) -> list[Case]:
    rng = np.random.default_rng(0)
    n = 10_000 if quick else 100_000
    cases = []
    for shape, kind in [
        ((n, 101), "dense"),
        ((n, 101), "sparse"),
        ((2_000, 1_000), "dense"),
        ((2_000, 1_000), "sparse"),
    ]:
        p = rng.random(shape) if kind == "dense" else rng.beta(0.05, 1.1, shape)
        cases.append(_f1_from_marginals(p, kind))
    cast = _cast_votes(rng, 50, n, 101)
    ballot = votes(cast)
    cases.append(
        _against_rows(
            f"mode of votes, 50 x {n} x 101",
            lambda: SubsetZeroOne().minimise(votes(cast)),
            lambda i: mode_of_row(cast[:, i]),
            "numpy.unique a row",
            n,
            50,
        )
    )
    cases.append(
        _against_rows(
            f"F1 over votes, 50 x {n} x 101",
            lambda: FLoss().minimise(ballot),
            lambda i: f1_of_votes(*_row_of(ballot, i)),
            "NumPy a row",
            n,
            50,
            note=f"{ballot.distinct()[0].n_instances} distinct ballots, counted before",
        )
    )
    belief = Marginals(rng.random((n, 101)))
    bare = median_time(lambda: (belief.p > 0.5).astype(np.int8), 15)
    ours = median_time(lambda: Hamming().minimise(belief), 15)
    cases.append(Case(f"Hamming from marginals, {n} x 101", "a bare threshold", ours / bare, 2, "time", at_most=True))
    return [*cases, *_within_limits(rng, n // 5)]


def _within_limits(rng: np.random.Generator, n: int) -> Iterator[Case]:
    """Time decisions within limits beside the same without: typical beliefs, and those that all break the limit."""
    kinds = {
        "14 labels": Marginals(rng.beta(1.0, 2.3, (n, 14))),
        "101 labels": Marginals(rng.beta(0.05, 1.1, (n, 101))),
        "101 labels, worst": Marginals(rng.random((n, 101))),
        "votes, 101 labels": votes(_cast_votes(rng, 50, n // 4, 101)),
    }
    limits = {
        "at most 3": Constraints(at_most=3),
        "at least 1": Constraints(at_least=1),
        "groups": Constraints(exclusive=((0, 1, 2), (3, 4))),
        "a tree": Constraints(implies=((0, 1), (1, 2), (3, 2))),
    }
    for loss in ("hamming", "subset01", "f1"):
        members = [Marginals(rng.beta(0.05, 1.1, (n // 4, 101))) for _ in range(50)]
        free = min(timed(lambda: decide(members, loss, "ctp"), 3))  # noqa: B023
        ours = min(timed(lambda: decide(members, loss, "ctp", constraints=limits["at most 3"]), 3))  # noqa: B023
        yield Case(f"{loss} of 50 members at most 3, 101 labels", "no limit", ours / free, 3, "time", at_most=True)
    for (kind, belief), (name, limit) in product(kinds.items(), limits.items()):
        for loss in (Hamming(), SubsetZeroOne(), FLoss(), JaccardLoss()):
            if isinstance(loss, JaccardLoss) and (limit.implies or isinstance(belief, LabelSets)):
                continue  # a search
            broken = 1 - float(limit.allows(loss.minimise(belief)).mean())
            minimise_within(loss, belief, limit)
            free = min(timed(lambda: loss.minimise(belief), 5))  # noqa: B023
            ours = min(timed(lambda: minimise_within(loss, belief, limit), 5))  # noqa: B023
            note = f"time; {100 * broken:.0f} % break it; {1e9 * ours / belief.n_instances:.0f} ns an instance"
            yield Case(f"{type(loss).__name__} within {name}, {kind}", "no limit", ours / free, 3, note, at_most=True)


def _f1_from_marginals(p: np.ndarray, kind: str) -> Case:
    belief = Marginals(p)
    name = f"F1 from {kind} marginals, {p.shape[0]} x {p.shape[1]}"
    return _against_rows(
        name,
        lambda: FLoss().minimise(belief),
        lambda i: f1_of_row(p[i]),
        "the recurrence in NumPy a row",
        len(p),
        100,
    )


def _against_rows(name, ours, row, peer, n, target, note=""):
    """Time ours on all rows and the peer on a sample of them, scaled to all."""
    ours()
    sample = np.linspace(0, n - 1, min(SAMPLE, n)).astype(int)
    peers = median_time(lambda: [row(i) for i in sample], 3) * n / len(sample)
    mine = median_time(ours, 5)
    note = "; ".join(filter(None, [f"{mine:.3f} s; peer timed on {len(sample)} rows", note]))
    return Case(name, peer, peers / mine, target, note)


def f1_of_row(p: np.ndarray) -> np.ndarray:
    """The O(K²) recurrence for one instance in NumPy."""
    K = len(p)
    order = np.argsort(-p, kind="stable")
    q = p[order]
    C = np.zeros((K + 1, K + 1))
    C[0, 0] = 1
    for k in range(1, K + 1):
        C[k] = C[k - 1] * (1 - q[k - 1])
        C[k, 1:] += C[k - 1, :-1] * q[k - 1]
    s = 1 / np.arange(1, 2 * K + 2)
    best, size = np.prod(1 - q), 0
    j = np.arange(K + 1)
    for k in range(K, 0, -1):
        value = 2 * (j[: k + 1] * C[k, : k + 1]) @ s[k - 1 : 2 * k]
        if value > best:
            best, size = value, k
        s = q[k - 1] * s[1:] + (1 - q[k - 1]) * s[:-1]
    labeling = np.zeros(K, np.int8)
    labeling[order[:size]] = 1
    return labeling


def mode_of_row(cast: np.ndarray) -> np.ndarray:
    distinct, counts = np.unique(cast, axis=0, return_counts=True)
    best = distinct[counts == counts.max()]
    if len(best) == 1:
        return best[0]
    return best[np.argmax((best[:, None] == cast).sum(axis=(1, 2)))]


def _row_of(ballot: LabelSets, i: int) -> tuple[np.ndarray, np.ndarray]:
    entries = slice(ballot.weights.indptr[i], ballot.weights.indptr[i + 1])
    return ballot.table[ballot.weights.indices[entries]], ballot.weights.data[entries] / ballot.total


def f1_of_votes(cast: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The F1 maximiser over one instance's votes in NumPy, restricted to labels and cardinalities that occur."""
    labels = np.flatnonzero(cast.any(axis=0))
    size = cast.sum(axis=1)
    labeling = np.zeros(cast.shape[1], np.int8)
    if not len(labels):
        return labeling
    sizes, slot = np.unique(size, return_inverse=True)
    joint = np.zeros((len(sizes), len(labels)))
    np.add.at(joint, slot, cast[:, labels] * weights[:, None])
    h = np.arange(1, len(labels) + 1)
    delta = (2 / (sizes[:, None] + h)).T @ joint
    order = np.argsort(-delta, axis=1, kind="stable")
    value = np.take_along_axis(np.cumsum(np.take_along_axis(delta, order, 1), 1), h[:, None] - 1, 1)[:, 0]
    best = value.argmax()
    if value[best] > weights[size == 0].sum():
        labeling[labels[order[best, : best + 1]]] = 1
    return labeling


def _cast_votes(rng: np.random.Generator, M: int, n: int, K: int) -> np.ndarray:
    """Votes as an ensemble casts them: about 4.4 of the labels, members near a common belief of the instance."""
    popularity = rng.dirichlet(np.full(K, 0.2)) * 4.4
    belief = np.clip(rng.gamma(0.3, popularity / 0.3, (n, K)), 0, 1)
    belief = belief**2 / (belief**2 + (1 - belief) ** 2)
    cast = np.empty((M, n, K), np.int8)
    for m in range(M):
        cast[m] = rng.random((n, K)) < belief
    return cast
