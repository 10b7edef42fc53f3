"""Ctrl-C: once is enough, and what must be ended is ended."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

_PATIENCE_SECONDS = 5.0


@contextlib.contextmanager
def one_interrupt(*, to_the_end: bool = False) -> Iterator[None]:
    """Let the first Ctrl-C within the block raise KeyboardInterrupt and ignore those that follow it closely.

    Impatient ones would otherwise hit what ends the work, and leave it half ended.  One that comes five seconds later
    counts again: the first may have hit a place that swallows exceptions.  Inside another such block, in other threads
    than the main one, and where somebody else handles interrupts, nothing is changed.

    Parameters
    ----------
    to_the_end : bool
        Whether the process ends with the block: then interrupts are still ignored after it, if there was one.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    last: float | None = None

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal last
        if last is None or time.monotonic() - last > _PATIENCE_SECONDS:
            last = time.monotonic()
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if to_the_end and last else signal.default_int_handler)


@contextlib.contextmanager
def hidden_from_children() -> Iterator[None]:
    """Start processes within this block that a Ctrl-C does not reach: the one that started them ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
