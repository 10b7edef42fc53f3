"""By what names clusters are reached, from Python and from the command line."""

import os
import signal
import subprocess
import sys
import time

import pytest

from comitia import compare
from comitia.experiments import Store, run_plan

dask = pytest.importorskip("dask", reason="needs comitia[dask]")
distributed = pytest.importorskip("distributed", reason="needs comitia[dask]")
PATIENCE_SECONDS = 300
OPTIONS = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}


def test_compare_takes_an_address_a_scheduler_file_and_a_client(joint, tmp_path):
    asked = {"ensembles": ["emodt"], "losses": ["hamming"], "members": 3, "folds": 2}
    alone = compare(joint.X, joint.Y, **asked, n_jobs=1)
    with (
        distributed.LocalCluster(n_workers=1, processes=False, protocol="tcp://", **OPTIONS) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.write_scheduler_file(str(tmp_path / "scheduler.json"))
        assert cluster.scheduler_address.startswith("tcp://")
        for where in (cluster.scheduler_address, str(tmp_path / "scheduler.json"), client):
            there = compare(joint.X, joint.Y, **asked, cluster=where)
            assert there.as_records()["results"] == alone.as_records()["results"]


def test_a_scheduler_that_asks_for_certificates_is_reached_by_its_address(plan, tmp_path):
    pytest.importorskip("cryptography", reason="makes certificates")
    security = distributed.Security.temporary()
    settings = {"distributed.comm.require-encryption": True}
    for role in ("client", "scheduler", "worker"):
        for what in ("cert", "key"):
            (tmp_path / f"{role}.{what}").write_text(getattr(security, f"tls_{role}_{what}"))
            settings[f"distributed.comm.tls.{role}.{what}"] = str(tmp_path / f"{role}.{what}")
    (tmp_path / "ca").write_text(security.tls_ca_file)
    settings["distributed.comm.tls.ca-file"] = str(tmp_path / "ca")
    cells = list(plan.cells())[:1]
    with distributed.LocalCluster(n_workers=1, processes=False, security=security, **OPTIONS) as cluster:
        assert cluster.scheduler_address.startswith("tls://")
        with dask.config.set(settings):
            found = run_plan(plan, cells=cells, cluster=cluster.scheduler_address)
    assert (found.computed, found.failures) == (1, ())
    assert found.rows == run_plan(plan, cells=cells, n_jobs=1).rows


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_comparison_on_a_cluster_shows_how_far_it_is_and_stops_like_one_on_this_machine(joint_csv, tmp_path):
    folder = tmp_path / "run"
    with distributed.LocalCluster(n_workers=2, processes=True, **OPTIONS) as cluster:
        main = [sys.executable, "-c", "from _comitia_start import main; main()", "compare", str(joint_csv)]
        asked = ["--labels", "y*", "--ensembles", "emodt", "-m", "20", "--folds", "5", "--repeats", "4"]
        command = [*main, *asked, "--cluster", cluster.scheduler_address, "-o", str(folder)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(
            command, **streams, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
        ) as run:
            end = time.monotonic() + PATIENCE_SECONDS
            while len(list(folder.glob("cells/*.jsonl"))) < 2:
                assert run.poll() is None, run.stderr.read()
                assert time.monotonic() < end, "it writes nothing"
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            _, said = run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 1, said
    assert "1 of 20 cells, about " in said
    assert said.splitlines()[-1] == (
        f"Stopped. What is finished is kept: the same command with --output {folder} goes on."
    )
    store = Store.read(folder)
    assert 2 <= sum(map(store.finished, store.plan.cells())) < 20
