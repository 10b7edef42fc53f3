"""Cells on a cluster of Ray, with real processes that are killed while they work."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import joblib
import pytest

from comitia._clusters import Common, on_cluster
from comitia.datasets import Dataset
from comitia.experiments import ClusterError, EnsembleSetting, Store, _agreement, run_plan, write_plan
from tests.experiments import on_clusters
from tests.experiments.conftest import small_plan

ray = pytest.importorskip("ray", reason="needs comitia[ray]")


@pytest.fixture(scope="module")
def address():
    # A new one, whatever else runs on this machine.
    started = ray.init(
        "local",
        num_cpus=2,
        object_store_memory=10**8,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    yield started.address_info["gcs_address"]
    ray.shutdown()


def test_rows_are_those_of_one_process_byte_for_byte(plan, address, tmp_path):
    on_clusters.rows_are_those_of_one_process(plan, "ray", tmp_path)


def test_rows_do_not_depend_on_workers_that_are_killed_while_they_are_busy(joint_csv, address, tmp_path):
    on_clusters.killed_workers_change_no_row(joint_csv, "ray", tmp_path, kills=3)


@pytest.mark.long
def test_rows_do_not_depend_on_twenty_workers_that_are_killed(joint_csv, address, tmp_path):
    on_clusters.killed_workers_change_no_row(joint_csv, "ray", tmp_path, kills=20, repeats=3, of_one_cell=2)


def test_a_cell_that_always_kills_its_worker_fails_alone(joint_csv, address, tmp_path):
    on_clusters.a_cell_that_always_kills_its_worker_fails_alone(joint_csv, "ray", tmp_path)


@pytest.mark.long
def test_a_runner_that_was_stopped_or_killed_goes_on_where_it_was(joint_csv, address, tmp_path):
    on_clusters.a_stopped_runner_goes_on_where_it_was(joint_csv, "ray", tmp_path, RAY_ADDRESS=address)


def test_data_is_read_by_workers_that_have_it_and_otherwise_comes_from_the_runner(joint_csv, address, tmp_path):
    on_clusters.data_is_read_there_or_sent(joint_csv, "ray", tmp_path)


@pytest.fixture
def stored(monkeypatch):
    """Datasets that were put into a store.

    Workers of a machine look at what its store has; Ray brings to each store once what was put into one.
    """
    found, put = [], ray.put

    def noted(value, **options):
        found.extend(part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, Dataset))
        return put(value, **options)

    monkeypatch.setattr(ray, "put", noted)
    return found


def test_data_that_only_the_runner_has_is_stored_once_for_all_workers(joint, address, tmp_path, stored):
    came = on_clusters.arrivals_of_data_that_only_the_runner_has(joint, "ray", tmp_path)
    assert len(stored) == 1
    assert os.getpid() not in came


def test_what_a_fit_shares_is_stored_once_for_all_workers(joint, backend, tmp_path, stored):
    came = on_clusters.arrivals_of_what_a_fit_shares(joint, "ray", tmp_path)
    assert len(stored) == 1
    assert os.getpid() not in came


def test_own_code_of_a_plan_is_computed_on_workers(joint_csv, address):
    on_clusters.own_code_is_computed_there(joint_csv, "ray")


def test_a_result_lost_after_it_was_made_is_made_again(address, monkeypatch):
    from comitia.experiments._ray import RayWorkers

    lost, get = [], ray.get

    def lossy(reference, **options):
        found = get(reference, **options)
        if not lost:
            lost.append(reference)
            raise ray.exceptions.ObjectLostError(reference.hex(), None, "")
        return found

    def plus(item, shared):
        return item + shared

    engine = RayWorkers("ray")
    engine.start({"ten": 10})
    monkeypatch.setattr(ray, "get", lossy)
    try:
        assert dict(engine.outcomes(plus, dict.fromkeys(range(5), "ten"))) == {item: item + 10 for item in range(5)}
    finally:
        engine.close()
    assert len(lost) == 1


def test_workers_of_other_versions_are_refused_by_name(plan, address, monkeypatch):
    # Ray asks its machines and not us: from theirs, ours are the other versions.
    monkeypatch.setattr(_agreement, "versions", lambda: {**_agreement.machine(), "numpy": "0.1"})
    with pytest.raises(ClusterError, match=r"workers must have the versions of this machine; .* \(here 0\.1\)"):
        run_plan(plan, cluster="ray")


HEAD_AND_RUNNER = """
import sys, ray
from comitia.experiments import read_plan, run_plan
ray.init("local", num_cpus=2, object_store_memory=10**8, include_dashboard=False, log_to_driver=False)
run_plan(read_plan(sys.argv[1]), sys.argv[2], cluster="ray")
"""


@pytest.mark.long
def test_a_run_goes_on_after_its_head_was_killed(joint_csv, tmp_path):
    psutil = pytest.importorskip("psutil", reason="finds the head's processes")
    settings = (EnsembleSetting("emodt", {"n_estimators": 30}), EnsembleSetting("ebr", {"n_estimators": 30}))
    plan = small_plan(joint_csv, ensembles=settings, folds=4, repeats=8)
    file, folder, said = tmp_path / "plan.toml", tmp_path / "run", tmp_path / "said.txt"
    file.write_text(write_plan(plan))
    command = [sys.executable, "-c", HEAD_AND_RUNNER, file, folder]
    environment = os.environ | {"RAY_gcs_rpc_server_reconnect_timeout_s": "5"}
    with said.open("w") as errors, subprocess.Popen(command, env=environment, stderr=errors) as runner:
        while not list(folder.glob("cells/*.jsonl")):
            assert runner.poll() is None, said.read_text()[-2000:]
            time.sleep(0.01)
        for process in psutil.Process(runner.pid).children(recursive=True):
            if process.name().startswith(("gcs_server", "raylet")):
                process.kill()
    assert runner.returncode != 0, "it ended before the head was lost"
    finished = len(list(folder.glob("cells/*.jsonl")))
    assert 0 < finished < 64
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    assert Store.read(folder).rows() == run_plan(plan, n_jobs=1).rows


@pytest.fixture
def backend(address):
    """Fits go to Ray."""
    pytest.importorskip("ray.util.joblib").register_ray()
    with joblib.parallel_config(backend="ray"):
        yield


@pytest.mark.slow
def test_fits_on_the_cluster_have_the_bits_of_one_thread(joint, backend, monkeypatch):
    sizes, remote = [], ray.remote

    def noted(**options):
        def made(function):
            task = remote(**options)(function)

            def begun(shared, parts, *cut):
                sizes.append(len(ray.cloudpickle.dumps((function, cut))))
                return task.remote(shared, parts, *cut)

            return SimpleNamespace(remote=begun)

        return made

    monkeypatch.setattr(ray, "remote", noted)
    on_clusters.fits_on_the_cluster_have_the_bits_of_one_thread(joint, "ray")
    assert len(sizes) >= 3
    assert max(sizes) < joint.Y.nbytes, "a task carries numbers and no data"


@pytest.mark.parametrize("classifier", on_clusters.FITS)
def test_a_fit_whose_workers_are_killed_has_the_same_bits(classifier, joint, backend, tmp_path, monkeypatch):
    fit = on_clusters.a_fit_whose_workers_are_killed_has_the_same_bits
    fit(classifier, joint, "ray", tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_fit_that_the_cluster_cannot_complete_raises_one_error_and_fits_nothing(joint, backend, tmp_path):
    on_clusters.a_fit_that_kills_its_workers_raises_one_error_and_fits_nothing(joint, "ray", tmp_path)


def test_parts_of_a_fit_are_done_by_workers(backend):
    done = on_cluster(on_clusters.who_works, Common(lambda: None), range(8), None)
    assert [part for part, _ in done] == list(range(8))
    assert os.getpid() not in {process for _, process in done}


def test_a_cluster_that_is_not_there_is_told_in_a_sentence(plan, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def refused(*_, **__):
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "init", refused)
    with pytest.raises(ClusterError, match=r"ray://nowhere:1 cannot be reached .* nobody answers"):
        run_plan(plan, cluster="ray://nowhere:1")


@pytest.mark.parametrize(("cores", "at_most", "slots"), [(5000.0, None, 5000), (5000.0, 7, 7), (3.0, 7, 3)])
def test_as_much_is_in_the_hands_of_ray_as_it_has_cores_or_as_it_may_have(cores, at_most, slots, monkeypatch):
    from comitia.experiments import _ray

    monkeypatch.setattr(_ray, "ray", SimpleNamespace(is_initialized=lambda: True))
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": cores})
    assert _ray.RayWorkers("ray", at_most).slots == slots
