"""Numbers, times and lists as they are written in every text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from comitia._names import printable

DECIMALS = 2
"""Values are ranked as they are printed, so that a reader finds the ranks in the table and noise decides no tie."""


def number(value: float) -> str:
    """Write a percentage or a number of points."""
    return f"{round(value, DECIMALS):.{DECIMALS}f}"


def signed(points: float) -> str:
    """Write a difference with its sign; none is +0.00.

    Examples
    --------
    >>> signed(1.5), signed(-0.001)
    ('+1.50', '+0.00')
    """
    return f"{round(points, DECIMALS) + 0.0:+.{DECIMALS}f}"


def duration(seconds: float, decimals: int = 1) -> str:
    """Write a time as people do.

    Examples
    --------
    >>> duration(12.52), duration(4.2, decimals=0), duration(3012), duration(7384)
    ('12.5 s', '4 s', '50 min 12 s', '2 h 3 min')
    """
    if seconds < 60:
        return f"{seconds:.{decimals}f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def p_text(p_value: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_text(0.04).replace("\u00a0", " "), p_text(1e-9).replace("\u00a0", " ")
    ('p = 0.040', 'p < 0.001')
    """
    return "p\u00a0<\u00a00.001" if p_value < 0.001 else f"p\u00a0=\u00a0{p_value:.{3 if p_value < 0.1 else 2}f}"


def capital(text: str) -> str:
    """Begin a sentence."""
    return text[:1].upper() + text[1:]


def counted(count: int, word: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "fold"), counted(5, "fold")
    ('1 fold', '5 folds')
    """
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def listed(names: Sequence[str], word: str = "and") -> str:
    """Write a list of names.

    Examples
    --------
    >>> listed(["CTP"]), listed(["GMV", "BMV", "CTP"], "or")
    ('CTP', 'GMV, BMV or CTP')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Write a table in Markdown; that many of its last columns are set to the right."""
    ruled = ["---"] * (len(heads) - numbers) + ["--:"] * numbers
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, ruled, *rows))


def in_markdown(text: str) -> str:
    """Return a text, such as a name, as Markdown shows it and obeys none of it."""
    return re.sub(r"([\\`*_{}\[\]<>#|~!$&])", r"\\\1", printable(" ".join(text.split())))


def as_code(text: str) -> str:
    """Return a text as a span of code in Markdown, also within a table, whatever backticks stand in it."""
    inside = printable(" ".join(text.split())).replace("|", "\\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", inside)), default=0))
    space = " " if inside.startswith("`") or inside.endswith("`") else ""
    return f"{fence}{space}{inside}{space}{fence}"


def by_error(failures: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Gather the cells that failed by their error: one cause often fails many."""
    cells: dict[str, list[str]] = {}
    for failure in failures:
        cells.setdefault(str(failure.get("error", "")), []).append(str(failure.get("cell", "")))
    return cells
