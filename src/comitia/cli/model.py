"""``comitia train`` and ``comitia predict``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

import comitia
from comitia._files import whole_file
from comitia._names import in_csv, printable
from comitia.aggregation import AGGREGATIONS
from comitia.cli.data import data_source, loaded
from comitia.cli.errors import misuse
from comitia.cli.options import AsJson, DataHome, Jobs, Labels, Seed, names
from comitia.cli.screen import messages, print_json
from comitia.datasets import load_features
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

Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.", rich_help_panel="Output")]


def train(
    data: Annotated[
        str,
        typer.Argument(help="An ARFF, CSV or Parquet file, or a name of [cyan]comitia datasets[/].", metavar="DATA"),
    ],
    output: Output,
    labels: Labels = None,
    ensemble: Annotated[str, typer.Option(help="emodt (trees), ecc (chains) or ebr (binary relevance).")] = "ecc",
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
    if how == "ctp-joint" and not comitia.ENSEMBLES[kind]().supports_joint:
        raise misuse("--aggregation", f"ctp-joint needs trees: --ensemble emodt, not {kind}.")
    source = data_source(data, labels)
    _check_output(output, (".skops",), [Path(source.path)] if source.path else [], force)
    dataset = loaded(source, data_home)
    classifier = comitia.ENSEMBLES[kind](
        n_estimators=members,
        loss=target,
        aggregation=how,
        oob_score=oob or how == CHOSEN_BY_OOB or target in MEASURES,
        random_state=seed,
        n_jobs=n_jobs or -1,
    )
    with messages.status(f"fitting {members} members on {dataset.n_instances:,} instances ..."):
        model = Model.fit(classifier, dataset)
    save(model, output)
    chosen = getattr(classifier, "oob_aggregation_", how)
    if as_json:
        print_json({**_described(model), "aggregation": chosen, "file": str(output)})
        return
    by = f", decided by {chosen}" if chosen else ""
    typer.echo(
        f"{kind} of {members} members for {target}{by}; {dataset.n_labels} labels, {dataset.n_features} features"
    )
    typer.echo(f"model: {printable(output)}")


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
            help="An ARFF, CSV or Parquet file with the columns that it was trained on.",
            metavar="DATA",
            exists=True,
            dir_okay=False,
        ),
    ],
    output: Output,
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
    $ comitia predict model.skops new.csv --abstain-rate 0.1 -o labels.csv
    """
    import pandas as pd

    limits = {name: value for name, value in (("at_least", at_least), ("at_most", at_most)) if value is not None}
    doubt = {name: value for name, value in (("rate", abstain_rate), ("guarantee", guarantee)) if value is not None}
    _check_wishes(proba, limits, doubt)
    _check_output(output, (".csv", ".parquet"), [model, data], force)
    opened = Model.open(model)
    if opened.version != comitia.__version__:
        fitted_by = escape(printable(opened.version))
        messages.print(f"the model was fitted by comitia {fitted_by}; this is {comitia.__version__}", highlight=False)
    inputs = opened.inputs(load_features(data))
    if limits:
        opened.ensemble.set_params(constraints=replace(opened.ensemble.constraints or comitia.Constraints(), **limits))
    if doubt:
        found = opened.ensemble.predict_partial(inputs, **doubt)
    else:
        found = opened.ensemble.predict_proba(inputs) if proba else opened.ensemble.predict(inputs)
    frame = pd.DataFrame(found, columns=list(opened.labels))
    _write(frame.astype("Int8").mask(frame < 0) if doubt else frame, output)
    if as_json:
        print_json({**_described(opened), "instances": len(found), "probabilities": proba, "file": str(output)})
        return
    what = "probabilities" if proba else "labels"
    typer.echo(f"{what} of {len(found):,} instances: {printable(output)}")


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
    if output.suffix not in endings:
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
        "members": model.ensemble.n_estimators,
        "loss": model.ensemble.loss,
        "features": len(model.features),
        "labels": list(model.labels),
    }


def _write(frame: Any, output: Path) -> None:
    with whole_file(output) as file:
        if output.suffix == ".parquet":
            frame.to_parquet(file, index=False)
        else:
            frame.rename(columns=in_csv).to_csv(file, index=False)
