"""A user's mistake is answered with a sentence; a bug is shown as what it is."""

from __future__ import annotations

import ast
import os
import re
import select
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer
from rich.markup import escape

from comitia import ComitiaError
from comitia._interrupts import is_interrupt, last_words, say_when_stopped
from comitia._names import shown
from comitia.cli._screen import messages

_ISSUES = "https://github.com/comitia/comitia/issues"
_CHECKS_OF_DATA = "sklearn.utils.validation"
"""Where scikit-learn refuses data, with a plain ValueError."""


def explained(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command end with code 1: with a sentence for what its input or its surroundings cause, else as a bug."""

    @wraps(command)
    def wrapped(**arguments: Any) -> None:
        say_when_stopped("Stopped.")
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                command(**arguments)
        except (Exception, KeyboardInterrupt) as error:
            if is_interrupt(error):
                messages.print(f"\n{escape(last_words())}", highlight=False, soft_wrap=True)
                raise typer.Exit(1) from None
            if isinstance(error, BrokenPipeError) and _nobody_reads():
                raise  # which ends the command without a word
            if os.environ.get("COMITIA_DEBUG") or type(error).__module__.startswith(("click", "typer")):
                raise
            if _is_of_the_user(error):
                sentence = escape(shown(as_options(_sentence(error))))
                messages.print(f"[bold red]error:[/] {sentence}", highlight=False, soft_wrap=True)
            else:
                messages.out(traceback.format_exc(), highlight=False, end="")
                messages.out(
                    f"This is a bug in comitia; please report it with the lines above: {_ISSUES}", highlight=False
                )
            raise typer.Exit(1) from None

    return wrapped


def misuse(option: str, message: str) -> typer.BadParameter:
    """The error of an argument that cannot be right, which ends with code 2."""
    return typer.BadParameter(shown(message), param_hint=option)


_PARAMETERS = (
    "features",
    "ignore",
    "categories",
    "text",
    "numbers",
    "missing_values",
    "separator",
    "positive",
    "labels_in",
    "day_first",
)
_WRITTEN = r"True|False|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_PARAMETER = re.compile(rf"\b({'|'.join(_PARAMETERS)})=(\[(?:(?:{_WRITTEN})(?:, )?)+\]|{_WRITTEN})")


def as_options(sentence: str) -> str:
    """Return a sentence in which parameters of Python, as ways out, are options of the command line.

    Examples
    --------
    >>> as_options("numbers='1.234,5' reads commas; ignore=['the price'] leaves it out.")
    "--numbers 1.234,5 reads commas; --ignore 'the price' leaves it out."
    """
    return _PARAMETER.sub(_as_option, sentence)


def _as_option(found: re.Match[str]) -> str:
    from comitia._compare._data import options_of

    return shlex.join(options_of({found[1]: ast.literal_eval(found[2])}))


def _nobody_reads() -> bool:
    """Whether the program that standard output went to has ended, as ``head`` does when it has enough."""
    if not hasattr(select, "poll"):
        return False
    output = select.poll()
    output.register(sys.stdout, 0)
    return any(event & select.POLLERR for _, event in output.poll(0))


def _is_of_the_user(error: BaseException) -> bool:
    if isinstance(error, ComitiaError | OSError | ImportError | MemoryError):
        return True
    frames = [frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return isinstance(error, ValueError) and _CHECKS_OF_DATA in frames


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    messages.print(f"[yellow]note:[/] {escape(shown(str(message)))}", highlight=False, soft_wrap=True)


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
