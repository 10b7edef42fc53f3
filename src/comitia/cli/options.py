"""Options that several commands have, and lists of names in them."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from comitia import ENSEMBLES
from comitia._names import unknown
from comitia._titles import LOSSES
from comitia.cli.errors import misuse
from comitia.columns._numbers import NOTATIONS

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
LabelsIn = Annotated[
    str | None,
    typer.Option(help="Column that holds the labels of a row: [cyan]a;b[/], or a list.", rich_help_panel="Data"),
]
Separator = Annotated[
    str | None,
    typer.Option(help="What stands between the labels in one column: [cyan]';'[/].", rich_help_panel="Data"),
]
Positive = Annotated[
    str | None,
    typer.Option(help="Cell that says a label holds; yes, y, true, t, x and 1 are known.", rich_help_panel="Data"),
]
_COLUMNS = "Columns"
Features = Annotated[
    list[str] | None,
    typer.Option(help="Columns to learn from; all others by default.", rich_help_panel=_COLUMNS),
]
Ignore = Annotated[
    list[str] | None, typer.Option(help="Columns to leave out; [cyan]*[/] as above.", rich_help_panel=_COLUMNS)
]
Categories = Annotated[
    list[str] | None, typer.Option(help="Columns whose numbers are names, or codes.", rich_help_panel=_COLUMNS)
]
Text = Annotated[
    list[str] | None, typer.Option(help="Columns of which the words are learnt from.", rich_help_panel=_COLUMNS)
]
Numbers = Annotated[
    str | None,
    typer.Option(
        help="How numbers are written: [cyan]1,234.5[/] or [cyan]1.234,5[/] allow thousands separators, currency and "
        "per cent signs.",
        rich_help_panel=_COLUMNS,
    ),
]
MissingValues = Annotated[
    list[str] | None, typer.Option(help="Cells that count as missing: [cyan]unknown,none[/].", rich_help_panel=_COLUMNS)
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


ENSEMBLE_HELP = ", ".join(f"{name} ({ensemble.brief})" for name, ensemble in ENSEMBLES.items())
"""What ensembles there are."""


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
    """Check a list of names, in small or capital letters or as they are printed; ``all`` is all of them."""
    chosen = split([text])
    if chosen == ["all"]:
        return tuple(known)
    if not chosen:
        raise misuse(option, f"names no {kind}. There are: {', '.join(known)}.")
    spelt = {name.casefold(): name for name in known}
    titles = {shown[0].casefold(): loss for loss, shown in LOSSES.items() if kind == "loss"}
    found = []
    for name in chosen:
        small = titles.get(name.casefold(), name.casefold())
        if name not in known and small not in spelt:
            raise misuse(option, unknown(kind, name, known))
        found.append(name if name in known else spelt[small])
    return tuple(dict.fromkeys(found))


def column_options(
    features: list[str] | None,
    ignore: list[str] | None,
    categories: list[str] | None,
    text: list[str] | None,
    numbers: str | None,
    missing_values: list[str] | None,
) -> dict[str, Any]:
    """What was said of the columns, as `comitia.columns.TableEncoder` takes it."""
    if numbers is not None and numbers not in NOTATIONS:
        raise misuse("--numbers", unknown("notation", numbers, NOTATIONS))
    lists = {
        "features": features,
        "ignore": ignore,
        "categories": categories,
        "text": text,
        "missing_values": missing_values,
    }
    given: dict[str, Any] = {key: split(value) for key, value in lists.items() if value}
    return given if numbers is None else {**given, "numbers": numbers}
