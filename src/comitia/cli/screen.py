"""Where things are shown: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.console import Console

results = Console()
"""What was asked for."""

messages = Console(stderr=True)
"""Progress, remarks and errors; a program that reads the results does not see them."""


def print_json(value: Any) -> None:
    """Write one JSON value to standard output, with escapes for what a terminal would obey."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    typer.echo("".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text))
