"""What ``n_jobs`` asks for: threads of this process, or tasks on the cluster that joblib was told to use."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from comitia._errors import ComitiaError
from comitia._threads import is_one_of_many, limit

Part = TypeVar("Part")
Result = TypeVar("Result")


def local_threads(n_jobs: int | None) -> int:
    """How many threads of this process ``n_jobs`` asks for.

    Where joblib works here, as many as it says.  Where it is told to work on a cluster (``parallel_config("dask")`` or
    ``"ray"``), it counts the cores of the cluster, and threads of this process have those of this machine: never more,
    and all of them where nothing else is asked for.  Within a task of the cluster one, since the tasks beside it have
    the others.

    Parameters
    ----------
    n_jobs : int or None
        As scikit-learn has it: None for what the context says, −1 for all.

    Examples
    --------
    >>> local_threads(3), local_threads(None)
    (3, 1)
    """
    # With NaN of them nothing would ever be done.
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ComitiaError(f"n_jobs must be None or an integer other than 0; got {n_jobs!r}.")
    if is_one_of_many.get():
        return 1
    if n_jobs == 1 or _backend_elsewhere() is None:
        return int(effective_n_jobs(n_jobs))
    if n_jobs is None or n_jobs < 0:
        return 1 if _in_task_of_dask() else int(cpu_count())
    return min(n_jobs, int(cpu_count()))


@contextlib.contextmanager
def limited_to(n_jobs: int | None) -> Iterator[None]:
    """Let loops over instances use as many threads as ``n_jobs`` says, where this is entered and nowhere else."""
    before = limit.set(local_threads(n_jobs))
    try:
        yield
    finally:
        limit.reset(before)


def on_cluster(
    work: Callable[[Any, Part], Result], shared: Callable[[], Any], parts: Sequence[Part], n_jobs: int | None
) -> list[Result] | None:
    """Do parts of work on the cluster that joblib was told to use; None where it was told nothing of the kind.

    Parameters
    ----------
    work : callable
        A function of a module: takes what is shared and a part.
    shared : callable
        Gives what every part needs; it goes to each worker once, not with every task.
    parts : sequence
        Small: they travel with the tasks.
    n_jobs : int or None
        With 1, nothing leaves this process.

    Raises
    ------
    ComitiaError
        Where workers died and what they had cannot be made again.
    """
    backend = None if n_jobs == 1 else _backend_elsewhere()
    spread: Callable[[Any, Any, Any, list[Any]], list[Any]] | None = None
    if hasattr(backend, "client") and not _in_task_of_dask():
        spread = _by_dask
    elif type(backend).__module__.startswith("ray."):
        spread = _by_ray
    if spread is None or not parts:
        return None
    size = -(-len(parts) // (4 * max(1, int(effective_n_jobs(n_jobs)))))
    chunks = [list(parts[start : start + size]) for start in range(0, len(parts), size)]
    try:
        done = spread(backend, work, shared(), chunks)
    except Exception as error:
        raise ComitiaError(
            f"a fit was given to a cluster and lost there, and nothing is fitted: {type(error).__name__}: {error}"
        ) from error
    return [result for chunk in done for result in chunk]


def _by_dask(backend: Any, work: Any, shared: Any, chunks: list[Any]) -> list[Any]:
    client = backend.client
    # To all of them: what only one worker has is lost with it.
    (sent,) = client.scatter([shared], broadcast=True, hash=False)
    tasks = [client.submit(_do_parts, work, sent, chunk, pure=False) for chunk in chunks]
    done: list[Any] = client.gather(tasks)
    return done


def _by_ray(_: Any, work: Any, shared: Any, chunks: list[Any]) -> list[Any]:
    ray = sys.modules["ray"]
    task, sent = ray.remote(_do_parts), ray.put(shared)
    done: list[Any] = ray.get([task.remote(work, sent, chunk) for chunk in chunks])
    return done


def _do_parts(work: Callable[[Any, Part], Result], shared: Any, parts: list[Part]) -> list[Result]:
    with one_blas_thread():
        return [work(shared, part) for part in parts]


_holders = 0
_holding: Any = None
_lock = threading.Lock()


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep linear algebra of this process to one thread: how sums are split over threads decides their last bits.

    Several may hold it at the same time: the first limits, the last gives back what there was before.
    """
    global _holders, _holding
    with _lock:
        _holders += 1
        if _holders == 1:
            _holding = _pools().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _holding.restore_original_limits()


@lru_cache(maxsize=1)
def _pools() -> ThreadpoolController:
    import scipy.linalg.cython_blas  # noqa: F401 - compiled loops multiply by it, and only what is loaded is limited

    return ThreadpoolController()


def _backend_elsewhere() -> Any:
    """What joblib was told to work with, if that is none of its own, which work on this machine."""
    backend, _ = get_active_backend()
    return None if type(backend).__module__.startswith("joblib._parallel_backends") else backend


def _in_task_of_dask() -> bool:
    """Whether this thread works on something that Dask was given: joblib's backend does not tell."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True
