"""``comitia reproduce``: the paper's study, or any plan, run again."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from comitia import ComitiaError
from comitia._compare import published_file
from comitia.cli._errors import misuse
from comitia.cli._execution import execute, on_device
from comitia.cli._options import AsJson, Cluster, DataHome, Device, Jobs, Paper, SameBits, Trust, names
from comitia.cli._screen import results
from comitia.experiments import Plan, PlanError, read_plan

_PART = "Only a part"


def reproduce(
    plan: Annotated[str, typer.Argument(help="table2, figure2, or the path of a plan (TOML).", metavar="PLAN")],
    datasets: Annotated[
        str | None, typer.Option(help="Only these datasets, with commas between them.", rich_help_panel=_PART)
    ] = None,
    ensembles: Annotated[str | None, typer.Option(help="Only these ensembles.", rich_help_panel=_PART)] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=1, help="Only the first so many folds; training sets stay as large.", rich_help_panel=_PART),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many repeats.", rich_help_panel=_PART)
    ] = None,
    n_jobs: Jobs = None,
    device: Device = "cpu",
    cluster: Cluster = None,
    same_bits: SameBits = False,
    trust: Trust = False,
    data_home: DataHome = None,
    paper: Paper = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the results; a run that was stopped, or a part of it, goes on there.",
            rich_help_panel="Output",
            show_default="comitia-runs/PLAN, and for a file also a checksum of its path",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the paper's experiments again, or any plan.

    [cyan]table2[/]: EMODT, ECC and EBR with 50 members, 10-fold cross-validation on eight datasets.

    [cyan]figure2[/]: EMODT with 1 to 100 members, ten times 10-fold, on four datasets.

    A part that was run is not run again when the rest is: parts and the whole share one folder.

    [bold]Examples[/]

    $ comitia reproduce table2 --datasets emotions,flags --folds 2
    $ comitia reproduce table2 --paper published/
    $ comitia reproduce table2 --device cuda
    $ comitia reproduce comitia-runs/compare-mine-1/plan.toml --output again
    """
    chosen = on_device(_read(plan, trust), device)
    cells = chosen.select(
        datasets=_some("--datasets", "dataset", datasets, [source.name for source in chosen.datasets]),
        ensembles=_some("--ensembles", "ensemble", ensembles, [setting.name for setting in chosen.ensembles]),
        repeats=_at_most("--repeats", repeats, chosen.repeats),
        folds=_at_most("--folds", folds, chosen.folds),
    )
    if paper is not None:
        try:
            published_file(paper, chosen)
        except ComitiaError as error:
            raise misuse("--paper", str(error)) from None
    folder = output if output is not None else _default_folder(plan)
    if not as_json:
        results.print(
            f"[bold]{escape(chosen.name)}[/]: {len(cells)} of {len(list(chosen.cells()))} cells", highlight=False
        )
    where: dict[str, Any] = {"n_jobs": n_jobs, "cluster": cluster, "same_bits": same_bits}
    execute(chosen, folder, cells=cells, data_home=data_home, paper=paper, as_json=as_json, details=True, **where)


def _default_folder(plan: str) -> Path:
    """A folder by the plan's name; for a file also by its place, as other folders may have one of the same name."""
    path, runs = Path(plan), Path("comitia-runs")
    if not path.is_file():
        return runs / plan
    return runs / f"{path.stem}-{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"


def _read(plan: str, trust: bool) -> Plan:
    try:
        return read_plan(plan, trust=trust)
    except PlanError as error:
        if Path(plan).is_file():
            raise
        raise misuse("PLAN", str(error)) from error


def _some(option: str, kind: str, text: str | None, known: list[str]) -> tuple[str, ...] | None:
    return None if text is None else names(option, kind, text, known)


def _at_most(option: str, wanted: int | None, most: int) -> int | None:
    if wanted is not None and wanted > most:
        raise misuse(option, f"the plan has {most}; got {wanted}.")
    return wanted
