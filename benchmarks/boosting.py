"""Boosted and extra-random trees against LightGBM's loop over labels and scikit-learn's extra trees, on one core."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from benchmarks.case import DATA, Case
from benchmarks.mediamill import mediamill_size
from comitia.learners._boosting import BoostedTrees, boost_trees, predict_boosted
from comitia.learners._tree import grow_trees

N_TREES = 25
PEER_LABELS = 10
MIN_SAMPLES_LEAF = 4


def run(quick: bool = False) -> list[Case]:
    X, Y = mediamill_size(DATA, n=4_000 if quick else 39_516)
    draws = np.random.default_rng(0).poisson(1.0, (len(X), N_TREES)).astype(float)
    part = slice(0, 2_000 if quick else 8_000)
    boost(X[:300], Y[:300], draws[:300, 0])
    boost(X[:300], Y[:300, :10], draws[:300, 0])  # compiles
    return [*random_trees(X, Y, draws), *boosted_trees(X[part], Y[part], draws[part, 0])]


def random_trees(X: np.ndarray, Y: np.ndarray, draws: np.ndarray) -> Iterator[Case]:
    def grow(splitter: str) -> float:
        grow_trees(X[:200], Y[:200], range(2), sample_weight=draws[:200, :2], splitter=splitter)  # compiles
        settings = {"sample_weight": draws, "min_samples_leaf": MIN_SAMPLES_LEAF, "splitter": splitter, "n_jobs": 1}
        return seconds(lambda: grow_trees(X, Y, range(N_TREES), **settings)) / N_TREES

    ours, best = grow("random"), grow("best")
    peer = ExtraTreesClassifier(2, min_samples_leaf=MIN_SAMPLES_LEAF, bootstrap=True, random_state=0, n_jobs=1)
    theirs = seconds(lambda: peer.fit(X, Y)) / 2
    size = f"n = {len(X):,}, K = {Y.shape[1]}, processor time"
    yield Case("extra-random trees", "best-split trees", best / ours, 1.5, size)
    yield Case("extra-random trees", "ExtraTreesClassifier, two trees", theirs / ours, 30.0, size)


def boosted_trees(X: np.ndarray, Y: np.ndarray, draw: np.ndarray) -> Iterator[Case]:
    frequent = np.argsort(-Y.sum(axis=0), kind="stable")
    few = seconds(lambda: boost(X, Y[:, frequent[:10]], draw, 100))
    many = seconds(lambda: boost(X, Y, draw, 100))
    size = f"n = {len(X):,}, {X.shape[1]} features, processor time"
    yield Case("boosted trees, 100 rounds, K from 10 to 101", "K = 10", many / few, 3.0, size, at_most=True)
    try:
        yield against_lightgbm(X, Y, draw, frequent, size)
    except ImportError:
        print("skipped: boosted trees against LightGBM, which is not installed (pip install lightgbm)")


def against_lightgbm(X: np.ndarray, Y: np.ndarray, draw: np.ndarray, frequent: np.ndarray, size: str) -> Case:
    """Time one sequence until it is as good as the peer, which stops by the same unseen instances.

    The peer is timed on ten labels, frequent and rare ones alike, and scaled to all.
    """
    from lightgbm import LGBMClassifier, early_stopping

    seen, unseen = draw > 0, draw == 0
    labels = [k for k in frequent[:: len(frequent) // PEER_LABELS] if Y[seen, k].any() and Y[unseen, k].any()]
    truth = Y[unseen][:, labels]
    p = np.empty(truth.shape)

    def loop() -> None:
        for column, k in enumerate(labels):
            peer = LGBMClassifier(n_estimators=500, n_jobs=1, verbose=-1)
            stop = [early_stopping(25, verbose=False)]
            held_out = [(X[unseen], Y[unseen, k])]
            peer.fit(X[seen], Y[seen, k], draw[seen], eval_set=held_out, eval_metric="logloss", callbacks=stop)
            p[:, column] = peer.predict_proba(X[unseen])[:, 1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = seconds(loop) * Y.shape[1] / len(labels)
    goal = log_loss(p, truth)
    for rounds in (10, 20, 40, 80, 160, 320, 640):
        start = time.process_time()
        (model,) = boost(X, Y, draw, rounds)
        ours = time.process_time() - start
        reached = log_loss(next(predict_boosted([model], X[unseen]))[:, labels], truth)
        if reached <= goal:
            break
    note = f"{ours:.2f} s, {model.n_rounds} trees; log loss {reached:.4f}, peer {goal:.4f}; {size}"
    return Case(
        "boosted trees, K = 101, to the same log loss", f"LightGBM, {len(labels)} labels", theirs / ours, 10.0, note
    )


def boost(X: np.ndarray, Y: np.ndarray, draw: np.ndarray, max_rounds: int = 3) -> list[BoostedTrees]:
    return boost_trees(X, Y, [0], sample_weight=draw, max_rounds=max_rounds, patience=25, n_jobs=1)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def log_loss(p: np.ndarray, Y: np.ndarray) -> float:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return float(-(Y * np.log(p) + (1 - Y) * np.log(1 - p)).mean())
