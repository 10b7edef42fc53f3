"""Tasks of Ray that we repeat: Ray would repeat one that runs out of memory without end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import ray
from ray.exceptions import RayError, RaySystemError, RayTaskError, RuntimeEnvSetupError

from comitia._tries import CrashError, Item, Tries

_IN_FLIGHT = 1000
"""How many calls Ray is told of: more than there is room for, so that it can start machines for them."""


class RayTasks:
    """One function, called by workers of Ray for many items.

    Parameters
    ----------
    function : callable
        What a worker calls, on one core.
    at_most : int, optional
        How many calls Ray is told of at the same time.
    """

    def __init__(self, function: Callable[..., Any], at_most: int | None = None) -> None:
        self._task = ray.remote(num_cpus=1, max_retries=0)(function)
        self._at_most = at_most or _IN_FLIGHT
        self._running: dict[Any, Any] = {}

    def outcomes(
        self, items: Iterable[Item], given: Callable[[Item], tuple[Any, ...]]
    ) -> Iterator[tuple[Item, Any | CrashError]]:
        """Yield each item with what the function returned for it, or with an error where too many workers died of it.

        Parameters
        ----------
        items : iterable
            Begun in this order.
        given : callable
            The arguments for an item; what is large has been put into the store of Ray.

        Raises
        ------
        RayError
            What the function raised, or where it could not be called or the head is lost.
        """
        tries = Tries(items)
        while tries.waiting or self._running:
            while tries.waiting and len(self._running) < self._at_most:
                item = tries.waiting.popleft()
                self._running[self._task.remote(*given(item))] = item
            (ended,), _ = ray.wait(list(self._running), num_returns=1)
            item = self._running.pop(ended)
            try:
                result = ray.get(ended)
            except (RayTaskError, RuntimeEnvSetupError, RaySystemError):
                raise
            except RayError:
                if crash := tries.lost(item):
                    yield item, crash
            else:
                yield item, result

    def cancel(self) -> None:
        """End at once what is still going on."""
        for begun in self._running:
            with contextlib.suppress(Exception):
                ray.cancel(begun, force=True)
        self._running = {}
