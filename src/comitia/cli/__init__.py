"""The command line, ``comitia``."""

from __future__ import annotations

import sys

from comitia._interrupts import is_interrupt, last_words, one_interrupt

__all__ = ["main"]


def main() -> None:
    """Run the command line: what ``comitia`` does.

    Examples
    --------
    >>> import subprocess, sys
    >>> subprocess.run([sys.executable, "-m", "comitia", "--version"], capture_output=True).returncode
    0
    """
    with one_interrupt(to_the_end=True):
        try:
            from comitia.cli._app import app

            app()
        except (Exception, KeyboardInterrupt) as error:
            if is_interrupt(error):
                sys.exit(last_words())
            if isinstance(error, ModuleNotFoundError) and error.name in ("typer", "rich"):
                sys.exit(f'error: the command line needs {error.name}: pip install "comitia[cli]"')
            raise
