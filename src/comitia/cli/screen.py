"""Where things are shown: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console

results = Console()
"""What was asked for."""

messages = Console(stderr=True)
"""Progress, remarks and errors; a program that reads the results does not see them."""


def print_json(value: Any) -> None:
    """Write one JSON value to standard output, with escapes for what a terminal would obey."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    print_line("".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text))


def print_line(text: str) -> None:
    """Write text to standard output as it is: not wrapped, not coloured, not read as markup."""
    results.out(text, highlight=False)
