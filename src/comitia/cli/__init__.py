"""The command line, ``comitia``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point of ``comitia``."""
    try:
        from comitia.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f'error: the command line needs {error.name}: pip install "comitia[cli]"')
    app()
