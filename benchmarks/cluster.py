"""What a cluster costs beside ideal workers: many short cells on two workers of Dask."""

from __future__ import annotations

import time

from benchmarks.case import Case

WORKERS = 2


def run(quick: bool = False) -> list[Case]:
    try:
        import distributed

        from comitia.experiments._dask import DaskWorkers
    except (ImportError, ValueError) as error:
        print(f"left out: {error}")
        return []
    cells, seconds = 60 if quick else 240, 0.05
    with distributed.LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        engine = DaskWorkers(cluster)
        engine.start({"data": None})
        try:
            dict(engine.outcomes(_sleep, {-worker: "data" for worker in range(WORKERS)}))
            start = time.perf_counter()
            done = dict(engine.outcomes(_sleep, dict.fromkeys(range(cells), "data")))
            took = time.perf_counter() - start
        finally:
            engine.close()
    assert len(done) == cells
    ideal = cells * seconds / WORKERS
    return [
        Case(
            f"{cells} cells of {1000 * seconds:.0f} ms on {WORKERS} workers of Dask",
            "the ideal",
            took / ideal,
            1.3,
            f"{took:.1f} s; time",
            at_most=True,
        )
    ]


def _sleep(item: int, _: None) -> int:
    time.sleep(0.05)
    return item
