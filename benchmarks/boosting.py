"""Boosted and extra-random trees at mediamill's size against boosting libraries and scikit-learn's extra trees.

All on one core and by processor time.  Peers are timed on a stated part: loops over labels on ten of the labels, scaled
to all; CatBoost, which boosts all labels at once, for its first rounds on 8,000 rows, where ours have the same rows.
Each case is one process, and on a machine of many cores some run at a time.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import ExtraTreesClassifier

from benchmarks.case import DATA, Case
from benchmarks.mediamill import mediamill_size
from comitia.learners._boosting import BoostedTrees, boost_trees, common_rounds, predict_boosted
from comitia.learners._tree import grow_trees
from comitia.learners._tree_codes import encode

N_TREES = 50
PEER_LABELS = 10
PEER_ROUNDS = 30
PART = 8_000
MIN_SAMPLES_LEAF = 4
PATIENCE = 25
DOUBLING = (5, 10, 20, 40, 80, 160, 320, 640)


def run(quick: bool = False) -> Iterator[Case]:
    n = 4_000 if quick else 39_516
    cases: list[Callable[[int], Case]] = [against_best_splits, against_extra_trees, growth_with_labels]
    loops = {"lightgbm": lightgbm, "xgboost": xgboost}
    for name in ("lightgbm", "xgboost", "catboost"):
        if find_spec(name) is None:
            print(f'skipped: boosted trees against {name}, which is not installed (pip install "comitia[peers]")')
        else:
            cases.append(partial(against_loop, loops[name]) if name in loops else against_catboost)
    at_a_time = max(1, (os.cpu_count() or 1) // 4)
    yield from Parallel(n_jobs=at_a_time, return_as="generator_unordered")(delayed(case)(n) for case in cases)


@cache
def data(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, labels and the bootstraps' counts, after compiling what is timed."""
    X, Y = mediamill_size(DATA, n=n)
    draws = np.random.default_rng(0).poisson(1.0, (n, N_TREES)).astype(float)
    boost(X[:300], Y[:300], draws[:300, 0])
    boost(X[:300], Y[:300, :10], draws[:300, 0])
    for splitter in ("random", "best"):
        grow_trees(X[:200], Y[:200], range(2), sample_weight=draws[:200, :2], splitter=splitter)
    return X, Y, draws


def against_best_splits(n: int) -> Case:
    X, Y, _ = data(n)
    return Case("extra-random trees", "best-split trees", grow(n, "best") / grow(n, "random"), 1.5, size_of(X, Y))


def against_extra_trees(n: int) -> Case:
    X, Y, _ = data(n)
    peer = ExtraTreesClassifier(2, min_samples_leaf=MIN_SAMPLES_LEAF, bootstrap=True, random_state=0, n_jobs=1)
    theirs = seconds(lambda: peer.fit(X, Y)) / 2
    ours = grow(n, "random")
    codes = seconds(lambda: encode(X))
    note = f"{N_TREES * ours:.1f} s for {N_TREES} trees, {codes:.1f} s of it for the codes of the features"
    name = "ExtraTreesClassifier, two trees"
    return Case("extra-random trees", name, theirs / ours, 30.0, f"{note}; {size_of(X, Y)}")


def grow(n: int, splitter: str) -> float:
    """Return the seconds a tree takes."""
    X, Y, draws = data(n)
    settings: dict[str, Any] = {"min_samples_leaf": MIN_SAMPLES_LEAF, "splitter": splitter, "n_jobs": 1}
    return seconds(lambda: grow_trees(X, Y, range(N_TREES), sample_weight=draws, **settings)) / N_TREES


def growth_with_labels(n: int) -> Case:
    X, Y, draws = data(n)
    few = seconds(lambda: boost(X, Y[:, by_frequency(Y)[:10]], draws[:, 0], 100))
    many = seconds(lambda: boost(X, Y, draws[:, 0], 100))
    name = "boosted trees, 100 rounds, K from 10 to 101"
    return Case(name, "K = 10", many / few, 3.0, f"{many:.1f} s; {size_of(X, Y)}", at_most=True)


def against_loop(fit: Callable[..., Any], n: int) -> Case:
    """Time one sequence until it is as good as a peer's loop, which stops by the same unseen instances.

    The loop is timed on ten labels, frequent and rare ones alike, and scaled to all.
    """
    X, Y, draws = data(n)
    draw = draws[:, 0]
    seen, unseen = draw > 0, draw == 0
    every = by_frequency(Y)[:: Y.shape[1] // PEER_LABELS]
    labels = [k for k in every if Y[seen, k].any() and Y[unseen, k].any()]
    p = np.empty((int(unseen.sum()), len(labels)))

    def loop() -> None:
        for column, k in enumerate(labels):
            model = fit(X[seen], Y[seen, k], draw[seen], (X[unseen], Y[unseen, k]))
            p[:, column] = model.predict_proba(X[unseen])[:, 1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = seconds(loop) * Y.shape[1] / len(labels)
    ours, note = until_as_good(X, Y, draw, p, labels)
    peer = f"{fit.__name__}'s loop, {len(labels)} labels"
    return Case("boosted trees, K = 101, to the same log loss", peer, theirs / ours, 10.0, f"{note}; {size_of(X, Y)}")


def against_catboost(n: int) -> Case:
    """Time one sequence until it is as good as CatBoost's MultiLogloss after its first rounds, on the same part."""
    from catboost import CatBoostClassifier

    X, Y, draws = (array[: min(PART, n // 4)] for array in data(n))
    draw = draws[:, 0]
    seen, unseen = draw > 0, draw == 0
    labels = np.flatnonzero(Y[seen].any(axis=0))
    peer = CatBoostClassifier(
        PEER_ROUNDS, loss_function="MultiLogloss", thread_count=1, verbose=0, random_seed=0, allow_writing_files=False
    )
    theirs = seconds(lambda: peer.fit(X[seen], Y[seen][:, labels], sample_weight=draw[seen]))
    ours, note = until_as_good(X, Y, draw, np.asarray(peer.predict_proba(X[unseen])), labels)
    name = f"CatBoost MultiLogloss, {PEER_ROUNDS} rounds"
    return Case("boosted trees, K = 101, to the same log loss", name, theirs / ours, 10.0, f"{note}; {size_of(X, Y)}")


def until_as_good(X: np.ndarray, Y: np.ndarray, draw: np.ndarray, p: np.ndarray, labels: Any) -> tuple[float, str]:
    """Boost with ever more rounds, from the start each time; return the seconds of the first that reaches the peer."""
    unseen = draw == 0
    truth = Y[unseen][:, labels]
    goal = log_loss(p, truth)
    for rounds in DOUBLING:
        start = time.process_time()
        (model,) = boost(X, Y, draw, rounds)
        took = time.process_time() - start
        reached = log_loss(next(predict_boosted([model], X[unseen], common_rounds([model])))[:, labels], truth)
        if reached <= goal:
            break
    return took, f"{took:.2f} s, {model.n_rounds} trees; log loss {reached:.4f}, peer {goal:.4f}"


def lightgbm(X: np.ndarray, y: np.ndarray, weight: np.ndarray, unseen: tuple[np.ndarray, np.ndarray]) -> Any:
    from lightgbm import LGBMClassifier, early_stopping

    stop = [early_stopping(PATIENCE, verbose=False)]
    peer = LGBMClassifier(n_estimators=500, n_jobs=1, verbose=-1)
    return peer.fit(X, y, weight, eval_set=[unseen], eval_metric="logloss", callbacks=stop)


def xgboost(X: np.ndarray, y: np.ndarray, weight: np.ndarray, unseen: tuple[np.ndarray, np.ndarray]) -> Any:
    from xgboost import XGBClassifier

    peer = XGBClassifier(n_estimators=500, n_jobs=1, eval_metric="logloss", early_stopping_rounds=PATIENCE)
    return peer.fit(X, y, sample_weight=weight, eval_set=[unseen], verbose=False)


def boost(X: np.ndarray, Y: np.ndarray, draw: np.ndarray, max_rounds: int = 3) -> list[BoostedTrees]:
    return boost_trees(X, Y, [0], sample_weight=draw, max_rounds=max_rounds, patience=PATIENCE, n_jobs=1)


def by_frequency(Y: np.ndarray) -> np.ndarray:
    return np.argsort(-Y.sum(axis=0), kind="stable")


def size_of(X: np.ndarray, Y: np.ndarray) -> str:
    return f"{len(X):,} × {X.shape[1]}, K = {Y.shape[1]}, processor time"


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def log_loss(p: np.ndarray, Y: np.ndarray) -> float:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return float(-(Y * np.log(p) + (1 - Y) * np.log(1 - p)).mean())
