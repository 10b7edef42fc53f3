"""``comitia train`` and ``comitia predict``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape

import comitia
from comitia import ComitiaError
from comitia._labels import distinct_rows
from comitia._names import printable
from comitia.aggregation import AGGREGATIONS
from comitia.cli.answers import EXPECTED, ONE_COLUMN, check_names, in_one_column, kept_columns, loss_where_known, write
from comitia.cli.data import data_source, introduce, loaded
from comitia.cli.errors import misuse
from comitia.cli.options import (
    ENSEMBLE_HELP,
    AsJson,
    Categories,
    DataHome,
    Features,
    Ignore,
    Jobs,
    Labels,
    LabelsIn,
    MissingValues,
    Numbers,
    Positive,
    Seed,
    Separator,
    Text,
    column_options,
    names,
    split,
)
from comitia.cli.screen import messages, print_json
from comitia.datasets import load_features
from comitia.datasets._text import STDIN
from comitia.experiments import loss_of
from comitia.experiments._plan import CHOSEN_BY_OOB, LOSS_NAMES, TARGET_NAMES
from comitia.measures import MEASURES
from comitia.model_file import Model, save

Output = Annotated[
    Path, typer.Option("--output", "-o", help="File to write.", dir_okay=False, rich_help_panel="Output")
]

_LOSS_HELP = (
    f"What predictions shall minimise: {', '.join(LOSS_NAMES)}; or a measure of a whole set: {', '.join(MEASURES)}."
)
_LIMITS = "Limits and doubt"

_FORM = "Form of the answer"
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.", rich_help_panel="Output")]


def train(
    data: Annotated[
        str,
        typer.Argument(
            help="An ARFF, CSV, TSV, JSONL, Parquet or Excel file, - for standard input, or a name of "
            "[cyan]comitia datasets[/].",
            metavar="DATA",
        ),
    ],
    output: Output,
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
    ensemble: Annotated[str, typer.Option(help=f"Of {ENSEMBLE_HELP}.")] = "ecc",
    loss: Annotated[str, typer.Option(help=_LOSS_HELP)] = "hamming",
    aggregation: Annotated[
        str | None,
        typer.Option(
            help=f"How members decide: {', '.join(AGGREGATIONS)}; [cyan]oob[/] finds the best out of bag. "
            "By default the paper's advice for the loss."
        ),
    ] = None,
    oob: Annotated[
        bool,
        typer.Option("--oob", help="Keep what is out of bag: predict --abstain-rate and --guarantee need it."),
    ] = False,
    members: Annotated[int, typer.Option("--members", "-m", min=1, help="Number of members.")] = 50,
    seed: Seed = 0,
    n_jobs: Jobs = None,
    data_home: DataHome = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fit an ensemble and keep it in a file, whose name ends in .skops.

    [bold]Examples[/]

    $ comitia train mine.csv --labels red,green,blue --loss f1 -o model.skops
    $ comitia train emotions --ensemble emodt --aggregation oob -o model.skops
    $ comitia train emotions --ensemble emodt --loss macro-f1 -o model.skops
    """
    kind = _one("--ensemble", "ensemble", ensemble, comitia.ENSEMBLES)
    target = _one("--loss", "loss", loss, TARGET_NAMES)
    how = aggregation and _one("--aggregation", "aggregation", aggregation, (*AGGREGATIONS, CHOSEN_BY_OOB))
    if how not in (None, CHOSEN_BY_OOB) and not comitia.ENSEMBLES[kind]().can_decide_by(how):
        raise misuse("--aggregation", f"{how} needs trees: --ensemble emodt, not {kind}.")
    source = data_source(
        data,
        labels,
        labels_in=labels_in,
        separator=separator,
        positive=positive,
        columns=column_options(features, ignore, categories, text, numbers, missing_values),
    )
    _check_output(output, (".skops",), [Path(source.path)] if source.path else [], force)
    dataset = loaded(source, data_home)
    introduce(dataset)
    wished = {
        "n_estimators": members,
        "loss": target,
        "aggregation": how,
        "oob_score": oob or how == CHOSEN_BY_OOB or target in MEASURES,
        "random_state": seed,
        "n_jobs": n_jobs or -1,
    }
    # A committee has members of its own, knows its out-of-bag losses, and chooses by them unless told otherwise.
    takes = comitia.ENSEMBLES[kind]._get_param_names()
    left_open = {"aggregation"} if how is None else set()
    classifier = comitia.ENSEMBLES[kind](**{k: v for k, v in wished.items() if k in takes and k not in left_open})
    with messages.status(f"fitting on {dataset.n_instances:,} instances ..."):
        model = Model.fit(classifier, dataset)
    save(model, output)
    chosen = getattr(classifier, "oob_aggregation_", how)
    judged = _judged(classifier, dataset.Y)
    if as_json:
        print_json({**_described(model), "aggregation": chosen, "out_of_bag": judged or None, "file": str(output)})
        return
    by = f", decided by {chosen}" if chosen else ""
    typer.echo(
        f"{kind} of {len(model.ensemble.members_)} members for {target}{by};"
        f" {dataset.n_labels} labels, {dataset.n_features} features"
    )
    if judged:
        typer.echo(f"{target} loss out of bag: " + ", ".join(f"{name} {value:.4f}" for name, value in judged.items()))
    typer.echo(f"model: {printable(output)}")


def _judged(classifier: Any, Y: Any) -> dict[str, float]:
    """The out-of-bag loss beside that of answers which learn nothing; empty where nothing is out of bag."""
    if not hasattr(classifier, "_oob"):
        return {}
    table, counts = distinct_rows(Y)[0], np.bincount(distinct_rows(Y)[1])
    same = {
        "no label at all": np.zeros_like(Y[0]),
        "the most frequent set": table[counts.argmax()],
        "each label's majority": (2 * Y.sum(axis=0, dtype=np.int64) > len(Y)).astype(np.int8),
    }
    baselines = {name: loss_of(classifier.loss, Y, np.tile(row, (len(Y), 1))) for name, row in same.items()}
    return {"this model": classifier.oob_loss_, **baselines}


def predict(
    model: Annotated[
        Path,
        typer.Argument(
            help="A file that [cyan]comitia train[/] has written.", metavar="MODEL", exists=True, dir_okay=False
        ),
    ],
    data: Annotated[
        Path,
        typer.Argument(
            help="A file with the columns that it was trained on, or - for standard input.",
            metavar="DATA",
        ),
    ],
    output: Output,
    loss: Annotated[
        str | None, typer.Option(help="What predictions shall minimise, instead of the loss it was trained for.")
    ] = None,
    aggregation: Annotated[str | None, typer.Option(help="How members decide, instead of how they did.")] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Columns of DATA to write beside predictions; [cyan]all[/] of them.", rich_help_panel=_FORM),
    ] = None,
    one_column: Annotated[
        bool, typer.Option("--labels-in-one-column", help="Write names of labels as a;b.", rich_help_panel=_FORM)
    ] = False,
    expected_loss: Annotated[
        bool,
        typer.Option("--expected-loss", help="Add what the model expects to lose in each row.", rich_help_panel=_FORM),
    ] = False,
    proba: Annotated[bool, typer.Option("--proba", help="Write probabilities of the labels, not decisions.")] = False,
    at_least: Annotated[
        int | None, typer.Option(min=0, help="Fewest labels of an instance.", rich_help_panel=_LIMITS)
    ] = None,
    at_most: Annotated[
        int | None, typer.Option(min=0, help="Most labels of an instance.", rich_help_panel=_LIMITS)
    ] = None,
    abstain_rate: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of labels that may be left open.", rich_help_panel=_LIMITS),
    ] = None,
    guarantee: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Share of an instance's labels that shall not be denied: what is in doubt is left open.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict the labels of new instances and write them to a CSV or Parquet file, a column for each label.

    Columns of DATA are found by their names; others, labels among them, are left alone.  The model file is opened
    without running any code that it might hold.  In CSV, a label whose name begins with =, +, - or @ gets an apostrophe
    in front, so that no spreadsheet takes it for a formula.  Cells of labels that are left open are empty.

    [bold]Examples[/]

    $ comitia predict model.skops new.csv -o labels.csv
    $ comitia predict model.skops new.csv --at-least 1 --at-most 3 -o labels.csv
    $ comitia predict model.skops new.csv --keep id --labels-in-one-column -o labels.csv
    """
    import pandas as pd

    if data != STDIN and not data.is_file():
        what = f"file '{data}' is a directory." if data.is_dir() else f"file '{data}' does not exist."
        raise misuse("DATA", what)
    limits = {name: value for name, value in (("at_least", at_least), ("at_most", at_most)) if value is not None}
    doubt = {name: value for name, value in (("rate", abstain_rate), ("guarantee", guarantee)) if value is not None}
    _check_wishes(proba, limits, doubt)
    if (proba or doubt) and one_column:
        raise misuse("--labels-in-one-column", "holds whole answers; --proba and open labels have a column for each.")
    _check_output(output, (".csv", ".parquet"), [model, data], force)
    opened = Model.open(model)
    if opened.version != comitia.__version__:
        fitted_by = escape(printable(opened.version))
        messages.print(f"the model was fitted by comitia {fitted_by}; this is {comitia.__version__}", highlight=False)
    _decide_otherwise(opened, loss, aggregation)
    if limits:
        opened.ensemble.set_params(constraints=replace(opened.ensemble.constraints or comitia.Constraints(), **limits))
    given = load_features(data)
    kept = kept_columns(given, split(keep or []))
    check_names(kept, opened.labels)
    inputs = opened.inputs(given)
    found = _answered(opened, inputs, proba, doubt)
    answers = pd.DataFrame(found, columns=list(opened.labels))
    if doubt:
        answers = answers.astype("Int8").mask(answers < 0)
    if one_column:
        answers = pd.DataFrame({ONE_COLUMN: in_one_column(answers.to_numpy(), opened.labels)})
    if expected_loss:
        answers[EXPECTED] = opened.ensemble.expected_loss(inputs)
    write(pd.concat([kept, answers], axis=1) if keep else answers, output)
    scored = None if proba or doubt else loss_where_known(opened, data, found)
    if as_json:
        facts = {"instances": len(found), "probabilities": proba, "loss_here": scored, "file": str(output)}
        print_json({**_described(opened), **facts})
        return
    what = "probabilities" if proba else "labels"
    typer.echo(f"{what} of {len(found):,} instances: {printable(output)}", err=output == STDIN)
    if scored is not None:
        target = opened.ensemble.loss
        typer.echo(f"the labels are known there: {target} loss {scored:.4f}", err=output == STDIN)


def _answered(model: Model, inputs: Any, proba: bool, doubt: dict[str, Any]) -> Any:
    if doubt:
        return model.ensemble.predict_partial(inputs, **doubt)
    return model.ensemble.predict_proba(inputs) if proba else model.ensemble.predict(inputs)


def _decide_otherwise(model: Model, loss: str | None, aggregation: str | None) -> None:
    """Let a fitted ensemble decide for another loss or in another way, which needs no refit."""
    if loss is not None:
        model.ensemble.set_params(loss=_one("--loss", "loss", loss, TARGET_NAMES), aggregation=None)
    if aggregation is not None:
        how = _one("--aggregation", "aggregation", aggregation, (*AGGREGATIONS, CHOSEN_BY_OOB))
        model.ensemble.set_params(aggregation=how)
    try:
        model.ensemble.decision()
    except ComitiaError as error:
        raise misuse("--aggregation" if aggregation else "--loss", str(error)) from None


def _check_wishes(proba: bool, limits: dict[str, Any], doubt: dict[str, Any]) -> None:
    """Refuse wishes that cannot be had together."""
    if len(doubt) > 1:
        raise misuse("--guarantee", "leaves labels open by itself: give it or --abstain-rate, not both.")
    option = {"rate": "--abstain-rate", "guarantee": "--guarantee"}.get(next(iter(doubt), ""))
    if option and limits:
        raise misuse(option, "leaves labels open, and limits are on whole answers: give no --at-least and --at-most.")
    if proba and (limits or option):
        raise misuse("--proba", "writes probabilities, of which nothing is decided.")


def _check_output(output: Path, endings: tuple[str, ...], inputs: list[Path], force: bool) -> None:
    """Make sure, before any work, that the output can be written and costs nobody a file."""
    if output == STDIN and ".csv" in endings:
        return
    if output.suffix.lower() not in endings:
        raise misuse("--output", f"expected a name that ends in {' or '.join(endings)}; got {output}.")
    if output.exists():
        for path in inputs:
            if path.exists() and path.samefile(output):
                raise misuse("--output", f"{output} is the file to read, which is never written over.")
        if not force:
            raise misuse("--output", f"{output} is there already; --force writes over it.")
    folder = next(folder for folder in output.absolute().parents if folder.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise misuse("--output", f"{output} cannot be written: {folder} is no folder that can be written to.")


def _one(option: str, kind: str, name: str, known: Any) -> str:
    chosen = names(option, kind, name, list(known))
    if len(chosen) > 1:
        raise misuse(option, f"takes one {kind}; got {name!r}.")
    return chosen[0]


def _described(model: Model) -> dict[str, Any]:
    return {
        "ensemble": next(kind for kind, made in comitia.ENSEMBLES.items() if type(model.ensemble) is made),
        "members": len(model.ensemble.members_),
        "loss": model.ensemble.loss,
        "features": len(model.features),
        "labels": list(model.labels),
    }
