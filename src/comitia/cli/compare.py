"""``comitia compare``: which aggregation for which loss, on one's own data."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

import comitia
from comitia._compare import Compared, comparison
from comitia.aggregation import AGGREGATIONS
from comitia.cli.data import data_source, introduce, loaded
from comitia.cli.errors import misuse
from comitia.cli.execution import execute
from comitia.cli.options import (
    ENSEMBLE_HELP,
    AsJson,
    Categories,
    Cluster,
    DataHome,
    Features,
    Ignore,
    Jobs,
    Labels,
    LabelsIn,
    MissingValues,
    Numbers,
    Positive,
    SameBits,
    Seed,
    Separator,
    Text,
    column_options,
    names,
)
from comitia.cli.screen import results
from comitia.experiments._plan import CHOSEN_BY_OOB, TARGET_NAMES, file_name
from comitia.relevance import POOLS

_WHAT, _OUTPUT = "What to compare", "Output"
_RUNS = Path("comitia-runs")


def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="An ARFF, CSV, TSV, JSONL, Parquet or Excel file, - for standard input, or a name of "
            "[cyan]comitia datasets[/].",
            metavar="DATA",
        ),
    ] = "seven-segment",
    labels: Labels = None,
    labels_in: LabelsIn = None,
    separator: Separator = None,
    positive: Positive = None,
    features: Features = None,
    ignore: Ignore = None,
    categories: Categories = None,
    text: Text = None,
    numbers: Numbers = None,
    missing_values: MissingValues = None,
    ensembles: Annotated[str, typer.Option(help=f"Of {ENSEMBLE_HELP}.", rich_help_panel=_WHAT)] = "emodt,ecc,ebr",
    losses: Annotated[str, typer.Option(help=f"Of {', '.join(TARGET_NAMES)}.", rich_help_panel=_WHAT)] = (
        "hamming,subset01,f1"
    ),
    aggregations: Annotated[
        str, typer.Option(help=f"Of {', '.join(AGGREGATIONS)}, {CHOSEN_BY_OOB}.", rich_help_panel=_WHAT)
    ] = "all",
    pools: Annotated[
        str, typer.Option(help=f"How gmv and ctp pool members: {', '.join(POOLS)}.", rich_help_panel=_WHAT)
    ] = "mean",
    members: Annotated[int, typer.Option("--members", "-m", min=1, help="Members of each ensemble.")] = 50,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often to repeat it, with other folds.")] = 1,
    stratified: Annotated[
        bool, typer.Option("--stratified", help="Keep the proportion of every label in every fold.")
    ] = False,
    seed: Seed = 0,
    n_jobs: Jobs = None,
    cluster: Cluster = None,
    same_bits: SameBits = False,
    data_home: DataHome = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the results; a run that was stopped goes on there. By default a new one.",
            rich_help_panel=_OUTPUT,
            show_default="comitia-runs/compare-NAME-N",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find out which aggregation to use for which loss on your data.

    Ensembles are cross-validated; every one is fitted once for each fold, and scored for all losses with all
    aggregations. Shown are a table with ranks and a recommendation; the folder gets all results, the plan that was
    run, and a report.

    [bold]Examples[/]

    $ comitia compare
    $ comitia compare mine.csv --labels red,green,blue
    $ comitia compare emotions --losses f1 --ensembles ecc,ebr --folds 10
    """
    chosen = names("--ensembles", "ensemble", ensembles, comitia.ENSEMBLES)
    targets = names("--losses", "loss", losses, TARGET_NAMES)
    ways = names("--aggregations", "aggregation", aggregations, (*AGGREGATIONS, CHOSEN_BY_OOB))
    pooled = names("--pools", "pool", pools, POOLS)
    source = data_source(
        data,
        labels,
        labels_in=labels_in,
        separator=separator,
        positive=positive,
        columns=column_options(features, ignore, categories, text, numbers, missing_values),
    )
    dataset = loaded(source, data_home)
    introduce(dataset)
    if folds > dataset.n_instances:
        raise misuse("--folds", f"{folds} folds need as many instances; {source.name} has {dataset.n_instances}")
    plan = comparison(
        Compared(source, dataset),
        ensembles=chosen,
        losses=targets,
        aggregations=ways,
        pools=pooled,
        members=members,
        folds=folds,
        repeats=repeats,
        stratified=stratified,
        random_state=seed,
    )
    folder = output if output is not None else _new_folder(source.name)
    if not as_json:
        results.print(
            f"[bold]{escape(source.name)}[/]: {dataset.n_instances:,} instances, {dataset.n_features:,} features, "
            f"{dataset.n_labels:,} labels, {dataset.cardinality:.2f} of them relevant on average\n"
            f"{', '.join(kind.upper() for kind in chosen)} with {members} members, {folds}-fold cross-validation"
            + (f" {repeats} times" if repeats > 1 else ""),
            highlight=False,
        )
    where: dict[str, Any] = {"n_jobs": n_jobs, "cluster": cluster, "same_bits": same_bits}
    execute(plan, folder, data={source.name: dataset}, as_json=as_json, **where)


def _new_folder(name: str) -> Path:
    """Take the first number that is free."""
    for number in count(1):
        folder = _RUNS / f"compare-{file_name(name)}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise AssertionError("numbers do not end")
