"""What stands for DATA on the command line, and ``comitia datasets``."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from comitia.cli.errors import misuse
from comitia.cli.features import column_names, needs_labels
from comitia.cli.options import AsJson, DataHome, names, split
from comitia.cli.screen import messages, print_json, results
from comitia.datasets import CatalogueEntry, Dataset, fetch_dataset, list_datasets
from comitia.datasets.arff import stem
from comitia.experiments import DataSource
from comitia.experiments.plan import EXAMPLES
from comitia.experiments.suggest import unknown


def data_source(data: str, labels: list[str] | None) -> DataSource:
    """Say what a DATA argument means: a file, or else a name of the catalogue or an example."""
    known = [*EXAMPLES, *(entry.name for entry in list_datasets())]
    path = Path(data)
    if not path.is_file():
        if data not in known:
            what = "is a folder" if path.is_dir() else "there is no such file"
            raise misuse("DATA", f"{data}: {what}; and as a name: {unknown('dataset', data, known)}")
        if labels:
            raise misuse("--labels", f"{data} knows its labels; --labels is for files.")
        return DataSource(data)
    wanted = split(labels or [])
    if wanted:
        return DataSource(stem(path), str(path), tuple(_matching(path, wanted)))
    if needs_labels(path):
        columns = column_names(path)
        listed = ", ".join(columns[:12]) + (f", ... ({len(columns)} in all)" if len(columns) > 12 else "")
        raise misuse("--labels", f"say which columns of {data} are labels: --labels {columns[-1]}. It has: {listed}.")
    return DataSource(stem(path), str(path))


def datasets(
    fetch: Annotated[
        str | None,
        typer.Option(help="Download these now, with commas between them, or [cyan]all[/].", metavar="NAMES"),
    ] = None,
    data_home: DataHome = None,
    as_json: AsJson = False,
) -> None:
    """List the datasets that have a name, and where they are.

    A dataset is read from the folder that [cyan]--data-home[/] or COMITIA_DATA names, or else downloaded once and
    checked against its published checksum.
    """
    entries = list_datasets()
    if fetch is not None:
        published = [entry.name for entry in entries if entry.arff]
        for name in names("--fetch", "dataset that is published:", fetch, published):
            with messages.status(f"{name} ..."):
                found = fetch_dataset(name, data_home=data_home, progress=False)
            messages.print(f"{found!r}", highlight=False)
    rows = [_row(data.name, data.n_instances, data.n_features, data.n_labels, "built in") for data in _examples()]
    rows += [
        _row(entry.name, entry.n_instances, entry.n_features, entry.n_labels, _where(entry, data_home))
        for entry in entries
    ]
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "instances", "features", "labels", "where"):
        table.add_column(column, justify="left" if column in ("name", "where") else "right")
    for row in rows:
        table.add_row(*(f"{value:,}" if isinstance(value, int) else str(value) for value in row.values()))
    results.print(table)


def _examples() -> list[Dataset]:
    return [load() for load in EXAMPLES.values()]


def _row(name: str, instances: int, features: int, labels: int, where: str) -> dict[str, str | int]:
    return {"name": name, "instances": instances, "features": features, "labels": labels, "where": where}


def _where(entry: CatalogueEntry, data_home: Path | None) -> str:
    local = data_home is not None and all(
        (data_home / entry.name / f"{entry.name}.{suffix}").is_file() for suffix in ("arff", "xml")
    )
    if local:
        return "in the data folder"
    return "can be downloaded" if entry.arff else "only from a data folder"


def _matching(path: Path, wanted: list[str]) -> list[str]:
    """Write out the patterns among names of columns."""
    if not any(set("*?[") & set(name) for name in wanted):
        return wanted
    columns = column_names(path)
    found: list[str] = []
    for name in wanted:
        matches = [name] if name in columns else [column for column in columns if fnmatchcase(column, name)]
        if not matches:
            raise misuse("--labels", f"no column of {path} is like {name!r}. It has: {', '.join(columns[:12])} ...")
        found += matches
    return list(dict.fromkeys(found))
