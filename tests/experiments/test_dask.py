"""Cells on a cluster of Dask, with real processes that are killed while they work."""

import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from comitia import ComitiaError, EBRClassifier, MultilabelBaggingClassifier, _clusters
from comitia._compare import read_run
from comitia.experiments import ClusterError, EnsembleSetting, Store, run_plan
from comitia.learners import _logistic_blocks
from tests.experiments import on_clusters
from tests.experiments.conftest import small_plan

dask = pytest.importorskip("dask", reason="needs comitia[dask]")
distributed = pytest.importorskip("distributed", reason="needs comitia[dask]")


@pytest.fixture(scope="module")
def cluster():
    # A local cluster gives up a worker that happens to be dead again so long after it died: none of these is given up.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": 50}
    with patient, distributed.LocalCluster(n_workers=2, **options) as started:
        yield started


@pytest.fixture
def client(cluster):
    # By its address: with the object, distributed waits for workers that have come.
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected


def test_rows_are_those_of_one_process_byte_for_byte(plan, client, tmp_path):
    on_clusters.rows_are_those_of_one_process(plan, client, tmp_path)


def test_rows_do_not_depend_on_workers_that_are_killed_while_they_are_busy(joint_csv, client, tmp_path):
    on_clusters.killed_workers_change_no_row(joint_csv, client, tmp_path, kills=3)


@pytest.mark.long
def test_rows_do_not_depend_on_twenty_workers_that_are_killed(joint_csv, client, tmp_path):
    on_clusters.killed_workers_change_no_row(joint_csv, client, tmp_path, kills=20, repeats=3, of_one_cell=2)


def test_a_cell_that_always_kills_its_worker_fails_alone(joint_csv, client, tmp_path):
    on_clusters.a_cell_that_always_kills_its_worker_fails_alone(joint_csv, client, tmp_path)


@pytest.mark.long
def test_a_runner_that_was_stopped_or_killed_goes_on_where_it_was(joint_csv, cluster, client, tmp_path):
    on_clusters.a_stopped_runner_goes_on_where_it_was(joint_csv, cluster.scheduler_address, tmp_path)


def test_a_result_lost_after_it_was_made_is_made_again(client):
    from comitia.experiments._dask import DaskWorkers

    class Unlucky(DaskWorkers):
        lost = 0

        def _fetched(self, begun):
            if not self.lost:
                self.lost += 1
                os.kill(client.run(os.getpid, workers=[begun.worker])[begun.worker], signal.SIGKILL)
                while begun.worker in client.nthreads():
                    time.sleep(0.01)
            return super()._fetched(begun)

    def plus(item, shared):
        return item + shared

    engine = Unlucky(client)
    engine.start({"ten": 10})
    try:
        assert dict(engine.outcomes(plus, dict.fromkeys(range(5), "ten"))) == {item: item + 10 for item in range(5)}
    finally:
        engine.close()
    assert engine.lost == 1


def test_shared_data_that_was_lost_with_all_workers_is_sent_again(client):
    from comitia.experiments._dask import DaskWorkers

    def plus(item, shared):
        return item + shared

    engine = DaskWorkers(client)
    engine.start({"ten": 10})
    try:
        outcomes = engine.outcomes(plus, dict.fromkeys(range(4), "ten"))
        found = dict([next(outcomes)])
        for process in client.run(os.getpid).values():
            os.kill(process, signal.SIGKILL)
        assert found | dict(outcomes) == {item: item + 10 for item in range(4)}
    finally:
        engine.close()


def test_workers_of_other_versions_are_refused_by_name(plan, client):
    odd = next(iter(client.nthreads()))
    client.run(_pretend, "__version__", "9.9", workers=[odd])
    try:
        with pytest.raises(ClusterError, match=rf"{odd} has comitia 9\.9 \(here "):
            run_plan(plan, cluster=client)
    finally:
        client.run(_pretend, "__version__", _version(), workers=[odd])


def test_workers_that_round_differently_are_warned_of_recorded_and_refused_where_asked(plan, client, tmp_path):
    odd = next(iter(client.nthreads()))
    client.run(_pretend, "rounding", _otherwise, workers=[odd])
    try:
        with pytest.raises(ClusterError, match=r"round differently .* same_bits refuses"):
            run_plan(plan, cluster=client, same_bits=True)
        with pytest.warns(UserWarning, match=r"round differently \(.*otherwise"):
            found = run_plan(plan, tmp_path, cluster=client)
    finally:
        client.run(_undo, workers=[odd])
    assert len(found.roundings) == 2
    assert sum(found.roundings.values()) == 6
    assert "2 kinds: the last digits of results depend on which machine" in read_run(tmp_path).html()
    (tmp_path / f"cells/{next(iter(plan.cells())).key}.jsonl").unlink()
    with pytest.raises(ClusterError, match="same_bits"):
        run_plan(plan, tmp_path, n_jobs=1, same_bits=True)


def test_data_that_was_changed_on_its_way_is_refused(joint, plan):
    from comitia.experiments._handing import compute_sent

    cell = next(iter(plan.cells()))
    assert "changed on its way" in compute_sent(plan, 1, cell, (joint, "0" * 64)).error["error"]


def test_data_is_read_by_workers_that_have_it_and_otherwise_comes_from_the_runner(joint_csv, client, tmp_path):
    on_clusters.data_is_read_there_or_sent(joint_csv, client, tmp_path)


def test_data_that_only_the_runner_has_goes_once_to_each_worker_and_not_with_the_cells(
    joint, client, tmp_path, monkeypatch
):
    processes, sizes, submit = client.run(os.getpid).values(), [], distributed.Client.submit

    def noted(self, function, *given, **options):
        parts = [part for part in given if not isinstance(part, distributed.Future)]
        sizes.append(len(distributed.protocol.pickle.dumps((function, parts))))
        return submit(self, function, *given, **options)

    monkeypatch.setattr(distributed.Client, "submit", noted)
    came = on_clusters.arrivals_of_data_that_only_the_runner_has(joint, client, tmp_path)
    assert came == dict.fromkeys(processes, 1)
    assert len(sizes) == 1 + 8, "one task is held, and there are eight cells"
    assert max(sizes) < 10_000, "a cell is a plan and a few numbers"


def test_a_cluster_without_workers_is_waited_for_with_a_word(plan):
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=0, **options) as adapting:
        adapting.adapt(minimum=0, maximum=1, interval="100ms")
        cells = list(plan.cells())[:1]
        with pytest.warns(UserWarning, match="no worker yet: waiting for the first"):
            found = run_plan(plan, cells=cells, cluster=adapting.scheduler_address)
    assert (found.computed, found.failures) == (1, ())


def test_a_cluster_that_adapts_keeps_a_worker_before_anything_is_begun_and_starts_another(monkeypatch):
    from comitia.experiments import _dask

    def plus(item, shared):
        return item + shared

    monkeypatch.setattr(_dask, "_PATIENCE_SECONDS", 60)
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=0, **options) as adapting:
        adapting.adapt(minimum=0, maximum=1, interval="50ms", wait_count=1)
        with pytest.warns(UserWarning, match="no worker yet"):
            engine = _dask.DaskWorkers(adapting)
        try:
            (first,) = engine._client.nthreads()
            time.sleep(2)  # the rounding of workers is tried meanwhile, which Dask does not see as work
            assert list(engine._client.nthreads()) == [first]
            engine.start({"ten": 10})
            outcomes = engine.outcomes(plus, dict.fromkeys(range(4), "ten"))
            found = dict([next(outcomes)])
            engine._client.retire_workers([first])
            assert found | dict(outcomes) == {item: item + 10 for item in range(4)}
        finally:
            engine.close()


def test_workers_that_come_later_are_used_and_counted():
    from comitia.experiments._dask import DaskWorkers

    def where(item, _):
        time.sleep(0.1)
        return distributed.get_worker().address

    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=1, **options) as growing:
        engine = DaskWorkers(growing)
        engine.start({"nothing": None})
        try:
            outcomes, seen = engine.outcomes(where, dict.fromkeys(range(10_000), "nothing")), set()
            seen.add(next(outcomes)[1])
            assert engine.slots == 1
            growing.scale(2)
            end = time.monotonic() + on_clusters.PATIENCE_SECONDS
            while len(seen) < 2:
                assert time.monotonic() < end, "nothing is given to the second worker"
                seen.add(next(outcomes)[1])
            assert engine.slots == 2
        finally:
            engine.close()


def test_own_code_of_a_plan_is_computed_on_workers(joint_csv, client, tmp_path):
    on_clusters.own_code_is_computed_there(joint_csv, client)


@pytest.mark.slow
def test_fits_on_the_cluster_have_the_bits_of_one_thread(joint, client, monkeypatch):
    sizes, submit = {}, distributed.Client.submit

    def noted(self, function, shared, parts, *cut, **options):
        future = submit(self, function, shared, parts, *cut, **options)
        sizes[future.key] = len(distributed.protocol.pickle.dumps((function, cut)))
        return future

    monkeypatch.setattr(distributed.Client, "submit", noted)
    with client.as_current(), distributed.get_task_stream() as done:
        on_clusters.fits_on_the_cluster_have_the_bits_of_one_thread(joint, "dask")
    assert {task["key"] for task in done.data} == set(sizes)
    assert {task["worker"] for task in done.data} == set(client.nthreads())
    assert len(sizes) >= 7
    assert max(sizes.values()) < joint.Y.nbytes, "a task carries numbers and no data"


def test_what_a_fit_shares_goes_once_to_each_worker(joint, client, tmp_path):
    processes = client.run(os.getpid).values()
    client.amm.stop()  # or Dask drops, every two seconds, copies that nobody waits for between two goes
    with client.as_current():
        came = on_clusters.arrivals_of_what_a_fit_shares(joint, "dask", tmp_path)
    client.amm.start()
    assert came == dict.fromkeys(processes, 1)


def test_lines_that_are_fitted_a_few_labels_at_a_time_send_their_rows_once(joint, client, monkeypatch):
    sent, scatter = [], distributed.Client.scatter

    def noted(self, data, **options):
        sent.extend(type(value) for value in data)
        return scatter(self, data, **options)

    monkeypatch.setattr(distributed.Client, "scatter", noted)
    monkeypatch.setattr(_logistic_blocks, "MATRIX_ENTRIES", 1)
    classifier = EBRClassifier(n_estimators=12, C=1.0, scaling="none", random_state=0)
    here = clone(classifier).set_params(n_jobs=1).fit(joint.X, joint.Y)
    with client.as_current(), joblib.parallel_config(backend="dask"):
        there = clone(classifier).fit(joint.X, joint.Y)
    assert joblib.hash(there.members_) == joblib.hash(here.members_)
    assert sent.count(_logistic_blocks.Problems) == 1
    assert len(sent) == 1 + joint.Y.shape[1]


@pytest.mark.parametrize("classifier", on_clusters.FITS)
def test_a_fit_whose_workers_are_killed_has_the_same_bits(classifier, joint, client, tmp_path, monkeypatch):
    fit = on_clusters.a_fit_whose_workers_are_killed_has_the_same_bits
    with client.as_current():
        fit(classifier, joint, "dask", tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_fit_that_the_cluster_cannot_complete_raises_one_error_and_fits_nothing(joint, client, tmp_path):
    with client.as_current():
        on_clusters.a_fit_that_kills_its_workers_raises_one_error_and_fits_nothing(joint, "dask", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["the only worker", pytest.param("the scheduler", marks=pytest.mark.long)])
def test_a_fit_that_loses_all_who_could_do_it_raises_one_error_in_bounded_time(lost, joint, tmp_path, monkeypatch):
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setattr(_clusters, "_PATIENCE_SECONDS", 1)
    unfitted = MultilabelBaggingClassifier(on_clusters.Watched(str(marks), seconds=0.5), n_estimators=4)

    def lose():
        while not list(marks.iterdir()):
            time.sleep(0.01)
        (machines.worker if lost == "the only worker" else machines.scheduler).kill()

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        _Machines(tmp_path / "scheduler.json") as machines,
        distributed.Client(scheduler_file=str(machines.file), timeout="60s", set_as_default=False) as client,
        client.as_current(),
    ):
        client.wait_for_workers(1, timeout=60)
        threading.Thread(target=lose, daemon=True).start()
        with pytest.raises(ComitiaError, match="given to a cluster and lost there, and nothing is fitted"):
            on_clusters.fitted_in_time(unfitted, joint.X, joint.Y, "dask")
    with pytest.raises(NotFittedError):
        unfitted.predict(joint.X)


def test_threads_are_those_of_this_machine_and_one_within_a_task(client):
    def asked():
        from comitia._jobs import local_threads

        with joblib.parallel_config(backend="dask"):
            return local_threads(None), local_threads(-1), local_threads(1)

    cores = joblib.cpu_count()
    with client.as_current():
        assert asked() == (cores, cores, 1)
    assert client.submit(asked, pure=False).result() == (1, 1, 1)


@pytest.mark.parametrize(("given", "words"), [("nowhere.json", "which is no file"), (3, "a Dask client; got 3")])
def test_what_is_no_cluster_is_refused_in_a_sentence(plan, given, words):
    with pytest.raises(ClusterError, match=words):
        run_plan(plan, cluster=given)


@pytest.mark.long
def test_a_run_goes_on_after_its_scheduler_was_killed(joint_csv, tmp_path):
    settings = (EnsembleSetting("emodt", {"n_estimators": 30}), EnsembleSetting("ebr", {"n_estimators": 30}))
    plan = small_plan(joint_csv, ensembles=settings, folds=4)
    lost = pytest.raises(ClusterError, match="what is finished is kept")
    with _Machines(tmp_path / "scheduler.json") as machines, lost:
        run_plan(plan, tmp_path / "run", cluster=machines.file, on_progress=lambda now: now.cell and machines.kill())
    assert len(Store.read(tmp_path / "run").rows()) > 0
    with _Machines(tmp_path / "again.json") as machines:
        found = run_plan(plan, tmp_path / "run", cluster=machines.file)
    assert found.kept > 0
    assert found.computed > 0
    assert found.rows == run_plan(plan, n_jobs=1).rows


class _Machines:
    """A scheduler that leaves a file, and a worker that reads it: what one starts by hand."""

    def __init__(self, file):
        self.file = file

    def __enter__(self):
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
        self.scheduler = subprocess.Popen([*command, "--scheduler-file", self.file], stderr=subprocess.DEVNULL)
        while not self.file.is_file():
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"]
        self.worker = subprocess.Popen(
            [*command, "--no-dashboard", "--scheduler-file", self.file], stderr=subprocess.DEVNULL
        )
        return self

    def kill(self):
        self.scheduler.kill()
        self.scheduler.wait()

    def __exit__(self, *_):
        for process in (self.worker, self.scheduler):
            process.kill()
            process.wait()


def _pretend(name, value):
    from comitia.experiments import _agreement, _provenance

    for module in (_agreement, _provenance):
        if hasattr(module, name):
            setattr(module, name, value)


def _otherwise():
    return "otherwise"


def _undo():
    import importlib

    from comitia.experiments import _agreement, _provenance

    for module in (_provenance, _agreement):
        importlib.reload(module)


def _version():
    from comitia import __version__

    return __version__
