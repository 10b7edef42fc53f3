"""Tasks of Ray that we repeat: Ray would repeat one that runs out of memory without end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import ray
from ray.exceptions import RayError, RaySystemError, RayTaskError, RuntimeEnvSetupError

from comitia._tries import CrashError, Item, Tries

_IN_FLIGHT = 1000
"""How many calls Ray is told of: more than there is room for, so that it can start machines for them."""

_LOOK_SECONDS = 2.0
"""How often Ray is asked which processors there are: nobody is told when the last one goes."""


class RayTasks:
    """One function, called by workers of Ray for many items.

    Parameters
    ----------
    function : callable
        What a worker calls, on one core.
    patience : float
        For how many seconds a processor is waited for where there is none: somebody may have to start a machine.
    at_most : int, optional
        How many calls Ray is told of at the same time.
    """

    def __init__(self, function: Callable[..., Any], patience: float, at_most: int | None = None) -> None:
        self.cores = cores()
        """How many processors there were a moment ago."""
        self._patience, self._looked, self._last_seen = patience, time.monotonic(), time.monotonic()
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
        TimeoutError
            Where all processors are gone and none comes.
        """
        tries = Tries(items)
        while tries.waiting or self._running:
            while tries.waiting and len(self._running) < self._at_most:
                item = tries.waiting.popleft()
                self._running[self._task.remote(*given(item))] = item
            found, _ = ray.wait(list(self._running), num_returns=1, timeout=_LOOK_SECONDS)
            self._look()
            if not found:
                continue
            (ended,) = found
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

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self.cores, self._looked = cores(), now
        if self.cores:
            self._last_seen = now
        elif now - self._last_seen > self._patience:
            raise TimeoutError(f"the cluster has had no processor for {self._patience} s")

    def cancel(self) -> None:
        """End at once what is still going on."""
        for begun in self._running:
            with contextlib.suppress(Exception):
                ray.cancel(begun, force=True)
        self._running = {}


def cores() -> int:
    """How many processors the cluster has that this process has joined."""
    return int(ray.cluster_resources().get("CPU", 0))
