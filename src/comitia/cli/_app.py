"""The commands together, and what happens when one of them cannot do what it was asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import typer

import comitia
from comitia.cli._compare import compare
from comitia.cli._data import datasets
from comitia.cli._errors import explained
from comitia.cli._model import predict, train
from comitia.cli._report import report
from comitia.cli._reproduce import reproduce
from comitia.cli._screen import print_line
from comitia.cli._warm_up import warm_up

app = typer.Typer(
    name="comitia",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Ensembles of multilabel classifiers whose predictions are made for the loss that matters.\n\n"
    "[bold]Start here:[/] [cyan]comitia compare[/] finds out which aggregation to use for which loss, first on "
    "handwritten digits, then on your data: [cyan]comitia compare mine.csv --labels red,green,blue[/].",
    epilog="Ends with 0 when all is well, 1 when something failed, 2 when it was asked wrongly. "
    "COMITIA_DEBUG=1 shows where an error comes from.",
)


def _help(command: Callable[..., None]) -> str:
    """The docstring of a command, a line for each paragraph: terminals have widths of their own."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(text if text.startswith("$") else " ".join(text.split()) for text in paragraphs)


for command, panel in (
    (compare, "Which aggregation should I use?"),
    (report, "Which aggregation should I use?"),
    (train, "Use it"),
    (predict, "Use it"),
    (warm_up, "Use it"),
    (reproduce, "The paper and its data"),
    (datasets, "The paper and its data"),
):
    app.command(rich_help_panel=panel, help=_help(command))(explained(command))


def _version(wanted: bool) -> None:
    if wanted:
        print_line(f"comitia {comitia.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass
