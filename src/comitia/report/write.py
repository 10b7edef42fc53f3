"""Everything that a run ends in, written to a folder: the page, the figures and the tables."""

import re
from collections.abc import Iterator
from pathlib import Path

from matplotlib.figure import Figure

from comitia._files import write_text
from comitia.report import figures
from comitia.report.blocks import blocks
from comitia.report.html import DISPLAYED_DIGITS, page
from comitia.report.run import Run
from comitia.report.tables import ComparisonTable, comparison_table

__all__ = ["write_report"]


def write_report(run: Run, folder: str | Path) -> Path:
    """Write the page, the figures and the tables of a run.

    Each file is written under a temporary name and then renamed, the page last, so that what is there is whole; a
    run of which no page can be made leaves the folder as it was.

    Parameters
    ----------
    run : Run
        The outcome of an experiment.
    folder : str or Path
        Gets ``report.html``, ``figures/*.svg``, ``.pdf`` and ``.png``, and ``tables/*.tex``, ``.md`` and ``.csv``;
        it is made where it is missing.

    Returns
    -------
    Path
        The page.
    """
    folder = Path(folder)
    html = page(run)
    for name, table in _tables(run):
        for ending, text in (("tex", table.to_latex()), ("md", table.to_markdown()), ("csv", table.to_csv())):
            write_text(folder / "tables" / f"{name}.{ending}", text)
    for name, figure in _figures(run):
        figures.save(figure, folder / "figures" / name)
    write_text(folder / "report.html", html)
    return folder / "report.html"


def _tables(run: Run) -> Iterator[tuple[str, ComparisonTable]]:
    """Make a table for each ensemble, with all losses, as the paper has them; and one of everything."""
    paper = run.published(curves=False)
    ensembles = list(run.rows["ensemble"].unique())
    names = _file_names(ensembles)
    yield "comparison", comparison_table(run.rows, paper=paper)
    if len(ensembles) > 1:
        for ensemble in ensembles:
            table = comparison_table(run.rows, ensembles=[ensemble], paper=paper)
            yield f"comparison-{names[ensemble]}", table


def _figures(run: Run) -> Iterator[tuple[str, Figure]]:
    rows = run.rows
    names = _file_names([*rows["ensemble"].unique(), *rows["loss"].unique()])
    yield "ranks", figures.rank_heat_map(rows)
    yield "regret", figures.regret(rows)
    for ensemble, part in rows.groupby("ensemble", sort=False):
        if part["size"].nunique() > 1:
            paper = run.published(curves=True)
            yield f"sizes-{names[ensemble]}", figures.ensemble_sizes(rows, ensemble=ensemble, paper=paper)
    for block in blocks(rows):
        if block.nemenyi is not None:
            ensemble, loss = block.ensemble, block.measure.loss
            figure = figures.critical_difference(rows, ensemble=ensemble, loss=loss)
            yield f"critical-difference-{names[ensemble]}-{names[loss]}", figure
    if run.digits is not None:
        yield "digits", figures.seven_segments(run.digits.most_disputed(DISPLAYED_DIGITS))


def _file_names(names: list[str]) -> dict[str, str]:
    """Give each name one that any file system takes, and no two the same.

    Examples
    --------
    >>> _file_names(["ecc", "a/b", "A b"])
    {'ecc': 'ecc', 'a/b': 'a-b', 'A b': 'a-b-2'}
    """
    given: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-") or "unnamed"
        count, candidate = 1, plain
        while candidate in given.values():
            count += 1
            candidate = f"{plain}-{count}"
        given[name] = candidate
    return given
