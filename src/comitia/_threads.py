"""Threads over instances, for compiled loops that release the interpreter lock.

The loops themselves are plain and single-threaded (``nogil``, never ``parallel``): numba's own threading layers are
either unsafe to enter from two Python threads at once or unsafe after a fork, and an ensemble does both.  Instances
are independent, so a loop over a slice gives the same bits whatever the slices are.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numba


def over_slices(work: Callable[[slice], None], n: int, *, at_least: int = 256) -> None:
    """Call ``work`` on slices that cover ``range(n)``, in as many threads as numba may use.

    ``numba.set_num_threads`` and the limit that joblib sets in its worker processes are respected.

    Parameters
    ----------
    work : callable
        Receives one slice; must release the interpreter lock to gain anything.
    n : int
        Number of items.
    at_least : int
        No slice but the last is shorter than this: a thread must have something to do.
    """
    threads = min(numba.get_num_threads(), -(-n // at_least))
    if threads <= 1:
        work(slice(0, n))
        return
    # Four slices a thread: instances differ in cost, and the last slice should not be waited for.
    size = max(at_least, -(-n // (4 * threads)))
    slices = [slice(start, min(start + size, n)) for start in range(0, n, size)]
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, slices):
            pass
