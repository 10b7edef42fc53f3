"""Parts of a fit on the cluster that joblib was told to use: all of them are done, or there is one error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

from joblib import effective_n_jobs

from comitia._errors import ComitiaError
from comitia._jobs import backend_elsewhere, in_task_of_dask, one_blas_thread
from comitia._tries import RETRIES, Tries

_PATIENCE_SECONDS = 60
"""How long workers are waited for where all have died."""

Part = TypeVar("Part")
Result = TypeVar("Result")


class Common:
    """What every part of some work needs: it goes to each worker once, however often it is shared.

    Dask keeps the copies that work waits for; between two goes it may drop all but one, and a worker that
    lost its copy gets it from another worker.

    Parameters
    ----------
    make : callable
        Gives it, where it is to be sent; called once.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._sent: Any = None

    @cached_property
    def _made(self) -> Any:
        return self._make()

    def sent(self, send: Callable[[Any], Any], is_there: Callable[[Any], bool]) -> Any:
        """Send it, unless it was sent and is there still; return what stands for it."""
        if self._sent is None or not is_there(self._sent):
            self._sent = send(self._made)
        return self._sent


def on_cluster(
    work: Callable[[Any, Part], Result], shared: Common, parts: Sequence[Part], n_jobs: int | None
) -> list[Result] | None:
    """Do parts of work on the cluster that joblib was told to use; None where it was told nothing of the kind.

    Parts whose worker dies are done again by another, three times at most.

    Parameters
    ----------
    work : callable
        Takes what is shared and a part; it goes to each worker once, with the parts, and tasks carry numbers of parts.
    shared : Common
    parts : sequence
    n_jobs : int or None
        With 1, nothing leaves this process.

    Raises
    ------
    ComitiaError
        Where workers died and what they had cannot be made again.
    Exception
        What the work itself raised there.
    """
    backend = None if n_jobs == 1 else backend_elsewhere()
    spread: Callable[[Any, Common, Any, int, int | None], Iterator[tuple[int, Any]]] | None = None
    if hasattr(backend, "client") and not in_task_of_dask():
        spread = _by_dask
    elif type(backend).__module__.startswith("ray."):
        spread = _by_ray
    if spread is None or not parts:
        return None
    done: dict[int, list[Result]] = {}
    try:
        for start, found in spread(backend, shared, (work, list(parts)), len(parts), n_jobs):
            if isinstance(found, _Raised):
                break
            if isinstance(found, Exception):
                raise found
            done[start] = found
    except Exception as error:
        raise ComitiaError(
            f"a fit was given to a cluster and lost there, and nothing is fitted: {type(error).__name__}: {error}"
        ) from error
    if isinstance(found, _Raised):
        raise found.error
    return [result for start in sorted(done) for result in done[start]]


def _by_dask(backend: Any, shared: Common, whole: Any, count: int, n_jobs: int | None) -> Iterator[tuple[int, Any]]:
    client, tries = backend.client, Tries(_cuts(count, int(effective_n_jobs(n_jobs))))
    while tries.waiting:
        there = shared.sent(partial(_scattered, client), lambda sent: sent.status == "finished")
        parts = _scattered(client, whole)
        tasks = {client.submit(_do_parts, there, parts, *cut, pure=False): cut for cut in tries.waiting}
        tries.waiting.clear()
        try:
            for ended in sys.modules["distributed"].as_completed(list(tasks), loop=client.loop):
                try:
                    yield tasks[ended][0], ended.result()
                except CancelledError:  # what was sent is lost with all who had it
                    if crash := tries.lost(tasks[ended]):
                        yield tasks[ended][0], crash
        finally:
            for task in tasks:  # an error may be kept, and with it this frame
                task.release()


def _scattered(client: Any, whole: Any) -> Any:
    """Send it to all workers: what only one of them has is lost with it."""
    for left in reversed(range(1 + RETRIES)):
        client.wait_for_workers(1, timeout=_PATIENCE_SECONDS)
        try:
            return client.scatter([whole], broadcast=True, hash=False)[0]
        except (OSError, TimeoutError, KeyError, CancelledError):  # a worker died in the middle of it
            if not left:
                raise
    raise AssertionError("the last try returns or raises")


def _by_ray(_: Any, shared: Common, whole: Any, count: int, n_jobs: int | None) -> Iterator[tuple[int, Any]]:
    import ray

    from comitia._ray_tasks import RayTasks

    tasks, there, parts = RayTasks(_do_parts, _PATIENCE_SECONDS), shared.sent(ray.put, lambda _: True), ray.put(whole)
    cuts = _cuts(count, n_jobs if n_jobs is not None and n_jobs > 0 else tasks.cores)
    try:
        for cut, found in tasks.outcomes(cuts, lambda cut: (there, parts, *cut)):
            yield cut[0], found
    finally:
        tasks.cancel()


def _cuts(count: int, workers: int) -> list[tuple[int, int]]:
    """Cut so many parts into a few tasks for each worker, so that none has to wait long for the last."""
    size = -(-count // (4 * max(1, workers)))
    return [(start, min(start + size, count)) for start in range(0, count, size)]


@dataclass(frozen=True)
class _Raised:
    """What the work raised: an error of its own, and no reason to do it again elsewhere."""

    error: Exception


def _do_parts(
    shared: Any, whole: tuple[Callable[[Any, Any], Any], list[Any]], start: int, stop: int
) -> list[Any] | _Raised:
    work, parts = whole
    try:
        with one_blas_thread():
            return [work(shared, part) for part in parts[start:stop]]
    except Exception as error:
        return _Raised(error)
