"""Options that several commands have, and lists of names in them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from comitia import ENSEMBLES, ComitiaError
from comitia._names import unknown
from comitia._titles import BETWEEN
from comitia.aggregation import AGGREGATIONS
from comitia.cli._errors import misuse
from comitia.columns._numbers import NOTATIONS
from comitia.experiments._calls import is_call, split_calls
from comitia.experiments._losses import read_loss
from comitia.experiments._plan import LOSS_NAMES, TARGET_NAMES, WAYS, way_named
from comitia.losses import Loss
from comitia.measures import MEASURES, Measure
from comitia.relevance import POOLS
from comitia.report._vocabulary import named

_OUTPUT, _WHAT, _FORM, _LIMITS = "Output", "What to compare", "Form of the answer", "Limits and doubt"

ENSEMBLE_HELP = ", ".join(f"{name} ({ensemble.brief})" for name, ensemble in ENSEMBLES.items())
"""What ensembles there are."""


def _completed(known: Iterable[str]) -> Callable[[str], list[str]]:
    """Let a shell complete names of a list with commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in known if name.startswith(begun.lower())]

    return complete


DataArgument = Annotated[
    str,
    typer.Argument(
        help="An ARFF, CSV, TSV, JSONL, Parquet or Excel file, - for standard input, or a name of "
        "[cyan]comitia datasets[/].",
        metavar="DATA",
    ),
]

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
    typer.Option(
        help="Word that says a label holds, where that is not yes, y, true, t, x or 1: [cyan]ja[/].",
        rich_help_panel="Data",
    ),
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
DayFirst = Annotated[
    bool | None,
    typer.Option(
        "--day-first/--month-first",
        help="What 3/4/2020 is, where the dates themselves do not tell.",
        show_default=False,
        rich_help_panel=_COLUMNS,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--n-jobs", "-j", min=1, help="Number of cores to use; all by default. It changes no result."),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        help="Fit large logistic regressions there: [cyan]cpu[/], [cyan]cuda[/] or [cyan]cuda:N[/]. Results differ "
        "in the last digits.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Compute on a cluster: a Dask scheduler's address ([cyan]tcp://…[/]) or file, [cyan]ray[/] or "
        "[cyan]ray://…[/]. It changes no result.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Import the classes and functions of others that are named. Importing runs code."),
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
Details = Annotated[bool, typer.Option("--details", help="Also show tables, ranks and tests.", rich_help_panel=_OUTPUT)]
OutputFile = Annotated[
    Path, typer.Option("--output", "-o", help="File to write.", dir_okay=False, rich_help_panel=_OUTPUT)
]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.", rich_help_panel=_OUTPUT)]
RunFolder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Folder for the results; a run that was stopped goes on there. By default a new one.",
        rich_help_panel=_OUTPUT,
        show_default="comitia-runs/compare-NAME-N",
    ),
]

Ensembles = Annotated[
    str, typer.Option(help=f"Of {ENSEMBLE_HELP}.", rich_help_panel=_WHAT, autocompletion=_completed(ENSEMBLES))
]
Losses = Annotated[
    str,
    typer.Option(help=f"Of {', '.join(TARGET_NAMES)}.", rich_help_panel=_WHAT, autocompletion=_completed(TARGET_NAMES)),
]
Aggregations = Annotated[
    str, typer.Option(help=f"Of {', '.join(WAYS)}.", rich_help_panel=_WHAT, autocompletion=_completed(WAYS))
]
Pools = Annotated[str, typer.Option(help=f"How gmv and ctp pool members: {', '.join(POOLS)}.", rich_help_panel=_WHAT)]
Folds = Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")]
Repeats = Annotated[int, typer.Option(min=1, help="How often to repeat it, with other folds.")]
Stratified = Annotated[bool, typer.Option("--stratified", help="Keep the proportion of every label in every fold.")]
Members = Annotated[int, typer.Option("--members", "-m", min=1, help="Members of an ensemble.")]

Ensemble = Annotated[str, typer.Option(help=f"Of {ENSEMBLE_HELP}.", autocompletion=_completed(ENSEMBLES))]
LossOption = Annotated[
    str,
    typer.Option(
        help=f"What predictions shall minimise: {', '.join(LOSS_NAMES)}; or a measure of a whole set: "
        f"{', '.join(MEASURES)}. With parameters: [cyan]'f1(beta=2)'[/].",
        autocompletion=_completed(TARGET_NAMES),
    ),
]
AggregationOption = Annotated[
    str | None,
    typer.Option(
        help=f"How members decide: {', '.join(AGGREGATIONS)}; [cyan]oob[/] finds the best out of bag. "
        "By default the paper's advice for the loss.",
        autocompletion=_completed(WAYS),
    ),
]
OutOfBag = Annotated[
    bool | None,
    typer.Option(
        "--oob/--no-oob",
        help="Keep what is out of bag: predict --abstain-rate and --guarantee need it. Without it, it is only "
        "told; --no-oob does without, which is faster.",
        show_default=False,
    ),
]

ModelArgument = Annotated[
    Path,
    typer.Argument(
        help="A file that [cyan]comitia train[/] has written.", metavar="MODEL", exists=True, dir_okay=False
    ),
]
NewData = Annotated[
    Path,
    typer.Argument(help="A file with the columns that it was trained on, or - for standard input.", metavar="DATA"),
]
OtherLoss = Annotated[
    str | None,
    typer.Option(
        help="What predictions shall minimise, instead of the loss it was trained for.",
        autocompletion=_completed(TARGET_NAMES),
    ),
]
OtherAggregation = Annotated[
    str | None, typer.Option(help="How members decide, instead of how they did.", autocompletion=_completed(WAYS))
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns of DATA to write beside predictions; [cyan]all[/] but the labels.", rich_help_panel=_FORM
    ),
]
OneColumn = Annotated[
    bool, typer.Option("--labels-in-one-column", help="Write names of labels as a;b.", rich_help_panel=_FORM)
]
ExpectedLoss = Annotated[
    bool,
    typer.Option("--expected-loss", help="Add what the model expects to lose in each row.", rich_help_panel=_FORM),
]
Probabilities = Annotated[bool, typer.Option("--proba", help="Write probabilities of the labels, not decisions.")]
AtLeast = Annotated[int | None, typer.Option(min=0, help="Fewest labels of an instance.", rich_help_panel=_LIMITS)]
AtMost = Annotated[int | None, typer.Option(min=0, help="Most labels of an instance.", rich_help_panel=_LIMITS)]
Exclusive = Annotated[
    list[str] | None,
    typer.Option(
        help="Labels of which an answer has one at most: [cyan]day,night[/], or [cyan]'time_*'[/]. Again for other "
        "groups.",
        rich_help_panel=_LIMITS,
    ),
]
Implies = Annotated[
    list[str] | None,
    typer.Option(
        help="An answer with the first has the second: [cyan]beach:sea[/]. Again for other pairs.",
        rich_help_panel=_LIMITS,
    ),
]
AbstainRate = Annotated[
    float | None, typer.Option(min=0, max=1, help="Share of labels that may be left open.", rich_help_panel=_LIMITS)
]
Guarantee = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Share of an instance's labels that shall not be denied: what is in doubt is left open.",
        rich_help_panel=_LIMITS,
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


def names(option: str, kind: str, text: str, known: Collection[str], calls: bool = False) -> tuple[str, ...]:
    """Check a list of names, in small or capital letters or as they are printed; ``all`` is all of them.

    With ``calls`` names may have parameters, and import paths stand as they are.
    """
    chosen = split_calls(text) if calls and "(" in text else split([text])
    if chosen == ["all"]:
        return tuple(known)
    if not chosen:
        raise misuse(option, f"names no {kind}. There are: {', '.join(known)}.")
    meant = way_named if kind == "aggregation" else lambda name: named(name, known)
    found = [name if calls and is_call(name) else meant(name) for name in chosen]
    for name, given in zip(found, chosen, strict=True):
        if name not in known and not (calls and is_call(name)) and not (kind == "aggregation" and BETWEEN in name):
            raise misuse(option, unknown(kind, given, known))
    return tuple(dict.fromkeys(found))


def one(option: str, kind: str, name: str, known: Collection[str]) -> str:
    """Check a name, as `names` does, of which there may be only one."""
    chosen = names(option, kind, name, list(known))
    if len(chosen) > 1:
        raise misuse(option, f"takes one {kind}; got {name!r}.")
    return chosen[0]


def loss_named(text: str) -> str | Loss | Measure:
    """Check a loss or a measure: a name, or one of ours with parameters."""
    if not is_call(text):
        return one("--loss", "loss", text, TARGET_NAMES)
    try:
        return read_loss(text).target()
    except ComitiaError as error:
        raise misuse("--loss", str(error)) from None


def column_options(
    features: list[str] | None,
    ignore: list[str] | None,
    categories: list[str] | None,
    text: list[str] | None,
    numbers: str | None,
    missing_values: list[str] | None,
    day_first: bool | None,
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
    scalars = {"numbers": numbers, "day_first": day_first}
    return given | {key: value for key, value in scalars.items() if value is not None}
