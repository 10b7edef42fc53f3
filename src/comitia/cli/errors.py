"""A user's mistake is answered with a sentence, not with a traceback."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer
from rich.markup import escape

from comitia._names import printable
from comitia.cli.screen import messages


def explained(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command end with code 1 and a sentence where it raises what its input or its surroundings cause."""

    @wraps(command)
    def wrapped(**arguments: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                command(**arguments)
        except (ValueError, OSError, ImportError, MemoryError) as error:
            if os.environ.get("COMITIA_DEBUG"):
                raise
            messages.print(f"[bold red]error:[/] {escape(shown(_sentence(error)))}", highlight=False, soft_wrap=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            messages.print("\nStopped.", highlight=False)
            raise typer.Exit(1) from None

    return wrapped


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    messages.print(f"[yellow]note:[/] {escape(shown(str(message)))}", highlight=False, soft_wrap=True)


def misuse(option: str, message: str) -> typer.BadParameter:
    """The error of an argument that cannot be right, which ends with code 2."""
    return typer.BadParameter(shown(message), param_hint=option)


def shown(text: str) -> str:
    """Return a text of several lines as a terminal may show it, whatever names stand in it."""
    return "\n".join(printable(line) for line in text.split("\n"))


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
