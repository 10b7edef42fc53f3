"""Many labels: forests for 100,000 labels that are sparse throughout, and 2,000 logistic regressions a member."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from benchmarks.case import Case, peak_memory
from comitia import EBRClassifier, ECCClassifier, EMODTClassifier

CARDINALITY = 5


def run(quick: bool = False) -> Iterator[Case]:
    shrink = 10 if quick else 1
    yield from _forest(100_000 // shrink, 100_000 // shrink, 10_000 // shrink)
    n, K = 5_000 // shrink, 2_000 // shrink
    X, Y = dense_features(n, 100, K)
    yield _fit(EBRClassifier(n_estimators=10, n_jobs=2, random_state=0), X, Y, 15)
    yield _fit(ECCClassifier(n_estimators=10, n_jobs=2, random_state=0), X, Y, 40)
    X, Y = sparse_features(n, 5_000 // shrink, K)
    yield _fit(EBRClassifier(n_estimators=10, n_jobs=2, random_state=0), X, Y, 40)


def _forest(n: int, K: int, n_new: int) -> Iterator[Case]:
    X, Y = clusters(n, 200, K)
    new = clusters(n_new, 200, K, seed=1)[0]
    before = peak_memory()
    forest = EMODTClassifier(20, n_jobs=2, random_state=0)
    name = f"EMODT, {n} x 200, K = {K}"
    yield _timed(f"{name}: fit of 20 trees", lambda: forest.fit(X, Y), None)
    for loss, how in (("f1", "ctp"), ("subset01", "ptc-mode"), ("subset01", "ctp-joint")):
        forest.set_params(loss=loss, aggregation=how)
        yield _timed(f"{name}: {loss}, {how}, {n_new} rows", lambda: forest.predict(new), None)
    note = f"{before / 2**30:.2f} GiB of them before the fit"
    yield Case(f"{name}: peak memory", "1 GiB", peak_memory() / 2**30, 6, note, at_most=True)


def _fit(ensemble, X, Y, seconds: int) -> Case:
    kind = "sparse " if sparse.issparse(X) else ""
    name = f"{type(ensemble).__name__}, {X.shape[0]} x {X.shape[1]} {kind}K = {Y.shape[1]}"
    return _timed(f"{name}: fit", lambda: ensemble.fit(X, Y), seconds)


def _timed(name: str, function, seconds: int | None) -> Case:
    wall, processor = time.perf_counter(), time.process_time()
    function()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Case(name, "1 s on two cores", wall, seconds, f"{processor:.1f} s of processor time", at_most=True, unit="s")


def clusters(n: int, d: int, K: int, seed: int = 0) -> tuple[np.ndarray, sparse.csr_array]:
    """Make instances around K / 50 centres, with labels mostly of their centre's own."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((K // 50, d), dtype=np.float32)
    rng = np.random.default_rng(seed)
    at = rng.integers(0, len(centres), n)
    X = centres[at] + rng.standard_normal((n, d), dtype=np.float32)
    own = at[:, None] * 50 + np.minimum(rng.geometric(0.15, (n, CARDINALITY)), 50) - 1
    labels = np.where(rng.random(own.shape) < 0.9, own, rng.integers(0, K, own.shape))
    rows = np.repeat(np.arange(n), CARDINALITY)
    Y = sparse.csr_array((np.ones(labels.size, np.int8), (rows, labels.ravel())), shape=(n, K))
    Y.sum_duplicates()
    Y.data[:] = 1
    return X.astype(np.float64), Y


def dense_features(n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Make features and labels that follow them, some labels frequent and many rare."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, _labels(X, K, rng)


def sparse_features(n: int, d: int, K: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Make features of which one in a hundred is not zero, and labels that follow them."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, d), density=0.01, rng=rng, format="csr")
    return X, _labels(X @ rng.standard_normal((d, 30)), K, rng)


def _labels(hidden: np.ndarray, K: int, rng: np.random.Generator) -> np.ndarray:
    """Give each instance the labels of the largest noisy scores, rare labels less often."""
    scores = hidden @ rng.standard_normal((hidden.shape[1], K)) / np.sqrt(hidden.shape[1])
    scores += rng.gumbel(size=scores.shape) - 0.5 * np.log(np.arange(1, K + 1))
    top = np.argpartition(-scores, CARDINALITY, axis=1)[:, :CARDINALITY]
    Y = np.zeros(scores.shape, np.int8)
    np.put_along_axis(Y, top, 1, axis=1)
    return Y
