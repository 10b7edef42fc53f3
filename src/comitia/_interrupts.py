"""Ctrl-C: once is enough, what must be ended is ended, and the last word is ours."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

_PATIENCE_SECONDS = 5.0
_SOON_SECONDS = 0.02


@contextlib.contextmanager
def one_interrupt(*, to_the_end: bool = False) -> Iterator[None]:
    """Let the first Ctrl-C within the block raise KeyboardInterrupt and ignore those that follow it closely.

    Impatient ones would otherwise hit what ends the work, and leave it half ended.  One that comes five seconds later
    counts again.  Where it would break what others have half done, as in an import, a finaliser or the start of a
    process, it is raised as soon as that is over.  Inside another such block, in other threads than the main one, and
    where somebody else handles interrupts, nothing is changed.

    Parameters
    ----------
    to_the_end : bool
        Whether the process ends with the block: then one that counts again ends it at once, with the words of
        `say_when_stopped`, and those that come after the block are ignored.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    global _current
    _current = interrupts = _Interrupts(to_the_end)
    sys.unraisablehook, before = interrupts.swallowed, sys.unraisablehook
    signal.signal(signal.SIGINT, interrupts.came)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if to_the_end else signal.default_int_handler)
        if not to_the_end:
            sys.unraisablehook, _current = before, None


def say_when_stopped(words: str) -> None:
    """Set the last words of a command that is interrupted."""
    global _words
    _words = words


def last_words() -> str:
    """Return what a command that was interrupted says at its end.

    Examples
    --------
    >>> last_words()
    'Stopped.'
    """
    return _words


_words = "Stopped."


class _Interrupts:
    """When one was raised last, and what follows from it."""

    def __init__(self, to_the_end: bool) -> None:
        self.to_the_end = to_the_end
        self.raised: float | None = None
        self.put_off: float | None = None

    def came(self, _number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.raised is not None:
            if now - self.raised <= _PATIENCE_SECONDS:
                return
            if self.to_the_end:
                os.write(2, f"\n{_words}\n".encode(errors="replace"))
                os._exit(1)
        if self.put_off is None:
            self.put_off = now
        if now - self.put_off <= _PATIENCE_SECONDS and _is_fragile(frame):
            self._send_again()
            return
        self.raised, self.put_off = now, None
        raise KeyboardInterrupt

    def swallowed(self, unraisable: Any) -> None:
        """Send an interrupt again that came where Python could not raise it, as in a finaliser.

        Objects that an interrupt has left half made complain when they go; nobody is helped by reading it.
        """
        if unraisable.exc_type is KeyboardInterrupt:
            self.raised, self.put_off = None, time.monotonic()
            self._send_again()
        elif self.raised is None:
            sys.__unraisablehook__(unraisable)

    def has_come(self) -> bool:
        """Whether one has come.  One that waits to be raised is taken for raised: who asks ends the work."""
        if self.raised is None and self.put_off is not None:
            self.raised = time.monotonic()
        return self.raised is not None

    def _send_again(self) -> None:
        def send() -> None:
            time.sleep(_SOON_SECONDS)
            if self.raised is None:
                _thread.interrupt_main()

        # Not by threading: this may be called where its lock is held.
        _thread.start_new_thread(send, ())


_current: _Interrupts | None = None


_FRAGILE = ("joblib", "multiprocessing", "weakref")
"""Modules that an interrupt may leave in a state of which somebody complains later."""


def _is_fragile(frame: FrameType | None) -> bool:
    """Whether an interrupt would come in the middle of an import, a finaliser, or what joblib does with processes.

    Where joblib waits for results it is welcome.
    """
    if frame is None or (frame.f_code.co_name == "_retrieve" and _module(frame) == "joblib.parallel"):
        return False
    inner: FrameType | None = frame
    while inner is not None and _module(inner).partition(".")[0] in sys.stdlib_module_names:
        if _module(inner).startswith(_FRAGILE):
            return True
        inner = inner.f_back
    if inner is not None and _module(inner).startswith(_FRAGILE):
        return True
    outer: FrameType | None = frame
    while outer is not None:
        if outer.f_code.co_name == "__del__" or _module(outer).startswith(("importlib", "_frozen_importlib")):
            return True
        outer = outer.f_back
    return False


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is a Ctrl-C, or tells of one.

    Python makes another error of what is raised while a class is made, and so of one that comes during an import; a
    compiled loop makes another of one that comes while it is entered.  Where processes are waited for, the error of one
    that has lost its task may come first.  So whatever follows a Ctrl-C within `one_interrupt` is taken for its doing.

    Examples
    --------
    >>> try:
    ...     raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()
    ... except RuntimeError as error:
    ...     print(is_interrupt(error), is_interrupt(ValueError()))
    True False
    """
    if error is not None and _current is not None and _current.has_come():
        return True
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ if error.__suppress_context__ else error.__context__
    return error is not None


def pass_on(error: BaseException) -> None:
    """Raise KeyboardInterrupt where an error tells of one: for who keeps errors of others and goes on."""
    if is_interrupt(error):
        raise KeyboardInterrupt from error


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
