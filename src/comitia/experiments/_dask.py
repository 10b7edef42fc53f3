"""Work on a cluster of Dask: each worker has one item at a time, so that it is known which one a dead worker had."""

from __future__ import annotations

import asyncio
import queue
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from comitia._tries import CrashError, Item, Tries
from comitia.experiments._engines import ClusterError, Result, work_there

try:
    from distributed import Client
    from distributed.scheduler import KilledWorker
except ImportError as error:
    raise ClusterError(f"a cluster of Dask needs comitia[dask]: {error}") from error

_LOOK_SECONDS = 0.5
"""How often the scheduler is asked which workers there are: nobody is told when one dies."""

_SETTLE_SECONDS = 1.0
"""How long a new worker is left alone: its nanny gives up one that dies while it is being started."""

_FETCH_SECONDS = 2.0
"""How long a result is waited for before its worker is looked after."""

_PATIENCE_SECONDS = 600
"""How long a worker is waited for where there is none: a queue may have to start it."""


@dataclass(frozen=True)
class _Begun(Generic[Item]):
    item: Item
    worker: str
    future: Any


class _LostError(Exception):
    """A worker is gone, or what it had; ``deaths`` of workers are the item's doing."""

    def __init__(self, deaths: int) -> None:
        self.deaths = deaths


class DaskWorkers:
    """The workers of a scheduler, also those that come later, with as many threads an item as each of them has.

    Parameters
    ----------
    cluster : str or object
        Address, path of a scheduler file, `distributed.Client`, or what a client can be made of.
    at_most : int, optional
        How many workers are used at the same time.
    """

    def __init__(self, cluster: Any, at_most: int | None = None) -> None:
        self._shared: Mapping[str, Any] = {}
        self._sent: dict[tuple[str, str], Any] = {}
        self._running: dict[str, _Begun[Any]] = {}
        self._held: Any = None
        self._own = not hasattr(cluster, "submit")
        try:
            self._client = _connected(cluster) if self._own else cluster
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(f"the cluster {cluster} cannot be reached: {error}") from error
        self._at_most = at_most or 10**6
        self._last_seen = time.monotonic()
        try:
            threads = self._first_workers()
        except BaseException:
            self.close()
            raise
        self._since = dict.fromkeys(threads, 0.0)
        self.threads = min(threads.values())

    @property
    def slots(self) -> int:
        return max(1, min(len(self._since), self._at_most))

    def _first_workers(self) -> dict[str, int]:
        """Wait for workers as long as it takes: a queue decides when they come, and somebody can interrupt."""
        threads = self._threads_of_workers()
        # Held to the end: a cluster that adapts starts a worker for it, keeps that one, and another where all are gone.
        self._held = self._client.submit(_nothing, key=f"comitia-{uuid.uuid4().hex}", pure=False)
        if not threads:
            warnings.warn("the cluster has no worker yet: waiting for the first.", stacklevel=8)
        while not threads:
            self._last_seen = time.monotonic()
            time.sleep(_LOOK_SECONDS)
            threads = self._threads_of_workers()
        return threads

    def start(self, shared: Mapping[str, Any]) -> None:
        self._shared, self._sent = shared, {}

    def everywhere(self, ask: Callable[[], Result]) -> dict[str, Result | Exception]:
        async def aside() -> Result:
            # Not in the worker's own loop: it would be taken for dead while functions are compiled.
            return await asyncio.to_thread(ask)

        found: dict[str, Result | Exception] = self._client.run(aside, on_error="return")
        return found

    def outcomes(
        self, work: Callable[[Item, Any], Result], items: Mapping[Item, str]
    ) -> Iterator[tuple[Item, Result | CrashError]]:
        tries, ended = Tries(items), queue.SimpleQueue[str]()
        workers, looked = self._threads_of_workers(), time.monotonic()

        def fill() -> None:
            for worker in self._settled(workers):
                if tries.waiting and worker not in self._running and len(self._running) < self._at_most:
                    item = tries.waiting[0]
                    if (needed := self._placed(items[item], worker)) is not None:
                        tries.waiting.popleft()
                        self._running[worker] = self._begin(work, item, needed, worker, ended)

        while tries.waiting or self._running:
            fill()
            begun = self._next_of(ended)
            if begun is not None:
                if begun.future.status == "finished":
                    fill()  # its worker goes on while the result is fetched
                try:
                    result = self._fetched(begun)
                except _LostError as lost:
                    looked = 0.0
                    if crash := tries.lost(begun.item, lost.deaths):
                        yield begun.item, crash
                else:
                    begun.future.release()  # or it is made again when its worker dies
                    yield begun.item, result
            if time.monotonic() - looked > _LOOK_SECONDS:
                workers, looked = self._threads_of_workers(), time.monotonic()
                self._sent = {place: sent for place, sent in self._sent.items() if place[1] in workers}
                for worker in [worker for worker in self._running if worker not in workers]:
                    begun = self._running.pop(worker)
                    if crash := tries.lost(begun.item):
                        yield begun.item, crash

    def close(self) -> None:
        # Dask forgets tasks that nobody holds a future of; what a worker is at it ends, and nobody fetches it.
        self._running, self._shared, self._sent, self._held = {}, {}, {}, None
        if self._own:
            self._client.close()

    def _begin(
        self, work: Callable[[Item, Any], Result], item: Item, needed: Any, worker: str, ended: queue.SimpleQueue[str]
    ) -> _Begun[Item]:
        # Tied to one worker: when that dies nobody else is given the item but by us, who count.
        future = self._client.submit(
            work_there,
            self.threads,
            work,
            item,
            needed,
            key=f"comitia-{uuid.uuid4().hex}",
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )
        future.add_done_callback(lambda _: ended.put(worker))
        return _Begun(item, worker, future)

    def _placed(self, name: str, worker: str) -> Any:
        """What is shared, for this worker alone: of copies of one thing Dask drops those that nobody waits for.

        None where the worker is gone; the next look at the scheduler tells.
        """
        if (sent := self._sent.get((name, worker))) is None or sent.status != "finished":
            try:
                (sent,) = self._client.scatter(
                    [self._shared[name]], workers=[worker], hash=False, timeout=_FETCH_SECONDS
                )
            except (OSError, TimeoutError, KeyError, CancelledError):
                return None
            self._sent[name, worker] = sent
        return sent

    def _fetched(self, begun: _Begun[Item]) -> Any:
        """The result, if it can still be had: it is on its worker until now."""
        while True:
            try:
                return begun.future.result(timeout=_FETCH_SECONDS)
            except KilledWorker as error:
                raise _LostError(1 + error.allowed_failures) from error
            except CancelledError as error:
                raise _LostError(begun.worker not in self._threads_of_workers()) from error
            except TimeoutError as error:
                if begun.worker not in self._threads_of_workers():
                    raise _LostError(1) from error
            except Exception as error:
                raise ClusterError(f"work could not be handed to a worker: {type(error).__name__}: {error}") from error

    def _next_of(self, ended: queue.SimpleQueue[str]) -> _Begun[Any] | None:
        """What has ended next; None where that takes long, or is of no interest any more."""
        try:
            worker = ended.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            return None
        begun = self._running.get(worker)
        return self._running.pop(worker) if begun and begun.future.done() else None

    def _settled(self, workers: Iterable[str]) -> list[str]:
        now = time.monotonic()
        self._since = {worker: self._since.get(worker, now) for worker in workers}
        return [worker for worker, since in self._since.items() if now - since >= _SETTLE_SECONDS]

    def _threads_of_workers(self) -> dict[str, int]:
        try:
            found: dict[str, int] = self._client.nthreads()
        except Exception as error:
            raise ClusterError(
                "the scheduler of the cluster is lost; what is finished is kept, and the same command goes on from "
                f"there when there is one again ({type(error).__name__}: {error})."
            ) from error
        if found:
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > _PATIENCE_SECONDS:
            raise ClusterError(
                f"the cluster has had no worker for {_PATIENCE_SECONDS} s; what is finished is kept, and the same "
                "command goes on from there."
            )
        return found


def _nothing() -> None:
    """What a first worker is started for."""


def _connected(cluster: Any) -> Any:
    if isinstance(cluster, str) and Path(cluster).is_file():
        return Client(scheduler_file=cluster, set_as_default=False)
    return Client(cluster, set_as_default=False)
