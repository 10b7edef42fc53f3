"""The recipes of docs/scaling.md, as they stand there, on a local cluster."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from comitia.experiments import EnsembleSetting, Store, run_plan, write_plan
from tests.experiments.conftest import small_plan

pytest.importorskip("distributed", reason="needs comitia[dask]")

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"

JOBQUEUE = """
from distributed import LocalCluster


class SLURMCluster(LocalCluster):
    '''A queue on this machine: it takes what the recipe says of jobs, and starts two workers at most.'''

    def __init__(self, cores, processes, memory, walltime, worker_extra_args):
        assert (cores, processes) == (1, 1)
        assert worker_extra_args[0] == "--lifetime"
        super().__init__(n_workers=0, threads_per_worker=1, dashboard_address=None, silence_logs=50)

    def adapt(self, minimum, maximum):
        return super().adapt(minimum=min(minimum, 2), maximum=min(maximum, 2))
"""

KUBERNETES = """
from distributed import LocalCluster


class KubeCluster(LocalCluster):
    '''An operator on this machine: it takes what the recipe says of pods, and starts two workers at most.'''

    def __init__(self, name, image, n_workers, worker_command, resources):
        assert worker_command == ["dask", "worker", "--nthreads", "1"]
        assert set(resources) == {"requests", "limits"}
        super().__init__(n_workers=min(n_workers, 2), threads_per_worker=1, dashboard_address=None, silence_logs=50)
"""


@pytest.fixture
def folder(joint_csv, tmp_path):
    """A folder with a plan of two cells, and what it comes to."""
    plan = small_plan(joint_csv, ensembles=(EnsembleSetting("emodt", {"n_estimators": 3}),), folds=2)
    (tmp_path / "plan.toml").write_text(write_plan(plan))
    (tmp_path / "dask_jobqueue.py").write_text(JOBQUEUE)
    (tmp_path / "dask_kubernetes").mkdir()
    (tmp_path / "dask_kubernetes" / "operator.py").write_text(KUBERNETES)
    return tmp_path, run_plan(plan, n_jobs=1).rows


def recipe(heading, starts_with):
    """The block of code under a heading that starts so."""
    part = PAGE.read_text(encoding="utf-8").split(f"### {heading}\n")[1].split("\n### ")[0]
    blocks = [textwrap.dedent(block) for block in re.findall(r"(?:^(?: {4}.*)?\n)+", part, flags=re.MULTILINE)]
    return next(block.strip() for block in blocks if block.strip().startswith(starts_with))


def run(folder, command, **environment):
    root = Path(__file__).parents[2]
    paths = [str(root / "src"), str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment |= {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_the_recipe_for_one_machine_runs(folder):
    place, rows = folder
    (place / "script.py").write_text(recipe("One machine", "from distributed"))
    run(place, [sys.executable, "script.py"])
    assert Store.read(place / "results").rows() == rows


@pytest.mark.long
@pytest.mark.parametrize(("heading", "package"), [("Slurm", "dask_jobqueue"), ("Kubernetes", "dask_kubernetes")])
def test_the_recipes_for_queues_and_pods_run_where_these_are_processes(heading, package, folder):
    place, rows = folder
    text = textwrap.indent(recipe(heading, f"from {package}"), "    ")
    (place / "script.py").write_text(f'if __name__ == "__main__":\n{text}\n')
    run(place, [sys.executable, "script.py"])
    assert Store.read(place / "results").rows() == rows


@pytest.mark.long
@pytest.mark.skipif(not Path(sys.executable).with_name("dask").is_file(), reason="needs the command dask")
def test_the_recipe_for_one_allocation_runs_where_srun_is_nothing(folder):
    place, rows = folder
    lines = [line for line in recipe("Slurm", "#SBATCH").splitlines() if not line.startswith("#")]
    text = "\n".join(lines).replace("table2", "plan.toml --output results")
    commands = f'srun() {{ "$@"; }}\ncomitia() {{ {sys.executable} -m comitia "$@"; }}\n'
    path = f'export PATH="{Path(sys.executable).parent}:$PATH"\n'
    (place / "job.sh").write_text(f"{path}{commands}trap 'kill $(jobs -p)' EXIT\n{text}\n")
    run(place, ["bash", "job.sh"])
    assert Store.read(place / "results").rows() == rows


needs_ray = pytest.mark.skipif(not Path(sys.executable).with_name("ray").is_file(), reason="needs the command ray")


@pytest.mark.long
@needs_ray
def test_the_recipe_for_ray_runs_where_the_head_is_the_only_machine(folder):
    runs_on_a_head_of_ray(*folder, line=2)


@pytest.mark.long
@needs_ray
def test_the_recipe_for_ray_runs_from_elsewhere(folder):
    pytest.importorskip("grpc", reason="needs comitia[ray], which has Ray's client")
    runs_on_a_head_of_ray(*folder, line=3)


def runs_on_a_head_of_ray(place, rows, line):
    """Start a head as the recipe says, and run a plan by one of the recipe's lines."""
    start, *others = (line.partition("#")[0].split() for line in recipe("Ray", "ray start").splitlines())
    port, client = free_port(), free_port()
    # In the foreground, so that it ends with us: "ray stop" would end every cluster of this machine.
    head = [str(Path(sys.executable).with_name("ray")), *start[1:], "--block", "--port", port, "--num-cpus", "2"]
    options = ["--include-dashboard", "false", "--object-store-memory", str(10**8), "--disable-usage-stats"]
    # In a folder of its own, with a short name: otherwise all of Ray on this machine would take it for the current one.
    own = tempfile.mkdtemp(prefix="ray")
    options += ["--temp-dir", own]
    command = [sys.executable, "-m", *others[line - 1]]
    command[command.index("table2")] = "plan.toml"
    environment = {"RAY_ADDRESS": f"127.0.0.1:{port}"}
    if command[-1].startswith("ray://"):
        command[-1], environment = f"ray://127.0.0.1:{client}", {}
        options += ["--ray-client-server-port", client]
    # Where a token is there, Ray asks for it; who joins is to say so.
    token = {"RAY_AUTH_MODE": "token"}
    streams = {"stdout": (place / "head.txt").open("w"), "stderr": subprocess.STDOUT}
    with streams["stdout"], subprocess.Popen([*head, *options], env=os.environ | token, **streams) as ray:
        try:
            while "Ray runtime started" not in (place / "head.txt").read_text():
                assert ray.poll() is None, (place / "head.txt").read_text()
                time.sleep(0.2)
            run(place, [*command, "--output", "results"], **environment, **token)
        finally:
            ray.terminate()
            ray.wait()
            shutil.rmtree(own, ignore_errors=True)
    assert Store.read(place / "results").rows() == rows


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])
