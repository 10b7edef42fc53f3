"""Ctrl-C: once is enough, and what must be ended is ended."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

_PATIENCE_SECONDS = 5.0


@contextlib.contextmanager
def one_interrupt(*, to_the_end: bool = False) -> Iterator[None]:
    """Let the first Ctrl-C within the block raise KeyboardInterrupt and ignore those that follow it closely.

    Impatient ones would otherwise hit what ends the work, and leave it half ended.  One that comes five seconds later
    counts again.  Inside another such block, in other threads than the main one, and where somebody else handles
    interrupts, nothing is changed.

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
    interrupts = _Interrupts()
    signal.signal(signal.SIGINT, interrupts.raised)
    sys.unraisablehook, before = interrupts.swallowed, sys.unraisablehook
    try:
        yield
    finally:
        if not (to_the_end and interrupts.last):
            sys.unraisablehook = before
            signal.signal(signal.SIGINT, signal.default_int_handler)
        else:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Interrupts:
    """When the last one was, and what follows from it."""

    def __init__(self) -> None:
        self.last: float | None = None

    def raised(self, _number: int, _frame: FrameType | None) -> None:
        if self.last is None or time.monotonic() - self.last > _PATIENCE_SECONDS:
            self.last = time.monotonic()
            raise KeyboardInterrupt

    def swallowed(self, unraisable: Any) -> None:
        """Send an interrupt again that came where Python could not raise it, as in a finaliser.

        Objects that an interrupt has left half made complain when they go; nobody is helped by reading it.
        """
        if unraisable.exc_type is KeyboardInterrupt:
            self.last = None
            threading.Timer(0.05, _thread.interrupt_main).start()
        elif self.last is None:
            sys.__unraisablehook__(unraisable)


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is a Ctrl-C, or tells of one.

    Python makes another error of what is raised while a class is made, and so of one that comes during an import.

    Examples
    --------
    >>> try:
    ...     raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()
    ... except RuntimeError as error:
    ...     print(is_interrupt(error), is_interrupt(ValueError()))
    True False
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ if error.__suppress_context__ else error.__context__
    return error is not None


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
