"""Every core: fits and predictions of one ensemble with 1, 2, 4, 8 and 16 jobs, each against one job."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import joblib

from benchmarks.case import DATA, Case
from benchmarks.mediamill import mediamill_size
from comitia import EBRClassifier, ECCClassifier, EMODTClassifier

M = 50
JOBS = (1, 2, 4, 8, 16)
KINDS = {"EBR": EBRClassifier, "ECC": ECCClassifier, "EMODT": EMODTClassifier}


def run(quick: bool = False) -> Iterator[Case]:
    X, Y = mediamill_size(DATA, 2_000 if quick else 39_516)
    jobs = [count for count in JOBS if count <= joblib.cpu_count()]
    for name, kind in KINDS.items():
        build(kind, 2, 3).fit(X[:600], Y[:600]).predict(X[:300])  # compiles
        seconds: dict[tuple[str, int], float] = {}
        for count in jobs:
            model = build(kind, count, 5 if quick else M)
            seconds["fit", count] = timed(lambda model=model: model.fit(X, Y))
            seconds["predict (F1)", count] = timed(lambda model=model: model.predict(X))
        for (what, count), taken in seconds.items():
            ratio = seconds[what, jobs[0]] / taken
            yield Case(
                f"{name} {what}, mediamill's size, {count} jobs", "itself with one", ratio, None, f"{taken:.2f} s"
            )


def build(kind: Any, jobs: int, members: int) -> Any:
    return kind(n_estimators=members, loss="f1", random_state=0, n_jobs=jobs)


def timed(function: Any) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
