"""Options that several commands have, and lists of names in them."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated

import typer

from comitia._names import unknown
from comitia.cli.errors import misuse

DataHome = Annotated[
    Path | None,
    typer.Option(
        "--data-home",
        envvar="COMITIA_DATA",
        show_envvar=True,
        help="Folder with datasets of the catalogue, NAME/NAME.arff and .xml; others are downloaded.",
        rich_help_panel="Data",
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        "-l",
        help="Columns that are labels, with commas between them; [cyan]*[/] stands for anything: "
        "[cyan]--labels 'tag_*'[/]. CSV and Parquet files need it.",
        rich_help_panel="Data",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--n-jobs", "-j", min=1, help="Number of cores to use; all by default. It changes no result."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Compute on a cluster: a Dask scheduler's address ([cyan]tcp://…[/]) or file, [cyan]ray[/] or "
        "[cyan]ray://…[/]. It changes no result.",
    ),
]
SameBits = Annotated[bool, typer.Option("--same-bits", help="Refuse a cluster whose machines round differently.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is drawn at random.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Write JSON to standard output, for programs.", rich_help_panel="Output")
]
Paper = Annotated[
    Path | None,
    typer.Option(
        help="Folder with the paper's published values, table2.csv or figure2.csv, to set beside these.",
        rich_help_panel="Output",
    ),
]


def split(texts: Iterable[str]) -> list[str]:
    """Take lists apart at their commas; a name that has one is put in quotes.

    Examples
    --------
    >>> split(["red, green", '"dark, blue"'])
    ['red', 'green', 'dark, blue']
    """
    rows = csv.reader(texts, skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def names(option: str, kind: str, text: str, known: Collection[str]) -> tuple[str, ...]:
    """Check a list of names; ``all`` is all of them."""
    chosen = list(dict.fromkeys(split([text])))
    if chosen == ["all"]:
        return tuple(known)
    if not chosen:
        raise misuse(option, f"names no {kind}. There are: {', '.join(known)}.")
    for name in chosen:
        if name not in known:
            raise misuse(option, unknown(kind, name, known))
    return tuple(chosen)
