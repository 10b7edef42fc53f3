"""Results in the terminal: a table for each loss, and in words what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from comitia.cli.markdown import signed

if TYPE_CHECKING:
    from comitia.report import Answer, Run
    from comitia.report.blocks import Block


def tables(run: Run, console: Console) -> Iterator[tuple[str, list[Table]]]:
    """Give a heading and tables for each loss: aggregations down, ensembles across, with ranks.

    Ensembles that do not fit beside the others get a table below: no number is cut off.
    """
    from comitia.report.blocks import blocks

    found = blocks(run.rows, paper=run.published(curves=False))
    unbounded = console.options.update(width=10 * console.width)
    for loss in dict.fromkeys(block.measure.loss for block in found):
        of_loss = [block for block in found if block.measure.loss == loss]
        measure = of_loss[0].measure
        parts = [of_loss[:1]]
        for block in of_loss[1:]:
            if console.measure(_table([*parts[-1], block]), options=unbounded).maximum <= console.width:
                parts[-1].append(block)
            else:
                parts.append([block])
        yield f"{measure.title} in percent, {measure.direction}", [_table(part) for part in parts]


def _table(beside: Sequence[Block]) -> Table:
    from comitia.report.presentation import in_order, title

    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    table.add_column("", no_wrap=True)
    for block in beside:
        table.add_column(Text(title(block.ensemble)), overflow="fold")
    for method in in_order(name for block in beside for name in block.all_methods):
        table.add_row(title(method), *(_entry(block, method) for block in beside))
    return table


def legend(run: Run) -> str:
    """Say what the numbers in the tables are."""
    from comitia.report.presentation import title

    several = run.rows["dataset"].nunique() > 1
    text = "Mean over the datasets, average rank" if several else "Mean ± standard error over the folds, rank"
    text += ", difference to the paper's mean." if run.published(curves=False) is not None else "."
    covered = {name: tuple(part["dataset"].unique()) for name, part in run.rows.groupby("ensemble", sort=False)}
    if len(set(covered.values())) > 1:
        parts = "; ".join(f"{title(str(name))} on {', '.join(datasets)}" for name, datasets in covered.items())
        text += f" The ensembles were run on different datasets, and their numbers do not compare: {parts}."
    return text


def recommendations(run: Run) -> list[Answer]:
    """Choose for each loss the ensemble whose best aggregation has the best mean.

    Ensembles that were run on different datasets do not compare: each has an answer of its own.
    """
    from comitia.report import answers
    from comitia.report.blocks import blocks

    found = list(zip(blocks(run.rows), answers(run.rows, run.sizes), strict=True))
    chosen = []
    for loss in dict.fromkeys(block.measure.loss for block, _ in found):
        of_loss = [(block, answer) for block, answer in found if block.measure.loss == loss]
        if len({block.datasets for block, _ in of_loss}) > 1:
            chosen += [answer for _, answer in of_loss]
            continue
        sign = -1 if of_loss[0][0].measure.higher_is_better else 1
        chosen.append(min(of_loss, key=lambda pair: sign * _means(pair[0])[pair[0].index(pair[1].best)])[1])
    return chosen


def recommendation_texts(chosen: Sequence[Answer]) -> Iterator[Text]:
    """Write recommendations as people read them."""
    from comitia.report.presentation import title

    for answer in chosen:
        text = Text.assemble(
            (f"{answer.measure.title}: ", "bold"),
            (f"{title(answer.ensemble)} with {title(answer.best)}. ", "bold green"),
        )
        yield text.append(answer.text)


def as_records(run: Run) -> dict[str, Any]:
    """Give the tables and the recommendations as plain values."""
    from comitia.report import comparison_table

    table = comparison_table(run.rows, paper=run.published(curves=False))
    results = [
        {
            "dataset": dataset,
            "ensemble": line.ensemble,
            "loss": line.measure.loss,
            "measure": line.measure.title,
            "higher_is_better": line.measure.higher_is_better,
            "aggregation": line.method,
            "percent": cell.value,
            "standard_error": cell.error,
            "rank": cell.rank,
            "average_rank": line.average_rank,
            "same_as": line.same_as,
            "paper_percent": cell.published,
        }
        for line in table.lines()
        for dataset, cell in zip(table.datasets, line.cells, strict=True)
        if cell is not None
    ]
    advice = [
        {
            "loss": answer.measure.loss,
            "ensemble": answer.ensemble,
            "aggregation": answer.best,
            "better_than": list(answer.better_than),
            "undecided": list(answer.undecided),
            "p_value": answer.p_value,
            "test": answer.test,
            "text": answer.text.replace("\u00a0", " "),
        }
        for answer in recommendations(run)
    ]
    return {"results": results, "recommendations": advice}


def _entry(block: Block, method: str) -> Text:
    from comitia.report.presentation import title

    if method not in block.all_methods:
        return Text("–", "dim")
    if method in block.same:
        return Text(f"= {title(block.same[method])}", "dim")
    column = block.index(method)
    means, ranks = _means(block), block.average_ranks
    if np.isnan(means[column]):
        return Text("–", "dim")
    best = not np.isnan(ranks[column]) and round(ranks[column], 2) == round(np.nanmin(ranks), 2)
    text = Text(f"{means[column]:6.2f}", "bold green" if best else "")
    if len(block.datasets) == 1 and not np.isnan(block.errors[0, column]):
        text.append(f" ±{block.errors[0, column]:.2f}", "dim")
    text.append(f"  {ranks[column]:.3g}" if len(block.datasets) == 1 else f"  {ranks[column]:4.2f}", "cyan")
    difference = _difference(block, column)
    return text if difference is None else text.append(f"  {signed(difference)}", "dim")


def _means(block: Block) -> Any:
    """Means over the datasets that have all methods, or over those there are."""
    complete = block.values[block.complete] if block.complete.any() else block.values
    return np.nanmean(complete, axis=0)


def _difference(block: Block, column: int) -> float | None:
    """How far the mean is from the paper's, over the datasets that both have."""
    if block.paper is None:
        return None
    both = np.isfinite(block.paper[:, column]) & np.isfinite(block.values[:, column])
    if not both.any():
        return None
    return float((block.values[both, column] - block.paper[both, column]).mean())
