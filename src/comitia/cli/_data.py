"""What stands for DATA on the command line, and ``comitia datasets``."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from comitia import ComitiaError
from comitia._compare import Labelled, dataset_names, introduction, named_source
from comitia._names import enumerated
from comitia.cli._errors import as_options, misuse
from comitia.cli._options import AsJson, DataHome, names, split
from comitia.cli._screen import messages, print_json, results
from comitia.datasets import CatalogueEntry, DataFormatError, Dataset, fetch_dataset, list_datasets, load_features
from comitia.datasets._dataset import NoSuchColumnError
from comitia.datasets._formats import file_format
from comitia.datasets._text import STDIN
from comitia.experiments import DataSource
from comitia.experiments._plan import EXAMPLES

_LOCAL = "in the data folder"


def data_source(
    data: str,
    labels: list[str] | None,
    *,
    labels_in: str | None = None,
    separator: str | None = None,
    positive: str | None = None,
    columns: Mapping[str, Any] | None = None,
) -> DataSource:
    """Say what a DATA argument means: a file, or else a name of the catalogue or an example."""
    path, wanted = Path(data), split(labels or [])
    is_file = path.is_file() or path == STDIN
    if is_file and not wanted and labels_in is None and file_format(path) != ".arff":
        known = load_features(path).feature_names
        last = shlex.quote(enumerated(known[-1:]))
        raise misuse(
            "--labels",
            f"say which columns of {data} are labels: --labels {last}; or which one lists the names of labels: "
            f"--labels-in {last}. It has: {enumerated(known, most=12)}.",
        )
    ways = Labelled(wanted or None, labels_in, separator, positive)
    if not is_file and data in dataset_names() and (given := ways.given()):
        option = f"--{given[0].replace('_', '-')}"
        raise misuse(option, f"{data} knows its labels; {option} is for files.")
    try:
        return named_source(data, ways, columns)
    except NoSuchColumnError as error:
        raise misuse("--labels", str(error)) from None
    except DataFormatError:
        raise
    except ComitiaError as error:
        raise misuse("--labels" if is_file else "DATA", str(error)) from None


def loaded(source: DataSource, data_home: Path | None) -> Dataset:
    """Read a dataset; a label that it does not have is a wrong argument, not a broken file."""
    try:
        return source.load(data_home)
    except NoSuchColumnError as error:
        raise misuse("--labels" if source.labels_in is None else "--labels-in", str(error)) from None


def introduce(dataset: Dataset) -> None:
    """Say what the columns of a frame are taken for, and what a user should know of the data, before a fit."""
    tell(introduction(dataset))


def tell(said: Iterable[tuple[str, str]]) -> None:
    """Write what is to be known of data beside the answer."""
    for kind, text in said:
        style = "yellow" if kind == "note" else "dim"
        messages.print(f"[{style}]{kind}:[/] {escape(as_options(text))}", highlight=False, soft_wrap=True)


def datasets(
    wanted: Annotated[
        list[str] | None, typer.Argument(help="Names of datasets; all by default.", metavar="NAME", show_default=False)
    ] = None,
    fetch: Annotated[bool, typer.Option("--fetch", help="Get those that are not here yet, and check them.")] = False,
    data_home: DataHome = None,
    as_json: AsJson = False,
) -> None:
    """List the datasets that have a name, and where they are.

    A dataset is read from the folder that [cyan]--data-home[/] or COMITIA_DATA names, or else downloaded once and
    checked against its published checksum.

    [bold]Examples[/]

    $ comitia datasets
    $ comitia datasets emotions scene --fetch
    """
    entries = {entry.name: entry for entry in list_datasets()}
    examples = {name: load() for name, load in EXAMPLES.items()}
    chosen = names("NAME", "dataset", ",".join(wanted or ["all"]), [*examples, *entries])
    failed = [name for name in chosen if fetch and name in entries and not _fetched(entries[name], wanted, data_home)]
    rows = [
        _row(examples[name], "built in") if name in examples else _row(entries[name], _where(entries[name], data_home))
        for name in chosen
    ]
    if as_json:
        print_json(rows)
    else:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in rows[0]:
            table.add_column(column, justify="left" if column in ("name", "where") else "right")
        for row in rows:
            table.add_row(*(f"{value:,}" if isinstance(value, int) else value for value in row.values()))
        results.print(table)
    if failed:
        raise typer.Exit(1)


def _fetched(entry: CatalogueEntry, wanted: list[str] | None, data_home: Path | None) -> bool:
    """Get a dataset; one that is not published need only be there if it was asked for by name."""
    if not wanted and not entry.arff and _where(entry, data_home) != _LOCAL:
        return True
    try:
        found = fetch_dataset(entry.name, data_home=data_home, progress=messages.is_terminal)
    except (OSError, ComitiaError) as error:
        messages.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        return False
    messages.print(f"{found!r}", highlight=False, soft_wrap=True)
    return True


def _row(data: Dataset | CatalogueEntry, where: str) -> dict[str, str | int]:
    return {
        "name": data.name,
        "instances": data.n_instances,
        "features": data.n_features,
        "labels": data.n_labels,
        "where": where,
    }


def _where(entry: CatalogueEntry, data_home: Path | None) -> str:
    local = data_home is not None and all(
        (data_home / entry.name / f"{entry.name}.{suffix}").is_file() for suffix in ("arff", "xml")
    )
    if local:
        return _LOCAL
    return "can be downloaded" if entry.arff else "only from a data folder"
