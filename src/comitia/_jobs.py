"""What ``n_jobs`` asks for: how many threads of this process."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from comitia._errors import ComitiaError
from comitia._threads import is_one_of_many, limit

# More than a process can have.
_MOST_THREADS = 1 << 20


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
    if n_jobs == 1 or backend_elsewhere() is None:
        return min(int(effective_n_jobs(n_jobs)), _MOST_THREADS)
    if n_jobs is None or n_jobs < 0:
        return 1 if in_task_of_dask() else int(cpu_count())
    return min(n_jobs, int(cpu_count()))


@contextlib.contextmanager
def limited_to(n_jobs: int | None) -> Iterator[None]:
    """Let loops over instances use as many threads as ``n_jobs`` says, where this is entered and nowhere else."""
    before = limit.set(local_threads(n_jobs))
    try:
        yield
    finally:
        limit.reset(before)


_holders = 0
_given_back: list[int] = []
_lock = threading.Lock()


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep linear algebra of this process to one thread: how sums are split over threads decides their last bits.

    Several may hold it at the same time: the first limits, the last gives back what there was before.
    """
    global _holders, _given_back
    with _lock:
        _holders += 1
        if _holders == 1:
            _given_back = _set_blas_threads([1] * len(_libraries()))
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _set_blas_threads(_given_back)


def _set_blas_threads(numbers: list[int]) -> list[int]:
    """Give each library of linear algebra so many threads, and return how many it had.

    threadpoolctl since 3.8 lets the thread of Python that first limits OpenBLAS do so again, and all others in vain,
    until that thread says that it has done.  Here the last holder gives back, which may be another than the first.
    """
    before = [library.num_threads for library in _libraries()]
    for library, number in zip(_libraries(), numbers, strict=True):
        _let_go(library)
        library.set_num_threads(number)
        _let_go(library)
    return before


def _let_go(library: Any) -> None:
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _libraries() -> tuple[Any, ...]:
    import scipy.linalg.cython_blas  # noqa: F401 - compiled loops multiply by it, and only what is loaded is limited

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


def backend_elsewhere() -> Any:
    """What joblib was told to work with, if that is none of its own, which work on this machine."""
    backend, _ = get_active_backend()
    return None if type(backend).__module__.startswith("joblib._parallel_backends") else backend


def in_task_of_dask() -> bool:
    """Whether this thread works on something that Dask was given: joblib's backend does not tell."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True
