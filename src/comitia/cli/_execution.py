"""Run a plan from the command line: progress while it runs, then tables, advice and a report."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar
from rich.text import Text

from comitia import ComitiaError
from comitia._compare import are_compiled, compile_for, results_of
from comitia._interrupts import say_when_stopped
from comitia.cli._errors import misuse
from comitia.cli._screen import messages, print_json, print_line, results
from comitia.cli._tables import folded_command, recommendation_texts, tables
from comitia.datasets import Dataset
from comitia.experiments import Cell, Plan, Progress, Summary, run_plan
from comitia.learners._device import get_device
from comitia.report import Results
from comitia.report._recommendation import abbreviations
from comitia.report._text import apart, legend
from comitia.report._words import by_error, duration

_SECONDS_BETWEEN_LINES = 10.0


def execute(
    plan: Plan,
    folder: Path,
    *,
    data: Mapping[str, Dataset] | None = None,
    cells: Sequence[Cell] | None = None,
    data_home: Path | None = None,
    paper: Path | None = None,
    as_json: bool = False,
    details: bool = False,
    **where: Any,
) -> None:
    """Run a plan, show what came out, and end with code 1 if any cell failed.

    ``where`` it is run is told to `comitia.experiments.run_plan`: ``n_jobs``, ``cluster``, ``same_bits``.
    """
    say_when_stopped(f"Stopped. What is finished is kept: the same command with --output {folder} goes on.")
    command = shlex.join(["comitia", *sys.argv[1:]])
    if not are_compiled() and where.get("cluster") is None:  # workers elsewhere compile for themselves
        messages.print("Loops are compiled first, which the next run need not do.", style="dim", highlight=False)
        with messages.status("compiling ..."):
            compile_for(plan, data or {})
    with _progress() as on_progress:
        what: dict[str, Any] = {"data": data, "cells": cells, "data_home": data_home}
        summary = run_plan(plan, folder, command=command, on_progress=on_progress, **what, **where)
    if not summary.kept + summary.computed:
        if as_json:
            print_json({**_facts(summary), "folder": str(folder), "report": None, "results": [], "recommendations": []})
        else:
            _show_failures(summary)
        raise typer.Exit(1)
    if not messages.is_terminal:
        messages.print("drawing figures and writing the report", highlight=False)
    with messages.status("drawing figures and writing the report ..."):
        found = results_of(summary.store, paper=paper)
        page = found.write(folder)
    if as_json:
        print_json({**_facts(summary), "folder": str(folder), "report": str(page), **found.as_records()})
    else:
        show(found, details=details)
        _show_warnings(summary)
        _show_failures(summary)
        print_line(f"results: {folder}")
        print_line(f"report:  {page}")
    if summary.failures:
        raise typer.Exit(1)


def on_device(plan: Plan, device: str) -> Plan:
    """Return a plan whose large fits are made on a device, where one is asked for and there."""
    if device == "cpu":
        return plan
    try:
        get_device(device)
    except (ComitiaError, ImportError) as error:
        raise misuse("--device", str(error)) from None
    return replace(plan, device=device)


def show(found: Results, *, details: bool) -> None:
    """Print what results recommend, in plain words and with what to do next; with details tables and tests as well."""
    if details:
        for heading, beneath in tables(found, results):
            results.print(f"[bold]{heading}[/]", highlight=False)
            for table in beneath:
                results.print(table)
        results.print(legend(found.blocks), style="dim", highlight=False, markup=False)
    results.print("\n[bold]Recommendation[/]")
    if not details and (note := apart(found.blocks)):
        results.print(Padding(Text(note), (0, 0, 0, 2), expand=False), highlight=False)
    for one in found.recommendations:
        for text in recommendation_texts(one, details=details):
            results.print(Padding(text, (0, 0, 0, 2), expand=False), highlight=False)
        for paste in filter(None, (folded_command(one.command, results.width), one.python)):
            # Neither indented nor wrapped by the terminal's rules: what is copied from here is to run.
            results.print(Text(paste + "\n", "cyan"), soft_wrap=True)
    for name, brief in abbreviations(found.recommendations).items():
        results.print(Text.assemble((f"{name}: ", "bold"), brief), style="dim", highlight=False)
    if not details:
        results.print("Tables, ranks and tests: --details, or the report.", style="dim", highlight=False)


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Show how far a run is: a bar on a terminal, a line now and then elsewhere."""
    if not messages.is_terminal:
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with ProgressBar(*columns, console=messages, transient=True) as bar:
        task = bar.add_task("reading data", total=None, left="")

        def update(progress: Progress) -> None:
            doing = "cells" if not progress.failed else f"cells ([red]{progress.failed} failed[/])"
            bar.update(
                task,
                description=doing,
                total=progress.total,
                completed=progress.done + progress.failed,
                left=_left(progress),
            )

        yield update


class _Lines:
    """Progress as lines of text, not more often than somebody would read them."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        last = progress.done + progress.failed == progress.total
        if progress.cell is None or (not last and time.monotonic() < self._next):
            return
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
        failed = f", {progress.failed} failed" if progress.failed else ""
        left = _left(progress)
        line = f"{progress.done} of {progress.total} cells{failed}{', ' if left else ''}{left}"
        if progress.error is not None:
            line += f"; {progress.cell.key}: {progress.error}"
        messages.print(escape(line), highlight=False, soft_wrap=True)


def _left(progress: Progress) -> str:
    return "" if progress.seconds_left is None else f"about {duration(progress.seconds_left, decimals=0)} left"


def _facts(summary: Summary) -> dict[str, Any]:
    return {
        "plan": summary.plan.name,
        "cells": summary.total,
        "kept": summary.kept,
        "computed": summary.computed,
        "failures": list(summary.failures),
        "seconds": round(summary.seconds, 1),
    }


def _show_warnings(summary: Summary) -> None:
    """Say how many cells were warned of something, and of what, for example."""
    warned = list(summary.warnings.values())
    if warned:
        messages.print(
            f"[yellow]note:[/] {len(warned)} of {len(summary.cells)} cells were warned, for example: "
            f"{escape(warned[0][0])}",
            highlight=False,
            soft_wrap=True,
        )


def _show_failures(summary: Summary) -> None:
    if not summary.failures:
        return
    others = "the others are not affected, and " if len(summary.failures) < summary.total else ""
    messages.print(
        f"[bold red]{len(summary.failures)} of {summary.total} cells failed[/]; {others}"
        "the same command tries these again:",
        highlight=False,
    )
    for error, keys in by_error(summary.failures).items():
        shown = ", ".join(keys[:4]) + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")
        messages.print(f"  {escape(shown)}\n    {escape(error)}", highlight=False, soft_wrap=True)
