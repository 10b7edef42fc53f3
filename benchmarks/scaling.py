"""Every core: fits and predictions of each ensemble with 1, 2, 4, 8 and 16 jobs, each against one job.

What the machine itself gives is measured beside them: threads that only multiply, and threads that only read memory.
A virtual core may be half a real one, and none has a memory of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.case import DATA, Case
from benchmarks.mediamill import mediamill_size
from comitia import EBRClassifier, ECCClassifier, EMOBTClassifier, EMODTClassifier, Marginals, decide
from comitia._compiled import njit
from comitia._jobs import limited_to

M = 50
JOBS = (1, 2, 4, 8, 16)
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "EBR": (EBRClassifier, {"estimator": LogisticRegression()}),
    "ECC": (ECCClassifier, {"estimator": LogisticRegression()}),
    "EMODT": (EMODTClassifier, {"max_features": "sqrt", "min_samples_split": 2}),
    "EMOBT": (EMOBTClassifier, {"max_rounds": 20}),
}


def run(quick: bool = False) -> Iterator[Case]:
    X, Y = mediamill_size(DATA, 2_000 if quick else 39_516)
    jobs = [count for count in JOBS if count <= joblib.cpu_count()]
    work = {"threads that multiply": multiply, "threads that read memory": read}
    for name, loop in work.items():
        arrays = [np.ones(1 << 22) for _ in range(max(jobs))]
        loop(arrays[0], 1)  # compiles
        yield from cases(name, {count: shared(loop, arrays, count) for count in jobs})
    for name, (kind, settings) in KINDS.items():
        build(kind, 2, 3, settings).fit(X[:600], Y[:600]).predict(X[:300])  # compiles
        members = (5 if quick else M) // (10 if kind is EMOBTClassifier else 1)
        seconds: dict[str, dict[int, float]] = {"fit": {}, "predict (F1)": {}, "fit with out of bag": {}}
        for count in jobs:
            model = build(kind, count, max(1, members), settings)
            seconds["fit"][count] = timed(lambda model=model: model.fit(X, Y))
            seconds["predict (F1)"][count] = timed(lambda model=model: model.predict(X))
            if kind is EMODTClassifier and count in (2, max(jobs)):
                model.set_params(oob_score=True)
                seconds["fit with out of bag"][count] = timed(lambda model=model: model.fit(X, Y))
        for what, taken in seconds.items():
            yield from cases(f"{name} {what}, mediamill's size", taken)
    p = np.random.default_rng(0).beta(0.05, 1.1, size=(len(X), Y.shape[1]))
    for loss in ("f1", "jaccard"):
        taken = {}
        for count in jobs:
            with limited_to(count):
                taken[count] = timed(lambda: decide([Marginals(p)], loss))  # noqa: B023  called at once
        yield from cases(f"decisions for {loss}, mediamill's size", taken)


def cases(name: str, seconds: dict[int, float]) -> Iterator[Case]:
    """Yield a line for each number of jobs, against the fewest."""
    fewest = min(seconds, default=1)
    for count, taken in seconds.items():
        yield Case(f"{name}, {count} jobs", f"itself with {fewest}", seconds[fewest] / taken, None, f"{taken:.2f} s")


def build(kind: Any, jobs: int, members: int, settings: dict[str, Any]) -> Any:
    return kind(n_estimators=members, loss="f1", random_state=0, n_jobs=jobs, **settings)


def shared(loop: Any, arrays: list[Any], jobs: int) -> float:
    """Return how long so many threads take for one amount of work."""
    passes = 160 // jobs
    work = joblib.Parallel(n_jobs=jobs, prefer="threads")
    return timed(lambda: work(joblib.delayed(loop)(array, passes) for array in arrays[:jobs]))


@njit(nogil=True)
def multiply(array: Any, passes: int) -> float:
    found = 1.0
    for _ in range(passes):
        a, b, c, d = 1.0, 1.1, 1.2, 1.3
        for _ in range(array.size):
            a, b, c, d = a * 1.0000001, b * 0.9999999, c * 1.0000001, d * 0.9999999
        found += a + b + c + d
    return found


@njit(nogil=True)
def read(array: Any, passes: int) -> float:
    found = 0.0
    for _ in range(passes):
        for value in array:
            found += value
    return found


def timed(function: Any) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
