"""Where work is done: here, in processes or on a cluster, with no more threads than cores, whatever dies of it."""

from __future__ import annotations

import contextlib
import multiprocessing.resource_tracker
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numba
from joblib import Parallel, delayed, parallel_config
from joblib.externals import loky
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import ThreadpoolController

from comitia._errors import ComitiaError
from comitia._interrupts import hidden_from_children
from comitia._tries import CrashError as CrashError
from comitia._tries import Item

Result = TypeVar("Result")


class ClusterError(ComitiaError):
    """A cluster cannot be reached, cannot be used, or was lost; what is finished is kept.

    Examples
    --------
    >>> from comitia.experiments import ClusterError, DataSource, EnsembleSetting, Plan, run_plan
    >>> plan = Plan("digits", (DataSource("seven-segment"),), (EnsembleSetting("emodt"),))
    >>> try:
    ...     run_plan(plan, cluster="scheduler.json")
    ... except ClusterError as error:
    ...     print(str(error).partition("; ")[2])
    got 'scheduler.json', which is no file.
    """


class Engine(Protocol):
    """Does work on items, several at a time, and survives what the work does to its process.

    ``start``, then ``outcomes`` as often as wanted, then ``close``, however it ended.
    """

    threads: int
    """How many threads the work on one item may use."""

    @property
    def slots(self) -> int:
        """How many items are worked on at the same time; of a cluster, now."""

    def start(self, shared: Mapping[str, Any]) -> None:
        """Take what many items need, by name: it reaches each worker once, and is not changed there."""

    def outcomes(
        self, work: Callable[[Item, Any], Result], items: Mapping[Item, str]
    ) -> Iterator[tuple[Item, Result | CrashError]]:
        """Do work on each item; yield items with results as they end.

        Parameters
        ----------
        work : callable
            Takes an item and what it needs; raises nothing, and may be called again for an item whose worker was lost.
        items : mapping of item to str
            Items, begun in this order, each with the name of what it needs.
        """

    def close(self) -> None:
        """End at once what is still going on."""


def local_engine(cores: int, items: int) -> Engine:
    """So many cores of this machine for so many items: processes, with several threads each where items are few."""
    jobs = max(1, min(cores, items))
    return ThisProcess(cores) if jobs == 1 else Processes(jobs, cores // jobs)


class Cluster(Engine, Protocol):
    """An engine of other machines."""

    def everywhere(self, ask: Callable[[], Result]) -> dict[str, Result | Exception]:
        """Ask every worker that is there now; return answers, and errors of those that have none, by address."""


def cluster_engine(cluster: Any, at_most: int | None = None) -> Cluster:
    """The engine of a cluster.

    Parameters
    ----------
    cluster : str, path or object
        Of Dask an address (``tcp://``, ``tls://`` and the like), a scheduler file, a `distributed.Client` or what one
        can be made of, such as a `LocalCluster`; of Ray an address that starts with ``ray://``, or ``"ray"`` for the
        cluster that the environment names or this process has joined.
    at_most : int, optional
        How many items may be worked on at the same time; as many as the cluster has room for by default.

    Raises
    ------
    ClusterError
        Where it cannot be reached, or what it needs is not installed.
    """
    name = str(cluster) if isinstance(cluster, str | Path) else None
    if name is not None and (name == "ray" or name.startswith("ray://")):
        from comitia.experiments._ray import RayWorkers

        return RayWorkers(name, at_most)
    if name is None and not (hasattr(cluster, "submit") or hasattr(cluster, "scheduler_address")):
        raise ClusterError(f"cluster must be an address, a scheduler file or a Dask client; got {cluster!r}.")
    if name is not None and not re.match(r"[a-z]+://", name) and not Path(name).is_file():
        raise ClusterError(
            f"cluster must be tcp://HOST:PORT or tls://HOST:PORT or the path of a scheduler file (Dask), "
            f"ray://HOST:PORT or ray (Ray); got {name!r}, which is no file."
        )
    from comitia.experiments._dask import DaskWorkers

    return DaskWorkers(cluster if name is None else name, at_most)


def work_there(threads: int, work: Callable[[Item, Any], Result], item: Item, needed: Any) -> Result:
    """Work on an item in a worker of a cluster, whose limits on threads are somebody else's."""
    with _threads(threads):
        return work(item, needed)


@dataclass
class ThisProcess:
    """One item after another, here, with so many threads."""

    threads: int
    slots: int = 1
    _shared: Mapping[str, Any] = field(default_factory=dict)

    def start(self, shared: Mapping[str, Any]) -> None:
        self._shared = shared

    def outcomes(
        self, work: Callable[[Item, Any], Result], items: Mapping[Item, str]
    ) -> Iterator[tuple[Item, Result | CrashError]]:
        with _threads(self.threads):
            for item, needed in items.items():
                yield item, work(item, self._shared[needed])

    def close(self) -> None:
        self._shared = {}


@dataclass
class Processes:
    """Some processes of this machine, with so many threads each.

    What is shared goes to them in the memory that joblib maps into every process: large arrays are not copied.
    """

    slots: int
    threads: int
    _shared: Mapping[str, Any] = field(default_factory=dict)
    _running: Any = None

    def start(self, shared: Mapping[str, Any]) -> None:
        self._shared = shared

    def outcomes(
        self, work: Callable[[Item, Any], Result], items: Mapping[Item, str]
    ) -> Iterator[tuple[Item, Result | CrashError]]:
        left = list(items)
        while left:
            begun: list[Item] = []
            try:
                for item, result in self._all(work, items, left, begun):
                    left.remove(item)
                    begun.remove(item)
                    yield item, result
            except TerminatedWorkerError:
                # One of these ended its process, and all of them are lost.  Alone, each shows whether it was the one.
                for item in begun:
                    left.remove(item)
                    yield item, self._alone(work, items, item)

    def close(self) -> None:
        """End the processes if they are still at work; idle ones wait a while for other work, as joblib's do."""
        running, self._running, self._shared = self._running, None, {}
        if running is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that tasks are cancelled is what was asked for
                running.close()

    def _all(
        self, work: Callable[[Item, Any], Result], items: Mapping[Item, str], left: list[Item], begun: list[Item]
    ) -> Iterator[tuple[Item, Result]]:
        def tasks() -> Iterator[Any]:
            for place, item in enumerate(order):
                begun.append(item)
                yield delayed(_attended)(os.getpid(), place, work, item, self._shared[items[item]])

        order = list(left)
        limits = parallel_config(backend="loky", n_jobs=self.slots, inner_max_num_threads=self.threads)
        try:
            with limits:
                _start_trackers()
                with hidden_from_children():
                    parallel = Parallel(return_as="generator_unordered", pre_dispatch=self.slots, batch_size=1)
                    self._running = parallel(tasks())
                for place, result in self._running:
                    yield order[place], result
        except TerminatedWorkerError:
            raise
        except Exception as error:
            raise ComitiaError(
                f"work could not be handed to other processes, which one job does not need: {error}"
            ) from error
        self._running = None

    def _alone(self, work: Callable[[Item, Any], Result], items: Mapping[Item, str], item: Item) -> Result | CrashError:
        try:
            ((_, result),) = self._all(work, items, [item], [])
        except TerminatedWorkerError:
            return CrashError("the process that worked on this ended; the system may have killed it for want of memory")
        return result


def _start_trackers() -> None:
    """Start the processes that clean up after this one; started later they would unblock interrupts again.

    Where this one ends early they complain of what they find, after its last word.
    """
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        for tracker in (multiprocessing.resource_tracker, loky.backend.resource_tracker):
            tracker.ensure_running()
    finally:
        sys.warnoptions.remove("ignore:resource_tracker")


def _attended(
    runner: int, place: int, work: Callable[[Item, Any], Result], item: Item, needed: Any
) -> tuple[int, Result]:
    _follow(runner)
    return place, work(item, needed)


_FOLLOWS = "follows the runner"


def _follow(runner: int) -> None:
    """End this process soon after the one that started it, also when that was killed and could not say so."""
    if os.getpid() != runner and not any(thread.name == _FOLLOWS for thread in threading.enumerate()):
        threading.Thread(target=_wait_for_end, args=(runner,), name=_FOLLOWS, daemon=True).start()


def _wait_for_end(runner: int) -> None:
    while os.getppid() == runner:
        time.sleep(0.5)
    os._exit(1)


@contextlib.contextmanager
def _threads(threads: int) -> Iterator[None]:
    """Limit this process as joblib limits those that it starts."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    try:
        with _pools(len(sys.modules)).limit(limits=threads):
            yield
    finally:
        numba.set_num_threads(before)


@lru_cache(maxsize=1)
def _pools(_: int) -> ThreadpoolController:
    """The pools of threads of this process; looking for them takes longer than short work, so only after imports."""
    return ThreadpoolController()
