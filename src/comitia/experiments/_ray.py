"""Work on a cluster of Ray."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from comitia._tries import CrashError, Item
from comitia.experiments._engines import ClusterError, Result, work_there

try:
    import ray
    from ray.exceptions import RayError, RaySystemError, RayTaskError, RuntimeEnvSetupError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from comitia._ray_tasks import RayTasks, cores
except ImportError as error:
    raise ClusterError(f"a cluster of Ray needs comitia[ray]: {error}") from error

_ASK_SECONDS = 300

_PATIENCE_SECONDS = 600
"""How long a processor is waited for where there is none: somebody may have to start a machine."""


class RayWorkers:
    """The processors of a cluster of Ray, one an item.

    Parameters
    ----------
    address : str
        ``ray://HOST:PORT``, or ``ray`` for the cluster that this process has joined or ``RAY_ADDRESS`` names, and
        otherwise the one on this machine.
    at_most : int, optional
        How many items may be in the hands of Ray at the same time.
    """

    threads = 1

    def __init__(self, address: str, at_most: int | None = None) -> None:
        self._shared: Mapping[str, Any] = {}
        self._sent: dict[str, Any] = {}
        self._tasks: RayTasks | None = None
        self._own = not ray.is_initialized()
        if self._own:
            given = os.environ.get("RAY_ADDRESS", "auto") if address == "ray" else address
            try:
                ray.init(given, log_to_driver=False, logging_level="ERROR")
            except Exception as error:
                raise ClusterError(
                    f"the cluster {address} cannot be reached (start one with 'ray start --head'; where it asks for a "
                    f"token, set RAY_AUTH_MODE=token here as well): {error}"
                ) from error
        self._at_most = at_most
        try:
            self._cores = self._first_cores()
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        found = self._cores if self._tasks is None else self._tasks.cores
        return max(1, min(found, self._at_most or 10**6))

    def _first_cores(self) -> int:
        """Wait for processors as long as it takes: somebody may have to start a machine, and can interrupt."""
        if not cores():
            warnings.warn("the cluster has no worker yet: waiting for the first.", stacklevel=8)
            # Something to do, or a cluster that adapts sees no reason to start a worker.
            ray.get(ray.remote(num_cpus=1, max_retries=-1)(_nothing).remote())
        return cores()

    def start(self, shared: Mapping[str, Any]) -> None:
        self._shared, self._sent = shared, {}

    def everywhere(self, ask: Callable[[], Result]) -> dict[str, Result | Exception]:
        def asked_there() -> Result:  # Ray takes functions only
            return ask()

        question, asked = ray.remote(num_cpus=0, max_retries=3)(asked_there), {}
        for node in ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU"):
                address = f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}"
                there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                asked[address] = question.options(scheduling_strategy=there).remote()
        found: dict[str, Result | Exception] = {}
        for address, answer in asked.items():
            try:
                found[address] = ray.get(answer, timeout=_ASK_SECONDS)
            except RayError as error:
                found[address] = error.cause if isinstance(error, RayTaskError) else error
        return found

    def outcomes(
        self, work: Callable[[Item, Any], Result], items: Mapping[Item, str]
    ) -> Iterator[tuple[Item, Result | CrashError]]:
        self._tasks, sent_work = RayTasks(work_there, _PATIENCE_SECONDS, self._at_most), ray.put(work)
        try:
            yield from self._tasks.outcomes(
                items, lambda item: (self.threads, sent_work, item, self._placed(items[item]))
            )
        except (RayTaskError, RuntimeEnvSetupError) as error:
            raise ClusterError(f"work could not be handed to a worker: {error}") from error
        except TimeoutError as error:
            raise ClusterError(
                f"{error}; what is finished is kept, and the same command goes on from there."
            ) from error
        except RaySystemError as error:
            raise ClusterError(
                "the head of the cluster is lost; what is finished is kept, and the same command goes on from "
                f"there when there is one again ({error})."
            ) from error

    def close(self) -> None:
        if self._tasks is not None:
            self._tasks.cancel()
        self._tasks, self._shared, self._sent = None, {}, {}
        if self._own:
            ray.shutdown()

    def _placed(self, name: str) -> Any:
        """What is shared, in the memory of this machine; Ray brings it once to each of the others."""
        if name not in self._sent:
            self._sent[name] = ray.put(self._shared[name])
        return self._sent[name]


def _nothing() -> None:
    """What a first worker is started for."""
