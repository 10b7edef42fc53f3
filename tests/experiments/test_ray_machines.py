"""Ray whose machines come and go: each has processes of its own, on this one."""

import os
import queue
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import pytest

from comitia import ComitiaError, _clusters
from comitia._clusters import Common, on_cluster
from comitia.experiments import ClusterError, EnsembleSetting, Store, run_plan
from tests.experiments.conftest import small_plan
from tests.experiments.on_clusters import PATIENCE_SECONDS, Watched, who_works

ray = pytest.importorskip("ray", reason="needs comitia[ray]")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="starts machines of Ray as processes")]

SOON = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 10}


@pytest.fixture
def machines():
    """A head that has no processors, which this process has joined."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": 10**8, "include_dashboard": False, "_system_config": SOON}
    started = Cluster(initialize_head=True, head_node_args=head)
    ray.init(started.address, log_to_driver=False, logging_level="ERROR")
    pytest.importorskip("ray.util.joblib").register_ray()
    yield started
    ray.shutdown()
    started.shutdown()


def one_more(machines):
    return machines.add_node(num_cpus=1, object_store_memory=10**8)


def test_the_first_machine_is_waited_for_with_a_word_and_all_of_them_are_asked(plan, machines):
    from comitia.experiments._ray import RayWorkers

    cells, said = list(plan.cells())[:1], queue.SimpleQueue()
    with warnings.catch_warnings(), ThreadPoolExecutor(1) as aside:
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_, **__: said.put(str(message))
        running = aside.submit(run_plan, plan, cells=cells, cluster="ray")
        try:
            while "no worker yet: waiting for the first" not in said.get(timeout=PATIENCE_SECONDS):
                pass
            assert not running.done()
        finally:
            one_more(machines)
        found = running.result(timeout=PATIENCE_SECONDS)
    assert (found.computed, found.failures) == (1, ())
    assert found.rows == run_plan(plan, cells=cells, n_jobs=1).rows
    one_more(machines)
    engine = RayWorkers("ray")
    assert engine.slots == 2
    answers = engine.everywhere(os.getpid)
    assert len(set(answers.values())) == 2, "two machines at one address are both asked"


def test_when_all_machines_are_gone_runs_and_fits_end_in_bounded_time(joint_csv, machines, tmp_path, monkeypatch):
    from comitia.experiments import _ray

    monkeypatch.setattr(_ray, "_PATIENCE_SECONDS", 1)
    monkeypatch.setattr(_clusters, "_PATIENCE_SECONDS", 1)
    marks = tmp_path / "marks"
    marks.mkdir()
    watched = EnsembleSetting(estimator=Watched(str(marks), seconds=0.2), name="watched")
    plan = small_plan(joint_csv, ensembles=(watched,), folds=5)
    machine = one_more(machines)

    def lose(progress):
        if progress.cell is not None and len(machines.worker_nodes):
            machines.remove_node(machine, allow_graceful=False)

    with pytest.raises(ClusterError, match=r"no processor for 1 s; what is finished is kept, and the same command"):
        run_plan(plan, tmp_path / "run", cluster="ray", on_progress=lose)
    with (
        pytest.raises(ComitiaError, match=r"lost there, and nothing is fitted: TimeoutError: .* no processor for 1 s"),
        joblib.parallel_config(backend="ray"),
    ):
        on_cluster(who_works, Common(lambda: None), range(4), None)
    one_more(machines)
    found = run_plan(plan, tmp_path / "run", cluster="ray")
    assert found.kept >= 1
    assert (found.kept + found.computed, found.failures) == (5, ())
    assert Store.read(tmp_path / "run").rows() == run_plan(plan, n_jobs=1).rows
