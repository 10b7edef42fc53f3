"""Run a plan from the command line: progress while it runs, then tables, advice and a report."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar

from comitia.cli.outcome import draw_digits, outcome, write_rows
from comitia.cli.screen import messages, print_json, results
from comitia.cli.tables import as_records, legend, recommendation_texts, recommendations, tables
from comitia.experiments import Cell, Plan, Progress, Summary, run_plan

if TYPE_CHECKING:
    from comitia.report import Run

_SECONDS_BETWEEN_LINES = 10.0


def execute(
    plan: Plan,
    folder: Path,
    *,
    cells: Sequence[Cell] | None = None,
    n_jobs: int | None = None,
    data_home: Path | None = None,
    paper: Path | None = None,
    as_json: bool = False,
) -> None:
    """Run a plan, show what came out, and end with code 1 if any cell failed."""
    try:
        _execute(plan, folder, cells, n_jobs, data_home, paper, as_json)
    except KeyboardInterrupt:
        messages.print(
            f"\nStopped. What is finished is kept: the same command with --output {escape(str(folder))} goes on.",
            highlight=False,
            soft_wrap=True,
        )
        raise typer.Exit(1) from None


def _execute(
    plan: Plan,
    folder: Path,
    cells: Sequence[Cell] | None,
    n_jobs: int | None,
    data_home: Path | None,
    paper: Path | None,
    as_json: bool,
) -> None:
    summary = _computed(plan, folder, cells, n_jobs, data_home)
    failed = bool(summary.failures)
    if not summary.kept + summary.computed:
        if as_json:
            print_json({**_facts(summary), "folder": str(folder), "report": None, "results": [], "recommendations": []})
        else:
            _show_failures(summary)
        raise typer.Exit(1)
    with messages.status("writing the report ..."):
        draw_digits(summary.store)
        run = outcome(summary.store, paper)
        write_rows(summary.store, run)
        page = _report(run, folder)
    if as_json:
        print_json({**_facts(summary), "folder": str(folder), "report": str(page), **as_records(run)})
    else:
        show(run)
        _show_warnings(summary)
        _show_failures(summary)
        results.print(f"results: {escape(str(folder))}", highlight=False, soft_wrap=True)
        results.print(f"report:  {escape(str(page))}", highlight=False, soft_wrap=True)
    if failed:
        raise typer.Exit(1)


def show(run: Run) -> None:
    """Print the tables of a run and what they recommend."""
    for heading, beneath in tables(run, results):
        results.print(f"[bold]{heading}[/]", highlight=False)
        for table in beneath:
            results.print(table)
    results.print(legend(run), style="dim", highlight=False, markup=False)
    results.print("\n[bold]Recommendation[/]")
    for text in recommendation_texts(recommendations(run)):
        results.print(Padding(text, (0, 0, 1, 2), expand=False), highlight=False)


def _computed(
    plan: Plan, folder: Path, cells: Sequence[Cell] | None, n_jobs: int | None, data_home: Path | None
) -> Summary:
    with _progress() as on_progress:
        return run_plan(
            plan,
            folder,
            cells=cells,
            n_jobs=n_jobs,
            data_home=data_home,
            command=shlex.join(["comitia", *sys.argv[1:]]),
            on_progress=on_progress,
        )


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
    return "" if progress.seconds_left is None else f"about {duration(progress.seconds_left)} left"


def duration(seconds: float) -> str:
    """Write a time as people say it.

    Examples
    --------
    >>> duration(4.2), duration(75), duration(4000)
    ('4 s', '1 min 15 s', '1 h 6 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _report(run: Run, folder: Path) -> Path:
    from comitia.report import write_report

    return write_report(run, folder)


def _facts(summary: Summary) -> dict[str, Any]:
    return {
        "plan": summary.store.plan.name,
        "cells": summary.total,
        "kept": summary.kept,
        "computed": summary.computed,
        "failures": list(summary.failures),
        "seconds": round(summary.seconds, 1),
    }


def _show_warnings(summary: Summary) -> None:
    """Say how many cells were warned of something, and of what, for example."""
    store = summary.store
    kept = [store.cell_provenance(cell)["warnings"] for cell in store.plan.cells() if store.finished(cell)]
    warned = [found for found in kept if found]
    if warned:
        messages.print(
            f"[yellow]note:[/] {len(warned)} of {len(kept)} cells were warned, for example: {escape(warned[0][0])}",
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
    by_error: dict[str, list[str]] = {}
    for failure in summary.failures:
        by_error.setdefault(failure["error"], []).append(failure["cell"])
    for error, keys in by_error.items():
        shown = ", ".join(keys[:4]) + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")
        messages.print(f"  {escape(shown)}\n    {escape(error)}", highlight=False, soft_wrap=True)
