"""``comitia report``: what a run found, from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from comitia.cli.execution import show
from comitia.cli.options import AsJson, Paper
from comitia.cli.outcome import outcome, write_rows
from comitia.cli.screen import print_json
from comitia.cli.tables import as_records
from comitia.experiments import Store


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run, finished or not.", metavar="RUN")],
    paper: Paper = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Also write a page of results in Markdown to this file.", dir_okay=False, rich_help_panel="Output"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the tables of a run again and write its report anew.

    [bold]Examples[/]

    $ comitia report comitia-runs/compare-mine-1
    $ comitia report comitia-runs/table2 --paper published/ --markdown table2.md
    """
    from comitia._files import write_text
    from comitia.cli.results_page import results_page
    from comitia.report import write_report

    store = Store.read(run)
    found = outcome(store, paper)
    write_rows(store, found)
    page = write_report(found, run)
    if markdown is not None:
        write_text(markdown, results_page(found, store))
    cells = list(store.plan.cells())
    total, done = len(cells), sum(map(store.finished, cells))
    if as_json:
        facts = {"plan": store.plan.name, "cells": total, "finished": done, "failures": found.failures}
        print_json({**facts, "folder": str(run), "report": str(page), **as_records(found)})
        return
    show(found)
    if done < total:
        typer.echo(f"\n{done} of {total} cells are finished, {len(found.failures)} failed: this is a part of the plan.")
    typer.echo(f"\nreport: {page}")
    if markdown is not None:
        typer.echo(f"page:   {markdown}")
