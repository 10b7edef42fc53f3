"""Results in the terminal: a table for each loss, and in words what follows from it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from comitia.report import Recommendation, Results
from comitia.report._blocks import Block
from comitia.report._text import entry
from comitia.report._vocabulary import in_order, title

_STYLES = {"value": "", "best": "bold green", "rank": "cyan", "error": "dim", "difference": "dim", "missing": "dim"}


def tables(found: Results, console: Console) -> Iterator[tuple[str, list[Table]]]:
    """Give a heading and tables for each loss: aggregations down, ensembles across, with ranks.

    Ensembles that do not fit beside the others get a table below: no number is cut off.
    """
    unbounded = console.options.update(width=10 * console.width)
    for first, *others in map(found.blocks_of, found.losses):
        parts = [[first]]
        for block in others:
            if console.measure(_table([*parts[-1], block]), options=unbounded).maximum <= console.width:
                parts[-1].append(block)
            else:
                parts.append([block])
        yield first.measure.heading, [_table(part) for part in parts]


def _table(beside: Sequence[Block]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    table.add_column("", no_wrap=True)
    for block in beside:
        table.add_column(Text(title(block.ensemble)), overflow="fold")
    for method in in_order(name for block in beside for name in block.all_methods):
        entries = ([(part.text, _STYLES[part.role]) for part in entry(block, method)] for block in beside)
        table.add_row(title(method), *(Text.assemble(*parts) for parts in entries))
    return table


def recommendation_texts(one: Recommendation, *, details: bool) -> Iterator[Text]:
    """Write a recommendation as people read it: in plain words, and with details the statistics behind them."""
    plain = one.plain or one.text
    yield Text.assemble((f"{one.measure.title}: ", "bold"), (f"use {one.choice}.", "bold green"))
    yield Text(plain)
    if details:
        yield from (Text(text, "dim") for text in (one.text, one.rivals_text) if text and text != plain)


def folded_command(command: str, width: int) -> str:
    r"""Break a command before options, as a shell takes it.

    Examples
    --------
    >>> print(folded_command("comitia train 'my songs.csv' --loss f1 --seed 0 -o model.skops", 40))
    comitia train 'my songs.csv' --loss f1 \
      --seed 0 -o model.skops
    """
    groups: list[str] = []
    for word in map(shlex.quote, shlex.split(command)):
        if groups and not word.startswith("-"):
            groups[-1] += f" {word}"
        else:
            groups.append(word)
    lines = groups[:1]  # empty for an empty command
    for group in groups[1:]:
        if len(lines[-1]) + len(group) + 3 <= width:
            lines[-1] += f" {group}"
        else:
            lines.append(f"  {group}")
    return " \\\n".join(lines)
