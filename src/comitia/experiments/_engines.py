"""Work in several processes: without more threads than cores, and whatever becomes of a process."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numba
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")


class CrashError(RuntimeError):
    """A process ended while it worked on an item; most often the system has killed it for want of memory."""


def outcomes(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int, threads: int
) -> Iterator[tuple[Item, Result | CrashError]]:
    """Do work on each item, some at the same time; yield items with results as they end.

    Parameters
    ----------
    work : callable
        Raises nothing.
    items : sequence
        Distinct; begun in this order.
    jobs, threads : int
        Number of processes, and of threads in each.  One job is done in this process.
    """
    if jobs == 1:
        with _threads(threads):
            for item in items:
                yield item, work(item)
        return
    left = list(items)
    while left:
        begun: list[Item] = []
        try:
            for item, result in _in_processes(work, left, jobs, threads, begun):
                left.remove(item)
                begun.remove(item)
                yield item, result
        except TerminatedWorkerError:
            # One of these ended its process, and all of them are lost.  Alone, each shows whether it was the one.
            for item in begun:
                left.remove(item)
                yield item, _alone(work, item, threads)


def follow(runner: int) -> None:
    """End this process soon after the one that started it, also when that was killed and could not say so."""
    if os.getpid() != runner and threading.current_thread().name != _FOLLOWS and not _following():
        threading.Thread(target=_wait_for_end, args=(runner,), name=_FOLLOWS, daemon=True).start()


def _in_processes(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int, threads: int, begun: list[Item]
) -> Iterator[tuple[Item, Result]]:
    def tasks() -> Iterator[Any]:
        for item in list(items):
            begun.append(item)
            yield delayed(_labelled)(work, item)

    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=threads):
        yield from Parallel(return_as="generator_unordered", pre_dispatch=jobs, batch_size=1)(tasks())


def _labelled(work: Callable[[Item], Result], item: Item) -> tuple[Item, Result]:
    return item, work(item)


def _alone(work: Callable[[Item], Result], item: Item, threads: int) -> Result | CrashError:
    try:
        ((_, result),) = _in_processes(work, [item], 2, threads, [])
    except TerminatedWorkerError:
        return CrashError("the process that worked on this ended; the system may have killed it for want of memory")
    return result


@contextlib.contextmanager
def _threads(threads: int) -> Iterator[None]:
    """Limit this process as joblib limits those that it starts."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    try:
        with threadpool_limits(threads):
            yield
    finally:
        numba.set_num_threads(before)


_FOLLOWS = "follows the runner"


def _following() -> bool:
    return any(thread.name == _FOLLOWS for thread in threading.enumerate())


def _wait_for_end(runner: int) -> None:
    while os.getppid() == runner:
        time.sleep(0.5)
    os._exit(1)
