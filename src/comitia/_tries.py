"""Work that is lost with who does it is tried again, but not for ever."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)

RETRIES = 3
"""How often an item is tried again that was lost with its worker."""


class CrashError(RuntimeError):
    """A process ended while it worked on an item; most often the system has killed it for want of memory."""


class Tries(Generic[Item]):
    """Items that wait for a worker, in their order; one that was lost goes to the end, so that others come first."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.waiting = deque(items)
        self._losses: Counter[Item] = Counter()

    def lost(self, item: Item, deaths: int = 1) -> CrashError | None:
        """Take note that workers died of an item: it waits again, or it has had its tries and there is an error."""
        self._losses[item] += deaths
        if self._losses[item] > RETRIES:
            return CrashError(
                f"{self._losses[item]} workers ended while they worked on this; the system may have killed them "
                "for want of memory"
            )
        self.waiting.append(item)
        return None
