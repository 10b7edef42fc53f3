"""Work in processes: limits on threads, and processes that end before their work does."""

import contextlib
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from comitia._errors import ComitiaError
from comitia.experiments import _engines
from comitia.experiments._engines import CrashError, Processes, ThisProcess, local_engine


def done(engine, work, count, shared=None):
    engine.start({"all": shared})
    try:
        return dict(engine.outcomes(work, dict.fromkeys(range(count), "all")))
    finally:
        engine.close()


@pytest.mark.parametrize("engine", [ThisProcess(1), Processes(2, 1)], ids=["here", "processes"])
def test_results_come_with_their_items_on_every_engine(engine):
    def plus(item, shared):
        return item * item + shared

    assert done(engine, plus, 7, 3) == {item: item * item + 3 for item in range(7)}


def test_an_item_that_ends_its_process_is_told_and_the_others_are_done():
    def work(item, _):
        if item == 2:
            os._exit(1)
        return -item

    found = done(Processes(2, 1), work, 6)
    assert isinstance(found.pop(2), CrashError)
    assert found == {item: -item for item in (0, 1, 3, 4, 5)}


@pytest.mark.parametrize("engine", [ThisProcess(1), Processes(2, 1)], ids=["here", "processes"])
def test_work_has_no_more_threads_than_it_is_given(engine):
    def limits(item, _):
        import numba
        import numpy  # noqa: F401  brings the threads of linear algebra that are to be limited
        import threadpoolctl

        pools = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
        return max([numba.get_num_threads(), *pools])

    assert set(done(engine, limits, 3).values()) == {1}


def test_large_arrays_are_not_copied_into_processes():
    def kind(item, shared):
        return type(shared["X"]).__name__, float(shared["X"].sum())

    X = np.ones(1 << 18)
    assert set(done(Processes(2, 1), kind, 4, {"X": X}).values()) == {("memmap", float(1 << 18))}


def test_what_cannot_be_handed_over_is_told_in_a_sentence():
    def work(item, shared):
        return item

    class Stubborn:
        def __reduce__(self):
            raise TypeError("I stay here")

    with pytest.raises(ComitiaError, match=r"could not be handed to other processes"):
        done(Processes(2, 1), work, 3, Stubborn())


@pytest.mark.parametrize(
    ("cores", "items", "slots", "threads"), [(4, 9, 4, 1), (4, 2, 2, 2), (4, 1, 1, 4), (1, 9, 1, 1), (3, 2, 2, 1)]
)
def test_cores_are_shared_among_the_items(cores, items, slots, threads):
    engine = local_engine(cores, items)
    assert (engine.slots, engine.threads) == (slots, threads)


@pytest.mark.parametrize("error", [None, OSError("no more processes")])
def test_both_processes_that_clean_up_are_started_and_told_to_say_nothing(error, monkeypatch):
    started, before = [], list(sys.warnoptions)

    def ensure_running(of):
        assert sys.warnoptions == [*before, "ignore:resource_tracker"]
        started.append(of)
        if error is not None:
            raise error

    trackers = (_engines.multiprocessing.resource_tracker, _engines.loky.backend.resource_tracker)
    for one in trackers:
        monkeypatch.setattr(one, "ensure_running", lambda of=one: ensure_running(of))
    with contextlib.nullcontext() if error is None else pytest.raises(OSError, match="no more"):
        _engines._start_trackers()
    assert started == list(trackers)[: 2 if error is None else 1]
    assert sys.warnoptions == before


@pytest.mark.parametrize("address", ["ray", "ray://host:1"])
def test_an_address_of_ray_is_handed_to_ray(address, monkeypatch):
    found = []
    there = SimpleNamespace(RayWorkers=lambda *given: found.append(given) or "ray's")
    monkeypatch.setitem(sys.modules, "comitia.experiments._ray", there)
    monkeypatch.setattr("comitia.experiments._ray", there, raising=False)
    assert _engines.cluster_engine(address, 3) == "ray's"
    assert found == [(address, 3)]


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ("rays", "must be tcp://HOST:PORT .* got 'rays', which is no file"),
        ("tcp:host", "which is no file"),
        (5, "an address, a scheduler file or a Dask client; got 5"),
    ],
)
def test_what_is_no_cluster_is_refused(cluster, message):
    with pytest.raises(_engines.ClusterError, match=message):
        _engines.cluster_engine(cluster)
