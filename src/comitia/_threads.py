"""Threads over instances, for compiled loops that release the interpreter lock.

The loops themselves are plain and single-threaded (``nogil``, never ``parallel``): numba's own threading layers are
either unsafe to enter from two Python threads at once or unsafe after a fork, and an ensemble does both.  Instances
are independent, so a loop over a slice gives the same bits whatever the slices are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from threading import Lock
from typing import Self, TypeVar

import numba

Part = TypeVar("Part")
Found = TypeVar("Found")

limit: ContextVar[int | None] = ContextVar("limit", default=None)
"""Threads that were asked for; None where nobody has."""

is_one_of_many: ContextVar[bool] = ContextVar("is_one_of_many", default=False)
"""Whether this thread has others of ours beside it, and what it calls should start none."""


def over_parts(work: Callable[[Part], Found], parts: Sequence[Part], threads: int) -> list[Found]:
    """Return what ``work`` makes of every part, in so many threads; without any where there is one part or one thread.

    These threads start no others, whatever they call.
    """
    if threads <= 1 or len(parts) <= 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(min(threads, len(parts)), initializer=_start_no_others) as pool:
        return list(pool.map(work, parts))


class Helpers:
    """Threads that help several pieces of work which are done at the same time, a thread each.

    As pieces come to their end, those that are left get the threads.

    Parameters
    ----------
    threads : int
        How many work in all, those of the pieces among them.
    pieces : int
        How many pieces there are.

    Examples
    --------
    >>> found = [0, 0, 0, 0]
    >>> with Helpers(threads=2, pieces=1) as helpers:
    ...     helpers.over(lambda part: found.__setitem__(part, [7] * (part.stop - part.start)), 4, at_least=2)
    >>> found
    [7, 7, 7, 7]
    """

    def __init__(self, threads: int, pieces: int) -> None:
        self._threads, self._unfinished, self._lock = threads, pieces, Lock()
        self._pool = ThreadPoolExecutor(max(1, threads - 1), initializer=_start_no_others)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def over(self, work: Callable[[slice], None], n: int, *, at_least: int) -> None:
        """Call ``work`` on slices that cover ``range(n)``, each but the last of a multiple of ``at_least`` items."""
        share = -(-self._threads // max(1, min(self._threads, self._unfinished)))
        size = -(-n // (at_least * share)) * at_least
        others = [self._pool.submit(work, slice(start, min(start + size, n))) for start in range(size, n, size)]
        work(slice(0, min(size, n)))
        for other in others:
            other.result()

    def finish(self) -> None:
        """Say that a piece has come to its end."""
        with self._lock:
            self._unfinished -= 1


def _start_no_others() -> None:
    is_one_of_many.set(True)
    limit.set(1)


def rows_at_once(n_columns: int) -> int:
    """Return how many rows of so many numbers make a slice, where a copy of it is worked on: two megabytes.

    Examples
    --------
    >>> rows_at_once(100)
    2621
    """
    return max(64, (1 << 18) // n_columns)


def over_slices(work: Callable[[slice], None], n: int, *, at_least: int = 256, at_most: int | None = None) -> None:
    """Call ``work`` on slices that cover ``range(n)``, in as many threads as are asked for, or else as numba may use.

    ``numba.set_num_threads``, the limit that joblib sets in its worker processes and `comitia._jobs.limited_to` are
    respected.

    Parameters
    ----------
    work : callable
        Receives one slice; must release the interpreter lock to gain anything.
    n : int
        Number of items.
    at_least : int
        No slice but the last is shorter than this: a thread must have something to do.
    at_most : int, optional
        No slice is longer than this, with one thread neither: what ``work`` allocates for a slice stays small.
    """
    parts, threads = -(-n // at_least), 1
    if parts > 1:  # numba starts its threads when it is asked how many it may use
        asked = limit.get()
        threads = min(numba.get_num_threads() if asked is None else asked, parts)
    if threads <= 1 and (at_most is None or n <= at_most):
        work(slice(0, n))
        return
    # Four slices a thread: instances differ in cost, and the last slice should not be waited for.
    size = max(at_least, -(-n // (4 * threads)))
    size = size if at_most is None else min(size, at_most)
    over_parts(work, slices(n, size), threads)


def slices(n: int, size: int) -> list[slice]:
    """Cut ``range(n)`` into slices of this size, the last as long as it is.

    Examples
    --------
    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
