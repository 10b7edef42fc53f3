"""Multi-objective trees against scikit-learn's forests: the same data, settings, cores and number of jobs."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

from benchmarks.case import DATA, Case, median_time
from benchmarks.mediamill import mediamill_size
from comitia import EMODTClassifier, FLoss, Marginals
from comitia.learners._tree import MultiObjectiveTree, grow_trees
from comitia.learners._tree_apply import apply_trees, mean_marginals

M = 50
N_JOBS = 2
MIN_SAMPLES_LEAF = 4
PEER_TREES = 4
Forest = ExtraTreesClassifier | RandomForestClassifier | RandomForestRegressor


def run(quick: bool = False) -> list[Case]:
    X, Y = mediamill_size(DATA, n=4_000 if quick else 39_516)
    wide = many_labels(X[: 2_000 if quick else 20_000])
    grow(X[:500], Y[:500])  # compiles
    cases = [*fits(X, Y, "mediamill's size", 30.0, 10.0), *predictions(X, Y)]
    cases += fits(X[: len(wide)], wide, f"K = 1,000, cardinality 5, n = {len(wide):,}", 400.0, None)
    texts = words(2_000 if quick else 20_000)
    cases += fits(*texts, "0/1 words, n = 20,000, d = 500, K = 22", 8.0, None)
    cases += random_splits(*texts)
    return [*cases, *growth(X, Y), memory(len(X))]


def fits(X: np.ndarray, Y: np.ndarray, size: str, classifier: float, regressor: float | None) -> Iterator[Case]:
    for kind, target in ((RandomForestClassifier, classifier), (RandomForestRegressor, regressor)):
        peer = forest(kind, PEER_TREES)
        ratio, note = race(lambda: grow(X, Y), lambda peer=peer: peer.fit(X, Y), M / PEER_TREES)
        yield Case(f"EMODT fit, {size}", kind.__name__, ratio, target, note)


def random_splits(X: np.ndarray, Y: np.ndarray) -> Iterator[Case]:
    """Time extra-random trees against trees of the best splits, and against scikit-learn's."""
    grow(X[:500], Y[:500], splitter="random")  # compiles
    ratio, note = race(lambda: grow(X, Y, splitter="random"), lambda: grow(X, Y), 1)
    yield Case("extra-random trees, 0/1 words", "best splits", ratio, None, note)
    peer = forest(ExtraTreesClassifier, PEER_TREES)
    ratio, note = race(lambda: grow(X, Y, splitter="random"), lambda: peer.fit(X, Y), M / PEER_TREES)
    yield Case("extra-random trees, 0/1 words", "ExtraTreesClassifier", ratio, None, note)


def predictions(X: np.ndarray, Y: np.ndarray) -> Iterator[Case]:
    peer = forest(RandomForestClassifier, M).fit(X, Y)
    trees = grow(X, Y)
    ratio, note = race(lambda: mean_marginals(trees, apply_trees(trees, X)), lambda: peer.predict_proba(X), 1)
    yield Case("EMODT marginals, mediamill's size", "RandomForestClassifier.predict_proba", ratio, None, note)

    ensemble = EMODTClassifier(
        M, loss="f1", aggregation="ctp", min_samples_leaf=MIN_SAMPLES_LEAF, random_state=0, n_jobs=N_JOBS
    ).fit(X, Y)

    def decide() -> np.ndarray:
        return FLoss().minimise(Marginals(np.column_stack([p[:, 1] for p in peer.predict_proba(X)])))

    ratio, note = race(lambda: ensemble.predict(X), decide, 1)
    yield Case("EMODT predict (CTP, F1), mediamill's size", "predict_proba and our decision", ratio, 2.0, note)


def race(ours: Callable[[], object], theirs: Callable[[], object], scale: float, repeats: int = 3) -> tuple[float, str]:
    """Time both in turn, so that what else the machine does hits both; the peer does one of ``scale`` parts."""
    times = np.array([[seconds(ours), seconds(theirs)] for _ in range(repeats)])
    wall, cpu = np.median(times, axis=0).T
    note = f"{wall[0]:.2f} s; {scale * cpu[1] / cpu[0]:.1f} x by processor time"
    if scale != 1:
        note += f"; peer from {M / scale:g} of {M} trees"
    return scale * wall[1] / wall[0], note


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return the time on the clock and that of all processors."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def growth(X: np.ndarray, Y: np.ndarray) -> Iterator[Case]:
    """Time the fit as n, K and M double; where K does, half of the instances have labels of their own."""
    half = len(X) // 2
    upper = X[:half, :1] > np.median(X[:half, 0])
    twice = np.hstack([Y[:half] * upper, Y[:half] * ~upper])
    base = median_time(lambda: grow(X[:half], Y[:half]))
    for what, double in (
        ("n", lambda: grow(X[: 2 * half], Y[: 2 * half])),
        ("K", lambda: grow(X[:half], twice)),
        ("M", lambda: grow(X[:half], Y[:half], 2 * M)),
    ):
        ratio = median_time(double) / base
        yield Case(f"EMODT fit, {what} doubled", "itself before", ratio, None, f"exponent {math.log2(ratio):.2f}")


def memory(n: int) -> Case:
    """Measure the peak of a fit, data and libraries included, in a process of its own."""
    code = (
        "from benchmarks.case import DATA, peak_memory; from benchmarks.mediamill import mediamill_size;"
        "from benchmarks.trees import grow;"
        f"X, Y = mediamill_size(DATA, n={n}); trees = grow(X, Y); print(peak_memory())"
    )
    peak = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    return Case("EMODT fit, peak memory", "2 GiB", peak / 2**31, 1.0, f"{peak / 2**30:.2f} GiB", at_most=True)


def grow(X: np.ndarray, Y: np.ndarray, n_trees: int = M, splitter: Any = "best") -> list[MultiObjectiveTree]:
    rng = np.random.default_rng(0)
    n = len(X)
    bootstraps = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(n_trees))
    return grow_trees(
        X, Y, range(n_trees),
        sample_weight=bootstraps, min_samples_leaf=MIN_SAMPLES_LEAF, splitter=splitter, n_jobs=N_JOBS,
    )  # fmt: skip


def forest(kind: type[Any], n_trees: int) -> Forest:
    settings = {"max_features": "sqrt", "min_samples_leaf": MIN_SAMPLES_LEAF, "n_jobs": N_JOBS}
    peer: Forest = kind(n_trees, random_state=0, **settings)
    return peer


def words(n: int, d: int = 500, K: int = 22) -> tuple[np.ndarray, np.ndarray]:
    """Return (X, Y) that look like texts: which of d words occur, few often and most rarely, and K topics.

    A topic makes a fifth of the words likelier or less likely; about 7 % of the cells are 1, and instances have three
    topics.
    """
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, K + 1)
    frequency /= frequency.sum()
    Y = (rng.random((n, K)) < 2.2 * frequency).astype(np.int8)
    Y[np.arange(n), rng.choice(K, n, p=frequency)] = 1
    leaning = 1.2 * rng.standard_normal((K, d)) * (rng.random((K, d)) < 0.2)
    usual = np.minimum(0.9, np.arange(1, d + 1) ** -0.6) * 0.95
    odds = np.log(usual / (1 - usual)) + Y @ leaning
    return (rng.random((n, d)) < 1 / (1 + np.exp(-odds))).astype(np.float64), Y


def many_labels(X: np.ndarray, K: int = 1_000, cardinality: int = 5) -> np.ndarray:
    """Give each instance the labels whose random directions it points to the most, after noise."""
    rng = np.random.default_rng(0)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = standard @ rng.standard_normal((X.shape[1], K)) + 3 * rng.standard_normal((len(X), K))
    Y = np.zeros((len(X), K), np.int8)
    np.put_along_axis(Y, np.argpartition(-scores, cardinality, axis=1)[:, :cardinality], 1, axis=1)
    return Y
