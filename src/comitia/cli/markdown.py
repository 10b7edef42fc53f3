"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    ruled = ["---"] * len(heads)
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, ruled, *rows))
