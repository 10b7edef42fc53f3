"""``comitia compare``: which aggregation for which loss, on one's own data."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

from rich.markup import escape

import comitia
from comitia._compare import ENSEMBLE_NAMES, Compared, comparison
from comitia.cli._data import data_source, introduce, loaded
from comitia.cli._errors import misuse
from comitia.cli._execution import execute, on_device
from comitia.cli._options import (
    Aggregations,
    AsJson,
    Categories,
    Cluster,
    DataArgument,
    DataHome,
    DayFirst,
    Details,
    Device,
    Ensembles,
    Features,
    Folds,
    Ignore,
    Jobs,
    Labels,
    LabelsIn,
    Losses,
    Members,
    MissingValues,
    Numbers,
    Pools,
    Positive,
    Repeats,
    RunFolder,
    SameBits,
    Seed,
    Separator,
    Stratified,
    Text,
    Trust,
    column_options,
    names,
)
from comitia.cli._screen import results
from comitia.datasets import Dataset
from comitia.experiments import Plan
from comitia.experiments._plan import TARGET_NAMES, WAYS, file_name
from comitia.relevance import POOLS
from comitia.report._vocabulary import title
from comitia.report._words import listed

_RUNS = Path("comitia-runs")
_ENSEMBLES = ",".join(ENSEMBLE_NAMES)


def compare(
    data: DataArgument = "seven-segment",
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
    day_first: DayFirst = None,
    ensembles: Ensembles = _ENSEMBLES,
    losses: Losses = "hamming,subset01,f1",
    aggregations: Aggregations = "all",
    pools: Pools = "mean",
    members: Members = 50,
    folds: Folds = 5,
    repeats: Repeats = 1,
    stratified: Stratified = False,
    seed: Seed = 0,
    n_jobs: Jobs = None,
    device: Device = "cpu",
    cluster: Cluster = None,
    same_bits: SameBits = False,
    trust: Trust = False,
    data_home: DataHome = None,
    output: RunFolder = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Find out which ensemble and which aggregation to use for which loss on your data.

    Ensembles are cross-validated; every one is fitted once for each fold, and scored for all losses with all
    aggregations. Shown is what to use, how good it is and how to use it; the folder gets all results, the plan that was
    run, and a report.

    [bold]Examples[/]

    $ comitia compare
    $ comitia compare mine.csv --labels red,green,blue
    $ comitia compare emotions --losses f1 --ensembles ecc,ebr --folds 10 --details
    $ comitia compare mine.csv -l 'tag_*' --losses 'f1(beta=2)' --ensembles 'ecc,mine.Classifier(depth=3)' --trust
    """
    what: dict[str, Any] = {
        "ensembles": names("--ensembles", "ensemble", ensembles, comitia.ENSEMBLES, calls=True),
        "losses": names("--losses", "loss", losses, TARGET_NAMES, calls=True),
        "aggregations": names("--aggregations", "aggregation", aggregations, WAYS),
        "pools": names("--pools", "pool", pools, POOLS),
    }
    columns = column_options(features, ignore, categories, text, numbers, missing_values, day_first)
    source = data_source(data, labels, labels_in=labels_in, separator=separator, positive=positive, columns=columns)
    dataset = loaded(source, data_home)
    introduce(dataset)
    if folds > dataset.n_instances:
        raise misuse("--folds", f"{folds} folds need as many instances; {source.name} has {dataset.n_instances}")
    how: dict[str, Any] = {
        "members": members,
        "folds": folds,
        "repeats": repeats,
        "stratified": stratified,
        "random_state": seed,
        "trust": trust,
    }
    plan = on_device(comparison(Compared(source, dataset), **what, **how), device)
    folder = output if output is not None else _new_folder(source.name)
    if not as_json:
        _announce(plan, dataset, members)
    where: dict[str, Any] = {"n_jobs": n_jobs, "cluster": cluster, "same_bits": same_bits}
    execute(plan, folder, data={source.name: dataset}, as_json=as_json, details=details, **where)


def _announce(plan: Plan, dataset: Dataset, members: int) -> None:
    """Say what is going to be compared."""
    name = escape(plan.datasets[0].name)
    results.print(
        f"[bold]{name}[/]: {dataset.n_instances:,} instances, {dataset.n_features:,} features, "
        f"{dataset.n_labels:,} labels, {dataset.cardinality:.2f} of them relevant on average\n"
        f"{listed([title(setting.name) for setting in plan.ensembles])} with {members} members, "
        f"{plan.folds}-fold cross-validation" + (f" {plan.repeats} times" if plan.repeats > 1 else ""),
        highlight=False,
    )


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
