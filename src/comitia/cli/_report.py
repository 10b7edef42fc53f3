"""``comitia report``: what a run found, from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from comitia._compare import read_run
from comitia._files import write_text
from comitia.cli._execution import show
from comitia.cli._options import AsJson, Details, Paper
from comitia.cli._screen import print_json, print_line


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run, finished or not.", metavar="RUN")],
    paper: Paper = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Also write a page of results in Markdown to this file.", dir_okay=False, rich_help_panel="Output"
        ),
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Show again what a run found, and write its report anew.

    [bold]Examples[/]

    $ comitia report comitia-runs/compare-mine-1 --details
    $ comitia report comitia-runs/table2 --paper published/ --markdown table2.md
    """
    found = read_run(run, paper=paper)
    page = found.write(run)
    if markdown is not None:
        write_text(markdown, found.markdown())
    done, total = found.n_cells
    if as_json:
        facts = {"plan": found.plan["name"], "cells": total, "finished": done, "failures": found.failures}
        print_json({**facts, "folder": str(run), "report": str(page), **found.as_records()})
        return
    show(found, details=details)
    if done < total:
        print_line(f"\n{done} of {total} cells are finished, {len(found.failures)} failed: this is a part of the plan.")
    print_line(f"\nreport: {page}")
    if markdown is not None:
        print_line(f"page:   {markdown}")
