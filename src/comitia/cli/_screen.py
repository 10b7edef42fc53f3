"""Where things are shown: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from comitia._names import printable


class Screen(Console):
    """A console that obeys itself only: control characters in what is shown, from wherever they come, are escapes."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the pieces of something that is shown; those of a part of it come through here as well."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment("\n".join(map(printable, segment.text.split("\n"))), segment.style)


results = Screen()
"""What was asked for."""

messages = Screen(stderr=True)
"""Progress, remarks and errors; a program that reads the results does not see them."""


def print_json(value: Any) -> None:
    """Write one JSON value to standard output, with escapes for what a terminal would obey."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    print_line("".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text))


def print_line(text: str) -> None:
    """Write text to standard output as it is: not wrapped, not coloured, not read as markup."""
    results.out(text, highlight=False)
