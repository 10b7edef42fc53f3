"""Tables in Markdown, and numbers in them."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    ruled = ["---"] * len(heads)
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, ruled, *rows))


def signed(points: float) -> str:
    """Write a difference with its sign; none is +0.00.

    Examples
    --------
    >>> signed(1.5), signed(-0.001)
    ('+1.50', '+0.00')
    """
    return f"{round(points, 2) + 0.0:+.2f}"
