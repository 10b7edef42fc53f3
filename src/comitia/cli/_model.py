"""``comitia train`` and ``comitia predict``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.markup import escape

import comitia
from comitia import ComitiaError
from comitia._labels import LabelArray
from comitia._names import printable
from comitia._titles import CHOSEN_BY_OOB, aggregation_and_pool
from comitia.cli._data import data_source, introduce, loaded, tell
from comitia.cli._errors import misuse
from comitia.cli._limits import asked_limits, limits_on, option_names
from comitia.cli._options import (
    AbstainRate,
    AggregationOption,
    AsJson,
    AtLeast,
    AtMost,
    Categories,
    DataArgument,
    DataHome,
    DayFirst,
    Ensemble,
    Exclusive,
    ExpectedLoss,
    Features,
    Force,
    Guarantee,
    Ignore,
    Implies,
    Jobs,
    Keep,
    Labels,
    LabelsIn,
    LossOption,
    Members,
    MissingValues,
    ModelArgument,
    NewData,
    Numbers,
    OneColumn,
    OtherAggregation,
    OtherLoss,
    OutOfBag,
    OutputFile,
    Positive,
    Probabilities,
    Seed,
    Separator,
    Text,
    column_options,
    loss_named,
    one,
    split,
)
from comitia.cli._screen import messages, print_json
from comitia.datasets import Dataset, load_features
from comitia.datasets._dataset import NoSuchColumnError
from comitia.datasets._formats import file_format
from comitia.datasets._text import STDIN
from comitia.experiments._losses import name_of
from comitia.experiments._plan import WAYS
from comitia.experiments._settings import KINDS
from comitia.measures._registry import loss_of
from comitia.model_file import Model, save
from comitia.model_file._answers import EXPECTED, answer_table, kept_columns, known_labels, write_answers
from comitia.model_file._training import THIS_MODEL, trained
from comitia.report._plain import how_good
from comitia.report._vocabulary import measure
from comitia.report._words import counted

_DOUBT = {"rate": "--abstain-rate", "guarantee": "--guarantee"}


def train(
    data: DataArgument,
    output: OutputFile,
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
    ensemble: Ensemble = "ecc",
    loss: LossOption = "hamming",
    aggregation: AggregationOption = None,
    oob: OutOfBag = None,
    members: Members = 50,
    seed: Seed = 0,
    at_least: AtLeast = None,
    at_most: AtMost = None,
    exclusive: Exclusive = None,
    implies: Implies = None,
    n_jobs: Jobs = None,
    data_home: DataHome = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fit an ensemble and keep it in a file, whose name ends in .skops.

    What it is worth is told by what its members have not seen, beside answers that learn nothing.

    [bold]Examples[/]

    $ comitia train mine.csv --labels red,green,blue --loss f1 -o model.skops
    $ comitia train emotions --ensemble emodt --aggregation oob -o model.skops
    $ comitia train emotions --ensemble emodt --loss macro-f1 --at-least 1 -o model.skops
    """
    kind, decided = _wished(ensemble, loss, aggregation)
    wished = {**decided, "n_estimators": members, "random_state": seed, "n_jobs": n_jobs or -1}
    limits = asked_limits(at_least, at_most, exclusive, implies)
    columns = column_options(features, ignore, categories, text, numbers, missing_values, day_first)
    source = data_source(data, labels, labels_in=labels_in, separator=separator, positive=positive, columns=columns)
    _check_output(output, (".skops",), [Path(source.path)] if source.path else [], force)
    dataset = loaded(source, data_home)
    if limits:
        wished["constraints"] = limits_on(dataset.label_names, limits)
    introduce(dataset)
    with messages.status(f"fitting on {dataset.n_instances:,} instances ..."):
        found = trained(kind, wished, dataset, oob=oob)
    model, judged = found.model, found.judged
    save(model, output)
    if as_json:
        print_json({**_described(model), "aggregation": found.way, "out_of_bag": judged or None, "file": str(output)})
        return
    target = name_of(model.ensemble.loss)
    typer.echo(
        f"{kind} of {len(model.ensemble.members_)} members for {target}"
        f"{f', decided by {found.way}' if found.way else ''}; {counted(dataset.n_labels, 'label')}, "
        f"{counted(len(model.needed), 'feature')}"
    )
    for line in _worth(target, judged):
        typer.echo(line)
    typer.echo(f"model: {printable(output)}")


def _wished(ensemble: str, loss: str, aggregation: str | None) -> tuple[str, dict[str, Any]]:
    """The ensemble, and the loss and the aggregation that were asked for, if they go together."""
    kind = one("--ensemble", "ensemble", ensemble, comitia.ENSEMBLES)
    how = aggregation and one("--aggregation", "aggregation", aggregation, WAYS)
    if how not in (None, CHOSEN_BY_OOB) and not comitia.ENSEMBLES[kind]().can_decide_by(how):
        raise misuse("--aggregation", f"{how} needs trees: --ensemble emodt, not {kind}.")
    # Where nothing is said, an ensemble decides as it likes: a committee chooses out of bag.
    decided = {} if how is None else dict(zip(("aggregation", "pool"), aggregation_and_pool(how), strict=True))
    return kind, {"loss": loss_named(loss), **decided}


def _worth(loss: str, judged: Mapping[str, float]) -> list[str]:
    """Say what a model is worth, in a reader's terms and as losses."""
    if not judged:
        return []
    shown = measure(loss)
    best = min(value for name, value in judged.items() if name != THIS_MODEL)
    name = next(name for name, value in judged.items() if value == best and name != THIS_MODEL)
    good, (baseline,) = how_good(shown, [shown.shown(judged[THIS_MODEL]), shown.shown(best)])
    learnt = "" if judged[THIS_MODEL] < best else " Nothing was learnt that helps."
    return [
        f"Judged by what members had not seen: {good}; with {name} for every instance, which learns nothing, "
        f"{baseline}.{learnt}",
        f"{loss} loss out of bag: " + ", ".join(f"{name} {value:.4f}" for name, value in judged.items()),
    ]


def predict(
    model: ModelArgument,
    data: NewData,
    output: OutputFile,
    loss: OtherLoss = None,
    aggregation: OtherAggregation = None,
    keep: Keep = None,
    one_column: OneColumn = False,
    expected_loss: ExpectedLoss = False,
    proba: Probabilities = False,
    at_least: AtLeast = None,
    at_most: AtMost = None,
    exclusive: Exclusive = None,
    implies: Implies = None,
    abstain_rate: AbstainRate = None,
    guarantee: Guarantee = None,
    labels_in: LabelsIn = None,
    separator: Separator = None,
    positive: Positive = None,
    numbers: Numbers = None,
    missing_values: MissingValues = None,
    day_first: DayFirst = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict the labels of new instances and write them to a CSV or Parquet file, a column for each label.

    Columns of DATA are found by their names; others are left alone, and cells may be written otherwise than in the data
    that it was trained on, as --numbers, --missing-values and --day-first say.  Where the labels are among the columns,
    or in that which --labels-in names, the predictions are scored.  The model file is opened without running any code
    that it might hold.  In CSV, a label whose name begins with =, +, - or @ gets an apostrophe in front, so that no
    spreadsheet takes it for a formula.  Cells of labels that are left open are empty.

    [bold]Examples[/]

    $ comitia predict model.skops new.csv -o labels.csv
    $ comitia predict model.skops new.csv --at-least 1 --at-most 3 -o labels.csv
    $ comitia predict model.skops new.csv --exclusive day,night --implies beach:sea -o labels.csv
    $ comitia predict model.skops new.csv --keep id --labels-in-one-column -o labels.csv
    $ psql -c 'copy songs to stdout csv header' | comitia predict model.skops - -o - > labels.csv
    """
    limits = asked_limits(at_least, at_most, exclusive, implies)
    doubt = {name: value for name, value in (("rate", abstain_rate), ("guarantee", guarantee)) if value is not None}
    _check_wishes(data, proba, one_column, limits, doubt)
    if as_json and output == STDIN:
        raise misuse("--json", "writes to standard output, where the predictions go: give --output a file.")
    _check_output(output, (".csv", ".parquet"), [model, data], force)
    opened = _opened(model, limits, doubt)
    _decide_otherwise(opened, loss, aggregation)
    given = load_features(data)
    tell(("note", note) for note in given.notes)
    if written := column_options(None, None, None, None, numbers, missing_values, day_first):
        given = given.with_columns(**written)
    kept = _kept(given, split(keep or []), opened.labels)
    inputs = _inputs(opened, data, given)
    known = {"labels_in": labels_in, "separator": separator, "positive": positive}
    truth = None if proba or doubt else _truth(opened, data, given, known)
    found = _answered(opened, inputs, proba, doubt)
    answers = answer_table(found, opened.labels, partial=bool(doubt), one_column=one_column)
    if expected_loss:
        answers[EXPECTED] = opened.ensemble.expected_loss(inputs)
    write_answers(kept.join(answers) if keep else answers, sys.stdout if output == STDIN else output)
    scored = None if truth is None else loss_of(opened.ensemble.loss, truth, np.asarray(found, dtype=np.int8))
    if as_json:
        facts = {"instances": len(found), "probabilities": proba, "loss_here": scored, "file": str(output)}
        print_json({**_described(opened), **facts})
        return
    what, aside = "probabilities" if proba else "labels", output == STDIN
    where = "standard output" if aside else printable(output)
    typer.echo(f"{what} of {counted(len(found), 'instance')}: {where}", err=aside)
    if scored is not None:
        target = name_of(opened.ensemble.loss)
        shown = measure(target)
        good, _ = how_good(shown, [shown.shown(scored)])
        typer.echo(f"the labels are known there: {target} loss {scored:.4f}; {good}", err=aside)


def _inputs(model: Model, path: Path, data: Dataset) -> Any:
    """The columns that a model knows; a key that no line of JSON has is a missing value, and said."""
    inputs = model.inputs(data, complete=file_format(path) != ".jsonl")
    lacking = [name for name in model.needed if name not in data.feature_names]
    if lacking:
        told = escape(printable(", ".join(lacking)))
        messages.print(f"[yellow]note:[/] missing in every row: {told}.", highlight=False, soft_wrap=True)
    return inputs


def _opened(path: Path, limits: Mapping[str, Any], doubt: Mapping[str, Any]) -> Model:
    """Open a model, and let it keep the limits that were asked for."""
    model = Model.open(path)
    if model.version != comitia.__version__:
        fitted_by = escape(printable(model.version))
        messages.print(f"the model was fitted by comitia {fitted_by}; this is {comitia.__version__}", highlight=False)
    before = model.ensemble.constraints
    if doubt and before is not None:
        raise misuse(
            _DOUBT[next(iter(doubt))], f"the model has limits on whole answers, {before}, and this leaves labels open."
        )
    if limits:
        model.ensemble.set_params(constraints=limits_on(model.labels, limits, before))
    return model


def _kept(data: Dataset, wanted: list[str], labels: Sequence[str]) -> Any:
    try:
        return kept_columns(data, wanted, labels)
    except ComitiaError as error:
        raise misuse("--keep", str(error).removeprefix("keep: ")) from None


def _truth(model: Model, path: Path, data: Dataset, known: dict[str, str | None]) -> LabelArray | None:
    """The labels that the file has; why they are no use is said."""
    if known["labels_in"] is None and known["separator"] is not None:
        raise misuse("--separator", "is for --labels-in, which names no column.")
    try:
        truth, why_not = known_labels(model, path, data, **known)
    except NoSuchColumnError as error:
        if known["labels_in"] is None:
            raise
        raise misuse("--labels-in", str(error)) from None
    if why_not:
        tell([("note", f"predictions are not compared with the labels that are there: {why_not}")])
    return truth


def _answered(model: Model, inputs: Any, proba: bool, doubt: dict[str, Any]) -> Any:
    if doubt:
        return model.ensemble.predict_partial(inputs, **doubt)
    ensemble = model.ensemble.set_params(sparse_output=False)
    return ensemble.predict_proba(inputs) if proba else ensemble.predict(inputs)


def _decide_otherwise(model: Model, loss: str | None, aggregation: str | None) -> None:
    """Let a fitted ensemble decide for another loss or in another way, which needs no refit."""
    if loss is not None:
        model.ensemble.set_params(loss=loss_named(loss), aggregation=None)
    try:
        if aggregation is not None:
            how = one("--aggregation", "aggregation", aggregation, WAYS)
            model.ensemble.set_params(**dict(zip(("aggregation", "pool"), aggregation_and_pool(how), strict=True)))
        model.ensemble.decision()
    except ComitiaError as error:
        raise misuse("--aggregation" if aggregation else "--loss", str(error)) from None


def _check_wishes(
    data: Path, proba: bool, one_column: bool, limits: Mapping[str, Any], doubt: Mapping[str, Any]
) -> None:
    """Refuse a file that is not there, and wishes that cannot be had together."""
    if data != STDIN and not data.is_file():
        what = f"file '{data}' is a directory." if data.is_dir() else f"file '{data}' does not exist."
        raise misuse("DATA", what)
    if (proba or doubt) and one_column:
        raise misuse("--labels-in-one-column", "holds whole answers; --proba and open labels have a column for each.")
    if len(doubt) > 1:
        raise misuse("--guarantee", "leaves labels open by itself: give it or --abstain-rate, not both.")
    option = _DOUBT.get(next(iter(doubt), ""))
    if option and limits:
        raise misuse(option, f"leaves labels open, and limits are on whole answers: give no {option_names(limits)}.")
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


def _described(model: Model) -> dict[str, Any]:
    return {
        "ensemble": next((kind for kind, made in KINDS.items() if type(model.ensemble) is made), ""),
        "members": len(model.ensemble.members_),
        "loss": name_of(model.ensemble.loss),
        "features": len(model.features),
        "labels": list(model.labels),
    }
