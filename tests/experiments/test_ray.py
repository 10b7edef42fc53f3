"""Cells on a cluster of Ray, with real processes that are killed while they work."""

import pytest

from comitia.experiments import ClusterError, run_plan
from tests.experiments import on_clusters

ray = pytest.importorskip("ray", reason="needs comitia[ray]")


@pytest.fixture(scope="module")
def address():
    started = ray.init(
        num_cpus=2, object_store_memory=10**8, include_dashboard=False, log_to_driver=False, logging_level="ERROR"
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


def test_fits_on_the_cluster_have_the_bits_of_one_thread(joint, address):
    pytest.importorskip("ray.util.joblib").register_ray()
    on_clusters.fits_on_the_cluster_have_the_bits_of_one_thread(joint, "ray")


def test_a_cluster_that_is_not_there_is_told_in_a_sentence(plan, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def refused(*_, **__):
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "init", refused)
    with pytest.raises(ClusterError, match=r"ray://nowhere:1 cannot be reached .* nobody answers"):
        run_plan(plan, cluster="ray://nowhere:1")
