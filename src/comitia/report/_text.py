"""Results as plain text: what a terminal and a Python prompt show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from comitia.report._blocks import Block
from comitia.report._vocabulary import in_order, title
from comitia.report._words import DECIMALS, number, signed


class Part(NamedTuple):
    """A piece of an entry, and what it is, for those who have colours."""

    text: str
    role: Literal["value", "best", "error", "rank", "difference", "missing"]


def entry(block: Block, method: str) -> list[Part]:
    """Write what a small table has for a method: its mean, standard error, rank, and difference to the paper's mean."""
    if method not in block.all_methods:
        return [Part("–", "missing")]
    if method in block.same:
        return [Part(f"= {title(block.same[method])}", "missing")]
    column = block.index(method)
    mean, ranks = block.means[column], block.average_ranks
    if np.isnan(mean):
        return [Part("–", "missing")]
    alone = len(block.datasets) == 1
    best = not np.isnan(ranks[column]) and round(ranks[column], DECIMALS) == round(np.nanmin(ranks), DECIMALS)
    parts = [Part(f"{number(mean):>6}", "best" if best else "value")]
    if alone and not np.isnan(block.errors[0, column]):
        parts.append(Part(f" ±{number(block.errors[0, column])}", "error"))
    parts.append(Part(f"  {ranks[column]:.3g}" if alone else f"  {ranks[column]:4.2f}", "rank"))
    beside = block.beside_paper(method)
    return parts if beside is None else [*parts, Part(f"  {signed(beside.difference)}", "difference")]


def text_table(blocks: Sequence[Block]) -> str:
    """Write blocks of one loss as plain text, ensembles beside each other."""
    methods = in_order(method for block in blocks for method in block.all_methods)
    columns = [["", *map(title, methods)]]
    for block in blocks:
        cells = ["".join(part.text for part in entry(block, method)) for method in methods]
        columns.append([title(block.ensemble), *cells])
    widths = [max(map(len, column)) for column in columns]
    lines = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in zip(*columns, strict=True))
    return "\n".join(lines)


def legend(blocks: Sequence[Block]) -> str:
    """Say what the numbers of small tables are."""
    several = any(len(block.datasets) > 1 for block in blocks) or len({block.datasets for block in blocks}) > 1
    text = "Mean over the datasets, average rank" if several else "Mean ± standard error over the folds, rank"
    text += ", difference to the paper's mean." if any(block.paper is not None for block in blocks) else "."
    return f"{text} {apart(blocks)}".rstrip()


def apart(blocks: Sequence[Block]) -> str:
    """Say which ensembles do not compare because they were run on different datasets; empty where all do."""
    covered = {block.ensemble: block.datasets for block in blocks}
    if len(set(covered.values())) < 2:
        return ""
    parts = "; ".join(f"{title(name)} on {', '.join(datasets)}" for name, datasets in covered.items())
    return f"The ensembles were run on different datasets, and their numbers do not compare: {parts}."
